/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Characters of the language: which are letters, and what the tables have for one. */
#include <pthread.h>

#include "bpl/reader.h"

uint32_t bpl_code_point(const char *text, uint32_t *bytes)
{
    const unsigned char *at = (const unsigned char *)text;
    if (at[0] < 0x80) return *bytes = 1, at[0];
    if (at[0] < 0xE0) return *bytes = 2, (at[0] & 0x1Fu) << 6 | (at[1] & 0x3Fu);
    if (at[0] < 0xF0) return *bytes = 3, (at[0] & 0x0Fu) << 12 | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu);
    return *bytes = 4, (at[0] & 0x07u) << 18 | (at[1] & 0x3Fu) << 12 | (at[2] & 0x3Fu) << 6 | (at[3] & 0x3Fu);
}

/* Blocks beyond ASCII without letters: signs of Latin-1, punctuation, super- and subscripts, currency, arrows to dingbats, brackets, private
 * use, full-width signs, pictures. In order. */
static const uint32_t no_letters[][2] = {
    {0x80, 0xA9}, {0xAB, 0xB4}, {0xB6, 0xB9}, {0xBB, 0xBF}, {0xD7, 0xD7}, {0xF7, 0xF7}, {0x2000, 0x20CF}, {0x2190, 0x2BFF}, {0x2E00, 0x2E7F},
    {0x3000, 0x3004}, {0x3008, 0x3020}, {0x3030, 0x3030}, {0xD800, 0xF8FF}, {0xFE00, 0xFE6F}, {0xFEFF, 0xFEFF}, {0xFF00, 0xFF20}, {0xFF3B, 0xFF40},
    {0xFF5B, 0xFF65}, {0xFFE0, 0xFFFF}, {0x1F000, 0x1FAFF}, {0xE0000, 0x10FFFF},
};

bool bpl_is_letter(uint32_t code)
{
    if (code < 0x80) return (code | 0x20) >= 'a' && (code | 0x20) <= 'z';
    if (code == 0x2206 || code == 0x2359) return true; /* ∆ ⍙ */
    for (size_t block = 0; block < sizeof no_letters / sizeof *no_letters; block++) {
        if (code < no_letters[block][0]) break;
        if (code <= no_letters[block][1]) return false;
    }
    return bpl_spelling_of(code).kind == BPL_TOKEN_END;
}

/* ---- the tables by code point ------------------------------------------------------------------------------------------------------------ */

#define SPELLINGS 512u /* a power of two, well above the rows there are */
static bpl_spelling spellings[SPELLINGS];
static pthread_once_t spellings_once = PTHREAD_ONCE_INIT;

static uint32_t slot_of(uint32_t code)
{
    uint32_t slot = code * 2654435769u >> 23;
    while (spellings[slot].kind != BPL_TOKEN_END && spellings[slot].code != code) slot = (slot + 1) % SPELLINGS;
    return slot;
}

static void spell(const char *text, bpl_token_kind kind, uint16_t row)
{
    uint32_t bytes;
    uint32_t code = bpl_code_point(text, &bytes);
    bpl_spelling *spelling = &spellings[slot_of(code)];
    if (spelling->kind == BPL_TOKEN_END) *spelling = (bpl_spelling){code, row, (uint8_t)kind}; /* ₓ comes before ₓ₁ */
}

static bpl_token_kind kind_of_mark(uint16_t row)
{
    if (row == BPL_MARK_COMPLEX || row == BPL_MARK_EXPONENT) return BPL_TOKEN_JOINER;
    return row >= BPL_MARK_INVERSE ? BPL_TOKEN_SUPERSCRIPT : BPL_TOKEN_MARK;
}

static void spell_everything(void)
{
    for (uint32_t slot = 0; slot < SPELLINGS; slot++)
        spellings[slot].kind = BPL_TOKEN_END;
    for (uint16_t row = 0; row < BPL_GLYPH_COUNT; row++)
        spell(bpl_glyphs[row].glyph, BPL_TOKEN_FUNCTION, row);
    for (uint16_t row = 0; row < BPL_OPERATOR_COUNT; row++)
        spell(bpl_operators[row].glyph, BPL_TOKEN_OPERATOR, row);
    for (uint16_t row = 0; row < BPL_MARK_COUNT; row++)
        spell(bpl_marks[row].text, kind_of_mark(row), row);
}

bpl_spelling bpl_spelling_of(uint32_t code)
{
    pthread_once(&spellings_once, spell_everything);
    bpl_spelling spelling = spellings[slot_of(code)];
    if (spelling.kind == BPL_TOKEN_END) spelling.row = 0;
    return spelling;
}
