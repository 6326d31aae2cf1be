/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Rows recorded from operands and attributes that nobody checked, and run: whatever the numbers are, a call is refused with one message or
 * gives a network that verifies, describes itself and runs, or fails to run with one message. Memory is limited, so that a shape that is
 * legal but absurd fails for want of room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/row.h"
#include "support/dense.h"
#include "support/random_graph.h"
#include "wengert/ops.h"
#include "wengert/run.h"

#define MOST_BYTES ((size_t)1 << 18)

static void *limited(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    (void)user, (void)old_bytes;
    if (new_bytes > MOST_BYTES) return NULL;
    if (new_bytes) return realloc(block, new_bytes);
    free(block);
    return NULL;
}

static wg_context *limited_context(void)
{
    return wg_context_new(&(wg_context_options){.size = sizeof(wg_context_options), .allocator = {.resize = limited}}, NULL);
}

static const int64_t absurd[] = {-1, 0, 1, 2, 3, 5, 16, 17, 31, 64, 65536, INT32_MAX, (int64_t)UINT32_MAX + 2, (int64_t)1 << 50,
                                 INT64_MAX / 4, INT64_MAX / 2 + 1, INT64_MAX - 1, INT64_MAX, INT64_MIN, INT64_MIN + 1};

static int64_t any_number(test_draws *draws, int64_t below)
{
    if (test_draw_below(draws, 4)) return below > 0 ? test_draw_below(draws, (uint32_t)below) : 0;
    return absurd[test_draw_below(draws, sizeof absurd / sizeof *absurd)];
}

/* Shapes of few items, some of them empty with absurd extents beside. */
static uint32_t any_shape(test_draws *draws, wg_size *shape)
{
    static const int64_t extents[] = {0, 1, 2, 3, 4, 7};
    uint32_t rank = test_draw_below(draws, 5);
    for (uint32_t axis = 0; axis < rank; axis++) shape[axis] = wg_number(extents[test_draw_below(draws, 6)]);
    if (rank > 1 && test_draw_below(draws, 4) == 0) {
        uint32_t empty = test_draw_below(draws, rank), long_one = (empty + 1 + test_draw_below(draws, rank - 1)) % rank;
        for (uint32_t axis = 0; axis < rank; axis++) shape[axis] = wg_number(1);
        shape[empty] = wg_number(0);
        shape[long_one] = wg_number((int64_t)1 << (20 + test_draw_below(draws, 41)));
    }
    return rank;
}

/* A source that may stand where the role asks for one, of any shape. */
static wg_value any_source(test_draws *draws, wg_tape *tape, char role)
{
    wg_size shape[WG_MAX_RANK] = {{2, 0}};
    uint32_t rank = role == 'k' ? 1 : any_shape(draws, shape);
    wg_kind kind = role == 'k' ? WG_KIND_U32 : role == 'c' ? WG_KIND_BOOL : role == 'p' ? WG_KIND_I64 : WG_KIND_F32;
    if (role == 'd' && test_draw_below(draws, 3) == 0) kind = (wg_kind)test_draw_below(draws, WG_KIND_SINGLES);
    return wg_leaf_fill(tape, kind, rank, shape, role == 'p' ? (double)any_number(draws, 3) : test_draw_below(draws, 3));
}

/* A node there is already, so that shapes fit each other often, or a source. */
static wg_value any_operand(test_draws *draws, wg_tape *tape, char role, const wg_value *first)
{
    uint32_t count = wg_tape_count(tape);
    if (first && test_draw_below(draws, 2)) return *first;
    if (count && test_draw_below(draws, 2) == 0) return (wg_value){tape, test_draw_below(draws, count), first ? first->generation : 0};
    return any_source(draws, tape, role);
}

/* The flat attributes of a row, most of them in the range of a small operand. */
static uint32_t any_attributes(test_draws *draws, wg_op op, wg_size *attributes)
{
    uint32_t count, used = 0;
    const graph_attribute_row *rows = graph_row_attributes(op, &count);
    for (uint32_t i = 0; i < count; i++) {
        bool list = rows[i].type == GRAPH_SIZES || rows[i].type == GRAPH_ORDER;
        int64_t limit = rows[i].type == GRAPH_KIND ? WG_KIND_COUNT : rows[i].type == GRAPH_FLAG ? 2 : rows[i].type == GRAPH_AXIS ? 3 : 5;
        int64_t number = any_number(draws, limit);
        if (rows[i].type == GRAPH_REAL) number = (int64_t)test_draw(draws);
        if (rows[i].type == GRAPH_KIND && rows[i].silent == GRAPH_BY_RULE && test_draw_below(draws, 2)) number = GRAPH_BY_RULE;
        attributes[used++] = wg_number(number);
        for (int64_t j = 0; list && j < number && used < WG_MAX_ATTRIBUTES - 4; j++) attributes[used++] = wg_number(any_number(draws, 4));
    }
    if (test_draw_below(draws, 40) == 0) used = test_draw_below(draws, WG_MAX_ATTRIBUTES);
    return used;
}

static void record_any(test_draws *draws, wg_tape *tape, wg_op op)
{
    const char *roles = graph_rows[op].roles;
    wg_size attributes[WG_MAX_ATTRIBUTES + 4] = {{0, 0}};
    wg_value operands[4];
    uint32_t count = graph_rows[op].arity < 0 ? 1 + test_draw_below(draws, 3) : (uint32_t)graph_rows[op].arity;
    if (test_draw_below(draws, 40) == 0) count = test_draw_below(draws, 4);
    for (uint32_t i = 0; i < count; i++)
        operands[i] = any_operand(draws, tape, i < strlen(roles) ? roles[i] : 'd', i ? &operands[0] : NULL);
    uint32_t used = any_attributes(draws, op, attributes);
    if (used && test_draw_below(draws, 8) == 0) attributes[test_draw_below(draws, used)].expression = test_draw_below(draws, 200);
    wg_record(tape, op, operands, count, attributes, used);
}

/* A call that fits, but for one of its numbers now and then; false where the row has none over the shape. */
static bool record_fitting(test_draws *draws, wg_tape *tape, wg_op op)
{
    random_row row;
    int64_t shape[4];
    uint32_t rank = test_draw_below(draws, 5);
    for (uint32_t axis = 0; axis < rank; axis++) shape[axis] = 1 + test_draw_below(draws, 4);
    if (op == WG_OP_QMatMul && rank) shape[rank - 1] = 32; /* a block */
    if (!random_row_new(draws, op, test_draw_below(draws, 2) ? WG_KIND_F32 : WG_KIND_I16, rank, shape, &row)) return false;
    wg_value operands[RANDOM_OPERANDS];
    wg_size attributes[RANDOM_ATTRIBUTES];
    for (uint32_t i = 0; i < row.operand_count; i++) operands[i] = wg_leaf(tape, wg_tensor_retain(row.operands[i]));
    for (uint32_t i = 0; i < row.attribute_count; i++) attributes[i] = wg_number(row.attributes[i]);
    if (row.attribute_count && test_draw_below(draws, 2))
        attributes[test_draw_below(draws, row.attribute_count)].number = any_number(draws, 6);
    wg_record(tape, op, operands, row.operand_count, attributes, row.attribute_count);
    random_row_free(&row);
    return true;
}

/* One message or none, as the outcome is. */
static void check_outcome(bool good, const wg_error *error)
{
    assert_true(good == (error->code == WG_OK));
    if (!good) assert_true(error->message[0] && !strchr(error->message, '\n') && error->code != WG_INTERNAL);
}

static bool run_sealed(wg_network *network)
{
    wg_error error = {.code = WG_OK};
    check_outcome(wg_network_verify(network, &error), &error);
    assert_int_equal(error.code, WG_OK);
    char *dump = wg_network_describe(network);
    assert_non_null(dump);
    wg_text_free(dump);
    wg_run *run = wg_network_forward(network, NULL, &error);
    bool ran = run != NULL;
    check_outcome(ran, &error);
    wg_run_free(&run);
    return ran;
}

/* A tape of a few calls of any rows, the last of them `op`; answers whether it ran. */
static bool try_row(wg_context *context, uint64_t seed, wg_op op)
{
    test_draws draws = test_draws_new(seed);
    wg_tape *tape = wg_tape_new(context);
    wg_error error = {.code = WG_OK};
    for (uint32_t before = test_draw_below(&draws, 3); before; before--)
        record_any(&draws, tape, (wg_op)test_draw_below(&draws, WG_OP_COUNT));
    if (wg_tape_error(tape)->code) { /* a quiet tape teaches nothing */
        wg_tape_free(&tape);
        tape = wg_tape_new(context);
    }
    if (!test_draw_below(&draws, 2) || !record_fitting(&draws, tape, op)) record_any(&draws, tape, op);
    error = *wg_tape_error(tape);
    check_outcome(error.code == WG_OK, &error);
    wg_network *network = wg_tape_seal(&tape, &error);
    assert_true((network != NULL) == (error.code == WG_OK));
    bool ran = network && run_sealed(network);
    wg_network_release(&network);
    return ran;
}

static void test_every_row(void **state)
{
    (void)state;
    const char *more = getenv("HOSTILE_ROUNDS");
    uint64_t rounds = more ? strtoull(more, NULL, 10) : 300;
    wg_context *context = limited_context();
    for (int op = 0; op < WG_OP_COUNT; op++) {
        uint32_t ran = 0;
        if (!test_row_is_here((wg_op)op)) continue;
        for (uint64_t seed = 0; seed < rounds; seed++) ran += try_row(context, seed * WG_OP_COUNT + (uint64_t)op, (wg_op)op);
        bool source = graph_rows[op].result == GRAPH_RESULT_SOURCE;
        if (source ? ran : ran < rounds / 50) fail_msg("%s ran %u times of %u", wg_op_name((wg_op)op), ran, (unsigned)rounds);
    }
    wg_context_free(context);
}

/* What a caller writes for a shape is a shape, however large; only running it needs the room. */
static void test_absurd_results(void **state)
{
    (void)state;
    wg_context *context = limited_context();
    wg_size long_axis[1] = {{(int64_t)1 << 50, 0}}, key_shape[1] = {{2, 0}};
    for (int which = 0; which < 5; which++) {
        wg_tape *tape = wg_tape_new(context);
        wg_value one = wg_leaf_fill(tape, WG_KIND_F32, 0, NULL, 1), key = wg_leaf_fill(tape, WG_KIND_U32, 1, key_shape, 1);
        wg_value y = which == 0 ? wg_iota(tape, WG_KIND_I64, 1, long_axis, 0) : which == 1 ? wg_broadcast(one, 1, long_axis)
                   : which == 2 ? wg_draw(key, "uniform", WG_KIND_F32, 1, long_axis) : which == 3 ? wg_key_split(key, long_axis[0])
                   : wg_broadcast_along(one, 0, long_axis[0]);
        assert_false(wg_is_poison(y));
        wg_error error = {.code = WG_OK};
        wg_network *network = wg_tape_seal(&tape, &error);
        assert_null(wg_network_forward(network, NULL, &error));
        assert_int_equal(error.code, WG_MEMORY);
        assert_int_equal(error.node, wg_network_count(network) - 1);
        wg_network_release(&network);
    }
    wg_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_row), cmocka_unit_test(test_absurd_results)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
