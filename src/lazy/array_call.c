/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What calls on arrays share: scopes, axes, broadcasting, kinds of literals. */
#include <string.h>

#include "base/checked.h"
#include "base/text.h"
#include "lazy/array_call.h"

/* ---- scopes ---- */

wg_lazy *lazy_begin_in(wg_lazy *lazy)
{
    if (!lazy) return NULL;
    uint32_t before = lazy->scope_count;
    wg_scope_open(lazy);
    if (lazy->scope_count > before) return lazy;
    wg_scope_close(lazy); /* the one that could not be opened */
    return NULL;
}

static wg_array absent;

wg_array *wg_array_absent(void) { return &absent; }

bool lazy_optional(wg_lazy *lazy, wg_array **operand)
{
    if (!*operand) return !lazy->error.code;
    if (*operand != &absent) return lazy_check(lazy, *operand);
    *operand = NULL;
    return true;
}

wg_lazy *lazy_begin(wg_array *const *operands, uint32_t count)
{
    wg_lazy *lazy = NULL;
    if (!operands) return NULL;
    for (uint32_t i = 0; i < count && !lazy; i++) lazy = operands[i] ? operands[i]->lazy : NULL;
    for (uint32_t i = 0; i < count; i++)
        if (!lazy || !lazy_check(lazy, operands[i])) return NULL;
    return lazy_begin_in(lazy);
}

wg_lazy *lazy_begin_for(wg_array *const *operands, uint32_t count, const void *place, const char *call)
{
    wg_lazy *lazy = lazy_begin(operands, count);
    if (!lazy || place) return lazy;
    lazy_fail(lazy, WG_ARGUMENT, "%s: there is no place for what it answers", call);
    wg_scope_close(lazy);
    return NULL;
}

wg_array *lazy_end(wg_lazy *lazy, wg_array *result)
{
    if (result) lazy_keep(result);
    wg_scope_close(lazy);
    return lazy_give(lazy, result);
}

bool lazy_end_all(wg_lazy *lazy, wg_array **results, uint32_t count)
{
    bool good = true;
    for (uint32_t i = 0; i < count; i++) good = good && results[i];
    for (uint32_t i = 0; i < count; i++) {
        if (good) lazy_keep(results[i]);
        else results[i] = NULL;
    }
    wg_scope_close(lazy);
    for (uint32_t i = 0; i < count; i++)
        if (!(results[i] = lazy_give(lazy, results[i]))) good = false;
    for (uint32_t i = 0; i < count && !good; i++) results[i] = NULL; /* what there was belongs to the caller's scope */
    return good;
}

/* ---- rows ---- */

wg_array *lazy_row(wg_op op, wg_array *a, const int64_t *attributes, uint32_t attribute_count)
{
    return a ? wg_array_record(a->lazy, op, &a, 1, attributes, attribute_count) : NULL;
}

wg_array *lazy_row2(wg_op op, wg_array *a, wg_array *b, const int64_t *attributes, uint32_t attribute_count)
{
    if (!a || !b) return NULL;
    wg_array *operands[2] = {a, b};
    return wg_array_record(a->lazy, op, operands, 2, attributes, attribute_count);
}

/* ---- axes ---- */

bool lazy_axis(const wg_array *a, int32_t axis, const char *call, uint32_t *place)
{
    if (!a) return false;
    int64_t at = axis < 0 ? (int64_t)axis + a->rank : axis;
    if (at < 0 || at >= a->rank)
        return lazy_fail(a->lazy, WG_SHAPE, "%s: there is no axis %d in %s", call, axis, BASE_SHAPE_TEXT(a->rank, lazy_shape(a)));
    *place = (uint32_t)at;
    return true;
}

bool lazy_axis_in(wg_lazy *lazy, uint32_t rank, int32_t axis, const char *call, uint32_t *place)
{
    int64_t at = axis < 0 ? (int64_t)axis + rank : axis;
    if (at < 0 || at >= rank) return lazy_fail(lazy, WG_SHAPE, "%s: there is no axis %d in a shape of rank %u", call, axis, rank);
    *place = (uint32_t)at;
    return true;
}

bool lazy_axes(const wg_array *a, const int32_t *axes, uint32_t count, const char *call, bool *chosen)
{
    for (uint32_t axis = 0; axis < a->rank; axis++) chosen[axis] = !axes;
    if (!axes && count) return lazy_fail(a->lazy, WG_ARGUMENT, "%s is given %u axes that are NULL", call, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t place = 0;
        if (!lazy_axis(a, axes[i], call, &place)) return false;
        if (chosen[place]) return lazy_fail(a->lazy, WG_ARGUMENT, "%s: axis %d is named twice", call, axes[i]);
        chosen[place] = true;
    }
    return true;
}

uint32_t lazy_dropped_shape(const wg_array *a, const bool *chosen, bool keep, int64_t *shape)
{
    uint32_t rank = 0;
    for (uint32_t axis = 0; axis < a->rank; axis++)
        if (keep || !chosen[axis]) shape[rank++] = chosen[axis] ? 1 : lazy_shape(a)[axis];
    return rank;
}

wg_array *lazy_merge_axes(wg_array *a, const bool *chosen, uint32_t *at, int64_t *extent)
{
    uint32_t first = a->rank, last = 0, count = 0, kept = 0;
    *extent = 1;
    for (uint32_t axis = 0; axis < a->rank; axis++) {
        if (!chosen[axis]) continue;
        if (!count++) first = axis;
        last = axis;
        *extent *= lazy_shape(a)[axis];
    }
    bool apart = count && last - first + 1 != count;
    int64_t shape[WG_MAX_RANK + 1];
    int32_t order[WG_MAX_RANK];
    *at = apart ? a->rank - count : first;
    uint32_t rank = 0;
    for (uint32_t axis = 0; axis < a->rank; axis++) {
        if (rank == *at) shape[rank++] = *extent;
        if (chosen[axis]) continue;
        order[kept++] = (int32_t)axis;
        shape[rank++] = lazy_shape(a)[axis];
    }
    if (rank == *at) shape[rank++] = *extent;
    for (uint32_t axis = 0; axis < a->rank; axis++)
        if (chosen[axis]) order[kept++] = (int32_t)axis;
    if (apart) a = wg_array_permute(a, order, a->rank);
    return wg_array_reshape(a, rank, shape);
}

/* ---- broadcasting ---- */

/* "[2, 3], [4] and []" */
static void shapes_text(char *text, size_t bytes, wg_array *const *operands, uint32_t count)
{
    text[0] = 0;
    for (uint32_t i = 0; i < count; i++) {
        base_text_append(text, bytes, !i ? "" : i + 1 == count ? " and " : ", ");
        base_text_append(text, bytes, BASE_SHAPE_TEXT(operands[i]->rank, lazy_shape(operands[i])));
    }
}

bool lazy_common_shape(wg_lazy *lazy, const char *call, wg_array *const *operands, uint32_t count, uint32_t *rank, int64_t *shape)
{
    *rank = 0;
    for (uint32_t i = 0; i < count; i++) *rank = operands[i]->rank > *rank ? operands[i]->rank : *rank;
    for (uint32_t axis = 0; axis < *rank; axis++) shape[axis] = 1;
    bool fits = true;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t shift = *rank - operands[i]->rank;
        for (uint32_t axis = 0; axis < operands[i]->rank; axis++) {
            int64_t extent = lazy_shape(operands[i])[axis];
            if (shape[shift + axis] == 1) shape[shift + axis] = extent;
            else if (extent != 1 && extent != shape[shift + axis]) fits = false;
        }
    }
    if (fits) return true;
    char text[512];
    shapes_text(text, sizeof text, operands, count);
    return lazy_fail(lazy, WG_SHAPE, "%s cannot broadcast %s: counted from the end, extents must be equal or 1", call, text);
}

/* Drops every axis that must grow in one reshape, then puts the copies in its place. */
static wg_array *grow(wg_array *a, uint32_t rank, const int64_t *shape)
{
    uint32_t shift = rank - a->rank, kept = 0;
    int64_t dropped[WG_MAX_RANK] = {0};
    bool grows[WG_MAX_RANK];
    for (uint32_t axis = 0; axis < rank; axis++) {
        int64_t have = axis < shift ? 1 : lazy_shape(a)[axis - shift];
        grows[axis] = axis < shift ? true : have != shape[axis];
        if (!grows[axis]) dropped[kept++] = have;
    }
    if (kept != a->rank) a = wg_array_reshape(a, kept, dropped);
    for (uint32_t axis = 0; axis < rank; axis++)
        if (grows[axis]) a = LAZY_ROW(BroadcastAlong, a, axis, shape[axis]);
    return a;
}

wg_array *lazy_spread(wg_array *a, uint32_t rank, const int64_t *shape, const char *call)
{
    if (!a) return NULL;
    bool fits = a->rank <= rank, equal = a->rank == rank, one_item = true;
    for (uint32_t axis = 0; fits && axis < a->rank; axis++) {
        int64_t have = lazy_shape(a)[axis], wanted = shape[rank - a->rank + axis];
        equal = equal && have == wanted;
        one_item = one_item && have == 1;
        fits = have == wanted || have == 1;
    }
    if (!fits) {
        const char *from = BASE_SHAPE_TEXT(a->rank, lazy_shape(a)), *to = BASE_SHAPE_TEXT(rank, shape);
        lazy_fail(a->lazy, WG_SHAPE, "%s cannot broadcast %s to %s: counted from the end, extents must be equal or 1", call, from, to);
        return NULL;
    }
    if (equal) return lazy_give(a->lazy, lazy_keep(a));
    if (!one_item) return grow(a, rank, shape);
    int64_t attributes[1 + WG_MAX_RANK] = {rank};
    memcpy(attributes + 1, shape, rank * sizeof *shape);
    return lazy_row(WG_OP_Broadcast, a, attributes, 1 + rank);
}

/* ---- kinds ---- */

static bool is_complex(wg_kind kind) { return base_kinds[kind].class == BASE_CLASS_COMPLEX; }

/* A number of one kind as a literal of another, where that holds it; a float kind rounds. */
static wg_array *literal_as(wg_lazy *lazy, base_number number, wg_kind from, wg_kind kind, const char *call)
{
    base_number same;
    if (is_complex(kind)) return wg_array_number(lazy, kind, base_number_to_double(from, number));
    if (base_kind_is_float(kind)) {
        same = base_number_convert(number, from, kind, false);
    } else if (!base_number_exact(number, from, kind, &same)) {
        lazy_fail(lazy, WG_KIND, "%s: the number on one side has no place in kind %s of the other; convert that first", call,
                  base_kinds[kind].name);
        return NULL;
    }
    uint64_t item[2] = {0, 0};
    base_number_store(kind, item, 0, same);
    return lazy_give(lazy, lazy_literal(lazy, kind, item));
}

wg_array *lazy_number(wg_lazy *lazy, wg_kind kind, double number, const char *call)
{
    return literal_as(lazy, (base_number){.d = number}, WG_KIND_F64, kind, call);
}

bool lazy_agree(wg_lazy *lazy, const char *call, wg_array **operands, uint32_t count)
{
    const wg_array *strong = NULL;
    for (uint32_t i = 0; i < count && !strong; i++) strong = operands[i]->state == LAZY_LITERAL ? NULL : operands[i];
    for (uint32_t i = 0; i < count && strong; i++) {
        const wg_array *weak = operands[i];
        if (weak->state != LAZY_LITERAL || weak->kind == strong->kind || is_complex((wg_kind)weak->kind)) continue;
        base_number number = base_number_load((wg_kind)weak->kind, weak->as.literal.bits, 0);
        if (!(operands[i] = literal_as(lazy, number, (wg_kind)weak->kind, (wg_kind)strong->kind, call))) return false;
    }
    return true;
}

bool lazy_align(wg_lazy *lazy, const char *call, wg_array **operands, uint32_t count, uint32_t first)
{
    uint32_t rank;
    int64_t shape[WG_MAX_RANK];
    if (!lazy_agree(lazy, call, operands + first, count - first) || !lazy_common_shape(lazy, call, operands, count, &rank, shape))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!(operands[i] = lazy_spread(operands[i], rank, shape, call))) return false;
    return true;
}

bool lazy_wants_floats(const wg_array *a, const char *call)
{
    return base_kind_is_float((wg_kind)a->kind) ||
           lazy_fail(a->lazy, WG_KIND, "%s takes floats, not %s; convert it first", call, base_kinds[a->kind].name);
}

/* The parts of a promotion: a wider kind of one class. */
static wg_kind wider(wg_kind a, wg_kind b) { return base_kinds[a].bytes >= base_kinds[b].bytes ? a : b; }

static wg_kind promoted_integers(wg_kind a, wg_kind b)
{
    static const wg_kind signed_kinds[9] = {[1] = WG_KIND_I8, [2] = WG_KIND_I16, [4] = WG_KIND_I32, [8] = WG_KIND_I64};
    bool a_signed = base_kinds[a].class == BASE_CLASS_SIGNED, b_signed = base_kinds[b].class == BASE_CLASS_SIGNED;
    if (a_signed == b_signed) return wider(a, b);
    uint32_t with = base_kinds[a_signed ? a : b].bytes, without = base_kinds[a_signed ? b : a].bytes;
    uint32_t bytes = with > 2 * without ? with : 2 * without;
    return bytes > 8 ? WG_KIND_F64 : signed_kinds[bytes];
}

/* How much a class holds: bool, integers, floats, complex numbers. */
static int rank_of(wg_kind kind)
{
    switch (base_kinds[kind].class) {
    case BASE_CLASS_BOOL: return 0;
    case BASE_CLASS_SIGNED:
    case BASE_CLASS_UNSIGNED: return 1;
    case BASE_CLASS_FLOAT: return 2;
    case BASE_CLASS_COMPLEX: return 3;
    default: return -1;
    }
}

wg_kind wg_kind_promoted(wg_kind a, wg_kind b)
{
    if ((unsigned)a >= WG_KIND_COUNT || (unsigned)b >= WG_KIND_COUNT) return WG_KIND_COUNT;
    if (a == b) return a;
    int more = rank_of(a), less = rank_of(b);
    if (more < 0 || less < 0) return WG_KIND_COUNT;
    if (more < less) return wg_kind_promoted(b, a);
    if (more == 1 && less == 1) return promoted_integers(a, b);
    if (more == 2 && less == 2) return base_kinds[a].bytes == base_kinds[b].bytes ? WG_KIND_F32 : wider(a, b);
    if (more == 3 && (less == 3 || b == WG_KIND_F64)) return a == WG_KIND_C128 || b == WG_KIND_C128 || b == WG_KIND_F64 ? WG_KIND_C128 : a;
    return a;
}

/* The kind of a literal among others: its own only where its class holds more than theirs. */
static wg_kind with_literal(const wg_lazy *lazy, wg_kind strong, wg_kind literal)
{
    if (rank_of(literal) <= rank_of(strong)) return strong;
    if (rank_of(literal) == 1) return WG_KIND_I64;
    return rank_of(literal) == 2 ? lazy->options.kind : wg_kind_promoted(strong, literal);
}

static wg_kind promoted_kind(const wg_lazy *lazy, wg_array *const *arrays, uint32_t count)
{
    wg_kind kind = WG_KIND_COUNT;
    bool strong = false;
    for (uint32_t i = 0; i < count; i++) strong = strong || arrays[i]->state != LAZY_LITERAL;
    for (uint32_t i = 0; i < count; i++) {
        if (strong && arrays[i]->state == LAZY_LITERAL) continue;
        kind = kind == WG_KIND_COUNT ? (wg_kind)arrays[i]->kind : wg_kind_promoted(kind, (wg_kind)arrays[i]->kind);
        if (kind == WG_KIND_COUNT) return kind;
    }
    for (uint32_t i = 0; i < count && strong; i++)
        if (arrays[i]->state == LAZY_LITERAL) kind = with_literal(lazy, kind, (wg_kind)arrays[i]->kind);
    return kind;
}

bool wg_array_promote(wg_array *const *arrays, uint32_t count, wg_array **promoted)
{
    for (uint32_t i = 0; promoted && i < count; i++) promoted[i] = NULL;
    if (!count) return true;
    wg_lazy *lazy = lazy_begin_for(arrays, count, promoted, "promote");
    if (!lazy) return false;
    wg_kind kind = promoted_kind(lazy, arrays, count);
    if (kind == WG_KIND_COUNT) lazy_fail(lazy, WG_KIND, "no kind holds char and another; convert one explicitly");
    for (uint32_t i = 0; kind != WG_KIND_COUNT && i < count; i++) promoted[i] = wg_array_convert(arrays[i], kind);
    return lazy_end_all(lazy, promoted, count);
}

/* ---- attributes ---- */

/* The value of a word of ops.def: its place among the words of its type. */
typedef struct choice_word {
    const char *type, *word;
} choice_word;
static const choice_word choices[] = {
#define CHOICE(TYPE, ENUM, word) {#TYPE, word},
#include "wengert/ops.def"
};

int64_t lazy_word(wg_lazy *lazy, const char *call, const char *type, const char *word)
{
    int64_t value = 0;
    char words[160] = "";
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        if (strcmp(choices[i].type, type)) continue;
        if (word && !strcmp(choices[i].word, word)) return value;
        if (value++) base_text_append(words, sizeof words, ", ");
        base_text_append(words, sizeof words, choices[i].word);
    }
    lazy_fail(lazy, WG_ARGUMENT, "%s does not know the word \"%s\" among %s", call, word ? word : "", words);
    return -1;
}
