"""Spell and feat cards as data. The text of a deck file stands in the journal's first fact."""

from __future__ import annotations

import tomllib
from functools import lru_cache

import msgspec

SYMBOLS = ("arrow", "burst", "spiral", "wand")
FACES = ("arrow", "arrow", "burst", "burst", "spiral", "wand")
"""The six faces of every die. Rule: TADA-2"""


class Spell(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A spell card; `effect_needs` lists what its victim must be able to do. Rule: TADA-13 TADA-21"""

    id: str
    name: str
    symbols: tuple[str, ...]
    effect: str = ""
    effect_needs: tuple[str, ...] = ()


class Feat(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A feat card; `senses` names what could notice a breach, `needs` what a player must be able to do."""

    id: str
    name: str
    text: str
    senses: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


class Deck(msgspec.Struct, frozen=True, kw_only=True):
    """A deck file. `source` says where it is from, `sure` how sure that is (H, M, L, I, or `ours`)."""

    name: str
    source: str
    sure: str
    spell: tuple[Spell, ...]
    feat: tuple[Feat, ...]
    note: str = ""

    def spells(self) -> dict[str, Spell]:
        """The spells by id."""
        return {spell.id: spell for spell in self.spell}

    def feats(self) -> dict[str, Feat]:
        """The feats by id."""
        return {feat.id: feat for feat in self.feat}


@lru_cache(maxsize=8)
def read(text: str) -> Deck:
    """The deck that a text describes. Raises ValueError with one line saying what is wrong and where."""
    try:
        deck = msgspec.convert(tomllib.loads(text), Deck)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ValueError(f"the deck file cannot be read: {error}") from error
    for kind, ids in (("spell", [s.id for s in deck.spell]), ("feat", [f.id for f in deck.feat])):
        twice = sorted({i for i in ids if ids.count(i) > 1})
        if twice:
            raise ValueError(f"two {kind}s have the id {twice[0]!r}: give each its own")
    if len(deck.spell) < 2 or not deck.feat:
        raise ValueError("a deck needs at least two spells and one feat")
    for spell in deck.spell:
        wrong = sorted(set(spell.symbols) - set(SYMBOLS))
        if wrong:
            raise ValueError(f"spell {spell.id!r} asks for {wrong[0]!r}: symbols are {', '.join(SYMBOLS)}")
        if not 4 <= len(spell.symbols) <= 5:
            raise ValueError(f"spell {spell.id!r} asks for {len(spell.symbols)} symbols: 4 or 5 it must be")
    return deck


def check(text: str) -> str:
    """Why a text is no deck, in one line; empty when it is one."""
    try:
        read(text)
    except ValueError as error:
        return str(error)
    return ""
