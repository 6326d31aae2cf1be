/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * •nc •nl •src •ex: the names there are. */
#include <stdlib.h>
#include <string.h>

#include "bpl/evaluate.h"

typedef enum name_class { CLASS_INVALID = -1, CLASS_UNDEFINED = 0, CLASS_VALUE = 2, CLASS_FUNCTION = 3, CLASS_OPERATOR = 4 } name_class;

static name_class class_of(const bpl_value *value)
{
    if (!value) return CLASS_UNDEFINED;
    bpl_role role = bpl_role_of(value);
    return role >= BPL_ROLE_OPERATOR1 ? CLASS_OPERATOR : role == BPL_ROLE_FUNCTION ? CLASS_FUNCTION : CLASS_VALUE;
}

/* The one token that a text is; kind END where it is none. */
static bpl_token token_of(bpl_session *session, const char *text, size_t length)
{
    bpl_token token = {.kind = BPL_TOKEN_END};
    bpl_source *source = bpl_source_new(session, "", text, length);
    if (!source) return bpl_error_clear(session), token;
    if (source->token_count == 2 && source->tokens[0].start == 0 && source->tokens[0].end == length) token = source->tokens[0];
    if (token.kind < BPL_TOKEN_NAME) token.kind = BPL_TOKEN_END; /* literals belong to the source */
    bpl_source_release(source);
    return token;
}

/* A name that somebody may have given: no argument, no •name. */
static bool is_given(const bpl_session *session, const bpl_token *token)
{
    return token->kind == BPL_TOKEN_NAME && token->symbol >= BPL_SYMBOL_FIXED && strncmp(bpl_symbol_text(session, token->symbol), "•", strlen("•"));
}

static name_class class_of_text(bpl_session *session, const char *text, size_t length)
{
    bpl_token token = token_of(session, text, length);
    if (is_given(session, &token)) return class_of(bpl_lookup(session, token.symbol));
    switch (token.kind) {
    case BPL_TOKEN_NAME: return token.symbol < BPL_SYMBOL_FIXED ? class_of(NULL) : token.row < BPL_SYSTEM_COUNT ? CLASS_FUNCTION : CLASS_UNDEFINED;
    case BPL_TOKEN_FUNCTION: return CLASS_FUNCTION;
    case BPL_TOKEN_OPERATOR: return CLASS_OPERATOR;
    default: return CLASS_INVALID;
    }
}

/* Erases the nearest binding. 1: the name is gone. */
static bool erase(bpl_session *session, const char *text, size_t length)
{
    bpl_token token = token_of(session, text, length);
    if (!is_given(session, &token)) return false;
    bpl_value **place = bpl_place(session, token.symbol), *old = place ? *place : NULL;
    for (bpl_frame *frame = session->frame; frame && place; frame = frame->parent) {
        for (uint32_t i = 0; i < frame->count; i++) {
            if (place != &frame->slots[i].value) continue;
            frame->slots[i] = frame->slots[--frame->count];
            place = NULL;
            break;
        }
    }
    if (place) *place = NULL;
    bpl_release(old);
    return true;
}

/* code for each name of an argument, one or several. */
static bpl_value *for_names(bpl_session *session, const bpl_value *names, const char *what, int64_t (*code)(bpl_session *session, const char *text, size_t length))
{
    char *text;
    size_t length;
    bool one = names->type == BPL_CHARACTERS;
    if (!one && (names->type != BPL_ITEMS || bpl_rank(names) > 1)) return bpl_fail(session, BPL_DOMAIN, "%s takes names, as text", what);
    int64_t count = one ? 1 : names->items->volume, *answers = base_allocate(session->allocator, (size_t)(count ? count : 1) * sizeof *answers);
    if (!answers) return bpl_fail_memory(session);
    bool good = true;
    for (int64_t i = 0; good && i < count; i++) {
        good = bpl_to_text(session, one ? names : names->items->at[i], what, &text, &length);
        if (!good) break;
        answers[i] = code(session, text, length);
        base_free(session->allocator, text, length + 1);
    }
    bpl_value *result = !good ? NULL : one ? bpl_strong(session, bpl_integer(session, answers[0])) : bpl_integers(session, answers, count);
    base_free(session->allocator, answers, (size_t)(count ? count : 1) * sizeof *answers);
    return result;
}

static int64_t nc_of(bpl_session *session, const char *text, size_t length) { return class_of_text(session, text, length); }
static int64_t ex_of(bpl_session *session, const char *text, size_t length) { return erase(session, text, length); }

bpl_value *bpl_system_nc(bpl_session *session, const bpl_call *call)
{
    if (call->left) return bpl_fail(session, BPL_SYNTAX, "•nc takes one argument, not two");
    return for_names(session, call->right, "•nc", nc_of);
}

bpl_value *bpl_system_ex(bpl_session *session, const bpl_call *call)
{
    if (call->left) return bpl_fail(session, BPL_SYNTAX, "•ex takes one argument, not two");
    return bpl_act(session, "erasing names") ? for_names(session, call->right, "•ex", ex_of) : NULL;
}

/* ---- •nl --------------------------------------------------------------------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

typedef struct listing {
    bpl_session *session;
    const char **names;
    uint32_t count, capacity;
    const char *prefix;
    const int64_t *classes;
    int64_t class_count;
} listing;

static bool list_name(listing *all, bpl_symbol symbol)
{
    const char *name = bpl_symbol_text(all->session, symbol);
    int64_t class = class_of(bpl_lookup(all->session, symbol));
    bool wanted = symbol >= BPL_SYMBOL_FIXED && strncmp(name, "•", strlen("•")) && !strncmp(name, all->prefix, strlen(all->prefix)), known = false;
    for (int64_t i = 0; i < all->class_count; i++) known |= all->classes[i] == class;
    for (uint32_t i = 0; wanted && i < all->count; i++) wanted = strcmp(all->names[i], name);
    if (!wanted || !known) return true;
    if (!BASE_RESERVE(all->session->allocator, all->names, all->capacity, all->count + 1)) return bpl_fail_memory(all->session), false;
    all->names[all->count++] = name;
    return true;
}

static bpl_value *list_names(listing *all)
{
    bpl_session *session = all->session;
    bool good = true, module = false;
    for (const bpl_frame *frame = session->frame; good && frame && !module; frame = frame->parent) {
        for (uint32_t i = 0; good && i < frame->count; i++) good = list_name(all, frame->slots[i].name);
        module = frame->module;
    }
    for (bpl_symbol symbol = BPL_SYMBOL_FIXED; good && !module && symbol <= session->symbol_count; symbol++) {
        if (session->globals[symbol]) good = list_name(all, symbol);
    }
    bpl_items *items = good ? bpl_items_new(session, 1, &(int64_t){all->count}) : NULL;
    if (!items) return NULL;
    if (all->count) qsort(all->names, all->count, sizeof *all->names, by_text);
    for (uint32_t i = 0; i < all->count; i++) {
        if ((items->at[i] = bpl_string(session, all->names[i], strlen(all->names[i])))) continue;
        bpl_items_free(session, items);
        return NULL;
    }
    if (!all->count) items->prototype = bpl_string(session, "", 0);
    return bpl_collect(session, items);
}

bpl_value *bpl_system_nl(bpl_session *session, const bpl_call *call)
{
    int64_t *classes, count;
    char *prefix = NULL;
    size_t length = 0;
    if (bpl_rank(call->right) > 1) return bpl_fail(session, BPL_RANK, "•nl takes a class of names or a vector of them");
    if (call->left && !bpl_to_text(session, call->left, "the prefix of •nl", &prefix, &length)) return NULL;
    bpl_value *names = NULL;
    if (bpl_to_integers(session, call->right, "the classes of •nl", false, &classes, &count)) {
        listing all = {.session = session, .prefix = prefix ? prefix : "", .classes = classes, .class_count = count};
        bool good = true;
        for (int64_t i = 0; i < count && good; i++) good = classes[i] >= CLASS_VALUE && classes[i] <= CLASS_OPERATOR;
        if (good) names = list_names(&all);
        else bpl_fail(session, BPL_DOMAIN, "classes of names are 2 (values), 3 (functions) and 4 (operators)");
        if (all.names) base_free(session->allocator, all.names, all.capacity * sizeof *all.names);
        bpl_free_integers(session, classes, count);
    }
    if (prefix) base_free(session->allocator, prefix, length + 1);
    return names;
}

/* ---- •src -------------------------------------------------------------------------------------------------------------------------------------- */

bpl_value *bpl_system_src(bpl_session *session, const bpl_call *call)
{
    char *text;
    size_t length;
    if (call->left) return bpl_fail(session, BPL_SYNTAX, "•src takes one argument, not two");
    if (!bpl_to_text(session, call->right, "the argument of •src", &text, &length)) return NULL;
    bpl_token token = token_of(session, text, length);
    bpl_value *source = NULL, *value = is_given(session, &token) ? bpl_lookup(session, token.symbol) : NULL;
    if (!is_given(session, &token)) bpl_fail(session, BPL_DOMAIN, "%s is not a name that can be given", text);
    else if (!value) bpl_fail(session, BPL_VALUE, "%s has no value", text);
    else if (value->type != BPL_FUNCTION && value->type != BPL_OPERATOR) bpl_fail(session, BPL_DOMAIN, "%s is neither a function nor an operator", text);
    else {
        const bpl_function *function = value->function;
        const bpl_node *node = function->form == BPL_DFN || function->form == BPL_OPERATOR_DFN ? function->node : NULL;
        base_string out = base_string_new(session->allocator);
        bool good = node ? (base_string_put(&out, node->source->text + node->start, node->end - node->start), true) : bpl_display(session, value, &out);
        if (good && out.failed) bpl_fail_memory(session);
        else if (good) source = bpl_string(session, out.text, out.length);
        base_string_free(&out);
    }
    base_free(session->allocator, text, length + 1);
    return source;
}
