/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Stored arrays: own, borrowed, mapped; literals; facts. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lazy/lazy.h"

static wg_array *stored_node(wg_lazy *lazy, wg_kind kind, uint32_t rank, const int64_t *shape, int64_t volume)
{
    wg_array *array = lazy_node_new(lazy, LAZY_STORED, rank, 0, 0);
    if (!array) return NULL;
    array->kind = (uint8_t)kind;
    array->volume = volume;
    if (rank) memcpy(lazy_shape(array), shape, rank * sizeof *shape);
    return array;
}

wg_array *lazy_stored(wg_lazy *lazy, wg_tensor *tensor)
{
    wg_array *array = stored_node(lazy, tensor->kind, tensor->rank, tensor->shape, tensor->volume);
    if (!array) return wg_tensor_release(tensor), NULL;
    array->as.stored.tensor = tensor;
    lazy->figures.stored_bytes += lazy_stored_bytes(array);
    return array;
}

wg_array *lazy_stored_item(wg_lazy *lazy, wg_kind kind, const void *item)
{
    wg_array *array = lazy_node_new(lazy, LAZY_STORED, 0, 2, 0);
    if (!array) return NULL;
    array->kind = (uint8_t)kind;
    array->volume = 1;
    memcpy(lazy_item(array), item, 2 * sizeof *array->words);
    lazy->figures.stored_bytes += lazy_stored_bytes(array);
    return array;
}

wg_array *lazy_literal(wg_lazy *lazy, wg_kind kind, const void *item)
{
    wg_array *array = lazy_node_new(lazy, LAZY_LITERAL, 0, 0, 0);
    if (!array) return NULL;
    array->kind = (uint8_t)kind;
    array->volume = 1;
    memcpy(array->as.literal.bits, item, base_kinds[kind].bytes);
    return array;
}

wg_view lazy_view(const wg_array *array)
{
    wg_view view = {lazy_data(array), (wg_kind)array->kind, array->rank, lazy_shape(array), NULL};
    if (array->state == LAZY_LITERAL) return view;
    const lazy_borrowed *borrowed = array->as.stored.borrowed;
    if (array->as.stored.tensor) view.kind = array->as.stored.tensor->kind;
    else if (borrowed && borrowed->strided) view.strides = borrowed->strides;
    return view;
}

void *wg_array_writable(wg_array *array)
{
    if (!array || array->state != LAZY_STORED || array->handles != 1 || array->uses || !array->as.stored.tensor) return NULL;
    if (!base_tensor_is_sole(array->as.stored.tensor)) return NULL;
    return lazy_stay_wide(array) ? array->as.stored.tensor->data : NULL;
}

const void *wg_array_item(const wg_array *array, wg_kind kind)
{
    if (!array || array->rank || array->kind != kind) return NULL;
    return array->state == LAZY_STORED || array->state == LAZY_LITERAL ? lazy_data(array) : NULL;
}

bool wg_lazy_is_at_once(const wg_lazy *lazy) { return lazy && !lazy->holding && !lazy->explain; }

wg_array *wg_array_renew(wg_lazy *lazy, wg_array *old, wg_kind kind, const void *item)
{
    bool sole = old && old->state == LAZY_STORED && old->handles == 1 && !old->uses && old->attribute_count == 2 && old->kind == kind && !old->as.stored.tensor &&
        !old->tag;
    if (!sole) {
        wg_array_release(old);
        if (!lazy || !item || !lazy_check_kind(lazy, kind)) return NULL;
        if (!(old = lazy_stored_item(lazy, kind, item))) return NULL;
    } else {
        memcpy(lazy_item(old), item, 2 * sizeof *old->words);
    }
    old->bits = base_kind_has_nan(kind);
    double number;
    memcpy(&number, lazy_item(old), sizeof number);
    if (old->bits && (kind != WG_KIND_F64 || number != number)) base_canonical_nan(kind, lazy_item(old), 1, true);
    return old;
}

/* ---- making ---- */

wg_array *wg_array_of(wg_lazy *lazy, wg_tensor *items)
{
    if (!lazy || !items) {
        wg_tensor_release(items);
        if (lazy) lazy_fail(lazy, WG_ARGUMENT, "an array of a tensor needs the tensor");
        return NULL;
    }
    return lazy_give(lazy, lazy_stored(lazy, items));
}

wg_array *wg_array_copy(wg_lazy *lazy, const wg_view *items)
{
    if (!lazy) return NULL;
    if (items && !items->rank && items->data && (unsigned)items->kind < WG_KIND_COUNT && !base_kind_is_block(items->kind)) {
        uint64_t item[2] = {0};
        memcpy(item, items->data, base_kinds[items->kind].bytes);
        if (items->kind == WG_KIND_BOOL) item[0] = (item[0] & 0xff) != 0; /* as a copied tensor's */
        return lazy_give(lazy, lazy_stored_item(lazy, items->kind, item));
    }
    wg_error error = {.code = WG_OK};
    wg_tensor *tensor = wg_tensor_copy(lazy->context, items, &error);
    if (!tensor) return lazy_fail_with(lazy, &error, NULL), NULL;
    return lazy_give(lazy, lazy_stored(lazy, tensor));
}

static bool no_blocks(wg_kind kind, wg_error *error)
{
    return base_fail(error, WG_UNSUPPORTED, "arrays of %s are not supported: blocks are weights of a network", base_kinds[kind].name);
}

static bool check_view(const wg_view *view, int64_t *volume, wg_error *error)
{
    size_t bytes;
    if (!view) return base_fail(error, WG_ARGUMENT, "borrowing needs a view");
    if ((unsigned)view->kind < WG_KIND_COUNT && base_kind_is_block(view->kind)) return no_blocks(view->kind, error);
    if (!base_tensor_size(view->kind, view->rank, view->shape, volume, &bytes, error)) return false;
    if (*volume && !view->data) return base_fail(error, WG_ARGUMENT, "the items of a view are NULL; give their address");
    if (view->kind != WG_KIND_BOOL || !*volume) return true;
    if (view->strides) return base_fail(error, WG_UNSUPPORTED, "bool items with strides are copied, not borrowed (wg_array_copy)");
    int64_t wrong = base_items_not_bool(view->data, *volume);
    return wrong < 0 || base_fail(error, WG_FORMAT, "item %lld of borrowed bool items is neither 0 nor 1", (long long)wrong);
}

static bool dense(const wg_view *view)
{
    int64_t step = base_kinds[view->kind].bytes;
    for (uint32_t axis = view->rank; view->strides && axis-- > 0; step *= view->shape[axis])
        if (view->shape[axis] > 1 && view->strides[axis] != step) return false;
    return true;
}

static wg_array *borrow(wg_lazy *lazy, const wg_view *view, lazy_borrowed how, wg_error *error)
{
    int64_t volume;
    if (!check_view(view, &volume, error)) return NULL;
    lazy_borrowed *borrowed = base_allocate(lazy->allocator, sizeof *borrowed);
    if (!borrowed) return base_fail_memory(error), NULL;
    *borrowed = how;
    atomic_init(&borrowed->references, 1);
    borrowed->allocator = lazy->allocator;
    borrowed->data = view->data;
    borrowed->strided = !dense(view);
    if (borrowed->strided) memcpy(borrowed->strides, view->strides, view->rank * sizeof *view->strides);
    wg_array *array = stored_node(lazy, view->kind, view->rank, view->shape, volume);
    if (!array) {
        base_free(lazy->allocator, borrowed, sizeof *borrowed);
        return base_fail_memory(error), NULL;
    }
    array->as.stored.borrowed = borrowed;
    lazy->figures.stored_bytes += lazy_stored_bytes(array);
    return array;
}

wg_array *wg_array_borrow(wg_lazy *lazy, const wg_view *items, void (*release)(void *user), void *user)
{
    wg_error error = {.code = WG_OK};
    wg_array *array = lazy ? borrow(lazy, items, (lazy_borrowed){.release = release, .user = user}, &error) : NULL;
    if (!array && release) release(user);
    if (!array && lazy) lazy_fail_with(lazy, &error, NULL);
    return lazy ? lazy_give(lazy, array) : NULL;
}

/* ---- parts ---- */

static void release_tensor(void *tensor) { wg_tensor_release(tensor); }

/* What parts of a tensor share, with one reference; consumes the tensor. */
static lazy_borrowed *share(wg_lazy *lazy, wg_tensor *tensor)
{
    lazy_borrowed *shared = base_allocate_zeroed(lazy->allocator, sizeof *shared);
    if (!shared) return wg_tensor_release(tensor), lazy_fail_memory(lazy), NULL;
    *shared = (lazy_borrowed){.allocator = lazy->allocator, .release = release_tensor, .user = tensor, .data = tensor->data};
    atomic_init(&shared->references, 1);
    return shared;
}

static wg_array *part_of(wg_lazy *lazy, const wg_array *array, lazy_borrowed *shared, const int64_t *ends, int64_t cell)
{
    uint32_t dropped = !ends;
    int64_t first = ends ? ends[0] : cell, end = ends ? ends[1] : cell + 1, extent = lazy_shape(array)[0];
    int64_t volume = extent ? array->volume / extent : 0;
    if (first < 0 || end < first || end > extent) {
        lazy_fail(lazy, WG_BOUNDS, "a part [%lld, %lld) is outside an axis of %lld", (long long)first, (long long)end, (long long)extent);
        return NULL;
    }
    wg_array *part = lazy_node_new(lazy, LAZY_STORED, array->rank - dropped, 1, 0);
    if (!part) return NULL;
    part->kind = array->kind;
    part->tag = array->tag;
    part->volume = volume * (end - first);
    memcpy(lazy_shape(part), lazy_shape(array) + dropped, part->rank * sizeof *part->words);
    if (ends) lazy_shape(part)[0] = end - first;
    lazy_attributes(part)[0] = first * volume * base_kinds[array->kind].bytes;
    part->as.stored.borrowed = shared;
    atomic_fetch_add(&shared->references, 1);
    lazy->figures.stored_bytes += lazy_stored_bytes(part);
    return part;
}

bool wg_array_parts(wg_array *array, const int64_t *ends, int64_t first, int64_t count, wg_array **parts)
{
    wg_lazy *lazy = array ? array->lazy : NULL;
    if (!lazy || !lazy_check(lazy, array)) return false;
    if (!array->rank || count < 0 || (count && !parts)) return lazy_fail(lazy, WG_ARGUMENT, "parts are those of an array's first axis");
    wg_tensor *tensor = wg_array_tensor(array);
    lazy_borrowed *shared = tensor ? share(lazy, tensor) : NULL;
    int64_t made = 0;
    while (shared && made < count && (parts[made] = part_of(lazy, array, shared, ends ? ends + 2 * made : NULL, first + made)) != NULL) made++;
    bool good = shared && made == count;
    while (!good && made > 0) wg_array_release(parts[--made]);
    if (shared) lazy_borrowed_release(shared);
    return good;
}

static void unmap(void *user)
{
    lazy_borrowed *borrowed = user;
    munmap(borrowed->mapping, borrowed->mapping_bytes);
}

/* The pages of a file from `offset` on; the mapping begins at a page. */
static bool map_file(const char *path, uint64_t offset, size_t bytes, lazy_borrowed *how, void **data, wg_error *error)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat facts;
    if (file < 0 || fstat(file, &facts)) {
        if (file >= 0) close(file);
        return base_fail(error, WG_FILE, "%s cannot be opened", path);
    }
    uint64_t size = (uint64_t)facts.st_size, page = (uint64_t)sysconf(_SC_PAGESIZE), first = offset / page * page;
    bool good = offset <= size && bytes <= size - offset;
    if (!good)
        base_fail(error, WG_FILE, "%s has %llu bytes: %zu are wanted from byte %llu on", path, (unsigned long long)size, bytes,
                  (unsigned long long)offset);
    how->mapping_bytes = (size_t)(offset - first) + bytes;
    if (good) how->mapping = mmap(NULL, how->mapping_bytes, PROT_READ, MAP_PRIVATE, file, (off_t)first);
    if (good && how->mapping == MAP_FAILED) good = base_fail(error, WG_FILE, "%s cannot be mapped", path);
    close(file);
    if (good) *data = (char *)how->mapping + (offset - first);
    return good;
}

wg_array *wg_array_map(wg_lazy *lazy, const char *path, uint64_t offset, wg_kind kind, uint32_t rank, const int64_t *shape)
{
    if (!lazy) return NULL;
    wg_error error = {.code = WG_OK};
    int64_t volume;
    size_t bytes;
    lazy_borrowed how = {.release = NULL};
    wg_view view = {.kind = kind, .rank = rank, .shape = shape};
    bool good = path || base_fail(&error, WG_ARGUMENT, "mapping a file needs its path");
    good = good && base_tensor_size(kind, rank, shape, &volume, &bytes, &error);
    if (good && offset % base_kinds[kind].bytes)
        good = base_fail(&error, WG_ARGUMENT, "the offset %llu is not on a boundary of %s", (unsigned long long)offset, base_kinds[kind].name);
    if (good && bytes) good = map_file(path, offset, bytes, &how, &view.data, &error);
    wg_array *array = good ? borrow(lazy, &view, how, &error) : NULL;
    if (array && how.mapping) {
        array->as.stored.borrowed->release = unmap;
        array->as.stored.borrowed->user = array->as.stored.borrowed;
    } else if (how.mapping && good) {
        munmap(how.mapping, how.mapping_bytes);
    }
    if (!array) return lazy_fail_with(lazy, &error, NULL), NULL;
    return lazy_give(lazy, array);
}

bool lazy_check_kind(wg_lazy *lazy, wg_kind kind)
{
    if ((unsigned)kind < WG_KIND_COUNT && !base_kind_is_block(kind)) return true; /* before room is made for an error */
    if ((unsigned)kind >= WG_KIND_COUNT) return lazy_fail(lazy, WG_KIND, "%d is not a kind", (int)kind);
    wg_error error = {.code = WG_OK};
    return no_blocks(kind, &error), lazy_fail_with(lazy, &error, NULL);
}

wg_array *wg_array_number(wg_lazy *lazy, wg_kind kind, double number)
{
    if (!lazy || !lazy_check_kind(lazy, kind)) return NULL;
    if (base_kinds[kind].class != BASE_CLASS_COMPLEX) {
        uint64_t item[2] = {0, 0};
        base_number_store(kind, item, 0, base_number_from_double(kind, number));
        return lazy_give(lazy, lazy_literal(lazy, kind, item));
    }
    wg_error error = {.code = WG_OK};
    wg_tensor *one = wg_tensor_fill(lazy->context, kind, 0, NULL, number, &error);
    if (!one) return lazy_fail_with(lazy, &error, NULL), NULL;
    wg_array *array = lazy_literal(lazy, kind, one->data);
    wg_tensor_release(one);
    return lazy_give(lazy, array);
}

wg_array *wg_array_integer(wg_lazy *lazy, wg_kind kind, int64_t number)
{
    if (!lazy || !lazy_check_kind(lazy, kind)) return NULL;
    if (base_kinds[kind].class == BASE_CLASS_COMPLEX) return wg_array_number(lazy, kind, (double)number);
    uint64_t item[2] = {0, 0};
    base_number_store(kind, item, 0, base_number_convert((base_number){.i = number}, WG_KIND_I64, kind, false));
    return lazy_give(lazy, lazy_literal(lazy, kind, item));
}

/* ---- facts ---- */

static bool alive(const wg_array *array)
{
    return array && array->state != LAZY_FREE;
}

wg_lazy *wg_array_lazy(const wg_array *array) { return array ? array->lazy : NULL; }
wg_kind wg_array_kind(const wg_array *array) { return alive(array) ? (wg_kind)array->kind : WG_KIND_COUNT; }
uint32_t wg_array_rank(const wg_array *array) { return alive(array) ? array->rank : 0; }
const int64_t *wg_array_shape(const wg_array *array) { return alive(array) ? lazy_shape(array) : NULL; }
int64_t wg_array_volume(const wg_array *array) { return alive(array) ? array->volume : 0; }
uint32_t wg_array_tag(const wg_array *array) { return alive(array) ? array->tag : 0; }

bool wg_array_is_pending(const wg_array *array)
{
    while (alive(array) && array->state == LAZY_CARRIED) array = array->as.carried.inner;
    return alive(array) && (array->state == LAZY_PENDING || array->state == LAZY_DEFERRED) && !array->submitted;
}

bool wg_array_is_carried(const wg_array *array)
{
    return alive(array) && array->state == LAZY_CARRIED && array->as.carried.level->open;
}

wg_array *wg_array_whole(wg_array *array)
{
    if (!array || !lazy_check(array->lazy, array)) return NULL;
    while (wg_array_is_carried(array) && array->as.carried.level->kind != LAZY_RECORDING) array = array->as.carried.inner;
    return lazy_give(array->lazy, lazy_keep(array));
}

/* The same content in a node of its own. */
static wg_array *stored_again(const wg_array *array)
{
    wg_lazy *lazy = array->lazy;
    wg_array *again = lazy_node_new(lazy, (lazy_state)array->state, array->rank, array->attribute_count, 0);
    if (!again) return NULL;
    again->kind = array->kind;
    again->volume = array->volume;
    memcpy(again->words, array->words, (array->rank + array->attribute_count) * sizeof *array->words);
    again->as = array->as;
    if (array->state == LAZY_LITERAL) return again;
    wg_tensor_retain(again->as.stored.tensor);
    wg_tensor_retain(again->as.stored.wide);
    again->bits = array->bits;
    if (again->as.stored.borrowed) atomic_fetch_add(&again->as.stored.borrowed->references, 1);
    lazy->figures.stored_bytes += lazy_stored_bytes(again);
    return again;
}

/* What a level carries is tagged too: it is what the value is outside of the level. */
static wg_array *carried_again(wg_array *array, uint32_t tag)
{
    wg_array *inner = lazy_tagged(array->as.carried.inner, tag);
    wg_array *again = inner ? lazy_level_carry(array->as.carried.level, inner, array->position) : NULL;
    lazy_release(inner);
    return again;
}

wg_array *lazy_tagged(wg_array *array, uint32_t tag)
{
    if (array->state == LAZY_DEFERRED && !(array = lazy_expand(array->lazy, array))) return NULL;
    if (array->tag == tag) return lazy_keep(array);
    if (array->state == LAZY_PENDING)
        return lazy_call(array->lazy, (wg_op)array->op, lazy_operands(array), array->operand_count, lazy_attributes(array), array->attribute_count, tag);
    wg_array *again = array->state == LAZY_CARRIED ? carried_again(array, tag) : stored_again(array);
    if (again) again->tag = tag;
    return again;
}

wg_array *wg_array_tagged(wg_array *array, uint32_t tag)
{
    if (!array || !lazy_check(array->lazy, array)) return NULL;
    return lazy_give(array->lazy, lazy_tagged(array, tag));
}
