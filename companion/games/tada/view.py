"""What each viewer sees of a game of Ta-Da! A hand is seen by its seat and the referee alone."""

from __future__ import annotations

from companion.core.fitness import why_not_race, zone
from companion.core.score import Standing, standings
from companion.core.seat import Role, Seat, Viewer
from companion.core.view import Answer, ClockShown, Mark, Row, View, Zone
from companion.games.tada.actions import actions, primary
from companion.games.tada.deck import Spell
from companion.games.tada.model import (
    Caster,
    Placing,
    Table,
    at_stake,
    deck_of,
    heat,
    must_choose,
    named_twice,
    open_protests,
    placings,
    racers,
    spell_of,
    would_win,
)
from companion.games.tada.rulebook import SPELLS_TO_WIN, places
from companion.games.tada.verdicts import hindrances

HEADLINES = {
    "draw": "Draw: fill every hand to two spells.",
    "feat": "Turn the feat up and read it to all.",
    "ready": "All six dice go into the cups.",
    "countdown": "GO is coming.",
    "cast": "Cast! Roll, lock one die, roll again.",
    "resolve": "The cast is over: check and score.",
    "effects": "Who suffers an effect in the next round?",
}


def view(table: Table, viewer: Viewer) -> View:
    """The game's own part of a view."""
    state = table.game
    is_public = viewer.role is Role.PUBLIC
    return View(
        game=table.opened.game,
        viewer=viewer,
        phase=state.phase,
        part=state.part,
        headline=_headline(table),
        seats=table.seats,
        primary=None if is_public else primary(table, viewer),
        actions=() if is_public else actions(table, viewer),
        zones=_zones(table, viewer),
        notices=_notices(table, viewer),
        answers=_answers(table, viewer) if viewer.role is Role.SEAT else (),
        clocks=_clocks(table),
    )


def _headline(table: Table) -> str:
    """Where the game stands, and whom it waits for."""
    state = table.game
    if state.phase == "over":
        names = " and ".join(table.name(seat) for seat in state.winners)
        won = f"{names} {'share' if len(state.winners) > 1 else 'wins'} the game."
        return won if names else "The game is over; nobody cast six spells."
    if state.phase == "choose":
        waits = ", ".join(table.name(seat) for seat in must_choose(table) if seat not in state.chosen)
        return f"Choose a spell in secret: {waits}." if waits else "Everyone has chosen."
    return HEADLINES.get(state.phase, "")


def score_table(table: Table) -> tuple[Standing, ...]:
    """Standings by spells cast; the winners first. Rule: TADA-3 TADA-4"""
    scores = {seat.id: len(table.game.scored.get(seat.id, ())) for seat in table.seats}
    return standings(scores, table.game.winners)


def _clocks(table: Table) -> tuple[ClockShown, ...]:
    state, standing = table.game, table.stopped_at_ns is not None
    now_ns = table.play_ns(table.at_ns)
    found = []
    if state.clock is not None:
        ends = None if standing else table.host_ns(state.clock.ends_play_ns)
        found.append(
            ClockShown(id="round", label="Round clock", left_ns=state.clock.left_ns(now_ns), ends_ns=ends)
        )
    if state.protest_ends_ns is not None and state.phase == "resolve" and open_protests(table):
        ends = None if standing else table.host_ns(state.protest_ends_ns)
        left_ns = max(0, state.protest_ends_ns - now_ns)
        found.append(ClockShown(id="protest", label="Protest window", left_ns=left_ns, ends_ns=ends))
    return tuple(found)


def _may_see_hand(viewer: Viewer, seat_id: str) -> bool:
    return viewer.role is Role.REFEREE or (viewer.role is Role.SEAT and viewer.seat == seat_id)


def _zones(table: Table, viewer: Viewer) -> tuple[Zone, ...]:
    deck, state = deck_of(table), table.game
    found = []
    feat = deck.feats().get(state.feat)
    if feat:
        senses = ", ".join(feat.senses) or "nobody"
        said = Row(id="feat", label=feat.name, text=feat.text)
        sensed = Row(id="senses", label="Could be sensed by", text=senses, tone="quiet")
        found.append(Zone(id="feat", title="Feat of the round", rows=(said, sensed)))
    if (pads := zone(table, racers(table))) is not None:
        found.append(pads)
    found += [_seat_zone(table, seat, viewer) for seat in table.playing()]
    if state.phase in ("cast", "resolve") and (protests := _protest_rows(table)):
        found.append(Zone(id="protests", title="Protests", rows=protests))
    if state.phase in ("cast", "resolve") and (finished := _place_rows(table)):
        found.append(Zone(id="places", title="Places", rows=finished))
    score = tuple(
        Row(id=f"score-{s.seat}", label=table.name(s.seat), seat=s.seat,
            text=f"{s.score} of {SPELLS_TO_WIN}", marks=_spell_marks(table, s.seat),
            tone="good" if s.seat in state.winners else "")
        for s in score_table(table)
    )  # fmt: skip
    found.append(Zone(id="score", title="Spells cast", rows=score))
    return tuple(found)


def _spell_marks(table: Table, seat: str) -> tuple[Mark, ...]:
    spells = deck_of(table).spells()
    cast = table.game.scored.get(seat, ())
    return tuple(Mark(symbol="spell", text=spells[s].name, state="done") for s in cast if s in spells)


def _place_rows(table: Table) -> tuple[Row, ...]:
    rows = []
    for row in placings(table):
        seat = table.seat(row.seat)
        factor = seat.accommodation.time_factor if seat else 1.0
        times = _times(row, factor)
        place = f"Place {row.place}{' (shared)' if row.shared else ''}" if row.place else "No place"
        tone = "doubt" if row.shared or row.fate.value == "contested" else ("good" if row.place else "quiet")
        text = f"{place}, {times}"
        rows.append(
            Row(id=f"place-{row.seat}", label=table.name(row.seat), seat=row.seat, text=text, tone=tone)
        )
    return tuple(rows)


def _protest_rows(table: Table) -> tuple[Row, ...]:
    """Each late slam that nobody has looked at, and what changes if it is found complete. Rule: TADA-19"""
    rows = []
    for caster, slam in open_protests(table):
        after_s, u_ms = (slam.play_ns - (caster.go_ns or 0)) / 1e9, slam.stamp.u_ns / 1e6
        stakes = "; ".join(
            f"{table.name(seat)}: {f'place {now}' if now else 'no place'} becomes {f'place {then}' if then else 'none'}"
            for seat, now, then in at_stake(table, caster, slam)
        )
        when = f"slam {after_s:.3f} s after GO ± {u_ms:.1f} ms, heard late"
        text = f"{when}. If it is complete: {stakes or 'nothing changes'}."
        rows.append(Row(id=f"protest-{slam.n}", label=table.name(caster.seat), seat=caster.seat, text=text,
                        tone="doubt", entry=slam.n))  # fmt: skip
    return tuple(rows)


def _times(row: Placing, factor: float) -> str:
    """How long a cast took, raw and as agreed for the seat."""
    if row.raw_ms is None or row.adjusted_ms is None or row.u_ms is None:
        return "order entered by hand"
    raw, adjusted = f"{row.raw_ms / 1000:.3f} s", f"{row.adjusted_ms / 1000:.3f} s"
    return f"{raw if factor == 1 else f'{raw} raw, {adjusted} adjusted'} ± {row.u_ms:.1f} ms"


def slot_marks(caster: Caster, spell: Spell) -> tuple[Mark, ...]:
    """The spell's places with what lies on them."""
    return tuple(
        Mark(symbol=symbol, text=f"{symbol} {'locked' if lock else 'open'}", state="done" if lock else "open")
        for symbol, lock in zip(spell.symbols, caster.locks, strict=True)
    )


def _status(table: Table, caster: Caster) -> tuple[str, str]:
    if caster.out:
        return f"out of the round ({caster.out})", "bad"
    if caster.kept:
        return f"keeps place {caster.kept}", "good"
    if caster.finish:
        return "verified", "good"
    if caster.pending:
        return "claims the spell: verify it", "doubt"
    if caster.has_started:
        return f"casting, {caster.rolls} rolls seen" if caster.rolls else "casting", ""
    if caster.go_ns is not None:
        return "waits for GO", ""
    return ("ready", "good") if caster.is_ready else ("not ready yet", "quiet")


def _seat_zone(table: Table, seat: Seat, viewer: Viewer) -> Zone:
    state, rows = table.game, []
    caster, spell = state.casters.get(seat.id), spell_of(table, seat.id)
    if caster and spell:
        text, tone = _status(table, caster)
        rows.append(Row(id=f"spell-{seat.id}", label=spell.name, seat=seat.id, marks=slot_marks(caster, spell),
                        text=f"Effect: {spell.effect}" if spell.effect else ""))  # fmt: skip
        rows.append(Row(id=f"status-{seat.id}", label="Now", text=text, tone=tone, seat=seat.id))
    elif state.phase == "choose":
        done = seat.id in state.chosen
        text = "has chosen" if done else ("chooses" if seat.id in must_choose(table) else "waits for a draw")
        rows.append(Row(id=f"status-{seat.id}", label="Now", text=text, tone="good" if done else "",
                        seat=seat.id))  # fmt: skip
    if _may_see_hand(viewer, seat.id):
        rows += _hand_rows(table, seat.id)
    rows += [
        Row(id=f"hex-{seat.id}-{i}", label="Bound by", text=text, tone="doubt", seat=seat.id)
        for i, text in enumerate(hindrances(table, seat.id)[1 if state.feat else 0 :])
    ]
    if seat.device:
        proven = seat.id in table.proven
        rows.append(Row(id=f"pad-{seat.id}", label="Pad", text="proven" if proven else "unproven: press it once",
                        tone="good" if proven else "doubt", seat=seat.id))  # fmt: skip
    agreed = seat.accommodation
    if agreed.time_factor != 1 or agreed.start_shift_ms or agreed.proxy:
        text = f"time ÷ {agreed.time_factor:g}, start {agreed.start_shift_ms:+d} ms"
        text += f", {agreed.proxy} slams" if agreed.proxy else ""
        rows.append(Row(id=f"agreed-{seat.id}", label="Agreed", text=text, seat=seat.id))
    return Zone(id=f"seat-{seat.id}", title=seat.name, rows=tuple(rows), seat=seat.id)


def _hand_rows(table: Table, seat: str) -> list[Row]:
    spells, state = deck_of(table).spells(), table.game
    return [
        Row(id=f"hand-{seat}-{card}", label=f"In hand: {spells[card].name}", seat=seat,
            text="chosen" if state.chosen.get(seat) == card else "",
            marks=tuple(Mark(symbol=s, text=s) for s in spells[card].symbols))
        for card in state.hands.get(seat, ()) if card in spells
    ]  # fmt: skip


def _notices(table: Table, viewer: Viewer) -> tuple[str, ...]:
    found = []
    if heat(table)[0] and table.game.phase == "resolve":
        how = "roll off" if table.options["dead_heat"] == "roll_off" else "let the referee decide"
        found.append(f"Too close to call: {how}, then enter who succeeds (TADA-18).")
    first = would_win(table) if table.game.phase == "resolve" else ()
    if first:
        verb = "reach" if len(first) > 1 else "reaches"
        found.append(f"With this round {' and '.join(map(table.name, first))} {verb} six spells (TADA-4).")
    if table.game.phase == "ready" and (unfit := why_not_race(table, racers(table))):
        found.append(f"No GO yet. {unfit}")
    if viewer.role is Role.REFEREE:
        if twice := named_twice(table):
            found.append(
                f"{' and '.join(map(table.name, twice))} named the same card: one of them names again."
            )
        unproven = [s.name for s in table.playing() if s.device and s.id not in table.proven]
        if unproven and table.game.phase in ("draw", "feat", "choose", "ready"):
            found.append(f"Not heard yet: the pads of {', '.join(unproven)}. Let them press once.")
    return tuple(found)


def _answers(table: Table, viewer: Viewer) -> tuple[Answer, ...]:
    """Answers kept ready for the questions a player asks by a key. A seat hears its own secrets only."""
    seat, state = viewer.seat, table.game
    caster, spell = state.casters.get(seat), spell_of(table, seat)
    spells = deck_of(table).spells()
    mine = "You have no spell yet."
    if spell:
        mine = f"{spell.name}: {', '.join(spell.symbols)}."
    elif hand := [spells[card] for card in state.hands.get(seat, ()) if card in spells]:
        mine = " Or ".join(f"{s.name}: {', '.join(s.symbols)}." for s in hand)
        if seat in state.chosen:
            mine = f"You chose {spells[state.chosen[seat]].name}. {mine}"
    need, dice, roll = "Nothing yet.", "No die is locked.", "No roll was seen."
    if caster and spell:
        open_ = [s for s, lock in zip(spell.symbols, caster.locks, strict=True) if lock is None]
        need = f"Still needed: {', '.join(open_)}." if open_ else "Nothing: call TA-DA and slam!"
        if not caster.is_casting:
            need = "Nothing: you are out of this round." if caster.out else "Nothing: you have slammed."
        locked = [lock for lock in caster.locks if lock]
        dice = f"Locked: {', '.join(locked)}. {6 - len(locked)} dice in the cup." if locked else dice
        if caster.rolls:
            read = f": {', '.join(caster.last_roll)}" if caster.last_roll else " was not read"
            roll = f"Roll {caster.rolls}{read}."
    room = places(state.players or len(must_choose(table)) or len(table.playing()))
    taken = sum(1 for row in placings(table) if row.place)
    open_places = f"Open places: {max(0, room - taken)} of {room}."
    score = len(state.scored.get(seat, ()))
    bound = " ".join(hindrances(table, seat)) or "Nothing binds you."
    return (
        Answer(id="my_spell", label="My spell", key="1", text=mine),
        Answer(id="needed", label="Still needed", key="2", text=need),
        Answer(id="my_dice", label="My dice", key="3", text=dice),
        Answer(id="last_roll", label="Last roll", key="4", text=roll),
        Answer(id="places", label="Places left", key="5", text=open_places),
        Answer(id="score", label="My score", key="6", text=f"{score} of {SPELLS_TO_WIN} spells."),
        Answer(id="feat", label="What binds me", key="7", text=bound),
    )
