/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A model being written anew: export.c says which tensors there are, under which names and with which items; export_gguf.c, export_folder.c
 * (with export_config.c) and export_image.c write them. */
#ifndef MODEL_EXPORT_H
#define MODEL_EXPORT_H

#include "model/model.h"
#include "model/quantise.h"

/* The role of the divisors of rotary frequencies: GGUF's own tensor. */
#define EXPORT_ROPE MODEL_ROLE_COUNT

/* One tensor to write. */
typedef struct export_piece {
    model_role role;
    int64_t layer;
    bool bias;
    const model_tensor *from; /* of experts that stand one by one the first */
    char name[MODEL_NAME_BYTES]; /* in the new form */
    wg_kind kind;
    uint32_t rank;
    int64_t shape[WG_MAX_RANK];
} export_piece;

typedef struct model_export {
    wg_model_spec *spec;
    wg_parameters *weights; /* of the train cut: every tensor in f32, named as here */
    wg_network *network;
    export_piece *pieces;
    uint32_t count, capacity;
    wg_kind kind, embedding_kind;
    bool to_gguf;
    const char *architecture; /* of GGUF */
    wg_error *error;
} model_export;

/* The items of a piece in f32, in the new form; owned, volume + 1 of them. */
float *export_items(const model_export *x, uint32_t index, int64_t *volume);
/* A token as it stands in files: letters of a byte-level vocabulary, or its bytes. */
struct wg_tokenizer;
void export_token(const struct wg_tokenizer *tokenizer, int32_t id, base_string *out);
/* Byte-level, with merges by a split that files have names for. */
bool export_has_merges(const struct wg_tokenizer *tokenizer);

/* config.json; of an image with what only facts say left out. */
bool export_config(const model_config *config, wg_kind kind, bool image, base_string *out, wg_error *error);
void export_facts(const wg_model_spec *spec, base_string *out);
/* A byte-level vocabulary as tokenizer.json. */
void export_tokenizer(const struct wg_tokenizer *tokenizer, base_string *out);
/* The keys of a spec's GGUF file as one without tensors. */
bool export_gguf_keys(wg_model_spec *spec, base_string *out, wg_error *error);

bool export_write_gguf(model_export *x, const char *path);
bool export_write_folder(model_export *x, const char *directory);

#endif
