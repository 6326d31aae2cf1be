/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * NULL beside arguments that are good: a layer at NULL on a live tape, a session read into no view, a step without gradients. Each is an
 * error of the call or of the tape; none is a crash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wengert/wengert.h"

/* ---- recording: poison, and an error of the tape ---- */

typedef wg_value (*recording)(wg_tape *tape, wg_value rows, wg_value images);

#define RECORDING(name, expression)                                             \
    static wg_value name(wg_tape *tape, wg_value rows, wg_value images)         \
    {                                                                           \
        (void)tape, (void)rows, (void)images;                                   \
        return expression;                                                      \
    }

static wg_value lstm_without_cell(wg_tape *tape, wg_value rows)
{
    (void)tape;
    wg_value h = rows, c = rows;
    wg_lstm_cell_step(NULL, rows, &h, &c);
    assert_true(wg_is_poison(c));
    return h;
}

RECORDING(linear_null, wg_linear_layer_apply(NULL, rows))
RECORDING(linear_unnamed, wg_linear_layer_apply(&(wg_linear_layer){0}, rows))
RECORDING(linear_no_prefix, wg_linear_layer_new(tape, NULL, 2, 3, 1).weight)
RECORDING(mlp_null, wg_mlp_apply(NULL, rows))
RECORDING(mlp_no_widths, wg_mlp_new(tape, "mlp", NULL, 2, WG_ACTIVATION_RELU, 1).layers[0].weight)
RECORDING(mlp_too_many, wg_mlp_apply(&(wg_mlp){.count = 1000}, rows))
RECORDING(conv_null, wg_conv_layer_apply(NULL, images))
RECORDING(layer_norm_null, wg_layer_norm_apply(NULL, rows))
RECORDING(rms_norm_null, wg_rms_norm_apply(NULL, rows))
RECORDING(batch_norm_null, wg_batch_norm_apply(NULL, rows))
RECORDING(batch_norm_inference_null, wg_batch_norm_apply_inference(NULL, rows))
RECORDING(batch_norm_no_prefix, wg_batch_norm_new(tape, NULL, 2, 1e-5, 0.1).running_mean)
RECORDING(embedding_null, wg_embedding_layer_apply(NULL, rows))
RECORDING(attention_null, wg_attention_layer_apply(NULL, rows))
RECORDING(attention_no_heads,
          wg_attention_layer_apply(&(wg_attention_layer){0}, wg_reshape(images, 3, ((wg_size[]){{1, 0}, {4, 0}, {4, 0}}))))
RECORDING(gru_null, wg_gru_cell_step(NULL, rows, rows))
RECORDING(lstm_null, lstm_without_cell(tape, rows))
RECORDING(conv_no_window, wg_conv2d_general(images, images, WG_ABSENT, NULL, 1))
RECORDING(max_pool_no_window, wg_max_pool_general(images, NULL))
RECORDING(avg_pool_no_window, wg_avg_pool_general(images, NULL))
RECORDING(broadcast_no_shape, wg_broadcast_to(rows, 3, NULL))

static void test_recording(void **state)
{
    (void)state;
    static const recording all[] = {linear_null,     linear_unnamed,  linear_no_prefix,          mlp_null,             mlp_no_widths,
                                    mlp_too_many,    conv_null,       layer_norm_null,           rms_norm_null,        batch_norm_null,
                                    embedding_null,  attention_null,  batch_norm_inference_null, batch_norm_no_prefix, attention_no_heads,
                                    gru_null,        lstm_null,       conv_no_window,            max_pool_no_window,   avg_pool_no_window,
                                    broadcast_no_shape};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        wg_tape *tape = wg_tape_new(NULL);
        wg_value rows = wg_leaf_fill(tape, WG_KIND_F32, 2, (wg_size[]){{2, 0}, {2, 0}}, 1);
        wg_value images = wg_leaf_fill(tape, WG_KIND_F32, 4, (wg_size[]){{1, 0}, {1, 0}, {4, 0}, {4, 0}}, 1);
        assert_false(wg_is_poison(rows) || wg_is_poison(images));
        wg_value answer = all[i](tape, rows, images);
        if (!wg_is_poison(answer) || wg_tape_error(tape)->code == WG_OK) fail_msg("misuse %zu was recorded without an error", i);
        wg_tape_free(&tape);
    }
}

/* ---- sessions, optimisers, checkpoints: a failed answer with WG_ARGUMENT (WG_FEED for the items of a feed) ---- */

typedef struct program {
    wg_network *network;
    wg_symbol x, w, next;
    wg_plan *plan;
    wg_session *session;
    wg_parameters *parameters;
} program;

/* x carried on as x * w. */
static program make_program(void)
{
    program p;
    wg_tape *tape = wg_tape_new(NULL);
    wg_size two = wg_number(2);
    wg_value x = wg_input_fill(tape, WG_KIND_F32, 1, &two, 1), w = wg_parameter_fill(tape, WG_KIND_F32, 1, &two, 2), next = wg_mul(x, w);
    p.x = wg_symbol_of(x), p.w = wg_symbol_of(w), p.next = wg_symbol_of(next);
    p.network = wg_tape_seal(&tape, NULL);
    wg_carry carry = {p.next, p.x};
    wg_entry_options options = {.size = sizeof options, .roots = &p.next, .root_count = 1, .carries = &carry, .carry_count = 1};
    wg_entry *entry = wg_entry_new(p.network, &options, NULL);
    p.plan = wg_plan_new(entry, NULL, 0, NULL);
    wg_entry_free(&entry);
    p.session = wg_session_new(p.plan, NULL, NULL);
    p.parameters = wg_parameters_new(p.network, NULL);
    assert_true(p.session && p.parameters && wg_session_run(p.session, NULL, NULL));
    return p;
}

static void free_program(program *p)
{
    wg_parameters_free(&p->parameters);
    wg_session_free(&p->session);
    wg_plan_release(&p->plan);
    wg_network_release(&p->network);
}

#define ASSERT_REFUSED(expected, call)             \
    do {                                           \
        wg_error error = {.code = WG_OK};          \
        assert_false(call);                        \
        assert_int_equal(error.code, expected);    \
        assert_true(error.message[0] != 0);        \
    } while (0)

static void test_sessions(void **state)
{
    (void)state;
    program p = make_program();
    wg_view no_items = {.kind = WG_KIND_F32, .rank = 1, .shape = (int64_t[]){2}};
    wg_feed feed = {p.x, no_items};
    wg_run_options fed = {.size = sizeof fed, .feeds = &feed, .feed_count = 1}, unfed = {.size = sizeof unfed, .feed_count = 1};
    ASSERT_REFUSED(WG_FEED, wg_session_carry(p.session, p.x, &no_items, &error));
    ASSERT_REFUSED(WG_FEED, wg_session_run(p.session, &fed, &error));
    ASSERT_REFUSED(WG_FEED, wg_network_forward(p.network, &fed, &error));
    ASSERT_REFUSED(WG_ARGUMENT, wg_session_run(p.session, &unfed, &error));
    ASSERT_REFUSED(WG_ARGUMENT, wg_session_read(p.session, p.next, NULL, &error));
    ASSERT_REFUSED(WG_ARGUMENT, wg_session_carried(p.session, p.x, NULL, &error));
    ASSERT_REFUSED(WG_ARGUMENT, wg_session_carry(p.session, p.x, NULL, &error));
    ASSERT_REFUSED(WG_ARGUMENT, wg_session_bind(p.session, NULL, 1, &error));
    ASSERT_REFUSED(WG_ARGUMENT, wg_session_backward(p.session, p.next, NULL, 1, NULL, &error));
    ASSERT_REFUSED(WG_ARGUMENT, wg_network_identity(p.network, NULL, &error));
    wg_plan_figures_of(p.plan, NULL);
    assert_false(wg_plan_pattern(p.plan, 0, NULL));
    assert_true(wg_session_run(p.session, NULL, NULL)); /* the session is whole after all that */
    free_program(&p);
}

static void test_optimisers_and_checkpoints(void **state)
{
    (void)state;
    program p = make_program();
    wg_optimiser_options options = {.size = sizeof options};
    wg_optimiser *optimiser = wg_optimiser_new(p.parameters, &options, NULL);
    assert_non_null(optimiser);
    wg_view no_items = {.kind = WG_KIND_F32, .rank = 1, .shape = (int64_t[]){2}};
    wg_view no_shape = {.data = &options, .kind = WG_KIND_F32, .rank = 1};
    ASSERT_REFUSED(WG_ARGUMENT, wg_optimiser_new(NULL, &options, &error));
    ASSERT_REFUSED(WG_ARGUMENT, wg_optimiser_step(optimiser, NULL, NULL, NULL, 0, &error));
    ASSERT_REFUSED(WG_ARGUMENT, wg_optimiser_step(optimiser, p.parameters, &p.w, NULL, 1, &error));
    ASSERT_REFUSED(WG_ARGUMENT, wg_optimiser_step(optimiser, p.parameters, NULL, &no_items, 1, &error));
    ASSERT_REFUSED(WG_SHAPE, wg_optimiser_step(optimiser, p.parameters, &p.w, &no_items, 1, &error));
    ASSERT_REFUSED(WG_SHAPE, wg_optimiser_step(optimiser, p.parameters, &p.w, &no_shape, 1, &error));
    ASSERT_REFUSED(WG_ARGUMENT, wg_checkpoint_save(NULL, p.network, p.parameters, optimiser, NULL, 0, &error));
    ASSERT_REFUSED(WG_ARGUMENT, wg_checkpoint_save("never-written", p.network, p.parameters, optimiser, NULL, 1, &error));
    ASSERT_REFUSED(WG_ARGUMENT, wg_parameters_load(p.parameters, p.network, NULL, &error));
    ASSERT_REFUSED(WG_ARGUMENT, wg_npy_write("never-written", NULL, &error));
    assert_int_equal(wg_optimiser_steps(optimiser), 0);
    wg_optimiser_free(&optimiser);
    free_program(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recording),
        cmocka_unit_test(test_sessions),
        cmocka_unit_test(test_optimisers_and_checkpoints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
