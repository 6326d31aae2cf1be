/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Steps of programs of everything at once: each records one value over those that are there, or nothing where nothing fits. */
#ifndef EXEC_MIXTURES_H
#define EXEC_MIXTURES_H

#include <math.h>

#include "exec/equivalence.h"
#include "graph/row.h"
#include "support/blocks.h"
#include "wengert/compose.h"
#include "wengert/grad.h"

#define MOST_VALUES 96
#define MOST_INPUTS 64
#define MOST_DIMS 4
#define MOST_BOUND 4

typedef struct dim {
    wg_size size;
    char name[4];
    int64_t bound[MOST_BOUND]; /* the recorded number first */
} dim;

typedef struct maker {
    test_draws draws;
    uint64_t seed;
    wg_tape *tape;
    wg_kind kind;
    int64_t most; /* items of a value */
    dim dims[MOST_DIMS];
    bool named, wild, differentiated;
    bool mixed; /* lengths of extents that are equal to others as numbers alone meet; nothing is bound again */
    wg_value values[MOST_VALUES];
    uint32_t value_count;
    wg_symbol inputs[MOST_INPUTS];
    uint32_t input_count;
    wg_symbol roots[6], observes[2];
    uint32_t root_count, observe_count;
    wg_carry carry;
    bool carries, retain, into;
} maker;

static uint32_t below(maker *m, uint32_t bound) { return test_draw_below(&m->draws, bound); }
static bool chance(maker *m, uint32_t percent) { return below(m, 100) < percent; }
static bool is_float(wg_value v) { return base_kind_is_float(wg_value_kind(v)); }
static bool is_bool(wg_value v) { return wg_value_kind(v) == WG_KIND_BOOL; }

/* ---- items ---- */

static void make_wild(test_draws *draws, wg_tensor *tensor, uint32_t every)
{
    static const uint64_t f32[] = {0x7fc00000, 0xffc12345, 0x7f800001, 0x80000000, 0, 0x7f800000, 0xff800000, 1, 0x80000001, 0x007fffff,
                                   0x7f7fffff, 0x3f800000},
                          f64[] = {0x7ff8000000000000, 0xfff8000000012345, 0x7ff0000000000001, 0x8000000000000000, 0, 0x7ff0000000000000,
                                   0xfff0000000000000, 1, 0x8000000000000001, 0x000fffffffffffff, 0x7fefffffffffffff, 0x3ff0000000000000},
                          f16[] = {0x7e00, 0xfe01, 0x7c01, 0x8000, 0, 0x7c00, 0xfc00, 1, 0x8001, 0x3ff, 0x7bff, 0x3c00},
                          bf16[] = {0x7fc0, 0xffc1, 0x7f81, 0x8000, 0, 0x7f80, 0xff80, 1, 0x8001, 0x7f, 0x7f7f, 0x3f80};
    wg_kind kind = wg_tensor_kind(tensor);
    const uint64_t *bits = kind == WG_KIND_F32 ? f32 : kind == WG_KIND_F64 ? f64 : kind == WG_KIND_F16 ? f16 : bf16;
    if (!base_kind_is_float(kind)) return;
    size_t bytes = wg_kind_bytes(kind);
    bool gentle = test_draw_below(draws, 2); /* nothing that makes NaNs of everything */
    for (int64_t i = 0; i < wg_tensor_volume(tensor); i++)
        if (!test_draw_below(draws, every)) {
            uint32_t which = gentle ? (uint32_t[]){3, 4, 7, 8, 9, 11}[test_draw_below(draws, 6)] : test_draw_below(draws, 12);
            memcpy((char *)wg_tensor_data(tensor) + (size_t)i * bytes, &bits[which], bytes);
        }
}

static wg_tensor *items(test_draws *draws, wg_kind kind, uint32_t rank, const int64_t *shape, bool wild)
{
    wg_tensor *made = test_tensor_draw(draws, kind, rank, shape, base_kind_is_float(kind) ? -2 : 0, 5);
    uint32_t sparse = (uint32_t[]){7, 60, 1000, 20000}[test_draw_below(draws, 4)];
    if (wild && test_draw_below(draws, 3)) make_wild(draws, made, sparse);
    return made;
}

/* ---- values ---- */

static wg_value add(maker *m, wg_value v)
{
    if (v.position == WG_NONE && !v.tape) return v; /* nothing fitted */
    if (wg_is_poison(v)) fail_msg("seed %llu: %s", (unsigned long long)m->seed, wg_tape_error(m->tape)->message);
    if (m->value_count < MOST_VALUES) m->values[m->value_count++] = v;
    return v;
}

static int64_t volume_of(uint32_t rank, const wg_size *sizes)
{
    int64_t volume = 1;
    for (uint32_t i = 0; i < rank; i++) volume *= sizes[i].number > 1 ? sizes[i].number : 1;
    return volume;
}

static uint32_t sizes_of(wg_value v, wg_size *sizes)
{
    for (uint32_t axis = 0; axis < wg_value_rank(v); axis++) sizes[axis] = wg_value_size(v, axis);
    return wg_value_rank(v);
}

static wg_value source(maker *m, wg_kind kind, uint32_t rank, const wg_size *sizes)
{
    int64_t shape[WG_MAX_RANK];
    bool follows = false;
    for (uint32_t i = 0; i < rank; i++) {
        shape[i] = sizes[i].number;
        follows = follows || sizes[i].expression;
    }
    if (m->input_count < MOST_INPUTS && (follows || chance(m, 60))) {
        wg_value v = follows ? wg_input_fill(m->tape, kind, rank, sizes, 0.5)
                             : wg_input(m->tape, items(&m->draws, kind, rank, shape, m->wild));
        m->inputs[m->input_count++] = wg_symbol_of(v);
        return v;
    }
    if (follows) return wg_leaf_fill(m->tape, kind, rank, sizes, 0.75);
    wg_tensor *made = items(&m->draws, kind, rank, shape, m->wild);
    return chance(m, 70) ? wg_parameter(m->tape, made) : wg_leaf(m->tape, made);
}

/* A source of these sizes, or a view of one. */
static wg_value fresh(maker *m, wg_kind kind, uint32_t rank, const wg_size *sizes)
{
    wg_size some[WG_MAX_RANK];
    uint32_t count = 0, axis = rank ? below(m, rank) : 0, pick = below(m, 9);
    if (pick == 0 && rank >= 2) { /* turned */
        uint32_t order[WG_MAX_RANK], other = below(m, rank);
        for (uint32_t i = 0; i < rank; i++) order[i] = i, some[i] = sizes[i];
        order[axis] = other, order[other] = axis, some[axis] = sizes[other], some[other] = sizes[axis];
        return (wg_permute)(source(m, kind, rank, some), order);
    }
    if (pick == 1 && rank >= 1) { /* the same along an axis */
        for (uint32_t i = 0; i < rank; i++)
            if (i != axis) some[count++] = sizes[i];
        return (wg_broadcast_along)(source(m, kind, count, some), axis, sizes[axis]);
    }
    if (pick == 2) return (wg_broadcast)(source(m, kind, 0, NULL), rank, sizes);
    if (pick == 3 && rank >= 1) return wg_reverse(source(m, kind, rank, sizes), axis);
    if (pick == 4 && rank >= 1 && !sizes[axis].expression) { /* a part */
        for (uint32_t i = 0; i < rank; i++) some[i] = sizes[i];
        some[axis].number = sizes[axis].number * 2 + 3;
        if (volume_of(rank, some) > 2 * m->most) return source(m, kind, rank, sizes);
        int64_t step = 1 + below(m, 2);
        return (wg_narrow_step)(source(m, kind, rank, some), axis, wg_number(below(m, 3)), sizes[axis], step);
    }
    return source(m, kind, rank, sizes);
}

static wg_value pick_any(maker *m)
{
    uint32_t last = m->value_count < 4 ? m->value_count : 4;
    return m->values[m->value_count - 1 - below(m, chance(m, 60) ? last : m->value_count)];
}

static wg_value new_value(maker *m, wg_kind kind, uint32_t least_rank)
{
    wg_size sizes[5];
    uint32_t rank = least_rank + below(m, least_rank > 2 ? 2 : 4 - least_rank);
    for (uint32_t i = 0; i < rank; i++) {
        sizes[i] = m->dims[below(m, MOST_DIMS)].size;
        while (volume_of(i + 1, sizes) > m->most) sizes[i] = wg_number(1 + below(m, 3)), sizes[0].number /= 2, sizes[0].expression = 0;
    }
    return add(m, fresh(m, kind, rank, sizes));
}

/* A float, mostly of the tape's kind, of at least a rank. */
static wg_value pick(maker *m, uint32_t least_rank)
{
    for (uint32_t tries = 0; tries < 12; tries++) {
        wg_value v = pick_any(m);
        if (is_float(v) && wg_value_rank(v) >= least_rank && (wg_value_kind(v) == m->kind || chance(m, 40))) return v;
    }
    return new_value(m, m->kind, least_rank);
}

/* mixed: as numbers alone. */
static bool same_lengths(wg_value a, wg_value b, bool mixed)
{
    if (wg_value_kind(a) != wg_value_kind(b) || wg_value_rank(a) != wg_value_rank(b)) return false;
    for (uint32_t i = 0; i < wg_value_rank(a); i++) {
        wg_size x = wg_value_size(a, i), y = wg_value_size(b, i);
        if (x.number != y.number || (x.expression != y.expression && !mixed)) return false;
    }
    return true;
}

static bool same_sizes(wg_value a, wg_value b) { return same_lengths(a, b, false); }

static wg_value like(maker *m, wg_value v)
{
    for (uint32_t tries = 0; tries < 10; tries++) {
        wg_value other = pick_any(m);
        if (same_lengths(other, v, m->mixed)) return other;
    }
    wg_size sizes[WG_MAX_RANK];
    uint32_t rank = sizes_of(v, sizes);
    return fresh(m, wg_value_kind(v), rank, sizes);
}

/* Whether an axis is this long however extents are bound. */
static bool at_least(wg_value v, uint32_t axis, int64_t count)
{
    wg_size size = wg_value_size(v, axis);
    return !size.expression && size.number >= count;
}

static uint32_t any_axis(maker *m, wg_value v) { return below(m, wg_value_rank(v)); }

static wg_value spread(wg_value cell, wg_value over, uint32_t axis)
{
    return (wg_broadcast_along)(cell, axis, wg_value_size(over, axis));
}

/* ---- steps ---- */

static wg_value unary_of(maker *m, wg_value a)
{
    if (is_bool(a)) return wg_not(a);
    if (!is_float(a)) return chance(m, 50) ? wg_neg(a) : wg_abs(a);
    switch (below(m, 20)) {
    case 0: return wg_neg(a);
    case 1: return wg_abs(a);
    case 2: return wg_exp(wg_neg(wg_abs(a)));
    case 3: return wg_tanh(a);
    case 4: return wg_sqrt(wg_abs(a));
    case 5: return wg_sigmoid(a);
    case 6: return wg_gelu(a);
    case 7: return wg_relu(a);
    case 8: return wg_silu(a);
    case 9: return wg_gelu_tanh(a);
    case 10: return wg_sin(a);
    case 11: return wg_floor(a);
    case 12: return wg_log1p(wg_abs(a));
    case 13: return wg_softplus(a);
    case 14: return wg_mul_scalar(a, 0.125);
    case 15: return wg_elu(a, 0.5);
    case 16: return wg_leaky_relu(a, 0.1);
    case 17: return wg_stop_gradient(a);
    case 18: return wg_expm1(wg_minimum_scalar(a, 3));
    default: return wg_sign(a);
    }
}

static wg_value binary_of(maker *m, wg_value a, wg_value b)
{
    if (is_bool(a)) return chance(m, 50) ? wg_xor(a, b) : wg_and(a, b);
    switch (below(m, is_float(a) ? 7 : 5)) {
    case 0: return wg_add(a, b);
    case 1: return wg_sub(a, b);
    case 2: return wg_mul(a, b);
    case 3: return wg_maximum(a, b);
    case 4: return wg_minimum(a, b);
    case 5: return wg_div(a, wg_add_scalar(wg_abs(b), 1));
    default: return wg_add(a, wg_mul(b, b));
    }
}

static wg_value step_unary(maker *m) { return unary_of(m, pick_any(m)); }

static wg_value step_binary(maker *m)
{
    wg_value a = pick_any(m);
    return chance(m, 50) ? binary_of(m, a, like(m, a)) : binary_of(m, like(m, a), a);
}

static wg_value step_select(maker *m)
{
    wg_value a = pick(m, 0), b = like(m, a);
    wg_value condition = chance(m, 50) ? wg_less(a, b) : wg_greater_equal(like(m, a), b);
    if (chance(m, 20)) return add(m, condition);
    return chance(m, 50) ? wg_select(condition, a, b) : wg_select(condition, b, wg_fill_like(b, chance(m, 50) ? 0 : -INFINITY));
}

static wg_value step_convert(maker *m)
{
    static const wg_kind kinds[] = {WG_KIND_F32, WG_KIND_F64, WG_KIND_F16, WG_KIND_BF16, WG_KIND_F32, WG_KIND_I32, WG_KIND_I8, WG_KIND_I64};
    wg_value a = pick_any(m);
    return wg_convert(a, is_float(a) && chance(m, 70) ? kinds[below(m, 8)] : m->kind);
}

static wg_value step_permute(maker *m)
{
    wg_value a = pick_any(m);
    uint32_t rank = wg_value_rank(a), order[WG_MAX_RANK];
    if (rank < 2) return WG_ABSENT;
    for (uint32_t i = 0; i < rank; i++) order[i] = i;
    for (uint32_t i = rank; i-- > 1;) {
        uint32_t other = below(m, i + 1), kept = order[i];
        order[i] = order[other], order[other] = kept;
    }
    return (wg_permute)(a, order);
}

static wg_value step_reshape(maker *m)
{
    wg_value a = pick_any(m);
    wg_size sizes[WG_MAX_RANK + 1], to[WG_MAX_RANK + 1];
    uint32_t rank = sizes_of(a, sizes), count = 0, at = below(m, rank + 1);
    bool merging = rank >= 2 && at + 1 < rank && chance(m, 70);
    if (!merging && rank >= 12) return WG_ABSENT;
    for (uint32_t i = 0; i < rank; i++) {
        if (merging && i == at + 1) to[count - 1] = wg_size_multiply(m->tape, to[count - 1], sizes[i]);
        else {
            if (!merging && i == at) to[count++] = wg_number(1);
            to[count++] = sizes[i];
        }
    }
    if (!merging && at == rank) to[count++] = wg_number(1);
    return (wg_reshape)(a, count, to);
}

/* An axis cut in two. */
static wg_value step_split(maker *m)
{
    wg_value a = pick_any(m);
    wg_size sizes[WG_MAX_RANK + 1];
    uint32_t rank = sizes_of(a, sizes);
    if (!rank || rank > 6) return WG_ABSENT;
    uint32_t axis = below(m, rank);
    int64_t by = 2 + below(m, 3);
    if (sizes[axis].expression || sizes[axis].number % by) return WG_ABSENT;
    memmove(sizes + axis + 1, sizes + axis, (rank - axis) * sizeof *sizes);
    sizes[axis] = wg_number(chance(m, 50) ? by : sizes[axis + 1].number / by);
    if (!sizes[axis].number) return WG_ABSENT;
    sizes[axis + 1] = wg_number(sizes[axis + 1].number / sizes[axis].number);
    return (wg_reshape)(a, rank + 1, sizes);
}

static wg_value step_part(maker *m)
{
    wg_value a = pick_any(m);
    if (!wg_value_rank(a)) return WG_ABSENT;
    uint32_t axis = any_axis(m, a);
    wg_size size = wg_value_size(a, axis);
    switch (below(m, 5)) {
    case 0: return wg_reverse(a, axis);
    case 1:
        if (!at_least(a, axis, 1)) return WG_ABSENT;
        return (wg_narrow)(a, axis, wg_number(below(m, 2) ? 0 : size.number / 3), wg_number((size.number + 1) / 2));
    case 2:
        if (!at_least(a, axis, 3)) return WG_ABSENT;
        return (wg_narrow_step)(a, axis, wg_number(1), wg_number((size.number - 1) / 2), 2);
    case 3: {
        int64_t before = below(m, 3);
        if (wg_value_volume(a) > m->most) return WG_ABSENT;
        wg_size full = wg_size_add(m->tape, size, wg_number(before + below(m, 3)));
        return (wg_pad)(a, axis, wg_number(before), full, chance(m, 50) ? 0 : -INFINITY);
    }
    default: {
        if (2 * wg_value_volume(a) > m->most) return WG_ABSENT;
        wg_value two[3] = {a, like(m, a), a};
        return wg_concat(two, 2, axis);
    }
    }
}

static wg_value step_broadcast(maker *m)
{
    wg_value a = pick_any(m);
    wg_size extent = m->dims[below(m, MOST_DIMS)].size;
    if (wg_value_rank(a) > 5 || wg_value_volume(a) * (extent.number + 1) > m->most) return WG_ABSENT;
    return (wg_broadcast_along)(a, below(m, wg_value_rank(a) + 1), extent);
}

static bool may_be_empty(wg_value v, uint32_t axis) { return !at_least(v, axis, 1); }

static wg_value fold_of(maker *m, wg_value a, uint32_t axis)
{
    static const char *const floats[] = {"max", "min", "max", "product"}, *const bools[] = {"and", "or", "xor"};
    if (is_bool(a)) return wg_reduce(a, bools[below(m, 3)], axis);
    if (!is_float(a) && !may_be_empty(a, axis) && chance(m, 50)) return wg_reduce(a, floats[below(m, 3)], axis);
    if (!is_float(a)) return wg_convert(wg_sum_along(a, axis), wg_value_kind(a));
    switch (below(m, 8)) {
    case 0:
    case 1: return wg_reduce(a, floats[below(m, 4)], axis);
    case 2: return wg_log_sum_exp(a, axis);
    case 3: return wg_mean_along(a, axis);
    case 4: return wg_variance_along(a, axis);
    default: return wg_convert(wg_sum_along(a, axis), wg_value_kind(a));
    }
}

static wg_value step_fold(maker *m)
{
    wg_value a = pick_any(m);
    if (!wg_value_rank(a)) return WG_ABSENT;
    if (chance(m, 10)) return wg_convert(wg_sum(a), wg_value_kind(a));
    return fold_of(m, a, any_axis(m, a));
}

static wg_value step_arg(maker *m)
{
    wg_value a = pick(m, 1);
    uint32_t axis = any_axis(m, a);
    if (may_be_empty(a, axis)) return WG_ABSENT;
    return chance(m, 50) ? wg_arg_max(a, axis) : wg_arg_min(a, axis);
}

static wg_value step_normalised(maker *m)
{
    wg_value a = pick(m, 1);
    uint32_t axis = chance(m, 60) ? wg_value_rank(a) - 1 : any_axis(m, a);
    switch (below(m, 6)) {
    case 0: return wg_softmax(a, axis);
    case 1: return wg_log_softmax(a, axis);
    case 2: {
        wg_size last = wg_value_size(a, wg_value_rank(a) - 1);
        return wg_layer_norm(a, fresh(m, wg_value_kind(a), 1, &last), fresh(m, wg_value_kind(a), 1, &last), 1e-5);
    }
    case 3: {
        wg_size last = wg_value_size(a, wg_value_rank(a) - 1);
        return wg_rms_norm(a, fresh(m, wg_value_kind(a), 1, &last), 1e-5);
    }
    default: return binary_of(m, a, spread(fold_of(m, a, axis), a, axis));
    }
}

static wg_value step_scan(maker *m)
{
    static const char *const words[] = {"sum", "sum", "max", "min"};
    wg_value a = pick(m, 1);
    return wg_scan(a, words[below(m, 4)], any_axis(m, a), chance(m, 40));
}

static double product_cost(wg_value a, int64_t n) { return (double)wg_value_volume(a) * (double)(n > 1 ? n : 1); }

static wg_value step_matmul(maker *m)
{
    wg_value a = pick(m, 2);
    wg_size sizes[WG_MAX_RANK];
    uint32_t rank = sizes_of(a, sizes);
    wg_size n = m->dims[below(m, MOST_DIMS)].size, k = sizes[rank - 1], rows = sizes[rank - 2];
    if (chance(m, 25) && product_cost(a, rows.number) < 4e6) return wg_matmul(a, wg_transpose(chance(m, 50) ? a : like(m, a)));
    if (product_cost(a, n.number) > 4e6 || volume_of(rank - 2, sizes) * rows.number * n.number > 2 * m->most) return WG_ABSENT;
    if (chance(m, 40)) { /* weights that all share, and an activation */
        wg_size w[2] = {k, n};
        if (volume_of(2, w) > m->most) return WG_ABSENT;
        wg_value right = fresh(m, wg_value_kind(a), 2, w), bias = chance(m, 60) ? fresh(m, wg_value_kind(a), 1, &n) : WG_ABSENT;
        wg_value y = wg_linear(a, right, bias);
        return chance(m, 60) ? unary_of(m, y) : y;
    }
    if (chance(m, 30)) return wg_matmul(wg_transpose(a), like(m, a));
    sizes[rank - 2] = k, sizes[rank - 1] = n;
    if (volume_of(rank, sizes) > m->most) return WG_ABSENT;
    wg_value y = wg_matmul(a, fresh(m, wg_value_kind(a), rank, sizes));
    return chance(m, 30) ? binary_of(m, y, like(m, y)) : y;
}

static wg_value step_quantised(maker *m)
{
    wg_kind kind = (wg_kind)(TEST_FIRST_BLOCK_KIND + below(m, WG_KIND_COUNT - TEST_FIRST_BLOCK_KIND));
    int64_t block = wg_kind_block(kind), columns = 1 + below(m, 40);
    wg_value x = pick(m, 2);
    uint32_t last = wg_value_rank(x) - 1;
    if (!at_least(x, last, block) || wg_value_size(x, last).number % block) {
        wg_size sizes[2] = {m->dims[below(m, MOST_DIMS)].size, wg_number(block * (1 + below(m, 2)))};
        if (volume_of(2, sizes) > m->most) return WG_ABSENT;
        x = fresh(m, WG_KIND_F32, 2, sizes);
        last = 1;
    }
    if (wg_value_kind(x) != WG_KIND_F32) x = wg_convert(x, WG_KIND_F32);
    int64_t k = wg_value_size(x, last).number;
    if (product_cost(x, columns) > 4e6) return WG_ABSENT;
    wg_tensor *blocks = test_blocks(&m->draws, kind, 2, TEST_SHAPE(columns, k), m->wild && chance(m, 30));
    wg_value w = wg_parameter(m->tape, blocks);
    if (chance(m, 25)) return wg_convert(w, WG_KIND_F32);
    if (chance(m, 20)) {
        wg_tensor *at = test_tensor_draw(&m->draws, WG_KIND_I64, 1, TEST_SHAPE(5), -1, (double)columns + 1);
        return wg_gather_batch(w, wg_input(m->tape, at), 0, 0, "clamp", 0);
    }
    return wg_qmatmul_activation(x, w, chance(m, 50) ? "f32" : "q8");
}

static wg_value weights_of(maker *m, wg_value scores)
{
    uint32_t axis = wg_value_rank(scores) - 1;
    wg_size extent = wg_value_size(scores, axis);
    switch (below(m, 4)) {
    case 0: return wg_exp(wg_log_softmax(scores, axis));
    case 1: return wg_softmax(scores, axis);
    case 2: {
        wg_value e = wg_exp(wg_sub(scores, (wg_broadcast_along)(wg_reduce(scores, "max", axis), axis, extent)));
        return wg_div(e, (wg_broadcast_along)(wg_sum_along(e, axis), axis, extent));
    }
    default: {
        wg_value e = wg_exp(scores);
        return wg_div(e, (wg_broadcast_along)(wg_sum_along(e, axis), axis, extent));
    }
    }
}

static wg_value masked_of(maker *m, wg_value scores)
{
    wg_size sizes[WG_MAX_RANK];
    uint32_t rank = sizes_of(scores, sizes), pick = below(m, 5);
    if (pick == 0) return scores;
    wg_value hidden = wg_fill_like(scores, chance(m, 80) ? -INFINITY : -1e4);
    wg_value row = wg_iota(m->tape, WG_KIND_I64, rank, sizes, rank - 2), key = wg_iota(m->tape, WG_KIND_I64, rank, sizes, rank - 1);
    if (pick == 1) return wg_select(wg_less_equal(key, row), scores, hidden);
    if (pick == 2) return wg_select(wg_greater(key, row), hidden, scores);
    if (pick == 3) {
        wg_value length = wg_input(m->tape, test_tensor(WG_KIND_I64, 0, NULL, (double[]){1 + below(m, 40)}));
        return wg_select(wg_less(key, (wg_broadcast)(length, rank, sizes)), scores, hidden);
    }
    wg_value near = wg_less(wg_sub(row, key), (wg_broadcast)(wg_scalar(row, 1 + below(m, 30)), rank, sizes));
    return wg_select(wg_and(wg_less_equal(key, row), near), scores, hidden);
}

static wg_value step_attention(maker *m)
{
    wg_value q = pick(m, 2);
    wg_size sizes[WG_MAX_RANK];
    uint32_t rank = sizes_of(q, sizes);
    wg_size keys = chance(m, 50) ? sizes[rank - 2] : m->dims[below(m, MOST_DIMS)].size;
    wg_size columns = chance(m, 50) ? sizes[rank - 1] : wg_number(1 + below(m, 20));
    if (product_cost(q, keys.number) > 2e6 || volume_of(rank - 1, sizes) * (keys.number + 1) > 4 * m->most) return WG_ABSENT;
    sizes[rank - 2] = keys;
    bool square = keys.number == wg_value_size(q, rank - 2).number && keys.expression == wg_value_size(q, rank - 2).expression;
    wg_value k = square && chance(m, 30) ? like(m, q) : fresh(m, wg_value_kind(q), rank, sizes);
    sizes[rank - 1] = columns;
    wg_value v = same_sizes(k, q) && chance(m, 20) ? k : fresh(m, wg_value_kind(q), rank, sizes);
    wg_value scores = wg_matmul(q, wg_transpose(k));
    if (chance(m, 70)) scores = wg_mul_scalar(scores, 0.25);
    if (chance(m, 20)) scores = wg_mul_scalar(wg_tanh(wg_div(scores, wg_fill_like(scores, 3))), 3);
    wg_value weights = weights_of(m, masked_of(m, scores));
    if (chance(m, 15)) add(m, weights);
    return wg_matmul(weights, v);
}

static wg_value image(maker *m)
{
    for (uint32_t tries = 0; tries < 8; tries++) {
        wg_value v = pick_any(m);
        if (is_float(v) && wg_value_rank(v) == 4) return v;
    }
    wg_size sizes[4] = {chance(m, 30) ? m->dims[below(m, MOST_DIMS)].size : wg_number(1 + below(m, 2)), wg_number(1 + below(m, 5)),
                        wg_number(3 + below(m, 16)), wg_number(3 + below(m, 30))};
    if (volume_of(4, sizes) > m->most) sizes[0] = wg_number(1);
    return fresh(m, m->kind, 4, sizes);
}

static wg_value step_window(maker *m)
{
    wg_value x = image(m);
    wg_window window = {.size = {1 + below(m, 3), 1 + below(m, 3)}, .step = {1 + below(m, 2), 1 + below(m, 2)},
                        .dilation = {1 + below(m, 2), 1 + below(m, 2)}};
    for (int i = 0; i < 4; i++) window.pad[i] = below(m, 2);
    for (uint32_t i = 0; i < 2; i++)
        if (!at_least(x, 2 + i, (window.size[i] - 1) * window.dilation[i] + 1)) return WG_ABSENT;
    switch (below(m, 4)) {
    case 0: return wg_max_pool_general(x, &window);
    case 1: return wg_avg_pool_general(x, &window);
    default: {
        if (!at_least(x, 1, 1)) return WG_ABSENT;
        int64_t channels = wg_value_size(x, 1).number, groups = channels % 2 ? 1 : 1 + below(m, 2), filters = groups * (1 + below(m, 4));
        wg_size sizes[4] = {wg_number(filters), wg_number(channels / groups), wg_number(window.size[0]), wg_number(window.size[1])};
        wg_size f = wg_number(filters);
        if (product_cost(x, filters * window.size[0] * window.size[1]) > 4e6) return WG_ABSENT;
        wg_value bias = chance(m, 60) ? fresh(m, wg_value_kind(x), 1, &f) : WG_ABSENT;
        wg_value y = wg_conv2d_general(x, fresh(m, wg_value_kind(x), 4, sizes), bias, &window, groups);
        return chance(m, 50) ? unary_of(m, y) : y;
    }
    }
}

static wg_value positions(maker *m, uint32_t rank, const wg_size *sizes, int64_t extent)
{
    int64_t shape[4];
    for (uint32_t i = 0; i < rank; i++) shape[i] = sizes[i].number;
    return wg_input(m->tape, test_tensor_draw(&m->draws, chance(m, 50) ? WG_KIND_I64 : WG_KIND_I32, rank, shape, -2, (double)extent + 2));
}

static wg_value step_index(maker *m)
{
    wg_value a = pick(m, 1);
    uint32_t axis = any_axis(m, a);
    wg_size size = wg_value_size(a, axis), count[2] = {wg_number(below(m, 20)), wg_number(1 + below(m, 2))};
    if (!at_least(a, axis, 1) || wg_value_volume(a) / size.number * 40 > 2 * m->most) return WG_ABSENT;
    switch (below(m, 5)) {
    case 0: return wg_gather_batch(a, positions(m, 1 + below(m, 2), count, size.number), axis, 0, chance(m, 50) ? "clamp" : "fill", 0.5);
    case 1: return wg_scatter_batch(a, positions(m, 1, &size, 7), axis, 0, wg_number(7), chance(m, 50) ? "clamp" : "skip", "add");
    case 2: return wg_slice(a, positions(m, 0, NULL, size.number), axis, 0, wg_number((size.number + 1) / 2), "clamp");
    default: {
        wg_size sizes[WG_MAX_RANK];
        uint32_t rank = sizes_of(a, sizes);
        sizes[axis] = wg_number((size.number + 2) / 3);
        return wg_update(a, fresh(m, wg_value_kind(a), rank, sizes), positions(m, 0, NULL, size.number), axis, 0, "clamp");
    }
    }
}

static wg_value step_unfold(maker *m)
{
    wg_value a = pick(m, 1);
    uint32_t axis = any_axis(m, a);
    int64_t width = 1 + below(m, 3), step = 1 + below(m, 2), dilation = 1 + below(m, 2);
    if (!at_least(a, axis, (width - 1) * dilation + 1) || wg_value_rank(a) > 6 || wg_value_volume(a) * width > m->most) return WG_ABSENT;
    wg_value windows = wg_unfold(a, axis, width, step, dilation);
    return chance(m, 40) ? wg_fold(windows, axis, width, step, dilation, wg_value_size(a, axis)) : windows;
}

static wg_value step_order(maker *m)
{
    wg_value a = pick(m, 1);
    uint32_t axis = any_axis(m, a);
    switch (below(m, 3)) {
    case 0: return wg_sort(a, axis, chance(m, 50));
    case 1: return wg_grade(a, axis, chance(m, 50));
    default:
        if (!at_least(a, axis, 2)) return WG_ABSENT;
        return (wg_top_k_values)(a, axis, wg_number(1 + below(m, (uint32_t)wg_value_size(a, axis).number)));
    }
}

/* Rows by labels, rows normalised by a batch, halves turned, a gate, chosen experts. */
static wg_value step_layer(maker *m)
{
    wg_value x = pick(m, 2);
    wg_size sizes[WG_MAX_RANK];
    uint32_t rank = sizes_of(x, sizes), pick_of = below(m, 6);
    wg_kind kind = wg_value_kind(x);
    wg_size last = sizes[rank - 1];
    if (pick_of == 0) {
        if (rank != 2 || !at_least(x, 1, 1) || !at_least(x, 0, 1)) return WG_ABSENT;
        if (chance(m, 30)) return wg_cross_entropy(x, wg_softmax(like(m, x), 1));
        wg_tensor *labels = test_tensor_draw(&m->draws, WG_KIND_I64, 1, TEST_SHAPE(sizes[0].number), 0, (double)last.number);
        return wg_cross_entropy(x, wg_input(m->tape, labels));
    }
    if (pick_of == 1) {
        if ((rank != 2 && rank != 4) || !at_least(x, 0, 1) || !at_least(x, 1, 1)) return WG_ABSENT;
        wg_value mean, variance, y = wg_batch_norm(x, fresh(m, kind, 1, &sizes[1]), fresh(m, kind, 1, &sizes[1]), 1e-5, &mean, &variance);
        if (chance(m, 40)) add(m, chance(m, 50) ? mean : variance);
        return y;
    }
    if (pick_of == 2) {
        if (!at_least(x, rank - 1, 2) || last.number % 2) return WG_ABSENT;
        int64_t half = last.number / 2;
        wg_value a = (wg_narrow)(x, rank - 1, wg_number(0), wg_number(half));
        wg_value b = (wg_narrow)(x, rank - 1, wg_number(half), wg_number(half));
        wg_value angle = fresh(m, kind, 2, (wg_size[]){sizes[rank - 2], wg_number(half)}), c = wg_cos(angle), s = wg_sin(angle);
        for (uint32_t i = rank - 2; i-- > 0;) c = (wg_broadcast_along)(c, 0, sizes[i]), s = (wg_broadcast_along)(s, 0, sizes[i]);
        wg_value both[2] = {wg_sub(wg_mul(a, c), wg_mul(b, s)), wg_add(wg_mul(a, s), wg_mul(b, c))};
        return wg_concat(both, 2, rank - 1);
    }
    if (pick_of == 3) {
        wg_size w[2] = {last, wg_number(1 + below(m, 40))}, back[2] = {w[1], last};
        if (product_cost(x, w[1].number) > 2e6 || volume_of(2, w) > m->most) return WG_ABSENT;
        wg_value gate = wg_silu(wg_linear(x, fresh(m, kind, 2, w), WG_ABSENT)), up = wg_linear(x, fresh(m, kind, 2, w), WG_ABSENT);
        return wg_linear(wg_mul(gate, up), fresh(m, kind, 2, back), WG_ABSENT);
    }
    if (pick_of == 4) {
        if (rank != 2 || product_cost(x, 9) > 2e6 || sizes[0].expression) return WG_ABSENT;
        wg_size w[3] = {wg_number(3), wg_number(9), last};
        if (volume_of(3, w) > m->most) return WG_ABSENT;
        wg_value expert = wg_input(m->tape, test_tensor_draw(&m->draws, WG_KIND_I64, 1, TEST_SHAPE(sizes[0].number), 0, 3));
        return wg_expert_matmul(x, fresh(m, kind, 3, w), expert);
    }
    if (last.number < 1 || last.expression) return WG_ABSENT;
    wg_size table[2] = {wg_number(1 + below(m, 30)), last}, places[2] = {wg_number(below(m, 9)), wg_number(1 + below(m, 4))};
    wg_tensor *at = test_tensor_draw(&m->draws, WG_KIND_I64, 2, TEST_SHAPE(places[0].number, places[1].number), 0, (double)table[0].number);
    return wg_embedding(fresh(m, kind, 2, table), wg_input(m->tape, at));
}

/* The derivative of a sum by up to two floats that are there, once a program. */
static wg_value step_gradient(maker *m)
{
    if (m->differentiated || m->value_count < 3) return WG_ABSENT;
    m->differentiated = true;
    wg_value target = pick(m, 0), wrt[2] = {pick(m, 0), pick(m, 0)};
    target = wg_convert(wg_sum(wg_mul(target, target)), m->kind);
    wg_adjoints *adjoints = wg_differentiate(m->tape, target, wrt, 2);
    if (!adjoints) fail_msg("seed %llu: %s", (unsigned long long)m->seed, wg_tape_error(m->tape)->message);
    wg_value first = wg_adjoints_gradient(adjoints, 0), second = wg_adjoints_gradient(adjoints, 1);
    wg_adjoints_free(&adjoints);
    add(m, first);
    return second;
}

typedef wg_value (*step_maker)(maker *m);
static const step_maker steps[] = {step_unary,  step_unary,  step_binary,    step_binary,  step_binary,    step_select,     step_convert,
                                   step_permute, step_reshape, step_split,    step_part,    step_broadcast, step_fold,       step_fold,
                                   step_fold,   step_arg,    step_normalised, step_normalised, step_scan,  step_matmul,     step_matmul,
                                   step_quantised, step_attention, step_attention, step_window, step_window, step_index,   step_unfold,
                                   step_order,  step_layer,  step_layer,     step_layer,   step_gradient, step_gradient};

#endif
