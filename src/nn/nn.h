/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * nn/: layers, cells, optimisers, checkpoints, on the public headers alone: what is here, a user could have written.
 *
 *   layers.c  linear, conv, norms, embedding, attention    cells.c       GRU, LSTM
 *   optimise.c  SGD, Adam(W), schedules, clipping      checkpoint.c  a trained model as one file
 *
 * Start with layers.c. */
#ifndef NN_NN_H
#define NN_NN_H

#include "wengert/nn.h"

/* A parameter named PREFIX.SUFFIX, begun as `how` says; the tape keeps an error when there is no memory. */
wg_value nn_parameter(wg_tape *tape, const char *prefix, const char *suffix, wg_initialiser how, uint32_t rank, const int64_t *shape);
/* PREFIX.SUFFIX in text, or NULL, which wg_name refuses, where there is no prefix. */
#define NN_NAME_BYTES 256
const char *nn_name(char text[NN_NAME_BYTES], const char *prefix, const char *suffix);
/* Poison, for a layer or cell at NULL; the tape of x keeps that a value is missing. */
wg_value nn_missing(wg_value x);
/* An initialiser that needs its name and seed alone. */
#define NN_BEGIN(called, seeded) ((wg_initialiser){.name = (called), .seed = (seeded)})
/* Writes an optimiser's state into a bundle, and reads it back for a table; NULL without an error where the bundle holds none. */
bool nn_optimiser_put(const wg_optimiser *optimiser, const wg_network *network, wg_bundle *bundle, wg_error *error);
wg_optimiser *nn_optimiser_get(const wg_parameters *parameters, const wg_network *network, const wg_bundle *bundle, wg_error *error);
/* The name under which a parameter's payload is filed: its own, or pN by its node. text has at least 24 bytes. */
const char *nn_payload_name(const wg_network *network, wg_symbol parameter, char *text);
/* Sets code and message of an error that has none yet; answers false. */
bool nn_fail(wg_error *error, wg_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
