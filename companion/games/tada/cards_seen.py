"""What cards that the camera names mean: the feat that is turned up, the spells that are revealed. Pure."""

from __future__ import annotations

from companion.core.command import Command, Propose
from companion.core.observation import CardLaid, card_key, reference
from companion.games.tada import commands as c
from companion.games.tada.deck import Feat, Spell
from companion.games.tada.model import Table, deck_of, must_choose

Faces = dict[str, str]
"""The spell that lies face up before each seat, by seat."""


def laid(table: Table, faces: Faces, seen: CardLaid) -> tuple[Faces, tuple[Command, ...]]:
    """The faces as they lie now, and what is asked because of this card. A card that is not sure is proposed.

    Rule: TADA-8 TADA-10
    """
    if table.game.phase == "feat":
        return faces, _feat(table, seen)
    if table.game.phase == "choose":
        return _spell(table, faces, seen)
    return faces, ()


def _feat(table: Table, seen: CardLaid) -> tuple[Command, ...]:
    """The feat that was turned up; what is turned up is read to all by whatever announces it. Rule: TADA-8"""
    feats = {key: feat for feat in deck_of(table).feat for key in _words(feat)}
    if seen.card.name is not None:
        feat = feats.get(card_key(seen.card.name))
        return (c.RevealFeat(feat=feat.id),) if feat else ()
    maybe = [
        (feats[card_key(each.name)], each) for each in seen.card.candidates if card_key(each.name) in feats
    ]
    if not maybe:
        return ()
    what = " or ".join(feat.name for feat, _ in maybe)
    return (
        Propose(
            command=c.RevealFeat(feat=maybe[0][0].id),
            reading=f"The feat that was turned up may be {what}",
            confidence=maybe[0][1].confidence,
            evidence=(reference(seen),),
        ),
    )


def _spell(table: Table, faces: Faces, seen: CardLaid) -> tuple[Faces, tuple[Command, ...]]:
    """A spell that lies face up is chosen; once all lie so, all are revealed. Rule: TADA-10"""
    spells = {key: spell for spell in deck_of(table).spell for key in _words(spell)}
    named = seen.card.name is not None
    told = [seen.card.name] if seen.card.name is not None else [each.name for each in seen.card.candidates]
    maybe = [spells[card_key(name)] for name in told if card_key(name) in spells]
    if not maybe:
        return faces, ()
    best = maybe[0]
    seat = _whose(table, seen.card.place, best.id)
    if not seat:
        return faces, ()
    choose = c.ChooseSpell(seat=seat, spell=best.id)
    if table.options["dealing"] == "companion" and best.id not in table.game.hands.get(seat, ()):
        return faces, ()
    was_put_away = table.options["dealing"] == "table" and best.id in table.game.discard
    if not named or was_put_away:
        others = " or ".join(spell.name for spell in maybe)
        reading = f"{table.name(seat)} may have revealed {others}"
        reading += ", though it was put on the discards" if was_put_away else ""
        confidence = min(seen.card.confidence, 0.5) if was_put_away else seen.card.confidence
        asked = Propose(command=choose, reading=reading, confidence=confidence, evidence=(reference(seen),))
        return faces, (asked,)
    now = {**faces, seat: best.id}
    found: list[Command] = [] if table.game.chosen.get(seat) == best.id else [choose]
    if all(other in now for other in must_choose(table)):
        found.append(c.Reveal())
    return now, tuple(found)


def _whose(table: Table, place: str, spell: str) -> str:
    """Whose card it is: of the place on which it lies, else of whose hand it is in; nobody's where neither tells."""
    seats = must_choose(table)
    if place:
        return place if place in seats else ""
    holders = [seat for seat in seats if spell in table.game.hands.get(seat, ())]
    return holders[0] if len(holders) == 1 else ""


def _words(card: Spell | Feat) -> tuple[str, str]:
    """By what a card may be enrolled: its id or its name."""
    return card_key(card.id), card_key(card.name)
