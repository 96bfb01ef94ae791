"""Under which addresses others in the room reach this machine."""

from __future__ import annotations

import contextlib
import ipaddress
import socket


def lan_addresses() -> tuple[str, ...]:
    """The IPv4 addresses of this machine, the one that leads out first; empty without a network."""
    found: list[str] = []
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # nothing is sent: this only asks which way would be taken
        found.append(probe.getsockname()[0])
    with contextlib.suppress(OSError):
        for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET):
            found.append(str(info[4][0]))
    return tuple(dict.fromkeys(a for a in found if not ipaddress.ip_address(a).is_loopback))
