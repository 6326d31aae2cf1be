/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Chat: a model's template, and the prompt of messages as text and as ids. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "model/gguf.h"
#include "model/image.h"
#include "model/written.h"
#include "model/template.h"
#include "model/tokenizer.h"
#include "wengert/generate.h"

#define MOST_BYTES (64u << 20)

/* A noncharacter of Unicode that no message holds: it breaks special tokens that are spelled out in messages while they go through the
 * template. */
#define BREAK "\xef\xb7\x90"

/* ---- the template ---- */

static char *owned(const wg_allocator *allocator, const char *text, size_t length, wg_error *error)
{
    base_string out = base_string_new(allocator);
    base_string_put(&out, text, length);
    char *copy = base_text_take(&out);
    if (!copy) base_fail_memory(error);
    return copy;
}

/* chat_template: a text, or a list of {name, template} with a default one. */
static char *of_config(const wg_allocator *allocator, const base_json *json, wg_error *error)
{
    const base_json *found = base_json_find(json, "chat_template");
    if (found && found->type == BASE_JSON_ARRAY) {
        const base_json *chosen = NULL;
        for (const base_json *item = found->first; item; item = item->next) {
            const base_json *name = base_json_find(item, "name");
            if (!chosen || (name && name->type == BASE_JSON_STRING && !strcmp(name->text, "default"))) chosen = base_json_find(item, "template");
        }
        found = chosen;
    }
    return found && found->type == BASE_JSON_STRING ? owned(allocator, found->text, found->length, error) : NULL;
}

static char *of_folder(const wg_allocator *allocator, const char *folder, wg_error *error)
{
    char path[4096];
    struct stat facts;
    base_file file;
    char *text = NULL;
    if ((size_t)snprintf(path, sizeof path, "%s/chat_template.jinja", folder) < sizeof path && !stat(path, &facts)) {
        if (!base_file_read(allocator, path, MOST_BYTES, &file, error)) return NULL;
        text = owned(allocator, (const char *)file.bytes, file.length, error);
        base_file_close(&file);
        return text;
    }
    if ((size_t)snprintf(path, sizeof path, "%s/tokenizer_config.json", folder) >= sizeof path || stat(path, &facts)) return NULL;
    if (!base_file_read(allocator, path, MOST_BYTES, &file, error)) return NULL;
    base_arena scratch = base_arena_new(allocator);
    const base_json *json = base_json_read(&scratch, path, (const char *)file.bytes, file.length, error);
    if (json) text = of_config(allocator, json, error);
    base_arena_free(&scratch);
    base_file_close(&file);
    return text;
}

static char *of_gguf(const wg_allocator *allocator, const char *path, wg_error *error)
{
    base_file bytes;
    model_gguf file;
    char *text = NULL;
    const char *found;
    size_t length;
    if (!base_file_map(path, &bytes, error)) return NULL;
    if (model_gguf_read(&file, allocator, path, bytes.bytes, bytes.length, error)) {
        if (model_gguf_text(model_gguf_find(&file, "tokenizer.chat_template"), &found, &length)) text = owned(allocator, found, length, error);
        model_gguf_close(&file);
    }
    base_file_close(&bytes);
    return text;
}

static char *of_image(const wg_allocator *allocator, const char *path, wg_error *error)
{
    base_file image, part;
    if (!model_image_find(allocator, path, "chat_template.jinja", &image, &part, error)) return NULL;
    char *text = owned(allocator, (const char *)part.bytes, part.length, error);
    base_file_close(&image);
    return text;
}

char *wg_chat_template(wg_context *context, const char *path, wg_error *error)
{
    struct stat facts;
    if (!path) return base_fail(error, WG_ARGUMENT, "a chat template is looked for in a model"), NULL;
    if (!stat(path, &facts) && S_ISDIR(facts.st_mode)) return of_folder(base_allocator(context), path, error);
    char folder[MODEL_WRITTEN_FOLDER];
    if (model_is_written(path)) return model_written_folder(base_allocator(context), path, folder, error) ? of_folder(base_allocator(context), folder, error) : NULL;
    if (model_is_image(path)) return of_image(base_allocator(context), path, error);
    return base_ends_with(path, ".gguf") ? of_gguf(base_allocator(context), path, error) : NULL;
}

/* ---- prompts ---- */

static const base_json *read_messages(base_arena *arena, const char *messages, size_t length, wg_error *error)
{
    const base_json *json = base_json_read(arena, "messages", messages, length, error);
    if (!json) return NULL;
    if (json->type != BASE_JSON_ARRAY || !json->count) return base_fail(error, WG_FORMAT, "messages are a list of objects with role and content, and there is at least one"), NULL;
    for (const base_json *item = json->first; item; item = item->next) {
        const base_json *role = base_json_find(item, "role"), *content = base_json_find(item, "content");
        if (!role || role->type != BASE_JSON_STRING || !content || (content->type != BASE_JSON_STRING && content->type != BASE_JSON_NULL))
            return base_fail(error, WG_FORMAT, "message %u needs a role and a content, both texts", item->position), NULL;
    }
    return json;
}

char *wg_chat_prompt(wg_context *context, const char *chat_template, const char *messages, size_t length, bool add_prompt, const char *begin, const char *end,
                     wg_error *error)
{
    if (!chat_template || !messages) return base_fail(error, WG_ARGUMENT, "a prompt needs a template and messages"), NULL;
    const wg_allocator *allocator = base_allocator(context);
    base_arena arena = base_arena_new(allocator);
    const base_json *json = read_messages(&arena, messages, length, error);
    char *text = json ? model_template_render(allocator, "chat template", chat_template, &(template_input){json, add_prompt, begin, end}, NULL, error) : NULL;
    base_arena_free(&arena);
    return text;
}

/* The messages with every special token in their contents broken behind its first byte; false without memory. */
static bool break_tokens(const wg_tokenizer *t, base_arena *arena, base_json *messages)
{
    for (base_json *item = messages->first; item; item = item->next) {
        base_json *content = (base_json *)base_json_find(item, "content");
        base_string out = base_string_new(arena->allocator);
        bool broken = false;
        for (size_t at = 0; content->type == BASE_JSON_STRING && at < content->length; at++) {
            base_string_put(&out, content->text + at, 1);
            if (tokenizer_added_at(t, content->text + at, content->length - at) < 0) continue;
            base_string_puts(&out, BREAK);
            broken = true;
        }
        bool good = !out.failed;
        if (good && broken) {
            content->text = base_arena_string(arena, out.text, out.length);
            content->length = out.length;
            good = content->text != NULL;
        }
        base_string_free(&out);
        if (!good) return false;
    }
    return true;
}

/* Takes the breaks out of a prompt, in place; places [most] where special tokens do not begin. Answers the new length. */
static size_t take_out(char *text, size_t length, size_t *places, size_t *count)
{
    size_t to = 0;
    *count = 0;
    for (size_t at = 0; at < length;) {
        if (length - at >= 3 && !memcmp(text + at, BREAK, 3)) {
            if (to) places[(*count)++] = to - 1;
            at += 3;
        } else text[to++] = text[at++];
    }
    text[to] = 0;
    return to;
}

static const char *token_text(const wg_tokenizer *t, int32_t id)
{
    return id < 0 ? "" : t->tokens[id].text;
}

bool wg_chat_encode(wg_tokenizer *t, const char *chat_template, const char *messages, size_t length, bool add_prompt, int32_t **ids, size_t *count, wg_error *error)
{
    if (!t || !chat_template || !messages || !ids || !count) return base_fail(error, WG_ARGUMENT, "a prompt needs a tokenizer, a template, messages and room for ids");
    base_arena arena = base_arena_new(t->allocator);
    const base_json *json = read_messages(&arena, messages, length, error);
    bool good = json && (break_tokens(t, &arena, (base_json *)json) || base_fail_memory(error));
    size_t have = 0, places = 0, *at = NULL;
    template_input input = {json, add_prompt, token_text(t, t->begin), token_text(t, t->end)};
    char *text = good ? model_template_render(t->allocator, "chat template", chat_template, &input, &have, error) : NULL;
    if (text) at = base_arena_take(&arena, (have / 3 + 1) * sizeof *at);
    good = text && (at || base_fail_memory(error));
    if (good) have = take_out(text, have, at, &places);
    good = good && tokenizer_encode_plain(t, text, have, 0, at, places, ids, count, error);
    wg_text_free(text);
    base_arena_free(&arena);
    return good;
}
