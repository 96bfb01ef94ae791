"""Coming in by a code, and the sheet on which the referee finds the codes."""

from __future__ import annotations

import io
from collections.abc import Sequence
from urllib.parse import urlsplit

import segno
from flask import Blueprint, abort, redirect, render_template, request
from flask.typing import ResponseReturnValue
from flask_babel import gettext
from markupsafe import Markup

from companion.core.seat import REFEREE, Role, Seat, Viewer
from web_ui.context import holder, web
from web_ui.routes.home import HOMES

PAGES = Blueprint("enrol", __name__)
RATE = "10/minute;60/hour"
WRONG = 422
HERE = ("localhost", "127.0.0.1", "::1")
COOKIE_AGE_S = 30 * 24 * 3600


def _seats() -> Sequence[Seat]:
    return web().desk.snapshot().sitting.playing()


@PAGES.get("/enter")
def enter() -> ResponseReturnValue:
    """Ask for a code; with one in the address (from a QR code) ask whether to come in. Changes nothing."""
    code = request.args.get("code", "")[:40]
    if not code:
        return render_template("enter.html", code="", whom=None, seat=None, wrong="")
    return _ask(code)


def _ask(code: str) -> ResponseReturnValue:
    whom = web().access.passes.whose(code, [seat.id for seat in _seats()])
    if whom is None:
        return _wrong()
    seat = web().desk.snapshot().sitting.seat(whom.seat)
    return render_template("enter.html", code=code, whom=whom, seat=seat, wrong="")


def _wrong() -> ResponseReturnValue:
    wrong = gettext("That code is wrong or was used already. Ask the referee for a new one.")
    return render_template("enter.html", code="", whom=None, seat=None, wrong=wrong), WRONG


@PAGES.post("/enter")
def redeem() -> ResponseReturnValue:
    """Trade the code for this browser's pass."""
    access = web().access
    before = holder()
    made = access.passes.redeem(
        request.form.get("code", "")[:40], [seat.id for seat in _seats()], _browser(request.user_agent.string)
    )
    if made is None:
        return _wrong()
    if before is not None:
        access.passes.revoke(before.id)
    new, token = made
    response = redirect("/pad" if request.form.get("to") == "pad" else HOMES[new.role], 303)
    response.set_cookie(
        access.cookie, token, max_age=COOKIE_AGE_S, httponly=True, samesite="Lax", secure=request.is_secure
    )
    return response


@PAGES.post("/leave")
def leave() -> ResponseReturnValue:
    """Give the pass back."""
    mine = holder()
    if mine is None:
        abort(403)
    web().access.passes.revoke(mine.id)
    response = redirect("/enter", 303)
    response.delete_cookie(web().access.cookie)
    return response


@PAGES.get("/people")
def sheet() -> ResponseReturnValue:
    """Codes and QR codes of all seats, and every browser that is in."""
    passes = web().access.passes
    origins = _origins()
    chosen = request.args.get("at", "")
    origin = chosen if chosen in origins else origins[0]
    is_for_pads = request.args.get("for", "") == "pad"
    tail = "&to=pad" if is_for_pads else ""
    rows = []
    for whom, seat in (*((Viewer(Role.SEAT, seat.id), seat) for seat in _seats()), (REFEREE, None)):
        code = passes.code(whom)
        rows.append(
            {
                "whom": whom,
                "seat": seat,
                "code": code,
                "qr": _qr(f"{origin}/enter?code={code}{tail}") if code else None,
                "holders": [h for h in passes.holders() if h.viewer == whom],
            }
        )
    return render_template(
        "people.html",
        is_alone=all(urlsplit(each).hostname in HERE for each in origins),
        title=web().desk.game.title,
        rows=rows,
        origins=origins,
        origin=origin,
        is_for_pads=is_for_pads,
        board_qr=_qr(f"{origin}/board"),
        me=holder(),
    )


def _origins() -> list[str]:
    """Where others find these pages: the address that this page came by, then the rest of this host's."""
    port = urlsplit(request.host_url).port
    tail = f":{port}" if port else ""
    others = [f"{request.scheme}://{address}{tail}" for address in web().addresses()]
    own = request.host_url.rstrip("/")
    is_local = urlsplit(own).hostname in HERE
    return list(dict.fromkeys([*others, own] if is_local else [own, *others]))


def _qr(text: str) -> Markup:
    out = io.BytesIO()
    segno.make(text, error="m", micro=False).save(
        out,
        kind="svg",
        xmldecl=False,
        svgns=True,
        nl=False,
        border=4,
        omitsize=True,
        dark="#000",
        light="#fff",
    )
    return Markup(out.getvalue().decode())  # segno's own drawing, the text is not in it


@PAGES.post("/people/code")
def renew() -> ResponseReturnValue:
    """Make a fresh code for a seat or for another referee."""
    seat_id = request.form.get("seat", "")
    if seat_id and all(seat.id != seat_id for seat in _seats()):
        abort(404)
    web().access.passes.renew(Viewer(Role.SEAT, seat_id) if seat_id else REFEREE)
    return redirect("/people", 303)


@PAGES.post("/people/revoke")
def revoke() -> ResponseReturnValue:
    """Send a browser away at once; not the one that asks (it leaves by its own button)."""
    wanted = request.form.get("holder", "")
    mine = holder()
    if mine is not None and mine.id == wanted:
        abort(400)
    web().access.passes.revoke(wanted)
    return redirect("/people", 303)


def _browser(agent: str) -> str:
    """A browser's name for itself in two words."""
    systems = ("iPhone", "iPad", "Android", "Windows", "Mac OS", "CrOS", "Linux")
    kinds = (("Firefox", "Firefox"), ("Edg", "Edge"), ("Chrome", "Chrome"), ("Safari", "Safari"))
    system = next((name for name in systems if name in agent), "")
    kind = next((name for mark, name in kinds if mark in agent), "")
    return f"{kind or gettext('a browser')} {system}".strip()
