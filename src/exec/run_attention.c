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
 * Where one does not hold, the block computes with all keys.
 *
 * The gradient makes the weights again, by the same steps of the same items. A batch is one unit: as many of its rows as are a depth block stand
 * in the sheet of weights and in that of slopes beside it, made a few rows at a time; what those rows add to the slopes by k and v is then one
 * depth block of the products that make them. Hidden keys are left out where all that their zeros meet is finite. */
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
    int64_t sheet_row; /* the first in the sheet */
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
        case ATTENTION_IN_SCORES: l->at[r] = l->piece + a->scores_at + (row - l->sheet_row) * a->pitch * width_of(reg->kind); break;
        case ATTENTION_IN_WEIGHTS: l->at[r] = l->piece + a->weights_at + (row - l->sheet_row) * a->pitch * width_of(reg->kind); break;
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
        l.first_row = l.sheet_row = block * work->a->block_rows;
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

/* The product is the thread's own: others pack by theirs meanwhile. */
static void pack_all(const lines *l, exec_product product, int64_t width, int64_t to)
{
    product.packed_width = width;
    l->run->kernels->product_pack(&product, l->batch, (exec_range){0, product.columns}, (exec_range){0, product.depth}, l->piece + to);
}

/* A batch's keys and values; several batches in turn may read the same ones. */
static void pack(const attention_work *work, const lines *l)
{
    const exec_attention *a = l->a;
    int64_t keys_at, values_at;
    exec_side_offsets(&work->scores.b_batch, l->batch, 1, &keys_at);
    exec_side_offsets(&work->values.b_batch, l->batch, 1, &values_at);
    if (l->known->packed && l->known->keys_at == keys_at && l->known->values_at == values_at) return;
    pack_all(l, work->scores, a->keys_width, a->packed_keys_at);
    pack_all(l, work->values, a->values_width, a->packed_values_at);
    l->known->packed = true;
    l->known->keys_at = keys_at;
    l->known->values_at = values_at;
}

/* One row uses its keys and values once, and would wait for each line of them: the values are asked for before the keys are used, and the
 * keys of the next batch. Columns (or rows) of b, `items` each, side by side. */
#define ASKED_BYTES (32 << 10)
static void ask_for(const exec_product *product, int64_t batch, const exec_side *across, int64_t items, exec_range range)
{
    int64_t width = width_of(product->b_kind), at, first, step = across->rank == 1 ? across->stride[0] : 0;
    if (step != items || batch >= product->batches) return;
    exec_side_offsets(&product->b_batch, batch, 1, &at);
    first = at + range.first * step;
    const char *from = (const char *)product->b + first * width, *end = from + (range.end - range.first) * step * width;
    if (end - from > ASKED_BYTES) end = from + ASKED_BYTES; /* by then the processor has seen where this goes */
    for (; from < end; from += 64) __builtin_prefetch(from, 0, 2);
}

/* What is known is of another batch. */
static void begin_batch(const attention_work *work, const lines *l)
{
    known *k = l->known;
    if (k->batch == l->batch) return;
    *k = (known){.batch = l->batch, .positions = true, .largest_key = -1, .finite = -1, .packed = k->packed, .keys_at = k->keys_at,
                 .values_at = k->values_at, .offsets_of = k->offsets_of};
    if (work->a->packed) pack(work, l);
}

/* The weights of rows, by the keys under way. */
static void make_weights(const attention_work *work, lines *l, int64_t count, const attention_row *rows)
{
    const exec_attention *a = work->a;
    exec_product scores = work->scores;
    if (a->packed) {
        scores.b_packed = l->piece + a->packed_keys_at;
        scores.packed_width = a->keys_width;
    }
    scores.result = l->piece + a->scores_at - (l->sheet_row * a->pitch + l->first_key) * width_of(scores.result_kind);
    work->run->kernels->product(&scores, (exec_range){l->batch, l->batch + 1}, (exec_range){l->first_row, l->first_row + count},
                                (exec_range){l->first_key, l->first_key + l->keys}, l->piece + a->product_at);
    if (l->keys > 0) weigh(l, count, rows);
}

/* The second product: lines `from`, one a row, by the keys under way. */
static void multiply_lines(const attention_work *work, const lines *l, int64_t count, const char *from)
{
    const exec_attention *a = work->a;
    exec_product values = work->values;
    if (a->packed) {
        values.b_packed = l->piece + a->packed_values_at + l->first_key * a->values_width * exec_product_sum_bytes(&values);
        values.packed_width = a->values_width;
        values.packed_depth = a->keys - l->first_key;
    }
    int64_t width = width_of(values.b_kind), at;
    exec_side_offsets(&values.b_depth, l->first_key, 1, &at);
    values.a = from;
    values.b = (const char *)values.b + at * width;
    values.rows = count;
    values.depth = l->keys;
    values.result = (char *)values.result + l->first_row * a->columns * width_of(values.result_kind);
    work->run->kernels->product(&values, (exec_range){l->batch, l->batch + 1}, (exec_range){0, count}, (exec_range){0, a->columns},
                                l->piece + a->product_at);
    char *result = (char *)values.result + l->batch * a->rows * a->columns * width_of(values.result_kind);
    exec_canonical(work->run, a->canonical, values.result_kind, result, count * a->columns);
}

static void attend(attention_work *work, lines *l, int64_t count, const attention_row *rows)
{
    const exec_attention *a = work->a;
    if (a->rows == 1) {
        exec_range keys = {l->first_key, l->first_key + l->keys};
        ask_for(&work->values, l->batch, &work->values.b_depth, a->columns, keys);
        ask_for(&work->scores, l->batch + 1, &work->scores.b_columns, work->scores.depth, keys);
    }
    make_weights(work, l, count, rows);
    multiply_lines(work, l, count, l->piece + a->weights_at);
}

static void attend_part(void *context, exec_range range, uint32_t thread)
{
    attention_work *work = context;
    const exec_attention *a = work->a;
    lines l = lines_of(work->run, a, thread);
    for (int64_t unit = range.first; unit < range.end; unit++) {
        int64_t block = unit % a->row_blocks, count = rows_of(a, block);
        l.batch = unit / a->row_blocks;
        l.first_row = l.sheet_row = block * a->block_rows;
        l.first_key = 0;
        l.keys = a->keys;
        begin_batch(work, &l);
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

static attention_work work_of(exec_run *run, const exec_attention *a)
{
    attention_work work = {.run = run, .a = a, .scores = a->scores, .values = a->values};
    work.seen = (exec_range *)(void *)(run->scratch + a->seen_at);
    work.rows = (attention_row *)(void *)(run->scratch + a->rows_at);
    work.scores.a = exec_dense_items(run, &a->sides[0]) + a->offsets[0] * width_of(a->scores.a_kind);
    work.scores.b = exec_dense_items(run, &a->sides[1]) + a->offsets[1] * width_of(a->scores.b_kind);
    work.values.b = exec_dense_items(run, &a->sides[2]) + a->offsets[2] * width_of(a->values.b_kind);
    work.values.result = exec_items(run, &a->result);
    for (int64_t piece = 0; piece < a->pieces; piece++)
        *(known *)(void *)(run->scratch + a->scratch_at + piece * a->piece_bytes + a->known_at) = (known){.batch = -1, .offsets_of = -1};
    return work;
}

static void find_seen(attention_work *work)
{
    const exec_attention *a = work->a;
    if (a->mask.form != ATTENTION_OPEN)
        exec_run_split(work->run, (a->mask.by_batch ? a->batches : 1) * a->row_blocks, 1, a->mask_cost, seen_part, work);
}

void exec_attention_run(exec_run *run, const exec_stage *stage)
{
    const exec_attention *a = stage->prepared;
    attention_work work = work_of(run, a);
    if (a->mask.form == ATTENTION_ADDED) look_over(&work, 0);
    if (a->mask.form != ATTENTION_OPEN) look_over(&work, 1);
    find_seen(&work);
    exec_run_split(run, a->batches * a->row_blocks, 1, a->unit_cost, attend_part, &work);
}

/* ---- the gradient ---- */

typedef struct gradient_work {
    attention_work attention;
    exec_product weights, by_v, by_k;
    float factor;
} gradient_work;

static double largest_of(const attention_work *work, const void *items, const exec_side *batches, int64_t batch, const exec_side *lines, int64_t count,
                         const exec_side *inner, int64_t items_of_line)
{
    int64_t at;
    exec_side_offsets(batches, batch, 1, &at);
    return exec_largest_of(work->run->kernels, WG_KIND_F32, (const float *)items + at, lines, (exec_range){0, count}, inner, items_of_line);
}

/* Whether zeros among weights and slopes stay zeros in all products of a batch. */
static bool is_bounded(const gradient_work *work, int64_t batch)
{
    const exec_product *g = &work->weights, *k = &work->attention.values, *q = &work->by_k;
    const exec_attention *a = work->attention.a;
    double of_g = largest_of(&work->attention, g->a, &g->a_batch, batch, &g->a_rows, g->rows, &g->a_depth, g->depth);
    double of_v = largest_of(&work->attention, g->b, &g->b_batch, batch, &g->b_columns, g->columns, &g->b_depth, g->depth);
    double of_k = largest_of(&work->attention, k->b, &k->b_batch, batch, &k->b_depth, a->keys, &k->b_columns, a->columns);
    double of_q = largest_of(&work->attention, q->a, &q->a_batch, batch, &q->a_rows, q->rows, &q->a_depth, a->rows);
    return of_g < INFINITY && of_g * of_v * (double)g->depth * 1.01 < 1e37 && of_k < INFINITY && of_q < INFINITY && isfinite(work->factor);
}

/* What a block of rows sees: how many keys, all where `rows` is NULL. */
static int64_t keys_of_block(gradient_work *work, lines *l, int64_t block, bool bounded, const attention_row **rows)
{
    const exec_attention *a = l->a;
    int64_t count = rows_of(a, block), batch = a->mask.by_batch ? l->batch : 0;
    *rows = NULL;
    if (!bounded || a->mask.form == ATTENTION_OPEN) return a->keys;
    l->first_row = block * a->block_rows;
    point_at_row(l, l->first_row);
    const attention_row *own = work->attention.rows + batch * a->rows + l->first_row;
    for (int64_t i = 0; i < count; i++)
        if (own[i].first >= own[i].end) return a->keys;
    if (!hides_by_infinity(l) || !scores_stay_finite(&work->attention, l, count)) return a->keys;
    *rows = own;
    return work->attention.seen[batch * a->row_blocks + block].end;
}

/* Zeros for what the mask of a row hides, made again. */
static void hide_slopes(lines *l, int64_t row, float *slopes)
{
    const exec_attention *a = l->a;
    point_at_row(l, row);
    run_steps(l, 0, a->block_steps + a->mask_steps);
    for (int64_t i = 0; i < l->keys; i++)
        if (hidden(l, i)) slopes[i] = 0;
}

/* The weights and slopes of a block, +0 from its keys to the end of the sheet, and the slopes by q. */
static void slope_block(gradient_work *work, lines *l, int64_t count, const attention_row *rows, int64_t end)
{
    const exec_attention *a = l->a;
    const attention_slopes *s = a->slopes;
    exec_product slopes = work->weights;
    float *weights = (float *)(void *)(l->piece + a->weights_at) + (l->first_row - l->sheet_row) * a->pitch;
    float *lines = (float *)(void *)(l->piece + s->slopes_at) + (l->first_row - l->sheet_row) * a->pitch;
    make_weights(&work->attention, l, count, rows);
    if (a->packed) slopes.b_packed = l->piece + s->packed_at, slopes.packed_width = a->keys_width;
    slopes.result = l->piece + s->slopes_at - l->sheet_row * a->pitch * (int64_t)sizeof(float);
    l->run->kernels->product(&slopes, (exec_range){l->batch, l->batch + 1}, (exec_range){l->first_row, l->first_row + count}, (exec_range){0, l->keys},
                             l->piece + a->product_at);
    for (int64_t i = 0; i < count; i++) {
        float *line = lines + i * a->pitch;
        int64_t seen = rows ? rows[i].end : l->keys;
        l->run->kernels->slope(work->factor, weights + i * a->pitch, line, seen);
        memset(line + seen, 0, (size_t)(end - seen) * sizeof *line);
        memset(weights + i * a->pitch + l->keys, 0, (size_t)(end - l->keys) * sizeof *line);
        if (s->chooses && !rows) hide_slopes(l, l->first_row + i, line);
    }
    multiply_lines(&work->attention, l, count, (const char *)lines);
}

/* What the rows of the sheet add to the slopes by k and v, of the first `keys` keys. */
static void add_sheet(gradient_work *work, const lines *l, int64_t count, int64_t keys)
{
    const exec_attention *a = l->a;
    exec_product by_v = work->by_v, by_k = work->by_k;
    exec_range batch = {l->batch, l->batch + 1};
    void *room = l->piece + a->product_at;
    by_v.a = l->piece + a->weights_at;
    by_v.b = (const float *)by_v.b + l->sheet_row * by_v.b_depth.stride[0];
    by_k.a = (const float *)by_k.a + l->sheet_row * by_k.a_depth.stride[0];
    by_k.b = l->piece + a->slopes->slopes_at;
    by_v.depth = by_k.depth = count;
    l->run->kernels->product(&by_v, batch, (exec_range){0, keys}, (exec_range){0, by_v.columns}, room);
    l->run->kernels->product(&by_k, batch, (exec_range){0, by_k.rows}, (exec_range){0, keys}, room);
}

static void slope_sheet(gradient_work *work, lines *l, bool bounded)
{
    const exec_attention *a = l->a;
    const attention_row *rows[EXEC_DEPTH_BLOCK];
    int64_t first = l->sheet_row / a->block_rows, count = exec_smaller(a->sheet_rows, a->rows - l->sheet_row), end = 0, keys[EXEC_DEPTH_BLOCK];
    int64_t blocks = exec_pieces(count, a->block_rows);
    for (int64_t b = 0; b < blocks; b++) {
        keys[b] = keys_of_block(work, l, first + b, bounded, &rows[b]);
        if (keys[b] > end) end = keys[b];
    }
    for (int64_t b = 0; b < blocks; b++) {
        l->keys = keys[b];
        l->first_row = (first + b) * a->block_rows;
        slope_block(work, l, rows_of(a, first + b), rows[b], end);
    }
    add_sheet(work, l, count, end);
}

static void slope_batch(gradient_work *work, lines *l, const exec_pause *pause)
{
    const exec_attention *a = l->a;
    int64_t of_v = a->keys * work->by_v.columns, of_k = a->keys * work->by_k.rows;
    float *by_v = (float *)work->by_v.result + l->batch * of_v, *by_k = (float *)work->by_k.result + l->batch * of_k;
    memset(by_v, 0, (size_t)of_v * sizeof *by_v);
    memset(by_k, 0, (size_t)of_k * sizeof *by_k);
    begin_batch(&work->attention, l);
    if (a->packed) pack_all(l, work->weights, a->keys_width, a->slopes->packed_at);
    bool bounded = a->mask.form != ATTENTION_OPEN && is_bounded(work, l->batch);
    for (l->sheet_row = 0; l->sheet_row < a->rows && pause->go_on(pause->user); l->sheet_row += a->sheet_rows) slope_sheet(work, l, bounded);
    exec_canonical(l->run, a->slopes->canonical_v, WG_KIND_F32, by_v, of_v);
    exec_canonical(l->run, a->slopes->canonical_k, WG_KIND_F32, by_k, of_k);
}

static void slope_part(void *context, exec_range range, uint32_t thread)
{
    gradient_work *work = context;
    lines l = lines_of(work->attention.run, work->attention.a, thread);
    exec_pause pause = exec_run_pause(work->attention.run, thread);
    for (l.batch = range.first; l.batch < range.end; l.batch++) slope_batch(work, &l, &pause);
}

void exec_attention_gradient_run(exec_run *run, const exec_stage *stage)
{
    const exec_attention *a = stage->prepared;
    const attention_slopes *s = a->slopes;
    gradient_work work = {.attention = work_of(run, a), .weights = s->weights, .by_v = s->by_v, .by_k = s->by_k, .factor = 1};
    const float *sides[3];
    for (uint32_t i = 0; i < 3; i++) sides[i] = (const float *)(const void *)exec_dense_items(run, &s->sides[i]) + s->offsets[i];
    work.weights.a = work.by_v.b = sides[0];
    work.weights.b = sides[1];
    work.by_k.a = sides[2];
    work.by_v.result = exec_items(run, &s->of_v);
    work.by_k.result = exec_items(run, &s->of_k);
    if (s->scaled) work.factor = *(const float *)(const void *)exec_items(run, &s->factor);
    find_seen(&work.attention);
    exec_run_split(run, a->batches, 1, a->unit_cost, slope_part, &work);
}
