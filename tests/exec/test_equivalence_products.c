/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Products with rows over their results, sums of products, sums of padded pieces: random ones, with values that something else reads or
 * that are declared among them. plan = oracle, bit for bit. */
#include <math.h>
#include <stdlib.h>

#include "exec/equivalence.h"
#include "wengert/compose.h"

#define MOST 24

typedef struct maker {
    test_draws draws;
    wg_tape *tape;
    wg_kind kind;
    uint32_t rank;
    int64_t shape[3]; /* of the results */
    wg_value items[MOST];
    uint32_t item_count;
    wg_symbol roots[MOST];
    uint32_t root_count;
} maker;

static uint32_t below(maker *m, uint32_t bound) { return test_draw_below(&m->draws, bound); }

/* Small numbers, both zeros and, at times, a NaN among them. */
static wg_tensor *numbers(maker *m, uint32_t rank, const int64_t *shape)
{
    static const double told[] = {-0.0, 0, -0.0, 1.5, -2, 0.25, -0.0, 3};
    int64_t volume = 1;
    for (uint32_t axis = 0; axis < rank; axis++) volume *= shape[axis];
    double *items = calloc((size_t)volume + 1, sizeof *items);
    bool whole = !base_kind_is_float(m->kind), odd = !below(m, 4);
    for (int64_t i = 0; i < volume; i++)
        items[i] = whole ? below(m, 100) : odd ? told[below(m, 8)] : test_draw_between(&m->draws, -2, 2);
    if (odd && !whole && volume && !below(m, 3)) items[below(m, (uint32_t)volume)] = NAN;
    wg_tensor *tensor = test_tensor(m->kind, rank, shape, items);
    free(items);
    return tensor;
}

static wg_value fresh(maker *m, uint32_t rank, const int64_t *shape) { return wg_input(m->tape, numbers(m, rank, shape)); }

/* At times of narrower items that are converted. */
static wg_value factor(maker *m, uint32_t rank, const int64_t *shape)
{
    if (m->kind != WG_KIND_F32 || below(m, 3)) return fresh(m, rank, shape);
    m->kind = below(m, 2) ? WG_KIND_F16 : WG_KIND_BF16;
    wg_value narrow = fresh(m, rank, shape);
    m->kind = WG_KIND_F32;
    return wg_convert(narrow, WG_KIND_F32);
}

/* A matrix as it is, or as the transpose of one; of a batch, with its axes. */
static wg_value matrix(maker *m, int64_t rows, int64_t columns)
{
    int64_t shape[3] = {m->shape[0], rows, columns}, turned[3] = {m->shape[0], columns, rows};
    uint32_t skip = 3 - m->rank;
    if (below(m, 2)) return factor(m, m->rank, shape + skip);
    if (m->rank == 2) return (wg_permute)(factor(m, 2, turned + 1), (const uint32_t[]){1, 0});
    return (wg_permute)(factor(m, 3, turned), (const uint32_t[]){0, 2, 1});
}

static wg_value product(maker *m, int64_t depth)
{
    wg_value b = matrix(m, depth, m->shape[m->rank - 1]), a = matrix(m, m->shape[m->rank - 2], depth);
    return wg_matmul(a, b);
}

/* Items of the results' shape: as they are, transposed, a line for all, an item a line. */
static wg_value operand(maker *m)
{
    uint32_t last = m->rank - 1;
    int64_t rest[2];
    switch (below(m, 5)) {
    case 0: return matrix(m, m->shape[last - 1], m->shape[last]);
    case 1:
        if (m->rank == 2) return wg_broadcast_along(fresh(m, 1, m->shape + 1), 0, wg_number(m->shape[0]));
        return wg_broadcast_along(fresh(m, 2, m->shape + 1), 0, wg_number(m->shape[0]));
    case 2:
        memcpy(rest, m->shape, sizeof rest);
        return wg_broadcast_along(fresh(m, last, rest), last, wg_number(m->shape[last]));
    default: return fresh(m, m->rank, m->shape);
    }
}

static wg_value add(maker *m, wg_value value)
{
    if (wg_is_poison(value)) fail_msg("%s", wg_tape_error(m->tape)->message);
    return m->items[m->item_count++] = value;
}

static wg_value old(maker *m) { return m->items[below(m, 3) ? m->item_count - 1 : below(m, m->item_count)]; }

static void row(maker *m)
{
    wg_value a = old(m), b = below(m, 2) ? old(m) : operand(m);
    switch (below(m, 7)) {
    case 0: add(m, wg_tanh(a)); break;
    case 1: add(m, wg_maximum(a, b)); break;
    case 2: add(m, wg_mul(b, a)); break;
    case 3: add(m, wg_select(wg_less(a, b), b, a)); break;
    case 4: add(m, wg_convert(wg_convert(a, WG_KIND_F64), m->kind)); break;
    case 5: add(m, wg_sub(b, wg_mul(a, wg_stop_gradient(b)))); break;
    default: add(m, wg_add(a, b)); break;
    }
}

static void root(maker *m, wg_value value) { m->roots[m->root_count++] = wg_symbol_of(value); }

static uint32_t series; /* products of which later stages read what they pack */

static uint32_t stages_of(const wg_entry *entry, plan_stage_kind kind)
{
    wg_error error = {0};
    wg_plan *plan = wg_plan_new(entry, NULL, 0, &error);
    if (!plan) fail_msg("%s", error.message);
    uint32_t count = 0;
    for (uint32_t s = 0; s < plan->stage_count; s++) {
        count += plan->stages[s].kind == kind;
        series += plan->layout.lasting[s].bytes && plan->layout.lasting[s].until > s;
    }
    wg_plan_release(&plan);
    return count;
}

/* Holds what was made to the oracle; answers how many stages of a kind it has. */
static uint32_t hold(maker *m, uint64_t seed, wg_posture posture, plan_stage_kind kind)
{
    wg_error error = {0};
    char why[2048] = "";
    wg_network *network = wg_tape_seal(&m->tape, &error);
    wg_entry *entry = network ? wg_entry_new(network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = m->roots,
                                                                         .root_count = m->root_count, .posture = posture}, &error)
                              : NULL;
    if (!entry) fail_msg("seed %llu: %s", (unsigned long long)seed, error.message);
    if (!equivalence_holds(entry, NULL, why, sizeof why)) fail_msg("seed %llu: %s", (unsigned long long)seed, why);
    uint32_t count = stages_of(entry, kind);
    wg_entry_free(&entry);
    wg_network_release(&network);
    return count;
}

static maker maker_of(uint64_t seed, wg_kind kind)
{
    return (maker){.draws = {seed}, .tape = wg_tape_new_kind(NULL, base_kind_is_float(kind) ? kind : WG_KIND_F32), .kind = kind};
}

static void choose_shape(maker *m)
{
    static const int64_t extents[] = {1, 5, 33, 70, 3, 64, 96, 130, 2, 17};
    m->rank = below(m, 4) ? 2 : 3;
    m->shape[0] = below(m, 4) ? 1 + below(m, 40) : 1 + below(m, 300);
    m->shape[1] = extents[below(m, 10)];
    m->shape[2] = 1 + below(m, 100);
    if (m->rank == 3) m->shape[0] = 1 + below(m, 4);
    if (m->rank == 2 && !below(m, 6)) m->shape[1] = 1000 + below(m, 1200);
    if (!below(m, 20)) m->shape[below(m, m->rank)] = 0;
}

static const wg_kind float_kinds[] = {WG_KIND_F32, WG_KIND_F64, WG_KIND_F32, WG_KIND_F16, WG_KIND_F32, WG_KIND_BF16};

static void test_rows_over_products(void **state)
{
    (void)state;
    static const int64_t depths[] = {3, 40, 0, 1, 257, 70, 300};
    uint32_t stages = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        maker m = maker_of(seed, float_kinds[seed % 6]);
        choose_shape(&m);
        if (!below(&m, 3)) add(&m, operand(&m));
        wg_value p = add(&m, product(&m, depths[below(&m, 7)]));
        for (uint32_t rows = 1 + below(&m, 7), i = 0; i < rows; i++) row(&m);
        if (!below(&m, 4)) {
            wg_value other = product(&m, depths[below(&m, 7)]), sum = wg_add(old(&m), other);
            add(&m, sum);
        }
        root(&m, m.items[m.item_count - 1]);
        if (!below(&m, 3)) root(&m, p);
        if (!below(&m, 4)) root(&m, wg_sum_along(p, below(&m, m.rank)));
        if (!below(&m, 4)) root(&m, wg_sum_along(m.items[m.item_count - 1], below(&m, m.rank)));
        if (!below(&m, 4)) root(&m, old(&m));
        stages += hold(&m, seed, seed % 9 ? WG_POSTURE_FORWARD : WG_POSTURE_RETAIN, PLAN_STAGE_PRODUCT);
    }
    assert_true(stages > 40);
}

/* From here on rows have another shape of as many items. */
static void regroup(maker *m)
{
    int64_t shape[3] = {m->shape[0], m->shape[1], m->shape[2]};
    if (m->rank == 3) shape[0] *= shape[1], shape[1] = shape[2];
    else if (shape[0] % 2 == 0) shape[2] = shape[1], shape[0] /= 2, shape[1] = 2;
    else shape[2] = shape[1], shape[1] = shape[0], shape[0] = 1;
    m->rank = 5 - m->rank;
    memcpy(m->shape, shape, sizeof shape);
    wg_size sizes[3] = {wg_number(shape[0]), wg_number(shape[1]), wg_number(shape[2])};
    wg_value reshaped = (wg_reshape)(old(m), m->rank, sizes);
    m->item_count = 0;
    add(m, reshaped);
}

static void test_rows_through_reshapes(void **state)
{
    (void)state;
    static const int64_t depths[] = {3, 40, 64, 1, 257};
    uint32_t stages = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        maker m = maker_of(seed, float_kinds[seed % 6]);
        choose_shape(&m);
        wg_value first = add(&m, product(&m, depths[below(&m, 5)]));
        for (uint32_t turns = 1 + below(&m, 3), t = 0; t < turns; t++) {
            for (uint32_t rows = below(&m, 4), i = 0; i < rows; i++) row(&m);
            if (!below(&m, 4)) root(&m, old(&m));
            regroup(&m);
        }
        for (uint32_t rows = below(&m, 5), i = 0; i < rows; i++) row(&m);
        root(&m, m.items[m.item_count - 1]);
        if (!below(&m, 4)) root(&m, first);
        if (!below(&m, 3)) root(&m, wg_sum_along(old(&m), below(&m, m.rank)));
        stages += hold(&m, seed, seed % 9 ? WG_POSTURE_FORWARD : WG_POSTURE_RETAIN, PLAN_STAGE_PRODUCT);
    }
    assert_true(stages > 40);
}

static void test_sums_of_products(void **state)
{
    (void)state;
    static const int64_t depths[] = {1, 32, 255, 256, 5, 0, 64};
    uint32_t stages = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        maker m = maker_of(seed, float_kinds[seed % 6]);
        choose_shape(&m);
        bool deep = !below(&m, 10);
        wg_value sum = below(&m, 8) ? product(&m, depths[below(&m, 7)]) : operand(&m);
        for (uint32_t terms = 1 + below(&m, 6), i = 0; i < terms; i++) {
            wg_value term = below(&m, 12) ? product(&m, deep && i == 1 ? 257 : depths[below(&m, 7)]) : operand(&m);
            if (!below(&m, 12)) root(&m, term);
            if (!below(&m, 12)) root(&m, wg_tanh(sum));
            sum = below(&m, 2) ? wg_add(sum, term) : wg_add(term, sum);
        }
        add(&m, sum);
        for (uint32_t rows = below(&m, 4), i = 0; i < rows; i++) row(&m);
        root(&m, m.items[m.item_count - 1]);
        if (!below(&m, 3)) root(&m, sum);
        stages += hold(&m, seed, seed % 9 ? WG_POSTURE_FORWARD : WG_POSTURE_RETAIN, PLAN_STAGE_PRODUCT);
    }
    assert_true(stages > 40);
}

/* Pieces of one axis: as narrow's derivative leaves them, or anywhere. */
static void test_sums_of_pieces(void **state)
{
    (void)state;
    static const wg_kind kinds[] = {WG_KIND_F32, WG_KIND_F64, WG_KIND_I32, WG_KIND_F16, WG_KIND_U8, WG_KIND_BF16, WG_KIND_I64};
    uint32_t stages = 0;
    for (uint64_t seed = 1; seed <= 90; seed++) {
        maker m = maker_of(seed, kinds[seed % 7]);
        choose_shape(&m);
        m.shape[1] = 1 + m.shape[1] % 130;
        if (m.rank == 2 && !below(&m, 6)) memcpy(m.shape, below(&m, 2) ? (int64_t[]){25000, 4} : (int64_t[]){1700, 7}, 2 * sizeof *m.shape); /* several blocks */
        uint32_t axis = below(&m, m.rank), way = below(&m, 4), terms = 2 + below(&m, 6);
        int64_t extent = m.shape[axis], at = 0;
        wg_value sum = {0};
        for (uint32_t i = 0; i < terms; i++) {
            int64_t left = extent - at, length = way == 0 ? (i + 1 == terms ? left : left / 2) : below(&m, (uint32_t)extent + 1);
            int64_t start = way == 0 ? at : below(&m, (uint32_t)(extent - length) + 1);
            if (way == 1) start = (extent - length) / 2; /* all of them meet */
            if (way == 2 && length > extent / (int64_t)terms) length = extent / (int64_t)terms, start = (int64_t)(terms - 1 - i) * length;
            at += length;
            int64_t own[3];
            memcpy(own, m.shape, sizeof own);
            own[axis] = length;
            wg_value piece = fresh(&m, m.rank, own);
            if (!below(&m, 4)) piece = wg_reverse(piece, below(&m, m.rank));
            wg_value term = wg_pad(piece, axis, wg_number(start), wg_number(extent), below(&m, 25) ? 0.0 : 1.0);
            if (!below(&m, 30)) root(&m, term);
            sum = i == 0 ? term : below(&m, 2) ? wg_add(sum, term) : wg_add(term, sum);
        }
        add(&m, sum);
        if (below(&m, 2)) add(&m, wg_mul(sum, wg_add(sum, sum)));
        root(&m, m.items[m.item_count - 1]);
        stages += hold(&m, seed, seed % 9 ? WG_POSTURE_FORWARD : WG_POSTURE_RETAIN, PLAN_STAGE_PIECES);
    }
    assert_true(stages > 40);
}

/* ---- lines of wider arrays ---- */

/* Gates of a recurrent step read lines of one array, some of them as they are, or several at once. */
static void test_lines_of_wider_arrays(void **state)
{
    (void)state;
    static const wg_kind kinds[] = {WG_KIND_F32, WG_KIND_F64, WG_KIND_F32, WG_KIND_F16, WG_KIND_I32};
    static const int64_t widths[] = {128, 256, 130, 1000, 200, 127, 1025};
    uint32_t stages = 0;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        maker m = maker_of(seed, kinds[seed % 5]);
        bool floats = base_kind_is_float(m.kind);
        int64_t width = widths[below(&m, 7)], parts = 2 + below(&m, 3), rows = 1 + below(&m, 60), wide = parts * width + below(&m, 3);
        m.rank = 2;
        memcpy(m.shape, (int64_t[]){rows, width}, 2 * sizeof *m.shape);
        wg_value all = fresh(&m, 2, (int64_t[]){rows, wide});
        for (int64_t i = 0; i < parts; i++) {
            wg_value part = add(&m, wg_narrow(all, 1, i * width + (wide - parts * width) / 2, width));
            if (!below(&m, 5)) root(&m, wg_stop_gradient(part));
            if (!below(&m, 6)) root(&m, wg_bitcast(part, m.kind == WG_KIND_F32 ? WG_KIND_I32 : m.kind));
        }
        for (uint32_t i = 0; i < 6; i++) {
            wg_value a = m.items[below(&m, m.item_count)], b = below(&m, 3) ? m.items[below(&m, m.item_count)] : operand(&m);
            add(&m, floats && !below(&m, 3) ? wg_tanh(a) : below(&m, 2) ? wg_sub(a, b) : wg_mul(b, wg_add(a, a)));
        }
        root(&m, m.items[m.item_count - 1]);
        if (!below(&m, 4)) root(&m, m.items[m.item_count - 2]);
        stages += hold(&m, seed, seed % 9 ? WG_POSTURE_FORWARD : WG_POSTURE_RETAIN, PLAN_STAGE_MAP);
    }
    assert_true(stages > 40);
}

/* ---- steps that read one matrix ---- */

static void test_steps_of_recurrences(void **state)
{
    (void)state;
    static const int64_t widths[] = {16, 70, 33, 257, 40, 128, 1};
    uint32_t before = series;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        maker m = maker_of(seed, float_kinds[seed % 6]);
        int64_t width = widths[below(&m, 7)];
        m.rank = 2;
        memcpy(m.shape, (int64_t[]){1 + below(&m, 160), width}, 2 * sizeof *m.shape);
        wg_value left = matrix(&m, width, width), right = below(&m, 2) ? wg_transpose(left) : matrix(&m, width, width);
        add(&m, fresh(&m, 2, m.shape));
        for (uint32_t step = 0, steps = 3 + below(&m, 5); step < steps; step++) {
            wg_value p = add(&m, wg_matmul(old(&m), below(&m, 3) ? left : right));
            if (below(&m, 3)) row(&m);
            if (!below(&m, 4)) root(&m, p);
        }
        root(&m, m.items[m.item_count - 1]);
        hold(&m, seed, seed % 9 ? WG_POSTURE_FORWARD : WG_POSTURE_RETAIN, PLAN_STAGE_PRODUCT);
    }
    assert_true(series > before + 8);
}

/* ---- one row by many short lines ---- */

static void test_rows_by_short_lines(void **state)
{
    (void)state;
    static const int64_t extents[][2] = {{1536, 384}, {1100, 250}, {512, 520}, {700, 400}, {300, 1000}, {4000, 70}, {2400, 129}, {2304, 128}};
    for (uint64_t seed = 1; seed <= 16; seed++) {
        maker m = maker_of(seed, seed % 3 ? WG_KIND_F32 : WG_KIND_F64);
        const int64_t *extent = extents[seed % 8], depth = extent[0];
        m.rank = 2;
        memcpy(m.shape, (int64_t[]){1, extent[1]}, 2 * sizeof *m.shape);
        wg_value left = fresh(&m, 2, (int64_t[]){1, depth}), p = add(&m, wg_matmul(left, fresh(&m, 2, (int64_t[]){depth, extent[1]})));
        if (seed % 4) row(&m);
        if (!(seed % 3)) root(&m, p);
        root(&m, m.items[m.item_count - 1]);
        hold(&m, seed, WG_POSTURE_FORWARD, PLAN_STAGE_PRODUCT);
    }
}

/* ---- lengths that change ---- */

/* x [n, 6], w [6, 70]: tanh(x w + b), x' of it, and both halves of a padded back. */
static void test_named_lengths(void **state)
{
    (void)state;
    wg_error error = {0};
    maker m = maker_of(3, WG_KIND_F32);
    wg_size n = wg_extent(m.tape, "n", 4);
    wg_value x = wg_input_fill(m.tape, WG_KIND_F32, 2, (wg_size[]){n, wg_number(6)}, 0.5);
    wg_value w = fresh(&m, 2, (int64_t[]){6, 70}), b = fresh(&m, 1, (int64_t[]){70});
    wg_value h = wg_tanh(wg_add(wg_matmul(x, w), wg_broadcast_along(b, 0, n)));
    wg_value low = wg_narrow(h, 1, 0, 30), high = wg_narrow(h, 1, 30, 40);
    wg_value sum = wg_add(wg_pad(wg_mul(high, high), 1, 30, 70, 0.0), wg_pad(wg_neg(low), 1, 0, 70, 0.0));
    wg_value deep = wg_add(wg_matmul(wg_transpose(x), h), wg_matmul(wg_transpose(x), sum));
    wg_value shallow = wg_add(wg_matmul(x, w), wg_matmul(wg_neg(x), w));
    root(&m, sum);
    root(&m, deep);
    root(&m, wg_add(shallow, sum));
    wg_symbol input = wg_symbol_of(x);
    wg_network *network = wg_tape_seal(&m.tape, &error);
    wg_entry *entry = wg_entry_new(
        network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = m.roots, .root_count = m.root_count}, &error);
    wg_plan *plan = entry ? wg_plan_new(entry, NULL, 0, &error) : NULL;
    wg_session *session = plan ? wg_session_new(plan, NULL, &error) : NULL;
    if (!session) fail_msg("%s", error.message);
    static const int64_t lengths[] = {1, 300, 4, 0, 57};
    for (uint32_t i = 0; i < 5; i++) {
        wg_binding binding = {"n", lengths[i]};
        wg_tensor *items = test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(lengths[i], 6), 0.37, 0.2, 0);
        wg_feed feed = {input, wg_tensor_view(items)};
        wg_run_options options = {.size = sizeof options, .feeds = &feed, .feed_count = 1}, bound = options;
        bound.bindings = &binding;
        bound.binding_count = 1;
        wg_run *run = wg_interpret(entry, &bound, &error);
        char why[512] = "";
        if (!run || !wg_session_bind(session, &binding, 1, &error) || !wg_session_run(session, &options, &error)) fail_msg("%s", error.message);
        for (uint32_t r = 0; r < 3; r++)
            if (!equivalence_result(session, run, wg_entry_result(entry, r), why, sizeof why)) fail_msg("n = %lld: %s", (long long)lengths[i], why);
        wg_run_free(&run);
        wg_tensor_release(items);
    }
    wg_session_free(&session);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows_over_products), cmocka_unit_test(test_rows_through_reshapes),
                                       cmocka_unit_test(test_sums_of_products),
                                       cmocka_unit_test(test_sums_of_pieces), cmocka_unit_test(test_lines_of_wider_arrays), cmocka_unit_test(test_steps_of_recurrences),
                                       cmocka_unit_test(test_rows_by_short_lines), cmocka_unit_test(test_named_lengths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
