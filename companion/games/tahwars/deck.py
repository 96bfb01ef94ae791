"""Dice, quests, caps and maps as data: what the book does not print, an owner fills in.

Format ``tahwars/1``, JSON. `read` takes a whole file or says in one line why not; `lacks` says all that is missing in
words, each with its line.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import msgspec

from companion.games.tahwars.ground import faults
from companion.games.tahwars.lines import lines_of
from companion.games.tahwars.maps import TERRAINS, Map

FORMAT = "tahwars/1"
RESOURCES = ("fish", "wood", "stone", "neonite")
"""In the order of the player boards' lines, from the top. Rule: TAH-4 TAH-10"""
OF_TERRAIN = dict(zip(TERRAINS, RESOURCES, strict=False))
"""What a terrain gives; the city gives 1 of any. Rule: TAH-7 TAH-9"""
SET = ("d4", "d6", "d8", "d10", "d12", "d20")
"""Six of a player's seven dice; the seventh the book does not name. Rule: TAH-1"""
BY_THE_BOOK = {"d4": {}, "d8": {"stone": 3}, "d20": dict.fromkeys(RESOURCES, 1)}
"""The costs that the book prints. Rule: TAH-12"""
DICE = 7
QUEST_KINDS = ("trade", "attack", "defend")
MOST_FACES = 100
MOST_MM = 2000.0


class Die(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One of a player's dice. `shows`: what stands on its faces, empty: 1 to `faces`.

    `source`: ``book`` or ``ours``.
    """

    kind: str
    faces: int
    cost: dict[str, int] = {}
    footprint_mm: float = 16.0
    shows: tuple[int, ...] = ()
    source: str = ""

    @property
    def faces_shown(self) -> tuple[int, ...]:
        """What may be read on it, in the order of the numbers that it counts. Rule: TAH-35"""
        return self.shows or tuple(range(1, self.faces + 1))

    def number(self, shown: int) -> int | None:
        """The number that a face counts, None where the die has no such face. Rule: TAH-35"""
        if self.kind == "d10" and shown in (0, self.faces):
            return self.faces
        return self.faces_shown.index(shown) + 1 if shown in self.faces_shown else None


class Reward(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a quest gives."""

    resources: dict[str, int] = {}
    crowns: int = 0
    health: int = 0


class Quest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A quest card. `pays`: the goods of a trade; `number`: what an attack or defence must reach. Rule: TAH-26"""

    id: str
    kind: str
    terrain: str
    reward: Reward
    name: str = ""
    pays: dict[str, int] = {}
    number: int = 0


class Data(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A data file. `source`, `sure`: whence it is, and how sure.

    `stick_mm`: how far a castle moves; `d20_gap_mm`: what a D20 needs between towers; `tower_mm`: side of a
    castle's foot.
    Rule: TAH-10 TAH-12 TAH-15 TAH-17
    """

    format: str
    source: str
    sure: str
    resource_cap: int
    shield_cap: int
    attack_cap: int
    health_cap: int
    stick_mm: float
    d20_gap_mm: float
    tower_mm: float
    dice: tuple[Die, ...]
    quests: tuple[Quest, ...]
    maps: tuple[Map, ...] = ()
    note: str = ""

    def die(self, kind: str) -> Die | None:
        """The die of this kind; None when there is none."""
        return next((die for die in self.dice if die.kind == kind), None)

    def quest(self, quest_id: str) -> Quest | None:
        """The quest with this id; None when there is none."""
        return next((quest for quest in self.quests if quest.id == quest_id), None)

    def map(self, name: str) -> Map | None:
        """The map of this name; None when there is none."""
        return next((found for found in self.maps if found.name == name), None)


@lru_cache(maxsize=8)
def read(text: str) -> Data:
    """The data that a text describes. Raises ValueError with one line saying what is wrong and where."""
    found = lacks(text)
    if found:
        more = f" (and {len(found) - 1} more: companion data check FILE)" if len(found) > 1 else ""
        raise ValueError(f"{found[0]}{more}")
    return msgspec.json.decode(text, type=Data)


def check(text: str) -> str:
    """Why a text is no data file, in one line; empty when it is one."""
    try:
        read(text)
    except ValueError as error:
        return str(error)
    return ""


def lacks(text: str) -> tuple[str, ...]:
    """All that a text lacks to be a data file, in words, each beginning with its line; empty when nothing."""
    try:
        plain, lines = json.loads(text), lines_of(text)
    except ValueError as error:
        where = f"line {error.lineno}: " if isinstance(error, json.JSONDecodeError) else ""
        return (f"{where}this is no JSON: {getattr(error, 'msg', error)}",)
    except RecursionError:
        return ("line 1: this is no data file: it is nested too deeply",)
    if not isinstance(plain, dict):
        return ("line 1: a data file is one JSON object, {...}",)
    told = _Told(lines)
    missing = [name for name in _NEEDED if name not in plain]
    for name in missing:
        told.say((), f"{name!r} is missing: {_NEEDED[name]}")
    if missing:
        return tuple(told.said)
    try:
        data = msgspec.convert(plain, Data)
    except msgspec.ValidationError as error:
        words, _, path = str(error).partition(" - at `$")
        return (f"line {told.line(_steps(path.rstrip('`')))}: {_named(path)}{words}",)
    _check_keys(plain, told)
    _check_numbers(data, told)
    _check_dice(data, told)
    _check_quests(data, told)
    _check_maps(data, told)
    return tuple(told.said)


_NEEDED = {
    "format": f"write {FORMAT!r}",
    "source": "say where this is from, as 'our own' or 'the 2024 edition'",
    "sure": "say how sure it is, in words",
    "resource_cap": "how much of a resource a player board holds (5 by the book)",
    "shield_cap": "how high a shield goes on the player board",
    "attack_cap": "how high the attack goes on the player board",
    "health_cap": "how high health goes on the player board",
    "stick_mm": "length of the move stick",
    "d20_gap_mm": "how much room a D20 needs to pass",
    "tower_mm": "side of a castle's foot",
    "dice": "the seven dice of a player, each with kind, faces and cost",
    "quests": "the quest cards, each with id, kind, terrain, reward and what it asks for",
}


class _Told:
    """What is said, with lines."""

    def __init__(self, lines: dict[tuple[str | int, ...], int]) -> None:
        self._lines = lines
        self.said: list[str] = []

    def line(self, steps: tuple[str | int, ...]) -> int:
        while steps and steps not in self._lines:
            steps = steps[:-1]
        return self._lines.get(steps, 1)

    def say(self, steps: tuple[str | int, ...], words: str) -> None:
        self.said.append(f"line {self.line(steps)}: {words}")


def _steps(path: str) -> tuple[str | int, ...]:
    """``.dice[2].cost`` as ("dice", 2, "cost")."""
    found: list[str | int] = []
    for part in path.replace("[", ".[").split("."):
        if part.startswith("[") and part[1:-1].isdecimal():
            found.append(int(part[1:-1]))
        elif part and not part.startswith("["):
            found.append(part)
    return tuple(found)


def _named(path: str) -> str:
    steps = _steps(path.rstrip("`"))
    return f"{' '.join(str(s + 1) if isinstance(s, int) else s for s in steps)}: " if steps else ""


def _check_keys(plain: dict[str, Any], told: _Told) -> None:
    """A key that is misspelt would be taken for one that is not there; maps may bear others."""
    objects: list[tuple[tuple[str | int, ...], dict[str, Any], type[msgspec.Struct]]] = [((), plain, Data)]
    objects += [(("dice", n), die, Die) for n, die in enumerate(plain["dice"])]
    for n, quest in enumerate(plain["quests"]):
        objects += [(("quests", n), quest, Quest), (("quests", n, "reward"), quest["reward"], Reward)]
    for steps, found, kind in objects:
        names = kind.__struct_fields__
        for key in found:
            if key not in names:
                told.say((*steps, key), f"nothing is called {key[:30]!r} here; there are: {', '.join(names)}")


def _check_numbers(data: Data, told: _Told) -> None:
    if data.format != FORMAT:
        told.say(("format",), f"format is {data.format[:40]!r}: {FORMAT!r} it must be")
    for name in ("source", "sure"):
        if not getattr(data, name).strip():
            told.say((name,), f"{name!r} is empty: {_NEEDED[name]}")
    least = {"resource_cap": 3, "shield_cap": 8, "attack_cap": 1, "health_cap": 5}
    for name, low in least.items():
        if not low <= getattr(data, name) <= 99:
            told.say((name,), f"{name} is {getattr(data, name)}: {low} to 99 it must be")
    for name in ("stick_mm", "d20_gap_mm", "tower_mm"):
        if not 1 <= getattr(data, name) <= MOST_MM:
            told.say((name,), f"{name} is {getattr(data, name):g}: 1 to {MOST_MM:g} mm it must be")


def _check_goods(goods: dict[str, int], cap: int, told: _Told, at: tuple[tuple[str | int, ...], str]) -> None:
    steps, what = at
    for name, count in goods.items():
        if name not in RESOURCES:
            told.say(
                (*steps, name),
                f"{what}: there is no resource {name[:30]!r}; there are: {', '.join(RESOURCES)}",
            )
        elif not 1 <= count <= cap:
            told.say((*steps, name), f"{what}: {count} {name}, but a player board holds 1 to {cap}")


def _check_dice(data: Data, told: _Told) -> None:
    kinds = [die.kind for die in data.dice]
    for kind in SET:
        if kind not in kinds:
            told.say(("dice",), f"the {kind.upper()} is missing among the dice")
    for kind in dict.fromkeys(kind for kind in kinds if kinds.count(kind) > 1):
        told.say(
            ("dice",),
            f"there are {kinds.count(kind)} dice of the kind {kind[:30]!r}: each needs its own name",
        )
    if len(kinds) != DICE:
        told.say(("dice",), f"{len(kinds)} dice are listed: a player has {DICE}")
    for n, die in enumerate(data.dice):
        at, what = ("dice", n), f"die {die.kind[:30]!r}"
        if not 2 <= die.faces <= MOST_FACES:
            told.say((*at, "faces"), f"{what} has {die.faces} faces: 2 to {MOST_FACES} it must be")
        elif die.kind in SET and die.faces != int(die.kind[1:]):
            told.say((*at, "faces"), f"{what} has {die.faces} faces: {die.kind[1:]} its name says")
        elif die.shows and (len(die.shows) != die.faces or len(set(die.shows)) != die.faces):
            told.say(
                (*at, "shows"), f"{what} has {die.faces} faces, so 'shows' has as many different numbers"
            )
        if not 1 <= die.footprint_mm <= 60:
            told.say((*at, "footprint_mm"), f"{what} covers {die.footprint_mm:g} mm: 1 to 60 it must be")
        book = BY_THE_BOOK.get(die.kind)
        if book is not None and die.cost != book:
            words = goods_in_words(book) or "nothing"
            told.say(
                (*at, "cost"), f"{what} costs {goods_in_words(die.cost) or 'nothing'}: {words} by the book"
            )
        elif book is None and not die.cost:
            told.say((*at, "cost"), f"{what} has no cost: write the number in the circle beside it")
        else:
            _check_goods(die.cost, data.resource_cap, told, ((*at, "cost"), what))


def _check_quests(data: Data, told: _Told) -> None:
    ids = [quest.id for quest in data.quests]
    if not ids:
        told.say(("quests",), "there is no quest card")
    for n, quest in enumerate(data.quests):
        at, what = ("quests", n), f"quest {quest.id[:30]!r}"
        if not quest.id or len(quest.id) > 40 or not quest.id.isprintable() or ids.count(quest.id) > 1:
            told.say((*at, "id"), f"{what}: each needs an id of its own, at most 40 letters")
        if quest.kind not in QUEST_KINDS:
            told.say((*at, "kind"), f"{what} is a {quest.kind[:30]!r}: kinds are {', '.join(QUEST_KINDS)}")
        if quest.terrain not in TERRAINS:
            told.say(
                (*at, "terrain"), f"{what} is for {quest.terrain[:30]!r}: terrains are {', '.join(TERRAINS)}"
            )
        if quest.kind == "trade" and not quest.pays:
            told.say(at, f"{what} lacks 'pays': the goods at the top of the card")
        if quest.kind in ("attack", "defend") and not 1 <= quest.number <= 999:
            told.say(at, f"{what} lacks 'number': what dice and castle must reach")
        _check_goods(quest.pays, data.resource_cap, told, ((*at, "pays"), what))
        _check_goods(quest.reward.resources, 99, told, ((*at, "reward", "resources"), what))
        if not (0 <= quest.reward.crowns <= 5 and 0 <= quest.reward.health <= 99):
            told.say((*at, "reward"), f"{what} gives more than 5 crowns or 99 health, or less than none")
        if quest.reward == Reward():
            told.say((*at, "reward"), f"{what} has no reward")


def _check_maps(data: Data, told: _Told) -> None:
    names = [found.name for found in data.maps]
    for n, found in enumerate(data.maps):
        at, what = ("maps", n), f"map {found.name[:30]!r}"
        if not found.name or names.count(found.name) > 1:
            told.say((*at, "name"), f"{what}: each map needs a name of its own")
        for fault in faults(found):
            told.say((*at, *fault.steps), f"{what}: {fault.words}")


def goods_in_words(goods: dict[str, int]) -> str:
    """``3 stone and 1 fish`` in the order of the player boards; empty for nothing."""
    return " and ".join(f"{goods[name]} {name}" for name in RESOURCES if goods.get(name))


def with_map(text: str, found: Map) -> str:
    """The same data with this map as the first of its maps; one of the same name gives way."""
    plain = json.loads(text)
    others = [each for each in plain.get("maps", []) if each.get("name") != found.name]
    plain["maps"] = [msgspec.to_builtins(found), *others]
    return json.dumps(plain)
