"""A reading or a roll told to people and programs: the JSON object and the line of text."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2

from companion.core.observation import DieSeen
from vision.dice.numerals_conventions import percents
from vision.dice.reader import Reader, Reading
from vision.dice.rolls import Lifted, Roll
from vision.frame import Frame, Unreadable, load


@dataclass(frozen=True)
class Looked:
    """One picture file looked at: the JSON object that tells it, and, where it could be read, what it rests on."""

    row: dict[str, Any]
    frame: Frame | None = None
    reading: Reading | None = None


def look_at(path: str | Path, reader: Reader) -> Looked:
    """The picture at `path` read.

    Its row is `{"image": path as given, "dice": [{"kind", "value", "box_px", "confidence", "reason"}], "flags": [...],
    "ms"}`, where `ms` is the time for decoding and reading, or `{"image", "error": one line}` where it cannot
    be read. A die that is somebody's has an `owner` too. With a d10 for each d100 there is also `percents`, what each
    pair counts together.
    """
    begun_ns = time.perf_counter_ns()
    try:
        frame = load(path)
        reading = reader.read(frame)
    except Unreadable as error:
        return Looked({"image": str(path), "error": str(error)})
    except (cv2.error, MemoryError):
        return Looked(
            {"image": str(path), "error": "the picture is too much for this machine: make it smaller first"}
        )
    return Looked(as_json(str(path), reading, (time.perf_counter_ns() - begun_ns) / 1e6), frame, reading)


def as_json(image: str, reading: Reading, took_ms: float) -> dict[str, Any]:
    """The row of `look_at` for a reading that is already there."""
    return {
        "image": image,
        "dice": [_die_json(die) | ({"owner": die.owner} if die.owner else {}) for die in reading.dice],
        "flags": list(reading.flags),
        "ms": round(took_ms, 1),
        **_percents_json(reading.dice),
    }


def _percents_json(dice: Sequence[DieSeen]) -> dict[str, Any]:
    together = percents(dice)
    return {"percents": list(together)} if together else {}


def _die_json(die: DieSeen) -> dict[str, Any]:
    return {
        "kind": die.kind,
        "value": die.value,
        "box_px": list(die.box_px),
        "confidence": die.confidence,
        "reason": die.reason,
    }


def roll_json(source: str, roll: Roll, begun_ns: int) -> dict[str, Any]:
    """A roll as a JSON object.

    `{"source": as given, "t_ms": since `begun_ns`, "roll": its number, "dice": [...], "left": [...], "flags": [...]}`.
    Each die is as in `look_at`, with `xy_mm` (null where no markers tell places), `owner`, and `is_new` (false for
    one that lies where it lay before). `left`: the dice of before that were taken away or rolled again. `percents` as
    in `look_at`, of the dice that were rolled.
    """
    dice = [(die, True) for die in roll.rolled] + [(die, False) for die in (*roll.kept, *roll.moving)]
    return {
        "source": source,
        "t_ms": round((roll.t_ns - begun_ns) / 1e6),
        "roll": roll.n,
        "dice": [{**_placed_json(die), "is_new": is_new} for die, is_new in dice],
        "left": [_placed_json(die) for die in roll.left],
        "flags": list(roll.flags),
        **_percents_json(roll.rolled),
    }


def _placed_json(die: DieSeen) -> dict[str, Any]:
    xy_mm = None if die.xy_mm is None else [round(value, 1) for value in die.xy_mm]
    return {**_die_json(die), "confidence": round(die.confidence, 3), "xy_mm": xy_mm, "owner": die.owner}


def roll_text(row: Mapping[str, Any]) -> str:
    """The line for people of an object of `roll_json`: `film.mp4 at 12.3 s, roll 2: 2 4 (beside 5; 1 taken up)`."""
    if "error" in row:
        return f"{row['source']}: {row['error']}"
    told = _values([die for die in row["dice"] if die["is_new"] or die["reason"] == "moving"]) + _together(
        row
    )
    kept = [str(die["value"]) for die in row["dice"] if not die["is_new"] and die["value"] is not None]
    beside = [f"beside {' '.join(sorted(kept))}"] if kept else []
    if row["left"]:
        beside.append(f"{len(row['left'])} taken up")
    notes = _notes(row["flags"])
    more = f" ({'; '.join(beside)})" if beside else ""
    return f"{row['source']} at {row['t_ms'] / 1000:.1f} s, roll {row['roll']}: {told}{more}{notes}"


def lifted_text(source: str, lifted: Lifted, begun_ns: int) -> str:
    """The line for people that says which dice are not there any more."""
    values = " ".join(sorted(str(die.value) for die in lifted.left if die.value is not None)) or "not read"
    count, at_s = len(lifted.left), (lifted.t_ns - begun_ns) / 1e9
    was = "die was" if count == 1 else "dice were"
    return f"{source} at {at_s:.1f} s: {count} {was} taken up ({values}), {len(lifted.lying)} left lying"


def as_text(row: Mapping[str, Any]) -> str:
    """The line for people of a row of `look_at`: `NAME: 2 4 4 (one not read: cocked)`."""
    if "error" in row:
        return f"{row['image']}: {row['error']}"
    return f"{row['image']}: {_values(row['dice'])}{_together(row)}{_notes(row['flags'])}"


def _together(row: Mapping[str, Any]) -> str:
    return f" (percent: {' '.join(map(str, row['percents']))})" if "percents" in row else ""


def _values(dice: Sequence[Mapping[str, Any]]) -> str:
    values = [str(die["value"]) for die in dice if die["value"] is not None]
    reasons = [die["reason"] for die in dice if die["value"] is None]
    told = " ".join(sorted(values)) if values else "no value read" if dice else "no dice"
    if reasons:
        count = _COUNTS.get(len(reasons), str(len(reasons)))
        told += f" ({count} not read: {', '.join(dict.fromkeys(said(reason) for reason in reasons))})"
    return told


def _notes(flags: Sequence[str]) -> str:
    notes = [said(flag) for flag in flags if flag != "no_dice"]
    return f" [{', '.join(notes)}]" if notes else ""


_COUNTS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}


def said(word: str) -> str:
    """A reason or a flag in words."""
    return word.replace("_", " ")
