"""Decks of Tacta, what fits on what, whether a card lies right, and every way to lay one right."""

from __future__ import annotations

import json
import math
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.core.geometry import Pose
from companion.core.ruling import Verdict
from companion.games.tacta import deck as decks
from companion.games.tacta.faces import Face, Faces, chained, faces_of, turned
from companion.games.tacta.ground import Ground, Laid
from companion.games.tacta.placement import Allowance, Judged, Table, judge, place_apart, plays

rule = pytest.mark.rule
SHARED = Path(__file__).parents[3] / ".." / "shared" / "data" / "tacta"
TABLE = Table(size_mm=(1000.0, 700.0))
DECKS = {
    name: (files("companion.games.tacta") / "data" / f"{name}.json").read_text()
    for name in ("deck-a", "deck-b")
}
START = Laid(n=0, card="start", colour="", flipped=False, pose=Pose(468.0, 305.0, 0.0))


def faces(name: str = "deck-a") -> Faces:
    return faces_of(decks.read(DECKS[name]))


def ground(*laid: Laid, name: str = "deck-a") -> Ground:
    return Ground(faces(name), laid or (START,))


def lay(
    base: Ground, n: int, card: str, *, flipped: bool = False, pick: int = 0, on: int | None = None
) -> Laid:
    """A card laid exactly on the `pick`th legal place (of those on card `on`)."""
    found = [
        play for play in plays(base, TABLE, [Face(card, flipped)], Allowance()) if on in (None, play.target)
    ]
    return Laid(n=n, card=card, colour="blue", flipped=flipped, pose=found[pick].pose)


def moved(card: Laid, dx: float = 0.0, dy: float = 0.0, turn: float = 0.0, u_mm: float = 0.0) -> Laid:
    """The card shifted in its own frame and turned about its middle."""
    centre = card.pose.apply((31.75, 44.45))
    pose = Pose(0, 0, turned(card.pose.angle_deg + turn))
    back = pose.apply((-31.75, -44.45))
    shift = Pose(0, 0, card.pose.angle_deg).apply((dx, dy))
    pose = Pose(centre[0] + back[0] + shift[0], centre[1] + back[1] + shift[1], pose.angle_deg)
    return Laid(n=card.n, card=card.card, colour=card.colour, flipped=card.flipped, pose=pose, u_mm=u_mm)


def said(base: Ground, card: Laid, u_deg: float = 0.0) -> Judged:
    return judge(base, TABLE, card, Allowance(), u_deg)


# decks


@rule("TACTA-1", "ok")
@rule("TACTA-2", "ok")
@pytest.mark.parametrize("name", DECKS)
def test_a_deck_has_eighteen_fronts_and_sixty_three_dots(name: str) -> None:
    deck = decks.read(DECKS[name])
    assert len(deck.cards) == 18
    assert sum(card.value for card in deck.cards) == 63
    assert sorted((card.suit, card.value) for card in deck.cards) == [
        (suit, value) for suit in decks.SUITS for value in range(1, 7)
    ]
    assert all(
        len(shape.dots_mm) in (0, decks.DOTS[shape.kind]) for card in deck.cards for shape in card.shapes
    )
    assert len(deck.start.shapes) == 18


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda d: d.update(format="x"), "format"),
        (lambda d: d.update(card_mm=[5, 5]), "card_mm"),
        (lambda d: d.update(strip_mm=40), "strip_mm"),
        (lambda d: d.update(dot_radius_mm=0), "dot_radius_mm"),
        (lambda d: d.update(colours=["red", "red"]), "there twice"),
        (lambda d: d["cards"][0].update(id="circle-2"), "there twice"),
        (lambda d: d["start"].update(id="circle-2"), "starting card"),
        (lambda d: d["cards"][0].update(suit="star"), "suits are"),
        (lambda d: d["cards"][0].update(shapes=[]), "no shape"),
        (lambda d: d["cards"][0].update(value=4), "carry 1 dots"),
        (lambda d: d["cards"][0]["shapes"][0].update(kind="hexagon"), "kinds are"),
        (lambda d: d["cards"][0]["shapes"][0]["polygon_mm"].pop(), "corners"),
        (lambda d: d["cards"][0]["shapes"][0]["polygon_mm"].__setitem__(0, [-5, 0]), "beside the card"),
        (lambda d: d["cards"][0]["shapes"][0]["dots_mm"].append([5, 44]), "has 2 dots"),
        (lambda d: d["cards"][0]["shapes"][0].update(dots_mm=[[60, 10]]), "outside its outline"),
        (
            lambda d: d["cards"][0]["shapes"][0]["polygon_mm"].__setitem__(2, [25, 44.45]),
            "differ from the others",
        ),
        (lambda d: d.pop("start"), "cannot be read"),
    ],
)
def test_a_file_that_is_no_deck_says_what_is_wrong(change: Any, told: str) -> None:
    data = json.loads(DECKS["deck-a"])
    change(data)
    assert told in decks.check(json.dumps(data))
    assert decks.check(DECKS["deck-a"]) == ""


def test_no_text_at_all_is_no_deck() -> None:
    assert "cannot be read" in decks.check("")


@pytest.mark.parametrize("name", DECKS)
def test_the_shipped_decks_are_those_of_the_shared_folder(name: str) -> None:
    path = SHARED / f"{name}.json"
    if not path.is_file():
        pytest.skip(f"NOT RUN: {path} is missing, so nothing says whether the fronts are right")
    ours, theirs = decks.read(DECKS[name]), decks.read(path.read_text())
    for mine, other in zip((*ours.cards, ours.start), (*theirs.cards, theirs.start), strict=True):
        assert (mine.id, mine.value) == (other.id, other.value)
        for shape in mine.shapes:
            (x, y) = decks.Polygon(shape.polygon_mm).centre()
            assert any(
                like.kind == shape.kind
                and len(like.dots_mm) == len(shape.dots_mm)
                and math.dist(decks.Polygon(like.polygon_mm).centre(), (x, y)) < 0.2
                for like in other.shapes
            ), (mine.id, shape)


# what fits on what


@rule("TACTA-24", "ok")
@pytest.mark.parametrize("name", DECKS)
def test_joined_cards_lie_at_multiples_of_45_degrees(name: str) -> None:
    known = faces(name)
    every = [Face(card.id, flipped) for card in known.deck.cards for flipped in (False, True)]
    seen: dict[str, set[int]] = {}
    for lower in (*every, Face("start", False)):
        for upper in every:
            for joint in known.joints(lower, upper):
                kind = known.card(upper).shapes[joint.own].kind
                assert abs(joint.pose.angle_deg / 45 - round(joint.pose.angle_deg / 45)) < 1e-3
                seen.setdefault(kind, set()).add(round(joint.pose.angle_deg) % 360)
    assert seen["triangle"] == {45, 135, 225, 315}
    assert seen["square"] == {0, 90, 180, 270}
    assert seen["short rectangle"] == {0, 90, 180, 270}
    assert seen["long rectangle"] == {0, 180}


@rule("TACTA-24", "breach")
def test_no_corner_triangle_joins_a_corner_triangle() -> None:
    known = faces()

    def is_corner(face: Face, number: int) -> bool:
        xs = {x for x, _ in known.card(face).shapes[number].polygon_mm}
        ys = {y for _, y in known.card(face).shapes[number].polygon_mm}
        return bool(xs & {0.0, 63.5}) and bool(ys & {0.0, 88.9}) and len(xs) == len(ys) == 2

    start = Face("start", False)
    for card in known.deck.cards:
        for joint in known.joints(start, Face(card.id, False)):
            if known.card(start).shapes[joint.target].kind == "triangle":
                assert is_corner(start, joint.target) != is_corner(Face(card.id, False), joint.own)
    # laid so all the same, it joins nothing and covers the card: "TACTA-6", and by TACTA-24 there is no such joint
    corner = Laid(
        n=1, card="circle-2", colour="red", flipped=False, pose=Pose(468.0 - 41.0, 305.0 + 66.4, 0.0)
    )
    wrong = said(ground(), corner)
    assert (wrong.verdict, wrong.rule) == (Verdict.BREACH, "TACTA-6"), "TACTA-24"


# whether a card lies right


@rule("TACTA-6", "ok")
@rule("TACTA-7", "ok")
@rule("TACTA-8", "ok")
@rule("TACTA-3", "ok")
def test_a_card_on_the_line_is_right() -> None:
    base = ground()
    right = said(base, lay(base, 1, "circle-5"))
    assert right.verdict is Verdict.OK and right.target == 0
    assert right.measured_mm == pytest.approx(0.0, abs=0.1)


@rule("TACTA-7", "breach")
@rule("TACTA-9", "ok")
@pytest.mark.parametrize(
    ("dx", "u_mm", "verdict"),
    [
        (0.3, 0.5, Verdict.OK), (1.4, 0.5, Verdict.OK), (1.8, 0.5, Verdict.TOO_CLOSE), (2.2, 0.5, Verdict.TOO_CLOSE),
        (2.6, 0.5, Verdict.BREACH), (6.0, 0.5, Verdict.BREACH), (2.2, 0.1, Verdict.BREACH), (1.8, 0.1, Verdict.OK),
    ],
)  # fmt: skip
def test_lines_that_miss_are_judged_by_the_measured_distance(
    dx: float, u_mm: float, verdict: Verdict
) -> None:
    base = ground()
    found = said(base, moved(lay(base, 1, "circle-6"), dx=dx, u_mm=u_mm))
    assert found.verdict is verdict
    assert found.rule == "TACTA-7", "TACTA-7"
    assert found.measured_mm == pytest.approx(dx, abs=0.05)


@rule("TACTA-7", "breach")
@pytest.mark.parametrize(
    ("turn", "verdict"),
    [(0.5, Verdict.OK), (1.9, Verdict.TOO_CLOSE), (4.0, Verdict.BREACH), (-4.0, Verdict.BREACH)],
)
def test_a_card_turned_off_the_line_is_judged_by_degrees(turn: float, verdict: Verdict) -> None:
    base = ground()
    square = lay(base, 1, "triangle-1")
    found = judge(base, TABLE, moved(square, turn=turn), Allowance(mm=50.0), 0.3)
    assert (found.verdict, found.rule) == (verdict, "TACTA-7"), "TACTA-7"


@rule("TACTA-6", "breach")
def test_a_card_that_only_covers_joins_nothing() -> None:
    base = ground()
    found = said(base, Laid(n=1, card="circle-1", colour="red", flipped=False, pose=Pose(480.0, 320.0, 17.0)))
    assert (found.verdict, found.rule, found.target) == (Verdict.BREACH, "TACTA-6", None)


@rule("TACTA-3", "breach")
def test_no_part_may_pass_the_tables_edge() -> None:
    base = ground(Laid(n=0, card="start", colour="", flipped=False, pose=Pose(20.0, 305.0, 0.0)))
    over = Laid(n=1, card="circle-1", colour="red", flipped=False, pose=Pose(500.0, -3.0, 0.0), u_mm=0.5)
    found = said(base, over)
    assert (found.verdict, found.rule) == (Verdict.BREACH, "TACTA-3")
    assert all(play.pose.x_mm >= 0 for play in plays(base, TABLE, [Face("circle-1", False)], Allowance()))
    flush = Laid(n=1, card="circle-1", colour="red", flipped=False, pose=Pose(500.0, 0.2, 0.0), u_mm=0.5)
    assert said(base, flush).verdict is Verdict.TOO_CLOSE


@rule("TACTA-8", "breach")
@pytest.mark.parametrize(
    ("over", "verdict"), [(1.0, Verdict.OK), (2.0, Verdict.TOO_CLOSE), (3.0, Verdict.BREACH)]
)
def test_a_second_card_may_be_grazed_but_not_covered(over: float, verdict: Verdict) -> None:
    base = ground()
    first = lay(base, 1, "circle-5")
    corner = first.pose.apply((31.75, 44.45))
    width, height = faces().deck.card_mm
    # the second lies apart, its white line `over` mm under the first one's outline, on the side away from the start
    away = 1 if corner[0] > 500 else -1
    xs = [first.pose.apply(point)[0] for point in ((0, 0), (width, 0), (width, height), (0, height))]
    edge = max(xs) if away > 0 else min(xs)
    x = edge - over - faces().deck.strip_mm if away > 0 else edge + over + faces().deck.strip_mm - width
    other = Laid(n=2, card="circle-2", colour="red", flipped=False, pose=Pose(x, corner[1] - height / 2, 0.0))
    found = judge(ground(START, other), TABLE, moved(first, u_mm=0.3), Allowance())
    assert (found.verdict, found.rule if verdict is not Verdict.OK else "TACTA-8") == (verdict, "TACTA-8")


@rule("TACTA-22", "breach")
def test_a_joined_pair_is_closed() -> None:
    base = ground()
    first = lay(base, 1, "circle-5")
    again = ground(START, first)
    found = said(again, Laid(n=2, card="circle-5", colour="red", flipped=False, pose=first.pose))
    assert (found.verdict, found.rule) == (Verdict.BREACH, "TACTA-22")
    joined = said(base, first)
    assert joined.own is not None and not again.is_open(1, joined.own), "TACTA-22"
    assert not again.is_open(0, joined.on or 0)


@rule("TACTA-22", "ok")
def test_the_other_shapes_of_a_joined_card_stay_open() -> None:
    base = ground()
    first = lay(base, 1, "circle-5")
    joined = said(base, first)
    again = ground(START, first)
    assert [s.shape for s in again.open_shapes if s.at == 1] == [i for i in range(3) if i != joined.own]


@rule("TACTA-11", "ok")
@rule("TACTA-9", "ok")
def test_a_card_laid_apart_may_graze_no_more_than_the_strip() -> None:
    base = ground(
        START, Laid(n=1, card="circle-2", colour="red", flipped=False, pose=Pose(100.0, 100.0, 0.0))
    )
    for x, verdict in ((166.0, Verdict.OK), (163.0, Verdict.OK), (158.0, Verdict.BREACH)):
        card = Laid(n=2, card="circle-1", colour="blue", flipped=False, pose=Pose(x, 100.0, 0.0), u_mm=0.3)
        found = said(base, card)
        assert (found.verdict, found.target) == (verdict, None)


@rule("TACTA-11", "breach")
def test_a_full_table_has_no_place_apart() -> None:
    small = Table(size_mm=(160.0, 130.0))
    base = ground(Laid(n=0, card="start", colour="", flipped=False, pose=Pose(48.0, 20.0, 0.0)))
    assert place_apart(base, small) is None, "TACTA-11"
    pose = place_apart(ground(), TABLE)
    assert pose is not None
    found = said(ground(), Laid(n=1, card="circle-1", colour="red", flipped=False, pose=pose, u_mm=1.0))
    assert found.verdict is Verdict.OK and found.target is None


# counting


@rule("TACTA-14", "ok")
@rule("TACTA-15", "ok")
def test_a_dot_counts_when_more_than_half_of_it_shows() -> None:
    card = Laid(n=1, card="circle-1", colour="blue", flipped=False, pose=Pose(100.0, 100.0, 0.0))
    for x, (visible, partly) in ((39.0, (1, 0)), (41.3, (1, 1)), (43.0, (0, 1)), (60.0, (0, 0))):
        above = Laid(n=2, card="circle-2", colour="red", flipped=False, pose=Pose(x, 100.0, 0.0))
        dots = ground(card, above).dots[0]
        assert (dots.visible, dots.partly) == (visible, partly)
        assert dots.visible + dots.covered == 1


@rule("TACTA-13", "ok")
def test_what_an_illegal_card_hid_scores_again_when_it_is_taken_away() -> None:
    card = Laid(n=1, card="circle-1", colour="blue", flipped=False, pose=Pose(100.0, 100.0, 0.0))
    above = Laid(n=2, card="circle-2", colour="red", flipped=False, pose=Pose(60.0, 100.0, 0.0))
    assert ground(card, above).score() == {"blue": 0, "red": 2}
    assert ground(card, above).without([2]).score() == {"blue": 1}


# laws


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_what_is_found_to_be_legal_is_judged_so_and_no_dot_is_lost(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(DECKS)))
    known, laid = faces(name), [START]
    for n in range(1, data.draw(st.integers(2, 9))):
        base = Ground(known, laid)
        card = data.draw(st.sampled_from([card.id for card in known.deck.cards]))
        found = plays(base, TABLE, [Face(card, False), Face(card, True)], Allowance())
        for play in found:
            mine = Laid(n=n, card=card, colour="blue", flipped=play.flipped, pose=play.pose, u_mm=0.35)
            assert said(base, mine, 0.5).verdict is Verdict.OK
        if found:
            play = data.draw(st.sampled_from(found))
            nudge = data.draw(st.floats(-0.8, 0.8))
            mine = Laid(n=n, card=card, colour="blue", flipped=play.flipped, pose=play.pose, u_mm=0.2)
            laid.append(moved(mine, dx=nudge, u_mm=0.2))
    base = Ground(known, laid)
    for index, card_laid in enumerate(laid):
        dots = base.dots[index]
        assert dots.visible + dots.covered == known.card(card_laid.face).value


def test_chained_poses_are_one_after_the_other() -> None:
    outer, inner = Pose(10.0, 20.0, 30.0), Pose(5.0, -4.0, 170.0)
    whole = chained(outer, inner)
    assert whole.apply((7.0, 3.0)) == pytest.approx(outer.apply(inner.apply((7.0, 3.0))))
    assert whole.angle_deg == pytest.approx(-160.0)


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"NOT RUN: {SHARED} is missing: no table with truth to judge")
def test_every_card_of_the_shared_tables_is_judged_and_counted_as_the_truth_says() -> None:
    cards = 0
    for path in sorted(SHARED.glob("0*.json")):
        truth = json.loads(path.read_text())
        known = faces(Path(truth["deck"]).stem)
        table = Table(size_mm=tuple(truth["table_mm"]))

        def pose(of: dict[str, Any]) -> Pose:
            x, y, angle = of["pose_mm_rad"]
            return Pose(x, y, turned(math.degrees(angle)))

        laid = [Laid(n=0, card="start", colour="", flipped=False, pose=pose(truth["start"]))]
        for n, each in enumerate(truth["placements"], start=1):
            card = Laid(
                n=n, card=each["card"], colour=each["colour"], flipped=each["flipped"], pose=pose(each)
            )
            found = judge(Ground(known, laid), table, card, Allowance())
            assert (found.verdict is Verdict.OK) == each["legal"], (path.name, n, each["why"], found)
            laid.append(card)
            cards += 1
        assert Ground(known, laid).score() == truth["visible_dots"]
    assert cards == 600
