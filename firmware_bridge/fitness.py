"""May a device decide a ranked race? Pure."""

from __future__ import annotations

from firmware_bridge.clock_sync import ClockSync

WIRE_LIMIT_NS = 600_000
RADIO_LIMIT_NS = 2_500_000
STEADY_NS = 5_000_000_000
HURRY_SHARE = 0.8
LEARNING = "its clock is being learnt"
LATELY = "it was in doubt until a moment ago"


def doubt(state: str, clock: ClockSync, limit_ns: int, u_ns: int | None) -> str:
    """Why a device in this state (as in `Session`), whose clock is uncertain by `u_ns` now, should not decide a race,
    in words; empty when it may."""
    if state in ("silent", "lost"):
        return f"it is {state}"
    if state != "ready" or u_ns is None or not clock.is_settled:
        return LEARNING
    if clock.is_erratic:
        return "its clock jumps, or runs far too fast or slow"
    if clock.st_ns > limit_ns:
        return "it stamps presses too late"
    if clock.is_drowsy and limit_ns >= RADIO_LIMIT_NS:
        return "its radio sleeps between messages"
    return "its clock is not known well enough" if u_ns > limit_ns else ""


class Fitness:
    """The doubt about one device, told steadily: a new one at once, none again only after STEADY_NS without."""

    def __init__(self) -> None:
        self.doubt = LEARNING
        self._fit_since_ns: int | None = None

    def look(self, found: str, now_ns: int) -> str:
        """Take what `doubt` found at `now_ns`; gives what is to be told."""
        if found:
            self._fit_since_ns = None
            return found
        if self._fit_since_ns is None:
            self._fit_since_ns = now_ns
        is_steady = self.doubt in ("", LEARNING) or now_ns - self._fit_since_ns >= STEADY_NS
        return "" if is_steady else LATELY


def should_hurry(clock: ClockSync, limit_ns: int, u_ns: int | None) -> bool:
    """Is its clock near the limit, or beyond it, where fresher answers help? `u_ns`: how uncertain it is now."""
    if u_ns is None or u_ns <= HURRY_SHARE * limit_ns:
        return False
    rtt_ns = clock.rtt_ns
    return rtt_ns is not None and rtt_ns < 2 * limit_ns
