/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Stages and layouts as data: what is virtual, copied, grouped, kept; arenas near the largest set; refilling at other extents; shapes that
 * do not fit. */
#define _DEFAULT_SOURCE /* strsep */
#include "by_hand.h"
#include "recorded.h"

#include "plan/plan.h"
#include "support/tensors.h"
#include "training.h"
#include "wengert/ops.h"

static wg_network *seal(wg_tape *tape)
{
    wg_error error = {0};
    wg_network *network = wg_tape_seal(&tape, &error);
    if (!network) fail_msg("%s", error.message);
    return network;
}

/* The plan of one root; consumes the network's reference. */
static wg_plan *plan_root(wg_network *network, uint32_t root, bool retain)
{
    wg_entry *entry = recorded_entry(network, &root, 1, NULL, 0, retain);
    wg_error error = {0};
    wg_plan *plan = plan_new(entry, NULL, 0, NULL, &error);
    if (!plan || !plan_verify(plan, &plan->layout, &error)) fail_msg("%s", error.message);
    wg_entry_free(&entry);
    wg_network_release(&network);
    return plan;
}

static plan_storage storage_of(const wg_plan *plan, wg_value value)
{
    return (plan_storage)plan->storage[plan->index[value.position]];
}

/* 1 - x */
static wg_value one_less(wg_value x)
{
    return wg_add(wg_neg(x), 1.0);
}

/* ---- stages ---- */

/* Unfold, Permute, Reshape before a product that the catalogue does not know: the reshape is one copy, read through the other two. */
static void unfolded_copy(void **state)
{
    static const uint32_t order[] = {0, 2, 1, 3};
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 3, TEST_SHAPE(2, 3, 8), 1, 0, 0));
    wg_value w = wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(9, 4), 1, 0, 0));
    wg_value unfolded = wg_unfold(x, 2, wg_number(3), 1, 1), windows = wg_permute(unfolded, order);
    wg_size shape[] = {{12, 0}, {9, 0}};
    wg_value matrix = wg_reshape(windows, 2, shape), product = wg_matmul(matrix, w);
    wg_plan *plan = plan_root(seal(tape), product.position, false);
    assert_int_equal(storage_of(plan, unfolded), PLAN_VIRTUAL);
    assert_int_equal(storage_of(plan, windows), PLAN_VIRTUAL);
    assert_int_equal(storage_of(plan, matrix), PLAN_STORED);
    assert_int_equal(plan->stage_count, 2);
    assert_int_equal(plan->stages[0].kind, PLAN_STAGE_MAP);
    assert_int_equal(plan->stages[0].instruction_count, 0);
    assert_int_equal(plan->stages[0].reads[0].node, windows.position);
    assert_int_equal(plan->stages[0].reads[0].source, x.position);
    const plan_map *map = &plan->layout.maps[0][0];
    const int64_t strides[] = {24, 1, 8, 1};
    assert_memory_equal(map->strides, strides, sizeof strides);
    wg_plan_release(&plan);
}

/* Transposed operands of a product are followed by strides; a reshape that joins axes in their order stays a view, one that tears them does
 * not. */
static void views_into_products(void **state)
{
    static const uint32_t last[] = {1, 2, 3, 0}, swap[] = {1, 0};
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value filters = wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 4, TEST_SHAPE(5, 2, 3, 3), 1, 0, 0));
    wg_value x = wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(18, 7), 1, 0, 0));
    wg_size joined_shape[] = {{18, 0}, {5, 0}}, torn_shape[] = {{9, 0}, {10, 0}};
    wg_value turned = wg_permute(filters, last), joined = wg_reshape(turned, 2, joined_shape), torn = wg_reshape(turned, 2, torn_shape);
    wg_value product = wg_matmul(wg_permute(x, swap), joined);
    wg_value root = wg_add(wg_sum(product), wg_sum(wg_matmul(torn, wg_permute(torn, swap))));
    wg_plan *plan = plan_root(seal(tape), root.position, false);
    assert_int_equal(storage_of(plan, turned), PLAN_VIRTUAL);
    assert_int_equal(storage_of(plan, joined), PLAN_VIRTUAL);
    assert_int_equal(storage_of(plan, torn), PLAN_STORED);
    plan_map map;
    uint32_t source;
    assert_true(plan_view(plan, &plan->layout, joined.position, &map, &source));
    assert_int_equal(source, filters.position);
    assert_int_equal(map.strides[0], 1);
    assert_int_equal(map.strides[1], 18);
    wg_plan_release(&plan);
}

/* A reshape that is a view at the recorded lengths alone is copied. */
static void views_by_length(void **state)
{
    static const uint32_t swap[] = {1, 0, 2};
    (void)state;
    for (int named = 0; named < 2; named++) {
        wg_tape *tape = wg_tape_new(NULL);
        wg_size n = named ? wg_extent(tape, "n", 1) : wg_number(1), shape[] = {{3, 0}, n, {4, 0}},
                flat[] = {wg_size_multiply(tape, n, wg_number(3)), {4, 0}};
        wg_value x = wg_parameter_fill(tape, WG_KIND_F32, 3, shape, 1), turned = wg_permute(x, swap),
                 joined = (wg_reshape)(turned, 2, flat);
        wg_value root = wg_neg(joined);
        wg_plan *plan = plan_root(seal(tape), root.position, false);
        assert_int_equal(storage_of(plan, joined), named ? PLAN_STORED : PLAN_VIRTUAL);
        wg_plan_release(&plan);
    }
}

/* Halves are widened by the products that read them, turned or not; what anything else reads, or may be read, is converted. */
static void widened_by_products(void **state)
{
    (void)state;
    const wg_size shape[] = {{6, 0}, {6, 0}};
    for (int other = 0; other < 3; other++) {
        wg_tape *tape = wg_tape_new(NULL);
        wg_value x = wg_parameter_fill(tape, WG_KIND_F32, 2, shape, 1), w = wg_parameter_fill(tape, WG_KIND_F16, 2, shape, 1);
        wg_value wide = wg_convert(w, WG_KIND_F32), first = wg_matmul(x, wide), root = wg_matmul(first, wg_transpose(wide));
        if (other == 1) root = wg_add(root, wide);
        if (other == 2) root = wg_matmul(root, (wg_reshape)(wg_transpose(wide), 2, shape));
        wg_plan *plan = plan_root(seal(tape), root.position, false);
        assert_int_equal(storage_of(plan, wide), other ? PLAN_STORED : PLAN_VIRTUAL);
        wg_plan_release(&plan);
    }
}

/* Elementwise rows over one shape are one stage, with the product whose value they read; what only a late reader needs stands with it; a register is written where it is read
 * elsewhere. */
static void groups(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(6, 6), 1, 0, 0));
    wg_value hidden = wg_tanh(wg_add(wg_matmul(x, x), x)), slope = one_less(wg_mul(hidden, hidden));
    wg_value product = wg_matmul(hidden, x), back = wg_mul(product, slope);
    wg_plan *plan = plan_root(seal(tape), back.position, false);
    assert_int_equal(plan->stage_count, 2);
    assert_int_equal(storage_of(plan, product), PLAN_REGISTER);
    assert_int_equal(storage_of(plan, slope), PLAN_REGISTER);
    assert_int_equal(storage_of(plan, hidden), PLAN_STORED);
    assert_int_equal(plan->stages[1].kind, PLAN_STAGE_PRODUCT);
    assert_int_equal(plan->stages[1].node_count, 5);
    wg_plan_release(&plan);
}

/* A Reshape that leaves items in their order parts no rows, nor a product from them; one of a transpose does, and so does a fold, whose rows
 * have axes. */
static void groups_through_reshapes(void **state)
{
    (void)state;
    const wg_size apart[] = {{2, 0}, {3, 0}, {8, 0}};
    const uint32_t stages[] = {1, 3, 1, 2};
    for (int way = 0; way < 4; way++) {
        wg_tape *tape = wg_tape_new(NULL);
        wg_value x = wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(6, 8), 1, 0, 0));
        wg_value w = wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(8, 8), 1, 0, 0));
        wg_value h = wg_add(wg_matmul(x, w), x), y = way == 1 ? wg_permute(wg_mul(h, h), (uint32_t[]){1, 0}) : h;
        wg_value root = wg_gelu_tanh((wg_reshape)(y, 3, apart));
        if (way == 2) root = wg_mul((wg_reshape)(wg_mul(root, root), 2, (wg_size[]){{6, 0}, {8, 0}}), x);
        if (way == 3) root = wg_sub(root, wg_broadcast_along(wg_sum_along(root, 2), 2, wg_number(8)));
        wg_plan *plan = plan_root(seal(tape), root.position, false);
        assert_int_equal(plan->stage_count, stages[way]);
        assert_int_equal(plan->stages[0].kind, PLAN_STAGE_PRODUCT);
        assert_int_equal(storage_of(plan, h), way == 3 ? PLAN_STORED : PLAN_REGISTER);
        wg_plan_release(&plan);
    }
}

/* What a derivative reads of a function's inside is computed where it is read, of what is read there anyway: a square, but no tanh. */
static void computed_twice(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(6, 8), 1, 0, 0));
    wg_value square = wg_mul(x, x), curve = wg_tanh(wg_mul(square, x)), above = wg_add(curve, 1.0);
    wg_value turned = wg_matmul(wg_permute(wg_mul(above, square), (uint32_t[]){1, 0}), x); /* the stages part here */
    wg_value root = wg_mul(wg_sum(turned), wg_sum(wg_mul(wg_mul(x, above), wg_mul(curve, square))));
    wg_plan *plan = plan_root(seal(tape), root.position, false);
    assert_int_equal(storage_of(plan, above), PLAN_REGISTER);
    assert_int_equal(storage_of(plan, square), PLAN_REGISTER);
    base_string why = base_string_new(plan->allocator);
    for (uint32_t s = 0; s < plan->stage_count; s++) plan_stage_reasons(plan, &plan->layout, s, &why);
    assert_non_null(strstr(why.text, "Add, as stage 1 does: cheaper than storing it"));
    assert_non_null(strstr(why.text, "Mul, as stage 0 does: cheaper than storing it"));
    base_string_free(&why);
    wg_plan_release(&plan);
}

/* Retain stores what derivative terms read, to the end. */
static void retained(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 1, TEST_SHAPE(6), 1, 0, 0));
    wg_value sum = wg_add(x, x), y = wg_tanh(sum), product = wg_mul(y, y), root = wg_sum(product);
    wg_plan *plan = plan_root(seal(tape), root.position, true);
    assert_int_equal(storage_of(plan, sum), PLAN_REGISTER);
    assert_int_equal(storage_of(plan, y), PLAN_STORED);
    assert_true(plan->lasts[plan->index[y.position]]);
    assert_false(plan->lasts[plan->index[product.position]]);
    assert_int_equal(plan->layout.buffers[plan->layout.buffer_of[plan->index[y.position]]].last, plan->stage_count);
    wg_plan_release(&plan);
}

/* A chain of steps, each a stage of its own, lives in two buffers' room; in place in one. */
static void in_place(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(16, 16), 1, 0, 0)), y = x;
    for (uint32_t i = 0; i < 12; i++) y = wg_tanh(wg_matmul(y, x));
    wg_plan *plan = plan_root(seal(tape), y.position, false);
    assert_int_equal(plan->layout.arena_bytes, 2 * 1024);
    assert_int_equal(plan->layout.largest_bytes, 2 * 1024);
    assert_int_equal(plan->layout.bound_bytes, 2 * 1024);
    wg_plan_release(&plan);
}

/* What a later instruction reads is not written over by an earlier one, nor what a later pass makes again. */
static void read_again(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(16, 16), 1, 0, 0));
    wg_value product = wg_matmul(x, x), sorted = wg_sort(product, 1, false), first = wg_tanh(sorted), second = wg_mul(first, sorted);
    wg_value root = wg_matmul(first, second);
    wg_plan *plan = plan_root(seal(tape), root.position, false);
    assert_int_equal(storage_of(plan, first), PLAN_STORED);
    assert_int_equal(storage_of(plan, second), PLAN_STORED);
    const plan_buffer *buffers = plan->layout.buffers;
    uint32_t one = plan->layout.buffer_of[plan->index[first.position]], two = plan->layout.buffer_of[plan->index[second.position]];
    uint32_t old = plan->layout.buffer_of[plan->index[sorted.position]];
    assert_int_equal(buffers[one].alias, WG_NONE);
    assert_int_equal(buffers[two].alias, old);
    wg_plan_release(&plan);

    tape = wg_tape_new(NULL);
    x = wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(16, 16), 1, 0, 0));
    wg_value y = wg_tanh(wg_sort(x, 1, false)), z = wg_sub(y, wg_broadcast_along(wg_max_along(y, 1), 1, 16));
    root = wg_matmul(y, z);
    plan = plan_root(seal(tape), root.position, false);
    if (storage_of(plan, y) == PLAN_STORED) assert_int_equal(plan->layout.buffers[plan->layout.buffer_of[plan->index[y.position]]].alias, WG_NONE);
    wg_plan_release(&plan);
}

/* A part of a value that takes as many bytes once widened is not written over the value: its later items would be gone before they are read. */
static void widened_part(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = wg_input(tape, test_tensor_sin(WG_KIND_I32, 1, TEST_SHAPE(8), 9, 0, 0));
    wg_value twice = wg_reshape(wg_broadcast_along(x, 1, 2), 1, (wg_size[]){wg_number(16)});
    wg_value part = wg_convert(wg_narrow(twice, 0, 0, 8), WG_KIND_I64), root = wg_reverse(part, 0);
    wg_plan *plan = plan_root(seal(tape), root.position, false);
    assert_int_equal(storage_of(plan, part), PLAN_STORED);
    assert_int_equal(plan->layout.buffers[plan->layout.buffer_of[plan->index[part.position]]].alias, WG_NONE);
    wg_plan_release(&plan);
}

/* ---- carries ---- */

/* A carried result is a result even where it is no root. */
static void carries(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value h = wg_input(tape, test_tensor_fill(WG_KIND_F32, 1, TEST_SHAPE(4), 0)), next = wg_tanh(wg_add(h, 1.0)), root = wg_sum(next);
    wg_symbol roots[] = {wg_symbol_of(root)};
    wg_carry carry = {wg_symbol_of(next), wg_symbol_of(h)};
    wg_network *network = seal(tape);
    wg_entry_options options = {.size = sizeof options, .roots = roots, .root_count = 1, .carries = &carry, .carry_count = 1};
    wg_entry *entry = wg_entry_new(network, &options, NULL);
    wg_plan *plan = plan_new(entry, NULL, 0, NULL, NULL);
    assert_non_null(plan);
    assert_int_equal(plan->entry.keep_count, 2);
    const plan_buffer *buffer = &plan->layout.buffers[plan->layout.buffer_of[plan->index[next.position]]];
    assert_int_equal(buffer->last, plan->stage_count);
    assert_int_equal(buffer->place, PLAN_PLACE_ARENA);
    assert_true(plan_verify(plan, &plan->layout, NULL));
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

/* ---- the arena ---- */

/* A chain of layers and its backward pass written out: forward values live on to their backward stages. */
static wg_value layers_and_back(wg_tape *tape, uint32_t layers)
{
    static const uint32_t swap[] = {1, 0};
    wg_value inputs[64], outputs[64], weights[64], x = wg_input(tape, test_tensor_fill(WG_KIND_F32, 2, TEST_SHAPE(64, 96), 0.5));
    for (uint32_t i = 0; i < layers; i++) {
        int64_t from = wg_value_shape(x)[1], to = 32 + 48 * (int64_t)(i % 5);
        inputs[i] = x;
        weights[i] = wg_parameter(tape, test_tensor_fill(WG_KIND_F32, 2, TEST_SHAPE(from, to), 0.01));
        outputs[i] = x = wg_tanh(wg_matmul(x, weights[i]));
    }
    wg_value g = wg_mul(x, 2.0), total = wg_sum(wg_mul(x, x));
    for (uint32_t i = layers; i-- > 0;) {
        g = wg_mul(g, one_less(wg_mul(outputs[i], outputs[i])));
        total = wg_add(total, wg_sum(wg_matmul(wg_permute(inputs[i], swap), g)));
        g = wg_matmul(g, wg_permute(weights[i], swap));
    }
    return total;
}

static void assert_tight(const wg_plan *plan, const char *what)
{
    wg_plan_figures f;
    wg_plan_figures_of(plan, &f);
    assert_true(f.bound_bytes <= f.largest_bytes && f.largest_bytes <= f.arena_bytes);
    if ((double)f.arena_bytes > 1.15 * (double)f.largest_bytes)
        fail_msg("%s: arena %lld, largest set %lld", what, (long long)f.arena_bytes, (long long)f.largest_bytes);
}

static void arena_is_tight(void **state)
{
    (void)state;
    for (uint32_t layers = 2; layers <= 48; layers += 7) {
        wg_tape *tape = wg_tape_new(NULL);
        wg_value total = layers_and_back(tape, layers);
        wg_plan *plan = plan_root(seal(tape), total.position, false);
        assert_tight(plan, "layers");
        wg_plan_release(&plan);
    }
    for (uint32_t channels = 4; channels <= 32; channels *= 2) {
        wg_tape *tape = wg_tape_new(NULL);
        uint32_t roots[8], count = training_step(tape, 64, 28, channels, roots);
        wg_network *network = seal(tape);
        wg_entry *entry = recorded_entry(network, roots, count, NULL, 0, false);
        wg_error error = {0};
        wg_plan *plan = plan_new(entry, NULL, 0, NULL, &error);
        if (!plan || !plan_verify(plan, &plan->layout, &error)) fail_msg("%s", error.message);
        assert_tight(plan, "a convolutional training step");
        assert_true(plan->layout.arena_bytes < plan->licence.retain_all); /* a quarter of keeping every item of f32 */
        wg_plan_release(&plan);
        wg_entry_free(&entry);
        wg_network_release(&network);
    }
}

/* ---- refilling ---- */

static wg_value with_extents(wg_tape *tape)
{
    static const uint32_t swap[] = {1, 0};
    wg_size batch = wg_extent(tape, "batch", 8), width = wg_extent(tape, "width", 6), both[] = {batch, width},
            list[] = {wg_size_multiply(tape, batch, width)};
    wg_value x = wg_input_fill(tape, WG_KIND_F32, 2, both, 1),
             w = wg_parameter(tape, test_tensor_fill(WG_KIND_F32, 2, TEST_SHAPE(3, 3), 0.5));
    wg_value narrow = (wg_narrow)(x, 1, wg_size_subtract(tape, width, wg_number(3)), wg_number(3)), y = wg_tanh(wg_matmul(narrow, w));
    wg_value tall = (wg_reshape)(wg_permute(x, swap), 1, list), sums = wg_sum(wg_mul(tall, tall));
    return wg_add(wg_sum(wg_matmul(wg_permute(y, swap), y)),
                  wg_add(sums, wg_sum((wg_pad)(x, 0, wg_number(1), wg_size_add(tape, batch, wg_number(2)), 0.5))));
}

static void assert_same_layout(const wg_plan *plan, const plan_layout *a, const plan_layout *b)
{
    assert_int_equal(a->arena_bytes, b->arena_bytes);
    assert_int_equal(a->largest_bytes, b->largest_bytes);
    assert_int_equal(a->bound_bytes, b->bound_bytes);
    assert_int_equal(a->buffer_count, b->buffer_count);
    for (uint32_t i = 0; i < a->buffer_count; i++) {
        const plan_buffer *x = &a->buffers[i], *y = &b->buffers[i];
        assert_true(x->node == y->node && x->place == y->place && x->offset == y->offset && x->bytes == y->bytes && x->first == y->first &&
                    x->last == y->last && x->alias == y->alias);
    }
    for (uint32_t s = 0; s < plan->stage_count; s++)
        for (uint32_t r = 0; r < plan->stages[s].read_count; r++) {
            uint32_t rank = graph_node(plan->graph, plan->stages[s].reads[r].node)->rank;
            assert_int_equal(a->maps[s][r].offset, b->maps[s][r].offset);
            if (rank) assert_memory_equal(a->maps[s][r].strides, b->maps[s][r].strides, rank * sizeof(int64_t));
        }
}

/* A layout of the first plan for other extents is that of a plan made for them. */
static void refill(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    uint32_t root = with_extents(tape).position;
    wg_network *network = seal(tape);
    wg_entry *entry = recorded_entry(network, &root, 1, NULL, 0, false);
    wg_plan *plan = plan_new(entry, NULL, 0, NULL, NULL);
    assert_non_null(plan);
    int64_t before = -1;
    for (int64_t batch = 0; batch < 40; batch += 3)
        for (int64_t width = 3; width < 20; width += 4) {
            const wg_binding bindings[] = {{"width", width}, {"batch", batch}};
            wg_error error = {0};
            plan_layout layout;
            if (!plan_layout_make(plan, bindings, 2, &layout, &error) || !plan_verify(plan, &layout, &error)) fail_msg("%s", error.message);
            wg_plan *fresh = plan_new(entry, bindings, 2, NULL, &error);
            if (!fresh) fail_msg("%s", error.message);
            assert_same_layout(plan, &layout, &fresh->layout);
            assert_int_equal(layout.volumes[plan->index[0]], batch * width);
            if (width == 3) {
                assert_true(layout.arena_bytes >= before);
                before = layout.arena_bytes;
            }
            wg_plan_release(&fresh);
            plan_layout_free(&layout);
        }
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

static void expect_refused(const wg_plan *plan, const wg_binding *bindings, uint32_t count, wg_code code, const char *part)
{
    wg_error error = {0};
    plan_layout layout;
    assert_false(plan_layout_make(plan, bindings, count, &layout, &error));
    assert_int_equal(error.code, code);
    if (!strstr(error.message, part)) fail_msg("`%s` does not say `%s`", error.message, part);
    plan_layout_free(&layout); /* nothing is held, freeing is allowed */
}

static void refusals(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    uint32_t root = with_extents(tape).position;
    wg_plan *plan = plan_root(seal(tape), root, false);
    expect_refused(plan, (wg_binding[]){{"width", 2}}, 1, WG_SIZE, "node 2");
    expect_refused(plan, (wg_binding[]){{"depth", 2}}, 1, WG_NAME, "depth");
    expect_refused(plan, (wg_binding[]){{"batch", 2}, {"batch", 2}}, 2, WG_NAME, "twice");
    expect_refused(plan, (wg_binding[]){{"batch", -1}}, 1, WG_ARGUMENT, "-1");
    expect_refused(plan, (wg_binding[]){{"batch", INT64_MAX}}, 1, WG_SIZE, "");
    wg_plan_release(&plan);
}

/* A slice that is longer than its axis under a binding: node and extents are named. */
static void shapes_that_do_not_fit(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_size n = wg_extent(tape, "n", 8), list[] = {n};
    wg_value x = wg_input_fill(tape, WG_KIND_F32, 1, list, 1), start = wg_leaf(tape, test_tensor_fill(WG_KIND_I64, 0, NULL, 1));
    wg_value cut = (wg_narrow)(x, 0, wg_number(2), wg_number(5)),
             root = wg_add(wg_sum(cut), wg_sum((wg_slice)(x, start, 0, 0, wg_number(4), "clamp")));
    wg_plan *plan = plan_root(seal(tape), root.position, false);
    expect_refused(plan, (wg_binding[]){{"n", 6}}, 1, WG_ARGUMENT,
                   "node 2: narrow cannot take 5 positions from 2, 1 apart, of axis 0 in [6]");
    wg_plan_release(&plan);
}

/* ---- memory ---- */

static uint64_t allocations_left;

static void *failing_resize(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    (void)user;
    (void)old_bytes;
    if (new_bytes == 0) {
        free(block);
        return NULL;
    }
    if (allocations_left == 0) return NULL;
    allocations_left--;
    return realloc(block, new_bytes);
}

/* Planning and refilling with every single allocation failing: an error, and nothing is left behind (the sanitizers tell). */
static void allocation_failures(void **state)
{
    (void)state;
    wg_context_options options = {.size = sizeof options, .allocator = {failing_resize, NULL}};
    allocations_left = UINT64_MAX;
    wg_context *context = wg_context_new(&options, NULL);
    assert_non_null(context);
    wg_tape *tape = wg_tape_new(context);
    uint32_t root = wg_add(with_extents(tape), layers_and_back(tape, 3)).position;
    wg_network *network = seal(tape);
    wg_entry *entry = recorded_entry(network, &root, 1, NULL, 0, false);
    bool planned = false, described = false;
    for (uint64_t k = 0; !planned || !described; k++) {
        wg_error error = {0};
        const wg_binding binding = {"batch", 5};
        allocations_left = k;
        wg_plan *plan = plan_new(entry, &binding, 1, NULL, &error);
        planned = plan != NULL;
        if (!plan) assert_int_equal(error.code, WG_MEMORY);
        char *text = plan ? wg_plan_report(plan) : NULL;
        char *dump = plan ? wg_plan_describe(plan) : NULL;
        described = text && dump && plan_verify(plan, &plan->layout, NULL);
        allocations_left = UINT64_MAX;
        wg_text_free(text);
        wg_text_free(dump);
        wg_plan_release(&plan);
        assert_true(k < 10000);
    }
    wg_entry_free(&entry);
    wg_network_release(&network);
    wg_context_free(context);
}

/* A plan outlives its entry, its network and a reopening of the tape. */
static void lives_on(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = wg_parameter(tape, test_tensor_fill(WG_KIND_F32, 1, TEST_SHAPE(3), 1)), y = wg_sum(wg_mul(x, x));
    wg_plan *plan = plan_root(seal(tape), y.position, false), *again = wg_plan_retain(plan);
    assert_ptr_equal(plan, again);
    wg_plan_release(&plan);
    assert_null(plan);
    char *text = wg_plan_describe(again);
    assert_non_null(strstr(text, "plan: forward; 3 of 3 nodes evaluated, 1 readable\n"));
    wg_text_free(text);
    wg_plan_release(&again);
    wg_plan_release(&again);
    assert_null(plan_new(NULL, NULL, 0, NULL, NULL));
}

static int64_t no_kernel(const wg_plan *plan, plan_layout *layout, uint32_t stage, wg_error *error)
{
    (void)plan, (void)layout;
    base_fail(error, WG_INTERNAL, "stage %u has no kernel", stage);
    return -1;
}

/* What a kernel says of a stage that it cannot run is what the plan's maker is told. */
static void kernels_refuse(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_symbol root = wg_symbol_of(wg_sum(wg_parameter(tape, test_tensor_fill(WG_KIND_F32, 1, TEST_SHAPE(3), 1))));
    wg_network *network = seal(tape);
    wg_entry *entry = wg_entry_new(network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = &root, .root_count = 1}, NULL);
    wg_error error = {0};
    assert_null(plan_new(entry, NULL, 0, no_kernel, &error));
    assert_int_equal(error.code, WG_INTERNAL);
    assert_string_equal(error.message, "stage 0 has no kernel");
    wg_entry_free(&entry);
    wg_network_release(&network);
}

/* Updates in place of a carried input, run by hand over the very buffers of the layout; a cache that another row reads later is not. */
static void carried_updates(void **state)
{
    (void)state;
    for (int read_later = 0; read_later < 2; read_later++) {
        wg_tape *tape = wg_tape_new(NULL);
        wg_value cache = wg_input(tape, test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(6, 4), 0.3, 0, 0)),
                 part = wg_input(tape, test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(2, 4), 0.7, 0, 0)),
                 at = wg_input(tape, test_tensor(WG_KIND_I64, 0, NULL, (double[]){3}));
        wg_value middle = wg_update(cache, part, at, 0, 0, "error"), next = wg_update(middle, wg_tanh(part), wg_sub(at, at), 0, 0, "error");
        wg_value root = wg_sum(wg_mul(next, next));
        if (read_later) root = wg_add(root, wg_sum(wg_mul(cache, next)));
        wg_symbol roots[] = {wg_symbol_of(root)};
        wg_carry carry = {wg_symbol_of(next), wg_symbol_of(cache)};
        wg_network *network = seal(tape);
        wg_entry_options options = {.size = sizeof options, .roots = roots, .root_count = 1, .carries = &carry, .carry_count = 1};
        wg_entry *entry = wg_entry_new(network, &options, NULL);
        wg_error error = {0};
        wg_plan *plan = plan_new(entry, NULL, 0, NULL, &error);
        if (!plan || !plan_verify(plan, &plan->layout, &error)) fail_msg("%s", error.message);
        assert_int_equal(plan->layout.donation_count, read_later ? 0 : 2);
        by_hand hand = by_hand_run(plan, &plan->layout);
        wg_run *run = wg_interpret(entry, NULL, &error);
        for (uint32_t i = 0; i < plan->entry.keep_count; i++) {
            wg_tensor *got = by_hand_result(&hand, plan->entry.keep[i]);
            test_assert_same(got, wg_run_of(run, wg_entry_result(entry, i), &error), "by hand");
            wg_tensor_release(got);
        }
        wg_run_free(&run);
        by_hand_free(&hand);
        wg_plan_release(&plan);
        wg_entry_free(&entry);
        wg_network_release(&network);
    }
}

/* A plan bound to other lengths says of itself what the plan of a graph recorded at them says. */
static char *described_at(int64_t recorded, const wg_binding *bindings, uint32_t count)
{
    wg_tape *tape = wg_tape_new(NULL);
    wg_size n = wg_extent(tape, "n", recorded);
    wg_value x = wg_input_fill(tape, WG_KIND_F32, 2, (wg_size[]){n, wg_number(3)}, 1);
    wg_value y = wg_sum(wg_narrow(wg_mul(x, 2.0), 0, 0, wg_size_subtract(tape, n, wg_number(1))));
    wg_symbol root = wg_symbol_of(y);
    wg_network *network = wg_tape_seal(&tape, NULL);
    wg_entry *entry = wg_entry_new(network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = &root, .root_count = 1}, NULL);
    wg_plan *plan = plan_new(entry, bindings, count, NULL, NULL);
    assert_non_null(plan);
    char *text = wg_plan_describe(plan);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&network);
    return text;
}

static void described_under_a_binding(void **state)
{
    (void)state;
    wg_binding binding = {"n", 7};
    char *bound = described_at(4, &binding, 1), *recorded = described_at(7, NULL, 0);
    assert_string_equal(bound, recorded);
    assert_non_null(strstr(bound, "len=6"));
    wg_text_free(bound);
    wg_text_free(recorded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(described_under_a_binding),
        cmocka_unit_test(unfolded_copy),
        cmocka_unit_test(views_into_products),
        cmocka_unit_test(views_by_length), cmocka_unit_test(widened_by_products),
        cmocka_unit_test(groups), cmocka_unit_test(groups_through_reshapes),
        cmocka_unit_test(computed_twice),
        cmocka_unit_test(retained),
        cmocka_unit_test(in_place),
        cmocka_unit_test(read_again), cmocka_unit_test(widened_part),
        cmocka_unit_test(carries),
        cmocka_unit_test(arena_is_tight),
        cmocka_unit_test(refill),
        cmocka_unit_test(refusals),
        cmocka_unit_test(shapes_that_do_not_fit),
        cmocka_unit_test(allocation_failures),
        cmocka_unit_test(lives_on),
        cmocka_unit_test(kernels_refuse),
        cmocka_unit_test(carried_updates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
