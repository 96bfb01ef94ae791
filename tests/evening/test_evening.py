"""A whole evening: six seats to six spells, pads on a line and on mosquitto, a rendered camera, a real browser,
the program killed twice in the middle; then the journal must lead to the state that lived."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path

import pytest
from brokers import MOSQUITTO, mosquitto
from people import BrowserHands
from playwright.sync_api import Page, sync_playwright

from companion.catalogue import GAMES
from companion.demo.director import Director
from companion.demo.pads import press_of, radio_pads, seats_of, wired_pads
from companion.demo.stage import Stage
from companion.runtime.journal import verify
from companion.runtime.replay import replay
from companion.sight.tada import card_poses
from vision.feed import Feed

SIZE_MM = (480.0, 320.0)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
SEED = 41
"""A short game: one player casts a spell in every round."""
KILLS = (14, 44)
"""Before which clicks of the referee the program is killed."""


class Program:
    """`companion run` as a process of its own, killed and started again under the same port."""

    def __init__(self, folder: Path, arguments: list[str]) -> None:
        self.journal, self._log = folder / "evening.sqlite", folder / "out.txt"
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = int(probe.getsockname()[1])
        command = [sys.executable, "-m", "companion", "run", "--journal", str(self.journal)]
        self._command = [*command, "--port", str(self.port), *arguments]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns when its pages are served."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)
        ends = time.monotonic() + 60
        while time.monotonic() < ends:
            assert self._process.poll() is None, self.printed()
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 0.5).close()
                if "Journal" in self.printed():
                    return
            time.sleep(0.1)
        raise AssertionError(f"no pages after 60 s: {self.printed()}")

    def kill(self) -> None:
        """As if the plug were pulled."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """Politely; it says its state."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(40)

    def printed(self) -> str:
        """All that it has printed."""
        return self._log.read_text(encoding="utf-8") if self._log.exists() else ""


@contextlib.contextmanager
def referee(program: Program) -> Iterator[Page]:
    """A browser that has come in by the one-time code. Errors of the page's scripts fail the test."""
    code = re.search(r"Code\s+(\S+)", program.printed())
    assert code is not None, program.printed()
    errors: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"http://127.0.0.1:{program.port}/")
        page.fill("input[name=code]", code[1])
        page.keyboard.press("Enter")
        page.wait_for_selector("#primary")
        yield page
        browser.close()
    assert not errors


@pytest.mark.timeout(900)
@pytest.mark.skipif(CHROMIUM is None, reason="NOT RUN: chromium is missing; apt-get install chromium")
@pytest.mark.skipif(MOSQUITTO is None, reason="NOT RUN: mosquitto is missing; apt-get install mosquitto")
@pytest.mark.skipif(os.name != "posix", reason="NOT RUN: a pseudo-terminal needs POSIX")
def test_a_whole_evening(tmp_path: Path) -> None:
    """Six seats, a full game, two kills; the journal refolds to the state that lived."""
    seats = seats_of(6)
    with contextlib.ExitStack() as stack:
        broker = stack.enter_context(mosquitto(tmp_path))
        pads = {pad.id: stack.enter_context(pad) for pad in wired_pads(seats)}
        feed = Feed()
        stack.callback(feed.close)
        stage = Stage(feed, SIZE_MM, SEED)
        stage.start()
        stack.callback(stage.stop)
        profile = stack.enter_context(as_file(files("companion.demo") / "data" / "demo.dice.npz"))
        arguments = ["--mqtt", broker.url, "--camera", feed.source, "--profile", str(profile)]
        arguments += ["--table-mm", "480,320", "--rule", "countdown_s=1", "--seed", str(SEED)]
        for pad in pads.values():
            arguments += ["--serial", pad.port]
        for seat in seats:
            arguments += ["--seat", f"{seat.name}={seat.device}:{seat.input + 1}"]
        program = Program(tmp_path, arguments)
        program.start()
        stack.callback(program.stop)
        pads |= {pad.id: stack.enter_context(pad) for pad in radio_pads(seats, broker.url)}
        page = stack.enter_context(referee(program))
        killed = []

        def before_click(count: int) -> None:
            if len(killed) < len(KILLS) and count >= KILLS[len(killed)]:
                killed.append(count)
                program.kill()
                program.start()

        hands = BrowserHands(page, program.journal, before_click)
        poses = dict(zip((seat.id for seat in seats), card_poses(6, SIZE_MM), strict=True))
        presses = {seat.id: press_of(pads[seat.device], seat.input, 0) for seat in seats}
        Director(hands, stage, presses, poses, seed=SEED, speed=50).play()

        over = hands.sitting()
        assert len(killed) == len(KILLS)
        assert max(len(spells) for spells in over.game.scored.values()) == 6
        page.get_by_text(re.compile("(wins|share) the game")).first.wait_for()
        program.stop()

    again = replay(program.journal, GAMES)
    lived = re.search(r"State\s+(\w+)", program.printed())
    assert lived is not None and again.state_hash == lived[1]
    assert verify(program.journal, again.head).ok
    sources = {seen.source for line in again.lines for seen in line.entry.seen}
    assert {seat.device for seat in seats} <= sources
    assert "camera" in sources
    camera_locks = [
        line for line in again.lines if line.entry.seen and type(line.entry.command).__name__ == "LockDie"
    ]
    assert len(camera_locks) > 20
