// What the host says: bytes to lines to commands. Nothing that comes in can do more than be counted.
#include <string.h>

#include "tada_core.h"
#include "tada_line.h"
#include "tada_patterns.h"

namespace tada {

namespace {

enum Key : uint8_t { T, P, ID, H, RD, MASK, AT, B, PATTERN, N, REASON, K, KEYS };
const char KEY_NAMES[KEYS][8] PROGMEM = {"t",  "p", "id",      "h", "rd",     "mask",
                                         "at", "b", "pattern", "n", "reason", "k"};
const char ABSENT = 0, NUMBER = 'n', STRING = 's', LITERAL = 'l', ARRAY = '[';
const uint8_t MAX_BRACKETS = 16;
const uint8_t MAX_PORT = 31;
const uint8_t MAX_TOKEN_DIGITS = 10;
const uint8_t MAX_WORD = 16;
const uint8_t MAX_PROTOCOLS = 8;
const uint8_t KEY_DIGITS = 32;
const uint8_t CRC_DIGITS = 8;
const uint8_t NOT_HEX = 16;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

uint8_t hex_of(char c) {
    if (is_digit(c)) return static_cast<uint8_t>(c - '0');
    if (c >= 'A' && c <= 'F') return static_cast<uint8_t>(c - 'A' + 10);
    if (c >= 'a' && c <= 'f') return static_cast<uint8_t>(c - 'a' + 10);
    return NOT_HEX;
}

// Is this text of RAM the one in flash?
bool is_same(const char *text, uint8_t length, const char *flash) {
    for (uint8_t k = 0; k < length; ++k) {
        const char c = static_cast<char>(pgm_read_byte(flash + k));
        if (!c || c != text[k]) return false;
    }
    return !pgm_read_byte(flash + length);
}

}  // namespace

void Pad::hear(uint32_t now_us, char c) {
    advance(now_us);
    if (c == '\n') {
        if (!is_skipping_) {
            if (length_ && line_[length_ - 1] == '\r') --length_;
            if (length_) hear_line(now_us);
        }
        is_skipping_ = false;
        length_ = 0;
        return;
    }
    if (is_skipping_) return;
    if (!length_) {
        began_us_ = now_us;
        crc_ = 0xFFFFFFFF;
        star_ = MAX_LINE;
    }
    if (c == '*' && star_ == MAX_LINE) star_ = length_;
    if (star_ == MAX_LINE) crc_ = crc_of(crc_, c);
    line_[length_++] = c;
    if (length_ == MAX_LINE) {
        ++too_long_;
        is_skipping_ = true;
    }
}

void Pad::hear_line(uint32_t now_us) {
    bool is_ascii = true;
    for (uint16_t k = 0; k < length_; ++k) is_ascii = is_ascii && !(line_[k] & 0x80);
    if (!is_ascii || line_[0] != '{') {
        ++noise_;
        return;
    }
    const uint32_t crc = ~crc_;
    const uint16_t tail = star_ + 1 + CRC_DIGITS;
    bool is_right = tail <= length_ && (tail == length_ || line_[tail] == '*');
    for (uint8_t k = 0; is_right && k < CRC_DIGITS; ++k) {
        is_right = hex_of(line_[star_ + 1 + k]) == (crc >> (28 - 4 * k) & 15);
    }
    if (!is_right) {
        ++bad_crc_;
    } else if (!parse(static_cast<uint8_t>(star_))) {
        ++bad_message_;
    } else {
        obey(now_us);
    }
}

void Pad::obey(uint32_t now_us) {
    static const char OTHERS[][6] PROGMEM = {"hello", "in", "out", "hb", "dn", "up", "hit", "die"};
    uint32_t n = 0, mask = 0, at = 0, round = 0;
    if (is_text(T, PSTR("sync"))) {
        hear_sync();
    } else if (is_text(T, PSTR("ack")) && number(N, 0xFFFFFFFF, &n)) {
        acknowledge(n);
    } else if (is_text(T, PSTR("nak")) && (values_[N].type == ABSENT || number(N, 0xFFFFFFFF, &n)) &&
               (values_[REASON].type == ABSENT || values_[REASON].type == STRING)) {
        repeat_missing(now_us, n);
    } else if (is_text(T, PSTR("who")) && is_protocol_list(P)) {
        say_hello(now_us);
        repeat_open(now_us);
    } else if (is_text(T, PSTR("arm")) && number(RD, 0xFFFFFFFF, &round) && number(MASK, 0xFFFFFFFF, &mask) &&
               number(AT, 0xFFFFFFFF, &at)) {
        armed_mask_ = mask;
        armed_at_ = at;
        is_arm_ahead_ = true;
    } else if (is_text(T, PSTR("led"))) {
        hear_show(now_us, false);
    } else if (is_text(T, PSTR("snd"))) {
        hear_show(now_us, true);
    } else if (is_text(T, PSTR("key"))) {
        hear_key();
    } else {
        // Known, but not like this; or a word of some later version, which is nobody's fault.
        bool is_known = values_[T].type != STRING || is_text(T, PSTR("ack")) || is_text(T, PSTR("nak")) ||
                        is_text(T, PSTR("who")) || is_text(T, PSTR("arm"));
        for (uint8_t k = 0; k < sizeof OTHERS / sizeof OTHERS[0]; ++k) is_known = is_known || is_text(T, OTHERS[k]);
        if (is_known) ++bad_message_;
    }
}

// Answered at the end of the step, when the time of sending is known best, or when what began before it is over.
void Pad::hear_sync() {
    Question question = {};
    const Value &token = values_[H];
    if (!number(ID, 0xFFFFFFFF, &question.id) || token.type != NUMBER || token.length > MAX_TOKEN_DIGITS) {
        ++bad_message_;
        return;
    }
    for (uint8_t k = 0; k < token.length; ++k) {
        question.token[k] = line_[token.at + k];
        if (!is_digit(question.token[k])) {
            ++bad_message_;
            return;
        }
    }
    question.r = began_us_;
    if (question_count_ < QUESTIONS) questions_[question_count_++] = question;
}

void Pad::hear_show(uint32_t now_us, bool is_sound) {
    uint32_t b = 0, at = now_us;
    const Value &name = values_[PATTERN];
    const Value &when = values_[AT];
    const bool is_at_once = when.type == ABSENT || (when.type == LITERAL && line_[when.at] == 'n');
    bool is_good = number(B, MAX_PORT, &b) && name.type == STRING && name.length && name.length <= MAX_WORD;
    for (uint8_t k = 0; is_good && k < name.length; ++k) {
        const char c = line_[name.at + k];
        is_good = is_digit(c) || (c >= 'a' && c <= 'z') || c == '_' || c == '-';
    }
    if (!is_good || (!is_at_once && !number(AT, 0xFFFFFFFF, &at))) {
        ++bad_message_;
        return;
    }
    if (b >= config_.no || config_.outputs[b].is_sound != is_sound) {
        say_nak(0, PSTR("no such output"));
        return;
    }
    uint8_t pattern = 0;
    while (pattern < SHAPE_COUNT && !is_same(line_ + name.at, name.length, SHAPES[pattern].name)) ++pattern;
    if (pattern == SHAPE_COUNT) {
        say_nak(0, PSTR("no such pattern"));
        return;
    }
    uint8_t free = 0;
    while (free < WAITING && waiting_[free].is_used) ++free;
    if (free == WAITING) {
        say_nak(0, PSTR("too many wait"));
        return;
    }
    Command &command = waiting_[free];
    command.at = at;
    command.b = static_cast<uint8_t>(b);
    command.pattern = pattern;
    command.is_used = true;
    play_due(now_us);
}

// A key signs what goes over a radio, and there is none.
void Pad::hear_key() {
    uint32_t n = 0;
    const Value &key = values_[K];
    bool is_good = number(N, 0xFFFFFFFF, &n) && n && key.type == STRING && key.length == KEY_DIGITS;
    for (uint8_t k = 0; is_good && k < KEY_DIGITS; ++k) {
        const char c = line_[key.at + k];
        is_good = hex_of(c) != NOT_HEX && !(c >= 'A' && c <= 'F');
    }
    if (is_good) {
        say_nak(n, PSTR("it has no radio"));
    } else {
        ++bad_message_;
    }
}

// The members of the line's object go into `values_`. False when the JSON is broken, nested too deep or says a key that
// matters twice. Which keys a message needs is not looked at here.
bool Pad::parse(uint8_t end) {
    memset(values_, 0, sizeof values_);
    uint8_t brackets = 0;
    for (uint8_t k = 0; k < end; ++k) {
        if (line_[k] == '{' || line_[k] == '[') ++brackets;
    }
    if (brackets > MAX_BRACKETS) return false;
    uint8_t at = 1;
    skip_space(&at, end);
    bool is_more = at < end && line_[at] != '}';
    if (!is_more) ++at;
    while (is_more) {
        skip_space(&at, end);
        const uint8_t name = at + 1;
        if (!skip_string(&at, end)) return false;
        const uint8_t name_length = at - 1 - name;
        skip_space(&at, end);
        if (at >= end || line_[at++] != ':') return false;
        skip_space(&at, end);
        Value value = {at, 0, ABSENT};
        if (!skip_value(&at, end, &value.type)) return false;
        value.length = at - value.at;
        if (value.type == STRING) {
            ++value.at;
            value.length -= 2;
        }
        for (uint8_t key = 0; key < KEYS; ++key) {
            if (!is_same(line_ + name, name_length, KEY_NAMES[key])) continue;
            if (values_[key].type != ABSENT) return false;
            values_[key] = value;
        }
        skip_space(&at, end);
        if (at >= end) return false;
        is_more = line_[at] == ',';
        if (!is_more && line_[at] != '}') return false;
        ++at;
    }
    skip_space(&at, end);
    return at == end;
}

void Pad::skip_space(uint8_t *at, uint8_t end) const {
    while (*at < end && (line_[*at] == ' ' || line_[*at] == '\t' || line_[*at] == '\r')) ++*at;
}

bool Pad::skip_string(uint8_t *at, uint8_t end) const {
    if (*at >= end || line_[*at] != '"') return false;
    for (++*at; *at < end; ++*at) {
        const char c = line_[*at];
        if (c == '"') {
            ++*at;
            return true;
        }
        if (c >= 0 && c < ' ') return false;
        if (c != '\\') continue;
        if (++*at >= end) return false;
        if (line_[*at] == 'u') {
            for (uint8_t k = 0; k < 4; ++k) {
                if (++*at >= end || hex_of(line_[*at]) == NOT_HEX) return false;
            }
        } else if (!strchr("\"\\/bfnrt", line_[*at])) {
            return false;
        }
    }
    return false;
}

// Steps over one value of any depth, without recursion: a bit of `objects` says what each open bracket is.
bool Pad::skip_value(uint8_t *at, uint8_t end, char *type) const {
    uint16_t objects = 0;
    uint8_t depth = 0;
    for (;;) {
        bool is_in_key = false;  // an object's next member begins
        skip_space(at, end);
        if (*at >= end) return false;
        const char c = line_[*at];
        char kind = LITERAL;
        if (c == '{' || c == '[') {
            kind = c;
            ++*at;
            ++depth;
            objects = static_cast<uint16_t>(objects << 1 | (c == '{'));
            skip_space(at, end);
            if (*at >= end) return false;
            const bool is_empty = line_[*at] == (c == '{' ? '}' : ']');
            if (depth == 1) *type = kind;
            if (is_empty) {
                ++*at;
                --depth;
                objects >>= 1;
            } else if (c == '[') {
                continue;
            } else {
                is_in_key = true;
            }
        } else if (c == '"') {
            kind = STRING;
            if (!skip_string(at, end)) return false;
        } else if (c == '-' || is_digit(c)) {
            kind = NUMBER;
            if (!skip_number(at, end)) return false;
        } else if (!skip_literal(at, end)) {
            return false;
        }
        if (!depth && *type == ABSENT) *type = kind;
        while (!is_in_key) {
            if (!depth) return true;
            skip_space(at, end);
            if (*at >= end) return false;
            const char next = line_[(*at)++];
            if (next == ',') {
                is_in_key = objects & 1;
                break;
            }
            if (next != (objects & 1 ? '}' : ']')) return false;
            --depth;
            objects >>= 1;
        }
        if (!is_in_key) continue;
        skip_space(at, end);
        if (!skip_string(at, end)) return false;
        skip_space(at, end);
        if (*at >= end || line_[(*at)++] != ':') return false;
    }
}

bool Pad::skip_digits(uint8_t *at, uint8_t end) const {
    const uint8_t from = *at;
    while (*at < end && is_digit(line_[*at])) ++*at;
    return *at > from;
}

bool Pad::skip_number(uint8_t *at, uint8_t end) const {
    if (line_[*at] == '-') ++*at;
    const uint8_t from = *at;
    if (!skip_digits(at, end) || (line_[from] == '0' && *at > from + 1)) return false;
    if (*at < end && line_[*at] == '.') {
        ++*at;
        if (!skip_digits(at, end)) return false;
    }
    if (*at < end && (line_[*at] == 'e' || line_[*at] == 'E')) {
        ++*at;
        if (*at < end && (line_[*at] == '+' || line_[*at] == '-')) ++*at;
        if (!skip_digits(at, end)) return false;
    }
    return true;
}

bool Pad::skip_literal(uint8_t *at, uint8_t end) const {
    static const char WORDS[3][6] PROGMEM = {"true", "false", "null"};
    for (uint8_t k = 0; k < 3; ++k) {
        const uint8_t length = k == 1 ? 5 : 4;
        if (end - *at >= length && is_same(line_ + *at, length, WORDS[k])) {
            *at += length;
            return true;
        }
    }
    return false;
}

// Is there a whole number of at most `max` under this key?
bool Pad::number(uint8_t key, uint32_t max, uint32_t *found) const {
    const Value &value = values_[key];
    if (value.type != NUMBER || value.length > MAX_TOKEN_DIGITS) return false;
    uint32_t sum = 0;
    for (uint8_t k = 0; k < value.length; ++k) {
        const char c = line_[value.at + k];
        if (!is_digit(c)) return false;
        const uint8_t digit = static_cast<uint8_t>(c - '0');
        if (sum > (max - digit) / 10) return false;
        sum = sum * 10 + digit;
    }
    *found = sum;
    return true;
}

bool Pad::is_text(uint8_t key, const char *text) const {
    return values_[key].type == STRING && is_same(line_ + values_[key].at, values_[key].length, text);
}

// At most eight numbers of one byte each.
bool Pad::is_protocol_list(uint8_t key) const {
    const Value &value = values_[key];
    if (value.type != ARRAY) return false;
    uint16_t sum = 0;
    uint8_t count = 0, digits = 0;
    for (uint8_t k = 1; k < value.length; ++k) {
        const char c = line_[value.at + k];
        if (is_digit(c)) {
            sum = static_cast<uint16_t>(sum * 10 + static_cast<uint8_t>(c - '0'));
            if (++digits > 3 || sum > 255) return false;
        } else if (c == ',' || c == ']') {
            if (digits && ++count > MAX_PROTOCOLS) return false;
            sum = digits = 0;
        } else if (c != ' ') {
            return false;
        }
    }
    return true;
}

}  // namespace tada
