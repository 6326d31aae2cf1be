/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Pending nodes: the one way they come to be, the table in which equal ones are found, and how they end. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "lazy/lazy.h"

/* A slot that was used and whose node left. */
static wg_array grave;

/* ---- the table of pending nodes ---- */

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 32);
}

static uint64_t hash_call(wg_op op, wg_array *const *operands, uint32_t operand_count, const int64_t *attributes, uint32_t attribute_count,
                          uint32_t tag)
{
    uint64_t hash = mix((uint64_t)op << 32 | tag, operand_count);
    for (uint32_t i = 0; i < operand_count; i++) hash = mix(hash, (uint64_t)(uintptr_t)operands[i]);
    for (uint32_t i = 0; i < attribute_count; i++) hash = mix(hash, (uint64_t)attributes[i]);
    return hash;
}

static bool is_call(const wg_array *node, wg_op op, wg_array *const *operands, uint32_t operand_count, const int64_t *attributes,
                    uint32_t attribute_count, uint32_t tag)
{
    if (node->op != op || node->tag != tag || node->operand_count != operand_count || node->attribute_count != attribute_count) return false;
    wg_array **own = lazy_operands(node);
    for (uint32_t i = 0; i < operand_count; i++)
        if (own[i] != operands[i]) return false;
    const int64_t *numbers = lazy_attributes(node);
    for (uint32_t i = 0; i < attribute_count; i++)
        if (numbers[i] != attributes[i]) return false;
    return true;
}

static bool grow_table(wg_lazy *lazy)
{
    if (4 * (lazy->table_count + 1) <= 3 * lazy->table_capacity) return true;
    uint32_t capacity = 256;
    while (capacity < 4 * (lazy->table_live + 1)) capacity *= 2;
    wg_array **table = base_allocate_zeroed(lazy->allocator, capacity * sizeof *table);
    if (!table) return lazy_fail_memory(lazy);
    for (uint32_t i = 0; i < lazy->table_capacity; i++) {
        wg_array *node = lazy->table[i];
        if (!node || node == &grave) continue;
        uint32_t at = (uint32_t)node->as.pending.hash & (capacity - 1);
        while (table[at]) at = (at + 1) & (capacity - 1);
        table[at] = node;
    }
    base_free(lazy->allocator, lazy->table, lazy->table_capacity * sizeof *table);
    lazy->table = table;
    lazy->table_capacity = capacity;
    lazy->table_count = lazy->table_live;
    return true;
}

static void table_add(wg_lazy *lazy, wg_array *node)
{
    uint32_t mask = lazy->table_capacity - 1, at = (uint32_t)node->as.pending.hash & mask;
    while (lazy->table[at] && lazy->table[at] != &grave) at = (at + 1) & mask;
    if (!lazy->table[at]) lazy->table_count++;
    lazy->table[at] = node;
    lazy->table_live++;
}

static void table_remove(wg_lazy *lazy, const wg_array *node)
{
    uint32_t mask = lazy->table_capacity - 1, at = (uint32_t)node->as.pending.hash & mask;
    while (lazy->table[at] != node) at = (at + 1) & mask;
    lazy->table_live--;
    if (lazy->table[(at + 1) & mask]) {
        lazy->table[at] = &grave;
    } else {
        lazy->table[at] = NULL;
        lazy->table_count--;
        /* graves before an empty slot are empty slots */
        for (at = (at - 1) & mask; lazy->table[at] == &grave; at = (at - 1) & mask) {
            lazy->table[at] = NULL;
            lazy->table_count--;
        }
    }
}

/* ---- pending nodes ---- */

static size_t node_bytes(const wg_array *array)
{
    return sizeof *array + ((size_t)array->rank + array->attribute_count + array->operand_count) * sizeof(int64_t);
}

void lazy_node_leave(wg_array *array)
{
    wg_lazy *lazy = array->lazy;
    table_remove(lazy, array);
    wg_array *next = array->as.pending.next, *previous = array->as.pending.previous;
    if (next) next->as.pending.previous = previous;
    if (previous) previous->as.pending.next = next;
    else lazy->pending = next;
    lazy->figures.pending--;
    lazy->figures.pending_bytes -= node_bytes(array);
}

void lazy_fulfil(wg_array *array, wg_tensor *tensor, uint32_t bits)
{
    lazy_deferred *deferred = array->state == LAZY_DEFERRED ? array->as.later.deferred : NULL;
    if (!deferred) lazy_node_leave(array);
    wg_array **operands = lazy_operands(array);
    uint32_t count = array->operand_count;
    array->state = LAZY_STORED;
    array->as.stored.tensor = tensor;
    array->as.stored.wide = NULL;
    array->as.stored.borrowed = NULL;
    array->bits = (uint8_t)bits;
    array->operand_count = 0;
    array->lazy->figures.stored_bytes += lazy_stored_bytes(array);
    lazy_use(array); /* not to be retired while its operands are */
    if (deferred) deferred->drop(deferred);
    for (uint32_t i = 0; i < count; i++) lazy_unuse(operands[i]);
    array->uses--;
    if (!array->handles && array->uses) array->lazy->held_bytes += lazy_stored_bytes(array);
}

static bool infer(wg_lazy *lazy, wg_op op, wg_array *const *operands, uint32_t count, const int64_t *attributes, uint32_t attribute_count,
                  wg_kind *kind, uint32_t *rank, int64_t *shape)
{
    wg_type few[LAZY_FEW], *types = LAZY_ITEMS(lazy, few, count);
    if (!types) return lazy_fail_memory(lazy);
    few[0].kind = WG_KIND_COUNT; /* a row without operands reads none */
    for (uint32_t i = 0; i < count; i++) types[i] = (wg_type){(wg_kind)operands[i]->kind, operands[i]->rank, lazy_shape(operands[i])};
    wg_error error;
    error.code = WG_OK;
    bool good = wg_op_infer(op, types, count, attributes, attribute_count, kind, rank, shape, &error);
    LAZY_ITEMS_END(lazy, few, types, count);
    if (good) return true;
    wg_error told; /* the rule fills what it knows */
    wg_error_clear(&told);
    base_fail(&told, error.code, "%s", error.message);
    snprintf(told.op, sizeof told.op, "%s", wg_op_text(op) ? wg_op_text(op) : "");
    for (uint32_t i = 0; i < count; i++)
        if (operands[i]->file) base_error_note(&told, "operand %u was made at %s:%d", i + 1, operands[i]->file, (int)operands[i]->line);
    return lazy_fail_with(lazy, &told, NULL);
}

/* Elementwise rows without attributes over operands of one kind and shape answer that shape, and a kind that depends on row and kind alone:
 * what the rule once answered is remembered. WG_KIND_COUNT: ask the rule. */
static inline wg_kind remembered_kind(const wg_lazy *lazy, wg_op op, wg_array *const *operands, uint32_t count, uint32_t attribute_count)
{
    if (attribute_count || !count || count > 3 || (unsigned)op >= WG_OP_COUNT) return WG_KIND_COUNT;
    const wg_array *first = operands[0];
    for (uint32_t i = 1; i < count; i++) {
        const wg_array *other = operands[i];
        if (other->kind != first->kind || other->rank != first->rank) return WG_KIND_COUNT;
        for (uint32_t axis = 0; axis < first->rank; axis++)
            if (lazy_shape(other)[axis] != lazy_shape(first)[axis]) return WG_KIND_COUNT;
    }
    uint8_t entry = lazy->kinds[op][count - 1][first->kind];
    return entry ? (wg_kind)(entry - 1) : WG_KIND_COUNT;
}

static void remember_kind(wg_lazy *lazy, wg_op op, wg_array *const *operands, uint32_t count, uint32_t attribute_count, wg_kind kind)
{
    if (attribute_count || !count || count > 3 || wg_op_class_of(op) != WG_OP_CLASS_ELEMENT) return;
    for (uint32_t i = 1; i < count; i++)
        if (operands[i]->kind != operands[0]->kind) return;
    lazy->kinds[op][count - 1][operands[0]->kind] = (uint8_t)(kind + 1);
}

/* What a call answers. shape [rank] is `inferred`, of WG_MAX_RANK, or somebody's. False and an error. */
static inline __attribute__((always_inline)) bool type_of_call(wg_lazy *lazy, wg_op op, wg_array *const *operands, uint32_t count,
                                                               const int64_t *attributes, uint32_t attribute_count, lazy_known *type,
                                                               int64_t *inferred)
{
    wg_kind remembered = remembered_kind(lazy, op, operands, count, attribute_count);
    if (remembered != WG_KIND_COUNT) {
        *type = (lazy_known){remembered, operands[0]->rank, lazy_shape(operands[0])};
        return true;
    }
    type->shape = inferred;
    if (!infer(lazy, op, operands, count, attributes, attribute_count, &type->kind, &type->rank, inferred)) return false;
    remember_kind(lazy, op, operands, count, attribute_count, type->kind);
    return true;
}

static wg_array *pending_node(wg_lazy *lazy, wg_op op, wg_array *const *operands, uint32_t operand_count, const int64_t *attributes,
                              uint32_t attribute_count, uint32_t tag, const lazy_known *type, uint64_t hash)
{
    int64_t volume = 1;
    if (!grow_table(lazy)) return NULL;
    wg_array *node = lazy_node_new(lazy, LAZY_PENDING, type->rank, attribute_count, operand_count);
    if (!node) return NULL;
    node->op = (uint16_t)op;
    node->kind = (uint8_t)type->kind;
    node->tag = tag;
    for (uint32_t axis = 0; axis < type->rank; axis++) volume *= lazy_shape(node)[axis] = type->shape[axis];
    node->volume = volume;
    if (attribute_count) memcpy(lazy_attributes(node), attributes, attribute_count * sizeof *attributes);
    node->heavy = lazy->heavy[op];
    wg_array **own = lazy_operands(node);
    for (uint32_t i = 0; i < operand_count; i++) {
        own[i] = operands[i];
        operands[i]->uses++;
        node->heavy = node->heavy || (operands[i]->state == LAZY_PENDING && operands[i]->heavy);
    }
    node->as.pending.hash = hash;
    node->as.pending.next = lazy->pending;
    node->as.pending.previous = NULL;
    if (lazy->pending) lazy->pending->as.pending.previous = node;
    lazy->pending = node;
    table_add(lazy, node);
    lazy->figures.pending++;
    lazy->figures.pending_bytes += node_bytes(node);
    lazy->figures.calls++;
    return node;
}

/* ---- the memory limit ---- */

#define PENDING_LIMIT ((uint64_t)1 << 20)
#define HELD_FACTOR 8u
#define HELD_LEAST ((uint64_t)1 << 16)

static void force(wg_lazy *lazy, bool nodes)
{
    LAZY_TELL(lazy, .what = "forced", .reason = nodes ? "pending nodes passed 1 MiB" : "pending nodes alone keep 8 times their largest array",
              .nodes = (uint32_t)lazy->figures.pending, .bytes = nodes ? lazy->figures.pending_bytes : lazy->held_bytes);
    lazy->figures.forced++;
    wg_error before = lazy->error; /* whoever reads what failed here is told then */
    wg_lazy_flush(lazy);
    lazy->error = before;
    lazy->pending_floor = lazy->figures.pending_bytes;
    lazy->held_largest = lazy->held_bytes; /* what is still held is what is needed */
}

static inline void mind_memory(wg_lazy *lazy)
{
    bool nodes = lazy->figures.pending_bytes > lazy->pending_floor + PENDING_LIMIT;
    bool leaves = lazy->held_bytes > HELD_LEAST && lazy->held_bytes > HELD_FACTOR * lazy->held_largest;
    if ((nodes || leaves) && !lazy->flushing) force(lazy, nodes);
}

/* ---- the call ---- */

lazy_level *lazy_newest_level(wg_array *const *operands, uint32_t count)
{
    lazy_level *newest = NULL;
    for (uint32_t i = 0; i < count; i++)
        if (operands[i]->state == LAZY_CARRIED && (!newest || operands[i]->as.carried.level->serial > newest->serial))
            newest = operands[i]->as.carried.level;
    return newest;
}

wg_array *lazy_resolve(wg_lazy *lazy, wg_array *array)
{
    while (array && array->state >= LAZY_CARRIED) {
        if (array->state == LAZY_DEFERRED) {
            array = lazy_expand(lazy, array);
            continue;
        }
        const lazy_level *level = array->as.carried.level;
        if (level->open) return array;
        if (level->kind == LAZY_BATCH) {
            lazy_fail(lazy, WG_ARGUMENT, "a value of a mapped function is used after the function has ended");
            return NULL;
        }
        array = array->as.carried.inner;
    }
    return array;
}

/* A deferred operand of a matrix product may know the product without being expanded. */
static wg_array *deferred_product(wg_lazy *lazy, wg_array *const *operands)
{
    for (int i = 0; i < 2; i++) {
        if (operands[i]->state != LAZY_DEFERRED || operands[1 - i]->state == LAZY_DEFERRED) continue;
        lazy_deferred *deferred = operands[i]->as.later.deferred;
        if (!deferred->expanded && deferred->product) return deferred->product(lazy, deferred, operands[1 - i], i == 1);
    }
    return NULL;
}

/* Operands that are more than a stored or pending array: deferred ones are expanded, the newest level answers. */
static wg_array *call_of_others(wg_lazy *lazy, wg_op op, wg_array *const *operands, uint32_t count, const int64_t *attributes,
                                uint32_t attribute_count, uint32_t tag)
{
    bool clean = !lazy->error.code;
    wg_array *result = op == WG_OP_MatMul && count == 2 ? deferred_product(lazy, operands) : NULL;
    if (result || (clean && lazy->error.code)) return result;
    wg_array *few[LAZY_FEW], **plain = LAZY_ITEMS(lazy, few, count);
    if (!plain) return lazy_fail_memory(lazy), NULL;
    bool good = true;
    for (uint32_t i = 0; i < count && good; i++) good = (plain[i] = lazy_resolve(lazy, operands[i])) != NULL;
    if (good) {
        lazy_level *level = lazy_newest_level(plain, count);
        result = level ? lazy_level_call(level, op, plain, count, attributes, attribute_count, tag)
                       : lazy_call(lazy, op, plain, count, attributes, attribute_count, tag);
    }
    LAZY_ITEMS_END(lazy, few, plain, count);
    return result;
}

/* An elementwise row of items [] that are there is computed at once, by the oracle: a node, a plan and a run of it would cost several times as
 * much. StopGradient is not: it holds an item back for who wants calls of it. Nor are calls that somebody is to see. */
static bool is_at_once(const wg_lazy *lazy, wg_op op, wg_array *const *operands, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (operands[i]->rank || operands[i]->state == LAZY_PENDING) return false;
    return count <= 3 && wg_op_class_of(op) == WG_OP_CLASS_ELEMENT && op != WG_OP_StopGradient && !lazy->holding && !lazy->explain;
}

static __attribute__((noinline)) wg_array *item_call(wg_lazy *lazy, wg_op op, wg_array *const *operands, uint32_t count,
                                                     const int64_t *attributes, uint32_t attribute_count, uint32_t tag)
{
    wg_view views[3];
    uint64_t item[2];
    int64_t inferred[WG_MAX_RANK];
    lazy_known type;
    wg_error error;
    if (!type_of_call(lazy, op, operands, count, attributes, attribute_count, &type, inferred)) return NULL;
    for (uint32_t i = 0; i < count; i++) views[i] = (wg_view){lazy_data(operands[i]), (wg_kind)operands[i]->kind, 0, NULL, NULL};
    error.code = WG_OK;
    if (!wg_op_run_item(op, views, count, attributes, attribute_count, type.kind, item, &error)) return lazy_fail_with(lazy, &error, NULL), NULL;
    wg_array *array = lazy_stored_item(lazy, type.kind, item);
    if (!array) return NULL;
    array->tag = tag;
    array->bits = base_kind_has_nan(type.kind);
    lazy->figures.calls++;
    return array;
}

wg_array *lazy_call_known(wg_lazy *lazy, wg_op op, wg_array *const *operands, uint32_t operand_count, const int64_t *attributes,
                          uint32_t attribute_count, uint32_t tag, const lazy_known *known)
{
    for (uint32_t i = 0; i < operand_count; i++)
        if (operands[i]->state >= LAZY_CARRIED) return call_of_others(lazy, op, operands, operand_count, attributes, attribute_count, tag);
    if (operand_count && !operands[0]->rank && is_at_once(lazy, op, operands, operand_count))
        return item_call(lazy, op, operands, operand_count, attributes, attribute_count, tag);
    uint64_t hash = hash_call(op, operands, operand_count, attributes, attribute_count, tag);
    if (lazy->table_capacity) {
        uint32_t mask = lazy->table_capacity - 1;
        for (uint32_t at = (uint32_t)hash & mask; lazy->table[at]; at = (at + 1) & mask) {
            wg_array *node = lazy->table[at];
            if (node == &grave || node->as.pending.hash != hash ||
                !is_call(node, op, operands, operand_count, attributes, attribute_count, tag))
                continue;
            lazy->figures.shared++;
            return lazy_keep(node);
        }
    }
    int64_t inferred[WG_MAX_RANK];
    lazy_known type;
    if (!known && !type_of_call(lazy, op, operands, operand_count, attributes, attribute_count, &type, inferred)) return NULL;
    wg_array *node = pending_node(lazy, op, operands, operand_count, attributes, attribute_count, tag, known ? known : &type, hash);
    if (node) mind_memory(lazy);
    return node;
}

wg_array *lazy_call(wg_lazy *lazy, wg_op op, wg_array *const *operands, uint32_t operand_count, const int64_t *attributes,
                    uint32_t attribute_count, uint32_t tag)
{
    return lazy_call_known(lazy, op, operands, operand_count, attributes, attribute_count, tag, NULL);
}

wg_array *(wg_array_record)(wg_lazy *lazy, wg_op op, wg_array *const *operands, uint32_t operand_count, const int64_t *attributes,
                            uint32_t attribute_count)
{
    if (!lazy) return NULL;
    if ((operand_count && !operands) || (attribute_count && !attributes))
        return lazy_fail(lazy, WG_ARGUMENT, "operands or attributes are counted, but NULL"), NULL;
    for (uint32_t i = 0; i < operand_count; i++) {
        bool ours = operands[i] && operands[i]->lazy == lazy && operands[i]->state != LAZY_FREE;
        if (!ours && !lazy_check(lazy, operands[i])) return NULL;
    }
    return lazy_give(lazy, lazy_call(lazy, op, operands, operand_count, attributes, attribute_count, 0));
}
