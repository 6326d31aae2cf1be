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

void bpl_respell(base_string *out, const char *text, size_t length, bool to_names)
{
    bpl_respelling found;
    for (size_t at = 0; at < length;) {
        size_t skipped = quoted(text + at, length - at), bytes = 0;
        if (skipped && !(to_names && (unsigned char)text[at] >= 0x80)) { /* ⍝ has a name too, what follows has none */
            base_string_put(out, text + at, skipped);
            at += skipped;
        } else if (!to_names && text[at] == '`') {
            while (at + 1 + bytes < length && is_letter(text[at + 1 + bytes])) bytes++;
            bool known = find_name(text + at + 1, bytes, &found);
            if (known) base_string_puts(out, found.character);
            else base_string_put(out, text + at, bytes + 1);
            at += bytes + 1;
            if (known && at < length && text[at] == '`') at++;
            if (known && !strcmp(found.character, "⍝")) {
                const char *end = memchr(text + at, '\n', length - at);
                size_t rest = end ? (size_t)(end - text) - at : length - at;
                base_string_put(out, text + at, rest);
                at += rest;
            }
        } else if (to_names && find_character(text + at, length - at, &found)) {
            at += strlen(found.character);
            bool closed = at < length && (is_letter(text[at]) || text[at] == '`' || (unsigned char)text[at] >= 0x80);
            base_string_printf(out, "`%s%s", found.name, closed ? "`" : "");
            if (skipped) {
                base_string_put(out, text + at, skipped - strlen(found.character));
                at += skipped - strlen(found.character);
            }
        } else base_string_put(out, text + at++, 1);
    }
}
