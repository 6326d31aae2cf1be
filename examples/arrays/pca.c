/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Principal components: 300 pictures of a spot that wanders and changes its size, and the few directions that explain most of how they
 * differ. The pictures are one broadcast expression over parameters [300, 1, 1] and coordinates [24, 1] and [24]; nothing is computed
 * before the first read.
 *
 *     pca [--out picture.ppm] */
#include "picture.h"

enum { PICTURES = 300, SIDE = 24, SHOWN = 7, SCALE = 4 };

/* Spots [n, side, side] of which place and width are drawn. */
static wg_array *make_spots(wg_lazy *lazy, wg_generator *generator)
{
    wg_array *across = wg_array_linspace(lazy, WG_KIND_F64, -1, 1, SIDE, true);
    wg_array *down = wg_array_reshape(across, WG_EXTENTS(SIDE, 1));
    wg_array *x = wg_array_normal(wg_generator_key(generator), WG_KIND_F64, WG_EXTENTS(PICTURES, 1, 1), 0, 0.22);
    wg_array *y = wg_array_normal(wg_generator_key(generator), WG_KIND_F64, WG_EXTENTS(PICTURES, 1, 1), 0, 0.14);
    wg_array *width = wg_array_uniform(wg_generator_key(generator), WG_KIND_F64, WG_EXTENTS(PICTURES, 1, 1), 0.3, 0.45);
    wg_array *square = wg_array_add(wg_array_square(wg_array_sub(across, x)), wg_array_square(wg_array_sub(down, y)));
    return wg_array_exp(wg_array_neg(wg_array_div(square, wg_array_mul(wg_array_square(width), 2))));
}

/* An item for each of SCALE by SCALE pixels. */
static wg_array *enlarged(wg_array *picture) { return wg_array_repeat(wg_array_repeat(picture, SCALE, 0), SCALE, 1); }

int main(int argc, char **argv)
{
    wg_lazy *lazy = wg_lazy_new(NULL, NULL);
    if (!lazy) return 1;
    wg_scope_open(lazy);
    wg_generator *generator = wg_generator_new(lazy, 3);
    wg_array *spots = wg_array_reshape(make_spots(lazy, generator), WG_EXTENTS(PICTURES, SIDE * SIDE));
    wg_array *mean = wg_array_mean(spots, WG_AXES(0), false);
    wg_array *centred = wg_array_sub(spots, mean);
    /* [m], [m, side * side] */
    wg_array *spread = wg_array_svd_s(centred), *components = wg_array_matrix_transpose(wg_array_svd_v(centred));
    wg_array *variance = wg_array_square(spread);
    wg_array *share = wg_array_div(variance, wg_array_sum(variance, WG_ALL_AXES, false));
    wg_array *together = wg_array_cumsum(share, 0);

    /* every picture from its coordinates along the first components, and how far that is from the picture */
    wg_array *first = wg_array_narrow(components, 0, 0, SHOWN, 1);
    wg_array *coordinates = wg_array_matmul(centred, wg_array_transpose(first)); /* [n, shown] */
    wg_array *again = wg_array_add(wg_array_matmul(coordinates, first), mean);
    wg_array *distance = wg_array_sqrt(wg_array_mean(wg_array_square(wg_array_sub(again, spots)), WG_ALL_AXES, false));

    wg_array *results[] = {mean, share, together, first, distance, spots, again}; /* one read of all: what they share is computed once */
    wg_array_run(results, 7);
    double *shares = picture_items(share), *sums = picture_items(together), off = 0;
    wg_array_double(distance, &off);
    printf("principal components of %d pictures of %d by %d\n\n component    share   together\n", PICTURES, SIDE, SIDE);
    for (int i = 0; shares && sums && i < SHOWN; i++) printf("%10d %7.2f%% %9.2f%%\n", i + 1, 100 * shares[i], 100 * sums[i]);
    printf("\n%d numbers a picture instead of %d: off by %.4f (root mean square)\n", SHOWN, SIDE * SIDE, off);

    int tile = SIDE * SCALE + 4;
    picture p = picture_new((SHOWN + 1) / 2 * tile - 4, 3 * tile - 4, 0, 1, 0, 1);
    picture_shades(&p, 0, 0, enlarged(wg_array_reshape(mean, WG_EXTENTS(SIDE, SIDE))), 0, 1);
    for (int i = 0; i < SHOWN; i++) {
        wg_array *component = wg_array_reshape(wg_array_index(first, WG_INDEXES(wg_index_at(i))), WG_EXTENTS(SIDE, SIDE));
        picture_shades(&p, (i + 1) % 4 * tile, (i + 1) / 4 * tile, enlarged(component), -0.11, 0.11);
    }
    for (int i = 0; i < 4; i++) { /* two pictures, each beside what its coordinates say */
        wg_array *one = wg_array_index(i % 2 ? again : spots, WG_INDEXES(wg_index_at(i / 2)));
        picture_shades(&p, i * tile, 2 * tile, enlarged(wg_array_reshape(one, WG_EXTENTS(SIDE, SIDE))), 0, 1);
    }
    int result = picture_end(&p, argc, argv, lazy);
    free(shares), free(sums);
    wg_generator_free(&generator);
    wg_lazy_free(&lazy);
    return result;
}
