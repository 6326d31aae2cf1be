/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Any bytes as calls of wengert/array.h: every one that the header has, on arrays and numbers as they come, with reads between. What must
 * hold: no crash, no leak, no array left; a failure has a code and a message; what a call answers is read twice to the same items, and one
 * function of several calls answers the same by itself, read at every step, compiled, under a derivative and mapped over a frame of one. */
#include <math.h>
#include <string.h>

#include "calls.h"
#include "base/base.h"
#include "base/tensor.h"
#define WG_NO_SITES
#include "wengert/array.h"

#define MOST_ITEMS 512 /* of an array that takes part in further calls */
#define SLOTS 10
#define MOST_CALLS 64

/* ---- arguments ---- */

/* Mostly small and of either sign; now and then beyond all measure. */
static int64_t integer(stream *s)
{
    uint8_t byte = take(s);
    if (byte > 250) return (int64_t)((uint64_t)(int64_t)(byte - 253) << (take(s) % 64));
    return (int64_t)(byte % 8) - 2;
}

static double number(stream *s)
{
    static const double odd[] = {0.0, -0.0, 1e300, -1e-300, (double)INFINITY, -(double)INFINITY, (double)NAN, 9.3e18};
    uint8_t byte = take(s);
    return byte > 240 ? odd[byte % 8] : (double)(int8_t)byte / 4;
}

static int32_t axis(stream *s)
{
    uint8_t byte = take(s);
    return byte == 255 ? INT32_MIN : byte == 254 ? INT32_MAX : (int32_t)(byte % 7) - 3;
}

static wg_kind kind(stream *s)
{
    static const wg_kind often[] = {WG_KIND_F32, WG_KIND_F64, WG_KIND_I64, WG_KIND_BOOL};
    uint8_t byte = take(s);
    return byte < 200 ? often[byte % 4] : (wg_kind)(byte % (WG_KIND_COUNT + 1));
}

static const char *word(stream *s)
{
    static const char *const words[] = {"sum",   "product", "max",    "min",     "and",       "or",      "xor",    "sub",     "error",
                                        "fill",  "clamp",   "skip",   "add",     "replace",   "left",    "right",  "constant", "edge",
                                        "wrap",  "reflect", "linear", "lower",   "midpoint",  "uniform", "normal", "bits",    "symmetric",
                                        "higher", "nearest", "exponential", "residue", "", NULL};
    return words[take(s) % (sizeof words / sizeof *words)];
}

typedef struct lists {
    int64_t numbers[6], more[6];
    int32_t axes[6], others[6];
    uint32_t count;
} lists;

static lists draw_lists(stream *s)
{
    lists l = {.count = below(s, 5)};
    for (uint32_t i = 0; i < 6; i++) {
        bool drawn = i < l.count || i < 2;
        l.numbers[i] = drawn ? integer(s) : 1;
        l.more[i] = drawn ? integer(s) : 0;
        l.axes[i] = drawn ? axis(s) : 0;
        l.others[i] = (int32_t)i - (int32_t)(l.numbers[i] & 3);
    }
    return l;
}

/* ---- calls: the table of all of them, by what they take ---- */

typedef struct arguments {
    wg_lazy *lazy;
    wg_array *values[SLOTS]; /* to draw from: none is NULL below count */
    uint32_t count;
    stream *in;
} arguments;

static wg_array *any(arguments *a)
{
    return a->count ? a->values[take(a->in) % a->count] : NULL;
}

/* Mostly an array of the same kind as another one. */
static wg_array *beside(arguments *a, const wg_array *first)
{
    uint8_t place = take(a->in);
    for (uint32_t tries = 0; tries < a->count && first; tries++) {
        wg_array *other = a->values[(place + tries) % a->count];
        if (wg_array_kind(other) == wg_array_kind(first)) return other;
    }
    return a->count ? a->values[place % a->count] : NULL;
}

typedef struct answer {
    wg_array *results[SLOTS];
    uint32_t count;
    bool good;
} answer;

static answer one(wg_array *array)
{
    return (answer){{array}, 1, array != NULL};
}

static answer elementwise(arguments *a)
{
    static wg_array *(*const unary[])(wg_array *) = {
#define UNARY(name, Row, doc) wg_array_##name,
#define COMPOSED(name, doc) wg_array_##name,
#include "wengert/arrays.def"
        wg_array_square, wg_array_reciprocal, wg_array_trunc, wg_array_log2, wg_array_log10, wg_array_exp2, wg_array_deg2rad,
        wg_array_rad2deg, wg_array_is_nan, wg_array_is_inf, wg_array_is_finite, wg_array_signbit, wg_array_logical_not, wg_array_zeros_like,
        wg_array_ones_like, wg_array_flatten, wg_array_transpose, wg_array_matrix_transpose, wg_array_argwhere,
    };
    static wg_array *(*const binary[])(wg_array *, wg_array *) = {
#define BINARY(name, Row, doc) wg_array_##name,
#define MATRICES(name, Row, doc) wg_array_##name,
#include "wengert/arrays.def"
        wg_array_fmod, wg_array_hypot, wg_array_logaddexp, wg_array_copysign, wg_array_nextafter, wg_array_lcm, wg_array_logical_and,
        wg_array_logical_or, wg_array_logical_xor, wg_array_array_equal, wg_array_first_index, wg_array_is_in, wg_array_union,
        wg_array_intersection, wg_array_difference, wg_array_symmetric_difference, wg_array_matmul, wg_array_dot, wg_array_outer,
        wg_array_inner, wg_array_kron, wg_array_embedding, wg_array_cross_entropy, wg_array_mean_squared_error,
        wg_array_binary_cross_entropy, wg_array_key_fold, wg_array_draw_gamma, wg_array_draw_log_gamma, wg_array_draw_poisson,
    };
    static wg_array *(*const ternary[])(wg_array *, wg_array *, wg_array *) = {
#define TERNARY(name, Row, doc) wg_array_##name,
#include "wengert/arrays.def"
        wg_array_select, wg_array_clip, wg_array_draw_integers, wg_array_draw_binomial, wg_array_draw_truncated, wg_array_linear,
    };
    static wg_array *(*const scalar[])(wg_array *, double) = {
#define BINARY(name, Row, doc) wg_array_##name##_scalar,
#include "wengert/arrays.def"
        wg_array_full_like, wg_array_leaky_relu, wg_array_elu,
    };
    uint8_t which = take(a->in), form = which % 8;
    which = take(a->in);
    wg_array *x = any(a);
    if (form < 2) return one(unary[which % (sizeof unary / sizeof *unary)](x));
    if (form < 5) return one(binary[which % (sizeof binary / sizeof *binary)](x, beside(a, x)));
    if (form < 6) return one(scalar[which % (sizeof scalar / sizeof *scalar)](x, number(a->in)));
    wg_array *y = beside(a, x), *z = which & 128 ? wg_array_absent() : beside(a, y);
    return one(ternary[which % (sizeof ternary / sizeof *ternary)](x, y, z));
}

static answer reduced(arguments *a)
{
    static wg_array *(*const folds[])(wg_array *, const int32_t *, uint32_t, bool) = {
#define REDUCTION(name, doc) wg_array_##name,
#include "wengert/arrays.def"
    };
    stream *in = a->in;
    uint8_t which = take(in);
    wg_array *x = any(a);
    lists l = draw_lists(in);
    const int32_t *axes = l.count ? l.axes : NULL;
    bool keep = take(in) & 1;
    switch (which % 16) {
    case 0: return one(wg_array_var(x, axes, l.count, keep, number(in)));
    case 1: return one(wg_array_std(x, axes, l.count, keep, number(in)));
    case 2: return one(wg_array_quantile(x, number(in), axes, l.count, keep, word(in)));
    case 3: return one(wg_array_norm(x, number(in), axes, l.count, keep));
    case 4: return one(wg_array_reduce(x, word(in), l.axes[0]));
    case 5: return one(wg_array_reduce_right(x, word(in), l.axes[0]));
    case 6: return one(wg_array_scan(x, word(in), l.axes[0], keep));
    case 7: return one(keep ? wg_array_cumsum(x, l.axes[0]) : wg_array_cumprod(x, l.axes[0]));
    case 8: return one(keep ? wg_array_cummax(x, l.axes[0]) : wg_array_cummin(x, l.axes[0]));
    case 9: return one(wg_array_diff(x, (uint32_t)integer(in), l.axes[0]));
    case 10: return one(keep ? wg_array_softmax(x, l.axes[0]) : wg_array_log_softmax(x, l.axes[0]));
    case 11: return one(wg_array_sum_along(x, l.axes[0]));
    default: return one(folds[(which / 16u + which) % (sizeof folds / sizeof *folds)](x, axes, l.count, keep));
    }
}

static answer created(arguments *a)
{
    stream *in = a->in;
    wg_kind k = kind(in);
    lists l = draw_lists(in);
    uint32_t rank = take(in) == 255 ? UINT32_MAX : l.count;
    switch (take(in) % 12) {
    case 0: return one(wg_array_full(a->lazy, k, rank, l.numbers, number(in)));
    case 1: return one(wg_array_zeros(a->lazy, k, rank, l.numbers));
    case 2: return one(wg_array_iota(a->lazy, k, rank, l.numbers, axis(in)));
    case 3: {
        double start = number(in), stop = number(in);
        return one(wg_array_arange(a->lazy, k, start, stop, number(in)));
    }
    case 4: {
        double start = number(in), stop = number(in);
        return one(wg_array_linspace(a->lazy, k, start, stop, integer(in), take(in) & 1));
    }
    case 5: return one(wg_array_eye(a->lazy, k, l.numbers[0], l.numbers[1], l.more[0]));
    case 6: return one(wg_array_tri(a->lazy, k, l.numbers[0], l.numbers[1], l.more[0]));
    case 7: return one(wg_array_diag(any(a), l.numbers[0]));
    case 8: return one(wg_array_diagonal(any(a), l.numbers[0], l.axes[0], l.axes[1]));
    case 9: return one(take(in) & 1 ? wg_array_tril(any(a), l.numbers[0]) : wg_array_triu(any(a), l.numbers[0]));
    case 10: return one(wg_array_one_hot(any(a), l.numbers[0], k));
    default: {
        answer grids = {.count = 2};
        wg_array *vectors[2] = {any(a), any(a)};
        grids.good = wg_array_meshgrid(vectors, 2, take(in) & 1, grids.results);
        return grids;
    }
    }
}

static answer several(arguments *a)
{
    stream *in = a->in;
    lists l = draw_lists(in);
    wg_array *x = any(a), *list[4] = {x, NULL, NULL, NULL};
    for (uint32_t i = 1; i < 4; i++) list[i] = beside(a, x);
    l.count += !l.count; /* without arrays there is no context to keep an error */
    answer many = {.count = l.count};
    switch (take(in) % 6) {
    case 0: return one(wg_array_concat(list, l.count, l.axes[0]));
    case 1: return one(wg_array_stack(list, l.count, l.axes[0]));
    case 2: many.good = wg_array_split(x, many.count, l.axes[0], many.results); return many;
    case 3: many.good = wg_array_split_at(x, l.numbers, many.count++, l.axes[0], many.results); return many;
    case 4: many.good = wg_array_broadcast_arrays(list, many.count, many.results); return many;
    default: many.good = wg_array_promote(list, many.count, many.results); return many;
    }
}

static answer laid_out(arguments *a)
{
    stream *in = a->in;
    wg_array *x = any(a);
    lists l = draw_lists(in);
    switch (take(in) % 24) {
    case 0: return one(wg_array_reshape(x, l.count, l.numbers));
    case 1: return one(wg_array_permute(x, l.axes, l.count));
    case 2: return one(wg_array_permute(x, NULL, l.count));
    case 3: return one(wg_array_move_axis(x, l.axes, l.others, l.count));
    case 4: return one(wg_array_swap_axes(x, l.axes[0], l.axes[1]));
    case 5: return one(wg_array_squeeze(x, l.count ? l.axes : NULL, l.count));
    case 6: return one(wg_array_expand_dims(x, l.axes, l.count));
    case 7: return one(wg_array_broadcast_to(x, l.count, l.numbers));
    case 8: return one(wg_array_broadcast(x, l.count, l.numbers));
    case 9: return one(wg_array_broadcast_along(x, l.axes[0], l.numbers[0]));
    case 10: return one(wg_array_flip(x, l.count ? l.axes : NULL, l.count));
    case 11: return one(wg_array_reverse(x, l.axes[0]));
    case 12: return one(wg_array_roll(x, l.numbers, take(in) & 1 ? l.axes : NULL, l.count));
    case 13: return one(wg_array_narrow(x, l.axes[0], l.numbers[0], l.numbers[1], l.more[0]));
    case 14: return one(wg_array_tile(x, l.count, l.numbers));
    case 15: return one(wg_array_repeat(x, l.numbers[0], l.axes[0]));
    case 16: return one(wg_array_repeat_each(x, any(a), l.axes[0]));
    case 17:
    case 18: return one(wg_array_pad(x, l.numbers, l.more, word(in), number(in)));
    case 19: return one(wg_array_unfold(x, l.axes[0], l.numbers[0], l.numbers[1], l.more[0]));
    case 20: return one(wg_array_fold(x, l.axes[0], l.numbers[0], l.numbers[1], l.more[0], l.more[1]));
    case 21: return one(wg_array_convert(x, kind(in)));
    case 22: return one(wg_array_convert_wrap(x, kind(in)));
    default: return one(wg_array_bitcast(x, kind(in)));
    }
}

static uint32_t draw_indexes(arguments *a, wg_index *indexes)
{
    stream *in = a->in;
    uint32_t count = below(in, 5);
    for (uint32_t i = 0; i < count; i++) {
        switch (take(in) % 8) {
        case 0:
        case 1: indexes[i] = wg_index_at(integer(in)); break;
        case 2: indexes[i] = wg_index_all(); break;
        case 3: {
            int64_t start = integer(in), stop = integer(in);
            indexes[i] = wg_index_slice(start, stop, integer(in));
            break;
        }
        case 4: indexes[i] = wg_index_rest(); break;
        case 5: indexes[i] = wg_index_new_axis(); break;
        default: indexes[i] = wg_index_by(any(a));
        }
    }
    return count;
}

static answer indexed(arguments *a)
{
    stream *in = a->in;
    wg_array *x = any(a);
    wg_index indexes[5];
    lists l = draw_lists(in);
    switch (take(in) % 16) {
    case 0:
    case 1:
    case 2: return one(wg_array_index(x, indexes, draw_indexes(a, indexes)));
    case 3:
    case 4: {
        uint32_t count = draw_indexes(a, indexes);
        return one(wg_array_put(x, indexes, count, beside(a, x)));
    }
    case 5: {
        uint32_t count = draw_indexes(a, indexes);
        return one(wg_array_put_add(x, indexes, count, beside(a, x)));
    }
    case 6: return one(wg_array_take(x, any(a), l.axes[0]));
    case 7: return one(wg_array_take_along_axis(x, any(a), l.axes[0]));
    case 8: return one(wg_array_put_along_axis(x, any(a), beside(a, x), l.axes[0]));
    case 9: return one(wg_array_compress(any(a), x, l.axes[0]));
    case 10: return one(wg_array_where(x, l.numbers[0]));
    case 11: {
        answer positions = {.count = wg_array_rank(x) <= SLOTS ? wg_array_rank(x) : 0};
        positions.good = wg_array_nonzero(x, positions.results);
        return positions;
    }
    case 12: return one(wg_array_gather(x, any(a), l.axes[0], (uint32_t)l.numbers[0], word(in), number(in)));
    case 13: return one(wg_array_scatter(x, any(a), l.axes[0], (uint32_t)l.numbers[0], l.numbers[1], word(in), word(in)));
    case 14: return one(wg_array_slice(x, any(a), l.axes[0], (uint32_t)l.numbers[0], l.numbers[1], word(in)));
    default: return one(wg_array_update(x, beside(a, x), any(a), l.axes[0], (uint32_t)l.numbers[0], word(in)));
    }
}

static answer ordered(arguments *a)
{
    stream *in = a->in;
    wg_array *x = any(a);
    lists l = draw_lists(in);
    answer many = {.count = 2};
    switch (take(in) % 16) {
    case 0: return one(wg_array_sort(x, l.axes[0], l.count & 1));
    case 1: return one(wg_array_argsort(x, l.axes[0], l.count & 1));
    case 2: many.good = wg_array_top_k(x, l.numbers[0], l.axes[0], many.results, l.count & 1 ? many.results + 1 : NULL); return many;
    case 3: return one(wg_array_top_k_values(x, l.numbers[0], l.axes[0]));
    case 4: return one(wg_array_partition(x, l.numbers[0], l.axes[0]));
    case 5: return one(wg_array_argpartition(x, l.numbers[0], l.axes[0]));
    case 6: return one(wg_array_searchsorted(x, beside(a, x), l.count & 1));
    case 7: return one(wg_array_bins(x, beside(a, x), word(in)));
    case 8: return one(wg_array_digitize(x, beside(a, x), l.count & 1));
    case 9:
    case 10:
        many.count = 4;
        many.good = wg_array_unique(x, l.count & 1 ? many.results : NULL, l.count & 2 ? many.results + 1 : NULL,
                                    l.numbers[0] & 1 ? many.results + 2 : NULL, l.numbers[1] & 1 ? many.results + 3 : NULL);
        return many;
    case 11: {
        double low = number(in);
        many.good = wg_array_histogram(x, l.numbers[0], low, number(in), many.results, l.count & 1 ? many.results + 1 : NULL);
        return many;
    }
    case 12: return one(wg_array_bincount(x, l.count & 1 ? NULL : any(a), l.numbers[0]));
    case 13: return one(wg_array_top_k_positions(x, l.numbers[0], l.axes[0]));
    case 14: {
        double relative = number(in);
        return one(wg_array_is_close(x, beside(a, x), relative, number(in), l.count & 1));
    }
    default: return one(wg_array_all_close(x, beside(a, x), number(in), 0.5, l.count & 1));
    }
}

static answer multiplied(arguments *a)
{
    stream *in = a->in;
    wg_array *x = any(a), *y = beside(a, x), *list[3] = {x, y, beside(a, y)};
    lists l = draw_lists(in);
    char notation[24];
    static const char letters[] = "iijjkab.,->Z ...,";
    switch (take(in) % 12) {
    case 0:
    case 1:
    case 2: {
        uint32_t length = below(in, sizeof notation - 1);
        for (uint32_t i = 0; i < length; i++) notation[i] = letters[take(in) % (sizeof letters - 1)];
        notation[length] = 0;
        return one(wg_array_einsum(notation, list, 1u + below(in, 3)));
    }
    case 3: {
        static const char *const usual[] = {"ij,jk->ik", "...ij,...jk->...ik", "ii->i", "ij->ji", "i,j", "ij,jk,kl", "...,...", "ij->",
                                            "i...,i...->...", "abc,cd->abd"};
        return one(wg_array_einsum(usual[take(in) % (sizeof usual / sizeof *usual)], list, 1u + below(in, 3)));
    }
    case 4: return one(wg_array_vecdot(x, y, l.axes[0]));
    case 5: return one(wg_array_tensordot(x, y, l.axes, l.others, l.count));
    case 6: return one(wg_array_trace(x, l.numbers[0], l.axes[0], l.axes[1]));
    case 7: return one(wg_array_cross(x, y, l.axes[0]));
    case 8: return one(wg_array_matrix_power(x, l.numbers[0]));
    case 9: return one(wg_array_solve_triangular(x, y, l.count & 1, l.count & 2, l.numbers[0] & 1));
    case 10: return one(wg_array_attention(x, y, list[2], l.count & 1 ? NULL : any(a), number(in)));
    default: return one(wg_array_layer_norm(x, y, list[2], number(in)));
    }
}

static answer drawn(arguments *a)
{
    stream *in = a->in;
    wg_array *key = any(a);
    wg_kind k = kind(in);
    lists l = draw_lists(in);
    switch (take(in) % 8) {
    case 0: return one(wg_array_draw(key, word(in), k, l.count, l.numbers));
    case 1: return one(wg_array_key_split(key, l.numbers[0]));
    case 2: {
        double low = number(in);
        return one(wg_array_uniform(key, k, l.count, l.numbers, low, number(in)));
    }
    case 3: {
        double mean = number(in);
        return one(wg_array_normal(key, k, l.count, l.numbers, mean, number(in)));
    }
    case 4: return one(wg_array_bernoulli(key, number(in), l.count, l.numbers));
    case 5: return one(wg_array_permutation(key, l.numbers[0]));
    case 6: return one(wg_array_shuffle(key, any(a), l.axes[0]));
    default: return one(wg_array_dropout(any(a), key, number(in)));
    }
}

static answer windowed(arguments *a)
{
    stream *in = a->in;
    wg_array *x = any(a), *y = beside(a, x);
    lists l = draw_lists(in);
    wg_window window = {.size = {l.numbers[0], l.numbers[1]}, .step = {l.more[0], l.more[1]}, .dilation = {l.numbers[2] & 3, l.more[2] & 3},
                        .pad = {l.numbers[3] & 3, l.more[3] & 3, l.count, l.numbers[4]}};
    answer many = {.count = 3};
    switch (take(in) % 5) {
    case 0: return one(wg_array_conv2d(x, y, NULL, take(in) & 1 ? &window : NULL, l.numbers[0]));
    case 1: return one(wg_array_max_pool(x, &window));
    case 2: return one(wg_array_avg_pool(x, &window));
    case 3:
        many.results[0] = wg_array_batch_norm(x, y, beside(a, y), number(in), &many.results[1], &many.results[2]);
        many.good = many.results[0] != NULL;
        return many;
    default: return one(wg_array_rms_norm(x, y, number(in)));
    }
}

static answer call(arguments *a)
{
    switch (take(a->in) % 16) {
    case 0: return created(a);
    case 1: return reduced(a);
    case 2:
    case 3: return laid_out(a);
    case 4:
    case 5:
    case 6: return indexed(a);
    case 7:
    case 8: return ordered(a);
    case 9: return multiplied(a);
    case 10: return several(a);
    case 11: return drawn(a);
    case 12: return windowed(a);
    default: return elementwise(a);
    }
}

/* ---- the session ---- */

typedef struct session {
    budget memory;
    wg_context *context;
    wg_lazy *lazy;
    wg_array *slots[SLOTS];
} session;

static bool judge(session *s, bool good)
{
    return judge_call(s->lazy, &s->memory, good);
}

static void demand_same(const wg_tensor *a, const wg_tensor *b)
{
    demand(a->kind == b->kind && a->rank == b->rank && (!a->rank || !memcmp(a->shape, b->shape, a->rank * sizeof *a->shape)));
    size_t bytes = base_kinds[a->kind].bytes;
    if (base_kinds[a->kind].class == BASE_CLASS_COMPLEX) return; /* which part is NaN is not looked at */
    for (int64_t i = 0; i < a->volume; i++) {
        if (!memcmp((char *)a->data + i * bytes, (char *)b->data + i * bytes, bytes)) continue;
        double x = base_number_load(a->kind, a->data, i).d, y = base_number_load(b->kind, b->data, i).d;
        demand(base_kinds[a->kind].class == BASE_CLASS_FLOAT && x != x && y != y);
    }
}

static void demand_one_value(session *s, wg_array *a, wg_array *b)
{
    wg_tensor *of_a = wg_array_tensor(a), *of_b = wg_array_tensor(b);
    wg_lazy_error_clear(s->lazy);
    demand(!of_a == !of_b || s->memory.failed);
    if (of_a && of_b) demand_same(of_a, of_b);
    wg_tensor_release(of_a);
    wg_tensor_release(of_b);
}

static void read(session *s, wg_array *array)
{
    if (!array) return;
    wg_tensor *items = wg_array_tensor(array);
    bool good = judge(s, items != NULL);
    if (good) demand(items->kind == wg_array_kind(array) && items->rank == wg_array_rank(array) && items->volume == wg_array_volume(array));
    wg_tensor_release(items);
}

static void put(session *s, wg_array **slot, wg_array *array)
{
    if (array && wg_array_volume(array) > MOST_ITEMS) {
        wg_array_release(array);
        array = NULL;
    }
    if (!array) return;
    wg_array_release(*slot);
    *slot = array;
    (void)s;
}

static void source(session *s, stream *in, wg_array **slot)
{
    wg_kind k = kind(in);
    uint32_t rank = below(in, 4);
    int64_t shape[4];
    for (uint32_t i = 0; i < rank; i++) shape[i] = below(in, 5);
    if (k >= WG_KIND_COUNT) return;
    wg_tensor *items = wg_tensor_new(s->context, k, rank, shape, NULL, NULL);
    if (!items) return;
    bool complex = base_kinds[k].class == BASE_CLASS_COMPLEX, odd = take(in) > 240;
    for (int64_t i = 0; i < items->volume && !complex; i++) {
        int64_t item = (int8_t)take(in);
        if (k == WG_KIND_BOOL) ((uint8_t *)items->data)[i] = (uint8_t)(item & 1);
        else if (odd && k == WG_KIND_F64) ((double *)items->data)[i] = item > 96 ? (double)NAN : item < -96 ? (double)INFINITY : (double)item;
        else base_number_store(k, items->data, i, base_number_convert((base_number){.i = item % 8}, WG_KIND_I64, k, false));
    }
    wg_array *array = wg_array_of(s->lazy, items);
    if (judge(s, array != NULL)) put(s, slot, array);
}

static arguments arguments_of(session *s, stream *in)
{
    arguments a = {.lazy = s->lazy, .in = in};
    for (uint32_t i = 0; i < SLOTS; i++)
        if (s->slots[i]) a.values[a.count++] = s->slots[i];
    return a;
}

static void one_call(session *s, stream *in, wg_array **slot)
{
    arguments a = arguments_of(s, in);
    if (!a.count) return;
    answer got = call(&a);
    judge(s, got.good);
    for (uint32_t i = 0; i < got.count && got.good; i++) put(s, i ? &s->slots[(slot - s->slots + i) % SLOTS] : slot, got.results[i]);
    demand(got.good || !got.results[0]);
}

/* ---- functions: what is left of the bytes, as calls on one argument ---- */

#define MOST_STEPS 6
typedef struct program {
    const uint8_t *at, *end;
    const bool *failed; /* an allocation */
    bool known, good[MOST_STEPS]; /* which calls the first run answered */
    bool steps, unreadable;       /* every call is read; one cannot be */
} program;

/* A call that one road answers fails on another one only for a reason. */
static bool may_fail(const wg_error *error)
{
    return error->code == WG_UNSUPPORTED || strstr(error->message, "batched") || strstr(error->message, "rank");
}

static bool run_program(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    program *p = user;
    stream in = {p->at, p->end};
    arguments a = {.lazy = lazy, .values = {inputs[0]}, .count = 1, .in = &in};
    for (uint32_t steps = 0; in.at < in.end && steps < MOST_STEPS; steps++) {
        answer got = call(&a);
        const wg_error *error = wg_lazy_error(lazy);
        if (!got.good && *p->failed) return false;
        if (!p->known) p->good[steps] = got.good;
        if (!got.good && p->good[steps]) {
            demand(may_fail(error));
            return false;
        }
        demand(got.good == p->good[steps]);
        wg_lazy_error_clear(lazy);
        for (uint32_t i = 0; p->steps && i < got.count && got.good; i++)
            if (got.results[i] && wg_array_volume(got.results[i]) <= MOST_ITEMS && !wg_array_run(&got.results[i], 1)) p->unreadable = true;
        wg_lazy_error_clear(lazy);
        for (uint32_t i = 0; i < got.count && got.good; i++)
            if (got.results[i] && wg_array_volume(got.results[i]) <= MOST_ITEMS / 4 && a.count < SLOTS) a.values[a.count++] = got.results[i];
    }
    p->known = true;
    outputs[0] = a.values[a.count - 1];
    return true;
}

static program program_of(const session *s, stream *in)
{
    program p = {.at = in->at, .failed = &s->memory.failed};
    uint8_t length = take(in) % 48;
    p.at = in->at;
    while (length-- && in->at < in->end) in->at++;
    p.end = in->at;
    return p;
}

static wg_array *lifted(session *s, wg_function *f, wg_array *input, bool *known)
{
    wg_array *frame = wg_array_expand_dims(input, (int32_t[]){0}, 1), *mapped = NULL, *cell = NULL;
    *known = frame && wg_function_map(s->lazy, f, &frame, NULL, NULL, &mapped);
    if (mapped && wg_array_rank(mapped) <= WG_MAX_RANK) cell = wg_array_squeeze(mapped, (int32_t[]){0}, 1);
    wg_array_release(frame);
    wg_array_release(mapped);
    wg_lazy_error_clear(s->lazy); /* a call that reads fails under a map */
    return cell;
}

static void function(session *s, stream *in, wg_array **slot, uint8_t how)
{
    arguments a = arguments_of(s, in);
    wg_array *input = any(&a), *plain = NULL, *other = NULL;
    program p = program_of(s, in);
    if (!input) return;
    wg_function f = {run_program, &p, 1, 1};
    bool good = judge(s, wg_function_call(s->lazy, &f, &input, &plain)), known = good;
    if (good && how == 0) {
        wg_jit *jit = wg_jit_new(s->lazy, &f, NULL, 0);
        for (int times = 0; times < 2 && jit; times++) {
            known = judge(s, wg_jit_call(jit, &input, &other));
            if (known) demand_one_value(s, plain, other);
            wg_array_release(other);
            other = NULL;
        }
        wg_jit_free(&jit);
        wg_lazy_error_clear(s->lazy);
    } else if (good && how == 1) {
        wg_array *cotangent = base_kinds[wg_array_kind(plain)].class == BASE_CLASS_FLOAT ? wg_array_ones_like(plain) : NULL, *gradient = NULL;
        known = wg_function_vjp(s->lazy, &f, &input, &cotangent, &other, &gradient);
        judge(s, known);
        if (known) demand_one_value(s, plain, other);
        wg_array_release(cotangent);
        if (known) read(s, gradient);
        if (known) put(s, slot, gradient);
    } else if (good && how == 3) {
        p.steps = true;
        known = judge(s, wg_function_call(s->lazy, &f, &input, &other));
        if (known && !p.unreadable) demand_one_value(s, plain, other);
    } else if (good) {
        other = lifted(s, &f, input, &known);
        if (other) demand_one_value(s, plain, other);
    }
    wg_array_release(plain);
    wg_array_release(other);
}

static void step(session *s, stream *in)
{
    uint8_t what = take(in);
    wg_array **slot = &s->slots[below(in, SLOTS)];
    switch (what % 32) {
    case 0:
    case 1:
    case 2:
    case 3: source(s, in, slot); break;
    case 4:
    case 5: read(s, *slot); break;
    case 6:
    case 7:
    case 8: function(s, in, slot, what % 32 - 6); break;
    case 12:
    case 13:
    case 14: function(s, in, slot, 3); break;
    case 9:
        wg_array_release(*slot);
        *slot = NULL;
        break;
    case 10: s->memory.fails_at = s->memory.allocations + 1u + take(in); break;
    case 11: {
        wg_array *literal = wg_array_number(s->lazy, kind(in), number(in));
        if (judge(s, literal != NULL)) put(s, slot, literal);
        break;
    }
    default: one_call(s, in, slot);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    session s;
    memset(&s, 0, sizeof s);
    stream in = {bytes, bytes + length};
    s.context = budget_context(&s.memory);
    wg_lazy_options settings = {.size = sizeof settings, .context = s.context, .same_bits_only = true, .cached_plans = take(&in) & 1 ? 2 : 0};
    s.lazy = wg_lazy_new(&settings, NULL);
    demand(s.lazy != NULL);
    for (uint32_t calls = 0; in.at < in.end && calls < MOST_CALLS; calls++) step(&s, &in);
    s.memory.fails_at = 0;
    for (uint32_t i = 0; i < SLOTS; i++) read(&s, s.slots[i]);
    for (uint32_t i = 0; i < SLOTS; i++) wg_array_release(s.slots[i]);
    demand_nothing_left(&s.lazy, s.context, &s.memory);
    return 0;
}
