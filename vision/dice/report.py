"""A reading told to people and programs: the JSON object, the line of text, the drawn picture."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import cv2

from companion.core.layout import Placed
from vision.dice.reading import Reading
from vision.frame import Frame, Unreadable, load
from vision.surface import Surface


class Reader(Protocol):
    """Anything that reads the dice of one picture."""

    def read(self, frame: Frame, surface: Surface | None = None, layouts: tuple[Placed, ...] = ()) -> Reading:
        """The dice in `frame`; `surface` and `layouts`: where the table is known."""


def read_file(path: str | Path, reader: Reader) -> dict[str, Any]:
    """The reading of the picture at `path` as a JSON object.

    `{"image": path as given, "dice": [{"kind", "value", "box_px", "confidence", "reason"}], "flags": [...],
    "ms"}`, where `ms` is the time for decoding and reading, or `{"image", "error": one line}` where it cannot
    be read.
    """
    begun_ns = time.perf_counter_ns()
    try:
        reading = reader.read(load(path))
    except Unreadable as error:
        return {"image": str(path), "error": str(error)}
    return as_json(str(path), reading, (time.perf_counter_ns() - begun_ns) / 1e6)


def as_json(image: str, reading: Reading, took_ms: float) -> dict[str, Any]:
    """The JSON object of `read_file` for a reading that is already there."""
    dice = [
        {
            "kind": die.kind,
            "value": die.value,
            "box_px": list(die.box_px),
            "confidence": die.confidence,
            "reason": die.reason,
        }
        for die in reading.dice
    ]
    return {"image": image, "dice": dice, "flags": list(reading.flags), "ms": round(took_ms, 1)}


def as_text(row: Mapping[str, Any]) -> str:
    """The line for people of an object of `read_file`: `NAME: 2 4 4 (one not read: cocked)`."""
    if "error" in row:
        return f"{row['image']}: {row['error']}"
    values = [str(die["value"]) for die in row["dice"] if die["value"] is not None]
    reasons = [die["reason"] for die in row["dice"] if die["value"] is None]
    told = " ".join(sorted(values)) if values else "no value read" if row["dice"] else "no dice"
    if reasons:
        count = _COUNTS.get(len(reasons), str(len(reasons)))
        told += f" ({count} not read: {', '.join(dict.fromkeys(_said(reason) for reason in reasons))})"
    notes = [_said(flag) for flag in row["flags"] if flag != "no_dice"]
    return f"{row['image']}: {told}" + (f" [{', '.join(notes)}]" if notes else "")


def draw(frame: Frame, reading: Reading) -> Frame:
    """A copy of `frame` (uint8 BGR) with each die's box, value and confidence; unread ones red, with why."""
    picture = frame.copy()
    unit = max(frame.shape[:2]) / 900
    thick = max(1, round(1.6 * unit))
    for die in reading.dice:
        x0, y0, x1, y1 = die.box_px
        is_read = die.value is not None
        colour = (60, 220, 60) if is_read else (50, 50, 240)
        text = f"{die.value} {die.confidence:.0%}" if is_read else _said(die.reason or "")
        cv2.rectangle(picture, (x0, y0), (x1, y1), colour, thick)
        at = (max(0, x0), max(round(14 * unit), y0 - thick - 2))
        for ink, width in (((0, 0, 0), thick * 3), (colour, thick)):
            cv2.putText(picture, text, at, cv2.FONT_HERSHEY_SIMPLEX, 0.5 * unit, ink, width, cv2.LINE_AA)
    if reading.flags:
        line = ", ".join(_said(flag) for flag in reading.flags)
        at = (round(8 * unit), frame.shape[0] - round(8 * unit))
        for ink, width in (((0, 0, 0), thick * 3), ((40, 200, 255), thick)):
            cv2.putText(picture, line, at, cv2.FONT_HERSHEY_SIMPLEX, 0.6 * unit, ink, width, cv2.LINE_AA)
    return picture


def save(path: Path, picture: Frame) -> None:
    """Writes a picture (uint8 BGR) as the kind that the name's ending says. Raises ValueError for no such kind,
    OSError when it cannot be written."""
    kinds = (".png", ".jpg", ".jpeg")
    if path.suffix.lower() not in kinds:
        raise ValueError(f"{path}: a picture's name ends in {', '.join(kinds)}")
    _, data = cv2.imencode(path.suffix.lower(), picture)
    path.write_bytes(data.tobytes())


_COUNTS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}


def _said(word: str) -> str:
    return word.replace("_", " ")
