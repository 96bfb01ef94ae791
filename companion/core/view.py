"""What is shown. A page draws views and knows no rule; a view holds nothing its viewer may not know."""

from __future__ import annotations

import msgspec

from companion.core.command import Command
from companion.core.geometry import Point
from companion.core.ruling import Ruling
from companion.core.seat import Seat, Viewer


class Choice(msgspec.Struct, frozen=True, omit_defaults=True):
    """One value that a field may take, and its label for people."""

    value: str | int | bool
    label: str


class Field(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing to fill in before an action is sent; `name` is the command's own field.

    `kind`: ``choice`` (one of `choices`), ``many`` (a list of them), ``order`` (all or some of them, in
    order; a list of lists when ties are meant), ``text``, ``number``. `value` is what stands there at first.
    """

    name: str
    label: str
    kind: str
    choices: tuple[Choice, ...] = ()
    value: str | int | float | None = None
    is_required: bool = True


class Action(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that may be done now. `command` is what to send, completed by `fields`.

    `id` is stable as long as the action means the same. `effect` says what happens when it is done. `key`: a
    single key that does it, empty for none. `zone`: id of the zone it belongs to.
    """

    id: str
    command: Command
    label: str
    effect: str
    fields: tuple[Field, ...] = ()
    key: str = ""
    zone: str = ""
    is_grave: bool = False


class Mark(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A symbol with words and a state (``open``, ``done``, ``wrong``, ``hidden``, empty)."""

    symbol: str
    text: str
    state: str = ""


class Row(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of a zone. `tone`: ``good``, ``bad``, ``doubt``, ``quiet`` or empty."""

    id: str
    label: str
    text: str = ""
    seat: str = ""
    marks: tuple[Mark, ...] = ()
    tone: str = ""
    entry: int | None = None


class Zone(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A titled part of the page. `seat`: whose it is, empty for the table's."""

    id: str
    title: str
    rows: tuple[Row, ...]
    seat: str = ""


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An answer kept ready for a question that a player may ask by a key or a button."""

    id: str
    label: str
    key: str
    text: str


class ClockShown(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A clock. Running: it reaches zero at host instant `ends_ns`. Standing: `left_ns` are left."""

    id: str
    label: str
    left_ns: int
    ends_ns: int | None = None


class Shape(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A polygon of a board drawing, in mm, with a fill by `colour`'s name; later ones lie on top.

    `text` says what it is, for who points at it or listens; `symbol` is a few signs drawn in its middle, so that
    nothing is told by colour alone. `style`: ``hollow`` (an outline only), ``dim`` (there, but covered), ``pale``
    (the ground on which other shapes lie), ``new`` (the last that came), ``wrong`` (it lies wrong), or empty.
    """

    outline: tuple[Point, ...]
    colour: str
    text: str = ""
    symbol: str = ""
    style: str = ""


class BoardDrawing(msgspec.Struct, frozen=True, kw_only=True):
    """The table from above, size and shapes in mm, origin top left, y down."""

    size_mm: tuple[float, float]
    shapes: tuple[Shape, ...]


class OpenProposal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A doubtful reading that waits for a person; `confirm` and `reject` answer it."""

    id: int
    reading: str
    confidence: float
    evidence: tuple[str, ...]
    confirm: Action | None = None
    reject: Action | None = None


class RulingShown(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A ruling in the log: in which entry, from which event, in which round."""

    entry: int
    event: str
    part: int
    ruling: Ruling


class View(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All that one viewer is shown.

    `part` is the round. `headline` says in one sentence where the game stands. `held`: the picture is held
    because of a review or a stop, and why. `is_provisional`: something in it is heard but not final yet; the
    desk says so, a game leaves it alone.
    """

    game: str
    viewer: Viewer
    phase: str
    part: int
    headline: str
    seats: tuple[Seat, ...]
    primary: Action | None = None
    actions: tuple[Action, ...] = ()
    zones: tuple[Zone, ...] = ()
    notices: tuple[str, ...] = ()
    answers: tuple[Answer, ...] = ()
    clocks: tuple[ClockShown, ...] = ()
    open_proposals: tuple[OpenProposal, ...] = ()
    rulings: tuple[RulingShown, ...] = ()
    board: BoardDrawing | None = None
    held: str = ""
    is_stopped: bool = False
    is_over: bool = False
    is_provisional: bool = False
