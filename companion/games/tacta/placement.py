"""Whether a card lies right, from the distances measured at its pose; and every way to lay one right."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec
from shapely import Polygon

from companion.core.geometry import Pose
from companion.core.ruling import Verdict
from companion.games.tacta.faces import Face, Joint, chained, polygons, rigid, turned
from companion.games.tacta.ground import Ground, Laid, reach

_CAPTURE_MM, _CAPTURE_DEG = 12.0, 12.0
"""A card that misses a joint by more was not meant to join there."""
_BATCH = 128


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """The playing area in mm, origin top left, y down. Rule: TACTA-3"""

    size_mm: tuple[float, float]


class Allowance(msgspec.Struct, frozen=True, kw_only=True):
    """How far matched lines may miss and a card may reach over a white line. Rule: TACTA-9"""

    mm: float = 2.0
    deg: float = 2.0


class Judged(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is said of one card. `measured_mm`: the distance on which the verdict stands; `limit_mm` its limit.

    `target`: number `n` of the card it joins, None where it joins none; `own`, `on`: which shapes meet. `goes_back`: it
    lost a race of two hands, so it goes back to its deck when it is taken away. Rule: TACTA-20
    """

    verdict: Verdict
    rule: str
    because: str
    measured_mm: float | None = None
    limit_mm: float | None = None
    target: int | None = None
    own: int | None = None
    on: int | None = None
    goes_back: bool = False


class Play(msgspec.Struct, frozen=True, kw_only=True):
    """One legal placement: the face at `pose`, its shape `own` on shape `on` of card `target` (its `n`)."""

    card: str
    flipped: bool
    pose: Pose
    target: int
    own: int
    on: int


def judge(ground: Ground, table: Table, card: Laid, allowance: Allowance, u_deg: float = 0.0) -> Judged:
    """The verdict on `card`, laid on top of `ground` and not one of it.

    Its `u_mm` and those of the cards it meets are the measured errors, `u_deg` that of its angle.
    Rule: TACTA-3 TACTA-6 TACTA-7 TACTA-8 TACTA-9 TACTA-11 TACTA-22
    """
    outline = Polygon(rigid(card.pose, ground.faces.outline))
    met = _nearest(ground, card)
    if met is None:
        findings = [_edge(ground, table, card), _apart(ground, card, outline, allowance)]
        return _worst(findings)
    index, joint, miss_mm, off_deg = met
    target = ground.laid[index]
    u_mm = math.hypot(card.u_mm, target.u_mm)
    lines = _measured("TACTA-7", miss_mm, allowance.mm, u_mm, "The matched lines miss each other")
    turn = msgspec.structs.replace(
        _measured(
            "TACTA-7", off_deg, allowance.deg, u_deg, "The card is turned off the line", unit="degrees"
        ),
        measured_mm=None,
        limit_mm=None,
    )
    findings = [lines, turn, _edge(ground, table, card), *_reaches(ground, card, outline, index, allowance)]
    if not ground.is_open(index, joint.target):
        because = "That place is closed: a card lies there already, so a third would join two."
        findings.insert(0, Judged(verdict=Verdict.BREACH, rule="TACTA-22", because=because))
    said = _worst(findings)
    return msgspec.structs.replace(said, target=target.n, own=joint.own, on=joint.target)


def plays(
    ground: Ground, table: Table, faces: Iterable[Face], allowance: Allowance, u_mm: float = 0.5
) -> list[Play]:
    """Every placement of these faces that `judge` says is `ok` at an uncertainty of `u_mm`. Rule: TACTA-6"""
    found: list[Play] = []
    shapes = ground.open_shapes
    for face in faces:
        for index, number in shapes:
            laid = ground.laid[index]
            found += [
                Play(card=face.card, flipped=face.flipped, pose=chained(laid.pose, joint.pose),
                     target=index, own=joint.own, on=number)
                for joint in ground.faces.joints(laid.face, face)
                if joint.target == number
            ]  # fmt: skip
    outlines = polygons([rigid(play.pose, ground.faces.outline) for play in found])
    bad = {i for i, play in enumerate(found) if _clearance(ground, table, play.pose) < u_mm}
    for i, j in ground.under(outlines):
        if i in bad or j == found[i].target:
            continue
        if reach(outlines[i].intersection(ground.visible[j])) > allowance.mm - u_mm:
            bad.add(i)
    return [
        msgspec.structs.replace(play, target=ground.laid[play.target].n)
        for i, play in enumerate(found)
        if i not in bad
    ]


def place_apart(ground: Ground, table: Table, gap_mm: float = 3.0, step_mm: float = 15.0) -> Pose | None:
    """A pose at which a card touches no other, on a grid, upright or across; None when there is none.

    Rule: TACTA-11
    """
    width, height = table.size_mm
    tried = [
        Pose(x * step_mm, y * step_mm, angle)
        for angle in (0.0, 90.0)
        for y in range(int(height / step_mm) + 1)
        for x in range(int(width / step_mm) + 1)
    ]
    fitting = [pose for pose in tried if _clearance(ground, table, pose) >= gap_mm]
    for first in range(0, len(fitting), _BATCH):
        batch = fitting[first : first + _BATCH]
        taken = ground.near(polygons([rigid(pose, ground.faces.outline) for pose in batch]), gap_mm)
        free = [pose for number, pose in enumerate(batch) if number not in taken]
        if free:
            return free[0]
    return None


def _nearest(ground: Ground, card: Laid) -> tuple[int, Joint, float, float] | None:
    """The joint that the pose misses least, an open one before a closed one."""
    best: tuple[tuple[bool, float], tuple[int, Joint, float, float]] | None = None
    shapes = ground.faces.card(card.face).shapes
    outline = Polygon(rigid(card.pose, ground.faces.outline)).buffer(_CAPTURE_MM)
    for _, index in ground.under([outline]):
        laid = ground.laid[index]
        for joint in ground.faces.joints(laid.face, card.face):
            wanted = chained(laid.pose, joint.pose)
            off_deg = abs(turned(card.pose.angle_deg - wanted.angle_deg))
            if off_deg > _CAPTURE_DEG:
                continue
            corners = shapes[joint.own].polygon_mm
            miss_mm = max(
                math.dist(a, b)
                for a, b in zip(rigid(card.pose, corners), rigid(wanted, corners), strict=True)
            )
            if miss_mm > _CAPTURE_MM:
                continue
            rank = (not ground.is_open(index, joint.target), miss_mm)
            if best is None or rank < best[0]:
                best = (rank, (index, joint, miss_mm, off_deg))
    return None if best is None else best[1]


def _measured(rule: str, excess: float, limit: float, u: float, what: str, *, unit: str = "mm") -> Judged:
    """The verdict on one measure: surely within the limit, surely beyond it, or neither. Rule: TACTA-9"""
    if excess <= limit - u:
        verdict = Verdict.OK
    elif excess >= limit + u:
        verdict = Verdict.BREACH
    else:
        verdict = Verdict.TOO_CLOSE
    because = f"{what} by {excess:.1f} {unit} (± {u:.1f}); {limit:g} {unit} are allowed."
    return Judged(
        verdict=verdict, rule=rule, because=because, measured_mm=round(excess, 2), limit_mm=round(limit, 2)
    )


def _edge(ground: Ground, table: Table, card: Laid) -> Judged:
    """Whether the card stays within the table. Rule: TACTA-3"""
    beyond = -_clearance(ground, table, card.pose)
    if beyond <= -card.u_mm:
        return Judged(verdict=Verdict.OK, rule="TACTA-3", because="The card lies within the table.")
    return _measured("TACTA-3", max(0.0, beyond), 0.0, card.u_mm, "The card passes the table's edge")


def _clearance(ground: Ground, table: Table, pose: Pose) -> float:
    """How far in mm the card stays from the table's edge; negative: how far beyond."""
    width, height = table.size_mm
    corners = rigid(pose, ground.faces.outline)
    return min(min(x, y, width - x, height - y) for x, y in corners)


def _apart(ground: Ground, card: Laid, outline: Polygon, allowance: Allowance) -> Judged:
    """A card that joins none: it may lie on none, grazes of the strip apart. Rule: TACTA-6 TACTA-9 TACTA-11"""
    found = _reaches(ground, card, outline, None, allowance)
    if not found:
        because = "The card joins none and lies on none: it is laid apart."
        return Judged(verdict=Verdict.OK, rule="TACTA-11", because=because)
    return _worst(found)


def _reaches(
    ground: Ground, card: Laid, outline: Polygon, target: int | None, allowance: Allowance
) -> list[Judged]:
    """How far the card reaches over the white lines of others than the one it joins. Rule: TACTA-6 TACTA-8"""
    rule, what = "TACTA-8", "The card reaches over the white line of a second card"
    if target is None:
        rule, what = "TACTA-6", "The card joins no shape, yet reaches over the white line of a card"
    found = []
    for _, index in ground.under([outline]):
        over = 0.0 if index == target else reach(outline.intersection(ground.visible[index]))
        if over > 0.0:
            u_mm = math.hypot(card.u_mm, ground.laid[index].u_mm)
            found.append(_measured(rule, over, allowance.mm, u_mm, what))
    return found


_SEVERITY = {Verdict.OK: 0, Verdict.TOO_CLOSE: 1, Verdict.BREACH: 2}


def _worst(findings: Sequence[Judged]) -> Judged:
    """The gravest finding; of those that are all right, the first."""
    return max(findings, key=lambda judged: _SEVERITY[judged.verdict])
