"""The journal as the referee reads it: what happened, its head, its download, and how it is corrected."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec
from flask import Blueprint, Response, abort, render_template, request
from flask.typing import ResponseReturnValue
from flask_babel import gettext

from companion.core import command as c
from companion.core.event import Entry
from companion.core.history import corrected
from companion.core.seat import Role
from web_ui.context import viewer, web
from web_ui.forms import FormError, command_json, fields_of
from web_ui.guard import refusal
from web_ui.shown import facts, is_covered, told

PAGES = Blueprint("journal", __name__)
PAGE = 100
MAX_WHY = 200
WAYS = ("void", "replace", "insert")


@PAGES.get("/journal")
def page() -> ResponseReturnValue:
    """The newest entries first, a hundred at a time."""
    version = web().desk.snapshot().version
    until = min(request.args.get("until", version, type=int), version)
    everything = web().desk.entries()
    entries = everything[max(0, until - PAGE) : until]
    counting = frozenset(entry.n for entry in corrected(everything))
    return render_template(
        "journal.html",
        entries=[told(web(), entry, counting) for entry in reversed(entries)],
        older=until - PAGE if until > PAGE else None,
        **facts(web(), viewer()),
    )


@PAGES.get("/journal/export.jsonl")
def download() -> ResponseReturnValue:
    """The whole journal as JSON Lines, one entry a line, with its head in a header.

    Refused with 409 while it holds what nobody who reads it may know yet.
    """
    desk = web().desk
    if any(is_covered(web(), entry) for entry in desk.entries()):
        return refusal(
            409, gettext("This journal holds cards that are still hidden. Download it after the game.")
        )

    def lines() -> Iterator[bytes]:
        for entry in desk.entries():
            yield desk.codec.encode(entry) + b"\n"

    response = Response(lines(), mimetype="application/jsonl")
    response.headers["Content-Disposition"] = "attachment; filename=journal.jsonl"
    response.headers["X-Journal-Head"] = desk.snapshot().head
    return response


def _entry(number: int) -> Entry:
    found = next(iter(web().desk.entries(number - 1)), None)
    if found is None or found.n != number or number <= 1:
        abort(404)
    return found


def _replacements() -> list[type[c.Command]]:
    return [kind for kind in web().desk.game.commands if Role.SENSOR in kind.by or Role.REFEREE in kind.by]


@PAGES.get("/journal/<int:number>/correct")
def correct(number: int) -> ResponseReturnValue:
    """How an entry may be corrected: it did not happen, something else happened, something came before it."""
    entry = _entry(number)
    way = request.args.get("way", "void")
    kinds = _replacements()
    now: dict[str, Any] = {} if entry.command is None else msgspec.to_builtins(entry.command)
    if is_covered(web(), entry):
        now = {"do": now.get("do")}
    name = request.args.get("do") or (now.get("do") if way == "replace" else "")
    kind = next((kind for kind in kinds if kind.__name__ == name), None)
    seats = web().desk.snapshot().sitting.seats
    fields = fields_of(kind, now if now.get("do") == name else {}, seats) if kind else ()
    return render_template(
        "correct.html",
        entry=told(web(), entry),
        way=way if way in WAYS else "void",
        kinds=[kind.__name__ for kind in kinds],
        kind=kind.__name__ if kind else "",
        fields=fields,
        **facts(web(), viewer()),
    )


@PAGES.post("/journal/<int:number>/preview")
def preview(number: int) -> ResponseReturnValue:
    """What a correction would leave without effect, and the button that does it. Changes nothing."""
    entry = _entry(number)
    why = request.form.get("why", "").strip()[:MAX_WHY]
    if not why:
        return refusal(400, gettext("Say why: go back and fill in the reason."))
    try:
        body = _correction(number, request.form.get("way", ""), why)
        command = web().desk.codec.command(json.dumps(body).encode())
    except (FormError, msgspec.MsgspecError, RecursionError) as wrong:
        return refusal(400, gettext("That correction could not be read: %(why)s", why=str(wrong)))
    orphans = web().desk.preview(command)
    body["orphans"] = list(orphans)
    lost = [told(web(), e) for e in web().desk.entries() if e.n in orphans]
    return render_template(
        "preview.html",
        entry=told(web(), entry),
        way=body["do"].lower(),
        command=json.dumps(body),
        inner=body.get("command"),
        why=why,
        lost=lost,
        **facts(web(), viewer()),
    )


def _correction(number: int, way: str, why: str) -> dict[str, Any]:
    if way == "void":
        return {"do": c.Void.__name__, "entry": number, "why": why}
    if way not in WAYS:
        raise FormError("The form is damaged. Reload the page.")
    base = json.dumps({"do": request.form.get("do", "")})
    inner = json.loads(command_json(base, request.form, _replacements()))
    if way == "replace":
        return {"do": c.Replace.__name__, "entry": number, "command": inner, "why": why}
    return {"do": c.Insert.__name__, "before": number, "command": inner, "why": why}
