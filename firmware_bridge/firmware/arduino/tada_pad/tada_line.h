// One line of tada/1 on its way out: JSON members, then the checksum. Nothing of it is kept but the checksum.
#ifndef TADA_LINE_H
#define TADA_LINE_H

#include "tada_core.h"

namespace tada {

// The CRC-32 of zlib, one byte further. It begins as 0xFFFFFFFF and is inverted at the end.
uint32_t crc_of(uint32_t crc, char byte);

// How many digits a number has.
uint8_t digits_of(uint32_t value);

class Line {
  public:
    Line(const Sink &sink, const char *type);  // begins it
    void number(const char *key, uint32_t value);
    void text(const char *key, const char *value);
    void digits(const char *key, const char *value);  // a number as it came; `value` is in RAM
    void open(const char *key);                       // an object as a value ...
    void close();                                     // ... and its end
    void end();

  private:
    void key(const char *name);
    void flash(const char *text);
    void put(char c);
    void put_raw(char c);

    const Sink &sink_;
    uint32_t crc_;
    bool is_first_;
};

}  // namespace tada

#endif
