"""read-dice on films, folders, cameras and odd files, by the command itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from companion.app import cli
from vision.encoding import save
from vision.feed import Feed

SIZE = (360, 480)
FPS = 30
PIPS = {
    1: [(0, 0)],
    2: [(-1, -1), (1, 1)],
    4: [(-1, -1), (1, 1), (-1, 1), (1, -1)],
    5: [(-1, -1), (1, 1), (-1, 1), (1, -1), (0, 0)],
}
Dice = list[tuple[int, tuple[int, int]]]


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[dict[str, Any]], str]:
    """(status, JSON rows, standard error) of ``companion read-dice --json WORDS``."""
    with pytest.raises(SystemExit) as ended:
        cli.main(["read-dice", "--json", *words])
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), [json.loads(line) for line in out.splitlines()], err


def picture(dice: Dice, hand: tuple[int, int] | None = None) -> np.ndarray:
    """White dice of 56 px on green felt, and an arm that ends at `hand`."""
    frame = np.full((*SIZE, 3), (70, 110, 60), np.uint8)
    frame[::2, ::3] += 4
    for value, (x, y) in dice:
        cv2.rectangle(frame, (x - 28, y - 28), (x + 28, y + 28), (232, 238, 238), -1)
        for u, v in PIPS[value]:
            cv2.circle(frame, (x + 15 * u, y + 15 * v), 5, (25, 25, 25), -1, cv2.LINE_AA)
    if hand is not None:
        cv2.line(frame, (hand[0], SIZE[0]), hand, (120, 150, 200), 46)
    return frame


def play() -> Iterator[np.ndarray]:
    """Two dice are thrown, one of them is taken up and thrown again; the arm comes in between."""
    first: Dice = [(4, (120, 120)), (2, (330, 140))]
    second: Dice = [(5, (200, 230)), (2, (330, 140))]
    for dice, after in ((first, second), (second, second)):
        for _ in range(22):
            yield picture(dice)
        for i in range(12 if dice is first else 0):
            yield picture(dice if i < 6 else after[1:], (40 + 20 * i, 200 - 4 * i))


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The frames of the play, one picture each, and one file that is no picture."""
    folder = tmp_path_factory.mktemp("frames")
    for n, frame in enumerate(play()):
        save(folder / f"f{n:03}.png", frame)
    (folder / "f005.png").write_text("no picture")
    return folder


def check_rolls(rows: list[dict[str, Any]], source: str) -> None:
    first, second = rows
    assert [row["roll"] for row in rows] == [1, 2]
    assert [row["source"] for row in rows] == [source] * 2
    assert sorted(die["value"] for die in first["dice"]) == [2, 4]
    assert all(die["is_new"] and die["xy_mm"] is None and die["owner"] == "" for die in first["dice"])
    assert {die["value"]: die["is_new"] for die in second["dice"]} == {5: True, 2: False}
    assert [die["value"] for die in second["left"]] == [4]
    assert all(set(die) >= {"kind", "value", "box_px", "confidence", "reason"} for die in second["dice"])


def test_a_film_is_told_roll_by_roll(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    film, drawn = tmp_path / "play.avi", tmp_path / "drawn"
    writer = cv2.VideoWriter(str(film), cv2.VideoWriter.fourcc(*"MJPG"), FPS, SIZE[::-1])
    for frame in play():
        writer.write(frame)
    writer.release()
    status, rows, err = run(capsys, str(film), "--picture", str(drawn))
    assert status == 0, err
    check_rolls(rows, str(film))
    assert [row["t_ms"] for row in rows] == sorted(row["t_ms"] for row in rows)
    assert 200 <= rows[0]["t_ms"] <= 600 and 1300 <= rows[1]["t_ms"] <= 1800
    assert sorted(path.name for path in drawn.iterdir()) == ["play-roll-1.png", "play-roll-2.png"]


def test_a_folder_of_frames_is_a_film_where_that_is_said(
    frames: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, rows, _ = run(capsys, str(frames), "--frames", str(FPS))
    assert status == 1, "one frame could not be read"
    assert [Path(row["image"]).name for row in rows if "error" in row] == ["f005.png"]
    check_rolls([row for row in rows if "error" not in row], str(frames))


def test_pictures_of_a_folder_are_rolls_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, dice in (("a", [(1, (200, 150))]), ("b", [(5, (200, 150))])):
        save(tmp_path / f"{name}.png", picture(dice))
        (tmp_path / "other").mkdir(exist_ok=True)
        save(tmp_path / "other" / f"{name}.png", picture(dice))
    drawn = tmp_path / "drawn"
    status, rows, _ = run(capsys, str(tmp_path), str(tmp_path / "other" / "a.png"), "--picture", str(drawn))
    assert status == 0
    assert [[die["value"] for die in row["dice"]] for row in rows] == [[1], [5], [1]]
    assert [(row.get("source"), row.get("roll")) for row in rows] == [
        (str(tmp_path), 1),
        (str(tmp_path), 2),
        (None, None),
    ]
    assert sorted(path.name for path in drawn.iterdir()) == ["a-2.png", "a.png", "b.png"], (
        "none is written over"
    )


def test_a_camera_is_told_roll_by_roll_until_it_is_gone(tmp_path: Path) -> None:
    """By the program itself, whose camera is fed from here."""
    feed = Feed()
    words = [sys.executable, "-m", "companion", "read-dice", "--json", feed.source]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        dice: Dice = [(4, (120, 120)), (2, (330, 140))]
        still = picture(dice)
        ended = threading.Event()

        def push() -> None:
            while not ended.wait(1 / FPS):
                feed.push(still)

        pusher = threading.Thread(target=push)
        pusher.start()
        assert program.stdout is not None and program.stderr is not None
        row = json.loads(program.stdout.readline())
        ended.set()
        pusher.join()
        feed.close()
        (last,) = program.stdout.read().splitlines()
        assert program.wait(20) == 1
    assert sorted(die["value"] for die in row["dice"]) == [2, 4]
    assert json.loads(last)["source"] == feed.source and "camera" in json.loads(last)["error"]


def test_odd_files_are_one_line_each_and_the_others_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = tmp_path / "good.png"
    save(good, picture([(4, (120, 120))]))
    whole = good.read_bytes()
    odd = {
        "empty.jpg": b"",
        "cut.png": whole[: len(whole) // 2],
        "note.jpg": b"not a picture",
        "phone.heic": b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(64),
        "cat.gif": b"GIF89a" + bytes(64),
        "text.mp4": b"no film",
        "damaged.mov": b"\0\0\0\x18ftypqt  " + bytes(64),
        "damaged.avi": b"RIFF\0\0\0\0AVI " + bytes(64),
    }
    for name, data in odd.items():
        (tmp_path / name).write_bytes(data)
    os.mkfifo(tmp_path / "pipe.jpg")
    (tmp_path / "empty").mkdir()
    names = [*odd, "pipe.jpg", "empty", "gone.jpg", "gone.mp4", "/dev/null", "http://127.0.0.1:9/"]
    paths = [name if name.startswith(("/", "http")) else str(tmp_path / name) for name in names]
    status, rows, err = run(capsys, *paths, str(good))
    assert status == 1
    assert err == "", "what goes wrong stands in its row"
    assert [row.get("image") or row["source"] for row in rows] == [*paths, str(good)]
    told = {name: row["error"] for name, row in zip(names, rows, strict=False)}
    assert all("\n" not in text and ":" in text for text in told.values())
    assert "HEIC" in told["phone.heic"] and "GIF" in told["cat.gif"]
    assert "film" in told["text.mp4"] and "film" in told["damaged.mov"] and "film" in told["damaged.avi"]
    assert [die["value"] for die in rows[-1]["dice"]] == [4]


@pytest.mark.parametrize(
    ("words", "named"),
    [(["--picture", "out.txt"], ".png"), (["--frames", "0"], "frames a second"), (["--kind", "../x"], "no name"),
     (["--empty", "gone.png"], "gone.png")],
)  # fmt: skip
def test_what_cannot_be_done_is_said_before_anything_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], named: str
) -> None:
    save(tmp_path / "a.png", picture([]))
    status, rows, err = run(capsys, str(tmp_path / "a.png"), *words)
    assert (status, rows) == (2, [])
    assert named in err and err.count("\n") == 1
