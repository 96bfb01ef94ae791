// The firmware of a pad as a pure core: times, edges, samples and bytes in, lines out.
//
// No I/O, no clock, no interrupt, no allocation: the board file feeds it and writes what it says. All times are
// device microseconds modulo 2^32 as the board's counter gives them. PROTOCOL.md says what the lines mean; a Python
// model of the same firmware (firmware_model.py) says the same lines for the same inputs, byte by byte.
#ifndef TADA_CORE_H
#define TADA_CORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __AVR__
#include <avr/pgmspace.h>
#else
#define PROGMEM
#define PSTR(text) (text)
#define pgm_read_byte(address) (*reinterpret_cast<const uint8_t *>(address))
#define pgm_read_word(address) (*reinterpret_cast<const uint16_t *>(address))
#define pgm_read_dword(address) (*reinterpret_cast<const uint32_t *>(address))
#endif

namespace tada {

const uint8_t MAX_INPUTS = 8;
const uint8_t MAX_OUTPUTS = 8;
const uint8_t RING = 32;         // events kept for repeating
const uint8_t WAITING = 16;      // led and snd commands that wait for their time
const uint8_t QUESTIONS = 4;     // clock questions that wait for the end of the step or of a pulse that began before them
const uint16_t MAX_LINE = 256;   // bytes, with the newline
const uint32_t SETTLE_US = 30000;
const uint32_t RESEND_US = 200000;
const uint32_t HEARTBEAT_US = 1000000;
const uint32_t LONGEST_US = 10000000;  // no pattern plays longer
const uint32_t PIEZO_US = 2000;        // a slammed piezo's force is the highest sample within this time
const uint32_t HIT_QUIET_US = 5000;    // a tower's blow is over when it was quiet for so long ...
const uint32_t HIT_MAX_US = 30000;     // ... or after so long
const uint32_t DIE_QUIET_US = 2000;    // a beam that is broken again within this time still sees the same die
const uint32_t DIE_MAX_US = 100000;    // longer in the beam than this: it is blocked
const uint32_t DIE_MIN_US = 200;       // shorter than this: no die

// All texts are in flash (PROGMEM), ASCII, without quotes, backslashes and stars.
enum Kind : uint8_t { BUTTON, PIEZO, TOWER, BEAM };

struct Input {
    Kind kind;
    const char *name;
};

struct Output {
    bool is_sound;
    const char *name;
};

struct Config {
    const char *id;
    const char *fw;
    const char *hw;
    uint32_t boot;     // random, new at each start
    uint16_t tick_us;  // resolution of the clock, a power of two
    uint32_t st_us;    // longest time from an edge to its stamp
    uint16_t wire_us;  // the time that 256 bytes take to leave, 0 when the line is faster than the clock's tick
    const Input *inputs;
    uint8_t ni;
    const Output *outputs;
    uint8_t no;
};

// Where the lines go, one character at a time.
struct Sink {
    void (*put)(void *context, char c);
    void *context;
};

class Pad {
  public:
    Pad(const Config &config, Sink sink);

    // Says hello. To be called once, before anything else.
    void start(uint32_t now_us);

    // One step is: what the inputs did since the last one, in the order of its time, then the bytes that came, then
    // finish. Bytes are stamped `now_us`, and every edge that the board stamped before a byte must go in before it.
    void edge(uint32_t us, uint8_t b, bool is_closed);     // a button's contact, or a beam (closed: broken)
    void sample(uint32_t us, uint8_t b, uint16_t value);   // a piezo over its threshold
    void hear(uint32_t now_us, char c);
    void finish(uint32_t now_us);

    // What an output does now: 1 for a light that is on, the Hz of a buzzer, 0 for dark or silent.
    uint16_t level(uint32_t now_us, uint8_t b) const;

    // Bytes that the board had to drop; told in the heartbeat.
    uint32_t overflows;

  private:
    enum State : uint8_t { IDLE, OPEN, LOCKED, JAMMED };

    struct Sensor {
        uint32_t at;    // a button's edge that counted, a pulse's onset
        uint32_t last;  // a pulse's last sample, a beam's restoring
        uint16_t peak;
        State state;
        bool is_raw;    // what the contact does, whatever of it counted
        bool is_closed;
    };

    struct Kept {
        uint32_t us;
        uint32_t sent_us;
        uint16_t w;  // without its highest bit, which is a flag: a width is below 2^17
        uint16_t q;
        uint8_t kind_b;  // event kind << 5 | input
        uint8_t flags;
    };

    struct Command {
        uint32_t at;
        uint8_t b;
        uint8_t pattern;
        bool is_used;
    };

    struct Question {
        uint32_t id;
        uint32_t r;
        char token[11];
    };

    struct Value {
        uint8_t at;
        uint8_t length;
        char type;  // 0 absent, else n number, s string, [ array, { object, l literal
    };

    const Config config_;
    const Sink sink_;

    // what the inputs do
    void advance(uint32_t us);
    bool due_of(const Sensor &sensor, Kind kind, uint32_t *due) const;
    void settle(uint32_t due, uint8_t b);
    void take(uint32_t us, uint8_t b, bool is_closed);
    bool has_open_before(uint32_t us) const;

    // events
    void event(uint32_t at, uint8_t kind, uint8_t b, uint32_t us, uint16_t q, uint32_t w);
    void say_event(const Kept &event, uint32_t n, bool is_repeat);
    void repeat(uint32_t now_us, uint8_t age);
    void repeat_open(uint32_t now_us);
    void repeat_missing(uint32_t now_us, uint32_t n);
    void acknowledge(uint32_t n);
    Kept &kept(uint8_t age);
    uint32_t number_of(uint8_t age) const;
    bool is_early(uint32_t us, uint8_t b) const;
    uint32_t stamp(uint32_t us) const;

    // what the host says
    void hear_line(uint32_t now_us);
    void obey(uint32_t now_us);
    void hear_sync();
    void answer(uint32_t now_us, const Question &question);
    void hear_show(uint32_t now_us, bool is_sound);
    void hear_key();
    void play_due(uint32_t now_us);
    void say_hello(uint32_t now_us);
    void say_nak(uint32_t n, const char *reason);
    void say_heartbeat(uint32_t now_us);

    Sensor sensors_[MAX_INPUTS];
    uint32_t armed_mask_;
    uint32_t armed_at_;
    bool is_arm_ahead_;

    Kept ring_[RING];
    uint8_t ring_next_;
    uint8_t ring_count_;
    uint32_t n_;
    bool has_open_;  // may one of them still have to be repeated by itself?
    uint32_t heartbeat_at_;

    Command waiting_[WAITING];
    uint8_t playing_[MAX_OUTPUTS];
    uint32_t playing_at_[MAX_OUTPUTS];
    Question questions_[QUESTIONS];
    uint8_t question_count_;

    char line_[MAX_LINE];
    uint16_t length_;
    uint32_t began_us_;
    bool is_skipping_;
    uint32_t crc_;   // of the line up to its star
    uint16_t star_;  // where that is, MAX_LINE as long as there is none
    uint32_t noise_, bad_crc_, too_long_, bad_message_;

    // the JSON of the line
    bool parse(uint8_t end);
    bool skip_value(uint8_t *at, uint8_t end, char *type) const;
    bool skip_number(uint8_t *at, uint8_t end) const;
    bool skip_digits(uint8_t *at, uint8_t end) const;
    bool skip_literal(uint8_t *at, uint8_t end) const;
    bool skip_string(uint8_t *at, uint8_t end) const;
    void skip_space(uint8_t *at, uint8_t end) const;
    bool number(uint8_t key, uint32_t max, uint32_t *found) const;
    bool is_text(uint8_t key, const char *text) const;
    bool is_protocol_list(uint8_t key) const;
    Value values_[12];
};

}  // namespace tada

#endif
