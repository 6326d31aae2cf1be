/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Places of items in a list, by their keys: how many lie below (a sorted copy, many searches a level at a time, so that their waits for
 * memory overlap), and where an item stands first (a table by hash, or a scan where the list or the questions are few). */
#include "exec/kernel_flags.h"

#include <string.h>

#include "exec/kernel_keys.h"

#define BATCH 32 /* searches under way at once */

static bool is_narrow(wg_kind kind) { return base_kinds[kind].bytes <= 4; }

static exec_ordering line_of(wg_kind kind, const void *items) { return (exec_ordering){.kind = kind, .inner = 1, .items = items}; }

/* ---- how many lie below ------------------------------------------------------------------------------------ */

size_t exec_bins_bytes(wg_kind kind, int64_t length) { return (size_t)length * 2 * (is_narrow(kind) ? 4 : 8); }

/* A list that ascends already stays as it is. */
#define BINS_LIST(name, KEY, load)                                                                                                        \
    static void name(const exec_kernels *kernels, wg_kind kind, const void *list, int64_t length, KEY *keys, const exec_pause *pause)                                 \
    {                                                                                                                                     \
        exec_ordering line = line_of(kind, list);                                                                                         \
        bool ascends = true;                                                                                                              \
        for (int64_t first = 0; first < length; first += EXEC_PAUSE_ITEMS) {                                                              \
            int64_t end = first + exec_smaller(length - first, EXEC_PAUSE_ITEMS);                                                                \
            if (exec_stops(pause, first, EXEC_PAUSE_ITEMS)) return;                                                                       \
            load(&line, 0, first, end - first, keys + first);                                                                             \
            for (int64_t i = first ? first : 1; i < end; i++) ascends &= keys[i - 1] <= keys[i];                                          \
        }                                                                                                                                 \
        if (!ascends) kernels->sort_keys(sizeof(KEY), keys, length, keys + length, pause);                                                                           \
    }
BINS_LIST(bins_list_32, uint32_t, load_keys_32)
BINS_LIST(bins_list_64, uint64_t, load_keys_64)

void exec_bins_list(const exec_kernels *kernels, wg_kind kind, const void *list, int64_t length, void *workspace, const exec_pause *pause)
{
    if (is_narrow(kind)) bins_list_32(kernels, kind, list, length, workspace, pause);
    else bins_list_64(kernels, kind, list, length, workspace, pause);
}

/* Each of `count` searches keeps where the keys below it end: at first[i] .. first[i] + left. */
#define SEARCH(name, KEY, compare)                                                                                                        \
    static void name(const KEY *keys, int64_t length, const KEY *wanted, int64_t count, int64_t *first)                                   \
    {                                                                                                                                     \
        memset(first, 0, (size_t)count * sizeof *first);                                                                                  \
        for (int64_t left = length; left > 0;) {                                                                                          \
            int64_t half = (left + 1) / 2;                                                                                                \
            for (int64_t i = 0; i < count; i++) first[i] += half & -(int64_t)(keys[first[i] + half - 1] compare wanted[i]);               \
            left -= half;                                                                                                                 \
        }                                                                                                                                 \
    }
SEARCH(search_below_32, uint32_t, <)
SEARCH(search_to_32, uint32_t, <=)
SEARCH(search_below_64, uint64_t, <)
SEARCH(search_to_64, uint64_t, <=)

/* Where the values of a batch ascend they lie between the places of the first and the last. */
#define BINS(name, KEY, load, below, to)                                                                                                  \
    static void name(wg_kind kind, int64_t length, const KEY *keys, bool or_equal, const void *values, int64_t *result, exec_range items) \
    {                                                                                                                                     \
        exec_ordering line = line_of(kind, values);                                                                                       \
        KEY wanted[BATCH], nan = (KEY)key_of_nan(kind);                                                                                   \
        bool floats = base_kind_is_float(kind);                                                                                           \
        void (*search)(const KEY *, int64_t, const KEY *, int64_t, int64_t *) = or_equal ? to : below;                                    \
        for (int64_t at = items.first; at < items.end; at += BATCH) {                                                                     \
            int64_t count = exec_smaller(items.end - at, BATCH), start = 0, left = length, ends[2];                                              \
            load(&line, 0, at, count, wanted);                                                                                            \
            bool ascends = count == BATCH;                                                                                                \
            for (int64_t i = 1; i < count; i++) ascends &= wanted[i - 1] <= wanted[i];                                                    \
            if (ascends) {                                                                                                                \
                search(keys, length, (const KEY[2]){wanted[0], wanted[count - 1]}, 2, ends);                                              \
                start = ends[0];                                                                                                          \
                left = ends[1] - start;                                                                                                   \
            }                                                                                                                             \
            search(keys + start, left, wanted, count, result + at);                                                                       \
            for (int64_t i = 0; i < count; i++) result[at + i] = floats && wanted[i] == nan ? 0 : result[at + i] + start;                 \
        }                                                                                                                                 \
    }
BINS(bins_32, uint32_t, load_keys_32, search_below_32, search_to_32)
BINS(bins_64, uint64_t, load_keys_64, search_below_64, search_to_64)

void exec_bins(wg_kind kind, int64_t length, const void *workspace, bool or_equal, const void *values, int64_t *result, exec_range items)
{
    if (is_narrow(kind)) bins_32(kind, length, workspace, or_equal, values, result, items);
    else bins_64(kind, length, workspace, or_equal, values, result, items);
}

/* ---- where it stands first: a scan -------------------------------------------------------------------------- */

#define FEW_WANTED 32
#define FEW_LISTED 16
#define SCANNED 1024 /* of the list at once */

static bool takes_scan(const exec_places *p) { return p->wanted <= FEW_WANTED || p->length <= FEW_LISTED; }

static void scan(const exec_places *p, const void *wanted, int64_t *result, int64_t at, int64_t count, const exec_pause *pause)
{
    exec_ordering list = line_of(p->kind, p->list), questions = line_of(p->kind, wanted);
    uint64_t keys[SCANNED], asked[BATCH];
    load_keys_64(&questions, 0, at, count, asked);
    for (int64_t i = 0; i < count; i++) result[at + i] = p->length;
    for (int64_t first = 0; first < p->length; first += SCANNED) {
        if (exec_stops(pause, first, SCANNED)) return;
        int64_t many = exec_smaller(p->length - first, SCANNED);
        load_keys_64(&list, 0, first, many, keys);
        for (int64_t i = 0; i < count; i++) {
            if (result[at + i] < p->length || key_is_nan(p->kind, asked[i])) continue;
            int64_t j = 0;
            while (j < many && keys[j] != asked[i]) j++;
            if (j < many) result[at + i] = first + j;
        }
    }
}

/* ---- where it stands first: a table ------------------------------------------------------------------------- */

/* Open addressing, twice as many slots as items. A slot of narrow keys holds the key above the position, one of wide keys both; one whose
 * bits are all set is empty. */
typedef struct slot {
    uint64_t key;
    int64_t position;
} slot;

static bool is_packed(const exec_places *p) { return is_narrow(p->kind) && p->length < UINT32_MAX; }

static uint64_t capacity_of(const exec_places *p) { return 2 * (uint64_t)p->length; }

size_t exec_places_bytes(const exec_places *p)
{
    return takes_scan(p) ? 0 : (size_t)capacity_of(p) * (is_packed(p) ? sizeof(uint64_t) : sizeof(slot));
}

__extension__ typedef unsigned __int128 wide;

/* A slot in [0, capacity): the multiplications and shifts of an invertible mixing, then the high bits. */
static uint64_t slot_of(uint64_t key, uint64_t capacity)
{
    key = (key ^ key >> 32) * 0x9e3779b97f4a7c15u;
    key = (key ^ key >> 29) * 0xbf58476d1ce4e5b9u;
    return (uint64_t)((wide)(key ^ key >> 32) * capacity >> 64);
}

static uint64_t next_slot(uint64_t at, uint64_t capacity) { return at + 1 == capacity ? 0 : at + 1; }

/* Runs a statement for items [first, end) in ascending order, their slots on the way to the cache: key, item and at are known there. */
#define WITH_SLOTS(source, first, end, slots, ...)                                                                                        \
    {                                                                                                                                     \
        exec_ordering line = line_of(p->kind, source);                                                                                    \
        uint64_t keys[BATCH], places[BATCH];                                                                                              \
        for (int64_t from = first; from < (end); from += BATCH) {                                                                         \
            int64_t count = exec_smaller((end) - from, BATCH);                                                                                   \
            load_keys_64(&line, 0, from, count, keys);                                                                                    \
            for (int64_t i = 0; i < count; i++) {                                                                                         \
                places[i] = slot_of(keys[i], capacity);                                                                                   \
                __builtin_prefetch(&slots[places[i]]);                                                                                    \
            }                                                                                                                             \
            for (int64_t i = 0; i < count; i++) {                                                                                         \
                uint64_t key = keys[i], at = places[i];                                                                                   \
                int64_t item = from + i;                                                                                                  \
                __VA_ARGS__                                                                                                               \
            }                                                                                                                             \
        }                                                                                                                                 \
    }

static void fill_packed(const exec_places *p, uint64_t *slots, int64_t first, int64_t end)
{
    uint64_t capacity = capacity_of(p);
    WITH_SLOTS(p->list, first, end, slots, {
        while (slots[at] != UINT64_MAX && slots[at] >> 32 != key) at = next_slot(at, capacity);
        if (slots[at] == UINT64_MAX) slots[at] = key << 32 | (uint64_t)item;
    })
}

static void fill_wide(const exec_places *p, slot *slots, int64_t first, int64_t end)
{
    uint64_t capacity = capacity_of(p);
    WITH_SLOTS(p->list, first, end, slots, {
        while (slots[at].position >= 0 && slots[at].key != key) at = next_slot(at, capacity);
        if (slots[at].position < 0) slots[at] = (slot){key, item};
    })
}

void exec_places_list(const exec_places *p, void *workspace, const exec_pause *pause)
{
    size_t bytes = exec_places_bytes(p);
    if (!bytes) return;
    memset(workspace, 0xff, bytes);
    for (int64_t first = 0; first < p->length; first += EXEC_PAUSE_ITEMS) {
        if (exec_stops(pause, first, EXEC_PAUSE_ITEMS)) return;
        int64_t end = first + exec_smaller(p->length - first, EXEC_PAUSE_ITEMS);
        if (is_packed(p)) fill_packed(p, workspace, first, end);
        else fill_wide(p, workspace, first, end);
    }
}

/* NaN stands in the table under its one key, and is not found there. */
static void find_packed(const exec_places *p, const uint64_t *slots, const void *wanted, int64_t *result, exec_range items)
{
    uint64_t capacity = capacity_of(p);
    WITH_SLOTS(wanted, items.first, items.end, slots, {
        while (slots[at] != UINT64_MAX && slots[at] >> 32 != key) at = next_slot(at, capacity);
        result[item] = slots[at] == UINT64_MAX || key_is_nan(p->kind, key) ? p->length : (int64_t)(slots[at] & UINT32_MAX);
    })
}

static void find_wide(const exec_places *p, const slot *slots, const void *wanted, int64_t *result, exec_range items)
{
    uint64_t capacity = capacity_of(p);
    WITH_SLOTS(wanted, items.first, items.end, slots, {
        while (slots[at].position >= 0 && slots[at].key != key) at = next_slot(at, capacity);
        result[item] = slots[at].position < 0 || key_is_nan(p->kind, key) ? p->length : slots[at].position;
    })
}

void exec_first_index(const exec_places *p, const void *workspace, const void *wanted, int64_t *result, exec_range items,
                      const exec_pause *pause)
{
    if (takes_scan(p))
        for (int64_t at = items.first; at < items.end; at += BATCH) scan(p, wanted, result, at, exec_smaller(items.end - at, BATCH), pause);
    else if (is_packed(p)) find_packed(p, workspace, wanted, result, items);
    else find_wide(p, workspace, wanted, result, items);
}
