"""A match of Tacta on which nearly everything happens: the script of its golden transcript."""

from __future__ import annotations

from importlib import resources

from transcript import Recording

from companion.core import command as k
from companion.core import event as e
from companion.core.command import Command
from companion.core.geometry import Pose
from companion.core.observation import Pressed
from companion.core.seat import Actor, Role, seat_at
from companion.games.tacta import GAME
from companion.games.tacta import commands as c
from companion.games.tacta.model import Tacta, ends_of, legal_plays
from companion.games.tacta.phrases import key_of, ranked_plays

RIA = Actor(Role.REFEREE, name="Ria")
CAMERA = Actor(Role.SENSOR, name="camera")
MS = 1_000_000
SEED = 8


class Evening:
    """The people and things around the table."""

    def __init__(self) -> None:
        data = (resources.files("companion.games.tacta") / "data" / "deck-b.json").read_text(encoding="utf-8")
        options = {**GAME.options, "mode": "quick", "left_out": "triangle", "match": True, "replay": True}
        opened = e.Opened(game="tacta", table="golden", seats=(seat_at(1, "Ann", "box", 1), seat_at(2, "Ben")),
                          options=options, seed=SEED, data=data)  # fmt: skip
        first = e.Entry(
            n=1, at_ns=1000 * MS, wall_ms=1000, actor=RIA, key="open", command=None, events=(opened,)
        )
        self.rec = Recording(GAME, first)

    @property
    def game(self) -> Tacta:
        """The game as it is."""
        state: Tacta = self.rec.table.sitting.game
        return state

    def do(self, command: Command, actor: Actor = RIA, wait_ms: float = 900) -> None:
        """Order something."""
        self.rec.order(command, actor, wait_ms)

    def show(self) -> None:
        """Who is on turn shows the outermost cards when they are not known."""
        seat = self.game.turn
        deck = self.game.decks[seat]
        if len(ends_of(self.rec.table.sitting, seat)) < min(2, len(deck)):
            known = self.game.ends.get(seat, ())
            others = [card for card in deck if card not in known]
            cards = (*known, *others)[:2]
            self.do(c.ShowEnds(seat=seat, cards=cards), Actor(Role.SEAT, seat=seat))

    def lay(self, pick: int = 0, off: tuple[float, float, float] = (0.0, 0.0, 0.0), u_mm: float = 0.3) -> int:
        """Who is on turn lays a card where it may, off by so many mm and degrees; the card's number."""
        self.show()
        seat = self.game.turn
        found = legal_plays(self.rec.table.sitting, ends_of(self.rec.table.sitting, seat))
        card, play = found[pick % len(found)]
        pose = Pose(play.pose.x_mm + off[0], play.pose.y_mm + off[1], play.pose.angle_deg + off[2])
        self.do(
            c.Lay(seat=seat, card=card, flipped=play.flipped, pose=pose, u_mm=u_mm, u_deg=0.2), CAMERA, 4000
        )
        return self.game.laid

    def guided(self) -> None:
        """Who is on turn is guided to a play: the card lies beside it first, then there."""
        self.show()
        seat = self.game.turn
        card, play = ranked_plays(self.rec.table.sitting, seat, ends_of(self.rec.table.sitting, seat))[0]
        self.do(c.SayNoPlay(seat=seat), Actor(Role.SEAT, seat=seat))  # refused: there is one
        self.do(c.Aim(seat=seat, at=key_of(card, play)), Actor(Role.SEAT, seat=seat))
        beside = Pose(play.pose.x_mm + 20.0, play.pose.y_mm, play.pose.angle_deg - 10.0)
        self.do(c.NoteLaying(seat=seat, flipped=play.flipped, pose=beside), CAMERA)
        self.do(
            c.Lay(seat=seat, card=card, flipped=play.flipped, pose=play.pose, u_mm=0.3, u_deg=0.2),
            CAMERA,
            4000,
        )


def play() -> Recording:
    """Play the evening."""
    t = Evening()
    t.do(k.Start(boot="b1", wall_ms=1000), Actor(Role.CLOCK))
    t.do(k.Resume())
    t.do(c.Begin())  # refused: nobody has a colour
    t.do(c.TakeColour(seat="s1", colour="red"), Actor(Role.SEAT, seat="s1"))
    t.do(c.TakeColour(seat="s2", colour="red"))  # refused: taken
    t.do(c.TakeColour(seat="s2", colour="green"))
    t.rec.step(Pressed(source="box", seen_ns=t.rec.now_ns, uncertainty_ns=MS, input=1, boot=1, n=1))
    measured(t)
    t.do(c.NextRound())
    by_word(t, 41, 30)
    t.do(c.NextRound())
    by_word(t, 42, 42)
    assert t.game.phase == "over"
    return t.rec


def measured(t: Evening) -> None:
    """A round that a camera measures: bumps, misses, a card apart, an overruled verdict, a card taken off."""
    t.do(c.Begin(pose=Pose(470.0, 300.0, 3.0), u_mm=0.2), CAMERA)
    t.do(c.ShowEnds(seat="s1", cards=("circle-2", "square-2")))
    t.do(c.ShowEnds(seat="s2", cards=("circle-2", "square-1")))
    first = t.lay(3, (0.4, -0.3, 0.2))
    t.do(c.Lay(seat="s2", card="circle-1", pose=Pose(100.0, 100.0)), CAMERA)  # refused: not an outermost card
    t.do(c.NoteBump(n=first, moved_mm=7.0), CAMERA)
    t.do(c.NoteRestored(n=first))
    close = t.lay(1, (1.6, 1.2, 0.0), u_mm=0.6)
    t.do(c.RuleCard(n=close, is_legal=True, why="looked at by all"))
    wrong = t.lay(2, (7.0, 2.0, 0.0))
    t.do(c.RuleCard(n=wrong, is_legal=False))  # replay: it goes back
    t.lay(4)
    t.guided()
    t.show()
    seat = t.game.turn
    t.do(
        c.Lay(seat=seat, card=ends_of(t.rec.table.sitting, seat)[0], pose=Pose(40.0, 40.0, 90.0), u_mm=0.3),
        CAMERA,
    )
    t.do(c.BoxCard(seat=t.game.turn, card=t.game.decks[t.game.turn][0]))  # refused: there is room
    covered = t.lay(5, (9.0, 0.0, 0.0))
    t.do(k.Stop(why="a glass of water"))
    t.do(k.Resume(), wait_ms=9000)
    pick = 0
    while t.game.phase == "play":
        pick += 3
        t.lay(pick)
    t.do(c.RuleCard(n=covered, is_legal=False, is_covered=True, why="seen too late"))
    t.do(c.EnterDots(colour="red", dots=43))  # refused: more than there are
    t.do(c.EnterDots(colour="red", dots=17))
    t.do(k.Undo(why="counted again"))
    t.do(c.Score())


def by_word(t: Evening, red: int, green: int) -> None:
    """A round without a camera: the table's word counts, dots are entered."""
    t.do(c.Begin())
    t.do(c.ShowEnds(seat="s1", cards=("circle-6", "square-6")))
    t.do(c.ShowEnds(seat="s2", cards=("circle-3", "square-5")))
    t.do(c.BoxCard(seat=t.game.turn, card=t.game.ends[t.game.turn][0]))  # Ben says: no play, no room
    while t.game.phase == "play":
        seat = t.game.turn
        ends = ends_of(t.rec.table.sitting, seat)
        t.do(c.Lay(seat=seat, card=ends[0] if ends else t.game.decks[seat][-1]), Actor(Role.SEAT, seat=seat))
    t.do(c.EnterDots(colour="red", dots=red))
    t.do(c.Score())  # refused: green is missing
    t.do(c.EnterDots(colour="green", dots=green))
    t.do(c.Score())
