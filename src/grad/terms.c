/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The terms as a table, and what their forms mean. */
#include "grad/grad.h"

typedef struct rule {
    wg_value (*factor)(const grad_site *site);
    wg_value (*tangent)(const grad_site *site, wg_value t);
    wg_value (*transpose)(const grad_site *site, wg_value g);
} rule;

#define RULE_ZERO(Name, operand)
#define RULE_NONE(Name, operand)
#define RULE_SAME(Name, operand)
#define RULE_NEG(Name, operand)
#define RULE_MUL(Name, operand) [WG_OP_##Name][operand] = {.factor = grad_factor_##Name##_##operand},
#define RULE_DIV(Name, operand) RULE_MUL(Name, operand)
#define RULE_ROW(Name, operand)                                                                                                            \
    [WG_OP_##Name][operand] = {.tangent = grad_tangent_##Name##_##operand, .transpose = grad_transpose_##Name##_##operand},

static const rule rules[WG_OP_COUNT][3] = {
#define TERM(Name, operand, form, reads) RULE_##form(Name, operand)
#include "wengert/ops.def"
};

static const rule *rule_of(const grad_site *site)
{
    return &rules[site->term->op][site->term->operand];
}

/* Forms that are their own transposes; `row` serves the one that is not. */
static wg_value apply(const grad_site *site, wg_value v, wg_value (*row)(const grad_site *site, wg_value v))
{
    switch ((graph_term_form)site->term->form) {
    case GRAPH_TERM_SAME: return v;
    case GRAPH_TERM_NEG: return wg_neg(v);
    case GRAPH_TERM_MUL: return wg_mul(rule_of(site)->factor(site), v);
    case GRAPH_TERM_DIV: return wg_div(v, rule_of(site)->factor(site));
    case GRAPH_TERM_ROW: return row(site, v);
    case GRAPH_TERM_ZERO:
    case GRAPH_TERM_NONE: break;
    }
    graph_fail(site->tape, WG_UNSUPPORTED, "node %u: %s has no derivative by operand %u", site->position, graph_rows[site->node->op].text,
               site->operand);
    return graph_poison(site->tape);
}

wg_value grad_apply(const grad_site *site, wg_value t)
{
    return apply(site, t, rule_of(site)->tangent);
}

wg_value grad_transpose(const grad_site *site, wg_value g)
{
    return apply(site, g, rule_of(site)->transpose);
}
