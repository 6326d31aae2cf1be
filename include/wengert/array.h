/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Calls on arrays that wait, in the manner of NumPy: rows with broadcasting, and the conveniences above them. lazy.h has what they stand
 * on. A call computes nothing; it builds pending nodes, and answers an array owned by its caller (or by the open scope), or NULL and an
 * error of the context. A NULL operand answers NULL quietly. What a call builds works under every level: in derivatives, in mapped
 * functions, in compiled ones.
 *
 * Conventions.
 *   Broadcasting  shapes are aligned at their ends; an axis of extent 1 and a missing one take the other's extent. Else WG_SHAPE, with both
 *                 shapes.
 *   Kinds         operands of one call have one kind (WG_KIND): wg_array_convert and wg_array_promote make it so. A literal []
 *                 (wg_array_number) takes the other's kind where that holds its value, and so does the number of a _scalar call.
 *   Axes          int32_t; negative ones count from the end. WG_SHAPE where there is no such axis.
 *   Extents       `rank, shape`: WG_EXTENTS(2, 3) writes both; 0, NULL is [].
 *   Lengths       that depend on data are read at the call (its comment says so); nothing else is. Under a map those calls fail, under a
 *                 compiled function they make it trace again at every call.
 *   Positions     i64 or i32, negative ones count from the end; outside is an error of the read (WG_SHAPE where known at the call).
 *
 * The macros at the end (array_sites.h) give each node the line of its call; `(wg_array_add)(a, b)` calls the function itself. With them a
 * plain number may stand on the right: wg_array_add(a, 1.5). */
#ifndef WENGERT_ARRAY_H
#define WENGERT_ARRAY_H

#include "wengert/compose.h"
#include "wengert/lazy.h"

#ifdef __cplusplus
#include <initializer_list>

extern "C" {
#endif

/* Arguments in pairs: rank and shape; axes and count; indexes and count. They live as long as the call's expression. */
#ifdef __cplusplus
#define WG_LIST(type, ...) (std::initializer_list<type>{__VA_ARGS__}.begin())
#define WG_LIST_COUNT(type, ...) ((uint32_t)std::initializer_list<type>{__VA_ARGS__}.size())
#else
#define WG_LIST(type, ...) ((type[]){__VA_ARGS__})
#define WG_LIST_COUNT(type, ...) ((uint32_t)(sizeof((type[]){__VA_ARGS__}) / sizeof(type)))
#endif
#define WG_EXTENTS(...) WG_LIST_COUNT(int64_t, __VA_ARGS__), WG_LIST(int64_t, __VA_ARGS__)
#define WG_AXES(...) WG_LIST(int32_t, __VA_ARGS__), WG_LIST_COUNT(int32_t, __VA_ARGS__)
#define WG_ALL_AXES NULL, 0u
#define WG_INDEXES(...) WG_LIST(wg_index, __VA_ARGS__), WG_LIST_COUNT(wg_index, __VA_ARGS__)

/* Stands for an optional operand that is not given (no other operand may be it). NULL does too, while the context keeps no error: else it
 * is what a failed call answered. */
WG_API wg_array *wg_array_absent(void);

/* ---- kinds --------------------------------------------------------------------------------------------------------------------------- */

/* The kind that holds both: bool gives way to every other, integers widen (u8 and i8: i16; u64 and a signed one: f64), an integer gives way
 * to a float or complex kind, f16 and bf16 meet in f32, f64 and c64 in c128. WG_KIND_COUNT where there is none (char and another). */
WG_API wg_kind wg_kind_promoted(wg_kind a, wg_kind b);
/* Converts arrays [count] to the kind that holds all of them; literals [] count only by their class (bool, integer, float, complex).
 * WG_KIND where there is none. */
WG_API bool wg_array_promote(wg_array *const *arrays, uint32_t count, wg_array **promoted);
/* To another kind: toward zero, saturating, NaN to 0; to bool: not zero. The array itself where it has that kind. */
WG_API wg_array *wg_array_convert(wg_array *a, wg_kind kind);
/* Integers modulo the width instead. */
WG_API wg_array *wg_array_convert_wrap(wg_array *a, wg_kind kind);
/* The same bits as a kind of the same width. */
WG_API wg_array *wg_array_bitcast(wg_array *a, wg_kind kind);

/* ---- elementwise rows and the other alike ones: arrays.def --------------------------------------------------------------------------- */

#define UNARY(name, Row, doc) WG_API wg_array *wg_array_##name(wg_array *a);
#define BINARY(name, Row, doc) \
    WG_API wg_array *wg_array_##name(wg_array *a, wg_array *b); \
    WG_API wg_array *wg_array_##name##_scalar(wg_array *a, double b);
#define TERNARY(name, Row, doc) WG_API wg_array *wg_array_##name(wg_array *a, wg_array *b, wg_array *c);
/* Dense algebra: docs/dense-algebra.md has the conventions. A vector b [n] gives a vector, where a has no other axes before its matrix. */
#define MATRICES(name, Row, doc) WG_API wg_array *wg_array_##name(wg_array *a, wg_array *b);
/* Reductions: over axes [count], in any order, each once; NULL, 0 (WG_ALL_AXES): all. `keep` leaves them with extent 1. No axes (a pointer
 * and 0): item by item. */
#define REDUCTION(name, doc) WG_API wg_array *wg_array_##name(wg_array *a, const int32_t *axes, uint32_t count, bool keep);
#define COMPOSED(name, doc) WG_API wg_array *wg_array_##name(wg_array *a);
#include "wengert/arrays.def"

/* A number on the left. */
WG_API wg_array *wg_array_scalar_sub(double a, wg_array *b);
WG_API wg_array *wg_array_scalar_div(double a, wg_array *b);
WG_API wg_array *wg_array_scalar_powf(double a, wg_array *b);

/* a where condition (bool) holds, else b; all three are broadcast: NumPy's where. */
WG_API wg_array *wg_array_select(wg_array *condition, wg_array *a, wg_array *b);
WG_API wg_array *wg_array_square(wg_array *a);     /* a * a */
WG_API wg_array *wg_array_reciprocal(wg_array *a); /* 1 / a */
WG_API wg_array *wg_array_trunc(wg_array *a);      /* toward zero */
WG_API wg_array *wg_array_log2(wg_array *a);
WG_API wg_array *wg_array_log10(wg_array *a);
WG_API wg_array *wg_array_exp2(wg_array *a);
WG_API wg_array *wg_array_deg2rad(wg_array *a);
WG_API wg_array *wg_array_rad2deg(wg_array *a);
WG_API wg_array *wg_array_fmod(wg_array *a, wg_array *b);      /* the dividend gives the sign */
WG_API wg_array *wg_array_hypot(wg_array *a, wg_array *b);     /* sqrt(a*a + b*b), scaled by the greater */
WG_API wg_array *wg_array_logaddexp(wg_array *a, wg_array *b); /* ln(exp a + exp b) */
WG_API wg_array *wg_array_copysign(wg_array *a, wg_array *b);  /* floats: |a| with the sign bit of b */
WG_API wg_array *wg_array_nextafter(wg_array *a, wg_array *b); /* f32, f64: the neighbour of a toward b */
WG_API wg_array *wg_array_lcm(wg_array *a, wg_array *b);       /* least common multiple; 0 with 0 */
/* minimum(maximum(a, low), high); low and high are optional. */
WG_API wg_array *wg_array_clip(wg_array *a, wg_array *low, wg_array *high);
WG_API wg_array *wg_array_clip_scalar(wg_array *a, double low, double high);
/* bool [..]; of integers no NaN and no infinity. */
WG_API wg_array *wg_array_is_nan(wg_array *a);
WG_API wg_array *wg_array_is_inf(wg_array *a);
WG_API wg_array *wg_array_is_finite(wg_array *a);
WG_API wg_array *wg_array_signbit(wg_array *a); /* of -0 and of a NaN too */
/* NaN becomes `nan`, infinities `positive` and `negative`. */
WG_API wg_array *wg_array_nan_to_num(wg_array *a, double nan, double positive, double negative);
/* bool of bools, or of other kinds by "not zero". */
WG_API wg_array *wg_array_logical_and(wg_array *a, wg_array *b);
WG_API wg_array *wg_array_logical_or(wg_array *a, wg_array *b);
WG_API wg_array *wg_array_logical_xor(wg_array *a, wg_array *b);
WG_API wg_array *wg_array_logical_not(wg_array *a);
/* bool: |a - b| <= absolute + relative * |b|, infinities equal to themselves; NaN equal to NaN where equal_nan. */
WG_API wg_array *wg_array_is_close(wg_array *a, wg_array *b, double relative, double absolute, bool equal_nan);
/* bool []: all of them are close. */
WG_API wg_array *wg_array_all_close(wg_array *a, wg_array *b, double relative, double absolute, bool equal_nan);
/* bool []: equal shapes and items; false where shapes differ. */
WG_API wg_array *wg_array_array_equal(wg_array *a, wg_array *b);

/* ---- creation ------------------------------------------------------------------------------------------------------------------------ */

/* A copy of row-major items: wg_array_from(lazy, WG_KIND_F64, WG_EXTENTS(2), (double[]){1, 2}). */
WG_API wg_array *wg_array_from(wg_lazy *lazy, wg_kind kind, uint32_t rank, const int64_t *shape, const void *items);
/* [shape] of one number, converted to the kind (of integers toward zero, saturating). WG_SHAPE where the shape is none. */
WG_API wg_array *wg_array_full(wg_lazy *lazy, wg_kind kind, uint32_t rank, const int64_t *shape, double number);
WG_API wg_array *wg_array_zeros(wg_lazy *lazy, wg_kind kind, uint32_t rank, const int64_t *shape);
WG_API wg_array *wg_array_ones(wg_lazy *lazy, wg_kind kind, uint32_t rank, const int64_t *shape);
/* Of another array's kind and shape. */
WG_API wg_array *wg_array_full_like(wg_array *like, double number);
WG_API wg_array *wg_array_zeros_like(wg_array *like);
WG_API wg_array *wg_array_ones_like(wg_array *like);
/* 0, 1, 2 .. along an axis. */
WG_API wg_array *wg_array_iota(wg_lazy *lazy, wg_kind kind, uint32_t rank, const int64_t *shape, int32_t axis);
/* start, start + step .. before stop: [ceil((stop - start) / step)], none where that is negative. Item i is start + i * step, of floats
 * computed in f64. WG_ARGUMENT: step 0 or a length that is no number. */
WG_API wg_array *wg_array_arange(wg_lazy *lazy, wg_kind kind, double start, double stop, double step);
/* count numbers from start to stop, which is the last one, or (endpoint false) the one after it. A float kind. */
WG_API wg_array *wg_array_linspace(wg_lazy *lazy, wg_kind kind, double start, double stop, int64_t count, bool endpoint);
/* [rows, columns]: ones on a diagonal (0: the main one, above it where positive), else zeros. */
WG_API wg_array *wg_array_eye(wg_lazy *lazy, wg_kind kind, int64_t rows, int64_t columns, int64_t diagonal);
/* [n] to [n + |diagonal|, n + |diagonal|] with it as a diagonal and zeros elsewhere; [m, n] to its diagonal. */
WG_API wg_array *wg_array_diag(wg_array *a, int64_t diagonal);
/* [.., m, n, ..]: the diagonal of two axes, as the last one. */
WG_API wg_array *wg_array_diagonal(wg_array *a, int64_t offset, int32_t axis1, int32_t axis2);
/* [rows, columns]: ones on and below a diagonal. */
WG_API wg_array *wg_array_tri(wg_lazy *lazy, wg_kind kind, int64_t rows, int64_t columns, int64_t diagonal);
/* [.., m, n]: what is on and below (tril), on and above (triu) a diagonal, else zeros. */
WG_API wg_array *wg_array_tril(wg_array *a, int64_t diagonal);
WG_API wg_array *wg_array_triu(wg_array *a, int64_t diagonal);
/* vectors [count][n_i] to grids [count][n_0, n_1, ..]; `columns_first` exchanges the first two axes (NumPy's indexing="xy"). */
WG_API bool wg_array_meshgrid(wg_array *const *vectors, uint32_t count, bool columns_first, wg_array **grids);
/* [..] integers (else WG_KIND) to [.., classes] of a kind: 1 at the label, else 0. */
WG_API wg_array *wg_array_one_hot(wg_array *labels, int64_t classes, wg_kind kind);

/* ---- layout -------------------------------------------------------------------------------------------------------------------------- */

/* The same items in row-major order; one extent may be -1: what is left. */
WG_API wg_array *wg_array_reshape(wg_array *a, uint32_t rank, const int64_t *shape);
WG_API wg_array *wg_array_flatten(wg_array *a);
/* Axis i of the result is axis order[i] of a; order [rank], or NULL: the axes in reverse. */
WG_API wg_array *wg_array_permute(wg_array *a, const int32_t *order, uint32_t count);
WG_API wg_array *wg_array_transpose(wg_array *a);        /* all axes in reverse */
WG_API wg_array *wg_array_matrix_transpose(wg_array *a); /* [.., m, n] to [.., n, m] */
WG_API wg_array *wg_array_move_axis(wg_array *a, const int32_t *sources, const int32_t *destinations, uint32_t count);
WG_API wg_array *wg_array_swap_axes(wg_array *a, int32_t axis1, int32_t axis2);
/* Drops axes of extent 1; NULL, 0: all of those. WG_SHAPE where another extent is dropped. */
WG_API wg_array *wg_array_squeeze(wg_array *a, const int32_t *axes, uint32_t count);
/* New axes of extent 1 at these places of the result. */
WG_API wg_array *wg_array_expand_dims(wg_array *a, const int32_t *axes, uint32_t count);
WG_API wg_array *wg_array_broadcast_to(wg_array *a, uint32_t rank, const int64_t *shape);
WG_API bool wg_array_broadcast_arrays(wg_array *const *arrays, uint32_t count, wg_array **results);
/* The shape of several shapes broadcast; shape has room for WG_MAX_RANK extents. */
WG_API bool wg_array_broadcast_shape(wg_array *const *arrays, uint32_t count, uint32_t *rank, int64_t *shape);
/* Rows: one item to a shape, and an array repeated along a new axis. */
WG_API wg_array *wg_array_broadcast(wg_array *a, uint32_t rank, const int64_t *shape);
WG_API wg_array *wg_array_broadcast_along(wg_array *a, int32_t axis, int64_t extent);
/* Axes turned round; NULL, 0: all. */
WG_API wg_array *wg_array_flip(wg_array *a, const int32_t *axes, uint32_t count);
WG_API wg_array *wg_array_reverse(wg_array *a, int32_t axis);
/* Moved by shifts [count] along axes [count], what leaves one end enters at the other. axes NULL and count 1: in the flat order. */
WG_API wg_array *wg_array_roll(wg_array *a, const int64_t *shifts, const int32_t *axes, uint32_t count);
/* len positions of an axis from start, step apart. */
WG_API wg_array *wg_array_narrow(wg_array *a, int32_t axis, int64_t start, int64_t len, int64_t step);
WG_API wg_array *wg_array_concat(wg_array *const *arrays, uint32_t count, int32_t axis);
/* Along a new axis of the result. */
WG_API wg_array *wg_array_stack(wg_array *const *arrays, uint32_t count, int32_t axis);
/* pieces [count] of equal extent; WG_SHAPE where count does not divide. */
WG_API bool wg_array_split(wg_array *a, uint32_t count, int32_t axis, wg_array **pieces);
/* pieces [count + 1] between positions [count], which are clamped as slices are. */
WG_API bool wg_array_split_at(wg_array *a, const int64_t *positions, uint32_t count, int32_t axis, wg_array **pieces);
/* The whole repeated repeats[i] times along each axis, aligned at the end as shapes are. */
WG_API wg_array *wg_array_tile(wg_array *a, uint32_t count, const int64_t *repeats);
/* Each position of an axis `times` over. */
WG_API wg_array *wg_array_repeat(wg_array *a, int64_t times, int32_t axis);
/* Position i counts[i] times over: counts i64 or i32 [extent], read at the call. */
WG_API wg_array *wg_array_repeat_each(wg_array *a, wg_array *counts, int32_t axis);
/* before [rank] and after [rank] positions added to each axis. mode: "constant" (of value), "edge", "reflect", "symmetric", "wrap". */
WG_API wg_array *wg_array_pad(wg_array *a, const int64_t *before, const int64_t *after, const char *mode, double value);
/* Rows: windows of an axis [windows, size] at it, and their transpose, overlaps added. */
WG_API wg_array *wg_array_unfold(wg_array *a, int32_t axis, int64_t size, int64_t step, int64_t dilation);
WG_API wg_array *wg_array_fold(wg_array *a, int32_t axis, int64_t size, int64_t step, int64_t dilation, int64_t extent);

/* ---- indexing ------------------------------------------------------------------------------------------------------------------------ */

typedef enum wg_index_form { WG_INDEX_AT, WG_INDEX_SLICE, WG_INDEX_REST, WG_INDEX_NEW_AXIS, WG_INDEX_ARRAY } wg_index_form;

/* A missing start, stop of a slice. */
#define WG_MISSING INT64_MIN

/* One place of an index expression: take it from the functions below. */
typedef struct wg_index {
    wg_index_form form;
    int64_t start, stop, step; /* AT: start */
    wg_array *array;           /* ARRAY: positions (i64, i32) or a mask (bool) */
} wg_index;

static inline wg_index wg_index_of(wg_index_form form, int64_t start, int64_t stop, int64_t step, wg_array *array)
{
    wg_index index;
    index.form = form;
    index.start = start;
    index.stop = stop;
    index.step = step;
    index.array = array;
    return index;
}
/* a[position]: drops the axis. */
static inline wg_index wg_index_at(int64_t position) { return wg_index_of(WG_INDEX_AT, position, 0, 1, NULL); }
/* a[start:stop:step], Python's rules. */
static inline wg_index wg_index_slice(int64_t start, int64_t stop, int64_t step)
{
    return wg_index_of(WG_INDEX_SLICE, start, stop, step, NULL);
}
static inline wg_index wg_index_all(void) { return wg_index_of(WG_INDEX_SLICE, WG_MISSING, WG_MISSING, 1, NULL); }
/* a[...]: whole axes, as many as are left; at most once. */
static inline wg_index wg_index_rest(void) { return wg_index_of(WG_INDEX_REST, 0, 0, 1, NULL); }
/* A new axis of extent 1. */
static inline wg_index wg_index_new_axis(void) { return wg_index_of(WG_INDEX_NEW_AXIS, 0, 0, 1, NULL); }
/* Positions of an axis, or a mask of as many axes as it has (at least one). Several arrays (and positions beside them) are broadcast; where
 * they stand side by side the axes of the result replace theirs, else they come first: NumPy's rule. */
static inline wg_index wg_index_by(wg_array *array) { return wg_index_of(WG_INDEX_ARRAY, 0, 0, 1, array); }

/* a[indexes]. A mask's count is read at the call. */
WG_API wg_array *wg_array_index(wg_array *a, const wg_index *indexes, uint32_t count);
/* The array in which the items at indexes are replaced by values, broadcast to them, or have them added (every repeat counts). Replacing at
 * one place twice keeps the last one, in row-major order of the positions; its derivative needs distinct places. A mask alone with values
 * [] reads nothing. */
WG_API wg_array *wg_array_put(wg_array *a, const wg_index *indexes, uint32_t count, wg_array *values);
WG_API wg_array *wg_array_put_add(wg_array *a, const wg_index *indexes, uint32_t count, wg_array *values);
/* [.., extent, ..] at positions [P..]: [.., P.., ..]. */
WG_API wg_array *wg_array_take(wg_array *a, wg_array *positions, int32_t axis);
/* Of each line along an axis the items at positions, broadcast to a elsewhere: the shape of positions. */
WG_API wg_array *wg_array_take_along_axis(wg_array *a, wg_array *positions, int32_t axis);
/* The converse: lines in which items at positions are replaced by values. */
WG_API wg_array *wg_array_put_along_axis(wg_array *a, wg_array *positions, wg_array *values, int32_t axis);
/* The positions of an axis where condition [n] (n at most the extent) holds. Reads their count at the call. */
WG_API wg_array *wg_array_compress(wg_array *condition, wg_array *a, int32_t axis);
/* Row: row-major positions of true, i64 [maximum], -1 in places left over. */
WG_API wg_array *wg_array_where(wg_array *condition, int64_t maximum);
/* For each axis the positions of items that are not zero, i64 [n]; positions has room for rank arrays. Reads n at the call. */
WG_API bool wg_array_nonzero(wg_array *a, wg_array **positions);
/* The same as rows [n, rank]. */
WG_API wg_array *wg_array_argwhere(wg_array *a);
/* Rows as in ops.h, on negative axes too: `outside` is "error", "fill", "clamp" or "skip"; mode "add" or "replace". */
WG_API wg_array *wg_array_gather(wg_array *a, wg_array *positions, int32_t axis, uint32_t batch, const char *outside, double fill);
WG_API wg_array *wg_array_scatter(wg_array *a, wg_array *positions, int32_t axis, uint32_t batch, int64_t extent, const char *outside,
                                  const char *mode);
WG_API wg_array *wg_array_slice(wg_array *a, wg_array *start, int32_t axis, uint32_t batch, int64_t len, const char *outside);
WG_API wg_array *wg_array_update(wg_array *a, wg_array *b, wg_array *start, int32_t axis, uint32_t batch, const char *outside);

/* ---- reductions (more of them in arrays.def), running folds -------------------------------------------------------------------------- */

/* Sums of squares about the mean over n - correction; floats. */
WG_API wg_array *wg_array_var(wg_array *a, const int32_t *axes, uint32_t count, bool keep, double correction);
WG_API wg_array *wg_array_std(wg_array *a, const int32_t *axes, uint32_t count, bool keep, double correction);
/* The number below which a share q in [0, 1] lies, floats, not of nothing. method: "linear", "lower", "higher", "nearest", "midpoint". NaN
 * if any item is. */
WG_API wg_array *wg_array_quantile(wg_array *a, double q, const int32_t *axes, uint32_t count, bool keep, const char *method);
/* (sum |a|^order)^(1/order) of floats; order infinite: the greatest, the least; 0: how many are not zero. */
WG_API wg_array *wg_array_norm(wg_array *a, double order, const int32_t *axes, uint32_t count, bool keep);
/* Rows: op "sum", "product", "max", "min", "and", "or", "xor" and, from the last item to the first (reduce_right), "sub", "div", "powf",
 * "residue". */
WG_API wg_array *wg_array_sum_along(wg_array *a, int32_t axis);
WG_API wg_array *wg_array_reduce(wg_array *a, const char *op, int32_t axis);
WG_API wg_array *wg_array_reduce_right(wg_array *a, const char *op, int32_t axis);
WG_API wg_array *wg_array_scan(wg_array *a, const char *op, int32_t axis, bool reverse);
/* Running folds along an axis; kinds of cumsum and cumprod as of sum. */
WG_API wg_array *wg_array_cumsum(wg_array *a, int32_t axis);
WG_API wg_array *wg_array_cumprod(wg_array *a, int32_t axis);
WG_API wg_array *wg_array_cummax(wg_array *a, int32_t axis);
WG_API wg_array *wg_array_cummin(wg_array *a, int32_t axis);
/* Differences of neighbours, `times` over: the axis loses that many positions (at most all). */
WG_API wg_array *wg_array_diff(wg_array *a, uint32_t times, int32_t axis);

/* ---- order --------------------------------------------------------------------------------------------------------------------------- */

/* Stable; NaN last ascending. */
WG_API wg_array *wg_array_sort(wg_array *a, int32_t axis, bool descending);
/* i64 positions; the row is called grade. */
WG_API wg_array *wg_array_argsort(wg_array *a, int32_t axis, bool descending);
WG_API wg_array *wg_array_grade(wg_array *a, int32_t axis, bool descending);
/* The k greatest along an axis, greatest first, NaN first of all: values and (where not NULL) positions. */
WG_API bool wg_array_top_k(wg_array *a, int64_t k, int32_t axis, wg_array **values, wg_array **positions);
WG_API wg_array *wg_array_top_k_values(wg_array *a, int64_t k, int32_t axis);
WG_API wg_array *wg_array_top_k_positions(wg_array *a, int64_t k, int32_t axis);
/* The item that sorting puts at position k there, lesser ones before it and greater ones behind it (they are sorted, too). */
WG_API wg_array *wg_array_partition(wg_array *a, int64_t k, int32_t axis);
WG_API wg_array *wg_array_argpartition(wg_array *a, int64_t k, int32_t axis);
/* For each of values [..] where it goes in ascending sorted [n], before its equals (right: behind): i64 [..]. */
WG_API wg_array *wg_array_searchsorted(wg_array *sorted, wg_array *values, bool right);
/* The row of it: side "left" or "right". */
WG_API wg_array *wg_array_bins(wg_array *values, wg_array *bounds, const char *side);
/* The number i with bounds[i-1] <= a < bounds[i] (right: < and <=) of ascending bounds, or of descending ones as NumPy has it. */
WG_API wg_array *wg_array_digitize(wg_array *a, wg_array *bounds, bool right);
/* For each item of y [..] its first position in x [n], n where there is none. */
WG_API wg_array *wg_array_first_index(wg_array *x, wg_array *y);
/* Ascending distinct items of a, flat: values [n]; first position of each, i64 [n]; for each item of a the position of its value, i64
 * [shape of a]; how often each occurs, i64 [n]. What is NULL is not wanted. Reads n at the call. NaNs are each distinct. */
WG_API bool wg_array_unique(wg_array *a, wg_array **values, wg_array **first, wg_array **inverse, wg_array **counts);
/* How many of a [..] are in each of bins of equal width over [low, high], the last one closed: i64 [bins]; and the bounds [bins + 1] where
 * not NULL. Floats. */
WG_API bool wg_array_histogram(wg_array *a, int64_t bins, double low, double high, wg_array **counts, wg_array **bounds);
/* Counts (of weights [shape of a] their sums) of the integers 0 .. length - 1 in a; length -1: the greatest + 1, read at the call. Integers
 * outside are an error of the read. weights are optional: without them i64. */
WG_API wg_array *wg_array_bincount(wg_array *a, wg_array *weights, int64_t length);
/* bool [shape of a]: is it an item of `of`? */
WG_API wg_array *wg_array_is_in(wg_array *a, wg_array *of);
/* Sets: ascending distinct items [n], n read at the call. */
WG_API wg_array *wg_array_union(wg_array *a, wg_array *b);
WG_API wg_array *wg_array_intersection(wg_array *a, wg_array *b);
WG_API wg_array *wg_array_difference(wg_array *a, wg_array *b);
WG_API wg_array *wg_array_symmetric_difference(wg_array *a, wg_array *b);

/* ---- products ------------------------------------------------------------------------------------------------------------------------ */

/* NumPy's matmul: matrices on the last two axes, the others broadcast; a vector is a row on the left and a column on the right, and that
 * axis is dropped. Not of []. */
WG_API wg_array *wg_array_matmul(wg_array *a, wg_array *b);
/* Row r of x [rows, k] by the transpose of w[expert[r]], w [experts, n, k]: [rows, n]. An expert that is not there fails the read. */
WG_API wg_array *wg_array_expert_matmul(wg_array *x, wg_array *w, wg_array *expert);
/* NumPy's dot: a product with [] item by item; [.., n] by [n]; [.., n] by [.., n, m]: [.., .., m]. */
WG_API wg_array *wg_array_dot(wg_array *a, wg_array *b);
/* Sums of products along an axis (counted in the broadcast shape), which is dropped. */
WG_API wg_array *wg_array_vecdot(wg_array *a, wg_array *b, int32_t axis);
/* [m] by [n], flat: [m, n]. */
WG_API wg_array *wg_array_outer(wg_array *a, wg_array *b);
/* [.., n] by [.., n]: [.., ..]. */
WG_API wg_array *wg_array_inner(wg_array *a, wg_array *b);
/* Sums over axes_a[i] of a with axes_b[i] of b; the axes left of a, then of b. */
WG_API wg_array *wg_array_tensordot(wg_array *a, wg_array *b, const int32_t *axes_a, const int32_t *axes_b, uint32_t count);
/* Einstein's notation: "ij,jk->ik", letters a..z A..Z, "..." for further axes (broadcast), a letter twice in one operand for its diagonal;
 * without "->" the letters that occur once, in alphabetical order, behind "...". Pairs are contracted in an order of least work found
 * greedily. */
WG_API wg_array *wg_array_einsum(const char *notation, wg_array *const *operands, uint32_t count);
WG_API wg_array *wg_array_trace(wg_array *a, int64_t offset, int32_t axis1, int32_t axis2);
/* Vectors of extent 3 along an axis (counted in the broadcast shape). */
WG_API wg_array *wg_array_cross(wg_array *a, wg_array *b, int32_t axis);
WG_API wg_array *wg_array_kron(wg_array *a, wg_array *b);
/* [.., n, n] to a power: 0 identities, negative of the inverse. */
WG_API wg_array *wg_array_matrix_power(wg_array *a, int64_t power);
/* solve by one triangle of a alone (lower unless upper), transposed or not; unit: its diagonal is taken for ones. */
WG_API wg_array *wg_array_solve_triangular(wg_array *a, wg_array *b, bool upper, bool transposed, bool unit);

/* ---- compositions of compose.h ------------------------------------------------------------------------------------------------------- */

/* As compose.h has them: shapes and errors are those of wg_<name>; more of them stand in arrays.def (COMPOSED). */
WG_API wg_array *wg_array_leaky_relu(wg_array *a, double slope);
WG_API wg_array *wg_array_elu(wg_array *a, double alpha);
WG_API wg_array *wg_array_softmax(wg_array *a, int32_t axis);
WG_API wg_array *wg_array_log_softmax(wg_array *a, int32_t axis);
WG_API wg_array *wg_array_layer_norm(wg_array *x, wg_array *scale, wg_array *shift, double epsilon);
WG_API wg_array *wg_array_rms_norm(wg_array *x, wg_array *scale, double epsilon);
/* mean and variance [c] are answered where not NULL. */
WG_API wg_array *wg_array_batch_norm(wg_array *x, wg_array *scale, wg_array *shift, double epsilon, wg_array **mean, wg_array **variance);
WG_API wg_array *wg_array_batch_norm_inference(wg_array *x, wg_array *mean, wg_array *variance, wg_array *scale, wg_array *shift,
                                               double epsilon);
/* bias, and below b and mask, are optional; filters and windows as in compose.h. */
WG_API wg_array *wg_array_conv2d(wg_array *x, wg_array *filters, wg_array *bias, const wg_window *window, int64_t groups);
WG_API wg_array *wg_array_max_pool(wg_array *x, const wg_window *window);
WG_API wg_array *wg_array_avg_pool(wg_array *x, const wg_window *window);
WG_API wg_array *wg_array_linear(wg_array *x, wg_array *w, wg_array *b);
WG_API wg_array *wg_array_embedding(wg_array *table, wg_array *positions);
WG_API wg_array *wg_array_attention(wg_array *q, wg_array *k, wg_array *v, wg_array *mask, double scale);
WG_API wg_array *wg_array_causal_attention(wg_array *q, wg_array *k, wg_array *v, double scale);
WG_API wg_array *wg_array_cross_entropy(wg_array *logits, wg_array *targets);
WG_API wg_array *wg_array_mean_squared_error(wg_array *a, wg_array *b);
WG_API wg_array *wg_array_binary_cross_entropy(wg_array *logits, wg_array *targets);
WG_API wg_array *wg_array_dropout(wg_array *a, wg_array *key, double rate);

/* ---- draws: keys u32 [.., 2] (wg_generator_key) -------------------------------------------------------------------------------------- */

/* [K.., shape..]; distribution: "uniform" in [0, 1), "normal", "exponential", "bits" (integers). */
WG_API wg_array *wg_array_draw(wg_array *key, const char *distribution, wg_kind kind, uint32_t rank, const int64_t *shape);
WG_API wg_array *wg_array_key_split(wg_array *key, int64_t count);
WG_API wg_array *wg_array_key_fold(wg_array *key, wg_array *number);
/* Floats in [low, high). */
WG_API wg_array *wg_array_uniform(wg_array *key, wg_kind kind, uint32_t rank, const int64_t *shape, double low, double high);
WG_API wg_array *wg_array_normal(wg_array *key, wg_kind kind, uint32_t rank, const int64_t *shape, double mean, double deviation);
/* bool: true with a probability. */
WG_API wg_array *wg_array_bernoulli(wg_array *key, double probability, uint32_t rank, const int64_t *shape);
/* Draws with parameters [K.., ..], which are broadcast to each other (broadcast_to makes room for more draws): as in ops.h. */
WG_API wg_array *wg_array_draw_integers(wg_array *key, wg_array *low, wg_array *high);
WG_API wg_array *wg_array_draw_gamma(wg_array *key, wg_array *shape);
WG_API wg_array *wg_array_draw_log_gamma(wg_array *key, wg_array *shape);
WG_API wg_array *wg_array_draw_gamma_slope(wg_array *key, wg_array *shape, bool logarithm);
WG_API wg_array *wg_array_draw_poisson(wg_array *key, wg_array *mean);
WG_API wg_array *wg_array_draw_binomial(wg_array *key, wg_array *count, wg_array *p);
WG_API wg_array *wg_array_draw_truncated(wg_array *key, wg_array *from, wg_array *to);
/* The numbers 0 .. n - 1 in any order, i64 [n]; and the positions of an axis in any order. */
WG_API wg_array *wg_array_permutation(wg_array *key, int64_t n);
WG_API wg_array *wg_array_shuffle(wg_array *key, wg_array *a, int32_t axis);

#ifdef __cplusplus
}

/* C++: a number on the right by overloads; the literal 0 is an int before it is a pointer. */
#define BINARY(name, Row, doc)                                                                                \
    static inline wg_array *wg_array_##name(wg_array *a, double b) { return (wg_array_##name##_scalar)(a, b); } \
    static inline wg_array *wg_array_##name(wg_array *a, int b) { return (wg_array_##name##_scalar)(a, b); }
#include "wengert/arrays.def"
#define WG_ARRAY_BINARY(function, a, b) (function)(a, b)
#else
#define WG_ARRAY_BINARY(function, a, b) _Generic((b), wg_array *: (function), void *: (function), default: (function##_scalar))(a, b)
#endif

#ifndef WG_NO_SITES
#include "wengert/array_sites.h"
#endif

#endif
