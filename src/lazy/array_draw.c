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
    return lazy_end(lazy, lazy_axis(a, axis, "shuffle", &place) ? wg_array_take(a, wg_array_permutation(key, lazy_shape(a)[place]), axis) : NULL);
}
