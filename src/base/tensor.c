/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "base/tensor.h"

#include <string.h>

#include "base/checked.h"
#include "base/diagnostic.h"
#include "base/kind.h"

#define HEADER_BYTES ((sizeof(wg_tensor) + BASE_ALIGNMENT - 1) / BASE_ALIGNMENT * BASE_ALIGNMENT)
#define SMALL_BYTES 1024 /* of items: with so few, the header has the extents that there are, no room for more */

static size_t header_bytes(uint32_t rank, size_t bytes)
{
    size_t least = offsetof(wg_tensor, shape) + rank * sizeof(int64_t);
    return bytes > SMALL_BYTES ? HEADER_BYTES : (size_t)base_align_up((int64_t)least);
}


bool base_tensor_size(wg_kind kind, uint32_t rank, const int64_t *shape, int64_t *volume, size_t *bytes, wg_error *error)
{
    if ((unsigned)kind >= WG_KIND_COUNT) return base_fail(error, WG_KIND, "%u is not a kind; give one of wg_kind", (unsigned)kind);
    if (rank > WG_MAX_RANK)
        return base_fail(error, WG_SHAPE, "rank %u is above %d, the greatest; merge axes", (unsigned)rank, WG_MAX_RANK);
    if (rank && !shape) return base_fail(error, WG_ARGUMENT, "a shape of rank %u is NULL; give its extents", (unsigned)rank);
    for (uint32_t axis = 0; axis < rank; axis++)
        if (shape[axis] < 0)
            return base_fail(error, WG_SHAPE, "shape %s has a negative extent; extents are 0 or more", BASE_SHAPE_TEXT(rank, shape));
    if (!base_kind_fits(kind, rank, shape))
        return base_fail(error, WG_SHAPE, "shape %s of %s: its last axis must be whole blocks of %lld items", BASE_SHAPE_TEXT(rank, shape),
                         base_kinds[kind].name, (long long)wg_kind_block(kind));
    int64_t total;
    if (!base_volume(rank, shape, volume) || !base_kind_size(kind, *volume, &total) ||
        (uint64_t)total > SIZE_MAX - HEADER_BYTES - 2 * BASE_ALIGNMENT)
        return base_fail(error, WG_SIZE, "shape %s of %s does not fit in 64 bits of bytes; make it smaller", BASE_SHAPE_TEXT(rank, shape),
                         base_kinds[kind].name);
    *bytes = (size_t)total;
    return true;
}

static wg_tensor *new_tensor(const wg_allocator *allocator, bool zeroed, wg_kind kind, uint32_t rank, const int64_t *shape, wg_error *error)
{
    int64_t volume;
    size_t bytes;
    if (!base_tensor_size(kind, rank, shape, &volume, &bytes, error)) return NULL;
    size_t header = header_bytes(rank, bytes);
    wg_tensor *tensor = (zeroed ? base_allocate_aligned_zeroed : base_allocate_aligned)(allocator, header + bytes);
    if (!tensor) {
        base_fail(error, WG_MEMORY, "out of memory for %s of %s", BASE_SHAPE_TEXT(rank, shape), base_kinds[kind].name);
        return NULL;
    }
    tensor->allocator = *allocator;
    atomic_init(&tensor->references, 1);
    tensor->kind = kind;
    tensor->rank = rank;
    tensor->bytes = bytes;
    tensor->volume = volume;
    tensor->data = (unsigned char *)tensor + header;
    tensor->release = NULL;
    if (rank) memcpy(tensor->shape, shape, rank * sizeof *shape);
    return tensor;
}

wg_tensor *base_tensor_new(const wg_allocator *allocator, wg_kind kind, uint32_t rank, const int64_t *shape, wg_error *error)
{
    return new_tensor(allocator, false, kind, rank, shape, error);
}

/* Every kernel relies on a bool being 0 or 1; what a caller hands in may be any byte. */
static void normalise_bools(wg_tensor *tensor)
{
    if (tensor->kind != WG_KIND_BOOL) return;
    uint8_t *items = tensor->data;
    for (size_t i = 0; i < tensor->bytes; i++) items[i] = items[i] != 0;
}

wg_tensor *wg_tensor_new(wg_context *context, wg_kind kind, uint32_t rank, const int64_t *shape, const void *items, wg_error *error)
{
    wg_tensor *tensor = new_tensor(base_allocator(context), !items, kind, rank, shape, error);
    if (!tensor) return NULL;
    if (items && tensor->bytes) memcpy(tensor->data, items, tensor->bytes);
    normalise_bools(tensor);
    return tensor;
}

wg_tensor *wg_tensor_borrow(wg_context *context, wg_kind kind, uint32_t rank, const int64_t *shape, const void *items,
                            void (*release)(void *user), void *user, wg_error *error)
{
    const wg_allocator *allocator = base_allocator(context);
    int64_t volume;
    size_t bytes;
    wg_tensor *tensor = NULL;
    if (!release) base_fail(error, WG_ARGUMENT, "borrowed items need a function that gives them back");
    else if (base_tensor_size(kind, rank, shape, &volume, &bytes, error)) {
        size_t unit = base_kind_is_block(kind) ? 1 : base_kinds[base_kind_part(kind)].bytes;
        if ((uintptr_t)items % unit) base_fail(error, WG_ARGUMENT, "items of %s must stand on a boundary of %zu bytes", base_kinds[kind].name, unit);
        else if (!(tensor = base_allocate_aligned(allocator, HEADER_BYTES))) base_fail_memory(error);
    }
    if (!tensor) {
        if (release) release(user);
        return NULL;
    }
    *tensor = (wg_tensor){.allocator = *allocator, .kind = kind, .rank = rank, .bytes = bytes, .volume = volume, .data = (void *)items,
                          .release = release, .user = user};
    atomic_init(&tensor->references, 1);
    if (rank) memcpy(tensor->shape, shape, rank * sizeof *shape);
    return tensor;
}

/* Units are items, or the blocks of a block kind. */
static void gather_axis(const wg_view *view, uint32_t axis, const unsigned char *from, unsigned char **to)
{
    size_t item = base_kinds[view->kind].bytes;
    if (axis == view->rank) {
        memcpy(*to, from, item);
        *to += item;
        return;
    }
    int64_t extent = axis + 1 == view->rank ? base_kind_units(view->kind, view->shape[axis]) : view->shape[axis];
    if (axis + 1 == view->rank && view->strides[axis] == (int64_t)item) {
        memcpy(*to, from, (size_t)extent * item);
        *to += (size_t)extent * item;
        return;
    }
    for (int64_t i = 0; i < extent; i++) gather_axis(view, axis + 1, from + i * view->strides[axis], to);
}

void base_view_gather(const wg_view *view, void *items)
{
    int64_t volume = 0, contiguous[WG_MAX_RANK], step = base_kinds[view->kind].bytes;
    if (!base_volume(view->rank, view->shape, &volume) || volume == 0) return;
    for (uint32_t axis = view->rank; axis-- > 0;) {
        contiguous[axis] = step;
        step *= axis + 1 == view->rank ? base_kind_units(view->kind, view->shape[axis]) : view->shape[axis];
    }
    unsigned char *to = items;
    if (!view->strides || memcmp(view->strides, contiguous, view->rank * sizeof step) == 0) memcpy(items, view->data, (size_t)step);
    else gather_axis(view, 0, view->data, &to);
}

wg_tensor *wg_tensor_copy(wg_context *context, const wg_view *view, wg_error *error)
{
    if (!view || (view->rank && !view->shape)) return base_fail(error, WG_ARGUMENT, "a copy needs a view, and its shape"), NULL;
    int64_t volume;
    size_t bytes;
    if (!base_tensor_size(view->kind, view->rank, view->shape, &volume, &bytes, error)) return NULL;
    if (volume && !view->data) {
        base_fail(error, WG_ARGUMENT, "the items of a view of shape %s are NULL; give their address", BASE_SHAPE_TEXT(view->rank,
                  view->shape));
        return NULL;
    }
    wg_tensor *tensor = base_tensor_new(base_allocator(context), view->kind, view->rank, view->shape, error);
    if (!tensor) return NULL;
    base_view_gather(view, tensor->data);
    normalise_bools(tensor);
    return tensor;
}

wg_tensor *wg_tensor_fill(wg_context *context, wg_kind kind, uint32_t rank, const int64_t *shape, double value, wg_error *error)
{
    if ((unsigned)kind < WG_KIND_COUNT && base_kind_is_block(kind))
        return base_fail(error, WG_KIND, "no number fills items of %s: give their blocks", base_kinds[kind].name), NULL;
    wg_tensor *tensor = base_tensor_new(base_allocator(context), kind, rank, shape, error);
    if (!tensor || tensor->volume == 0) return tensor;
    base_number_store(kind, tensor->data, 0, base_number_from_double(kind, value));
    unsigned char *items = tensor->data;
    for (size_t done = base_kinds[kind].bytes, more; done < tensor->bytes; done += more) {
        more = done < tensor->bytes - done ? done : tensor->bytes - done;
        memcpy(items + done, items, more);
    }
    return tensor;
}

wg_tensor *wg_tensor_retain(wg_tensor *tensor)
{
    if (tensor) atomic_fetch_add_explicit(&tensor->references, 1, memory_order_relaxed);
    return tensor;
}

void wg_tensor_release(wg_tensor *tensor)
{
    if (!tensor || atomic_fetch_sub_explicit(&tensor->references, 1, memory_order_acq_rel) != 1) return;
    wg_allocator allocator = tensor->allocator;
    if (tensor->release) tensor->release(tensor->user);
    base_free_aligned(&allocator, tensor, tensor->release ? HEADER_BYTES : (size_t)((char *)tensor->data - (char *)tensor) + tensor->bytes);
}

bool base_items_expect(const char *name, wg_kind kind, uint32_t rank, const int64_t *shape, size_t have, int64_t *volume, wg_error *error)
{
    size_t need;
    wg_error inner = {.code = WG_OK};
    if (!base_tensor_size(kind, rank, shape, volume, &need, &inner)) return base_fail(error, inner.code, "%s: %s", name, inner.message);
    if (need == have) return true;
    return base_fail(error, WG_FORMAT, "%s: shape %s of %s needs %zu bytes, the file holds %zu; it is %s", name,
                     BASE_SHAPE_TEXT(rank, shape), base_kinds[kind].name, need, have, need > have ? "truncated" : "too long");
}

void base_items_reverse(void *items, size_t count, size_t width)
{
    unsigned char *part = items;
    for (size_t i = 0; i < count; i++, part += width)
        for (size_t low = 0, high = width - 1; low < high; low++, high--) {
            unsigned char byte = part[low];
            part[low] = part[high];
            part[high] = byte;
        }
}

int64_t base_items_not_bool(const void *items, int64_t count)
{
    const uint8_t *bytes = items;
    for (int64_t i = 0; i < count; i++)
        if (bytes[i] > 1) return i;
    return -1;
}

wg_kind wg_tensor_kind(const wg_tensor *tensor) { return tensor ? tensor->kind : WG_KIND_COUNT; }
uint32_t wg_tensor_rank(const wg_tensor *tensor) { return tensor ? tensor->rank : 0; }
const int64_t *wg_tensor_shape(const wg_tensor *tensor) { return tensor ? tensor->shape : NULL; }
int64_t wg_tensor_volume(const wg_tensor *tensor) { return tensor ? tensor->volume : 0; }
void *wg_tensor_data(const wg_tensor *tensor) { return tensor ? tensor->data : NULL; }

wg_view wg_tensor_view(const wg_tensor *tensor)
{
    if (!tensor) return (wg_view){NULL, WG_KIND_COUNT, 0, NULL, NULL};
    return (wg_view){tensor->data, tensor->kind, tensor->rank, tensor->shape, NULL};
}
