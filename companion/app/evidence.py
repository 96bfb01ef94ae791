"""Pictures around a slam: asked of the camera, kept beside the journal, shown to whom the pages let."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Sequence

from companion.core.clock import S, Stamp
from companion.core.event import Entry
from companion.runtime.evidence import EvidenceError, EvidenceStore
from vision.camera import CameraChild
from web_ui.health import Picture

BEFORE_NS, AFTER_NS = 8 * S, 4 * S
LINGER_NS = 5 * S
"""A card that was shown may still lie before the camera for so long."""
SWEEP_S = 600.0
CAMERA = "table"
_log = logging.getLogger(__name__)


def slam_ns(entry: Entry) -> int | None:
    """Host instant of what an entry stamped (a slam), None when it stamped nothing."""
    stamps = (getattr(event, "stamp", None) for event in entry.events)
    return next((stamp.at_ns for stamp in stamps if isinstance(stamp, Stamp)), None)


class EvidenceKeeper:
    """Keeps the frames from 8 s before to 4 s after each slam. One thread; entries never wait for it.

    `ahead_ns`: how far host time is ahead of the camera's clock.
    """

    def __init__(self, store: EvidenceStore, camera: CameraChild | None, ahead_ns: int) -> None:
        """Starts nothing; see `start`."""
        self._store, self._camera, self._ahead_ns = store, camera, ahead_ns
        self._wanted: queue.Queue[tuple[int, int] | None] = queue.Queue(200)
        self._at: dict[int, int] = {}
        self._shaded: list[tuple[int, int | None]] = []
        self._thread = threading.Thread(target=self._run, name="evidence", daemon=True)

    def start(self) -> None:
        """Begin to keep and to delete what is past its time."""
        self._thread.start()

    def stop(self) -> None:
        """End; clips that are still waited for are given up."""
        self._wanted.put(None)
        self._thread.join(12.0)

    def shade(self, is_private: bool, now_ns: int) -> None:
        """From this instant on something is shown, or is not shown any more, that not everybody may see.

        Of that time, and of LINGER_NS after it, no picture is kept or shown.
        """
        since_ns, until_ns = self._shaded[-1] if self._shaded else (0, 0)
        if is_private and until_ns is not None:
            self._shaded.append((now_ns, None))
        elif not is_private and until_ns is None:
            self._shaded[-1] = (since_ns, now_ns + LINGER_NS)

    def _is_shaded(self, at_ns: int) -> bool:
        return any(
            since_ns <= at_ns and (until_ns is None or at_ns <= until_ns)
            for since_ns, until_ns in self._shaded
        )

    def note(self, entry: Entry) -> None:
        """Called for each new entry; never waits."""
        at_ns = slam_ns(entry)
        if at_ns is None:
            return
        self._at[entry.n] = at_ns
        try:
            self._wanted.put_nowait((entry.n, at_ns))
        except queue.Full:
            _log.warning("entry %d: too many slams at once, no pictures are kept of it", entry.n)

    def pictures(self, entry: int) -> Sequence[Picture]:
        """The pictures kept for an entry, in order of time."""
        kept = self._store.of(entry).pictures
        zero = self._at.get(entry, kept[len(kept) // 2].at_ns if kept else 0)
        return tuple(
            Picture(id=p.name.removesuffix(".jpg"), camera=CAMERA, offset_ms=(p.at_ns - zero) // 1_000_000)
            for p in kept
        )

    def picture(self, entry: int, id: str) -> bytes | None:
        """One of them as JPEG."""
        try:
            owner, jpeg = self._store.read(f"{id}.jpg")
        except EvidenceError:
            return None
        return jpeg if owner == entry else None

    def camera(self, name: str) -> bytes | None:
        """The newest frame as JPEG."""
        if name != CAMERA or self._camera is None:
            return None
        still = self._camera.still()
        if still is None or self._is_shaded(still[0] + self._ahead_ns):
            return None
        return still[1]

    def _run(self) -> None:
        while True:
            try:
                wanted = self._wanted.get(timeout=SWEEP_S)
            except queue.Empty:
                self._store.sweep()
                continue
            if wanted is None:
                return
            self._keep(*wanted)

    def _keep(self, entry: int, at_ns: int) -> None:
        camera_ns = at_ns - self._ahead_ns
        try:
            if self._camera is None:
                self._store.note_none(entry, "No camera looks at this table.")
                return
            left_s = (camera_ns + AFTER_NS - time.monotonic_ns()) / 1e9
            taken = self._camera.clip(camera_ns - BEFORE_NS, camera_ns + AFTER_NS, max(2.0, left_s + 2.0))
            frames = [(at, jpeg) for at, jpeg in taken if not self._is_shaded(at + self._ahead_ns)]
            if frames:
                self._store.put(entry, [(at + self._ahead_ns, jpeg) for at, jpeg in frames])
            else:
                self._store.note_none(entry, "The camera gave no picture of that moment.")
        except EvidenceError as error:
            _log.error("%s", error)
