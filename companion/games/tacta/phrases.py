"""The table in words, for who does not see it: where a card lies, which plays are legal, how to put one right."""

from __future__ import annotations

import math

from companion.games.tacta.faces import turned
from companion.games.tacta.ground import Ground
from companion.games.tacta.model import Table, area, front_of, ground_of, laid_of, legal_plays
from companion.games.tacta.placement import Play


def facing_deg(table: Table, seat: str) -> float:
    """The direction in which a seat looks over the table, clockwise from up in the picture."""
    seats = [each.id for each in table.seats]
    return 360.0 * seats.index(seat) / max(1, len(seats)) if seat in seats else 0.0


def clock(table: Table, seat: str, dx: float, dy: float) -> str:
    """A direction in table mm as an hour of the clock, twelve being straight ahead of the seat."""
    angle = math.degrees(math.atan2(dx, -dy)) - facing_deg(table, seat)
    hour = round(angle / 30) % 12
    return f"{hour or 12} o'clock"


def spot(table: Table, seat: str, x: float, y: float) -> str:
    """A place on the table in cm from the seat's own edge and from its left."""
    width, height = area(table).size_mm
    turn = math.radians(facing_deg(table, seat))
    ahead, right = (math.sin(turn), -math.cos(turn)), (math.cos(turn), math.sin(turn))
    corners = [(0.0, 0.0), (width, 0.0), (width, height), (0.0, height)]
    near = min(cx * ahead[0] + cy * ahead[1] for cx, cy in corners)
    left = min(cx * right[0] + cy * right[1] for cx, cy in corners)
    far_cm = (x * ahead[0] + y * ahead[1] - near) / 10
    side_cm = (x * right[0] + y * right[1] - left) / 10
    return f"{far_cm:.0f} cm from your edge, {side_cm:.0f} cm from the left"


def key_of(card: str, play: Play) -> str:
    """A name for one legal play, the same as long as the cards lie as they do."""
    side = "back" if play.flipped else "front"
    return f"{card}/{side}/{play.own}/{play.target}/{play.on}/{round(play.pose.angle_deg)}"


def ranked_plays(table: Table, seat: str, cards: tuple[str, ...]) -> list[tuple[str, Play]]:
    """The legal plays of these cards, those that hide most dots of others and fewest of the own colour first."""
    found = legal_plays(table, cards)
    if not found:
        return []
    ground = ground_of(table)
    return sorted(found, key=lambda pair: -hidden_of_others(table, ground, seat, pair[1]))


def plays_in_words(table: Table, seat: str, cards: tuple[str, ...], most: int = 4) -> str:
    """The legal plays of these outermost cards, in the order of `ranked_plays`."""
    found = ranked_plays(table, seat, cards)
    if not found:
        return "Neither outermost card has a legal play: lay one apart, where it touches no card."
    told = [play_in_words(table, seat, card, play) for card, play in found[:most]]
    return f"{len(found)} legal plays. {' '.join(f'{i}. {each}.' for i, each in enumerate(told, 1))}"


def guidance(table: Table, seat: str) -> str:
    """How a guided seat brings its card from where it was seen last to where it aims; empty while it is not guided."""
    aim = table.game.guided.get(seat)
    if aim is None:
        return ""
    width, height = ground_of(table).faces.deck.card_mm
    middle = (width / 2, height / 2)
    wanted = aim.pose.apply(middle)
    if aim.lies is None:
        side = "the other side up" if aim.flipped else "as it is"
        return f"Lay {front_of(aim.card).replace('-', ' ')}, {side}, about {spot(table, seat, *wanted)}."
    if aim.lies_flipped != aim.flipped:
        return "Turn it over: the other side must be up."
    here = aim.lies.apply(middle)
    dx, dy = wanted[0] - here[0], wanted[1] - here[1]
    turn = math.radians(facing_deg(table, seat))
    right, ahead = dx * math.cos(turn) + dy * math.sin(turn), dx * math.sin(turn) - dy * math.cos(turn)
    told = [_way(right, "right", "left"), _way(ahead, "away from you", "towards you")]
    off = round(turned(aim.pose.angle_deg - aim.lies.angle_deg))
    if off:
        told.append(f"turn {abs(off)} degrees {'clockwise' if off > 0 else 'anticlockwise'}")
    said = ", ".join(each for each in told if each)
    return f"{said[:1].upper()}{said[1:]}." if said else "It lies right."


def _way(mm: float, plus: str, minus: str) -> str:
    """How far to move along one direction, in words: cm where it is far, mm where it is near; empty for nothing."""
    far = abs(mm)
    if far < 0.5:
        return ""
    return f"{plus if mm > 0 else minus} {f'{far / 10:.0f} cm' if far >= 15 else f'{far:.0f} mm'}"


def hidden_of_others(table: Table, ground: Ground, seat: str, play: Play) -> int:
    """Dots of other colours less those of the own one that a play would hide."""
    index = next(i for i, laid in enumerate(ground.laid) if laid.n == play.target)
    laid = ground.laid[index]
    dots = len(ground.faces.card(laid.face).shapes[play.on].dots_mm)
    return -dots if laid.colour == table.game.colours.get(seat) else dots


def play_in_words(table: Table, seat: str, card: str, play: Play) -> str:
    """One legal play: card, side, neighbour, direction by clock face, place."""
    ground = ground_of(table)
    laid = next(each for each in ground.laid if each.n == play.target)
    shape = ground.faces.card(laid.face).shapes[play.on]
    width, height = ground.faces.deck.card_mm
    x, y = play.pose.apply((width / 2, height / 2))
    there = laid.pose.apply((width / 2, height / 2))
    whose = f"the {laid.colour} {laid.card.replace('-', ' ')}" if laid.colour else "the starting card"
    side = "the other side up" if play.flipped else "as it is"
    filled = f"with {len(shape.dots_mm)} dots" if shape.dots_mm else "hollow"
    way = clock(table, seat, x - there[0], y - there[1])
    return (
        f"{front_of(card).replace('-', ' ')}, {side}: its {shape.kind} on the {shape.kind} ({filled}) of {whose}, "
        f"going towards {way}; {spot(table, seat, x, y)}"
    )


def lying_in_words(table: Table, seat: str) -> str:
    """Every card on the table, the newest first, with its place."""
    if not table.game.lying:
        return "No card lies on the table."
    told = []
    for card in reversed(table.game.lying):
        what = (
            f"{card.n}: {card.colour} {front_of(card.card).replace('-', ' ')}"
            if card.n
            else "the starting card"
        )
        if card.pose is not None:
            laid = laid_of(card)
            width, height = ground_of(table).faces.deck.card_mm
            what += f", {spot(table, seat, *laid.pose.apply((width / 2, height / 2)))}"
        told.append(what)
    return ". ".join(told) + "."
