/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Reductions, and what is built on them. The order of a fold is interp_fold's; which of its two forms serves depends on the axis being the
 * last one. */
#include "base/scalar.h"
#include "interp/items.h"

#define LANES 64
#define CHUNK 4096

int64_t interp_partials(int64_t count)
{
    return count / CHUNK + 1;
}

/* Item i goes to lane i mod 64, ascending; a lane starts from its first item. Lanes are combined 32 apart, then 16, 8, 4, 2, 1; absent
 * lanes are skipped. */
static interp_item fold_lanes(const interp_item *items, int64_t count, int64_t stride, interp_binary combine)
{
    interp_item lanes[LANES];
    int64_t present = count < LANES ? count : LANES;
    for (int64_t lane = 0; lane < present; lane++) lanes[lane] = items[lane * stride];
    for (int64_t i = present; i < count; i++) lanes[i % LANES] = combine(lanes[i % LANES], items[i * stride]);
    for (int64_t apart = LANES / 2; apart; apart /= 2)
        for (int64_t lane = 0; lane < apart && lane + apart < present; lane++) lanes[lane] = combine(lanes[lane], lanes[lane + apart]);
    return lanes[0];
}

static interp_item fold_ascending(const interp_item *items, int64_t count, int64_t stride, interp_binary combine)
{
    interp_item total = items[0];
    for (int64_t i = 1; i < count; i++) total = combine(total, items[i * stride]);
    return total;
}

interp_item interp_fold(const interp_item *items, int64_t count, int64_t stride, bool last, interp_binary combine, interp_item empty,
                        interp_item *partials)
{
    if (count == 0) return empty;
    int64_t chunks = 0;
    for (int64_t first = 0; first < count; first += CHUNK) {
        int64_t length = count - first < CHUNK ? count - first : CHUNK;
        partials[chunks++] = (last ? fold_lanes : fold_ascending)(items + first * stride, length, stride, combine);
    }
    /* Neighbours are paired level by level; an odd last one moves up as it is. */
    while (chunks > 1) {
        int64_t pairs = chunks / 2;
        for (int64_t i = 0; i < pairs; i++) partials[i] = combine(partials[2 * i], partials[2 * i + 1]);
        if (chunks % 2) partials[pairs] = partials[chunks - 1];
        chunks = pairs + chunks % 2;
    }
    return partials[0];
}

/* ---- sums and the other folds ---- */

typedef interp_item (*line_function)(const interp_item *items, int64_t count, int64_t stride, bool last, const void *facts,
                                     interp_item *partials);

/* result[o, n] = of(items (o, .., n)) in a domain, for each line of an axis. */
static bool each_line(const interp_row_call *call, interp_domain domain, interp_axis axis, line_function of, const void *facts)
{
    interp_item *items = interp_load(call, 0, domain), *result = items ? interp_take(call, axis.outer * axis.inner) : NULL;
    interp_item *partials = result ? interp_take(call, interp_partials(axis.extent)) : NULL;
    if (!partials) return false;
    for (int64_t o = 0; o < axis.outer; o++)
        for (int64_t n = 0; n < axis.inner; n++)
            result[o * axis.inner + n] = of(items + o * axis.extent * axis.inner + n, axis.extent, axis.inner, axis.last, facts, partials);
    return interp_store(call, domain, result);
}

typedef struct folding {
    interp_binary combine;
    interp_item empty;
    wg_kind kind;
} folding;

static interp_item fold_line(const interp_item *items, int64_t count, int64_t stride, bool last, const void *facts, interp_item *partials)
{
    const folding *fold = facts;
    return interp_fold(items, count, stride, last, fold->combine, fold->empty, partials);
}

static interp_domain sum_domain(const interp_row_call *call, int64_t accumulate)
{
    wg_kind kind = call->operands[0].kind;
    if (!base_kind_is_float(kind)) return interp_domain_of(kind);
    return interp_domain_of(accumulate == GRAPH_BY_RULE ? graph_accumulation_kind(kind) : (wg_kind)accumulate);
}

static bool sum(const interp_row_call *call, interp_axis axis, int64_t accumulate)
{
    interp_domain domain = sum_domain(call, accumulate);
    folding fold = {interp_folding(GRAPH_FOLDING_SUM, domain), INTERP_ZERO, call->result.kind};
    return each_line(call, domain, axis, fold_line, &fold);
}

/* All items are one line along the last axis. */
bool interp_Sum(const interp_row_call *call)
{
    return sum(call, (interp_axis){1, interp_view_volume(&call->operands[0]), 1, true}, call->attributes[GRAPH_ATTRIBUTE(Sum, accumulate)]);
}

bool interp_SumAlong(const interp_row_call *call)
{
    interp_axis axis = interp_axis_of(&call->operands[0], call->attributes[GRAPH_ATTRIBUTE(SumAlong, axis)]);
    return sum(call, axis, call->attributes[GRAPH_ATTRIBUTE(SumAlong, accumulate)]);
}

/* order=right: item 0 op (item 1 op (.. item n-1)), which begins with the last item. */
static interp_item fold_right(const interp_item *items, int64_t count, int64_t stride, bool last, const void *facts, interp_item *partials)
{
    const folding *fold = facts;
    (void)last, (void)partials;
    interp_item total = items[(count - 1) * stride];
    for (int64_t i = count - 1; i-- > 0;) total = interp_wrap(fold->kind, fold->combine(items[i * stride], total));
    return total;
}

bool interp_Reduce(const interp_row_call *call)
{
    int64_t op = call->attributes[GRAPH_ATTRIBUTE(Reduce, op)];
    bool right = call->attributes[GRAPH_ATTRIBUTE(Reduce, order)] == GRAPH_DIRECTION_RIGHT;
    interp_domain domain = interp_domain_of(call->operands[0].kind);
    folding fold = {interp_folding(op, domain), interp_folding_empty(op, call->operands[0].kind), call->operands[0].kind};
    interp_axis axis = interp_axis_of(&call->operands[0], call->attributes[GRAPH_ATTRIBUTE(Reduce, axis)]);
    return each_line(call, domain, axis, right ? fold_right : fold_line, &fold);
}

/* ---- the position of the greatest or least ---- */

static bool is_nan(interp_domain domain, interp_item a)
{
    return domain == INTERP_F32 ? a.f != a.f : domain == INTERP_F64 && a.d != a.d;
}

/* The first NaN wins; else the first of equals, -0 being equal to 0. */
static bool arg(const interp_row_call *call, int64_t axis_number, int sign)
{
    interp_domain domain = interp_domain_of(call->operands[0].kind);
    interp_axis axis = interp_axis_of(&call->operands[0], axis_number);
    interp_item *items = interp_load(call, 0, domain);
    int64_t *result = call->result.data;
    if (!items) return false;
    for (int64_t o = 0; o < axis.outer; o++)
        for (int64_t n = 0; n < axis.inner; n++) {
            const interp_item *line = items + o * axis.extent * axis.inner + n;
            int64_t best = 0;
            for (int64_t i = 1; i < axis.extent && !is_nan(domain, line[best * axis.inner]); i++) {
                interp_item item = line[i * axis.inner];
                if (is_nan(domain, item) || sign * interp_compare(domain, item, line[best * axis.inner]) > 0) best = i;
            }
            result[o * axis.inner + n] = best;
        }
    return true;
}

bool interp_ArgMax(const interp_row_call *call)
{
    return arg(call, call->attributes[GRAPH_ATTRIBUTE(ArgMax, axis)], 1);
}

bool interp_ArgMin(const interp_row_call *call)
{
    return arg(call, call->attributes[GRAPH_ATTRIBUTE(ArgMin, axis)], -1);
}

/* ---- log domain: m the maximum, s the canonical sum of exp(x - m) ---- */

static interp_item item_of(interp_domain domain, double number)
{
    return domain == INTERP_F32 ? (interp_item){.f = (float)number} : (interp_item){.d = number};
}

/* Writes x - m to `shifted` and its exponentials' sum to *sum; answers m. */
static interp_item shift_line(interp_domain domain, const interp_item *line, interp_axis axis, interp_item *shifted,
                              interp_item *exponentials, interp_item *partials, interp_item *sum)
{
    interp_binary greatest = interp_folding(GRAPH_FOLDING_MAX, domain);
    interp_item m = interp_fold(line, axis.extent, axis.inner, axis.last, greatest, item_of(domain, -__builtin_inf()), partials);
    for (int64_t i = 0; i < axis.extent; i++) {
        interp_item x = line[i * axis.inner];
        if (domain == INTERP_F32) {
            shifted[i].f = x.f - m.f;
            exponentials[i].f = base_exp_f32(shifted[i].f);
        } else {
            shifted[i].d = x.d - m.d;
            exponentials[i].d = base_exp_f64(shifted[i].d);
        }
    }
    *sum = interp_fold(exponentials, axis.extent, 1, axis.last, interp_folding(GRAPH_FOLDING_SUM, domain), item_of(domain, 0), partials);
    return m;
}

/* Infinite maxima answer themselves: all -inf is -inf, any +inf is +inf; so does NaN. */
static interp_item log_sum(interp_domain domain, interp_item m, interp_item sum)
{
    if (domain == INTERP_F32) return (interp_item){.f = __builtin_fabsf(m.f) < __builtin_inff() ? m.f + base_ln_f32(sum.f) : m.f};
    return (interp_item){.d = __builtin_fabs(m.d) < __builtin_inf() ? m.d + base_ln_f64(sum.d) : m.d};
}

/* whole: LogSoftmax, (x - m) - ln s for each item; else LogSumExp, m + ln s. */
static bool log_domain(const interp_row_call *call, int64_t axis_number, bool whole)
{
    interp_domain domain = interp_domain_of(call->operands[0].kind);
    interp_axis axis = interp_axis_of(&call->operands[0], axis_number);
    interp_item *items = interp_load(call, 0, domain), *result = items ? interp_take(call, interp_view_volume(&call->result)) : NULL;
    interp_item *shifted = result ? interp_take(call, 2 * axis.extent + interp_partials(axis.extent)) : NULL;
    if (!shifted) return false;
    interp_item *exponentials = shifted + axis.extent, *partials = exponentials + axis.extent;
    for (int64_t o = 0; o < axis.outer; o++)
        for (int64_t n = 0; n < axis.inner; n++) {
            int64_t first = o * axis.extent * axis.inner + n;
            interp_item sum, m = shift_line(domain, items + first, axis, shifted, exponentials, partials, &sum);
            if (!whole) result[o * axis.inner + n] = log_sum(domain, m, sum);
            for (int64_t i = 0; whole && i < axis.extent; i++) {
                interp_item *to = &result[first + i * axis.inner];
                if (domain == INTERP_F32) to->f = shifted[i].f - base_ln_f32(sum.f);
                else to->d = shifted[i].d - base_ln_f64(sum.d);
            }
        }
    return interp_store(call, domain, result);
}

bool interp_LogSoftmax(const interp_row_call *call)
{
    return log_domain(call, call->attributes[GRAPH_ATTRIBUTE(LogSoftmax, axis)], true);
}

bool interp_LogSumExp(const interp_row_call *call)
{
    return log_domain(call, call->attributes[GRAPH_ATTRIBUTE(LogSumExp, axis)], false);
}
