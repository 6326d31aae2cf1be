/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What a training says while it runs: a line on a terminal that renews itself, elsewhere a plain line at most every 10 s, and --log, one
 * JSON object a line. */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include "tools/tools.h"

typedef struct progress {
    bool is_terminal, line_open;
    FILE *log; /* NULL: none */
    const char *log_path;
    const char *unit;      /* what a row is called: "img" */
    uint64_t steps;        /* of the whole training */
    double started, shown; /* seconds of progress_now */
    double window_start, window_rows, rate; /* rows a second over the last window */
    bool has_rate; /* a whole window was measured */
    uint64_t steps_done;
} progress;

typedef struct progress_step_facts {
    uint64_t step; /* counted from 1 */
    uint64_t epoch;
    double loss, rate;
    int64_t rows;
    double seconds; /* that the step took */
} progress_step_facts;

/* Seconds of a clock that only goes forward. */
double progress_now(void);
/* Opens --log for appending. */
bool progress_open(progress *p, const tool_call *call, const char *unit, uint64_t steps, wg_error *error);
void progress_step(progress *p, const progress_step_facts *facts);
/* A line of its own on stderr. */
void progress_say(progress *p, const char *format, ...) BASE_PRINTF(2, 3);
/* Appends an object's text, without the newline, to the log. */
void progress_log(progress *p, const base_string *text);
/* False and an error where the log could not be written. */
bool progress_close(progress *p, wg_error *error);
/* A number as JSON: the fewest digits; non-finite ones as strings. */
void progress_put_number(base_string *text, double value);
/* A loss for people: four decimals, or three digits where those would be zeros. Seconds alike. */
const char *progress_figure(double value, char text[32]);
const char *progress_seconds(double value, char text[32]);
/* 18,200 */
const char *progress_thousands(double value, char text[32]);

#endif
