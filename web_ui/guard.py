"""What happens before and after every request: door, origin, role; and the headers that bind the browser."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable

from flask import Flask, Response, g, jsonify, render_template, request
from flask.typing import ResponseReturnValue
from flask_babel import gettext
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import HTTPException

from web_ui.access import PAGES, may_see
from web_ui.context import viewer, web

LetIn = Callable[[], ResponseReturnValue | None]
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
LOG = logging.getLogger(__name__)


def wants_json() -> bool:
    """Whether the asker is a script of ours rather than a person's browser window."""
    return "application/json" in request.headers.get("Accept", "") or request.is_json


def refusal(status: int, why: str, *, reload: bool = False) -> ResponseReturnValue:
    """A refusal as the asker understands it: JSON for scripts, a plain page for people."""
    if wants_json():
        return jsonify({"error": why, "reload": reload}), status
    return render_template("plain.html", why=why, status=status), status


def nonce() -> str:
    """The one-time word that lets our own scripts of this page run."""
    if "nonce" not in g:
        g.nonce = secrets.token_urlsafe(16)
    return str(g.nonce)


def install(app: Flask, let_in: LetIn | None = None) -> None:
    """Put the guard around every request of the application. `let_in` answers a request that is not let in, and
    nothing for one that is; by default the table's own door and roles decide."""
    app.before_request(let_in or _let_in)
    app.after_request(_bind)
    app.register_error_handler(CSRFError, _stale_form)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(Exception, _bug)


def _let_in() -> ResponseReturnValue | None:
    access = web().access
    closed = access.door(request.remote_addr or "", request.headers.get("Host", ""))
    if closed:
        return Response(closed.why + "\n", closed.status, mimetype="text/plain")
    if request.method not in SAFE and not access.is_same_origin(
        request.headers.get("Origin"),
        request.headers.get("Sec-Fetch-Site"),
        request.scheme,
        request.headers.get("Host", ""),
    ):
        return refusal(403, gettext("This came from a foreign page and was refused."))
    if request.endpoint in PAGES and not may_see(viewer().role, request.endpoint):
        return refusal(403, gettext("This page is not yours. Enter the code of your seat first."))
    if request.endpoint is not None and request.endpoint not in PAGES:
        return refusal(404, gettext("There is no such page."))
    return None


def _bind(response: Response) -> Response:
    headers = response.headers
    headers["Content-Security-Policy"] = (
        "default-src 'none'; "
        f"script-src 'self' 'nonce-{nonce()}'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "font-src 'self'; manifest-src 'self'; media-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    )
    headers["X-Content-Type-Options"] = "nosniff"
    headers["Referrer-Policy"] = "same-origin"
    headers["Cross-Origin-Opener-Policy"] = "same-origin"
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
    headers["Permissions-Policy"] = "camera=(), microphone=(), geolocation=(), payment=(), usb=()"
    headers.setdefault("Cache-Control", "no-store")
    return response


def _stale_form(error: CSRFError) -> ResponseReturnValue:
    why = gettext("This page is out of date. Reload it and do it again; nothing was changed.")
    return refusal(400, why, reload=True)


def _http_error(error: HTTPException) -> ResponseReturnValue:
    if error.code in (301, 302, 303, 307, 308):
        return error
    known = {
        404: gettext("There is no such page."),
        405: gettext("That cannot be done here."),
        413: gettext("That is too much at once."),
        429: gettext("Too many tries. Wait a minute, then try again."),
    }
    status = error.code or 500
    return refusal(status, known.get(status, gettext("That request could not be read.")))


def _bug(error: Exception) -> ResponseReturnValue:
    LOG.exception("a page failed")
    return refusal(500, gettext("The page failed on our side; the game is not touched. Reload the page."))
