"""The cards with which Ta-Da! is demonstrated, of our own drawing, and the deck by which a camera knows them again."""

from __future__ import annotations

from pathlib import Path

from companion.core.geometry import Pose
from companion.core.layout import Layout
from companion.games.tada.deck import Deck as Cards
from companion.games.tada.deck import Feat, Spell
from companion.games.tada.layouts import CARD_MM, spell_layout
from vision.cards.deck import Deck, card_size, write_deck
from vision.cards.looks import corners_at, straight
from vision.cards.matching import Reference
from vision.render.flat import Card, printed

_PICTURES = 997


def spell_card(seat: str, spell: Spell, pose: Pose, colour: str = "") -> Card:
    """The spell as it lies before the seat whose dice are of this colour; each spell has its own picture."""
    layout = spell_layout(seat, spell)
    return Card(layout=layout, pose=pose, owner=colour, title=spell.name, seed=_picture(spell.id))


def feat_card(feat: Feat, pose: Pose) -> Card:
    """The feat as it lies on the table."""
    layout = Layout(id=feat.id, size_mm=CARD_MM)
    return Card(layout=layout, pose=pose, title=feat.name, seed=_picture(feat.id))


def write_spells(folder: Path, cards: Cards) -> None:
    """Enrols all spells and feats into a folder by one picture each, as a scan would, named by their ids."""
    aspect = CARD_MM[1] / CARD_MM[0]
    size, at = card_size(aspect), Pose(0.0, 0.0)
    faces = {spell.id: spell_card("", spell, at) for spell in cards.spell}
    faces |= {feat.id: feat_card(feat, at) for feat in cards.feat}
    known = []
    for name, face in sorted(faces.items()):
        picture = printed(face)
        known.append(Reference(name, straight(picture, corners_at(picture.shape[1::-1]), size)))
    write_deck(folder, Deck(aspect, tuple(known)), [card.name for card in known])


def _picture(name: str) -> int:
    """Which picture is printed behind the words: each card has its own."""
    return sum(place * ord(sign) for place, sign in enumerate(name, 1)) % _PICTURES
