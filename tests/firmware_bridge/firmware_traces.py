"""Shared traces: what happens to a pad, and what the model of the firmware says to it.

A trace is text, one thing a line, that the C++ and the MicroPython replayers read too:

    pad ID BOOT TICK ST WIRE_US RADIO    a new pad (RADIO 1: all it hears and says goes over a network)
    in KIND NAME  /  out KIND NAME       its ports
    key HEX                              its key
    start US                             it starts
    i US B VALUE                         an input did something
    d HEX                                bytes came; they are heard in the next step
    step US                              a step; what was said and what outputs changed to goes out
    end

What comes back: the lines it said, ``~ B LEVEL`` for each output that changed, ``.`` at the end of each step. Times are
unwrapped microseconds.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

from companion.core.cue import SHAPES
from firmware_bridge.firmware_model import FirmwareModel
from firmware_bridge.framing import wrap

SEED = 20_261
COUNT = 200
KEY = bytes(range(16))
WRAP_US = 2**32
_HOSTILE = (
    '{"t":"sync","id":1}', '{"t":"sync","id":4294967296,"h":1}', '{"t":"sync","id":-1,"h":1}',
    '{"t":"sync","id":1,"h":10000000000}', '{"t":"sync","id":1,"h":"7"}', '{"t":"sync","id":1.5,"h":7}',
    '{"t":"ack"}', '{"t":"ack","n":true}', '{"t":"ack","n":1,"n":2}', '{"t":"nak","n":"x"}',
    '{"t":"nak","reason":7}',
    '{"t":"who"}',
    '{"t":"who","p":1}', '{"t":"who","p":[256]}', '{"t":"who","p":[1,2,3,4,5,6,7,8,9]}',
    '{"t":"who","p":["1"]}', '{"t":"arm","rd":1,"mask":3}', '{"t":"arm","rd":1,"mask":3,"at":4294967296}',
    '{"t":"led","b":32,"pattern":"go"}', '{"t":"led","b":0}', '{"t":"led","b":0,"pattern":"Go"}',
    '{"t":"led","b":0,"pattern":""}', '{"t":"led","b":0,"pattern":"aaaaaaaaaaaaaaaaa"}',
    '{"t":"snd","b":0,"pattern":7}',
    '{"t":"led","b":0,"pattern":"go","at":"soon"}', '{"t":"dn","b":0,"n":1,"us":1}', '{"t":"hello"}', '{"t":7}', "{}",
    '{"n":1}', '{"t":null}', '{"t":"key","n":0,"k":"00000000000000000000000000000000"}', '{"t":"key","n":1,"k":"00"}',
    '{"t":"key","n":1,"k":"0000000000000000000000000000000G"}', '{"t":"ack","n":1,"x":' + "[" * 20 + "]" * 20 + "}",
)  # fmt: skip
# Times around which the firmware changes its mind.
_EDGES_US = (
    199, 200, 201, 1_999, 2_000, 2_001, 4_999, 5_000, 5_001, 29_999, 30_000, 30_001, 99_999, 100_000, 100_001,
)  # fmt: skip
_LATER = (
    '{"t":"dance"}', '{"t":"dance","b":{"c":[1,2,{"d":null}]},"e":-1.5e3}', '{"t":"sy"}', '{"t":"synchronise","id":1}',
)  # fmt: skip


def traces(count: int = COUNT, *, is_radio: bool = False) -> Iterator[str]:
    """Traces of pads of all kinds, the same ones in each run."""
    for k in range(count):
        yield _Scene(random.Random(SEED * 1_000 + k + is_radio * 500), is_radio=is_radio).text()


class _Scene:
    """One trace in the making."""

    def __init__(self, chance: random.Random, *, is_radio: bool) -> None:
        self._chance = chance
        kinds = chance.choice(
            (
                ["button"] * chance.randint(1, 6),
                ["tower", "beam"],
                ["piezo"] * chance.randint(1, 3),
                [chance.choice(("button", "piezo", "tower", "beam")) for _ in range(chance.randint(1, 8))],
            )
        )
        self._kinds = kinds
        self._outputs = [chance.choice(("led", "snd")) for _ in range(chance.randint(0, 4))]
        # Some clocks come round within the trace, some stand where a signed number would turn.
        self._us = chance.choice(
            (0, 5_000, WRAP_US - 300_000, WRAP_US // 2 - 300_000, chance.randrange(WRAP_US))
        )
        self._values = [0] * len(kinds)
        self._n = 0
        self._question = 0
        self._is_radio = is_radio
        pad = f"pad p-{chance.randrange(100)} {chance.randrange(WRAP_US)} {chance.choice((1, 1, 4))}"
        self._lines = [f"{pad} {chance.choice((20, 100))} {chance.choice((0, 22_222))} {int(is_radio)}"]
        self._lines += [f"in {kind} {kind}-{b}" for b, kind in enumerate(kinds)]
        self._lines += [f"out {kind} {kind}-{b}" for b, kind in enumerate(self._outputs)]
        if is_radio and chance.random() < 0.8:
            self._lines.append(f"key {KEY.hex()}")
        self._lines.append(f"start {self._us}")

    def text(self) -> str:
        for _ in range(self._chance.randint(8, 28)):
            self._happen()
        return "\n".join([*self._lines, "end", ""])

    def _happen(self) -> None:
        chance = self._chance
        end_us = self._us + chance.choice(
            (200, 900, 1_500, 6_000, 31_000, 90_000, 205_000, 1_000_000, 1_000_100)
        )
        done: list[tuple[int, int, int]] = []
        for _ in range(chance.choice((0, 0, 1, 1, 2))):
            done += self._done_to(chance.randrange(len(self._kinds)), end_us)
        for us, b, value in sorted(done, key=lambda entry: entry[0]):
            self._lines.append(f"i {us} {b} {value}")
        self._n += len(done)
        for data in self._said():
            self._lines.append(f"d {data.hex()}")
        self._us = end_us
        self._lines.append(f"step {end_us}")

    def _done_to(self, b: int, end_us: int) -> list[tuple[int, int, int]]:
        chance, kind = self._chance, self._kinds[b]
        us = chance.randint(self._us, end_us)
        if kind in ("piezo", "tower"):
            how = chance.random()
            if how < 0.3:
                after = [0, chance.choice(_EDGES_US)]
            elif how < 0.5:
                after = list(range(0, 45_000, 1_500))
            else:
                after = [0, *sorted(chance.randint(0, 6_000) for _ in range(chance.choice((0, 1, 8, 30))))]
            return [(min(us + after_us, end_us), b, chance.randint(20, 1023)) for after_us in after]
        self._values[b] ^= 1
        done = [(us, b, self._values[b])]
        for _ in range(chance.choice((0, 0, 1, 2, 6, 7))):  # an odd number stays otherwise than it began
            gap_us = chance.choice(_EDGES_US) if chance.random() < 0.35 else chance.randint(1, 3_000)
            us = min(us + gap_us, end_us)
            self._values[b] ^= 1
            done.append((us, b, self._values[b]))
        return done

    def _said(self) -> Iterator[bytes]:
        chance = self._chance
        data = b"".join(self._frame() for _ in range(chance.choice((0, 0, 0, 1, 1, 2, 4))))
        if chance.random() < 0.04:  # more than a pad keeps
            at = (self._us + 900_000) % WRAP_US
            shows = [
                f'{{"t":"led","b":0,"pattern":"{chance.choice(tuple(SHAPES))}","at":{at + k}}}'
                for k in range(20)
            ]
            data += b"".join(map(self._signed, shows))
        if chance.random() < 0.06:
            data += b"".join(self._signed(f'{{"t":"sync","id":{k},"h":{k}}}') for k in range(6))
        if not data:
            return
        if chance.random() < 0.3:  # in two portions, the second one perhaps never
            cut = chance.randrange(len(data))
            yield data[:cut]
            data = data[cut:]
            if chance.random() < 0.5:
                self._lines.append(f"step {self._us + 10}")
        yield data

    def _frame(self) -> bytes:
        chance = self._chance
        what = chance.random()
        if what < 0.05:
            noise = b"\n", b"\r\n", b"AT+GMM\r\n", b"\xff\x00{}\n", b"x" * 300 + b"\n", b"{" * 255 + b"\n"
            return chance.choice(noise)
        if what < 0.12:
            frame = bytearray(self._signed(self._command()))
            frame[chance.randrange(len(frame) - 1)] ^= 1 << chance.randrange(7)
            return bytes(frame)
        if what < 0.22:
            return self._signed(chance.choice(_HOSTILE))
        if what < 0.25:
            return self._signed(chance.choice(_LATER))
        frame = self._signed(self._command())
        return frame[:-1] + b"\r\n" if chance.random() < 0.1 else frame

    def _signed(self, body: str) -> bytes:
        how = self._chance.random()
        if not self._is_radio or how < 0.1:
            return wrap(body.encode())
        frame = wrap(body.encode(), KEY if how < 0.95 else b"another")
        return frame if self._chance.random() < 0.9 else frame[:-17] + frame[-17:].lower()

    def _command(self) -> str:
        chance = self._chance
        at = (self._us + chance.choice((-500_000, -10, 0, 300, 20_000, 400_000, 1_200_000))) % WRAP_US
        n = chance.choice((self._n, max(self._n - 1, 0), chance.randint(0, self._n + 2)))
        port = chance.randrange(len(self._outputs) + 1) if chance.random() < 0.95 else 31
        kind = self._outputs[port] if port < len(self._outputs) and chance.random() < 0.95 else "led"
        pattern = chance.choice((*SHAPES, "sparkle"))
        self._question += 1
        message = chance.choice(
            (
                {"t": "who", "p": chance.choice(([], [1], [2, 1]))},
                {"t": "sync", "id": self._question, "h": chance.choice((0, 7, chance.randrange(10**10), 10**10 - 1))},
                {"t": "sync", "id": WRAP_US - self._question, "h": chance.randrange(10**10)},
                {"t": "arm", "rd": self._question, "mask": chance.randrange(256), "at": at},
                {"t": kind, "b": port, "pattern": pattern, "at": at},
                {"t": kind, "b": port, "pattern": pattern},
                {"t": kind, "b": port, "pattern": pattern, "at": None},
                {"t": "ack", "n": n},
                {"t": "ack", "n": n},
                {"t": "nak", "n": n, "reason": "missing"},
                {"t": "nak"},
                {"t": "key", "n": self._question, "k": chance.randbytes(16).hex()},
            )
        )  # fmt: skip
        pairs = list(message.items())
        if chance.random() < 0.2:
            chance.shuffle(pairs)
        if chance.random() < 0.1:
            later = {"a": [1, 'b"}', -2.5e-3, None, {}, []], "t": "in"}
            pairs.insert(chance.randint(0, len(pairs)), ("x-later", later))
        separators = (", ", ": ") if chance.random() < 0.1 else (",", ":")
        return json.dumps(dict(pairs), separators=separators)


def told_by_model(trace: str) -> str:
    """What the model says to a trace."""
    out: list[str] = []
    head: list[str] = []
    inputs: list[tuple[str, str]] = []
    outputs: list[tuple[str, str]] = []
    model = FirmwareModel("none", (), (), boot=0)
    key: bytes | None = None
    said: list[bytes] = []
    heard: list[bytes] = []
    levels: list[int] = []
    for line in trace.splitlines():
        word, *rest = line.split(" ")
        if word == "pad":
            head, inputs, outputs, key, heard = rest, [], [], None, []
        elif word in ("in", "out"):
            (inputs if word == "in" else outputs).append((rest[0], rest[1]))
        elif word == "key":
            key = bytes.fromhex(rest[0])
        elif word == "start":
            boot, tick, st, wire, radio = map(int, head[1:])
            model = FirmwareModel(
                head[0], tuple(inputs), tuple(outputs), boot=boot, tick_us=tick, st_us=st, wire_us=wire, fw="trace",
                hw="trace", battery=None, has_radio=bool(radio), is_radio=bool(radio),
            )  # fmt: skip
            model.key = key
            levels = [0] * len(outputs)
            out += [said.decode().rstrip("\n") for said in model.first_lines(int(rest[0]))]
        elif word == "i":
            us, b, value = map(int, rest)
            is_sampled = inputs[b][0] in ("piezo", "tower")
            said += model.framed(
                model.sample(us, b, value) if is_sampled else model.edge(us, b, is_down=bool(value))
            )
        elif word == "d":
            heard.append(bytes.fromhex(rest[0]))
        elif word == "step":
            us = int(rest[0])
            for data in heard:
                said += model.take_bytes(us, data)
            said += model.finish(us)
            out += [line.decode().rstrip("\n") for line in said]
            said, heard = [], []
            for b, was in enumerate(levels):
                levels[b] = model.level(us, b)
                if levels[b] != was:
                    out.append(f"~ {b} {levels[b]}")
            out.append(".")
        elif word == "end":
            out.append("end")
    return "\n".join([*out, ""])
