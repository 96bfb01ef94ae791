"""A board's inputs and outputs: interrupts that stamp edges, samples, lights and a buzzer. Runs on boards only."""

from time import ticks_diff, ticks_us

import machine

_U32 = 0xFFFFFFFF


class Clock:
    """The board's microseconds modulo 2^32; `ticks_us` itself comes round sooner. To be read each minute at least."""

    def __init__(self):
        self._raw = ticks_us()
        self._us = self._raw

    def now(self):
        """Microseconds now."""
        raw = ticks_us()
        self._us = (self._us + ticks_diff(raw, self._raw)) & _U32
        self._raw = raw
        return self._us

    def of(self, raw):
        """The same instant as a value of `ticks_us` that an interrupt kept."""
        return (self._us + ticks_diff(raw, self._raw)) & _U32


class Contact:
    """A button or a beam. `on_edge` runs in the interrupt: it makes no object and keeps the first edge since `take`."""

    def __init__(self, kind, number, is_hard):
        self._opened = 1 if kind == "button" else 0  # what the pin reads while nothing happens; a beam: light
        self.pin = machine.Pin(number, machine.Pin.IN, machine.Pin.PULL_UP)
        self.level = self.pin.value()
        self.known = self.level
        self.first = 0
        self.last = 0
        self.is_new = False
        self._handler = self.on_edge
        both = machine.Pin.IRQ_FALLING | machine.Pin.IRQ_RISING
        if is_hard:
            self.pin.irq(self._handler, both, hard=True)
        else:
            self.pin.irq(self._handler, both)

    def on_edge(self, pin):
        """First thing: what time is it."""
        now = ticks_us()
        level = pin.value()
        if level == self.level:
            return
        self.level = level
        self.last = now
        if not self.is_new:
            self.first = now
            self.is_new = True

    def take(self, b, clock, found):
        """Add (us, input, value) of what it did since the last time."""
        if not self.is_new:
            return
        state = machine.disable_irq()
        first, last, level = self.first, self.last, self.level
        self.is_new = False
        machine.enable_irq(state)
        moved = self._opened if self.known != self._opened else 1 - self._opened
        found.append((clock.of(first), b, int(moved != self._opened)))
        if level == self.known:  # it came and went
            found.append((clock.of(last), b, int(level != self._opened)))
        self.known = level


class Piezo:
    """A piezo, looked at in each turn of the loop."""

    def __init__(self, number, threshold):
        self._adc = machine.ADC(machine.Pin(number))
        self._threshold = threshold

    def take(self, b, clock, found):
        """Add (us, input, value) when it is over its threshold now."""
        value = self._adc.read_u16() >> 6
        if value >= self._threshold:
            found.append((clock.now(), b, value))


class Light:
    """A light that is on while its pin is high."""

    def __init__(self, number):
        self._pin = machine.Pin(number, machine.Pin.OUT, value=0)

    def show(self, level):
        """1 or 0."""
        self._pin.value(level)


class Buzzer:
    """A passive buzzer."""

    def __init__(self, number):
        self._pin = machine.Pin(number, machine.Pin.OUT, value=0)
        self._pwm = None

    def show(self, hz):
        """What it sounds from now on, 0 is silence."""
        if self._pwm is not None:
            self._pwm.deinit()
            self._pwm = None
            self._pin.init(machine.Pin.OUT, value=0)
        if hz:
            self._pwm = machine.PWM(self._pin)
            self._pwm.freq(hz)
            self._pwm.duty_u16(32768)


class Board:
    """All of it, by the lists of a board's file."""

    def __init__(self, board):
        self.clock = Clock()
        self._inputs = []
        for kind, _, number in board.INPUTS:
            if kind in ("button", "beam"):
                self._inputs.append(Contact(kind, number, board.HAS_HARD_INTERRUPTS))
            else:
                self._inputs.append(Piezo(number, board.THRESHOLD))
        self._outputs = [
            Light(number) if kind == "led" else Buzzer(number) for kind, _, number in board.OUTPUTS
        ]
        self._shown = [0] * len(self._outputs)

    def happened(self):
        """(us, input, value) since the last time, in the order of time."""
        found = []
        for b, sensor in enumerate(self._inputs):
            sensor.take(b, self.clock, found)
        if len(found) > 1:
            now = self.clock.now()
            found.sort(key=lambda entry: -((now - entry[0]) & _U32))
        return found

    def show(self, pad):
        """Bring the outputs to what the pad's core says."""
        now = self.clock.now()
        for b, output in enumerate(self._outputs):
            level = pad.level(now, b)
            if level != self._shown[b]:
                self._shown[b] = level
                output.show(level)
