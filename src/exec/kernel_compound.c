/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Kernels made of other kernels, so one form serves every level: LogSumExp and LogSoftmax, and reductions of windows.
 *
 * Log domain: m = the maximum, s = the canonical sum of exp(x - m) (along the run, or across rows: kernel_fold_type.inc), then m + ln s,
 * or (x - m) - ln s for each item. Where m is infinite or NaN, LogSumExp is m. f16 and bf16 run in f32 and round at the end. */
#include "exec/kernel_flags.h"

#include <string.h>

#include "exec/kernels.h"

/* ---- log domain ------------------------------------------------------------------------------------------- */

#define LINE_PIECE EXEC_FOLD_CHUNK
#define ACROSS_COLUMNS 64

typedef struct log_work {
    const exec_kernels *kernels;
    const exec_log *log;
    wg_kind wide;
    int64_t wide_bytes;
    exec_block_function widen, narrow, subtract, exponential, logarithm, add;
} log_work;

static log_work log_work_of(const exec_kernels *kernels, const exec_log *log)
{
    wg_kind wide = log->kind == WG_KIND_F64 ? WG_KIND_F64 : WG_KIND_F32;
    return (log_work){
        .kernels = kernels, .log = log, .wide = wide, .wide_bytes = wide == WG_KIND_F64 ? 8 : 4,
        .widen = kernels->convert(log->kind, wide, false), .narrow = kernels->convert(wide, log->kind, false),
        .subtract = kernels->block(EXEC_BLOCK_SUB, wide), .exponential = kernels->block(EXEC_BLOCK_EXP, wide),
        .logarithm = kernels->block(EXEC_BLOCK_LN, wide), .add = kernels->block(EXEC_BLOCK_ADD, wide),
    };
}

static const void *item_at(const log_work *w,
        int64_t at) { return (const char *)w->log->items + at * (int64_t)base_kinds[w->log->kind].bytes; }

/* room = x - m for count items from `at`; m is one item or one each. */
static void shift(const log_work *w, int64_t at, int64_t count, const void *m, bool one, void *room)
{
    w->widen(room, (const void *[]){item_at(w, at)}, 0, count);
    w->subtract(room, (const void *[]){room, m}, one ? 2 : 0, count);
}

/* Maxima of outputs [first, first + count), which stand side by side, as wide items. */
static void maxima(const log_work *w, int64_t first, int64_t count, void *m)
{
    const exec_log *log = w->log;
    exec_reduction r = {.fold = EXEC_FOLD_MAX, .kind = log->kind, .accumulate = w->wide, .result_kind = w->wide, .across = log->across,
            .extent = log->extent,
                        .inner = log->inner, .outer_stride = log->extent * log->inner, .extent_stride = log->inner, .items = log->items,
                        .result = (char *)m - first * w->wide_bytes};
    w->kernels->reduce(&r, (exec_range){first, first + count});
}

/* LogSumExp of count outputs from their m and s. */
static void store_sums(const log_work *w, int64_t first, int64_t count, const void *m, void *s)
{
    double answer[ACROSS_COLUMNS];
    w->logarithm(s, (const void *[]){s}, 0, count);
    w->add(answer, (const void *[]){m, s}, 0, count);
    for (int64_t i = 0; i < count; i++) {
        double top = base_number_load(w->wide, m, i).d;
        if (!(__builtin_fabs(top) < __builtin_inf())) base_number_store(w->wide, answer, i, (base_number){.d = top});
    }
    w->narrow((char *)w->log->result + first * (int64_t)base_kinds[w->log->kind].bytes, (const void *[]){answer}, 0, count);
}

/* (x - m) - ln s for count items from `at`. */
static void store_items(const log_work *w, int64_t at, int64_t count, const void *m, const void *log_s, bool one, void *room)
{
    shift(w, at, count, m, one, room);
    w->subtract(room, (const void *[]){room, log_s}, one ? 2 : 0, count);
    w->narrow((char *)w->log->result + at * (int64_t)base_kinds[w->log->kind].bytes, (const void *[]){room}, 0, count);
}

static void log_line(const log_work *w, int64_t line)
{
    double room[LINE_PIECE], m, s = 0;
    int64_t extent = w->log->extent, from = line * extent;
    exec_tree tree = exec_tree_start(EXEC_FOLD_SUM, w->wide);
    maxima(w, line, 1, &m);
    for (int64_t i = 0; i < extent; i += LINE_PIECE) {
        int64_t part = extent - i < LINE_PIECE ? extent - i : LINE_PIECE;
        shift(w, from + i, part, &m, true, room);
        w->exponential(room, (const void *[]){room}, 0, part);
        exec_reduction r = {.fold = EXEC_FOLD_SUM, .kind = w->wide, .accumulate = w->wide, .result_kind = w->wide, .extent = part,
                .inner = 1, .extent_stride = 1,
                            .items = room};
        w->kernels->reduce_chunks(&r, (exec_range){0, 1}, &s);
        exec_tree_push(&tree, &s);
    }
    if (extent > 0) exec_tree_finish(&tree, &s);
    if (!w->log->whole) {
        store_sums(w, line, 1, &m, &s);
        return;
    }
    w->logarithm(&s, (const void *[]){&s}, 0, 1);
    for (int64_t i = 0; i < extent; i += LINE_PIECE) store_items(w, from + i, extent - i < LINE_PIECE ? extent - i : LINE_PIECE, &m, &s,
            true, room);
}

/* Sums across rows of one tile of columns from place `from`: chunks ascending, chunk sums by the tree. */
static void log_rows_sum(const log_work *w, int64_t from, int64_t columns, const void *m, void *s)
{
    double stack[EXEC_TREE_LEVELS][ACROSS_COLUMNS], room[ACROSS_COLUMNS];
    int64_t extent = w->log->extent, chunks = 0;
    uint32_t depth = 0;
    memset(s, 0, sizeof room);
    for (int64_t i = 0; i < extent; i++) {
        shift(w, from + i * w->log->inner, columns, m, false, room);
        bool starts = i % EXEC_FOLD_CHUNK == 0, ends = i % EXEC_FOLD_CHUNK == EXEC_FOLD_CHUNK - 1 || i == extent - 1;
        if (starts) depth++;
        w->exponential(starts ? stack[depth - 1] : room, (const void *[]){room}, 0, columns);
        if (!starts) w->add(stack[depth - 1], (const void *[]){stack[depth - 1], room}, 0, columns);
        if (ends) chunks++;
        for (int64_t pairs = chunks; ends && pairs % 2 == 0; pairs /= 2, depth--)
            w->add(stack[depth - 2], (const void *[]){stack[depth - 2], stack[depth - 1]}, 0, columns);
    }
    for (; depth > 1; depth--) w->add(stack[depth - 2], (const void *[]){stack[depth - 2], stack[depth - 1]}, 0, columns);
    if (extent > 0) memcpy(s, stack[0], sizeof room);
}

static void log_across(const log_work *w, int64_t first, int64_t columns)
{
    double room[ACROSS_COLUMNS], m[ACROSS_COLUMNS], s[ACROSS_COLUMNS];
    int64_t inner = w->log->inner, from = first / inner * w->log->extent * inner + first % inner;
    maxima(w, first, columns, m);
    log_rows_sum(w, from, columns, m, s);
    if (!w->log->whole) {
        store_sums(w, first, columns, m, s);
        return;
    }
    w->logarithm(s, (const void *[]){s}, 0, columns);
    for (int64_t i = 0; i < w->log->extent; i++) store_items(w, from + i * inner, columns, m, s, false, room);
}

void exec_log_domain(const exec_kernels *kernels, const exec_log *log, exec_range lines)
{
    log_work work = log_work_of(kernels, log);
    for (int64_t line = lines.first; line < lines.end;) {
        if (!log->across) {
            log_line(&work, line++);
            continue;
        }
        int64_t columns = log->inner - line % log->inner < lines.end - line ? log->inner - line % log->inner : lines.end - line;
        if (columns > ACROSS_COLUMNS) columns = ACROSS_COLUMNS;
        log_across(&work, line, columns);
        line += columns;
    }
}

/* ---- windows
 * ----------------------------------------------------------------------------------------------------------------------------- */

#define WINDOW_PIECE 512

/* Items `step` apart side by side in room, or where they are. */
static const void *window_row(const exec_kernels *kernels, size_t bytes, const char *from, int64_t step, int64_t count, void *room)
{
    if (step == 1) return from;
    exec_copying copy = {.item_bytes = bytes, .rank = 1, .shape = {count}, .to_stride = {1}, .from_stride = {step}, .items = from,
            .result = room};
    kernels->copy(&copy, (exec_range){0, count});
    return room;
}

/* The chain over a window for `count` results in a row. */
static void window_piece(const exec_kernels *kernels, const exec_window *x, exec_block_function join, const char *from, int64_t count,
        char *to)
{
    wg_complex128 room[WINDOW_PIECE]; /* the widest kind */
    size_t bytes = base_kinds[x->kind].bytes;
    int64_t step = x->stride[x->rank - 1], offsets[WINDOW_PIECE], places = 1;
    for (uint32_t axis = 0; axis < x->window.rank; axis++) places *= x->window.extent[axis];
    for (int64_t first = 0; first < places; first += WINDOW_PIECE) {
        int64_t part = places - first < WINDOW_PIECE ? places - first : WINDOW_PIECE;
        exec_side_offsets(&x->window, first, part, offsets);
        for (int64_t i = 0; i < part; i++) {
            const void *row = window_row(kernels, bytes, from + offsets[i] * (int64_t)bytes, step, count, room);
            if (first + i == 0) memcpy(to, row, (size_t)count * bytes);
            else join(to, (const void *[]){to, row}, 0, count);
        }
    }
}

void exec_window_reduce(const exec_kernels *kernels, const exec_window *x, exec_range rows)
{
    exec_block_function join = kernels->block(x->join, x->kind);
    int64_t width = x->shape[x->rank - 1], bytes = (int64_t)base_kinds[x->kind].bytes;
    for (int64_t row = rows.first; row < rows.end; row++) {
        int64_t rest = row, place = 0;
        for (uint32_t axis = x->rank - 1; axis-- > 0;) {
            place += rest % x->shape[axis] * x->stride[axis];
            rest /= x->shape[axis];
        }
        for (int64_t j = 0; j < width; j += WINDOW_PIECE)
            window_piece(kernels, x, join, (const char *)x->items + (place + j * x->stride[x->rank - 1]) * bytes,
                         width - j < WINDOW_PIECE ? width - j : WINDOW_PIECE, (char *)x->result + (row * width + j) * bytes);
    }
}
