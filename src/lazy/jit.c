/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Compiled functions. A first call with a signature runs the function under a recording level, over its real inputs; the level's tape,
 * freed of what the arrays were, is the template. A later call binds its inputs and makes the template's calls again, without the function.
 *
 * The signature is what the function could see: kinds, tags, shapes, literal values, and the options. Shapes are keyed by their numbers, as
 * a function in C may compute anything from them; the plan cache below keys lengths by class, so a retrace seldom plans again. */
#include <string.h>

#include "base/hash.h"
#include "lazy/replay.h"

#define MOST_TEMPLATES 8

struct wg_jit {
    lazy_dependent dependent;
    wg_lazy *lazy;          /* NULL: it was freed, and with it what follows but function and figures */
    wg_function function;
    uint64_t options_hash;
    lazy_template *templates;
    uint64_t *key;          /* of the call under way */
    uint32_t key_count, key_capacity;
    bool busy;              /* a call is under way: key and templates are in use */
    uint32_t calls_under_way;
    wg_jit_figures figures;
};

/* ---- the signature ---- */

static bool put(wg_jit *jit, uint64_t word)
{
    if (!BASE_RESERVE(jit->lazy->allocator, jit->key, jit->key_capacity, jit->key_count + 1)) return lazy_fail_memory(jit->lazy);
    jit->key[jit->key_count++] = word;
    return true;
}

static bool make_key(wg_jit *jit, wg_array *const *inputs)
{
    jit->key_count = 0;
    if (!put(jit, jit->options_hash)) return false;
    for (uint32_t i = 0; i < jit->function.inputs; i++) {
        const wg_array *input = inputs[i];
        bool literal = input->state == LAZY_LITERAL;
        if (!put(jit, (uint64_t)input->kind | (uint64_t)input->rank << 8 | (uint64_t)literal << 16 | (uint64_t)input->tag << 32)) return false;
        for (uint32_t axis = 0; axis < input->rank; axis++)
            if (!put(jit, (uint64_t)lazy_shape(input)[axis])) return false;
        if (literal && (!put(jit, input->as.literal.bits[0]) || !put(jit, input->as.literal.bits[1]))) return false;
    }
    return true;
}

/* ---- making and freeing ---- */

static void orphan_jit(lazy_dependent *dependent)
{
    wg_jit *jit = (wg_jit *)dependent;
    while (jit->templates) {
        lazy_template *t = jit->templates;
        jit->templates = t->next;
        lazy_template_release(t);
    }
    base_free(jit->lazy->allocator, jit->key, jit->key_capacity * sizeof *jit->key);
    jit->lazy = NULL;
}

wg_jit *wg_jit_new(wg_lazy *lazy, const wg_function *function, const void *options, size_t options_bytes)
{
    if (!lazy) return NULL;
    if (!function || !function->call || !function->outputs || (options_bytes && !options))
        return lazy_fail(lazy, WG_ARGUMENT, "a compiled function needs a function of at least one output, and its options"), NULL;
    wg_jit *jit = base_allocate_zeroed(lazy->allocator, sizeof *jit);
    if (!jit) return lazy_fail_memory(lazy), NULL;
    jit->lazy = lazy;
    jit->function = *function;
    lazy_depend(lazy, &jit->dependent, orphan_jit);
    jit->options_hash = options_bytes ? base_hash(options, options_bytes, 1) : 0;
    return jit;
}

void wg_jit_free(wg_jit **handle)
{
    if (!handle || !*handle) return;
    wg_jit *jit = *handle;
    if (jit->calls_under_way) {
        lazy_fail(jit->lazy, WG_ARGUMENT, "a compiled function is freed by a function or an effect that it calls");
        return;
    }
    *handle = NULL;
    lazy_depend_end(&jit->dependent);
    if (jit->lazy) orphan_jit(&jit->dependent);
    wg_allocator allocator = jit->dependent.allocator;
    base_free(&allocator, jit, sizeof *jit);
}

void wg_jit_figures_of(const wg_jit *jit, wg_jit_figures *figures)
{
    if (figures) *figures = jit ? jit->figures : (wg_jit_figures){0};
}

/* ---- from a trace to a template ---- */

static bool is_input(const lazy_template *t, uint32_t place)
{
    for (uint32_t i = 0; i < t->input_count; i++)
        if (t->inputs[i] == place) return true;
    for (uint32_t i = 0; i < t->level->recorded_count; i++)
        if (t->level->recorded[i].generator && t->level->recorded[i].position == place) return true;
    return false;
}

/* Marks what outputs and effects need. */
static void mark_needed(const lazy_template *t, bool *needed)
{
    for (uint32_t i = 0; i < t->output_count; i++) needed[t->outputs[i]] = true;
    for (uint32_t i = 0; i < t->level->recorded_count; i++)
        for (uint32_t k = 0; k < t->level->recorded[i].count; k++) needed[t->level->recorded[i].operands[k]] = true;
    wg_node_facts facts;
    for (uint32_t place = t->place_count; place-- > 0;) {
        if (!needed[place] || !wg_tape_node(t->level->tape, place, &facts)) continue;
        for (uint32_t i = 0; i < facts.operand_count; i++) needed[facts.operands[i]] = true;
    }
}

/* Captured sources keep their arrays, as a caller would: what pends is stored when a replay is read. Whatever else the trace computed is
 * let go. */
static void list_calls(lazy_template *t, const bool *needed)
{
    lazy_level *level = t->level;
    t->listed = true;
    for (uint32_t place = 0; place < t->place_count; place++) {
        wg_node_facts facts;
        wg_tape_node(level->tape, place, &facts);
        bool source = wg_op_class_of(facts.op) == WG_OP_CLASS_SOURCE;
        bool captured = source && needed[place] && !is_input(t, place);
        if (!captured && place < level->count && level->arrays[place]) {
            lazy_unuse(level->arrays[place]);
            level->arrays[place] = NULL;
        }
        if (captured) {
            lazy_keep(level->arrays[place]);
            t->captures[t->capture_count++] = place;
        }
        if (source || !needed[place]) continue;
        t->heavy = t->heavy || level->lazy->heavy[facts.op];
        t->calls[t->call_count++] = (lazy_template_call){.op = facts.op,
                                                         .kind = facts.kind,
                                                         .place = place,
                                                         .rank = facts.rank,
                                                         .operand_count = facts.operand_count,
                                                         .attribute_count = facts.attribute_count,
                                                         .operands = facts.operands,
                                                         .shape = facts.shape,
                                                         .attributes = facts.attributes};
    }
}

/* Calls are in order of their places. */
static uint32_t call_at(const lazy_template *t, uint32_t place)
{
    uint32_t low = 0, high = t->call_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->calls[middle].place < place) low = middle + 1;
        else high = middle;
    }
    return low < t->call_count && t->calls[low].place == place ? low : WG_NONE;
}

static lazy_template *template_of(wg_jit *jit, lazy_level *level, wg_array *const *inputs, wg_array *const *outputs)
{
    const wg_allocator *allocator = jit->lazy->allocator;
    lazy_template *t = base_allocate_zeroed(allocator, sizeof *t);
    if (!t) return lazy_fail_memory(jit->lazy), NULL;
    t->references = 1;
    t->input_count = jit->function.inputs;
    t->output_count = jit->function.outputs;
    t->level = level;
    level->references++;
    t->inputs = base_allocate(allocator, (jit->function.inputs + 1) * sizeof *t->inputs);
    t->outputs = base_allocate(allocator, (jit->function.outputs + 1) * sizeof *t->outputs);
    t->tags = base_allocate(allocator, (jit->function.outputs + 1) * sizeof *t->tags);
    t->call_of = base_allocate(allocator, (jit->function.outputs + 1) * sizeof *t->call_of);
    bool good = t->inputs && t->outputs && t->tags && t->call_of;
    for (uint32_t i = 0; i < jit->function.inputs && good; i++) t->inputs[i] = inputs[i]->position;
    for (uint32_t i = 0; i < jit->function.outputs && good; i++) good = (t->outputs[i] = lazy_level_position(level, outputs[i])) != WG_NONE;
    for (uint32_t i = 0; i < jit->function.outputs && good; i++) t->tags[i] = outputs[i]->tag;
    t->key_count = jit->key_count;
    t->place_count = wg_tape_count(level->tape);
    t->key = base_allocate(allocator, t->key_count * sizeof *t->key);
    t->calls = base_allocate(allocator, (t->place_count + 1) * sizeof *t->calls);
    t->arrays = base_allocate_zeroed(allocator, (t->place_count + 1) * sizeof *t->arrays);
    t->captures = base_allocate(allocator, (t->place_count + 1) * sizeof *t->captures);
    bool *needed = base_allocate_zeroed(allocator, (size_t)t->place_count + 1);
    good = good && t->key && t->calls && t->arrays && t->captures && needed;
    if (good) {
        memcpy(t->key, jit->key, t->key_count * sizeof *t->key);
        mark_needed(t, needed);
        list_calls(t, needed);
        for (uint32_t i = 0; i < t->output_count; i++) t->call_of[i] = call_at(t, t->outputs[i]);
    }
    base_free(allocator, needed, (size_t)t->place_count + 1);
    if (good) return t;
    lazy_template_release(t);
    return lazy_fail_memory(jit->lazy), NULL;
}

/* ---- the trace ---- */

/* Runs the function over inputs of a new recording; carried [inputs] and outputs are owned. */
static lazy_level *trace(wg_jit *jit, wg_array *const *inputs, wg_array **carried, wg_array **outputs)
{
    lazy_level *level = lazy_level_open(jit->lazy, LAZY_RECORDING);
    bool good = level != NULL;
    for (uint32_t i = 0; i < jit->function.inputs && good; i++) good = (carried[i] = lazy_level_input(level, inputs[i])) != NULL;
    good = good && lazy_function_run(jit->lazy, &jit->function, carried, outputs);
    for (uint32_t i = 0; i < jit->function.outputs && good; i++) {
        wg_array *plain = lazy_resolve(jit->lazy, outputs[i]);
        if (plain) lazy_keep(plain);
        lazy_release(outputs[i]);
        outputs[i] = plain;
        good = plain != NULL;
    }
    if (good) return level;
    lazy_release_all(outputs, jit->function.outputs);
    if (level) {
        lazy_level_close(level);
        lazy_level_release(level);
    }
    return NULL;
}

static void stop(wg_jit *jit, const char *reason)
{
    jit->figures.stopped = reason;
    LAZY_TELL(jit->lazy, .what = "stop", .reason = reason);
}

/* What a level around the call carries is another value the next time. */
static bool captures_of_levels(const lazy_template *t)
{
    for (uint32_t place = 0; place < t->level->count; place++)
        if (t->level->arrays[place] && t->level->arrays[place]->state >= LAZY_CARRIED) return true;
    return false;
}

static void add_template(wg_jit *jit, lazy_level *level, wg_array *const *carried, wg_array *const *outputs)
{
    if (level->stopped || jit->figures.stopped) {
        stop(jit, level->stopped ? level->stopped : jit->figures.stopped);
        return;
    }
    wg_error before = jit->lazy->error;
    lazy_template *t = template_of(jit, level, carried, outputs);
    if (!t) { /* without memory this call has its outputs, and the next one is called too */
        jit->lazy->error = before;
        return;
    }
    if (captures_of_levels(t)) {
        lazy_template_release(t);
        stop(jit, "a value of a derivative, a map or a recording around it was captured");
        return;
    }
    LAZY_TELL(jit->lazy, .what = jit->figures.traces ? "retrace" : "trace", .nodes = t->call_count,
              .reason = jit->figures.traces ? "inputs of another signature" : "the first call");
    t->next = jit->templates;
    jit->templates = t;
    jit->figures.traces++;
}

/* Outputs of the level become what they are outside of it. */
static void strip(const lazy_level *level, wg_array **outputs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        wg_array *inner = lazy_keep(lazy_level_inner(level, outputs[i]));
        lazy_release(outputs[i]);
        outputs[i] = inner;
    }
}

static bool call_traced(wg_jit *jit, wg_array *const *inputs, wg_array **outputs)
{
    size_t bytes = (jit->function.inputs + 1) * sizeof(wg_array *);
    wg_array **carried = base_allocate_zeroed(jit->lazy->allocator, bytes);
    if (!carried) return lazy_fail_memory(jit->lazy);
    lazy_level *level = trace(jit, inputs, carried, outputs);
    if (level) {
        add_template(jit, level, carried, outputs);
        strip(level, outputs, jit->function.outputs);
        lazy_level_close(level);
    }
    lazy_release_all(carried, jit->function.inputs);
    lazy_level_release(level);
    base_free(jit->lazy->allocator, carried, bytes);
    return level != NULL;
}

/* ---- the call ---- */

static lazy_template *find(const wg_jit *jit)
{
    for (lazy_template *t = jit->templates; t; t = t->next) /* few, and told apart by their first words */
        if (t->key_count == jit->key_count && !memcmp(t->key, jit->key, jit->key_count * sizeof *jit->key)) return t;
    return NULL;
}

static bool same_list(const void *a, const void *b, size_t bytes)
{
    return !bytes || !memcmp(a, b, bytes);
}

static bool same_items(wg_tensor *a, wg_tensor *b)
{
    bool same = !a || !b ? a == b
                         : a->kind == b->kind && a->volume == b->volume && same_list(a->data, b->data, (size_t)a->volume * base_kinds[a->kind].bytes);
    wg_tensor_release(a);
    wg_tensor_release(b);
    return same;
}

/* Of two captured arrays nobody knows more than their items; what an outer level carries is not looked into. */
static bool same_capture(wg_array *a, wg_array *b)
{
    if (a == b || a->state >= LAZY_CARRIED || b->state >= LAZY_CARRIED) return true;
    return same_items(wg_array_tensor(a), wg_array_tensor(b));
}

/* The same calls of the same constants, and captures of the same items. */
static bool same_recording(wg_lazy *lazy, const lazy_template *t, const lazy_level *level)
{
    const wg_tape *old = t->level->tape, *new = level->tape;
    if (wg_tape_count(new) != t->place_count) return false;
    wg_node_facts a, b;
    for (uint32_t place = 0; place < t->place_count && !lazy->error.code; place++) {
        wg_tape_node(old, place, &a);
        wg_tape_node(new, place, &b);
        if (a.op != b.op || a.kind != b.kind || a.rank != b.rank || a.operand_count != b.operand_count || a.attribute_count != b.attribute_count ||
            !same_list(a.shape, b.shape, a.rank * sizeof *a.shape) || !same_list(a.operands, b.operands, a.operand_count * sizeof *a.operands) ||
            !same_list(a.attributes, b.attributes, a.attribute_count * sizeof *a.attributes) ||
            !same_items(wg_tape_items(old, place), wg_tape_items(new, place)))
            return false;
        wg_array *captured = place < t->level->count ? t->level->arrays[place] : NULL;
        if (captured && (place >= level->count || !level->arrays[place] || !same_capture(captured, level->arrays[place]))) return false;
    }
    return true;
}

/* The debug switch: the function is traced again instead of replayed, so that draws and effects happen once, and must have recorded the
 * same. */
static bool compare(wg_jit *jit, const lazy_template *t, wg_array *const *inputs, wg_array **outputs)
{
    size_t bytes = ((size_t)jit->function.inputs + 1) * sizeof(wg_array *);
    wg_array **carried = base_allocate_zeroed(jit->lazy->allocator, bytes);
    if (!carried) return lazy_fail_memory(jit->lazy);
    lazy_level *level = trace(jit, inputs, carried, outputs);
    bool good = level != NULL;
    if (level) {
        for (uint32_t i = 0; i < jit->function.outputs && good; i++) good = lazy_level_position(level, outputs[i]) != WG_NONE;
        if (good && !same_recording(jit->lazy, t, level))
            good = lazy_fail(jit->lazy, WG_DIFFERS, "a compiled function recorded something else for the same signature: it depends on more than "
                                                    "its arguments and options");
        strip(level, outputs, jit->function.outputs);
        lazy_level_close(level);
    }
    if (!good) lazy_release_all(outputs, jit->function.outputs);
    lazy_release_all(carried, jit->function.inputs);
    lazy_level_release(level);
    base_free(jit->lazy->allocator, carried, bytes);
    jit->figures.replays += good;
    return good;
}

static bool call_again(wg_jit *jit, lazy_template *t, wg_array *const *inputs, wg_array **outputs)
{
    jit->figures.replays++;
    return lazy_replay(jit->lazy, t, inputs, outputs);
}

/* A function sees calls, not what waits for a read. */
static bool resolve_inputs(wg_jit *jit, wg_array **inputs)
{
    for (uint32_t i = 0; i < jit->function.inputs; i++)
        if (!(inputs[i] = lazy_resolve(jit->lazy, inputs[i]))) return false;
    return true;
}

static bool call_by_template(wg_jit *jit, wg_array **inputs, wg_array **outputs)
{
    if (!make_key(jit, inputs)) return false;
    lazy_template *t = find(jit);
    if (t && !jit->lazy->options.retrace) return call_again(jit, t, inputs, outputs);
    if (!resolve_inputs(jit, inputs)) return false;
    if (t) return compare(jit, t, inputs, outputs);
    if (jit->figures.traces < MOST_TEMPLATES) return call_traced(jit, inputs, outputs);
    stop(jit, "eight signatures were traced, and another one came");
    return lazy_function_run(jit->lazy, &jit->function, inputs, outputs);
}

static bool call_jit(wg_jit *jit, wg_array **inputs, wg_array **outputs)
{
    jit->figures.calls++;
    if (jit->busy && !jit->figures.stopped) stop(jit, "it calls itself");
    if (jit->figures.stopped) return resolve_inputs(jit, inputs) && lazy_function_run(jit->lazy, &jit->function, inputs, outputs);
    jit->busy = true;
    bool good = call_by_template(jit, inputs, outputs);
    jit->busy = false;
    return good;
}

bool wg_jit_call(wg_jit *jit, wg_array *const *inputs, wg_array **outputs)
{
    if (!jit) return false;
    wg_lazy *lazy = jit->lazy;
    for (uint32_t i = 0; !lazy && outputs && i < jit->function.outputs; i++) outputs[i] = NULL;
    if (!lazy) return false;
    if (!outputs || (jit->function.inputs && !inputs)) return lazy_fail(lazy, WG_ARGUMENT, "a call needs inputs and a place for outputs");
    for (uint32_t i = 0; i < jit->function.outputs; i++) outputs[i] = NULL;
    wg_array *few[LAZY_FEW], **plain = LAZY_ITEMS(lazy, few, jit->function.inputs);
    if (!plain) return lazy_fail_memory(lazy);
    bool good = true;
    for (uint32_t i = 0; i < jit->function.inputs && good; i++)
        good = lazy_check(lazy, inputs[i]) && (plain[i] = lazy_waits(inputs[i]) ? inputs[i] : lazy_resolve(lazy, inputs[i])) != NULL;
    jit->calls_under_way++;
    good = good && call_jit(jit, plain, outputs);
    LAZY_ITEMS_END(lazy, few, plain, jit->function.inputs);
    jit->calls_under_way--;
    return good && lazy_give_all(lazy, outputs, jit->function.outputs);
}
