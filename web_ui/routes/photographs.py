"""The page on which a photograph of a finished table is counted: send it, correct it by taps, see the ranking."""

from __future__ import annotations

from typing import Any, cast

from flask import Blueprint, Response, abort, current_app, redirect, render_template, request, session
from flask.typing import ResponseReturnValue
from flask_babel import gettext

from companion.core.seat import Actor, Role
from web_ui.context import holder
from web_ui.guard import wants_json
from web_ui.photographs import Photograph, PhotographError, Photographs
from web_ui.uploads import MAX_PICTURE

PAGES = Blueprint("photographs", __name__)
NAME = "photographs"
RATE = "30/minute"
SAID = "said of photographs"
A_DAY = 86_400


def desk() -> Photographs:
    """Whoever counts at this application."""
    return cast(Photographs, current_app.extensions[NAME])


@PAGES.get("/photo")
def page() -> ResponseReturnValue:
    """Where a photograph is sent, and the rounds that were kept."""
    _only_where_counted()
    return render_template("photographs.html", photograph=None, **_facts(None))


@PAGES.post("/photo")
def count() -> ResponseReturnValue:
    """Read a photograph that is sent along; on to its page."""
    _only_where_counted()
    try:
        made = desk().count(_picture())
    except PhotographError as error:
        _say(str(error), is_good=False)
        return redirect("/photo", 303)
    return redirect(f"/photo/{made.id}", 303)


@PAGES.get("/photo/<id>")
def one(id: str) -> ResponseReturnValue:
    """A photograph with its dots."""
    _only_where_counted()
    found = desk().find(id)
    if found is None:
        _say(_gone(), is_good=False)
        return redirect("/photo", 303)
    return render_template("photographs.html", photograph=found, **_facts(found))


@PAGES.get("/photo/<id>/picture.jpg")
def picture(id: str) -> ResponseReturnValue:
    """The photograph itself; it never changes."""
    found = desk().picture(id)
    if found is None:
        abort(404)
    response = Response(found, mimetype="image/jpeg")
    response.headers["Cache-Control"] = f"private, max-age={A_DAY}, immutable"
    return response


@PAGES.post("/photo/<id>/dot")
def dot(id: str) -> ResponseReturnValue:
    """Correct one dot: turn number `n`, or put one of `colour` at `x`, `y`. Scripts get the new part of the page."""
    n = request.form.get("n", type=int)
    try:
        if n is not None:
            now = desk().turn(id, n)
        else:
            now = desk().add(id, request.form.get("colour", ""), (_number("x"), _number("y")))
    except PhotographError as error:
        if wants_json():
            return {"error": str(error)}, 409
        _say(str(error), is_good=False)
        return redirect(f"/photo/{id}", 303)
    if not wants_json():
        return redirect(f"/photo/{id}", 303)
    return {"html": render_template("_photograph.html", photograph=now, is_page=False, **_facts(now))}


@PAGES.post("/photo/<id>/keep")
def keep(id: str) -> ResponseReturnValue:
    """Add it to the totals as one round."""
    return _done(lambda: desk().keep(id), gettext("The round is added to the totals."), "/photo")


@PAGES.post("/photo/drop")
def drop() -> ResponseReturnValue:
    """Take the last round out of the totals."""
    return _done(desk().drop, gettext("The last round is taken out."), "/photo")


@PAGES.post("/photo/<id>/enter")
def hand_in(id: str) -> ResponseReturnValue:
    """Tell the running table how many dots each colour shows."""
    mine = holder()
    if mine is None:
        abort(403)
    actor = Actor(role=mine.role, seat=mine.seat, name=mine.device)
    try:
        desk().hand_in(id, actor)
    except PhotographError as error:
        _say(str(error), is_good=False)
        return redirect(f"/photo/{id}", 303)
    return redirect("/referee", 303)


def _done(what: Any, said: str, to: str) -> ResponseReturnValue:
    try:
        what()
    except PhotographError as error:
        _say(str(error), is_good=False)
    else:
        _say(said, is_good=True)
    return redirect(to, 303)


def _facts(photograph: Photograph | None) -> dict[str, Any]:
    """All that the page draws. At a table the referee may hand the numbers in; alone the rounds are kept here."""
    photographs = desk()
    rounds = photographs.rounds()
    is_referee = rounds is None and (mine := holder()) is not None and mine.role is Role.REFEREE
    return {
        "title": photographs.title,
        "colours": {colour.name: colour for colour in photographs.colours()},
        "ranked": photographs.ranked(photograph) if photograph else (),
        "rounds": rounds,
        "before": photographs.before(),
        "is_referee": is_referee,
        "is_alone": rounds is not None,
        "said": session.pop(SAID, None),
    }


def _only_where_counted() -> None:
    if not desk().title:
        abort(404)


def _picture() -> bytes:
    sent = request.files.get("picture")
    if sent is None or not sent.filename:
        raise PhotographError(gettext("Take or choose a photograph first."))
    data = sent.stream.read(MAX_PICTURE + 1)
    if len(data) > MAX_PICTURE:
        raise PhotographError(gettext("That photograph is too large: 15 MB at most."))
    return data


def _number(name: str) -> float:
    found = request.form.get(name, type=float)
    if found is None:
        raise PhotographError(gettext("That place could not be read: tap the picture again."))
    return found


def _gone() -> str:
    return str(gettext("That photograph is not kept any more: send it again."))


def _say(text: str, *, is_good: bool) -> None:
    """Told on the page that follows, once."""
    session[SAID] = {"text": text, "is_good": is_good}
