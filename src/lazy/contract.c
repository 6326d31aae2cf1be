/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Sums of products over named axes. Operands are brought into order one by one (diagonals, axes of extent 1, names that nobody else has),
 * then two by two: a pair with names to sum is one matrix product over batch, left, summed and right axes, a pair without is a broadcast
 * product. The pair with the least work goes first. */
#include <string.h>

#include "lazy/array_call.h"

typedef uint64_t label_set;
#define IN(set, label) ((set) >> (label) & 1)

typedef struct contraction {
    wg_lazy *lazy;
    const char *call;
    lazy_labelled *operands; /* [count]; those that are used up are taken out */
    uint32_t count;
    label_set wanted;        /* of the result */
    int64_t extents[LAZY_LABELS];
} contraction;

static label_set labels_of(const lazy_labelled *operand)
{
    label_set set = 0;
    for (uint32_t axis = 0; axis < operand->array->rank; axis++) set |= (label_set)1 << operand->labels[axis];
    return set;
}

/* The axis of a label. */
static uint32_t axis_of(const lazy_labelled *operand, uint32_t label)
{
    uint32_t axis = 0;
    while (operand->labels[axis] != label) axis++;
    return axis;
}

static void drop_label(lazy_labelled *operand, uint32_t axis, uint32_t rank)
{
    memmove(operand->labels + axis, operand->labels + axis + 1, rank - axis - 1);
}

/* ---- one operand ---- */

/* A label twice is the diagonal of its two axes, which becomes the last one. */
static bool take_diagonals(contraction *c, lazy_labelled *operand)
{
    for (uint32_t first = 0; first < operand->array->rank; first++) {
        for (uint32_t second = first + 1; second < operand->array->rank; second++) {
            if (operand->labels[first] != operand->labels[second]) continue;
            const int64_t *shape = lazy_shape(operand->array);
            if (shape[first] != shape[second])
                return lazy_fail(c->lazy, WG_SHAPE, "%s: axes %u and %u of %s have one name and two extents", c->call, first, second,
                                 BASE_SHAPE_TEXT(operand->array->rank, shape));
            uint32_t rank = operand->array->rank;
            uint8_t label = operand->labels[first];
            operand->array = wg_array_diagonal(operand->array, 0, (int32_t)first, (int32_t)second);
            if (!operand->array) return false;
            drop_label(operand, second, rank);
            drop_label(operand, first, rank - 1);
            operand->labels[rank - 2] = label;
            first = UINT32_MAX; /* from the beginning: places have moved */
            break;
        }
    }
    return true;
}

static bool learn_extents(contraction *c)
{
    for (uint32_t label = 0; label < LAZY_LABELS; label++) c->extents[label] = 1;
    for (uint32_t i = 0; i < c->count; i++) {
        const wg_array *array = c->operands[i].array;
        for (uint32_t axis = 0; axis < array->rank; axis++) {
            int64_t extent = lazy_shape(array)[axis], *known = &c->extents[c->operands[i].labels[axis]];
            if (*known == 1) *known = extent;
            else if (extent != 1 && extent != *known)
                return lazy_fail(c->lazy, WG_SHAPE, "%s: axis %u of operand %u, %s, has extent %lld; one of its name has %lld", c->call,
                                 axis, i + 1, BASE_SHAPE_TEXT(array->rank, lazy_shape(array)), (long long)extent, (long long)*known);
        }
    }
    return true;
}

/* Axes let go: those of extent 1 whose name is longer elsewhere, which say nothing; or those that nobody else has and nobody wants, which
 * are summed. */
static bool let_go(contraction *c, lazy_labelled *operand, bool spread, label_set others)
{
    for (uint32_t axis = operand->array->rank; axis-- > 0;) {
        uint32_t label = operand->labels[axis], rank = operand->array->rank;
        if (spread ? lazy_shape(operand->array)[axis] == c->extents[label] : IN(others | c->wanted, label)) continue;
        int32_t place = (int32_t)axis;
        operand->array = spread ? wg_array_squeeze(operand->array, &place, 1) : LAZY_ROW(SumAlong, operand->array, axis, -1);
        if (!operand->array) return false;
        drop_label(operand, axis, rank);
    }
    return true;
}

static label_set labels_of_others(const contraction *c, uint32_t one, uint32_t another)
{
    label_set set = c->wanted;
    for (uint32_t i = 0; i < c->count; i++)
        if (i != one && i != another) set |= labels_of(&c->operands[i]);
    return set;
}

/* ---- two operands ---- */

/* Axes in the order of the labels of up to three sets, each set's laid flat where `flat`. */
static wg_array *arranged(const contraction *c, const lazy_labelled *operand, const label_set *sets, uint32_t set_count, bool flat)
{
    int32_t order[WG_MAX_RANK];
    int64_t shape[LAZY_LABELS];
    uint32_t used = 0, rank = 0;
    label_set own = labels_of(operand);
    for (uint32_t s = 0; s < set_count; s++) {
        int64_t extent = 1;
        for (uint32_t label = 0; label < LAZY_LABELS; label++) {
            if (!IN(sets[s], label)) continue;
            bool has = IN(own, label);
            if (has) order[used++] = (int32_t)axis_of(operand, label);
            extent *= c->extents[label];
            if (!flat) shape[rank++] = has ? c->extents[label] : 1;
        }
        if (flat && (s || sets[s])) shape[rank++] = extent; /* no axis for a batch that is not there */
    }
    if (rank > WG_MAX_RANK) return lazy_fail(c->lazy, WG_SHAPE, "%s: %u axes on the way are too many", c->call, rank), NULL;
    return wg_array_reshape(wg_array_permute(operand->array, order, used), rank, shape);
}

/* The pair as one operand whose labels stand in the order of batch, left, right. */
static bool join(contraction *c, const lazy_labelled *a, const lazy_labelled *b, label_set kept, lazy_labelled *joined)
{
    label_set left = labels_of(a), right = labels_of(b), both = left & right;
    label_set sets[3] = {both & kept, left & ~both, right & ~both}, summed = both & ~kept;
    int64_t shape[LAZY_LABELS];
    uint32_t rank = 0;
    uint8_t labels[LAZY_LABELS];
    for (int s = 0; s < 3; s++)
        for (uint32_t label = 0; label < LAZY_LABELS; label++)
            if (IN(sets[s], label)) {
                labels[rank] = (uint8_t)label;
                shape[rank++] = c->extents[label];
            }
    if (rank > WG_MAX_RANK) return lazy_fail(c->lazy, WG_SHAPE, "%s: %u axes on the way are too many", c->call, rank);
    memcpy(joined->labels, labels, rank);
    if (summed) {
        wg_array *x = arranged(c, a, (label_set[]){sets[0], sets[1], summed}, 3, true),
                 *y = arranged(c, b, (label_set[]){sets[0], summed, sets[2]}, 3, true);
        joined->array = wg_array_reshape(x && y ? LAZY_ROW2(MatMul, x, y, -1) : NULL, rank, shape);
    } else {
        wg_array *x = arranged(c, a, sets, 3, false), *y = arranged(c, b, sets, 3, false);
        joined->array = wg_array_mul(x, y);
    }
    return joined->array != NULL;
}

static double work_of(const contraction *c, label_set labels)
{
    double work = 1;
    for (uint32_t label = 0; label < LAZY_LABELS; label++)
        if (IN(labels, label)) work *= (double)c->extents[label];
    return work;
}

/* The pair with the fewest products; of equals the first. */
static void cheapest(const contraction *c, uint32_t *one, uint32_t *another)
{
    double least = __builtin_inf();
    *one = 0;
    *another = 1;
    for (uint32_t i = 0; i < c->count; i++) {
        for (uint32_t k = i + 1; k < c->count; k++) {
            double work = work_of(c, labels_of(&c->operands[i]) | labels_of(&c->operands[k]));
            if (work >= least) continue;
            least = work;
            *one = i;
            *another = k;
        }
    }
}

static bool join_all(contraction *c)
{
    while (c->count > 1) {
        uint32_t one, another;
        lazy_labelled joined;
        cheapest(c, &one, &another);
        if (!join(c, &c->operands[one], &c->operands[another], labels_of_others(c, one, another), &joined)) return false;
        c->operands[one] = joined;
        c->count--;
        memmove(&c->operands[another], &c->operands[another + 1], (c->count - another) * sizeof *c->operands);
    }
    return true;
}

wg_array *lazy_contract(wg_lazy *lazy, const char *call, lazy_labelled *operands, uint32_t count, const uint8_t *result, uint32_t rank)
{
    contraction c = {.lazy = lazy, .call = call, .operands = operands, .count = count};
    int32_t order[WG_MAX_RANK];
    for (uint32_t axis = 0; axis < rank; axis++) c.wanted |= (label_set)1 << result[axis];
    for (uint32_t i = 0; i < count; i++)
        if (!take_diagonals(&c, &operands[i])) return NULL;
    if (!learn_extents(&c)) return NULL;
    for (uint32_t i = 0; i < count; i++)
        if (!let_go(&c, &operands[i], true, 0)) return NULL;
    for (uint32_t i = 0; i < count; i++)
        if (!let_go(&c, &operands[i], false, labels_of_others(&c, i, i))) return NULL;
    if (!join_all(&c)) return NULL;
    for (uint32_t axis = 0; axis < rank; axis++) order[axis] = (int32_t)axis_of(&operands[0], result[axis]);
    return wg_array_permute(operands[0].array, order, rank);
}
