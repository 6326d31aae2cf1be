/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Text in pieces. A file gives its rule as a regular expression; the published ones are recognised by their text and written out here, each
 * alternative in its order (docs/models.md has the expressions). A byte that is no UTF-8 is a character of no class. */
#include <string.h>

#include "model/tokenizer.h"

/* ---- classes of characters ---- */

typedef enum class { OTHER, LETTER, NUMBER, SPACE } class;

typedef struct range {
    uint32_t first, last;
} range;

static const range letters[] = {
#define LETTERS(first, last) {first, last},
#include "model/characters.def"
};
static const range numbers[] = {
#define NUMBERS(first, last) {first, last},
#include "model/characters.def"
};

static bool within(const range *ranges, size_t count, uint32_t code)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges[middle].last < code) low = middle + 1;
        else high = middle;
    }
    return low < count && ranges[low].first <= code;
}

/* Unicode's White_Space. */
static bool is_space(uint32_t code)
{
    return (code >= 9 && code <= 13) || code == 32 || code == 0x85 || code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) ||
           code == 0x2028 || code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000;
}

static class class_of(uint32_t code)
{
    if (code < 128) {
        uint32_t lower = code | 32;
        return lower >= 'a' && lower <= 'z' ? LETTER : code >= '0' && code <= '9' ? NUMBER : is_space(code) ? SPACE : OTHER;
    }
    if (code == WG_NONE) return OTHER;
    if (is_space(code)) return SPACE;
    if (within(letters, sizeof letters / sizeof *letters, code)) return LETTER;
    return within(numbers, sizeof numbers / sizeof *numbers, code) ? NUMBER : OTHER;
}

uint32_t tokenizer_character(const char *text, size_t length, uint32_t *code)
{
    const unsigned char *c = (const unsigned char *)text;
    if (c[0] < 0x80) return *code = c[0], 1;
    size_t bytes = base_utf8_length(text, length);
    if (!bytes) return *code = WG_NONE, 1;
    *code = bytes == 2 ? c[0] & 0x1f : bytes == 3 ? c[0] & 0x0f : c[0] & 0x07;
    for (size_t i = 1; i < bytes; i++) *code = *code << 6 | (c[i] & 0x3f);
    return (uint32_t)bytes;
}

/* ---- what the expressions are made of ---- */

typedef struct scan {
    const char *text;
    size_t length;
} scan;

/* The class of the character at a place, and where it ends; OTHER and the place itself at the end. */
static class at(const scan *s, size_t place, size_t *next)
{
    uint32_t code;
    *next = place;
    if (place >= s->length) return OTHER;
    *next = place + tokenizer_character(s->text + place, s->length - place, &code);
    return class_of(code);
}

/* The end of the run of a class from a place on, at most `most` characters. */
static size_t run(const scan *s, class wanted, size_t place, uint32_t most)
{
    size_t next;
    while (most-- && place < s->length && at(s, place, &next) == wanted) place = next;
    return place;
}

static bool is_break(char c)
{
    return c == '\r' || c == '\n';
}

/* 's 't 're 've 'm 'll 'd: their length, 0 where none stands there; `any_case` takes capitals, and U+017F for s. */
static size_t contraction(const scan *s, bool any_case)
{
    static const char *const endings[] = {"s", "t", "re", "ve", "m", "ll", "d"};
    if (s->text[0] != '\'') return 0;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t length = strlen(endings[i]), j = 0;
        if (length >= s->length) continue;
        while (j < length && (s->text[1 + j] == endings[i][j] || (any_case && (s->text[1 + j] | 32) == endings[i][j]))) j++;
        if (j == length) return 1 + length;
    }
    return any_case && s->length >= 3 && !memcmp(s->text + 1, "\xc5\xbf", 2) ? 3 : 0;
}

/* \s+(?!\S)|\s+: a run of spaces leaves its last one to what follows it. */
static size_t spaces(const scan *s)
{
    size_t end = run(s, SPACE, 0, UINT32_MAX), last = 0;
    if (end == s->length) return end;
    for (size_t place = 0, next; place < end; place = next) {
        at(s, place, &next);
        last = place;
    }
    return last ? last : end;
}

/* ---- the expressions ---- */

/* 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ */
static size_t gpt2(const scan *s)
{
    size_t next, from = s->text[0] == ' ', end = contraction(s, false);
    if (end) return end;
    class class = at(s, from, &next);
    if (class != SPACE && next > from) return run(s, class, from, UINT32_MAX);
    return spaces(s);
}

/* (?i:'s|..|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,digits}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+ */
static size_t llama3(const scan *s, uint32_t digits)
{
    size_t next, after, end = contraction(s, true);
    if (end) return end;
    class first = at(s, 0, &next);
    if (first == LETTER) return run(s, LETTER, 0, UINT32_MAX);
    if (first != NUMBER && !is_break(s->text[0]) && at(s, next, &after) == LETTER && after > next) return run(s, LETTER, next, UINT32_MAX);
    if (first == NUMBER) return run(s, NUMBER, 0, digits);
    size_t from = s->text[0] == ' ';
    if (at(s, from, &next) == OTHER && next > from) {
        end = run(s, OTHER, from, UINT32_MAX);
        while (end < s->length && is_break(s->text[end])) end++;
        return end;
    }
    end = run(s, SPACE, 0, UINT32_MAX);
    for (size_t place = end; place-- > 0;)
        if (is_break(s->text[place])) return place + 1;
    return spaces(s);
}

/* \p{N} alone, then GPT-2's on what is left: a piece ends before a number. */
static size_t smollm(const scan *s)
{
    size_t next, end = 0;
    if (at(s, 0, &next) == NUMBER) return next;
    scan part = *s;
    while (end < s->length && at(s, end, &next) != NUMBER) end = next;
    part.length = end;
    return gpt2(&part);
}

size_t tokenizer_piece(tokenizer_split split, const char *text, size_t length)
{
    scan s = {text, length};
    switch (split) {
    case TOKENIZER_GPT2: return gpt2(&s);
    case TOKENIZER_LLAMA3: return llama3(&s, 3);
    case TOKENIZER_QWEN: return llama3(&s, 1);
    case TOKENIZER_SMOLLM: return smollm(&s);
    default: return length;
    }
}

#define LLAMA3_BEGIN "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|"
#define LLAMA3_END "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
static const struct { const char *pattern; tokenizer_split split; } known[] = {
    {"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", TOKENIZER_GPT2},
    {LLAMA3_BEGIN "\\p{N}{1,3}" LLAMA3_END, TOKENIZER_LLAMA3},
    {LLAMA3_BEGIN "\\p{N}" LLAMA3_END, TOKENIZER_QWEN}};

bool tokenizer_split_of(const char *pattern, size_t length, tokenizer_split *split)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strlen(known[i].pattern) != length || memcmp(known[i].pattern, pattern, length)) continue;
        *split = known[i].split;
        return true;
    }
    return false;
}

const char *tokenizer_split_pattern(tokenizer_split split)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].split == split) return known[i].pattern;
    return "";
}
