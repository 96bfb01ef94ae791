"""The Flask application of one table."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from flask import Flask, Response, request, send_from_directory
from flask.logging import default_handler
from flask_babel import Babel, get_locale
from flask_limiter import Limiter
from flask_wtf.csrf import CSRFProtect
from jinja2 import StrictUndefined

from companion.runtime.desk import Desk
from web_ui import guard, shown
from web_ui.access import Access
from web_ui.addresses import lan_addresses
from web_ui.context import NAME, Web, holder, viewer, web
from web_ui.dice import Dice, NoDice
from web_ui.faces import Faces, NoFaces
from web_ui.health import Evidence, Health, HealthSource, NoEvidence
from web_ui.pads import NoPads, Pads
from web_ui.photographs import NoPhotographs, Photographs
from web_ui.routes import (
    command,
    devices,
    dice,
    enrol,
    evidence,
    faces,
    home,
    journal,
    pads,
    photographs,
    table,
)
from web_ui.uploads import PageRequest

HERE = Path(__file__).parent
TRANSLATIONS = HERE / "translations"
MAX_POST = 64 * 1024
A_YEAR = 31_536_000


def create_app(
    desk: Desk,
    access: Access,
    devices_now: HealthSource = Health,
    pictures: Evidence | None = None,
    addresses: Callable[[], Sequence[str]] = lan_addresses,
    *,
    pad_host: Pads | None = None,
    dice_desk: Dice | None = None,
    face_desk: Faces | None = None,
    photograph_desk: Photographs | None = None,
) -> Flask:
    """The pages of one running table. `serve.Server` serves them together with their live streams.

    `devices_now` tells the state of everything plugged in (called for each devices page, from any thread),
    `pictures` keeps the evidence, `addresses` are this host's names or numbers for the QR codes, `pad_host` runs
    the pads, `dice_desk` knows the dice as they were read, `face_desk` enrols them, `photograph_desk`
    counts photographs.
    """
    passes = access.passes
    app = bare_app(passes.secret("session"), passes.table)
    app.request_class = PageRequest
    app.extensions[NAME] = Web(
        desk,
        access,
        devices_now,
        pictures or NoEvidence(),
        addresses,
        pad_host or NoPads(),
        dice_desk or NoDice(),
        face_desk or NoFaces(),
    )
    app.extensions[photographs.NAME] = photograph_desk or NoPhotographs()
    guard.install(app)
    limiter = Limiter(_who_tries, app=app)
    for blueprint in (
        home,
        enrol,
        table,
        devices,
        pads,
        command,
        journal,
        evidence,
        dice,
        faces,
        photographs,
    ):
        app.register_blueprint(blueprint.PAGES)
    tries = limiter.shared_limit(
        enrol.RATE, "codes", deduct_when=_is_wrong_code, exempt_when=lambda: not request.values.get("code")
    )
    limit(app, tries, "enrol.enter", "enrol.redeem")
    limit(app, limiter.limit(command.RATE), "command.give")
    limit(app, limiter.limit(pads.RATE), "pads.state")
    limit(app, limiter.limit(faces.RATE), "faces.add")
    limit(app, limiter.limit(photographs.RATE), "photographs.count")
    counting: Photographs = app.extensions[photographs.NAME]
    app.jinja_env.globals.update(
        holder=holder,
        counts_photographs=lambda: bool(counting.title),
        reads_dice=lambda: bool(web().dice.faces() or web().dice.rests()),
        **shown.GLOBALS,
    )
    return app


def bare_app(secret: bytes, name: str) -> Flask:
    """An application without a page: limits, languages, static files, and tokens in every form.

    `secret` signs its sessions, whose cookie bears `name`.
    """
    app = Flask(__name__, static_folder=None)
    app.logger.removeHandler(default_handler)  # it would write to stdout, where results of commands go
    app.logger.setLevel(logging.WARNING)
    app.config.update(
        SECRET_KEY=secret,
        SESSION_COOKIE_NAME=f"session_{name}",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        WTF_CSRF_TIME_LIMIT=None,  # a tablet stays on one page all day
        MAX_CONTENT_LENGTH=MAX_POST,
        MAX_FORM_PARTS=200,
        BABEL_TRANSLATION_DIRECTORIES=str(TRANSLATIONS),
        RATELIMIT_STORAGE_URI="memory://",
        RATELIMIT_HEADERS_ENABLED=False,
    )
    Babel(app, locale_selector=_locale)
    CSRFProtect(app)
    app.add_url_rule("/static/<digest>/<path:name>", "static", _static)
    app.jinja_env.undefined = StrictUndefined
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.jinja_env.globals.update(asset=asset, nonce=guard.nonce, locale=lambda: str(get_locale()))
    app.jinja_env.filters.update(shown.FILTERS)
    return app


def limit(app: Flask, limited: Any, *endpoints: str) -> None:
    """Put a limiter's decorator around some endpoints."""
    for endpoint in endpoints:
        app.view_functions[endpoint] = limited(app.view_functions[endpoint])


def languages() -> list[str]:
    """The languages that the pages are translated into."""
    found = {path.parent.parent.name for path in TRANSLATIONS.glob("*/LC_MESSAGES/*.mo")}
    return sorted(found | {"en"})


def _locale() -> str:
    return request.accept_languages.best_match(languages(), default="en") or "en"


def _who_tries() -> str:
    """Whose tries are counted together: a known browser's, else an address's; other cookies are ignored."""
    known = holder()
    return f"{request.remote_addr} {known.id if known else viewer().role.value}"


def _is_wrong_code(response: Response) -> bool:
    return response.status_code == enrol.WRONG


@cache
def digest() -> str:
    """A short hash over all static files: part of their address, so a browser may keep them for ever."""
    found = hashlib.sha256()
    for path in sorted((HERE / "static").rglob("*")):
        if path.is_file():
            found.update(path.name.encode())
            found.update(path.read_bytes())
    return found.hexdigest()[:12]


def asset(name: str) -> str:
    """The address of a static file."""
    return f"/static/{digest()}/{name}"


def _static(digest: str, name: str) -> Response:
    response = send_from_directory(HERE / "static", name)
    is_current = digest == asset("").split("/")[2]
    response.headers["Cache-Control"] = f"public, max-age={A_YEAR}, immutable" if is_current else "no-store"
    return response
