/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Plans within a memory budget: values that are computed again have the bits that they had, and the budget is kept. */
#include "equivalence.h"

#include <stdlib.h>

#include "wengert/compose.h"
#include "wengert/grad.h"

static const double shares[] = {0.9, 0.75, 0.6, 0.4};

static wg_entry *entry_of(const wg_network *network, const uint32_t *roots, uint32_t count)
{
    wg_symbol symbols[8];
    for (uint32_t i = 0; i < count; i++) symbols[i] = wg_network_symbol_at(network, roots[i]);
    wg_error error = {0};
    wg_entry *entry = wg_entry_new(network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = symbols, .root_count = count}, &error);
    if (!entry) fail_msg("%s", error.message);
    return entry;
}

static wg_entry *sealed(wg_tape *tape, const uint32_t *roots, uint32_t count)
{
    wg_error error = {0};
    wg_network *network = wg_tape_seal(&tape, &error);
    if (!network) fail_msg("%s", error.message);
    wg_entry *entry = entry_of(network, roots, count);
    wg_network_release(&network);
    return entry;
}

/* Layers with a softmax between two products, and their gradients: what goes forward waits for the way back. */
static wg_entry *training_entry(wg_context *context, int64_t batch)
{
    enum { LAYERS = 5, WIDTH = 24 };
    wg_tape *tape = wg_tape_new(context);
    wg_value x = wg_input(tape, test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(batch, WIDTH), 0.37, 0.1, 0)), w[LAYERS];
    for (uint32_t i = 0; i < LAYERS; i++) {
        w[i] = wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(WIDTH, WIDTH), 0.3 + 0.1 * i, 0.2, 0));
        wg_value h = wg_tanh(wg_matmul(x, w[i]));
        x = wg_add(x, wg_mul(wg_softmax(h, 1), wg_sigmoid(h)));
    }
    wg_value loss = wg_sum(wg_mul(x, x));
    wg_adjoints *adjoints = wg_differentiate(tape, loss, w, LAYERS);
    uint32_t roots[1 + LAYERS] = {wg_symbol_of(loss).position};
    for (uint32_t i = 0; i < LAYERS; i++) roots[1 + i] = wg_symbol_of(wg_adjoints_gradient(adjoints, i)).position;
    wg_adjoints_free(&adjoints);
    return sealed(tape, roots, 1 + LAYERS);
}

static void training_within(void **state)
{
    (void)state;
    wg_entry *entry = training_entry(NULL, 40);
    char why[2048];
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        equivalence_budget budget = {.share = shares[i]};
        if (!equivalence_within(entry, NULL, &budget, why, sizeof why)) fail_msg("within %g: %s", shares[i], why);
        assert_true(budget.saved > 0 || i > 1);
    }
    wg_entry_free(&entry);
}

/* Layers as of a transformer: what a product gives and its GELU both wait. The GELU is dropped first, and made of the product's value. */
static void activations_within(void **state)
{
    (void)state;
    enum { LAYERS = 4, BATCH = 48, NARROW = 8, WIDE = 32 };
    const wg_size flat[] = {wg_number(BATCH), wg_number(NARROW)}, deep[] = {wg_number(4), wg_number(BATCH / 4), wg_number(NARROW)};
    for (int erf = 0; erf < 2; erf++) {
        wg_tape *tape = wg_tape_new(NULL);
        wg_value x = wg_input(tape, test_tensor_sin(WG_KIND_F32, 3, TEST_SHAPE(4, BATCH / 4, NARROW), 0.37, 0.1, 0)), w[2 * LAYERS];
        for (uint32_t i = 0; i < LAYERS; i++) {
            w[2 * i] = wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(NARROW, WIDE), 0.3 + 0.1 * i, 0.2, 0));
            w[2 * i + 1] = wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(WIDE, NARROW), 0.5 + 0.1 * i, 0.2, 0));
            wg_value u = wg_matmul(wg_reshape(x, 2, flat), w[2 * i]);
            u = wg_add(u, wg_fill_like(u, 0.25));
            wg_value h = erf ? wg_gelu(u) : wg_gelu_tanh(u);
            x = wg_add(x, wg_reshape(wg_matmul(h, w[2 * i + 1]), 3, deep));
        }
        wg_value loss = wg_sum(wg_mul(x, x));
        wg_adjoints *adjoints = wg_differentiate(tape, loss, w, 2 * LAYERS);
        uint32_t roots[1 + 2 * LAYERS] = {wg_symbol_of(loss).position};
        for (uint32_t i = 0; i < 2 * LAYERS; i++) roots[1 + i] = wg_symbol_of(wg_adjoints_gradient(adjoints, i)).position;
        wg_adjoints_free(&adjoints);
        wg_entry *entry = sealed(tape, roots, 1 + 2 * LAYERS);
        uint32_t lighter = 0;
        for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
            char why[2048];
            equivalence_budget budget = {.share = shares[i]};
            if (!equivalence_within(entry, NULL, &budget, why, sizeof why)) fail_msg("within %g: %s", shares[i], why);
            lighter += budget.lighter;
        }
        assert_true(lighter > 0);
        wg_entry_free(&entry);
    }
}

/* Rows over squares, of operands that may have been made long before. */
static wg_value square_row(test_draws *draws, wg_value a, wg_value b)
{
    static const uint32_t turned[] = {1, 0};
    switch (test_draw_below(draws, 9)) {
    case 0: return wg_tanh(a);
    case 1: return wg_mul(a, b);
    case 2: return wg_sub(a, b);
    case 3: return wg_tanh(wg_matmul(a, b));
    case 4: return wg_tanh(wg_add(wg_permute(a, turned), b));
    case 5: return wg_softmax(a, 1);
    case 6: return wg_mul(wg_sigmoid(a), b);
    case 7: return wg_update(a, wg_narrow(b, 0, 2, 3), wg_input_fill(a.tape, WG_KIND_I32, 0, NULL, 5), 0, 0, "clamp");
    default: return wg_reverse(a, 0);
    }
}

static void random_waits(void **state)
{
    enum { ROWS = 40, SIDE = 17 };
    (void)state;
    uint32_t again = 0;
    for (uint64_t seed = 1; seed <= 120; seed++) {
        test_draws draws = test_draws_new(seed);
        wg_tape *tape = wg_tape_new(NULL);
        wg_value made[ROWS] = {wg_input(tape, test_tensor_sin(seed % 3 ? WG_KIND_F32 : WG_KIND_F64, 2, TEST_SHAPE(SIDE, SIDE), 0.3, 0.1, 0))};
        for (uint32_t i = 1; i < ROWS; i++) {
            wg_value b = made[test_draw_below(&draws, i)], a = made[i - 1 - test_draw_below(&draws, i < 3 ? i : 3)];
            made[i] = square_row(&draws, a, b);
        }
        uint32_t roots[] = {made[ROWS - 1].position, made[ROWS / 2].position};
        wg_entry *entry = sealed(tape, roots, 2);
        equivalence_budget budget = {.share = shares[seed % 4]};
        char why[2048];
        if (!equivalence_within(entry, NULL, &budget, why, sizeof why)) fail_msg("seed %llu: %s", (unsigned long long)seed, why);
        again += budget.again;
        wg_entry_free(&entry);
    }
    assert_true(again > 16);
}

/* The message has the least; that least is a budget that is kept, and the report says what it costs. */
static void least(void **state)
{
    (void)state;
    wg_entry *entry = training_entry(NULL, 40);
    wg_error error = {0};
    wg_plan_options options = {.size = sizeof options, .memory_budget = 64};
    assert_null(wg_plan_new_with(entry, &options, &error));
    assert_int_equal(error.code, WG_MEMORY);
    const char *number = strstr(error.message, "brings here is ");
    assert_non_null(number);
    options.memory_budget = strtoll(number + strlen("brings here is "), NULL, 10);
    error = (wg_error){0};
    wg_plan *plan = wg_plan_new_with(entry, &options, &error);
    if (!plan) fail_msg("%s", error.message);
    wg_plan_figures figures;
    wg_plan_figures_of(plan, &figures);
    assert_true(figures.arena_bytes <= options.memory_budget && figures.recomputed > 0 && figures.recomputed_bytes > 0 && figures.recomputed_share > 0);
    char *report = wg_plan_report(plan);
    assert_non_null(strstr(report, "; again"));
    assert_non_null(strstr(report, "recomputed: "));
    wg_text_free(report);
    uint32_t again = 0;
    wg_stage stage;
    for (uint32_t i = 0; wg_plan_stage(plan, i, &stage); i++) again += stage.again;
    assert_int_equal(again, figures.recomputed);
    wg_plan_release(&plan);
    options.memory_budget = -1;
    assert_null(wg_plan_new_with(entry, &options, &error));
    options = (wg_plan_options){.size = 1};
    assert_null(wg_plan_new_with(entry, &options, &error));
    wg_entry_free(&entry);
}

/* The least arena that a plan can be kept to. */
static int64_t least_of(const wg_entry *entry)
{
    wg_error error = {0};
    wg_plan_options options = {.size = sizeof options, .memory_budget = 64};
    assert_null(wg_plan_new_with(entry, &options, &error));
    const char *number = strstr(error.message, "brings here is ");
    assert_non_null(number);
    return strtoll(number + strlen("brings here is "), NULL, 10);
}

/* A cache that a run writes into: what was made of the old one waits, since it cannot be made again. */
static void carried_caches(void **state)
{
    enum { SIDE = 64 };
    (void)state;
    wg_error error = {0};
    wg_tape *tape = wg_tape_new(NULL);
    wg_value cache = wg_input(tape, test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(SIDE, SIDE), 0.37, 0.1, 0)), early = wg_sort(cache, 1, false);
    wg_value long_way = wg_sort(wg_matmul(early, early), 1, false);
    for (int i = 0; i < 3; i++) long_way = wg_sort(wg_matmul(long_way, long_way), i % 2, false);
    wg_value row = wg_tanh(wg_narrow(long_way, 0, 3, 1)), next = wg_update(cache, row, wg_input_fill(tape, WG_KIND_I32, 0, NULL, 9), 0, 0, "clamp");
    wg_value late = wg_mul(early, (wg_broadcast)(wg_sum(next), 2, (const wg_size[]){wg_number(SIDE), wg_number(SIDE)}));
    wg_symbol root = wg_symbol_of(late);
    const wg_carry carry = {wg_symbol_of(next), wg_symbol_of(cache)};
    wg_network *network = wg_tape_seal(&tape, &error);
    wg_entry *entry = wg_entry_new(network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = &root, .root_count = 1, .carries = &carry, .carry_count = 1}, &error);
    if (!entry) fail_msg("%s", error.message);
    wg_plan *plans[] = {wg_plan_new(entry, NULL, 0, &error), wg_plan_new_with(entry, &(wg_plan_options){.size = sizeof(wg_plan_options), .memory_budget = least_of(entry)}, &error)};
    wg_session *sessions[2];
    for (int i = 0; i < 2; i++) {
        sessions[i] = plans[i] ? wg_session_new(plans[i], NULL, &error) : NULL;
        if (!sessions[i]) fail_msg("%s", error.message);
    }
    for (int run = 0; run < 3; run++) {
        wg_view views[2];
        for (int i = 0; i < 2; i++) {
            bool ran = wg_session_run(sessions[i], &(wg_run_options){.size = sizeof(wg_run_options)}, &error) && wg_session_read(sessions[i], root, &views[i], &error);
            if (!ran) fail_msg("%s", error.message);
        }
        assert_memory_equal(views[0].data, views[1].data, SIDE * SIDE * sizeof(float));
    }
    for (int i = 0; i < 2; i++) {
        wg_session_free(&sessions[i]);
        wg_plan_release(&plans[i]);
    }
    wg_entry_free(&entry);
    wg_network_release(&network);
}

/* ---- allocations ---- */

typedef struct refusing {
    int64_t calls, fail_at, live;
} refusing;

static void *refuse(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    refusing *r = user;
    if (new_bytes && r->calls++ == r->fail_at) return NULL;
    r->live += (new_bytes != 0) - (block != NULL);
    (void)old_bytes;
    if (new_bytes) return realloc(block, new_bytes);
    free(block);
    return NULL;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    refusing r = {.fail_at = -1};
    wg_context *context = wg_context_new(&(wg_context_options){.size = sizeof(wg_context_options), .allocator = {refuse, &r}, .threads = 1}, NULL);
    wg_entry *entry = training_entry(context, 40);
    wg_plan *free_plan = wg_plan_new(entry, NULL, 0, NULL);
    wg_plan_options options = {.size = sizeof options, .memory_budget = free_plan->layout.arena_bytes * 3 / 4};
    wg_plan_release(&free_plan);
    int64_t live = r.live, start = r.calls;
    wg_plan *plan = wg_plan_new_with(entry, &options, NULL);
    assert_non_null(plan);
    int64_t needed = r.calls - start;
    wg_plan_release(&plan);
    for (int64_t k = 0; k < needed; k++) {
        wg_error error = {0};
        r.fail_at = r.calls + k;
        assert_null(wg_plan_new_with(entry, &options, &error));
        assert_int_equal(error.code, WG_MEMORY);
        assert_true(r.live == live);
    }
    r.fail_at = -1;
    wg_entry_free(&entry);
    wg_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(training_within), cmocka_unit_test(activations_within), cmocka_unit_test(random_waits), cmocka_unit_test(carried_caches), cmocka_unit_test(least),
                                       cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
