"""What every page needs at hand: the table, the access, and who is asking."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

from flask import current_app, g, request

from companion.core.seat import Role, Viewer
from companion.runtime.desk import Desk
from web_ui.access import Access, viewer_of
from web_ui.dice import Dice
from web_ui.faces import Faces
from web_ui.health import Evidence, HealthSource
from web_ui.pads import Pads
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
    pads: Pads
    dice: Dice
    faces: Faces
    boot: str = field(default_factory=lambda: secrets.token_hex(4))

    def holder(self, token: str) -> Holder | None:
        """Who bears a token, None for the public; a player who left the table is public too."""
        found = self.access.passes.holder(token)
        return found if found is not None and self.is_seated(found.viewer) else None

    def is_seated(self, viewer: Viewer) -> bool:
        """Whether these eyes still belong to the table."""
        seat = self.desk.snapshot().sitting.seat(viewer.seat)
        return viewer.role is not Role.SEAT or (seat is not None and not seat.left)


def web() -> Web:
    """The table of the present application."""
    return cast(Web, current_app.extensions[NAME])


def holder() -> Holder | None:
    """Who sends this request, None for the public. Looked up once a request."""
    if "holder" not in g:
        g.holder = web().holder(request.cookies.get(web().access.cookie, ""))
    return cast("Holder | None", g.holder)


def viewer() -> Viewer:
    """For whose eyes the answer to this request is."""
    return viewer_of(holder())
