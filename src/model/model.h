/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * model/: language models as programs. Uses libwengert through its public headers, and base/ for memory, text, JSON, files and formulas.
 *
 *   families.def    what differs between families, one row each
 *   config.c        start here: config.json (or a GGUF header) to one struct of facts, model_config, checked
 *   spec.c          configuration and weights' headers together: wg_model_spec
 *   rope.c          the frequencies of rotary embeddings
 *   weights.def     what tensors are called; weights.c: as parameters, products and norms by them
 *   author.c        the one decoder structure, recorded on a tape from a model_config: embedding, layers (attention.c, mlp.c), head
 *   load.c          weights from files as a program's parameters
 *   manifest.c      weights as a list with their digests
 *   cut.c           which part of it, in which form, with which inputs and entry: networks and texts of cuts; identities
 *   runner.c        a sequence and its caches             sampler.def sampler.c   the next token
 *   gguf.c gguf_config.c llama2c.c                        further files of weights
 *   written.h       a program text of one's own          image.h         one file that is mapped as it is
 *   quantise.c      f32 to the kinds of files             export.h  models written anew: GGUF, folders, images
 *   tokenizer.h     vocabularies: tokenizer.c and its neighbours
 *   template.h      chat templates                        chat.c  prompts by them */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#define WG_NO_SITES
#include "base/base.h"
#include "base/json.h"
#include "wengert/compose.h"
#include "wengert/grad.h"
#include "wengert/model.h"
#include "wengert/text.h"

/* ---- configuration ---- */

#define MODEL_MOST_ENDS 8 /* tokens that end a text */

typedef enum model_family {
#define FAMILY(NAME, ...) MODEL_##NAME,
#include "model/families.def"
    MODEL_FAMILY_COUNT
} model_family;

typedef enum model_norm { MODEL_NORM_RMS, MODEL_NORM_RMS1, MODEL_NORM_LAYER } model_norm;
typedef enum model_placement { MODEL_PLACE_PRE, MODEL_PLACE_BOTH, MODEL_PLACE_POST } model_placement;
typedef enum model_activation { MODEL_ACT_SILU, MODEL_ACT_GELU_TANH, MODEL_ACT_GELU } model_activation;
typedef enum model_biases { MODEL_BIAS_NO, MODEL_BIAS_QKV, MODEL_BIAS_ASKED, MODEL_BIAS_ALL } model_biases;
typedef enum model_qk_norm { MODEL_QK_NO, MODEL_QK_HEAD, MODEL_QK_ROW } model_qk_norm;
typedef enum model_weights { MODEL_WEIGHTS_SPLIT, MODEL_WEIGHTS_FUSED, MODEL_WEIGHTS_GPT2 } model_weights;

typedef struct model_family_row {
    const char *model_type, *architecture; /* of config.json, of GGUF ("" : none of its own) */
    model_norm norm;
    model_placement placement;
    model_activation activation;
    model_biases biases;
    model_qk_norm qk_norm;
    model_weights weights;
    int64_t head_width;
    double epsilon, theta;
    int64_t window;
    bool tied;
} model_family_row;
extern const model_family_row model_families[MODEL_FAMILY_COUNT];

typedef enum model_rope_type {
    MODEL_ROPE_PLAIN, MODEL_ROPE_LINEAR, MODEL_ROPE_DYNAMIC, MODEL_ROPE_LLAMA3, MODEL_ROPE_YARN, MODEL_ROPE_LONG, MODEL_ROPE_FACTORS
} model_rope_type;

/* One rotary embedding: docs/models.md has the formulas. */
typedef struct model_rope {
    model_rope_type type;
    int64_t width;            /* r: rotated entries of a head, even */
    double theta, factor;     /* factor 0: not given */
    int64_t original;         /* P; the trained length where not given */
    int64_t positions;        /* M: max_position_embeddings */
    double low, high;         /* llama3 */
    double beta_fast, beta_slow, mscale, mscale_all, attention; /* yarn, longrope; mscale*, attention 0: not given */
    bool no_truncate;         /* yarn */
    double *short_factors, *long_factors; /* longrope [r / 2]; FACTORS: long_factors alone. In the config's arena */
} model_rope;

typedef struct model_layer {
    int64_t window;           /* 0: all positions before */
    int32_t rope;             /* of config->ropes; -1: none */
    bool sparse;              /* experts */
} model_layer;

typedef struct model_config {
    base_arena arena;
    const char *name;         /* what messages call it */
    model_family family;
    int64_t width, vocabulary, layers, heads, key_heads, head_width, inner, positions;
    int64_t experts, experts_used, expert_inner;
    bool experts_normalised;
    double epsilon, attention_scale, attention_cap, final_cap;             /* caps 0: none */
    double embedding_scale, residual_scale, logits_scale;                   /* 1: none */
    model_activation activation;
    bool tied, attention_bias, mlp_bias;
    int64_t begin, end;       /* token ids, -1: none */
    int32_t ends[MODEL_MOST_ENDS]; /* [end_count] all that end a text: `end` and others */
    uint32_t end_count;
    wg_kind kind;             /* of weights without a file */
    model_rope ropes[2];
    model_layer *at;          /* [layers] */
    bool neighbours;          /* rotary pairs are neighbours: GGUF's llama, llama2.c */
    bool norms_plus_one;      /* Gemma's norms hold 1 + w already: GGUF */
    bool gguf;                /* tensors have GGUF's names, matrices of GPT-2 stand as [out, in] */
} model_config;

/* Reads a parsed config.json. Everything of *config lives in its arena; false and an error that names the key. */
bool model_config_read(model_config *config, const wg_allocator *allocator, const char *name, const base_json *json, wg_error *error);
/* The tokens that end a text by generation_config.json, which may have more of them. */
bool model_config_more_ends(model_config *config, const char *name, const base_json *json, wg_error *error);
/* False: there is no room for one more. */
bool model_add_end(model_config *config, int64_t token);
/* What no configuration may be, whichever file it is from. */
bool model_config_check(const model_config *config, wg_error *error);
void model_config_free(model_config *config);

/* inverse frequencies [width / 2] and the factor m of cosine and sine, for caches of ctx positions. */
void model_rope_frequencies(const model_rope *rope, int64_t ctx, double *inverse, double *scale);
/* Whether they depend on ctx, so that it is a number of the text and no extent. */
bool model_angles_follow_ctx(const model_config *config);

/* ---- weights' facts ---- */

/* A tensor as a file has it. */
typedef struct model_tensor {
    const char *name;
    wg_kind kind;             /* WG_KIND_COUNT: of a type that no model here uses */
    uint32_t rank;
    int64_t shape[WG_MAX_RANK];
    uint32_t file;            /* of the spec's files */
    uint64_t offset, bytes;   /* in that file */
} model_tensor;

struct wg_model_spec {
    wg_context *context;
    const wg_allocator *allocator;
    model_config config;
    base_arena arena;
    const char *directory;    /* the files' folder */
    const char **files;       /* [file_count] names in it */
    uint32_t file_count, file_capacity;
    model_tensor *tensors;    /* [tensor_count], by name */
    uint32_t tensor_count, tensor_capacity; /* count 0: no weights, every tensor is of the config's kind */
    double adapter_scale;     /* of low-rank adapters */
    const char *text;         /* [text_length] the program that runs in place of the authored prefill cut; NULL: none */
    size_t text_length;
    const char *text_path;
};

#define MODEL_ADAPTER_SCALE 2.0 /* where a file does not say */

/* Adds a tensor, its name copied; they are sorted when all are there. */
bool model_add_tensor(wg_model_spec *spec, const model_tensor *tensor, wg_error *error);
/* The path of a file in the spec's folder, in its arena; NULL without memory. */
const char *model_path(wg_model_spec *spec, const char *file);
/* The tensor of a name; NULL: there is none. */
const model_tensor *model_find_tensor(const wg_model_spec *spec, const char *name);

/* Fills a spec from a checkpoint of llama2.c (llama2c.c), of file number 0. */
bool model_llama2c_open(wg_model_spec *spec, const char *path, wg_error *error);

/* ---- the structure: weights.c, attention.c, mlp.c, author.c ---- */

typedef enum model_role {
#define WEIGHT(ROLE, ...) MODEL_##ROLE,
#include "model/weights.def"
    MODEL_ROLE_COUNT
} model_role;

/* A cut being recorded. */
typedef struct model_author {
    const wg_model_spec *spec;
    const model_config *config;
    wg_model_cut cut;
    const char *directory;       /* before manifest names; NULL: none */
    wg_tape *tape;
    wg_size rows, ctx, length;   /* rows: of x, in TRAIN rows * length; length: of TRAIN, T */
    wg_size sequences;           /* TRAIN: the rows of tokens */
    int64_t first_position;      /* what `position` holds */
    wg_value position;           /* i32 []: of the first row (DECODE, PREFILL) */
    wg_value positions;          /* i32 [rows] */
    wg_value cosine[2], sine[2]; /* of the config's ropes [rows, r / 2], where tabled */
    bool tabled[2];
    wg_carry *carries;           /* [2 * layers] */
    uint32_t carry_count;
    wg_value *parameters;        /* in recorded order */
    uint32_t parameter_count, parameter_capacity;
    wg_error *error;             /* what is no error of the tape: a tensor that is missing */
} model_author;

#define MODEL_NO_LAYER (-1)
#define MODEL_CACHE_NAME 40 /* bytes */

/* weights.c: how a file names tensors, and a tensor's name there ("" : it has none of that role; * is left for the expert). */
typedef enum model_naming { MODEL_NAMES_HUGGING_FACE, MODEL_NAMES_GPT2, MODEL_NAMES_GGUF } model_naming;
#define MODEL_NAME_BYTES 160
model_naming model_naming_of(const model_config *config, bool gguf);
const char *model_name_pattern(model_naming naming, model_role role);
void model_tensor_name(model_naming naming, model_role role, int64_t layer, bool bias, char name[MODEL_NAME_BYTES]);
/* A weight as a parameter, recorded where it is first asked for; shape [rank] is what the configuration asks for. Poison and
 * *author->error: the file has no such tensor, or of another shape or kind. */
wg_value model_weight(model_author *author, model_role role, int64_t layer, bool bias, uint32_t rank, const int64_t *shape);
/* A vector [n] in f32. */
wg_value model_vector(model_author *author, model_role role, int64_t layer, bool bias, int64_t n);
/* x [rows, in] by the weight's [out, in] (GPT-2's own: [in, out]), and its bias where asked: [rows, out]. */
wg_value model_linear(model_author *author, wg_value x, model_role role, int64_t layer, int64_t out, bool bias);
/* x [rows, in] by a weight [E, out, in] of experts [rows]. */
wg_value model_expert_linear(model_author *author, wg_value x, model_role role, int64_t layer, int64_t out, wg_value experts);
/* The family's norm over the last axis of x. */
wg_value model_normalise(model_author *author, wg_value x, model_role role, int64_t layer);

/* The name of a layer's cache, which: 'k' or 'v'. */
void model_cache_name(char which, int64_t layer, char name[MODEL_CACHE_NAME]);
/* attention.c, mlp.c: [rows, D] to [rows, D]. */
wg_value model_attention(model_author *author, wg_value x, int64_t layer);
wg_value model_mlp(model_author *author, wg_value x, int64_t layer);

/* author.c: an input where it is first read. */
wg_value model_input(model_author *author, const char *name, wg_kind kind, uint32_t rank, const wg_size *shape, double fill);
/* position (or positions) and what follows from it. */
void model_positions(model_author *author);
wg_value model_embedding(model_author *author, wg_value tokens);
wg_value model_decoder_layer(model_author *author, int64_t layer, wg_value x);
wg_value model_head(model_author *author, wg_value x);

#endif
