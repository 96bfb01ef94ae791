#include "board.h"

#include <EEPROM.h>
#include <avr/sleep.h>
#include <util/atomic.h>

namespace {

volatile Noted edges[DIGITAL ? DIGITAL : 1];
volatile uint8_t levels;  // a bit for each place, 1: closed or broken
volatile bool has_news;

#if PAD_BEAM
const uint8_t BEAM_FLIP = 1 << (DIGITAL - 1);  // light pulls its pin low, so a broken beam reads high
#else
const uint8_t BEAM_FLIP = 0;
#endif
const uint8_t PLACES = (1 << DIGITAL) - 1;
const uint8_t LEDS[] = LED_PINS;

Noted take(volatile Noted &noted) {
    const Noted found = {noted.first_us, noted.last_us, noted.peak, noted.is_new};
    noted.is_new = false;
    return found;
}

inline uint8_t read_levels() {
    return (~(BUTTON_PIN >> BUTTON_BIT) ^ BEAM_FLIP) & PLACES;
}

#if PAD_PIEZOS + PAD_TOWER
volatile Noted samples[ANALOG];
volatile uint8_t channel;
#endif

}  // namespace

#if PAD_BUTTONS + PAD_BEAM
// As short as it can be: which inputs changed, and when.
ISR(BUTTON_VECTOR) {
    const uint32_t now_us = micros();
    const uint8_t now = read_levels();
    uint8_t changed = now ^ levels;
    levels = now;
    for (uint8_t place = 0; changed; ++place, changed >>= 1) {
        if (!(changed & 1)) continue;
        volatile Noted &noted = edges[place];
        noted.last_us = now_us;
        if (noted.is_new) continue;
        noted.first_us = now_us;
        noted.is_new = true;
        has_news = true;
    }
}
#endif

#if PAD_PIEZOS + PAD_TOWER
// A conversion takes 52 us. The channels take turns.
ISR(ADC_vect) {
    const uint16_t value = ADC;
    volatile Noted &noted = samples[channel];
    if (++channel == ANALOG) channel = 0;
    ADMUX = _BV(REFS0) | ADC_CHANNEL(channel);
    ADCSRA |= _BV(ADSC);
    if (value < PAD_THRESHOLD) return;
    const uint32_t now_us = micros();
    noted.last_us = now_us;
    if (noted.is_new) {
        if (value > noted.peak) noted.peak = value;
        return;
    }
    noted.first_us = now_us;
    noted.peak = value;
    noted.is_new = true;
    has_news = true;
}
#endif

void board_begin() {
    for (uint8_t place = 0; place != PAD_LEDS; ++place) pinMode(LEDS[place], OUTPUT);
#if PAD_BUZZER
    pinMode(BUZZER_PIN, OUTPUT);
#endif
#if PAD_BUTTONS + PAD_BEAM
    BUTTON_PORT |= PLACES << BUTTON_BIT;  // pull-ups
    delayMicroseconds(50);
    levels = read_levels();
    BUTTON_MASK |= PLACES << BUTTON_BIT;
    PCICR |= BUTTON_ENABLE;
#endif
#if PAD_PIEZOS + PAD_TOWER
    ADMUX = _BV(REFS0) | ADC_CHANNEL(0);
    ADCSRA = _BV(ADEN) | _BV(ADIE) | _BV(ADPS2) | _BV(ADPS1) | _BV(ADSC);
#endif
}

Noted board_edges(uint8_t place, bool *is_closed) {
    Noted found;
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE) {
        found = take(edges[place]);
        *is_closed = levels >> place & 1;
    }
    return found;
}

Noted board_samples(uint8_t place) {
#if PAD_PIEZOS + PAD_TOWER
    Noted found;
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE) { found = take(samples[place]); }
    return found;
#else
    (void)place;
    return Noted();
#endif
}

void board_sleep() {
    set_sleep_mode(SLEEP_MODE_IDLE);
    cli();
    if (!has_news && !Serial.available()) {
        sleep_enable();
        sei();  // takes effect after the next instruction, so nothing slips in between
        sleep_cpu();
        sleep_disable();
    }
    sei();
}

void board_rest() {
    set_sleep_mode(SLEEP_MODE_IDLE);
    sleep_mode();
}

bool board_take_news() {
    // Noted between a look and a write, it would be wiped out; noted after this write, it is felt now and asked for again.
    if (!has_news) return false;
    has_news = false;
    return true;
}

// New at each start: a counter in the EEPROM, stirred with what the clock and an open analog pin happen to be.
uint32_t board_boot_number() {
    uint32_t starts = 0;
    EEPROM.get(0, starts);
    EEPROM.put(0, ++starts);
    uint32_t mixed = starts * 2654435769UL;
    for (uint8_t k = 0; k < 16; ++k) mixed = (mixed << 5 | mixed >> 27) ^ analogRead(A4) ^ micros() << 16;
    return mixed;
}

void board_light(uint8_t place, bool is_on) { digitalWrite(LEDS[place], is_on ? HIGH : LOW); }

void board_sound(uint16_t hz) {
    if (hz) {
        tone(BUZZER_PIN, hz);
    } else {
        noTone(BUZZER_PIN);
    }
}
