/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Language models: one program, its cuts, its identity. A model's computation is written once, as program text, from its configuration;
 * every backend reads that text. Link with -lwengert-model -lwengert.
 *
 *     wg_model_spec *spec = wg_model_spec_open(NULL, "SmolLM2-135M", &error);
 *     char *text = wg_model_written(spec, &(wg_model_cut){.size = sizeof(wg_model_cut), .form = WG_MODEL_DECODE, .ctx = 4096}, &error);
 */
#ifndef WENGERT_MODEL_H
#define WENGERT_MODEL_H

#include "wengert/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a model is: its configuration, and the names, kinds and shapes of its weights. Immutable; may be shared by threads. */
typedef struct wg_model_spec wg_model_spec;

/* Reads config.json of a Hugging Face folder, and the headers of its safetensors files where there are any; or the header of a .gguf file or of a
 * .bin of llama2.c; or an image (.wgm); or a program text (.wg: the prefill
 * cut, run as it stands, with the weights of the folder it names); or a config.json by itself. Weights without a file are of the kind that the configuration names. NULL and an error that names the key, the
 * tensor or the file: an unknown model_type or value, a key that changes the computation and is not supported, a tensor that is missing or
 * has another shape. */
WG_API wg_model_spec *wg_model_spec_open(wg_context *context, const char *path, wg_error *error);
/* The same of the text of a config.json [length]; `name` is what messages call it. */
WG_API wg_model_spec *wg_model_spec_parse(wg_context *context, const char *text, size_t length, const char *name, wg_error *error);
WG_API void wg_model_spec_free(wg_model_spec **spec);

typedef struct wg_model_facts {
    size_t size;
    const char *family;              /* "llama"; borrowed */
    int64_t layers, width, vocabulary, heads, key_heads, head_width, positions; /* positions: the trained length */
    int64_t begin, end;              /* token ids; -1: none */
    const int32_t *ends;             /* [end_count] all tokens that end a text, `end` the first; borrowed */
    uint32_t end_count;
} wg_model_facts;
WG_API bool wg_model_spec_facts(const wg_model_spec *spec, wg_model_facts *facts);

/* Adds low-rank adapters from a safetensors file (tensors NAME.lora_A.weight [r, in], NAME.lora_B.weight [out, r]; metadata "lora_scale"): every
 * program of the spec then adds scale * (x A^T) B^T to the product by NAME (Hu et al. 2022). NULL-safe; false and an error, and nothing added:
 * a tensor that belongs to none of the model's, another shape. */
WG_API bool wg_model_spec_adapt(wg_model_spec *spec, const char *path, wg_error *error);
/* Bytes of all weights in the files; 0: there are none. */
WG_API uint64_t wg_model_spec_bytes(const wg_model_spec *spec);

/* ---- cuts ---- */

typedef enum wg_model_form { WG_MODEL_DECODE, WG_MODEL_PREFILL, WG_MODEL_BATCH, WG_MODEL_TRAIN } wg_model_form;
typedef enum wg_model_part { WG_MODEL_WHOLE, WG_MODEL_EMBEDDING, WG_MODEL_LAYER, WG_MODEL_HEAD } wg_model_part;

/* One of the programs of a model. */
typedef struct wg_model_cut {
    size_t size;          /* sizeof(wg_model_cut) */
    wg_model_form form;
    wg_model_part part;   /* of the form; not of TRAIN */
    int64_t layer;        /* of LAYER, from 0 */
    int64_t rows;         /* of PREFILL, BATCH, TRAIN; 0: 1 */
    int64_t ctx;          /* positions of a cache; 0: the trained length */
    int64_t length;       /* of TRAIN: tokens of a row */
    int64_t asked;        /* of PREFILL: rows whose logits are wanted; -1: none, 0: 1 */
    wg_kind cache;        /* WG_KIND_F16: keys and values are kept in halves; 0: in f32 */
    bool q8_activation;   /* quantised products round their left side to 8 bits a block */
    int64_t adapter;      /* of TRAIN: adapters of this rank are trained, and nothing else; 0: all weights are */
} wg_model_cut;

/* The canonical text at its placeholders (tokens and targets 1, all else 0), weights named by tensor alone; owned (wg_text_free). NULL and
 * an error. */
WG_API char *wg_model_written(const wg_model_spec *spec, const wg_model_cut *cut, wg_error *error);
/* The same with the weights named under a directory. */
WG_API char *wg_model_written_in(const wg_model_spec *spec, const wg_model_cut *cut, const char *dir, wg_error *error);
/* The decode cut's text at one run's inputs. */
WG_API char *wg_model_decode_at(const wg_model_spec *spec, const wg_model_cut *cut, int64_t token, int64_t position, wg_error *error);
/* The prefill cut's text at tokens [rows of the cut] from a position on. */
WG_API char *wg_model_prefill_at(const wg_model_spec *spec, const wg_model_cut *cut, const int32_t *tokens, int64_t position,
                                 wg_error *error);
/* The program itself, sealed, with its entry. */
WG_API wg_network *wg_model_network(const wg_model_spec *spec, const wg_model_cut *cut, wg_error *error);

/* The weights of a program of this spec, mapped from its files, which must stay as they are. NULL and an error: a file that is gone or has
 * changed, a program of another model. */
WG_API wg_parameters *wg_model_parameters(wg_model_spec *spec, const wg_network *network, wg_error *error);

/* The weights' manifest as JSON, owned (wg_text_free): name, kind, shape, file, offset, bytes and SHA-256 of each tensor in the order of names, and
 * the digest below. Reads all of the files. */
WG_API char *wg_model_manifest(wg_model_spec *spec, wg_error *error);
/* One SHA-256 of all weights: of each tensor's name, kind, shape and digest; 64 hex digits and a NUL. */
WG_API bool wg_model_weights_digest(wg_model_spec *spec, char digest[65], wg_error *error);

/* Writes a model as a GGUF file, its matrices in a kind (f32 f16 bf16 q8_0 q4_0 q4_1 q5_0 q5_1 q4_k q6_k; rows that are no whole blocks in q8_0 or
 * f16), embedding and head in another; vectors, routers and positions stay f32. A byte-level or SentencePiece vocabulary goes along. What the format cannot say is
 * WG_UNSUPPORTED; the old file is kept on any failure. The path ends in .gguf, and names a regular file or none. */
WG_API bool wg_model_write_gguf(wg_model_spec *spec, const char *path, wg_kind kind, wg_kind embedding_kind, wg_error *error);

/* Writes a model as a Hugging Face folder: config.json, model.safetensors with its matrices in f32, f16 or bf16, and the vocabulary (the files beside
 * the weights; a byte-level one of a GGUF file as tokenizer.json). Dequantises. What config.json cannot say is WG_UNSUPPORTED. */
WG_API bool wg_model_write_folder(wg_model_spec *spec, const char *directory, wg_kind kind, wg_error *error);

/* Writes a model as one image (PATH.wgm): the parameters of its decode cut as a run reads them, vocabulary, chat template and the program's identity.
 * Opening it maps it as it is, authors the program again and refuses (WG_DIFFERS, with the part that differs) an image of another program. */
WG_API bool wg_model_compile(wg_model_spec *spec, const char *path, wg_error *error);

/* The name of a cut ("decode", "prefill.layer.3"), 64 bytes are enough. */
WG_API void wg_model_cut_name(const wg_model_cut *cut, char name[64]);

/* What a program is: equal identities compute the same. */
typedef struct wg_model_identity {
    int32_t semantics;    /* WG_SEMANTICS of the text */
    uint32_t chips;
    char cut[64];
    char sha256[65];      /* of the canonical text at its placeholders */
} wg_model_identity;
WG_API bool wg_model_identify(const wg_model_spec *spec, const wg_model_cut *cut, wg_model_identity *identity, wg_error *error);
/* False and an error that says which part differs: semantics version, cut, chips or text. */
WG_API bool wg_model_identity_check(const wg_model_identity *expected, const wg_model_identity *found, wg_error *error);

#ifdef __cplusplus
}
#endif
#endif
