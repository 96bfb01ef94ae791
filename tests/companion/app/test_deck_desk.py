"""A deck measured on photographs: put together, turned, doubted, corrected by people, kept as a deck file."""

from __future__ import annotations

import json
import math
from importlib.resources import files
from pathlib import Path

import cv2
import msgspec
import numpy as np
import pytest

from companion.app.cli import main
from companion.app.deck_desk import DeckDesk, known_deck
from companion.games.tacta.deck import Deck, mirrored, read
from companion.sight.tacta_measured import deck_of, doubts_of, measured
from companion.sight.tacta_slots import SLOTS, outline, slot_of
from vision.printed.measuring import CardSeen, ShapeSeen
from web_ui.decks import DeckError, ShapeOf


def shipped(name: str) -> Deck:
    return read((files("companion.games.tacta") / "data" / f"{name}.json").read_text(encoding="utf-8"))


def seen_of(deck: Deck, off_mm: float = 0.0, turned: int = 0) -> list[tuple[str, CardSeen]]:
    """What a perfect reader would see of each front; every third card is upside down, every fourth its back."""
    rng = np.random.default_rng(3)
    width, height = deck.card_mm
    found = []
    for n, front in enumerate(deck.cards):
        card = mirrored(front, width) if turned and n % 4 == 0 else front
        is_down = bool(turned) and n % 3 == 0
        shapes = []
        for shape in card.shapes:
            touches = slot_of(shape, deck.card_mm).touches
            points = np.array(shape.polygon_mm) + rng.normal(0, off_mm, (len(shape.polygon_mm), 2))
            dots = np.array(shape.dots_mm).reshape(-1, 2)
            if is_down:
                points, dots = (width, height) - points, (width, height) - dots
                touches = "".join(sorted(touches.translate(str.maketrans("trbl", "bltr")), key="trbl".index))
            shapes.append(
                ShapeSeen(
                    tuple(map(tuple, points.tolist())),
                    tuple(map(tuple, dots.tolist())),
                    touches,
                    bool(shape.dots_mm),
                )
            )
        seen = CardSeen(
            size_mm=deck.card_mm, strip_mm=deck.strip_mm, line_mm=0.7, dot_radius_mm=deck.dot_radius_mm,
            badge=front.suit or "", shapes=tuple(shapes), is_size_measured=True,
            picture=np.zeros((889, 635, 3), np.uint8),
        )  # fmt: skip
        found.append((f"photo {n}.jpg", seen))
    return found


@pytest.mark.parametrize("name", ["deck-a", "deck-b"])
def test_slots_make_every_shape_of_the_shipped_decks(name: str) -> None:
    deck = shipped(name)
    sizes = measured(seen_of(deck), shipped("deck-a")).sizes
    for card in (*deck.cards, deck.start):
        for shape in card.shapes:
            slot = slot_of(shape, deck.card_mm)
            assert slot in SLOTS
            made = outline(slot, sizes)
            assert max(min(math.dist(a, b) for b in made) for a in shape.polygon_mm) < 0.02, (card.id, slot)


def test_a_deck_comes_back_from_what_was_seen_of_it() -> None:
    """Whichever end and side of a card was photographed, in either geometry, with 0.2 mm of noise."""
    deck = shipped("deck-b")
    found = measured(seen_of(deck, 0.2, turned=1), shipped("deck-a"))
    again = deck_of(found, shipped("deck-a"))
    assert doubts_of(found) == ()
    assert (again.sure, len(again.cards)) == ("H", 18)
    for card in deck.cards:
        other = again.card(card.id)
        assert other is not None
        places = {(slot_of(s, deck.card_mm), bool(s.dots_mm)) for s in card.shapes}
        assert {(slot_of(s, again.card_mm), bool(s.dots_mm)) for s in other.shapes} == places
        mine, theirs = ([d for s in c.shapes for d in s.dots_mm] for c in (card, other))
        assert all(min(math.dist(a, b) for b in theirs) < 0.1 for a in mine), card.id
    assert len(again.start.shapes) == 18


def test_what_is_unsure_is_told() -> None:
    deck = shipped("deck-a")
    seen = seen_of(deck)
    name, first = seen[0]
    three_dots = tuple(
        ShapeSeen(s.polygon_mm, s.dots_mm * 3, s.touches, s.is_filled) if s.is_filled else s
        for s in first.shapes
    )
    for changes, words in (
        ({"badge": ""}, "The form of its badge was not seen"),
        ({"shapes": three_dots}, "shows 3 dots: 1 are put there"),
        ({"shapes": ()}, "No shape was found"),
        ({"badge": "triangle"}, "differs from the public front"),
    ):
        changed = [(name, CardSeen(**{**first.__dict__, **changes})), *seen[1:]]
        told = " ".join(doubts_of(measured(changed, deck)))
        assert words in told, told
    no_scale = [(n, CardSeen(**{**card.__dict__, "is_size_measured": False})) for n, card in seen[:-1]]
    told = " ".join(doubts_of(measured(no_scale, deck)))
    assert "lay a printed marker" in told and "Not photographed: triangle-6." in told
    twice = [*seen, seen[0]]
    assert "On several photographs: circle-1." in doubts_of(measured(twice, deck))
    named = [("square-3.jpg", first), *seen[1:]]
    told = " ".join(doubts_of(measured(named, deck)))
    assert "the badge looks like a circle" in told and "1 dots were seen" in told
    with pytest.raises(ValueError, match="no card was found"):
        measured([], deck)


@pytest.fixture
def desk(tmp_path: Path) -> DeckDesk:
    deck = known_deck()
    seen = seen_of(deck)
    return DeckDesk(measured(seen, deck), [card.picture for _, card in seen], deck, tmp_path / "mine.json")


def test_people_correct_what_was_measured(desk: DeckDesk) -> None:
    first = desk.shown().cards[0]
    desk.change(0, "square", [ShapeOf(place=s.place, is_filled=True) for s in first.shapes])
    now = desk.shown()
    assert now.cards[0].id == "square-6"
    assert [len(s.dots) for s in now.cards[0].shapes] == [1, 2, 3]
    assert any("square-6" in doubt for doubt in now.doubts)
    desk.resize({"leg": 21.0, "strip": 1.5})
    assert {n.key: n.value for n in desk.shown().numbers}["leg"] == 21.0
    assert not desk.shown().is_kept
    assert "kept" in desk.keep()
    assert desk.shown().is_kept
    assert read(desk.path.read_text()).strip_mm == 1.5
    for wrong, words in (
        (lambda: desk.change(0, "star", first.shapes), "Choose a suit"),
        (lambda: desk.change(99, "circle", first.shapes), "no such card"),
        (lambda: desk.change(0, "circle", []), "one shape at least"),
        (lambda: desk.change(0, "circle", [first.shapes[0], first.shapes[0]]), "a place of its own"),
        (lambda: desk.resize({"width": 5.0}), "oblong of 20 to 300 mm"),
        (lambda: desk.resize({"leg": float("nan")}), "."),
        (lambda: desk.resize({"depth": 5.0}), "no such measure"),
    ):
        with pytest.raises(DeckError, match=words):
            wrong()


def test_the_command_measures_keeps_and_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The pictures are drawn flat: how well photographs are measured is tried where the eyes are."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = tmp_path / "cards"
    folder.mkdir()
    deck = shipped("deck-a")
    for card in deck.cards[:2]:
        art = np.full((1089, 835, 3), (70, 110, 140), np.uint8)
        cv2.rectangle(art, (100, 100), (734, 988), (200, 60, 20), -1)
        cv2.rectangle(art, (112, 112), (722, 976), (15, 15, 15), -1)
        for shape in card.shapes:
            points = np.round(np.clip(shape.polygon_mm, 1.2, (62.3, 87.7)) * np.array(10) + 100).astype(
                np.int32
            )
            if shape.dots_mm:
                cv2.fillPoly(art, [points], (200, 60, 20))
            cv2.polylines(art, [points], True, (235, 235, 235), 7)
            for x, y in shape.dots_mm:
                cv2.circle(
                    art, (round(x * 10 + 100), round(y * 10 + 100)), 22, (235, 235, 235), -1, cv2.LINE_AA
                )
        cv2.circle(art, (417, 544), 45, (200, 60, 20), -1, cv2.LINE_AA)
        cv2.rectangle(art, (112, 112), (722, 976), (235, 235, 235), 7)
        cv2.imwrite(str(folder / f"{card.id}.png"), art)
    (folder / "torn.jpg").write_bytes(b"\xff\xd8")
    with pytest.raises(SystemExit) as ended:
        main(["enrol", "tacta", "mine", "--from", str(folder), "--card-mm", "63.5,88.9", "--json"])
    told = capsys.readouterr()
    assert ended.value.code == 1, told.err
    assert "torn.jpg" in told.err
    found = json.loads(told.out)
    assert [card["id"] for card in found["cards"]] == ["circle-1", "circle-2"]
    assert found["sure"] == "M" and "Not photographed" in found["note"]
    kept = tmp_path / "data" / "companion" / "decks" / "mine.json"
    assert read(kept.read_text()) == msgspec.convert(found, Deck)
    for words, why in (
        (["enrol", "tacta", "../x", "--from", str(folder)], "use letters"),
        (["enrol", "tacta", "x", "--from", str(tmp_path / "none")], "give the folder"),
        (["enrol", "tacta", "x", "--from", str(folder), "--card-mm", "5"], "63.5,88.9"),
        (["enrol", "tacta", "x", "--from", str(folder), "--marker-mm", "0"], "--marker-mm 0"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 2
        assert why in capsys.readouterr().err
