// Plays traces (firmware_traces.py says their form) on the C++ core, on a computer: standard input to standard output.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <deque>
#include <string>
#include <vector>

#include "tada_core.h"

namespace {

void put(void *, char c) { putchar(c); }

struct Told {
    char id[32];
    tada::Config config;
    std::vector<tada::Input> inputs;
    std::vector<tada::Output> outputs;
    std::vector<unsigned> levels;
    std::deque<std::string> names;  // of which pointers are kept

    const char *keep(const char *text) {
        names.push_back(text);
        return names.back().c_str();
    }
};

tada::Kind kind_of(const char *word) {
    if (!strcmp(word, "button")) return tada::BUTTON;
    if (!strcmp(word, "piezo")) return tada::PIEZO;
    return strcmp(word, "tower") ? tada::BEAM : tada::TOWER;
}

uint32_t time_of(unsigned long long us) { return static_cast<uint32_t>(us); }

}  // namespace

int main() {
    static char line[4096], word[64], name[64], bytes[4096];
    Told told;
    tada::Pad *pad = nullptr;
    std::vector<char> heard;
    while (fgets(line, sizeof line, stdin)) {
        unsigned long long us = 0;
        unsigned a = 0, b = 0, c = 0, d = 0, e = 0;
        if (sscanf(line, "pad %31s %u %u %u %u %u", word, &a, &b, &c, &d, &e) == 6) {
            told = Told();
            strcpy(told.id, word);
            told.config = {told.id, "trace", "trace", a, static_cast<uint16_t>(b), c, static_cast<uint16_t>(d), nullptr, 0,
                           nullptr, 0};
            heard.clear();
        } else if (sscanf(line, "in %63s %63s", word, name) == 2) {
            told.inputs.push_back({kind_of(word), told.keep(name)});
        } else if (sscanf(line, "out %63s %63s", word, name) == 2) {
            told.outputs.push_back({!strcmp(word, "snd"), told.keep(name)});
        } else if (sscanf(line, "start %llu", &us) == 1) {
            told.config.inputs = told.inputs.data();
            told.config.ni = static_cast<uint8_t>(told.inputs.size());
            told.config.outputs = told.outputs.data();
            told.config.no = static_cast<uint8_t>(told.outputs.size());
            told.levels.assign(told.outputs.size(), 0);
            delete pad;
            pad = new tada::Pad(told.config, {put, nullptr});
            pad->start(time_of(us));
        } else if (sscanf(line, "i %llu %u %u", &us, &a, &b) == 3) {
            const tada::Kind kind = told.inputs[a].kind;
            if (kind == tada::PIEZO || kind == tada::TOWER) {
                pad->sample(time_of(us), static_cast<uint8_t>(a), static_cast<uint16_t>(b));
            } else {
                pad->edge(time_of(us), static_cast<uint8_t>(a), b != 0);
            }
        } else if (sscanf(line, "d %4095s", bytes) == 1) {
            for (size_t k = 0; bytes[k] && bytes[k + 1]; k += 2) {
                const char digits[3] = {bytes[k], bytes[k + 1], 0};
                heard.push_back(static_cast<char>(strtol(digits, nullptr, 16)));
            }
        } else if (sscanf(line, "step %llu", &us) == 1) {
            for (char heard_byte : heard) pad->hear(time_of(us), heard_byte);
            heard.clear();
            pad->finish(time_of(us));
            for (uint8_t k = 0; k < told.levels.size(); ++k) {
                const unsigned level = pad->level(time_of(us), k);
                if (level != told.levels[k]) printf("~ %u %u\n", k, level);
                told.levels[k] = level;
            }
            puts(".");
        } else if (!strncmp(line, "end", 3)) {
            puts("end");
        }
    }
    delete pad;
    return 0;
}
