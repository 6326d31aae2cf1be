/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Layers, cells, optimisers, schedules, checkpoints. Everything here stands on the other public headers alone. */
#ifndef WENGERT_NN_H
#define WENGERT_NN_H

#include "wengert/compose.h"
#include "wengert/files.h"
#include "wengert/grad.h"
#include "wengert/text.h" /* wg_tensor_initialise */
#include "wengert/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- layers: each records its parameters, named PREFIX.weight ..., when it is made; and its map when it is applied ---- */

typedef struct wg_linear_layer { wg_value weight, bias; } wg_linear_layer; /* [i, o], [o] */
WG_API wg_linear_layer wg_linear_layer_new(wg_tape *tape, const char *prefix, int64_t inputs, int64_t outputs, uint64_t seed);
WG_API wg_value wg_linear_layer_apply(const wg_linear_layer *layer, wg_value x); /* [n, i] to [n, o] */

#define WG_MLP_LAYERS 16
typedef enum wg_activation { WG_ACTIVATION_NONE, WG_ACTIVATION_RELU, WG_ACTIVATION_TANH, WG_ACTIVATION_SIGMOID, WG_ACTIVATION_GELU, WG_ACTIVATION_SILU } wg_activation;
typedef struct wg_mlp { wg_linear_layer layers[WG_MLP_LAYERS]; uint32_t count; wg_activation activation; } wg_mlp;
/* widths [count + 1]; the activation stands between layers, not after the last. */
WG_API wg_mlp wg_mlp_new(wg_tape *tape, const char *prefix, const int64_t *widths, uint32_t count, wg_activation activation, uint64_t seed);
WG_API wg_value wg_mlp_apply(const wg_mlp *mlp, wg_value x);

typedef struct wg_conv_layer { wg_value filters, bias; wg_window window; int64_t groups; } wg_conv_layer; /* [f, c/groups, h, w], [f] */
WG_API wg_conv_layer wg_conv_layer_new(wg_tape *tape, const char *prefix, int64_t channels, int64_t filters, int64_t size, int64_t step, int64_t padding,
                                       uint64_t seed);
WG_API wg_value wg_conv_layer_apply(const wg_conv_layer *layer, wg_value x);

typedef struct wg_norm_layer { wg_value scale, shift; double epsilon; } wg_norm_layer; /* [d], [d]; shift absent for rms norm */
WG_API wg_norm_layer wg_layer_norm_new(wg_tape *tape, const char *prefix, int64_t width, double epsilon);
WG_API wg_value wg_layer_norm_apply(const wg_norm_layer *layer, wg_value x);
WG_API wg_norm_layer wg_rms_norm_new(wg_tape *tape, const char *prefix, int64_t width, double epsilon);
WG_API wg_value wg_rms_norm_apply(const wg_norm_layer *layer, wg_value x);

/* Batch norm with running statistics as inputs and carried results. */
typedef struct wg_batch_norm_layer {
    wg_value scale, shift;                     /* parameters [c] */
    wg_value running_mean, running_variance;   /* inputs [c] */
    wg_value next_mean, next_variance;         /* set by apply: what the entry carries to them */
    double epsilon, momentum;
} wg_batch_norm_layer;
WG_API wg_batch_norm_layer wg_batch_norm_new(wg_tape *tape, const char *prefix, int64_t channels, double epsilon, double momentum);
WG_API wg_value wg_batch_norm_apply(wg_batch_norm_layer *layer, wg_value x);                    /* training: batch statistics */
WG_API wg_value wg_batch_norm_apply_inference(const wg_batch_norm_layer *layer, wg_value x);    /* running statistics */

typedef struct wg_embedding_layer { wg_value table; } wg_embedding_layer; /* [rows, width] */
WG_API wg_embedding_layer wg_embedding_layer_new(wg_tape *tape, const char *prefix, int64_t rows, int64_t width, uint64_t seed);
WG_API wg_value wg_embedding_layer_apply(const wg_embedding_layer *layer, wg_value positions);

typedef struct wg_attention_layer { wg_linear_layer query, key, value, output; int64_t heads; bool causal; } wg_attention_layer;
/* Multi-head self-attention over x [n, t, width]. */
WG_API wg_attention_layer wg_attention_layer_new(wg_tape *tape, const char *prefix, int64_t width, int64_t heads, bool causal, uint64_t seed);
WG_API wg_value wg_attention_layer_apply(const wg_attention_layer *layer, wg_value x);

/* ---- recurrent cells: one step; recurrence is feeds or carries ---- */

typedef struct wg_gru_cell { wg_value input_weight, hidden_weight, input_bias, hidden_bias; int64_t width; } wg_gru_cell; /* [i, 3w] [w, 3w] [3w] [3w]; gates reset, update, new */
WG_API wg_gru_cell wg_gru_cell_new(wg_tape *tape, const char *prefix, int64_t inputs, int64_t width, uint64_t seed);
WG_API wg_value wg_gru_cell_step(const wg_gru_cell *cell, wg_value x, wg_value h); /* [n, i], [n, w] to [n, w] */

typedef struct wg_lstm_cell { wg_value input_weight, hidden_weight, bias; int64_t width; } wg_lstm_cell; /* [i, 4w] [w, 4w] [4w]; gates input, forget, cell, output */
WG_API wg_lstm_cell wg_lstm_cell_new(wg_tape *tape, const char *prefix, int64_t inputs, int64_t width, uint64_t seed);
/* h and c [n, w] are replaced by the next ones. */
WG_API void wg_lstm_cell_step(const wg_lstm_cell *cell, wg_value x, wg_value *h, wg_value *c);

/* ---- optimisers: pure transforms of a parameter table, in the parameters' kind (f32 or f64) ---- */

typedef enum wg_optimiser_method { WG_OPTIMISER_SGD, WG_OPTIMISER_ADAM, WG_OPTIMISER_ADAMW } wg_optimiser_method;
typedef enum wg_schedule { WG_SCHEDULE_CONSTANT, WG_SCHEDULE_LINEAR, WG_SCHEDULE_COSINE, WG_SCHEDULE_STEP } wg_schedule;

typedef struct wg_optimiser_options {
    size_t size;
    wg_optimiser_method method;
    double rate;              /* 0: 1e-3 for Adam(W), 1e-2 for SGD */
    double momentum;          /* SGD */
    double beta1, beta2;      /* Adam; 0: 0.9, 0.999 (Kingma and Ba 2015, algorithm 1) */
    double epsilon;           /* 0: 1e-8 */
    double weight_decay;      /* AdamW: decoupled (Loshchilov and Hutter 2019, algorithm 2); SGD, Adam: added to the gradient */
    double clip;              /* global gradient norm; 0: none */
    wg_schedule schedule;
    uint64_t warmup, total;   /* steps: linear rise, then the schedule's fall to `final_rate` at total */
    double final_rate;
} wg_optimiser_options;

/* Holds the moments and the step count. */
typedef struct wg_optimiser wg_optimiser;
WG_API wg_optimiser *wg_optimiser_new(const wg_parameters *parameters, const wg_optimiser_options *options, wg_error *error);
WG_API void wg_optimiser_free(wg_optimiser **optimiser);
/* One step in place. gradients[i] is that of wrt[i]; parameters not named stay. */
WG_API bool wg_optimiser_step(wg_optimiser *optimiser, wg_parameters *parameters, const wg_symbol *wrt, const wg_view *gradients, uint32_t count,
                              wg_error *error);
WG_API uint64_t wg_optimiser_steps(const wg_optimiser *optimiser);
/* The rate of the next step. */
WG_API double wg_optimiser_rate(const wg_optimiser *optimiser);

/* ---- checkpoints: a trained model is one safetensors file ---- */

/* Writes parameters by name, the program text, its identity and, where given, the optimiser's state and further metadata (key, value pairs, count of pairs). The old file is
 * kept on any failure. */
WG_API bool wg_checkpoint_save(const char *path, const wg_network *network, const wg_parameters *parameters, const wg_optimiser *optimiser,
                               const char *const *metadata, uint32_t metadata_count, wg_error *error);

typedef struct wg_checkpoint {
    wg_network *network; /* owned, from the text in the file */
    wg_parameters *parameters;
    wg_optimiser *optimiser; /* NULL: none was saved */
    wg_bundle *bundle;       /* the file: further metadata by wg_bundle_get_text */
} wg_checkpoint;
/* Training resumed from it gives the same bits as uninterrupted training. */
WG_API bool wg_checkpoint_load(wg_context *context, const char *path, wg_checkpoint *checkpoint, wg_error *error);
WG_API void wg_checkpoint_free(wg_checkpoint *checkpoint);
/* Fills a table from a bundle by parameter name; every parameter must be there, with its kind and shape. */
WG_API bool wg_parameters_load(wg_parameters *parameters, const wg_network *network, const wg_bundle *bundle, wg_error *error);

#ifdef __cplusplus
}
#endif
#endif
