/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * wengert bpl: a session of the array language at a prompt, over a script, an expression or lines of JSON. bpl_verb.c chooses; bpl_console.c runs
 * texts and shows what they answer; bpl_prompt.c reads lines from people, bpl_commands.c has their ]commands, bpl_help.c ]help; bpl_worker.c
 * speaks JSON. */
#ifndef TOOLS_BPL_CONSOLE_H
#define TOOLS_BPL_CONSOLE_H

#include <stdio.h>

#include "bpl/bpl.h"
#include "tools/tools.h"

typedef struct bpl_console {
    wg_bpl *bpl;
    FILE *log;       /* of ]log; NULL: none */
    char *line;      /* the last one read for ⎕ */
    size_t line_room;
    bool stopped;    /* a run ended by an interrupt */
} bpl_console;

/* A session that writes to stdout and reads ⎕ from stdin; Ctrl-C stops what runs. False: printed. */
bool bpl_console_open(bpl_console *console, const tool_call *call);
void bpl_console_close(bpl_console *console);
/* Runs a text and prints what it answers, an error to stderr. False after an error. */
bool bpl_console_run(bpl_console *console, const char *name, const char *text, size_t length);
/* stdout, and the log. */
void bpl_console_print(bpl_console *console, const char *format, ...) BASE_PRINTF(2, 3);
/* A whole file, "-" stdin, as an owned string. False: printed. */
bool bpl_console_read(const char *path, base_string *text);

/* Lines from a person until the end of input or ]exit: the exit code. */
int bpl_prompt(bpl_console *console);
/* A line that begins with ]; *leaves: it was ]exit. */
void bpl_command(bpl_console *console, const char *line, bool *leaves);
/* The names of ]commands, for completion; NULL behind the last. */
const char *bpl_command_name(uint32_t index);
/* ]help of a glyph, a name of one, or a system name; NULL or "": the list of all. */
void bpl_help(bpl_console *console, const char *word);
/* JSON lines on stdin and stdout: the exit code. */
int bpl_worker(const tool_call *call);

#endif
