/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Failures as people and programs read them. */
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "tools/tools.h"

static void put_pair(base_string *text, const char *key, const char *value)
{
    base_string_printf(text, ", \"%s\": ", key);
    base_json_put_string(text, value, strlen(value));
}

static void put_notes(base_string *text, const char *notes)
{
    base_string_puts(text, ", \"notes\": [");
    for (const char *note = notes; *note;) {
        size_t length = strcspn(note, "\n");
        if (note != notes) base_string_puts(text, ", ");
        base_json_put_string(text, note, length);
        note += length + (note[length] == '\n');
    }
    base_string_puts(text, "]");
}

static void print_json(const wg_error *error)
{
    base_string text = base_string_new(tool_allocator());
    base_string_puts(&text, "{\"wengert\": 1, \"error\": {\"code\": ");
    base_json_put_string(&text, wg_code_name(error->code), strlen(wg_code_name(error->code)));
    put_pair(&text, "message", error->message);
    put_pair(&text, "file", error->file);
    base_string_printf(&text, ", \"line\": %d, \"column\": %d", (int)error->line, (int)error->column);
    put_notes(&text, error->note);
    base_string_puts(&text, "}}\n");
    if (!text.failed) fputs(text.text, stderr);
    base_string_free(&text);
}

int tool_fail(const tool_call *call, const wg_error *error)
{
    if (call->json) print_json(error);
    else {
        char text[4096];
        wg_error_format(error, text, sizeof text);
        if (error->code == WG_USAGE) return tool_usage(call, "%s", text);
        fprintf(stderr, error->line ? "%s\n" : "wengert: %s\n", text);
    }
    return error->code == WG_CANCELLED ? TOOL_INTERRUPTED : error->code == WG_USAGE ? TOOL_USAGE : TOOL_FAILED;
}

int tool_finish(const tool_call *call)
{
    errno = 0; /* what a failed write before this one left may be of another call since */
    if (!fflush(stdout) && !ferror(stdout)) return TOOL_DONE;
    if (errno == EPIPE) return TOOL_FAILED; /* whoever read us has read enough */
    fprintf(stderr, "wengert%s%s: the output could not be written%s%s; check where it goes\n", call ? " " : "", call ? call->verb->name : "", errno ? ": " : "",
            errno ? strerror(errno) : "");
    return TOOL_FAILED;
}

int tool_input_end(const tool_call *call)
{
    if (feof(stdin)) return TOOL_DONE;
    wg_error error = {.code = WG_OK};
    base_fail(&error, WG_FILE, "standard input cannot be read: %s", strerror(errno));
    return tool_fail(call, &error);
}
