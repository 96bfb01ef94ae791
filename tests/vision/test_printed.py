"""One printed card on a photograph: its code of shapes, outlines to a fraction of a millimetre, dots, badge, size."""

from __future__ import annotations

import math
from importlib.resources import files

import msgspec
import numpy as np
import pytest
import shapely

from companion.core.geometry import Polygon, Pose
from companion.core.layout import Layout
from companion.games.tacta.deck import read
from companion.games.tacta.layouts import layouts_of
from vision.frame import Frame
from vision.printed.measuring import measure
from vision.printed.upright import NoCardError
from vision.render.lens import Camera
from vision.render.overlaid import CardTable, LaidCard
from vision.surface import Marks

CARD_MM = (63.5, 88.9)


def within_line(layout: Layout) -> Layout:
    """The layout with each outline cut at the white line, as a printer would: slanted sides keep their slant."""
    (width, height), strip = layout.size_mm, layout.strip_mm
    box = shapely.box(strip, strip, width - strip, height - strip)
    regions = []
    for region in layout.regions:
        cut = shapely.Polygon(region.outline.corners).intersection(box)
        corners = tuple((float(x), float(y)) for x, y in list(cut.exterior.coords)[:-1])
        regions.append(msgspec.structs.replace(region, outline=Polygon(corners)))
    return msgspec.structs.replace(layout, regions=tuple(regions))


def layout_named(name: str, deck: str = "deck-b") -> Layout:
    text = (files("companion.games.tacta") / "data" / f"{deck}.json").read_text(encoding="utf-8")
    return next(each for each in layouts_of(read(text)) if each.id == name)


def photograph(
    layout: Layout, colour: str, angle_deg: float, *, has_marks: bool = False, seed: int = 1
) -> Frame:
    """The card alone on a table, from above and a little aslant."""
    size = (260.0, 200.0) if has_marks else (190.0, 150.0)
    pose = Pose(0.0, 0.0, angle_deg)
    x, y = pose.apply((CARD_MM[0] / 2, CARD_MM[1] / 2))
    laid = LaidCard(
        within_line(layout), colour, seed % 2 == 0, Pose(size[0] / 2 - x, size[1] / 2 - y, angle_deg)
    )
    table = CardTable(
        size_mm=size, laid=(laid,), cloth="wood", seed=seed, marks=Marks(size_mm=size) if has_marks else None
    )
    eye = Camera(
        lens_mm=(size[0] / 2 + 14, size[1] / 2 - 9, 1.9 * size[0]), look_mm=(size[0] / 2, size[1] / 2), across_deg=34,
        size_px=(840, 640), blur_px=0.9,
    )  # fmt: skip
    return table.picture(eye)


@pytest.mark.parametrize(
    ("name", "colour", "angle"),
    [("square-6", "pink", 101.0), ("triangle-3", "orange", -20.0)],
)
def test_a_card_is_measured(name: str, colour: str, angle: float) -> None:
    layout = layout_named(name)
    seen = measure(photograph(layout, colour, angle, seed=len(name)), CARD_MM, CARD_MM[0])
    assert seen.badge == layout.badge
    wanted = sorted((len(r.outline.corners), len(r.dots_mm)) for r in layout.regions)
    assert sorted((len(s.polygon_mm), len(s.dots_mm)) for s in seen.shapes) == wanted
    assert [s.is_filled for s in seen.shapes] == [bool(s.dots_mm) for s in seen.shapes]
    sides = sorted(perimeter(s.polygon_mm) for s in seen.shapes)
    true = sorted(perimeter(r.outline.corners) for r in layout.regions)
    assert np.allclose(sides, true, atol=1.2), (sides, true)
    assert seen.strip_mm == pytest.approx(layout.strip_mm, abs=0.3)
    assert seen.dot_radius_mm == pytest.approx(layout.dot_radius_mm, abs=0.3)


def perimeter(corners: tuple[tuple[float, float], ...]) -> float:
    return sum(math.dist(a, b) for a, b in zip(corners, (*corners[1:], corners[0]), strict=True))


def test_a_marker_beside_it_tells_how_large_a_card_is() -> None:
    seen = measure(photograph(layout_named("circle-4"), "blue", 4.0, has_marks=True), None, 60.0)
    assert seen.is_size_measured
    assert seen.size_mm == pytest.approx(CARD_MM, abs=1.2)
    alone = measure(photograph(layout_named("circle-4"), "blue", 4.0), None, 60.0)
    assert not alone.is_size_measured
    assert alone.size_mm[0] == 60.0


def test_where_no_card_lies_it_says_so() -> None:
    empty = CardTable(size_mm=(190.0, 150.0), cloth="wood").picture(Camera(size_px=(400, 300)))
    for frame in (empty, np.full((300, 400, 3), 250, np.uint8), np.zeros((300, 400, 3), np.uint8)):
        with pytest.raises(NoCardError, match="one card alone"):
            measure(np.asarray(frame, np.uint8), None, 63.5)
