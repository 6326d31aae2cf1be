/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A step over and over: what a call computed of a state (and of an item) is computed again of its result (and of the next item), by the plan of the
 * one step, without a node for each. */
#include <string.h>

#include "lazy/lazy.h"

/* A literal that is spread is a constant of the program. */
static bool is_constant(const wg_array *array)
{
    return array->op == WG_OP_Broadcast && lazy_operands(array)[0]->state == LAZY_LITERAL;
}

/* What the step needs that neither state nor item decides, and that is still to be computed: each such node that a node they decide reads. moves
 * [order_count] is room. */
static uint32_t fixed_of(wg_lazy *lazy, const wg_iteration *of, bool *moves, wg_array **fixed)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < lazy->order_count; i++) {
        const wg_array *array = lazy->order[i];
        moves[i] = array == of->state || (of->item && array == of->item);
        for (uint32_t k = 0; array->state == LAZY_PENDING && k < array->operand_count; k++) moves[i] = moves[i] || moves[lazy_operands(array)[k]->index];
        for (uint32_t k = 0; array->state == LAZY_PENDING && moves[i] && k < array->operand_count; k++) {
            wg_array *operand = lazy_operands(array)[k];
            if (operand->state == LAZY_PENDING && !moves[operand->index] && !is_constant(operand)) fixed[count++] = operand;
        }
    }
    return count;
}

/* Computes it, once for all steps. */
static bool store_fixed(wg_lazy *lazy, const wg_iteration *of, wg_array *const *roots, uint32_t root_count, uint64_t *hash)
{
    if (!lazy_walk(lazy, roots, root_count, hash)) return false;
    uint32_t operands = 0, nodes = lazy->order_count;
    for (uint32_t i = 0; i < nodes; i++) operands += lazy->order[i]->state == LAZY_PENDING ? lazy->order[i]->operand_count : 0;
    wg_array *few[LAZY_FEW], **fixed = LAZY_ITEMS(lazy, few, operands);
    bool some[LAZY_FEW], *moves = LAZY_ITEMS(lazy, some, nodes);
    bool good = (fixed && moves) || lazy_fail_memory(lazy);
    uint32_t count = good ? fixed_of(lazy, of, moves, fixed) : 0;
    if (count) good = lazy_run(lazy, fixed, count) && lazy_walk(lazy, roots, root_count, hash);
    LAZY_ITEMS_END(lazy, some, moves, nodes);
    LAZY_ITEMS_END(lazy, few, fixed, operands);
    return good;
}

static uint32_t leaf_of(const wg_lazy *lazy, const wg_array *array)
{
    for (uint32_t leaf = 0; leaf < lazy->leaf_count; leaf++)
        if (lazy->leaves[leaf] == array) return leaf;
    return WG_NONE;
}

static bool alike(const wg_array *a, const wg_array *b)
{
    return a->kind == b->kind && a->rank == b->rank && a->tag == b->tag && !memcmp(lazy_shape(a), lazy_shape(b), a->rank * sizeof(int64_t));
}

/* What may end a loop. It is not like the state: rewrites could make those two one. */
static bool ends(const wg_array *until) { return until->state == LAZY_PENDING && until->kind == WG_KIND_BOOL && until->rank == 0; }

/* Where the items begin that follow one another; NULL: they do not stand so. */
static char *items_of(const wg_iteration *of)
{
    wg_view view;
    if (of->items->state != LAZY_STORED || of->items->rank != 1 || of->items->kind != of->item->kind || of->item->rank) return NULL;
    if (!lazy_widen(of->items, &view)) return NULL;
    int64_t width = base_kinds[of->items->kind].bytes;
    bool inside = of->first >= 0 && of->first < of->items->volume && of->first + (of->times - 1) * of->ahead >= 0 &&
        of->first + (of->times - 1) * of->ahead < of->items->volume;
    if (view.strides || (uintptr_t)view.data % (uintptr_t)width || !inside) return NULL;
    return (char *)view.data + of->first * width;
}

/* The states that the loop leaves, or the last one. */
static wg_array *loop_results(wg_lazy *lazy, lazy_program *program, lazy_loop *loop, const wg_iteration *of)
{
    int64_t shape[WG_MAX_RANK + 1], bytes = of->state->volume * base_kinds[of->state->kind].bytes;
    wg_error error = {.code = WG_OK};
    loop->places = of->all ? of->times : 2;
    shape[0] = loop->places;
    memcpy(shape + 1, lazy_shape(of->state), of->state->rank * sizeof *shape);
    wg_tensor *results = lazy_tensor_take(lazy, (wg_kind)of->state->kind, of->state->rank + 1, shape, &error), *result = NULL;
    if (!results) return lazy_fail_with(lazy, &error, NULL), NULL;
    bool good = lazy_program_loop(lazy, program, loop, results->data, bytes);
    if (good && !of->all) {
        result = lazy_tensor_take(lazy, (wg_kind)of->state->kind, of->state->rank, shape + 1, &error);
        if (!result) good = lazy_fail_with(lazy, &error, NULL);
        else memcpy(result->data, (char *)results->data + (loop->made - 1) % 2 * bytes, (size_t)bytes);
    }
    if (good && of->all) result = wg_tensor_retain(results);
    wg_tensor_release(results);
    if (!good) return NULL;
    wg_array *array = lazy_stored(lazy, result);
    if (array && of->next->tag) {
        wg_array *tagged = lazy_tagged(array, of->next->tag);
        lazy_release(array);
        array = tagged;
    }
    return array;
}

wg_array *wg_array_iterate(const wg_iteration *of)
{
    wg_lazy *lazy = of && of->next ? of->next->lazy : NULL;
    if (!lazy || !lazy_check(lazy, of->next) || !lazy_check(lazy, of->state) || (of->item && !(lazy_check(lazy, of->item) && lazy_check(lazy, of->items))) ||
        (of->until && !lazy_check(lazy, of->until))) return NULL;
    lazy_join(lazy);
    atomic_store_explicit(&lazy->stopped, false, memory_order_relaxed);
    if (lazy_may_narrow(of->next)) return NULL; /* what a step makes and what it takes need not be of one width */
    if (of->next->state != LAZY_PENDING || of->times < 1 || of->state->rank >= WG_MAX_RANK || !alike(of->next, of->state)) return NULL;
    if (of->until && !(ends(of->until) && !alike(of->until, of->state) && !of->all)) return NULL;
    wg_array *given[2] = {of->state, of->item}, *roots[2] = {of->next, of->until};
    uint32_t root_count = of->until ? 2 : 1;
    uint64_t hash;
    if (!lazy_run(lazy, given, of->item ? 2 : 1) || of->state->state != LAZY_STORED) return NULL;
    if (of->next->state != LAZY_PENDING || (of->until && !ends(of->until))) return NULL; /* they were on the way to the state */
    if (!store_fixed(lazy, of, roots, root_count, &hash)) return NULL;
    lazy_loop loop = {.state = leaf_of(lazy, of->state), .item = of->item ? leaf_of(lazy, of->item) : WG_NONE, .times = of->times};
    if (loop.state == WG_NONE) return NULL;
    if (loop.item != WG_NONE && !(loop.items = items_of(of))) return NULL;
    if (of->item) loop.ahead = of->ahead * base_kinds[of->item->kind].bytes;
    uint32_t places[2] = {of->next->index, of->until ? of->until->index : 0};
    lazy_program *program = lazy_program_of(lazy, places, root_count, hash);
    if (!program || !lazy_program_reads(program, loop.state) || !lazy_program_place(lazy, program)) return NULL;
    wg_array *result = loop_results(lazy, program, &loop, of);
    if (!result) return NULL;
    if (of->made) *of->made = loop.made;
    lazy->figures.reads++;
    LAZY_TELL(lazy, .what = "loop", .read = lazy->figures.reads, .nodes = lazy->order_count);
    return lazy_give(lazy, result);
}
