/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Distributions over the rows that draw. Rows of different distributions never share words of a key's stream, but the truncated normal,
 * which reads those of "bits"; so one key serves a normal and a gamma of one call, and only a second draw of the same row needs a key
 * folded from it. */
#include <string.h>

#include "base/kind.h"
#include "compose/compose.h"
#include "wengert/draws.h"

/* Whether the key, the parameters and the shape can be used; a tape error where not. */
static bool usable(wg_value key, const wg_value *parameters, uint32_t count, bool optional, uint32_t rank, const wg_size *shape)
{
    if (!COMPOSE_READY(key.tape, key)) return false;
    for (uint32_t i = 0; i < count; i++)
        if (!(optional && !parameters[i].tape) && !COMPOSE_READY(key.tape, parameters[i])) return false;
    if (rank > WG_MAX_RANK) return graph_fail(key.tape, WG_SHAPE, "a rank of %u is above %d", rank, WG_MAX_RANK), false;
    if (rank && !shape) return graph_fail(key.tape, WG_ARGUMENT, "a draw of rank %u needs a shape", rank), false;
    return true;
}

#define LISTED(...) (const wg_value[]){__VA_ARGS__}, (uint32_t)(sizeof((const wg_value[]){__VA_ARGS__}) / sizeof(wg_value))
#define NEEDS(...) usable(key, LISTED(__VA_ARGS__), false, rank, shape)
#define MAY_HAVE(...) usable(key, LISTED(__VA_ARGS__), true, rank, shape)

static bool given(wg_value a)
{
    return a.tape != NULL;
}

static wg_kind kind_of(wg_value key, wg_value a, wg_value b)
{
    return given(a) ? wg_value_kind(a) : given(b) ? wg_value_kind(b) : wg_tape_kind(key.tape);
}

static wg_value or_number(wg_value a, wg_tape *tape, wg_kind kind, double number)
{
    return given(a) ? a : wg_leaf_fill(tape, kind, 0, NULL, number);
}

/* location + scale * standard. */
static wg_value placed(wg_value standard, wg_value location, wg_value scale, uint32_t rank, const wg_size *shape)
{
    if (given(scale)) standard = wg_mul(standard, wg_broadcast_to(scale, rank, shape));
    return given(location) ? wg_add(standard, wg_broadcast_to(location, rank, shape)) : standard;
}

/* ---- continuous ---- */

wg_value wg_random_uniform(wg_value key, wg_value low, wg_value high, uint32_t rank, const wg_size *shape)
{
    if (!MAY_HAVE(low, high)) return graph_poison(key.tape);
    wg_value unit = wg_draw(key, "uniform", kind_of(key, low, high), rank, shape);
    if (!given(low)) return placed(unit, low, high, rank, shape);
    high = or_number(high, key.tape, wg_value_kind(low), 1);
    if (wg_value_rank(low) || wg_value_rank(high)) { /* numbers are subtracted once, the rest as the draw pairs them */
        low = wg_broadcast_to(low, rank, shape);
        high = wg_broadcast_to(high, rank, shape);
    }
    wg_value width = wg_sub(high, low);
    return placed(unit, low, width, rank, shape);
}

wg_value wg_random_normal(wg_value key, wg_value mean, wg_value deviation, uint32_t rank, const wg_size *shape)
{
    if (!MAY_HAVE(mean, deviation)) return graph_poison(key.tape);
    return placed(wg_draw(key, "normal", kind_of(key, mean, deviation), rank, shape), mean, deviation, rank, shape);
}

static wg_value exponential(wg_value key, wg_value a, wg_value b, uint32_t rank, const wg_size *shape)
{
    return wg_draw(key, "exponential", kind_of(key, a, b), rank, shape);
}

wg_value wg_random_exponential(wg_value key, wg_value rate, uint32_t rank, const wg_size *shape)
{
    if (!MAY_HAVE(rate)) return graph_poison(key.tape);
    wg_value standard = exponential(key, rate, rate, rank, shape);
    return given(rate) ? wg_div(standard, wg_broadcast_to(rate, rank, shape)) : standard;
}

/* An exponential to either side, by a bit of another stream. */
wg_value wg_random_laplace(wg_value key, wg_value location, wg_value scale, uint32_t rank, const wg_size *shape)
{
    if (!MAY_HAVE(location, scale)) return graph_poison(key.tape);
    wg_value size = exponential(key, location, scale, rank, shape);
    wg_value right = wg_less_scalar(wg_draw(key, "bits", WG_KIND_I8, rank, shape), 0);
    return placed(wg_select(right, size, wg_neg(size)), location, scale, rank, shape);
}

/* With u = exp(-e) the quantile ln((1 - u) / u) is ln(expm1(e)), exact in both tails. */
wg_value wg_random_logistic(wg_value key, wg_value location, wg_value scale, uint32_t rank, const wg_size *shape)
{
    if (!MAY_HAVE(location, scale)) return graph_poison(key.tape);
    return placed(wg_ln(wg_expm1(exponential(key, location, scale, rank, shape))), location, scale, rank, shape);
}

static wg_value gumbel(wg_value key, wg_kind kind, uint32_t rank, const wg_size *shape)
{
    return wg_neg(wg_ln(wg_draw(key, "exponential", kind, rank, shape)));
}

wg_value wg_random_gumbel(wg_value key, wg_value location, wg_value scale, uint32_t rank, const wg_size *shape)
{
    if (!MAY_HAVE(location, scale)) return graph_poison(key.tape);
    return placed(gumbel(key, kind_of(key, location, scale), rank, shape), location, scale, rank, shape);
}

/* tan(pi (u - 1/2)) in f64: the tails need the bits. */
wg_value wg_random_cauchy(wg_value key, wg_value location, wg_value scale, uint32_t rank, const wg_size *shape)
{
    if (!MAY_HAVE(location, scale)) return graph_poison(key.tape);
    wg_value centred = wg_sub_scalar(wg_draw(key, "uniform", WG_KIND_F64, rank, shape), 0.5);
    wg_value standard = wg_convert(wg_tan(wg_mul_scalar(centred, 3.141592653589793)), kind_of(key, location, scale));
    return placed(standard, location, scale, rank, shape);
}

/* (end - mean) / deviation over the shape. */
static wg_value standard_end(wg_value end, wg_value mean, wg_value deviation, uint32_t rank, const wg_size *shape)
{
    end = wg_broadcast_to(end, rank, shape);
    if (given(mean)) end = wg_sub(end, wg_broadcast_to(mean, rank, shape));
    return given(deviation) ? wg_div(end, wg_broadcast_to(deviation, rank, shape)) : end;
}

wg_value wg_random_truncated_normal(wg_value key, wg_value low, wg_value high, wg_value mean, wg_value deviation, uint32_t rank,
                                    const wg_size *shape)
{
    if (!MAY_HAVE(low, high, mean, deviation)) return graph_poison(key.tape);
    wg_kind kind = given(low) || given(high) ? kind_of(key, low, high) : kind_of(key, mean, deviation);
    low = or_number(low, key.tape, kind, -__builtin_inf());
    high = or_number(high, key.tape, kind, __builtin_inf());
    wg_value from = standard_end(low, mean, deviation, rank, shape), to = standard_end(high, mean, deviation, rank, shape);
    return placed(wg_draw_truncated(key, from, to), mean, deviation, rank, shape);
}

/* ---- the gamma family: in f64 where a difference of logarithms follows ---- */

wg_value wg_random_gamma(wg_value key, wg_value a, uint32_t rank, const wg_size *shape)
{
    if (!NEEDS(a)) return graph_poison(key.tape);
    return wg_draw_gamma(key, wg_broadcast_to(a, rank, shape));
}

wg_value wg_random_chi_square(wg_value key, wg_value freedom, uint32_t rank, const wg_size *shape)
{
    if (!NEEDS(freedom)) return graph_poison(key.tape);
    return wg_mul_scalar(wg_draw_gamma(key, wg_broadcast_to(wg_mul_scalar(freedom, 0.5), rank, shape)), 2);
}

static wg_value ln_gamma(wg_value key, wg_value a, uint32_t rank, const wg_size *shape)
{
    return wg_draw_log_gamma(key, wg_broadcast_to(wg_convert(a, WG_KIND_F64), rank, shape));
}

static wg_value folded(wg_value key, int64_t number)
{
    return wg_key_fold(key, wg_leaf_fill(key.tape, WG_KIND_I64, 0, NULL, (double)number));
}

wg_value wg_random_beta(wg_value key, wg_value a, wg_value b, uint32_t rank, const wg_size *shape)
{
    if (!NEEDS(a, b)) return graph_poison(key.tape);
    wg_value x = ln_gamma(key, a, rank, shape), y = ln_gamma(folded(key, 1), b, rank, shape);
    return wg_convert(wg_sigmoid(wg_sub(x, y)), wg_value_kind(a));
}

/* normal * sqrt((freedom / 2) / gamma(freedom / 2)). */
wg_value wg_random_student(wg_value key, wg_value freedom, uint32_t rank, const wg_size *shape)
{
    if (!NEEDS(freedom)) return graph_poison(key.tape);
    wg_value half = wg_mul_scalar(wg_convert(freedom, WG_KIND_F64), 0.5);
    wg_value above = wg_broadcast_to(wg_ln(half), rank, shape), root = wg_mul_scalar(wg_sub(above, ln_gamma(key, half, rank, shape)), 0.5);
    wg_value normal = wg_draw(key, "normal", WG_KIND_F64, rank, shape);
    return wg_convert(wg_mul(normal, wg_exp(root)), wg_value_kind(freedom));
}

/* [shape.., last] into wide [WG_MAX_RANK]; false and a tape error where a has no last axis or the rank is too great. */
static bool with_last_axis(wg_value a, const char *what, uint32_t rank, const wg_size *shape, wg_size *wide)
{
    uint32_t axes = wg_value_rank(a);
    if (!axes) return graph_fail(a.tape, WG_SHAPE, "%s needs at least one axis: [] has none", what), false;
    if (rank >= WG_MAX_RANK) return graph_fail(a.tape, WG_SHAPE, "%s would make a rank above %d", what, WG_MAX_RANK), false;
    if (rank) memcpy(wide, shape, rank * sizeof *shape);
    wide[rank] = wg_value_size(a, axes - 1);
    return true;
}

wg_value wg_random_dirichlet(wg_value key, wg_value alpha, uint32_t rank, const wg_size *shape)
{
    wg_size wide[WG_MAX_RANK];
    if (!NEEDS(alpha) || !with_last_axis(alpha, "random_dirichlet", rank, shape, wide)) return graph_poison(key.tape);
    return wg_convert(wg_softmax(ln_gamma(key, alpha, rank + 1, wide), rank), wg_value_kind(alpha));
}

wg_value wg_random_multivariate_normal(wg_value key, wg_value mean, wg_value factor, uint32_t rank, const wg_size *shape)
{
    wg_size wide[WG_MAX_RANK];
    if (!MAY_HAVE(mean) || !NEEDS(factor) || !with_last_axis(factor, "random_multivariate_normal", rank, shape, wide))
        return graph_poison(key.tape);
    wg_value standard = wg_draw(key, "normal", wg_value_kind(factor), rank + 1, wide);
    wg_value spread = wg_linear(standard, wg_transpose(factor), WG_ABSENT);
    wide[rank] = wg_value_size(factor, 0);
    return given(mean) ? wg_add(spread, wg_broadcast_to(mean, rank + 1, wide)) : spread;
}

/* ---- discrete ---- */

/* In f64: a p of f32 is compared with 53 bits, not 24. */
wg_value wg_random_bernoulli(wg_value key, wg_value p, uint32_t rank, const wg_size *shape)
{
    if (!NEEDS(p)) return graph_poison(key.tape);
    wg_value chance = wg_broadcast_to(wg_convert(p, WG_KIND_F64), rank, shape);
    return wg_less(wg_draw(key, "uniform", WG_KIND_F64, rank, shape), chance);
}

wg_value wg_random_integers(wg_value key, wg_value low, wg_value high, uint32_t rank, const wg_size *shape)
{
    if (!NEEDS(low, high)) return graph_poison(key.tape);
    wg_value from = wg_broadcast_to(low, rank, shape), to = wg_broadcast_to(high, rank, shape);
    return wg_draw_integers(key, from, to);
}

wg_value wg_random_poisson(wg_value key, wg_value mean, uint32_t rank, const wg_size *shape)
{
    if (!NEEDS(mean)) return graph_poison(key.tape);
    return wg_draw_poisson(key, wg_broadcast_to(mean, rank, shape));
}

wg_value wg_random_binomial(wg_value key, wg_value count, wg_value p, uint32_t rank, const wg_size *shape)
{
    if (!NEEDS(count, p)) return graph_poison(key.tape);
    wg_value trials = wg_broadcast_to(count, rank, shape), chance = wg_broadcast_to(p, rank, shape);
    return wg_draw_binomial(key, trials, chance);
}

/* The greatest of logit + Gumbel; narrow kinds in f32, where ties do not come up. */
wg_value wg_random_categorical(wg_value key, wg_value logits, uint32_t rank, const wg_size *shape)
{
    wg_size wide[WG_MAX_RANK];
    if (!NEEDS(logits) || !with_last_axis(logits, "random_categorical", rank, shape, wide)) return graph_poison(key.tape);
    wg_kind kind = wg_value_kind(logits);
    if (base_kinds[kind].bytes < 4) kind = WG_KIND_F32;
    wg_value noise = gumbel(key, kind, rank + 1, wide);
    if (kind != wg_value_kind(logits)) logits = wg_convert(logits, kind);
    return wg_arg_max(wg_add(noise, wg_broadcast_to(logits, rank + 1, wide)), rank);
}

/* Where u times the total falls among the running sums, kept ascending; u < 1 leaves the product below the total. */
static wg_value by_weight(wg_value key, wg_size n, wg_value weights, uint32_t rank, const wg_size *shape)
{
    wg_value sums = wg_scan(wg_scan(wg_convert(weights, WG_KIND_F64), "sum", 0, false), "max", 0, false);
    wg_value last = wg_narrow(sums, 0, wg_size_subtract(key.tape, n, wg_number(1)), wg_number(1));
    wg_value total = wg_broadcast_to(wg_reshape(last, 0, NULL), rank, shape);
    return wg_bins(wg_mul(total, wg_draw(key, "uniform", WG_KIND_F64, rank, shape)), sums, "right");
}

/* The first so many of a random order. By weights: of exponentials of rate w, the least one falls on i with probability w(i) / sum, and so
 * do the next of what is left. */
static wg_value without_replacement(wg_value key, wg_size n, wg_value weights, wg_size count)
{
    if (!given(weights)) return wg_top_k_positions(wg_draw(key, "bits", WG_KIND_U64, 1, &n), 0, count);
    wg_value rates = wg_convert(weights, WG_KIND_F64);
    wg_value waits = wg_div(wg_draw(key, "exponential", WG_KIND_F64, 1, &n), rates);
    return wg_top_k_positions(wg_neg(waits), 0, count);
}

wg_value wg_random_choice(wg_value key, wg_size n, wg_value weights, bool replace, uint32_t rank, const wg_size *shape)
{
    if (!MAY_HAVE(weights)) return graph_poison(key.tape);
    if (given(weights) && (wg_value_rank(weights) != 1 || wg_value_shape(weights)[0] != n.number))
        return graph_fail(key.tape, WG_SHAPE, "random_choice of %lld takes weights [%lld], not %s", (long long)n.number,
                          (long long)n.number, BASE_SHAPE_TEXT(wg_value_rank(weights), wg_value_shape(weights)));
    if (replace && n.number < 1)
        return graph_fail(key.tape, WG_ARGUMENT, "random_choice needs something to choose from: n is %lld", (long long)n.number);
    if (replace && given(weights)) return by_weight(key, n, weights, rank, shape);
    if (replace) {
        wg_value low = wg_leaf_fill(key.tape, WG_KIND_I64, rank, shape, 0);
        return wg_draw_integers(key, low, wg_leaf_size(key.tape, WG_KIND_I64, rank, shape, n));
    }
    wg_size count = wg_number(1);
    for (uint32_t axis = 0; axis < rank; axis++) count = wg_size_multiply(key.tape, count, shape[axis]);
    if (count.number > n.number)
        return graph_fail(key.tape, WG_SHAPE, "random_choice without replacement cannot take %lld of %lld", (long long)count.number,
                          (long long)n.number);
    wg_value chosen = without_replacement(key, n, weights, count);
    return rank == 1 ? chosen : wg_reshape(chosen, rank, shape);
}

/* The order of 64 random bits; equal ones, once in 2^65 / n^2 permutations, keep their order. */
wg_value wg_random_permutation(wg_value key, wg_size n)
{
    if (!COMPOSE_READY(key.tape, key)) return graph_poison(key.tape);
    return wg_grade(wg_draw(key, "bits", WG_KIND_U64, 1, &n), 0, false);
}
