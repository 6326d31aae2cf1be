/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Every row of the op table, over every kind that it takes, shapes at the edges, every pattern of batched and shared operands, axes in and
 * out: the map is the unbatched calls side by side, bit for bit. With plain frames and with named ones that are bound to other numbers; by
 * the row's own rule, and cell by cell. */
#include "batch/mapped.h"

#include "batch/batch.h"
#include "support/blocks.h"
#include "support/dense.h"

#define FORMS 3 /* calls of one row, kind and shape */

typedef void (*case_function)(test_draws *draws, mapped *m);

/* What a case is, for messages. */
static const char *words(const mapped *m, int64_t frame)
{
    static char text[200];
    snprintf(text, sizeof text, "%s of %s, pattern %u, %lld cells", wg_op_name(m->row.op), wg_kind_name(wg_tensor_kind(m->row.operands[0])),
             m->pattern, (long long)frame);
    return text;
}

static void every_case(uint64_t seed, case_function check)
{
    test_draws draws = test_draws_new(seed);
    for (int op = 0; op < WG_OP_COUNT; op++) {
        uint32_t calls = 0, patterns = 0;
        if (graph_row_is_dense((wg_op)op) || op == WG_OP_QMatMul) continue; /* matrices of their own: host_rows_map, quantised_rows_map */
        for (int kind = 0; kind < WG_KIND_SINGLES; kind++) {
            if (!mapped_takes((wg_op)op, (wg_kind)kind)) continue;
            for (size_t i = 0; i < FORMS * MAPPED_EDGES; i++) {
                mapped m;
                if (!mapped_new(&draws, (wg_op)op, (wg_kind)kind, &mapped_edges[i % MAPPED_EDGES], 1 + test_draw_below(&draws, 7), &m))
                    continue;
                check(&draws, &m);
                calls++;
                patterns |= 1u << m.pattern;
                mapped_free(&m);
            }
        }
        int32_t arity = graph_rows[op].arity;
        uint32_t all = arity == 0 ? 0 : arity == 1 ? 0x2 : arity == 2 ? 0xe : 0xfe;
        if ((patterns & all) != all || (all && calls < 10))
            fail_msg("%s was called %u times, patterns %x", wg_op_name((wg_op)op), calls, patterns);
    }
}

/* Ends the tape and compares a value, under feeds and a binding, with what is expected. */
static void expect(wg_tape *tape, wg_value value, const wg_feed *feeds, uint32_t feed_count, const wg_binding *binding,
                   const wg_tensor *expected, const char *what)
{
    wg_error error = {.code = WG_OK};
    wg_symbol symbol = wg_symbol_of(value);
    wg_network *network = wg_tape_seal(&tape, &error);
    if (!network || !wg_network_verify(network, &error)) fail_msg("%s: %s", what, error.message);
    wg_entry *entry =
        wg_entry_new(network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = &symbol, .root_count = 1}, &error);
    wg_run_options options = {
        .size = sizeof options, .feeds = feeds, .feed_count = feed_count, .bindings = binding, .binding_count = binding != NULL};
    wg_run *run = entry ? wg_interpret(entry, &options, &error) : NULL;
    if (!run) fail_msg("%s: %s", what, error.message);
    test_assert_same(wg_run_of(run, symbol, &error), expected, what);
    wg_run_free(&run);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

static void check_plain(test_draws *draws, mapped *m)
{
    static const int64_t frames[] = {3, 3, 4, 1, 0};
    int64_t frame = frames[test_draw_below(draws, 5)];
    wg_value given[RANDOM_OPERANDS];
    wg_tape *tape = wg_tape_new(NULL);
    wg_value value = mapped_record(m, draws, tape, wg_number(frame), given);
    wg_tensor *expected = mapped_expected(m, frame);
    expect(tape, value, NULL, 0, NULL, expected, words(m, frame));
    wg_tensor_release(expected);
}

static void check_named(test_draws *draws, mapped *m)
{
    int64_t bound = test_draw_below(draws, MAPPED_CELLS + 1);
    wg_value given[RANDOM_OPERANDS];
    wg_tape *tape = wg_tape_new(NULL);
    wg_value value = mapped_record(m, draws, tape, wg_extent(tape, "cells", 2), given);
    wg_feed feeds[RANDOM_OPERANDS];
    wg_tensor *items[RANDOM_OPERANDS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->row.operand_count; i++) {
        if (!(m->pattern >> i & 1)) continue;
        items[count] = mapped_frames(m, i, bound);
        feeds[count] = (wg_feed){wg_symbol_of(given[i]), wg_tensor_view(items[count])};
        count++;
    }
    wg_tensor *expected = mapped_expected(m, bound);
    expect(tape, value, feeds, count, &(wg_binding){"cells", bound}, expected, words(m, bound));
    wg_tensor_release(expected);
    for (uint32_t i = 0; i < count; i++) wg_tensor_release(items[i]);
}

static void every_row_maps(void **state)
{
    (void)state;
    every_case(1, check_plain);
}

static void every_row_follows_a_named_frame(void **state)
{
    (void)state;
    every_case(2, check_named);
}

/* ---- host rows: matrices that each of them takes ---- */

#define MATRICES 3
#define SIDE 3

/* [cells, SIDE, SIDE], each of full rank and positive definite by its lower triangle. */
static wg_tensor *matrices(test_draws *draws, int64_t cells)
{
    wg_tensor *items = wg_tensor_new(NULL, WG_KIND_F64, 3, (int64_t[]){cells, SIDE, SIDE}, NULL, NULL);
    double *numbers = wg_tensor_data(items);
    for (int64_t i = 0; i < cells * SIDE * SIDE; i++) numbers[i] = (double)test_draw_below(draws, 1000) / 1000 - 0.5;
    test_make_dominant(items);
    return items;
}

/* Matrix `cell` of a frame, or the one that is shared. Owned. */
static wg_tensor *matrix_of(const wg_tensor *frame, bool batched, int64_t cell)
{
    const double *numbers = wg_tensor_data(frame);
    return wg_tensor_new(NULL, WG_KIND_F64, 2, (int64_t[]){SIDE, SIDE}, numbers + (batched ? cell : 0) * SIDE * SIDE, NULL);
}

static void check_host(test_draws *draws, wg_op op, uint32_t pattern)
{
    uint32_t arity = (uint32_t)wg_op_arity(op), attribute_count = op == WG_OP_SolveTriangle ? 3 : 0;
    wg_size attributes[3] = {{1, 0}, {0, 0}, {0, 0}};
    int64_t flat[3] = {1, 0, 0};
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_tensor *frames[2], *cells[MATRICES];
    wg_value operands[2];
    bool batched[2];
    for (uint32_t i = 0; i < arity; i++) {
        frames[i] = matrices(draws, MATRICES);
        batched[i] = pattern >> i & 1;
        operands[i] = wg_leaf(tape, batched[i] ? wg_tensor_retain(frames[i]) : matrix_of(frames[i], false, 0));
    }
    for (int64_t cell = 0; cell < MATRICES; cell++) {
        const wg_tensor *of_cell[2] = {NULL, NULL};
        for (uint32_t i = 0; i < arity; i++) of_cell[i] = matrix_of(frames[i], batched[i], cell);
        assert_non_null(cells[cell] = wg_op_run(NULL, op, of_cell, arity, flat, attribute_count, NULL));
        for (uint32_t i = 0; i < arity; i++) wg_tensor_release((wg_tensor *)of_cell[i]);
    }
    wg_tensor *expected = mapped_stack(wg_tensor_kind(cells[0]), wg_tensor_rank(cells[0]), wg_tensor_shape(cells[0]), cells, MATRICES, 0);
    wg_value mapped = wg_record_mapped(tape, op, operands, batched, arity, attributes, attribute_count, wg_number(MATRICES));
    expect(tape, mapped, NULL, 0, NULL, expected, wg_op_name(op));
    wg_tensor_release(expected);
    for (int64_t cell = 0; cell < MATRICES; cell++) wg_tensor_release(cells[cell]);
    for (uint32_t i = 0; i < arity; i++) wg_tensor_release(frames[i]);
}

static void host_rows_map(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(11);
    uint32_t checked = 0;
    for (int op = 0; op < WG_OP_COUNT; op++) {
        if (!graph_row_is_dense((wg_op)op) || !test_row_is_here((wg_op)op)) continue;
        for (uint32_t pattern = 1; pattern < 1u << wg_op_arity((wg_op)op); pattern++, checked++) check_host(&draws, (wg_op)op, pattern);
    }
    if (!checked) skip();
}

/* Weights of a block kind are shared by every cell: rows of each get them as an unbatched call does; weights of a cell's own are refused. */
static void quantised_rows_map(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(21);
    for (int named = 0; named < 2; named++)
        for (int experts = 0; experts < 2; experts++) {
            int64_t frame = 3, rows = 2, depth = 64;
            wg_error error = {.code = WG_OK};
            wg_tensor *x = test_tensor_draw(&draws, WG_KIND_F32, 3, TEST_SHAPE(frame, rows, depth), -1, 1);
            wg_tensor *w = test_blocks(&draws, WG_KIND_Q4_1, experts ? 3 : 2, experts ? TEST_SHAPE(4, 5, depth) : TEST_SHAPE(5, depth), false);
            wg_tensor *e = test_tensor_draw(&draws, WG_KIND_I64, 2, TEST_SHAPE(frame, rows), 0, 4);
            wg_tensor *flat = wg_op_run(NULL, WG_OP_Reshape, (const wg_tensor *const[]){x}, 1, TEST_SHAPE(2, frame * rows, depth), 3, &error);
            wg_tensor *all = wg_op_run(NULL, WG_OP_Reshape, (const wg_tensor *const[]){e}, 1, TEST_SHAPE(1, frame * rows), 2, &error);
            wg_tensor *lines = wg_op_run(NULL, experts ? WG_OP_ExpertMatMul : WG_OP_QMatMul, (const wg_tensor *const[]){flat, w, all}, experts ? 3 : 2,
                                         TEST_SHAPE(0), 1, &error);
            wg_tensor *expected = wg_op_run(NULL, WG_OP_Reshape, (const wg_tensor *const[]){lines}, 1, TEST_SHAPE(3, frame, rows, 5), 4, &error);
            if (!expected) fail_msg("%s", error.message);
            wg_tape *tape = wg_tape_new(NULL);
            wg_size cells = named ? wg_extent(tape, "cells", 3) : wg_number(3);
            wg_value cell[3] = {wg_input_fill(tape, WG_KIND_F32, 2, (wg_size[]){wg_number(rows), wg_number(depth)}, 0), wg_parameter(tape, w),
                                wg_input_fill(tape, WG_KIND_I64, 1, (wg_size[]){wg_number(rows)}, 0)};
            wg_value y = experts ? wg_expert_matmul(cell[0], cell[1], cell[2]) : wg_qmatmul(cell[0], cell[1]);
            wg_value given[2] = {wg_input_fill(tape, WG_KIND_F32, 3, (wg_size[]){cells, wg_number(rows), wg_number(depth)}, 0),
                                 wg_input_fill(tape, WG_KIND_I64, 2, (wg_size[]){cells, wg_number(rows)}, 0)};
            wg_value mapped, inputs[2] = {cell[0], cell[2]};
            assert_true(wg_vmap(tape, &y, 1, inputs, given, NULL, 1 + (uint32_t)experts, NULL, &mapped));
            wg_feed feeds[2] = {{wg_symbol_of(given[0]), wg_tensor_view(x)}, {wg_symbol_of(given[1]), wg_tensor_view(e)}};
            expect(tape, mapped, feeds, 1 + (uint32_t)experts, NULL, expected, experts ? "experts" : "rows");
            wg_tensor *owned[] = {x, e, flat, all, lines, expected};
            for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) wg_tensor_release(owned[i]);
        }
}

/* ---- maps of maps: rows that have batch axes already ---- */

#define INNER 3
#define OUTER 2

/* Operand i of cell f of the inner frame in cell g of the outer one. */
static wg_tensor *nested_cell(const mapped *m, uint32_t outer_pattern, uint32_t i, int64_t g, int64_t f)
{
    bool inner = m->pattern >> i & 1, outer = outer_pattern >> i & 1;
    if (!inner && !outer) return m->row.operands[i];
    return m->cells[i][((outer ? 2 * g : 0) + (inner ? f : 0)) % MAPPED_CELLS];
}

/* Operand i as the inner function sees it, for one outer cell: its frames, or itself. Owned. */
static wg_tensor *inner_operand(const mapped *m, uint32_t outer_pattern, uint32_t i, int64_t g)
{
    wg_tensor *cells[INNER];
    const wg_tensor *like = m->row.operands[i];
    for (int64_t f = 0; f < INNER; f++) cells[f] = nested_cell(m, outer_pattern, i, g, f);
    if (!(m->pattern >> i & 1)) return wg_tensor_retain(cells[0]);
    return mapped_stack(wg_tensor_kind(like), wg_tensor_rank(like), wg_tensor_shape(like), cells, INNER, 0);
}

static wg_tensor *nested_expected(const mapped *m, uint32_t outer_pattern)
{
    wg_tensor *wholes[OUTER], *cells[INNER];
    for (int64_t g = 0; g < OUTER; g++) {
        for (int64_t f = 0; f < INNER; f++) {
            const wg_tensor *operands[RANDOM_OPERANDS];
            for (uint32_t i = 0; i < m->row.operand_count; i++) operands[i] = nested_cell(m, outer_pattern, i, g, f);
            cells[f] = wg_op_run(NULL, m->row.op, operands, m->row.operand_count, m->row.attributes, m->row.attribute_count, NULL);
            assert_non_null(cells[f]);
        }
        wholes[g] = mapped_stack(wg_tensor_kind(cells[0]), wg_tensor_rank(cells[0]), wg_tensor_shape(cells[0]), cells, INNER, 0);
        for (int64_t f = 0; f < INNER; f++) wg_tensor_release(cells[f]);
    }
    wg_tensor *expected = mapped_stack(wg_tensor_kind(wholes[0]), wg_tensor_rank(wholes[0]), wg_tensor_shape(wholes[0]), wholes, OUTER, 0);
    for (int64_t g = 0; g < OUTER; g++) wg_tensor_release(wholes[g]);
    return expected;
}

/* The inner map, then its map over what the outer pattern says. */
static wg_value nested_record(const mapped *m, uint32_t outer_pattern, wg_tape *tape)
{
    wg_value operands[RANDOM_OPERANDS], inputs[RANDOM_OPERANDS], frames[RANDOM_OPERANDS], inner, outer;
    wg_value call = mapped_call(m, tape, operands);
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->row.operand_count; i++) {
        if (!(m->pattern >> i & 1)) continue;
        inputs[count] = operands[i];
        frames[count++] = operands[i] = wg_input(tape, inner_operand(m, outer_pattern, i, 0));
    }
    if (!wg_vmap(tape, &call, 1, inputs, frames, NULL, count, NULL, &inner)) fail_msg("%s", wg_tape_error(tape)->message);
    count = 0;
    for (uint32_t i = 0; i < m->row.operand_count; i++) {
        if (!(outer_pattern >> i & 1)) continue;
        wg_tensor *wholes[OUTER];
        for (int64_t g = 0; g < OUTER; g++) wholes[g] = inner_operand(m, outer_pattern, i, g);
        inputs[count] = operands[i];
        frames[count++] = wg_input(
            tape, mapped_stack(wg_tensor_kind(wholes[0]), wg_tensor_rank(wholes[0]), wg_tensor_shape(wholes[0]), wholes, OUTER, 0));
        for (int64_t g = 0; g < OUTER; g++) wg_tensor_release(wholes[g]);
    }
    if (!wg_vmap(tape, &inner, 1, inputs, frames, NULL, count, NULL, &outer)) fail_msg("%s", wg_tape_error(tape)->message);
    return outer;
}

static void check_nested(test_draws *draws, mapped *m)
{
    uint32_t outer_pattern = (1 + test_draw_below(draws, 7)) & ((1u << m->row.operand_count) - 1);
    if (!outer_pattern) outer_pattern = 1;
    for (uint32_t i = 0; i < m->row.operand_count; i++)
        for (int64_t cell = 0; cell < MAPPED_CELLS; cell++)
            if (!m->cells[i][cell]) m->cells[i][cell] = mapped_cell(draws, &m->row, i, cell);
    wg_tape *tape = wg_tape_new(NULL);
    wg_value value = nested_record(m, outer_pattern, tape);
    wg_tensor *expected = nested_expected(m, outer_pattern);
    expect(tape, value, NULL, 0, NULL, expected, words(m, INNER));
    wg_tensor_release(expected);
}

static void every_row_maps_twice(void **state)
{
    (void)state;
    every_case(5, check_nested);
}

/* ---- the rules as functions ---- */

/* The call of a cell over operands that have the frame in front, by a rule. */
static wg_value call_rule(mapped *m, wg_tape *tape, int64_t frame, wg_value (*rule)(const batch_call *call))
{
    wg_value operands[RANDOM_OPERANDS];
    bool batched[RANDOM_OPERANDS];
    wg_size sizes[RANDOM_ATTRIBUTES];
    memset(m->in_axes, 0, sizeof m->in_axes);
    m->out_axis = 0;
    for (uint32_t i = 0; i < m->row.operand_count; i++) {
        batched[i] = m->pattern >> i & 1;
        operands[i] = wg_input(tape, batched[i] ? mapped_frames(m, i, frame) : wg_tensor_retain(m->row.operands[i]));
    }
    for (uint32_t i = 0; i < m->row.attribute_count; i++) sizes[i] = wg_number(m->row.attributes[i]);
    batch_call call = {tape, m->row.op, operands, batched, m->row.operand_count, sizes, m->row.attribute_count, wg_number(frame)};
    return rule(&call);
}

static void check_cells(test_draws *draws, mapped *m)
{
    int64_t frame = test_draw_below(draws, MAPPED_CELLS + 1);
    wg_tape *tape = wg_tape_new(NULL);
    wg_value value = call_rule(m, tape, frame, batch_shared_cells);
    if (wg_is_poison(value)) fail_msg("%s: %s", words(m, frame), wg_tape_error(tape)->message);
    wg_tensor *expected = mapped_expected(m, frame);
    expect(tape, value, NULL, 0, NULL, expected, words(m, frame));
    wg_tensor_release(expected);
}

static void every_row_maps_cell_by_cell(void **state)
{
    (void)state;
    every_case(3, check_cells);
}

/* A rule costs a number of nodes that does not follow the frame, unless the row says so. */
static void check_count(test_draws *draws, mapped *m)
{
    uint32_t counts[2];
    (void)draws;
    for (int turn = 0; turn < 2; turn++) {
        wg_tape *tape = wg_tape_new(NULL);
        wg_value value = call_rule(m, tape, turn ? 4 : 2, batch_record);
        if (wg_is_poison(value)) fail_msg("%s: %s", words(m, 2), wg_tape_error(tape)->message);
        counts[turn] = wg_tape_count(tape);
        wg_tape_free(&tape);
    }
    if ((counts[0] == counts[1]) == batch_is_cell_by_cell(m->row.op)) fail_msg("%s: %u nodes, then %u", words(m, 2), counts[0], counts[1]);
    assert_true(counts[0] <= 16);
}

static void rules_record_whole_arrays(void **state)
{
    (void)state;
    every_case(4, check_count);
}

static void what_rules_refuse(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_size frame = wg_extent(tape, "cells", 2);
    wg_value x = wg_input_required(tape, WG_KIND_F32, 2, (wg_size[]){frame, wg_number(3)});
    batch_call call = {tape, WG_OP_Neg, &x, &(bool){true}, 1, NULL, 0, frame};
    assert_true(wg_is_poison(batch_shared_cells(&call)));
    assert_string_equal(wg_tape_error(tape)->message,
                        "neg is mapped cell by cell, which takes a plain number of cells, not a named extent");
    wg_tape_free(&tape);
    tape = wg_tape_new(NULL);
    wg_size iota[] = {wg_number(1), wg_number(3), wg_number(0), wg_number(WG_KIND_I64)};
    call = (batch_call){.tape = tape, .op = WG_OP_Iota, .attributes = iota, .attribute_count = 4, .frame = wg_number(2)};
    assert_true(wg_is_poison(batch_record(&call)));
    assert_int_equal(wg_tape_error(tape)->code, WG_INTERNAL);
    wg_tape_free(&tape);
    assert_false(wg_op_is_mapped_by_cells(WG_OP_COUNT));
    assert_false(wg_op_is_mapped_by_cells(WG_OP_MatMul));
    assert_false(batch_is_cell_by_cell(WG_OP_COUNT));
}

typedef struct wrong {
    const char *message;
    wg_code code;
    wg_op op;
    uint32_t operand_count, batched, attribute_count;
    int64_t attributes[8], frame;
} wrong;

static const wrong wrongs[] = {
    {"add takes 2 operands, not 1", WG_ARGUMENT, WG_OP_Add, 1, 1, 0, {0}, 3},
    {"reshape needs all of shape", WG_ARGUMENT, WG_OP_Reshape, 1, 1, 2, {5, 1}, 3},
    {"gather needs positions of kind i64 or i32, not f32", WG_KIND, WG_OP_Gather, 2, 1, 4, {0}, 3},
    {"slice has fewer parameters than it was given", WG_ARGUMENT, WG_OP_Slice, 2, 3, 8, {0}, 3},
    {"sum_along has no axis 1 in [4]", WG_ARGUMENT, WG_OP_SumAlong, 1, 1, 2, {1, -1}, 3},
    {"add cannot combine [4] and [3, 4]: shapes differ; broadcast one explicitly", WG_SHAPE, WG_OP_Add, 2, 1, 0, {0}, 3},
    {"neg: batched operand 0 of shape [3, 4] has no frame of 5 in front", WG_SHAPE, WG_OP_Neg, 1, 1, 0, {0}, 5},
    {"neg: no operand is batched", WG_ARGUMENT, WG_OP_Neg, 1, 0, 0, {0}, 3},
};

/* The public call of a row, by a caller who may be wrong about it. */
static void a_wrong_call_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        const wrong *w = &wrongs[i];
        wg_tape *tape = wg_tape_new(NULL);
        wg_value x = wg_input(tape, test_tensor_fill(WG_KIND_F32, 2, TEST_SHAPE(3, 4), 1)), at = x;
        if (w->op == WG_OP_Slice) at = wg_input(tape, test_tensor_fill(WG_KIND_I64, 1, TEST_SHAPE(3), 0));
        wg_size sizes[8];
        for (int j = 0; j < 8; j++) sizes[j] = wg_number(w->attributes[j]);
        bool batched[2] = {w->batched & 1, w->batched >> 1};
        wg_value mapped = wg_record_mapped(tape, w->op, (wg_value[2]){x, at}, batched, w->operand_count, sizes, w->attribute_count,
                                           wg_number(w->frame));
        assert_true(wg_is_poison(mapped));
        assert_string_equal(wg_tape_error(tape)->message, w->message);
        assert_int_equal(wg_tape_error(tape)->code, w->code);
        wg_tape_free(&tape);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_maps),
        cmocka_unit_test(host_rows_map),
        cmocka_unit_test(quantised_rows_map),
        cmocka_unit_test(every_row_follows_a_named_frame),
        cmocka_unit_test(every_row_maps_twice),
        cmocka_unit_test(every_row_maps_cell_by_cell),
        cmocka_unit_test(rules_record_whole_arrays),
        cmocka_unit_test(what_rules_refuse),
        cmocka_unit_test(a_wrong_call_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
