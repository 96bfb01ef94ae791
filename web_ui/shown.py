"""Facts for the templates: a view arranged for a page, and journal entries in words."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from typing import Any

import msgspec
from flask_babel import gettext

from companion.core import command as c
from companion.core import event as e
from companion.core.geometry import Point
from companion.core.history import correction_of
from companion.core.ruling import Ruling
from companion.core.seat import Role, Seat, Viewer
from companion.core.view import Action, View
from web_ui.context import Web
from web_ui.health import battery_grade, clock_grade, signal_grade

RULINGS_SHOWN = 12
STREAMS = {Role.REFEREE: "/live/referee", Role.SEAT: "/live/seat", Role.PUBLIC: "/live/public"}


def facts(web: Web, viewer: Viewer) -> dict[str, Any]:
    """All that a table page needs; the version is never newer than what is shown."""
    snapshot = web.desk.snapshot()
    view = web.desk.view(viewer)
    seats = {seat.id: seat for seat in view.seats}
    return {
        "view": view,
        "viewer": viewer,
        "title": web.desk.game.title,
        "version": snapshot.version,
        "head": snapshot.head,
        "waiting_for": snapshot.waiting_for,
        "fault": snapshot.fault,
        "seats": seats,
        "proposed": {p.id: words(p.command, seats) for p in snapshot.provisional.proposals},
        "places": arranged(view),
        "rulings": tuple(reversed(view.rulings[-RULINGS_SHOWN:])),
        "released": snapshot.sitting.released,
        "stream": STREAMS[viewer.role],
        "after": after(web),
    }


def health_facts(web: Web, viewer: Viewer) -> dict[str, Any]:
    """All that the devices page needs."""
    return {
        **facts(web, viewer),
        "health": web.health(),
        "now_ns": web.desk.now_ns(),
        "pressed": web.pads.pressed(),
        "awaited": web.pads.awaited(),
        "stream": "/live/devices",
    }


def after(web: Web) -> str:
    """The stream id at which a page that is made now goes on: nothing is lost and nothing repeated."""
    said = web.desk.announcements()
    return f"{web.boot}-{said[-1].id if said else 0}"


class Group(msgspec.Struct, frozen=True):
    """Actions that belong together and to no zone that is shown."""

    id: str
    title: str
    actions: tuple[Action, ...]


class Arranged(msgspec.Struct, frozen=True):
    """A view's actions by where they stand: in the dock that is always there, with a zone, or in a group.

    `review`: what opens or closes a review. `has_own`: there is something to do outside the dock.
    """

    stop: Action | None
    undo: Action | None
    review: tuple[Action, ...]
    zones: dict[str, tuple[Action, ...]]
    groups: tuple[Group, ...]
    has_own: bool


def arranged(view: View) -> Arranged:
    """Every action once. Stop, undo and review have a place of their own on every page."""
    listed = [action for action in view.actions if view.primary is None or action.id != view.primary.id]
    stop = next((action for action in listed if isinstance(action.command, c.Stop)), None)
    if stop is not None and view.viewer.role is not Role.REFEREE:
        stop = msgspec.structs.replace(stop, key="")  # at a seat the space bar presses what has the focus
    review = tuple(action for action in listed if isinstance(action.command, (c.OpenReview, c.CloseReview)))
    placed = (c.Stop, c.OpenReview, c.CloseReview)
    others = [action for action in listed if not isinstance(action.command, placed)]
    zones: dict[str, tuple[Action, ...]] = {zone.id: () for zone in view.zones}
    loose: dict[str, tuple[Action, ...]] = {"": ()}
    for action in others:
        place = zones if action.zone in zones else loose
        place[action.zone] = (*place.get(action.zone, ()), action)
    titles = {"": gettext("Also possible"), "seats": gettext("Players"), "rules": gettext("House rules")}
    groups = tuple(
        Group(zone, titles.get(zone, spaced(zone)), actions) for zone, actions in loose.items() if actions
    )
    undo = _undo() if view.viewer.role is Role.REFEREE else None
    return Arranged(stop, undo, review, zones, groups, bool(others))


def _undo() -> Action:
    return Action(
        id="undo",
        command=c.Undo(),
        label=gettext("Undo"),
        effect=gettext("The last thing that was played is taken back."),
        key="u",
    )


def told(web: Web, entry: e.Entry, counting: frozenset[int] | None = None) -> dict[str, Any]:
    """A journal entry in words. `counting`: numbers of the entries that were not taken back, None for any."""
    seats = {seat.id: seat for seat in web.desk.snapshot().sitting.seats}
    correction = correction_of(entry)
    refused = next((event for event in entry.events if isinstance(event, e.Refused)), None)
    return {
        "n": entry.n,
        "time": time.strftime("%H:%M:%S", time.localtime(entry.wall_ms / 1000)),
        "who": _who(entry, seats),
        "what": _covered(entry) if is_covered(web, entry) else _what(entry, seats),
        "facts": ", ".join(spaced(type(event).__name__) for event in entry.events),
        "refused": refused.ruling if refused else None,
        "why": getattr(correction, "why", ""),
        "may_correct": entry.n > 1 and refused is None,
        "counts": counting is None or correction is not None or entry.n in counting,
    }


def is_covered(web: Web, entry: e.Entry) -> bool:
    """Whether nobody who reads the journal may know yet what this entry holds."""
    return web.desk.game.is_secret(web.desk.snapshot().sitting, entry)


def _covered(entry: e.Entry) -> str:
    kind = spaced(type(entry.command).__name__)
    return str(gettext("%(what)s: what it was stays covered until the game is over.", what=kind))


def _what(entry: e.Entry, seats: Mapping[str, Seat]) -> str:
    return words(entry.command, seats) if entry.command else str(gettext("The table was opened."))


def _who(entry: e.Entry, seats: Mapping[str, Seat]) -> str:
    actor = entry.actor
    seat = seats.get(actor.seat)
    return " ".join(
        part for part in (actor.role.value, seat.name if seat else actor.seat, actor.name) if part
    )


def spaced(name: str) -> str:
    """``LockDie`` as "Lock die"."""
    found = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return found[:1].upper() + found[1:].lower()


def words(command: c.Command, seats: Mapping[str, Seat]) -> str:
    """A command in words: what, then its fields that were filled in."""
    parts = [spaced(type(command).__name__)]
    for name in getattr(command, "__struct_fields__", ()):
        value = getattr(command, name)
        if isinstance(value, c.Command):
            parts.append(f"({words(value, seats)})")
        elif value is not False and value not in ("", (), None):
            parts.append(f"{name.replace('_', ' ')} {_plain(value, seats)}")
    return parts[0] + (": " + "; ".join(parts[1:]) if parts[1:] else "")


def _plain(value: object, seats: Mapping[str, Seat]) -> str:
    if isinstance(value, str) and value in seats:
        return f"{seats[value].letter} {seats[value].name}"
    if isinstance(value, tuple):
        return ", ".join(_plain(item, seats) for item in value)
    if isinstance(value, msgspec.Struct):
        return msgspec.json.encode(value).decode()
    return str(value)


def command_text(action: Action) -> str:
    """The unfinished command of an action as JSON, for the form that completes it."""
    return msgspec.json.encode(action.command).decode()


def middle(outline: tuple[Point, ...]) -> tuple[float, float]:
    """The mean of an outline's corners, to a tenth of its unit."""
    count = max(1, len(outline))
    return round(sum(x for x, _ in outline) / count, 1), round(sum(y for _, y in outline) / count, 1)


def points(outline: tuple[Point, ...]) -> str:
    """A polygon as SVG wants it."""
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in outline)


def instant(ruling: Ruling) -> str:
    """The instant of a ruling with its uncertainty, empty when it means none."""
    if ruling.t_ms is None:
        return ""
    unsure = "" if ruling.u_ms is None else f" ± {ruling.u_ms:.1f}"
    return f"{ruling.t_ms:.1f}{unsure} ms"


def clock_text(left_ns: int) -> str:
    """Minutes and seconds, the running second counted in full."""
    seconds = -(-max(0, left_ns) // 1_000_000_000)
    return f"{seconds // 60}:{seconds % 60:02d}"


def ago(then_ns: int | None, now_ns: int) -> str:
    """How long ago an instant was, in words."""
    if then_ns is None:
        return str(gettext("never"))
    seconds = max(0, now_ns - then_ns) / 1e9
    if seconds < 90:
        return str(gettext("%(n)s s ago", n=round(seconds)))
    return str(gettext("%(n)s min ago", n=round(seconds / 60)))


FILTERS = {
    "command_text": command_text,
    "middle": middle,
    "points": points,
    "instant": instant,
    "clock_text": clock_text,
    "value_text": json.dumps,
    "spaced": spaced,
    "clock_grade": clock_grade,
    "battery_grade": battery_grade,
    "signal_grade": signal_grade,
}
GLOBALS = {"ago": ago}
