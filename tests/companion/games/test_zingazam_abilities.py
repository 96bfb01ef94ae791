"""What each number does, the choices that it asks for, and when it is skipped, with the rule."""

from __future__ import annotations

import msgspec
import pytest
from zingazam_table import ZazTable

from companion.core.command import Command
from companion.games.zingazam import commands as c
from companion.games.zingazam.deck import Card
from companion.games.zingazam.model import facing

rule = pytest.mark.rule


def skipped(table: ZazTable) -> tuple[int, str]:
    """The ability that was skipped last and the rule; it is answered on the pages."""
    skip = table.game.skip
    assert skip is not None
    asked = {answer.label: answer.text for answer in table.view("s1").answers}
    assert skip.because in asked["Why was this skipped?"]
    assert skip.rule in asked["Why was this skipped?"]
    rows = {row.id: row.text for zone in table.board().zones for row in zone.rows}
    assert skip.because in rows["asked-skipped"], "the crowd is told too"
    return skip.ability, skip.rule


def refused(table: ZazTable, command: Command) -> str:
    found = table.give(command)
    assert found is not None
    return found.rule


# the 2


@rule("ZAZ-11", "ok")
def test_a_two_takes_the_top_card_of_the_only_pile_by_itself() -> None:
    table = ZazTable(3).begun().piles(s2=[4, 7]).play("2")
    assert (table.pile("s1"), table.pile("s2")) == ([7], [4])
    assert "the top card, a 7" in table.rulings("ZAZ-11")[0].because


@rule("ZAZ-11", "ok")
def test_a_two_takes_from_whom_its_player_says() -> None:
    table = ZazTable(4).begun().piles(s1=[8], s2=[4, 7], s4=[3, 6]).play("2")
    assert {action.id for action in table.offered(c.Take, "s1")} == {"take-s2", "take-s4"}
    assert not table.offered(c.Take, "s2")
    table.do(c.Take(seat="s1", source="s4"), table.by("s1"))
    assert (table.pile("s1"), table.pile("s4")) == ([8, 6], [3])
    assert table.game.turn == "s2"


@rule("ZAZ-11", "breach")
def test_a_two_takes_from_another_pile_that_has_a_card() -> None:
    table = ZazTable(4).begun().piles(s1=[8], s2=[4, 7], s4=[3, 6]).play("2")
    for command in (
        c.Take(seat="s1", source="s1"),
        c.Take(seat="s1", source="s3"),
        c.Take(seat="s1", source="s9"),
        c.Take(seat="s1", source="s2", place=2),
        c.Take(seat="s4", source="s2"),
    ):
        found = table.give(command)
        assert found is not None and found.rule == "ZAZ-11", command


@rule("ZAZ-11", "house")
def test_a_chosen_card_may_lie_anywhere_in_the_pile() -> None:
    table = ZazTable(3, moved_card="chosen").begun().piles(s2=[3, 3, 8]).play("2")
    (action,) = table.offered(c.Take, "s1")
    labels = [choice.label for choice in action.fields[0].choices]
    assert labels == ["8 (top)", "3 (2 from the top)", "3 (3 from the top)"]
    assert refused(table, c.Take(seat="s1", source="s2")) == "ZAZ-11"
    table.do(c.Take(seat="s1", source="s2", place=2))
    assert (table.pile("s1"), table.pile("s2")) == ([3], [3, 8])


@rule("ZAZ-11", "house")
def test_a_random_card_is_drawn_by_the_table() -> None:
    drawn = set()
    for seed in range(12):
        table = ZazTable(2, seed=seed, moved_card="random").begun().piles(s2=[3, 4, 8]).play("2")
        drawn |= set(table.pile("s1"))
        assert len(table.pile("s1")) == 1
    assert drawn == {3, 4, 8}


@rule("ZAZ-11", "ok")
def test_a_two_is_skipped_where_no_other_pile_has_a_card() -> None:
    assert skipped(ZazTable(2).begun().play("2")) == (2, "ZAZ-11")
    table = ZazTable(2).begun().play("4", "3").do(c.Collect()).play("2")
    assert table.pile("s1") == [4, 3]
    assert skipped(table) == (2, "ZAZ-11"), "the own pile does not count"


# the 3


@rule("ZAZ-12", "ok")
def test_a_three_turns_a_card() -> None:
    table = ZazTable(2).begun().play("3")
    assert len(facing(table.game, "s1", "owner")) == 2
    assert len(facing(table.game, "s1", "others")) == 5


@rule("ZAZ-12", "ok")
def test_where_hands_are_known_the_player_says_which_card_is_turned() -> None:
    table = ZazTable(2, hands="full", visible_at_start=0).dealt().do(c.Play(seat="s1", position=3))
    positions = [choice.value for choice in table.offered(c.Turn, "s1")[0].fields[0].choices]
    assert positions == [1, 2, 3, 4, 5, 6, 7]
    table.do(c.Turn(seat="s1", position=7), table.by("s1"))
    assert facing(table.game, "s1", "owner") == (7,)
    assert "7: 8, faces you" in table.view("s1").answers[0].text


@rule("ZAZ-12", "breach")
def test_a_card_that_faces_its_owner_is_not_turned_nor_without_a_three() -> None:
    table = ZazTable(2, hands="full", visible_at_start=1).dealt()
    (seen,) = facing(table.game, "s1", "owner")
    found = table.give(c.Turn(seat="s1", position=1))
    assert found is not None and found.rule == "ZAZ-12"
    place = next(n for n, held in enumerate(table.game.hands["s1"], 1) if held.number == 3)
    table.do(c.Play(seat="s1", position=place))
    if seen != place:
        seen -= seen > place
        found = table.give(c.Turn(seat="s1", position=seen))
        assert found is not None and found.rule == "ZAZ-12"
    assert refused(table, c.Turn(seat="s1", position=0)) == "ZAZ-12"


@rule("ZAZ-12", "ok")
@pytest.mark.parametrize("hands", ["played", "full"])
def test_a_three_is_skipped_where_every_card_faces_its_owner(hands: str) -> None:
    table = ZazTable(2, hands=hands, visible_at_start=8)
    table = table.dealt() if hands == "full" else table.begun()
    table.do(c.Play(seat="s1", position=3) if hands == "full" else c.Play(seat="s1", card="3"))
    assert skipped(table) == (3, "ZAZ-12")


# the 4


@rule("ZAZ-13", "ok")
def test_a_four_draws_a_cat_that_faces_its_owner() -> None:
    table = ZazTable(2).begun().play("4")
    assert table.game.cats_left == 11
    assert table.game.hands["s1"][-1].is_cat and table.game.hands["s1"][-1].faces_owner
    assert len(table.game.hands["s1"]) == 8


@rule("ZAZ-13", "ok")
def test_where_hands_are_known_the_cat_is_told_before_play_goes_on() -> None:
    table = ZazTable(2, hands="full").dealt().do(c.Play(seat="s1", position=4))
    assert table.game.drawing == "s1"
    assert refused(table, c.Play(seat="s2", position=1)) == "ZAZ-6"
    assert refused(table, c.TellCat(seat="s2", number=6)) == "ZAZ-13"
    assert refused(table, c.TellCat(seat="s1", number=4)) == "ZAZ-1"
    table.do(c.TellCat(seat="s1", number=6), table.by("s1"))
    assert table.game.hands["s1"][-1].number == 6
    assert table.game.turn == "s2"


@rule("ZAZ-13", "breach")
def test_nobody_plays_a_cat_that_was_not_drawn() -> None:
    table = ZazTable(2).begun()
    found = table.give(c.Play(seat="s1", card="cat-6"))
    assert found is not None and found.rule == "ZAZ-13"


@rule("ZAZ-13", "ok")
def test_a_four_is_skipped_where_no_cat_is_left() -> None:
    table = ZazTable(2, data="name='x'\nnumbers=[1,2,3,4,5,6,7,8]\n[cats]\n6=1\n").begun().play("4", "4")
    assert table.game.cats_left == 0
    assert skipped(table) == (4, "ZAZ-13")


# the 5


@rule("ZAZ-14", "ok")
def test_a_five_copies_the_only_ability_there_is_but_not_the_number() -> None:
    table = ZazTable(3).begun().play("4", "5")
    assert table.game.cats_left == 10, "the only ability that can be copied is copied at once"
    table.play("4")
    assert table.game.phase == "taking"
    table.do(c.Collect())
    assert table.game.leader == "s2", "the card is a 5"


@rule("ZAZ-14", "ok")
def test_the_copier_chooses_among_those_that_can_take_effect() -> None:
    table = ZazTable(4).begun().play("4", "3", "8")
    assert table.game.skip is not None, "nobody has a pile yet"
    table.play("5")
    assert [
        action.command.number for action in table.offered(c.Copy, "s4") if isinstance(action.command, c.Copy)
    ] == [3, 4]
    table.do(c.Copy(seat="s4", number=3), table.by("s4"))
    assert len(facing(table.game, "s4", "owner")) == 2


@rule("ZAZ-14", "ok")
def test_even_an_eight_that_hurts_is_copied() -> None:
    table = ZazTable(2).begun().piles(s1=[4], s2=[6]).play("8", "5")
    assert (table.pile("s1"), table.pile("s2")) == ([4], [6]), "the 4 went over and came back"
    assert len(table.rulings("ZAZ-17")) == 2


@rule("ZAZ-14", "breach")
def test_ones_fives_and_what_has_no_effect_are_not_copied() -> None:
    table = ZazTable(5).begun().play("4", "3", "1", "8", "5")
    for number in (1, 5, 8, 2):
        found = table.give(c.Copy(seat="s5", number=number))
        assert found is not None and found.rule == "ZAZ-14", number
    found = table.give(c.Copy(seat="s4", number=3))
    assert found is not None and found.rule == "ZAZ-14"


@rule("ZAZ-14", "ok")
@pytest.mark.parametrize(
    ("cards", "words"),
    [
        (("5",), "No other card is in play"),
        (("1", "5"), "Only 1s and 5s are in play"),
        (("8", "5"), "cannot take effect now"),
    ],
)
def test_a_five_is_skipped_where_nothing_can_be_copied(cards: tuple[str, ...], words: str) -> None:
    table = ZazTable(3).begun().play(*cards)
    assert skipped(table) == (5, "ZAZ-14")
    assert table.game.skip is not None and words in table.game.skip.because


# the 6


@rule("ZAZ-15", "ok")
@pytest.mark.parametrize("hands", ["played", "full"])
def test_a_six_names_the_card_that_the_next_player_must_play(hands: str) -> None:
    table = ZazTable(2, hands=hands)
    table = (
        table.dealt((6, 1, 2, 3, 4, 5, 7, 8), (8, 7, 6, 5, 4, 3, 2, 1)) if hands == "full" else table.begun()
    )
    table.do(
        c.Play(seat="s1", position=1) if hands == "full" else c.Play(seat="s1", card="6", faced="others")
    )
    assert [choice.value for choice in table.offered(c.Choose, "s1")[0].fields[0].choices] == list(
        range(1, 9)
    )
    table.do(c.Choose(seat="s1", position=5), table.by("s1"))
    assert table.game.forced == {"s2": 5}
    row = {row.id: row.text for zone in table.board().zones for row in zone.rows}
    assert row["forced-s2"] == "must play the card at place 5", "named at once, to all"
    offered = table.offered(c.Play, "s2")
    if hands == "full":
        assert [action.label for action in offered] == ["Ben plays the card at place 5"]
        table.do(c.Play(seat="s2", position=5), table.by("s2"))
        assert table.game.played[-1].card == Card(4)
        assert table.game.drawing == "s2", "its owner makes the choices of its ability"
    else:
        table.do(c.Play(seat="s2", card="4", faced="others"))
    assert table.game.forced == {}
    assert len(table.rulings("ZAZ-15")) == 2


@rule("ZAZ-15", "breach")
def test_a_puppet_plays_no_other_card_and_no_place_is_named_that_is_none() -> None:
    table = ZazTable(3, hands="full").dealt((6, 1, 2, 3, 4, 5, 7, 8)).do(c.Play(seat="s1", position=1))
    for command in (
        c.Choose(seat="s1", position=9),
        c.Choose(seat="s1", position=0),
        c.Choose(seat="s2", position=1),
    ):
        found = table.give(command)
        assert found is not None and found.rule == "ZAZ-15", command
    table.do(c.Choose(seat="s1", position=2))
    found = table.give(c.Play(seat="s2", position=3))
    assert found is not None and found.rule == "ZAZ-15"


# the 7, and what nobody is left for


@rule("ZAZ-16", "ok")
def test_a_seven_freezes_the_next_player_and_no_card_is_owed() -> None:
    table = ZazTable(3).begun().play("7")
    assert table.game.frozen == ("s2",)
    assert table.game.turn == "s3"
    table.play("8").do(c.Collect())
    assert [len(hand) for hand in table.game.hands.values()] == [7, 8, 7]
    assert table.game.frozen == ()


@rule("ZAZ-16", "breach")
def test_a_frozen_player_plays_no_card() -> None:
    table = ZazTable(3).begun().play("7")
    found = table.give(c.Play(seat="s2", card="8"), table.by("s2"))
    assert found is not None and found.rule == "ZAZ-16"
    assert not table.offered(c.Play, "s2")


@rule("ZAZ-18", "ok")
@pytest.mark.parametrize("card", ["6", "7"])
def test_a_six_or_seven_of_the_last_player_is_skipped_and_nothing_carries_over(card: str) -> None:
    table = ZazTable(2).begun().play("4", card)
    assert skipped(table) == (int(card), "ZAZ-18")
    asked = {answer.label: answer.text for answer in table.view("s2").answers}
    assert asked[f"Does the {card} act in the next round?"].startswith("No")
    table.do(c.Collect())
    assert (table.game.frozen, table.game.forced) == ((), {})


@rule("ZAZ-18", "ok")
def test_a_six_is_skipped_where_the_next_player_is_frozen() -> None:
    """Of three, one leads and the next, frozen by it, left; so the 6 comes last behind nobody else."""
    table = ZazTable(2).begun()
    game = msgspec.structs.replace(table.game, frozen=("s2",), done=("s2",))
    table.v.table.sitting = msgspec.structs.replace(table.v.sitting, game=game)
    table.play("6")
    assert skipped(table) == (6, "ZAZ-18")
    assert table.game.skip is not None and "is frozen" in table.game.skip.because


@rule("ZAZ-18", "breach")
def test_a_six_that_was_skipped_names_no_card() -> None:
    table = ZazTable(3).begun().play("4", "3", "6")
    found = table.give(c.Choose(seat="s3", position=1))
    assert found is not None and found.rule == "ZAZ-18"


@rule("ZAZ-19", "house")
def test_a_copied_six_or_seven_acts_on_the_player_after_the_copier() -> None:
    table = ZazTable(4).begun().play("6").do(c.Choose(seat="s1", position=1)).play("5")
    assert table.game.using is not None and table.game.using.is_copy
    table.do(c.Choose(seat="s2", position=4))
    assert table.game.forced == {"s3": 4}
    table = ZazTable(4).begun().play("7", "5")
    assert table.game.frozen == ("s2", "s4"), "s3 copied the 7"


@rule("ZAZ-19", "house")
@rule("ZAZ-14", "ok")
def test_a_six_that_could_act_on_nobody_is_not_copied() -> None:
    table = ZazTable(2).begun().play("6").do(c.Choose(seat="s1", position=1)).play("5")
    assert skipped(table) == (5, "ZAZ-14")
    assert table.game.skip is not None and "The ability of 6" in table.game.skip.because


# the 8


@rule("ZAZ-17", "ok")
def test_an_eight_gives_the_top_card_to_whom_its_player_says() -> None:
    table = ZazTable(3).begun().play("4", "3", "3").do(c.Collect()).play("8")
    assert {action.id for action in table.offered(c.Give, "s1")} == {"give-s2", "give-s3"}
    table.do(c.Give(seat="s1", to="s3"), table.by("s1"))
    assert table.pile("s3") == [3]
    assert table.pile("s1") == [4, 3]


@rule("ZAZ-17", "house")
def test_the_giver_chooses_the_card_where_the_house_says_so() -> None:
    table = ZazTable(3, moved_card="chosen").begun().play("4", "3", "3").do(c.Collect()).play("8")
    table.do(c.Give(seat="s1", to="s2", place=3))
    assert table.pile("s2") == [4]


@rule("ZAZ-17", "breach")
def test_nobody_keeps_the_card_that_is_to_be_given() -> None:
    table = ZazTable(3).begun().play("4", "3", "3").do(c.Collect()).play("8")
    for command in (
        c.Give(seat="s1", to="s1"),
        c.Give(seat="s1", to="s2", place=3),
        c.Give(seat="s2", to="s1"),
    ):
        found = table.give(command)
        assert found is not None and found.rule == "ZAZ-17", command


@rule("ZAZ-17", "ok")
def test_an_eight_is_skipped_without_a_score_pile() -> None:
    assert skipped(ZazTable(2).begun().play("8")) == (8, "ZAZ-17")
