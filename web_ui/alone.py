"""A page served without a table, for whoever opens the address that was printed: photographs that are counted, decks
that are measured, maps that are painted."""

from __future__ import annotations

import hmac
import secrets
from typing import cast

from flask import Blueprint, Flask, Request, Response, abort, current_app, redirect, request
from flask.typing import ResponseReturnValue
from flask_babel import gettext
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address

from web_ui import guard
from web_ui.access import is_own, is_same_origin, own_names
from web_ui.app import bare_app, digest, limit
from web_ui.cards import Cards
from web_ui.decks import Decks
from web_ui.guard import refusal
from web_ui.maps import Maps
from web_ui.photographs import Photographs
from web_ui.routes import cards, decks, maps, photographs
from web_ui.uploads import UPLOADS

DOOR = Blueprint("door", __name__)
OPEN = frozenset({"static", "door.come_in"})
CLOSED = frozenset({"photographs.hand_in"})
RATE = "20/minute"
A_DAY = 86_400
KEY, HOME, LIMITER = "key of the door", "home", "limiter of the door"
UPLOAD, CARD = "photographs.count", "cards.add"


class _Request(Request):
    """Only who came in by the key may send more than a form holds."""

    @property
    def max_content_length(self) -> int | None:
        """The most bytes that are taken."""
        is_picture = self.endpoint in (UPLOAD, CARD) and _has_key(self)
        return UPLOADS[str(self.endpoint)][1] if is_picture else super().max_content_length

    @max_content_length.setter
    def max_content_length(self, value: int | None) -> None:
        self._max_content_length = value


def create_photograph_app(counting: Photographs, key: str) -> Flask:
    """The page that counts photographs. `key`: what an address must hold to come in, see `address`."""
    app = _alone(photographs.PAGES, "/photo", key)
    app.extensions[photographs.NAME] = counting
    limit(app, _limiter(app).limit(photographs.RATE), UPLOAD)
    return app


def create_deck_app(measuring: Decks, key: str) -> Flask:
    """The page on which a measured deck is corrected. `key` as above."""
    app = _alone(decks.PAGES, "/deck", key)
    app.extensions[decks.NAME] = measuring
    return app


def create_card_app(learning: Cards, key: str) -> Flask:
    """The page on which a deck of cards is photographed. `key` as above."""
    app = _alone(cards.PAGES, "/cards", key)
    app.extensions[cards.NAME] = learning
    limit(app, _limiter(app).limit(cards.RATE), CARD)
    return app


def create_map_app(painting: Maps, key: str) -> Flask:
    """The page on which a photographed map is painted. `key` as above."""
    app = _alone(maps.PAGES, "/map", key)
    app.extensions[maps.NAME] = painting
    return app


def _alone(pages: Blueprint, home: str, key: str) -> Flask:
    app = bare_app(secrets.token_bytes(32), digest())
    app.request_class = _Request
    app.extensions[KEY], app.extensions[HOME] = key, home
    guard.install(app, _let_in)
    app.register_blueprint(DOOR)
    app.register_blueprint(pages)
    app.extensions[LIMITER] = Limiter(get_remote_address, app=app)
    limit(app, _limiter(app).limit(RATE), "door.come_in")
    return app


def _limiter(app: Flask) -> Limiter:
    return cast(Limiter, app.extensions[LIMITER])


def address(origin: str, key: str) -> str:
    """Where a phone opens the page; `origin` as in ``http://192.168.7.5:8642``."""
    return f"{origin}/k/{key}"


@DOOR.get("/k/<key>")
def come_in(key: str) -> ResponseReturnValue:
    """Remember that this browser has the key, and go to the page."""
    if not hmac.compare_digest(key.encode(), _key().encode()):
        abort(404)
    response = redirect(_home(), 303)
    response.set_cookie(
        _cookie(), key, max_age=A_DAY, httponly=True, samesite="Lax", secure=request.is_secure
    )
    return response


@DOOR.get("/")
def index() -> ResponseReturnValue:
    """To the page."""
    return redirect(_home(), 303)


def _home() -> str:
    return str(current_app.extensions[HOME])


def _key() -> str:
    return str(current_app.extensions[KEY])


def _cookie() -> str:
    return f"door_{digest()}"


def _has_key(asked: Request) -> bool:
    return hmac.compare_digest(asked.cookies.get(_cookie(), "").encode(), _key().encode())


def _let_in() -> ResponseReturnValue | None:
    host = request.headers.get("Host", "")
    if not is_own(host, own_names()):
        return Response("This page is not called so. Open it by its address.\n", 400, mimetype="text/plain")
    origin, fetch_site = request.headers.get("Origin"), request.headers.get("Sec-Fetch-Site")
    if request.method not in guard.SAFE and not is_same_origin(origin, fetch_site, request.scheme, host):
        return refusal(403, gettext("This came from a foreign page and was refused."))
    if request.endpoint in CLOSED or request.endpoint is None:
        return refusal(404, gettext("There is no such page."))
    if request.endpoint not in OPEN and not _has_key(request):
        return refusal(
            403, gettext("Open the address that was printed where the program was started: it lets you in.")
        )
    return None
