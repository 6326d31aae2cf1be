/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Rows of f32 to the kinds that files hold. Blocks of 32 as base/ rounds them; of the blocks of 256 q4_k and q6_k: scales of parts by a small
 * search for the least squared error, then 6 or 8 bits each over one half. */
#include "model/quantise.h"

#include <string.h>

#include "base/block.h"
#include "base/kind.h"
#include "base/scalar.h"

#define ITEMS 256

static uint16_t half_of(float value)
{
    uint16_t bits;
    base_number_store(WG_KIND_F16, &bits, 0, base_number_from_double(WG_KIND_F16, (double)value));
    return bits;
}

static float from_half(uint16_t bits)
{
    return (float)base_number_load(WG_KIND_F16, &bits, 0).d;
}

static int nearest(float x, int low, int high)
{
    float rounded = base_round_f32(x);
    if (!(rounded > (float)low)) return low; /* NaN too */
    return rounded < (float)high ? (int)rounded : high;
}

/* ---- q6_k: 16 parts of 16; d * scale * (q - 32), scale i8 ---- */

/* The scale of one part whose quotients from -32 to 31 miss least: tried around the one that takes the greatest item to the end. */
static float signed_scale(const float *x)
{
    float greatest = 0, best = 0, least = -1;
    for (int i = 0; i < 16; i++)
        if ((x[i] < 0 ? -x[i] : x[i]) > (greatest < 0 ? -greatest : greatest)) greatest = x[i];
    if (!(greatest != 0)) return 0;
    for (int step = -4; step <= 4; step++) {
        float inverse = -(32 + 0.1f * (float)step * 2) / greatest, top = 0, bottom = 0;
        int q[16];
        for (int i = 0; i < 16; i++) {
            q[i] = nearest(inverse * x[i], -32, 31);
            top += x[i] * (float)q[i];
            bottom += (float)(q[i] * q[i]);
        }
        float gain = bottom > 0 ? top * top / bottom : 0;
        if (gain > least) least = gain, best = bottom > 0 ? top / bottom : 0;
    }
    return best;
}

static void q6_k(const float *x, uint8_t *to)
{
    float scales[16], greatest = 0;
    int8_t levels[ITEMS];
    memset(to, 0, 210);
    for (int part = 0; part < 16; part++) {
        scales[part] = signed_scale(x + 16 * part);
        if ((scales[part] < 0 ? -scales[part] : scales[part]) > (greatest < 0 ? -greatest : greatest)) greatest = scales[part];
    }
    uint16_t d = half_of(greatest / -128);
    float step = from_half(d);
    int8_t *sc = (int8_t *)to + 192;
    for (int part = 0; part < 16; part++) {
        sc[part] = (int8_t)(step != 0 ? nearest(scales[part] / step, -128, 127) : 0);
        float scale = step * (float)sc[part];
        for (int i = 0; i < 16; i++) levels[16 * part + i] = (int8_t)(scale != 0 ? nearest(x[16 * part + i] / scale, -32, 31) + 32 : 32);
    }
    for (int n = 0; n < 2; n++)
        for (int i = 0; i < 32; i++) {
            const int8_t *q = levels + 128 * n + i;
            to[64 * n + i] = (uint8_t)((q[0] & 15) | (q[64] & 15) << 4);
            to[64 * n + 32 + i] = (uint8_t)((q[32] & 15) | (q[96] & 15) << 4);
            to[128 + 32 * n + i] = (uint8_t)(q[0] >> 4 | (q[32] >> 4) << 2 | (q[64] >> 4) << 4 | (q[96] >> 4) << 6);
        }
    memcpy(to + 208, &d, 2);
}

/* ---- q4_k: 8 parts of 32; d * scale * q - dmin * minimum, both of 6 bits ---- */

static float error_of(const float *x, float scale, float minimum)
{
    float sum = 0;
    for (int i = 0; i < 32; i++) {
        float q = (float)(scale > 0 ? nearest((x[i] + minimum) / scale, 0, 15) : 0), off = scale * q - minimum - x[i];
        sum += off * off;
    }
    return sum;
}

static void scale_and_minimum(const float *x, float *scale, float *minimum)
{
    float low = 0, high = 0;
    for (int i = 0; i < 32; i++) {
        if (x[i] < low) low = x[i];
        if (x[i] > high) high = x[i];
    }
    *scale = (high - low) / 15;
    *minimum = -low;
    float best = error_of(x, *scale, *minimum);
    for (int s = 0; s < 9; s++)
        for (int m = 0; m < 5; m++) {
            float tried_scale = (high - low) / 15 * (0.80f + 0.03f * (float)s), tried_minimum = -low * (0.80f + 0.05f * (float)m), off = error_of(x, tried_scale, tried_minimum);
            if (off < best) best = off, *scale = tried_scale, *minimum = tried_minimum;
        }
}

static void q4_k(const float *x, uint8_t *to)
{
    float scales[8], minima[8], scale_most = 0, minimum_most = 0;
    memset(to, 0, 144);
    for (int part = 0; part < 8; part++) {
        scale_and_minimum(x + 32 * part, &scales[part], &minima[part]);
        if (scales[part] > scale_most) scale_most = scales[part];
        if (minima[part] > minimum_most) minimum_most = minima[part];
    }
    uint16_t d = half_of(scale_most / 63), dmin = half_of(minimum_most / 63);
    float step = from_half(d), minimum_step = from_half(dmin);
    uint8_t *s = to + 4, sc[8], mn[8];
    memcpy(to, &d, 2);
    memcpy(to + 2, &dmin, 2);
    for (int part = 0; part < 8; part++) {
        sc[part] = (uint8_t)(step > 0 ? nearest(scales[part] / step, 0, 63) : 0);
        mn[part] = (uint8_t)(minimum_step > 0 ? nearest(minima[part] / minimum_step, 0, 63) : 0);
    }
    for (int j = 0; j < 4; j++) {
        s[j] = (uint8_t)(sc[j] | (sc[j + 4] >> 4) << 6);
        s[j + 4] = (uint8_t)(mn[j] | (mn[j + 4] >> 4) << 6);
        s[j + 8] = (uint8_t)((sc[j + 4] & 15) | (mn[j + 4] & 15) << 4);
    }
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 32; i++) {
            int q[2];
            for (int h = 0; h < 2; h++) {
                int part = 2 * k + h;
                float scale = step * (float)sc[part], minimum = minimum_step * (float)mn[part];
                q[h] = scale > 0 ? nearest((x[32 * part + i] + minimum) / scale, 0, 15) : 0;
            }
            to[16 + 32 * k + i] = (uint8_t)(q[0] | q[1] << 4);
        }
}

/* ---- any kind ---- */

bool model_can_quantise(wg_kind kind)
{
    return kind == WG_KIND_F32 || kind == WG_KIND_F16 || kind == WG_KIND_BF16 || kind == WG_KIND_Q8_0 || kind == WG_KIND_Q4_0 || kind == WG_KIND_Q4_1 ||
           kind == WG_KIND_Q5_0 || kind == WG_KIND_Q5_1 || kind == WG_KIND_Q4_K || kind == WG_KIND_Q6_K;
}

void model_quantise(wg_kind kind, const float *items, int64_t count, void *to)
{
    if (kind == WG_KIND_F32) memcpy(to, items, (size_t)count * sizeof *items);
    else if (kind == WG_KIND_F16 || kind == WG_KIND_BF16)
        for (int64_t i = 0; i < count; i++) base_number_store(kind, to, i, base_number_from_double(kind, (double)items[i]));
    else if (kind == WG_KIND_Q4_K)
        for (int64_t b = 0; b < count / ITEMS; b++) q4_k(items + ITEMS * b, (uint8_t *)to + 144 * b);
    else if (kind == WG_KIND_Q6_K)
        for (int64_t b = 0; b < count / ITEMS; b++) q6_k(items + ITEMS * b, (uint8_t *)to + 210 * b);
    else base_block_quantise(kind, items, count / 32, to);
}
