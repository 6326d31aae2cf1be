/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * ]help, from the tables of the language: what a glyph is called, what it does, and examples that are run. */
#include <string.h>

#include "bpl/respell.h"
#include "tools/bpl_console.h"

static const struct example {
    const char *of, *text;
} examples[] = {
#define EXAMPLE(of, text) {of, text},
#include "bpl/examples.def"
};

static void print_examples(bpl_console *console, const char *of)
{
    wg_bpl_options options = {.size = sizeof options};
    wg_bpl *bpl = wg_bpl_new(&options, NULL); /* names that were given do not matter here */
    for (size_t i = 0; bpl && i < sizeof examples / sizeof *examples; i++) {
        wg_bpl_outcome outcome;
        if (strcmp(examples[i].of, of)) continue;
        bool done = wg_bpl_run(bpl, NULL, examples[i].text, strlen(examples[i].text), &outcome);
        bpl_console_print(console, "      %s\n%s\n", examples[i].text, done ? outcome.display : outcome.report);
    }
    wg_bpl_free(&bpl);
}

static void print_glyph(bpl_console *console, const bpl_glyph_row *row)
{
    bpl_console_print(console, "%s   function `%s\n", row->glyph, row->name);
    if (row->monadic_title) bpl_console_print(console, "  one argument:  %s\n", row->monadic_title);
    if (row->dyadic_title) bpl_console_print(console, "  two arguments: %s\n", row->dyadic_title);
    print_examples(console, row->glyph);
}

static void print_operator(bpl_console *console, const bpl_operator_row *row)
{
    bpl_console_print(console, "%s   operator `%s, %s\n  %s\n", row->glyph, row->name, row->operands == 1 ? "one operand" : "two operands", row->title);
    print_examples(console, row->glyph);
}

static bool is_called(const char *word, const char *glyph, const char *name)
{
    return !strcmp(word, glyph) || (name && (!strcmp(word, name) || (*word == '`' && !strcmp(word + 1, name))));
}

static bool print_system(bpl_console *console, const char *word)
{
    const char *name = strncmp(word, "•", strlen("•")) ? word : word + strlen("•");
    for (uint32_t i = 0; i < BPL_SYSTEM_COUNT; i++) {
        char whole[64];
        if (strcmp(bpl_systems[i].name, name)) continue;
        snprintf(whole, sizeof whole, "•%s", name);
        bpl_console_print(console, "%s   system name\n  %s\n", whole, bpl_systems[i].title);
        return print_examples(console, whole), true;
    }
    return false;
}

static const struct sign {
    const char *spellings, *title;
} signs[] = {
#define SIGN(spellings, title) {spellings, title},
#include "bpl/signs.def"
};

#define SIGNS (sizeof signs / sizeof *signs)

static size_t first_spelling(const struct sign *sign) { return strcspn(sign->spellings, " "); }

/* Whether a word is one of its spellings, or all of them. */
static bool is_spelled(const char *word, const struct sign *sign)
{
    size_t length = strlen(word);
    for (const char *at = sign->spellings; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strcspn(at, " ") == length && !memcmp(at, word, length)) return true;
    }
    return !strcmp(word, sign->spellings);
}

static bool print_sign(bpl_console *console, const char *word)
{
    bpl_respelling spelling;
    for (uint32_t i = 0; *word && bpl_respelling_at(i, &spelling); i++)
        if (is_called(word, spelling.character, spelling.name)) word = spelling.character;
    for (size_t i = 0; i < SIGNS; i++) {
        char first[16];
        if (!is_spelled(word, &signs[i])) continue;
        snprintf(first, sizeof first, "%.*s", (int)first_spelling(&signs[i]), signs[i].spellings);
        bpl_console_print(console, "%s   sign\n  %s\n", signs[i].spellings, signs[i].title);
        return print_examples(console, first), true;
    }
    return false;
}

static bool print_one(bpl_console *console, const char *word)
{
    for (uint32_t i = 0; i < BPL_GLYPH_COUNT; i++)
        if (is_called(word, bpl_glyphs[i].glyph, bpl_glyphs[i].name)) return print_glyph(console, &bpl_glyphs[i]), true;
    for (uint32_t i = 0; i < BPL_OPERATOR_COUNT; i++)
        if (is_called(word, bpl_operators[i].glyph, bpl_operators[i].name)) return print_operator(console, &bpl_operators[i]), true;
    for (uint32_t i = 0; i < BPL_MARK_COUNT; i++) {
        if (strcmp(word, bpl_marks[i].text)) continue;
        bpl_console_print(console, "%s   mark\n  %s\n", bpl_marks[i].text, bpl_marks[i].title);
        return print_examples(console, bpl_marks[i].text), true;
    }
    return print_sign(console, word) || print_system(console, word);
}

static void print_all(bpl_console *console)
{
    bpl_console_print(console, "Functions:");
    for (uint32_t i = 0; i < BPL_GLYPH_COUNT; i++) bpl_console_print(console, " %s", bpl_glyphs[i].glyph);
    bpl_console_print(console, "\nOperators:");
    for (uint32_t i = 0; i < BPL_OPERATOR_COUNT; i++) bpl_console_print(console, " %s", bpl_operators[i].glyph);
    bpl_console_print(console, "\nMarks:");
    for (uint32_t i = 0; i < BPL_MARK_COUNT; i++) bpl_console_print(console, " %s", bpl_marks[i].text);
    bpl_console_print(console, "\nSigns:");
    for (size_t i = 0; i < SIGNS; i++) bpl_console_print(console, " %.*s", (int)first_spelling(&signs[i]), signs[i].spellings);
    bpl_console_print(console, "\nSystem names:");
    for (uint32_t i = 0; i < BPL_SYSTEM_COUNT; i++) bpl_console_print(console, " •%s", bpl_systems[i].name);
    bpl_console_print(console, "\n]help X tells of one. A backquote and letters are a glyph by its name: `iota is ⍳; Tab completes names and puts the glyph.\n");
}

bool bpl_help(bpl_console *console, const char *word)
{
    if (!*word) return print_all(console), true;
    return print_one(console, word) || bpl_console_fault(console, "nothing is called %s; ]help lists all there is", word);
}
