/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Assignments: section 7 of the grammar. What stands before ← is split into what is assigned to, the function that modifies it, and the rest of
 * the statement, in which the assignment is one element. */
#include "bpl/binder.h"

/* ---- targets --------------------------------------------------------------------------------------------------------------------------------- */

static bool is_name(const bpl_node *node) { return node->kind == BPL_NODE_NAME && node->symbol > 0; }

static bool is_given(bpl_symbol symbol)
{
    return symbol == BPL_SYMBOL_LEFT || symbol == BPL_SYMBOL_RIGHT || symbol == BPL_SYMBOL_SELF || symbol == BPL_SYMBOL_OPERATOR || symbol == BPL_SYMBOL_CAUGHT;
}

static const bpl_node *name_target(binder *b, const bpl_node *node)
{
    return is_given(node->symbol) ? bind_fail_at(b, node, "this name has its value from the call; take another one") : node;
}

static const bpl_node *pattern(binder *b, const bpl_node *list);

/* An item of a pattern: a name, a pattern, key:name, name: (key and name alike). */
static const bpl_node *pattern_item(binder *b, const bpl_node *item)
{
    if (is_name(item)) return name_target(b, item);
    if (item->kind == BPL_NODE_LIST) return pattern(b, item);
    const bpl_node *last = item->count ? item->children[item->count - 1] : NULL;
    bool alike = (item->kind == BPL_NODE_BIND || item->kind == BPL_NODE_ATOP) && last->kind == BPL_NODE_FUNCTION && last->row == BPL_GLYPH_KEYS;
    if (alike && is_name(item->children[0])) return bind_node(b, BPL_NODE_KEY, BPL_ROLE_SUBJECT, item->start, item->end, (const bpl_node *[]){item->children[0], item->children[0]}, 2);
    if (item->kind == BPL_NODE_KEY && (is_name(item->children[0]) || item->children[0]->kind == BPL_NODE_LITERAL)) {
        const bpl_node *inner = pattern_item(b, item->children[1]);
        return inner ? bind_node2(b, BPL_NODE_KEY, BPL_ROLE_SUBJECT, item->children[0], inner) : NULL;
    }
    return bind_fail_at(b, item, "a pattern holds names, patterns, key:name and name:");
}

static const bpl_node *pattern(binder *b, const bpl_node *list)
{
    uint32_t base = b->node_count;
    for (uint32_t i = 0; i < list->count; i++) {
        const bpl_node *item = pattern_item(b, list->children[i]);
        if (!item || !bind_push_node(b, item)) return NULL;
    }
    return bind_gather(b, BPL_NODE_PATTERN, BPL_ROLE_SUBJECT, list->start, list->end, base);
}

/* f⁻ or f∂ of a name: what is attached to it, else BPL_ATTACH_SLOPE + 1. */
static uint32_t attachment(const bpl_node *node)
{
    if (node->kind == BPL_NODE_SUPERSCRIPT && !node->value && node->row == BPL_MARK_INVERSE && is_name(node->children[0])) return BPL_ATTACH_INVERSE;
    if (node->kind == BPL_NODE_DERIVE && node->children[0]->kind == BPL_NODE_OPERATOR && node->children[0]->row == BPL_OPERATOR_DERIVATIVE && is_name(node->children[1]))
        return BPL_ATTACH_SLOPE;
    return BPL_ATTACH_SLOPE + 1;
}

/* What a tree is as a target; selects: a computation may select from what it computes on. */
static const bpl_node *target_of(binder *b, const bpl_node *node, bool selects)
{
    if (is_name(node)) return name_target(b, node);
    if (node->kind == BPL_NODE_LIST) return pattern(b, node);
    if (attachment(node) <= BPL_ATTACH_SLOPE) {
        const bpl_node *name = node->children[node->kind == BPL_NODE_DERIVE];
        bpl_node *attached = bind_node1(b, BPL_NODE_ATTACH, BPL_ROLE_FUNCTION, name);
        if (!attached) return NULL;
        attached->row = (uint16_t)attachment(node);
        attached->end = node->end;
        return attached;
    }
    if (node->kind == BPL_NODE_CALL && selects) return bind_node1(b, BPL_NODE_SELECTION, BPL_ROLE_SUBJECT, node);
    const bpl_node *root = node;
    while (root->kind == BPL_NODE_FIELD || root->kind == BPL_NODE_AT || root->kind == BPL_NODE_SUBSCRIPT) root = root->children[0];
    if (root != node && is_name(root) && bind_is_subject(root)) return name_target(b, root) ? node : NULL;
    return bind_fail_at(b, node, "← assigns to a name, to items of one (x.[i], x.key), to a pattern [a b], or to a selection (2↑x)");
}

/* ---- the statement around it ------------------------------------------------------------------------------------------------------------------- */

static bool note_names(binder *b, const bpl_node *target, const bpl_node *value)
{
    if (is_name(target)) return bind_note_assigned(b, target->symbol, value ? (bpl_role)value->role : BPL_ROLE_SUBJECT);
    if (target->kind != BPL_NODE_PATTERN && target->kind != BPL_NODE_KEY) return true;
    for (uint32_t i = target->kind == BPL_NODE_KEY; i < target->count; i++)
        if (!note_names(b, target->children[i], NULL)) return false;
    return true;
}

/* The part that stands for the assignment. modifier and value may be NULL, not both. */
static bool assigned(binder *b, bpl_part *part, bool selects, const bpl_node *modifier, const bpl_node *value)
{
    if (!modifier && !value) return bind_fail_at(b, part->node, "← has no value on its right");
    const bpl_node *target = target_of(b, part->node, selects), *node = NULL;
    if (!target) return false;
    if (!modifier && !note_names(b, target, value)) return false;
    bpl_role role = value ? (bpl_role)value->role : BPL_ROLE_SUBJECT;
    if (!modifier) node = bind_node2(b, BPL_NODE_SET, role, target, value);
    else if (value) node = bind_node3(b, BPL_NODE_UPDATE, role, target, modifier, value);
    else node = bind_node2(b, BPL_NODE_UPDATE, role, target, modifier);
    part->node = node;
    part->kind = BPL_PART_ELEMENT;
    part->grouped = false;
    return node;
}

/* A place in an array, also where a function is. */
static bool is_place(const bpl_node *node)
{
    bool path = node->kind == BPL_NODE_FIELD || node->kind == BPL_NODE_AT || node->kind == BPL_NODE_SUBSCRIPT;
    return path && bind_is_subject(node->children[0]);
}

static bool is_target(const bpl_part *part)
{
    if (bind_is_subject(part->node) || is_place(part->node)) return true;
    return !part->grouped && (is_name(part->node) || attachment(part->node) <= BPL_ATTACH_SLOPE);
}

/* The last run [start, end) before a ← that touches it; on return it is the run that holds the assignment. */
static bool tight(binder *b, uint32_t base, uint32_t *results, uint32_t start, uint32_t *end, const bpl_node *value)
{
    if (!bind_elements(b, start, end)) return false;
    bpl_part *last = &b->parts[*end - 1];
    if (is_target(last)) return assigned(b, last, last->grouped, NULL, value);
    if (last->node->role != BPL_ROLE_FUNCTION || (!last->grouped && b->source->tokens[last->token].kind == BPL_TOKEN_NAME))
        return bind_fail_at(b, last->node, "← assigns to a name, a place or a selection; a named function that modifies stands in parentheses: x(f)←v");
    const bpl_node *modifier = last->node;
    if (*end - 1 > start) {
        --*end;
        return assigned(b, last - 1, (last - 1)->grouped, modifier, value);
    }
    if (!*results) return bind_fail_at(b, modifier, "a function before ← modifies what stands before it, and there is nothing");
    *last = b->parts[base + --*results];
    return assigned(b, last, true, modifier, value);
}

const bpl_node *bind_assignment(binder *b, uint32_t first, uint32_t arrow, const bpl_node *value)
{
    uint32_t base = b->part_count, results, start = 0;
    const bpl_node *node = NULL;
    if (first == arrow) return bind_fail(b, arrow, arrow + 1, "← has no target on its left");
    if (!bind_parts(b, first, arrow) || !bind_runs(b, base, &results, &start)) return NULL;
    uint32_t end = b->part_count;
    if (b->source->tokens[arrow].space) { /* the whole run is the target */
        bpl_part part = b->parts[start];
        if (!bind_elements(b, start, &end) || !(part.node = bind_combine(b, start, end)) || !assigned(b, &part, true, NULL, value)) return NULL;
        b->parts[base + results] = part;
    } else {
        if (!tight(b, base, &results, start, &end, value) || !(node = bind_combine(b, start, end))) return NULL;
        b->parts[base + results] = (bpl_part){.kind = BPL_PART_ELEMENT, .node = node};
    }
    node = bind_combine(b, base, base + results + 1);
    b->part_count = base;
    return node;
}
