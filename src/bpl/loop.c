/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Loops: a function that is called again and again on what it answered. One call of it is watched. If it read no item and did nothing but compute
 * (bpl_act), and answered a value of its argument's form, then every further call builds the same graph of the state before it, and of the next item:
 * lazy/ runs that graph over and over, and the function is not called any more. Else the calls go on one by one, and who asks for events is told why. */
#include "bpl/cells.h"

#define FEWEST_STEPS 4    /* the calls that are watched, and what is made of them, cost so many steps */
#define MOST_WATCHED 3    /* calls that may fail the test: a first one may compute what others find computed */
#define MOST_ITEMS 4096   /* of a state; steps on larger ones are better fused, several in one pass over the items */

/* What the function does with a state that is at hand already cannot be seen: that it reads it. */
bool bpl_loop_watch(bpl_session *session, bpl_loop *loop, const bpl_value *state, int64_t steps)
{
    bool fit = steps >= FEWEST_STEPS && loop->watched < MOST_WATCHED && state->type == BPL_NUMBERS && !state->keys && bpl_volume(state) <= MOST_ITEMS &&
        wg_array_is_pending(bpl_array(state)) && !wg_array_is_carried(bpl_array(state));
    if (!fit) return false;
    wg_lazy_figures figures;
    wg_lazy_figures_of(session->lazy, &figures);
    loop->reads = figures.reads;
    loop->acts = session->acts;
    loop->watched++;
    return true;
}

static const char *why_not(bpl_session *session, const bpl_loop *loop, const bpl_value *state, const bpl_value *next)
{
    wg_lazy_figures figures;
    wg_lazy_figures_of(session->lazy, &figures);
    if (loop->reads != figures.reads) return "a step reads items";
    if (loop->acts != session->acts) return "a step does more than compute";
    bool same = next->type == state->type && next->class == state->class && next->atom == state->atom && next->weak == state->weak &&
        next->nonnegative == state->nonnegative && !next->keys && bpl_same_shape(next, state) && bpl_kind(next) == bpl_kind(state);
    return same ? NULL : "a step answers a value of another form";
}

static bpl_value *run(bpl_session *session, bpl_loop *loop, const bpl_value *state, const wg_iteration *iteration)
{
    loop->watched = MOST_WATCHED;
    wg_scope_open(session->lazy);
    wg_array *array = wg_array_iterate(iteration);
    bpl_value *result = NULL;
    wg_code code = wg_lazy_error(session->lazy)->code;
    bool all = iteration->all;
    if (array) result = bpl_own_array(session, array, state->class, !all && state->atom, !all && state->weak);
    else if (code == WG_CANCELLED || code == WG_MEMORY) bpl_fail_lazy(session);
    else if (code != WG_OK) wg_lazy_error_clear(session->lazy); /* the calls say where they fail */
    wg_scope_close(session->lazy);
    if (result) result->nonnegative = state->nonnegative;
    return result;
}

/* Whether what was watched can be run; who asks for events is told why not. */
static bool runs(bpl_session *session, const bpl_loop *loop, const bpl_value *state, const bpl_value *next)
{
    const char *why = why_not(session, loop, state, next);
    if (why && loop->watched == MOST_WATCHED) wg_lazy_fallback(session->lazy, "a loop", why);
    return !why;
}

bpl_value *bpl_loop_run(bpl_session *session, bpl_loop *loop, bpl_value *state, bpl_value *next, const bpl_loop_items *items, int64_t steps, bool all)
{
    if (!runs(session, loop, state, next)) return NULL;
    wg_iteration iteration = {.next = bpl_array(next), .state = bpl_array(state), .times = steps, .all = all};
    if (items) {
        iteration.item = bpl_array(items->item), iteration.items = bpl_array(items->of);
        iteration.first = items->first, iteration.ahead = items->ahead;
    }
    return run(session, loop, state, &iteration);
}

bpl_value *bpl_loop_until(bpl_session *session, bpl_loop *loop, bpl_value *state, bpl_value *next, const bpl_value *until)
{
    if (!runs(session, loop, state, next) || until->type != BPL_NUMBERS) return NULL;
    return run(session, loop, state, &(wg_iteration){.next = bpl_array(next), .state = bpl_array(state), .times = INT64_MAX, .until = bpl_array(until)});
}

bpl_value *bpl_loop_state(bpl_session *session, const bpl_loop *loop, bpl_value *state, int64_t steps)
{
    bool stands = state->type != BPL_NUMBERS || state->keys || wg_array_is_pending(bpl_array(state)) || wg_array_is_carried(bpl_array(state));
    if (stands || steps < FEWEST_STEPS || loop->watched == MOST_WATCHED || bpl_volume(state) > MOST_ITEMS) return bpl_keep(state);
    wg_scope_open(session->lazy);
    bpl_value *call = bpl_own_array(session, wg_array_stop_gradient(bpl_array(state)), state->class, state->atom, state->weak);
    wg_scope_close(session->lazy);
    if (call) call->nonnegative = state->nonnegative;
    return call;
}

bpl_value *bpl_loop_item(bpl_session *session, const bpl_value *items, int64_t position)
{
    if (items->type != BPL_NUMBERS || items->class == BPL_CLASS_COMPLEX || bpl_rank(items) != 1 || wg_array_is_pending(bpl_array(items))) return NULL;
    wg_index at = wg_index_at(position);
    wg_scope_open(session->lazy);
    bpl_value *item = bpl_leave(session, wg_array_index(bpl_array(items), &at, 1), items->class, true);
    if (item) item->nonnegative = items->nonnegative;
    return item;
}
