/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, isatty */

#include "tools/progress.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Seconds between two lines on a terminal and elsewhere, and over which the speed is measured. */
#define TERMINAL_EVERY 0.1
#define PLAIN_EVERY 10.0
#define WINDOW 2.0

double progress_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool progress_open(progress *p, const tool_call *call, const char *unit, uint64_t steps, wg_error *error)
{
    double now = progress_now();
    *p = (progress){.is_terminal = isatty(STDERR_FILENO), .unit = unit, .steps = steps, .started = now, .shown = now, .window_start = now};
    p->log_path = tool_value(call, "log");
    if (p->log_path && !(p->log = fopen(p->log_path, "a")))
        return base_fail(error, WG_FILE, "the log %s cannot be opened: %s", p->log_path, strerror(errno));
    return true;
}

const char *progress_thousands(double value, char text[32])
{
    char digits[32];
    if (!(value >= 0 && value < 1e15)) value = 0;
    int length = snprintf(digits, sizeof digits, "%.0f", value), at = 0;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = 0;
    return text;
}

const char *progress_figure(double value, char text[32])
{
    bool is_small = value > -0.01 && value < 0.01 && value != 0;
    snprintf(text, 32, is_small ? "%.3g" : "%.4f", value);
    return text;
}

const char *progress_seconds(double value, char text[32])
{
    snprintf(text, 32, value < 1 ? "%.2g" : "%.1f", value);
    return text;
}

void progress_put_number(base_string *text, double value)
{
    bool is_finite = value - value == 0;
    if (!is_finite) base_string_puts(text, "\"");
    base_string_float(text, WG_KIND_F64, value);
    if (!is_finite) base_string_puts(text, "\"");
}

static void put_pair(base_string *text, const char *key, double value)
{
    base_string_printf(text, ", \"%s\": ", key);
    progress_put_number(text, value);
}

static void log_step(progress *p, const progress_step_facts *facts, double now)
{
    base_string text = base_string_new(tool_allocator());
    base_string_printf(&text, "{\"wengert\": 1, \"step\": %llu, \"epoch\": %llu", (unsigned long long)facts->step,
                       (unsigned long long)facts->epoch);
    put_pair(&text, "loss", facts->loss);
    put_pair(&text, "rate", facts->rate);
    put_pair(&text, "seconds", now - p->started);
    put_pair(&text, "items_per_second", facts->seconds > 0 ? (double)facts->rows / facts->seconds : 0);
    base_string_puts(&text, "}");
    progress_log(p, &text);
    base_string_free(&text);
}

void progress_log(progress *p, const base_string *text)
{
    if (p->log && !text->failed) fprintf(p->log, "%s\n", text->text);
}

static void show_step(progress *p, const progress_step_facts *facts, double now)
{
    char speed[32], loss[32];
    double left = p->steps_done ? (now - p->started) / (double)p->steps_done * (double)(p->steps - facts->step) : 0;
    unsigned seconds = left < 1e6 ? (unsigned)(left + 0.5) : 999999;
    fprintf(stderr, "%sstep %llu/%llu  loss %s  %s %s/s  %u:%02u left%s", p->is_terminal ? "\r" : "", (unsigned long long)facts->step,
            (unsigned long long)p->steps, progress_figure(facts->loss, loss), progress_thousands(p->rate, speed), p->unit, seconds / 60, seconds % 60,
            p->is_terminal ? "\033[K" : "\n");
    p->line_open = p->is_terminal;
    p->shown = now;
}

void progress_step(progress *p, const progress_step_facts *facts)
{
    double now = progress_now();
    p->steps_done++;
    p->window_rows += (double)facts->rows;
    double elapsed = now - p->window_start;
    if (elapsed > 0 && (elapsed >= WINDOW || !p->has_rate)) p->rate = p->window_rows / elapsed;
    if (elapsed >= WINDOW) {
        p->has_rate = true;
        p->window_start = now;
        p->window_rows = 0;
    }
    if (p->log) log_step(p, facts, now);
    if (now - p->shown >= (p->is_terminal ? TERMINAL_EVERY : PLAIN_EVERY)) show_step(p, facts, now);
}

void progress_say(progress *p, const char *format, ...)
{
    if (p->line_open) fputs("\r\033[K", stderr);
    p->line_open = false;
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputs("\n", stderr);
    p->window_start = progress_now(); /* what happened between two steps is no speed of theirs */
    p->window_rows = 0;
}

bool progress_close(progress *p, wg_error *error)
{
    if (p->line_open) fputs("\r\033[K", stderr);
    p->line_open = false;
    if (!p->log) return true;
    bool bad = ferror(p->log);
    bad = fclose(p->log) || bad;
    p->log = NULL;
    return !bad || base_fail(error, WG_FILE, "the log %s could not be written whole; is the disk full?", p->log_path);
}
