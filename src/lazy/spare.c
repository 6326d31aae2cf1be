/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Large results again. A block of some megabytes that is given back and taken anew is mapped and faulted in page by page each time, which
 * costs more than most elementwise work on it; a loop that makes results of one size has its blocks from here. */
#include <string.h>

#include "lazy/lazy.h"

/* Beyond it, all together, memory is worth more than time; what is less than LAZY_LARGE the allocator keeps itself. */
#define MOST_BYTES ((size_t)128 << 20)

static wg_tensor *spare_of(wg_lazy *lazy, size_t bytes)
{
    for (int i = LAZY_SPARES; i-- > 0;) {
        wg_tensor *tensor = lazy->spares[i];
        if (!tensor || tensor->bytes != bytes) continue;
        memmove(&lazy->spares[i], &lazy->spares[i + 1], (LAZY_SPARES - 1 - (size_t)i) * sizeof *lazy->spares);
        lazy->spares[LAZY_SPARES - 1] = NULL;
        return tensor;
    }
    return NULL;
}

wg_tensor *lazy_tensor_take(wg_lazy *lazy, wg_kind kind, uint32_t rank, const int64_t *shape, wg_error *error)
{
    if (!lazy->spares[0]) return base_tensor_new(lazy->allocator, kind, rank, shape, error);
    int64_t volume;
    size_t bytes;
    if (!base_tensor_size(kind, rank, shape, &volume, &bytes, error)) return NULL;
    wg_tensor *tensor = bytes >= LAZY_LARGE ? spare_of(lazy, bytes) : NULL;
    if (!tensor) return base_tensor_new(lazy->allocator, kind, rank, shape, error);
    tensor->kind = kind;
    tensor->rank = rank;
    tensor->volume = volume;
    if (rank) memcpy(tensor->shape, shape, rank * sizeof *shape);
    return tensor;
}

/* The oldest ones go where there is no room. */
static void make_room(wg_lazy *lazy, size_t bytes)
{
    size_t held = bytes;
    int count = 0;
    for (; count < LAZY_SPARES && lazy->spares[count]; count++) held += lazy->spares[count]->bytes;
    while (count && (count == LAZY_SPARES || held > MOST_BYTES)) {
        held -= lazy->spares[0]->bytes;
        wg_tensor_release(lazy->spares[0]);
        memmove(lazy->spares, lazy->spares + 1, (LAZY_SPARES - 1) * sizeof *lazy->spares);
        lazy->spares[LAZY_SPARES - 1] = NULL;
        count--;
    }
}

void lazy_tensor_give(wg_lazy *lazy, wg_tensor *tensor)
{
    bool kept = tensor->bytes <= MOST_BYTES && tensor->allocator.resize == lazy->allocator->resize &&
                tensor->allocator.user == lazy->allocator->user && base_tensor_is_sole(tensor);
    if (!kept) {
        wg_tensor_release(tensor);
        return;
    }
    make_room(lazy, tensor->bytes);
    int at = 0;
    while (lazy->spares[at]) at++;
    lazy->spares[at] = tensor;
}

void lazy_spares_free(wg_lazy *lazy)
{
    for (int i = 0; i < LAZY_SPARES; i++) {
        wg_tensor_release(lazy->spares[i]);
        lazy->spares[i] = NULL;
    }
}
