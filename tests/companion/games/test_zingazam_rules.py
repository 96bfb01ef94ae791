"""Zing-a-Zam by its rules: set-up, turns, the end of a round and of a game, ties, several games."""

from __future__ import annotations

import pytest
from virtual import data_of
from zingazam_table import SENSOR, ZazTable

from companion.core import command as k
from companion.core.ruling import Ruling
from companion.core.seat import Actor, Role
from companion.games.zingazam import GAME
from companion.games.zingazam import commands as c
from companion.games.zingazam.deck import Card, check, read
from companion.games.zingazam.model import best_piles, facing, lots, tie_break

rule = pytest.mark.rule


def because(found: Ruling | None) -> str:
    """The rule of a refusal, with a colon; fails when there was none."""
    assert found is not None
    return found.rule


# set-up


@rule("ZAZ-1", "ok")
def test_each_has_a_set_of_eight_and_there_are_twelve_cats() -> None:
    table = ZazTable(5).begun()
    assert [len(hand) for hand in table.game.hands.values()] == [8] * 5
    assert table.game.cats_left == 12
    cards = read(data_of(GAME)).cards(is_few=False)
    assert cards.cats == {"1": 2, "2": 2, "3": 2, "6": 2, "7": 2, "8": 2}


@rule("ZAZ-1", "breach")
def test_no_card_is_played_that_is_in_no_set_or_twice() -> None:
    table = ZazTable(2).begun()
    for card in ("9", "0", "", "cat-4", "cat-5", "🂡"):
        assert because(table.give(c.Play(seat="s1", card=card))) == "ZAZ-1", card
    table.round("4", "8")
    assert because(table.give(c.Play(seat="s2", card="8"))) == "ZAZ-1"
    assert "4 or 5" not in check(data_of(GAME))
    for wrong in ("4 = 1", "5 = 2", "9 = 1", "8 = -1", "8 = 99"):
        assert check(data_of(GAME).split("[cats]")[0] + f"[cats]\n{wrong}\n"), wrong


@rule("ZAZ-2", "ok")
@pytest.mark.parametrize("visible", [0, 1, 3, 8])
@pytest.mark.parametrize("hands", ["played", "full"])
def test_so_many_cards_face_their_owner_as_the_house_says(hands: str, visible: int) -> None:
    table = ZazTable(3, hands=hands, visible_at_start=visible)
    table = table.dealt() if hands == "full" else table.begun()
    assert [len(facing(table.game, seat, "owner")) for seat in table.game.hands] == [visible] * 3
    if hands == "full":
        assert all(
            lots(table.v.sitting, seat) == facing(table.game, seat, "owner") for seat in table.game.hands
        )


@rule("ZAZ-2", "ok")
def test_which_card_faces_its_owner_is_drawn_by_lot() -> None:
    drawn = {lots(ZazTable(2, seed=seed).v.sitting, seat) for seed in range(40) for seat in ("s1", "s2")}
    assert drawn == {(place,) for place in range(1, 9)}


@rule("ZAZ-2", "breach")
@rule("ZAZ-1", "breach")
def test_a_hand_that_is_no_set_is_dealt_again_and_cards_come_in_the_order_named() -> None:
    table = ZazTable(2, hands="full").begun()
    assert because(table.give(c.Deal(seat="s2", number=3))) == "ZAZ-2"
    assert because(table.give(c.Deal(seat="s1", number=9))) == "ZAZ-1"
    assert because(table.give(c.DealAgain(seat="s1"))) == "ZAZ-2"
    for number in (1, 2, 3, 4, 5, 6, 7, 7):
        table.do(c.Deal(seat="s1", number=number))
    assert table.last_ruling().rule == "ZAZ-1" and table.last_ruling().verdict.value == "breach"
    assert table.game.hands["s1"] == ()
    table.do(c.Deal(seat="s1", number=3)).do(c.DealAgain(seat="s1"))
    assert table.game.hands["s1"] == ()


FEW = """
[few]
players = [2, 3]
numbers = [1, 2, 5, 8]
visible_at_start = 2
text = "Play it twice."
[few.cats]
1 = 1
"""


@rule("ZAZ-3", "ok")
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_the_set_up_is_the_same_for_all_numbers_of_players(players: int) -> None:
    table = ZazTable(players).begun()
    assert {len(hand) for hand in table.game.hands.values()} == {8}
    assert table.game.turn == "s1"


@rule("ZAZ-3", "ok")
def test_an_owner_fills_in_the_variant_for_few_players() -> None:
    table = ZazTable(2, data=data_of(GAME) + FEW, variant=True).begun()
    assert [len(hand) for hand in table.game.hands.values()] == [4, 4]
    assert table.game.cats_left == 1
    assert len(facing(table.game, "s1", "owner")) == 2
    assert "Play it twice." in table.view("s2").notices
    assert because(table.give(c.Play(seat="s1", card="4"))) == "ZAZ-1"


@rule("ZAZ-3", "breach")
def test_the_variant_is_refused_where_nobody_filled_it_in_or_too_many_play() -> None:
    table = ZazTable(2, variant=True).do(c.NameOldest(seat="s1"))
    found = table.give(c.Begin())
    assert found is not None and found.rule == "ZAZ-3"
    assert not table.offered(c.Begin)
    table = ZazTable(4, data=data_of(GAME) + FEW, variant=True).do(c.NameOldest(seat="s1"))
    found = table.give(c.Begin())
    assert found is not None and found.rule == "ZAZ-3"


# turns


@rule("ZAZ-4", "ok")
def test_the_oldest_leads_then_the_winner_and_play_goes_clockwise() -> None:
    table = ZazTable(3).begun(oldest="s2")
    assert table.game.turn == "s2"
    table.play("3")
    assert table.game.turn == "s3"
    table.play("5")
    assert table.game.turn == "s1"
    table.play("4")
    table.do(c.Collect())
    assert (table.game.leader, table.game.turn) == ("s3", "s3")


@rule("ZAZ-4", "breach")
def test_nobody_begins_without_the_oldest_or_plays_out_of_turn() -> None:
    table = ZazTable(3)
    found = table.give(c.Begin())
    assert found is not None and found.rule == "ZAZ-4"
    table.do(c.NameOldest(seat="s3"), table.by("s3"))
    found = table.give(c.NameOldest(seat="s3"))
    assert found is not None and found.rule == "ZAZ-4"
    table.do(c.Begin())
    found = table.give(c.Play(seat="s1", card="5"), table.by("s1"))
    assert found is not None and found.rule == "ZAZ-4"
    assert "Cem" in found.because


@rule("ZAZ-5", "ok")
@pytest.mark.parametrize("faced", ["owner", "others"])
def test_a_card_is_played_whether_it_faces_its_owner_or_the_others(faced: str) -> None:
    table = ZazTable(2).begun().do(c.Play(seat="s1", card="8", faced=faced))
    left = (len(facing(table.game, "s1", "owner")), len(facing(table.game, "s1", "others")))
    assert left == ((0, 7) if faced == "owner" else (1, 6))


@rule("ZAZ-5", "ok")
def test_whom_it_faced_is_asked_only_where_it_may_have_been_both() -> None:
    table = ZazTable(2).begun().do(c.Play(seat="s1", card="8"))
    assert table.game.facing_of == "s1"
    assert [action.label for action in table.offered(c.TellFacing, "s1")] == [
        "Ann's card faced the others", "Ann's card faced its owner",
    ]  # fmt: skip
    assert not table.offered(c.TellFacing, "s2")
    assert because(table.give(c.Play(seat="s2", card="7"))) == "ZAZ-6"
    table.do(c.TellFacing(seat="s1", faced="owner"), table.by("s1")).play("7").do(c.Collect())
    table.do(c.Play(seat="s1", card="4"))
    assert table.game.facing_of == "", "only outward ones were left"


@rule("ZAZ-5", "breach")
def test_a_turn_is_one_card_of_the_own_hand() -> None:
    table = ZazTable(3).begun().play("5")
    for command in (
        c.Play(seat="s1", card="6"),
        c.TellFacing(seat="s1", faced="owner"),
        c.Play(seat="s2", card="8", faced="up"),
    ):
        found = table.give(command)
        assert found is not None and found.rule == "ZAZ-5", command
    full = ZazTable(2, hands="full").dealt()
    for command in (c.Play(seat="s1", position=9), c.Play(seat="s1"), c.Play(seat="s1", card="5")):
        found = full.give(command)
        assert found is not None and found.rule == "ZAZ-5", command
    assert because(full.give(c.Play(seat="s1", card="cat-6"), SENSOR)) == "ZAZ-5"


@rule("ZAZ-6", "ok")
def test_an_ability_is_used_before_the_next_turn_and_skipped_where_it_cannot_be() -> None:
    table = ZazTable(3).begun().play("8")
    assert table.game.skip is not None and table.game.skip.ability == 8
    assert [card.number for card in table.game.played] == [8], "the card stays in play"
    table.play("1")
    assert "A 1 is judged at the end of the round." in [r.because for r in table.rulings("ZAZ-6")]
    assert table.game.turn == "s3"


@rule("ZAZ-6", "breach")
def test_nobody_plays_before_an_ability_is_used() -> None:
    table = ZazTable(3).begun().play("6")
    assert table.game.using is not None
    for seat in ("s1", "s2", "s3"):
        found = table.give(c.Play(seat=seat, card="5"))
        assert found is not None and found.rule == "ZAZ-6"


@rule("ZAZ-7", "ok")
def test_the_round_ends_when_each_has_played_or_is_frozen() -> None:
    table = ZazTable(3).begun().play("4")
    assert table.game.phase == "play"
    table.play("7")
    assert (table.game.phase, table.game.frozen) == ("taking", ("s3",))


@rule("ZAZ-7", "breach")
def test_no_card_is_played_when_the_round_is_over_and_none_taken_before() -> None:
    table = ZazTable(2).begun().play("4")
    found = table.give(c.Collect())
    assert found is not None and found.rule == "ZAZ-7"
    table.play("2")
    for seat in ("s1", "s2"):
        found = table.give(c.Play(seat=seat, card="5"))
        assert found is not None and found.rule == "ZAZ-7"


# who wins a round


@rule("ZAZ-8", "ok")
def test_the_highest_takes_all_cards_the_last_on_top() -> None:
    table = ZazTable(3).begun().play("4", "7")
    assert table.game.phase == "taking"
    table.do(c.Collect(), table.by("s2"))
    assert table.pile("s2") == [4, 7]
    table.do(c.StackPile(order=((2,), (1,))))
    assert table.pile("s2") == [7, 4]
    assert table.game.last is not None and [card.number for card in table.game.last.cards] == [7, 4]


@rule("ZAZ-8", "breach")
def test_only_the_winner_takes_and_the_order_names_each_card_once() -> None:
    table = ZazTable(2).begun().play("4", "3")
    found = table.give(c.Collect(), table.by("s2"))
    assert found is not None and found.rule == "ZAZ-8"
    table.do(c.Collect())
    for order in (((1,),), ((1,), (1,)), ((1, 2, 3),), ()):
        found = table.give(c.StackPile(order=order))
        assert found is not None and found.rule == "ZAZ-8", order
    table.do(c.StackPile(order=((1, 2),))).play("5")
    found = table.give(c.StackPile(order=((2,), (1,))))
    assert found is not None and found.rule == "ZAZ-8"


@rule("ZAZ-9", "ok")
def test_of_equal_highest_the_one_played_last_wins() -> None:
    table = ZazTable(3).begun().play("4", "2", "4").do(c.Collect())
    assert table.game.leader == "s3"
    assert len(table.rulings("ZAZ-9")) == 1


@rule("ZAZ-9", "breach")
def test_the_first_of_equals_does_not_take_the_cards() -> None:
    table = ZazTable(3).begun().play("4", "2", "4")
    found = table.give(c.Collect(), table.by("s1"))
    assert found is not None and found.rule == "ZAZ-9"


@rule("ZAZ-10", "ok")
@pytest.mark.parametrize(
    ("cards", "winner"),
    [
        (("8", "1", "4"), "s2"), (("1", "8", "4"), "s1"), (("1", "8", "1"), "s3"), (("8", "1", "8"), "s2"),
        (("1", "4", "3"), "s2"), (("1", "3", "1"), "s2"), (("1", "1", "1"), "s3"),
    ],
)  # fmt: skip
def test_a_one_beats_an_eight_in_whichever_order(cards: tuple[str, ...], winner: str) -> None:
    table = ZazTable(3).begun().play(*cards).do(c.Collect())
    assert table.game.leader == winner
    assert bool(table.rulings("ZAZ-10")) == ("8" in cards)


@rule("ZAZ-10", "breach")
def test_an_eight_does_not_take_the_cards_while_a_one_is_in_play() -> None:
    table = ZazTable(2).begun().play("1", "8")
    found = table.give(c.Collect(), table.by("s2"))
    assert found is not None and found.rule == "ZAZ-10"
    assert "a 1 wins" in found.because


@rule("ZAZ-20", "ok")
@pytest.mark.parametrize(
    ("cards", "winner"),
    [
        (("cat-8", "1", "8"), "s2"),
        (("cat-1", "8", "6"), "s1"),
        (("3", "cat-3", "2"), "s2"),
        (("cat-8", "4", "4"), "s1"),
    ],
)
def test_cats_count_as_their_number_in_ties_and_against_an_eight(cards: tuple[str, ...], winner: str) -> None:
    table = ZazTable(3).begun().cats("s1", "s2")
    for card in cards:
        table.play(card)
    while table.game.phase == "play":
        table.play("2")
    assert table.rulings("ZAZ-20")
    table.do(c.Collect())
    assert table.game.leader == winner


@rule("ZAZ-20", "breach")
def test_a_cat_one_is_a_one_and_not_copied() -> None:
    table = ZazTable(4).begun().cats("s1").play("cat-1", "4", "3", "5")
    assert table.game.using is not None
    found = table.give(c.Copy(seat="s4", number=1))
    assert found is not None and found.rule == "ZAZ-20"


# the end


def played_out(table: ZazTable, games: int = 1) -> ZazTable:
    """The game goes on by chance to its end."""
    salt = 0
    while not (table.game.phase == "counted" and table.game.game >= games):
        salt += 1
        command = GAME.policy(table.v.sitting, salt)
        assert command is not None
        table.do(command)
    return table


@rule("ZAZ-21", "ok")
def test_the_game_ends_after_the_round_in_which_a_hand_is_empty() -> None:
    table = ZazTable(3).begun().left("8", seat="s1").play("8")
    assert table.game.hands["s1"] == () and table.game.phase == "play", "the round is played to its end"
    table.play("4", "3").do(c.Collect())
    assert table.game.phase == "counted"
    assert set(table.game.hands.values()) == {()}, "what is left is discarded"
    assert table.game.winners == ("s1",)
    assert [found.because for found in table.rulings("ZAZ-21")] == [
        "The game ends: a player has no card left. Cards left in hands are discarded."
    ]


@rule("ZAZ-21", "ok")
@rule("ZAZ-13", "ok")
def test_a_four_as_last_card_refills_the_hand_first() -> None:
    table = ZazTable(2, data=data_of(GAME).replace("[1, 2, 3, 4, 5, 6, 7, 8]", "[3, 4]")).begun()
    table.round("3", "3")
    table.play("4", "4")
    assert [len(hand) for hand in table.game.hands.values()] == [1, 1]
    table.do(c.Collect())
    assert table.game.phase == "play", "both drew a cat"
    table.round("cat-2", "cat-3")
    assert table.game.phase == "counted"


@rule("ZAZ-21", "breach")
def test_nothing_is_played_when_the_game_is_over() -> None:
    table = played_out(ZazTable(3).begun())
    for command in (c.Play(seat="s1", card="5"), c.Collect(), c.Begin(), c.NameOldest(seat="s2")):
        found = table.give(command)
        assert found is not None and found.rule == "ZAZ-21"


def pile(*numbers: int) -> tuple[Card, ...]:
    return tuple(Card(number) for number in numbers)


@rule("ZAZ-22", "ok")
@pytest.mark.parametrize("number", range(8, 0, -1))
def test_ties_are_broken_down_the_numbers(number: int) -> None:
    """Equal down to `number`, of which the second has one more; s3 has as many cards and more 7s than 8s."""
    above = [1, 1, 1, 1, *range(8, number, -1)]
    low, high = [*above, number - 1, number - 1], [*above, number, number - 1]
    if number == 1:
        low = high = [*above, 1, 1]
    piles = {"s1": low, "s2": high, "s3": [7] * len(low), "s4": []}
    table = ZazTable(4).begun().left("3", seat="s1").piles(**piles).play("3", "4", "3", "8").do(c.Collect())
    assert table.game.phase == "counted" and table.pile("s4") == [3, 4, 3, 8]
    assert table.game.winners == (("s1", "s2") if number == 1 else ("s2",))
    steps = tie_break(table.game.piles)
    assert [step[0] for step in steps] == list(range(8, number - 1, -1))
    assert all("s3" not in counts for _, counts in steps[1:]), "each step is among those still tied"
    said = table.rulings("ZAZ-22")[-1].because
    assert (f"most {number}s in the score pile" in said) if number > 1 else ("share the win" in said)


@rule("ZAZ-22", "ok")
def test_each_step_is_only_among_those_still_tied() -> None:
    piles = {"a": pile(8, 3, 3), "b": pile(8, 7, 1), "c": pile(7, 7, 7), "d": pile(8, 7, 2)}
    assert best_piles(piles) == ("d",)
    assert tie_break(piles)[1] == (7, {"a": 0, "b": 1, "d": 1}), "c has most 7s and no 8"
    assert tie_break({"a": pile(8), "b": pile(1, 1)}) == (), "most cards decide first"


@rule("ZAZ-22", "ok")
def test_equal_throughout_is_shared() -> None:
    table = ZazTable(
        2, data=data_of(GAME).replace("[1, 2, 3, 4, 5, 6, 7, 8]", "[2, 3]"), moved_card="chosen"
    ).begun()
    table.play("3", "2").do(c.Collect())
    assert table.pile("s1") == [3, 2]
    table.play("2", "3").do(c.Collect())
    assert table.game.phase == "counted"
    assert table.pile("s2") == [2, 3]
    assert table.game.winners == ("s1", "s2")
    assert all(standing.shared and standing.place == 1 for standing in GAME.standings(table.v.sitting))
    assert "share the win" in table.view().headline


@rule("ZAZ-22", "breach")
def test_counted_piles_are_not_stacked_anew() -> None:
    table = played_out(ZazTable(2).begun())
    found = table.give(c.StackPile(order=((1,),)))
    assert found is not None and found.rule == "ZAZ-22"


@rule("ZAZ-23", "house")
@pytest.mark.parametrize("series", ["points", "games_won"])
def test_several_games_add_up_and_the_oldest_leads_each(series: str) -> None:
    table = played_out(ZazTable(3, games=2, series=series).begun(oldest="s2"))
    first, won = dict(table.game.totals), dict(table.game.games_won)
    assert not GAME.is_over(table.v.sitting)
    table.do(c.NextGame())
    assert table.game.phase == "setup" and table.game.oldest == "s2"
    table.do(c.Begin())
    assert table.game.turn == "s2"
    played_out(table, games=2)
    assert GAME.is_over(table.v.sitting)
    piles = {seat: len(cards) for seat, cards in table.game.piles.items()}
    scores = {standing.seat: standing.score for standing in GAME.standings(table.v.sitting)}
    if series == "points":
        assert scores == {seat: first[seat] + piles[seat] for seat in piles}
    else:
        assert scores == {seat: won[seat] + (seat in table.game.winners) for seat in piles}
    found = table.give(c.NextGame())
    assert found is not None and found.rule == "ZAZ-23"
    table.do(k.ChangeOption(option="games", value=3)).do(c.NextGame())


@rule("ZAZ-23", "house")
def test_other_house_rules_are_fixed_while_a_game_runs() -> None:
    table = ZazTable(2).begun()
    found = table.give(k.ChangeOption(option="moved_card", value="random"))
    assert found is not None and found.rule == "TABLE-8"
    table.do(k.ChangeOption(option="games", value=4))


def test_who_leaves_holds_up_nobody() -> None:
    table = ZazTable(3).begun().play("6")
    table.do(k.Leave(seat="s1"))
    assert table.game.turn == "s2" and table.game.using is None
    table.play("8", "3")
    assert table.game.phase == "taking"
    table.do(c.Collect()).do(k.Leave(seat="s3"))
    assert table.game.phase == "counted"
    assert table.game.winners == ("s2",)


@rule("ZAZ-6", "ok")
def test_what_leaves_nothing_to_choose_any_more_is_settled_by_the_referee() -> None:
    table = ZazTable(2).begun().play("6")
    found = table.give(c.Settle())
    assert found is not None and found.rule == "ZAZ-6", "Ann has a choice to make"
    assert not table.offered(c.Settle)
    table.do(k.Leave(seat="s2"))
    assert table.view().primary is not None and isinstance(table.view().primary.command, c.Settle)
    table.do(c.Settle())
    assert table.game.skip is not None and table.game.phase == "taking"
    table.do(c.Collect())
    assert table.game.winners == ("s1",)


def test_who_joins_plays_from_the_next_game_on() -> None:
    table = ZazTable(2, games=2).begun().do(k.Join(name="Cem"))
    assert table.game.hands.keys() == {"s1", "s2"}
    assert because(table.give(c.Play(seat="s3", card="8"))) == "ZAZ-4"
    played_out(table)
    table.do(c.NextGame()).do(c.Begin())
    assert list(table.game.hands) == ["s1", "s2", "s3"]


def test_a_seat_acts_for_itself_alone() -> None:
    table = ZazTable(2).begun()
    assert because(table.give(c.Play(seat="s1", card="8"), Actor(Role.SEAT, "s2"))) == "TABLE-1"
    assert because(table.give(c.Deal(seat="s1", number=8), Actor(Role.SEAT, "s1"))) == "TABLE-1"
