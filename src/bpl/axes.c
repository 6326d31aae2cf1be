/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Names of axes and keys of their positions: made, shared, and carried along by functions that move axes and positions. */
#include <string.h>

#include "base/hash.h"
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

/* ---- labels by their texts ---------------------------------------------------------------------------------------------------------------- */

/* Open addressing, positions + 1. */
typedef struct label_entry {
    uint64_t hash;
    int64_t position;
} label_entry;

struct bpl_label_index {
    uint64_t mask; /* places - 1 */
    int64_t twice; /* the position of a label that stands before it, too; -1: none does */
    label_entry entries[];
};

/* Shorter axes are searched from their beginning. */
#define SHORT_AXIS 8

static bool label_hash(bpl_session *session, const bpl_value *label, uint64_t *hash)
{
    wg_view view;
    if (!bpl_read(session, label, &view)) return false;
    *hash = base_hash(view.data, (size_t)bpl_volume(label) * sizeof(uint32_t), 0);
    return true;
}

static size_t index_bytes(uint64_t mask) { return sizeof(struct bpl_label_index) + (mask + 1) * sizeof(label_entry); }

static int64_t index_find(bpl_session *session, const bpl_axis *axis, const struct bpl_label_index *index, const bpl_value *label, uint64_t hash,
                          uint64_t *place)
{
    for (*place = hash & index->mask; index->entries[*place].position; *place = (*place + 1) & index->mask) {
        const label_entry *entry = &index->entries[*place];
        if (entry->hash == hash && bpl_same_text(session, axis->labels[entry->position - 1], label)) return entry->position - 1;
    }
    return -1;
}

/* The index of an axis; NULL without memory, or where a label cannot be read. */
static const struct bpl_label_index *index_of(bpl_session *session, bpl_axis *axis)
{
    if (axis->index) return axis->index;
    uint64_t size = 2 * SHORT_AXIS, place, hash;
    while (size < 2 * (uint64_t)axis->extent) size *= 2;
    struct bpl_label_index *index = base_allocate_zeroed(session->allocator, index_bytes(size - 1));
    if (!index) return bpl_fail_memory(session);
    index->mask = size - 1;
    index->twice = -1;
    axis->index = index;
    for (int64_t i = 0; i < axis->extent; i++) {
        if (!axis->labels[i]) continue;
        if (!label_hash(session, axis->labels[i], &hash)) {
            base_free(session->allocator, index, index_bytes(index->mask));
            return axis->index = NULL;
        }
        if (index_find(session, axis, index, axis->labels[i], hash, &place) < 0) index->entries[place] = (label_entry){hash, i + 1};
        else if (index->twice < 0) index->twice = i;
    }
    return index;
}

int64_t bpl_axis_find(bpl_session *session, const bpl_axis *axis, const bpl_value *label)
{
    if (!axis || !axis->labels || label->type != BPL_CHARACTERS) return -1;
    if (axis->extent > SHORT_AXIS) {
        const struct bpl_label_index *index = index_of(session, (bpl_axis *)axis);
        uint64_t hash, place;
        return index && label_hash(session, label, &hash) ? index_find(session, axis, index, label, hash, &place) : -1;
    }
    for (int64_t i = 0; i < axis->extent; i++)
        if (axis->labels[i] && bpl_same_text(session, axis->labels[i], label)) return i;
    return -1;
}

bool bpl_labels_distinct(bpl_session *session, const bpl_axis *axis)
{
    if (!axis->labels || axis->extent < 2) return true;
    const struct bpl_label_index *index = index_of(session, (bpl_axis *)axis);
    if (!index || index->twice < 0) return index != NULL;
    char *text;
    size_t length;
    if (!bpl_to_text(session, axis->labels[index->twice], "a key", &text, &length)) return false;
    bpl_fail(session, BPL_DOMAIN, "the key \"%s\" would stand twice on one axis", text);
    base_free(session->allocator, text, length + 1);
    return false;
}

static void drop_index(bpl_session *session, bpl_axis *axis)
{
    if (axis->index) base_free(session->allocator, axis->index, index_bytes(axis->index->mask));
    axis->index = NULL;
}

void bpl_axis_drop_labels(bpl_session *session, bpl_axis *axis)
{
    for (int64_t position = 0; axis->labels && position < axis->extent; position++) bpl_release(axis->labels[position]);
    if (axis->labels) base_free(session->allocator, axis->labels, (size_t)axis->extent * sizeof *axis->labels);
    axis->labels = NULL;
    drop_index(session, axis);
}

/* ---- axes ----------------------------------------------------------------------------------------------------------------------------------- */

void bpl_axis_clear(bpl_session *session, bpl_axis *axis)
{
    if (axis->name) base_free(session->allocator, axis->name, strlen(axis->name) + 1);
    axis->name = NULL;
    bpl_axis_drop_labels(session, axis);
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

bool bpl_has_labels(const bpl_value *value)
{
    for (uint32_t axis = 0; value->keys && axis < value->keys->rank; axis++)
        if (value->keys->axes[axis].labels) return true;
    return false;
}

bool bpl_shows_name(const bpl_axis *axis) { return axis->name && axis->name[0] != '_'; }

bool bpl_has_names(const bpl_value *value)
{
    for (uint32_t axis = 0; value->keys && axis < value->keys->rank; axis++)
        if (bpl_shows_name(&value->keys->axes[axis])) return true;
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
    drop_index(session, axis);
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
    bool says = bpl_keys_any(keys);
    if (value && says && value->references == 1 && !value->keys && !value->atom && value->type <= BPL_ITEMS) return value->keys = keys, value;
    bpl_value *result = value ? bpl_with_keys(session, value, says ? keys : NULL) : NULL;
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
