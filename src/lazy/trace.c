/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Levels. A derivative level and a recording write every call that they see on a tape, beside the call itself: the tape is the Wengert list
 * of the one, which the recorded derivative is made of, and the template of the other. What a level does not carry is captured: a source
 * of the tape that stands for the array. */
#include <string.h>

#include "lazy/lazy.h"

wg_tape *lazy_tape_take(wg_lazy *lazy)
{
    wg_tape *tape = lazy->spare;
    lazy->spare = NULL;
    if (!tape && !(tape = wg_tape_new_kind(lazy->context, lazy->options.kind))) lazy_fail_memory(lazy);
    return tape;
}

/* A tape that grew large gives its memory back. */
#define SPARE_NODES 4096u

void lazy_tape_give(wg_lazy *lazy, wg_tape *tape)
{
    if (tape && !lazy->spare && wg_tape_count(tape) <= SPARE_NODES && wg_tape_clear(tape)) lazy->spare = tape;
    else wg_tape_free(&tape);
}

lazy_level *lazy_level_open(wg_lazy *lazy, lazy_level_kind kind)
{
    lazy_level *level = base_allocate_zeroed(lazy->allocator, sizeof *level);
    if (!level) return lazy_fail_memory(lazy), NULL;
    if (kind != LAZY_BATCH && !(level->tape = lazy_tape_take(lazy))) {
        base_free(lazy->allocator, level, sizeof *level);
        return NULL;
    }
    level->lazy = lazy;
    level->references = 1;
    level->kind = kind;
    level->open = true;
    level->serial = ++lazy->level_serial;
    level->older = lazy->levels;
    lazy->levels = level;
    return level;
}

void lazy_level_close(lazy_level *level)
{
    lazy_level **at = &level->lazy->levels;
    while (*at && *at != level) at = &(*at)->older;
    if (*at) *at = level->older;
    level->open = false;
}

void lazy_level_release(lazy_level *level)
{
    if (!level || --level->references) return;
    for (uint32_t i = 0; i < level->count; i++) lazy_unuse(level->arrays[i]);
    base_free(level->lazy->allocator, level->arrays, level->capacity * sizeof *level->arrays);
    lazy_recorded_free(level);
    lazy_tape_give(level->lazy, level->tape);
    base_free(level->lazy->allocator, level, sizeof *level);
}

bool lazy_level_note(lazy_level *level, uint32_t position, wg_array *array)
{
    uint32_t before = level->capacity;
    if (!BASE_RESERVE(level->lazy->allocator, level->arrays, level->capacity, position + 1)) return lazy_fail_memory(level->lazy);
    if (level->capacity > before) memset(level->arrays + before, 0, (level->capacity - before) * sizeof *level->arrays);
    if (position >= level->count) level->count = position + 1;
    lazy_use(array);
    level->arrays[position] = array;
    return true;
}

wg_array *lazy_level_carry(lazy_level *level, wg_array *inner, uint32_t position)
{
    uint32_t skipped = level->kind == LAZY_BATCH; /* the frame */
    wg_array *array = lazy_node_new(level->lazy, LAZY_CARRIED, inner->rank - skipped, 0, 0);
    if (!array) return NULL;
    array->kind = inner->kind;
    array->tag = inner->tag;
    array->volume = 1;
    for (uint32_t axis = 0; axis < array->rank; axis++) array->volume *= lazy_shape(array)[axis] = lazy_shape(inner)[axis + skipped];
    array->position = position;
    array->as.carried.level = level;
    array->as.carried.inner = inner;
    level->references++;
    lazy_use(inner);
    return array;
}

wg_array *lazy_level_inner(const lazy_level *level, wg_array *array)
{
    return array->state == LAZY_CARRIED && array->as.carried.level == level ? array->as.carried.inner : array;
}

/* ---- the tape ---- */

static uint32_t fail_tape(lazy_level *level)
{
    lazy_fail_with(level->lazy, wg_tape_error(level->tape), NULL);
    return WG_NONE;
}

/* A recorded value is array. */
static uint32_t noted(lazy_level *level, wg_value value, wg_array *array)
{
    if (wg_is_poison(value)) return fail_tape(level);
    level->generation = value.generation;
    return lazy_level_note(level, value.position, array) ? value.position : WG_NONE;
}

static uint32_t source(lazy_level *level, wg_array *array)
{
    wg_size shape[WG_MAX_RANK];
    for (uint32_t axis = 0; axis < array->rank; axis++) shape[axis] = wg_number(lazy_shape(array)[axis]);
    return noted(level, wg_input_required(level->tape, (wg_kind)array->kind, array->rank, shape), array);
}

static uint32_t literal(lazy_level *level, wg_array *array)
{
    wg_view view = lazy_view(array);
    wg_error error = {.code = WG_OK};
    wg_tensor *item = wg_tensor_copy(level->lazy->context, &view, &error);
    if (!item) return lazy_fail_with(level->lazy, &error, NULL), WG_NONE;
    return noted(level, (wg_leaf)(level->tape, item), array);
}

static wg_value value_at(const lazy_level *level, uint32_t position)
{
    return (wg_value){level->tape, position, level->generation};
}

static wg_value record(lazy_level *level, wg_op op, const uint32_t *positions, uint32_t count, const int64_t *attributes, uint32_t attribute_count)
{
    wg_value few[LAZY_FEW] = {{NULL, 0, 0}}, *values = LAZY_ITEMS(level->lazy, few, count);
    wg_size sizes[WG_MAX_ATTRIBUTES];
    if (!values) return (wg_value){level->tape, WG_NONE, 0};
    for (uint32_t i = 0; i < count; i++) values[i] = value_at(level, positions[i]);
    for (uint32_t i = 0; i < attribute_count; i++) sizes[i] = wg_number(attributes[i]);
    wg_value value = wg_record(level->tape, op, values, count, sizes, attribute_count);
    LAZY_ITEMS_END(level->lazy, few, values, count);
    return value;
}

/* Constants that are one number, spread or not, stay visible: derivative rules look at them. */
static bool is_number(const wg_array *array)
{
    for (int depth = 0; depth < 4; depth++) {
        if (array->state == LAZY_LITERAL) return true;
        if (array->state != LAZY_PENDING || array->operand_count != 1 || wg_op_class_of((wg_op)array->op) != WG_OP_CLASS_LAYOUT) return false;
        array = lazy_operands(array)[0];
    }
    return false;
}

static uint32_t capture(lazy_level *level, wg_array *array)
{
    if (array->state == LAZY_LITERAL) return literal(level, array);
    if (!is_number(array)) return source(level, array);
    uint32_t operand = lazy_level_position(level, lazy_operands(array)[0]);
    if (operand == WG_NONE) return WG_NONE;
    return noted(level, record(level, (wg_op)array->op, &operand, 1, lazy_attributes(array), array->attribute_count), array);
}

uint32_t lazy_level_position(lazy_level *level, wg_array *array)
{
    if (array->state == LAZY_CARRIED && array->as.carried.level == level) return array->position;
    if (array->capturer == level->serial) return array->captured;
    uint32_t position = capture(level, array);
    if (position != WG_NONE) {
        array->capturer = level->serial;
        array->captured = position;
    }
    return position;
}

wg_array *lazy_level_input(lazy_level *level, wg_array *inner)
{
    if (level->kind == LAZY_BATCH) return lazy_level_carry(level, inner, 0);
    uint32_t position = source(level, inner);
    return position == WG_NONE ? NULL : lazy_level_carry(level, inner, position);
}

/* ---- the rule ---- */

/* The call, seen by the level: recorded beside the array that it answered. */
static wg_array *traced(lazy_level *level, wg_op op, wg_array *const *operands, uint32_t count, const int64_t *attributes,
                        uint32_t attribute_count, wg_array *result)
{
    uint32_t few[LAZY_FEW] = {0}, *positions = LAZY_ITEMS(level->lazy, few, count);
    if (!positions) return lazy_fail_memory(level->lazy), NULL;
    uint32_t position = 0;
    for (uint32_t i = 0; i < count && position != WG_NONE; i++) position = positions[i] = lazy_level_position(level, operands[i]);
    if (position != WG_NONE) position = noted(level, record(level, op, positions, count, attributes, attribute_count), result);
    LAZY_ITEMS_END(level->lazy, few, positions, count);
    return position == WG_NONE ? NULL : lazy_level_carry(level, result, position);
}

wg_array *lazy_level_call(lazy_level *level, wg_op op, wg_array *const *operands, uint32_t operand_count, const int64_t *attributes,
                          uint32_t attribute_count, uint32_t tag)
{
    if (level->kind == LAZY_BATCH) return lazy_batch_call(level, op, operands, operand_count, attributes, attribute_count, tag);
    wg_lazy *lazy = level->lazy;
    wg_array *few[LAZY_FEW] = {NULL}, **inner = LAZY_ITEMS(lazy, few, operand_count);
    if (!inner) return lazy_fail_memory(lazy), NULL;
    for (uint32_t i = 0; i < operand_count; i++) inner[i] = lazy_level_inner(level, operands[i]);
    wg_array *result = lazy_call(lazy, op, inner, operand_count, attributes, attribute_count, tag);
    LAZY_ITEMS_END(lazy, few, inner, operand_count);
    /* What is no float does not move; a complex number is carried, so that a derivative through it is refused. */
    if (!result || (level->kind == LAZY_DERIVATIVE && !base_kind_has_nan((wg_kind)result->kind))) return result;
    wg_array *carried = traced(level, op, operands, operand_count, attributes, attribute_count, result);
    lazy_release(result);
    return carried;
}
