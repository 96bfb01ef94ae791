"""Pins of an ESP32 development board. Change them here to what you wired; docs/hardware.md has the picture.

Inputs: (kind, name, pin); a button closes its pin to ground, a beam's pin is low while light falls. A piezo or tower
sits on an ADC pin (32 to 39: the others do not convert while Wi-Fi is on). Outputs: (kind, name, pin).
"""

NAME = "esp32"
INPUTS = [
    ("button", "button", 27),
]
OUTPUTS = [
    ("led", "light", 26),
    ("snd", "buzzer", 25),
]
HAS_HARD_INTERRUPTS = False  # its interrupts wait until the interpreter has time for them
THRESHOLD = 60  # of 1023: from here on a piezo was struck
# The longest time in us from an edge to its stamp. Nobody measured this board; put the number here if you did.
STAMP_US = 10000
