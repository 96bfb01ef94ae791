// What lights and buzzers can play; the numbers of PROTOCOL.md.
#ifndef TADA_PATTERNS_H
#define TADA_PATTERNS_H

#include "tada_core.h"

namespace tada {

const uint8_t MAX_TONES = 5;

struct Tone {
    uint16_t hz;
    uint16_t ms;
};

struct Shape {
    char name[12];
    uint8_t flashes;
    uint8_t rounds;
    uint16_t on_ms;
    uint16_t off_ms;
    uint16_t pause_ms;
    Tone tones[MAX_TONES];
};

const uint8_t SHAPE_COUNT = 16;
extern const Shape SHAPES[SHAPE_COUNT];  // in flash

}  // namespace tada

#endif
