"""What the table does back: light, sound and words at each fact."""

from __future__ import annotations

from companion.core.cue import Cue
from companion.core.event import Event, Resumed
from companion.core.ruling import Verdict
from companion.games.tacta import events as e
from companion.games.tacta.model import Table
from companion.games.tacta.phrases import guidance
from companion.games.tacta.verdicts import words

_SAID = {Verdict.OK: ("notice", "lies right"), Verdict.BREACH: ("breach", "lies wrong"),
         Verdict.TOO_CLOSE: ("dead_heat", "is too close to call")}  # fmt: skip


def cues(before: Table, event: Event, after: Table) -> tuple[Cue, ...]:
    """The cues of one fact; the start of free play bears the instant at which it is due."""
    name = after.name
    match event:
        case e.StartSet() | Resumed() if after.game.phase == "countdown" and after.game.go_ns is not None:
            at_ns = after.host_ns(after.game.go_ns)
            return (
                Cue(target="all", pattern="countdown", text="Get ready."),
                Cue(target="all", pattern="go", text="Go!", at_ns=at_ns, urgent=True),
            )
        case e.CardLaid(seat=seat, card=card, judged=judged):
            pattern, said = _SAID[judged.verdict]
            laid = Cue(target="all", pattern=pattern, text=f"{name(seat)}'s {words(card)} {said}.")
            return (laid, *_turn(before, after))
        case e.Aimed(seat=seat) | e.LayingSeen(seat=seat) if told := guidance(after, seat):
            return (Cue(target=seat, pattern="notice", text=told, urgent=True),)
        case e.EndsShown() | e.CardBoxed() | e.CardRuled():
            return _turn(before, after)
        case e.CardBumped(n=n):
            return (
                Cue(target="all", pattern="stop", text=f"Card {n} was bumped: put it back.", urgent=True),
            )
        case e.RoundScored(dots=dots):
            told = ", ".join(f"{colour} {count}" for colour, count in dots.items())
            return (Cue(target="all", pattern="end", text=f"Visible dots: {told}."), *_won(after))
        case _:
            return ()


def _turn(before: Table, after: Table) -> tuple[Cue, ...]:
    """Whose turn has come; to that seat alone."""
    state = after.game
    if state.phase == "scoring" and before.game.phase != "scoring":
        return (Cue(target="all", pattern="end", text="All cards are played.", urgent=True),)
    if not state.turn or state.turn == before.game.turn:
        return ()
    return (Cue(target=state.turn, pattern="ready", text=f"{after.name(state.turn)}, it is your turn."),)


def _won(after: Table) -> tuple[Cue, ...]:
    winners = after.game.winners
    if not winners:
        return ()
    names = " and ".join(map(after.name, winners))
    return (
        Cue(target="all", pattern="win", text=f"{names} {'share' if len(winners) > 1 else 'wins'} the game."),
    )
