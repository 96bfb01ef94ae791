"""What a table is asked to be: options, file and environment checked and joined into one record."""

from __future__ import annotations

import re
import secrets
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import platformdirs

from companion.catalogue import GAMES
from companion.core.game import Game, why_not_name, why_not_option
from companion.core.seat import Seat, seat_at
from vision.dice.profile import SUFFIX as TABLE_SUFFIX
from vision.profile import SUFFIX

APP = "companion"


class SettingsError(Exception):
    """Something asked for cannot be; the text is one line that says what to do."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """One table.

    `serial`: ports, ``auto``, or nothing; `buzzers`: ports of plain buzzers. `mqtt`: broker URL, ``auto``,
    ``embedded``, or empty. `book`: file of what is known of pads, None to keep it in memory. `camera`: what
    `vision.camera` opens, or empty. `deck`: folder of the enrolled cards, None where none are read. `journal`: taken up
    again when it exists. `data`: text of the game's data file. `table_mm`: (width, height) of the marked rectangle,
    None to measure it by the markers. `keys`: MQTT pad keys by device id; with `is_strict` frames without one are
    refused.
    """

    game: str
    seats: tuple[Seat, ...]
    options: dict[str, str | int | bool]
    data: str
    journal: Path
    seed: int
    serial: tuple[str, ...] = ()
    buzzers: tuple[str, ...] = ()
    mqtt: str = ""
    book: Path | None = None
    camera: str = ""
    profile: Path | None = None
    deck: Path | None = None
    table_mm: tuple[float, float] | None = None
    host: str = "127.0.0.1"
    port: int = 8642
    retention_h: float = 24.0
    keys: dict[str, bytes] = {}
    is_strict: bool = False


def state_folder() -> Path:
    """Where journals and profiles are kept when nothing else is said."""
    return Path(platformdirs.user_data_dir(APP, appauthor=False))


def book_path() -> Path:
    """Where names, keys and places of pads are kept unless another file is named."""
    return state_folder() / "pads.json"


def table_path(name: str, must_exist: bool = True) -> Path:
    """Where the table learnt under this name (or kept in this file) is. Raises SettingsError."""
    path = _kept(name, TABLE_SUFFIX, "a table")
    if must_exist and not path.is_file():
        raise SettingsError(
            f"there is no table {name!r}: companion profile table {name} --empty IMAGE learns it"
        )
    return path


def profile_path(name: str, must_exist: bool = True) -> Path:
    """Where the dice enrolled under this name (or kept in this file) are. Raises SettingsError."""
    path = _kept(name, SUFFIX, "dice")
    if must_exist and not path.is_file():
        raise SettingsError(
            f"there are no dice {name!r}: companion enrol dice {name} --from FOLDER makes them"
        )
    return path


def cards_path(name: str, must_exist: bool = True) -> Path:
    """The folder of the cards enrolled under this name, or this folder where a path is given. Raises SettingsError."""
    if any(sign in name for sign in "/\\.") or Path(name).is_dir():
        path = Path(name)
    else:
        path = _kept(name, "", "cards", "cards")
    if must_exist and not path.is_dir():
        raise SettingsError(
            f"there are no cards {name!r}: companion enrol cards {name} --from FOLDER makes them"
        )
    return path


def _kept(name: str, suffix: str, what: str, folder: str = "dice") -> Path:
    if suffix and name.endswith(suffix):
        return Path(name)
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}", name):
        raise SettingsError(f"{name!r} is no name for {what}: use letters, digits, - and _, at most 40")
    return state_folder() / folder / f"{name}{suffix}"


def game_named(name: str) -> Game[Any]:
    """The game of this name. Raises SettingsError naming those that there are."""
    game = GAMES.get(name)
    if game is None:
        raise SettingsError(f"there is no game {name!r}; there are: {', '.join(sorted(GAMES))}")
    return game


def parse_seats(
    game: Game[Any], words: tuple[str, ...], places: Mapping[int, tuple[str, int]] = MappingProxyType({})
) -> tuple[Seat, ...]:
    """Seats from ``NAME``, ``NAME=DEVICE``, ``NAME=DEVICE:INPUT`` (inputs counted from 1) or ``NAME=auto``.

    `places`: the (device, input from 0) that ``companion pads`` gave to places by number: what ``auto`` means.
    Raises SettingsError, `PadClashError` when a pad has two owners.
    """
    if not game.min_seats <= len(words) <= game.max_seats:
        raise SettingsError(
            f"{game.title} is played by {game.min_seats} to {game.max_seats}, not {len(words)}:"
            " give --seat NAME once for each"
        )
    found: list[Seat] = []
    for number, word in enumerate(words, start=1):
        name, _, pad = word.partition("=")
        wrong = why_not_name(name, tuple(seat.name for seat in found))
        if wrong:
            raise SettingsError(f"--seat {word!r}: {wrong}")
        if pad == "auto" and number not in places:
            raise SettingsError(f"--seat {word!r}: place {number} has no pad; companion pads gives it one")
        device, input_ = places[number] if pad == "auto" else parse_pad(pad)
        clash = next((s for s in found if device and (s.device, s.input) == (device, input_)), None)
        if clash is not None:
            raise PadClashError(pad, clash.name, name.strip())
        found.append(seat_at(number, name.strip(), device, input_))
    return tuple(found)


class PadClashError(SettingsError):
    """One pad for two seats."""

    def __init__(self, pad: str, one: str, other: str) -> None:
        """Which pad, and for whom."""
        super().__init__(f"pad {pad} cannot be both {one}'s and {other}'s: give one of them another")


def parse_pad(word: str) -> tuple[str, int]:
    """(device id, input from 0) of ``DEVICE`` or ``DEVICE:INPUT``. Raises SettingsError."""
    device, _, input_ = word.partition(":")
    if input_ and not (input_.isdigit() and 1 <= int(input_) <= 32):
        raise SettingsError(f"pad {word!r}: the input is a number from 1 to 32, as in box-7:2")
    return device, int(input_) - 1 if input_ else 0


def parse_rules(game: Game[Any], words: Mapping[str, object]) -> dict[str, str | int | bool]:
    """House rules from words, each read as its default's type. Raises SettingsError."""
    found: dict[str, str | int | bool] = {}
    for name, word in words.items():
        value = word
        default = game.options.get(name)
        if isinstance(word, str) and isinstance(default, bool):
            value = {"on": True, "yes": True, "true": True, "off": False, "no": False, "false": False}.get(
                word.lower(), word
            )
        elif isinstance(word, str) and isinstance(default, int) and word.isdigit():
            value = int(word)
        wrong = why_not_option(game, name, value)
        if wrong:
            raise SettingsError(f"--rule {name}: {wrong}")
        assert isinstance(value, str | int | bool)
        found[name] = value
    return found


def read_data(game: Game[Any], path: Path | None) -> str:
    """The text of the game's data file, ours when none is named. Raises SettingsError."""
    if path is None:
        return shipped_data(game)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: the data file cannot be read ({error})") from error
    wrong = game.check_data(text)
    if wrong:
        raise SettingsError(f"{path}: {wrong}")
    return text


def shipped_data(game: Game[Any]) -> str:
    """The text of the data file that comes with the game."""
    if not game.data_file:
        return ""
    folder = files(f"companion.games.{game.name}") / "data"
    return (folder / game.data_file).read_text(encoding="utf-8")


def read_toml(path: Path) -> dict[str, Any]:
    """A settings file as options by name. Raises SettingsError with the place of the mistake."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}; name another file with --config") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: this is no TOML: {error}") from error


def table_size(word: str) -> tuple[float, float] | None:
    """(width, height) in mm of ``W,H``; None for an empty word. Raises SettingsError."""
    return _size("--table-mm", word, (100, 5000), "600,400")


def board_size(word: str) -> tuple[float, float] | None:
    """Width and height of a board in mm as in ``900,500``; None for an empty word."""
    return _size("--board-mm", word, (50, 3000), "900,500")


def card_size(word: str) -> tuple[float, float] | None:
    """(width, height) in mm of a card set upright, as ``W,H``; None for an empty word. Raises SettingsError."""
    found = _size("--card-mm", word, (20, 300), "63.5,88.9")
    return (min(found), max(found)) if found else None


def _size(option: str, word: str, limits: tuple[float, float], such: str) -> tuple[float, float] | None:
    if not word:
        return None
    try:
        width, height = (float(part) for part in word.split(","))
    except ValueError:
        raise SettingsError(f"{option} {word!r}: give width,height in mm, as in {such}") from None
    least, most = limits
    if not (least <= width <= most and least <= height <= most):
        raise SettingsError(f"{option} {word!r}: each side is {least:g} to {most:g} mm")
    return width, height


def fresh_seed() -> int:
    """A seed that nobody could guess."""
    return secrets.randbits(62)
