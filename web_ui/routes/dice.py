"""Dice as the camera read them, each to be corrected by a click."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from flask import Blueprint, Response, abort, render_template, request
from flask.typing import ResponseReturnValue

from companion.core import command as c
from companion.core.event import DieCorrected
from companion.core.history import corrected
from companion.core.observation import DiceRested, DieSeen
from web_ui.context import viewer, web
from web_ui.shown import facts

PAGES = Blueprint("dice", __name__)


def _rest(frame: int | None) -> DiceRested | None:
    rests = web().dice.rests()
    return next((rest for rest in rests if frame in (None, rest.frame)), None)


@PAGES.get("/dice")
def page() -> ResponseReturnValue:
    """The newest rest, or the one of ``?frame=``, die by die."""
    rest = _rest(request.args.get("frame", type=int))
    rests = web().dice.rests()
    return render_template(
        "dice.html",
        rest=rest,
        dice=[] if rest is None else [_told(rest, n, die) for n, die in enumerate(rest.dice)],
        faces=web().dice.faces(),
        others=[other.frame for other in rests if rest is not None and other.frame != rest.frame][:8],
        is_gone=rest is None and bool(rests),
        **facts(web(), viewer()),
    )


@PAGES.get("/dice/<int:frame>/<int:n>.png")
def face(frame: int, n: int) -> ResponseReturnValue:
    """One die of a rest, and a little of what is around it."""
    rest = _rest(frame)
    if rest is None or n >= len(rest.dice):
        abort(404)
    found = web().dice.face(frame, rest.dice[n].box_px)
    if found is None:
        abort(404)
    return Response(found, mimetype="image/png")


def _told(rest: DiceRested, n: int, die: DieSeen) -> dict[str, Any]:
    """A die with the unfinished command that corrects it, and what it was corrected to already."""
    command = c.CorrectDie(source=rest.source, frame=rest.frame, die=die, value="", learn=False)
    done = _correction(rest, die)
    seats = web().desk.snapshot().sitting.playing()
    return {
        "n": n,
        "die": die,
        "seat": next((seat for seat in seats if die.owner in (seat.id, seat.colour, seat.name)), None),
        "slot": int(die.on[1]) + 1 if die.on and die.on[1].isdecimal() else None,
        "command": json.dumps(msgspec.to_builtins(command)),
        "entry": None if done is None else done[0],
        "now": None if done is None else done[1].value,
        "lesson": "" if done is None else web().dice.lessons().get(done[0], ""),
        "may_learn": done is not None and done[1].learn and bool(done[1].value),
    }


def _correction(rest: DiceRested, die: DieSeen) -> tuple[int, DieCorrected] | None:
    """The newest correction of this die that counts, with the number of its entry; one of another picture, whose
    camera has counted its frames anew since, is none."""
    found = [
        (entry.n, event)
        for entry in corrected(web().desk.entries())
        for event in entry.events
        if isinstance(event, DieCorrected)
        and (event.source, event.frame, event.die) == (rest.source, rest.frame, die)
    ]
    return found[-1] if found else None
