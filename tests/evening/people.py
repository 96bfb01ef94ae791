"""A referee at a real browser, for the simulated people of the demo."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Error, Page

from companion.catalogue import GAMES
from companion.core.codec import Codec
from companion.core.command import Command, Resume
from companion.core.event import Entry
from companion.core.game import refusal
from companion.core.history import effective
from companion.core.ruling import Ruling, breach
from companion.core.seat import REFEREE, Viewer
from companion.core.show import show
from companion.core.view import Action, View
from companion.runtime.journal import JournalError, Reader

GAME = GAMES["tada"]
PATIENCE_S = 30.0
NOT_OFFERED_S = 4.0


class BrowserHands:
    """`Hands` that click on the referee's page and read the journal beside its writer.

    `before_click(count)` is called before each click: the test kills and restarts the table there.
    """

    def __init__(self, page: Page, journal: Path, before_click: Callable[[int], None]) -> None:
        self._page, self._journal, self._before_click = page, journal, before_click
        self._codec = Codec(GAME)
        self._entries: list[Entry] = []
        self._sitting: Any = None
        self.clicks = 0

    def sitting(self) -> Any:
        """The table as its journal tells it."""
        try:
            with Reader(self._journal) as reader:
                new = [self._codec.entry(payload) for _, payload, _ in reader.rows(len(self._entries))]
        except JournalError:
            new = []
        if new:
            self._entries += new
            self._sitting = effective(GAME, self._entries)[1]
        return self._sitting

    def view(self, viewer: Viewer) -> View:
        """What that viewer is shown."""
        return show(GAME, self.sitting(), viewer)

    def now_ns(self) -> int:
        """Host time: the monotonic clock, as long as the machine was not started anew."""
        return time.monotonic_ns()

    def until(self, is_so: Callable[[], bool], seconds: float) -> bool:
        """Look again and again."""
        ends = time.monotonic() + seconds
        while not is_so() and time.monotonic() < ends:
            time.sleep(0.08)
        return is_so()

    def ask(self, command: Command, seat: str = "") -> Ruling | None:
        """Click what says this command, and wait for its entry in the journal.

        What the page has not offered for a while is refused: somebody or the camera was faster.
        """
        self._before_click(self.clicks)
        self.clicks += 1
        ends = offered = time.monotonic()
        while time.monotonic() < ends + PATIENCE_S:
            known = len(self._entries)
            if self.sitting().stopped_at_ns is not None and command != Resume():
                self._resume()  # the program was started anew meanwhile
                offered = time.monotonic()
                continue
            action = self._action(command)
            if action is None and time.monotonic() > offered + NOT_OFFERED_S:
                return breach("TABLE-3", f"the page does not offer {command}")
            if action is not None and self._click(action, command):
                self.until(lambda known=known: self._answer(command, known) is not None, 3.0)
                entry = self._answer(command, known)
                if entry is not None and not _is_stale(entry):
                    return refusal(entry.events)
            self.until(lambda: False, 0.2)
        raise AssertionError(f"the page never did {command}")

    def _resume(self) -> None:
        self._click(Action(id="resume", command=Resume(), label="", effect=""), Resume())
        self.until(lambda: self.sitting().stopped_at_ns is None, 3.0)

    def _action(self, command: Command) -> Action | None:
        view = self.view(REFEREE)
        offered = [*view.actions, *([view.primary] if view.primary else [])]
        offered += [a for p in view.open_proposals for a in (p.confirm, p.reject) if a]
        exact = next((a for a in offered if a.command == command), None)
        return exact or next((a for a in offered if _is_same_but_fields(a, command)), None)

    def _click(self, action: Action, command: Command) -> bool:
        """Whether the page had that action and it was clicked."""
        page = self._page
        try:
            page.wait_for_selector("[data-state=live]", timeout=8_000)
            page.wait_for_timeout(380)  # a button that has just changed its meaning does not act at once
            button = page.locator(f'[data-action="{action.id}"]').first
            if action.fields or action.is_grave:
                if not page.locator(f"#do-{action.id}").get_attribute("open"):
                    button.click(timeout=2_000)
                for field in action.fields:
                    value = getattr(command, field.name)
                    index = next(i for i, choice in enumerate(field.choices, 1) if choice.value == value)
                    page.locator(f"label:has(#{action.id}-{field.name}-{index})").click(timeout=2_000)
                page.locator(f"#yes-{action.id}").click(timeout=2_000)
            else:
                button.click(timeout=2_000)
        except Error:
            return False
        return True

    def _answer(self, command: Command, known: int) -> Entry | None:
        self.sitting()
        return next((e for e in self._entries[known:] if e.command == command), None)


def _is_same_but_fields(action: Action, command: Command) -> bool:
    if type(action.command) is not type(command) or not action.fields:
        return False
    open_ = {field.name for field in action.fields}
    names = [name for name in action.command.__struct_fields__ if name not in open_]  # type: ignore[attr-defined]  # every command is a struct
    return all(getattr(action.command, name) == getattr(command, name) for name in names)


def _is_stale(entry: Entry) -> bool:
    """The page was behind by an entry: a person would look and click again."""
    ruling = refusal(entry.events)
    return ruling is not None and ruling.rule == "TABLE-11"
