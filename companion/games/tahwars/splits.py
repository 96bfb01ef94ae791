"""What a die gives when it gathers, where there is a choice. Rule: TAH-9"""

from __future__ import annotations

from itertools import product

from companion.games.tahwars.deck import OF_TERRAIN, RESOURCES
from companion.games.tahwars.maps import TERRAINS
from companion.games.tahwars.model import Piece

Gives = tuple[tuple[str, int], ...]


def splits_of(piece: Piece) -> tuple[str, ...]:
    """Every way in which a die may share its number, as `read_split` takes them; one empty where none differ."""
    lands = [name for name in piece.terrains if name in OF_TERRAIN]
    has_city = "city" in piece.terrains
    if not has_city and len(lands) <= 1:
        return ("",)
    found = [] if not lands else [_words(lands, shares) for shares in _shares(len(lands), piece.number)]
    if has_city:
        rests = _shares(len(lands), piece.number - 1) if lands else [()]
        found += [
            ", ".join(filter(None, (_words(lands, shares), f"city {name}")))
            for shares, name in product(rests, RESOURCES)
        ]
    return tuple(found)


def _shares(places: int, total: int) -> list[tuple[int, ...]]:
    """All ways to share a number among so many places, the first with most at the front."""
    if places <= 1:
        return [(total,)]
    return [(first, *rest) for first in range(total, -1, -1) for rest in _shares(places - 1, total - first)]


def _words(lands: list[str], shares: tuple[int, ...]) -> str:
    return ", ".join(f"{land} {share}" for land, share in zip(lands, shares, strict=True) if share)


def read_split(piece: Piece, split: str) -> Gives | str:
    """What a die gives, share by share, or in one sentence why it cannot be shared so. Rule: TAH-9

    The city's share is exactly 1 of any, in place of any part of the number.
    """
    wanted: dict[str, str] = {}
    for part in filter(None, (word.strip() for word in split.split(","))):
        terrain, _, what = part.partition(" ")
        if terrain not in TERRAINS or terrain in wanted:
            return "A split names each terrain once, as: forest 3, city fish."
        wanted[terrain] = what.strip()
    if not split.strip():
        if "city" in piece.terrains or len(piece.terrains) > 1:
            return f"It lies on {' and '.join(piece.terrains)}: say what it gathers."
        return tuple((OF_TERRAIN[name], piece.number) for name in piece.terrains if name in OF_TERRAIN)
    if strange := [name for name in wanted if name not in piece.terrains]:
        return f"It does not lie on {strange[0]}."
    any_of = wanted.pop("city", "")
    if any_of and any_of not in RESOURCES:
        return f"The city gives 1 of any: {', '.join(RESOURCES)}."
    if not all(share.isdecimal() and len(share) < 4 for share in wanted.values()):
        return "A share is a number, as: forest 3."
    total = sum(int(share) for share in wanted.values())
    if any_of and total >= max(1, piece.number):
        return f"The city's share takes the place of a part of the {piece.number}."
    if not any_of and total != piece.number:
        return f"The shares make {total}, the die counts {piece.number}."
    gives = [(OF_TERRAIN[name], int(share)) for name, share in wanted.items() if int(share)]
    return (*gives, (any_of, 1)) if any_of else tuple(gives)
