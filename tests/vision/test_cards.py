"""Cards by one picture each: named at any turn, under a finger; refused when unknown; poor pictures told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from vision.cards.deck import FORM, Deck, DeckError, card_name, card_size, read_deck, write_deck
from vision.cards.enrolling import CardError, enrol_folder, take_card
from vision.cards.matching import Reference, straight_card
from vision.cards.outlines import find_cards
from vision.cards.reader import CardReader
from vision.frame import Frame, load
from vision.render.decks import illustrated, number, text_only
from vision.render.laid_card import Sight, seen_card

DECK = 31
PLAIN = Sight(height_px=230, turn_deg=-35, tilt_deg=10, tilt_to_deg=40, seed=3)


def scan(card: Frame) -> Frame:
    """The print a little soft, as a scanner gives it."""
    return np.asarray(cv2.GaussianBlur(card, (0, 0), 0.8), np.uint8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pictures of six cards: five scans, and one photograph on a table."""
    place = tmp_path_factory.mktemp("pictures")
    for n in range(5):
        cv2.imwrite(str(place / f"card {n}.png"), scan(illustrated(DECK, n)))
    shot, _ = seen_card(illustrated(DECK, 5), Sight(height_px=420, turn_deg=3, cloth="wood", seed=1))
    cv2.imwrite(str(place / "card 5.png"), shot)
    return place


@pytest.fixture(scope="module")
def deck(folder: Path) -> Deck:
    """Those six cards."""
    found, result = enrol_folder(folder)
    assert result.cards == tuple(f"card {n}" for n in range(6))
    assert (result.unused, result.doubts, result.alike, result.missing) == ({}, {}, (), ())
    return found


@pytest.fixture(scope="module")
def reader(deck: Deck) -> CardReader:
    return CardReader(deck)


@pytest.mark.parametrize(
    "sight",
    [
        PLAIN,
        replace(PLAIN, turn_deg=170, cloth="paper"),
        replace(PLAIN, finger=0.2, lamp=0.4, cast=(0.8, 1.0, 1.15)),
        replace(PLAIN, glare=0.25, height_px=150),
    ],
    ids=["tilted", "upside-down", "finger", "glare-small"],
)
def test_a_card_is_named_with_its_own_corners(reader: CardReader, sight: Sight) -> None:
    frame, quad = seen_card(illustrated(DECK, 5), sight)
    (card,) = reader.read(frame)
    assert card.name == "card 5"
    assert card.candidates[0].name == "card 5"
    assert card.confidence >= 0.8
    assert np.abs(np.array(card.quad_px) - quad).max() < 0.03 * sight.height_px
    top = quad[0] + quad[1] - quad[2] - quad[3]
    assert card.angle_deg == pytest.approx(np.degrees(np.arctan2(top[0], -top[1])), abs=2)


def sleeved(card: Frame) -> Frame:
    """The card in a sleeve: a rim of clear plastic around it, its print a little paler."""
    pale = np.clip(card * 0.86 + 22, 0, 255).astype(np.uint8)
    rim = round(1.7 / 88 * card.shape[0])
    return np.asarray(
        cv2.copyMakeBorder(pale, *[rim] * 4, cv2.BORDER_CONSTANT, value=(205, 210, 208)), np.uint8
    )


def test_sleeved_cards_dark_ones_on_a_dark_table_and_pale_ones_on_a_pale_one_are_named() -> None:
    decks = {"dark": (illustrated, "felt"), "pale": (text_only, "paper")}
    for paper, (drawn, cloth) in decks.items():
        cards = [drawn(9000, n) for n in range(4)]
        assert (cards[0][2, 2].mean() < 60) == (paper == "dark")
        size = card_size(704 / 504)
        deck = Deck(
            704 / 504, tuple(Reference(str(n), straight_card(scan(c), size)) for n, c in enumerate(cards))
        )
        reader, sight = CardReader(deck), replace(PLAIN, cloth=cloth, height_px=280)
        for face in (cards[2], sleeved(cards[2])):
            (seen,) = reader.read(seen_card(face, sight)[0])
            assert seen.name == "2"


@pytest.mark.parametrize("card", [illustrated(DECK, 40), text_only(DECK, 1)], ids=["same deck", "other deck"])
def test_an_unknown_card_is_not_named(reader: CardReader, card: Frame) -> None:
    frame, _ = seen_card(card, PLAIN)
    (seen,) = reader.read(frame)
    assert seen.name is None
    assert seen.reason in ("unknown", "margin")


def test_an_empty_table_has_no_cards(reader: CardReader) -> None:
    grain = np.random.default_rng(1).normal(120, 3, (360, 480, 3))
    assert reader.read(np.asarray(grain, np.uint8)) == []


def test_cards_that_differ_in_colour_alone_are_told_apart() -> None:
    first = scan(number(DECK, 4))
    faces = {"one": first, "two": np.ascontiguousarray(first[:, :, ::-1]), "three": scan(number(DECK, 5))}
    size = card_size(704 / 504)
    deck = Deck(704 / 504, tuple(Reference(name, straight_card(face, size)) for name, face in faces.items()))
    reader = CardReader(deck)
    for name in ("one", "two"):
        frame, _ = seen_card(faces[name], replace(PLAIN, cast=(0.9, 1.0, 1.1)))
        (seen,) = reader.read(frame)
        assert seen.candidates[0].name == name


def test_a_deck_is_a_folder_that_may_be_copied(deck: Deck, tmp_path: Path) -> None:
    write_deck(tmp_path / "deck", deck, [card.name for card in deck.cards])
    again = read_deck((tmp_path / "deck").rename(tmp_path / "copied"))
    assert [card.name for card in again.cards] == [card.name for card in deck.cards]
    assert again.aspect == pytest.approx(deck.aspect, abs=1e-4)
    assert all((a.picture == b.picture).all() for a, b in zip(again.cards, deck.cards, strict=True))
    write_deck(tmp_path / "copied", again.without("card 2"), ["card 2"])
    assert "card 2" not in {card.name for card in read_deck(tmp_path / "copied").cards}


@pytest.mark.parametrize("form", [b"", b"[]", b'{"aspect": "x"}', b'{"aspect": 9}', b"\xff\xfe"])
def test_a_damaged_deck_says_so_in_one_line(tmp_path: Path, form: bytes) -> None:
    (tmp_path / FORM).write_bytes(form)
    with pytest.raises(DeckError) as told:
        read_deck(tmp_path)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("name", ["", "  ", "a/b", "..", "x" * 61, "a\nb", ".hidden"])
def test_a_name_that_no_file_may_have_is_refused(name: str) -> None:
    with pytest.raises(DeckError):
        card_name(name)


def test_like_cards_a_blurred_picture_a_missing_card_and_one_of_no_use_are_told(
    folder: Path, tmp_path: Path
) -> None:
    for path in sorted(folder.iterdir())[:3]:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    cv2.imwrite(str(tmp_path / "twin.png"), scan(illustrated(DECK, 1)))
    cv2.imwrite(str(tmp_path / "blurred.png"), cv2.GaussianBlur(illustrated(DECK, 7), (0, 0), 7))
    (tmp_path / "broken.jpg").write_bytes(b"no picture")
    _, result = enrol_folder(tmp_path, ["card 0", "card 8", "twin"])
    assert [pair[:2] for pair in result.alike] == [("card 1", "twin")]
    assert list(result.doubts) == ["blurred"]
    assert "blurred" in result.doubts["blurred"]
    assert result.missing == ("card 8",)
    assert list(result.unused) == ["broken.jpg"]


def test_a_photograph_of_an_empty_table_is_no_card() -> None:
    grain = np.random.default_rng(2).normal(120, 3, (480, 640, 3))
    with pytest.raises(CardError, match="no card was found"):
        take_card(np.asarray(grain, np.uint8))


def test_what_is_printed_on_a_scan_among_scans_is_not_taken_for_the_card(
    folder: Path, tmp_path: Path
) -> None:
    for n in range(3):
        (tmp_path / f"{n}.png").write_bytes((folder / f"card {n}.png").read_bytes())
    height, width = load(tmp_path / "0.png").shape[:2]
    framed = np.full((height, width, 3), (40, 60, 90), np.uint8)
    cv2.rectangle(framed, (width // 4, height // 4), (3 * width // 4, 3 * height // 4), (220, 220, 220), -1)
    cv2.circle(framed, (width // 2, height // 2), width // 8, (30, 30, 160), -1)
    cv2.imwrite(str(tmp_path / "framed.png"), framed)
    assert np.ptp(take_card(framed)[1][:, 0]) < 0.6 * width, "alone it might be a card on a table"
    deck, result = enrol_folder(tmp_path)
    assert (result.unused, result.doubts) == ({}, {})
    (taken,) = [card for card in deck.cards if card.name == "framed"]
    assert taken.picture[2:20, 2:20].mean(axis=(0, 1)) == pytest.approx((40, 60, 90), abs=8)


def test_several_cards_in_one_picture_are_not_taken_for_one() -> None:
    one, _ = seen_card(illustrated(DECK, 1), replace(PLAIN, height_px=300, turn_deg=0, tilt_deg=0))
    with pytest.raises(CardError, match="2 cards"):
        take_card(np.hstack([one, one]))


PHOTOGRAPHS = Path(__file__).resolve().parents[3] / "shared" / "data" / "cards"


@pytest.mark.skipif(
    not PHOTOGRAPHS.is_dir(), reason=f"{PHOTOGRAPHS} is not there: no photograph is looked at"
)
@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_a_card_does_not_take_its_neighbours_side_for_its_own(name: str) -> None:
    """Twelve cards on a table with a grain, whose sides lie nearly in one line."""
    image = f"errcw_set/{name}.jpg"
    truths = [
        card["quad_px"] for card in json.loads((PHOTOGRAPHS / "labels.json").read_text())[image]["cards"]
    ]
    found = [cv2.contourArea(each.quad.astype(np.float32)) for each in find_cards(load(PHOTOGRAPHS / image))]
    areas = [cv2.contourArea(np.array(quad, np.float32)) for quad in truths]
    assert np.sort(found) == pytest.approx(np.sort(areas), rel=0.12)


def test_the_outermost_of_nested_frames_is_the_card() -> None:
    frame, quad = seen_card(text_only(DECK, 2), replace(PLAIN, cloth="paper", height_px=280))
    (outline,) = find_cards(frame)
    turned = [np.abs(np.roll(outline.quad, k, axis=0) - quad).max() for k in range(4)]
    assert min(turned) < 0.02 * 280
