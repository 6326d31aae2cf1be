/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A training under way: a model, its optimiser, the entries that train and judge it, the data.
 *
 *   training.c       opening, resuming, saving      training_loop.c  steps, epochs, Ctrl-C
 *   training_fault.c where a number that is not finite came from */
#ifndef TOOLS_TRAINING_H
#define TOOLS_TRAINING_H

#include "tools/evaluation.h"
#include "tools/progress.h"
#include "tools/settings.h"

/* What the report tells: the loss of each step of this call, the held-out figures of each epoch. */
typedef struct training_history {
    uint64_t first_step; /* steps before this call */
    float *losses;
    uint32_t loss_count, loss_capacity;
    evaluation *evaluations;
    uint64_t *evaluated_at; /* steps */
    uint32_t evaluation_count, evaluation_capacity, evaluated_capacity;
    double seconds;         /* of the steps */
    double rows;
} training_history;

typedef struct training {
    const tool_call *call;
    settings settings;
    tool_model model;
    wg_optimiser *optimiser;
    batches data, test;
    runner train, evaluate;
    bool has_evaluate;
    wg_symbol loss;
    /* Pairs: gradients[i] is that of wrt[i]. */
    wg_symbol *wrt, *gradients;
    wg_view *views;
    uint32_t pair_count;
    uint64_t step, steps_an_epoch; /* steps done; */
    wg_tensor *carried[RUNNER_MOST_CARRIES]; /* what the train entry carried into the step under way, by carry; NULL: not yet */
    progress progress;
    training_history history;
} training;

/* Everything from the options of a call. code is TOOL_DONE, or what the command must answer after a usage message; errors are in error.
 * Closed by training_close, always. */
bool training_open(training *t, const tool_call *call, int *code, wg_error *error);
void training_close(training *t);
/* Steps until the epochs are done. TOOL_DONE, TOOL_INTERRUPTED, or TOOL_FAILED with the error. */
int training_loop(training *t, wg_error *error);
/* Writes the model to --out, where there is one; on failure the old file is as it was. */
bool training_save(training *t, wg_error *error);
/* Feeds for an entry beside the data: the values that training carries, as they are now. They live until the next step. */
void training_extra_feeds(const training *t, runner *r);
/* Finds, by the oracle, the first value of the batch under way that is not finite; always false, with an error that names it. `what` is
 * what was found not to be finite. */
bool training_fault(training *t, const char *what, wg_error *error);

#endif
