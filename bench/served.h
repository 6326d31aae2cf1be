/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * How bench/peers/compare.py asks a program, ours or a peer's, a line each way:
 *
 *   row NAME      to "ready", or "none" where the program has no such row
 *   check         to numbers: what the row computes, so that peers can be told apart from programs that err
 *   time SECONDS  to seconds of one turn, the fastest of turns that take so long
 *   costs         to three numbers of the row: seconds to have it ready, seconds of its first turn, and the bytes by which a turn's greatest
 *                 resident memory exceeds that of the program before its first row */
#ifndef BENCH_SERVED_H
#define BENCH_SERVED_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERVED_NUMBERS 128

typedef struct served {
    bool (*row)(void *user, const char *name);
    size_t (*check)(void *user, double numbers[SERVED_NUMBERS]);
    double (*time)(void *user, double seconds);
    void (*costs)(void *user, double costs[3]); /* NULL: not told */
    void *user;
} served;

static inline void served_print(const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) printf(i ? " %.17g" : "%.17g", numbers[i]);
    printf("\n");
}

static inline int served_loop(const served *program)
{
    char line[256];
    double numbers[SERVED_NUMBERS];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (!strncmp(line, "row ", 4)) printf("%s\n", program->row(program->user, line + 4) ? "ready" : "none");
        else if (!strcmp(line, "check")) served_print(numbers, program->check(program->user, numbers));
        else if (!strncmp(line, "time ", 5)) printf("%.9g\n", program->time(program->user, strtod(line + 5, NULL)));
        else if (!strcmp(line, "costs") && program->costs) {
            program->costs(program->user, numbers);
            served_print(numbers, 3);
        } else return 1;
        fflush(stdout);
    }
    return 0;
}

#endif
