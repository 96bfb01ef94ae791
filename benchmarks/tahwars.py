"""How well a board of TAH WARS is read: `python -m benchmarks.tahwars [--json] [-n 200] [--part towers|dice|all]
[--enrolled] [--wide PX] [--pictures 5]`.

Rendered tables whose towers are up to 3 mm higher or lower than the reader is told, and whose lens bends and magnifies
as nobody told it. Peer: the board's own homography, towers shifted back by their height as if the camera hung over the
board's middle at a distance that was measured with a tape.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field, replace

import cv2
import numpy as np

from benchmarks import tahwars_games
from benchmarks.figures import Figure, Peer, percentile, report, say
from benchmarks.tahwars_scenes import STICK_MM, Action, Table, Throw
from benchmarks.tahwars_sets import enrolled, owned
from companion.core.observation import BoardDie
from companion.core.ruling import Verdict
from companion.games.tahwars.ground import Measured, judge, likeliest_kind
from companion.games.tahwars.interpret import SURE, TOUCH_MM
from vision.render.boards import DICE
from vision.surface import NoSurfaceError
from vision.towers.board import BoardReader, BoardSeen
from vision.towers.colours import tower_colours
from vision.towers.dice import BoardDiceReader
from vision.towers.poses import Shift
from vision.towers.rolling import RollWatch
from vision.towers.stills import PICTURES

_OFF_BORDER_MM = 5.0
_SAME_DIE_MM = 12.0
_FELT, _FELT_FALSELY = 0.97, 0.005
"""How often a tower's sensor feels a hit, and another's shaking."""
_TAPE_MM = 1170.0


@dataclass
class _Towers:
    places: list[float] = field(default_factory=list)
    headings: list[float] = field(default_factory=list)
    peer: list[float] = field(default_factory=list)
    missed: int = 0
    fair: list[bool] = field(
        default_factory=list
    )  # of each fair one beyond doubt, whether it was called a breach
    unfair: list[bool] = field(default_factory=list)  # of each breach beyond doubt, whether it was called ok
    close: int = 0
    inside_u: list[bool] = field(default_factory=list)


@dataclass
class _Dice:
    lying: int = 0
    found: int = 0
    kinds: int = 0
    owners: int = 0
    told: int = 0
    right: int = 0
    terrains: list[bool] = field(default_factory=list)
    attacks: list[str] = field(default_factory=list)
    questions: list[int | None] = field(default_factory=list)
    """Of each attack, how many questions were answered by yes; None where a number or hit was to be put right."""
    proposed: list[tuple[str, bool]] = field(default_factory=list)
    """Of each found die its kind, and whether what is told or proposed is right."""
    extra: int = 0


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("-n", type=int, default=200, help="tables")
    parser.add_argument("--games", type=int, default=600, help="whole games by policy")
    parser.add_argument("--part", choices=("towers", "dice", "games", "all"), default="all")
    parser.add_argument("--enrolled", action="store_true", help="owners enrolled their dice before")
    parser.add_argument("--wide", type=int, default=2304, help="the camera's width in px")
    parser.add_argument("--pictures", type=int, default=PICTURES, help="of each rest that dice are read from")
    parser.add_argument("--first", type=int, default=0, help="number of the first table")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    towers, dice = _Towers(), _Dice()
    begun = time.monotonic()
    sets = owned() if args.enrolled else None
    reader = None
    if args.part in ("dice", "all"):
        reader = BoardDiceReader(sets=enrolled(sets) if sets else None)
    games = tahwars_games.figures(args.games if args.part in ("games", "all") else 0)
    for n in range(args.n if args.part != "games" else 0):
        table = Table(args.first + n, sets, (args.wide, args.wide * 9 // 16))
        seen = _read_towers(table, towers)
        if reader is not None and seen is not None:
            _read_dice(table, reader, dice, args.pictures)
        if (n + 1) % 5 == 0:
            say(f"{n + 1} of {args.n} tables, {time.monotonic() - begun:.0f} s")
    report(
        [
            *_tower_figures(towers),
            *_dice_figures(dice, "" if reader else "--part towers leaves dice out"),
            *games,
        ],
        args.json,
    )


def _read_towers(table: Table, found: _Towers) -> BoardSeen | None:
    reader = BoardReader(table.marks)
    scenes = (table.before, *(scene for _, scene in table.acted))
    try:
        seen = [reader.read(table.picture(scene, k)) for k, scene in enumerate(scenes)]
        shifts = [{s.tag: s for s in reader.shifts(seen[0], after)} for after in seen[1:]]
    except NoSurfaceError:
        found.missed += len(table.before.towers)
        return None
    for one, scene in zip(seen, scenes, strict=True):
        places = {tower.tag: tower for tower in one.towers}
        for block in scene.towers:
            tower = places.get(block.tag)
            if tower is None:
                found.missed += 1
                continue
            off = float(np.hypot(*np.subtract(tower.xy_mm, block.xy_mm)))
            found.places.append(off)
            found.inside_u.append(off <= tower.u_mm)
            found.headings.append(abs((tower.heading_deg - block.heading_deg + 180) % 360 - 180))
            found.peer.append(float(np.hypot(*np.subtract(_by_tape(table, one, block.tag), block.xy_mm))))
    for (action, _), of_tag in zip(table.acted, shifts, strict=True):
        if action.tag in of_tag:
            _judge(action, of_tag[action.tag], found)
    return seen[1]


def _judge(action: Action, shift: Shift, found: _Towers) -> None:
    move, turn = Measured(shift.moved_mm, shift.u_mm), Measured(shift.turned_deg, shift.u_deg)
    kind = likeliest_kind(move, turn)
    verdict = judge(kind, move, turn, STICK_MM).verdict if kind else Verdict.OK
    if action.margin(shift.u_mm, shift.u_deg) < 1.0:
        found.close += 1
    elif action.is_fair:
        found.fair.append(verdict is Verdict.BREACH)
    else:
        found.unfair.append(verdict is Verdict.OK)


def _by_tape(table: Table, seen: BoardSeen, tag: int) -> tuple[float, float]:
    """Where a tower stands by the peer's way."""
    corners = table.marks.corner_tags
    known = [i for i in corners.ids if i in seen.tags]
    world = np.array([corners.centres_mm[corners.ids.index(i)] for i in known], np.float32)
    px = np.array([seen.tags[i].mean(0) for i in known], np.float32)
    if len(known) < 4:
        return (float("nan"), float("nan"))
    plane, _ = cv2.findHomography(px, world)
    top = cv2.perspectiveTransform(np.array([[seen.tags[tag].mean(0)]], np.float32), plane)[0, 0]
    middle = np.array(table.marks.board_mm) / 2
    back = middle + (top - middle) * (1 - table.marks.tower.height_mm / _TAPE_MM)
    return (float(back[0]), float(back[1]))


def _read_dice(table: Table, reader: BoardDiceReader, found: _Dice, pictures: int) -> None:
    board = BoardReader(table.marks, None, reader)
    still = table.still(table.after, 1, pictures)
    try:
        before = BoardReader(table.marks).read(still)
        colours = {before.owners[t]: c for t, c in tower_colours(still, before.pose, table.marks).items()}
        throws = table.throws()
        scene, nears = table.after, []
        for throw in throws:
            nears.append(_rolled(table, throw, (still, before, colours)))
        scene = replace(scene, dice=tuple(table.lying.values()))
        after = board.read(table.still(scene, 2, pictures))
    except NoSurfaceError:
        return
    ground, used = table.ground(), set()
    seen_of: dict[tuple[str, str], BoardDie] = {}
    for (owner, kind), die in table.lying.items():
        found.lying += 1
        k = min(
            range(len(after.dice)),
            key=lambda k: float(np.hypot(*np.subtract(after.dice[k].xy_mm, die.xy_mm))),
            default=None,
        )
        if k is None or np.hypot(*np.subtract(after.dice[k].xy_mm, die.xy_mm)) > _SAME_DIE_MM:
            continue
        read = after.dice[k]
        used.add(k)
        seen_of[owner, kind] = read
        value = 10 if (kind, die.shown) == ("d10", 0) else die.shown
        found.found += 1
        found.kinds += read.kind == kind
        found.owners += read.owner == owner
        is_right = read.kind == kind and read.value == value
        if _is_told(read):
            found.told += 1
            found.right += is_right
        found.proposed.append((kind, is_right))
        if ground.border_mm(die.xy_mm) > _OFF_BORDER_MM:
            found.terrains.append(ground.terrain_at(read.xy_mm) == ground.terrain_at(die.xy_mm))
    found.extra += len(after.dice) - len(used)
    if throws:
        result, questions = _attack(table, throws, nears, seen_of)
        found.attacks.append(result)
        found.questions.append(questions)


def _is_told(read: BoardDie) -> bool:
    return read.value is not None and read.reason is None and read.confidence >= SURE


def _rolled(
    table: Table, throw: Throw, rest: tuple[np.ndarray, BoardSeen, dict[str, np.ndarray]]
) -> set[int]:
    """Tags of the towers that the camera saw this die come to."""
    still, before, colours = rest
    watch = RollWatch(still, before.pose, table.marks, colours)
    for k, place in enumerate(throw.way_mm):
        rolling = replace(throw.die, xy_mm=place, angle_deg=throw.die.angle_deg + 40 * k)
        frame = table.picture(replace(table.after, dice=(*table.after.dice, rolling)), 10 + k)
        watch.step(frame, k * 33_000_000, k)
    return {
        near.tag
        for near in watch.near(TOUCH_MM)
        if near.owner == throw.owner and before.owners.get(near.tag) != throw.owner
    }


def _attack(
    table: Table, throws: tuple[Throw, ...], nears: list[set[int]], seen: dict[tuple[str, str], BoardDie]
) -> tuple[str, int | None]:
    """``right``, ``asked`` or ``wrong``: numbers and hits of all declared dice as taken without a question; and how
    many questions make it right that need no more than a yes, None where something is to be put right."""
    result, questions, is_sound = "right", 0, True
    for throw, near in zip(throws, nears, strict=True):
        kind = throw.die.look.kind
        read = seen.get((throw.owner, kind))
        value = 10 if (kind, throw.die.shown) == ("d10", 0) else throw.die.shown
        is_so = read is not None and read.kind == kind and read.value == value
        is_sound &= is_so
        if read is None or not _is_told(read) or read.kind != kind:
            result, questions = "asked" if result == "right" else result, questions + 1
        elif not is_so:
            result = "wrong"
        for block in table.after.towers[1:]:
            is_hit = block.tag in throw.hits
            chance = _FELT if is_hit else _FELT_FALSELY
            is_felt, is_near = bool(table.rng.random() < chance), block.tag in near
            if is_felt != is_near:
                # What only one of the two noticed is proposed as a hit.
                result, questions = "asked" if result == "right" else result, questions + 1
                is_sound &= is_hit
            elif is_felt != is_hit:
                result, is_sound = "wrong", False
    return result, questions if is_sound else None


def _share(rows: list[bool]) -> float | None:
    return 100.0 * sum(rows) / len(rows) if rows else None


def _tower_figures(t: _Towers) -> list[Figure]:
    none = "no tower was seen" if not t.places else ""
    peer = [value for value in t.peer if np.isfinite(value)]
    by_tape = Peer("homography and tape measure", round(percentile(peer, 0.95), 2)) if peer else None
    count = len(t.places)
    return [
        Figure("tower place p95", percentile(t.places, 0.95) if count else None, "mm", "<=", 3, count, peer=by_tape,
               why=none or f"{t.missed} towers not seen; {_share(t.inside_u):.0f} % within the stated u_mm"),
        Figure("tower heading p95", percentile(t.headings, 0.95) if count else None, "degrees", "<=", 1, count,
               why=none),
        Figure("breaches called ok", _share(t.unfair), "%", "<=", 0.5, len(t.unfair), is_rate=True,
               why=f"{t.close} of all within 1 mm or degree of the limit are left out"),
        Figure("fair actions called a breach", _share(t.fair), "%", "<=", 0.5, len(t.fair), is_rate=True),
    ]  # fmt: skip


def _dice_figures(d: _Dice, why: str) -> list[Figure]:
    def share(of: int, whole: int) -> float | None:
        return 100.0 * of / whole if whole else None

    right, wrong = d.attacks.count("right"), d.attacks.count("wrong")
    asked = [n for n in d.questions if n is not None]
    once, whole = sum(n <= 1 for n in asked), len(d.questions)
    by_kind = ", ".join(
        f"{kind} {sum(is_right for k, is_right in d.proposed if k == kind)} of {count}"
        for kind in DICE
        if (count := sum(k == kind for k, _ in d.proposed))
    )
    return [
        Figure("terrain of dice more than 5 mm off a border", _share(d.terrains), "%", ">=", 99.5, len(d.terrains),
               is_rate=True, why=why),
        Figure("attacks right without a question", share(right, len(d.attacks)), "%", ">=", 95, len(d.attacks),
               is_rate=True, why=why),
        Figure("attacks wrong without being asked", share(wrong, len(d.attacks)), "%", "<=", 1, len(d.attacks),
               is_rate=True, why=why),
        Figure("attacks right with one question at most", share(once, whole), "%", ">=", 95, whole, is_rate=True,
               why=why or "a question that yes answers"),
        Figure("attacks right as told or proposed", share(len(asked), whole), "%", ">=", 95, whole, is_rate=True,
               why=why or "any number of questions that yes answers"),
        Figure("dice found", share(d.found, d.lying), "%", ">=", 99, d.lying, is_rate=True,
               why=why or f"{d.extra} were told that are none"),
        Figure("kinds right of found dice", share(d.kinds, d.found), "%", ">=", 99, d.found, is_rate=True, why=why),
        Figure("owners right of found dice", share(d.owners, d.found), "%", ">=", 99, d.found, is_rate=True, why=why),
        Figure("numbers told", share(d.told, d.found), "%", ">=", 95, d.found, is_rate=True, why=why),
        Figure("numbers right of those told", share(d.right, d.told), "%", ">=", 99, d.told, is_rate=True, why=why),
        Figure("numbers right as told or proposed", share(sum(is_right for _, is_right in d.proposed), d.found), "%",
               ">=", 95, d.found, is_rate=True, why=why or by_kind),
    ]  # fmt: skip


if __name__ == "__main__":
    main()
