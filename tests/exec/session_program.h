/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A small program, its session, and comparing that with the oracle. */
#ifndef TESTS_EXEC_SESSION_PROGRAM_H
#define TESTS_EXEC_SESSION_PROGRAM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exec/session.h"
#include "support/tensors.h"
#include "wengert/ops.h"
#include "wengert/run.h"

/* ---- a program: x [n, 6], w [6, 4], b [4]; hidden = tanh(x w + b), loss = sum(hidden * hidden), picked = gather(hidden, at) ---- */

typedef struct program {
    wg_network *network;
    wg_symbol x, at, w, b, hidden, loss, picked;
} program;

static inline program program_new(wg_context *context)
{
    wg_error error = {0};
    program p;
    wg_tape *tape = wg_tape_new(context);
    wg_size n = wg_extent(tape, "n", 5);
    wg_value x = wg_input_fill(tape, WG_KIND_F32, 2, (wg_size[]){n, wg_number(6)}, 0.25);
    wg_value at = wg_input(tape, test_tensor(WG_KIND_I64, 1, TEST_SHAPE(2), (double[]){1, 0}));
    wg_value w = wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(6, 4), 0.7, 0.1, 0));
    wg_value b = wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 1, TEST_SHAPE(4), 0.3, 0.2, 0));
    wg_value hidden = wg_tanh(wg_add(wg_matmul(x, w), wg_broadcast_along(b, 0, n)));
    wg_value loss = wg_sum(wg_mul(hidden, hidden)), picked = wg_gather(hidden, at, 0);
    p.x = wg_symbol_of(wg_name(x, "x"));
    p.at = wg_symbol_of(wg_name(at, "at"));
    p.w = wg_symbol_of(w);
    p.b = wg_symbol_of(b);
    p.hidden = wg_symbol_of(hidden);
    p.loss = wg_symbol_of(loss);
    p.picked = wg_symbol_of(picked);
    p.network = wg_tape_seal(&tape, &error);
    if (!p.network) fail_msg("%s", error.message);
    return p;
}

static inline wg_entry *entry_of(const program *p, const wg_symbol *roots, uint32_t count, bool strict)
{
    wg_error error = {0};
    wg_entry *entry = wg_entry_new(
        p->network,
        &(wg_entry_options){.size = sizeof(wg_entry_options), .name = "main", .roots = roots, .root_count = count, .strict_feeds = strict},
        &error);
    if (!entry) fail_msg("%s", error.message);
    return entry;
}

typedef struct ready {
    program program;
    wg_entry *entry;
    wg_plan *plan;
    wg_session *session;
} ready;

static inline ready ready_new(bool strict)
{
    ready r = {.program = program_new(NULL)};
    wg_error error = {0};
    r.entry = entry_of(&r.program, (wg_symbol[]){r.program.loss, r.program.picked}, 2, strict);
    r.plan = wg_plan_new(r.entry, NULL, 0, &error);
    r.session = r.plan ? wg_session_new(r.plan, NULL, &error) : NULL;
    if (!r.session) fail_msg("%s", error.message);
    return r;
}

static inline void ready_free(ready *r)
{
    wg_session_free(&r->session);
    wg_plan_release(&r->plan);
    wg_entry_free(&r->entry);
    wg_network_release(&r->program.network);
}

/* Runs both and compares everything that is declared. */
static inline void assert_as_oracle(const wg_entry *entry, wg_session *session, const wg_run_options *options,
                             const wg_run_options *oracle_options)
{
    wg_error error = {0};
    wg_run *run = wg_interpret(entry, oracle_options, &error);
    if (!run) fail_msg("%s", error.message);
    if (!wg_session_run(session, options, &error)) fail_msg("%s", error.message);
    for (uint32_t i = 0; i < wg_entry_result_count(entry); i++) {
        wg_tensor *got = wg_session_take(session, wg_entry_result(entry, i), &error);
        if (!got) fail_msg("%s", error.message);
        test_assert_same(got, wg_run_of(run, wg_entry_result(entry, i), &error), "session and oracle");
        wg_tensor_release(got);
    }
    wg_run_free(&run);
}

static inline wg_run_options with_feeds(const wg_feed *feeds, uint32_t count)
{
    return (wg_run_options){.size = sizeof(wg_run_options), .feeds = feeds, .feed_count = count};
}

#endif
