/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What the bench programs share: clocks, failing, and the rows of the one table that they print together:
 *
 *   what is measured | figure | goal | met, MISSED or nothing where there is no goal */
#ifndef BENCH_FIGURES_H
#define BENCH_FIGURES_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "wengert/types.h"

typedef enum figure_verdict { FIGURE_MISSED, FIGURE_MET, FIGURE_FREE } figure_verdict;

/* Seconds. */
static inline double figure_clock(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static inline void figure_must(bool good, const wg_error *error)
{
    if (good) return;
    fprintf(stderr, "bench: %s\n", error && error->code != WG_OK ? error->message : "a result is wrong: nothing was measured");
    exit(1);
}

/* Opens a group of rows. */
static inline void figure_section(const char *title)
{
    printf("\n## %s\n\n", title);
}

/* The figure is written as printf does. goal "": none. */
__attribute__((format(printf, 4, 5))) static inline void figure_row(const char *what, const char *goal, figure_verdict verdict,
                                                                  const char *format, ...)
{
    static const char *const words[] = {"MISSED", "met", ""};
    char figure[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(figure, sizeof figure, format, arguments);
    va_end(arguments);
    printf("%-66s | %-32s | %-10s | %s\n", what, figure, goal, words[verdict]);
    fflush(stdout);
}

#endif
