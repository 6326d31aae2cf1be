/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Keys. A statement is one text of libedit's with newlines in it: Return begins a line within brackets and quotes, and ends the statement else; the
 * arrows move between lines, and beyond the first and the last one among the statements before. Tab completes names; a name of a glyph behind a
 * backquote becomes the glyph by Tab, or by what is typed behind it. Before a key is read the text is painted (bpl_screen.c). */
#define _XOPEN_SOURCE 700
#include "tools/bpl_editor.h"

#ifdef HAVE_LIBEDIT
#include <errno.h>
#include <histedit.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "bpl/reader.h"
#include "bpl/respell.h"
#include "tools/bpl_screen.h"

#define HISTORY 10000
#define GLYPH_KEY L'\036' /* Ctrl-^: the name before the cursor becomes its glyph */
#define END_KEY "\037"    /* Ctrl-_: ends the statement */

struct bpl_editor {
    bpl_console *console;
    EditLine *editor;
    History *history;
    const char *history_path;
    bool further;   /* a line that is not a statement's first */
    bool by_lines;  /* the terminal has no way up */
    bool colours;
    bool given_up;
    wchar_t waiting; /* the key behind GLYPH_KEY */
    base_string text, escapes;
    uint8_t *inks;
    size_t ink_room;
};

static bpl_editor *editor_of(EditLine *line)
{
    bpl_editor *e;
    el_get(line, EL_CLIENTDATA, &e);
    return e;
}

/* The text that is edited, as a text with its end; the cursor as a byte of it. */
static size_t text_of(bpl_editor *e, base_string *text)
{
    const LineInfo *line = el_line(e->editor);
    text->length = 0;
    base_string_put(text, line->buffer, (size_t)(line->lastchar - line->buffer));
    return text->failed ? 0 : (size_t)(line->cursor - line->buffer);
}

static int characters(const char *text, size_t length)
{
    int count = 0;
    for (size_t i = 0; i < length; i++) count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

/* ---- completion ---------------------------------------------------------------------------------------------------------------------------------- */

typedef struct matches {
    const char *word;
    size_t length;
    uint32_t count;
    char common[128];
    base_string list;
} matches;

static void match(matches *m, const char *before, const char *name)
{
    char whole[128];
    snprintf(whole, sizeof whole, "%s%s", before, name);
    if (strncmp(whole, m->word, m->length)) return;
    if (!m->count) snprintf(m->common, sizeof m->common, "%s", whole);
    size_t same = 0;
    while (m->common[same] && m->common[same] == whole[same]) same++;
    while (same && ((unsigned char)m->common[same] & 0xC0) == 0x80) same--; /* not within a character */
    m->common[same] = 0;
    m->count++;
    base_string_printf(&m->list, "%s  ", whole);
}

static void match_all(matches *m, wg_bpl *bpl)
{
    bpl_respelling spelling;
    const char *command;
    for (uint32_t i = 0; m->word[0] == '`' && bpl_respelling_at(i, &spelling); i++) match(m, "`", spelling.name);
    for (uint32_t i = 0; m->word[0] == ']' && (command = bpl_command_name(i)); i++) match(m, "]", command);
    for (uint32_t i = 0; !strncmp(m->word, "•", strlen("•")) && i < BPL_SYSTEM_COUNT; i++) match(m, "•", bpl_systems[i].name);
    for (bpl_symbol symbol = BPL_SYMBOL_FIXED; symbol <= bpl->symbol_count; symbol++)
        if (bpl->globals[symbol]) match(m, "", bpl_symbol_text(bpl, symbol));
}

/* Where the word before the cursor begins: letters, • or ] or a backquote before them. */
static size_t word_start(const char *text, size_t cursor)
{
    size_t start = cursor;
    while (start) {
        size_t before = start - 1;
        uint32_t bytes;
        while (before && ((unsigned char)text[before] & 0xC0) == 0x80) before--;
        uint32_t code = bpl_code_point(text + before, &bytes);
        if (code != '_' && !bpl_is_letter(code)) break;
        start = before;
    }
    if (start >= strlen("•") && !memcmp(text + start - strlen("•"), "•", strlen("•"))) return start - strlen("•");
    return start && (text[start - 1] == '`' || (text[start - 1] == ']' && start == 1)) ? start - 1 : start;
}

/* The glyph that a backquote and a name are; NULL: none. */
static const char *glyph_of(const char *word, size_t length)
{
    static bpl_respelling spelling;
    for (uint32_t i = 0; length > 1 && *word == '`' && bpl_respelling_at(i, &spelling); i++)
        if (strlen(spelling.name) == length - 1 && !memcmp(spelling.name, word + 1, length - 1)) return spelling.character;
    return NULL;
}

static void replace(bpl_editor *e, const char *word, size_t length, const char *by)
{
    el_deletestr(e->editor, characters(word, length));
    el_insertstr(e->editor, by);
}

static unsigned char complete(EditLine *line, int key)
{
    (void)key;
    bpl_editor *e = editor_of(line);
    size_t cursor = text_of(e, &e->text), start = cursor ? word_start(e->text.text, cursor) : 0;
    char word[128];
    if (cursor == start || cursor - start >= sizeof word) return CC_ERROR;
    snprintf(word, sizeof word, "%.*s", (int)(cursor - start), e->text.text + start);
    matches m = {.word = word, .length = strlen(word), .list = base_string_new(tool_allocator())};
    match_all(&m, e->console->bpl);
    unsigned char answer = m.count ? CC_REFRESH : CC_ERROR;
    const char *glyph = m.count == 1 ? glyph_of(m.common, strlen(m.common)) : NULL;
    if (m.count) replace(e, word, strlen(word), glyph ? glyph : m.common);
    if (m.count > 1 && !strcmp(m.common, word)) {
        printf("\n%s\n", m.list.failed ? "" : m.list.text);
        answer = CC_REDISPLAY;
    }
    base_string_free(&m.list);
    return answer;
}

/* ---- names of glyphs that are typed ---------------------------------------------------------------------------------------------------------------- */

static bool is_letter(wchar_t key) { return (key >= L'a' && key <= L'z') || (key >= L'A' && key <= L'Z'); }

/* The bytes of ]command at the beginning of a text. */
static size_t command_of(const char *text) { return *text == ']' ? strcspn(text, " \t\n") : 0; }

static bool ink(bpl_editor *e)
{
    if (e->text.failed || !e->text.length) return false;
    if (e->ink_room < e->text.length) {
        uint8_t *inks = realloc(e->inks, 2 * e->text.length);
        if (!inks) return false;
        e->inks = inks, e->ink_room = 2 * e->text.length;
    }
    size_t command = command_of(e->text.text);
    memset(e->inks, BPL_INK_OPERATOR, command);
    return bpl_paint(e->console->bpl, e->text.text + command, e->text.length - command, e->inks + command);
}

/* Whether the key ends the name of a glyph before the cursor, outside quotes and comments. */
static bool ends_glyph(bpl_editor *e, wchar_t key)
{
    if (key < L' ' || key == 127 || is_letter(key)) return false;
    size_t cursor = text_of(e, &e->text), start = cursor ? word_start(e->text.text, cursor) : 0;
    if (cursor <= start || !glyph_of(e->text.text + start, cursor - start) || !ink(e)) return false;
    return e->inks[start] != BPL_INK_LITERAL && e->inks[start] != BPL_INK_COMMENT;
}

static unsigned char put_glyph(EditLine *line, int key)
{
    (void)key;
    bpl_editor *e = editor_of(line);
    size_t cursor = text_of(e, &e->text), start = cursor ? word_start(e->text.text, cursor) : 0;
    const char *glyph = cursor > start ? glyph_of(e->text.text + start, cursor - start) : NULL;
    if (!glyph) return CC_ERROR;
    replace(e, e->text.text + start, cursor - start, glyph);
    return CC_REFRESH;
}

/* pairs: the brackets at the cursor stand out. */
static void paint(bpl_editor *e, bool pairs)
{
    struct winsize size;
    size_t cursor = text_of(e, &e->text);
    if (!e->colours || !ink(e) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size)) return;
    bpl_screen screen = {.columns = size.ws_col, .rows = size.ws_row, .indent = 6, .pairs = pairs};
    e->escapes.length = 0;
    bpl_screen_paint(&e->escapes, &screen, e->text.text, e->text.length, cursor, e->inks);
    if (e->escapes.failed || !e->escapes.length) return;
    fwrite(e->escapes.text, 1, e->escapes.length, stdout);
    fflush(stdout);
}

/* ---- lines of a statement -------------------------------------------------------------------------------------------------------------------------- */

static unsigned char enter(EditLine *line, int key)
{
    (void)key;
    bpl_editor *e = editor_of(line);
    text_of(e, &e->text);
    bool open = !e->by_lines && e->text.length && e->text.text[0] != ']' && bpl_console_is_open(e->console, e->text.text, e->text.length);
    if (open && !el_insertstr(line, "\n")) return CC_REFRESH;
    paint(e, false);
    el_push(line, END_KEY);
    return CC_NORM;
}

/* Up (-1) or down (1) a line at the same column; among the statements before where there is none. */
static unsigned char change_line(bpl_editor *e, int step)
{
    size_t cursor = text_of(e, &e->text), start = cursor, to;
    const char *text = e->text.length ? e->text.text : "", *end = cursor < e->text.length ? strchr(text + cursor, '\n') : NULL;
    while (start && text[start - 1] != '\n') start--;
    if (step < 0 ? !start : !end) return el_push(e->editor, step < 0 ? "\020" : "\016"), CC_NORM; /* ^P, ^N */
    int column = characters(text + start, cursor - start);
    if (step > 0) to = (size_t)(end - text) + 1;
    else for (to = start - 1; to && text[to - 1] != '\n';) to--;
    for (uint32_t bytes; column && to < e->text.length && text[to] != '\n'; column--) bpl_code_point(text + to, &bytes), to += bytes;
    el_cursor(e->editor, step > 0 ? characters(text + cursor, to - cursor) : -characters(text + to, cursor - to));
    return CC_REFRESH;
}

static unsigned char line_up(EditLine *line, int key) { return (void)key, change_line(editor_of(line), -1); }
static unsigned char line_down(EditLine *line, int key) { return (void)key, change_line(editor_of(line), 1); }

/* To the beginning (-1) or the end (1) of the line within the statement. */
static unsigned char to_edge(bpl_editor *e, int step)
{
    size_t cursor = text_of(e, &e->text), to = cursor;
    const char *text = e->text.length ? e->text.text : "";
    if (step > 0) to += strcspn(text + cursor, "\n");
    else while (to && text[to - 1] != '\n') to--;
    el_cursor(e->editor, step > 0 ? characters(text + cursor, to - cursor) : -characters(text + to, cursor - to));
    return CC_REFRESH;
}

static unsigned char line_begin(EditLine *line, int key) { return (void)key, to_edge(editor_of(line), -1); }
static unsigned char line_end(EditLine *line, int key) { return (void)key, to_edge(editor_of(line), 1); }

/* Ctrl-C while a line is edited, where it is a key like others. */
static unsigned char give_up(EditLine *line, int key)
{
    (void)key;
    editor_of(line)->given_up = true;
    el_cursor(line, INT_MAX / 2);
    el_insertstr(line, "^C");
    el_push(line, END_KEY);
    return CC_REFRESH;
}

/* ---- keys ------------------------------------------------------------------------------------------------------------------------------------------ */

static volatile sig_atomic_t resized;

static void note_size(int signal) { (void)signal, resized = 1; }

static void take_size(bpl_editor *e)
{
    struct winsize size;
    resized = 0;
    el_resize(e->editor);
    if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size)) e->console->bpl->preferences.width = (int32_t)size.ws_col;
    el_set(e->editor, EL_REFRESH);
}

/* One character of UTF-8; bytes that are none are dropped. */
static int read_character(bpl_editor *e, wchar_t *key)
{
    mbstate_t state = {0};
    char byte;
    for (;;) {
        if (resized) take_size(e), paint(e, true);
        ssize_t count = read(STDIN_FILENO, &byte, 1);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return (int)count;
        size_t done = mbrtowc(key, &byte, 1, &state);
        if (done == (size_t)-1) memset(&state, 0, sizeof state);
        else if (done != (size_t)-2) return 1;
    }
}

/* Whether the next key is there already: of a text that is pasted only the end is painted, or each key would cost as much as the whole text. */
static bool key_waits(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&input, 1, 0) > 0;
}

static int read_key(EditLine *line, wchar_t *key)
{
    bpl_editor *e = editor_of(line);
    if (e->waiting) return *key = e->waiting, e->waiting = 0, 1;
    if (!key_waits()) paint(e, true);
    int count = read_character(e, key);
    if (count <= 0 || !ends_glyph(e, *key)) return count;
    e->waiting = *key == L'`' ? 0 : *key; /* a backquote behind the name belongs to it */
    *key = GLYPH_KEY;
    return 1;
}

static char *prompt_text(EditLine *line)
{
    static char first[] = "      ", further[] = "    … ";
    return editor_of(line)->further ? further : first;
}

/* ---- the editor ------------------------------------------------------------------------------------------------------------------------------------ */

static const struct binding {
    const char *key, *function;
} bindings[] = {
    {"^I", "complete"}, {"^^", "put-glyph"}, {"^_", "ed-newline"}, {"^C", "give-up"}, {"^M", "enter"}, {"^J", "enter"}, {"^R", "em-inc-search-prev"},
    {"\\e[A", "line-up"}, {"\\eOA", "line-up"}, {"\\e[B", "line-down"}, {"\\eOB", "line-down"},
    {"^A", "line-begin"}, {"\\e[H", "line-begin"}, {"\\eOH", "line-begin"}, {"\\e[1~", "line-begin"},
    {"^E", "line-end"}, {"\\e[F", "line-end"}, {"\\eOF", "line-end"}, {"\\e[4~", "line-end"}, {"\\e[3~", "ed-delete-next-char"},
    {"\\e[5~", "ed-search-prev-history"}, {"\\e[6~", "ed-search-next-history"},
    {"\\e[1;5C", "em-next-word"}, {"\\e[1;5D", "ed-prev-word"},
};

static void bind_keys(bpl_editor *e)
{
    el_set(e->editor, EL_ADDFN, "complete", "names and glyphs", complete);
    el_set(e->editor, EL_ADDFN, "put-glyph", "the glyph of the name before the cursor", put_glyph);
    el_set(e->editor, EL_ADDFN, "give-up", "drops the statement", give_up);
    el_set(e->editor, EL_ADDFN, "enter", "a new line within brackets, else the end", enter);
    el_set(e->editor, EL_ADDFN, "line-up", "up a line", line_up);
    el_set(e->editor, EL_ADDFN, "line-down", "down a line", line_down);
    el_set(e->editor, EL_ADDFN, "line-begin", "to the beginning of the line", line_begin);
    el_set(e->editor, EL_ADDFN, "line-end", "to the end of the line", line_end);
    for (size_t i = 0; i < sizeof bindings / sizeof *bindings; i++) el_set(e->editor, EL_BIND, bindings[i].key, bindings[i].function, NULL);
}

bpl_editor *bpl_editor_new(bpl_console *console, const char *history_path)
{
    HistEvent event;
    bpl_editor *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    const char *terminal = getenv("TERM"), *no_color = getenv("NO_COLOR");
    setlocale(LC_CTYPE, "");
    *e = (bpl_editor){.console = console, .history_path = history_path, .text = base_string_new(tool_allocator()), .escapes = base_string_new(tool_allocator()),
                      .by_lines = !terminal || !*terminal || !strcmp(terminal, "dumb")};
    e->colours = !e->by_lines && !(no_color && *no_color) && isatty(STDOUT_FILENO);
    e->editor = el_init("wengert", stdin, stdout, stderr);
    e->history = history_init();
    if (!e->editor || !e->history) return bpl_editor_free(e), NULL;
    history(e->history, &event, H_SETSIZE, HISTORY);
    history(e->history, &event, H_SETUNIQUE, 1);
    if (*history_path) history(e->history, &event, H_LOAD, history_path);
    el_set(e->editor, EL_CLIENTDATA, e);
    el_set(e->editor, EL_PROMPT, prompt_text);
    el_set(e->editor, EL_EDITOR, "emacs");
    el_set(e->editor, EL_SIGNAL, 0);
    el_set(e->editor, EL_HIST, history, e->history);
    el_set(e->editor, EL_GETCFN, read_key);
    bind_keys(e);
    el_set(e->editor, EL_SETTY, "-d", "-isig", NULL);
    el_source(e->editor, NULL);
    struct sigaction action = {.sa_handler = note_size};
    sigemptyset(&action.sa_mask);
    sigaction(SIGWINCH, &action, NULL);
    return e;
}

void bpl_editor_free(bpl_editor *e)
{
    HistEvent event;
    if (e->history && *e->history_path && e->editor) history(e->history, &event, H_SAVE, e->history_path);
    if (e->history) history_end(e->history);
    if (e->editor) el_end(e->editor);
    base_string_free(&e->text);
    base_string_free(&e->escapes);
    free(e->inks);
    free(e);
}

const char *bpl_editor_read(bpl_editor *e, bool further, bool *given_up)
{
    int count = 0;
    e->further = further, e->given_up = false;
    const char *text = el_gets(e->editor, &count);
    *given_up = e->given_up;
    if (!text || count <= 0) return NULL;
    e->text.length = 0;
    base_string_put(&e->text, text, (size_t)count - (text[count - 1] == '\n'));
    return e->text.failed ? NULL : e->text.length ? e->text.text : "";
}

void bpl_editor_remember(bpl_editor *e, const char *text)
{
    HistEvent event;
    if (text[strspn(text, " \t\n")]) history(e->history, &event, H_ENTER, text);
}

#else

bpl_editor *bpl_editor_new(bpl_console *console, const char *history) { return (void)console, (void)history, NULL; }
void bpl_editor_free(bpl_editor *editor) { (void)editor; }
const char *bpl_editor_read(bpl_editor *editor, bool further, bool *given_up) { return (void)editor, (void)further, (void)given_up, NULL; }
void bpl_editor_remember(bpl_editor *editor, const char *text) { (void)editor, (void)text; }

#endif
