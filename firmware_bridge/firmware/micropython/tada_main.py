"""Joins a board, the pad's core and the ways to the host. Runs on boards only."""

import binascii
import os
import select
import sys

import pad_settings
from tada_board import Board
from tada_pad import Pad

_KEY_FILE = "pad_key.txt"
_CABLE_COUNTS_US = 3000000  # a host that was heard on the cable so lately is there
_CHUNK = 256


class Cable:
    """The board's USB or serial console."""

    def __init__(self):
        self._in = sys.stdin.buffer
        self._out = sys.stdout.buffer
        self._poll = select.poll()
        self._poll.register(sys.stdin, select.POLLIN)

    def read(self):
        """The bytes that came, none when none did."""
        data = b""
        while len(data) < _CHUNK and self._poll.poll(0):
            data += self._in.read(1)
        return data

    def write(self, lines):
        """Send lines."""
        for line in lines:
            self._out.write(line)


class Runner:
    """One turn after another: what came, what happened, what is to be said and shown.

    It talks and hears over the cable while a host is heard there, and is not at the broker then; else over the radio.
    The cable is looked at in each turn, however the radio fares: a turn stands still for `tada_radio` at most.
    """

    def __init__(self, pad, board, cable, radio):
        self.pad = pad
        self._board = board
        self._cable = cable
        self._radio = radio
        self._heard_us = None
        self._say(pad.start(board.clock.now()))

    def once(self):
        """One turn."""
        clock, pad = self._board.clock, self.pad
        data = self._cable.read()
        now = clock.now()
        if self._heard_us is not None and (now - self._heard_us) & 0xFFFFFFFF > _CABLE_COUNTS_US:
            self._heard_us = None
        # What is stamped before the bytes came is in what happened: that is asked for after them.
        if data:
            pad.is_on_radio = False
            before = pad.ears.frames
            lines = pad.step(now, self._board.happened(), data)
            if pad.ears.frames != before:
                self._heard_us = now
            self._say(lines)
            if pad.is_key_new:
                keep_key(pad.key)
                pad.is_key_new = False
        pad.is_on_radio = self._radio is not None and self._heard_us is None
        heard = b""
        if pad.is_on_radio:
            heard = self._radio.read()
        elif self._radio is not None:
            self._radio.leave()  # a broker that does not answer must not make a pad on its cable stand still
        now = clock.now()
        self._say(pad.step(now, self._board.happened(), heard))
        self._board.show(pad)

    def _say(self, lines):
        if self.pad.is_on_radio:
            self._radio.write(lines)
        else:
            self._cable.write(lines)


def kept_key():
    """The key of the last pairing, None when there was none."""
    try:
        with open(_KEY_FILE) as file:
            return binascii.unhexlify(file.read().strip())
    except (OSError, ValueError):
        return None


def keep_key(key):
    """Keep it over restarts."""
    with open(_KEY_FILE, "w") as file:
        file.write(binascii.hexlify(key).decode())


def made():
    """The pad that `pad_settings` and the board's file describe."""
    board = __import__("board_" + pad_settings.BOARD)
    inputs = [(kind, name) for kind, name, _ in board.INPUTS]
    outputs = [(kind, name) for kind, name, _ in board.OUTPUTS]
    boot = int.from_bytes(os.urandom(4), "big")
    radio = None
    if pad_settings.WIFI:
        from tada_radio import Radio  # noqa: PLC0415  # needs umqtt, which a pad on a cable has not

        radio = Radio(pad_settings)
    pad = Pad(
        pad_settings.ID, inputs, outputs, boot, hw=board.NAME, st=board.STAMP_US, has_radio=radio is not None
    )
    pad.key = kept_key()
    if radio is not None:
        radio.pad = pad
    return Runner(pad, Board(board), Cable(), radio)
