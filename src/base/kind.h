/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What a kind is: sizes, classes, conversions of single items. A 16-bit float is its bits; arithmetic on it happens in f32. */
#ifndef BASE_KIND_H
#define BASE_KIND_H

#include "base/checked.h"
#include "wengert/types.h"

typedef enum base_class {
    BASE_CLASS_BOOL,
    BASE_CLASS_SIGNED,
    BASE_CLASS_UNSIGNED,
    BASE_CLASS_FLOAT,
    BASE_CLASS_COMPLEX,
    BASE_CLASS_CHARACTER,
    BASE_CLASS_BLOCK /* quantised weights, several items in one (block.h) */
} base_class;

typedef struct base_kind_facts {
    const char *name;
    uint8_t bytes; /* of an item, or of a block */
    uint8_t shift; /* the items of a block are 1 << shift; 0 of every other kind */
    base_class class;
} base_kind_facts;

extern const base_kind_facts base_kinds[WG_KIND_COUNT];

static inline bool base_kind_is_float(wg_kind kind) { return base_kinds[kind].class == BASE_CLASS_FLOAT; }
static inline bool base_kind_is_block(wg_kind kind) { return base_kinds[kind].class == BASE_CLASS_BLOCK; }
static inline bool base_kind_is_integer(wg_kind kind)
{
    return base_kinds[kind].class == BASE_CLASS_SIGNED || base_kinds[kind].class == BASE_CLASS_UNSIGNED;
}
static inline bool base_kind_is_complex(wg_kind kind) { return base_kinds[kind].class == BASE_CLASS_COMPLEX; }
/* Has NaNs, which are one value: floats, and complex kinds by their parts. */
static inline bool base_kind_has_nan(wg_kind kind) { return base_kind_is_float(kind) || base_kind_is_complex(kind); }
/* The kind of the two parts of a complex kind; any other kind is its own part. */
static inline wg_kind base_kind_part(wg_kind kind)
{
    return kind == WG_KIND_C64 ? WG_KIND_F32 : kind == WG_KIND_C128 ? WG_KIND_F64 : kind;
}
/* The complex kind with parts of this kind; a kind that is no part of one is answered as it is. */
static inline wg_kind base_kind_whole(wg_kind kind)
{
    return kind == WG_KIND_F32 ? WG_KIND_C64 : kind == WG_KIND_F64 ? WG_KIND_C128 : kind;
}

/* The one place that turns items into bytes. Items of a block kind are counted in whole blocks: shapes are checked to have them on the last
 * axis (base_kind_fits), so their volumes and offsets have. */
static inline int64_t base_kind_units(wg_kind kind, int64_t items) { return items >> base_kinds[kind].shift; }
static inline int64_t base_kind_bytes(wg_kind kind, int64_t items) { return base_kind_units(kind, items) * base_kinds[kind].bytes; }
/* How many items fit in so many bytes. */
static inline int64_t base_kind_items(wg_kind kind, int64_t bytes) { return (bytes / base_kinds[kind].bytes) << base_kinds[kind].shift; }
/* Whether a shape's last axis is whole blocks of the kind; other kinds fit every shape. */
static inline bool base_kind_fits(wg_kind kind, uint32_t rank, const int64_t *shape)
{
    int64_t part = ((int64_t)1 << base_kinds[kind].shift) - 1;
    return part == 0 || (rank > 0 && (shape[rank - 1] & part) == 0);
}
/* Bytes of so many items; false where they are beyond 64 bits. */
static inline bool base_kind_size(wg_kind kind, int64_t items, int64_t *bytes)
{
    return base_multiply(base_kind_units(kind, items), base_kinds[kind].bytes, bytes);
}

/* IEEE half and bfloat16, ties to even, subnormals kept, NaN to the canonical quiet NaN. */
float base_f16_to_f32(uint16_t bits);
uint16_t base_f16_from_f32(float value);
uint16_t base_f16_from_f64(double value); /* rounds once */
float base_bf16_to_f32(uint16_t bits);
uint16_t base_bf16_from_f32(float value);
uint16_t base_bf16_from_f64(double value); /* rounds once */

/* One item as a number that holds every kind but the complex ones: floats in d (f16, bf16, f32 and f64 widen exactly), signed integers in
 * i, unsigned integers, bool and char in u. A complex item is never loaded as one; stored there, a number is the real part. */
typedef union base_number {
    double d;
    int64_t i;
    uint64_t u;
} base_number;

base_number base_number_load(wg_kind kind, const void *items, int64_t index);
/* Stores what load would answer: the value must be in the kind's range; floats are rounded once, NaN becomes the canonical quiet one. */
void base_number_store(wg_kind kind, void *items, int64_t index, base_number value);
/* The Convert row for one item that is not complex: toward zero, saturating, NaN gives 0; wrap: integers modulo their width (of the value
 * truncated). To bool: not zero. To a complex kind: to its parts' kind. */
base_number base_number_convert(base_number value, wg_kind from, wg_kind to, bool wrap);
/* The number of another kind that is the same value (NaN is the same as NaN). False where there is none; complex kinds have none. */
bool base_number_exact(base_number value, wg_kind from, wg_kind to, base_number *same);
/* A double as a number of kind, converted as above (a literal's way in). */
base_number base_number_from_double(wg_kind kind, double value);
/* Makes every NaN of float items, and of the parts of complex ones, the canonical one. Answers whether there was another (write false:
 * looks only). */
bool base_canonical_nan(wg_kind kind, void *items, int64_t count, bool write);
/* The value as a double, for messages and reports. */
double base_number_to_double(wg_kind kind, base_number value);

#endif
