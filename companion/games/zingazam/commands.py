"""What may be asked for at a table of Zing-a-Zam."""

from __future__ import annotations

from companion.core.command import ANYONE, SEATS, SENSORS, Command, CommandBody


class NameOldest(CommandBody, frozen=True, kw_only=True):
    """This player is the oldest and leads the first round of every game. Rule: ZAZ-4"""

    by = SEATS
    seat: str


class Begin(CommandBody, frozen=True, kw_only=True):
    """The sets are shuffled: hands are held backwards, or are dealt now. Rule: ZAZ-2"""


class Deal(CommandBody, frozen=True, kw_only=True):
    """The dealer shows the next card of the seat that is named, not to its owner. Rule: ZAZ-24"""

    by = SENSORS
    seat: str
    number: int


class DealAgain(CommandBody, frozen=True, kw_only=True):
    """The cards of this seat are shuffled and dealt once more. Rule: ZAZ-2"""

    seat: str


class Play(CommandBody, frozen=True, kw_only=True):
    """A seat plays a card: `card` as it is called (``5``, ``cat-6``), or, where hands are known, its `position` counted
    from 1 at its owner's left. `faced`: whom it faced in the hand, ``owner`` or ``others``; empty: nobody said.
    Rule: ZAZ-5
    """

    by = ANYONE
    seat: str
    card: str = ""
    position: int = 0
    faced: str = ""


class TellFacing(CommandBody, frozen=True, kw_only=True):
    """Whom the card that was just played faced in the hand: ``owner`` or ``others``. Rule: ZAZ-5"""

    by = SEATS
    seat: str
    faced: str


class Take(CommandBody, frozen=True, kw_only=True):
    """The 2: take a card of the score pile of `source`; `place` counted from 1 at the top, where it is chosen.

    Rule: ZAZ-11
    """

    by = SEATS
    seat: str
    source: str
    place: int = 0


class Turn(CommandBody, frozen=True, kw_only=True):
    """The 3: turn one of the own cards; `position` where hands are known. Rule: ZAZ-12"""

    by = SEATS
    seat: str
    position: int = 0


class TellCat(CommandBody, frozen=True, kw_only=True):
    """The Cat Companion that this seat drew bears this number; only where hands are known. Rule: ZAZ-13"""

    by = ANYONE
    seat: str
    number: int


class Copy(CommandBody, frozen=True, kw_only=True):
    """The 5: use the ability of a card in play that bears this number. Rule: ZAZ-14"""

    by = SEATS
    seat: str
    number: int


class Choose(CommandBody, frozen=True, kw_only=True):
    """The 6: the next player must play the card at `position`, counted from 1 at its owner's left. Rule: ZAZ-15"""

    by = SEATS
    seat: str
    position: int


class Give(CommandBody, frozen=True, kw_only=True):
    """The 8: give a card of the own score pile to that of `to`; `place` as in `Take`. Rule: ZAZ-17"""

    by = SEATS
    seat: str
    to: str
    place: int = 0


class Settle(CommandBody, frozen=True, kw_only=True):
    """The ability in use leaves nothing to choose any more, because somebody left or an entry was corrected: it has
    its effect or is skipped. Rule: ZAZ-6"""


class Collect(CommandBody, frozen=True, kw_only=True):
    """The winner of the round takes its cards. Rule: ZAZ-8"""

    by = ANYONE


class StackPile(CommandBody, frozen=True, kw_only=True):
    """The cards that were taken last lie in this order, the last on top; by their numbers in the order played, which
    decides among those that are named together. Rule: ZAZ-8"""

    order: tuple[tuple[int, ...], ...]


class NextGame(CommandBody, frozen=True, kw_only=True):
    """Play another game; points add up. Rule: ZAZ-23"""


COMMANDS: tuple[type[Command], ...] = (
    NameOldest, Begin, Deal, DealAgain, Play, TellFacing, Take, Turn, TellCat, Copy, Choose, Give, Settle, Collect,
    StackPile, NextGame,
)  # fmt: skip
