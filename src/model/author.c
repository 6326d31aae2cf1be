/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The one structure of all families: embedding, layers, head. Every cut records through these, so that a layer's lines are the same by itself
 * and in the whole. */
#include <stdio.h>

#include "model/model.h"

wg_value model_input(model_author *a, const char *name, wg_kind kind, uint32_t rank, const wg_size *shape, double fill)
{
    return wg_name(wg_input_fill(a->tape, kind, rank, shape, fill), name);
}

void model_positions(model_author *a)
{
    if (a->cut.form == WG_MODEL_BATCH) {
        a->positions = model_input(a, "positions", WG_KIND_I32, 1, &a->rows, 0);
        return;
    }
    if (a->cut.form == WG_MODEL_TRAIN) {
        wg_size shape[2] = {a->sequences, a->length};
        a->positions = wg_reshape(wg_iota(a->tape, WG_KIND_I32, 2, shape, 1), 1, &a->rows);
        return;
    }
    a->position = model_input(a, "position", WG_KIND_I32, 0, NULL, (double)a->first_position);
    wg_value row = wg_iota(a->tape, WG_KIND_I32, 1, &a->rows, 0);
    a->positions = wg_add(row, wg_broadcast(a->position, 1, &a->rows));
}

/* Rows of a table in f32. */
static wg_value rows_of(model_author *a, model_role role, int64_t rows, wg_value positions)
{
    wg_value table = model_weight(a, role, MODEL_NO_LAYER, false, 2, (const int64_t[]){rows, a->config->width});
    if (wg_is_poison(table)) return table;
    wg_value taken = wg_gather(table, positions, 0);
    return wg_is_poison(taken) || wg_value_kind(taken) == WG_KIND_F32 ? taken : wg_convert(taken, WG_KIND_F32);
}

static wg_value named(wg_value x, int64_t layer)
{
    char name[32];
    snprintf(name, sizeof name, "x.%lld", (long long)layer);
    return wg_is_poison(x) ? x : wg_name(x, name);
}

wg_value model_embedding(model_author *a, wg_value tokens)
{
    const model_config *c = a->config;
    wg_value x = rows_of(a, MODEL_EMBEDDING, c->vocabulary, tokens);
    if (c->embedding_scale != 1 && !wg_is_poison(x)) x = wg_mul_scalar(x, c->embedding_scale);
    if (c->family == MODEL_GPT2 && !wg_is_poison(x)) {
        model_positions(a);
        wg_value places = rows_of(a, MODEL_PLACES, c->positions, a->positions);
        if (wg_is_poison(places)) return places;
        x = wg_add(x, places);
    }
    return named(x, 0);
}

/* The residual stands first. */
static wg_value joined(const model_author *a, wg_value x, wg_value branch)
{
    if (wg_is_poison(branch)) return branch;
    if (a->config->residual_scale != 1) branch = wg_mul_scalar(branch, a->config->residual_scale);
    return wg_add(x, branch);
}

wg_value model_decoder_layer(model_author *a, int64_t layer, wg_value x)
{
    model_placement place = model_families[a->config->family].placement;
    wg_value in = place == MODEL_PLACE_POST ? x : model_normalise(a, x, MODEL_ATTENTION_NORM, layer);
    if (wg_is_poison(in)) return in;
    wg_value branch = model_attention(a, in, layer);
    if (place != MODEL_PLACE_PRE) branch = model_normalise(a, branch, MODEL_AFTER_ATTENTION_NORM, layer);
    x = joined(a, x, branch);
    if (wg_is_poison(x)) return x;
    in = x;
    if (place == MODEL_PLACE_PRE) in = model_normalise(a, x, MODEL_MLP_NORM, layer);
    if (place == MODEL_PLACE_BOTH) in = model_normalise(a, x, MODEL_BEFORE_MLP_NORM, layer);
    if (wg_is_poison(in)) return in;
    branch = model_mlp(a, in, layer);
    if (place != MODEL_PLACE_PRE) branch = model_normalise(a, branch, MODEL_AFTER_MLP_NORM, layer);
    return named(joined(a, x, branch), layer + 1);
}

wg_value model_head(model_author *a, wg_value x)
{
    const model_config *c = a->config;
    wg_value rows = model_normalise(a, x, MODEL_FINAL_NORM, MODEL_NO_LAYER);
    wg_value logits = model_linear(a, rows, c->tied ? MODEL_EMBEDDING : MODEL_HEAD, MODEL_NO_LAYER, c->vocabulary, false);
    if (wg_is_poison(logits)) return logits;
    if (c->logits_scale != 1) logits = wg_div_scalar(logits, c->logits_scale);
    if (c->final_cap) logits = wg_mul_scalar(wg_tanh(wg_div_scalar(logits, c->final_cap)), c->final_cap);
    return wg_name(logits, "logits");
}
