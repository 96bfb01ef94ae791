"""How well enrolled symbol dice are read, and complete spells told from others; see `benchmarks.dice`.

Dice count where their top face is whole in the picture. *Right*: value and owner are those of the die that lies there;
*wrong*: another value or owner is told; *false*: a value is told where no die lies. The peer is plain polar
correlation: 64 x 64 grey patch, 128 turns, the mean of the five enrolled pictures, and it is given the box of each die.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from benchmarks.dice_symbol_scenes import SIZE_MM, Table, World, loose_table, spell_table, world
from benchmarks.figures import Figure, Peer
from companion.core.layout import Placed
from companion.core.observation import DieSeen
from vision.dice.symbols import SymbolReader
from vision.enrol import enrol_folder
from vision.profile import Profile
from vision.render.cube import BODIES
from vision.surface import Marks, NoSurfaceError, Surface, calibrate, find_markers

FIRST_SEED = 5500
STYLES = (4, 5)
SAME_TABLES, OTHER_TABLES = 2, 1
"""Loose tables of each world under the light of its enrolment, and under others."""
SPELL_TABLES = 9
"""Of each world; six spells on each."""
CLOTHS = ("linen", "felt", "marble", "paper", "playmat", "wood", "checks")
_NEAR = 0.4  # of a face: a find that is no farther from a die's middle is that die
Progress = Callable[[str], None]


@dataclass
class Count:
    """What became of the dice of one set."""

    right: int = 0
    wrong: int = 0
    unread: int = 0
    false: int = 0
    peer_right: int = 0
    ms: list[float] = field(default_factory=list)
    peer_ms: list[float] = field(default_factory=list)

    @property
    def dice(self) -> int:
        """All that were there to be read."""
        return self.right + self.wrong + self.unread

    def add(self, other: Count) -> None:
        """Join another set's."""
        self.right += other.right
        self.wrong += other.wrong
        self.unread += other.unread
        self.false += other.false
        self.peer_right += other.peer_right
        self.ms += other.ms
        self.peer_ms += other.peer_ms

    def line(self, name: str) -> str:
        """One line for people."""
        return (
            f"{name:34} n {self.dice:4}  right {100 * self.right / max(1, self.dice):5.1f} %  wrong {self.wrong}"
            f"  false {self.false}  unread {self.unread}  peer {100 * self.peer_right / max(1, self.dice):5.1f} %"
            f"  {np.median(self.ms or [0]):.1f} ms a die, peer {np.median(self.peer_ms or [0]):.1f}"
        )


class PolarPeer:
    """Plain polar correlation with the mean of each face's enrolled pictures, whoever's die it is."""

    _TURNS, _SIDE = 128, 64

    def __init__(self, profile: Profile) -> None:
        """Takes the faces that our own enrolment cut out: so the peer's are as well centred as ours."""
        names = sorted({(s.owner, s.face) for s in profile.samples})
        self.names = [face for _, face in names]
        means = []
        for owner, face in names:
            patches = [s.patch for s in profile.samples if (s.owner, s.face) == (owner, face)]
            first = self._polar(_upscaled(patches[0]))
            turned = [self._aligned(self._polar(_upscaled(patch)), first) for patch in patches]
            means.append(np.mean(turned, axis=0))
        self._spectra = np.conj(np.fft.rfft(np.stack(means), axis=1))

    def name(self, picture: NDArray[np.uint8], quad_px: NDArray[np.float64]) -> str:
        """The face that fits the die best whose top's middle and size are given."""
        side = (
            float(np.linalg.norm(quad_px[1] - quad_px[0]) + np.linalg.norm(quad_px[3] - quad_px[0])) / 2 * 0.9
        )
        x, y = quad_px.mean(0)
        step = side / self._SIDE
        plane = np.array([(step, 0, x - side / 2), (0, step, y - side / 2)])
        cut = cv2.warpAffine(
            picture, plane, (self._SIDE, self._SIDE), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        )
        polar = self._polar(np.asarray(cv2.cvtColor(cut, cv2.COLOR_BGR2GRAY), np.float32))
        found = np.fft.irfft(np.fft.rfft(polar, axis=0)[None] * self._spectra, self._TURNS, axis=1).sum(
            axis=2
        )
        return self.names[int(np.abs(found).max(axis=1).argmax())]

    def _polar(self, patch: NDArray[np.float32]) -> NDArray[np.float32]:
        middle = (self._SIDE - 1) / 2
        polar = cv2.warpPolar(patch, (28, self._TURNS), (middle, middle), middle, cv2.WARP_POLAR_LINEAR)
        weighed = (polar - polar.mean()) * np.sqrt(np.arange(28) + 0.5)
        return np.asarray(weighed / (np.linalg.norm(weighed) + 1e-6), np.float32)

    def _aligned(self, polar: NDArray[np.float32], to: NDArray[np.float32]) -> NDArray[np.float32]:
        found = np.fft.irfft(
            np.fft.rfft(to, axis=0) * np.conj(np.fft.rfft(polar, axis=0)), self._TURNS, axis=0
        )
        return np.roll(polar, int(found.sum(axis=1).argmax()), axis=0)


def _upscaled(patch: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(cv2.resize(patch, (PolarPeer._SIDE, PolarPeer._SIDE)), np.float32)


@dataclass
class Parts:
    """What became of the dice at home (the light and cloth of their enrolment) and away. `told`: of complete and of
    other spells how many there were and how many were called complete."""

    same: Count = field(default_factory=Count)
    other: Count = field(default_factory=Count)
    cards: Count = field(default_factory=Count)
    told: dict[bool, list[int]] = field(default_factory=lambda: {True: [0, 0], False: [0, 0]})


def figures(progress: Progress) -> list[Figure]:
    """All figures about symbols and spells; some ten minutes of one core's time."""
    return as_figures({body: measured(body, progress) for body in BODIES})


def measured(body: str, progress: Progress) -> Parts:
    """All worlds of dice with this kind of body."""
    cv2.setNumThreads(1)
    parts = Parts()
    for number, style in enumerate(STYLES):
        home = world(FIRST_SEED + number, body, style, CLOTHS)
        if number == 0:
            reader, peer = _enrolled(home, is_one_light=True)
            found = _loose(home, reader, peer, SAME_TABLES)
            progress(found.line(f"{body} {number}, same light"))
            parts.same.add(found)
        reader, peer = _enrolled(home, is_one_light=False)
        found = _loose(home, reader, peer, OTHER_TABLES, same_light=False)
        progress(found.line(f"{body} {number}, other light and cloth"))
        parts.other.add(found)
        found = _spells(home, reader, peer, parts.told)
        progress(found.line(f"{body} {number}, on cards and beside") + f"  complete {parts.told}")
        parts.cards.add(found)
    return parts


def as_figures(by_body: dict[str, Parts]) -> list[Figure]:
    """The figures of what was measured."""
    same, other, cards, everything = Count(), Count(), Count(), Count()
    told = {True: [0, 0], False: [0, 0]}
    away = {body: Count() for body in by_body}
    for body, parts in by_body.items():
        for whole, part in ((same, parts.same), (other, parts.other), (cards, parts.cards)):
            whole.add(part)
            everything.add(part)
        away[body].add(parts.other)
        away[body].add(parts.cards)
        for is_complete, (count, called) in parts.told.items():
            told[is_complete][0] += count
            told[is_complete][1] += called
    anywhere = Count()
    anywhere.add(other)
    anywhere.add(cards)
    bad = everything.wrong + everything.false
    return [
        _rate("symbols, same light", same, 99.0),
        _rate("symbols, other light or surface or on a card", anywhere, 95.0),
        _rate("symbols, other light and surface, loose", other, 95.0),
        _rate("symbols, on and beside cards", cards, 95.0),
        *(_rate(f"symbols away from home, {body} bodies", found, 95.0) for body, found in away.items()),
        Figure(
            "symbols, wrong or false", 100 * bad / everything.dice, "%", "<=", 2.0, everything.dice, is_rate=True,
            why=f"{everything.wrong} wrong, {everything.false} false",
        ),
        Figure(
            "spells, complete recognised", 100 * told[True][1] / told[True][0], "%", ">=", 97.0, told[True][0],
            is_rate=True,
        ),
        Figure(
            "spells, incomplete called complete", 100 * told[False][1] / told[False][0], "%", "<=", 0.5,
            told[False][0], is_rate=True,
        ),
        Figure(
            "symbols, processor time a die", float(np.median(everything.ms)), "ms", "<=", 12.0, len(everything.ms),
            peer=Peer("plain polar correlation, box given, ms", float(np.median(everything.peer_ms))),
            why="ours finds the dice in a 1080p picture too; wanted is the share of ten dice in 120 ms",
        ),
    ]  # fmt: skip


def _rate(name: str, found: Count, target: float) -> Figure:
    peer = Peer("plain polar correlation, box given, %", round(100 * found.peer_right / found.dice, 1))
    return Figure(
        name, 100 * found.right / found.dice, "%", ">=", target, found.dice, is_rate=True, peer=peer
    )


def _enrolled(home: World, *, is_one_light: bool) -> tuple[SymbolReader, PolarPeer]:
    with tempfile.TemporaryDirectory() as place:
        home.write_enrolment(Path(place), is_one_light)
        profile, _ = enrol_folder(Path(place), "tada")
        return SymbolReader([profile]), PolarPeer(profile)


def _loose(
    home: World, reader: SymbolReader, peer: PolarPeer, many: int, *, same_light: bool = True
) -> Count:
    found = Count()
    for number in range(many):
        table = loose_table(home, number, same_light=same_light, cloths=CLOTHS)
        compare(table, read(table, reader), peer, found)
    return found


def _spells(home: World, reader: SymbolReader, peer: PolarPeer, told: dict[bool, list[int]]) -> Count:
    found = Count()
    for number in range(SPELL_TABLES):
        table = spell_table(home, number, CLOTHS)
        seen, ms = read(table, reader)
        compare(table, (seen, ms), peer, found)
        for placed, is_complete in zip(table.layouts, table.complete, strict=True):
            told[is_complete][0] += 1
            told[is_complete][1] += is_called_complete(placed, seen)
    return found


def read(table: Table, reader: SymbolReader) -> tuple[tuple[DieSeen, ...], float]:
    """What the reader says, and the processor time it took in ms (so a busy machine does not count)."""
    begun_ns = time.process_time_ns()
    seen = reader.read(table.picture, surface_of(table), table.layouts).dice
    return seen, (time.process_time_ns() - begun_ns) / 1e6


def surface_of(table: Table) -> Surface | None:
    """By the markers, where there are some; their search counts as part of the reading."""
    if table.marks is None:
        return None
    height, width = table.picture.shape[:2]
    try:
        return calibrate(find_markers(table.picture), Marks(size_mm=SIZE_MM), (width, height))
    except NoSurfaceError:
        return None


def is_called_complete(placed: Placed, seen: tuple[DieSeen, ...]) -> bool:
    """Whether each slot of a spell holds just one die, its owner's, with the slot's symbol up."""
    for region in placed.layout.regions:
        there = [die for die in seen if die.on == (placed.layout.id, region.id)]
        if [(die.value, die.owner) for die in there] != [(region.symbol, placed.owner)]:
            return False
    return True


def compare(
    table: Table, told: tuple[tuple[DieSeen, ...], float], peer: PolarPeer | None, found: Count
) -> list[tuple[str, DieSeen | None]]:
    """Count one table; gives (right, wrong, unread or false, what was told) for each die and false find."""
    seen, ms = told
    left = list(seen)
    height, width = table.picture.shape[:2]
    verdicts: list[tuple[str, DieSeen | None]] = []
    whole = 0
    for die in table.truth:
        quad = np.array(die.quad_px)
        reach = _NEAR * float(np.linalg.norm(quad[1] - quad[0]))
        mine = min(left, key=lambda one: _off(one, die.centre_px), default=None)
        if mine is None or _off(mine, die.centre_px) > reach:
            mine = None
        else:
            left.remove(mine)
        if quad.min() < 0 or quad[:, 0].max() >= width or quad[:, 1].max() >= height:
            continue
        whole += 1
        if mine is None or mine.value is None:
            verdict = "unread"
        else:
            verdict = "right" if (mine.value, mine.owner) == (die.value, die.owner) else "wrong"
        setattr(found, verdict, getattr(found, verdict) + 1)
        verdicts.append((verdict, mine))
        if peer is not None:
            begun_ns = time.process_time_ns()
            name = peer.name(table.picture, quad)
            found.peer_ms.append((time.process_time_ns() - begun_ns) / 1e6)
            found.peer_right += name == die.value
    extra = [die for die in left if die.value is not None]
    found.false += len(extra)
    found.ms.append(ms / max(1, whole))
    return verdicts + [("false", die) for die in extra]


def _off(die: DieSeen, centre_px: tuple[float, float]) -> float:
    x0, y0, x1, y1 = die.box_px
    return float(np.hypot((x0 + x1) / 2 - centre_px[0], (y0 + y1) / 2 - centre_px[1]))
