/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Maxima and sums over windows side by side, and what goes back through them, a line of windows at a time. Where the channels stand side by
 * side (as a product leaves them) they are the run, and a line is read where it lies; else each channel's windows are gathered into
 * runs. */
#include "exec/exec_call.h"

#include <string.h>

#define LINES_ITEMS 8192

typedef struct window_fold {
    exec_value x, gradient, result; /* [n, channels, high, wide]; gradient, and the result where there is none: of the windows */
    bool back, relu, sum, canonical, last; /* last: channels are side by side in all of x, and going back, in the result */
    int64_t channels, down, across, size[2], positions;
    int64_t room;  /* items of a gathered run */
    int64_t lines; /* of windows that go through a piece at once */
    exec_images by_image;
    int64_t piece_at, piece_bytes, work_at; /* scratch */
} window_fold;

typedef struct window_fold_work {
    exec_run *run;
    const window_fold *facts;
    const char *x, *gradient;
    char *result, *scratch;
    int64_t slice; /* items of an image of the result */
    bool all;      /* windows stand over all of it */
} window_fold_work;

static int64_t width_of(const window_fold *f)
{
    return base_kinds[f->x.kind].bytes;
}

/* Items [rows, columns] from places of two strides to others. */
static void move(const window_fold_work *work, const char *from, int64_t from_row, int64_t from_column, char *to, int64_t to_row,
                 int64_t to_column, int64_t rows, int64_t columns)
{
    exec_copying copy = {.item_bytes = (size_t)width_of(work->facts), .rank = 2, .shape = {rows, columns}, .to_stride = {to_row, to_column},
                         .from_stride = {from_row, from_column}, .items = from, .result = to};
    work->run->kernels->copy(&copy, (exec_range){0, rows});
}

/* Items of lines of windows of one image, all channels: between a value of windows (strides) and a piece, channels last. */
static void move_lines(const window_fold_work *work, char *items, const int64_t *strides, int64_t lines, char *piece, bool out)
{
    const window_fold *f = work->facts;
    exec_copying copy = {.item_bytes = (size_t)width_of(f), .rank = 3, .shape = {lines, f->channels, f->across},
                         .items = out ? piece : items, .result = out ? items : piece};
    const int64_t there[3] = {strides[2], strides[1], strides[3]}, here[3] = {f->across * f->channels, 1, f->channels};
    if (strides[2] == f->across * strides[3]) { /* as one */
        copy.rank = 2;
        copy.shape[0] = f->channels;
        copy.shape[1] = lines * f->across;
    }
    for (uint32_t axis = 0; axis < copy.rank; axis++) {
        uint32_t of = 3 - copy.rank + axis;
        copy.from_stride[axis] = out ? here[of] : there[of];
        copy.to_stride[axis] = out ? there[of] : here[of];
    }
    work->run->kernels->copy(&copy, (exec_range){0, copy.shape[0]});
}

/* Where position `p` of the first window of a line stands. */
static int64_t position_at(const window_fold *f, const exec_value *value, int64_t image, int64_t line, int64_t p)
{
    int64_t row = line * f->size[0] + p / f->size[1], column = p % f->size[1];
    return image * value->strides[0] + row * value->strides[2] + column * value->strides[3];
}

/* Lines of windows whose channels are side by side. */
static void lines_of_channels(const window_fold_work *work, int64_t image, int64_t line, int64_t lines, char *piece)
{
    const window_fold *f = work->facts;
    const exec_value *beside = f->back ? &f->gradient : &f->result;
    int64_t width = width_of(f), at = image * beside->strides[0] + line * beside->strides[2];
    exec_window_row row = {.kind = f->x.kind, .relu = f->relu, .sum = f->sum, .positions = f->positions, .windows = f->across,
                           .run = f->channels,
                           .items_step = f->size[1] * f->x.strides[3], .result_step = f->size[1] * f->result.strides[3]};
    if (f->back) move_lines(work, (char *)work->gradient + at * width, beside->strides, lines, piece, false);
    for (int64_t i = 0; i < lines; i++) {
        char *in_piece = piece + i * f->across * f->channels * width;
        row.gradient = f->back ? in_piece : NULL;
        for (int64_t p = 0; p < f->positions; p++) {
            row.items[p] = work->x + position_at(f, &f->x, image, line + i, p) * width;
            row.result[p] = f->back ? work->result + position_at(f, &f->result, image, line + i, p) * width : in_piece;
        }
        work->run->kernels->window_fold(&row);
    }
    if (!f->back) move_lines(work, work->result + at * width, beside->strides, lines, piece, true);
}

/* A line of one channel: its positions gathered behind one another in the piece, then the gradient, then the results. */
static void line_of_windows(const window_fold_work *work, int64_t image, int64_t line, int64_t channel, char *piece)
{
    const window_fold *f = work->facts;
    const exec_value *beside = f->back ? &f->gradient : &f->result;
    int64_t width = width_of(f), run_bytes = f->room * width, results = f->back ? f->positions : 1;
    int64_t at = (image * beside->strides[0] + channel * beside->strides[1] + line * beside->strides[2]) * width;
    char *gradient = piece + f->positions * run_bytes, *result = gradient + run_bytes;
    exec_window_row row = {.kind = f->x.kind, .relu = f->relu, .sum = f->sum, .positions = f->positions, .windows = 1, .run = f->across};
    for (int64_t p = 0; p < f->positions && !(f->sum && f->back); p++) {
        const char *from = work->x + (position_at(f, &f->x, image, line, p) + channel * f->x.strides[1]) * width;
        move(work, from, 0, f->size[1] * f->x.strides[3], piece + p * run_bytes, 0, 1, 1, f->across);
        row.items[p] = piece + p * run_bytes;
    }
    if (f->back) move(work, work->gradient + at, 0, beside->strides[3], gradient, 0, 1, 1, f->across);
    row.gradient = f->back ? gradient : NULL;
    for (int64_t p = 0; p < results; p++) row.result[p] = result + p * run_bytes;
    work->run->kernels->window_fold(&row);
    if (!f->back) move(work, result, 0, 1, work->result + at, 0, beside->strides[3], 1, f->across);
    for (int64_t p = 0; f->back && p < results; p++) {
        char *to = work->result + (position_at(f, &f->result, image, line, p) + channel * f->result.strides[1]) * width;
        move(work, row.result[p], 0, 1, to, 0, f->size[1] * f->result.strides[3], 1, f->across);
    }
}

static void window_fold_part(void *context, exec_range lines, uint32_t thread)
{
    const window_fold_work *work = context;
    const window_fold *f = work->facts;
    char *piece = work->scratch + f->piece_at + thread * f->piece_bytes;
    for (int64_t i = lines.first, count; i < lines.end; i += count) {
        int64_t line = i % f->down, left = f->down - line;
        count = f->last ? f->lines : 1;
        if (count > left) count = left;
        if (count > lines.end - i) count = lines.end - i;
        if (f->last) lines_of_channels(work, i / f->down, line, count, piece);
        else
            for (int64_t channel = 0; channel < f->channels; channel++) line_of_windows(work, i / f->down, line, channel, piece);
    }
}

static void window_fold_images(void *context, exec_range images, uint32_t thread)
{
    const window_fold_work *work = context;
    const window_fold *f = work->facts;
    int64_t width = width_of(f), count = (images.end - images.first) * work->slice;
    char *result = work->result + images.first * work->slice * width;
    if (f->back && !work->all) memset(result, 0, (size_t)(count * width)); /* no window stands over the rest */
    window_fold_part(context, (exec_range){images.first * f->down, images.end * f->down}, thread);
    exec_canonical(work->run, f->canonical, f->x.kind, result, count);
}

static void *begin_window_fold(exec_run *run, const exec_stage *stage)
{
    const window_fold *f = stage->prepared;
    window_fold_work *work = (window_fold_work *)(run->scratch + f->work_at);
    *work = (window_fold_work){.run = run, .facts = f, .x = exec_items(run, &f->x), .result = exec_items(run, &f->result),
                               .gradient = f->back ? exec_items(run, &f->gradient) : NULL, .scratch = run->scratch,
                               .slice = f->result.volume / f->x.shape[0],
                               .all = f->down * f->size[0] == f->x.shape[2] && f->across * f->size[1] == f->x.shape[3]};
    return work;
}

/* Few images: lines of windows are shared among the threads. */
static void run_lines(exec_run *run, const exec_stage *stage)
{
    const window_fold *f = stage->prepared;
    window_fold_work *work = begin_window_fold(run, stage);
    if (f->back && !work->all) memset(work->result, 0, (size_t)(f->result.volume * width_of(f)));
    exec_run_split(run, f->x.shape[0] * f->down, 1, f->by_image.image_cost / (double)f->down, window_fold_part, work);
    exec_canonical_all(run, f->canonical, &f->result);
}

bool exec_window_fold_prepare(exec_call *call, const exec_value *x, const exec_value *gradient, const exec_value *result,
                              const int64_t size[2], exec_window_how how)
{
    window_fold *f = exec_call_take(call, sizeof *f);
    if (!f) return false;
    *f = (window_fold){.x = *x, .result = *result, .back = gradient, .relu = how == EXEC_WINDOW_MAXIMUM_OF_RELU,
                       .sum = how == EXEC_WINDOW_SUM, .canonical = call->canonical, .channels = x->shape[1],
                   .down = x->shape[2] / size[0], .across = x->shape[3] / size[1], .size = {size[0], size[1]},
                   .positions = size[0] * size[1]};
    if (gradient) f->gradient = *gradient;
    f->last = x->strides[1] == 1 && (!gradient || result->strides[1] == 1) && f->channels >= EXEC_WINDOW_RUN;
    f->room = f->across > EXEC_WINDOW_RUN ? f->across : EXEC_WINDOW_RUN;
    int64_t line = f->channels * f->across;
    f->lines = line > 0 && line < LINES_ITEMS ? LINES_ITEMS / line : 1;
    if (f->lines > f->down) f->lines = f->down;
    int64_t items = f->last ? f->lines * line : (2 * f->positions + 1) * f->room;
    f->piece_bytes = base_align_up(items * width_of(f));
    f->piece_at = exec_scratch_take(call->build, f->piece_bytes * exec_scratch_pieces(call->build, x->shape[0] * f->down, 1));
    f->work_at = exec_scratch_take(call->build, sizeof(window_fold_work));
    f->by_image = (exec_images){begin_window_fold, window_fold_images, x->shape[0],
                                (double)(f->down * f->channels * f->across * f->positions),
                                (double)(result->volume / x->shape[0] * width_of(f)),
                                gradient != NULL}; /* TRIED in turn with the sum of windows before it: 10% slower, it waits for x */
    call->stage->prepared = f;
    exec_call_by_image(call, &f->by_image);
    if (exec_images_are_few(call->build, x->shape[0])) {
        call->stage->run = run_lines;
        call->stage->by_image = NULL;
    }
    return true;
}
