/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define _POSIX_C_SOURCE 200809L /* sigaction */

#include <signal.h>
#include <string.h>

#include "base/tensor.h"
#include "graph/graph.h"
#include "tools/training.h"

/* ---- Ctrl-C ---- */

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

/* The first Ctrl-C asks; the second, with the default handler back, ends the process. */
static void listen(struct sigaction *before)
{
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    interrupted = 0;
    sigaction(SIGINT, &action, before);
}

/* ---- one step ---- */

static bool all_finite(const wg_view *view)
{
    int64_t volume = 1;
    bool bad = false;
    for (uint32_t axis = 0; axis < view->rank; axis++) volume *= view->shape[axis];
    if (view->kind == WG_KIND_F32) {
        const uint32_t *bits = view->data;
        for (int64_t i = 0; i < volume; i++) bad |= (bits[i] & 0x7F800000u) == 0x7F800000u;
    } else if (view->kind == WG_KIND_F64) {
        const uint64_t *bits = view->data;
        for (int64_t i = 0; i < volume; i++) bad |= (bits[i] & 0x7FF0000000000000u) == 0x7FF0000000000000u;
    }
    return !bad;
}

/* Keeps what is carried into this step, so that the oracle can be given the same. */
static bool keep_carried(training *t, wg_error *error)
{
    const graph_entry *entry = &t->train.entry->facts;
    for (uint32_t i = 0; i < entry->carry_count; i++) {
        wg_view view;
        wg_tensor_release(t->carried[i]);
        t->carried[i] = NULL;
        if (!wg_session_carried(t->train.session, wg_network_symbol_at(t->model.network, entry->carries[2 * i + 1]), &view, NULL)) continue;
        t->carried[i] = wg_tensor_copy(NULL, &view, error);
        if (!t->carried[i]) return false;
    }
    return true;
}

static bool read_gradients(training *t, wg_error *error)
{
    for (uint32_t i = 0; i < t->pair_count; i++) {
        if (!wg_session_read(t->train.session, t->gradients[i], &t->views[i], error)) return false;
        if (all_finite(&t->views[i])) continue;
        char what[160], plain[16];
        snprintf(what, sizeof what, "the gradient of %s", tool_result_name(t->model.network, t->wrt[i], plain));
        return training_fault(t, what, error);
    }
    return true;
}

static bool keep_loss(training *t, double loss, wg_error *error)
{
    training_history *h = &t->history;
    if (!BASE_RESERVE(tool_allocator(), h->losses, h->loss_capacity, h->loss_count + 1)) return base_fail_memory(error);
    h->losses[h->loss_count++] = (float)loss;
    return true;
}

static bool take_step(training *t, uint64_t epoch, int64_t index, wg_error *error)
{
    double started = progress_now(), loss, rate = wg_optimiser_rate(t->optimiser);
    int64_t rows = batches_gather(&t->data, index);
    runner_set_key(&t->train, t->settings.seed, t->step);
    if (!keep_carried(t, error) || !runner_run(&t->train, &t->data, t->model.parameters, error) ||
        !runner_number(&t->train, t->loss, &loss, error))
        return false;
    if (loss - loss != 0) return training_fault(t, "the loss", error);
    if (!read_gradients(t, error)) return false;
    if (!wg_optimiser_step(t->optimiser, t->model.parameters, t->wrt, t->views, t->pair_count, error)) return false;
    t->step++;
    double seconds = progress_now() - started;
    t->history.seconds += seconds;
    t->history.rows += (double)rows;
    progress_step(&t->progress, &(progress_step_facts){t->step, epoch + 1, loss, rate, rows, seconds});
    return keep_loss(t, loss, error);
}

/* ---- one epoch ---- */

static bool keep_evaluation(training *t, const evaluation *result, wg_error *error)
{
    training_history *h = &t->history;
    const wg_allocator *allocator = tool_allocator();
    if (!BASE_RESERVE(allocator, h->evaluations, h->evaluation_capacity, h->evaluation_count + 1) ||
        !BASE_RESERVE(allocator, h->evaluated_at, h->evaluated_capacity, h->evaluation_count + 1))
        return base_fail_memory(error);
    h->evaluated_at[h->evaluation_count] = t->step;
    h->evaluations[h->evaluation_count++] = *result;
    return true;
}

/* The mean loss of the steps of this call in this epoch. */
static double mean_loss(const training *t, uint32_t first)
{
    double sum = 0;
    for (uint32_t i = first; i < t->history.loss_count; i++) sum += t->history.losses[i];
    return t->history.loss_count > first ? sum / (t->history.loss_count - first) : 0;
}

static void tell_epoch(training *t, uint64_t epoch, double loss, const evaluation *result)
{
    char shown[32];
    base_string words = base_string_new(tool_allocator()), object = base_string_new(tool_allocator());
    base_string_printf(&object, "{\"wengert\": 1, \"epoch\": %llu, \"step\": %llu, \"loss\": ", (unsigned long long)epoch + 1,
                       (unsigned long long)t->step);
    progress_put_number(&object, loss);
    base_string_puts(&object, ", \"seconds\": ");
    progress_put_number(&object, progress_now() - t->progress.started);
    if (result) {
        base_string_puts(&words, "  held out: ");
        evaluation_put_text(result, &words);
        base_string_puts(&object, ", \"held_out\": ");
        evaluation_put_json(result, &object);
    }
    base_string_puts(&object, "}");
    progress_log(&t->progress, &object);
    if (!words.failed)
        progress_say(&t->progress, "epoch %llu/%lld  loss %s%s", (unsigned long long)epoch + 1, (long long)t->settings.epochs,
                     progress_figure(loss, shown), words.text ? words.text : "");
    base_string_free(&words);
    base_string_free(&object);
}

/* A model that cannot be saved now may be at the end: training goes on, and the end decides. */
static void save_if_possible(training *t)
{
    wg_error error = {.code = WG_OK};
    if (!training_save(t, &error)) progress_say(&t->progress, "wengert train: warning: %s (training goes on)", error.message);
}

static bool end_epoch(training *t, uint64_t epoch, uint32_t first_loss, wg_error *error)
{
    evaluation result;
    if (t->has_evaluate) {
        training_extra_feeds(t, &t->evaluate);
        runner_set_key(&t->evaluate, t->settings.seed, 0);
        if (!evaluation_run(&t->evaluate, &t->test, t->model.parameters, &result, error) || !keep_evaluation(t, &result, error))
            return false;
    }
    tell_epoch(t, epoch, mean_loss(t, first_loss), t->has_evaluate ? &result : NULL);
    return true;
}

/* ---- all ---- */

static int stop(training *t, wg_error *error)
{
    if (!training_save(t, error)) return TOOL_FAILED;
    if (t->settings.out)
        progress_say(&t->progress, "interrupted after step %llu; %s holds it: go on with the same command and --resume",
                     (unsigned long long)t->step, t->settings.out);
    else progress_say(&t->progress, "interrupted after step %llu; nothing was saved, as there is no --out", (unsigned long long)t->step);
    return TOOL_INTERRUPTED;
}

static int run_epochs(training *t, wg_error *error)
{
    int64_t batch_count = (int64_t)t->steps_an_epoch;
    for (uint64_t epoch = t->step / t->steps_an_epoch; epoch < (uint64_t)t->settings.epochs; epoch++) {
        uint32_t first_loss = t->history.loss_count;
        batches_shuffle(&t->data, t->settings.seed, epoch);
        for (int64_t index = (int64_t)(t->step % t->steps_an_epoch); index < batch_count; index++) {
            if (!take_step(t, epoch, index, error)) return TOOL_FAILED;
            if (interrupted && (index + 1 < batch_count || epoch + 1 < (uint64_t)t->settings.epochs)) return stop(t, error);
        }
        if (!end_epoch(t, epoch, first_loss, error)) return TOOL_FAILED;
        if (epoch + 1 < (uint64_t)t->settings.epochs) save_if_possible(t);
    }
    return training_save(t, error) ? TOOL_DONE : TOOL_FAILED;
}

int training_loop(training *t, wg_error *error)
{
    struct sigaction before;
    listen(&before);
    int code = run_epochs(t, error);
    sigaction(SIGINT, &before, NULL);
    if (!progress_close(&t->progress, error) && code == TOOL_DONE) code = TOOL_FAILED;
    return code;
}
