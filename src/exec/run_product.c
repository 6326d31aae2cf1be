/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Matrix products as calls: MatMul, and what WindowProduct becomes. Operands are read by their strides; the result is cut into tiles for
 * the threads, and columns of b that tiles of many rows use are packed for all of them first; b that stages near each other read, as the
 * steps of a recurrence do, by the first of them for all.
 *
 * PRODUCT stages: a product, or several that are added up, and a program over the result. The program runs on each rectangle of sums while
 * that is in the cache, a row or some short ones at a time; the product's own value is stored where something else reads it. A program
 * that does better over the whole result (short rows, a transposed read) follows the product. TRIED: sums and scales of a program made of a
 * tile's sums in the first cache, or as they are stored: no faster, and a sixth slower where rows stand 4 KiB apart; what the program reads
 * asked for while the tiles run: no faster, it is more than the second cache keeps. */
#include <string.h>

#include "exec/exec_call.h"
#include "exec/exec_map.h"

#define MULTIPLY_COST 0.04 /* of one multiply-add, in item copies */
#define PACK_COST 1.0      /* of an item packed */
#define READ_PRODUCTS 8    /* multiply-adds that an item of b costs which is read from memory: most of the work of one row */
#define SHARED_BYTES (8 << 20) /* of b packed at once */
#define TASK_PRODUCTS 2.5e5    /* less is not worth a thread's waking */
#define SPUN_PRODUCTS 1e5      /* the same where threads spin for work */
#define SHARED_CACHE (1 << 20) /* bytes of b that each thread may read: more than the second cache keeps is read from memory that all share */
#define EVEN_LOSS 0.02         /* of rows that a thread may have more than its part, for the sake of whole tiles */
#define ROWS_A_THREAD 16       /* of fewer the tiles are slower, more than is won */
#define SERIES_STAGES 32       /* how far apart stages stand that read one b, as the steps of a recurrence do */
#define PAUSE_COST 1e5         /* a task of less is not asked whether to go on */
#define BLOCKS_BESIDE 8        /* depth blocks of one row that are made at once */
#define ROW_LEAST 64           /* items of a result's row from which a program follows rectangles */
#define ROWS_ITEMS 2048        /* of short rows side by side */

/* A further product: its call stands in `more` of the first. */
typedef struct factors {
    exec_dense a, b;
    int64_t a_offset, b_offset; /* bytes */
} factors;

typedef struct product {
    exec_dense a, b;
    int64_t a_offset, b_offset; /* items behind the dense items */
    exec_product call;          /* without pointers; turned, if it turns */
    exec_value result;
    bool canonical;
    int64_t tile_rows, tile_columns, tiles_down, tiles_across; /* of one batch, or of one chunk of shared columns */
    int64_t chunk; /* columns of b packed before the tiles of all rows use them; 0: each tile packs its own */
    double tile_cost;
    int64_t groups; /* of depth blocks of one row, which threads make side by side where b is not packed; 0: none */
    int64_t sums_at; /* those of each block, in scratch */
    int64_t key[8]; /* how b lies, where it is a parameter that can be packed for many runs; key[0] 0: it is none */
    int64_t packed_at, workspace_at, workspace_bytes;
    plan_lasting *series; /* where b stands packed for several stages; NULL: for none */
    bool begins;          /* packs it there */
    const factors *more;
    int64_t factors_at; /* their pointers, in scratch */
    exec_map_list *list; /* the program on rectangles, NULL */
    int64_t lines;       /* whole rows of a block */
    int64_t pieces_at, piece_bytes, pointers_at;
    bool follows;
    exec_stage after; /* the program behind the product, where it follows */
} product;

typedef struct product_work {
    exec_run *run;
    const product *facts;
    exec_product call;
    int64_t batch; /* the shared columns' */
    exec_range columns;
} product_work;


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

typedef struct finishing {
    const product_work *work;
    uint32_t thread;
} finishing;

/* The program on a rectangle of sums. */
static void finish_rectangle(void *user, int64_t batch, exec_range rows, exec_range columns, void *items, int64_t row_step)
{
    const finishing *own = user;
    const product *p = own->work->facts;
    if (columns.end - columns.first > EXEC_PACK_COLUMNS) { /* one row */
        exec_range first = {columns.first, columns.first + EXEC_PACK_COLUMNS}, others = {first.end, columns.end};
        finish_rectangle(user, batch, rows, first, items, row_step);
        finish_rectangle(user, batch, rows, others, (char *)items + EXEC_PACK_COLUMNS * base_kinds[p->call.result_kind].bytes, row_step);
        return;
    }
    char *piece = own->work->run->scratch + p->pieces_at + own->thread * p->piece_bytes;
    exec_map_work map = {.run = own->work->run, .list = p->list, .at = (char **)(piece + p->pointers_at)};
    int64_t width = columns.end - columns.first, all = p->call.columns, lines = width == all && row_step == all ? p->lines : 1;
    for (int64_t row = rows.first; row < rows.end; row += lines) {
        int64_t count = exec_smaller(lines, rows.end - row) * width;
        exec_map_block block = {.begin = {[EXEC_FROM_ITEM] = (batch * p->call.rows + row) * all + columns.first,
                                          [EXEC_FROM_COLUMN] = columns.first},
                                .count = count, .width = width};
        exec_map_list_run(&map, piece, (char *)items + (row - rows.first) * row_step * base_kinds[p->call.result_kind].bytes, &block);
    }
    exec_map_list_done(&map);
}

static void product_tile(const product_work *work, int64_t batch, exec_range rows, exec_range columns, uint32_t thread)
{
    const product *p = work->facts;
    exec_product call = work->call;
    exec_pause pause = exec_run_pause(work->run, thread);
    finishing finish = {work, thread};
    call.finish_user = &finish;
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
        exec_range rows = {down * p->tile_rows, exec_smaller(work->call.rows, (down + 1) * p->tile_rows)};
        exec_range columns = {first, exec_smaller(work->columns.end, first + p->tile_columns)};
        if (first < work->columns.end) product_tile(work, work->batch + unit / tiles, rows, columns, thread);
    }
}

/* Units are panels of EXEC_TILE_COLUMNS by depth blocks. */
static void pack_part(void *context, exec_range range, uint32_t thread)
{
    (void)thread;
    const product_work *work = context;
    int64_t panels = exec_pieces(work->columns.end - work->columns.first, EXEC_TILE_COLUMNS), count;
    for (int64_t unit = range.first; unit < range.end; unit += count) {
        int64_t k = unit / panels * EXEC_DEPTH_BLOCK, first = unit % panels;
        count = exec_smaller(range.end - unit, panels - first);
        exec_range columns = {work->columns.first + first * EXEC_TILE_COLUMNS,
                              exec_smaller(work->columns.end, work->columns.first + (first + count) * EXEC_TILE_COLUMNS)};
        work->run->kernels->product_pack(&work->call, work->batch, columns, (exec_range){k, k + 1}, (void *)work->call.b_packed);
    }
}

static int64_t packed_width(const exec_product *call) { return exec_up_to(call->columns, EXEC_TILE_COLUMNS); }
static int64_t pack_units(const exec_product *call) { return call->packed_width / EXEC_TILE_COLUMNS * exec_pieces(call->depth, EXEC_DEPTH_BLOCK); }

/* The columns [packed_width] that the work stands at, by all threads. */
static void pack_columns(product_work *work)
{
    exec_run_split(work->run, pack_units(&work->call), 1, PACK_COST * EXEC_TILE_COLUMNS * EXEC_DEPTH_BLOCK, pack_part, work);
}

static void run_shared(product_work *work, bool packed)
{
    const product *p = work->facts;
    exec_product *call = &work->call;
    if (!packed) call->b_packed = work->run->scratch + p->packed_at;
    for (work->batch = 0; work->batch < call->batches; work->batch++)
        for (int64_t first = 0; first < call->columns; first += p->chunk) {
            work->columns = (exec_range){first, exec_smaller(call->columns, first + p->chunk)};
            if (!packed) call->packed_first = first, call->packed_width = exec_up_to(work->columns.end - first, EXEC_TILE_COLUMNS);
            if (!packed) pack_columns(work);
            exec_run_split(work->run, p->tiles_down * p->tiles_across, 1, p->tile_cost, product_part, work);
        }
}

/* ---- one row by short lines: depth blocks side by side, then their sums in order ---- */

static int64_t depth_blocks(const exec_product *call) { return exec_pieces(call->depth, EXEC_DEPTH_BLOCK); }

/* Whether that is faster: where b is one run, and more than the second cache keeps. */
static bool is_deep(const exec_product *call, int64_t short_lines)
{
    int64_t bytes = exec_product_sum_bytes(call);
    bool floats = base_kind_is_float(call->result_kind) && base_kinds[call->a_kind].bytes == bytes && base_kinds[call->b_kind].bytes == bytes;
    bool plain = call->a_depth.rank == 1 && call->b_depth.rank == 1 && call->b_columns.rank == 1 && call->b_columns.stride[0] == 1;
    return floats && plain && call->rows == 1 && call->batches == 1 && !call->turned && !call->more_count && base_kinds[call->result_kind].bytes == bytes &&
           call->b_depth.stride[0] == call->columns && call->columns <= short_lines && call->depth >= 2 * EXEC_DEPTH_BLOCK &&
           call->depth * call->columns > EXEC_ALONG_ITEMS;
}

static void deep_part(void *context, exec_range range, uint32_t thread)
{
    const product_work *work = context;
    const product *p = work->facts;
    exec_product call = work->call;
    int64_t blocks = call.batches, whole = p->call.depth / EXEC_DEPTH_BLOCK, end = blocks * range.end / p->groups;
    exec_range one = {0, 1}, own = {blocks * range.first / p->groups, exec_smaller(end, whole)};
    void *workspace = work->run->scratch + p->workspace_at + thread * p->workspace_bytes;
    work->run->kernels->product(&call, own, one, work->columns, workspace);
    call.depth = p->call.depth % EXEC_DEPTH_BLOCK;
    if (end > whole) work->run->kernels->product(&call, (exec_range){whole, end}, one, work->columns, workspace);
}

static void run_deep(const product_work *work)
{
    const product *p = work->facts;
    const exec_run *run = work->run;
    product_work parts = *work;
    exec_product *call = &parts.call;
    int64_t blocks = depth_blocks(call), columns = call->columns, bytes = columns * base_kinds[call->result_kind].bytes;
    char *sums = run->scratch + p->sums_at, *to = call->result ? call->result : sums;
    call->batches = blocks;
    call->depth = EXEC_DEPTH_BLOCK;
    call->a_batch = exec_side_plain(blocks, EXEC_DEPTH_BLOCK * call->a_depth.stride[0]);
    call->b_batch = exec_side_plain(blocks, EXEC_DEPTH_BLOCK * columns);
    call->result_batch = exec_side_plain(blocks, columns);
    call->result = sums;
    call->finish = NULL;
    call->beside = true;
    exec_run_split(work->run, p->groups, 1, p->tile_cost * (double)(p->tiles_down * p->tiles_across) / (double)p->groups, deep_part, &parts);
    if (atomic_load_explicit(run->stop, memory_order_relaxed)) return;
    exec_block_function add = run->kernels->block(EXEC_BLOCK_ADD, call->result_kind);
    for (int64_t b = 1; b < blocks; b++) add(to, (const void *const[]){b == 1 ? sums : to, sums + b * bytes}, 0, columns);
    finishing finish = {work, 0};
    if (work->call.finish) finish_rectangle(&finish, 0, (exec_range){0, 1}, (exec_range){0, columns}, to, columns);
    if (p->canonical) canonical_tile(work, 0, (exec_range){0, 1}, (exec_range){0, columns});
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
    work.call.b = exec_dense_items(run, b) + (p->call.turned ? p->a_offset : p->b_offset) * base_kinds[p->call.b_kind].bytes;
    work.call.b_packed = packed->items;
    work.call.packed_width = packed_width(&work.call);
    pack_part(&work, (exec_range){0, pack_units(&work.call)}, 0);
    memcpy(packed->key, p->key, sizeof p->key);
}

static const void *const *point_factors(exec_run *run, const product *p)
{
    const void **to = (const void **)(void *)(run->scratch + p->factors_at);
    for (int64_t t = 0; t < p->call.more_count; t++) {
        to[2 * t] = exec_dense_items(run, &p->more[t].a) + p->more[t].a_offset;
        to[2 * t + 1] = exec_dense_items(run, &p->more[t].b) + p->more[t].b_offset;
    }
    return to;
}

/* Where all of b stands packed: prepared, or for a series of stages, whose first packs it although it may have it prepared, since the others
 * need not. Not for a series where a failure may have left that stage out. */
static bool find_packed(product_work *work)
{
    const product *p = work->facts;
    exec_run *run = work->run;
    exec_product *call = &work->call;
    bool prepared = run->packed && p->key[0] && memcmp(run->packed->key, p->key, sizeof p->key) == 0;
    bool series = p->series && run->failed_node == WG_NONE;
    if (!prepared && !series) return false;
    call->packed_width = packed_width(call);
    if (series) call->b_packed = run->arena + p->series->offset;
    if (series && p->begins) pack_columns(work);
    if (prepared) call->b_packed = run->packed->items;
    return true;
}

static void run_product(exec_run *run, const exec_stage *stage)
{
    const product *p = stage->prepared;
    product_work work = work_of(run, stage);
    bool turned = p->call.turned;
    const char *a = exec_dense_items(run, &p->a) + p->a_offset * base_kinds[turned ? p->call.b_kind : p->call.a_kind].bytes;
    const char *b = exec_dense_items(run, &p->b) + p->b_offset * base_kinds[turned ? p->call.a_kind : p->call.b_kind].bytes;
    work.call.a = turned ? b : a;
    work.call.b = turned ? a : b;
    work.call.result = p->result.rank ? exec_items(run, &p->result) : NULL;
    if (p->more) work.call.factors = point_factors(run, p);
    bool packed = find_packed(&work);
    if (p->groups && !packed) run_deep(&work);
    else if (p->chunk) run_shared(&work, packed);
    else exec_run_split(run, p->call.batches * p->tiles_down * p->tiles_across, 1, p->tile_cost, product_part, &work);
    if (p->follows) p->after.run(run, &p->after);
}

/* So many equal pieces, each a multiple of `step` (but the last), of an extent; at least one item. */
static int64_t piece_of(int64_t extent, int64_t count, int64_t step)
{
    int64_t piece = exec_up_to(exec_pieces(extent, count), step);
    return piece < 1 ? 1 : piece;
}

/* Whether so many threads split a product's rows: then what a thread made of them stays in its caches for what comes of them row by row, and
 * programs on the rectangles have whole rows. All of b is read by each, so not where each would pack it, or read it along its rows. */
static bool splits_rows(const product *p, int64_t threads)
{
    const exec_product *call = &p->call;
    int64_t rows = call->rows / threads;
    bool few = rows <= EXEC_ALONG_ROWS && call->depth * call->columns > EXEC_ALONG_ITEMS;
    bool kept = call->depth * call->columns * base_kinds[call->b_kind].bytes <= SHARED_CACHE;
    return rows >= ROWS_A_THREAD && kept && (p->series || (!few && exec_product_reads_b(call, rows)));
}

/* Whether threads pack b together although its rows are few, so that each has rows of its own: whole ones, for a program on rectangles. */
static bool packs_for_rows(const product *p, int64_t threads, double products, double task)
{
    const exec_product *call = &p->call;
    int64_t rows = call->rows / threads;
    return threads > 1 && p->list && !p->series && rows >= ROWS_A_THREAD && call->depth * call->columns <= EXEC_ALONG_ITEMS && products > 2 * task &&
           !exec_product_reads_b(call, rows);
}

/* The most rows that a thread has of pieces of so many. */
static int64_t most_rows(int64_t rows, int64_t piece, int64_t threads)
{
    int64_t count = exec_pieces(rows, piece), most = 0;
    for (int64_t t = 0; t < threads; t++) {
        int64_t first = count * t / threads, end = count * (t + 1) / threads;
        int64_t own = exec_smaller(rows, end * piece) - exec_smaller(rows, first * piece);
        if (own > most) most = own;
    }
    return most;
}

/* Rows cut into so many pieces: of whole tiles, but where some thread would have more to do then. */
static int64_t piece_of_rows(int64_t rows, int64_t down, int64_t threads)
{
    if (down <= 1 || rows / down < 2 * EXEC_TILE_ROWS) return piece_of(rows, down, 1);
    int64_t whole = piece_of(rows, down, EXEC_TILE_ROWS), even = piece_of(rows, down, 2);
    if (threads == 1) return whole;
    return (double)most_rows(rows, whole, threads) > (double)most_rows(rows, even, threads) * (1 + EVEN_LOSS) ? even : whole;
}

/* Tiles: as large as the caches allow, and about as many for each thread. TRIED columns packed for all rows where these are fewer than
 * EXEC_PACK_ROWS but b is not read in place: 6% slower where b is larger than the caches. */
static void choose_tiles(product *p, const exec_build *build)
{
    const exec_product *call = &p->call;
    const int64_t threads = build->threads;
    const double task = build->plan->graph->context->spin ? SPUN_PRODUCTS : TASK_PRODUCTS;
    int64_t rows = call->rows, columns = call->columns, depth = call->depth, across, down = 1;
    for (int64_t t = 0; t < call->more_count; t++) depth += call->more[t].depth;
    double products = (double)(rows + READ_PRODUCTS) * (double)columns * (double)(depth > 0 ? depth : 1);
    bool one_a_batch = call->batches >= 4 * threads || (call->batches >= threads && products < 2.5e7);
    int64_t fitting = depth > 0 ? SHARED_BYTES / exec_product_sum_bytes(call) / depth / EXEC_TILE_COLUMNS * EXEC_TILE_COLUMNS : 0;
    bool many = rows > EXEC_PACK_ROWS || packs_for_rows(p, threads, products, task);
    bool shared = many && fitting > 0 && !one_a_batch && !call->more_count;
    p->chunk = 0;
    if (shared) {
        p->chunk = piece_of(columns, exec_pieces(columns, fitting), EXEC_TILE_COLUMNS);
        columns = exec_smaller(columns, p->chunk);
        down = exec_pieces(rows, build->kernels->shared_rows);
        if (down % threads != 0 && down < 4 * threads) down += threads - down % threads;
    }
    across = exec_pieces(columns, rows == 1 ? build->kernels->row_columns : EXEC_PACK_COLUMNS);
    if (!shared && !one_a_batch && threads > 1 && products > 2 * task) {
        int64_t wanted = exec_pieces(threads, call->batches > 0 ? call->batches : 1);
        double most = products / task;
        if ((double)wanted > most) wanted = (int64_t)most;
        if (splits_rows(p, wanted)) down = wanted;
        else if (columns >= wanted * EXEC_TILE_COLUMNS) across = exec_up_to(across, wanted);
        else down = wanted;
    }
    p->tile_rows = piece_of_rows(rows, down > 0 ? down : 1, threads);
    p->tile_columns = piece_of(columns, across > 0 ? across : 1, across > 1 ? EXEC_TILE_COLUMNS : 1);
    p->tiles_down = exec_pieces(rows, p->tile_rows);
    p->tiles_across = exec_pieces(columns, p->tile_columns);
    p->tile_cost = (double)(p->tile_rows + READ_PRODUCTS) * (double)p->tile_columns * (double)(depth > 0 ? depth : 1) * MULTIPLY_COST + 1;
}

/* One b for all batches, and rows that go on from batch to batch: one product of more rows. */
static void merge_batches(exec_product *call)
{
    if (call->batches <= 1 || call->more_count || call->a_batch.rank != 1 || call->a_rows.rank != 1 ||
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
    if (product->rows <= EXEC_TILE_ROWS && bytes > base_kinds[product->b_kind].bytes) return;
    if (product->b_depth.rank != 1 || product->b_columns.rank != 1) return;
    int64_t key[8] = {bytes, product->b_kind, product->depth, product->columns, product->b_depth.stride[0], product->b_columns.stride[0],
                      product->turned ? p->a_offset : p->b_offset, node};
    memcpy(p->key, key, sizeof key);
    stage->pack = pack_product;
    stage->packed_bytes = product->depth * packed_width(product) * bytes;
}

/* kinds: of a and b. extents: batches, rows, depth, columns. The depth of a stands in a->columns, that of b in b->rows. */
static exec_product call_of(const exec_matrix *a, const exec_matrix *b, const wg_kind kinds[2], wg_kind accumulate, wg_kind result_kind,
                            const int64_t extents[4])
{
    int64_t rows = extents[1], columns = extents[3];
    return (exec_product){
        .a_kind = kinds[0], .b_kind = kinds[1], .accumulate = accumulate, .result_kind = result_kind,
        .batches = extents[0], .rows = rows, .depth = extents[2], .columns = columns,
        .a_batch = a->batch, .a_rows = a->rows, .a_depth = a->columns,
        .b_batch = b->batch, .b_depth = b->rows, .b_columns = b->columns,
        .result_batch = exec_side_plain(extents[0], rows * columns), .result_rows = exec_side_plain(rows, columns), .result_column = 1,
    };
}

/* ---- b of several stages ---- */

/* The node that a stage's one product reads on the right; WG_NONE: it is none. */
static uint32_t right_of(const wg_plan *plan, uint32_t stage)
{
    const plan_stage *from = &plan->stages[stage];
    bool call = from->kind == PLAN_STAGE_CALL && graph_node(plan->graph, from->writes[0].node)->op == WG_OP_MatMul;
    return call || (from->kind == PLAN_STAGE_PRODUCT && from->factor_count == 2) ? from->reads[from->read_count - 1].node : WG_NONE;
}

static bool packs_the_same(const product *a, const product *b)
{
    return a->call.b_kind == b->call.b_kind && exec_product_sum_bytes(&a->call) == exec_product_sum_bytes(&b->call) && !b->call.turned;
}

/* Joins a series of stages that read one b, the first of which packs it where their rows repay that. Of few rows b is read once, and packed it
 * is no less to read. */
static void join_series(exec_build *build, product *p)
{
    const wg_plan *plan = build->plan;
    uint32_t right = right_of(plan, build->stage), own = build->stage;
    if (right == WG_NONE || p->call.turned || p->call.batches != 1 || p->call.rows < EXEC_TILE_ROWS) return;
    if (p->b.scratch_at >= 0 || p->b.value.buffer == WG_NONE) return; /* it is made for this stage alone */
    const exec_stage *stages = build->layout->prepared;
    for (uint32_t s = own; s-- > 0 && own - s <= SERIES_STAGES && !p->series;) {
        const product *other = stages[s].run == run_product ? stages[s].prepared : NULL;
        if (other && other->series && right_of(plan, s) == right && packs_the_same(p, other)) p->series = other->series;
    }
    int64_t rows = p->call.rows; /* of those that are near, as if each had as many */
    for (uint32_t s = own + 1; s < plan->stage_count && s - own <= SERIES_STAGES && !p->series; s++)
        if (right_of(plan, s) == right) rows += p->call.rows;
    if (!p->series && rows > p->call.rows && rows >= EXEC_SMALL_ROWS) {
        p->series = &build->layout->lasting[own];
        p->series->bytes = p->call.depth * packed_width(&p->call) * exec_product_sum_bytes(&p->call);
        p->begins = true;
    }
    if (p->series) p->series->until = own;
}

/* How a call whose product, and what is added to it, is known runs. */
static void prepare_tiles(exec_build *build, product *p, exec_stage *stage)
{
    if (exec_product_turns(&p->call)) p->call = exec_product_turned(&p->call);
    join_series(build, p);
    choose_tiles(p, build);
    int64_t bytes = (int64_t)exec_product_bytes(&p->call, p->tile_rows, p->tile_columns), batches = p->chunk ? 1 : p->call.batches;
    int64_t pieces = batches * p->tiles_down * p->tiles_across;
    if (is_deep(&p->call, build->kernels->short_lines)) {
        int64_t blocks = depth_blocks(&p->call);
        p->groups = exec_smaller(exec_up_to(exec_pieces(blocks, BLOCKS_BESIDE), build->threads), blocks);
        p->sums_at = exec_scratch_take(build, blocks * p->call.columns * exec_product_sum_bytes(&p->call));
        if (p->groups > pieces) pieces = p->groups;
    }
    p->workspace_bytes = base_align_up(bytes);
    p->workspace_at = exec_scratch_take(build, p->workspace_bytes * exec_scratch_pieces(build, pieces, 1));
    p->packed_at = exec_scratch_take(build, p->chunk * p->call.depth * exec_product_sum_bytes(&p->call));
    stage->run = run_product;
    stage->prepared = p;
}

bool exec_product_prepare(exec_call *call, const exec_matrix *a, const exec_matrix *b, const wg_kind kinds[2], wg_kind accumulate,
                          const int64_t extents[4])
{
    product *p = exec_call_take(call, sizeof *p);
    if (!p) return false;
    p->a = *a->dense;
    p->b = *b->dense;
    p->a_offset = a->offset;
    p->b_offset = b->offset;
    p->result = call->result;
    p->canonical = call->canonical;
    p->call = call_of(a, b, kinds, accumulate, call->result.kind, extents);
    merge_batches(&p->call);
    prepare_tiles(call->build, p, call->stage);
    call->stage->cost = (double)extents[0] * (double)extents[1] * (double)extents[3] * (double)extents[2] * MULTIPLY_COST + 1;
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

static wg_kind accumulation_of(const exec_build *build, uint32_t node, wg_kind kind)
{
    int64_t told = build->layout->attributes[build->plan->index[node]][GRAPH_ATTRIBUTE(MatMul, accumulate)];
    return told == GRAPH_BY_RULE ? graph_accumulation_kind(kind) : (wg_kind)told;
}

static void extents_of(const exec_value *a, const exec_value *b, int64_t extents[4])
{
    extents[0] = 1;
    extents[1] = a->shape[a->rank - 2];
    extents[2] = a->shape[a->rank - 1];
    extents[3] = b->shape[b->rank - 1];
    for (uint32_t axis = 0; axis + 2 < a->rank; axis++) extents[0] *= a->shape[axis];
}

bool exec_call_MatMul(exec_call *call)
{
    const exec_value *a = &call->operands[0], *b = &call->operands[1];
    if (base_kind_is_complex(a->kind)) return exec_complex_matmul(call);
    exec_dense *dense = exec_call_take(call, 2 * sizeof *dense);
    exec_matrix left, right;
    int64_t extents[4];
    if (!dense || !exec_matrix_of(call, a, &dense[0], &left) || !exec_matrix_of(call, b, &dense[1], &right)) return false;
    extents_of(a, b, extents);
    const wg_graph *graph = call->build->plan->graph;
    wg_kind kind = (wg_kind)graph_node(graph, graph_operands(graph, graph_node(graph, call->node))[0])->kind;
    wg_kind kinds[] = {a->kind, b->kind}, accumulate = accumulation_of(call->build, call->node, kind);
    if (!exec_product_prepare(call, &left, &right, kinds, accumulate, extents)) return false;
    offer_packing(call->build, (product *)call->stage->prepared, call->stage);
    return true;
}

/* ---- PRODUCT stages ---- */

/* One of the products that a stage adds up, of its last reads. */
static bool take_term(exec_call *call, uint32_t index, int64_t term, product *p, factors *more, exec_product *calls)
{
    const plan_stage *from = &call->build->plan->stages[index];
    uint32_t first = from->read_count - from->factor_count + 2 * (uint32_t)term;
    exec_value a = exec_value_of_read(call->build, index, first), b = exec_value_of_read(call->build, index, first + 1);
    exec_dense left, right;
    exec_matrix a_matrix, b_matrix;
    wg_kind kinds[] = {a.kind, b.kind}, kind = (wg_kind)graph_node(call->build->plan->graph, from->product)->kind;
    int64_t extents[4];
    if (!exec_matrix_of(call, &a, &left, &a_matrix) || !exec_matrix_of(call, &b, &right, &b_matrix)) return false;
    extents_of(&a, &b, extents);
    if (from->factor_count > 2 && extents[2] > EXEC_DEPTH_BLOCK)
        return base_fail(call->build->error, WG_SIZE, "node %u: its sum of products is planned for at most %d items of depth, not %lld: plan "
                         "the entry again with these extents recorded", from->product, EXEC_DEPTH_BLOCK, (long long)extents[2]);
    wg_kind accumulate = from->factor_count > 2 ? kind : accumulation_of(call->build, from->product, kind);
    exec_product made = call_of(&a_matrix, &b_matrix, kinds, accumulate, kind, extents);
    call->stage->cost += (double)extents[0] * (double)extents[1] * (double)extents[3] * (double)extents[2] * MULTIPLY_COST;
    if (term == 0) {
        p->call = made;
        p->a = left;
        p->b = right;
        p->a_offset = a_matrix.offset;
        p->b_offset = b_matrix.offset;
    } else {
        calls[term - 1] = made;
        more[term - 1] = (factors){left, right, a_matrix.offset * base_kinds[a.kind].bytes, b_matrix.offset * base_kinds[b.kind].bytes};
    }
    return true;
}

static bool take_terms(exec_call *call, uint32_t index, product *p)
{
    int64_t count = call->build->plan->stages[index].factor_count / 2 - 1;
    factors *more = count ? exec_call_take(call, (size_t)count * sizeof *more) : NULL;
    exec_product *calls = count ? exec_call_take(call, (size_t)count * sizeof *calls) : NULL;
    if (count && (!more || !calls)) return false;
    for (int64_t t = 0; t <= count; t++)
        if (!take_term(call, index, t, p, more, calls)) return false;
    p->more = more;
    p->call.more = calls;
    p->call.more_count = count;
    p->factors_at = exec_scratch_take(call->build, 2 * count * (int64_t)sizeof(void *));
    return true;
}

/* The program on rectangles; false without memory, or (follows) where it does better behind the product. */
static bool take_list(exec_build *build, const exec_map_program *program, product *p)
{
    exec_map_choice all = {.width = p->call.columns};
    exec_map_list *list = p->list = base_arena_take_zeroed(build->arena, sizeof *list);
    if (!list) return base_fail_memory(build->error);
    if (!exec_map_list_prepare(build, program, &all, list)) return false;
    uint32_t streams, width = exec_map_list_width(list, &streams), reg = program->read_count - 1;
    int64_t columns = p->call.columns;
    p->follows = columns < ROW_LEAST || exec_map_transpose_items(list, width, streams) > 0;
    if (p->follows) return true;
    p->lines = columns < ROWS_ITEMS ? ROWS_ITEMS / columns : 1;
    int64_t items = columns > EXEC_PACK_COLUMNS ? EXEC_PACK_COLUMNS : p->lines * columns;
    exec_map_list_asks(list, items);
    exec_map_list_place(list, &all, items);
    list->places[reg] = (exec_map_place){.buffer = EXEC_IN_CELLS}; /* what is handed to the finish */
    p->call.finish = finish_rectangle;
    return true;
}

/* Threads' pieces: tiles are known. */
static void place_list(exec_build *build, product *p)
{
    int64_t pointers = (int64_t)(p->list->register_count * sizeof(char *)), tiles = p->tiles_down * p->tiles_across;
    p->pointers_at = p->list->room_count * p->list->room_bytes;
    p->piece_bytes = base_align_up(p->pointers_at + pointers);
    p->pieces_at = exec_scratch_take(build, p->piece_bytes * exec_scratch_pieces(build, (p->chunk ? 1 : p->call.batches) * tiles, 1));
}

/* The value of the product: the stored one, or of its shape in scratch (at an offset of scratch, where the program follows). */
static exec_value value_of_product(exec_build *build, const plan_stage *from, bool *stored)
{
    const wg_plan *plan = build->plan;
    uint32_t at = plan->index[from->product];
    *stored = false;
    for (uint32_t w = 0; w < from->write_count; w++) *stored = *stored || from->writes[w].node == from->product;
    if (*stored) return exec_value_of_node(build, from->product);
    const wg_node *node = graph_node(plan->graph, from->product);
    exec_value value = {.node = from->product, .buffer = WG_NONE, .kind = (wg_kind)node->kind, .rank = node->rank,
                        .shape = build->layout->shapes[at], .volume = build->layout->volumes[at], .dense = true};
    for (int64_t axis = node->rank, stride = 1; axis-- > 0; stride *= value.shape[axis]) value.strides[axis] = stride;
    return value;
}

static void run_nothing(exec_run *run, const exec_stage *stage)
{
    (void)run, (void)stage;
}

bool exec_product_stage_prepare(exec_build *build, uint32_t index, exec_stage *stage)
{
    const plan_stage *from = &build->plan->stages[index];
    exec_call call = {.build = build, .stage = stage, .node = from->product, .op = WG_OP_MatMul};
    product *p = exec_call_take(&call, sizeof *p);
    exec_map_program program;
    bool stored;
    if (!p) return false;
    exec_value value = value_of_product(build, from, &stored);
    if (!value.volume) return stage->run = run_nothing, true;
    if (!take_terms(&call, index, p) || !exec_map_program_of(build, index, &value, &program)) return false;
    if (from->instruction_count && !take_list(build, &program, p)) return false;
    if (p->follows && !stored) value.offset = exec_scratch_take(build, value.volume * base_kinds[value.kind].bytes) / base_kinds[value.kind].bytes;
    if (stored || p->follows) p->result = value;
    p->canonical = stored && base_kind_has_nan(value.kind) && exec_must_be_canonical(build, from->product);
    merge_batches(&p->call);
    prepare_tiles(build, p, stage);
    if (!p->more) offer_packing(build, p, stage);
    if (!from->instruction_count) return true;
    program.volume = value.volume;
    if (!p->follows) return place_list(build, p), stage->cost += p->list->unit_cost * (double)value.volume, true;
    if (!exec_map_program_of(build, index, &value, &program)) return false;
    program.volume = value.volume;
    bool good = exec_map_program_prepare(build, &program, &p->after);
    stage->cost += p->after.cost;
    return good;
}
