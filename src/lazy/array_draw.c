/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Draws by keys. */
#include <string.h>

#include "lazy/array_call.h"

wg_array *wg_array_draw(wg_array *key, const char *distribution, wg_kind kind, uint32_t rank, const int64_t *shape)
{
    if (!key || !lazy_check(key->lazy, key)) return NULL;
    int64_t word = lazy_word(key->lazy, "draw", "DISTRIBUTION", distribution), attributes[WG_MAX_RANK + 3] = {word, rank};
    if (word < 0) return NULL;
    if (rank > WG_MAX_RANK) return lazy_fail(key->lazy, WG_SHAPE, "draw: a rank of %u is above %d", rank, WG_MAX_RANK), NULL;
    if (rank && !shape) return lazy_fail(key->lazy, WG_ARGUMENT, "draw needs a shape"), NULL;
    if (rank) memcpy(attributes + 2, shape, rank * sizeof *shape);
    attributes[rank + 2] = kind;
    return lazy_row(WG_OP_Draw, key, attributes, rank + 3);
}

wg_array *wg_array_key_split(wg_array *key, int64_t count)
{
    return key && lazy_check(key->lazy, key) ? LAZY_ROW(KeySplit, key, count) : NULL;
}

wg_array *wg_array_key_fold(wg_array *key, wg_array *number)
{
    if (!key || !lazy_check(key->lazy, key) || !lazy_check(key->lazy, number)) return NULL;
    return lazy_row2(WG_OP_KeyFold, key, number, NULL, 0);
}

/* ---- with parameters ---- */

/* key, then parameters [count] that are broadcast; those from `first` on have one kind. logarithm -1: the row takes no such flag. */
static wg_array *drawn(wg_op op, wg_array *key, wg_array **parameters, uint32_t count, uint32_t first, int64_t logarithm)
{
    if (!key) return NULL;
    wg_lazy *lazy = lazy_begin(parameters, count);
    if (!lazy) return NULL;
    wg_array *operands[3] = {key};
    bool good = lazy_check(lazy, key) && lazy_align(lazy, wg_op_text(op), parameters, count, first);
    for (uint32_t i = 0; i < count; i++) operands[1 + i] = parameters[i];
    return lazy_end(lazy, good ? wg_array_record(lazy, op, operands, 1 + count, &logarithm, logarithm >= 0) : NULL);
}

wg_array *wg_array_draw_integers(wg_array *key, wg_array *low, wg_array *high)
{
    return drawn(WG_OP_DrawIntegers, key, (wg_array *[]){low, high}, 2, 0, -1);
}

wg_array *wg_array_draw_truncated(wg_array *key, wg_array *from, wg_array *to)
{
    return drawn(WG_OP_DrawTruncated, key, (wg_array *[]){from, to}, 2, 0, -1);
}

wg_array *wg_array_draw_binomial(wg_array *key, wg_array *count, wg_array *p)
{
    return drawn(WG_OP_DrawBinomial, key, (wg_array *[]){count, p}, 2, 1, -1);
}

wg_array *wg_array_draw_gamma(wg_array *key, wg_array *shape) { return drawn(WG_OP_DrawGamma, key, &shape, 1, 0, 0); }
wg_array *wg_array_draw_log_gamma(wg_array *key, wg_array *shape) { return drawn(WG_OP_DrawGamma, key, &shape, 1, 0, 1); }
wg_array *wg_array_draw_poisson(wg_array *key, wg_array *mean) { return drawn(WG_OP_DrawPoisson, key, &mean, 1, 0, -1); }

wg_array *wg_array_draw_gamma_slope(wg_array *key, wg_array *shape, bool logarithm)
{
    return drawn(WG_OP_DrawGammaSlope, key, &shape, 1, 0, logarithm);
}

/* ---- of a shape ---- */

wg_array *wg_array_uniform(wg_array *key, wg_kind kind, uint32_t rank, const int64_t *shape, double low, double high)
{
    wg_lazy *lazy = LAZY_BEGIN(key);
    if (!lazy) return NULL;
    wg_array *share = wg_array_draw(key, "uniform", kind, rank, shape);
    return lazy_end(lazy, wg_array_add_scalar(wg_array_mul_scalar(share, high - low), low));
}

wg_array *wg_array_normal(wg_array *key, wg_kind kind, uint32_t rank, const int64_t *shape, double mean, double deviation)
{
    wg_lazy *lazy = LAZY_BEGIN(key);
    if (!lazy) return NULL;
    wg_array *standard = wg_array_draw(key, "normal", kind, rank, shape);
    return lazy_end(lazy, wg_array_add_scalar(wg_array_mul_scalar(standard, deviation), mean));
}

wg_array *wg_array_bernoulli(wg_array *key, double probability, uint32_t rank, const int64_t *shape)
{
    wg_lazy *lazy = LAZY_BEGIN(key);
    return lazy ? lazy_end(lazy, wg_array_less_scalar(wg_array_draw(key, "uniform", WG_KIND_F64, rank, shape), probability)) : NULL;
}

/* The order of 64-bit numbers, which are hardly ever equal. */
wg_array *wg_array_permutation(wg_array *key, int64_t n)
{
    wg_lazy *lazy = LAZY_BEGIN(key);
    return lazy ? lazy_end(lazy, wg_array_grade(wg_array_draw(key, "bits", WG_KIND_U64, 1, &n), -1, false)) : NULL;
}

wg_array *wg_array_shuffle(wg_array *key, wg_array *a, int32_t axis)
{
    wg_lazy *lazy = LAZY_BEGIN(key, a);
    if (!lazy) return NULL;
    uint32_t place;
    return lazy_end(lazy, lazy_axis(a, axis, "shuffle", &place) ? wg_array_take(a, wg_array_permutation(key, lazy_shape(a)[place]), axis)
                    : NULL);
}
