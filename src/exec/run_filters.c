/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The gradient of a convolution's filters where channels are in groups, or kinds of two bytes: positions of windows are the depth, a block of
 * them at a time. The images that a block's windows stand in are copied into a thread's piece, and the gradient's rows beside them; the
 * product reads through offsets, and sums stay in the piece until all positions are there. Where groups have few filters, the filters of
 * several stand side by side, and each finds its own channel beside it. The order is that of MatMul. */
#include "exec/exec_windows.h"

#include <string.h>

#define MULTIPLY_COST 0.02 /* item copies of one multiply-add */
#define FEW_FILTERS 8      /* of a group: fewer share vectors with others */
#define HALF (EXEC_TILE_COLUMNS / 2)

typedef struct filters {
    exec_windows w;
    bool along;               /* lanes are filters of several groups */
    int64_t lanes;            /* filters of a unit, at most */
    int64_t units, of_group;  /* all of them; in turn along a group, or along: all */
    int64_t depth, area, positions;
    int64_t image_items, slots; /* an image in a piece; how many at once */
    int64_t *row, *to;        /* [depth] */
    double unit_cost;
    int64_t piece_at, piece_bytes;                              /* scratch */
    int64_t panel_at, sheet_at, raw_at, sheet_halves_at; /* bytes into a piece */
} filters;

typedef struct filters_work {
    exec_run *run;
    const filters *facts;
    const char *x, *gradient;
    char *result;
} filters_work;

/* Filters of a unit: [groups, each] of them. */
typedef struct unit {
    int64_t group, groups, filter, each;
} unit;

static int64_t width_of(const filters *f) { return base_kinds[f->w.kind].bytes; }
static bool is_half(const filters *f) { return f->w.kind != f->w.sums; }

static unit unit_at(const filters *f, int64_t number)
{
    if (f->along) {
        int64_t groups = f->lanes / f->w.each, group = number * groups;
        return (unit){group, exec_smaller(groups, f->w.groups - group), 0, f->w.each};
    }
    int64_t filter = number % f->of_group * f->lanes;
    return (unit){number / f->of_group, 1, filter, exec_smaller(f->lanes, f->w.each - filter)};
}

/* Items to where the sums' kind has them. */
static void widen(const filters_work *work, const char *from, char *to, int64_t count)
{
    work->run->kernels->convert(work->facts->w.kind, work->facts->w.sums, true)(to, (const void *const[]){from}, 0, count);
}

static void stage_image(const filters_work *work, const unit *u, int64_t image, char *piece)
{
    const filters *f = work->facts;
    const exec_windows *w = &f->w;
    int64_t width = width_of(f), side = f->along ? EXEC_TILE_COLUMNS : 1, line = w->extent[1] * side, plane = w->extent[0] * line;
    char *slot = piece + image % f->slots * f->image_items * exec_windows_width(w), *to = is_half(f) ? piece + f->raw_at : slot;
    const char *from = work->x + (image * w->x_stride[0] + u->group * w->channels * w->x_stride[1]) * width;
    exec_copying copy = {.item_bytes = (size_t)width, .rank = 3, .shape = {w->channels, w->inner[0], w->inner[1]},
                         .to_stride = {plane, line, side}, .from_stride = {w->x_stride[1], w->x_stride[2], w->x_stride[3]}, .items = from,
                         .result = to + (w->start[0] * line + w->start[1] * side) * width};
    if (f->along) { /* each filter its channels */
        copy.rank = w->each > 1 ? 5 : 4;
        copy.shape[3] = u->groups;
        copy.to_stride[3] = w->each;
        copy.from_stride[3] = w->channels * w->x_stride[1];
        copy.shape[4] = w->each;
        copy.to_stride[4] = 1;
        copy.from_stride[4] = 0;
    }
    work->run->kernels->copy(&copy, (exec_range){0, copy.shape[0]});
    if (is_half(f)) widen(work, to, slot, f->image_items);
}

/* The gradient's rows of a block of positions, each group's filters side by side. */
static void stage_panel(const filters_work *work, const unit *u, int64_t position, int64_t depth, char *piece)
{
    const filters *f = work->facts;
    const exec_windows *w = &f->w;
    int64_t width = width_of(f), row = w->gradient_stride[4];
    char *panel = piece + f->panel_at, *to = is_half(f) ? piece + f->raw_at + f->image_items * width : panel;
    exec_copying copy = {.item_bytes = (size_t)width, .rank = 3, .shape = {depth, u->groups, u->each},
                         .to_stride = {EXEC_TILE_COLUMNS, u->each, 1}, .from_stride = {row, w->gradient_stride[1], w->gradient_stride[2]},
                         .items = work->gradient + (position * row + u->group * w->gradient_stride[1] + u->filter * w->gradient_stride[2]) * width,
                         .result = to};
    work->run->kernels->copy(&copy, (exec_range){0, depth});
    if (is_half(f)) widen(work, to, panel, depth * EXEC_TILE_COLUMNS);
}

/* Where the windows of positions begin in the piece. */
static void place_steps(const filters *f, int64_t position, int64_t depth, int64_t *step)
{
    const exec_windows *w = &f->w;
    int64_t side = f->along ? EXEC_TILE_COLUMNS : 1;
    for (int64_t k = 0; k < depth; k++, position++) {
        int64_t place = position % f->area, row = place / w->windows[1] * w->step[0], column = place % w->windows[1] * w->step[1];
        step[k] = position / f->area % f->slots * f->image_items + (row * w->extent[1] + column) * side;
    }
}

/* Sums [depth, lanes] to the result [group, depth, each]. */
static void unload(const filters_work *work, const unit *u, char *piece)
{
    const filters *f = work->facts;
    int64_t width = width_of(f), each = f->w.each;
    char *items = piece + f->sheet_at;
    if (is_half(f)) {
        char *halves = piece + f->sheet_halves_at;
        work->run->kernels->convert(f->w.sums, f->w.kind, true)(halves, (const void *const[]){items}, 0, f->depth * EXEC_TILE_COLUMNS);
        items = halves;
    }
    exec_canonical(work->run, f->w.call.canonical, f->w.kind, items, f->depth * EXEC_TILE_COLUMNS);
    exec_copying copy = {.item_bytes = (size_t)width, .rank = 3, .shape = {f->depth, u->groups, u->each},
                         .to_stride = {each, f->depth * each, 1}, .from_stride = {EXEC_TILE_COLUMNS, u->each, 1}, .items = items,
                         .result = work->result + (u->group * f->depth * each + u->filter) * width};
    work->run->kernels->copy(&copy, (exec_range){0, f->depth});
}

static void fill_piece(const filters *f, char *piece)
{
    char item[sizeof(double)];
    base_number_store(f->w.kind, item, 0, base_number_from_double(f->w.kind, f->w.fill));
    memset(piece, 0, (size_t)f->piece_bytes);
    if (is_half(f)) exec_fill(piece + f->raw_at, item, (size_t)width_of(f), f->image_items);
    else exec_fill(piece, item, (size_t)width_of(f), f->slots * f->image_items);
}

static void filters_part(void *context, exec_range units, uint32_t thread)
{
    const filters_work *work = context;
    const filters *f = work->facts;
    char *piece = work->run->scratch + f->piece_at + thread * f->piece_bytes;
    int64_t step[EXEC_DEPTH_BLOCK];
    for (int64_t number = units.first; number < units.end; number++) {
        unit u = unit_at(f, number);
        int64_t staged = 0;
        fill_piece(f, piece);
        exec_gathering g = {.kind = f->w.sums, .rows = f->depth, .columns = exec_up_to(u.groups * u.each, HALF), .b_row = EXEC_TILE_COLUMNS,
                            .apart = HALF, .a = piece, .b = piece + f->panel_at, .row = f->row, .to = f->to, .step = step,
                            .result = piece + f->sheet_at, .along = f->along};
        for (int64_t k = 0; k == 0 || k < f->positions; k += EXEC_DEPTH_BLOCK) {
            if (atomic_load_explicit(work->run->stop, memory_order_relaxed)) return;
            g.depth = exec_smaller(f->positions - k, EXEC_DEPTH_BLOCK);
            g.first = k == 0;
            for (; g.depth > 0 && staged <= (k + g.depth - 1) / f->area; staged++) stage_image(work, &u, staged, piece);
            if (g.depth > 0) stage_panel(work, &u, k, g.depth, piece);
            place_steps(f, k, g.depth, step);
            work->run->kernels->gather_product(&g);
        }
        unload(work, &u, piece);
    }
}

static void run_filters(exec_run *run, const exec_stage *stage)
{
    const filters *f = stage->prepared;
    filters_work work = {.run = run, .facts = f, .x = exec_items(run, &f->w.x), .gradient = exec_items(run, &f->w.gradient),
                         .result = exec_items(run, &f->w.call.result)};
    exec_run_split(run, f->units, 1, f->unit_cost, filters_part, &work);
}

static bool lay_rows(filters *f)
{
    const exec_windows *w = &f->w;
    int64_t taps = w->size[0] * w->size[1], side = f->along ? EXEC_TILE_COLUMNS : 1;
    f->row = exec_call_take(&w->call, (size_t)(f->depth + 1) * sizeof *f->row);
    f->to = exec_call_take(&w->call, (size_t)(f->depth + 1) * sizeof *f->to);
    if (!f->row || !f->to) return false;
    for (int64_t k = 0; k < f->depth; k++) {
        int64_t y = k % taps / w->size[1] * w->dilation[0], x = k % w->size[1] * w->dilation[1];
        f->row[k] = ((k / taps * w->extent[0] + y) * w->extent[1] + x) * side;
        f->to[k] = k * EXEC_TILE_COLUMNS;
    }
    return true;
}

/* A thread's piece: images, a panel of the gradient, sums; for kinds of two bytes, one image, a panel and sums of them. */
static void lay_room(filters *f, exec_build *build)
{
    int64_t width = exec_windows_width(&f->w), panel = EXEC_DEPTH_BLOCK * EXEC_TILE_COLUMNS, sheet = f->depth * EXEC_TILE_COLUMNS;
    f->panel_at = base_align_up((f->slots * f->image_items + EXEC_TILE_COLUMNS) * width);
    f->sheet_at = f->panel_at + panel * width;
    f->raw_at = base_align_up(f->sheet_at + sheet * width);
    f->sheet_halves_at = base_align_up(f->raw_at + (is_half(f) ? (f->image_items + panel) * 2 : 0));
    f->piece_bytes = base_align_up(f->sheet_halves_at + (is_half(f) ? sheet * 2 : 0));
    f->piece_at = exec_scratch_take(build, f->piece_bytes * exec_scratch_pieces(build, f->units, 1));
}

bool exec_filters_prepare(exec_build *build, uint32_t index, exec_stage *stage)
{
    exec_windows windows;
    if (!exec_windows_of(build, index, stage, &windows)) return false;
    filters *f = exec_call_take(&windows.call, sizeof *f);
    if (!f) return false;
    const exec_windows *w = &f->w;
    f->w = windows;
    stage->prepared = f;
    stage->run = run_filters;
    if (w->call.result.volume == 0) return true;
    f->along = w->groups > 1 && w->each < FEW_FILTERS && w->sums == WG_KIND_F32;
    bool narrow = w->groups * w->each < EXEC_TILE_COLUMNS * (int64_t)build->threads;
    f->lanes = f->along ? (narrow ? HALF : EXEC_TILE_COLUMNS) / w->each * w->each : narrow ? HALF : EXEC_TILE_COLUMNS;
    f->of_group = exec_pieces(w->each, f->lanes);
    f->units = f->along ? exec_pieces(w->groups * w->each, f->lanes) : w->groups * f->of_group;
    f->depth = w->channels * w->size[0] * w->size[1];
    f->area = w->windows[0] * w->windows[1];
    f->positions = w->images * f->area;
    f->image_items = w->channels * w->extent[0] * w->extent[1] * (f->along ? EXEC_TILE_COLUMNS : 1);
    f->slots = f->area ? exec_smaller(EXEC_DEPTH_BLOCK / f->area + 2, w->images) : 0;
    f->unit_cost = (double)f->depth * (double)f->positions * (double)f->lanes * MULTIPLY_COST + 1;
    stage->cost = (double)f->units * f->unit_cost;
    if (!lay_rows(f)) return false;
    lay_room(f, build);
    return true;
}
