/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Cuts: which part of the structure, in which form, with which inputs and entry; their texts and identities. */
#include <stdio.h>
#include <string.h>

#include "model/model.h"

/* One run's inputs in the text; NULL and 0 of a placeholder. */
typedef struct inputs {
    int64_t token, position;
    const int32_t *tokens; /* PREFILL: [rows] */
} inputs;

static const inputs placeholders = {.token = 1};

static const char *const forms[] = {"decode", "prefill", "batch", "train"};

void wg_model_cut_name(const wg_model_cut *cut, char name[64])
{
    if (!name) return;
    name[0] = 0;
    if (!cut) return;
    const char *form = (unsigned)cut->form < sizeof forms / sizeof *forms ? forms[cut->form] : "";
    switch (cut->part) {
    case WG_MODEL_EMBEDDING: snprintf(name, 64, "%s.embedding", form); return;
    case WG_MODEL_LAYER: snprintf(name, 64, "%s.layer.%lld", form, (long long)cut->layer); return;
    case WG_MODEL_HEAD: snprintf(name, 64, "%s.head", form); return;
    default: snprintf(name, 64, "%s", form);
    }
}

/* ---- checks ---- */

static bool check(const wg_model_spec *spec, const wg_model_cut *given, wg_model_cut *cut, wg_error *error)
{
    if (!spec || !given || given->size != sizeof *given) return base_fail(error, WG_ARGUMENT, "a cut needs a spec and options of this library's size");
    *cut = *given;
    if (!cut->ctx) cut->ctx = spec->config.positions;
    if (!cut->rows) cut->rows = 1;
    if (!cut->asked) cut->asked = 1;
    if ((unsigned)cut->form > WG_MODEL_TRAIN || (unsigned)cut->part > WG_MODEL_HEAD) return base_fail(error, WG_ARGUMENT, "no such form or part of a cut");
    if (cut->form == WG_MODEL_TRAIN && cut->part != WG_MODEL_WHOLE) return base_fail(error, WG_ARGUMENT, "the train cut is of the whole model");
    if (cut->part == WG_MODEL_LAYER && (cut->layer < 0 || cut->layer >= spec->config.layers))
        return base_fail(error, WG_ARGUMENT, "%s has layers 0 to %lld, not %lld", spec->config.name, (long long)spec->config.layers - 1, (long long)cut->layer);
    if (cut->form == WG_MODEL_TRAIN && cut->length < 1) return base_fail(error, WG_ARGUMENT, "the train cut needs a length, the tokens of a row (--length N)");
    int64_t span = cut->form == WG_MODEL_TRAIN ? cut->length : cut->ctx;
    if (cut->rows < 1 || cut->rows > INT32_MAX || span < 1 || span > INT32_MAX || cut->asked < -1)
        return base_fail(error, WG_ARGUMENT, "rows and positions of a cut must be at least 1");
    if (spec->config.family == MODEL_GPT2 && span > spec->config.positions)
        return base_fail(error, WG_ARGUMENT, "%s has %lld positions, fewer than %lld", spec->config.name, (long long)spec->config.positions, (long long)span);
    if (cut->cache != WG_KIND_BOOL && cut->cache != WG_KIND_F32 && cut->cache != WG_KIND_F16)
        return base_fail(error, WG_KIND, "keys and values are kept in f32 or f16");
    return true;
}

/* ---- inputs ---- */

/* Extents in the order rows, ctx, asked, T, those that the cut has. */
static void declare_extents(model_author *a)
{
    const wg_model_cut *cut = &a->cut;
    bool decode = cut->form == WG_MODEL_DECODE, train = cut->form == WG_MODEL_TRAIN;
    bool cached = !train && (cut->part == WG_MODEL_WHOLE || cut->part == WG_MODEL_LAYER);
    a->rows = decode ? wg_number(1) : wg_extent(a->tape, "rows", cut->rows);
    a->ctx = cached && !model_angles_follow_ctx(a->config) ? wg_extent(a->tape, "ctx", cut->ctx) : wg_number(train ? cut->length : cut->ctx);
    if (!train) return;
    a->sequences = a->rows;
    a->length = wg_extent(a->tape, "T", cut->length);
    a->rows = wg_size_multiply(a->tape, a->sequences, a->length);
}

static wg_value token_input(model_author *a, const inputs *given)
{
    const wg_model_cut *cut = &a->cut;
    if (cut->form == WG_MODEL_TRAIN) return model_input(a, "tokens", WG_KIND_I32, 2, (const wg_size[]){a->sequences, a->length}, (double)given->token);
    const char *name = cut->form == WG_MODEL_DECODE ? "token" : "tokens";
    if (!given->tokens) return model_input(a, name, WG_KIND_I32, 1, &a->rows, (double)given->token);
    wg_tensor *tokens = wg_tensor_new(a->spec->context, WG_KIND_I32, 1, &cut->rows, given->tokens, a->error);
    return tokens ? wg_name(wg_input(a->tape, tokens), name) : (wg_value){a->tape, WG_NONE, 0};
}

/* ---- recording ---- */

static wg_value ask(model_author *a, wg_value x)
{
    if (a->cut.form != WG_MODEL_PREFILL || wg_is_poison(x)) return x;
    a->rows = wg_extent(a->tape, "asked", a->cut.asked);
    return wg_gather(x, model_input(a, "ask", WG_KIND_I32, 1, &a->rows, 0), 0);
}

static wg_value record_part(model_author *a, const inputs *given)
{
    const wg_model_cut *cut = &a->cut;
    wg_value x;
    if (cut->part == WG_MODEL_WHOLE || cut->part == WG_MODEL_EMBEDDING) {
        wg_value tokens = token_input(a, given);
        if (cut->form == WG_MODEL_TRAIN) tokens = wg_reshape(tokens, 1, &a->rows);
        x = model_embedding(a, tokens);
        if (cut->part == WG_MODEL_EMBEDDING) return x;
    } else x = model_input(a, "x", WG_KIND_F32, 2, (const wg_size[]){a->rows, wg_number(a->config->width)}, 0);
    if (wg_is_poison(x)) return x;
    if (cut->part != WG_MODEL_HEAD && !a->positions.tape) model_positions(a);
    int64_t from = cut->part == WG_MODEL_LAYER ? cut->layer : 0, to = cut->part == WG_MODEL_LAYER ? cut->layer + 1 : a->config->layers;
    if (cut->part == WG_MODEL_HEAD) to = 0;
    for (int64_t layer = from; layer < to && !wg_is_poison(x); layer++) x = model_decoder_layer(a, layer, x);
    if (cut->part == WG_MODEL_LAYER || cut->asked < 0) return x;
    return model_head(a, ask(a, x));
}

/* The mean over all tokens of ln sum exp(logits) - the target's logit. */
static wg_value train_loss(model_author *a, wg_value logits)
{
    wg_value targets = model_input(a, "targets", WG_KIND_I32, 2, (const wg_size[]){a->sequences, a->length}, 1);
    targets = wg_reshape(targets, 1, &a->rows);
    wg_value total = wg_log_sum_exp(logits, 1), picked = wg_gather_batch(logits, targets, 1, 1, "error", 0);
    wg_value sum = wg_sum(wg_sub(total, picked));
    return wg_name(wg_div(sum, wg_leaf_size(a->tape, WG_KIND_F32, 0, NULL, a->rows)), "loss");
}

/* Roots: loss, then d_TENSOR for each parameter that is trained. */
static bool train_roots(model_author *a, wg_value logits, wg_symbol *roots)
{
    wg_value loss = train_loss(a, logits);
    if (wg_is_poison(loss)) return false;
    wg_adjoints *adjoints = wg_differentiate(a->tape, loss, a->parameters, a->parameter_count);
    if (!adjoints) return false;
    roots[0] = wg_symbol_of(loss);
    bool good = true;
    for (uint32_t i = 0; good && i < a->parameter_count; i++) {
        char name[200];
        wg_node_facts facts;
        good = wg_tape_node(a->tape, a->parameters[i].position, &facts);
        if (good) snprintf(name, sizeof name, "d_%s", facts.name);
        wg_value gradient = good ? wg_name(wg_adjoints_gradient(adjoints, i), name) : loss;
        good = good && !wg_is_poison(gradient);
        roots[1 + i] = wg_symbol_of(gradient);
    }
    wg_adjoints_free(&adjoints);
    return good;
}

static bool declare_entry(model_author *a, wg_value result)
{
    bool train = a->cut.form == WG_MODEL_TRAIN;
    bool nothing = a->cut.asked < 0 && a->cut.part == WG_MODEL_WHOLE; /* caches alone */
    uint32_t count = nothing ? 0 : 1 + (train ? a->parameter_count : 0);
    size_t bytes = ((size_t)count + 1) * sizeof(wg_symbol);
    wg_symbol *roots = base_allocate(a->spec->allocator, bytes);
    if (!roots) return base_fail_memory(a->error);
    roots[0] = wg_symbol_of(result);
    wg_entry_options options = {.size = sizeof options, .name = forms[a->cut.form], .roots = roots, .root_count = count,
                                .carries = a->carries, .carry_count = a->carry_count};
    bool good = (!train || train_roots(a, result, roots)) && wg_tape_declare(a->tape, &options);
    base_free(a->spec->allocator, roots, bytes);
    return good;
}

static bool record(model_author *a, const inputs *given)
{
    char cut[64], name[128];
    wg_model_cut_name(&a->cut, cut);
    snprintf(name, sizeof name, "%s.%s", model_families[a->config->family].model_type, cut);
    if (!wg_tape_name(a->tape, name) || !wg_tape_intern(a->tape)) return false;
    declare_extents(a);
    wg_value result = record_part(a, given);
    return !wg_is_poison(result) && declare_entry(a, result);
}

/* Texts of one run write its position in the input's default. */
static wg_network *network_at(const wg_model_spec *spec, const wg_model_cut *cut, const char *directory, const inputs *given, wg_error *error)
{
    wg_error local = {.code = WG_OK};
    model_author a = {.spec = spec, .directory = directory, .error = &local};
    if (!check(spec, cut, &a.cut, error)) return NULL;
    int64_t rows = a.cut.form == WG_MODEL_PREFILL ? a.cut.rows : 1;
    if (given->position > a.cut.ctx - rows && given != &placeholders)
        return base_fail(error, WG_BOUNDS, "%lld token%s from position %lld on: the cut has %lld positions", (long long)rows, rows == 1 ? "" : "s",
                         (long long)given->position, (long long)a.cut.ctx), NULL;
    a.config = &spec->config;
    size_t bytes = 2 * (size_t)spec->config.layers * sizeof *a.carries;
    a.tape = wg_tape_new(spec->context);
    a.carries = base_allocate(spec->allocator, bytes);
    a.first_position = given->position;
    wg_network *network = NULL;
    if (!a.tape || !a.carries) base_fail_memory(&local);
    else if (record(&a, given)) network = wg_tape_seal(&a.tape, &local);
    else if (!local.code) local = *wg_tape_error(a.tape);
    wg_tape_free(&a.tape);
    base_free(spec->allocator, a.carries, bytes);
    base_free(spec->allocator, a.parameters, a.parameter_capacity * sizeof *a.parameters);
    if (!network && error && !error->code) *error = local;
    return network;
}

/* ---- the public calls ---- */

wg_network *wg_model_network(const wg_model_spec *spec, const wg_model_cut *cut, wg_error *error)
{
    return network_at(spec, cut, NULL, &placeholders, error);
}

static char *text_at(const wg_model_spec *spec, const wg_model_cut *cut, const char *directory, const inputs *given, wg_error *error)
{
    wg_network *network = network_at(spec, cut, directory, given, error);
    if (!network) return NULL;
    char *text = wg_text_print(network, error);
    wg_network_release(&network);
    return text;
}

char *wg_model_written(const wg_model_spec *spec, const wg_model_cut *cut, wg_error *error)
{
    return text_at(spec, cut, NULL, &placeholders, error);
}

char *wg_model_written_in(const wg_model_spec *spec, const wg_model_cut *cut, const char *directory, wg_error *error)
{
    return text_at(spec, cut, directory, &placeholders, error);
}

static bool in_range(const wg_model_spec *spec, int64_t token, int64_t position, wg_error *error)
{
    if (token < 0 || token >= spec->config.vocabulary)
        return base_fail(error, WG_BOUNDS, "token %lld: the vocabulary of %s is %lld", (long long)token, spec->config.name, (long long)spec->config.vocabulary);
    return position >= 0 || base_fail(error, WG_BOUNDS, "position %lld is below 0", (long long)position);
}

char *wg_model_decode_at(const wg_model_spec *spec, const wg_model_cut *cut, int64_t token, int64_t position, wg_error *error)
{
    if (!spec || !cut || cut->form != WG_MODEL_DECODE) return base_fail(error, WG_ARGUMENT, "decode_at is of a decode cut"), NULL;
    if (!in_range(spec, token, position, error)) return NULL;
    return text_at(spec, cut, NULL, &(inputs){.token = token, .position = position}, error);
}

char *wg_model_prefill_at(const wg_model_spec *spec, const wg_model_cut *cut, const int32_t *tokens, int64_t position, wg_error *error)
{
    if (!spec || !cut || !tokens || cut->form != WG_MODEL_PREFILL) return base_fail(error, WG_ARGUMENT, "prefill_at is of a prefill cut and its tokens"), NULL;
    for (int64_t i = 0; i < (cut->rows ? cut->rows : 1); i++)
        if (!in_range(spec, tokens[i], position, error)) return NULL;
    return text_at(spec, cut, NULL, &(inputs){.tokens = tokens, .position = position}, error);
}

/* ---- identities ---- */

bool wg_model_identify(const wg_model_spec *spec, const wg_model_cut *cut, wg_model_identity *identity, wg_error *error)
{
    if (!identity) return base_fail(error, WG_ARGUMENT, "an identity needs room");
    wg_network *network = wg_model_network(spec, cut, error);
    if (!network) return false;
    *identity = (wg_model_identity){.semantics = WG_SEMANTICS, .chips = 1};
    wg_model_cut_name(cut, identity->cut);
    bool good = wg_network_identity(network, identity->sha256, error);
    wg_network_release(&network);
    return good;
}

bool wg_model_identity_check(const wg_model_identity *expected, const wg_model_identity *found, wg_error *error)
{
    if (!expected || !found) return base_fail(error, WG_ARGUMENT, "two identities are compared");
    if (expected->semantics != found->semantics)
        return base_fail(error, WG_DIFFERS, "the semantics version differs: %d here, %d there", expected->semantics, found->semantics);
    if (strcmp(expected->cut, found->cut)) return base_fail(error, WG_DIFFERS, "the cut differs: %s here, %s there", expected->cut, found->cut);
    if (expected->chips != found->chips) return base_fail(error, WG_DIFFERS, "the number of chips differs: %u here, %u there", expected->chips, found->chips);
    if (!strcmp(expected->sha256, found->sha256)) return true;
    return base_fail(error, WG_DIFFERS, "the program text differs: SHA-256 %.12s.. here, %.12s.. there", expected->sha256, found->sha256);
}
