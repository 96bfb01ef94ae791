"""One evening of Ta-Da! on which nearly everything happens: the script of its golden transcript."""

from __future__ import annotations

from importlib import resources

from transcript import Recording

from companion.core import command as k
from companion.core import event as e
from companion.core.command import Command
from companion.core.observation import DeviceChanged, DiceRested, DieSeen, Pressed
from companion.core.seat import Actor, Role, seat_at
from companion.games.tada import GAME
from companion.games.tada import commands as c
from companion.games.tada.model import Tada, spell_of

RIA = Actor(Role.REFEREE, name="Ria")
CLOCK = Actor(Role.CLOCK)
SENSOR = Actor(Role.SENSOR, name="microphone")
MS = 1_000_000
SEED = 20


class Evening:
    """The people and things around the table."""

    def __init__(self) -> None:
        data = (resources.files("companion.games.tada") / "data" / "house.toml").read_text(encoding="utf-8")
        seats = (
            seat_at(1, "Ann", "box", 1),
            seat_at(2, "Ben", "box", 2),
            seat_at(3, "Cid", "hat", 1),
            seat_at(4, "Dot"),
        )
        opened = e.Opened(game="tada", table="golden", seats=seats, options={**GAME.options, "round_clock_s": 90},
                          seed=SEED, data=data)  # fmt: skip
        first = e.Entry(
            n=1, at_ns=1000 * MS, wall_ms=1000, actor=RIA, key="open", command=None, events=(opened,)
        )
        self.rec = Recording(GAME, first)
        self.frame = self.presses = 0

    @property
    def game(self) -> Tada:
        """The game as it is."""
        state: Tada = self.rec.table.sitting.game
        return state

    def do(self, command: Command, actor: Actor = RIA, wait_ms: float = 300) -> None:
        """Order something."""
        self.rec.order(command, actor, wait_ms)

    def by(self, seat: str) -> Actor:
        """A seat's page."""
        return Actor(Role.SEAT, seat=seat)

    def press(self, seat: str, ago_ms: float = 0, **more: object) -> Pressed:
        """A seat's pad, hit so long ago."""
        found = self.rec.table.sitting.seat(seat)
        assert found is not None
        self.presses += 1
        return Pressed(source=found.device, seen_ns=self.rec.now_ns - round(ago_ms * MS), uncertainty_ns=2 * MS,
                       own_u_ns=200_000, input=found.input, boot=1, n=self.presses, **more)  # fmt: skip

    def slam(self, seat: str, wait_ms: float) -> None:
        """A pad is hit."""
        self.rec.step(wait_ms=wait_ms)
        self.rec.step(self.press(seat))

    def rest(self, seat: str, loose: tuple[str, ...], slots: tuple[int, ...], wait_ms: float = 900) -> None:
        """The camera sees a seat's dice lie still: loose ones, and right ones on its spell."""
        self.rec.step(wait_ms=wait_ms)
        self.frame += 1
        spell = spell_of(self.rec.table.sitting, seat)
        assert spell is not None
        dice = [
            DieSeen(kind="tada", value=symbol, box_px=(i, 0, i + 9, 9), confidence=0.96, owner=seat,
                    xy_mm=(20.0 * i + 300 * (self.frame % 2), 80.0))
            for i, symbol in enumerate(loose)
        ]  # fmt: skip
        dice += [
            DieSeen(kind="tada", value=spell.symbols[slot], box_px=(slot, 50, slot + 9, 59), confidence=0.93,
                    owner=seat, xy_mm=(15.0 * slot, 200.0), on=(seat, str(slot)))
            for slot in slots
        ]  # fmt: skip
        seen = DiceRested(
            source="cam", seen_ns=self.rec.now_ns, uncertainty_ns=40 * MS, frame=self.frame, dice=tuple(dice)
        )
        self.rec.step(seen)

    def confirm(self, reading: str) -> None:
        """The referee says yes to the newest proposal that reads so."""
        open_ = [p for p in self.rec.table.sitting.proposals if reading in p.reading]
        self.do(k.Confirm(proposal=open_[-1].id))

    def verify(self, seat: str, complete: bool = True) -> None:
        """The referee looks at a seat's newest slam."""
        slam = self.game.casters[seat].slams[-1]
        self.do(c.VerifySlam(seat=seat, slam=slam.n, complete=complete))

    def last(self, kind: type[Command]) -> int:
        """Number of the newest entry with such a command."""
        return next(entry.n for entry in reversed(self.rec.table.entries) if isinstance(entry.command, kind))

    def to_go(self) -> None:
        """A round up to GO."""
        self.do(c.Deal())
        self.do(c.RevealFeat())
        for seat, hand in sorted(self.game.hands.items()):
            self.do(c.ChooseSpell(seat=seat, spell=hand[len(seat + hand[0]) % 2]), self.by(seat))
        self.do(c.Reveal())
        self.do(c.ReadyAll())
        self.do(c.CallGo(), wait_ms=1500)
        self.rec.step(wait_ms=3200)

    def to_next(self) -> None:
        """The end, the score, and effects aimed at the next seat."""
        self.do(c.EndCast(), wait_ms=8000)
        self.do(c.Resolve())
        while self.game.aiming:
            seat = self.game.aiming[0]
            others = [s.id for s in self.rec.table.sitting.playing() if s.id != seat]
            self.do(c.ChooseTarget(seat=seat, target=others[0]), self.by(seat))


def play() -> Recording:
    """The whole evening."""
    t = Evening()
    t.do(k.Start(boot="b1", wall_ms=1000), CLOCK)
    t.do(k.SetAccommodation(seat="s4", time_factor=1.25, start_shift_ms=500, proxy="Nora"))
    t.do(k.Resume())
    t.rec.step(
        DeviceChanged(
            source="box", seen_ns=t.rec.now_ns, uncertainty_ns=0, link="usb", state="ready", inputs=2
        )
    )
    for seat in ("s1", "s2", "s3"):
        t.slam(seat, 200)
    seen_by_the_camera(t)
    a_dead_heat_and_a_broken_feat(t)
    stopped_and_out_of_time(t)
    corrected_and_reviewed(t)
    for salt in range(2000):
        if t.game.phase == "over":
            break
        command = GAME.policy(t.rec.table.sitting, salt)
        t.rec.step(wait_ms=3600) if command is None else t.do(command, wait_ms=700)
    assert t.game.phase == "over"
    return t.rec


def seen_by_the_camera(t: Evening) -> None:
    """A false start; Ann's rolls and locks as the camera sees them; a bump; a claim that is proposed complete."""
    t.do(c.Deal())
    t.do(c.RevealFeat())
    t.do(c.ReplaceFeat(why="Ben's arm is in plaster"))
    t.do(c.Deal())  # refused: nobody draws twice
    for seat, hand in sorted(t.game.hands.items()):
        t.do(c.ChooseSpell(seat=seat, spell=hand[0]), t.by(seat))
    t.do(c.Reveal())
    for seat in ("s1", "s2", "s3", "s4"):
        t.do(c.Ready(seat=seat), t.by(seat))
    t.do(c.CallGo())
    t.slam("s2", 1200)
    t.rec.step(wait_ms=2500)
    count = len(t.game.casters["s1"].locks)
    for roll in range(count):
        t.rest("s1", ("arrow", "burst", "wand", "spiral", "arrow", "burst")[: 6 - roll], tuple(range(roll)))
        if roll == count - 2:
            t.slam("s1", 400)  # a bump
    t.do(c.CallTaDa(seat="s1"), wait_ms=300)
    t.slam("s1", 40)
    t.rest("s1", (), tuple(range(count - 1)))
    t.rest("s1", (), tuple(range(count)))
    t.confirm("spell is complete")
    assert t.game.casters["s1"].finish is not None
    t.do(c.CallTaDa(seat="s3"), wait_ms=2000)
    t.slam("s3", 80)
    t.verify("s3", complete=False)
    t.do(c.CallTaDa(seat="s2"), wait_ms=2000)
    t.slam("s2", 80)
    t.verify("s2")
    t.to_next()
    assert t.game.part == 2


def a_dead_heat_and_a_broken_feat(t: Evening) -> None:
    """Two pads within what their clocks can tell; a flag that is confirmed, one that is rejected."""
    t.to_go()
    t.do(c.FlagBreach(seat="s2", note="heard a voice"), SENSOR, 2500)
    t.confirm("Ben may have broken the feat")
    t.do(c.FlagBreach(seat="s1", note="heard a voice"), SENSOR, 500)
    t.do(k.Reject(proposal=t.rec.table.sitting.proposals[-1].id, why="that was Ben"))
    for seat in ("s1", "s3", "s4"):
        t.do(c.CallTaDa(seat=seat), t.by(seat), 400)
    t.rec.step(wait_ms=600)
    t.rec.step(t.press("s3", 1.5), t.press("s1", 3.0), lag_ms=40)
    t.do(c.Slam(seat="s4"), t.by("s4"), 90)
    for seat in ("s1", "s3", "s4"):
        t.verify(seat)
    t.to_next()
    assert t.game.part == 3


def stopped_and_out_of_time(t: Evening) -> None:
    """Stopped in the countdown and in the cast; the clock is extended, runs out; a press from before is heard late."""
    t.do(c.Deal())
    t.do(c.RevealFeat())
    for seat, hand in sorted(t.game.hands.items()):
        t.do(c.ChooseSpell(seat=seat, spell=hand[1]), t.by(seat))
    t.do(c.Reveal())
    t.do(c.ReadyAll())
    t.do(c.CallGo())
    t.do(k.Stop(why="the phone rings"), t.by("s3"), 1000)
    t.slam("s1", 4000)  # refused: the table stands
    t.do(k.Resume(), wait_ms=10_000)
    t.rec.step(wait_ms=3000)
    t.do(c.ExtendClock(by_s=30), wait_ms=5000)
    t.do(k.Stop(), wait_ms=500)
    t.do(k.Start(boot="b2", wall_ms=50_000), CLOCK, 20_000)
    t.do(k.Resume(), wait_ms=3000)
    t.do(c.CallTaDa(seat="s2"), wait_ms=30_000)
    t.slam("s2", 200)
    t.verify("s2")
    t.rec.step(wait_ms=115_000)
    assert t.game.phase == "resolve"
    ended_ns = t.game.ended_ns
    assert ended_ns is not None
    ago_ms = (t.rec.now_ns - t.rec.table.sitting.host_ns(ended_ns)) / MS + 4000
    t.rec.step(t.press("s1", ago_ms, resent=True))
    t.verify("s1")
    t.do(c.Resolve())
    while t.game.aiming:
        t.do(c.ChooseTarget(seat=t.game.aiming[0], target=""))


def corrected_and_reviewed(t: Evening) -> None:
    """A void round, a misclick undone, an entry replaced and one voided, a review, one who leaves and one who comes."""
    t.to_go()
    t.do(c.VoidRound(why="the cat"))
    for seat, hand in sorted(t.game.hands.items()):
        t.do(c.ChooseSpell(seat=seat, spell=hand[0]), t.by(seat))
    t.do(c.Reveal())
    t.do(c.ReadyAll())
    t.do(c.CallGo())
    t.rec.step(wait_ms=3600)
    t.do(c.GiveUp(seat="s1"), wait_ms=900)
    t.do(k.Undo(why="wrong button"))
    t.do(c.CallTaDa(seat="s1"), wait_ms=9000)
    t.slam("s1", 100)
    t.verify("s1", complete=False)
    wrong = t.last(c.VerifySlam)
    t.do(k.OpenReview(why="was Ann complete?"))
    slam = t.game.casters["s1"].slams[-1].n
    right = c.VerifySlam(seat="s1", slam=slam, complete=True)
    t.do(k.Replace(entry=wrong, command=right, why="the picture shows it", orphans=()))
    t.do(k.CloseReview())
    t.do(k.Leave(seat="s4"), wait_ms=500)
    t.do(k.Join(name="Gus"))
    t.do(c.EnterOrder(order=(("s1",), ("s2", "s3")), why="Cid's pad fell silent"), wait_ms=4000)
    t.do(c.Resolve())
    while t.game.aiming:
        t.do(c.ChooseTarget(seat=t.game.aiming[0], target="s5"))
