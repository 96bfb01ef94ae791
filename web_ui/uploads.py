"""Which requests may hold more than a form does, and from whom."""

from __future__ import annotations

from collections.abc import Mapping

from flask import Request

from companion.core.seat import Role
from web_ui.context import viewer

MAX_PICTURE = 15 * 1024 * 1024
KNOWN = frozenset({Role.REFEREE, Role.SEAT})
UPLOADS: Mapping[str, tuple[frozenset[Role], int]] = {
    "faces.add": (frozenset({Role.REFEREE}), 48 * 1024 * 1024),
    "cards.add": (frozenset({Role.REFEREE}), MAX_PICTURE + 64 * 1024),
    "photographs.count": (KNOWN, MAX_PICTURE + 64 * 1024),
}
"""Endpoints that take pictures: from whom, and how many bytes at most."""


class PageRequest(Request):
    """A request to the pages of a table: only who may send pictures may send more than a form holds."""

    @property
    def max_content_length(self) -> int | None:
        """The most bytes that are taken."""
        roles, most = UPLOADS.get(self.endpoint or "", (frozenset(), 0))
        return most if roles and viewer().role in roles else super().max_content_length

    @max_content_length.setter
    def max_content_length(self, value: int | None) -> None:
        self._max_content_length = value
