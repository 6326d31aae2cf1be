/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "tools/page.h"

#include <string.h>

#include "base/file.h"
#include "base/tensor.h"
#include "tools/chart.h"
#include "tools/samples.h"
#include "tools/verdicts.h"

/* A matrix of more classes than this is no picture any more. */
#define MOST_MATRIX 40

static const char style[] =
    ":root{color-scheme:light dark;--page:#fcfcfb;--card:#fff;--ink:#1f2328;--soft:#5b636d;--grid:#e7e8ea;--rule:#c9ccd1;"
    "--a:#2463a8;--b:#c2570c;--c:#a9b4c0;--good:#1a7f46}\n"
    "@media(prefers-color-scheme:dark){:root{--page:#15181c;--card:#1c2026;--ink:#e4e7ea;--soft:#9aa4af;--grid:#2b3037;"
    "--rule:#454c55;--a:#6ea8e6;--b:#f0924f;--c:#56616d;--good:#5fc98c}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}\n"
    "main{max-width:1080px;margin:0 auto;padding:32px 24px 64px}h1{font-size:26px;margin:0 0 2px}\n"
    "h2{font-size:18px;margin:0 0 4px}h3{font-size:15px;margin:20px 0 8px}\n"
    "p{margin:0 0 12px;color:var(--soft);max-width:72ch}\n"
    ".pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(440px,100%),1fr));gap:20px}\n"
    "section{background:var(--card);border:1px solid var(--grid);border-radius:10px;padding:20px;margin-top:20px;min-width:0}\n"
    ".pair section{margin-top:0}.pair{margin-top:20px}.facts{display:flex;flex-wrap:wrap;gap:12px 36px;margin:20px 0 0}\n"
    ".facts div{min-width:90px}.facts dt{color:var(--soft);font-size:13px}.facts dd{margin:0;font-size:20px;font-weight:600}\n"
    ".facts dd.first{color:var(--a)}.small{color:var(--soft);font-size:13px;max-width:none;overflow-wrap:anywhere}\n"
    "svg{display:block;width:100%;height:auto}svg text{font:12px system-ui,sans-serif;fill:var(--soft)}\n"
    "svg .name{fill:var(--ink)}svg .strong{fill:var(--ink);font-weight:600}svg .on{fill:#fff}\n"
    "@media(prefers-color-scheme:dark){svg .on{fill:#10151b}}.grid{stroke:var(--grid)}.axis,.tick{stroke:var(--rule)}\n"
    ".line{fill:none;stroke-width:2.2;stroke-linejoin:round;stroke-linecap:round}.thin{fill:none;stroke-width:1;opacity:.38}\n"
    ".area{stroke:none;opacity:.16}.mark{stroke:var(--card);stroke-width:1.5}.cell{stroke:var(--grid);stroke-width:.6}\n"
    ".matrix{max-width:720px}\n"
    ".cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(220px,46%),1fr));gap:14px}\n"
    ".card{border:1px solid var(--grid);border-radius:8px;padding:12px;min-width:0}\n"
    ".card img{display:block;height:112px;max-width:100%;margin:0 auto 8px;image-rendering:pixelated;border-radius:4px}\n"
    ".said{font-weight:600;text-align:center;margin-bottom:4px}.right{color:var(--good)}.wrong{color:var(--b)}\n"
    "details{margin-top:12px}summary{cursor:pointer;font-weight:600}\n"
    "pre{overflow:auto;max-height:560px;margin:10px 0 0;padding:12px;background:var(--page);border:1px solid var(--grid);"
    "border-radius:6px;font:12px/1.45 ui-monospace,Consolas,monospace}\n";

/* ---- facts ---- */

static void put_fact(base_string *html, const char *name, const char *value, bool first)
{
    base_string_printf(html, "<div><dt>%s</dt><dd%s>", name, first ? " class=\"first\"" : "");
    chart_put_text(html, value);
    base_string_puts(html, "</dd></div>\n");
}

static double trained_numbers(const training *t)
{
    double count = 0;
    for (uint32_t i = 0; i < wg_parameters_count(t->model.parameters); i++) {
        wg_node_facts facts;
        wg_network_node(t->model.network, wg_parameters_symbol(t->model.parameters, i).position, &facts);
        count += (double)facts.volume;
    }
    return count;
}

static void put_facts(base_string *html, const training *t)
{
    const training_history *h = &t->history;
    const evaluation *last = h->evaluation_count ? &h->evaluations[h->evaluation_count - 1] : NULL;
    char text[80], number[32];
    base_string_puts(html, "<dl class=\"facts\">\n");
    if (last && last->has_accuracy) {
        snprintf(text, sizeof text, "%.2f %%", 100 * last->accuracy);
        put_fact(html, "held-out accuracy", text, true);
    }
    for (uint32_t i = 0; last && i < last->count; i++) {
        if (!strcmp(last->figures[i].name, "correct")) continue;
        char name[96];
        snprintf(text, sizeof text, "%.4g", last->figures[i].value);
        snprintf(name, sizeof name, "held-out %s", last->figures[i].name);
        base_string_puts(html, "<div><dt>");
        chart_put_text(html, name);
        base_string_puts(html, "</dt><dd>");
        chart_put_text(html, text);
        base_string_puts(html, "</dd></div>\n");
    }
    snprintf(text, sizeof text, "%llu", (unsigned long long)t->step);
    put_fact(html, "steps", text, false);
    snprintf(text, sizeof text, "%lld", (long long)t->settings.epochs);
    put_fact(html, "epochs", text, false);
    put_fact(html, "trained numbers", progress_thousands(trained_numbers(t), number), false);
    snprintf(text, sizeof text, "%s %s/s", h->seconds > 0 ? progress_thousands(h->rows / h->seconds, number) : "0", t->progress.unit);
    put_fact(html, "speed", text, false);
    snprintf(text, sizeof text, "%s s", progress_seconds(h->seconds, number));
    put_fact(html, "time in steps", text, false);
    base_string_puts(html, "</dl>\n");
}

static void put_settings(base_string *html, const training *t)
{
    base_arena arena = base_arena_new(tool_allocator());
    const char **pairs = settings_metadata(&t->settings, &arena);
    char identity[65];
    base_string_puts(html, "<p class=\"small\" style=\"margin-top:16px\">");
    for (size_t i = 0; pairs && i < SETTINGS_PAIRS; i++) {
        const char *name = strrchr(pairs[2 * i], '.');
        base_string_printf(html, "%s%s ", i ? " \xC2\xB7 " : "", name ? name + 1 : pairs[2 * i]);
        chart_put_text(html, pairs[2 * i + 1]);
    }
    base_string_printf(html, " \xC2\xB7 rows %lld", (long long)t->data.rows);
    if (wg_network_identity(t->model.network, identity, NULL)) base_string_printf(html, "<br>program %s", identity);
    base_string_puts(html, "</p>\n");
    base_arena_free(&arena);
}

/* ---- curves ---- */

/* How many steps the smoothed loss is a mean of: a fiftieth of what there is. */
static size_t window_of(size_t count)
{
    return count / 50 > 1 ? count / 50 : 1;
}

static void put_loss(base_string *html, const training *t)
{
    const training_history *h = &t->history;
    size_t count = h->loss_count, held = h->evaluation_count, window = window_of(count);
    double *x = base_allocate(tool_allocator(), (3 * count + 2 * held + 1) * sizeof *x);
    if (!x) {
        html->failed = true;
        return;
    }
    double *each = x + count, *mean = each + count, *held_x = mean + count, *held_y = held_x + held, sum = 0;
    for (size_t i = 0; i < count; i++) {
        x[i] = (double)(h->first_step + i + 1);
        each[i] = h->losses[i];
        sum += each[i] - (i >= window ? each[i - window] : 0);
        mean[i] = sum / (double)(i < window ? i + 1 : window);
    }
    size_t points = 0;
    for (size_t i = 0; i < held; i++)
        for (uint32_t f = 0; f < h->evaluations[i].count; f++)
            if (!strcmp(h->evaluations[i].figures[f].name, "loss"))
                held_x[points] = (double)h->evaluated_at[i], held_y[points++] = h->evaluations[i].figures[f].value;
    char name[64];
    if (window == 1) snprintf(name, sizeof name, "each step");
    else snprintf(name, sizeof name, "mean of %zu steps", window);
    const chart_series series[] = {{"each step", CHART_THIN, 0, x, each, count},
                                   {name, CHART_LINE, 0, x, mean, count},
                                   {"held out", CHART_MARKS, 1, held_x, held_y, points}};
    base_string_puts(html,
                     "<section><h2>Loss</h2><p>Of each batch while it was trained on, and of the held-out rows after each epoch.</p>\n");
    uint32_t first = window == 1, last = points ? 3 : 2; /* a mean of one step is that step */
    chart_put(html, &(chart){.title = "Loss by step",
                             .x_title = "step",
                             .y_title = "loss",
                             .from_zero = true,
                             .series = series + first,
                             .series_count = last - first});
    base_string_puts(html, "</section>\n");
    base_free(tool_allocator(), x, (3 * count + 2 * held + 1) * sizeof *x);
}

static void put_accuracy(base_string *html, const training *t)
{
    const training_history *h = &t->history;
    size_t count = h->evaluation_count;
    char rows[32];
    if (!count || !h->evaluations[0].has_accuracy) return;
    double *x = base_allocate(tool_allocator(), 2 * count * sizeof *x);
    if (!x) {
        html->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        x[i] = (double)h->evaluated_at[i] / (double)t->steps_an_epoch;
        x[count + i] = h->evaluations[i].accuracy;
    }
    const chart_series series = {"held out", CHART_MARKS, 1, x, x + count, count};
    base_string_printf(html, "<section><h2>Held-out accuracy</h2><p>Share of %s held-out rows whose class is right.</p>\n",
                       progress_thousands((double)h->evaluations[0].rows, rows));
    chart_put(html, &(chart){.title = "Held-out accuracy by epoch",
                             .x_title = "epoch",
                             .y_title = "accuracy",
                             .percent = true,
                             .series = &series,
                             .series_count = 1});
    base_string_puts(html, "</section>\n");
    base_free(tool_allocator(), x, 2 * count * sizeof *x);
}

/* ---- classes ---- */

static void put_matrix(base_string *html, const verdicts *v, const char *const *names)
{
    if (!v->truth || v->classes > MOST_MATRIX) return;
    int64_t counts[MOST_MATRIX * MOST_MATRIX] = {0};
    char rows[32];
    for (int64_t row = 0; row < v->rows; row++)
        if (verdicts_truth(v, row) < v->classes) counts[verdicts_truth(v, row) * v->classes + v->predicted[row]]++;
    base_string_printf(html,
                       "<section><h2>Confusion matrix</h2><p>The %s held-out rows by true class, one a line, and predicted class, one a "
                       "column; the diagonal is right.</p><div class=\"matrix\">\n",
                       progress_thousands((double)v->rows, rows));
    chart_put_matrix(html, counts, v->classes, names);
    base_string_puts(html, "</div></section>\n");
}

static bool put_classes(base_string *html, training *t, wg_error *error)
{
    verdicts v;
    if (!verdicts_read(t, &v, error)) return error->code == WG_OK;
    base_arena arena = base_arena_new(tool_allocator());
    const char **names = NULL;
    uint32_t count = 0;
    bool good = !v.truth_file || dataset_class_names(v.truth_file, &arena, &names, &count, error);
    if (count != v.classes) names = NULL; /* names of other classes would be worse than none */
    if (good) {
        put_matrix(html, &v, names);
        samples_put(html, &v, names);
    }
    base_arena_free(&arena);
    verdicts_free(&v);
    return good;
}

/* ---- plans ---- */

static void put_series(base_string *html, const wg_plan *plan, const char *entry)
{
    uint32_t count;
    const int64_t *alive = wg_plan_live_series(plan, &count);
    double *x = base_allocate(tool_allocator(), 2 * ((size_t)count + 1) * sizeof *x);
    if (!x) {
        html->failed = true;
        return;
    }
    for (uint32_t i = 0; i <= count; i++) {
        x[i] = i;
        x[count + 1 + i] = count ? (double)alive[i < count ? i : count - 1] : 0;
    }
    char title[96];
    snprintf(title, sizeof title, "Live volume of the plan of %s", entry);
    const chart_series series = {"alive", CHART_STAIRS, 0, x, x + count + 1, (size_t)count + 1};
    chart_put(html, &(chart){.title = title,
                             .x_title = "node of the plan",
                             .y_title = "elements alive",
                             .from_zero = true,
                             .series = &series,
                             .series_count = 1});
    base_free(tool_allocator(), x, 2 * ((size_t)count + 1) * sizeof *x);
}

static void put_details(base_string *html, const char *summary, char *text)
{
    base_string_printf(html, "<details><summary>%s</summary><pre>", summary);
    if (text) chart_put_text(html, text);
    else html->failed = true;
    base_string_puts(html, "</pre></details>\n");
    wg_text_free(text);
}

static void put_plan(base_string *html, const wg_plan *plan, const char *entry)
{
    wg_plan_figures figures;
    char peak[32], all[32], arena[32];
    wg_plan_figures_of(plan, &figures);
    base_string_puts(html, "<section><h2>Live volume of the plan of <code>");
    chart_put_text(html, entry);
    base_string_printf(html,
                       "</code></h2><p>%u of the program's %u nodes are evaluated, in %u stages. At most %s elements are alive at once; "
                       "keeping every result would hold %s. The run takes one arena of "
                       "%sB.</p>\n",
                       figures.evaluated, figures.total, figures.stages, chart_short((double)figures.peak, peak),
                       chart_short((double)figures.retain_all, all), chart_short((double)figures.arena_bytes, arena));
    put_series(html, plan, entry);
    put_details(html, "Every node and how long it lives", wg_plan_describe(plan));
    put_details(html, "Elections, stages, layout", wg_plan_report(plan));
    base_string_puts(html, "</section>\n");
}

static bool put_plans(base_string *html, const training *t, wg_error *error)
{
    base_string_puts(html, "<div class=\"pair\">\n");
    put_plan(html, t->train.plan, t->settings.entry);
    for (uint32_t i = 0; i < wg_network_entry_count(t->model.network); i++) {
        if (strcmp(wg_network_entry_name(t->model.network, i), "classify")) continue;
        wg_entry *entry = wg_network_entry(t->model.network, "classify", error);
        wg_plan *plan = entry ? wg_plan_new(entry, NULL, 0, error) : NULL;
        if (plan) put_plan(html, plan, "classify");
        wg_plan_release(&plan);
        wg_entry_free(&entry);
    }
    base_string_puts(html, "</div>\n");
    return error->code == WG_OK;
}

/* ---- the page ---- */

static void put_head(base_string *html, const char *name)
{
    base_string_puts(html, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
                           "content=\"width=device-width,initial-scale=1\"><title>");
    chart_put_text(html, name);
    base_string_puts(html, ": training report</title>\n<style>");
    base_string_puts(html, style);
    base_string_puts(html, "</style></head><body><main>\n<h1>");
    chart_put_text(html, name);
    base_string_puts(html, "</h1><p>Training report of <code>wengert train</code></p>\n");
}

bool page_write(training *t, const char *path, wg_error *error)
{
    base_string html = base_string_new(tool_allocator());
    const char *name = wg_network_name(t->model.network);
    put_head(&html, name && *name ? name : "unnamed program");
    put_facts(&html, t);
    put_settings(&html, t);
    base_string_puts(&html, "<div class=\"pair\">\n");
    put_loss(&html, t);
    put_accuracy(&html, t);
    base_string_puts(&html, "</div>\n");
    bool good = put_classes(&html, t, error) && put_plans(&html, t, error);
    base_string_puts(&html, "</main></body></html>\n");
    good = good && (!html.failed || base_fail_memory(error)) && base_file_write(tool_allocator(), path, html.text, html.length, error);
    base_string_free(&html);
    return good;
}
