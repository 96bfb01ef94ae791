"""Where camera and towers are, from all tags of one or more pictures at once.

A tag on a tower's top is seen beside the tower's foot, the farther the higher the tower. Focal length, the lens's
bend, the camera's pose, each tower's place, heading and true height, and how much larger a printed square looks than
it is are found together, as they make what is seen likeliest. What is known beforehand (heights give or take a little)
goes in with its weight, so the covariance tells how sure the answer is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.surface import NoSurfaceError
from vision.towers.marks import BoardMarks

Floats = NDArray[np.float64]
Tags = Mapping[int, Floats]

SIGMA_PX = 0.35
"""How exact a tag's corner is told, one deviation."""
_FOCAL, _FOCAL_LOG = 1.0, 0.35  # in picture widths, and how sure
_BEND = 0.02  # of the lens, one deviation
_SWELL_PX = 0.5  # how much a black square's corner may be seen farther out, one deviation
_LEAST_CORNER_TAGS = 2
_ROUNDS = 30
_BAD_FIT_PX = 3.0
_SHARED = 3  # log focal length, bend, swell
_PER_CAMERA = 6
_PER_TOWER = 3  # x, y, heading
_TURN = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], np.float64)


@dataclass(frozen=True)
class BoardCamera:
    """The camera over one board. `matrix` (3, 3), `bend` k1 of the lens, `rotation` and `shift` (3,) as OpenCV means
    them for points (x, y, -height) in board mm."""

    matrix: Floats
    bend: float
    rotation: Floats
    shift: Floats

    def px(self, places_mm: Floats) -> Floats:
        """(n, 2) px of (n, 3) places: x, y, height in mm."""
        seen = (places_mm * np.array((1.0, 1.0, -1.0))) @ self._turned().T + self.shift
        flat = seen[:, :2] / seen[:, 2:]
        flat = flat * (1 + self.bend * (flat**2).sum(1, keepdims=True))
        return np.asarray(flat * self.matrix[0, 0] + self.matrix[:2, 2], np.float64)

    def mm(self, points_px: Floats, height_mm: float = 0.0) -> Floats:
        """(n, 2) board mm of what is seen at (n, 2) px, if it is `height_mm` above the board."""
        lens = np.array([self.bend, 0.0, 0.0, 0.0])
        flat = cv2.undistortPoints(points_px.reshape(-1, 1, 2).astype(np.float64), self.matrix, lens)
        rays = np.column_stack([flat.reshape(-1, 2), np.ones(len(flat))])
        turned = self._turned()
        eye = -turned.T @ self.shift
        ways = rays @ turned
        share = (-height_mm - eye[2]) / ways[:, 2]
        return np.asarray(eye[:2] + ways[:, :2] * share[:, None], np.float64)

    def _turned(self) -> Floats:
        return np.asarray(cv2.Rodrigues(self.rotation)[0], np.float64)

    @property
    def eye_mm(self) -> tuple[float, float, float]:
        """(x, y, height) of the lens."""
        eye = -self._turned().T @ self.shift
        return (float(eye[0]), float(eye[1]), float(-eye[2]))


@dataclass(frozen=True)
class TowerAt:
    """A tower. `xy_mm`: its foot's middle; `heading_deg`: clockwise, in (-180, 180], of its tag's top edge from left to
    right, 0 along x; `top_mm`: its height; `u_mm`, `u_deg`: two deviations of place and heading."""

    tag: int
    xy_mm: tuple[float, float]
    heading_deg: float
    top_mm: float
    u_mm: float
    u_deg: float


@dataclass(frozen=True)
class Shift:
    """How a tower came from one picture to the next: `moved_mm`, `turned_deg` (clockwise, in (-180, 180]) and two
    deviations of each. What is wrong with both pictures alike is not in them."""

    tag: int
    moved_mm: float
    turned_deg: float
    u_mm: float
    u_deg: float


@dataclass(frozen=True)
class BoardPose:
    """One picture: its camera, its towers by their tags, and the mean error of the fit."""

    camera: BoardCamera
    towers: tuple[TowerAt, ...]
    error_px: float


class Solved:
    """Pictures of one board, by one camera or two, solved together. Raises NoSurfaceError where too few corner tags
    are seen or tags contradict each other."""

    def __init__(self, marks: BoardMarks, shots: Sequence[Tags], size_px: tuple[int, int]) -> None:
        self._marks = marks
        self._size = size_px
        self._shots = shots
        corner_ids = set(marks.corner_tags.ids)
        for tags in shots:
            if len(corner_ids & set(tags)) < _LEAST_CORNER_TAGS:
                seen = ", ".join(str(tag) for tag in sorted(corner_ids & set(tags))) or "none"
                raise NoSurfaceError(
                    f"of the board's corner tags {', '.join(map(str, marks.corner_tags.ids))} only {seen} seen:"
                    " uncover them or move the camera"
                )
        self._towers = [sorted(set(tags) - corner_ids) for tags in shots]
        self._heights = sorted({tag for tags in self._towers for tag in tags})
        self._solve()

    def _solve(self) -> None:
        values = self._start()
        damping, misses = 1e-3, self._misses(values)
        for _ in range(_ROUNDS):
            slope = self._slope(values, misses)
            normal, pull = slope.T @ slope, slope.T @ misses
            while True:
                step = np.linalg.solve(normal + damping * np.diag(np.diag(normal)), -pull)
                tried = self._misses(values + step)
                if tried @ tried <= misses @ misses:
                    break
                damping *= 10
                if damping > 1e8:
                    step = np.zeros_like(step)
                    tried = misses
                    break
            gain = float(misses @ misses - tried @ tried)
            values, misses, damping = values + step, tried, max(damping / 10, 1e-9)
            if gain < 1e-6 * max(1.0, float(misses @ misses)):
                break
        self._values = values
        slope = self._slope(values, misses)
        seen = self._count_px()
        self.error_px = float(np.sqrt((misses[:seen] ** 2).sum() / seen * 2)) * SIGMA_PX
        if self.error_px > _BAD_FIT_PX:
            raise NoSurfaceError(
                f"the tags do not fit one flat board ({self.error_px:.1f} px off): lay the corner tags as the map says"
            )
        # Where the fit is worse than a corner usually is, nothing is told more exactly than that allows.
        worse = max(1.0, self.error_px / (SIGMA_PX * np.sqrt(2)))
        self._covariance = np.linalg.inv(slope.T @ slope) * worse**2

    def _count_px(self) -> int:
        corner_ids = set(self._marks.corner_tags.ids)
        return sum(
            8 * (len(corner_ids & set(tags)) + len(towers))
            for tags, towers in zip(self._shots, self._towers, strict=True)
        )

    def _start(self) -> Floats:
        """Values near the answer: heights as built, the usual lens, each camera from its corner tags alone."""
        width, height = self._size
        focal = _FOCAL * width
        values = [np.array([np.log(focal), 0.0, 0.0]), np.zeros(len(self._heights))]
        matrix = np.array([(focal, 0, (width - 1) / 2), (0, focal, (height - 1) / 2), (0, 0, 1)], np.float64)
        for tags, towers in zip(self._shots, self._towers, strict=True):
            places, seen = self._corner_points(tags)
            world = np.column_stack([places, np.zeros(len(places))])
            is_found, rotation, shift = cv2.solvePnP(world, seen, matrix, None, flags=cv2.SOLVEPNP_IPPE)
            if not is_found:
                raise NoSurfaceError("the corner tags do not lie as the map says: check their ids and places")
            pose = np.concatenate([rotation.ravel(), shift.ravel()]).astype(np.float64)
            values.append(pose)
            camera = BoardCamera(matrix, 0.0, pose[:3], pose[3:])
            for tag in towers:
                flat = camera.mm(tags[tag], self._marks.tower.height_mm)
                along = flat[1] - flat[0]
                values.append(np.array([*flat.mean(0), np.arctan2(along[1], along[0])]))
        return np.concatenate(values)

    def _corner_points(self, tags: Tags) -> tuple[Floats, Floats]:
        """((n, 2) board mm, (n, 2) px) of the corner tags' corners that are seen."""
        corners = self._marks.corner_tags
        half = corners.side_mm / 2
        places = {
            i: np.array(xy) + _TURN * half for i, xy in zip(corners.ids, corners.centres_mm, strict=True)
        }
        ids = [i for i in corners.ids if i in tags]
        return np.concatenate([places[i] for i in ids]), np.concatenate([tags[i] for i in ids])

    def _camera_at(self, values: Floats, shot: int) -> tuple[int, BoardCamera]:
        """(index of the first tower's values, camera) of a picture."""
        at = _SHARED + len(self._heights)
        for before in range(shot):
            at += _PER_CAMERA + _PER_TOWER * len(self._towers[before])
        focal = float(np.exp(values[0]))
        width, height = self._size
        matrix = np.array([(focal, 0, (width - 1) / 2), (0, focal, (height - 1) / 2), (0, 0, 1)], np.float64)
        camera = BoardCamera(matrix, float(values[1]), values[at : at + 3], values[at + 3 : at + 6])
        return at + _PER_CAMERA, camera

    def _misses(self, values: Floats) -> Floats:
        swell = float(values[2])
        built = self._marks.tower
        rows = []
        for shot, tags in enumerate(self._shots):
            at, camera = self._camera_at(values, shot)
            places, seen = self._corner_points(tags)
            world = [np.column_stack([places, np.zeros(len(places))])]
            seen_px = [seen]
            for k, tag in enumerate(self._towers[shot]):
                x, y, turn = values[at + _PER_TOWER * k : at + _PER_TOWER * (k + 1)]
                cos, sin = np.cos(turn), np.sin(turn)
                square = _TURN * built.tag_side_mm / 2 @ np.array([(cos, sin), (-sin, cos)])
                high = built.height_mm + values[_SHARED + self._heights.index(tag)]
                world.append(np.column_stack([square + np.array((x, y)), np.full(4, high)]))
                seen_px.append(tags[tag])
            computed = camera.px(np.concatenate(world)).reshape(-1, 4, 2)
            out = computed - computed.mean(1, keepdims=True)
            out /= np.linalg.norm(out, axis=2, keepdims=True)
            rows.append(
                ((computed + swell * out).reshape(-1, 2) - np.concatenate(seen_px)).ravel() / SIGMA_PX
            )
        width = self._size[0]
        known = [
            (values[0] - np.log(_FOCAL * width)) / _FOCAL_LOG,
            values[1] / _BEND,
            swell / _SWELL_PX,
            *(values[_SHARED : _SHARED + len(self._heights)] / max(0.1, built.height_error_mm / 1.7)),
        ]
        return np.concatenate([*rows, np.array(known)])

    def _slope(self, values: Floats, misses: Floats) -> Floats:
        columns = []
        for k in range(len(values)):
            little = 1e-6 * max(1.0, abs(float(values[k])))
            moved = values.copy()
            moved[k] += little
            columns.append((self._misses(moved) - misses) / little)
        return np.stack(columns, axis=1)

    def pose(self, shot: int) -> BoardPose:
        """What picture number `shot` shows."""
        at, camera = self._camera_at(self._values, shot)
        towers = []
        for k, tag in enumerate(self._towers[shot]):
            first = at + _PER_TOWER * k
            x, y, turn = self._values[first : first + _PER_TOWER]
            sure = self._covariance[first : first + _PER_TOWER, first : first + _PER_TOWER]
            high = self._marks.tower.height_mm + self._values[_SHARED + self._heights.index(tag)]
            towers.append(
                TowerAt(
                    tag,
                    (float(x), float(y)),
                    _degrees(float(turn)),
                    float(high),
                    2 * float(np.sqrt(np.linalg.eigvalsh(sure[:2, :2])[-1])),
                    2 * float(np.degrees(np.sqrt(sure[2, 2]))),
                )
            )
        return BoardPose(camera, tuple(towers), self.error_px)

    def shifts(self, before: int, after: int) -> tuple[Shift, ...]:
        """How each tower that is in both pictures came from one to the other, by the order of tags."""
        found = []
        starts = [self._camera_at(self._values, shot)[0] for shot in (before, after)]
        for tag in self._towers[before]:
            if tag not in self._towers[after]:
                continue
            one, other = (
                start + _PER_TOWER * self._towers[shot].index(tag)
                for start, shot in zip(starts, (before, after), strict=True)
            )
            moved = self._values[other : other + 2] - self._values[one : one + 2]
            turned = self._values[other + 2] - self._values[one + 2]
            change = np.zeros((_PER_TOWER, len(self._values)))
            for k in range(_PER_TOWER):
                change[k, other + k], change[k, one + k] = 1.0, -1.0
            sure = change @ self._covariance @ change.T
            far = float(np.linalg.norm(moved))
            along = moved / far if far > 1e-9 else np.array([1.0, 0.0])
            spread = max(float(along @ sure[:2, :2] @ along), 1e-12)
            found.append(
                Shift(
                    tag,
                    far,
                    _degrees(float(turned)),
                    2 * float(np.sqrt(spread)),
                    2 * float(np.degrees(np.sqrt(max(sure[2, 2], 1e-12)))),
                )
            )
        return tuple(found)


def _degrees(turn: float) -> float:
    """An angle in (-180, 180]."""
    return 180.0 - (180.0 - float(np.degrees(turn))) % 360.0
