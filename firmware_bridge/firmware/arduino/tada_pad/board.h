// Pins and interrupts of the AVR boards. See docs/hardware.md for the wiring.
#ifndef BOARD_H
#define BOARD_H

#include <Arduino.h>

#include "pad_config.h"

// Buttons and the beam share one port, so that one interrupt sees them all and equal instants get equal stamps.
#if defined(__AVR_ATmega328P__)  // Uno, Nano: D2 to D7
#define BOARD_NAME "uno"
#define BUTTON_PIN PIND
#define BUTTON_PORT PORTD
#define BUTTON_MASK PCMSK2
#define BUTTON_ENABLE _BV(PCIE2)
#define BUTTON_VECTOR PCINT2_vect
#define BUTTON_BIT 2
#define BUTTON_PLACES 6
#define LED_PINS {8, 9, 10, 11, 12, 13}
#define LED_PLACES 6
#define ADC_CHANNEL(k) (k)
#elif defined(__AVR_ATmega32U4__)  // Leonardo: D8 to D11
#define BOARD_NAME "leonardo"
#define BUTTON_PIN PINB
#define BUTTON_PORT PORTB
#define BUTTON_MASK PCMSK0
#define BUTTON_ENABLE _BV(PCIE0)
#define BUTTON_VECTOR PCINT0_vect
#define BUTTON_BIT 4
#define BUTTON_PLACES 4
#define LED_PINS {4, 5, 6, 12}
#define LED_PLACES 4
#define ADC_CHANNEL(k) (7 - (k))
#else
#error "this board is not known: use an Uno, a Nano or a Leonardo, or add its pins here"
#endif

#define BUZZER_PIN A5

static_assert(PAD_BUTTONS + PAD_BEAM <= BUTTON_PLACES, "there are not so many places for buttons and a beam");
static_assert(PAD_PIEZOS <= 3 && PAD_LEDS <= LED_PLACES, "there are not so many pins for piezos or lights");
static_assert(PAD_BUTTONS + PAD_BEAM + PAD_PIEZOS + PAD_TOWER > 0, "a pad needs an input");

const uint8_t DIGITAL = PAD_BUTTONS + PAD_BEAM;   // inputs with edges, first in the hello
const uint8_t ANALOG = PAD_PIEZOS + PAD_TOWER;    // inputs with samples, after them

// What an interrupt noted of one input since it was taken last: a press that comes and goes in between is not lost.
struct Noted {
    uint32_t first_us;
    uint32_t last_us;
    uint16_t peak;
    bool is_new;
};

void board_begin();
void board_sleep();      // until the next interrupt, unless there is something new already; at most a millisecond
void board_rest();       // until the next interrupt
bool board_take_news();  // did an input move since this was asked last?
Noted board_edges(uint8_t place, bool *is_closed);  // takes what was noted of a button or the beam, and its level now
Noted board_samples(uint8_t channel);                // the same of a piezo: first and last sample, and the highest one
uint32_t board_boot_number();
void board_light(uint8_t place, bool is_on);
void board_sound(uint16_t hz);

#endif
