"""What every page needs at hand: the table, the access, and who is asking."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

from flask import current_app, g, request

from companion.core.seat import Viewer
from companion.runtime.desk import Desk
from web_ui.access import Access, viewer_of
from web_ui.health import Evidence, HealthSource
from web_ui.passes import Holder

NAME = "companion"


@dataclass(frozen=True)
class Web:
    """The running table as the pages know it. `addresses`: how others in the room reach this host.

    `boot`: this program run, so that a page notices when its stream is another run's.
    """

    desk: Desk
    access: Access
    health: HealthSource
    evidence: Evidence
    addresses: Callable[[], Sequence[str]]
    boot: str = field(default_factory=lambda: secrets.token_hex(4))


def web() -> Web:
    """The table of the present application."""
    return cast(Web, current_app.extensions[NAME])


def holder() -> Holder | None:
    """Who sends this request, None for the public. Looked up once a request."""
    if "holder" not in g:
        access = web().access
        g.holder = access.holder(request.cookies.get(access.cookie, ""))
    return cast("Holder | None", g.holder)


def viewer() -> Viewer:
    """For whose eyes the answer to this request is."""
    return viewer_of(holder())
