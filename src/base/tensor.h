/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What a tensor is inside: one block that holds the header, then the items on a BASE_ALIGNMENT boundary; of borrowed items the header
 * alone. */
#ifndef BASE_TENSOR_H
#define BASE_TENSOR_H

#include <stdatomic.h>

#include "base/memory.h"

struct wg_tensor {
    wg_allocator allocator; /* the one it came from: a tensor may be released where its context is not at hand */
    _Atomic uint32_t references;
    wg_kind kind;
    uint32_t rank;
    size_t bytes; /* of the items */
    int64_t volume;
    void *data;
    void (*release)(void *user); /* NULL: the items stand behind this header */
    void *user;
    int64_t shape[WG_MAX_RANK]; /* of a tensor of few items the first [rank] alone */
};

/* Whether whoever holds a reference may write the items: nobody else has one, and the items are not borrowed. */
static inline bool base_tensor_is_sole(const wg_tensor *tensor)
{
    return !tensor->release && atomic_load_explicit(&tensor->references, memory_order_acquire) == 1;
}

/* Checks kind, rank and extents; answers the number of items and their bytes. WG_KIND, WG_SHAPE, WG_SIZE. */
bool base_tensor_size(wg_kind kind, uint32_t rank, const int64_t *shape, int64_t *volume, size_t *bytes, wg_error *error);
/* As wg_tensor_new, with uninitialised items. */
wg_tensor *base_tensor_new(const wg_allocator *allocator, wg_kind kind, uint32_t rank, const int64_t *shape, wg_error *error);
/* Copies the items of a view, row-major, to items[volume * bytes]. The view's shape has been checked. */
void base_view_gather(const wg_view *view, void *items);

/* ---- what readers of files need ---- */

/* Checks the header of a file: kind, rank and extents as above, and that they need exactly the `have` bytes that are there (else
 * WG_FORMAT). Messages begin with `name`. */
bool base_items_expect(const char *name, wg_kind kind, uint32_t rank, const int64_t *shape, size_t have, int64_t *volume, wg_error *error);
/* Reverses the bytes of each of count parts of `width` bytes: the other byte order. */
void base_items_reverse(void *items, size_t count, size_t width);
/* The position of the first byte that is neither 0 nor 1; -1 where there is none. */
int64_t base_items_not_bool(const void *items, int64_t count);

#endif
