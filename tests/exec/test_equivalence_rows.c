/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Every row of the op table, on every kind that it takes, at lengths around the edges of vectors, blocks and chunks: plan and session =
 * oracle, bit for bit. Operands come as they are, and through views that no kernel can take for dense. Items include NaNs, infinities, both
 * zeros, subnormals, and the ends of integer kinds. */
#include <math.h>

#include "base/bits.h"
#include "exec/equivalence.h"
#include "graph/row.h"
#include "graph/rules.h"
#include "support/blocks.h"
#include "support/dense.h"

#define MOST_ROOTS 200

/* One tape for a row and a kind; every case is a root of its own. */
typedef struct maker {
    test_draws draws;
    wg_tape *tape;
    wg_op op;
    wg_kind kind;
    uint32_t root_count;
    wg_symbol roots[MOST_ROOTS];
} maker;

/* ---- operands ---- */

static double special(maker *m, wg_kind kind)
{
    static const double floats[] = {0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-40, -3e-39, 1e30, -7e37, 65504, 1.0000001, 3.0, -0.75, 1e-310};
    if (!base_kind_is_float(kind)) return (double)test_draw_below(&m->draws, 5);
    uint32_t pick = test_draw_below(&m->draws, 18);
    if (pick < 15) return floats[pick];
    return pick == 15 ? (double)NAN : pick == 16 ? (double)INFINITY : -(double)INFINITY;
}

/* A tenth of the items are special; those of integers may also be the ends of the kind. Complex numbers are special in their parts. */
static wg_tensor *items_of(maker *m, wg_kind whole, uint32_t rank, const int64_t *shape)
{
    const graph_row *row = &graph_rows[m->op];
    wg_kind kind = base_kind_part(whole);
    double low = (double)row->low, high = (double)row->high;
    if (!base_kind_is_float(kind) && kind != WG_KIND_BOOL) low = base_kinds[kind].class == BASE_CLASS_SIGNED ? -9 : 0, high = 20;
    wg_tensor *items = test_tensor_draw(&m->draws, whole, rank, shape, low, high);
    unsigned char *bytes = wg_tensor_data(items);
    uint32_t width = base_kinds[kind].bytes;
    bool ends = base_kind_is_integer(kind);
    for (int64_t i = 0; i < wg_tensor_volume(items) * (kind == whole ? 1 : 2); i++) {
        if (test_draw_below(&m->draws, 10) || kind == WG_KIND_BOOL) continue;
        if (ends && test_draw_below(&m->draws, 2)) {
            memset(bytes + i * width, test_draw_below(&m->draws, 2) ? 0xff : 0, width);
            if (test_draw_below(&m->draws, 2)) bytes[i * width + width - 1] ^= 0x80; /* the smallest and the greatest */
            continue;
        }
        base_number_store(kind, bytes, i, base_number_from_double(kind, special(m, kind)));
    }
    return items;
}

/* What a value may be read through: as it is, from the last to the first, or transposed twice removed. */
static wg_value through(wg_value value, uint32_t view)
{
    uint32_t rank = wg_value_rank(value);
    if (view == 1 && rank) return wg_reverse(value, rank - 1);
    if (view == 2 && rank == 2) return (wg_permute)(value, (const uint32_t[]){1, 0});
    return value;
}

static wg_value operand(maker *m, wg_kind kind, uint32_t rank, const int64_t *shape, uint32_t view)
{
    int64_t turned[2];
    if (view == 2 && rank == 2) turned[0] = shape[1], turned[1] = shape[0], shape = turned;
    return through(wg_input(m->tape, items_of(m, kind, rank, shape)), view);
}

static wg_value positions(maker *m, wg_kind kind, uint32_t rank, const int64_t *shape, double low, double high)
{
    return wg_input(m->tape, test_tensor_draw(&m->draws, kind, rank, shape, low, high));
}

static void record(maker *m, const wg_value *operands, uint32_t count, const int64_t *attributes, uint32_t attribute_count)
{
    wg_size sizes[WG_MAX_ATTRIBUTES];
    for (uint32_t i = 0; i < attribute_count; i++) sizes[i] = wg_number(attributes[i]);
    wg_value value = wg_record(m->tape, m->op, operands, count, sizes, attribute_count);
    if (wg_is_poison(value)) fail_msg("%s of %s: %s", graph_rows[m->op].name, wg_kind_name(m->kind), wg_tape_error(m->tape)->message);
    assert_true(m->root_count < MOST_ROOTS);
    m->roots[m->root_count++] = wg_symbol_of(value);
}

#define RECORD(m, operands, count, ...) \
    record((m), (operands), (count), (const int64_t[]){__VA_ARGS__}, (uint32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)))

/* ---- shapes ---- */

typedef struct form {
    uint32_t rank;
    int64_t shape[3];
} form;

static const form forms[] = {{0, {0}},        {1, {0}},       {1, {1}},        {1, {7}},        {1, {64}},    {1, {65}},
                             {1, {4096}},     {1, {4097}},    {1, {5001}},     {2, {3, 0}},     {2, {0, 4}},  {2, {5, 33}},
                             {2, {33, 5}},    {2, {4100, 2}}, {2, {2, 4099}},  {2, {1, 129}},   {2, {70, 1}}, {3, {2, 3, 5}},
                             {3, {3, 67, 4}}, {3, {2, 0, 3}}, {3, {1, 17, 1}}, {3, {2, 9, 130}}};
#define FORM_COUNT (sizeof forms / sizeof *forms)

/* The row over operands of one shape; attributes follow each axis where the row has one. */
typedef void (*cases_function)(maker *m);

static void of_form(maker *m, const form *f, uint32_t view, const int64_t *attributes, uint32_t attribute_count)
{
    const graph_row *row = &graph_rows[m->op];
    wg_value operands[3];
    uint32_t count = (uint32_t)strlen(row->roles);
    for (uint32_t i = 0; i < count; i++)
        operands[i] = operand(m, row->roles[i] == 'c' ? WG_KIND_BOOL : m->kind, f->rank, f->shape, (view + i) % 3);
    record(m, operands, count, attributes, attribute_count);
}

/* One long form is enough for what takes long, and that in one kind for what runs item by item. */
static bool too_long(const maker *m, const form *f)
{
    int64_t volume = 0;
    base_volume(f->rank, f->shape, &volume);
    float cost = graph_rows[m->op].cost;
    return cost > 4 && volume > 600 && (volume != 4097 || (cost >= 60 && m->kind != WG_KIND_F64));
}

static void cases_same(maker *m)
{
    for (uint32_t i = 0; i < FORM_COUNT; i++) {
        if (too_long(m, &forms[i])) continue;
        if (m->op != WG_OP_Convert) {
            of_form(m, &forms[i], i, NULL, 0);
            continue;
        }
        for (int64_t to = 0; to < WG_KIND_SINGLES; to++) {
            bool takes = base_kind_is_complex((wg_kind)to) || !base_kind_is_complex(m->kind); /* a complex number is no real one */
            if (!takes || (i != 5 && i != 12)) continue;
            of_form(m, &forms[i], i, (int64_t[]){to, 0}, 2);
            of_form(m, &forms[i], i + 1, (int64_t[]){to, 1}, 2);
        }
    }
}

static void cases_bitcast(maker *m)
{
    for (int64_t to = 0; to < WG_KIND_SINGLES; to++) {
        if (base_kinds[to].bytes != base_kinds[m->kind].bytes || to == WG_KIND_BOOL || to == WG_KIND_CHAR) continue;
        for (uint32_t i = 0; i < FORM_COUNT; i += 3) of_form(m, &forms[i], i, &to, 1);
        if (base_kind_has_nan((wg_kind)to) && !base_kind_has_nan(m->kind)) {
            /* There and back: NaNs among the floats are the one NaN by then. */
            wg_value there = wg_bitcast(operand(m, m->kind, 2, TEST_SHAPE(9, 40), 2), (wg_kind)to);
            int64_t back = m->kind;
            record(m, &there, 1, &back, 1);
        }
        if (!base_kind_has_nan(m->kind)) continue;
        /* Bits of numbers that were computed, NaNs among them. */
        wg_value a = operand(m, m->kind, 1, TEST_SHAPE(300), 0);
        wg_value computed = wg_sub(wg_mul(a, a), wg_sqrt(a));
        record(m, &computed, 1, &to, 1);
        /* The same through rows that only place items. */
        wg_value b = operand(m, m->kind, 2, TEST_SHAPE(9, 40), 0);
        wg_value placed = wg_narrow(wg_permute(wg_sub(wg_mul(b, b), wg_sqrt(b)), (uint32_t[]){1, 0}), 0, 3, 30);
        record(m, &placed, 1, &to, 1);
    }
}

static void cases_scalar(maker *m)
{
    for (uint32_t i = 0; i < FORM_COUNT; i++) of_form(m, &forms[i], i, (int64_t[]){GRAPH_BY_RULE}, 1);
    int64_t wide = m->kind == WG_KIND_F64 || !base_kind_is_float(m->kind) ? GRAPH_BY_RULE : WG_KIND_F64;
    for (uint32_t i = 0; i < FORM_COUNT; i += 4) of_form(m, &forms[i], i, &wide, 1);
    of_form(m, &(form){1, {70001, 0, 0}}, 0, (int64_t[]){GRAPH_BY_RULE}, 1);
}

/* Rows along an axis; each choice of their other attributes. */
static void along(maker *m, const form *f, int64_t axis, uint32_t i)
{
    int64_t n = f->shape[axis];
    switch (m->op) {
    case WG_OP_SumAlong: of_form(m, f, i, (int64_t[]){axis, GRAPH_BY_RULE}, 2); break;
    case WG_OP_Reduce:
    case WG_OP_Scan: {
        bool reduce = m->op == WG_OP_Reduce;
        for (int64_t fold = reduce; fold <= GRAPH_FOLDING_RESIDUE; fold++) {
            bool strict = fold >= GRAPH_FOLDING_SUB, bits = fold >= GRAPH_FOLDING_AND && fold <= GRAPH_FOLDING_XOR;
            bool takes =
                bits ? !base_kind_is_float(m->kind) && m->kind != WG_KIND_CHAR : m->kind != WG_KIND_BOOL && m->kind != WG_KIND_CHAR;
            if (base_kind_is_complex(m->kind)) takes = fold <= GRAPH_FOLDING_PRODUCT;
            if (!takes || (fold == GRAPH_FOLDING_POWF && !base_kind_is_float(m->kind)) || (reduce && n == 0) || (i + (uint32_t)fold) % 3)
                continue;
            of_form(m, f, i, (int64_t[]){fold, axis, reduce ? strict : (int64_t)(i % 2)}, 3);
        }
        break;
    }
    case WG_OP_Sort:
    case WG_OP_Grade: of_form(m, f, i, (int64_t[]){axis, (int64_t)(i % 2)}, 2); break;
    case WG_OP_TopKValues:
    case WG_OP_TopKPositions:
        of_form(m, f, i, (int64_t[]){axis, n < 3 ? n : 3}, 2);
        of_form(m, f, i, (int64_t[]){axis, n}, 2);
        break;
    case WG_OP_ArgMax:
    case WG_OP_ArgMin:
        if (n == 0) break;
        of_form(m, f, i, &axis, 1);
        break;
    default: of_form(m, f, i, &axis, 1);
    }
}

static void cases_axis(maker *m)
{
    for (uint32_t i = 0; i < FORM_COUNT; i++)
        for (uint32_t axis = 0; axis < forms[i].rank; axis++) along(m, &forms[i], axis, i + axis);
}

static void cases_matmul(maker *m)
{
    static const int64_t sizes[][3] = {{1, 1, 1}, {1, 300, 5},  {5, 300, 1},   {7, 0, 3},    {0, 4, 3},
                                       {3, 4, 0}, {17, 70, 33}, {25, 257, 66}, {150, 9, 40}, {1, 300, 1030}};
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        wg_value operands[2] = {operand(m, m->kind, 2, TEST_SHAPE(sizes[i][0], sizes[i][1]), i % 3),
                                operand(m, m->kind, 2, TEST_SHAPE(sizes[i][1], sizes[i][2]), (i + 1) % 3)};
        RECORD(m, operands, 2, i == 6 && base_kind_is_float(m->kind) ? WG_KIND_F64 : GRAPH_BY_RULE);
    }
    wg_value batched[2] = {operand(m, m->kind, 3, TEST_SHAPE(5, 9, 20), 0), operand(m, m->kind, 3, TEST_SHAPE(5, 20, 7), 1)};
    RECORD(m, batched, 2, GRAPH_BY_RULE);
    wg_value turned[2] = {(wg_permute)(batched[0], (const uint32_t[]){1, 0, 2}),
                          wg_broadcast_along(operand(m, m->kind, 2, TEST_SHAPE(20, 4), 2), 0, 9)};
    RECORD(m, turned, 2, GRAPH_BY_RULE);
}

static void cases_layout(maker *m)
{
    for (uint32_t i = 0; i < FORM_COUNT; i++) {
        const form *f = &forms[i];
        wg_value a = operand(m, m->kind, f->rank, f->shape, i % 3);
        int64_t volume = wg_value_volume(a);
        switch (m->op) {
        case WG_OP_Broadcast:
            if (volume == 1) RECORD(m, &a, 1, 2, 5, 900);
            break;
        case WG_OP_BroadcastAlong:
            for (int64_t axis = 0; axis <= (int64_t)f->rank; axis++) RECORD(m, &a, 1, axis, 3);
            break;
        case WG_OP_Reshape:
            RECORD(m, &a, 1, 1, volume);
            RECORD(m, &a, 1, 3, 1, volume, 1);
            if (volume % 3 == 0) RECORD(m, &a, 1, 2, volume / 3, 3);
            break;
        case WG_OP_Permute:
            if (f->rank == 2) RECORD(m, &a, 1, 2, 1, 0);
            if (f->rank == 3) {
                RECORD(m, &a, 1, 3, 2, 0, 1);
                RECORD(m, &a, 1, 3, 1, 2, 0);
            }
            break;
        default: break;
        }
        for (uint32_t axis = 0; axis < f->rank; axis++) {
            int64_t n = f->shape[axis];
            switch (m->op) {
            case WG_OP_Narrow:
                RECORD(m, &a, 1, axis, 0, n, 1);
                RECORD(m, &a, 1, axis, n / 3, (n - n / 3) / 2, 2);
                break;
            case WG_OP_Reverse: RECORD(m, &a, 1, axis); break;
            case WG_OP_Pad: RECORD(m, &a, 1, axis, 2, n + 5, (int64_t)base_bits_of_f64(i % 2 ? -2.5 : 0)); break;
            case WG_OP_Concat: {
                int64_t shape[3] = {f->shape[0], f->shape[1], f->shape[2]};
                shape[axis] = 4;
                wg_value operands[3] = {a, operand(m, m->kind, f->rank, shape, 0), a};
                RECORD(m, operands, 3, axis);
                RECORD(m, operands, 1, axis);
                break;
            }
            case WG_OP_Unfold:
                if (n >= 5) RECORD(m, &a, 1, axis, 3, 2, 2);
                if (n >= 1) RECORD(m, &a, 1, axis, 1, 1, 1);
                break;
            default: break;
            }
        }
    }
    if (m->op != WG_OP_Concat) return;
    /* Columns side by side, more than are copied at once; then one that is walked from its end, so that no part has rows as the others have. */
    wg_value columns[] = {operand(m, m->kind, 2, TEST_SHAPE(17000, 1), 0), operand(m, m->kind, 2, TEST_SHAPE(17000, 3), 0), operand(m, m->kind, 2, TEST_SHAPE(17000, 9), 0),
                          operand(m, m->kind, 2, TEST_SHAPE(17000, 2), 1)};
    RECORD(m, columns, 3, 1);
    RECORD(m, columns, 4, 1);
}

static void cases_fold(maker *m)
{
    static const form windows[] = {{2, {7, 3}}, {3, {4, 2, 65}}, {3, {2, 30, 4}}, {2, {1, 1}}};
    for (uint32_t i = 0; i < 4; i++) {
        wg_value a = operand(m, m->kind, windows[i].rank, windows[i].shape, i % 3);
        for (uint32_t axis = 0; axis + 1 < windows[i].rank; axis++)
            for (int64_t step = 1; step <= 3; step++) {
                int64_t count = windows[i].shape[axis], size = windows[i].shape[axis + 1];
                RECORD(m, &a, 1, axis, size, step, 2, (count - 1) * step + (size - 1) * 2 + 1);
            }
    }
}

static void cases_gather(maker *m)
{
    int64_t bits = (int64_t)base_bits_of_f64(-1);
    wg_value a = operand(m, m->kind, 3, TEST_SHAPE(4, 9, 33), 0), turned = operand(m, m->kind, 2, TEST_SHAPE(65, 9), 2);
    for (int64_t outside = 0; outside < 3; outside++) {
        double margin = outside ? 3 : 0;
        for (int64_t axis = 0; axis < 3; axis++) {
            double extent = (double)(const int64_t[]){4, 9, 33}[axis];
            wg_value operands[2] = {a, positions(m, axis == 1 ? WG_KIND_I32 : WG_KIND_I64, 2, TEST_SHAPE(4, 50), -margin, extent + margin)};
            RECORD(m, operands, 2, axis, 0, outside, bits);
            if (axis) RECORD(m, operands, 2, axis, 1, outside, bits);
        }
        wg_value operands[2] = {turned, positions(m, WG_KIND_I64, 0, NULL, 0, 9)};
        RECORD(m, operands, 2, 1, 0, outside, bits);
        operands[1] = positions(m, WG_KIND_I64, 1, TEST_SHAPE(0), 0, 9);
        RECORD(m, operands, 2, 0, 0, outside, bits);
    }
}

static void cases_scatter(maker *m)
{
    static const int64_t outsides[] = {GRAPH_OUTSIDE_ERROR, GRAPH_OUTSIDE_CLAMP, GRAPH_OUTSIDE_SKIP};
    wg_value a = operand(m, m->kind, 3, TEST_SHAPE(4, 90, 33), 0);
    for (uint32_t o = 0; o < 3; o++)
        for (int64_t axis = 0; axis < 3; axis++)
            for (int64_t mode = 0; mode < 2; mode++) {
                int64_t n = (const int64_t[]){4, 90, 33}[axis];
                double margin = o ? 3 : 0;
                wg_value operands[2] = {a, positions(m, axis ? WG_KIND_I64 : WG_KIND_I32, 1, &n, -margin, 12 + margin)};
                RECORD(m, operands, 2, axis, 0, 12, outsides[o], mode);
                if (axis != 1) continue;
                operands[1] = positions(m, WG_KIND_I64, 2, TEST_SHAPE(4, 90), -margin, 12 + margin);
                RECORD(m, operands, 2, 1, 1, 12, outsides[o], mode);
            }
}

static void cases_slice(maker *m)
{
    wg_value a = operand(m, m->kind, 3, TEST_SHAPE(4, 9, 33), 0);
    bool update = m->op == WG_OP_Update;
    for (int64_t axis = 0; axis < 3; axis++)
        for (int64_t batch = 0; batch < 2 && batch <= axis; batch++)
            for (int64_t len = 0; len < 4; len += 3) {
                int64_t part[3] = {4, 9, 33}, starts = 4;
                part[axis] = len;
                wg_value start = positions(m, axis ? WG_KIND_I64 : WG_KIND_I32, (uint32_t)batch, &starts, -3, 40);
                wg_value operands[3] = {a, update ? operand(m, m->kind, 3, part, 1) : start, start};
                if (update) RECORD(m, operands, 3, axis, batch, GRAPH_OUTSIDE_CLAMP);
                else RECORD(m, operands, 2, axis, batch, len, GRAPH_OUTSIDE_CLAMP);
            }
}

static void cases_where(maker *m)
{
    for (uint32_t i = 0; i < FORM_COUNT; i++) {
        wg_value a = operand(m, WG_KIND_BOOL, forms[i].rank, forms[i].shape, i % 3);
        RECORD(m, &a, 1, wg_value_volume(a) + 2);
    }
}

static void cases_list(maker *m)
{
    static const int64_t lengths[] = {0, 1, 17, 1000};
    for (uint32_t i = 0; i < 4; i++) {
        wg_value list = operand(m, m->kind, 1, &lengths[i], 0), wanted = operand(m, m->kind, 2, TEST_SHAPE(90, 7), 2);
        if (m->op == WG_OP_FirstIndex) {
            wg_value operands[2] = {list, wanted};
            record(m, operands, 2, NULL, 0);
            continue;
        }
        wg_value operands[2] = {wanted, wg_sort(list, 0, false)};
        RECORD(m, operands, 2, GRAPH_SIDE_LEFT);
        RECORD(m, operands, 2, GRAPH_SIDE_RIGHT);
    }
}

static void cases_generator(maker *m)
{
    uint32_t words[2] = {test_draw_below(&m->draws, UINT32_MAX), test_draw_below(&m->draws, UINT32_MAX)};
    wg_value key = wg_input(m->tape, wg_tensor_new(NULL, WG_KIND_U32, 1, TEST_SHAPE(2), words, NULL));
    wg_value keys = through(wg_input(m->tape, test_tensor_draw(&m->draws, WG_KIND_U32, 2, TEST_SHAPE(2, 70), 0, 4e9)), 2);
    wg_value none = wg_input(m->tape, test_tensor_fill(WG_KIND_U32, 3, TEST_SHAPE(3, 0, 2), 1));
    if (m->op == WG_OP_KeySplit) {
        RECORD(m, &key, 1, 5);
        RECORD(m, &keys, 1, 5);
        RECORD(m, &keys, 1, 0);
        RECORD(m, &none, 1, 5);
    }
    if (m->op == WG_OP_KeyFold)
        record(m, (const wg_value[]){keys, positions(m, WG_KIND_I32, 1, TEST_SHAPE(70), -50, 50)}, 2, NULL, 0);
    if (m->op == WG_OP_KeyFold) record(m, (const wg_value[]){key, positions(m, WG_KIND_I64, 0, NULL, -50, 50)}, 2, NULL, 0);
    if (m->op != WG_OP_Draw) return;
    for (int64_t distribution = 0; distribution < 4; distribution++) {
        bool bits = distribution == GRAPH_DISTRIBUTION_BITS;
        if (bits ? !base_kind_is_integer(m->kind) : !base_kind_is_float(m->kind)) continue;
        RECORD(m, &key, 1, distribution, 2, 33, 129, m->kind);
        RECORD(m, &key, 1, distribution, 1, 3, m->kind);
        RECORD(m, &key, 1, distribution, 0, m->kind);
        RECORD(m, &keys, 1, distribution, 0, m->kind);
        RECORD(m, &keys, 1, distribution, 2, 5, 67, m->kind);
        RECORD(m, &keys, 1, distribution, 1, 0, m->kind);
        RECORD(m, &none, 1, distribution, 1, 4, m->kind);
    }
}

/* Parameters of many sizes beside what operands are elsewhere: negative, NaN, beyond every range. */
static void cases_drawn(maker *m)
{
    uint32_t words[2] = {test_draw_below(&m->draws, UINT32_MAX), test_draw_below(&m->draws, UINT32_MAX)};
    wg_value operands[3] = {wg_input(m->tape, wg_tensor_new(NULL, WG_KIND_U32, 1, TEST_SHAPE(2), words, NULL))};
    const char *roles = graph_rows[m->op].roles;
    bool flag = m->op == WG_OP_DrawGamma || m->op == WG_OP_DrawGammaSlope;
    for (uint32_t i = 0; i < FORM_COUNT; i++)
        for (int64_t logarithm = 0; logarithm <= flag && !too_long(m, &forms[i]); logarithm++) {
            uint32_t count = 1;
            for (; roles[count]; count++)
                operands[count] = roles[count] == 'p' ? positions(m, count % 2 ? WG_KIND_I64 : WG_KIND_I32, forms[i].rank, forms[i].shape, -2, 400)
                                                      : operand(m, m->kind, forms[i].rank, forms[i].shape, (i + count) % 3);
            record(m, operands, count, &logarithm, flag);
        }
    wg_value many[3] = {(wg_key_split)(operands[0], wg_number(5))};
    uint32_t count = 1;
    for (; roles[count]; count++)
        many[count] = roles[count] == 'p' ? positions(m, WG_KIND_I64, 2, TEST_SHAPE(5, 99), -2, 400)
                                          : operand(m, m->kind, 2, TEST_SHAPE(5, 99), count % 3);
    record(m, many, count, (const int64_t[]){0}, flag);
}

static void cases_iota(maker *m)
{
    static const form shapes[] = {{1, {300}}, {2, {7, 130}}, {3, {3, 5, 4}}, {2, {0, 3}}};
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t axis = 0; axis < shapes[i].rank; axis++) {
            wg_size sizes[3] = {wg_number(shapes[i].shape[0]), wg_number(shapes[i].shape[1]), wg_number(shapes[i].shape[2])};
            m->roots[m->root_count++] = wg_symbol_of(wg_iota(m->tape, m->kind, shapes[i].rank, sizes, axis));
        }
}

/* ---- dense algebra: batches and single matrices, some of them with no row or no column; right-hand sides may hold anything ---- */

static wg_value matrices(maker *m, uint32_t rank, const int64_t *shape, uint32_t view)
{
    const graph_row *row = &graph_rows[m->op];
    int64_t turned[3];
    memcpy(turned, shape, rank * sizeof *shape);
    if (view == 2 && rank == 2) turned[0] = shape[1], turned[1] = shape[0];
    wg_tensor *items = test_tensor_draw(&m->draws, m->kind, rank, turned, (double)row->low / 10, (double)row->high / 10);
    test_make_dominant(items);
    return through(wg_input(m->tape, items), view);
}

static void cases_matrices(maker *m)
{
    static const form shapes[] = {{2, {1, 1}}, {2, {5, 5}}, {2, {40, 40}}, {3, {7, 3, 3}}, {3, {2, 0, 0}}, {3, {0, 2, 2}},
                                  {2, {6, 2}}, {2, {3, 7}}, {3, {5, 4, 9}}, {3, {3, 65, 2}}, {2, {0, 3}}, {2, {4, 0}}};
    for (uint32_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        uint32_t rank = shapes[i].rank;
        int64_t rows = shapes[i].shape[rank - 2], right[3] = {shapes[i].shape[0], rows, 3};
        bool square = rows == shapes[i].shape[rank - 1];
        if (!square && graph_rows[m->op].shape != graph_shape_least_squares && graph_rows[m->op].shape != graph_shape_tall &&
            graph_rows[m->op].shape != graph_shape_wide && graph_rows[m->op].shape != graph_shape_right_tall &&
            graph_rows[m->op].shape != graph_shape_diagonal)
            continue;
        wg_value operands[2] = {matrices(m, rank, shapes[i].shape, i % 3 == 1 ? 0 : i % 3)};
        bool two = graph_rows[m->op].arity == 2;
        if (rank == 2) right[1] = 3;
        if (two) operands[1] = m->op == WG_OP_LeastSquares ? matrices(m, rank, right, 1) : operand(m, m->kind, rank, right, i % 3);
        for (int64_t flags = 0; flags < (m->op == WG_OP_SolveTriangle ? 8 : 1); flags++)
            if (m->op == WG_OP_SolveTriangle) RECORD(m, operands, 2, flags & 1, flags >> 1 & 1, flags >> 2);
            else record(m, operands, two ? 2 : 1, NULL, 0);
    }
}

/* Experts of floats; test_quant.c has those of block kinds, and QMatMul. */
static void cases_weights(maker *m)
{
    if (m->op == WG_OP_QMatMul) {
        wg_tensor *blocks = test_blocks(&m->draws, WG_KIND_Q5_K, 2, TEST_SHAPE(19, 512), true);
        wg_value operands[2] = {operand(m, m->kind, 2, TEST_SHAPE(3, 512), 0), wg_parameter(m->tape, blocks)};
        for (int64_t activation = 0; activation < 2; activation++) RECORD(m, operands, 2, activation);
        return;
    }
    static const int64_t shapes[][3] = {{1, 5, 3}, {9, 40, 300}, {0, 3, 4}, {4, 0, 3}, {4, 3, 0}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        int64_t rows = shapes[i][0], columns = shapes[i][1], depth = shapes[i][2];
        wg_value operands[3] = {operand(m, m->kind, 2, TEST_SHAPE(rows, depth), i % 3), operand(m, m->kind, 3, TEST_SHAPE(3, columns, depth), (i + 1) % 3),
                                positions(m, WG_KIND_I64, 1, &rows, 0, 3)};
        RECORD(m, operands, 3, 0);
    }
}

/* ---- the table: by the rule of a row's shape, so that a new row of a known rule is tested at once ---- */

static const struct {
    graph_shape_rule rule;
    cases_function cases;
} by_rule[] = {
    {graph_shape_same, cases_same},          {graph_shape_bitcast, cases_bitcast},       {graph_shape_scalar, cases_scalar},
    {graph_shape_qmatmul, cases_weights},    {graph_shape_expert_matmul, cases_weights},
    {graph_shape_matmul, cases_matmul},      {graph_shape_drop_axis, cases_axis},        {graph_shape_drop_axis_filled, cases_axis},
    {graph_shape_keep_axis, cases_axis},     {graph_shape_top_k, cases_axis},            {graph_shape_broadcast, cases_layout},
    {graph_shape_broadcast_along, cases_layout}, {graph_shape_reshape, cases_layout},    {graph_shape_permute, cases_layout},
    {graph_shape_narrow, cases_layout},      {graph_shape_pad, cases_layout},            {graph_shape_concat, cases_layout},
    {graph_shape_unfold, cases_layout},      {graph_shape_fold, cases_fold},             {graph_shape_gather, cases_gather},
    {graph_shape_scatter, cases_scatter},    {graph_shape_slice, cases_slice},           {graph_shape_update, cases_slice},
    {graph_shape_where, cases_where},        {graph_shape_second, cases_list},           {graph_shape_bins, cases_list},
    {graph_shape_drawn, cases_drawn},
    {graph_shape_shaped, cases_generator},   {graph_shape_key_split, cases_generator},   {graph_shape_key_fold, cases_generator},
    {graph_shape_solve, cases_matrices},     {graph_shape_least_squares, cases_matrices}, {graph_shape_square, cases_matrices},
    {graph_shape_drop_matrix, cases_matrices}, {graph_shape_square_diagonal, cases_matrices}, {graph_shape_tall, cases_matrices},
    {graph_shape_wide, cases_matrices},      {graph_shape_right_tall, cases_matrices},   {graph_shape_diagonal, cases_matrices},
};

static cases_function cases_of(wg_op op)
{
    if (op == WG_OP_Reverse) return cases_layout;
    if (op == WG_OP_Iota) return cases_iota;
    for (uint32_t i = 0; i < sizeof by_rule / sizeof *by_rule; i++)
        if (graph_rows[op].shape == by_rule[i].rule) return by_rule[i].cases;
    fail_msg("no cases for the shape rule of %s", graph_rows[op].name);
    return NULL;
}

/* Rows whose operands have no kind of their own run once. */
static bool takes_kind(wg_op op, wg_kind kind)
{
    if (op == WG_OP_Where || op == WG_OP_KeySplit || op == WG_OP_KeyFold) return kind == WG_KIND_F32;
    if (op == WG_OP_Draw) return base_kind_is_float(kind) || base_kind_is_integer(kind);
    if (kind == WG_KIND_CHAR && graph_rows[op].result == GRAPH_RESULT_ACCUMULATED) return false; /* letters have no sum */
    return graph_row_accepts(op, kind);
}

static void check(wg_op op, wg_kind kind)
{
    maker m = {.draws = test_draws_new((uint64_t)op * 100 + kind), .tape = wg_tape_new(NULL), .op = op, .kind = kind};
    wg_error error = {0};
    char why[2048] = "";
    cases_of(op)(&m);
    if (!m.root_count) {
        wg_tape_free(&m.tape);
        return;
    }
    wg_network *network = wg_tape_seal(&m.tape, &error);
    if (!network) fail_msg("%s of %s: %s", graph_rows[op].name, wg_kind_name(kind), error.message);
    wg_entry *entry =
        wg_entry_new(network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = m.roots, .root_count = m.root_count}, &error);
    assert_non_null(entry);
    if (!equivalence_holds(entry, NULL, why, sizeof why)) {
        uint32_t node = WG_NONE;
        if (sscanf(why, "node %u", &node) == 1 && node < wg_network_count(network)) {
            char *dump = wg_network_describe(network), *at = dump;
            for (uint32_t i = 0; at && i < node; i++) at = strchr(at, '\n') + 1;
            print_error("%.*s\n", at ? (int)strcspn(at, "\n") : 0, at ? at : "");
            wg_text_free(dump);
        }
        fail_msg("%s of %s: %s", graph_rows[op].name, wg_kind_name(kind), why);
    }
    wg_entry_free(&entry);
    wg_network_release(&network);
}

static void test_rows(void **state)
{
    const wg_op *range = *state;
    for (wg_op op = range[0]; op < range[1]; op++)
        for (wg_kind kind = 0; kind < WG_KIND_SINGLES; kind++)
            if (graph_rows[op].result != GRAPH_RESULT_SOURCE && takes_kind(op, kind) && test_row_is_here(op)) check(op, kind);
}

int main(void)
{
    static wg_op ranges[][2] = {{WG_OP_StopGradient, WG_OP_Exp},
                                {WG_OP_Exp, WG_OP_Equal},
                                {WG_OP_Equal, WG_OP_MatMul},
                                {WG_OP_MatMul, WG_OP_Broadcast},
                                {WG_OP_Broadcast, WG_OP_COUNT}};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_rows, ranges[0]), cmocka_unit_test_prestate(test_rows, ranges[1]),
        cmocka_unit_test_prestate(test_rows, ranges[2]), cmocka_unit_test_prestate(test_rows, ranges[3]),
        cmocka_unit_test_prestate(test_rows, ranges[4]),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
