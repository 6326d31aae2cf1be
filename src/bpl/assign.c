/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Assignment: names and patterns here, paths and selections in write.c. A plain assignment binds in the innermost frame, a modified or
 * selective one changes the nearest binding. */
#include <string.h>

#include "bpl/evaluate.h"
#include "bpl/write.h"

bpl_value **bpl_place(bpl_session *session, bpl_symbol name)
{
    for (bpl_frame *frame = session->frame; frame; frame = frame->parent) {
        for (uint32_t i = 0; i < frame->count; i++) {
            if (frame->slots[i].name == name) return &frame->slots[i].value;
        }
        if (frame->module) return NULL;
    }
    return session->globals[name] ? &session->globals[name] : NULL;
}

static bool frame_has(const bpl_frame *frame, bpl_symbol name)
{
    for (uint32_t i = 0; i < frame->count; i++) {
        if (frame->slots[i].name == name) return true;
    }
    return false;
}

bool bpl_may_write(bpl_session *session, bpl_symbol name)
{
    return !session->frame || frame_has(session->frame, name) || bpl_act(session, "a write outside the function");
}

bool bpl_closure_may_leave(bpl_session *session, bpl_symbol name, const bpl_value *value)
{
    for (const bpl_frame *frame = session->frame; frame && !frame_has(frame, name); frame = frame->parent) {
        if (!frame->closures || !bpl_holds_closure(value, frame)) continue;
        bpl_fail(session, BPL_DOMAIN, "%s would hold a dfn of a call that ends before it", bpl_symbol_text(session, name));
        return false;
    }
    return true;
}

/* Statements that run outside the frame were bound with the role that the name has there. */
static bool keeps_role(bpl_session *session, bpl_symbol name, const bpl_value *old, const bpl_value *value)
{
    bpl_role before = bpl_role_of(old), now = bpl_role_of(value);
    bool own = !session->frame || frame_has(session->frame, name), alike = before == now || (before <= BPL_ROLE_HOLDER && now <= BPL_ROLE_HOLDER);
    if (own || alike) return true;
    return bpl_fail(session, BPL_DOMAIN, "%s cannot become %s from inside a function", bpl_symbol_text(session, name),
                    now == BPL_ROLE_SUBJECT || now == BPL_ROLE_HOLDER ? "an array" : "a function or an operator of another kind"), false;
}

bool bpl_set_nearest(bpl_session *session, bpl_symbol name, bpl_value *value)
{
    bpl_value **place = bpl_place(session, name);
    if (!place) return bpl_define(session, name, value);
    if (!bpl_may_write(session, name) || !bpl_closure_may_leave(session, name, value) || !keeps_role(session, name, *place, value)) return false;
    bpl_value *old = *place;
    *place = bpl_keep(value);
    bpl_release(old);
    return true;
}

/* ---- names ---------------------------------------------------------------------------------------------------------------------------- */

bool bpl_show_line(bpl_session *session, const bpl_value *value, bool whole)
{
    if (!bpl_act(session, "output")) return false;
    base_string text = base_string_new(session->allocator);
    bool good = (whole ? bpl_display_whole : bpl_display)(session, value, &text);
    base_string_puts(&text, "\n");
    if (good && text.failed) bpl_fail_memory(session), good = false;
    if (good && session->write) session->write(session->user, text.text, text.length);
    base_string_free(&text);
    return good;
}

static bool set_argument(bpl_session *session, bpl_symbol name, bpl_value *value)
{
    bpl_frame *frame = session->frame;
    if (!frame || !frame->function) {
        bpl_fail(session, BPL_SYNTAX, "%s is assigned inside { } only", bpl_symbol_text(session, name));
        return false;
    }
    if (!bpl_define(session, name, value)) return false;
    if (name == BPL_SYMBOL_OMEGA) frame->omega = value;
    else frame->alpha = value;
    return true;
}

static bool set_name(bpl_session *session, bpl_symbol name, bpl_value *value)
{
    switch (name) {
    case BPL_SYMBOL_DISCARD: return true;
    case BPL_SYMBOL_QUAD: return bpl_show_line(session, value, true);
    case BPL_SYMBOL_ALPHA: case BPL_SYMBOL_OMEGA: return set_argument(session, name, value);
    default: break;
    }
    const char *text = bpl_symbol_text(session, name);
    if (name >= BPL_SYMBOL_FIXED && strncmp(text, "•", strlen("•"))) return bpl_define(session, name, value);
    bpl_fail(session, BPL_SYNTAX, "%s cannot be assigned", text);
    return false;
}

/* ---- patterns ---------------------------------------------------------------------------------------------------------------------------- */

static bpl_value *pattern_key(bpl_session *session, const bpl_node *key, const bpl_value *value)
{
    session->at = key;
    bool name = key->kind == BPL_NODE_NAME;
    const char *text = name ? bpl_symbol_text(session, key->symbol) : "";
    bpl_value *label = name ? bpl_string(session, text, strlen(text)) : bpl_evaluate_value(session, key);
    bpl_value *part = label ? bpl_at_key(session, value, label) : NULL;
    bpl_release(label);
    if (!part && !bpl_failed(session)) bpl_fail(session, BPL_VALUE, "no value has the key %s", name ? text : "of this pattern");
    return part;
}

/* One item is what every name of a pattern is given. */
static bool goes_to_all(const bpl_value *value) { return bpl_is_unit(value) || bpl_volume(value) == 1; }

/* What a target of a pattern is given, owned. */
static bpl_value *pattern_part(bpl_session *session, const bpl_node *target, const bpl_value *value, uint32_t position)
{
    if (target->kind == BPL_NODE_KEY) return pattern_key(session, target->children[0], value);
    if (goes_to_all(value)) return bpl_item(session, value, 0);
    return bpl_rank(value) == 1 ? bpl_item(session, value, position) : bpl_cell(session, value, position);
}

static bool assign_pattern(bpl_session *session, const bpl_node *pattern, bpl_value *value, bpl_value *function)
{
    bool keyed = false;
    for (uint32_t i = 0; i < pattern->count; i++) keyed |= pattern->children[i]->kind == BPL_NODE_KEY;
    session->at = pattern;
    if (!value) {
        bpl_fail(session, BPL_SYNTAX, "a pattern needs a value to the right of ←");
        return false;
    }
    if (!keyed && !goes_to_all(value) && bpl_tally(value) != pattern->count) {
        bpl_fail(session, BPL_LENGTH, "%u names for %lld values", pattern->count, (long long)bpl_tally(value));
        return false;
    }
    for (uint32_t i = 0; i < pattern->count; i++) {
        const bpl_node *target = pattern->children[i];
        bpl_value *part = pattern_part(session, target, value, i);
        bool good = part && bpl_assign_to(session, target->kind == BPL_NODE_KEY ? target->children[1] : target, part, function);
        bpl_release(part);
        if (!good) return false;
    }
    return true;
}

/* ---- f⁻←g and f∂←g ---------------------------------------------------------------------------------------------------------------------- */

static bool attach(bpl_session *session, const bpl_node *target, bpl_value *value)
{
    bpl_symbol name = target->children[0]->symbol;
    const bpl_value *old = bpl_lookup(session, name);
    session->at = target;
    if (!old || !bpl_is_function(old) || !bpl_is_function(value)) {
        bpl_fail(session, BPL_DOMAIN, "%s: both must be functions", target->row == BPL_ATTACH_INVERSE ? "f⁻←g" : "f∂←g");
        return false;
    }
    const bpl_function *from = old->function;
    bpl_function *function = bpl_function_new(session, from->form, from->row);
    if (!function) return false;
    bool inverse = target->row == BPL_ATTACH_INVERSE;
    function->role = from->role;
    function->left = bpl_keep(from->left), function->right = bpl_keep(from->right), function->third = bpl_keep(from->third);
    function->node = from->node, function->source = from->source ? bpl_source_keep(from->source) : NULL;
    function->scope = from->scope, function->native = from->native;
    function->inverse = bpl_keep(inverse ? value : from->inverse), function->slope = bpl_keep(inverse ? from->slope : value);
    bpl_value *made = bpl_of_function(session, function);
    bool good = made && bpl_set_nearest(session, name, made);
    bpl_release(made);
    return good;
}

/* ---- one entry ---------------------------------------------------------------------------------------------------------------------------- */

/* The name's value becomes (name function value), or (function name) where value is NULL. */
static bool update_name(bpl_session *session, const bpl_node *target, bpl_value *value, bpl_value *function)
{
    bpl_frame *frame = session->frame;
    bpl_value *old = NULL;
    if (frame && target->symbol == BPL_SYMBOL_OMEGA) old = frame->omega;
    else if (frame && target->symbol == BPL_SYMBOL_ALPHA) old = frame->alpha;
    else if (bpl_place(session, target->symbol)) old = *bpl_place(session, target->symbol);
    session->at = target;
    if (!old) return bpl_fail(session, BPL_VALUE, "%s has no value to be modified", bpl_symbol_text(session, target->symbol)), false;
    bpl_keep(old);
    bpl_value *changed = bpl_apply(session, function, value ? old : NULL, value ? value : old);
    bpl_release(old);
    if (!changed && session->no_result) session->no_result = false, bpl_fail(session, BPL_VALUE, "the function gives no value to be assigned");
    bool argument = target->symbol <= BPL_SYMBOL_OMEGA;
    bool good = changed && (argument ? set_argument(session, target->symbol, changed) : bpl_set_nearest(session, target->symbol, changed));
    bpl_release(changed);
    return good;
}

bool bpl_assign_to(bpl_session *session, const bpl_node *target, bpl_value *value, bpl_value *function)
{
    session->at = target;
    switch ((bpl_node_kind)target->kind) {
    case BPL_NODE_NAME: return function ? update_name(session, target, value, function) : set_name(session, target->symbol, value);
    case BPL_NODE_PATTERN: case BPL_NODE_LIST: return assign_pattern(session, target, value, function);
    case BPL_NODE_ATTACH: return attach(session, target, value);
    case BPL_NODE_FIELD: case BPL_NODE_AT: case BPL_NODE_SUBSCRIPT: return bpl_write_path(session, target, value, function);
    case BPL_NODE_SELECTION: return bpl_write_selection(session, target->children[0], value, function);
    default: break;
    }
    bpl_fail(session, BPL_SYNTAX, "this cannot be assigned to");
    return false;
}

/* ⍺←v where ⍺ has a value already: v is not even computed. */
static bool is_default(const bpl_session *session, const bpl_node *node)
{
    return node->kind == BPL_NODE_SET && node->children[0]->kind == BPL_NODE_NAME && node->children[0]->symbol == BPL_SYMBOL_ALPHA && session->frame &&
           session->frame->alpha;
}

bpl_value *bpl_assign(bpl_session *session, const bpl_node *node)
{
    bool update = node->kind == BPL_NODE_UPDATE;
    if (is_default(session, node)) return bpl_keep(session->frame->alpha);
    bpl_value *value = NULL, *function = NULL;
    if (node->count > 1u + update && !(value = bpl_evaluate_value(session, node->children[1 + update]))) return NULL;
    bool good = !update || (function = bpl_evaluate_value(session, node->children[1]));
    good = good && bpl_assign_to(session, node->children[0], value, function);
    bpl_release(function);
    if (!good) return bpl_release(value), NULL;
    if (!value) session->no_result = true;
    return value;
}
