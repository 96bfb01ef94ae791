"""How the disk keeps up, whatever else is on it at the moment."""

from __future__ import annotations

import json
import time
from pathlib import Path

from companion.runtime.journal import Journal


def sync_times_ms(folder: Path, seconds: float) -> list[float]:
    """How long one entry of 500 bytes takes to become durable, once after the other."""
    journal, taken, ends = Journal(folder / "sync.journal"), [], time.perf_counter() + seconds
    while time.perf_counter() < ends:
        payload = json.dumps({"n": journal.events + 1, "text": "x" * 480}).encode()
        began = time.perf_counter()
        journal.append([payload])
        taken.append((time.perf_counter() - began) * 1e3)
    journal.close()
    return taken
