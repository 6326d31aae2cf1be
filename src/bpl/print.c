/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Trees as s-expressions (section 8 of the grammar). */
#include "bpl/bpl.h"

static const char *const heads[] = {
#define NODE(KIND, head, children) head,
#include "bpl/tree.def"
};

static void slice(base_string *out, const bpl_node *node) { base_string_put(out, node->source->text + node->start, node->end - node->start); }

/* An integer in small digits. */
static void small(base_string *out, int64_t number, const char *sign, const char *const digits[10])
{
    char text[24];
    int count = 0;
    if (number < 0) base_string_puts(out, sign);
    uint64_t rest = number < 0 ? (uint64_t)-number : (uint64_t)number;
    do text[count++] = (char)(rest % 10);
    while (rest /= 10);
    while (count) base_string_puts(out, digits[(int)text[--count]]);
}

static const char *const above[10] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
static const char *const below[10] = {"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};

void bpl_print_exponents(base_string *out, const bpl_value *exponents, bool parentheses)
{
    int64_t *numbers, count;
    bpl_session *session = exponents->session;
    if (!bpl_to_integers(session, exponents, "an exponent", false, &numbers, &count)) return;
    if (count > 1 && parentheses) base_string_puts(out, "(");
    for (int64_t i = 0; i < count; i++) {
        if (i) base_string_puts(out, " ");
        small(out, numbers[i], "⁻", above);
    }
    if (count > 1 && parentheses) base_string_puts(out, ")");
    bpl_free_integers(session, numbers, count);
}

static void print_position(base_string *out, const bpl_value *position)
{
    int64_t number;
    if (bpl_to_integer(position->session, position, "a subscript", &number)) small(out, number, "₋", below);
}

static void print_bodies(base_string *out, const bpl_node *dfn)
{
    for (uint32_t i = 0; i < dfn->count; i++) {
        base_string_puts(out, " (body");
        for (uint32_t j = 0; j < dfn->bodies[i].count; j++) {
            base_string_puts(out, " ");
            bpl_print_tree(out, dfn->bodies[i].statements[j].bindings->tree);
        }
        base_string_puts(out, ")");
    }
}

/* What stands between the head and the children. */
static void print_detail(base_string *out, const bpl_node *node)
{
    switch ((bpl_node_kind)node->kind) {
    case BPL_NODE_SUPERSCRIPT:
        base_string_puts(out, " ");
        if (node->value) bpl_print_exponents(out, node->value, true);
        else base_string_puts(out, bpl_marks[node->row].text);
        break;
    case BPL_NODE_MARK:
    case BPL_NODE_JOIN: base_string_printf(out, " %s", bpl_marks[node->row].text); break;
    case BPL_NODE_SUBSCRIPT:
        base_string_puts(out, " ");
        print_position(out, node->value);
        break;
    case BPL_NODE_ATTACH: base_string_puts(out, node->row == BPL_ATTACH_INVERSE ? " ⁻" : " ∂"); break;
    case BPL_NODE_DFN: print_bodies(out, node); break;
    default: break;
    }
}

void bpl_print_tree(base_string *out, const bpl_node *node)
{
    const char *head = heads[node->kind];
    if (!head[0]) {
        slice(out, node);
        return;
    }
    base_string_printf(out, "(%s", head);
    print_detail(out, node);
    for (uint32_t i = 0; i < node->count && node->kind != BPL_NODE_DFN; i++) {
        base_string_puts(out, " ");
        bpl_print_tree(out, node->children[i]);
    }
    if (node->kind == BPL_NODE_FIELD) base_string_printf(out, " %s", bpl_symbol_text(node->source->session, node->symbol));
    base_string_puts(out, ")");
}

static bool put_branches(bpl_session *session, base_string *out, const bpl_node *node, base_string *indent)
{
    const char *head = heads[node->kind];
    if (bpl_stack_is_low(session)) return bpl_fail(session, BPL_LIMIT, "this nests too deep to be shown as a tree");
    if (!head[0] || node->kind == BPL_NODE_DFN) return slice(out, node), true;
    base_string_puts(out, head);
    print_detail(out, node);
    if (node->kind == BPL_NODE_FIELD) base_string_printf(out, " %s", bpl_symbol_text(session, node->symbol));
    for (uint32_t i = 0; i < node->count; i++) {
        bool last = i + 1 == node->count;
        size_t before = indent->length;
        base_string_printf(out, "\n%s%s", before ? indent->text : "", last ? "└─ " : "├─ ");
        base_string_puts(indent, last ? "   " : "│  ");
        bool done = put_branches(session, out, node->children[i], indent);
        indent->length = before;
        if (indent->text) indent->text[before] = 0;
        if (!done) return false;
    }
    return true;
}

bool bpl_print_branches(bpl_session *session, base_string *out, const bpl_node *node)
{
    base_string indent = base_string_new(session->allocator);
    bool done = put_branches(session, out, node, &indent);
    if (indent.failed) out->failed = true;
    base_string_free(&indent);
    return done;
}
