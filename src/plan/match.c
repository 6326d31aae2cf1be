/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The matcher. A match never changes the graph. */
#include "plan/match.h"

#include <string.h>

/* Counts, then places, by the row of the root. */
void plan_patterns_index(plan_patterns *p, const plan_step *steps, uint32_t step_count)
{
    uint16_t at[WG_OP_COUNT + 1] = {0}, count = 0;
    const plan_step *end = steps + step_count - 1;
    for (const plan_step *step = steps; step < end; step++)
        if (step->action <= STEP_ALSO) at[step->op + 1]++;
    for (int op = 0; op < WG_OP_COUNT; op++) at[op + 1] = (uint16_t)(at[op + 1] + at[op]);
    memcpy(p->root_begin, at, sizeof at);
    for (const plan_step *step = steps; step < end; step++) {
        if (step->action == STEP_PART) p->first[count++] = step + 1;
        if (step->action <= STEP_ALSO) p->of_root[at[step->op]++] = (uint16_t)(count - 1);
    }
}

void plan_matcher_free(plan_matcher *m)
{
    base_free(m->allocator, m->covered, m->covered_capacity * sizeof *m->covered);
}

const graph_payload *plan_fill_of(const wg_graph *graph, uint32_t node)
{
    const wg_node *n = graph_node(graph, node);
    const graph_payload *payload = n->op == WG_OP_Leaf ? graph_payload_of(graph, n) : NULL;
    return payload && payload->form == GRAPH_PAYLOAD_FILL ? payload : NULL;
}

bool plan_is_number(const wg_graph *graph, uint32_t node, double number)
{
    const graph_payload *payload = plan_fill_of(graph, node);
    if (!payload) return false;
    wg_kind kind = (wg_kind)graph_node(graph, node)->kind;
    base_number wanted;
    return base_number_exact((base_number){.d = number}, WG_KIND_F64, kind, &wanted) &&
           base_number_load(kind, payload->tensor->data, 0).u == wanted.u;
}

bool plan_match_cover(plan_matcher *m, uint32_t node)
{
    if (!BASE_RESERVE(m->allocator, m->covered, m->covered_capacity, m->covered_count + 1)) {
        m->failed = true;
        return false;
    }
    m->covered[m->covered_count++] = node;
    return true;
}

uint32_t plan_match_operand(const plan_matcher *m, uint32_t node, uint32_t operand)
{
    const wg_node *n = graph_node(m->graph, node);
    return operand < n->operand_count ? graph_operands(m->graph, n)[operand] : WG_NONE;
}

static bool is_order(const plan_matcher *m, const wg_node *node, const char *digits)
{
    graph_list list = graph_attribute_list(m->graph, node, 0);
    if (list.count != strlen(digits)) return false;
    for (uint32_t i = 0; i < list.count; i++)
        if (list.numbers[i] != digits[i] - '0') return false;
    return true;
}

static bool fits(const plan_matcher *m, uint32_t node, const plan_step *step)
{
    if (node == WG_NONE) return false;
    const wg_node *n = graph_node(m->graph, node);
    if (n->op != step->op) return false;
    if (step->axis >= 0 && graph_attribute(m->graph, n, 0) != step->axis) return false;
    return !step->order || is_order(m, n, step->order);
}

static bool take(plan_matcher *m, const plan_step *step)
{
    uint32_t node = plan_match_operand(m, m->places[step->from], step->operand);
    if (!fits(m, node, step)) return false;
    m->places[step->place] = node;
    return plan_match_cover(m, node);
}

/* A Narrow of exactly one position, of the last axis of `window` (WG_NONE: of the Reshape that it answers). */
static uint32_t narrow_of(const plan_matcher *m, uint32_t node, uint32_t window, int64_t *start)
{
    const wg_node *n = node == WG_NONE ? NULL : graph_node(m->graph, node);
    if (!n || n->op != WG_OP_Narrow || graph_attribute(m->graph, n, GRAPH_ATTRIBUTE(Narrow, len)) != 1) return WG_NONE;
    uint32_t below = n->operands[0];
    const wg_node *reshape = graph_node(m->graph, below);
    if ((window != WG_NONE && below != window) || reshape->op != WG_OP_Reshape) return WG_NONE;
    if (graph_attribute(m->graph, n, GRAPH_ATTRIBUTE(Narrow, axis)) != (int64_t)reshape->rank - 1) return WG_NONE;
    *start = graph_attribute(m->graph, n, GRAPH_ATTRIBUTE(Narrow, start));
    return below;
}

/* Walks the Maximums down from `node`: positions fall by one from the last of the axis to 0, so a chain that is not the whole axis ends at
 * its first node. */
static bool fold(plan_matcher *m, const plan_step *step, uint32_t node)
{
    uint32_t window = WG_NONE;
    int64_t start = 0, expected = -1;
    for (; graph_node(m->graph, node)->op == WG_OP_Maximum; node = plan_match_operand(m, node, 0)) {
        uint32_t narrow = plan_match_operand(m, node, 1), below = narrow_of(m, narrow, window, &start);
        if (below == WG_NONE) return false;
        if (window == WG_NONE) {
            const wg_node *reshape = graph_node(m->graph, below);
            window = below;
            expected = graph_shape(m->graph, reshape)[reshape->rank - 1] - 1;
        }
        if (start != expected-- || !plan_match_cover(m, node) || !plan_match_cover(m, narrow)) return false;
    }
    if (window == WG_NONE || narrow_of(m, node, window, &start) == WG_NONE || start != 0 || expected != 0) return false;
    m->places[step->place] = window;
    return plan_match_cover(m, node) && plan_match_cover(m, window);
}

/* Positions of a window whose gradient is looked for. */
#define FOLD_GRADIENT_MOST 33

static bool is_row(const plan_matcher *m, uint32_t node, wg_op op)
{
    return node != WG_NONE && graph_node(m->graph, node)->op == op && graph_node(m->graph, node)->kind != WG_KIND_BOOL;
}

/* What node reads, where it is a Pad of one position of the last axis by +0 at `start`; WG_NONE: it is none. Covers the Pad. */
static uint32_t padded_at(plan_matcher *m, uint32_t node, int64_t start)
{
    if (!is_row(m, node, WG_OP_Pad) || !plan_match_cover(m, node)) return WG_NONE;
    const wg_node *n = graph_node(m->graph, node);
    bool last = graph_attribute(m->graph, n, GRAPH_ATTRIBUTE(Pad, axis)) == (int64_t)n->rank - 1;
    bool there = graph_attribute(m->graph, n, GRAPH_ATTRIBUTE(Pad, start)) == start;
    there = there && graph_attribute(m->graph, n, GRAPH_ATTRIBUTE(Pad, value)) == 0;
    return last && there && graph_shape(m->graph, graph_node(m->graph, n->operands[0]))[n->rank - 1] == 1 ? n->operands[0] : WG_NONE;
}

/* A Mul of Convert(the comparison, or its Not), covered with those two: answers what is multiplied, and the comparison. */
static uint32_t let_through(plan_matcher *m, uint32_t node, bool negated, uint32_t *equal)
{
    uint32_t mask = is_row(m, node, WG_OP_Mul) ? plan_match_operand(m, node, 0) : WG_NONE;
    if (!is_row(m, mask, WG_OP_Convert) || !plan_match_cover(m, node) || !plan_match_cover(m, mask)) return WG_NONE;
    *equal = plan_match_operand(m, mask, 0);
    if (negated) {
        if (graph_node(m->graph, *equal)->op != WG_OP_Not || !plan_match_cover(m, *equal)) return WG_NONE;
        *equal = plan_match_operand(m, *equal, 0);
    }
    return plan_match_operand(m, node, 1);
}

/* The value whose bits stand at an operand of a comparison. */
static uint32_t bits_of(plan_matcher *m, uint32_t equal, uint32_t operand)
{
    uint32_t bits = graph_node(m->graph, equal)->op == WG_OP_Equal ? plan_match_operand(m, equal, operand) : WG_NONE;
    return is_row(m, bits, WG_OP_Bitcast) && plan_match_cover(m, bits) ? plan_match_operand(m, bits, 0) : WG_NONE;
}

/* One position of the axis on the way down: `came` came to it; the comparison passes it on to the positions before, or keeps it. */
typedef struct going_back {
    uint32_t came, equal;
} going_back;

/* What is padded at position j, and for j above 0 what came to it. */
static bool kept_at(plan_matcher *m, uint32_t pad, int64_t j, going_back *at)
{
    at->came = padded_at(m, pad, j);
    if (at->came == WG_NONE || j == 0) return at->came != WG_NONE;
    at->came = let_through(m, at->came, true, &at->equal);
    return at->came != WG_NONE;
}

/* Positions from the last down to 1: what comes is kept where the Maximum of the positions up to this one is not that of those before it,
 * and goes on to them where it is, by its bits. Position 0 gets what is left. */
static bool fold_gradient(plan_matcher *m, const plan_step *step)
{
    uint32_t sum = plan_match_operand(m, m->places[step->from], 0), pads[FOLD_GRADIENT_MOST], equal = WG_NONE;
    int64_t last = 0, count = 0;
    for (; is_row(m, sum, WG_OP_Add) && last + 1 < FOLD_GRADIENT_MOST && plan_match_cover(m, sum); sum = plan_match_operand(m, sum, 0)) last++;
    if (last < 1) return false;
    sum = plan_match_operand(m, m->places[step->from], 0);
    for (; count < last; sum = plan_match_operand(m, sum, 0)) pads[count++] = plan_match_operand(m, sum, 1);
    pads[last] = sum;
    going_back here, next;
    if (!kept_at(m, pads[last], last, &here)) return false;
    uint32_t top = bits_of(m, here.equal, 1), greatest = top;
    for (int64_t j = last; j >= 1; j--, here = next) {
        if (!kept_at(m, pads[j - 1], j - 1, &next) || let_through(m, next.came, false, &equal) != here.came) return false;
        if (equal != here.equal || bits_of(m, equal, 1) != greatest || !is_row(m, greatest, WG_OP_Maximum)) return false;
        greatest = plan_match_operand(m, greatest, 0);
        if (bits_of(m, equal, 0) != greatest || !plan_match_cover(m, equal)) return false;
    }
    return is_row(m, greatest, WG_OP_Narrow) && fold(m, step, top);
}

static bool source_at(const plan_matcher *m, uint32_t node)
{
    return graph_rows[graph_node(m->graph, node)->op].result == GRAPH_RESULT_SOURCE;
}

static bool number_at(const plan_matcher *m, uint32_t node, double number)
{
    return node != WG_NONE && plan_is_number(m->graph, node, number);
}

/* One operand of the root is the number, the right one first; the other is what was asked for. */
static bool beside(plan_matcher *m, const plan_step *step)
{
    uint32_t left = plan_match_operand(m, m->places[0], 0), right = plan_match_operand(m, m->places[0], 1);
    bool at_right = number_at(m, right, step->number);
    m->places[step->place] = at_right ? left : right;
    return at_right || number_at(m, left, step->number);
}

static bool piece(plan_matcher *m, const plan_step *step)
{
    static uint32_t (*const pieces[])(plan_matcher *, uint32_t) = {
#define PIECE(name, what) plan_piece_##name,
#include "plan/pieces.def"
    };
    uint32_t from = m->places[step->from], node = step->operand == ITSELF ? from : plan_match_operand(m, from, step->operand);
    return node != WG_NONE && (m->places[step->place] = pieces[step->op](m, node)) != WG_NONE;
}

/* One operand is the piece, the left one first; what the left one covered in vain is uncovered. */
static bool either(plan_matcher *m, const plan_step *step)
{
    uint32_t before = m->covered_count;
    plan_step one = *step;
    for (one.operand = 0; one.operand < 2; one.operand++) {
        if (piece(m, &one)) return true;
        m->covered_count = before;
    }
    return false;
}

bool plan_match_pair(const plan_matcher *m, uint32_t node, wg_op op, uint32_t *found, uint32_t *other)
{
    for (uint32_t k = 0; k < 2; k++) {
        *found = plan_match_operand(m, node, k);
        *other = plan_match_operand(m, node, 1 - k);
        if (*found != WG_NONE && *other != WG_NONE && graph_node(m->graph, *found)->op == op) return true;
    }
    return false;
}

/* One operand is of that row and covered; the other stays outside. */
static bool pair(plan_matcher *m, const plan_step *step)
{
    uint32_t found, other;
    if (!plan_match_pair(m, m->places[step->from], (wg_op)step->op, &found, &other)) return false;
    m->places[step->place] = found;
    m->places[step->operand] = other;
    return plan_match_cover(m, found);
}

static bool run_step(plan_matcher *m, const plan_step *step)
{
    switch ((plan_step_action)step->action) {
    case STEP_TAKE: return take(m, step);
    case STEP_SEE: return (m->places[step->place] = plan_match_operand(m, m->places[step->from], step->operand)) != WG_NONE;
    case STEP_SOURCE: return source_at(m, m->places[step->place]);
    case STEP_SAME: return plan_match_operand(m, m->places[step->from], step->operand) == m->places[step->place];
    case STEP_FOLD: return fold(m, step, plan_match_operand(m, m->places[step->from], 0));
    case STEP_FOLD_GRADIENT: return fold_gradient(m, step);
    case STEP_PIECE: return piece(m, step);
    case STEP_EITHER: return either(m, step);
    case STEP_PAIR: return pair(m, step);
    case STEP_RESULT: m->results[m->result_count++] = m->places[step->place]; return true;
    case STEP_NUMBER: return number_at(m, plan_match_operand(m, m->places[step->from], step->operand), step->number);
    case STEP_BESIDE: return beside(m, step);
    case STEP_PART:
    case STEP_ALSO:
    case STEP_OPTION: break;
    }
    return true;
}

bool plan_match_at(plan_matcher *m, uint32_t pattern, uint32_t root)
{
    m->places[0] = root;
    m->covered_count = m->result_count = 0;
    if (!plan_match_cover(m, root)) return false;
    for (const plan_step *step = m->patterns->first[pattern]; step->action != STEP_PART; step++) {
        if (step->action != STEP_OPTION) {
            if (!run_step(m, step)) return false;
            continue;
        }
        uint32_t before = m->covered_count, count = step->operand, done = 0;
        while (done < count && take(m, step + 1 + done)) done++;
        if (done < count) m->covered_count = before;
        step += count;
    }
    return !m->failed;
}
