"""The table as the camera sees it: four printed markers give pixels <-> millimetres.

Table axes: origin at the outer corner of marker 0 (top left), x right, y down, mm; heights in mm above the
table. Picture axes: (x, y) in pixels, origin at the top-left pixel's centre.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray

PLACES = ("top left", "top right", "bottom right", "bottom left")
FAMILIES: Mapping[str, int] = {
    "apriltag": cv2.aruco.DICT_APRILTAG_36h11,
    "aruco": cv2.aruco.DICT_4X4_50,
}
MOVED_PX = 1.5  # a marker that is off by more than this has moved, or the camera has
BAD_FIT_PX = 4.0  # above this mean error the markers contradict each other
_USUAL_FOCAL = 0.85  # focal length in picture widths of a usual webcam (61 degrees across)

Floats = NDArray[np.float64]
Markers = Mapping[int, Floats]


class NoSurfaceError(Exception):
    """No table can be made out; the text says what to do about it."""


class Marks(msgspec.Struct, frozen=True, kw_only=True):
    """What lies on the table: four square markers, ids 0-3 clockwise from the top left.

    `marker_mm`: the side of a black square. `size_mm`: (width, height) between the outer corners where it was
    measured; None: worked out from the markers' own size. `camera_height_mm`: height of the lens above the
    table where it was measured.
    """

    marker_mm: float = 40.0
    size_mm: tuple[float, float] | None = None
    family: str = "apriltag"
    camera_height_mm: float | None = None


class Surface:
    """A table seen by a camera that keeps still.

    `to_px` and `to_mm` are 3x3 homographies of the table plane. `error_px`: mean distance between the
    markers' corners seen and computed. `seen`: ids of the markers that were found. `corners_mm`: every
    marker's corners, (4, 2). `camera_mm`: (x, y, height) of the lens; `size_mm`: extent of the four outer
    corners.
    """

    def __init__(
        self,
        to_px: Floats,
        corners_mm: Markers,
        picture_size: tuple[int, int],
        *,
        seen: frozenset[int] = frozenset(),
        error_px: float = 0.0,
        camera_height_mm: float | None = None,
    ) -> None:
        self.to_px = to_px / to_px[2, 2]
        self.to_mm = np.linalg.inv(self.to_px)
        self.corners_mm = dict(corners_mm)
        self.picture_size = picture_size
        self.seen = seen
        self.error_px = error_px
        self.camera_mm = _camera_place(self.to_px, picture_size, camera_height_mm)
        every = np.concatenate(list(corners_mm.values()))
        self.size_mm = (float(every[:, 0].max()), float(every[:, 1].max()))

    def mm(self, xy_px: tuple[float, float], height_mm: float = 0.0) -> tuple[float, float]:
        """Table place below the point seen at `xy_px`, if that point is `height_mm` above the table."""
        x, y = _project(self.to_mm, xy_px)
        cx, cy, high = self.camera_mm
        k = (high - height_mm) / high
        return (cx + (x - cx) * k, cy + (y - cy) * k)

    def px(self, xy_mm: tuple[float, float], height_mm: float = 0.0) -> tuple[float, float]:
        """Where in the picture the point `height_mm` above the table place `xy_mm` is seen."""
        cx, cy, high = self.camera_mm
        k = high / (high - height_mm)
        return _project(self.to_px, (cx + (xy_mm[0] - cx) * k, cy + (xy_mm[1] - cy) * k))

    def px_of(self, places_mm: Floats) -> Floats:
        """(n, 2) px of places (n, 3): x, y and height in mm, as `px` does one."""
        cx, cy, high = self.camera_mm
        k = high / (high - places_mm[:, 2:])
        flat = np.array((cx, cy)) + (places_mm[:, :2] - (cx, cy)) * k
        return _project_all(self.to_px, flat)

    def px_per_mm(self, xy_mm: tuple[float, float], height_mm: float = 0.0) -> float:
        """Pixels per mm at a table place, the mean over directions."""
        x, y = xy_mm
        here = np.array(self.px((x, y), height_mm))
        right = np.array(self.px((x + 1.0, y), height_mm)) - here
        down = np.array(self.px((x, y + 1.0), height_mm)) - here
        return float(np.sqrt(abs(right[0] * down[1] - right[1] * down[0])))

    def has_on_it(self, xy_mm: tuple[float, float], margin_mm: float = 0.0) -> bool:
        """Whether a place lies within the marked rectangle grown by `margin_mm`."""
        (x, y), (width, height) = xy_mm, self.size_mm
        return -margin_mm <= x <= width + margin_mm and -margin_mm <= y <= height + margin_mm

    def has_marker_at(self, xy_mm: tuple[float, float], margin_mm: float = 4.0) -> bool:
        """Whether a place is on one of the table's own markers, grown by `margin_mm`, whose squares look like dice
        of black and white."""
        return any(
            cv2.pointPolygonTest(corners.astype(np.float32), xy_mm, True) > -margin_mm
            for corners in self.corners_mm.values()
        )

    def missing(self) -> tuple[str, ...]:
        """Places of the markers that were not found, as words."""
        return tuple(place for i, place in enumerate(PLACES) if i not in self.seen)


def find_markers(frame: NDArray[np.uint8], family: str = "apriltag") -> dict[int, Floats]:
    """The markers 0-3 in a BGR or grey picture: id -> (4, 2) corners in px, clockwise from the marker's own
    top left. An id seen twice is left out, since nobody can say which one is meant."""
    grey = frame if frame.ndim == 2 else cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY)
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(FAMILIES[family]), _parameters())
    corners, ids, _ = detector.detectMarkers(grey)
    found: dict[int, list[Floats]] = {}
    for quad, marker in zip(corners, [] if ids is None else [int(i) for i in ids.ravel()], strict=True):
        if 0 <= marker < len(PLACES):
            found.setdefault(marker, []).append(np.asarray(quad, np.float64).reshape(4, 2))
    return {marker: quads[0] for marker, quads in sorted(found.items()) if len(quads) == 1}


def calibrate(markers: Markers, marks: Marks, picture_size: tuple[int, int]) -> Surface:
    """The surface from all four markers; they may each lie turned by any angle.

    `picture_size` is (width, height) in px. Raises NoSurfaceError where one is missing or they contradict
    each other.
    """
    missing = [f"{i} ({place})" for i, place in enumerate(PLACES) if i not in markers]
    if missing:
        plural = "s" if len(missing) > 1 else ""
        raise NoSurfaceError(f"marker{plural} {', '.join(missing)} not seen: uncover it or move the camera")
    middle = np.mean([quad.mean(0) for quad in markers.values()], axis=0)
    seen_px = np.stack([_from_outer_corner(markers[i], middle) for i in range(4)])
    side_px = np.linalg.norm(seen_px - np.roll(seen_px, -1, axis=1), axis=2).mean()
    edges = np.linalg.norm(seen_px[:, 0] - np.roll(seen_px[:, 0], -1, axis=0), axis=1)
    guess = (
        edges[[0, 2]].mean() / side_px * marks.marker_mm,
        edges[[1, 3]].mean() / side_px * marks.marker_mm,
    )
    width, height = marks.size_mm or guess
    outer = np.array([(0.0, 0.0), (width, 0.0), (width, height), (0.0, height)])
    first = cv2.getPerspectiveTransform(outer.astype(np.float32), seen_px[:, 0].astype(np.float32))
    turns = np.arange(4) * np.pi / 2
    free = np.zeros(0) if marks.size_mm else outer.ravel()[[2, 4, 5, 6, 7]]
    start = np.concatenate([(first / first[2, 2]).ravel()[:8], turns, free])

    def corners_mm(values: Floats) -> Floats:
        places = outer.copy()
        if not marks.size_mm:
            places.ravel()[[2, 4, 5, 6, 7]] = values[12:]
        return np.stack([_square(places[i], values[8 + i], marks.marker_mm) for i in range(4)])

    def misses(values: Floats) -> Floats:
        plane = np.append(values[:8], 1.0).reshape(3, 3)
        return (_project_all(plane, corners_mm(values).reshape(-1, 2)) - seen_px.reshape(-1, 2)).ravel()

    best = _least_squares(misses, start)
    error_px = float(np.linalg.norm(misses(best).reshape(-1, 2), axis=1).mean())
    if error_px > BAD_FIT_PX:
        raise NoSurfaceError(
            f"the markers do not fit one flat table ({error_px:.1f} px off): lay them flat, printed at 100 %"
        )
    placed = dict(enumerate(corners_mm(best)))
    plane = np.append(best[:8], 1.0).reshape(3, 3)
    return Surface(
        plane,
        placed,
        picture_size,
        seen=frozenset(range(4)),
        error_px=error_px,
        camera_height_mm=marks.camera_height_mm,
    )


def follow(surface: Surface, markers: Markers, marks: Marks) -> Surface:
    """The surface as it is now: the same object while nothing has moved, a new one after the camera has.

    Two markers are enough, because where they lie is known; covered ones are named by `missing()`. Raises
    NoSurfaceError when fewer are seen or a marker has been shifted on the table.
    """
    if len(markers) < 2:
        raise NoSurfaceError(f"only {len(markers)} of 4 markers seen: uncover them or move the camera back")
    middle = np.array(_project(surface.to_px, tuple(np.divide(surface.size_mm, 2))))
    if len(markers) == 4:
        middle = np.mean([quad.mean(0) for quad in markers.values()], axis=0)
    known = np.concatenate([surface.corners_mm[i] for i in markers])
    seen_px = np.concatenate([_from_outer_corner(quad, middle) for quad in markers.values()])
    off = np.linalg.norm(_project_all(surface.to_px, known) - seen_px, axis=1)
    seen = frozenset(markers)
    if off.max() <= MOVED_PX:
        if seen == surface.seen:
            return surface
        return Surface(
            surface.to_px,
            surface.corners_mm,
            surface.picture_size,
            seen=seen,
            error_px=float(off.mean()),
            camera_height_mm=surface.camera_mm[2],
        )
    if len(markers) == 4:
        return calibrate(markers, marks, surface.picture_size)
    plane = np.asarray(cv2.findHomography(known, seen_px)[0], np.float64)
    misses = np.linalg.norm(_project_all(plane, known) - seen_px, axis=1)
    if misses.max() > MOVED_PX:
        raise NoSurfaceError("a marker has been shifted: uncover all four so that the table is measured anew")
    return Surface(
        plane,
        surface.corners_mm,
        surface.picture_size,
        seen=seen,
        error_px=float(misses.mean()),
        camera_height_mm=marks.camera_height_mm,
    )


def _parameters() -> cv2.aruco.DetectorParameters:
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    parameters.minDistanceToBorder = 1
    return parameters


def _from_outer_corner(quad: Floats, middle: Floats) -> Floats:
    """The corners, still clockwise, from the one farthest from the table's middle: so turned markers do no
    harm."""
    return np.roll(quad, -int(np.linalg.norm(quad - middle, axis=1).argmax()), axis=0)


def _square(outer: Floats, angle: float, side: float) -> Floats:
    cos, sin = np.cos(angle) * side, np.sin(angle) * side
    across, down = np.array((cos, sin)), np.array((-sin, cos))
    return np.stack([outer, outer + across, outer + across + down, outer + down])


def _least_squares(misses: Callable[[Floats], Floats], start: Floats) -> Floats:
    """Levenberg-Marquardt with a numeric slope; `start` is near the answer."""
    values, damping = start, 1e-3
    scale = np.maximum(np.abs(start), 1e-4)
    now = misses(values)
    for _ in range(30):
        slope = np.empty((now.size, values.size))
        for k in range(values.size):
            moved = values.copy()
            moved[k] += 1e-5 * scale[k]
            slope[:, k] = (misses(moved) - now) / 1e-5
        normal = slope.T @ slope
        step = np.linalg.solve(normal + damping * np.diag(np.diag(normal) + 1e-9), -slope.T @ now) * scale
        tried = misses(values + step)
        if tried @ tried < now @ now:
            gain = 1 - (tried @ tried) / (now @ now)
            values, now, damping = values + step, tried, damping / 5
            if gain < 1e-6:
                break
        else:
            damping *= 10
            if damping > 1e6:
                break
    return values


def _project(plane: Floats, point: tuple[float, float]) -> tuple[float, float]:
    x, y, w = plane @ (point[0], point[1], 1.0)
    return (float(x / w), float(y / w))


def _project_all(plane: Floats, points: Floats) -> Floats:
    spread = np.column_stack([points, np.ones(len(points))]) @ plane.T
    return np.asarray(spread[:, :2] / spread[:, 2:], np.float64)


def _camera_place(
    to_px: Floats, picture_size: tuple[int, int], height_mm: float | None
) -> tuple[float, float, float]:
    """The lens in table mm, taking square pixels and a centred optical axis. A picture taken straight from
    above does not tell its focal length: then the measured height does, else a usual webcam's is taken."""
    width, height = picture_size
    centred = np.array([(1, 0, -(width - 1) / 2), (0, 1, -(height - 1) / 2), (0, 0, 1)]) @ to_px

    def place(focal: float) -> Floats:
        pose = np.diag((1 / focal, 1 / focal, 1.0)) @ centred
        pose = pose * 2 / (np.linalg.norm(pose[:, 0]) + np.linalg.norm(pose[:, 1]))
        turn = np.column_stack([pose[:, 0], pose[:, 1], np.cross(pose[:, 0], pose[:, 1])])
        u, _, v = np.linalg.svd(turn)
        return np.asarray(-(u @ v).T @ pose[:, 2], np.float64)

    focal = _USUAL_FOCAL * width
    if height_mm:
        for _ in range(20):
            focal *= height_mm / abs(place(focal)[2])
    x, y, high = place(focal)
    return (float(x), float(y), abs(float(high)))
