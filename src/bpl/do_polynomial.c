/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Polynomials by their coefficients (constant first), by a multiplier and roots, or by a table of terms: values and roots.
 *
 * Roots: all at once by Aberth's iteration (O. Aberth, Iteration methods for finding all zeros of a polynomial simultaneously, 1973) from points
 * on circles that Cauchy's bounds give. */
#include <complex.h>
#include <math.h>

#include "base/complex.h"
#include "base/scalar.h"
#include "bpl/whole.h"

/* ---- values ---- */

/* answer × x + coefficient; consumes the answer. */
static bpl_value *next_term(bpl_session *session, bpl_value *answer, bpl_value *x, bpl_value *coefficient)
{
    bpl_value *product = answer && coefficient ? bpl_dyad(session, BPL_GLYPH_TIMES, answer, x) : NULL;
    bpl_value *sum = product ? bpl_dyad(session, BPL_GLYPH_PLUS, product, coefficient) : NULL;
    bpl_release(product);
    bpl_release(answer);
    return sum;
}

/* A constant for each number of x; consumes it. */
static bpl_value *constant(bpl_session *session, bpl_value *number, bpl_value *x)
{
    bpl_value *fill = bpl_fill(session, x), *sum = fill ? bpl_dyad(session, BPL_GLYPH_PLUS, number, fill) : NULL; /* of the kind of both */
    bpl_value *shape = sum ? bpl_monad(session, BPL_GLYPH_RESHAPE, x) : NULL, *result = NULL;
    bpl_release(number);
    bpl_release(fill);
    number = sum;
    if (shape && x->atom) result = bpl_keep(number);
    else if (shape) result = bpl_dyad(session, BPL_GLYPH_RESHAPE, shape, number);
    bpl_release(shape);
    bpl_release(number);
    return bpl_carry(session, result, x, NULL, NULL);
}

static bpl_value *by_coefficients(bpl_session *session, const bpl_value *coefficients, bpl_value *x)
{
    int64_t count = bpl_volume(coefficients);
    bpl_value *answer = count ? bpl_item(session, coefficients, count - 1) : bpl_integer(session, 0);
    if (count < 2) return answer ? constant(session, answer, x) : NULL;
    for (int64_t i = count - 1; answer && i-- > 0;) {
        bpl_value *coefficient = bpl_item(session, coefficients, i);
        answer = next_term(session, answer, x, coefficient);
        bpl_release(coefficient);
    }
    return answer;
}

/* multiplier × the product of x - root. */
static bpl_value *by_roots(bpl_session *session, bpl_value *multiplier, const bpl_value *roots, bpl_value *x)
{
    bpl_value *zero = bpl_integer(session, 0), *shaped = zero ? bpl_dyad(session, BPL_GLYPH_TIMES, zero, x) : NULL;
    bpl_value *answer = shaped ? bpl_dyad(session, BPL_GLYPH_PLUS, multiplier, shaped) : NULL;
    bpl_release(zero);
    bpl_release(shaped);
    for (int64_t i = 0; answer && i < bpl_volume(roots); i++) {
        bpl_value *root = bpl_item(session, roots, i), *factor = root ? bpl_dyad(session, BPL_GLYPH_MINUS, x, root) : NULL;
        bpl_value *next = factor ? bpl_dyad(session, BPL_GLYPH_TIMES, answer, factor) : NULL;
        bpl_release(root);
        bpl_release(factor);
        bpl_release(answer);
        answer = next;
    }
    return answer;
}

/* One term of a table at a point: coefficient × the product of powers. */
static bpl_value *term_at(bpl_session *session, const bpl_value *table, int64_t row, bpl_value *point)
{
    int64_t columns = bpl_shape(table)[1], variables = columns - 1, have = bpl_volume(point);
    bpl_value *answer = bpl_item(session, table, row * columns);
    for (int64_t i = 0; answer && i < variables; i++) {
        bpl_value *at = bpl_item(session, point, have == 1 ? 0 : i), *exponent = at ? bpl_item(session, table, row * columns + 1 + i) : NULL;
        bpl_value *power = exponent ? bpl_dyad(session, BPL_GLYPH_POWER, at, exponent) : NULL;
        bpl_value *next = power ? bpl_dyad(session, BPL_GLYPH_TIMES, answer, power) : NULL;
        bpl_release(at);
        bpl_release(exponent);
        bpl_release(power);
        bpl_release(answer);
        answer = next;
    }
    return answer;
}

static bpl_value *at_point(bpl_session *session, const bpl_value *table, bpl_value *point)
{
    int64_t variables = bpl_shape(table)[1] - 1;
    if (bpl_rank(point) > 1 || (bpl_volume(point) != 1 && bpl_volume(point) != variables))
        return bpl_fail(session, BPL_LENGTH, "⌻: %lld coordinates for %lld variables", (long long)bpl_volume(point), (long long)variables);
    bpl_value *answer = bpl_integer(session, 0);
    for (int64_t row = 0; answer && row < bpl_shape(table)[0]; row++) {
        bpl_value *term = term_at(session, table, row, point), *next = term ? bpl_dyad(session, BPL_GLYPH_PLUS, answer, term) : NULL;
        bpl_release(term);
        bpl_release(answer);
        answer = next;
    }
    return answer;
}

/* Items of x are points (an atom: a point of one coordinate). */
static bpl_value *by_table(bpl_session *session, const bpl_value *table, bpl_value *x)
{
    if (bpl_shape(table)[1] < 1) return bpl_fail(session, BPL_LENGTH, "⌻: a term is a coefficient and exponents");
    if (bpl_is_unit(x)) {
        bpl_value *point = bpl_item(session, x, 0), *answer = point ? at_point(session, table, point) : NULL;
        bpl_release(point);
        return answer;
    }
    bpl_items *items = bpl_items_new(session, bpl_rank(x), bpl_shape(x));
    bool good = items != NULL;
    for (int64_t i = 0; good && i < items->volume; i++) {
        bpl_value *point = bpl_item(session, x, i);
        good = point && (items->at[i] = at_point(session, table, point)) != NULL;
        bpl_release(point);
    }
    if (good) return bpl_collect(session, items);
    if (items) bpl_items_free(session, items);
    return NULL;
}

/* Numbers; points of several coordinates for a table alone. */
static bool takes(bpl_session *session, const bpl_value *left, const bpl_value *right)
{
    bool table = left->type == BPL_ITEMS && bpl_volume(left) == 1 && bpl_rank(left->items->at[0]) == 2;
    bool texts = right->type == BPL_CHARACTERS, points = false;
    for (int64_t i = 0; right->type == BPL_ITEMS && !table && i < bpl_volume(right); i++) {
        texts = texts || right->items->at[i]->type == BPL_CHARACTERS;
        points = points || !right->items->at[i]->atom;
    }
    if (texts) return bpl_fail(session, BPL_DOMAIN, "⌻: a polynomial is of numbers, not of characters"), false;
    return !points || bpl_fail(session, BPL_LENGTH, "⌻: points of several coordinates are for a table of terms");
}

bpl_value *bpl_do_polynomial(bpl_session *session, const bpl_call *call)
{
    bpl_value *left = call->left;
    if (!takes(session, left, call->right)) return NULL;
    if (left->type != BPL_ITEMS || (bpl_volume(left) && left->items->at[0]->atom && (bpl_volume(left) != 2 || left->items->at[1]->atom))) {
        if (left->type == BPL_CHARACTERS && bpl_volume(left)) return bpl_fail(session, BPL_DOMAIN, "⌻: coefficients are numbers");
        if (bpl_rank(left) > 1) return bpl_by_rows(session, call, bpl_do_polynomial);
        bpl_value *coefficients = bpl_as_vector(session, left), *answer = coefficients ? by_coefficients(session, coefficients, call->right) : NULL;
        bpl_release(coefficients);
        return answer;
    }
    int64_t count = bpl_volume(left);
    bpl_value *last = count ? left->items->at[count - 1] : NULL;
    if (count == 1 && bpl_rank(last) == 2) return by_table(session, last, call->right);
    if (bpl_rank(left) > 1 || count < 1 || count > 2 || bpl_rank(last) != 1 || (count == 2 && !left->items->at[0]->atom))
        return bpl_fail(session, BPL_DOMAIN, "⌻: coefficients, a multiplier and roots, or a table of terms are expected");
    bpl_value *multiplier = count == 2 ? bpl_keep(left->items->at[0]) : bpl_integer(session, 1);
    bpl_value *result = multiplier ? by_roots(session, multiplier, last, call->right) : NULL;
    bpl_release(multiplier);
    return result;
}

/* ---- roots ---- */

typedef double _Complex number;

static wg_complex128 parts_of(number x)
{
    return (wg_complex128){creal(x), cimag(x)};
}

static number from_parts(wg_complex128 x)
{
    return x.re + I * x.im;
}

static double magnitude(number x)
{
    return base_complex_magnitude_c128(parts_of(x));
}

/* The polynomial and its derivative at a point. */
static void evaluate(const number *coefficients, int64_t degree, number x, number *value, number *slope)
{
    *value = coefficients[degree];
    *slope = 0;
    for (int64_t i = degree; i-- > 0;) {
        *slope = *slope * x + *value;
        *value = *value * x + coefficients[i];
    }
}

/* How large the rounding errors of a value may be: the sum of the terms' magnitudes. */
static double noise(const number *coefficients, int64_t degree, number x)
{
    double size = magnitude(x), sum = magnitude(coefficients[degree]);
    for (int64_t i = degree; i-- > 0;) sum = sum * size + magnitude(coefficients[i]);
    return sum * 4e-16;
}

/* A step of Newton's toward a root, each root pushed away by the others. False: it stands still. */
static bool step(const number *coefficients, int64_t degree, number *roots, int64_t at)
{
    number value, slope, repulsion = 0;
    evaluate(coefficients, degree, roots[at], &value, &slope);
    if (magnitude(value) <= noise(coefficients, degree, roots[at]) / 8) return false;
    for (int64_t i = 0; i < degree; i++)
        if (i != at && roots[i] != roots[at]) repulsion += 1 / (roots[at] - roots[i]);
    number newton = slope != 0 ? value / slope : value, change = newton / (1 - newton * repulsion);
    if (!isfinite(creal(change)) || !isfinite(cimag(change))) change = newton;
    if (!isfinite(creal(change)) || !isfinite(cimag(change))) return false;
    roots[at] -= change;
    return magnitude(change) > 1e-16 * magnitude(roots[at]);
}

/* By the formula, without cancellation: double roots as exact as the square root. */
static void quadratic_roots(const number *coefficients, number *roots)
{
    number half = coefficients[1] / -2, spread = from_parts(base_complex_sqrt_c128(parts_of(half * half - coefficients[0] * coefficients[2])));
    number larger = creal(half) * creal(spread) + cimag(half) * cimag(spread) < 0 ? half - spread : half + spread;
    roots[0] = larger / coefficients[2];
    roots[1] = larger != 0 ? coefficients[0] / larger : 0;
}

static void find_roots(const number *coefficients, int64_t degree, number *roots)
{
    double bound = 0;
    if (degree == 1) {
        bool real = cimag(coefficients[0]) == 0 && cimag(coefficients[1]) == 0;
        roots[0] = real ? -creal(coefficients[0]) / creal(coefficients[1]) : -coefficients[0] / coefficients[1];
        return;
    }
    if (degree == 2) {
        quadratic_roots(coefficients, roots);
        return;
    }
    for (int64_t i = 0; i < degree; i++) { /* Fujiwara's bound on the magnitude */
        double ratio = magnitude(coefficients[i] / coefficients[degree]);
        double reach = ratio > 0 ? 2 * base_pow_f64(ratio, 1.0 / (double)(degree - i)) : 0;
        if (reach > bound) bound = reach;
    }
    for (int64_t i = 0; i < degree; i++) roots[i] = bound / 2 * from_parts(base_complex_exp_c128((wg_complex128){0, 2 * 3.14159265358979323846 * (double)i / (double)degree + 0.4}));
    for (int round = 0; round < 400; round++) {
        bool moving = false;
        for (int64_t i = 0; i < degree; i++) moving = step(coefficients, degree, roots, i) || moving;
        if (!moving) break;
    }
}

/* Imaginary parts that rounding made are none, if the coefficients are real; in order of real, then imaginary parts. */
static void tidy(const number *coefficients, int64_t degree, number *roots, bool real)
{
    for (int64_t i = 0; real && i < degree; i++) {
        number value, slope, at = creal(roots[i]);
        evaluate(coefficients, degree, at, &value, &slope);
        if (fabs(cimag(roots[i])) <= 1e-7 * magnitude(roots[i]) && magnitude(value) <= 16 * noise(coefficients, degree, at)) roots[i] = at;
        if (fabs(creal(roots[i])) <= 1e-14 * magnitude(roots[i])) roots[i] = I * cimag(roots[i]);
    }
    for (int64_t i = 1; i < degree; i++) {
        number moved = roots[i];
        int64_t at = i;
        for (; at > 0; at--) {
            double difference = creal(roots[at - 1]) - creal(moved), size = 1e-12 * magnitude(moved);
            if (!(difference > size || (fabs(difference) <= size && cimag(roots[at - 1]) > cimag(moved)))) break;
            roots[at] = roots[at - 1];
        }
        roots[at] = moved;
    }
}

static bpl_value *root_vector(bpl_session *session, const number *roots, int64_t count, bool narrow)
{
    bool real = true;
    bpl_class class = BPL_CLASS_FLOAT;
    for (int64_t i = 0; i < count; i++) real = real && cimag(roots[i]) == 0;
    wg_scope_open(session->lazy);
    wg_array *array = wg_array_from(session->lazy, WG_KIND_C128, 1, &count, roots);
    if (real) array = wg_array_real(array);
    else class = BPL_CLASS_COMPLEX;
    return bpl_scope_result(session, wg_array_convert(array, narrow ? real ? WG_KIND_F32 : WG_KIND_C64 : real ? WG_KIND_F64 : WG_KIND_C128), class);
}

/* A step of Newton's, which moves exact roots nowhere and carries the derivatives of the coefficients: each root's is that of the implicit
 * function. */
static bpl_value *carried_roots(bpl_session *session, bpl_value *roots, const bpl_value *coefficients, int64_t degree)
{
    if (!roots || !wg_array_is_carried(bpl_array(coefficients))) return roots;
    if (roots->class == BPL_CLASS_COMPLEX) {
        bpl_release(roots);
        return bpl_fail(session, BPL_UNSUPPORTED, "the derivative of complex roots is not supported");
    }
    wg_scope_open(session->lazy);
    wg_array *value = NULL, *slope = NULL, *kept = wg_array_convert(bpl_array(coefficients), bpl_kind(roots));
    for (int64_t i = degree; i >= 0; i--) {
        wg_array *one = wg_array_narrow(kept, 0, i, 1, 1);
        if (slope) slope = wg_array_mul(slope, bpl_array(roots));
        if (slope) slope = wg_array_add(slope, value);
        else if (value) slope = value;
        if (value) value = wg_array_mul(value, bpl_array(roots));
        value = value ? wg_array_add(value, one) : one;
    }
    wg_array *step = wg_array_div(value, slope), *moved = wg_array_sub(bpl_array(roots), step);
    bpl_value *result = bpl_scope_result(session, moved, BPL_CLASS_FLOAT);
    bpl_release(roots);
    return result;
}

/* Coefficients as complex numbers. */
static bool read_coefficients(bpl_session *session, const bpl_value *value, number *to)
{
    wg_view view;
    wg_scope_open(session->lazy);
    wg_array *wide = wg_array_convert(bpl_array(value), WG_KIND_C128);
    bool good = wide && wg_array_read(wide, &view);
    const wg_complex128 *from = good ? view.data : NULL;
    for (int64_t i = 0; good && i < bpl_volume(value); i++) {
        to[i] = from[i].re + I * from[i].im;
        bool finite = isfinite(from[i].re) && isfinite(from[i].im);
        if (bpl_volume(value) > 2 && !finite) good = bpl_fail(session, BPL_DOMAIN, "⌻: a coefficient is not finite") != NULL;
    }
    if (!good && !bpl_failed(session)) bpl_fail_lazy(session);
    wg_scope_close(session->lazy);
    return good;
}

static bpl_value *multiplier_and_roots(bpl_session *session, bpl_value *multiplier, bpl_value *roots)
{
    bpl_items *items = multiplier && roots ? bpl_items_new(session, 1, (int64_t[]){2}) : NULL;
    if (!items) return bpl_release(multiplier), bpl_release(roots), NULL;
    items->at[0] = multiplier;
    items->at[1] = roots;
    return bpl_collect(session, items);
}

/* The coefficients of a polynomial whose roots are sought; NULL and DOMAIN where there are none. Owned. */
static bpl_value *joined_coefficients(bpl_session *session, bpl_value *value)
{
    bpl_class class;
    wg_kind kind;
    if (bpl_rank(value) > 1) return bpl_fail(session, BPL_RANK, "⌻: coefficients are a vector");
    if (value->type == BPL_NUMBERS) return bpl_as_vector(session, value);
    if (value->type != BPL_ITEMS || !bpl_joined_kind(session, value->items->at, bpl_volume(value), &class, &kind) || class == BPL_CLASS_CHARACTER)
        return bpl_failed(session) ? NULL : bpl_fail(session, BPL_DOMAIN, "⌻: coefficients are numbers");
    for (int64_t i = 0; i < bpl_volume(value); i++)
        if (!value->items->at[i]->atom) return bpl_fail(session, BPL_DOMAIN, "⌻: coefficients are numbers");
    bpl_value *mixed = bpl_mix(session, value);
    if (mixed && mixed->type == BPL_NUMBERS) return mixed;
    wg_scope_open(session->lazy);
    wg_array **parts = base_allocate(session->allocator, (size_t)bpl_volume(value) * sizeof *parts);
    for (int64_t i = 0; parts && i < bpl_volume(value); i++) parts[i] = wg_array_convert(bpl_array(value->items->at[i]), kind);
    wg_array *row = parts ? wg_array_stack(parts, (uint32_t)bpl_volume(value), 0) : NULL;
    if (parts) base_free(session->allocator, parts, (size_t)bpl_volume(value) * sizeof *parts);
    else bpl_fail_memory(session);
    bpl_release(mixed);
    return bpl_scope_result(session, row, class);
}

static bpl_value *roots_of(bpl_session *session, bpl_value *coefficients)
{
    int64_t count = bpl_volume(coefficients), degree, zeros = 0;
    bool narrow = bpl_kind(coefficients) == WG_KIND_F32 || bpl_kind(coefficients) == WG_KIND_F16 || bpl_kind(coefficients) == WG_KIND_C64;
    number *numbers = base_allocate_zeroed(session->allocator, 2 * ((size_t)count + 1) * sizeof *numbers), *roots = numbers + count + 1;
    bpl_value *result = NULL;
    if (!numbers) return bpl_fail_memory(session);
    bool good = !count || read_coefficients(session, coefficients, numbers);
    for (degree = count - 1; degree >= 0 && numbers[degree] == 0; degree--) {}
    if (good && degree < 1) {
        bpl_value *constant_term = degree < 0 ? bpl_integer(session, 0) : bpl_item(session, coefficients, 0);
        result = multiplier_and_roots(session, constant_term, bpl_integers(session, NULL, 0));
    } else if (good) {
        while (numbers[zeros] == 0) zeros++;
        find_roots(numbers + zeros, degree - zeros, roots + zeros);
        tidy(numbers, degree, roots, coefficients->class != BPL_CLASS_COMPLEX);
        bpl_value *found = carried_roots(session, root_vector(session, roots, degree, narrow), coefficients, degree);
        result = multiplier_and_roots(session, bpl_item(session, coefficients, degree), found);
    }
    base_free(session->allocator, numbers, 2 * ((size_t)count + 1) * sizeof *numbers);
    return result;
}

bpl_value *bpl_do_roots(bpl_session *session, const bpl_call *call)
{
    bpl_value *value = call->right;
    if (value->type == BPL_ITEMS && bpl_volume(value) == 2 && bpl_rank(value) == 1 && value->items->at[0]->atom && bpl_rank(value->items->at[1]) == 1)
        return bpl_keep(value); /* a multiplier and roots already */
    bpl_value *coefficients = joined_coefficients(session, value), *result = coefficients ? roots_of(session, coefficients) : NULL;
    bpl_release(coefficients);
    return result;
}
