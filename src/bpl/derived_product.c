/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Outer product (⊗), inner product (f.g) and expansion by minors (f.g with one argument). */
#include <string.h>

#include "bpl/fold.h"
#include "bpl/whole.h"

bpl_value *bpl_derived_outer(bpl_session *session, const bpl_call *call)
{
    if (!call->left) return bpl_fail(session, BPL_SYNTAX, "an outer product takes two arguments");
    if (call->left->atom && call->right->atom) return bpl_apply(session, call->function->left, call->left, call->right);
    bpl_map map = {.function = call->function->left, .left = call->left, .right = call->right, .left_rank = bpl_rank(call->left),
                   .right_rank = bpl_rank(call->right),
                   .form = BPL_ITEM, .assembly = BPL_ASSEMBLE_ITEMS};
    bpl_frames frames;
    if (!bpl_frames_outer(session, call->left, map.left_rank, call->right, map.right_rank, &frames)) return NULL;
    return bpl_map_cells(session, &map, &frames);
}

/* ---- inner product: sums of products ------------------------------------------------------------------------------------------------- */

/* The kind in which both have rows for it; WG_KIND_COUNT: none. */
static wg_kind product_kind(const bpl_value *left, const bpl_value *right, uint8_t *class)
{
    if (left->type != BPL_NUMBERS || right->type != BPL_NUMBERS) return WG_KIND_COUNT;
    bool whole = left->class <= BPL_CLASS_ORDINARY && right->class <= BPL_CLASS_ORDINARY;
    *class = whole ? BPL_CLASS_ORDINARY : BPL_CLASS_FLOAT;
    if (whole) return WG_KIND_I64;
    bool left_float = left->class == BPL_CLASS_FLOAT, right_float = right->class == BPL_CLASS_FLOAT;
    if (left_float && right_float) return wg_kind_promoted(bpl_kind(left), bpl_kind(right));
    if (left_float && right->class <= BPL_CLASS_ORDINARY) return bpl_kind(left);
    if (right_float && left->class <= BPL_CLASS_ORDINARY) return bpl_kind(right);
    return WG_KIND_COUNT;
}

/* A contraction of length 1 repeated to the other's. */
static wg_array *stretched(wg_array *array, uint32_t axis, int64_t extent)
{
    int64_t shape[WG_MAX_RANK];
    uint32_t rank = wg_array_rank(array);
    if (!rank) return wg_array_broadcast_to(array, 1, &extent);
    memcpy(shape, wg_array_shape(array), rank * sizeof *shape);
    if (shape[axis] == extent) return array;
    shape[axis] = extent;
    return wg_array_broadcast_to(array, rank, shape);
}

static bool plain_contraction(const bpl_value *left, const bpl_value *right)
{
    const bpl_axis *a = bpl_rank(left) ? bpl_axis_of(left, bpl_rank(left) - 1) : NULL, *b = bpl_rank(right) ? bpl_axis_of(right, 0) : NULL;
    return !(a && b && a->labels && b->labels);
}

/* Names and keys of left's axes but the last, then of right's but the first. */
static bpl_value *with_outer_keys(bpl_session *session, bpl_value *result, const bpl_value *left, const bpl_value *right)
{
    if (!result || result->atom || (!left->keys && !right->keys)) return result;
    uint32_t left_rank = bpl_rank(left) ? bpl_rank(left) - 1 : 0;
    bpl_keys *keys = bpl_keys_joined(session, left->keys, left_rank, right->keys, 1, bpl_rank(result), bpl_shape(result));
    return bpl_settle_keys(session, result, bpl_names_once(session, keys));
}

/* +.× by the matrix product's row; NULL without an error: it does not serve. */
static bpl_value *matrix_product(bpl_session *session, bpl_value *left, bpl_value *right)
{
    uint8_t class;
    wg_kind kind = product_kind(left, right, &class);
    uint32_t m = bpl_rank(left), n = bpl_rank(right);
    if (kind == WG_KIND_COUNT || !plain_contraction(left, right) || (m < 2 && n < 2 && !m + !n)) return NULL;
    int64_t a = m ? bpl_shape(left)[m - 1] : 1, b = n ? bpl_shape(right)[0] : 1, extent = a == 1 ? b : a;
    if (a != b && a != 1 && b != 1) return bpl_fail(session, BPL_LENGTH, "lengths %lld and %lld don't agree", (long long)a, (long long)b);
    if (extent < 2 || (m ? m : 1) + (n ? n : 1) - 2 > WG_MAX_RANK || !bpl_volume(left) || !bpl_volume(right)) return NULL;
    wg_scope_open(session->lazy);
    wg_array *x = wg_array_convert(bpl_array(left), kind), *y = wg_array_convert(bpl_array(right), kind);
    x = x ? stretched(x, m ? m - 1 : 0, extent) : NULL;
    y = y ? stretched(y, 0, extent) : NULL;
    int32_t last = x ? (int32_t)wg_array_rank(x) - 1 : 0, first = 0;
    bool matrices = x && y && wg_array_rank(x) <= 2 && wg_array_rank(y) <= 2;
    wg_array *product = !x || !y ? NULL : matrices ? wg_array_matmul(x, y) : wg_array_tensordot(x, y, &last, &first, 1);
    bool atom = product && !wg_array_rank(product);
    return with_outer_keys(session, bpl_leave(session, product, class, atom), left, right);
}

/* ---- inner product: any functions ---------------------------------------------------------------------------------------------------- */

typedef struct pair_call {
    bpl_value *f, *g;
} pair_call;

/* No pairs of what would be nested: of its innermost items. Consumes it. */
static bpl_value *no_pairs(bpl_session *session, bpl_value *pairs)
{
    bpl_value *leaf = pairs;
    while (leaf && !leaf->atom) {
        bpl_value *fill = bpl_is_unit(leaf) ? bpl_item(session, leaf, 0) : bpl_fill(session, leaf);
        bpl_release(leaf);
        leaf = fill;
    }
    int64_t length = 0;
    bpl_value *nothing = leaf ? bpl_nothing_of(session, leaf, 1, &length) : NULL;
    bpl_release(leaf);
    return nothing;
}

/* f/ x g¨ y of two lanes. */
static bpl_value *contract(bpl_session *session, void *data, bpl_value *left, bpl_value *right)
{
    const pair_call *call = data;
    if (left->atom && right->atom) return bpl_wanted(session, bpl_apply(session, call->g, left, right)); /* one pair, which is returned as it is */
    bpl_value *pairs = bpl_is_pervasive(call->g, true) ? bpl_apply(session, call->g, left, right) : bpl_each(session, call->g, left, right);
    if (pairs && pairs->type == BPL_ITEMS && bpl_rank(pairs) == 1 && !bpl_volume(pairs)) pairs = no_pairs(session, pairs);
    bpl_value *result = pairs ? bpl_fold(session, call->f, NULL, pairs) : NULL;
    bpl_release(pairs);
    return result;
}

/* [.., 1 .., k] and [1 .., .., k], so that pairing them is broadcasting; NULL without an error where that does not serve. */
static bpl_value *broadcast_product(bpl_session *session, const pair_call *call, bpl_value *left, bpl_value *rights)
{
    uint32_t m = bpl_rank(left) - 1, n = bpl_rank(rights) - 1, rank = m + n + 1;
    if (!bpl_is_pervasive(call->g, true) || !bpl_is_simple(left) || !bpl_is_simple(rights) || left->keys || rights->keys ||
        rank > WG_MAX_RANK) return NULL;
    int64_t x[WG_MAX_RANK], y[WG_MAX_RANK];
    for (uint32_t axis = 0; axis < rank; axis++) {
        x[axis] = axis < m ? bpl_shape(left)[axis] : axis < m + n ? 1 : bpl_shape(left)[m];
        y[axis] = axis < m ? 1 : axis < m + n ? bpl_shape(rights)[axis - m] : bpl_shape(rights)[n];
    }
    bpl_value *a = bpl_with_shape(session, left, rank, x, NULL), *b = a ? bpl_with_shape(session, rights, rank, y, NULL) : NULL;
    bpl_value *pairs = b ? bpl_apply(session, call->g, a, b) : NULL, *result = pairs ? bpl_fold(session, call->f, NULL, pairs) : NULL;
    bpl_release(a);
    bpl_release(b);
    bpl_release(pairs);
    return result;
}

/* Fills in the place of a lane, the last axis of a value. */
static bpl_value *lane_of_fills(bpl_session *session, bpl_value *value)
{
    uint32_t rank = bpl_rank(value);
    if (rank < 2) return bpl_keep(value);
    return bpl_fills_of(session, value, 1, &bpl_shape(value)[rank - 1]);
}

/* The result without lanes: of the kind that lanes of fills give, or their error. Frees the frames. */
static bpl_value *of_no_lanes(bpl_session *session, pair_call *call, bpl_value *left, bpl_value *rights, bpl_frames *frames)
{
    bpl_value *a = lane_of_fills(session, left), *b = a ? lane_of_fills(session, rights) : NULL, *one = b ? contract(session, call, a, b) : NULL;
    bpl_items *items = one ? bpl_items_new(session, frames->rank, frames->shape) : NULL;
    bpl_value *result = NULL;
    if (items && (items->prototype = bpl_prototype_of(session, one)))
        result = bpl_settle_keys(session, bpl_collect(session, items), bpl_keys_keep(frames->keys));
    else if (items) bpl_items_free(session, items);
    bpl_release(a);
    bpl_release(b);
    bpl_release(one);
    bpl_frames_free(session, frames);
    return result;
}

/* The contracted axes are of one length, or of length 1, which stretches; or they have keys, which pair. */
static bool contraction_agrees(bpl_session *session, const bpl_value *left, const bpl_value *rights)
{
    uint32_t m = bpl_rank(left), n = bpl_rank(rights);
    int64_t a = m ? bpl_shape(left)[m - 1] : 1, b = n ? bpl_shape(rights)[n - 1] : 1;
    const bpl_axis *x = m ? bpl_axis_of(left, m - 1) : NULL, *y = n ? bpl_axis_of(rights, n - 1) : NULL;
    if (a == b || a == 1 || b == 1 || (x && y && x->labels && y->labels)) return true;
    return bpl_fail(session, BPL_LENGTH, "lengths %lld and %lld don't agree", (long long)a, (long long)b);
}

static bpl_value *over_lanes(bpl_session *session, pair_call *call, bpl_value *left, uint32_t m, bpl_value *rights, uint32_t n)
{
    bpl_map map = {.code = contract, .data = call, .left = left, .right = rights, .left_rank = m, .right_rank = n, .form = BPL_CELL,
                   .assembly = BPL_ASSEMBLE_ITEMS};
    bpl_frames frames;
    if (!bpl_frames_outer(session, left, m, rights, n, &frames)) return NULL;
    if (!frames.volume) return of_no_lanes(session, call, left, rights, &frames);
    bpl_value *result = bpl_rank(left) && bpl_rank(rights) ? broadcast_product(session, call, left, rights) : NULL;
    if (!result && !bpl_failed(session)) return bpl_map_cells(session, &map, &frames);
    bpl_frames_free(session, &frames);
    return result;
}

static bpl_value *general_product(bpl_session *session, pair_call *call, bpl_value *left, bpl_value *right)
{
    if (bpl_rank(left) < 2 && bpl_rank(right) < 2) return contract(session, call, left, right);
    uint32_t first = 0, m = bpl_rank(left) ? bpl_rank(left) - 1 : 0, n = bpl_rank(right) ? bpl_rank(right) - 1 : 0;
    bpl_value *rights = bpl_axes_last(session, right, &first, n ? 1 : 0);
    bpl_value *result = rights && contraction_agrees(session, left, rights) ? over_lanes(session, call, left, m, rights, n) : NULL;
    bpl_release(rights);
    return result;
}

/* ---- minors -------------------------------------------------------------------------------------------------------------------------- */

static uint64_t inverse_of_odd(uint64_t odd)
{
    uint64_t inverse = odd; /* right in 3 bits; each step doubles them */
    for (int i = 0; i < 5; i++) inverse *= 2 - odd * inverse;
    return inverse;
}

/* The determinant modulo 2^64, which is what wrapping arithmetic of any order gives: each pivot is one that is divided least often by 2, so that it divides
 * the rest of its column. a [n, n] is used up. */
static int64_t integer_determinant(uint64_t *a, int64_t n)
{
    uint64_t product = 1;
    for (int64_t k = 0; k < n; k++) {
        int64_t best = -1;
        int least = 64;
        for (int64_t i = k; i < n; i++) {
            int twos = a[i * n + k] ? __builtin_ctzll(a[i * n + k]) : 64;
            if (twos < least) least = twos, best = i;
        }
        if (best < 0) return 0;
        for (int64_t j = 0; j < n && best != k; j++) {
            uint64_t swapped = a[k * n + j];
            a[k * n + j] = a[best * n + j];
            a[best * n + j] = swapped;
        }
        if (best != k) product = 0 - product;
        uint64_t inverse = inverse_of_odd(a[k * n + k] >> least);
        product *= a[k * n + k];
        for (int64_t i = k + 1; i < n; i++) {
            uint64_t factor = (a[i * n + k] >> least) * inverse;
            for (int64_t j = k; j < n && factor; j++) a[i * n + j] -= factor * a[k * n + j];
        }
    }
    return (int64_t)product;
}

static bpl_value *determinant_of_integers(bpl_session *session, const bpl_value *matrix)
{
    int64_t n = bpl_shape(matrix)[0], result = 0;
    size_t bytes = (size_t)(n * n) * sizeof(uint64_t);
    wg_scope_open(session->lazy);
    wg_array *wide = wg_array_convert(bpl_array(matrix), WG_KIND_I64);
    wg_view view;
    uint64_t *copy = NULL;
    bool good = wide && wg_array_read(wide, &view);
    if (!good) bpl_fail_lazy(session);
    else if (!(copy = base_allocate(session->allocator, bytes))) bpl_fail_memory(session);
    if (copy) {
        for (int64_t i = 0; i < n * n; i++) copy[i] = (uint64_t)((const int64_t *)view.data)[(i / n) * (view.strides ? view.strides[0] : n) + (i % n) * (view.strides ? view.strides[1] : 1)];
        result = integer_determinant(copy, n);
        base_free(session->allocator, copy, bytes);
    }
    wg_scope_close(session->lazy);
    return copy ? bpl_count(session, result) : NULL;
}

/* NULL without an error: by minors. */
static bpl_value *determinant(bpl_session *session, const bpl_value *matrix)
{
    if (matrix->type != BPL_NUMBERS || bpl_rank(matrix) != 2 || bpl_shape(matrix)[0] != bpl_shape(matrix)[1] || bpl_shape(matrix)[0] < 2) return NULL;
    if (matrix->class <= BPL_CLASS_ORDINARY && !wg_array_is_carried(bpl_array(matrix))) return determinant_of_integers(session, matrix);
    wg_kind kind = bpl_kind(matrix);
    if (matrix->class != BPL_CLASS_FLOAT || (kind != WG_KIND_F32 && kind != WG_KIND_F64)) return NULL;
    wg_scope_open(session->lazy);
    return bpl_leave(session, wg_array_determinant(bpl_array(matrix)), BPL_CLASS_FLOAT, true);
}

typedef struct minors {
    bpl_session *session;
    pair_call call;
    bpl_value *matrix;
    int64_t rows, columns;
    bpl_value *none; /* of a matrix without columns */
    /* Expansions that are known, by the rows that are left: hashed */
    uint64_t *sets;
    bpl_value **known;
    uint64_t capacity, count;
} minors;

static bool minors_grow(minors *m)
{
    uint64_t capacity = m->capacity ? 2 * m->capacity : 64;
    uint64_t *sets = base_allocate_zeroed(m->session->allocator, capacity * sizeof *sets);
    bpl_value **known = base_allocate_zeroed(m->session->allocator, capacity * sizeof *known);
    if (!sets || !known) {
        if (sets) base_free(m->session->allocator, sets, capacity * sizeof *sets);
        if (known) base_free(m->session->allocator, known, capacity * sizeof *known);
        return bpl_fail_memory(m->session), false;
    }
    for (uint64_t i = 0; i < m->capacity; i++) {
        if (!m->known[i]) continue;
        uint64_t at = m->sets[i] * 0x9e3779b97f4a7c15u & (capacity - 1);
        while (known[at]) at = (at + 1) & (capacity - 1);
        sets[at] = m->sets[i];
        known[at] = m->known[i];
    }
    if (m->capacity) {
        base_free(m->session->allocator, m->sets, m->capacity * sizeof *sets);
        base_free(m->session->allocator, m->known, m->capacity * sizeof *known);
    }
    m->sets = sets;
    m->known = known;
    m->capacity = capacity;
    return true;
}

static uint64_t minors_place(const minors *m, uint64_t set)
{
    uint64_t at = set * 0x9e3779b97f4a7c15u & (m->capacity - 1);
    while (m->known[at] && m->sets[at] != set) at = (at + 1) & (m->capacity - 1);
    return at;
}

/* f.g of the rows in `set` from a column on: the column with the expansions that leave out one row each. Owned. */
static bpl_value *expand(minors *m, uint64_t set, int64_t column)
{
    bpl_session *session = m->session;
    if (column == m->columns) return bpl_keep(m->none);
    uint64_t at = minors_place(m, set);
    if (m->known[at]) return bpl_keep(m->known[at]);
    int64_t count = __builtin_popcountll(set), used = 0;
    bpl_items *entries = bpl_items_new(session, 1, &count), *rests = entries ? bpl_items_new(session, 1, &count) : NULL;
    bool good = rests != NULL;
    for (int64_t row = 0; row < m->rows && good; row++) {
        if (!(set >> row & 1)) continue;
        entries->at[used] = bpl_item(session, m->matrix, row * m->columns + column);
        rests->at[used] = entries->at[used] ? expand(m, set & ~((uint64_t)1 << row), column + 1) : NULL;
        good = rests->at[used++] != NULL;
    }
    if (!good) {
        if (entries) bpl_items_free(session, entries);
        if (rests) bpl_items_free(session, rests);
        return NULL;
    }
    bpl_value *left = bpl_collect(session, entries), *right = bpl_collect(session, rests);
    bpl_value *result = left && right ? contract(session, &m->call, left, right) : NULL;
    bpl_release(left);
    bpl_release(right);
    if (!result) return NULL;
    if (2 * (m->count + 1) > m->capacity && !minors_grow(m)) return bpl_release(result), NULL;
    at = minors_place(m, set);
    m->sets[at] = set;
    m->known[at] = bpl_keep(result);
    m->count++;
    return result;
}

static bpl_value *by_minors(bpl_session *session, const pair_call *call, bpl_value *matrix)
{
    minors m = {.session = session, .call = *call, .matrix = matrix, .rows = 1, .columns = 1};
    if (bpl_rank(matrix) > 2) return bpl_fail(session, BPL_RANK, "minors are of a matrix, not of an array of rank %u", bpl_rank(matrix));
    if (bpl_rank(matrix)) m.rows = bpl_shape(matrix)[0];
    if (bpl_rank(matrix) == 2) m.columns = bpl_shape(matrix)[1];
    if (m.rows > 64) return bpl_fail(session, BPL_LIMIT, "minors of %lld rows: 64 are the most", (long long)m.rows);
    int64_t no_items = 0;
    bpl_items *nothing = bpl_items_new(session, 1, &no_items);
    if (nothing && !(nothing->prototype = bpl_fill(session, matrix))) return bpl_items_free(session, nothing), NULL;
    bpl_value *empty = nothing ? bpl_collect(session, nothing) : NULL, *result = NULL;
    if (empty && (m.none = bpl_fold(session, call->g, NULL, empty)) && minors_grow(&m)) result = expand(&m,
        m.rows == 64 ? UINT64_MAX : ((uint64_t)1 << m.rows) - 1, 0);
    for (uint64_t i = 0; i < m.capacity; i++) bpl_release(m.known[i]);
    if (m.capacity) {
        base_free(session->allocator, m.sets, m.capacity * sizeof *m.sets);
        base_free(session->allocator, m.known, m.capacity * sizeof *m.known);
    }
    bpl_release(m.none);
    bpl_release(empty);
    return result;
}

bpl_value *bpl_derived_product(bpl_session *session, const bpl_call *call)
{
    pair_call pair = {call->function->left, call->function->right};
    int32_t f = bpl_fold_primitive(pair.f), g = bpl_fold_primitive(pair.g);
    bpl_value *result = NULL;
    if (!call->left) {
        if (f == BPL_GLYPH_MINUS && g == BPL_GLYPH_TIMES) result = determinant(session, call->right);
        return result || bpl_failed(session) ? result : by_minors(session, &pair, call->right);
    }
    if (f == BPL_GLYPH_PLUS && g == BPL_GLYPH_TIMES) result = matrix_product(session, call->left, call->right);
    return result || bpl_failed(session) ? result : general_product(session, &pair, call->left, call->right);
}
