/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Where cells stand first. Vectors of kinds that are compared exactly go to the row FirstIndex (integers of a small range to a table); floats of 64
 * bits, which match within a tolerance, are put in order; cells of several items and host items are looked up in a table here.
 *
 * Matching within a tolerance is no equivalence; as everywhere a value belongs to the first one that it matches. */
#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "bpl/evaluate.h"
#include "bpl/kinds.h"
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

/* Neighbours within the tolerance are at most 91 units in the last place apart: in the same bucket of 128, or in the one beside it. */
#define BUCKET_BITS 7

static int64_t ordered_bits(double number)
{
    if (number == 0) number = 0; /* -0 */
    if (isnan(number)) return INT64_MAX;
    int64_t bits = (int64_t)base_bits_of_f64(number);
    return bits < 0 ? INT64_MIN - bits : bits;
}

static bool near(double a, double b)
{
    return a == b || (isnan(a) && isnan(b)) || (isfinite(a) && isfinite(b) && fabs(a - b) <= BPL_TOLERANCE * (fabs(a) > fabs(b) ? fabs(a) : fabs(b)));
}

/* For each number the place of the first one met that it matches, or that one of those matches which were met. Behind `split` (0: nowhere) numbers
 * look only among those before it, which are then told apart exactly; -1: there is none. */
static bool floats_by_table(bpl_session *session, const double *numbers, int64_t count, int64_t split, int64_t *ids)
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

/* The same of many: in order, where equal ones are neighbours. *done is false where some are near each other and not equal: the table tells them. */
static bool floats_by_order(bpl_session *session, wg_array *flat, const double *numbers, int64_t count, int64_t split, int64_t *ids, bool *done)
{
    wg_view view;
    wg_array *grade = wg_array_grade(flat, 0, false);
    if (!grade || !wg_array_read(grade, &view)) return bpl_fail_lazy(session), false;
    const int64_t *order = view.data;
    int64_t first = 0;
    double last = 0;
    *done = true;
    for (int64_t i = 0; i < count; i++) {
        double number = numbers[order[i]];
        bool same = i && (number == last || (isnan(number) && isnan(last)));
        if (i && !same && near(number, last)) return *done = false, true;
        if (!same) first = order[i];
        ids[order[i]] = split && order[i] >= split && first >= split ? -1 : first;
        last = number;
    }
    return true;
}

/* Whether all are far from each other: then each is its own first. */
static bool all_apart(bpl_session *session, wg_array *flat, int64_t count, bool *apart)
{
    wg_view view;
    wg_array *sorted = wg_array_sort(flat, 0, false);
    if (!sorted || !wg_array_read(sorted, &view)) return bpl_fail_lazy(session), false;
    const double *numbers = view.data;
    *apart = true;
    for (int64_t i = 1; *apart && i < count; i++) *apart = !near(numbers[i - 1], numbers[i]);
    return true;
}

#define MANY_FLOATS 1024

static bool identify_floats(bpl_session *session, wg_array *flat, const double *numbers, int64_t count, int64_t split, int64_t *ids)
{
    bool done = false;
    if (count >= MANY_FLOATS && !split && !all_apart(session, flat, count, &done)) return false;
    for (int64_t i = 0; done && i < count; i++) ids[i] = i;
    if (!done && count >= MANY_FLOATS && !floats_by_order(session, flat, numbers, count, split, ids, &done)) return false;
    return done || floats_by_table(session, numbers, count, split, ids);
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
    bool placed;             /* they are first places already */
} key_list;

static bool keys_of_floats(bpl_session *session, wg_array *flat, const wg_view *view, int64_t count, int64_t split, bool tolerant, int64_t *keys)
{
    const double *numbers = view->data;
    for (int64_t i = 0; !tolerant && i < count; i++) keys[i] = ordered_bits(numbers[i]);
    if (!tolerant) return true;
    if (view->kind == WG_KIND_F64) return identify_floats(session, flat, numbers, count, split, keys);
    return floats_by_table(session, numbers, count, split, keys); /* the parts of complex numbers */
}

/* Everything in one array [left, right] of i64, f64 or c128. */
static wg_array *both_flat(bpl_value *a, bpl_value *b, wg_kind kind)
{
    wg_array *left = wg_array_convert(bpl_array(a), kind), *right = b ? wg_array_convert(bpl_array(b), kind) : NULL;
    left = wg_array_flatten(left);
    if (!b) return left;
    right = wg_array_flatten(right);
    return left && right ? wg_array_concat((wg_array *[]){left, right}, 2, 0) : NULL;
}

static bool simple_keys(bpl_session *session, bpl_value *a, bpl_value *b, bpl_class class, wg_kind kind, key_list *list)
{
    int64_t split = b && bpl_rank(a) == 1 ? bpl_volume(a) : 0; /* single numbers: within the tolerance of each, not of what that one matches */
    bool complex = class == BPL_CLASS_COMPLEX, real = class == BPL_CLASS_FLOAT || complex;
    bool tolerant = bpl_is_tolerant(session, kind);
    wg_array *flat = both_flat(a, b, complex ? WG_KIND_C128 : real ? WG_KIND_F64 : WG_KIND_I64);
    wg_view view;
    if (!flat || !wg_array_read(flat, &view)) return bpl_fail_lazy(session), false;
    list->count = view.shape[0] * (complex ? 2 : 1);
    list->capacity = list->count ? list->count : 1;
    list->keys = base_allocate(session->allocator, (size_t)list->capacity * sizeof *list->keys);
    if (!list->keys) return bpl_fail_memory(session), false;
    list->placed = tolerant;
    if (real) return keys_of_floats(session, flat, &view, list->count, complex ? 0 : split, tolerant, list->keys);
    memcpy(list->keys, view.data, (size_t)list->count * sizeof *list->keys);
    return true;
}

/* ---- any items ---- */

/* The first number that is not whole, which the hash leaves out: its bucket of neighbours is looked up with those beside it. Where there are
 * keys, items may stand in any order, and none is the first. */
typedef struct fraction {
    bool met;
    int64_t bucket;
} fraction;

static bool hash_value(bpl_session *session, const bpl_value *value, fraction *first, uint64_t *hash);

static uint64_t hash_number(double number, fraction *first)
{
    double whole = rint(number);
    if (isnan(number)) return 3;
    if (fabs(number - whole) <= BPL_TOLERANCE * (fabs(number) > 1 ? fabs(number) : 1)) return mixed((uint64_t)ordered_bits(whole) + 7);
    if (!first->met) first->bucket = ordered_bits(number) >> BUCKET_BITS;
    first->met = true;
    return 5;
}

static bool hash_simple(bpl_session *session, const bpl_value *value, fraction *first, uint64_t *hash)
{
    wg_view view;
    if (value->type == BPL_NUMBERS && value->class == BPL_CLASS_COMPLEX) return true; /* may match real ones: the shape alone tells */
    if (!bpl_read(session, value, &view)) return false;
    for (int64_t i = 0; i < bpl_volume(value); i++) {
        base_number number = base_number_load(view.kind, view.data, i);
        *hash += value->type == BPL_CHARACTERS ? mixed((uint64_t)((const uint32_t *)view.data)[i] + 0x100000000u)
                                               : hash_number(base_number_to_double(view.kind, number), first);
    }
    return true;
}

/* What goes on upon another stack. */
typedef struct deep_hash {
    const bpl_value *value;
    fraction *first;
    uint64_t hash;
} deep_hash;

static bpl_value *hash_further(bpl_session *session, void *data)
{
    deep_hash *deep = data;
    return hash_value(session, deep->value, deep->first, &deep->hash) ? bpl_boolean(session, true) : NULL;
}

/* The order of items does not count: what has keys matches in any order. */
static bool hash_value(bpl_session *session, const bpl_value *value, fraction *first, uint64_t *hash)
{
    if (bpl_stack_is_low(session)) {
        deep_hash deep = {value, first, 0};
        bpl_value *done = bpl_stack_more(session, hash_further, &deep);
        bpl_release(done);
        *hash = deep.hash;
        return done != NULL;
    }
    *hash = mixed(bpl_rank(value) + 16u * !value->atom);
    for (uint32_t axis = 0; axis < bpl_rank(value); axis++) *hash = mixed(*hash + (uint64_t)bpl_shape(value)[axis]);
    if (bpl_is_simple(value)) return hash_simple(session, value, first, hash);
    if (value->type == BPL_RATIONAL) {
        double number;
        return bpl_to_double(session, value, "a number", &number) && (*hash += hash_number(number, first), true);
    }
    for (int64_t i = 0; value->type == BPL_ITEMS && i < value->items->volume; i++) {
        uint64_t inner;
        if (!hash_value(session, value->items->at[i], first, &inner)) return false;
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

/* The place of the first row met that matches row i: *found stays where there is none. */
static bool find_row(bpl_session *session, const met_table *table, uint64_t hash, bpl_value *const *values, int64_t i, int64_t width, int64_t *found)
{
    for (uint64_t at = hash & table->mask; table->slots[at].number; at = (at + 1) & table->mask) {
        int64_t other = table->slots[at].number - 1;
        bool same = false;
        if (table->slots[at].hash != hash || other >= *found) continue;
        if (!rows_match(session, values + other * width, values + i * width, width, &same)) return false;
        if (same) return *found = other, true;
    }
    return true;
}

/* For each row [width] of values the place of the first matching one. */
static bool identify_values(bpl_session *session, bpl_value *const *values, int64_t count, int64_t width, bool keyed, int64_t *ids)
{
    met_table table;
    if (!table_new(session, count, &table)) return false;
    bool good = true;
    for (int64_t i = 0; good && i < count; i++) {
        uint64_t hash = (uint64_t)width, inner;
        fraction first = {0};
        ids[i] = i;
        if (i % 256 == 0) good = bpl_go_on(session);
        for (int64_t k = 0; good && k < width; k++) {
            good = hash_value(session, values[i * width + k], &first, &inner);
            hash = mixed(hash + inner);
        }
        int64_t beside = first.met && !keyed, bucket = beside ? first.bucket : 0;
        for (int64_t step = -beside; good && step <= beside; step++)
            good = find_row(session, &table, mixed(hash + (uint64_t)(bucket + step)), values, i, width, &ids[i]);
        if (ids[i] == i) table_add(&table, mixed(hash + (uint64_t)bucket), i);
    }
    table_free(session, &table);
    return good;
}

/* Whether a value has keys somewhere inside. */
static bool has_keys(bpl_session *session, const bpl_value *value)
{
    if (value->keys || bpl_stack_is_low(session)) return true;
    for (int64_t i = 0; value->type == BPL_ITEMS && i < value->items->volume; i++)
        if (has_keys(session, value->items->at[i])) return true;
    return false;
}

static bool identify_items(bpl_session *session, bpl_value *a, bpl_value *b, int64_t count, int64_t width, int64_t *ids)
{
    int64_t left = bpl_volume(a), right = b ? bpl_volume(b) : 0, made = 0;
    size_t bytes = (size_t)(left + right + 1) * sizeof(bpl_value *);
    bpl_value **values = base_allocate(session->allocator, bytes);
    bool good = values || bpl_fail_memory(session);
    for (; good && made < left + right; made += good) {
        values[made] = bpl_item(session, made < left ? a : b, made < left ? made : made - left);
        good = values[made] != NULL;
    }
    bool keyed = (a->type == BPL_ITEMS && has_keys(session, a)) || (b && b->type == BPL_ITEMS && has_keys(session, b));
    good = good && identify_values(session, values, count, width, keyed, ids);
    while (made-- > 0) bpl_release(values[made]);
    if (values) base_free(session->allocator, values, bytes);
    return good;
}

/* ---- integers in a small range ---- */

/* A new array [count] of integers to be filled, and its items. */
static wg_array *new_places(bpl_session *session, int64_t count, int64_t **items)
{
    wg_tensor *tensor = wg_tensor_new(session->context, WG_KIND_I64, 1, &count, NULL, NULL);
    if (!tensor) return bpl_fail_memory(session);
    *items = wg_tensor_data(tensor);
    return wg_array_of(session->lazy, tensor);
}

/* Firsts of numbers in a range that a table can hold. */
typedef struct small_range {
    int64_t least, size;
    int32_t *first; /* [size]: position + 1, 0: none */
} small_range;

/* Builds the table; *good is false (no error) where the range is too wide for it to gain. */
static bool range_new(bpl_session *session, wg_array *keys, small_range *range, bool *good)
{
    int64_t least = 0, greatest = 0, count = wg_array_volume(keys);
    if (!(*good = count && count < INT32_MAX)) return true;
    wg_array *bounds[2] = {wg_array_min(keys, NULL, 0, false), wg_array_max(keys, NULL, 0, false)};
    if (!bounds[0] || !bounds[1] || !wg_array_run(bounds, 2) || !wg_array_int64(bounds[0], &least) || !wg_array_int64(bounds[1], &greatest))
        return bpl_fail_lazy(session), false;
    *good = (uint64_t)greatest - (uint64_t)least < (uint64_t)count * 4 + 4096;
    if (!*good) return true;
    range->least = least;
    range->size = greatest - least + 1;
    range->first = base_allocate_zeroed(session->allocator, (size_t)range->size * sizeof *range->first);
    return range->first || bpl_fail_memory(session);
}

static void range_free(bpl_session *session, small_range *range)
{
    base_free(session->allocator, range->first, (size_t)range->size * sizeof *range->first);
}

/* Integers at hand: nothing carries them, so that the host may look. */
static bool read_integers(bpl_session *session, wg_array *array, bool *good, const int64_t **numbers)
{
    wg_view view;
    *good = !wg_array_is_carried(array) && wg_array_kind(array) == WG_KIND_I64;
    if (!*good) return true;
    if (!wg_array_read(array, &view)) return bpl_fail_lazy(session), false;
    *good = !view.strides || wg_array_volume(array) < 2 || view.strides[view.rank - 1] == (int64_t)sizeof(int64_t);
    *numbers = view.data;
    return true;
}

/* NULL without an error: the row serves. */
static wg_array *first_by_range(bpl_session *session, wg_array *keys)
{
    const int64_t *numbers;
    int64_t *places, count = wg_array_volume(keys);
    small_range range;
    bool good;
    if (!read_integers(session, keys, &good, &numbers) || !good) return NULL;
    if (!range_new(session, keys, &range, &good) || !good) return NULL;
    wg_array *result = new_places(session, count, &places);
    for (int64_t i = 0; result && i < count; i++) {
        int32_t *first = &range.first[numbers[i] - range.least];
        if (!*first) *first = (int32_t)i + 1;
        places[i] = *first - 1;
    }
    range_free(session, &range);
    return result;
}

bool bpl_distinct_by_range(bpl_session *session, wg_array *keys, int64_t **positions, int64_t *distinct, bool *done)
{
    const int64_t *numbers;
    int64_t count = wg_array_volume(keys);
    small_range range;
    *done = false;
    bool good;
    if (!read_integers(session, keys, &good, &numbers) || (good && !range_new(session, keys, &range, &good))) return false;
    if (!good) return true;
    *distinct = 0;
    *positions = base_allocate(session->allocator, ((size_t)count + 1) * sizeof **positions);
    for (int64_t i = 0; *positions && i < count && *distinct < range.size; i++) {
        int32_t *first = &range.first[numbers[i] - range.least];
        (*positions)[*distinct] = i;
        *distinct += !*first;
        *first = 1;
    }
    range_free(session, &range);
    *done = *positions != NULL;
    return *done || bpl_fail_memory(session);
}

static wg_array *places_by_range(bpl_session *session, wg_array *left, wg_array *right)
{
    const int64_t *numbers, *wanted;
    int64_t *places, count = wg_array_volume(left), asked = wg_array_volume(right);
    small_range range;
    bool good;
    if (wg_array_is_pending(left) || wg_array_is_pending(right)) return NULL; /* nothing is computed before it is asked for */
    if (!read_integers(session, left, &good, &numbers) || !good || !read_integers(session, right, &good, &wanted) || !good) return NULL;
    if (!range_new(session, left, &range, &good) || !good) return NULL;
    for (int64_t i = count; i-- > 0;) range.first[numbers[i] - range.least] = (int32_t)i + 1;
    wg_array *result = new_places(session, asked, &places);
    for (int64_t i = 0; result && i < asked; i++) {
        uint64_t at = (uint64_t)wanted[i] - (uint64_t)range.least;
        int32_t first = at < (uint64_t)range.size ? range.first[at] : 0;
        places[i] = first ? first - 1 : count;
    }
    range_free(session, &range);
    return result;
}

/* ---- kinds that are compared exactly: they are their own keys ---- */

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

/* Narrow floats as the integers of their bits: one zero, one NaN. */
static wg_array *float_bits(wg_array *array)
{
    array = wg_array_convert(array, WG_KIND_F32);
    wg_array *nan = wg_array_is_nan(array), *sum = wg_array_add_scalar(array, 0);
    wg_array *bits = wg_array_bitcast(sum, WG_KIND_I32), *all = bits ? wg_array_full_like(bits, INT32_MAX) : NULL;
    return wg_array_select(nan, all, bits);
}

static wg_array *direct_keys(bpl_value *value, bpl_class class, wg_kind kind)
{
    wg_array *keys = wg_array_convert(bpl_array(value), kind);
    if (class == BPL_CLASS_FLOAT && kind != WG_KIND_I64) keys = float_bits(keys);
    return wg_array_flatten(keys);
}

static bool identify_directly(bpl_session *session, bpl_value *a, bpl_value *b, bpl_class class, wg_kind kind, bool *done, wg_array **left,
                              wg_array **right)
{
    bool whole = true, also = true, wide = class == BPL_CLASS_FLOAT && kind == WG_KIND_F64;
    *done = false;
    if (class == BPL_CLASS_COMPLEX || bpl_rank(a) != 1) return true;
    if (wide && (!all_whole(session, a, &whole) || (whole && !all_whole(session, b, &also)))) return false;
    if (!whole || !also) return true;
    if (wide) kind = WG_KIND_I64;
    *left = direct_keys(a, class, kind);
    if (b) *right = direct_keys(b, class, kind);
    *done = *left && (!b || *right);
    return *done || bpl_fail_lazy(session);
}

/* ---- both ---- */

bool bpl_compared_kind(bpl_session *session, bpl_value *a, bpl_value *b, bpl_class *class, wg_kind *kind)
{
    if (!bpl_is_simple(a) || (b && (!bpl_is_simple(b) || a->type != b->type))) return false;
    if (a->type == BPL_CHARACTERS || a->class > BPL_CLASS_FIXED || (b && b->class > BPL_CLASS_FIXED))
        return bpl_joined_kind(session, (bpl_value *[]){a, b}, b ? 2 : 1, class, kind);
    *class = BPL_CLASS_ORDINARY;
    *kind = !b || bpl_kind(a) == bpl_kind(b) ? bpl_kind(a) : WG_KIND_I64;
    return true;
}

/* Places by a table: of `rows` major cells of a, then of those of b, whose places among those of a are asked for (rows[0]: none). */
static wg_array *places_by_table(bpl_session *session, bpl_value *a, bpl_value *b, const int64_t rows[2], int64_t width, const bpl_class *class,
                                 wg_kind kind)
{
    int64_t count = rows[0] + rows[1], *ids = NULL, *places;
    size_t bytes = (size_t)(count ? count : 1) * sizeof(int64_t);
    key_list list = {0};
    wg_array *result = NULL;
    bool good = (ids = base_allocate_zeroed(session->allocator, bytes)) || bpl_fail_memory(session);
    if (good && !class) good = identify_items(session, a, b, count, width, ids);
    for (int64_t i = rows[0]; good && !class && !width && b && b->type != a->type && i < count; i++) ids[i] = -1; /* no numbers are no text */
    if (good && class) good = simple_keys(session, a, b, *class, kind, &list);
    if (good && class && count && width == 1 && *class == BPL_CLASS_FLOAT && list.placed) memcpy(ids, list.keys, bytes);
    else if (good && class) good = identify_rows(session, list.keys, count, count ? list.count / count : 0, ids);
    if (good) result = new_places(session, b ? rows[1] : rows[0], &places);
    for (int64_t i = 0; result && !b && i < rows[0]; i++) places[i] = ids[i];
    for (int64_t i = 0; result && b && i < rows[1]; i++) places[i] = ids[rows[0] + i] >= 0 && ids[rows[0] + i] < rows[0] ? ids[rows[0] + i] : rows[0];
    if (list.keys) base_free(session->allocator, list.keys, (size_t)list.capacity * sizeof *list.keys);
    if (ids) base_free(session->allocator, ids, bytes);
    return result;
}

wg_array *bpl_direct_keys(bpl_session *session, bpl_value *value)
{
    bpl_class class;
    wg_kind kind;
    bool done = false;
    wg_array *keys = NULL;
    if (bpl_compared_kind(session, value, NULL, &class, &kind)) identify_directly(session, value, NULL, class, kind, &done, &keys, NULL);
    return done ? keys : NULL;
}

static wg_array *places(bpl_session *session, bpl_value *a, bpl_value *b, uint32_t frame)
{
    int64_t rows[2] = {bpl_tally(a), b ? 1 : 0}, width = 1;
    bpl_class class;
    wg_kind kind = WG_KIND_I64;
    wg_array *left, *right;
    bool done = false, simple = bpl_compared_kind(session, a, b, &class, &kind);
    for (uint32_t axis = 1; axis < bpl_rank(a); axis++) width *= bpl_shape(a)[axis];
    for (uint32_t axis = 0; b && axis < frame; axis++) rows[1] *= bpl_shape(b)[axis];
    if (bpl_failed(session)) return NULL;
    if (simple && !identify_directly(session, a, b, class, kind, &done, &left, &right)) return NULL;
    if (!done) return places_by_table(session, a, b, rows, width, simple ? &class : NULL, kind);
    wg_array *result = b ? places_by_range(session, left, right) : first_by_range(session, left);
    if (result || bpl_failed(session)) return result;
    return wg_array_first_index(left, b ? right : left);
}

wg_array *bpl_first_places(bpl_session *session, bpl_value *value) { return places(session, value, NULL, 0); }

wg_array *bpl_places_in(bpl_session *session, bpl_value *searched, bpl_value *value, uint32_t frame)
{
    return places(session, searched, value, frame);
}
