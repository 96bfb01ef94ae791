"""No view, announcement, ruling or answer tells a card to eyes that may not see it; who may see it hears it.

Two tables are played by the same orders and differ only in cards that a viewer may not see: everything that goes out
to that viewer must be the same, byte for byte.
"""

from __future__ import annotations

import random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from zingazam_table import SENSOR, SET, ZazTable

from companion.core.command import Command
from companion.core.event import Entry
from companion.core.observation import CardLaid, CardSeen
from companion.core.seat import PUBLIC, REFEREE, Actor, Role, Viewer
from companion.core.show import show
from companion.core.view import Answer
from companion.games.zingazam import GAME
from companion.games.zingazam import commands as c
from companion.games.zingazam.model import Zingazam, dealing_to, facing
from firmware_bridge.translate import command as pad_command
from firmware_bridge.translate import outputs_for

rule = pytest.mark.rule
CATS = (1, 2, 3, 6, 7, 8)
PADS = {f"s{n}": (("box-7", n),) for n in range(1, 6)}


def hears(target: str, viewer: Viewer) -> bool:
    return target in ("all", viewer.role.value) or (viewer.role is Role.SEAT and target == viewer.seat)


class World:
    """One table with known hands, and every byte that went out to one viewer."""

    def __init__(self, players: int, seed: int, viewer: Viewer, visible: int) -> None:
        self.viewer, self.out = viewer, list[bytes]()
        self.table = ZazTable(players, seed=seed, hands="full", visible_at_start=visible)
        self.table.do(c.NameOldest(seat="s1")).do(c.Begin())

    @property
    def game(self) -> Zingazam:
        return self.table.game

    def order(self, command: Command, actor: Actor) -> None:
        """Order something; notes what the viewer is answered, hears, and sees then."""
        v = self.table.v
        order = v.order(command, actor)
        step = v.step(order)
        (answer,) = step.answers.values()
        is_mine = actor.role is self.viewer.role and actor.seat == self.viewer.seat
        if is_mine:
            self.out.append(msgspec.json.encode(answer))
        self.out += [v.codec.encode(cue) for cue in step.cues if hears(cue.target, self.viewer)]
        for cue in step.cues:  # whoever listens at the broker hears what pads are told, for whomever it is
            self.out += [
                msgspec.json.encode(pad_command(cue, output, "led", 0))
                for _, output in outputs_for(cue, PADS)
            ]
        self.out.append(v.codec.encode(show(GAME, v.sitting, self.viewer)))


Deals = dict[str, tuple[int, ...]]


def deals(players: int, chance: random.Random) -> Deals:
    return {f"s{n}": tuple(chance.sample(SET, 8)) for n in range(1, players + 1)}


def deal(world: World, hands: Deals) -> None:
    """The camera tells each card as the dealer shows it."""
    while (found := dealing_to(world.table.v.sitting)) is not None:
        seat, place = found
        world.order(c.Deal(seat=seat, number=hands[seat][place - 1]), SENSOR)


def script(world: World, salt: int, count: int) -> list[Command]:
    """Orders of players who follow the rules; positions in hands, never numbers."""
    found: list[Command] = []
    for step in range(count):
        command = GAME.policy(world.table.v.sitting, salt + step)
        if command is None or world.game.phase == "counted":
            break
        world.order(command, SENSOR if isinstance(command, c.TellCat) else Actor(Role.REFEREE))
        found.append(command)
    return found


def original_places(world: World, hands: Deals) -> dict[str, set[int]]:
    """Places at the deal of the cards that each seat still holds and that this viewer has not come to see."""
    is_seat = world.viewer.role is Role.SEAT
    return {
        seat: {hands[seat].index(h.number) for h in hand if not (h.is_cat or (is_seat and h.faces_owner))}
        for seat, hand in world.game.hands.items()
    }


def disguised(hands: Deals, places: dict[str, set[int]], whose: set[str], chance: random.Random) -> Deals:
    """Other cards on those places of these seats, and the same elsewhere."""
    made = dict(hands)
    for seat in whose:
        mine = sorted(places.get(seat, ()))
        mixed = chance.sample(mine, len(mine))
        hand = list(hands[seat])
        for here, there in zip(mine, mixed, strict=True):
            hand[here] = hands[seat][there]
        made[seat] = tuple(hand)
    return made


@rule("ZAZ-24", "ok")
@settings(max_examples=25, deadline=None)
@given(
    players=st.integers(2, 5), seed=st.integers(0, 10**6), visible=st.integers(0, 3), count=st.integers(0, 45),
    who=st.sampled_from(["s1", "s2", "public", "referee"]),
)  # fmt: skip
def test_nothing_that_goes_out_depends_on_a_card_its_viewer_may_not_see(
    players: int, seed: int, visible: int, count: int, who: str
) -> None:
    chance = random.Random(seed)
    viewer = {"public": PUBLIC, "referee": REFEREE}.get(who, Viewer(Role.SEAT, who))
    hands = deals(players, chance)
    one = World(players, seed, viewer, visible)
    deal(one, hands)
    commands = script(one, seed, count)
    if one.game.phase == "counted":
        hidden: dict[str, set[int]] = {}
    else:
        hidden = original_places(one, hands)
    whose = {who} if viewer.role is Role.SEAT else set(hands)
    other = World(players, seed, viewer, visible)
    deal(other, disguised(hands, hidden, whose & set(hidden), chance))
    told = {seat for seat, hand in one.game.hands.items() for held in hand if held.is_cat and seat != who}
    for command in commands:
        is_cat = isinstance(command, c.TellCat)
        if isinstance(command, c.TellCat) and command.seat in told and not _is_played(one, command.seat):
            other.order(c.TellCat(seat=command.seat, number=chance.choice(CATS)), SENSOR)
        else:
            other.order(command, SENSOR if is_cat else Actor(Role.REFEREE))
    assert other.out == one.out


def _is_played(world: World, seat: str) -> bool:
    """Whether this seat has played a cat, so that which it was is open."""
    return any(
        type(event).__name__ == "CardPlayed" and event.seat == seat and event.card.is_cat  # type: ignore[attr-defined]  # told by name
        for entry in world.table.v.table.entries
        for event in entry.events
    )


@rule("ZAZ-24", "ok")
def test_the_check_would_notice_a_card_that_may_be_seen() -> None:
    """The same comparison fails where the viewer may see: the others' outward cards, and a cat of one's own."""
    hands = {"s1": SET, "s2": SET}
    swapped = {"s1": SET, "s2": (2, 1, 3, 4, 5, 6, 7, 8)}
    outs = []
    for dealt in (hands, swapped):
        world = World(2, 3, Viewer(Role.SEAT, "s1"), 0)
        deal(world, dealt)
        outs.append(world.out)
    assert outs[0] != outs[1]


def answers(table: ZazTable, seat: str) -> dict[str, Answer]:
    return {answer.id: answer for answer in table.view(seat).answers}


@rule("ZAZ-24", "ok")
def test_a_seat_sees_and_hears_what_faces_it_and_the_others_outward_cards() -> None:
    table = ZazTable(2, hands="full", visible_at_start=1).dealt((8, 7, 6, 5, 4, 3, 2, 1), SET)
    (own,) = facing(table.game, "s1", "owner")
    (theirs,) = facing(table.game, "s2", "owner")
    mine = answers(table, "s1")["my_hand"].text
    assert f"{own}: {9 - own}, faces you" in mine
    assert mine.count("faces the others") == 7 and sum(char.isdigit() for char in mine) == 9
    seen = answers(table, "s1")["others"].text
    assert f"{theirs}: faces Ben" in seen
    assert all(f"{n}: {n}, faces the others" in seen for n in SET if n != theirs)
    marks = {zone.id: zone for zone in table.view("s1").zones}["seat-s2"].rows[0].marks
    assert [mark.text for mark in marks] == [f"{n} (a {n})" for n in SET if n != theirs]


@rule("ZAZ-24", "breach")
def test_boards_show_counts_and_facings_only_and_people_name_places() -> None:
    table = ZazTable(3, hands="full").dealt()
    for view in (table.board(), table.view()):
        rows = {row.id: row for zone in view.zones for row in zone.rows}
        (own,) = facing(table.game, "s1", "owner")
        assert rows["hand-s1"].text == f"8 cards: 1 facing Ann (place {own}), 7 facing the others"
        assert rows["hand-s1"].marks == ()
    offered = table.offered(c.Play)[0]
    assert [choice.label for choice in offered.fields[0].choices] == [str(n) for n in SET]
    found = table.give(c.Play(seat="s1", card="5"))
    assert found is not None and found.rule == "ZAZ-5", (
        "ZAZ-24: to name a card would tell whether it is there"
    )


@rule("ZAZ-24", "ok")
def test_what_a_seat_comes_to_see_is_said_to_it_alone() -> None:
    table = (
        ZazTable(2, hands="full", visible_at_start=0)
        .dealt((3, 4, 1, 2, 5, 6, 7, 8))
        .do(c.Play(seat="s1", position=1))
    )
    step = table.v.step(table.v.order(c.Turn(seat="s1", position=1)))
    said = {cue.target: cue.text for cue in step.cues}
    assert said["s1"] == "Your card at place 1 is a 4."
    assert "4" not in said["all"]


def entries_with(table: ZazTable, *kinds: type[Command]) -> list[Entry]:
    return [entry for entry in table.v.table.entries if isinstance(entry.command, kinds)]


@rule("ZAZ-24", "ok")
def test_the_journal_keeps_hidden_cards_to_itself_until_the_game_is_over() -> None:
    table = (
        ZazTable(2, hands="full", games=2)
        .dealt()
        .do(c.Play(seat="s1", position=4))
        .do(c.TellCat(seat="s1", number=6))
    )
    for entry in table.v.table.entries:
        hides = isinstance(entry.command, c.Deal | c.TellCat)
        assert GAME.is_secret(table.v.sitting, entry) == hides, entry.command
    assert len(entries_with(table, c.Deal, c.TellCat)) == 17
    salt = 0
    while table.game.phase != "counted":
        salt += 1
        table.do(GAME.policy(table.v.sitting, salt) or c.Collect())
    assert not any(GAME.is_secret(table.v.sitting, entry) for entry in table.v.table.entries)
    table.do(c.NextGame()).do(c.Begin()).do(c.Deal(seat="s1", number=2))
    assert [GAME.is_secret(table.v.sitting, entry) for entry in entries_with(table, c.Deal)] == [
        False
    ] * 16 + [True]


@rule("ZAZ-24", "ok")
@pytest.mark.parametrize("hands", ["played", "full"])
def test_no_picture_is_kept_while_a_card_is_shown_that_is_hidden(hands: str) -> None:
    table = ZazTable(2, hands=hands)
    is_full = hands == "full"

    def is_shown() -> bool:
        return GAME.is_private(table.v.sitting)

    table.begun()
    assert is_shown() == is_full
    if not is_full:
        return
    for seat in ("s1", "s2"):
        for number in SET:
            assert is_shown()
            table.do(c.Deal(seat=seat, number=number))
    assert not is_shown()
    table.do(c.Play(seat="s1", position=4))
    assert is_shown(), "the cat that was drawn is shown"
    table.do(c.TellCat(seat="s1", number=6))
    assert not is_shown()


@rule("ZAZ-24", "ok")
def test_a_dealt_card_that_is_not_read_is_shown_again_and_proposed_to_nobody() -> None:
    table = ZazTable(2, hands="full").begun()

    def shows(name: str | None, frame: int) -> None:
        quad = ((0.0, 0.0), (60.0, 0.0), (60.0, 90.0), (0.0, 90.0))
        card = CardSeen(name=name, confidence=0.5, quad_px=quad, reason=None if name else "margin")
        table.v.step(CardLaid(source="cam", seen_ns=0, uncertainty_ns=0, frame=frame, card=card))

    shows(None, 1)
    assert table.game.hands["s1"] == () and table.v.sitting.proposals == ()
    shows("cat-6", 2)
    assert table.game.hands["s1"] == (), "cats are not dealt"
    shows("red-5", 3)
    assert [held.number for held in table.game.hands["s1"]] == [5]
