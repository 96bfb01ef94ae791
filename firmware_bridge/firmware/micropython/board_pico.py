"""Pins of a Raspberry Pi Pico or Pico W. Change them here to what you wired; docs/hardware.md has the picture.

Inputs: (kind, name, pin); a button closes its pin to ground, a beam's pin is low while light falls. A piezo or tower
sits on an ADC pin. Outputs: (kind, name, pin).
"""

NAME = "pico"
INPUTS = [
    ("button", "button 1", 2),
    ("button", "button 2", 3),
    ("button", "button 3", 4),
    ("button", "button 4", 5),
    ("button", "button 5", 6),
    ("button", "button 6", 7),
]
OUTPUTS = [
    ("led", "light 1", 10),
    ("led", "light 2", 11),
    ("led", "light 3", 12),
    ("led", "light 4", 13),
    ("led", "light 5", 14),
    ("led", "light 6", 15),
    ("snd", "buzzer", 16),
]
HAS_HARD_INTERRUPTS = True
THRESHOLD = 60  # of 1023: from here on a piezo was struck
# The longest time in us from an edge to its stamp. Nobody measured this board; put the number here if you did.
STAMP_US = 10000
