"""What each viewer sees of a game of TAH WARS. Nothing is secret but the order of the deck, which nobody sees."""

from __future__ import annotations

from companion.core.seat import Role, Viewer
from companion.core.view import Answer, Row, View, Zone
from companion.games.tahwars.actions import actions
from companion.games.tahwars.drawing import drawing
from companion.games.tahwars.model import (
    Table,
    in_order,
    open_attack,
    player_of,
    quest_of,
    strikes_of,
    titles,
)
from companion.games.tahwars.phrases import (
    board_in_words,
    castle_in_words,
    cost_in_words,
    dice_counted,
    dice_in_words,
    lying_in_words,
    open_things,
    reminders,
    resources_in_words,
    stats_in_words,
)
from companion.games.tahwars.rulebook import PHASES
from companion.games.tahwars.scoring import crowns, score_table, target, team_of
from companion.games.tahwars.verdicts import quest_in_words, strike_in_words


def view(table: Table, viewer: Viewer) -> View:
    """The game's own part of a view."""
    state = table.game
    may_do = () if viewer.role is Role.PUBLIC else actions(table, viewer)
    return View(
        game=table.opened.game,
        viewer=viewer,
        phase=state.phase,
        part=state.part,
        headline=_headline(table),
        seats=table.seats,
        primary=next(iter(may_do), None),
        actions=may_do,
        zones=_zones(table, is_public=viewer.role is Role.PUBLIC),
        notices=reminders(table),
        answers=_answers(table, viewer.seat) if viewer.role is Role.SEAT else (),
        board=drawing(table),
    )


def _headline(table: Table) -> str:
    """Where the game stands, and whom it waits for."""
    state = table.game
    if state.phase == "over":
        names = " and ".join(map(table.name, state.winners)) or "Nobody"
        return f"{names} {'win' if len(state.winners) > 1 else 'wins'} the game."
    attack = open_attack(table)
    if attack is not None:
        waits = f"still to launch: {titles(attack.waiting)}" if attack.waiting else "all dice lie: count it"
        return f"{table.name(state.turn)} attacks; {waits}."
    return f"{PHASES[state.phase].partition(':')[0]}. {open_things(table)}"


def _zones(table: Table, *, is_public: bool) -> tuple[Zone, ...]:
    """A crowd sees the map, the crowns and each board's numbers; players also castles and quests in words."""
    found = [_attack(table)] if table.game.doing.attack is not None else []
    found += [
        _seat_zone(table, seat.id, is_short=is_public)
        for seat in table.playing()
        if seat.id in table.game.players
    ]
    if not is_public:
        found.append(_quest_zone(table))
    found.append(Zone(id="score", title="Crowns", rows=_score_rows(table)))
    return tuple(found)


def _attack(table: Table) -> Zone:
    """The sum as it forms, tower by tower; after the count what it came to. Rule: TAH-19 TAH-21"""
    state, attack = table.game, open_attack(table)
    strikes = strikes_of(table) if attack is not None else state.struck
    who = state.turn if attack is not None else state.struck_by
    rows = []
    declared = state.doing.attack
    if declared is not None:
        waits = f"; still to launch: {titles(declared.waiting)}" if declared.waiting else ""
        rows.append(
            Row(
                id="attack-dice",
                label=table.name(who),
                text=f"attacks with {titles(declared.dice)}{waits}",
                seat=who,
            )
        )
    for strike in strikes:
        rows.append(
            Row(id=f"strike-{strike.tower}", label=table.name(strike.tower), text=strike_in_words(table, strike),
                seat=strike.tower, tone="good" if strike.is_success else "bad")
        )  # fmt: skip
    if not strikes:
        rows.append(Row(id="strike-none", label="Towers", text="none touched", tone="quiet"))
    title = "The attack as it forms" if attack is not None else "The attack"
    return Zone(id="attack", title=title, rows=tuple(rows))


def _seat_zone(table: Table, seat: str, *, is_short: bool) -> Zone:
    player = table.game.players[seat]
    if player_of(table, seat) is None:
        row = Row(id=f"out-{seat}", label="Out", text="out of the game", seat=seat, tone="quiet")
        return Zone(id=f"seat-{seat}", title=table.name(seat), rows=(row,), seat=seat)
    is_first = " It holds the first-player marker." if table.game.first == seat else ""
    told = [
        ("stats", "Board", f"{stats_in_words(player)}.{is_first}"),
        ("resources", "Resources", resources_in_words(player)),
        ("dice", "Dice", dice_counted(player) if is_short else dice_in_words(player)),
    ]
    if not is_short:
        told.append(("castle", "Castle", castle_in_words(player)))
    for number, quest in enumerate(quest_of(table, each) for each in player.quests):
        if quest is not None and not is_short:
            told.append((f"quest{number}", "Quest", quest_in_words(quest)))
    tone = "good" if table.game.turn == seat else ""
    rows = tuple(
        Row(id=f"{id_}-{seat}", label=label, text=text, seat=seat, tone=tone if id_ == "stats" else "")
        for id_, label, text in told
    )
    return Zone(id=f"seat-{seat}", title=table.name(seat), rows=rows, seat=seat)


def _quest_zone(table: Table) -> Zone:
    state = table.game
    quests = [
        quest for quest in (quest_of(table, quest_id) for quest_id in state.line_up) if quest is not None
    ]
    rows = [Row(id=f"line-{quest.id}", label=quest.kind, text=quest_in_words(quest)) for quest in quests]
    rows.append(
        Row(
            id="deck",
            label="Deck",
            text=f"{len(state.deck)} cards, {len(state.discards)} discarded",
            tone="quiet",
        )
    )
    return Zone(id="quests", title="Quest board", rows=tuple(rows))


def _score_rows(table: Table) -> tuple[Row, ...]:
    state, rows = table.game, []
    for standing in score_table(table):
        team = team_of(table, standing.seat)
        of_team = (
            f" ({team}: {crowns(table, team)} of {target(table, team)})" if team != standing.seat else ""
        )
        own = state.players[standing.seat].crowns if standing.seat in state.players else 0
        out = "" if player_of(table, standing.seat) else ", out"
        shared = " (shared)" if standing.shared else ""
        rows.append(
            Row(
                id=f"score-{standing.seat}", label=table.name(standing.seat), seat=standing.seat,
                text=f"{own} crown{'' if own == 1 else 's'}{of_team}, place {standing.place}{shared}{out}",
                tone="good" if standing.seat in state.winners else "",
            )
        )  # fmt: skip
    return tuple(rows)


def _answers(table: Table, seat: str) -> tuple[Answer, ...]:
    """Answers kept ready for a seat that listens."""
    state = table.game
    line_up = [q for q in (quest_of(table, quest_id) for quest_id in state.line_up) if q is not None]
    others = " ".join(
        f"{table.name(each)}: {stats_in_words(state.players[each])}."
        for each in in_order(table)
        if each != seat
    )
    remind = " ".join(reminders(table)) or "Nothing now."
    return (
        Answer(id="open", label="Whose turn is it, and what is open?", key="w",
               text=f"{PHASES[state.phase]}. {open_things(table)}".strip()),
        Answer(id="mine", label="What do I have?", key="m", text=board_in_words(table, seat)),
        Answer(id="lying", label="What lies on the board?", key="d", text=lying_in_words(table) or "Nothing."),
        Answer(id="others", label="What do the others have?", key="o", text=others or "Nobody else plays."),
        Answer(id="quests", label="Which quests lie there?", key="q",
               text="; ".join(map(quest_in_words, line_up)) + "." if line_up else "None."),
        Answer(id="costs", label="What does it cost?", key="c", text=cost_in_words(table)),
        Answer(id="remember", label="What do I forget?", key="r", text=remind),
    )  # fmt: skip
