/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Order: sort, grade, the k greatest. One stable sort of keys serves all, turned over for descending, so that equal items keep their order
 * both ways. */
#include "exec/kernel_flags.h"

#include <string.h>

#include "exec/kernel_keys.h"

#define SHORT_SORT 32
#define DIGIT 8 /* TRIED 11: a quarter slower for 32-bit keys, as fast for 64-bit ones */

typedef struct placed {
    uint64_t key;
    int64_t position;
} placed;

#define ENTRY placed
#define KEY uint64_t
#define KEY_OF(entry) ((entry).key)
#define SORT sort_placed
static
#include "exec/kernel_radix.inc"
#define ENTRY uint32_t
#define KEY uint32_t
#define KEY_OF(entry) (entry)
#define SORT exec_sort_digits_32
#include "exec/kernel_radix.inc"
#define ENTRY uint64_t
#define KEY uint64_t
#define KEY_OF(entry) (entry)
#define SORT exec_sort_digits_64
#include "exec/kernel_radix.inc"

static bool is_packed(const exec_ordering *o) { return o->extent <= UINT32_MAX; } /* positions have 32 bits */
static bool is_narrow(const exec_ordering *o) { return base_kinds[o->kind].bytes <= 4 && is_packed(o); }

/* ---- values: only keys are moved -------------------------------------------------------------------------- */

/* The item of a key. Zeros and NaNs are settled by the caller. */
static void store_key(const exec_ordering *o, uint64_t key, int64_t at)
{
    uint32_t bytes = base_kinds[o->kind].bytes;
    uint64_t sign = (uint64_t)1 << (8 * bytes - 1), all = sign | (sign - 1);
    key = turned(o, key);
    if (base_kinds[o->kind].class == BASE_CLASS_SIGNED) key ^= sign;
    if (base_kind_is_float(o->kind)) {
        if (key == all) base_number_store(o->kind, &key, 0, (base_number){.d = __builtin_nan("")});
        else key = key & sign ? key ^ sign : ~key & all;
    }
    switch (bytes) {
    case 1: ((uint8_t *)o->result)[at] = (uint8_t)key; break;
    case 2: ((uint16_t *)o->result)[at] = (uint16_t)key; break;
    case 4: ((uint32_t *)o->result)[at] = (uint32_t)key; break;
    default: ((uint64_t *)o->result)[at] = key; break;
    }
}

typedef uint64_t words __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint32_t halves __attribute__((vector_size(16), aligned(4), may_alias));

/* Whether a line of neighbours of 4 or 8 bytes has a -0. */
static bool has_negative_zero(const exec_ordering *o, int64_t from)
{
    int64_t bytes = (int64_t)base_kinds[o->kind].bytes, i = 0, many = o->extent * bytes;
    const char *items = (const char *)o->items + from * bytes;
    for (; i + 64 <= many; i += 64) {
        words some = {0};
        for (int j = 0; j < 64; j += 16)
            some |= bytes == 4 ? (words)(*(const halves *)(const void *)(items + i + j) == (uint32_t)1 << 31)
                               : (words)(*(const words *)(const void *)(items + i + j) == (uint64_t)1 << 63);
        if (some[0] | some[1]) return true;
    }
    for (; i < many; i += bytes)
        if (base_number_load(o->kind, items + i, 0).d == 0 && items[i + (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? bytes - 1 : 0)]) return true;
    return false;
}

/* Zeros keep their signs in the order they came: place is where the first of them went. */
static __attribute__((cold, noinline)) void restore_zeros(const exec_ordering *o, int64_t from, int64_t to, int64_t place)
{
    if (o->inner == 1 && base_kinds[o->kind].bytes >= 4 && !has_negative_zero(o, from)) return; /* they are +0 */
    size_t bytes = base_kinds[o->kind].bytes;
    uint64_t zero = turned(o, (uint64_t)1 << (8 * bytes - 1));
    for (int64_t i = 0; i < o->extent; i++) {
        if (exec_stops(o->pause, i, EXEC_PAUSE_ITEMS)) return;
        int64_t at = from + i * o->inner;
        if (turned(o, key_of(o->kind, o->items, at)) != zero) continue;
        if (place < o->wanted) memcpy((char *)o->result + (size_t)(to + place * o->inner) * bytes,
                (const char *)o->items + (size_t)at * bytes, bytes);
        place++;
    }
}

#define SORT_VALUES(name, KEY, load)                                                                                                       \
    static void name(const exec_ordering *o, int64_t from, int64_t to, void *workspace)                                                   \
    {                                                                                                                                     \
        KEY *keys = workspace;                                                                                                            \
        KEY zero = (KEY)turned(o, (uint64_t)1 << (8 * base_kinds[o->kind].bytes - 1));                                                    \
        int64_t first_zero = -1;                                                                                                          \
        for (int64_t i = 0; i < o->extent; i += EXEC_PAUSE_ITEMS) {                                                                       \
            if (exec_stops(o->pause, i, EXEC_PAUSE_ITEMS)) return;                                                                        \
            load(o, from, i, o->extent - i < EXEC_PAUSE_ITEMS ? o->extent - i : EXEC_PAUSE_ITEMS, keys + i);                              \
        }                                                                                                                                 \
        if (!o->kernels->sort_keys(sizeof(KEY), keys, o->extent, keys + o->extent, o->pause)) return;                                                                  \
        for (int64_t i = 0; i < o->wanted; i++) {                                                                                         \
            if (exec_stops(o->pause, i, EXEC_PAUSE_ITEMS)) return;                                                                        \
            if (keys[i] == zero && first_zero < 0) first_zero = i;                                                                        \
            store_key(o, keys[i], to + i * o->inner);                                                                                     \
        }                                                                                                                                 \
        if (first_zero >= 0 && base_kind_is_float(o->kind)) restore_zeros(o, from, to, first_zero);                                       \
    }
SORT_VALUES(sort_values_32, uint32_t, load_keys_32)
SORT_VALUES(sort_values_64, uint64_t, load_keys_64)

/* All of a line of neighbours: in the result itself. */
static bool sorts_in_place(const exec_ordering *o)
{
    return o->positions == NULL && o->inner == 1 && o->wanted == o->extent && base_kinds[o->kind].bytes >= 4;
}

/* How many of the keys in order lie below one. */
static int64_t keys_below(const exec_ordering *o, const char *keys, uint64_t wanted)
{
    int64_t first = 0, end = o->extent;
    while (first < end) {
        int64_t middle = first + (end - first) / 2;
        uint64_t key = base_kinds[o->kind].bytes == 4 ? ((const uint32_t *)(const void *)keys)[middle]
                                                      : ((const uint64_t *)(const void *)keys)[middle];
        if (key < wanted) first = middle + 1;
        else end = middle;
    }
    return first;
}

static void sort_in_place(const exec_ordering *o, int64_t line, void *workspace)
{
    int64_t bytes = (int64_t)base_kinds[o->kind].bytes, from = line * o->extent;
    const char *items = (const char *)o->items + from * bytes;
    char *keys = (char *)o->result + from * bytes;
    for (int64_t i = 0; i < o->extent; i += EXEC_PAUSE_ITEMS) {
        if (exec_stops(o->pause, i, EXEC_PAUSE_ITEMS)) return;
        int64_t part = o->extent - i < EXEC_PAUSE_ITEMS ? o->extent - i : EXEC_PAUSE_ITEMS;
        o->kernels->keys_of(o->kind, o->descending, items + i * bytes, keys + i * bytes, part);
    }
    if (!o->kernels->sort_keys((uint32_t)bytes, keys, o->extent, workspace, o->pause)) return;
    uint64_t zero = turned(o, (uint64_t)1 << (8 * bytes - 1));
    int64_t first_zero = keys_below(o, keys, zero);
    bool zeros = base_kind_is_float(o->kind) && first_zero < keys_below(o, keys, zero + 1);
    for (int64_t i = 0; i < o->extent; i += EXEC_PAUSE_ITEMS) {
        if (exec_stops(o->pause, i, EXEC_PAUSE_ITEMS)) return;
        int64_t part = o->extent - i < EXEC_PAUSE_ITEMS ? o->extent - i : EXEC_PAUSE_ITEMS;
        o->kernels->items_of(o->kind, o->descending, keys + i * bytes, keys + i * bytes, part);
    }
    if (zeros) restore_zeros(o, from, from, first_zero);
}

/* ---- positions: a key with each --------------------------------------------------------------------------- */

static void store_place(const exec_ordering *o, int64_t from, int64_t to, int64_t place, int64_t position)
{
    size_t bytes = base_kinds[o->kind].bytes;
    int64_t at = to + place * o->inner, source = from + position * o->inner;
    if (o->positions != NULL) o->positions[at] = position;
    if (o->result != NULL) memcpy((char *)o->result + (size_t)at * bytes, (const char *)o->items + (size_t)source * bytes, bytes);
}

/* Places [first, end) of what the lower 32 bits of words say. */
static void store_packed(const exec_ordering *o, int64_t from, int64_t to, exec_range places, const uint64_t *packed)
{
    if (o->result || o->inner != 1)
        for (int64_t i = places.first; i < places.end; i++) store_place(o, from, to, i, (int64_t)(packed[i] & UINT32_MAX));
    else
        for (int64_t i = places.first; i < places.end; i++) o->positions[to + i] = (int64_t)(packed[i] & UINT32_MAX);
}

/* Lines that are longer than a position of 32 bits. */
static void grade_pairs(const exec_ordering *o, int64_t from, int64_t to, placed *pairs)
{
    for (int64_t i = 0; i < o->extent; i++) {
        if (exec_stops(o->pause, i, EXEC_PAUSE_ITEMS)) return;
        pairs[i] = (placed){turned(o, key_of(o->kind, o->items, from + i * o->inner)), i};
    }
    if (!sort_placed(pairs, o->extent, pairs + o->extent, o->pause)) return;
    for (int64_t i = 0; i < o->wanted && !exec_stops(o->pause, i, EXEC_PAUSE_ITEMS); i++) store_place(o, from, to, i, pairs[i].position);
}

#define KEY_BATCH 512
static int64_t key_batch(const exec_ordering *o, int64_t from, int64_t first, int64_t end, uint64_t *keys)
{
    int64_t count = exec_smaller(end - first, KEY_BATCH), bytes = (int64_t)base_kinds[o->kind].bytes;
    uint32_t narrow[KEY_BATCH];
    if (o->inner != 1 || bytes < 4) {
        load_keys_64(o, from, first, count, keys);
        return count;
    }
    o->kernels->keys_of(o->kind, o->descending, (const char *)o->items + (from + first) * bytes, bytes == 4 ? (void *)narrow : keys, count);
    for (int64_t i = 0; bytes == 4 && i < count; i++) keys[i] = narrow[i];
    return count;
}

/* Items [first, end) of a line as words: 32 bits of their keys above the least one, `shift` from below, and under them their positions. False
 * where it is to stop. */
static bool pack(const exec_ordering *o, int64_t from, exec_range items, uint64_t least, uint32_t shift, uint64_t *packed)
{
    uint64_t keys[KEY_BATCH];
    for (int64_t first = items.first; first < items.end; first += KEY_BATCH) {
        if (exec_stops(o->pause, first - items.first, EXEC_PAUSE_ITEMS)) return false;
        int64_t count = key_batch(o, from, first, items.end, keys);
        for (int64_t i = 0; i < count; i++) packed[first + i] = (keys[i] - least) >> shift << 32 | (uint64_t)(first + i);
    }
    return true;
}

/* Keys that agree in what stands above their positions: by what does not, of which there are at most 32 bits. */
static bool grade_equals(const exec_ordering *o, int64_t from, uint64_t least, uint64_t *packed, int64_t count, uint64_t *spare)
{
    uint64_t odd = 0, first = 0;
    for (int64_t i = 0; i < count; i++) {
        uint64_t position = packed[i] & UINT32_MAX, low = (turned(o, key_of(o->kind, o->items, from + (int64_t)position * o->inner)) - least) << 32;
        if (i == 0) first = low;
        odd |= low ^ first;
        packed[i] = low | position;
    }
    return odd == 0 || o->kernels->sort_keys(sizeof *packed, packed, count, spare, o->pause);
}

/* A line by what `pack` makes of it: no two words are equal, and one sort of them does, but for keys that agree in these bits. */
static void grade_packed(const exec_ordering *o, int64_t from, int64_t to, uint64_t least, uint32_t shift, uint64_t *packed)
{
    uint64_t *spare = packed + o->extent;
    if (!pack(o, from, (exec_range){0, o->extent}, least, shift, packed)) return;
    if (!o->kernels->sort_keys(sizeof *packed, packed, o->extent, spare, o->pause)) return;
    for (int64_t i = 0, end; shift && i < o->wanted; i = end) {
        for (end = i + 1; end < o->extent && packed[end] >> 32 == packed[i] >> 32;) end++;
        if (exec_stops(o->pause, i, EXEC_PAUSE_ITEMS)) return;
        if (end - i > 1 && !grade_equals(o, from, least, packed + i, end - i, spare)) return;
    }
    for (int64_t i = 0; i < o->wanted && !exec_stops(o->pause, i, EXEC_PAUSE_ITEMS); i += EXEC_PAUSE_ITEMS)
        store_packed(o, from, to, (exec_range){i, exec_smaller(i + EXEC_PAUSE_ITEMS, o->wanted)}, packed);
}

static void grade_line(const exec_ordering *o, int64_t from, int64_t to, void *workspace)
{
    uint64_t keys[KEY_BATCH], least = UINT64_MAX, greatest = 0;
    if (is_narrow(o)) {
        grade_packed(o, from, to, 0, 0, workspace);
        return;
    }
    if (!is_packed(o)) {
        grade_pairs(o, from, to, workspace);
        return;
    }
    for (int64_t first = 0; first < o->extent; first += KEY_BATCH) {
        if (exec_stops(o->pause, first, EXEC_PAUSE_ITEMS)) return;
        int64_t count = key_batch(o, from, first, o->extent, keys);
        for (int64_t i = 0; i < count; i++) {
            least = keys[i] < least ? keys[i] : least;
            greatest = keys[i] > greatest ? keys[i] : greatest;
        }
    }
    int bits = 64 - __builtin_clzll((greatest - least) | 1);
    grade_packed(o, from, to, least, bits > 32 ? (uint32_t)bits - 32 : 0, workspace);
}

/* Few of many: candidates before the last one kept so far are collected, and sorted down to `wanted` when room runs out. A later item
 * equal to the last kept comes after it, so only lesser keys are taken. */
#define FEW(wanted) (4 * (wanted) + 64)
#define FEW_PIECE 256
static void few_of_line(const exec_ordering *o, int64_t from, int64_t to, placed *pairs)
{
    int64_t held = 0, room = FEW(o->wanted);
    uint64_t limit = UINT64_MAX, keys[FEW_PIECE];
    bool full = false;
    for (int64_t i = 0; i < o->extent; i++) {
        if (exec_stops(o->pause, i, EXEC_PAUSE_ITEMS)) return;
        if (i % FEW_PIECE == 0) load_keys_64(o, from, i, o->extent - i < FEW_PIECE ? o->extent - i : FEW_PIECE, keys);
        uint64_t key = keys[i % FEW_PIECE];
        if (full && key >= limit) continue;
        pairs[held++] = (placed){key, i};
        if (held < room) continue;
        if (!sort_placed(pairs, held, pairs + room, o->pause)) return;
        held = o->wanted;
        limit = pairs[held - 1].key;
        full = true;
    }
    if (!sort_placed(pairs, held, pairs + room, o->pause)) return;
    for (int64_t i = 0; i < o->wanted && !exec_stops(o->pause, i, EXEC_PAUSE_ITEMS); i++) store_place(o, from, to, i, pairs[i].position);
}

static bool takes_few(const exec_ordering *o) { return o->wanted > 0 && o->wanted < o->extent / 16; }

size_t exec_order_bytes(const exec_ordering *o)
{
    if (takes_few(o)) return (size_t)FEW(o->wanted) * 2 * sizeof(placed);
    if (sorts_in_place(o)) return (size_t)o->extent * base_kinds[o->kind].bytes;
    bool values = o->positions == NULL;
    size_t entry = values ? (is_narrow(o) ? 4 : 8) : is_packed(o) ? 8 : sizeof(placed);
    return (size_t)o->extent * 2 * entry;
}

/* ---- integers that lie close together: counted, or as narrower keys ------------------------------------------------------------------- */

#define CLOSE_ITEMS 4096 /* of a line for which it gains */
#define CLOSE_PIECE 8192 /* whose range is looked for at once: twice in the cache */
#define MOST_COUNTS ((uint64_t)1 << 22)

/* An integer with these bits turned over is its key, and back. */
static uint64_t key_turn(const exec_ordering *o)
{
    return turned(o, 0) ^ (base_kinds[o->kind].class == BASE_CLASS_SIGNED ? (uint64_t)1 << (8 * base_kinds[o->kind].bytes - 1) : 0);
}

/* The least and the greatest key of a piece of a line: neighbours by the folds' vectors, others by their keys. */
static void key_range(const exec_ordering *o, int64_t from, int64_t first, int64_t count, uint64_t *low, uint64_t *high)
{
    uint64_t keys[KEY_BATCH];
    if (o->inner == 1) {
        int64_t end;
        exec_reduction fold = {.kind = o->kind, .accumulate = o->kind, .result_kind = o->kind, .extent = count, .inner = 1, .outer_stride = count,
                               .extent_stride = 1, .items = (const char *)o->items + (from + first) * base_kinds[o->kind].bytes, .result = &end};
        for (int i = 0; i < 2; i++) {
            fold.fold = i ? EXEC_FOLD_MAX : EXEC_FOLD_MIN;
            o->kernels->reduce(&fold, (exec_range){0, 1});
            uint64_t key = turned(o, key_of(o->kind, &end, 0));
            *low = key < *low ? key : *low;
            *high = key > *high ? key : *high;
        }
        return;
    }
    for (int64_t end = first + count; first < end; first += KEY_BATCH) {
        int64_t some = key_batch(o, from, first, o->extent, keys);
        for (int64_t i = 0; i < some && i < end - first; i++) {
            *low = keys[i] < *low ? keys[i] : *low;
            *high = keys[i] > *high ? keys[i] : *high;
        }
    }
}

/* The least key of a line and how far the others lie above it. False where that is 2^32 or more, which a few of them tell as a rule; where the
 * line is short, or something else than whole lines of integers is asked for. */
static bool lie_close(const exec_ordering *o, int64_t from, uint64_t *least, uint64_t *span)
{
    uint64_t low = UINT64_MAX, high = 0;
    bool integers = !base_kind_is_float(o->kind);
    if (!integers || o->extent < CLOSE_ITEMS || o->extent > UINT32_MAX || o->wanted != o->extent) return false;
    for (int64_t first = 0; first < o->extent; first += CLOSE_PIECE) {
        if (exec_stops(o->pause, first, EXEC_PAUSE_ITEMS)) return false;
        key_range(o, from, first, o->extent - first < CLOSE_PIECE ? o->extent - first : CLOSE_PIECE, &low, &high);
        if (high - low > UINT32_MAX) return false;
    }
    *least = low;
    *span = high - low + 1;
    return true;
}

/* Runs of equal keys wait for each other's count: few counts stand in four tables that take turns, which the first one adds up. */
#define COUNT_TABLES 4
#define FEW_COUNTS 2048 /* of a table: all of them stay in the first cache */
#define COUNT_OF(T)                                                                                                                       \
    {                                                                                                                                     \
        const T *items = (const T *)o->items + from + first, turn = (T)key_turn(o);                                                       \
        int64_t at = 0;                                                                                                                   \
        for (; at + COUNT_TABLES <= count; at += COUNT_TABLES) {                                                                          \
            tables[0][(uint64_t)(T)(items[at] ^ turn) - least]++;                                                                         \
            tables[1][(uint64_t)(T)(items[at + 1] ^ turn) - least]++;                                                                     \
            tables[2][(uint64_t)(T)(items[at + 2] ^ turn) - least]++;                                                                     \
            tables[3][(uint64_t)(T)(items[at + 3] ^ turn) - least]++;                                                                     \
        }                                                                                                                                 \
        for (; at < count; at++) tables[0][(uint64_t)(T)(items[at] ^ turn) - least]++;                                                    \
        break;                                                                                                                            \
    }
static void count_neighbours(const exec_ordering *o, int64_t from, int64_t first, int64_t count, uint64_t least, uint32_t *const *tables)
{
    switch (base_kinds[o->kind].bytes) {
    case 1: COUNT_OF(uint8_t)
    case 2: COUNT_OF(uint16_t)
    case 4: COUNT_OF(uint32_t)
    default: COUNT_OF(uint64_t)
    }
}

/* counts stand in the workspace of the line. False where it is to stop. */
static bool count_keys(const exec_ordering *o, int64_t from, uint64_t least, uint64_t span, uint32_t *counts)
{
    uint64_t keys[KEY_BATCH], spread = span <= FEW_COUNTS && COUNT_TABLES * span * sizeof *counts <= exec_order_bytes(o) ? span : 0;
    uint32_t *const tables[COUNT_TABLES] = {counts, counts + spread, counts + 2 * spread, counts + 3 * spread};
    memset(counts, 0, (span + (COUNT_TABLES - 1) * spread) * sizeof *counts);
    for (int64_t first = 0; first < o->extent; first += KEY_BATCH) {
        if (exec_stops(o->pause, first, EXEC_PAUSE_ITEMS)) return false;
        if (o->inner == 1) {
            count_neighbours(o, from, first, exec_smaller(o->extent - first, KEY_BATCH), least, tables);
            continue;
        }
        int64_t count = key_batch(o, from, first, o->extent, keys);
        for (int64_t i = 0; i < count; i++) counts[keys[i] - least]++;
    }
    for (uint64_t key = 0; key < spread; key++) counts[key] += tables[1][key] + tables[2][key] + tables[3][key];
    return true;
}

/* Words: each is written four times where the next goes, so that counts of up to four wait for no branch. */
#define SPREAD_WORDS(name, T)                                                                                                             \
    static void name(const exec_ordering *o, int64_t to, uint64_t least, uint64_t span, const uint32_t *counts)                           \
    {                                                                                                                                     \
        T turn = (T)key_turn(o), *at = (T *)o->result + to, *end = at + o->extent;                                                        \
        for (uint64_t key = 0; key < span; key++) {                                                                                       \
            T word = (T)(least + key) ^ turn;                                                                                             \
            uint32_t count = counts[key];                                                                                                 \
            if (end - at >= 4) at[0] = at[1] = at[2] = at[3] = word;                                                                      \
            else                                                                                                                          \
                for (uint32_t i = 0; i < count; i++) at[i] = word;                                                                        \
            if (count > 4) exec_fill(at, &word, sizeof word, count);                                                                      \
            at += count;                                                                                                                  \
        }                                                                                                                                 \
    }
SPREAD_WORDS(spread_words_4, uint32_t)
SPREAD_WORDS(spread_words_8, uint64_t)

static void sort_counted(const exec_ordering *o, int64_t from, int64_t to, uint64_t least, uint64_t span, uint32_t *counts)
{
    if (!count_keys(o, from, least, span, counts)) return;
    size_t bytes = base_kinds[o->kind].bytes;
    if (bytes >= 4) {
        (bytes == 4 ? spread_words_4 : spread_words_8)(o, to, least, span, counts);
        return;
    }
    for (uint64_t key = 0; key < span; key++) {
        if (!counts[key]) continue;
        store_key(o, least + key, to);
        uint32_t word;
        memcpy(&word, (const char *)o->result + (size_t)to * bytes, bytes);
        exec_fill((char *)o->result + (size_t)to * bytes, &word, bytes, counts[key]);
        to += counts[key];
    }
}

/* Whether counting beats sorting: counts that the caches hold. */
static bool counts_pay(const exec_ordering *o, uint64_t span)
{
    if (base_kinds[o->kind].bytes < 4) return span <= (uint64_t)o->extent;
    return span <= (uint64_t)base_kinds[o->kind].bytes / 4 * (uint64_t)o->extent && span <= MOST_COUNTS; /* they stand in the workspace */
}

/* Keys of 64 bits above the least one, as keys of 32. */
static void sort_narrowed(const exec_ordering *o, int64_t from, int64_t to, uint64_t least, uint32_t *narrow)
{
    uint64_t keys[KEY_BATCH];
    for (int64_t first = 0; first < o->extent; first += KEY_BATCH) {
        if (exec_stops(o->pause, first, EXEC_PAUSE_ITEMS)) return;
        int64_t count = key_batch(o, from, first, o->extent, keys);
        for (int64_t i = 0; i < count; i++) narrow[first + i] = (uint32_t)(keys[i] - least);
    }
    if (!o->kernels->sort_keys(sizeof *narrow, narrow, o->extent, narrow + o->extent, o->pause)) return;
    uint64_t turn = key_turn(o), *result = (uint64_t *)o->result + to;
    for (int64_t i = 0; i < o->extent; i++) result[i] = (least + narrow[i]) ^ turn;
}

static bool sort_close(const exec_ordering *o, int64_t from, int64_t to, void *workspace)
{
    uint64_t least, span;
    bool short_items = o->positions == NULL && o->inner == 1 && base_kinds[o->kind].bytes < 4;
    if (!(sorts_in_place(o) || short_items) || !lie_close(o, from, &least, &span)) return false;
    if (counts_pay(o, span)) sort_counted(o, from, to, least, span, workspace);
    else if (base_kinds[o->kind].bytes == 8) sort_narrowed(o, from, to, least, workspace);
    else return false;
    return true;
}

static bool grade_counted(const exec_ordering *o, int64_t from, int64_t to, uint64_t least, uint64_t span, uint32_t *places);

bool exec_order_counted(const exec_ordering *o, void *workspace)
{
    uint64_t least, span;
    bool grades = o->positions && !o->result;
    if (!(sorts_in_place(o) || grades) || !lie_close(o, 0, &least, &span)) return false;
    if (grades ? span > 2 * (uint64_t)o->extent : !counts_pay(o, span)) return false;
    if (grades) grade_counted(o, 0, 0, least, span, workspace);
    else sort_counted(o, 0, 0, least, span, workspace);
    return true;
}

/* The counts become places, which their items take in turn. Of neighbours positions are narrow at first, in the half of the result that is
 * overtaken last: places far apart are dear. */
static bool grade_counted(const exec_ordering *o, int64_t from, int64_t to, uint64_t least, uint64_t span, uint32_t *places)
{
    uint64_t keys[KEY_BATCH];
    uint32_t next = 0;
    if (!count_keys(o, from, least, span, places)) return false;
    for (uint64_t key = 0; key < span; key++) {
        uint32_t count = places[key];
        places[key] = next;
        next += count;
    }
    uint32_t *narrow = (uint32_t *)(void *)(o->positions + to) + o->extent;
    for (int64_t first = 0; first < o->extent; first += KEY_BATCH) {
        if (exec_stops(o->pause, first, EXEC_PAUSE_ITEMS)) return false;
        int64_t count = key_batch(o, from, first, o->extent, keys);
        if (o->inner == 1)
            for (int64_t i = 0; i < count; i++) narrow[places[keys[i] - least]++] = (uint32_t)(first + i);
        else
            for (int64_t i = 0; i < count; i++) o->positions[to + places[keys[i] - least]++ * o->inner] = first + i;
    }
    for (int64_t i = 0; o->inner == 1 && i < o->extent; i++) o->positions[to + i] = narrow[i];
    return true;
}

static bool grade_close(const exec_ordering *o, int64_t from, int64_t to, void *workspace)
{
    uint64_t least, span;
    if (o->result || !lie_close(o, from, &least, &span)) return false;
    if (span <= 2 * (uint64_t)o->extent) grade_counted(o, from, to, least, span, workspace);
    else if (!is_narrow(o)) grade_packed(o, from, to, least, 0, workspace);
    else return false;
    return true;
}

void exec_order(const exec_ordering *o, exec_range lines, void *workspace)
{
    for (int64_t line = lines.first; line < lines.end; line++) {
        int64_t outer = line / o->inner, column = line % o->inner, from = outer * o->extent * o->inner + column,
                to = outer * o->wanted * o->inner + column;
        if (takes_few(o)) few_of_line(o, from, to, workspace);
        else if (o->positions ? grade_close(o, from, to, workspace) : sort_close(o, from, to, workspace)) continue;
        else if (sorts_in_place(o)) sort_in_place(o, line, workspace);
        else if (o->positions != NULL) grade_line(o, from, to, workspace);
        else if (is_narrow(o)) sort_values_32(o, from, to, workspace);
        else sort_values_64(o, from, to, workspace);
    }
}

/* ---- one line by threads ----------------------------------------------------------------------------------- */

/* Keys in order stand in the result, if the line is sorted in place, else in the workspace: positions below 32-bit keys. Every turn merges
 * them into the other half of the room. */
bool exec_order_cuts(const exec_ordering *o)
{
    if (o->inner != 1 || takes_few(o)) return false;
    return sorts_in_place(o) || (o->positions != NULL && is_narrow(o));
}

static int64_t key_bytes(const exec_ordering *o) { return sorts_in_place(o) ? (int64_t)base_kinds[o->kind].bytes : 8; }

static char *keys_after(const exec_ordering *o, uint32_t turns, void *workspace)
{
    char *first = sorts_in_place(o) ? o->result : workspace, *second = workspace;
    if (!sorts_in_place(o)) second += o->extent * 8;
    return turns % 2 ? second : first;
}

void exec_order_run(const exec_ordering *o, exec_range items, void *workspace)
{
    int64_t bytes = key_bytes(o);
    char *keys = keys_after(o, 0, workspace), *spare = keys_after(o, 1, workspace);
    for (int64_t i = items.first; sorts_in_place(o) && i < items.end; i += EXEC_PAUSE_ITEMS) {
        int64_t part = exec_smaller(items.end - i, EXEC_PAUSE_ITEMS);
        if (o->pause && !o->pause->go_on(o->pause->user)) return;
        o->kernels->keys_of(o->kind, o->descending, (const char *)o->items + i * bytes, keys + i * bytes, part);
    }
    if (!sorts_in_place(o) && !pack(o, 0, items, 0, 0, (uint64_t *)(void *)keys)) return;
    o->kernels->sort_keys((uint32_t)bytes, keys + items.first * bytes, items.end - items.first, spare + items.first * bytes, o->pause);
}

/* Places [first, end) of what pairs of runs become. Where a pair's first k keys come from is found by halving; keys that are equal are the
 * same, so it does not matter which of them is taken. Two parts of the places go side by side: one waits for its last comparison. */
#define MERGE_STEP(p)                                                                                                                     \
    {                                                                                                                                     \
        int64_t first = *p.a <= *p.b;                                                                                                     \
        *p.to++ = first ? *p.a : *p.b;                                                                                                    \
        p.a += first;                                                                                                                     \
        p.b += 1 - first;                                                                                                                 \
    }
#define MERGE(KEY)                                                                                                                        \
    typedef struct merging_##KEY {                                                                                                        \
        const KEY *a, *end_a, *b, *end_b;                                                                                                 \
        KEY *to, *end;                                                                                                                    \
    } merging_##KEY;                                                                                                                      \
    static merging_##KEY merging_of_##KEY(const KEY *a, int64_t many_a, const KEY *b, int64_t many_b, KEY *to, exec_range places)         \
    {                                                                                                                                     \
        int64_t k = places.first, low = k > many_b ? k - many_b : 0, high = k < many_a ? k : many_a;                                      \
        while (low < high) {                                                                                                              \
            int64_t middle = low + (high - low) / 2;                                                                                      \
            if (a[middle] < b[k - 1 - middle]) low = middle + 1;                                                                          \
            else high = middle;                                                                                                           \
        }                                                                                                                                 \
        return (merging_##KEY){a + low, a + many_a, b + k - low, b + many_b, to + k, to + places.end};                                    \
    }                                                                                                                                     \
    /* So many steps leave both runs with keys. */                                                                                        \
    static int64_t steps_of_##KEY(const merging_##KEY *m)                                                                                 \
    {                                                                                                                                     \
        int64_t least = m->end_a - m->a < m->end_b - m->b ? m->end_a - m->a : m->end_b - m->b;                                            \
        return m->end - m->to < least ? m->end - m->to : least;                                                                           \
    }                                                                                                                                     \
    static void merge_rest_##KEY(merging_##KEY m)                                                                                         \
    {                                                                                                                                     \
        for (int64_t steps; (steps = steps_of_##KEY(&m)) > 0;)                                                                            \
            for (; steps > 0; steps--) MERGE_STEP(m)                                                                                      \
        if (m.to < m.end) memcpy(m.to, m.a < m.end_a ? m.a : m.b, (size_t)(m.end - m.to) * sizeof(KEY));                                  \
    }                                                                                                                                     \
    static void merge_##KEY(const KEY *from, KEY *to, int64_t extent, int64_t width, exec_range places)                                   \
    {                                                                                                                                     \
        for (int64_t at = places.first, stop; at < places.end; at = stop) {                                                               \
            int64_t pair = at / (2 * width) * (2 * width), many_a = extent - pair < width ? extent - pair : width;                        \
            int64_t many_b = extent - pair - many_a < width ? extent - pair - many_a : width;                                             \
            const KEY *a = from + pair, *b = a + many_a;                                                                                  \
            stop = pair + many_a + many_b < places.end ? pair + many_a + many_b : places.end;                                             \
            int64_t middle = at - pair + (stop - at) / 2;                                                                                 \
            merging_##KEY m = merging_of_##KEY(a, many_a, b, many_b, to + pair, (exec_range){at - pair, middle});                         \
            merging_##KEY n = merging_of_##KEY(a, many_a, b, many_b, to + pair, (exec_range){middle, stop - pair});                       \
            for (int64_t steps;;) {                                                                                                       \
                steps = steps_of_##KEY(&m) < steps_of_##KEY(&n) ? steps_of_##KEY(&m) : steps_of_##KEY(&n);                                \
                if (steps <= 0) break;                                                                                                    \
                for (; steps > 0; steps--) {                                                                                              \
                    MERGE_STEP(m)                                                                                                         \
                    MERGE_STEP(n)                                                                                                         \
                }                                                                                                                         \
            }                                                                                                                             \
            merge_rest_##KEY(m);                                                                                                          \
            merge_rest_##KEY(n);                                                                                                          \
        }                                                                                                                                 \
    }
MERGE(uint32_t)
MERGE(uint64_t)
#undef MERGE
#undef MERGE_STEP

void exec_order_merge(const exec_ordering *o, int64_t width, uint32_t turn, exec_range places, void *workspace)
{
    void *from = keys_after(o, turn, workspace), *to = keys_after(o, turn + 1, workspace);
    if (key_bytes(o) == 4) merge_uint32_t(from, to, o->extent, width << turn, places);
    else merge_uint64_t(from, to, o->extent, width << turn, places);
}

void exec_order_finish(const exec_ordering *o, uint32_t turns, exec_range places, void *workspace)
{
    const char *keys = keys_after(o, turns, workspace);
    int64_t bytes = key_bytes(o), end = places.end < o->wanted ? places.end : o->wanted;
    if (sorts_in_place(o))
        o->kernels->items_of(o->kind, o->descending, keys + places.first * bytes, (char *)o->result + places.first * bytes,
                             places.end - places.first);
    else store_packed(o, 0, 0, (exec_range){places.first, end}, (const uint64_t *)(const void *)keys);
}

/* The first place of a zero among results in order, the last turn's included. */
void exec_order_zeros(const exec_ordering *o)
{
    if (!sorts_in_place(o) || !base_kind_is_float(o->kind)) return;
    int64_t first = 0, end = o->extent;
    uint64_t zero = turned(o, (uint64_t)1 << (8 * base_kinds[o->kind].bytes - 1));
    while (first < end) {
        int64_t middle = first + (end - first) / 2;
        if (turned(o, key_of(o->kind, o->result, middle)) < zero) first = middle + 1;
        else end = middle;
    }
    if (first < o->extent && turned(o, key_of(o->kind, o->result, first)) == zero) restore_zeros(o, 0, 0, first);
}
