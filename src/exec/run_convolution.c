/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Products over windows of images, which nobody unfolds: the left side is read where it lies, by offsets (exec_gather_prepare: a
 * convolution, the gradient of its filters); and the windows' items added back as soon as a few lines of them are there
 * (exec_window_sum_prepare: the gradient of its images). The orders are those of MatMul and Fold. */
#include "exec/exec_call.h"

#include <string.h>

#define HALF (EXEC_TILE_COLUMNS / 2)
#define CHUNK_ROWS (6 * EXEC_GATHER_ROWS)
#define MULTIPLY_COST 0.02 /* item copies of one multiply-add */

static const char *matrix_items(exec_run *run, const exec_dense *dense, int64_t offset)
{
    return exec_dense_items(run, dense) + offset * (int64_t)base_kinds[dense->value.kind].bytes;
}

/* Items at line[..] + step[..] into rows of EXEC_TILE_COLUMNS, those beyond `columns` zero. */
static void pack_panel(wg_kind kind, const void *items, const int64_t *step, int64_t depth, const int64_t *line, int64_t columns,
                       void *packed)
{
    for (int64_t k = 0; k < depth; k++)
        for (int64_t j = 0; j < EXEC_TILE_COLUMNS; j++) {
            int64_t to = k * EXEC_TILE_COLUMNS + j;
            if (kind == WG_KIND_F64) ((double *)packed)[to] = j < columns ? ((const double *)items)[step[k] + line[j]] : 0;
            else ((float *)packed)[to] = j < columns ? ((const float *)items)[step[k] + line[j]] : 0;
        }
}

/* ---- a product that reads its left side through offsets ---- */

typedef struct gathered {
    wg_kind kind;
    exec_dense a, b;
    int64_t a_offset, b_offset, rows, depth, columns;
    exec_side a_rows, a_depth, b_depth, b_columns;
    exec_value result, bias;
    bool has_bias, in_place, canonical;
    bool whole; /* all of b is packed first */
    bool padded;
    exec_padding padding;
    exec_images by_image;
    int64_t area; /* rows of an image */
    int64_t unit, units; /* rows of one, how many */
    double unit_cost;
    int64_t bias_at, packed_at, packed_bytes; /* scratch; packed: panels of b, whole or a block, then a piece a thread */
    int64_t work_at, tables_at, image_at, image_bytes; /* scratch, of what goes by image; tables: rows, steps, places */
} gathered;

typedef struct gathered_work {
    exec_run *run;
    const gathered *facts;
    const char *a, *b;
    const void *bias;
    char *result, *scratch;
    const int64_t *row, *step, *to; /* by image: of all rows of an image, of all depth */
    int64_t image_step;             /* items of a */
} gathered_work;

static void gather_chunk(const gathered_work *work, exec_gathering *g, int64_t row, int64_t rows)
{
    const gathered *f = work->facts;
    int64_t from[CHUNK_ROWS], to[CHUNK_ROWS];
    exec_side_offsets(&f->a_rows, row, rows, from);
    for (int64_t i = 0; i < rows; i++) to[i] = (row + i) * f->columns;
    g->row = from;
    g->to = to;
    g->rows = rows;
    work->run->kernels->gather_product(g);
}

/* A panel's depth block. */
static void pack_block(const gathered_work *work, int64_t k, int64_t column, char *packed)
{
    const gathered *f = work->facts;
    int64_t step[EXEC_DEPTH_BLOCK], line[EXEC_TILE_COLUMNS], depth = exec_smaller(f->depth - k, EXEC_DEPTH_BLOCK),
            columns = exec_smaller(f->columns - column, EXEC_TILE_COLUMNS);
    if (f->b_depth.rank > 1 || f->b_columns.rank > 1) {
        exec_side_offsets(&f->b_depth, k, depth, step);
        exec_side_offsets(&f->b_columns, column, columns, line);
        pack_panel(f->kind, work->b, step, depth, line, columns, packed);
        return;
    }
    int64_t width = base_kinds[f->kind].bytes, down = f->b_depth.stride[0], across = f->b_columns.stride[0];
    exec_copying copy = {.item_bytes = (size_t)width, .rank = 2, .shape = {depth, columns}, .to_stride = {EXEC_TILE_COLUMNS, 1},
                         .from_stride = {down, across}, .items = work->b + (k * down + column * across) * width, .result = packed};
    if (columns < EXEC_TILE_COLUMNS) memset(packed, 0, (size_t)(depth * EXEC_TILE_COLUMNS * width));
    work->run->kernels->copy(&copy, (exec_range){0, depth});
}

static void pack_part(void *context, exec_range panels, uint32_t thread)
{
    const gathered_work *work = context;
    const gathered *f = work->facts;
    (void)thread;
    int64_t end = exec_smaller(panels.end * EXEC_TILE_COLUMNS, f->columns);
    for (int64_t column = panels.first * EXEC_TILE_COLUMNS; column < end; column += EXEC_TILE_COLUMNS)
        for (int64_t k = 0; k < f->depth; k += EXEC_DEPTH_BLOCK)
            pack_block(work, k, column, work->scratch + f->packed_at +
                                            (column * f->depth + k * EXEC_TILE_COLUMNS) * (int64_t)base_kinds[f->kind].bytes);
}

/* One panel of one depth block. */
static void aim_at_panel(const gathered_work *work, int64_t k, exec_gathering *g, int64_t column, char *packed)
{
    const gathered *f = work->facts;
    int64_t width = base_kinds[f->kind].bytes;
    g->columns = exec_smaller(f->columns - column, EXEC_TILE_COLUMNS);
    if (f->in_place) {
        g->b = work->b + (k * f->b_depth.stride[0] + column) * width;
        g->b_row = f->b_depth.stride[0];
    } else {
        g->b = f->whole ? packed + (column * f->depth + k * EXEC_TILE_COLUMNS) * width : packed;
        g->b_row = EXEC_TILE_COLUMNS;
        if (!f->whole) pack_block(work, k, column, packed);
    }
    g->bias = work->bias && k + g->depth == f->depth ? (const char *)work->bias + column * width : NULL;
    g->result = work->result + column * width;
}

static void gather_part(void *context, exec_range units, uint32_t thread)
{
    const gathered_work *work = context;
    const gathered *f = work->facts;
    int64_t step[EXEC_DEPTH_BLOCK];
    char *packed = work->scratch + f->packed_at + (f->whole ? 0 : thread * f->packed_bytes);
    for (int64_t unit = units.first; unit < units.end; unit++) {
        exec_range rows = {unit * f->unit, exec_smaller((unit + 1) * f->unit, f->rows)};
        for (int64_t k = 0; k == 0 || k < f->depth; k += EXEC_DEPTH_BLOCK) {
            if (atomic_load_explicit(work->run->stop, memory_order_relaxed)) return;
            exec_gathering g = {.kind = f->kind, .depth = exec_smaller(f->depth - k, EXEC_DEPTH_BLOCK), .apart = HALF, .a = work->a,
                                .step = step, .first = k == 0};
            exec_side_offsets(&f->a_depth, k, g.depth, step);
            for (int64_t column = 0; column < f->columns; column += EXEC_TILE_COLUMNS) {
                aim_at_panel(work, k, &g, column, packed);
                for (int64_t row = rows.first; row < rows.end; row += CHUNK_ROWS)
                    gather_chunk(work, &g, row, exec_smaller(rows.end - row, CHUNK_ROWS));
            }
        }
    }
}

/* A bias where the kernel may read whole vectors of it. */
static const void *bias_items(exec_run *run, const gathered *f)
{
    if (!f->has_bias) return NULL;
    char *bias = run->scratch + f->bias_at;
    int64_t width = base_kinds[f->kind].bytes, stride = f->bias.strides[f->bias.rank - 1];
    const char *items = exec_items(run, &f->bias);
    for (int64_t j = 0; j < f->columns; j++) memcpy(bias + j * width, items + j * stride * width, (size_t)width);
    return bias;
}

static gathered_work work_of(exec_run *run, const gathered *f)
{
    return (gathered_work){.run = run, .facts = f, .b = matrix_items(run, &f->b, f->b_offset), .bias = bias_items(run, f),
                           .a = f->padded ? NULL : matrix_items(run, &f->a, f->a_offset), .result = exec_items(run, &f->result),
                           .scratch = run->scratch};
}

static void pack_all(gathered_work *work)
{
    const gathered *f = work->facts;
    int64_t panels = f->whole ? exec_pieces(f->columns, EXEC_TILE_COLUMNS) : 0;
    exec_run_split(work->run, panels, 1, (double)(f->depth * EXEC_TILE_COLUMNS), pack_part, work);
}

static void run_gathered(exec_run *run, const exec_stage *stage)
{
    const gathered *f = stage->prepared;
    gathered_work work = work_of(run, f);
    pack_all(&work);
    exec_run_split(run, f->units, 1, f->unit_cost, gather_part, &work);
    exec_canonical_all(run, f->canonical, &f->result);
}

/* ---- image by image ---- */

/* An image of a where it is read. */
static const char *gather_image(const gathered_work *work, int64_t image, uint32_t thread)
{
    const gathered *f = work->facts;
    int64_t width = base_kinds[f->kind].bytes;
    if (!f->padded) return work->a + image * work->image_step * width;
    const exec_value *from = &f->padding.from;
    const int64_t *shape = f->padding.shape, *starts = f->padding.starts;
    char *piece = work->scratch + f->image_at + thread * f->image_bytes;
    exec_copying copy = {.item_bytes = (size_t)width, .rank = 3, .shape = {from->shape[1], from->shape[2], from->shape[3]},
                         .to_stride = {shape[2] * shape[3], shape[3], 1},
                         .from_stride = {from->strides[1], from->strides[2], from->strides[3]},
                         .items = exec_items(work->run, from) + image * from->strides[0] * width,
                         .result = piece + ((starts[1] * shape[2] + starts[2]) * shape[3] + starts[3]) * width};
    work->run->kernels->copy(&copy, (exec_range){0, copy.shape[0]});
    return piece + f->a_offset * width;
}

static void gather_images(void *context, exec_range images, uint32_t thread)
{
    const gathered_work *all = context;
    const gathered *f = all->facts;
    int64_t width = base_kinds[f->kind].bytes, slice = f->area * f->columns;
    for (int64_t image = images.first; image < images.end && !atomic_load_explicit(all->run->stop, memory_order_relaxed); image++) {
        gathered_work work = *all;
        work.result += image * slice * width;
        exec_gathering g = {.kind = f->kind, .rows = f->area, .apart = HALF, .a = gather_image(all, image, thread), .row = work.row,
                            .to = work.to};
        for (int64_t k = 0; k == 0 || k < f->depth; k += EXEC_DEPTH_BLOCK) {
            g.depth = exec_smaller(f->depth - k, EXEC_DEPTH_BLOCK);
            g.first = k == 0;
            g.step = work.step + k;
            for (int64_t column = 0; column < f->columns; column += EXEC_TILE_COLUMNS) {
                aim_at_panel(&work, k, &g, column, work.scratch + f->packed_at);
                work.run->kernels->gather_product(&g);
            }
        }
        exec_canonical(work.run, f->canonical, f->kind, work.result, slice);
    }
}

/* Paddings around all images that the threads copy, once: the items inside change. */
static void fill_pieces(const gathered_work *work)
{
    const gathered *f = work->facts;
    char item[sizeof(double)];
    if (!f->padded) return;
    base_number_store(f->kind, item, 0, base_number_from_double(f->kind, f->padding.fill));
    exec_fill(work->scratch + f->image_at, item, base_kinds[f->kind].bytes,
              f->image_bytes / base_kinds[f->kind].bytes * exec_smaller(work->run->threads, f->by_image.images));
}

static void *begin_gather(exec_run *run, const exec_stage *stage)
{
    const gathered *f = stage->prepared;
    gathered_work *work = (gathered_work *)(run->scratch + f->work_at);
    int64_t *row = (int64_t *)(run->scratch + f->tables_at), *to = row + f->area, *step = to + f->area;
    *work = work_of(run, f);
    work->row = row;
    work->to = to;
    work->step = step;
    exec_side_offsets(&f->a_rows, 0, f->area, row);
    exec_side_offsets(&f->a_depth, 0, f->depth, step);
    if (f->by_image.images > 1) exec_side_offsets(&f->a_rows, f->area, 1, &work->image_step);
    for (int64_t i = 0; i < f->area; i++) to[i] = i * f->columns;
    fill_pieces(work);
    pack_all(work);
    return work;
}

/* ---- which way ---- */

/* A unit of few rows and all depth, or where the depth is long, so many rows that what is done once a block does not count. */
static int64_t unit_rows(int64_t rows, int64_t depth, uint32_t threads)
{
    if (depth <= 4 * rows) return CHUNK_ROWS;
    return exec_up_to(exec_pieces(rows, threads), EXEC_GATHER_ROWS / 3);
}

static gathered *gathered_of(exec_call *call, const exec_matrix *a, const exec_matrix *b, const int64_t extents[3], const exec_value *bias)
{
    gathered *f = exec_call_take(call, sizeof *f);
    if (!f) return NULL;
    *f = (gathered){.kind = call->result.kind, .a = *a->dense, .b = *b->dense, .a_offset = a->offset, .b_offset = b->offset,
                    .rows = extents[0], .depth = extents[1], .columns = extents[2],
                    .a_rows = a->rows, .a_depth = a->columns, .b_depth = b->rows, .b_columns = b->columns,
                    .result = call->result, .canonical = call->canonical};
    f->in_place = f->b_columns.rank == 1 && f->b_columns.stride[0] == 1 && f->b_depth.rank == 1 && f->columns % HALF == 0 &&
                  f->b_depth.stride[0] >= f->columns && f->columns <= EXEC_SMALL_COLUMNS;
    call->stage->prepared = f;
    if (!bias) return f;
    f->bias = *bias;
    f->has_bias = true;
    f->bias_at = exec_scratch_take(call->build, exec_up_to(f->columns, EXEC_TILE_COLUMNS) * base_kinds[f->kind].bytes);
    return f;
}

bool exec_gather_images_prepare(exec_call *call, const exec_matrix *a, const exec_matrix *b, const int64_t extents[3],
                                const exec_value *bias, int64_t images, const exec_padding *padding)
{
    gathered *f = gathered_of(call, a, b, extents, bias);
    if (!f) return false;
    exec_build *build = call->build;
    int64_t width = base_kinds[f->kind].bytes;
    f->area = f->rows / images;
    f->whole = !f->in_place;
    if (f->whole) f->packed_at = exec_scratch_take(build, exec_up_to(f->columns, EXEC_TILE_COLUMNS) * f->depth * width);
    f->work_at = exec_scratch_take(build, sizeof(gathered_work));
    f->tables_at = exec_scratch_take(build, (2 * f->area + f->depth) * (int64_t)sizeof(int64_t));
    if (padding) {
        f->padded = true;
        f->padding = *padding;
        f->image_bytes = base_align_up(padding->shape[1] * padding->shape[2] * padding->shape[3] * width);
        f->image_at = exec_scratch_take(build, f->image_bytes * exec_scratch_pieces(build, images, 1));
    }
    f->by_image = (exec_images){begin_gather, gather_images, images,
                                (double)f->area * (double)f->depth * (double)f->columns * MULTIPLY_COST + 1,
                                (double)(f->area * f->columns * width), false};
    exec_call_by_image(call, &f->by_image);
    return true;
}

bool exec_gather_prepare(exec_call *call, const exec_matrix *a, const exec_matrix *b, const int64_t extents[3], const exec_value *bias)
{
    gathered *f = gathered_of(call, a, b, extents, bias);
    if (!f) return false;
    f->unit = unit_rows(f->rows, f->depth, call->build->threads);
    f->units = exec_pieces(f->rows, f->unit);
    f->unit_cost = (double)f->unit * (double)f->depth * (double)f->columns * MULTIPLY_COST + 1;
    int64_t width = base_kinds[f->kind].bytes;
    f->whole = !f->in_place && f->units > 1 && f->depth <= 4 * f->rows;
    f->packed_bytes = f->in_place ? 0 : EXEC_DEPTH_BLOCK * EXEC_TILE_COLUMNS * width;
    f->packed_at = exec_scratch_take(call->build, f->whole ? exec_up_to(f->columns, EXEC_TILE_COLUMNS) * f->depth * width
                                                           : f->packed_bytes * exec_scratch_pieces(call->build, f->units, 1));
    call->stage->run = run_gathered;
    call->stage->cost = (double)f->units * f->unit_cost;
    return true;
}

/* ---- windows added back ----
 *
 * A product's row is a window position (image, window row, window column), its columns what the window holds (channel, row, column).
 * Channels stand last here: a tile is HALF channels at one or two places of the window. Sums of one line of windows (`lines`: a row in the
 * window, a column of the image, a channel) gather the window columns ascending, since the places are taken with falling columns; lines are
 * then added to the image, window rows ascending. */

typedef struct window_sum {
    wg_kind kind;
    exec_dense a, b;
    int64_t a_offset, b_offset, depth;
    exec_side a_rows, a_depth, b_depth, b_columns;
    exec_value result;
    bool canonical;
    int64_t images, channels, high, wide;        /* of the result */
    int64_t down, across, size[2], step[2], dilation[2]; /* windows, each way: rows first */
    int64_t room, blocks;                        /* channels that are summed at once, whole halves; how often */
    int64_t groups;                              /* halves of a block at all places of a window */
    int64_t pair;                                /* groups in a panel: one where the next would add to the same places */
    int64_t together;                            /* lines of windows at once */
    int64_t *places;                             /* [groups] where a group's sums begin in the lines */
    exec_images by_image;
    int64_t packed_at, piece_at, piece_bytes, work_at; /* scratch */
    int64_t image_at, lines_at, sheet_at, tables_at; /* bytes into a piece */
} window_sum;

typedef struct window_sum_work {
    exec_run *run;
    const window_sum *facts;
    const char *a, *b;
    char *scratch;
} window_sum_work;

/* Group g of columns: its channels from `channel` on at place (row, column) of the window. */
typedef struct place {
    int64_t row, column, channel;
} place;

static place place_of(const window_sum *f, int64_t group)
{
    int64_t halves = f->room / HALF, at = group / halves;
    return (place){at % f->size[0], f->size[1] - 1 - at / f->size[0], group % halves * HALF};
}

/* Where a group's sums begin in the lines. */
static int64_t place_offset(const window_sum *f, int64_t group)
{
    place p = place_of(f, group);
    return (p.row * f->wide + p.column * f->dilation[1]) * f->room + p.channel;
}

/* Of one block. */
static int64_t panels_of(const window_sum *f)
{
    return exec_pieces(f->groups, f->pair);
}

static void pack_groups(void *context, exec_range panels, uint32_t thread)
{
    const window_sum_work *work = context;
    const window_sum *f = work->facts;
    (void)thread;
    int64_t width = base_kinds[f->kind].bytes, step[EXEC_DEPTH_BLOCK];
    int64_t each = panels_of(f) * f->pair; /* groups of a block, and room for one more where they are odd */
    for (int64_t i = f->pair * panels.first; i < f->pair * panels.end; i++) {
        if (i % each >= f->groups) continue;
        place p = place_of(f, i % each);
        p.channel += i / each * f->room;
        int64_t at = i / f->pair * f->depth * EXEC_TILE_COLUMNS + i % f->pair * HALF;
        char *packed = work->scratch + f->packed_at + at * width;
        for (int64_t k = 0; k < f->depth; k += EXEC_DEPTH_BLOCK) {
            int64_t depth = exec_smaller(f->depth - k, EXEC_DEPTH_BLOCK);
            exec_side_offsets(&f->b_depth, k, depth, step);
            for (int64_t j = 0; j < HALF; j++) {
                int64_t column, channel = p.channel + j;
                bool there = channel < f->channels;
                if (there) exec_side_offsets(&f->b_columns, (channel * f->size[0] + p.row) * f->size[1] + p.column, 1, &column);
                for (int64_t i = 0; i < depth; i++) {
                    int64_t to = (k + i) * EXEC_TILE_COLUMNS + j;
                    if (f->kind == WG_KIND_F64) ((double *)packed)[to] = there ? ((const double *)work->b)[step[i] + column] : 0;
                    else ((float *)packed)[to] = there ? ((const float *)work->b)[step[i] + column] : 0;
                }
            }
        }
    }
}

/* Adds count items; both are side by side. */
static void add_items(const window_sum_work *work, char *to, const char *items, int64_t count)
{
    work->run->kernels->block(EXEC_BLOCK_ADD, work->facts->kind)(to, (const void *const[]){to, items}, 0, count);
}

/* One panel of all rows: a chain of one block straight into the lines, one of several beside. */
static void sum_panel(const window_sum_work *work, exec_gathering *g, int64_t block, int64_t panel, char *piece)
{
    const window_sum *f = work->facts;
    int64_t width = base_kinds[f->kind].bytes, first = f->places[f->pair * panel], step[EXEC_DEPTH_BLOCK];
    bool two = f->pair == 2 && 2 * panel + 1 < f->groups, whole = f->depth <= EXEC_DEPTH_BLOCK;
    int64_t second = two ? f->places[2 * panel + 1] : first, *rows = (int64_t *)(piece + f->tables_at), *to = rows + g->rows,
            *beside = to + g->rows;
    char *lines = piece + f->lines_at, *sheet = piece + f->sheet_at;
    g->columns = two ? EXEC_TILE_COLUMNS : HALF;
    g->row = rows;
    g->to = whole ? to : beside;
    g->apart = whole ? second - first : HALF;
    g->result = whole ? lines + first * width : sheet;
    for (int64_t k = 0; k < f->depth; k += EXEC_DEPTH_BLOCK) {
        g->depth = exec_smaller(f->depth - k, EXEC_DEPTH_BLOCK);
        if (!whole) {
            exec_side_offsets(&f->a_depth, k, g->depth, step);
            g->step = step;
        }
        g->b = work->scratch + f->packed_at + ((block * panels_of(f) + panel) * f->depth + k) * EXEC_TILE_COLUMNS * width;
        g->b_row = EXEC_TILE_COLUMNS;
        g->first = !whole && k == 0;
        work->run->kernels->gather_product(g);
    }
    for (int64_t i = 0; !whole && i < g->rows; i++) {
        add_items(work, lines + (first + to[i]) * width, sheet + beside[i] * width, HALF);
        if (two) add_items(work, lines + (second + to[i]) * width, sheet + (beside[i] + HALF) * width, HALF);
    }
}

/* Lines of windows [line, line + count) of a unit: an image's block of channels. */
static void sum_lines(const window_sum_work *work, int64_t unit, int64_t line, int64_t count, char *piece)
{
    const window_sum *f = work->facts;
    int64_t width = base_kinds[f->kind].bytes, row_items = f->wide * f->room, line_items = f->size[0] * row_items;
    int64_t step[EXEC_DEPTH_BLOCK];
    exec_gathering g = {.kind = f->kind, .a = work->a, .rows = count * f->across, .step = step};
    exec_side_offsets(&f->a_depth, 0, exec_smaller(f->depth, EXEC_DEPTH_BLOCK), step); /* all there is, mostly */
    int64_t *rows = (int64_t *)(piece + f->tables_at), *to = rows + g.rows, *beside = to + g.rows;
    exec_side_offsets(&f->a_rows, (unit / f->blocks * f->down + line) * f->across, g.rows, rows);
    for (int64_t i = 0; i < g.rows; i++) {
        to[i] = i / f->across * line_items + i % f->across * f->step[1] * f->room;
        beside[i] = i * EXEC_TILE_COLUMNS;
    }
    memset(piece + f->lines_at, 0, (size_t)(count * line_items * width));
    for (int64_t panel = 0; panel < panels_of(f); panel++) sum_panel(work, &g, unit % f->blocks, panel, piece);
    int64_t at_once = f->dilation[0] == 1 ? f->size[0] : 1; /* rows side by side in the image */
    for (int64_t i = 0; i < count; i++)
        for (int64_t row = 0; row < f->size[0]; row += at_once)
            add_items(work, piece + f->image_at + ((line + i) * f->step[0] + row * f->dilation[0]) * row_items * width,
                      piece + f->lines_at + (i * line_items + row * row_items) * width, at_once * row_items);
}

static void window_sum_part(void *context, exec_range units, uint32_t thread)
{
    const window_sum_work *work = context;
    const window_sum *f = work->facts;
    int64_t width = base_kinds[f->kind].bytes, area = f->high * f->wide;
    char *piece = work->scratch + f->piece_at + thread * f->piece_bytes;
    exec_copying out = {.item_bytes = (size_t)width, .rank = 2, .shape = {0, area}, .to_stride = {area, 1},
                        .from_stride = {1, f->room}, .items = piece + f->image_at};
    for (int64_t unit = units.first; unit < units.end; unit++) {
        int64_t channel = unit % f->blocks * f->room;
        memset(piece + f->image_at, 0, (size_t)(area * f->room * width));
        for (int64_t line = 0; line < f->down && !atomic_load_explicit(work->run->stop, memory_order_relaxed); line += f->together)
            sum_lines(work, unit, line, exec_smaller(f->down - line, f->together), piece);
        out.shape[0] = exec_smaller(f->channels - channel, f->room);
        out.result = exec_items(work->run, &f->result) + (unit / f->blocks * f->channels + channel) * area * width;
        work->run->kernels->copy(&out, (exec_range){0, out.shape[0]});
        exec_canonical(work->run, f->canonical, f->kind, out.result, out.shape[0] * area);
    }
}

static void window_sum_images(void *context, exec_range images, uint32_t thread)
{
    int64_t blocks = ((const window_sum_work *)context)->facts->blocks;
    window_sum_part(context, (exec_range){images.first * blocks, images.end * blocks}, thread);
}

static void *begin_window_sum(exec_run *run, const exec_stage *stage)
{
    const window_sum *f = stage->prepared;
    window_sum_work *work = (window_sum_work *)(run->scratch + f->work_at);
    *work = (window_sum_work){.run = run, .facts = f, .a = matrix_items(run, &f->a, f->a_offset),
                              .b = matrix_items(run, &f->b, f->b_offset), .scratch = run->scratch};
    exec_run_split(run, f->blocks * panels_of(f), 1, (double)(f->depth * EXEC_TILE_COLUMNS), pack_groups, work);
    return work;
}

/* Few images: their blocks of channels are shared among the threads. */
static void run_blocks(exec_run *run, const exec_stage *stage)
{
    const window_sum *f = stage->prepared;
    exec_run_split(run, f->images * f->blocks, 1, f->by_image.image_cost / (double)f->blocks, window_sum_part,
                   begin_window_sum(run, stage));
}

/* So many lines of windows that their rows fill tiles, two at least, while few are enough. */
static int64_t lines_together(int64_t across, int64_t down)
{
    int64_t best = 1;
    double best_share = 0;
    for (int64_t lines = 1; lines <= 6 && lines <= down && lines * across <= CHUNK_ROWS; lines++) {
        if (lines * across < 2 * EXEC_GATHER_ROWS / 3 && lines < down) continue;
        double share = (double)(lines * across) / (double)exec_up_to(lines * across, EXEC_GATHER_ROWS / 3);
        if (share <= best_share + 0.02) continue;
        best = lines;
        best_share = share;
    }
    return best;
}

/* The pieces of a thread's room. */
static void lay_room(window_sum *f, exec_build *build)
{
    int64_t width = base_kinds[f->kind].bytes, line_items = f->size[0] * f->wide * f->room, rows = f->together * f->across;
    f->lines_at = base_align_up(f->high * f->wide * f->room * width);
    f->sheet_at = base_align_up(f->lines_at + f->together * line_items * width);
    f->tables_at = base_align_up(f->sheet_at + (f->depth > EXEC_DEPTH_BLOCK ? rows * EXEC_TILE_COLUMNS * width : 0));
    f->piece_bytes = base_align_up(f->tables_at + 3 * rows * (int64_t)sizeof(int64_t));
    f->piece_at = exec_scratch_take(build, f->piece_bytes * exec_scratch_pieces(build, f->images * f->blocks, 1));
    f->packed_at = exec_scratch_take(build, f->blocks * panels_of(f) * f->depth * EXEC_TILE_COLUMNS * width);
}

bool exec_window_sum_prepare(exec_call *call, const exec_matrix *a, const exec_matrix *b, int64_t depth, const exec_window_shape *shape)
{
    window_sum *f = exec_call_take(call, sizeof *f);
    if (!f) return false;
    const int64_t *image = call->result.shape;
    *f = (window_sum){.kind = call->result.kind, .a = *a->dense, .b = *b->dense, .a_offset = a->offset, .b_offset = b->offset,
                      .depth = depth,
                      .a_rows = a->rows, .a_depth = a->columns, .b_depth = b->rows, .b_columns = b->columns,
                      .result = call->result, .canonical = call->canonical,
                      .images = image[0], .channels = image[1], .high = image[2], .wide = image[3],
                      .down = shape->windows[0], .across = shape->windows[1], .room = exec_smaller(exec_up_to(image[1], HALF), EXEC_TILE_COLUMNS)};
    f->blocks = exec_pieces(f->channels, f->room);
    for (int side = 0; side < 2; side++) {
        f->size[side] = shape->size[side];
        f->step[side] = shape->step[side];
        f->dilation[side] = shape->dilation[side];
    }
    f->groups = f->size[0] * f->size[1] * (f->room / HALF);
    f->pair = f->size[0] == 1 && f->room == HALF ? 1 : 2;
    f->together = lines_together(f->across, f->down);
    lay_room(f, call->build);
    f->places = exec_call_take(call, (size_t)f->groups * sizeof *f->places);
    if (!f->places) return false;
    for (int64_t group = 0; group < f->groups; group++) f->places[group] = place_offset(f, group);
    double multiplied = (double)(f->down * f->across * f->blocks * f->groups * HALF) * (double)depth;
    f->work_at = exec_scratch_take(call->build, sizeof(window_sum_work));
    f->by_image = (exec_images){begin_window_sum, window_sum_images, f->images,
                                multiplied * MULTIPLY_COST + (double)(f->high * f->wide * f->blocks * f->room),
                                (double)(f->channels * f->high * f->wide * base_kinds[f->kind].bytes), false};
    call->stage->prepared = f;
    exec_call_by_image(call, &f->by_image);
    if (exec_images_are_few(call->build, f->images)) {
        call->stage->run = run_blocks;
        call->stage->by_image = NULL;
    }
    return true;
}
