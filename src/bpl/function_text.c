/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Functions as source. Parts print as what they are now, not as the names that they had: f∘- of f←+ is +∘-. */
#include "bpl/display.h"

/* Where a part stands decides whether it needs parentheses. */
typedef enum place { ALONE, LEFT_OPERAND, RIGHT_OPERAND, LEFT_ARM } place;

typedef struct writer {
    bpl_session *session;
    base_string *out;
    const bpl_style *style;
} writer;

static bool put(writer *w, const bpl_function *function, place where);

static void write_text(writer *w, const char *text) { base_string_puts(w->out, text); }

static bool put_part(writer *w, const bpl_value *part, place where)
{
    if (part->type == BPL_FUNCTION || part->type == BPL_OPERATOR) return put(w, part->function, where);
    return bpl_put_item(w->session, w->out, part, w->style);
}

static bool slice(writer *w, const bpl_node *node)
{
    base_string_put(w->out, node->source->text + node->start, node->end - node->start);
    return true;
}

/* f op g. */
static bool put_chain(writer *w, const bpl_value *left, const char *operator, const bpl_value *right)
{
    if (!put_part(w, left, LEFT_OPERAND)) return false;
    write_text(w, operator);
    return !right || put_part(w, right, RIGHT_OPERAND);
}

static bool put_derived_dfn(writer *w, const bpl_function *function)
{
    if (!put_part(w, function->left, LEFT_OPERAND) || !slice(w, function->node)) return false;
    return !function->right || put_part(w, function->right, RIGHT_OPERAND);
}

static bool put_fork(writer *w, const bpl_function *function)
{
    return put_part(w, function->left, LEFT_ARM) && put_part(w, function->third, LEFT_ARM) && put_part(w, function->right, ALONE);
}

/* .name, .[items] as they stand behind the function in the source. */
static bool put_path(writer *w, const bpl_function *function)
{
    const bpl_node *node = function->node;
    if (!put_part(w, function->left, LEFT_OPERAND)) return false;
    if (!node || !node->count) return true;
    uint32_t start = node->children[0]->end;
    base_string_put(w->out, node->source->text + start, node->end - start);
    return true;
}

static bool put_form(writer *w, const bpl_function *function)
{
    switch ((bpl_function_form)function->form) {
    case BPL_PRIMITIVE: return write_text(w, bpl_glyphs[function->row].glyph), true;
    case BPL_SYSTEM: return write_text(w, "•"), write_text(w, bpl_systems[function->row].name), true;
    case BPL_DFN:
    case BPL_OPERATOR_DFN: return slice(w, function->node);
    case BPL_DERIVED: return put_chain(w, function->left, bpl_operators[function->row].glyph, function->right);
    case BPL_DERIVED_DFN: return put_derived_dfn(w, function);
    case BPL_BOUND: return put_chain(w, function->left, "↣", function->right);
    case BPL_ATOP: return put_chain(w, function->left, "∘", function->right);
    case BPL_FORK: return put_fork(w, function);
    case BPL_MARKED: return put_chain(w, function->left, bpl_marks[function->row].text, NULL);
    case BPL_RANKED:
        if (!put_part(w, function->left, LEFT_OPERAND)) return false;
        return bpl_print_exponents(w->out, function->right, false), true;
    case BPL_INVERSE: return put_chain(w, function->left, "⁻", NULL);
    case BPL_AXIS: return put_chain(w, function->left, "⍠", function->right);
    case BPL_PATH: return put_path(w, function);
    case BPL_OPERATOR_ROW: return write_text(w, bpl_operators[function->row].glyph), true;
    case BPL_OPERATOR_PART: return put_part(w, function->left, ALONE) && put_part(w, function->right, RIGHT_OPERAND);
    case BPL_NATIVE: return function->node ? slice(w, function->node) : (write_text(w, "{•}"), true);
    }
    return true;
}

static bool is_one_token(const bpl_function *function)
{
    return function->form == BPL_PRIMITIVE || function->form == BPL_SYSTEM || function->form == BPL_DFN || function->form == BPL_OPERATOR_DFN ||
           function->form == BPL_OPERATOR_ROW || function->form == BPL_NATIVE;
}

static bool put(writer *w, const bpl_function *function, place where)
{
    if (bpl_stack_is_low(w->session)) return bpl_fail(w->session, BPL_LIMIT, "this nests too deep to be written");
    bool parentheses = where == RIGHT_OPERAND ? !is_one_token(function) : where != ALONE && function->form == BPL_FORK;
    if (parentheses) write_text(w, "(");
    if (!put_form(w, function)) return false;
    if (parentheses) write_text(w, ")");
    return true;
}

bool bpl_put_function(bpl_session *session, base_string *out, const bpl_function *function, const bpl_style *style)
{
    return put(&(writer){session, out, style}, function, ALONE);
}
