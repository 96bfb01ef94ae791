"""Rests become rolls: each told once, with what lay there before and what was taken up."""

from __future__ import annotations

from typing import Any

import pytest

from companion.core.observation import DiceRested, DieSeen
from vision.dice.rolls import Lifted, Roll, RollTracker

SIDE = 40


def die(value: int | str | None, x: int = 100, y: int = 100, **more: Any) -> DieSeen:
    """A die of SIDE px whose top left is (x, y)."""
    told: dict[str, Any] = {
        "kind": "d6-pips",
        "confidence": 0.95,
        "reason": None if value else "margin",
        **more,
    }
    return DieSeen(value=value, box_px=(x, y, x + SIDE, y + SIDE), **told)


class _Table:
    """Rests of one camera, a second apart."""

    def __init__(self) -> None:
        self.tracker = RollTracker()
        self._n = 0

    def rest(
        self, *dice: DieSeen, restless: tuple[tuple[int, int, int, int], ...] = ()
    ) -> Roll | Lifted | None:
        self._n += 1
        return self.tracker.step(
            DiceRested(
                source="cam",
                seen_ns=self._n * 10**9,
                uncertainty_ns=0,
                frame=self._n,
                dice=dice,
                restless_px=restless,
            )
        )

    def lying(self) -> list[int | str | None]:
        """What lies there as far as is known: what is missed once all is taken up."""
        lifted = self.rest()
        assert isinstance(lifted, Lifted)
        return values(lifted.left)


def values(dice: tuple[DieSeen, ...]) -> list[int | str | None]:
    return [die.value for die in dice]


def test_a_roll_is_told_once() -> None:
    table = _Table()
    roll = table.rest(die(2), die(4, 300))
    assert isinstance(roll, Roll)
    assert (roll.n, roll.t_ns, values(roll.rolled)) == (1, 10**9, [2, 4])
    assert table.rest(die(4, 301), die(2, 103)) is None, "the same dice, a pixel off and in another order"


def test_an_empty_table_is_no_roll() -> None:
    assert _Table().rest() is None


def test_dice_that_are_taken_up_are_told_and_the_next_roll_names_them_too() -> None:
    table = _Table()
    table.rest(die(2), die(4, 300))
    lifted = table.rest(die(4, 300))
    assert isinstance(lifted, Lifted)
    assert (values(lifted.left), values(lifted.lying)) == ([2], [4])
    roll = table.rest(die(4, 300), die(6, 500))
    assert isinstance(roll, Roll)
    assert (roll.n, values(roll.rolled), values(roll.kept), values(roll.left)) == (2, [6], [4], [2])


def test_a_die_that_is_rolled_again_lies_elsewhere() -> None:
    table = _Table()
    table.rest(die(2), die(4, 300))
    roll = table.rest(die(2, 180), die(4, 300))
    assert isinstance(roll, Roll)
    assert (values(roll.rolled), values(roll.kept), values(roll.left)) == ([2], [4], [2])


def test_a_tray_that_was_emptied_is_armed_again_for_the_very_same_roll() -> None:
    table = _Table()
    table.rest(die(2))
    assert isinstance(table.rest(), Lifted)
    roll = table.rest(die(2))
    assert isinstance(roll, Roll) and roll.n == 2


def test_another_face_in_the_same_place_is_a_roll_where_both_are_sure_and_a_better_look_else() -> None:
    table = _Table()
    table.rest(die(2))
    assert isinstance(table.rest(die(5)), Roll)
    assert table.rest(die(3, confidence=0.6)) is None
    assert table.lying() == [5], "the surer reading stands"
    doubtful = _Table()
    doubtful.rest(die(3, confidence=0.6))
    assert doubtful.rest(die(5)) is None
    assert doubtful.lying() == [5]


def test_a_die_that_is_read_later_is_no_second_roll() -> None:
    table = _Table()
    first = table.rest(die(None), die(4, 300))
    assert isinstance(first, Roll) and values(first.rolled) == [None, 4]
    assert table.rest(die(1), die(4, 300)) is None
    assert table.rest(die(None), die(4, 300)) is None
    assert table.lying() == [1, 4], "what was read once is not forgotten"


def test_what_a_hand_hides_has_not_left_and_is_no_roll_when_it_comes_back() -> None:
    table = _Table()
    table.rest(die(2), die(4, 300))
    assert table.rest(die(4, 300), restless=((80, 80, 160, 160),)) is None
    assert table.rest(die(2), die(4, 300)) is None
    table.rest(die(4, 300), restless=((80, 80, 160, 160),))
    lifted = table.rest(die(4, 300))
    assert isinstance(lifted, Lifted) and values(lifted.left) == [2]


def test_a_die_that_moves_on_is_said_and_belongs_to_the_roll_in_which_it_rests() -> None:
    table, restless = _Table(), ((290, 90, 400, 200),)
    for _ in range(3):
        assert table.rest(die(2), die(None, 300, reason="moving"), restless=restless) is None
    roll = table.rest(die(2), die(None, 300, reason="moving"), restless=restless)
    assert isinstance(roll, Roll), "for how long it has spun, it is not waited for any more"
    assert (values(roll.rolled), values(roll.moving)) == ([2], [None])
    later = table.rest(die(2), die(6, 330))
    assert isinstance(later, Roll) and (later.n, values(later.rolled)) == (2, [6])


def test_a_lying_die_that_is_touched_is_told_once_as_kept_and_no_throw_waits_for_it() -> None:
    touched = die(None, reason="moving")
    for restless in (((80, 80, 160, 160),), ()):
        table = _Table()
        table.rest(die(2))
        assert table.rest(touched, restless=restless) is None, "it has not left"
        roll = table.rest(touched, die(6, 500), restless=restless)
        assert isinstance(roll, Roll)
        assert (values(roll.rolled), values(roll.kept), roll.moving, roll.left) == ([6], [2], (), ())


def test_a_throw_waits_for_its_last_die_and_is_told_once() -> None:
    table = _Table()
    assert table.rest(die(2), die(None, 300, reason="moving"), restless=((290, 90, 400, 200),)) is None
    assert table.tracker.due(2 * 10**9) is None
    roll = table.rest(die(2), die(6, 330))
    assert isinstance(roll, Roll) and (roll.n, values(roll.rolled)) == (1, [2, 6])
    assert table.tracker.due(20 * 10**9) is None
    table.rest(
        die(2), die(6, 330), die(None, 500, reason="moving"), die(1, 400), restless=((490, 90, 600, 200),)
    )
    late = table.tracker.due(9 * 10**9)
    assert isinstance(late, Roll) and (values(late.rolled), values(late.moving)) == ([1], [None])


@pytest.mark.parametrize(("moved_mm", "is_roll"), [(2.0, False), (9.0, True)])
def test_places_in_mm_outrank_pixels(moved_mm: float, is_roll: bool) -> None:
    table = _Table()
    table.rest(die(2, xy_mm=(50.0, 50.0)))
    told = table.rest(die(2, 105, xy_mm=(50.0 + moved_mm, 50.0)))
    assert isinstance(told, Roll) == is_roll
