/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Einstein's notation read into labels: letters are the labels 0 .. 51, the axes of "..." those from 52 on, counted from the end. */
#include <string.h>

#include "lazy/array_call.h"

#define LETTERS 52u
#define MOST_OPERANDS 64u

typedef struct notation {
    wg_lazy *lazy;
    const char *text, *at;
    lazy_labelled operands[MOST_OPERANDS];
    uint32_t count;
    uint32_t occurrences[LETTERS];
    uint32_t further; /* axes of "..." in the operand that has most of them */
    bool has_further;
    uint8_t result[WG_MAX_RANK];
    uint32_t rank;
} notation;

static bool fail(const notation *n, const char *what)
{
    return lazy_fail(n->lazy, WG_ARGUMENT, "einsum \"%.200s\": %s", n->text, what);
}

static bool fail_at(const notation *n, char c, const char *what)
{
    return lazy_fail(n->lazy, WG_ARGUMENT, "einsum \"%.200s\": '%c' %s", n->text, c, what);
}

/* A letter's label; LETTERS where it is none. Capitals come first, as in the order of an implicit result. */
static uint32_t letter(char c)
{
    if (c >= 'A' && c <= 'Z') return (uint32_t)(c - 'A');
    if (c >= 'a' && c <= 'z') return 26u + (uint32_t)(c - 'a');
    return LETTERS;
}

static char next(notation *n)
{
    while (*n->at == ' ') n->at++;
    return *n->at;
}

static bool further_axes(notation *n, uint8_t *labels, uint32_t *used, uint32_t axes)
{
    if (strncmp(n->at, "...", 3)) return fail(n, "a point stands alone; further axes are three of them");
    n->at += 3;
    n->has_further = true;
    if (axes > LAZY_LABELS - LETTERS || *used + axes > WG_MAX_RANK) return fail(n, "\"...\" stands for more axes than are possible");
    if (axes > n->further) n->further = axes;
    for (uint32_t i = 0; i < axes; i++) labels[(*used)++] = (uint8_t)(LETTERS + axes - 1 - i);
    return true;
}

/* How many letters stand before the next separator, and whether points do. */
static uint32_t letters_ahead(const notation *n, bool *points)
{
    uint32_t letters = 0;
    *points = false;
    for (const char *c = n->at; *c && *c != ',' && !(c[0] == '-' && c[1] == '>'); c++) {
        letters += letter(*c) < LETTERS;
        *points = *points || *c == '.';
    }
    return letters;
}

static bool read_operand(notation *n, wg_array *array)
{
    bool points, seen = false;
    uint32_t letters = letters_ahead(n, &points), used = 0;
    if (points ? letters > array->rank : letters != array->rank)
        return lazy_fail(n->lazy, WG_SHAPE, "einsum \"%.200s\": operand %u has %u letters for %s", n->text, n->count + 1, letters,
                         BASE_SHAPE_TEXT(array->rank, lazy_shape(array)));
    lazy_labelled *operand = &n->operands[n->count++];
    operand->array = array;
    for (char c = next(n); c && c != ',' && c != '-'; c = next(n)) {
        uint32_t label = letter(c);
        if (c == '.') {
            if (seen) return fail(n, "\"...\" stands twice in one operand");
            seen = true;
            if (!further_axes(n, operand->labels, &used, array->rank - letters)) return false;
            continue;
        }
        if (label == LETTERS) return fail_at(n, c, "names no axis: letters do");
        operand->labels[used++] = (uint8_t)label;
        n->occurrences[label]++;
        n->at++;
    }
    return true;
}

static bool read_result(notation *n)
{
    bool seen = false, taken[LETTERS] = {false};
    for (char c = next(n); c; c = next(n)) {
        uint32_t label = letter(c);
        if (c == '.') {
            if (seen) return fail(n, "\"...\" stands twice in the result");
            seen = true;
            if (!further_axes(n, n->result, &n->rank, n->further)) return false;
            continue;
        }
        if (label == LETTERS) return fail_at(n, c, "names no axis: letters do");
        if (!n->occurrences[label]) return fail_at(n, c, "of the result stands in no operand");
        if (taken[label]) return fail_at(n, c, "stands twice in the result");
        if (n->rank == WG_MAX_RANK) return fail(n, "the result has too many axes");
        taken[label] = true;
        n->result[n->rank++] = (uint8_t)label;
        n->at++;
    }
    return seen || !n->further || fail(n, "the result needs \"...\" for the further axes of the operands");
}

static bool implicit_result(notation *n)
{
    for (uint32_t i = 0; i < n->further; i++) n->result[n->rank++] = (uint8_t)(LETTERS + n->further - 1 - i);
    for (uint32_t label = 0; label < LETTERS; label++) {
        if (n->occurrences[label] != 1) continue;
        if (n->rank == WG_MAX_RANK) return fail(n, "the result has too many axes");
        n->result[n->rank++] = (uint8_t)label;
    }
    return true;
}

static bool read_notation(notation *n, wg_array *const *operands, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!read_operand(n, operands[i])) return false;
        char c = next(n);
        if (i + 1 < count && c != ',') return fail(n, "there are more operands than it names");
        if (i + 1 < count) n->at++;
    }
    char c = next(n);
    if (!c) return implicit_result(n);
    if (c == ',') return fail(n, "it names more operands than there are");
    if (strncmp(n->at, "->", 2)) return fail(n, "the result stands behind ->");
    n->at += 2;
    return read_result(n);
}

wg_array *wg_array_einsum(const char *text, wg_array *const *operands, uint32_t count)
{
    if (!count || !operands) return NULL;
    wg_lazy *lazy = lazy_begin(operands, count);
    if (!lazy) return NULL;
    notation n = {.lazy = lazy, .text = text ? text : "", .at = text ? text : ""};
    bool good = count <= MOST_OPERANDS || lazy_fail(lazy, WG_ARGUMENT, "einsum takes %u operands at most", MOST_OPERANDS);
    good = good && read_notation(&n, operands, count);
    return lazy_end(lazy, good ? lazy_contract(lazy, "einsum", n.operands, count, n.result, n.rank) : NULL);
}
