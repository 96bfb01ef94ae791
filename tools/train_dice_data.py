"""Samples for the two dice networks, from made-up scenes and from licensed photographs."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from train_dice_nets import STRIDE
from train_dice_scene import OTHER

from vision.dice.finding import Spot
from vision.dice.networks import FaceFinder
from vision.dice.pips import FACE_PX, cut
from vision.frame import load

WINDOW_PX = 256
LEARNT_PX = (11.0, 76.0)  # faces that the finder must find
UNSURE_PX = (8.0, 105.0)  # outside of LEARNT but inside this, nothing is asked of it
FORBIDDEN = ("nell_train", "burks", "rsan_d20", "rsan_d20_more")
GROUPS = {
    "matteop": ("matteop", "matteop_more"),
    "n3v": ("n3v", "n3v_more"),
    "epanemu": ("epanemu", "epanemu_more"),
}


@dataclass
class Face:
    """A top face in px. `side_slack`: how far (log) the side may be off unpunished, None: side not known.

    `is_true`: it lies exactly there, not where a finder saw it.
    """

    label: int
    x: float
    y: float
    side: float
    seen: float = 1.0
    side_slack: float | None = 0.0
    is_placed: bool = True
    is_true: bool = True


@dataclass
class Picture:
    image: np.ndarray
    faces: list[Face] = field(default_factory=list)
    empty_weight: float = 1.0
    may_turn: bool = False


def scenes(cache: Path) -> list[Picture]:
    pictures = []
    for file in sorted(cache.glob("scenes-*.npy")):
        images = np.load(file, mmap_mode="r")
        for image, dice in zip(images, json.loads(file.with_suffix(".json").read_text()), strict=True):
            faces = [Face(d["label"], *d["centre"], d["side"], d["seen"]) for d in dice]
            pictures.append(Picture(image, faces))
    return pictures


def photographs(data: Path, groups: list[str]) -> list[Picture]:
    """Photographs of the named GROUPS, at most 640 px long; never one of a FORBIDDEN set."""
    wanted = {name for group in groups for name in GROUPS[group]} - set(FORBIDDEN)
    pictures = []
    for row in json.loads((data / "labels.json").read_text()):
        if row["set"] not in wanted:
            continue
        image = load(data / row["image"])
        scale = min(1.0, 640 / max(image.shape[:2]))
        image = (
            cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA) if scale < 1 else image
        )
        group = next(g for g, names in GROUPS.items() if row["set"] in names)
        faces = [_from_box(die, group, scale) for die in row["dice"]]
        pictures.append(Picture(image, faces, 0.3 if group == "n3v" else 1.0, group == "n3v"))
    return pictures


def renders(folder: Path, most: int = 300) -> list[Picture]:
    """Our own pictures of dice of other kinds, every face OTHER."""
    pictures = []
    for file in sorted(f for kind in ("poly", "loose") for f in (folder / kind).glob("*.json"))[:most]:
        image = load(file.with_suffix(".jpg"))
        scale = min(1.0, 640 / max(image.shape[:2]))
        image = (
            cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA) if scale < 1 else image
        )
        faces = []
        for die in json.loads(file.read_text())["dice"]:
            x0, y0, x1, y1 = (v * scale for v in die["box_px"])
            x, y = (v * scale for v in die["centre_px"])
            faces.append(Face(OTHER, x, y, 0.7 * min(x1 - x0, y1 - y0), side_slack=0.35))
        pictures.append(Picture(image, faces))
    return pictures


def refine(pictures: list[Picture], finder: FaceFinder) -> None:
    """Put each face where a trained finder sees it, so that a classifier learns from what it will be shown.

    Faces that the finder misses are left out. What it takes for a face where none is labelled becomes label 0, or
    OTHER where dice with symbols lie unlabelled among the rest and it is as large as they are.
    """
    for picture in pictures:
        left, picture.faces, strange = list(picture.faces), [], []
        for spot in finder.find(picture.image):
            near = [
                f
                for f in left
                if _apart(f, spot) < 0.45 * max(f.side, spot.side_px) and 0.5 < spot.side_px / f.side < 2
            ]
            if near and spot.score > 0.25:
                face = min(near, key=lambda f: _apart(f, spot))
                left.remove(face)
                picture.faces.append(Face(face.label, spot.x_px, spot.y_px, spot.side_px, is_true=False))
            elif not near:
                strange.append(spot)
        usual = float(np.median([f.side for f in picture.faces])) if picture.faces else 0.0
        for spot in strange:
            is_alone = all(_apart(f, spot) > 0.9 * usual for f in picture.faces)
            is_large = spot.score > 0.4 and 0.6 < spot.side_px / max(usual, 1.0) < 1.7
            is_die = picture.empty_weight < 1.0 and is_alone and is_large
            label = OTHER if is_die else 0
            picture.faces.append(Face(label, spot.x_px, spot.y_px, spot.side_px, is_true=False))


def _apart(face: Face, spot: Spot) -> float:
    return float(np.hypot(face.x - spot.x_px, face.y - spot.y_px))


def _from_box(die: dict, group: str, scale: float) -> Face:
    x0, y0, x1, y1 = (v * scale for v in die["box_px"])
    width, height = x1 - x0, y1 - y0
    x, y = (x0 + x1) / 2, (y0 + y1) / 2
    if group == "matteop":  # the box hugs the pips
        return Face(
            die["value"], x, y, 45 * scale if die["value"] < 4 else max(width, height) / 0.85, side_slack=None
        )
    if group == "n3v":
        return Face(die["value"], x, y, 0.7 * min(width, height), side_slack=0.25, is_placed=False)
    return Face(die["value"], x, y - 0.14 * height, 0.8 * width, side_slack=0.25, is_placed=False)


def finder_sample(rng: np.random.Generator, picture: Picture) -> tuple[np.ndarray, np.ndarray]:
    """A window, uint8 (256, 256, 3), and its target planes (8, 64, 64):

    centre heat, weight of the heat, log side, slack of it (negative: none asked), offset x and y, offset asked, 0.
    """
    sides = [face.side for face in picture.faces] or [40.0]
    if picture.image.shape[0] <= 320:
        scale = float(np.exp(rng.uniform(np.log(0.4), np.log(1.2))))
    else:
        want = float(np.exp(rng.uniform(np.log(13), np.log(80))))
        scale = float(np.clip(want / np.median(sides), 0.1, 2.0))
    size = max(24, round(picture.image.shape[1] * scale)), max(24, round(picture.image.shape[0] * scale))
    image = cv2.resize(picture.image, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    faces = [(f, f.x * scale, f.y * scale, f.side * scale) for f in picture.faces]
    if faces and rng.random() < 0.75:
        _, ax, ay, _ = faces[rng.integers(len(faces))]
        left, top = (int(v - WINDOW_PX * rng.uniform(0.1, 0.9)) for v in (ax, ay))
    else:
        left, top = (int(rng.uniform(-40, max(1, s - WINDOW_PX + 40))) for s in size)
    window = np.empty((WINDOW_PX, WINDOW_PX, 3), np.uint8)
    window[:] = (
        rng.integers(0, 255, 3) if rng.random() < 0.5 else image.reshape(-1, 3).mean(0).astype(np.uint8)
    )
    x0, y0, x1, y1 = max(left, 0), max(top, 0), min(left + WINDOW_PX, size[0]), min(top + WINDOW_PX, size[1])
    if x1 > x0 and y1 > y0:
        window[y0 - top : y1 - top, x0 - left : x1 - left] = image[y0:y1, x0:x1]
    placed = [(f, x - left, y - top, s) for f, x, y, s in faces]
    if rng.random() < 0.5:
        window, placed = window[:, ::-1], [(f, WINDOW_PX - x, y, s) for f, x, y, s in placed]
    if picture.may_turn and rng.random() < 0.7:
        for _ in range(int(rng.integers(1, 4))):
            window, placed = np.rot90(window), [(f, y, WINDOW_PX - x, s) for f, x, y, s in placed]
    return coloured(rng, np.ascontiguousarray(window)), _targets(placed, picture.empty_weight)


def _targets(faces: list[tuple[Face, float, float, float]], empty_weight: float) -> np.ndarray:
    cells = WINDOW_PX // STRIDE
    out = np.zeros((8, cells, cells), np.float32)
    out[1] = empty_weight
    out[3] = -1
    ys, xs = np.mgrid[0:cells, 0:cells] + 0.5
    for face, x, y, side in faces:
        inside = 0 <= x < WINDOW_PX and 0 <= y < WINDOW_PX
        cx, cy, reach = x / STRIDE, y / STRIDE, side / STRIDE
        far = np.hypot(xs - cx, ys - cy)
        if not LEARNT_PX[0] <= side <= LEARNT_PX[1] or face.seen < 0.4 or not inside:
            if UNSURE_PX[0] <= side <= UNSURE_PX[1] and face.seen > 0.08:
                out[1][far < 0.5 * reach] = 0
            continue
        sigma = max(0.7, reach * 0.13)
        heat = np.exp(-(far**2) / (2 * sigma**2))
        column, row = int(cx), int(cy)
        heat[row, column] = 1.0
        out[0] = np.maximum(out[0], heat)
        if not face.is_placed:
            out[1][(far < 0.3 * reach) & (heat < 1)] *= 0.2
        near = far < max(1.5, reach * 0.2)
        out[2][near] = np.log(reach)
        out[3][near] = -1 if face.side_slack is None else face.side_slack
        out[4][near] = (cx - xs)[near]
        out[5][near] = (cy - ys)[near]
        out[6][near] = float(face.is_placed)
    return out


def coloured(rng: np.random.Generator, image: np.ndarray) -> np.ndarray:
    """`image` in other light."""
    out = image.astype(np.float32)
    if rng.random() < 0.5:
        out *= np.exp(rng.normal(0, 0.08, 3)).astype(np.float32)
    if rng.random() < 0.7:
        mean = out.mean()
        out = (out - mean) * np.exp(rng.normal(0, 0.2)) + mean + rng.normal(0, 14)
    if rng.random() < 0.1:
        out = np.repeat(out.mean(2, keepdims=True), 3, 2)
    if rng.random() < 0.15:
        out = cv2.GaussianBlur(out, (0, 0), rng.uniform(0.4, 1.1))
    if rng.random() < 0.3:
        out += rng.normal(0, rng.uniform(1, 7), out.shape)
    return np.clip(out, 0, 255).astype(np.uint8)


def face_sample(rng: np.random.Generator, picture: Picture) -> tuple[np.ndarray, np.ndarray] | None:
    """A cut face (48, 48, 3) and (label, x, y, log edge, whether these are known): what the classifier is to say.

    None where the picture offers nothing clear.
    """
    usable = [f for f in picture.faces if f.side > 9]
    if not usable or rng.random() < 0.07:
        return _nothing(rng, picture)
    face = usable[rng.integers(len(usable))]
    if rng.random() < 0.1:
        return _beside(rng, picture, face)
    if face.seen < 0.72 or (face.label == 0 and rng.random() < 0.7):
        return None
    far, size = (0.1, 0.2) if face.label and face.is_true else (0.06, 0.16)
    side = face.side * np.exp(np.clip(rng.normal(0, size), -0.4, 0.5))
    x, y = face.x + rng.normal(0, far) * face.side, face.y + rng.normal(0, far) * face.side
    piece, turned = cut(picture.image, x, y, side), 1.0
    if rng.random() < 0.5:
        piece, turned = np.ascontiguousarray(piece[:, ::-1]), -1.0
    known = float(face.label > 0 and face.is_true)
    move = (turned * (face.x - x) / side, (face.y - y) / side, np.log(face.side / side), known)
    return _faded(rng, piece), np.array([face.label, *move], np.float32)


def _none(rng: np.random.Generator, piece: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return _faded(rng, piece), np.zeros(5, np.float32)


def _nothing(rng: np.random.Generator, picture: Picture) -> tuple[np.ndarray, np.ndarray] | None:
    rows, columns = picture.image.shape[:2]
    side = np.exp(rng.uniform(np.log(10), np.log(110)))
    x, y = rng.uniform(0, columns), rng.uniform(0, rows)
    if any(np.hypot(f.x - x, f.y - y) < 0.75 * max(f.side, side) for f in picture.faces):
        return None
    return _none(rng, cut(picture.image, x, y, side))


def _beside(rng: np.random.Generator, picture: Picture, face: Face) -> tuple[np.ndarray, np.ndarray] | None:
    """A side face, a corner, a single pip: what must not be read."""
    if rng.random() < 0.4 and picture.empty_weight == 1.0:
        side = face.side * rng.uniform(0.18, 0.4)
        x, y = (v + rng.uniform(-0.6, 0.6) * face.side for v in (face.x, face.y))
    else:
        angle = rng.uniform(0, 2 * np.pi)
        reach = face.side * rng.uniform(0.62, 0.95)
        x, y = face.x + reach * np.cos(angle), face.y + reach * np.sin(angle)
        side = face.side * rng.uniform(0.7, 1.1)
        if any(np.hypot(f.x - x, f.y - y) < 0.55 * f.side for f in picture.faces):
            return None
    return _none(rng, cut(picture.image, x, y, side))


def _faded(rng: np.random.Generator, face: np.ndarray) -> np.ndarray:
    """`face` a little worse: turned by so little that its middle stays, coarser, with glare, in other light."""
    if rng.random() < 0.3:
        angle = rng.normal(0, 8)
        turn = cv2.getRotationMatrix2D(((FACE_PX - 1) / 2,) * 2, angle, 1.0)
        face = cv2.warpAffine(
            np.ascontiguousarray(face), turn, (FACE_PX, FACE_PX), borderMode=cv2.BORDER_REPLICATE
        )
    if rng.random() < 0.3:
        small = int(rng.integers(16, 40))
        face = cv2.resize(np.ascontiguousarray(face), (small, small), interpolation=cv2.INTER_AREA)
        face = cv2.resize(face, (FACE_PX, FACE_PX), interpolation=cv2.INTER_CUBIC)
    face = np.ascontiguousarray(face)
    if rng.random() < 0.16:
        glare = np.zeros((FACE_PX, FACE_PX), np.float32)
        for _ in range(int(rng.integers(1, 4))):
            at = tuple(int(v) for v in rng.uniform(10, 38, 2))
            axes = tuple(int(v) for v in rng.uniform(2, 10, 2))
            thick = -1 if rng.random() < 0.4 else int(rng.integers(1, 3))
            begin = rng.uniform(0, 300)
            end = 360 if thick < 0 else begin + rng.uniform(60, 300)
            cv2.ellipse(glare, at, axes, rng.uniform(0, 180), begin, end, float(rng.uniform(60, 220)), thick)
        glow = cv2.GaussianBlur(glare, (0, 0), rng.uniform(0.5, 2))[:, :, None]
        face = np.clip(face + glow, 0, 255).astype(np.uint8)
    return coloured(rng, face)
