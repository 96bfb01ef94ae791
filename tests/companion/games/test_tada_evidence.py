"""A ruling names what it rests on: the press, the picture, the proposal, the slam's own entry."""

from __future__ import annotations

from tada_table import TadaTable

from companion.core import command as core
from companion.core.clock import Stamp
from companion.core.event import Entry
from companion.core.game import Sitting, decide
from companion.core.history import apply
from companion.core.observation import DiceRested, Observation, Pressed
from companion.core.seat import Actor, Role
from companion.games.tada import GAME
from companion.games.tada import commands as c
from companion.games.tada.model import Tada


def entered(sitting: Sitting[Tada], n: int, command: core.Command, *seen: Observation) -> Sitting[Tada]:
    """The table after one more entry, as the program writes it."""
    actor = Actor(Role.SENSOR) if seen else Actor(Role.REFEREE)
    order = core.Order(command=command, actor=actor, at_ns=sitting.at_ns + 1000 * n, key=str(n), seen=seen)
    facts = decide(GAME, sitting, order)
    entry = Entry(
        n=n,
        at_ns=order.at_ns,
        wall_ms=0,
        actor=actor,
        key=order.key,
        command=command,
        events=facts,
        seen=seen,
    )
    return apply(GAME, sitting, entry)


def test_rulings_name_the_press_the_picture_and_the_slam() -> None:
    sitting = TadaTable(2, locks="untracked").to_cast().sitting
    at_ns = sitting.at_ns + 1_000_000_000
    press = Pressed(source="box", seen_ns=at_ns, uncertainty_ns=500_000, input=0, boot=7, n=12)
    slam = c.Slam(seat="s1", stamp=Stamp(at_ns=at_ns, u_ns=500_000))
    sitting = entered(sitting, 900, slam, press)
    assert sitting.rulings[-1].ruling.rule == "TADA-14"
    assert sitting.rulings[-1].ruling.evidence == ("press:box/7/12",)

    rest = DiceRested(source="cam", seen_ns=at_ns, uncertainty_ns=0, frame=55, dice=())
    verify = c.VerifySlam(seat="s1", slam=900, complete=True)
    asked = core.Propose(command=verify, reading="complete", confidence=0.9, evidence=("rest:cam/55",))
    sitting = entered(sitting, 901, asked, rest)
    sitting = entered(sitting, 902, core.Confirm(proposal=901))
    found = sitting.rulings[-1]
    assert (found.entry, found.event, found.ruling.rule) == (902, "SlamVerified", "TADA-15")
    assert found.ruling.evidence == ("entry:900", "entry:901", "rest:cam/55")
