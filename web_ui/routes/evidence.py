"""Pictures kept for a ruling: the referee's until released."""

from __future__ import annotations

from flask import Blueprint, Response, abort, render_template
from flask.typing import ResponseReturnValue

from companion.core.seat import Role
from web_ui.context import viewer, web
from web_ui.shown import facts

PAGES = Blueprint("evidence", __name__)


def _may_look(entry: int) -> bool:
    return viewer().role is Role.REFEREE or entry in web().desk.snapshot().sitting.released


@PAGES.get("/evidence/<int:entry>")
def page(entry: int) -> ResponseReturnValue:
    """All pictures of one entry. Without any it says so: a ruling can do without."""
    if not _may_look(entry):
        abort(404)
    return render_template(
        "evidence.html",
        entry=entry,
        pictures=web().evidence.pictures(entry),
        is_released=entry in web().desk.snapshot().sitting.released,
        **facts(web(), viewer()),
    )


@PAGES.get("/evidence/<int:entry>/<picture>.jpg")
def picture(entry: int, picture: str) -> ResponseReturnValue:
    """One picture."""
    found = web().evidence.picture(entry, picture) if _may_look(entry) else None
    if found is None:
        abort(404)
    return Response(found, mimetype="image/jpeg")
