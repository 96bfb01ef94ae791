"""The shapes of polyhedral dice: corners, faces, which number stands on which face, and how they lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

KINDS = ("d4", "d6", "d8", "d10", "d12", "d20", "d100")
D4_STYLES = ("tip", "base", "barrel")
SIDES = {"d4": 4, "d6": 6, "d8": 8, "d10": 10, "d12": 12, "d20": 20, "d100": 10}

# Which three faces touch each face of a d20 as it is usually numbered.
_D20_RING = {
    1: (7, 13, 19), 2: (12, 18, 20), 3: (16, 17, 19), 4: (11, 14, 18), 5: (13, 15, 18),
    6: (9, 14, 16), 7: (1, 15, 17), 8: (10, 16, 20), 9: (6, 11, 19), 10: (8, 12, 17),
    11: (4, 9, 13), 12: (2, 10, 15), 13: (1, 5, 11), 14: (4, 6, 20), 15: (5, 7, 12),
    16: (3, 6, 8), 17: (3, 7, 10), 18: (2, 4, 5), 19: (1, 3, 9), 20: (2, 8, 14),
}  # fmt: skip


def cross(one: Floats, other: Floats) -> Floats:
    """The cross product of (3,) vectors; NumPy's own spends most of its time on its generality."""
    (a, b, c), (x, y, z) = one.tolist(), other.tolist()
    return np.array((b * z - c * y, c * x - a * z, a * y - b * x))


@dataclass(frozen=True)
class Solid:
    """A convex body. `corners` (N, 3), farthest at 1 from the middle; `faces`: indices of corners, counterclockwise
    seen from outside; `normals` (F, 3)."""

    corners: Floats
    faces: tuple[tuple[int, ...], ...]
    normals: Floats

    def middle(self, face: int) -> Floats:
        """(3,) the mean of a face's corners."""
        return np.asarray(self.corners[list(self.faces[face])].mean(0), np.float64)

    def inradius(self, face: int) -> float:
        """How far a face's middle is from its nearest edge."""
        ring = self.corners[list(self.faces[face])]
        ends = np.roll(ring, -1, axis=0)
        along = (ends - ring) / np.linalg.norm(ends - ring, axis=1, keepdims=True)
        toward = self.middle(face) - ring
        away = toward - (toward * along).sum(1, keepdims=True) * along
        return float(np.linalg.norm(away, axis=1).min())

    def opposite(self, face: int) -> int:
        """The face that looks the other way."""
        return int((self.normals @ self.normals[face]).argmin())

    def neighbours(self, face: int) -> tuple[int, ...]:
        """The faces that share an edge with this one."""
        mine = set(self.faces[face])
        return tuple(k for k, other in enumerate(self.faces) if k != face and len(mine & set(other)) == 2)


@lru_cache(maxsize=64)
def solid(kind: str, style: str = "tip", tall: float = 1.0) -> Solid:
    """The body of one of KINDS. `style`: of a d4, one of D4_STYLES. `tall`: how stretched a d10, d100 or barrel is
    against the usual (0.8 to 1.3). Raises ValueError for another kind."""
    golden = (1 + 5**0.5) / 2
    points: list[tuple[float, ...]]
    if kind == "d4" and style == "barrel":
        half = 0.75 * tall
        points = [(x, y, z) for x in (-half, half) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
        points += [(half + 0.38, 0.0, 0.0), (-half - (0.3 if tall > 1 else 0.06), 0.0, 0.0)]
    elif kind == "d4":
        points = [(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]
    elif kind == "d6":
        points = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    elif kind == "d8":
        points = [tuple(s * float(k == a) for k in range(3)) for a in range(3) for s in (-1, 1)]
    elif kind in ("d10", "d100"):
        cos = float(np.cos(np.pi / 5))
        height = 1.1 * tall
        zig = height * (1 - cos) / (1 + cos)
        turns = np.pi / 5 * np.arange(10)
        points = [(np.cos(t), np.sin(t), zig * (-1) ** k) for k, t in enumerate(turns)]
        points += [(0.0, 0.0, height), (0.0, 0.0, -height)]
    elif kind == "d12":
        points = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
        points += _cyclic(1 / golden, golden)
    elif kind == "d20":
        points = _cyclic(1.0, golden)
    else:
        raise ValueError(f"unknown kind of die {kind}: choose one of {', '.join(KINDS)}")
    return _hull(np.array(points, np.float64))


def _cyclic(a: float, b: float) -> list[tuple[float, ...]]:
    return [
        point
        for s in (-a, a)
        for t in (-b, b)
        for point in ((0.0, s, t), (s, t, 0.0), (t, 0.0, s))
    ]  # fmt: skip


def _hull(points: Floats) -> Solid:
    points = points / np.linalg.norm(points, axis=1).max()
    normals: list[Floats] = []
    faces: list[tuple[int, ...]] = []
    for a, b, c in combinations(range(len(points)), 3):
        normal = cross(points[b] - points[a], points[c] - points[a])
        size = float(np.linalg.norm(normal))
        if size < 1e-9:
            continue
        normal /= size
        away = (points - points[a]) @ normal
        if away.max() > 1e-6:
            if away.min() < -1e-6:
                continue
            normal = -normal
        if any(normal @ other > 1 - 1e-6 for other in normals):
            continue
        on = np.nonzero(np.abs(away) < 1e-6)[0]
        normals.append(normal)
        faces.append(_around(points, on, normal))
    return Solid(points, tuple(faces), np.array(normals))


def _around(points: Floats, on: NDArray[np.int64], normal: Floats) -> tuple[int, ...]:
    middle = points[on].mean(0)
    first = points[on[0]] - middle
    second = cross(normal, first)
    turns = [float(np.arctan2((points[k] - middle) @ second, (points[k] - middle) @ first)) for k in on]
    return tuple(int(on[k]) for k in np.argsort(turns))


def numbered_faces(shape: Solid, kind: str) -> tuple[int, ...]:
    """The faces of `shape` that carry a number: all but the ends of a barrel."""
    areas = [len(face) for face in shape.faces]
    if kind == "d4" and len(shape.faces) > 4:
        return tuple(k for k, size in enumerate(areas) if size == 4 and abs(shape.normals[k][0]) < 0.1)
    return tuple(range(len(areas)))


@lru_cache(maxsize=256)
def numbering(kind: str, style: str = "tip", seed: int = 0, tall: float = 1.0) -> Mapping[int, int]:
    """Face -> number shown there, as on a die of the kind: opposite faces make the usual sum.

    `seed` 0: the d20's usual ring of neighbours; others: another die of the same sum. Numbers of a d100 are
    0, 10 .. 90, of a d10 0 to 9. A tetrahedron's faces are numbered by the corner that they do not touch.
    """
    shape = solid(kind, style, tall)
    faces = numbered_faces(shape, kind)
    if kind == "d20" and seed == 0:
        return MappingProxyType(_usual_d20(shape))
    rng = np.random.default_rng((seed, SIDES[kind]))
    if kind == "d4" and style != "barrel":
        return MappingProxyType(dict(zip(faces, (int(v) for v in rng.permutation(4) + 1), strict=True)))
    count = SIDES[kind]
    step, low = {"d10": (1, 0), "d100": (10, 0)}.get(kind, (1, 1))
    total = low + low + count - 1
    pairs = [(v, total - v) for v in range(low, low + count // 2)]
    found: dict[int, int] = {}
    for index in rng.permutation(len(pairs)):
        face = next(k for k in faces if k not in found)
        one, other = pairs[index][:: int(rng.choice([-1, 1]))]
        found[face], found[_opposite_among(shape, face, faces)] = one * step, other * step
    return MappingProxyType(found)


def _opposite_among(shape: Solid, face: int, faces: tuple[int, ...]) -> int:
    return min(faces, key=lambda k: float(shape.normals[k] @ shape.normals[face]))


def _usual_d20(shape: Solid) -> dict[int, int]:
    touching = [shape.neighbours(k) for k in range(20)]
    for first in touching[0], touching[0][::-1]:
        found = next(_laid_out({0: 20, first[0]: 2, first[1]: 14, first[2]: 8}, touching), None)
        if found is not None and _is_right_handed(shape, found):
            return found
    raise AssertionError("a d20's numbering fits an icosahedron one way round")


def _is_right_handed(shape: Solid, found: dict[int, int]) -> bool:
    """2, 14 and 8 go clockwise around 20, seen from outside."""
    at = {number: shape.middle(face) for face, number in found.items()}
    return bool(np.dot(cross(at[2] - at[20], at[14] - at[20]), at[20]) < 0)


def _laid_out(found: dict[int, int], touching: list[tuple[int, ...]]) -> Iterator[dict[int, int]]:
    """All ways to go on numbering so that neighbours are neighbours."""
    if len(found) == len(touching):
        yield found
        return
    used = set(found.values())
    face = max(
        (k for k in range(len(touching)) if k not in found),
        key=lambda k: sum(n in found for n in touching[k]),
    )
    beside = [found[n] for n in touching[face] if n in found]
    for number, ring in _D20_RING.items():
        if number not in used and all(n in ring for n in beside):
            yield from _laid_out({**found, face: number}, touching)


def lying(shape: Solid, face: int, *, on_tip: bool = False) -> Floats:
    """(3, 3) rotation that turns a face's normal straight up; `on_tip`: straight down, so that its far corner is
    the top (a tetrahedron's way)."""
    up = -shape.normals[face] if on_tip else shape.normals[face]
    side = shape.corners[shape.faces[face][0]] - shape.middle(face)
    side = side - up * (side @ up)
    side /= np.linalg.norm(side)
    return np.array([side, cross(up, side), up])
