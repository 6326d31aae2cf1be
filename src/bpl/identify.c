/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Cells as numbers: equal numbers for cells that match. Vectors of kinds that are compared exactly are such numbers themselves, so that nothing is
 * read; floats of 64 bits, which match within a tolerance, and cells of several items are looked up in a table here.
 *
 * Matching within a tolerance is no equivalence; as everywhere a value belongs to the first one that it matches. */
#include <math.h>
#include <string.h>

#include "bpl/whole.h"

/* ---- a table of what was met ---- */

/* Open addressing: hash and number + 1 of an entry; the numbers are positions in the order in which things were met. */
typedef struct met_slot {
    uint64_t hash;
    int64_t number;
} met_slot;

typedef struct met_table {
    met_slot *slots;
    uint64_t mask;
} met_table;

static uint64_t mixed(uint64_t bits)
{
    bits = (bits ^ bits >> 32) * 0xD6E8FEB86659FD93u;
    bits = (bits ^ bits >> 32) * 0xD6E8FEB86659FD93u;
    return bits ^ bits >> 32;
}

static bool table_new(bpl_session *session, int64_t count, met_table *table)
{
    uint64_t size = 16;
    while (size < (uint64_t)count * 2) size *= 2;
    table->mask = size - 1;
    table->slots = base_allocate_zeroed(session->allocator, size * sizeof *table->slots);
    return table->slots || bpl_fail_memory(session);
}

static void table_free(bpl_session *session, met_table *table)
{
    if (table->slots) base_free(session->allocator, table->slots, (table->mask + 1) * sizeof *table->slots);
}

static void table_add(met_table *table, uint64_t hash, int64_t number)
{
    uint64_t at = hash & table->mask;
    while (table->slots[at].number) at = (at + 1) & table->mask;
    table->slots[at] = (met_slot){hash, number + 1};
}

/* ---- numbers within the tolerance ---- */

#define TOLERANCE 1e-14
/* Neighbours within the tolerance are at most 91 units in the last place apart: in the same bucket of 128, or in the one beside it. */
#define BUCKET_BITS 7

static int64_t ordered_bits(double number)
{
    int64_t bits;
    if (number == 0) number = 0; /* -0 */
    if (isnan(number)) return INT64_MAX;
    memcpy(&bits, &number, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

static bool near(double a, double b)
{
    return a == b || (isnan(a) && isnan(b)) || (isfinite(a) && isfinite(b) && fabs(a - b) <= TOLERANCE * fmax(fabs(a), fabs(b)));
}

/* For each number the place of the first one met that it matches, or that one of those matches which were met. Behind `split` (0: nowhere) numbers
 * look only among those before it, which are then told apart exactly; -1: there is none. */
static bool identify_floats(bpl_session *session, const double *numbers, int64_t count, int64_t split, int64_t *ids)
{
    met_table table;
    if (!table_new(session, count, &table)) return false;
    for (int64_t i = 0; i < count; i++) {
        int64_t bits = ordered_bits(numbers[i]), bucket = bits >> BUCKET_BITS, found = INT64_MAX;
        bool met = false, exact = split && i < split;
        for (int64_t beside = exact ? 0 : -1; beside <= !exact; beside++) {
            uint64_t hash = mixed((uint64_t)(bucket + beside));
            for (uint64_t at = hash & table.mask; table.slots[at].number; at = (at + 1) & table.mask) {
                int64_t other = table.slots[at].number - 1;
                bool same = table.slots[at].hash == hash && ordered_bits(numbers[other]) == bits;
                met = met || same;
                if (table.slots[at].hash == hash && (same || (!exact && near(numbers[other], numbers[i]))) && ids[other] < found) found = ids[other];
            }
        }
        ids[i] = found != INT64_MAX ? found : split && !exact ? -1 : i;
        if (!met && (!split || exact)) table_add(&table, mixed((uint64_t)bucket), i);
    }
    table_free(session, &table);
    return true;
}

/* For each row [width] of keys the place of the first equal one. */
static bool identify_rows(bpl_session *session, const int64_t *keys, int64_t count, int64_t width, int64_t *ids)
{
    met_table table;
    if (!table_new(session, count, &table)) return false;
    for (int64_t i = 0; i < count; i++) {
        uint64_t hash = 0x9E3779B97F4A7C15u;
        for (int64_t k = 0; k < width; k++) hash = mixed(hash ^ (uint64_t)keys[i * width + k]);
        int64_t found = i;
        for (uint64_t at = hash & table.mask; found == i && table.slots[at].number; at = (at + 1) & table.mask) {
            int64_t other = table.slots[at].number - 1;
            if (table.slots[at].hash == hash && !memcmp(keys + other * width, keys + i * width, (size_t)width * sizeof *keys)) found = other;
        }
        ids[i] = found;
        if (found == i) table_add(&table, hash, i);
    }
    table_free(session, &table);
    return true;
}

/* ---- simple arrays ---- */

/* The items of both arrays, one after the other, as keys that are equal where items match; a complex number is two. */
typedef struct key_list {
    int64_t *keys;
    int64_t count, capacity; /* capacity: as allocated */
} key_list;

static bool keys_of_floats(bpl_session *session, const wg_view *view, int64_t count, int64_t split, bool tolerant, int64_t *keys)
{
    const double *numbers = view->data;
    for (int64_t i = 0; !tolerant && i < count; i++) keys[i] = ordered_bits(numbers[i]);
    return !tolerant || identify_floats(session, numbers, count, split, keys);
}

/* Everything in one array [left, right] of i64, f64 or c128. */
static wg_array *both_flat(bpl_value *a, bpl_value *b, wg_kind kind)
{
    wg_array *left = wg_array_convert(a->array, kind), *right = b ? wg_array_convert(b->array, kind) : NULL;
    left = wg_array_flatten(left);
    if (!b) return left;
    right = wg_array_flatten(right);
    return left && right ? wg_array_concat((wg_array *[]){left, right}, 2, 0) : NULL;
}

static bool simple_keys(bpl_session *session, bpl_value *a, bpl_value *b, bpl_class class, wg_kind kind, key_list *list)
{
    int64_t split = b && bpl_rank(a) == 1 ? bpl_volume(a) : 0; /* single numbers: within the tolerance of each, not of what that one matches */
    bool complex = class == BPL_CLASS_COMPLEX, real = class == BPL_CLASS_FLOAT || complex;
    bool tolerant = session->preferences.mathish && (kind == WG_KIND_F64 || kind == WG_KIND_C128);
    wg_array *flat = both_flat(a, b, complex ? WG_KIND_C128 : real ? WG_KIND_F64 : WG_KIND_I64);
    wg_view view;
    if (!flat || !wg_array_read(flat, &view)) return bpl_fail_lazy(session), false;
    list->count = view.shape[0] * (complex ? 2 : 1);
    list->capacity = list->count ? list->count : 1;
    list->keys = base_allocate(session->allocator, (size_t)list->capacity * sizeof *list->keys);
    if (!list->keys) return bpl_fail_memory(session), false;
    if (real) return keys_of_floats(session, &view, list->count, complex ? 0 : split, tolerant, list->keys);
    memcpy(list->keys, view.data, (size_t)list->count * sizeof *list->keys);
    return true;
}

/* ---- any items ---- */

static bool hash_value(bpl_session *session, const bpl_value *value, uint64_t *hash);

static uint64_t hash_number(double number)
{
    double whole = rint(number);
    if (isnan(number)) return 3;
    if (fabs(number - whole) > TOLERANCE * fmax(fabs(number), 1)) return 5; /* fractions all alike: they match within the tolerance */
    return mixed((uint64_t)ordered_bits(whole) + 7);
}

static bool hash_simple(bpl_session *session, const bpl_value *value, uint64_t *hash)
{
    wg_view view;
    if (value->type == BPL_NUMBERS && value->class == BPL_CLASS_COMPLEX) return true; /* may match real ones: the shape alone tells */
    if (!bpl_read(session, value, &view)) return false;
    for (int64_t i = 0; i < bpl_volume(value); i++) {
        base_number number = base_number_load(view.kind, view.data, i);
        *hash += value->type == BPL_CHARACTERS ? mixed((uint64_t)((const uint32_t *)view.data)[i] + 0x100000000u)
                                               : hash_number(base_number_to_double(view.kind, number));
    }
    return true;
}

static bpl_value *hash_further(bpl_session *session, void *data)
{
    const bpl_value *value = *(const bpl_value **)data;
    uint64_t hash;
    return hash_value(session, value, &hash) ? bpl_integer(session, (int64_t)hash) : NULL;
}

static bool hash_deep(bpl_session *session, const bpl_value *value, uint64_t *hash)
{
    int64_t answer = 0;
    bpl_value *result = bpl_stack_more(session, hash_further, &value);
    bool good = result && bpl_to_integer(session, result, "a hash", &answer);
    bpl_release(result);
    *hash = (uint64_t)answer;
    return good;
}

/* The order of items does not count: what has keys matches in any order. */
static bool hash_value(bpl_session *session, const bpl_value *value, uint64_t *hash)
{
    *hash = mixed(bpl_rank(value) + 16u * !value->atom);
    for (uint32_t axis = 0; axis < bpl_rank(value); axis++) *hash = mixed(*hash + (uint64_t)bpl_shape(value)[axis]);
    if (bpl_stack_is_low(session)) return hash_deep(session, value, hash);
    if (bpl_is_simple(value)) return hash_simple(session, value, hash);
    if (value->type == BPL_RATIONAL) {
        double number;
        return bpl_to_double(session, value, "a number", &number) && (*hash += hash_number(number), true);
    }
    for (int64_t i = 0; value->type == BPL_ITEMS && i < value->items->volume; i++) {
        uint64_t inner;
        if (!hash_value(session, value->items->at[i], &inner)) return false;
        *hash += mixed(inner);
    }
    return true;
}

static bool rows_match(bpl_session *session, bpl_value *const *a, bpl_value *const *b, int64_t width, bool *same)
{
    *same = true;
    for (int64_t i = 0; *same && i < width; i++)
        if (!bpl_match(session, a[i], b[i], same)) return false;
    return true;
}

/* For each row [width] of values the place of the first matching one. */
static bool identify_values(bpl_session *session, bpl_value *const *values, int64_t count, int64_t width, int64_t *ids)
{
    met_table table;
    if (!table_new(session, count, &table)) return false;
    bool good = true;
    for (int64_t i = 0; good && i < count; i++) {
        uint64_t hash = (uint64_t)width, inner;
        int64_t found = i;
        for (int64_t k = 0; good && k < width; k++) {
            good = hash_value(session, values[i * width + k], &inner);
            hash = mixed(hash + inner);
        }
        for (uint64_t at = hash & table.mask; good && found == i && table.slots[at].number; at = (at + 1) & table.mask) {
            int64_t other = table.slots[at].number - 1;
            bool same = false;
            if (table.slots[at].hash == hash) good = rows_match(session, values + other * width, values + i * width, width, &same);
            if (same) found = other;
        }
        ids[i] = found;
        if (found == i) table_add(&table, hash, i);
    }
    table_free(session, &table);
    return good;
}

static bool identify_items(bpl_session *session, bpl_value *a, bpl_value *b, int64_t count, int64_t width, int64_t *ids)
{
    int64_t left = bpl_volume(a), right = b ? bpl_volume(b) : 0, made = 0;
    size_t bytes = (size_t)(left + right + 1) * sizeof(bpl_value *);
    bpl_value **values = base_allocate(session->allocator, bytes);
    bool good = values || bpl_fail_memory(session);
    for (; good && made < left + right; made += good) good = (values[made] = bpl_item(session, made < left ? a : b, made < left ? made : made - left)) != NULL;
    good = good && identify_values(session, values, count, width, ids);
    while (made-- > 0) bpl_release(values[made]);
    if (values) base_free(session->allocator, values, bytes);
    return good;
}

/* ---- both ---- */

static wg_array *of_ids(bpl_session *session, const int64_t *ids, int64_t count)
{
    return wg_array_from(session->lazy, WG_KIND_I64, 1, &count, ids);
}

static bool identify_by_table(bpl_session *session, bpl_value *a, bpl_value *b, int64_t rows[2], int64_t width, const bpl_class *class, wg_kind kind,
                              wg_array **left, wg_array **right)
{
    int64_t count = rows[0] + rows[1];
    size_t bytes = (size_t)(count ? count : 1) * sizeof(int64_t);
    int64_t *ids = base_allocate_zeroed(session->allocator, bytes);
    key_list list = {0};
    bool good = ids || bpl_fail_memory(session);
    if (good && !class) good = identify_items(session, a, b, count, width, ids);
    for (int64_t i = rows[0]; good && !class && !width && b && b->type != a->type && i < count; i++) ids[i] = -1; /* no numbers are no text */
    if (good && class) good = simple_keys(session, a, b, *class, kind, &list);
    if (good && class) good = identify_rows(session, list.keys, count, count ? list.count / count : 0, ids);
    if (good) good = (*left = of_ids(session, ids, rows[0])) != NULL || bpl_fail_lazy(session);
    if (good && b) good = (*right = of_ids(session, ids + rows[0], rows[1])) != NULL || bpl_fail_lazy(session);
    if (list.keys) base_free(session->allocator, list.keys, (size_t)list.capacity * sizeof *list.keys);
    if (ids) base_free(session->allocator, ids, bytes);
    return good;
}

/* Floats of 64 bits that are all whole and far from where whole numbers are within the tolerance of each other: exact as integers. */
static bool all_whole(bpl_session *session, bpl_value *value, bool *whole)
{
    wg_view view;
    *whole = true;
    if (!value || value->class != BPL_CLASS_FLOAT) return true;
    if (!bpl_read(session, value, &view)) return false;
    if (view.kind != WG_KIND_F64) return *whole = false, true;
    const double *numbers = view.data;
    int64_t count = bpl_volume(value);
    for (int64_t i = 0; *whole && i < count; i++) *whole = numbers[i] == rint(numbers[i]) && fabs(numbers[i]) < 1e13;
    return true;
}

static bool identify_directly(bpl_session *session, bpl_value *a, bpl_value *b, bpl_class class, wg_kind kind, bool *done, wg_array **left, wg_array **right)
{
    bool whole = true, also = true, tolerant = class == BPL_CLASS_FLOAT && kind == WG_KIND_F64 && session->preferences.mathish;
    *done = false;
    if (class == BPL_CLASS_COMPLEX || bpl_rank(a) != 1) return true;
    if (tolerant && (!all_whole(session, a, &whole) || !all_whole(session, b, &also))) return false;
    if (!whole || !also) return true;
    if (tolerant) kind = WG_KIND_I64;
    *left = wg_array_convert(a->array, kind);
    if (b) {
        *right = wg_array_convert(b->array, kind);
        *right = wg_array_flatten(*right);
    }
    *done = *left && (!b || *right);
    return *done || bpl_fail_lazy(session);
}

bool bpl_compared_kind(bpl_session *session, bpl_value *a, bpl_value *b, bpl_class *class, wg_kind *kind)
{
    if (!bpl_is_simple(a) || (b && (!bpl_is_simple(b) || a->type != b->type))) return false;
    if (a->type == BPL_CHARACTERS || a->class > BPL_CLASS_FIXED || (b && b->class > BPL_CLASS_FIXED))
        return bpl_joined_kind(session, (bpl_value *[]){a, b}, b ? 2 : 1, class, kind);
    *class = BPL_CLASS_ORDINARY;
    *kind = !b || bpl_kind(a) == bpl_kind(b) ? bpl_kind(a) : WG_KIND_I64;
    return true;
}

bool bpl_identify(bpl_session *session, bpl_value *a, bpl_value *b, uint32_t frame, wg_array **left, wg_array **right)
{
    int64_t rows[2] = {bpl_tally(a), b ? 1 : 0}, width = 1;
    bpl_class class;
    wg_kind kind = WG_KIND_I64;
    bool done = false, simple = bpl_compared_kind(session, a, b, &class, &kind);
    for (uint32_t axis = 1; axis < bpl_rank(a); axis++) width *= bpl_shape(a)[axis];
    for (uint32_t axis = 0; b && axis < frame; axis++) rows[1] *= bpl_shape(b)[axis];
    if (bpl_failed(session)) return false;
    if (simple && !identify_directly(session, a, b, class, kind, &done, left, right)) return false;
    return done || identify_by_table(session, a, b, rows, width, simple ? &class : NULL, kind, left, right);
}
