/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "base/diagnostic.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

static const char *const code_names[] = {
#define ERROR(ENUM, text, meaning) text,
#include "wengert/errors.def"
};

const char *wg_code_name(wg_code code)
{
    return (unsigned)code < WG_CODE_COUNT ? code_names[code] : "unknown";
}

void wg_error_clear(wg_error *error)
{
    if (!error) return;
    /* Texts end at their first character: clearing costs what a short call can pay. */
    error->code = WG_OK;
    error->node = WG_NONE;
    error->item = -1;
    error->line = error->column = error->caret_length = 0;
    error->op[0] = error->entry[0] = error->file[0] = error->message[0] = error->excerpt[0] = error->note[0] = 0;
}

bool base_fail(wg_error *error, wg_code code, const char *format, ...)
{
    if (!error || error->code != WG_OK) return false;
    wg_error_clear(error);
    error->code = code;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return false;
}

bool base_fail_memory(wg_error *error)
{
    return base_fail(error, WG_MEMORY, "out of memory");
}

bool base_fail_bytes(wg_error *error, const char *what, uint64_t bytes)
{
    return base_fail(error, WG_MEMORY, "out of memory: %s needs %llu bytes", what, (unsigned long long)bytes);
}

void base_error_place(wg_error *error, const char *file, int32_t line, int32_t column)
{
    if (!error || error->line) return;
    snprintf(error->file, sizeof error->file, "%s", file ? file : "");
    error->line = line;
    error->column = column;
}

void base_error_note(wg_error *error, const char *format, ...)
{
    if (!error) return;
    size_t used = strlen(error->note);
    if (used && used + 1 < sizeof error->note) error->note[used++] = '\n';
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->note + used, sizeof error->note - used, format, arguments);
    va_end(arguments);
}

char *base_shape_text(char *text, size_t bytes, uint32_t rank, const int64_t *shape)
{
    size_t used = 0;
    used += (size_t)snprintf(text, bytes, "[");
    for (uint32_t axis = 0; axis < rank && used < bytes; axis++)
        used += (size_t)snprintf(text + used, bytes - used, axis ? ", %lld" : "%lld", (long long)shape[axis]);
    if (used < bytes) snprintf(text + used, bytes - used, "]");
    return text;
}

bool base_defect(const wg_context *context, const char *file, int line, const char *what)
{
    context = base_context(context);
    wg_error error = {.code = WG_OK};
    base_fail(&error, WG_INTERNAL, "internal error: %s does not hold; please report it", what);
    base_error_place(&error, file, line, 0);
    if (context->hook) context->hook(context->hook_user, &error);
    return false;
}

typedef struct writer {
    char *text;
    size_t bytes, used;
} writer;

static void put(writer *w, const char *format, ...) BASE_PRINTF(2, 3);
static void put(writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(w->used < w->bytes ? w->text + w->used : NULL, w->used < w->bytes ? w->bytes - w->used : 0, format, arguments);
    va_end(arguments);
    if (n > 0) w->used += (size_t)n;
}

static void put_excerpt(writer *w, const wg_error *error)
{
    put(w, "\n    %s\n    ", error->excerpt);
    /* A tab stays a tab, so that the caret stands below its character; bytes that continue a UTF-8 character take no column. */
    const char *end = error->excerpt + strlen(error->excerpt);
    for (const char *c = error->excerpt; c < end && c - error->excerpt < error->column - 1; c++)
        if (((unsigned char)*c & 0xC0) != 0x80) put(w, "%c", *c == '\t' ? '\t' : ' ');
    put(w, "^");
    for (int32_t i = 1; i < error->caret_length; i++) put(w, "~");
}

size_t wg_error_format(const wg_error *error, char *text, size_t bytes)
{
    static const wg_error none = {.message = "no error was given"};
    if (!error) error = &none;
    writer w = {text, bytes, 0};
    if (bytes) text[0] = 0;
    if (error->file[0]) put(&w, "%s:", error->file);
    if (error->line) put(&w, "%d:", (int)error->line);
    if (error->line && error->column) put(&w, "%d:", (int)error->column);
    if (w.used) put(&w, error->column ? " error: " : " ");
    put(&w, "%s", error->message);
    if (error->excerpt[0]) put_excerpt(&w, error);
    for (const char *note = error->note; *note;) {
        size_t length = strcspn(note, "\n");
        put(&w, "\n  note: %.*s", (int)length, note);
        note += length + (note[length] == '\n');
    }
    return w.used;
}
