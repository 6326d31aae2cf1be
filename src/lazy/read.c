/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Reads: what roots need, in order; the key of it; running its program; the nodes become their results.
 *
 * The key says what a plan may depend on: rows, structure attributes by value, lengths by their class, kinds, tags, literals by value, and
 * how nodes read each other. A class is 0, 1, or which number it is: equal numbers share one. Numbers themselves are bound, not keyed. */
#include <string.h>

#include "lazy/lazy.h"

/* ---- the key ---- */

/* The class of a length: itself where it is 0 or 1, else 2 + which number it is. WG_NONE without memory. */
static uint32_t class_of(wg_lazy *lazy, int64_t number)
{
    if (number >= 0 && number <= 1) return (uint32_t)number;
    for (uint32_t i = 0; i < lazy->number_count; i++)
        if (lazy->numbers[i] == number) return 2 + i;
    if (!BASE_RESERVE(lazy->allocator, lazy->numbers, lazy->number_capacity, lazy->number_count + 1)) return lazy_fail_memory(lazy), WG_NONE;
    lazy->numbers[lazy->number_count] = number;
    return 2 + lazy->number_count++;
}

enum { KEY_STORED = 1, KEY_LITERAL, KEY_PENDING, KEY_COUNTED };

static bool put_source(wg_lazy *lazy, const wg_array *array)
{
    uint64_t *at = lazy->key + lazy->key_count;
    bool literal = array->state == LAZY_LITERAL;
    *at++ = (literal ? KEY_LITERAL : KEY_STORED) | (uint64_t)array->kind << 8 | (uint64_t)array->rank << 16 | (uint64_t)array->bits << 24 |
            (uint64_t)array->tag << 32;
    if (literal) {
        *at++ = array->as.literal.bits[0];
        *at++ = array->as.literal.bits[1];
    }
    for (uint32_t axis = 0; axis < array->rank; axis++) {
        uint32_t class = class_of(lazy, lazy_shape(array)[axis]);
        if (class == WG_NONE) return false;
        *at++ = class;
    }
    lazy->key_count = (uint32_t)(at - lazy->key);
    return true;
}

static bool put_attributes(wg_lazy *lazy, const wg_array *array)
{
    const int64_t *attributes = lazy_attributes(array);
    uint32_t lengths = wg_op_length_attributes((wg_op)array->op, attributes, array->attribute_count);
    for (uint32_t i = 0; i < array->attribute_count; i++) {
        uint64_t word = (uint64_t)attributes[i];
        if (lengths >> i & 1) {
            uint32_t class = class_of(lazy, attributes[i]);
            if (class == WG_NONE) return false;
            word = class;
        }
        lazy->key[lazy->key_count++] = word;
    }
    return true;
}

/* Row, tag and how many operands and attributes there are: a word where the counts are small, else two. */
static bool put_call(wg_lazy *lazy, const wg_array *array)
{
    uint64_t *at = lazy->key + lazy->key_count, head = (uint64_t)array->op << 4 | (uint64_t)array->tag << 32;
    uint32_t count = array->operand_count;
    wg_array **operands = lazy_operands(array);
    if (count < 4 && array->attribute_count < 16) {
        *at++ = head | KEY_PENDING | (uint64_t)count << 20 | (uint64_t)array->attribute_count << 24;
    } else {
        *at++ = head | KEY_COUNTED;
        *at++ = (uint64_t)count << 32 | array->attribute_count;
    }
    for (uint32_t i = 0; i + 1 < count; i += 2) *at++ = operands[i]->index | (uint64_t)operands[i + 1]->index << 32;
    if (count % 2) *at++ = operands[count - 1]->index;
    lazy->key_count = (uint32_t)(at - lazy->key);
    return !array->attribute_count || put_attributes(lazy, array);
}

/* Two words at a time, by the two halves of their product. */
static uint64_t hash_key(const uint64_t *key, uint32_t count)
{
    uint64_t hash = count + 0x9e3779b97f4a7c15u;
    for (uint32_t i = 0; i + 1 < count; i += 2) {
        __extension__ unsigned __int128 product = (unsigned __int128)(hash ^ key[i]) * (key[i + 1] ^ 0xbb67ae8584caa73bu);
        hash = (uint64_t)product ^ (uint64_t)(product >> 64);
    }
    if (count % 2) hash = (hash ^ key[count - 1]) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

/* ---- the walk, which writes the key as it goes ---- */

static __attribute__((noinline)) bool grow_lists(wg_lazy *lazy, size_t words)
{
    return (BASE_RESERVE(lazy->allocator, lazy->order, lazy->order_capacity, lazy->order_count + 1) &&
            BASE_RESERVE(lazy->allocator, lazy->leaves, lazy->leaf_capacity, lazy->order_count + 1) &&
            BASE_RESERVE(lazy->allocator, lazy->kept, lazy->kept_capacity, lazy->order_count + 1) &&
            BASE_RESERVE(lazy->allocator, lazy->key, lazy->key_capacity, lazy->key_count + (uint32_t)words)) ||
           lazy_fail_memory(lazy);
}

/* For one more node and its words. kept is the last of the lists to grow, and all are of one length at least: it has room where all
 * have. */
static inline bool make_room(wg_lazy *lazy, size_t words)
{
    return (lazy->order_count < lazy->kept_capacity && lazy->key_count + words <= lazy->key_capacity) || grow_lists(lazy, words);
}

static inline void append(wg_lazy *lazy, wg_array *array)
{
    array->epoch = lazy->epoch;
    array->index = lazy->order_count;
    lazy->order[lazy->order_count++] = array;
}

static bool append_source(wg_lazy *lazy, wg_array *array)
{
    if (!make_room(lazy, 3 + (size_t)array->rank)) return false;
    append(lazy, array);
    if (array->state == LAZY_STORED) lazy->leaves[lazy->leaf_count++] = array;
    return put_source(lazy, array);
}

/* A new call on what an earlier read computed and let go of: that is the edge between the two, and where a scope still has it, it is stored
 * now. So what is read in one scope, over and over, computes no node more than twice. */
static void keep_edge(wg_lazy *lazy, const wg_array *array)
{
    wg_array **operands = lazy_operands(array);
    for (uint32_t i = 0; i < array->operand_count; i++) {
        wg_array *operand = operands[i];
        if (operand->state != LAZY_PENDING || !operand->met || operand->seen || !operand->handles || operand->handles > operand->scoped) continue;
        operand->seen = true;
        lazy->kept[lazy->kept_count++] = operand->index;
    }
}

static inline bool append_call(wg_lazy *lazy, wg_array *array)
{
    if (!make_room(lazy, 2 + (size_t)array->operand_count + array->attribute_count)) return false;
    array->met = array->epoch != 0;
    append(lazy, array);
    if (array->handles > array->scoped || (array->seen && array->handles)) lazy->kept[lazy->kept_count++] = array->index;
    if (!array->met && lazy->scoped_count) keep_edge(lazy, array);
    return put_call(lazy, array);
}

static inline bool push(wg_lazy *lazy, uint32_t *depth, wg_array *array, uint32_t next)
{
    if (!BASE_RESERVE(lazy->allocator, lazy->stack, lazy->stack_capacity, *depth + 1)) return lazy_fail_memory(lazy);
    lazy->stack[(*depth)++] = (lazy_visit){array, next};
    return true;
}

/* The operand at or behind `*next` that is to be appended first; NULL: none. Sources on the way are appended. */
static inline bool find_deeper(wg_lazy *lazy, const wg_array *array, uint32_t *next, wg_array **deeper)
{
    wg_array **operands = lazy_operands(array);
    uint32_t count = array->operand_count, at = *next;
    uint64_t epoch = lazy->epoch;
    *deeper = NULL;
    while (at < count && !*deeper) {
        wg_array *operand = operands[at++];
        if (operand->epoch == epoch) continue;
        if (operand->state == LAZY_PENDING) *deeper = operand;
        else if (!append_source(lazy, operand)) return false;
    }
    *next = at;
    return true;
}

/* Appends what a pending root needs and is not there yet, operands first. Whoever waits for an operand is on the stack. */
static bool walk(wg_lazy *lazy, wg_array *root)
{
    uint32_t depth = 0, next = 0;
    if (root->epoch == lazy->epoch) return true;
    for (wg_array *array = root, *deeper;;) {
        if (!find_deeper(lazy, array, &next, &deeper)) return false;
        if (deeper) {
            if (!push(lazy, &depth, array, next)) return false;
            array = deeper;
            next = 0;
            continue;
        }
        if (!append_call(lazy, array)) return false;
        if (!depth) return true;
        array = lazy->stack[--depth].array;
        next = lazy->stack[depth].next;
    }
}

static void begin_walk(wg_lazy *lazy)
{
    lazy->order_count = lazy->leaf_count = lazy->kept_count = lazy->key_count = lazy->number_count = 0;
    lazy->epoch++;
}

static inline __attribute__((always_inline)) bool end_key(wg_lazy *lazy, const uint32_t *roots, uint32_t root_count, uint64_t *hash)
{
    if (!make_room(lazy, root_count)) return false;
    for (uint32_t i = 0; i < root_count; i++) {
        const wg_array *root = lazy->order[roots[i]];
        lazy->key[lazy->key_count++] = roots[i] | (root->kind == WG_KIND_I64 ? lazy_narrow_key(lazy, root) << 32 : 0);
    }
    *hash = hash_key(lazy->key, lazy->key_count);
    return true;
}

bool lazy_walk(wg_lazy *lazy, wg_array *const *roots, uint32_t count, uint64_t *hash)
{
    uint32_t places[2];
    bool good = count <= 2;
    begin_walk(lazy);
    for (uint32_t i = 0; i < count && good; i++) good = walk(lazy, roots[i]), places[i] = roots[i]->index;
    return good && end_key(lazy, places, count, hash);
}

/* ---- what is stored ---- */

/* Is it made of what an earlier read computed and nobody keeps any more? A loop that asks of each step's value before it makes the next one
 * would compute all of its steps at every read. */
static bool goes_on(const wg_array *array)
{
    wg_array **operands = lazy_operands(array);
    for (uint32_t i = 0; i < array->operand_count; i++) {
        const wg_array *operand = operands[i];
        if (operand->state == LAZY_PENDING && operand->met && operand->handles <= operand->scoped) return true;
    }
    return false;
}

/* A pending node on the way that somebody else keeps is stored too, where computing it again costs more than storing it, where this is the
 * second read to compute it, or where it goes on from an earlier read. What scopes alone have is stored at an edge (keep_edge). */
static bool is_stored(wg_array *array)
{
    if (array->heavy || array->seen || goes_on(array)) return true;
    array->seen = true;
    return false;
}

static void tell_stored(wg_lazy *lazy, const wg_array *array)
{
    const char *again = array->handles > array->scoped ? "kept by somebody, and computed for the second time"
                                                       : "computed before, and what is read now goes on from it";
    LAZY_TELL(lazy, .what = "stored", .detail = wg_op_text((wg_op)array->op),
              .reason = array->heavy && !array->seen ? "kept by somebody, and dearer to compute again than to store" : again,
              .file = array->file, .line = array->line, .read = lazy->figures.reads + 1,
              .bytes = (uint64_t)array->volume * base_kinds[array->kind].bytes);
}

/* Indexes of what is stored into lazy->stored: the roots that pend, then the others. False without memory. */
static bool choose_stored(wg_lazy *lazy, wg_array *const *arrays, uint32_t count)
{
    lazy->stored_count = 0;
    if (!BASE_RESERVE(lazy->allocator, lazy->stored, lazy->stored_capacity, count + lazy->kept_count)) return lazy_fail_memory(lazy);
    for (uint32_t i = 0; i < count; i++) {
        if (arrays[i]->state != LAZY_PENDING || arrays[i]->chosen == lazy->epoch) continue;
        arrays[i]->chosen = lazy->epoch;
        lazy->stored[lazy->stored_count++] = arrays[i]->index;
    }
    for (uint32_t i = 0; i < lazy->kept_count; i++) {
        wg_array *array = lazy->order[lazy->kept[i]];
        if (array->chosen == lazy->epoch || !is_stored(array)) continue;
        tell_stored(lazy, array);
        array->chosen = lazy->epoch;
        lazy->stored[lazy->stored_count++] = array->index;
    }
    return true;
}

/* ---- the run ---- */

/* Less work than this is done before a thread could be told of it: items of the nodes that are computed. */
#define SUBMITTED_ITEMS 65536

static bool is_large(const wg_lazy *lazy)
{
    int64_t items = 0;
    for (uint32_t i = 0; i < lazy->order_count && items < SUBMITTED_ITEMS; i++) items += lazy->order[i]->volume;
    return items >= SUBMITTED_ITEMS;
}

static bool submit_stored(wg_lazy *lazy, lazy_program *program)
{
    wg_tensor **results = base_allocate(lazy->allocator, lazy->stored_count * sizeof *results);
    if (!results) return lazy_fail_memory(lazy);
    bool begun = lazy_program_begin(lazy, program, lazy->stored, results);
    if (begun) lazy_submit(lazy); /* which has the results from here on */
    else base_free(lazy->allocator, results, lazy->stored_count * sizeof *results);
    return begun;
}

/* The nodes of lazy->stored are the roots of the program, in order. */
static bool run_program(wg_lazy *lazy, lazy_program *program, bool submit)
{
    const uint32_t *stored = lazy->stored, count = lazy->stored_count;
    if (submit) return submit_stored(lazy, program);
    wg_tensor *few[LAZY_FEW], **results = LAZY_ITEMS(lazy, few, count);
    if (!results) return lazy_fail_memory(lazy);
    bool good = lazy_program_begin(lazy, program, stored, results);
    if (good) {
        lazy_program_go(lazy);
        good = lazy_program_end(lazy, true);
    }
    if (good) {
        lazy->figures.reads++;
        for (uint32_t i = 0; count > 1 && i < count; i++) lazy_use(lazy->order[stored[i]]); /* none is retired before it has its result */
        for (uint32_t i = 0; i < count; i++) lazy_fulfil(lazy->order[stored[i]], results[i], lazy_program_bits(program, i));
        for (uint32_t i = 0; count > 1 && i < count; i++) lazy_unuse(lazy->order[stored[i]]);
    }
    LAZY_ITEMS_END(lazy, few, results, count);
    return good;
}

static bool run_stored(wg_lazy *lazy, bool submit)
{
    uint64_t hash;
    if (!end_key(lazy, lazy->stored, lazy->stored_count, &hash)) return false;
    lazy_program *program = lazy_program_of(lazy, lazy->stored, lazy->stored_count, hash);
    return program && run_program(lazy, program, submit && is_large(lazy));
}

/* arrays are stored or pending. */
static bool run_plain(wg_lazy *lazy, wg_array *const *arrays, uint32_t count, bool submit)
{
    begin_walk(lazy);
    for (uint32_t i = 0; i < count; i++)
        if (arrays[i]->state == LAZY_PENDING && !walk(lazy, arrays[i])) return false;
    return !lazy->order_count || (choose_stored(lazy, arrays, count) && run_stored(lazy, submit));
}

/* ---- the same walk again ---- */

static uint32_t *walked_leaves(const lazy_walked *walked)
{
    return (uint32_t *)(walked->words + walked->key_count + walked->number_count);
}

/* The key into lazy->key: which sources are one array, what is known of their items, and what is wanted. */
static bool put_walked_key(wg_lazy *lazy, const lazy_walked_key *key)
{
    begin_walk(lazy);
    if (!BASE_RESERVE(lazy->allocator, lazy->key, lazy->key_capacity, key->source_count + key->wanted_count)) return lazy_fail_memory(lazy);
    for (uint32_t i = 0; i < key->source_count; i++) {
        wg_array *source = key->sources[i];
        if (source->epoch != lazy->epoch) source->index = i;
        source->epoch = lazy->epoch;
        lazy->key[lazy->key_count++] = source->index | (uint64_t)source->bits << 32 | (uint64_t)source->state << 40;
    }
    for (uint32_t i = 0; i < key->wanted_count; i++) lazy->key[lazy->key_count++] = key->wanted[i] != NULL;
    return true;
}

static size_t walked_bytes(const lazy_walked *walked)
{
    return sizeof *walked + (walked->key_count + walked->number_count) * sizeof(uint64_t) + walked->leaf_count * sizeof(uint32_t);
}

void lazy_walked_free(wg_lazy *lazy, lazy_walked **at)
{
    lazy_walked *walked = *at;
    *at = walked->next;
    base_free(lazy->allocator, walked, walked_bytes(walked));
}

bool lazy_walked_find(wg_lazy *lazy, lazy_walked **list, const lazy_walked_key *key, const lazy_walked **found)
{
    *found = NULL;
    if (!put_walked_key(lazy, key)) return false;
    lazy_walked **at = list;
    while (*at && ((*at)->key_count != lazy->key_count || memcmp((*at)->words, lazy->key, lazy->key_count * sizeof *lazy->key))) at = &(*at)->next;
    if (!*at) return true;
    if (lazy_program_again(lazy, (*at)->hash, (*at)->serial)) *found = *at;
    else lazy_walked_free(lazy, at);
    return true;
}

/* Which source each leaf of the walk is: leaves are in order of their indexes. */
static void find_sources(const wg_lazy *lazy, const lazy_walked_key *key, uint32_t *leaves)
{
    for (uint32_t i = 0; i < key->source_count; i++) {
        const wg_array *source = key->sources[i];
        if (source->epoch != lazy->epoch || source->state != LAZY_STORED) continue;
        uint32_t low = 0, high = lazy->leaf_count;
        while (low + 1 < high) {
            uint32_t middle = low + (high - low) / 2;
            if (lazy->leaves[middle]->index <= source->index) low = middle;
            else high = middle;
        }
        leaves[low] = i;
    }
}

static bool walk_wanted(wg_lazy *lazy, const lazy_walked_key *key, wg_array *const *calls)
{
    begin_walk(lazy);
    lazy->stored_count = 0;
    if (!BASE_RESERVE(lazy->allocator, lazy->stored, lazy->stored_capacity, key->wanted_count)) return lazy_fail_memory(lazy);
    for (uint32_t i = 0; i < key->wanted_count; i++) {
        if (!key->wanted[i]) continue;
        if (!walk(lazy, calls[i])) return false;
        lazy->stored[lazy->stored_count++] = calls[i]->index;
    }
    return true;
}

#define MOST_WALKED 4u

bool lazy_walked_new(wg_lazy *lazy, lazy_walked **list, const lazy_walked_key *key, wg_array *const *calls)
{
    uint64_t hash;
    if (!walk_wanted(lazy, key, calls) || !end_key(lazy, lazy->stored, lazy->stored_count, &hash)) return false;
    const lazy_program *program = lazy_program_of(lazy, lazy->stored, lazy->stored_count, hash);
    if (!program) return false;
    lazy_walked facts = {.next = *list,
                         .hash = hash,
                         .serial = lazy_program_serial(program),
                         .key_count = key->source_count + key->wanted_count,
                         .number_count = lazy->number_count,
                         .leaf_count = lazy->leaf_count,
                         .large = is_large(lazy)};
    lazy_walked *walked = base_allocate(lazy->allocator, walked_bytes(&facts));
    if (!walked) return lazy_fail_memory(lazy);
    *walked = facts;
    *list = walked;
    find_sources(lazy, key, walked_leaves(walked));
    if (walked->number_count) memcpy(walked->words + walked->key_count, lazy->numbers, walked->number_count * sizeof *lazy->numbers);
    uint32_t place = 0;
    for (lazy_walked **at = list; *at;)
        if (place++ < MOST_WALKED) at = &(*at)->next;
        else lazy_walked_free(lazy, at);
    if (put_walked_key(lazy, key)) memcpy(walked->words, lazy->key, walked->key_count * sizeof *lazy->key);
    else return lazy_walked_free(lazy, list), false;
    return true;
}

bool lazy_walk_again(wg_lazy *lazy, const lazy_walked *walked, wg_array *const *sources, wg_array *const *nodes, uint32_t count, bool submit)
{
    lazy_program *program = lazy_program_again(lazy, walked->hash, walked->serial);
    begin_walk(lazy);
    if (!BASE_RESERVE(lazy->allocator, lazy->leaves, lazy->leaf_capacity, walked->leaf_count) ||
        !BASE_RESERVE(lazy->allocator, lazy->numbers, lazy->number_capacity, walked->number_count) ||
        !BASE_RESERVE(lazy->allocator, lazy->stored, lazy->stored_capacity, count))
        return lazy_fail_memory(lazy);
    lazy->stored_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!nodes[i]) continue;
        if (!make_room(lazy, 0)) return false;
        lazy->stored[lazy->stored_count++] = lazy->order_count;
        append(lazy, nodes[i]);
    }
    for (uint32_t leaf = 0; leaf < walked->leaf_count; leaf++) lazy->leaves[leaf] = sources[walked_leaves(walked)[leaf]];
    lazy->leaf_count = walked->leaf_count;
    if (walked->number_count) memcpy(lazy->numbers, walked->words + walked->key_count, walked->number_count * sizeof *lazy->numbers);
    lazy->number_count = walked->number_count;
    return run_program(lazy, program, submit && walked->large);
}

/* Follows carried values of derivative and recording levels to the array that a read would compute; NULL and an error for a batched one. */
static wg_array *readable(wg_lazy *lazy, wg_array *array)
{
    while ((array = lazy_resolve(lazy, array)) && array->state == LAZY_CARRIED) {
        lazy_level *level = array->as.carried.level;
        if (level->kind == LAZY_BATCH) {
            lazy_fail(lazy, WG_ARGUMENT, "a batched value has no items of its own to read: decide by wg_array_select, item by item");
            return NULL;
        }
        if (level->kind == LAZY_RECORDING && !level->stopped) level->stopped = "a value was read while it was recorded";
        array = array->as.carried.inner;
    }
    return array;
}

/* Computes or submits what is deferred and can be read as it is. */
static bool run_deferred(wg_lazy *lazy, const wg_array *array, bool submit)
{
    if (!lazy_waits(array) || array->submitted) return true;
    lazy_join(lazy); /* its inputs may be under way */
    return array->as.later.deferred->run(lazy, array->as.later.deferred, submit);
}

/* submit: large work may still be under way afterwards. */
static bool run_roots(wg_lazy *lazy, wg_array *const *roots, uint32_t count, bool submit)
{
    wg_array *few[LAZY_FEW], **plain = LAZY_ITEMS(lazy, few, count);
    if (!plain) return lazy_fail_memory(lazy);
    bool good = true, pends = false;
    uint32_t others = 0;
    lazy_join(lazy);
    atomic_store_explicit(&lazy->stopped, false, memory_order_relaxed);
    for (uint32_t i = 0; i < count && good; i++) good = run_deferred(lazy, roots[i], submit);
    for (uint32_t i = 0; i < count && good; i++) {
        if (roots[i]->submitted) continue;
        good = (plain[others] = readable(lazy, roots[i])) != NULL;
        pends = good && (pends || plain[others]->state == LAZY_PENDING);
        others++;
    }
    if (pends) {
        lazy_join(lazy); /* what was submitted just now */
        good = good && run_plain(lazy, plain, others, submit);
    }
    LAZY_ITEMS_END(lazy, few, plain, count);
    return good;
}

bool lazy_run(wg_lazy *lazy, wg_array *const *roots, uint32_t count)
{
    return run_roots(lazy, roots, count, false);
}

void lazy_run_ahead(wg_lazy *lazy, wg_array *const *roots, uint32_t count)
{
    bool clean = !lazy->error.code;
    if (!run_roots(lazy, roots, count, true) && clean) wg_error_clear(&lazy->error);
}

/* ---- public ---- */

bool (wg_array_run)(wg_array *const *roots, uint32_t count)
{
    if (!count) return true;
    wg_lazy *lazy = roots && roots[0] ? roots[0]->lazy : NULL;
    for (uint32_t i = 0; i < count; i++)
        if (!roots || !lazy_check(lazy, roots[i])) return false;
    return run_roots(lazy, roots, count, true);
}

/* The stored array or literal that a read of an array ends with, computed; NULL and an error. */
static inline wg_array *computed(wg_array *array, const wg_view *view)
{
    if (!array || !lazy_check(array->lazy, array)) return NULL;
    if (!view) return lazy_fail(array->lazy, WG_ARGUMENT, "reading needs a view to fill"), NULL;
    if (array->lazy->run.submitted) lazy_join(array->lazy);
    atomic_store_explicit(&array->lazy->stopped, false, memory_order_relaxed);
    if (!run_deferred(array->lazy, array, false)) return NULL;
    wg_array *plain = readable(array->lazy, array);
    return plain && (plain->state != LAZY_PENDING || run_plain(array->lazy, &plain, 1, false)) ? plain : NULL;
}

bool (wg_array_read)(wg_array *array, wg_view *view)
{
    wg_array *plain = computed(array, view);
    if (plain && plain->bits && plain->kind == WG_KIND_I64) return lazy_widen(plain, view);
    if (plain) *view = lazy_view(plain);
    return plain != NULL;
}

bool (wg_array_read_stored)(wg_array *array, wg_view *view)
{
    wg_array *plain = computed(array, view);
    if (plain) *view = lazy_view(plain);
    return plain != NULL;
}

wg_tensor *wg_array_tensor(wg_array *array)
{
    wg_view view;
    if (!(wg_array_read)(array, &view)) return NULL;
    wg_array *plain = readable(array->lazy, array);
    if (plain->state == LAZY_STORED && plain->as.stored.tensor)
        return wg_tensor_retain(plain->as.stored.wide ? plain->as.stored.wide : plain->as.stored.tensor);
    wg_error error = {.code = WG_OK};
    wg_tensor *tensor = wg_tensor_copy(array->lazy->context, &view, &error);
    if (!tensor) lazy_fail_with(array->lazy, &error, array);
    return tensor;
}

static bool one_item(wg_array *array, const void *number, wg_view *view)
{
    if (!array || !lazy_check(array->lazy, array)) return false;
    if (!number) return lazy_fail(array->lazy, WG_ARGUMENT, "reading one item needs a place for it");
    if (array->volume != 1)
        return lazy_fail(array->lazy, WG_SHAPE, "one item is read of an array of shape %s; wg_array_read reads all of them",
                         BASE_SHAPE_TEXT(array->rank, lazy_shape(array)));
    if (base_kinds[array->kind].class == BASE_CLASS_COMPLEX)
        return lazy_fail(array->lazy, WG_KIND, "a complex item is not one number: read its real and imaginary parts");
    return (wg_array_read)(array, view);
}

bool (wg_array_double)(wg_array *array, double *number)
{
    wg_view view;
    bool at_hand = array && number && array->kind == WG_KIND_F64 && !array->rank && (array->state == LAZY_STORED || array->state == LAZY_LITERAL);
    if (at_hand && lazy_check(array->lazy, array)) return memcpy(number, lazy_data(array), sizeof *number), true; /* a borrowed one may lie anywhere */
    if (!one_item(array, number, &view)) return false;
    *number = base_number_convert(base_number_load(view.kind, view.data, 0), view.kind, WG_KIND_F64, false).d;
    return true;
}

bool (wg_array_int64)(wg_array *array, int64_t *number)
{
    wg_view view;
    if (!one_item(array, number, &view)) return false;
    *number = base_number_convert(base_number_load(view.kind, view.data, 0), view.kind, WG_KIND_I64, false).i;
    return true;
}

bool wg_lazy_flush(wg_lazy *lazy)
{
    if (!lazy) return false;
    uint32_t count = lazy_waiting_outputs(lazy, NULL);
    for (wg_array *node = lazy->pending; node; node = node->as.pending.next) count += node->handles > node->scoped;
    if (!count) return true;
    size_t bytes = count * sizeof(wg_array *);
    wg_array **kept = base_allocate(lazy->allocator, bytes);
    if (!kept) return lazy_fail_memory(lazy);
    uint32_t used = lazy_waiting_outputs(lazy, kept);
    for (uint32_t i = 0; i < used; i++) lazy_keep(kept[i]);
    for (wg_array *node = lazy->pending; node; node = node->as.pending.next)
        if (node->handles > node->scoped) kept[used++] = lazy_keep(node);
    lazy->flushing = true;
    bool good = lazy_run(lazy, kept, used);
    /* One that fails keeps none of the others waiting: each by itself, those made first first. */
    for (uint32_t i = used; !good && i-- > 0 && !atomic_load(&lazy->stopped);) lazy_run(lazy, &kept[i], 1);
    lazy->flushing = false;
    for (uint32_t i = 0; i < used; i++) lazy_release(kept[i]);
    base_free(lazy->allocator, kept, bytes);
    return good;
}
