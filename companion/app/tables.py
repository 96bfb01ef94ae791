"""The command that counts a finished table of Tacta on photographs."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import click

from companion.app.drawing import Drawer
from companion.core.score import standings
from companion.games.tacta.deck import read
from companion.sight.tacta import dots
from vision.dots.drawn import drawn
from vision.dots.reading import DotsRead
from vision.frame import Unreadable, load

Row = dict[str, Any]


def most_dots() -> int:
    """How many dots a colour's whole deck carries. Rule: TACTA-2"""
    deck = read((files("companion.games.tacta") / "data" / "deck-a.json").read_text(encoding="utf-8"))
    return sum(card.value for card in deck.cards)


def score_tacta(images: Sequence[str], picture: Path | None, *, as_json: bool) -> int:
    """One line a photograph, and with several the totals; the exit status: 1 when one could not be read.

    Raises SettingsError when the picture cannot be drawn where it was asked for.
    """
    drawer = Drawer(picture, is_alone=len(images) == 1)
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
        drawer.save(Path(image).stem, partial(drawn, frame, found))
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
