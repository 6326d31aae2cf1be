/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The rows of several inputs, batch by batch: which extent counts them, in which order they come, the buffers that are fed. */
#ifndef TOOLS_BATCHES_H
#define TOOLS_BATCHES_H

#include "tools/dataset.h"
#include "tools/tools.h"

#define BATCHES_MOST_INPUTS 64
#define BATCHES_MOST_EXTENTS 64

typedef struct batch_input {
    char name[128];
    const char *file; /* borrowed from the call */
    wg_symbol input;
    dataset data;
    uint32_t rank;
    int64_t shape[WG_MAX_RANK]; /* of what is fed: the rows of this batch first */
    size_t row_bytes;
    bool is_batched;            /* its first axis counts rows; else the whole is fed each time */
    unsigned char *buffer;      /* [batch * row_bytes] */
    size_t buffer_bytes;
} batch_input;

typedef struct batches {
    batch_input inputs[BATCHES_MOST_INPUTS];
    uint32_t count;
    int64_t rows, size;        /* all rows; rows of a full batch */
    const char *extent;        /* what counts rows; NULL: the program has a number there, and every batch is full */
    wg_binding
        bindings[BATCHES_MOST_EXTENTS]; /* the extents that the data decide; the batch's number stands first where extent is not NULL */
    uint32_t binding_count;
    uint32_t *order;           /* [rows]: the rows in the order of this epoch */
    wg_feed feeds[BATCHES_MOST_INPUTS];
} batches;

/* Reads every NAME=FILE of an option (--data, --test) for inputs of a network. size 0: the number that the program's extent has. Errors:
 * no such input, readers' errors, data whose rows do not fit their input or whose row counts differ. Freed by batches_free, also after a
 * failure. */
bool batches_open(batches *b, const tool_call *call, const char *option, const wg_network *network, int64_t size, wg_error *error);
void batches_free(batches *b);
/* The rows in stored order, or shuffled: every seed and epoch has its own order, which depends on nothing else. */
void batches_arrange(batches *b);
void batches_shuffle(batches *b, uint64_t seed, uint64_t epoch);
/* How many batches the rows make: a short last one counts where an extent can be bound to it. */
int64_t batches_count(const batches *b);
/* Gathers batch `index` and points feeds at it; how many rows it has. */
int64_t batches_gather(batches *b, int64_t index);
/* The feeds of the last batch whose inputs are among reached [node count]; feeds has BATCHES_MOST_INPUTS places. Answers how many. */
uint32_t batches_feeds(const batches *b, const bool *reached, wg_feed *feeds);
/* The input of a name; NULL where there is none. */
const batch_input *batches_find(const batches *b, const char *name);

#endif
