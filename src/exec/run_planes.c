/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Convolutions by planes: an image's channels of one group are copied into a thread's piece, padded, the columns and rows that a step has
 * between its windows put into planes of their own; then what one weight multiplies are neighbours, and nothing is unfolded. So are the
 * gradients of images, whose windows are found from what they lie over: a place of an image gets what the windows over it have, window rows
 * ascending, the columns of each ascending, as the two Folds add them. The orders are those of MatMul and Fold.
 *
 * Maxima and sums over windows that overlap read such planes too, each channel by itself; what goes back through a maximum lies in a plane for
 * each place of a window, before it is added back like the rest.
 *
 * A gradient's planes have zeros around them, where there is no window. A product with them is a zero, which changes no sum (none is -0),
 * unless a weight is infinite or NaN: then each place is computed again over the windows that there are. */
#include "exec/exec_windows.h"

#include <string.h>

#define MULTIPLY_COST 0.02 /* item copies of one multiply-add */
#define SHEET_ROWS 4       /* of results that are computed beside */

/* Places of the result that have the same steps: all, or those of a gradient that are a step apart. */
typedef struct phase {
    int64_t at[2], extent[2], first, chains;
} phase;

/* Planes side by side: those that one plane is cut into are an item's `channel_items`. */
typedef struct lying {
    int64_t high, wide, channel_items;
} lying;

typedef struct planes {
    exec_windows w;
    bool back, slope;            /* slope: back through a maximum, which looks at the images */
    int64_t rows, staged;        /* results and planes of a group */
    int64_t chained;             /* steps of a tap: planes, or the one that a slope has for it */
    lying to, images;            /* what steps read; images, where a slope looks at them */
    int64_t before[2];           /* zeros in front */
    int64_t apart[2], area[2];   /* of a result: places of a phase; all places */
    int64_t steps, phase_count;
    phase *phases;
    exec_chain *chains;
    int64_t *chain_at[2];        /* of a gradient: places between a window and what it lies over */
    int64_t *tap;                /* [taps] where each finds the images */
    int64_t *step, *weight;      /* [steps] offsets into a piece; where weights of row 0 stand in a group's bank */
    int64_t weight_row;
    int64_t parts, part_rows;    /* a group's rows in parts */
    double unit_cost;
    int64_t piece_items, packed_at, wild_at, piece_at, piece_bytes; /* scratch */
    int64_t raw_at, sheet_at, halves_at, chains_at, sheet_items;    /* bytes into a piece */
    int64_t images_at, slope_at, lines_at;                          /* of a slope: images, gradient, results of a short line */
} planes;

typedef struct planes_work {
    exec_run *run;
    const planes *facts;
    const char *from, *bank;
    char *result, *packed;
    bool *wild;   /* [group] a weight is no number */
    bool *filled; /* [thread] its piece has its paddings */
} planes_work;

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t in_steps(int64_t count, int64_t step) { return count > 0 ? exec_pieces(count, step) : 0; }
static int64_t width_of(const planes *f) { return base_kinds[f->w.kind].bytes; }
static bool is_half(const planes *f) { return f->w.kind != f->w.sums; }

/* ---- weights ---- */

static void pack_steps(void *context, exec_range steps, uint32_t thread)
{
    const planes_work *work = context;
    const planes *f = work->facts;
    (void)thread;
    for (int64_t i = steps.first; i < steps.end; i++) {
        int64_t group = i / f->steps, k = i % f->steps, from = group * f->w.bank_stride[0] + f->weight[k], to = i * f->rows;
        for (int64_t r = 0; r < f->rows; r++, from += f->weight_row, to++) {
            if (!f->w.has_bank && f->w.sums == WG_KIND_F64) ((double *)work->packed)[to] = 1;
            else if (!f->w.has_bank) ((float *)work->packed)[to] = 1;
            else if (f->w.kind == WG_KIND_F64) ((double *)work->packed)[to] = ((const double *)work->bank)[from];
            else if (f->w.kind == WG_KIND_F32) ((float *)work->packed)[to] = ((const float *)work->bank)[from];
            else if (f->w.kind == WG_KIND_F16) ((float *)work->packed)[to] = base_f16_to_f32(((const uint16_t *)work->bank)[from]);
            else ((float *)work->packed)[to] = base_bf16_to_f32(((const uint16_t *)work->bank)[from]);
        }
    }
}

static void find_wild(const planes_work *work)
{
    const planes *f = work->facts;
    int64_t width = exec_windows_width(&f->w), count = f->steps * f->rows;
    memset(work->wild, 0, (size_t)f->w.groups * sizeof *work->wild);
    for (int64_t group = 0; f->back && f->w.has_bank && group < f->w.groups; group++) {
        uint64_t bits = work->run->kernels->largest(width, work->packed + group * count * width, count);
        work->wild[group] = bits >= (width == 8 ? (uint64_t)0x7ff << 52 : (uint64_t)0x7f800000);
    }
}

/* ---- planes of an image's group ---- */

static char *piece_of(const planes_work *work, uint32_t thread)
{
    return work->run->scratch + work->facts->piece_at + thread * work->facts->piece_bytes;
}

/* Items inside of the paddings of those planes that steps read. */
static void stage_image(const planes_work *work, const lying *l, const char *from, char *to)
{
    const planes *f = work->facts;
    const exec_windows *w = &f->w;
    int64_t width = width_of(f);
    for (int64_t a = 0; a < w->step[0]; a++)
        for (int64_t b = 0; b < w->step[1]; b++) {
            bool read[2] = {false, false};
            const int64_t at[2] = {a, b};
            int64_t first[2], end[2];
            for (int side = 0; side < 2; side++) {
                for (int64_t i = 0; i < w->size[side]; i++) read[side] |= i * w->dilation[side] % w->step[side] == at[side];
                first[side] = in_steps(w->start[side] - at[side], w->step[side]);
                end[side] = most(first[side], in_steps(w->start[side] + w->inner[side] - at[side], w->step[side]));
            }
            if (!read[0] || !read[1]) continue;
            exec_copying copy = {.item_bytes = (size_t)width, .rank = 3,
                                 .shape = {w->channels, end[0] - first[0], end[1] - first[1]},
                                 .to_stride = {l->channel_items, l->wide, 1},
                                 .from_stride = {w->x_stride[1], w->x_stride[2] * w->step[0], w->x_stride[3] * w->step[1]}};
            copy.items = from + ((first[0] * w->step[0] + a - w->start[0]) * w->x_stride[2] +
                                 (first[1] * w->step[1] + b - w->start[1]) * w->x_stride[3]) * width;
            copy.result = to + (((a * w->step[1] + b) * l->high + first[0]) * l->wide + first[1]) * width;
            if (copy.shape[1] > 0 && copy.shape[2] > 0) work->run->kernels->copy(&copy, (exec_range){0, w->channels});
        }
}

static void widen(const planes_work *work, const char *from, char *to, int64_t count)
{
    work->run->kernels->convert(work->facts->w.kind, work->facts->w.sums, true)(to, (const void *const[]){from}, 0, count);
}

static void stage_gradient(const planes_work *work, const char *from, char *to)
{
    const planes *f = work->facts;
    const exec_windows *w = &f->w;
    exec_copying copy = {.item_bytes = (size_t)width_of(f), .rank = 3, .shape = {w->each, w->windows[0], w->windows[1]},
                         .to_stride = {f->to.channel_items, f->to.wide, 1},
                         .from_stride = {w->gradient_stride[2], w->gradient_stride[3], w->gradient_stride[4]},
                         .items = from, .result = to + (f->before[0] * f->to.wide + f->before[1]) * width_of(f)};
    if (copy.shape[1] > 0 && copy.shape[2] > 0) work->run->kernels->copy(&copy, (exec_range){0, w->each});
}

/* Maxima or sums over windows of one channel, or what goes back through maxima: a window's places find their items from `images` on. */
static exec_window_row row_of_windows(const planes_work *work, const lying *l, const char *images)
{
    const planes *f = work->facts;
    exec_window_row row = {.kind = f->w.sums, .relu = f->w.over == EXEC_OVER_MAXIMUM_OF_RELU, .sum = f->w.over == EXEC_OVER_SUM,
                           .positions = f->w.size[0] * f->w.size[1], .items_step = l->wide};
    for (int64_t j = 0; j < row.positions; j++) row.items[j] = images + f->tap[j] * exec_windows_width(&f->w);
    return row;
}

/* What goes back to each place of windows, a plane for each. Short lines are computed beside, since there must be room for a whole vector. */
static void pass_back(const planes_work *work, char *piece)
{
    const planes *f = work->facts;
    int64_t width = exec_windows_width(&f->w), windows = f->w.windows[0], run = f->w.windows[1];
    bool is_short = run < EXEC_WINDOW_RUN;
    int64_t lines = is_short ? windows : 1;
    char *first = piece + (f->before[0] * f->to.wide + f->before[1]) * width, *beside = piece + f->lines_at;
    for (int64_t line = 0; line < lines && run > 0; line++) {
        exec_window_row row = row_of_windows(work, &f->images, piece + f->images_at + line * f->images.wide * width);
        row.windows = is_short ? 1 : windows;
        row.run = run;
        row.result_step = f->to.wide;
        row.gradient = piece + f->slope_at + line * run * width;
        for (int64_t j = 0; j < row.positions; j++)
            row.result[j] = is_short ? beside + j * EXEC_WINDOW_RUN * width : first + j * f->to.channel_items * width;
        work->run->kernels->window_fold(&row);
        for (int64_t j = 0; is_short && j < row.positions; j++)
            memcpy(first + (j * f->to.channel_items + line * f->to.wide) * width, row.result[j], (size_t)(run * width));
    }
}

static void stage_slope(const planes_work *work, int64_t image, int64_t group, const char *images, char *piece)
{
    const planes *f = work->facts;
    const exec_windows *w = &f->w;
    int64_t width = width_of(f), places = w->windows[0] * w->windows[1];
    char *raw = piece + (is_half(f) ? f->raw_at : f->images_at), *slope = is_half(f) ? raw + f->images.channel_items * width : piece + f->slope_at;
    stage_image(work, &f->images, images, raw);
    exec_copying copy = {.item_bytes = (size_t)width, .rank = 2, .shape = {w->windows[0], w->windows[1]}, .to_stride = {w->windows[1], 1},
                         .from_stride = {w->gradient_stride[3], w->gradient_stride[4]}, .result = slope,
                         .items = work->from + (image * w->gradient_stride[0] + group * w->gradient_stride[1]) * width};
    if (places > 0) work->run->kernels->copy(&copy, (exec_range){0, w->windows[0]});
    if (is_half(f)) {
        widen(work, raw, piece + f->images_at, f->images.channel_items);
        widen(work, slope, piece + f->slope_at, places);
    }
    pass_back(work, piece);
}

/* Items of two bytes are widened as a whole. */
static void stage_planes(const planes_work *work, int64_t image, int64_t group, char *piece)
{
    const planes *f = work->facts;
    const exec_windows *w = &f->w;
    char *to = is_half(f) ? piece + f->raw_at : piece;
    const char *images = (f->slope ? exec_items(work->run, &w->x) : work->from) + (image * w->x_stride[0] + group * w->channels * w->x_stride[1]) * width_of(f);
    if (f->slope) {
        stage_slope(work, image, group, images, piece);
        return;
    }
    if (f->back) stage_gradient(work, work->from + (image * w->gradient_stride[0] + group * w->gradient_stride[1]) * width_of(f), to);
    else stage_image(work, &f->to, images, to);
    if (is_half(f)) widen(work, to, piece, f->piece_items);
}

/* Paddings, once a run: the items inside change. What steps read of planes beyond their last items is not used. */
static void fill_piece(const planes_work *work, char *piece)
{
    const planes *f = work->facts;
    int64_t width = exec_windows_width(&f->w), count = f->slope ? f->images.channel_items : f->piece_items;
    char item[sizeof(double)], *images = is_half(f) ? piece + f->raw_at : f->slope ? piece + f->images_at : piece;
    base_number_store(f->w.kind, item, 0, base_number_from_double(f->w.kind, f->back && !f->slope ? 0 : f->w.fill));
    exec_fill(images, item, (size_t)width_of(f), count);
    if (f->slope) memset(piece, 0, (size_t)(f->piece_items * width));
    memset(piece + f->piece_items * width, 0, (size_t)(EXEC_PLANE_SLACK * width));
    if (f->slope) memset(piece + f->images_at + count * width, 0, (size_t)(EXEC_PLANE_SLACK * width));
}

/* ---- results ---- */

static exec_planes call_of_phase(const planes_work *work, int64_t group, const phase *at, int64_t row, int64_t rows, const char *piece)
{
    const planes *f = work->facts;
    int64_t width = exec_windows_width(&f->w);
    return (exec_planes){.kind = f->w.sums, .rounded = f->w.kind, .rows = rows, .chains = at->chains, .x_line = f->to.wide, .weights_row = f->rows,
                         .x = piece, .step = f->step, .chain = f->chains + at->first,
                         .weights = work->packed + (group * f->steps * f->rows + row) * width};
}

/* Items of a sheet [rows, lines, pitch] to their places. */
static void unload(const planes_work *work, const phase *at, int64_t rows, int64_t pitch, char *piece, char *result)
{
    const planes *f = work->facts;
    int64_t width = width_of(f), lines = at->extent[0], places = at->extent[1];
    const char *items = piece + f->sheet_at;
    if (is_half(f)) {
        work->run->kernels->convert(f->w.sums, f->w.kind, true)(piece + f->halves_at, (const void *const[]){items}, 0, rows * lines * pitch);
        items = piece + f->halves_at;
    }
    exec_copying copy = {.item_bytes = (size_t)width, .rank = 3, .shape = {rows, lines, places},
                         .to_stride = {f->area[0] * f->area[1], f->apart[0] * f->area[1], f->apart[1]},
                         .from_stride = {lines * pitch, pitch, 1}, .items = items,
                         .result = result + (at->at[0] * f->area[1] + at->at[1]) * width};
    work->run->kernels->copy(&copy, (exec_range){0, rows});
}

/* Lines of the result are too short for vectors: all lines as one, with what lies between them. */
static bool runs_on(const planes *f, const phase *at)
{
    return at->extent[1] < EXEC_PLANE_SLACK || f->to.wide == at->extent[1];
}

/* Rows of a phase; bias: of the first. */
static void run_phase(const planes_work *work, int64_t group, const phase *at, int64_t row, int64_t rows, const void *bias, char *piece,
                      char *result)
{
    const planes *f = work->facts;
    int64_t width = exec_windows_width(&f->w), lines = at->extent[0], places = at->extent[1], pitch = runs_on(f, at) ? f->to.wide : places;
    if (lines == 0 || places == 0) return;
    bool direct = !is_half(f) && f->phase_count == 1 && pitch == places;
    for (int64_t r = 0, count; r < rows; r += count) {
        count = direct ? rows : exec_smaller(rows - r, SHEET_ROWS);
        exec_planes call = call_of_phase(work, group, at, row + r, count, piece);
        call.lines = runs_on(f, at) ? 1 : lines;
        call.places = runs_on(f, at) ? (lines - 1) * pitch + places : places;
        call.result_line = pitch;
        call.result_row = lines * pitch;
        call.bias = bias ? (const char *)bias + r * width : NULL;
        char *to = result + r * f->area[0] * f->area[1] * width_of(f);
        call.result = direct ? to : piece + f->sheet_at;
        work->run->kernels->plane_product(&call);
        if (!direct) unload(work, at, count, pitch, piece, to);
    }
}

/* Maxima or sums; lines that are too short for vectors are one, with what lies between them. */
static void run_windows(const planes_work *work, char *piece, char *result)
{
    const planes *f = work->facts;
    const phase *at = f->phases;
    bool one = at->extent[1] < EXEC_WINDOW_RUN, beside = one || is_half(f);
    exec_window_row row = row_of_windows(work, &f->to, piece);
    row.windows = one ? 1 : at->extent[0];
    row.run = one ? (at->extent[0] - 1) * f->to.wide + at->extent[1] : at->extent[1];
    row.result[0] = beside ? piece + f->sheet_at : result;
    work->run->kernels->window_fold(&row);
    if (beside) unload(work, at, 1, one ? f->to.wide : at->extent[1], piece, result);
}

/* The chains of one place over the windows that there are; answers how many. */
static int64_t chains_there(const planes *f, const phase *at, const int64_t place[2], exec_chain *chains)
{
    int64_t count = 0, row = -1;
    for (int64_t i = at->first; i < at->first + at->chains; i++) {
        int64_t window[2] = {place[0] - f->chain_at[0][i], place[1] - f->chain_at[1][i]};
        if (window[0] < 0 || window[0] >= f->w.windows[0] || window[1] < 0 || window[1] >= f->w.windows[1]) continue;
        if (count && window[0] != row) chains[count - 1].end = EXEC_CHAIN_LINE;
        row = window[0];
        chains[count] = f->chains[i];
        if (chains[count].end == EXEC_CHAIN_LINE) chains[count].end = EXEC_CHAIN_PRODUCT;
        count++;
    }
    if (count) chains[count - 1].end = EXEC_CHAIN_LINE;
    return count;
}

/* A place at a time. */
static void run_wild(const planes_work *work, int64_t group, const phase *at, int64_t row, int64_t rows, char *piece, char *result)
{
    const planes *f = work->facts;
    exec_chain *chains = (exec_chain *)(void *)(piece + f->chains_at);
    phase one = {.extent = {1, 1}};
    for (int64_t i = 0; i < at->extent[0] * at->extent[1]; i++) {
        int64_t place[2] = {i / at->extent[1], i % at->extent[1]};
        one.at[0] = at->at[0] + place[0] * f->apart[0];
        one.at[1] = at->at[1] + place[1] * f->apart[1];
        int64_t count = chains_there(f, at, place, chains);
        for (int64_t r = 0; r < rows; r += SHEET_ROWS) {
            exec_planes call = call_of_phase(work, group, at, row + r, exec_smaller(rows - r, SHEET_ROWS), piece);
            call.chain = chains;
            call.chains = count;
            call.x = piece + (place[0] * f->to.wide + place[1]) * exec_windows_width(&f->w);
            call.lines = call.places = call.result_row = 1;
            call.result = piece + f->sheet_at;
            work->run->kernels->plane_product(&call);
            unload(work, &one, call.rows, 1, piece, result + r * f->area[0] * f->area[1] * width_of(f));
        }
    }
}

/* A bias where rows find theirs. */
static const void *bias_of(const planes_work *work, int64_t row, int64_t rows, char *to)
{
    const exec_windows *w = &work->facts->w;
    if (!w->has_bias) return NULL;
    const char *from = exec_items(work->run, &w->bias);
    for (int64_t r = 0; r < rows; r++) {
        double number = base_number_to_double(w->kind, base_number_load(w->kind, from, (row + r) * w->bias.strides[0]));
        if (w->sums == WG_KIND_F64) ((double *)(void *)to)[r] = number;
        else ((float *)(void *)to)[r] = (float)number;
    }
    return to;
}

static void planes_part(void *context, exec_range units, uint32_t thread)
{
    const planes_work *work = context;
    const planes *f = work->facts;
    char *piece = piece_of(work, thread);
    int64_t plane = f->area[0] * f->area[1], staged = -1;
    if (!work->filled[thread]) fill_piece(work, piece);
    work->filled[thread] = true;
    for (int64_t unit = units.first; unit < units.end && !atomic_load_explicit(work->run->stop, memory_order_relaxed); unit++) {
        int64_t of = unit / f->parts, image = of / f->w.groups, group = of % f->w.groups, row = unit % f->parts * f->part_rows;
        int64_t rows = exec_smaller(f->rows - row, f->part_rows), first = of * f->rows + row;
        if (of != staged) stage_planes(work, image, group, piece);
        staged = of;
        char *result = work->result + first * plane * width_of(f);
        const void *bias = bias_of(work, group * f->rows + row, rows, piece + f->chains_at);
        for (int64_t p = 0; p < f->phase_count; p++) {
            if (f->w.over != EXEC_OVER_PRODUCT && !f->back) run_windows(work, piece, result);
            else if (f->back && work->wild[group]) run_wild(work, group, &f->phases[p], row, rows, piece, result);
            else run_phase(work, group, &f->phases[p], row, rows, bias, piece, result);
        }
        exec_canonical(work->run, f->w.call.canonical, f->w.kind, result, rows * plane);
    }
}

static void run_planes(exec_run *run, const exec_stage *stage)
{
    const planes *f = stage->prepared;
    int64_t units = f->w.images * f->w.groups * f->parts;
    planes_work work = {.run = run, .facts = f, .from = exec_items(run, f->back ? &f->w.gradient : &f->w.x),
                        .bank = f->w.has_bank ? exec_items(run, &f->w.bank) : NULL, .result = exec_items(run, &f->w.call.result),
                        .packed = run->scratch + f->packed_at, .wild = (bool *)run->scratch + f->wild_at};
    if (units == 0 || f->rows == 0) return;
    if (f->steps) exec_run_split(run, f->w.groups * f->steps, 16, (double)f->rows, pack_steps, &work);
    find_wild(&work);
    work.filled = work.wild + f->w.groups;
    memset(work.filled, 0, run->threads * sizeof *work.filled);
    exec_run_split(run, units, 1, f->unit_cost, planes_part, &work);
}

/* ---- tables ---- */

/* Steps of a tap of all planes that it reads: chains of a depth block; `end` is told by the last one. */
static void add_chains(planes *f, phase *p, int64_t at0, int64_t at1, int end)
{
    for (int64_t k = 0; k == 0 || k < f->chained; k += EXEC_DEPTH_BLOCK) {
        int64_t steps = exec_smaller(f->chained - k, EXEC_DEPTH_BLOCK), i = p->first + p->chains++;
        bool whole = k + steps == f->chained;
        f->chains[i] = (exec_chain){(int32_t)(f->steps + k), (int32_t)steps, whole ? (unsigned)end : EXEC_CHAIN_BLOCK};
        f->chain_at[0][i] = at0;
        f->chain_at[1][i] = at1;
    }
    f->steps += f->chained;
}

/* Rows of taps from the last one up, columns too: windows ascend. */
static void lay_back(planes *f, phase *p)
{
    const exec_windows *w = &f->w;
    for (int64_t y = w->size[0]; y-- > 0;)
        for (int64_t x = w->size[1]; x-- > 0;) {
            if (y * w->dilation[0] % w->step[0] != p->at[0] || x * w->dilation[1] % w->step[1] != p->at[1]) continue;
            int64_t at0 = y * w->dilation[0] / w->step[0], at1 = x * w->dilation[1] / w->step[1];
            for (int64_t k = 0; k < f->chained; k++) {
                f->step[f->steps + k] = (f->slope ? y * w->size[1] + x : k) * f->to.channel_items + (f->before[0] - at0) * f->to.wide + f->before[1] - at1;
                f->weight[f->steps + k] = k * w->bank_stride[1] + (y * w->size[1] + x) * w->bank_stride[2];
            }
            bool more = false; /* taps of the same row */
            for (int64_t next = x; next-- > 0;) more |= next * w->dilation[1] % w->step[1] == p->at[1];
            add_chains(f, p, at0, at1, more ? EXEC_CHAIN_PRODUCT : EXEC_CHAIN_LINE);
        }
}

/* Taps in the order of the matrix of windows: one chain, in blocks. It is all of the result, and rounded as that: nothing ends it (a sum that
 * is rounded to -0 would be lost where it is added to a line's +0). */
static void lay_forward(planes *f, phase *p)
{
    int64_t taps = f->w.size[0] * f->w.size[1];
    f->chained = f->w.channels * taps;
    for (int64_t k = 0; k < f->chained; k++) {
        f->step[k] = k / taps * f->to.channel_items + f->tap[k % taps];
        f->weight[k] = k * f->w.bank_stride[1];
    }
    add_chains(f, p, 0, 0, EXEC_CHAIN_BLOCK);
}

/* Where the windows' places find their items. */
static void lay_taps(planes *f, const lying *l)
{
    const exec_windows *w = &f->w;
    for (int64_t j = 0; j < w->size[0] * w->size[1]; j++) {
        int64_t y = j / w->size[1] * w->dilation[0], x = j % w->size[1] * w->dilation[1];
        int64_t cut = y % w->step[0] * w->step[1] + x % w->step[1];
        f->tap[j] = (cut * l->high + y / w->step[0]) * l->wide + x / w->step[1];
    }
}

static lying lying_of(const int64_t extents[2], int64_t cuts)
{
    return (lying){extents[0], extents[1], cuts * extents[0] * extents[1]};
}

static void lay_extents(planes *f)
{
    const exec_windows *w = &f->w;
    int64_t cut[2], over[2];
    for (int side = 0; side < 2; side++) {
        f->apart[side] = f->back ? w->step[side] : 1;
        f->area[side] = f->back ? w->extent[side] : w->windows[side];
        f->before[side] = f->back ? (w->size[side] - 1) * w->dilation[side] / w->step[side] : 0;
        cut[side] = in_steps(w->extent[side], w->step[side]);
        over[side] = f->before[side] + most(w->windows[side], cut[side]);
    }
    f->images = lying_of(cut, w->step[0] * w->step[1]);
    f->to = f->back ? lying_of(over, 1) : f->images;
    f->rows = f->back ? w->channels : w->each;
    f->chained = f->slope ? 1 : w->each;
    f->staged = f->slope ? w->size[0] * w->size[1] : f->back ? w->each : w->channels;
    f->piece_items = f->staged * f->to.channel_items;
    f->weight_row = (f->back ? w->size[0] * w->size[1] : 1) * w->bank_stride[2];
}

static bool lay_tables(planes *f)
{
    const exec_windows *w = &f->w;
    int64_t taps = w->size[0] * w->size[1], steps = taps * most(w->each, w->channels), chains = taps * (w->each / EXEC_DEPTH_BLOCK + 2) + steps / EXEC_DEPTH_BLOCK;
    f->phase_count = f->apart[0] * f->apart[1];
    f->phases = exec_call_take(&w->call, (size_t)f->phase_count * sizeof *f->phases);
    f->chains = exec_call_take(&w->call, (size_t)chains * sizeof *f->chains);
    for (int side = 0; side < 2; side++) f->chain_at[side] = exec_call_take(&w->call, (size_t)chains * sizeof(int64_t));
    f->tap = exec_call_take(&w->call, (size_t)(taps + 1) * sizeof *f->tap);
    f->step = exec_call_take(&w->call, (size_t)(steps + 1) * sizeof *f->step);
    f->weight = exec_call_take(&w->call, (size_t)(steps + 1) * sizeof *f->weight);
    if (!f->phases || !f->chains || !f->chain_at[0] || !f->chain_at[1] || !f->tap || !f->step || !f->weight) return false;
    lay_taps(f, &f->images);
    for (int64_t i = 0, first = 0; i < f->phase_count; i++) {
        phase *p = &f->phases[i];
        *p = (phase){.at = {i / f->apart[1], i % f->apart[1]}, .first = first};
        for (int side = 0; side < 2; side++) p->extent[side] = in_steps(f->area[side] - p->at[side], f->apart[side]);
        if (f->back) lay_back(f, p);
        else if (w->over == EXEC_OVER_PRODUCT) lay_forward(f, p);
        first += p->chains;
    }
    return true;
}

static int64_t room_after(int64_t at, int64_t bytes) { return base_align_up(at + bytes); }

/* A thread's piece: planes, their items of two bytes, results beside, chains of one place; of a slope what it looks at. */
static void lay_room(planes *f, exec_build *build)
{
    int64_t width = exec_windows_width(&f->w), sheet = 1, chains = 0, places = f->w.windows[0] * f->w.windows[1];
    for (int64_t i = 0; i < f->phase_count; i++) {
        const phase *p = &f->phases[i];
        sheet = most(sheet, p->extent[0] * most(p->extent[1], runs_on(f, p) ? f->to.wide : 0));
        chains = most(chains, p->chains);
    }
    bool direct = !is_half(f) && !f->back && f->w.over == EXEC_OVER_PRODUCT && (!runs_on(f, f->phases) || f->to.wide == f->phases->extent[1]);
    f->sheet_items = direct ? 0 : SHEET_ROWS * sheet + EXEC_PLANE_SLACK;
    f->raw_at = room_after((f->piece_items + EXEC_PLANE_SLACK) * width, 0);
    f->sheet_at = room_after(f->raw_at, is_half(f) ? (f->slope ? f->images.channel_items + places : f->piece_items) * 2 : 0);
    f->halves_at = room_after(f->sheet_at, f->sheet_items * width);
    f->chains_at = room_after(f->halves_at, is_half(f) ? f->sheet_items * 2 : 0);
    f->images_at = room_after(f->chains_at, most(chains * (int64_t)sizeof(exec_chain), f->part_rows * width));
    f->slope_at = room_after(f->images_at, f->slope ? (f->images.channel_items + EXEC_PLANE_SLACK) * width : 0);
    f->lines_at = room_after(f->slope_at, f->slope ? (places + EXEC_WINDOW_RUN) * width : 0);
    f->piece_bytes = room_after(f->lines_at, f->slope ? f->staged * EXEC_WINDOW_RUN * width : 0);
    f->packed_at = exec_scratch_take(build, f->w.groups * f->steps * f->rows * width);
    f->wild_at = exec_scratch_take(build, f->w.groups + build->threads);
    f->piece_at = exec_scratch_take(build, f->piece_bytes * exec_scratch_pieces(build, f->w.images * f->w.groups * f->parts, 1));
}

bool exec_planes_prepare(exec_build *build, uint32_t index, exec_stage *stage)
{
    exec_windows windows;
    if (!exec_windows_of(build, index, stage, &windows)) return false;
    planes *f = exec_call_take(&windows.call, sizeof *f);
    if (!f) return false;
    f->w = windows;
    f->back = windows.gradient.shape != NULL;
    f->slope = f->back && windows.over == EXEC_OVER_MAXIMUM;
    stage->prepared = f;
    stage->run = run_planes;
    if (f->w.call.result.volume == 0) return true;
    lay_extents(f);
    if (!lay_tables(f)) return false;
    int64_t units = f->w.images * f->w.groups, wanted = 2 * (int64_t)build->threads;
    f->parts = build->threads > 1 && units < wanted ? most(1, exec_smaller(in_steps(f->rows, SHEET_ROWS), in_steps(wanted, units))) : 1;
    f->part_rows = exec_up_to(in_steps(f->rows, f->parts), SHEET_ROWS);
    f->parts = in_steps(f->rows, f->part_rows);
    f->unit_cost = (double)f->part_rows * (double)(most(f->steps, f->w.size[0] * f->w.size[1]) * f->phases->extent[0] * f->phases->extent[1]) * MULTIPLY_COST +
                   (double)f->piece_items / (double)f->parts + 1;
    lay_room(f, build);
    stage->cost = (double)(units * f->parts) * f->unit_cost;
    return true;
}
