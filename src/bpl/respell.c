/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Glyphs and their names in ASCII: `iota 5 is ⍳ 5. A name is the letters behind a backquote; a backquote right behind it belongs to it, and
 * stands where a letter or another name follows: `iota`x, `plus``each. */
#include <string.h>

#include "bpl/respell.h"

static const bpl_respelling others[] = {
#define SPELLING(character, name) {character, name},
#include "bpl/spellings.def"
};

#define OTHERS (uint32_t)(sizeof others / sizeof *others)

bool bpl_respelling_at(uint32_t index, bpl_respelling *spelling)
{
    if (index < BPL_GLYPH_COUNT) return *spelling = (bpl_respelling){bpl_glyphs[index].glyph, bpl_glyphs[index].name}, true;
    index -= BPL_GLYPH_COUNT;
    if (index < BPL_OPERATOR_COUNT) return *spelling = (bpl_respelling){bpl_operators[index].glyph, bpl_operators[index].name}, true;
    index -= BPL_OPERATOR_COUNT;
    return index < OTHERS ? *spelling = others[index], true : false;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static bool find_name(const char *name, size_t length, bpl_respelling *found)
{
    for (uint32_t i = 0; bpl_respelling_at(i, found); i++)
        if (strlen(found->name) == length && !memcmp(found->name, name, length)) return true;
    return false;
}

/* What stands beyond ASCII at the text. */
static bool find_character(const char *text, size_t length, bpl_respelling *found)
{
    for (uint32_t i = 0; (unsigned char)*text >= 0x80 && bpl_respelling_at(i, found); i++) {
        size_t bytes = strlen(found->character);
        if (bytes <= length && !memcmp(found->character, text, bytes)) return true;
    }
    return false;
}

/* The bytes of a text in quotes, of a character or of a comment at the beginning of `text`; 0: none begins there. */
static size_t quoted(const char *text, size_t length)
{
    size_t at = 1;
    if (length > 2 && text[0] == '\'') {
        while (at < length && (at == 1 || text[at] != '\'') && at < 6) at++;
        return at < length && text[at] == '\'' ? at + 1 : 0;
    }
    if (text[0] == '"') {
        while (at < length && text[at] != '"') at++;
        return at < length ? at + 1 : length;
    }
    if (length >= strlen("⍝") && !memcmp(text, "⍝", strlen("⍝"))) {
        const char *end = memchr(text, '\n', length);
        return end ? (size_t)(end - text) : length;
    }
    return 0;
}

/* The bytes of a name behind a backquote at the beginning of `text`, with a backquote that closes it; 0: none is called so. */
static size_t named(const char *text, size_t length, bpl_respelling *found)
{
    size_t end = 1;
    if (*text != '`') return 0;
    while (end < length && is_letter(text[end])) end++;
    if (!find_name(text + 1, end - 1, found)) return 0;
    return end + (end < length && text[end] == '`');
}

static bool is_comment(const bpl_respelling *found) { return !strcmp(found->character, "⍝"); }

static size_t to_line_end(const char *text, size_t at, size_t length)
{
    const char *end = memchr(text + at, '\n', length - at);
    return end ? (size_t)(end - text) : length;
}

/* One with a glyph for its name, as it stands, or with a name for its glyph. */
static size_t put_piece(base_string *out, const char *text, size_t length, bool to_names)
{
    bpl_respelling found;
    size_t skipped = quoted(text, length), bytes;
    if (skipped && !(to_names && (unsigned char)*text >= 0x80)) return base_string_put(out, text, skipped), skipped; /* ⍝ has a name too */
    if (!to_names && (bytes = named(text, length, &found))) {
        size_t end = is_comment(&found) ? to_line_end(text, bytes, length) : bytes;
        base_string_puts(out, found.character);
        base_string_put(out, text + bytes, end - bytes);
        return end;
    }
    if (!to_names || !find_character(text, length, &found)) return base_string_put(out, text, 1), 1;
    bytes = strlen(found.character);
    bool closed = bytes < length && (is_letter(text[bytes]) || text[bytes] == '`' || (unsigned char)text[bytes] >= 0x80);
    base_string_printf(out, "`%s%s", found.name, closed ? "`" : "");
    if (!skipped) return bytes;
    base_string_put(out, text + bytes, skipped - bytes);
    return skipped;
}

size_t bpl_respell_piece(base_string *out, const char *text, size_t length)
{
    return put_piece(out, text, length, false);
}

void bpl_respell(base_string *out, const char *text, size_t length, bool to_names)
{
    for (size_t at = 0; at < length;) at += put_piece(out, text + at, length - at, to_names);
}
