"""Pages that are pads: a phone with one large button, and the keys of a keyboard."""

from __future__ import annotations

from typing import Any

import msgspec
from flask import Blueprint, abort, jsonify, render_template, request
from flask.typing import ResponseReturnValue
from flask_babel import gettext

from companion.core import command as c
from companion.core.cue import SHAPES
from web_ui.context import holder, viewer, web
from web_ui.pads import KINDS, device_of
from web_ui.shown import facts

PAGES = Blueprint("pads", __name__)
RATE = "10/second"


@PAGES.get("/pad")
def phone() -> ResponseReturnValue:
    """This phone as a pad."""
    return render_template("pad.html", **_facts("phone"))


@PAGES.get("/keys")
def keys() -> ResponseReturnValue:
    """The keys of this keyboard, or buzzers that type, as pads."""
    return render_template("keys.html", **_facts("keys"))


@PAGES.get("/pad/state")
def state() -> ResponseReturnValue:
    """As JSON: which device this page is, whose it is, and how well its presses are known.

    ``{device, mine, is_asked, u_ms, seats: [{id, name, device, input}]}``
    """
    kind = request.args.get("kind", "")
    if kind not in KINDS:
        abort(404)
    sitting = web().desk.snapshot().sitting
    device = _device(kind)
    known = next((d for d in web().health().devices if d.name == device), None)
    u_ns = known.clock_u_ns if known is not None and known.is_up else None
    asked = any(isinstance(p.command, c.AssignPad) and p.command.device == device for p in sitting.proposals)
    seats = [
        {"id": seat.id, "name": seat.name, "device": seat.device, "input": seat.input}
        for seat in sitting.playing()
    ]
    return jsonify(
        {
            "device": device,
            "mine": viewer().seat or None,
            "is_asked": asked,
            "u_ms": None if u_ns is None else u_ns / 1e6,
            "seats": seats,
        }
    )


def _device(kind: str) -> str:
    mine = holder()
    if mine is None:
        abort(403)
    return device_of(kind, mine.id)


def _facts(kind: str) -> dict[str, Any]:
    return {
        **facts(web(), viewer()),
        "device": _device(kind),
        "kind": kind,
        "shapes": {name: msgspec.to_builtins(shape) for name, shape in SHAPES.items()},
        "patterns": _words(),
    }


def _words() -> dict[str, str]:
    """What a pattern means, in a few words for whoever holds the phone."""
    return {
        "off": "",
        "find": gettext("Here!"),
        "ready": gettext("Ready"),
        "countdown": gettext("Get ready"),
        "go": gettext("GO!"),
        "stop": gettext("Stop"),
        "false_start": gettext("False start"),
        "slam": gettext("Slam!"),
        "place_1": gettext("First"),
        "place_2": gettext("Second"),
        "place_3": gettext("Third or later"),
        "dead_heat": gettext("Dead heat"),
        "void": gettext("It does not count"),
        "breach": gettext("Out of the round"),
        "end": gettext("The cast is over"),
        "win": gettext("The game is won"),
    }
