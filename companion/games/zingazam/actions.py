"""What each viewer may do now: one primary action a phase, and all others. No label names a hidden card."""

from __future__ import annotations

from collections.abc import Iterator

from companion.core.command import Command
from companion.core.seat import Role, Viewer
from companion.core.view import Action, Choice, Field
from companion.games.zingazam import commands as c
from companion.games.zingazam.abilities import due, legal
from companion.games.zingazam.deck import Card
from companion.games.zingazam.model import (
    OTHERS,
    OWNER,
    Table,
    cards_of,
    dealing_to,
    facing,
    is_full,
    is_last_game,
    is_variant_playable,
    lots,
    next_to_act_on,
    own_numbers_left,
    winner_of,
)
from companion.games.zingazam.phrases import REMINDERS, place_label

WHOM = {OTHERS: "the others", OWNER: "its owner"}


def _act(id_: str, command: Command, label: str, effect: str, **more: object) -> Action:
    return Action(id=id_, command=command, label=label, effect=effect, **more)  # type: ignore[arg-type]  # keyword bundle


def primary(table: Table, viewer: Viewer) -> Action | None:
    """The one thing to do next, for the referee, or for a seat that is asked for something."""
    return next(_of_all(table, viewer), None)


def actions(table: Table, viewer: Viewer) -> tuple[Action, ...]:
    """Everything that this viewer may do now, the primary included."""
    return tuple({action.id: action for action in _of_all(table, viewer)}.values())


def _of_all(table: Table, viewer: Viewer) -> Iterator[Action]:
    is_referee = viewer.role is Role.REFEREE
    match table.game.phase:
        case "setup":
            yield from _setup(table, viewer)
        case "deal" if is_referee:
            yield from _deal(table)
        case "play":
            seat = _asked(table)
            if is_referee or seat == viewer.seat:
                yield from _of_asked(table, viewer, seat)
            if is_referee and table.game.last is not None and not table.game.played:
                yield _stack(table)
        case "taking" if table.game.played:
            card, _, because = winner_of(table.game.played)
            if is_referee or card.seat == viewer.seat:
                yield _act("collect", c.Collect(), f"{table.name(card.seat)} takes the cards",
                           f"{_capital(because)}. They go face down on top of the score pile.")  # fmt: skip
        case "counted" if is_referee and not is_last_game(table):
            yield _act("next-game", c.NextGame(), "Next game", "Points add up; the oldest leads again.")
        case _:
            return


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _asked(table: Table) -> str:
    """The seat from which something is wanted while cards are played."""
    state = table.game
    return state.drawing or state.facing_of or (state.using.seat if state.using else state.turn)


def _setup(table: Table, viewer: Viewer) -> Iterator[Action]:
    oldest = table.game.oldest
    playing = [seat.id for seat in table.playing()]
    if viewer.role is Role.SEAT:
        if viewer.seat != oldest and viewer.seat in playing:
            yield _act(
                "oldest", c.NameOldest(seat=viewer.seat), "I am the oldest", "You lead the first round."
            )
        return
    others = tuple(Choice(value=s.id, label=s.name) for s in table.playing() if s.id != oldest)
    field = Field(name="seat", label="Oldest player", kind="choice", choices=others)
    name = _act("oldest", c.NameOldest(seat=""), "Name the oldest player", "That player leads the first round.",
                fields=(field,))  # fmt: skip
    if oldest not in playing:
        yield name
        return
    if 2 <= len(playing) <= 5 and is_variant_playable(table):
        how = (
            "each shuffles the own set and holds it backwards; "
            if not is_full(table)
            else "the sets are dealt; "
        )
        yield _act("begin", c.Begin(), "Begin", f"{_capital(how)}{table.name(oldest)} leads.")
    if others:
        yield name


def _deal(table: Table) -> Iterator[Action]:
    found = dealing_to(table)
    if found is not None:
        seat, place = found
        whom = "its owner" if place in lots(table, seat) else "the others"
        numbers = tuple(Choice(value=n, label=str(n)) for n in cards_of(table).numbers)
        yield _act(f"deal-{seat}", c.Deal(seat=seat, number=0), f"Card {place} for {table.name(seat)}",
                   f"It goes to the right end of the hand and faces {whom}.",
                   fields=(Field(name="number", label="Number", kind="choice", choices=numbers),))  # fmt: skip
    for seat, hand in table.game.hands.items():
        if hand:
            yield _act(f"again-{seat}", c.DealAgain(seat=seat), f"Deal {table.name(seat)}'s hand again",
                       "The set is shuffled and dealt once more.", zone=f"seat-{seat}", is_grave=True)  # fmt: skip


def _of_asked(table: Table, viewer: Viewer, seat: str) -> Iterator[Action]:
    """What the seat that is asked may do: tell whom its card faced, name its cat, choose, or play."""
    state, name = table.game, table.name(seat)
    if state.drawing:
        numbers = tuple(Choice(value=n, label=str(n)) for n in cards_of(table).cat_numbers)
        yield _act(f"cat-{seat}", c.TellCat(seat=seat, number=0), f"Name {name}'s Cat Companion",
                   "It goes to the right end of the hand and faces its owner.",
                   fields=(Field(name="number", label="Its number", kind="choice", choices=numbers),))  # fmt: skip
    elif state.facing_of:
        for way in (OTHERS, OWNER):
            yield _act(f"faced-{way}", c.TellFacing(seat=seat, faced=way), f"{name}'s card faced {WHOM[way]}",
                       "The number of cards that face each way is kept.")  # fmt: skip
    elif state.using is not None:
        if viewer.role is Role.REFEREE and due(table) is not None:
            yield _act(
                "settle", c.Settle(), "Go on", "The ability has its effect, or is skipped with the reason."
            )
        yield from _choices(table, viewer)
    elif seat:
        yield from _play_known(table, viewer, seat) if is_full(table) else _play_told(table, seat)


def _play_known(table: Table, viewer: Viewer, seat: str) -> Iterator[Action]:
    forced = table.game.forced.get(seat, 0)
    name = table.name(seat)
    if forced:
        yield _act(f"play-{seat}", c.Play(seat=seat, position=forced), f"{name} plays the card at place {forced}",
                   "It was chosen by a 6.")  # fmt: skip
        return
    yield _act(f"play-{seat}", c.Play(seat=seat), f"{name} plays a card", "Its ability is used at once.",
               fields=(_positions(table, viewer, seat),))  # fmt: skip


def _positions(table: Table, viewer: Viewer, seat: str, among: tuple[int, ...] = ()) -> Field:
    """A field for a card of a hand by its place, each named as this viewer sees it."""
    places = among or range(1, len(table.game.hands.get(seat, ())) + 1)
    choices = tuple(Choice(value=place, label=place_label(table, viewer, seat, place)) for place in places)
    is_own = viewer.role is Role.SEAT and viewer.seat == seat
    left = "your left" if is_own else f"{table.name(seat)}'s left"
    return Field(name="position", label=f"Place, counted from {left}", kind="choice", choices=choices)


def _play_told(table: Table, seat: str) -> Iterator[Action]:
    state, name = table.game, table.name(seat)
    own = [Card(number) for number in own_numbers_left(table, seat)]
    cats = [Card(number, is_cat=True) for number in cards_of(table).cat_numbers]
    hand = state.hands.get(seat, ())
    forced = state.forced.get(seat, 0)
    effect = f"A 6 chose the card at place {forced}." if forced else "Its ability is used at once."
    for way in (OTHERS, OWNER):
        held = [hand[place - 1] for place in facing(state, seat, way)]
        cards = (own if any(not card.is_cat for card in held) else []) + (
            cats if any(c.is_cat for c in held) else []
        )
        if cards:
            choices = tuple(Choice(value=card.id, label=card.words) for card in cards)
            yield _act(f"play-{seat}-{way}", c.Play(seat=seat, faced=way),
                       f"{name} plays a card that faces {WHOM[way]}", effect,
                       fields=(Field(name="card", label="Card", kind="choice", choices=choices),))  # fmt: skip


def _choices(table: Table, viewer: Viewer) -> Iterator[Action]:
    """The legal choices of the ability in use, and no others. Rule: ZAZ-6"""
    found = legal(table)
    if not found:
        return
    state, first = table.game, found[0]
    seat = getattr(first, "seat", "")
    name = table.name(seat)
    match first:
        case c.Take():
            for source in dict.fromkeys(one.source for one in found if isinstance(one, c.Take)):
                yield _act(f"take-{source}", c.Take(seat=seat, source=source),
                           f"{name} takes a card of {table.name(source)}", REMINDERS[2],
                           fields=_pile_field(table, source))  # fmt: skip
        case c.Give():
            for to in dict.fromkeys(one.to for one in found if isinstance(one, c.Give)):
                yield _act(f"give-{to}", c.Give(seat=seat, to=to), f"{name} gives a card to {table.name(to)}",
                           REMINDERS[8], fields=_pile_field(table, seat))  # fmt: skip
        case c.Copy():
            for one in found:
                if isinstance(one, c.Copy):
                    yield _act(
                        f"copy-{one.number}", one, f"{name} copies the {one.number}", REMINDERS[one.number]
                    )
        case c.Turn():
            among = tuple(one.position for one in found if isinstance(one, c.Turn))
            yield _act(f"turn-{seat}", c.Turn(seat=seat), f"{name} turns a card", REMINDERS[3],
                       fields=(_positions(table, viewer, seat, among),))  # fmt: skip
        case c.Choose():
            target = next_to_act_on(state, seat)
            yield _act(f"choose-{seat}", c.Choose(seat=seat, position=0), f"{name} chooses {table.name(target)}'s card",
                       REMINDERS[6], fields=(_positions(table, viewer, target),))  # fmt: skip


def _pile_field(table: Table, seat: str) -> tuple[Field, ...]:
    """Which card of a pile, where the house lets it be chosen. Rule: ZAZ-11 ZAZ-17"""
    if table.options["moved_card"] != "chosen":
        return ()
    pile = table.game.piles.get(seat, ())
    choices = tuple(
        Choice(value=place, label=f"{card.words} ({'top' if place == 1 else f'{place} from the top'})")
        for place, card in enumerate(reversed(pile), 1)
    )
    return (
        Field(name="place", label=f"Card of {table.name(seat)}'s score pile", kind="choice", choices=choices),
    )


def _stack(table: Table) -> Action:
    last = table.game.last
    cards = last.cards if last else ()
    choices = tuple(
        Choice(value=card.n, label=f"{card.card.words} ({table.name(card.seat)})") for card in cards
    )
    field = Field(name="order", label="From the lowest to the top card", kind="order", choices=choices)
    return _act("stack", c.StackPile(order=()), "The cards lie in another order on the score pile",
                "Otherwise they lie as they were played, the last on top.", fields=(field,), zone="last")  # fmt: skip
