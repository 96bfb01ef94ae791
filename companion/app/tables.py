"""The command that counts a finished table of Tacta on photographs."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
import cv2
import numpy as np

from companion.app.settings import SettingsError
from companion.core.score import standings
from companion.games.tacta.deck import read
from companion.sight.tacta import dots
from vision.dots.reading import Dot, DotsRead
from vision.frame import Frame, Unreadable, load

Row = dict[str, Any]
INKS = {
    "red": (40, 40, 230), "orange": (30, 140, 255), "green": (60, 200, 60), "blue": (240, 120, 40),
    "purple": (200, 60, 140), "pink": (190, 90, 255),
}  # fmt: skip
"""In which each colour's dots are marked, BGR."""


def most_dots() -> int:
    """How many dots a colour's whole deck carries. Rule: TACTA-2"""
    deck = read((files("companion.games.tacta") / "data" / "deck-a.json").read_text(encoding="utf-8"))
    return sum(card.value for card in deck.cards)


def score_tacta(images: Sequence[str], picture: Path | None, *, as_json: bool) -> int:
    """One line a photograph, and with several the totals; the exit status: 1 when one could not be read.

    Raises SettingsError when the picture cannot be drawn where it was asked for.
    """
    if picture is not None and len(images) > 1:
        raise SettingsError(f"--picture {picture}: give one photograph with it")
    status, totals = 0, dict[str, int]()
    most = most_dots()
    for image in images:
        begun_ns = time.perf_counter_ns()
        try:
            frame = load(image)
            found = dots(frame)
        except Unreadable as error:
            status = 1
            click.echo(json.dumps({"image": image, "error": str(error)}) if as_json else f"{image}: {error}")
            continue
        row = _row(image, found, most, (time.perf_counter_ns() - begun_ns) / 1e6)
        for colour, count in row["scores"].items():
            totals[colour] = totals.get(colour, 0) + count
        click.echo(json.dumps(row) if as_json else _text(row))
        if picture is not None:
            _save(picture, drawn(frame, found))
    if len(images) > 1 and totals and not as_json:
        click.echo(f"total: {ranked(totals)}")
    return status


def _row(image: str, found: DotsRead, most: int, took_ms: float) -> Row:
    scores = found.counts()
    flags = [*found.flags, *(f"too_many_{colour}" for colour, count in scores.items() if count > most)]
    return {
        "image": image,
        "scores": scores,
        "dots": [
            {"colour": dot.colour, "xy_px": list(dot.xy_px), "confidence": dot.confidence}
            for dot in found.dots
        ],
        "flags": flags,
        "ms": round(took_ms, 1),
    }


def ranked(scores: dict[str, int]) -> str:
    """Places and dots in words; equal scores share a place. Rule: TACTA-14"""
    told = []
    for row in standings(scores):
        shared = " (shared)" if row.shared else ""
        told.append(f"{row.place}. {row.seat} {row.score}{shared}")
    return ", ".join(told)


def _text(row: Row) -> str:
    flags = f" ({', '.join(flag.replace('_', ' ') for flag in row['flags'])})" if row["flags"] else ""
    return f"{row['image']}: {ranked(row['scores']) or 'no dots'}{flags}"


def drawn(frame: Frame, found: DotsRead) -> Frame:
    """A copy of `frame` (uint8 BGR) with a ring around each dot in its colour; doubtful ones are crossed."""
    picture = np.ascontiguousarray(frame)
    for dot in found.dots:
        _mark(picture, dot)
    return picture


def _mark(picture: Frame, dot: Dot) -> None:
    x, y = (round(value) for value in dot.xy_px)
    reach = max(5, round(dot.radius_px * 1.7))
    cv2.circle(picture, (x, y), reach, (255, 255, 255), 4, cv2.LINE_AA)
    cv2.circle(picture, (x, y), reach, INKS[dot.colour], 2, cv2.LINE_AA)
    if dot.confidence < 0.5:
        cv2.line(picture, (x - reach, y - reach), (x + reach, y + reach), (255, 255, 255), 2, cv2.LINE_AA)


def _save(path: Path, picture: Frame) -> None:
    try:
        is_written = cv2.imwrite(str(path), picture)
    except cv2.error:
        is_written = False
    if not is_written:
        raise SettingsError(
            f"--picture {path}: cannot be written; name a .png or .jpg in a folder that is there"
        )
