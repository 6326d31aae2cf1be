/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * wengert explain: each stage of an entry's run in one line, then why; with --measure its time beside what the machine can do at most. */
#define _POSIX_C_SOURCE 199309L

#include <stdlib.h>
#include <string.h>

#include "base/fma.h"
#include "base/json.h"
#include "base/tensor.h"
#include "exec/session.h"
#include "tools/measured.h"
#include "tools/running.h"

/* ---- a run without data ---- */

typedef struct stand_ins {
    wg_feed *feeds;
    char **items;
    uint32_t count, made; /* the first `made` feeds are zeros of our own */
} stand_ins;

static bool is_fed(const tool_feeds *given, uint32_t position)
{
    for (uint32_t f = 0; f < given->count; f++)
        if (given->feeds[f].input.position == position) return true;
    return false;
}

/* Zeros for each input that needs a feed and has none. */
static bool stand_in(const running *r, stand_ins *s, wg_error *error)
{
    const wg_plan *plan = r->plan;
    uint32_t inputs = wg_plan_input_count(plan);
    s->feeds = calloc((size_t)inputs + r->feeds.count + 1, sizeof *s->feeds);
    s->items = calloc((size_t)inputs + 1, sizeof *s->items);
    if (!s->feeds || !s->items) return base_fail_memory(error);
    for (uint32_t i = 0; i < inputs; i++) {
        wg_symbol input = wg_plan_input(plan, i);
        uint32_t index = plan->index[input.position];
        const wg_node *node = graph_node(plan->graph, input.position);
        if (is_fed(&r->feeds, input.position) || graph_payload_of(plan->graph, node)->form != GRAPH_PAYLOAD_REQUIRED) continue;
        if (!(s->items[s->made] = calloc(1, (size_t)base_kind_bytes((wg_kind)node->kind, plan->layout.volumes[index]) + 1))) return base_fail_memory(error);
        wg_view zeros = {.data = s->items[s->made], .kind = (wg_kind)node->kind, .rank = node->rank, .shape = plan->layout.shapes[index]};
        s->feeds[s->made++] = (wg_feed){input, zeros};
    }
    memcpy(s->feeds + s->made, r->feeds.feeds, r->feeds.count * sizeof *s->feeds);
    s->count = s->made + r->feeds.count;
    return true;
}

static void stand_ins_free(stand_ins *s)
{
    for (uint32_t i = 0; i < s->made; i++) free(s->items[i]);
    free(s->items);
    free(s->feeds);
}

/* ---- the rows ---- */

typedef struct row {
    uint32_t stage;
    wg_stage facts;
    double seconds; /* 0: not measured */
    double key;     /* greatest first; equals by stage */
} row;

typedef struct explanation {
    running running;
    stand_ins zeros;
    row *rows;
    uint32_t count, threads;
    bool measured;
    tool_roofs roofs;
    const char *by, *level;
} explanation;

static int by_key(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? 1 : -1;
    return x->stage < y->stage ? -1 : 1;
}

#define RUNS 7

static bool measure(explanation *e, double *seconds, wg_error *error)
{
    if (!stand_in(&e->running, &e->zeros, error)) return false;
    wg_run_options options = e->running.options;
    options.feeds = e->zeros.feeds;
    options.feed_count = e->zeros.count;
    /* The first run's pages are new. */
    return wg_session_run(e->running.session, &options, error) && wg_session_measure(e->running.session, &options, RUNS, seconds, error) &&
           tool_roofs_measure(e->threads, &e->roofs, error);
}

static bool make_rows(explanation *e, wg_error *error)
{
    const wg_session *session = e->running.session;
    e->count = session->plan->stage_count;
    e->rows = calloc((size_t)e->count + 1, sizeof *e->rows);
    double *seconds = calloc((size_t)e->count + 1, sizeof *seconds);
    bool good = (e->rows && seconds) || base_fail_memory(error);
    good = good && (!e->measured || measure(e, seconds, error));
    for (uint32_t s = 0; good && s < e->count; s++) {
        row *own = &e->rows[s];
        own->stage = s;
        own->seconds = seconds[s];
        wg_session_stage(session, s, &own->facts);
        if (!strcmp(e->by, "bytes")) own->key = (double)(own->facts.read_bytes + own->facts.written_bytes);
        if (!strcmp(e->by, "time")) own->key = e->measured ? own->seconds : own->facts.cost;
    }
    free(seconds);
    if (good) qsort(e->rows, e->count, sizeof *e->rows, by_key);
    return good;
}

static double bytes_of(const row *own)
{
    return (double)(own->facts.read_bytes + own->facts.written_bytes);
}

/* Of the roof that it is nearer to. */
static double share_of_roof(const explanation *e, const row *own)
{
    double operations = own->facts.operations / own->seconds / e->roofs.operations, bytes = bytes_of(own) / own->seconds / e->roofs.bytes;
    return operations > bytes ? operations : bytes;
}

/* ---- text ---- */

/* 1234567 as "1.2M", at most five characters. */
static const char *short_number(double number, char *text)
{
    static const char units[] = " KMGTP";
    uint32_t unit = 0;
    for (; number >= 999.5 && unit + 2 < sizeof units; number /= 1000) unit++;
    snprintf(text, 16, unit && number < 9.95 ? "%.1f%c" : "%.0f%c", number, units[unit]);
    if (!unit) text[strlen(text) - 1] = 0;
    return text;
}

static void put_row(const explanation *e, const row *own, base_string *text)
{
    char read[16], written[16], cost[16], kind[40];
    snprintf(kind, sizeof kind, "%s%s", own->facts.kind, own->facts.again ? ", again" : "");
    char number[16] = "";
    if (own->stage < e->count) snprintf(number, sizeof number, "%u", own->stage);
    base_string_printf(text, "%5s  %-22s %5u %7s %7s %7s", number, kind, own->facts.node_count, short_number((double)own->facts.read_bytes, read),
                       short_number((double)own->facts.written_bytes, written), short_number(own->facts.cost, cost));
    if (e->measured && own->seconds > 0)
        base_string_printf(text, " %10.1f %7.1f %8.1f %5.0f%%", own->seconds * 1e6, bytes_of(own) / own->seconds * 1e-9,
                           own->facts.operations / own->seconds * 1e-9, 100 * share_of_roof(e, own));
    base_string_puts(text, "\n");
}

static row total_of(const explanation *e)
{
    row total = {.facts = {.kind = "all"}};
    for (uint32_t i = 0; i < e->count; i++) {
        const wg_stage *own = &e->rows[i].facts;
        total.seconds += e->rows[i].seconds;
        total.facts.node_count += own->node_count;
        total.facts.read_bytes += own->read_bytes;
        total.facts.written_bytes += own->written_bytes;
        total.facts.operations += own->operations;
        total.facts.cost += own->cost;
    }
    total.stage = e->count;
    return total;
}

static const char *fma_word(void)
{
    return base_has_fma() ? "fma by the processor" : "fma in software: this processor has none";
}

static void put_patterns(const wg_plan *plan, base_string *text)
{
    wg_pattern pattern;
    for (uint32_t i = 0; i < wg_plan_pattern_count(plan) && wg_plan_pattern(plan, i, &pattern); i++)
        base_string_printf(text, "pattern %s at node %u, %u nodes: %s%s\n", pattern.kind, pattern.root, pattern.node_count,
                           pattern.elected ? "elected, served as " : "not elected: ", pattern.elected ? pattern.formula : pattern.reason);
}

static void put_why(const explanation *e, base_string *text)
{
    base_string_puts(text, "\nwhy\n");
    for (uint32_t i = 0; i < e->count; i++) {
        char *reasons = wg_session_explain(e->running.session, e->rows[i].stage);
        for (char *line = reasons ? strtok(reasons, "\n") : NULL; line; line = strtok(NULL, "\n"))
            base_string_printf(text, "%5u  %s\n", e->rows[i].stage, line);
        wg_text_free(reasons);
    }
}

#define SHOWN_ZEROS 8

static void put_text(const explanation *e, base_string *text)
{
    const wg_plan *plan = e->running.plan;
    wg_plan_figures figures;
    wg_plan_figures_of(plan, &figures);
    base_string_printf(text, "%u stage%s for %u node%s; kernels %s, %s, %u thread%s\n", e->count, e->count == 1 ? "" : "s", figures.evaluated,
                       figures.evaluated == 1 ? "" : "s", e->level, fma_word(), e->threads, e->threads == 1 ? "" : "s");
    if (e->measured) {
        base_string_printf(text, "roofs: %.0f GFLOP/s (multiply-adds in f32), %.1f GB/s (reading memory)\n", e->roofs.operations * 1e-9, e->roofs.bytes * 1e-9);
        for (uint32_t i = 0; i < e->zeros.made && i < SHOWN_ZEROS; i++) {
            char plain[16];
            base_string_printf(text, "%s%s", i ? ", " : "fed with zeros: ", tool_result_name(e->running.model.network, e->zeros.feeds[i].input, plain));
        }
        if (e->zeros.made > SHOWN_ZEROS) base_string_printf(text, " and %u more", e->zeros.made - SHOWN_ZEROS);
        if (e->zeros.made) base_string_puts(text, "\n");
    }
    base_string_puts(text, "\nstage  kernel                 nodes    read written    cost");
    base_string_puts(text, e->measured ? "    time us    GB/s  GFLOP/s  roof\n" : "\n");
    for (uint32_t i = 0; i < e->count; i++) put_row(e, &e->rows[i], text);
    row total = total_of(e);
    put_row(e, &total, text);
    put_why(e, text);
    put_patterns(plan, text);
    if (figures.recomputed_bytes)
        base_string_printf(text, "recomputed: %u stages run again, %lld bytes of the arena saved, %.1f%% cost added\n", figures.recomputed,
                           (long long)figures.recomputed_bytes, 100 * figures.recomputed_share);
    base_string_printf(text, "arena %lld bytes, bound %lld\n", (long long)figures.arena_bytes, (long long)figures.bound_bytes);
}

/* ---- JSON ---- */

static void put_number(base_string *text, const char *key, double number)
{
    base_string_printf(text, ", \"%s\": ", key);
    base_string_float(text, WG_KIND_F64, number);
}

static void put_row_json(const explanation *e, const row *own, base_string *text)
{
    base_string_printf(text, "{\"stage\": %u, \"kernel\": \"%s\", \"again\": %s, \"nodes\": [", own->stage, own->facts.kind, own->facts.again ? "true" : "false");
    for (uint32_t i = 0; i < own->facts.node_count; i++) base_string_printf(text, i ? ", %u" : "%u", own->facts.nodes[i]);
    base_string_printf(text, "], \"read_bytes\": %lld, \"written_bytes\": %lld, \"scratch_bytes\": %lld", (long long)own->facts.read_bytes,
                       (long long)own->facts.written_bytes, (long long)own->facts.scratch_bytes);
    put_number(text, "operations", own->facts.operations);
    put_number(text, "cost", own->facts.cost);
    if (e->measured && own->seconds > 0) {
        put_number(text, "seconds", own->seconds);
        put_number(text, "bytes_per_second", bytes_of(own) / own->seconds);
        put_number(text, "operations_per_second", own->facts.operations / own->seconds);
        put_number(text, "share_of_roof", share_of_roof(e, own));
    }
    base_string_puts(text, ", \"why\": [");
    char *reasons = wg_session_explain(e->running.session, own->stage);
    bool first = true;
    for (char *line = reasons ? strtok(reasons, "\n") : NULL; line; line = strtok(NULL, "\n"), first = false) {
        if (!first) base_string_puts(text, ", ");
        base_json_put_string(text, line, strlen(line));
    }
    wg_text_free(reasons);
    base_string_puts(text, "]}");
}

static void put_json(const explanation *e, base_string *text)
{
    wg_plan_figures figures;
    wg_plan_figures_of(e->running.plan, &figures);
    base_string_printf(text, "{\"wengert\": 1, \"simd\": \"%s\", \"fma\": \"%s\", \"threads\": %u, \"arena_bytes\": %lld, \"bound_bytes\": %lld, \"recomputed\": %u, "
                             "\"recomputed_bytes\": %lld",
                       e->level, base_has_fma() ? "processor" : "software", e->threads, (long long)figures.arena_bytes, (long long)figures.bound_bytes,
                       figures.recomputed, (long long)figures.recomputed_bytes);
    if (e->measured) {
        put_number(text, "roof_operations_per_second", e->roofs.operations);
        put_number(text, "roof_bytes_per_second", e->roofs.bytes);
    }
    base_string_puts(text, ", \"stages\": [");
    for (uint32_t i = 0; i < e->count; i++) {
        if (i) base_string_puts(text, ", ");
        put_row_json(e, &e->rows[i], text);
    }
    base_string_puts(text, "], \"patterns\": [");
    wg_pattern pattern;
    for (uint32_t i = 0; i < wg_plan_pattern_count(e->running.plan) && wg_plan_pattern(e->running.plan, i, &pattern); i++) {
        if (i) base_string_puts(text, ", ");
        tool_put_pattern(text, &pattern);
    }
    base_string_puts(text, "]}\n");
}

/* ---- the verb ---- */

int verb_explain(const tool_call *call)
{
    int64_t memory;
    const char *by = tool_value(call, "by");
    if (!tool_bytes(call, "memory", &memory)) return TOOL_USAGE;
    if (by && strcmp(by, "run") && strcmp(by, "time") && strcmp(by, "bytes")) return tool_usage(call, "--by is run, time or bytes, not '%s'", by);
    explanation e = {.measured = tool_value(call, "measure") != NULL, .by = by ? by : "run"};
    wg_error error = {.code = WG_OK};
    bool good = running_open(call, memory, &e.running, &error);
    if (good) {
        e.threads = e.running.session->threads;
        e.level = e.running.session->kernels->name;
        good = make_rows(&e, &error);
    }
    if (good) {
        base_string text = base_string_new(tool_allocator());
        if (call->json) put_json(&e, &text);
        else put_text(&e, &text);
        good = !text.failed || base_fail_memory(&error);
        if (good) fputs(text.text, stdout);
        base_string_free(&text);
    }
    free(e.rows);
    stand_ins_free(&e.zeros);
    running_close(&e.running);
    return good ? TOOL_DONE : tool_fail(call, &error);
}
