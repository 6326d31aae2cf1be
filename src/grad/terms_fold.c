/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Terms of folds along an axis: Reduce, Scan, LogSoftmax, LogSumExp. `n` is the extent of the axis, i a position of it, y the result.
 *
 * A Reduce by max or min is a read at one position; any other is a sum of weights: dy = sum of w[i] * da[i], where no weight divides by an
 * item that may be 0. A Scan is the recurrence dy[i] = m[i] * dy[i-1] + b[i] * da[i]; where m is 1 throughout it is a running sum. */
#include "grad/grad.h"

/* ---- shifts and positions ---- */

static wg_size less_one(wg_tape *tape, wg_size n)
{
    return wg_size_subtract(tape, n, wg_number(1));
}

/* What stood `by` positions before (by < 0: behind), `value` where nothing did. */
static wg_value shifted(wg_value a, uint32_t axis, int64_t by, double value)
{
    wg_size n = wg_value_size(a, axis), far = wg_number(by < 0 ? -by : by), zero = wg_number(0);
    wg_value kept = wg_narrow(a, axis, by < 0 ? far : zero, wg_size_subtract(a.tape, n, far));
    return wg_pad(kept, axis, by < 0 ? zero : far, n, value);
}

static wg_value all_but_last(wg_value a, uint32_t axis)
{
    return wg_narrow(a, axis, wg_number(0), less_one(a.tape, wg_value_size(a, axis)));
}

static wg_value all_but_first(wg_value a, uint32_t axis)
{
    return wg_narrow(a, axis, wg_number(1), less_one(a.tape, wg_value_size(a, axis)));
}

/* Puts `value` before the first position of an axis, of n in the end. */
static wg_value behind(double value, wg_value a, uint32_t axis, wg_size n)
{
    return wg_pad(a, axis, wg_number(1), n, value);
}

/* i64 of the shape of a: the position along an axis. */
static wg_value positions_like(wg_value a, uint32_t axis)
{
    wg_size shape[WG_MAX_RANK];
    if (wg_is_poison(a)) return a;
    for (uint32_t i = 0; i < wg_value_rank(a); i++) shape[i] = wg_value_size(a, i);
    return wg_iota(a.tape, WG_KIND_I64, wg_value_rank(a), shape, axis);
}

static wg_value odd_positions(wg_value a, uint32_t axis)
{
    wg_value positions = positions_like(a, axis), one = wg_fill_like(positions, 1);
    return wg_equal(wg_and(positions, one), one);
}

/* ---- weights of a Reduce ---- */

/* The product of all other items: of those before by those behind. */
static wg_value product_of_others(wg_value a, uint32_t axis)
{
    wg_value before = shifted(wg_scan(a, "product", axis, false), axis, 1, 1);
    return wg_mul(before, shifted(wg_scan(a, "product", axis, true), axis, -1, 1));
}

/* a0 - (a1 - (a2 - ..)): 1, -1, 1 .. */
static wg_value alternating_weights(wg_value a, uint32_t axis)
{
    wg_value odd = odd_positions(a, axis), minus = wg_fill_like(a, -1);
    return wg_select(odd, minus, wg_fill_like(a, 1));
}

/* a0 / (a1 / (a2 / ..)) is the product of the even items and of the odd ones' reciprocals; d(1/a) = -(1/a)^2 da. */
static wg_value quotient_weights(wg_value a, uint32_t axis)
{
    wg_value odd = odd_positions(a, axis), one = wg_fill_like(a, 1);
    wg_value factors = wg_select(odd, wg_div(one, a), a);
    wg_value others = product_of_others(factors, axis);
    return wg_mul(others, wg_select(odd, wg_neg(wg_mul(factors, factors)), one));
}

/* s[i] = a[i] op s[i+1], s[n-1] = a[n-1]: no row runs this way, so it is recorded item by item. */
static wg_value folds_from(wg_value a, uint32_t axis, int64_t n, wg_value (*op)(wg_value a, wg_value b))
{
    wg_tape *tape = a.tape;
    size_t bytes = (size_t)n * sizeof(wg_value);
    wg_value *parts = n < UINT32_MAX ? base_allocate(tape->allocator, bytes) : NULL;
    if (!parts) return graph_fail(tape, WG_MEMORY, "out of memory");
    for (int64_t i = n; i-- > 0;) {
        wg_value item = wg_narrow(a, axis, wg_number(i), wg_number(1));
        parts[i] = i == n - 1 ? item : op(item, parts[i + 1]);
    }
    wg_value folds = wg_concat(parts, (uint32_t)n, axis);
    base_free(tape->allocator, parts, bytes);
    return folds;
}

static wg_value named_extent(wg_tape *tape, const char *row, const char *op)
{
    graph_fail(tape, WG_UNSUPPORTED, "%s op=%s along a named extent has no derivative: its number of steps is recorded; use a plain size",
               row, op);
    return graph_poison(tape);
}

/* powf and residue: w[i] = (product of ds[k]/ds[k+1] over k < i) * ds[i]/da[i]. */
static wg_value ordered_weights(wg_value a, uint32_t axis, bool powers)
{
    wg_size n = wg_value_size(a, axis);
    if (n.expression) return named_extent(a.tape, "reduce", powers ? "powf" : "residue");
    wg_value s = folds_from(a, axis, n.number, powers ? wg_powf : wg_residue);
    wg_value left = all_but_last(a, axis), right = all_but_first(s, axis), y = all_but_last(s, axis);
    wg_value onward = powers ? grad_powf_exponent(left, right, y) : wg_neg(wg_floor_divide(left, right));
    wg_value own = powers ? grad_powf_base(left, right) : wg_fill_like(left, 1);
    wg_value before = behind(1, wg_scan(onward, "product", axis, false), axis, n);
    return wg_mul(before, wg_pad(own, axis, wg_number(0), n, 1));
}

static wg_value reduce_weights(const grad_site *site, uint32_t axis)
{
    wg_value a = grad_operand(site, 0);
    if (wg_is_poison(a)) return a;
    switch (grad_attribute(site, GRAPH_ATTRIBUTE(Reduce, op))) {
    case GRAPH_FOLDING_PRODUCT: return product_of_others(a, axis);
    case GRAPH_FOLDING_SUB: return alternating_weights(a, axis);
    case GRAPH_FOLDING_DIV: return quotient_weights(a, axis);
    case GRAPH_FOLDING_POWF: return ordered_weights(a, axis, true);
    default: return ordered_weights(a, axis, false);
    }
}

/* The first position of the winner; false where the fold is no choice. */
static bool reduce_position(const grad_site *site, uint32_t axis, wg_value *position)
{
    int64_t op = grad_attribute(site, GRAPH_ATTRIBUTE(Reduce, op));
    if (op != GRAPH_FOLDING_MAX && op != GRAPH_FOLDING_MIN) return false;
    *position = (op == GRAPH_FOLDING_MAX ? wg_arg_max : wg_arg_min)(grad_operand(site, 0), axis);
    return true;
}

wg_value grad_tangent_Reduce_0(const grad_site *site, wg_value t)
{
    uint32_t axis = (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(Reduce, axis));
    wg_value position;
    if (grad_operand_size(site, 0, axis).number == 0) return grad_fill_result(site, 0);
    if (reduce_position(site, axis, &position)) return grad_take_one(t, position, axis);
    return wg_sum_along(wg_mul(reduce_weights(site, axis), t), axis);
}

wg_value grad_transpose_Reduce_0(const grad_site *site, wg_value g)
{
    uint32_t axis = (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(Reduce, axis));
    wg_size n = grad_operand_size(site, 0, axis);
    wg_value position;
    if (n.number == 0) return grad_fill_operand(site, 0, 0);
    if (reduce_position(site, axis, &position)) return grad_put_one(g, position, axis, n);
    wg_value weights = reduce_weights(site, axis);
    return wg_mul(weights, wg_broadcast_along(g, axis, n));
}

/* ---- scans, read from the first position: a reversed scan is reversed around ---- */

static wg_value turned(const grad_site *site, wg_value a, uint32_t axis)
{
    return grad_attribute(site, GRAPH_ATTRIBUTE(Scan, reverse)) ? wg_reverse(a, axis) : a;
}

/* The coefficients of a scan's recurrence. `m` is not set where it is 1 throughout. Answers whether it is. */
static bool coefficients(const grad_site *site, uint32_t axis, wg_value *m, wg_value *b)
{
    wg_value a = turned(site, grad_operand(site, 0), axis), y = turned(site, grad_result(site), axis);
    wg_size n = grad_operand_size(site, 0, axis);
    wg_value before = all_but_last(y, axis), item = all_but_first(a, axis), after = all_but_first(y, axis);
    switch (grad_attribute(site, GRAPH_ATTRIBUTE(Scan, op))) {
    case GRAPH_FOLDING_PRODUCT:
        *m = a;
        *b = behind(1, before, axis, n);
        return false;
    case GRAPH_FOLDING_DIV:
        *m = wg_div(wg_fill_like(a, 1), a);
        *b = behind(1, wg_neg(wg_div(after, item)), axis, n);
        return false;
    case GRAPH_FOLDING_POWF:
        *m = behind(0, grad_powf_base(before, item), axis, n);
        *b = behind(1, grad_powf_exponent(before, item, after), axis, n);
        return false;
    case GRAPH_FOLDING_RESIDUE: *b = behind(1, wg_neg(wg_floor_divide(before, item)), axis, n); return true;
    default: *b = behind(1, wg_fill_like(item, -1), axis, n); return true; /* sub */
    }
}

/* d[i] = v[i] + m[i] * d[i-1], by doubling: after each step d holds the terms of twice as many positions, and m the product over them.
 * `back` runs from the end, d[i] = v[i] + m[i+1] * d[i+1]. */
static wg_value recurrence(wg_value m, wg_value v, uint32_t axis, bool back)
{
    int64_t n = wg_value_shape(v)[axis];
    if (back) m = shifted(m, axis, -1, 0);
    for (int64_t far = 1; far < n; far *= 2) {
        int64_t by = back ? -far : far;
        v = wg_add(v, wg_mul(m, shifted(v, axis, by, 0)));
        if (2 * far < n) m = wg_mul(m, shifted(m, axis, by, 0));
    }
    return v;
}

/* For each position the one whose item the running max or min holds: the last at which the result changed. Comparing bits tells -0
 * from +0, and finds a NaN equal to the NaN before. */
static wg_value holders(const grad_site *site, uint32_t axis)
{
    wg_value y = turned(site, grad_result(site), axis);
    if (wg_is_poison(y)) return y;
    wg_value positions = positions_like(y, axis);
    wg_value before = grad_bits(all_but_last(y, axis));
    wg_value changed = wg_not_equal(before, grad_bits(all_but_first(y, axis)));
    changed = wg_pad(changed, axis, wg_number(1), wg_value_size(y, axis), 1);
    return wg_scan(wg_select(changed, positions, wg_fill_like(positions, 0)), "max", axis, false);
}

/* Both readings of a scan by v. */
static wg_value scanned(const grad_site *site, wg_value v, bool back)
{
    uint32_t axis = (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(Scan, axis));
    int64_t op = grad_attribute(site, GRAPH_ATTRIBUTE(Scan, op));
    wg_size n = grad_operand_size(site, 0, axis);
    wg_value m, b;
    if (n.number == 0 || wg_is_poison(v)) return v;
    if (op == GRAPH_FOLDING_SUM) return wg_scan(v, "sum", axis, back != (grad_attribute(site, GRAPH_ATTRIBUTE(Scan, reverse)) != 0));
    v = turned(site, v, axis);
    if (op == GRAPH_FOLDING_MAX || op == GRAPH_FOLDING_MIN) {
        wg_value at = holders(site, axis);
        return turned(site, back ? grad_put_along(v, at, axis, n) : grad_take_along(v, at, axis), axis);
    }
    bool sum = coefficients(site, axis, &m, &b);
    if (!sum && n.expression) return named_extent(site->tape, "scan", graph_choice_word(GRAPH_FOLDING, op));
    if (!back) v = wg_mul(b, v);
    if (wg_is_poison(v)) return v;
    v = sum ? wg_scan(v, "sum", axis, back) : recurrence(m, v, axis, back);
    return turned(site, back ? wg_mul(b, v) : v, axis);
}

wg_value grad_tangent_Scan_0(const grad_site *site, wg_value t)
{
    return scanned(site, t, false);
}

wg_value grad_transpose_Scan_0(const grad_site *site, wg_value g)
{
    return scanned(site, g, true);
}

/* ---- the log domain ---- */

wg_value grad_tangent_LogSoftmax_0(const grad_site *site, wg_value t)
{
    uint32_t axis = (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(LogSoftmax, axis));
    wg_value mean = wg_sum_along(wg_mul(wg_exp(grad_result(site)), t), axis);
    return wg_sub(t, wg_broadcast_along(mean, axis, grad_operand_size(site, 0, axis)));
}

wg_value grad_transpose_LogSoftmax_0(const grad_site *site, wg_value g)
{
    uint32_t axis = (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(LogSoftmax, axis));
    wg_value total = wg_broadcast_along(wg_sum_along(g, axis), axis, grad_operand_size(site, 0, axis));
    return wg_sub(g, wg_mul(wg_exp(grad_result(site)), total));
}

/* exp(a - y): the softmax. */
static wg_value shares(const grad_site *site, uint32_t axis)
{
    wg_value y = wg_broadcast_along(grad_result(site), axis, grad_operand_size(site, 0, axis));
    return wg_exp(wg_sub(grad_operand(site, 0), y));
}

wg_value grad_tangent_LogSumExp_0(const grad_site *site, wg_value t)
{
    uint32_t axis = (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(LogSumExp, axis));
    return wg_sum_along(wg_mul(shares(site, axis), t), axis);
}

wg_value grad_transpose_LogSumExp_0(const grad_site *site, wg_value g)
{
    uint32_t axis = (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(LogSumExp, axis));
    wg_value weights = shares(site, axis);
    return wg_mul(weights, wg_broadcast_along(g, axis, grad_operand_size(site, 0, axis)));
}
