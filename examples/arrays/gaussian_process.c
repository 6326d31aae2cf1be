/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Gaussian process regression: what a smooth function may be, given noisy samples of it. The length, height and noise of the model are
 * found by climbing the gradient of the likelihood, through a Cholesky factorisation; then a triangular solve gives the mean and the
 * uncertainty everywhere else.
 *
 *     gaussian_process [--out picture.ppm] */
#include "picture.h"

enum { SAMPLES = 24, PLACES = 421, STEPS = 60 };

/* height^2 exp(-(x - z)^2 / (2 length^2)) for x [n], z [m]: [n, m]. settings [3]: logarithms of length, height, noise. */
static wg_array *covariance(wg_array *settings, wg_array *x, wg_array *z)
{
    wg_array *e = wg_array_exp(settings);
    wg_array *length = wg_array_index(e, WG_INDEXES(wg_index_at(0))), *height = wg_array_index(e, WG_INDEXES(wg_index_at(1)));
    wg_array *apart = wg_array_div(wg_array_sub(wg_array_expand_dims(x, WG_AXES(1)), z), length);
    return wg_array_mul(wg_array_exp(wg_array_mul(wg_array_square(apart), -0.5)), wg_array_square(height));
}

/* The Cholesky factor [n, n] of the covariance of noisy samples. */
static wg_array *factor(wg_lazy *lazy, wg_array *settings, wg_array *x)
{
    wg_array *noise = wg_array_exp(wg_array_index(settings, WG_INDEXES(wg_index_at(2))));
    wg_array *diagonal = wg_array_mul(wg_array_eye(lazy, WG_KIND_F64, SAMPLES, SAMPLES, 0), wg_array_square(noise));
    return wg_array_cholesky(wg_array_add(covariance(settings, x, x), diagonal));
}

/* settings, x [n], y [n] to the negative logarithm of the likelihood [], but for a constant: with K = L L^T and
 * z = L^-1 y it is z z / 2 + sum ln diag L. */
static bool surprise(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user;
    wg_array *l = factor(lazy, inputs[0], inputs[1]);
    wg_array *z = wg_array_solve_triangular(l, inputs[2], false, false, false);
    wg_array *volume = wg_array_sum(wg_array_ln(wg_array_diagonal(l, 0, 0, 1)), WG_ALL_AXES, false);
    outputs[0] = wg_array_add(wg_array_mul(wg_array_dot(z, z), 0.5), volume);
    return true;
}

/* settings, x, y to the surprise, and settings a step down its gradient. */
static bool improve(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    wg_function function = {surprise, user, 3, 1};
    wg_array *gradients[3];
    if (!wg_gradient(lazy, &function, inputs, (bool[]){true, false, false}, &outputs[0], gradients)) return false;
    wg_array *step = wg_array_clip_scalar(wg_array_mul(gradients[0], 0.02), -0.1, 0.1);
    outputs[1] = wg_array_sub(inputs[0], step);
    return true;
}

int main(int argc, char **argv)
{
    wg_lazy *lazy = wg_lazy_new(NULL, NULL);
    if (!lazy) return 1;
    wg_scope_open(lazy);
    wg_generator *generator = wg_generator_new(lazy, 9);
    wg_array *x = wg_array_uniform(wg_generator_key(generator), WG_KIND_F64, WG_EXTENTS(SAMPLES), -3, 3);
    x = wg_array_add(x, wg_array_mul(wg_array_sign(x), 0.6)); /* a gap about 0, where nothing is known */
    wg_array *noise = wg_array_normal(wg_generator_key(generator), WG_KIND_F64, WG_EXTENTS(SAMPLES), 0, 0.15);
    wg_array *y = wg_array_add(wg_array_sin(wg_array_mul(x, 1.6)), noise);
    wg_array *data[] = {wg_array_from(lazy, WG_KIND_F64, WG_EXTENTS(3), (double[]){1, 1, -0.5}), x, y}, *results[2];
    wg_jit *step = wg_jit_new(lazy, &(wg_function){improve, NULL, 3, 2}, NULL, 0);
    wg_array_run(data, 3);
    printf("Gaussian process regression: %d samples\n\n step   surprise    length    height     noise\n", SAMPLES);
    for (int i = 0; i <= STEPS; i++) {
        if (!wg_jit_call(step, data, results) || !wg_array_run(results, 2)) break;
        double *settings = i % 10 ? NULL : picture_items(wg_array_exp(data[0])), before = 0;
        wg_array_double(results[0], &before);
        if (settings) printf("%5d %10.4f %9.4f %9.4f %9.4f\n", i, before, settings[0], settings[1], settings[2]);
        free(settings);
        data[0] = results[1];
    }

    /* at places p: the mean K_px K^-1 y, and the variance height^2 - sum (L^-1 K_xp)^2 */
    wg_array *places = wg_array_linspace(lazy, WG_KIND_F64, -4, 4, PLACES, true);
    wg_array *l = factor(lazy, data[0], x), *between = covariance(data[0], x, places);
    wg_array *z = wg_array_solve_triangular(l, y, false, false, false), *w = wg_array_solve_triangular(l, between, false, false, false);
    wg_array *height = wg_array_exp(wg_array_index(data[0], WG_INDEXES(wg_index_at(1))));
    wg_array *mean = wg_array_matmul(z, w), *known = wg_array_sum(wg_array_square(w), WG_AXES(0), false);
    wg_array *variance = wg_array_sub(wg_array_square(height), known);
    wg_array *off = wg_array_sub(mean, wg_array_sin(wg_array_mul(places, 1.6))), *deviation = wg_array_sqrt(variance);
    wg_array *near = wg_array_less(wg_array_abs(off), wg_array_mul(deviation, 2));
    wg_array *within = wg_array_mean(wg_array_convert(near, WG_KIND_F64), WG_ALL_AXES, false);
    double share = 0;
    wg_array_run((wg_array *[]){mean, deviation, within}, 3);
    wg_array_double(within, &share);
    printf("\nthe function is within two deviations at %.0f%% of %d places\n", 100 * share, PLACES);

    picture p = picture_new(420, 240, -4, 4, -1.9, 1.9);
    double *m = picture_items(mean), *d = picture_items(deviation), wide = 8.0 / (PLACES - 1);
    for (int i = 0; m && d && i < PLACES; i++) picture_line(&p, i * wide - 4, m[i] - 2 * d[i], i * wide - 4, m[i] + 2 * d[i], 1.5, PALE);
    picture_path(&p, wg_array_stack((wg_array *[]){places, wg_array_sin(wg_array_mul(places, 1.6))}, 2, 1), 1.5, GREY);
    picture_path(&p, wg_array_stack((wg_array *[]){places, mean}, 2, 1), 2, BLUE);
    picture_dots(&p, wg_array_stack((wg_array *[]){x, y}, 2, 1), NULL, (int[]){ORANGE}, 7);
    int result = picture_end(&p, argc, argv, lazy);
    free(m), free(d);
    wg_jit_free(&step);
    wg_generator_free(&generator);
    wg_lazy_free(&lazy);
    return result;
}
