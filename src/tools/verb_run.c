/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * wengert run: an entry's results by name, as .npy files, JSON or lines for people. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "tools/carried.h"
#include "tools/literal.h"
#include "tools/running.h"

bool running_open(const tool_call *call, int64_t memory, running *r, wg_error *error)
{
    memset(r, 0, sizeof *r);
    if (!tool_model_open(call, call->words[0], &r->model, error) || !tool_bindings(call, &r->bindings, &r->binding_count, error)) return false;
    r->entry = tool_model_entry(call, &r->model, error);
    if (!r->entry || !tool_feeds_read(call, r->model.network, r->bindings, r->binding_count, &r->feeds, error) ||
        !carried_feed(&r->model, &r->feeds, error))
        return false;
    r->options = (wg_run_options){.size = sizeof r->options, .parameters = r->model.parameters, .feeds = r->feeds.feeds, .feed_count = r->feeds.count};
    wg_plan_options options = {.size = sizeof options, .bindings = r->bindings, .binding_count = r->binding_count, .memory_budget = memory};
    r->plan = wg_plan_new_with(r->entry, &options, error);
    r->session = r->plan ? wg_session_new(r->plan, NULL, error) : NULL;
    return r->session != NULL;
}

void running_close(running *r)
{
    wg_session_free(&r->session);
    wg_plan_release(&r->plan);
    tool_feeds_free(&r->feeds);
    wg_entry_free(&r->entry);
    tool_model_close(&r->model);
}

void running_put_json(const running *r, base_string *text)
{
    base_string_puts(text, "{\"wengert\": 1, \"results\": {");
    for (uint32_t i = 0; i < wg_entry_result_count(r->entry); i++) {
        wg_symbol symbol = wg_entry_result(r->entry, i);
        char plain[16];
        const char *name = tool_result_name(r->model.network, symbol, plain);
        wg_view view;
        if (!wg_session_read(r->session, symbol, &view, NULL)) continue;
        if (i) base_string_puts(text, ", ");
        base_json_put_string(text, name, strlen(name));
        base_string_printf(text, ": {\"kind\": \"%s\", \"shape\": %s, \"items\": ", wg_kind_name(view.kind), BASE_SHAPE_TEXT(view.rank, view.shape));
        literal_put(text, &view);
        base_string_puts(text, "}");
    }
    base_string_puts(text, "}}\n");
}

void running_put_lines(const running *r, base_string *text)
{
    for (uint32_t i = 0; i < wg_entry_result_count(r->entry); i++) {
        wg_symbol symbol = wg_entry_result(r->entry, i);
        char plain[16];
        wg_view view;
        if (wg_session_read(r->session, symbol, &view, NULL)) tool_put_brief(text, tool_result_name(r->model.network, symbol, plain), &view);
    }
}

/* A name becomes a file name: what could leave the folder is spelled with underscores. */
static void file_name(const char *folder, const char *name, char *path, size_t bytes)
{
    size_t used = (size_t)snprintf(path, bytes, "%s/", folder);
    for (; *name && used + 5 < bytes; name++) path[used++] = *name == '/' || *name == '\\' || (unsigned char)*name < 32 ? '_' : *name;
    snprintf(path + used, bytes - used, ".npy");
}

static bool write_files(const running *r, const char *folder, wg_error *error)
{
    if (mkdir(folder, 0777) && errno != EEXIST) return base_fail(error, WG_FILE, "the folder %s cannot be made: %s", folder, strerror(errno));
    for (uint32_t i = 0; i < wg_entry_result_count(r->entry); i++) {
        wg_symbol symbol = wg_entry_result(r->entry, i);
        char plain[16], path[4096];
        wg_view view;
        file_name(folder, tool_result_name(r->model.network, symbol, plain), path, sizeof path);
        if (!wg_session_read(r->session, symbol, &view, error) || !wg_npy_write(path, &view, error)) return false;
    }
    return true;
}

int verb_run(const tool_call *call)
{
    running r;
    wg_error error = {.code = WG_OK};
    const char *folder = tool_value(call, "out");
    if (folder && call->json) return tool_usage(call, "--out writes .npy files and --json prints: choose one");
    bool good = running_open(call, 0, &r, &error) && wg_session_run(r.session, &r.options, &error);
    if (good && folder) good = write_files(&r, folder, &error);
    else if (good) {
        base_string text = base_string_new(tool_allocator());
        if (call->json) running_put_json(&r, &text);
        else running_put_lines(&r, &text);
        good = !text.failed || base_fail_memory(&error);
        if (good) fputs(text.text, stdout);
        base_string_free(&text);
    }
    running_close(&r);
    return good ? TOOL_DONE : tool_fail(call, &error);
}
