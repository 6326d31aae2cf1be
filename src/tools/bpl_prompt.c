/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The prompt: statements by bpl_editor.c where libedit is there, plain lines else, where a statement goes on over lines until its brackets are
 * closed. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/bpl_editor.h"

/* $XDG_STATE_HOME/wengert/bpl_history, or ~/.local/state/..; "" where there is no home. */
static void find_history(char *path, size_t bytes)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char folder[4000], own[4050];
    *path = 0;
    if (state && *state) snprintf(folder, sizeof folder, "%s", state);
    else if (home && *home) {
        snprintf(folder, sizeof folder, "%s/.local", home);
        mkdir(folder, 0700);
        snprintf(folder, sizeof folder, "%s/.local/state", home);
    } else return;
    mkdir(folder, 0700);
    snprintf(own, sizeof own, "%s/wengert", folder);
    mkdir(own, 0700);
    snprintf(path, bytes, "%s/bpl_history", own);
}

/* What is off where lines are not edited. */
static const char *off(const bpl_editor *editor) { return editor ? "" : "\nlines are not edited, coloured or kept: built without libedit (wengert version)"; }

static const char *read_plain(bpl_console *console, bool further)
{
    size_t length;
    fputs(further ? "    … " : "      ", stdout);
    return bpl_console_line(console, &length);
}

int bpl_prompt(bpl_console *console)
{
    char history[4096];
    base_string statement = base_string_new(tool_allocator());
    bool further = false, given_up = false;
    find_history(history, sizeof history);
    bpl_editor *editor = bpl_editor_new(console, history);
    printf("wengert bpl %s; ]help, and Ctrl-D to leave%s\n", WENGERT_VERSION, off(editor));
    while (!console->leaves) {
        const char *line = editor ? bpl_editor_read(editor, further, &given_up) : read_plain(console, further);
        if (!line) break;
        if (given_up) {
            statement.length = 0, further = false;
            continue;
        }
        if (further) base_string_puts(&statement, "\n");
        base_string_puts(&statement, line);
        if (statement.failed) break;
        further = statement.text[0] != ']' && bpl_console_is_open(console, statement.text, statement.length);
        if (further) continue;
        if (editor) bpl_editor_remember(editor, statement.text);
        bpl_console_run(console, "", statement.text, statement.length);
        statement.length = 0;
    }
    if (!console->leaves) putchar('\n');
    if (editor) bpl_editor_free(editor);
    base_string_free(&statement);
    return TOOL_DONE;
}
