"""``companion pads``: which pads are heard, what they are called, and which place at the table each has."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from companion.app.pad_desk import open_book
from companion.app.play import HEARD_S
from companion.app.settings import Settings, SettingsError, book_path
from companion.app.wiring import links_of
from companion.core.cue import Cue
from companion.core.observation import Observation, Pressed
from firmware_bridge.link import Bridge
from firmware_bridge.pairing import PadBook, PadInput, PairingError, pair
from firmware_bridge.status import DeviceStatus
from web_ui.health import battery_grade, signal_grade

LOOK_S = 0.25
PATIENCE_S = 10.0
COLUMNS = ("pad", "name", "place", "state", "clock", "class", "battery", "signal", "link")


class PadShown(msgspec.Struct, frozen=True, kw_only=True):
    """A pad as a program reads it. `places`: place numbers by input number, both from 1."""

    id: str
    name: str
    places: dict[str, int]
    state: str
    link: str
    inputs: int
    clock_u_ms: float | None
    doubt: str
    race_class: str
    battery: int | None
    rssi: int | None
    is_paired: bool
    problem: str
    mend: str


def pads(options: dict[str, Any]) -> int:
    """Do what was asked; the exit status. Raises SettingsError for what cannot be asked, ValueError and OSError."""
    book = open_book(options["book"] or book_path())
    if _kept(book, options) and not options["pair"]:
        return 0
    asked = Settings(
        game="", seats=(), options={}, data="", journal=Path(), seed=0, serial=tuple(options["serial"]),
        buzzers=tuple(options["buzzer"]), mqtt=options["mqtt"],
    )  # fmt: skip
    desk = Places(book, options["place"])
    desk.bridge = Bridge(links_of(asked, None), desk.observe, keys=book.keys)
    desk.bridge.start()
    try:
        if options["pair"]:
            return _pair_all(desk.bridge, book, tuple(options["pair"]))
        if options["as_json"]:
            time.sleep(HEARD_S)
            click.echo(_json(desk))
            return 0
        _watch(desk, is_for_one=options["place"] is not None)
    finally:
        desk.bridge.stop()
    return 0


def _kept(book: PadBook, options: dict[str, Any]) -> bool:
    """Names, delays and what is forgotten: needs no pad to be there. False when none of it was asked for."""
    for word in options["name"]:
        device, name = _halves("--name", word)
        _note(book, device, name=name)
        click.echo(f"{device} is called {name}" if name else f"{device} has no name")
    for word in options["measured"]:
        device, ms = _halves("--measured", word)
        try:
            stamp_us = round(float(ms) * 1000)
        except (ValueError, OverflowError):
            raise SettingsError(f"--measured {word!r}: give milliseconds, as in phone-1=9.5") from None
        _note(book, device, stamp_us=stamp_us)
        click.echo(f"{device} stamps a press at most {stamp_us / 1000:g} ms late")
    for device in options["forget"]:
        if device not in book.pads and all(pad.device != device for pad in book.places.values()):
            raise SettingsError(f"--forget {device!r}: nothing is known of it; {_known(book)}")
        book.forget(device)
        click.echo(f"{device} is forgotten")
    if options["clear"]:
        for place in tuple(book.places):
            book.seat(place, None)
        click.echo("No place has a pad any more")
    return bool(options["name"] or options["measured"] or options["forget"] or options["clear"])


def _halves(option: str, word: str) -> tuple[str, str]:
    device, is_given, value = word.partition("=")
    if not is_given:
        raise SettingsError(f"{option} {word!r}: write it as PAD=..., as in pad-1=...")
    return device.strip(), value.strip()


def _note(book: PadBook, device: str, **facts: object) -> None:
    try:
        book.note(device, **facts)
    except ValueError as wrong:
        raise SettingsError(f"{device!r}: {wrong}") from None


def _known(book: PadBook) -> str:
    return f"known are {', '.join(sorted(book.pads))}" if book.pads else "no pad is known yet"


def _pair_all(bridge: Bridge, book: PadBook, devices: tuple[str, ...]) -> int:
    """Give each pad a key over its cable; 1 when one of them did not take it."""
    failed = 0
    for device in devices:
        click.echo(f"Pairing {device}: hold it on its cable …", err=True)
        ends_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < ends_s and all(each.id != device for each in bridge.devices()):
            time.sleep(LOOK_S)
        try:
            pair(bridge, book, device)
        except PairingError as why:
            failed = 1
            heard = ", ".join(each.id for each in bridge.devices()) or "none"
            click.echo(f"companion: {why}. Pads heard: {heard}", err=True)
        else:
            click.echo(f"{device} is paired: it signs with its own key from now on")
    return failed


class Places:
    """Gives places to pads in the order in which they are pressed, or one place to the next pad.

    `bridge` is to be set before the first observation.
    """

    bridge: Bridge

    def __init__(self, book: PadBook, place: int | None = None) -> None:
        """`place`: the one that the next pressed pad gets; None: each pad without a place gets the first free one."""
        self.book = book
        self._place = place
        self.told: list[str] = []
        self.is_done = threading.Event()

    def observe(self, seen: Observation) -> None:
        """In the bridge's thread: a press gives a place."""
        if not isinstance(seen, Pressed) or seen.suspect or seen.resent:
            return
        pad = PadInput(seen.source, seen.input)
        word = f"{seen.source}:{seen.input + 1}"
        places = self.book.places
        has = next((place for place, other in places.items() if other == pad), None)
        if self._place is None and has is not None:
            self.told.append(f"{word} has place {has}")
        elif not self.is_done.is_set():
            free = next(number for number in range(1, len(places) + 2) if number not in places)
            place = self._place or free
            self.book.seat(place, pad)
            self.told.append(f"{word} has place {place} now")
            if self._place is not None:
                self.is_done.set()
        outputs = next((each.outputs for each in self.bridge.devices() if each.id == seen.source), ())
        everywhere = {seen.source: tuple((seen.source, index) for index in range(len(outputs)))}
        self.bridge.play(Cue(target=seen.source, pattern="ready", text=""), everywhere)


def _watch(desk: Places, *, is_for_one: bool) -> None:
    """Show the pads until Ctrl-C, or until the one place has its pad."""
    console = Console()
    click.echo("Press a pad to give it a place at the table. Ctrl-C ends this.", err=True)
    with contextlib.suppress(KeyboardInterrupt), _shown(console) as show:
        told = 0
        while not desk.is_done.wait(LOOK_S) or told < len(desk.told):
            for line in desk.told[told:]:
                console.print(line, markup=False, highlight=False)
            told = len(desk.told)
            show(desk)
    if not is_for_one and desk.book.places:
        seats = " ".join(f'--seat "NAME{number}=auto"' for number in sorted(desk.book.places))
        click.echo(f"companion run {seats} --serial auto", err=True)


@contextlib.contextmanager
def _shown(console: Console) -> Iterator[Any]:
    """A way to show the pads: a table that is drawn anew on a terminal, lines for what changed elsewhere."""
    if console.is_terminal:
        with Live(console=console, auto_refresh=False) as live:
            yield lambda desk: live.update(drawn(desk), refresh=True)
        return
    last: dict[str, str] = {}

    def lines(desk: Places) -> None:
        for pad in _pads(desk):
            line = "  ".join(cell for cell in (pad.id, pad.name, pad.state, pad.doubt, pad.problem) if cell)
            if last.get(pad.id) != line:
                last[pad.id] = line
                click.echo(line)

    yield lines


def drawn(desk: Places) -> Table:
    """The pads as a table for a terminal."""
    table = Table(*COLUMNS, box=None, pad_edge=False)
    for pad in _pads(desk):
        clock = "unknown" if pad.clock_u_ms is None else f"± {pad.clock_u_ms:.2f} ms"
        battery = "" if pad.battery is None else f"{battery_grade(pad.battery)}, {pad.battery} %"
        radio = "" if pad.rssi is None else f"{signal_grade(pad.rssi)}, {pad.rssi} dBm"
        places = ", ".join(f"{place}" if pad.inputs == 1 else f"{place} (input {number})"
                           for number, place in pad.places.items())  # fmt: skip
        state = pad.problem or "; ".join(word for word in (pad.state, pad.doubt) if word)
        cells = (pad.id, pad.name, places, state, clock, pad.race_class, battery, radio, pad.link)
        table.add_row(*map(Text, cells))  # names are what people wrote, never markup
    if not table.rows:
        problems = [
            f"{link.name}: {link.problem}; {link.mend}" for link in desk.bridge.links() if link.problem
        ]
        table.add_row(*map(Text, ("none", "; ".join(problems))))
    return table


def _pads(desk: Places) -> list[PadShown]:
    return [_pad(device, desk.book) for device in desk.bridge.devices()]


def _pad(device: DeviceStatus, book: PadBook) -> PadShown:
    return PadShown(
        id=device.id,
        name=book.name(device.id),
        places={
            str(pad.input + 1): place for place, pad in sorted(book.places.items()) if pad.device == device.id
        },
        state=device.state,
        link=device.link,
        inputs=len(device.inputs),
        clock_u_ms=None if device.clock_u_ns is None else device.clock_u_ns / 1e6,
        doubt=device.doubt,
        race_class=device.race_class,
        battery=device.battery,
        rssi=device.rssi,
        is_paired=device.id in book.keys,
        problem=device.problem,
        mend=device.mend,
    )


def _json(desk: Places) -> bytes:
    places = {str(place): f"{pad.device}:{pad.input + 1}" for place, pad in sorted(desk.book.places.items())}
    return msgspec.json.encode({"pads": _pads(desk), "places": places, "links": desk.bridge.links()})
