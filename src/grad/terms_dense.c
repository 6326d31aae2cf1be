/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Terms of dense algebra. Matrices stand on the last two axes; t is the tangent of an operand and g the cotangent of the result, products
 * are of matrices, .* is item by item. Each pair was derived from the equations that define the row: the tangent by differentiating them
 * and solving for the result's, the transpose by <g, tangent(t)> = <transpose(g), t>. */
#include "grad/grad.h"

/* ---- parts ---- */

/* a b, a^T b, a b^T. */
static wg_value product(wg_value a, wg_value b)
{
    return wg_matmul(a, b);
}

static wg_value product_turned(wg_value a, wg_value b)
{
    return wg_matmul(wg_transpose(a), b);
}

static wg_value product_by_turned(wg_value a, wg_value b)
{
    wg_value turned = wg_transpose(b);
    return wg_matmul(a, turned);
}

typedef enum part { LOWER, STRICTLY_LOWER, UPPER, DIAGONAL } part;

/* Where the items of matrices like x belong to a part: bool of x's shape. */
static wg_value part_of(wg_value x, part which)
{
    if (wg_is_poison(x)) return x;
    wg_size shape[WG_MAX_RANK];
    uint32_t rank = wg_value_rank(x);
    for (uint32_t axis = 0; axis < rank; axis++) shape[axis] = wg_value_size(x, axis);
    wg_value row = wg_iota(x.tape, WG_KIND_I64, rank, shape, rank - 2), column = wg_iota(x.tape, WG_KIND_I64, rank, shape, rank - 1);
    switch (which) {
    case LOWER: return wg_greater_equal(row, column);
    case STRICTLY_LOWER: return wg_greater(row, column);
    case UPPER: return wg_less_equal(row, column);
    case DIAGONAL: break;
    }
    return wg_equal(row, column);
}

/* x in a part, 0 elsewhere. */
static wg_value only(wg_value x, part which)
{
    wg_value condition = part_of(x, which), none = wg_fill_like(x, 0);
    return wg_select(condition, x, none);
}

/* strictly lower(x) - strictly lower(x)^T, and its transpose strictly lower(x - x^T). */
static wg_value skew(wg_value x)
{
    wg_value below = only(x, STRICTLY_LOWER);
    return wg_sub(below, wg_transpose(below));
}

static wg_value skew_transposed(wg_value x)
{
    return only(wg_sub(x, wg_transpose(x)), STRICTLY_LOWER);
}

/* The symmetric matrix of a lower triangle, and its transpose. */
static wg_value mirror(wg_value x)
{
    wg_value lower = only(x, LOWER), below = only(x, STRICTLY_LOWER);
    return wg_add(lower, wg_transpose(below));
}

static wg_value mirror_transposed(wg_value x)
{
    wg_value lower = only(x, LOWER), below = only(wg_transpose(x), STRICTLY_LOWER);
    return wg_add(lower, below);
}

/* x with each column c multiplied by v[.., c]; each row. */
static wg_value by_columns(wg_value x, wg_value v)
{
    uint32_t rank = wg_value_rank(x);
    if (wg_is_poison(x) || wg_is_poison(v)) return x;
    return wg_mul(x, wg_broadcast_along(v, rank - 2, wg_value_size(x, rank - 2)));
}

static wg_value by_rows(wg_value x, wg_value v)
{
    uint32_t rank = wg_value_rank(x);
    if (wg_is_poison(x) || wg_is_poison(v)) return x;
    return wg_mul(x, wg_broadcast_along(v, rank - 1, wg_value_size(x, rank - 1)));
}

static wg_value divided_by_columns(wg_value x, wg_value v)
{
    uint32_t rank = wg_value_rank(x);
    if (wg_is_poison(x) || wg_is_poison(v)) return x;
    return wg_div(x, wg_broadcast_along(v, rank - 2, wg_value_size(x, rank - 2)));
}

/* The sum of each column of matrices: [.., n]. */
static wg_value column_sums(wg_value x)
{
    return wg_is_poison(x) ? x : wg_sum_along(x, wg_value_rank(x) - 2);
}

/* A number for each matrix, under matrices like x. */
static wg_value under_matrices(wg_value number, wg_value x)
{
    if (wg_is_poison(number) || wg_is_poison(x)) return number;
    uint32_t rank = wg_value_rank(x);
    wg_value rows = wg_broadcast_along(number, rank - 2, wg_value_size(x, rank - 2));
    return wg_broadcast_along(rows, rank - 1, wg_value_size(x, rank - 1));
}

/* x / (v[j] - v[i]) off the diagonal, 0 on it: x [.., n, n], v [.., n]. Equal values leave an infinity or a NaN: there is no derivative. */
static wg_value over_gaps(wg_value x, wg_value v)
{
    uint32_t rank = wg_value_rank(x);
    if (wg_is_poison(x) || wg_is_poison(v)) return x;
    wg_value columns = wg_broadcast_along(v, rank - 2, wg_value_size(x, rank - 2)),
             rows = wg_broadcast_along(v, rank - 1, wg_value_size(x, rank - 1));
    wg_value diagonal = part_of(x, DIAGONAL), ones = wg_fill_like(x, 1), none = wg_fill_like(x, 0), gaps = wg_sub(columns, rows);
    wg_value quotients = wg_div(x, wg_select(diagonal, ones, gaps));
    return wg_select(diagonal, none, quotients);
}

/* ---- systems ---- */

/* a dx = -t x, a dx = t. */
wg_value grad_tangent_Solve_0(const grad_site *site, wg_value t)
{
    wg_value moved = product(t, grad_result(site));
    return wg_neg(wg_solve(grad_operand(site, 0), moved));
}

wg_value grad_transpose_Solve_0(const grad_site *site, wg_value g)
{
    wg_value w = wg_solve(wg_transpose(grad_operand(site, 0)), g);
    return wg_neg(product_by_turned(w, grad_result(site)));
}

wg_value grad_tangent_Solve_1(const grad_site *site, wg_value t)
{
    return wg_solve(grad_operand(site, 0), t);
}

wg_value grad_transpose_Solve_1(const grad_site *site, wg_value g)
{
    return wg_solve(wg_transpose(grad_operand(site, 0)), g);
}

static bool flag(const grad_site *site, uint32_t attribute)
{
    return grad_attribute(site, attribute) != 0;
}

/* The system of the node, or of its transpose. */
static wg_value by_triangle(const grad_site *site, wg_value right, bool transposed)
{
    return wg_solve_triangular(grad_operand(site, 0), right, flag(site, GRAPH_ATTRIBUTE(SolveTriangle, upper)),
                               flag(site, GRAPH_ATTRIBUTE(SolveTriangle, transposed)) != transposed,
                               flag(site, GRAPH_ATTRIBUTE(SolveTriangle, unit)));
}

/* What the row reads of a: its triangle, without the diagonal where that is taken for ones. */
static wg_value triangle_read(const grad_site *site, wg_value x)
{
    bool upper = flag(site, GRAPH_ATTRIBUTE(SolveTriangle, upper)), unit = flag(site, GRAPH_ATTRIBUTE(SolveTriangle, unit));
    if (!upper) return only(x, unit ? STRICTLY_LOWER : LOWER);
    if (!unit) return only(x, UPPER);
    wg_value below = part_of(x, LOWER), none = wg_fill_like(x, 0);
    return wg_select(below, none, x);
}

wg_value grad_tangent_SolveTriangle_0(const grad_site *site, wg_value t)
{
    wg_value read = triangle_read(site, t);
    if (flag(site, GRAPH_ATTRIBUTE(SolveTriangle, transposed))) read = wg_transpose(read);
    wg_value moved = product(read, grad_result(site));
    return wg_neg(by_triangle(site, moved, false));
}

wg_value grad_transpose_SolveTriangle_0(const grad_site *site, wg_value g)
{
    wg_value w = by_triangle(site, g, true), x = grad_result(site);
    bool transposed = flag(site, GRAPH_ATTRIBUTE(SolveTriangle, transposed));
    wg_value outer = transposed ? product_by_turned(x, w) : product_by_turned(w, x);
    return wg_neg(triangle_read(site, outer));
}

wg_value grad_tangent_SolveTriangle_1(const grad_site *site, wg_value t)
{
    return by_triangle(site, t, false);
}

wg_value grad_transpose_SolveTriangle_1(const grad_site *site, wg_value g)
{
    return by_triangle(site, g, true);
}

/* ---- least squares: x = P b, P the pseudo-inverse of a of full rank ----
 *
 * dP = -P t P + P P^T t^T (I - a P) + (I - P a) t^T P^T P, where the second part is 0 for full row rank (m <= n) and the third for full
 * column rank (m >= n); with r = b - a x and z = P^T x:  dx = -P t x + P P^T t^T r + (I - P a) t^T z. */

typedef struct full_rank {
    wg_value a, turned; /* a, a^T */
    bool tall, wide;    /* may m be more than n; less? Both where a named extent decides */
} full_rank;

static full_rank full_rank_of(const grad_site *site)
{
    wg_size shape[WG_MAX_RANK];
    uint32_t rank = grad_operand_shape(site, 0, shape);
    wg_size m = shape[rank - 2], n = shape[rank - 1];
    bool open = m.expression != n.expression;
    wg_value a = grad_operand(site, 0);
    return (full_rank){a, wg_transpose(a), open || m.number > n.number, open || m.number < n.number};
}

static wg_value residual(const grad_site *site, const full_rank *f)
{
    wg_value reached = product(f->a, grad_result(site));
    return wg_sub(grad_operand(site, 1), reached);
}

/* (I - P a) v, as v - a^T P^T v. */
static wg_value beside_rows(const full_rank *f, wg_value v)
{
    wg_value back = wg_least_squares(f->turned, v);
    return wg_sub(v, product(f->turned, back));
}

wg_value grad_tangent_LeastSquares_0(const grad_site *site, wg_value t)
{
    full_rank f = full_rank_of(site);
    wg_value x = grad_result(site), moved = product(t, x), sum = wg_neg(wg_least_squares(f.a, moved)), turned = wg_transpose(t);
    if (f.tall) {
        wg_value back = wg_least_squares(f.turned, product(turned, residual(site, &f)));
        sum = wg_add(sum, wg_least_squares(f.a, back));
    }
    if (f.wide) {
        wg_value z = wg_least_squares(f.turned, x);
        sum = wg_add(sum, beside_rows(&f, product(turned, z)));
    }
    return sum;
}

wg_value grad_transpose_LeastSquares_0(const grad_site *site, wg_value g)
{
    full_rank f = full_rank_of(site);
    wg_value x = grad_result(site), w = wg_least_squares(f.turned, g), sum = wg_neg(product_by_turned(w, x));
    if (f.tall) {
        wg_value r = residual(site, &f), back = wg_least_squares(f.a, w);
        sum = wg_add(sum, product_by_turned(r, back));
    }
    if (f.wide) {
        wg_value z = wg_least_squares(f.turned, x), beside = wg_sub(g, product(f.turned, w));
        sum = wg_add(sum, product_by_turned(z, beside));
    }
    return sum;
}

wg_value grad_tangent_LeastSquares_1(const grad_site *site, wg_value t)
{
    return wg_least_squares(grad_operand(site, 0), t);
}

wg_value grad_transpose_LeastSquares_1(const grad_site *site, wg_value g)
{
    return wg_least_squares(wg_transpose(grad_operand(site, 0)), g);
}

/* ---- Cholesky: dL = L half(L^-1 S L^-T), S the symmetric tangent; half takes the lower triangle and half of the diagonal ---- */

static wg_value half(wg_value x)
{
    wg_value diagonal = part_of(x, DIAGONAL), halves = wg_fill_like(x, 0.5), ones = wg_fill_like(x, 1);
    wg_value weights = wg_select(diagonal, halves, ones);
    return wg_mul(only(x, LOWER), weights);
}

wg_value grad_tangent_Cholesky_0(const grad_site *site, wg_value t)
{
    wg_value l = grad_result(site), left = wg_solve_triangular(l, mirror(t), false, false, false);
    wg_value both = wg_solve_triangular(l, wg_transpose(left), false, false, false);
    return product(l, half(wg_transpose(both)));
}

wg_value grad_transpose_Cholesky_0(const grad_site *site, wg_value g)
{
    wg_value l = grad_result(site), p = half(product_turned(l, g));
    wg_value left = wg_solve_triangular(l, p, false, true, false); /* L^-T p */
    wg_value both = wg_solve_triangular(l, wg_transpose(left), false, true, false);
    return mirror_transposed(wg_transpose(both));
}

/* ---- QR: with C = t1 R1^-1 of the first min columns, M = Q^T C and W = skew(M):  dQ = C + Q (W - M),  dR = Q^T t - W R ---- */

typedef struct qr {
    wg_value q, r1; /* [.., m, k], [.., k, k] */
    uint32_t rank;
    wg_size k, n;
    bool wide;
} qr;

static qr qr_of(const grad_site *site, wg_value q, wg_value r)
{
    wg_size shape[WG_MAX_RANK];
    uint32_t rank = grad_operand_shape(site, 0, shape);
    bool wide = shape[rank - 2].number < shape[rank - 1].number;
    qr f = {.q = q, .rank = rank, .k = shape[rank - (wide ? 2 : 1)], .n = shape[rank - 1], .wide = wide};
    f.r1 = wide ? wg_narrow(r, rank - 1, wg_number(0), f.k) : r;
    return f;
}

static qr qr_of_q(const grad_site *site)
{
    wg_value r = wg_qr_r(grad_operand(site, 0));
    return qr_of(site, grad_result(site), r);
}

static qr qr_of_r(const grad_site *site)
{
    wg_value q = wg_qr_q(grad_operand(site, 0));
    return qr_of(site, q, grad_result(site));
}

/* t1 R1^-1, and its transpose: c R1^-T, in zeros for the columns behind. */
static wg_value through_r(const qr *f, wg_value t)
{
    wg_value first = f->wide ? wg_narrow(t, f->rank - 1, wg_number(0), f->k) : t;
    return wg_transpose(wg_solve_triangular(f->r1, wg_transpose(first), true, true, false));
}

static wg_value through_r_transposed(const qr *f, wg_value c)
{
    wg_value first = wg_transpose(wg_solve_triangular(f->r1, wg_transpose(c), true, false, false));
    return f->wide ? wg_pad(first, f->rank - 1, wg_number(0), f->n, 0) : first;
}

wg_value grad_tangent_QrQ_0(const grad_site *site, wg_value t)
{
    qr f = qr_of_q(site);
    wg_value c = through_r(&f, t), m = product_turned(f.q, c), turn = wg_sub(skew(m), m);
    return wg_add(c, product(f.q, turn));
}

wg_value grad_transpose_QrQ_0(const grad_site *site, wg_value g)
{
    qr f = qr_of_q(site);
    wg_value x = product_turned(f.q, g), turn = wg_sub(skew_transposed(x), x);
    return through_r_transposed(&f, wg_add(g, product(f.q, turn)));
}

wg_value grad_tangent_QrR_0(const grad_site *site, wg_value t)
{
    qr f = qr_of_r(site);
    wg_value m = product_turned(f.q, through_r(&f, t)), turned = product(skew(m), grad_result(site));
    return only(wg_sub(product_turned(f.q, t), turned), UPPER);
}

wg_value grad_transpose_QrR_0(const grad_site *site, wg_value g)
{
    qr f = qr_of_r(site);
    wg_value upper = only(g, UPPER), m = skew_transposed(product_by_turned(upper, grad_result(site)));
    wg_value back = through_r_transposed(&f, product(f.q, m));
    return wg_sub(product(f.q, upper), back);
}

/* ---- determinants: the derivative of ln |det a| by a is a^-T ---- */

static wg_value inverse_turned(wg_value a)
{
    wg_value ones = wg_fill_like(a, 1), identity = only(ones, DIAGONAL);
    return wg_solve(wg_transpose(a), identity);
}

static wg_value matrix_sum(wg_value x)
{
    wg_value sums = column_sums(x);
    return wg_is_poison(sums) ? sums : wg_sum_along(sums, wg_value_rank(sums) - 1);
}

wg_value grad_tangent_LogDeterminant_0(const grad_site *site, wg_value t)
{
    wg_value slope = inverse_turned(grad_operand(site, 0));
    return matrix_sum(wg_mul(slope, t));
}

wg_value grad_transpose_LogDeterminant_0(const grad_site *site, wg_value g)
{
    wg_value slope = inverse_turned(grad_operand(site, 0));
    return wg_mul(slope, under_matrices(g, slope));
}

wg_value grad_tangent_Determinant_0(const grad_site *site, wg_value t)
{
    wg_value slope = inverse_turned(grad_operand(site, 0)), sum = matrix_sum(wg_mul(slope, t));
    return wg_mul(grad_result(site), sum);
}

wg_value grad_transpose_Determinant_0(const grad_site *site, wg_value g)
{
    wg_value slope = inverse_turned(grad_operand(site, 0)), scaled = wg_mul(grad_result(site), g);
    return wg_mul(slope, under_matrices(scaled, slope));
}

/* ---- singular values: ds = the diagonal of U^T t V ----
 *
 * Vectors, with P = U^T t V, F[i, j] = 1 / (s[j]^2 - s[i]^2) and 0 on the diagonal:
 *   dU = U (F .* (P S + S P^T)) + (I - U U^T) t V S^-1
 * and V is the U of the transpose, so that `near` is the side that is asked for and `far` the other one. */

wg_value grad_tangent_SvdS_0(const grad_site *site, wg_value t)
{
    wg_value a = grad_operand(site, 0), u = wg_svd_u(a), v = wg_svd_v(a);
    return column_sums(wg_mul(u, product(t, v)));
}

wg_value grad_transpose_SvdS_0(const grad_site *site, wg_value g)
{
    wg_value a = grad_operand(site, 0), u = wg_svd_u(a), v = wg_svd_v(a);
    return product_by_turned(by_columns(u, g), v);
}

typedef struct singular {
    wg_value near, far, s, squares;
    bool beside; /* has the near side directions outside of its vectors? */
} singular;

static singular singular_of(const grad_site *site, bool left)
{
    wg_size shape[WG_MAX_RANK];
    uint32_t rank = grad_operand_shape(site, 0, shape);
    int64_t m = shape[rank - 2].number, n = shape[rank - 1].number;
    wg_value a = grad_operand(site, 0), s = wg_svd_s(a);
    singular f = {.near = grad_result(site), .s = s, .squares = wg_mul(s, s), .beside = left ? m > n : n > m};
    f.far = left ? wg_svd_v(a) : wg_svd_u(a);
    return f;
}

/* (I - near near^T) v S^-1 */
static wg_value beside_near(const singular *f, wg_value v)
{
    wg_value within = product(f->near, product_turned(f->near, v));
    return divided_by_columns(wg_sub(v, within), f->s);
}

/* t as the near side sees it: [near, far]. */
static wg_value near_tangent(const singular *f, wg_value t)
{
    wg_value over = product(t, f->far), p = product_turned(f->near, over);
    wg_value columns = by_columns(p, f->s), rows = by_rows(wg_transpose(p), f->s), sum = wg_add(columns, rows);
    wg_value within = product(f->near, over_gaps(sum, f->squares));
    return f->beside ? wg_add(within, beside_near(f, over)) : within;
}

static wg_value near_transpose(const singular *f, wg_value g)
{
    wg_value y = over_gaps(product_turned(f->near, g), f->squares), both = wg_add(y, wg_transpose(y));
    wg_value inner = product(f->near, by_columns(both, f->s));
    if (f->beside) inner = wg_add(inner, beside_near(f, g));
    return product_by_turned(inner, f->far);
}

wg_value grad_tangent_SvdU_0(const grad_site *site, wg_value t)
{
    singular f = singular_of(site, true);
    return near_tangent(&f, t);
}

wg_value grad_transpose_SvdU_0(const grad_site *site, wg_value g)
{
    singular f = singular_of(site, true);
    return near_transpose(&f, g);
}

wg_value grad_tangent_SvdV_0(const grad_site *site, wg_value t)
{
    singular f = singular_of(site, false);
    return near_tangent(&f, wg_transpose(t));
}

wg_value grad_transpose_SvdV_0(const grad_site *site, wg_value g)
{
    singular f = singular_of(site, false);
    return wg_transpose(near_transpose(&f, g));
}

/* ---- symmetric eigenvalues: with P = V^T S V, S the symmetric tangent: dw = the diagonal of P, dV = V (P / (w[j] - w[i])) ---- */

wg_value grad_tangent_EighValues_0(const grad_site *site, wg_value t)
{
    wg_value v = wg_eigh_vectors(grad_operand(site, 0));
    return column_sums(wg_mul(v, product(mirror(t), v)));
}

wg_value grad_transpose_EighValues_0(const grad_site *site, wg_value g)
{
    wg_value v = wg_eigh_vectors(grad_operand(site, 0));
    return mirror_transposed(product_by_turned(by_columns(v, g), v));
}

wg_value grad_tangent_EighVectors_0(const grad_site *site, wg_value t)
{
    wg_value w = wg_eigh_values(grad_operand(site, 0)), v = grad_result(site), moved = product(mirror(t), v);
    return product(v, over_gaps(product_turned(v, moved), w));
}

wg_value grad_transpose_EighVectors_0(const grad_site *site, wg_value g)
{
    wg_value w = wg_eigh_values(grad_operand(site, 0)), v = grad_result(site);
    wg_value inner = product(v, over_gaps(product_turned(v, g), w));
    return mirror_transposed(product_by_turned(inner, v));
}
