/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Elected matches (WindowProduct, ReduceWindow, BatchNormTraining) and a whole training step: plan and session = oracle, bit for bit. And
 * failures: the same report as the oracle's, whatever ran first. */
#include "exec/equivalence.h"
#include "wengert/compose.h"
#include "wengert/grad.h"

static wg_value sin_input(wg_tape *tape, wg_kind kind, uint32_t rank, const int64_t *shape, double scale)
{
    return wg_input(tape, test_tensor_sin(kind, rank, shape, scale, 0.3, 0));
}

/* Seals, checks that `elected` matches are served, and compares. Takes the tape. */
static void check(wg_tape *tape, const wg_symbol *roots, uint32_t count, uint32_t elected, const char *what)
{
    wg_error error = {0};
    char why[2048] = "";
    wg_network *network = wg_tape_seal(&tape, &error);
    if (!network) fail_msg("%s: %s", what, error.message);
    wg_entry *entry =
        wg_entry_new(network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = roots, .root_count = count}, &error);
    wg_plan *plan = entry ? wg_plan_new(entry, NULL, 0, &error) : NULL;
    if (!plan) fail_msg("%s: %s", what, error.message);
    uint32_t served = 0;
    for (uint32_t s = 0; s < plan->stage_count; s++) served += plan->stages[s].kind == PLAN_STAGE_PATTERN;
    assert_int_equal(served, elected);
    wg_plan_release(&plan);
    if (!equivalence_holds(entry, NULL, why, sizeof why)) fail_msg("%s: %s", what, why);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

static void test_window_products(void **state)
{
    (void)state;
    static const struct {
        int64_t image[4], filters[4], step[2], dilation[2], padding[2];
    } cases[] = {
        {{1, 1, 6, 6}, {2, 1, 3, 3}, {1, 1}, {1, 1}, {0, 0}},    {{2, 2, 5, 5}, {3, 2, 3, 3}, {2, 2}, {1, 1}, {1, 1}},
        {{3, 4, 9, 12}, {20, 4, 3, 2}, {2, 1}, {1, 2}, {0, 2}},  {{2, 3, 7, 8}, {5, 3, 1, 1}, {1, 1}, {1, 1}, {0, 0}},
        {{1, 33, 6, 6}, {9, 33, 3, 3}, {1, 1}, {1, 1}, {2, 0}},  {{0, 2, 5, 5}, {3, 2, 3, 3}, {1, 1}, {1, 1}, {1, 1}},
        {{2, 0, 5, 5}, {3, 0, 3, 3}, {1, 1}, {1, 1}, {0, 0}},    {{2, 2, 5, 5}, {0, 2, 3, 3}, {1, 1}, {1, 1}, {0, 0}},
        {{17, 3, 10, 10}, {8, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}},
    };
    static const wg_kind kinds[] = {WG_KIND_F32, WG_KIND_F64, WG_KIND_BF16, WG_KIND_F16};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint32_t k = 0; k < 4; k++) {
            wg_tape *tape = wg_tape_new_kind(NULL, kinds[k]);
            wg_window window = {.size = {cases[i].filters[2], cases[i].filters[3]},
                                .step = {cases[i].step[0], cases[i].step[1]},
                                .dilation = {cases[i].dilation[0], cases[i].dilation[1]},
                                .pad = {cases[i].padding[0], cases[i].padding[0], cases[i].padding[1], cases[i].padding[1]}};
            wg_value image = sin_input(tape, kinds[k], 4, cases[i].image, 0.11),
                     filters = sin_input(tape, kinds[k], 4, cases[i].filters, 0.31);
            wg_value bias = sin_input(tape, kinds[k], 1, cases[i].filters, 0.7);
            wg_symbol root = wg_symbol_of(wg_conv2d_general(image, filters, bias, &window, 1));
            check(tape, &root, 1, 1, "a convolution");
        }
}

static void test_window_maxima(void **state)
{
    (void)state;
    static const struct {
        int64_t image[4], size, step, padding;
    } cases[] = {{{1, 2, 4, 4}, 2, 2, 0}, {{2, 3, 9, 11}, 3, 2, 0},  {{3, 1, 8, 8}, 3, 1, 1},
                 {{0, 2, 4, 4}, 2, 2, 0}, {{5, 7, 20, 12}, 2, 2, 0}, {{1, 1, 5, 5}, 5, 1, 2}};
    static const wg_kind kinds[] = {WG_KIND_F32, WG_KIND_F64, WG_KIND_F16};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint32_t k = 0; k < 3; k++) {
            wg_tape *tape = wg_tape_new_kind(NULL, kinds[k]);
            wg_window window = {.size = {cases[i].size, cases[i].size},
                                .step = {cases[i].step, cases[i].step},
                                .dilation = {1, 1},
                                .pad = {cases[i].padding, cases[i].padding, cases[i].padding, cases[i].padding}};
            wg_value image = sin_input(tape, kinds[k], 4, cases[i].image, 0.7);
            wg_value root_of_negative = wg_sqrt(image); /* NaNs where the sine is below zero */
            wg_symbol roots[2] = {wg_symbol_of(wg_max_pool_general(image, &window)),
                                  wg_symbol_of(wg_max_pool_general(root_of_negative, &window))};
            check(tape, roots, 2, 2, "a maximum over windows");
        }
}

static void test_batch_norm(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = sin_input(tape, WG_KIND_F32, 4, TEST_SHAPE(4, 3, 5, 6), 0.7), mean, variance;
    wg_value y = wg_batch_norm(x, sin_input(tape, WG_KIND_F32, 1, TEST_SHAPE(3), 1), sin_input(tape, WG_KIND_F32, 1, TEST_SHAPE(3), 2),
                               1e-5, &mean, &variance);
    wg_symbol roots[4] = {wg_symbol_of(wg_sum(wg_mul(y, wg_tanh(y)))), wg_symbol_of(mean), wg_symbol_of(variance), wg_symbol_of(y)};
    check(tape, roots, 4, 0, "batch norm");
}

/* Convolution, relu, pooling, a dense layer, cross entropy, and every gradient. */
static void test_a_training_step(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = sin_input(tape, WG_KIND_F32, 4, TEST_SHAPE(8, 1, 14, 14), 0.37);
    wg_value labels = wg_input(tape, test_tensor(WG_KIND_I64, 1, TEST_SHAPE(8), (double[]){0, 3, 9, 1, 1, 7, 2, 5}));
    wg_value filters = wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 4, TEST_SHAPE(6, 1, 3, 3), 0.9, 0.1, 0)),
             bias = wg_parameter(tape, test_tensor_fill(WG_KIND_F32, 1, TEST_SHAPE(6), 0));
    wg_value w = wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(216, 10), 0.21, 0.4, 0));
    wg_value pooled = wg_max_pool(wg_relu(wg_conv2d(x, filters, bias, 1, 0)), 2, 2);
    wg_value logits = wg_matmul(wg_reshape(pooled, 2, ((wg_size[]){{8, 0}, {216, 0}})), w), loss = wg_cross_entropy(logits, labels);
    wg_value wrt[3] = {filters, bias, w};
    wg_adjoints *adjoints = wg_differentiate(tape, loss, wrt, 3);
    if (!adjoints) fail_msg("%s", wg_tape_error(tape)->message);
    uint32_t count;
    wg_symbol roots[4];
    const wg_symbol *found = wg_adjoints_roots(adjoints, &count);
    assert_int_equal(count, 4);
    memcpy(roots, found, sizeof roots);
    wg_adjoints_free(&adjoints);
    wg_error error = {0};
    char why[2048] = "";
    wg_network *network = wg_tape_seal(&tape, &error);
    wg_entry *entry = wg_entry_new(network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = roots, .root_count = 4}, &error);
    if (!equivalence_holds(entry, NULL, why, sizeof why)) fail_msg("%s", why);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

/* ---- failures ---- */

static void assert_same_failure(wg_tape *tape, const wg_symbol *roots, uint32_t count)
{
    wg_error error = {0};
    char why[2048] = "";
    wg_network *network = wg_tape_seal(&tape, &error);
    wg_entry *entry = wg_entry_new(
        network, &(wg_entry_options){.size = sizeof(wg_entry_options), .name = "fails", .roots = roots, .root_count = count}, &error);
    assert_null(wg_interpret(entry, NULL, &error));
    assert_int_equal(error.code, WG_BOUNDS);
    if (!equivalence_holds(entry, NULL, why, sizeof why)) fail_msg("%s", why);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

static wg_value positions(wg_tape *tape, int64_t count, int64_t bad, int64_t value)
{
    wg_tensor *items = test_tensor_fill(WG_KIND_I64, 1, &count, 1);
    ((int64_t *)wg_tensor_data(items))[bad] = value;
    ((int64_t *)wg_tensor_data(items))[count - 1] = -7;
    return wg_input(tape, items);
}

static void test_the_first_failure_is_told(void **state)
{
    (void)state;
    for (int order = 0; order < 4; order++) {
        wg_tape *tape = wg_tape_new(NULL);
        wg_value data = sin_input(tape, WG_KIND_F32, 2, TEST_SHAPE(9, 30), 0.5);
        wg_value several[4];
        several[order] = wg_gather(data, positions(tape, 4000, 2000, 9), 0);
        several[(order + 1) % 4] =
            wg_scatter(sin_input(tape, WG_KIND_F32, 2, TEST_SHAPE(3000, 4), 0.2), positions(tape, 3000, 17, 12), 0, 12);
        several[(order + 2) % 4] =
            wg_slice(data, wg_input(tape, test_tensor(WG_KIND_I64, 0, NULL, (double[]){5})), 0, 0, wg_number(6), "error");
        several[(order + 3) % 4] = wg_where(wg_greater(data, 0), wg_number(20));
        wg_value sums[4];
        for (int i = 0; i < 4; i++) sums[i] = wg_sum(several[3 - i]);
        wg_symbol roots[4];
        for (int i = 0; i < 4; i++) roots[i] = wg_symbol_of(sums[i]);
        assert_same_failure(tape, roots, 4);
    }
}

static void test_each_failure_is_told(void **state)
{
    (void)state;
    for (int which = 0; which < 5; which++) {
        wg_tape *tape = wg_tape_new(NULL);
        wg_value data = sin_input(tape, WG_KIND_F32, 2, TEST_SHAPE(9, 30), 0.5);
        wg_value start = wg_input(tape, test_tensor(WG_KIND_I64, 1, TEST_SHAPE(9), (double[]){0, 1, 2, 3, 28, 5, -1, 0, 0}));
        wg_value failing = which == 0 ? wg_gather(data, positions(tape, 4000, 2000, 9), 0)
                           : which == 1
                               ? wg_scatter(sin_input(tape, WG_KIND_F32, 2, TEST_SHAPE(3000, 4), 0.2), positions(tape, 3000, 17, 12), 0, 12)
                           : which == 2 ? wg_slice(data, start, 1, 1, wg_number(6), "error")
                           : which == 3 ? wg_update(data, sin_input(tape, WG_KIND_F32, 2, TEST_SHAPE(9, 4), 0.2), start, 1, 1, "error")
                                        : wg_where(wg_greater(data, 0), wg_number(20));
        wg_symbol root = wg_symbol_of(failing);
        assert_same_failure(tape, &root, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window_products),
        cmocka_unit_test(test_window_maxima),
        cmocka_unit_test(test_batch_norm),
        cmocka_unit_test(test_a_training_step),
        cmocka_unit_test(test_the_first_failure_is_told),
        cmocka_unit_test(test_each_failure_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
