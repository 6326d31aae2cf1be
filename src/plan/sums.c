/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Sums that one stage makes: Add(Add(t1, t2), t3) .., of products, or of zero-padded pieces, each of which nothing else reads. Reverse
 * derivatives record them: what a value that is read at many steps gets from each of them.
 *
 * Products: each is one depth block, so that the sum is the product whose blocks these are (a product of more blocks adds them up before
 * it is added itself, which is another sum). Their depth is the same at all probes; exec looks at it again. */
#include "plan/passes.h"

typedef struct summing {
    const wg_plan *plan;
    const plan_work *work;
    const plan_probes *probes;
    const uint8_t *role;
} summing;

/* Nothing but its one reader sees it. */
static bool is_handed_on(const summing *s, uint32_t index)
{
    return !s->plan->lasts[index] && s->work->reader_begin[index + 1] - s->work->reader_begin[index] == 1;
}

static bool is_one_block(const summing *s, const wg_node *product)
{
    const wg_node *left = graph_node(s->plan->graph, graph_operands(s->plan->graph, product)[0]);
    int64_t told = graph_attribute(s->plan->graph, product, GRAPH_ATTRIBUTE(MatMul, accumulate)), shape[WG_MAX_RANK], depth = -1;
    if ((product->kind != WG_KIND_F32 && product->kind != WG_KIND_F64) || left->kind != product->kind) return false;
    if (told != GRAPH_BY_RULE && told != product->kind) return false;
    for (uint32_t probe = 0; probe < s->probes->count; probe++) {
        if (!plan_probe_shape(s->plan->graph, s->probes, probe, left, shape)) return false;
        if (probe > 0 && shape[left->rank - 1] != depth) return false;
        depth = shape[left->rank - 1];
    }
    return depth <= PLAN_DEPTH_BLOCK;
}

/* By +0: the bits of the number tell. */
static bool pads_with_zeros(const summing *s, const wg_node *pad)
{
    int64_t bits = graph_attribute(s->plan->graph, pad, GRAPH_ATTRIBUTE(Pad, value));
    return bits == 0 && !base_kind_is_complex((wg_kind)pad->kind) && !base_kind_is_block((wg_kind)pad->kind) && pad->kind != WG_KIND_BOOL;
}

/* What a sum may have as a term: the op, WG_OP_COUNT: nothing. */
static wg_op term_op(const summing *s, uint32_t index)
{
    const wg_node *node = plan_node(s->plan, index);
    bool good = (s->role[index] == PLAN_ROLE_PRODUCT && node->op == WG_OP_MatMul && is_handed_on(s, index) && is_one_block(s, node)) ||
                (s->role[index] == PLAN_ROLE_CALL && node->op == WG_OP_Pad && is_handed_on(s, index) && pads_with_zeros(s, node));
    return good ? (wg_op)node->op : WG_OP_COUNT;
}

static int64_t pad_axis(const wg_plan *plan, uint32_t index)
{
    return graph_attribute(plan->graph, plan_node(plan, index), GRAPH_ATTRIBUTE(Pad, axis));
}

/* Terms of one sum: of one row, paddings of one axis. */
static bool agree(const wg_plan *plan, uint32_t a, uint32_t b)
{
    return plan_node(plan, a)->op == plan_node(plan, b)->op && (plan_node(plan, a)->op != WG_OP_Pad || pad_axis(plan, a) == pad_axis(plan, b));
}

/* last[i]: the last term of the sum that ends with Add i; WG_NONE: it ends none. */
static void find_sums(const summing *s, uint32_t *last)
{
    for (uint32_t i = 0; i < s->plan->count; i++) {
        last[i] = WG_NONE;
        if (s->role[i] != PLAN_ROLE_MAP || plan_node(s->plan, i)->op != WG_OP_Add) continue;
        for (uint32_t k = 0; k < 2 && last[i] == WG_NONE; k++) {
            uint32_t before = plan_operand_index(s->plan, i, 1 - k), term = plan_operand_index(s->plan, i, k);
            if (term_op(s, term) == WG_OP_COUNT) continue;
            uint32_t other = last[before] != WG_NONE && is_handed_on(s, before) ? last[before] : term_op(s, before) != WG_OP_COUNT ? before : WG_NONE;
            if (other != WG_NONE && agree(s->plan, term, other)) last[i] = term;
        }
    }
}

bool plan_sums_find(const wg_plan *plan, plan_work *work, const plan_probes *probes, uint8_t *role)
{
    summing s = {plan, work, probes, role};
    uint32_t *last = base_arena_take(&work->memory, ((size_t)plan->count + 1) * sizeof *last);
    if (!last) return false;
    find_sums(&s, last);
    for (uint32_t i = plan->count; i-- > 0;) {
        if (last[i] == WG_NONE || role[i] == PLAN_ROLE_COVERED) continue;
        if (role[i] == PLAN_ROLE_MAP) role[i] = plan_node(plan, last[i])->op == WG_OP_MatMul ? PLAN_ROLE_PRODUCT : PLAN_ROLE_PIECES;
        for (uint32_t k = 0; k < 2; k++) role[plan_operand_index(plan, i, k)] = PLAN_ROLE_TERM;
    }
    return true;
}

uint32_t plan_sum_terms(const wg_plan *plan, uint32_t root, uint32_t *terms)
{
    uint32_t count = 0, index = root;
    while (plan_node(plan, index)->op == WG_OP_Add) {
        uint32_t first = plan_operand_index(plan, index, 0), second = plan_operand_index(plan, index, 1);
        bool swapped = plan_node(plan, first)->op != WG_OP_Add && plan_node(plan, second)->op == WG_OP_Add;
        if (terms) terms[count] = swapped ? first : second;
        count++;
        index = swapped ? second : first;
    }
    if (terms) terms[count] = index;
    count++;
    for (uint32_t i = 0; terms && i < count / 2; i++) {
        uint32_t kept = terms[i];
        terms[i] = terms[count - 1 - i];
        terms[count - 1 - i] = kept;
    }
    return count;
}
