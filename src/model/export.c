/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Models written anew: any model as a GGUF file, its matrices in a kind; any as a Hugging Face folder. Names go by weights.def; what a form does to
 * tensors (rows of q and k in another order, norms with 1 added, matrices turned, experts in one) is done to f32 copies, one tensor at a time. */
#include "model/export.h"

#include <stdio.h>
#include <string.h>

#include "model/tokenizer.h"

/* ---- names ---- */

/* Whether a name is a pattern's: % a number, * what experts have. */
static bool matches(const char *pattern, const char *name, int64_t *layer)
{
    *layer = -1;
    for (; *pattern; pattern++) {
        if (*pattern == '%') {
            size_t taken = base_parse_integer(name, strlen(name), layer);
            if (!taken || *layer < 0) return false;
            name += taken;
        } else if (*name++ != *pattern) return false;
    }
    return !*name;
}

/* Which role a weight of this name has in the family: several share names. */
static bool fits(const model_config *c, model_role role)
{
    const model_family_row *family = &model_families[c->family];
    bool mixtral = c->family == MODEL_MIXTRAL;
    switch (role) {
    case MODEL_MLP_NORM: return family->placement == MODEL_PLACE_PRE;
    case MODEL_AFTER_ATTENTION_NORM: return family->placement != MODEL_PLACE_PRE;
    case MODEL_BEFORE_MLP_NORM: return family->placement == MODEL_PLACE_BOTH;
    case MODEL_GATE_UP: return family->weights == MODEL_WEIGHTS_FUSED;
    case MODEL_UP: return family->weights != MODEL_WEIGHTS_FUSED;
    case MODEL_ROUTER:
    case MODEL_EXPERT_GATE:
    case MODEL_EXPERT_UP:
    case MODEL_EXPERT_DOWN: return !mixtral;
    case MODEL_MIXTRAL_ROUTER:
    case MODEL_MIXTRAL_GATE:
    case MODEL_MIXTRAL_UP:
    case MODEL_MIXTRAL_DOWN: return mixtral;
    default: return true;
    }
}

/* The role of a parameter of the train cut; false: none (never of our own cuts). */
static bool role_of(const model_export *x, const char *name, export_piece *p)
{
    char plain[MODEL_NAME_BYTES];
    size_t length = strlen(name);
    p->bias = base_ends_with(name, ".bias");
    snprintf(plain, sizeof plain, "%.*s%s", (int)(length - (p->bias ? 4 : 0)), name, p->bias ? "weight" : "");
    for (int role = 0; role < MODEL_ROLE_COUNT; role++) {
        const char *pattern = model_name_pattern(model_naming_of(&x->spec->config, x->spec->config.gguf), (model_role)role);
        if (!*pattern || !fits(&x->spec->config, (model_role)role) || !matches(pattern, plain, &p->layer)) continue;
        p->role = (model_role)role;
        return true;
    }
    return false;
}

/* ---- what a tensor becomes ---- */

static bool is_matrix(const export_piece *p)
{
    return p->rank >= 2 && p->role != MODEL_PLACES && p->role != MODEL_ROUTER && p->role != MODEL_MIXTRAL_ROUTER;
}

/* The kind asked for, or the nearest that rows of this length can have. */
static wg_kind kind_for(const model_export *x, const export_piece *p)
{
    wg_kind kind = p->role == MODEL_EMBEDDING || p->role == MODEL_HEAD ? x->embedding_kind : x->kind;
    int64_t row = p->rank ? p->shape[p->rank - 1] : 1;
    if (!is_matrix(p) || !x->to_gguf) return x->to_gguf || !is_matrix(p) ? WG_KIND_F32 : kind;
    if (row % wg_kind_block(kind) == 0) return kind;
    return row % 32 == 0 ? WG_KIND_Q8_0 : WG_KIND_F16;
}

/* Matrices of GPT-2 stand as [in, out] in its own files, as [out, in] in GGUF. */
static bool turns(const model_export *x, const export_piece *p)
{
    return x->spec->config.family == MODEL_GPT2 && x->spec->config.gguf != x->to_gguf && p->rank == 2 && p->role != MODEL_EMBEDDING && p->role != MODEL_HEAD && p->role != MODEL_PLACES;
}

static bool add_piece(model_export *x, const export_piece *p)
{
    if (!BASE_RESERVE(x->spec->allocator, x->pieces, x->capacity, x->count + 1)) return base_fail_memory(x->error);
    x->pieces[x->count++] = *p;
    return true;
}

/* Frequencies of a rotary embedding that GGUF has no keys for stand there as divisors of the plain ones. */
static bool add_rope(model_export *x)
{
    const model_rope *rope = &x->spec->config.ropes[0];
    if (!x->to_gguf || (rope->type != MODEL_ROPE_LLAMA3 && rope->type != MODEL_ROPE_FACTORS)) return true;
    export_piece p = {.role = EXPORT_ROPE, .name = "rope_freqs.weight", .kind = WG_KIND_F32, .rank = 1, .shape = {rope->width / 2}};
    return add_piece(x, &p);
}

static float *rope_items(const model_export *x, int64_t *volume)
{
    const model_config *c = &x->spec->config;
    model_rope plain = c->ropes[0];
    *volume = plain.width / 2;
    plain.type = MODEL_ROPE_PLAIN;
    float *items = base_allocate(x->spec->allocator, (size_t)(*volume + 1) * sizeof *items);
    double *both = base_allocate(x->spec->allocator, 2 * (size_t)*volume * sizeof *both), scale;
    if (items && both) {
        model_rope_frequencies(&plain, c->positions, both, &scale);
        model_rope_frequencies(&c->ropes[0], c->positions, both + *volume, &scale);
        for (int64_t i = 0; i < *volume; i++) items[i] = (float)(both[i] / both[*volume + i]);
    } else {
        base_fail_memory(x->error);
        base_free(x->spec->allocator, items, (size_t)(*volume + 1) * sizeof *items);
        items = NULL;
    }
    base_free(x->spec->allocator, both, 2 * (size_t)*volume * sizeof *both);
    return items;
}

static bool add_pieces(model_export *x)
{
    for (uint32_t i = 0; i < wg_parameters_count(x->weights); i++) {
        wg_node_facts node;
        export_piece p = {.rank = 0};
        wg_network_node(x->network, wg_parameters_symbol(x->weights, i).position, &node);
        if (!role_of(x, node.name, &p)) return base_fail(x->error, WG_INTERNAL, "%s has no role", node.name);
        model_naming naming = model_naming_of(&x->spec->config, x->to_gguf);
        if (!*model_name_pattern(naming, p.role)) return base_fail(x->error, WG_UNSUPPORTED, "the other form has no tensor for %s", node.name);
        model_tensor_name(naming, p.role, p.layer, p.bias, p.name);
        p.rank = node.rank;
        memcpy(p.shape, node.shape, node.rank * sizeof *p.shape);
        if (turns(x, &p)) p.shape[0] = node.shape[1], p.shape[1] = node.shape[0];
        p.kind = kind_for(x, &p);
        if (!add_piece(x, &p)) return false;
    }
    return add_rope(x);
}

/* Row 2i of a head is Hugging Face's row i, row 2i + 1 its row i + d / 2 (to GGUF; the other way back). */
static void reorder_heads(float *rows, const float *from, int64_t heads, int64_t width, int64_t row, bool to_gguf)
{
    for (int64_t h = 0; h < heads; h++)
        for (int64_t i = 0; i < width; i++) {
            int64_t paired = i % 2 ? i / 2 + width / 2 : i / 2, here = h * width + (to_gguf ? i : paired), there = h * width + (to_gguf ? paired : i);
            memcpy(rows + here * row, from + there * row, (size_t)row * sizeof *rows);
        }
}

static void turn(float *to, const float *from, int64_t rows, int64_t columns)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++) to[c * rows + r] = from[r * columns + c];
}

/* The items of a piece in f32, in the new form; owned. */
float *export_items(const model_export *x, uint32_t index, int64_t *volume)
{
    const model_config *c = &x->spec->config;
    const export_piece *p = &x->pieces[index];
    if (p->role == EXPORT_ROPE) return rope_items(x, volume);
    const wg_tensor *tensor = wg_parameters_of(x->weights, wg_parameters_symbol(x->weights, index), x->error);
    if (!tensor) return NULL;
    *volume = wg_tensor_volume(tensor);
    const float *from = wg_tensor_data(tensor);
    float *items = base_allocate(x->spec->allocator, (size_t)(*volume + 1) * sizeof *items);
    if (!items) return base_fail_memory(x->error), NULL;
    memcpy(items, from, (size_t)*volume * sizeof *items);
    bool query = p->role == MODEL_QUERY, key = p->role == MODEL_KEY, llama = c->family == MODEL_LLAMA || c->family == MODEL_MISTRAL || c->family == MODEL_MIXTRAL;
    bool order_here = llama && c->neighbours, order_there = llama && x->to_gguf; /* pairs are neighbours */
    if ((query || key) && order_here != order_there) {
        int64_t heads = query ? c->heads : c->key_heads, row = p->rank == 2 ? p->shape[1] : 1;
        reorder_heads(items, from, heads, c->head_width, row, order_there);
    }
    bool plus_there = x->to_gguf && model_families[c->family].norm == MODEL_NORM_RMS1;
    if (p->rank == 1 && !p->bias && model_families[c->family].norm == MODEL_NORM_RMS1 && c->norms_plus_one != plus_there)
        for (int64_t i = 0; i < *volume; i++) items[i] += plus_there ? 1 : -1;
    if (turns(x, p)) turn(items, from, p->shape[1], p->shape[0]);
    return items;
}

/* ---- tokens ---- */

void export_token(const wg_tokenizer *t, int32_t id, base_string *out)
{
    const tokenizer_token *token = &t->tokens[id];
    for (uint32_t i = 0; i < token->length; i++)
        if (t->byte_level && !token->added) tokenizer_put_letter(out, (unsigned char)token->text[i]);
        else base_string_put(out, token->text + i, 1);
}

bool export_has_merges(const wg_tokenizer *t)
{
    return t->form == TOKENIZER_RANKED && t->byte_level && t->split >= TOKENIZER_GPT2;
}

/* ---- the calls ---- */

static bool begin(model_export *x, wg_model_spec *spec, wg_kind kind, wg_kind embedding_kind, bool to_gguf, wg_error *error)
{
    *x = (model_export){.architecture = model_families[spec->config.family].architecture, .spec = spec, .kind = kind, .embedding_kind = embedding_kind, .to_gguf = to_gguf, .error = error};
    if (!spec->tensor_count) return base_fail(error, WG_NAME, "%s has no weights beside it", spec->config.name);
    wg_model_cut cut = {.size = sizeof cut, .form = WG_MODEL_TRAIN, .length = 2};
    return (x->network = wg_model_network(spec, &cut, error)) && (x->weights = wg_model_parameters(spec, x->network, error)) && add_pieces(x);
}

static void end(model_export *x)
{
    wg_parameters_free(&x->weights);
    wg_network_release(&x->network);
    base_free(x->spec->allocator, x->pieces, x->capacity * sizeof *x->pieces);
}

bool wg_model_write_gguf(wg_model_spec *spec, const char *path, wg_kind kind, wg_kind embedding_kind, wg_error *error)
{
    model_export x;
    if (!spec || !path) return base_fail(error, WG_ARGUMENT, "writing needs a spec and a path");
    if (!model_can_quantise(kind) || !model_can_quantise(embedding_kind))
        return base_fail(error, WG_KIND, "weights are written as f32 f16 bf16 q8_0 q4_0 q4_1 q5_0 q5_1 q4_k q6_k, not as %s", wg_kind_name(model_can_quantise(kind) ? embedding_kind : kind));
    bool good = begin(&x, spec, kind, embedding_kind, true, error) && export_write_gguf(&x, path);
    end(&x);
    return good;
}

bool wg_model_write_folder(wg_model_spec *spec, const char *directory, wg_kind kind, wg_error *error)
{
    model_export x;
    if (!spec || !directory) return base_fail(error, WG_ARGUMENT, "writing needs a spec and a folder");
    if (kind != WG_KIND_F32 && kind != WG_KIND_F16 && kind != WG_KIND_BF16)
        return base_fail(error, WG_KIND, "a folder's matrices are f32, f16 or bf16, not %s: write a GGUF file for blocks", wg_kind_name(kind));
    bool good = begin(&x, spec, kind, kind, false, error) && export_write_folder(&x, directory);
    end(&x);
    return good;
}
