"""What each number does, answers to what new players ask, and a hand in words. In our own words."""

from __future__ import annotations

from companion.core.seat import Role, Viewer
from companion.games.zingazam.model import OTHERS, OWNER, Held, Table, facing, is_full

REMINDERS = {
    1: "At the end of the round it wins if any 8 is in play.",
    2: "Take a card from another player's score pile.",
    3: "Turn one of your cards so that it faces you.",
    4: "Draw a Cat Companion; it faces you.",
    5: "Use the ability of another card in play, not of a 1 or a 5.",
    6: "Choose which card the next player must play.",
    7: "The next player plays no card in this round.",
    8: "Give a card of your score pile to another player.",
}
"""What each number does, for the page. Rule: ZAZ-10 to ZAZ-17"""


def may_see(table: Table, viewer: Viewer, seat: str, held: Held) -> bool:
    """Whether these eyes see the number of a card in this seat's hand: a seat sees the cards that face it, and the
    others' outward ones. Public and referee see none. Rule: ZAZ-24"""
    if viewer.role is not Role.SEAT or not is_full(table) or not held.number:
        return False
    return held.faces_owner == (viewer.seat == seat)


def counts(table: Table, seat: str) -> str:
    """How many cards a hand has and whom they face, and where hands are known at which places. Open to all."""
    inward, outward = facing(table.game, seat, OWNER), facing(table.game, seat, OTHERS)
    total = len(inward) + len(outward)
    where = f" (place {', '.join(map(str, inward))})" if inward and is_full(table) else ""
    cards = "1 card" if total == 1 else f"{total} cards"
    return f"{cards}: {len(inward)} facing {table.name(seat)}{where}, {len(outward)} facing the others"


def card_in_hand(table: Table, viewer: Viewer, seat: str, place: int) -> str:
    """One card of a hand as this viewer sees it: ``3: 5, faces the others``."""
    held = table.game.hands[seat][place - 1]
    number = (
        ("cat " if held.is_cat else "") + str(held.number)
        if may_see(table, viewer, seat, held)
        else "not seen"
    )
    if viewer.role is Role.SEAT and viewer.seat == seat:
        whom = "faces you" if held.faces_owner else "faces the others"
    else:
        whom = f"faces {table.name(seat)}" if held.faces_owner else "faces the others"
    return f"{place}: {number}, {whom}" if number != "not seen" else f"{place}: {whom}"


def place_label(table: Table, viewer: Viewer, seat: str, place: int) -> str:
    """A place of a hand, with its card for who may see it: ``3``, or ``3 (a 5)``."""
    hand = table.game.hands.get(seat, ())
    held = hand[place - 1] if 1 <= place <= len(hand) else Held()
    if not may_see(table, viewer, seat, held):
        return str(place)
    return f"{place} (a {'cat ' if held.is_cat else ''}{held.number})"


def hand_in_words(table: Table, viewer: Viewer, seat: str) -> str:
    """A whole hand as this viewer sees it, from its owner's left."""
    hand = table.game.hands.get(seat, ())
    whose = "Your hand" if viewer.role is Role.SEAT and viewer.seat == seat else f"{table.name(seat)}'s hand"
    if not hand:
        return f"{whose} is empty."
    if not is_full(table):
        return f"{whose}: {counts(table, seat)}."
    told = ". ".join(card_in_hand(table, viewer, seat, place) for place in range(1, len(hand) + 1))
    left = "your left" if whose == "Your hand" else "its owner's left"
    return f"{whose}, from {left}. {told}."


def in_play_in_words(table: Table) -> str:
    """The cards in play in the order played."""
    state = table.game
    if not state.played:
        return "No card is in play."
    told = ", ".join(f"{table.name(card.seat)} {card.card.words}" for card in state.played)
    frozen = "".join(f" {table.name(seat)} is frozen." for seat in state.frozen)
    return f"In play: {told}.{frozen}"


def asked(table: Table) -> tuple[tuple[str, str, str], ...]:
    """What players ask at this point: (id, question, answer), the likeliest first. Open to all."""
    match table.game.phase:
        case "setup":
            return SETUP_ASKED
        case "taking":
            return (*_of_cards(table), *TAKING_ASKED)
        case "counted":
            return COUNTED_ASKED
        case "play":
            return _of_cards(table) if table.game.played else PLAY_ASKED
        case _:
            return ()


def _of_cards(table: Table) -> tuple[tuple[str, str, str], ...]:
    """What is asked about the cards that are in play."""
    state = table.game
    found: list[tuple[str, str, str]] = []
    numbers = {card.number for card in state.played}
    using = state.using
    if state.skip is not None:
        skip = state.skip
        what = (
            f"{skip.because} What cannot be used is skipped, and the card stays in play (ZAZ-6, {skip.rule})."
        )
        found.append(("skipped", "Why was this skipped?", what))
        if skip.ability in (6, 7):
            text = "No: an ability acts in the round in which its card is played, or not at all (ZAZ-18)."
            found.append(("carried", f"Does the {skip.ability} act in the next round?", text))
    if using is not None and not state.facing_of:
        text = "Yes. An ability that can be used must be used, even where it hurts (ZAZ-6)."
        found.append(("must", "Must I use it?", text))
    if using is not None and using.ability == 5:
        text = "No, neither (ZAZ-14)."
        found.append(("copied", "May I copy a 1 or another 5?", text))
    if 5 in numbers:
        text = "No, only the ability; the card still counts as a 5 (ZAZ-14)."
        found.append(("number", "Does a 5 copy the number too?", text))
    if any(card.card.is_cat for card in state.played) or state.drawing:
        text = "Like any card of their number, in ties and as a 1 or an 8 too. None bears 4 or 5 (ZAZ-20, ZAZ-1)."
        found.append(("cats", "How do Cat Companions play?", text))
    if 1 in numbers:
        text = "At the end of the round, whenever the 8 was played; of several 1s the one played last wins (ZAZ-10)."
        found.append(("one", "When does a 1 beat an 8?", text))
    if len(numbers) < len(state.played):
        text = "Of equal highest cards the one played last wins (ZAZ-9)."
        found.append(("tie", "What if two play the same number?", text))
    return tuple(found)


SETUP_ASKED = (
    ("goal", "What is the goal?", "The most cards in the score pile, one point each (ZAZ-8, ZAZ-22)."),
    ("begins", "Who begins?", "The oldest player; afterwards the winner of the round before (ZAZ-4)."),
    ("set_up", "Is the set-up another one for fewer players?", "No, it is the same for two to five (ZAZ-3)."),
)
PLAY_ASKED = (
    ("which", "Which card may I play?", "Exactly one card, whether it faces you or the others (ZAZ-5)."),
    (
        "round",
        "When does the round end?",
        "When each has played a card; who is frozen counts as done (ZAZ-7).",
    ),
    ("game", "When does the game end?", "After the round in which somebody has no card left (ZAZ-21)."),
)
TAKING_ASKED = (
    ("worth", "What are the cards worth?", "One point each, whatever their number (ZAZ-8)."),
    ("leads", "Who leads the next round?", "Who wins this one (ZAZ-4)."),
)
COUNTED_ASKED = (
    ("end", "Why is the game over?", "Somebody had no card left after the round, or too few still play (ZAZ-21)."),
    ("left", "What of the cards left in hands?", "They are discarded and count nothing (ZAZ-21)."),
    (
        "equal", "What if piles are equal?",
        "The most 8s in the score pile win, then the most 7s, and so on down to the 1s (ZAZ-22).",
    ),
)  # fmt: skip
