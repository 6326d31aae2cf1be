/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The Mandelbrot set: which points c of the plane stay bounded under z -> z z + c, and how soon the others leave. Every point takes the
 * same steps; those that left stand still. Ten steps are one compiled function: traced once, replayed without being called, and planned
 * once as a few passes over the items, of some twenty calls each.
 *
 *     mandelbrot [--out picture.ppm] */
#include "picture.h"

enum { WIDTH = 420, HEIGHT = 280, STEPS = 10, ROUNDS = 20 };

/* bool: not gone yet. Beyond 2 nothing comes back; 16 makes the shades of the picture smoother. */
static wg_array *inside(wg_array *x, wg_array *y) { return wg_array_less(wg_array_add(wg_array_square(x), wg_array_square(y)), 256); }

/* x, y [h, w] the point reached, count [h, w] the steps taken, with c = (a [w], b [h, 1]), to x, y, count. */
static bool ten_steps(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user, (void)lazy;
    wg_array *x = inputs[0], *y = inputs[1], *count = inputs[2], *a = inputs[3], *b = inputs[4];
    for (int step = 0; step < STEPS; step++) {
        wg_array *stays = inside(x, y);
        wg_array *next_x = wg_array_add(wg_array_sub(wg_array_square(x), wg_array_square(y)), a);
        wg_array *next_y = wg_array_add(wg_array_mul(wg_array_mul(x, y), 2), b);
        x = wg_array_select(stays, next_x, x);
        y = wg_array_select(stays, next_y, y);
        count = wg_array_add(count, wg_array_convert(stays, WG_KIND_F64));
    }
    outputs[0] = x, outputs[1] = y, outputs[2] = count;
    return true;
}

int main(int argc, char **argv)
{
    wg_lazy *lazy = wg_lazy_new(NULL, NULL);
    if (!lazy) return 1;
    wg_scope_open(lazy);
    wg_array *a = wg_array_linspace(lazy, WG_KIND_F64, -2.1, 0.75, WIDTH, true);
    wg_array *b = wg_array_reshape(wg_array_linspace(lazy, WG_KIND_F64, 0.95, -0.95, HEIGHT, true), WG_EXTENTS(HEIGHT, 1));
    wg_array *none = wg_array_zeros(lazy, WG_KIND_F64, WG_EXTENTS(HEIGHT, WIDTH));
    wg_array *state[] = {none, none, none, a, b};
    wg_jit *steps = wg_jit_new(lazy, &(wg_function){ten_steps, NULL, 5, 3}, NULL, 0);

    printf("the Mandelbrot set on %d by %d points\n\n steps   inside      area\n", WIDTH, HEIGHT);
    wg_array_run(state, 5);
    for (int round = 1; round <= ROUNDS; round++) {
        wg_array *next[3];
        if (!wg_jit_call(steps, state, next) || !wg_array_run(next, 3)) break;
        memcpy(state, next, sizeof next);
        int64_t left = 0;
        wg_array_int64(wg_array_sum(inside(state[0], state[1]), WG_ALL_AXES, false), &left);
        double point = 2.85 / (WIDTH - 1) * 1.9 / (HEIGHT - 1);
        if (round % 4 == 0 || round == 1) printf("%6d %8d %9.5f\n", STEPS * round, (int)left, (double)left * point);
    }
    wg_jit_figures figures;
    wg_jit_figures_of(steps, &figures);
    printf("\nten steps were traced %d time and replayed %d times\n", (int)figures.traces, (int)figures.replays);

    /* steps + 1 - log2(log2 |z|): the same along a curve that the steps alone would cut into bands */
    wg_array *length = wg_array_sqrt(wg_array_add(wg_array_square(state[0]), wg_array_square(state[1])));
    wg_array *smooth = wg_array_sub(wg_array_add(state[2], 1), wg_array_log2(wg_array_log2(wg_array_maximum(length, 2))));
    wg_array *shade = wg_array_select(inside(state[0], state[1]), none, wg_array_log1p(wg_array_maximum(smooth, 0)));
    picture p = picture_new(WIDTH, HEIGHT, 0, WIDTH, 0, HEIGHT);
    picture_shades(&p, 0, 0, shade, 0.6, 4.6);
    int result = picture_end(&p, argc, argv, lazy);
    wg_jit_free(&steps);
    wg_lazy_free(&lazy);
    return result;
}
