"""What lights and buzzers can play; the numbers of PROTOCOL.md.

Each: (flashes, on ms, off ms, pause ms, rounds, ((Hz, ms), ...)).
"""

SHAPES = {
    "off": (0, 0, 0, 0, 1, ()),
    "find": (10, 200, 200, 0, 1, ((988, 100), (0, 100), (988, 100))),
    "ready": (1, 150, 0, 0, 1, ((660, 80),)),
    "countdown": (1, 300, 0, 0, 1, ((440, 120),)),
    "go": (1, 1500, 0, 0, 1, ((880, 500),)),
    "stop": (3, 200, 200, 0, 1, ((330, 200), (0, 80), (247, 400))),
    "false_start": (2, 150, 250, 0, 1, ((247, 150), (0, 60), (247, 150))),
    "slam": (1, 200, 0, 0, 1, ((196, 100),)),
    "place_1": (1, 600, 0, 900, 3, ((523, 120), (659, 120), (784, 300))),
    "place_2": (2, 250, 250, 900, 3, ((523, 120), (659, 300))),
    "place_3": (3, 250, 250, 900, 3, ((523, 300),)),
    "dead_heat": (10, 250, 250, 0, 1, ((523, 100), (0, 60), (523, 100), (0, 60), (523, 100))),
    "void": (4, 100, 300, 0, 1, ((392, 150), (294, 300))),
    "breach": (6, 100, 300, 0, 1, ((311, 120), (277, 300))),
    "end": (1, 1000, 0, 0, 1, ((392, 200), (330, 200), (262, 400))),
    "win": (1, 5000, 0, 0, 1, ((523, 120), (659, 120), (784, 120), (1047, 500))),
}


def lit(name: str, since_us: int) -> int:
    """1 while a light that plays the pattern is on."""
    flashes, on_ms, off_ms, pause_ms, rounds, _ = SHAPES[name]
    flash_us = (on_ms + off_ms) * 1000
    round_us = flashes * flash_us + pause_ms * 1000
    if since_us >= round_us * rounds:
        return 0
    into_us = since_us % round_us
    return 1 if into_us < flashes * flash_us and into_us % flash_us < on_ms * 1000 else 0


def tone(name: str, since_us: int) -> int:
    """What a buzzer that plays the pattern sounds, in Hz; 0 is silence."""
    until_us = 0
    for hz, ms in SHAPES[name][5]:
        until_us += ms * 1000
        if since_us < until_us:
            return hz
    return 0
