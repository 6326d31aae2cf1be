/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Rewrites of graphs that nobody thought of: drawn from the op table, and drawn as a session of array calls is written, with named extents.
 * Before and after give the same bits; a second time nothing is left to rewrite; the work grows with the nodes; any allocation may fail. */
#include "rewriting.h"

#include "graph/graph.h"
#include "support/budget.h"
#include "support/random_graph.h"

static const wg_kind kinds[] = {WG_KIND_F32, WG_KIND_F64, WG_KIND_F16, WG_KIND_BF16};

/* ---- graphs of every row ---- */

typedef struct tally {
    bool bits;
    uint32_t made;
} tally;

static bool keeps_its_bits(void *user, random_graph *graph, char *why, size_t bytes)
{
    static rewriting w;
    tally *t = user;
    memset(&w, 0, sizeof w);
    w.tape = graph->tape;
    for (uint32_t i = 0; i < graph->root_count; i++) w.kept[w.kept_count++] = wg_tape_resolve(graph->tape, graph->roots[i]);
    graph->tape = NULL;
    rewriting_make(&w, t->bits);
    t->made += w.event_count;
    /* Where last bits moved, what they decide later on need not be near. */
    bool good = w.bits_count || rewriting_agree(&w, NULL, 0, 0, why, bytes);
    uint32_t again = rewriting_again(&w, t->bits);
    if (good && again) good = snprintf(why, bytes, "%u rewrites more the second time", again) < 0;
    rewriting_free(&w);
    return good;
}

static void test_random_graphs(void **state)
{
    (void)state;
    tally t = {false, 0};
    for (uint64_t seed = 0; seed < 400; seed++) {
        t.bits = seed % 4 == 3;
        random_graph_hold("rewritten and as it was", seed, 5 + (uint32_t)(seed * 13 % 150), kinds[seed % 3], keeps_its_bits, &t);
    }
    assert_true(t.made > 100);
}

/* ---- sessions of array calls ---- */

typedef struct session {
    rewriting *w;
    test_draws draws;
    wg_size lengths[5]; /* n, m, n - 1, 3, 4 */
    wg_value values[256];
    uint32_t count;
} session;

static uint32_t below(session *s, uint32_t count)
{
    return test_draw_below(&s->draws, count);
}

static wg_value any(session *s)
{
    uint32_t near = s->count < 6 ? s->count : 6;
    return s->values[below(s, 3) ? s->count - 1 - below(s, near) : below(s, s->count)];
}

static bool same_shape(wg_value a, wg_value b)
{
    if (wg_value_rank(a) != wg_value_rank(b) || wg_value_kind(a) != wg_value_kind(b)) return false;
    for (uint32_t axis = 0; axis < wg_value_rank(a); axis++)
        if (!graph_size_equal(wg_value_size(a, axis), wg_value_size(b, axis))) return false;
    return true;
}

static wg_value fresh(session *s)
{
    wg_size shape[2] = {s->lengths[below(s, 5)], s->lengths[below(s, 5)]};
    uint32_t rank = 1 + below(s, 2);
    double number = (double)below(s, 9) / 4 - 1;
    return (below(s, 4) ? wg_input_fill : wg_leaf_fill)(s->w->tape, WG_KIND_F32, rank, shape, number);
}

/* Another value of its shape, or a constant of it. */
static wg_value partner(session *s, wg_value a)
{
    wg_size shape[WG_MAX_RANK];
    for (int tries = 0; tries < 8; tries++) {
        wg_value b = any(s);
        if (same_shape(a, b)) return b;
    }
    for (uint32_t axis = 0; axis < wg_value_rank(a); axis++) shape[axis] = wg_value_size(a, axis);
    static const double numbers[] = {1, -1, 0, -0.0, 2, 0.25, 3};
    return wg_leaf_fill(s->w->tape, wg_value_kind(a), wg_value_rank(a), shape, numbers[below(s, 7)]);
}

/* Positions 0, 1 .. along an axis in the value's shape, so that values differ from item to item. */
static wg_value counted(session *s, wg_value a)
{
    wg_size shape[WG_MAX_RANK];
    for (uint32_t axis = 0; axis < wg_value_rank(a); axis++) shape[axis] = wg_value_size(a, axis);
    return wg_iota(a.tape, wg_value_kind(a), wg_value_rank(a), shape, below(s, wg_value_rank(a)));
}

static wg_value elementwise(session *s, wg_value a)
{
    wg_value b = partner(s, a);
    switch (below(s, 14)) {
    case 0: return wg_add(a, b);
    case 1: return wg_sub(a, b);
    case 2: return wg_mul(a, b);
    case 3: return wg_div(a, b);
    case 4: return wg_maximum(a, b);
    case 5: return wg_minimum(a, b);
    case 6: return wg_residue(a, b);
    case 7: return wg_neg(a);
    case 8: return wg_abs(a);
    case 9: return wg_floor(a);
    case 10: return wg_tanh(a);
    case 11: return wg_select(wg_not(wg_less(a, b)), a, b);
    case 12: return wg_convert(wg_convert(a, WG_KIND_F64), WG_KIND_F32);
    default: return wg_add(a, counted(s, a));
    }
}

/* Part of an axis as a session writes it: all but one from either end, every other one, the first few. */
static wg_value part(session *s, wg_value a, uint32_t axis)
{
    wg_size extent = wg_value_size(a, axis), less = wg_size_subtract(a.tape, extent, wg_number(1));
    switch (extent.number ? below(s, 4) : 3) {
    case 0: return wg_narrow(a, axis, 1, less);
    case 1: return wg_narrow(a, axis, 0, less);
    case 2: return extent.number < 3 ? a : wg_narrow_step(a, axis, wg_number(0), wg_number(2), 2);
    default: return extent.number < 2 ? a : wg_narrow(a, axis, 0, 2);
    }
}

static wg_value gathered(session *s, wg_value a, uint32_t axis)
{
    wg_size extent = wg_value_size(a, axis);
    wg_value positions = wg_iota(a.tape, WG_KIND_I64, 1, &extent, 0);
    switch (below(s, 5)) {
    case 0: positions = wg_reverse(positions, 0); break;
    case 1: positions = part(s, positions, 0); break;
    case 2: positions = wg_grade(positions, 0, true); break;
    case 3: positions = wg_mul(positions, 2.0); break;
    default: positions = wg_sub(wg_leaf_size(a.tape, WG_KIND_I64, 1, &extent, wg_size_subtract(a.tape, extent, wg_number(1))), positions);
    }
    return wg_gather_batch(a, positions, axis, 0, below(s, 2) ? "clamp" : "fill", 0.5);
}

static wg_value moved(session *s, wg_value a, uint32_t axis)
{
    uint32_t order[WG_MAX_RANK], rank = wg_value_rank(a);
    wg_value pair[2] = {a, a};
    wg_size shape[WG_MAX_RANK];
    switch (below(s, 6)) {
    case 0: return wg_reverse(a, axis);
    case 1:
        for (uint32_t i = 0; i < rank; i++) order[i] = (i + 1) % rank;
        return wg_permute(a, order);
    case 2: return rank < 3 ? wg_broadcast_along(a, below(s, rank + 1), s->lengths[below(s, 5)]) : a;
    case 3: return wg_concat(pair, 2, axis);
    case 4: return wg_pad(a, axis, 1, wg_size_add(a.tape, wg_value_size(a, axis), wg_number(2)), 0.5);
    default:
        for (uint32_t i = 0; i < rank; i++) shape[i] = wg_value_size(a, i);
        shape[rank] = wg_number(1);
        return rank < 3 ? wg_reshape(a, rank + 1, shape) : a;
    }
}

static wg_value combined(session *s, wg_value a, uint32_t axis)
{
    static const uint32_t turn[] = {1, 0};
    switch (below(s, 6)) {
    case 0: return wg_value_rank(a) > 1 ? wg_sum_along(a, axis) : a;
    case 1: return wg_scan(a, "max", axis, below(s, 2));
    case 2: return wg_sort(a, axis, below(s, 2));
    case 3: return wg_convert(wg_grade(a, axis, below(s, 2)), WG_KIND_F32);
    case 4: return wg_value_rank(a) == 2 ? wg_matmul(a, wg_permute(a, turn)) : a;
    default: return wg_value_rank(a) > 1 ? wg_reduce(a, "max", axis) : wg_log_softmax(a, axis);
    }
}

static void call(session *s)
{
    wg_value a = below(s, 12) ? any(s) : fresh(s);
    uint32_t axis = below(s, wg_value_rank(a)), chosen = below(s, 10);
    wg_value b = chosen < 4 ? elementwise(s, a) : chosen < 6 ? part(s, a, axis) : chosen < 7 ? gathered(s, a, axis)
                 : chosen < 9 ? moved(s, a, axis) : combined(s, a, axis);
    if (wg_is_poison(b)) fail_msg("%s", wg_tape_error(s->w->tape)->message);
    if (wg_value_volume(b) < 2000 && wg_value_rank(b) < 5) s->values[s->count++] = b;
}

static void draw_session(session *s, uint64_t seed, uint32_t calls)
{
    *s = (session){.w = s->w, .draws = test_draws_new(seed)};
    memset(s->w, 0, sizeof *s->w);
    wg_tape *tape = s->w->tape = wg_tape_new(NULL);
    s->lengths[0] = wg_extent(tape, "n", 6);
    s->lengths[1] = wg_extent(tape, "m", 4);
    s->lengths[2] = wg_size_subtract(tape, s->lengths[0], wg_number(1));
    s->lengths[3] = wg_number(3);
    s->lengths[4] = wg_number(4);
    for (int i = 0; i < 3; i++) {
        s->values[s->count] = fresh(s);
        s->count++;
    }
    for (uint32_t i = 0; i < calls && s->count < 250; i++) call(s);
    for (uint32_t i = 0, count = 1 + below(s, 6); i < count; i++) s->w->kept[s->w->kept_count++] = i ? any(s) : s->values[s->count - 1];
}

static const char *const expected[] = {"partial_read",    "spread_constant", "narrow_narrow", "gather_affine", "reverse_reverse",
                                       "convert_convert", "narrow_concat",   "sort_first",    "mul_one",       "neg_neg",
                                       "narrow_spread",   "partial_gather",  "constant_row",  "div_power_of_two"};
#define EXPECTED (sizeof expected / sizeof *expected)

static void test_sessions(void **state)
{
    (void)state;
    static rewriting w;
    static const wg_binding bindings[][2] = {{{"n", 1}, {"m", 1}}, {{"n", 7}, {"m", 2}}, {{"n", 3}, {"m", 9}}, {{"n", 0}, {"m", 5}},
                                             {{"n", 12}, {"m", 0}}};
    char why[512];
    bool seen[EXPECTED] = {false};
    session s = {.w = &w};
    for (uint64_t seed = 0; seed < 3000; seed++) {
        draw_session(&s, seed, 4 + (uint32_t)(seed % 50));
        w.feed_seed = seed + 1;
        rewriting_make(&w, false);
        for (size_t i = 0; i < EXPECTED; i++) seen[i] = seen[i] || rewriting_applied(&w, expected[i]);
        bool good = rewriting_agree(&w, NULL, 0, 0, why, sizeof why);
        for (size_t i = 0; good && i < sizeof bindings / sizeof *bindings; i++)
            good = rewriting_agree(&w, bindings[i], 2, 0, why, sizeof why);
        if (good && rewriting_again(&w, false)) good = snprintf(why, sizeof why, "more the second time") < 0;
        if (!good) {
            char *before = wg_network_describe(w.before), *after = wg_network_describe(w.after);
            print_error("%s\n%s\n", before, after);
            fail_msg("seed %llu: %s", (unsigned long long)seed, why);
        }
        rewriting_free(&w);
    }
    for (size_t i = 0; i < EXPECTED; i++)
        if (!seen[i]) fail_msg("%s is never made", expected[i]);
}

/* ---- sources, names, places ---- */

static void test_what_goes_along(void **state)
{
    (void)state;
    static rewriting w;
    memset(&w, 0, sizeof w);
    w.tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_size n = wg_extent(w.tape, "n", 3);
    wg_value unread = wg_name(wg_input_required(w.tape, WG_KIND_F64, 1, &n), "unread");
    wg_value weight = wg_name(wg_parameter_fill(w.tape, WG_KIND_F64, 1, &n, 2), "weight");
    wg_value fed = wg_name(wg_input_fill(w.tape, WG_KIND_F64, 1, &n, 3), "fed");
    wg_value sum = wg_name(wg_add(fed, wg_neg(weight)), "sum");
    (void)unread;
    w.kept[w.kept_count++] = sum;
    w.kept[w.kept_count++] = fed;
    rewriting_make(&w, false);
    wg_node_facts facts;
    assert_int_equal(wg_network_count(w.after), 4);
    static const char *const names[] = {"unread", "weight", "fed", "sum"};
    static const wg_op ops[] = {WG_OP_Input, WG_OP_Parameter, WG_OP_Input, WG_OP_Sub};
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(wg_network_node(w.after, i, &facts));
        assert_int_equal(facts.op, ops[i]);
        assert_string_equal(facts.name, names[i]);
        assert_non_null(facts.file);
    }
    assert_int_equal(w.new[0], 3);
    assert_int_equal(w.new[1], 2);
    assert_true(wg_network_input_required(w.after, wg_network_symbol_at(w.after, 0)));
    assert_int_equal(w.event_count, 1);
    assert_int_equal(w.events[0].root, sum.position);
    rewriting_free(&w);
}

static void test_a_used_tape_is_refused(void **state)
{
    (void)state;
    wg_tape *from = wg_tape_new(NULL), *used = wg_tape_new(NULL), *other = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value x = wg_input_fill(from, WG_KIND_F32, 0, NULL, 1), where;
    wg_input_fill(used, WG_KIND_F32, 0, NULL, 1);
    assert_false(plan_rewrite(from, 1, &x.position, 1, true, NULL, NULL, used, &where));
    assert_int_equal(wg_tape_error(used)->code, WG_TAPE);
    assert_false(plan_rewrite(from, 1, &x.position, 1, true, NULL, NULL, other, &where));
    assert_int_equal(wg_tape_error(other)->code, WG_TAPE);
    wg_tape_free(&from);
    wg_tape_free(&used);
    wg_tape_free(&other);
}

/* ---- work and memory ---- */

/* A Narrow at each other node: what a walk for each would make quadratic. */
static wg_value ladder(wg_tape *tape, uint32_t steps)
{
    wg_value x = wg_input_fill(tape, WG_KIND_F32, 1, &(wg_size){2 * (int64_t)steps + 5, 0}, 2);
    for (uint32_t i = 0; i < steps; i++) {
        x = wg_exp(wg_neg(x));
        x = wg_narrow(x, 0, 1, wg_value_shape(x)[0] - 2);
        x = wg_add(x, wg_reverse(wg_reverse(x, 0), 0));
    }
    return x;
}

static uint64_t bytes_of(uint32_t steps, uint32_t *made)
{
    static rewriting log;
    test_budget c = {.left = -1};
    wg_context_options options = {.size = sizeof options, .allocator = test_budget_allocator(&c), .threads = 1, .simd = "v2"};
    wg_context *context = wg_context_new(&options, NULL);
    wg_tape *from = wg_tape_new(context), *to = wg_tape_new(context);
    wg_value x = ladder(from, steps), where;
    log.event_count = 0;
    c.asked = 0;
    assert_true(plan_rewrite(from, wg_tape_count(from), &x.position, 1, false, rewriting_log, &log, to, &where));
    *made = log.event_count;
    uint64_t bytes = (uint64_t)c.asked;
    wg_tape_free(&from);
    wg_tape_free(&to);
    wg_context_free(context);
    assert_int_equal(c.blocks, 0);
    return bytes;
}

static void test_work_is_linear(void **state)
{
    (void)state;
    uint32_t few, many;
    uint64_t less = bytes_of(300, &few), more = bytes_of(2400, &many);
    assert_true(few >= 300);
    assert_true(many <= 9 * few);
    if (more > 10 * less) fail_msg("8 times the nodes took %llu bytes after %llu", (unsigned long long)more, (unsigned long long)less);
}

/* Answers whether an allocation failed. */
static bool try_rewriting(long k)
{
    test_budget c = {.left = -1};
    wg_context_options options = {.size = sizeof options, .allocator = test_budget_allocator(&c), .threads = 1, .simd = "v2"};
    wg_context *context = wg_context_new(&options, NULL);
    wg_tape *from = wg_tape_new(context), *to = wg_tape_new(context);
    wg_size n = wg_extent(from, "n", 9), last = wg_size_subtract(from, n, wg_number(1));
    wg_value x = wg_name(wg_input_fill(from, WG_KIND_F32, 1, &n, 1), "x"), where[2] = {{NULL, 0, 0}, {NULL, 0, 0}};
    wg_value end = wg_leaf_size(from, WG_KIND_I64, 1, &n, last), positions = wg_sub(end, wg_iota(from, WG_KIND_I64, 1, &n, 0));
    wg_value y = wg_narrow(wg_add(wg_gather(wg_mul(wg_exp(x), 1.0), positions, 0), x), 0, 1, 3), z = ladder(from, 20);
    uint32_t kept[] = {y.position, z.position};
    assert_int_equal(wg_tape_error(from)->code, WG_OK);
    c.left = k;
    bool good = plan_rewrite(from, wg_tape_count(from), kept, 2, true, NULL, NULL, to, where);
    c.left = -1;
    assert_true(good == !wg_tape_error(to)->code);
    if (!good) assert_int_equal(wg_tape_error(to)->code, WG_MEMORY);
    if (!c.failed) assert_true(good);
    wg_tape_free(&from);
    wg_tape_free(&to);
    wg_context_free(context);
    assert_int_equal(c.blocks, 0);
    return c.failed;
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    long k = 0;
    while (try_rewriting(k)) k++;
    assert_true(k > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_graphs), cmocka_unit_test(test_sessions),
                                       cmocka_unit_test(test_what_goes_along), cmocka_unit_test(test_a_used_tape_is_refused),
                                       cmocka_unit_test(test_work_is_linear),
                                       cmocka_unit_test(test_every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
