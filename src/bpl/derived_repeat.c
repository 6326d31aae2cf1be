/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Repeat (⍣): so many times, until a fixed point, until a function says so, with or without the states on the way; negative counts by the inverse. */
#include "bpl/cells.h"
#include "bpl/evaluate.h"

/* So many steps may wait; then they are computed, each time by the plan of the time before. */
#define WAITING 16

bool bpl_settle_step(bpl_session *session, bpl_value *value, int64_t step)
{
    return step % WAITING || bpl_ask(session, value);
}

static bpl_value *step_once(bpl_session *session, const bpl_call *call, bool backwards, bpl_value *state)
{
    bpl_value *f = call->function->left;
    return bpl_wanted(session, backwards ? bpl_apply_inverse(session, f, call->left, state) : bpl_apply(session, f, call->left, state));
}

/* The state after `count` further steps; consumes state. */
static bpl_value *advance(bpl_session *session, const bpl_call *call, bool backwards, int64_t count, bpl_value *state)
{
    bpl_loop loop = {0};
    for (int64_t i = 1; i <= count && state; i++) {
        int64_t left = count - i + 1;
        bpl_value *old = bpl_loop_state(session, &loop, state, left);
        bool watched = old && bpl_loop_watch(session, &loop, old, left);
        bpl_value *next = old ? step_once(session, call, backwards, old) : NULL;
        bpl_value *last = watched && next ? bpl_loop_run(session, &loop, old, next, NULL, left, false) : NULL;
        if (last) i = count;
        if (last || bpl_failed(session)) bpl_release(next), next = last;
        bpl_release(state), bpl_release(old);
        state = next;
        if (state && !bpl_settle_step(session, state, i)) bpl_release(state), state = NULL;
    }
    return state;
}

/* ---- until --------------------------------------------------------------------------------------------------------------------------- */

/* Whether a state and the one before match, or what a function answers of them; later: as a truth that waits, where that can be. */
static bpl_value *asked(bpl_session *session, bpl_value *predicate, bpl_value *new_state, bpl_value *old, bool later)
{
    const bpl_function *of = predicate && predicate->type == BPL_FUNCTION ? predicate->function : NULL;
    bool same = false;
    if (predicate && !(of && of->form == BPL_PRIMITIVE && of->row == BPL_GLYPH_MATCH)) return bpl_wanted(session, bpl_apply(session, predicate, new_state, old));
    bpl_value *waits = later ? bpl_match_later(session, new_state, old) : NULL;
    if (waits || bpl_failed(session)) return waits;
    return bpl_match(session, new_state, old, &same) ? bpl_boolean(session, same) : NULL;
}

/* The state at which a predicate of it and of the one before holds; NULL: that a step no longer changes. Consumes state. */
static bpl_value *until(bpl_session *session, const bpl_call *call, bool backwards, bpl_value *predicate, bpl_value *state)
{
    bpl_loop loop = {0};
    for (bool stop = false; state && !stop;) {
        bpl_value *old = bpl_loop_state(session, &loop, state, INT64_MAX), *last = NULL;
        bool watched = old && bpl_loop_watch(session, &loop, old, INT64_MAX);
        bpl_value *next = old ? step_once(session, call, backwards, old) : NULL, *answer = next ? asked(session, predicate, next, old, watched) : NULL;
        if (answer && watched) last = bpl_loop_until(session, &loop, old, next, answer);
        bool good = answer && !bpl_failed(session) && (last || bpl_to_truth(session, answer, "what the function of ⍣ answers", &stop));
        stop = stop || last;
        bpl_release(state), bpl_release(old), bpl_release(answer);
        state = !good ? NULL : last ? last : bpl_keep(next);
        bpl_release(next);
    }
    return state;
}

/* ---- counts -------------------------------------------------------------------------------------------------------------------------- */

/* Counts that are asked for, ascending in each direction, with the state after each. */
typedef struct states {
    int64_t *counts;
    bpl_value **values;
    int64_t count, capacity;
} states;

static int64_t states_find(const states *s, int64_t count)
{
    int64_t low = 0, high = s->count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (s->counts[middle] < count) low = middle + 1;
        else high = middle;
    }
    return low;
}

static bool states_add(bpl_session *session, states *s, int64_t count)
{
    int64_t at = states_find(s, count);
    if (at < s->count && s->counts[at] == count) return true;
    if (s->count == s->capacity) {
        int64_t capacity = s->capacity ? 2 * s->capacity : 16;
        size_t old = (size_t)s->capacity, new = (size_t)capacity;
        int64_t *counts = base_resize(session->allocator, s->counts, old * sizeof *counts, new * sizeof *counts);
        if (counts) s->counts = counts;
        bpl_value **values = counts ? base_resize(session->allocator, s->values, old * sizeof *values, new * sizeof *values) : NULL;
        if (!values) {
            if (counts) s->counts = base_resize(session->allocator, s->counts, new * sizeof *counts, old * sizeof *counts);
            return bpl_fail_memory(session), false;
        }
        s->values = values;
        s->capacity = capacity;
    }
    for (int64_t i = s->count++; i > at; i--) s->counts[i] = s->counts[i - 1];
    s->counts[at] = count;
    s->values[s->count - 1] = NULL;
    return true;
}

static void states_free(bpl_session *session, states *s)
{
    for (int64_t i = 0; i < s->count; i++) bpl_release(s->values[i]);
    if (s->counts) base_free(session->allocator, s->counts, (size_t)s->capacity * sizeof *s->counts);
    if (s->values) base_free(session->allocator, s->values, (size_t)s->capacity * sizeof *s->values);
}

static bool collect_counts(bpl_session *session, const bpl_value *counts, states *s)
{
    if (counts->type == BPL_ITEMS) {
        for (int64_t i = 0; i < bpl_volume(counts); i++)
            if (!collect_counts(session, counts->items->at[i], s)) return false;
        return true;
    }
    if (counts->type != BPL_NUMBERS && counts->type != BPL_RATIONAL) return bpl_fail(session, BPL_DOMAIN, "counts of ⍣ are numbers"), false;
    for (int64_t i = 0; i < bpl_volume(counts); i++) {
        bpl_value *item = bpl_item(session, counts, i);
        int64_t *number = NULL, one;
        bool good = item && bpl_to_integers(session, item, "a count of ⍣", true, &number, &one);
        if (good) {
            good = states_add(session, s, number[0]);
            bpl_free_integers(session, number, one);
        }
        bpl_release(item);
        if (!good) return false;
    }
    return true;
}

static bool fill_states(bpl_session *session, const bpl_call *call, states *s, bool backwards)
{
    bpl_value *state = bpl_keep(call->right);
    int64_t zero = states_find(s, 0), done = 0;
    for (int64_t i = 0; i < s->count && state; i++) {
        int64_t at = backwards ? zero - 1 - i : zero + i;
        if (at < 0 || at >= s->count) break;
        int64_t count = backwards ? s->counts[at] == INT64_MIN ? INT64_MAX : -s->counts[at] : s->counts[at];
        state = count == INT64_MAX ? until(session, call, backwards, NULL, state) : advance(session, call, backwards, count - done, state);
        done = count;
        s->values[at] = bpl_keep(state);
    }
    bool good = state != NULL;
    bpl_release(state);
    return good;
}

/* The states in the form of the counts. */
static bpl_value *arrange(bpl_session *session, const bpl_value *counts, const states *s)
{
    if (counts->atom) {
        int64_t *number = NULL, one;
        if (!bpl_to_integers(session, counts, "a count of ⍣", true, &number, &one)) return NULL;
        bpl_value *value = bpl_keep(s->values[states_find(s, number[0])]);
        bpl_free_integers(session, number, one);
        return value;
    }
    bpl_items *items = bpl_items_new(session, bpl_rank(counts), bpl_shape(counts));
    bool good = items != NULL;
    for (int64_t i = 0; good && i < items->volume; i++) {
        bpl_value *item = bpl_item(session, counts, i);
        items->at[i] = item ? arrange(session, item, s) : NULL;
        good = items->at[i] != NULL;
        bpl_release(item);
    }
    if (good) return bpl_settle_keys(session, bpl_collect(session, items), bpl_keys_keep(counts->keys));
    if (items) bpl_items_free(session, items);
    return NULL;
}

bpl_value *bpl_repeat(bpl_session *session, const bpl_call *call, const bpl_value *counts)
{
    states s = {.counts = NULL};
    bpl_value *result = NULL;
    if (collect_counts(session, counts, &s) && fill_states(session, call, &s, false) &&
        fill_states(session, call, &s, true)) result = arrange(session, counts, &s);
    states_free(session, &s);
    return result;
}

/* ---- all states ---------------------------------------------------------------------------------------------------------------------- */

static bool holds(bpl_session *session, bpl_value *predicate, bpl_value *new_state, bpl_value *old, bool *stop)
{
    bpl_value *answer = asked(session, predicate, new_state, old, false);
    bool good = answer && bpl_to_truth(session, answer, "what the function of ⍣ answers", stop);
    bpl_release(answer);
    return good;
}

static bool history_grow(bpl_session *session, bpl_value ***history, int64_t count, int64_t *capacity)
{
    if (count < *capacity) return true;
    size_t old = (size_t)*capacity * sizeof **history, new = old ? 2 * old : 16 * sizeof **history;
    bpl_value **grown = base_resize(session->allocator, *history, old, new);
    if (!grown) return bpl_fail_memory(session), false;
    *history = grown;
    *capacity = (int64_t)(new / sizeof **history);
    return true;
}

/* Every state, the argument first. */
static bpl_value *until_history(bpl_session *session, const bpl_call *call, bpl_value *predicate)
{
    bpl_value **history = NULL, *result = NULL;
    int64_t count = 0, capacity = 0;
    bool stop = false, good = history_grow(session, &history, count, &capacity);
    if (good) history[count++] = bpl_keep(call->right);
    while (good && !stop) {
        good = history_grow(session, &history, count, &capacity) && (history[count] = step_once(session, call, false, history[count - 1])) != NULL;
        if (good) good = holds(session, predicate, history[count], history[count - 1], &stop), count++;
    }
    bpl_items *items = good ? bpl_items_new(session, 1, &count) : NULL;
    for (int64_t i = 0; i < count; i++) {
        if (items) items->at[i] = history[i];
        else bpl_release(history[i]);
    }
    if (items) result = bpl_collect(session, items);
    if (history) base_free(session->allocator, history, (size_t)capacity * sizeof *history);
    return result;
}

bpl_value *bpl_derived_repeat(bpl_session *session, const bpl_call *call)
{
    bpl_value *times = call->function->right;
    if (bpl_is_function(times)) return until(session, call, false, times, bpl_keep(call->right));
    if (bpl_holds_function(times)) {
        if (bpl_rank(times) == 1 && bpl_volume(times) == 1) return until_history(session, call, times->items->at[0]);
        return bpl_fail(session, BPL_DOMAIN, "counts of ⍣ are numbers, and its function is one or, for all states, a vector of one");
    }
    return bpl_repeat(session, call, times);
}
