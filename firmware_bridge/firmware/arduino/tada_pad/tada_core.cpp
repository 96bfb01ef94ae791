// What a pad does: see tada_core.h. Inputs, events, outputs; what the host says is in tada_hear.cpp.
#include "tada_core.h"

#include <string.h>

#include "tada_line.h"
#include "tada_patterns.h"

namespace tada {

namespace {

enum EventKind : uint8_t { DOWN, UP, HIT, DIE };
enum Flag : uint8_t { ACKED = 1, RESENT = 2, EARLY = 4, HAS_FORCE = 8, WIDE = 16 };

}  // namespace

Pad::Pad(const Config &config, Sink sink)
    : overflows(0), config_(config), sink_(sink), armed_mask_(0), armed_at_(0), is_arm_ahead_(false), ring_next_(0),
      ring_count_(0), n_(0), has_open_(false), heartbeat_at_(0), question_count_(0), length_(0), began_us_(0), is_skipping_(false),
      crc_(0), star_(0), noise_(0), bad_crc_(0), too_long_(0), bad_message_(0) {
    memset(sensors_, 0, sizeof sensors_);
    memset(ring_, 0, sizeof ring_);
    memset(waiting_, 0, sizeof waiting_);
    memset(playing_, SHAPE_COUNT, sizeof playing_);
    memset(playing_at_, 0, sizeof playing_at_);
    memset(questions_, 0, sizeof questions_);
    memset(line_, 0, sizeof line_);
    memset(values_, 0, sizeof values_);
}

void Pad::start(uint32_t now_us) {
    heartbeat_at_ = now_us;
    say_hello(now_us);
}

// What the inputs do

void Pad::edge(uint32_t us, uint8_t b, bool is_closed) {
    if (b >= config_.ni) return;
    advance(us);
    Sensor &sensor = sensors_[b];
    if (config_.inputs[b].kind == BUTTON) {
        sensor.is_raw = is_closed;
        if (sensor.state != LOCKED) take(us, b, is_closed);
        return;
    }
    if (config_.inputs[b].kind != BEAM || sensor.is_closed == is_closed) return;
    sensor.is_closed = is_closed;
    if (!is_closed) {
        sensor.last = us;
        if (sensor.state == JAMMED) sensor.state = IDLE;
    } else if (sensor.state == IDLE) {
        sensor.state = OPEN;
        sensor.at = us;
    }
}

void Pad::sample(uint32_t us, uint8_t b, uint16_t value) {
    if (b >= config_.ni || (config_.inputs[b].kind != PIEZO && config_.inputs[b].kind != TOWER)) return;
    advance(us);
    Sensor &sensor = sensors_[b];
    sensor.last = us;
    if (sensor.state == IDLE) {
        sensor.state = OPEN;
        sensor.at = us;
        sensor.peak = value;
    } else if (sensor.state == OPEN && value > sensor.peak) {
        sensor.peak = value;
    }
}

// The instant at which something becomes of an input by itself.
bool Pad::due_of(const Sensor &sensor, Kind kind, uint32_t *due) const {
    if (sensor.state == LOCKED) {
        *due = (kind == BUTTON ? sensor.at : sensor.last) + SETTLE_US;
        return true;
    }
    if (sensor.state != OPEN) return false;
    if (kind == PIEZO) {
        *due = sensor.at + PIEZO_US;
    } else {
        const uint32_t longest = sensor.at + (kind == TOWER ? HIT_MAX_US : DIE_MAX_US);
        const uint32_t quiet = sensor.last + (kind == TOWER ? HIT_QUIET_US : DIE_QUIET_US);
        const bool is_broken = kind == BEAM && sensor.is_closed;
        *due = is_broken || static_cast<int32_t>(longest - quiet) < 0 ? longest : quiet;
    }
    return true;
}

void Pad::advance(uint32_t us) {
    for (;;) {
        uint32_t first = 0;
        uint8_t found = config_.ni;
        for (uint8_t b = 0; b < config_.ni; ++b) {
            uint32_t due = 0;
            if (!due_of(sensors_[b], config_.inputs[b].kind, &due) || static_cast<int32_t>(us - due) < 0) continue;
            if (found == config_.ni || static_cast<int32_t>(due - first) < 0) {
                first = due;
                found = b;
            }
        }
        if (found == config_.ni) return;
        settle(first, found);
    }
}

void Pad::settle(uint32_t due, uint8_t b) {
    Sensor &sensor = sensors_[b];
    const Kind kind = config_.inputs[b].kind;
    if (sensor.state == LOCKED) {
        sensor.state = IDLE;
        // What the contact did meanwhile was taken for bouncing; if it stayed that way, it counts from here on.
        if (kind == BUTTON && sensor.is_raw != sensor.is_closed) take(due, b, sensor.is_raw);
        return;
    }
    if (kind == PIEZO) {
        sensor.state = LOCKED;
        event(due, DOWN, b, sensor.at, sensor.peak, 0);
    } else if (kind == TOWER) {
        sensor.state = LOCKED;
        event(due, HIT, b, sensor.at, sensor.peak, sensor.last - sensor.at);
    } else {
        const uint32_t width = (sensor.is_closed ? due : sensor.last) - sensor.at;
        sensor.state = sensor.is_closed ? JAMMED : IDLE;
        if (width >= DIE_MIN_US) event(due, DIE, b, sensor.at, 0, width);
    }
}

void Pad::take(uint32_t us, uint8_t b, bool is_closed) {
    Sensor &sensor = sensors_[b];
    sensor.state = LOCKED;
    sensor.at = us;
    if (sensor.is_closed == is_closed) return;  // let go for the first time, pressed since before the start: it bounces too
    sensor.is_closed = is_closed;
    event(us, is_closed ? DOWN : UP, b, us, 0, 0);
}

bool Pad::has_open_before(uint32_t us) const {
    for (uint8_t b = 0; b < config_.ni; ++b) {
        const bool is_open = sensors_[b].state == OPEN;
        if (is_open && static_cast<int32_t>(sensors_[b].at - us) < 0) return true;
    }
    return false;
}

// Events

void Pad::event(uint32_t at, uint8_t kind, uint8_t b, uint32_t us, uint16_t q, uint32_t w) {
    const bool has_force = kind == DOWN && config_.inputs[b].kind == PIEZO;
    Kept &made = ring_[ring_next_];
    ring_next_ = (ring_next_ + 1) % RING;
    if (ring_count_ < RING) ++ring_count_;
    ++n_;
    made.us = stamp(us);
    made.sent_us = at;
    made.w = static_cast<uint16_t>(w);
    made.q = q;
    made.kind_b = static_cast<uint8_t>(kind << 5 | b);
    const bool is_told_early = kind == DOWN && is_early(us, b);
    made.flags = static_cast<uint8_t>((has_force ? HAS_FORCE : 0) | (is_told_early ? EARLY : 0) | (w >> 16 ? WIDE : 0));
    has_open_ = true;
    say_event(made, n_, false);
}

bool Pad::is_early(uint32_t us, uint8_t b) const {
    return is_arm_ahead_ && (armed_mask_ >> b & 1) && static_cast<int32_t>(us - armed_at_) < 0;
}

void Pad::say_event(const Kept &event, uint32_t n, bool is_repeat) {
    static const char NAMES[4][4] PROGMEM = {"dn", "up", "hit", "die"};
    const uint8_t kind = event.kind_b >> 5;
    Line line(sink_, NAMES[kind]);
    line.number(PSTR("b"), event.kind_b & 31);
    line.number(PSTR("n"), n);
    line.number(PSTR("us"), event.us);
    if (event.flags & HAS_FORCE) line.number(PSTR("q"), event.q);
    if (event.flags & EARLY) line.number(PSTR("early"), 1);
    if (kind == HIT || kind == DIE) {
        line.number(PSTR("pk"), event.q);
        line.number(PSTR("w"), static_cast<uint32_t>(event.flags & WIDE ? 1 : 0) << 16 | event.w);
    }
    if (is_repeat) line.number(PSTR("re"), 1);
    line.end();
}

// Events that are kept are counted by age, from 0 for the oldest.
Pad::Kept &Pad::kept(uint8_t age) { return ring_[(ring_next_ + RING - ring_count_ + age) % RING]; }

uint32_t Pad::number_of(uint8_t age) const { return n_ - ring_count_ + 1 + age; }

void Pad::repeat(uint32_t now_us, uint8_t age) {
    kept(age).sent_us = now_us;
    say_event(kept(age), number_of(age), true);
}

void Pad::repeat_open(uint32_t now_us) {
    for (uint8_t age = 0; age < ring_count_; ++age) {
        if (!(kept(age).flags & ACKED)) repeat(now_us, age);
    }
}

void Pad::repeat_missing(uint32_t now_us, uint32_t n) {
    for (uint8_t age = 0; age < ring_count_; ++age) {
        if (number_of(age) == n) repeat(now_us, age);
    }
}

void Pad::acknowledge(uint32_t n) {
    for (uint8_t age = 0; age < ring_count_; ++age) {
        if (number_of(age) == n) kept(age).flags |= ACKED;
    }
}

uint32_t Pad::stamp(uint32_t us) const { return us & ~static_cast<uint32_t>(config_.tick_us - 1); }

// What is said

void Pad::say_hello(uint32_t now_us) {
    Line line(sink_, PSTR("hello"));
    line.number(PSTR("p"), 1);
    line.text(PSTR("id"), config_.id);
    line.text(PSTR("fw"), config_.fw);
    line.text(PSTR("hw"), config_.hw);
    line.number(PSTR("boot"), config_.boot);
    line.number(PSTR("ni"), config_.ni);
    line.number(PSTR("no"), config_.no);
    line.number(PSTR("tick"), config_.tick_us);
    line.number(PSTR("st"), config_.st_us);
    line.number(PSTR("us"), stamp(now_us));
    line.end();
    static const char KINDS[4][8] PROGMEM = {"button", "piezo", "tower", "beam"};
    for (uint8_t b = 0; b < config_.ni; ++b) {
        Line input(sink_, PSTR("in"));
        input.number(PSTR("b"), b);
        input.text(PSTR("kind"), KINDS[config_.inputs[b].kind]);
        input.text(PSTR("name"), config_.inputs[b].name);
        input.end();
    }
    for (uint8_t b = 0; b < config_.no; ++b) {
        Line output(sink_, PSTR("out"));
        output.number(PSTR("b"), b);
        output.text(PSTR("kind"), config_.outputs[b].is_sound ? PSTR("snd") : PSTR("led"));
        output.text(PSTR("name"), config_.outputs[b].name);
        output.end();
    }
}

void Pad::say_heartbeat(uint32_t now_us) {
    uint32_t closed = 0;
    for (uint8_t b = 0; b < config_.ni; ++b) {
        if (sensors_[b].is_closed) closed |= static_cast<uint32_t>(1) << b;
    }
    Line line(sink_, PSTR("hb"));
    line.number(PSTR("n"), n_);
    line.number(PSTR("us"), stamp(now_us));
    if (closed) line.number(PSTR("v"), closed);
    const uint32_t errors[5] = {noise_, bad_crc_, too_long_, bad_message_, overflows};
    static const char NAMES[5][6] PROGMEM = {"noise", "crc", "long", "msg", "ovf"};
    if (noise_ || bad_crc_ || too_long_ || bad_message_ || overflows) {
        line.open(PSTR("err"));
        for (uint8_t k = 0; k < 5; ++k) {
            if (errors[k]) line.number(NAMES[k], errors[k]);
        }
        line.close();
    }
    line.end();
}

void Pad::say_nak(uint32_t n, const char *reason) {
    Line line(sink_, PSTR("nak"));
    if (n) line.number(PSTR("n"), n);
    line.text(PSTR("reason"), reason);
    line.end();
}

// `x` tells when the last byte of the answer leaves. The line is slow and its speed is known, so this is no guess; where
// it is not exact it is too early, which makes the host's uncertainty larger and never its clock wrong.
void Pad::answer(uint32_t now_us, const Question &question) {
    uint32_t x = stamp(now_us);
    if (config_.wire_us) {
        const uint32_t latest = stamp(now_us + (MAX_LINE * static_cast<uint32_t>(config_.wire_us) >> 8));
        const uint32_t length = sizeof("{\"t\":\"sync\",\"id\":,\"h\":,\"r\":,\"x\":,\"n\":}*12345678") + strlen(question.token) +
                                digits_of(question.id) + digits_of(stamp(question.r)) + digits_of(n_) +
                                digits_of(x < latest ? x : latest);
        x = stamp(now_us + (length * config_.wire_us >> 8));
    }
    Line line(sink_, PSTR("sync"));
    line.number(PSTR("id"), question.id);
    line.digits(PSTR("h"), question.token);
    line.number(PSTR("r"), stamp(question.r));
    line.number(PSTR("x"), x);
    line.number(PSTR("n"), n_);
    line.end();
}

// What time brings

void Pad::finish(uint32_t now_us) {
    advance(now_us);
    if (is_arm_ahead_ && static_cast<int32_t>(now_us - armed_at_) > static_cast<int32_t>(HEARTBEAT_US)) {
        is_arm_ahead_ = false;  // no edge can come any more that was stamped before it
    }
    uint8_t answered = 0;
    while (answered < question_count_ && !has_open_before(questions_[answered].r)) {
        answer(now_us, questions_[answered++]);
    }
    question_count_ -= answered;
    memmove(questions_, questions_ + answered, question_count_ * sizeof questions_[0]);
    play_due(now_us);
    const bool had_open = has_open_;
    has_open_ = false;
    for (uint8_t age = 0; had_open && age < ring_count_; ++age) {
        Kept &waiting = kept(age);
        if (waiting.flags & (ACKED | RESENT)) continue;
        has_open_ = true;
        if (static_cast<int32_t>(now_us - waiting.sent_us - RESEND_US) < 0) continue;
        waiting.flags |= RESENT;
        repeat(now_us, age);
    }
    if (static_cast<int32_t>(now_us - heartbeat_at_) >= 0) {
        heartbeat_at_ = now_us + HEARTBEAT_US;
        say_heartbeat(now_us);
    }
}

void Pad::play_due(uint32_t now_us) {
    for (;;) {
        Command *first = nullptr;
        for (uint8_t k = 0; k < WAITING && waiting_[k].is_used; ++k) {
            if (static_cast<int32_t>(now_us - waiting_[k].at) < 0) continue;
            if (!first || static_cast<int32_t>(waiting_[k].at - first->at) < 0) first = &waiting_[k];
        }
        if (!first) break;
        playing_[first->b] = first->pattern;
        playing_at_[first->b] = now_us;
        Command *const end = waiting_ + WAITING;
        memmove(first, first + 1, static_cast<size_t>(end - first - 1) * sizeof *first);
        end[-1].is_used = false;
    }
    for (uint8_t b = 0; b < config_.no; ++b) {
        if (now_us - playing_at_[b] > LONGEST_US) playing_[b] = SHAPE_COUNT;
    }
}

uint16_t Pad::level(uint32_t now_us, uint8_t b) const {
    if (b >= config_.no || playing_[b] >= SHAPE_COUNT) return 0;
    const Shape *shape = &SHAPES[playing_[b]];
    const uint32_t since_us = now_us - playing_at_[b];
    if (config_.outputs[b].is_sound) {
        uint32_t until_us = 0;
        for (uint8_t k = 0; k < MAX_TONES; ++k) {
            until_us += pgm_read_word(&shape->tones[k].ms) * static_cast<uint32_t>(1000);
            if (since_us < until_us) return pgm_read_word(&shape->tones[k].hz);
        }
        return 0;
    }
    const uint32_t on_us = pgm_read_word(&shape->on_ms) * static_cast<uint32_t>(1000);
    const uint32_t flash_us = on_us + pgm_read_word(&shape->off_ms) * static_cast<uint32_t>(1000);
    const uint32_t flashes_us = pgm_read_byte(&shape->flashes) * flash_us;
    const uint32_t round_us = flashes_us + pgm_read_word(&shape->pause_ms) * static_cast<uint32_t>(1000);
    if (since_us >= round_us * pgm_read_byte(&shape->rounds)) return 0;
    const uint32_t into_us = since_us % round_us;
    return into_us < flashes_us && into_us % flash_us < on_us;
}

}  // namespace tada
