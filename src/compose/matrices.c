/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Dense algebra as rows: inverses, powers, traces, outer products. */
#include "compose/compose.h"

/* True where x is matrices [.., m, n], square where asked for. */
static bool are_matrices(wg_value x, const char *name, bool square)
{
    if (!COMPOSE_READY(x.tape, x)) return false;
    uint32_t rank = wg_value_rank(x);
    const int64_t *shape = wg_value_shape(x);
    if (rank >= 2 && (!square || shape[rank - 1] == shape[rank - 2])) return true;
    graph_fail(x.tape, WG_SHAPE, "%s takes %s, not %s", name, square ? "square matrices [.., n, n]" : "matrices [.., m, n]",
               BASE_SHAPE_TEXT(rank, shape));
    return false;
}

/* Where the last two axes have equal positions: bool. */
static wg_value on_diagonal(wg_tape *tape, uint32_t rank, const wg_size *shape)
{
    wg_value row = wg_iota(tape, WG_KIND_I64, rank, shape, rank - 2), column = wg_iota(tape, WG_KIND_I64, rank, shape, rank - 1);
    return wg_equal(row, column);
}

/* Identities [.., m, m] for matrices [.., m, n]. */
static wg_value identities(wg_value a)
{
    wg_size shape[WG_MAX_RANK];
    uint32_t rank = compose_shape(a, shape);
    shape[rank - 1] = shape[rank - 2];
    return wg_convert(on_diagonal(a.tape, rank, shape), wg_value_kind(a));
}

wg_value wg_inverse(wg_value a)
{
    if (!are_matrices(a, "inverse", true)) return graph_poison(a.tape);
    return wg_solve(a, identities(a));
}

wg_value wg_pseudo_inverse(wg_value a)
{
    if (!are_matrices(a, "pseudo_inverse", false)) return graph_poison(a.tape);
    return wg_least_squares(a, identities(a));
}

wg_value wg_matrix_power(wg_value a, int64_t power)
{
    if (!are_matrices(a, "matrix_power", true)) return graph_poison(a.tape);
    if (power == INT64_MIN) return graph_fail(a.tape, WG_ARGUMENT, "matrix_power: the power may not be %lld", (long long)power);
    if (power == 0) return identities(a);
    wg_value square = power < 0 ? wg_inverse(a) : a, result = WG_ABSENT;
    for (int64_t left = power < 0 ? -power : power; left && !wg_is_poison(square); left /= 2) {
        if (left % 2) result = result.tape ? wg_matmul(result, square) : square;
        if (left > 1) square = wg_matmul(square, square);
    }
    return wg_is_poison(square) ? square : result;
}

wg_value wg_trace(wg_value a)
{
    if (!are_matrices(a, "trace", false)) return graph_poison(a.tape);
    wg_size shape[WG_MAX_RANK];
    uint32_t rank = compose_shape(a, shape);
    wg_value diagonal = on_diagonal(a.tape, rank, shape), none = wg_fill_like(a, 0);
    wg_value rows = wg_sum_along(wg_select(diagonal, a, none), rank - 1);
    return wg_is_poison(rows) ? rows : wg_sum_along(rows, rank - 2);
}

wg_value wg_outer(wg_value a, wg_value b)
{
    if (!COMPOSE_READY(a.tape, a, b)) return graph_poison(a.tape);
    uint32_t rank = wg_value_rank(a), other = wg_value_rank(b);
    if (!rank || !other)
        return graph_fail(a.tape, WG_SHAPE, "outer takes vectors [.., m] and [.., n], not %s and %s",
                          BASE_SHAPE_TEXT(rank, wg_value_shape(a)), BASE_SHAPE_TEXT(other, wg_value_shape(b)));
    wg_value rows = wg_broadcast_along(a, rank, wg_value_size(b, other - 1));
    wg_value columns = wg_broadcast_along(b, other - 1, wg_value_size(a, rank - 1));
    return wg_mul(rows, columns);
}

wg_value wg_spectral_norm(wg_value a)
{
    if (!are_matrices(a, "spectral_norm", false)) return graph_poison(a.tape);
    wg_value s = wg_svd_s(a);
    if (wg_is_poison(s)) return s;
    wg_size shape[WG_MAX_RANK];
    uint32_t rank = compose_shape(s, shape);
    return wg_reshape(wg_narrow(s, rank - 1, wg_number(0), wg_number(1)), rank - 1, shape);
}
