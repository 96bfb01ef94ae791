"""The front door."""

from __future__ import annotations

from flask import Blueprint, redirect
from flask.typing import ResponseReturnValue

from companion.core.seat import Role
from web_ui.context import viewer, web

PAGES = Blueprint("home", __name__)
HOMES = {Role.REFEREE: "/referee", Role.SEAT: "/seat"}


@PAGES.get("/")
def index() -> ResponseReturnValue:
    """Everybody to their own page."""
    return redirect(HOMES.get(viewer().role, "/enter"), 303)


@PAGES.get("/healthz")
def healthz() -> ResponseReturnValue:
    """Whether the table answers: how many journal entries it stands on."""
    return {"ok": True, "version": web().desk.snapshot().version}
