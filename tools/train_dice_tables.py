"""Made-up tables without dice: cloths, woods, papers, trays and clutter, for training only."""

from __future__ import annotations

import cv2
import numpy as np

F32 = np.float32


def table(rng: np.random.Generator, size: int, pictures: list[np.ndarray]) -> np.ndarray:
    """An empty table, float32 BGR (size, size, 3). `pictures`: real pictures without dice to cut from."""
    kind = rng.random()
    if pictures and kind < 0.22:
        base = _cut(rng, size, pictures)
    elif kind < 0.45:
        base = _plain(rng, size)
    elif kind < 0.62:
        base = _wood(rng, size)
    elif kind < 0.82:
        base = _cloth(rng, size)
    else:
        base = _grid(rng, size)
    if rng.random() < 0.3:
        base = _tray(rng, base)
    if rng.random() < 0.45:
        base = _clutter(rng, base, pictures)
    return np.clip(base, 0, 255).astype(F32)


def _colour(rng: np.random.Generator) -> np.ndarray:
    if rng.random() < 0.45:
        return np.clip(rng.uniform(20, 245) + rng.normal(0, 8, 3), 5, 250)
    hsv = np.array([[[rng.integers(180), rng.integers(40, 230), rng.integers(40, 240)]]], np.uint8)
    return cv2.cvtColor(hsv, cv2.COLOR_HSV2BGR)[0, 0].astype(float)


def _noise(rng: np.random.Generator, size: int, cells_x: float, cells_y: float) -> np.ndarray:
    shape = (max(2, int(cells_y)), max(2, int(cells_x)))
    return cv2.resize(rng.normal(0, 1, shape).astype(F32), (size, size), interpolation=cv2.INTER_CUBIC)


def _plain(rng: np.random.Generator, size: int) -> np.ndarray:
    base = np.ones((size, size, 3)) * _colour(rng)
    return (
        base
        + (_noise(rng, size, 3, 3) * rng.uniform(0, 12))[:, :, None]
        + rng.normal(0, 1.5, (size, size, 1))
    )


def _wood(rng: np.random.Generator, size: int) -> np.ndarray:
    light = np.array([rng.uniform(60, 190), rng.uniform(100, 210), rng.uniform(130, 235)])
    light *= rng.uniform(0.4, 1.05)
    grain = sum(_noise(rng, size, c, c * rng.uniform(6, 25)) / (i + 1) for i, c in enumerate((2, 4, 8)))
    base = light * (1 + rng.uniform(0.03, 0.14) * grain[:, :, None])
    if rng.random() < 0.4:
        for y in range(int(rng.integers(0, 60)), size, int(rng.integers(50, 140))):
            base[y : y + int(rng.integers(1, 4))] *= rng.uniform(0.4, 0.85)
    return _turned(rng, base)


def _cloth(rng: np.random.Generator, size: int) -> np.ndarray:
    base = np.ones((size, size, 3)) * _colour(rng)
    rough = rng.normal(0, 1, (size, size)).astype(F32)
    rough = cv2.GaussianBlur(rough, (0, 0), rng.uniform(0.5, 2.5))
    rough /= rough.std() + 1e-6
    base *= 1 + rng.uniform(0.02, 0.16) * rough[:, :, None]
    folds = _noise(rng, size, rng.integers(2, 7), rng.integers(2, 7))
    return base * (1 + rng.uniform(0, 0.12) * folds[:, :, None])


def _grid(rng: np.random.Generator, size: int) -> np.ndarray:
    base = _plain(rng, size)
    step, second = int(rng.integers(9, 70)), _colour(rng)
    blend = rng.uniform(0.1, 0.8)
    if rng.random() < 0.5:
        thick = int(rng.integers(1, 4))
        for at in range(int(rng.integers(step)), size, step):
            base[at : at + thick] += blend * (second - base[at : at + thick])
            base[:, at : at + thick] += blend * (second - base[:, at : at + thick])
    else:
        y, x = np.mgrid[0:size, 0:size] // step
        dark = ((x + y) % 2 == 0)[:, :, None]
        base = np.where(dark, base + blend * (second - base), base)
    return _turned(rng, base)


def _turned(rng: np.random.Generator, base: np.ndarray) -> np.ndarray:
    size = len(base)
    matrix = cv2.getRotationMatrix2D((size / 2, size / 2), rng.uniform(0, 360), rng.uniform(1.0, 1.5))
    return cv2.warpAffine(base.astype(F32), matrix, (size, size), borderMode=cv2.BORDER_REFLECT)


def _cut(rng: np.random.Generator, size: int, pictures: list[np.ndarray]) -> np.ndarray:
    picture = pictures[rng.integers(len(pictures))]
    side = int(min(picture.shape[:2]) * rng.uniform(0.35, 1.0))
    y = int(rng.integers(picture.shape[0] - side + 1))
    x = int(rng.integers(picture.shape[1] - side + 1))
    return cv2.resize(picture[y : y + side, x : x + side], (size, size), interpolation=cv2.INTER_AREA).astype(
        F32
    )


def _tray(rng: np.random.Generator, base: np.ndarray) -> np.ndarray:
    """Something else around the table: a rim, or all dark outside a round or square field."""
    size = len(base)
    mask = np.zeros((size, size), F32)
    centre = rng.uniform(0.2, 0.8, 2) * size
    reach = rng.uniform(0.35, 0.9) * size
    if rng.random() < 0.4:
        cv2.circle(mask, (int(centre[0]), int(centre[1])), int(reach), 1.0, -1, cv2.LINE_AA)
    else:
        corners = cv2.boxPoints(((centre[0], centre[1]), (reach * 2, reach * 1.4), rng.uniform(0, 90)))
        cv2.fillConvexPoly(mask, corners.astype(np.int32), 1.0, cv2.LINE_AA)
    rim = cv2.dilate(mask, np.ones((int(rng.integers(3, 25)),) * 2, np.uint8))
    out = np.ones_like(base) * _colour(rng) * rng.uniform(0.1, 1.0)
    if rng.random() < 0.5:
        out += (_noise(rng, size, 8, 8) * rng.uniform(0, 20))[:, :, None]
    edge = _colour(rng)
    base = out * (1 - rim[:, :, None]) + base * rim[:, :, None]
    return base * (1 - (rim - mask)[:, :, None]) + edge * (rim - mask)[:, :, None]


def _clutter(rng: np.random.Generator, base: np.ndarray, pictures: list[np.ndarray]) -> np.ndarray:
    size = len(base)
    base = np.ascontiguousarray(np.clip(base, 0, 255).astype(np.uint8))
    for _ in range(int(rng.integers(1, 6))):
        kind = rng.random()
        at = tuple(int(v) for v in rng.uniform(-0.1, 1.1, 2) * size)
        if rng.random() < 0.2:
            _thing(rng, base, at)
            continue
        ink = tuple(float(v) for v in _colour(rng))
        if kind < 0.25:
            reach = rng.uniform(8, size / 2.5, 2)
            corners = cv2.boxPoints((at, (float(reach[0]), float(reach[1])), rng.uniform(0, 90))).astype(
                np.int32
            )
            cv2.fillConvexPoly(base, corners, ink, cv2.LINE_AA)
            if rng.random() < 0.4:
                cv2.polylines(base, [corners], True, tuple(float(v) for v in _colour(rng)), 2, cv2.LINE_AA)
        elif kind < 0.45:
            radius = int(rng.uniform(3, 40))
            cv2.circle(base, at, radius, ink, -1, cv2.LINE_AA)
            if rng.random() < 0.5:
                second = tuple(float(v) for v in _colour(rng))
                cv2.circle(
                    base,
                    at,
                    int(radius * rng.uniform(0.3, 0.9)),
                    second,
                    int(rng.integers(1, 4)),
                    cv2.LINE_AA,
                )
        elif kind < 0.65:
            text = "".join(chr(c) for c in rng.integers(48, 91, rng.integers(1, 9)))
            cv2.putText(
                base,
                text,
                at,
                int(rng.integers(8)),
                rng.uniform(0.4, 2),
                ink,
                int(rng.integers(1, 5)),
                cv2.LINE_AA,
            )
        elif kind < 0.8:
            points = np.cumsum(rng.normal(0, size / 7, (6, 2)), 0) + at
            cv2.polylines(base, [points.astype(np.int32)], False, ink, int(rng.integers(1, 12)), cv2.LINE_AA)
        elif kind < 0.9:
            for _ in range(int(rng.integers(2, 10))):
                spot = tuple(int(v) for v in np.array(at) + rng.normal(0, size / 12, 2))
                cv2.circle(base, spot, int(rng.integers(1, 8)), ink, -1, cv2.LINE_AA)
        elif pictures:
            piece = _cut(rng, int(rng.integers(size // 6, size // 2)), pictures)
            y, x = max(at[1], 0), max(at[0], 0)
            room = base[y : y + len(piece), x : x + len(piece)]
            room[:] = piece[: room.shape[0], : room.shape[1]]
    return base


def _thing(rng: np.random.Generator, base: np.ndarray, at: tuple[int, ...]) -> None:
    """Draw a solid thing with dots, slots or stripes on it, perhaps on a cable: a plug, a lid, a label."""
    size = len(base)
    long, wide = (int(v) for v in np.exp(rng.uniform(np.log(12), np.log(size / 3), 2)))
    piece = np.ones((wide, long, 3)) * _colour(rng)
    if rng.random() < 0.6:  # round like a cylinder
        across = np.linspace(-1, 1, wide)[:, None, None]
        piece *= 1 - rng.uniform(0.2, 0.7) * (across - rng.uniform(-0.5, 0.5)) ** 2
    ink = tuple(float(v) for v in _colour(rng))
    kind = rng.random()
    if kind < 0.35:
        for x in np.cumsum(rng.integers(2, 9, long // 6 + 1)):
            piece[:, int(x) : int(x) + int(rng.integers(1, 4))] = ink
    elif kind < 0.8:
        unit = max(1.5, min(long, wide) * rng.uniform(0.06, 0.16))
        for _ in range(int(rng.integers(1, 5))):
            spot = (int(rng.uniform(0.1, 0.9) * long), int(rng.uniform(0.1, 0.9) * wide))
            axes = (int(unit * rng.uniform(0.7, 2.5)), int(unit))
            cv2.ellipse(piece, spot, axes, 0, 0, 360, ink, -1, cv2.LINE_AA)
    turn = cv2.getRotationMatrix2D((long / 2, wide / 2), rng.uniform(0, 360), 1.0)
    turn[:, 2] += np.array(at) - (long / 2, wide / 2)
    mask = np.zeros((wide, long), np.uint8)
    round_off = int(min(long, wide) * rng.uniform(0, 0.3))
    cv2.rectangle(mask, (round_off, round_off), (long - 1 - round_off, wide - 1 - round_off), 255, -1)
    mask = cv2.dilate(mask, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * round_off + 1,) * 2))
    if rng.random() < 0.5:
        points = np.cumsum(rng.normal(0, size / 5, (5, 2)), 0) + at
        bare = tuple(float(v) for v in piece.mean((0, 1)))
        cv2.polylines(base, [points.astype(np.int32)], False, bare, max(2, min(long, wide) // 3), cv2.LINE_AA)
    cover = cv2.warpAffine(mask, turn, (size, size))[:, :, None] / 255.0
    laid = cv2.warpAffine(piece, turn, (size, size), borderMode=cv2.BORDER_REPLICATE)
    base[:] = np.clip(base * (1 - cover) + laid * cover, 0, 255).astype(np.uint8)
