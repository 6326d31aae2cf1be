/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Reference results of operations, read from tests/data/ops (convert_cases.py says what stands there). Two forms: points, a table of one-
 * or two-argument values that are correctly rounded; and cases, whole arrays with results and, where there are any, cotangents and the
 * gradients they give. */
#ifndef SUPPORT_CASES_H
#define SUPPORT_CASES_H

#include "wengert/ops.h"

#define CASES_MOST_TENSORS 6
#define CASES_MOST_PARAMS 8

typedef struct cases_points {
    wg_kind from, to; /* equal but for conversions */
    uint32_t count, arity;
    double *a, *b; /* b: arity 2 alone */
    double *y;
    double *dy; /* the derivative by a; NaN where none is asked, NULL where the file has none */
} cases_points;

typedef struct cases_param {
    char key[24], value[48];
} cases_param;

typedef struct cases_case {
    char name[48];
    uint32_t param_count, input_count, result_count, cotangent_count, gradient_count;
    cases_param params[CASES_MOST_PARAMS];
    wg_tensor *inputs[CASES_MOST_TENSORS], *results[CASES_MOST_TENSORS], *cotangents[CASES_MOST_TENSORS];
    wg_tensor *gradients[CASES_MOST_TENSORS]; /* NULL: not a float input */
} cases_case;

typedef struct cases_file {
    char op[32];
    uint32_t points_count, case_count;
    cases_points points[4];
    cases_case *cases;
} cases_file;

/* The cases of an operation: "exp", "conv2d". A file that is missing or malformed ends the test. Freed by cases_free. */
cases_file *cases_read(const char *op);
void cases_free(cases_file *file);
/* A parameter as a number (`silent` where the case lacks it), as a list (answers how many), as text (NULL where it lacks it). */
double cases_number(const cases_case *entry, const char *key, double silent);
uint32_t cases_list(const cases_case *entry, const char *key, int64_t *numbers, uint32_t most);
const char *cases_text(const cases_case *entry, const char *key);

/* The file of points number `index` and the row that it is of; NULL beyond. */
const char *cases_points_row(uint32_t index, wg_op *op);
/* The files of whole arrays that are of rows, NULL-terminated. */
extern const char *const cases_array_rows[];
/* Records the row (or rows, one a result) that serves a case over inputs in its order; answers how many results it wrote to `results`. */
uint32_t cases_record(const cases_file *file, const cases_case *entry, const wg_value *inputs, wg_value results[CASES_MOST_TENSORS]);
typedef uint32_t (*cases_recorder)(const cases_file *file, const cases_case *entry, const wg_value *inputs,
                                   wg_value results[CASES_MOST_TENSORS]);
/* Records a case with its f64 items in `kind`, runs it by the oracle, and fails where a result is further off than cases_tolerance (floats)
 * or differs. */
void cases_check(const cases_file *file, const cases_case *entry, wg_kind kind, cases_recorder record);
/* The tensor in `kind` where it is f64, else as it is; owned. */
wg_tensor *cases_as_kind(const wg_tensor *tensor, wg_kind kind);
/* The tolerance relative to the greatest item that suits an operation and a kind. */
double cases_tolerance(const char *op, wg_kind kind);

#endif
