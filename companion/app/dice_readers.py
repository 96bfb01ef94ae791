"""The one place that builds a reader of dice from what was asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from companion.app.settings import SettingsError, profile_path, table_path
from vision.dice.composed import ComposedReader
from vision.dice.numerals import NumeralReader
from vision.dice.numerals_conventions import Conventions
from vision.dice.numerals_enrolled import EnrolledNumeralReader
from vision.dice.numerals_profile import holds_numerals, load_numerals
from vision.dice.profile import ProfileError, load_table
from vision.dice.profiled import ProfiledReader
from vision.dice.reader import Reader
from vision.dice.reading import PipsReader
from vision.dice.symbols import SymbolReader
from vision.dice.table_setup import empty_profile
from vision.frame import Frame, Unreadable, load
from vision.profile import EnrolError, load_profile
from vision.surface import Marks


class DiceWanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which dice are to be read and what is known of the table.

    `kinds`: ``pips``, ``numerals`` or names of enrolled dice, read together. `empty`: a picture of the table
    without dice by the same camera. `dice`: the kinds of dice with numerals on the table, all where empty. `zero`:
    what a d10's 0 counts, None for 10 or what was enrolled. `profile`: the table that was learnt under this name.
    """

    kinds: tuple[str, ...] = ("pips",)
    empty: Path | None = None
    dice: tuple[str, ...] = ()
    zero: int | None = None
    profile: str = ""


def reader_of(wanted: DiceWanted) -> Reader:
    """The reader for all that is `wanted`. Raises SettingsError, one line that says what to do."""
    return ComposedReader([_kind_reader(kind, wanted) for kind in dict.fromkeys(wanted.kinds)])


def _kind_reader(kind: str, wanted: DiceWanted) -> Reader:
    build = _KINDS.get(kind)
    return build(wanted) if build else _enrolled(kind, wanted)


def _pips(wanted: DiceWanted) -> Reader:
    """By the table's profile; of an empty table's picture one is made at once."""
    try:
        if wanted.profile:
            profile = load_table(table_path(wanted.profile))
            if wanted.empty is not None:
                raise SettingsError("the profile knows the empty table: leave --empty or --profile out")
            return ProfiledReader(profile)
    except ProfileError as error:
        raise SettingsError(str(error)) from error
    empty = _empty(wanted)
    return PipsReader() if empty is None else ProfiledReader(empty_profile("", empty, Marks()))


def _numerals(wanted: DiceWanted) -> Reader:
    return NumeralReader(_conventions(wanted, Conventions()), _empty(wanted))


def _enrolled(kind: str, wanted: DiceWanted) -> Reader:
    path = profile_path(kind)
    try:
        if not holds_numerals(path):
            return SymbolReader([load_profile(path)])
        profile = load_numerals(path)
    except EnrolError as error:
        raise SettingsError(str(error)) from error
    return EnrolledNumeralReader(profile, _conventions(wanted, profile.conventions), _empty(wanted))


def _conventions(wanted: DiceWanted, usual: Conventions) -> Conventions:
    """The usual conventions but for what was asked for."""
    zero = usual.d10_zero if wanted.zero is None else wanted.zero
    try:
        return Conventions(kinds=wanted.dice or usual.kinds, d10_zero=zero)
    except ValueError as error:
        raise SettingsError(str(error)) from error


_KINDS: Mapping[str, Callable[[DiceWanted], Reader]] = {"pips": _pips, "numerals": _numerals}


def _empty(wanted: DiceWanted) -> Frame | None:
    if wanted.empty is None:
        return None
    try:
        return load(wanted.empty)
    except Unreadable as error:
        raise SettingsError(f"{wanted.empty}: {error}") from error
