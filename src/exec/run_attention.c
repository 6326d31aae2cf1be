/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The stage of an Attention match: weights(scores(q k)) v, a block of query rows at a time. The scores of a block against the keys that it
 * sees are one product into the thread's scratch, the rows between the two products run on one line of it after the other as they were
 * recorded, and the lines are the left side of the second product. So nothing of the size of all scores exists.
 *
 * Hidden keys. A mask that hides leaves -inf in front of the softmax, which becomes a weight of exactly 0. Which keys no row of a block
 * sees is found from the mask's own items, before anything is computed with them; they are left out where that keeps the bits:
 *   - maxima and sums: -inf and +0 add nothing; keys are left out at the front in multiples of the canonical order's blocks and subtrees;
 *   - the second product: fma(0, v, s) is s where v is finite, which is looked at; zeros' signs are made up for by the +0 added last;
 *   - an added mask: x - inf is -inf where x is a number below +inf, which bounds on |q| and |k| prove.
 * Where one does not hold, the block computes with all keys. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "exec/exec_attention.h"

/* ---- one line ---- */

/* What a thread knows of the batch under way; made when it is asked for. Kept in its piece from one range of work to the next. */
typedef struct known {
    int64_t batch;      /* -1: none yet */
    bool positions;     /* those of keys are filled in */
    double largest_key; /* < 0: not asked yet */
    int finite;         /* -1: not asked yet */
    bool packed;        /* those at these places are */
    int64_t keys_at, values_at;
    int64_t offsets_of; /* the batch whose places in the reads are filled in, -1: none */
} known;
static_assert(sizeof(known) <= ATTENTION_KNOWN_BYTES, "what a thread knows has its room");

/* A thread's place: its piece of scratch, and where registers are for the line under way. */
typedef struct lines {
    exec_run *run;
    const exec_attention *a;
    char *piece;
    char **at;          /* [register_count] */
    int64_t *offsets;   /* [read_count] of the batch, in items */
    known *known;
    int64_t batch, first_row, first_key, keys;
} lines;

static int64_t width_of(wg_kind kind) { return base_kinds[kind].bytes; }

static void run_line_step(const lines *l, const attention_step *step)
{
    const exec_kernels *kernels = l->run->kernels;
    const attention_register *target = &l->a->registers[step->target];
    int64_t count = target->one ? 1 : l->keys;
    const void *operands[3] = {NULL, NULL, NULL};
    for (uint32_t o = 0; o < step->operand_count; o++) operands[o] = l->at[step->operands[o]];
    switch (step->action) {
    case ATTENTION_GATHER: {
        const attention_read *read = &l->a->reads[target->read];
        exec_copying copy = {.item_bytes = (size_t)width_of(target->kind), .rank = 1, .shape = {count}, .to_stride = {1},
                             .from_stride = {read->key}, .items = l->at[l->a->read_base + target->read], .result = l->at[step->target]};
        kernels->copy(&copy, (exec_range){0, count});
        break;
    }
    case ATTENTION_BLOCK: step->function(l->at[step->target], operands, step->scalars, count); break;
    case ATTENTION_LOG_SOFTMAX: {
        exec_log log = {.kind = target->kind, .whole = true, .extent = l->keys, .inner = 1, .items = operands[0],
                        .result = l->at[step->target]};
        exec_log_domain(kernels, &log, (exec_range){0, 1});
        break;
    }
    case ATTENTION_FOLD: {
        exec_reduction fold = {.fold = step->fold, .kind = l->a->registers[step->operands[0]].kind, .accumulate = step->accumulate,
                               .result_kind = target->kind, .extent = l->keys, .inner = 1, .outer_stride = l->keys, .extent_stride = 1,
                               .items = operands[0], .result = l->at[step->target]};
        kernels->reduce(&fold, (exec_range){0, 1});
        break;
    }
    }
}

/* Positions along an axis of rows or batches: one item of the line. */
static void set_position(const lines *l, const attention_register *reg, int64_t row, char *to)
{
    int64_t place = reg->axis == l->a->row_axis ? row : l->batch / reg->axis_inner % reg->axis_extent;
    base_number number = {.i = place};
    base_number_store(reg->kind, to, 0, base_number_convert(number, WG_KIND_I64, reg->kind, false));
}

static void point_at_batch(const lines *l)
{
    if (l->known->offsets_of == l->batch) return;
    for (uint32_t r = 0; r < l->a->read_count; r++) exec_side_offsets(&l->a->reads[r].batch, l->batch, 1, &l->offsets[r]);
    l->known->offsets_of = l->batch;
}

/* Where every register is for one row; `row` counts from the query's first. */
static void point_at_row(const lines *l, int64_t row)
{
    const exec_attention *a = l->a;
    point_at_batch(l);
    for (uint32_t r = 0; r < a->register_count; r++) {
        const attention_register *reg = &a->registers[r];
        char *room = l->piece + reg->room * a->room_bytes;
        switch (reg->home) {
        case ATTENTION_IN_ROOM: l->at[r] = room; break;
        case ATTENTION_IN_KEYS: l->at[r] = l->piece + a->keys_at + reg->room * a->room_bytes + l->first_key * width_of(reg->kind); break;
        case ATTENTION_IN_PLACE: break; /* with the reads */
        case ATTENTION_IN_SCORES: l->at[r] = l->piece + a->scores_at + (row - l->first_row) * a->pitch * width_of(reg->kind); break;
        case ATTENTION_IN_WEIGHTS: l->at[r] = l->piece + a->weights_at + (row - l->first_row) * a->pitch * width_of(reg->kind); break;
        }
        if (reg->position) set_position(l, reg, row, l->at[r]);
    }
    for (uint32_t r = 0; r < a->read_count; r++) {
        const attention_read *read = &a->reads[r];
        int64_t offset = l->offsets[r] + row * read->row + l->first_key * read->key;
        l->at[a->read_base + r] = exec_items(l->run, &read->value) + offset * width_of(read->value.kind);
        if (a->registers[r].home == ATTENTION_IN_PLACE) l->at[r] = l->at[a->read_base + r];
    }
}

static void run_steps(const lines *l, uint32_t first, uint32_t end)
{
    for (uint32_t s = first; s < end; s++) run_line_step(l, &l->a->steps[s]);
}

static void fill_key_positions(const lines *l)
{
    const exec_attention *a = l->a;
    if (l->known->positions) return;
    l->known->positions = true;
    for (uint32_t r = 0; r < a->register_count; r++) {
        const attention_register *reg = &a->registers[r];
        if (reg->home == ATTENTION_IN_KEYS)
            exec_iota(reg->kind, a->keys, 1, l->piece + a->keys_at + reg->room * a->room_bytes, (exec_range){0, a->keys});
    }
}

static lines lines_of(exec_run *run, const exec_attention *a, uint32_t thread)
{
    lines l = {.run = run, .a = a, .piece = run->scratch + a->scratch_at + thread * a->piece_bytes};
    l.at = (char **)(void *)(l.piece + a->at_at);
    l.offsets = (int64_t *)(void *)(l.at + a->read_base + a->read_count);
    l.known = (known *)(void *)(l.piece + a->known_at);
    fill_key_positions(&l);
    return l;
}

/* ---- which keys a block of rows sees ---- */

static bool hides(wg_kind kind, const char *items, int64_t i)
{
    switch (kind) {
    case WG_KIND_F16: return ((const uint16_t *)(const void *)items)[i] == 0xfc00;
    case WG_KIND_BF16: return ((const uint16_t *)(const void *)items)[i] == 0xff80;
    case WG_KIND_F32: return ((const float *)(const void *)items)[i] == -INFINITY;
    default: return ((const double *)(const void *)items)[i] == -INFINITY;
    }
}

static bool zero_at(wg_kind kind, const char *items, int64_t i)
{
    switch (kind) {
    case WG_KIND_F16:
    case WG_KIND_BF16: return !(((const uint16_t *)(const void *)items)[i] & 0x7fff);
    case WG_KIND_F32: return ((const float *)(const void *)items)[i] == 0;
    default: return ((const double *)(const void *)items)[i] == 0;
    }
}

/* Whether the key at place i of the line under way is hidden. */
static bool hidden(const lines *l, int64_t i)
{
    const attention_mask *mask = &l->a->mask;
    const attention_register *reg = &l->a->registers[mask->keeps];
    if (reg->one) i = 0;
    if (mask->form == ATTENTION_ADDED) return hides(reg->kind, l->at[mask->keeps], i);
    return (((const uint8_t *)l->at[mask->keeps])[i] != 0) != (mask->form == ATTENTION_KEPT_WHERE);
}

/* Whether the mask leaves the score at place i: it adds a zero (which may make +0 of -0: to a weight they are the same), or chooses it. */
static bool kept_as_it_is(const lines *l, int64_t i)
{
    const attention_mask *mask = &l->a->mask;
    const attention_register *reg = &l->a->registers[mask->keeps];
    if (mask->form != ATTENTION_ADDED) return !hidden(l, i);
    return zero_at(reg->kind, l->at[mask->keeps], reg->one ? 0 : i);
}

/* What is chosen for a hidden key is -inf. */
static bool hides_by_infinity(const lines *l)
{
    const attention_mask *mask = &l->a->mask;
    if (mask->form == ATTENTION_ADDED) return true;
    const attention_register *reg = &l->a->registers[mask->instead];
    return reg->one && hides(reg->kind, l->at[mask->instead], 0);
}

/* What the row under way sees; all keys where what hides them is not -inf. */
static attention_row seen_by_row(const lines *l)
{
    const exec_attention *a = l->a;
    if (!hides_by_infinity(l)) return (attention_row){0, a->keys, false};
    attention_row row = {.end = a->keys, .whole = true};
    while (row.first < row.end && hidden(l, row.first)) row.first++;
    while (row.end > row.first && hidden(l, row.end - 1)) row.end--;
    for (int64_t i = row.first; i < row.end && row.whole; i++) row.whole = kept_as_it_is(l, i);
    return row;
}

/* The keys from the first to the last that some row of a block sees; and those of each row. */
static exec_range seen_by(lines *l, int64_t rows, attention_row *each)
{
    const exec_attention *a = l->a;
    exec_range seen = {a->keys, 0};
    l->first_key = 0;
    l->keys = a->keys;
    for (int64_t i = 0; i < rows; i++) {
        point_at_row(l, l->first_row + i);
        if (i == 0) run_steps(l, 0, a->block_steps);
        run_steps(l, a->block_steps, a->block_steps + a->mask_steps);
        each[i] = seen_by_row(l);
        if (each[i].first >= each[i].end) continue;
        if (each[i].first < seen.first) seen.first = each[i].first;
        if (each[i].end > seen.end) seen.end = each[i].end;
    }
    return seen;
}

/* A range of keys that stands in the canonical order as it would in the whole: its end is free, its beginning a depth block's, and where
 * it reaches over chunks of a sum, the beginning of a subtree that holds all of it. */
static exec_range aligned(const exec_attention *a, exec_range seen)
{
    int64_t keys = a->keys;
    if (a->values.b_depth.rank != 1) seen.first = 0; /* rows of values that are not evenly apart */
    if (seen.first >= seen.end) return (exec_range){0, keys < 64 ? keys : 64}; /* rows that see no key: any will do */
    int64_t first = seen.first / EXEC_DEPTH_BLOCK * EXEC_DEPTH_BLOCK, subtree = EXEC_FOLD_CHUNK, end = (seen.end + 15) / 16 * 16;
    if (end > keys) end = keys;
    if (first / subtree != (end - 1) / subtree)
        for (first = first / subtree * subtree; first / subtree != (end - 1) / subtree; first = first / subtree * subtree) subtree *= 2;
    return (exec_range){first, end};
}

typedef struct attention_work {
    exec_run *run;
    const exec_attention *a;
    exec_product scores, values;
    exec_range *seen;    /* [mask batches][row blocks] */
    attention_row *rows; /* [mask batches][rows] */
} attention_work;

static int64_t rows_of(const exec_attention *a, int64_t block)
{
    int64_t left = a->rows - block * a->block_rows;
    return left < a->block_rows ? left : a->block_rows;
}

static void seen_part(void *context, exec_range range, uint32_t thread)
{
    attention_work *work = context;
    lines l = lines_of(work->run, work->a, thread);
    for (int64_t unit = range.first; unit < range.end; unit++) {
        int64_t block = unit % work->a->row_blocks;
        l.batch = unit / work->a->row_blocks;
        l.first_row = block * work->a->block_rows;
        attention_row *each = work->rows + l.batch * work->a->rows + l.first_row;
        work->seen[unit] = aligned(work->a, seen_by(&l, rows_of(work->a, block), each));
    }
}

/* ---- whether hidden keys may be left out ---- */

/* Of the carried keys (0) or values (1): no item's magnitude is more. They are looked over once; then the runs that write into them keep it. */
static void look_over(const attention_work *work, int which)
{
    const exec_attention *a = work->a;
    double *largest = a->kept[which] == WG_NONE ? NULL : &work->run->largest[a->kept[which]];
    wg_kind kind = which ? a->values.b_kind : a->scores.b_kind;
    if (largest && *largest < 0)
        *largest = exec_largest_of_all(work->run->kernels, kind, work->run->bases[a->kept[which]], a->kept_items[which]);
}

static double kept_largest(const attention_work *work, int which)
{
    uint32_t kept = work->a->kept[which];
    return kept == WG_NONE ? INFINITY : work->run->largest[kept];
}

static bool scores_stay_finite(attention_work *work, const lines *l, int64_t rows)
{
    known *k = l->known;
    const exec_attention *a = work->a;
    const attention_mask *mask = &a->mask;
    if (mask->form != ATTENTION_ADDED) return true;
    int64_t width = width_of(work->scores.b_kind), at;
    if (k->largest_key < 0 && kept_largest(work, 0) < INFINITY) k->largest_key = kept_largest(work, 0);
    if (k->largest_key < 0) {
        exec_side_offsets(&work->scores.b_batch, l->batch, 1, &at);
        k->largest_key = exec_largest_of(work->run->kernels, work->scores.b_kind, (const char *)work->scores.b + at * width, &work->scores.b_columns,
                                      (exec_range){0, a->keys}, &work->scores.b_depth, work->scores.depth);
    }
    exec_side_offsets(&work->scores.a_batch, l->batch, 1, &at);
    double bound = exec_largest_of(work->run->kernels, work->scores.a_kind, (const char *)work->scores.a + at * width, &work->scores.a_rows,
                                (exec_range){l->first_row, l->first_row + rows}, &work->scores.a_depth, work->scores.depth);
    double limit = work->scores.result_kind == WG_KIND_F64 ? 1e300 : work->scores.result_kind == WG_KIND_F16 ? 3e4 : 1e37;
    bound *= k->largest_key * (double)work->scores.depth * 1.01;
    for (uint32_t f = 0; f < mask->factor_count && bound < limit; f++) {
        const attention_factor *factor = &mask->factors[f];
        if (factor->op == WG_OP_Tanh) {
            bound = 1;
            continue;
        }
        wg_kind kind = a->registers[factor->by].kind;
        base_number by = base_number_convert(base_number_load(kind, l->at[factor->by], 0), kind, WG_KIND_F64, false);
        bound = (factor->op == WG_OP_Mul ? bound * fabs(by.d) : bound / fabs(by.d)) * 1.01;
    }
    return bound < limit;
}

static bool keys_have_finite_values(const attention_work *work, const char *items, exec_range keys)
{
    const exec_product *values = &work->values;
    return isfinite(exec_largest_of(work->run->kernels, values->b_kind, items, &values->b_depth, keys, &values->b_columns, work->a->columns));
}

static bool values_are_finite(attention_work *work, const lines *l, exec_range seen)
{
    if (kept_largest(work, 1) < INFINITY) return true;
    known *k = l->known;
    const exec_attention *a = work->a;
    int64_t width = width_of(work->values.b_kind), at;
    exec_side_offsets(&work->values.b_batch, l->batch, 1, &at);
    const char *items = (const char *)work->values.b + at * width;
    if (a->row_blocks == 1) { /* asked once: of the keys left out alone */
        exec_range before = {0, seen.first}, behind = {seen.end, a->keys};
        return keys_have_finite_values(work, items, before) && keys_have_finite_values(work, items, behind);
    }
    if (k->finite < 0) k->finite = keys_have_finite_values(work, items, (exec_range){0, a->keys});
    return k->finite;
}

/* ---- blocks of rows ---- */

static void softmax_of_line(const lines *l)
{
    const attention_softmax *softmax = &l->a->softmax;
    exec_weighing weighing = {softmax->logs, -INFINITY, -INFINITY};
    if (softmax->lowest != WG_NONE) weighing.lowest = *(const float *)(const void *)l->at[softmax->lowest];
    if (softmax->least != WG_NONE) weighing.least = *(const float *)(const void *)l->at[softmax->least];
    l->run->kernels->weigh(&weighing, (const float *)(const void *)l->at[softmax->of], (float *)(void *)l->at[l->a->weights], l->keys);
}

/* The weights of one row. plain: its mask leaves all of its keys as they are. */
static void weigh_row(const lines *l, bool plain)
{
    const exec_attention *a = l->a;
    uint32_t end = a->softmax.one_kernel ? a->softmax.first_step : a->step_count;
    for (uint32_t s = a->block_steps; s < end; s++) {
        bool skipped = plain && (a->steps[s].mask_alone || s == a->mask.step);
        if (!skipped) run_line_step(l, &a->steps[s]);
        else if (s == a->mask.step) l->at[a->steps[s].target] = l->at[a->mask.spine];
    }
    if (a->softmax.one_kernel) softmax_of_line(l);
}

/* rows NULL: every row computes with all keys of the block; else with those up to its last, and the weights behind them are 0. */
static void weigh(lines *l, int64_t count, const attention_row *rows)
{
    const exec_attention *a = l->a;
    int64_t keys = l->keys, width = width_of(a->values.b_kind);
    for (int64_t i = 0; i < count; i++) {
        bool sees = rows && rows[i].first < rows[i].end;
        if (sees) l->keys = rows[i].end - l->first_key;
        point_at_row(l, l->first_row + i);
        if (i == 0) {
            l->keys = keys;
            run_steps(l, 0, a->block_steps);
            if (sees) l->keys = rows[i].end - l->first_key;
        }
        weigh_row(l, sees && rows[i].whole && rows[i].first <= l->first_key);
        memset(l->at[a->weights] + l->keys * width, 0, (size_t)((keys - l->keys) * width));
        l->keys = keys;
    }
}

static void pack_all(const lines *l, exec_product *product, int64_t width, int64_t to)
{
    product->packed_width = width;
    l->run->kernels->product_pack(product, l->batch, (exec_range){0, product->columns}, (exec_range){0, product->depth}, l->piece + to);
}

/* A batch's keys and values; several batches in turn may read the same ones. */
static void pack(const attention_work *work, const lines *l)
{
    const exec_attention *a = l->a;
    exec_product scores = work->scores, values = work->values;
    int64_t keys_at, values_at;
    exec_side_offsets(&scores.b_batch, l->batch, 1, &keys_at);
    exec_side_offsets(&values.b_batch, l->batch, 1, &values_at);
    if (l->known->packed && l->known->keys_at == keys_at && l->known->values_at == values_at) return;
    pack_all(l, &scores, a->keys_width, a->packed_keys_at);
    pack_all(l, &values, a->values_width, a->packed_values_at);
    l->known->packed = true;
    l->known->keys_at = keys_at;
    l->known->values_at = values_at;
}

static void attend(attention_work *work, lines *l, int64_t count, const attention_row *rows)
{
    const exec_attention *a = work->a;
    void *room = l->piece + a->product_at;
    exec_product scores = work->scores, values = work->values;
    int64_t item = width_of(scores.result_kind);
    if (a->packed) {
        scores.b_packed = l->piece + a->packed_keys_at;
        scores.packed_width = a->keys_width;
        values.b_packed = l->piece + a->packed_values_at + l->first_key * a->values_width * exec_product_sum_bytes(&values);
        values.packed_width = a->values_width;
        values.packed_depth = a->keys - l->first_key;
    }
    scores.result = l->piece + a->scores_at - (l->first_row * a->pitch + l->first_key) * item;
    work->run->kernels->product(&scores, (exec_range){l->batch, l->batch + 1}, (exec_range){l->first_row, l->first_row + count},
                                (exec_range){l->first_key, l->first_key + l->keys}, room);
    if (l->keys > 0) weigh(l, count, rows);
    int64_t width = width_of(values.b_kind), at;
    exec_side_offsets(&values.b_depth, l->first_key, 1, &at);
    values.a = l->piece + a->weights_at;
    values.b = (const char *)values.b + at * width;
    values.rows = count;
    values.depth = l->keys;
    values.result = (char *)values.result + l->first_row * a->columns * width_of(values.result_kind);
    work->run->kernels->product(&values, (exec_range){l->batch, l->batch + 1}, (exec_range){0, count}, (exec_range){0, a->columns}, room);
    char *result = (char *)values.result + l->batch * a->rows * a->columns * width_of(values.result_kind);
    exec_canonical(work->run, a->canonical, values.result_kind, result, count * a->columns);
}

static void attend_part(void *context, exec_range range, uint32_t thread)
{
    attention_work *work = context;
    const exec_attention *a = work->a;
    lines l = lines_of(work->run, a, thread);
    known *k = l.known;
    for (int64_t unit = range.first; unit < range.end; unit++) {
        int64_t block = unit % a->row_blocks, count = rows_of(a, block);
        l.batch = unit / a->row_blocks;
        l.first_row = block * a->block_rows;
        l.first_key = 0;
        l.keys = a->keys;
        if (k->batch != l.batch) {
            *k = (known){.batch = l.batch, .positions = true, .largest_key = -1, .finite = -1, .packed = k->packed, .keys_at = k->keys_at,
                         .values_at = k->values_at, .offsets_of = k->offsets_of};
            if (a->packed) pack(work, &l);
        }
        const attention_row *rows = NULL;
        if (a->mask.form != ATTENTION_OPEN) {
            point_at_row(&l, l.first_row);
            rows = scores_stay_finite(work, &l, count) ? work->rows + (a->mask.by_batch ? l.batch : 0) * a->rows + l.first_row : NULL;
        }
        exec_range seen = rows ? work->seen[a->mask.by_batch ? unit : block] : (exec_range){0, a->keys};
        if (seen.end - seen.first < a->keys && values_are_finite(work, &l, seen)) {
            l.first_key = seen.first;
            l.keys = seen.end - seen.first;
        }
        attend(work, &l, count, rows);
    }
}

void exec_attention_run(exec_run *run, const exec_stage *stage)
{
    const exec_attention *a = stage->prepared;
    attention_work work = {.run = run, .a = a, .scores = a->scores, .values = a->values};
    work.seen = (exec_range *)(void *)(run->scratch + a->seen_at);
    work.rows = (attention_row *)(void *)(run->scratch + a->rows_at);
    work.scores.a = exec_dense_items(run, &a->sides[0]) + a->offsets[0] * width_of(a->scores.a_kind);
    work.scores.b = exec_dense_items(run, &a->sides[1]) + a->offsets[1] * width_of(a->scores.b_kind);
    work.values.b = exec_dense_items(run, &a->sides[2]) + a->offsets[2] * width_of(a->values.b_kind);
    work.values.result = exec_items(run, &a->result);
    for (int64_t piece = 0; piece < a->pieces; piece++)
        *(known *)(void *)(run->scratch + a->scratch_at + piece * a->piece_bytes + a->known_at) = (known){.batch = -1, .offsets_of = -1};
    if (a->mask.form == ATTENTION_ADDED) look_over(&work, 0);
    if (a->mask.form != ATTENTION_OPEN) look_over(&work, 1);
    if (a->mask.form != ATTENTION_OPEN)
        exec_run_split(run, (a->mask.by_batch ? a->batches : 1) * a->row_blocks, 1, a->mask_cost, seen_part, &work);
    exec_run_split(run, a->batches * a->row_blocks, 1, a->unit_cost, attend_part, &work);
}
