/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Compositions record the nodes of the golden dumps, carry expressions of extents, and fail at the line that records what does not fit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/graph.h"
#include "wengert/compose.h"
#include "wengert/run.h"

#define SHAPE(...) (const int64_t[]){__VA_ARGS__}
#define SIZES(...) (const wg_size[]){__VA_ARGS__}

static wg_tensor *filled(uint32_t rank, const int64_t *shape)
{
    wg_tensor *tensor = wg_tensor_fill(NULL, WG_KIND_F32, rank, shape, 0.5, NULL);
    assert_non_null(tensor);
    return tensor;
}

#define PARAMETER(tape, rank, ...) wg_parameter(tape, filled(rank, SHAPE(__VA_ARGS__)))
#define INPUT(tape, rank, ...) wg_input(tape, filled(rank, SHAPE(__VA_ARGS__)))

static char *read_golden(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/compose/data/%s.txt", TEST_DATA_DIR, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = malloc(1 << 16);
    size_t length = fread(text, 1, (1 << 16) - 1, file);
    fclose(file);
    text[length] = 0;
    return text;
}

/* The dump without its summary line is the golden file; the nodes hold what their rows say. */
static void expect_golden(wg_tape *tape, const char *name)
{
    assert_string_equal(wg_tape_error(tape)->message, "");
    char *dump = wg_tape_describe(tape), *golden = read_golden(name);
    char *summary = strstr(dump, "tape: ");
    assert_non_null(summary);
    *summary = 0;
    assert_string_equal(dump, golden);
    wg_text_free(dump);
    free(golden);
    wg_error error = {.code = WG_OK};
    wg_network *network = wg_tape_seal(&tape, &error);
    assert_non_null(network);
    assert_true(wg_network_verify(network, &error));
    wg_network_release(&network);
}

static void conv2d_with_padding_and_stride(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = INPUT(tape, 4, 2, 2, 5, 5), w = PARAMETER(tape, 4, 3, 2, 3, 3), b = PARAMETER(tape, 1, 3);
    wg_sum(wg_tanh(wg_conv2d(x, w, b, 2, 1)));
    expect_golden(tape, "conv_pad_stride");
}

static void convolution_relu_pool(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value image = INPUT(tape, 4, 1, 1, 6, 6), filters = PARAMETER(tape, 4, 2, 1, 3, 3), bias = PARAMETER(tape, 1, 2);
    wg_sum(wg_max_pool(wg_relu(wg_conv2d(image, filters, bias, 1, 0)), 2, 2));
    expect_golden(tape, "conv_pool");
}

static void overlapping_pool(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value y = wg_max_pool(INPUT(tape, 4, 1, 2, 5, 5), 3, 1);
    wg_sum(wg_mul(y, y));
    expect_golden(tape, "pool_overlap");
}

static void batch_norm_of_rows(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = INPUT(tape, 2, 4, 3), scale = PARAMETER(tape, 1, 3), shift = PARAMETER(tape, 1, 3), mean, variance;
    wg_value output = wg_batch_norm(x, scale, shift, 0.00001, &mean, &variance);
    wg_sum(wg_mul(output, wg_tanh(output)));
    assert_int_equal(mean.position, 6);
    assert_int_equal(variance.position, 12);
    expect_golden(tape, "batch_norm");
}

static void layer_norm_and_gelu(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = INPUT(tape, 2, 3, 4), scale = PARAMETER(tape, 1, 4), shift = PARAMETER(tape, 1, 4);
    wg_sum(wg_gelu(wg_layer_norm(x, scale, shift, 0.001)));
    expect_golden(tape, "layer_norm_gelu");
}

static void embedding_and_cross_entropy(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value table = PARAMETER(tape, 2, 5, 3);
    wg_value rows = wg_input_fill(tape, WG_KIND_I32, 1, SIZES({4, 0}), 1);
    wg_value position = PARAMETER(tape, 2, 4, 3);
    wg_value e = wg_add(wg_embedding(table, rows), position);
    wg_value out = PARAMETER(tape, 2, 3, 5);
    wg_value logits = wg_linear(e, out, WG_ABSENT);
    wg_cross_entropy(logits, INPUT(tape, 2, 4, 5));
    expect_golden(tape, "embedding_loss");
}

static void causal_attention_with_a_mask(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value q = PARAMETER(tape, 2, 4, 3), k = PARAMETER(tape, 2, 4, 3), v = PARAMETER(tape, 2, 4, 2);
    wg_value mask = wg_leaf(tape, filled(2, SHAPE(4, 4)));
    wg_value o = wg_attention(q, k, v, mask, 0.5);
    wg_sum(wg_mul(o, wg_leaf(tape, filled(2, SHAPE(4, 2)))));
    expect_golden(tape, "attention_causal");
}

static void spreading(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value a = PARAMETER(tape, 1, 3), b = PARAMETER(tape, 2, 2, 1), one = PARAMETER(tape, 2, 1, 1);
    wg_value s = wg_leaf(tape, filled(0, NULL)), x = INPUT(tape, 3, 2, 2, 3);
    const wg_size *whole = SIZES({2, 0}, {2, 0}, {3, 0});
    wg_value y = wg_add(x, wg_broadcast_to(a, 3, whole));
    y = wg_mul(y, wg_broadcast_to(b, 3, whole));
    y = wg_add(y, wg_broadcast_to(one, 3, whole));
    y = wg_mul(y, wg_broadcast_to(s, 3, whole));
    assert_int_equal(wg_broadcast_to(b, 2, SIZES({2, 0}, {1, 0})).position, b.position); /* nothing to do */
    wg_value t = wg_broadcast_to(wg_reshape(b, 3, SIZES({2, 0}, {1, 0}, {1, 0})), 3, SIZES({2, 0}, {2, 0}, {1, 0}));
    t = wg_reshape(wg_reshape(t, 2, SIZES({2, 0}, {2, 0})), 3, SIZES({2, 0}, {1, 0}, {2, 0}));
    t = wg_permute(wg_broadcast_to(t, 3, SIZES({2, 0}, {3, 0}, {2, 0})), ((const uint32_t[]){0, 2, 1}));
    y = wg_sub(y, t);
    wg_sum(wg_mul(y, y));
    expect_golden(tape, "broadcast_to");
}

/* The text of a value's shape with its expressions. */
static const char *sizes_of(wg_value value)
{
    static char text[256];
    base_string string = base_string_new(base_allocator(NULL));
    for (uint32_t axis = 0; axis < wg_value_rank(value); axis++) {
        if (axis) base_string_puts(&string, ", ");
        graph_size_print(value.tape, wg_value_size(value, axis), &string);
    }
    snprintf(text, sizeof text, "%s", string.text ? string.text : "");
    base_string_free(&string);
    return text;
}

static const graph_payload *payload_at(wg_tape *tape, uint32_t position)
{
    return graph_payload_of(tape, graph_node(tape, position));
}

static void counts_follow_their_extents(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_size n = wg_extent(tape, "n", 4);
    wg_value x = wg_input_required(tape, WG_KIND_F32, 4, SIZES(n, {2, 0}, {6, 0}, {6, 0}));
    wg_value y = wg_conv2d(x, PARAMETER(tape, 4, 3, 2, 3, 3), PARAMETER(tape, 1, 3), 1, 0);
    assert_string_equal(sizes_of(y), "n, 3, 4, 4");
    wg_value flat = wg_reshape(wg_max_pool(y, 2, 2), 2, SIZES(n, {12, 0}));
    assert_string_equal(sizes_of(flat), "n, 12");
    wg_value logits = wg_linear(flat, PARAMETER(tape, 2, 12, 5), PARAMETER(tape, 1, 5));
    wg_value loss = wg_cross_entropy(logits, wg_input_required(tape, WG_KIND_I64, 1, SIZES(n)));
    assert_string_equal(wg_tape_error(tape)->message, "");
    const graph_payload *count = payload_at(tape, loss.position - 1);
    assert_int_equal(count->form, GRAPH_PAYLOAD_SIZE);
    assert_int_equal(count->size.number, 4);
    wg_value norm = wg_batch_norm(y, PARAMETER(tape, 1, 3), PARAMETER(tape, 1, 3), 1e-5, NULL, NULL);
    assert_string_equal(sizes_of(norm), "n, 3, 4, 4");
    wg_value mean = wg_mean(x);
    base_string text = base_string_new(base_allocator(NULL));
    graph_size_print(tape, payload_at(tape, mean.position - 1)->size, &text);
    assert_string_equal(text.text, "72*n");
    base_string_free(&text);
    /* An axis that is 1 by today's binding is no axis of extent 1. */
    wg_size m = wg_extent(tape, "m", 1);
    wg_value row = wg_broadcast_to(PARAMETER(tape, 2, 1, 3), 2, SIZES(m, {3, 0}));
    assert_string_equal(sizes_of(row), "m, 3");
    assert_string_equal(sizes_of(wg_causal_attention(wg_input_fill(tape, WG_KIND_F32, 3, SIZES({2, 0}, n, {3, 0}), 1),
                                                     wg_input_fill(tape, WG_KIND_F32, 3, SIZES({2, 0}, n, {3, 0}), 1),
                                                     wg_input_fill(tape, WG_KIND_F32, 3, SIZES({2, 0}, n, {2, 0}), 1), 1)),
                        "2, n, 2");
    assert_string_equal(wg_tape_error(tape)->message, "");
    wg_tape_free(&tape);
}

static void grouped_convolution_has_its_shape(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_window window = {.step = {3, 2}, .dilation = {1, 3}, .pad = {0, 1, 2, 0}};
    wg_value y = wg_conv2d_general(INPUT(tape, 4, 2, 4, 8, 9), PARAMETER(tape, 4, 6, 2, 3, 2), WG_ABSENT, &window, 2);
    assert_string_equal(wg_tape_error(tape)->message, "");
    assert_string_equal(sizes_of(y), "2, 6, 3, 4");
    wg_tape_free(&tape);
}

/* ---- values ---- */

/* The items of a value of the sealed tape, f32 [at most 16]; answers how many. `n` binds the extent of that name where it is not 0. */
static int64_t values_of(wg_tape **tape, wg_value value, int64_t n, float *items)
{
    wg_error error;
    wg_error_clear(&error);
    wg_symbol root = wg_symbol_of(value);
    wg_network *network = wg_tape_seal(tape, &error);
    if (!network) fail_msg("%s", error.message);
    wg_entry_options declared = {.size = sizeof declared, .roots = &root, .root_count = 1};
    wg_entry *entry = wg_entry_new(network, &declared, &error);
    wg_binding binding = {"n", n};
    wg_run_options options = {.size = sizeof options, .bindings = &binding, .binding_count = n != 0};
    wg_run *run = wg_interpret(entry, &options, &error);
    if (!run) fail_msg("%s", error.message);
    const wg_tensor *result = wg_run_of(run, root, &error);
    int64_t count = wg_tensor_volume(result);
    assert_true(count <= 16);
    memcpy(items, wg_tensor_data(result), (size_t)count * sizeof *items);
    wg_run_free(&run);
    wg_entry_free(&entry);
    wg_network_release(&network);
    return count;
}

static void a_masked_row_is_zeros(void **state)
{
    (void)state;
    static const float scores[] = {-INFINITY, -INFINITY, -INFINITY, 0, 0, -INFINITY, 3, 3, 3};
    static const float expected[] = {0, 0, 0, 0.5f, 0.5f, 0, 1.0f / 3, 1.0f / 3, 1.0f / 3};
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = wg_leaf(tape, wg_tensor_new(NULL, WG_KIND_F32, 2, SHAPE(3, 3), scores, NULL));
    float items[16];
    assert_int_equal(values_of(&tape, wg_softmax(x, 1), 0, items), 9);
    assert_memory_equal(items, expected, sizeof expected);
}

static void means_follow_a_binding(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= 5; n += 2) {
        wg_tape *tape = wg_tape_new(NULL);
        wg_value x = wg_iota(tape, WG_KIND_F32, 1, SIZES(wg_extent(tape, "n", 4)), 0);
        float items[16];
        assert_int_equal(values_of(&tape, wg_mean(x), n, items), 1);
        assert_true(items[0] == (float)(n - 1) / 2);
    }
}

static void later_positions_are_hidden(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_size square[] = {{3, 0}, {3, 0}};
    wg_value q = wg_leaf_fill(tape, WG_KIND_F32, 2, square, 0), v = wg_iota(tape, WG_KIND_F32, 2, square, 0);
    float items[16];
    assert_int_equal(values_of(&tape, wg_causal_attention(q, q, v, 1), 0, items), 9);
    for (int i = 0; i < 9; i++) assert_true(fabsf(items[i] - (float)(i / 3) / 2) < 1e-6f); /* the mean of 0 .. row */
}

/* Each call fails with its message, answers poison, and the tape stays at its first error. */
#define EXPECT_FAILURE(message_text, setup, call)                     \
    do {                                                              \
        wg_tape *tape = wg_tape_new(NULL);                            \
        setup;                                                        \
        wg_value failed = call;                                       \
        assert_true(wg_is_poison(failed));                            \
        assert_string_equal(wg_tape_error(tape)->message, message_text); \
        assert_true(wg_tape_error(tape)->line > 0);                    \
        assert_true(wg_is_poison(wg_relu(failed)));                   \
        wg_tape_free(&tape);                                          \
    } while (0)

static void failures_name_both_shapes(void **state)
{
    (void)state;
    EXPECT_FAILURE("broadcast_to cannot spread [3] to [2, 4]: from the right, each axis must be equal or 1", wg_value a = INPUT(tape, 1, 3),
                   wg_broadcast_to(a, 2, SIZES({2, 0}, {4, 0})));
    EXPECT_FAILURE("transpose needs at least two axes: [3] has 1", wg_value a = INPUT(tape, 1, 3), wg_transpose(a));
    EXPECT_FAILURE("conv2d takes images [n, c, h, w], not [3]", wg_value a = INPUT(tape, 1, 3), wg_conv2d(a, a, WG_ABSENT, 1, 0));
    EXPECT_FAILURE("conv2d cannot apply filters [2, 2, 1, 1] to images [1, 3, 4, 4] in 1 group: the filters' channels must be the images' / "
                   "groups",
                   wg_value a = INPUT(tape, 4, 1, 3, 4, 4);
                   wg_value f = INPUT(tape, 4, 2, 2, 1, 1), wg_conv2d(a, f, WG_ABSENT, 1, 0));
    EXPECT_FAILURE("padding may not be below 0 nor beyond 64 bits", wg_value a = INPUT(tape, 4, 1, 2, 4, 4),
                   wg_conv2d(a, a, WG_ABSENT, 1, -1));
    EXPECT_FAILURE("max_pool needs a window of at least 1 by 1 and at most 65536 positions", wg_value a = INPUT(tape, 4, 1, 2, 4, 4),
                   wg_max_pool(a, 0, 1));
    EXPECT_FAILURE("unfold: a window of 5 positions does not fit an axis of 4", wg_value a = INPUT(tape, 4, 1, 2, 4, 4),
                   wg_max_pool(a, 5, 1));
    EXPECT_FAILURE("batch_norm takes [n, c] or [n, c, h, w], not [3]", wg_value a = INPUT(tape, 1, 3),
                   wg_batch_norm(a, a, a, 1e-5, NULL, NULL));
    EXPECT_FAILURE("a norm takes vectors [3], a number for each position of axis 1, not [2]",
                   wg_value a = INPUT(tape, 2, 4, 3); wg_value b = INPUT(tape, 1, 2), wg_layer_norm(a, b, b, 1e-5));
    EXPECT_FAILURE("layer_norm needs at least one axis: [] has none", wg_value a = wg_leaf(tape, filled(0, NULL)),
                   wg_layer_norm(a, a, a, 1e-5));
    EXPECT_FAILURE("linear takes x [.., i] and w [i, o], not [2, 3] and [3]", wg_value a = INPUT(tape, 2, 2, 3);
                   wg_value w = INPUT(tape, 1, 3), wg_linear(a, w, WG_ABSENT));
    EXPECT_FAILURE("cross_entropy takes logits [n, c] and targets [n, c] of floats, not [2, 3] and [3]", wg_value a = INPUT(tape, 2, 2, 3);
                   wg_value t = INPUT(tape, 1, 3), wg_cross_entropy(a, t));
    EXPECT_FAILURE("reduce has no axis 2 in [2, 3]", wg_value a = INPUT(tape, 2, 2, 3), wg_softmax(a, 2));
    EXPECT_FAILURE("dropout's rate must be at least 0 and below 1", wg_value a = INPUT(tape, 1, 3), wg_dropout(a, a, 1));
    EXPECT_FAILURE("gather needs positions of kind i64 or i32, not u8", wg_value a = INPUT(tape, 2, 2, 3);
                   wg_value t = wg_input_fill(tape, WG_KIND_U8, 1, SIZES({2, 0}), 0), wg_cross_entropy(a, t));
}

static wg_error heard;
static int told;

static void hear(void *user, const wg_error *error)
{
    (void)user;
    told++;
    heard = *error;
}

/* The hook hears of a failure inside a composition once, with the line of the composition's caller. */
static void the_hook_hears_the_callers_line(void **state)
{
    (void)state;
    wg_context_options options = {.size = sizeof options, .hook = hear};
    wg_context *context = wg_context_new(&options, NULL);
    wg_tape *tape = wg_tape_new(context);
    wg_value x = INPUT(tape, 2, 2, 3);
    int line = __LINE__ + 1;
    wg_softmax(x, 2);
    assert_int_equal(told, 1);
    assert_int_equal(heard.line, line);
    assert_string_equal(heard.message, "reduce has no axis 2 in [2, 3]");
    wg_tape_free(&tape);
    /* Without places: when the tape is sealed. */
    told = 0;
    tape = wg_tape_new(context);
    x = INPUT(tape, 2, 2, 3);
    (wg_softmax)(x, 2);
    assert_int_equal(told, 0);
    assert_null(wg_tape_seal(&tape, NULL));
    assert_int_equal(told, 1);
    wg_context_free(context);
}

/* Poison goes through every composition without an error of its own and without a read beyond a shape. */
static void poison_is_quiet(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value p = wg_add(INPUT(tape, 1, 3), INPUT(tape, 1, 4));
    char first[640];
    snprintf(first, sizeof first, "%s", wg_tape_error(tape)->message);
    wg_window window = {.size = {2, 2}};
    const wg_value results[] = {
        wg_transpose(p), wg_broadcast_to(p, 1, SIZES({3, 0})), wg_fill_like(p, 1), wg_one_hot(p, 3, WG_KIND_F32), wg_relu(p),
            wg_leaky_relu(p, 0.1),
        wg_sigmoid(p), wg_silu(p), wg_gelu(p), wg_gelu_tanh(p), wg_softplus(p), wg_elu(p, 1), wg_softmax(p, 0), wg_mean(p),
            wg_mean_along(p, 0),
        wg_variance_along(p, 0), wg_max_along(p, 0), wg_min_along(p, 0), wg_layer_norm(p, p, p, 1e-5), wg_rms_norm(p, p, 1e-5),
        wg_batch_norm(p, p, p, 1e-5, NULL, NULL), wg_batch_norm_inference(p, p, p, p, p, 1e-5), wg_conv2d(p, p, p, 1, 0),
        wg_conv2d_general(p, p, p, &window, 1), wg_max_pool(p, 2, 2), wg_max_pool_general(p, &window), wg_avg_pool(p, 2, 2),
        wg_avg_pool_general(p, &window), wg_linear(p, p, p), wg_embedding(p, p), wg_attention(p, p, p, p, 1),
            wg_causal_attention(p, p, p, 1),
        wg_cross_entropy(p, p), wg_mean_squared_error(p, p), wg_binary_cross_entropy(p, p), wg_dropout(p, p, 0.5),
        wg_inverse(p), wg_pseudo_inverse(p), wg_matrix_power(p, 2), wg_trace(p), wg_outer(p, p), wg_spectral_norm(p)};
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) assert_true(wg_is_poison(results[i]));
    assert_string_equal(wg_tape_error(tape)->message, first);
    assert_int_equal(wg_tape_count(tape), 2);
    wg_tape_free(&tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conv2d_with_padding_and_stride),
        cmocka_unit_test(convolution_relu_pool),
        cmocka_unit_test(overlapping_pool),
        cmocka_unit_test(batch_norm_of_rows),
        cmocka_unit_test(layer_norm_and_gelu),
        cmocka_unit_test(embedding_and_cross_entropy),
        cmocka_unit_test(causal_attention_with_a_mask),
        cmocka_unit_test(spreading),
        cmocka_unit_test(counts_follow_their_extents),
        cmocka_unit_test(grouped_convolution_has_its_shape),
        cmocka_unit_test(a_masked_row_is_zeros),
        cmocka_unit_test(means_follow_a_binding),
        cmocka_unit_test(later_positions_are_hidden),
        cmocka_unit_test(failures_name_both_shapes),
        cmocka_unit_test(the_hook_hears_the_callers_line),
        cmocka_unit_test(poison_is_quiet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
