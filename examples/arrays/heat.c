/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The heat equation: du/dt = a (d2u/dx2 + d2u/dy2) on a plate whose edge is insulated, by small steps. The step is written for one plate
 * and mapped over an axis of four, each of another material; the mapped steps are compiled. Heat is conserved, which the program checks.
 *
 *     heat [--out picture.ppm] */
#include "picture.h"

enum { SIDE = 96, PLATES = 4, STEPS = 8, ROUNDS = 60 };

/* The plate seen from so many rows down and columns across, out of one with a margin. */
static wg_array *seen_from(wg_array *margin, int64_t row, int64_t column)
{
    return wg_array_narrow(wg_array_narrow(margin, 0, row, SIDE, 1), 1, column, SIDE, 1);
}

/* u [side, side], a [] to u some steps later. What is beyond an insulated edge is as warm as the edge. */
static bool steps_of_one(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user, (void)lazy;
    wg_array *u = inputs[0];
    for (int step = 0; step < STEPS; step++) {
        wg_array *margin = wg_array_pad(u, (int64_t[]){1, 1}, (int64_t[]){1, 1}, "edge", 0);
        wg_array *across = wg_array_add(seen_from(margin, 1, 0), seen_from(margin, 1, 2));
        wg_array *down = wg_array_add(seen_from(margin, 0, 1), seen_from(margin, 2, 1));
        wg_array *bend = wg_array_sub(wg_array_add(across, down), wg_array_mul(u, 4));
        u = wg_array_add(u, wg_array_mul(bend, inputs[1]));
    }
    outputs[0] = u;
    return true;
}

static bool steps_of_all(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    wg_function one = {steps_of_one, user, 2, 1};
    return wg_function_map(lazy, &one, inputs, NULL, NULL, outputs);
}

/* Hot letters on a cold plate. */
static wg_array *make_plate(wg_lazy *lazy)
{
    static const char *rows[] = {"..........", ".oo..oo.o.", ".oo..oo...", ".oo..oo...", ".oooooo.o.",
                                 ".oooooo.o.", ".oo..oo.o.", ".oo..oo.o.", ".oo..oo.o.", ".........."};
    double coarse[100];
    for (int i = 0; i < 100; i++) coarse[i] = rows[i / 10][i % 10] == 'o';
    wg_array *large = wg_array_repeat(wg_array_repeat(wg_array_from(lazy, WG_KIND_F64, WG_EXTENTS(10, 10), coarse), 10, 0), 10, 1);
    return wg_array_index(large, WG_INDEXES(wg_index_slice(2, 2 + SIDE, 1), wg_index_slice(2, 2 + SIDE, 1)));
}

int main(int argc, char **argv)
{
    wg_lazy *lazy = wg_lazy_new(NULL, NULL);
    if (!lazy) return 1;
    wg_scope_open(lazy);
    /* above 0.25 steps this long explode */
    wg_array *materials = wg_array_from(lazy, WG_KIND_F64, WG_EXTENTS(PLATES), (double[]){0.002, 0.015, 0.06, 0.24});
    wg_array *start = make_plate(lazy), *u = wg_array_broadcast_to(start, WG_EXTENTS(PLATES, SIDE, SIDE));
    wg_jit *steps = wg_jit_new(lazy, &(wg_function){steps_of_all, NULL, 2, 1}, NULL, 0);
    wg_array_run(&u, 1);
    printf("the heat equation on %d plates of %d by %d\n\nspread (standard deviation) by material\n\nsteps ", PLATES, SIDE, SIDE);
    double *numbers = picture_items(materials), first = 0, last = 0;
    for (int i = 0; numbers && i < PLATES; i++) printf(" %9.3f", numbers[i]);
    wg_array_double(wg_array_sum(u, WG_ALL_AXES, false), &first);
    printf("\n");
    for (int round = 0; round <= ROUNDS; round++) {
        double *spread = round % 10 ? NULL : picture_items(wg_array_std(u, WG_AXES(1, 2), false, 0));
        if (spread) printf("%5d ", STEPS * round);
        for (int i = 0; spread && i < PLATES; i++) printf(" %9.6f", spread[i]);
        if (spread) printf("\n");
        free(spread);
        wg_array *next;
        if (round == ROUNDS || !wg_jit_call(steps, (wg_array *[]){u, materials}, &next) || !wg_array_run(&next, 1)) break;
        u = next;
    }
    wg_array_double(wg_array_sum(u, WG_ALL_AXES, false), &last);
    printf("\nheat on all plates: %.6f before, %.6f after\n", first, last);

    picture p = picture_new(2 * SIDE * PLATES + 4 * (PLATES - 1), 2 * SIDE, 0, 1, 0, 1);
    for (int i = 0; i < PLATES; i++) {
        wg_array *plate = wg_array_index(u, WG_INDEXES(wg_index_at(i)));
        picture_shades(&p, i * (2 * SIDE + 4), 0, wg_array_repeat(wg_array_repeat(plate, 2, 0), 2, 1), 0, 1);
    }
    int result = picture_end(&p, argc, argv, lazy);
    free(numbers);
    wg_jit_free(&steps);
    wg_lazy_free(&lazy);
    return result;
}
