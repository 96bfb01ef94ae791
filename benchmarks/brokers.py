"""A mosquitto of one's own, on a free port of loopback."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MOSQUITTO = shutil.which("mosquitto", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


class Mosquitto:
    """A broker process on a free loopback port; can be killed and started again on the same one."""

    def __init__(self, folder: Path, *more: str) -> None:
        self.port = free_port()
        self.url = f"mqtt://127.0.0.1:{self.port}"
        self._config = folder / f"mosquitto-{self.port}.conf"
        lines = (f"listener {self.port} 127.0.0.1", "set_tcp_nodelay true", "persistence false", *more)
        if not any(line.startswith(("allow_anonymous", "password_file")) for line in more):
            lines += ("allow_anonymous true",)
        self._config.write_text("\n".join(lines) + "\n")
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        assert MOSQUITTO is not None
        self.process = subprocess.Popen(
            [MOSQUITTO, "-c", str(self._config)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        give_up_s = time.monotonic() + 5
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 0.2).close()
            except OSError:
                assert time.monotonic() < give_up_s, "mosquitto does not start"
                time.sleep(0.01)
            else:
                return

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@contextmanager
def mosquitto(folder: Path, *more: str) -> Iterator[Mosquitto]:
    broker = Mosquitto(folder, *more)
    broker.start()
    try:
        yield broker
    finally:
        broker.kill()
