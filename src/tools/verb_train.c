/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * wengert train: fits a program's parameters to data, tells what came of it, writes the report. */
#include <string.h>

#include "base/json.h"
#include "tools/page.h"
#include "tools/training.h"

static double last_loss(const training *t)
{
    return t->history.loss_count ? t->history.losses[t->history.loss_count - 1] : 0;
}

static double speed(const training *t)
{
    return t->history.seconds > 0 ? t->history.rows / t->history.seconds : 0;
}

static void print_json(const training *t, int code)
{
    const training_history *h = &t->history;
    base_string text = base_string_new(tool_allocator());
    base_string_printf(&text, "{\"wengert\": 1, \"interrupted\": %s, \"steps\": %llu, \"epochs\": %llu, \"loss\": ",
                       code == TOOL_INTERRUPTED ? "true" : "false", (unsigned long long)t->step,
                       (unsigned long long)(t->step / t->steps_an_epoch));
    progress_put_number(&text, last_loss(t));
    base_string_puts(&text, ", \"seconds\": ");
    progress_put_number(&text, h->seconds);
    base_string_puts(&text, ", \"items_per_second\": ");
    progress_put_number(&text, speed(t));
    if (h->evaluation_count) {
        base_string_puts(&text, ", \"held_out\": ");
        evaluation_put_json(&h->evaluations[h->evaluation_count - 1], &text);
    }
    if (t->settings.out) {
        base_string_puts(&text, ", \"model\": ");
        base_json_put_string(&text, t->settings.out, strlen(t->settings.out));
    }
    base_string_puts(&text, "}\n");
    if (!text.failed) fputs(text.text, stdout);
    base_string_free(&text);
}

static void print_lines(const training *t)
{
    const training_history *h = &t->history;
    char thousands[32], seconds[32], loss[32];
    if (!h->loss_count) printf("nothing to do: the model has its %lld epochs; more by --epochs\n", (long long)t->settings.epochs);
    else
        printf("trained %u steps in %s s, %s %s/s, last loss %s\n", h->loss_count, progress_seconds(h->seconds, seconds),
               progress_thousands(speed(t), thousands), t->progress.unit, progress_figure(last_loss(t), loss));
    if (h->evaluation_count) {
        base_string text = base_string_new(tool_allocator());
        evaluation_put_text(&h->evaluations[h->evaluation_count - 1], &text);
        if (!text.failed && text.text) printf("held out: %s\n", text.text);
        base_string_free(&text);
    }
    if (t->settings.out) printf("model: %s\n", t->settings.out);
    else printf("the model is not kept: name a file for it by --out\n");
    if (t->settings.report) printf("report: %s\n", t->settings.report);
}

int verb_train(const tool_call *call)
{
    training t;
    wg_error error = {.code = WG_OK};
    int code;
    bool good = training_open(&t, call, &code, &error);
    if (good) {
        code = training_loop(&t, &error);
        good = code != TOOL_FAILED;
        if (code == TOOL_DONE && t.settings.report) good = page_write(&t, t.settings.report, &error);
        if (good && call->json) print_json(&t, code);
        else if (good && code == TOOL_DONE) print_lines(&t);
    }
    training_close(&t);
    if (code == TOOL_USAGE) return code;
    return good ? code : tool_fail(call, &error);
}
