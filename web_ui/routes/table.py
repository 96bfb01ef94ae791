"""The three faces of the table: referee, seat, public board."""

from __future__ import annotations

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from companion.core.seat import PUBLIC
from web_ui.context import viewer, web
from web_ui.shown import facts

PAGES = Blueprint("table", __name__)


@PAGES.get("/referee")
def referee() -> ResponseReturnValue:
    """All that the referee sees and may do."""
    return render_template("referee.html", **facts(web(), viewer()))


@PAGES.get("/seat")
def seat() -> ResponseReturnValue:
    """One player's own secrets, questions and actions."""
    return render_template("seat.html", **facts(web(), viewer()))


@PAGES.get("/board")
def board() -> ResponseReturnValue:
    """The big board for the room, whoever opens it."""
    return render_template("board.html", **facts(web(), PUBLIC))
