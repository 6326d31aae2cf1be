/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Matrix products as calls: MatMul, and what WindowProduct becomes. Operands are read by their strides; the result is cut into tiles that
 * take about a millisecond. */
#include "exec/exec_call.h"

#define MULTIPLY_COST 0.04 /* of one multiply-add, in item copies */
#define TILE_PRODUCTS 2.5e7
#define TILE_ROWS_LEAST 48
#define TILE_COLUMNS_LEAST 64

typedef struct product {
    exec_dense a, b;
    int64_t a_offset, b_offset; /* items behind the dense items */
    exec_product call;          /* without pointers */
    exec_value result;
    bool canonical;
    int64_t tile_rows, tile_columns, tiles_down, tiles_across; /* one batch; whole batches where there is one tile */
    double tile_cost;
    int64_t workspace_at, workspace_bytes;
} product;

typedef struct product_work {
    exec_run *run;
    const product *facts;
    exec_product call;
} product_work;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* The result's items of a tile, where NaNs must be the one NaN. */
static void canonical_tile(const product_work *work, exec_range batches, exec_range rows, exec_range columns)
{
    const exec_product *call = &work->call;
    int64_t width = base_kinds[call->result_kind].bytes;
    for (int64_t batch = batches.first; batch < batches.end; batch++)
        for (int64_t row = rows.first; row < rows.end; row++) {
            char *items = (char *)call->result + ((batch * call->rows + row) * call->columns + columns.first) * width;
            exec_canonical(work->run, true, call->result_kind, items, columns.end - columns.first);
        }
}

static void product_tile(const product_work *work, exec_range batches, exec_range rows, exec_range columns, uint32_t thread)
{
    const product *p = work->facts;
    work->run->kernels->product(&work->call, batches, rows, columns, work->run->scratch + p->workspace_at + thread * p->workspace_bytes);
    if (p->canonical) canonical_tile(work, batches, rows, columns);
}

static void product_part(void *context, exec_range range, uint32_t thread)
{
    const product_work *work = context;
    const product *p = work->facts;
    const exec_product *call = &work->call;
    int64_t tiles = p->tiles_down * p->tiles_across;
    if (tiles == 1) {
        product_tile(work, range, (exec_range){0, call->rows}, (exec_range){0, call->columns}, thread);
        return;
    }
    for (int64_t unit = range.first; unit < range.end; unit++) {
        int64_t batch = unit / tiles, down = unit % tiles / p->tiles_across, across = unit % p->tiles_across;
        exec_range rows = {down * p->tile_rows, least(call->rows, (down + 1) * p->tile_rows)};
        exec_range columns = {across * p->tile_columns, least(call->columns, (across + 1) * p->tile_columns)};
        product_tile(work, (exec_range){batch, batch + 1}, rows, columns, thread);
    }
}

static void run_product(exec_run *run, const exec_stage *stage)
{
    const product *p = stage->prepared;
    product_work work = {run, p, p->call};
    int64_t width = base_kinds[p->call.kind].bytes;
    work.call.a = exec_dense_items(run, &p->a) + p->a_offset * width;
    work.call.b = exec_dense_items(run, &p->b) + p->b_offset * width;
    work.call.result = exec_items(run, &p->result);
    exec_run_split(run, p->call.batches * p->tiles_down * p->tiles_across, 1, p->tile_cost, product_part, &work);
}

/* Halves the longer side until a tile is short enough, and there are enough of them for the threads. */
static void choose_tiles(product *p, uint32_t threads)
{
    int64_t rows = p->call.rows, columns = p->call.columns, tile_rows = least(rows, 2 * EXEC_PACK_ROWS),
            tile_columns = least(columns, EXEC_PACK_COLUMNS);
    double depth = p->call.depth > 0 ? (double)p->call.depth : 1;
    double wanted = TILE_PRODUCTS, share = (double)rows * (double)columns * (double)p->call.batches * depth / (threads * 4);
    if (threads > 1 && share < wanted) wanted = share > 5e5 ? share : 5e5;
    for (;;) {
        bool down = tile_rows > TILE_ROWS_LEAST, across = tile_columns > TILE_COLUMNS_LEAST;
        if ((double)tile_rows * (double)tile_columns * depth <= wanted || (!down && !across)) break;
        if (across && (tile_columns > 2 * tile_rows || !down))
            tile_columns = (tile_columns / 2 + TILE_COLUMNS_LEAST - 1) / TILE_COLUMNS_LEAST * TILE_COLUMNS_LEAST;
        else tile_rows = (tile_rows / 2 + TILE_ROWS_LEAST - 1) / TILE_ROWS_LEAST * TILE_ROWS_LEAST;
    }
    p->tile_rows = tile_rows > 0 ? tile_rows : 1;
    p->tile_columns = tile_columns > 0 ? tile_columns : 1;
    p->tiles_down = (rows + p->tile_rows - 1) / p->tile_rows;
    p->tiles_across = (columns + p->tile_columns - 1) / p->tile_columns;
    p->tile_cost = (double)tile_rows * (double)tile_columns * depth * MULTIPLY_COST + 1;
}

/* extents: batches, rows, depth, columns. The depth of a stands in a->columns, that of b in b->rows. */
bool exec_product_prepare(exec_call *call, const exec_matrix *a, const exec_matrix *b, wg_kind kind, wg_kind accumulate,
                          const int64_t extents[4])
{
    product *p = exec_call_take(call, sizeof *p);
    if (!p) return false;
    int64_t rows = extents[1], columns = extents[3];
    p->a = *a->dense;
    p->b = *b->dense;
    p->a_offset = a->offset;
    p->b_offset = b->offset;
    p->result = call->result;
    p->canonical = call->canonical;
    p->call = (exec_product){
        .kind = kind, .accumulate = accumulate, .result_kind = call->result.kind,
        .batches = extents[0], .rows = rows, .depth = extents[2], .columns = columns,
        .a_batch = a->batch, .a_rows = a->rows, .a_depth = a->columns,
        .b_batch = b->batch, .b_depth = b->rows, .b_columns = b->columns,
        .result_batch = exec_side_plain(extents[0], rows * columns), .result_rows = exec_side_plain(rows, columns), .result_column = 1,
    };
    choose_tiles(p, call->build->threads);
    int64_t bytes = (int64_t)exec_product_bytes(&p->call, p->tile_rows, p->tile_columns);
    p->workspace_bytes = (bytes + BASE_ALIGNMENT - 1) / BASE_ALIGNMENT * BASE_ALIGNMENT;
    p->workspace_at = exec_scratch_take(call->build, p->workspace_bytes *
                                                         exec_scratch_pieces(call->build, extents[0] * p->tiles_down * p->tiles_across, 1));
    call->stage->run = run_product;
    call->stage->prepared = p;
    call->stage->cost = (double)extents[0] * (double)(p->tiles_down * p->tiles_across) * p->tile_cost;
    return true;
}

exec_dense exec_dense_in_place(const exec_value *value)
{
    exec_dense dense = {.value = *value, .scratch_at = -1};
    dense.value.offset = 0;
    return dense;
}

bool exec_matrix_of_view(const exec_factored *view, const exec_dense *dense, exec_matrix *matrix)
{
    matrix->dense = dense;
    matrix->offset = view->offset;
    uint32_t rank = view->rank;
    return exec_factored_side(view, 0, rank - 2, &matrix->batch) && exec_factored_side(view, rank - 2, rank - 1, &matrix->rows) &&
           exec_factored_side(view, rank - 1, rank, &matrix->columns);
}

bool exec_matrix_of(exec_call *call, const exec_value *value, exec_dense *dense, exec_matrix *matrix)
{
    *dense = exec_dense_in_place(value);
    exec_factored view = exec_factored_of(value->rank, value->shape, value->strides, value->offset);
    for (int tries = 0; tries < 2; tries++) {
        if (exec_matrix_of_view(&view, dense, matrix)) return true;
        *dense = exec_dense_of(call->build, value);
        int64_t strides[WG_MAX_RANK], stride = 1;
        for (uint32_t axis = value->rank; axis-- > 0; stride *= value->shape[axis]) strides[axis] = stride;
        view = exec_factored_of(value->rank, value->shape, strides, 0);
    }
    return base_fail(call->build->error, WG_INTERNAL, "matmul cannot follow its operand");
}

bool exec_call_MatMul(exec_call *call)
{
    const exec_value *a = &call->operands[0], *b = &call->operands[1];
    if (base_kind_is_complex(a->kind)) return exec_complex_matmul(call);
    exec_dense *dense = exec_call_take(call, 2 * sizeof *dense);
    exec_matrix left, right;
    if (!dense || !exec_matrix_of(call, a, &dense[0], &left) || !exec_matrix_of(call, b, &dense[1], &right)) return false;
    int64_t told = call->attributes[GRAPH_ATTRIBUTE(MatMul, accumulate)],
            extents[4] = {1, a->shape[a->rank - 2], a->shape[a->rank - 1], b->shape[b->rank - 1]};
    for (uint32_t axis = 0; axis + 2 < a->rank; axis++) extents[0] *= a->shape[axis];
    return exec_product_prepare(call, &left, &right, a->kind, told == GRAPH_BY_RULE ? graph_accumulation_kind(a->kind) : (wg_kind)told,
                                extents);
}
