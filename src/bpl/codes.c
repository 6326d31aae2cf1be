/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Keys of a small range: see codes.h. */
#include "bpl/codes.h"

#include <string.h>

/* A table serves keys that lie so close. */
#define CLOSE ((uint64_t)1 << 22)

/* As many chains as make a vector that stays in a register: 64 bytes of them take twice as long. */
#define RANGE(T)                                                                                                                          \
    {                                                                                                                                     \
        enum { CHAINS = 16 / sizeof(T) };                                                                                                 \
        const T *at = codes->items;                                                                                                       \
        T least[CHAINS], most[CHAINS];                                                                                                    \
        int64_t done = 0;                                                                                                                 \
        for (int chain = 0; chain < CHAINS; chain++) least[chain] = most[chain] = at[0];                                                  \
        for (; done + CHAINS <= codes->count; done += CHAINS)                                                                             \
            for (int chain = 0; chain < CHAINS; chain++) {                                                                                \
                T key = at[done + chain];                                                                                                 \
                least[chain] = key < least[chain] ? key : least[chain];                                                                   \
                most[chain] = key > most[chain] ? key : most[chain];                                                                      \
            }                                                                                                                             \
        for (; done < codes->count; done++) {                                                                                             \
            least[0] = at[done] < least[0] ? at[done] : least[0];                                                                         \
            most[0] = at[done] > most[0] ? at[done] : most[0];                                                                            \
        }                                                                                                                                 \
        for (int chain = 0; chain < CHAINS; chain++) {                                                                                    \
            low = least[chain] < low ? least[chain] : low;                                                                                \
            high = most[chain] > high ? most[chain] : high;                                                                               \
        }                                                                                                                                 \
        break;                                                                                                                            \
    }

static bool find_range(bpl_codes *codes)
{
    int64_t low = INT64_MAX, high = INT64_MIN;
    switch (codes->kind) {
    case WG_KIND_BOOL:
    case WG_KIND_U8: RANGE(uint8_t)
    case WG_KIND_I16: RANGE(int16_t)
    case WG_KIND_CHAR:
    case WG_KIND_I32: RANGE(int32_t)
    default: RANGE(int64_t)
    }
    codes->low = low;
    codes->span = (int64_t)((uint64_t)high - (uint64_t)low + 1);
    return (uint64_t)high - (uint64_t)low < CLOSE;
}

bool bpl_codes_of(bpl_session *session, const bpl_value *keys, bpl_codes *codes)
{
    wg_view view;
    *codes = (bpl_codes){.held = NULL};
    if (!bpl_is_simple(keys) || bpl_rank(keys) != 1 || keys->class == BPL_CLASS_FLOAT || keys->class == BPL_CLASS_COMPLEX ||
        !bpl_tally(keys) || wg_array_is_carried(bpl_array(keys))) return false;
    if (!wg_array_read_stored(bpl_array(keys), &view)) return bpl_fail_lazy(session), false;
    codes->items = view.data;
    codes->kind = view.kind;
    codes->count = bpl_tally(keys);
    if (view.strides || !find_range(codes)) return false;
    codes->held = wg_array_keep(bpl_array(keys));
    return true;
}

bool bpl_codes_of_places(bpl_session *session, wg_array *places, bpl_codes *codes)
{
    wg_view view;
    if (!places || !wg_array_read_stored(places, &view)) return bpl_failed(session) ? false : (bpl_fail_lazy(session), false);
    int64_t count = wg_array_volume(places);
    *codes = (bpl_codes){.held = wg_array_keep(places), .items = view.data, .kind = view.kind, .count = count, .span = count};
    return true;
}

void bpl_codes_free(bpl_codes *codes)
{
    if (codes->held) wg_array_release(codes->held);
    codes->held = NULL;
}

/* Equal keys in a row wait for each other's count: few counts stand in tables that take turns. */
#define TABLES 4
#define FEW_COUNTS 2048 /* of a table: all of them stay in the first cache */
#define COUNT(T)                                                                                                                          \
    {                                                                                                                                     \
        const T *at = codes->items;                                                                                                       \
        uint64_t low = (uint64_t)codes->low;                                                                                              \
        for (; i + TABLES <= codes->count; i += TABLES) {                                                                                 \
            counts[(uint64_t)(int64_t)at[i] - low]++;                                                                                     \
            second[(uint64_t)(int64_t)at[i + 1] - low]++;                                                                                 \
            third[(uint64_t)(int64_t)at[i + 2] - low]++;                                                                                  \
            fourth[(uint64_t)(int64_t)at[i + 3] - low]++;                                                                                 \
        }                                                                                                                                 \
        for (; i < codes->count; i++) counts[(uint64_t)(int64_t)at[i] - low]++;                                                           \
        break;                                                                                                                            \
    }

int64_t bpl_codes_count(const bpl_codes *codes, uint32_t *counts)
{
    uint32_t few[(TABLES - 1) * FEW_COUNTS];
    int64_t distinct = 0, spread = codes->span <= FEW_COUNTS ? codes->span : 0, i = 0;
    uint32_t *second = spread ? few : counts, *third = second + spread, *fourth = third + spread;
    memset(few, 0, (TABLES - 1) * (size_t)spread * sizeof *few);
    switch (codes->kind) {
    case WG_KIND_BOOL:
    case WG_KIND_U8: COUNT(uint8_t)
    case WG_KIND_I16: COUNT(int16_t)
    case WG_KIND_CHAR:
    case WG_KIND_I32: COUNT(int32_t)
    default: COUNT(int64_t)
    }
    for (int64_t code = 0; code < spread; code++) counts[code] += second[code] + third[code] + fourth[code];
    for (int64_t code = 0; code < codes->span; code++) distinct += counts[code] != 0;
    return distinct;
}

void bpl_codes_place(const bpl_codes *codes, uint32_t *next, uint32_t *positions)
{
    BPL_EACH_CODE(codes, { positions[next[code]++] = (uint32_t)i; })
}
