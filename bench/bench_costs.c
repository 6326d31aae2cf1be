/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What the kernel of a pattern saves beside its rows, at each vector level that this processor has: a line of attention and each of its keys,
 * and the same of its gradient with it.
 * Both forms run by turns and the least time counts; a retained run elects nothing. */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */

#include <string.h>

#include "figures.h"
#include "wengert/compose.h"
#include "wengert/ops.h"
#include "wengert/nn.h"
#include "wengert/run.h"

#define HEADS 16
#define ROWS 48
#define TURNS 60

typedef struct form {
    wg_entry *entry;
    wg_plan *plan;
    wg_session *session;
    double best;
} form;

static form form_of(const wg_network *network, const wg_symbol *roots, uint32_t count, wg_posture posture)
{
    wg_error error = {0};
    form made = {.best = 1e9};
    made.entry = wg_entry_new(network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = roots, .root_count = count, .posture = posture}, &error);
    made.plan = made.entry ? wg_plan_new(made.entry, NULL, 0, &error) : NULL;
    made.session = made.plan ? wg_session_new(made.plan, NULL, &error) : NULL;
    figure_must(made.session != NULL, &error);
    return made;
}

static void turn(form *f)
{
    wg_error error = {0};
    double begin = figure_clock(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < 4; i++) figure_must(wg_session_run(f->session, NULL, &error), &error);
    double time = (figure_clock(CLOCK_THREAD_CPUTIME_ID) - begin) / 4;
    if (time < f->best) f->best = time;
}

static void form_free(form *f)
{
    wg_session_free(&f->session);
    wg_plan_release(&f->plan);
    wg_entry_free(&f->entry);
}

static wg_value source(wg_tape *tape, int64_t rows)
{
    wg_size shape[] = {wg_number(HEADS), wg_number(rows), wg_number(64)};
    return wg_parameter_fill(tape, WG_KIND_F32, 3, shape, 0.01);
}

/* Nanoseconds that the kernel costs less than the rows, a line. */
static double saved(wg_context *context, int64_t keys, bool gradient)
{
    wg_error error = {0};
    wg_tape *tape = wg_tape_new(context);
    wg_value k = source(tape, keys), q = source(tape, gradient ? keys : ROWS), v = source(tape, keys), sides[] = {q, k, v};
    wg_value result = gradient ? wg_causal_attention(q, k, v, 0.125) : wg_attention(q, k, v, (wg_value){0}, 0.125);
    wg_symbol roots[3] = {wg_symbol_of(result)};
    wg_adjoints *adjoints = gradient ? wg_differentiate(tape, wg_sum(wg_mul(result, result)), sides, 3) : NULL;
    for (uint32_t i = 0; adjoints && i < 3; i++) roots[i] = wg_symbol_of(wg_adjoints_gradient(adjoints, i));
    wg_adjoints_free(&adjoints);
    wg_network *network = wg_tape_seal(&tape, &error);
    figure_must(network != NULL, &error);
    uint32_t count = gradient ? 3 : 1;
    form kernel = form_of(network, roots, count, WG_POSTURE_FORWARD), rows = form_of(network, roots, count, WG_POSTURE_RETAIN);
    for (int i = 0; i < (gradient ? TURNS / 10 : TURNS); i++) {
        turn(&kernel);
        turn(&rows);
    }
    double nanoseconds = (rows.best - kernel.best) * 1e9 / (HEADS * (double)(gradient ? keys : ROWS));
    form_free(&kernel);
    form_free(&rows);
    wg_network_release(&network);
    return nanoseconds;
}

int main(void)
{
    static const char *const levels[] = {"v2", "v3", "v4"};
    for (int level = 0; level < 3; level++) {
        wg_context_options options = {.size = sizeof options, .threads = 1, .simd = levels[level]};
        wg_context *context = wg_context_new(&options, NULL);
        double few = saved(context, 32, false), many = saved(context, 96, false), item = (many - few) / 64;
        printf("Attention at %s: a line costs %.0f ns more than its rows, a key %.2f ns less\n", levels[level], item * 32 - few, item);
        few = saved(context, 288, true), many = saved(context, 576, true), item = (many - few) / 288;
        printf("its gradient and it: a line costs %.0f ns more, a key %.2f ns less\n", item * 288 - few, item);
        wg_context_free(context);
    }
    return 0;
}
