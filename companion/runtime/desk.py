"""What the rest of the house may ask of a running table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Protocol

import msgspec

from companion.core import command as c
from companion.core.codec import Codec
from companion.core.cue import Cue
from companion.core.event import Entry
from companion.core.game import Game, Sitting
from companion.core.observation import Observation
from companion.core.ruling import Ruling
from companion.core.seat import Actor, Viewer
from companion.core.view import View


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of an order. It is given only after the journal is durable.

    `version`: number of journal entries after it. `entry`: number of the entry that holds the answer.
    `ruling`: why it was refused, None when it was accepted.
    """

    key: str
    version: int
    entry: int | None
    is_accepted: bool
    ruling: Ruling | None = None


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """One immutable picture of the table.

    `version`: number of entries it stands on; `head`: hash of the last of them (hex). `sitting`: the durable
    state. `provisional`: the state with everything heard but not final yet; equal to `sitting` when nothing
    waits. `waiting_for`: silent devices that keep a verdict from being final. `fault`: why nothing can be
    written at present, one line, empty when all is well.
    """

    version: int
    head: str
    at_ns: int
    sitting: Sitting[Any]
    provisional: Sitting[Any]
    waiting_for: tuple[str, ...] = ()
    fault: str = ""


class Announcement(msgspec.Struct, frozen=True, kw_only=True):
    """A cue as it went out, numbered from 1; never the same text twice in a row to one target."""

    id: int
    cue: Cue


class Desk(Protocol):
    """One running table. All methods are safe from any thread; none blocks but `Future.result`."""

    @property
    def game(self) -> Game[Any]:
        """The game that is played."""

    @property
    def codec(self) -> Codec[Any]:
        """Its words."""

    def now_ns(self) -> int:
        """Host time."""

    def snapshot(self) -> Snapshot:
        """The newest picture of the table."""

    def view(self, viewer: Viewer) -> View:
        """What this viewer is shown now (of the provisional state, marked as such)."""

    def submit(
        self, command: c.Command, actor: Actor, key: str, expected: int | None = None
    ) -> Future[Answer]:
        """Order something at the present instant. A key that was answered before gets the same answer."""

    def observe(self, observation: Observation) -> None:
        """Hand in what an eye or a sensor says."""

    def preview(self, command: c.Command) -> tuple[int, ...]:
        """Entries that a correction would leave without effect (empty for any other command)."""

    def entries(self, after: int = 0) -> Sequence[Entry]:
        """Journal entries with a number above `after`, as they were written."""

    def announcements(self, after: int = 0) -> Sequence[Announcement]:
        """The announcements with an id above `after` that are still kept (at least the last 200)."""

    def subscribe(self, listener: Callable[[Snapshot], None]) -> Callable[[], None]:
        """Call `listener` (quickly, on the writer's thread) after each change; returns the way to stop it."""
