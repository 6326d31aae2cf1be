/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A straight line through points by gradient descent: a program, its derivative, a parameter table, an optimiser.
 *
 *   cc -std=c11 examples/line.c -lwengert -o line && ./line */
#include <stdio.h>

#include "wengert/wengert.h"

static wg_tensor *numbers(int64_t count, const float *items)
{
    return wg_tensor_new(NULL, WG_KIND_F32, 1, &count, items, NULL);
}

static float number(const wg_parameters *parameters, wg_symbol symbol)
{
    return *(const float *)wg_tensor_data(wg_parameters_of(parameters, symbol, NULL));
}

int main(void)
{
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = wg_input(tape, numbers(5, (float[]){0, 1, 2, 3, 4}));
    wg_value y = wg_input(tape, numbers(5, (float[]){1, 3, 5, 7, 9}));
    wg_value slope = wg_parameter(tape, wg_tensor_fill(NULL, WG_KIND_F32, 0, NULL, 0, NULL));
    wg_value intercept = wg_parameter(tape, wg_tensor_fill(NULL, WG_KIND_F32, 0, NULL, 0, NULL));
    wg_size shape[] = {wg_number(5)};
    wg_value estimate = wg_add(wg_mul(x, wg_broadcast(slope, 1, shape)), wg_broadcast(intercept, 1, shape));
    wg_value loss = wg_mean_squared_error(estimate, y);

    /* Reverse mode is recorded behind the program; the loss and its gradients are what a training run reads. */
    wg_value wrt[] = {slope, intercept};
    wg_symbol names[] = {wg_symbol_of(slope), wg_symbol_of(intercept)}, roots[3];
    wg_adjoints *adjoints = wg_differentiate(tape, loss, wrt, 2);
    uint32_t count;
    const wg_symbol *found = wg_adjoints_roots(adjoints, &count);
    for (uint32_t i = 0; found && i < count; i++) roots[i] = found[i];
    wg_adjoints_free(&adjoints);

    wg_error error = {.code = WG_OK};
    wg_network *network = wg_tape_seal(&tape, &error);
    wg_entry_options declared = {.size = sizeof declared, .name = "train", .roots = roots, .root_count = 3};
    wg_entry *entry = network ? wg_entry_new(network, &declared, &error) : NULL;
    wg_plan *plan = entry ? wg_plan_new(entry, NULL, 0, &error) : NULL;
    wg_session *session = plan ? wg_session_new(plan, NULL, &error) : NULL;
    wg_parameters *parameters = session ? wg_parameters_new(network, &error) : NULL;
    wg_optimiser_options method = {.size = sizeof method, .method = WG_OPTIMISER_SGD, .rate = 0.05, .momentum = 0.5};
    wg_optimiser *optimiser = parameters ? wg_optimiser_new(parameters, &method, &error) : NULL;

    for (int step = 0; optimiser && !error.code && step <= 200; step++) {
        wg_run_options options = {.size = sizeof options, .parameters = parameters};
        wg_view value, gradients[2];
        if (!wg_session_run(session, &options, &error) || !wg_session_read(session, roots[0], &value, &error)) break;
        if (step % 50 == 0)
            printf("step %3d  loss %-12.6g slope %.6g  intercept %.6g\n", step, *(float *)value.data, number(parameters, names[0]),
                   number(parameters, names[1]));
        for (int i = 0; i < 2; i++) wg_session_read(session, roots[1 + i], &gradients[i], &error);
        wg_optimiser_step(optimiser, parameters, names, gradients, 2, &error);
    }
    if (error.code) fprintf(stderr, "%s\n", error.message);

    wg_optimiser_free(&optimiser);
    wg_parameters_free(&parameters);
    wg_session_free(&session);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&network);
    return error.code ? 1 : 0;
}
