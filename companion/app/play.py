"""The commands that run a table: the real one and the demo."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click
import msgspec

from companion.app.boards import load_map, map_path
from companion.app.map_sheets import HOUSE_MAPS, house_map
from companion.app.pad_desk import open_book
from companion.app.settings import (
    PadClashError,
    Settings,
    SettingsError,
    book_path,
    cards_path,
    fresh_seed,
    game_named,
    parse_rules,
    parse_seats,
    profile_path,
    read_data,
    state_folder,
    table_size,
)
from companion.app.stopping import wait_for_stop
from companion.app.wiring import LOOKOUTS, RunningTable, links_of
from companion.core.game import Game
from companion.games.tahwars.deck import with_map
from companion.runtime.journal import is_unused
from firmware_bridge.link import Bridge

HEARD_S = 3.0


def settings_of(options: dict[str, Any]) -> Settings:
    """Everything checked. Raises SettingsError, one line."""
    game = game_named(options["game"])
    rules = {}
    for word in options["rule"]:
        name, is_given, value = word.partition("=")
        if not is_given:
            raise SettingsError(f"--rule {word!r}: write it as NAME=VALUE")
        rules[name.strip()] = value.strip()
    keys = {}
    for word in options["key"]:
        device, _, digits = word.partition("=")
        try:
            keys[device] = bytes.fromhex(digits)
        except ValueError:
            raise SettingsError(f"--key {device}: the key is an even number of hex digits") from None
    book_file = options["book"] or book_path()
    places = {place: (pad.device, pad.input) for place, pad in open_book(book_file).places.items()}
    journal = options["journal"] or state_folder() / f"{game.name}-{time.strftime('%Y%m%d-%H%M%S')}.sqlite"
    is_there = not is_unused(journal)
    return Settings(
        game=game.name,
        seats=() if is_there and not options["seat"] else parse_seats(game, options["seat"], places),
        options=house_rules(
            game,
            {**table_rules(game, options), **rules},
            sees_dice=bool(options["camera"] and options["profile"]),
        ),
        data=data_on_map(game, read_data(game, options["data"]), options["map_"]),
        journal=journal,
        seed=options["seed"] if options["seed"] is not None else fresh_seed(),
        serial=tuple(options["serial"]),
        buzzers=tuple(options["buzzer"]),
        mqtt=options["mqtt"],
        book=book_file,
        camera=options["camera"],
        profile=profile_path(options["profile"]) if options["profile"] else None,
        deck=cards_path(options["deck"]) if options["deck"] else None,
        table_mm=table_size(options["table_mm"]),
        host=options["host"],
        port=options["port"],
        retention_h=options["retention"],
        keys=keys,
        is_strict=options["strict"],
    )


def table_rules(game: Game[Any], options: dict[str, Any]) -> dict[str, str]:
    """House rules that say how large the table is, where a game has such and the size is given. Raises SettingsError
    where a camera needs it."""
    if "table_width_mm" not in game.options:
        return {}
    size = table_size(options["table_mm"])
    if size is None:
        if options["camera"]:
            raise SettingsError(
                f"--table-mm W,H: a camera over {game.title} needs the size between the markers"
            )
        return {}
    return {"table_width_mm": str(round(size[0])), "table_height_mm": str(round(size[1]))}


def data_on_map(game: Game[Any], text: str, word: str) -> str:
    """The data with the map of this name, of the house or kept, or in this file, as its first. Raises SettingsError."""
    if not word:
        return text
    if game.name != "tahwars":
        raise SettingsError(f"--map {word}: {game.title} is played without a map")
    if word in HOUSE_MAPS:
        return with_map(text, house_map(word))
    path = Path(word) if Path(word).suffix == ".json" else map_path(word)
    found = load_map(path)
    return with_map(text, found if found.name else msgspec.structs.replace(found, name=path.stem))


def house_rules(game: Game[Any], words: dict[str, str], *, sees_dice: bool) -> dict[str, str | int | bool]:
    """The house rules that were asked for; without eyes on the dice nobody waits for a camera to see a lock."""
    rules = parse_rules(game, words)
    if not sees_dice and "untracked" in game.choices.get("locks", ()):
        rules.setdefault("locks", "untracked")
    return rules


def heard(settings: Settings, seconds: float = HEARD_S) -> tuple[str, ...]:
    """Pads that are heard within a few seconds, as DEVICE:INPUT words."""
    bridge = Bridge(links_of(settings, None), lambda _seen: None)
    bridge.start()
    try:
        time.sleep(seconds)
        return tuple(
            f"{device.id}:{index + 1}" for device in bridge.devices() for index in range(len(device.inputs))
        )
    finally:
        bridge.stop()


def run(options: dict[str, Any]) -> None:
    """Referee a real table until it is stopped."""
    try:
        settings = settings_of(options)
    except PadClashError as error:
        raise SettingsError(f"{error}. {_pads_heard(options)}") from None
    with RunningTable(settings) as table:
        greet(table, options["new_code"])
        reads_dice = settings.game not in LOOKOUTS
        if settings.camera and settings.profile is None and reads_dice:
            click.echo(
                "The camera keeps pictures of slams but reads no dice: --profile NAME names enrolled ones",
                err=True,
            )
        wait_for_stop()
        table.loop.close()
        snapshot = table.loop.snapshot()
        state = table.loop.codec.state_hash(snapshot.sitting)
    click.echo(f"Journal  {settings.journal}\nHead     {snapshot.head}\nState    {state}")


def _pads_heard(options: dict[str, Any]) -> str:
    plain = Settings(
        game="", seats=(), options={}, data="", journal=Path(), seed=0, serial=tuple(options["serial"]),
        buzzers=tuple(options["buzzer"]), mqtt="" if options["mqtt"] == "embedded" else options["mqtt"],
    )  # fmt: skip
    if not plain.serial and not plain.mqtt and not plain.buzzers:
        return "No --serial, --buzzer or --mqtt is given, so no pad can be heard."
    found = heard(plain)
    return f"Heard in the last {HEARD_S:.0f} s: {', '.join(found) if found else 'no pad'}."


def greet(table: RunningTable, wants_code: bool = False) -> None:
    """Print where the pages are and the one-time code; `wants_code`: a fresh one, though a referee is known."""
    server = table.server
    shown = "127.0.0.1" if server.host in ("0.0.0.0", "::") else server.host  # compared, not bound
    click.echo(f"Referee  http://{shown}:{server.port}/", err=True)
    code = table.access.rescue_code() if wants_code else table.access.first_code()
    if code:
        click.echo(f"Code     {code}   (once; only this machine is served until it is used)", err=True)
    else:
        click.echo("Code     used already; --new-code prints one for another referee's browser", err=True)
    click.echo(f"Journal  {table.settings.journal}", err=True)
