"""Plays the golden evening of TAH WARS: four players, a camera and tower sensors at first, clicks later.

An overflow cascades, a trick shot takes three crowns, a player is eliminated, two have five crowns, and in sudden death
a trick shot from four to six crowns wins.
"""

from __future__ import annotations

from importlib import resources

from transcript import Recording

from companion.core import command as k
from companion.core import event as e
from companion.core.command import Command
from companion.core.observation import BoardDie, BoardRested, DieNearTower, Pressed, TowerHit, TowerSeen
from companion.core.seat import Actor, Role, seat_at
from companion.games.tahwars import GAME
from companion.games.tahwars import commands as c
from companion.games.tahwars.maps import Map, Terrain
from companion.games.tahwars.model import TahWars, to_order

RIA = Actor(Role.REFEREE, name="Ria")
MS = 1_000_000
SEED = 6
NAMES = ("Ann", "Ben", "Cem", "Dora")
COLOURS = ("red", "blue", "green", "yellow")
MAP = Map(
    name="three stripes",
    board_mm=(900.0, 500.0),
    terrains=tuple(
        Terrain(kind=kind, polygon_mm=((x, 0.0), (x + 300.0, 0.0), (x + 300.0, 500.0), (x, 500.0)))
        for kind, x in (("rivers", 0.0), ("forest", 300.0), ("city", 600.0))
    ),
)
TOWERS = {
    "s1": (150.0, 60.0, 90.0),
    "s2": (450.0, 60.0, 90.0),
    "s3": (450.0, 440.0, -90.0),
    "s4": (560.0, 440.0, -90.0),
}


class Evening:
    """The people and things around the table."""

    def __init__(self) -> None:
        data = (resources.files("companion.games.tahwars") / "data" / "house.json").read_text(
            encoding="utf-8"
        )
        seats = tuple(seat_at(n, name, "towers", n) for n, name in enumerate(NAMES, start=1))
        options = {**GAME.options, "zero_health": "eliminated"}
        opened = e.Opened(game="tahwars", table="golden", seats=seats, options=options, seed=SEED, data=data)
        first = e.Entry(
            n=1, at_ns=1000 * MS, wall_ms=1000, actor=RIA, key="open", command=None, events=(opened,)
        )
        self.rec = Recording(GAME, first)
        self.towers = dict(TOWERS)
        self.dice: dict[tuple[str, str], tuple[int, float, float]] = {}
        self.frame = 0

    @property
    def game(self) -> TahWars:
        """The game as it is."""
        state: TahWars = self.rec.table.sitting.game
        return state

    def do(self, command: Command, actor: Actor = RIA, wait_ms: float = 900) -> None:
        """Order something that is carried out."""
        (entry,) = self.rec.order(command, actor, wait_ms)
        assert not isinstance(entry.events[0], e.Refused), entry.events[0]

    def no(self, command: Command) -> None:
        """Order something that is refused."""
        (entry,) = self.rec.order(command, RIA, 900)
        assert isinstance(entry.events[0], e.Refused), entry

    def by(self, command: Command) -> None:
        """A seat orders something for itself."""
        self.do(command, Actor(Role.SEAT, seat=getattr(command, "seat", "")))

    def rest(self) -> None:
        """The camera sees the board lie still."""
        self.frame += 7
        towers = tuple(
            TowerSeen(tag=9 + int(seat[1:]), xy_mm=(x, y), heading_deg=turn, u_mm=1.2, u_deg=0.4)
            for seat, (x, y, turn) in self.towers.items()
        )
        dice = tuple(
            BoardDie(kind=kind, value=shows, confidence=0.97, xy_mm=(x, y), box_px=(1, 2, 30, 40), u_mm=1.0,
                     owner=COLOURS[int(seat[1:]) - 1], on_board=0 <= x <= 900)
            for (seat, kind), (shows, x, y) in self.dice.items()
        )  # fmt: skip
        self.rec.now_ns += 1500 * MS
        self.rec.step(
            BoardRested(source="camera", seen_ns=self.rec.now_ns, uncertainty_ns=20 * MS, frame=self.frame,
                        towers=towers, dice=dice)
        )  # fmt: skip

    def orders(self, keeps: tuple[str, ...] = ()) -> None:
        """Phase 2: dice named in `keeps` stay, all others gather."""
        while self.game.phase == "orders":
            seat = self.game.turn
            if not self.game.doing.has_gathered:
                self.by(c.GatherCastle(seat=seat))
                continue
            kind = to_order(self.rec.table.sitting, seat)[0]
            split = "city wood" if "city" in self.game.players[seat].dice[kind].terrains else ""
            gather = c.Gather(seat=seat, kind=kind, split=split)
            self.by(c.Stay(seat=seat, kind=kind) if kind in keeps else gather)

    def trade(self, *buyers: str) -> None:
        """Phase 3: the buyers recruit a D6 each."""
        for seat in [seat for seat, player in self.game.players.items() if not player.is_out]:
            if seat in buyers:
                self.by(c.Recruit(seat=seat, kind="d6"))
            self.by(c.FinishTrade(seat=seat))

    def quests(self) -> None:
        """Phase 1: everybody discards a card."""
        while self.game.phase == "quests":
            self.by(c.DropQuest(seat=self.game.turn, quest=self.game.line_up[0]))

    def attack(self, *towers: str) -> None:
        """Who is on turn throws D4 and D6, both as high as they go, by the table's word."""
        seat = self.game.turn
        self.by(c.DeclareAttack(seat=seat, dice=("d4", "d6")))
        for kind, shows in (("d4", 4), ("d6", 6)):
            self.do(c.DropDie(seat=seat, kind=kind, shows=shows, terrains=("forest",), touched=towers))
        self.by(c.SettleAttack(seat=seat))

    def end(self) -> None:
        self.by(c.EndTurn(seat=self.game.turn))


def play() -> Recording:
    """Play the evening."""
    t = Evening()
    t.do(k.Start(boot="b1", wall_ms=1000), Actor(Role.CLOCK))
    t.do(k.Resume())
    t.no(c.ChooseFirst(first="s1"))  # no castle stands
    t.no(c.LayMap(name="atlantis"))  # there is no such map
    t.do(c.LayMap(map=MAP))
    t.rec.step(Pressed(source="towers", seen_ns=t.rec.now_ns, uncertainty_ns=MS, input=2, boot=1, n=1))
    t.rest()  # the castles are placed as seen
    t.do(c.ChooseFirst(first="s1"))
    launch(t)
    first_round(t)
    second_round(t)
    sudden_death(t)
    assert (t.game.phase, t.game.winners) == ("over", ("s3",))
    return t.rec


def launch(t: Evening) -> None:
    """Ann's dice are seen, the others' are clicked; one leaves the board and one is stuck."""
    t.dice["s1", "d4"] = (4, 60.0, 200.0)
    t.rest()
    t.dice["s1", "d6"] = (6, -30.0, 300.0)
    t.rest()  # beside the board: launched again
    t.do(c.NoteStuck(seat="s1", kind="d6"))
    t.dice["s1", "d6"] = (6, 120.0, 200.0)
    t.rest()
    t.dice["s1", "d8"] = (8, 200.0, 200.0)
    t.rest()
    t.no(c.DropDie(seat="s2", kind="d10", shows=3))  # not in the set-up
    while t.game.phase == "launch":
        for kind, shows in (("d4", 2), ("d6", 3), ("d8", 4)):
            t.do(c.DropDie(seat=t.game.turn, kind=kind, shows=shows, terrains=("forest",)))


def first_round(t: Evening) -> None:
    """Ann's fish overflow line by line; her trick shot hits all three."""
    t.by(c.TakeQuest(seat="s1", quest=t.game.line_up[0]))
    t.by(c.DrawQuest(seat="s2"))
    t.quests()
    t.no(c.GatherCastle(seat="s2"))  # out of turn
    t.orders(keeps=("d8",))
    assert t.game.players["s1"].resources == {"fish": 5, "wood": 4, "stone": 2, "neonite": 2}
    t.no(c.Recruit(seat="s1", kind="d12"))  # too dear
    t.trade("s1", "s2", "s3")
    t.dice = {("s1", "d8"): (8, 200.0, 200.0)}
    x, y, turn = t.towers["s1"]
    t.towers["s1"] = (x + 150.0, y, turn)
    t.rest()  # farther than the stick: taken back
    t.towers["s1"] = (x + 80.0, y, turn + 2.0)
    t.rest()
    t.by(c.DeclareAttack(seat="s1", dice=("d4", "d6")))
    t.rec.step(TowerHit(source="towers", seen_ns=t.rec.now_ns, uncertainty_ns=MS, input=2, boot=1, n=1, peak=800,
                        width_us=300))  # fmt: skip
    t.rec.step(DieNearTower(source="camera", seen_ns=t.rec.now_ns, uncertainty_ns=20 * MS, frame=60, kind="d4", tag=11,
                            gap_mm=-0.5, u_mm=0.4, owner="red"))  # fmt: skip
    t.dice["s1", "d4"] = (4, 420.0, 200.0)
    t.rest()
    t.no(c.SettleAttack(seat="s1"))  # the D6 is still to be launched
    t.do(k.Confirm(proposal=t.rec.table.sitting.proposals[0].id))
    for tower in ("s3", "s4"):
        t.do(c.NoteHit(seat="s1", kind="d4", tower=tower))
    t.do(c.DropDie(seat="s1", kind="d6", shows=5, terrains=("forest",), touched=("s2", "s3", "s4")))
    t.do(c.LayFlat(owner="s1", kind="d6", shows=6))
    t.by(c.SettleAttack(seat="s1"))
    assert t.game.players["s1"].crowns == 3
    t.end()
    t.by(c.RotateCastle(seat="s2"))
    t.do(c.TakeBackMove(seat="s2", rule="TAH-16", why="it left its spot"))
    t.attack("s1", "s3", "s4")
    t.do(c.NoteKnock(owner="s3", kind="d8", shows=6, terrains=("city",)))
    t.do(c.NotePutBack(owner="s4", kind="d8"))
    t.end()
    t.by(c.MoveCastle(seat="s3", terrains=("forest",)))
    t.attack("s2", "s4")
    t.end()
    t.do(k.Stop(why="a glass of water"))
    t.do(k.Resume(), wait_ms=9000)
    t.end()


def second_round(t: Evening) -> None:
    """Dora is eliminated; Ann and Ben have five crowns each."""
    t.quests()
    t.orders(keeps=("d4",))
    t.no(c.SetCubes(seat="s2", item="wood", value=9))  # a board holds five
    for seat in ("s1", "s2", "s3"):
        t.do(c.SetCubes(seat=seat, item="wood", value=5))
    t.do(c.SetCubes(seat="s4", item="wood", value=5))
    t.do(k.Undo(why="Dora's cubes were right"))
    t.trade("s1", "s2", "s3")
    for towers in (("s1", "s4"), ("s1", "s4")):
        t.attack(*towers)
        t.end()
    assert t.game.players["s4"].is_out and t.game.turn == "s1"
    t.attack("s2", "s3")
    t.end()
    assert t.game.stage == "sudden"


def sudden_death(t: Evening) -> None:
    """From four to six crowns by a trick shot."""
    assert t.game.turn == "s3" and t.game.players["s3"].crowns == 4
    t.quests()
    t.orders()
    t.trade("s3")
    t.attack("s1", "s2")
