/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * How rows see items. Every kind is computed in one of six domains; a row loads its operands into items of the domain, computes, and
 * stores items as the result's kind:
 *
 *   f16, bf16, f32 -> F32     f64 -> F64     signed integers -> SIGNED     unsigned integers, bool, char -> UNSIGNED
 *   c64 -> C64     c128 -> C128
 *
 * Storing rounds floats once and cuts integers to their width, which is wrapping: arithmetic modulo 2^64 on 64 bits is arithmetic modulo
 * 2^width on the low ones. */
#ifndef INTERP_ITEMS_H
#define INTERP_ITEMS_H

#include "interp/interp.h"

typedef union interp_item {
    float f;
    double d;
    int64_t i;
    uint64_t u;
    wg_complex64 c;
    wg_complex128 z;
} interp_item;

/* +0 of every domain: no bit is set. */
#define INTERP_ZERO ((interp_item){.z = {0, 0}})

/* Rows have tables over the domains of single numbers; the complex ones are complex.c's. */
typedef enum interp_domain {
    INTERP_F32,
    INTERP_F64,
    INTERP_SIGNED,
    INTERP_UNSIGNED,
    INTERP_DOMAINS,
    INTERP_C64 = INTERP_DOMAINS,
    INTERP_C128
} interp_domain;

typedef interp_item (*interp_unary)(interp_item a);
typedef interp_item (*interp_binary)(interp_item a, interp_item b);

interp_domain interp_domain_of(wg_kind kind);
/* The items of an operand in a domain that holds its kind (f16, bf16, f32 also in F64), in scratch; NULL and call->error without memory. */
interp_item *interp_load(const interp_row_call *call, uint32_t operand, interp_domain domain);
/* The only item of an operand. */
interp_item interp_load_one(const interp_row_call *call, uint32_t operand, interp_domain domain);
/* The only item of the result, of its kind's domain. Answers true. */
bool interp_store_one(const interp_row_call *call, interp_item item);
/* Room for items; NULL and call->error without memory. Uninitialised. */
interp_item *interp_take(const interp_row_call *call, int64_t count);
/* Stores items [volume] of a domain as the result. Answers true. */
bool interp_store(const interp_row_call *call, interp_domain domain, const interp_item *items);

/* The item cut to the width of an integer kind, which is what every step of a strictly ordered fold answers; floats stay as they are. */
interp_item interp_wrap(wg_kind kind, interp_item item);

int64_t interp_view_volume(const wg_view *view);

/* A shape [outer.., extent, inner..] around one axis as three numbers: item (o, i, n) stands at (o * extent + i) * inner + n. */
typedef struct interp_axis {
    int64_t outer, extent, inner;
    bool last; /* the axis is the last one: what orders of combination depend on */
} interp_axis;
interp_axis interp_axis_of(const wg_view *view, int64_t axis);

/* ---- complex items (complex.c) ---- */

/* What a row is of complex items. */
interp_unary interp_complex_unary(wg_op op, interp_domain domain);
interp_binary interp_complex_binary(wg_op op, interp_domain domain);

/* ---- how folds combine (arithmetic.c) ---- */

/* The operation of a GRAPH_FOLDING in a domain. */
interp_binary interp_folding(int64_t folding, interp_domain domain);
/* What a fold of no items is. */
interp_item interp_folding_empty(int64_t folding, wg_kind kind);

/* The canonical fold of items [count], `stride` apart (reduce.c). last: 64 lanes; else ascending; both in chunks of 4,096 whose results are
 * paired. partials has room for interp_partials(count). */
interp_item interp_fold(const interp_item *items, int64_t count, int64_t stride, bool last, interp_binary combine, interp_item empty,
                        interp_item *partials);
int64_t interp_partials(int64_t count);

/* -1, 0, 1 in the order of Sort: -0 equals 0, every NaN equals NaN and is greater than any number. */
int interp_compare(interp_domain domain, interp_item a, interp_item b);

#endif
