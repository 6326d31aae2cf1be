/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Logistic regression by Newton's method: the loss is written down once, its gradient and its Hessian are derived from it, and each step
 * solves a linear system. Near the end the number of right digits doubles with each step.
 *
 *     newton [--out picture.ppm] */
#include "picture.h"

enum { EACH = 150, TERMS = 6, WIDTH = 400, HEIGHT = 300 };

/* points [.., 2] to the terms of a quadratic [.., 6]: 1, x, y, x x, x y, y y. */
static wg_array *terms(wg_array *points)
{
    wg_array *x = wg_array_index(points, WG_INDEXES(wg_index_rest(), wg_index_at(0)));
    wg_array *y = wg_array_index(points, WG_INDEXES(wg_index_rest(), wg_index_at(1)));
    wg_array *all[TERMS] = {wg_array_ones_like(x), x, y, wg_array_square(x), wg_array_mul(x, y), wg_array_square(y)};
    return wg_array_stack(all, TERMS, -1);
}

/* weights [6], terms [n, 6], labels [n] of 0 and 1 to the mean cross entropy [] and a little of the squared weights, without which
 * they could grow for ever. */
static bool loss(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user, (void)lazy;
    wg_array *weights = inputs[0], *logits = wg_array_matmul(inputs[1], weights);
    wg_array *cost = wg_array_mean(wg_array_sub(wg_array_softplus(logits), wg_array_mul(inputs[2], logits)), WG_ALL_AXES, false);
    outputs[0] = wg_array_add(cost, wg_array_mul(wg_array_dot(weights, weights), 1e-3));
    return true;
}

int main(int argc, char **argv)
{
    wg_lazy *lazy = wg_lazy_new(NULL, NULL);
    if (!lazy) return 1;
    wg_scope_open(lazy);
    wg_generator *generator = wg_generator_new(lazy, 5);
    /* a cloud, and a ring about it */
    wg_array *cloud = wg_array_normal(wg_generator_key(generator), WG_KIND_F64, WG_EXTENTS(EACH, 2), 0, 0.7);
    wg_array *angle = wg_array_uniform(wg_generator_key(generator), WG_KIND_F64, WG_EXTENTS(EACH), 0, 6.283185307179586);
    wg_array *circle = wg_array_stack((wg_array *[]){wg_array_cos(angle), wg_array_sin(angle)}, 2, 1);
    wg_array *radius = wg_array_normal(wg_generator_key(generator), WG_KIND_F64, WG_EXTENTS(EACH, 1), 2.1, 0.45);
    wg_array *ring = wg_array_add(wg_array_mul(circle, radius), wg_array_from(lazy, WG_KIND_F64, WG_EXTENTS(2), (double[]){0.4, 0.2}));
    wg_array *points = wg_array_concat((wg_array *[]){cloud, ring}, 2, 0);
    wg_array *labels = wg_array_repeat(wg_array_arange(lazy, WG_KIND_F64, 0, 2, 1), EACH, 0);

    wg_function function = {loss, NULL, 3, 1};
    wg_array *inputs[] = {wg_array_zeros(lazy, WG_KIND_F64, WG_EXTENTS(TERMS)), terms(points), labels};
    printf("logistic regression by Newton's method: %d points, %d weights\n\n step       loss   gradient\n", 2 * EACH, TERMS);
    wg_array_run(inputs, 3);
    for (int step = 0; step <= 8; step++) {
        wg_array *value, *gradients[3];
        if (!wg_gradient(lazy, &function, inputs, (bool[]){true, false, false}, &value, gradients)) break;
        wg_array *hessian = wg_function_hessian(lazy, &function, inputs, 0); /* [6, 6] */
        wg_array *weights = wg_array_sub(inputs[0], wg_array_solve(hessian, gradients[0]));
        wg_array *size = wg_array_norm(gradients[0], 2, WG_ALL_AXES, false), *results[] = {value, size, weights};
        double numbers[2] = {0, 0};
        if (!wg_array_run(results, 3)) break; /* loss, gradient and Hessian share what they have in common */
        wg_array_double(value, &numbers[0]), wg_array_double(size, &numbers[1]);
        printf("%5d %10.7f %10.1e\n", step, numbers[0], numbers[1]);
        if (numbers[1] < 1e-9) break;
        inputs[0] = weights;
    }

    static const char *names[TERMS] = {"1", "x", "y", "x x", "x y", "y y"};
    wg_array *positive = wg_array_convert(wg_array_greater(wg_array_matmul(inputs[1], inputs[0]), 0), WG_KIND_F64);
    wg_array *right = wg_array_mean(wg_array_convert(wg_array_equal(positive, labels), WG_KIND_F64), WG_ALL_AXES, false);
    double *weights = picture_items(inputs[0]), share = 0;
    wg_array_double(right, &share);
    printf("\nweights:");
    for (int i = 0; weights && i < TERMS; i++) printf("  %s %.4f", names[i], weights[i]);
    printf("\n%.1f%% of the points are on their side\n", 100 * share);

    /* the probability at every pixel: the same functions on an array [h, w, 2] */
    wg_array *x = wg_array_linspace(lazy, WG_KIND_F64, -4, 4, WIDTH, true), *y = wg_array_linspace(lazy, WG_KIND_F64, 3, -3, HEIGHT, true);
    wg_array *grids[2];
    wg_array_meshgrid((wg_array *[]){x, y}, 2, true, grids);
    wg_array *probability = wg_array_sigmoid(wg_array_matmul(terms(wg_array_stack(grids, 2, -1)), inputs[0]));
    wg_array *tint = wg_array_expand_dims(probability, WG_AXES(-1));
    wg_array *blue = wg_array_from(lazy, WG_KIND_F64, WG_EXTENTS(3), (double[]){0.80, 0.87, 0.96});
    wg_array *orange = wg_array_from(lazy, WG_KIND_F64, WG_EXTENTS(3), (double[]){0.99, 0.89, 0.78});
    picture p = picture_new(WIDTH, HEIGHT, -4, 4, -3, 3);
    picture_shades(&p, 0, 0, wg_array_add(wg_array_mul(tint, wg_array_sub(orange, blue)), blue), 0, 1);
    picture_dots(&p, points, labels, (int[]){BLUE, ORANGE}, 6);
    int result = picture_end(&p, argc, argv, lazy);
    free(weights);
    wg_generator_free(&generator);
    wg_lazy_free(&lazy);
    return result;
}
