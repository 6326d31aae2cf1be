/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * How bench/peers/compare.py asks a program, ours or a peer's, a line each way:
 *
 *   row NAME      to "ready", or "none" where the program has no such row
 *   check         to one number: what the row computes, so that peers can be told apart from programs that err
 *   time SECONDS  to seconds of one turn, the fastest of turns that take so long */
#ifndef BENCH_SERVED_H
#define BENCH_SERVED_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct served {
    bool (*row)(void *user, const char *name);
    double (*check)(void *user);
    double (*time)(void *user, double seconds);
    void *user;
} served;

static inline int served_loop(const served *program)
{
    char line[256];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (!strncmp(line, "row ", 4)) printf("%s\n", program->row(program->user, line + 4) ? "ready" : "none");
        else if (!strcmp(line, "check")) printf("%.17g\n", program->check(program->user));
        else if (!strncmp(line, "time ", 5)) printf("%.9g\n", program->time(program->user, strtod(line + 5, NULL)));
        else return 1;
        fflush(stdout);
    }
    return 0;
}

#endif
