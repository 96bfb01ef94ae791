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
        clips=[(n, web().evidence.pictures(n)) for n in _referred(entry) if _may_look(n)],
        is_released=entry in web().desk.snapshot().sitting.released,
        **facts(web(), viewer()),
    )


def _referred(entry: int) -> list[int]:
    """The entry itself, and those that its rulings call their evidence (``entry:N``)."""
    rulings = (r.ruling for r in web().desk.snapshot().sitting.rulings if r.entry == entry)
    named = (ref.removeprefix("entry:") for r in rulings for ref in r.evidence if ref.startswith("entry:"))
    return list(dict.fromkeys([entry, *(int(number) for number in named if number.isdecimal())]))


@PAGES.get("/evidence/<int:entry>/<picture>.jpg")
def picture(entry: int, picture: str) -> ResponseReturnValue:
    """One picture."""
    found = web().evidence.picture(entry, picture) if _may_look(entry) else None
    if found is None:
        abort(404)
    return Response(found, mimetype="image/jpeg")
