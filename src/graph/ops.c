/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The recording functions, one a row: each lays its attributes out in the order of ops.def and records. */
#define WG_NO_SITES
#include "wengert/ops.h"

#include <string.h>

#include "graph/graph.h"

#define RECORD(op, operands, attributes) \
    wg_record((operands)[0].tape, WG_OP_##op, (operands), sizeof(operands) / sizeof *(operands), (attributes), sizeof(attributes) / sizeof *(attributes))
#define PLAIN(number) ((wg_size){(number), 0})

#define UNARY(name, Row) \
    wg_value wg_##name(wg_value a) { return wg_record(a.tape, WG_OP_##Row, &a, 1, NULL, 0); }

/* A right-hand scalar: its constant, and a Broadcast where the left has axes. */
static wg_value spread(wg_value like, double number)
{
    wg_value scalar = wg_scalar(like, number);
    if (wg_is_poison(scalar) || !wg_value_rank(like)) return scalar;
    wg_size shape[WG_MAX_RANK];
    for (uint32_t axis = 0; axis < wg_value_rank(like); axis++) shape[axis] = wg_value_size(like, axis);
    return wg_broadcast(scalar, wg_value_rank(like), shape);
}

static wg_value binary(wg_op op, wg_value a, wg_value b)
{
    wg_value operands[2] = {a, b};
    return wg_record(a.tape, op, operands, 2, NULL, 0);
}

#define BINARY(name, Row)                                                                \
    wg_value wg_##name(wg_value a, wg_value b) { return binary(WG_OP_##Row, a, b); }     \
    wg_value wg_##name##_scalar(wg_value a, double b) { return binary(WG_OP_##Row, a, spread(a, b)); }

UNARY(neg, Neg)
UNARY(abs, Abs)
UNARY(sign, Sign)
UNARY(floor, Floor)
UNARY(ceil, Ceil)
UNARY(round, Round)
UNARY(exp, Exp)
UNARY(expm1, Expm1)
UNARY(ln, Ln)
UNARY(log1p, Log1p)
UNARY(sqrt, Sqrt)
UNARY(cbrt, Cbrt)
UNARY(tanh, Tanh)
UNARY(sin, Sin)
UNARY(cos, Cos)
UNARY(tan, Tan)
UNARY(asin, Asin)
UNARY(acos, Acos)
UNARY(atan, Atan)
UNARY(sinh, Sinh)
UNARY(cosh, Cosh)
UNARY(asinh, Asinh)
UNARY(acosh, Acosh)
UNARY(atanh, Atanh)
UNARY(erf, Erf)
UNARY(erf_derivative, ErfDerivative)
UNARY(erf_inverse, ErfInverse)
UNARY(gamma, Gamma)
UNARY(lgamma, Lgamma)
UNARY(digamma, Digamma)
UNARY(trigamma, Trigamma)
UNARY(real_sqrt, RealSqrt)
UNARY(real_ln, RealLn)
UNARY(not, Not)
UNARY(stop_gradient, StopGradient)
UNARY(real, Real)
UNARY(imag, Imag)
UNARY(conj, Conj)
BINARY(add, Add)
BINARY(sub, Sub)
BINARY(mul, Mul)
BINARY(div, Div)
BINARY(powf, Powf)
BINARY(maximum, Maximum)
BINARY(minimum, Minimum)
BINARY(residue, Residue)
BINARY(floor_divide, FloorDivide)
BINARY(gcd, Gcd)
BINARY(atan2, Atan2)
BINARY(real_pow, RealPow)
BINARY(equal, Equal)
BINARY(not_equal, NotEqual)
BINARY(less, Less)
BINARY(less_equal, LessEqual)
BINARY(greater, Greater)
BINARY(greater_equal, GreaterEqual)
BINARY(step, Step)
BINARY(and, And)
BINARY(or, Or)
BINARY(xor, Xor)
BINARY(shift_left, ShiftLeft)
BINARY(shift_right, ShiftRight)

#define FUNCTION_2(name, Row) \
    wg_value wg_##name(wg_value a, wg_value b) { return binary(WG_OP_##Row, a, b); }
#define FUNCTION_3(name, Row)                                                        \
    wg_value wg_##name(wg_value a, wg_value b, wg_value c)                           \
    {                                                                                \
        wg_value operands[3] = {a, b, c};                                            \
        return wg_record(a.tape, WG_OP_##Row, operands, 3, NULL, 0);                 \
    }

FUNCTION_2(polygamma, Polygamma)
FUNCTION_2(gamma_p, GammaP)
FUNCTION_2(gamma_q, GammaQ)
FUNCTION_2(gamma_density, GammaDensity)
FUNCTION_2(gamma_p_by_a, GammaPByA)
FUNCTION_2(gamma_p_inverse, GammaPInverse)
FUNCTION_3(beta_i, BetaI)
FUNCTION_3(beta_density, BetaDensity)
FUNCTION_3(beta_i_by_a, BetaIByA)
FUNCTION_3(beta_i_by_b, BetaIByB)

wg_value wg_select(wg_value condition, wg_value b, wg_value c)
{
    wg_value operands[3] = {condition, b, c};
    return wg_record(condition.tape, WG_OP_Select, operands, 3, NULL, 0);
}

static wg_value convert(wg_value a, wg_kind kind, bool wrap)
{
    wg_size attributes[2] = {PLAIN(kind), PLAIN(wrap)};
    return wg_record(a.tape, WG_OP_Convert, &a, 1, attributes, 2);
}

wg_value wg_convert(wg_value a, wg_kind kind)
{
    return convert(a, kind, false);
}

wg_value wg_convert_wrap(wg_value a, wg_kind kind)
{
    return convert(a, kind, true);
}

wg_value wg_bitcast(wg_value a, wg_kind kind)
{
    wg_size attributes[1] = {PLAIN(kind)};
    return wg_record(a.tape, WG_OP_Bitcast, &a, 1, attributes, 1);
}

wg_value wg_complex(wg_value a, wg_value b)
{
    return binary(WG_OP_Complex, a, b);
}

/* The value of a choice word; a tape error and -1 where there is none. */
static int64_t choice(wg_tape *tape, wg_op op, graph_attribute_type type, const char *word)
{
    int64_t value = word ? graph_choice_value(type, word, strlen(word)) : -1;
    if (value >= 0) return value;
    char words[160] = "";
    for (int64_t i = 0; graph_choice_word(type, i); i++) {
        if (i) base_text_append(words, sizeof words, ", ");
        base_text_append(words, sizeof words, graph_choice_word(type, i));
    }
    graph_fail(tape, WG_ARGUMENT, "%s does not know the word \"%s\" among %s", graph_rows[op].text, word ? word : "", words);
    return -1;
}

static wg_value matmul(wg_value a, wg_value b, int64_t accumulate)
{
    wg_value operands[2] = {a, b};
    wg_size attributes[1] = {PLAIN(accumulate)};
    return RECORD(MatMul, operands, attributes);
}

wg_value wg_matmul(wg_value a, wg_value b)
{
    return matmul(a, b, GRAPH_BY_RULE);
}

wg_value wg_matmul_accumulate(wg_value a, wg_value b, wg_kind accumulate)
{
    return matmul(a, b, (int64_t)accumulate);
}

wg_value wg_qmatmul(wg_value x, wg_value w)
{
    return wg_qmatmul_activation(x, w, "f32");
}

wg_value wg_qmatmul_activation(wg_value x, wg_value w, const char *activation)
{
    wg_value operands[2] = {x, w};
    if (!graph_check_values(x.tape, operands, 2)) return graph_poison(x.tape);
    wg_size attributes[1] = {PLAIN(choice(x.tape, WG_OP_QMatMul, GRAPH_ACTIVATION, activation))};
    return RECORD(QMatMul, operands, attributes);
}

wg_value wg_expert_matmul(wg_value x, wg_value w, wg_value expert)
{
    return wg_expert_matmul_activation(x, w, expert, "f32");
}

wg_value wg_expert_matmul_activation(wg_value x, wg_value w, wg_value expert, const char *activation)
{
    wg_value operands[3] = {x, w, expert};
    if (!graph_check_values(x.tape, operands, 3)) return graph_poison(x.tape);
    wg_size attributes[1] = {PLAIN(choice(x.tape, WG_OP_ExpertMatMul, GRAPH_ACTIVATION, activation))};
    return RECORD(ExpertMatMul, operands, attributes);
}

wg_value wg_sum(wg_value a)
{
    wg_size attributes[1] = {PLAIN(GRAPH_BY_RULE)};
    return wg_record(a.tape, WG_OP_Sum, &a, 1, attributes, 1);
}

wg_value wg_sum_along(wg_value a, uint32_t axis)
{
    wg_size attributes[2] = {PLAIN(axis), PLAIN(GRAPH_BY_RULE)};
    return wg_record(a.tape, WG_OP_SumAlong, &a, 1, attributes, 2);
}

static wg_value fold_axis(wg_value a, wg_op row, const char *op, int64_t axis, int64_t last)
{
    if (!graph_check_values(a.tape, &a, 1)) return graph_poison(a.tape);
    wg_size attributes[3] = {PLAIN(choice(a.tape, row, GRAPH_FOLDING, op)), PLAIN(axis), PLAIN(last)};
    return wg_record(a.tape, row, &a, 1, attributes, 3);
}

wg_value wg_reduce(wg_value a, const char *op, uint32_t axis)
{
    return fold_axis(a, WG_OP_Reduce, op, axis, GRAPH_DIRECTION_TREE);
}

wg_value wg_reduce_right(wg_value a, const char *op, uint32_t axis)
{
    return fold_axis(a, WG_OP_Reduce, op, axis, GRAPH_DIRECTION_RIGHT);
}

wg_value wg_scan(wg_value a, const char *op, uint32_t axis, bool reverse)
{
    return fold_axis(a, WG_OP_Scan, op, axis, reverse);
}

static wg_value along(wg_op op, wg_value a, int64_t axis)
{
    wg_size attributes[1] = {PLAIN(axis)};
    return wg_record(a.tape, op, &a, 1, attributes, 1);
}

wg_value wg_arg_max(wg_value a, uint32_t axis)
{
    return along(WG_OP_ArgMax, a, axis);
}

wg_value wg_arg_min(wg_value a, uint32_t axis)
{
    return along(WG_OP_ArgMin, a, axis);
}

wg_value wg_log_softmax(wg_value a, uint32_t axis)
{
    return along(WG_OP_LogSoftmax, a, axis);
}

wg_value wg_log_sum_exp(wg_value a, uint32_t axis)
{
    return along(WG_OP_LogSumExp, a, axis);
}

/* ---- layout ---- */

/* [count, sizes ..] after `used` attributes; false and a tape error beyond the greatest rank. */
static bool put_sizes(wg_tape *tape, wg_size *attributes, uint32_t *used, uint32_t rank, const wg_size *shape)
{
    if (rank > WG_MAX_RANK) {
        if (tape) graph_fail(tape, WG_SHAPE, "a rank of %u is above %d", rank, WG_MAX_RANK);
        return false;
    }
    attributes[(*used)++] = PLAIN(rank);
    for (uint32_t axis = 0; axis < rank; axis++) attributes[(*used)++] = shape[axis];
    return true;
}

static wg_value with_shape(wg_op op, wg_value a, uint32_t rank, const wg_size *shape)
{
    wg_size attributes[1 + WG_MAX_RANK];
    uint32_t used = 0;
    if (!put_sizes(a.tape, attributes, &used, rank, shape)) return graph_poison(a.tape);
    return wg_record(a.tape, op, &a, 1, attributes, used);
}

wg_value wg_broadcast(wg_value a, uint32_t rank, const wg_size *shape)
{
    return with_shape(WG_OP_Broadcast, a, rank, shape);
}

wg_value wg_broadcast_along(wg_value a, uint32_t axis, wg_size extent)
{
    wg_size attributes[2] = {PLAIN(axis), extent};
    return wg_record(a.tape, WG_OP_BroadcastAlong, &a, 1, attributes, 2);
}

wg_value wg_reshape(wg_value a, uint32_t rank, const wg_size *shape)
{
    return with_shape(WG_OP_Reshape, a, rank, shape);
}

wg_value wg_permute(wg_value a, const uint32_t *order)
{
    wg_size attributes[1 + WG_MAX_RANK] = {PLAIN(wg_value_rank(a))};
    for (uint32_t axis = 0; axis < wg_value_rank(a); axis++) attributes[1 + axis] = PLAIN(order[axis]);
    return wg_record(a.tape, WG_OP_Permute, &a, 1, attributes, 1 + wg_value_rank(a));
}

wg_value wg_narrow(wg_value a, uint32_t axis, wg_size start, wg_size len)
{
    return wg_narrow_step(a, axis, start, len, 1);
}

wg_value wg_narrow_step(wg_value a, uint32_t axis, wg_size start, wg_size len, int64_t step)
{
    wg_size attributes[4] = {PLAIN(axis), start, len, PLAIN(step)};
    return wg_record(a.tape, WG_OP_Narrow, &a, 1, attributes, 4);
}

wg_value wg_reverse(wg_value a, uint32_t axis)
{
    return along(WG_OP_Reverse, a, axis);
}

static wg_size real(double number)
{
    wg_size size = {0, 0};
    if (number != number) size.number = 0x7ff8000000000000; /* one NaN */
    else memcpy(&size.number, &number, sizeof number);
    return size;
}

wg_value wg_pad(wg_value a, uint32_t axis, wg_size start, wg_size full_extent, double value)
{
    wg_size attributes[4] = {PLAIN(axis), start, full_extent, real(value)};
    return wg_record(a.tape, WG_OP_Pad, &a, 1, attributes, 4);
}

wg_value wg_concat(const wg_value *operands, uint32_t count, uint32_t axis)
{
    wg_size attributes[1] = {PLAIN(axis)};
    return wg_record(count ? operands[0].tape : NULL, WG_OP_Concat, operands, count, attributes, 1);
}

wg_value wg_unfold(wg_value a, uint32_t axis, wg_size size, int64_t step, int64_t dilation)
{
    wg_size attributes[4] = {PLAIN(axis), size, PLAIN(step), PLAIN(dilation)};
    return wg_record(a.tape, WG_OP_Unfold, &a, 1, attributes, 4);
}

wg_value wg_fold(wg_value a, uint32_t axis, wg_size size, int64_t step, int64_t dilation, wg_size extent)
{
    wg_size attributes[5] = {PLAIN(axis), size, PLAIN(step), PLAIN(dilation), extent};
    return wg_record(a.tape, WG_OP_Fold, &a, 1, attributes, 5);
}

/* ---- indexing ---- */

wg_value wg_gather(wg_value a, wg_value positions, uint32_t axis)
{
    return wg_gather_batch(a, positions, axis, 0, "error", 0);
}

wg_value wg_gather_batch(wg_value a, wg_value positions, uint32_t axis, uint32_t batch, const char *outside, double fill)
{
    wg_value operands[2] = {a, positions};
    if (!graph_check_values(a.tape, operands, 2)) return graph_poison(a.tape);
    wg_size attributes[4] = {PLAIN(axis), PLAIN(batch), PLAIN(choice(a.tape, WG_OP_Gather, GRAPH_OUTSIDE, outside)), real(fill)};
    return RECORD(Gather, operands, attributes);
}

wg_value wg_scatter(wg_value a, wg_value positions, uint32_t axis, wg_size extent)
{
    return wg_scatter_batch(a, positions, axis, 0, extent, "error", "add");
}

wg_value wg_scatter_batch(wg_value a, wg_value positions, uint32_t axis, uint32_t batch, wg_size extent, const char *outside, const char *mode)
{
    wg_value operands[2] = {a, positions};
    if (!graph_check_values(a.tape, operands, 2)) return graph_poison(a.tape);
    wg_size attributes[5] = {PLAIN(axis), PLAIN(batch), extent, PLAIN(choice(a.tape, WG_OP_Scatter, GRAPH_OUTSIDE, outside)),
                             PLAIN(choice(a.tape, WG_OP_Scatter, GRAPH_MODE, mode))};
    return RECORD(Scatter, operands, attributes);
}

wg_value wg_slice(wg_value a, wg_value start, uint32_t axis, uint32_t batch, wg_size len, const char *outside)
{
    wg_value operands[2] = {a, start};
    if (!graph_check_values(a.tape, operands, 2)) return graph_poison(a.tape);
    wg_size attributes[4] = {PLAIN(axis), PLAIN(batch), len, PLAIN(choice(a.tape, WG_OP_Slice, GRAPH_OUTSIDE, outside))};
    return RECORD(Slice, operands, attributes);
}

wg_value wg_update(wg_value a, wg_value b, wg_value start, uint32_t axis, uint32_t batch, const char *outside)
{
    wg_value operands[3] = {a, b, start};
    if (!graph_check_values(a.tape, operands, 3)) return graph_poison(a.tape);
    wg_size attributes[3] = {PLAIN(axis), PLAIN(batch), PLAIN(choice(a.tape, WG_OP_Update, GRAPH_OUTSIDE, outside))};
    return RECORD(Update, operands, attributes);
}

wg_value wg_where(wg_value condition, wg_size maximum)
{
    return wg_record(condition.tape, WG_OP_Where, &condition, 1, &maximum, 1);
}

/* ---- order ---- */

static wg_value ordered(wg_op op, wg_value a, int64_t axis, wg_size last)
{
    wg_size attributes[2] = {PLAIN(axis), last};
    return wg_record(a.tape, op, &a, 1, attributes, 2);
}

wg_value wg_sort(wg_value a, uint32_t axis, bool descending)
{
    return ordered(WG_OP_Sort, a, axis, PLAIN(descending));
}

wg_value wg_grade(wg_value a, uint32_t axis, bool descending)
{
    return ordered(WG_OP_Grade, a, axis, PLAIN(descending));
}

wg_value wg_top_k_values(wg_value a, uint32_t axis, wg_size k)
{
    return ordered(WG_OP_TopKValues, a, axis, k);
}

wg_value wg_top_k_positions(wg_value a, uint32_t axis, wg_size k)
{
    return ordered(WG_OP_TopKPositions, a, axis, k);
}

wg_value wg_first_index(wg_value x, wg_value y)
{
    return binary(WG_OP_FirstIndex, x, y);
}

wg_value wg_bins(wg_value x, wg_value bounds, const char *side)
{
    wg_value operands[2] = {x, bounds};
    if (!graph_check_values(x.tape, operands, 2)) return graph_poison(x.tape);
    wg_size attributes[1] = {PLAIN(choice(x.tape, WG_OP_Bins, GRAPH_SIDE, side))};
    return RECORD(Bins, operands, attributes);
}

/* ---- dense algebra ---- */

wg_value wg_solve(wg_value a, wg_value b)
{
    return binary(WG_OP_Solve, a, b);
}

wg_value wg_solve_triangular(wg_value a, wg_value b, bool upper, bool transposed, bool unit)
{
    wg_value operands[2] = {a, b};
    if (!graph_check_values(a.tape, operands, 2)) return graph_poison(a.tape);
    wg_size attributes[3] = {PLAIN(upper), PLAIN(transposed), PLAIN(unit)};
    return RECORD(SolveTriangle, operands, attributes);
}

wg_value wg_least_squares(wg_value a, wg_value b)
{
    return binary(WG_OP_LeastSquares, a, b);
}

UNARY(cholesky, Cholesky)
UNARY(qr_q, QrQ)
UNARY(qr_r, QrR)
UNARY(determinant, Determinant)
UNARY(log_determinant, LogDeterminant)
UNARY(determinant_sign, DetSign)
UNARY(svd_u, SvdU)
UNARY(svd_s, SvdS)
UNARY(svd_v, SvdV)
UNARY(eigh_values, EighValues)
UNARY(eigh_vectors, EighVectors)

/* ---- generators ---- */

wg_value wg_iota(wg_tape *tape, wg_kind kind, uint32_t rank, const wg_size *shape, uint32_t axis)
{
    wg_size attributes[3 + WG_MAX_RANK];
    uint32_t used = 0;
    if (!put_sizes(tape, attributes, &used, rank, shape)) return graph_poison(tape);
    attributes[used++] = PLAIN(axis);
    attributes[used++] = PLAIN(kind);
    return wg_record(tape, WG_OP_Iota, NULL, 0, attributes, used);
}

wg_value wg_draw(wg_value key, const char *distribution, wg_kind kind, uint32_t rank, const wg_size *shape)
{
    if (!graph_check_values(key.tape, &key, 1)) return graph_poison(key.tape);
    wg_size attributes[3 + WG_MAX_RANK] = {PLAIN(choice(key.tape, WG_OP_Draw, GRAPH_DISTRIBUTION, distribution))};
    uint32_t used = 1;
    if (!put_sizes(key.tape, attributes, &used, rank, shape)) return graph_poison(key.tape);
    attributes[used++] = PLAIN(kind);
    return wg_record(key.tape, WG_OP_Draw, &key, 1, attributes, used);
}

wg_value wg_key_split(wg_value key, wg_size count)
{
    return wg_record(key.tape, WG_OP_KeySplit, &key, 1, &count, 1);
}

wg_value wg_key_fold(wg_value key, wg_value n)
{
    return binary(WG_OP_KeyFold, key, n);
}

wg_value wg_draw_integers(wg_value key, wg_value low, wg_value high)
{
    return wg_record(key.tape, WG_OP_DrawIntegers, (const wg_value[]){key, low, high}, 3, NULL, 0);
}

static wg_value drawn_gamma(wg_op op, wg_value key, wg_value shape, bool logarithm)
{
    wg_size attribute = PLAIN(logarithm);
    return wg_record(key.tape, op, (const wg_value[]){key, shape}, 2, &attribute, 1);
}

wg_value wg_draw_gamma(wg_value key, wg_value shape)
{
    return drawn_gamma(WG_OP_DrawGamma, key, shape, false);
}

wg_value wg_draw_log_gamma(wg_value key, wg_value shape)
{
    return drawn_gamma(WG_OP_DrawGamma, key, shape, true);
}

wg_value wg_draw_gamma_slope(wg_value key, wg_value shape, bool logarithm)
{
    return drawn_gamma(WG_OP_DrawGammaSlope, key, shape, logarithm);
}

wg_value wg_draw_poisson(wg_value key, wg_value mean)
{
    return binary(WG_OP_DrawPoisson, key, mean);
}

wg_value wg_draw_binomial(wg_value key, wg_value count, wg_value p)
{
    return wg_record(key.tape, WG_OP_DrawBinomial, (const wg_value[]){key, count, p}, 3, NULL, 0);
}

wg_value wg_draw_truncated(wg_value key, wg_value from, wg_value to)
{
    return wg_record(key.tape, WG_OP_DrawTruncated, (const wg_value[]){key, from, to}, 3, NULL, 0);
}
