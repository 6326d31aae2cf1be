/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What tests of the rewrites share: a graph is rewritten and both are run by the oracle. */
#ifndef TESTS_PLAN_REWRITING_H
#define TESTS_PLAN_REWRITING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/rewrites.h"
#include "support/tensors.h"
#include "wengert/ops.h"
#include "wengert/run.h"

#define REWRITING_KEPT 8
#define REWRITING_EVENTS 4096

typedef struct rewriting {
    wg_tape *tape; /* recording; NULL once rewritten */
    wg_value kept[REWRITING_KEPT];
    uint32_t kept_count;
    wg_network *before, *after;
    uint32_t old[REWRITING_KEPT], new[REWRITING_KEPT];
    uint32_t event_count, bits_count;
    plan_rewrite_event events[REWRITING_EVENTS];
} rewriting;

static inline void rewriting_log(void *user, const plan_rewrite_event *event)
{
    rewriting *w = user;
    if (w->event_count < REWRITING_EVENTS) w->events[w->event_count] = *event;
    w->event_count++;
    w->bits_count += event->bits;
}

/* Rewrites what is kept, and seals both. */
static inline void rewriting_make(rewriting *w, bool bits)
{
    wg_error error = {.code = WG_OK};
    wg_value where[REWRITING_KEPT];
    if (wg_tape_error(w->tape)->code) fail_msg("%s", wg_tape_error(w->tape)->message);
    for (uint32_t i = 0; i < w->kept_count; i++) w->old[i] = w->kept[i].position;
    wg_tape *to = wg_tape_new_kind(NULL, wg_tape_kind(w->tape));
    w->event_count = w->bits_count = 0;
    if (!plan_rewrite(w->tape, w->tape->nodes.count, w->old, w->kept_count, bits, rewriting_log, w, to, where))
        fail_msg("%s", wg_tape_error(to)->message);
    for (uint32_t i = 0; i < w->kept_count; i++) w->new[i] = where[i].position;
    w->before = wg_tape_seal(&w->tape, &error);
    w->after = wg_tape_seal(&to, &error);
    if (!w->before || !w->after || !wg_network_verify(w->after, &error)) fail_msg("%s", error.message);
}

static inline void rewriting_free(rewriting *w)
{
    wg_network_release(&w->before);
    wg_network_release(&w->after);
}

/* Rewrites the result once more; answers how many rewrites were made. */
static inline uint32_t rewriting_again(const rewriting *w, bool bits)
{
    static rewriting again;
    wg_value where[REWRITING_KEPT];
    again.event_count = 0;
    wg_tape *to = wg_tape_new_kind(NULL, wg_network_kind(w->after));
    assert_true(plan_rewrite(w->after->graph, w->after->count, w->new, w->kept_count, bits, rewriting_log, &again, to, where));
    wg_tape_free(&to);
    return again.event_count;
}

static inline wg_run *rewriting_run(const wg_network *network, const uint32_t *kept, uint32_t count, const wg_binding *bindings,
                                    uint32_t binding_count, wg_error *error)
{
    wg_symbol roots[REWRITING_KEPT];
    for (uint32_t i = 0; i < count; i++) roots[i] = wg_network_symbol_at(network, kept[i]);
    wg_entry_options options = {.size = sizeof options, .roots = roots, .root_count = count};
    wg_run_options run_options = {.size = sizeof run_options, .bindings = bindings, .binding_count = binding_count};
    wg_entry *entry = wg_entry_new(network, &options, error);
    wg_run *run = entry ? wg_interpret(entry, &run_options, error) : NULL;
    wg_entry_free(&entry);
    return run;
}

/* Whether both give the same results: bit for bit, or (tolerance above 0) within it. Lengths that the old graph refuses prove nothing. Else
 * why holds why not. */
static inline bool rewriting_agree(const rewriting *w, const wg_binding *bindings, uint32_t binding_count, double tolerance, char *why,
                                   size_t bytes)
{
    wg_error old_error = {.code = WG_OK}, new_error = {.code = WG_OK};
    wg_run *old = rewriting_run(w->before, w->old, w->kept_count, bindings, binding_count, &old_error);
    wg_run *new = rewriting_run(w->after, w->new, w->kept_count, bindings, binding_count, &new_error);
    bool good = old && new, refused = !old && binding_count;
    if (!good) snprintf(why, bytes, "before: %.200s; after: %.200s", old ? "runs" : old_error.message, new ? "runs" : new_error.message);
    for (uint32_t i = 0; good && i < w->kept_count; i++) {
        const wg_tensor *a = wg_run_of(old, wg_network_symbol_at(w->before, w->old[i]), &old_error);
        const wg_tensor *b = wg_run_of(new, wg_network_symbol_at(w->after, w->new[i]), &new_error);
        int64_t at = test_differs(a, b);
        if (at == -1 || (tolerance > 0 && at >= 0 && test_difference(b, a) <= tolerance)) continue;
        good = false;
        snprintf(why, bytes, "result %u differs at item %lld: %g and %g", i, (long long)at, at >= 0 ? test_item(a, at) : 0,
                 at >= 0 ? test_item(b, at) : 0);
    }
    wg_run_free(&old);
    wg_run_free(&new);
    return good || refused;
}

static inline bool rewriting_applied(const rewriting *w, const char *rule)
{
    for (uint32_t i = 0; i < w->event_count && i < REWRITING_EVENTS; i++)
        if (!strcmp(w->events[i].rule, rule)) return true;
    return false;
}

#endif
