/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Sessions of the command: output, input, interrupts. */
#define _POSIX_C_SOURCE 200809L
#include "tools/bpl_console.h"

#include <errno.h>
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
    fwrite(text, 1, length, stdout);
    if (console->log) fwrite(text, 1, length, console->log);
}

static void write_text(void *user, const char *text, size_t length)
{
    put(user, text, length);
    fflush(stdout);
}

static const char *read_line(void *user, size_t *length)
{
    bpl_console *console = user;
    ssize_t count = getline(&console->line, &console->line_room, stdin);
    if (count < 0) return NULL;
    while (count && (console->line[count - 1] == '\n' || console->line[count - 1] == '\r')) count--;
    *length = (size_t)count;
    return console->line;
}

static int32_t columns(void)
{
    struct winsize size;
    return isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? (int32_t)size.ws_col : 0;
}

bool bpl_console_open(bpl_console *console, const tool_call *call)
{
    *console = (bpl_console){.bpl = NULL};
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
    free(console->line);
}

void bpl_console_print(bpl_console *console, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    vprintf(format, arguments);
    if (console->log) vfprintf(console->log, format, again);
    va_end(again);
    va_end(arguments);
}

bool bpl_console_run(bpl_console *console, const char *name, const char *text, size_t length)
{
    wg_bpl_outcome outcome;
    if (console->log) fprintf(console->log, "%.*s\n", (int)length, text);
    bool done = wg_bpl_run(console->bpl, name, text, length, &outcome);
    if (done && outcome.display_length) {
        put(console, outcome.display, outcome.display_length);
        put(console, "\n", 1);
    }
    fflush(stdout);
    console->stopped = !done && !strcmp(outcome.kind, "INTERRUPT");
    if (!done) fprintf(stderr, "%s\n", outcome.report);
    if (!done && console->log) fprintf(console->log, "%s\n", outcome.report);
    return done;
}

bool bpl_console_read(const char *path, base_string *text)
{
    bool is_stdin = !strcmp(path, "-");
    FILE *file = is_stdin ? stdin : fopen(path, "r");
    if (!file) return fprintf(stderr, "wengert bpl: %s: %s\n", path, strerror(errno)), false;
    char part[1 << 16];
    size_t count;
    while ((count = fread(part, 1, sizeof part, file)) && !text->failed && text->length < (size_t)1 << 30) base_string_put(text, part, count);
    bool failed = ferror(file);
    if (failed) fprintf(stderr, "wengert bpl: %s: %s\n", path, strerror(errno));
    else if (text->failed || count) fprintf(stderr, "wengert bpl: %s is too large\n", path), failed = true;
    if (!is_stdin) fclose(file);
    if (!failed && !text->text) base_string_puts(text, "");
    return !failed;
}
