"""The state of a game of Ta-Da! and what can be read off it."""

from __future__ import annotations

import msgspec

from companion.core.clock import FLOOR_NS, Fate, Stamp, fates, groups
from companion.core.game import Sitting
from companion.core.timer import Timer
from companion.games.tada.deck import Deck, Spell, read
from companion.games.tada.rulebook import BOUNCE_NS, CALL_WINDOW_NS, CLICK_U_NS, SPELLS_TO_WIN, places


class SlamSeen(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One slam. `n`: its entry. `play_ns`: its instant in play time. `complete`: None until verified.

    `by_call`: a bump, until a call that came after it made a claim of it. `rolls`: how many were known then.
    """

    n: int
    stamp: Stamp
    play_ns: int
    is_claim: bool
    by_call: bool = False
    rolls: int = 0
    complete: bool | None = None
    symbols: tuple[str, ...] = ()


class Caster(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One seat's cast in this round.

    `go_ns`: its own GO in play time, None until set. `locks`: the symbol on each slot. `rolls`: how many there
    were at least, by those that were seen and by the locks. `out`: the rule by which it is out of the round.
    `kept`: its place was won before others cast again.
    """

    seat: str
    spell: str
    locks: tuple[str | None, ...]
    is_ready: bool = False
    go_ns: int | None = None
    has_started: bool = False
    rolls: int = 0
    last_roll: tuple[str, ...] = ()
    called_ns: int | None = None
    slams: tuple[SlamSeen, ...] = ()
    out: str = ""
    is_ruled_out: bool = False
    kept: int = 0

    @property
    def locked(self) -> int:
        """How many slots bear a die."""
        return sum(lock is not None for lock in self.locks)

    @property
    def is_complete(self) -> bool:
        """Whether every slot bears a die."""
        return all(lock is not None for lock in self.locks)

    @property
    def pending(self) -> SlamSeen | None:
        """The claim that waits to be verified, the earliest if there are several."""
        claims = [slam for slam in self.slams if slam.is_claim and slam.complete is None]
        return None if self.out else min(claims, key=lambda slam: slam.play_ns, default=None)

    @property
    def finish(self) -> SlamSeen | None:
        """The slam that counts: the earliest verified complete one, unless the seat is out."""
        whole = [slam for slam in self.slams if slam.complete]
        return None if self.out else min(whole, key=lambda slam: slam.play_ns, default=None)

    @property
    def is_casting(self) -> bool:
        """Whether the seat may still slam for a place."""
        return not (self.out or self.kept or self.pending or self.finish)


class Hex(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An effect that a seat suffers in round `part`. Rule: TADA-22"""

    target: str
    by: str
    spell: str
    part: int
    is_waived: bool = False


class Tada(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A game of Ta-Da!

    `phase`: draw feat choose ready countdown cast resolve effects over. Piles are top first. `scored`: spells
    cast, in order. `settled`: who was given the places (`place`) or the win (`win`) of a dead heat.
    `protests`: slams that became known after later ones were in order, `protest_ends_ns` until when (play time)
    somebody may take them up. `by_hand`: finishing order that people entered. `places`, `players`: fixed at the
    round's first GO.
    """

    phase: str
    part: int
    deck: tuple[str, ...]
    discard: tuple[str, ...]
    feats: tuple[str, ...]
    feat_discard: tuple[str, ...] = ()
    hands: dict[str, tuple[str, ...]] = {}
    scored: dict[str, tuple[str, ...]] = {}
    feat: str = ""
    chosen: dict[str, str] = {}
    casters: dict[str, Caster] = {}
    players: int = 0
    ended_ns: int | None = None
    clock: Timer | None = None
    settled: dict[str, tuple[str, ...]] = {}
    by_hand: tuple[tuple[str, ...], ...] | None = None
    protests: tuple[SlamSeen, ...] = ()
    protest_ends_ns: int | None = None
    aiming: tuple[str, ...] = ()
    hexes: tuple[Hex, ...] = ()
    winners: tuple[str, ...] = ()
    has_begun: bool = False


class Placing(msgspec.Struct, frozen=True, kw_only=True):
    """What a finisher gets: `place` counted from 1 (0: none), `fate` as the clocks say it.

    `raw_ms`: from its own GO to the slam; `adjusted_ms`: the same divided by its time factor, by which places
    go; `u_ms` the uncertainty of the latter. All three are None where people entered the order. `is_settled`:
    the table decided a dead heat.
    """

    seat: str
    place: int
    shared: bool
    fate: Fate
    raw_ms: float | None
    adjusted_ms: float | None
    u_ms: float | None
    is_settled: bool = False


Table = Sitting[Tada]


def deck_of(table: Table) -> Deck:
    """The cards in play."""
    return read(table.opened.data)


def spell_of(table: Table, seat_id: str) -> Spell | None:
    """The revealed spell of a caster."""
    caster = table.game.casters.get(seat_id)
    return deck_of(table).spells().get(caster.spell) if caster else None


def adjusted(table: Table, caster: Caster, slam: SlamSeen) -> Stamp:
    """The slam as time since the caster's own GO, divided by the agreed time factor."""
    seat = table.seat(caster.seat)
    factor = seat.accommodation.time_factor if seat else 1.0
    since_go = msgspec.structs.replace(slam.stamp, at_ns=slam.play_ns - (caster.go_ns or 0))
    return since_go.scaled(0, factor)


def finish_stamp(table: Table, caster: Caster) -> Stamp | None:
    """By what a caster is ranked: its verified slam, or its place in the order that people entered."""
    by_hand = table.game.by_hand
    if by_hand is not None:
        rank = next((i for i, group in enumerate(by_hand) if caster.seat in group), None)
        return None if rank is None or caster.out else Stamp(at_ns=rank * 10_000_000_000, u_ns=0)
    return None if caster.finish is None else adjusted(table, caster, caster.finish)


def places_left(table: Table) -> int:
    """Places that are still cast for in this round. Rule: TADA-17 TADA-25"""
    return places(table.game.players) - sum(caster.kept > 0 for caster in table.game.casters.values())


def heat(table: Table) -> tuple[tuple[str, ...], int]:
    """The seats among whom a dead heat for places is still to be settled, and how many of them succeed.

    Nobody and 0 when there is none, or none any more. Rule: TADA-18
    """
    found, named = finishers(table), table.game.settled.get("place", ())
    contested = [caster.seat for caster, _, fate in found if fate is Fate.CONTESTED]
    among = tuple(seat for seat in contested if seat not in named)
    sure = sum(fate is Fate.IN for _, _, fate in found)
    room = places_left(table) - sure - (len(contested) - len(among))
    return (among, room) if table.options["dead_heat"] != "both" and 0 < room < len(among) else ((), 0)


def finishers(table: Table) -> list[tuple[Caster, Stamp, Fate]]:
    """Who finished this cast, with the fate that the clocks give, in the order of their instants."""
    ranked = []
    for caster in table.game.casters.values():
        stamp = None if caster.kept else finish_stamp(table, caster)
        if stamp is not None:
            ranked.append((caster, stamp))
    ranked.sort(key=lambda pair: pair[1].at_ns)
    found = fates([stamp for _, stamp in ranked], places_left(table))
    return [(caster, stamp, fate) for (caster, stamp), fate in zip(ranked, found, strict=True)]


def is_placed(table: Table, caster: Caster, fate: Fate) -> bool:
    """Whether a finisher succeeds, the dead-heat rule applied. Rule: TADA-18"""
    if fate is not Fate.CONTESTED or table.options["dead_heat"] == "both":
        return fate is not Fate.OUT
    found = [each for _, _, each in finishers(table)]
    is_room_for_all = len(found) - found.count(Fate.OUT) <= places_left(table)
    return is_room_for_all or caster.seat in table.game.settled.get("place", ())


def placings(table: Table) -> tuple[Placing, ...]:
    """Every finisher of the round, successes first, as things stand. Rule: TADA-18 TADA-19 TADA-25"""
    found = finishers(table)
    winners = [row for row in found if is_placed(table, row[0], row[2])]
    grouped = groups([stamp for _, stamp, _ in winners])
    kept = sorted((c for c in table.game.casters.values() if c.kept), key=lambda c: c.kept)
    shared = {caster.kept for caster in kept if sum(other.kept == caster.kept for other in kept) > 1}
    rank = {caster.seat: (caster.kept, caster.kept in shared) for caster in kept}
    place = 1 + len(kept)
    for group in grouped:
        for i in group:
            rank[winners[i][0].seat] = (place, len(group) > 1)
        place += len(group)
    rows = [(caster, Stamp(at_ns=0, u_ns=0), Fate.IN) for caster in kept] + found
    rows.sort(key=lambda row: rank.get(row[0].seat, (99, False))[0])
    return tuple(_placing(table, row, rank.get(row[0].seat, (0, False))) for row in rows)


def _placing(table: Table, row: tuple[Caster, Stamp, Fate], rank: tuple[int, bool]) -> Placing:
    caster, _, fate = row
    slam = caster.finish if table.game.by_hand is None else None
    after_go = adjusted(table, caster, slam) if slam else None
    return Placing(
        seat=caster.seat,
        place=rank[0],
        shared=rank[1],
        fate=fate,
        raw_ms=(slam.play_ns - (caster.go_ns or 0)) / 1e6 if slam else None,
        adjusted_ms=after_go.at_ns / 1e6 if after_go else None,
        u_ms=after_go.u_ns / 1e6 if after_go else None,
        is_settled=fate is Fate.CONTESTED and "place" in table.game.settled,
    )


def successes(table: Table) -> tuple[str, ...]:
    """The seats that succeed in this round, in finishing order, a dead heat by seat. Rule: TADA-21"""
    placed = [row for row in placings(table) if row.place]
    order = [seat.id for seat in table.seats]
    return tuple(row.seat for row in sorted(placed, key=lambda r: (r.place, order.index(r.seat))))


def would_win(table: Table) -> tuple[str, ...]:
    """Who wins with this round: of those who reach six, the first, and who may have been as early.

    Nobody when nobody reaches six. Rule: TADA-4
    """
    scored, casters = table.game.scored, table.game.casters
    rows = [
        row for row in placings(table) if row.place and len(scored.get(row.seat, ())) + 1 >= SPELLS_TO_WIN
    ]
    before_all = Stamp(at_ns=-10_000_000_000_000, u_ns=0)
    stamps = [
        msgspec.structs.replace(before_all, at_ns=before_all.at_ns + row.place * 10_000_000)
        if casters[row.seat].kept
        else finish_stamp(table, casters[row.seat]) or before_all
        for row in rows
    ]
    found = fates(stamps, 1)
    return tuple(row.seat for row, fate in zip(rows, found, strict=True) if fate is not Fate.OUT)


def is_win_open(table: Table) -> bool:
    """Whether a dead heat for the win must be settled by the table. Rule: TADA-4"""
    is_asked = table.options["dead_heat"] != "both" and "win" not in table.game.settled
    return is_asked and len(would_win(table)) > 1


def out_at(table: Table, caster: Caster) -> int | None:
    """Play instant after which a slam of this caster could no longer take a place; None while it could.

    A slam that is not heard yet may be as uncertain as the others, or as a click where the seat has no pad.
    Rule: TADA-19
    """
    if caster.go_ns is None or table.game.by_hand is not None:
        return None
    ranked = [stamp for _, stamp, _ in finishers(table)]
    left = places_left(table)
    if len(ranked) < left:
        return None
    taken_ns = sorted(stamp.at_ns + stamp.u_ns for stamp in ranked)[left - 1] if left > 0 else 0
    seat = table.seat(caster.seat)
    factor = seat.accommodation.time_factor if seat else 1.0
    own_ns = max([FLOOR_NS, *(stamp.u_ns for stamp in ranked)])
    if seat is None or not seat.device:
        own_ns = max(own_ns, CLICK_U_NS)
    return caster.go_ns + round((taken_ns + FLOOR_NS) * factor) + own_ns + 1


def may_end(table: Table, play_ns: int) -> bool:
    """Whether the end of the cast may be called at this instant in play time. Rule: TADA-19"""
    if any(caster.pending for caster in table.game.casters.values()):
        return False
    for caster in table.game.casters.values():
        if caster.is_casting:
            instant = out_at(table, caster)
            if instant is None or play_ns < instant:
                return False
    return True


def takes_over(caster: Caster, play_ns: int) -> bool:
    """Whether a slam at this instant lies nearer to the call than the bump that the call made a claim of.

    Rule: TADA-15
    """
    bump, called_ns = caster.pending, caster.called_ns
    if bump is None or called_ns is None or not bump.by_call or abs(play_ns - bump.play_ns) <= BOUNCE_NS:
        return False
    return abs(play_ns - called_ns) < abs(bump.play_ns - called_ns)


def was_called(caster: Caster, slam: SlamSeen) -> bool:
    """Whether TA-DA! was called for this slam: shortly before it, or at any time after. Rule: TADA-14"""
    return caster.called_ns is not None and caster.called_ns >= slam.play_ns - CALL_WINDOW_NS


def waiting(table: Table) -> tuple[Caster, ...]:
    """The casters who wait for their GO, in the order in which they cast in turn. Rule: TADA-11"""
    return tuple(k for k in table.game.casters.values() if k.go_ns is None and not k.out and not k.kept)


def slams(table: Table) -> tuple[tuple[str, Stamp], ...]:
    """The slams that claim or have a place in this round, by seat, as they are ranked."""
    casters = table.game.casters.values() if table.game.phase in ("cast", "resolve") else ()
    claims = ((caster, caster.finish or caster.pending) for caster in casters)
    return tuple((caster.seat, adjusted(table, caster, slam)) for caster, slam in claims if slam)


def open_protests(table: Table) -> tuple[tuple[Caster, SlamSeen], ...]:
    """The protests that nobody has looked at yet, with whose slams they are. Rule: TADA-19"""
    noted = {slam.n for slam in table.game.protests}
    return tuple(
        (caster, slam)
        for caster in table.game.casters.values()
        for slam in caster.slams
        if slam.n in noted and slam.complete is None and slam.is_claim and not caster.out
    )


def at_stake(table: Table, caster: Caster, slam: SlamSeen) -> tuple[tuple[str, int, int], ...]:
    """Whose place changes if that slam is found complete: (seat, place now, place then), 0 for none."""
    whole = tuple(
        msgspec.structs.replace(s, complete=True, is_claim=True) if s.n == slam.n else s for s in caster.slams
    )
    casters = {**table.game.casters, caster.seat: msgspec.structs.replace(caster, slams=whole)}
    game = msgspec.structs.replace(table.game, casters=casters, settled={})
    before = {row.seat: row.place for row in placings(table)}
    after = {row.seat: row.place for row in placings(msgspec.structs.replace(table, game=game))}
    return tuple(
        (seat, before.get(seat, 0), place) for seat, place in after.items() if place != before.get(seat, 0)
    )


def next_up(table: Table) -> tuple[Caster, ...]:
    """The casters whom the next GO is for: all who wait, or where they cast in turn the first of them."""
    return waiting(table)[:1] if table.options["in_turn"] else waiting(table)


def racers(table: Table) -> tuple[str, ...]:
    """The seats whose pads must be fit before the next GO; nobody's while none is to come. Rule: TABLE-12"""
    if table.game.phase in ("draw", "feat", "choose"):
        return tuple(seat.id for seat in table.playing())
    is_before_go = table.game.phase in ("ready", "cast") and not is_turn_taken(table)
    return tuple(caster.seat for caster in next_up(table)) if is_before_go else ()


def is_turn_taken(table: Table) -> bool:
    """Whether somebody is casting whom the next must wait for, where they cast in turn."""
    return any(
        k.go_ns is not None and k.is_casting and not k.is_ruled_out for k in table.game.casters.values()
    )


def hexes_now(table: Table, seat_id: str) -> tuple[Hex, ...]:
    """The effects that a seat suffers in this round. Rule: TADA-22"""
    return tuple(
        h for h in table.game.hexes if h.target == seat_id and h.part == table.game.part and not h.is_waived
    )


def named_twice(table: Table) -> tuple[str, ...]:
    """The seats that named a card which another named too; a mistake where cards lie on the table."""
    named = list(table.game.chosen.values())
    return tuple(seat for seat, spell in table.game.chosen.items() if named.count(spell) > 1)


def must_choose(table: Table) -> tuple[str, ...]:
    """The seats that cast in this round: those who sit there and hold a card. Rule: TADA-7 TADA-24"""
    if table.options["dealing"] == "table":
        return tuple(seat.id for seat in table.playing() if seat.id in table.game.hands)
    return tuple(seat.id for seat in table.playing() if table.game.hands.get(seat.id))
