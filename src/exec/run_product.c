/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Matrix products as calls: MatMul, and what WindowProduct becomes. Operands are read by their strides; the result is cut into tiles for
 * the threads, and columns of b that tiles of many rows use are packed for all of them first. */
#include <string.h>

#include "exec/exec_call.h"

#define MULTIPLY_COST 0.04 /* of one multiply-add, in item copies */
#define PACK_COST 1.0      /* of an item packed */
#define SHARED_ROWS 168    /* of a task that uses shared columns of b: with as many rows of a and its sums they stay in the second cache */
#define SHARED_BYTES (8 << 20) /* of b packed at once */
#define TASK_PRODUCTS 2.5e5    /* less is not worth a thread's waking */
#define PAUSE_COST 1e5         /* a task of less is not asked whether to go on */

typedef struct product {
    exec_dense a, b;
    int64_t a_offset, b_offset; /* items behind the dense items */
    exec_product call;          /* without pointers; turned, if it turns */
    exec_value result;
    bool canonical;
    int64_t tile_rows, tile_columns, tiles_down, tiles_across; /* of one batch, or of one chunk of shared columns */
    int64_t chunk; /* columns of b packed before the tiles of all rows use them; 0: each tile packs its own */
    double tile_cost;
    int64_t key[8]; /* how b lies, where it is a parameter that can be packed for many runs; key[0] 0: it is none */
    int64_t packed_at, workspace_at, workspace_bytes;
} product;

typedef struct product_work {
    exec_run *run;
    const product *facts;
    exec_product call;
    int64_t batch; /* the shared columns' */
    exec_range columns;
} product_work;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t pieces(int64_t extent, int64_t piece) { return (extent + piece - 1) / piece; }

/* The result's items of a tile, where NaNs must be the one NaN. */
static void canonical_tile(const product_work *work, int64_t batch, exec_range rows, exec_range columns)
{
    const exec_product *call = &work->call;
    int64_t width = base_kinds[call->result_kind].bytes, row_step = call->result_rows.stride[0], column_step = call->result_column;
    if (column_step != 1) { /* turned: the rows are side by side, or there is one */
        exec_range kept = rows;
        rows = columns;
        columns = kept;
        row_step = call->result_column;
        column_step = call->result_rows.stride[0];
    }
    char *items = (char *)call->result + (batch * call->rows * call->columns + columns.first * column_step) * width;
    for (int64_t row = rows.first; row < rows.end; row++)
        exec_canonical(work->run, true, call->result_kind, items + row * row_step * width, columns.end - columns.first);
}

static void product_tile(const product_work *work, int64_t batch, exec_range rows, exec_range columns, uint32_t thread)
{
    const product *p = work->facts;
    exec_product call = work->call;
    exec_pause pause = exec_run_pause(work->run, thread);
    if (p->tile_cost > PAUSE_COST) call.pause = &pause;
    work->run->kernels->product(&call, (exec_range){batch, batch + 1}, rows, columns,
                                work->run->scratch + p->workspace_at + thread * p->workspace_bytes);
    if (p->canonical) canonical_tile(work, batch, rows, columns);
}

static void product_part(void *context, exec_range range, uint32_t thread)
{
    const product_work *work = context;
    const product *p = work->facts;
    int64_t tiles = p->tiles_down * p->tiles_across;
    for (int64_t unit = range.first; unit < range.end; unit++) {
        int64_t down = unit % tiles / p->tiles_across, first = work->columns.first + unit % tiles % p->tiles_across * p->tile_columns;
        exec_range rows = {down * p->tile_rows, least(work->call.rows, (down + 1) * p->tile_rows)};
        exec_range columns = {first, least(work->columns.end, first + p->tile_columns)};
        if (first < work->columns.end) product_tile(work, work->batch + unit / tiles, rows, columns, thread);
    }
}

/* Units are panels of EXEC_TILE_COLUMNS by depth blocks. */
static void pack_part(void *context, exec_range range, uint32_t thread)
{
    (void)thread;
    const product_work *work = context;
    int64_t panels = pieces(work->columns.end - work->columns.first, EXEC_TILE_COLUMNS), count;
    for (int64_t unit = range.first; unit < range.end; unit += count) {
        int64_t k = unit / panels * EXEC_DEPTH_BLOCK, first = unit % panels;
        count = least(range.end - unit, panels - first);
        exec_range columns = {work->columns.first + first * EXEC_TILE_COLUMNS,
                              least(work->columns.end, work->columns.first + (first + count) * EXEC_TILE_COLUMNS)};
        work->run->kernels->product_pack(&work->call, work->batch, columns, (exec_range){k, k + 1}, (void *)work->call.b_packed);
    }
}

static int64_t packed_width(const exec_product *call) { return pieces(call->columns, EXEC_TILE_COLUMNS) * EXEC_TILE_COLUMNS; }

static void run_shared(product_work *work, bool packed)
{
    const product *p = work->facts;
    exec_product *call = &work->call;
    if (!packed) call->b_packed = work->run->scratch + p->packed_at;
    for (work->batch = 0; work->batch < call->batches; work->batch++)
        for (int64_t first = 0; first < call->columns; first += p->chunk) {
            work->columns = (exec_range){first, least(call->columns, first + p->chunk)};
            int64_t panels = pieces(work->columns.end - first, EXEC_TILE_COLUMNS);
            if (!packed) call->packed_first = first, call->packed_width = panels * EXEC_TILE_COLUMNS;
            if (!packed) exec_run_split(work->run, panels * pieces(call->depth, EXEC_DEPTH_BLOCK), 1,
                                        PACK_COST * EXEC_TILE_COLUMNS * EXEC_DEPTH_BLOCK, pack_part, work);
            exec_run_split(work->run, p->tiles_down * p->tiles_across, 1, p->tile_cost, product_part, work);
        }
}

static product_work work_of(exec_run *run, const exec_stage *stage)
{
    const product *p = stage->prepared;
    product_work work = {run, p, p->call, 0, {0, p->call.columns}};
    return work;
}

/* b of one batch, all of its columns. */
static void pack_product(exec_run *run, const exec_stage *stage, exec_packed *packed)
{
    const product *p = stage->prepared;
    product_work work = work_of(run, stage);
    const exec_dense *b = p->call.turned ? &p->a : &p->b;
    work.call.b = exec_dense_items(run, b) + (p->call.turned ? p->a_offset : p->b_offset) * base_kinds[p->call.kind].bytes;
    work.call.b_packed = packed->items;
    work.call.packed_width = packed_width(&work.call);
    pack_part(&work, (exec_range){0, work.call.packed_width / EXEC_TILE_COLUMNS * pieces(work.call.depth, EXEC_DEPTH_BLOCK)}, 0);
    memcpy(packed->key, p->key, sizeof p->key);
}

static void run_product(exec_run *run, const exec_stage *stage)
{
    const product *p = stage->prepared;
    product_work work = work_of(run, stage);
    bool packed = run->packed && p->key[0] && memcmp(run->packed->key, p->key, sizeof p->key) == 0;
    if (packed) work.call.b_packed = run->packed->items, work.call.packed_width = packed_width(&work.call);
    int64_t width = base_kinds[p->call.kind].bytes;
    const char *a = exec_dense_items(run, &p->a) + p->a_offset * width, *b = exec_dense_items(run, &p->b) + p->b_offset * width;
    work.call.a = p->call.turned ? b : a;
    work.call.b = p->call.turned ? a : b;
    work.call.result = exec_items(run, &p->result);
    if (p->chunk) run_shared(&work, packed);
    else exec_run_split(run, p->call.batches * p->tiles_down * p->tiles_across, 1, p->tile_cost, product_part, &work);
}

/* So many equal pieces, each a multiple of `step` (but the last), of an extent; at least one. */
static int64_t piece_of(int64_t extent, int64_t count, int64_t step)
{
    int64_t piece = pieces(pieces(extent, count), step) * step;
    return piece < 1 ? 1 : piece;
}

/* Tiles: as large as the caches allow, and about as many for each thread. */
static void choose_tiles(product *p, int64_t threads)
{
    const exec_product *call = &p->call;
    int64_t rows = call->rows, columns = call->columns, depth = call->depth, across, down = 1;
    double products = (double)rows * (double)columns * (double)(depth > 0 ? depth : 1);
    bool one_a_batch = call->batches >= 4 * threads || (call->batches >= threads && products < 2.5e7);
    int64_t fitting = depth > 0 ? SHARED_BYTES / exec_product_sum_bytes(call) / depth / EXEC_TILE_COLUMNS * EXEC_TILE_COLUMNS : 0;
    bool shared = rows > EXEC_PACK_ROWS && fitting > 0 && !one_a_batch;
    p->chunk = 0;
    if (shared) {
        p->chunk = piece_of(columns, pieces(columns, fitting), EXEC_TILE_COLUMNS);
        columns = least(columns, p->chunk);
        down = pieces(rows, SHARED_ROWS);
        if (down % threads != 0 && down < 4 * threads) down += threads - down % threads;
    }
    across = pieces(columns, EXEC_PACK_COLUMNS);
    if (!shared && !one_a_batch && threads > 1 && products > 2 * TASK_PRODUCTS) {
        int64_t wanted = pieces(threads, call->batches > 0 ? call->batches : 1);
        double most = products / TASK_PRODUCTS;
        if ((double)wanted > most) wanted = (int64_t)most;
        if (columns >= wanted * EXEC_TILE_COLUMNS) across = pieces(across, wanted) * wanted;
        else down = wanted;
    }
    p->tile_rows = piece_of(rows, down > 0 ? down : 1, 1);
    p->tile_columns = piece_of(columns, across > 0 ? across : 1, across > 1 ? EXEC_TILE_COLUMNS : 1);
    p->tiles_down = pieces(rows, p->tile_rows);
    p->tiles_across = pieces(columns, p->tile_columns);
    p->tile_cost = (double)p->tile_rows * (double)p->tile_columns * (double)(depth > 0 ? depth : 1) * MULTIPLY_COST + 1;
}

/* One b for all batches, and rows that go on from batch to batch: one product of more rows. */
static void merge_batches(exec_product *call)
{
    if (call->batches <= 1 || call->a_batch.rank != 1 || call->a_rows.rank != 1 ||
        call->a_batch.stride[0] != call->rows * call->a_rows.stride[0])
        return;
    for (uint32_t axis = 0; axis < call->b_batch.rank; axis++)
        if (call->b_batch.stride[axis] != 0 && call->b_batch.extent[axis] > 1) return;
    call->rows *= call->batches;
    call->batches = 1;
    call->a_rows.extent[0] = call->result_rows.extent[0] = call->rows;
    call->a_batch = call->b_batch = call->result_batch = exec_side_plain(1, 0);
}

/* Tells the stage that b, a parameter read where it lies by one batch, can be packed. What is narrower than its sums is not where a few rows
 * read all of it: it would be more to read. */
static void offer_packing(const exec_build *build, product *p, exec_stage *stage)
{
    const exec_product *product = &p->call;
    const exec_dense *b = product->turned ? &p->a : &p->b;
    if (b->scratch_at >= 0 || b->value.buffer == WG_NONE || product->batches != 1) return;
    if (product->depth <= 0 || product->columns < EXEC_TILE_COLUMNS) return;
    const wg_plan *plan = build->plan;
    uint32_t node = build->layout->buffers[b->value.buffer].node;
    if (node == WG_NONE || graph_node(plan->graph, node)->op != WG_OP_Parameter) return;
    int64_t bytes = exec_product_sum_bytes(product);
    if (product->rows <= EXEC_TILE_ROWS && bytes > base_kinds[product->kind].bytes) return;
    if (product->b_depth.rank != 1 || product->b_columns.rank != 1) return;
    int64_t key[8] = {bytes, product->kind, product->depth, product->columns, product->b_depth.stride[0], product->b_columns.stride[0],
                      product->turned ? p->a_offset : p->b_offset, node};
    memcpy(p->key, key, sizeof key);
    stage->pack = pack_product;
    stage->packed_bytes = product->depth * packed_width(product) * bytes;
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
    merge_batches(&p->call);
    if (exec_product_turns(&p->call)) p->call = exec_product_turned(&p->call);
    choose_tiles(p, call->build->threads);
    int64_t bytes = (int64_t)exec_product_bytes(&p->call, p->tile_rows, p->tile_columns), batches = p->chunk ? 1 : p->call.batches;
    p->workspace_bytes = (bytes + BASE_ALIGNMENT - 1) / BASE_ALIGNMENT * BASE_ALIGNMENT;
    p->workspace_at = exec_scratch_take(call->build, p->workspace_bytes *
                                                         exec_scratch_pieces(call->build, batches * p->tiles_down * p->tiles_across, 1));
    p->packed_at = exec_scratch_take(call->build, p->chunk * p->call.depth * exec_product_sum_bytes(&p->call));
    call->stage->run = run_product;
    call->stage->prepared = p;
    call->stage->cost = (double)extents[0] * (double)rows * (double)columns * (double)extents[2] * MULTIPLY_COST + 1;
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
    if (!exec_product_prepare(call, &left, &right, a->kind, told == GRAPH_BY_RULE ? graph_accumulation_kind(a->kind) : (wg_kind)told, extents))
        return false;
    offer_packing(call->build, (product *)call->stage->prepared, call->stage);
    return true;
}
