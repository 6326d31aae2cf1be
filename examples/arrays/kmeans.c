/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * k-means: points are given to the nearest centre, centres move to the mean of their points, until nothing changes. Eight starts are run
 * as one by mapping the step over an axis of starts, and the mapped step is compiled: it is traced once and replayed.
 *
 *     kmeans [--out picture.ppm] */
#include "picture.h"

enum { CLUSTERS = 5, EACH = 120, STARTS = 8 };

/* points [n, 2], centres [k, 2] to centres [k, 2], labels [n] and the mean squared distance []. */
static bool move_centres(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user, (void)lazy;
    wg_array *points = inputs[0], *centres = inputs[1];
    wg_array *offsets = wg_array_sub(wg_array_expand_dims(points, WG_AXES(1)), centres); /* [n, k, 2] */
    wg_array *distances = wg_array_sum(wg_array_square(offsets), WG_AXES(-1), false);    /* [n, k] */
    wg_array *labels = wg_array_arg_min(distances, WG_AXES(-1), false);
    wg_array *members = wg_array_one_hot(labels, CLUSTERS, WG_KIND_F64); /* [n, k] */
    wg_array *counts = wg_array_expand_dims(wg_array_sum(members, WG_AXES(0), false), WG_AXES(1));
    wg_array *means = wg_array_div(wg_array_matmul(wg_array_transpose(members), points), counts);
    outputs[0] = wg_array_select(wg_array_greater(counts, 0), means, centres); /* a centre without points stays */
    outputs[1] = labels;
    outputs[2] = wg_array_mean(wg_array_min(distances, WG_AXES(-1), false), WG_ALL_AXES, false);
    return true;
}

static bool move_all_starts(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    wg_function step = {move_centres, user, 2, 3};
    /* points are shared, centres [starts, k, 2] are mapped */
    return wg_function_map(lazy, &step, inputs, (int32_t[]){-1, 0}, NULL, outputs);
}

static wg_array *make_points(wg_lazy *lazy, wg_generator *generator)
{
    static const double middles[CLUSTERS][2] = {{-2.2, 1.4}, {-0.6, -1.3}, {0.4, 1.7}, {2.1, 0.4}, {2.3, -1.6}};
    static const double widths[CLUSTERS] = {0.45, 0.55, 0.4, 0.35, 0.5};
    wg_array *clouds[CLUSTERS];
    for (int i = 0; i < CLUSTERS; i++) {
        wg_array *cloud = wg_array_normal(wg_generator_key(generator), WG_KIND_F64, WG_EXTENTS(EACH, 2), 0, widths[i]);
        wg_array *middle = wg_array_from(lazy, WG_KIND_F64, WG_EXTENTS(2), middles[i]);
        clouds[i] = wg_array_add(cloud, middle);
    }
    return wg_array_concat(clouds, CLUSTERS, 0);
}

int main(int argc, char **argv)
{
    wg_lazy *lazy = wg_lazy_new(NULL, NULL);
    if (!lazy) return 1;
    wg_scope_open(lazy);
    wg_generator *generator = wg_generator_new(lazy, 7);
    wg_array *points = make_points(lazy, generator);
    wg_array *order = wg_array_permutation(wg_generator_key(generator), CLUSTERS * EACH);
    wg_array *chosen = wg_array_reshape(wg_array_narrow(order, 0, 0, STARTS * CLUSTERS, 1), WG_EXTENTS(STARTS, CLUSTERS));
    wg_array *centres = wg_array_take(points, chosen, 0);   /* [starts, k, 2] */
    /* read once, for every round needs them */
    wg_array_run((wg_array *[]){points, centres}, 2);
    wg_jit *step = wg_jit_new(lazy, &(wg_function){move_all_starts, NULL, 2, 3}, NULL, 0);

    printf("k-means: %d points, %d centres, %d starts at once\n\n round   best loss   worst loss\n", CLUSTERS * EACH, CLUSTERS, STARTS);
    wg_array *results[4] = {NULL}; /* centres, labels, losses; whether the centres stayed where they were */
    int64_t settled = 0;
    for (int round = 1; round <= 40 && !settled; round++) {
        if (!wg_jit_call(step, (wg_array *[]){points, centres}, results)) break;
        results[3] = wg_array_array_equal(results[0], centres);
        /* one read computes the four, and they are stored from then on */
        if (!wg_array_run(results, 4) || !wg_array_int64(results[3], &settled)) break;
        double best = 0, worst = 0;
        wg_array_double(wg_array_min(results[2], WG_ALL_AXES, false), &best);
        wg_array_double(wg_array_max(results[2], WG_ALL_AXES, false), &worst);
        printf("%6d   %9.6f   %10.6f\n", round, best, worst);
        centres = results[0];
    }

    int64_t winner = 0;
    wg_array_int64(wg_array_arg_min(results[2], WG_ALL_AXES, false), &winner);
    wg_array *labels = wg_array_index(results[1], WG_INDEXES(wg_index_at(winner)));
    wg_array *best = wg_array_index(centres, WG_INDEXES(wg_index_at(winner)));
    double *at = picture_items(best), *counts = picture_items(wg_array_bincount(labels, NULL, CLUSTERS));
    printf("\nstart %d won:\n\n centre         x         y   points\n", (int)winner);
    for (int i = 0; at && counts && i < CLUSTERS; i++) printf("%7d %9.5f %9.5f   %6.0f\n", i, at[2 * i], at[2 * i + 1], counts[i]);
    wg_jit_figures figures;
    wg_jit_figures_of(step, &figures);
    printf("\nthe step was traced %d time and replayed %d times\n", (int)figures.traces, (int)figures.replays);

    picture p = picture_new(420, 300, -4.2, 4.2, -3.4, 3.2);
    picture_dots(&p, points, labels, (int[]){BLUE, ORANGE, GREEN, RED, PURPLE}, 5);
    picture_dots(&p, best, NULL, (int[]){BLACK}, 11);
    int result = picture_end(&p, argc, argv, lazy);
    free(at), free(counts);
    wg_jit_free(&step);
    wg_generator_free(&generator);
    wg_lazy_free(&lazy);
    return result;
}
