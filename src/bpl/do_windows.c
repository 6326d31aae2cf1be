/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Windows: sizes and movements on leading axes, and what lies beyond the edges. */
#include <string.h>

#include "bpl/whole.h"

/* One axis: its windows' size and step, and how much is added at both ends first. */
typedef struct window_axis {
    int64_t size, step, border, count;
    bool padded;
} window_axis;

typedef struct window_plan {
    uint32_t count; /* of axes with windows */
    window_axis axes[WG_MAX_RANK];
    const char *mode; /* of wg_array_pad; "constant": fill */
} window_plan;

static wg_array *windows(wg_array *array, double fill, const void *user)
{
    const window_plan *plan = user;
    uint32_t rank = array ? wg_array_rank(array) : 0;
    int64_t border[WG_MAX_RANK] = {0};
    int32_t order[WG_MAX_RANK];
    bool any = false;
    for (uint32_t axis = 0; axis < plan->count; axis++) any = (border[axis] = plan->axes[axis].border) || any;
    if (any) array = wg_array_pad(array, border, border, plan->mode, fill);
    for (uint32_t axis = plan->count; axis-- > 0;) array = wg_array_unfold(array, (int32_t)axis, plan->axes[axis].size, plan->axes[axis].step, 1);
    for (uint32_t axis = 0; axis < plan->count; axis++) { /* [count, size, count, size, ..] to [counts, sizes, ..] */
        order[axis] = (int32_t)(2 * axis);
        order[plan->count + axis] = (int32_t)(2 * axis + 1);
    }
    for (uint32_t axis = 2 * plan->count; axis < rank + plan->count; axis++) order[axis] = (int32_t)axis;
    return wg_array_permute(array, order, rank + plan->count);
}

/* Counts, borders and their errors for one axis of length n; a negative size asks for padding. */
static bool measure(bpl_session *session, window_axis *axis, int64_t size, int64_t step, bool edged, int64_t extent)
{
    if (step < 1) return bpl_fail(session, BPL_DOMAIN, "↕: the movement %lld is not positive", (long long)step), false;
    if (size == INT64_MIN || size > session->preferences.limit || -size > session->preferences.limit)
        return bpl_fail(session, BPL_LIMIT, "↕: a window of more than %lld items", (long long)session->preferences.limit), false;
    axis->padded = edged || size < 0;
    axis->size = size < 0 ? -size : size;
    axis->step = step;
    if (!axis->padded) {
        int64_t last = extent - axis->size;
        axis->count = last < 0 ? 0 : last / step + 1;
        return true;
    }
    if (!axis->size || (extent && axis->size >= 2 * extent))
        return bpl_fail(session, BPL_DOMAIN, "↕: a padded window of %lld positions on an axis of length %lld", (long long)axis->size, (long long)extent), false;
    axis->border = extent ? (axis->size - 1) / 2 : 0;
    int64_t places = extent - (axis->size % 2 == 0);
    axis->count = places > 0 ? (places + step - 1) / step : 0;
    return true;
}

/* Sizes and movements as the left argument gives them. */
typedef struct window_options {
    int64_t count;
    int64_t sizes[WG_MAX_RANK], steps[WG_MAX_RANK];
    const char *mode; /* NULL: none was given */
} window_options;

static bool read_numbers(bpl_session *session, const bpl_value *given, int64_t *numbers, int64_t *count)
{
    int64_t *list;
    if (!bpl_to_integers(session, given, "↕: a size or movement", false, &list, count)) return false;
    bool good = *count <= WG_MAX_RANK || bpl_fail(session, BPL_RANK, "↕: %lld sizes, of at most %d axes", (long long)*count, WG_MAX_RANK);
    for (int64_t i = 0; good && i < *count; i++) numbers[i] = list[i];
    bpl_free_integers(session, list, *count);
    return good;
}

static bool read_mode(bpl_session *session, const bpl_value *given, const char **mode)
{
    static const char *const modes[][2] = {{"fill", "constant"}, {"clamp", "edge"}, {"wrap", "wrap"}, {"reflect", "reflect"}, {"symmetric", "symmetric"}};
    char *text;
    size_t length;
    if (!bpl_to_text(session, given, "↕: the edge", &text, &length)) return false;
    for (uint32_t i = 0; i < 5; i++)
        if (!strcmp(text, modes[i][0])) *mode = modes[i][1];
    bool good = *mode || bpl_fail(session, BPL_DOMAIN, "↕: the edge \"%s\" is none of fill, clamp, wrap, reflect, symmetric", text);
    base_free(session->allocator, text, length + 1);
    return good;
}

static bool same_count(bpl_session *session, int64_t sizes, int64_t steps)
{
    return sizes == steps || bpl_fail(session, BPL_LENGTH, "↕: %lld sizes and %lld movements", (long long)sizes, (long long)steps);
}

static bool read_record(bpl_session *session, const bpl_value *record, window_options *options)
{
    const bpl_axis *names = bpl_axis_of(record, 0);
    int64_t steps = -1;
    options->count = -1;
    for (int64_t i = 0; i < bpl_volume(record); i++) {
        char *name = NULL;
        size_t length = 0;
        if (!names->labels[i]) return bpl_fail(session, BPL_DOMAIN, "↕: an option without a name"), false;
        bpl_value *item = bpl_item(session, record, i);
        bool good = item && bpl_to_text(session, names->labels[i], "an option", &name, &length);
        if (good && !strcmp(name, "size")) good = read_numbers(session, item, options->sizes, &options->count);
        else if (good && !strcmp(name, "step")) good = read_numbers(session, item, options->steps, &steps);
        else if (good && !strcmp(name, "edge")) good = read_mode(session, item, &options->mode);
        else if (good) good = bpl_fail(session, BPL_DOMAIN, "↕: there is no option \"%s\": size, step, edge", name) != NULL;
        if (name) base_free(session->allocator, name, length + 1);
        bpl_release(item);
        if (!good) return false;
    }
    if (options->count < 0) return bpl_fail(session, BPL_DOMAIN, "↕: the options have no size"), false;
    for (int64_t i = 0; steps < 0 && i < options->count; i++) options->steps[i] = 1;
    return steps < 0 || same_count(session, options->count, steps);
}

static bool read_rows(bpl_session *session, const bpl_value *rows, window_options *options)
{
    int64_t steps = 0;
    if (bpl_shape(rows)[0] != 2)
        return bpl_fail(session, BPL_LENGTH, "↕: sizes and movements are two rows, not %lld", (long long)bpl_shape(rows)[0]), false;
    bpl_value *first = bpl_cell(session, rows, 0), *second = first ? bpl_cell(session, rows, 1) : NULL;
    bool good = second && read_numbers(session, first, options->sizes, &options->count) && read_numbers(session, second, options->steps, &steps);
    bpl_release(first);
    bpl_release(second);
    return good;
}

static bool read_options(bpl_session *session, const bpl_value *left, window_options *options)
{
    const bpl_axis *names = bpl_rank(left) == 1 ? bpl_axis_of(left, 0) : NULL;
    if (names && names->labels) return read_record(session, left, options);
    if (bpl_rank(left) > 2) return bpl_fail(session, BPL_RANK, "↕: sizes are a number, a vector, or a matrix of two rows"), false;
    if (bpl_rank(left) == 2) return read_rows(session, left, options);
    for (uint32_t i = 0; i < WG_MAX_RANK; i++) options->steps[i] = 1;
    return read_numbers(session, left, options->sizes, &options->count);
}

/* Names and keys: a padded axis keeps its keys, for its windows stand at positions; the axes inside the windows are new. */
static bpl_value *window_keys(bpl_session *session, bpl_value *result, const bpl_value *value, const window_plan *plan)
{
    if (!result || !value->keys) return result;
    bpl_keys *keys = bpl_keys_new(session, bpl_rank(result), bpl_shape(result));
    bool good = keys != NULL;
    for (uint32_t axis = 0; good && axis < bpl_rank(value); axis++) {
        const bpl_axis *old = bpl_axis_of(value, axis);
        if (axis >= plan->count) {
            good = bpl_axis_copy(session, &keys->axes[axis + plan->count], old);
            continue;
        }
        for (int64_t i = 0; good && plan->axes[axis].padded && old->labels && i < plan->axes[axis].count; i++)
            good = bpl_axis_set_label(session, &keys->axes[axis], i, old->labels[i * plan->axes[axis].step]);
    }
    if (!good) bpl_release(result), result = NULL;
    return bpl_settle_keys(session, result, keys);
}

static bpl_value *cut_windows(bpl_session *session, bpl_value *value, const window_options *options)
{
    window_plan plan = {.count = (uint32_t)options->count, .mode = options->mode ? options->mode : "constant"};
    uint32_t rank = bpl_rank(value);
    int64_t shape[2 * WG_MAX_RANK];
    bool empty = false;
    if (plan.count > rank) return bpl_fail(session, BPL_RANK, "↕: windows of %u axes of an array of %u", plan.count, rank);
    if (!plan.count) return bpl_keep(value);
    for (uint32_t axis = 0; axis < plan.count; axis++) {
        if (!measure(session, &plan.axes[axis], options->sizes[axis], options->steps[axis], options->mode, bpl_shape(value)[axis])) return NULL;
        shape[axis] = plan.axes[axis].count;
        shape[plan.count + axis] = plan.axes[axis].size;
    }
    for (uint32_t axis = plan.count; axis < rank; axis++) shape[plan.count + axis] = bpl_shape(value)[axis];
    if (!bpl_shape_allowed(session, rank + plan.count, shape)) return NULL;
    for (uint32_t axis = 0; axis < rank + plan.count; axis++) empty = empty || !shape[axis];
    bpl_value *result = empty ? bpl_nothing_of(session, value, rank + plan.count, shape) : bpl_lay(session, value, windows, &plan);
    return window_keys(session, result, value, &plan);
}

bpl_value *bpl_do_windows(bpl_session *session, const bpl_call *call)
{
    window_options options = {0};
    return read_options(session, call->left, &options) ? cut_windows(session, call->right, &options) : NULL;
}

bpl_value *bpl_do_pairs(bpl_session *session, const bpl_call *call)
{
    return cut_windows(session, call->right, &(window_options){.count = 1, .sizes = {2}, .steps = {1}});
}
