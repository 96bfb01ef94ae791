// What this pad is. Edit here, then flash.
#ifndef PAD_CONFIG_H
#define PAD_CONFIG_H

// Its name on the table: 1 to 24 of a-z, 0-9 and -, another one for each board.
#ifndef PAD_ID
#define PAD_ID "pads"
#endif

// How many of each hang on it; docs/hardware.md has the pins. Buttons take the first places of the button port, a beam
// takes the last one. Piezos (slammed by players) take the first analog pins, a tower's piezo the one after them. Eight inputs together
// at most.
#ifndef PAD_BUTTONS
#define PAD_BUTTONS 6  // 0 to 6 on Uno and Nano, 0 to 4 on Leonardo; one fewer with a beam
#endif
#ifndef PAD_BEAM
#define PAD_BEAM 0  // 1: dice fall through a light beam
#endif
#ifndef PAD_PIEZOS
#define PAD_PIEZOS 0  // 0 to 3
#endif
#ifndef PAD_TOWER
#define PAD_TOWER 0  // 1: a piezo on a tower
#endif
#ifndef PAD_LEDS
#define PAD_LEDS 6  // 0 to 6 on Uno and Nano, 0 to 4 on Leonardo
#endif
#ifndef PAD_BUZZER
#define PAD_BUZZER 1  // 1: a passive buzzer
#endif

// From here on (of 1023) a piezo was struck.
#ifndef PAD_THRESHOLD
#define PAD_THRESHOLD 60
#endif

#endif
