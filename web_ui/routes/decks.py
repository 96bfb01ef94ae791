"""The page on which a deck that was measured on photographs is looked through and corrected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from flask import Blueprint, Response, abort, current_app, redirect, render_template, request, session
from flask.typing import ResponseReturnValue
from flask_babel import gettext

from web_ui.decks import DeckError, Decks, ShapeOf

PAGES = Blueprint("decks", __name__)
NAME = "decks"
SAID = "said of decks"
MOST_SHAPES = 12


def _desk() -> Decks:
    return cast(Decks, current_app.extensions[NAME])


@PAGES.get("/deck")
def page() -> ResponseReturnValue:
    """Every card with the shapes that were found on it."""
    deck = _desk().shown()
    return render_template("deck.html", deck=deck, title=deck.title, said=session.pop(SAID, None))


@PAGES.get("/deck/<int:n>.jpg")
def picture(n: int) -> ResponseReturnValue:
    """The photograph of one card, laid flat."""
    found = _desk().picture(n)
    if found is None:
        abort(404)
    return Response(found, mimetype="image/jpeg")


@PAGES.post("/deck/<int:n>")
def change(n: int) -> ResponseReturnValue:
    """Say what one card shows."""

    def do() -> str:
        shapes = []
        for k in range(MOST_SHAPES):
            place = request.form.get(f"place-{k}", type=int)
            if place is not None and place >= 0:
                shapes.append(ShapeOf(place=place, is_filled=request.form.get(f"filled-{k}") == "yes"))
        _desk().change(n, request.form.get("suit", ""), shapes)
        return str(gettext("The card is corrected."))

    return _done(do, f"/deck#card-{n}")


@PAGES.post("/deck/sizes")
def resize() -> ResponseReturnValue:
    """Say how large things are."""

    def do() -> str:
        found: dict[str, float] = {}
        for key in request.form:
            value = request.form.get(key, type=float)
            if key != "csrf_token" and value is not None:
                found[key] = value
        _desk().resize(found)
        return str(gettext("The sizes are taken."))

    return _done(do, "/deck")


@PAGES.post("/deck/keep")
def keep() -> ResponseReturnValue:
    """Write the deck file."""
    return _done(_desk().keep, "/deck")


def _done(do: Callable[[], Any], to: str) -> ResponseReturnValue:
    try:
        session[SAID] = {"text": do(), "is_good": True}
    except DeckError as error:
        session[SAID] = {"text": str(error), "is_good": False}
    return redirect(to, 303)
