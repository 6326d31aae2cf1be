/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The prompt: lines by libedit where it is there (history, moving about, Tab for names and glyphs), plain lines else. A statement goes on over
 * lines until its brackets are closed. */
#define _POSIX_C_SOURCE 200809L
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_LIBEDIT
#include <histedit.h>
#endif

#include "bpl/respell.h"
#include "tools/bpl_console.h"

#define HISTORY 10000

typedef struct prompt {
    bpl_console *console;
    bool goes_on;  /* the statement's first line was read */
    bool given_up; /* by Ctrl-C */
    char history_path[4096];
#ifdef HAVE_LIBEDIT
    EditLine *editor;
    History *history;
#endif
    char *line;
    size_t line_room;
} prompt;

/* ---- completion ---------------------------------------------------------------------------------------------------------------------------------- */

#ifdef HAVE_LIBEDIT

typedef struct matches {
    const char *word;
    size_t length;
    uint32_t count;
    char common[128];
    base_string list;
} matches;

static void match(matches *m, const char *name)
{
    if (strncmp(name, m->word, m->length)) return;
    if (!m->count) snprintf(m->common, sizeof m->common, "%s", name);
    size_t same = 0;
    while (m->common[same] && m->common[same] == name[same]) same++;
    while (same && ((unsigned char)m->common[same] & 0xC0) == 0x80) same--; /* not within a character */
    m->common[same] = 0;
    m->count++;
    base_string_printf(&m->list, "%s  ", name);
}

static void match_all(matches *m, wg_bpl *bpl)
{
    char whole[80];
    bpl_respelling spelling;
    const char *command;
    for (uint32_t i = 0; m->word[0] == '`' && bpl_respelling_at(i, &spelling); i++) {
        snprintf(whole, sizeof whole, "`%s", spelling.name);
        match(m, whole);
    }
    for (uint32_t i = 0; m->word[0] == ']' && (command = bpl_command_name(i)); i++) {
        snprintf(whole, sizeof whole, "]%s", command);
        match(m, whole);
    }
    for (uint32_t i = 0; !strncmp(m->word, "•", strlen("•")) && i < BPL_SYSTEM_COUNT; i++) {
        snprintf(whole, sizeof whole, "•%s", bpl_systems[i].name);
        match(m, whole);
    }
    for (bpl_symbol symbol = BPL_SYMBOL_FIXED; symbol <= bpl->symbol_count; symbol++)
        if (bpl->globals[symbol]) match(m, bpl_symbol_text(bpl, symbol));
}

/* Where the word before the cursor begins: letters, • or ] or a backquote before them. */
static size_t word_start(const char *text, size_t cursor)
{
    size_t start = cursor;
    while (start) {
        unsigned char c = (unsigned char)text[start - 1];
        if (c < 0x80 && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && c != '_') break;
        start--;
    }
    return start && (text[start - 1] == '`' || (text[start - 1] == ']' && start == 1)) ? start - 1 : start;
}

static unsigned char complete(EditLine *editor, int key)
{
    prompt *p;
    bpl_respelling spelling;
    (void)key;
    el_get(editor, EL_CLIENTDATA, &p);
    const LineInfo *line = el_line(editor);
    size_t cursor = (size_t)(line->cursor - line->buffer), start = word_start(line->buffer, cursor);
    char word[128];
    if (cursor == start || cursor - start >= sizeof word) return CC_ERROR;
    snprintf(word, sizeof word, "%.*s", (int)(cursor - start), line->buffer + start);
    matches m = {.word = word, .length = strlen(word), .list = base_string_new(tool_allocator())};
    match_all(&m, p->console->bpl);
    unsigned char answer = CC_ERROR;
    int characters = 0;
    for (const char *c = word; *c; c++) characters += ((unsigned char)*c & 0xC0) != 0x80;
    if (m.count) {
        el_deletestr(editor, characters);
        bool exact = m.count == 1 && word[0] == '`';
        for (uint32_t i = 0; exact && bpl_respelling_at(i, &spelling); i++)
            if (!strcmp(spelling.name, m.common + 1)) snprintf(m.common, sizeof m.common, "%s", spelling.character);
        el_insertstr(editor, m.common);
        answer = CC_REFRESH;
        if (m.count > 1 && !strcmp(m.common, word)) {
            printf("\n%s\n", m.list.failed ? "" : m.list.text);
            answer = CC_REDISPLAY;
        }
    }
    base_string_free(&m.list);
    return answer;
}

/* Ctrl-C while a line is edited, where it is a key like others. */
static unsigned char give_up(EditLine *editor, int key)
{
    prompt *p;
    (void)key;
    el_get(editor, EL_CLIENTDATA, &p);
    p->given_up = true;
    fputs("^C\n", stdout);
    fflush(stdout);
    return CC_NEWLINE;
}

static char *prompt_text(EditLine *editor)
{
    prompt *p;
    static char first[] = "      ", further[] = "    … ";
    el_get(editor, EL_CLIENTDATA, &p);
    return p->goes_on ? further : first;
}

#endif

/* ---- lines ------------------------------------------------------------------------------------------------------------------------------------------- */

/* $XDG_STATE_HOME/wengert/bpl_history, or ~/.local/state/..; "" where there is no home. */
static void find_history(prompt *p)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char folder[4000];
    p->history_path[0] = 0;
    if (state && *state) snprintf(folder, sizeof folder, "%s", state);
    else if (home && *home) {
        snprintf(folder, sizeof folder, "%s/.local", home);
        mkdir(folder, 0700);
        snprintf(folder, sizeof folder, "%s/.local/state", home);
    } else return;
    mkdir(folder, 0700);
    snprintf(p->history_path, sizeof p->history_path, "%s/wengert", folder);
    mkdir(p->history_path, 0700);
    snprintf(p->history_path, sizeof p->history_path, "%s/wengert/bpl_history", folder);
}

static void prompt_open(prompt *p, bpl_console *console)
{
    *p = (prompt){.console = console};
    find_history(p);
#ifdef HAVE_LIBEDIT
    HistEvent event;
    setlocale(LC_CTYPE, "");
    p->editor = el_init("wengert", stdin, stdout, stderr);
    p->history = history_init();
    if (!p->editor || !p->history) return;
    history(p->history, &event, H_SETSIZE, HISTORY);
    history(p->history, &event, H_SETUNIQUE, 1);
    if (p->history_path[0]) history(p->history, &event, H_LOAD, p->history_path);
    el_set(p->editor, EL_CLIENTDATA, p);
    el_set(p->editor, EL_PROMPT, prompt_text);
    el_set(p->editor, EL_EDITOR, "emacs");
    el_set(p->editor, EL_SIGNAL, 0);
    el_set(p->editor, EL_HIST, history, p->history);
    el_set(p->editor, EL_ADDFN, "complete", "names and glyphs", complete);
    el_set(p->editor, EL_BIND, "^I", "complete", NULL);
    el_set(p->editor, EL_ADDFN, "give-up", "drops the line", give_up);
    el_set(p->editor, EL_BIND, "^C", "give-up", NULL);
    el_set(p->editor, EL_SETTY, "-d", "-isig", NULL);
    el_source(p->editor, NULL);
#endif
}

static void prompt_close(prompt *p)
{
#ifdef HAVE_LIBEDIT
    HistEvent event;
    if (p->history && p->history_path[0]) history(p->history, &event, H_SAVE, p->history_path);
    if (p->history) history_end(p->history);
    if (p->editor) el_end(p->editor);
#endif
    free(p->line);
}

/* One line with its end; NULL at the end of input. */
static const char *read_one(prompt *p)
{
    p->given_up = false;
#ifdef HAVE_LIBEDIT
    if (p->editor) {
        int count = 0;
        const char *line = el_gets(p->editor, &count);
        return line && count > 0 ? line : p->given_up ? "" : NULL;
    }
#endif
    fputs(p->goes_on ? "    … " : "      ", stdout);
    fflush(stdout);
    return getline(&p->line, &p->line_room, stdin) < 0 ? NULL : p->line;
}

static void remember(prompt *p, const char *text)
{
#ifdef HAVE_LIBEDIT
    HistEvent event;
    if (p->history && text[strspn(text, " \t\n")]) history(p->history, &event, H_ENTER, text);
#else
    (void)p, (void)text;
#endif
}

int bpl_prompt(bpl_console *console)
{
    prompt p;
    base_string statement = base_string_new(tool_allocator());
    bool leaves = false;
    prompt_open(&p, console);
    printf("wengert bpl %s; ]help, and Ctrl-D to leave\n", WENGERT_VERSION);
    while (!leaves) {
        const char *line = read_one(&p);
        if (!line) break;
        if (p.given_up) {
            statement.length = 0, p.goes_on = false;
            continue;
        }
        base_string_puts(&statement, line);
        if (statement.failed) break;
        bool command = !p.goes_on && statement.text[0] == ']';
        p.goes_on = !command && bpl_text_is_open(console->bpl, statement.text, statement.length);
        if (p.goes_on) continue;
        while (statement.length && statement.text[statement.length - 1] == '\n') statement.text[--statement.length] = 0;
        remember(&p, statement.text);
        if (command) bpl_command(console, statement.text, &leaves);
        else bpl_console_run(console, "", statement.text, statement.length);
        statement.length = 0;
    }
    if (!leaves) putchar('\n');
    prompt_close(&p);
    base_string_free(&statement);
    return TOOL_DONE;
}
