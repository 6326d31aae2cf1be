/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Kind rules and shape rules. Numbers decide here; expressions are carried beside them so that a later binding can run the same rules. */
#include "graph/rules.h"

#include <string.h>

#include "graph/graph.h"

#define ROW(call) (graph_rows[(call)->op].text)
#define SHAPE(type) BASE_SHAPE_TEXT((type)->rank, (type)->numbers)

static wg_size size_of(const graph_type *type, uint32_t axis)
{
    return (wg_size){type->numbers[axis], type->expressions ? type->expressions[axis] : 0};
}

static wg_size plain(int64_t number)
{
    return (wg_size){number, 0};
}

static bool fail_rank(graph_call *call)
{
    return base_fail(call->error, WG_SHAPE, "%s would make a rank above %d", ROW(call), WG_MAX_RANK);
}

/* Appends a size to the result's shape. */
static bool put(graph_call *call, wg_size size)
{
    if (call->rank == WG_MAX_RANK) return fail_rank(call);
    call->shape[call->rank++] = size;
    return true;
}

static bool put_axes(graph_call *call, const graph_type *type, uint32_t from, uint32_t to)
{
    for (uint32_t axis = from; axis < to; axis++)
        if (!put(call, size_of(type, axis))) return false;
    return true;
}

static bool check_axis(graph_call *call, int64_t axis, const graph_type *type)
{
    if (axis >= 0 && axis < (int64_t)type->rank) return true;
    return base_fail(call->error, WG_ARGUMENT, "%s has no axis %lld in %s", ROW(call), (long long)axis, SHAPE(type));
}

/* ---- rules of a shape as it is ---- */

bool graph_shape_source(graph_call *call)
{
    return base_fail(call->error, WG_ARGUMENT, "%s is a source: its kind and shape are given, by a call of its own, not derived", ROW(call));
}

static bool same_numbers(const graph_type *a, const graph_type *b)
{
    return a->rank == b->rank && !memcmp(a->numbers, b->numbers, a->rank * sizeof *a->numbers);
}

/* The operands from one on have one shape, the result's. */
static bool same_from(graph_call *call, uint32_t start)
{
    const graph_type *first = &call->operands[start];
    for (uint32_t i = start + 1; i < call->operand_count; i++)
        if (!same_numbers(first, &call->operands[i]))
            return base_fail(call->error, WG_SHAPE, "%s cannot combine %s and %s: shapes differ; broadcast one explicitly", ROW(call), SHAPE(first),
                             SHAPE(&call->operands[i]));
    for (uint32_t axis = 0; axis < first->rank; axis++) {
        wg_size size = size_of(first, axis);
        for (uint32_t i = start + 1; i < call->operand_count && !size.expression; i++) size = size_of(&call->operands[i], axis);
        if (!put(call, size)) return false;
    }
    return true;
}

bool graph_shape_same(graph_call *call)
{
    return same_from(call, 0);
}

bool graph_shape_bitcast(graph_call *call)
{
    wg_kind from = call->operands[0].kind;
    if (base_kinds[from].bytes != base_kinds[call->kind].bytes)
        return base_fail(call->error, WG_KIND, "bitcast cannot turn %s into %s: their widths differ", base_kinds[from].name, base_kinds[call->kind].name);
    if (call->kind == WG_KIND_BOOL && from != WG_KIND_BOOL)
        return base_fail(call->error, WG_KIND, "bitcast cannot make bool: not every byte is one");
    return graph_shape_same(call);
}

bool graph_shape_scalar(graph_call *call)
{
    (void)call;
    return true;
}

bool graph_shape_second(graph_call *call)
{
    const graph_type *x = &call->operands[0], *y = &call->operands[1];
    if (x->rank != 1) return base_fail(call->error, WG_SHAPE, "%s looks in a list: %s is not of rank 1", ROW(call), SHAPE(x));
    return put_axes(call, y, 0, y->rank);
}

bool graph_shape_bins(graph_call *call)
{
    const graph_type *x = &call->operands[0], *bounds = &call->operands[1];
    if (bounds->rank != 1) return base_fail(call->error, WG_SHAPE, "%s takes a list of bounds: %s is not of rank 1", ROW(call), SHAPE(bounds));
    return put_axes(call, x, 0, x->rank);
}

/* ---- contraction, reduction ---- */

bool graph_shape_matmul(graph_call *call)
{
    const graph_type *a = &call->operands[0], *b = &call->operands[1];
    const char *left = SHAPE(a), *right = SHAPE(b);
    if (a->rank < 2 || a->rank != b->rank)
        return base_fail(call->error, WG_SHAPE, "matmul cannot multiply %s by %s: ranks must be equal and at least 2", left, right);
    uint32_t batch = a->rank - 2;
    for (uint32_t axis = 0; axis < batch; axis++)
        if (a->numbers[axis] != b->numbers[axis])
            return base_fail(call->error, WG_SHAPE, "matmul cannot multiply %s by %s: batch extents %lld and %lld differ", left, right,
                             (long long)a->numbers[axis], (long long)b->numbers[axis]);
    if (a->numbers[batch + 1] != b->numbers[batch])
        return base_fail(call->error, WG_SHAPE, "matmul cannot multiply %s by %s: inner extents %lld and %lld differ", left, right,
                         (long long)a->numbers[batch + 1], (long long)b->numbers[batch]);
    for (uint32_t axis = 0; axis < batch; axis++) {
        wg_size size = size_of(a, axis);
        if (!put(call, size.expression ? size : size_of(b, axis))) return false;
    }
    return put(call, size_of(a, batch)) && put(call, size_of(b, batch + 1));
}

/* The rows' last axis is that of the weights; of two sizes the one that follows an extent is kept by the caller. */
static bool check_depth(graph_call *call, const graph_type *x, const graph_type *w)
{
    int64_t inner = x->numbers[x->rank - 1], depth = w->numbers[w->rank - 1];
    if (inner == depth) return true;
    return base_fail(call->error, WG_SHAPE, "%s cannot multiply %s by the transpose of %s: inner extents %lld and %lld differ", ROW(call), SHAPE(x),
                     SHAPE(w), (long long)inner, (long long)depth);
}

bool graph_shape_qmatmul(graph_call *call)
{
    const graph_type *x = &call->operands[0], *w = &call->operands[1];
    if (x->rank < 2 || w->rank != 2)
        return base_fail(call->error, WG_SHAPE, "qmatmul takes rows [.., m, k] and weights [n, k], not %s and %s", SHAPE(x), SHAPE(w));
    return check_depth(call, x, w) && put_axes(call, x, 0, x->rank - 1) && put(call, size_of(w, 0));
}

bool graph_shape_expert_matmul(graph_call *call)
{
    const graph_type *x = &call->operands[0], *w = &call->operands[1], *expert = &call->operands[2];
    if (x->rank != 2 || w->rank != 3 || expert->rank != 1)
        return base_fail(call->error, WG_SHAPE, "expert_matmul takes rows [rows, k], weights [experts, n, k] and the expert of each row [rows], not %s, %s and %s",
                         SHAPE(x), SHAPE(w), SHAPE(expert));
    if (x->numbers[0] != expert->numbers[0])
        return base_fail(call->error, WG_SHAPE, "expert_matmul needs an expert for each row: %lld rows, %lld experts' numbers", (long long)x->numbers[0],
                         (long long)expert->numbers[0]);
    wg_size rows = size_of(x, 0);
    return check_depth(call, x, w) && put(call, rows.expression ? rows : size_of(expert, 0)) && put(call, size_of(w, 1));
}

static int64_t axis_of(const graph_call *call, uint32_t attribute)
{
    return call->attributes[attribute].number;
}

/* Which attribute is the axis: the first of type AXIS. */
static uint32_t axis_attribute(wg_op op)
{
    uint32_t count;
    const graph_attribute_row *rows = graph_row_attributes(op, &count);
    for (uint32_t i = 0; i < count; i++)
        if (rows[i].type == GRAPH_AXIS) return i;
    return 0;
}

bool graph_shape_keep_axis(graph_call *call)
{
    const graph_type *a = &call->operands[0];
    return check_axis(call, axis_of(call, axis_attribute(call->op)), a) && put_axes(call, a, 0, a->rank);
}

bool graph_shape_drop_axis(graph_call *call)
{
    const graph_type *a = &call->operands[0];
    int64_t axis = axis_of(call, axis_attribute(call->op));
    return check_axis(call, axis, a) && put_axes(call, a, 0, (uint32_t)axis) && put_axes(call, a, (uint32_t)axis + 1, a->rank);
}

bool graph_shape_drop_axis_filled(graph_call *call)
{
    const graph_type *a = &call->operands[0];
    int64_t axis = axis_of(call, axis_attribute(call->op));
    if (!check_axis(call, axis, a)) return false;
    if (a->numbers[axis] == 0) return base_fail(call->error, WG_SHAPE, "%s of an empty axis %lld in %s", ROW(call), (long long)axis, SHAPE(a));
    return graph_shape_drop_axis(call);
}

bool graph_shape_top_k(graph_call *call)
{
    const graph_type *a = &call->operands[0];
    int64_t axis = axis_of(call, 0);
    wg_size k = call->attributes[1];
    if (!check_axis(call, axis, a)) return false;
    if (k.number > a->numbers[axis])
        return base_fail(call->error, WG_ARGUMENT, "%s cannot take %lld of axis %lld in %s", ROW(call), (long long)k.number, (long long)axis, SHAPE(a));
    return put_axes(call, a, 0, (uint32_t)axis) && put(call, k) && put_axes(call, a, (uint32_t)axis + 1, a->rank);
}

/* ---- layout ---- */

/* A SIZES attribute at flat place `at`: its count, then its sizes. */
static bool put_sizes(graph_call *call, uint32_t at)
{
    uint32_t count = (uint32_t)call->attributes[at].number;
    for (uint32_t i = 0; i < count; i++)
        if (!put(call, call->attributes[at + 1 + i])) return false;
    return true;
}

static bool volume_of(const graph_call *call, int64_t *volume)
{
    int64_t numbers[WG_MAX_RANK];
    for (uint32_t axis = 0; axis < call->rank; axis++) numbers[axis] = call->shape[axis].number;
    if (base_volume(call->rank, numbers, volume)) return true;
    return base_fail(call->error, WG_SIZE, "%s would make %s: its volume does not fit in 64 bits", ROW(call), BASE_SHAPE_TEXT(call->rank, numbers));
}

static int64_t type_volume(const graph_type *type)
{
    int64_t volume = 0;
    base_volume(type->rank, type->numbers, &volume);
    return volume;
}

bool graph_shape_broadcast(graph_call *call)
{
    const graph_type *a = &call->operands[0];
    if (type_volume(a) != 1) return base_fail(call->error, WG_SHAPE, "broadcast spreads one item: %s holds more or none; use broadcast_along", SHAPE(a));
    return put_sizes(call, 0);
}

bool graph_shape_broadcast_along(graph_call *call)
{
    const graph_type *a = &call->operands[0];
    int64_t axis = axis_of(call, 0);
    if (axis < 0 || axis > (int64_t)a->rank)
        return base_fail(call->error, WG_ARGUMENT, "broadcast_along cannot put an axis %lld into %s", (long long)axis, SHAPE(a));
    return put_axes(call, a, 0, (uint32_t)axis) && put(call, call->attributes[1]) && put_axes(call, a, (uint32_t)axis, a->rank);
}

bool graph_shape_reshape(graph_call *call)
{
    const graph_type *a = &call->operands[0];
    int64_t volume;
    if (!put_sizes(call, 0) || !volume_of(call, &volume)) return false;
    if (volume == type_volume(a)) return true;
    int64_t numbers[WG_MAX_RANK];
    for (uint32_t axis = 0; axis < call->rank; axis++) numbers[axis] = call->shape[axis].number;
    return base_fail(call->error, WG_SHAPE, "reshape cannot make %s of %s: %lld items and %lld", BASE_SHAPE_TEXT(call->rank, numbers), SHAPE(a),
                     (long long)volume, (long long)type_volume(a));
}

bool graph_shape_permute(graph_call *call)
{
    const graph_type *a = &call->operands[0];
    uint32_t count = (uint32_t)call->attributes[0].number, seen = 0;
    if (count != a->rank) return base_fail(call->error, WG_ARGUMENT, "permute needs an order of %u axes for %s, not %u", a->rank, SHAPE(a), count);
    for (uint32_t i = 0; i < count; i++) {
        int64_t axis = call->attributes[1 + i].number;
        if (axis < 0 || axis >= (int64_t)count || seen >> axis & 1)
            return base_fail(call->error, WG_ARGUMENT, "permute's order must name each axis of %s once", SHAPE(a));
        seen |= 1u << axis;
        if (!put(call, size_of(a, (uint32_t)axis))) return false;
    }
    return true;
}

/* The operand's shape with `sizes` in place of one axis. */
static bool replace_axis(graph_call *call, const graph_type *a, int64_t axis, uint32_t count, const wg_size *sizes)
{
    if (!put_axes(call, a, 0, (uint32_t)axis)) return false;
    for (uint32_t i = 0; i < count; i++)
        if (!put(call, sizes[i])) return false;
    return put_axes(call, a, (uint32_t)axis + 1, a->rank);
}

bool graph_shape_narrow(graph_call *call)
{
    const graph_type *a = &call->operands[0];
    int64_t axis = axis_of(call, 0), start = call->attributes[1].number, len = call->attributes[2].number, step = call->attributes[3].number, last;
    if (!check_axis(call, axis, a)) return false;
    if (step < 1) return base_fail(call->error, WG_ARGUMENT, "narrow's step must be at least 1, not %lld", (long long)step);
    bool fits = len == 0 ? start <= a->numbers[axis]
                         : base_multiply(len - 1, step, &last) && base_add(last, start, &last) && last < a->numbers[axis];
    if (!fits)
        return base_fail(call->error, WG_ARGUMENT, "narrow cannot take %lld positions from %lld, %lld apart, of axis %lld in %s", (long long)len,
                         (long long)start, (long long)step, (long long)axis, SHAPE(a));
    int64_t block = axis + 1 == (int64_t)a->rank ? wg_kind_block(a->kind) : 1;
    if (block > 1 && (step != 1 || start % block || len % block))
        return base_fail(call->error, WG_ARGUMENT, "narrow takes whole blocks of %s, %lld items side by side, of axis %lld in %s; convert it first",
                         base_kinds[a->kind].name, (long long)block, (long long)axis, SHAPE(a));
    return replace_axis(call, a, axis, 1, &call->attributes[2]);
}

bool graph_shape_pad(graph_call *call)
{
    const graph_type *a = &call->operands[0];
    int64_t axis = axis_of(call, 0), end;
    if (!check_axis(call, axis, a)) return false;
    if (!base_add(call->attributes[1].number, a->numbers[axis], &end) || end > call->attributes[2].number)
        return base_fail(call->error, WG_ARGUMENT, "pad cannot place axis %lld of %s from %lld in %lld positions", (long long)axis, SHAPE(a),
                         (long long)call->attributes[1].number, (long long)call->attributes[2].number);
    return replace_axis(call, a, axis, 1, &call->attributes[2]);
}

bool graph_shape_concat(graph_call *call)
{
    const graph_type *first = &call->operands[0];
    int64_t axis = axis_of(call, 0);
    if (!check_axis(call, axis, first)) return false;
    wg_size total = plain(0);
    for (uint32_t i = 0; i < call->operand_count; i++) {
        const graph_type *a = &call->operands[i];
        bool fits = a->rank == first->rank;
        for (uint32_t other = 0; fits && other < a->rank; other++)
            fits = other == (uint32_t)axis || a->numbers[other] == first->numbers[other];
        if (!fits)
            return base_fail(call->error, WG_SHAPE, "concat along axis %lld cannot join %s and %s", (long long)axis, SHAPE(first), SHAPE(a));
        if (!graph_size_sum(call->tape, total, size_of(a, (uint32_t)axis), &total, call->error)) return false;
    }
    return replace_axis(call, first, axis, 1, &total);
}

/* ---- windows ---- */

/* Windows of `size` items `dilation` apart, a window every `step`: floor((extent - span) / step) + 1. */
static bool windows(graph_call *call, wg_size extent, wg_size size, int64_t step, int64_t dilation, wg_size *count)
{
    if (size.number < 1 || step < 1 || dilation < 1)
        return base_fail(call->error, WG_ARGUMENT, "%s needs size, step and dilation of at least 1", ROW(call));
    wg_size span, room;
    if (!graph_size_difference(call->tape, size, plain(1), &span, call->error) ||
        !graph_size_product(call->tape, span, plain(dilation), &span, call->error) || !graph_size_sum(call->tape, span, plain(1), &span, call->error))
        return false;
    if (span.number > extent.number)
        return base_fail(call->error, WG_SHAPE, "%s: a window of %lld positions does not fit an axis of %lld", ROW(call), (long long)span.number,
                         (long long)extent.number);
    if (!graph_size_difference(call->tape, extent, span, &room, call->error)) return false;
    if (step == 1) return graph_size_sum(call->tape, room, plain(1), count, call->error);
    if (room.expression)
        return base_fail(call->error, WG_SIZE, "%s: the number of windows %lld apart over a named extent is no polynomial; use step 1 or a plain size",
                         ROW(call), (long long)step);
    *count = plain(room.number / step + 1);
    return true;
}

bool graph_shape_unfold(graph_call *call)
{
    const graph_type *a = &call->operands[0];
    int64_t axis = axis_of(call, 0);
    wg_size sizes[2] = {{0, 0}, call->attributes[1]};
    return check_axis(call, axis, a) &&
           windows(call, size_of(a, (uint32_t)axis), sizes[1], call->attributes[2].number, call->attributes[3].number, &sizes[0]) &&
           replace_axis(call, a, axis, 2, sizes);
}

bool graph_shape_fold(graph_call *call)
{
    const graph_type *a = &call->operands[0];
    int64_t axis = axis_of(call, 0);
    wg_size count, size = call->attributes[1], extent = call->attributes[4];
    if (!check_axis(call, axis, a)) return false;
    if (!windows(call, extent, size, call->attributes[2].number, call->attributes[3].number, &count)) return false;
    if (axis + 1 >= (int64_t)a->rank || a->numbers[axis] != count.number || a->numbers[axis + 1] != size.number)
        return base_fail(call->error, WG_SHAPE, "fold into an axis of %lld needs [%lld, %lld] at axis %lld, not %s", (long long)extent.number,
                         (long long)count.number, (long long)size.number, (long long)axis, SHAPE(a));
    return put_axes(call, a, 0, (uint32_t)axis) && put(call, extent) && put_axes(call, a, (uint32_t)axis + 2, a->rank);
}

/* ---- indexing ---- */

static bool check_batch(graph_call *call, int64_t axis, int64_t batch, const graph_type *a, const graph_type *positions)
{
    bool fits = batch >= 0 && batch <= axis && batch <= (int64_t)positions->rank;
    for (int64_t i = 0; fits && i < batch; i++) fits = a->numbers[i] == positions->numbers[i];
    if (fits) return true;
    return base_fail(call->error, WG_SHAPE, "%s: the first %lld axes (batch) of %s and %s must be equal and stand before axis %lld", ROW(call),
                     (long long)batch, SHAPE(a), SHAPE(positions), (long long)axis);
}

bool graph_shape_gather(graph_call *call)
{
    const graph_type *a = &call->operands[0], *positions = &call->operands[1];
    int64_t axis = axis_of(call, 0), batch = axis_of(call, 1), outside = axis_of(call, 2);
    if (!check_axis(call, axis, a) || !check_batch(call, axis, batch, a, positions)) return false;
    if (outside == GRAPH_OUTSIDE_SKIP) return base_fail(call->error, WG_ARGUMENT, "gather's outside is error, fill or clamp");
    if (base_kind_is_block(a->kind) && axis + 1 == (int64_t)a->rank)
        return base_fail(call->error, WG_ARGUMENT, "gather cannot take single items out of the blocks of %s %s along axis %lld; convert it first",
                         base_kinds[a->kind].name, SHAPE(a), (long long)axis);
    return put_axes(call, a, 0, (uint32_t)axis) && put_axes(call, positions, (uint32_t)batch, positions->rank) &&
           put_axes(call, a, (uint32_t)axis + 1, a->rank);
}

bool graph_shape_scatter(graph_call *call)
{
    const graph_type *a = &call->operands[0], *positions = &call->operands[1];
    int64_t axis = axis_of(call, 0), batch = axis_of(call, 1), outside = axis_of(call, 3);
    if (outside == GRAPH_OUTSIDE_FILL) return base_fail(call->error, WG_ARGUMENT, "scatter's outside is error, clamp or skip");
    if (axis < 0 || axis > (int64_t)a->rank) return check_axis(call, axis, a);
    if (!check_batch(call, axis, batch, a, positions)) return false;
    uint32_t span = positions->rank - (uint32_t)batch;
    bool fits = axis + span <= a->rank;
    for (uint32_t i = 0; fits && i < span; i++) fits = a->numbers[axis + i] == positions->numbers[batch + i];
    if (!fits)
        return base_fail(call->error, WG_SHAPE, "scatter: the axes of %s from %lld must be those of the positions %s after batch", SHAPE(a), (long long)axis,
                         SHAPE(positions));
    return put_axes(call, a, 0, (uint32_t)axis) && put(call, call->attributes[2]) && put_axes(call, a, (uint32_t)axis + span, a->rank);
}

static bool check_starts(graph_call *call, int64_t axis, int64_t batch, const graph_type *a, const graph_type *start, int64_t outside)
{
    if (!check_axis(call, axis, a) || !check_batch(call, axis, batch, a, start)) return false;
    if (start->rank != (uint32_t)batch)
        return base_fail(call->error, WG_SHAPE, "%s needs a start for each of the %lld batch axes: [%s] of rank %lld, not %s", ROW(call), (long long)batch,
                         "..", (long long)batch, SHAPE(start));
    if (outside == GRAPH_OUTSIDE_CLAMP || outside == GRAPH_OUTSIDE_ERROR) return true;
    return base_fail(call->error, WG_ARGUMENT, "%s's outside is clamp or error", ROW(call));
}

bool graph_shape_slice(graph_call *call)
{
    const graph_type *a = &call->operands[0];
    int64_t axis = axis_of(call, 0), batch = axis_of(call, 1);
    if (!check_starts(call, axis, batch, a, &call->operands[1], axis_of(call, 3))) return false;
    if (call->attributes[2].number > a->numbers[axis])
        return base_fail(call->error, WG_ARGUMENT, "slice cannot take %lld positions of axis %lld in %s", (long long)call->attributes[2].number,
                         (long long)axis, SHAPE(a));
    return replace_axis(call, a, axis, 1, &call->attributes[2]);
}

bool graph_shape_update(graph_call *call)
{
    const graph_type *a = &call->operands[0], *b = &call->operands[1];
    int64_t axis = axis_of(call, 0), batch = axis_of(call, 1);
    if (!check_starts(call, axis, batch, a, &call->operands[2], axis_of(call, 2))) return false;
    bool fits = a->rank == b->rank && b->numbers[axis] <= a->numbers[axis];
    for (uint32_t i = 0; fits && i < a->rank; i++) fits = i == (uint32_t)axis || a->numbers[i] == b->numbers[i];
    if (!fits) return base_fail(call->error, WG_SHAPE, "update cannot put %s into axis %lld of %s", SHAPE(b), (long long)axis, SHAPE(a));
    return put_axes(call, a, 0, a->rank);
}

bool graph_shape_where(graph_call *call)
{
    return put(call, call->attributes[0]);
}

/* ---- dense algebra: matrices on the last two axes ---- */

static bool check_matrix(graph_call *call, bool square)
{
    const graph_type *a = &call->operands[0];
    if (a->rank < 2) return base_fail(call->error, WG_SHAPE, "%s takes matrices [.., m, n], not %s", ROW(call), SHAPE(a));
    if (!square || a->numbers[a->rank - 1] == a->numbers[a->rank - 2]) return true;
    return base_fail(call->error, WG_SHAPE, "%s takes square matrices [.., n, n], not %s", ROW(call), SHAPE(a));
}

/* The lesser of the matrix's extents; which one that is may not depend on a binding. */
static bool lesser(graph_call *call, wg_size *size)
{
    const graph_type *a = &call->operands[0];
    wg_size m = size_of(a, a->rank - 2), n = size_of(a, a->rank - 1);
    if (m.expression != n.expression)
        return base_fail(call->error, WG_SIZE,
                         "%s of %s: the lesser of two extents is no polynomial; use plain sizes, or one named extent for both", ROW(call), SHAPE(a));
    *size = m.number <= n.number ? m : n;
    return true;
}

/* a [.., m, n] and b [.., m, k] to [.., n, k]. */
bool graph_shape_least_squares(graph_call *call)
{
    const graph_type *a = &call->operands[0], *b = &call->operands[1];
    if (!check_matrix(call, false)) return false;
    bool fits = a->rank == b->rank && a->numbers[a->rank - 2] == b->numbers[b->rank - 2];
    for (uint32_t axis = 0; fits && axis + 2 < a->rank; axis++) fits = a->numbers[axis] == b->numbers[axis];
    if (!fits)
        return base_fail(call->error, WG_SHAPE, "%s takes a [.., m, n] and b [.., m, k] of the same batch axes, not %s and %s", ROW(call),
                         SHAPE(a), SHAPE(b));
    for (uint32_t axis = 0; axis + 2 < a->rank; axis++) {
        wg_size size = size_of(a, axis);
        if (!put(call, size.expression ? size : size_of(b, axis))) return false;
    }
    return put(call, size_of(a, a->rank - 1)) && put(call, size_of(b, b->rank - 1));
}

bool graph_shape_solve(graph_call *call)
{
    return check_matrix(call, true) && graph_shape_least_squares(call);
}

bool graph_shape_square(graph_call *call)
{
    return check_matrix(call, true) && put_axes(call, &call->operands[0], 0, call->operands[0].rank);
}

bool graph_shape_drop_matrix(graph_call *call)
{
    return check_matrix(call, true) && put_axes(call, &call->operands[0], 0, call->operands[0].rank - 2);
}

bool graph_shape_square_diagonal(graph_call *call)
{
    return check_matrix(call, true) && put_axes(call, &call->operands[0], 0, call->operands[0].rank - 1);
}

bool graph_shape_tall(graph_call *call)
{
    wg_size size;
    return check_matrix(call, false) && lesser(call, &size) && put_axes(call, &call->operands[0], 0, call->operands[0].rank - 1) &&
           put(call, size);
}

bool graph_shape_wide(graph_call *call)
{
    const graph_type *a = &call->operands[0];
    wg_size size;
    return check_matrix(call, false) && lesser(call, &size) && put_axes(call, a, 0, a->rank - 2) && put(call, size) &&
           put(call, size_of(a, a->rank - 1));
}

bool graph_shape_right_tall(graph_call *call)
{
    const graph_type *a = &call->operands[0];
    wg_size size;
    return check_matrix(call, false) && lesser(call, &size) && put_axes(call, a, 0, a->rank - 2) && put(call, size_of(a, a->rank - 1)) &&
           put(call, size);
}

bool graph_shape_diagonal(graph_call *call)
{
    wg_size size;
    return check_matrix(call, false) && lesser(call, &size) && put_axes(call, &call->operands[0], 0, call->operands[0].rank - 2) &&
           put(call, size);
}

/* ---- generators ---- */

/* The axes of keys [.., 2] before a key: each has its own result. */
static bool put_keys(graph_call *call)
{
    return put_axes(call, &call->operands[0], 0, call->operands[0].rank - 1);
}

bool graph_shape_shaped(graph_call *call)
{
    bool iota = call->op == WG_OP_Iota;
    uint32_t at = iota ? 0 : 1; /* Draw's shape stands behind its distribution */
    if (!(iota || put_keys(call)) || !put_sizes(call, at)) return false;
    if (iota) {
        int64_t axis = call->attributes[1 + call->rank].number;
        if (axis >= 0 && axis < (int64_t)call->rank) return true;
        return base_fail(call->error, WG_ARGUMENT, "iota has no axis %lld in a shape of rank %u", (long long)axis, call->rank);
    }
    bool bits = call->attributes[0].number == GRAPH_DISTRIBUTION_BITS;
    if (bits ? base_kind_is_integer(call->kind) : base_kind_is_float(call->kind)) return true;
    return base_fail(call->error, WG_KIND, "draw of %s cannot be of kind %s: bits are integers, every other distribution floats",
                     graph_choice_word(GRAPH_DISTRIBUTION, call->attributes[0].number), base_kinds[call->kind].name);
}

bool graph_shape_key_split(graph_call *call)
{
    return put_keys(call) && put(call, call->attributes[0]) && put(call, plain(2));
}

bool graph_shape_key_fold(graph_call *call)
{
    const graph_type *keys = &call->operands[0], *numbers = &call->operands[1];
    bool fits = keys->rank == numbers->rank + 1 && !memcmp(keys->numbers, numbers->numbers, numbers->rank * sizeof *numbers->numbers);
    if (!fits) return base_fail(call->error, WG_SHAPE, "key_fold takes one number a key: %s are not those of keys %s", SHAPE(numbers), SHAPE(keys));
    return put_keys(call) && put(call, plain(2));
}

bool graph_shape_drawn(graph_call *call)
{
    const graph_type *keys = &call->operands[0], *first = &call->operands[1];
    uint32_t before = keys->rank - 1;
    if (first->rank < before || memcmp(keys->numbers, first->numbers, before * sizeof *keys->numbers))
        return base_fail(call->error, WG_SHAPE, "%s takes parameters for each key: %s does not begin as keys %s do", ROW(call), SHAPE(first),
                         SHAPE(keys));
    return same_from(call, 1);
}

/* ---- kinds and the whole ---- */

/* Where the row takes a float kind that the items can be converted to without being cut, the error says so. */
static bool fail_kind(graph_call *call, wg_kind kind)
{
    bool widens = base_kind_is_block(kind) || kind == WG_KIND_BOOL || base_kind_is_integer(kind) || base_kinds[kind].bytes < base_kinds[WG_KIND_F32].bytes;
    wg_kind other = graph_row_accepts(call->op, WG_KIND_F32) ? WG_KIND_F32 : WG_KIND_F64;
    if (!widens || !graph_row_accepts(call->op, other))
        return base_fail(call->error, WG_KIND, "%s does not take %s", ROW(call), base_kinds[kind].name);
    return base_fail(call->error, WG_KIND, "%s does not take %s; convert it first, as with convert(x, kind=%s)", ROW(call),
                     base_kinds[kind].name, base_kinds[other].name);
}

static bool check_operands(graph_call *call)
{
    const graph_row *row = &graph_rows[call->op];
    if (row->arity == -1 ? call->operand_count < 1 : call->operand_count != (uint32_t)row->arity)
        return base_fail(call->error, WG_ARGUMENT, "%s takes %s%d operand%s, not %u", row->text, row->arity == -1 ? "at least " : "",
                         row->arity == -1 ? 1 : row->arity, row->arity == 1 || row->arity == -1 ? "" : "s", call->operand_count);
    const graph_type *first = NULL;
    size_t roles = strlen(row->roles);
    for (uint32_t i = 0; i < call->operand_count; i++) {
        const graph_type *a = &call->operands[i];
        const char *kind = base_kinds[a->kind].name;
        switch (row->roles[i < roles ? i : roles - 1]) {
        case 'c':
            if (a->kind != WG_KIND_BOOL) return base_fail(call->error, WG_KIND, "%s needs a bool condition, not %s", row->text, kind);
            break;
        case 'p':
            if (a->kind != WG_KIND_I64 && a->kind != WG_KIND_I32)
                return base_fail(call->error, WG_KIND, "%s needs positions of kind i64 or i32, not %s", row->text, kind);
            break;
        case 'k':
            if (a->kind != WG_KIND_U32 || a->rank < 1 || a->numbers[a->rank - 1] != 2)
                return base_fail(call->error, WG_KIND, "%s needs keys, u32 [.., 2], not %s %s", row->text, kind, SHAPE(a));
            break;
        case 'b':
            if (!base_kind_is_block(a->kind))
                return base_fail(call->error, WG_KIND, "%s needs weights of a block kind, not %s; use matmul", row->text, kind);
            break;
        case 'w':
            if (base_kind_is_block(a->kind)) {
                if (first->kind == WG_KIND_F32) break;
                return base_fail(call->error, WG_KIND, "%s of %s takes f32, not %s; convert it first", row->text, kind, base_kinds[first->kind].name);
            } /* fall through */
        default:
            if (!graph_row_accepts(call->op, a->kind)) return fail_kind(call, a->kind);
            if (!first) first = a;
            else if (first->kind != a->kind)
                return base_fail(call->error, WG_KIND, "%s cannot combine %s and %s: kinds differ; convert one explicitly", row->text,
                                 base_kinds[first->kind].name, kind);
        }
    }
    return true;
}

static bool fail_following(graph_call *call, const char *key)
{
    return base_fail(call->error, WG_ARGUMENT, "%s: %s is a plain number: it may not follow an extent", ROW(call), key);
}

/* Every attribute in its range; at most one list, wherever it stands. */
static bool check_attributes(graph_call *call)
{
    uint32_t count, at = 0;
    const graph_attribute_row *rows = graph_row_attributes(call->op, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (at >= call->attribute_count) return base_fail(call->error, WG_ARGUMENT, "%s needs %s", ROW(call), rows[i].key);
        int64_t number = call->attributes[at].number, wrong = number;
        bool fits = true, follows = rows[i].role == GRAPH_LENGTH && rows[i].type == GRAPH_SIZE; /* a list's first number is its count */
        if (!follows && call->attributes[at].expression) return fail_following(call, rows[i].key);
        switch (rows[i].type) {
        case GRAPH_SIZES:
        case GRAPH_ORDER:
            if (number < 0 || number > WG_MAX_RANK) return fail_rank(call);
            if (at + number >= call->attribute_count) return base_fail(call->error, WG_ARGUMENT, "%s needs all of %s", ROW(call), rows[i].key);
            for (int64_t j = 1; j <= number; j++) {
                if (rows[i].role == GRAPH_STRUCTURE && call->attributes[at + j].expression) return fail_following(call, rows[i].key);
                if (call->attributes[at + j].number >= 0) continue;
                wrong = call->attributes[at + j].number;
                fits = false;
            }
            at += (uint32_t)number;
            break;
        case GRAPH_AXIS:
        case GRAPH_SIZE: fits = number >= 0; break;
        case GRAPH_FLAG: fits = number == 0 || number == 1; break;
        case GRAPH_KIND: fits = (number >= 0 && number < WG_KIND_COUNT) || (number == GRAPH_BY_RULE && rows[i].silent == GRAPH_BY_RULE); break;
        case GRAPH_REAL: break;
        default: fits = graph_choice_word(rows[i].type, number) != NULL;
        }
        if (!fits) return base_fail(call->error, WG_ARGUMENT, "%s: %s may not be %lld", ROW(call), rows[i].key, (long long)wrong);
        at++;
    }
    if (at == call->attribute_count) return true;
    return base_fail(call->error, WG_ARGUMENT, "%s has fewer parameters than it was given", ROW(call));
}

/* The flat place of the kind or accumulate attribute. */
static int64_t kind_attribute(const graph_call *call)
{
    uint32_t count, at = 0;
    const graph_attribute_row *rows = graph_row_attributes(call->op, &count);
    for (uint32_t i = 0; i < count; i++, at++) {
        if (rows[i].type == GRAPH_KIND) return call->attributes[at].number;
        if (rows[i].type == GRAPH_SIZES || rows[i].type == GRAPH_ORDER) at += (uint32_t)call->attributes[at].number;
    }
    return GRAPH_BY_RULE;
}

/* Integers answer in the accumulation kind, floats and complex numbers in their own; the accumulation kind may only widen within the class,
 * and of a complex kind it is that kind. */
static bool accumulated(graph_call *call)
{
    wg_kind kind = call->operands[0].kind, rule = graph_accumulation_kind(kind);
    int64_t told = kind_attribute(call);
    wg_kind chosen = told == GRAPH_BY_RULE ? rule : (wg_kind)told;
    bool is_float = base_kind_is_float(kind);
    call->kind = kind;
    if (base_kind_is_complex(kind) && chosen == kind) return true;
    if (base_kind_is_complex(kind) || base_kind_is_float(chosen) != is_float || (!is_float && !base_kind_is_integer(chosen)) ||
        base_kinds[chosen].bytes < base_kinds[kind].bytes || (is_float && base_kinds[chosen].bytes < 4))
        return base_fail(call->error, WG_KIND, "%s of %s cannot accumulate in %s", ROW(call), base_kinds[kind].name, base_kinds[chosen].name);
    call->kind = is_float ? kind : chosen;
    return true;
}

static bool infer_kind(graph_call *call)
{
    switch (graph_rows[call->op].result) {
    case GRAPH_RESULT_SAME: {
        const char *data = strchr(graph_rows[call->op].roles, 'd');
        call->kind = call->operands[data ? data - graph_rows[call->op].roles : 0].kind;
        return true;
    }
    case GRAPH_RESULT_BOOL: call->kind = WG_KIND_BOOL; return true;
    case GRAPH_RESULT_I64: call->kind = WG_KIND_I64; return true;
    case GRAPH_RESULT_U32: call->kind = WG_KIND_U32; return true;
    case GRAPH_RESULT_KIND:
        call->kind = (wg_kind)kind_attribute(call);
        if (call->op == WG_OP_Convert && base_kind_is_complex(call->operands[0].kind) && !base_kind_is_complex(call->kind))
            return base_fail(call->error, WG_KIND, "convert cannot make %s of %s: take its real, imag or abs first",
                             base_kinds[call->kind].name, base_kinds[call->operands[0].kind].name);
        if (base_kind_is_block(call->kind))
            return base_fail(call->error, WG_KIND, "%s cannot make %s: weights are quantised before they are recorded", ROW(call),
                             base_kinds[call->kind].name);
        if (call->op == WG_OP_Convert && base_kind_is_block(call->operands[0].kind) && call->kind != WG_KIND_F32)
            return base_fail(call->error, WG_KIND, "convert makes f32 of %s: convert that to %s", base_kinds[call->operands[0].kind].name,
                             base_kinds[call->kind].name);
        if (call->op == WG_OP_Iota && !graph_row_accepts(WG_OP_Iota, call->kind))
            return base_fail(call->error, WG_KIND, "iota cannot be of kind %s", base_kinds[call->kind].name);
        return true;
    case GRAPH_RESULT_ACCUMULATED: return accumulated(call);
    case GRAPH_RESULT_PART: call->kind = base_kind_part(call->operands[0].kind); return true;
    case GRAPH_RESULT_WHOLE: call->kind = base_kind_whole(call->operands[0].kind); return true;
    case GRAPH_RESULT_UNPACKED: call->kind = base_kind_is_block(call->operands[0].kind) ? WG_KIND_F32 : call->operands[0].kind; return true;
    case GRAPH_RESULT_SOURCE: return graph_shape_source(call);
    }
    return false;
}

/* Folds take the kinds that their operation does. */
static bool check_folding(graph_call *call)
{
    if (call->op != WG_OP_Reduce && call->op != WG_OP_Scan) return true;
    int64_t op = call->attributes[0].number;
    wg_kind kind = call->operands[0].kind;
    bool strict = op >= GRAPH_FOLDING_SUB, bitwise = op == GRAPH_FOLDING_AND || op == GRAPH_FOLDING_OR || op == GRAPH_FOLDING_XOR;
    const char *word = graph_choice_word(GRAPH_FOLDING, op);
    if (call->op == WG_OP_Reduce && op == GRAPH_FOLDING_SUM) return base_fail(call->error, WG_ARGUMENT, "reduce has no op=sum: use sum_along");
    if (call->op == WG_OP_Reduce && strict != (call->attributes[2].number == GRAPH_DIRECTION_RIGHT))
        return base_fail(call->error, WG_ARGUMENT, strict ? "reduce op=%s is strictly ordered: write order=right" : "reduce op=%s has no order=right", word);
    bool is_integer = base_kind_is_integer(kind), is_float = base_kind_is_float(kind), fits;
    if (bitwise) fits = kind == WG_KIND_BOOL || is_integer;
    else if (op == GRAPH_FOLDING_SUM || op == GRAPH_FOLDING_PRODUCT) fits = is_float || is_integer || base_kind_is_complex(kind);
    else fits = is_float || (is_integer && op != GRAPH_FOLDING_POWF);
    return fits || base_fail(call->error, WG_KIND, "%s op=%s does not take %s", ROW(call), word, base_kinds[kind].name);
}

/* max and min have no value for no items; the ordered folds begin with an item. */
static bool check_empty_fold(graph_call *call)
{
    if (call->op != WG_OP_Reduce) return true;
    int64_t op = call->attributes[0].number, axis = call->attributes[1].number;
    const graph_type *a = &call->operands[0];
    bool needs_item = op == GRAPH_FOLDING_MAX || op == GRAPH_FOLDING_MIN || op >= GRAPH_FOLDING_SUB;
    if (!needs_item || a->numbers[axis] > 0) return true;
    if (base_kind_is_float(a->kind) && op < GRAPH_FOLDING_SUB) return true; /* -inf, inf */
    return base_fail(call->error, WG_SHAPE, "reduce op=%s of an empty axis %lld in %s", graph_choice_word(GRAPH_FOLDING, op), (long long)axis, SHAPE(a));
}

bool graph_infer(graph_call *call)
{
    call->rank = 0;
    return check_operands(call) && check_attributes(call) && infer_kind(call) && check_folding(call) && graph_rows[call->op].shape(call) &&
           volume_of(call, &call->volume) && check_empty_fold(call);
}
