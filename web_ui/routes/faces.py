"""The page on which the faces of each player's dice are shown to the table, a few pictures each."""

from __future__ import annotations

from flask import Blueprint, Response, abort, redirect, render_template, request, session
from flask.typing import ResponseReturnValue
from flask_babel import gettext, ngettext

from companion.core.seat import Seat
from web_ui.context import viewer, web
from web_ui.faces import FacesError, FacesShown, Shown
from web_ui.shown import facts
from web_ui.uploads import MAX_PICTURE

PAGES = Blueprint("faces", __name__)
RATE = "60/minute"
MAX_PICTURES = 8
MAX_NAME = 24
SAID = "said of dice"


@PAGES.get("/dice/faces")
def page() -> ResponseReturnValue:
    """What is enrolled of one player's dice, the first one's when none is named."""
    seats = web().desk.snapshot().sitting.playing()
    wanted = request.args.get("owner", seats[0].colour if seats else "")
    seat = next((each for each in seats if each.colour == wanted), None)
    if seat is None:
        abort(404)
    said = session.pop(SAID, None)
    try:
        dice = web().faces.shown(seat.colour)
    except FacesError as error:
        dice, said = FacesShown(), {"text": str(error), "is_good": False}
    return render_template(
        "faces.html",
        seat=seat,
        owners=seats,
        colours={each.colour: each for each in seats},
        dice=dice,
        said=said,
        has_camera=web().faces.has_camera(),
        **facts(web(), viewer()),
    )


@PAGES.post("/dice/faces/add")
def add() -> ResponseReturnValue:
    """Learn a face from pictures that are sent along, or from what the camera sees."""
    seat, face = _seat(), _face()
    try:
        if request.form.get("from") == "camera":
            done = web().faces.add_seen(seat.colour, face)
        else:
            done = web().faces.add(seat.colour, face, _pictures())
    except FacesError as error:
        _say(str(error), is_good=False)
    else:
        _say(_told(face, done), is_good=not done.unused)
    return redirect(f"/dice/faces?owner={seat.colour}", 303)


@PAGES.post("/dice/faces/forget")
def forget() -> ResponseReturnValue:
    """Drop what is known of a face, to show it anew."""
    seat, face = _seat(), _face()
    try:
        web().faces.forget(seat.colour, face)
    except FacesError as error:
        _say(str(error), is_good=False)
    else:
        _say(gettext("The pictures of %(face)s are gone. Show it anew.", face=face), is_good=True)
    return redirect(f"/dice/faces?owner={seat.colour}", 303)


@PAGES.get("/dice/faces/<owner>/<face>/<int:number>.png")
def picture(owner: str, face: str, number: int) -> ResponseReturnValue:
    """What was cut out of one picture."""
    try:
        found = web().faces.picture(owner, face, number)
    except FacesError:
        found = None
    if found is None:
        abort(404)
    return Response(found, mimetype="image/png")


def _say(text: str, *, is_good: bool) -> None:
    """Told on the page that follows, once."""
    session[SAID] = {"text": text, "is_good": is_good}


def _seat() -> Seat:
    seats = web().desk.snapshot().sitting.playing()
    seat = next((each for each in seats if each.colour == request.form.get("owner", "")), None)
    if seat is None:
        abort(404)
    return seat


def _face() -> str:
    face = request.form.get("face", "").strip()
    if not face or len(face) > MAX_NAME or not face.isprintable() or set(face) & set("/\\"):
        abort(400)
    return face


def _pictures() -> list[tuple[str, bytes]]:
    sent = [file for file in request.files.getlist("pictures") if file.filename]
    if not sent:
        raise FacesError(gettext("Choose the pictures first: three to five, one die alone in each."))
    if len(sent) > MAX_PICTURES:
        raise FacesError(gettext("Send at most %(n)s pictures at once.", n=MAX_PICTURES))
    found = [((file.filename or "")[-60:], file.stream.read(MAX_PICTURE + 1)) for file in sent]
    large = next((name for name, data in found if len(data) > MAX_PICTURE), None)
    if large:
        raise FacesError(gettext("%(name)s is too large: 15 MB at most.", name=large))
    return found


def _told(face: str, done: Shown) -> str:
    said = ngettext(
        "%(num)s picture of %(face)s is kept.", "%(num)s pictures of %(face)s are kept.", done.used, face=face
    )
    if done.unused:
        names = ", ".join(done.unused)
        said += " " + gettext(
            "No die was found in %(names)s: one die alone, sharp, from above, on one colour.", names=names
        )
    return str(said)
