/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The batch level: a value carries its frame as axis 0, and each row's batching rule answers with calls on whole arrays. */
#include <string.h>

#include "lazy/lazy.h"
#include "wengert/batch.h"

typedef struct mapped_row {
    wg_op op;
    const bool *batched;
    uint32_t operand_count, attribute_count;
    const int64_t *attributes;
    int64_t frame;
} mapped_row;

static bool record_mapped(void *user, wg_tape *tape, const wg_value *operands, wg_value *results)
{
    const mapped_row *row = user;
    wg_size attributes[WG_MAX_ATTRIBUTES];
    if (row->attribute_count > WG_MAX_ATTRIBUTES) return false;
    for (uint32_t i = 0; i < row->attribute_count; i++) attributes[i] = wg_number(row->attributes[i]);
    results[0] = wg_record_mapped(tape, row->op, operands, row->batched, row->operand_count, attributes, row->attribute_count, wg_number(row->frame));
    return !wg_is_poison(results[0]);
}

wg_array *lazy_batch_call(lazy_level *level, wg_op op, wg_array *const *operands, uint32_t operand_count, const int64_t *attributes,
                          uint32_t attribute_count, uint32_t tag)
{
    wg_lazy *lazy = level->lazy;
    size_t bytes = operand_count * (sizeof(wg_array *) + sizeof(bool));
    wg_array **wholes = base_allocate(lazy->allocator, bytes), *whole = NULL;
    if (!wholes) return lazy_fail_memory(lazy), NULL;
    bool *batched = (bool *)(wholes + operand_count), all = wg_op_class_of(op) == WG_OP_CLASS_ELEMENT;
    for (uint32_t i = 0; i < operand_count; i++) {
        wholes[i] = lazy_level_inner(level, operands[i]);
        batched[i] = wholes[i] != operands[i];
        all = all && batched[i];
    }
    mapped_row row = {op, batched, operand_count, attribute_count, attributes, level->frame};
    if (wg_op_is_mapped_by_cells(op))
        LAZY_TELL(lazy, .what = "fallback", .detail = wg_op_text(op), .reason = "the row has no rule for a whole frame: it is recorded cell by cell");
    if (all) whole = lazy_call(lazy, op, wholes, operand_count, attributes, attribute_count, tag); /* item by item, whatever the frame */
    else if (!lazy_compose(lazy, record_mapped, &row, wholes, operand_count, &whole, 1)) whole = NULL;
    base_free(lazy->allocator, wholes, bytes);
    wg_array *carried = whole ? lazy_level_carry(level, whole, 0) : NULL;
    if (carried) carried->tag = tag;
    lazy_release(whole);
    return carried;
}

/* ---- mapping a function ---- */

/* The array with axis `from` moved to place `to`. Owned. */
static wg_array *moved_axis(wg_lazy *lazy, wg_array *array, uint32_t from, uint32_t to)
{
    if (from == to) return lazy_keep(array);
    int64_t attributes[1 + WG_MAX_RANK] = {array->rank};
    uint32_t source = 0;
    for (uint32_t axis = 0; axis < array->rank; axis++) {
        source += source == from;
        attributes[1 + axis] = axis == to ? from : source++;
    }
    return lazy_call(lazy, WG_OP_Permute, &array, 1, attributes, 1 + array->rank, 0);
}

/* The one extent of the mapped axes. */
static bool frame_of(wg_lazy *lazy, const wg_function *function, wg_array *const *inputs, const int32_t *in_axes, int64_t *frame)
{
    *frame = -1;
    for (uint32_t i = 0; i < function->inputs; i++) {
        int32_t axis = in_axes ? in_axes[i] : 0;
        if (axis == -1) continue;
        if (axis < 0 || axis >= (int32_t)inputs[i]->rank)
            return lazy_fail(lazy, WG_ARGUMENT, "input %u of shape %s has no axis %d to map", i, BASE_SHAPE_TEXT(inputs[i]->rank, lazy_shape(inputs[i])), axis);
        int64_t extent = lazy_shape(inputs[i])[axis];
        if (*frame >= 0 && extent != *frame)
            return lazy_fail(lazy, WG_SHAPE, "mapped axes have different extents: %lld, and %lld of input %u", (long long)*frame, (long long)extent, i);
        *frame = extent;
    }
    return *frame >= 0 || lazy_fail(lazy, WG_ARGUMENT, "nothing is mapped: every input is shared");
}

static bool carry_inputs(lazy_level *level, const wg_function *function, wg_array *const *inputs, const int32_t *in_axes, wg_array **carried)
{
    for (uint32_t i = 0; i < function->inputs; i++) {
        int32_t axis = in_axes ? in_axes[i] : 0;
        wg_array *whole = axis == -1 ? NULL : moved_axis(level->lazy, inputs[i], (uint32_t)axis, 0);
        carried[i] = axis == -1 ? lazy_keep(inputs[i]) : whole ? lazy_level_carry(level, whole, 0) : NULL;
        lazy_release(whole);
        if (!carried[i]) return false;
    }
    return true;
}

/* What an output is over the whole frame, with the frame at `axis`. Owned. */
static wg_array *whole_of(lazy_level *level, wg_array *output, int32_t axis)
{
    wg_lazy *lazy = level->lazy;
    wg_array *plain = lazy_resolve(lazy, output);
    if (!plain) return NULL;
    wg_array *whole = lazy_level_inner(level, plain);
    bool shared = whole == plain;
    uint32_t rank = shared ? whole->rank + 1u : whole->rank;
    if (axis < 0 || axis >= (int32_t)rank)
        return lazy_fail(lazy, WG_ARGUMENT, "there is no axis %d for the frame in an output of rank %u", axis, rank), NULL;
    if (!shared) return moved_axis(lazy, whole, 0, (uint32_t)axis);
    int64_t attributes[2] = {axis, level->frame};
    return lazy_call(lazy, WG_OP_BroadcastAlong, &whole, 1, attributes, 2, 0);
}

static bool map_function(lazy_level *level, const wg_function *function, wg_array *const *inputs, const int32_t *in_axes, const int32_t *out_axes,
                         wg_array **outputs)
{
    wg_lazy *lazy = level->lazy;
    size_t bytes = ((size_t)function->inputs + 1) * sizeof(wg_array *);
    wg_array **carried = base_allocate_zeroed(lazy->allocator, bytes);
    if (!carried) return lazy_fail_memory(lazy);
    bool good = carry_inputs(level, function, inputs, in_axes, carried) && lazy_function_run(lazy, function, carried, outputs);
    for (uint32_t i = 0; i < function->outputs && good; i++) {
        wg_array *whole = whole_of(level, outputs[i], out_axes ? out_axes[i] : 0);
        lazy_release(outputs[i]);
        outputs[i] = whole;
        if (!whole) good = false;
    }
    if (!good) lazy_release_all(outputs, function->outputs);
    lazy_release_all(carried, function->inputs);
    base_free(lazy->allocator, carried, bytes);
    return good;
}

bool wg_function_map(wg_lazy *lazy, const wg_function *function, wg_array *const *inputs, const int32_t *in_axes, const int32_t *out_axes,
                     wg_array **outputs)
{
    if (!lazy) return false;
    if (!function || !function->call || !outputs || (function->inputs && !inputs))
        return lazy_fail(lazy, WG_ARGUMENT, "mapping needs a function, its inputs and a place for its outputs");
    for (uint32_t i = 0; i < function->outputs; i++) outputs[i] = NULL;
    size_t bytes = ((size_t)function->inputs + 1) * sizeof(wg_array *);
    wg_array **plain = base_allocate(lazy->allocator, bytes);
    bool good = plain != NULL || lazy_fail_memory(lazy);
    for (uint32_t i = 0; i < function->inputs && good; i++)
        good = lazy_check(lazy, inputs[i]) && (plain[i] = lazy_resolve(lazy, inputs[i])) != NULL;
    int64_t frame;
    lazy_level *level = good && frame_of(lazy, function, plain, in_axes, &frame) ? lazy_level_open(lazy, LAZY_BATCH) : NULL;
    if (level) {
        level->frame = frame;
        good = map_function(level, function, plain, in_axes, out_axes, outputs);
        lazy_level_close(level);
        lazy_level_release(level);
    }
    base_free(lazy->allocator, plain, bytes);
    return level && good && lazy_give_all(lazy, outputs, function->outputs);
}
