/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Programs of everything at once: products, folds, softmaxes, windows, attention, quantised weights, views, indexing, orders, derivatives,
 * over axes whose extents are named and bound again, with values that are carried, observed, retained, read by several stages or written
 * into the caller's memory. Items are of all sorts: NaNs with payloads, zeros of either sign, infinities, subnormals. plan = oracle, bit
 * for bit.
 *
 * MIXTURES_FIRST and MIXTURES_COUNT in the environment run other programs, and more. A failure is shrunk to the fewest steps and printed.
 */
#include <stdlib.h>

#include "exec/mixtures.h"

/* ---- programs ---- */

static void dims_draw(maker *m)
{
    static const int64_t lengths[] = {1,  2,  3,  4,  5,  7,  8,   9,   15,  16,  17,  31,  32,   33,
                                      40, 63, 64, 65, 96, 100, 128, 130, 257, 300, 513, 1030, 4097};
    static const int64_t bound[] = {0, 1, 2, 3, 5, 16, 33, 64, 70};
    for (uint32_t i = 0; i < MOST_DIMS; i++) {
        dim *d = &m->dims[i];
        bool named = m->named && i < 2;
        int64_t number = chance(m, 3) ? 0 : lengths[below(m, named ? 18 : i == 3 ? 27 : 21)];
        snprintf(d->name, sizeof d->name, "n%u", i);
        d->size = named ? (wg_extent)(m->tape, d->name, number) : wg_number(number);
        d->bound[0] = number;
        if (m->mixed && i >= 2) {
            d->size = wg_number(number = m->dims[i - 2].bound[0]);
            d->bound[0] = number;
        }
        for (uint32_t k = 1; k < MOST_BOUND; k++) d->bound[k] = m->mixed || chance(m, 25) ? number : bound[below(m, 9)];
    }
}

static void results_draw(maker *m)
{
    uint32_t count = 1 + below(m, 3);
    m->roots[m->root_count++] = wg_symbol_of(m->values[m->value_count - 1]);
    for (uint32_t i = 1; i < count; i++) m->roots[m->root_count++] = wg_symbol_of(pick_any(m));
    for (uint32_t i = 0; i < m->root_count; i++) /* each once */
        for (uint32_t k = 0; k < i; k++)
            if (m->roots[i].position == m->roots[k].position) m->root_count = i;
    if (chance(m, 25)) m->observes[m->observe_count++] = wg_symbol_of(pick_any(m));
    m->retain = chance(m, 15);
    m->into = chance(m, 25);
    if (!chance(m, 40)) return;
    for (uint32_t tries = 0; tries < 20 && !m->carries && m->input_count; tries++) {
        wg_symbol input = m->inputs[below(m, m->input_count)];
        wg_value in = wg_tape_resolve(m->tape, input), out = pick_any(m);
        if (!same_sizes(in, out)) continue;
        m->carry = (wg_carry){wg_symbol_of(out), input};
        m->carries = true;
    }
}

static void program(uint64_t seed, uint32_t count, maker *m)
{
    static const wg_kind kinds[] = {WG_KIND_F32, WG_KIND_F32, WG_KIND_F64, WG_KIND_F32, WG_KIND_BF16, WG_KIND_F16, WG_KIND_F32};
    *m = (maker){.draws = test_draws_new(seed), .seed = seed, .kind = kinds[seed % 7], .most = seed % 3 ? 6000 : 60000};
    m->tape = wg_tape_new_kind(NULL, m->kind);
    m->named = chance(m, 40);
    m->mixed = seed % 8 == 5;
    m->named = m->named || m->mixed;
    m->wild = chance(m, 50);
    dims_draw(m);
    new_value(m, m->kind, 1);
    uint64_t results = test_draw(&m->draws);
    for (uint32_t i = 0; i < count && m->value_count < MOST_VALUES - 4; i++) add(m, steps[below(m, sizeof steps / sizeof *steps)](m));
    m->draws.state = results; /* what a shorter program has for results does not hang on its steps alone */
    results_draw(m);
}

/* ---- runs ---- */

typedef struct runs {
    wg_feed feeds[MOST_INPUTS];
    wg_tensor *items[MOST_INPUTS];
    wg_binding bindings[2];
    wg_run *run[2]; /* the second with what the first carried */
    wg_error failed[2];
} runs;

static wg_run *run_by_hand(const wg_entry *entry, const maker *m, const runs *r, const wg_tensor *carried, wg_error *error)
{
    wg_feed feeds[MOST_INPUTS];
    memcpy(feeds, r->feeds, sizeof feeds);
    for (uint32_t i = 0; carried && i < m->input_count; i++)
        if (feeds[i].input.position == m->carry.input.position) feeds[i].items = wg_tensor_view(carried);
    wg_run_options options = {.size = sizeof options, .feeds = feeds, .feed_count = m->input_count, .bindings = r->bindings,
                              .binding_count = m->named ? 2 : 0};
    return wg_interpret(entry, &options, error);
}

/* Which lengths fit: an answer of the network. */
static bool runs_new(maker *m, const wg_network *network, const wg_entry *by_hand, uint32_t which, runs *r)
{
    wg_error error = {0};
    memset(r, 0, sizeof *r);
    for (uint32_t i = 0; i < 2; i++) r->bindings[i] = (wg_binding){m->dims[i].name, m->dims[i].bound[which]};
    for (uint32_t i = 0; i < m->input_count; i++) {
        int64_t shape[WG_MAX_RANK];
        wg_node_facts facts;
        wg_network_node(network, m->inputs[i].position, &facts);
        if (!wg_network_bound_shape(network, m->inputs[i], r->bindings, m->named ? 2 : 0, shape, &error)) return false;
        r->items[i] = items(&m->draws, facts.kind, facts.rank, shape, m->wild);
        r->feeds[i] = (wg_feed){m->inputs[i], wg_tensor_view(r->items[i])};
    }
    r->run[0] = run_by_hand(by_hand, m, r, NULL, &r->failed[0]);
    if (m->carries && r->run[0]) r->run[1] = run_by_hand(by_hand, m, r, wg_run_of(r->run[0], m->carry.result, &error), &r->failed[1]);
    return true;
}

static void runs_free(maker *m, runs *r)
{
    for (uint32_t i = 0; i < m->input_count; i++) wg_tensor_release(r->items[i]);
    wg_run_free(&r->run[0]);
    wg_run_free(&r->run[1]);
}

/* Results in memory of the caller's, with a guard behind each. */
static bool run_into(wg_session *session, const wg_entry *entry, const wg_run_options *options, const wg_run *run, char *why, size_t bytes,
                     wg_error *error)
{
    void *results[16];
    uint32_t count = wg_entry_result_count(entry);
    bool good = true;
    for (uint32_t i = 0; i < count; i++) {
        const wg_tensor *wanted = wg_run_of(run, wg_entry_result(entry, i), error);
        results[i] = malloc(wanted->bytes + 64);
        memset(results[i], 0x5a, wanted->bytes + 64);
    }
    wg_run_memory memory = {.size = sizeof memory, .results = results};
    bool ran = wg_session_run_into(session, options, &memory, error);
    for (uint32_t i = 0; ran && good && i < count; i++) {
        wg_error at = {0};
        const wg_tensor *wanted = wg_run_of(run, wg_entry_result(entry, i), &at);
        wg_tensor *got = wg_tensor_new(NULL, wanted->kind, wanted->rank, wanted->shape, results[i], &at);
        int64_t item = test_differs(got, wanted);
        if (item != -1 || memcmp(results[i], wg_tensor_data(wanted), wanted->bytes))
            good = false, snprintf(why, bytes, "node %u %s %s in the caller's memory, item %lld: %.9g, not %.9g",
                                   wg_entry_result(entry, i).position, wg_kind_name(wanted->kind),
                                   BASE_SHAPE_TEXT(wanted->rank, wanted->shape), (long long)item,
                                   item >= 0 ? test_item(got, item) : 0, item >= 0 ? test_item(wanted, item) : 0);
        for (int k = 0; k < 64; k++)
            if (((char *)results[i])[wanted->bytes + (size_t)k] != 0x5a)
                good = false, snprintf(why, bytes, "written behind result %u", i);
        wg_tensor_release(got);
    }
    if (!ran) good = false, snprintf(why, bytes, "%s", error->message);
    for (uint32_t i = 0; i < count; i++) free(results[i]);
    return good;
}

static bool results_hold(wg_session *session, const wg_entry *entry, const wg_run_options *options, const wg_run *run,
                         const wg_error *failed, bool into, char *why, size_t bytes)
{
    wg_error error = {0};
    if (run && into) return run_into(session, entry, options, run, why, bytes, &error);
    bool ran = wg_session_run(session, options, &error);
    if (ran != (run != NULL) || (!ran && strcmp(error.message, failed->message))) {
        snprintf(why, bytes, "the oracle says \"%s\", the session \"%s\"", run ? "" : failed->message, ran ? "" : error.message);
        return false;
    }
    bool good = true;
    for (uint32_t i = 0; ran && good && i < wg_entry_result_count(entry); i++)
        good = equivalence_result(session, run, wg_entry_result(entry, i), why, bytes);
    return good;
}

static bool session_holds(maker *m, wg_session *session, const wg_entry *entry, runs *all, const bool *fits, char *why, size_t bytes)
{
    uint32_t count = m->named ? MOST_BOUND : 1;
    bool good = true;
    for (uint32_t turn = 0; good && turn < count + 1; turn++) {
        uint32_t which = turn % count;
        runs *r = &all[which];
        wg_error error = {0};
        if (m->named) {
            bool bound = wg_session_bind(session, r->bindings, 2, &error);
            if (bound != fits[which]) return snprintf(why, bytes, "binding %u: %s", which, error.message), false;
            if (!bound) continue;
        }
        wg_session_reset(session);
        wg_run_options options = {.size = sizeof options, .feeds = r->feeds, .feed_count = m->input_count};
        good = results_hold(session, entry, &options, r->run[0], &r->failed[0], m->into, why, bytes);
        if (good && m->carries && r->run[0]) {
            wg_feed feeds[MOST_INPUTS];
            uint32_t used = 0;
            for (uint32_t i = 0; i < m->input_count; i++)
                if (m->inputs[i].position != m->carry.input.position) feeds[used++] = r->feeds[i];
            options.feeds = feeds;
            options.feed_count = used;
            good = results_hold(session, entry, &options, r->run[1], &r->failed[1], m->into, why, bytes);
            if (!good) strncat(why, " with what was carried", bytes - strlen(why) - 1);
        }
        if (!good) {
            size_t length = strlen(why);
            snprintf(why + length, bytes - length, ", binding %u of turn %u (n0 = %lld, n1 = %lld)", which, turn,
                     (long long)m->dims[0].bound[which], (long long)m->dims[1].bound[which]);
        }
    }
    return good;
}

static bool plan_holds(maker *m, wg_entry *entry, runs *all, const bool *fits, const char *simd, uint32_t threads, char *why, size_t bytes)
{
    wg_error error = {0};
    wg_context_options made = {.size = sizeof made, .threads = threads, .simd = simd};
    wg_context *context = wg_context_new(&made, &error);
    const wg_context *before = entry->graph->context;
    entry->graph->context = context;
    equivalence_budget budget = {.share = 0.6};
    wg_plan *plan = equivalence_plan(entry, m->seed % 5 ? NULL : &budget, &error);
    wg_session *session = plan && plan_verify(plan, &plan->layout, &error) ? wg_session_new(plan, NULL, &error) : NULL;
    bool good = session != NULL;
    if (!good) snprintf(why, bytes, "%s", error.message);
    if (good) {
        if (m->seed % 4) session->parallel_cost = 0, session->part_cost = 500;
        good = session_holds(m, session, entry, all, fits, why, bytes);
    }
    wg_session_free(&session);
    wg_plan_release(&plan);
    entry->graph->context = before;
    wg_context_free(context);
    if (!good) {
        size_t length = strlen(why);
        snprintf(why + length, bytes - length, " (level %s, %u threads)", simd, threads);
    }
    return good;
}

static bool holds(uint64_t seed, uint32_t count, char *why, size_t bytes, char **dump)
{
    static const char *const levels[] = {"v2", "v3", "v4"};
    static const uint32_t threads[] = {1, 2, 3, 8};
    static runs all[MOST_BOUND];
    maker m;
    wg_error error = {0};
    program(seed, count, &m);
    wg_network *network = wg_tape_seal(&m.tape, &error);
    if (!network) fail_msg("seed %llu: %s", (unsigned long long)seed, error.message);
    wg_entry_options options = {.size = sizeof options, .roots = m.roots, .root_count = m.root_count, .observes = m.observes,
                                .observe_count = m.observe_count, .posture = m.retain ? WG_POSTURE_RETAIN : WG_POSTURE_FORWARD};
    wg_symbol by_hand_roots[8];
    memcpy(by_hand_roots, m.roots, sizeof m.roots);
    if (m.carries) options.carries = &m.carry, options.carry_count = 1;
    wg_entry *entry = wg_entry_new(network, &options, &error);
    if (!entry) { /* such as a carried shape of an extent that changes */
        m.carries = false;
        options.carry_count = 0;
        entry = wg_entry_new(network, &options, &error);
    }
    if (!entry) fail_msg("seed %llu: %s", (unsigned long long)seed, error.message);
    if (m.carries) by_hand_roots[options.root_count++] = m.carry.result;
    for (uint32_t i = 0; m.carries && i + 1 < options.root_count; i++)
        if (by_hand_roots[i].position == m.carry.result.position) options.root_count--, i = 99;
    options.roots = by_hand_roots;
    options.carry_count = 0;
    wg_entry *by_hand = wg_entry_new(network, &options, &error);
    if (!by_hand) fail_msg("seed %llu: %s", (unsigned long long)seed, error.message);
    bool fits[MOST_BOUND], good = true;
    for (uint32_t i = 0; i < (m.named ? MOST_BOUND : 1); i++) {
        fits[i] = runs_new(&m, network, by_hand, i, &all[i]);
        if (fits[i] && !all[i].run[0] && (all[i].failed[0].code == WG_SHAPE || all[i].failed[0].code == WG_SIZE)) fits[i] = false;
    }
    for (uint32_t level = 0; good && level < exec_kernels_count(); level++)
        for (uint32_t t = 0; good && t < 4; t++)
            if (t == (level + seed) % 4 || (level == 2 && t == 0))
                good = plan_holds(&m, entry, all, fits, levels[level], threads[t], why, bytes);
    if (!good && dump) *dump = wg_network_describe(network);
    for (uint32_t i = 0; i < (m.named ? MOST_BOUND : 1); i++) runs_free(&m, &all[i]);
    wg_entry_free(&entry);
    wg_entry_free(&by_hand);
    wg_network_release(&network);
    return good;
}

static void check(uint64_t seed)
{
    char why[2048] = "";
    uint32_t count = 2 + (uint32_t)(seed * 7919 % 23);
    if (holds(seed, count, why, sizeof why, NULL)) return;
    for (uint32_t fewer = 0; fewer <= count; fewer++) {
        char *dump = NULL;
        if (holds(seed, fewer, why, sizeof why, &dump)) continue;
        fputs(dump ? dump : "", stderr);
        fail_msg("seed %llu with %u steps: %s", (unsigned long long)seed, fewer, why);
    }
}

static uint64_t wanted(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void test_mixtures(void **state)
{
    (void)state;
    uint64_t first = wanted("MIXTURES_FIRST", 1), count = wanted("MIXTURES_COUNT", 300);
    for (uint64_t seed = first; seed < first + count; seed++) check(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mixtures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
