"""The whole view of one viewer: the game's own, and what every table has."""

from __future__ import annotations

import msgspec

from companion.core import command as c
from companion.core.game import Game, Proposal, S, Sitting, decide, is_refused
from companion.core.seat import Actor, Role, Viewer
from companion.core.view import Action, Choice, Field, OpenProposal, View

LOG_LINES = 60


def show(game: Game[S], sitting: Sitting[S], viewer: Viewer) -> View:
    """What this viewer is shown now.

    The public sees the held game while a review is open. While the table is stopped only what may be done
    then is offered. Where a referee has nothing else to do first, the first open question is the thing to do.
    Rule: TABLE-2 TABLE-4
    """
    held = sitting.held
    if viewer.role is Role.PUBLIC and held is not None:
        seen = game.view(msgspec.structs.replace(sitting, game=held, proposals=()), viewer)
        why = f"Under review: {sitting.review_why}" if sitting.review_why else "A ruling is under review."
        return msgspec.structs.replace(
            seen, held=why, rulings=(), is_stopped=sitting.stopped_at_ns is not None
        )
    view = game.view(sitting, viewer)
    is_stopped = sitting.stopped_at_ns is not None
    own = tuple(action for action in view.actions if action.command.while_stopped or not is_stopped)
    asked = _proposals(game, sitting, viewer)
    primary = view.primary or next((p.confirm for p in asked if p.confirm), None)
    if is_stopped:
        primary = _resume(sitting) if viewer.role is Role.REFEREE else None
    actions = (*own, *_common(game, sitting, viewer, is_stopped))
    return msgspec.structs.replace(
        view,
        primary=primary,
        actions=actions,
        open_proposals=asked,
        rulings=sitting.rulings[-LOG_LINES:],
        held=f"The table is stopped. {sitting.stop_why}".strip() if is_stopped else "",
        is_stopped=is_stopped,
        is_over=game.is_over(sitting),
    )


def _resume(sitting: Sitting[S]) -> Action:
    effect = f"All clocks run on from where they stood. {sitting.stop_why}".strip()
    return Action(id="resume", command=c.Resume(), label="Resume", effect=effect)


def _proposals(game: Game[S], sitting: Sitting[S], viewer: Viewer) -> tuple[OpenProposal, ...]:
    if viewer.role is not Role.REFEREE:
        return ()
    return tuple(_proposal(game, sitting, p) for p in sitting.proposals)


def _proposal(game: Game[S], sitting: Sitting[S], proposal: Proposal) -> OpenProposal:
    """The reading and its answers; one that came too late can only be rejected. Rule: TABLE-6"""
    confirm = Action(
        id=f"confirm-{proposal.id}", command=c.Confirm(proposal=proposal.id), label="Confirm",
        effect=f"{proposal.reading}: counts.",
    )  # fmt: skip
    reject = Action(
        id=f"reject-{proposal.id}", command=c.Reject(proposal=proposal.id), label="Reject",
        effect="The reading is dropped.",
    )  # fmt: skip
    order = c.Order(command=confirm.command, actor=Actor(Role.REFEREE), at_ns=sitting.at_ns, key=confirm.id)
    is_late = is_refused(decide(game, sitting, order))
    return OpenProposal(
        id=proposal.id,
        reading=proposal.reading,
        confidence=proposal.confidence,
        evidence=proposal.evidence,
        confirm=None if is_late else confirm,
        reject=reject,
    )


def _common(game: Game[S], sitting: Sitting[S], viewer: Viewer, is_stopped: bool) -> tuple[Action, ...]:
    """What may be done at every table."""
    found: list[Action] = []
    if viewer.role is not Role.PUBLIC and not is_stopped and not game.is_over(sitting):
        found.append(
            Action(id="stop", command=c.Stop(), label="Stop now", key="Space", zone="table",
                   effect="Clocks and board freeze until the referee resumes.")
        )  # fmt: skip
    if viewer.role is not Role.REFEREE:
        return tuple(found)
    if sitting.held is None:
        found.append(
            Action(id="review", command=c.OpenReview(), label="Review a ruling", zone="table",
                   effect="The public board is held as it is now until you close the review.",
                   fields=(_text("why", "What is under review"),))
        )  # fmt: skip
    else:
        found.append(
            Action(id="close-review", command=c.CloseReview(), label="Close the review", zone="table",
                   effect="The public board shows the table as it is now.")
        )  # fmt: skip
    playing = sitting.playing()
    if len(playing) < game.max_seats:
        found.append(
            Action(id="join", command=c.Join(name=""), label="A player sits down", zone="seats",
                   effect="A new seat is laid.", fields=(_text("name", "Name", True),))
        )  # fmt: skip
    for seat in playing:
        found.append(
            Action(id=f"leave-{seat.id}", command=c.Leave(seat=seat.id), label=f"{seat.name} leaves",
                   zone="seats", effect=f"{seat.name} goes for good.", is_grave=True)
        )  # fmt: skip
    for option in sorted(game.options):
        field = None if game.why_fixed(sitting, option) else _option_field(game, sitting, option)
        if field is not None:
            found.append(
                Action(id=f"rule-{option}", command=c.ChangeOption(option=option, value=sitting.options[option]),
                       label=f"House rule {option}", zone="rules", fields=(field,),
                       effect="The house rule is another one from here on, and the journal says so.")
            )  # fmt: skip
    return tuple(found)


def _text(name: str, label: str, is_required: bool = False) -> Field:
    return Field(name=name, label=label, kind="text", is_required=is_required)


def _option_field(game: Game[S], sitting: Sitting[S], option: str) -> Field | None:
    now = sitting.options[option]
    if isinstance(now, bool):
        other = not now
        return Field(name="value", label=option, kind="choice",
                     choices=(Choice(value=other, label="on" if other else "off"),))  # fmt: skip
    if option in game.choices:
        others = tuple(Choice(value=v, label=v) for v in game.choices[option] if v != now)
        return Field(name="value", label=option, kind="choice", choices=others)
    if isinstance(now, int):
        return Field(name="value", label=f"{option} (now {now})", kind="number")
    return None
