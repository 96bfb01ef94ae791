"""The arithmetic of the dice benchmark: what counts as exact, wrong, abstained, met."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import dice
from benchmarks.dice_photographs import Options, Tally, blobs, expected_error, figures_of
from benchmarks.figures import Figure, report, wilson

TRUTH = [{"value": 2, "box_px": [0, 0, 20, 20]}, {"value": 5, "box_px": [100, 0, 120, 20]}]


@pytest.mark.parametrize(
    ("said", "verdict", "right"),
    [
        ([(2, (10, 10), 0.9), (5, (110, 10), 0.9)], "exact", 2),
        ([(2, (10, 10), 0.9), (None, (110, 10), 0.4)], "abstained", 1),
        ([(2, (10, 10), 0.9), (4, (110, 10), 0.9)], "wrong", 1),
        ([(2, (10, 10), 0.9)], "wrong", 1),  # a die missing without a word
        ([(3, (10, 10), 0.9), (None, (110, 10), 0.4)], "wrong", 0),
        ([(2, (10, 10), 0.9), (5, (110, 10), 0.9), (None, (60, 60), 0.3)], "abstained", 2),
        ([(5, (10, 10), 0.9), (2, (110, 10), 0.9)], "exact", 0),  # values right, places not
        ([], "wrong", 0),
    ],
)
def test_each_roll_is_exact_wrong_or_abstained(said: list, verdict: str, right: int) -> None:
    tally = Tally()
    assert tally.add(TRUTH, said, 5.0) == verdict
    assert tally.right == right
    assert tally.recall == right / 2
    assert sum(tally.share(v) for v in ("exact", "wrong", "abstained")) == pytest.approx(100)


def test_a_rate_is_met_when_its_interval_is_near_the_target() -> None:
    low, high = wilson(0.9, 100)
    assert (low, high) == (pytest.approx(0.8256, abs=1e-3), pytest.approx(0.9448, abs=1e-3))
    assert Figure("a", 97.0, "%", ">=", 95.0, n=2000, is_rate=True).is_met
    assert not Figure("a", 97.0, "%", ">=", 97.0, n=50, is_rate=True).is_met
    assert Figure("a", 1.0, "%", "<=", 1.0, n=2000, is_rate=True).is_met
    assert not Figure("a", None, "%", ">=", 0.0, why="not measured").is_met
    assert Figure("ms", 119.0, "ms", "<=", 120.0).is_met


def test_a_perfectly_calibrated_reader_has_no_expected_error() -> None:
    sure = [(0.75, i % 4 != 0) for i in range(400)]
    assert expected_error(sure) == pytest.approx(0.0)
    assert expected_error([(0.95, False)] * 10) == pytest.approx(0.95)


def test_the_last_line_is_one_object_with_every_figure(capsys: pytest.CaptureFixture[str]) -> None:
    figures = figures_of({})
    report(figures, only_json=True)
    rows = json.loads(capsys.readouterr().out.strip().splitlines()[-1])["figures"]
    assert [row["name"] for row in rows] == [figure.name for figure in figures]
    assert all(row["value"] is None and not row["met"] and row["why"] for row in rows)
    assert {"name", "value", "unit", "op", "target", "met", "n", "ci95", "peer", "why"} == set(rows[0])


def test_the_peer_counts_round_blobs() -> None:
    frame = np.full((200, 300, 3), 235, np.uint8)
    yy, xx = np.mgrid[0:200, 0:300]
    for x, y in ((60, 60), (84, 84), (200, 120), (224, 120), (200, 144), (224, 144)):
        frame[np.hypot(xx - x, yy - y) < 7] = 20
    assert sorted(value for value, _, _ in blobs(frame)) == [2, 4]


def test_every_wanted_figure_is_listed_whatever_was_asked_for(tmp_path: Path) -> None:
    names = {row[0] for rows in dice.WANTED.values() for row in rows} | {f.name for f in figures_of({})}
    asked = dice.measured(["photographs"], Options(folder=tmp_path))
    assert names <= {figure.name for figure in asked}
    assert names == {figure.name for figure in dice.measured([], Options())}
    assert all(figure.value is None and figure.why for figure in asked)
