"""Rendered tables of Tacta with truth: decks of other sizes, inks, lamps and cloths, right and wrong placements.

The geometries, inks and seeds are those of this module alone; nothing in the reader was fitted to them.
"""

from __future__ import annotations

import colorsys
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from typing import Any

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray

from companion.core.geometry import Point, Pose
from companion.core.ruling import Verdict
from companion.games.tacta.deck import Card, Deck, Shape, read
from companion.games.tacta.faces import Face, chained, faces_of
from companion.games.tacta.ground import Ground, Laid
from companion.games.tacta.layouts import layouts_of
from companion.games.tacta.placement import Allowance, Judged, Play, Table, judge, place_apart, plays
from vision.frame import Frame
from vision.render.lamp import Lamp
from vision.render.lens import Camera
from vision.render.overlaid import CardTable, LaidCard, Look
from vision.render.visitors import Hand

Rng = np.random.Generator
HUE_SHARES = {"red": 0.0, "orange": 0.085, "green": 0.36, "blue": 0.57, "purple": 0.75, "pink": 0.90}
"""Usual hue of each colour in HSV, 0 to 1; each deck's inks differ a little from it."""
CLOTHS = ("wood", "felt", "linen", "marble", "paper", "playmat")
DISTURBED = ("plain", "hue", "brightness", "blur", "jpeg 40")
ALLOWED = Allowance()


@lru_cache(maxsize=64)
def deck_like(seed: int) -> Deck:
    """A deck of the public fronts whose card and shapes have sizes between what public sources say."""
    rng = np.random.default_rng((seed, 301))
    width = float(rng.uniform(61.0, 65.0))
    height = width * float(rng.uniform(1.36, 1.44))
    sizes = {
        "triangle": width * float(rng.uniform(0.35, 0.42)), "square": width * float(rng.uniform(0.44, 0.5)),
        "thick": width * float(rng.uniform(0.19, 0.25)),
    }  # fmt: skip
    text = (files("companion.games.tacta") / "data" / "deck-a.json").read_text(encoding="utf-8")
    usual = read(text)
    resized = [_resized(card, usual.card_mm, (width, height), sizes) for card in (*usual.cards, usual.start)]
    plain: dict[str, Any] = msgspec.to_builtins(usual)
    plain |= {
        "card_mm": (width, height), "strip_mm": float(rng.uniform(1.1, 1.6)),
        "dot_radius_mm": float(rng.uniform(1.9, 2.4)), "source": "drawn for measuring", "sure": "",
        "cards": [msgspec.to_builtins(card) for card in resized[:-1]], "start": msgspec.to_builtins(resized[-1]),
    }  # fmt: skip
    return read(msgspec.json.encode(plain).decode())


def _resized(card: Card, old: Point, new: Point, sizes: dict[str, float]) -> Card:
    return msgspec.structs.replace(
        card, shapes=tuple(_shape(shape, old, new, sizes) for shape in card.shapes)
    )


def _shape(shape: Shape, old: Point, new: Point, sizes: dict[str, float]) -> Shape:
    """The same shape at the same edge or corner of a card of another size."""
    width, height = new
    xs, ys = [x for x, _ in shape.polygon_mm], [y for _, y in shape.polygon_mm]
    sides = {
        "l": min(xs) < 0.1, "r": max(xs) > old[0] - 0.1, "t": min(ys) < 0.1, "b": max(ys) > old[1] - 0.1,
    }  # fmt: skip
    x = 0.0 if sides["l"] else width
    y = 0.0 if sides["t"] else height
    ix, iy = (1 if sides["l"] else -1), (1 if sides["t"] else -1)
    thick, leg, half = sizes["thick"], sizes["triangle"], sizes["triangle"] / math.sqrt(2)
    upright = max(ys) - min(ys) > max(xs) - min(xs)
    if shape.kind == "square":
        side = sizes["square"]
        corners = [(x, y), (x + ix * side, y), (x + ix * side, y + iy * side), (x, y + iy * side)]
        dots = [(x + ix * side * s, y + iy * side * s) for s in (0.3, 0.7)]
    elif shape.kind == "triangle" and sum(sides.values()) == 2:
        corners = [(x, y), (x + ix * leg, y), (x, y + iy * leg)]
        dots = [(x + ix * leg / 3, y + iy * leg / 3)]
    elif shape.kind == "triangle" and (sides["l"] or sides["r"]):
        corners = [(x, height / 2 - half), (x, height / 2 + half), (x + ix * half, height / 2)]
        dots = [(x + ix * half / 3, height / 2)]
    elif shape.kind == "triangle":
        corners = [(width / 2 - half, y), (width / 2 + half, y), (width / 2, y + iy * half)]
        dots = [(width / 2, y + iy * half / 3)]
    else:
        corners, dots = _bar(shape.kind, (x, y), (ix, iy), new, thick, upright=upright)
    return Shape(kind=shape.kind, polygon_mm=tuple(corners), dots_mm=tuple(dots) if shape.dots_mm else ())


def _bar(
    kind: str, at: Point, inward: tuple[int, int], card: Point, thick: float, *, upright: bool
) -> tuple[list[Point], list[Point]]:
    """A rectangle along an edge: a short one is as long as the card is wide, a long one as the card is high."""
    width, height = card
    length = width if kind == "short rectangle" else height
    across = height if upright else width
    first = (across - length) / 2
    count = 3 if kind == "short rectangle" else 4
    along = [
        first + length * share for share in np.linspace(0.5 / count + 0.06, 1 - 0.5 / count - 0.06, count)
    ]
    if upright:
        x, far = at[0], at[0] + inward[0] * thick
        return [(x, first), (x, first + length), (far, first + length), (far, first)], [
            ((x + far) / 2, float(y)) for y in along
        ]
    y, far = at[1], at[1] + inward[1] * thick
    return [(first, y), (first + length, y), (first + length, far), (first, far)], [
        (float(x), (y + far) / 2) for x in along
    ]


def look_like(rng: Rng) -> Look:
    """How a deck may be printed."""
    inks = []
    for name, hue in HUE_SHARES.items():
        red, green, blue = colorsys.hsv_to_rgb(
            (hue + float(rng.uniform(-0.012, 0.012))) % 1.0,
            float(rng.uniform(0.72, 0.92)),
            float(rng.uniform(0.65, 0.95)),
        )
        inks.append((name, (blue, green, red)))
    return Look(
        tuple(inks), fill=float(rng.uniform(0.75, 1.0)), line_mm=float(rng.uniform(0.55, 0.95)),
        corner_mm=float(rng.uniform(1.5, 3.5)), badge_mm=float(rng.uniform(3.8, 5.0)),
        dark=float(rng.uniform(0.03, 0.09)), white=float(rng.uniform(0.85, 0.95)),
    )  # fmt: skip


def camera_over(rng: Rng, size_mm: Point, px_per_mm: float, tilt: float) -> Camera:
    """A camera that sees the whole table at about so many px a mm, tilted by up to `tilt` of its height."""
    size_px = (round(size_mm[0] * 1.1 * px_per_mm), round(size_mm[1] * 1.14 * px_per_mm))
    high = float(rng.uniform(750, 1300))
    middle = (size_mm[0] / 2, size_mm[1] / 2)
    lens = (
        middle[0] + high * float(rng.uniform(-tilt, tilt)),
        middle[1] + high * float(rng.uniform(-tilt, tilt)),
        high,
    )
    far = math.dist((*middle, 0.0), lens)
    across = 2 * math.degrees(math.atan(size_mm[0] * 1.14 / 2 / far))
    return Camera(
        lens_mm=lens, look_mm=middle, roll_deg=float(rng.uniform(-4, 4)), across_deg=across, size_px=size_px,
        blur_px=float(rng.uniform(0.5, 0.9)), soft_px=float(rng.uniform(0, 0.4)),
        soft_side_deg=float(rng.uniform(0, 360)),
        noise=float(rng.uniform(1.5, 4)),
    )  # fmt: skip


def lamp_over(rng: Rng, size_mm: Point) -> Lamp:
    """A lamp that casts a tint, falls off and shines on the table."""
    warm = float(rng.uniform(-0.12, 0.12))
    return Lamp(
        place_mm=(float(rng.uniform(0, size_mm[0])), float(rng.uniform(-400, 200)), float(rng.uniform(900, 1500))),
        ambient=float(rng.uniform(0.45, 0.8)), level=float(rng.uniform(0.75, 1.15)),
        cast=(1 - warm, 1.0, 1 + warm), sheen=float(rng.uniform(0.0, 0.15)),
    )  # fmt: skip


def disturbed(picture: Frame, how: str, seed: int) -> Frame:
    """The picture as another camera or programme might hand it over; alike for all pictures of a seed."""
    rng = np.random.default_rng((seed, 5))
    if how == "hue":
        hsv = cv2.cvtColor(picture, cv2.COLOR_BGR2HSV)
        hsv[..., 0] = (hsv[..., 0].astype(int) + int(rng.choice([-5, -4, 4, 5]))) % 180
        return np.asarray(cv2.cvtColor(hsv, cv2.COLOR_HSV2BGR), np.uint8)
    if how == "brightness":
        return np.clip(picture * float(rng.choice([0.55, 0.7, 1.25])), 0, 255).astype(np.uint8)
    if how == "blur":
        return np.asarray(cv2.GaussianBlur(picture, (0, 0), 1.2), np.uint8)
    if how == "jpeg 40":
        packed = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 40])[1]
        return np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), np.uint8)
    return picture


@dataclass(frozen=True)
class Placement:
    """A card that is laid: what is true of it. `wanted`: what it was meant to be."""

    laid: Laid
    judged: Judged
    wanted: str


@dataclass(frozen=True)
class Game:
    """One table and the cards that are laid on it, in order, the starting card first."""

    deck: Deck
    size_mm: Point
    table: CardTable
    camera: Camera
    placements: tuple[Placement, ...]
    how: str
    seed: int

    @property
    def corners_px(self) -> NDArray[np.float64]:
        """(4, 2), the table's corners clockwise from the top left."""
        return self.table.corners_px(self.camera)

    def pictures(self) -> Iterator[Frame]:
        """The table after each placement, the first with the starting card alone."""
        for count in range(1, len(self.placements) + 1):
            yield disturbed(self.at(count).picture(self.camera, count), self.how, self.seed)

    def at(self, count: int) -> CardTable:
        """The table with so many cards."""
        layouts = {layout.id: layout for layout in layouts_of(self.deck)}
        laid = tuple(
            LaidCard(layouts[p.laid.card], p.laid.colour, p.laid.flipped, p.laid.pose)
            for p in self.placements[:count]
        )
        return replace(self.table, laid=laid)

    def with_hand(self, count: int) -> Frame:
        """The table before card number `count`, with a hand over the place where it is to lie."""
        pose = self.placements[count].laid.pose
        hand = Hand(tip_mm=pose.apply((30.0, 40.0)), from_deg=60.0 + 7 * count)
        picture = replace(self.at(count), visitors=(hand,)).picture(self.camera, 100 + count)
        return disturbed(picture, self.how, self.seed)


def game_of(
    seed: int, cards: int, *, size_mm: Point = (640.0, 460.0), px_per_mm: float = 0.0, faulty: bool = True
) -> Game:
    """A table on which `cards` cards are laid, some of them wrong where `faulty`."""
    rng = np.random.default_rng((seed, 77))
    deck = deck_like(seed % 9 + 100)
    faces = faces_of(deck)
    fine = px_per_mm or float(rng.choice([1.5, 2.0, 2.0, 2.5]))
    camera = camera_over(rng, size_mm, fine, 0.22)
    start = Laid(
        n=0, card=deck.start.id, colour="", flipped=False,
        pose=Pose(size_mm[0] / 2 - 30, size_mm[1] / 2 - 40, float(rng.uniform(-180, 180))),
    )  # fmt: skip
    middle = Pose(size_mm[0] / 2, size_mm[1] / 2, start.pose.angle_deg)
    start = msgspec.structs.replace(
        start, pose=chained(middle, Pose(-deck.card_mm[0] / 2, -deck.card_mm[1] / 2))
    )
    first = Judged(verdict=Verdict.OK, rule="TACTA-3", because="")
    found = [Placement(start, first, "start")]
    pile = [(colour, card.id) for colour in HUE_SHARES for card in deck.cards]
    rng.shuffle(pile)
    area = Table(size_mm=size_mm)
    for colour, card in [(str(c), str(i)) for c, i in pile][: 3 * cards]:
        if len(found) > cards:
            break
        ground = Ground(faces, [p.laid for p in found])
        wanted = str(rng.choice(_KINDS if faulty else ["ok", "ok", "nudged"]))
        placed = _placed(ground, area, (colour, card, len(found)), wanted, rng)
        if placed is not None:
            found.append(placed)
    shade = None
    if rng.uniform() < 0.4:
        shade = (
            float(rng.uniform(0.2, 0.8)) * size_mm[0], float(rng.uniform(0.2, 0.8)) * size_mm[1],
            float(rng.uniform(0, 360)), float(rng.uniform(1.3, 1.9)),
        )  # fmt: skip
    table = CardTable(
        size_mm=size_mm, look=look_like(rng), cloth=str(rng.choice(CLOTHS)), light=lamp_over(rng, size_mm), shade=shade,
        has_floor=bool(rng.uniform() < 0.6), seed=seed,
    )  # fmt: skip
    how = DISTURBED[seed % len(DISTURBED)]
    return Game(deck, size_mm, table, camera, tuple(found), how, seed)


_KINDS = ("ok", "nudged", "missed", "missed", "turned", "joins two", "apart", "anywhere")


def _placed(
    ground: Ground, area: Table, what: tuple[str, str, int], wanted: str, rng: Rng
) -> Placement | None:
    """A card of the pile laid as it is wanted; None where it cannot be."""
    colour, card, n = what
    flipped = bool(rng.integers(2))
    pose = _pose(ground, area, Face(card, flipped), wanted, rng)
    if pose is None:
        return None
    laid = Laid(n=n, card=card, colour=colour, flipped=flipped, pose=pose)
    width, height = area.size_mm
    corners = [pose.apply(corner) for corner in ground.faces.outline]
    if not all(2 <= x <= width - 2 and 2 <= y <= height - 2 for x, y in corners):
        return None
    return Placement(laid, judge(ground, area, laid, ALLOWED), wanted)


def _pose(ground: Ground, area: Table, face: Face, wanted: str, rng: Rng) -> Pose | None:
    if wanted == "anywhere":
        width, height = area.size_mm
        return Pose(
            float(rng.uniform(60, width - 60)),
            float(rng.uniform(60, height - 60)),
            float(rng.uniform(-180, 180)),
        )
    found = plays(ground, area, (face,), ALLOWED)
    if wanted == "apart" or (not found and wanted == "ok"):
        return _moved(place_apart(ground, area, 8.0), rng, 4.0, 8.0)
    if wanted == "joins two":
        reaching = plays(ground, area, (face,), Allowance(mm=4.5, deg=2.0))
        clean = {(play.target, play.own, play.on) for play in found}
        found = [play for play in reaching if (play.target, play.own, play.on) not in clean] or found
    if not found:
        return None
    play: Play = found[int(rng.integers(len(found)))]
    if wanted == "missed":
        far, way = float(rng.uniform(0.3, 6.0)), float(rng.uniform(0, 2 * math.pi))
        return Pose(
            play.pose.x_mm + far * math.cos(way), play.pose.y_mm + far * math.sin(way), play.pose.angle_deg
        )
    if wanted == "turned":
        width, height = ground.faces.deck.card_mm
        middle = play.pose.apply((width / 2, height / 2))
        turn = float(rng.uniform(1, 6)) * float(rng.choice([-1, 1]))
        return chained(Pose(*middle, play.pose.angle_deg + turn), Pose(-width / 2, -height / 2))
    return _moved(play.pose, rng, 0.15 if wanted == "ok" else 0.9, 0.2)


def _moved(pose: Pose | None, rng: Rng, most_mm: float, most_deg: float) -> Pose | None:
    if pose is None:
        return None
    x, y, turn = (float(v) for v in rng.uniform(-1, 1, 3))
    return Pose(pose.x_mm + x * most_mm, pose.y_mm + y * most_mm, pose.angle_deg + turn * most_deg)
