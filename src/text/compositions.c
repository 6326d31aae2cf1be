/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * compositions.def as functions and tables. */
#include <string.h>

#define WG_NO_SITES
#include "text/text.h"
#include "wengert/compose.h"
#include "wengert/draws.h"

static const text_argument *argument(const text_composed *call, const char *key)
{
    const text_composition *composition = call->composition;
    for (uint32_t i = 0; text_parameters[composition->parameter + i].key; i++)
        if (!strcmp(text_parameters[composition->parameter + i].key, key)) return &call->arguments[i];
    static const text_argument absent = {.given = false};
    return &absent;
}

static wg_value operand(const text_composed *call, uint32_t index)
{
    return index < call->operand_count ? call->operands[index] : WG_ABSENT;
}

/* The last axis of the first operand unless another is given. */
static uint32_t axis_or_last(const text_composed *call, const char *key)
{
    const text_argument *given = argument(call, key);
    uint32_t rank = wg_value_rank(call->operands[0]);
    if (given->given) return given->sizes[0].number > UINT32_MAX ? UINT32_MAX : (uint32_t)given->sizes[0].number;
    return rank ? rank - 1 : 0;
}

static double real_or(const text_composed *call, const char *key, double otherwise)
{
    const text_argument *given = argument(call, key);
    return given->given ? given->real : otherwise;
}

static int64_t number_or(const text_composed *call, const char *key, int64_t otherwise)
{
    const text_argument *given = argument(call, key);
    return given->given ? given->sizes[0].number : otherwise;
}

static wg_kind kind_or_default(const text_composed *call, const char *key)
{
    const text_argument *given = argument(call, key);
    return given->given ? (wg_kind)given->number : wg_tape_kind(call->tape);
}

/* One number for both sides, or one for each. */
static void sides_of(const text_argument *given, uint32_t count, int64_t *sides)
{
    for (uint32_t i = 0; given->given && i < count; i++) sides[i] = given->sizes[given->single ? 0 : i].number;
}

/* size, step (a pool's is its size unless given), dilation: rows, columns; padding: top, bottom, left, right. */
static const wg_window *window_of(const text_composed *call, wg_window *window)
{
    sides_of(argument(call, "size"), 2, window->size);
    sides_of(argument(call, "size"), 2, window->step);
    sides_of(argument(call, "step"), 2, window->step);
    sides_of(argument(call, "dilation"), 2, window->dilation);
    sides_of(argument(call, "padding"), 4, window->pad);
    return window;
}

/* 1 / sqrt(width), what attention scales by. */
static double by_width(wg_value q)
{
    uint32_t rank = wg_value_rank(q);
    return rank && wg_value_shape(q)[rank - 1] ? 1 / __builtin_sqrt((double)wg_value_shape(q)[rank - 1]) : 1;
}

#define V(index) operand(call, index)
#define GIVEN(key) argument(call, #key)->given
#define AXIS(key) axis_or_last(call, #key)
#define REAL(key, otherwise) real_or(call, #key, otherwise)
#define NUMBER(key, otherwise) number_or(call, #key, otherwise)
#define KIND(key) kind_or_default(call, #key)
#define SIZE(key) argument(call, #key)->sizes[0]
#define LIST(key) argument(call, #key)->count, argument(call, #key)->sizes
#define WINDOW window_of(call, &(wg_window){{0}, {0}, {0}, {0}})

#define COMPOSITION(name, least, most, ...) \
    static wg_value record_##name(const text_composed *call) { return __VA_ARGS__; }
#include "text/compositions.def"

#undef REAL
#undef KIND
#undef SIZE
#undef AXIS

/* Flat places: a header for each composition, then its parameters. */
enum flat {
#define COMPOSITION(name, ...) FLAT_##name,
#define PARAMETER(name, key, ...) FLAT_##name##_##key,
#include "text/compositions.def"
    FLAT_END
};

#define GRAPH_SIDES TEXT_SIDES
const text_parameter text_parameters[] = {
#define COMPOSITION(name, ...) {NULL, GRAPH_AXIS, false},
#define PARAMETER(name, key, type, required) {#key, GRAPH_##type, required},
#include "text/compositions.def"
    {NULL, GRAPH_AXIS, false}};

const text_composition text_compositions[] = {
#define COMPOSITION(name, least, most, ...) {#name, least, most, record_##name, FLAT_##name + 1},
#include "text/compositions.def"
};

const uint32_t text_composition_count = sizeof text_compositions / sizeof *text_compositions;
