"""Fake pads in a process of their own: real ones take no turns with the threads of the host either.

The instants are `time.monotonic_ns`, which all processes of a machine share.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

import msgspec

from firmware_bridge.fake_device import PRESS_NS, FakePad

ROOT = Path(__file__).parents[1]


class Wanted(msgspec.Struct, frozen=True):
    """A pad: on a broker where `url` is given, else on a pseudo-terminal, under the name `path` where that is given."""

    device: str
    url: str = ""
    path: str = ""
    inputs: int = 1

    def made(self) -> FakePad:
        """Neither plugged in nor switched on yet."""
        if self.url:
            return FakePad.on_mqtt(self.url, self.device, inputs=self.inputs)
        return FakePad.on_pty(self.device, Path(self.path) if self.path else None, inputs=self.inputs)


class Press(msgspec.Struct, frozen=True):
    """Close an input of the pad in place `pad` at `at_ns`, now without it."""

    pad: int
    input: int
    at_ns: int | None = None
    hold_ns: int = PRESS_NS


class PadsApart:
    """Plugged in and switched on between enter and exit. Raises EOFError when the other process has ended."""

    def __init__(self, wanted: Sequence[Wanted]) -> None:
        self.wanted = tuple(wanted)
        self.ports: tuple[str, ...] = ()

    def __enter__(self) -> PadsApart:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.pads_apart", msgspec.json.encode(self.wanted).decode()],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.ports = msgspec.json.decode(self._answer(), type=tuple[str, ...])
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def press(self, press: Press) -> int:
        """When the input closed, or will close."""
        assert self._process.stdin is not None
        self._process.stdin.write(msgspec.json.encode(press) + b"\n")
        self._process.stdin.flush()
        return int(self._answer())

    def _answer(self) -> bytes:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise EOFError("the pads' process has ended")
        return line


def serve(wanted: Sequence[Wanted]) -> None:
    """Be the other process, until stdin ends."""
    with ExitStack() as stack:
        pads = [stack.enter_context(each.made()) for each in wanted]
        print(msgspec.json.encode([pad.port for pad in pads]).decode(), flush=True)
        for line in sys.stdin.buffer:
            press = msgspec.json.decode(line, type=Press)
            at_ns = time.monotonic_ns() if press.at_ns is None else press.at_ns
            pads[press.pad].press(press.input, press.at_ns, hold_ns=press.hold_ns)
            print(at_ns, flush=True)


if __name__ == "__main__":
    serve(msgspec.json.decode(sys.argv[1], type=tuple[Wanted, ...]))
