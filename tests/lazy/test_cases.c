/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The reference cases of operations through the door of arrays: the bits that the tape's door has of them, for values, for gradients, and for
 * both under a map and replayed. That these are the right ones is judged where the oracle is. */
#include "lazy/world.h"
#include "support/cases.h"
#include "wengert/grad.h"
#include "wengert/run.h"

static void world_with_kind(world *w, wg_kind kind)
{
    world_open(w, &(wg_lazy_options){.size = sizeof(wg_lazy_options), .kind = kind, .same_bits_only = true}, 1);
}

/* ---- points ---- */

static wg_array *array_of(const world *w, const wg_tensor *tensor)
{
    wg_view view = wg_tensor_view(tensor);
    return wg_array_copy(w->lazy, &view);
}

static void check_points(const char *op, wg_op row, const cases_points *points)
{
    int64_t shape[1] = {points->count}, convert[2] = {points->to, 0};
    uint32_t attributes = row == WG_OP_Convert ? 2 : 0;
    wg_tensor *operands[2] = {test_tensor(points->from, 1, shape, points->a), points->b ? test_tensor(points->from, 1, shape, points->b) : NULL};
    wg_tensor *expected = wg_op_run(NULL, row, (const wg_tensor *const *)operands, points->arity, convert, attributes, NULL);
    world w;
    world_with_kind(&w, WG_KIND_F32);
    wg_scope_open(w.lazy);
    wg_array *arrays[2] = {NULL, NULL};
    for (uint32_t i = 0; i < points->arity; i++) arrays[i] = array_of(&w, operands[i]);
    wg_tensor *result = wg_array_tensor((wg_array_record)(w.lazy, row, arrays, points->arity, convert, attributes));
    if (!expected || !result) fail_msg("%s: %s", op, wg_lazy_error(w.lazy)->message);
    test_assert_same(result, expected, op);
    wg_tensor_release(result);
    wg_scope_close(w.lazy);
    world_close(&w);
    for (int i = 0; i < 2; i++) wg_tensor_release(operands[i]);
    wg_tensor_release(expected);
}

static void points_have_the_same_bits(void **state)
{
    (void)state;
    wg_op row;
    const char *op;
    for (uint32_t i = 0; (op = cases_points_row(i, &row)); i++) {
        cases_file *file = cases_read(op);
        for (uint32_t j = 0; j < file->points_count; j++) check_points(op, row, &file->points[j]);
        cases_free(file);
    }
}

/* ---- whole arrays ---- */

typedef struct recorded_case {
    const cases_file *file;
    const cases_case *entry;
} recorded_case;

static bool record(void *user, wg_tape *tape, const wg_value *operands, wg_value *results)
{
    const recorded_case *c = user;
    (void)tape;
    return cases_record(c->file, c->entry, operands, results) == c->entry->result_count;
}

static bool call_case(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    const recorded_case *c = user;
    return wg_array_compose(lazy, record, user, inputs, c->entry->input_count, outputs, c->entry->result_count);
}

/* What the tape's door answers: results, then (one result alone has them) gradients by the inputs that move. */
typedef struct answers {
    wg_tensor *results[CASES_MOST_TENSORS], *gradients[CASES_MOST_TENSORS];
} answers;

static bool moves(const cases_case *entry, uint32_t input)
{
    return entry->result_count == 1 && entry->cotangent_count == 1 && wg_tensor_kind(entry->inputs[input]) == WG_KIND_F64;
}

static void differentiate(wg_tape *tape, const recorded_case *c, wg_kind kind, wg_value result, const wg_value *inputs, wg_symbol *symbols)
{
    wg_value wrt[CASES_MOST_TENSORS], seed = wg_input(tape, cases_as_kind(c->entry->cotangents[0], kind));
    uint32_t count = 0, at = 0;
    for (uint32_t i = 0; i < c->entry->input_count; i++)
        if (moves(c->entry, i)) wrt[count++] = inputs[i];
    wg_adjoints *adjoints = count ? wg_vjp(tape, result, seed, wrt, count) : NULL;
    if (count && !adjoints) fail_msg("%s: %s", c->entry->name, wg_tape_error(tape)->message);
    for (uint32_t i = 0; i < c->entry->input_count; i++)
        if (moves(c->entry, i)) symbols[i] = wg_symbol_of(wg_adjoints_gradient(adjoints, at++));
    wg_adjoints_free(&adjoints);
}

static answers by_tape(const recorded_case *c, wg_kind kind)
{
    wg_tape *tape = wg_tape_new_kind(NULL, kind);
    wg_value inputs[CASES_MOST_TENSORS], results[CASES_MOST_TENSORS];
    wg_symbol symbols[2 * CASES_MOST_TENSORS];
    for (uint32_t i = 0; i < c->entry->input_count; i++) inputs[i] = wg_input(tape, cases_as_kind(c->entry->inputs[i], kind));
    uint32_t count = cases_record(c->file, c->entry, inputs, results);
    for (uint32_t i = 0; i < count; i++) symbols[i] = wg_symbol_of(results[i]);
    if (count == 1 && c->entry->cotangent_count == 1) differentiate(tape, c, kind, results[0], inputs, symbols + CASES_MOST_TENSORS);
    wg_error error = {.code = WG_OK};
    wg_network *network = wg_tape_seal(&tape, &error);
    wg_run *run = network ? wg_network_forward(network, NULL, &error) : NULL;
    if (!run) fail_msg("%s: %s", c->entry->name, error.message);
    answers a = {{NULL}, {NULL}};
    for (uint32_t i = 0; i < count; i++) a.results[i] = wg_tensor_retain((wg_tensor *)wg_run_of(run, symbols[i], NULL));
    for (uint32_t i = 0; i < c->entry->input_count; i++)
        if (moves(c->entry, i)) a.gradients[i] = wg_tensor_retain((wg_tensor *)wg_run_of(run, symbols[CASES_MOST_TENSORS + i], NULL));
    wg_run_free(&run);
    wg_network_release(&network);
    return a;
}

static void compare(wg_array *array, const wg_tensor *expected, const char *name, const char *how)
{
    char what[96];
    snprintf(what, sizeof what, "%s %s", name, how);
    wg_tensor *got = array ? wg_array_tensor(array) : NULL;
    if (!got) fail_msg("%s: NULL", what);
    test_assert_same(got, expected, what);
    wg_tensor_release(got);
}

/* A frame of one cell, and its one cell. */
static wg_array *framed(wg_array *array, bool away)
{
    int64_t attributes[1 + WG_MAX_RANK] = {away ? wg_array_rank(array) - 1 : wg_array_rank(array) + 1, 1};
    memcpy(attributes + (away ? 1 : 2), wg_array_shape(array) + away, (wg_array_rank(array) - away) * sizeof(int64_t));
    return row_by(array, WG_OP_Reshape, attributes, 1 + (uint32_t)attributes[0]);
}

static void check_mapped(const world *w, const wg_function *f, wg_array *const *inputs, const answers *expected, const char *name)
{
    wg_array *frames[CASES_MOST_TENSORS], *mapped[CASES_MOST_TENSORS];
    for (uint32_t i = 0; i < f->inputs; i++) frames[i] = framed(inputs[i], false);
    if (!wg_function_map(w->lazy, f, frames, NULL, NULL, mapped)) fail_msg("%s mapped: %s", name, wg_lazy_error(w->lazy)->message);
    for (uint32_t i = 0; i < f->outputs; i++) compare(framed(mapped[i], true), expected->results[i], name, "mapped");
}

static void check_compiled(const world *w, const wg_function *f, wg_array *const *inputs, const answers *expected, const char *name)
{
    wg_jit *jit = wg_jit_new(w->lazy, f, NULL, 0);
    for (int times = 0; times < 2; times++) {
        wg_array *outputs[CASES_MOST_TENSORS];
        if (!wg_jit_call(jit, inputs, outputs)) fail_msg("%s compiled: %s", name, wg_lazy_error(w->lazy)->message);
        for (uint32_t i = 0; i < f->outputs; i++) compare(outputs[i], expected->results[i], name, "compiled");
    }
    wg_jit_free(&jit);
}

static void check_array_case(const recorded_case *c, wg_kind kind)
{
    answers expected = by_tape(c, kind);
    world w;
    world_with_kind(&w, kind);
    wg_scope_open(w.lazy);
    wg_array *inputs[CASES_MOST_TENSORS], *values[CASES_MOST_TENSORS] = {NULL}, *gradients[CASES_MOST_TENSORS] = {NULL};
    for (uint32_t i = 0; i < c->entry->input_count; i++) {
        wg_tensor *items = cases_as_kind(c->entry->inputs[i], kind);
        inputs[i] = array_of(&w, items);
        wg_tensor_release(items);
    }
    wg_function f = {call_case, (void *)c, c->entry->input_count, c->entry->result_count};
    if (!wg_function_call(w.lazy, &f, inputs, values)) fail_msg("%s: %s", c->entry->name, wg_lazy_error(w.lazy)->message);
    for (uint32_t i = 0; i < f.outputs; i++) compare(values[i], expected.results[i], c->entry->name, "called");
    if (f.outputs == 1 && c->entry->cotangent_count == 1) {
        wg_tensor *items = cases_as_kind(c->entry->cotangents[0], kind);
        wg_array *cotangent = array_of(&w, items);
        wg_tensor_release(items);
        if (!wg_function_vjp(w.lazy, &f, inputs, &cotangent, values, gradients))
            fail_msg("%s: %s", c->entry->name, wg_lazy_error(w.lazy)->message);
        compare(values[0], expected.results[0], c->entry->name, "under a derivative");
        for (uint32_t i = 0; i < f.inputs; i++)
            if (expected.gradients[i]) compare(gradients[i], expected.gradients[i], c->entry->name, "gradient");
    }
    check_mapped(&w, &f, inputs, &expected, c->entry->name);
    check_compiled(&w, &f, inputs, &expected, c->entry->name);
    wg_scope_close(w.lazy);
    world_close(&w);
    for (int i = 0; i < CASES_MOST_TENSORS; i++) {
        wg_tensor_release(expected.results[i]);
        wg_tensor_release(expected.gradients[i]);
    }
}

static void arrays_have_the_same_bits(void **state)
{
    (void)state;
    uint32_t checked = 0;
    for (const char *const *op = cases_array_rows; *op; op++) {
        cases_file *file = cases_read(*op);
        for (uint32_t i = 0; i < file->case_count; i++, checked++) {
            recorded_case c = {file, &file->cases[i]};
            check_array_case(&c, WG_KIND_F64);
            check_array_case(&c, WG_KIND_F32);
        }
        cases_free(file);
    }
    assert_true(checked > 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(points_have_the_same_bits), cmocka_unit_test(arrays_have_the_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
