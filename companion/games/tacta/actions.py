"""What each viewer may do now: one primary action a phase, and all others."""

from __future__ import annotations

from collections.abc import Iterator

from companion.core.command import Command
from companion.core.ruling import Verdict
from companion.core.seat import Role, Seat, Viewer
from companion.core.view import Action, Choice, Field
from companion.games.tacta import commands as c
from companion.games.tacta.deck import SUITS
from companion.games.tacta.model import (
    Lying,
    Table,
    are_ends_known,
    bumped,
    deck_of,
    ends_of,
    free_place,
    is_countable,
    is_measured,
    is_under_another,
    legal_plays,
    mode,
    most_dots,
    partner,
    to_be_ruled,
)
from companion.games.tacta.phrases import key_of, play_in_words, ranked_plays
from companion.games.tacta.verdicts import words

MOST_GUIDED = 12
"""How many legal plays are offered to be guided to."""


def _act(id_: str, command: Command, label: str, effect: str, **more: object) -> Action:
    return Action(id=id_, command=command, label=label, effect=effect, **more)  # type: ignore[arg-type]  # keyword bundle


def primary(table: Table, viewer: Viewer) -> Action | None:
    """The one thing to do next, for the referee, or for a seat that is asked for something; none while a card that the
    eyes will see is awaited."""
    state = table.game
    if viewer.role is Role.SEAT:
        return next((act for act in _of_seat(table, viewer.seat) if _is_asked(table, act.command)), None)
    match state.phase:
        case "setup":
            seat = next((s for s in table.playing() if s.id not in state.colours), None)
            if seat is not None:
                return next(_colours(table, seat), None)
            if mode(table) == "sabotage" and (late := _without_suits(table)):
                return _suits(table, late)
            return _begin() if _may_begin(table) else None
        case "ends":
            late_one = next((s for s in table.playing() if not are_ends_known(table, s.id)), None)
            return _ends(table, late_one) if late_one else None
        case "countdown" if state.go_ns is None:
            lead = table.options["countdown_s"]
            return _act("start", c.CallStart(), "Count down", f"Free play starts in {lead} s.")
        case "play" | "scoring" if (lies := bumped(table)) is not None:
            return _restored(lies)
        case "play":
            if (doubtful := to_be_ruled(table)) is not None:
                return _rule(table, doubtful, is_legal=not doubtful.is_illegal)
            return _lay(table, state.turn) if state.turn and not is_measured(table) else None
        case "scoring" if is_countable(table):
            return _act(
                "score",
                c.Score(),
                "Count the round",
                "Illegal cards go first, then every visible dot scores.",
            )
        case "scoring":
            return next(_dots(table), None)
        case "scored":
            return _act("next", c.NextRound(), "Next round", "The table is cleared; totals stay.")
        case _:
            return None


def _is_asked(table: Table, command: Command) -> bool:
    """Whether a seat's action is what the table waits for: where cards are seen as they are laid, no click is."""
    asked: tuple[type[Command], ...] = (c.TakeColour, c.PassSuits, c.ShowEnds)
    return isinstance(command, asked if is_measured(table) else (*asked, c.Lay))


def actions(table: Table, viewer: Viewer) -> tuple[Action, ...]:
    """Everything that this viewer may do now, the primary included."""
    main = primary(table, viewer)
    others = _of_seat(table, viewer.seat) if viewer.role is Role.SEAT else _of_referee(table)
    return tuple({action.id: action for action in ((main,) if main else ()) + tuple(others)}.values())


def _without_suits(table: Table) -> Seat | None:
    return next((s for s in table.playing() if s.id not in table.game.suits), None)


def _may_begin(table: Table) -> bool:
    """Whether the round may begin now; what is missing is said by `decide`."""
    seats = table.playing()
    if len(seats) < 2 or any(seat.id not in table.game.colours for seat in seats):
        return False
    if mode(table) == "teams":
        colours = table.game.colours
        return len(seats) % 2 == 0 and all(colours[s.id] == colours[partner(table, s.id)] for s in seats)
    return mode(table) != "sabotage" or _without_suits(table) is None


def _begin() -> Action:
    return _act(
        "begin", c.Begin(), "Begin: the starting card lies in the middle",
        "Decks are shuffled and in the hands; nobody looks through them. Places are not measured.",
    )  # fmt: skip


def _movers(table: Table) -> tuple[str, ...]:
    """The seats that may lay a card now: who is on turn once every card lies in its place, in free play everybody."""
    state = table.game
    if mode(table) == "free_play":
        return tuple(seat.id for seat in table.playing() if state.decks.get(seat.id))
    return (state.turn,) if state.decks.get(state.turn) and bumped(table) is None else ()


def _of_seat(table: Table, seat_id: str) -> Iterator[Action]:
    state = table.game
    seat = table.seat(seat_id)
    if seat is None or seat.left:
        return
    if state.phase == "setup":
        yield from _colours(table, seat)
        if mode(table) == "sabotage" and seat.id in state.colours:
            yield _suits(table, seat)
    if state.phase in ("ends", "countdown", "play") and state.decks.get(seat.id):
        is_mine = seat.id in _movers(table)
        if state.phase == "play" and is_mine:
            yield _lay(table, seat.id)
            yield from _guide(table, seat.id)
            yield from _no_play(table, seat.id)
            yield from _box(table, seat.id)
        if not are_ends_known(table, seat.id):
            yield _ends(table, seat)


def _of_referee(table: Table) -> Iterator[Action]:
    state = table.game
    if state.phase == "setup":
        for seat in table.playing():
            yield from _colours(table, seat)
            if mode(table) == "sabotage" and seat.id in state.colours:
                yield _suits(table, seat)
        if _may_begin(table):
            yield _begin()
    if state.phase in ("ends", "countdown", "play"):
        for seat in table.playing():
            if len(state.decks.get(seat.id, ())) > 1:
                yield _ends(table, seat)
    if state.phase == "play":
        for seat_id in _movers(table):
            yield _lay(table, seat_id)
            yield from _no_play(table, seat_id)
            yield from _box(table, seat_id)
    if state.phase in ("play", "scoring"):
        yield from _of_cards(table)
    if state.phase == "scoring":
        yield from _dots(table)


def _of_cards(table: Table) -> Iterator[Action]:
    """What the table says of a card: of the newest and of doubtful ones by a button each, of the others by choice."""
    cards = [card for card in reversed(table.game.lying) if card.n]
    near = [
        card for card in cards if card is cards[0] or card.is_illegal or card.judged.verdict is not Verdict.OK
    ]
    for card in near:
        if card.ruled != "legal":
            yield _rule(table, card, is_legal=True)
        if card.ruled != "illegal":
            yield _rule(table, card, is_legal=False)
    if others := [card for card in cards if card not in near and card.ruled != "illegal"]:
        covered = () if is_measured(table) else (_covered(),)
        yield _act("rule-wrong", c.RuleCard(n=0, is_legal=False), "Another card lies wrong",
                   "It leaves the table, or stays until scoring where another lies on it (TACTA-12, TACTA-13).",
                   fields=(_which(others), *covered), zone="cards", is_grave=True)  # fmt: skip
    for card in table.game.lying:
        if card.is_bumped:
            yield _restored(card)
    if still := [card for card in reversed(table.game.lying) if not card.is_bumped]:
        yield _act("bumped", c.NoteBump(n=0), "A card was bumped", "It goes back to its place before play goes on.",
                   fields=(_which(still),), zone="cards")  # fmt: skip


def _which(cards: list[Lying]) -> Field:
    choices = tuple(Choice(value=card.n, label=_named(card)) for card in cards)
    return Field(name="n", label="Which card", kind="choice", choices=choices)


def _covered() -> Field:
    covers = (Choice(value=False, label="no card lies on it"), Choice(value=True, label="another lies on it"))
    return Field(name="is_covered", label="Is it covered?", kind="choice", choices=covers)


def _restored(card: Lying) -> Action:
    label = f"{_named(card)} is back in place"
    return _act(f"restored-{card.n}", c.NoteRestored(n=card.n), label, "Play goes on.", zone="cards")


def _named(card: Lying) -> str:
    return f"Card {card.n} ({words(card.card)})" if card.n else "The starting card"


def _colours(table: Table, seat: Seat) -> Iterator[Action]:
    mates = {seat.id, partner(table, seat.id)}
    taken = {colour for who, colour in table.game.colours.items() if who not in mates}
    for colour in deck_of(table).colours:
        if colour not in taken and table.game.colours.get(seat.id) != colour:
            yield _act(f"colour-{seat.id}-{colour}", c.TakeColour(seat=seat.id, colour=colour),
                       f"{seat.name} takes {colour}", "That deck is shuffled and held in the hand.",
                       zone=f"seat-{seat.id}")  # fmt: skip


def _suits(table: Table, seat: Seat) -> Action:
    names = tuple(Choice(value=suit, label=suit) for suit in SUITS)
    keeps = Field(name="keeps", label="Suit to keep", kind="choice", choices=names)
    passes = Field(name="passes", label="Suit to pass to the left", kind="choice", choices=names)
    return _act(f"suits-{seat.id}", c.PassSuits(seat=seat.id, keeps="", passes=""), f"{seat.name} chooses two suits",
                "One is kept, the other goes to the left.", fields=(keeps, passes), zone=f"seat-{seat.id}")  # fmt: skip


def _cards(table: Table, seat: str) -> tuple[Choice, ...]:
    known = ends_of(table, seat) if are_ends_known(table, seat) else table.game.decks.get(seat, ())
    return tuple(Choice(value=card, label=words(card)) for card in known)


def _ends(table: Table, seat: Seat) -> Action:
    known = ends_of(table, seat.id)
    deck = (*known, *(card for card in table.game.decks.get(seat.id, ()) if card not in known))
    field = Field(name="cards", label="Outermost cards", kind="many",
                  choices=tuple(Choice(value=card, label=words(card)) for card in deck))  # fmt: skip
    return _act(f"ends-{seat.id}", c.ShowEnds(seat=seat.id, cards=()), f"{seat.name} shows the outermost cards",
                "Top and bottom of the deck; legal plays can then be told.", fields=(field,),
                zone=f"seat-{seat.id}")  # fmt: skip


def _lay(table: Table, seat: str) -> Action:
    card = Field(name="card", label="Card", kind="choice", choices=_cards(table, seat))
    apart = Field(
        name="no_play", label="Joined or apart", kind="choice",
        choices=(Choice(value=False, label="it joins a card"), Choice(value=True, label="no legal play: apart")),
    )  # fmt: skip
    return _act(f"lay-{seat}", c.Lay(seat=seat, card=""), f"{table.name(seat)} lays a card",
                "Its place is not measured: the table's word counts.", fields=(card, apart),
                zone=f"seat-{seat}")  # fmt: skip


def _no_play(table: Table, seat: str) -> Iterator[Action]:
    """Offered unless it is known to be wrong."""
    if is_measured(table) and (not are_ends_known(table, seat) or legal_plays(table, ends_of(table, seat))):
        return
    yield _act(f"none-{seat}", c.SayNoPlay(seat=seat), f"{table.name(seat)}: no legal play",
               "It is checked where the places of all cards are known; then one card is laid apart.",
               zone=f"seat-{seat}")  # fmt: skip


def _guide(table: Table, seat: str) -> Iterator[Action]:
    """Guidance to a legal play, for who does not see the table or is new to it."""
    if seat in table.game.guided:
        yield _act(f"unguide-{seat}", c.Aim(seat=seat, at=""), "Guide me no more",
                   "What you lay counts as soon as your hand has left it.", zone=f"seat-{seat}")  # fmt: skip
    found = (
        ranked_plays(table, seat, ends_of(table, seat))[:MOST_GUIDED] if are_ends_known(table, seat) else []
    )
    if not found:
        return
    choices = tuple(
        Choice(value=key_of(card, play), label=play_in_words(table, seat, card, play)) for card, play in found
    )
    field = Field(name="at", label="Legal play", kind="choice", choices=choices)
    yield _act(f"guide-{seat}", c.Aim(seat=seat, at=""), "Guide me to a play",
               "You are told how to move the card; it counts once it lies there.", fields=(field,),
               zone=f"seat-{seat}")  # fmt: skip


def _box(table: Table, seat: str) -> Iterator[Action]:
    """Offered where what is known does not speak against it; where nothing is measured the player's word counts."""
    if is_measured(table) and not are_ends_known(table, seat):
        return
    if legal_plays(table, ends_of(table, seat)) or free_place(table) is not None:
        return
    field = Field(name="card", label="Card", kind="choice", choices=_cards(table, seat))
    yield _act(f"box-{seat}", c.BoxCard(seat=seat, card=""), f"{table.name(seat)} boxes a card",
               "The player has no legal play and no free place: the turn ends.", fields=(field,),
               zone=f"seat-{seat}")  # fmt: skip


def _rule(table: Table, card: Lying, *, is_legal: bool) -> Action:
    what = "lies right" if is_legal else "lies wrong"
    fields: tuple[Field, ...] = ()
    if is_legal:
        effect = "It stays and scores."
    elif not is_measured(table):
        effect = "It leaves the table (TACTA-12), or stays until scoring where another lies on it (TACTA-13)."
        fields = (_covered(),)
    elif is_under_another(table, card.n):
        effect = "It stays until scoring and then scores nothing (TACTA-13)."
    else:
        effect = "It leaves the table (TACTA-12); first noticed at scoring, it scores nothing (TACTA-13)."
    return _act(f"rule-{card.n}-{'right' if is_legal else 'wrong'}", c.RuleCard(n=card.n, is_legal=is_legal),
                f"{_named(card)} {what}", effect, fields=fields, zone="cards", is_grave=not is_legal)  # fmt: skip


def _dots(table: Table) -> Iterator[Action]:
    for colour in dict.fromkeys(table.game.colours.values()):
        most = most_dots(table, colour)
        field = Field(name="dots", label=f"Visible dots of {colour} (at most {most})", kind="number", value=0)
        yield _act(f"dots-{colour}", c.EnterDots(colour=colour, dots=0), f"Enter the dots of {colour}",
                   "What people count outranks what was measured.", fields=(field,), zone="score")  # fmt: skip
