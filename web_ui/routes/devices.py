"""The devices page and the live picture of a camera."""

from __future__ import annotations

from flask import Blueprint, Response, abort, render_template
from flask.typing import ResponseReturnValue

from web_ui.context import viewer, web
from web_ui.shown import health_facts

PAGES = Blueprint("devices", __name__)


@PAGES.get("/devices")
def page() -> ResponseReturnValue:
    """Everything that is plugged in, and what to do about what is not well."""
    return render_template("devices.html", **health_facts(web(), viewer()))


@PAGES.get("/devices/camera/<name>.jpg")
def camera(name: str) -> ResponseReturnValue:
    """The newest frame of a camera."""
    picture = web().evidence.camera(name)
    if picture is None:
        abort(404)
    return Response(picture, mimetype="image/jpeg")
