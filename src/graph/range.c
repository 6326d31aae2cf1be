/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The rules of range.def. An integer result that may leave its kind wraps, so it has its kind's range; a float result is widened by more
 * than its rounding, unless it is a whole number that its kind holds exactly. */
#include "graph/range.h"

#include "base/bits.h"

#define INFINITE __builtin_inf()
#define EXACT_INTEGERS 0x1p53

typedef struct range_call {
    const wg_graph *graph;
    const wg_node *node;
    const uint32_t *operands;
    const graph_range *ranges;
} range_call;

static const wg_size UNBOUNDED = {-1, 0};

static const graph_range *operand(const range_call *call, uint32_t index)
{
    return &call->ranges[call->operands[index]];
}

static wg_kind kind_of(const range_call *call)
{
    return (wg_kind)call->node->kind;
}

/* ---- intervals of a kind ---- */

static graph_range range_kind(const range_call *call)
{
    wg_kind kind = kind_of(call);
    int bits = 8 * base_kinds[kind].bytes;
    graph_range range = {-INFINITE, INFINITE, false, true, UNBOUNDED};
    switch (base_kinds[kind].class) {
    case BASE_CLASS_BOOL: range.low = 0, range.high = 1; break;
    case BASE_CLASS_SIGNED:
        if (bits < 64) range.high = (double)(((int64_t)1 << (bits - 1)) - 1), range.low = -range.high - 1;
        break;
    case BASE_CLASS_UNSIGNED:
    case BASE_CLASS_CHARACTER:
        range.low = 0;
        if (bits < 64) range.high = (double)(((int64_t)1 << bits) - 1);
        break;
    default: range.nan = true, range.whole = false;
    }
    return range;
}

/* Whole numbers up to this are items of the kind. */
static double whole_limit(wg_kind kind)
{
    switch (kind) {
    case WG_KIND_F16: return 0x1p11;
    case WG_KIND_BF16: return 0x1p8;
    case WG_KIND_F32: return 0x1p24;
    default: return EXACT_INTEGERS;
    }
}

static double rounding(wg_kind kind)
{
    return kind == WG_KIND_F16 ? 0x1p-9 : kind == WG_KIND_BF16 ? 0x1p-6 : kind == WG_KIND_F32 ? 0x1p-22 : 0x1p-50;
}

static double widened(wg_kind kind, double bound, double sign)
{
    if (bound - bound != 0) return bound;
    double moved = bound + sign * ((bound < 0 ? -bound : bound) * rounding(kind) + 0x1p-24);
    double limit = kind == WG_KIND_F16 ? 60000 : kind == WG_KIND_F64 ? 0x1p1000 : 0x1p126;
    return sign < 0 ? (moved < -limit ? -INFINITE : moved) : moved > limit ? INFINITE : moved;
}

/* A computed interval as items of the call's kind. An interval of NaN says nothing. */
static graph_range settled(const range_call *call, double low, double high, bool nan, bool whole)
{
    graph_range all = range_kind(call), range = {low, high, nan, whole, UNBOUNDED};
    wg_kind kind = kind_of(call);
    if (!(low <= high)) return all;
    if (base_kind_is_float(kind)) {
        double limit = whole_limit(kind);
        if (whole && low >= -limit && high <= limit) return range;
        range.low = widened(kind, low, -1);
        range.high = widened(kind, high, 1);
        range.whole = whole; /* rounding a whole number answers one */
        return range;
    }
    range.nan = false;
    range.whole = true;
    bool fits = low >= all.low && high <= all.high && low >= -EXACT_INTEGERS && high <= EXACT_INTEGERS;
    return fits ? range : all;
}

/* Does arithmetic on operands with such bounds make NaN by itself: infinities that cancel, zero times infinity? */
static bool endless(const graph_range *range)
{
    return range->low - range->low != 0 || range->high - range->high != 0;
}

/* An operand's bounds hold for the result's kind as they are: integers of 64 bits have no bounds that would tell of wrapping. */
static bool bounded(const range_call *call, const graph_range *range)
{
    return base_kind_is_float(kind_of(call)) || !endless(range);
}

static graph_range united(const graph_range *a, const graph_range *b)
{
    graph_range range = {a->low < b->low ? a->low : b->low, a->high > b->high ? a->high : b->high, a->nan || b->nan, a->whole && b->whole,
                         graph_size_equal(a->below, b->below) ? a->below : UNBOUNDED};
    return range;
}

static graph_range of_number(const range_call *call, base_number number)
{
    double value = base_number_to_double(kind_of(call), number);
    bool is_float = base_kind_is_float(kind_of(call)), finite = value - value == 0;
    if (value != value) return (graph_range){INFINITE, -INFINITE, true, true, UNBOUNDED};
    if (!is_float && (value > EXACT_INTEGERS || value < -EXACT_INTEGERS)) return range_kind(call);
    bool whole = !is_float || !finite || value >= EXACT_INTEGERS || value <= -EXACT_INTEGERS || value == (double)(int64_t)value;
    return (graph_range){value, value, false, whole, UNBOUNDED};
}

/* ---- sources ---- */

/* Constants of more items are not read. */
#define READ_ITEMS 256

static graph_range range_leaf(const range_call *call)
{
    const graph_payload *payload = graph_payload_of(call->graph, call->node);
    if (payload->form == GRAPH_PAYLOAD_FILL) return of_number(call, base_number_load(kind_of(call), payload->tensor->data, 0));
    int64_t count = payload->form == GRAPH_PAYLOAD_DENSE ? payload->tensor->volume : 0;
    if (count < 1 || count > READ_ITEMS) return range_kind(call);
    graph_range range = of_number(call, base_number_load(kind_of(call), payload->tensor->data, 0));
    for (int64_t i = 1; i < count; i++) {
        graph_range item = of_number(call, base_number_load(kind_of(call), payload->tensor->data, i));
        range = united(&range, &item);
    }
    return range;
}

/* 0 .. extent - 1. An extent that follows a name may have any number, but every position is below it. */
static graph_range positions_of(const range_call *call, wg_size extent)
{
    graph_range range = range_kind(call);
    range.low = 0;
    range.nan = false;
    range.whole = true;
    range.below = extent;
    if (!extent.expression && extent.number >= 1 && (double)(extent.number - 1) < range.high) range.high = (double)(extent.number - 1);
    return range;
}

static wg_size extent_of(const range_call *call, const wg_node *node, int64_t axis)
{
    graph_list shape = graph_list_at(call->graph, node->shape);
    return (wg_size){shape.numbers[axis], shape.expressions ? shape.expressions[axis] : 0};
}

/* Positions as numbers of the kind: those beyond it saturate, or are rounded, up too. */
static graph_range range_iota(const range_call *call)
{
    wg_size extent = extent_of(call, call->node, graph_attribute(call->graph, call->node, GRAPH_ATTRIBUTE(Iota, axis)));
    graph_range range = positions_of(call, extent);
    if (!base_kind_is_float(kind_of(call))) return range;
    return range.high <= whole_limit(kind_of(call)) ? range : (graph_range){0, INFINITE, false, true, UNBOUNDED};
}

static graph_range range_draw(const range_call *call)
{
    int64_t distribution = graph_attribute(call->graph, call->node, GRAPH_ATTRIBUTE(Draw, distribution));
    if (distribution != GRAPH_DISTRIBUTION_UNIFORM) return range_kind(call);
    return (graph_range){0, 1, false, false, UNBOUNDED};
}

/* ---- items that are moved ---- */

static graph_range range_first(const range_call *call)
{
    return *operand(call, 0);
}

static graph_range range_concat(const range_call *call)
{
    graph_range range = *operand(call, 0);
    for (uint32_t i = 1; i < call->node->operand_count; i++) range = united(&range, operand(call, i));
    return range;
}

static graph_range range_select(const range_call *call)
{
    return united(operand(call, 1), operand(call, 2));
}

static graph_range range_update(const range_call *call)
{
    return united(operand(call, 0), operand(call, 1));
}

static graph_range with_real(const range_call *call, uint32_t attribute)
{
    graph_range value = of_number(call, base_number_from_double(kind_of(call), base_real(graph_attribute(call->graph, call->node, attribute))));
    return united(operand(call, 0), &value);
}

static graph_range range_pad(const range_call *call)
{
    return with_real(call, GRAPH_ATTRIBUTE(Pad, value));
}

static graph_range range_gather(const range_call *call)
{
    bool fills = graph_attribute(call->graph, call->node, GRAPH_ATTRIBUTE(Gather, outside)) == GRAPH_OUTSIDE_FILL;
    return fills ? with_real(call, GRAPH_ATTRIBUTE(Gather, fill)) : *operand(call, 0);
}

/* ---- arithmetic ---- */

static graph_range range_add(const range_call *call)
{
    const graph_range *a = operand(call, 0), *b = operand(call, 1);
    if (!bounded(call, a) || !bounded(call, b)) return range_kind(call);
    return settled(call, a->low + b->low, a->high + b->high, a->nan || b->nan || (endless(a) && endless(b)), a->whole && b->whole);
}

static graph_range range_sub(const range_call *call)
{
    const graph_range *a = operand(call, 0), *b = operand(call, 1);
    if (!bounded(call, a) || !bounded(call, b)) return range_kind(call);
    return settled(call, a->low - b->high, a->high - b->low, a->nan || b->nan || (endless(a) && endless(b)), a->whole && b->whole);
}

static graph_range range_mul(const range_call *call)
{
    const graph_range *a = operand(call, 0), *b = operand(call, 1);
    bool both = call->operands[0] == call->operands[1]; /* a square */
    if (endless(a) || endless(b)) {
        graph_range all = range_kind(call);
        if (both && base_kind_is_float(kind_of(call))) all.low = 0, all.nan = a->nan;
        return all;
    }
    double corner[4] = {a->low * b->low, a->low * b->high, a->high * b->low, a->high * b->high}, low = corner[0], high = corner[0];
    for (int i = 1; i < 4; i++) {
        if (corner[i] < low) low = corner[i];
        if (corner[i] > high) high = corner[i];
    }
    graph_range range = settled(call, low, high, a->nan || b->nan, a->whole && b->whole);
    if (both && base_kind_is_float(kind_of(call)) && range.low < 0) range.low = 0;
    return range;
}

static graph_range range_neg(const range_call *call)
{
    const graph_range *a = operand(call, 0);
    return bounded(call, a) ? settled(call, -a->high, -a->low, a->nan, a->whole) : range_kind(call);
}

static graph_range range_abs(const range_call *call)
{
    const graph_range *a = operand(call, 0);
    if (!bounded(call, a)) return range_kind(call); /* the smallest integer stays what it is */
    double most = -a->low > a->high ? -a->low : a->high, least = a->low > 0 ? a->low : a->high < 0 ? -a->high : 0;
    return settled(call, least, most, a->nan, a->whole);
}

static graph_range range_sign(const range_call *call)
{
    const graph_range *a = operand(call, 0);
    return settled(call, a->low > 0 ? 1 : a->low >= 0 ? 0 : -1, a->high < 0 ? -1 : a->high <= 0 ? 0 : 1, a->nan, true);
}

/* Of an integer without bounds the comparison with one that has some still says something. */
static graph_range range_maximum(const range_call *call)
{
    const graph_range *a = operand(call, 0), *b = operand(call, 1);
    return (graph_range){a->low > b->low ? a->low : b->low, a->high > b->high ? a->high : b->high, a->nan || b->nan, a->whole && b->whole,
                         graph_size_equal(a->below, b->below) ? a->below : UNBOUNDED};
}

static graph_range range_minimum(const range_call *call)
{
    const graph_range *a = operand(call, 0), *b = operand(call, 1);
    return (graph_range){a->low < b->low ? a->low : b->low, a->high < b->high ? a->high : b->high, a->nan || b->nan, a->whole && b->whole,
                         a->below.number >= 0 ? a->below : b->below};
}

/* The divisor gives the sign: 0 .. divisor. By zero integers answer 0. */
static graph_range range_residue(const range_call *call)
{
    const graph_range *a = operand(call, 0), *b = operand(call, 1);
    bool is_float = base_kind_is_float(kind_of(call));
    if (endless(b)) return range_kind(call);
    double less = !is_float && b->whole ? 1 : 0, high = b->high > 0 ? b->high - less : 0, low = b->low < 0 ? b->low + less : 0;
    bool nan = a->nan || b->nan || (is_float && (endless(a) || (b->low <= 0 && b->high >= 0)));
    return settled(call, low, high, nan, a->whole && b->whole);
}

/* Of bounds that fit; others, infinities among them, are whole. */
static double toward_zero(double bound)
{
    return bound > -EXACT_INTEGERS && bound < EXACT_INTEGERS ? (double)(int64_t)bound : bound;
}

/* The whole numbers around the bounds hold, whichever way items are rounded. */
static graph_range range_rounded(const range_call *call)
{
    graph_range range = *operand(call, 0);
    if (range.whole) return range;
    double low = toward_zero(range.low), high = toward_zero(range.high);
    return (graph_range){low > range.low ? low - 1 : low, high < range.high ? high + 1 : high, range.nan, true, UNBOUNDED};
}

static graph_range range_positive(const range_call *call)
{
    graph_range range = range_kind(call);
    range.low = 0;
    range.nan = operand(call, 0)->nan || (call->node->op == WG_OP_Sqrt && operand(call, 0)->low < 0);
    return range;
}

/* Rounded results of what lies within -1 .. 1 do too, as these are items. */
static graph_range range_unit(const range_call *call)
{
    bool periodic = call->node->op == WG_OP_Sin || call->node->op == WG_OP_Cos;
    const graph_range *a = operand(call, 0);
    return (graph_range){-1, 1, a->nan || (periodic && endless(a)), false, UNBOUNDED};
}

static graph_range range_truth(const range_call *call)
{
    (void)call;
    return (graph_range){0, 1, false, true, UNBOUNDED};
}

/* Bits of both are at most the lesser, where neither is negative. */
static graph_range range_bits(const range_call *call)
{
    const graph_range *a = operand(call, 0), *b = operand(call, 1);
    graph_range range = range_kind(call);
    if (a->low < 0 && b->low < 0) return range;
    range.low = 0;
    if (a->low >= 0 && a->high < range.high) range.high = a->high;
    if (b->low >= 0 && b->high < range.high) range.high = b->high;
    return range;
}

static graph_range range_convert(const range_call *call)
{
    const graph_range *a = operand(call, 0);
    wg_kind kind = kind_of(call), from = (wg_kind)graph_node(call->graph, call->operands[0])->kind;
    graph_range all = range_kind(call);
    if (kind == from) return *a;
    if (base_kinds[kind].class == BASE_CLASS_BOOL) return all;
    if (base_kind_is_float(kind)) return settled(call, a->low, a->high, a->nan, a->whole);
    bool wrap = graph_attribute(call->graph, call->node, GRAPH_ATTRIBUTE(Convert, wrap)) != 0;
    double low = toward_zero(a->low), high = toward_zero(a->high);
    if (a->nan) low = low < 0 ? low : 0, high = high > 0 ? high : 0; /* NaN gives 0 */
    if (wrap && (low < all.low || high > all.high || endless(a))) return all;
    if (low > high) return all;
    low = low < all.low ? all.low : low > all.high ? all.high : low;
    high = high > all.high ? all.high : high < all.low ? all.low : high;
    if (low > EXACT_INTEGERS || high < -EXACT_INTEGERS) return all;
    if (low < -EXACT_INTEGERS) low = -INFINITE;
    if (high > EXACT_INTEGERS) high = INFINITE;
    bool same = !base_kind_is_float(from) && base_kinds[kind].bytes >= base_kinds[from].bytes;
    return (graph_range){low, high, false, true, same ? a->below : UNBOUNDED};
}

/* ---- folds and order ---- */

/* Of no items max and min answer the infinities, and, all, or and xor none: those of a bool stay a bool. */
static graph_range range_reduce(const range_call *call)
{
    int64_t op = graph_attribute(call->graph, call->node, GRAPH_ATTRIBUTE(Reduce, op));
    if (op != GRAPH_FOLDING_MAX && op != GRAPH_FOLDING_MIN) return range_kind(call);
    graph_range range = *operand(call, 0);
    const wg_node *of = graph_node(call->graph, call->operands[0]);
    wg_size extent = extent_of(call, of, graph_attribute(call->graph, call->node, GRAPH_ATTRIBUTE(Reduce, axis)));
    bool empty = base_kind_is_float(kind_of(call)) && (extent.expression || extent.number == 0);
    if (empty && op == GRAPH_FOLDING_MAX) range.low = -INFINITE;
    if (empty && op == GRAPH_FOLDING_MIN) range.high = INFINITE;
    if (empty) range.below = UNBOUNDED;
    return range;
}

static graph_range range_position(const range_call *call)
{
    const wg_node *of = graph_node(call->graph, call->operands[0]);
    return positions_of(call, extent_of(call, of, graph_attribute(call->graph, call->node, 0)));
}

/* Places that are left over hold -1. */
static graph_range range_where(const range_call *call)
{
    graph_range range = range_kind(call);
    range.low = -1;
    return range;
}

static graph_range range_up_to(const range_call *call, wg_size most)
{
    graph_range range = range_kind(call);
    range.low = 0;
    if (!most.expression && (double)most.number <= EXACT_INTEGERS) range.high = (double)most.number;
    return range;
}

static graph_range range_first_index(const range_call *call)
{
    return range_up_to(call, extent_of(call, graph_node(call->graph, call->operands[0]), 0));
}

static graph_range range_bins(const range_call *call)
{
    return range_up_to(call, extent_of(call, graph_node(call->graph, call->operands[1]), 0));
}

/* ---- the table ---- */

typedef graph_range (*range_rule)(const range_call *call);

#define RANGE(Name, rule) enum { RANGE_OF_##Name = 1 };
#include "graph/range.def"
#define OP(Name, ...) _Static_assert(RANGE_OF_##Name, "every row has a rule");
#include "wengert/ops.def"

static const range_rule rules[WG_OP_COUNT] = {
#define RANGE(Name, rule) [WG_OP_##Name] = range_##rule,
#include "graph/range.def"
};

void graph_range_of(const wg_graph *graph, uint32_t position, graph_range *ranges)
{
    const wg_node *node = graph_node(graph, position);
    range_call call = {graph, node, graph_operands(graph, node), ranges};
    ranges[position] = base_kind_is_complex((wg_kind)node->kind) ? range_kind(&call) : rules[node->op](&call); /* complex numbers have no order */
}

void graph_ranges(const wg_graph *graph, uint32_t prefix, graph_range *ranges)
{
    for (uint32_t position = 0; position < prefix; position++) graph_range_of(graph, position, ranges);
}
