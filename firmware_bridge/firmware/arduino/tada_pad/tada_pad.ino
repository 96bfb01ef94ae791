// A pad of tada/1 on an AVR board. pad_config.h says what hangs on it, docs/hardware.md how to wire and flash it.
#include "board.h"
#include "tada_core.h"

namespace {

#define TEXT(name, text) const char name[] PROGMEM = text
TEXT(ID, PAD_ID);
TEXT(FIRMWARE, "arduino 1");
TEXT(BOARD, BOARD_NAME);
TEXT(BUTTON_1, "button 1");
TEXT(BUTTON_2, "button 2");
TEXT(BUTTON_3, "button 3");
TEXT(BUTTON_4, "button 4");
TEXT(BUTTON_5, "button 5");
TEXT(BUTTON_6, "button 6");
TEXT(BEAM_NAME, "beam");
TEXT(PIEZO_1, "piezo 1");
TEXT(PIEZO_2, "piezo 2");
TEXT(PIEZO_3, "piezo 3");
TEXT(TOWER_NAME, "tower");
TEXT(LED_1, "light 1");
TEXT(LED_2, "light 2");
TEXT(LED_3, "light 3");
TEXT(LED_4, "light 4");
TEXT(LED_5, "light 5");
TEXT(LED_6, "light 6");
TEXT(BUZZER_NAME, "buzzer");

const char *const BUTTONS[] = {BUTTON_1, BUTTON_2, BUTTON_3, BUTTON_4, BUTTON_5, BUTTON_6};
const char *const PIEZOS[] = {PIEZO_1, PIEZO_2, PIEZO_3};
const char *const LIGHTS[] = {LED_1, LED_2, LED_3, LED_4, LED_5, LED_6};

const uint32_t BAUD = 115200;  // 921 600 is none of a 16 MHz board's speeds
const uint8_t INPUTS = DIGITAL + ANALOG;
const uint8_t OUTPUTS = PAD_LEDS + PAD_BUZZER;
static_assert(INPUTS <= tada::MAX_INPUTS && OUTPUTS <= tada::MAX_OUTPUTS, "a pad has at most 8 inputs and 8 outputs");
const uint8_t BUTTON_LATENCY_US = 40;  // from a pin's edge to its stamp; 11 were seen on a simulated board
const uint16_t PIEZO_LATENCY_US = 100 + 80 * ANALOG;
#if defined(USBCON)
const uint16_t WIRE_US = 0;  // USB is faster than it can be told
#else
const uint16_t WIRE_US = 256 * 10 * (1000000 / 1000) / (BAUD / 1000);
#endif

tada::Input inputs[INPUTS];
tada::Output outputs[OUTPUTS ? OUTPUTS : 1];

// Bytes wait here while a line goes out, because the board's own buffer holds no more than 64.
const uint8_t STAGE = 128;  // a power of two
char staged[STAGE];
uint8_t staged_from, staged_to;
uint32_t dropped;

void stage() {
#if defined(SERIAL_RX_BUFFER_SIZE)
    if (Serial.available() >= SERIAL_RX_BUFFER_SIZE - 1) ++dropped;
#endif
    while (Serial.available() && (staged_to + 1) % STAGE != staged_from) {
        staged[staged_to] = static_cast<char>(Serial.read());
        staged_to = (staged_to + 1) % STAGE;
    }
}

bool is_stuck;  // nobody takes what is sent

void put(void *, char c) {
    const uint32_t began_ms = millis();
    while (!Serial.availableForWrite()) {
        stage();
        if (is_stuck || millis() - began_ms > 50) {
            is_stuck = true;
            return;
        }
        board_rest();
    }
    is_stuck = false;
    Serial.write(c);
}

tada::Config config() {
    uint8_t b = 0;
    for (uint8_t k = 0; k != PAD_BUTTONS; ++k) inputs[b++] = {tada::BUTTON, BUTTONS[k]};
    if (PAD_BEAM) inputs[b++] = {tada::BEAM, BEAM_NAME};
    for (uint8_t k = 0; k != PAD_PIEZOS; ++k) inputs[b++] = {tada::PIEZO, PIEZOS[k]};
    if (PAD_TOWER) inputs[b++] = {tada::TOWER, TOWER_NAME};
    b = 0;
    for (uint8_t k = 0; k != PAD_LEDS; ++k) outputs[b++] = {false, LIGHTS[k]};
    if (PAD_BUZZER) outputs[b++] = {true, BUZZER_NAME};
    return {ID, FIRMWARE, BOARD, board_boot_number(), 4, ANALOG ? PIEZO_LATENCY_US : BUTTON_LATENCY_US, WIRE_US,
            inputs, INPUTS, outputs, OUTPUTS};
}

tada::Pad &pad() {
    static tada::Pad only(config(), {put, nullptr});
    return only;
}

struct Happened {
    uint32_t us;
    uint16_t value;
    uint8_t b;
};

Happened happened[2 * INPUTS];
uint8_t happened_count;
bool known[INPUTS];
uint16_t shown[OUTPUTS ? OUTPUTS : 1];

// Kept in the order of time.
void note(uint32_t us, uint8_t b, uint16_t value) {
    uint8_t at = happened_count++;
    for (; at && static_cast<int32_t>(happened[at - 1].us - us) > 0; --at) happened[at] = happened[at - 1];
    happened[at] = {us, value, b};
}

// What is pressed while the power comes on is no slam, neither then nor when it is let go.
void begin() {
    board_begin();
    for (uint8_t b = 0; b != DIGITAL; ++b) board_edges(b, &known[b]);
}

void feel() {
    happened_count = 0;
    for (uint8_t b = 0; b != DIGITAL; ++b) {
        bool is_closed = false;
        const Noted noted = board_edges(b, &is_closed);
        if (!noted.is_new) continue;
        note(noted.first_us, b, !known[b]);
        if (is_closed == known[b]) note(noted.last_us, b, known[b]);  // it came and went
        known[b] = is_closed;
    }
    for (uint8_t k = 0; k != ANALOG; ++k) {
        const Noted noted = board_samples(k);
        if (!noted.is_new) continue;
        note(noted.first_us, DIGITAL + k, noted.peak);
        if (noted.last_us != noted.first_us) note(noted.last_us, DIGITAL + k, noted.peak);
    }
    for (uint8_t k = 0; k < happened_count; ++k) {
        const Happened &entry = happened[k];
        if (entry.b < DIGITAL) {
            pad().edge(entry.us, entry.b, entry.value != 0);
        } else {
            pad().sample(entry.us, entry.b, entry.value);
        }
    }
}

void show() {
    const uint32_t now_us = micros();
    uint16_t levels[OUTPUTS ? OUTPUTS : 1];
    // All of them first, so that they change as one.
    for (uint8_t b = 0; b != OUTPUTS; ++b) levels[b] = pad().level(now_us, b);
    for (uint8_t b = 0; b != OUTPUTS; ++b) {
        if (levels[b] == shown[b]) continue;
        shown[b] = levels[b];
        if (outputs[b].is_sound) {
            board_sound(levels[b]);
        } else {
            board_light(b, levels[b] != 0);
        }
    }
}

}  // namespace

void setup() {
    Serial.begin(BAUD);
    pad();
    begin();  // what is pressed while it says hello is noted already
    pad().start(micros());
}

void loop() {
    static uint8_t last_ms;
    board_sleep();
    stage();
    const uint32_t heard_us = micros();  // every edge before it is noted by now
    bool is_due = board_take_news();
    if (is_due) feel();
    while (staged_from != staged_to) {
        const char c = staged[staged_from];
        staged_from = (staged_from + 1) % STAGE;
        pad().hear(heard_us, c);
        if (c != '\n') continue;
        is_due = true;
        break;
    }
    const uint8_t now_ms = static_cast<uint8_t>(millis());
    if (!is_due && now_ms == last_ms) return;
    last_ms = now_ms;
    pad().overflows = dropped;
    pad().finish(micros());
    show();
}
