"""The page on which the terrains of a photographed map are painted."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import msgspec
from flask import Blueprint, Response, current_app, jsonify, redirect, render_template, request, session
from flask.typing import ResponseReturnValue
from flask_babel import gettext

from web_ui.maps import AreaOf, MapError, Maps, MapShown

PAGES = Blueprint("maps", __name__)
NAME = "maps"
SAID = "said of maps"
MOST_AREAS, MOST_CORNERS = 200, 400


class _Painted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: int
    areas: tuple[AreaOf, ...]


class _Trimmed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: int
    area: int


def _desk() -> Maps:
    return cast(Maps, current_app.extensions[NAME])


@PAGES.get("/map")
def page() -> ResponseReturnValue:
    """The photograph with all that is painted on it."""
    found = _desk().shown()
    return render_template(
        "map.html", map=found, state=_state(found), title=found.title, said=session.pop(SAID, None)
    )


@PAGES.get("/map.jpg")
def picture() -> ResponseReturnValue:
    """The board, laid flat."""
    return Response(_desk().picture(), mimetype="image/jpeg")


@PAGES.post("/map/paint")
def paint() -> ResponseReturnValue:
    """Take over what was painted."""

    def do() -> MapShown:
        asked = msgspec.json.decode(request.get_data(), type=_Painted)
        if len(asked.areas) > MOST_AREAS or any(len(area.polygon) > MOST_CORNERS for area in asked.areas):
            raise MapError(str(gettext("That is more than a map holds.")))
        return _desk().paint(asked.areas, asked.version)

    return _answered(do)


@PAGES.post("/map/trim")
def trim() -> ResponseReturnValue:
    """Take away from an area what others have painted already."""

    def do() -> MapShown:
        asked = msgspec.json.decode(request.get_data(), type=_Trimmed)
        return _desk().trim(asked.area, asked.version)

    return _answered(do)


@PAGES.post("/map/keep")
def keep() -> ResponseReturnValue:
    """Write the map's file."""
    try:
        session[SAID] = {"text": _desk().keep(), "is_good": True}
    except MapError as error:
        session[SAID] = {"text": str(error), "is_good": False}
    return redirect("/map", 303)


def _answered(do: Callable[[], MapShown]) -> ResponseReturnValue:
    try:
        return jsonify(_state(do()))
    except MapError as error:
        return jsonify({"error": str(error)}), 409
    except msgspec.MsgspecError:
        return jsonify({"error": str(gettext("The page sent what cannot be read. Reload it."))}), 400


def _state(found: MapShown) -> dict[str, object]:
    """What the page's script works with."""
    return {
        "version": found.version,
        "is_kept": found.is_kept,
        "areas": msgspec.to_builtins(found.areas),
        "faults": msgspec.to_builtins(found.faults),
    }
