/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Names of axes and keys of their positions: made, shared, and carried along by functions that move axes and positions. */
#include <string.h>

#include "bpl/bpl.h"

bpl_keys *bpl_keys_new(bpl_session *session, uint32_t rank, const int64_t *shape)
{
    size_t bytes = sizeof(bpl_keys) + rank * sizeof(bpl_axis);
    bpl_keys *keys = base_allocate_zeroed(session->allocator, bytes);
    if (!keys) return bpl_fail_memory(session);
    keys->references = 1;
    keys->rank = rank;
    for (uint32_t axis = 0; axis < rank; axis++)
        keys->axes[axis].extent = shape[axis];
    return keys;
}

bpl_keys *bpl_keys_keep(bpl_keys *keys)
{
    if (keys) keys->references++;
    return keys;
}

void bpl_axis_clear(bpl_session *session, bpl_axis *axis)
{
    if (axis->name) base_free(session->allocator, axis->name, strlen(axis->name) + 1);
    if (axis->labels) {
        for (int64_t position = 0; position < axis->extent; position++)
            bpl_release(axis->labels[position]);
        base_free(session->allocator, axis->labels, (size_t)axis->extent * sizeof *axis->labels);
    }
    axis->name = NULL;
    axis->labels = NULL;
}

void bpl_keys_release(bpl_session *session, bpl_keys *keys)
{
    if (!keys || --keys->references) return;
    for (uint32_t axis = 0; axis < keys->rank; axis++)
        bpl_axis_clear(session, &keys->axes[axis]);
    base_free(session->allocator, keys, sizeof(bpl_keys) + keys->rank * sizeof(bpl_axis));
}

bool bpl_keys_any(const bpl_keys *keys)
{
    for (uint32_t axis = 0; keys && axis < keys->rank; axis++)
        if (keys->axes[axis].name || keys->axes[axis].labels) return true;
    return false;
}

const bpl_axis *bpl_axis_of(const bpl_value *value, uint32_t axis)
{
    return value->keys ? &value->keys->axes[axis] : NULL;
}

bool bpl_axis_set_name(bpl_session *session, bpl_axis *axis, const char *name)
{
    char *copy = NULL;
    if (name) {
        copy = base_allocate(session->allocator, strlen(name) + 1);
        if (!copy) return bpl_fail_memory(session), false;
        memcpy(copy, name, strlen(name) + 1);
    }
    if (axis->name) base_free(session->allocator, axis->name, strlen(axis->name) + 1);
    axis->name = copy;
    return true;
}

bool bpl_axis_set_label(bpl_session *session, bpl_axis *axis, int64_t position, bpl_value *label)
{
    if (!axis->labels) {
        if (!label) return true;
        axis->labels = base_allocate_zeroed(session->allocator, (size_t)axis->extent * sizeof *axis->labels);
        if (!axis->labels) return bpl_fail_memory(session), false;
    }
    bpl_release(axis->labels[position]);
    axis->labels[position] = bpl_keep(label);
    return true;
}

bool bpl_axis_pick(bpl_session *session, bpl_axis *axis, const bpl_axis *from, const int64_t *positions)
{
    if (!from) return true;
    if (from->name && !bpl_axis_set_name(session, axis, from->name)) return false;
    for (int64_t i = 0; from->labels && i < axis->extent; i++) {
        int64_t position = positions ? positions[i] : i;
        if (position >= 0 && position < from->extent && !bpl_axis_set_label(session, axis, i, from->labels[position])) return false;
    }
    return true;
}

bool bpl_axis_copy(bpl_session *session, bpl_axis *axis, const bpl_axis *from)
{
    return bpl_axis_pick(session, axis, from, NULL);
}

bpl_value *bpl_settle_keys(bpl_session *session, bpl_value *value, bpl_keys *keys)
{
    bpl_value *result = value ? bpl_with_keys(session, value, bpl_keys_any(keys) ? keys : NULL) : NULL;
    bpl_release(value);
    bpl_keys_release(session, keys);
    return result;
}

/* ---- records ---------------------------------------------------------------------------------------------------------------------------------- */

bpl_value *bpl_record(bpl_session *session, const char *const *names, bpl_value **values, int64_t count)
{
    bpl_items *items = bpl_items_new(session, 1, &count);
    bpl_keys *keys = items ? bpl_keys_new(session, 1, &count) : NULL;
    bool good = keys != NULL;
    for (int64_t i = 0; i < count; i++) {
        bpl_value *label = good && values[i] ? bpl_string(session, names[i], strlen(names[i])) : NULL;
        good = label && bpl_axis_set_label(session, &keys->axes[0], i, label);
        bpl_release(label);
        if (items) items->at[i] = values[i];
        else bpl_release(values[i]);
    }
    if (good) return bpl_settle_keys(session, bpl_collect(session, items), keys);
    bpl_items_free(session, items);
    bpl_keys_release(session, keys);
    return NULL;
}
