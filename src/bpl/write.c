/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Writing into arrays: x.[..]←v, paths, their modified forms, and selections. One mechanism: positions are found and checked, new items are
 * computed (a modifying function runs now, while nothing has changed), then bpl_put changes the array: in place where nobody else has it. */
#include <math.h>
#include <string.h>

#include "bpl/put.h"

/* A step of a path: the selectors of its bracket (of a field its key, of a subscript its position), owned. */
typedef struct step {
    const bpl_node *node;
    uint32_t count;
    bpl_value *selectors[2 * WG_MAX_RANK];
} step;

typedef struct path {
    const bpl_node *root;
    uint32_t count;
    step *steps; /* [count] */
} path;

/* ---- paths ------------------------------------------------------------------------------------------------------------------------------- */

static bool step_make(bpl_session *session, const bpl_node *node, step *made)
{
    made->node = node, made->count = 0;
    if (node->kind == BPL_NODE_FIELD) {
        const char *text = bpl_symbol_text(session, node->symbol);
        made->selectors[made->count++] = bpl_string(session, text, strlen(text));
        return made->selectors[0];
    }
    if (node->kind == BPL_NODE_SUBSCRIPT) return made->selectors[made->count++] = bpl_keep((bpl_value *)node->value), true;
    if (node->count - 1 > 2 * WG_MAX_RANK) return bpl_fail(session, BPL_INDEX, "too many axis selectors"), false;
    for (uint32_t i = 1; i < node->count; i++) {
        bpl_value *selector = bpl_evaluate(session, node->children[i]);
        if (!selector) return false;
        if (bpl_is_absent(session, selector)) bpl_release(selector);
        else made->selectors[made->count++] = selector;
    }
    return true;
}

static void path_free(bpl_session *session, path *way)
{
    for (uint32_t i = 0; i < way->count; i++) {
        for (uint32_t k = 0; k < way->steps[i].count; k++) bpl_release(way->steps[i].selectors[k]);
    }
    if (way->steps) base_free(session->allocator, way->steps, way->count * sizeof *way->steps);
}

/* The steps of a target, its name first. */
static bool path_make(bpl_session *session, const bpl_node *target, path *way)
{
    *way = (path){target, 0, NULL};
    for (; way->root->kind != BPL_NODE_NAME; way->root = way->root->children[0]) {
        uint8_t kind = way->root->kind;
        if (kind != BPL_NODE_FIELD && kind != BPL_NODE_AT && kind != BPL_NODE_SUBSCRIPT) {
            session->at = way->root;
            return bpl_fail(session, BPL_SYNTAX, "what is assigned to begins with a name"), false;
        }
        way->count++;
    }
    uint32_t count = way->count;
    if (count && !(way->steps = base_allocate_zeroed(session->allocator, count * sizeof *way->steps))) {
        return way->count = 0, bpl_fail_memory(session), false;
    }
    for (const bpl_node *node = target; count; node = node->children[0]) way->steps[--count].node = node;
    for (uint32_t i = 0; i < way->count; i++) {
        if (!step_make(session, way->steps[i].node, &way->steps[i])) return false;
    }
    return true;
}

/* Where the value of a path's name is held; one of the frame's own for ⍺ and ⍵. NULL and an error. */
static bpl_value **path_place(bpl_session *session, const bpl_node *root)
{
    bpl_frame *frame = session->frame;
    bpl_value *argument = NULL;
    session->at = root;
    if (frame && root->symbol == BPL_SYMBOL_OMEGA) argument = frame->omega;
    if (frame && root->symbol == BPL_SYMBOL_ALPHA) argument = frame->alpha;
    if (argument && !bpl_define(session, root->symbol, argument)) return NULL;
    bpl_value **place = bpl_place(session, root->symbol);
    if (!place) return bpl_fail(session, BPL_VALUE, "%s has no value yet to be changed", bpl_symbol_text(session, root->symbol));
    return bpl_may_write(session, root->symbol) ? place : NULL;
}

static void place_written(bpl_session *session, const bpl_node *root, bpl_value **place)
{
    if (root->symbol == BPL_SYMBOL_OMEGA) session->frame->omega = *place;
    else if (root->symbol == BPL_SYMBOL_ALPHA) session->frame->alpha = *place;
}

/* ---- keys that are not there yet ------------------------------------------------------------------------------------------------------------ */

/* Keys that a selector names: how many; 0: it names none. */
static int64_t keys_named(const bpl_value *selector)
{
    if (bpl_is_key(selector)) return 1;
    if (selector->type != BPL_ITEMS) return 0;
    for (int64_t i = 0; i < selector->items->volume; i++) {
        if (!bpl_is_key(selector->items->at[i])) return 0;
    }
    return selector->items->volume;
}

static bpl_value *key_named(bpl_value *selector, int64_t i) { return bpl_is_key(selector) ? selector : selector->items->at[i]; }

/* How many of the keys that a selector names an axis lacks. */
static int64_t keys_missing(bpl_session *session, const bpl_axis *axis, bpl_value *selector)
{
    int64_t named = keys_named(selector), count = 0;
    for (int64_t i = 0; i < named; i++) count += !axis || !axis->labels || bpl_axis_find(session, axis, key_named(selector, i)) < 0;
    return count;
}

/* Does a step name a key that is not there? */
static bool is_new(bpl_session *session, const bpl_value *value, const step *at)
{
    if (at->count != 1 || bpl_rank(value) != 1) return false;
    return keys_missing(session, bpl_axis_of(value, 0), at->selectors[0]) > 0;
}

/* The same array with the keys of an axis that a selector names and it lacks, behind the others. Owned. */
static bpl_value *with_new_keys(bpl_session *session, bpl_value *grown, const bpl_axis *known, bpl_value *selector, uint32_t axis, int64_t before)
{
    bpl_keys *keys = bpl_keys_new(session, bpl_rank(grown), bpl_shape(grown));
    bool good = keys;
    for (uint32_t k = 0; good && k < bpl_rank(grown); k++) good = !bpl_axis_of(grown, k) || bpl_axis_copy(session, &keys->axes[k], bpl_axis_of(grown, k));
    for (int64_t i = 0, at = before; good && i < keys_named(selector); i++) {
        bpl_value *key = key_named(selector, i);
        if (known && known->labels && bpl_axis_find(session, known, key) >= 0) continue;
        if (keys->axes[axis].labels && bpl_axis_find(session, &keys->axes[axis], key) >= 0) good = bpl_fail(session, BPL_DOMAIN, "a new key is there twice");
        good = good && bpl_axis_set_label(session, &keys->axes[axis], at++, key);
    }
    bpl_value *keyed = good ? bpl_with_keys(session, grown, keys) : NULL;
    bpl_keys_release(session, keys);
    return keyed;
}

/* An axis with places for the keys that it lacks, which hold the fill until they are written; *root stays where nothing is missing. */
static bool append_axis(bpl_session *session, bpl_value **root, bpl_value *selector, uint32_t axis)
{
    bpl_value *value = *root, *selectors[WG_MAX_RANK], *grown = NULL, *keyed = NULL;
    uint32_t rank = bpl_rank(value);
    const bpl_axis *known = bpl_axis_of(value, axis);
    int64_t missing = keys_missing(session, known, selector), before = bpl_shape(value)[axis], extent = before + missing;
    if (!missing) return true;
    double *positions = base_allocate(session->allocator, (size_t)extent * sizeof *positions);
    if (!positions) return bpl_fail_memory(session), false;
    for (int64_t i = 0; i < extent; i++) positions[i] = i < before ? (double)i : (double)NAN;
    for (uint32_t k = 0; k < rank; k++) selectors[k] = bpl_primitive(session, BPL_GLYPH_KEYS);
    bpl_value *all = bpl_numbers(session, BPL_CLASS_FLOAT, WG_KIND_F64, 1, &extent, positions);
    base_free(session->allocator, positions, (size_t)extent * sizeof *positions);
    selectors[axis] = all;
    if (all) grown = bpl_index(session, value, selectors, rank);
    if (grown) keyed = with_new_keys(session, grown, known, selector, axis, before);
    bpl_release(all), bpl_release(grown);
    if (!keyed) return false;
    bpl_release(*root);
    *root = keyed;
    return true;
}

static bool append_keys(bpl_session *session, bpl_value **root, const step *at)
{
    uint32_t axes[2 * WG_MAX_RANK];
    bool any = false;
    for (uint32_t i = 0; i < at->count; i++) any |= keys_named(at->selectors[i]) > 0;
    if (!any || (!bpl_rank(*root) && at->node->kind != BPL_NODE_FIELD)) return true;
    if (!bpl_rank(*root)) return bpl_fail(session, BPL_RANK, "an array without axes has no keys"), false;
    if (!bpl_selector_axes(session, *root, at->selectors, at->count, axes)) return false;
    for (uint32_t i = 0; i < at->count; i++) {
        if (keys_named(at->selectors[i]) && !append_axis(session, root, at->selectors[i], axes[i])) return false;
    }
    return true;
}

/* ---- reading along a path ---------------------------------------------------------------------------------------------------------------- */

static bpl_value *step_read(bpl_session *session, bpl_value *value, const step *at)
{
    session->at = at->node;
    return bpl_index(session, value, at->selectors, at->count);
}

/* What the first `count` steps lead to. Owned. */
static bpl_value *steps_read(bpl_session *session, bpl_value *root, const step *steps, uint32_t count)
{
    bpl_value *value = bpl_keep(root);
    for (uint32_t i = 0; i < count && value; i++) {
        bpl_value *inner = step_read(session, value, &steps[i]);
        bpl_release(value);
        value = inner;
    }
    return value;
}

/* ---- writing along a path ---------------------------------------------------------------------------------------------------------------- */

/* Values with keys go to the places with those keys. Owned. */
static bpl_value *align(bpl_session *session, const bpl_value *array, const bpl_recipe *recipe, bpl_value *value)
{
    bpl_keys *keys = NULL;
    if (!value || !value->keys || !array->keys || recipe->drops) return bpl_keep(value);
    if (!bpl_recipe_keys(session, array, recipe, &keys)) return NULL;
    bpl_value *aligned = bpl_align(session, keys, value);
    bpl_keys_release(session, keys);
    return aligned;
}

/* Consumes old, which *root is again unless good. Answers good. */
static bool restore(bpl_value **root, bpl_value *old, bool good)
{
    if (good) return bpl_release(old), true;
    bpl_release(*root);
    *root = old;
    return false;
}

/* Puts a value at what a step selects of *root. */
static bool step_write(bpl_session *session, bpl_value **root, const step *at, bpl_value *value)
{
    session->at = at->node;
    if (!at->count) return bpl_release(*root), *root = bpl_keep(value), true;
    if (at->count == 1 && bpl_is_deep(*root, at->selectors[0])) {
        const bpl_value *all = at->selectors[0];
        bpl_value *grown = bpl_keep(*root); /* nothing changes unless everything can be written */
        bool good = bpl_is_unit(value) || bpl_volume(value) == 1 || bpl_same_shape(value, all);
        if (!good) bpl_fail(session, BPL_LENGTH, "%lld values for %lld places", (long long)bpl_volume(value), (long long)bpl_volume(all));
        for (int64_t i = 0; good && i < all->items->volume; i++) {
            bpl_value *one = bpl_item(session, value, bpl_volume(value) == 1 ? 0 : i);
            good = one && bpl_deep_write(session, &grown, all->items->at[i], 0, one);
            bpl_release(one);
        }
        bpl_release(good ? *root : grown);
        if (good) *root = grown;
        return good;
    }
    bpl_recipe recipe;
    bpl_value *aligned = NULL;
    int64_t *positions = NULL;
    bpl_value *old = bpl_keep(*root); /* what is appended is given back after an error */
    if (!append_keys(session, root, at)) return restore(root, old, false);
    if (*root == old) bpl_release(old), old = NULL;
    bool good = bpl_recipe_make(session, *root, at->selectors, at->count, true, &recipe) && (positions = bpl_recipe_positions(session, *root, &recipe));
    good = good && (aligned = align(session, *root, &recipe, value));
    good = good && bpl_put(session, root, &(bpl_places){positions, recipe.volume, recipe.rank, recipe.shape, recipe.drops}, aligned);
    bpl_release(aligned);
    if (positions) base_free(session->allocator, positions, (size_t)(recipe.volume ? recipe.volume : 1) * sizeof *positions);
    bpl_recipe_free(session, &recipe);
    return old ? restore(root, old, good) : good;
}

/* One item at a coordinate that enters items. */
bool bpl_deep_write(bpl_session *session, bpl_value **root, const bpl_value *coordinate, int64_t first, bpl_value *value)
{
    uint32_t rank = bpl_rank(*root);
    step at = {session->at, 0, {NULL}};
    bool good = rank && first + rank <= bpl_volume(coordinate);
    if (!good) bpl_fail(session, BPL_INDEX, "a coordinate goes deeper than the array");
    for (uint32_t k = 0; good && k < rank; k++) good = (at.selectors[at.count++] = bpl_item(session, coordinate, first + k));
    if (good && first + rank < bpl_volume(coordinate)) {
        bpl_value *inner = bpl_index(session, *root, at.selectors, at.count);
        good = inner && bpl_deep_write(session, &inner, coordinate, first + rank, value) && step_write(session, root, &at, inner);
        bpl_release(inner);
    } else if (good) {
        good = step_write(session, root, &at, value);
    }
    for (uint32_t k = 0; k < at.count; k++) bpl_release(at.selectors[k]);
    return good;
}

/* The one item that a step leads to, to be changed where it is: its place in *root's items; NULL: it must be read and put back. */
static bpl_value **item_place(bpl_session *session, bpl_value *root, const step *at)
{
    if (root->type != BPL_ITEMS || root->references != 1 || (at->count == 1 && bpl_is_deep(root, at->selectors[0])) || !at->count) return NULL;
    bpl_recipe recipe;
    int64_t *position = NULL;
    bool good = bpl_recipe_make(session, root, at->selectors, at->count, true, &recipe) && recipe.drops;
    if (good && (position = bpl_recipe_positions(session, root, &recipe))) good = position[0] >= 0;
    bpl_value **place = good && position ? &root->items->at[position[0]] : NULL;
    if (position) base_free(session->allocator, position, sizeof *position);
    bpl_recipe_free(session, &recipe);
    return place && (*place)->type == BPL_ITEMS ? place : place && bpl_is_simple(*place) && !(*place)->atom ? place : NULL;
}

static bool steps_write(bpl_session *session, bpl_value **root, const step *steps, uint32_t count, bpl_value *value)
{
    if (bpl_stack_is_low(session)) return bpl_fail(session, BPL_LIMIT, "a path is too long"), false;
    if (count == 1) return step_write(session, root, steps, value);
    session->at = steps->node;
    bool fresh = is_new(session, *root, steps);
    bpl_value **place = fresh ? NULL : item_place(session, *root, steps);
    if (bpl_failed(session)) return false;
    if (place) {
        bool written = steps_write(session, place, steps + 1, count - 1, value);
        bpl_function_stored((*root)->items, *place);
        return bpl_may_store(session, (*root)->items, *place) && written;
    }
    bpl_value *inner = fresh ? bpl_empty(session) : step_read(session, *root, steps);
    bool good = inner && steps_write(session, &inner, steps + 1, count - 1, value) && step_write(session, root, steps, inner);
    bpl_release(inner);
    return good;
}

/* ---- modified forms ---------------------------------------------------------------------------------------------------------------------- */

/* What function makes of what the last step of a path selects now, as a value that is put there. Owned. */
static bpl_value *modified(bpl_session *session, bpl_value *root, const path *way, bpl_value *value, bpl_value *function)
{
    const step *last = &way->steps[way->count - 1];
    bpl_value *inner = steps_read(session, root, way->steps, way->count - 1), *result = NULL;
    session->at = last->node;
    if (!inner) return NULL;
    if (!last->count || (last->count == 1 && bpl_is_deep(inner, last->selectors[0]))) {
        bpl_value *old = step_read(session, inner, last);
        if (old) result = bpl_modify_item(session, function, old, value);
        bpl_release(old);
    } else {
        bpl_recipe recipe;
        int64_t *positions = NULL;
        if (bpl_recipe_make(session, inner, last->selectors, last->count, true, &recipe)) positions = bpl_recipe_positions(session, inner, &recipe);
        bpl_places places = {positions, recipe.volume, recipe.rank, recipe.shape, recipe.drops};
        bpl_value *aligned = positions ? align(session, inner, &recipe, value) : NULL;
        if (positions && (aligned || !value)) result = bpl_modify(session, inner, &places, aligned, function);
        bpl_release(aligned);
        if (positions) base_free(session->allocator, positions, (size_t)(recipe.volume ? recipe.volume : 1) * sizeof *positions);
        bpl_recipe_free(session, &recipe);
    }
    bpl_release(inner);
    return result;
}

bool bpl_write_path(bpl_session *session, const bpl_node *target, bpl_value *value, bpl_value *function)
{
    path way;
    bpl_value *made = NULL, **place;
    bool good = path_make(session, target, &way) && (place = path_place(session, way.root));
    if (good && function) {
        bpl_value *root = bpl_keep(*place);
        good = (made = modified(session, root, &way, value, function));
        bpl_release(root);
        good = good && (place = path_place(session, way.root)); /* the function may have moved it */
    }
    if (good) {
        session->at = target;
        good = bpl_closure_may_leave(session, way.root->symbol, made ? made : value) && steps_write(session, place, way.steps, way.count, made ? made : value);
        place_written(session, way.root, place);
    }
    bpl_release(made);
    path_free(session, &way);
    return good;
}

/* ---- selections ---------------------------------------------------------------------------------------------------------------------------- */

/* Ids stand in the place of items while a selection is evaluated: mixed numbers, so that what was computed with is told from what was
 * selected; 0, a fill, stands for none. */
static uint64_t id_of(uint64_t number)
{
    number ^= number >> 31, number *= 0x7fb5d329728ea185u;
    number ^= number >> 27, number *= 0x81dadef4bc2dd44du;
    return number ^ number >> 33;
}

static uint64_t unshift(uint64_t mixed, unsigned shift)
{
    uint64_t number = mixed;
    for (unsigned done = shift; done < 64; done += shift) number = mixed ^ number >> shift;
    return number;
}

/* The inverse of an odd number modulo 2^64, by Newton's iteration. */
static uint64_t inverse_of(uint64_t odd)
{
    uint64_t inverse = odd;
    for (int i = 0; i < 6; i++) inverse *= 2 - odd * inverse;
    return inverse;
}

uint64_t bpl_id_number(uint64_t id)
{
    uint64_t number = unshift(id, 33) * inverse_of(0x81dadef4bc2dd44du);
    number = unshift(number, 27) * inverse_of(0x7fb5d329728ea185u);
    return unshift(number, 31);
}

static bpl_value *ids_of(bpl_session *session, const bpl_value *value, bool atoms, uint64_t *next);

/* The prototype of ids of an array without items: fills everywhere. Owned. */
static bpl_value *no_ids_like(bpl_session *session, const bpl_value *prototype)
{
    uint64_t next = 1;
    bpl_value *ids = prototype ? ids_of(session, prototype, true, &next) : bpl_integer(session, 0), *fills = ids ? bpl_prototype_of(session, ids) : NULL;
    bpl_release(ids);
    return fills;
}

/* An array like value with ids for its innermost items, numbered from *next on; of atoms atoms, or arrays without axes. Owned. */
static bpl_value *ids_of(bpl_session *session, const bpl_value *value, bool atoms, uint64_t *next)
{
    bpl_value *result = NULL;
    if (bpl_stack_is_low(session)) return bpl_fail(session, BPL_LIMIT, "an array is nested too deep");
    if (value->type == BPL_ITEMS) {
        bpl_items *items = bpl_items_new(session, value->items->rank, value->items->shape);
        bool good = items;
        for (int64_t i = 0; good && i < items->volume; i++) good = (items->at[i] = ids_of(session, value->items->at[i], true, next));
        if (good && !items->volume) good = (items->prototype = no_ids_like(session, value->items->prototype));
        if (!good && items) bpl_items_free(session, items);
        if (good) result = bpl_of_items(session, items);
    } else {
        int64_t volume = bpl_volume(value), *ids = base_allocate(session->allocator, (size_t)(volume ? volume : 1) * sizeof *ids);
        if (!ids) return bpl_fail_memory(session);
        for (int64_t i = 0; i < volume; i++) ids[i] = (int64_t)id_of((*next)++);
        bpl_value *plain = bpl_numbers(session, BPL_CLASS_ORDINARY, WG_KIND_I64, bpl_rank(value), bpl_shape(value), ids);
        base_free(session->allocator, ids, (size_t)(volume ? volume : 1) * sizeof *ids);
        result = plain ? bpl_with_atom(session, plain, atoms && value->atom) : NULL;
        bpl_release(plain);
    }
    result = bpl_settle_keys(session, result, bpl_keys_keep(value->keys));
    if (result && !result->atom) result->weak = true; /* nothing that a function makes is: bpl_whole_item need not look for the others */
    return result;
}

bpl_value *bpl_ids_like(bpl_session *session, const bpl_value *value, uint64_t *next) { return ids_of(session, value, false, next); }

/* Is what is selected the array itself, and no item of it? */
static bool is_whole(const bpl_value *ids, const bpl_value *selected) { return selected == ids && bpl_is_unit(ids); }

/* Calls with their rightmost argument exchanged for ids. Owned. */
static bpl_value *evaluate_selection(bpl_session *session, const bpl_node *node, const bpl_node *target, bpl_value *ids)
{
    if (node == target) return bpl_keep(ids);
    bool dyadic = node->count == 3;
    bpl_value *right = evaluate_selection(session, node->children[node->count - 1], target, ids), *left = NULL, *result = NULL;
    bool good = right && (!dyadic || (left = bpl_evaluate(session, node->children[0])));
    if (left && bpl_is_absent(session, left)) bpl_release(left), left = NULL;
    bpl_value *function = good ? bpl_evaluate_value(session, node->children[dyadic]) : NULL;
    session->at = node;
    if (function) result = bpl_apply(session, function, left, right);
    bpl_release(function), bpl_release(left), bpl_release(right);
    return result;
}

/* What a selection is of: a name or a path at its right end; NULL and SYNTAX. */
static const bpl_node *selection_target(bpl_session *session, const bpl_node *node)
{
    while (node->kind == BPL_NODE_CALL) node = node->children[node->count - 1];
    if (node->kind == BPL_NODE_NAME || node->kind == BPL_NODE_FIELD || node->kind == BPL_NODE_AT || node->kind == BPL_NODE_SUBSCRIPT) return node;
    session->at = node;
    return bpl_fail(session, BPL_SYNTAX, "a selection that is assigned to ends in the name of an array");
}

/* What is written to an innermost item, by its number - 1; or to a whole item of a nested array. */
typedef struct selection {
    bpl_session *session;
    bpl_value *ids;        /* borrowed */
    bpl_value *function;   /* NULL: replaces */
    uint64_t count;        /* of innermost items */
    bpl_value **written;   /* [count], owned: what each becomes; NULL: stays */
    bpl_value **leaves;    /* [count], owned, where a function needs what is there: made at first need */
    bpl_value *source;
    struct whole { const bpl_value *ids; bpl_value *value; } *wholes; /* whole items: owned values */
    uint32_t whole_count, whole_capacity;
} selection;

static bool no_selection(bpl_session *session)
{
    return bpl_fail(session, BPL_DOMAIN, "a selection that is assigned to computes with the items that it selects"), false;
}

static bool write_leaf(selection *s, int64_t id, bpl_value *value)
{
    uint64_t number = bpl_id_number((uint64_t)id);
    if (!number) return true; /* a fill: no item of the array */
    if (number > s->count) return no_selection(s->session);
    bpl_value **place = &s->written[number - 1], *made = NULL;
    if (s->function && !s->leaves) {
        uint64_t next = 0;
        if (!(s->leaves = base_allocate_zeroed(s->session->allocator, s->count * sizeof *s->leaves))) return bpl_fail_memory(s->session), false;
        if (!bpl_leaves(s->session, s->source, s->leaves, &next)) return false;
    }
    if (s->function) {
        made = bpl_modify_item(s->session, s->function, *place ? *place : s->leaves[number - 1], value);
        if (!made) return false;
    }
    bpl_release(*place);
    *place = made ? made : bpl_keep(value);
    return true;
}

/* The item of the source whose ids are this very array; NULL: none of its items is. */
bpl_value *bpl_whole_item(const bpl_value *ids, const bpl_value *source, const bpl_value *selected)
{
    for (int64_t i = 0; ids->type == BPL_ITEMS && i < ids->items->volume; i++) {
        if (ids->items->at[i] == selected) return source->items->at[i];
        bpl_value *inner = bpl_whole_item(ids->items->at[i], source->items->at[i], selected);
        if (inner) return inner;
    }
    return NULL;
}

static bool write_whole(selection *s, const bpl_value *selected, bpl_value *old, bpl_value *value)
{
    bpl_session *session = s->session;
    if (!BASE_RESERVE(session->allocator, s->wholes, s->whole_capacity, s->whole_count + 1)) return bpl_fail_memory(session), false;
    for (uint32_t i = 0; i < s->whole_count; i++) old = s->wholes[i].ids == selected ? s->wholes[i].value : old;
    bpl_value *made = s->function ? bpl_modify_item(session, s->function, old, value) : bpl_keep(value);
    if (!made) return false;
    s->wholes[s->whole_count++] = (struct whole){selected, made};
    return true;
}

static bool write_selected(selection *s, const bpl_value *selected, bpl_value *value)
{
    bpl_session *session = s->session;
    if (bpl_stack_is_low(session)) return bpl_fail(session, BPL_LIMIT, "an array is nested too deep"), false;
    bpl_value *whole = selected->weak && selected != s->ids ? bpl_whole_item(s->ids, s->source, selected) : NULL;
    if (whole) return write_whole(s, selected, whole, value);
    if (selected->type != BPL_ITEMS && (selected->type != BPL_NUMBERS || bpl_kind(selected) != WG_KIND_I64)) return no_selection(session);
    int64_t count = bpl_volume(selected);
    bool spread = !value || bpl_is_unit(value) || bpl_volume(value) == 1;
    if (selected->atom && value) {
        wg_view view;
        return bpl_read(session, selected, &view) && write_leaf(s, *(const int64_t *)view.data, value);
    }
    if (!spread && !bpl_same_shape(value, selected)) {
        return bpl_fail(session, BPL_LENGTH, "the values have another shape than what is selected"), false;
    }
    wg_view view = {.data = NULL};
    if (selected->type == BPL_NUMBERS && !bpl_read(session, selected, &view)) return false;
    for (int64_t i = 0; i < count; i++) {
        bpl_value *one = value ? bpl_item(session, value, spread ? 0 : i) : NULL;
        bool good = one || !value;
        if (good) good = view.data ? write_leaf(s, ((const int64_t *)view.data)[i], one) : write_selected(s, selected->items->at[i], one);
        bpl_release(one);
        if (!good) return false;
    }
    return true;
}

/* The source with what was written; ids tells whole items apart. Owned. */
static bpl_value *rebuild(selection *s, bpl_value *source, const bpl_value *ids, uint64_t *next)
{
    for (uint32_t i = s->whole_count; i-- > 0;) {
        if (s->wholes[i].ids != ids || ids == s->ids) continue;
        for (uint64_t skip = bpl_leaf_count(source); skip; skip--) ++*next;
        return bpl_keep(s->wholes[i].value);
    }
    bpl_session *session = s->session;
    if (source->type != BPL_ITEMS && source->atom) {
        bpl_value *written = s->written[(*next)++];
        return bpl_keep(written ? written : source);
    }
    if (source->type != BPL_ITEMS) {
        uint64_t count = (uint64_t)bpl_volume(source), first = *next, any = 0;
        *next += count;
        for (uint64_t i = 0; i < count; i++) any += s->written[first + i] != NULL;
        if (!any) return bpl_keep(source);
    }
    bpl_items *items = bpl_items_new(session, bpl_rank(source), bpl_shape(source));
    bool good = items;
    uint64_t first = source->type == BPL_ITEMS ? 0 : *next - (uint64_t)bpl_volume(source);
    for (int64_t i = 0; good && i < items->volume; i++) {
        if (source->type == BPL_ITEMS) items->at[i] = rebuild(s, source->items->at[i], ids->items->at[i], next);
        else items->at[i] = s->written[first + (uint64_t)i] ? bpl_keep(s->written[first + (uint64_t)i]) : bpl_item(session, source, i);
        good = items->at[i];
    }
    if (!good) {
        if (items) bpl_items_free(session, items);
        return NULL;
    }
    bpl_value *made = items->volume ? bpl_collect(session, items) : (bpl_items_free(session, items), bpl_keep(source));
    return bpl_settle_keys(session, made, bpl_keys_keep(source->keys));
}

/* What a nested array becomes. Owned. */
static bpl_value *select_nested(bpl_session *session, bpl_value *source, bpl_value *ids, uint64_t count, bpl_value *selected, bpl_value *value,
                                bpl_value *function)
{
    selection s = {.session = session, .ids = ids, .function = function, .count = count, .source = source};
    bpl_value *result = NULL;
    size_t bytes = (size_t)(count ? count : 1) * sizeof *s.written;
    if (!(s.written = base_allocate_zeroed(session->allocator, bytes))) return bpl_fail_memory(session);
    uint64_t next = 0;
    bpl_value *aligned = value ? bpl_align(session, selected->keys, value) : NULL;
    if ((aligned || !value) && write_selected(&s, selected, aligned)) result = rebuild(&s, source, ids, &next);
    bpl_release(aligned);
    for (uint64_t i = 0; i < count; i++) bpl_release(s.written[i]);
    for (uint64_t i = 0; s.leaves && i < count; i++) bpl_release(s.leaves[i]);
    for (uint32_t i = 0; i < s.whole_count; i++) bpl_release(s.wholes[i].value);
    base_free(session->allocator, s.written, bytes);
    if (s.leaves) base_free(session->allocator, s.leaves, (size_t)count * sizeof *s.leaves);
    if (s.wholes) base_free(session->allocator, s.wholes, s.whole_capacity * sizeof *s.wholes);
    return result;
}

/* What an array without nested items becomes: *source is changed. */
static bool select_simple(bpl_session *session, bpl_value **source, uint64_t count, bpl_value *selected, bpl_value *value, bpl_value *function)
{
    wg_view view;
    if (selected->type != BPL_NUMBERS || bpl_kind(selected) != WG_KIND_I64) return no_selection(session);
    if (!bpl_read(session, selected, &view)) return false;
    int64_t volume = bpl_volume(selected), *positions = base_allocate(session->allocator, (size_t)(volume ? volume : 1) * sizeof *positions);
    if (!positions) return bpl_fail_memory(session), false;
    bool good = true;
    for (int64_t i = 0; good && i < volume; i++) {
        uint64_t number = bpl_id_number((uint64_t)((const int64_t *)view.data)[i]);
        if (number > count) good = no_selection(session);
        positions[i] = (int64_t)number - 1;
    }
    bpl_places places = {positions, volume, bpl_rank(selected), bpl_shape(selected), selected->atom};
    bpl_value *aligned = good && value ? bpl_align(session, selected->keys, value) : NULL;
    if (value && !aligned) good = false;
    bpl_value *made = good && function ? bpl_modify(session, *source, &places, aligned, function) : NULL;
    if (good && function && !made) good = false;
    good = good && bpl_put(session, source, &places, made ? made : aligned);
    bpl_release(made), bpl_release(aligned);
    base_free(session->allocator, positions, (size_t)(volume ? volume : 1) * sizeof *positions);
    return good;
}

bpl_value *bpl_ids_write(bpl_session *session, bpl_value *source, bpl_value *ids, uint64_t count, bpl_value *selected, bpl_value *value)
{
    if (is_whole(ids, selected)) return bpl_keep(value);
    if (source->type == BPL_ITEMS || selected->type == BPL_ITEMS) return select_nested(session, source, ids, count, selected, value, NULL);
    bpl_value *changed = bpl_keep(source);
    if (select_simple(session, &changed, count, selected, value, NULL)) return changed;
    bpl_release(changed);
    return NULL;
}

/* ⊢x is x, not its items. */
static bool is_identity(const bpl_node *node)
{
    const bpl_node *function = node->kind == BPL_NODE_CALL && node->count == 2 ? node->children[0] : NULL;
    return function && function->kind == BPL_NODE_FUNCTION && (function->row == BPL_GLYPH_RIGHT || function->row == BPL_GLYPH_LEFT);
}

bool bpl_write_selection(bpl_session *session, const bpl_node *node, bpl_value *value, bpl_value *function)
{
    const bpl_node *target = selection_target(session, node);
    if (!target) return false;
    while (is_identity(node)) node = node->children[1];
    if (target == node) return bpl_assign_to(session, node, value, function);
    bpl_value *source = bpl_evaluate_value(session, target), *ids = NULL, *selected = NULL, *made = NULL;
    uint64_t next = 1;
    bool good = source && (ids = bpl_ids_like(session, source, &next)) && (selected = evaluate_selection(session, node, target, ids));
    if (!selected && session->no_result) session->no_result = false, bpl_fail(session, BPL_VALUE, "the selection has no value");
    session->at = node;
    bool nothing = good && value && bpl_has_labels(value) && bpl_has_labels(source) && !bpl_volume(selected); /* no keys: nothing is aligned */
    if (nothing) made = bpl_keep(source);
    else if (good && is_whole(ids, selected)) good = (made = function ? bpl_modify_item(session, function, source, value) : bpl_keep(value));
    else if (good && source->type == BPL_ITEMS) good = (made = select_nested(session, source, ids, next - 1, selected, value, function));
    else if (good && (good = select_simple(session, &source, next - 1, selected, value, function))) made = bpl_keep(source);
    bpl_release(selected), bpl_release(ids), bpl_release(source);
    if (good) good = target->kind == BPL_NODE_NAME ? bpl_set_nearest(session, target->symbol, made) : bpl_write_path(session, target, made, NULL);
    bpl_release(made);
    return good;
}
