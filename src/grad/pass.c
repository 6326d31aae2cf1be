/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The two walks over a graph: descending with cotangents, ascending with tangents. Only what lies between the wrt and the target is walked:
 * a value aside of that path is not read, so that its NaN is nobody's. */
#include <string.h>

#include "base/kind.h"
#include "grad/grad.h"

static const wg_value nothing = {NULL, WG_NONE, 0};

static bool is_complex(const wg_graph *graph, const wg_node *node, uint32_t operand)
{
    wg_kind from = (wg_kind)graph_node(graph, graph_operands(graph, node)[operand])->kind;
    return base_kind_is_complex((wg_kind)node->kind) || base_kind_is_complex(from);
}

/* An operand through which a node moves: both are floats and the term is not constant. Complex numbers are followed too, so that a path
 * through them is told (fail_complex); z / |z| is not constant. */
static bool leads(const wg_graph *graph, const wg_node *node, uint32_t operand)
{
    const graph_term *term = graph_row_term((wg_op)node->op, operand);
    bool turns = node->op == WG_OP_Sign && is_complex(graph, node, operand);
    if (!term || (term->form == GRAPH_TERM_ZERO && !turns) || !base_kind_has_nan((wg_kind)node->kind)) return false;
    return base_kind_has_nan((wg_kind)graph_node(graph, graph_operands(graph, node)[operand])->kind);
}

/* A term that would be of complex numbers: the tape has its error. */
static void fail_complex(const grad_pass *pass, uint32_t position, uint32_t operand)
{
    const wg_node *node = graph_node(pass->graph, position);
    wg_kind from = (wg_kind)graph_node(pass->graph, graph_operands(pass->graph, node)[operand])->kind;
    bool of = base_kind_is_complex(from);
    graph_fail(pass->tape, WG_UNSUPPORTED, "not supported: complex derivatives; node %u (%s %s %s) lies on the path, stop_gradient cuts it",
               position, graph_rows[node->op].name, of ? "of" : "to", base_kinds[of ? from : (wg_kind)node->kind].name);
}

static void mark_moving(grad_pass *pass)
{
    for (uint32_t position = 0; position < pass->prefix; position++) {
        const wg_node *node = graph_node(pass->graph, position);
        const uint32_t *operands = graph_operands(pass->graph, node);
        for (uint32_t i = 0; i < node->operand_count && !pass->moves[position]; i++)
            pass->moves[position] = pass->moves[operands[i]] && leads(pass->graph, node, i);
    }
}

bool grad_pass_begin(grad_pass *pass, const uint32_t *wrt, uint32_t count)
{
    pass->scratch = base_arena_new(pass->tape->allocator);
    pass->moves = base_arena_take_zeroed(&pass->scratch, pass->prefix);
    pass->carried = base_arena_take(&pass->scratch, pass->prefix * sizeof *pass->carried);
    pass->gates = base_arena_take(&pass->scratch, pass->prefix * sizeof *pass->gates);
    pass->fed = pass->value ? base_arena_take(&pass->scratch, pass->prefix * sizeof *pass->fed) : NULL;
    if (!pass->moves || !pass->carried || !pass->gates || (pass->value && !pass->fed)) return graph_fail(pass->tape, WG_MEMORY, "out of memory"), false;
    for (uint32_t i = 0; i < pass->prefix; i++) pass->carried[i] = nothing;
    if (pass->fed) memset(pass->fed, 0xff, pass->prefix * sizeof *pass->fed); /* WG_NONE */
    for (uint32_t i = 0; i < count; i++)
        if (wrt[i] < pass->prefix) pass->moves[wrt[i]] = true;
    mark_moving(pass);
    return true;
}

void grad_pass_end(grad_pass *pass)
{
    base_arena_free(&pass->scratch);
}

static grad_site site_of(grad_pass *pass, uint32_t position, uint32_t operand)
{
    const wg_node *node = graph_node(pass->graph, position);
    return (grad_site){.pass = pass,
                       .tape = pass->tape,
                       .node = node,
                       .term = graph_row_term((wg_op)node->op, operand),
                       .position = position,
                       .operand = operand};
}

/* Contributions are added in the order in which they arrive; the first one is the start. */
static void add_to(wg_value *sum, wg_value contribution)
{
    *sum = sum->position == WG_NONE ? contribution : wg_add(*sum, contribution);
}

static bool healthy(const grad_pass *pass)
{
    return !wg_tape_error(pass->tape)->code;
}

static wg_value zeros_of(grad_pass *pass, uint32_t position)
{
    grad_site site = {.pass = pass, .tape = pass->tape, .node = graph_node(pass->graph, position), .position = position};
    return grad_fill_result(&site, 0);
}

/* ---- gates ----
 *
 * What a Select did not choose has the cotangent 0 there, and 0 times an infinite slope is NaN. So a case's cotangent carries the positions
 * where it was chosen, its gate, down through elementwise rows, and a slope's product is chosen by it again: an inactive case never reaches
 * the answer, whatever its slope. A gate ends where a row moves items, and where an ungated contribution joins. */

/* The gate of what a node hands to an operand: its own, and where it is a Select the case's. position WG_NONE: none. */
static wg_value gate_of(const grad_site *site)
{
    wg_value gate = site->pass->gates[site->position];
    if (site->node->op == WG_OP_Select) {
        wg_value chosen = grad_operand(site, 0);
        if (site->operand == 2) chosen = wg_not(chosen);
        return gate.position == WG_NONE ? chosen : wg_and(gate, chosen);
    }
    if (site->node->op == WG_OP_Convert) return gate;
    bool elementwise = site->term->form == GRAPH_TERM_SAME || site->term->form == GRAPH_TERM_NEG || site->term->form == GRAPH_TERM_MUL ||
                       site->term->form == GRAPH_TERM_DIV;
    return elementwise && graph_rows[site->node->op].order == GRAPH_ORDER_ELEMENT ? gate : nothing;
}

/* A slope that is finite whatever the items are: one number, or which operand won. */
static bool slope_is_finite(const grad_site *site)
{
    double number;
    switch (site->node->op) {
    case WG_OP_Convert:
    case WG_OP_Maximum:
    case WG_OP_Minimum: return true;
    case WG_OP_Mul: return grad_operand_constant(site, 1 - site->operand, &number) && number - number == 0;
    case WG_OP_Div: return site->operand == 0 && grad_operand_constant(site, 1, &number) && number != 0;
    default: return site->term->form == GRAPH_TERM_SAME || site->term->form == GRAPH_TERM_NEG;
    }
}

static wg_value gated(const grad_site *site, wg_value gate, wg_value contribution)
{
    if (gate.position == WG_NONE || site->node->op == WG_OP_Select || slope_is_finite(site)) return contribution;
    wg_value zeros = wg_fill_like(contribution, 0);
    return wg_select(gate, contribution, zeros);
}

/* The gate of a sum of contributions: wherever one of them was chosen. */
static void join_gate(wg_value *gate, bool first, wg_value other)
{
    if (first) *gate = other;
    else if (gate->position == WG_NONE || other.position == WG_NONE) *gate = nothing;
    else if (gate->position != other.position) *gate = wg_or(*gate, other);
}

/* ---- reverse ---- */

/* What a term recorded remembers whose term it was; a node that an inner derivative recorded keeps its own. */
static void remember_origin(grad_pass *pass, uint32_t first, uint32_t origin)
{
    for (uint32_t i = first; i < pass->tape->nodes.count; i++) {
        wg_node *node = base_pool_at(&pass->tape->nodes, i);
        if (node->origin == WG_NONE) node->origin = origin;
    }
}

/* Hands the cotangent of a node to its operands, in ascending order. */
static void hand_down(grad_pass *pass, uint32_t position)
{
    const wg_node *node = graph_node(pass->graph, position);
    const uint32_t *operands = graph_operands(pass->graph, node);
    for (uint32_t i = 0; i < node->operand_count && healthy(pass); i++) {
        if (!pass->moves[operands[i]] || !leads(pass->graph, node, i)) continue;
        if (is_complex(pass->graph, node, i)) {
            fail_complex(pass, position, i);
            return;
        }
        grad_site site = site_of(pass, position, i);
        uint32_t first = pass->tape->nodes.count;
        wg_value contribution = grad_transpose(&site, pass->carried[position]);
        wg_value gate = healthy(pass) ? gate_of(&site) : nothing;
        if (healthy(pass)) contribution = gated(&site, gate, contribution);
        if (healthy(pass)) join_gate(&pass->gates[operands[i]], pass->carried[operands[i]].position == WG_NONE, gate);
        remember_origin(pass, first, position);
        if (healthy(pass)) add_to(&pass->carried[operands[i]], contribution);
    }
}

bool grad_pass_reverse(grad_pass *pass, uint32_t target, wg_value seed, const uint32_t *wrt, uint32_t count, wg_value *gradients)
{
    for (uint32_t i = 0; i <= target; i++) pass->carried[i] = pass->gates[i] = nothing;
    if (pass->moves[target]) pass->carried[target] = seed;
    for (uint32_t position = target + 1; position-- > 0 && healthy(pass);)
        if (pass->carried[position].position != WG_NONE) hand_down(pass, position);
    for (uint32_t i = 0; i < count && healthy(pass); i++) {
        gradients[i] = wrt[i] <= target ? pass->carried[wrt[i]] : nothing;
        if (gradients[i].position == WG_NONE) gradients[i] = zeros_of(pass, wrt[i]);
    }
    return healthy(pass);
}

/* ---- forward ---- */

static void hand_up(grad_pass *pass, uint32_t position)
{
    const wg_node *node = graph_node(pass->graph, position);
    const uint32_t *operands = graph_operands(pass->graph, node);
    for (uint32_t i = 0; i < node->operand_count && healthy(pass); i++) {
        if (pass->carried[operands[i]].position == WG_NONE || !leads(pass->graph, node, i)) continue;
        if (is_complex(pass->graph, node, i)) {
            fail_complex(pass, position, i);
            return;
        }
        grad_site site = site_of(pass, position, i);
        uint32_t first = pass->tape->nodes.count;
        wg_value contribution = grad_apply(&site, pass->carried[operands[i]]);
        remember_origin(pass, first, position);
        if (healthy(pass)) add_to(&pass->carried[position], contribution);
    }
}

/* Marks what tangents of the targets are made of: what they depend on through operands that lead. */
static void mark_needed(const grad_pass *pass, const uint32_t *targets, uint32_t target_count, bool *needed)
{
    for (uint32_t i = 0; i < target_count; i++) needed[targets[i]] = true;
    for (uint32_t position = pass->prefix; position-- > 0;) {
        const wg_node *node = graph_node(pass->graph, position);
        const uint32_t *operands = graph_operands(pass->graph, node);
        for (uint32_t i = 0; needed[position] && i < node->operand_count; i++)
            needed[operands[i]] = needed[operands[i]] || leads(pass->graph, node, i);
    }
}

bool grad_pass_forward(grad_pass *pass, const uint32_t *targets, uint32_t target_count, const uint32_t *wrt, const wg_value *tangents,
                       uint32_t count, wg_value *results)
{
    bool *needed = base_arena_take_zeroed(&pass->scratch, pass->prefix);
    if (!needed) return graph_fail(pass->tape, WG_MEMORY, "out of memory"), false;
    mark_needed(pass, targets, target_count, needed);
    for (uint32_t i = 0; i < pass->prefix; i++) pass->carried[i] = nothing;
    for (uint32_t i = 0; i < count; i++)
        if (wrt[i] < pass->prefix) add_to(&pass->carried[wrt[i]], tangents[i]);
    for (uint32_t position = 0; position < pass->prefix && healthy(pass); position++)
        if (needed[position] && pass->moves[position]) hand_up(pass, position);
    for (uint32_t i = 0; i < target_count && healthy(pass); i++) {
        results[i] = pass->carried[targets[i]];
        if (results[i].position == WG_NONE) results[i] = zeros_of(pass, targets[i]);
    }
    return healthy(pass);
}
