"""Cards are learnt by one picture each; what will not be told apart is said at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import msgspec
import numpy as np

from vision.cards.deck import Deck, DeckError, card_name, card_size
from vision.cards.looks import Floats, straight
from vision.cards.matching import Matcher, Reference
from vision.cards.outlines import Form, find_cards
from vision.folders import pictures_in
from vision.frame import Frame, Unreadable, load

_LEAST_PX = 200.0  # of a card's height in its picture
_SHARP = 9.0
_SAME_FORM = 0.06
_ALIKE = 0.12
_SCAN, _SAME_SCAN = 0.06, 0.02
_FORMS = (1.2, 1.85)
_STRAIGHT, _FRAME = 0.008, 0.17
_CAMERAS, _CAMERA_OFF = (4 / 3, 3 / 2, 16 / 9), 0.01


class CardError(Exception):
    """No card was taken from a picture; the text says why and what to do."""


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """A card found in its picture. `aspect`: height over width as seen; `sharp`: the higher the sharper; `doubt`: what
    should be mended, empty for nothing."""

    name: str
    aspect: float
    sharp: float
    height_px: float
    doubt: str = ""


class EnrolledDeck(msgspec.Struct, frozen=True, kw_only=True):
    """What an enrolment gave. `alike`: pairs of cards that will be mixed up, with how far they are apart (0 to 1);
    `closest`: the pair that is least apart; `unused`: pictures of no use and why; `doubts`: cards whose pictures are
    poor and why; `missing`: names that were asked for and have no picture."""

    cards: tuple[str, ...]
    alike: tuple[tuple[str, str, float], ...] = ()
    closest: tuple[str, str, float] | None = None
    unused: dict[str, str] = {}
    doubts: dict[str, str] = {}
    missing: tuple[str, ...] = ()


def take_card(frame: Frame, aspect: float | None = None) -> tuple[Frame, Floats]:
    """(the picture, the card's corners (4, 2) in it from its own top left clockwise) of one card that lies alone in a
    picture, or fills it as a scan does. `aspect`: of the deck where it is known. Raises CardError.

    What is up in the picture is up on the card.
    """
    form = Form() if aspect is None else Form((aspect * (1 - _SAME_FORM), aspect * (1 + _SAME_FORM)))
    found = find_cards(frame, form)
    height, width = frame.shape[:2]
    large = [each for each in found if cv2.contourArea(each.quad.astype(np.float32)) > 0.06 * height * width]
    scan = max(height, width) / min(height, width)
    is_like_card = _FORMS[0] <= scan <= _FORMS[1] if aspect is None else abs(scan / aspect - 1) < _SCAN
    if not large:  # a card whose picture goes to its edge, or a photograph in which none is seen
        is_like_card = is_like_card and all(abs(scan / form - 1) > _CAMERA_OFF for form in _CAMERAS)
    if is_like_card and all(_is_frame_of_scan(each.quad, (width, height)) for each in large):
        return frame, _whole(frame)
    if not large:
        raise CardError(
            "no card was found: one card alone, from above, on a table of another colour, nothing on it"
        )
    best = max(large, key=lambda each: cv2.contourArea(each.quad.astype(np.float32)))
    others = [each for each in large if each is not best and each.long_px() > 0.7 * best.long_px()]
    if others:
        raise CardError(f"{1 + len(others)} cards are in the picture: one card alone in each")
    return frame, upright(best.quad)


def _whole(frame: Frame) -> Floats:
    """The corners of a card that fills its picture."""
    height, width = frame.shape[:2]
    return upright(np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float64) - 0.5)


def _is_frame_of_scan(quad: Floats, size: tuple[int, int]) -> bool:
    """Whether this is what is printed on a card that fills the picture: straight, and nearly as large."""
    low, high = quad.min(0), quad.max(0)
    box = np.array([low, (high[0], low[1]), high, (low[0], high[1])])
    off = min(float(np.abs(np.roll(quad, k, axis=0) - box).max()) for k in range(4))
    gaps = np.concatenate([low, np.array(size) - 1 - high])
    return off < _STRAIGHT * max(size) and bool(gaps.max() < _FRAME * max(size))


def upright(quad: Floats) -> Floats:
    """The corners from the top left clockwise, where a short side is the top: of the two the one nearer to the top."""
    sides = np.linalg.norm(np.roll(quad, -1, axis=0) - quad, axis=1)
    first = 0 if sides[0] + sides[2] <= sides[1] + sides[3] else 1
    turns = [np.roll(quad, -k, axis=0) for k in (first, first + 2)]
    return min(turns, key=lambda each: (each[0, 1] + each[1, 1], each[0, 0]))


def measured(name: str, frame: Frame, quad: Floats) -> Taken:
    """How well a card is seen."""
    sides = np.linalg.norm(np.roll(quad, -1, axis=0) - quad, axis=1)
    height = float(sides[1] + sides[3]) / 2
    aspect = height / (float(sides[0] + sides[2]) / 2)
    sharp = sharpness(straight(frame, quad, card_size(aspect)))
    doubt = ""
    if height < _LEAST_PX:
        doubt = f"the card is only {height:.0f} px high: go closer, {_LEAST_PX:.0f} px it should be"
    elif sharp < _SHARP:
        doubt = "the picture is blurred: hold still and let the camera focus"
    return Taken(name=name, aspect=aspect, sharp=sharp, height_px=height, doubt=doubt)


def sharpness(card: Frame) -> float:
    """How steep the steepest edges of a straight card are against how much it shows: percent a px."""
    grey = np.asarray(cv2.cvtColor(card, cv2.COLOR_BGR2GRAY), np.float32)
    inner = grey[grey.shape[0] // 20 : -grey.shape[0] // 20, grey.shape[1] // 20 : -grey.shape[1] // 20]
    soft = cv2.GaussianBlur(inner, (0, 0), 0.6)
    slope = np.hypot(cv2.Sobel(soft, cv2.CV_32F, 1, 0), cv2.Sobel(soft, cv2.CV_32F, 0, 1)) / 8
    low, high = np.percentile(inner, (1, 99))
    return float(100 * np.percentile(slope, 99.5) / max(high - low, 12.0))


def enrol_folder(folder: Path, wanted: Sequence[str] = ()) -> tuple[Deck, EnrolledDeck]:
    """The deck whose cards' pictures lie in a folder as ``<name>.jpg``, and how good they are. `wanted`: the names that
    the deck should have. Raises DeckError."""
    try:
        paths = pictures_in(folder)
    except OSError as error:
        raise DeckError(f"{folder}: {error.strerror}: give the folder with one picture a card") from error
    if not paths:
        raise DeckError(f"{folder} holds no pictures: put <name>.jpg there, one a card")
    unused, found = dict[str, str](), list[tuple[Taken, Frame, Floats]]()
    looked = [_looked_at(path) for path in paths]
    scans = _form_of_scans(looked)
    for path, seen in zip(paths, looked, strict=True):
        is_scan = scans is not None and abs(seen.form - scans) < _SAME_SCAN
        try:
            if seen.why and not is_scan:
                raise CardError(seen.why)
            frame = load(path)
            quad = _whole(frame) if is_scan or seen.quad is None else seen.quad
            found.append((measured(card_name(path.stem), frame, quad), frame, quad))
        except (Unreadable, CardError, DeckError) as error:
            unused[path.name] = str(error)
    if not found:
        name, why = next(iter(unused.items()))
        raise DeckError(f"no card was found in any of {len(paths)} pictures; {name}: {why}")
    deck, odd = deck_of(found)
    unused.update(odd)
    doubts = {taken.name: taken.doubt for taken, _, _ in found if taken.doubt}
    return deck, judged(deck, doubts, unused, wanted)


class _Looked(msgspec.Struct, frozen=True):
    """A picture of one card: its `form`, long side over short, 0 for what is no picture; the card's corners, None where
    it fills the picture; or why none was taken."""

    form: float
    quad: Floats | None = None
    why: str = ""


def _looked_at(path: Path) -> _Looked:
    form = 0.0
    try:
        frame = load(path)
        form = max(frame.shape[:2]) / min(frame.shape[:2])
        quad = take_card(frame)[1]
    except (Unreadable, CardError) as error:
        return _Looked(form, why=str(error))
    return _Looked(form, None if np.array_equal(quad, _whole(frame)) else quad)


def _form_of_scans(looked: Sequence[_Looked]) -> float | None:
    """The form that most pictures have, where most of these are filled by their card: then all of them are scans, and
    what looks like a card in one is printed there."""
    usual = float(np.median([each.form for each in looked]))
    same = [each for each in looked if abs(each.form - usual) < _SAME_SCAN]
    filled = [each for each in same if each.quad is None and not each.why]
    return usual if 2 * len(filled) > len(same) > len(looked) / 2 else None


def deck_of(found: Sequence[tuple[Taken, Frame, Floats]]) -> tuple[Deck, dict[str, str]]:
    """(the deck, names of pictures whose card has another form than most and what to do)."""
    aspect = float(np.median([taken.aspect for taken, _, _ in found]))
    cards, odd = dict[str, Reference](), dict[str, str]()
    for taken, frame, seen in found:
        quad: Floats | None = seen
        if abs(taken.aspect / aspect - 1) > _SAME_FORM:
            quad = _of_form(frame, aspect)
        if quad is None:
            odd[taken.name] = (
                "it has another form than the other cards: photograph it anew, whole and from above"
            )
            continue
        cards[taken.name] = Reference(taken.name, straight(frame, quad, card_size(aspect)))
    return Deck(aspect, tuple(cards[name] for name in sorted(cards))), odd


def _of_form(frame: Frame, aspect: float) -> Floats | None:
    try:
        return take_card(frame, aspect)[1]
    except CardError:
        return None


def judged(
    deck: Deck, doubts: dict[str, str], unused: dict[str, str], wanted: Sequence[str] = ()
) -> EnrolledDeck:
    """What is to be said of a deck: which cards are alike, which pictures are poor, what is missing."""
    names = tuple(card.name for card in deck.cards)
    pairs = closest(deck.matcher()) if len(names) > 1 else []
    return EnrolledDeck(
        cards=names,
        alike=tuple(pair for pair in pairs if pair[2] < _ALIKE)[:20],
        closest=pairs[0] if pairs else None,
        unused=unused,
        doubts=doubts,
        missing=tuple(sorted(set(wanted) - set(names))),
    )


def closest(matcher: Matcher) -> list[tuple[str, str, float]]:
    """Each card with the card that is least apart from it, the closest pair first: 0 for the same, 1 for nothing in
    common."""
    apart = matcher.unlike()
    np.fill_diagonal(apart, np.inf)
    pairs = {tuple(sorted((k, int(apart[k].argmin())))) for k in range(len(matcher.cards))}
    ranked = sorted(pairs, key=lambda pair: float(apart[pair]))
    return [
        (matcher.cards[one].name, matcher.cards[other].name, round(float(apart[one, other]), 3))
        for one, other in ranked
    ]
