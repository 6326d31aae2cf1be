/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Attention of one layer: queries, keys and values, their turning by position, the caches, masks, and the weighted sum (Vaswani et al. 2017;
 * grouped heads: Ainslie et al. 2023). Query head h reads key head h / G, so that heads and rows of a group are rows of one product. */
#include <math.h>
#include <stdio.h>

#include "model/model.h"

/* Heads on an axis of their own: [rows, n * d] to [rows, n, d]. */
static wg_value as_heads(const model_author *a, wg_value x, int64_t heads)
{
    return wg_reshape(x, 3, (const wg_size[]){a->rows, wg_number(heads), wg_number(a->config->head_width)});
}

/* ---- queries, keys, values ---- */

typedef struct projections {
    wg_value q, k, v; /* [rows, H, d], [rows, K, d], [rows, K, d] */
} projections;

static projections fused(model_author *a, wg_value x, int64_t layer)
{
    const model_config *c = a->config;
    int64_t query = c->heads * c->head_width, key = c->key_heads * c->head_width;
    wg_value all = model_linear(a, x, MODEL_QUERY_KEY_VALUE, layer, query + 2 * key, c->family == MODEL_GPT2);
    projections p;
    p.q = wg_narrow(all, 1, wg_number(0), wg_number(query));
    p.k = wg_narrow(all, 1, wg_number(query), wg_number(key));
    p.v = wg_narrow(all, 1, wg_number(query + key), wg_number(key));
    return p;
}

static projections project(model_author *a, wg_value x, int64_t layer)
{
    const model_config *c = a->config;
    const model_family_row *family = &model_families[c->family];
    projections p;
    if (family->weights != MODEL_WEIGHTS_SPLIT) p = fused(a, x, layer);
    else {
        bool bias = family->biases == MODEL_BIAS_QKV || c->attention_bias;
        p.q = model_linear(a, x, MODEL_QUERY, layer, c->heads * c->head_width, bias);
        p.k = model_linear(a, x, MODEL_KEY, layer, c->key_heads * c->head_width, bias);
        p.v = model_linear(a, x, MODEL_VALUE, layer, c->key_heads * c->head_width, bias);
    }
    if (family->qk_norm == MODEL_QK_ROW) {
        p.q = model_normalise(a, p.q, MODEL_QUERY_NORM, layer);
        p.k = model_normalise(a, p.k, MODEL_KEY_NORM, layer);
    }
    p.q = as_heads(a, p.q, c->heads);
    p.k = as_heads(a, p.k, c->key_heads);
    p.v = as_heads(a, p.v, c->key_heads);
    if (family->qk_norm == MODEL_QK_HEAD) {
        p.q = model_normalise(a, p.q, MODEL_QUERY_NORM, layer);
        p.k = model_normalise(a, p.k, MODEL_KEY_NORM, layer);
    }
    return p;
}

/* ---- rotary embedding ---- */

/* Angles, their cosines and sines in f64, then f32: [rows, r / 2]. */
static bool table(model_author *a, int32_t rope)
{
    const model_rope *facts = &a->config->ropes[rope];
    int64_t half = facts->width / 2;
    double scale;
    wg_tensor *inverse = wg_tensor_new(a->spec->context, WG_KIND_F64, 1, &half, NULL, a->error);
    if (!inverse) return false;
    model_rope_frequencies(facts, a->ctx.number, wg_tensor_data(inverse), &scale);
    wg_value position = wg_broadcast_along(wg_convert(a->positions, WG_KIND_F64), 1, wg_number(half));
    wg_value angle = wg_mul(position, wg_broadcast_along(wg_leaf(a->tape, inverse), 0, a->rows));
    wg_value cosine = wg_cos(angle), sine = wg_sin(angle);
    if (scale != 1) {
        cosine = wg_mul_scalar(cosine, scale);
        sine = wg_mul_scalar(sine, scale);
    }
    a->cosine[rope] = wg_convert(cosine, WG_KIND_F32);
    a->sine[rope] = wg_convert(sine, WG_KIND_F32);
    return a->tabled[rope] = true;
}

/* Pairs of x [rows, n, d] turned: (x, y) to (x cos - y sin, y cos + x sin). Pairs are halves, or neighbours, which come out as halves. */
static wg_value turn(model_author *a, wg_value x, int32_t rope)
{
    int64_t half = a->config->ropes[rope].width / 2, d = a->config->head_width, rest = d - 2 * half;
    bool neighbours = a->config->neighbours;
    wg_value first = neighbours ? wg_narrow_step(x, 2, wg_number(0), wg_number(half), 2) : wg_narrow(x, 2, wg_number(0), wg_number(half));
    wg_value second = neighbours ? wg_narrow_step(x, 2, wg_number(1), wg_number(half), 2) : wg_narrow(x, 2, wg_number(half), wg_number(half));
    wg_value cosine = wg_broadcast_along(a->cosine[rope], 1, wg_value_size(x, 1));
    wg_value sine = wg_broadcast_along(a->sine[rope], 1, wg_value_size(x, 1));
    wg_value parts[3], left = wg_mul(first, cosine);
    parts[0] = wg_sub(left, wg_mul(second, sine));
    left = wg_mul(second, cosine);
    parts[1] = wg_add(left, wg_mul(first, sine));
    if (rest) parts[2] = wg_narrow(x, 2, wg_number(2 * half), wg_number(rest));
    return wg_concat(parts, rest ? 3 : 2, 2);
}

/* ---- caches ---- */

/* The positions of keys and values [K, rows, d] (BATCH: [rows, K, 1, d]) written into a cache: what the products read, in f32. */
static wg_value written(model_author *a, char which, int64_t layer, wg_value cache, wg_value fresh)
{
    bool batch = a->cut.form == WG_MODEL_BATCH;
    char name[32];
    if (a->cut.cache == WG_KIND_F16) fresh = wg_convert(fresh, WG_KIND_F16);
    wg_value next = wg_update(cache, fresh, batch ? a->positions : a->position, batch ? 2 : 1, batch, "error");
    snprintf(name, sizeof name, "next.%c.%lld", which, (long long)layer);
    next = wg_name(next, name);
    if (wg_is_poison(next)) return next;
    a->carries[a->carry_count++] = (wg_carry){wg_symbol_of(next), wg_symbol_of(cache)};
    return next;
}

void model_cache_name(char which, int64_t layer, char name[MODEL_CACHE_NAME])
{
    snprintf(name, MODEL_CACHE_NAME, "cache.%c.%lld", which, (long long)layer);
}

static wg_value cache_input(model_author *a, char which, int64_t layer)
{
    const model_config *c = a->config;
    bool batch = a->cut.form == WG_MODEL_BATCH;
    wg_size shape[4] = {a->rows, wg_number(c->key_heads), a->ctx, wg_number(c->head_width)};
    char name[MODEL_CACHE_NAME];
    model_cache_name(which, layer, name);
    return model_input(a, name, a->cut.cache == WG_KIND_F16 ? WG_KIND_F16 : WG_KIND_F32, batch ? 4 : 3, batch ? shape : shape + 1, 0);
}

/* q, k, v laid out for the products: q [B.., K, G * rows, d], keys and values [B.., K, positions, d]. */
static projections lay_out(model_author *a, projections p, int64_t layer)
{
    const model_config *c = a->config;
    wg_size d = wg_number(c->head_width), heads = wg_number(c->heads), keys = wg_number(c->key_heads);
    int64_t group = c->heads / c->key_heads;
    static const uint32_t heads_first[] = {1, 0, 2}, heads_second[] = {0, 2, 1, 3};
    projections out;
    if (a->cut.form == WG_MODEL_TRAIN) {
        wg_value *from[3] = {&p.q, &p.k, &p.v};
        for (int i = 0; i < 3; i++) {
            *from[i] = wg_reshape(*from[i], 4, (const wg_size[]){a->sequences, a->length, i ? keys : heads, d});
            *from[i] = wg_permute(*from[i], heads_second);
        }
        wg_size grouped = wg_size_multiply(a->tape, wg_number(group), a->length);
        out.q = wg_reshape(p.q, 4, (const wg_size[]){a->sequences, keys, grouped, d});
        out.k = p.k;
        out.v = p.v;
        return out;
    }
    bool batch = a->cut.form == WG_MODEL_BATCH;
    if (batch) out.q = wg_reshape(p.q, 4, (const wg_size[]){a->rows, keys, wg_number(group), d});
    else {
        wg_size grouped = wg_size_multiply(a->tape, wg_number(group), a->rows);
        out.q = wg_reshape(wg_permute(p.q, heads_first), 3, (const wg_size[]){keys, grouped, d});
    }
    wg_value cache_k = cache_input(a, 'k', layer), cache_v = cache_input(a, 'v', layer);
    wg_size one_row[4] = {a->rows, keys, wg_number(1), d};
    wg_value k = batch ? wg_reshape(p.k, 4, one_row) : wg_permute(p.k, heads_first);
    wg_value v = batch ? wg_reshape(p.v, 4, one_row) : wg_permute(p.v, heads_first);
    out.k = written(a, 'k', layer, cache_k, k);
    out.v = written(a, 'v', layer, cache_v, v);
    if (a->cut.cache == WG_KIND_F16) {
        out.k = wg_convert(out.k, WG_KIND_F32);
        out.v = wg_convert(out.v, WG_KIND_F32);
    }
    return out;
}

/* ---- masks ---- */

/* Whether row i sees position j: j <= i and, with a window, i - j < window; [rows, ctx] (TRAIN: [T, T]). */
static wg_value sees(model_author *a, int64_t window)
{
    bool train = a->cut.form == WG_MODEL_TRAIN;
    wg_size shape[2] = {train ? a->length : a->rows, train ? a->length : a->ctx};
    wg_value row = train ? wg_iota(a->tape, WG_KIND_I32, 2, shape, 0) : wg_broadcast_along(a->positions, 1, a->ctx);
    wg_value column = wg_iota(a->tape, WG_KIND_I32, 2, shape, 1);
    wg_value keep = wg_less_equal(column, row);
    if (!window) return keep;
    wg_value near = wg_less_scalar(wg_sub(row, column), (double)window);
    return wg_and(keep, near);
}

/* The same for every head, in the shape of the scores. */
static wg_value mask(model_author *a, wg_value scores, int64_t window)
{
    wg_size heads = wg_number(a->config->heads), shape[4];
    uint32_t rank = wg_value_rank(scores);
    for (uint32_t axis = 0; axis < rank; axis++) shape[axis] = wg_value_size(scores, axis);
    wg_value keep = wg_broadcast_along(sees(a, window), a->cut.form == WG_MODEL_BATCH ? 1 : 0, heads);
    if (a->cut.form == WG_MODEL_TRAIN) keep = wg_broadcast_along(keep, 0, a->sequences);
    return wg_reshape(keep, rank, shape);
}

/* ---- the whole ---- */

static wg_value weighted_sum(model_author *a, projections p, int64_t window)
{
    const model_config *c = a->config;
    static const uint32_t turned3[] = {0, 2, 1}, turned4[] = {0, 1, 3, 2};
    if (wg_is_poison(p.k)) return p.k;
    uint32_t rank = wg_value_rank(p.k);
    wg_value scores = wg_matmul(p.q, wg_permute(p.k, rank == 3 ? turned3 : turned4));
    scores = wg_mul_scalar(scores, c->attention_scale);
    if (c->attention_cap) scores = wg_mul_scalar(wg_tanh(wg_div_scalar(scores, c->attention_cap)), c->attention_cap);
    if (wg_is_poison(scores)) return scores;
    wg_size shape[4];
    for (uint32_t axis = 0; axis < rank; axis++) shape[axis] = wg_value_size(scores, axis);
    wg_value keep = mask(a, scores, window);
    wg_value hidden = wg_broadcast(wg_scalar(scores, -INFINITY), rank, shape);
    scores = wg_select(keep, scores, hidden);
    return wg_matmul(wg_softmax(scores, rank - 1), p.v);
}

/* Heads side by side again: [rows, H * d]. */
static wg_value gathered(model_author *a, wg_value sum)
{
    const model_config *c = a->config;
    static const uint32_t rows_first[] = {1, 0, 2}, rows_second[] = {0, 2, 1, 3};
    wg_size heads = wg_number(c->heads), d = wg_number(c->head_width);
    if (a->cut.form == WG_MODEL_TRAIN)
        sum = wg_permute(wg_reshape(sum, 4, (const wg_size[]){a->sequences, heads, a->length, d}), rows_second);
    else if (a->cut.form != WG_MODEL_BATCH) sum = wg_permute(wg_reshape(sum, 3, (const wg_size[]){heads, a->rows, d}), rows_first);
    return wg_reshape(sum, 2, (const wg_size[]){a->rows, wg_number(c->heads * c->head_width)});
}

wg_value model_attention(model_author *a, wg_value x, int64_t layer)
{
    const model_config *c = a->config;
    int32_t rope = c->at[layer].rope;
    projections p = project(a, x, layer);
    if (wg_is_poison(p.v) || wg_is_poison(p.k) || wg_is_poison(p.q)) return (wg_value){a->tape, WG_NONE, 0};
    if (rope >= 0) {
        if (!a->tabled[rope] && !table(a, rope)) return (wg_value){a->tape, WG_NONE, 0};
        p.q = turn(a, p.q, rope);
        p.k = turn(a, p.k, rope);
    }
    wg_value sum = weighted_sum(a, lay_out(a, p, layer), c->at[layer].window);
    bool bias = c->family == MODEL_GPT2 || (c->attention_bias && c->family != MODEL_QWEN2);
    return wg_is_poison(sum) ? sum : model_linear(a, gathered(a, sum), MODEL_ATTENTION_OUT, layer, c->width, bias);
}
