/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Rules of elementwise rows. What they answer is equal bit for bit: of floats NaN is one value, and zeros have signs. */
#include "base/bits.h"
#include "plan/rewriter.h"
#include "wengert/run.h"

enum { ROOT, A, B };

static uint32_t below(const rewriter *r, uint32_t node)
{
    return rewriter_operand(r, node, 0);
}

static wg_kind kind_of(const rewriter *r, uint32_t node)
{
    return (wg_kind)rewriter_node(r, node)->kind;
}

/* ---- kinds ---- */

uint32_t plan_rewrite_convert_nothing(rewriter *r, const uint32_t *at)
{
    (void)r;
    return at[A]; /* made where the types are equal, and not otherwise */
}

/* Bits of whole numbers that a kind holds exactly, sign aside. */
static int exact_bits(wg_kind kind)
{
    int width = 8 * base_kinds[kind].bytes;
    switch (base_kinds[kind].class) {
    case BASE_CLASS_BOOL: return 1;
    case BASE_CLASS_SIGNED: return width - 1;
    case BASE_CLASS_UNSIGNED: return width;
    case BASE_CLASS_FLOAT: return kind == WG_KIND_F64 ? 53 : kind == WG_KIND_F32 ? 24 : kind == WG_KIND_F16 ? 11 : 8;
    default: return -1;
    }
}

/* Does every item of `from` have the same value in `to`? */
static bool holds_all(wg_kind from, wg_kind to)
{
    if (from == to) return true;
    if (exact_bits(from) < 0 || exact_bits(to) < 0 || base_kinds[to].class == BASE_CLASS_BOOL) return false;
    if (base_kind_is_float(from)) return to == WG_KIND_F64 || (to == WG_KIND_F32 && from != WG_KIND_F64);
    bool loses_sign = base_kinds[from].class == BASE_CLASS_SIGNED && base_kinds[to].class == BASE_CLASS_UNSIGNED;
    return !loses_sign && exact_bits(from) <= exact_bits(to);
}

uint32_t plan_rewrite_convert_convert(rewriter *r, const uint32_t *at)
{
    uint32_t from = below(r, at[A]);
    wg_size flat[2];
    if (!holds_all(kind_of(r, from), kind_of(r, at[A]))) return WG_NONE;
    rewriter_attributes(r, at[ROOT], flat);
    return rewriter_row(r, WG_OP_Convert, &from, 1, flat, 2);
}

uint32_t plan_rewrite_convert_constant(rewriter *r, const uint32_t *at)
{
    const graph_payload *payload = plan_fill_of(r->tape, at[A]);
    wg_size shape[WG_MAX_RANK];
    if (!payload) return WG_NONE;
    wg_kind from = kind_of(r, at[A]), to = kind_of(r, at[ROOT]);
    bool wrap = rewriter_attribute(r, at[ROOT], GRAPH_ATTRIBUTE(Convert, wrap)) != 0;
    base_number item = base_number_convert(base_number_load(from, payload->tensor->data, 0), from, to, wrap);
    rewriter_shape(r, at[ROOT], shape);
    return rewriter_item(r, to, rewriter_node(r, at[ROOT])->rank, shape, item);
}

/* The oracle's item is every item. */
uint32_t plan_rewrite_constant_row(rewriter *r, const uint32_t *at)
{
    const wg_node *node = rewriter_node(r, at[ROOT]);
    const wg_tensor *items[3];
    wg_size shape[WG_MAX_RANK];
    for (uint32_t i = 0; i < node->operand_count; i++) {
        const graph_payload *payload = plan_fill_of(r->tape, rewriter_operand(r, at[ROOT], i));
        if (!payload) return WG_NONE;
        items[i] = payload->tensor;
    }
    wg_tensor *one = wg_op_run((wg_context *)r->tape->context, (wg_op)node->op, items, node->operand_count, NULL, 0, NULL);
    if (!one) return WG_NONE;
    graph_payload payload = {.form = GRAPH_PAYLOAD_FILL, .tensor = one, .manifest = WG_NONE};
    rewriter_shape(r, at[ROOT], shape);
    uint32_t result = rewriter_constant(r, (wg_kind)node->kind, node->rank, shape, &payload);
    wg_tensor_release(one);
    return result;
}

/* ---- one operand ---- */

uint32_t plan_rewrite_stop_gradient(rewriter *r, const uint32_t *at)
{
    (void)r;
    return at[A];
}

uint32_t plan_rewrite_neg_neg(rewriter *r, const uint32_t *at)
{
    return below(r, at[A]);
}

uint32_t plan_rewrite_not_not(rewriter *r, const uint32_t *at)
{
    return below(r, at[A]);
}

uint32_t plan_rewrite_abs_neg(rewriter *r, const uint32_t *at)
{
    return rewriter_map(r, WG_OP_Abs, below(r, at[A]));
}

uint32_t plan_rewrite_abs_abs(rewriter *r, const uint32_t *at)
{
    /* The smallest integer has no absolute value and stays what it is, both times. */
    (void)r;
    return at[A];
}

uint32_t plan_rewrite_round_whole(rewriter *r, const uint32_t *at)
{
    return rewriter_range(r, at[A])->whole ? at[A] : WG_NONE;
}

/* ---- two operands ---- */

uint32_t plan_rewrite_mul_one(rewriter *r, const uint32_t *at)
{
    (void)r;
    return at[A];
}

uint32_t plan_rewrite_mul_minus_one(rewriter *r, const uint32_t *at)
{
    return rewriter_map(r, WG_OP_Neg, at[A]);
}

uint32_t plan_rewrite_div_one(rewriter *r, const uint32_t *at)
{
    (void)r;
    return at[A];
}

/* The exact quotient and the exact product by the reciprocal are one number, and both rows round it once. */
uint32_t plan_rewrite_div_power_of_two(rewriter *r, const uint32_t *at)
{
    const graph_payload *payload = plan_fill_of(r->tape, at[B]);
    wg_kind kind = kind_of(r, at[B]);
    if (!payload || !base_kind_is_float(kind)) return WG_NONE;
    double divisor = base_number_load(kind, payload->tensor->data, 0).d;
    uint64_t bits = base_bits_of_f64(divisor), fraction = bits & (((uint64_t)1 << 52) - 1), exponent = bits >> 52 & 0x7ff;
    if (fraction || exponent < 2 || exponent > 0x7fd - 1) return WG_NONE;
    base_number reciprocal = {.d = 1 / divisor}, item;
    wg_size shape[WG_MAX_RANK];
    if (!base_number_exact(reciprocal, WG_KIND_F64, kind, &item)) return WG_NONE;
    rewriter_shape(r, at[B], shape);
    return rewriter_map2(r, WG_OP_Mul, at[A], rewriter_item(r, kind, rewriter_node(r, at[B])->rank, shape, item));
}

uint32_t plan_rewrite_add_zero(rewriter *r, const uint32_t *at)
{
    (void)r;
    return at[A];
}

uint32_t plan_rewrite_sub_zero(rewriter *r, const uint32_t *at)
{
    (void)r;
    return at[A];
}

uint32_t plan_rewrite_add_neg(rewriter *r, const uint32_t *at)
{
    return rewriter_map2(r, WG_OP_Sub, below(r, at[ROOT]), below(r, at[A]));
}

uint32_t plan_rewrite_sub_neg(rewriter *r, const uint32_t *at)
{
    return rewriter_map2(r, WG_OP_Add, below(r, at[ROOT]), below(r, at[A]));
}

uint32_t plan_rewrite_both_same(rewriter *r, const uint32_t *at)
{
    (void)r;
    return at[A];
}

/* Every item of `least` is at least every item of `other`, so that the greater of two is the first. Of two zeros the sign would tell. */
static bool stands_above(const rewriter *r, uint32_t least, uint32_t other)
{
    const graph_range *a = rewriter_range(r, least), *b = rewriter_range(r, other);
    if (b->nan || !rewriter_quiet(r, other)) return false;
    return a->low > b->high || (a->low == b->high && (a->low != 0 || !rewriter_is_float(r, least)));
}

uint32_t plan_rewrite_clamp_above(rewriter *r, const uint32_t *at)
{
    return stands_above(r, at[A], at[B]) ? at[A] : stands_above(r, at[B], at[A]) ? at[B] : WG_NONE;
}

static bool stands_below(const rewriter *r, uint32_t most, uint32_t other)
{
    const graph_range *a = rewriter_range(r, most), *b = rewriter_range(r, other);
    if (b->nan || !rewriter_quiet(r, other)) return false;
    return a->high < b->low || (a->high == b->low && (a->high != 0 || !rewriter_is_float(r, most)));
}

uint32_t plan_rewrite_clamp_below(rewriter *r, const uint32_t *at)
{
    return stands_below(r, at[A], at[B]) ? at[A] : stands_below(r, at[B], at[A]) ? at[B] : WG_NONE;
}

/* The items are below a size, which the other node's items are. Kinds that hold no size exactly may hold a lesser number for it. */
static bool below_size(const rewriter *r, uint32_t node, uint32_t size)
{
    if (kind_of(r, node) != WG_KIND_I64) return false;
    wg_size limit = rewriter_range(r, node)->below, bound = rewriter_constant_size(r, size);
    return limit.number >= 0 && graph_size_equal(limit, bound);
}

uint32_t plan_rewrite_residue_inside(rewriter *r, const uint32_t *at)
{
    const graph_range *a = rewriter_range(r, at[A]), *b = rewriter_range(r, at[B]);
    if (rewriter_is_float(r, at[A]) || !rewriter_quiet(r, at[B]) || a->low < 0) return WG_NONE;
    return a->high < b->low || below_size(r, at[A], at[B]) ? at[A] : WG_NONE;
}

/* ---- comparison, choice ---- */

uint32_t plan_rewrite_not_comparison(rewriter *r, const uint32_t *at)
{
    static const struct {
        wg_op is, opposite;
        bool of_nan; /* also where an item is NaN */
    } opposites[] = {{WG_OP_Equal, WG_OP_NotEqual, true},           {WG_OP_NotEqual, WG_OP_Equal, true},
                     {WG_OP_Less, WG_OP_GreaterEqual, false},       {WG_OP_GreaterEqual, WG_OP_Less, false},
                     {WG_OP_LessEqual, WG_OP_Greater, false},       {WG_OP_Greater, WG_OP_LessEqual, false}};
    if (!rewriter_sole(r, at[A])) return WG_NONE;
    for (size_t i = 0; i < sizeof opposites / sizeof *opposites; i++) {
        if (rewriter_op(r, at[A]) != opposites[i].is) continue;
        uint32_t left = rewriter_operand(r, at[A], 0), right = rewriter_operand(r, at[A], 1);
        bool nan = rewriter_range(r, left)->nan || rewriter_range(r, right)->nan;
        return nan && !opposites[i].of_nan ? WG_NONE : rewriter_map2(r, opposites[i].opposite, left, right);
    }
    return WG_NONE;
}

/* 1: a < b of all items, 0: of none, -1: it depends. NaN compares with nothing. */
static int always_less(const rewriter *r, uint32_t a, uint32_t b, bool or_equal)
{
    const graph_range *left = rewriter_range(r, a), *right = rewriter_range(r, b);
    bool nan = left->nan || right->nan;
    if (!nan && (left->high < right->low || (or_equal && left->high == right->low))) return 1;
    if (!nan && below_size(r, a, b)) return 1;
    if (left->low > right->high || (!or_equal && left->low == right->high)) return 0;
    return below_size(r, b, a) ? 0 : -1;
}

uint32_t plan_rewrite_comparison_decided(rewriter *r, const uint32_t *at)
{
    wg_op op = rewriter_op(r, at[ROOT]);
    bool turned = op == WG_OP_Greater || op == WG_OP_GreaterEqual, or_equal = op == WG_OP_LessEqual || op == WG_OP_GreaterEqual;
    int answer = always_less(r, at[turned ? B : A], at[turned ? A : B], or_equal);
    wg_size shape[WG_MAX_RANK];
    if (answer < 0 || !rewriter_quiet(r, at[ROOT])) return WG_NONE;
    rewriter_shape(r, at[ROOT], shape);
    return rewriter_number(r, WG_KIND_BOOL, rewriter_node(r, at[ROOT])->rank, shape, answer);
}

uint32_t plan_rewrite_select_constant(rewriter *r, const uint32_t *at)
{
    const graph_payload *payload = plan_fill_of(r->tape, at[A]);
    if (!payload) return WG_NONE;
    bool chosen = base_number_load(WG_KIND_BOOL, payload->tensor->data, 0).u != 0;
    return rewriter_quiet(r, rewriter_operand(r, at[ROOT], chosen ? 2 : 1)) ? rewriter_operand(r, at[ROOT], chosen ? 1 : 2) : WG_NONE;
}

uint32_t plan_rewrite_select_same(rewriter *r, const uint32_t *at)
{
    return rewriter_quiet(r, rewriter_operand(r, at[ROOT], 0)) ? at[A] : WG_NONE;
}

uint32_t plan_rewrite_select_not(rewriter *r, const uint32_t *at)
{
    uint32_t operands[] = {below(r, at[A]), rewriter_operand(r, at[ROOT], 2), rewriter_operand(r, at[ROOT], 1)};
    return rewriter_row(r, WG_OP_Select, operands, 3, NULL, 0);
}
