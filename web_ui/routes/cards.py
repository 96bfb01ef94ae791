"""The page on which a deck is photographed, card by card."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from flask import Blueprint, Response, abort, current_app, redirect, render_template, request, session
from flask.typing import ResponseReturnValue
from flask_babel import gettext

from web_ui.cards import Cards, CardsError
from web_ui.uploads import MAX_PICTURE

PAGES = Blueprint("cards", __name__)
NAME = "cards"
SAID = "said of cards"
RATE = "60/minute"


def _desk() -> Cards:
    return cast(Cards, current_app.extensions[NAME])


@PAGES.get("/cards")
def page() -> ResponseReturnValue:
    """Every card that was learnt, and which are alike."""
    deck = _desk().shown()
    return render_template("cards.html", deck=deck, title=deck.title, said=session.pop(SAID, None))


@PAGES.get("/cards/<name>.jpg")
def picture(name: str) -> ResponseReturnValue:
    """One card, laid straight."""
    found = _desk().picture(name)
    if found is None:
        abort(404)
    return Response(found, mimetype="image/jpeg")


@PAGES.post("/cards/add")
def add() -> ResponseReturnValue:
    """Learn a card from a picture that is sent along, or from what the camera sees."""

    def do() -> str:
        name = request.form.get("name", "")
        if request.form.get("from") == "camera":
            return _desk().add_seen(name)
        sent = request.files.get("picture")
        if sent is None or not sent.filename:
            raise CardsError(gettext("Choose a picture first: one card alone, from above."))
        data = sent.stream.read(MAX_PICTURE + 1)
        if len(data) > MAX_PICTURE:
            raise CardsError(gettext("The picture is too large: 15 MB at most."))
        return _desk().add(name or sent.filename.rsplit(".", 1)[0], data)

    return _done(do, gettext("The card is learnt."))


@PAGES.post("/cards/forget")
def forget() -> ResponseReturnValue:
    """Drop a card, to show it anew."""

    def do() -> str:
        _desk().forget(request.form.get("name", ""))
        return ""

    return _done(do, gettext("The card is forgotten."))


def _done(do: Callable[[], str], done: str) -> ResponseReturnValue:
    try:
        doubt = do()
        text = f"{done} {gettext('But')}: {doubt}." if doubt else done
        session[SAID] = {"text": text, "is_good": not doubt}
    except CardsError as error:
        session[SAID] = {"text": str(error), "is_good": False}
    return redirect("/cards", 303)
