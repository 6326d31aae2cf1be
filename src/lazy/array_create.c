/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Arrays from numbers: fills, ranges, diagonals, grids. All of them are rows over literals and Iota, so they are fused into what reads
 * them. */
#include <string.h>

#include "base/checked.h"
#include "lazy/array_call.h"

/* A shape that a caller gives: not NULL, not too long, none negative. */
static bool check_shape(wg_lazy *lazy, const char *call, uint32_t rank, const int64_t *shape)
{
    int64_t volume;
    if (rank > WG_MAX_RANK) return lazy_fail(lazy, WG_SHAPE, "%s: a rank of %u is above %d", call, rank, WG_MAX_RANK);
    if (rank && !shape) return lazy_fail(lazy, WG_ARGUMENT, "%s needs a shape", call);
    if (base_volume(rank, shape, &volume)) return true;
    return lazy_fail(lazy, WG_SIZE, "%s: %s is no shape: an extent is negative, or the volume does not fit in 64 bits", call,
                     BASE_SHAPE_TEXT(rank, shape));
}

wg_array *wg_array_from(wg_lazy *lazy, wg_kind kind, uint32_t rank, const int64_t *shape, const void *items)
{
    if (!lazy || !check_shape(lazy, "from", rank, shape)) return NULL;
    return wg_array_copy(lazy, &(wg_view){.data = (void *)items, .kind = kind, .rank = rank, .shape = shape});
}

wg_array *wg_array_full(wg_lazy *lazy, wg_kind kind, uint32_t rank, const int64_t *shape, double number)
{
    if (!lazy || !check_shape(lazy, "full", rank, shape)) return NULL;
    if (!lazy_check_kind(lazy, kind)) return NULL;
    return lazy_give(lazy, lazy_full(lazy, kind, rank, shape, number));
}

wg_array *wg_array_zeros(wg_lazy *lazy, wg_kind kind, uint32_t rank, const int64_t *shape)
{
    return wg_array_full(lazy, kind, rank, shape, 0);
}
wg_array *wg_array_ones(wg_lazy *lazy, wg_kind kind, uint32_t rank, const int64_t *shape)
{
    return wg_array_full(lazy, kind, rank, shape, 1);
}

wg_array *wg_array_full_like(wg_array *like, double number)
{
    if (!like || !lazy_check(like->lazy, like)) return NULL;
    return wg_array_full(like->lazy, (wg_kind)like->kind, like->rank, lazy_shape(like), number);
}

wg_array *wg_array_zeros_like(wg_array *like) { return wg_array_full_like(like, 0); }
wg_array *wg_array_ones_like(wg_array *like) { return wg_array_full_like(like, 1); }

/* ---- ranges ---- */

wg_array *wg_array_iota(wg_lazy *lazy, wg_kind kind, uint32_t rank, const int64_t *shape, int32_t axis)
{
    uint32_t place;
    if (!lazy || !check_shape(lazy, "iota", rank, shape) || !lazy_axis_in(lazy, rank, axis, "iota", &place)) return NULL;
    int64_t attributes[WG_MAX_RANK + 3] = {rank};
    memcpy(attributes + 1, shape, rank * sizeof *shape);
    attributes[rank + 1] = place;
    attributes[rank + 2] = kind;
    return wg_array_record(lazy, WG_OP_Iota, NULL, 0, attributes, rank + 3);
}

/* start + i * step over [count]; of floats in f64, then converted. */
static wg_array *steps(wg_lazy *lazy, wg_kind kind, double start, double step, int64_t count)
{
    wg_kind working = base_kind_is_float(kind) ? WG_KIND_F64 : kind == WG_KIND_U64 ? WG_KIND_U64 : WG_KIND_I64;
    wg_array *numbers = wg_array_iota(lazy, working, 1, &count, 0);
    if (step != 1) numbers = wg_array_mul_scalar(numbers, step);
    if (start != 0) numbers = wg_array_add_scalar(numbers, start);
    return wg_array_convert(numbers, kind);
}

/* The least integer at least x, for |x| below 2^62. */
static int64_t ceiling(double x)
{
    int64_t whole = (int64_t)x;
    return (double)whole < x ? whole + 1 : whole;
}

wg_array *wg_array_arange(wg_lazy *lazy, wg_kind kind, double start, double stop, double step)
{
    if (!lazy || !lazy_check_kind(lazy, kind)) return NULL;
    double length = (stop - start) / step;
    if (!(length < 0x1p62) || !(length > -0x1p62) || step == 0)
        return lazy_fail(lazy, WG_ARGUMENT, "arange has no count of numbers: step may not be 0, nor start and stop infinite"), NULL;
    if (!lazy_begin_in(lazy)) return NULL;
    return lazy_end(lazy, steps(lazy, kind, start, step, length > 0 ? ceiling(length) : 0));
}

wg_array *wg_array_linspace(wg_lazy *lazy, wg_kind kind, double start, double stop, int64_t count, bool endpoint)
{
    if (!lazy) return NULL;
    if (count < 0) return lazy_fail(lazy, WG_ARGUMENT, "linspace: a count of %lld is negative", (long long)count), NULL;
    if ((unsigned)kind >= WG_KIND_COUNT || !base_kind_is_float(kind)) return lazy_fail(lazy, WG_KIND, "linspace makes floats"), NULL;
    if (!lazy_begin_in(lazy)) return NULL;
    int64_t parts = count - endpoint;
    wg_array *numbers = steps(lazy, kind, start, parts > 0 ? (stop - start) / (double)parts : 0, count);
    if (endpoint && count > 1) { /* exactly stop, whatever rounding did on the way */
        wg_array *places = wg_array_iota(lazy, WG_KIND_I64, 1, &count, 0), *last = wg_array_equal_scalar(places, (double)(count - 1));
        wg_array *end = wg_array_number(lazy, kind, stop);
        numbers = wg_array_select(last, end, numbers);
    }
    return lazy_end(lazy, numbers);
}

/* ---- diagonals ---- */

/* bool [rows, columns]: how the column stands to the row's place on a diagonal. */
static wg_array *against_diagonal(wg_lazy *lazy, wg_op op, int64_t rows, int64_t columns, int64_t diagonal)
{
    int64_t shape[2] = {rows, columns};
    wg_array *row = wg_array_iota(lazy, WG_KIND_I64, 2, shape, 0), *column = wg_array_iota(lazy, WG_KIND_I64, 2, shape, 1);
    if (diagonal) row = wg_array_add(row, wg_array_integer(lazy, WG_KIND_I64, diagonal));
    return row && column ? lazy_row2(op, column, row, NULL, 0) : NULL;
}

static wg_array *by_diagonal(wg_lazy *lazy, wg_op op, wg_kind kind, int64_t rows, int64_t columns, int64_t diagonal)
{
    if (!lazy_begin_in(lazy)) return NULL;
    return lazy_end(lazy, wg_array_convert(against_diagonal(lazy, op, rows, columns, diagonal), kind));
}

wg_array *wg_array_eye(wg_lazy *lazy, wg_kind kind, int64_t rows, int64_t columns, int64_t diagonal)
{
    return by_diagonal(lazy, WG_OP_Equal, kind, rows, columns, diagonal);
}

wg_array *wg_array_tri(wg_lazy *lazy, wg_kind kind, int64_t rows, int64_t columns, int64_t diagonal)
{
    return by_diagonal(lazy, WG_OP_LessEqual, kind, rows, columns, diagonal);
}

static wg_array *triangle(wg_array *a, wg_op op, int64_t diagonal, const char *call)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return NULL;
    if (a->rank < 2) {
        lazy_fail(lazy, WG_SHAPE, "%s takes matrices [.., m, n], not %s", call, BASE_SHAPE_TEXT(a->rank, lazy_shape(a)));
        return lazy_end(lazy, NULL);
    }
    const int64_t *shape = lazy_shape(a) + a->rank - 2;
    wg_array *kept = against_diagonal(lazy, op, shape[0], shape[1], diagonal), *zero = wg_array_number(lazy, (wg_kind)a->kind, 0);
    return lazy_end(lazy, wg_array_select(kept, a, zero));
}

wg_array *wg_array_tril(wg_array *a, int64_t diagonal) { return triangle(a, WG_OP_LessEqual, diagonal, "tril"); }
wg_array *wg_array_triu(wg_array *a, int64_t diagonal) { return triangle(a, WG_OP_GreaterEqual, diagonal, "triu"); }

/* Items of [n] stand one row and one position apart: n rows of one item and zeros, laid flat, and placed where the diagonal begins. */
static wg_array *diagonal_matrix(wg_array *a, int64_t diagonal)
{
    int64_t n = lazy_shape(a)[0], side, volume;
    int64_t start = diagonal;
    bool fits = base_add(n, diagonal < 0 ? -(diagonal + 1) : diagonal, &side) && base_add(side, diagonal < 0, &side) &&
        base_multiply(side, side, &volume);
    if (fits && diagonal < 0) start = -diagonal * side;
    if (!fits)
        return lazy_fail(a->lazy, WG_SIZE, "diag: diagonal %lld of %lld items is too large a matrix", (long long)diagonal, (long long)n),
            NULL;
    int64_t square[2] = {side, side};
    if (!n) return wg_array_zeros(a->lazy, (wg_kind)a->kind, 2, square);
    wg_array *rows = LAZY_ROW(Pad, wg_array_reshape(a, WG_EXTENTS(n, 1)), 1, 0, side + 1, 0);
    wg_array *flat = LAZY_ROW(Narrow, wg_array_flatten(rows), 0, 0, (n - 1) * (side + 1) + 1, 1);
    return wg_array_reshape(LAZY_ROW(Pad, flat, 0, start, volume, 0), 2, square);
}

wg_array *wg_array_diag(wg_array *a, int64_t diagonal)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return NULL;
    if (a->rank == 1) return lazy_end(lazy, diagonal_matrix(a, diagonal));
    if (a->rank == 2) return lazy_end(lazy, wg_array_diagonal(a, diagonal, 0, 1));
    lazy_fail(lazy, WG_SHAPE, "diag takes [n] or [m, n], not %s", BASE_SHAPE_TEXT(a->rank, lazy_shape(a)));
    return lazy_end(lazy, NULL);
}

/* Of [.., m, n] laid flat, every n + 1st position. */
static wg_array *last_diagonal(wg_array *a, int64_t offset)
{
    if (!a) return NULL;
    int64_t shape[WG_MAX_RANK], m = lazy_shape(a)[a->rank - 2], n = lazy_shape(a)[a->rank - 1];
    int64_t rows = offset < 0 ? m + (offset < -m ? -m : offset) : m, columns = offset > 0 ? n - (offset > n ? n : offset) : n;
    int64_t count = rows < columns ? rows : columns;
    memcpy(shape, lazy_shape(a), a->rank * sizeof *shape);
    shape[a->rank - 2] = m * n;
    int64_t start = !count ? 0 : offset < 0 ? -offset * n : offset;
    return LAZY_ROW(Narrow, wg_array_reshape(a, a->rank - 1u, shape), a->rank - 2, start, count, n + 1);
}

wg_array *wg_array_diagonal(wg_array *a, int64_t offset, int32_t axis1, int32_t axis2)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return NULL;
    uint32_t first, second;
    bool good = lazy_axis(a, axis1, "diagonal", &first) && lazy_axis(a, axis2, "diagonal", &second);
    if (good && first == second) good = lazy_fail(lazy, WG_ARGUMENT, "diagonal needs two axes, not axis %u twice", first);
    if (!good) return lazy_end(lazy, NULL);
    wg_array *moved = wg_array_move_axis(a, (int32_t[]){(int32_t)first, (int32_t)second}, (int32_t[]){-2, -1}, 2);
    return lazy_end(lazy, last_diagonal(moved, offset));
}

/* ---- grids ---- */

bool wg_array_meshgrid(wg_array *const *vectors, uint32_t count, bool columns_first, wg_array **grids)
{
    for (uint32_t i = 0; grids && i < count; i++) grids[i] = NULL;
    if (!count) return true;
    wg_lazy *lazy = lazy_begin_for(vectors, count, grids, "meshgrid");
    if (!lazy) return false;
    int64_t shape[WG_MAX_RANK];
    bool good = count <= WG_MAX_RANK || lazy_fail(lazy, WG_SHAPE, "meshgrid: %u vectors are more than %d axes", count, WG_MAX_RANK);
    for (uint32_t i = 0; good && i < count; i++) {
        uint32_t axis = columns_first && i < 2 && count > 1 ? 1 - i : i;
        good = vectors[i]->rank == 1 || lazy_fail(lazy, WG_SHAPE, "meshgrid takes vectors, not %s",
                                                  BASE_SHAPE_TEXT(vectors[i]->rank, lazy_shape(vectors[i])));
        if (good) shape[axis] = vectors[i]->volume;
    }
    for (uint32_t i = 0; good && i < count; i++) {
        int64_t own[WG_MAX_RANK];
        uint32_t axis = columns_first && i < 2 && count > 1 ? 1 - i : i;
        for (uint32_t k = 0; k < count; k++) own[k] = k == axis ? vectors[i]->volume : 1;
        grids[i] = lazy_spread(wg_array_reshape(vectors[i], count, own), count, shape, "meshgrid");
    }
    return lazy_end_all(lazy, grids, count);
}

wg_array *wg_array_one_hot(wg_array *labels, int64_t classes, wg_kind kind)
{
    wg_lazy *lazy = LAZY_BEGIN(labels);
    if (!lazy) return NULL;
    if (!base_kind_is_integer((wg_kind)labels->kind)) {
        lazy_fail(lazy, WG_KIND, "one_hot takes integer labels, not %s; convert them first", base_kinds[labels->kind].name);
        return lazy_end(lazy, NULL);
    }
    wg_array *class = wg_array_iota(lazy, (wg_kind)labels->kind, 1, &classes, 0);
    wg_array *wanted = wg_array_expand_dims(labels, (int32_t[]){-1}, 1);
    return lazy_end(lazy, wg_array_convert(wg_array_equal(wanted, class), kind));
}
