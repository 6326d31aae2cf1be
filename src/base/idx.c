/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "base/idx.h"

#include <string.h>

#include "base/diagnostic.h"
#include "base/kind.h"
#include "base/tensor.h"

static const struct {
    uint8_t code;
    wg_kind kind;
} types[] = {{0x08, WG_KIND_U8}, {0x09, WG_KIND_I8}, {0x0B, WG_KIND_I16}, {0x0C, WG_KIND_I32}, {0x0D, WG_KIND_F32}, {0x0E, WG_KIND_F64}};

static wg_kind kind_of_code(uint8_t code)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].code == code) return types[i].kind;
    return WG_KIND_COUNT;
}

typedef struct header {
    wg_kind kind;
    uint32_t rank;
    int64_t shape[WG_MAX_RANK];
    size_t start; /* of the items */
} header;

static bool read_header(const char *name, const unsigned char *bytes, size_t length, header *head, wg_error *error)
{
    if (length >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B)
        return base_fail(error, WG_FORMAT, "%s: the bytes are gzip's, not IDX; decompress them first", name);
    if (length < 4 || bytes[0] || bytes[1])
        return base_fail(error, WG_FORMAT, "%s: no IDX file: it does not start with the magic 00 00, a type and a rank", name);
    head->kind = kind_of_code(bytes[2]);
    if (head->kind == WG_KIND_COUNT)
        return base_fail(error, WG_UNSUPPORTED, "%s: IDX type code 0x%02x is unknown; 08, 09, 0b, 0c, 0d and 0e are read", name, bytes[2]);
    head->rank = bytes[3];
    if (head->rank < 1 || head->rank > WG_MAX_RANK)
        return base_fail(error, WG_UNSUPPORTED, "%s: IDX rank %u; ranks from 1 to %d are read", name, head->rank, WG_MAX_RANK);
    head->start = 4 + 4 * (size_t)head->rank;
    if (length < head->start)
        return base_fail(error, WG_FORMAT, "%s: truncated: %u extents need %zu bytes, the file has %zu", name, head->rank, head->start,
                         length);
    for (uint32_t axis = 0; axis < head->rank; axis++) {
        const unsigned char *at = bytes + 4 + 4 * axis;
        uint32_t extent = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
        if (extent > INT32_MAX)
            return base_fail(error, WG_FORMAT, "%s: extent %u of the IDX header is negative as a 32-bit number (0x%08x)", name, axis,
                             extent);
        head->shape[axis] = extent;
    }
    return true;
}

wg_tensor *base_idx_read(const wg_allocator *allocator, const char *name, const void *bytes, size_t length, wg_error *error)
{
    header head;
    int64_t volume;
    if (!read_header(name, bytes, length, &head, error)) return NULL;
    if (!base_items_expect(name, head.kind, head.rank, head.shape, length - head.start, &volume, error)) return NULL;
    wg_tensor *tensor = base_tensor_new(allocator, head.kind, head.rank, head.shape, error);
    if (!tensor) return NULL;
    memcpy(tensor->data, (const unsigned char *)bytes + head.start, tensor->bytes);
    base_items_reverse(tensor->data, (size_t)volume, base_kinds[head.kind].bytes);
    return tensor;
}
