/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * wengert bpl: an expression, a script, stdin, or a prompt. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "bpl/respell.h"
#include "tools/bpl_console.h"

/* NULL: stdin. */
static const char *file_of(const tool_call *call) { return call->word_count && strcmp(call->words[0], "-") ? call->words[0] : NULL; }

/* The text of -e, of a file or of stdin with glyphs for names, or names for glyphs. */
static int respell(bpl_console *console, const tool_call *call, const char *to)
{
    base_string text = base_string_new(tool_allocator()), other = base_string_new(tool_allocator());
    const char *expression = tool_value(call, "expression");
    if (expression) base_string_puts(&text, expression), base_string_puts(&text, "\n");
    bool done = expression ? !text.failed : bpl_console_read(console, file_of(call), &text);
    if (done) bpl_respell(&other, text.text, text.length, !strcmp(to, "names"));
    if (done && other.failed) done = bpl_console_fault(console, "wengert bpl: out of memory");
    if (done && other.length) fwrite(other.text, 1, other.length, stdout);
    base_string_free(&text);
    base_string_free(&other);
    return done ? TOOL_DONE : console->stopped ? TOOL_INTERRUPTED : TOOL_FAILED;
}

static int run_text(bpl_console *console, const char *name, const char *text, size_t length)
{
    bool done = bpl_console_run(console, name, text, length);
    return done ? TOOL_DONE : console->stopped ? TOOL_INTERRUPTED : TOOL_FAILED;
}

static int run_file(bpl_console *console, const char *path)
{
    base_string text = base_string_new(tool_allocator());
    bool read = bpl_console_read(console, path, &text);
    int code = read ? run_text(console, path ? path : "stdin", text.text, text.length) : console->stopped ? TOOL_INTERRUPTED : TOOL_FAILED;
    base_string_free(&text);
    return code;
}

/* A session makes arrays of one size over and over: blocks of up to 32 MB (the most that can be asked for) stay with the process, or each
 * would be mapped and its pages cleared anew. */
static void keep_blocks(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 128 << 20);
#endif
}

int verb_bpl(const tool_call *call)
{
    keep_blocks();
    const char *expression = tool_value(call, "expression"), *to = tool_value(call, "format");
    if (to && strcmp(to, "names") && strcmp(to, "glyphs")) return tool_usage(call, "--format is glyphs or names, not '%s'", to);
    if (tool_value(call, "worker")) return bpl_worker(call);
    bpl_console console;
    if (!bpl_console_open(&console, call)) return TOOL_FAILED;
    int code = to ? respell(&console, call, to)
             : expression ? run_text(&console, "expression", expression, strlen(expression))
             : !call->word_count && isatty(STDIN_FILENO) ? bpl_prompt(&console) : run_file(&console, file_of(call));
    bpl_console_close(&console);
    return code;
}
