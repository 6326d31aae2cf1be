/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Sessions of the command: output, input, interrupts. */
#define _POSIX_C_SOURCE 200809L
#include "tools/bpl_console.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static wg_bpl *interrupted; /* what Ctrl-C stops */

static void stop(int signal)
{
    (void)signal;
    if (interrupted) wg_bpl_interrupt(interrupted);
}

static void put(bpl_console *console, const char *text, size_t length)
{
    if (console->output) base_string_put(console->output, text, length);
    else fwrite(text, 1, length, stdout);
    if (console->log) fwrite(text, 1, length, console->log);
}

static void write_text(void *user, const char *text, size_t length)
{
    put(user, text, length);
    fflush(stdout);
}

/* Waits in steps, so that Ctrl-C is served. 0 at the end of the input, or where it stopped. */
static ssize_t more_input(bpl_console *console, char *part, size_t room)
{
    struct pollfd ready = {.fd = STDIN_FILENO, .events = POLLIN};
    while (!console->bpl->interrupted) {
        int events = poll(&ready, 1, 50);
        ssize_t count = events > 0 ? read(STDIN_FILENO, part, room) : -1;
        if (count >= 0) return count;
        if (events && errno != EINTR && errno != EAGAIN) return 0;
    }
    return 0;
}

const char *bpl_console_line(bpl_console *console, size_t *length)
{
    base_string *input = &console->input;
    const char *end = NULL;
    char part[4096];
    input->length -= console->taken;
    if (console->taken) memmove(input->text, input->text + console->taken, input->length);
    console->taken = 0;
    fflush(stdout);
    for (size_t from = 0; !(end = input->length > from ? memchr(input->text + from, '\n', input->length - from) : NULL);) {
        from = input->length;
        ssize_t count = more_input(console, part, sizeof part);
        base_string_put(input, part, (size_t)count);
        if (input->failed || console->bpl->interrupted || (!count && !input->length)) return NULL;
        if (!count) break;
    }
    size_t line = end ? (size_t)(end - input->text) : input->length;
    console->taken = end ? line + 1 : line;
    while (line && input->text[line - 1] == '\r') line--;
    if (line < input->length) input->text[line] = 0;
    *length = line;
    return input->text;
}

static const char *read_line(void *user, size_t *length) { return bpl_console_line(user, length); }

static int32_t columns(void)
{
    struct winsize size;
    return isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? (int32_t)size.ws_col : 0;
}

bool bpl_console_open(bpl_console *console, const tool_call *call)
{
    *console = (bpl_console){.input = base_string_new(tool_allocator())};
    wg_error error = {.code = WG_OK};
    wg_bpl_options options = {.size = sizeof options, .write = write_text, .read_line = read_line, .user = console, .shows_each = true, .width = columns(),
                              .arguments = call->words + (call->word_count > 0 && !tool_value(call, "expression"))};
    options.argument_count = call->word_count - (uint32_t)(options.arguments - call->words);
    console->bpl = wg_bpl_new(&options, &error);
    if (!console->bpl) return tool_fail(call, &error), false;
    interrupted = console->bpl;
    struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    return true;
}

void bpl_console_close(bpl_console *console)
{
    signal(SIGINT, SIG_DFL);
    interrupted = NULL;
    wg_bpl_free(&console->bpl);
    if (console->log) fclose(console->log);
    base_string_free(&console->input);
}

/* Owned; NULL without memory. */
static char *formatted(const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (text) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

void bpl_console_print(bpl_console *console, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = formatted(format, arguments);
    va_end(arguments);
    if (text) put(console, text, strlen(text));
    free(text);
}

bool bpl_console_fault(bpl_console *console, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = formatted(format, arguments);
    va_end(arguments);
    const char *told = text ? text : "out of memory";
    fflush(stdout);
    if (console->faults) base_string_puts(console->faults, told);
    else fprintf(stderr, "%s\n", told);
    if (console->log) fprintf(console->log, "%s\n", told);
    free(text);
    return false;
}

bool bpl_console_is_open(bpl_console *console, const char *text, size_t length)
{
    base_string closers = base_string_new(tool_allocator());
    bpl_text_closers(console->bpl, text, length, &closers);
    bool open = closers.length > 0;
    base_string_free(&closers);
    return open;
}

static bool run_statements(bpl_console *console, const char *name, const char *text, size_t length)
{
    wg_bpl_outcome outcome;
    bool done = wg_bpl_run(console->bpl, name, text, length, &outcome);
    if (done && outcome.display_length) {
        put(console, outcome.display, outcome.display_length);
        put(console, "\n", 1);
    }
    fflush(stdout);
    console->stopped = !done && !strcmp(outcome.kind, "INTERRUPT");
    return done || bpl_console_fault(console, "%s", outcome.report);
}

/* Where the next line that is a ]command begins, from the beginning of a line on; `length`: there is none. */
static size_t next_command(bpl_console *console, const char *text, size_t start, size_t length)
{
    for (size_t at = start; at < length;) {
        if (text[at] == ']' && (at == start || !bpl_console_is_open(console, text + start, at - start))) return at;
        const char *end = memchr(text + at, '\n', length - at);
        at = end ? (size_t)(end - text) + 1 : length;
    }
    return length;
}

/* Statements between commands, which keep their lines' numbers: what stood before them is empty lines. */
static bool run_between(bpl_console *console, const char *name, const char *text, size_t start, size_t end)
{
    base_string padded = base_string_new(tool_allocator());
    for (size_t i = 0; start && i < start; i++)
        if (text[i] == '\n') base_string_puts(&padded, "\n");
    base_string_put(&padded, text + start, end - start);
    bool done = padded.failed ? bpl_console_fault(console, "out of memory") : run_statements(console, name, padded.text, padded.length);
    base_string_free(&padded);
    return done;
}

bool bpl_console_run(bpl_console *console, const char *name, const char *text, size_t length)
{
    bool done = true;
    if (console->log) fprintf(console->log, "%.*s\n", (int)length, text);
    for (size_t at = 0; done && at < length && !console->leaves;) {
        size_t command = next_command(console, text, at, length);
        const char *end = command < length ? memchr(text + command, '\n', length - command) : NULL;
        if (command > at) done = !at && command == length ? run_statements(console, name, text, length) : run_between(console, name, text, at, command);
        at = end ? (size_t)(end - text) + 1 : length;
        if (done && command < length) done = bpl_command(console, text + command, (end ? at - 1 : length) - command);
    }
    return done;
}

bool bpl_console_read(bpl_console *console, const char *path, base_string *text)
{
    bpl_error_clear(console->bpl);
    if (bpl_read_file(console->bpl, path, text)) return true;
    console->stopped = !strcmp(console->bpl->error.kind, "INTERRUPT");
    bpl_console_fault(console, "wengert bpl: %s", console->bpl->error.message);
    bpl_error_clear(console->bpl);
    return false;
}
