/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Folds over axes, and running ones. Several axes are brought together into one first (lazy_merge_axes), so every fold is a row over one
 * axis. */
#include <string.h>

#include "lazy/array_call.h"

typedef struct folding {
    wg_lazy *lazy;
    const char *call;
    wg_array *whole;     /* as given */
    bool chosen[WG_MAX_RANK];
    bool keep;
    wg_array *merged;    /* the axes brought together: one of `extent` items at `axis` */
    uint32_t axis;
    int64_t extent;
} folding;

/* Opens the scope of a fold of an array (`a` is what is folded, made from the operand or it itself). */
static bool fold_begin(folding *f, const char *call, wg_array *a, const int32_t *axes, uint32_t count, bool keep)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return false;
    *f = (folding){.lazy = lazy, .call = call, .whole = a, .keep = keep};
    if (lazy_axes(a, axes, count, call, f->chosen)) f->merged = lazy_merge_axes(a, f->chosen, &f->axis, &f->extent);
    return true;
}

/* The fold's result with its axes dropped, as the caller wants them. */
static wg_array *fold_end(folding *f, wg_array *result)
{
    int64_t shape[WG_MAX_RANK];
    if (result && f->keep) result = wg_array_reshape(result, lazy_dropped_shape(f->whole, f->chosen, true, shape), shape);
    return lazy_end(f->lazy, result);
}

/* Is there something to fold? */
static bool fold_some(const folding *f)
{
    if (!f->merged) return false;
    return f->extent || lazy_fail(f->lazy, WG_SHAPE, "%s of no items: %s", f->call, BASE_SHAPE_TEXT(f->whole->rank, lazy_shape(f->whole)));
}

/* Of integers and bool the widest kind of their class. */
static wg_kind sum_kind(const wg_array *a)
{
    switch (base_kinds[a->kind].class) {
    case BASE_CLASS_BOOL:
    case BASE_CLASS_SIGNED: return WG_KIND_I64;
    case BASE_CLASS_UNSIGNED: return WG_KIND_U64;
    default: return (wg_kind)a->kind;
    }
}

/* How a sum is accumulated: integers in sum_kind, the others by the row's rule. */
static int64_t accumulate(const wg_array *a)
{
    return base_kinds[a->kind].class == BASE_CLASS_SIGNED || base_kinds[a->kind].class == BASE_CLASS_UNSIGNED ? (int64_t)sum_kind(a) : -1;
}

static wg_array *sum_merged(const folding *f)
{
    wg_array *a = f->merged;
    if (!a) return NULL;
    return a->rank == 1 ? LAZY_ROW(Sum, a, accumulate(a)) : LAZY_ROW(SumAlong, a, f->axis, accumulate(a));
}

wg_array *wg_array_sum(wg_array *a, const int32_t *axes, uint32_t count, bool keep)
{
    folding f;
    return fold_begin(&f, "sum", a, axes, count, keep) ? fold_end(&f, sum_merged(&f)) : NULL;
}

wg_array *wg_array_sum_along(wg_array *a, int32_t axis) { return wg_array_sum(a, &axis, 1, false); }

static wg_array *reduce_merged(const folding *f, int64_t op)
{
    return f->merged ? LAZY_ROW(Reduce, f->merged, op, f->axis, 0) : NULL;
}

wg_array *wg_array_prod(wg_array *a, const int32_t *axes, uint32_t count, bool keep)
{
    folding f;
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return NULL;
    bool good = fold_begin(&f, "prod", wg_array_convert(a, sum_kind(a)), axes, count, keep);
    return lazy_end(lazy, good ? fold_end(&f, reduce_merged(&f, lazy_word(lazy, "prod", "FOLDING", "product"))) : NULL);
}

static wg_array *extreme(wg_array *a, const char *word, const int32_t *axes, uint32_t count, bool keep)
{
    folding f;
    if (!fold_begin(&f, word, a, axes, count, keep)) return NULL;
    return fold_end(&f, fold_some(&f) ? reduce_merged(&f, lazy_word(f.lazy, word, "FOLDING", word)) : NULL);
}

wg_array *wg_array_max(wg_array *a, const int32_t *axes, uint32_t count, bool keep) { return extreme(a, "max", axes, count, keep); }
wg_array *wg_array_min(wg_array *a, const int32_t *axes, uint32_t count, bool keep) { return extreme(a, "min", axes, count, keep); }

/* ---- truth ---- */

static wg_array *truth_fold(wg_array *a, const char *call, const char *word, const int32_t *axes, uint32_t count, bool keep)
{
    folding f;
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return NULL;
    bool good = fold_begin(&f, call, lazy_truth(a), axes, count, keep);
    return lazy_end(lazy, good ? fold_end(&f, reduce_merged(&f, lazy_word(lazy, call, "FOLDING", word))) : NULL);
}

wg_array *wg_array_any(wg_array *a, const int32_t *axes, uint32_t count, bool keep)
{
    return truth_fold(a, "any", "or", axes, count, keep);
}
wg_array *wg_array_all(wg_array *a, const int32_t *axes, uint32_t count, bool keep)
{
    return truth_fold(a, "all", "and", axes, count, keep);
}

wg_array *wg_array_count_nonzero(wg_array *a, const int32_t *axes, uint32_t count, bool keep)
{
    folding f;
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return NULL;
    bool good = fold_begin(&f, "count_nonzero", lazy_truth(a), axes, count, keep);
    return lazy_end(lazy, good ? fold_end(&f, sum_merged(&f)) : NULL);
}

/* ---- positions ---- */

static wg_array *position(wg_array *a, const char *call, wg_op op, const int32_t *axes, uint32_t count, bool keep)
{
    folding f;
    if (!fold_begin(&f, call, a, axes, count, keep)) return NULL;
    return fold_end(&f, fold_some(&f) ? lazy_row(op, f.merged, (int64_t[]){f.axis}, 1) : NULL);
}

wg_array *wg_array_arg_max(wg_array *a, const int32_t *axes, uint32_t count, bool keep)
{
    return position(a, "arg_max", WG_OP_ArgMax, axes, count, keep);
}
wg_array *wg_array_arg_min(wg_array *a, const int32_t *axes, uint32_t count, bool keep)
{
    return position(a, "arg_min", WG_OP_ArgMin, axes, count, keep);
}

/* ---- floats ---- */

wg_array *wg_array_log_sum_exp(wg_array *a, const int32_t *axes, uint32_t count, bool keep)
{
    folding f;
    if (!fold_begin(&f, "log_sum_exp", a, axes, count, keep)) return NULL;
    return fold_end(&f, f.merged ? LAZY_ROW(LogSumExp, f.merged, f.axis) : NULL);
}

/* Begins a fold that takes floats. */
static bool fold_floats(folding *f, const char *call, wg_array *a, const int32_t *axes, uint32_t count, bool keep)
{
    if (!fold_begin(f, call, a, axes, count, keep)) return false;
    if (!lazy_wants_floats(a, call)) f->merged = NULL;
    return true;
}

static wg_array *mean_merged(const folding *f)
{
    wg_array *sum = sum_merged(f);
    return sum ? wg_array_div_scalar(sum, (double)f->extent) : NULL;
}

wg_array *wg_array_mean(wg_array *a, const int32_t *axes, uint32_t count, bool keep)
{
    folding f;
    if (!fold_begin(&f, "mean", a, axes, count, keep)) return NULL;
    bool good = base_kinds[a->kind].class == BASE_CLASS_COMPLEX || lazy_wants_floats(a, "mean");
    return fold_end(&f, good ? mean_merged(&f) : NULL);
}

/* The axis that a fold dropped put back, all copies: of `like` merged. */
static wg_array *unfolded(const folding *f, wg_array *folded)
{
    return folded ? LAZY_ROW(BroadcastAlong, folded, f->axis, f->extent) : NULL;
}

static wg_array *variance_merged(folding *f, double correction)
{
    wg_array *mean = unfolded(f, mean_merged(f)), *merged = f->merged;
    if (!mean) return NULL;
    wg_array *distance = wg_array_sub(merged, mean);
    f->merged = wg_array_mul(distance, distance);
    wg_array *sum = sum_merged(f);
    double left = (double)f->extent - correction;
    return wg_array_div_scalar(sum, left > 0 ? left : 0);
}

wg_array *wg_array_var(wg_array *a, const int32_t *axes, uint32_t count, bool keep, double correction)
{
    folding f;
    return fold_floats(&f, "var", a, axes, count, keep) ? fold_end(&f, variance_merged(&f, correction)) : NULL;
}

wg_array *wg_array_std(wg_array *a, const int32_t *axes, uint32_t count, bool keep, double correction)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    return lazy ? lazy_end(lazy, wg_array_sqrt(wg_array_var(a, axes, count, keep, correction))) : NULL;
}

/* One position of the merged axis, which is dropped. */
static wg_array *at_position(const folding *f, wg_array *sorted, int64_t at)
{
    if (!sorted) return NULL;
    int64_t shape[WG_MAX_RANK];
    uint32_t rank = 0;
    for (uint32_t axis = 0; axis < sorted->rank; axis++)
        if (axis != f->axis) shape[rank++] = lazy_shape(sorted)[axis];
    return wg_array_reshape(LAZY_ROW(Narrow, sorted, f->axis, at, 1, 1), rank, shape);
}

typedef enum quantile_method { LINEAR, LOWER, HIGHER, NEAREST, MIDPOINT, METHODS } quantile_method;

/* Between the items below and above: a share of the way. From the nearer one, so that the ends are met exactly. */
static wg_array *between(wg_array *below, wg_array *above, double share)
{
    wg_array *way = wg_array_sub(above, below);
    if (share < 0.5) return wg_array_add(below, wg_array_mul_scalar(way, share));
    return wg_array_sub(above, wg_array_mul_scalar(way, 1 - share));
}

static wg_array *quantile_merged(const folding *f, double q, quantile_method method)
{
    if (!fold_some(f)) return NULL;
    double place = q * (double)(f->extent - 1);
    int64_t low = (int64_t)place;
    double share = place - (double)low;
    if (method == NEAREST) { /* ties to even */
        low += share > 0.5 || (share == 0.5 && low % 2);
        share = 0;
    }
    if (method == LOWER) share = 0;
    if (method == HIGHER) low += share > 0, share = 0;
    if (method == MIDPOINT && share > 0) share = 0.5;
    wg_array *sorted = LAZY_ROW(Sort, f->merged, f->axis, 0), *last = at_position(f, sorted, f->extent - 1),
             *found = at_position(f, sorted, low);
    if (share > 0) {
        wg_array *above = at_position(f, sorted, low + 1), *equal = wg_array_equal(found, above), *way = between(found, above, share);
        found = wg_array_select(equal, found, way); /* infinities have no way between them */
    }
    wg_array *unknown = wg_array_is_nan(last); /* NaN sorts last */
    return wg_array_select(unknown, last, found);
}

wg_array *wg_array_median(wg_array *a, const int32_t *axes, uint32_t count, bool keep)
{
    folding f;
    return fold_floats(&f, "median", a, axes, count, keep) ? fold_end(&f, quantile_merged(&f, 0.5, MIDPOINT)) : NULL;
}

wg_array *wg_array_quantile(wg_array *a, double q, const int32_t *axes, uint32_t count, bool keep, const char *method)
{
    static const char *const words[METHODS] = {"linear", "lower", "higher", "nearest", "midpoint"};
    folding f;
    uint32_t which = 0;
    if (!fold_floats(&f, "quantile", a, axes, count, keep)) return NULL;
    while (method && which < METHODS && strcmp(words[which], method)) which++;
    bool good = (method && which < METHODS) ||
                lazy_fail(f.lazy, WG_ARGUMENT, "quantile does not know the method \"%s\" among linear, lower, higher, nearest, midpoint",
                          method ? method : "");
    if (!(q >= 0 && q <= 1)) good = lazy_fail(f.lazy, WG_ARGUMENT, "quantile: the share is not in [0, 1]");
    return fold_end(&f, good ? quantile_merged(&f, q, (quantile_method)which) : NULL);
}

wg_array *wg_array_norm(wg_array *a, double order, const int32_t *axes, uint32_t count, bool keep)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return NULL;
    if (!lazy_wants_floats(a, "norm")) return lazy_end(lazy, NULL);
    wg_array *result, *size = wg_array_abs(a);
    if (order == 2) result = wg_array_sqrt(wg_array_sum(wg_array_mul(a, a), axes, count, keep));
    else if (order == 1) result = wg_array_sum(size, axes, count, keep);
    else if (order == 0) result = wg_array_convert(wg_array_count_nonzero(a, axes, count, keep), (wg_kind)a->kind);
    else if (order == __builtin_inf()) result = wg_array_max(size, axes, count, keep);
    else if (order == -__builtin_inf()) result = wg_array_min(size, axes, count, keep);
    else result = wg_array_powf_scalar(wg_array_sum(wg_array_powf_scalar(size, order), axes, count, keep), 1 / order);
    return lazy_end(lazy, result);
}

/* ---- rows by their words ---- */

static wg_array *fold_row(wg_array *a, wg_op row, const char *op, int32_t axis, int64_t last)
{
    uint32_t place;
    if (!a || !lazy_check(a->lazy, a) || !lazy_axis(a, axis, wg_op_text(row), &place)) return NULL;
    int64_t word = lazy_word(a->lazy, wg_op_text(row), "FOLDING", op);
    return word < 0 ? NULL : lazy_row(row, a, (int64_t[]){word, place, last}, 3);
}

wg_array *wg_array_reduce(wg_array *a, const char *op, int32_t axis) { return fold_row(a, WG_OP_Reduce, op, axis, 0); }
wg_array *wg_array_reduce_right(wg_array *a, const char *op, int32_t axis) { return fold_row(a, WG_OP_Reduce, op, axis, 1); }
wg_array *wg_array_scan(wg_array *a, const char *op, int32_t axis, bool reverse) { return fold_row(a, WG_OP_Scan, op, axis, reverse); }

/* ---- running folds ---- */

static wg_array *running(wg_array *a, const char *op, int32_t axis, bool widen)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return NULL;
    return lazy_end(lazy, wg_array_scan(widen ? wg_array_convert(a, sum_kind(a)) : a, op, axis, false));
}

wg_array *wg_array_cumsum(wg_array *a, int32_t axis) { return running(a, "sum", axis, true); }
wg_array *wg_array_cumprod(wg_array *a, int32_t axis) { return running(a, "product", axis, true); }
wg_array *wg_array_cummax(wg_array *a, int32_t axis) { return running(a, "max", axis, false); }
wg_array *wg_array_cummin(wg_array *a, int32_t axis) { return running(a, "min", axis, false); }

wg_array *wg_array_diff(wg_array *a, uint32_t times, int32_t axis)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return NULL;
    uint32_t place;
    wg_array *result = lazy_axis(a, axis, "diff", &place) ? a : NULL;
    for (uint32_t i = 0; i < times && result; i++) {
        int64_t n = lazy_shape(result)[place], len = n > 0 ? n - 1 : 0;
        wg_array *behind = wg_array_narrow(result, axis, n > 0, len, 1), *before = wg_array_narrow(result, axis, 0, len, 1);
        result = a->kind == WG_KIND_BOOL ? wg_array_not_equal(behind, before) : wg_array_sub(behind, before);
        if (!len) break;
    }
    return lazy_end(lazy, result);
}
