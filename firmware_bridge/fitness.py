"""May a device decide a ranked race? Pure."""

from __future__ import annotations

from firmware_bridge.clock_sync import ClockSync

WIRE_LIMIT_NS = 600_000
RADIO_LIMIT_NS = 2_500_000
FIT_AGAIN = 0.9  # of the limit: a clock on the edge does not change its mind with every answer
LEARNING = "its clock is being learnt"


def doubt(state: str, clock: ClockSync, limit_ns: int, now_ns: int, *, was_doubted: bool) -> str:
    """Why a device in this state (as in `Session`) should not decide a race at host time `now_ns`, in words;
    empty when it may."""
    u_ns = clock.uncertainty_ns(now_ns)
    if state in ("silent", "lost"):
        return f"it is {state}"
    if state != "ready" or u_ns is None or not clock.is_settled:
        return LEARNING
    if clock.is_erratic:
        return "its clock jumps, or runs far too fast or slow"
    if clock.st_ns > limit_ns:
        return "it stamps presses too late"
    if clock.is_drowsy:
        return "its radio sleeps between messages"
    return "its clock is not known well enough" if u_ns > limit_ns * (FIT_AGAIN if was_doubted else 1) else ""
