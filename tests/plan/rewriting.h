/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What tests of the rewrites share: a graph is rewritten and both are run by the oracle. */
#ifndef TESTS_PLAN_REWRITING_H
#define TESTS_PLAN_REWRITING_H

#include <math.h>
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
    uint64_t feed_seed; /* 0: inputs run with their recorded defaults */
    uint32_t event_count, bits_count;
    wg_rewrite events[REWRITING_EVENTS];
} rewriting;

static inline void rewriting_log(void *user, const wg_rewrite *event)
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

#define REWRITING_FEEDS 128

/* Items for each input of bound shape, the same for the same seed and order of inputs. Some are special. Owned by `items`. */
static inline bool rewriting_feeds(const wg_network *network, uint64_t seed, wg_run_options *options, wg_feed *feeds, wg_tensor **items,
                                   wg_error *error)
{
    static const double special[] = {-0.0, 0.0, INFINITY, -INFINITY, NAN, 1e-40, 1, -1};
    test_draws draws = test_draws_new(seed);
    wg_node_facts facts;
    options->feeds = feeds;
    for (uint32_t i = 0; seed && wg_network_node(network, i, &facts); i++) {
        int64_t shape[WG_MAX_RANK];
        if (facts.op != WG_OP_Input) continue;
        wg_symbol symbol = wg_network_symbol_at(network, i);
        if (!wg_network_bound_shape(network, symbol, options->bindings, options->binding_count, shape, error)) return false;
        wg_tensor *tensor = test_tensor_draw(&draws, facts.kind, facts.rank, shape, -2, 2);
        float *data = wg_tensor_data(tensor);
        for (int64_t at = 0; facts.kind == WG_KIND_F32 && at < wg_tensor_volume(tensor); at++)
            if (!test_draw_below(&draws, 8)) data[at] = (float)special[test_draw_below(&draws, 8)];
        assert_true(options->feed_count < REWRITING_FEEDS);
        feeds[options->feed_count] = (wg_feed){symbol, wg_tensor_view(tensor)};
        items[options->feed_count++] = tensor;
    }
    return true;
}

static inline wg_run *rewriting_run(const wg_network *network, const uint32_t *kept, uint32_t count, uint64_t seed,
                                    const wg_binding *bindings, uint32_t binding_count, wg_error *error)
{
    static wg_feed feeds[REWRITING_FEEDS];
    static wg_tensor *items[REWRITING_FEEDS];
    wg_symbol roots[REWRITING_KEPT];
    for (uint32_t i = 0; i < count; i++) roots[i] = wg_network_symbol_at(network, kept[i]);
    wg_entry_options options = {.size = sizeof options, .roots = roots, .root_count = count};
    wg_run_options run_options = {.size = sizeof run_options, .bindings = bindings, .binding_count = binding_count};
    wg_entry *entry = wg_entry_new(network, &options, error);
    bool ready = entry && rewriting_feeds(network, seed, &run_options, feeds, items, error);
    wg_run *run = ready ? wg_interpret(entry, &run_options, error) : NULL;
    wg_entry_free(&entry);
    for (uint32_t i = 0; i < run_options.feed_count; i++) wg_tensor_release(items[i]);
    return run;
}

/* Whether both give the same results: bit for bit, or (tolerance above 0) within it. Lengths that the old graph refuses prove nothing. Else
 * why holds why not. */
static inline bool rewriting_agree(const rewriting *w, const wg_binding *bindings, uint32_t binding_count, double tolerance, char *why,
                                   size_t bytes)
{
    wg_error old_error = {.code = WG_OK}, new_error = {.code = WG_OK};
    wg_run *old = rewriting_run(w->before, w->old, w->kept_count, w->feed_seed, bindings, binding_count, &old_error);
    wg_run *new = rewriting_run(w->after, w->new, w->kept_count, w->feed_seed, bindings, binding_count, &new_error);
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
