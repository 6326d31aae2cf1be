/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The place of an error is the caller's line for every composed call, never a line of the library. */
#include "lazy/array_world.h"

/* The call fails, with a message, at this line of this file. */
#define FAILS_HERE(call) fails_here(o->lazy, (call), #call, __LINE__)

static void fails_here(wg_lazy *lazy, wg_array *result, const char *call, int line)
{
    const wg_error *error = wg_lazy_error(lazy);
    if (result || !error->code || !error->message[0]) fail_msg("%s does not fail", call);
    const char *name = strrchr(error->file, '/');
    if (strcmp(name ? name + 1 : error->file, "test_places.c") || error->line != line)
        fail_msg("%s: %s:%d: %s", call, error->file, error->line, error->message);
    wg_lazy_error_clear(lazy);
}

static void activations_fail_at_their_caller(void **state)
{
    array_world *o = *state;
    FAILS_HERE(wg_array_relu(o->b));
    FAILS_HERE(wg_array_sigmoid(o->b));
    FAILS_HERE(wg_array_silu(o->b));
    FAILS_HERE(wg_array_gelu(o->b));
    FAILS_HERE(wg_array_gelu_tanh(o->b));
    FAILS_HERE(wg_array_softplus(o->b));
    FAILS_HERE(wg_array_inverse(o->b));
    FAILS_HERE(wg_array_pseudo_inverse(o->b));
    FAILS_HERE(wg_array_spectral_norm(o->b));
    FAILS_HERE(wg_array_leaky_relu(o->b, 0.1));
    FAILS_HERE(wg_array_elu(o->b, 1));
    FAILS_HERE(wg_array_softmax(o->i, 1));
    FAILS_HERE(wg_array_log_softmax(o->i, 1));
    FAILS_HERE(wg_array_softmax(o->y, 2));
    FAILS_HERE(wg_array_log_softmax(o->y, 2));
}

static void norms_and_matrices_fail_at_their_caller(void **state)
{
    array_world *o = *state;
    wg_array *mean, *variance;
    FAILS_HERE(wg_array_layer_norm(o->y, o->v, o->n3b, 1e-5));
    FAILS_HERE(wg_array_rms_norm(o->y, o->n3b, 1e-5));
    FAILS_HERE(wg_array_batch_norm(o->y, o->v, o->n3b, 1e-5, &mean, &variance));
    FAILS_HERE(wg_array_batch_norm_inference(o->y, o->v, o->v, o->v, o->n3b, 1e-5));
    FAILS_HERE(wg_array_matrix_power(o->y, 2));
}

static void windows_and_products_fail_at_their_caller(void **state)
{
    array_world *o = *state;
    wg_window window = {.size = {9, 9}};
    FAILS_HERE(wg_array_conv2d(o->z, o->y, wg_array_absent(), &window, 1));
    FAILS_HERE(wg_array_conv2d(o->z, o->z, o->v, &window, 1));
    FAILS_HERE(wg_array_conv2d(o->z, o->z, o->v, NULL, 1));
    FAILS_HERE(wg_array_max_pool(o->z, &window));
    FAILS_HERE(wg_array_avg_pool(o->z, &window));
    FAILS_HERE(wg_array_linear(o->y, o->y, wg_array_absent()));
    FAILS_HERE(wg_array_linear(o->y, o->y, o->n3b));
    FAILS_HERE(wg_array_embedding(o->y, o->v));
    FAILS_HERE(wg_array_attention(o->y, o->q, o->y, wg_array_absent(), 1));
    FAILS_HERE(wg_array_attention(o->y, o->y, o->y, o->n3b, 1));
    FAILS_HERE(wg_array_causal_attention(o->y, o->q, o->y, 1));
}

static void losses_fail_at_their_caller(void **state)
{
    array_world *o = *state;
    FAILS_HERE(wg_array_cross_entropy(o->y, o->v));
    FAILS_HERE(wg_array_mean_squared_error(o->y, o->v));
    FAILS_HERE(wg_array_binary_cross_entropy(o->y, o->v));
    FAILS_HERE(wg_array_dropout(o->y, o->v, 0.5));
    FAILS_HERE(wg_array_dropout(o->y, wg_array_absent(), 0.5));
}

/* What only the run finds has the place of the call that made it, not of the read. */
static void what_a_read_finds_has_the_place_of_its_call(void **state)
{
    array_world *o = *state;
    wg_view view;
    wg_array *rows = wg_array_embedding(o->y, wg_array_full(o->lazy, WG_KIND_I64, WG_EXTENTS(2), 9));
    int line = __LINE__ - 1;
    bool good = wg_array_read(rows, &view);
    fails_here(o->lazy, good ? rows : NULL, "the read of an embedding", line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activations_fail_at_their_caller),
        cmocka_unit_test(norms_and_matrices_fail_at_their_caller),
        cmocka_unit_test(windows_and_products_fail_at_their_caller),
        cmocka_unit_test(losses_fail_at_their_caller),
        cmocka_unit_test(what_a_read_finds_has_the_place_of_its_call),
    };
    return cmocka_run_group_tests(tests, array_world_open, array_world_close);
}
