"""The devices page, what is done there with pads, and the live picture of a camera."""

from __future__ import annotations

from flask import Blueprint, Response, abort, flash, redirect, render_template, request
from flask.typing import ResponseReturnValue
from flask_babel import gettext

from companion.core.seat import Actor
from web_ui.context import holder, viewer, web
from web_ui.shown import health_facts

PAGES = Blueprint("devices", __name__)
MAX_NAME = 40


@PAGES.get("/devices")
def page() -> ResponseReturnValue:
    """Everything that is plugged in, and what to do about what is not well."""
    return render_template("devices.html", **health_facts(web(), viewer()))


@PAGES.post("/devices/expect")
def expect() -> ResponseReturnValue:
    """The next free pad that is pressed goes to this seat; without a seat nothing is waited for any more."""
    mine, seat = holder(), request.form.get("seat", "")
    sitting = web().desk.snapshot().sitting
    if mine is None or (seat and all(each.id != seat for each in sitting.playing())):
        abort(404)
    web().pads.expect(seat, Actor(role=mine.role, seat=mine.seat, name=mine.device))
    return redirect("/devices", 303)


@PAGES.post("/devices/find")
def find() -> ResponseReturnValue:
    """Let a pad blink and sound, so that it is found."""
    web().pads.find(_known(request.form.get("device", "")))
    return redirect("/devices", 303)


@PAGES.post("/devices/pair")
def pair() -> ResponseReturnValue:
    """Give a pad on a cable its key for the radio."""
    device = _known(request.form.get("device", ""))
    try:
        why = web().pads.pair(device)
    except OSError as error:
        why = gettext("its key could not be kept: %(why)s", why=error.strerror or str(error))
    flash(why or gettext("%(device)s has its own key now and signs what it says by radio.", device=device))
    return redirect("/devices", 303)


@PAGES.post("/devices/name")
def rename() -> ResponseReturnValue:
    """Give a pad the name that people call it."""
    device, name = _known(request.form.get("device", "")), request.form.get("name", "").strip()
    try:
        web().pads.rename(device, name)
    except ValueError:
        flash(gettext("A name has at most %(n)s printable letters.", n=MAX_NAME))
    except OSError as error:
        flash(gettext("The name could not be kept: %(why)s", why=error.strerror or str(error)))
    return redirect("/devices", 303)


def _known(device: str) -> str:
    if all(each.name != device for each in web().health().devices):
        abort(404)
    return device


@PAGES.get("/devices/camera/<name>.jpg")
def camera(name: str) -> ResponseReturnValue:
    """The newest frame of a camera."""
    picture = web().evidence.camera(name)
    if picture is None:
        abort(404)
    return Response(picture, mimetype="image/jpeg")
