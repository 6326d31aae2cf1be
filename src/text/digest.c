/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The digest of items: SHA-256 over them in row-major order, each in little-endian bytes and every NaN as the canonical quiet one, so that
 * it is
 * the same on every machine and for every tensor that runs to the same bits. */
#include <string.h>

#include "base/hash.h"
#include "base/tensor.h"
#include "text/text.h"

/* Complex items are looked at part by part. */
static int64_t parts_of(const wg_tensor *tensor)
{
    return base_kind_is_complex(tensor->kind) ? 2 : 1;
}

static bool is_nan(const wg_tensor *tensor, int64_t part)
{
    wg_kind kind = base_kind_part(tensor->kind);
    double value = base_kind_is_float(kind) ? base_number_load(kind, tensor->data, part).d : 0;
    return value != value;
}

/* Parts that are hashed at once. */
#define RUN 512

void text_items_digest(const wg_tensor *tensor, uint8_t digest[32])
{
    base_sha256 hash;
    base_sha256_start(&hash);
    if (base_kind_is_block(tensor->kind)) { /* blocks are bytes of one order */
        base_sha256_add(&hash, tensor->data, tensor->bytes);
        base_sha256_finish(&hash, digest);
        return;
    }
    wg_kind kind = base_kind_part(tensor->kind);
    size_t width = base_kinds[kind].bytes;
    int64_t parts = tensor->volume * parts_of(tensor);
    for (int64_t first = 0; first < parts; first += RUN) {
        uint8_t items[RUN * 8]; /* the widest part has 8 bytes */
        int64_t count = parts - first < RUN ? parts - first : RUN;
        memcpy(items, (const uint8_t *)tensor->data + (size_t)first * width, (size_t)count * width);
        for (int64_t i = 0; i < count; i++)
            if (is_nan(tensor, first + i)) base_number_store(kind, items, i, (base_number){.d = __builtin_nan("")});
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
        base_items_reverse(items, (size_t)count, width);
#endif
        base_sha256_add(&hash, items, (size_t)count * width);
    }
    base_sha256_finish(&hash, digest);
}

bool text_items_equal(const wg_tensor *tensor)
{
    int64_t each = parts_of(tensor);
    if (base_kind_is_block(tensor->kind)) return false; /* no number that a text could write */
    size_t width = base_kinds[base_kind_part(tensor->kind)].bytes;
    const uint8_t *items = tensor->data;
    for (int64_t i = each; i < tensor->volume * each; i++) {
        int64_t first = i % each;
        bool same = memcmp(items + (size_t)first * width, items + (size_t)i * width, width) == 0;
        if (is_nan(tensor, first) ? !is_nan(tensor, i) : !same) return false;
    }
    return tensor->volume > 0;
}
