/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Three spiral arms told apart by a small network: layers, Adam, a checkpoint that the command opens. The points are drawn by the
 * library's own counter-based generator, so every machine prints the same.
 *
 *   cc -std=c11 examples/spiral.c -lwengert -o spiral && ./spiral */
#include <stdio.h>

#include "wengert/wengert.h"

enum { ARMS = 3, EACH = 100, POINTS = ARMS * EACH, STEPS = 400, MOST_PARAMETERS = 16 };

/* The program that lays the points: a row for each, arm by arm. */
static const char spirals[] = "wengert 1\n"
                              "constant key u32 [2] = (7 0)\n"
                              "number = convert(iota(shape=[300], axis=0, kind=i64), kind=f32)\n"
                              "arm = floor(number / 100)\n"
                              "way = (number - arm * 100) / 100\n"
                              "angle = arm * 2.0944 + way * 4 + draw(key, distribution=normal, shape=[300], kind=f32) * 0.1\n"
                              "points = transpose(reshape(concat(way * cos(angle), way * sin(angle), axis=0), shape=[2, 300]))\n"
                              "labels = convert(arm, kind=i64)\n"
                              "entry points: points, labels\n";

static wg_run *lay_points(wg_symbol *points, wg_symbol *labels, wg_error *error)
{
    wg_network *network = wg_text_parse(NULL, spirals, sizeof spirals - 1, "spirals", NULL, error);
    wg_entry *entry = network ? wg_network_entry(network, "points", error) : NULL;
    wg_run *run = entry ? wg_interpret(entry, &(wg_run_options){.size = sizeof(wg_run_options)}, error) : NULL;
    if (run) *points = wg_entry_result(entry, 0), *labels = wg_entry_result(entry, 1);
    wg_entry_free(&entry);
    wg_network_release(&network);
    return run;
}

/* Records the network with its entries train (loss and gradients) and classify. */
static wg_network *record(wg_symbol *points, wg_symbol *labels, wg_error *error)
{
    wg_tape *tape = wg_tape_new(NULL);
    wg_tape_name(tape, "spiral");
    wg_size n = wg_extent(tape, "n", POINTS);
    wg_value x = wg_name(wg_input_required(tape, WG_KIND_F32, 2, (wg_size[]){n, wg_number(2)}), "points");
    wg_value y = wg_name(wg_input_required(tape, WG_KIND_I64, 1, &n), "labels");
    wg_mlp mlp = wg_mlp_new(tape, "mlp", (int64_t[]){2, 32, 32, ARMS}, 3, WG_ACTIVATION_TANH, 1);
    wg_value logits = wg_mlp_apply(&mlp, x);
    wg_value loss = wg_name(wg_cross_entropy(logits, y), "loss");
    wg_symbol answers[] = {wg_symbol_of(wg_name(wg_arg_max(logits, 1), "class")),
                           wg_symbol_of(wg_name(wg_softmax(logits, 1), "probabilities"))};

    wg_value wrt[2 * 3];
    for (uint32_t i = 0; i < mlp.count; i++) wrt[2 * i] = mlp.layers[i].weight, wrt[2 * i + 1] = mlp.layers[i].bias;
    wg_adjoints *adjoints = wg_differentiate(tape, loss, wrt, 2 * mlp.count);
    uint32_t count = 0;
    const wg_symbol *roots = wg_adjoints_roots(adjoints, &count);
    wg_tape_declare(tape, &(wg_entry_options){.size = sizeof(wg_entry_options), .name = "train", .roots = roots, .root_count = count});
    wg_tape_declare(tape, &(wg_entry_options){.size = sizeof(wg_entry_options), .name = "classify", .roots = answers, .root_count = 2});
    wg_adjoints_free(&adjoints);
    *points = wg_symbol_of(x);
    *labels = wg_symbol_of(y);
    return wg_tape_seal(&tape, error);
}

static bool train(wg_entry *entry, wg_session *session, wg_parameters *parameters, wg_optimiser *optimiser,
                  const wg_run_options *options, wg_error *error)
{
    wg_symbol names[MOST_PARAMETERS];
    wg_view loss, gradients[MOST_PARAMETERS];
    uint32_t count = wg_parameters_count(parameters);
    for (uint32_t i = 0; i < count; i++) names[i] = wg_parameters_symbol(parameters, i);
    for (int step = 1; step <= STEPS; step++) {
        if (!wg_session_run(session, options, error) || !wg_session_read(session, wg_entry_result(entry, 0), &loss, error)) return false;
        if (step == 1 || step % 100 == 0) printf("step %3d  loss %.6f\n", step, *(float *)loss.data);
        for (uint32_t i = 0; i < count; i++)
            if (!wg_session_read(session, wg_entry_result(entry, 1 + i), &gradients[i], error)) return false;
        if (!wg_optimiser_step(optimiser, parameters, names, gradients, count, error)) return false;
    }
    return true;
}

int main(void)
{
    wg_error error = {.code = WG_OK};
    wg_symbol points, labels, laid, known;
    wg_run *data = lay_points(&laid, &known, &error);
    wg_network *network = data ? record(&points, &labels, &error) : NULL;
    wg_entry *entry = network ? wg_network_entry(network, "train", &error) : NULL;
    wg_plan *plan = entry ? wg_plan_new(entry, NULL, 0, &error) : NULL;
    wg_session *session = plan ? wg_session_new(plan, NULL, &error) : NULL;
    wg_parameters *parameters = session ? wg_parameters_new(network, &error) : NULL;
    wg_optimiser_options method = {.size = sizeof method, .method = WG_OPTIMISER_ADAM, .rate = 0.01};
    wg_optimiser *optimiser = parameters ? wg_optimiser_new(parameters, &method, &error) : NULL;
    bool good = false;
    if (optimiser) {
        wg_feed feeds[] = {{points, wg_tensor_view(wg_run_of(data, laid, NULL))}, {labels, wg_tensor_view(wg_run_of(data, known, NULL))}};
        wg_run_options options = {.size = sizeof options, .parameters = parameters, .feeds = feeds, .feed_count = 2};
        good = train(entry, session, parameters, optimiser, &options, &error) &&
               wg_checkpoint_save("spiral.safetensors", network, parameters, optimiser, NULL, 0, &error);
    }
    if (good) puts("saved spiral.safetensors");
    else fprintf(stderr, "%s\n", error.message);

    wg_optimiser_free(&optimiser);
    wg_parameters_free(&parameters);
    wg_session_free(&session);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&network);
    wg_run_free(&data);
    return good ? 0 : 1;
}
