/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * An entry over held-out rows, its scalar results as figures of all rows. */
#ifndef TOOLS_EVALUATION_H
#define TOOLS_EVALUATION_H

#include "tools/runner.h"

#define EVALUATION_MOST 16

typedef struct evaluation_figure {
    char name[64];
    double value;
} evaluation_figure;

/* A float scalar is a mean of its batch: the figure is the mean over all rows. An integer scalar is a count of its batch: the figure is
 * the sum; `correct` gives the accuracy, its share of the rows. */
typedef struct evaluation {
    int64_t rows;
    uint32_t count;
    evaluation_figure figures[EVALUATION_MOST];
    bool has_accuracy;
    double accuracy;
} evaluation;

/* Runs over every row of b in stored order. */
bool evaluation_run(runner *r, batches *b, const wg_parameters *parameters, evaluation *result, wg_error *error);
/* "loss 0.3021, correct 8912, accuracy 0.8912" */
void evaluation_put_text(const evaluation *result, base_string *text);
/* {"rows": 10000, "loss": 0.3021, "correct": 8912, "accuracy": 0.8912} */
void evaluation_put_json(const evaluation *result, base_string *text);

#endif
