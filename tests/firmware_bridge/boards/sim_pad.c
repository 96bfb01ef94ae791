// An ATmega328P with the pad's firmware in it, under simavr. Edges go in at instants of the simulated clock, so how fast
// this computer is does not matter.
//
//   sim_pad ELF             plays a script from standard input as fast as it can
//   sim_pad ELF FD          lives on the terminal FD (the master side of a pty), in step with the host's monotonic clock
//
// A script's lines, in the order of time: `p US BIT LEVEL` (a pin of port D, 0 is closed), `a US CHANNEL MILLIVOLT`,
// `d US HEX` (bytes begin to come in), `end US`. Times count from the start of the board's own clock, in us. Living, the same
// lines come in whenever they like, their times count from now on, and each edge is told with its host time when it is done.
//
// Told: `> US LINE` (a line's last byte left), `~ US BIT LEVEL` (a pin of port B went that way), living `~ NS BIT LEVEL` by the
// host's clock and `= NS US BIT LEVEL` (an edge, by both), at the end `stack BYTES` (never used between variables and stack).
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <simavr/avr_adc.h>
#include <simavr/avr_ioport.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <simavr/sim_irq.h>

#define MHZ 16
#define BYTE_CYCLES 1389 /* ten bits at 115 200 baud */
#define BYTE_IN_CYCLES 1536 /* the simulated receiver is a little slow: it times a byte from the reading of the one before */
#define TIMER0_CONTROL 0x45
#define STACK_LOW 0x5D
#define STACK_HIGH 0x5E
#define SLICE_US 1000
#define EVENTS 262144 /* a power of two */

typedef struct {
    avr_cycle_count_t at;
    int kind; /* p, a, or b for one byte */
    int index;
    int value;
} event_t;

static avr_t *avr;
static event_t events[EVENTS];
static unsigned next_event, event_count;
static avr_cycle_count_t clock_began; /* the board's clock counts from this cycle */
static avr_cycle_count_t byte_done;   /* the line out is busy until then */
static avr_cycle_count_t wire_free;   /* the line in is busy until then */
static int terminal = -1;
static long long wall_began_ns; /* host time of cycle 0 */
static unsigned lowest_stack = 0xFFFF;
static char out_line[512];
static unsigned out_length;
static struct {
    avr_cycle_count_t at;
    char byte;
} leaving[4096];
static unsigned leaving_first, leaving_count;

static long long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static long long us_of(avr_cycle_count_t cycle) { return ((long long)cycle - (long long)clock_began) / MHZ; }

static void add(avr_cycle_count_t at, int kind, int index, int value) {
    unsigned slot = event_count++;
    if (event_count - next_event >= EVENTS) exit(3);
    for (; slot > next_event && events[(slot - 1) % EVENTS].at > at; --slot) {
        events[slot % EVENTS] = events[(slot - 1) % EVENTS];
    }
    events[slot % EVENTS] = (event_t){at, kind, index, value};
}

static void add_bytes(avr_cycle_count_t at, const char *data, size_t count) {
    for (size_t k = 0; k < count; ++k) {
        const avr_cycle_count_t from = at > wire_free ? at : wire_free;
        wire_free = from + BYTE_IN_CYCLES;
        add(wire_free, 'b', 0, (unsigned char)data[k]);
    }
}

/* What hangs on a pin is stronger than its pull-up, which simavr would let win whenever the port is written. */
static void hold_pin(int bit, int level) {
    static unsigned held, levels;
    held |= 1u << bit;
    levels = (levels & ~(1u << bit)) | (unsigned)level << bit;
    avr_ioport_external_t wired = {.name = 'D', .mask = held & 255, .value = levels & 255};
    avr_ioctl(avr, AVR_IOCTL_IOPORT_SET_EXTERNAL('D'), &wired);
}

static void happen(const event_t *event) {
    if (event->kind == 'b') {
        avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT), event->value);
    } else if (event->kind == 'a') {
        avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_ADC_GETIRQ, event->index), event->value);
    } else {
        hold_pin(event->index, event->value);
        avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ('D'), event->index), event->value);
        if (terminal >= 0) {
            printf("= %lld %lld %d %d\n", wall_began_ns + (long long)event->at * 1000 / MHZ, us_of(event->at), event->index,
                   event->value);
            fflush(stdout);
        }
    }
}

static avr_cycle_count_t wake(avr_t *board, avr_cycle_count_t when, void *param) {
    (void)board, (void)when, (void)param;
    return 0;
}

static void run_until(avr_cycle_count_t until) {
    while (avr->cycle < until) {
        const int is_event = next_event != event_count && events[next_event % EVENTS].at <= until;
        const avr_cycle_count_t stop = is_event ? events[next_event % EVENTS].at : until;
        /* A sleeping board jumps to its next timer: give it one here. */
        if (stop > avr->cycle) avr_cycle_timer_register(avr, stop - avr->cycle, wake, NULL);
        while (avr->cycle < stop) {
            const int state = avr_run(avr);
            if (state == cpu_Done || state == cpu_Crashed) exit(4);
            const unsigned stack = avr->data[STACK_LOW] | avr->data[STACK_HIGH] << 8;
            if (stack && stack < lowest_stack && clock_began) lowest_stack = stack;
        }
        if (is_event) happen(&events[next_event++ % EVENTS]);
    }
}

static void said(struct avr_irq_t *irq, uint32_t value, void *param) {
    (void)irq, (void)param;
    byte_done = (byte_done > avr->cycle ? byte_done : avr->cycle) + BYTE_CYCLES;
    if (terminal >= 0) {
        if (leaving_count == sizeof leaving / sizeof *leaving) exit(5);
        leaving[(leaving_first + leaving_count++) % 4096].at = byte_done;
        leaving[(leaving_first + leaving_count - 1) % 4096].byte = (char)value;
        return;
    }
    if (value != '\n') {
        if (out_length < sizeof out_line - 1) out_line[out_length++] = (char)value;
        return;
    }
    out_line[out_length] = 0;
    printf("> %lld %s\n", us_of(byte_done), out_line);
    out_length = 0;
}

static void shown(struct avr_irq_t *irq, uint32_t value, void *param) {
    (void)irq;
    const long long when = terminal < 0 ? us_of(avr->cycle) : wall_began_ns + (long long)avr->cycle * 1000 / MHZ;
    printf("~ %lld %d %u\n", when, (int)(long)param, value);
}

static void clock_set(struct avr_irq_t *irq, uint32_t value, void *param) {
    (void)irq, (void)param;
    if (!clock_began && (value & 7)) clock_began = avr->cycle;
}

static void no_sleep(avr_t *board, avr_cycle_count_t how_long) { (void)board, (void)how_long; }

/* One line of a script; its time counts from `from`. Returns the cycle at which a script ends, else 0. */
static avr_cycle_count_t take_line(const char *line, avr_cycle_count_t from) {
    static char hex[8192], data[4096];
    long long us;
    int index, value;
    if (sscanf(line, "p %lld %d %d", &us, &index, &value) == 3) {
        add(from + us * MHZ, 'p', index, value);
    } else if (sscanf(line, "a %lld %d %d", &us, &index, &value) == 3) {
        add(from + us * MHZ, 'a', index, value);
    } else if (sscanf(line, "d %lld %8191s", &us, hex) == 2) {
        size_t count = 0;
        for (; hex[2 * count] && hex[2 * count + 1]; ++count) {
            const char digits[3] = {hex[2 * count], hex[2 * count + 1], 0};
            data[count] = (char)strtol(digits, NULL, 16);
        }
        add_bytes(from + us * MHZ, data, count);
    } else if (sscanf(line, "end %lld", &us) == 1) {
        return from + us * MHZ;
    }
    return 0;
}

static void play_script(void) {
    static char line[8300];
    avr_cycle_count_t end = 0;
    while (!clock_began) run_until(avr->cycle + 100);
    while (fgets(line, sizeof line, stdin)) {
        if ((end = take_line(line, clock_began))) break;
    }
    run_until(end);
}

/* What the board said goes out when its last bit would have left. */
static void let_go(void) {
    char bytes[4096];
    size_t count = 0;
    while (leaving_count && leaving[leaving_first].at <= avr->cycle && count < sizeof bytes) {
        bytes[count++] = leaving[leaving_first].byte;
        leaving_first = (leaving_first + 1) % 4096;
        --leaving_count;
    }
    if (count && write(terminal, bytes, count) < 0) return; /* nobody reads: lost, as on a real line */
}

/* The board is never ahead of the host's clock; what comes in comes at the host's now. So where this computer is too slow,
   that is latency, and the board's clock stays true. */
static void live(void) {
    static char line[65536], bytes[4096]; /* what comes together keeps one base of time, so it is read together */
    size_t length = 0;
    int is_wanted = 1;
    fcntl(terminal, F_SETFL, O_NONBLOCK);
    fcntl(0, F_SETFL, O_NONBLOCK);
    wall_began_ns = now_ns();
    while (is_wanted) {
        struct pollfd waiting[2] = {{terminal, POLLIN, 0}, {0, POLLIN, 0}};
        struct timespec slice = {0, SLICE_US * 1000};
        ppoll(waiting, 2, &slice, NULL);
        const avr_cycle_count_t now = (avr_cycle_count_t)((now_ns() - wall_began_ns) * MHZ / 1000);
        if (waiting[0].revents & POLLIN) {
            const ssize_t count = read(terminal, bytes, sizeof bytes);
            if (count > 0) add_bytes(now, bytes, (size_t)count);
        }
        if (waiting[1].revents) {
            const ssize_t count = read(0, line + length, sizeof line - 1 - length);
            if (count <= 0) is_wanted = 0;
            length += count > 0 ? (size_t)count : 0;
            for (char *end; (end = memchr(line, '\n', length));) {
                *end = 0;
                take_line(line, now);
                length -= (size_t)(end + 1 - line);
                memmove(line, end + 1, length);
            }
        }
        run_until(now);
        let_go();
    }
}

int main(int argc, char **argv) {
    elf_firmware_t firmware = {0};
    if (argc < 2 || elf_read_firmware(argv[1], &firmware)) return 2;
    avr = avr_make_mcu_by_name("atmega328p");
    if (!avr) return 2;
    avr_init(avr);
    avr->log = LOG_ERROR;
    avr_load_firmware(avr, &firmware);
    avr->frequency = MHZ * 1000000;
    avr->vcc = avr->avcc = avr->aref = 5000;
    avr->sleep = no_sleep;
    uint32_t flags = 0;
    avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), said, NULL);
    avr_irq_register_notify(avr_iomem_getirq(avr, TIMER0_CONTROL, "clock", AVR_IOMEM_IRQ_ALL), clock_set, NULL);
    for (long bit = 0; bit < 8; ++bit) {
        avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ('D'), bit), 1);
        avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ('B'), bit), shown, (void *)bit);
    }
    if (argc > 2) {
        terminal = atoi(argv[2]);
        live();
    } else {
        play_script();
    }
    printf("stack %d\n", (int)lowest_stack - (int)(firmware.datasize + firmware.bsssize + 0x100));
    return 0;
}
