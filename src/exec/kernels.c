/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The tables of the levels, the choice between them, and what is shared by kernels of all levels. */
#include "exec/kernels.h"

#include <string.h>

#include "base/scalar.h"

#define KERNEL(answer, name, parameters) answer exec_##name##_base parameters;
#include "exec/kernels.def"
static const exec_kernels kernels_base = {
#if defined(__aarch64__)
    .name = "neon",
#else
    .name = "base",
#endif
    .shared_rows = 168,
    .row_columns = EXEC_PACK_COLUMNS,
#define KERNEL(answer, name, parameters) .name = exec_##name##_base,
#include "exec/kernels.def"
};

#if EXEC_HAVE_V3
#define KERNEL(answer, name, parameters) answer exec_##name##_v3 parameters;
#include "exec/kernels.def"
static const exec_kernels kernels_v3 = {
    .name = "v3",
    .shared_rows = 84, /* of 512 KB, mostly */
    .asks_spread = true,
    .row_columns = EXEC_ROW_COLUMNS,
    .short_lines = 1024,
#define KERNEL(answer, name, parameters) .name = exec_##name##_v3,
#include "exec/kernels.def"
};
#define KERNEL(answer, name, parameters) answer exec_##name##_v4 parameters;
#include "exec/kernels.def"
static const exec_kernels kernels_v4 = {
    .name = "v4",
    .shared_rows = 168,
    .row_columns = EXEC_PACK_COLUMNS,
    .relay_alone = true,
#define KERNEL(answer, name, parameters) .name = exec_##name##_v4,
#include "exec/kernels.def"
};
static const exec_kernels *const levels[] = {&kernels_base, &kernels_v3, &kernels_v4};
#else
static const exec_kernels *const levels[] = {&kernels_base};
#endif

uint32_t exec_kernels_count(void)
{
#if EXEC_HAVE_V3
    __builtin_cpu_init();
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")
            && __builtin_cpu_supports("f16c");
    bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512vl");
    return !v3 ? 1 : v4 ? 3 : 2;
#else
    return 1;
#endif
}

const exec_kernels *exec_kernels_at(uint32_t index) { return levels[index]; }

const exec_kernels *exec_kernels_for(const char *level)
{
    uint32_t count = exec_kernels_count();
    if (level != NULL && strcmp(level, "v2") == 0) return &kernels_base;
    for (uint32_t i = 0; level != NULL && i < count; i++)
        if (strcmp(level, levels[i]->name) == 0) return levels[i];
    return levels[count - 1];
}

/* ---- sides and products ----------------------------------------------------------------------------------- */

exec_side exec_side_plain(int64_t extent, int64_t stride) { return (exec_side){.rank = 1, .extent = {extent}, .stride = {stride}}; }

exec_product exec_product_plain(wg_kind kind, int64_t rows, int64_t depth, int64_t columns, const void *a, const void *b, void *result)
{
    return (exec_product){
        .a_kind = kind, .b_kind = kind, .accumulate = base_kind_is_float(kind) && kind != WG_KIND_F64 ? WG_KIND_F32 : kind, .result_kind = kind,
        .batches = 1, .rows = rows, .depth = depth, .columns = columns, .a = a, .b = b, .result = result,
        .a_batch = exec_side_plain(1, 0), .a_rows = exec_side_plain(rows, depth), .a_depth = exec_side_plain(depth, 1),
        .b_batch = exec_side_plain(1, 0), .b_depth = exec_side_plain(depth, columns), .b_columns = exec_side_plain(columns, 1),
        .result_batch = exec_side_plain(1, 0), .result_rows = exec_side_plain(rows, columns), .result_column = 1,
    };
}

void exec_side_offsets(const exec_side *side, int64_t first, int64_t count, int64_t *offsets)
{
    if (side->rank == 1) {
        for (int64_t i = 0; i < count; i++) offsets[i] = (first + i) * side->stride[0];
        return;
    }
    int64_t digit[EXEC_SIDE_RANK], rest = first, offset = 0;
    for (uint32_t axis = side->rank; axis-- > 0;) {
        if (side->extent[axis] == 0) return;
        digit[axis] = rest % side->extent[axis];
        rest /= side->extent[axis];
        offset += digit[axis] * side->stride[axis];
    }
    uint32_t last = side->rank - 1;
    for (int64_t i = 0; i < count;) { /* runs along the last axis */
        int64_t left = side->extent[last] - digit[last], run = left < count - i ? left : count - i;
        for (int64_t end = i + run; i < end; i++, offset += side->stride[last]) offsets[i] = offset;
        digit[last] += run;
        for (uint32_t axis = last; axis > 0 && digit[axis] == side->extent[axis]; axis--) {
            offset += side->stride[axis - 1] - digit[axis] * side->stride[axis];
            digit[axis] = 0;
            digit[axis - 1]++;
        }
    }
}

bool exec_product_turns(const exec_product *product)
{
    if (product->turned || product->more_count || !base_kind_is_float(product->a_kind)) return false;
    if (product->result_rows.rank != 1 || product->rows <= 1) return false;
    if (product->columns == 1) return true;
    if (product->finish) return false; /* its rectangles are rows of the result */
    if (product->result_column != 1) return product->result_rows.stride[0] == 1;
    bool rows_plain = product->a_rows.rank == 1 && product->a_rows.stride[0] == 1 && product->a_depth.rank == 1;
    bool columns_plain = product->b_columns.rank == 1 && product->b_columns.stride[0] == 1 && product->b_depth.rank == 1;
    return rows_plain && columns_plain && product->columns <= EXEC_FEW_ROWS && product->rows >= 2 * product->columns;
}

exec_product exec_product_turned(const exec_product *product)
{
    exec_product turned = *product;
    turned.turned = true;
    turned.rows = product->columns;
    turned.columns = product->rows;
    turned.a_kind = product->b_kind;
    turned.b_kind = product->a_kind;
    turned.a = product->b;
    turned.b = product->a;
    turned.a_batch = product->b_batch;
    turned.a_rows = product->b_columns;
    turned.a_depth = product->b_depth;
    turned.b_batch = product->a_batch;
    turned.b_depth = product->a_depth;
    turned.b_columns = product->a_rows;
    turned.result_rows = exec_side_plain(product->columns, product->result_column);
    turned.result_column = product->result_rows.stride[0];
    return turned;
}

bool exec_product_reads_b(const exec_product *product, int64_t rows)
{
    bool plain = product->b_columns.rank == 1 && product->b_depth.rank == 1 && product->b_columns.stride[0] == 1;
    bool aliased = product->b_depth.stride[0] * (int64_t)wg_kind_bytes(product->b_kind) % 4096 == 0; /* a panel's rows share two sets */
    return plain && rows <= (aliased ? EXEC_FEW_ROWS : EXEC_SMALL_ROWS) &&
           (!aliased || product->depth * product->columns <= EXEC_ALONG_ITEMS);
}

int64_t exec_product_sum_bytes(const exec_product *product)
{
    return wg_kind_bytes(base_kind_is_float(product->a_kind) ? product->accumulate : product->result_kind) == 8 ? 8 : 4;
}

exec_product_room exec_product_room_of(int64_t rows, int64_t columns, int64_t depth)
{
    int64_t block = exec_smaller(depth, EXEC_DEPTH_BLOCK), packed_rows = exec_smaller(rows, EXEC_PACK_ROWS);
    exec_product_room room = {.sheet_row = exec_up_to(exec_smaller(columns, EXEC_PACK_COLUMNS), EXEC_TILE_COLUMNS)};
    if (room.sheet_row % 1024 == 0) room.sheet_row += EXEC_TILE_COLUMNS; /* a tile's rows 4 KiB apart share a set of the first cache */
    room.columns_at = base_align_up((packed_rows + EXEC_TILE_ROWS) * block);
    room.sheet_at = room.columns_at + base_align_up(EXEC_TILE_COLUMNS * block);
    int64_t sums = packed_rows * room.sheet_row, row = exec_up_to(exec_smaller(columns, EXEC_ROW_COLUMNS), EXEC_TILE_COLUMNS);
    room.end = room.sheet_at + (sums > row ? sums : row);
    return room;
}

size_t exec_product_bytes(const exec_product *product, int64_t rows, int64_t columns)
{
    bool turns = exec_product_turns(product);
    int64_t step = turns ? product->result_rows.stride[0] : product->result_column, item = exec_product_sum_bytes(product);
    bool direct = (int64_t)wg_kind_bytes(product->result_kind) == item && product->result_rows.rank == 1 && step == 1 && !product->finish;
    int64_t depth = product->more_count ? EXEC_DEPTH_BLOCK : product->depth;
    exec_product_room room = exec_product_room_of(turns ? columns : rows, turns ? rows : columns, depth);
    return (size_t)((direct ? room.sheet_at : room.end) * item);
}

/* ---- the tree of chunk results ---------------------------------------------------------------------------- */

static double join(const exec_tree *tree, double a, double b)
{
    switch (tree->fold) {
    case EXEC_FOLD_SUM: return tree->kind == WG_KIND_F32 ? (double)((float)a + (float)b) : a + b;
    case EXEC_FOLD_PRODUCT: return tree->kind == WG_KIND_F32 ? (double)((float)a * (float)b) : a * b;
    case EXEC_FOLD_MAX: return base_maximum_f64(a, b);
    default: return base_minimum_f64(a, b);
    }
}

exec_tree exec_tree_start(exec_fold fold, wg_kind kind) { return (exec_tree){.fold = fold, .kind = kind, .count = 0, .depth = 0}; }

void exec_tree_push(exec_tree *tree, const void *value)
{
    tree->stack[tree->depth++] = tree->kind == WG_KIND_F32 ? (double)*(const float *)value : *(const double *)value;
    tree->count++;
    for (int64_t pairs = tree->count; pairs % 2 == 0; pairs /= 2, tree->depth--)
        tree->stack[tree->depth - 2] = join(tree, tree->stack[tree->depth - 2], tree->stack[tree->depth - 1]);
}

void exec_tree_finish(exec_tree *tree, void *value)
{
    for (; tree->depth > 1; tree->depth--) tree->stack[tree->depth - 2] = join(tree, tree->stack[tree->depth - 2],
            tree->stack[tree->depth - 1]);
    if (tree->kind == WG_KIND_F32) *(float *)value = (float)tree->stack[0];
    else *(double *)value = tree->stack[0];
}
