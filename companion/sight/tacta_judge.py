"""What the rules say of each card that the camera saw laid, from nothing but the cards before it."""

from __future__ import annotations

from companion.core.geometry import Pose
from companion.core.observation import CardChanged
from companion.core.ruling import Verdict
from companion.games.tacta.deck import Deck
from companion.games.tacta.faces import faces_of
from companion.games.tacta.ground import Ground, Laid
from companion.games.tacta.placement import Allowance, Judged, Table, judge

UNBOUNDED_MM = 100_000.0


class TableJudge:
    """Follows one table. `size_mm`: the playing area, None where it is not known; then no edge is judged."""

    def __init__(self, deck: Deck, size_mm: tuple[float, float] | None, allowance: Allowance) -> None:
        self.deck = deck
        self._faces = faces_of(deck)
        self._edge_mm = 0.0 if size_mm else UNBOUNDED_MM / 2
        self._area = Table(size_mm=size_mm or (UNBOUNDED_MM, UNBOUNDED_MM))
        self._allowance = allowance
        self._laid: dict[int, Laid] = {}

    def take(self, seen: CardChanged) -> Judged | None:
        """The verdict on a card that was placed; None for anything else, and for a card that is not known.

        Rule: TACTA-3 TACTA-6 TACTA-7 TACTA-8 TACTA-9 TACTA-10 TACTA-11 TACTA-22
        """
        if seen.change == "removed":
            self._laid.pop(seen.n, None)
            return None
        if seen.card is None or seen.pose is None or seen.change == "unsure":
            return None
        is_known = seen.n in self._laid
        pose = Pose(seen.pose.x_mm + self._edge_mm, seen.pose.y_mm + self._edge_mm, seen.pose.angle_deg)
        card = Laid(
            n=seen.n, card=seen.card, colour=seen.colour, flipped=seen.flipped, pose=pose, u_mm=seen.u_mm
        )
        before = Ground(self._faces, [self._laid[n] for n in sorted(self._laid) if n != seen.n])
        self._laid[seen.n] = card
        if is_known or seen.change == "bumped":
            return None
        if seen.card == self.deck.start.id:
            return Judged(verdict=Verdict.OK, rule="TACTA-3", because="The starting card lies on the table.")
        return judge(before, self._area, card, self._allowance, seen.u_deg)

    def visible_dots(self) -> dict[str, int]:
        """Dots of each colour that show, as the cards were measured. Rule: TACTA-14"""
        return Ground(self._faces, [self._laid[n] for n in sorted(self._laid)]).score()
