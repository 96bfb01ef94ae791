"""Verdicts with the rule they stand on and the reason why."""

from __future__ import annotations

from enum import Enum

import msgspec


class Verdict(Enum):
    """The three things a referee may say."""

    OK = "ok"
    BREACH = "breach"
    TOO_CLOSE = "too close to call"


class Ruling(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One verdict.

    `rule`: id of the numbered rule (``TADA-18``, or ``TABLE-n`` of docs/rules/table.md). `because`: one
    sentence. `seat`: whom it concerns. `evidence`: references to what was seen (``press:DEVICE/BOOT/N``,
    ``rest:CAMERA/FRAME``, ``entry:N``). `t_ms`, `u_ms`: instant since the start of the race and its
    uncertainty, None where no instant is meant.
    """

    verdict: Verdict
    rule: str
    because: str
    seat: str = ""
    evidence: tuple[str, ...] = ()
    t_ms: float | None = None
    u_ms: float | None = None


def ok(rule: str, because: str, seat: str = "", evidence: tuple[str, ...] = ()) -> Ruling:
    """A ruling that the rule is kept."""
    return Ruling(verdict=Verdict.OK, rule=rule, because=because, seat=seat, evidence=evidence)


def breach(rule: str, because: str, seat: str = "", evidence: tuple[str, ...] = ()) -> Ruling:
    """A ruling that the rule is not kept."""
    return Ruling(verdict=Verdict.BREACH, rule=rule, because=because, seat=seat, evidence=evidence)
