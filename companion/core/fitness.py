"""Which pads may take part in a ranked race, and what is said and done about the others. Pure.

A game calls these where it starts a race: `why_not_race` before GO, `zone` and `waive_actions` in its view, and
`waived` for its rulings. A device of which nothing was ever noted sends no press that counts, so it holds up nothing.
Rule: TABLE-12
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from companion.core import command as c
from companion.core.game import Sitting
from companion.core.observation import DeviceChanged, Observation
from companion.core.ruling import Ruling, ok
from companion.core.seat import PadNote
from companion.core.view import Action, Row, Zone

ZONE = "pads"
NEWS_TIMES = 2
"""A pad that stays unfit is noted anew when its uncertainty is so many times what it was, or was so many times it."""


def noted(sitting: Sitting[Any], seen: Observation) -> tuple[c.Command, ...]:
    """The note that an observation about a device is worth, if any."""
    if not isinstance(seen, DeviceChanged) or seen.limit_ns is None:
        return ()
    pad = PadNote(
        device=seen.source,
        u_ns=seen.clock_u_ns,
        limit_ns=seen.limit_ns,
        doubt=seen.doubt,
        race_class=seen.race_class,
    )
    known = sitting.pad(seen.source)
    if known is not None and not _is_news(known, pad):
        return ()
    note = c.NotePad(
        device=pad.device, u_ns=pad.u_ns, limit_ns=pad.limit_ns, doubt=pad.doubt, race_class=pad.race_class
    )
    return (note,)


def _is_news(known: PadNote, pad: PadNote) -> bool:
    if (known.doubt, known.race_class, known.limit_ns) != (pad.doubt, pad.race_class, pad.limit_ns):
        return True
    if pad.is_fit or not known.u_ns or not pad.u_ns:
        return False
    return max(known.u_ns, pad.u_ns) >= NEWS_TIMES * min(known.u_ns, pad.u_ns)


def unfit(sitting: Sitting[Any], seats: Iterable[str]) -> tuple[PadNote, ...]:
    """The pads of these seats that are not fit, each once, waived or not."""
    named = set(seats)
    devices = dict.fromkeys(seat.device for seat in sitting.playing() if seat.device and seat.id in named)
    return tuple(pad for device in devices if (pad := sitting.pad(device)) is not None and not pad.is_fit)


def barred(sitting: Sitting[Any], seats: Iterable[str]) -> tuple[PadNote, ...]:
    """The pads of these seats that are neither fit nor waived: no ranked race may begin. Rule: TABLE-12"""
    return tuple(pad for pad in unfit(sitting, seats) if not sitting.is_waived(pad.device))


def words(sitting: Sitting[Any], pad: PadNote) -> str:
    """Which pad, how much, and why, without a full stop."""
    who = " and ".join(seat.name for seat in sitting.playing() if seat.device == pad.device)
    whose = f"{pad.device} ({who})" if who else pad.device
    known = "its clock is not known" if pad.u_ns is None else f"± {pad.u_ns / 1e6:.2f} ms"
    why = [pad.doubt] if pad.doubt else []
    why += ["a pad of its kind is for parties"] if pad.race_class != "ranked" else []
    return f"{whose}: {known}, limit {pad.limit_ns / 1e6:g} ms; {' and '.join(why) or 'it is fit now'}"


def why_not_race(sitting: Sitting[Any], seats: Iterable[str]) -> str:
    """Why no ranked race of these seats may begin, in one sentence; empty when it may. Rule: TABLE-12"""
    found = "; ".join(words(sitting, pad) for pad in barred(sitting, seats))
    return f"Not fit for a ranked race: {found}. Mend it, or waive it." if found else ""


def zone(sitting: Sitting[Any], seats: Iterable[str]) -> Zone | None:
    """The pads of these seats that are not fit: which, how much, why, and whether they are waived; or nothing."""
    rows = tuple(
        Row(
            id=f"pad-fitness-{pad.device}",
            label="Waived" if sitting.is_waived(pad.device) else "Not fit",
            text=words(sitting, pad),
            tone="doubt" if sitting.is_waived(pad.device) else "bad",
        )
        for pad in unfit(sitting, seats)
    )
    return Zone(id=ZONE, title="Pads", rows=rows) if rows else None


def waive_actions(sitting: Sitting[Any], seats: Iterable[str]) -> tuple[Action, ...]:
    """The referee's waivers of the pads of these seats, for this round and for good."""
    found = []
    for pad in barred(sitting, seats):
        for is_for_round, how_long in ((True, "in this round"), (False, "from now on")):
            found.append(
                Action(
                    id=f"waive-{'round' if is_for_round else 'pad'}-{pad.device}",
                    command=c.WaivePad(device=pad.device, is_for_round=is_for_round),
                    label=f"Waive {pad.device} {how_long}",
                    effect=f"It takes part as it is ({words(sitting, pad)}); journal and rulings say so.",
                    zone=ZONE,
                )
            )
    return tuple(found)


def waived(sitting: Sitting[Any], seats: Iterable[str]) -> tuple[Ruling, ...]:
    """One ruling for each pad that takes part in a race of these seats by a waiver alone. Rule: TABLE-12"""
    return tuple(
        ok("TABLE-12", f"By the referee's waiver takes part {words(sitting, pad)}.")
        for pad in unfit(sitting, seats)
        if sitting.is_waived(pad.device)
    )
