/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Text that is run: ⍎ with one argument in the scope it stands in, with two where the keys of a record are names; files as modules (•load). */
#define _DEFAULT_SOURCE
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bpl/evaluate.h"

/* ---- settings that a text begins with ---------------------------------------------------------------------------------------------------- */

static bool is_literal(const bpl_node *node)
{
    if (node->kind != BPL_NODE_LITERAL && node->kind != BPL_NODE_LIST && node->kind != BPL_NODE_KEY && node->kind != BPL_NODE_STRAND) return false;
    for (uint32_t i = 0; i < node->count; i++) {
        if (!is_literal(node->children[i])) return false;
    }
    return true;
}

/* Does a statement begin with •prefs? Asked of the tokens, as most do not. */
static bool names_settings(const bpl_source *source, const bpl_statement *statement)
{
    const bpl_token *token = &source->tokens[statement->first];
    return token->kind == BPL_TOKEN_NAME && token->end - token->start == strlen("•prefs") && !memcmp(source->text + token->start, "•prefs", strlen("•prefs"));
}

bpl_source *bpl_read_source(bpl_session *session, const char *name, const char *text, size_t length)
{
    bpl_source *source = bpl_source_new(session, name, text, length);
    uint32_t first = 0;
    while (source && first < source->body.count && names_settings(source, &source->body.statements[first])) {
        const bpl_node *tree = bpl_statement_tree(session, source, &source->body.statements[first]);
        if (tree && (tree->kind != BPL_NODE_CALL || tree->count != 2 || tree->children[1]->kind != BPL_NODE_LIST || !is_literal(tree->children[1]))) break;
        bpl_value *value = tree ? bpl_evaluate(session, tree) : NULL;
        bpl_source_release(source);
        session->at = NULL;
        source = value ? bpl_source_new(session, name, text, length) : NULL;
        bpl_release(value);
        first++;
    }
    if (source) source->first = first;
    return source;
}

/* ---- ⍎ ------------------------------------------------------------------------------------------------------------------------------------ */

typedef struct executed {
    const char *text;
    size_t length;
} executed;

static bpl_value *run_text(bpl_session *session, void *data)
{
    const executed *run = data;
    const bpl_node *at = session->at;
    bool shy;
    bpl_source *source = bpl_read_source(session, "⍎", run->text, run->length);
    bpl_value *value = source ? bpl_run_source(session, source, &shy) : NULL;
    session->shy = value && shy;
    if (!value && bpl_failed(session)) bpl_trace(session, at);
    session->at = at;
    if (source) bpl_source_release(source);
    return value;
}

static bpl_value *execute(bpl_session *session, const bpl_call *call);

/* Each of several texts. */
static bpl_value *execute_items(bpl_session *session, const bpl_call *call)
{
    const bpl_value *texts = call->right;
    bpl_items *items = bpl_items_new(session, texts->items->rank, texts->items->shape);
    for (int64_t i = 0; items && i < items->volume; i++) {
        bpl_call one = *call;
        one.right = texts->items->at[i];
        if ((items->at[i] = execute(session, &one))) continue;
        if (session->no_result) session->no_result = false, bpl_fail(session, BPL_VALUE, "a text that is executed has no value");
        bpl_items_free(session, items);
        return NULL;
    }
    return items ? bpl_collect(session, items) : NULL;
}

static bpl_value *execute(bpl_session *session, const bpl_call *call)
{
    if (bpl_stack_is_low(session)) return bpl_fail(session, BPL_LIMIT, "texts are nested too deep");
    if (call->right->type == BPL_ITEMS && call->right->items->volume) return execute_items(session, call);
    char *text;
    size_t length;
    if (!bpl_to_text(session, call->right, "the right argument of ⍎", &text, &length)) return NULL;
    executed run = {text, length};
    bpl_value *value = call->left ? bpl_in_record(session, call->left, run_text, &run) : run_text(session, &run);
    base_free(session->allocator, text, length + 1);
    return value;
}

bpl_value *bpl_do_execute(bpl_session *session, const bpl_call *call) { return execute(session, call); }
bpl_value *bpl_do_execute_in(bpl_session *session, const bpl_call *call) { return execute(session, call); }

/* ---- •load -------------------------------------------------------------------------------------------------------------------------------- */

/* A module's frame lives as long as the session: its dfns look for names there. */
struct bpl_module {
    struct bpl_module *next;
    bpl_frame frame;
    bool loading;
    char path[];
};

void bpl_modules_free(bpl_session *session)
{
    for (struct bpl_module *module = session->modules; module; module = module->next) {
        while (module->frame.count) bpl_release(module->frame.slots[--module->frame.count].value);
    }
    while (session->modules) {
        struct bpl_module *module = session->modules;
        session->modules = module->next;
        bpl_frame *frame = &module->frame;
        if (frame->slots != frame->inline_slots) base_free(session->allocator, frame->slots, frame->capacity * sizeof *frame->slots);
        base_free(session->allocator, module, sizeof *module + strlen(module->path) + 1);
    }
}

/* A path that begins with ./ or ../ is one of the folder of the file whose code runs. One file has one path, if it is there. */
static bool put_path(const bpl_session *session, base_string *out, const char *path)
{
    const char *file = session->at ? session->at->source->name : "", *slash = strrchr(file, '/');
    if (slash && (!strncmp(path, "./", 2) || !strncmp(path, "../", 3))) base_string_put(out, file, (size_t)(slash - file) + 1);
    base_string_puts(out, path);
    char real[PATH_MAX];
    if (!out->failed && realpath(out->text, real)) {
        out->length = 0;
        base_string_puts(out, real);
    }
    return !out->failed;
}

static struct bpl_module *module_new(bpl_session *session, const char *path)
{
    for (struct bpl_module *module = session->modules; module; module = module->next) {
        if (module->loading && !strcmp(module->path, path)) return bpl_fail(session, BPL_DOMAIN, "%s loads itself", path);
    }
    struct bpl_module *module = base_allocate_zeroed(session->allocator, sizeof *module + strlen(path) + 1);
    if (!module) return bpl_fail_memory(session);
    memcpy(module->path, path, strlen(path) + 1);
    bpl_frame *frame = &module->frame;
    frame->slots = frame->inline_slots, frame->capacity = sizeof frame->inline_slots / sizeof *frame->inline_slots;
    frame->module = true;
    module->next = session->modules, session->modules = module;
    return module;
}

/* The names that a module gives, those that do not begin with _, as a record. */
static bpl_value *module_record(bpl_session *session, const bpl_frame *frame)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < frame->count; i++) count += *bpl_symbol_text(session, frame->slots[i].name) != '_';
    bpl_items *items = bpl_items_new(session, 1, &count);
    bpl_keys *keys = items ? bpl_keys_new(session, 1, &count) : NULL;
    bool good = keys;
    count = 0;
    for (uint32_t i = 0; good && i < frame->count; i++) {
        const char *name = bpl_symbol_text(session, frame->slots[i].name);
        if (*name == '_') continue;
        bpl_value *label = bpl_string(session, name, strlen(name));
        items->at[count] = bpl_keep(frame->slots[i].value);
        good = label && bpl_axis_set_label(session, &keys->axes[0], count++, label);
        bpl_release(label);
    }
    if (good) return bpl_settle_keys(session, bpl_collect(session, items), keys);
    if (items) bpl_items_free(session, items);
    bpl_keys_release(session, keys);
    return NULL;
}

static bpl_value *run_module(bpl_session *session, const char *path, const base_string *text)
{
    const bpl_node *at = session->at;
    bpl_frame *around = session->frame;
    bpl_value *value = NULL, *record = NULL;
    bool shy;
    struct bpl_module *module = module_new(session, path);
    bpl_source *source = module ? bpl_read_source(session, path, text->text, text->length) : NULL;
    if (source) {
        module->loading = true;
        module->frame.caller = around;
        session->frame = &module->frame;
        value = bpl_run_source(session, source, &shy);
        session->frame = around;
        module->loading = false;
        if (!bpl_failed(session)) session->no_result = false, record = module_record(session, &module->frame);
        bpl_release(value);
        bpl_source_release(source);
    }
    if (!record) bpl_trace(session, at);
    session->at = at;
    return record;
}

bpl_value *bpl_system_load(bpl_session *session, const bpl_call *call)
{
    char *path;
    size_t length;
    if (call->left) return bpl_fail(session, BPL_SYNTAX, "•load takes one argument, not two");
    if (!bpl_act(session, "a file") || !bpl_to_text(session, call->right, "the path of •load", &path, &length)) return NULL;
    base_string whole = base_string_new(session->allocator), text = base_string_new(session->allocator);
    bpl_value *record = NULL;
    if (bpl_stack_is_low(session)) bpl_fail(session, BPL_LIMIT, "modules are nested too deep");
    else if (!put_path(session, &whole, path)) bpl_fail_memory(session);
    else if (bpl_read_file(session, whole.text, &text)) record = run_module(session, whole.text, &text);
    base_string_free(&text);
    base_string_free(&whole);
    base_free(session->allocator, path, length + 1);
    return record;
}
