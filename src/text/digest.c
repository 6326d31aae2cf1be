/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The digest of items: SHA-256 over them in row-major order, each in little-endian bytes and every NaN as the canonical quiet one, so that
 * it is
 * the same on every machine and for every tensor that runs to the same bits. */
#include <string.h>

#include "base/hash.h"
#include "base/tensor.h"
#include "text/text.h"

static bool is_nan(const wg_tensor *tensor, int64_t index)
{
    double value = base_kind_is_float(tensor->kind) ? base_number_load(tensor->kind, tensor->data, index).d : 0;
    return value != value;
}

/* Items that are hashed at once. */
#define RUN 512

void text_items_digest(const wg_tensor *tensor, uint8_t digest[32])
{
    base_sha256 hash;
    base_sha256_start(&hash);
    size_t width = base_kinds[tensor->kind].bytes;
    for (int64_t first = 0; first < tensor->volume; first += RUN) {
        uint8_t items[RUN * 16]; /* the widest kind has 16 bytes */
        int64_t count = tensor->volume - first < RUN ? tensor->volume - first : RUN;
        memcpy(items, (const uint8_t *)tensor->data + (size_t)first * width, (size_t)count * width);
        for (int64_t i = 0; i < count; i++)
            if (is_nan(tensor, first + i)) base_number_store(tensor->kind, items, i, (base_number){.d = __builtin_nan("")});
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
        base_items_reverse(items, (size_t)count, width);
#endif
        base_sha256_add(&hash, items, (size_t)count * width);
    }
    base_sha256_finish(&hash, digest);
}

bool text_items_equal(const wg_tensor *tensor)
{
    size_t width = base_kinds[tensor->kind].bytes;
    const uint8_t *items = tensor->data;
    bool nan = tensor->volume > 0 && is_nan(tensor, 0);
    for (int64_t i = 1; i < tensor->volume; i++)
        if (nan ? !is_nan(tensor, i) : memcmp(items, items + (size_t)i * width, width) != 0) return false;
    return tensor->volume > 0;
}
