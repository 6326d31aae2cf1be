/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Empty arrays whose other extents are so large that no loop over them ends: a session gives what the oracle gives, or fails with its
 * words, and both give it at once. Positions are checked also where they move nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/tensors.h"
#include "wengert/wengert.h"

#define HUGE ((int64_t)1 << 45)

static wg_value empty(wg_tape *tape, wg_kind kind, uint32_t rank, const int64_t *shape, double fill)
{
    wg_size sizes[WG_MAX_RANK];
    for (uint32_t axis = 0; axis < rank; axis++) sizes[axis] = wg_number(shape[axis]);
    return wg_input_fill(tape, kind, rank, sizes, fill);
}

#define EMPTY(kind, fill, ...) empty(tape, WG_KIND_##kind, TEST_RANK(__VA_ARGS__), TEST_SHAPE(__VA_ARGS__), fill)

static wg_value start(wg_tape *tape, double number)
{
    return wg_input_fill(tape, WG_KIND_I64, 0, NULL, number);
}

static wg_value gather_pre(wg_tape *tape) { return wg_gather(EMPTY(F32, 0, 0, 3, 4), EMPTY(I64, 7, 2), 1); }
static wg_value gather_none(wg_tape *tape) { return wg_gather(EMPTY(F32, 0, HUGE, 3, 0), EMPTY(I64, 1, 2), 1); }
static wg_value gather_batch(wg_tape *tape)
{
    return wg_gather_batch(EMPTY(F32, 0, HUGE, 0), EMPTY(I64, 0, HUGE, 0), 1, 1, "error", 0);
}
static wg_value gather_outside(wg_tape *tape) { return wg_gather(EMPTY(F32, 0, HUGE, 3, 0), EMPTY(I64, 3, 2), 1); }
static wg_value scatter_skip(wg_tape *tape)
{
    return wg_scatter_batch(EMPTY(F32, 0, HUGE, 0), EMPTY(I64, 0, 0), 1, 0, wg_number(0), "skip", "add");
}
static wg_value scatter_batch(wg_tape *tape)
{
    return wg_scatter_batch(EMPTY(F32, 0, HUGE, 0), EMPTY(I64, 0, HUGE, 0), 1, 1, wg_number(0), "error", "add");
}
static wg_value scatter_outside(wg_tape *tape) { return wg_scatter(EMPTY(F32, 0, 2, 0, HUGE), EMPTY(I64, 5, 2), 0, wg_number(4)); }
static wg_value slice_none(wg_tape *tape) { return wg_slice(EMPTY(F32, 0, HUGE, 0), start(tape, 0), 1, 0, wg_number(0), "clamp"); }
static wg_value slice_outside(wg_tape *tape)
{
    return wg_slice(EMPTY(F32, 0, 0, 4), start(tape, 3), 1, 0, wg_number(2), "error");
}
static wg_value update_none(wg_tape *tape)
{
    return wg_update(EMPTY(F32, 0, 0, HUGE), EMPTY(F32, 0, 0, HUGE), start(tape, 0), 1, 0, "clamp");
}
static wg_value update_nothing(wg_tape *tape) { return wg_update(EMPTY(F32, 1, 3, 2), EMPTY(F32, 0, 3, 0), start(tape, 1), 1, 0, "clamp"); }
static wg_value update_outside(wg_tape *tape) { return wg_update(EMPTY(F32, 1, 3, 2), EMPTY(F32, 0, 3, 0), start(tape, 9), 1, 0, "error"); }
static wg_value scan_none(wg_tape *tape) { return wg_scan(EMPTY(F32, 0, HUGE, 0), "sum", 1, false); }
static wg_value sort_none(wg_tape *tape) { return wg_sort(EMPTY(F32, 0, HUGE, 0), 1, false); }
static wg_value arg_none(wg_tape *tape) { return wg_arg_max(EMPTY(F32, 0, HUGE, 2, 0), 1); }
static wg_value sum_none(wg_tape *tape) { return wg_sum_along(EMPTY(F32, 0, HUGE, 2, 0), 1); }
static wg_value softmax_none(wg_tape *tape) { return wg_log_softmax(EMPTY(F32, 0, HUGE, 0), 0); }
static wg_value matmul_none(wg_tape *tape) { return wg_matmul(EMPTY(F32, 0, HUGE, 2, 0), EMPTY(F32, 0, HUGE, 0, 0)); }
static wg_value fold_none(wg_tape *tape) { return wg_fold(EMPTY(F32, 0, HUGE, 2, 3, 0), 1, wg_number(3), 1, 1, wg_number(4)); }
static wg_value pad_none(wg_tape *tape) { return wg_pad(EMPTY(F32, 0, HUGE, 0), 0, wg_number(1), wg_number(HUGE + 2), 1); }

static const struct {
    const char *name;
    wg_value (*record)(wg_tape *tape);
    bool fails;
} cases[] = {
#define RUNS(name) {#name, name, false}
#define FAILS(name) {#name, name, true}
    FAILS(gather_pre), RUNS(gather_none), RUNS(gather_batch), FAILS(gather_outside), RUNS(scatter_skip), RUNS(scatter_batch),
    FAILS(scatter_outside), RUNS(slice_none), FAILS(slice_outside), RUNS(update_none), RUNS(update_nothing), FAILS(update_outside),
    RUNS(scan_none), RUNS(sort_none), RUNS(arg_none), RUNS(sum_none), RUNS(softmax_none), RUNS(matmul_none), RUNS(fold_none),
    RUNS(pad_none)};

static void check_case(size_t which)
{
    wg_error error = {.code = WG_OK}, told = {.code = WG_OK};
    wg_tape *tape = wg_tape_new(NULL);
    wg_symbol root = wg_symbol_of(cases[which].record(tape));
    wg_network *network = wg_tape_seal(&tape, &error);
    if (!network) fail_msg("%s: %s", cases[which].name, error.message);
    wg_entry *entry = wg_entry_new(network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = &root, .root_count = 1}, &error);
    wg_plan *plan = wg_plan_new(entry, NULL, 0, &error);
    wg_session *session = wg_session_new(plan, NULL, &error);
    if (!session) fail_msg("%s: %s", cases[which].name, error.message);
    wg_run *run = wg_interpret(entry, NULL, &told);
    bool ran = wg_session_run(session, &(wg_run_options){.size = sizeof(wg_run_options)}, &error);
    if (ran == cases[which].fails || (run != NULL) != ran) fail_msg("%s: oracle %d, session %d", cases[which].name, run != NULL, ran);
    assert_string_equal(error.message, told.message);
    assert_int_equal(error.item, told.item);
    wg_tensor *items = ran ? wg_session_take(session, root, &error) : NULL;
    if (ran) test_assert_same(items, wg_run_of(run, root, &error), cases[which].name);
    wg_tensor_release(items);
    wg_run_free(&run);
    wg_session_free(&session);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

static void test_empty(void **state)
{
    (void)state;
    for (size_t which = 0; which < sizeof cases / sizeof *cases; which++) check_case(which);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_empty)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
