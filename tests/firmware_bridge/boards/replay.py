"""Plays traces (firmware_traces.py says their form) on the MicroPython core. Runs on MicroPython and CPython alike."""

import binascii

from tada_pad import Pad

_U32 = 0xFFFFFFFF


def replay(text: str) -> str:
    """What the core says to the traces."""
    out = []
    head, inputs, outputs, levels = [], [], [], []
    pad, key, happened, heard = None, None, [], b""
    for line in text.split("\n"):
        word, *rest = line.split(" ")
        if word == "pad":
            head, inputs, outputs, key, happened, heard = rest, [], [], None, [], b""
        elif word in ("in", "out"):
            (inputs if word == "in" else outputs).append((rest[0], rest[1]))
        elif word == "key":
            key = binascii.unhexlify(rest[0])
        elif word == "start":
            boot, tick, st, wire, radio = [int(number) for number in head[1:]]
            pad = Pad(
                head[0], inputs, outputs, boot, fw="trace", hw="trace", tick=tick, st=st, wire_us=wire,
                has_radio=bool(radio),
            )  # fmt: skip
            pad.is_on_radio = bool(radio)
            pad.key = key
            levels = [0] * len(outputs)
            out += [said.decode()[:-1] for said in pad.start(int(rest[0]) & _U32)]
        elif word == "i":
            happened.append((int(rest[0]) & _U32, int(rest[1]), int(rest[2])))
        elif word == "d":
            heard += binascii.unhexlify(rest[0])
        elif word == "step":
            us = int(rest[0]) & _U32
            out += [said.decode()[:-1] for said in pad.step(us, happened, heard)]
            happened, heard = [], b""
            for b, was in enumerate(levels):
                levels[b] = pad.level(us, b)
                if levels[b] != was:
                    out.append("~ %d %d" % (b, levels[b]))
            out.append(".")
        elif word == "end":
            out.append("end")
    out.append("")
    return "\n".join(out)
