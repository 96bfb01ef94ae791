"""A real table, of Ta-Da! unless another game is named, with its loop, journal and pages."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable
from concurrent.futures import Future
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2.bccache import Bucket, BytecodeCache
from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from companion.catalogue import GAMES
from companion.core import command as c
from companion.core.seat import REFEREE, Actor, Role, Viewer, seat_at
from companion.games.tada.deck import Deck, read
from companion.runtime.desk import Answer
from companion.runtime.loop import TableLoop
from companion.runtime.opening import create
from web_ui.access import Access
from web_ui.app import create_app
from web_ui.health import CameraShown, DeviceShown, Health, JournalShown, Picture
from web_ui.serve import Server

NAMES = ("Ann", "Ben", "Cleo")
BOSS = Actor(Role.REFEREE, name="test")
Opener = Callable[..., Page]


class Compiled(BytecodeCache):
    """Templates compiled once for all tables of a test run."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self._kept:
            bucket.bytecode_from_string(self._kept[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._kept[bucket.key] = bucket.bytecode_to_string()


COMPILED = Compiled()


class Pictures:
    """Two pictures for every entry."""

    JPEG = b"\xff\xd8\xff\xe0picture\xff\xd9"

    def pictures(self, entry: int) -> tuple[Picture, ...]:
        return tuple(Picture(id=f"e{entry}-{n}", camera="table", offset_ms=n * 67) for n in range(2))

    def picture(self, entry: int, id: str) -> bytes | None:
        return self.JPEG if id in {f"e{entry}-0", f"e{entry}-1"} else None

    def camera(self, name: str) -> bytes | None:
        return self.JPEG if name == "table" else None


class House:
    """One table with its pages. `server` is None until `serve` is called."""

    def __init__(
        self, folder: Path, names: tuple[str, ...] = NAMES, game_name: str = "tada", **options: Any
    ) -> None:
        seats = tuple(seat_at(n, name, "box-7" if n == 1 else "", 0) for n, name in enumerate(names, 1))
        game = GAMES[game_name]
        self.data = (files(f"companion.games.{game.name}") / "data" / game.data_file).read_text(
            encoding="utf-8"
        )
        self.opening = create(
            folder / "table.journal", game, seats=seats, seed=7, options=options, data=self.data
        )
        self.desk = TableLoop(self.opening.table, self.opening.journal, self.opening.clock)
        self.access_file = folder / "access.json"
        self.access = Access(self.access_file)
        self.app = create_app(
            self.desk, self.access, self.health, Pictures(), addresses=lambda: ("192.168.7.5",)
        )
        self.app.jinja_env.bytecode_cache = COMPILED
        self.server: Server | None = None
        self.cleanup: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self._keys = 0

    @property
    def deck(self) -> Deck:
        """The spells and feats of a table of Ta-Da!."""
        return read(self.data)

    def health(self) -> Health:
        now = self.desk.now_ns()
        return Health(
            devices=(
                DeviceShown(
                    name="box-7", kind="serial pad", is_up=True, heard_ns=now, clock_u_ns=420_000, seats=("s1",),
                ),
                DeviceShown(
                    name="pad2", kind="MQTT pad", is_up=False, detail="silent for 8 s", clock_u_ns=14_000_000,
                    mend="Check its battery, then press its button once.",
                ),
            ),
            cameras=(CameraShown(name="table", is_up=True, fps=14.8, dropped=3, frame_ns=now, has_surface=True),),
            journal=JournalShown(path="table.journal", synced_ns=now, sync_ms=1.7, free_bytes=12_000_000_000),
        )  # fmt: skip

    def order(self, command: c.Command, actor: Actor = BOSS) -> Answer:
        with self._lock:
            self._keys += 1
            key = f"order {self._keys}"
        found: Future[Answer] = self.desk.submit(command, actor, key)
        return found.result(10)

    def begin(self) -> None:
        """Claim the table as its referee would, from the host."""
        code = self.access.first_code()
        assert code is not None
        self.token = self.enter(code)

    def enter(self, code: str) -> str:
        seats = [seat.id for seat in self.desk.snapshot().sitting.seats]
        made = self.access.passes.redeem(code, seats, "a browser")
        assert made is not None
        return made[1]

    def seat_token(self, seat: str) -> str:
        code = self.access.passes.renew(Viewer(Role.SEAT, seat))
        return self.enter(code)

    def referee_token(self) -> str:
        return self.enter(self.access.passes.renew(REFEREE))

    def serve(self) -> str:
        self.server = Server(self.app)
        self.server.start()
        return f"http://127.0.0.1:{self.server.port}"

    def close(self) -> None:
        for act in self.cleanup:
            act()
        if self.server is not None:
            self.server.stop()
        self.desk.close()


class Guest:
    """A browser without a window: keeps cookies, knows its CSRF token."""

    def __init__(
        self, house: House, token: str = "", remote: str = "127.0.0.1", host: str = "localhost"
    ) -> None:
        self._client = house.app.test_client()
        self._base = {"REMOTE_ADDR": remote}
        self._host = host
        if token:
            self._client.set_cookie(house.access.cookie, token, domain=host)

    def get(self, path: str, **more: Any) -> Any:
        return self._client.get(
            path, base_url=f"http://{self._host}", environ_base=self._base, buffered=True, **more
        )

    def csrf(self) -> str:
        found = re.search(r'name="csrf-token" content="([^"]+)"', self.get("/enter").text)
        assert found is not None
        return found[1]

    def post(self, path: str, data: dict[str, Any] | None = None, **more: Any) -> Any:
        headers = {"X-CSRFToken": self.csrf(), **more.pop("headers", {})}
        return self._client.post(
            path, data=data, base_url=f"http://{self._host}", environ_base=self._base, headers=headers, **more
        )

    def command(
        self, body: dict[str, Any], key: str = "", expected: int | None = None, **headers: str
    ) -> Any:
        return self.post(
            "/command", json={"command": body, "key": key, "expected": expected},
            headers={"Accept": "application/json", **headers},
        )  # fmt: skip


def press(house: House, page: Page, name: str, *choices: str) -> None:
    """Fill in the main action's fields and do it; what has just changed wants another press."""
    before = house.desk.snapshot().version
    expect(page.locator("#primary")).to_contain_text(name)
    for choice in choices:
        page.locator("#primary-form label", has_text=choice).first.click()
    for _ in range(20):
        page.locator("#primary", has_text=name).click()
        with contextlib.suppress(PlaywrightTimeout):
            page.wait_for_function("n => Number(document.body.dataset.version) > n", arg=before, timeout=1000)
            return
    raise AssertionError(f"{name}: the table took no press")
