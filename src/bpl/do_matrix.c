/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Inverse and solve: rows of dense algebra. A complex matrix goes through them as a real one of twice the size.
 *
 * A square matrix is solved by its pivots, unless it is singular: then, and where it is not square, the answer is that of least squares with the
 * shortest solution. What is singular is decided here: a pivot of no more than epsilon times the size times the greatest magnitude. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "bpl/whole.h"

/* ---- as matrices of floats ---- */

/* The kind in which a value is solved: floats of its width, integers as √ would have them. COUNT and DOMAIN where it is no number. */
static wg_kind float_kind_of(bpl_session *session, const bpl_value *value)
{
    if (value->type != BPL_NUMBERS) return bpl_fail(session, BPL_DOMAIN, "⌹: numbers are expected"), WG_KIND_COUNT;
    wg_kind kind = bpl_kind(value);
    switch (value->class) {
    case BPL_CLASS_FLOAT: return kind == WG_KIND_F64 ? kind : WG_KIND_F32;
    case BPL_CLASS_COMPLEX: return kind == WG_KIND_C128 ? WG_KIND_F64 : WG_KIND_F32;
    case BPL_CLASS_FIXED: return kind == WG_KIND_U8 || kind == WG_KIND_I16 ? WG_KIND_F32 : WG_KIND_F64;
    default: return session->preferences.float_kind == WG_KIND_F64 ? WG_KIND_F64 : WG_KIND_F32;
    }
}

/* [re, -im; im, re] of the last two axes of a complex matrix; of a real one its own, or that with zeros. */
static wg_array *doubled(wg_array *matrix, wg_kind kind, bool complex)
{
    wg_array *real = wg_array_real(matrix), *imaginary = wg_array_imag(matrix);
    real = wg_array_convert(real, kind);
    imaginary = wg_array_convert(imaginary, kind);
    wg_array *negative = wg_array_neg(imaginary);
    if (!complex || !negative || !real) return NULL;
    wg_array *upper = wg_array_concat((wg_array *[]){real, negative}, 2, -1), *lower = wg_array_concat((wg_array *[]){imaginary, real}, 2, -1);
    return upper && lower ? wg_array_concat((wg_array *[]){upper, lower}, 2, -2) : NULL;
}

/* The matrix that such a one stands for: its left half's two halves. */
static wg_array *halved(wg_array *matrix)
{
    if (!matrix) return NULL;
    uint32_t rank = wg_array_rank(matrix);
    int64_t rows = wg_array_shape(matrix)[rank - 2] / 2, columns = wg_array_shape(matrix)[rank - 1] / 2;
    matrix = wg_array_narrow(matrix, -1, 0, columns, 1);
    wg_array *real = wg_array_narrow(matrix, -2, 0, rows, 1), *imaginary = wg_array_narrow(matrix, -2, rows, rows, 1);
    return wg_array_complex(real, imaginary);
}

static wg_array *widened(const bpl_value *value, wg_kind kind, bool complex)
{
    if (!complex) return wg_array_convert(bpl_array(value), kind);
    return doubled(wg_array_convert(bpl_array(value), kind == WG_KIND_F64 ? WG_KIND_C128 : WG_KIND_C64), kind, complex);
}

/* ---- singular? ---- */

/* Whether the elimination of a matrix [n, n] (a copy, spoilt) meets a pivot of at most `least`. */
static bool small_pivot(double *matrix, int64_t n, double least)
{
    for (int64_t k = 0; k < n; k++) {
        int64_t best = k;
        for (int64_t i = k + 1; i < n; i++)
            if (fabs(matrix[i * n + k]) > fabs(matrix[best * n + k])) best = i;
        if (!(fabs(matrix[best * n + k]) > least)) return true;
        for (int64_t j = k; best != k && j < n; j++) {
            double other = matrix[best * n + j];
            matrix[best * n + j] = matrix[k * n + j];
            matrix[k * n + j] = other;
        }
        for (int64_t i = k + 1; i < n; i++) {
            double factor = matrix[i * n + k] / matrix[k * n + k];
            for (int64_t j = k + 1; factor != 0 && j < n; j++) matrix[i * n + j] -= factor * matrix[k * n + j];
        }
    }
    return false;
}

/* What is known of a square matrix once it is read. */
typedef enum matrix_state { MATRIX_GOOD, MATRIX_SINGULAR, MATRIX_NOT_FINITE, MATRIX_ERROR } matrix_state;

/* Of the matrices of a batch the worst state: singular only where a pivot says so. The scope is open. */
static matrix_state state_of(bpl_session *session, wg_array *matrices, bool suspicious)
{
    wg_view view;
    bool narrow = wg_array_kind(matrices) == WG_KIND_F32;
    double epsilon = narrow ? FLT_EPSILON : DBL_EPSILON;
    wg_array *wide = wg_array_convert(matrices, WG_KIND_F64);
    if (!wide || !wg_array_read(wide, &view)) return bpl_fail_lazy(session), MATRIX_ERROR;
    const double *numbers = view.data;
    int64_t n = view.rank ? view.shape[view.rank - 1] : 0, volume = wg_array_volume(wide);
    for (int64_t i = 0; i < volume; i++)
        if (!isfinite(numbers[i])) return MATRIX_NOT_FINITE;
    if (!suspicious || !n) return MATRIX_GOOD;
    size_t bytes = (size_t)(n * n) * sizeof(double);
    double *copy = base_allocate(session->allocator, bytes);
    matrix_state state = copy ? MATRIX_GOOD : (bpl_fail_memory(session), MATRIX_ERROR);
    for (int64_t at = 0; state == MATRIX_GOOD && at < volume; at += n * n) {
        double greatest = 0;
        for (int64_t i = 0; i < n * n; i++) {
            double size = fabs(numbers[at + i]);
            if (size > greatest) greatest = size;
        }
        memcpy(copy, numbers + at, bytes);
        if (small_pivot(copy, n, epsilon * (double)n * greatest)) state = MATRIX_SINGULAR;
    }
    if (copy) base_free(session->allocator, copy, bytes);
    return state;
}

/* Whether a solution says that its matrix may be singular: it failed, is not finite, or is very large beside it. It is computed here, once. */
static bool looks_singular(bpl_session *session, wg_array *solved, wg_array *matrix)
{
    double least, most;
    bool done = solved && wg_array_run(&solved, 1);
    wg_array *greatest = done ? wg_array_max(wg_array_abs(solved), NULL, 0, false) : NULL;
    wg_array *size = done ? wg_array_max(wg_array_abs(matrix), NULL, 0, false) : NULL;
    if (!greatest || !size || !wg_array_double(greatest, &most) || !wg_array_double(size, &least)) {
        wg_lazy_error_clear(session->lazy);
        return true;
    }
    return !(most * least < (wg_array_kind(matrix) == WG_KIND_F32 ? 1e3 : 1e11));
}

/* Sides with one more column, which every row of an inverse has its part in: what it is solved to says how large the inverse is. */
static wg_array *with_probe(bpl_session *session, wg_array *sides)
{
    int64_t shape[WG_MAX_RANK], rows;
    uint32_t rank = wg_array_rank(sides);
    memcpy(shape, wg_array_shape(sides), rank * sizeof *shape);
    rows = shape[rank - 2], shape[rank - 1] = 1;
    double *numbers = base_allocate(session->allocator, (size_t)rows * sizeof *numbers);
    if (!numbers) return bpl_fail_memory(session);
    for (int64_t i = 0; i < rows; i++) { /* 0.5 to 1.5, by no pattern that a matrix might have */
        double turn = (double)i * 0.6180339887498949, size = 0.5 + turn - (double)(int64_t)turn;
        numbers[i] = i % 2 ? -size : size;
    }
    wg_array *probe = wg_array_from(session->lazy, WG_KIND_F64, 2, (int64_t[]){rows, 1}, numbers);
    base_free(session->allocator, numbers, (size_t)rows * sizeof *numbers);
    probe = probe ? wg_array_convert(probe, wg_array_kind(sides)) : NULL;
    probe = probe ? wg_array_broadcast_to(probe, rank, shape) : NULL;
    return probe ? wg_array_concat((wg_array *[]){sides, probe}, 2, -1) : NULL;
}

/* Matrices of at most so many rows are looked at themselves; larger ones by what they solve to first, which costs less. */
#define SMALL_ROWS 8

/* ---- inverse, solve ---- */

static wg_array *nans_like(wg_array *array) { return array ? wg_array_full_like(array, (double)NAN) : NULL; }

/* The inverse of matrices [.., m, n], in the open scope. */
static wg_array *inverse_of(bpl_session *session, wg_array *matrix)
{
    uint32_t rank = matrix ? wg_array_rank(matrix) : 0;
    if (!matrix) return NULL;
    int64_t rows = wg_array_shape(matrix)[rank - 2], columns = wg_array_shape(matrix)[rank - 1];
    if (!wg_array_volume(matrix)) return wg_array_matrix_transpose(matrix);
    wg_array *solved = rows == columns ? wg_array_inverse(matrix) : NULL;
    bool suspicious = rows == columns && (rows <= SMALL_ROWS || looks_singular(session, solved, matrix));
    if (rows == columns && !suspicious) return solved;
    matrix_state state = state_of(session, matrix, suspicious);
    if (state == MATRIX_ERROR) return NULL;
    if (state == MATRIX_NOT_FINITE) return nans_like(wg_array_matrix_transpose(matrix));
    return state == MATRIX_SINGULAR || rows != columns ? wg_array_pseudo_inverse(matrix) : solved;
}

/* x [.., n, k] of matrix [.., m, n] x = sides [.., m, k]. */
static wg_array *solution_of(bpl_session *session, wg_array *matrix, wg_array *sides)
{
    uint32_t rank = matrix ? wg_array_rank(matrix) : 0;
    if (!matrix || !sides) return NULL;
    int64_t rows = wg_array_shape(matrix)[rank - 2], columns = wg_array_shape(matrix)[rank - 1];
    bool square = rows == columns, large = square && rows > SMALL_ROWS && wg_array_volume(sides);
    bool suspicious = square && !large && wg_array_volume(matrix);
    wg_array *with = large ? with_probe(session, sides) : sides, *answer = NULL;
    if (with) answer = square ? wg_array_solve(matrix, with) : wg_array_least_squares(matrix, sides);
    if (large && answer) {
        int64_t own = wg_array_shape(sides)[rank - 1];
        wg_array_run(&answer, 1); /* once; a failure comes again in the next line */
        suspicious = looks_singular(session, wg_array_narrow(answer, -1, own, 1, 1), matrix);
        answer = suspicious ? wg_array_solve(matrix, sides) : wg_array_narrow(answer, -1, 0, own, 1);
    }
    if (square && !suspicious) return answer;
    matrix_state state = state_of(session, matrix, suspicious);
    double finite = 1;
    wg_array *all = !square || state == MATRIX_SINGULAR ? wg_array_all(wg_array_is_finite(sides), NULL, 0, false) : NULL; /* what is fitted to them has no value else */
    if (state == MATRIX_ERROR || (all && !wg_array_double(all, &finite))) return NULL;
    if (state == MATRIX_NOT_FINITE || !finite) return answer ? nans_like(answer) : NULL;
    return state == MATRIX_SINGULAR ? wg_array_least_squares(matrix, sides) : answer;
}

/* ---- exact ---- */

/* A matrix of rationals, row-major, its items owned. */
typedef struct exact {
    int64_t rows, columns;
    bpl_value **items;
} exact;

static void exact_free(bpl_session *session, exact *matrix)
{
    for (int64_t i = 0; matrix->items && i < matrix->rows * matrix->columns; i++) bpl_release(matrix->items[i]);
    if (matrix->items) base_free(session->allocator, matrix->items, (size_t)(matrix->rows * matrix->columns + 1) * sizeof *matrix->items);
    matrix->items = NULL;
}

static bool exact_new(bpl_session *session, int64_t rows, int64_t columns, exact *matrix)
{
    *matrix = (exact){rows, columns, base_allocate_zeroed(session->allocator, (size_t)(rows * columns + 1) * sizeof *matrix->items)};
    return matrix->items || bpl_fail_memory(session);
}

/* Whether every item is an integer or a rational, some are rationals. */
static bool is_exact(const bpl_value *value)
{
    bool some = value->type == BPL_RATIONAL;
    for (int64_t i = 0; value->type == BPL_ITEMS && i < value->items->volume; i++) {
        const bpl_value *item = value->items->at[i];
        if (item->type != BPL_RATIONAL && (item->type != BPL_NUMBERS || !item->atom || item->class > BPL_CLASS_FIXED)) return false;
        some = some || item->type == BPL_RATIONAL;
    }
    return some;
}

static bool is_integral(const bpl_value *value)
{
    return is_exact(value) || (value->type == BPL_NUMBERS && value->class <= BPL_CLASS_FIXED);
}

static bool exact_of(bpl_session *session, const bpl_value *value, int64_t rows, int64_t columns, exact *matrix)
{
    bool good = exact_new(session, rows, columns, matrix);
    for (int64_t i = 0; good && i < rows * columns; i++) {
        bpl_value *item = bpl_item(session, value, i);
        good = item && (matrix->items[i] = bpl_mark_value(session, BPL_MARK_RATIONAL, item)) != NULL;
        bpl_release(item);
    }
    return good;
}

/* to := to - factor × by (by NULL: to ÷ factor). */
static bool exact_step(bpl_session *session, bpl_value **to, bpl_value *factor, bpl_value *by)
{
    bpl_value *product = by ? bpl_dyad(session, BPL_GLYPH_TIMES, factor, by) : bpl_keep(factor);
    bpl_value *next = product ? bpl_dyad(session, by ? BPL_GLYPH_MINUS : BPL_GLYPH_DIVIDE, *to, product) : NULL;
    bpl_release(product);
    if (!next) return false;
    bpl_release(*to);
    *to = next;
    return true;
}

/* The transpose of a, times b. */
static bool exact_product(bpl_session *session, const exact *a, const exact *b, exact *to)
{
    bool good = exact_new(session, a->columns, b->columns, to);
    for (int64_t i = 0; good && i < a->columns * b->columns; i++) {
        good = (to->items[i] = bpl_integer(session, 0)) != NULL;
        for (int64_t k = 0; good && k < a->rows; k++) {
            bpl_value *left = a->items[k * a->columns + i / b->columns], *right = b->items[k * b->columns + i % b->columns];
            bpl_value *product = bpl_dyad(session, BPL_GLYPH_TIMES, left, right);
            bpl_value *sum = product ? bpl_dyad(session, BPL_GLYPH_PLUS, to->items[i], product) : NULL;
            bpl_release(product);
            bpl_release(to->items[i]);
            good = (to->items[i] = sum) != NULL;
        }
    }
    return good;
}

static bool is_zero(bpl_session *session, const bpl_value *item, bool *zero)
{
    bpl_value *none = bpl_integer(session, 0);
    bool good = none && bpl_match(session, item, none, zero);
    bpl_release(none);
    return good;
}

/* A row less a multiple of another. */
static bool exact_row(bpl_session *session, exact *matrix, int64_t row, int64_t other, bpl_value *factor)
{
    bool good = true;
    for (int64_t i = 0; good && i < matrix->columns; i++)
        good = exact_step(session, &matrix->items[row * matrix->columns + i], factor, matrix->items[other * matrix->columns + i]);
    return good;
}

/* The first row from `column` on that has no zero there; -1: none, or an error. */
static int64_t exact_pivot(bpl_session *session, const exact *matrix, int64_t column)
{
    for (int64_t row = column; row < matrix->rows; row++) {
        bool zero;
        if (!is_zero(session, matrix->items[row * matrix->columns + column], &zero)) return -1;
        if (!zero) return row;
    }
    bpl_fail(session, BPL_UNSUPPORTED, "⌹ of a singular matrix of rationals is not supported");
    return -1;
}

static void exact_exchange(exact *matrix, int64_t row, int64_t other)
{
    for (int64_t i = 0; row != other && i < matrix->columns; i++) {
        bpl_value **a = &matrix->items[row * matrix->columns + i], **b = &matrix->items[other * matrix->columns + i], *kept = *a;
        *a = *b;
        *b = kept;
    }
}

/* sides := the x of matrix x = sides by elimination; both are spoilt. */
static bool exact_eliminate(bpl_session *session, exact *matrix, exact *sides)
{
    int64_t n = matrix->rows, k = sides->columns;
    bool good = true;
    for (int64_t column = 0; good && column < n; column++) {
        int64_t pivot = bpl_go_on(session) ? exact_pivot(session, matrix, column) : -1;
        good = pivot >= 0;
        if (good) exact_exchange(matrix, pivot, column), exact_exchange(sides, pivot, column);
        bpl_value *factor = good ? bpl_keep(matrix->items[column * n + column]) : NULL;
        for (int64_t i = 0; good && i < n; i++) good = exact_step(session, &matrix->items[column * n + i], factor, NULL);
        for (int64_t i = 0; good && i < k; i++) good = exact_step(session, &sides->items[column * k + i], factor, NULL);
        bpl_release(factor);
        for (int64_t row = 0; good && row < n; row++) {
            if (row == column) continue;
            factor = bpl_keep(matrix->items[row * n + column]);
            good = exact_row(session, matrix, row, column, factor) && exact_row(session, sides, row, column, factor);
            bpl_release(factor);
        }
    }
    return good;
}

/* The transpose of a matrix. */
static bool exact_turned(bpl_session *session, const exact *matrix, exact *to)
{
    bool good = exact_new(session, matrix->columns, matrix->rows, to);
    for (int64_t i = 0; good && i < matrix->rows * matrix->columns; i++)
        to->items[i % matrix->columns * matrix->rows + i / matrix->columns] = bpl_keep(matrix->items[i]);
    return good;
}

/* x of matrix x = sides: of a higher matrix the nearest, of a wider one the shortest. */
static bool exact_solve(bpl_session *session, exact *matrix, exact *sides, exact *answer)
{
    exact square = {0}, turned = {0}, right = {0};
    bool good;
    if (matrix->rows >= matrix->columns) {
        bool same = matrix->rows == matrix->columns;
        if (same) square = *matrix, right = *sides, *matrix = *sides = (exact){0};
        good = same || (exact_product(session, matrix, matrix, &square) && exact_product(session, matrix, sides, &right));
        good = good && exact_eliminate(session, &square, &right);
        *answer = right;
    } else {
        good = exact_turned(session, matrix, &turned) && exact_product(session, &turned, &turned, &square) &&
               exact_eliminate(session, &square, sides) && exact_product(session, matrix, sides, answer);
    }
    exact_free(session, &square);
    exact_free(session, &turned);
    return good;
}

/* left⌹right (left NULL: ⌹right) of rationals. */
static bpl_value *divide_exactly(bpl_session *session, bpl_value *left, bpl_value *right)
{
    uint32_t rank = bpl_rank(right), inner = left ? bpl_rank(left) : 2;
    if (rank > 2) return bpl_fail(session, BPL_UNSUPPORTED, "⌹ of several matrices of rationals is not supported");
    int64_t rows = bpl_tally(right), columns = rank > 1 ? bpl_shape(right)[1] : 1;
    int64_t sides = left ? bpl_volume(left) / (rows ? rows : 1) : rows;
    exact matrix = {0}, wanted = {0}, answer = {0};
    bool good = exact_of(session, right, rows, columns, &matrix);
    good = good && (left ? exact_of(session, left, rows, sides, &wanted) : exact_new(session, rows, rows, &wanted));
    for (int64_t i = 0; good && !left && i < rows * rows; i++) good = (wanted.items[i] = bpl_integer(session, i % (rows + 1) == 0)) != NULL;
    good = good && exact_solve(session, &matrix, &wanted, &answer);
    int64_t shape[2], kept = 0;
    if (rank > 1) shape[kept++] = columns;
    if (inner > 1) shape[kept++] = sides;
    bpl_items *items = good ? bpl_items_new(session, (uint32_t)kept, shape) : NULL;
    for (int64_t i = 0; items && i < items->volume; i++) items->at[i] = bpl_keep(answer.items[i]);
    exact_free(session, &matrix);
    exact_free(session, &wanted);
    exact_free(session, &answer);
    if (!items) return NULL;
    if (!items->volume) items->prototype = bpl_integer(session, 0);
    if (!items->volume && !items->prototype) return bpl_items_free(session, items), NULL;
    if (kept || !items->volume) return bpl_collect(session, items);
    bpl_value *only = bpl_keep(items->at[0]);
    return bpl_items_free(session, items), only;
}

/* Numbers of several kinds, rationals among them, as floats; other values as they are. Owned. */
static bpl_value *in_floats(bpl_session *session, bpl_value *value)
{
    bool numbers = value->type == BPL_ITEMS && bpl_volume(value);
    for (int64_t i = 0; numbers && i < bpl_volume(value); i++) {
        const bpl_value *item = value->items->at[i];
        numbers = item->atom && bpl_is_number(item) && (item->type != BPL_NUMBERS || item->class != BPL_CLASS_COMPLEX);
    }
    if (!numbers) return bpl_keep(value);
    size_t bytes = (size_t)bpl_volume(value) * sizeof(double);
    double *floats = base_allocate(session->allocator, bytes);
    bool good = floats || bpl_fail_memory(session);
    for (int64_t i = 0; good && i < bpl_volume(value); i++) good = bpl_to_double(session, value->items->at[i], "⌹: an item", &floats[i]);
    bpl_value *result = good ? bpl_numbers(session, BPL_CLASS_FLOAT, WG_KIND_F64, bpl_rank(value), bpl_shape(value), floats) : NULL;
    if (floats) base_free(session->allocator, floats, bytes);
    return result && value->keys ? bpl_settle_keys(session, result, bpl_keys_keep(value->keys)) : result;
}

/* ---- names: the axes of an inverse are exchanged ---- */

static void exchanged(const bpl_value *value, int32_t from[WG_MAX_RANK])
{
    int32_t rank = (int32_t)bpl_rank(value);
    for (int32_t axis = 0; axis < rank; axis++) from[axis] = axis;
    if (rank > 1) from[rank - 1] = rank - 2, from[rank - 2] = rank - 1;
}

static bpl_value *divide_units(bpl_session *session, bpl_value *left, bpl_value *right)
{
    double number;
    if (right->type == BPL_NUMBERS && right->class != BPL_CLASS_COMPLEX) {
        if (!bpl_to_double(session, right, "⌹: a divisor", &number)) return NULL;
        if (left && !bpl_is_number(left)) return bpl_fail(session, BPL_DOMAIN, "⌹: numbers are expected");
        wg_kind kind = right->class == BPL_CLASS_FLOAT ? bpl_kind(right) : session->preferences.float_kind;
        bpl_value *none = number == 0 ? bpl_float_of(session, kind, 0) : NULL; /* the least solution of 0 x = anything finite */
        if (number == 0) return left ? bpl_dyad_on(session, BPL_GLYPH_TIMES, none, bpl_strong(session, bpl_keep(left))) : none;
        if (number - number != 0) return bpl_float_of(session, session->preferences.float_kind, (double)NAN); /* as of matrices */
    } else if (!bpl_is_number(right)) {
        return bpl_fail(session, BPL_DOMAIN, "⌹: numbers are expected");
    } else if (right->type == BPL_RATIONAL) {
        bool zero;
        if (!is_zero(session, right, &zero) || zero) return bpl_failed(session) ? NULL : bpl_keep(right);
    }
    bpl_value *one = left ? bpl_strong(session, bpl_keep(left)) : right->type == BPL_RATIONAL ? bpl_integer(session, 1) : bpl_float(session, 1);
    bool whole = right->type == BPL_NUMBERS && right->class <= BPL_CLASS_FIXED;
    bpl_value *real = one && whole ? bpl_mark_value(session, BPL_MARK_REAL, right) : bpl_keep(right);
    if (left) real = bpl_strong(session, real);
    bpl_value *result = one && real ? bpl_dyad(session, BPL_GLYPH_DIVIDE, one, real) : NULL;
    bpl_release(one);
    bpl_release(real);
    return bpl_strong(session, result);
}

static bpl_value *invert(bpl_session *session, bpl_value *value)
{
    uint32_t rank = bpl_rank(value);
    if (!rank) return divide_units(session, NULL, value);
    if (is_exact(value)) return divide_exactly(session, NULL, value);
    wg_kind kind = float_kind_of(session, value);
    if (kind == WG_KIND_COUNT) return NULL;
    if (!bpl_volume(value) && rank == 1) return bpl_keep(value);
    bool complex = value->type == BPL_NUMBERS && value->class == BPL_CLASS_COMPLEX;
    int32_t from[WG_MAX_RANK];
    wg_scope_open(session->lazy);
    bpl_value *column = rank == 1 ? bpl_monad(session, BPL_GLYPH_TABLE, value) : bpl_keep(value);
    wg_array *matrix = column ? widened(column, kind, complex) : NULL, *inverse = inverse_of(session, matrix);
    if (complex) inverse = halved(inverse);
    if (inverse && bpl_kind(value) == WG_KIND_F16) inverse = wg_array_convert(inverse, WG_KIND_F16);
    if (rank == 1 && inverse) inverse = wg_array_reshape(inverse, 1, bpl_shape(value));
    bpl_value *result = bpl_scope_result(session, inverse, complex ? BPL_CLASS_COMPLEX : BPL_CLASS_FLOAT);
    bpl_release(column);
    exchanged(value, from);
    return bpl_carry(session, result, value, from, NULL);
}

bpl_value *bpl_do_inverse(bpl_session *session, const bpl_call *call)
{
    bpl_value *value = is_exact(call->right) ? bpl_keep(call->right) : in_floats(session, call->right);
    bpl_value *result = value ? invert(session, value) : NULL;
    bpl_release(value);
    return result;
}

/* The right-hand sides as [m, k], and the shape of the solution's axes behind the first. */
static bool sides_agree(bpl_session *session, const bpl_value *left, const bpl_value *right)
{
    int64_t rows = bpl_rank(right) > 1 ? bpl_shape(right)[bpl_rank(right) - 2] : bpl_tally(right);
    if (bpl_rank(left) > 2) return bpl_fail(session, BPL_RANK, "⌹: the right-hand sides are a vector or a matrix"), false;
    return bpl_tally(left) == rows ||
           bpl_fail(session, BPL_LENGTH, "⌹: %lld right-hand sides for a matrix of %lld rows", (long long)bpl_tally(left), (long long)rows);
}

static bpl_value *solve_arrays(bpl_session *session, bpl_value *left, bpl_value *right, wg_kind kind)
{
    bool complex = left->class == BPL_CLASS_COMPLEX || right->class == BPL_CLASS_COMPLEX;
    uint32_t rank = bpl_rank(right), inner = bpl_rank(left) ? bpl_rank(left) - 1 : 0, batch = rank > 2 ? rank - 2 : 0;
    int64_t shape[WG_MAX_RANK];
    wg_scope_open(session->lazy);
    bpl_value *column = bpl_monad(session, BPL_GLYPH_TABLE, left), *matrix = rank > 1 ? bpl_keep(right) : bpl_monad(session, BPL_GLYPH_TABLE, right);
    wg_array *sides = column ? widened(column, kind, complex) : NULL, *table = matrix ? widened(matrix, kind, complex) : NULL;
    if (sides && table && batch) { /* the same sides for every matrix */
        for (uint32_t axis = 0; axis < batch; axis++) shape[axis] = wg_array_shape(table)[axis];
        for (uint32_t axis = 0; axis < 2; axis++) shape[batch + axis] = wg_array_shape(sides)[axis];
        sides = wg_array_broadcast_to(sides, batch + 2, shape);
    }
    wg_array *answer = solution_of(session, table, sides);
    if (complex) answer = halved(answer);
    if (answer && bpl_kind(left) == WG_KIND_F16 && bpl_kind(right) == WG_KIND_F16) answer = wg_array_convert(answer, WG_KIND_F16);
    if (answer) { /* the axes that the sides had, and no axis where the matrix was a vector */
        uint32_t kept = 0;
        for (uint32_t axis = 0; axis < batch; axis++) shape[kept++] = wg_array_shape(answer)[axis];
        if (rank > 1) shape[kept++] = wg_array_shape(answer)[batch];
        if (inner) shape[kept++] = wg_array_shape(answer)[batch + 1];
        answer = wg_array_reshape(answer, kept, shape);
    }
    bpl_value *result = bpl_scope_atom(session, answer, complex ? BPL_CLASS_COMPLEX : BPL_CLASS_FLOAT);
    bpl_release(column);
    bpl_release(matrix);
    return result;
}

static bpl_value *solve(bpl_session *session, bpl_value *left, bpl_value *right)
{
    if (!bpl_rank(right) && !bpl_rank(left)) return divide_units(session, left, right);
    wg_kind kind = float_kind_of(session, right), other = kind == WG_KIND_COUNT ? kind : float_kind_of(session, left);
    if (other == WG_KIND_COUNT) return NULL;
    if (kind != other) kind = WG_KIND_F64;
    bpl_value *result = solve_arrays(session, left, right, kind);
    if (!result || (!left->keys && !right->keys) || bpl_rank(right) > 2 || !bpl_rank(result)) return result;
    bpl_keys *keys = bpl_keys_new(session, bpl_rank(result), bpl_shape(result));
    uint32_t own = bpl_rank(right) == 2; /* axes of the matrix in the result */
    bool good = keys && (!own || bpl_axis_copy(session, &keys->axes[0], bpl_axis_of(right, 1)));
    if (good && bpl_rank(left) > 1) good = bpl_axis_copy(session, &keys->axes[own], bpl_axis_of(left, 1));
    if (!good) bpl_release(result), result = NULL;
    return bpl_settle_keys(session, result, keys);
}

bpl_value *bpl_do_solve(bpl_session *session, const bpl_call *call)
{
    bpl_value *left = call->left, *right = call->right;
    if (!sides_agree(session, left, right)) return NULL;
    if (bpl_rank(left) + bpl_rank(right) && (is_exact(left) || is_exact(right)) && is_integral(left) && is_integral(right))
        return divide_exactly(session, left, right);
    left = bpl_rank(left) ? in_floats(session, left) : bpl_keep(left);
    right = left && bpl_rank(right) ? in_floats(session, right) : bpl_keep(right);
    bpl_value *result = left && right ? solve(session, left, right) : NULL;
    bpl_release(left);
    bpl_release(right);
    return result;
}
