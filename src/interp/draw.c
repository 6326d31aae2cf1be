/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Generators: Iota, and random numbers, which depend on a key and an index alone (base/random.h).
 *
 * Draw of a kind that base/random.h does not name: uniform f16 and bf16 are the top 11 and 8 bits of the index's word times 2^-11 and 2^-8,
 * so that no item rounds up to 1; normal and exponential f16 and bf16 round the f32. Bits of 8 and 16 bits are the low ones of the index's
 * word; bits of 64 are the words 2 i (low) and 2 i + 1 (high).
 *
 * Keys are [K.., 2]; each has a result of its own, with indices from 0. */
#include <string.h>

#include "base/random.h"
#include "base/variates.h"
#include "interp/items.h"

bool interp_Iota(const interp_row_call *call)
{
    const wg_view *result = &call->result;
    interp_axis axis = interp_axis_of(result, call->attributes[1 + call->attributes[0]]); /* behind the list that shape is */
    int64_t count = interp_view_volume(result);
    for (int64_t i = 0; i < count; i++) {
        base_number position = {.i = i / axis.inner % axis.extent};
        base_number_store(result->kind, result->data, i, base_number_convert(position, WG_KIND_I64, result->kind, false));
    }
    return true;
}

static base_key key_at(const wg_view *keys, int64_t place)
{
    base_key key;
    memcpy(key.words, (const char *)keys->data + (size_t)place * sizeof key.words, sizeof key.words);
    return key;
}

static int64_t key_count(const wg_view *keys)
{
    return interp_view_volume(keys) / 2;
}

static base_number draw_uniform(base_key key, uint64_t index, wg_kind kind)
{
    switch (kind) {
    case WG_KIND_F64: return (base_number){.d = base_draw_uniform_f64(key, index)};
    case WG_KIND_F32: return (base_number){.d = (double)base_draw_uniform_f32(key, index)};
    case WG_KIND_F16: return (base_number){.d = (base_draw_bits(key, index) >> 21) * 0x1p-11};
    default: return (base_number){.d = (base_draw_bits(key, index) >> 24) * 0x1p-8};
    }
}

static base_number draw_bits(base_key key, uint64_t index, wg_kind kind)
{
    if (base_kinds[kind].bytes < 8) return (base_number){.u = base_draw_bits(key, index)};
    return (base_number){.u = base_draw_bits(key, 2 * index) | (uint64_t)base_draw_bits(key, 2 * index + 1) << 32};
}

bool interp_Draw(const interp_row_call *call)
{
    const wg_view *keys = &call->operands[0];
    wg_kind kind = call->result.kind;
    int64_t distribution = call->attributes[GRAPH_ATTRIBUTE(Draw, distribution)], count = interp_view_volume(&call->result);
    int64_t each = count ? count / key_count(keys) : 0;
    for (int64_t i = 0; i < count; i++) {
        base_key key = key_at(keys, i / each);
        uint64_t index = (uint64_t)(i % each);
        base_number number;
        if (distribution == GRAPH_DISTRIBUTION_UNIFORM) number = draw_uniform(key, index, kind);
        else if (distribution == GRAPH_DISTRIBUTION_BITS) number = draw_bits(key, index, kind);
        else if (distribution == GRAPH_DISTRIBUTION_NORMAL)
            number.d = kind == WG_KIND_F64 ? base_draw_normal_f64(key, index) : (double)base_draw_normal_f32(key, index);
        else number.d = kind == WG_KIND_F64 ? base_draw_exponential_f64(key, index) : (double)base_draw_exponential_f32(key, index);
        base_number_store(kind, call->result.data, i, number);
    }
    return true;
}

bool interp_KeySplit(const interp_row_call *call)
{
    const wg_view *keys = &call->operands[0];
    int64_t count = call->result.shape[call->result.rank - 2], all = interp_view_volume(&call->result) / 2;
    uint32_t *result = call->result.data;
    for (int64_t i = 0; i < all; i++) {
        base_key split = base_key_split(key_at(keys, i / count), (uint64_t)(i % count));
        memcpy(result + 2 * i, split.words, sizeof split.words);
    }
    return true;
}

bool interp_KeyFold(const interp_row_call *call)
{
    const wg_view *keys = &call->operands[0], *numbers = &call->operands[1];
    uint32_t *result = call->result.data;
    for (int64_t i = 0; i < key_count(keys); i++) {
        base_key folded = base_key_fold(key_at(keys, i), (uint64_t)base_number_load(numbers->kind, numbers->data, i).i);
        memcpy(result + 2 * i, folded.words, sizeof folded.words);
    }
    return true;
}

/* ---- draws with parameters: base/variates.h, item by item ---- */

static base_number parameter(const interp_row_call *call, uint32_t operand, int64_t index)
{
    return base_number_load(call->operands[operand].kind, call->operands[operand].data, index);
}

/* `number` is what an item is, in terms of key, at (its index among the key's) and A(operand). */
#define A(operand) parameter(call, operand, i)
#define DRAWN(Name, part, number)                                                                             \
    bool interp_##Name(const interp_row_call *call)                                                           \
    {                                                                                                         \
        int64_t count = interp_view_volume(&call->result), each = count ? count / key_count(&call->operands[0]) : 0; \
        for (int64_t i = 0; i < count; i++) {                                                                 \
            base_key key = key_at(&call->operands[0], i / each);                                              \
            uint64_t at = (uint64_t)(i % each);                                                               \
            base_number_store(call->result.kind, call->result.data, i, (base_number){.part = (number)});      \
        }                                                                                                     \
        return true;                                                                                          \
    }

static base_number integer_between(base_key key, uint64_t at, wg_kind kind, base_number low, base_number high)
{
    bool empty = base_kinds[kind].class == BASE_CLASS_SIGNED ? low.i >= high.i : low.u >= high.u;
    return empty ? low : (base_number){.u = low.u + base_draw_below(key, at, high.u - low.u)};
}

DRAWN(DrawIntegers, u, integer_between(key, at, call->result.kind, A(1), A(2)).u)
DRAWN(DrawGamma, d, base_draw_gamma(key, at, A(1).d, call->attributes[GRAPH_ATTRIBUTE(DrawGamma, logarithm)]))
DRAWN(DrawGammaSlope, d, base_draw_gamma_slope(key, at, A(1).d, call->attributes[GRAPH_ATTRIBUTE(DrawGammaSlope, logarithm)]))
DRAWN(DrawPoisson, i, base_draw_poisson(key, at, A(1).d))
DRAWN(DrawBinomial, i, base_draw_binomial(key, at, A(1).i, A(2).d))
DRAWN(DrawTruncated, d, base_draw_truncated(key, at, A(1).d, A(2).d))
