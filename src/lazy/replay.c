/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Replays of compiled functions: the template's calls made again over other inputs. Where all that it reads is at hand and no level is
 * open, a replay waits as one instead: its outputs are deferred. A read of any computes all that live, by what the read before found of such
 * a replay (lazy_walked), and no call is made; whoever makes calls on them has them expanded into the template's first. */
#include "lazy/replay.h"

void lazy_template_release(lazy_template *t)
{
    if (--t->references) return;
    wg_lazy *lazy = t->level->lazy;
    const wg_allocator *allocator = lazy->allocator;
    for (uint32_t place = 0; t->listed && place < t->place_count && place < t->level->count; place++) lazy_release(t->level->arrays[place]);
    base_free(allocator, t->key, t->key_count * sizeof *t->key);
    base_free(allocator, t->inputs, (t->input_count + 1) * sizeof *t->inputs);
    base_free(allocator, t->outputs, (t->output_count + 1) * sizeof *t->outputs);
    base_free(allocator, t->tags, (t->output_count + 1) * sizeof *t->tags);
    base_free(allocator, t->call_of, (t->output_count + 1) * sizeof *t->call_of);
    base_free(allocator, t->calls, (t->place_count + 1) * sizeof *t->calls);
    base_free(allocator, t->arrays, (t->place_count + 1) * sizeof *t->arrays);
    base_free(allocator, t->captures, (t->place_count + 1) * sizeof *t->captures);
    while (t->walked) lazy_walked_free(lazy, &t->walked);
    lazy_level_release(t->level);
    base_free(allocator, t, sizeof *t);
}

/* ---- the calls; arrays [place_count] are those of the replay under way, all NULL before and after ---- */

static inline void place(wg_array **arrays, uint32_t at, wg_array *array)
{
    if (arrays[at]) lazy_unuse(arrays[at]);
    lazy_use(array);
    arrays[at] = array;
}

static inline void leave(wg_array **arrays, uint32_t at)
{
    lazy_unuse(arrays[at]);
    arrays[at] = NULL;
}

static bool make_calls(wg_lazy *lazy, const lazy_template *t, wg_array **arrays, uint32_t *done, uint32_t end)
{
    for (; *done < t->call_count && t->calls[*done].place < end; ++*done) {
        const lazy_template_call *call = &t->calls[*done];
        wg_array *few[LAZY_FEW], **operands = LAZY_ITEMS(lazy, few, call->operand_count);
        if (!operands) return lazy_fail_memory(lazy);
        for (uint32_t i = 0; i < call->operand_count; i++) operands[i] = arrays[call->operands[i]];
        lazy_known known = {call->kind, call->rank, call->shape};
        wg_array *array = lazy_call_known(lazy, call->op, operands, call->operand_count, call->attributes, call->attribute_count, 0, &known);
        LAZY_ITEMS_END(lazy, few, operands, call->operand_count);
        if (!array) return false;
        place(arrays, call->place, array);
        lazy_release(array);
    }
    return true;
}

/* keys: those that the call took, where it waited; NULL: they are taken now. */
static bool do_recorded(wg_lazy *lazy, const lazy_template *t, wg_array **arrays, wg_array *const *keys, uint32_t *done)
{
    for (uint32_t i = 0; i < t->level->recorded_count; i++) {
        const lazy_recorded *recorded = &t->level->recorded[i];
        if (recorded->generator) {
            wg_array *key = keys ? keys[i] : wg_generator_key(recorded->generator);
            if (!key) return false;
            place(arrays, recorded->position, key);
            if (!keys && !lazy->scope_count) lazy_release(key);
            continue;
        }
        uint32_t last = 0;
        wg_array **operands = base_allocate(lazy->allocator, (recorded->count + 1) * sizeof *operands);
        if (!operands) return lazy_fail_memory(lazy);
        for (uint32_t k = 0; k < recorded->count; k++) last = recorded->operands[k] > last ? recorded->operands[k] : last;
        bool good = make_calls(lazy, t, arrays, done, last + 1);
        for (uint32_t k = 0; k < recorded->count; k++) operands[k] = arrays[recorded->operands[k]];
        good = good && wg_array_effect(lazy, recorded->run, recorded->user, operands, recorded->count);
        base_free(lazy->allocator, operands, (recorded->count + 1) * sizeof *operands);
        if (!good) return false;
    }
    return true;
}

/* Owned. */
static wg_array *output_of(const lazy_template *t, wg_array **arrays, uint32_t index)
{
    wg_array *array = arrays[t->outputs[index]];
    return array->tag == t->tags[index] ? lazy_keep(array) : lazy_tagged(array, t->tags[index]);
}

static bool replay_calls(wg_lazy *lazy, const lazy_template *t, wg_array **arrays, wg_array *const *inputs, wg_array *const *keys,
                         wg_array **outputs)
{
    uint32_t done = 0;
    for (uint32_t i = 0; i < t->capture_count; i++) place(arrays, t->captures[i], t->level->arrays[t->captures[i]]);
    for (uint32_t i = 0; i < t->input_count; i++) place(arrays, t->inputs[i], inputs[i]);
    bool good = do_recorded(lazy, t, arrays, keys, &done) && make_calls(lazy, t, arrays, &done, UINT32_MAX);
    for (uint32_t i = 0; i < t->output_count && good; i++) good = (outputs[i] = output_of(t, arrays, i)) != NULL;
    if (!good) lazy_release_all(outputs, t->output_count);
    for (uint32_t i = 0; i < t->input_count; i++) leave(arrays, t->inputs[i]);
    for (uint32_t i = 0; i < t->capture_count; i++) leave(arrays, t->captures[i]);
    for (uint32_t i = 0; i < t->level->recorded_count; i++)
        if (t->level->recorded[i].generator) leave(arrays, t->level->recorded[i].position);
    for (uint32_t i = 0; i < done; i++) leave(arrays, t->calls[i].place);
    return good;
}

/* ---- replays that wait ---- */

typedef struct lazy_waiting lazy_waiting;

typedef struct waiting_output {
    lazy_deferred head;
    lazy_waiting *of;
    wg_array *array; /* that waits; NULL: it is gone, or none was made */
} waiting_output;

struct lazy_waiting {
    lazy_waiting *next, **link;    /* among those of the context; link NULL: it waits no more */
    lazy_template *template;
    wg_array **given;              /* [given_count] uses: inputs, and the keys of draws, which the call took */
    uint32_t references;           /* outputs with an array */
    waiting_output outputs[];
};

/* Of a template without effects. */
static uint32_t given_count(const lazy_template *t) { return t->input_count + t->level->recorded_count; }

static size_t waiting_bytes(const lazy_template *t)
{
    return sizeof(lazy_waiting) + t->output_count * sizeof(waiting_output) + given_count(t) * sizeof(wg_array *);
}

static void enlist(wg_lazy *lazy, lazy_waiting *w)
{
    w->next = lazy->waiting;
    w->link = &lazy->waiting;
    if (w->next) w->next->link = &w->next;
    lazy->waiting = w;
}

static void leave_list(lazy_waiting *w)
{
    *w->link = w->next;
    if (w->next) w->next->link = w->link;
    w->link = NULL;
}

/* It waits no more: lets go of what it was given. */
static void end_waiting(lazy_waiting *w)
{
    if (w->link) leave_list(w);
    for (uint32_t i = 0; i < given_count(w->template); i++) {
        lazy_unuse(w->given[i]);
        w->given[i] = NULL;
    }
}

static void drop_output(lazy_deferred *deferred)
{
    waiting_output *output = (waiting_output *)deferred;
    lazy_waiting *w = output->of;
    output->array = NULL;
    if (--w->references) return;
    lazy_template *t = w->template;
    wg_lazy *lazy = t->level->lazy;
    end_waiting(w);
    base_free(lazy->allocator, w, waiting_bytes(t));
    lazy_template_release(t);
}

/* The calls of all outputs, owned. The template's own arrays may be in use. */
static bool calls_of(wg_lazy *lazy, const lazy_waiting *w, wg_array **outputs)
{
    const lazy_template *t = w->template;
    size_t bytes = ((size_t)t->place_count + 1) * sizeof(wg_array *);
    wg_array **arrays = base_allocate_zeroed(lazy->allocator, bytes), *few[LAZY_FEW], **given = LAZY_ITEMS(lazy, few, given_count(t));
    bool good = (arrays && given) || lazy_fail_memory(lazy);
    for (uint32_t i = 0; i < given_count(t) && good; i++) good = (given[i] = lazy_resolve(lazy, w->given[i])) != NULL;
    good = good && replay_calls(lazy, t, arrays, given, given + t->input_count, outputs);
    base_free(lazy->allocator, arrays, bytes);
    if (given) LAZY_ITEMS_END(lazy, few, given, given_count(t));
    return good;
}

static wg_array *expand_output(wg_lazy *lazy, lazy_deferred *deferred)
{
    waiting_output *output = (waiting_output *)deferred;
    lazy_waiting *w = output->of;
    uint32_t count = w->template->output_count;
    wg_array *few[LAZY_FEW], **calls = LAZY_ITEMS(lazy, few, count), *expanded = NULL;
    if (!calls) return lazy_fail_memory(lazy), NULL;
    leave_list(w); /* or whoever computes all that waits while calls are made would compute this */
    if (calls_of(lazy, w, calls)) {
        for (uint32_t i = 0; i < count; i++) {
            if (&w->outputs[i] == output) {
                expanded = calls[i];
            } else {
                if (w->outputs[i].array) lazy_use(w->outputs[i].head.expanded = calls[i]);
                lazy_release(calls[i]);
            }
        }
        end_waiting(w);
    } else {
        enlist(lazy, w);
    }
    LAZY_ITEMS_END(lazy, few, calls, count);
    return expanded;
}

static bool is_at_hand(const wg_array *array)
{
    return array->state == LAZY_STORED || array->state == LAZY_LITERAL;
}

/* What the read of a replay finds by its calls. */
static bool find_by_calls(wg_lazy *lazy, const lazy_waiting *w, const lazy_walked_key *key)
{
    lazy_template *t = w->template;
    wg_array *few[LAZY_FEW], **calls = LAZY_ITEMS(lazy, few, t->output_count);
    if (!calls) return lazy_fail_memory(lazy);
    bool flushing = lazy->flushing, holding = lazy->holding;
    lazy->flushing = lazy->holding = true; /* they are for this read, whatever they take */
    bool good = calls_of(lazy, w, calls);
    lazy->flushing = flushing;
    lazy->holding = holding;
    if (good) {
        good = lazy_walked_new(lazy, &t->walked, key, calls);
        lazy_release_all(calls, t->output_count);
    }
    LAZY_ITEMS_END(lazy, few, calls, t->output_count);
    return good;
}

static bool run_waiting(wg_lazy *lazy, const lazy_waiting *w, wg_array **sources, wg_array **nodes, bool submit)
{
    lazy_template *t = w->template;
    uint32_t given = given_count(t), count = t->output_count;
    for (uint32_t i = 0; i < given; i++) sources[i] = w->given[i];
    for (uint32_t i = 0; i < t->capture_count; i++) sources[given + i] = t->level->arrays[t->captures[i]];
    for (uint32_t i = 0; i < count; i++) nodes[i] = w->outputs[i].array;
    lazy_walked_key key = {sources, given + t->capture_count, nodes, count};
    const lazy_walked *walked;
    if (!lazy_walked_find(lazy, &t->walked, &key, &walked)) return false;
    if (!walked && !find_by_calls(lazy, w, &key)) return false;
    return lazy_walk_again(lazy, walked ? walked : t->walked, sources, nodes, count, submit);
}

static bool run_output(wg_lazy *lazy, lazy_deferred *deferred, bool submit)
{
    const lazy_waiting *w = ((waiting_output *)deferred)->of;
    const lazy_template *t = w->template;
    uint32_t source_count = given_count(t) + t->capture_count;
    if (lazy->explain) return true; /* events tell of calls */
    for (uint32_t i = 0; i < t->input_count; i++)
        if (!is_at_hand(w->given[i])) return true; /* the run that was to store it failed */
    wg_array *few[LAZY_FEW], *fewer[LAZY_FEW], **sources = LAZY_ITEMS(lazy, few, source_count), **nodes = LAZY_ITEMS(lazy, fewer, t->output_count);
    uint32_t output_count = t->output_count; /* the template may end with the run */
    bool good = sources && nodes ? run_waiting(lazy, w, sources, nodes, submit) : lazy_fail_memory(lazy);
    if (sources) LAZY_ITEMS_END(lazy, few, sources, source_count);
    if (nodes) LAZY_ITEMS_END(lazy, fewer, nodes, output_count);
    return good;
}

uint32_t lazy_waiting_outputs(const wg_lazy *lazy, wg_array **outputs)
{
    uint32_t count = 0;
    for (const lazy_waiting *w = lazy->waiting; w; w = w->next, count++)
        for (uint32_t i = 0; outputs && i < w->template->output_count; i++)
            if (w->outputs[i].array) outputs[count] = w->outputs[i].array;
    return count;
}

/* Everything that the template reads is stored, or will be by the run under way, and nothing looks on. */
static bool may_wait(const wg_lazy *lazy, const lazy_template *t, wg_array *const *inputs)
{
    if (lazy->levels || lazy->explain) return false;
    for (uint32_t i = 0; i < t->level->recorded_count; i++)
        if (!t->level->recorded[i].generator) return false;
    for (uint32_t i = 0; i < t->input_count; i++)
        if (!is_at_hand(inputs[i]) && !inputs[i]->submitted) return false;
    for (uint32_t i = 0; i < t->capture_count; i++)
        if (!is_at_hand(t->level->arrays[t->captures[i]])) return false;
    for (uint32_t i = 0; i < t->output_count; i++)
        if (t->call_of[i] == WG_NONE) return false;
    return true;
}

static bool wait_output(wg_lazy *lazy, lazy_waiting *w, uint32_t index)
{
    const lazy_template *t = w->template;
    const lazy_template_call *call = &t->calls[t->call_of[index]];
    wg_array *array = lazy_node_new(lazy, LAZY_DEFERRED, call->rank, 0, 0);
    if (!array) return false;
    array->kind = (uint8_t)call->kind;
    array->tag = t->tags[index];
    array->heavy = t->heavy;
    array->volume = 1;
    for (uint32_t axis = 0; axis < call->rank; axis++) array->volume *= lazy_shape(array)[axis] = call->shape[axis];
    w->outputs[index] = (waiting_output){{.expand = expand_output, .run = run_output, .drop = drop_output}, w, array};
    array->as.later.deferred = &w->outputs[index].head;
    w->references++;
    return true;
}

/* A draw takes its key at its call, not when it is read. */
static bool take_keys(wg_lazy *lazy, const lazy_template *t, wg_array **keys)
{
    for (uint32_t i = 0; i < t->level->recorded_count; i++) {
        wg_array *key = wg_generator_key(t->level->recorded[i].generator);
        if (!key) return false;
        lazy_use(keys[i] = key);
        if (!lazy->scope_count) lazy_release(key);
    }
    return true;
}

static bool wait_for_read(wg_lazy *lazy, lazy_template *t, wg_array *const *inputs, wg_array **outputs)
{
    lazy_waiting *w = base_allocate_zeroed(lazy->allocator, waiting_bytes(t));
    if (!w) return lazy_fail_memory(lazy);
    w->template = t;
    t->references++;
    w->given = (wg_array **)(w->outputs + t->output_count);
    enlist(lazy, w);
    for (uint32_t i = 0; i < t->input_count; i++) lazy_use(w->given[i] = inputs[i]);
    w->references = 1; /* until all are made */
    bool good = take_keys(lazy, t, w->given + t->input_count);
    for (uint32_t i = 0; good && i < t->output_count; i++)
        if ((good = wait_output(lazy, w, i))) outputs[i] = w->outputs[i].array;
    if (!good) lazy_release_all(outputs, t->output_count);
    w->references--;
    if (good) return true;
    end_waiting(w);
    base_free(lazy->allocator, w, waiting_bytes(t));
    lazy_template_release(t);
    return false;
}

/* Dear work on what is dear to compute: that is computed first, as a step's state by the step before, or every step would be planned with
 * those before it. plain [input_count] is room. */
static void run_inputs(wg_lazy *lazy, const lazy_template *t, wg_array *const *inputs, wg_array **plain)
{
    uint32_t count = 0;
    for (uint32_t i = 0; t->heavy && !lazy->levels && i < t->input_count; i++)
        if (inputs[i]->heavy && (inputs[i]->state == LAZY_PENDING || inputs[i]->state == LAZY_DEFERRED) && !inputs[i]->submitted) plain[count++] = inputs[i];
    if (count) lazy_run_ahead(lazy, plain, count);
}

bool lazy_replay(wg_lazy *lazy, lazy_template *t, wg_array *const *inputs, wg_array **outputs)
{
    wg_array *few[LAZY_FEW], **plain = LAZY_ITEMS(lazy, few, t->input_count);
    if (!plain) return lazy_fail_memory(lazy);
    run_inputs(lazy, t, inputs, plain);
    bool waits = may_wait(lazy, t, inputs), good = true;
    for (uint32_t i = 0; i < t->input_count && good && !waits; i++) good = (plain[i] = lazy_resolve(lazy, inputs[i])) != NULL;
    good = good && (waits ? wait_for_read(lazy, t, inputs, outputs) : replay_calls(lazy, t, t->arrays, plain, NULL, outputs));
    LAZY_ITEMS_END(lazy, few, plain, t->input_count);
    LAZY_TELL(lazy, .what = "replay", .nodes = t->call_count);
    return good;
}
