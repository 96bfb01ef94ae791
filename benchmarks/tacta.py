"""Tacta by the camera: is a finished table scored right, is each card read and measured as it is laid, and are the
verdicts right?

    python -m benchmarks.tacta [--tables N] [--games N] [--json]

Tables and games are rendered (`benchmarks.tacta_scenes`) with decks, inks, lamps and seeds on which nothing was
fitted. A game is twelve cards laid one after the other, some right, some off by 0.3 to 6 mm, turned by 1 to 6 degrees,
reaching onto a second card, or apart; every fifth game each is disturbed in hue,
brightness, sharpness or by JPEG 40. Beside
the count stands the public way to count dots: bright round blobs by contours, coloured by what lies around them.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import cv2
import numpy as np

from benchmarks.figures import Figure, Peer, percentile, report, say
from benchmarks.tacta_scenes import ALLOWED, Game, Placement, disturbed, game_of
from companion.core.geometry import Pose
from companion.core.observation import CardChanged, Observed
from companion.core.ruling import Verdict
from companion.games.tacta.faces import Face, faces_of
from companion.games.tacta.ground import Ground, Laid
from companion.games.tacta.placement import Judged, Table, plays
from companion.sight.tacta import HUES, card_reader, dots
from companion.sight.tacta_judge import TableJudge
from vision.frame import Frame
from vision.outlined.plane import plane_of
from vision.outlined.watcher import CardWatcher

CARDS = 12
FIRST_TABLE, FIRST_GAME = 50_000, 70_000
_CLEAR_MM = 1.0
Progress = Callable[[str], None]


@dataclass
class Placements:
    """What was found of all cards laid."""

    n: int = 0
    seen: int = 0
    colour: int = 0
    face: int = 0
    errors_mm: dict[str, list[float]] = field(default_factory=lambda: {"fine": [], "coarse": []})
    errors_deg: list[float] = field(default_factory=list)
    within_u: int = 0
    verdicts: Counter[tuple[str, str]] = field(default_factory=Counter)
    clear: int = 0
    clear_close: int = 0
    surplus: int = 0
    hands: int = 0
    hands_told: int = 0
    by_disturbance: dict[str, Counter[str]] = field(default_factory=dict)
    took_ms: list[float] = field(default_factory=list)


def measure_games(count: int, progress: Progress) -> Placements:
    """Plays rendered games through the watcher."""
    found = Placements()
    for number in range(count):
        game = game_of(FIRST_GAME + number, CARDS)
        _play(game, found)
        if number % 5 == 4 or number + 1 == count:
            progress(
                f"{number + 1} of {count} games: {found.n} cards, seen {found.seen}, face {found.face},"
                f" {dict(found.verdicts)}, surplus {found.surplus}"
            )
    return found


def _play(game: Game, found: Placements) -> None:
    corners = game.corners_px
    size_px = game.camera.size_px
    watcher = CardWatcher("drawn", card_reader(game.deck), lambda _: plane_of(corners, game.size_mm, size_px))
    judge = TableJudge(game.deck, game.size_mm, ALLOWED)
    tally = found.by_disturbance.setdefault(game.how, Counter())
    for number, picture in enumerate(game.pictures()):
        if number in (4, 9):
            found.hands += 1
            found.hands_told += bool(_cards(watcher.settled(game.with_hand(number), number, 0, number)))
        begun = time.process_time()
        seen = _cards(watcher.settled(picture, number, 0, number))
        judged = [(each, judge.take(each)) for each in seen]
        if number:
            found.took_ms.append((time.process_time() - begun) * 1e3)
            _compare(game, game.placements[number], judged, found, tally)


def _cards(observed: list[Observed]) -> list[CardChanged]:
    return [each for each in observed if isinstance(each, CardChanged)]


def _compare(
    game: Game,
    truth: Placement,
    judged: list[tuple[CardChanged, Judged | None]],
    found: Placements,
    tally: Counter[str],
) -> None:
    found.n += 1
    tally["n"] += 1
    width, height = game.deck.card_mm
    middle = truth.laid.pose.apply((width / 2, height / 2))
    near = [
        (each, said)
        for each, said in judged
        if each.pose is not None and math.dist(each.pose.apply((width / 2, height / 2)), middle) < 15
    ]
    found.surplus += len(judged) - min(1, len(near))
    if not near:
        tally["not seen"] += 1
        return
    each, said = near[0]
    pose = each.pose
    if pose is None:
        return
    found.seen += 1
    is_colour = each.colour == truth.laid.colour
    is_face = (each.card, each.flipped) == (truth.laid.card, truth.laid.flipped)
    found.colour += is_colour
    found.face += is_face
    tally["right"] += is_colour and is_face
    if is_face:
        far = math.hypot(pose.x_mm - truth.laid.pose.x_mm, pose.y_mm - truth.laid.pose.y_mm)
        turn = abs((pose.angle_deg - truth.laid.pose.angle_deg + 180) % 360 - 180)
        fine = game.camera.size_px[0] / (game.size_mm[0] * 1.1)
        found.errors_mm["fine" if fine > 1.8 else "coarse"].append(far)
        found.errors_deg.append(turn)
        found.within_u += far <= each.u_mm
    if said is not None:
        found.verdicts[truth.judged.verdict.value, said.verdict.value] += 1
        tally[f"{truth.judged.verdict.value} as {said.verdict.value}"] += 1
        if _is_clear(truth.judged):
            found.clear += 1
            found.clear_close += said.verdict is Verdict.TOO_CLOSE


def _is_clear(judged: Judged) -> bool:
    """Whether the truth lies more than a millimetre from the allowance."""
    if judged.measured_mm is None or judged.limit_mm is None:
        return True
    return abs(judged.measured_mm - judged.limit_mm) > _CLEAR_MM


def _placement_figures(found: Placements) -> list[Figure]:
    n = found.n
    false_ok = found.verdicts["breach", "ok"]
    false_breach = found.verdicts["ok", "breach"]
    ways = "; ".join(f"{how}: {dict(tally)}" for how, tally in sorted(found.by_disturbance.items()))
    judged = found.verdicts.total()
    inside = f"{found.within_u} of {len(found.errors_deg)} poses lie within the u that was told"

    def share(name: str, part: int, goal: tuple[str, float], whole: int, why: str = "") -> Figure:
        op, target = goal
        value = 100.0 * part / whole if whole else None
        return Figure(
            name, value, "%", op, target, whole, True, why=why or ("" if whole else "no card was measured")
        )

    def p95(name: str, errors: list[float], unit: str, target: float) -> Figure:
        value = percentile(errors, 0.95) if errors else None
        return Figure(
            name, value, unit, "<=", target, len(errors), why=inside if errors else "no card at this size"
        )

    return [
        share("placement seen and its colour right", found.colour, (">=", 98.0), n),
        share("placement seen, card and face right", found.face, (">=", 97.0), n, ways),
        p95("pose at 2 px/mm and more, p95", found.errors_mm["fine"], "mm", 0.7),
        p95("angle, p95", found.errors_deg, "deg", 1.0),
        p95("pose at 1.5 px/mm, p95", found.errors_mm["coarse"], "mm", 1.5),
        share("false ok", false_ok, ("<=", 0.5), judged),
        share("false breach", false_breach, ("<=", 0.5), judged),
        share(
            "too close to call, more than 1 mm from the allowance",
            found.clear_close,
            ("<=", 5.0),
            found.clear,
        ),
        share("hands over the table told as cards", found.hands_told, ("<=", 0.5), found.hands),
        share("events beside the cards laid", found.surplus, ("<=", 0.5), n),
        Figure(
            "one placement on one core, p50",
            percentile(found.took_ms, 0.5) if found.took_ms else None,
            "ms",
            "<=",
            1000.0,
            len(found.took_ms),
            why=f"p95 {percentile(found.took_ms, 0.95):.0f} ms" if found.took_ms else "none",
        ),
    ]


def measure_scores(count: int, progress: Progress) -> list[Figure]:
    """Finished tables counted: which colours play, exact scores, within two a colour."""
    colours = exact = near = peer_exact = peer_near = 0
    took_ms: list[float] = []
    worst: Counter[int] = Counter()
    for number in range(count):
        game = game_of(
            FIRST_TABLE + number,
            24 + number % 25,
            size_mm=(1000.0, 690.0),
            px_per_mm=2400 / 1100,
            faulty=number % 3 == 0,
        )
        picture = finished(game)
        truth = Ground(faces_of(game.deck), [p.laid for p in game.placements]).score()
        truth = {colour: dots_ for colour, dots_ in truth.items() if dots_}
        begun = time.process_time()
        read = dots(picture).counts()
        took_ms.append((time.process_time() - begun) * 1e3)
        far = max(abs(read.get(c, 0) - truth.get(c, 0)) for c in {*read, *truth})
        worst[far] += 1
        colours += set(read) == set(truth)
        exact += far == 0
        near += far <= 2
        counted = usual_count(picture)
        peer_far = max(abs(counted.get(c, 0) - truth.get(c, 0)) for c in {*counted, *truth})
        peer_exact += peer_far == 0
        peer_near += peer_far <= 2
        if number % 10 == 9 or number + 1 == count:
            progress(f"{number + 1} of {count} tables: exact {exact}, within 2 {near}, colours {colours}")
    why = f"most dots off in a colour: {dict(sorted(worst.items()))}"

    def share(name: str, part: int, target: float, peer: int | None = None) -> Figure:
        value = 100.0 * part / count if count else None
        beside = (
            None
            if peer is None or not count
            else Peer("bright blobs by contours", round(100.0 * peer / count, 1))
        )
        return Figure(
            name, value, "%", ">=", target, count, True, beside, why if count else "no table was asked for"
        )

    return [
        share("tables with the right colours", colours, 99.0),
        share("tables scored exactly", exact, 90.0, peer_exact),
        share("tables within 2 dots a colour", near, 99.0, peer_near),
        Figure(
            "one photograph at 2400 px on one core, p50",
            percentile(took_ms, 0.5) if took_ms else None,
            "ms",
            "<=",
            1500.0,
            len(took_ms),
            why=f"p95 {percentile(took_ms, 0.95):.0f} ms" if took_ms else "no table was asked for",
        ),
    ]


def finished(game: Game) -> Frame:
    """The picture of the table when all cards lie, disturbed as the game says."""
    picture = game.at(len(game.placements)).picture(game.camera, 1)
    return disturbed(picture, game.how, game.seed)


def usual_count(picture: Frame) -> dict[str, int]:
    """Dots by the usual recipe: threshold, round contours of the commonest size, colour by the median around them."""
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    bright = cv2.threshold(grey, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)[1]
    blobs = []
    for contour in cv2.findContours(bright, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)[0]:
        area, length = cv2.contourArea(contour), cv2.arcLength(contour, True)
        if area > 20 and length and 4 * math.pi * area / length**2 > 0.8:
            blobs.append((cv2.minEnclosingCircle(contour), area))
    if not blobs:
        return {}
    usual = float(np.median([area for _, area in blobs]))
    found: Counter[str] = Counter()
    lab = cv2.cvtColor(picture.astype(np.float32) / 255, cv2.COLOR_BGR2LAB)
    for ((x, y), radius), area in blobs:
        if not 0.6 < area / usual < 1.6:
            continue
        ring = np.zeros(grey.shape, np.uint8)
        cv2.circle(ring, (round(x), round(y)), round(radius * 1.7), 1, max(1, round(radius * 0.4)))
        a, b = np.median(lab[ring > 0][:, 1:], axis=0)
        if math.hypot(a, b) < 15:
            continue
        hue = math.degrees(math.atan2(b, a)) % 360
        found[min(HUES, key=lambda name: abs((HUES[name] - hue + 180) % 360 - 180))] += 1
    return dict(found)


def measure_plays() -> Figure:
    """How long all legal placements of both outermost cards take on a table of 100 cards."""
    deck = game_of(FIRST_GAME, 1).deck
    faces = faces_of(deck)
    area = Table(size_mm=(2000.0, 1500.0))
    laid = [Laid(n=0, card=deck.start.id, colour="", flipped=False, pose=_middle(area))]
    rng = np.random.default_rng(9)
    while len(laid) <= 100:
        card = deck.cards[int(rng.integers(len(deck.cards)))].id
        found = plays(Ground(faces, laid), area, (Face(card, bool(rng.integers(2))),), ALLOWED)
        if found:
            play = found[int(rng.integers(len(found)))]
            laid.append(Laid(n=len(laid), card=card, colour="blue", flipped=play.flipped, pose=play.pose))
    took = []
    for number in range(30):
        both = [deck.cards[(number + k) % len(deck.cards)].id for k in (0, 7)]
        begun = time.process_time()
        plays(
            Ground(faces, laid), area, [Face(card, side) for card in both for side in (False, True)], ALLOWED
        )
        took.append((time.process_time() - begun) * 1e3)
    return Figure(
        "all legal placements of both cards on 100 cards on one core, p50",
        percentile(took, 0.5),
        "ms",
        "<=",
        150.0,
        len(took),
        why=f"p95 {percentile(took, 0.95):.0f} ms, the ground worked out anew each time",
    )


def _middle(area: Table) -> Pose:
    return Pose(area.size_mm[0] / 2, area.size_mm[1] / 2)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tables", type=int, default=100, help="finished tables that are scored")
    parser.add_argument("--games", type=int, default=90, help="games of twelve placements each")
    parser.add_argument("--json", action="store_true", help="the JSON object alone")
    asked = parser.parse_args()
    cv2.setNumThreads(1)
    figures = measure_scores(asked.tables, say)
    figures += _placement_figures(measure_games(asked.games, say))
    figures.append(measure_plays())
    report(figures, asked.json)


if __name__ == "__main__":
    main()
