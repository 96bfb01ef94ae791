"""Boards without boards, as pads on a pty: an AVR under simavr, MicroPython in WebAssembly."""

from __future__ import annotations

import os
import re
import subprocess
import tty
from functools import cache
from pathlib import Path
from types import TracebackType

from firmware_tools import (
    BOARDS,
    CORE,
    MICROPYTHON,
    STRICT,
    UNO,
    avr_build,
    folder,
    need,
    need_micropython,
    run,
)

FIRST_PIN = 2  # button 1, on an Uno and on a Pico
BOUNCES_US = (300, 420, 900, 1_150, 1_900, 2_050)
_PATIENCE_S = 40


@cache
def simulator() -> Path:
    """The runner of simavr, built for this computer."""
    need("gcc", "simavr")
    made = folder("simavr") / "sim_pad"
    run("gcc", "-O2", *STRICT, BOARDS / "sim_pad.c", "-o", made, "-lsimavr")
    return made


def contact(us: int, pin: int, *, is_closing: bool) -> list[tuple[int, int, int]]:
    """(us, pin, level) of a contact that closes or opens, and bounces."""
    level = int(not is_closing)
    return [(us, pin, level)] + [
        (us + after_us, pin, level ^ (k + 1) % 2) for k, after_us in enumerate(BOUNCES_US)
    ]


class Board:
    """A running board at the end of a pty. `port` is what the host opens. Use it as a context manager."""

    def __init__(self, *words: str | Path) -> None:
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.port = os.ttyname(self._slave)
        self._told = ""
        self._process = subprocess.Popen(
            [str(self._master) if word == "FD" else str(word) for word in words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, pass_fds=[self._master],
        )  # fmt: skip

    @classmethod
    def avr(cls) -> Board:
        """An Uno with six buttons; its id is ``pads``."""
        return cls(simulator(), avr_build(*UNO), "FD")

    @classmethod
    def micropython(cls) -> Board:
        """A Pico with six buttons; its id is ``wasm``."""
        names = "tada_board.py", "tada_main.py", "board_pico.py", "pad_settings.py"
        modules = [*CORE, *(MICROPYTHON / name for name in names), BOARDS / "wasm_board.py"]
        return cls("node", BOARDS / "wasm_pad.mjs", "FD", need_micropython(), *modules)

    def press(self, button: int, in_us: int, *, hold_us: int = 80_000) -> None:
        """Press a button so many us from now, with bounces, and let it go."""
        pin = FIRST_PIN + button
        edges = contact(in_us, pin, is_closing=True) + contact(in_us + hold_us, pin, is_closing=False)
        assert self._process.stdin is not None
        self._process.stdin.write("".join(f"p {us} {pin} {level}\n" for us, pin, level in edges))
        self._process.stdin.flush()

    def pressed_ns(self) -> list[tuple[int, int]]:
        """(host ns, button) of the first edge of each press, once it is switched off."""
        found: list[tuple[int, int]] = []
        for ns, pin, level in re.findall(r"^= (\d+) \d+ (\d+) (\d+)$", self._told, re.MULTILINE):
            button = int(pin) - FIRST_PIN
            last_ns = max((at_ns for at_ns, other in found if other == button), default=0)
            if level == "0" and int(ns) - last_ns > 200_000_000:
                found.append((int(ns), button))
        return found

    def lit_ns(self) -> list[int]:
        """Host ns at which an output went on, once it is switched off."""
        return [
            int(ns)
            for ns, level in re.findall(r"^~ (\d+) \d+ (\d+)$", self._told, re.MULTILINE)
            if level != "0"
        ]

    def __enter__(self) -> Board:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Switch it off."""
        try:
            self._told, _ = self._process.communicate(timeout=_PATIENCE_S)
        finally:
            self._process.kill()
            self._process.wait()
            os.close(self._master)
            os.close(self._slave)
