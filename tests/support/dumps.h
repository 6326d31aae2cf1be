/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The golden dumps of tests/data/dumps: the networks that they show, recorded row by row, and the numbers in their headers. */
#ifndef SUPPORT_DUMPS_H
#define SUPPORT_DUMPS_H

#include "wengert/ops.h"

/* What an entry of a recording declares. */
typedef struct dump_symbols {
    uint32_t root_count, observe_count;
    wg_symbol roots[4], observes[4];
    wg_posture posture;
} dump_symbols;

typedef struct dump_recording {
    const char *name;                                  /* of the file, without .txt */
    wg_kind kind;                                      /* of the tape that the dump shows */
    bool is_plan;                                      /* else of a tape */
    wg_tape *(*record)(wg_kind kind, dump_symbols *out); /* an unsealed tape of either float kind */
} dump_recording;

extern const dump_recording dump_recordings[];
extern const uint32_t dump_recording_count;
/* The recording of a name; ends the test when there is none. */
const dump_recording *dump_find(const char *name);

wg_tape *dump_record_exports_sample(wg_kind kind, dump_symbols *out);
wg_tape *dump_record_exports_train(wg_kind kind, dump_symbols *out);
wg_tape *dump_record_attention_causal(wg_kind kind, dump_symbols *out);
wg_tape *dump_record_batchnorm_training(wg_kind kind, dump_symbols *out);
wg_tape *dump_record_conv_pad_stride(wg_kind kind, dump_symbols *out);
wg_tape *dump_record_conv_pool(wg_kind kind, dump_symbols *out);
wg_tape *dump_record_duplicate_names(wg_kind kind, dump_symbols *out);
wg_tape *dump_record_embedding_loss(wg_kind kind, dump_symbols *out);
wg_tape *dump_record_observe_hidden(wg_kind kind, dump_symbols *out);
wg_tape *dump_record_pool_overlap(wg_kind kind, dump_symbols *out);
wg_tape *dump_record_recurrence_feeds(wg_kind kind, dump_symbols *out);
wg_tape *dump_record_retain_mixed(wg_kind kind, dump_symbols *out);
wg_tape *dump_record_retain(wg_kind kind, dump_symbols *out);
wg_tape *dump_record_roots_only(wg_kind kind, dump_symbols *out);
wg_tape *dump_record_affine(wg_kind kind, dump_symbols *out);
wg_tape *dump_record_broadcast_to(wg_kind kind, dump_symbols *out);
wg_tape *dump_record_layernorm_gelu(wg_kind kind, dump_symbols *out);
wg_tape *dump_record_reduce_axes(wg_kind kind, dump_symbols *out);
wg_tape *dump_record_scalars(wg_kind kind, dump_symbols *out);
wg_tape *dump_record_windows(wg_kind kind, dump_symbols *out);

/* An entry over a sealed recording, as `out` says; owned. */
wg_entry *dump_entry(const wg_network *network, const dump_symbols *symbols);

/* A number of a header: `value loss (node 15) [] = ..` or `gradient d loss / d q (node 0) [4, 3] = ..`. */
typedef struct dump_number {
    bool is_gradient, is_f32; /* f32: of the f32 tape, to 1e-5; else of the f64 tape, to 1e-12 */
    char target[32];          /* gradient: whose */
    char what[48];
    uint32_t node;            /* of `what` */
    wg_tensor *items;         /* f64, with the shape told */
} dump_number;

typedef struct dump_file {
    char *text;        /* the whole file */
    const char *body;  /* behind the header */
    uint32_t number_count, result_count, series_count;
    dump_number numbers[32];
    uint32_t results[16];  /* `results in order`; none: result_count 0 */
    int64_t series[64];    /* `live series` */
} dump_file;

/* A golden file by name; ends the test when it cannot be read. Freed by dump_free. */
dump_file *dump_read(const char *name);
void dump_free(dump_file *file);
/* The node that a header's `value NAME` names; WG_NONE when none does. */
uint32_t dump_node(const dump_file *file, const char *what);

#endif
