"""The one registry: who may see which page, open which stream, give which command; and the door."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from urllib.parse import urlsplit

from companion.core.command import Command
from companion.core.seat import PUBLIC, REFEREE, Role, Viewer
from web_ui.passes import Holder, Passes

ALL = frozenset({Role.REFEREE, Role.SEAT, Role.PUBLIC})
KNOWN = frozenset({Role.REFEREE, Role.SEAT})
STAFF = frozenset({Role.REFEREE})
AT_THE_SEAT = frozenset({Role.SEAT})

PAGES: dict[str, frozenset[Role]] = {
    "static": ALL,
    "home.index": ALL,
    "home.healthz": ALL,
    "enrol.enter": ALL,
    "enrol.redeem": ALL,
    "enrol.leave": KNOWN,
    "enrol.sheet": STAFF,
    "enrol.renew": STAFF,
    "enrol.revoke": STAFF,
    "table.referee": STAFF,
    "table.seat": AT_THE_SEAT,
    "table.board": ALL,
    "devices.page": STAFF,
    "devices.camera": STAFF,
    "devices.expect": STAFF,
    "devices.find": STAFF,
    "devices.pair": STAFF,
    "devices.rename": STAFF,
    "pads.phone": KNOWN,
    "pads.keys": STAFF,
    "pads.state": KNOWN,
    "command.give": KNOWN,
    "journal.page": STAFF,
    "journal.download": STAFF,
    "journal.correct": STAFF,
    "journal.preview": STAFF,
    "faces.page": STAFF,
    "faces.add": STAFF,
    "faces.forget": STAFF,
    "faces.picture": STAFF,
    "dice.page": STAFF,
    "dice.face": STAFF,
    "photographs.page": KNOWN,
    "photographs.count": KNOWN,
    "photographs.one": KNOWN,
    "photographs.picture": KNOWN,
    "photographs.dot": KNOWN,
    "photographs.keep": KNOWN,
    "photographs.drop": KNOWN,
    "photographs.hand_in": STAFF,
    "evidence.page": ALL,
    "evidence.picture": ALL,
}
"""Every endpoint with the roles that may ask for it; one that is not here is refused to all."""

PAD_SOCKET = "/live/pad"

STREAMS: dict[str, frozenset[Role]] = {
    "/live/referee": STAFF,
    "/live/seat": AT_THE_SEAT,
    "/live/public": ALL,
    "/live/devices": STAFF,
    "/live/time": ALL,
    PAD_SOCKET: KNOWN,
}
"""Every address of the live hub, and the web socket of pads, with the roles that may open it."""


class Door:
    """Why a request is not let in at all. `status`: 400 for a foreign name, 403 before the first referee."""

    __slots__ = ("status", "why")

    def __init__(self, status: int, why: str) -> None:
        """A closed door and the sentence on it."""
        self.status, self.why = status, why


class Access:
    """Who may do what at this table. Safe from any thread."""

    def __init__(self, path: Path | None, hosts: Iterable[str] = ()) -> None:
        """Reads or makes the access file (None: memory alone); `hosts` are further names of this machine.

        Raises ValueError when the file cannot be read as one.
        """
        self.passes = Passes(path)
        self._names = own_names() | {name.lower() for name in hosts}

    @property
    def cookie(self) -> str:
        """Name of the cookie that holds a browser's token."""
        return f"pass_{self.passes.table}"

    def first_code(self) -> str | None:
        """The one-time referee code to print on the host's console, None when it was used."""
        return self.passes.code(REFEREE)

    def rescue_code(self) -> str:
        """A fresh one-time referee code, for whoever stands at the host and lost the referee's browser."""
        return self.passes.renew(REFEREE)

    def door(self, remote: str, host: str) -> Door | None:
        """Whether a client at address `remote` that asks for `Host: host` is let in; None when it is.

        A name that is not ours is refused, because a page of a stranger may have pointed its own name at this
        machine; a bare address cannot be such a name. Before a referee came in only this machine is served.
        """
        if not is_own(host, self._names):
            return Door(400, f"This table is not called {host[:100]!r}. Open it by its address.")
        if not self.passes.is_claimed and not is_loopback(remote):
            return Door(
                403,
                "This table is not open yet. On the machine that runs it, open the page and enter the "
                "referee code that it printed.",
            )
        return None

    def is_same_origin(self, origin: str | None, fetch_site: str | None, scheme: str, host: str) -> bool:
        """Whether a request that changes something comes from a page of ours, as far as headers tell."""
        return is_same_origin(origin, fetch_site, scheme, host)

    def token_in(self, cookies: str) -> str:
        """The token in a raw Cookie header, empty when there is none."""
        try:
            found = SimpleCookie(cookies).get(self.cookie)
        except CookieError:
            return ""
        return found.value if found else ""


def own_names() -> frozenset[str]:
    """What this machine is called."""
    own = socket.gethostname().lower()
    return frozenset({"localhost", own, f"{own}.local"})


def is_own(host: str, names: frozenset[str]) -> bool:
    """Whether a Host header names this machine: one of `names`, or a bare address, which nobody can point elsewhere."""
    if set(host) & set("@/?#\\"):
        return False
    try:
        name = (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return False
    if name in names:
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def is_same_origin(origin: str | None, fetch_site: str | None, scheme: str, host: str) -> bool:
    """Whether a request that changes something comes from a page of ours, as far as headers tell."""
    if fetch_site is not None and fetch_site != "same-origin":
        return False
    return origin is None or origin == f"{scheme}://{host}"


def viewer_of(holder: Holder | None) -> Viewer:
    """For whose eyes a holder's pages are; without a holder the public's."""
    return holder.viewer if holder else PUBLIC


def may_see(role: Role, endpoint: str | None) -> bool:
    """Whether a role may ask for an endpoint. An unknown one is refused."""
    return role in PAGES.get(endpoint or "", frozenset())


def may_stream(role: Role, path: str) -> bool:
    """Whether a role may open a stream. An unknown one is refused."""
    return role in STREAMS.get(path, frozenset())


def may_command(role: Role, command: type[Command]) -> bool:
    """Whether a role may give a command from a page. Sensors and the clock do not speak through pages."""
    return role in KNOWN and role in command.by


def is_loopback(address: str) -> bool:
    """Whether a peer address is this machine."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)
    return (mapped or found).is_loopback
