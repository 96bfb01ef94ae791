#include "tada_line.h"

namespace tada {

uint32_t crc_of(uint32_t crc, char byte) {
    // By half bytes: a table of 1 KB would be a thirtieth of the flash.
    static const uint32_t TABLE[16] PROGMEM = {
        0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
        0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
    };
    crc ^= static_cast<uint8_t>(byte);
    for (uint8_t half = 0; half < 2; ++half) crc = pgm_read_dword(&TABLE[crc & 15]) ^ crc >> 4;
    return crc;
}

namespace {

const uint8_t POWER_COUNT = 9;
const uint32_t POWERS[POWER_COUNT] PROGMEM = {1000000000, 100000000, 10000000, 1000000, 100000, 10000, 1000, 100, 10};

}  // namespace

uint8_t digits_of(uint32_t value) {
    uint8_t count = POWER_COUNT + 1;
    for (uint8_t k = 0; k < POWER_COUNT && value < pgm_read_dword(&POWERS[k]); ++k) --count;
    return count;
}

Line::Line(const Sink &sink, const char *type) : sink_(sink), crc_(0xFFFFFFFF), is_first_(true) {
    put('{');
    text(PSTR("t"), type);
}

// By subtraction: an AVR divides so slowly that a line of numbers would wait for it.
void Line::number(const char *name, uint32_t value) {
    key(name);
    bool is_begun = false;
    for (uint8_t k = 0; k < POWER_COUNT; ++k) {
        const uint32_t power = pgm_read_dword(&POWERS[k]);
        char digit = '0';
        for (; value >= power; value -= power) ++digit;
        is_begun = is_begun || digit != '0';
        if (is_begun) put(digit);
    }
    put(static_cast<char>('0' + value));
}

void Line::text(const char *name, const char *value) {
    key(name);
    put('"');
    flash(value);
    put('"');
}

void Line::digits(const char *name, const char *value) {
    key(name);
    while (*value) put(*value++);
}

void Line::open(const char *name) {
    key(name);
    put('{');
    is_first_ = true;
}

void Line::close() { put('}'); }

void Line::end() {
    put('}');
    const uint32_t crc = ~crc_;
    put_raw('*');
    for (int8_t shift = 28; shift >= 0; shift -= 4) {
        const uint8_t digit = crc >> shift & 15;
        put_raw(static_cast<char>(digit < 10 ? '0' + digit : 'A' + digit - 10));
    }
    put_raw('\n');
}

void Line::key(const char *name) {
    if (!is_first_) put(',');
    is_first_ = false;
    put('"');
    flash(name);
    put('"');
    put(':');
}

void Line::flash(const char *text) {
    while (const char c = static_cast<char>(pgm_read_byte(text))) {
        put(c);
        ++text;
    }
}

void Line::put(char c) {
    crc_ = crc_of(crc_, c);
    put_raw(c);
}

void Line::put_raw(char c) { sink_.put(sink_.context, c); }

}  // namespace tada
