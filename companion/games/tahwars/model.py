"""The state of a game of TAH WARS and what can be read off it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from companion.core.game import Sitting
from companion.core.geometry import Point
from companion.games.tahwars.deck import OF_TERRAIN, RESOURCES, Data, Die, Quest, read
from companion.games.tahwars.maps import Map
from companion.games.tahwars.rulebook import LAUNCHED, LINE_UP


class Castle(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A dice tower on the board. `terrains`: on which it stands, none on unpainted ground; a place only where measured.

    `xy_mm` is the middle of its foot, `heading_deg` clockwise, `u_mm` and `u_deg` how far off both may be. Rule: TAH-34
    """

    terrains: tuple[str, ...] = ()
    xy_mm: Point | None = None
    heading_deg: float | None = None
    u_mm: float = 0.0
    u_deg: float = 0.0


class Piece(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One die. `place`: ``home`` (the player board), ``population``, ``board``, ``off`` (beside the board until the
    turn ends) or ``out`` (of the game). On the board and beside it it shows `shown`, which counts `number`.
    """

    kind: str
    place: str
    shown: int | None = None
    number: int = 0
    terrains: tuple[str, ...] = ()
    xy_mm: Point | None = None


class Player(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One player board. `team`: the seats of one team bear one name. Rule: TAH-2 TAH-30"""

    shield: int
    attack: int
    health: int
    resources: dict[str, int]
    dice: dict[str, Piece]
    crowns: int = 0
    quests: tuple[str, ...] = ()
    castle: Castle | None = None
    team: str = ""
    is_out: bool = False


class Attack(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A declared attack: its dice, which of them were launched, and which towers each touched. Rule: TAH-19 TAH-20"""

    dice: tuple[str, ...]
    launched: tuple[str, ...] = ()
    touched: dict[str, tuple[str, ...]] = {}
    is_settled: bool = False

    @property
    def waiting(self) -> tuple[str, ...]:
        """Declared dice that were not launched yet."""
        return tuple(kind for kind in self.dice if kind not in self.launched)

    @property
    def towers(self) -> tuple[str, ...]:
        """Towers that were touched, in the order in which they were."""
        return tuple(dict.fromkeys(seat for seats in self.touched.values() for seat in seats))


class Strike(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an attack came to at one tower: dice + attack against the shield as it was. Rule: TAH-21"""

    tower: str
    dice: tuple[str, ...]
    numbers: tuple[int, ...]
    attack: int
    shield: int

    @property
    def total(self) -> int:
        """Dice that touched it, and the attack."""
        return sum(self.numbers) + self.attack

    @property
    def is_success(self) -> bool:
        """Rule: TAH-21"""
        return self.total >= self.shield


class Doing(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the seat on turn has done in this phase.

    `has_gathered`: its castle; `stayed`: dice that were turned up. `moved`: ``move`` or ``rotate``, from `stood`.
    `spent`: dice that may not be launched any more in this turn. `completed`: the quest of this turn.
    """

    has_gathered: bool = False
    stayed: tuple[str, ...] = ()
    moved: str = ""
    stood: Castle | None = None
    spent: tuple[str, ...] = ()
    attack: Attack | None = None
    completed: str = ""


class TahWars(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A game of TAH WARS.

    `phase`: one of PHASES; `part`: the round. `first` holds the first-player marker. `deck`: quest cards that nobody
    has seen, in the order in which the program turns them up, or in no order where people do. `finished`, `bought`:
    who is through with phase 3, and crowns bought in it. `final`: the round after which the game is decided, 0 while
    nobody has enough crowns; `stage`: then ``sudden`` (one more crown wins) or ``alone`` (who first stands alone
    highest). `struck`: what the last attack came to, by `struck_by`. `since_ns`: since when (table time) the phase or
    the seat on turn is that of now.
    """

    phase: str
    part: int
    players: dict[str, Player] = {}
    map: Map | None = None
    first: str = ""
    turn: str = ""
    doing: Doing = Doing()
    deck: tuple[str, ...] = ()
    line_up: tuple[str, ...] = ()
    discards: tuple[str, ...] = ()
    shuffles: int = 0
    finished: tuple[str, ...] = ()
    bought: dict[str, int] = {}
    final: int = 0
    stage: str = ""
    struck: tuple[Strike, ...] = ()
    struck_by: str = ""
    winners: tuple[str, ...] = ()
    since_ns: int = 0


Table = Sitting[TahWars]


def data_of(table: Table) -> Data:
    """The data in play."""
    return read(table.opened.data)


def player_of(table: Table, seat: str) -> Player | None:
    """The board of a seat that plays, None when it is out or there is none."""
    player = table.game.players.get(seat)
    found = table.seat(seat)
    return player if player and not player.is_out and found is not None and not found.left else None


def in_order(table: Table) -> tuple[str, ...]:
    """The seats that play, clockwise from the first-player marker. Rule: TAH-5"""
    seats = [seat.id for seat in table.seats]
    at = seats.index(table.game.first) if table.game.first in seats else 0
    return tuple(seat for seat in (*seats[at:], *seats[:at]) if player_of(table, seat))


def next_after(table: Table, seat: str, *, wraps: bool = False) -> str:
    """Who comes after a seat (which may be out itself) in play; empty after the last, but if it `wraps`."""
    seats = [each.id for each in table.seats]
    at = seats.index(table.game.first) if table.game.first in seats else 0
    turned = [*seats[at:], *seats[:at]]
    after = turned.index(seat) + 1 if seat in turned else 0
    later = turned[after:] + (turned[:after] if wraps else [])
    return next((each for each in later if player_of(table, each)), "")


def die_of(table: Table, kind: str) -> Die | None:
    """A kind of dice as the data has it."""
    return data_of(table).die(kind)


def rank(table: Table, kind: str) -> int:
    """How many faces a die has: the fewest are ordered first. Rule: TAH-8"""
    die = die_of(table, kind)
    return die.faces if die else 0


def title(kind: str) -> str:
    """A die as people say it."""
    return kind.upper() if kind[1:].isdecimal() else kind


def titles(kinds: Iterable[str]) -> str:
    """Several dice as people say them."""
    *others, last = [title(kind) for kind in kinds] or [""]
    return f"{', '.join(others)} and {last}" if others else last


def quest_of(table: Table, quest_id: str) -> Quest | None:
    """A quest card."""
    return data_of(table).quest(quest_id)


def on_board(player: Player) -> tuple[Piece, ...]:
    """A player's dice that lie on the board."""
    return tuple(piece for piece in player.dice.values() if piece.place == "board")


def to_launch(player: Player) -> tuple[str, ...]:
    """Dice that the set-up still wants on the board. Rule: TAH-3"""
    return tuple(kind for kind in LAUNCHED if kind in player.dice and player.dice[kind].place != "board")


def to_order(table: Table, seat: str) -> tuple[str, ...]:
    """Dice that this seat orders next: those with the fewest faces among the ones left. Rule: TAH-8 TAH-13"""
    player = table.game.players[seat]
    left = [
        piece.kind
        for piece in on_board(player)
        if piece.kind not in table.game.doing.stayed and piece.kind != "d20"
    ]
    least = min((rank(table, kind) for kind in left), default=0)
    return tuple(kind for kind in left if rank(table, kind) == least)


def deployable(table: Table, seat: str) -> tuple[str, ...]:
    """Dice of the population that may be launched now. Rule: TAH-18 TAH-25"""
    player = table.game.players[seat]
    spent = table.game.doing.spent
    return tuple(
        piece.kind
        for piece in player.dice.values()
        if piece.place == "population" and piece.kind not in spent
    )


def open_attack(table: Table) -> Attack | None:
    """The attack that is not settled yet."""
    attack = table.game.doing.attack
    return attack if attack is not None and not attack.is_settled else None


def are_partners(table: Table, one: str, other: str) -> bool:
    """Whether two seats are of one team, or one and the same. Rule: TAH-30"""
    players = table.game.players
    return one == other or (bool(players[one].team) and players[one].team == players[other].team)


def targets(table: Table, seat: str) -> tuple[str, ...]:
    """Towers that this seat's dice may hit. Rule: TAH-20 TAH-30"""
    return tuple(other for other in in_order(table) if not are_partners(table, seat, other))


def strikes_of(table: Table) -> tuple[Strike, ...]:
    """What the attack comes to as things stand, a strike for each touched tower. Rule: TAH-20 TAH-21 TAH-23"""
    state = table.game
    attack, player = state.doing.attack, state.players.get(state.turn)
    if attack is None or player is None:
        return ()
    found = []
    for tower in attack.towers:
        dice = tuple(kind for kind in attack.dice if tower in attack.touched.get(kind, ()))
        numbers = tuple(_counts(table, player.dice[kind]) for kind in dice if kind in player.dice)
        defender = state.players.get(tower)
        if defender is not None and not defender.is_out:
            found.append(
                Strike(tower=tower, dice=dice, numbers=numbers, attack=player.attack, shield=defender.shield)
            )
    return tuple(found)


def _counts(table: Table, piece: Piece) -> int:
    """What a die that touched counts; beside the board what it shows, or nothing. Rule: TAH-20"""
    if piece.place == "off" and table.options["off_board_hit"] == "zero":
        return 0
    return piece.number


def gained(resources: dict[str, int], gives: Iterable[tuple[str, int]], cap: int) -> dict[str, int]:
    """What a player board holds after these gains, one after the other.

    A gain past the cap fills the resource and gives one of the next resource down that is not full, however large the
    surplus; past the last line it is lost. Rule: TAH-10
    """
    held = dict(resources)
    for name, count in gives:
        if name not in held or count <= 0:
            continue
        surplus = held[name] + count - cap
        held[name] = min(cap, held[name] + count)
        if surplus > 0:
            below = RESOURCES[RESOURCES.index(name) + 1 :]
            spare = next((each for each in below if held[each] < cap), None)
            if spare is not None:
                held[spare] += 1
    return held


def may_pay(resources: dict[str, int], cost: dict[str, int]) -> bool:
    """Whether the goods are there."""
    return all(resources.get(name, 0) >= count for name, count in cost.items())


def castle_gives(castle: Castle | None) -> tuple[str, ...]:
    """Which resource a castle may gather 1 of. Rule: TAH-7"""
    terrains = castle.terrains if castle else ()
    if "city" in terrains:
        return RESOURCES
    return tuple(dict.fromkeys(OF_TERRAIN[name] for name in terrains if name in OF_TERRAIN))


def may_draw(state: TahWars) -> bool:
    """Whether a card can be turned up: from the deck, or from the discards, shuffled. Rule: TAH-6"""
    return bool(state.deck or state.discards)


def owes_card(table: Table) -> bool:
    """Whether people have to say which card was turned up: the line-up is short. Rule: TAH-6"""
    state = table.game
    is_play = state.phase in ("setup", "launch", "quests")
    is_short = len(state.line_up) < LINE_UP and may_draw(state)
    return table.options["dealing"] == "table" and is_play and is_short
