"""Scores and places with ties."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """One seat's place; `shared`: another seat has the same."""

    seat: str
    score: int
    place: int
    shared: bool


def standings(scores: Mapping[str, int], winners: tuple[str, ...] = ()) -> tuple[Standing, ...]:
    """Places from scores, the highest first; equal scores share a place and the next ones are skipped.

    `winners` stand before all others whatever their score; among several the win is shared. Ties keep the
    order of `scores`.
    """
    rank = {seat: (seat not in winners, -score if not (winners and seat in winners) else 0)
            for seat, score in scores.items()}  # fmt: skip
    ordered = sorted(scores, key=lambda seat: rank[seat])
    return tuple(
        Standing(
            seat=seat,
            score=scores[seat],
            place=1 + sum(rank[other] < rank[seat] for other in scores),
            shared=sum(rank[other] == rank[seat] for other in scores) > 1,
        )
        for seat in ordered
    )
