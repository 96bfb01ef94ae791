"""A device's clock in host time: four stamps, drift, and an uncertainty that ages. No I/O, no clock of its
own.

Each question and answer gives an interval that surely holds the offset device - host: its midpoint plus or
minus half the round trip. A constant asymmetry of the way cannot be seen by any question; half the round
trip bounds it. Of about the last WINDOW answers the one serves that is tightest at the time asked for, its
half-width grown by the drift that is still possible since.

The drift itself is bounded by DRIFT_BOUND_PPM and, better, by every pair of answers: their intervals allow
only some slopes. When the intervals allow none, the clock has jumped (or drifts beyond the bound) and all
is begun anew.
"""

from __future__ import annotations

from collections import deque

import msgspec

from firmware_bridge.messages import WRAP_US

WINDOW = 16
DRIFT_BOUND_PPM = 150.0
DRIFT_WANDER_PPM = (
    5.0  # a crystal's rate moves with its warmth: no pair of answers is trusted closer than this
)
DROWSY_NS = 40_000_000  # a radio that sleeps answers when it wakes: up to a beacon's 102 ms later
MILEPOST_EVERY_US = 16_000_000
MILEPOSTS = 8
ERRATIC_FOR_NS = 300_000_000_000
_ERRATIC = 2
CONFIRM_TIMES, CONFIRM_NS = 3, 5_000_000  # an answer confirms when it is no wider than this
USUAL_NS = 15_000_000  # no wider, or a jump of a few hundredths of a second would go unseen
KEEP_ANCHOR_US = 1_000_000
RENEW_ANCHOR_US = 30_000_000
_MIN_BASE_US = 2_000_000  # pairs closer than this say nothing useful about drift


class Answer(msgspec.Struct, frozen=True):
    """One four-stamp exchange. `device_us` unwrapped; offset = device - host, in ns, at that device time."""

    device_us: int
    offset_ns: int
    half_ns: int
    rtt_ns: int


class _Line(msgspec.Struct, frozen=True):
    """Host time as a function of device time: through one answer, with the drift as far as it was known."""

    answer: Answer
    drift_ppm: tuple[float, float]

    @property
    def rest_ppm(self) -> float:
        """By how much the drift may differ from its middle."""
        low, high = self.drift_ppm
        return (high - low) / 2 + DRIFT_WANDER_PPM

    def bound_ns(self, device_us: int) -> int:
        return self.answer.half_ns + round(abs(device_us - self.answer.device_us) * self.rest_ppm / 1000)

    def at_ns(self, device_us: int) -> int:
        low, high = self.drift_ppm
        away_us = device_us - self.answer.device_us
        return device_us * 1000 - self.answer.offset_ns - round(away_us * (low + high) / 2000)


class HostTime(msgspec.Struct, frozen=True):
    """An instant of the device in host time: the truth lies within at_ns +- u_ns.

    `own_u_ns`: the same against another edge of this device, with which it shares the clock's offset.
    """

    at_ns: int
    u_ns: int
    own_u_ns: int = 0


class ClockSync:
    """The clock of one device since its last start.

    `tick_us`: resolution of its stamps; `st_us`: longest time from an edge to its stamp, which widens only
    the times of edges. Nothing here raises on values within 32 bits. `is_confirmed`: the last answer was quick
    enough to have shown any jump that matters. `is_drowsy`: it answers late so often that its radio must be
    sleeping in between; a lucky answer then says little about the next press.
    """

    def __init__(self, tick_us: int = 1, st_us: int = 0) -> None:
        self._tick_ns = tick_us * 1000
        self.st_ns = st_us * 1000
        self._answers: list[Answer] = []
        self._slopes: dict[int, tuple[float, float]] = {}  # by an answer's time: the drifts its pairs allow
        self._seen: tuple[int, int] | None = None  # (unwrapped us, host ns) of the newest stamp
        self._mileposts: deque[Answer] = deque(maxlen=MILEPOSTS)
        self._rtts_ns: deque[int] = deque(maxlen=2 * WINDOW)
        self._drift_ppm = (-DRIFT_BOUND_PPM, DRIFT_BOUND_PPM)
        self._best_ahead: Answer | None = None  # the best one for all times behind the newest
        self._anchor: _Line | None = None
        self._anchor_set_us = 0
        self._renewed_us: int | None = None
        self._anchor_used_us = 0
        self._jumped_ns: deque[int] = deque(maxlen=_ERRATIC)
        self._heard_ns = 0
        self.jumps = 0
        self.doubted_from_ns = 0
        self.is_confirmed = False
        self.is_drowsy = False

    @property
    def is_synced(self) -> bool:
        """Has any answer come since the start or the last jump?"""
        return bool(self._answers)

    @property
    def is_settled(self) -> bool:
        """Have WINDOW answers come since the start or the last jump, so that its best one is a good one?"""
        return len(self._rtts_ns) >= WINDOW

    @property
    def is_erratic(self) -> bool:
        """Has it jumped _ERRATIC times in the last five minutes? Then its next time is not to be believed either: it
        jumps, or drifts beyond the bound."""
        return len(self._jumped_ns) == _ERRATIC and self._heard_ns - self._jumped_ns[0] <= ERRATIC_FOR_NS

    @property
    def rtt_ns(self) -> int | None:
        """The least round trip among the last WINDOW answers, None before the first."""
        return min((answer.rtt_ns for answer in self._answers), default=None)

    @property
    def drift_ppm(self) -> tuple[float, float]:
        """Bounds of the drift in ppm; positive: the device's clock runs fast."""
        return self._drift_ppm

    def unwrap(self, us: int, now_ns: int) -> int:
        """Device microseconds without wrap for a 32-bit stamp that is heard, or meant, near host time
        `now_ns`.

        The reading nearest to where the clock must be by now is taken, so neither a long silence nor an old
        stamp that comes late is off by a turn.
        """
        if self._seen is None:
            return us
        seen_us, seen_ns = self._seen
        expected = seen_us + (now_ns - seen_ns) // 1000
        return expected + (us - expected + WRAP_US // 2) % WRAP_US - WRAP_US // 2

    def note(self, device_us: int, now_ns: int) -> None:
        """Remember where the clock was (unwrapped), as the base for the next `unwrap`."""
        if self._seen is None or device_us > self._seen[0]:
            self._seen = (device_us, now_ns)

    def add(self, sent_ns: int, received_us: int, replied_us: int, heard_ns: int) -> bool:
        """Take one exchange: host sent, device received, device replied (both 32 bit), host heard.

        Returns False when the stamps cannot be true together (they are dropped). A clock that jumped is
        noticed here: `jumps` counts up, only this answer is kept, and times since `doubted_from_ns` (host)
        are in doubt.
        """
        inside_us = (replied_us - received_us) % WRAP_US
        rtt_ns = heard_ns - sent_ns - inside_us * 1000
        if heard_ns < sent_ns or rtt_ns < -2 * self._tick_ns:
            return False
        rtt_ns = max(rtt_ns, 0)
        received = self.unwrap(received_us, heard_ns)
        middle_us = received + inside_us // 2
        offset_ns = (received * 1000 - sent_ns + (received + inside_us) * 1000 - heard_ns) // 2
        answer = Answer(middle_us, offset_ns, rtt_ns // 2 + self._tick_ns, rtt_ns)
        self._rtts_ns.append(rtt_ns)
        against = [old for old in self._answers if not _may_be_one_clock(old, answer)]
        self._keep(answer)
        self._heard_ns = heard_ns
        best_ns = self._best_line(middle_us).bound_ns(middle_us)
        # On a line that is mostly slow its usual answers must do, or nothing would ever be confirmed.
        usual_ns = min(sorted(self._rtts_ns)[len(self._rtts_ns) // 2] // 2, USUAL_NS)
        self.is_confirmed = answer.half_ns <= max(CONFIRM_TIMES * best_ns + CONFIRM_NS, usual_ns)
        low, high = self._drift_allowed(answer)
        if against or low > high + 2 * DRIFT_WANDER_PPM:
            # The latest answer that contradicts this one was before the jump; later ones may be after it.
            doubted = max(against, key=lambda old: old.device_us) if against else self._answers[0]
            self.doubted_from_ns = doubted.device_us * 1000 - doubted.offset_ns
            self.jumps += 1
            self._rtts_ns.clear()
            self._jumped_ns.append(heard_ns)
            self._answers = [answer]
            self._slopes.clear()
            self._mileposts.clear()
            self._anchor = None
            self._seen = None
            low, high = -DRIFT_BOUND_PPM, DRIFT_BOUND_PPM
        self._drift_ppm = (min(low, high), max(low, high))
        self._best_ahead = None
        self.is_drowsy = sum(late_ns > DROWSY_NS for late_ns in self._rtts_ns) * 4 > len(self._rtts_ns)
        self._set_milepost(middle_us)
        self.note(received + inside_us, heard_ns)
        return True

    def host_time(self, device_us: int) -> HostTime | None:
        """Host time of an unwrapped device instant, None before the first answer."""
        if not self._answers:
            return None
        line = self._line_for(device_us)
        return HostTime(line.at_ns(device_us), line.bound_ns(device_us))

    def edge_time(self, device_us: int) -> HostTime | None:
        """Host time of an edge with this unwrapped stamp, None before the first answer; the stamping latency
        widens it.

        Edges less than KEEP_ANCHOR_US apart go through the same answer, so that their differences are exactly
        the device's own. A row of edges that goes on for RENEW_ANCHOR_US gets a fresh one; for a while
        `own_u_ns` then covers the change.
        """
        if not self._answers:
            return None
        line = self._line_for(device_us)
        if line is not self._anchor:
            is_in_row = self._anchor is not None and self._is_near(device_us)
            self._renewed_us = device_us if is_in_row else None
            self._anchor, self._anchor_set_us, self._anchor_used_us = line, device_us, device_us
        self._anchor_used_us = max(self._anchor_used_us, device_us)
        u_ns = line.bound_ns(device_us) + self.st_ns
        is_fresh = self._renewed_us is not None and device_us - self._renewed_us <= KEEP_ANCHOR_US
        return HostTime(line.at_ns(device_us), u_ns, u_ns if is_fresh else self._tick_ns + self.st_ns)

    def device_us(self, host_ns: int) -> int | None:
        """The 32-bit device time at a host instant (for scheduled commands), None before the first answer."""
        if not self._answers:
            return None
        guess_us = (host_ns + self._answers[-1].offset_ns) // 1000
        # The line is so nearly straight that one step from the guess is exact to a nanosecond.
        return (guess_us + round((host_ns - self._best_line(guess_us).at_ns(guess_us)) / 1000)) % WRAP_US

    def uncertainty_ns(self, now_ns: int) -> int | None:
        """How well an edge at host time `now_ns` could be placed, None before the first answer."""
        if not self._answers:
            return None
        now_us = (now_ns + self._answers[-1].offset_ns) // 1000
        return self._best_line(now_us).bound_ns(now_us) + self.st_ns

    def _is_near(self, device_us: int) -> bool:
        return abs(device_us - self._anchor_used_us) <= KEEP_ANCHOR_US

    def _line_for(self, device_us: int) -> _Line:
        if (
            self._anchor is not None
            and self._is_near(device_us)
            and device_us - self._anchor_set_us <= RENEW_ANCHOR_US
        ):
            return self._anchor
        return self._best_line(device_us)

    def _best_line(self, device_us: int) -> _Line:
        # All half-widths grow alike with time: behind the newest answer the best one stays the best.
        is_ahead = device_us >= self._answers[-1].device_us
        if is_ahead and self._best_ahead is not None:
            return _Line(self._best_ahead, self._drift_ppm)
        rest = _Line(self._answers[0], self._drift_ppm).rest_ppm / 1000
        best = min(
            self._answers, key=lambda answer: answer.half_ns + abs(device_us - answer.device_us) * rest
        )
        if is_ahead:
            self._best_ahead = best
        return _Line(best, self._drift_ppm)

    def _keep(self, answer: Answer) -> None:
        """Keep the last WINDOW answers, and beyond them the one that still serves best: a burst of bad ones
        does not drive out a good one."""
        self._answers.append(answer)
        self._best_ahead = None
        if len(self._answers) > WINDOW:
            best = self._best_line(answer.device_us).answer
            self._answers.remove(next(old for old in self._answers if old is not best))

    def _drift_allowed(self, new: Answer) -> tuple[float, float]:
        """The least and the greatest drift in ppm that every pair of answers allows; the least is greater
        than the greatest when no steady clock could have given them all.

        Mileposts, the tightest answers of the last two minutes, make the pairs long.
        """
        low, high = -DRIFT_BOUND_PPM, DRIFT_BOUND_PPM
        for old in (*self._mileposts, *self._answers):
            base_us = new.device_us - old.device_us
            if base_us >= _MIN_BASE_US:
                slope = (new.offset_ns - old.offset_ns) * 1000 / base_us
                slack = (new.half_ns + old.half_ns) * 1000 / base_us
                low, high = max(low, slope - slack), min(high, slope + slack)
        self._slopes[new.device_us] = (low, high)
        kept = {answer.device_us for answer in self._answers}
        self._slopes = {at_us: slopes for at_us, slopes in self._slopes.items() if at_us in kept}
        return max(low for low, _ in self._slopes.values()), min(high for _, high in self._slopes.values())

    def _set_milepost(self, device_us: int) -> None:
        """Keep the tightest answer now and then."""
        if not self._mileposts or device_us - self._mileposts[-1].device_us >= MILEPOST_EVERY_US:
            best = min(self._answers, key=lambda answer: answer.half_ns)
            if not self._mileposts or best.device_us > self._mileposts[-1].device_us:
                self._mileposts.append(best)


def _may_be_one_clock(x: Answer, y: Answer) -> bool:
    """Do the intervals of two answers allow a drift within the bound?"""
    apart_ns = abs(x.device_us - y.device_us) * DRIFT_BOUND_PPM / 1000
    return abs(x.offset_ns - y.offset_ns) <= x.half_ns + y.half_ns + apart_ns
