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

/* The text of -e, of a file or of stdin with glyphs for names, or names for glyphs. */
static int respell(const tool_call *call, const char *to)
{
    bool names = !strcmp(to, "names");
    if (!names && strcmp(to, "glyphs")) return tool_usage(call, "--format is glyphs or names, not '%s'", to);
    base_string text = base_string_new(tool_allocator()), other = base_string_new(tool_allocator());
    const char *expression = tool_value(call, "expression");
    if (expression) base_string_puts(&text, expression), base_string_puts(&text, "\n");
    bool done = expression ? !text.failed : bpl_console_read(call->word_count ? call->words[0] : "-", &text);
    if (done) bpl_respell(&other, text.text, text.length, names);
    if (done && other.failed) done = false, fputs("wengert bpl: out of memory\n", stderr);
    if (done && other.length) fwrite(other.text, 1, other.length, stdout);
    base_string_free(&text);
    base_string_free(&other);
    return done ? TOOL_DONE : TOOL_FAILED;
}

static int run_text(const tool_call *call, const char *name, const char *text, size_t length)
{
    bpl_console console;
    if (!bpl_console_open(&console, call)) return TOOL_FAILED;
    bool done = bpl_console_run(&console, name, text, length);
    bool stopped = console.stopped;
    bpl_console_close(&console);
    return done ? TOOL_DONE : stopped ? TOOL_INTERRUPTED : TOOL_FAILED;
}

static int run_file(const tool_call *call, const char *path)
{
    base_string text = base_string_new(tool_allocator());
    int code = bpl_console_read(path, &text) ? run_text(call, strcmp(path, "-") ? path : "stdin", text.text, text.length) : TOOL_FAILED;
    base_string_free(&text);
    return code;
}

static int talk(const tool_call *call)
{
    bpl_console console;
    if (!bpl_console_open(&console, call)) return TOOL_FAILED;
    int code = bpl_prompt(&console);
    bpl_console_close(&console);
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
    if (to) return respell(call, to);
    if (tool_value(call, "worker")) return bpl_worker(call);
    if (expression) return run_text(call, "expression", expression, strlen(expression));
    if (call->word_count) return run_file(call, call->words[0]);
    return isatty(STDIN_FILENO) ? talk(call) : run_file(call, "-");
}
