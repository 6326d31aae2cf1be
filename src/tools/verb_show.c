/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * wengert describe, plan, print: what a program is, without running it. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "tools/tools.h"

#define MOST_OBSERVED 256

/* The entry of the call with --observe and --retain added. */
static wg_entry *shown_entry(const tool_call *call, const tool_model *model, wg_error *error)
{
    wg_entry *entry = tool_model_entry(call, model, error);
    bool retain = tool_value(call, "retain") != NULL;
    const char *observe = tool_value(call, "observe");
    if (!entry || (!retain && !observe)) return entry;
    wg_symbol observed[MOST_OBSERVED], *roots = NULL;
    uint32_t observe_count, root_count = wg_entry_result_count(entry);
    wg_entry *other = NULL;
    roots = calloc(root_count, sizeof *roots);
    if (!roots) base_fail_memory(error);
    else if (tool_symbols_read("observe", observe, model->network, observed, MOST_OBSERVED, &observe_count, error)) {
        for (uint32_t i = 0; i < root_count; i++) roots[i] = wg_entry_result(entry, i);
        wg_entry_options options = {.size = sizeof options, .roots = roots, .root_count = root_count, .observes = observed, .observe_count = observe_count,
                                    .posture = retain ? WG_POSTURE_RETAIN : WG_POSTURE_FORWARD};
        other = wg_entry_new(model->network, &options, error);
    }
    free(roots);
    wg_entry_free(&entry);
    return other;
}

static wg_plan *shown_plan(const tool_call *call, const tool_model *model, int64_t memory, wg_error *error)
{
    const wg_binding *bindings;
    uint32_t count;
    if (!tool_bindings(call, &bindings, &count, error)) return NULL;
    wg_plan_options options = {.size = sizeof options, .bindings = bindings, .binding_count = count, .memory_budget = memory};
    wg_entry *entry = shown_entry(call, model, error);
    wg_plan *plan = entry ? wg_plan_new_with(entry, &options, error) : NULL;
    wg_entry_free(&entry);
    return plan;
}

/* Prints an owned text and frees it; NULL is out of memory unless the error says more. */
static int print_owned(const tool_call *call, char *text, wg_error *error)
{
    if (!text) {
        base_fail_memory(error);
        return tool_fail(call, error);
    }
    fputs(text, stdout);
    wg_text_free(text);
    return TOOL_DONE;
}

int verb_describe(const tool_call *call)
{
    tool_model model;
    wg_error error = {.code = WG_OK};
    if (!tool_model_open(call, call->words[0], &model, &error)) return tool_fail(call, &error);
    bool planned = tool_value(call, "entry") || tool_value(call, "observe") || tool_value(call, "retain");
    wg_plan *plan = planned ? shown_plan(call, &model, 0, &error) : NULL;
    int code = planned && !plan ? tool_fail(call, &error) : print_owned(call, plan ? wg_plan_describe(plan) : wg_network_describe(model.network), &error);
    wg_plan_release(&plan);
    tool_model_close(&model);
    return code;
}

void tool_put_pattern(base_string *text, const wg_pattern *pattern)
{
    base_string_printf(text, "{\"kind\": \"%s\", \"root\": %u, \"elected\": %s, \"nodes\": [", pattern->kind, pattern->root, pattern->elected ? "true" : "false");
    for (uint32_t i = 0; i < pattern->node_count; i++) base_string_printf(text, i ? ", %u" : "%u", pattern->nodes[i]);
    base_string_puts(text, "], ");
    base_string_puts(text, pattern->elected ? "\"formula\": " : "\"reason\": ");
    const char *why = pattern->elected ? pattern->formula : pattern->reason;
    base_json_put_string(text, why ? why : "", why ? strlen(why) : 0);
    base_string_printf(text, ", \"foreign\": \"%s\"}", pattern->foreign);
}

static int print_plan_json(const tool_call *call, const wg_plan *plan, wg_error *error)
{
    base_string text = base_string_new(tool_allocator());
    wg_plan_figures f;
    wg_plan_figures_of(plan, &f);
    base_string_printf(&text,
                       "{\"wengert\": 1, \"evaluated\": %u, \"total\": %u, \"readable\": %u, \"steps\": %u, \"stages\": %u, \"buffers\": %u, \"peak\": %lld, \"peak_node\": %u, "
                       "\"retain_all\": %lld, \"arena_bytes\": %lld, \"largest_bytes\": %lld, \"bound_bytes\": %lld, \"host\": %u, \"recomputed\": %u, \"recomputed_bytes\": %lld, "
                       "\"patterns\": [",
                       f.evaluated, f.total, f.readable, f.steps, f.stages, f.buffers, (long long)f.peak, f.peak_node, (long long)f.retain_all,
                       (long long)f.arena_bytes, (long long)f.largest_bytes, (long long)f.bound_bytes, f.host, f.recomputed, (long long)f.recomputed_bytes);
    wg_pattern pattern;
    for (uint32_t i = 0; i < wg_plan_pattern_count(plan) && wg_plan_pattern(plan, i, &pattern); i++) {
        if (i) base_string_puts(&text, ", ");
        tool_put_pattern(&text, &pattern);
    }
    base_string_puts(&text, "], \"live\": [");
    uint32_t count;
    const int64_t *series = wg_plan_live_series(plan, &count);
    for (uint32_t i = 0; i < count; i++) base_string_printf(&text, i ? ", %lld" : "%lld", (long long)series[i]);
    base_string_puts(&text, "]}\n");
    return print_owned(call, base_text_take(&text), error);
}

int verb_plan(const tool_call *call)
{
    tool_model model;
    wg_error error = {.code = WG_OK};
    int64_t memory;
    if (!tool_bytes(call, "memory", &memory)) return TOOL_USAGE;
    if (!tool_model_open(call, call->words[0], &model, &error)) return tool_fail(call, &error);
    wg_plan *plan = shown_plan(call, &model, memory, &error);
    int code = !plan ? tool_fail(call, &error) : call->json ? print_plan_json(call, plan, &error) : print_owned(call, wg_plan_report(plan), &error);
    wg_plan_release(&plan);
    tool_model_close(&model);
    return code;
}

int verb_print(const tool_call *call)
{
    tool_model model;
    wg_error error = {.code = WG_OK};
    if (!tool_model_open(call, call->words[0], &model, &error)) return tool_fail(call, &error);
    char *text = wg_text_print(model.network, &error);
    const char *path = tool_value(call, "out");
    int code = TOOL_DONE;
    if (!text || !path) code = print_owned(call, text, &error);
    else {
        if (!base_file_write(tool_allocator(), path, text, strlen(text), &error)) code = tool_fail(call, &error);
        wg_text_free(text);
    }
    tool_model_close(&model);
    return code;
}
