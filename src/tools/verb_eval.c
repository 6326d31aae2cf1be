/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * wengert eval: one expression of program text over f64 inputs named by --feed, with its derivatives. */
#include <string.h>

#include "base/json.h"
#include "tools/literal.h"
#include "tools/running.h"

/* The program around the expression stands on lines before it, so that its own line and columns can be told. */
#define BEFORE "result = "
#define EXPRESSION "expression"

static void put_inputs(const tool_call *call, base_string *text, wg_error *error)
{
    const char *given;
    for (uint32_t i = 0; !error->code && (given = tool_value_at(call, "feed", i)); i++) {
        char name[256];
        size_t length = strcspn(given, "=");
        if (!given[length] || !length || length >= sizeof name) {
            base_fail(error, WG_USAGE, "--feed needs NAME=VALUE, not '%s'", given);
            return;
        }
        snprintf(name, sizeof name, "%.*s", (int)length, given);
        wg_tensor *tensor = tool_value_read(name, given + length + 1, WG_KIND_F64, 0, NULL, error);
        if (!tensor) return;
        base_string_printf(text, "input %s %s\n", name, BASE_SHAPE_TEXT(wg_tensor_rank(tensor), wg_tensor_shape(tensor)));
        wg_tensor_release(tensor);
    }
}

static void put_entry(const tool_call *call, base_string *text)
{
    const char *names = tool_value(call, "grad");
    base_string_puts(text, "entry eval: result");
    if (names) {
        base_string_puts(text, ", gradients(result, ");
        base_string_puts(text, names);
        base_string_puts(text, ")");
    }
    base_string_puts(text, "\n");
}

/* A name that nobody declared is an input that was not fed; a call of a name, which is no value, has another message. */
static void note_feed(wg_error *error)
{
    if (error->code != WG_NAME || strncmp(error->message, "nothing is called ", strlen("nothing is called "))) return;
    base_error_note(error, "its value is given by --feed %.*s=..", (int)error->caret_length, error->excerpt + error->column - 1);
}

/* What a run tells has a place and no line to show. */
static void show_expression(wg_error *error, const char *expression)
{
    for (const char *c = expression; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F) return;
    if (strlen(expression) >= sizeof error->excerpt || error->column > (int32_t)strlen(expression)) return;
    strcpy(error->excerpt, expression);
    error->caret_length = 1;
}

/* A diagnostic in the program, whose line `line` is the expression's, is shown as one in the expression. */
static void place_in_expression(wg_error *error, int32_t line, const char *expression)
{
    size_t before = strlen(BEFORE);
    if (strcmp(error->file, EXPRESSION)) return;
    if (error->line > line) { /* the entry's line, of which --grad is all that was said */
        char message[sizeof error->message];
        snprintf(message, sizeof message, "--grad: %.600s", error->message);
        memcpy(error->message, message, sizeof message);
    }
    if (error->line != line || error->column <= (int32_t)before) {
        error->file[0] = error->excerpt[0] = 0;
        error->line = error->column = 0;
        return;
    }
    error->column -= (int32_t)before;
    error->line = 1;
    if (!strncmp(error->excerpt, BEFORE, before)) memmove(error->excerpt, error->excerpt + before, strlen(error->excerpt + before) + 1);
    else show_expression(error, expression);
    if (error->excerpt[0]) note_feed(error);
}

/* *line: the expression's in the program. */
static bool open_expression(const tool_call *call, running *r, int32_t *line, wg_error *error)
{
    base_string text = base_string_new(tool_allocator());
    base_string_puts(&text, "wengert 1\nprogram eval\nkind f64\n");
    put_inputs(call, &text, error);
    for (size_t i = 0; i < text.length; i++) *line += text.text[i] == '\n';
    base_string_printf(&text, BEFORE "%s\n", call->words[0]);
    put_entry(call, &text);
    if (text.failed) base_fail_memory(error);
    if (!error->code) r->model.network = wg_text_parse(NULL, text.text, text.length, EXPRESSION, NULL, error);
    base_string_free(&text);
    r->entry = r->model.network ? wg_network_entry(r->model.network, "eval", error) : NULL;
    if (!r->entry || !tool_feeds_read(call, r->model.network, NULL, 0, &r->feeds, error)) return false;
    r->options = (wg_run_options){.size = sizeof r->options, .feeds = r->feeds.feeds, .feed_count = r->feeds.count};
    r->plan = wg_plan_new(r->entry, NULL, 0, error);
    r->session = r->plan ? wg_session_new(r->plan, NULL, error) : NULL;
    return r->session != NULL;
}

/* A result for people: whole, as nested brackets. */
static void put_lines(const running *r, base_string *text)
{
    for (uint32_t i = 0; i < wg_entry_result_count(r->entry); i++) {
        wg_symbol symbol = wg_entry_result(r->entry, i);
        char plain[16];
        wg_view view;
        if (!wg_session_read(r->session, symbol, &view, NULL)) continue;
        if (i) base_string_printf(text, "%s = ", tool_result_name(r->model.network, symbol, plain));
        literal_put(text, &view);
        base_string_puts(text, "\n");
    }
}

int verb_eval(const tool_call *call)
{
    running r = {0};
    wg_error error = {.code = WG_OK};
    int32_t line = 1;
    bool good = open_expression(call, &r, &line, &error) && wg_session_run(r.session, &r.options, &error);
    if (!good) place_in_expression(&error, line, call->words[0]);
    if (good) {
        base_string text = base_string_new(tool_allocator());
        if (call->json) running_put_json(&r, &text);
        else put_lines(&r, &text);
        good = !text.failed || base_fail_memory(&error);
        if (good) fputs(text.text, stdout);
        base_string_free(&text);
    }
    running_close(&r);
    return good ? TOOL_DONE : tool_fail(call, &error);
}
