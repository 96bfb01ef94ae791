"""The one address to which commands are sent."""

from __future__ import annotations

import secrets
from concurrent.futures import TimeoutError as Late
from typing import Any

import msgspec
from flask import Blueprint, flash, jsonify, redirect, request
from flask.typing import ResponseReturnValue
from flask_babel import gettext

from companion.core.command import COMMANDS, Command
from companion.core.seat import Actor
from companion.runtime.desk import Answer
from companion.runtime.journal import JournalError
from companion.runtime.loop import TableClosedError
from web_ui.access import may_command
from web_ui.context import holder, web
from web_ui.forms import FormError, command_json
from web_ui.guard import refusal, wants_json
from web_ui.routes.home import HOMES

PAGES = Blueprint("command", __name__)
RATE = "30/second"
PATIENCE_S = 10.0
MAX_KEY = 100
MAX_DEPTH = 3


class Sent(msgspec.Struct, kw_only=True):
    """A command as a script sends it. `expected`: the version it saw, None to take any."""

    command: msgspec.Raw
    key: str = ""
    expected: int | None = None


@PAGES.post("/command")
def give() -> ResponseReturnValue:
    """Order something at the table, as JSON or as a filled-in form.

    Answers `{accepted, ruling, version, entry}` once the journal has it, or sends a form back to its page.
    The same key from the same browser gets the same answer.
    """
    mine = holder()
    if mine is None:
        return refusal(403, gettext("Enter the code of your seat first."))
    codec = web().desk.codec
    try:
        sent = _sent_json() if request.is_json else _sent_form()
        command = codec.command(bytes(sent.command))
        _check_depth(command)
    except (msgspec.MsgspecError, FormError, UnicodeError, RecursionError) as wrong:
        return refusal(400, gettext("That command could not be read: %(why)s", why=str(wrong)))
    if not may_command(mine.role, type(command)):
        return refusal(403, gettext("Your page may not do this."))
    key = f"{mine.id}:{sent.key[:MAX_KEY] or secrets.token_hex(8)}"
    actor = Actor(role=mine.role, seat=mine.seat, name=mine.device)
    try:
        answer = web().desk.submit(command, actor, key, sent.expected).result(timeout=PATIENCE_S)
    except Late:
        return refusal(503, gettext("The table did not answer in time. Send it again; it counts once."))
    except (JournalError, TableClosedError) as broken:
        return refusal(503, gettext("Nothing was changed: %(why)s", why=str(broken)))
    if wants_json():
        return jsonify(_told(answer))
    if answer.ruling is not None:
        flash(f"{answer.ruling.because} ({answer.ruling.rule})")
    return redirect(HOMES[mine.role], 303)


def _check_depth(command: Command) -> None:
    """A correction holds a command, a proposal too; nobody needs more of them inside each other."""
    inner: object = command
    for _ in range(MAX_DEPTH):
        inner = getattr(inner, "command", None)
    if inner is not None:
        raise FormError(gettext("commands inside commands inside commands"))


def _sent_json() -> Sent:
    return msgspec.json.decode(request.get_data(), type=Sent)


def _sent_form() -> Sent:
    game = web().desk.game
    base = request.form.get("command", "")
    expected = request.form.get("expected", "")
    return Sent(
        command=msgspec.Raw(command_json(base, request.form, (*COMMANDS, *game.commands))),
        key=request.form.get("key", ""),
        expected=int(expected) if expected.isdecimal() else None,
    )


def _told(answer: Answer) -> dict[str, Any]:
    told: dict[str, Any] = {
        "accepted": answer.is_accepted,
        "version": answer.version,
        "entry": answer.entry,
        "ruling": None if answer.ruling is None else msgspec.to_builtins(answer.ruling),
    }
    return told
