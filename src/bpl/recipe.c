/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Selectors to a recipe: which axes, which positions, and the shape of what is selected. */
#include <math.h>
#include <string.h>

#include "bpl/cells.h"
#include "bpl/write.h"

typedef enum form { AT, WHOLE, REST, NEW } form;

/* A selector before its axes are known. */
typedef struct selector {
    form form;
    bpl_value *value;     /* AT: borrowed */
    uint32_t axis_count;  /* AT: 1, or as many as coordinates have */
    bool array;           /* AT: no atom: has dimensions of its own */
    bool refused;         /* AT: it selects nothing; told when its axis is reached */
    uint32_t axis;        /* the first one it is for */
    uint32_t before;      /* NEW: stands before this axis */
} selector;

/* ---- what a selector is --------------------------------------------------------------------------------------------------------------- */

static bool is_whole(const bpl_value *value)
{
    return value->type == BPL_FUNCTION && value->function->form == BPL_PRIMITIVE && value->function->row == BPL_GLYPH_KEYS;
}

/* ∞ or ¯∞ as an atom: 1, -1; 0 else. Only stored floats are looked at. */
static int infinity_of(bpl_session *session, const bpl_value *value)
{
    double number;
    if (value->type != BPL_NUMBERS || !value->atom || value->class != BPL_CLASS_FLOAT) return 0;
    if (wg_array_is_carried(bpl_array(value)) || !wg_array_double(bpl_array(value), &number)) return wg_lazy_error_clear(session->lazy), 0;
    return isinf(number) ? number > 0 ? 1 : -1 : 0;
}

/* Coordinates: an array of vectors of one length. Their length; 0: it is none. */
static uint32_t coordinate_length(const bpl_value *value)
{
    if (value->type != BPL_ITEMS || !value->items->volume) return 0;
    int64_t length = -1;
    for (int64_t i = 0; i < value->items->volume; i++) {
        const bpl_value *item = value->items->at[i];
        if (item->type != BPL_NUMBERS || item->atom || bpl_rank(item) != 1) return 0;
        if (length >= 0 && bpl_volume(item) != length) return 0;
        length = bpl_volume(item);
    }
    return length > 0 && length <= WG_MAX_RANK ? (uint32_t)length : 0;
}

static bool all_keys(const bpl_value *value)
{
    for (int64_t i = 0; i < value->items->volume; i++) {
        if (!bpl_is_key(value->items->at[i])) return false;
    }
    return true;
}

static void selector_of(bpl_session *session, bpl_value *value, selector *made)
{
    *made = (selector){.form = AT, .value = value, .axis_count = 1, .array = !value->atom, .axis = BPL_NO_AXIS};
    int infinity = infinity_of(session, value);
    if (is_whole(value)) made->form = WHOLE, made->array = false;
    else if (infinity) made->form = infinity > 0 ? REST : NEW, made->axis_count = 0;
    else if (bpl_is_key(value)) made->array = false;
    else if (value->type == BPL_ITEMS && !all_keys(value)) made->refused = !(made->axis_count = coordinate_length(value));
    else made->refused = value->type != BPL_ITEMS && value->type != BPL_RATIONAL && !(value->type == BPL_NUMBERS && bpl_class_is_real(value->class));
    if (made->refused) made->axis_count = 1, made->array = false;
}

/* ---- which axes they are for ------------------------------------------------------------------------------------------------------------ */

static const char *axis_name(const bpl_value *value, uint32_t axis)
{
    const bpl_axis *known = bpl_axis_of(value, axis);
    return known ? known->name : NULL;
}

/* A selector named like an axis is for that axis. */
static bool assign_named(bpl_session *session, const bpl_value *value, selector *s, bool *taken)
{
    if (s->form != AT || s->axis_count != 1 || bpl_rank(s->value) != 1) return true;
    const char *name = axis_name(s->value, 0);
    bool unnamed = !name;
    for (uint32_t axis = 0; name && axis < bpl_rank(value); axis++) {
        const char *own = axis_name(value, axis);
        unnamed |= !own || taken[axis];
        if (!own || taken[axis] || strcmp(own, name)) continue;
        taken[axis] = true, s->axis = axis;
        return true;
    }
    return unnamed || (bpl_fail(session, BPL_INDEX, "no axis is named %s as a selector is", name), false);
}

static bool too_many(bpl_session *session) { return bpl_fail(session, BPL_INDEX, "too many axis selectors"), false; }

/* The others take what is left from the first axis on; ∞ leaves room for those behind it. */
static bool assign_axes(bpl_session *session, const bpl_value *value, selector *selectors, uint32_t count)
{
    bool taken[WG_MAX_RANK] = {false};
    uint32_t rank = bpl_rank(value), needed = 0, rests = 0, at = 0;
    for (uint32_t i = 0; i < count; i++) {
        needed += selectors[i].form == AT || selectors[i].form == WHOLE ? selectors[i].axis_count : 0;
        rests += selectors[i].form == REST;
    }
    if (rests > 1) return bpl_fail(session, BPL_INDEX, "∞ stands for the rest of the axes once"), false;
    if (needed > rank) return too_many(session);
    for (uint32_t i = 0; i < count; i++) {
        if (!assign_named(session, value, &selectors[i], taken)) return false;
    }
    for (uint32_t i = 0, skip = rank - needed; i < count; i++) {
        selector *s = &selectors[i];
        while (at < rank && taken[at]) at++;
        if (s->form == NEW) s->before = at;
        else if (s->form == REST) {
            for (; skip; at++) skip -= !taken[at];
        } else if (s->axis == BPL_NO_AXIS) {
            if (at + s->axis_count > rank) return too_many(session);
            s->axis = at;
            for (uint32_t k = 0; k < s->axis_count; k++) taken[at++] = true;
        }
    }
    return true;
}

/* Selectors [count] with their axes. */
static bool selectors_make(bpl_session *session, const bpl_value *value, bpl_value *const *items, uint32_t count, selector made[2 * WG_MAX_RANK])
{
    if (count > 2 * WG_MAX_RANK) return too_many(session);
    for (uint32_t i = 0; i < count; i++) selector_of(session, items[i], &made[i]);
    return assign_axes(session, value, made, count);
}

/* ---- positions -------------------------------------------------------------------------------------------------------------------------- */

/* Position `number` of an axis; fill where an array is asked for its form only. */
static bool position_check(bpl_session *session, double number, int64_t extent, int64_t *at)
{
    if (isnan(number)) return *at = -1, true;
    if (number != floor(number) || isinf(number)) return bpl_fail(session, BPL_DOMAIN, "a position must be a whole number"), false;
    double from_end = number < 0 ? number + (double)extent : number;
    if (from_end >= 0 && from_end < (double)extent) return *at = (int64_t)from_end, true;
    if (session->prototypes || session->preferences.static_kinds) return *at = -1, true;
    return bpl_fail(session, BPL_INDEX, "position %.0f is outside an axis of length %lld", number, (long long)extent), false;
}

static double number_at(const wg_view *view, int64_t i)
{
    switch (view->kind) {
    case WG_KIND_BOOL: case WG_KIND_U8: return ((const uint8_t *)view->data)[i];
    case WG_KIND_I16: return ((const int16_t *)view->data)[i];
    case WG_KIND_I32: return ((const int32_t *)view->data)[i];
    case WG_KIND_I64: return (double)((const int64_t *)view->data)[i];
    case WG_KIND_F32: return ((const float *)view->data)[i];
    case WG_KIND_F64: return ((const double *)view->data)[i];
    default: return base_number_to_double(view->kind, base_number_load(view->kind, view->data, i));
    }
}

static bool numbers_at(bpl_session *session, const bpl_value *numbers, int64_t extent, int64_t *at)
{
    wg_view view;
    if (!bpl_read(session, numbers, &view)) return false;
    int64_t count = bpl_volume(numbers), first = 0;
    const int64_t *integers = view.data;
    for (; view.kind == WG_KIND_I64 && first < count; first++) { /* up to one that is outside */
        int64_t from_end = integers[first] < 0 ? integers[first] + extent : integers[first];
        if ((uint64_t)from_end >= (uint64_t)extent) break;
        at[first] = from_end;
    }
    for (int64_t i = first; i < count; i++) {
        if (!position_check(session, number_at(&view, i), extent, &at[i])) return false;
    }
    return true;
}

static bool key_at(bpl_session *session, const bpl_axis *axis, const bpl_value *key, int64_t *at)
{
    if (!axis || !axis->labels) return bpl_fail(session, BPL_INDEX, "the axis has no keys"), false;
    if ((*at = bpl_axis_find(session, axis, key)) >= 0) return true;
    if (session->prototypes || session->preferences.static_kinds) return true;
    char *text;
    size_t length;
    if (!bpl_to_text(session, key, "a key", &text, &length)) return false;
    bpl_fail(session, BPL_INDEX, "there is no key %s", text);
    base_free(session->allocator, text, length + 1);
    return false;
}

static bool keys_at(bpl_session *session, const bpl_axis *axis, const bpl_value *keys, int64_t *at)
{
    for (int64_t i = 0; i < keys->items->volume; i++) {
        if (!key_at(session, axis, keys->items->at[i], &at[i])) return false;
    }
    return true;
}

static bool coordinates_at(bpl_session *session, const bpl_value *value, const selector *s, int64_t *at)
{
    const int64_t *shape = bpl_shape(value);
    for (int64_t i = 0; i < s->value->items->volume; i++) {
        wg_view view;
        if (!bpl_read(session, s->value->items->at[i], &view)) return false;
        int64_t position = 0, one;
        for (uint32_t k = 0; k < s->axis_count; k++) {
            if (!position_check(session, number_at(&view, k), shape[s->axis + k], &one)) return false;
            position = one < 0 || position < 0 ? -1 : position * shape[s->axis + k] + one;
        }
        at[i] = position;
    }
    return true;
}

/* Positions [volume of the selector] in the axes of a selector. */
static bool selector_at(bpl_session *session, const bpl_value *value, const selector *s, int64_t *at)
{
    const bpl_value *by = s->value;
    int64_t extent = bpl_shape(value)[s->axis];
    if (bpl_is_key(by)) return key_at(session, bpl_axis_of(value, s->axis), by, at);
    if (by->type == BPL_RATIONAL) {
        double number;
        return bpl_to_double(session, by, "a position", &number) && position_check(session, number, extent, at);
    }
    if (by->type == BPL_NUMBERS) return numbers_at(session, by, extent, at);
    return all_keys(by) ? keys_at(session, bpl_axis_of(value, s->axis), by, at) : coordinates_at(session, value, s, at);
}

/* ---- groups ------------------------------------------------------------------------------------------------------------------------------ */

static bool group_positions(bpl_session *session, bpl_group *group, int64_t count)
{
    group->count = count;
    group->at = group->own = base_allocate(session->allocator, (size_t)(count ? count : 1) * sizeof *group->own);
    if (!group->own) bpl_fail_memory(session);
    return group->own;
}

static void group_axes(bpl_group *group, const bpl_value *value, uint32_t first, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        group->axes[group->axis_count++] = first + k;
        group->extent *= bpl_shape(value)[first + k];
    }
}

/* Whether all of some items lie in [0, extent): neither they nor what is left to the last position is negative, as many at once as make a vector. */
#define ALL_INSIDE(T, U)                                                                                                                  \
    {                                                                                                                                     \
        enum { CHAINS = 16 / sizeof(T) };                                                                                                 \
        const T *items = view->data;                                                                                                      \
        const U greatest = (U)~(U)0 / 2, last = (uint64_t)extent - 1 < greatest ? (U)(extent - 1) : greatest;                             \
        U outside[CHAINS] = {0}, all = 0;                                                                                                 \
        int64_t i = 0;                                                                                                                    \
        for (; i + CHAINS <= count; i += CHAINS)                                                                                          \
            for (int chain = 0; chain < CHAINS; chain++)                                                                                  \
                outside[chain] = (U)(outside[chain] | (U)items[i + chain] | (U)(last - (U)items[i + chain]));                             \
        for (; i < count; i++) all = (U)(all | (U)items[i] | (U)(last - (U)items[i]));                                                    \
        for (int chain = 0; chain < CHAINS; chain++) all = (U)(all | outside[chain]);                                                     \
        return count == 0 || (extent > 0 && all <= greatest);                                                                             \
    }
static bool all_inside(const wg_view *view, int64_t count, int64_t extent)
{
    if (view->kind == WG_KIND_I16) ALL_INSIDE(int16_t, uint16_t)
    if (view->kind == WG_KIND_I32) ALL_INSIDE(int32_t, uint32_t)
    ALL_INSIDE(int64_t, uint64_t)
}
#undef ALL_INSIDE

/* Positions that are i64 and all count from the beginning are taken where they are: *at stays NULL of others. False: an error. */
static bool plain_positions(bpl_session *session, const bpl_value *positions, int64_t extent, const int64_t **at)
{
    wg_view view;
    if (positions->type != BPL_NUMBERS || bpl_kind(positions) != WG_KIND_I64) return true;
    bool dense = wg_array_read_stored(bpl_array(positions), &view) && !view.strides;
    if (dense && !all_inside(&view, bpl_volume(positions), extent)) return true;
    if (!bpl_read(session, positions, &view)) return false;
    if (dense || all_inside(&view, bpl_volume(positions), extent)) *at = view.data;
    return true;
}

static void group_free(bpl_session *session, bpl_group *group)
{
    if (group->own) base_free(session->allocator, group->own, (size_t)(group->count ? group->count : 1) * sizeof *group->own);
    bpl_release(group->positions);
}

/* One selector alone. */
static bool group_single(bpl_session *session, const bpl_value *value, const selector *s, bpl_group *group)
{
    *group = (bpl_group){.extent = 1};
    if (s->refused) return bpl_fail(session, BPL_DOMAIN, "an axis is selected by positions, keys, coordinates, `:`, ∞ or ¯∞"), false;
    group_axes(group, value, s->axis, s->axis_count);
    int64_t count = group->count = s->array ? bpl_volume(s->value) : 1;
    if (s->array && !plain_positions(session, s->value, group->extent, &group->at)) return false;
    if (!group->at && (!group_positions(session, group, count) || !selector_at(session, value, s, group->own))) return false;
    group->rank = s->array ? bpl_rank(s->value) : 0;
    if (group->rank) memcpy(group->shape, bpl_shape(s->value), group->rank * sizeof *group->shape);
    if (s->array) group->positions = bpl_keep(s->value), group->names = s->value->keys;
    return true;
}

/* Joins another selector's positions to a group's: their arrays pair. */
static bool group_join(bpl_session *session, const bpl_value *value, const selector *s, bpl_group *group)
{
    bpl_group other, joined = {.extent = 1};
    bpl_frames frames;
    bool good = group_single(session, value, s, &other);
    if (good) {
        joined = (bpl_group){.extent = group->extent * other.extent, .axis_count = group->axis_count};
        memcpy(joined.axes, group->axes, sizeof joined.axes);
        for (uint32_t k = 0; k < other.axis_count; k++) joined.axes[joined.axis_count++] = other.axes[k];
        good = bpl_frames_pair(session, group->positions, group->rank, other.positions, other.rank, &frames);
        if (good) {
            good = group_positions(session, &joined, frames.volume);
            for (int64_t i = 0; good && i < frames.volume; i++) {
                int64_t a = bpl_frames_cell(&frames, true, i), b = bpl_frames_cell(&frames, false, i);
                int64_t p = a < 0 ? -1 : group->at[a], q = b < 0 ? -1 : other.at[b];
                joined.own[i] = p < 0 || q < 0 ? -1 : p * other.extent + q;
            }
            joined.rank = frames.rank;
            memcpy(joined.shape, frames.shape, sizeof joined.shape);
            if (good) {
                bpl_value *plain = bpl_numbers(session, BPL_CLASS_ORDINARY, WG_KIND_I64, joined.rank, joined.shape, joined.at);
                joined.positions = bpl_settle_keys(session, plain, bpl_keys_keep(frames.keys));
                good = joined.positions;
                if (good) joined.names = joined.positions->keys;
            }
            bpl_frames_free(session, &frames);
        }
    }
    group_free(session, &other);
    group_free(session, group);
    *group = joined;
    return good;
}

/* ---- recipes ----------------------------------------------------------------------------------------------------------------------------- */

void bpl_recipe_free(bpl_session *session, bpl_recipe *recipe)
{
    for (uint32_t g = 0; g < recipe->count; g++) group_free(session, &recipe->groups[g]);
    recipe->count = 0;
}

static bool add_dimensions(bpl_session *session, bpl_recipe *recipe, const bpl_group *group)
{
    for (uint32_t k = 0; k < group->rank; k++) {
        if (recipe->rank == WG_MAX_RANK) return bpl_fail(session, BPL_LIMIT, "an array has at most %d axes", WG_MAX_RANK), false;
        recipe->shape[recipe->rank++] = group->shape[k];
    }
    return true;
}

/* The groups in the order of the source's axes; `joint` is where arrays that pair come together (BPL_NO_AXIS: nowhere). */
static bool make_groups(bpl_session *session, const bpl_value *value, const selector *selectors, uint32_t count, uint32_t joint, bpl_recipe *recipe)
{
    for (uint32_t axis = 0; axis <= bpl_rank(value); axis++) {
        const selector *own = NULL;
        bool within = false;
        for (uint32_t i = 0; i < count; i++) {
            const selector *s = &selectors[i];
            if (s->form == NEW && s->before == axis) recipe->groups[recipe->count++] = (bpl_group){.extent = 1, .count = 1, .rank = 1, .shape = {1}};
            if (s->form != AT || s->axis == BPL_NO_AXIS) continue;
            if (s->axis == axis) own = s;
            within |= axis > s->axis && axis < s->axis + s->axis_count;
        }
        if (axis == bpl_rank(value) || within) continue;
        bpl_group *group = &recipe->groups[recipe->count];
        if (!own) {
            int64_t extent = bpl_shape(value)[axis];
            *group = (bpl_group){.whole = true, .extent = extent, .count = extent, .rank = 1, .shape = {extent}, .axis_count = 1, .axes = {axis}};
            recipe->count++;
            continue;
        }
        if (own->array && joint != BPL_NO_AXIS && own->axis != joint) continue;
        recipe->count++;
        if (!group_single(session, value, own, group)) return false;
        for (uint32_t i = 0; own->array && joint != BPL_NO_AXIS && i < count; i++) {
            const selector *s = &selectors[i];
            if (s->form == AT && s->array && s != own && !group_join(session, value, s, group)) return false;
        }
    }
    return true;
}

bool bpl_selector_axes(bpl_session *session, const bpl_value *value, bpl_value *const *items, uint32_t count, uint32_t *axes)
{
    selector selectors[2 * WG_MAX_RANK];
    if (!selectors_make(session, value, items, count, selectors)) return false;
    for (uint32_t i = 0; i < count; i++) axes[i] = selectors[i].axis;
    return true;
}

/* A position that has a key is selected once: its key would be there twice. */
static bool check_once(bpl_session *session, const bpl_value *value, const bpl_group *group)
{
    const bpl_axis *axis = group->axis_count == 1 && group->at && group->rank ? bpl_axis_of(value, group->axes[0]) : NULL;
    if (!axis || !axis->labels || group->count < 2) return true;
    size_t extent = (size_t)axis->extent;
    bool *seen = base_allocate_zeroed(session->allocator, extent), good = true;
    if (!seen) return bpl_fail_memory(session), false;
    for (int64_t i = 0; good && i < group->count; i++) {
        int64_t at = group->at[i];
        if (at < 0 || !axis->labels[at]) continue;
        good = !seen[at];
        seen[at] = true;
    }
    base_free(session->allocator, seen, extent);
    return good || (bpl_fail(session, BPL_DOMAIN, "a key is selected twice"), false);
}

bool bpl_recipe_make(bpl_session *session, const bpl_value *value, bpl_value *const *items, uint32_t count, bool pair, bpl_recipe *recipe)
{
    selector selectors[2 * WG_MAX_RANK];
    recipe->count = recipe->rank = 0, recipe->volume = 1, recipe->drops = true, recipe->fill = NULL;
    if (!selectors_make(session, value, items, count, selectors)) return false;
    uint32_t joint = BPL_NO_AXIS, arrays = 0, news = 0;
    for (uint32_t i = 0; i < count; i++) {
        news += selectors[i].form == NEW;
        if (selectors[i].form != AT || !selectors[i].array) continue;
        arrays++;
        if (selectors[i].axis < joint) joint = selectors[i].axis;
    }
    if (bpl_rank(value) + news > WG_MAX_RANK) return bpl_fail(session, BPL_LIMIT, "an array has at most %d axes", WG_MAX_RANK), false;
    if (!make_groups(session, value, selectors, count, pair && arrays > 1 ? joint : BPL_NO_AXIS, recipe)) return false;
    for (uint32_t g = 0; g < recipe->count; g++) {
        bpl_group *group = &recipe->groups[g];
        if (!add_dimensions(session, recipe, group) || !check_once(session, value, group)) return false;
        for (int64_t i = 0; group->own && i < group->count; i++) group->fills |= group->own[i] < 0;
        recipe->drops &= group->at && !group->positions;
    }
    recipe->drops &= recipe->count > 0;
    if (base_volume(recipe->rank, recipe->shape, &recipe->volume) && recipe->volume <= session->preferences.limit) return true;
    return bpl_fail(session, BPL_LIMIT, "more than %lld items are selected", (long long)session->preferences.limit), false;
}

/* What a position of a group adds in the source. */
static int64_t group_offset(const bpl_group *group, const int64_t *strides, const int64_t *shape, int64_t position)
{
    if (group->axis_count == 1) return position * strides[group->axes[0]];
    int64_t offset = 0;
    for (uint32_t k = group->axis_count; k-- > 0;) {
        int64_t extent = shape[group->axes[k]];
        offset += position % extent * strides[group->axes[k]];
        position /= extent;
    }
    return offset;
}

int64_t *bpl_recipe_positions(bpl_session *session, const bpl_value *value, const bpl_recipe *recipe)
{
    int64_t *positions = base_allocate(session->allocator, (size_t)(recipe->volume ? recipe->volume : 1) * sizeof *positions);
    int64_t strides[WG_MAX_RANK], stride = 1;
    const int64_t *shape = bpl_shape(value);
    if (!positions) return bpl_fail_memory(session);
    for (uint32_t axis = bpl_rank(value); axis-- > 0;) strides[axis] = stride, stride *= shape[axis];
    /* Group by group: what the first ones made is spread over the positions of the next. From the end, so that it is spread in place. */
    int64_t made = 1;
    positions[0] = 0;
    for (uint32_t g = 0; g < recipe->count; g++) {
        const bpl_group *group = &recipe->groups[g];
        for (int64_t i = recipe->volume ? made : 0; i-- > 0;) {
            int64_t before = positions[i];
            for (int64_t j = group->count; j-- > 0;) {
                int64_t own = group->at ? group->at[j] : j;
                int64_t offset = !group->axis_count ? 0 : own < 0 ? -1 : group_offset(group, strides, shape, own);
                positions[i * group->count + j] = before < 0 || offset < 0 ? -1 : before + offset;
            }
        }
        made *= group->count;
    }
    return positions;
}

/* ---- coordinates that enter items --------------------------------------------------------------------------------------------------------- */

bool bpl_is_deep(const bpl_value *value, const bpl_value *selector)
{
    if (selector->type != BPL_ITEMS || !selector->items->volume || all_keys(selector)) return false;
    bool deep = false;
    for (int64_t i = 0; i < selector->items->volume; i++) {
        const bpl_value *one = selector->items->at[i];
        if (one->atom || bpl_rank(one) != 1 || one->type == BPL_FUNCTION || one->type == BPL_CHARACTERS) return false;
        deep |= one->type == BPL_ITEMS || bpl_volume(one) > bpl_rank(value);
    }
    return deep;
}

/* The row-major position of the first coordinates, those of value's own axes. */
static bool level_position(bpl_session *session, const bpl_value *value, const bpl_value *coordinate, int64_t first, int64_t *position)
{
    uint32_t rank = bpl_rank(value);
    *position = 0;
    if (!rank || first + rank > bpl_volume(coordinate)) return too_many(session);
    for (uint32_t axis = 0; axis < rank; axis++) {
        bpl_value *one = bpl_item(session, coordinate, first + axis);
        selector s = {.form = AT, .value = one, .axis_count = 1, .axis = axis};
        int64_t at = -1;
        bool single = one && (bpl_is_key(one) || (bpl_is_number(one) && bpl_is_unit(one) && (one->type == BPL_RATIONAL || bpl_class_is_real(one->class))));
        if (one && !single) bpl_fail(session, BPL_DOMAIN, "a coordinate is made of positions and keys");
        bool good = single && selector_at(session, value, &s, &at);
        bpl_release(one);
        if (!good) return false;
        *position = at < 0 || *position < 0 ? -1 : *position * bpl_shape(value)[axis] + at;
    }
    return true;
}

bpl_value *bpl_deep_item(bpl_session *session, const bpl_value *value, const bpl_value *coordinate)
{
    bpl_value *item = bpl_keep((bpl_value *)value);
    for (int64_t at = 0; item && at < bpl_volume(coordinate);) {
        int64_t position;
        uint32_t rank = bpl_rank(item);
        bpl_value *inner = NULL;
        if (level_position(session, item, coordinate, at, &position)) inner = position < 0 ? bpl_fill(session, item) : bpl_item(session, item, position);
        bpl_release(item);
        item = inner, at += rank;
    }
    return item;
}
