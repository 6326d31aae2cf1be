/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * ]commands of the prompt. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "bpl/display.h"
#include "bpl/evaluate.h"
#include "tools/bpl_console.h"

/* ---- names ----------------------------------------------------------------------------------------------------------------------------------- */

static const char *const roles[] = {"array", "array", "function", "operator", "operator"};

/* What was read once is among the globals; it is nobody's name. */
static bool is_system(const wg_bpl *bpl, bpl_symbol symbol)
{
    return !strncmp(bpl_symbol_text(bpl, symbol), "•", strlen("•"));
}

static bool command_names(bpl_console *console, const char *rest)
{
    (void)rest;
    for (bpl_symbol symbol = BPL_SYMBOL_FIXED; symbol <= console->bpl->symbol_count; symbol++) {
        bpl_value *value = console->bpl->globals[symbol];
        if (value && !is_system(console->bpl, symbol)) bpl_console_print(console, "%s  %s\n", bpl_symbol_text(console->bpl, symbol), roles[bpl_role_of(value)]);
    }
    return true;
}

/* name←source, for all names that have a value; functions by the text that made them. */
static bool put_names(wg_bpl *bpl, base_string *text)
{
    for (bpl_symbol symbol = BPL_SYMBOL_FIXED; symbol <= bpl->symbol_count; symbol++) {
        bpl_value *value = bpl->globals[symbol];
        if (!value || is_system(bpl, symbol)) continue;
        base_string_printf(text, "%s←", bpl_symbol_text(bpl, symbol));
        bool function = bpl_is_function(value) || bpl_holds_function(value);
        if (!(function ? bpl_put_inline(bpl, text, value, &(bpl_style){.full = true}) : bpl_literal(bpl, value, text))) return false;
        base_string_puts(text, "\n");
    }
    return !text->failed || bpl_fail_memory(bpl);
}

static bool tell_error(bpl_console *console)
{
    bpl_console_fault(console, "%s ERROR: %s", console->bpl->error.kind, console->bpl->error.message);
    bpl_error_clear(console->bpl);
    return false;
}

static bool command_save(bpl_console *console, const char *path)
{
    if (!*path) return bpl_console_fault(console, "]save FILE writes the names and their values as a script");
    base_string text = base_string_new(tool_allocator());
    wg_error error = {.code = WG_OK};
    bpl_error_clear(console->bpl);
    bool done = put_names(console->bpl, &text) || tell_error(console);
    if (done && !base_file_write(tool_allocator(), path, text.text ? text.text : "", text.length, &error)) done = bpl_console_fault(console, "%s", error.message);
    base_string_free(&text);
    return done;
}

static bool command_load(bpl_console *console, const char *path)
{
    if (!*path) return bpl_console_fault(console, "]load FILE runs a script");
    base_string text = base_string_new(tool_allocator());
    bool done = bpl_console_read(console, path, &text) && bpl_console_run(console, path, text.text, text.length);
    base_string_free(&text);
    return done;
}

static bool command_log(bpl_console *console, const char *path)
{
    if (console->log) fclose(console->log);
    console->log = NULL;
    if (*path && !(console->log = fopen(path, "a"))) return bpl_console_fault(console, "%s: %s", path, strerror(errno));
    return true;
}

/* ---- statements --------------------------------------------------------------------------------------------------------------------------------- */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Run again and again for a tenth of a second at least: the least time of one run. */
static bool command_time(bpl_console *console, const char *text)
{
    double start = seconds(), least = 1e300, whole;
    int runs = 0;
    if (!*text) return bpl_console_fault(console, "]time EXPRESSION says how long it takes, as ]time +/⍳1000");
    do {
        wg_bpl_outcome outcome;
        double from = seconds();
        if (!wg_bpl_run(console->bpl, "time", text, strlen(text), &outcome)) {
            console->stopped = !strcmp(outcome.kind, "INTERRUPT");
            return bpl_console_fault(console, "%s", outcome.report);
        }
        double took = seconds() - from;
        if (took < least) least = took;
        runs++;
        whole = seconds() - start;
    } while (whole < 0.1 && runs < 1000000);
    const char *unit = least < 1e-6 ? "ns" : least < 1e-3 ? "µs" : least < 1 ? "ms" : "s";
    double scale = least < 1e-6 ? 1e9 : least < 1e-3 ? 1e6 : least < 1 ? 1e3 : 1;
    bpl_console_print(console, "%.4g %s, the least of %d run%s\n", least * scale, unit, runs, runs == 1 ? "" : "s");
    return true;
}

static bool command_dissect(bpl_console *console, const char *text)
{
    bpl_error_clear(console->bpl); /* of the last run */
    bpl_source *source = bpl_source_new(console->bpl, "dissect", text, strlen(text));
    for (uint32_t i = 0; source && i < source->body.count; i++) {
        const bpl_node *tree = bpl_statement_tree(console->bpl, source, &source->body.statements[i]);
        base_string shown = base_string_new(tool_allocator());
        if (!tree) break;
        bpl_print_tree(&shown, tree);
        if (!shown.failed) bpl_console_print(console, "%s\n", shown.text);
        base_string_free(&shown);
    }
    bool done = !bpl_failed(console->bpl) || tell_error(console);
    if (source) bpl_source_release(source);
    return done;
}

static bool command_exit(bpl_console *console, const char *rest)
{
    (void)rest;
    return console->leaves = true;
}

/* ---- the table ------------------------------------------------------------------------------------------------------------------------------------ */

static const struct command {
    const char *name, *what;
    bool (*code)(bpl_console *console, const char *rest);
} commands[] = {
    {"help", "]help X: a glyph, its name or a system name, with examples; alone: all of them", bpl_help},
    {"names", "]names: what was named", command_names},
    {"time", "]time EXPRESSION: how long it takes", command_time},
    {"dissect", "]dissect EXPRESSION: how it is grouped", command_dissect},
    {"save", "]save FILE: names and their values as a script", command_save},
    {"load", "]load FILE: runs a script", command_load},
    {"log", "]log FILE: writes what is typed and shown to a file; alone: no more", command_log},
    {"exit", "]exit: ends the session, as Ctrl-D does", command_exit},
};

#define COMMANDS (uint32_t)(sizeof commands / sizeof *commands)

const char *bpl_command_name(uint32_t index) { return index < COMMANDS ? commands[index].name : NULL; }

static bool unknown(bpl_console *console)
{
    base_string list = base_string_new(tool_allocator());
    for (uint32_t i = 0; i < COMMANDS; i++) base_string_printf(&list, "\n  %s", commands[i].what);
    bpl_console_fault(console, "there is no such command; there are%s", list.failed ? "" : list.text);
    base_string_free(&list);
    return false;
}

bool bpl_command(bpl_console *console, const char *line, size_t length)
{
    base_string text = base_string_new(tool_allocator());
    while (length && strchr(" \t\r\n", line[length - 1])) length--;
    base_string_put(&text, line, length);
    if (text.failed) return base_string_free(&text), bpl_console_fault(console, "out of memory");
    size_t name = strcspn(text.text + 1, " \t\n");
    const char *rest = text.text + 1 + name;
    const struct command *found = NULL;
    rest += strspn(rest, " \t");
    for (uint32_t i = 0; i < COMMANDS; i++)
        if (strlen(commands[i].name) == name && !memcmp(commands[i].name, text.text + 1, name)) found = &commands[i];
    bool done = found ? found->code(console, rest) : unknown(console);
    fflush(stdout);
    base_string_free(&text);
    return done;
}
