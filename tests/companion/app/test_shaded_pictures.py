"""No picture is kept or shown of the time in which a card is shown that not everybody may see."""

from __future__ import annotations

import threading
from pathlib import Path

from companion.app.evidence import LINGER_NS, EvidenceKeeper
from companion.core.clock import S, Stamp
from companion.core.event import Entry
from companion.core.seat import Actor, Role
from companion.games.tada.events import Slammed
from companion.runtime.evidence import EvidenceStore
from vision.camera import CameraChild

JPEG = b"\xff\xd8\xff\xe0picture\xff\xd9"
AHEAD_NS = 100 * S


class Camera(CameraChild):
    """A camera whose clip is one frame a second, by its own clock, and whose newest frame is of `now_ns`."""

    def __init__(self) -> None:
        self.now_ns = 0

    def clip(self, from_ns: int, to_ns: int, timeout_s: float = 8.0) -> list[tuple[int, bytes]]:
        return [(at, JPEG) for at in range(-(-from_ns // S) * S, to_ns + 1, S)]

    def still(self, max_width: int = 1280, timeout_s: float = 2.0) -> tuple[int, bytes]:
        return self.now_ns, JPEG


class Store(EvidenceStore):
    """Says when pictures have come."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.came = threading.Event()

    def put(self, entry: int, pictures: object) -> int:
        kept = super().put(entry, pictures)  # type: ignore[arg-type]  # handed on as it came
        self.came.set()
        return kept


def test_pictures_of_hidden_cards_are_neither_kept_nor_shown(tmp_path: Path) -> None:
    camera, store = Camera(), Store(tmp_path)
    keeper = EvidenceKeeper(store, camera, AHEAD_NS)
    keeper.shade(False, AHEAD_NS)
    keeper.shade(True, AHEAD_NS + 20 * S)
    keeper.shade(True, AHEAD_NS + 21 * S)
    shown = []
    for second in (19, 20, 24, 29, 30):
        if second == 24:
            keeper.shade(False, AHEAD_NS + 24 * S)
            keeper.shade(False, AHEAD_NS + 25 * S)
        camera.now_ns = second * S
        shown.append(keeper.camera("table") is not None)
    assert shown == [True, False, False, False, True]
    assert LINGER_NS == 5 * S
    keeper.start()
    slam = Slammed(seat="s1", stamp=Stamp(at_ns=AHEAD_NS + 27 * S, u_ns=0))
    keeper.note(
        Entry(n=7, at_ns=0, wall_ms=0, actor=Actor(Role.CLOCK), key="k", command=None, events=(slam,))
    )
    assert store.came.wait(20)
    keeper.stop()
    kept = [picture.at_ns // S - AHEAD_NS // S for picture in store.of(7).pictures]
    assert kept == [19, 30, 31]
