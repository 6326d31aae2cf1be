/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Recording: shapes at the line that records them, the first-error policy and its message form, names, sites, sealing and reopening. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "wengert/ops.h"

static wg_value input(wg_tape *tape, uint32_t rank, const int64_t *shape)
{
    return wg_input(tape, wg_tensor_new(NULL, WG_KIND_F32, rank, shape, NULL, NULL));
}

#define INPUT(tape, ...) input(tape, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

static void assert_shape(wg_value value, uint32_t rank, const int64_t *shape)
{
    assert_false(wg_is_poison(value));
    assert_int_equal(wg_value_rank(value), rank);
    for (uint32_t axis = 0; axis < rank; axis++) assert_int_equal(wg_value_shape(value)[axis], shape[axis]);
}

#define ASSERT_SHAPE(value, ...) assert_shape(value, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

static void test_shapes(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = INPUT(tape, 2, 3, 4), w = INPUT(tape, 2, 4, 5);
    ASSERT_SHAPE(wg_matmul(x, w), 2, 3, 5);
    ASSERT_SHAPE(wg_sum_along(x, 1), 2, 4);
    ASSERT_SHAPE(wg_broadcast_along(x, 1, 7), 2, 7, 3, 4);
    ASSERT_SHAPE(wg_permute(x, (uint32_t[]){2, 0, 1}), 4, 2, 3);
    ASSERT_SHAPE(wg_narrow(x, 2, 1, 3), 2, 3, 3);
    ASSERT_SHAPE(wg_narrow_step(x, 2, wg_number(0), wg_number(2), 3), 2, 3, 2);
    ASSERT_SHAPE(wg_pad(x, 0, 1, 5, 0), 5, 3, 4);
    ASSERT_SHAPE(wg_unfold(x, 2, 2, 1, 2), 2, 3, 2, 2);
    ASSERT_SHAPE(wg_fold(wg_unfold(x, 2, 2, 1, 2), 2, 2, 1, 2, 4), 2, 3, 4);
    ASSERT_SHAPE(wg_concat((wg_value[]){x, x, x}, 3, 1), 2, 9, 4);
    wg_value rows = wg_convert(INPUT(tape, 2, 6), WG_KIND_I64);
    ASSERT_SHAPE(wg_gather(w, rows, 1), 2, 2, 6, 5);
    ASSERT_SHAPE(wg_gather_batch(w, rows, 1, 1, "clamp", 0), 2, 6, 5);
    ASSERT_SHAPE(wg_scatter_batch(wg_gather_batch(w, rows, 1, 1, "error", 0), rows, 1, 1, wg_number(4), "error", "add"), 2, 4, 5);
    ASSERT_SHAPE(wg_top_k_values(x, 2, wg_number(2)), 2, 3, 2);
    ASSERT_SHAPE(wg_log_sum_exp(x, 0), 3, 4);
    assert_int_equal(wg_value_kind(wg_less(x, x)), WG_KIND_BOOL);
    assert_int_equal(wg_value_kind(wg_grade(x, 0, true)), WG_KIND_I64);
    assert_int_equal(wg_value_kind(wg_sum(wg_less(x, x))), WG_KIND_I64);
    assert_int_equal(wg_value_kind(wg_sum(wg_convert(x, WG_KIND_I8))), WG_KIND_I32);
    assert_int_equal(wg_value_kind(wg_matmul_accumulate(wg_convert(x, WG_KIND_F16), wg_convert(w, WG_KIND_F16), WG_KIND_F64)), WG_KIND_F16);
    assert_int_equal(wg_tape_error(tape)->code, WG_OK);
    wg_tape_free(&tape);
}

static int told;
static wg_error heard;

static void hook(void *user, const wg_error *error)
{
    (void)user;
    told++;
    heard = *error;
}

static void test_first_error_is_kept(void **state)
{
    (void)state;
    wg_context *context = wg_context_new(&(wg_context_options){.size = sizeof(wg_context_options), .hook = hook}, NULL);
    wg_tape *tape = wg_tape_new(context);
    told = 0;
    wg_value a = INPUT(tape, 3, 2), b = INPUT(tape, 4, 5);
    int line = __LINE__ + 1;
    wg_value bad = wg_matmul(a, b);
    assert_true(wg_is_poison(bad));
    assert_int_equal(told, 1);
    uint32_t count = wg_tape_count(tape);
    assert_true(wg_is_poison(wg_add(bad, a)));
    assert_true(wg_is_poison(wg_add(a, a)));
    assert_int_equal(wg_tape_count(tape), count);
    assert_int_equal(told, 1);
    assert_int_equal(wg_tape_error(tape)->code, WG_SHAPE);
    char text[512], expected[512];
    wg_error_format(&heard, text, sizeof text);
    snprintf(expected, sizeof expected, "%s:%d: matmul cannot multiply [3, 2] by [4, 5]: inner extents 2 and 4 differ", __FILE__, line);
    assert_string_equal(text, expected);
    wg_error error = {.code = WG_OK};
    assert_null(wg_tape_seal(&tape, &error));
    assert_null(tape);
    assert_int_equal(error.code, WG_SHAPE);
    assert_int_equal(error.line, line);
    wg_context_free(context);
}

/* Each records one wrong thing on a fresh tape; the message says what. */
typedef struct wrong {
    const char *message;
    wg_code code;
    void (*record)(wg_tape *tape, wg_value x); /* x [3, 4] f32 */
} wrong;

static void wrong_add(wg_tape *t, wg_value x) { wg_add(x, INPUT(t, 4, 3)); }
static void wrong_kind(wg_tape *t, wg_value x) { (void)t; wg_add(x, wg_convert(x, WG_KIND_F64)); }
static void wrong_map(wg_tape *t, wg_value x) { (void)t; wg_exp(wg_convert(x, WG_KIND_I32)); }
static void wrong_axis(wg_tape *t, wg_value x) { (void)t; wg_sum_along(x, 2); }
static void wrong_reshape(wg_tape *t, wg_value x) { (void)t; wg_reshape(x, 1, ((wg_size[]){{5, 0}})); }
static void wrong_order(wg_tape *t, wg_value x) { (void)t; wg_permute(x, (uint32_t[]){0, 0}); }
static void wrong_narrow(wg_tape *t, wg_value x) { (void)t; wg_narrow(x, 1, 2, 3); }
static void wrong_window(wg_tape *t, wg_value x) { (void)t; wg_unfold(x, 1, 3, 1, 2); }
static void wrong_volume(wg_tape *t, wg_value x) { (void)t; wg_broadcast_along(wg_broadcast_along(x, 0, INT64_C(1) << 40), 0, INT64_C(1) << 40); }
static void wrong_condition(wg_tape *t, wg_value x) { (void)t; wg_select(x, x, x); }
static void wrong_positions(wg_tape *t, wg_value x) { (void)t; wg_gather(x, x, 0); }
static void wrong_word(wg_tape *t, wg_value x) { (void)t; wg_reduce(x, "mean", 0); }
static void wrong_fold(wg_tape *t, wg_value x) { (void)t; wg_reduce(x, "sub", 0); }
static void wrong_bits(wg_tape *t, wg_value x) { (void)t; wg_bitcast(x, WG_KIND_F64); }
static void wrong_key(wg_tape *t, wg_value x) { (void)t; wg_draw(x, "uniform", WG_KIND_F32, 0, NULL); }
static void wrong_source(wg_tape *t, wg_value x) { (void)x; wg_input_required(t, WG_KIND_F32, 1, ((wg_size[]){{-2, 0}})); }
#define COMPLEX(t, kind) wg_input_required(t, kind, 1, ((wg_size[]){{3, 0}}))
static void wrong_part(wg_tape *t, wg_value x) { (void)x; wg_convert(COMPLEX(t, WG_KIND_C64), WG_KIND_F32); }
static void wrong_order_of_complex(wg_tape *t, wg_value x) { (void)x; wg_less(COMPLEX(t, WG_KIND_C64), 0.0); }
static void wrong_sort(wg_tape *t, wg_value x) { (void)x; wg_sort(COMPLEX(t, WG_KIND_C128), 0, false); }
static void wrong_maximum(wg_tape *t, wg_value x) { (void)x; wg_maximum(COMPLEX(t, WG_KIND_C64), 0.0); }
static void wrong_complex_fold(wg_tape *t, wg_value x) { (void)x; wg_reduce(COMPLEX(t, WG_KIND_C64), "max", 0); }
static void wrong_complex_sum(wg_tape *t, wg_value x)
{
    (void)t;
    wg_value z = wg_complex(x, x);
    wg_matmul_accumulate(z, z, WG_KIND_C128);
}
static void wrong_parts(wg_tape *t, wg_value x)
{
    (void)t;
    wg_value half = wg_convert(x, WG_KIND_F16);
    wg_complex(half, half);
}
static void wrong_whole(wg_tape *t, wg_value x) { (void)t; wg_real(x); }
static void wrong_iota(wg_tape *t, wg_value x) { (void)x; wg_iota(t, WG_KIND_C64, 1, ((wg_size[]){{3, 0}}), 0); }
static void wrong_name(wg_tape *t, wg_value x) { wg_name(x, "x"); wg_name(INPUT(t, 1), "x"); }
static void wrong_extent(wg_tape *t, wg_value x) { (void)x; wg_extent(t, "n", 1); wg_extent(t, "n", 2); }
static void wrong_tensor(wg_tape *t, wg_value x) { (void)x; wg_leaf(t, NULL); }
static void wrong_top(wg_tape *t, wg_value x) { (void)t; wg_top_k_values(x, 0, wg_number(4)); }
static void wrong_row(wg_tape *t, wg_value x) { wg_record(t, WG_OP_Add, &x, 1, NULL, 0); }
static void wrong_attribute(wg_tape *t, wg_value x) { wg_record(t, WG_OP_SumAlong, &x, 1, (wg_size[]){{0, 0}}, 1); }
static void wrong_leaf_row(wg_tape *t, wg_value x) { (void)x; wg_record(t, WG_OP_Leaf, NULL, 0, NULL, 0); }

static const wrong wrongs[] = {
    {"add cannot combine [3, 4] and [4, 3]: shapes differ; broadcast one explicitly", WG_SHAPE, wrong_add},
    {"add cannot combine f32 and f64: kinds differ; convert one explicitly", WG_KIND, wrong_kind},
    {"exp does not take i32; convert it first, as with convert(x, kind=f32)", WG_KIND, wrong_map},
    {"sum_along has no axis 2 in [3, 4]", WG_ARGUMENT, wrong_axis},
    {"reshape cannot make [5] of [3, 4]: 5 items and 12", WG_SHAPE, wrong_reshape},
    {"permute's order must name each axis of [3, 4] once", WG_ARGUMENT, wrong_order},
    {"narrow cannot take 3 positions from 2, 1 apart, of axis 1 in [3, 4]", WG_ARGUMENT, wrong_narrow},
    {"unfold: a window of 5 positions does not fit an axis of 4", WG_SHAPE, wrong_window},
    {"broadcast_along would make [1099511627776, 1099511627776, 3, 4]: its volume does not fit in 64 bits", WG_SIZE, wrong_volume},
    {"select needs a bool condition, not f32", WG_KIND, wrong_condition},
    {"gather needs positions of kind i64 or i32, not f32", WG_KIND, wrong_positions},
    {"reduce does not know the word \"mean\" among sum, product, max, min, and, or, xor, sub, div, powf, residue", WG_ARGUMENT, wrong_word},
    {"reduce op=sub is strictly ordered: write order=right", WG_ARGUMENT, wrong_fold},
    {"bitcast cannot turn f32 into f64: their widths differ", WG_KIND, wrong_bits},
    {"draw needs keys, u32 [.., 2], not f32 [3, 4]", WG_KIND, wrong_key},
    {"an extent of -2 is below 0", WG_SHAPE, wrong_source},
    {"convert cannot make f32 of c64: take its real, imag or abs first", WG_KIND, wrong_part},
    {"less does not take c64", WG_KIND, wrong_order_of_complex},
    {"sort does not take c128", WG_KIND, wrong_sort},
    {"maximum does not take c64", WG_KIND, wrong_maximum},
    {"reduce op=max does not take c64", WG_KIND, wrong_complex_fold},
    {"matmul of c64 cannot accumulate in c128", WG_KIND, wrong_complex_sum},
    {"complex does not take f16; convert it first, as with convert(x, kind=f32)", WG_KIND, wrong_parts},
    {"real does not take f32", WG_KIND, wrong_whole},
    {"iota cannot be of kind c64", WG_KIND, wrong_iota},
    {"the name x is already taken", WG_NAME, wrong_name},
    {"the name n is already taken", WG_NAME, wrong_extent},
    {"constant needs a tensor", WG_ARGUMENT, wrong_tensor},
    {"top_k_values cannot take 4 of axis 0 in [3, 4]", WG_ARGUMENT, wrong_top},
    {"add takes 2 operands, not 1", WG_ARGUMENT, wrong_row},
    {"sum_along needs accumulate", WG_ARGUMENT, wrong_attribute},
    {"constant is a source: its kind and shape are given, by a call of its own, not derived", WG_ARGUMENT, wrong_leaf_row},
};

static void test_wrongs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        wg_tape *tape = wg_tape_new(NULL);
        wg_value x = INPUT(tape, 3, 4);
        wrongs[i].record(tape, x);
        assert_string_equal(wg_tape_error(tape)->message, wrongs[i].message);
        assert_int_equal(wg_tape_error(tape)->code, wrongs[i].code);
        wg_tape_free(&tape);
    }
}

/* The kinds of what is made of complex values and of their parts. */
static void test_complex_kinds(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = INPUT(tape, 3, 4), z = wg_complex(x, x), wide = wg_convert(z, WG_KIND_C128);
    const struct {
        wg_value value;
        wg_kind kind;
    } cases[] = {
        {z, WG_KIND_C64},           {wide, WG_KIND_C128},       {wg_abs(z), WG_KIND_F32},   {wg_abs(wide), WG_KIND_F64},
        {wg_real(z), WG_KIND_F32},  {wg_imag(wide), WG_KIND_F64}, {wg_conj(z), WG_KIND_C64},  {wg_equal(z, z), WG_KIND_BOOL},
        {wg_abs(x), WG_KIND_F32},   {wg_sum(wide), WG_KIND_C128}, {wg_mul(z, 2.0), WG_KIND_C64}, {wg_sign(z), WG_KIND_C64},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) assert_int_equal(wg_value_kind(cases[i].value), cases[i].kind);
    assert_int_equal(wg_tape_error(tape)->code, WG_OK);
    wg_tape_free(&tape);
}

static void test_other_tapes_and_stale_values(void **state)
{
    (void)state;
    wg_tape *one = wg_tape_new(NULL), *two = wg_tape_new(NULL);
    wg_value a = INPUT(one, 2), b = INPUT(two, 2);
    assert_true(wg_is_poison(wg_add(a, b)));
    assert_int_equal(wg_tape_error(one)->code, WG_TAPE);
    assert_int_equal(wg_tape_error(two)->code, WG_OK);
    wg_symbol symbol = wg_symbol_of(b);
    wg_network *network = wg_tape_seal(&two, NULL);
    assert_non_null(network);
    two = wg_network_reopen(&network, NULL);
    assert_null(network);
    wg_value again = wg_tape_resolve(two, symbol);
    assert_int_equal(again.position, b.position);
    ASSERT_SHAPE(wg_add(again, again), 2);
    assert_true(wg_is_poison(wg_add(b, b)));
    assert_string_equal(wg_tape_error(two)->message, "a value from before the tape was sealed; resolve its symbol on the reopened tape");
    wg_tape_free(&one);
    wg_tape_free(&two);
}

static void test_reopen_only_by_its_only_holder(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    INPUT(tape, 2);
    wg_network *network = wg_tape_seal(&tape, NULL), *other = wg_network_retain(network);
    wg_error error = {.code = WG_OK};
    assert_null(wg_network_reopen(&network, &error));
    assert_non_null(network);
    assert_int_equal(error.code, WG_TAPE);
    wg_network_release(&other);
    tape = wg_network_reopen(&network, NULL);
    assert_non_null(tape);
    wg_tape_free(&tape);
}

static void test_sites(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = INPUT(tape, 3);
    int line = __LINE__ + 1;
    wg_value y = wg_mul(x, 2.0); /* a constant, a Broadcast and the product, all of this line */
    wg_network *network = wg_tape_seal(&tape, NULL);
    for (uint32_t position = 1; position <= y.position; position++) {
        wg_node_facts facts;
        assert_true(wg_network_node(network, position, &facts));
        assert_int_equal(facts.line, line);
        assert_string_equal(facts.file, __FILE__);
    }
    wg_network_release(&network);
}

static void test_equal_items_are_one(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    int64_t shape[1] = {1000000};
    wg_tensor *big = wg_tensor_fill(NULL, WG_KIND_F32, 1, shape, 3, NULL);
    wg_tensor_retain(big);
    wg_leaf(tape, big);
    /* The tape kept one item, so ours is the only reference left. */
    assert_int_equal(wg_tape_error(tape)->code, WG_OK);
    ((float *)wg_tensor_data(big))[0] = 4;
    wg_tensor_release(big);
    wg_tape_free(&tape);
}

static void test_functions_without_sites(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = INPUT(tape, 3);
    ASSERT_SHAPE((wg_mul)(x, x), 3);
    ASSERT_SHAPE(wg_mul_scalar(x, 0.5), 3);
    wg_tape_free(&tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_first_error_is_kept),
        cmocka_unit_test(test_wrongs), cmocka_unit_test(test_complex_kinds),
        cmocka_unit_test(test_other_tapes_and_stale_values),
        cmocka_unit_test(test_reopen_only_by_its_only_holder),
        cmocka_unit_test(test_sites),
        cmocka_unit_test(test_equal_items_are_one),
        cmocka_unit_test(test_functions_without_sites),
    };
    return cmocka_run_group_tests_name("graph/record", tests, NULL, NULL);
}
