/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * wengert bpl: a session of the array language at a prompt, over a script, an expression or lines of JSON. bpl_verb.c chooses; bpl_console.c runs
 * texts and shows what they answer; bpl_commands.c has the ]commands, bpl_help.c ]help; bpl_prompt.c asks people, whose lines bpl_editor.c edits and
 * bpl_screen.c paints; bpl_worker.c speaks JSON. */
#ifndef TOOLS_BPL_CONSOLE_H
#define TOOLS_BPL_CONSOLE_H

#include <stdio.h>

#include "bpl/bpl.h"
#include "tools/tools.h"

typedef struct bpl_console {
    wg_bpl *bpl;
    FILE *log;           /* of ]log; NULL: none */
    base_string input;   /* read for ⎕; of its bytes [taken) are used */
    size_t taken;
    base_string *output; /* of a worker: what is written stays here, and so do the */
    base_string *faults; /* of its ]commands; NULL: stdout and stderr */
    bool stopped;        /* a run ended by an interrupt */
    bool leaves;         /* ]exit was said */
} bpl_console;

/* A session that writes to stdout and reads ⎕ from stdin; Ctrl-C stops what runs. False: printed. */
bool bpl_console_open(bpl_console *console, const tool_call *call);
void bpl_console_close(bpl_console *console);
/* Runs a text and prints what it answers, an error to stderr. A line that begins with ] outside brackets and quotes is a command. False after an error. */
bool bpl_console_run(bpl_console *console, const char *name, const char *text, size_t length);
/* stdout, and the log. */
void bpl_console_print(bpl_console *console, const char *format, ...) BASE_PRINTF(2, 3);
/* What is wrong with a ]command, to stderr and the log; false. */
bool bpl_console_fault(bpl_console *console, const char *format, ...) BASE_PRINTF(2, 3);
/* A whole file, NULL: stdin, as an owned string. False: printed. */
bool bpl_console_read(bpl_console *console, const char *path, base_string *text);
/* Whether a text ends within brackets or quotes. */
bool bpl_console_is_open(bpl_console *console, const char *text, size_t length);

/* A line of stdin [*length] without its end; NULL: there is none, or Ctrl-C came. Borrowed until the next. */
const char *bpl_console_line(bpl_console *console, size_t *length);

/* Statements from a person until the end of input or ]exit: the exit code. */
int bpl_prompt(bpl_console *console);
/* A line [length] that begins with ]. False: a fault was told. */
bool bpl_command(bpl_console *console, const char *line, size_t length);
/* The names of ]commands, for completion; NULL behind the last. */
const char *bpl_command_name(uint32_t index);
/* ]help of a glyph, a name of one, or a system name; "": the list of all. */
bool bpl_help(bpl_console *console, const char *word);
/* JSON lines on stdin and stdout: the exit code. */
int bpl_worker(const tool_call *call);

#endif
