/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * •decompose: factors of real matrices, by the rows of dense algebra where there are rows (docs/dense-algebra.md says which signs they have), so
 * that they wait and have derivatives; "lu" and the eigenvectors of a matrix that is not symmetric are host loops, which read. */
#include <math.h>
#include <string.h>

#include "base/complex.h"
#include "base/lapack.h"
#include "bpl/kinds.h"
#include "bpl/system.h"
#include "bpl/whole.h"

typedef enum factors { SVD, QR, EIGEN, CHOLESKY, LU, FACTORS } factors;
static const char *const kinds[FACTORS] = {"svd", "qr", "eigen", "cholesky", "lu"};

typedef struct request {
    factors kind;
    bool vectors, complete;
    int64_t rank; /* of "svd": so many singular values; 0: all */
} request;

/* ---- what is asked for ------------------------------------------------------------------------------------------------------------------------------ */

static bool read_kind(bpl_session *session, const bpl_value *name, request *r)
{
    char *text;
    size_t length;
    if (!bpl_to_text(session, name, "the kind of •decompose", &text, &length)) return false;
    for (r->kind = 0; r->kind < FACTORS && strcmp(text, kinds[r->kind]);) r->kind++;
    base_free(session->allocator, text, length + 1);
    if (r->kind < FACTORS) return true;
    return bpl_fail(session, BPL_DOMAIN, "•decompose takes \"svd\", \"qr\", \"eigen\", \"cholesky\" or \"lu\"");
}

static bool read_rank(bpl_session *session, const bpl_value *options, request *r)
{
    bpl_value *rank = bpl_option(session, options, "rank");
    if (!rank) return !bpl_failed(session);
    bool read = bpl_to_integer(session, rank, "the rank of •decompose", &r->rank);
    bpl_release(rank);
    if (!read) return false;
    if (r->kind != SVD) return bpl_fail(session, BPL_DOMAIN, "•decompose: only \"svd\" has a rank");
    return r->rank > 0 || bpl_fail(session, BPL_DOMAIN, "•decompose: a rank is positive, not %lld", (long long)r->rank);
}

static bool read_request(bpl_session *session, const bpl_value *left, request *r)
{
    static const char *const names[] = {"kind", "vectors", "complete", "rank"};
    *r = (request){.vectors = true};
    if (!left) return bpl_fail(session, BPL_SYNTAX, "•decompose needs the kind of factors on its left, such as \"svd\"");
    if (left->type == BPL_CHARACTERS) return read_kind(session, left, r);
    if (!bpl_options_known(session, left, "•decompose", names, 4)) return false;
    bpl_value *kind = bpl_option(session, left, "kind");
    if (!kind) return bpl_failed(session) ? false : (bpl_fail(session, BPL_DOMAIN, "•decompose: the options do not tell the kind"), false);
    bool good = read_kind(session, kind, r);
    bpl_release(kind);
    if (!good || !bpl_option_truth(session, left, "vectors", &r->vectors) || !bpl_option_truth(session, left, "complete", &r->complete)) return false;
    if (!r->vectors && r->kind != SVD && r->kind != EIGEN) return bpl_fail(session, BPL_DOMAIN,
                                                                           "•decompose: only \"svd\" and \"eigen\" can do without vectors");
    if (r->complete && r->kind != QR) return bpl_fail(session, BPL_DOMAIN, "•decompose: only \"qr\" can be complete");
    return read_rank(session, left, r);
}

/* A matrix of floats as an array of the open scope, f32 or f64; NULL and an error. */
static wg_array *matrix_of(bpl_session *session, const bpl_value *value)
{
    if (bpl_rank(value) != 2) return bpl_fail(session, BPL_RANK, "•decompose takes a matrix");
    if (!bpl_volume(value)) return bpl_fail(session, BPL_DOMAIN, "•decompose takes a matrix that is not empty");
    if (value->type != BPL_NUMBERS) return bpl_fail(session, BPL_DOMAIN, "•decompose takes a matrix of numbers");
    if (value->class == BPL_CLASS_COMPLEX) return bpl_fail(session, BPL_UNSUPPORTED, "•decompose of complex matrices is not supported");
    bpl_number number = bpl_floats(session, bpl_number_of(bpl_array(value), value->class));
    wg_array *matrix = number.array;
    if (matrix && wg_array_kind(matrix) == WG_KIND_F16) matrix = wg_array_convert(matrix, WG_KIND_F32);
    return matrix ? matrix : bpl_fail_lazy(session);
}

/* ---- the factors ------------------------------------------------------------------------------------------------------------------------------------ */

/* Arrays of the open scope (NULL: an error) as a record of floats; those at `complex` complex. */
static bpl_value *record_of(bpl_session *session, const char *const *names, wg_array *const *arrays, int64_t count)
{
    bpl_value *values[3];
    for (int64_t i = 0; i < count; i++) {
        bpl_class class = !arrays[i] || wg_array_kind(arrays[i]) != WG_KIND_C128 ? BPL_CLASS_FLOAT : BPL_CLASS_COMPLEX;
        values[i] = bpl_failed(session) ? NULL : bpl_own_array(session, arrays[i], class, false, false);
    }
    return bpl_record(session, names, values, count);
}

static bpl_value *svd(bpl_session *session, const request *r, wg_array *matrix)
{
    wg_array *s = wg_array_svd_s(matrix), *u = r->vectors ? wg_array_svd_u(matrix) : NULL, *v = r->vectors ? wg_array_svd_v(matrix) : NULL;
    int64_t all = s ? wg_array_shape(s)[0] : 0;
    if (r->rank && r->rank < all) {
        s = wg_array_narrow(s, 0, 0, r->rank, 1);
        if (r->vectors) u = wg_array_narrow(u, 1, 0, r->rank, 1), v = wg_array_narrow(v, 1, 0, r->rank, 1);
    }
    return r->vectors ? record_of(session, (const char *const[]){"u", "s", "v"}, (wg_array *const[]){u, s, v}, 3)
                      : record_of(session, (const char *const[]){"s"}, &s, 1);
}

/* A square Q is that of the matrix with all unit vectors beside it. */
static bpl_value *qr(bpl_session *session, const request *r, wg_array *matrix)
{
    int64_t rows = wg_array_shape(matrix)[0], columns = wg_array_shape(matrix)[1];
    wg_array *of = matrix;
    if (r->complete && rows > columns) {
        wg_array *units = wg_array_eye(session->lazy, wg_array_kind(matrix), rows, rows, 0);
        of = wg_array_concat((wg_array *const[]){matrix, units}, 2, 1);
    }
    wg_array *q = wg_array_qr_q(of), *upper = wg_array_qr_r(of);
    if (of != matrix) upper = wg_array_narrow(upper, 1, 0, columns, 1);
    return record_of(session, (const char *const[]){"q", "r"}, (wg_array *const[]){q, upper}, 2);
}

static bool is_symmetric(bpl_session *session, wg_array *matrix, bool *symmetric)
{
    bool any = false;
    wg_array *other = wg_array_transpose(matrix);
    if (!bpl_any(session, wg_array_not_equal(matrix, other), &any)) return false;
    return *symmetric = !any, true;
}

/* The order of eigenvalues: by their real parts, then their imaginary ones. */
static bool value_is_before(wg_complex128 a, wg_complex128 b)
{
    return a.re < b.re || (a.re == b.re && a.im < b.im);
}

/* Column `from` of eigenvectors [n, n] that LAPACK packed, times a number of magnitude 1 that makes the first component of greatest magnitude real
 * and positive. sign: 1, ¯1 of the conjugate of a pair; 0 of real ones. */
static void unpack_vector(const double *packed, int64_t n, int64_t from, int sign, wg_complex128 *vectors, int64_t to)
{
    wg_complex128 greatest = {0, 0};
    double size = -1;
    for (int64_t i = 0; i < n; i++) {
        wg_complex128 item = {packed[i * n + from], sign ? sign * packed[i * n + from + 1] : 0};
        double squared = item.re * item.re + item.im * item.im;
        vectors[i * n + to] = item;
        if (squared > size * (1 + 1e-12)) size = squared, greatest = item;
    }
    double magnitude = base_complex_magnitude_c128(greatest);
    wg_complex128 turn = magnitude > 0 ? (wg_complex128){greatest.re / magnitude, -greatest.im / magnitude} : (wg_complex128){1, 0};
    for (int64_t i = 0; i < n; i++) {
        wg_complex128 *item = &vectors[i * n + to];
        if (!sign) item->re *= turn.re;
        else *item = base_complex_multiply_c128(*item, turn);
    }
}

/* packed [n + 2, n] as values [n] and vectors [n, n] in the order of the values. True: all are real. */
static bool unpack_eigen(const double *packed, int64_t n, wg_complex128 *values, wg_complex128 *vectors)
{
    bool real = true;
    for (int64_t k = 0; k < n; k++) {
        wg_complex128 value = {packed[k], packed[n + k]};
        int64_t place = 0;
        real = real && value.im == 0;
        for (int64_t i = 0; i < n; i++) {
            wg_complex128 other = {packed[i], packed[n + i]};
            place += value_is_before(other, value) || (i < k && !value_is_before(value, other));
        }
        int sign = value.im == 0 ? 0 : value.im > 0 ? 1 : -1;
        values[place] = value;
        unpack_vector(packed + 2 * n, n, sign < 0 ? k - 1 : k, sign, vectors, place);
    }
    return real;
}

static bool goes_on(void *session) { return !((const bpl_session *)session)->interrupted; }

/* packed [n + 2, n], by LAPACK. */
static bool run_eigen(bpl_session *session, const double *matrix, int64_t n, double *packed)
{
    base_lapack_call task = {.task = BASE_LAPACK_EIGEN, .kind = WG_KIND_F64, .rows = n, .columns = n};
    if (!base_lapack_is_here()) return bpl_fail(session, BPL_UNSUPPORTED, "•decompose needs LAPACK: install " BASE_LAPACK_PACKAGE);
    base_lapack_sizes sizes = {n * n * (int64_t)sizeof *matrix, 0, n * (n + 2) * (int64_t)sizeof *matrix};
    base_lapack_fault fault = BASE_LAPACK_DONE;
    bool leaves = (double)n * (double)n * (double)n > BASE_LAPACK_LONG;
    if (leaves && base_lapack_run_leaving(&task, &sizes, goes_on, session, matrix, NULL, packed, &fault))
        return bpl_go_on(session) && (!fault || bpl_fail(session, BPL_DOMAIN, "•decompose: the matrix %s", base_lapack_fault_text(fault)));
    size_t bytes = (size_t)base_lapack_scratch(&task) + BASE_ALIGNMENT;
    char *scratch = base_allocate(session->allocator, bytes);
    if (!scratch) return bpl_fail_memory(session);
    base_lapack_enter();
    fault = base_lapack_run(&task, NULL, matrix, NULL, packed, scratch + BASE_ALIGNMENT - (uintptr_t)scratch % BASE_ALIGNMENT);
    base_lapack_leave();
    base_free(session->allocator, scratch, bytes);
    return fault == BASE_LAPACK_DONE || bpl_fail(session, BPL_DOMAIN, "•decompose: the matrix %s", base_lapack_fault_text(fault));
}

/* Eigenvalues and eigenvectors on the host; real ones where all are. */
static bpl_value *general_eigen(bpl_session *session, const request *r, wg_array *matrix)
{
    wg_view view;
    int64_t n = wg_array_shape(matrix)[0], shape[2] = {n, n};
    wg_kind kind = wg_array_kind(matrix);
    wg_array *wide = wg_array_convert(matrix, WG_KIND_F64);
    if (!wide || !wg_array_read(wide, &view)) return bpl_fail_lazy(session);
    size_t packed_bytes = (size_t)(n * (n + 2)) * sizeof(double), complex_bytes = (size_t)(n * (n + 1)) * sizeof(wg_complex128);
    double *packed = base_allocate(session->allocator, packed_bytes);
    wg_complex128 *values = base_allocate(session->allocator, complex_bytes);
    wg_array *arrays[2] = {NULL, NULL};
    if (!packed || !values) bpl_fail_memory(session);
    else if (run_eigen(session, view.data, n, packed)) {
        bool real = unpack_eigen(packed, n, values, values + n);
        arrays[0] = wg_array_from(session->lazy, WG_KIND_C128, 1, shape, values);
        arrays[1] = wg_array_from(session->lazy, WG_KIND_C128, 2, shape, values + n);
        for (int i = 0; i < 2; i++) arrays[i] = wg_array_convert(real ? wg_array_real(arrays[i]) : arrays[i], real ? kind : WG_KIND_C128);
    }
    if (packed) base_free(session->allocator, packed, packed_bytes);
    if (values) base_free(session->allocator, values, complex_bytes);
    return bpl_failed(session) ? NULL : record_of(session, (const char *const[]){"values", "vectors"}, arrays, r->vectors ? 2 : 1);
}

static bpl_value *eigen(bpl_session *session, const request *r, wg_array *matrix)
{
    bool symmetric;
    if (!is_symmetric(session, matrix, &symmetric)) return NULL;
    if (!symmetric) return general_eigen(session, r, matrix);
    wg_array *arrays[2] = {wg_array_eigh_values(matrix), r->vectors ? wg_array_eigh_vectors(matrix) : NULL};
    return record_of(session, (const char *const[]){"values", "vectors"}, arrays, r->vectors ? 2 : 1);
}

static bpl_value *cholesky(bpl_session *session, wg_array *matrix)
{
    bool symmetric;
    wg_view view;
    if (!is_symmetric(session, matrix, &symmetric)) return NULL;
    wg_array *lower = symmetric ? wg_array_cholesky(matrix) : NULL;
    bool carried = lower && wg_array_is_carried(lower);
    bool good = lower && (carried || wg_array_read(lower, &view));
    if (good) return record_of(session, (const char *const[]){"l"}, &lower, 1);
    if (symmetric && wg_lazy_error(session->lazy)->code != WG_MATRIX) return bpl_fail_lazy(session);
    wg_lazy_error_clear(session->lazy);
    return bpl_fail(session, BPL_DOMAIN, "•decompose: \"cholesky\" takes a symmetric matrix that is positive definite");
}

/* a := its factors, L below the diagonal and U from it on; order[i]: which row row i was. Pivots are the greatest of their columns. */
static void lu_in_place(double *a, int64_t n, int64_t *order)
{
    for (int64_t i = 0; i < n; i++) order[i] = i;
    for (int64_t k = 0; k < n; k++) {
        int64_t best = k;
        for (int64_t i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[best * n + k])) best = i;
        for (int64_t j = 0; best != k && j < n; j++) {
            double other = a[best * n + j];
            a[best * n + j] = a[k * n + j], a[k * n + j] = other;
        }
        int64_t row = order[best];
        order[best] = order[k], order[k] = row;
        for (int64_t i = k + 1; a[k * n + k] != 0 && i < n; i++) {
            double factor = a[i * n + k] /= a[k * n + k];
            for (int64_t j = k + 1; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
        }
    }
}

static bpl_value *lu(bpl_session *session, wg_array *matrix)
{
    wg_view view;
    int64_t n = wg_array_shape(matrix)[0], shape[2] = {n, n};
    wg_kind kind = wg_array_kind(matrix);
    wg_array *wide = wg_array_convert(matrix, WG_KIND_F64);
    if (!wide || !wg_array_read(wide, &view)) return bpl_fail_lazy(session);
    size_t bytes = (size_t)(n * n) * sizeof(double), order_bytes = (size_t)n * sizeof(int64_t);
    double *a = base_allocate(session->allocator, bytes);
    int64_t *order = base_allocate(session->allocator, order_bytes);
    bpl_value *values[3] = {NULL, NULL, NULL};
    if (a && order) {
        memcpy(a, view.data, bytes);
        lu_in_place(a, n, order);
        wg_array *both = wg_array_convert(wg_array_from(session->lazy, WG_KIND_F64, 2, shape, a), kind),
            *units = wg_array_eye(session->lazy, kind, n, n, 0);
        values[0] = bpl_own_array(session, wg_array_add(wg_array_tril(both, -1), units), BPL_CLASS_FLOAT, false, false);
        values[1] = values[0] ? bpl_own_array(session, wg_array_triu(both, 0), BPL_CLASS_FLOAT, false, false) : NULL;
        values[2] = values[1] ? bpl_numbers(session, BPL_CLASS_FIXED, WG_KIND_I64, 1, shape, order) : NULL;
    } else {
        bpl_fail_memory(session);
    }
    if (a) base_free(session->allocator, a, bytes);
    if (order) base_free(session->allocator, order, order_bytes);
    return bpl_record(session, (const char *const[]){"l", "u", "p"}, values, 3);
}

static bpl_value *factors_of(bpl_session *session, const request *r, wg_array *matrix)
{
    bool square = wg_array_shape(matrix)[0] == wg_array_shape(matrix)[1];
    if (!square && r->kind > QR) return bpl_fail(session, BPL_LENGTH, "•decompose: \"%s\" takes a square matrix", kinds[r->kind]);
    switch (r->kind) {
    case SVD: return svd(session, r, matrix);
    case QR: return qr(session, r, matrix);
    case EIGEN: return eigen(session, r, matrix);
    case CHOLESKY: return cholesky(session, matrix);
    case LU: return lu(session, matrix);
    case FACTORS: break;
    }
    return NULL;
}

bpl_value *bpl_system_decompose(bpl_session *session, const bpl_call *call)
{
    request r;
    if (!read_request(session, call->left, &r)) return NULL;
    wg_scope_open(session->lazy);
    wg_array *matrix = matrix_of(session, call->right);
    bpl_value *result = matrix ? factors_of(session, &r, matrix) : NULL;
    wg_scope_close(session->lazy);
    return result;
}

/* ---- and back --------------------------------------------------------------------------------------------------------------------------------------- */

/* A factor of a record, of a rank; owned. */
static bpl_value *factor(bpl_session *session, const bpl_value *record, const char *name, uint32_t rank)
{
    bpl_value *value = bpl_option(session, record, name);
    if (!value) return bpl_failed(session) ? NULL : bpl_fail(session, BPL_DOMAIN, "•decompose⁻: the factor \"%s\" is not there", name);
    if (bpl_rank(value) == rank && value->type == BPL_NUMBERS) return value;
    bool numbers = value->type == BPL_NUMBERS;
    bpl_release(value);
    return bpl_fail(session, numbers ? BPL_RANK : BPL_DOMAIN, "•decompose⁻: the factor \"%s\" is a %s of numbers", name, rank == 1 ? "vector"
                    : "matrix");
}

/* Consumes both. */
static bpl_value *product(bpl_session *session, bpl_value *a, bpl_value *b)
{
    bpl_value *result = NULL;
    if (a && b && bpl_shape(a)[1] != bpl_shape(b)[0]) {
        bpl_fail(session, BPL_LENGTH, "•decompose⁻: a factor of %lld columns and one of %lld rows", (long long)bpl_shape(a)[1],
                 (long long)bpl_shape(b)[0]);
    } else if (a && b) {
        wg_scope_open(session->lazy);
        bpl_number left = bpl_number_of(bpl_array(a), a->class), right = bpl_number_of(bpl_array(b), b->class);
        if (bpl_join(session, &left, &right)) result = bpl_own_array(session, wg_array_matmul(left.array, right.array), (bpl_class)left.class,
                                                                     false, false);
        wg_scope_close(session->lazy);
    }
    bpl_release(a);
    bpl_release(b);
    return result;
}

/* The transpose of a matrix, conjugate. Consumes it. */
static bpl_value *turned(bpl_session *session, bpl_value *a)
{
    return bpl_monad_on(session, BPL_GLYPH_PLUS, bpl_monad_on(session, BPL_GLYPH_TRANSPOSE, a));
}

/* The columns of a matrix by the items of a vector. */
static bpl_value *columns_by(bpl_session *session, bpl_value *matrix, bpl_value *vector)
{
    bpl_value *rows = bpl_monad_on(session, BPL_GLYPH_TRANSPOSE, matrix);
    return bpl_monad_on(session, BPL_GLYPH_TRANSPOSE, bpl_dyad_on(session, BPL_GLYPH_TIMES, vector, rows));
}

static bpl_value *unpermuted(bpl_session *session, bpl_value *rows, bpl_value *order)
{
    int64_t n = rows ? bpl_shape(rows)[0] : 0;
    bpl_value *identity = order ? bpl_monad(session, BPL_GLYPH_GRADE_UP, order) : NULL, *again = identity
        ? bpl_monad(session, BPL_GLYPH_GRADE_UP, identity) : NULL;
    bool same = false, good = rows && again && bpl_match(session, again, order, &same);
    bpl_value *result = NULL;
    if (good && (!same || bpl_tally(order) != n)) bpl_fail(session, bpl_tally(order) != n ? BPL_LENGTH : BPL_DOMAIN,
                                                           "•decompose⁻: \"p\" holds each position of a row once");
    else if (good) {
        bpl_value *list = bpl_monad_on(session, BPL_GLYPH_RAVEL, bpl_enclose(session, identity));
        result = list ? bpl_dyad(session, BPL_GLYPH_INDEX, list, rows) : NULL;
        bpl_release(list);
    }
    bpl_release(identity);
    bpl_release(again);
    bpl_release(rows);
    bpl_release(order);
    return result;
}

static bpl_value *matrix_from(bpl_session *session, factors kind, const bpl_value *record)
{
    bpl_value *a, *b;
    switch (kind) {
    case SVD:
        a = factor(session, record, "u", 2);
        a = a ? columns_by(session, a, factor(session, record, "s", 1)) : NULL;
        return product(session, a, a ? turned(session, factor(session, record, "v", 2)) : NULL);
    case QR: a = factor(session, record, "q", 2); return product(session, a, a ? factor(session, record, "r", 2) : NULL);
    case EIGEN:
        a = factor(session, record, "vectors", 2);
        b = a ? bpl_monad_on(session, BPL_GLYPH_DOMINO, bpl_keep(a)) : NULL;
        return product(session, b ? columns_by(session, a, factor(session, record, "values", 1)) : (bpl_release(a), NULL), b);
    case CHOLESKY: a = factor(session, record, "l", 2); return product(session, bpl_keep(a), a ? turned(session, a) : NULL);
    case LU:
        a = factor(session, record, "l", 2);
        b = product(session, a, a ? factor(session, record, "u", 2) : NULL);
        return unpermuted(session, b, b ? factor(session, record, "p", 1) : NULL);
    case FACTORS: break;
    }
    return NULL;
}

bpl_value *bpl_system_decompose_of(bpl_session *session, const bpl_call *call)
{
    request r;
    if (!read_request(session, call->left, &r)) return NULL;
    if (bpl_rank(call->right) != 1 || !bpl_keys_any(call->right->keys)) return bpl_fail(session, BPL_DOMAIN, "•decompose⁻ takes a record of factors");
    return matrix_from(session, r.kind, call->right);
}
