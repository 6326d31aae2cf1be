/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The compositions of compose.h as calls on arrays: each is recorded once on a tape of its own and comes back as rows. */
#include "lazy/array_call.h"

/* What a recorder needs beside values. */
typedef struct composition {
    wg_value (*unary)(wg_value a);
    wg_value (*along)(wg_value a, uint32_t axis);
    wg_value (*with_number)(wg_value a, double number);
    uint32_t axis;
    double number;
    int64_t whole; /* groups of channels, a power */
    const wg_window *window;
    bool has; /* the optional operand */
} composition;

static wg_array *compose(wg_recorder record, composition *how, wg_array *const *operands, uint32_t count)
{
    wg_lazy *lazy = NULL;
    for (uint32_t i = 0; i < count && !lazy; i++) lazy = operands[i] ? operands[i]->lazy : NULL;
    wg_array *result;
    return lazy && wg_array_compose(lazy, record, how, operands, count, &result, 1) ? result : NULL;
}

#define COMPOSE(record, how, ...) \
    compose((record), (how), (wg_array *[]){__VA_ARGS__}, sizeof((wg_array *[]){__VA_ARGS__}) / sizeof(wg_array *))
/* A recorder that answers one value. */
#define RECORDER(name, expression)                                                                       \
    static bool record_##name(void *user, wg_tape *tape, const wg_value *operands, wg_value *results)    \
    {                                                                                                    \
        const composition *how = user;                                                                   \
        (void)tape, (void)how;                                                                           \
        results[0] = (expression);                                                                       \
        return !wg_is_poison(results[0]);                                                                \
    }

RECORDER(unary, how->unary(operands[0]))
RECORDER(along, how->along(operands[0], how->axis))
RECORDER(with_number, how->with_number(operands[0], how->number))

#define COMPOSED(name, doc)                                          \
    wg_array *wg_array_##name(wg_array *a)                           \
    {                                                                \
        return COMPOSE(record_unary, (&(composition){.unary = wg_##name}), a); \
    }
#include "wengert/arrays.def"

wg_array *wg_array_leaky_relu(wg_array *a, double slope)
{
    return COMPOSE(record_with_number, (&(composition){.with_number = wg_leaky_relu, .number = slope}), a);
}

wg_array *wg_array_elu(wg_array *a, double alpha)
{
    return COMPOSE(record_with_number, (&(composition){.with_number = wg_elu, .number = alpha}), a);
}

wg_array *wg_array_softmax(wg_array *a, int32_t axis)
{
    composition how = {.along = wg_softmax};
    if (!a || !lazy_check(a->lazy, a) || !lazy_axis(a, axis, "softmax", &how.axis)) return NULL;
    return COMPOSE(record_along, &how, a);
}

wg_array *wg_array_log_softmax(wg_array *a, int32_t axis)
{
    uint32_t place;
    if (!a || !lazy_check(a->lazy, a) || !lazy_axis(a, axis, "log_softmax", &place)) return NULL;
    return LAZY_ROW(LogSoftmax, a, place);
}

/* ---- norms ---- */

RECORDER(layer_norm, wg_layer_norm(operands[0], operands[1], operands[2], how->number))
RECORDER(rms_norm, wg_rms_norm(operands[0], operands[1], how->number))
RECORDER(batch_norm_inference, wg_batch_norm_inference(operands[0], operands[1], operands[2], operands[3], operands[4], how->number))

wg_array *wg_array_layer_norm(wg_array *x, wg_array *scale, wg_array *shift, double epsilon)
{
    return COMPOSE(record_layer_norm, (&(composition){.number = epsilon}), x, scale, shift);
}

wg_array *wg_array_rms_norm(wg_array *x, wg_array *scale, double epsilon)
{
    return COMPOSE(record_rms_norm, (&(composition){.number = epsilon}), x, scale);
}

wg_array *wg_array_batch_norm_inference(wg_array *x, wg_array *mean, wg_array *variance, wg_array *scale, wg_array *shift, double epsilon)
{
    return COMPOSE(record_batch_norm_inference, (&(composition){.number = epsilon}), x, mean, variance, scale, shift);
}

static bool record_batch_norm(void *user, wg_tape *tape, const wg_value *operands, wg_value *results)
{
    const composition *how = user;
    (void)tape;
    results[0] = wg_batch_norm(operands[0], operands[1], operands[2], how->number, &results[1], &results[2]);
    return !wg_is_poison(results[0]);
}

wg_array *wg_array_batch_norm(wg_array *x, wg_array *scale, wg_array *shift, double epsilon, wg_array **mean, wg_array **variance)
{
    if (mean) *mean = NULL;
    if (variance) *variance = NULL;
    wg_lazy *lazy = LAZY_BEGIN(x, scale, shift);
    if (!lazy) return NULL;
    composition how = {.number = epsilon};
    wg_array *operands[3] = {x, scale, shift}, *results[3] = {NULL, NULL, NULL};
    wg_array_compose(lazy, record_batch_norm, &how, operands, 3, results, 3);
    uint32_t wanted = 1;
    wg_array *given[3] = {results[0]};
    if (mean) given[wanted++] = results[1];
    if (variance) given[wanted++] = results[2];
    if (!lazy_end_all(lazy, given, wanted)) return NULL;
    if (variance) *variance = given[--wanted];
    if (mean) *mean = given[1];
    return given[0];
}

/* ---- matrices ---- */

RECORDER(matrix_power, wg_matrix_power(operands[0], how->whole))

wg_array *wg_array_matrix_power(wg_array *a, int64_t power)
{
    return COMPOSE(record_matrix_power, (&(composition){.whole = power}), a);
}

/* ---- windows ---- */

RECORDER(conv2d, wg_conv2d_general(operands[0], operands[1], how->has ? operands[2] : WG_ABSENT, how->window, how->whole))
RECORDER(max_pool, wg_max_pool_general(operands[0], how->window))
RECORDER(avg_pool, wg_avg_pool_general(operands[0], how->window))

static bool needs_window(const wg_array *a, const wg_window *window, const char *call)
{
    return a && (window || lazy_fail(a->lazy, WG_ARGUMENT, "%s needs a window", call));
}

wg_array *wg_array_conv2d(wg_array *x, wg_array *filters, wg_array *bias, const wg_window *window, int64_t groups)
{
    if (!needs_window(x, window, "conv2d")) return NULL;
    if (!lazy_optional(x->lazy, &bias)) return NULL;
    composition how = {.window = window, .whole = groups, .has = bias != NULL};
    return compose(record_conv2d, &how, (wg_array *[]){x, filters, bias}, how.has ? 3 : 2);
}

wg_array *wg_array_max_pool(wg_array *x, const wg_window *window)
{
    return needs_window(x, window, "max_pool") ? COMPOSE(record_max_pool, (&(composition){.window = window}), x) : NULL;
}

wg_array *wg_array_avg_pool(wg_array *x, const wg_window *window)
{
    return needs_window(x, window, "avg_pool") ? COMPOSE(record_avg_pool, (&(composition){.window = window}), x) : NULL;
}

/* ---- products ---- */

RECORDER(linear, wg_linear(operands[0], operands[1], how->has ? operands[2] : WG_ABSENT))
RECORDER(embedding, wg_embedding(operands[0], operands[1]))
RECORDER(attention, wg_attention(operands[0], operands[1], operands[2], how->has ? operands[3] : WG_ABSENT, how->number))
RECORDER(causal_attention, wg_causal_attention(operands[0], operands[1], operands[2], how->number))

wg_array *wg_array_linear(wg_array *x, wg_array *w, wg_array *b)
{
    if (!x || !lazy_optional(x->lazy, &b)) return NULL;
    composition how = {.has = b != NULL};
    return compose(record_linear, &how, (wg_array *[]){x, w, b}, how.has ? 3 : 2);
}

wg_array *wg_array_embedding(wg_array *table, wg_array *positions)
{
    return COMPOSE(record_embedding, (&(composition){0}), table, positions);
}

wg_array *wg_array_attention(wg_array *q, wg_array *k, wg_array *v, wg_array *mask, double scale)
{
    if (!q || !lazy_optional(q->lazy, &mask)) return NULL;
    composition how = {.number = scale, .has = mask != NULL};
    return compose(record_attention, &how, (wg_array *[]){q, k, v, mask}, how.has ? 4 : 3);
}

wg_array *wg_array_causal_attention(wg_array *q, wg_array *k, wg_array *v, double scale)
{
    return COMPOSE(record_causal_attention, (&(composition){.number = scale}), q, k, v);
}

/* ---- losses ---- */

RECORDER(cross_entropy, wg_cross_entropy(operands[0], operands[1]))
RECORDER(mean_squared_error, wg_mean_squared_error(operands[0], operands[1]))
RECORDER(binary_cross_entropy, wg_binary_cross_entropy(operands[0], operands[1]))
RECORDER(dropout, wg_dropout(operands[0], operands[1], how->number))

wg_array *wg_array_cross_entropy(wg_array *logits, wg_array *targets)
{
    return COMPOSE(record_cross_entropy, (&(composition){0}), logits, targets);
}
wg_array *wg_array_mean_squared_error(wg_array *a, wg_array *b) { return COMPOSE(record_mean_squared_error, (&(composition){0}), a, b); }

wg_array *wg_array_binary_cross_entropy(wg_array *logits, wg_array *targets)
{
    return COMPOSE(record_binary_cross_entropy, (&(composition){0}), logits, targets);
}

wg_array *wg_array_dropout(wg_array *a, wg_array *key, double rate)
{
    return COMPOSE(record_dropout, (&(composition){.number = rate}), a, key);
}
