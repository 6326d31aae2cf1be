/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Quantised weights as calls: QMatMul, ExpertMatMul, and the values of blocks (Convert and Gather over a block kind).
 *
 * Both products are groups of rows that meet one matrix of weights [columns, depth]: the one of a QMatMul, or one for each expert, whose
 * rows are listed first. What is made of the rows of x (sums, or integers) is made once for all groups; packing is a group's own. */
#include <string.h>

#include "base/block.h"
#include "exec/exec_call.h"

#define MULTIPLY_COST 0.04 /* of one multiply-add, in item copies */
#define UNPACK_COST 0.06   /* of one weight */
#define FLOAT_COLUMNS 128  /* of one tile of a product of floats */

typedef struct quant {
    uint32_t node;
    exec_dense x, expert;
    exec_value w, result;
    int64_t w_expert; /* bytes from one expert's weights to the next */
    int64_t experts;  /* 0: one matrix for all rows */
    exec_quant call;  /* without pointers */
    bool canonical, rounds;
    /* in scratch */
    int64_t packed_at, sums_at, rounded_at, scales_at, integer_sums_at, which_at, room_at, room_bytes;
    /* weights of a float kind: rows of one expert are put side by side */
    int64_t rows_at, products_at;
} quant;

typedef struct quant_work {
    exec_run *run;
    const quant *facts;
    exec_quant call;
    const char *expert_items;
    exec_product product; /* of floats: a group's */
    int64_t row_groups, column_groups;
} quant_work;


/* ---- what is made of x ---- */

static void sums_part(void *context, exec_range range, uint32_t thread)
{
    const quant_work *work = context;
    (void)thread;
    exec_quant_sums(&work->call, range, (float *)(work->run->scratch + work->facts->sums_at));
}

static void round_part(void *context, exec_range range, uint32_t thread)
{
    const quant_work *work = context;
    const quant *q = work->facts;
    char *scratch = work->run->scratch;
    (void)thread;
    work->run->kernels->quant_round(&work->call, range, (int8_t *)(scratch + q->rounded_at), (float *)(scratch + q->scales_at),
                                    (int32_t *)(scratch + q->integer_sums_at));
}

static void pack_part(void *context, exec_range range, uint32_t thread)
{
    const quant_work *work = context;
    (void)thread;
    exec_quant_pack(&work->call, range, (float *)(work->run->scratch + work->facts->packed_at));
}

/* Sums or integers of all rows of x. */
static void prepare_rows(quant_work *work)
{
    const quant *q = work->facts;
    exec_quant *call = &work->call;
    char *scratch = work->run->scratch;
    double cost = (double)call->depth + 1;
    if (q->rounds) {
        exec_run_split(work->run, call->rows, 1, 2 * cost, round_part, work);
        call->rounded = (const int8_t *)(scratch + q->rounded_at);
        call->scales = (const float *)(scratch + q->scales_at);
        call->integer_sums = (const int32_t *)(scratch + q->integer_sums_at);
    } else if (base_block_adds(call->kind)) {
        exec_run_split(work->run, call->rows, 1, cost, sums_part, work);
        call->sums = (const float *)(scratch + q->sums_at);
    }
}

/* ---- a group of rows by its weights ---- */

static void group_part(void *context, exec_range range, uint32_t thread)
{
    const quant_work *work = context;
    const exec_quant *call = &work->call;
    const quant *q = work->facts;
    int64_t width = work->column_groups == 1 ? call->columns : exec_pieces(call->columns, work->column_groups);
    width = exec_up_to(width, EXEC_QUANT_PANEL);
    for (int64_t unit = range.first, count; unit < range.end; unit += count) {
        int64_t down = unit / work->column_groups * EXEC_QUANT_ROWS, across = unit % work->column_groups * width;
        bool few = call->rows == 1 || (call->rounded && exec_quant_few(call, call->rows)); /* they take all of their columns at once */
        count = few ? range.end - unit : 1;
        if (across >= call->columns) continue;
        work->run->kernels->quant(call, (exec_range){down, exec_smaller(call->rows, down + EXEC_QUANT_ROWS)},
                                  (exec_range){across, exec_smaller(call->columns, across + count * width)},
                                  work->run->scratch + q->room_at + thread * q->room_bytes);
    }
}

/* The rows of work->call by its weights. */
static void run_group(quant_work *work)
{
    exec_quant *call = &work->call;
    int64_t height = exec_smaller(call->rows, EXEC_QUANT_ROWS), width = height > EXEC_QUANT_TILE ? EXEC_QUANT_COLUMNS : EXEC_QUANT_PANEL;
    if (!work->facts->rounds && call->rows > 1) {
        int64_t tiles = exec_pieces(call->rows, EXEC_QUANT_TILE);
        exec_run_split(work->run, tiles, 1, (double)(EXEC_QUANT_TILE * call->depth), pack_part, work);
        call->packed = (const float *)(work->run->scratch + work->facts->packed_at);
    }
    work->row_groups = exec_pieces(call->rows, EXEC_QUANT_ROWS);
    work->column_groups = exec_pieces(call->columns, width);
    double cost = (double)(width * call->depth) * ((double)height * MULTIPLY_COST + UNPACK_COST);
    exec_run_split(work->run, work->row_groups * work->column_groups, 1, cost, group_part, work);
}

/* ---- experts ---- */

/* Lists the rows of each expert, ascending: those of expert e are which[first[e] .. first[e + 1]). False where a row's is not there. */
static bool list_rows(quant_work *work, int64_t *which, int64_t *first)
{
    const quant *q = work->facts;
    wg_kind kind = q->expert.value.kind;
    memset(first, 0, (size_t)(q->experts + 2) * sizeof *first);
    for (int64_t row = 0; row < q->call.rows; row++) {
        int64_t e = base_number_load(kind, work->expert_items, row).i;
        if (e < 0 || e >= q->experts) return exec_run_fail_item(work->run, q->node, row, e, 0, q->experts), false;
        first[e + 2]++;
    }
    for (int64_t e = 0; e < q->experts; e++) first[e + 2] += first[e + 1];
    for (int64_t row = 0; row < q->call.rows; row++) which[first[base_number_load(kind, work->expert_items, row).i + 1]++] = row;
    return true;
}

static void float_part(void *context, exec_range range, uint32_t thread)
{
    const quant_work *work = context;
    const quant *q = work->facts;
    void *room = work->run->scratch + q->room_at + thread * q->room_bytes;
    for (int64_t unit = range.first; unit < range.end; unit++) {
        exec_range columns = {unit * FLOAT_COLUMNS, exec_smaller(work->product.columns, (unit + 1) * FLOAT_COLUMNS)};
        for (int64_t row = 0; row < work->product.rows; row += EXEC_PACK_ROWS)
            work->run->kernels->product(&work->product, (exec_range){0, 1},
                                        (exec_range){row, exec_smaller(work->product.rows, row + EXEC_PACK_ROWS)}, columns, room);
    }
}

/* Moves the listed rows together (or back). */
static void move_rows(const exec_quant *call, char *together, char *apart, int64_t bytes, bool back)
{
    for (int64_t i = 0; i < call->rows; i++) {
        char *a = together + i * bytes, *b = apart + call->which[i] * bytes;
        memcpy(back ? b : a, back ? a : b, (size_t)bytes);
    }
}

/* Rows of one expert with weights of a float kind: a product of matrices, its rows side by side. */
static void run_floats(quant_work *work)
{
    const quant *q = work->facts;
    const exec_quant *call = &work->call;
    wg_kind kind = call->kind;
    int64_t item = base_kinds[kind].bytes, rows = call->rows, depth = call->depth, columns = call->columns;
    bool alone = rows == 1;
    char *x = (char *)call->x, *result = (char *)call->result, *together = work->run->scratch + q->rows_at,
         *products = work->run->scratch + q->products_at;
    if (!alone) move_rows(call, together, x, depth * item, false);
    work->product = exec_product_plain(kind, rows, depth, columns, alone ? x + call->which[0] * depth * item : together, call->w,
                                       alone ? result + call->which[0] * columns * item : products);
    work->product.b_depth = exec_side_plain(depth, q->w.strides[2]);
    work->product.b_columns = exec_side_plain(columns, q->w.strides[1]);
    double cost = (double)rows * (double)depth * FLOAT_COLUMNS * MULTIPLY_COST;
    exec_run_split(work->run, exec_pieces(columns, FLOAT_COLUMNS), 1, cost, float_part, work);
    if (!alone) move_rows(call, products, result, columns * item, true);
}

static void run_experts(exec_run *run, const quant *q, quant_work *work)
{
    int64_t *which = (int64_t *)(run->scratch + q->which_at), *first = which + q->call.rows;
    const uint8_t *w = work->call.w;
    work->expert_items = exec_dense_items(run, &q->expert);
    if (!list_rows(work, which, first)) return;
    bool blocks = base_kind_is_block(q->call.kind);
    if (!q->result.volume) return;
    if (blocks) prepare_rows(work);
    for (int64_t e = 0; e < q->experts; e++) {
        work->call.rows = first[e + 1] - first[e];
        work->call.which = which + first[e];
        work->call.w = w + e * q->w_expert;
        if (!work->call.rows) continue;
        if (blocks) run_group(work);
        else run_floats(work);
    }
}

static void run_quant(exec_run *run, const exec_stage *stage)
{
    const quant *q = stage->prepared;
    quant_work work = {.run = run, .facts = q, .call = q->call};
    work.call.x = (const float *)exec_dense_items(run, &q->x);
    work.call.w = (const uint8_t *)exec_items(run, &q->w);
    work.call.result = (float *)exec_items(run, &q->result);
    if (q->experts) run_experts(run, q, &work);
    else {
        prepare_rows(&work);
        run_group(&work);
    }
    exec_canonical_all(run, q->canonical, &q->result);
}

/* ---- preparing ---- */

static int64_t take(exec_call *call, int64_t count, int64_t bytes) { return exec_scratch_take(call->build, count * bytes); }

static void take_rows_of_blocks(exec_call *call, quant *q)
{
    int64_t rows = q->call.rows, depth = q->call.depth, part = base_block_part(q->call.kind);
    if (q->rounds) {
        q->rounded_at = take(call, rows * depth, 1);
        q->scales_at = take(call, rows * depth / 32, sizeof(float));
        q->integer_sums_at = take(call, rows * depth / part, sizeof(int32_t));
    } else {
        q->packed_at = take(call, exec_quant_pack_floats(rows, depth), sizeof(float));
        if (base_block_adds(q->call.kind)) q->sums_at = take(call, rows * depth / part, sizeof(float));
    }
    q->room_bytes = EXEC_QUANT_ROOM;
}

static void take_rows_of_floats(exec_call *call, quant *q)
{
    int64_t rows = exec_smaller(q->call.rows, EXEC_PACK_ROWS), item = base_kinds[q->call.kind].bytes;
    exec_product_room room = exec_product_room_of(rows, FLOAT_COLUMNS, q->call.depth),
                      turned = exec_product_room_of(FLOAT_COLUMNS, rows, q->call.depth);
    q->rows_at = take(call, q->call.rows * q->call.depth, item);
    q->products_at = take(call, q->call.rows * q->call.columns, item);
    q->room_bytes = (room.end > turned.end ? room.end : turned.end) * (int64_t)(item == 8 ? 8 : 4);
    q->room_bytes = base_align_up(q->room_bytes);
}

static quant *quant_of(exec_call *call, int64_t depth, int64_t columns, bool rounds)
{
    const exec_value *x = &call->operands[0], *w = &call->operands[1];
    quant *q = exec_call_take(call, sizeof *q);
    if (!q) return NULL;
    *q = (quant){.node = call->node, .x = exec_dense_of(call->build, x), .w = *w, .result = call->result, .canonical = call->canonical,
                 .rounds = rounds};
    q->call = exec_quant_of(w->kind, columns ? call->result.volume / columns : x->shape[0], depth, columns);
    q->call.w_row = base_kind_bytes(w->kind, w->strides[w->rank - 2]);
    if (base_kind_is_block(w->kind)) take_rows_of_blocks(call, q);
    else take_rows_of_floats(call, q);
    int64_t units = exec_pieces(columns, EXEC_QUANT_PANEL) * exec_pieces(q->call.rows, EXEC_QUANT_ROWS);
    q->room_at = exec_scratch_take(call->build, q->room_bytes * exec_scratch_pieces(call->build, units, 1));
    call->stage->run = run_quant;
    call->stage->prepared = q;
    call->stage->cost = (double)columns * (double)depth * ((double)q->call.rows * MULTIPLY_COST + UNPACK_COST);
    return q;
}

bool exec_call_QMatMul(exec_call *call)
{
    const exec_value *w = &call->operands[1];
    return quant_of(call, w->shape[1], w->shape[0], call->attributes[0] == GRAPH_ACTIVATION_Q8) != NULL;
}

bool exec_call_ExpertMatMul(exec_call *call)
{
    const exec_value *w = &call->operands[1];
    bool blocks = base_kind_is_block(w->kind);
    quant *q = quant_of(call, w->shape[2], w->shape[1], blocks && call->attributes[0] == GRAPH_ACTIVATION_Q8);
    if (!q) return false;
    q->experts = w->shape[0];
    q->w_expert = base_kind_bytes(w->kind, w->strides[0]);
    q->expert = exec_dense_of(call->build, &call->operands[2]);
    q->which_at = take(call, call->operands[2].volume + q->experts + 2, sizeof(int64_t));
    return true;
}

/* ---- values of blocks ---- */

typedef struct values {
    uint32_t node;
    exec_value from, result;
    exec_dense positions; /* of a Gather */
    int64_t runs, pre, extent, post, each, outside, axis; /* runs: of every batch and pre */
    float fill;
    bool canonical;
} values;

typedef struct values_work {
    exec_run *run;
    const values *facts;
    const char *positions;
    float *result;
    atomic_llong first_bad;
} values_work;

/* Row `row` of the items [.., depth], wherever the strides put it. */
static void convert_part(void *context, exec_range range, uint32_t thread)
{
    const values_work *work = context;
    const exec_value *from = &work->facts->from;
    int64_t depth = from->shape[from->rank - 1], blocks = base_kind_units(from->kind, depth);
    (void)thread;
    for (int64_t row = range.first; row < range.end; row++) {
        int64_t rest = row, offset = 0;
        for (uint32_t axis = from->rank - 1; axis-- > 0; rest /= from->shape[axis])
            offset += rest % from->shape[axis] * from->strides[axis];
        float *to = work->result + row * depth;
        base_block_values(from->kind, exec_items(work->run, from) + base_kind_bytes(from->kind, offset), blocks, to);
        exec_canonical(work->run, work->facts->canonical, WG_KIND_F32, to, depth);
    }
}

static void run_convert(exec_run *run, const exec_stage *stage)
{
    const values *v = stage->prepared;
    values_work work = {.run = run, .facts = v, .result = (float *)exec_items(run, &v->result)};
    int64_t depth = v->from.shape[v->from.rank - 1];
    exec_run_split(run, v->result.volume / depth, 1, 2 * (double)depth, convert_part, &work);
}

static values *values_of(exec_call *call)
{
    values *v = exec_call_take(call, sizeof *v);
    if (!v) return NULL;
    v->node = call->node;
    v->from = call->operands[0];
    v->result = call->result;
    v->canonical = call->canonical;
    call->stage->prepared = v;
    return v;
}

bool exec_block_convert(exec_call *call)
{
    call->stage->run = run_convert;
    return values_of(call) != NULL;
}

/* Unit (o, i): run o of [batch.., pre..], position i. */
static void gather_part(void *context, exec_range range, uint32_t thread)
{
    values_work *work = context;
    const values *v = work->facts;
    (void)thread;
    for (int64_t unit = range.first; unit < range.end; unit++) {
        int64_t o = unit / v->each, item = o / v->pre * v->each + unit % v->each;
        int64_t position = base_number_load(v->positions.value.kind, work->positions, item).i;
        float *to = work->result + unit * v->post;
        bool inside = position >= 0 && position < v->extent;
        if (!inside && v->outside == GRAPH_OUTSIDE_CLAMP && v->extent) position = position < 0 ? 0 : v->extent - 1, inside = true;
        if (!inside && v->outside != GRAPH_OUTSIDE_FILL) {
            exec_least(&work->first_bad, item);
            continue;
        }
        if (inside) {
            const char *from = exec_items(work->run, &v->from) + base_kind_bytes(v->from.kind, (o * v->extent + position) * v->post);
            base_block_values(v->from.kind, from, base_kind_units(v->from.kind, v->post), to);
        } else for (int64_t n = 0; n < v->post; n++) to[n] = v->fill;
        exec_canonical(work->run, v->canonical, WG_KIND_F32, to, v->post);
    }
}

static void run_gather(exec_run *run, const exec_stage *stage)
{
    const values *v = stage->prepared;
    values_work work = {.run = run, .facts = v, .positions = exec_dense_items(run, &v->positions),
                        .result = (float *)exec_items(run, &v->result)};
    int64_t none = INT64_MAX;
    atomic_init(&work.first_bad, none);
    exec_run_split(run, v->runs * v->each, 1, 2 * (double)v->post + 8, gather_part, &work);
    int64_t item = atomic_load(&work.first_bad);
    if (item != none)
        exec_run_fail_item(run, v->node, item, base_number_load(v->positions.value.kind, work.positions, item).i, v->axis, v->extent);
}

bool exec_block_gather(exec_call *call)
{
    values *v = values_of(call);
    if (!v) return false;
    const exec_value *from = &call->operands[0], *positions = &call->operands[1];
    int64_t batch = call->attributes[GRAPH_ATTRIBUTE(Gather, batch)];
    double fill;
    v->axis = call->attributes[GRAPH_ATTRIBUTE(Gather, axis)];
    v->outside = call->attributes[GRAPH_ATTRIBUTE(Gather, outside)];
    memcpy(&fill, &call->attributes[GRAPH_ATTRIBUTE(Gather, fill)], sizeof fill);
    base_number_store(WG_KIND_F32, &v->fill, 0, base_number_from_double(WG_KIND_F32, fill));
    v->positions = exec_dense_of(call->build, positions);
    v->runs = v->pre = v->post = v->each = 1;
    v->extent = from->shape[v->axis];
    for (int64_t axis = batch; axis < v->axis; axis++) v->pre *= from->shape[axis];
    for (int64_t axis = v->axis + 1; axis < (int64_t)from->rank; axis++) v->post *= from->shape[axis];
    for (int64_t axis = batch; axis < (int64_t)positions->rank; axis++) v->each *= positions->shape[axis];
    if (!v->pre || !v->post) v->pre = 1, v->post = 0; /* what moves nothing checks each position all the same */
    for (int64_t axis = 0; axis < batch; axis++) v->runs *= from->shape[axis];
    v->runs *= v->pre;
    call->stage->run = run_gather;
    return true;
}
