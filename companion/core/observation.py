"""What an eye or a sensor says, without meaning. Frozen, host time, with an uncertainty.

`seen_ns` is host time (monotonic nanoseconds of the host, see `companion.core.clock`); the truth lies within
`seen_ns` +- `uncertainty_ns`. `source` names the link's device or the camera that saw it.
"""

from __future__ import annotations

import msgspec

from companion.core.geometry import Pose

DIE_REASONS = ("cocked", "stacked", "cut_off", "moving", "too_small", "margin", "glare")
CARD_REASONS = ("unknown", "margin", "too_small", "blurred", "no_deck")
CARD_BACK = "back"


class Observed(msgspec.Struct, frozen=True, kw_only=True, tag_field="saw", omit_defaults=True):
    """Base of all observations."""

    source: str
    seen_ns: int
    uncertainty_ns: int


def reference(seen: Observed) -> str:
    """How a ruling names this observation as its evidence: ``press:DEVICE/BOOT/N``, ``rest:CAMERA/FRAME``, else
    what saw it and when."""
    match seen:
        case Pressed():
            return f"press:{seen.source}/{seen.boot}/{seen.n}"
        case DiceRested() | CardLaid() | CardLifted() | BoardRested() | DieNearTower():
            return f"rest:{seen.source}/{seen.frame}"
        case _:
            return f"seen:{seen.source}/{seen.seen_ns}"


class Pressed(Observed, frozen=True, kw_only=True, tag="pressed"):
    """An input closed: a pad was slammed, a button pressed.

    `(source, boot, n)` is the identity of the press wherever it is repeated. `early`: the device itself says
    that it came before the instant for which it was armed. `resent`: it came by a repeat, with its own old
    stamp. `force`: peak in the device's own units, where it measures one. `suspect`: why it may not be a real
    press (``crosstalk``), or that its time is only what can be said after its clock went wrong (``clock``; it may
    come a second time so, before its order is final), else empty. `own_u_ns`: uncertainty against other presses of
    the same source and boot, whose clock offset is the same (tick and stamping latency).
    """

    own_u_ns: int = 0
    input: int
    boot: int
    n: int
    force: int | None = None
    early: bool = False
    resent: bool = False
    suspect: str = ""


class Released(Observed, frozen=True, kw_only=True, tag="released"):
    """An input opened again."""

    input: int
    boot: int
    n: int


class TowerHit(Observed, frozen=True, kw_only=True, tag="tower_hit"):
    """Something struck a tower: `peak` in device units, `width_us` how long."""

    input: int
    boot: int
    n: int
    peak: int
    width_us: int


class DieDropped(Observed, frozen=True, kw_only=True, tag="die_dropped"):
    """Something passed a tower's beam for `width_us`."""

    input: int
    boot: int
    n: int
    peak: int
    width_us: int


class DeviceChanged(Observed, frozen=True, kw_only=True, tag="device_changed"):
    """A device came, went quiet, or its clock got better or worse.

    `state`: ``ready`` (hello complete and clock in sync), ``syncing``, ``silent`` (no heartbeat for 3 s),
    ``lost`` (its link said so). `clock_u_ns` is the present uncertainty of its clock, None before a sync.
    `limit_ns`: how uncertain it may be in a ranked race, None where nothing is said about that; `doubt` then
    says in words why it should not take part in one (empty: it may), and `race_class` ``party`` that a
    device of its kind never should unless it is waived.
    """

    link: str
    state: str
    inputs: int = 0
    clock_u_ns: int | None = None
    detail: str = ""
    limit_ns: int | None = None
    doubt: str = ""
    race_class: str = "ranked"


class DieSeen(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One die that lies still.

    `kind`: d4 d6-pips d6-numeral d8 d10 d12 d20 d100 or the enrolled name. `value`: pips or number, a
    symbol's name, or None where the die is seen but not read (`reason` then says why, one of DIE_REASONS).
    `box_px` is (x0, y0, x1, y1) in the picture. `xy_mm`: the die's place on the table where a surface is
    known. `owner`: the name enrolled for its colour, empty when unknown. `on`: id of the placed layout it
    lies on and the region there, None when on none.
    """

    kind: str
    value: int | str | None
    box_px: tuple[int, int, int, int]
    confidence: float
    reason: str | None = None
    xy_mm: tuple[float, float] | None = None
    owner: str = ""
    on: tuple[str, str] | None = None


class DiceRested(Observed, frozen=True, kw_only=True, tag="dice_rested"):
    """The table, or some of it, came to rest with these dice on it; `seen_ns` is when the picture was taken.

    `frame` counts the camera's frames since its start. `flags`: no_dice too_dark too_small blurred clutter.
    `restless_px`: boxes (x0, y0, x1, y1) of the picture where something moves on: a die seen there is said to be
    ``moving``, one that is not seen may be hidden. `covered`: ids of the placed layouts that such a box touches.
    """

    frame: int
    dice: tuple[DieSeen, ...]
    flags: tuple[str, ...] = ()
    restless_px: tuple[tuple[int, int, int, int], ...] = ()
    covered: tuple[str, ...] = ()


class CardChanged(Observed, frozen=True, kw_only=True, tag="card_changed"):
    """One card lies otherwise than at the rest before; `seen_ns` is when the picture was taken, `frame` its number.

    `change`: ``placed`` (it is new), ``bumped`` (it lies elsewhere than it did), ``removed``, or ``unsure`` (something
    new lies there; what it is, or where, is not known well enough). `n` numbers the cards of one watch in the order in
    which they came, from 0. `card`: id of the printed front, None where it is not known; `candidates`: the fronts it
    may be, the likeliest first, at most three. `colour`: name of the ink, empty where there is none or it is not known.
    `flipped`: the mirrored side is up. `pose` in table mm: the top-left corner of the side that is up (for ``removed``
    where it lay, None where nothing could be measured); the truth lies within `u_mm` and `u_deg` of it.
    `moved_mm`: how far it was bumped.
    """

    frame: int
    change: str
    n: int
    card: str | None
    colour: str
    flipped: bool = False
    pose: Pose | None = None
    u_mm: float = 0.0
    u_deg: float = 0.0
    confidence: float = 1.0
    candidates: tuple[str, ...] = ()
    moved_mm: float = 0.0


class CardHeld(Observed, frozen=True, kw_only=True, tag="card_held"):
    """A card as it lies under a hand that pauses: nothing has been laid yet. `candidates`: the fronts it may be, the
    likeliest first; the other fields are those of `CardChanged`."""

    frame: int
    candidates: tuple[str, ...]
    colour: str
    flipped: bool
    pose: Pose
    u_mm: float


class TableStirred(Observed, frozen=True, kw_only=True, tag="table_stirred"):
    """Something moves on the table after a rest."""

    frame: int


class CardCandidate(msgspec.Struct, frozen=True):
    """What a card may be. `confidence`: of a set of candidates all sum to at most 1."""

    name: str
    confidence: float


class CardSeen(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One card that lies still.

    `name`: as it was enrolled in its deck (a back that was enrolled is called CARD_BACK), or None where it is not
    known; `reason` then says why, one of CARD_REASONS, and `candidates` hold up to three names that it may be, the
    likeliest first (none when it is like no card of the deck). `quad_px`: the card's own corners in the picture from
    its top left clockwise; of a card without a name the top is only one of its short sides. `angle_deg`: how far it is
    turned clockwise in the picture, in (-180, 180]. `xy_mm`: its middle on the table where a surface is known.
    `place`: id of the placed layout that its middle lies on, empty on none.
    """

    name: str | None
    confidence: float
    quad_px: tuple[tuple[float, float], ...]
    angle_deg: float = 0.0
    candidates: tuple[CardCandidate, ...] = ()
    reason: str | None = None
    xy_mm: tuple[float, float] | None = None
    place: str = ""


def card_key(name: str) -> str:
    """What of a card's name counts: its letters and digits, great or small."""
    return "".join(sign for sign in name.casefold() if sign.isalnum())


class CardLaid(Observed, frozen=True, kw_only=True, tag="card_laid"):
    """A card came to lie, or another card or side shows where one lay: told once, and again only when it is read
    as another. `seen_ns` is when the picture was taken; `frame` counts the camera's frames since its start.

    `card.place` says where; without places the game takes whose turn it is, or asks.
    """

    frame: int
    card: CardSeen


class CardLifted(Observed, frozen=True, kw_only=True, tag="card_lifted"):
    """A card that was told is not there any more; `card` as it was told."""

    frame: int
    card: CardSeen


class TowerSeen(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One tower that stands on a board, found by the tag on its top.

    `xy_mm`: the middle of its foot in mm of the board (origin top left, x right, y down), its height allowed for.
    `heading_deg`: clockwise from the board's x axis, in (-180, 180]. `u_mm`, `u_deg`: how far off both may be.
    """

    tag: int
    xy_mm: tuple[float, float]
    heading_deg: float
    u_mm: float
    u_deg: float = 0.0


class BoardDie(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One die on a board with terrains, or beside it.

    `kind`, `value`, `confidence`, `reason`, `box_px` and `owner` as in `DieSeen`, but a value may be told beside the
    reason `margin`: it is half sure, to be asked and not to be taken. `xy_mm`: the middle of what it covers, in mm of
    the board; `u_mm`: how far off it may be. `terrain`: that under its middle, None where nothing is painted or it lies
    beside the board; `on_board`: it does not touch table or floor.
    """

    kind: str
    value: int | None
    confidence: float
    xy_mm: tuple[float, float]
    box_px: tuple[int, int, int, int]
    u_mm: float = 0.0
    owner: str = ""
    terrain: str | None = None
    on_board: bool = True
    reason: str | None = None


class BoardRested(Observed, frozen=True, kw_only=True, tag="board_rested"):
    """A board with towers came to rest and no hand is over it: all towers and dice that are seen.

    `frame` counts the camera's frames since its start. `flags` as in `DiceRested`.
    """

    frame: int
    towers: tuple[TowerSeen, ...]
    dice: tuple[BoardDie, ...]
    flags: tuple[str, ...] = ()


class DieNearTower(Observed, frozen=True, kw_only=True, tag="die_near"):
    """A rolling die came as near as `gap_mm` (below zero: overlapping in the picture) to the foot of tower `tag`.

    `u_mm`: how far off that may be. Told once for each die and tower between two rests, at the nearest instant.
    """

    frame: int
    kind: str
    tag: int
    gap_mm: float
    u_mm: float
    owner: str = ""


class CameraChanged(Observed, frozen=True, kw_only=True, tag="camera_changed"):
    """The camera's state: ``live``, ``blind`` (no surface found), ``lost``. `fps` over the last second."""

    state: str
    fps: float = 0.0
    dropped: int = 0
    detail: str = ""


Observation = (
    Pressed
    | Released
    | TowerHit
    | DieDropped
    | DeviceChanged
    | DiceRested
    | TableStirred
    | CardChanged
    | CardHeld
    | CardLaid
    | CardLifted
    | BoardRested
    | DieNearTower
    | CameraChanged
)
