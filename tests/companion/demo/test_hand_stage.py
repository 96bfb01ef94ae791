"""The demo's rendered cards, laid, moved and taken, as the eyes and the game understand them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from virtual import Virtual

from companion.core.geometry import Pose
from companion.core.seat import seat_at
from companion.demo.hand_director import CARD_MM
from companion.demo.hand_stage import write_demo_deck
from companion.demo.prints import faces
from companion.demo.stage import eye_over
from companion.games.zingazam import GAME
from companion.games.zingazam import commands as c
from companion.games.zingazam.deck import CAT_NUMBERS, NUMBERS, card_named
from companion.sight.zingazam import lookout
from vision.cards.deck import read_deck
from vision.render.pictured import PictureTable
from vision.render.scene import Scene
from vision.surface import Marks

SIZE_MM = (480.0, 300.0)
FRAME_NS = 120_000_000
MOST_FRAMES = 60


def test_the_demos_deck_holds_every_card_under_its_name(tmp_path: Path) -> None:
    write_demo_deck(tmp_path / "deck")
    names = [card.name for card in read_deck(tmp_path / "deck").cards]
    cards = [card_named(name) for name in names]
    assert {card.number for card in cards if card and not card.is_cat} == set(NUMBERS)
    assert {card.number for card in cards if card and card.is_cat} == set(CAT_NUMBERS)
    assert len(names) == len(NUMBERS) + len(CAT_NUMBERS)


def test_a_round_is_seen_from_the_first_card_to_the_taking(tmp_path: Path) -> None:
    """Ann's 8 is laid and pushed aside, Ben's 5 is laid upside down, and both are taken, the later one first."""
    write_demo_deck(tmp_path / "deck")
    eyes = lookout(tmp_path / "deck").lookout("cam", Marks(size_mm=SIZE_MM))
    v = Virtual(GAME, (seat_at(1, "Ann"), seat_at(2, "Ben")), 1, {"visible_at_start": 0})
    v.give(c.NameOldest(seat="s1"))
    v.give(c.Begin())
    bare = Scene(size_mm=SIZE_MM, marks=Marks(size_mm=SIZE_MM), cloth="felt", seed=3)
    table = PictureTable(bare=bare, prints=faces(), card_mm=CARD_MM)
    camera, number = eye_over(SIZE_MM), 0

    def film(*laid: tuple[str, Pose], until: tuple[int, str]) -> None:
        """Look at the table until so many cards are in play in that phase, and on, to see that nothing follows."""
        nonlocal number
        now = replace(table, laid=laid)
        drawn, rest = now.drawn(camera), 12
        for _ in range(MOST_FRAMES):
            number += 1
            v.now_ns += FRAME_NS
            for seen in eyes.step(now.shot(drawn, camera, 0), v.now_ns, 0, number):
                v.step(seen)  # type: ignore[arg-type]  # every observation of the eyes is one of the union
            rest -= (len(v.sitting.game.played), v.sitting.game.phase) == until
            if rest == 0:
                return
        raise AssertionError((until, v.sitting.game))

    film(until=(0, "play"))
    film(("8", Pose(60, 90, 4)), until=(1, "play"))
    film(("8", Pose(72, 80, 8)), until=(1, "play"))
    assert v.sitting.game.turn == "s2"
    film(("8", Pose(72, 80, 8)), ("5", Pose(330, 190, 176)), until=(2, "taking"))
    film(("8", Pose(72, 80, 8)), until=(2, "taking"))
    film(until=(0, "play"))
    assert [card.number for card in v.sitting.game.piles["s1"]] == [8, 5]
    assert v.sitting.proposals == ()
