"""What is known of a board before it is seen: where its corner tags lie, and how towers are made."""

from __future__ import annotations

import msgspec

from companion.core.geometry import Point

FAMILY = "apriltag"


class CornerTags(msgspec.Struct, frozen=True, kw_only=True):
    """Tags 36h11 around the board, their tops to the board's top. `centres_mm`: the middle of each in board mm;
    `side_mm`: of a black square."""

    ids: tuple[int, ...]
    centres_mm: tuple[Point, ...]
    side_mm: float


class TowerBuild(msgspec.Struct, frozen=True, kw_only=True):
    """A tower: a square foot of `side_mm`, as high as `height_mm` give or take `height_error_mm`, with a tag of
    `tag_side_mm` flat on the middle of its top."""

    side_mm: float
    height_mm: float
    tag_side_mm: float
    height_error_mm: float = 3.0


class BoardMarks(msgspec.Struct, frozen=True, kw_only=True):
    """A board of `board_mm` (width, height) between its tags. Origin: its top left corner; x right, y down, mm."""

    board_mm: tuple[float, float]
    corner_tags: CornerTags
    tower: TowerBuild
