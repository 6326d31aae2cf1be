/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Derivatives of functions of arrays. The function runs once under a derivative level, whose tape is then differentiated as any tape is:
 * the same rules in the same order, so the same bits. What the derivative records beyond the tape's own calls becomes calls again. */
#include <string.h>

#include "lazy/lazy.h"

void lazy_release_all(wg_array **arrays, uint32_t count)
{
    for (uint32_t i = 0; arrays && i < count; i++) {
        lazy_release(arrays[i]);
        arrays[i] = NULL;
    }
}

/* Arrays of the caller's, all living. */
static bool check_all(wg_lazy *lazy, wg_array *const *arrays, uint32_t count, bool all)
{
    for (uint32_t i = 0; i < count; i++)
        if ((all || arrays[i]) && !lazy_check(lazy, arrays[i])) return false;
    return true;
}

static bool check_function(wg_lazy *lazy, const wg_function *function, const void *inputs)
{
    if (!lazy) return false;
    if (!function || !function->call || (function->inputs && !inputs)) return lazy_fail(lazy, WG_ARGUMENT, "a function needs its call and its inputs");
    return function->outputs > 0 || lazy_fail(lazy, WG_ARGUMENT, "a function has at least one output");
}

static bool check_given(wg_lazy *lazy, const void *given, const char *what)
{
    return given || lazy_fail(lazy, WG_ARGUMENT, "%s are NULL", what);
}

bool lazy_function_run(wg_lazy *lazy, const wg_function *function, wg_array *const *inputs, wg_array **outputs)
{
    uint32_t count = function->outputs;
    for (uint32_t i = 0; i < count; i++) outputs[i] = NULL;
    uint32_t scopes = lazy->scope_count, floor = lazy->scope_floor;
    wg_scope_open(lazy);
    if (lazy->scope_count != scopes + 1) {
        wg_scope_close(lazy);
        return false;
    }
    lazy->scope_floor = scopes + 1;
    lazy->inside++;
    bool good = function->call(function->user, lazy, inputs, outputs);
    lazy->inside--;
    lazy->scope_floor = scopes;
    for (uint32_t i = 0; i < count && good; i++) good = lazy_check(lazy, outputs[i]);
    if (!good && !lazy->error.code) lazy_fail(lazy, WG_ARGUMENT, "the function answered that it failed");
    for (uint32_t i = 0; i < count; i++) {
        if (good) lazy_keep(outputs[i]);
        else outputs[i] = NULL;
    }
    while (lazy->scope_count > scopes) wg_scope_close(lazy);
    lazy->scope_floor = floor;
    return good;
}

bool wg_function_call(wg_lazy *lazy, const wg_function *function, wg_array *const *inputs, wg_array **outputs)
{
    return check_function(lazy, function, inputs) && check_all(lazy, inputs, function->inputs, true) && check_given(lazy, outputs, "outputs") &&
           lazy_function_run(lazy, function, inputs, outputs) && lazy_give_all(lazy, outputs, function->outputs);
}

/* ---- a traced run ---- */

typedef struct traced_run {
    wg_lazy *lazy;
    const wg_function *function;
    lazy_level *level;
    wg_array **inputs, **outputs; /* of the level: owned [inputs], [outputs] */
    wg_array **block;
} traced_run;

static size_t block_bytes(const wg_function *function)
{
    return ((size_t)function->inputs + function->outputs) * sizeof(wg_array *);
}

static void end_traced(traced_run *run)
{
    lazy_release_all(run->inputs, run->function->inputs);
    lazy_release_all(run->outputs, run->function->outputs);
    base_free(run->lazy->allocator, run->block, block_bytes(run->function));
    lazy_level_release(run->level);
}

/* An input that moves: a float, or a complex number that is asked for, whose derivative is then refused. */
static bool input_moves(const wg_array *input, const bool *wanted, uint32_t index)
{
    wg_kind kind = (wg_kind)input->kind;
    return wanted ? wanted[index] && base_kind_has_nan(kind) : base_kind_is_float(kind);
}

/* Runs the function over inputs of a new level (wanted NULL: all floats move). */
static bool begin_traced(traced_run *run, wg_array *const *inputs, const bool *wanted)
{
    wg_lazy *lazy = run->lazy;
    uint32_t count = run->function->inputs;
    run->block = base_allocate_zeroed(lazy->allocator, block_bytes(run->function));
    if (!run->block) return lazy_fail_memory(lazy);
    run->inputs = run->block;
    run->outputs = run->block + count;
    if (!(run->level = lazy_level_open(lazy, LAZY_DERIVATIVE))) {
        base_free(lazy->allocator, run->block, block_bytes(run->function));
        return false;
    }
    bool good = true;
    for (uint32_t i = 0; i < count && good; i++) {
        wg_array *input = lazy_resolve(lazy, inputs[i]);
        run->inputs[i] = !input ? NULL : input_moves(input, wanted, i) ? lazy_level_input(run->level, input) : lazy_keep(input);
        good = run->inputs[i] != NULL;
    }
    good = good && lazy_function_run(lazy, run->function, run->inputs, run->outputs);
    for (uint32_t i = 0; i < run->function->outputs && good; i++) {
        wg_array *output = lazy_resolve(lazy, run->outputs[i]);
        good = output != NULL;
        if (output && output != run->outputs[i]) {
            lazy_keep(output);
            lazy_release(run->outputs[i]);
            run->outputs[i] = output;
        }
    }
    lazy_level_close(run->level);
    if (!good) end_traced(run);
    return good;
}

static bool moves(const traced_run *run, const wg_array *array)
{
    return array->state == LAZY_CARRIED && array->as.carried.level == run->level;
}

static wg_value value_of(const traced_run *run, const wg_array *array)
{
    return (wg_value){run->level->tape, array->position, run->level->generation};
}

static bool fail_tape(const traced_run *run)
{
    return lazy_fail_with(run->lazy, wg_tape_error(run->level->tape), NULL);
}

/* The array of a value that the derivative recorded, owned. */
static wg_array *array_of(traced_run *run, wg_value value)
{
    lazy_level *level = run->level;
    uint32_t before = level->capacity;
    if (wg_is_poison(value)) return fail_tape(run), NULL;
    if (!BASE_RESERVE(run->lazy->allocator, level->arrays, level->capacity, wg_tape_count(level->tape))) return lazy_fail_memory(run->lazy), NULL;
    if (level->capacity > before) memset(level->arrays + before, 0, (level->capacity - before) * sizeof *level->arrays);
    level->count = wg_tape_count(level->tape);
    if (!lazy_instantiate(run->lazy, (lazy_nodes){.tape = level->tape}, level->arrays, &value.position, 1)) return NULL;
    return lazy_keep(level->arrays[value.position]);
}

/* A source of the level's tape for an array of somewhere else: a seed, a tangent. */
static bool is_like(const traced_run *run, const wg_array *seed, const wg_array *like, const char *what)
{
    if (seed->kind != like->kind || seed->rank != like->rank || memcmp(lazy_shape(seed), lazy_shape(like), like->rank * sizeof(int64_t)))
        return lazy_fail(run->lazy, WG_SHAPE, "%s is %s of %s; it must be like its value, %s of %s", what,
                         BASE_SHAPE_TEXT(seed->rank, lazy_shape(seed)), wg_kind_name((wg_kind)seed->kind),
                         BASE_SHAPE_TEXT(like->rank, lazy_shape(like)), wg_kind_name((wg_kind)like->kind));
    return true;
}

static bool seed_value(traced_run *run, wg_array *seed, const wg_array *like, const char *what, wg_value *value)
{
    if (!is_like(run, seed, like, what)) return false;
    wg_array *plain = lazy_resolve(run->lazy, seed);
    uint32_t position = plain ? lazy_level_position(run->level, plain) : WG_NONE;
    *value = (wg_value){run->level->tape, position, run->level->generation};
    return position != WG_NONE;
}

static wg_array *zeros_like(wg_lazy *lazy, const wg_array *array)
{
    return lazy_full(lazy, (wg_kind)array->kind, array->rank, lazy_shape(array), 0);
}

/* What a value of the level is outside of it, owned. */
static wg_array *primal(const traced_run *run, wg_array *array)
{
    return lazy_keep(lazy_level_inner(run->level, array));
}

static bool give_values(traced_run *run, wg_array **values)
{
    for (uint32_t i = 0; values && i < run->function->outputs; i++) values[i] = primal(run, run->outputs[i]);
    return !values || lazy_give_all(run->lazy, values, run->function->outputs);
}

static void forget(wg_array **arrays, uint32_t count)
{
    for (uint32_t i = 0; arrays && i < count; i++) arrays[i] = NULL;
}

/* ---- reverse mode ---- */

/* The inputs that move, as values of the tape; answers how many. */
static uint32_t moving_inputs(const traced_run *run, wg_value *values)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < run->function->inputs; i++)
        if (moves(run, run->inputs[i])) values[count++] = value_of(run, run->inputs[i]);
    return count;
}

/* Adds the cotangents of one output to gradients [inputs]. */
static bool pull_back(traced_run *run, wg_array *output, wg_array *cotangent, wg_array **gradients)
{
    wg_tape *tape = run->level->tape;
    size_t bytes = (run->function->inputs + 1) * sizeof(wg_value);
    wg_value *wrt = base_allocate(run->lazy->allocator, bytes), seed;
    if (!wrt) return lazy_fail_memory(run->lazy);
    uint32_t count = moving_inputs(run, wrt), at = 0;
    bool good = !cotangent || seed_value(run, cotangent, output, "a cotangent", &seed);
    wg_adjoints *adjoints = !good ? NULL : cotangent ? wg_vjp(tape, value_of(run, output), seed, wrt, count)
                                                     : wg_differentiate(tape, value_of(run, output), wrt, count);
    if (good && !adjoints) good = fail_tape(run);
    for (uint32_t i = 0; i < run->function->inputs && good; i++) {
        if (!moves(run, run->inputs[i])) continue;
        wg_array *gradient = array_of(run, wg_adjoints_gradient(adjoints, at++));
        wg_array *operands[2] = {gradients[i], gradient}, *sum = gradient;
        if (gradients[i]) {
            sum = gradient ? lazy_call(run->lazy, WG_OP_Add, operands, 2, NULL, 0, 0) : NULL;
            lazy_release_all(operands, 2);
        }
        gradients[i] = sum;
        good = sum != NULL;
    }
    wg_adjoints_free(&adjoints);
    base_free(run->lazy->allocator, wrt, bytes);
    return good;
}

/* Inputs that move, but not the outputs, have zeros. */
static bool fill_gradients(traced_run *run, wg_array **gradients)
{
    for (uint32_t i = 0; i < run->function->inputs; i++)
        if (moves(run, run->inputs[i]) && !gradients[i] && !(gradients[i] = zeros_like(run->lazy, run->inputs[i]))) return false;
    return true;
}

static bool reverse(wg_lazy *lazy, const wg_function *function, wg_array *const *inputs, const bool *wanted, wg_array *const *cotangents,
                    bool scalar, wg_array **values, wg_array **gradients)
{
    forget(values, function->outputs);
    forget(gradients, function->inputs);
    traced_run run = {.lazy = lazy, .function = function};
    if (!begin_traced(&run, inputs, wanted)) return false;
    bool good = !scalar || run.outputs[0]->rank == 0 ||
                lazy_fail(lazy, WG_SHAPE, "a gradient is of one number []: the function's first output has shape %s; sum it, or use wg_function_vjp",
                          BASE_SHAPE_TEXT(run.outputs[0]->rank, lazy_shape(run.outputs[0])));
    good = good && (!scalar || base_kind_is_float((wg_kind)run.outputs[0]->kind) ||
                    lazy_fail(lazy, WG_KIND, "a gradient is of a float: the function's first output is of kind %s", wg_kind_name((wg_kind)run.outputs[0]->kind)));
    for (uint32_t i = 0; i < (scalar ? 1 : function->outputs) && good; i++) {
        wg_array *output = run.outputs[i];
        if (!scalar && cotangents[i]) good = is_like(&run, cotangents[i], output, "a cotangent"); /* of one that does not move, too */
        if (good && moves(&run, output) && (scalar || (cotangents && cotangents[i])))
            good = pull_back(&run, output, scalar ? NULL : cotangents[i], gradients);
    }
    good = good && fill_gradients(&run, gradients) && give_values(&run, values);
    if (!good) lazy_release_all(gradients, function->inputs);
    end_traced(&run);
    if (good && lazy_give_all(lazy, gradients, function->inputs)) return true;
    forget(values, function->outputs);
    return false;
}

bool wg_gradient(wg_lazy *lazy, const wg_function *function, wg_array *const *inputs, const bool *wanted, wg_array **values, wg_array **gradients)
{
    return check_function(lazy, function, inputs) && check_all(lazy, inputs, function->inputs, true) && check_given(lazy, gradients, "gradients") &&
           reverse(lazy, function, inputs, wanted, NULL, true, values, gradients);
}

bool wg_function_vjp(wg_lazy *lazy, const wg_function *function, wg_array *const *inputs, wg_array *const *cotangents, wg_array **values,
                     wg_array **gradients)
{
    return check_function(lazy, function, inputs) && check_all(lazy, inputs, function->inputs, true) && check_given(lazy, gradients, "gradients") &&
           check_given(lazy, cotangents, "cotangents") &&
           check_all(lazy, cotangents, function->outputs, false) && reverse(lazy, function, inputs, NULL, cotangents, false, values, gradients);
}

/* ---- forward mode ---- */

static bool tangent_values(traced_run *run, wg_array *const *tangents, wg_value *from, wg_value *by, uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < run->function->inputs; i++) {
        if (tangents[i] && base_kind_is_complex((wg_kind)run->inputs[i]->kind))
            return lazy_fail(run->lazy, WG_UNSUPPORTED, "not supported: complex derivatives; input %u has a tangent", i);
        if (tangents[i] && !is_like(run, tangents[i], run->inputs[i], "a tangent")) return false;
        if (!tangents[i] || !moves(run, run->inputs[i])) continue;
        from[*count] = value_of(run, run->inputs[i]);
        if (!seed_value(run, tangents[i], run->inputs[i], "a tangent", &by[(*count)++])) return false;
    }
    return true;
}

static bool push_forward(traced_run *run, wg_array *const *tangents, wg_array **output_tangents)
{
    size_t bytes = 2 * ((size_t)run->function->inputs + 1) * sizeof(wg_value);
    wg_value *from = base_allocate(run->lazy->allocator, bytes), *by = from + run->function->inputs + 1;
    uint32_t count;
    if (!from) return lazy_fail_memory(run->lazy);
    bool good = tangent_values(run, tangents, from, by, &count);
    for (uint32_t i = 0; i < run->function->outputs && good; i++) {
        wg_array *output = run->outputs[i];
        if (!base_kind_has_nan((wg_kind)output->kind)) continue;
        output_tangents[i] = moves(run, output) && count ? array_of(run, wg_jvp(run->level->tape, value_of(run, output), from, by, count))
                                                         : zeros_like(run->lazy, output);
        good = output_tangents[i] != NULL;
    }
    base_free(run->lazy->allocator, from, bytes);
    return good;
}

bool wg_function_jvp(wg_lazy *lazy, const wg_function *function, wg_array *const *inputs, wg_array *const *tangents, wg_array **values,
                     wg_array **output_tangents)
{
    if (!check_function(lazy, function, inputs) || !check_all(lazy, inputs, function->inputs, true) || !check_given(lazy, tangents, "tangents") ||
        !check_given(lazy, output_tangents, "output tangents") ||
        !check_all(lazy, tangents, function->inputs, false))
        return false;
    forget(values, function->outputs);
    forget(output_tangents, function->outputs);
    traced_run run = {.lazy = lazy, .function = function};
    if (!begin_traced(&run, inputs, NULL)) return false;
    bool good = push_forward(&run, tangents, output_tangents) && give_values(&run, values);
    if (!good) lazy_release_all(output_tangents, function->outputs);
    end_traced(&run);
    if (good && lazy_give_all(lazy, output_tangents, function->outputs)) return true;
    forget(values, function->outputs);
    return false;
}

/* ---- functions made of functions ---- */

typedef struct gradient_function {
    const wg_function *function;
    const bool *wanted;
} gradient_function;

/* The gradients of a function as a function: only inputs that move have one, the others answer themselves. */
static bool call_gradient(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    const gradient_function *gradient = user;
    if (!wg_gradient(lazy, gradient->function, inputs, gradient->wanted, NULL, outputs)) return false;
    for (uint32_t i = 0; i < gradient->function->inputs; i++)
        if (!outputs[i]) outputs[i] = inputs[i];
    return true;
}

bool wg_function_hessian_vector(wg_lazy *lazy, const wg_function *function, wg_array *const *inputs, wg_array *const *vectors, wg_array **products)
{
    if (!check_function(lazy, function, inputs)) return false;
    gradient_function gradient = {function, NULL};
    wg_function gradients = {call_gradient, &gradient, function->inputs, function->inputs};
    return wg_function_jvp(lazy, &gradients, inputs, vectors, NULL, products);
}

/* ---- Jacobians that wait ---- */

typedef struct jacobian {
    lazy_deferred head;
    lazy_level *level; /* a reference: tape and arrays of the traced run */
    uint32_t output, input; /* positions of the tape */
    uint32_t output_rank, input_rank;
    int64_t output_shape[WG_MAX_RANK], input_shape[WG_MAX_RANK];
    wg_kind kind;
} jacobian;

static traced_run run_of(const jacobian *j)
{
    return (traced_run){.lazy = j->level->lazy, .level = j->level};
}

static wg_value at(const jacobian *j, uint32_t position)
{
    return (wg_value){j->level->tape, position, j->level->generation};
}

static wg_array *reshaped(wg_lazy *lazy, wg_array *array, uint32_t rank, const int64_t *shape)
{
    if (!array || (array->rank == rank && !memcmp(lazy_shape(array), shape, rank * sizeof *shape))) return array;
    int64_t attributes[1 + WG_MAX_RANK] = {rank};
    memcpy(attributes + 1, shape, rank * sizeof *shape);
    wg_array *result = lazy_call(lazy, WG_OP_Reshape, &array, 1, attributes, 1 + rank, 0);
    lazy_release(array);
    return result;
}

static wg_array *expand_jacobian(wg_lazy *lazy, lazy_deferred *deferred)
{
    jacobian *j = (jacobian *)deferred;
    traced_run run = run_of(j);
    wg_array *matrix = array_of(&run, wg_jacobian(j->level->tape, at(j, j->output), at(j, j->input)));
    int64_t shape[2 * WG_MAX_RANK];
    memcpy(shape, j->output_shape, j->output_rank * sizeof *shape);
    memcpy(shape + j->output_rank, j->input_shape, j->input_rank * sizeof *shape);
    return reshaped(lazy, matrix, j->output_rank + j->input_rank, shape);
}

/* J [m, n] times one column [n, 1] is a forward product, one row [1, m] times J a reverse one. */
static wg_array *jacobian_product(wg_lazy *lazy, lazy_deferred *deferred, wg_array *other, bool left)
{
    jacobian *j = (jacobian *)deferred;
    if (j->output_rank != 1 || j->input_rank != 1 || other->rank != 2 || other->kind != (uint8_t)j->kind) return NULL;
    const int64_t *shape = lazy_shape(other);
    int64_t extent = left ? j->output_shape[0] : j->input_shape[0];
    if (shape[left ? 0 : 1] != 1 || shape[left ? 1 : 0] != extent) return NULL;
    traced_run run = run_of(j);
    wg_array *flat = reshaped(lazy, lazy_keep(other), 1, &extent), *product = NULL;
    wg_value seed;
    wg_array *like = j->level->arrays[left ? j->output : j->input];
    if (flat && seed_value(&run, flat, like, "a vector", &seed)) {
        if (left) {
            wg_value wrt = at(j, j->input);
            wg_adjoints *adjoints = wg_vjp(j->level->tape, at(j, j->output), seed, &wrt, 1);
            product = adjoints ? array_of(&run, wg_adjoints_gradient(adjoints, 0)) : NULL;
            if (!adjoints) fail_tape(&run);
            wg_adjoints_free(&adjoints);
        } else {
            wg_value from = at(j, j->input);
            product = array_of(&run, wg_jvp(j->level->tape, at(j, j->output), &from, &seed, 1));
        }
    }
    lazy_release(flat);
    int64_t result[2] = {left ? 1 : j->output_shape[0], left ? j->input_shape[0] : 1};
    return reshaped(lazy, product, 2, result);
}

static void drop_jacobian(lazy_deferred *deferred)
{
    jacobian *j = (jacobian *)deferred;
    wg_lazy *lazy = j->level->lazy;
    lazy_level_release(j->level);
    base_free(lazy->allocator, j, sizeof *j);
}

wg_array *lazy_expand(wg_lazy *lazy, wg_array *array)
{
    if (array->submitted) lazy_join(lazy);
    if (array->state != LAZY_DEFERRED) return array;
    lazy_deferred *deferred = array->as.later.deferred;
    if (!deferred->expanded) {
        wg_array *expanded = deferred->expand(lazy, deferred);
        if (!expanded) return NULL;
        lazy_use(expanded);
        lazy_release(expanded);
        deferred->expanded = expanded;
    }
    return deferred->expanded;
}

static wg_array *deferred_jacobian(traced_run *run, wg_array *output, wg_array *input)
{
    wg_lazy *lazy = run->lazy;
    jacobian *j = base_allocate_zeroed(lazy->allocator, sizeof *j);
    wg_array *array = j ? lazy_node_new(lazy, LAZY_DEFERRED, (uint32_t)output->rank + input->rank, 0, 0) : NULL;
    if (!array) {
        base_free(lazy->allocator, j, sizeof *j);
        return lazy_fail_memory(lazy), NULL;
    }
    *j = (jacobian){.head = {.expand = expand_jacobian, .product = jacobian_product, .drop = drop_jacobian},
                    .level = run->level,
                    .output = output->position,
                    .input = input->position,
                    .output_rank = output->rank,
                    .input_rank = input->rank,
                    .kind = (wg_kind)input->kind};
    run->level->references++;
    memcpy(j->output_shape, lazy_shape(output), output->rank * sizeof(int64_t));
    memcpy(j->input_shape, lazy_shape(input), input->rank * sizeof(int64_t));
    memcpy(lazy_shape(array), j->output_shape, output->rank * sizeof(int64_t));
    memcpy(lazy_shape(array) + output->rank, j->input_shape, input->rank * sizeof(int64_t));
    array->kind = input->kind;
    array->volume = output->volume * input->volume;
    array->as.later.deferred = &j->head;
    return array;
}

/* No derivative level outside sees a jacobian that waits: where one is open it is made at once, so that it moves. */
static wg_array *jacobian_of(traced_run *run, wg_array *output, wg_array *input)
{
    wg_lazy *lazy = run->lazy;
    if ((uint32_t)output->rank + input->rank > WG_MAX_RANK)
        return lazy_fail(lazy, WG_SHAPE, "a Jacobian of rank %u is above %d", (uint32_t)output->rank + input->rank, WG_MAX_RANK), NULL;
    if (moves(run, output)) {
        wg_array *array = deferred_jacobian(run, output, input);
        if (!array || !lazy->levels) return array;
        wg_array *expanded = lazy_expand(lazy, array);
        if (expanded) lazy_keep(expanded);
        lazy_release(array);
        return expanded;
    }
    int64_t shape[2 * WG_MAX_RANK];
    memcpy(shape, lazy_shape(output), output->rank * sizeof *shape);
    memcpy(shape + output->rank, lazy_shape(input), input->rank * sizeof *shape);
    return lazy_full(lazy, (wg_kind)input->kind, (uint32_t)output->rank + input->rank, shape, 0);
}

wg_array *wg_function_jacobian(wg_lazy *lazy, const wg_function *function, wg_array *const *inputs, uint32_t output, uint32_t input)
{
    if (!check_function(lazy, function, inputs) || !check_all(lazy, inputs, function->inputs, true)) return NULL;
    if (output >= function->outputs || input >= function->inputs)
        return lazy_fail(lazy, WG_ARGUMENT, "there is no Jacobian of output %u by input %u: counted from 0, the function has %u outputs and %u inputs",
                         output, input, function->outputs, function->inputs), NULL;
    bool few[16] = {false}, *wanted = few;
    if (function->inputs > 16 && !(wanted = base_allocate_zeroed(lazy->allocator, function->inputs))) return lazy_fail_memory(lazy), NULL;
    wanted[input] = true;
    traced_run run = {.lazy = lazy, .function = function};
    wg_array *array = NULL;
    if (begin_traced(&run, inputs, wanted)) {
        bool floats = moves(&run, run.inputs[input]) && base_kind_is_float((wg_kind)run.outputs[output]->kind);
        if (floats) array = jacobian_of(&run, run.outputs[output], run.inputs[input]);
        else lazy_fail(lazy, WG_KIND, "a Jacobian is of a float by a float, not of %s by %s; convert them inside the function",
                       wg_kind_name((wg_kind)run.outputs[output]->kind), wg_kind_name((wg_kind)run.inputs[input]->kind));
        end_traced(&run);
    }
    if (wanted != few) base_free(lazy->allocator, wanted, function->inputs);
    return lazy_give(lazy, array);
}

bool wg_function_jacobians(wg_lazy *lazy, const wg_function *function, wg_array *const *inputs, uint32_t output, wg_array **jacobians)
{
    if (!check_function(lazy, function, inputs) || !check_all(lazy, inputs, function->inputs, true) || !check_given(lazy, jacobians, "Jacobians"))
        return false;
    if (output >= function->outputs)
        return lazy_fail(lazy, WG_ARGUMENT, "there is no output %u: counted from 0, the function has %u outputs", output, function->outputs);
    forget(jacobians, function->inputs);
    traced_run run = {.lazy = lazy, .function = function};
    if (!begin_traced(&run, inputs, NULL)) return false;
    wg_array *of = run.outputs[output];
    bool number = of->rank == 0, good = base_kind_is_float((wg_kind)of->kind) ||
        lazy_fail(lazy, WG_KIND, "Jacobians are of a float, not of %s; convert it inside the function", wg_kind_name((wg_kind)of->kind));
    if (good && number && moves(&run, of)) good = pull_back(&run, of, NULL, jacobians);
    for (uint32_t i = 0; i < function->inputs && good; i++) {
        if (number || !moves(&run, run.inputs[i])) continue;
        good = (jacobians[i] = jacobian_of(&run, of, run.inputs[i])) != NULL;
    }
    good = good && (!number || fill_gradients(&run, jacobians));
    if (!good) lazy_release_all(jacobians, function->inputs);
    end_traced(&run);
    return good && lazy_give_all(lazy, jacobians, function->inputs);
}

wg_array *wg_function_hessian(wg_lazy *lazy, const wg_function *function, wg_array *const *inputs, uint32_t input)
{
    if (!check_function(lazy, function, inputs)) return NULL;
    gradient_function gradient = {function, NULL};
    wg_function gradients = {call_gradient, &gradient, function->inputs, function->inputs};
    return wg_function_jacobian(lazy, &gradients, inputs, input, input);
}
