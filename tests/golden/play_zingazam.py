"""A series of Zing-a-Zam with every ability, every skip and every tie-break: the script of its golden transcript."""

from __future__ import annotations

from transcript import Recording

from companion.core import command as k
from companion.core import event as e
from companion.core.command import Command
from companion.core.observation import CardCandidate, CardLaid, CardLifted, CardSeen, Pressed
from companion.core.seat import Actor, Role, seat_at
from companion.games.zingazam import GAME
from companion.games.zingazam import commands as c
from companion.games.zingazam.model import Zingazam, dealing_to, tie_break

RIA = Actor(Role.REFEREE, name="Ria")
MS = 1_000_000
SEED = 5
TIES = {8: 84, 7: 10, 6: 52, 5: 170, 4: 840, 3: 1743, 2: 2462, 1: 1101}
"""Where the players' chance begins for a game whose tie is broken by this number, or, for the last, shared."""
STRIDE = 1000
DATA = """
name = "Two cats"
numbers = [1, 2, 3, 4, 5, 6, 7, 8]
[cats]
1 = 1
6 = 1
"""


class Evening:
    """The people and things around the table."""

    def __init__(self) -> None:
        seats = (seat_at(1, "Ann", "box", 1), seat_at(2, "Ben"), seat_at(3, "Cem"), seat_at(4, "Dot"))
        opened = e.Opened(game="zingazam", table="golden", seats=seats, options={**GAME.options, "games": 10},
                          seed=SEED, data=DATA)  # fmt: skip
        first = e.Entry(
            n=1, at_ns=1000 * MS, wall_ms=1000, actor=RIA, key="open", command=None, events=(opened,)
        )
        self.rec = Recording(GAME, first)
        self.frame = 0

    @property
    def game(self) -> Zingazam:
        """The game as it is."""
        state: Zingazam = self.rec.table.sitting.game
        return state

    def do(self, command: Command, actor: Actor = RIA, wait_ms: float = 700) -> None:
        """Order something."""
        self.rec.order(command, actor, wait_ms)

    def seat(self, command: Command) -> None:
        """A seat orders something for itself."""
        self.do(command, Actor(Role.SEAT, seat=str(getattr(command, "seat", ""))))

    def card(self, name: str | None, at: int, *maybe: tuple[str, float]) -> CardSeen:
        """A card at one of eight spots of the picture."""
        x, y = 80.0 + 150 * at, 300.0
        quad = ((x, y), (x + 63, y), (x + 63, y + 88), (x, y + 88))
        candidates = tuple(CardCandidate(*pair) for pair in maybe)
        return CardSeen(name=name, confidence=0.97 if name else 0.5, quad_px=quad, candidates=candidates,
                        reason=None if name else "margin")  # fmt: skip

    def lays(self, name: str | None, at: int, *maybe: tuple[str, float]) -> None:
        """The camera sees a card come to lie."""
        self.rec.step(wait_ms=1500)
        self.frame += 1
        self.rec.step(CardLaid(source="cam", seen_ns=self.rec.now_ns, uncertainty_ns=40 * MS, frame=self.frame,
                               card=self.card(name, at, *maybe)))  # fmt: skip

    def lifts(self, name: str, at: int) -> None:
        """The camera sees that a card is gone."""
        self.rec.step(wait_ms=400)
        self.frame += 1
        self.rec.step(CardLifted(source="cam", seen_ns=self.rec.now_ns, uncertainty_ns=40 * MS, frame=self.frame,
                                 card=self.card(name, at)))  # fmt: skip

    def faced(self, whom: str = "others") -> None:
        """Whose card was seen says whom it faced, when asked."""
        if self.game.facing_of:
            self.seat(c.TellFacing(seat=self.game.facing_of, faced=whom))

    def by_chance(self, salt: int) -> None:
        """The game goes on as the players' chance has it, to its end."""
        while self.game.phase != "counted":
            salt += 1
            command = GAME.policy(self.rec.table.sitting, salt)
            assert command is not None
            self.do(command)


def play() -> Recording:
    """The whole evening."""
    t = Evening()
    t.do(k.Start(boot="b1", wall_ms=1000), Actor(Role.CLOCK))
    t.do(k.Resume())
    t.do(c.Begin())  # refused: who is the oldest?
    t.seat(c.NameOldest(seat="s2"))
    t.rec.step(Pressed(source="box", seen_ns=t.rec.now_ns, uncertainty_ns=MS, input=1, boot=1, n=1))
    t.do(c.Begin())
    seen_by_the_camera(t)
    choices_and_skips(t)
    t.by_chance(7000)
    known_hands(t)
    t.do(k.Leave(seat="s3"))
    t.do(k.Leave(seat="s4"))
    quicker_games(t)
    for number, salt in TIES.items():
        t.do(c.NextGame())
        t.by_chance(salt * STRIDE)
        steps = tie_break(t.game.piles)
        assert steps and steps[-1][0] == number, (number, steps)
    assert len(t.game.winners) == 2
    return t.rec


def quicker_games(t: Evening) -> None:
    """Hands are not known, and no card faces its owner, so nobody is asked whom it faced."""
    for option, value in (("hands", "played"), ("moved_card", "top"), ("visible_at_start", 0)):
        t.do(k.ChangeOption(option=option, value=value))


def seen_by_the_camera(t: Evening) -> None:
    """Cards are laid and taken; one is doubtful, one came too early, one only moved."""
    t.lays("4", 0)
    t.faced()
    t.lays("4", 0)  # told again: it counts once
    t.lays(None, 1, ("8", 0.5), ("3", 0.4))
    t.do(k.Confirm(proposal=t.rec.table.sitting.proposals[-1].id))
    t.faced()
    t.lays("cat-2", 2)  # refused: Ann has drawn none
    t.lifts("cat-2", 2)
    t.lays("3", 2)
    t.faced("owner")
    t.lifts("4", 0)
    t.lays("4", 4)
    t.lays("1", 3)
    t.faced()
    assert t.game.phase == "taking"
    for name, at in (("8", 1), ("3", 2), ("1", 3), ("4", 4)):
        t.lifts(name, at)
    t.do(c.StackPile(order=((3,), (1,), (2,), (4,))))


def choices_and_skips(t: Evening) -> None:
    """Puppets, copies of a 6 and of a 7, and fives that find nothing to copy."""
    t.do(c.Play(seat="s3", card="8"))  # refused: Ann leads
    t.lays("6", 0)
    t.faced()
    t.lays("7", 1)  # Ben was too quick
    t.seat(c.Choose(seat="s1", position=9))  # refused: he holds eight
    t.seat(c.Choose(seat="s1", position=3))
    t.do(k.Confirm(proposal=t.rec.table.sitting.proposals[-1].id))
    t.faced()
    t.do(k.Undo(why="he took it back"))
    t.do(k.Undo())
    plays(t, "5")  # copies the 6
    t.seat(c.Choose(seat="s2", position=1))
    plays(t, "7")
    t.do(c.Collect())
    plays(t, "3", "2")
    t.seat(c.Take(seat="s4", source="s1"))
    plays(t, "8")
    t.seat(c.Give(seat="s1", to="s2"))
    plays(t, "2")
    if t.game.using is not None:
        t.seat(c.Take(seat="s2", source="s1"))
    t.do(c.Collect(), Actor(Role.SEAT, seat="s1"))
    plays(t, "7", "5")  # Cem's 5 copies the 7
    assert t.game.frozen == ("s2", "s4")
    t.do(c.Collect())
    plays(t, "5", "1", "1", "5")
    t.do(c.Collect())


def plays(t: Evening, *cards: str) -> None:
    """Who is on turn plays these cards one after the other."""
    for card in cards:
        t.seat(c.Play(seat=t.game.turn, card=card))
        t.faced()


def known_hands(t: Evening) -> None:
    """A game in which every card is shown as it is dealt."""
    t.do(c.NextGame())
    t.do(k.ChangeOption(option="hands", value="full"))
    t.do(k.ChangeOption(option="moved_card", value="chosen"))
    t.do(c.Begin())
    t.do(k.ChangeOption(option="hands", value="played"))  # refused: fixed while a game runs
    for number in (8, 3, 3, 1, 2, 4, 5, 6):  # one is shown twice: the hand is dealt again
        t.lays(str(number), 5)
        t.lifts(str(number), 5)
    t.do(c.Deal(seat="s1", number=1))
    t.do(c.DealAgain(seat="s1"))
    salt = 0
    while dealing_to(t.rec.table.sitting) is not None:
        salt += 1
        command = GAME.policy(t.rec.table.sitting, salt)
        assert command is not None
        t.do(command, wait_ms=300)
    t.by_chance(9000)
    t.do(k.ChangeOption(option="series", value="games_won"))
