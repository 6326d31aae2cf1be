/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What a classifier says of every held-out row: its class, how sure it is, and against the true class. */
#ifndef TOOLS_VERDICTS_H
#define TOOLS_VERDICTS_H

#include "tools/training.h"

typedef struct verdicts {
    int64_t rows;
    uint32_t classes;
    float *probabilities;  /* [rows, classes] */
    uint32_t *predicted;   /* [rows] */
    const wg_tensor *truth;       /* integers [rows], borrowed from the data; NULL: nothing says */
    const batch_input *pictures;  /* what the samples show; NULL: no input looks like pictures */
    const char *truth_file;       /* the data beside which classes.txt may stand; NULL with truth */
} verdicts;

/* Runs entry classify over the held-out rows: its result `probabilities` f32 or f64 [rows, classes] and, where it has one, its integer
 * result [rows] as the predicted class (else the most probable). False without an error where the program has no such entry, no such
 * result, or there are no held-out rows. Freed by verdicts_free. */
bool verdicts_read(training *t, verdicts *v, wg_error *error);
void verdicts_free(verdicts *v);
/* The true class of a row; `classes` where it is none of them. */
uint32_t verdicts_truth(const verdicts *v, int64_t row);

#endif
