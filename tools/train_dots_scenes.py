"""Cuts for the network that judges dots: `python tools/train_dots_scenes.py --out OUT [--seed N] [--tables N]`.

Draws tables of Tacta with our own renderer, with cards that lie right, nudged or anywhere, looks at each place that
resembles a dot as the reader does, and keeps what lies around it with how much of a dot shows there.
"""

from __future__ import annotations

import argparse
import colorsys
from importlib.resources import files
from pathlib import Path

import cv2
import msgspec
import numpy as np
from shapely import Point as Place
from shapely import Polygon, STRtree

from companion.core.geometry import Pose
from companion.games.tacta.deck import Deck, Shape, read
from companion.games.tacta.faces import Face, faces_of
from companion.games.tacta.ground import Ground, Laid
from companion.games.tacta.layouts import layouts_of
from companion.games.tacta.placement import Allowance, Table, plays
from vision.dots.judging import SIDE_PX, cut
from vision.dots.reading import places_of
from vision.frame import Frame
from vision.render.lamp import Lamp
from vision.render.lens import Camera
from vision.render.overlaid import CardTable, LaidCard, Look

Rng = np.random.Generator
HUES = {"red": 0.0, "orange": 0.085, "green": 0.36, "blue": 0.57, "purple": 0.75, "pink": 0.90}
CLOTHS = ("wood", "felt", "linen", "marble", "paper", "playmat")
KEPT_PX = SIDE_PX + 4
_SURELY, _NEAR = 0.45, 1.5  # radii from a dot's middle within which a place is that dot's, or nobody's
_FONTS = (cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_COMPLEX, cv2.FONT_HERSHEY_PLAIN)


def deck_of(rng: Rng) -> Deck:
    """A public deck whose dots lie anywhere in their shapes and are larger or smaller."""
    name = str(rng.choice(["deck-a.json", "deck-b.json"]))
    deck = read((files("companion.games.tacta") / "data" / name).read_text(encoding="utf-8"))
    radius = deck.dot_radius_mm * float(rng.uniform(0.8, 1.15))
    spread = float(rng.choice([0.0, 2.0, 6.0]))
    cards = tuple(
        msgspec.structs.replace(
            card, shapes=tuple(_scattered(shape, radius, spread, rng) for shape in card.shapes)
        )
        for card in deck.cards
    )
    return msgspec.structs.replace(deck, cards=cards, dot_radius_mm=radius)


def _scattered(shape: Shape, radius: float, spread: float, rng: Rng) -> Shape:
    room, dots = Polygon(shape.polygon_mm).buffer(-1.35 * radius), list[tuple[float, float]]()
    for x, y in shape.dots_mm:
        for _ in range(20):
            moved = (x + float(rng.uniform(-spread, spread)), y + float(rng.uniform(-spread, spread)))
            is_free = all(np.hypot(moved[0] - a, moved[1] - b) > 3 * radius for a, b in dots)
            if is_free and room.contains(Place(*moved)):
                break
        else:
            moved = (x, y)
        dots.append(moved)
    return msgspec.structs.replace(shape, dots_mm=tuple(dots))


def look_of(rng: Rng) -> Look:
    """A print."""
    inks = []
    for name, hue in HUES.items():
        rgb = colorsys.hsv_to_rgb(
            (hue + rng.uniform(-0.02, 0.02)) % 1, rng.uniform(0.6, 0.95), rng.uniform(0.6, 1.0)
        )
        inks.append((name, (float(rgb[2]), float(rgb[1]), float(rgb[0]))))
    return Look(
        tuple(inks), fill=float(rng.uniform(0.7, 1.0)), line_mm=float(rng.uniform(0.5, 1.1)),
        corner_mm=float(rng.uniform(1, 4)), badge_mm=float(rng.uniform(3.4, 5.5)), dark=float(rng.uniform(0.02, 0.12)),
        white=float(rng.uniform(0.8, 0.97)),
    )  # fmt: skip


def laid_on(rng: Rng, deck: Deck, size_mm: tuple[float, float], cards: int) -> list[Laid]:
    """Cards as people lay them, some not as they should."""
    faces, area = faces_of(deck), Table(size_mm=size_mm)
    width, height = size_mm
    start = Pose(width / 2 - 30, height / 2 - 40, float(rng.uniform(-180, 180)))
    found = [Laid(n=0, card=deck.start.id, colour="", flipped=False, pose=start)]
    pile = [(colour, card.id) for colour in HUES for card in deck.cards]
    rng.shuffle(pile)
    for n, (colour, card) in enumerate(pile[:cards], start=1):
        flipped = bool(rng.integers(2))
        options = plays(Ground(faces, found), area, (Face(str(card), flipped),), Allowance())
        if options and rng.uniform() < 0.85:
            pose = options[int(rng.integers(len(options)))].pose
            most = float(rng.choice([0.2, 1.0, 4.0, 8.0]))
            off = rng.uniform(-most, most, 2)
            pose = Pose(
                pose.x_mm + off[0], pose.y_mm + off[1], pose.angle_deg + float(rng.uniform(-1, 1)) * most
            )
        else:
            pose = Pose(*(float(v) for v in rng.uniform((50, 50), (width - 50, height - 50))),
                        float(rng.uniform(-180, 180)))  # fmt: skip
        found.append(Laid(n=n, card=str(card), colour=str(colour), flipped=flipped, pose=pose))
    return found


def camera_of(rng: Rng, size_mm: tuple[float, float]) -> Camera:
    """A camera above the table, or a phone held at a slant."""
    fine = float(rng.uniform(1.2, 2.4))
    width, height = size_mm
    high, tilt = float(rng.uniform(700, 1300)), float(rng.uniform(0, 0.35))
    lens = (
        width / 2 + high * float(rng.uniform(-tilt, tilt)),
        height / 2 + high * float(rng.uniform(-tilt, tilt)),
        high,
    )
    far = float(np.linalg.norm(np.subtract(lens, (width / 2, height / 2, 0))))
    return Camera(
        lens_mm=lens, look_mm=(width / 2, height / 2), roll_deg=float(rng.uniform(-180, 180)),
        across_deg=2 * float(np.degrees(np.arctan(height * 1.14 / 2 / far))),
        size_px=(round(width * 1.1 * fine), round(height * 1.14 * fine)),
        blur_px=float(rng.uniform(0.4, 1.3)), soft_px=float(rng.uniform(0, 0.8)),
        soft_side_deg=float(rng.uniform(0, 360)), noise=float(rng.uniform(1, 6)),
    )  # fmt: skip


def lamp_of(rng: Rng, size_mm: tuple[float, float]) -> Lamp:
    """A lamp, warm, cold or glaring."""
    warm = float(rng.uniform(-0.2, 0.2))
    return Lamp(
        place_mm=(float(rng.uniform(0, size_mm[0])), float(rng.uniform(-400, 500)), float(rng.uniform(700, 1500))),
        ambient=float(rng.uniform(0.4, 0.85)), level=float(rng.uniform(0.6, 1.3)), cast=(1 - warm, 1.0, 1 + warm),
        sheen=float(rng.choice([0, 0.1, 0.3])),
    )  # fmt: skip


def badges_upon(picture: Frame, rng: Rng, inks: Look, radius: float) -> None:
    """Badges with numbers of other fonts, where the picture is dark."""
    rows, columns = picture.shape[:2]
    for x, y in rng.uniform((20, 20), (columns - 20, rows - 20), (300, 2)):
        half = float(rng.uniform(1.6, 2.6)) * radius
        if picture[round(y), round(x)].max() > 70:
            continue
        ink = tuple(
            float(v) * 255 * rng.uniform(0.7, 1) for v in dict(inks.inks)[str(rng.choice(list(HUES)))]
        )
        patch = np.zeros((160, 160, 4), np.uint8)
        form = int(rng.integers(3))
        if form == 0:
            cv2.circle(patch, (80, 80), 60, (*ink, 255), -1, cv2.LINE_AA)
        elif form == 1:
            cv2.rectangle(patch, (20, 20), (140, 140), (*ink, 255), -1)
        else:
            cv2.fillPoly(patch, [np.array([(80, 8), (150, 134), (10, 134)])], (*ink, 255), cv2.LINE_AA)
        text, font = str(rng.integers(1, 9)), int(rng.choice(_FONTS))
        (wide, high), _ = cv2.getTextSize(text, font, 1.0, 1)
        size = 60 / high
        cv2.putText(patch, text, (round(80 - wide * size / 2), round(80 + high * size / 2)), font, size,
                    (240, 240, 240, 255), int(rng.integers(5, 16)), cv2.LINE_AA)  # fmt: skip
        side = 2 * round(2.4 * half) + 1
        left, top = round(x) - side // 2, round(y) - side // 2
        if left < 0 or top < 0 or left + side > columns or top + side > rows:
            continue
        turn = cv2.getRotationMatrix2D((80, 80), float(rng.uniform(0, 360)), half / 60)
        turn[:, 2] += side / 2 - 80
        layer = cv2.GaussianBlur(cv2.warpAffine(patch, turn, (side, side)).astype(np.float32), (0, 0), 0.7)
        box = np.s_[top : top + side, left : left + side]
        covered = picture[box] * (1 - layer[..., 3:] / 255) + layer[..., :3]
        picture[box] = np.clip(covered, 0, 255).astype(np.uint8)


def disturbed(picture: Frame, rng: Rng) -> Frame:
    """As cameras and programmes hand pictures over."""
    if rng.uniform() < 0.3:
        picture = np.clip(picture * rng.uniform(0.5, 1.5), 0, 255).astype(np.uint8)
    if rng.uniform() < 0.3:
        picture = np.asarray(cv2.GaussianBlur(picture, (0, 0), float(rng.uniform(0.5, 1.4))), np.uint8)
    if rng.uniform() < 0.4:
        packed = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(35, 95))])[1]
        picture = np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), np.uint8)
    return picture


def shown_dots(deck: Deck, laid: list[Laid], camera: Camera) -> tuple[np.ndarray, np.ndarray, float]:
    """(n, 2) places in px of all dots, (n,) which share of each shows, and their radius in px."""
    faces = faces_of(deck)
    layouts = {layout.id: layout for layout in layouts_of(deck)}
    outlines = [Polygon([each.pose.apply(corner) for corner in faces.outline]) for each in laid]
    tree = STRtree(outlines)
    places, shares = [], []
    for n, each in enumerate(laid):
        layout = layouts[each.card]
        for dot in (dot for region in layout.regions for dot in region.dots_mm):
            x, y = each.pose.apply((layout.size_mm[0] - dot[0], dot[1]) if each.flipped else dot)
            disc = Place(x, y).buffer(layout.dot_radius_mm)
            over = [outlines[k].intersection(disc) for k in tree.query(disc) if k > n]
            hidden = over[0] if over else None
            for other in over[1:]:
                hidden = hidden.union(other)
            places.append((x, y, 0.0))
            shares.append(1.0 - (hidden.area / disc.area if hidden is not None else 0.0))
    flat = np.array(places)
    px, aside = camera.project(flat), camera.project(flat + np.array((deck.dot_radius_mm, 0.0, 0.0)))
    return px, np.array(shares), float(np.median(np.linalg.norm(px - aside, axis=1)))


def table(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(n, 28, 28, 3) cuts, 200 being white, and (n,) which share of a dot shows there, 0 for none."""
    rng = np.random.default_rng((seed, 4711))
    deck = deck_of(rng)
    size_mm = (float(rng.uniform(600, 1000)), float(rng.uniform(450, 700)))
    laid = laid_on(rng, deck, size_mm, int(rng.integers(20, 70)))
    camera, look = camera_of(rng, size_mm), look_of(rng)
    layouts = {layout.id: layout for layout in layouts_of(deck)}
    shade = None
    if rng.uniform() < 0.5:
        shade = (float(rng.uniform(0, size_mm[0])), float(rng.uniform(0, size_mm[1])), float(rng.uniform(0, 360)),
                 float(rng.uniform(1.2, 2.4)))  # fmt: skip
    scene = CardTable(
        size_mm=size_mm, laid=tuple(LaidCard(layouts[p.card], p.colour, p.flipped, p.pose) for p in laid), look=look,
        cloth=str(rng.choice(CLOTHS)), light=lamp_of(rng, size_mm), shade=shade, has_floor=bool(rng.integers(2)),
        seed=seed,
    )  # fmt: skip
    picture = scene.picture(camera, seed)
    dots, shares, radius = shown_dots(deck, laid, camera)
    if rng.uniform() < 0.5:
        picture = picture.copy()
        before = picture.copy()
        badges_upon(picture, rng, look, radius)
        for (x, y), share in zip(dots, shares, strict=True):  # a badge may not hide a dot
            if share > 0:
                reach = round(3 * radius)
                box = np.s_[
                    max(0, round(y) - reach) : round(y) + reach, max(0, round(x) - reach) : round(x) + reach
                ]
                picture[box] = before[box]
    picture = disturbed(picture, rng)
    found, usual = places_of(picture)
    if usual is None or not found:
        return np.zeros((0, KEPT_PX, KEPT_PX, 3), np.uint8), np.zeros(0, np.float32)
    far = np.linalg.norm(np.array(found)[:, None] - dots[None], axis=2)
    nearest = np.where(shares[None] > 0.02, far, np.inf)
    which = nearest.argmin(1)
    off = nearest[np.arange(len(found)), which] / radius
    truth = np.where(
        off < _SURELY + 0.5 * (1 - shares[which]), shares[which], np.where(off < _NEAR, -1.0, 0.0)
    )
    kept = truth >= 0
    cuts = cut(
        picture, [place for place, is_kept in zip(found, kept, strict=True) if is_kept], usual, KEPT_PX
    )
    return np.round(cuts * 200).astype(np.uint8), truth[kept].astype(np.float32)


def main() -> None:
    """Draw the tables of the command line."""
    wanted = argparse.ArgumentParser(description=__doc__)
    wanted.add_argument("--out", type=Path, required=True)
    wanted.add_argument("--seed", type=int, default=1)
    wanted.add_argument("--tables", type=int, default=150)
    given = wanted.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    cuts, truth = [], []
    for n in range(given.tables):
        some, of = table(given.seed * 100_000 + n)
        cuts.append(some)
        truth.append(of)
        print(f"table {n + 1} of {given.tables}: {sum(map(len, truth))} cuts", flush=True)
    np.savez(given.out / f"dots-{given.seed}.npz", cuts=np.concatenate(cuts), truth=np.concatenate(truth))


if __name__ == "__main__":
    main()
