"""The demo's own table: six owners, 2.65 px/mm, 36 dice, a profile that was enrolled at 360 px.

The demo and the evening test play through this reader, so it must read such a table nearly without a miss.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from companion.core.layout import Placed
from companion.core.seat import MARKS
from companion.demo.stage import eye_over, livery
from companion.games.tada.deck import SYMBOLS, read
from companion.games.tada.layouts import spell_layout
from companion.sight.tada import card_poses
from vision.dice.symbols import SymbolReader
from vision.profile import load_profile
from vision.render.cube import Die
from vision.render.flat import Card
from vision.render.scene import Scene
from vision.surface import Marks, calibrate, find_markers

ROOT = Path(__file__).parents[2]
SIZE_MM = (480.0, 320.0)
COLOURS = [colour for colour, _ in MARKS]


def table(seed: int) -> Scene:
    """Six spell cards with some locked dice, the other dice loose between them."""
    deck = read((ROOT / "companion/games/tada/data/house.toml").read_text(encoding="utf-8"))
    rng = np.random.default_rng(seed)
    cards, dice = [], []
    for i, (colour, pose) in enumerate(zip(COLOURS, card_poses(6, SIZE_MM), strict=True)):
        spell = deck.spell[(seed * 6 + i) % len(deck.spell)]
        layout = spell_layout(f"s{i + 1}", spell)
        cards.append(Card(layout=layout, pose=pose, owner=colour, title=spell.name, seed=seed + i))
        count = int(rng.integers(0, len(spell.symbols) + 1))
        for slot, region in enumerate(layout.regions[:count]):
            x, y = pose.apply(region.outline.centre())
            dice.append(
                Die(value=region.symbol or "", owner=colour, livery=livery(colour), lift_mm=0.4, card=i, slot=slot,
                    xy_mm=(x + rng.uniform(-1.5, 1.5), y + rng.uniform(-1.5, 1.5)),
                    angle_deg=float(rng.uniform(0, 360)))
            )  # fmt: skip
        for k in range(6 - count):
            place = (i * 6 + k) % 18
            dice.append(
                Die(value=str(rng.choice(SYMBOLS)), owner=colour, livery=livery(colour),
                    xy_mm=(40 + 400 * place / 17, 148 + (i * 6 + k) // 18 * 26), angle_deg=float(rng.uniform(0, 360)))
            )  # fmt: skip
    cloth = ("wood", "felt", "playmat", "linen", "paper", "checks")[seed % 6]
    return Scene(
        size_mm=SIZE_MM,
        marks=Marks(size_mm=SIZE_MM),
        cards=tuple(cards),
        dice=tuple(dice),
        cloth=cloth,
        seed=seed,
    )


@pytest.mark.parametrize("seed", range(6))
def test_a_demo_table_is_read(seed: int) -> None:
    """All 36 dice with value, owner and printed place; at most one unread, none wrong, none invented."""
    scene, camera = table(seed), eye_over(SIZE_MM)
    picture = scene.picture(camera)
    surface = calibrate(find_markers(picture), Marks(size_mm=SIZE_MM), camera.size_px)
    layouts = tuple(Placed(layout=card.layout, pose=card.pose, owner=card.owner) for card in scene.cards)
    reader = SymbolReader([load_profile(ROOT / "companion/demo/data/demo.dice.npz")])
    found = reader.read(picture, surface, layouts).dice
    wrong, unread = [], []
    left = list(found)
    for truth in scene.truth(camera):
        near = [
            d
            for d in left
            if d.xy_mm and np.hypot(d.xy_mm[0] - truth.xy_mm[0], d.xy_mm[1] - truth.xy_mm[1]) < 8
        ]
        if near:
            left.remove(near[0])
        place = None if truth.card is None else (f"s{truth.card + 1}", str(truth.slot))
        if not near or near[0].value is None:
            unread.append((truth.owner, truth.value, truth.xy_mm))
        elif (near[0].value, near[0].owner, near[0].on) != (truth.value, truth.owner, place):
            wrong.append((truth, near[0]))
    assert not wrong
    assert not [die for die in left if die.value is not None]
    assert len(unread) <= 1
