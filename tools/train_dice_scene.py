"""Made-up photographs of six-sided dice on tables, with truth, for training only.

Each die is a rounded cube whose surface is found by sphere tracing, so pips are dents that mirror the lamp, side faces
show under perspective, swirls run through the body and shadows lie where the lamp puts them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import cv2
import numpy as np
from train_dice_symbols import symbol

F32 = np.float32
OTHER, COCKED = 7, 8  # classes beside the values 1 to 6; 0 is "no die here"

# fmt: off
_BODIES = [(238, 240, 240), (215, 230, 238), (30, 30, 32), (18, 18, 20), (40, 40, 190), (30, 25, 140), (160, 70, 25),
           (200, 110, 40), (70, 120, 20), (100, 160, 50), (40, 200, 230), (30, 150, 240), (110, 30, 90), (60, 90, 140),
           (130, 130, 130), (170, 120, 200), (150, 140, 30), (90, 60, 30), (80, 110, 160), (60, 60, 60)]
_PIPS = [(245, 245, 245), (250, 250, 250), (15, 15, 15), (20, 20, 22), (70, 190, 220), (40, 40, 200), (60, 210, 190),
         (200, 120, 40), (80, 170, 60), (90, 170, 200)]
# Bodies of two colours that run into each other, with the pips that such dice have: often as dark as the body.
_SWIRLS = [((190, 110, 30), (60, 30, 20), (45, 40, 185)), ((60, 58, 58), (25, 22, 22), (50, 45, 175)),
           ((70, 150, 190), (30, 55, 85), (15, 15, 15)), ((95, 120, 20), (60, 55, 10), (40, 215, 235)),
           ((70, 60, 170), (190, 190, 225), (245, 245, 245)), ((120, 30, 95), (40, 15, 40), (240, 240, 240)),
           ((60, 45, 40), (20, 18, 18), (240, 240, 240)), ((150, 60, 20), (30, 20, 90), (70, 190, 220)),
           ((40, 90, 30), (20, 30, 15), (60, 170, 220)), ((50, 40, 60), (90, 60, 50), (200, 120, 60)),
           ((60, 60, 190), (30, 190, 235), (20, 20, 20)), ((140, 140, 140), (60, 60, 65), (40, 40, 190))]
# fmt: on


@dataclass
class Die:
    """One die of a scene: `centre` and `quad` of the top face in px, `side` its mean edge in px.

    `label`: 1 to 6, OTHER (no pips on top) or COCKED. `seen`: visible share of the top face.
    """

    label: int
    centre: tuple[float, float]
    quad: list[tuple[float, float]]
    side: float
    seen: float = 1.0
    box: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Mix:
    """How often a scene holds what is hard to read: shares of dice of two colours, of pips that differ by their hue
    alone (where they may), of faces that mirror a ring lamp, of leaning dice; `fewest`: share of the room's dice."""

    blends: float = 0.3
    hues: float = 0.25
    hoops: float = 0.45
    leaning: float = 0.06
    fewest: float = 0.0


USUAL = Mix()
HARD = Mix(blends=0.5, hues=0.5, hoops=0.65, leaning=0.14, fewest=0.5)


class Camera:
    """Looks at the table plane z = 0 (unit: one die edge) from `tilt` off the vertical."""

    def __init__(self, rng: np.random.Generator, size: int, edge_px: float) -> None:
        kind = rng.random()
        if kind < 0.55:
            self.tilt = np.radians(rng.uniform(0, 13))
        elif kind < 0.85:
            self.tilt = np.radians(rng.uniform(10, 36))
        else:
            self.tilt = np.radians(rng.uniform(32, 56))
        full = size * rng.uniform(1.2, 2.6)
        self.focal = full * rng.uniform(0.75, 1.9)
        spare = (full - size) / 2
        self.centre = np.array([size / 2, size / 2]) + rng.uniform(-spare, spare, 2)
        spin = rng.uniform(-np.pi, np.pi) if np.degrees(self.tilt) < 14 else rng.normal(0, 0.2)
        cos, sin = np.cos(spin), np.sin(spin)
        self.turn = np.array([[cos, -sin], [sin, cos]])
        ct, st = np.cos(self.tilt), np.sin(self.tilt)
        self.forward = np.array([0, st, -ct])
        self.right = np.array([1.0, 0, 0])
        self.down = np.array([0, -ct, -st])
        self.place = -self.forward * (self.focal / edge_px)

    def rays(self, xy: np.ndarray) -> np.ndarray:
        """Unit directions (n, 3) of pixels (n, 2)."""
        flat = (xy - self.centre) @ self.turn
        rays = self.forward * self.focal + flat[:, :1] * self.right + flat[:, 1:] * self.down
        return rays / np.linalg.norm(rays, axis=1, keepdims=True)

    def project(self, points: np.ndarray) -> np.ndarray:
        """Pixels (n, 2) of world points (n, 3)."""
        rel = points - self.place
        depth = rel @ self.forward
        flat = np.stack([rel @ self.right, rel @ self.down], 1) * self.focal / depth[:, None]
        return flat @ self.turn.T + self.centre

    def on_plane(self, xy: np.ndarray, height: float) -> np.ndarray:
        ray = self.rays(xy[None])[0]
        return self.place + ray * (height - self.place[2]) / ray[2]


class Style:
    """How one die looks. Dice of a scene may share one."""

    def __init__(self, rng: np.random.Generator, mix: Mix = USUAL) -> None:
        blend = _SWIRLS[rng.integers(len(_SWIRLS))] if rng.random() < mix.blends else None
        while True:
            if blend:
                body, pip = (
                    np.clip(np.array(c) * rng.uniform(0.7, 1.15) + rng.normal(0, 10, 3), 4, 250)
                    for c in blend[::2]
                )
                break
            body = np.array(_BODIES[rng.integers(len(_BODIES))], F32)
            pip = np.array(_PIPS[rng.integers(len(_PIPS))], F32)
            body = np.clip(body * rng.uniform(0.75, 1.15) + rng.normal(0, 14, 3), 4, 250)
            pip = np.clip(pip * rng.uniform(0.8, 1.05) + rng.normal(0, 8, 3), 4, 252)
            lab = cv2.cvtColor(np.stack([body, pip])[None].astype(np.uint8), cv2.COLOR_BGR2LAB)[0].astype(
                float
            )
            apart = lab[0] - lab[1]
            if np.linalg.norm(apart) > rng.uniform(42, 80):
                break
            # Some pips differ from the body by their hue alone.
            if rng.random() < mix.hues and np.hypot(apart[1], apart[2]) > 30:
                break
        self.body, self.pip = body, pip
        self.rounding = rng.uniform(0.06, 0.22)
        self.sphere = rng.uniform(1.3, 1.65) if rng.random() < 0.6 else 2.0
        self.grid = rng.uniform(0.42, 0.58)
        self.radius = rng.uniform(0.13, 0.235) if rng.random() < 0.88 else rng.uniform(0.22, 0.29)
        self.one = rng.uniform(1.2, 1.9) if rng.random() < 0.2 else 1.0
        self.dent = rng.uniform(0.2, 1.4) if rng.random() < 0.7 else 0.0
        self.dome = (
            rng.uniform(0.04, 0.4) if rng.random() < 0.55 else 0.0
        )  # slope of a bulging face at its edge
        self.gloss = rng.uniform(0, 0.9) ** 1.5
        self.sharp = np.exp(rng.uniform(2.5, 6))
        self.strip = rng.uniform(0.3, 1.3) if rng.random() < 0.35 else 0.0
        self.strip_wide = rng.uniform(0.02, 0.12)
        self.hoop = rng.uniform(0.4, 1.4) if rng.random() < mix.hoops else 0.0
        self.ring = rng.random() < 0.05
        self.disc = rng.uniform(0.6, 0.8) if rng.random() < 0.08 else 0.0
        self.disc_colour = np.clip(body + rng.choice([-1, 1]) * rng.uniform(25, 70), 5, 250)
        self.swirl = rng.uniform(0.2, 1.0) if rng.random() < 0.45 else 0.0
        if rng.random() < 0.5:
            second = body * rng.uniform(0.1, 0.6)
        elif rng.random() < 0.5:
            second = np.array(_BODIES[rng.integers(len(_BODIES))], F32)
        else:
            second = body + (250 - body) * rng.uniform(0.2, 0.8)
        if blend:
            second = np.array(blend[1]) * rng.uniform(0.7, 1.15)
            self.swirl = rng.uniform(0.4, 1.0)
        self.second = np.clip(second, 4, 250)
        self.waves = rng.normal(0, rng.uniform(1.5, 5.0), (5, 3)).astype(F32)
        self.phases = rng.uniform(0, 6.28, (5, 2)).astype(F32)
        self.clear = rng.uniform(0.15, 0.5) if rng.random() < 0.2 else 0.0
        self.worn = rng.uniform(0, 0.5) if rng.random() < 0.25 else 0.0
        self.symbols = [symbol(rng) for _ in range(6)] if rng.random() < 0.16 else None
        self.flips = rng.random((6, 2)) < 0.5
        order = [1, 2, 3] if rng.random() < 0.5 else [1, 3, 2]
        self.faces = {}
        for axis, value in enumerate(order):
            self.faces[axis, 1], self.faces[axis, -1] = value, 7 - value


def _pattern(value: int, grid: float, flip: np.ndarray) -> list[tuple[float, float]]:
    sign = 1 if flip[0] else -1
    pips: list[tuple[float, float]] = []
    if value % 2:
        pips.append((0.0, 0.0))
    if value >= 2:
        pips += [(grid, sign * grid), (-grid, -sign * grid)]
    if value >= 4:
        pips += [(grid, -sign * grid), (-grid, sign * grid)]
    if value == 6:
        pips += [(grid, 0.0), (-grid, 0.0)] if flip[1] else [(0.0, grid), (0.0, -grid)]
    return pips


def _surface(style: Style, p: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Colours (k, 3) and dented normals of local surface points `p` with normals `n`."""
    colour = np.repeat(style.body[None].astype(F32), len(p), 0)
    if style.swirl:
        warp = p.copy()
        for wave, phase in zip(style.waves, style.phases, strict=True):
            warp = warp + 0.35 * np.sin(warp @ wave + phase[0])[:, None] * wave / (
                np.linalg.norm(wave) + 1e-3
            )
        mix = 0.5 + 0.5 * np.sin(warp @ style.waves[0] * 1.3 + style.phases[0, 1])
        colour += (mix * style.swirl)[:, None] * (style.second - style.body)
    n = n.copy()
    axis = np.abs(p).argmax(1)
    for (a, sign), value in style.faces.items():
        on = (axis == a) & (np.sign(p[:, a]) == sign)
        if not on.any():
            continue
        b, c = (a + 1) % 3, (a + 2) % 3
        uv = p[on][:, [b, c]] * 2
        face = a * 2 + (sign > 0)
        shade = colour[on]
        if style.symbols is not None:
            mask = style.symbols[face]
            if mask is not None:
                at = np.clip(((uv + 1) * 31.5).astype(np.int32), 0, 63)
                cover = mask[at[:, 1], at[:, 0]].astype(F32)[:, None] / 255
                colour[on] = shade * (1 - cover) + style.pip * cover
            local = n[on]
            local[:, [b, c]] += style.dome * uv
            n[on] = local
            continue
        if style.disc:
            inner = (np.hypot(uv[:, 0], uv[:, 1]) < style.disc)[:, None]
            shade = np.where(inner, style.disc_colour, shade)
        radius = style.radius * (style.one if value == 1 else 1.0)
        dent = np.zeros((len(uv), 2), F32)
        cover = np.zeros(len(uv), F32)
        for x, y in _pattern(value, style.grid, style.flips[face]):
            dx, dy = uv[:, 0] - x, uv[:, 1] - y
            near = np.hypot(dx, dy) / radius
            inside = near < 1
            cover = np.maximum(cover, np.clip((1 - near) * 8, 0, 1))
            if style.ring:
                cover = np.where(near < 0.45, 0, cover)
            dent[inside] = np.stack([-dx, -dy], 1)[inside] / radius * style.dent
        ink = style.pip * (1 - style.worn) + style.worn * style.body
        colour[on] = shade * (1 - cover[:, None]) + ink * cover[:, None]
        local = n[on]
        local[:, b] += dent[:, 0] + style.dome * uv[:, 0]
        local[:, c] += dent[:, 1] + style.dome * uv[:, 1]
        n[on] = local
    return colour, n / np.linalg.norm(n, axis=1, keepdims=True)


def _trace(style: Style, origin: np.ndarray, rays: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Hit mask and local points of rays against the rounded cube (edge 1), sphere tracing."""
    near = -(rays @ origin)
    p = origin + rays * (near - 0.9)[:, None]
    flat = 0.5 - style.rounding * 0.5
    ball = 0.5 * style.sphere
    for _ in range(18):
        q = np.abs(p) - flat
        out = np.linalg.norm(np.maximum(q, 0), axis=1) + np.minimum(q.max(1), 0) - style.rounding * 0.5
        far = np.linalg.norm(p, axis=1) - ball
        d = np.maximum(out, far)
        p = p + rays * np.clip(d, -0.2, 0.6)[:, None]
    return np.abs(d) < 0.02, p


def _normals(style: Style, p: np.ndarray) -> np.ndarray:
    flat = 0.5 - style.rounding * 0.5
    q = np.maximum(np.abs(p) - flat, 0) * np.sign(p)
    ball = np.linalg.norm(p, axis=1) - 0.5 * style.sphere > -0.004
    q = np.where((np.abs(q).sum(1, keepdims=True) < 1e-6) | ball[:, None], p, q)
    return (q / (np.linalg.norm(q, axis=1, keepdims=True) + 1e-9)).astype(F32)


class Scene:
    """A square picture of `size` px with dice; `image` uint8 BGR, `dice` the truth."""

    def __init__(
        self,
        rng: np.random.Generator,
        size: int,
        background: np.ndarray,
        edge_px: float,
        mix: Mix = USUAL,
    ) -> None:
        self.rng, self.size, self.mix = rng, size, mix
        self.camera = Camera(rng, size, edge_px)
        self.canvas = background.astype(F32)
        self.owner = np.full((size, size), -1, np.int32)
        self.dice: list[Die] = []
        lamp = np.array([rng.normal(0, 0.5), rng.normal(0, 0.5), 1.0])
        self.lamp = lamp / np.linalg.norm(lamp)
        hoop = np.array([rng.normal(0, 0.25), rng.normal(0, 0.25), 1.0])  # a ring lamp, often around the lens
        self.hoop = hoop / np.linalg.norm(hoop)
        self.hoop_wide, self.hoop_thick = rng.uniform(0.08, 0.45), rng.uniform(0.015, 0.07)
        tube = np.array([rng.normal(), rng.normal(), rng.normal(0, 0.3)])
        across = np.cross(self.hoop, rng.normal(0, 1, 3))
        self.hoop_from, self.hoop_share = (
            across / np.linalg.norm(across),
            rng.choice([1.1, rng.uniform(-0.9, 0.9)]),
        )
        self.tube, self.tube_at = tube / np.linalg.norm(tube), rng.uniform(-0.6, 0.6)
        self.ambient = rng.uniform(0.45, 0.85)
        self._place(edge_px)

    def _place(self, edge_px: float) -> None:
        rng = self.rng
        room = (self.size / edge_px) ** 2
        most = max(2, min(24, int(room * 0.3) + 1))
        count = int(np.clip(rng.integers(max(1, round(self.mix.fewest * most)), most + 1), 1, 24))
        styles = [Style(rng, self.mix) for _ in range(1 if rng.random() < 0.35 else count)]
        spots: list[tuple[np.ndarray, float, np.ndarray, Style]] = []
        for index in range(count):
            style = styles[index % len(styles)]
            edge = 1.0 if rng.random() < 0.6 else rng.uniform(0.72, 1.3)
            for _ in range(12):
                if spots and rng.random() < 0.35:
                    angle = rng.uniform(0, 6.28)
                    base, other = spots[rng.integers(len(spots))][:2]
                    reach = (edge + other) / 2 * rng.uniform(1.05, 1.5)
                    at = base[:2] + reach * np.array([np.cos(angle), np.sin(angle)])
                else:
                    at = self.camera.on_plane(rng.uniform(-0.02, 1.02, 2) * self.size, 0.5)[:2]
                if all(np.linalg.norm(at - s[0][:2]) > 0.58 * (edge + s[1]) for s in spots):
                    break
            else:
                continue
            spots.append((np.array([at[0], at[1], edge / 2]), edge, self._pose(), style))
        spots.sort(key=lambda s: -np.linalg.norm(s[0] - self.camera.place))
        for spot in spots:
            self._shadow(spot[0], spot[1], spot[2])
        for spot in spots:
            self._draw(spot[0], spot[1], spot[2], spot[3])
        for index, die in enumerate(self.dice):
            quad = np.zeros((self.size, self.size), np.uint8)
            cv2.fillConvexPoly(quad, np.array(die.quad, np.int32), 1)
            whole = max(1.0, cv2.contourArea(np.array(die.quad, F32)))
            die.seen = float(((self.owner == index) & (quad > 0)).sum() / whole)

    def _pose(self) -> np.ndarray:
        rng = self.rng
        axis, sign = int(rng.integers(3)), int(rng.choice([-1, 1]))
        top = np.zeros(3)
        top[axis] = sign
        side = np.zeros(3)
        side[(axis + 1) % 3] = 1
        yaw = rng.uniform(0, 2 * np.pi)
        third = np.cross(top, side)
        x = np.cos(yaw) * side + np.sin(yaw) * third
        turn = np.stack([x, np.cross(top, x), top])  # rows: the world's axes in local coordinates
        if rng.random() < self.mix.leaning:
            lean, about = np.radians(rng.uniform(18, 42)), rng.uniform(0, 6.28)
            k = np.array([np.cos(about), np.sin(about), 0])
            cross = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
            turn = (np.eye(3) + np.sin(lean) * cross + (1 - np.cos(lean)) * cross @ cross) @ turn
        return turn

    def _corners(self, at: np.ndarray, edge: float, turn: np.ndarray) -> np.ndarray:
        unit = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
        return at + edge * unit @ turn.T

    def _shadow(self, at: np.ndarray, edge: float, turn: np.ndarray) -> None:
        corners = self._corners(at, edge * 0.92, turn)
        foot = corners - self.lamp * (corners[:, 2:] / self.lamp[2])
        hull = cv2.convexHull(self.camera.project(foot).astype(np.int32))
        mask = np.zeros((self.size, self.size), F32)
        cv2.fillConvexPoly(mask, hull, 1.0)
        scale = self.camera.focal / np.linalg.norm(at - self.camera.place) * edge
        mask = cv2.GaussianBlur(mask, (0, 0), max(0.6, scale * self.rng.uniform(0.03, 0.25)))
        self.canvas *= (1 - self.rng.uniform(0.1, 0.55) * mask)[:, :, None]

    def _draw(self, at: np.ndarray, edge: float, turn: np.ndarray, style: Style) -> None:
        rng, camera = self.rng, self.camera
        hull = camera.project(self._corners(at, edge, turn))
        (x0, y0), (x1, y1) = np.floor(hull.min(0)).astype(int) - 1, np.ceil(hull.max(0)).astype(int) + 2
        x0, y0, x1, y1 = max(x0, 0), max(y0, 0), min(x1, self.size), min(y1, self.size)
        if x1 - x0 < 3 or y1 - y0 < 3:
            return
        scale = camera.focal / np.linalg.norm(at - camera.place) * edge
        over = int(np.clip(round(70 / scale), 1, 3))
        xs = (np.arange((x1 - x0) * over) + 0.5) / over + x0 - 0.5
        ys = (np.arange((y1 - y0) * over) + 0.5) / over + y0 - 0.5
        grid = np.stack(np.meshgrid(xs, ys), -1).reshape(-1, 2)
        rays = camera.rays(grid)
        local_rays = (rays @ turn).astype(F32)
        origin = ((camera.place - at) @ turn / edge).astype(F32)
        hit, p = _trace(style, origin, local_rays)
        colour = np.zeros((len(grid), 3), F32)
        if not hit.any():
            return
        p, view = p[hit].astype(F32), -local_rays[hit]
        n = _normals(style, p)
        paint, n = _surface(style, p, n)
        lamp = (self.lamp @ turn).astype(F32)
        diffuse = np.clip(n @ lamp, 0, 1)
        light = self.ambient + (1 - self.ambient) * 1.25 * diffuse
        up = turn[2].astype(F32)
        light *= 0.82 + 0.18 * np.clip(n @ up + 0.3, 0, 1)
        if style.clear:
            light = light * (1 - style.clear) + style.clear * rng.uniform(0.8, 1.3)
        back = 2 * (n * view).sum(1, keepdims=True) * n - view
        shine = np.clip(back @ lamp, 0, 1) ** style.sharp * style.gloss
        sky = np.clip(back @ up, 0, 1) ** 3 * style.gloss * 0.12
        hoop = np.arccos(np.clip(back @ (self.hoop @ turn), -1, 1)) - self.hoop_wide
        arc = back @ (self.hoop_from @ turn) < self.hoop_share * np.sin(
            self.hoop_wide
        )  # hands and heads hide a part
        shine += style.hoop * arc * np.exp(-((hoop / self.hoop_thick) ** 2))
        tube = self.tube @ turn
        shine += (
            style.strip
            * np.exp(-(((back @ tube - self.tube_at) / style.strip_wide) ** 2))
            * (back @ up > 0.35)
        )
        lit = paint * light[:, None] + 255 * (shine * 1.3 + sky)[:, None]
        colour[hit] = np.clip(lit, 0, 255)
        shape = ((y1 - y0) * over, (x1 - x0) * over)
        cover = cv2.resize(hit.reshape(shape).astype(F32), (x1 - x0, y1 - y0), interpolation=cv2.INTER_AREA)
        picture = cv2.resize(colour.reshape(*shape, 3), (x1 - x0, y1 - y0), interpolation=cv2.INTER_AREA)
        patch = self.canvas[y0:y1, x0:x1]
        if style.clear:
            glow = cv2.GaussianBlur(patch, (0, 0), max(1.0, scale / 5))
            picture += cover[:, :, None] * style.clear * 0.35 * (glow - picture)
        patch *= 1 - cover[:, :, None]
        patch += picture
        self.owner[y0:y1, x0:x1][cover > 0.5] = len(self.dice)
        self._note(at, edge, turn, style, hull)

    def _note(self, at: np.ndarray, edge: float, turn: np.ndarray, style: Style, hull: np.ndarray) -> None:
        local_up = turn[2]
        axis = int(np.abs(local_up).argmax())
        sign = 1 if local_up[axis] > 0 else -1
        cocked = abs(local_up[axis]) < 0.97
        b, c = (axis + 1) % 3, (axis + 2) % 3
        corners = np.zeros((4, 3))
        corners[:, axis] = 0.5 * sign
        corners[:, b] = [-0.5, 0.5, 0.5, -0.5]
        corners[:, c] = [-0.5, -0.5, 0.5, 0.5]
        quad = self.camera.project(at + edge * corners @ turn.T)
        label = COCKED if cocked else style.faces[axis, sign]
        if style.symbols is not None:
            label = OTHER
        middle = self.camera.project((at + edge * corners.mean(0) @ turn.T)[None])[0]
        side = float(np.mean(np.linalg.norm(quad - np.roll(quad, 1, 0), axis=1)))
        box = [*hull.min(0), *hull.max(0)]
        self.dice.append(
            Die(
                label,
                (float(middle[0]), float(middle[1])),
                [(float(x), float(y)) for x, y in quad],
                side,
                box=[float(v) for v in box],
            )
        )


def finish(rng: np.random.Generator, canvas: np.ndarray, edge_px: float) -> np.ndarray:
    """What lens, sensor and file do to a clean picture: uint8 BGR of the same size."""
    size = canvas.shape[0]
    out = canvas
    if rng.random() < 0.7:
        y, x = np.mgrid[0:size, 0:size].astype(F32) / size - 0.5
        slope = rng.normal(0, 0.22, 2)
        out = out * (1 + slope[0] * x + slope[1] * y)[:, :, None]
    if rng.random() < 0.8:
        out = out * rng.normal(1, 0.07, 3)
    out = out * np.exp(rng.normal(0, 0.18)) + rng.normal(0, 6)
    if rng.random() < 0.15:
        over = rng.uniform(1.1, 1.6)
        out = out * over
    out = 255 * np.clip(out / 255, 0, 1) ** np.exp(rng.normal(0, 0.2))
    sigma = abs(rng.normal(0, 0.55)) + (rng.uniform(0, edge_px / 22) if rng.random() < 0.25 else 0)
    if sigma > 0.2:
        out = cv2.GaussianBlur(out, (0, 0), sigma)
    if rng.random() < 0.08:
        length = int(np.clip(edge_px * rng.uniform(0.05, 0.16), 2, 12))
        line = np.zeros((length * 2 + 1,) * 2, F32)
        angle = rng.uniform(0, 6.28)
        tip = (int(length + length * np.cos(angle)), int(length + length * np.sin(angle)))
        cv2.line(line, (length, length), tip, 1.0)
        out = cv2.filter2D(out, -1, line / line.sum())
    if rng.random() < 0.3:
        soft = cv2.GaussianBlur(out, (0, 0), 1.2)
        out = out + rng.uniform(0.2, 1.2) * (out - soft)
    out = (
        out
        + rng.normal(0, rng.uniform(0.3, 6), (size, size, 1))
        + rng.normal(0, rng.uniform(0.3, 3), out.shape)
    )
    picture = np.clip(out, 0, 255).astype(np.uint8)
    if rng.random() < 0.02:
        salt = rng.random((size, size)) < 0.006
        picture[salt] = rng.integers(0, 2, (int(salt.sum()), 1)) * 255
    if rng.random() < 0.08:
        picture = cv2.cvtColor(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR)
    _, packed = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(55, 97))])
    return cv2.imdecode(packed, cv2.IMREAD_COLOR)
