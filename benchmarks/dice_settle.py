"""Is a roll seen to rest in time, and told once, whatever hands do elsewhere at the table?

The gate is timed on 1080p frames of a table on which a hand moves, as the camera's process runs it. Then rolls are
thrown on a rendered table while another hand fidgets at its edge all the time; each has to be told once with the
right values. Beside it stands the usual gate, which waits until the whole picture is still.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import cv2
import numpy as np

from benchmarks.figures import Figure, Peer
from companion.core.observation import DiceRested
from companion.demo.stage import eye_over, livery
from vision.dice.rolls import Roll, RollTracker
from vision.dice.symbols import SymbolReader
from vision.frame import Frame
from vision.profile import load_profile
from vision.render.cube import Die
from vision.render.lens import Camera
from vision.render.scene import Scene
from vision.render.visitors import Hand
from vision.settle import Calm, Mask, SettleGate, small_grey
from vision.surface import Marks
from vision.watcher import Watcher

FPS, FRAMES, ROLLS = 30, 200, 24
SIZE_MM = (480.0, 320.0)
FACES = ("arrow", "burst", "spiral", "wand")
Progress = Callable[[str], None]


class WholeGate(SettleGate):
    """The usual gate: nothing rests before everything does."""

    def step(self, frame_small: Frame, t_ns: int, where: Mask | None = None) -> Calm:
        """As `SettleGate.step`."""
        calm = super().step(frame_small, t_ns, where)
        still = np.full_like(calm.still, calm.state == "rested")
        stirred = np.full_like(still, bool(calm.stirred.any()))
        return replace(calm, still=still, stirred=stirred, lively=np.full_like(still, True))


def figures(progress: Progress) -> list[Figure]:
    """The settle gate's figures."""
    fps, peer_fps = _speed()
    progress(f"settle gate {fps:.0f} frames/s, background subtraction {peer_fps:.0f}")
    found = [
        Figure(
            "settle gate",
            fps,
            "fps",
            ">=",
            30.0,
            FRAMES,
            peer=Peer("MOG2 background subtraction, fps", peer_fps),
        )
    ]
    tables = {"place by place": _Watched(SettleGate()), "whole picture": _Watched(WholeGate())}
    told = {name: Counter[str]() for name in tables}
    bare = Scene(size_mm=SIZE_MM, marks=Marks(size_mm=SIZE_MM), cloth="felt", seed=1).picture(_camera())
    for table in tables.values():
        for _ in range(FPS):
            table.see(bare)  # at set-up the camera sees its table without hands
    for n in range(ROLLS):
        truth, frames = _played(n)
        for frame in frames:
            for table in tables.values():
                table.see(frame)
        for name, table in tables.items():
            told[name][table.verdict(truth)] += 1
        progress(
            f"roll {n + 1} of {ROLLS}: {', '.join(f'{name} {dict(count)}' for name, count in told.items())}"
        )
    mine, others = (100.0 * count["once"] / ROLLS for count in told.values())
    found.append(
        Figure(
            "rolls told once and right beside a fidgeting hand", mine, "%", ">=", 80.0, ROLLS, True,
            Peer("a gate for the whole picture, %", others),
        )
    )  # fmt: skip
    return found


def _speed() -> tuple[float, float]:
    """Frames a second of the gate, and of the peer, on 1080p frames in one thread."""
    threads = cv2.getNumThreads()
    cv2.setNumThreads(1)
    camera = replace(_camera(), size_px=(1920, 1080))
    scene = Scene(size_mm=SIZE_MM, marks=Marks(size_mm=SIZE_MM), cloth="felt")
    moving = [
        replace(scene, visitors=(Hand(tip_mm=(120.0 + 60 * i, 200.0)),)).picture(camera, tick=i)
        for i in range(4)
    ]
    gate, peer = SettleGate(), cv2.createBackgroundSubtractorMOG2()
    try:
        mine, others = (
            _per_second(lambda n: gate.step(small_grey(moving[n % 4]), n * 33_000_000)),
            _per_second(lambda n: peer.apply(moving[n % 4])),
        )
    finally:
        cv2.setNumThreads(threads)
    return mine, others


def _per_second(step: Callable[[int], object]) -> float:
    """By the thread's own time, so that a busy machine does not change it."""
    took = []
    for n in range(FRAMES):
        begun_ns = time.thread_time_ns()
        step(n)
        took.append(time.thread_time_ns() - begun_ns)
    return 1e9 / float(np.median(took))


def _camera() -> Camera:
    return replace(eye_over(SIZE_MM), size_px=(1280, 720))


class _Watched:
    """A table with its watcher; what was told since the last verdict."""

    def __init__(self, gate: SettleGate) -> None:
        dice = Path(str(files("companion.demo") / "data" / "demo.dice.npz"))
        reader = SymbolReader([load_profile(dice)])
        self._watcher = Watcher("cam", reader, Marks(size_mm=SIZE_MM), gate=gate)
        self._tracker = RollTracker()
        self._rolls: list[Roll] = []
        self._clock = 0
        self._grain = np.random.default_rng(3).normal(0, 1.5, (720, 1280, 3)).astype(np.int8)

    def see(self, frame: Frame) -> None:
        self._clock += 1
        noisy = cv2.add(frame, np.roll(self._grain, 37 * self._clock, axis=0), dtype=cv2.CV_8U)
        seen_ns = self._clock * 10**9 // FPS
        for seen in self._watcher.step(np.asarray(noisy, np.uint8), seen_ns, 0, self._clock):
            if isinstance(seen, DiceRested) and isinstance(told := self._tracker.step(seen), Roll):
                self._rolls.append(told)
        if isinstance(late := self._tracker.due(seen_ns), Roll):
            self._rolls.append(late)

    def verdict(self, truth: list[str]) -> str:
        """``once``, ``twice``, ``wrong`` or ``never``."""
        rolls, self._rolls = self._rolls, []
        if len(rolls) != 1:
            return "twice" if rolls else "never"
        return "once" if sorted(str(die.value) for die in rolls[0].rolled) == truth else "wrong"


def _played(n: int) -> tuple[list[str], Iterator[Frame]]:
    """The values of the n-th roll, and its frames: dice fall from a hand, rest, and are taken up again; meanwhile a
    hand on the left edge is never still."""
    rng, camera = np.random.default_rng(n), _camera()
    places = rng.permutation([(210.0, 90.0), (270.0, 160.0), (340.0, 90.0), (390.0, 190.0), (300.0, 240.0)])[
        :4
    ]
    dice = tuple(
        Die(value=FACES[int(rng.integers(4))], owner="red", livery=livery("red"),
            xy_mm=(float(x + rng.uniform(-8, 8)), float(y + rng.uniform(-8, 8))), angle_deg=float(rng.uniform(0, 360)))
        for x, y in places
    )  # fmt: skip
    scene = Scene(size_mm=SIZE_MM, marks=Marks(size_mm=SIZE_MM), cloth="felt", seed=1)
    idle = [Hand(tip_mm=(70.0 + 9 * i, 250.0 - 5 * i)) for i in range(3)]

    def shown(lie: tuple[Die, ...], *more: Hand) -> list[Frame]:
        return [
            replace(scene, dice=lie, visitors=(hand, *more)).picture(camera, tick=i)
            for i, hand in enumerate(idle)
        ]

    def frames() -> Iterator[Frame]:
        for step in range(6):
            thrower = Hand(tip_mm=(460.0 - 30 * step, 140.0), from_deg=0.0)
            yield shown(dice[: step // 2], thrower)[step % 3]
        still, empty = shown(dice), shown(())
        yield from (still[i % 3] for i in range(30))
        for step in range(6):
            taker = Hand(tip_mm=(280.0 + 30 * step, 150.0), from_deg=0.0)
            yield shown(dice[: 3 - step // 2], taker)[step % 3]
        yield from (empty[i % 3] for i in range(24))

    return sorted(die.value for die in dice if isinstance(die.value, str)), frames()
