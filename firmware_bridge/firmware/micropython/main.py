"""Starts the pad. MicroPython runs this file when the board starts."""

import micropython
from tada_main import made

micropython.alloc_emergency_exception_buf(100)
micropython.kbd_intr(-1)  # a byte 3 on the line is noise, not an order to stop
pad = made()
while True:
    pad.once()
