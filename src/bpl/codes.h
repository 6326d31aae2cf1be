/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Keys that are whole numbers (or characters) of a small range: tables of it find equal ones. They are read in the width in which they are
 * stored. */
#ifndef BPL_CODES_H
#define BPL_CODES_H

#include "bpl/bpl.h"

typedef struct bpl_codes {
    wg_array *held; /* what the items are borrowed of, owned; NULL: nothing */
    const void *items;
    wg_kind kind;
    int64_t count, low, span; /* all lie in [low, low + span) */
} bpl_codes;

/* Of a vector. False (perhaps without an error): it is none of such keys. */
bool bpl_codes_of(bpl_session *session, const bpl_value *keys, bpl_codes *codes);
/* Of an array of positions below its length, i64. False: an error. */
bool bpl_codes_of_places(bpl_session *session, wg_array *places, bpl_codes *codes);
void bpl_codes_free(bpl_codes *codes); /* may be repeated */
/* How many keys have each code, [span], zeroed before; answers how many codes there are. */
int64_t bpl_codes_count(const bpl_codes *codes, uint32_t *counts);
/* The positions [count] of keys, those of a code one after the other from next[code] on: next [span] becomes where they end. Narrow ones, since it is
 * dear to write far apart. */
void bpl_codes_place(const bpl_codes *codes, uint32_t *next, uint32_t *positions);

/* Runs a statement for all keys in order: `i`, and its `code` in [0, span). A break in it ends all. */
#define BPL_EACH_CODE_OF(T, codes, ...)                                                                                                   \
    for (int64_t i = 0; i < (codes)->count; i++) {                                                                                        \
        uint64_t code = (uint64_t)(int64_t)((const T *)(codes)->items)[i] - (uint64_t)(codes)->low;                                       \
        __VA_ARGS__                                                                                                                       \
    }
#define BPL_EACH_CODE(codes, ...)                                                                                                         \
    switch ((codes)->kind) {                                                                                                              \
    case WG_KIND_BOOL:                                                                                                                    \
    case WG_KIND_U8: BPL_EACH_CODE_OF(uint8_t, codes, __VA_ARGS__) break;                                                                 \
    case WG_KIND_I16: BPL_EACH_CODE_OF(int16_t, codes, __VA_ARGS__) break;                                                                \
    case WG_KIND_CHAR:                                                                                                                    \
    case WG_KIND_I32: BPL_EACH_CODE_OF(int32_t, codes, __VA_ARGS__) break;                                                                \
    default: BPL_EACH_CODE_OF(int64_t, codes, __VA_ARGS__) break;                                                                         \
    }

#endif
