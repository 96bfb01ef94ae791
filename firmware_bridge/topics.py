"""Names of MQTT topics. No I/O.

``tada/1/<table>/<device>/<channel>``. Table and device ids are ``[a-z0-9-]``, so no id can hold a wildcard, a
slash or a space, and a topic that does not fit exactly is nobody's.
"""

from __future__ import annotations

import re
from typing import NamedTuple

STATE = "$state"
DESCRIPTION = "$description"
EVENTS = "ev"
HEARTBEAT = "hb"
SYNC_REQUEST = "sync/req"
SYNC_REPLY = "sync/res"
COMMANDS = "cmd"

FROM_DEVICE = (STATE, DESCRIPTION, EVENTS, HEARTBEAT, SYNC_REPLY)
TO_DEVICE = (SYNC_REQUEST, COMMANDS)
RETAINED = (STATE, DESCRIPTION)  # the only ones that a broker may keep

STATES = ("init", "ready", "sleeping", "disconnected", "lost")

_ROOT = "tada/1"
_ID = r"[a-z0-9][a-z0-9-]{0,23}"
_IS_ID = re.compile(_ID)
_TOPIC = re.compile(
    rf"{_ROOT}/(?P<table>{_ID})/(?P<device>{_ID})/(?P<channel>"
    + "|".join(re.escape(channel) for channel in FROM_DEVICE + TO_DEVICE)
    + ")"
)


class Topic(NamedTuple):
    """A parsed topic."""

    table: str
    device: str
    channel: str


def is_id(text: str) -> bool:
    """May this name a table or a device: 1 to 24 of a-z, 0-9 and ``-``, not starting with ``-``?"""
    return _IS_ID.fullmatch(text) is not None


def topic(table: str, device: str, channel: str) -> str:
    """The topic's name. Raises ValueError when a part is not allowed."""
    name = f"{_ROOT}/{table}/{device}/{channel}"
    if parse(name) is None:
        raise ValueError(f"no such topic: {name!r} (ids are a-z, 0-9 and -, at most 24)")
    return name


def parse(name: str) -> Topic | None:
    """The parts of a topic, or None when it is none of ours. Never raises."""
    found = _TOPIC.fullmatch(name)
    return None if found is None else Topic(found["table"], found["device"], found["channel"])


def pattern(table: str, channel: str) -> str:
    """The subscription for one channel of every device at a table. Raises ValueError on a bad table id."""
    if not is_id(table):
        raise ValueError(f"a table's name is 1 to 24 of a-z, 0-9 and -, not {table!r}")
    return f"{_ROOT}/{table}/+/{channel}"


def verdict(table: str) -> str:
    """Where a table's verdicts are told. Raises ValueError on a bad table id."""
    if not is_id(table):
        raise ValueError(f"a table's name is 1 to 24 of a-z, 0-9 and -, not {table!r}")
    return f"{_ROOT}/{table}/verdict"


def host_state(table: str) -> str:
    """Where the host's own state is kept (``ready``, ``lost``). Raises ValueError on a bad table id."""
    if not is_id(table):
        raise ValueError(f"a table's name is 1 to 24 of a-z, 0-9 and -, not {table!r}")
    return f"{_ROOT}/{table}/$host"
