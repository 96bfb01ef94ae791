"""Names by which a repeated order or observation is known again."""

from __future__ import annotations

from typing import assert_never

from companion.core import observation as o
from companion.core.seat import Actor, Role

Ident = tuple[Role, str, str]
"""Who gave an order and its key: nobody can take another's key away."""


def ident_of(actor: Actor, key: str) -> Ident:
    """The identity of an order."""
    return (actor.role, actor.seat, key)


def key_of(seen: o.Observation) -> str:
    """The same key wherever and however often this observation is handed in.

    Devices count their own events per boot, also across our restarts. Cameras count anew at each start, so
    there the instant belongs to the key.
    """
    match seen:
        case o.Pressed() | o.Released() | o.TowerHit() | o.DieDropped():
            kind = type(seen).__name__.lower()
            return f"{'press' if isinstance(seen, o.Pressed) else kind}:{seen.source}/{seen.boot}/{seen.n}"
        case o.DiceRested() | o.TableStirred() | o.BoardRested():
            kind = "stir" if isinstance(seen, o.TableStirred) else "rest"
            return f"{kind}:{seen.source}/{seen.frame}/{seen.seen_ns}"
        case o.CardLaid() | o.CardLifted():
            kind = "laid" if isinstance(seen, o.CardLaid) else "lifted"
            x, y = (sum(axis) / 4 for axis in zip(*seen.card.quad_px, strict=True))
            return f"{kind}:{seen.source}/{seen.frame}/{seen.seen_ns}/{x:.0f},{y:.0f}"
        case o.DieNearTower():
            return f"near:{seen.source}/{seen.frame}/{seen.seen_ns}/{seen.owner}/{seen.kind}/{seen.tag}"
        case o.CardChanged():
            return f"card:{seen.source}/{seen.frame}/{seen.n}/{seen.seen_ns}"
        case o.CardHeld():
            return f"held:{seen.source}/{seen.frame}/{seen.colour}/{seen.pose.x_mm}/{seen.seen_ns}"
        case o.DeviceChanged() | o.CameraChanged():
            return f"state:{seen.source}/{seen.state}/{seen.seen_ns}"
        case _:
            assert_never(seen)
