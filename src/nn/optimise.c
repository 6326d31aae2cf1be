/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Optimisers. A step is elementwise in the parameters' own kind, with coefficients computed in f64 and rounded once, so its bits depend on nothing but the gradients, the state and
 * the step count. The state is tensors, so a checkpoint holds it as it is. */
#include <stdio.h>
#include <string.h>

#include "nn/nn.h"

/* Moments of one parameter, NULL where the method has none; SGD's velocity is the first. Their items stand beside them: a step over many small parameters lives on what it need not
 * look up. */
typedef struct moments {
    wg_tensor *first, *second;
    void *first_items, *second_items;
} moments;

struct wg_optimiser {
    wg_context *context;
    wg_optimiser_options options;
    uint64_t steps;
    uint32_t count;
    wg_symbol *symbols;
    moments *state; /* [count] */
};

static void *zeroed(const wg_optimiser *optimiser, size_t bytes)
{
    return wg_allocate(optimiser->context, bytes ? bytes : 1);
}

void wg_optimiser_free(wg_optimiser **handle)
{
    if (!handle || !*handle) return;
    wg_optimiser *o = *handle;
    size_t state = o->count * sizeof *o->state, symbols = o->count * sizeof *o->symbols;
    for (uint32_t i = 0; o->state && i < o->count; i++) {
        wg_tensor_release(o->state[i].first);
        wg_tensor_release(o->state[i].second);
    }
    wg_deallocate(o->context, o->state, state ? state : 1);
    wg_deallocate(o->context, o->symbols, symbols ? symbols : 1);
    wg_deallocate(o->context, o, sizeof *o);
    *handle = NULL;
}

static bool check_options(const wg_optimiser_options *options, wg_error *error)
{
    if (!options || options->size != sizeof *options) return nn_fail(error, WG_ARGUMENT, "wg_optimiser_options.size is not this version's");
    if (options->method > WG_OPTIMISER_ADAMW || options->schedule > WG_SCHEDULE_STEP) return nn_fail(error, WG_ARGUMENT, "no such optimiser or schedule");
    const double positive[] = {options->rate, options->momentum, options->beta1, options->beta2, options->epsilon, options->weight_decay, options->clip, options->final_rate};
    for (size_t i = 0; i < sizeof positive / sizeof *positive; i++)
        if (!(positive[i] >= 0 && positive[i] < 1e300)) return nn_fail(error, WG_ARGUMENT, "rates and coefficients of an optimiser are finite and not negative");
    if (options->beta1 >= 1 || options->beta2 >= 1 || options->momentum >= 1) return nn_fail(error, WG_ARGUMENT, "momentum, beta1 and beta2 are below 1");
    if (options->schedule != WG_SCHEDULE_CONSTANT && options->total <= options->warmup)
        return nn_fail(error, WG_ARGUMENT, "a schedule that falls needs a total of steps greater than its warmup");
    return true;
}

static void fill_defaults(wg_optimiser_options *options)
{
    bool adam = options->method != WG_OPTIMISER_SGD;
    if (options->rate == 0) options->rate = adam ? 1e-3 : 1e-2;
    if (options->beta1 == 0) options->beta1 = 0.9;
    if (options->beta2 == 0) options->beta2 = 0.999;
    if (options->epsilon == 0) options->epsilon = 1e-8;
}

static wg_tensor *zeros_like(const wg_optimiser *o, const wg_tensor *payload, wg_error *error)
{
    return wg_tensor_new(o->context, wg_tensor_kind(payload), wg_tensor_rank(payload), wg_tensor_shape(payload), NULL, error);
}

static bool begin_moment(const wg_optimiser *o, const wg_tensor *payload, wg_tensor **moment, void **items, wg_error *error)
{
    *moment = zeros_like(o, payload, error);
    *items = *moment ? wg_tensor_data(*moment) : NULL;
    return *moment != NULL;
}

static bool allocate_state(wg_optimiser *o, const wg_parameters *parameters, wg_error *error)
{
    o->symbols = zeroed(o, o->count * sizeof *o->symbols);
    o->state = zeroed(o, o->count * sizeof *o->state);
    if (!o->symbols || !o->state) return nn_fail(error, WG_MEMORY, "out of memory");
    bool adam = o->options.method != WG_OPTIMISER_SGD, momentum = adam || o->options.momentum > 0;
    for (uint32_t i = 0; i < o->count; i++) {
        o->symbols[i] = wg_parameters_symbol(parameters, i);
        const wg_tensor *payload = wg_parameters_of(parameters, o->symbols[i], error);
        if (!payload) return false;
        wg_kind kind = wg_tensor_kind(payload);
        if (kind != WG_KIND_F32 && kind != WG_KIND_F64) continue; /* not trainable: a step that names it says so */
        moments *at = &o->state[i];
        if (momentum && !begin_moment(o, payload, &at->first, &at->first_items, error)) return false;
        if (adam && !begin_moment(o, payload, &at->second, &at->second_items, error)) return false;
    }
    return true;
}

wg_optimiser *wg_optimiser_new(const wg_parameters *parameters, const wg_optimiser_options *options, wg_error *error)
{
    if (!parameters) return nn_fail(error, WG_ARGUMENT, "an optimiser needs a parameter table"), NULL;
    if (!check_options(options, error)) return NULL;
    wg_context *context = wg_parameters_context(parameters);
    wg_optimiser *o = wg_allocate(context, sizeof *o);
    if (!o) return nn_fail(error, WG_MEMORY, "out of memory"), NULL;
    o->context = context;
    o->options = *options;
    fill_defaults(&o->options);
    o->count = wg_parameters_count(parameters);
    if (!allocate_state(o, parameters, error)) wg_optimiser_free(&o);
    return o;
}

uint64_t wg_optimiser_steps(const wg_optimiser *optimiser)
{
    return optimiser ? optimiser->steps : 0;
}

/* cos of a double by the library's own formula. */
static double cosine(const wg_optimiser *o, double angle)
{
    wg_tensor *x = wg_tensor_fill(o->context, WG_KIND_F64, 0, NULL, angle, NULL), *y = NULL;
    if (x) y = wg_op_run(o->context, WG_OP_Cos, (const wg_tensor *const[]){x}, 1, NULL, 0, NULL);
    double result = y ? *(double *)wg_tensor_data(y) : 1;
    wg_tensor_release(x);
    wg_tensor_release(y);
    return result;
}

double wg_optimiser_rate(const wg_optimiser *o)
{
    if (!o) return 0;
    const wg_optimiser_options *options = &o->options;
    double step = (double)(o->steps + 1), warmup = (double)options->warmup;
    if (o->steps < options->warmup) return options->rate * (step / warmup);
    if (options->schedule == WG_SCHEDULE_CONSTANT) return options->rate;
    double share = ((double)o->steps - warmup) / ((double)options->total - warmup), range = options->rate - options->final_rate;
    if (share >= 1) return options->final_rate;
    switch (options->schedule) {
    case WG_SCHEDULE_LINEAR: return options->rate - range * share;
    case WG_SCHEDULE_COSINE: return options->final_rate + range * 0.5 * (1 + cosine(o, 3.14159265358979323846 * share));
    case WG_SCHEDULE_STEP: return share < 0.5 ? options->rate : share < 0.75 ? options->rate - 0.9 * range : options->rate - 0.99 * range;
    case WG_SCHEDULE_CONSTANT: break;
    }
    return options->rate;
}

/* ---- one step ---- */

typedef struct step {
    double rate, scale, decay, decoupled; /* scale: of the gradient, by clipping */
    double beta1, beta2, correction1, correction2, epsilon, momentum;
} step;

#define STEP(T, SQRT)                                                                                                                      \
    static void sgd_##T(const step *s, int64_t n, T *p, const T *g, T *velocity)                                                           \
    {                                                                                                                                      \
        T rate = (T)s->rate, scale = (T)s->scale, decay = (T)s->decay, momentum = (T)s->momentum;                                          \
        for (int64_t i = 0; i < n; i++) {                                                                                                  \
            T d = g[i] * scale + decay * p[i];                                                                                             \
            if (velocity) d = velocity[i] = momentum * velocity[i] + d;                                                                    \
            p[i] -= rate * d;                                                                                                              \
        }                                                                                                                                  \
    }                                                                                                                                      \
    static void adam_##T(const step *s, int64_t n, T *restrict p, const T *restrict g, T *restrict m, T *restrict v)                       \
    {                                                                                                                                      \
        T rate = (T)s->rate, scale = (T)s->scale, decay = (T)s->decay, decoupled = (T)s->decoupled, beta1 = (T)s->beta1,                   \
          beta2 = (T)s->beta2, rest1 = (T)(1 - s->beta1), rest2 = (T)(1 - s->beta2), c1 = (T)s->correction1, c2 = (T)s->correction2,        \
          epsilon = (T)s->epsilon;                                                                                                         \
        for (int64_t i = 0; i < n; i++) {                                                                                                  \
            T d = g[i] * scale + decay * p[i];                                                                                             \
            m[i] = beta1 * m[i] + rest1 * d;                                                                                               \
            v[i] = beta2 * v[i] + rest2 * (d * d);                                                                                         \
            p[i] = p[i] - decoupled * p[i] - rate * ((m[i] / c1) / (SQRT(v[i] / c2) + epsilon));                                           \
        }                                                                                                                                  \
    }

STEP(float, __builtin_sqrtf)
STEP(double, __builtin_sqrt)

static double power(double base, uint64_t exponent)
{
    double result = 1;
    for (; exponent; exponent >>= 1, base *= base)
        if (exponent & 1) result *= base;
    return result;
}

/* Positions ascend, as in the table that the symbols came from. */
/* Symbols come in the table's order nearly always: `guess` is looked at first. */
static uint32_t index_of(const wg_optimiser *o, wg_symbol symbol, uint32_t guess)
{
    uint32_t low = 0, high = o->count;
    if (guess < high && o->symbols[guess].position == symbol.position && o->symbols[guess].family == symbol.family) return guess;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (o->symbols[middle].position < symbol.position) low = middle + 1;
        else high = middle;
    }
    bool found = low < o->count && o->symbols[low].position == symbol.position && o->symbols[low].family == symbol.family;
    return found ? low : WG_NONE;
}

/* Answers the place of the parameter in `at`, which comes in as a guess. */
static bool check_gradient(const wg_optimiser *o, const wg_parameters *parameters, wg_symbol symbol, const wg_view *gradient, uint32_t *at, wg_error *error)
{
    *at = index_of(o, symbol, *at);
    if (*at == WG_NONE) return nn_fail(error, WG_PARAMETERS, "node %u is no parameter of this optimiser's table", symbol.position);
    const wg_tensor *payload = wg_parameters_of(parameters, symbol, error);
    if (!payload) return false;
    wg_kind kind = wg_tensor_kind(payload);
    if (kind != WG_KIND_F32 && kind != WG_KIND_F64) return nn_fail(error, WG_KIND, "an optimiser steps parameters of kind f32 or f64, not %s", wg_kind_name(kind));
    bool fits = gradient->kind == kind && gradient->rank == wg_tensor_rank(payload) && !gradient->strides &&
                (gradient->data || !wg_tensor_volume(payload)) && (gradient->shape || !gradient->rank);
    for (uint32_t axis = 0; fits && axis < gradient->rank; axis++) fits = gradient->shape[axis] == wg_tensor_shape(payload)[axis];
    return fits || nn_fail(error, WG_SHAPE, "the gradient of parameter node %u is not contiguous, or of another kind or shape", symbol.position);
}

/* The global norm of the gradients, summed in f64 in order. */
static double norm(const wg_view *gradients, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        int64_t volume = 1;
        for (uint32_t axis = 0; axis < gradients[i].rank; axis++) volume *= gradients[i].shape[axis];
        for (int64_t j = 0; j < volume; j++) {
            double g = gradients[i].kind == WG_KIND_F32 ? (double)((const float *)gradients[i].data)[j] : ((const double *)gradients[i].data)[j];
            sum += g * g;
        }
    }
    return __builtin_sqrt(sum);
}

static step prepare(const wg_optimiser *o, const wg_view *gradients, uint32_t count)
{
    const wg_optimiser_options *options = &o->options;
    step s = {.rate = wg_optimiser_rate(o), .scale = 1, .beta1 = options->beta1, .beta2 = options->beta2, .epsilon = options->epsilon, .momentum = options->momentum};
    if (options->clip > 0) {
        double length = norm(gradients, count);
        if (length > options->clip) s.scale = options->clip / length;
    }
    if (options->method == WG_OPTIMISER_ADAMW) s.decoupled = s.rate * options->weight_decay;
    else s.decay = options->weight_decay;
    s.correction1 = 1 - power(options->beta1, o->steps + 1);
    s.correction2 = 1 - power(options->beta2, o->steps + 1);
    return s;
}

typedef struct stepping {
    const step *s;
    const wg_optimiser *o;
    const wg_view *gradients;
    uint32_t *which; /* [count of the table] the gradient of a parameter + 1; 0: none */
    uint32_t next;   /* where the next parameter is looked for first */
} stepping;

static bool step_payload(void *user, wg_symbol symbol, wg_tensor *payload, const wg_tensor *other)
{
    (void)other;
    stepping *st = user;
    uint32_t at = index_of(st->o, symbol, st->next);
    if (at == WG_NONE) return true;
    st->next = at + 1;
    if (!st->which[at]) return true;
    void *p = wg_tensor_data(payload), *g = st->gradients[st->which[at] - 1].data;
    void *m = st->o->state[at].first_items, *v = st->o->state[at].second_items;
    bool adam = st->o->options.method != WG_OPTIMISER_SGD, single = wg_tensor_kind(payload) == WG_KIND_F32;
    int64_t n = wg_tensor_volume(payload);
    if (adam && single) adam_float(st->s, n, p, g, m, v);
    else if (adam) adam_double(st->s, n, p, g, m, v);
    else if (single) sgd_float(st->s, n, p, g, m);
    else sgd_double(st->s, n, p, g, m);
    return true;
}

bool wg_optimiser_step(wg_optimiser *optimiser, wg_parameters *parameters, const wg_symbol *wrt, const wg_view *gradients, uint32_t count, wg_error *error)
{
    if (!optimiser || !parameters) return nn_fail(error, WG_ARGUMENT, "a step needs an optimiser and a parameter table");
    if (count && (!wrt || !gradients)) return nn_fail(error, WG_ARGUMENT, "%u gradients at NULL, or their symbols", count);
    size_t bytes = (optimiser->count + 1) * sizeof(uint32_t);
    uint32_t *which = zeroed(optimiser, bytes);
    bool good = which || nn_fail(error, WG_MEMORY, "out of memory");
    for (uint32_t i = 0, at = 0; good && i < count; i++, at++) {
        good = check_gradient(optimiser, parameters, wrt[i], &gradients[i], &at, error);
        if (good && !which[at]) which[at] = i + 1; /* of a parameter named twice the first counts */
    }
    step s = good ? prepare(optimiser, gradients, count) : (step){0};
    stepping st = {.s = &s, .o = optimiser, .gradients = gradients, .which = which};
    good = good && wg_parameters_step(parameters, step_payload, &st, error);
    wg_deallocate(optimiser->context, which, bytes);
    if (good) optimiser->steps++;
    return good;
}

/* ---- state in a bundle: optimiser.options f64, optimiser.steps u64, optimiser.first.NAME, optimiser.second.NAME ---- */

#define OPTION_COUNT 13

static void options_to_items(const wg_optimiser_options *o, double items[OPTION_COUNT])
{
    const double values[OPTION_COUNT] = {o->method,       o->rate, o->momentum, o->beta1,          o->beta2,         o->epsilon, o->weight_decay,
                                         o->clip, o->schedule, (double)o->warmup, (double)o->total, o->final_rate, 0};
    memcpy(items, values, sizeof values);
}

static wg_optimiser_options options_of_items(const double *v)
{
    return (wg_optimiser_options){.size = sizeof(wg_optimiser_options), .method = (wg_optimiser_method)(int)v[0], .rate = v[1], .momentum = v[2], .beta1 = v[3], .beta2 = v[4], .epsilon = v[5],
                                  .weight_decay = v[6], .clip = v[7], .schedule = (wg_schedule)(int)v[8], .warmup = (uint64_t)v[9], .total = (uint64_t)v[10], .final_rate = v[11]};
}

static bool put_moment(wg_bundle *bundle, const char *which, const char *name, wg_tensor *moment, wg_error *error)
{
    char key[320];
    snprintf(key, sizeof key, "optimiser.%s.%s", which, name);
    return !moment || wg_bundle_put(bundle, key, wg_tensor_retain(moment), error);
}

bool nn_optimiser_put(const wg_optimiser *o, const wg_network *network, wg_bundle *bundle, wg_error *error)
{
    double items[OPTION_COUNT];
    options_to_items(&o->options, items);
    wg_tensor *options = wg_tensor_new(o->context, WG_KIND_F64, 1, (int64_t[]){OPTION_COUNT}, items, error);
    wg_tensor *steps = wg_tensor_new(o->context, WG_KIND_U64, 0, NULL, &o->steps, error);
    if (!options || !steps) {
        wg_tensor_release(options);
        wg_tensor_release(steps);
        return false;
    }
    bool good = wg_bundle_put(bundle, "optimiser.options", options, error);
    good = wg_bundle_put(bundle, "optimiser.steps", steps, error) && good;
    for (uint32_t i = 0; good && i < o->count; i++) {
        char text[24];
        const char *name = nn_payload_name(network, o->symbols[i], text);
        good = put_moment(bundle, "first", name, o->state[i].first, error) && put_moment(bundle, "second", name, o->state[i].second, error);
    }
    return good;
}

static bool get_moment(const wg_bundle *bundle, const char *which, const char *name, wg_tensor *moment, wg_error *error)
{
    if (!moment) return true;
    char key[320];
    snprintf(key, sizeof key, "optimiser.%s.%s", which, name);
    const wg_tensor *saved = wg_bundle_get(bundle, key);
    bool fits = saved && wg_tensor_kind(saved) == wg_tensor_kind(moment) && wg_tensor_rank(saved) == wg_tensor_rank(moment) &&
                !memcmp(wg_tensor_shape(saved), wg_tensor_shape(moment), wg_tensor_rank(moment) * sizeof(int64_t));
    if (!fits) return nn_fail(error, WG_FORMAT, "the optimiser's state %s is missing, or of another kind or shape", key);
    memcpy(wg_tensor_data(moment), wg_tensor_data(saved), (size_t)wg_tensor_volume(moment) * wg_kind_bytes(wg_tensor_kind(moment)));
    return true;
}

wg_optimiser *nn_optimiser_get(const wg_parameters *parameters, const wg_network *network, const wg_bundle *bundle, wg_error *error)
{
    const wg_tensor *options = wg_bundle_get(bundle, "optimiser.options"), *steps = wg_bundle_get(bundle, "optimiser.steps");
    if (!options && !steps) return NULL;
    if (!options || !steps || wg_tensor_kind(options) != WG_KIND_F64 || wg_tensor_volume(options) != OPTION_COUNT || wg_tensor_kind(steps) != WG_KIND_U64 ||
        wg_tensor_volume(steps) != 1)
        return nn_fail(error, WG_FORMAT, "the optimiser's state is incomplete"), NULL;
    const double *v = wg_tensor_data(options);
    for (int i = 0; i < OPTION_COUNT; i++)
        if (!(v[i] >= 0 && v[i] < 1e18)) return nn_fail(error, WG_FORMAT, "the optimiser's options are out of range"), NULL;
    wg_optimiser_options read = options_of_items(v);
    wg_optimiser *o = wg_optimiser_new(parameters, &read, error);
    bool good = o != NULL;
    if (o) o->steps = *(const uint64_t *)wg_tensor_data(steps);
    for (uint32_t i = 0; good && i < o->count; i++) {
        char text[24];
        const char *name = nn_payload_name(network, o->symbols[i], text);
        good = get_moment(bundle, "first", name, o->state[i].first, error) && get_moment(bundle, "second", name, o->state[i].second, error);
    }
    if (!good) wg_optimiser_free(&o);
    return o;
}
