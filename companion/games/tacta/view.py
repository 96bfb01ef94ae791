"""What each viewer sees of a game of Tacta. Nothing on the table is secret; what is in a deck nobody knows."""

from __future__ import annotations

from functools import lru_cache

from shapely import Polygon

from companion.core.geometry import Point
from companion.core.ruling import Verdict
from companion.core.score import Standing, standings
from companion.core.seat import Role, Viewer
from companion.core.view import Answer, BoardDrawing, ClockShown, Row, Shape, View, Zone
from companion.games.tacta.actions import actions, primary
from companion.games.tacta.model import (
    Lying,
    Table,
    are_ends_known,
    area,
    dots_by_colour,
    ends_of,
    front_of,
    ground_from,
    ground_of,
    illegal_cards,
    is_measured,
    legal_plays,
)
from companion.games.tacta.phrases import guidance, lying_in_words, plays_in_words
from companion.games.tacta.verdicts import words

HEADLINES = {
    "ends": "Everybody shows the two outermost cards: the lowest starts.",
    "countdown": "Hands off: free play is about to start.",
    "scoring": "All cards are played: count the dots.",
    "scored": "The round is counted.",
}
MARKS = {
    "blue": "circle", "green": "triangle", "orange": "square", "pink": "heart", "purple": "diamond", "red": "cross",
}  # fmt: skip
"""A symbol for each printed colour, so that none is told by hue alone."""
GLYPHS = {"blue": "●", "green": "▲", "orange": "■", "pink": "♥", "purple": "◆", "red": "✚"}
"""The same symbols as signs."""
SIGNS = {"circle": "●", "square": "■", "triangle": "▲"}
TONES = {Verdict.OK: "good", Verdict.BREACH: "bad", Verdict.TOO_CLOSE: "doubt"}


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
        zones=_zones(table, is_public=is_public),
        answers=_answers(table, viewer.seat) if viewer.role is Role.SEAT else (),
        clocks=_clocks(table),
        board=_board(table),
    )


def _headline(table: Table) -> str:
    """Where the game stands, and whom it waits for."""
    state = table.game
    if state.phase == "over":
        names = " and ".join(table.name(seat) for seat in state.winners)
        return (
            f"{names} {'share' if len(state.winners) > 1 else 'wins'} the game."
            if names
            else "The game is over."
        )
    if state.phase == "setup":
        late = ", ".join(s.name for s in table.playing() if s.id not in state.colours)
        return (
            f"Everybody takes a colour: {late}." if late else "Shuffle the decks and lay the starting card."
        )
    if state.phase == "play":
        return f"{table.name(state.turn)} plays." if state.turn else "Everybody plays at once."
    return HEADLINES.get(state.phase, "")


def score_table(table: Table) -> tuple[Standing, ...]:
    """Standings by total; the winners first, equal totals share. Rule: TACTA-14 TACTA-16"""
    scores = {seat.id: table.game.totals.get(seat.id, 0) for seat in table.seats}
    return standings(scores, table.game.winners)


def _clocks(table: Table) -> tuple[ClockShown, ...]:
    go_ns = table.game.go_ns
    if table.game.phase != "countdown" or go_ns is None:
        return ()
    left = max(0, go_ns - table.play_ns(table.at_ns))
    ends = None if table.stopped_at_ns is not None else table.host_ns(go_ns)
    return (ClockShown(id="start", label="Start", left_ns=left, ends_ns=ends),)


def _zones(table: Table, *, is_public: bool) -> tuple[Zone, ...]:
    """The crowd is spared what the table still has to look at."""
    state = table.game
    found = []
    if len(state.lying) > 1:
        newest = state.lying[-1]
        why = Row(id="last-why", label="Why", text=newest.judged.because)
        found.append(
            Zone(id="last", title="The last card", rows=(_verdict_row(newest, "last", told=False), why))
        )
    found += [_seat_zone(table, seat.id) for seat in table.playing()]
    if state.lying and not is_public:
        rows = (*_bumped_rows(table), *_doubtful_rows(table), *_partly_rows(table))
        if rows:
            found.append(Zone(id="cards", title="Cards to look at", rows=rows))
    if rows := _recount_rows(table):
        found.append(Zone(id="recount", title="Taken away before the count", rows=rows))
    found.append(Zone(id="score", title="Score", rows=_score_rows(table)))
    return tuple(found)


def _bumped_rows(table: Table) -> tuple[Row, ...]:
    return tuple(
        Row(id=f"bump-{card.n}", label=f"Card {card.n}", text="was bumped: put it back", tone="bad")
        for card in table.game.lying
        if card.is_bumped
    )


def _doubtful_rows(table: Table) -> tuple[Row, ...]:
    """Of the newest card the verdict stands above already."""
    older = table.game.lying[:-1]
    return tuple(_verdict_row(card, "doubt") for card in older if card.n and _is_doubtful(card))


def _partly_rows(table: Table) -> tuple[Row, ...]:
    """Cards with a dot that is covered in part. Rule: TACTA-15"""
    if not is_measured(table):
        return ()
    text = "a dot is partly covered: it counts if more than half of it shows"
    return tuple(
        Row(id=f"partly-{card.n}", label=f"{card.n}: {words(card.card)}", text=text, tone="doubt")
        for card, dots in zip(table.game.lying, ground_of(table).dots, strict=True)
        if dots.partly
    )


def _recount_rows(table: Table) -> tuple[Row, ...]:
    """What scoring does to cards that lie illegally, and to the dots of each colour. Rule: TACTA-13"""
    gone = illegal_cards(table)
    if table.game.phase != "scoring" or not gone:
        return ()
    rows = [
        Row(id=f"gone-{card.n}", label=f"{card.n}: {words(card.card)}", text="lies illegally: it scores nothing",
            seat=card.seat, tone="bad")
        for card in gone
    ]  # fmt: skip
    if is_measured(table):
        before, after = ground_of(table).score(), dots_by_colour(table)
        changed = [colour for colour in after if after[colour] != before.get(colour, 0)]
        rows += [
            Row(
                id=f"recount-{colour}",
                label=told_colour(colour),
                text=f"{before.get(colour, 0)} dots, then {after[colour]}",
            )
            for colour in changed
        ]
    return tuple(rows)


def told_colour(colour: str) -> str:
    """A printed colour by sign and word: ``♥ pink``."""
    return f"{GLYPHS.get(colour, '★')} {colour}"


def _is_doubtful(card: Lying) -> bool:
    return card.ruled == "illegal" or (not card.ruled and card.judged.verdict is not Verdict.OK)


def _verdict_row(card: Lying, id_: str, *, told: bool = True) -> Row:
    """What was said of a card; `told`: with the reason."""
    judged, ruled = card.judged, card.ruled
    by_table = {"legal": "ok (the table's word)", "illegal": "breach (the table's word)"}
    verdict = by_table.get(ruled, judged.verdict.value)
    tone = {"legal": "good", "illegal": "bad"}.get(ruled, TONES[judged.verdict])
    text = f"{verdict}, {judged.rule}" + (f". {judged.because}" if told else "")
    return Row(
        id=f"{id_}-{card.n}", label=f"{card.n}: {words(card.card)}", text=text, seat=card.seat, tone=tone
    )


def _seat_zone(table: Table, seat: str) -> Zone:
    state = table.game
    colour = state.colours.get(seat, "")
    rows = []
    if colour:
        rows.append(
            Row(
                id=f"colour-{seat}",
                label="Colour",
                text=f"{told_colour(colour)} ({MARKS.get(colour, 'star')})",
                seat=seat,
            )
        )
    if seat in state.decks:
        text = f"{state.counts.get(seat, 0)} cards"
        if are_ends_known(table, seat) and state.decks[seat]:
            text += f"; outermost: {' and '.join(words(card) for card in ends_of(table, seat))}"
        rows.append(Row(id=f"deck-{seat}", label="Deck", text=text, seat=seat))
        rows += _plays_row(table, seat)
    return Zone(id=f"seat-{seat}", title=table.name(seat), rows=tuple(rows), seat=seat)


def _plays_row(table: Table, seat: str) -> tuple[Row, ...]:
    """Whether a seat that may play has a legal play, where that is known. Rule: TACTA-11"""
    may = table.game.phase == "play" and table.game.turn in ("", seat)
    if not may or not is_measured(table) or not ends_of(table, seat) or not are_ends_known(table, seat):
        return ()
    count = len(legal_plays(table, ends_of(table, seat)))
    text = f"{count} legal placements" if count else "no legal play: one card is laid apart"
    return (Row(id=f"plays-{seat}", label="May play", text=text, seat=seat, tone="" if count else "doubt"),)


def _score_rows(table: Table) -> tuple[Row, ...]:
    state = table.game
    dots = dots_by_colour(table) if state.phase in ("play", "scoring") and state.colours else state.last
    rows = []
    for standing in score_table(table):
        colour = state.colours.get(standing.seat, "")
        now = f"{told_colour(colour)}: {dots[colour]} dots show. " if colour in dots else ""
        shared = " (shared)" if standing.shared else ""
        has_total = any(state.totals.values()) or not now
        total = f"total {standing.score}, place {standing.place}{shared}" if has_total else ""
        rows.append(
            Row(
                id=f"score-{standing.seat}", label=table.name(standing.seat),
                text=f"{now}{total}".strip(), seat=standing.seat,
                tone="good" if standing.seat in state.winners else "",
            )
        )  # fmt: skip
    return tuple(rows)


def _answers(table: Table, seat: str) -> tuple[Answer, ...]:
    found = []
    if told := guidance(table, seat):
        found.append(Answer(id="guide", label="How must I move it?", key="g", text=told))
    found.append(
        Answer(id="lying", label="What lies on the table?", key="d", text=lying_in_words(table, seat))
    )
    if table.game.phase == "play" and is_measured(table) and table.game.decks.get(seat):
        if are_ends_known(table, seat):
            text = plays_in_words(table, seat, ends_of(table, seat))
        else:
            text = "Show your two outermost cards first; then your legal plays can be told."
        found.append(Answer(id="plays", label="What may I play?", key="l", text=text))
    return tuple(found)


def _board(table: Table) -> BoardDrawing | None:
    """The table from above where it is measured."""
    return _drawn(table.opened.data, table.game.lying, area(table).size_mm) if is_measured(table) else None


@lru_cache(maxsize=64)
def _drawn(data: str, lying: tuple[Lying, ...], size_mm: tuple[float, float]) -> BoardDrawing:
    """Cards in the order of laying with their shapes and dots; covered dots are dimmed. The same for every viewer."""
    ground = ground_from(data, lying)
    shapes: list[Shape] = []
    hidden: list[Shape] = []
    for index, (laid, card) in enumerate(zip(ground.laid, lying, strict=True)):
        shapes.append(_card(card, ground.outlines[index], is_newest=index == len(lying) - 1))
        for number, shape in enumerate(ground.faces.card(laid.face).shapes):
            ink, style = (laid.colour, "") if shape.dots_mm else ("white", "hollow")
            shapes.append(Shape(outline=_corners(ground.shape(index, number)), colour=ink, style=style))
        for disc, is_shown in ground.discs[index]:
            layer, style = (shapes, "") if is_shown else (hidden, "dim")
            layer.append(Shape(outline=_corners(disc.simplify(0.4)), colour="white", style=style))
    return BoardDrawing(size_mm=size_mm, shapes=(*shapes, *hidden))


def _card(card: Lying, outline: Polygon, *, is_newest: bool) -> Shape:
    told = f"{card.n}: {words(card.card)}" if card.n else "starting card"
    if card.n and card.is_illegal:
        told += ", lies wrong"
    suit, _, value = front_of(card.card).partition("-")
    sign = f"{card.colour[:2].capitalize()}{SIGNS.get(suit, '')}{value}" if card.n else "X"
    is_wrong = bool(card.n) and card.is_illegal
    style = "wrong" if is_wrong else "new" if card.n and is_newest else ""
    mark = "✕ " if is_wrong else ""
    return Shape(outline=_corners(outline), colour="black", text=told, symbol=f"{mark}{sign}", style=style)


def _corners(polygon: Polygon) -> tuple[Point, ...]:
    return tuple((round(x, 1), round(y, 1)) for x, y in list(polygon.exterior.coords)[:-1])
