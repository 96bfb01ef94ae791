"""Whole games of TAH WARS by policy: whether they end, under every house rule, with two to six players."""

from __future__ import annotations

from importlib.resources import files

import msgspec

from benchmarks.figures import Figure, say
from companion.core import event as e
from companion.core.command import Order
from companion.core.game import Moment, Sitting, decide, evolve, is_refused, open_sitting
from companion.core.seat import Actor, Role, seat_at
from companion.games.tahwars import GAME
from companion.games.tahwars.model import TahWars

ROUNDS = 200
NAME = "games by policy over within 200 rounds"
REFEREE = Actor(Role.REFEREE)


def house_rules() -> list[dict[str, str | int | bool]]:
    """The defaults, and each other value of each house rule."""
    found: list[dict[str, str | int | bool]] = [{}]
    for option, default in GAME.options.items():
        if isinstance(default, bool):
            found.append({option: not default})
        found += [{option: value} for value in GAME.choices.get(option, ()) if value != default]
    return found


def played(seed: int, players: int, rules: dict[str, str | int | bool]) -> tuple[bool, int]:
    """Whether a game by policy ends within ROUNDS rounds, and in which round it stood then."""
    data = (files("companion.games.tahwars") / "data" / GAME.data_file).read_text(encoding="utf-8")
    seats = tuple(seat_at(n, f"P{n}") for n in range(1, players + 1))
    opened = e.Opened(
        game=GAME.name, table="t", seats=seats, options={**GAME.options, **rules}, seed=seed, data=data
    )
    table: Sitting[TahWars] = open_sitting(GAME, opened)
    step = 0
    while not GAME.is_over(table) and table.game.part <= ROUNDS:
        step += 1
        command = GAME.policy(table, step)
        if command is None:
            return False, table.game.part
        facts = decide(GAME, table, Order(command=command, actor=REFEREE, at_ns=step, key=str(step)))
        if is_refused(facts):
            return False, table.game.part
        for fact in facts:
            table = evolve(GAME, table, fact, Moment(entry=step, at_ns=step))
        table = msgspec.structs.replace(table, rulings=())
    return GAME.is_over(table), table.game.part


def figures(games: int) -> list[Figure]:
    """The share of `games` seeds that end; players and house rules take turns."""
    rules, ended, rounds = house_rules(), 0, []
    for seed in range(games):
        is_over, part = played(seed, 2 + seed % 5, rules[seed // 5 % len(rules)])
        ended += is_over
        rounds.append(part)
        if (seed + 1) % 100 == 0:
            say(f"{seed + 1} of {games} games")
    if not games:
        return [Figure(NAME, None, "%", ">=", 99, why="no game was played")]
    rounds.sort()
    why = f"{games - ended} stopped; {rounds[len(rounds) // 2]} rounds in the median, {rounds[-1]} at most"
    return [Figure(NAME, 100 * ended / games, "%", ">=", 99, games, is_rate=True, why=why)]
