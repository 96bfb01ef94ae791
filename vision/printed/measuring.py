"""What is printed on one card that was laid flat: the outlines of its shapes, their dots, the badge in its middle."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.frame import Frame
from vision.printed.upright import MARGIN_MM, PX_PER_MM, NoCardError, Upright, upright

Floats = NDArray[np.float64]
Point = tuple[float, float]
_WHITE = 0.5  # of the line's own brightness, from which a pixel is white
_COLOURED = 0.4  # saturation from which a pixel is
_SMALLEST_MM2 = 25.0
_AT_THE_LINE_MM = 1.2
_SHORTEST_MM = 2.5  # side of a polygon; rounded corners make shorter ones
_STRAIGHT_MM = 1.0
_DOT_MM2 = (3.0, 60.0)


@dataclass(frozen=True)
class ShapeSeen:
    """One shape: its corners in mm, clockwise as seen, and its dots. `touches`: which edges of the card it lies on, as
    letters t r b l. `is_filled`: whether it bears the card's ink."""

    polygon_mm: tuple[Point, ...]
    dots_mm: tuple[Point, ...]
    touches: str
    is_filled: bool


@dataclass(frozen=True)
class CardSeen:
    """One card as its photograph shows it. `badge`: circle, square, triangle or empty; `picture`: the card laid flat,
    uint8 BGR at PX_PER_MM, edge to edge."""

    size_mm: tuple[float, float]
    strip_mm: float
    line_mm: float
    dot_radius_mm: float | None
    badge: str
    shapes: tuple[ShapeSeen, ...]
    is_size_measured: bool
    picture: NDArray[np.uint8]


def measure(
    frame: Frame, size_mm: tuple[float, float] | None, width_mm: float, marker_mm: float = 40.0
) -> CardSeen:
    """The card that lies alone in `frame` (uint8 BGR). Sizes as in `upright`. Raises NoCardError."""
    card = upright(frame, size_mm, width_mm, marker_mm)
    edge = round(MARGIN_MM * PX_PER_MM)
    width, height = (round(side * PX_PER_MM) for side in card.size_mm)
    picture = card.bgr[edge : edge + height, edge : edge + width]
    if picture.shape[:2] != (height, width):
        raise NoCardError("the card lies at the edge of the picture: leave some table around it")
    white, coloured = _masks(picture, card)
    labels = _regions(white, card)
    shapes, badge = [], ""
    for number in range(1, int(labels.max()) + 1):
        region = labels == number
        if region.sum() < _SMALLEST_MM2 * PX_PER_MM**2:
            continue
        whole = _whole(region)
        if region[height // 2, width // 2] or whole[height // 2, width // 2]:
            badge = badge or _badge(coloured & whole, card)
        elif shape := _shape(whole, white, coloured, card):
            shapes.append(shape)
    radii = [radius for shape in shapes for radius in _radii(shape, white)]
    return CardSeen(
        size_mm=card.size_mm,
        strip_mm=card.strip_mm,
        line_mm=card.line_mm,
        dot_radius_mm=float(np.median(radii)) if radii else None,
        badge=badge,
        shapes=tuple(shapes),
        is_size_measured=card.is_measured,
        picture=np.ascontiguousarray(picture),
    )


def _masks(picture: NDArray[np.uint8], card: Upright) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which pixels are white, and which bear a strong colour; the lamp is evened out by the white line around."""
    line = round(card.strip_mm * PX_PER_MM)
    reach = max(2, round(card.line_mm * PX_PER_MM / 2))
    low = cv2.GaussianBlur(picture.min(axis=2), (0, 0), 1.0).astype(np.float32)
    rim = np.concatenate(
        [
            low[line - reach : line + reach].max(axis=0),
            low[-line - reach : -line + reach].max(axis=0),
            low[:, line - reach : line + reach].max(axis=1),
            low[:, -line - reach : -line + reach].max(axis=1),
        ]
    )
    level = float(np.percentile(rim, 40))
    dark = float(np.percentile(low, 20))
    white = low > dark + _WHITE * (level - dark)
    high = picture.max(axis=2).astype(np.float32)
    strong = (high - picture.min(axis=2)) / np.maximum(high, 1) > _COLOURED
    return white, strong & (high > dark + 0.2 * (level - dark)) & ~white


def _regions(white: NDArray[np.bool_], card: Upright) -> NDArray[np.int32]:
    """(rows, columns): numbers of the areas between white lines within the white line of the border, 0 for none."""
    line = round((card.strip_mm + card.line_mm * 0.3) * PX_PER_MM)
    walls = cv2.morphologyEx(white.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8)) > 0
    free = ~walls
    free[:line], free[-line:], free[:, :line], free[:, -line:] = False, False, False, False
    return np.asarray(cv2.connectedComponents(free.astype(np.uint8), connectivity=4)[1], np.int32)


def _whole(region: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """A region with its holes, which are dots or digits; the ground around shapes and badge keeps its holes."""
    filled = np.zeros(region.shape, np.uint8)
    contours = cv2.findContours(region.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0]
    cv2.drawContours(filled, contours, -1, 1, -1)
    return filled > 0


def _shape(
    whole: NDArray[np.bool_], white: NDArray[np.bool_], coloured: NDArray[np.bool_], card: Upright
) -> ShapeSeen | None:
    """The shape that a region is; None for what lies on no edge of the card."""
    contour = max(
        cv2.findContours(whole.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0],
        key=cv2.contourArea,
    )
    points = contour[:, 0].astype(np.float64) + 0.5
    rough = cv2.approxPolyDP(contour, 1.1 * PX_PER_MM, True)[:, 0].astype(np.float64) + 0.5
    rough = _without_short(rough)
    if len(rough) not in (3, 4):
        return None
    lines, touches = [], ""
    for a, b in zip(rough, np.roll(rough, -1, 0), strict=True):
        edge = _edge_of(a, b, card)
        if edge:
            touches += edge
            lines.append(_edge_line(edge, card))
        else:
            lines.append(_side_line(points, a, b, rough.mean(axis=0), card))
    if not touches:
        return None
    corners = [_meet(one, other) for one, other in zip([lines[-1], *lines[:-1]], lines, strict=True)]
    if any(corner is None for corner in corners):
        return None
    share = float(coloured[whole & ~white].mean()) if (whole & ~white).any() else 0.0
    dots = _dots(whole, white) if share > 0.5 else ()
    polygon = tuple(corner for corner in corners if corner is not None)
    return ShapeSeen(polygon, dots, "".join(sorted(set(touches), key="trbl".index)), is_filled=share > 0.5)


def _without_short(rough: Floats) -> Floats:
    """The polygon without sides that are shorter than any shape's: each gives way to where its neighbours meet."""
    corners = [tuple(corner) for corner in rough]
    while len(corners) > 3:
        lengths = [float(np.hypot(*np.subtract(corners[i], corners[i - 1]))) for i in range(len(corners))]
        short = int(np.argmin(lengths))
        if lengths[short] > _SHORTEST_MM * PX_PER_MM:
            break
        count = len(corners)
        before, a, b, after = (corners[(short + k) % count] for k in (-2, -1, 0, 1))
        met = _meet(_through(before, a), _through(b, after), per_mm=1.0)
        corners[short] = met or b
        del corners[short - 1 if short else count - 1]
    return np.array(corners)


def _edge_of(a: Floats, b: Floats, card: Upright) -> str:
    """Which edge of the card a side lies along, as a letter; empty for none."""
    reach = (card.strip_mm + card.line_mm / 2 + _AT_THE_LINE_MM) * PX_PER_MM
    width, height = (side * PX_PER_MM for side in card.size_mm)
    if max(a[1], b[1]) < reach:
        return "t"
    if min(a[0], b[0]) > width - reach:
        return "r"
    if min(a[1], b[1]) > height - reach:
        return "b"
    return "l" if max(a[0], b[0]) < reach else ""


Line = tuple[float, float, float]


def _edge_line(edge: str, card: Upright) -> Line:
    width, height = (side * PX_PER_MM for side in card.size_mm)
    return {"t": (0.0, 1.0, 0.0), "r": (1.0, 0.0, -width), "b": (0.0, 1.0, -height), "l": (1.0, 0.0, 0.0)}[
        edge
    ]


def _side_line(points: Floats, a: Floats, b: Floats, middle: Floats, card: Upright) -> Line:
    """The middle of the white line along a side, which bounds the region from outside."""
    length = float(np.hypot(*(b - a)))
    ahead = (b - a) / length
    normal = np.array((-ahead[1], ahead[0]))
    if (middle - a) @ normal > 0:
        normal = -normal
    along, off = (points - a) @ ahead, np.abs((points - a) @ normal)
    near = points[(along > 0.12 * length) & (along < 0.88 * length) & (off < _STRAIGHT_MM * PX_PER_MM)]
    if len(near) > 8:
        dx, dy, x, y = (
            float(v) for v in cv2.fitLine(near.astype(np.float32), cv2.DIST_HUBER, 0, 0.01, 0.01).ravel()
        )
        across = np.array((-dy, dx))
        normal = across if across @ normal > 0 else -across
        a = np.array((x, y))
    at = a + normal * (card.line_mm * PX_PER_MM / 2)
    return float(normal[0]), float(normal[1]), -float(normal @ at)


def _through(a: Point, b: Point) -> Line:
    return a[1] - b[1], b[0] - a[0], a[0] * b[1] - b[0] * a[1]


def _meet(one: Line, other: Line, per_mm: float = PX_PER_MM) -> Point | None:
    """Where two lines meet, in mm; None for parallels."""
    below = one[0] * other[1] - other[0] * one[1]
    if abs(below) < 1e-6 * np.hypot(one[0], one[1]) * np.hypot(other[0], other[1]):
        return None
    x = (one[1] * other[2] - other[1] * one[2]) / below
    y = (one[2] * other[0] - other[2] * one[0]) / below
    return x / per_mm, y / per_mm


def _dots(whole: NDArray[np.bool_], white: NDArray[np.bool_]) -> tuple[Point, ...]:
    """Centres of the round white spots within a filled shape, from the top left."""
    inside = cv2.erode(whole.astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    found = []
    for area, box, centre in _spots(white & inside):
        if _DOT_MM2[0] < area / PX_PER_MM**2 < _DOT_MM2[1] and 0.6 < box[0] / max(1, box[1]) < 1.6:
            found.append(((centre[0] + 0.5) / PX_PER_MM, (centre[1] + 0.5) / PX_PER_MM))
    return tuple(sorted(found, key=lambda dot: (round(dot[1]), dot[0])))


def _radii(shape: ShapeSeen, white: NDArray[np.bool_]) -> list[float]:
    """Radius in mm of each of a shape's dots, by its area."""
    found = []
    for x, y in shape.dots_mm:
        reach = round(4.5 * PX_PER_MM)
        row, column = round(y * PX_PER_MM), round(x * PX_PER_MM)
        patch = white[max(0, row - reach) : row + reach, max(0, column - reach) : column + reach]
        labels = cv2.connectedComponents(patch.astype(np.uint8), connectivity=4)[1]
        here = labels[min(row, reach), min(column, reach)]
        if here:
            found.append(float(np.sqrt((labels == here).sum() / np.pi)) / PX_PER_MM)
    return found


def _spots(mask: NDArray[np.bool_]) -> list[tuple[float, tuple[int, int], Point]]:
    _, _, boxes, centres = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=4)
    return [
        (float(box[4]), (int(box[2]), int(box[3])), (float(x), float(y)))
        for box, (x, y) in zip(boxes[1:], centres[1:], strict=True)
    ]


def _badge(coloured: NDArray[np.bool_], card: Upright) -> str:
    """The form of the coloured area around the card's middle; empty where there is none."""
    height, width = coloured.shape
    middle = coloured.copy()
    reach = round(card.size_mm[0] * PX_PER_MM * 0.22)
    middle[: height // 2 - reach], middle[height // 2 + reach :] = False, False
    middle[:, : width // 2 - reach], middle[:, width // 2 + reach :] = False, False
    contours = cv2.findContours(middle.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0]
    if not contours:
        return ""
    hull = cv2.convexHull(np.concatenate(contours))
    area = cv2.contourArea(hull)
    if area < _SMALLEST_MM2 * PX_PER_MM**2 / 2:
        return ""
    (_, radius), (_, sides, _) = cv2.minEnclosingCircle(hull), cv2.minAreaRect(hull)
    in_circle, in_box = area / (np.pi * radius**2), area / max(1.0, sides[0] * sides[1])
    if in_circle > 0.88:
        return "circle"
    return "square" if in_box > 0.85 else "triangle" if in_box < 0.65 else ""
