"""``companion demo``: a whole table with fake pads and a rendered camera, on the real paths."""

from __future__ import annotations

import contextlib
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from companion.app.play import greet
from companion.app.settings import Settings, SettingsError, game_named, shipped_data
from companion.app.stopping import wait_for_stop
from companion.app.wiring import DEFAULT_TABLE_MM, RunningTable
from companion.catalogue import GAMES
from companion.core.codec import Codec
from companion.core.game import Game
from companion.core.seat import seat_at
from companion.demo.board_director import BoardDirector
from companion.demo.board_stage import BoardStage
from companion.demo.card_director import CardDirector
from companion.demo.director import Director
from companion.demo.hand_director import HandDirector
from companion.demo.hand_stage import HandStage, write_demo_deck
from companion.demo.pads import NAMES, press_of, radio_pads, seats_of, wired_pads
from companion.demo.people import DeskHands, People, StuckError
from companion.demo.spells import write_spells
from companion.demo.stage import CardStage, Film, Stage
from companion.games.tada.deck import read as read_tada
from companion.games.tahwars.deck import read as read_tahwars
from companion.runtime.replay import replay
from vision.feed import Feed

S = TypeVar("S", bound=Film)
STEP_MS = 5.0
"""Uncertainties of the demo's result are rounded up to steps of this, so that a run can be repeated."""
CARD_TABLE_MM = (780.0, 480.0)
"""The demo's table of Tacta between its markers."""
HAND_TABLE_MM = (480.0, 300.0)
"""The demo's table of Zing-a-Zam between its markers."""


def demo(options: dict[str, Any]) -> None:
    """Play. Raises SettingsError for what cannot be asked, StuckError when the table did not go on."""
    game = game_named(options["game"])
    count = options["players"] if options["players"] is not None else min(4, game.max_seats)
    if not game.min_seats <= count <= game.max_seats:
        raise SettingsError(
            f"--players {count}: {game.title} is played by {game.min_seats} to {game.max_seats}"
        )
    if not 0 < options["speed"] <= 1000:
        raise SettingsError(f"--speed {options['speed']:g}: give a number above 0, at most 1000")
    if options["cards"] and game.name != "tada":
        raise SettingsError(f"--cards is for --game tada: {game.title} is not played with such cards")
    if options["as_json"] and not options["exit_at_end"]:
        raise SettingsError("--json prints the result when the game is over: add --exit-at-end")
    with _journal(options["journal"]) as journal, contextlib.ExitStack() as stack:
        result = _play(stack, options, count, journal)
        if options["as_json"]:
            click.echo(msgspec.json.encode(result))


@contextlib.contextmanager
def _journal(asked: Path | None) -> Iterator[Path]:
    """The file for the journal; one that nobody asked for is kept in a temporary folder."""
    if asked is not None:
        if asked.exists():
            raise SettingsError(f"{asked}: there is a file already; the demo begins a new journal")
        yield asked
        return
    yield Path(tempfile.mkdtemp(prefix="companion-demo-")) / "demo.sqlite"


def _own_dice(stack: contextlib.ExitStack) -> Path:
    """The demo's dice in a file of their own: what corrections teach must not change those that are shipped."""
    profile = _empty_folder(stack) / "demo.dice.npz"
    profile.write_bytes((files("companion.demo") / "data" / profile.name).read_bytes())
    return profile


def _empty_folder(stack: contextlib.ExitStack) -> Path:
    """A folder that is there until `stack` ends."""
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="companion-demo-")))


def _play(stack: contextlib.ExitStack, options: dict[str, Any], count: int, journal: Path) -> dict[str, Any]:
    table, director = staged(stack, options, count, journal)
    greet(table)
    if not options["exit_at_end"]:
        _open_page(table)
    wait_for_eyes(table)
    if options["exit_at_end"]:
        director.play()
        return _result(table, options["seed"])
    actors = threading.Thread(target=_act, args=(director,), name="people", daemon=True)
    actors.start()
    wait_for_stop()
    director.end()
    actors.join(15.0)
    return _result(table, options["seed"])


def staged(
    stack: contextlib.ExitStack, options: dict[str, Any], count: int, journal: Path
) -> tuple[RunningTable, People[Any]]:
    """A table that runs with its camera over a rendered one, and the people who play there; both until `stack` ends."""
    feed = Feed()
    stack.callback(feed.close)
    game = game_named(options["game"])
    asked = _asked(options, game, count, journal, feed)
    return STAGED[game.name](stack, options, asked, feed)


def _asked(options: dict[str, Any], game: Game[Any], count: int, journal: Path, feed: Feed) -> Settings:
    """What every demo's table is asked to be."""
    return Settings(
        game=game.name,
        seats=tuple(seat_at(number, NAMES[number - 1]) for number in range(1, count + 1)),
        mqtt=options["mqtt"],
        options={"countdown_s": 3 if options["speed"] <= 4 else 1},
        data=shipped_data(game),
        journal=journal,
        seed=options["seed"],
        camera=feed.source,
        host=options["host"],
        port=options["port"],
    )


def _of_tada(
    stack: contextlib.ExitStack, options: dict[str, Any], asked: Settings, feed: Feed
) -> tuple[RunningTable, Director]:
    """Dice, spell cards and pads."""
    seats = seats_of(len(asked.seats))
    pads = {pad.id: stack.enter_context(pad) for pad in wired_pads(seats)}
    settings = msgspec.structs.replace(
        asked,
        seats=seats,
        serial=tuple(pad.port for pad in pads.values()),
        mqtt=options["mqtt"] or "embedded",
        profile=_own_dice(stack),
        table_mm=DEFAULT_TABLE_MM,
    )
    is_by_cards = bool(options.get("cards"))
    if is_by_cards:
        deck = _empty_folder(stack) / "deck"
        write_spells(deck, read_tada(asked.data))
        settings = msgspec.structs.replace(settings, deck=deck)
    stage = _filmed(stack, Stage(feed, DEFAULT_TABLE_MM, options["seed"]))
    table = stack.enter_context(RunningTable(settings))
    pads |= {pad.id: stack.enter_context(pad) for pad in radio_pads(seats, table.broker_url)}
    director = Director(
        DeskHands(table.loop),
        stage,
        {seat.id: press_of(pads[seat.device], seat.input, table.ahead_ns) for seat in seats},
        table.poses(seats),
        seed=options["seed"],
        speed=options["speed"],
        is_by_cards=is_by_cards,
    )
    return table, director


def _of_tacta(
    stack: contextlib.ExitStack, options: dict[str, Any], asked: Settings, feed: Feed
) -> tuple[RunningTable, CardDirector]:
    """Cards over each other; nobody slams anything."""
    width, height = CARD_TABLE_MM
    rules = {"mode": "quick", "table_width_mm": round(width), "table_height_mm": round(height)}
    settings = msgspec.structs.replace(
        asked,
        options={**asked.options, **rules},
        table_mm=CARD_TABLE_MM,
    )
    stage = _filmed(stack, CardStage(feed, CARD_TABLE_MM, options["seed"]))
    table = stack.enter_context(RunningTable(settings))
    return table, CardDirector(DeskHands(table.loop), stage, seed=options["seed"], speed=options["speed"])


def _of_zingazam(
    stack: contextlib.ExitStack, options: dict[str, Any], asked: Settings, feed: Feed
) -> tuple[RunningTable, HandDirector]:
    """Cards that are known again by a deck of our own drawing; nobody slams anything."""
    deck = _empty_folder(stack) / "deck"
    write_demo_deck(deck)
    settings = msgspec.structs.replace(
        asked,
        options={},
        deck=deck,
        table_mm=HAND_TABLE_MM,
    )
    stage = _filmed(stack, HandStage(feed, HAND_TABLE_MM, options["seed"]))
    table = stack.enter_context(RunningTable(settings))
    director = HandDirector(
        DeskHands(table.loop), stage, size_mm=HAND_TABLE_MM, seed=options["seed"], speed=options["speed"]
    )
    return table, director


def _of_tahwars(
    stack: contextlib.ExitStack, options: dict[str, Any], asked: Settings, feed: Feed
) -> tuple[RunningTable, BoardDirector]:
    """Towers and dice on the first map of the house; who has five crowns first wins at once, so that it ends soon."""
    settings = msgspec.structs.replace(asked, options={"first_to_five": True})
    laid = read_tahwars(asked.data).maps[0]
    colours = [seat.colour for seat in settings.seats]
    stage = _filmed(stack, BoardStage(feed, laid, colours, options["seed"]))
    table = stack.enter_context(RunningTable(settings))

    def has_looked() -> bool:
        since_ns = stage.lies_since_ns
        return since_ns is not None and table.board_rested_ns > since_ns

    director = BoardDirector(
        DeskHands(table.loop), stage, has_looked, seed=options["seed"], speed=options["speed"]
    )
    return table, director


STAGED: dict[str, Callable[..., tuple[RunningTable, People[Any]]]] = {
    "tada": _of_tada, "tacta": _of_tacta, "zingazam": _of_zingazam,
    "tahwars": _of_tahwars,
}  # fmt: skip
"""Games that have people who play by themselves, and how their table is set."""


def _filmed(stack: contextlib.ExitStack, stage: S) -> S:
    """The stage, filmed until the demo ends."""
    stage.start()
    stack.callback(stage.stop)
    return stage


def _act(director: People[Any]) -> None:
    try:
        director.play()
    except StuckError as error:
        click.echo(f"companion: the simulated people stopped: {error}", err=True)


def _open_page(table: RunningTable) -> None:
    with contextlib.suppress(webbrowser.Error):
        webbrowser.open(f"http://127.0.0.1:{table.server.port}/")


def wait_for_eyes(table: RunningTable, seconds: float = 60.0) -> None:
    """Until the camera sees the table and every pad's clock is known."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        camera = table.camera.status().state if table.camera else "live"
        ready = {device.id for device in table.bridge.devices() if device.state == "ready"}
        if camera == "live" and all(seat.device in ready for seat in table.seats if seat.device):
            return
        time.sleep(0.1)
    raise StuckError("the camera or a pad is not ready; companion doctor tells more")


def _result(table: RunningTable, seed: int) -> dict[str, Any]:
    """The game as one object; see docs/demo.md."""
    game, snapshot = table.loop.game, table.loop.snapshot()
    sitting = snapshot.sitting
    again = replay(table.settings.journal, GAMES)
    rounds: dict[int, list[dict[str, Any]]] = {}
    for shown in sitting.rulings:
        ruling = shown.ruling
        rounds.setdefault(shown.part, []).append(
            {
                "event": shown.event,
                "verdict": ruling.verdict.value,
                "rule": ruling.rule,
                "because": ruling.because,
                "seat": ruling.seat or None,
                "t_ms": ruling.t_ms,
                "u_ms": None if ruling.u_ms is None else STEP_MS * -(-ruling.u_ms // STEP_MS),
            }
        )
    return {
        "game": game.name,
        "seed": seed,
        "players": [seat.name for seat in sitting.seats],
        "standings": [msgspec.to_builtins(standing) for standing in game.standings(sitting)],
        "rounds": [{"n": n, "rulings": rulings} for n, rulings in sorted(rounds.items())],
        "journal": str(table.settings.journal),
        "refold_equal": again.state_hash == Codec(game).state_hash(sitting),
    }
