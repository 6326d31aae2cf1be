/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Stages that only place items: copies of views, Pad, Concat. Each is a list of strided copies into the result, after a fill where they
 * leave places over. And sums of padded pieces. */
#include "exec/exec_call.h"

#include <stdlib.h>
#include <string.h>

/* Items of a value to places of the result that are `to_offset` items in, by strides; pointers are filled in by each run. */
typedef struct part {
    exec_value from;
    exec_copying call;
    int64_t to_offset, unit; /* unit: items of one position of the first axis */
} part;

typedef struct copies {
    uint32_t count;
    part *parts;
    exec_value result;
    bool canonical, fill;
    bool by_part; /* threads share parts, not each part */
    int64_t rows, rows_at_once; /* where the parts stand side by side in each row of the result: rows 0 otherwise */
    unsigned char item[16]; /* of the fill */
} copies;

typedef struct copy_work {
    exec_run *run;
    const copies *facts;
    exec_copying call;
} copy_work;

static void fill_part(void *context, exec_range range, uint32_t thread)
{
    const copy_work *work = context;
    (void)thread;
    size_t width = base_kinds[work->facts->result.kind].bytes;
    exec_fill((char *)exec_items(work->run, &work->facts->result) + (size_t)range.first * width, work->facts->item, width,
              range.end - range.first);
}

static void copy_part(void *context, exec_range range, uint32_t thread)
{
    const copy_work *work = context;
    (void)thread;
    work->run->kernels->copy(&work->call, range);
}

static exec_copying copy_of(exec_run *run, const copies *c, const part *p)
{
    exec_copying call = p->call;
    call.items = exec_items(run, &p->from);
    call.result = exec_items(run, &c->result) + p->to_offset * (int64_t)p->call.item_bytes;
    return call;
}

static int64_t units_of(const part *p) { return p->call.rank ? p->call.shape[0] : 1; }

static void copy_parts(void *context, exec_range range, uint32_t thread)
{
    const copy_work *work = context;
    (void)thread;
    for (int64_t i = range.first; i < range.end; i++) {
        const part *p = &work->facts->parts[i];
        exec_copying call = copy_of(work->run, work->facts, p);
        work->run->kernels->copy(&call, (exec_range){0, units_of(p)});
    }
}

/* Blocks of rows, so that a line of the result is written whole while it is in the cache. */
static void copy_rows(void *context, exec_range range, uint32_t thread)
{
    const copy_work *work = context;
    const copies *c = work->facts;
    (void)thread;
    for (int64_t first = range.first; first < range.end; first += c->rows_at_once) {
        exec_range rows = {first, exec_smaller(first + c->rows_at_once, range.end)};
        for (uint32_t i = 0; i < c->count; i++) {
            exec_copying call = copy_of(work->run, c, &c->parts[i]);
            work->run->kernels->copy(&call, rows);
        }
    }
}

static void run_copies(exec_run *run, const exec_stage *stage)
{
    const copies *c = stage->prepared;
    copy_work work = {.run = run, .facts = c};
    if (c->fill) exec_run_split(run, c->result.volume, 4096, 0.5, fill_part, &work);
    if (c->by_part) exec_run_split(run, c->count, 1, (double)(c->result.volume / c->count), copy_parts, &work);
    if (c->rows) exec_run_split(run, c->rows, c->rows_at_once, (double)(c->result.volume / c->rows), copy_rows, &work);
    for (uint32_t i = 0; i < c->count && !c->by_part && !c->rows; i++) {
        work.call = copy_of(run, c, &c->parts[i]);
        exec_run_split(run, units_of(&c->parts[i]), 1, (double)c->parts[i].unit, copy_part, &work);
    }
    exec_canonical_all(run, c->canonical, &c->result);
}

/* Appends an axis to a copy, or lengthens the last one where both sides allow it. */
static void put_axis(exec_copying *call, int64_t extent, int64_t to, int64_t from)
{
    uint32_t last = call->rank - 1;
    if (extent == 1) return;
    if (call->rank && call->to_stride[last] == to * extent && call->from_stride[last] == from * extent) {
        call->shape[last] *= extent;
        call->to_stride[last] = to;
        call->from_stride[last] = from;
        return;
    }
    call->shape[call->rank] = extent;
    call->to_stride[call->rank] = to;
    call->from_stride[call->rank++] = from;
}

static void put_part(copies *c, const exec_value *from, const int64_t *to_strides, int64_t to_offset)
{
    if (from->volume == 0) return;
    part *p = &c->parts[c->count++];
    *p = (part){.from = *from, .to_offset = to_offset, .call = {.item_bytes = base_kinds[from->kind].bytes}};
    bool blocks = base_kind_is_block(from->kind); /* which are copied as bytes, side by side on the last axis */
    if (blocks) p->call.item_bytes = 1;
    for (uint32_t axis = 0; axis < from->rank; axis++) {
        if (!blocks) put_axis(&p->call, from->shape[axis], to_strides[axis], from->strides[axis]);
        else if (axis + 1 == from->rank) put_axis(&p->call, base_kind_bytes(from->kind, from->shape[axis]), 1, 1);
        else put_axis(&p->call, from->shape[axis], base_kind_bytes(from->kind, to_strides[axis]), base_kind_bytes(from->kind, from->strides[axis]));
    }
    p->unit = p->call.rank ? from->volume / p->call.shape[0] : 1;
}

static copies *copies_of(exec_call *call, uint32_t most)
{
    copies *c = exec_call_take(call, sizeof *c);
    if (!c || !(c->parts = exec_call_take(call, (most + 1) * sizeof *c->parts))) return NULL;
    c->result = call->result;
    c->canonical = call->canonical;
    call->stage->run = run_copies;
    call->stage->prepared = c;
    call->stage->cost = (double)call->result.volume;
    return c;
}

static void dense_strides(uint32_t rank, const int64_t *shape, int64_t *strides)
{
    int64_t stride = 1;
    for (uint32_t axis = rank; axis-- > 0; stride *= shape[axis]) strides[axis] = stride;
}

bool exec_copy_prepare(exec_call *call, const exec_value *from)
{
    copies *c = copies_of(call, 1);
    int64_t strides[WG_MAX_RANK];
    if (!c) return false;
    dense_strides(from->rank, from->shape, strides);
    put_part(c, from, strides, 0);
    return true;
}

/* ---- rows that are strides ---- */

/* The operand through the row's own map. A reshape keeps the row-major order, so its operand is copied as it is. */
static bool copy_through(exec_call *call)
{
    exec_value read = call->operands[0];
    if (call->op == WG_OP_Reshape) return exec_copy_prepare(call, &read);
    exec_factored view = exec_factored_of(read.rank, read.shape, read.strides, read.offset);
    if (!exec_factored_apply(&view, call->op, call->attributes, call->result.rank, call->result.shape) ||
        !exec_factored_strides(&view, read.strides))
        return base_fail(call->build->error, WG_INTERNAL, "%s has no strides", graph_rows[call->op].text);
    read.rank = call->result.rank;
    read.shape = call->result.shape;
    read.volume = call->result.volume;
    read.offset = view.offset;
    return exec_copy_prepare(call, &read);
}

bool exec_call_Broadcast(exec_call *call) { return copy_through(call); }
bool exec_call_BroadcastAlong(exec_call *call) { return copy_through(call); }
bool exec_call_Reshape(exec_call *call) { return copy_through(call); }
bool exec_call_Permute(exec_call *call) { return copy_through(call); }
bool exec_call_Narrow(exec_call *call) { return copy_through(call); }
bool exec_call_Reverse(exec_call *call) { return copy_through(call); }
bool exec_call_Unfold(exec_call *call) { return copy_through(call); }

/* ---- Pad and Concat ---- */

bool exec_pad_prepare(exec_call *call, const exec_value *from, const int64_t *starts, double fill)
{
    int64_t strides[WG_MAX_RANK], at = 0;
    copies *c = copies_of(call, 1);
    if (!c) return false;
    base_number_store(call->result.kind, c->item, 0, base_number_from_double(call->result.kind, fill));
    c->fill = true;
    dense_strides(call->result.rank, call->result.shape, strides);
    for (uint32_t axis = 0; axis < call->result.rank; axis++) at += starts[axis] * strides[axis];
    put_part(c, from, strides, at);
    return true;
}

bool exec_call_Pad(exec_call *call)
{
    int64_t starts[WG_MAX_RANK] = {0};
    double value;
    memcpy(&value, &call->attributes[GRAPH_ATTRIBUTE(Pad, value)], sizeof value);
    starts[call->attributes[GRAPH_ATTRIBUTE(Pad, axis)]] = call->attributes[GRAPH_ATTRIBUTE(Pad, start)];
    return exec_pad_prepare(call, &call->operands[0], starts, value);
}

#define ROWS_BYTES 65536 /* of the result, copied at once */

/* Rows that hold a piece of each part, where the result has many of them. */
static void find_rows(copies *c)
{
    int64_t rows = c->count ? units_of(&c->parts[0]) : 0, length = rows ? c->result.volume / rows : 0;
    int64_t bytes = length * (int64_t)base_kinds[c->result.kind].bytes;
    if (c->count < 2 || rows < 2 || bytes > ROWS_BYTES / 16 || rows * bytes < 2 * ROWS_BYTES) return;
    for (uint32_t i = 0; i < c->count; i++) {
        const exec_copying *call = &c->parts[i].call;
        if (units_of(&c->parts[i]) != rows || call->to_stride[0] != length || base_kind_is_block(c->parts[i].from.kind)) return;
    }
    c->rows = rows;
    c->rows_at_once = ROWS_BYTES / bytes;
}

bool exec_call_Concat(exec_call *call)
{
    int64_t axis = call->attributes[GRAPH_ATTRIBUTE(Concat, axis)], at = 0, largest = 0, strides[WG_MAX_RANK];
    copies *c = copies_of(call, call->operand_count);
    if (!c) return false;
    dense_strides(call->result.rank, call->result.shape, strides);
    for (uint32_t i = 0; i < call->operand_count; i++) {
        put_part(c, &call->operands[i], strides, at * strides[axis]);
        at += call->operands[i].shape[axis];
        if (call->operands[i].volume > largest) largest = call->operands[i].volume;
    }
    find_rows(c);
    c->by_part = !c->rows && c->count > 1 && largest * call->build->threads <= call->result.volume && (double)largest < EXEC_PART_COST;
    return true;
}

/* ---- sums of pieces ----
 *
 * Pad(t1) + Pad(t2) + .. of zeros along one axis. An item that stands in some of the pieces is their sum in order and +0 besides, which
 * only tells where they are all -0; one that stands in all of them is their sum alone, so there the sum begins at -0. Where no two pieces
 * meet, each item is x + 0, and zeros are filled in only if the pieces leave places over. */

#define PIECE_ITEMS 32768 /* added at once */
#define SHORT_ITEMS 64    /* a call for fewer is dearer than their sum: such pieces are added for as many rows at once as fit a block */
#define SHORT_BLOCK 1024

typedef struct piece {
    exec_dense from;
    int64_t first, count; /* places along the axis */
} piece;

typedef struct pieces {
    exec_value result;
    int64_t outer, extent, inner; /* around the axis */
    int64_t count, blocks;        /* blocks of the longest piece at one outer place */
    int64_t rows;                 /* outer places at once; 0: pieces are not short */
    piece *list;
    bool apart, fills;
    int64_t common_first, common_end; /* places that all of them cover */
    exec_block_function add;
    unsigned char zero[16], minus[16]; /* -0 of floats */
    bool canonical;
} pieces;

typedef struct pieces_work {
    exec_run *run;
    const pieces *facts;
    int64_t first, count; /* of the pieces under way */
} pieces_work;

static void zero_part(void *context, exec_range range, uint32_t thread)
{
    const pieces_work *work = context;
    (void)thread;
    size_t width = base_kinds[work->facts->result.kind].bytes;
    exec_fill((char *)exec_items(work->run, &work->facts->result) + (size_t)range.first * width, work->facts->zero, width,
              range.end - range.first);
}

static void minus_part(void *context, exec_range range, uint32_t thread)
{
    const pieces_work *work = context;
    const pieces *f = work->facts;
    (void)thread;
    size_t width = base_kinds[f->result.kind].bytes;
    for (int64_t row = range.first; row < range.end; row++)
        exec_fill((char *)exec_items(work->run, &f->result) + (size_t)((row * f->extent + f->common_first) * f->inner) * width, f->minus, width,
                  (f->common_end - f->common_first) * f->inner);
}

/* Units: blocks of pieces of outer places, these in order: what a thread made of some rows is in its caches. */
static void piece_part(void *context, exec_range range, uint32_t thread)
{
    const pieces_work *work = context;
    const pieces *f = work->facts;
    (void)thread;
    int64_t width = base_kinds[f->result.kind].bytes;
    for (int64_t unit = range.first; unit < range.end; unit++) {
        const piece *own = &f->list[work->first + unit / f->blocks % work->count];
        int64_t row = unit / f->blocks / work->count, at = unit % f->blocks * PIECE_ITEMS, items = own->count * f->inner;
        int64_t count = items - at < PIECE_ITEMS ? items - at : PIECE_ITEMS;
        if (count <= 0) continue;
        char *from = own->from.scratch_at < 0 ? exec_items(work->run, &own->from.value) : work->run->scratch + own->from.scratch_at;
        char *to = (char *)exec_items(work->run, &f->result) + ((row * f->extent + own->first) * f->inner + at) * width;
        f->add(to, (const void *[]){from + (row * items + at) * width, f->apart ? (const void *)f->zero : to}, f->apart ? 2u : 0u, count);
    }
}

/* One piece in rows of the result, whose items are put side by side for the sum. */
static void add_short(const pieces_work *work, const piece *own, int64_t row, int64_t rows)
{
    const pieces *f = work->facts;
    int64_t width = base_kinds[f->result.kind].bytes, items = own->count * f->inner;
    _Alignas(BASE_ALIGNMENT) char sums[SHORT_BLOCK * 16];
    const char *from = own->from.scratch_at < 0 ? exec_items(work->run, &own->from.value) : work->run->scratch + own->from.scratch_at;
    char *to = (char *)exec_items(work->run, &f->result) + (row * f->extent + own->first) * f->inner * width;
    exec_copying copying = {.item_bytes = (size_t)width, .rank = 2, .shape = {rows, items}, .to_stride = {items, 1},
                            .from_stride = {f->extent * f->inner, 1}, .items = to, .result = sums};
    if (!f->apart) work->run->kernels->copy(&copying, (exec_range){0, rows});
    f->add(sums, (const void *[]){from + row * items * width, f->apart ? (const void *)f->zero : sums}, f->apart ? 2u : 0u, rows * items);
    copying = (exec_copying){.item_bytes = (size_t)width, .rank = 2, .shape = {rows, items}, .to_stride = {f->extent * f->inner, 1},
                             .from_stride = {items, 1}, .items = sums, .result = to};
    work->run->kernels->copy(&copying, (exec_range){0, rows});
}

/* Units: as many rows, and all that is added there in order. */
static void short_part(void *context, exec_range range, uint32_t thread)
{
    const pieces_work *work = context;
    const pieces *f = work->facts;
    (void)thread;
    for (int64_t unit = range.first; unit < range.end; unit++) {
        int64_t row = unit * f->rows, rows = exec_smaller(f->outer - row, f->rows);
        for (int64_t i = 0; i < f->count; i++)
            if (f->list[i].count) add_short(work, &f->list[i], row, rows);
    }
}

static void run_pieces(exec_run *run, const exec_stage *stage)
{
    const pieces *f = stage->prepared;
    pieces_work work = {run, f, 0, f->apart ? f->count : 1};
    int64_t units = f->outer * f->blocks; /* of one piece */
    if (!f->result.volume) return;
    double cost = (double)f->result.volume / (double)units / (double)(f->apart ? f->count : 1) + 1;
    if (f->fills) exec_run_split(run, f->result.volume, 4096, 0.5, zero_part, &work);
    if (f->common_first < f->common_end) exec_run_split(run, f->outer, 1, (double)f->inner, minus_part, &work);
    for (int64_t i = 0; i < f->count; i++) exec_dense_items(run, &f->list[i].from);
    if (f->rows) {
        exec_run_split(run, exec_pieces(f->outer, f->rows), 1, 2 * (double)(f->rows * f->extent * f->inner), short_part, &work);
    } else {
        for (; work.first < f->count; work.first += work.count) exec_run_split(run, work.count * units, 1, cost, piece_part, &work);
    }
    exec_canonical_all(run, f->canonical, &f->result);
}

static int by_first(const void *a, const void *b)
{
    int64_t x = ((const int64_t *)a)[0], y = ((const int64_t *)b)[0];
    return (x > y) - (x < y);
}

/* Whether no two of them meet, whether they cover every place, and where all of them meet. spans: [count] of two. */
static void compare_pieces(pieces *f, int64_t *spans)
{
    int64_t covered = 0, longest = 1;
    f->common_end = f->extent;
    f->apart = true;
    for (int64_t i = 0; i < f->count; i++) {
        const piece *own = &f->list[i];
        if (own->first > f->common_first) f->common_first = own->first;
        if (own->first + own->count < f->common_end) f->common_end = own->first + own->count;
        covered += spans[2 * i + 1] = own->count;
        spans[2 * i] = own->first;
        int64_t blocks = exec_pieces(own->count * f->inner, PIECE_ITEMS);
        if (blocks > f->blocks) f->blocks = blocks;
        if (own->count * f->inner > longest) longest = own->count * f->inner;
    }
    qsort(spans, (size_t)f->count, 2 * sizeof *spans, by_first);
    for (int64_t i = 1; i < f->count; i++) f->apart = f->apart && spans[2 * i - 2] + spans[2 * i - 1] <= spans[2 * i];
    f->fills = !f->apart || covered != f->extent;
    f->rows = longest < SHORT_ITEMS && f->outer > 1 ? SHORT_BLOCK / longest : 0;
}

bool exec_pieces_prepare(exec_build *build, uint32_t index, exec_stage *stage)
{
    const plan_stage *from = &build->plan->stages[index];
    exec_call call = {.build = build, .stage = stage, .node = from->writes[0].node, .result = exec_value_of_node(build, from->writes[0].node)};
    pieces *f = exec_call_take(&call, sizeof *f);
    int64_t *spans = exec_call_take(&call, 2 * from->read_count * sizeof *spans);
    if (!f || !spans || !(f->list = exec_call_take(&call, from->read_count * sizeof *f->list))) return false;
    f->result = call.result;
    f->count = from->read_count;
    f->canonical = base_kind_has_nan(f->result.kind) && exec_must_be_canonical(build, call.node);
    for (uint32_t r = 0; r < from->read_count; r++) {
        exec_value value = exec_value_of_read(build, index, r);
        const int64_t *attributes = build->layout->attributes[build->plan->index[from->terms[r]]];
        int64_t axis = attributes[GRAPH_ATTRIBUTE(Pad, axis)];
        exec_axis around = exec_axis_of(&f->result, axis);
        f->outer = around.outer;
        f->extent = around.extent;
        f->inner = around.inner;
        f->list[r] = (piece){exec_dense_of(build, &value), attributes[GRAPH_ATTRIBUTE(Pad, start)], value.shape[axis]};
    }
    compare_pieces(f, spans);
    base_number_store(f->result.kind, f->minus, 0, base_number_from_double(f->result.kind, -0.0));
    f->add = build->kernels->block(EXEC_BLOCK_ADD, f->result.kind);
    if (!f->add) return base_fail(build->error, WG_INTERNAL, "no kernel of add for %s", base_kinds[f->result.kind].name);
    stage->run = run_pieces;
    stage->prepared = f;
    stage->cost = 1.5 * (double)f->result.volume;
    return true;
}
