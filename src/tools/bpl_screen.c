/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * libedit shows a line in one colour, and knows what it wrote where. So it is left to do that, and before a key is read the same characters are
 * written to the same cells again, in colours: the layout below is libedit's own (wide characters never straddle a line's end, a newline begins a
 * line at its first column), and the cursor is back where it was. */
#define _XOPEN_SOURCE 700
#include "tools/bpl_screen.h"

#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include "bpl/reader.h"

static const char *const pens[] = {
    [BPL_INK_PLAIN] = "", [BPL_INK_NAME] = "", [BPL_INK_LITERAL] = "36", [BPL_INK_FUNCTION] = "32", [BPL_INK_OPERATOR] = "35", [BPL_INK_SIGN] = "",
    [BPL_INK_COMMENT] = "90", [BPL_INK_ERROR] = "31;4",
};

typedef struct place {
    int row, column;
} place;

static bool wraps(const bpl_screen *screen, place *at)
{
    if (at->column < screen->columns) return false;
    *at = (place){at->row + 1, 0};
    return true;
}

/* Where a character stands that comes next, and where the one behind it does. False: it is not shown as itself. */
static bool lay(const bpl_screen *screen, uint32_t code, place *at, place *next)
{
    *next = *at;
    if (code == '\n') return *next = (place){at->row + 1, 0}, true;
    if (!iswprint((wint_t)code)) return false;
    int width = wcwidth((wchar_t)code);
    if (width < 0) return false;
    if (at->column + width > screen->columns) *at = (place){at->row + 1, 0};
    *next = (place){at->row, at->column + width};
    wraps(screen, next);
    return true;
}

static void move(base_string *out, place from, place to)
{
    base_string_puts(out, "\r");
    if (to.row != from.row) base_string_printf(out, "\033[%d%c", to.row > from.row ? to.row - from.row : from.row - to.row, to.row > from.row ? 'B' : 'A');
    if (to.column) base_string_printf(out, "\033[%dC", to.column);
}

/* ---- brackets ------------------------------------------------------------------------------------------------------------------------------------ */

static bool is_bracket(const char *text, const uint8_t *inks, size_t at, const char *which)
{
    return inks[at] == BPL_INK_SIGN && text[at] && strchr(which, text[at]);
}

/* The partner of a bracket; `length`: it has none. */
static size_t partner_of(const char *text, size_t length, const uint8_t *inks, size_t at)
{
    bool forward = is_bracket(text, inks, at, "([{");
    size_t depth = 0;
    for (size_t i = at; i < length; forward ? i++ : i--) { /* before the first one is behind all */
        if (is_bracket(text, inks, i, "([{")) depth += forward ? 1 : -(size_t)1;
        if (is_bracket(text, inks, i, ")]}")) depth += forward ? -(size_t)1 : 1;
        if (!depth) return i;
    }
    return length;
}

/* The bracket at the cursor or before it, and its partner; none: SIZE_MAX. */
static void find_pair(const char *text, size_t length, const uint8_t *inks, size_t cursor, size_t pair[2])
{
    pair[0] = pair[1] = SIZE_MAX;
    size_t at = cursor < length && is_bracket(text, inks, cursor, "([{)]}") ? cursor : cursor && cursor <= length && is_bracket(text, inks, cursor - 1, "([{)]}") ? cursor - 1 : length;
    size_t partner = at < length ? partner_of(text, length, inks, at) : length;
    if (partner < length) pair[0] = at, pair[1] = partner;
}

/* ---- painting ------------------------------------------------------------------------------------------------------------------------------------ */

/* Where the cursor stands, and the last line; false where that is not known. */
static bool lay_all(const bpl_screen *screen, const char *text, size_t length, size_t cursor, place *found)
{
    place at = {0, screen->indent}, next;
    for (size_t i = 0; i < length; at = next) {
        uint32_t bytes;
        uint32_t code = bpl_code_point(text + i, &bytes);
        if (!lay(screen, code, &at, &next)) return false;
        if (i == cursor) *found = at;
        i += bytes;
    }
    if (cursor >= length) *found = at;
    return at.row < screen->rows;
}

static void put_pen(base_string *out, const char *pen, bool stands_out)
{
    base_string_printf(out, "\033[0%s%s%sm", *pen ? ";" : "", pen, stands_out ? ";1;7" : "");
}

void bpl_screen_paint(base_string *out, const bpl_screen *screen, const char *text, size_t length, size_t cursor, const uint8_t *inks)
{
    place home = {0, screen->indent}, at = home, next, pen_at, back;
    size_t pair[2];
    const char *pen = "";
    bool stood_out = false;
    if (screen->columns < 2 || !length || !lay_all(screen, text, length, cursor, &back)) return;
    find_pair(text, screen->pairs ? length : 0, inks, cursor, pair);
    move(out, back, home);
    pen_at = home;
    for (size_t i = 0; i < length; at = next) {
        uint32_t bytes;
        uint32_t code = bpl_code_point(text + i, &bytes);
        lay(screen, code, &at, &next);
        bool stands_out = i == pair[0] || i == pair[1];
        if (code != '\n') {
            if (pen_at.row != at.row || pen_at.column != at.column) move(out, pen_at, at);
            if (strcmp(pen, pens[inks[i]]) || stood_out != stands_out) put_pen(out, pen = pens[inks[i]], stood_out = stands_out);
            base_string_put(out, text + i, bytes);
            pen_at = (place){at.row, at.column + (next.row == at.row ? next.column - at.column : screen->columns)};
        }
        i += bytes;
    }
    base_string_puts(out, "\033[0m");
    move(out, pen_at, back);
}
