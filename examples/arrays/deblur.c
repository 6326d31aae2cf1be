/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * An image is blurred, and found again by gradient descent on its own items: the image that, blurred, is most like the given one, and has
 * few edges. The blur is a product with a matrix from each side; its derivative is never written down.
 *
 *     deblur [--out picture.ppm] */
#include "picture.h"

enum { SIDE = 128, STEPS = 240 };

/* Red, green and blue [3, side, side]: a disc, a ring and stripes before a sky. */
static wg_array *make_image(wg_lazy *lazy)
{
    wg_array *x = wg_array_linspace(lazy, WG_KIND_F32, -1, 1, SIDE, true), *y = wg_array_reshape(x, WG_EXTENTS(SIDE, 1));
    wg_array *to_disc = wg_array_hypot(wg_array_add(x, 0.4), wg_array_add(y, 0.35));
    wg_array *to_ring = wg_array_hypot(wg_array_sub(x, 0.35), wg_array_sub(y, 0.3));
    wg_array *disc = wg_array_less(to_disc, 0.38), *ring = wg_array_less(wg_array_abs(wg_array_sub(to_ring, 0.36)), 0.09);
    wg_array *waves = wg_array_sin(wg_array_mul(wg_array_add(x, y), 22));
    wg_array *stripes = wg_array_logical_and(wg_array_greater(waves, 0), wg_array_less(wg_array_sub(x, y), -0.75));
    static const float colours[4][3] = {{0.16f, 0.22f, 0.36f}, {0.95f, 0.77f, 0.35f}, {0.86f, 0.38f, 0.33f}, {0.55f, 0.78f, 0.72f}};
    wg_array *colour[4], *masks[] = {disc, ring, stripes};
    for (int i = 0; i < 4; i++) colour[i] = wg_array_from(lazy, WG_KIND_F32, WG_EXTENTS(3, 1, 1), colours[i]);
    wg_array *image = wg_array_mul(colour[0], wg_array_scalar_sub(1.3, wg_array_mul(y, 0.5)));
    for (int i = 0; i < 3; i++) image = wg_array_select(masks[i], colour[i + 1], image);
    return image;
}

/* The matrix [side, side] of a blur of a width: each place becomes a weighted mean of those about it. */
static wg_array *make_blur(wg_lazy *lazy, double width)
{
    wg_array *place = wg_array_arange(lazy, WG_KIND_F32, 0, SIDE, 1);
    wg_array *apart = wg_array_div(wg_array_sub(wg_array_expand_dims(place, WG_AXES(1)), place), width);
    return wg_array_softmax(wg_array_mul(wg_array_square(apart), -0.5), -1);
}

static wg_array *blurred(wg_array *image, wg_array *blur)
{
    return wg_array_matmul(wg_array_matmul(blur, image), wg_array_transpose(blur));
}

/* image, blur, given to the misfit [] of the blurred image, and a little of the length of its edges. */
static bool loss(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user, (void)lazy;
    wg_array *image = inputs[0];
    wg_array *misfit = wg_array_sum(wg_array_square(wg_array_sub(blurred(image, inputs[1]), inputs[2])), WG_ALL_AXES, false);
    wg_array *across = wg_array_narrow(wg_array_diff(image, 1, 2), 1, 0, SIDE - 1, 1);
    wg_array *down = wg_array_narrow(wg_array_diff(image, 1, 1), 2, 0, SIDE - 1, 1);
    wg_array *slopes = wg_array_sum(wg_array_add(wg_array_square(across), wg_array_square(down)), WG_AXES(0), false);
    wg_array *edges = wg_array_sum(wg_array_sqrt(wg_array_add(slopes, 1e-4)), WG_ALL_AXES, false);
    outputs[0] = wg_array_add(wg_array_mul(misfit, 0.5), wg_array_mul(edges, 2e-3));
    return true;
}

/* image, blur, given, speed to the loss, and image and speed after a step: descent with momentum. */
static bool descend(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    wg_function function = {loss, user, 3, 1};
    wg_array *gradients[3];
    if (!wg_gradient(lazy, &function, inputs, (bool[]){true, false, false}, &outputs[0], gradients)) return false;
    outputs[2] = wg_array_sub(wg_array_mul(inputs[3], 0.9), wg_array_mul(gradients[0], 0.2));
    outputs[1] = wg_array_add(inputs[0], outputs[2]);
    return true;
}

/* How far an image is from another one, in decibels of the greatest item. */
static double likeness(wg_array *a, wg_array *b)
{
    double number = 0;
    wg_array_double(wg_array_mul(wg_array_log10(wg_array_mean_squared_error(a, b)), -10), &number);
    return number;
}

int main(int argc, char **argv)
{
    wg_lazy *lazy = wg_lazy_new(NULL, NULL);
    if (!lazy) return 1;
    wg_scope_open(lazy);
    wg_generator *generator = wg_generator_new(lazy, 1);
    wg_array *image = make_image(lazy), *blur = make_blur(lazy, 2.2);
    wg_array *noise = wg_array_normal(wg_generator_key(generator), WG_KIND_F32, WG_EXTENTS(3, SIDE, SIDE), 0, 0.003);
    wg_array *given = wg_array_add(blurred(image, blur), noise);
    wg_array *inputs[] = {given, blur, given, wg_array_zeros_like(given)}, *outputs[3];
    wg_array_run((wg_array *[]){image, blur, given, inputs[3]}, 4);
    wg_jit *step = wg_jit_new(lazy, &(wg_function){descend, NULL, 4, 3}, NULL, 0);
    printf("an image of %d by %d, blurred and found again\n\n step       loss   likeness\n", SIDE, SIDE);
    for (int i = 0; i <= STEPS; i++) {
        wg_scope_open(lazy); /* what a step makes and the next one does not need goes with the scope */
        double number = 0;
        bool good = wg_jit_call(step, inputs, outputs) && wg_array_run(outputs, 3) && wg_array_double(outputs[0], &number);
        if (i % 40 == 0) printf("%5d %10.5f %7.2f dB\n", i, number, likeness(inputs[0], image));
        wg_array *image_after = good ? wg_array_keep(outputs[1]) : NULL, *speed_after = good ? wg_array_keep(outputs[2]) : NULL;
        wg_scope_close(lazy);
        if (!good) break;
        if (i) wg_array_release(inputs[0]), wg_array_release(inputs[3]);
        inputs[0] = image_after, inputs[3] = speed_after;
    }
    picture p = picture_new(3 * SIDE + 8, SIDE, 0, 1, 0, 1);
    wg_array *shown[] = {image, given, inputs[0]};
    for (int i = 0; i < 3; i++) {
        wg_array *pixels = wg_array_move_axis(shown[i], (int32_t[]){0}, (int32_t[]){-1}, 1); /* [side, side, 3] */
        picture_shades(&p, i * (SIDE + 4), 0, pixels, 0, 1);
    }
    int result = picture_end(&p, argc, argv, lazy);
    wg_jit_free(&step);
    wg_generator_free(&generator);
    wg_lazy_free(&lazy);
    return result;
}
