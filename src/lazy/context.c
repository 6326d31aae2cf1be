/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A context of arrays: memory of nodes, references, errors, scopes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lazy/lazy.h"

/* Each slab has twice the room of the one before, up to a huge page: pages come one by one with less. */
#define SLAB_BYTES ((size_t)64 << 10)
#define MOST_SLAB (((size_t)2 << 20) - sizeof(lazy_slab))

/* Nodes stand one behind another from `items` to `used`; each knows its size class. */
typedef struct lazy_slab {
    struct lazy_slab *older;
    size_t bytes, used;
    _Alignas(16) char items[];
} lazy_slab;

/* Whose last call of this thread failed: wg_array_at gives its error a place. */
static _Thread_local wg_lazy *last_failed;

/* ---- sizes of nodes ---- */

#define LINEAR_CLASSES 24u
#define STEP_BYTES 32u

static uint32_t class_of(size_t words, size_t *bytes)
{
    size_t tail = words * sizeof(int64_t), class = (tail + STEP_BYTES - 1) / STEP_BYTES;
    if (class < LINEAR_CLASSES) return *bytes = sizeof(wg_array) + class * STEP_BYTES, (uint32_t)class;
    uint32_t power = 0;
    size_t room = LINEAR_CLASSES * STEP_BYTES;
    for (; room < tail; room *= 2) power++;
    *bytes = sizeof(wg_array) + room;
    return LINEAR_CLASSES + power;
}

static size_t class_bytes(uint32_t class)
{
    if (class < LINEAR_CLASSES) return sizeof(wg_array) + (size_t)class * STEP_BYTES;
    return sizeof(wg_array) + ((size_t)LINEAR_CLASSES * STEP_BYTES << (class - LINEAR_CLASSES));
}

static wg_array *carve(wg_lazy *lazy, size_t bytes)
{
    lazy_slab *slab = lazy->slabs;
    if (!slab || slab->bytes - slab->used < bytes) {
        size_t room = slab ? 2 * slab->bytes : SLAB_BYTES;
        if (room > MOST_SLAB) room = MOST_SLAB;
        if (room < bytes) room = bytes;
        slab = base_allocate(lazy->allocator, sizeof *slab + room);
        if (!slab) return NULL;
        *slab = (lazy_slab){.older = lazy->slabs, .bytes = room};
        lazy->slabs = slab;
    }
    wg_array *array = (wg_array *)(slab->items + slab->used);
    slab->used += bytes;
    return array;
}

wg_array *lazy_node_new(wg_lazy *lazy, lazy_state state, uint32_t rank, uint32_t attribute_count, uint32_t operand_count)
{
    size_t bytes;
    uint32_t class = class_of((size_t)rank + attribute_count + operand_count, &bytes);
    wg_array *array = class < LAZY_SIZE_CLASSES ? lazy->free[class] : NULL;
    if (array) lazy->free[class] = array->as.pending.next;
    else if (class >= LAZY_SIZE_CLASSES || !(array = carve(lazy, bytes))) return lazy_fail_memory(lazy), NULL;
    /* One by one: clearing the whole first costs more than all of this. The slab's node keeps nothing that is read but what stands here. */
    array->lazy = lazy;
    array->handles = 1;
    array->scoped = array->uses = 0;
    array->op = 0;
    array->state = (uint8_t)state;
    array->kind = 0;
    array->rank = (uint8_t)rank;
    array->bits = 0;
    array->heavy = array->seen = array->met = array->submitted = false;
    array->operand_count = operand_count;
    array->attribute_count = attribute_count;
    array->tag = 0;
    array->size_class = class;
    array->epoch = array->chosen = 0;
    array->index = array->position = array->capturer = array->captured = 0;
    array->line = 0;
    array->file = NULL;
    array->volume = 0;
    array->as.pending.hash = 0;
    array->as.pending.next = array->as.pending.previous = NULL;
    lazy->figures.arrays++;
    return array;
}

static void node_free(wg_array *array)
{
    wg_lazy *lazy = array->lazy;
    array->state = LAZY_FREE;
    array->handles = array->uses = 0;
    array->as.pending.next = lazy->free[array->size_class];
    lazy->free[array->size_class] = array;
    lazy->figures.arrays--;
}

/* ---- references ---- */

/* A stored array that pending nodes alone keep counts towards the memory limit. */
static void held(wg_array *array, bool now)
{
    if (array->state != LAZY_STORED) return;
    wg_lazy *lazy = array->lazy;
    uint64_t bytes = lazy_stored_bytes(array);
    if (!now) {
        lazy->held_bytes -= bytes;
        return;
    }
    lazy->held_bytes += bytes;
    if (bytes > lazy->held_largest) lazy->held_largest = bytes;
}

static inline void drop_tensor(wg_lazy *lazy, wg_tensor *tensor)
{
    if (tensor && tensor->bytes >= LAZY_LARGE) lazy_tensor_give(lazy, tensor);
    else wg_tensor_release(tensor);
}

void lazy_borrowed_release(lazy_borrowed *borrowed)
{
    if (atomic_fetch_sub(&borrowed->references, 1) != 1) return;
    if (borrowed->release) borrowed->release(borrowed->user);
    base_free(borrowed->allocator, borrowed, sizeof *borrowed);
}

static void drop_stored(wg_array *array)
{
    array->lazy->figures.stored_bytes -= lazy_stored_bytes(array);
    drop_tensor(array->lazy, array->as.stored.tensor);
    if (array->as.stored.wide) drop_tensor(array->lazy, array->as.stored.wide);
    if (array->as.stored.borrowed) lazy_borrowed_release(array->as.stored.borrowed);
}

static void drop_content(wg_array *array)
{
    if (array->state == LAZY_STORED) {
        drop_stored(array);
    } else if (array->state == LAZY_CARRIED) {
        lazy_level *level = array->as.carried.level;
        lazy_unuse(array->as.carried.inner);
        lazy_level_release(level);
    } else if (array->state == LAZY_DEFERRED) {
        lazy_deferred *deferred = array->as.later.deferred;
        if (deferred->expanded) lazy_unuse(deferred->expanded);
        deferred->drop(deferred);
    }
}

/* A chain of pending nodes may be as long as a program: it is taken down without recursion. */
static void retire(wg_array *array)
{
    if (array->state != LAZY_PENDING) {
        drop_content(array);
        node_free(array);
        return;
    }
    lazy_node_leave(array);
    array->as.pending.next = NULL;
    for (wg_array *dead = array; dead;) {
        wg_array *node = dead;
        dead = node->as.pending.next;
        wg_array **operands = lazy_operands(node);
        for (uint32_t i = 0; i < node->operand_count; i++) {
            wg_array *operand = operands[i];
            if (--operand->uses || operand->handles) continue;
            if (operand->state == LAZY_PENDING) {
                lazy_node_leave(operand);
                operand->as.pending.next = dead;
                dead = operand;
            } else {
                held(operand, false);
                drop_content(operand);
                node_free(operand);
            }
        }
        node_free(node);
    }
}

wg_array *lazy_keep(wg_array *array)
{
    if (!array->handles++ && array->uses) held(array, false);
    return array;
}

void lazy_release(wg_array *array)
{
    if (!array || --array->handles) return;
    if (array->uses) held(array, true);
    else retire(array);
}

void lazy_unused(wg_array *array)
{
    held(array, false);
    retire(array);
}

wg_array *wg_array_keep(wg_array *array)
{
    if (array && array->state == LAZY_FREE) {
        lazy_fail(array->lazy, WG_ARGUMENT, "an array that was released is kept");
        return NULL;
    }
    return array ? lazy_keep(array) : NULL;
}

void wg_array_release(wg_array *array)
{
    if (!array) return;
    if (array->state == LAZY_FREE || array->handles <= array->scoped) {
        lazy_fail(array->lazy, WG_ARGUMENT, "an array is released that its caller does not own");
        return;
    }
    lazy_release(array);
}

/* ---- errors ---- */

bool lazy_check(wg_lazy *lazy, const wg_array *array)
{
    if (!array) {
        if (lazy && !lazy->error.code) lazy_fail(lazy, WG_ARGUMENT, "an operand is NULL");
        last_failed = lazy;
        return false;
    }
    if (array->state == LAZY_FREE)
        return lazy_fail(lazy ? lazy : array->lazy, WG_ARGUMENT, array->lazy ? "an array that was released is used"
                                                                           : "wg_array_absent() stands for an optional operand, and this one is not");
    if (array->lazy != lazy) return lazy_fail(lazy, WG_ARGUMENT, "an array of another context is used; hand over its tensor (wg_array_tensor)");
    return true;
}

bool lazy_fail(wg_lazy *lazy, wg_code code, const char *format, ...)
{
    if (!lazy) return false;
    last_failed = lazy;
    if (lazy->error.code) return false;
    char message[sizeof lazy->error.message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    wg_error_clear(&lazy->error);
    return base_fail(&lazy->error, code, "%s", message);
}

bool lazy_fail_memory(wg_lazy *lazy)
{
    last_failed = lazy;
    if (!lazy->error.code) wg_error_clear(&lazy->error);
    return base_fail_memory(&lazy->error);
}

bool lazy_fail_with(wg_lazy *lazy, const wg_error *error, const wg_array *at)
{
    last_failed = lazy;
    if (lazy->error.code) return false;
    lazy->error = *error;
    if (!lazy->error.file[0] && at && at->file) base_error_place(&lazy->error, at->file, at->line, 0);
    return false;
}

const wg_error *wg_lazy_error(const wg_lazy *lazy)
{
    static const wg_error none = {.code = WG_ARGUMENT, .node = WG_NONE, .item = -1, .message = "a context of arrays is needed"};
    return lazy ? &lazy->error : &none;
}

void wg_lazy_error_clear(wg_lazy *lazy)
{
    if (lazy) wg_error_clear(&lazy->error);
}

bool wg_lazy_fail(wg_lazy *lazy, wg_code code, const char *message)
{
    return lazy_fail(lazy, code, "%s", message ? message : "");
}

/* What a call made on the way to its result has no place either; what others made has theirs, where they note places. */
#define PLACED_DEPTH 12

static void place(wg_array *array, const char *file, int line, int depth)
{
    if (array->file || array->state == LAZY_FREE) return;
    array->file = file;
    array->line = line;
    if (depth == PLACED_DEPTH) return;
    if (array->state == LAZY_CARRIED) place(array->as.carried.inner, file, line, depth + 1);
    for (uint32_t i = 0; array->state == LAZY_PENDING && i < array->operand_count; i++)
        if (lazy_operands(array)[i]->state == LAZY_PENDING) place(lazy_operands(array)[i], file, line, depth + 1);
}

wg_array *wg_array_at(wg_array *array, const char *file, int line)
{
    if (array) {
        place(array, file, line, 0);
    } else if (last_failed && last_failed->error.code && !last_failed->error.file[0]) {
        base_error_place(&last_failed->error, file, line, 0);
    }
    return array;
}

/* The place itself where the error has none, else a note: the innermost one of its kind. */
static bool note_place(bool good, const char *how, const char *file, int line)
{
    if (good || !last_failed || !last_failed->error.code) return good;
    wg_error *error = &last_failed->error;
    if (!error->file[0]) base_error_place(error, file, line, 0);
    else if (!strstr(error->note, how) && (error->line != line || strcmp(error->file, file))) base_error_note(error, "%s%s:%d", how, file, line);
    return good;
}

bool wg_lazy_read_at(bool good, const char *file, int line)
{
    return note_place(good, "read at ", file, line);
}

bool wg_lazy_call_at(bool good, const char *file, int line)
{
    return note_place(good, "called at ", file, line);
}

/* ---- scopes ---- */

wg_array *lazy_give(wg_lazy *lazy, wg_array *array)
{
    if (!array || (!lazy->scope_count && !lazy->scopes_missed)) return array;
    /* In a scope that could not be opened nobody would own it. */
    if (lazy->scopes_missed || !BASE_RESERVE(lazy->allocator, lazy->scoped, lazy->scoped_capacity, lazy->scoped_count + 1)) {
        lazy_release(array);
        lazy_fail_memory(lazy);
        return NULL;
    }
    lazy->scoped[lazy->scoped_count++] = array;
    array->scoped++;
    return array;
}

bool lazy_give_all(wg_lazy *lazy, wg_array **arrays, uint32_t count)
{
    bool good = true;
    for (uint32_t i = 0; i < count; i++)
        if (arrays[i] && !(arrays[i] = lazy_give(lazy, arrays[i]))) good = false;
    for (uint32_t i = 0; i < count && !good; i++) arrays[i] = NULL; /* the scope still owns those that it took */
    return good;
}

void wg_scope_open(wg_lazy *lazy)
{
    if (!lazy) return;
    if (lazy->scopes_missed || !BASE_RESERVE(lazy->allocator, lazy->scopes, lazy->scope_capacity, lazy->scope_count + 1)) {
        lazy->scopes_missed++; /* its close must not close an outer one */
        lazy_fail_memory(lazy);
        return;
    }
    lazy->scopes[lazy->scope_count++] = lazy->scoped_count;
}

void wg_scope_close(wg_lazy *lazy)
{
    if (!lazy) return;
    if (lazy->scopes_missed) {
        lazy->scopes_missed--;
        return;
    }
    if (lazy->scope_count <= lazy->scope_floor) {
        lazy_fail(lazy, WG_ARGUMENT, lazy->scope_floor ? "a function or an effect closes a scope that it did not open" : "a scope is closed that is not open");
        return;
    }
    uint32_t first = lazy->scopes[--lazy->scope_count];
    while (lazy->scoped_count > first) {
        wg_array *array = lazy->scoped[--lazy->scoped_count];
        array->scoped--;
        lazy_release(array);
    }
}

/* ---- dependents ---- */

void lazy_depend(wg_lazy *lazy, lazy_dependent *dependent, void (*orphan)(lazy_dependent *dependent))
{
    *dependent = (lazy_dependent){.next = lazy->dependents, .link = &lazy->dependents, .allocator = *lazy->allocator, .orphan = orphan};
    if (dependent->next) dependent->next->link = &dependent->next;
    lazy->dependents = dependent;
}

void lazy_depend_end(lazy_dependent *dependent)
{
    if (!dependent->link) return;
    *dependent->link = dependent->next;
    if (dependent->next) dependent->next->link = dependent->link;
    dependent->next = NULL;
    dependent->link = NULL;
}

/* One may let go of the last reference to another, which then leaves the list by itself. */
static void orphan_all(wg_lazy *lazy)
{
    while (lazy->dependents) {
        lazy_dependent *dependent = lazy->dependents;
        lazy_depend_end(dependent);
        dependent->orphan(dependent);
    }
}

/* ---- making and freeing ---- */

static bool environment_wants(const wg_lazy_options *options)
{
    const char *word = options->context ? NULL : getenv("WENGERT_EXPLAIN");
    return word && *word && strcmp(word, "0");
}

wg_lazy *wg_lazy_new(const wg_lazy_options *options, wg_error *error)
{
    if (options && options->size != sizeof *options) return base_fail(error, WG_ARGUMENT, "wg_lazy_options.size is not this version's"), NULL;
    wg_lazy_options settings = options ? *options : (wg_lazy_options){.size = sizeof settings};
    if (settings.kind == WG_KIND_BOOL) settings.kind = WG_KIND_F32;
    if ((unsigned)settings.kind >= WG_KIND_COUNT || !base_kind_is_float(settings.kind))
        return base_fail(error, WG_KIND, "the kind of literals is a float kind"), NULL;
    if (!settings.cached_plans) settings.cached_plans = 256;
    wg_context *context = settings.context ? settings.context : wg_context_default();
    wg_lazy *lazy = base_allocate_zeroed(&context->allocator, sizeof *lazy);
    if (!lazy) return base_fail_memory(error), NULL;
    lazy->tells_at_end = !settings.explain && environment_wants(&settings);
    lazy->explain = settings.explain || lazy->tells_at_end;
    lazy->context = context;
    lazy->allocator = &context->allocator;
    lazy->options = settings;
    for (int op = 0; op < WG_OP_COUNT; op++) lazy->heavy[op] = wg_op_class_of((wg_op)op) == WG_OP_CLASS_OTHER;
    lazy->event_texts = base_arena_new(lazy->allocator);
    wg_error_clear(&lazy->error);
    return lazy;
}

static void drop_all(wg_lazy *lazy, lazy_state state)
{
    for (lazy_slab *slab = lazy->slabs; slab; slab = slab->older)
        for (size_t at = 0; at < slab->used;) {
            wg_array *array = (wg_array *)(slab->items + at);
            at += class_bytes(array->size_class);
            if (array->state != state) continue;
            array->uses++; /* nobody else retires it */
            drop_content(array);
            array->state = LAZY_FREE;
        }
}

/* Whatever still lives is dropped, whoever holds it: what holds others first. */
static void free_nodes(wg_lazy *lazy)
{
    drop_all(lazy, LAZY_DEFERRED);
    drop_all(lazy, LAZY_CARRIED);
    drop_all(lazy, LAZY_STORED);
    while (lazy->slabs) {
        lazy_slab *slab = lazy->slabs;
        lazy->slabs = slab->older;
        base_free(lazy->allocator, slab, sizeof *slab + slab->bytes);
    }
}

static bool all_free(const lazy_slab *slab)
{
    bool free = true;
    for (size_t at = 0; free && at < slab->used;) {
        const wg_array *array = (const wg_array *)(slab->items + at);
        at += class_bytes(array->size_class);
        free = array->state == LAZY_FREE;
    }
    return free;
}

/* The slabs that hold anything stay; their free nodes are listed anew, those of the newest one first. */
void wg_lazy_trim(wg_lazy *lazy)
{
    if (!lazy) return;
    lazy_spares_free(lazy);
    memset(lazy->free, 0, sizeof lazy->free);
    for (lazy_slab **place = &lazy->slabs; *place;) {
        lazy_slab *slab = *place;
        bool gone = all_free(slab);
        for (size_t at = 0; !gone && at < slab->used;) {
            wg_array *array = (wg_array *)(slab->items + at);
            at += class_bytes(array->size_class);
            if (array->state != LAZY_FREE) continue;
            array->as.pending.next = lazy->free[array->size_class];
            lazy->free[array->size_class] = array;
        }
        if (!gone) {
            place = &slab->older;
            continue;
        }
        *place = slab->older;
        base_free(lazy->allocator, slab, sizeof *slab + slab->bytes);
    }
}

#define FREE_LIST(lazy, items, capacity) base_free((lazy)->allocator, (lazy)->items, (lazy)->capacity * sizeof *(lazy)->items)

void wg_lazy_free(wg_lazy **handle)
{
    if (!handle || !*handle) return;
    wg_lazy *lazy = *handle;
    if (lazy->inside) {
        lazy_fail(lazy, WG_ARGUMENT, "a context of arrays is freed by a function or an effect that it calls");
        return;
    }
    *handle = NULL;
    while (lazy->scope_count) wg_scope_close(lazy);
    if (lazy->tells_at_end) lazy_explain_end(lazy);
    lazy_runner_free(lazy);
    orphan_all(lazy);
    lazy_programs_free(lazy);
    free_nodes(lazy);
    lazy_spares_free(lazy);
    wg_tape_free(&lazy->spare);
    FREE_LIST(lazy, table, table_capacity);
    FREE_LIST(lazy, scoped, scoped_capacity);
    FREE_LIST(lazy, scopes, scope_capacity);
    FREE_LIST(lazy, order, order_capacity);
    FREE_LIST(lazy, leaves, leaf_capacity);
    FREE_LIST(lazy, kept, kept_capacity);
    FREE_LIST(lazy, stored, stored_capacity);
    FREE_LIST(lazy, key, key_capacity);
    FREE_LIST(lazy, numbers, number_capacity);
    base_free(lazy->allocator, lazy->stack, lazy->stack_capacity * sizeof(lazy_visit));
    base_free_aligned(lazy->allocator, lazy->arena, lazy->arena_bytes);
    lazy_events_free(lazy);
    if (last_failed == lazy) last_failed = NULL;
    base_free(lazy->allocator, lazy, sizeof *lazy);
}

wg_context *wg_lazy_context(const wg_lazy *lazy)
{
    return lazy ? lazy->context : NULL;
}

wg_kind wg_lazy_kind(const wg_lazy *lazy)
{
    return lazy ? lazy->options.kind : WG_KIND_COUNT;
}

void wg_lazy_stop(wg_lazy *lazy)
{
    if (lazy) atomic_store(&lazy->stopped, true);
}

void wg_lazy_figures_of(const wg_lazy *lazy, wg_lazy_figures *figures)
{
    if (lazy) lazy_join((wg_lazy *)lazy); /* what was asked for is counted */
    if (figures) *figures = lazy ? lazy->figures : (wg_lazy_figures){0};
}
