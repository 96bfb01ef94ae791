"""What a board gives MicroPython, for one that runs in a WebAssembly build: pins, a clock, a cable.

Edges happen in the board's own time: while the clock stands at an edge's instant its interrupt runs, as on a board
whose interrupts take no time. The clock comes round after 2^30 us, as `ticks_us` does.
"""

import sys

import js_board  # host_us(), read(), write(bytes)

_ROUND = 1 << 30
_started = js_board.host_us() - _ROUND + 3_000_000  # it comes round three seconds after the start
_stands_at = None
_edges = []  # (us since the start of the host's clock, pin, level), sorted
_pins = {}


def ticks_us():
    """The board's clock. It stands still in an interrupt, and those that are due come first."""
    now = _stands_at
    if now is None:
        now = js_board.host_us()
        _run_due(now)
    return (now - _started) % _ROUND


def ticks_diff(later, earlier):
    """As on a board."""
    return (later - earlier + _ROUND // 2) % _ROUND - _ROUND // 2


class Pin:
    """Just what the firmware asks of a pin."""

    IN, OUT, PULL_UP, IRQ_FALLING, IRQ_RISING = range(5)

    def __init__(self, number, mode=0, pull=None, value=1):
        self.number = number
        self._value = value
        self._handler = None
        _pins[number] = self

    def irq(self, handler, trigger, hard=False):
        """Call `handler` at each edge."""
        self._handler = handler

    def init(self, mode, value=0):
        """Set its level."""
        self.value(value)

    def value(self, level=None):
        """Its level, or set it."""
        if level is None:
            return self._value
        self._value = level
        js_board.told("~ %d %d %d" % (js_board.host_us(), self.number, level))
        return None

    def moved(self, level):
        """From outside."""
        self._value = level
        if self._handler is not None:
            self._handler(self)


class PWM:
    """A buzzer's signal."""

    def __init__(self, pin):
        self._pin = pin

    def freq(self, hz):
        """It sounds."""
        js_board.told("~ %d %d %d" % (js_board.host_us(), self._pin.number, hz))

    def duty_u16(self, duty):
        """How much of it is on."""

    def deinit(self):
        """It is silent."""


class Cable:
    """The console, by the host's pty."""

    def read(self):
        """The bytes that came."""
        return bytes(js_board.read())

    def write(self, lines):
        """Send lines."""
        for line in lines:
            js_board.write(line.decode())


def disable_irq():
    """Interrupts run between the firmware's own steps only."""
    return 0


def enable_irq(state):
    """See above."""


def at(us, number, level):
    """A pin shall move at this instant of the host's clock."""
    _edges.append((us, number, level))
    _edges.sort(key=lambda edge: edge[0])


def _run_due(now):
    global _stands_at  # noqa: PLW0603  # the one clock of the one board
    while _edges and _edges[0][0] <= now:
        us, number, level = _edges.pop(0)
        _stands_at = us
        _pins[number].moved(level)
        js_board.told("= %d %d %d %d" % (us, (us - _started) % _ROUND, number, level))
        _stands_at = None


class _Module:
    pass


def install():
    """Be the modules that the firmware imports."""
    machine, time = _Module(), _Module()
    machine.Pin, machine.PWM = Pin, PWM
    machine.disable_irq, machine.enable_irq = disable_irq, enable_irq
    time.ticks_us, time.ticks_diff = ticks_us, ticks_diff
    sys.modules["machine"], sys.modules["time"] = machine, time
