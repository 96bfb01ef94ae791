"""Waiting for a person to end the program."""

from __future__ import annotations

import signal
import threading


def wait_for_stop() -> None:
    """Until Ctrl-C or a polite kill."""
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    stopped.wait()
