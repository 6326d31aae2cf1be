/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "support/blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/kind.h"

/* Where the f16 scales of a block stand. */
static void scales_of(wg_kind kind, int places[2])
{
    places[0] = kind == WG_KIND_Q2_K ? 80 : kind == WG_KIND_Q3_K ? 108 : kind == WG_KIND_Q6_K ? 208 : 0;
    bool two = kind == WG_KIND_Q4_1 || kind == WG_KIND_Q5_1 || kind == WG_KIND_Q2_K || kind == WG_KIND_Q4_K || kind == WG_KIND_Q5_K;
    places[1] = two ? places[0] + 2 : places[0];
}

static uint16_t scale(test_draws *draws, bool wild)
{
    static const uint16_t rare[] = {0x0000, 0x8000, 0x0001, 0x83ff, 0x7c00, 0xfc00, 0x7e00};
    if (!test_draw_below(draws, 20)) return rare[test_draw_below(draws, wild ? 7 : 4)];
    return base_f16_from_f64(test_draw_between(draws, -0.02, 0.02));
}

wg_tensor *test_blocks(test_draws *draws, wg_kind kind, uint32_t rank, const int64_t *shape, bool wild)
{
    wg_error error = {0};
    wg_tensor *tensor = wg_tensor_new(NULL, kind, rank, shape, NULL, &error);
    if (!tensor) fail_msg("%s", error.message);
    uint8_t *block = wg_tensor_data(tensor);
    size_t bytes = wg_kind_bytes(kind);
    int places[2];
    scales_of(kind, places);
    for (int64_t b = wg_tensor_volume(tensor) / wg_kind_block(kind); b > 0; b--, block += bytes) {
        for (size_t i = 0; i < bytes; i++) block[i] = (uint8_t)(test_draw(draws) >> 32);
        if (kind == WG_KIND_MXFP4) {
            block[0] = test_draw_below(draws, 20) ? (uint8_t)(118 + test_draw_below(draws, 6)) : (uint8_t)test_draw_below(draws, wild ? 256 : 3);
            continue;
        }
        for (int i = 0; i < 2; i++) {
            uint16_t bits = scale(draws, wild);
            memcpy(block + places[i], &bits, sizeof bits);
        }
    }
    return tensor;
}
