/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A neural differential equation: the law dx/dt = f(x) of a motion is learned from places along it. f is a small network; the motion
 * follows it by Runge-Kutta steps, and the gradient of how far it goes astray is taken back through all of them. The training step, with
 * its gradient, is traced once and replayed.
 *
 *     neural_ode [--out picture.ppm] */
#include "picture.h"

enum { HIDDEN = 32, WEIGHTS = 5 * HIDDEN + 2, POINTS = 48, PIECE = 5, STEPS = 1000 };
#define SPAN 0.15 /* of time between points */

typedef wg_array *(*law)(wg_array *weights, wg_array *x);

/* The law to be found: it turns about 0, and is drawn to the circle of radius 1 from both sides. */
static wg_array *true_law(wg_array *weights, wg_array *x)
{
    (void)weights;
    wg_array *a = wg_array_narrow(x, -1, 0, 1, 1), *b = wg_array_narrow(x, -1, 1, 1, 1);
    wg_array *pull = wg_array_scalar_sub(1, wg_array_add(wg_array_square(a), wg_array_square(b)));
    wg_array *da = wg_array_sub(wg_array_mul(a, pull), wg_array_mul(b, 1.5));
    wg_array *db = wg_array_add(wg_array_mul(b, pull), wg_array_mul(a, 1.5));
    return wg_array_concat((wg_array *[]){da, db}, 2, -1);
}

static wg_array *part(wg_array *weights, int64_t start, int64_t rows, int64_t columns)
{
    return wg_array_reshape(wg_array_narrow(weights, 0, start, rows * columns, 1), WG_EXTENTS(rows, columns));
}

/* tanh(x A + a) B + b for x [n, 2], of one vector of weights. */
static wg_array *network(wg_array *weights, wg_array *x)
{
    wg_array *inner = wg_array_add(wg_array_matmul(x, part(weights, 0, 2, HIDDEN)), part(weights, 2 * HIDDEN, 1, HIDDEN));
    return wg_array_add(wg_array_matmul(wg_array_tanh(inner), part(weights, 3 * HIDDEN, HIDDEN, 2)), part(weights, 5 * HIDDEN, 1, 2));
}

/* Places [points, n, 2] of motions from x [n, 2] on, by the classical Runge-Kutta method. */
static wg_array *motion(law f, wg_array *weights, wg_array *x, int points)
{
    wg_array *places[POINTS] = {x};
    for (int i = 1; i < points; i++) {
        wg_array *k1 = f(weights, x), *k2 = f(weights, wg_array_add(x, wg_array_mul(k1, SPAN / 2)));
        wg_array *k3 = f(weights, wg_array_add(x, wg_array_mul(k2, SPAN / 2))), *k4 = f(weights, wg_array_add(x, wg_array_mul(k3, SPAN)));
        wg_array *sum = wg_array_add(wg_array_add(k1, k4), wg_array_mul(wg_array_add(k2, k3), 2));
        places[i] = x = wg_array_add(x, wg_array_mul(sum, SPAN / 6));
    }
    return wg_array_stack(places, (uint32_t)points, 0);
}

/* weights, pieces [piece, n, 2] of the data to the mean squared distance []: each piece is followed from its first place on. */
static bool loss(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user, (void)lazy;
    wg_array *start = wg_array_index(inputs[1], WG_INDEXES(wg_index_at(0)));
    outputs[0] = wg_array_mean_squared_error(motion(network, inputs[0], start, PIECE), inputs[1]);
    return true;
}

/* weights, pieces, Adam's mean and square and the number of the step [] to the loss, and what they are after the step. */
static bool train(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    wg_function function = {loss, user, 2, 1};
    wg_array *gradients[2];
    if (!wg_gradient(lazy, &function, inputs, (bool[]){true, false}, &outputs[0], gradients)) return false;
    wg_array *count = wg_array_add(inputs[4], 1);
    wg_array *mean = wg_array_add(wg_array_mul(inputs[2], 0.9), wg_array_mul(gradients[0], 0.1));
    wg_array *square = wg_array_add(wg_array_mul(inputs[3], 0.99), wg_array_mul(wg_array_square(gradients[0]), 0.01));
    wg_array *fair_mean = wg_array_div(mean, wg_array_scalar_sub(1, wg_array_scalar_powf(0.9, count)));
    wg_array *fair_square = wg_array_div(square, wg_array_scalar_sub(1, wg_array_scalar_powf(0.99, count)));
    wg_array *step = wg_array_div(fair_mean, wg_array_add(wg_array_sqrt(fair_square), 1e-8));
    outputs[1] = wg_array_sub(inputs[0], wg_array_mul(step, 0.015));
    outputs[2] = mean, outputs[3] = square, outputs[4] = count;
    return true;
}

int main(int argc, char **argv)
{
    wg_lazy *lazy = wg_lazy_new(NULL, NULL);
    if (!lazy) return 1;
    wg_scope_open(lazy);
    wg_generator *generator = wg_generator_new(lazy, 2);
    /* one inside the circle, one outside */
    wg_array *from = wg_array_from(lazy, WG_KIND_F64, WG_EXTENTS(2, 2), (double[]){0.15, 0, -1.8, 0.4});
    wg_array *truth = motion(true_law, NULL, from, POINTS);
    wg_array *windows = wg_array_permute(wg_array_unfold(truth, 0, PIECE, 1, 1), (int32_t[]){1, 0, 2, 3}, 4);
    wg_array *none = wg_array_zeros(lazy, WG_KIND_F64, WG_EXTENTS(WEIGHTS));
    wg_array *count = wg_array_from(lazy, WG_KIND_F64, 0, NULL, (double[]){0});
    wg_array *inputs[] = {wg_array_normal(wg_generator_key(generator), WG_KIND_F64, WG_EXTENTS(WEIGHTS), 0, 0.4),
                          wg_array_reshape(windows, WG_EXTENTS(PIECE, -1, 2)), none, none, count};
    wg_array_run(inputs, 5);
    wg_jit *step = wg_jit_new(lazy, &(wg_function){train, NULL, 5, 5}, NULL, 0);

    printf("a neural differential equation: %d weights, %d points of 2 motions\n\n step       loss\n", WEIGHTS, POINTS);
    for (int i = 0; i <= STEPS; i++) {
        wg_scope_open(lazy); /* what a step makes and the next one does not need goes with the scope */
        wg_array *outputs[5];
        double number = 0;
        bool good = wg_jit_call(step, inputs, outputs) && wg_array_run(outputs, 5) && wg_array_double(outputs[0], &number);
        if (i % 100 == 0) printf("%5d %10.7f\n", i, number);
        for (int k = 1; k < 5 && good; k++) {
            if (i) wg_array_release(inputs[k == 1 ? 0 : k]);
            inputs[k == 1 ? 0 : k] = wg_array_keep(outputs[k]);
        }
        wg_scope_close(lazy);
        if (!good) break;
    }
    wg_jit_figures figures;
    wg_jit_figures_of(step, &figures);

    wg_array *found = motion(network, inputs[0], from, POINTS); /* the whole way, from the first places alone */
    double off = 0;
    wg_array_run((wg_array *[]){found, truth}, 2);
    wg_array_double(wg_array_max(wg_array_abs(wg_array_sub(found, truth)), WG_ALL_AXES, false), &off);
    printf("\ntraced %d time, replayed %d times\nover %.1f units of time the learned motions are at most %.4f off\n", (int)figures.traces,
           (int)figures.replays, SPAN * (POINTS - 1), off);

    picture p = picture_new(420, 300, -1.98, 1.52, -1.2, 1.3);
    for (int i = 0; i < 2; i++) {
        wg_index one[] = {wg_index_all(), wg_index_at(i)};
        picture_dots(&p, wg_array_index(truth, one, 2), NULL, (int[]){GREY}, 8);
        picture_path(&p, wg_array_index(found, one, 2), 2, i ? ORANGE : BLUE);
    }
    int result = picture_end(&p, argc, argv, lazy);
    wg_jit_free(&step);
    wg_generator_free(&generator);
    wg_lazy_free(&lazy);
    return result;
}
