"""Rest and movement, told from small grey pictures with their own made-up clock."""

from __future__ import annotations

import numpy as np
import pytest

from vision.settle import SettleGate, small_grey

FRAME_NS = 33_000_000


class _Table:
    """A grey table with sensor noise on which things can be put."""

    def __init__(self, noise: float = 2.0) -> None:
        self._rng = np.random.default_rng(4)
        self._noise = noise
        self.grey = np.full((135, 240), 110.0)

    def put(self, x: int, y: int, level: float = 200.0, side: int = 8) -> None:
        self.grey[y : y + side, x : x + side] = level

    def frame(self, gain: float = 1.0, offset: float = 0.0) -> np.ndarray:
        noisy = self.grey * gain + offset + self._rng.normal(0, self._noise, self.grey.shape)
        return np.clip(noisy, 0, 255).astype(np.uint8)


def _run(gate: SettleGate, frames: list[np.ndarray], start: int = 0) -> list[str]:
    return [gate.step(frame, (start + i) * FRAME_NS).state for i, frame in enumerate(frames)]


@pytest.mark.parametrize("noise", [0.0, 2.0, 6.0])
def test_a_still_table_rests_after_a_while_and_stays_so(noise: float) -> None:
    table = _Table(noise)
    states = _run(SettleGate(), [table.frame() for _ in range(60)])
    assert states[0] == "moving"
    assert states.index("rested") == pytest.approx(10, abs=2)
    assert set(states[12:]) == {"rested"}


def test_a_die_put_down_stirs_the_table_which_then_rests_again() -> None:
    table, gate = _Table(), SettleGate()
    _run(gate, [table.frame() for _ in range(20)])
    table.put(100, 60)
    states = _run(gate, [table.frame() for _ in range(20)], 20)
    assert states[0] == "moving"
    assert states[-1] == "rested"


def test_a_moving_hand_never_rests() -> None:
    table, gate = _Table(), SettleGate()
    frames = []
    for i in range(40):
        table.put(20 + 4 * i, 40, side=30)
        frames.append(table.frame())
    assert set(_run(gate, frames)) == {"moving"}


def test_a_slow_slide_is_movement_although_no_frame_differs_much_from_the_one_before() -> None:
    gate, states = SettleGate(), []
    for i in range(120):
        table = _Table(0.5)
        table.grey[60:76, :] = np.clip(
            110 + 60 * np.exp(-(((np.arange(240) - 60 - i * 0.3) / 9) ** 2)), 0, 255
        )
        states.append(gate.step(table.frame(), i * FRAME_NS).state)
    assert states[30:].count("moving") > 8


def test_a_lamp_that_flickers_is_no_movement() -> None:
    table, gate = _Table(), SettleGate()
    frames = [table.frame(offset=8.0 * (i % 2)) for i in range(40)]
    assert _run(gate, frames)[-1] == "rested"


def test_only_the_watched_part_counts() -> None:
    table, gate = _Table(), SettleGate()
    where = np.zeros((135, 240), bool)
    where[:, :160] = True
    states = []
    for i in range(40):
        table.put(180 + i, 30, side=16)
        states.append(gate.step(table.frame(), i * FRAME_NS, where).state)
    assert states[-1] == "rested"


def test_another_picture_size_starts_anew() -> None:
    gate = SettleGate()
    _run(gate, [_Table().frame() for _ in range(20)])
    assert gate.step(np.full((180, 240), 110, np.uint8), 21 * FRAME_NS).state == "moving"


def test_small_grey_keeps_the_shape_and_takes_colour_or_grey() -> None:
    frame = np.random.default_rng(0).integers(0, 255, (720, 1280, 3)).astype(np.uint8)
    assert small_grey(frame).shape == (135, 240)
    assert small_grey(frame[..., 0]).shape == (135, 240)


def test_each_place_rests_for_itself() -> None:
    table, gate = _Table(), SettleGate()
    for i in range(40):
        table.put(8 + 8 * (i % 4), 100, level=60.0 + 40 * (i % 4), side=24)
        calm = gate.step(table.frame(), i * FRAME_NS)
    assert calm.state == "moving"
    assert calm.still[:8].all() and calm.still[:, 12:].all()
    assert not calm.still[12:16, 1:5].all()
    assert calm.stirred.any() and not (calm.stirred & calm.still).any()


def test_next_to_what_moves_nothing_is_called_still() -> None:
    table, gate = _Table(0.5), SettleGate()
    for i in range(40):
        table.put(80, 68, level=60.0 + 30 * (i % 4), side=6)
        calm = gate.step(table.frame(), i * FRAME_NS)
    assert not calm.still[7:10, 9:12].any()
    assert calm.still.sum() == calm.still.size - 9


def test_light_that_fades_for_long_is_no_movement_also_where_rest_began_later() -> None:
    table, gate, states = _Table(1.0), SettleGate(), []
    for i in range(400):
        if i == 100:
            table.put(100, 60)
        states.append(gate.step(table.frame(offset=-0.1 * i), i * FRAME_NS).state)
    assert set(states[120:]) == {"rested"}
