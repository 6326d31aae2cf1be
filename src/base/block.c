/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The layouts of blocks. Multi-byte numbers are little endian; a nibble is the low or the high half of a byte. */
#include "base/block.h"

#include <string.h>

#include "base/bits.h"

/* ---- what a block is made of ---- */

/* NaN of a scale is the one NaN, so products with it need no further care. */
static float half_at(const uint8_t *at) { return base_f16_to_f32((uint16_t)(at[0] | at[1] << 8)); }

static uint32_t word_at(const uint8_t *at) { return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24; }

/* Low nibbles are the first half of the items, high ones the second. */
static void nibbles(const uint8_t *bytes, int count, int8_t *q)
{
    for (int i = 0; i < count; i++) {
        q[i] = (int8_t)(bytes[i] & 15);
        q[i + count] = (int8_t)(bytes[i] >> 4);
    }
}

static void shifted(int8_t *q, int count, int8_t by)
{
    for (int i = 0; i < count; i++) q[i] = (int8_t)(q[i] + by);
}

static void looked_up(int8_t *q, const int8_t table[16])
{
    for (int i = 0; i < 32; i++) q[i] = table[q[i]];
}

static void fifth_bits(const uint8_t *bits, int8_t *q)
{
    uint32_t word = word_at(bits);
    for (int i = 0; i < 32; i++) q[i] = (int8_t)(q[i] | (word >> i & 1) << 4);
}

/* 2^(e - 128). */
static float power_of(uint8_t e)
{
    return base_f32_of_bits(e < 2 ? (uint32_t)0x200000 << e : (uint32_t)(e - 1) << 23);
}

/* The eight scales and minima of 6 bits of q4_k and q5_k. */
static void six_bits(const uint8_t *header, base_block *to)
{
    float d = half_at(header), minimum = half_at(header + 2);
    const uint8_t *s = header + 4;
    for (int j = 0; j < 8; j++) {
        int scale = j < 4 ? s[j] & 63 : (s[j + 4] & 15) | (s[j - 4] >> 6) << 4;
        int least = j < 4 ? s[j + 4] & 63 : s[j + 4] >> 4 | (s[j] >> 6) << 4;
        to->scale[j] = d * (float)scale;
        to->added[j] = -(minimum * (float)least);
    }
}

/* ---- the kinds of 256 items ---- */

static void read_q2_k(const uint8_t *block, base_block *to)
{
    const uint8_t *q = block + 16;
    float d = half_at(block + 80), minimum = half_at(block + 82);
    for (int j = 0; j < 16; j++) {
        to->scale[j] = d * (float)(block[j] & 15);
        to->added[j] = -(minimum * (float)(block[j] >> 4));
    }
    for (int n = 0; n < 2; n++)
        for (int t = 0; t < 4; t++)
            for (int i = 0; i < 32; i++) to->q[128 * n + 32 * t + i] = (int8_t)(q[32 * n + i] >> 2 * t & 3);
}

static void read_q3_k(const uint8_t *block, base_block *to)
{
    const uint8_t *high = block, *q = block + 32, *s = block + 96;
    float d = half_at(block + 108);
    for (int j = 0; j < 16; j++) {
        int low = j < 8 ? s[j] & 15 : s[j - 8] >> 4;
        to->scale[j] = d * (float)((low | (s[8 + j % 4] >> 2 * (j / 4) & 3) << 4) - 32);
    }
    for (int n = 0; n < 2; n++)
        for (int t = 0; t < 4; t++)
            for (int i = 0; i < 32; i++) {
                int less = (high[i] >> (4 * n + t) & 1) ? 0 : 4;
                to->q[128 * n + 32 * t + i] = (int8_t)((q[32 * n + i] >> 2 * t & 3) - less);
            }
}

static void read_q4_k(const uint8_t *block, base_block *to)
{
    six_bits(block, to);
    for (int k = 0; k < 4; k++) nibbles(block + 16 + 32 * k, 32, to->q + 64 * k);
}

static void read_q5_k(const uint8_t *block, base_block *to)
{
    const uint8_t *high = block + 16;
    six_bits(block, to);
    for (int k = 0; k < 4; k++) {
        int8_t *q = to->q + 64 * k;
        nibbles(block + 48 + 32 * k, 32, q);
        for (int i = 0; i < 32; i++) {
            q[i] = (int8_t)(q[i] | (high[i] >> 2 * k & 1) << 4);
            q[i + 32] = (int8_t)(q[i + 32] | (high[i] >> (2 * k + 1) & 1) << 4);
        }
    }
}

static void read_q6_k(const uint8_t *block, base_block *to)
{
    const uint8_t *low = block, *high = block + 128;
    float d = half_at(block + 208);
    for (int j = 0; j < 16; j++) to->scale[j] = d * (float)(int8_t)block[192 + j];
    for (int n = 0; n < 2; n++) {
        int8_t *q = to->q + 128 * n;
        for (int t = 0; t < 4; t++)
            for (int i = 0; i < 32; i++) {
                int nibble = low[64 * n + 32 * (t & 1) + i] >> 4 * (t >> 1) & 15;
                q[32 * t + i] = (int8_t)((nibble | (high[32 * n + i] >> 2 * t & 3) << 4) - 32);
            }
    }
}

/* ---- all ---- */

int base_block_part(wg_kind kind)
{
    return kind == WG_KIND_Q2_K || kind == WG_KIND_Q3_K || kind == WG_KIND_Q6_K ? 16 : 32;
}

bool base_block_adds(wg_kind kind)
{
    return kind == WG_KIND_Q4_1 || kind == WG_KIND_Q5_1 || kind == WG_KIND_Q2_K || kind == WG_KIND_Q4_K || kind == WG_KIND_Q5_K;
}

void base_block_read(wg_kind kind, const void *bytes, base_block *to)
{
    static const int8_t curve[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113},
                        halves[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
    const uint8_t *block = bytes;
    if (kind < WG_KIND_Q2_K || kind == WG_KIND_IQ4_NL) to->scale[0] = half_at(block);
    switch (kind) {
    case WG_KIND_Q8_0: memcpy(to->q, block + 2, 32); break;
    case WG_KIND_Q4_0:
        nibbles(block + 2, 16, to->q);
        shifted(to->q, 32, -8);
        break;
    case WG_KIND_Q4_1:
        to->added[0] = half_at(block + 2);
        nibbles(block + 4, 16, to->q);
        break;
    case WG_KIND_Q5_0:
        nibbles(block + 6, 16, to->q);
        fifth_bits(block + 2, to->q);
        shifted(to->q, 32, -16);
        break;
    case WG_KIND_Q5_1:
        to->added[0] = half_at(block + 2);
        nibbles(block + 8, 16, to->q);
        fifth_bits(block + 4, to->q);
        break;
    case WG_KIND_IQ4_NL:
        nibbles(block + 2, 16, to->q);
        looked_up(to->q, curve);
        break;
    case WG_KIND_MXFP4:
        to->scale[0] = power_of(block[0]);
        nibbles(block + 1, 16, to->q);
        looked_up(to->q, halves);
        break;
    case WG_KIND_Q2_K: read_q2_k(block, to); break;
    case WG_KIND_Q3_K: read_q3_k(block, to); break;
    case WG_KIND_Q4_K: read_q4_k(block, to); break;
    case WG_KIND_Q5_K: read_q5_k(block, to); break;
    default: read_q6_k(block, to);
    }
}

void base_block_values(wg_kind kind, const void *blocks, int64_t count, float *values)
{
    const uint8_t *block = blocks;
    int items = (int)wg_kind_block(kind), part = base_block_part(kind);
    bool adds = base_block_adds(kind);
    for (int64_t b = 0; b < count; b++, block += base_kinds[kind].bytes, values += items) {
        base_block one;
        base_block_read(kind, block, &one);
        for (int first = 0; first < items; first += part) {
            float scale = one.scale[first / part], added = adds ? one.added[first / part] : 0;
            for (int i = first; i < first + part; i++) {
                float value = scale * (float)one.q[i];
                values[i] = adds ? value + added : value;
            }
        }
    }
}

/* ---- rounding to blocks ---- */

static float magnitude(float x) { return x < 0 ? -x : x; }
static float inverse(float d) { return d != 0 ? 1 / d : 0; }

/* The item of greatest magnitude, with its sign, the first of equals; NaN where there is one. */
static float greatest(const float *x)
{
    float most = 0;
    for (int i = 0; i < 32; i++)
        if (magnitude(x[i]) > magnitude(most) || x[i] != x[i]) most = x[i];
    return most;
}

/* Toward zero, from 0 up to the most; 0 of what is no number. */
static uint8_t level(float x, uint8_t most) { return !(x > 0) ? 0 : x < (float)most ? (uint8_t)x : most; }

static void put_half(uint8_t *at, float value)
{
    uint16_t bits = base_f16_from_f32(value);
    at[0] = (uint8_t)bits;
    at[1] = (uint8_t)(bits >> 8);
}

float base_block_round(const float *x, int8_t *q)
{
    float d = magnitude(greatest(x)) / 127, r = inverse(d);
    for (int i = 0; i < 32; i++) {
        float scaled = x[i] * r;
        float inside = scaled != scaled ? 0 : scaled > 127 ? 127 : scaled < -127 ? -127 : scaled;
        float whole = (float)(int)inside, rest = inside - whole; /* exact */
        q[i] = (int8_t)(whole + (rest >= 0.5f ? 1.0f : rest <= -0.5f ? -1.0f : 0.0f)); /* ties away from zero */
    }
    return base_f16_to_f32(base_f16_from_f32(d));
}

/* Levels of 4 or 5 bits; the fifth bits, where there are any, before the nibbles. */
static void put_levels(const uint8_t *levels, bool fifth, uint8_t *to)
{
    uint32_t high = 0;
    for (int i = 0; i < 32; i++) high |= (uint32_t)(levels[i] >> 4) << i;
    for (int i = 0; fifth && i < 4; i++) *to++ = (uint8_t)(high >> 8 * i);
    for (int i = 0; i < 16; i++) to[i] = (uint8_t)((levels[i] & 15) | (levels[i + 16] & 15) << 4);
}

/* Around zero: d is the greatest item over the lowest level. */
static void quantise_signed(const float *x, bool fifth, uint8_t *to)
{
    uint8_t levels[32], most = fifth ? 31 : 15;
    float middle = fifth ? 16 : 8, d = greatest(x) / -middle, r = inverse(d);
    for (int i = 0; i < 32; i++) levels[i] = level(x[i] * r + (middle + 0.5f), most);
    put_half(to, d);
    put_levels(levels, fifth, to + 2);
}

/* From the least item to the greatest. */
static void quantise_from_least(const float *x, bool fifth, uint8_t *to)
{
    uint8_t levels[32], most = fifth ? 31 : 15;
    float least = x[0], top = x[0];
    for (int i = 1; i < 32; i++) {
        if (x[i] < least) least = x[i];
        if (x[i] > top) top = x[i];
    }
    float d = (top - least) / (float)most, r = inverse(d);
    for (int i = 0; i < 32; i++) levels[i] = level((x[i] - least) * r + 0.5f, most);
    put_half(to, d);
    put_half(to + 2, least);
    put_levels(levels, fifth, to + 4);
}

bool base_block_quantise(wg_kind kind, const float *items, int64_t blocks, void *to)
{
    uint8_t *block = to;
    for (int64_t b = 0; b < blocks; b++, items += 32, block += base_kinds[kind].bytes) {
        switch (kind) {
        case WG_KIND_Q8_0: put_half(block, base_block_round(items, (int8_t *)block + 2)); break;
        case WG_KIND_Q4_0: quantise_signed(items, false, block); break;
        case WG_KIND_Q5_0: quantise_signed(items, true, block); break;
        case WG_KIND_Q4_1: quantise_from_least(items, false, block); break;
        case WG_KIND_Q5_1: quantise_from_least(items, true, block); break;
        default: return false;
        }
    }
    return true;
}
