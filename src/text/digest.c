/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The digest of items: SHA-256 over them in row-major order, each in little-endian bytes, so that it is the same on every machine. */
#include "base/hash.h"
#include "base/tensor.h"
#include "text/text.h"

void text_items_digest(const wg_tensor *tensor, uint8_t digest[32])
{
    base_sha256 hash;
    base_sha256_start(&hash);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    base_sha256_add(&hash, tensor->data, tensor->bytes);
#else
    const uint8_t *bytes = tensor->data;
    size_t width = base_kinds[tensor->kind].bytes;
    for (size_t item = 0; item + width <= tensor->bytes; item += width)
        for (size_t byte = width; byte-- > 0;) base_sha256_add(&hash, bytes + item + byte, 1);
#endif
    base_sha256_finish(&hash, digest);
}
