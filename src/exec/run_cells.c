/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * FOLD stages: programs on the items of a space [outer, extent, inner] and on its cells [outer, inner], which folds along the extent make
 * of items. Three ways, by lengths and not by program; none moves a bit, for a fold's order hangs on its axis alone.
 *
 * Panels: lines side by side (the axis is the last) that fit the cache. Each step runs over a panel of whole lines.
 *
 * Units: a long line, or a strip of columns with all of its rows (the axis is another). Items are walked once a pass, in chunks of 4,096
 * rows, each a row of partial results that is joined by the canonical tree; what a later pass needs is computed again from what is read.
 * Where units are fewer than threads, these share the chunks. */
#include <string.h>

#include "exec/exec_call.h"
#include "exec/exec_map.h"

#define PANEL_LINE_BYTES 65536 /* a line of a panel in the widest kind: several lie in the second cache */
#define PANEL_BLOCKS 2 /* a step on cells is a call a panel: layer norm of lines of 4 KiB 15% faster than with one, and no faster with more */
#define STRIP_COLUMNS 8192 /* their results stay in the second cache, and rows are read as they stand in memory */
#define STRIP_LEAST 256    /* columns of a strip from which threads get strips of their own */
#define BLOCK_COLUMNS 1024 /* of a strip's row at a time */
#define PAUSE_BLOCKS 32
#define NARROW 32       /* items of a line (panel) or row (strip) that do not repay a call of a kernel each */

typedef struct cells_fold {
    uint32_t instruction, operand, slot;
    uint32_t pass;
    bool direct; /* reads items where they are: a chunk by one kernel call */
    exec_fold operation;
    wg_kind kind, accumulate, result_kind;
    exec_block_function join, finish;
    int64_t partials_at; /* in a unit's area: [chunks][columns] */
} cells_fold;

typedef struct cells {
    exec_map_list *lists; /* panels: one; units: for each pass one on cells, then one on items */
    cells_fold *folds;
    uint32_t fold_count, last_pass;
    bool across, few;
    int64_t outer, extent, inner;
    int64_t lines;                  /* panels: of one */
    int64_t columns, strips, units; /* units: of a strip, strips of one outer place */
    int64_t rows, chunks;           /* rows of a block */
    int64_t slot_bytes, at_at, room_at, piece_bytes, pieces_at, area_bytes, areas_at;
    double unit_cost; /* of an item */
} cells;

typedef struct cells_work {
    exec_run *run;
    const cells *facts;
    int64_t unit; /* few units: the one under way, and its pass */
    uint32_t pass;
} cells_work;

/* What a fold of a list needs to know of the block: which unit, which chunk of it, whether its first row stands at the chunk's start. */
typedef struct cells_place {
    const cells_work *work;
    char *piece, *area;
    int64_t outer, first_column, columns, chunk;
    uint32_t pass;
    bool starts;
} cells_place;

static char *piece_of(const cells_work *work, uint32_t thread)
{
    return work->run->scratch + work->facts->pieces_at + thread * work->facts->piece_bytes;
}

static int64_t bytes_of(wg_kind kind) { return base_kinds[kind].bytes; }

/* ---- panels ---- */

static void panel_fold(void *user, const exec_map_step *step, char *const *at, const exec_map_block *block)
{
    const cells_work *work = user;
    const cells *c = work->facts;
    const cells_fold *fold = c->folds;
    while (fold->instruction != step->index) fold++;
    exec_reduction reduction = {.fold = fold->operation, .kind = fold->kind, .accumulate = fold->accumulate,
                                .result_kind = fold->result_kind, .extent = c->extent, .inner = 1, .outer_stride = c->extent,
                                .extent_stride = 1, .items = at[step->operands[0]], .result = at[step->target]};
    work->run->kernels->reduce(&reduction, (exec_range){0, block->cell_count});
    exec_canonical_items(work->run->kernels, fold->result_kind, at[step->target], block->cell_count);
}

static void panel_part(void *context, exec_range lines, uint32_t thread)
{
    const cells_work *work = context;
    const cells *c = work->facts;
    char *piece = piece_of(work, thread);
    exec_map_work own = {.run = work->run, .list = c->lists, .at = (char **)(piece + c->at_at), .fold = panel_fold, .user = context};
    for (int64_t first = lines.first; first < lines.end; first += c->lines) {
        int64_t count = lines.end - first < c->lines ? lines.end - first : c->lines;
        exec_map_block block = {
            .begin = {[EXEC_FROM_ITEM] = first * c->extent, [EXEC_FROM_CELL] = first}, .count = count * c->extent, .cell_count = count,
            .width = c->extent};
        exec_map_list_run(&own, piece, piece + c->room_at, &block);
    }
    exec_map_list_done(&own);
}

static void run_panels(exec_run *run, const exec_stage *stage)
{
    const cells *c = stage->prepared;
    cells_work work = {.run = run, .facts = c};
    exec_run_split(run, c->outer, c->lines, (double)(c->extent + 1) * c->unit_cost, panel_part, &work);
}

/* ---- units: folds ---- */

/* into = join(into, rows ...), ascending. Few columns go through the fold kernel, the sums so far as its first row. */
static void join_rows(const cells_work *work, const cells_fold *fold, char *into, const char *rows, int64_t count, int64_t columns, char *room)
{
    int64_t row = columns * bytes_of(fold->accumulate);
    if (fold->join && work->facts->columns >= NARROW) {
        for (; count > 0; count--, rows += row) fold->join(into, (const void *[]){into, rows}, 0, columns);
        return;
    }
    if (count == 0) return;
    memcpy(room, into, (size_t)row);
    memcpy(room + row, rows, (size_t)(count * row));
    exec_reduction reduction = {.fold = fold->operation, .kind = fold->accumulate, .accumulate = fold->accumulate,
                                .result_kind = fold->accumulate, .across = true, .extent = count + 1, .inner = columns,
                                .outer_stride = 0, .extent_stride = columns, .items = room, .result = into};
    work->run->kernels->reduce(&reduction, (exec_range){0, columns});
}

/* A chunk's partial results stand side by side; those of the next `stride` items on. */
static char *partial_of(const cells *c, const cells_fold *fold, char *area, int64_t chunk)
{
    return area + fold->partials_at + chunk * c->columns * bytes_of(fold->accumulate);
}

static void unit_fold(void *user, const exec_map_step *step, char *const *at, const exec_map_block *block)
{
    const cells_place *place = user;
    const cells *c = place->work->facts;
    const cells_fold *fold = c->folds;
    while (fold->instruction != step->index) fold++;
    char *partial = partial_of(c, fold, place->area, place->chunk) + block->begin[EXEC_FROM_SLOT] * bytes_of(fold->accumulate);
    const char *items = at[step->operands[0]];
    if (!c->across) {
        exec_reduction reduction = {.fold = fold->operation, .kind = fold->kind, .accumulate = fold->accumulate,
                                    .result_kind = fold->accumulate, .extent = block->count, .inner = 1,
                                    .outer_stride = block->count, .extent_stride = 1, .items = items, .result = partial};
        place->work->run->kernels->reduce(&reduction, (exec_range){0, 1});
        return;
    }
    int64_t row = block->width * bytes_of(fold->accumulate), rows = block->count / block->width;
    if (place->starts) memcpy(partial, items, (size_t)row);
    join_rows(place->work, fold, partial, items + place->starts * row, rows - place->starts, block->width, place->piece + c->room_at);
}

/* A chunk of items that stand as they are read. */
static void direct_fold(const cells_place *place, const cells_fold *fold, int64_t rows)
{
    const cells *c = place->work->facts;
    const exec_map_list *list = &c->lists[2 * place->pass + 1];
    const exec_value *value = &list->reads[list->registers[fold->operand].index].value;
    int64_t first = (place->outer * c->extent + place->chunk * EXEC_FOLD_CHUNK) * c->inner + place->first_column;
    exec_reduction reduction = {.fold = fold->operation, .kind = fold->kind, .accumulate = fold->accumulate,
                                .result_kind = fold->accumulate, .across = true, .extent = rows, .inner = place->columns,
                                .outer_stride = 0, .extent_stride = c->inner,
                                .items = exec_items(place->work->run, value) + first * bytes_of(fold->kind),
                                .result = partial_of(c, fold, place->area, place->chunk)};
    place->work->run->kernels->reduce(&reduction, (exec_range){0, place->columns});
}

/* The chunks' results in the canonical tree, then as cells. */
static void finish_fold(const cells_place *place, const cells_fold *fold)
{
    const cells *c = place->work->facts;
    const exec_kernels *kernels = place->work->run->kernels;
    char *first = partial_of(c, fold, place->area, 0);
    int64_t columns = place->columns, row = c->columns * bytes_of(fold->accumulate);
    for (int64_t count = c->chunks; count > 1; count = (count + 1) / 2)
        for (int64_t i = 0; i < (count + 1) / 2; i++) {
            if (i) memcpy(first + i * row, first + 2 * i * row, (size_t)row);
            if (2 * i + 1 < count)
                join_rows(place->work, fold, first + i * row, first + (2 * i + 1) * row, 1, columns, place->piece + c->room_at);
        }
    exec_reduction empty = {.fold = fold->operation, .kind = fold->kind, .accumulate = fold->accumulate,
                            .result_kind = fold->accumulate, .across = c->across, .inner = columns, .items = first, .result = first};
    if (c->chunks == 0) kernels->reduce(&empty, (exec_range){0, columns});
    char *cell = place->area + fold->slot * c->slot_bytes;
    if (fold->finish) fold->finish(cell, (const void *[]){first}, 0, columns);
    else memcpy(cell, first, (size_t)(columns * bytes_of(fold->result_kind)));
    exec_canonical_items(kernels, fold->result_kind, cell, columns);
}

/* ---- units: passes ---- */

static cells_place place_of(const cells_work *work, int64_t unit, uint32_t pass, char *area, uint32_t thread)
{
    const cells *c = work->facts;
    int64_t column = unit % c->strips * c->columns;
    return (cells_place){.work = work, .piece = piece_of(work, thread), .area = area, .outer = unit / c->strips, .first_column = column,
                         .columns = c->inner - column < c->columns ? c->inner - column : c->columns, .pass = pass};
}

/* What is there before a pass: the folds of the one before, and what is made of them. */
static void run_cells(const cells_place *place)
{
    const cells *c = place->work->facts;
    for (uint32_t f = 0; f < c->fold_count; f++)
        if (c->folds[f].pass + 1 == place->pass) finish_fold(place, &c->folds[f]);
    exec_map_work own = {.run = place->work->run, .list = &c->lists[2 * place->pass], .at = (char **)(place->piece + c->at_at)};
    exec_map_block block = {.begin = {[EXEC_FROM_CELL] = place->outer * c->inner + place->first_column}, .cell_count = place->columns};
    if (own.list->step_count) exec_map_list_run(&own, place->piece, place->area, &block);
}

static bool run_chunk(cells_place *place, const exec_pause *pause)
{
    const cells *c = place->work->facts;
    int64_t first = place->chunk * EXEC_FOLD_CHUNK, end = c->extent - first < EXEC_FOLD_CHUNK ? c->extent : first + EXEC_FOLD_CHUNK;
    for (uint32_t f = 0; f < c->fold_count; f++)
        if (c->folds[f].pass == place->pass && c->folds[f].direct) direct_fold(place, &c->folds[f], end - first);
    exec_map_work own = {.run = place->work->run, .list = &c->lists[2 * place->pass + 1], .at = (char **)(place->piece + c->at_at),
                         .fold = unit_fold, .user = place};
    int64_t step = c->across ? c->rows : EXEC_FOLD_CHUNK;
    for (int64_t row = first; own.list->step_count && row < end; row += step) {
        int64_t rows = end - row < step ? end - row : step;
        place->starts = row == first;
        for (int64_t at = 0; at < place->columns; at += BLOCK_COLUMNS) {
            int64_t columns = place->columns - at < BLOCK_COLUMNS ? place->columns - at : BLOCK_COLUMNS, column = place->first_column + at;
            exec_map_block block = {.begin = {[EXEC_FROM_ITEM] = (place->outer * c->extent + row) * c->inner + column,
                                              [EXEC_FROM_CELL] = place->outer * c->inner + column,
                                              [EXEC_FROM_SLOT] = at,
                                              [EXEC_FROM_COLUMN] = column},
                                    .count = rows * columns, .cell_count = columns, .width = c->across ? columns : rows};
            exec_map_list_run(&own, place->piece, place->area, &block);
        }
        exec_map_list_done(&own);
        if ((row - first) / step % PAUSE_BLOCKS == PAUSE_BLOCKS - 1 && pause && !pause->go_on(pause->user)) return false;
    }
    return !pause || pause->go_on(pause->user);
}

static bool has_items(const cells *c, uint32_t pass)
{
    bool some = c->lists[2 * pass + 1].step_count > 0;
    for (uint32_t f = 0; f < c->fold_count; f++) some = some || (c->folds[f].pass == pass && c->folds[f].direct);
    return some;
}

static void unit_part(void *context, exec_range units, uint32_t thread)
{
    const cells_work *work = context;
    const cells *c = work->facts;
    exec_pause pause = exec_run_pause(work->run, thread);
    char *area = work->run->scratch + c->areas_at + thread * c->area_bytes;
    for (int64_t unit = units.first; unit < units.end; unit++)
        for (uint32_t pass = 0; pass <= c->last_pass; pass++) {
            cells_place place = place_of(work, unit, pass, area, thread);
            run_cells(&place);
            for (; has_items(c, pass) && place.chunk < c->chunks; place.chunk++)
                if (!run_chunk(&place, &pause)) return;
        }
}

static void chunk_part(void *context, exec_range chunks, uint32_t thread)
{
    const cells_work *work = context;
    exec_pause pause = exec_run_pause(work->run, thread);
    cells_place place = place_of(work, work->unit, work->pass, work->run->scratch + work->facts->areas_at, thread);
    for (place.chunk = chunks.first; place.chunk < chunks.end; place.chunk++)
        if (!run_chunk(&place, &pause)) return;
}

static void run_units(exec_run *run, const exec_stage *stage)
{
    const cells *c = stage->prepared;
    cells_work work = {.run = run, .facts = c};
    double row_cost = (double)c->columns * c->unit_cost;
    if (!c->few) {
        exec_run_split(run, c->units, 1, (double)(c->extent + 1) * row_cost, unit_part, &work);
        return;
    }
    for (work.unit = 0; work.unit < c->units; work.unit++)
        for (work.pass = 0; work.pass <= c->last_pass; work.pass++) {
            cells_place place = place_of(&work, work.unit, work.pass, run->scratch + c->areas_at, 0);
            run_cells(&place);
            if (has_items(c, work.pass))
                exec_run_split(run, c->chunks, 1, EXEC_FOLD_CHUNK * row_cost, chunk_part, &work);
        }
}

static void run_nothing(exec_run *run, const exec_stage *stage)
{
    (void)run, (void)stage;
}

/* ---- preparing ---- */

typedef struct preparing {
    exec_build *build;
    const plan_stage *from;
    exec_map_program program;
    exec_map_choice choice;
    cells *cells;
    uint32_t slots, width;
    bool *instructions, *writes; /* chosen for a list */
    uint8_t *pass;               /* [register count] */
    bool *needed;                /* [register count] */
} preparing;

static bool take_room(preparing *p)
{
    base_arena *arena = p->build->arena;
    bool *is_cell = base_arena_take_zeroed(arena, p->program.register_count + 1);
    p->instructions = base_arena_take_zeroed(arena, p->program.instruction_count + 1);
    p->writes = base_arena_take_zeroed(arena, p->program.write_count + 1);
    p->pass = base_arena_take_zeroed(arena, p->program.register_count + 1);
    p->needed = base_arena_take_zeroed(arena, p->program.register_count + 1);
    p->cells->lists = base_arena_take_zeroed(arena, 2 * ((size_t)p->from->last_pass + 1) * sizeof *p->cells->lists);
    p->cells->folds = base_arena_take_zeroed(arena, (p->program.instruction_count + 1) * sizeof *p->cells->folds);
    if (!is_cell || !p->instructions || !p->writes || !p->pass || !p->needed || !p->cells->lists || !p->cells->folds) return false;
    for (uint32_t r = 0; r < p->from->read_count; r++) is_cell[r] = p->from->reads[r].cell;
    for (uint32_t i = 0; i < p->from->instruction_count; i++) {
        const plan_instruction *own = &p->from->instructions[i];
        is_cell[own->target] = own->cell;
        p->pass[own->target] = (uint8_t)(own->pass + own->fold);
    }
    p->program.cells = is_cell;
    return true;
}

/* Slots of cells, the widest kind, and the folds. */
static void take_facts(preparing *p)
{
    const exec_map_program *program = &p->program;
    uint32_t *slot_of = &p->slots;
    p->width = 1;
    for (uint32_t r = 0; r < program->read_count; r++) {
        *slot_of += program->cells[r];
        if (bytes_of(program->reads[r].kind) > p->width) p->width = (uint32_t)bytes_of(program->reads[r].kind);
    }
    for (uint32_t i = 0; i < program->instruction_count; i++) {
        const exec_map_instruction *own = &program->instructions[i];
        if (bytes_of(own->result_kind) > p->width) p->width = (uint32_t)bytes_of(own->result_kind);
        if (own->fold) {
            cells_fold *fold = &p->cells->folds[p->cells->fold_count++];
            *fold = (cells_fold){.instruction = i, .operand = own->operands[0], .slot = p->slots, .pass = p->from->instructions[i].pass,
                                 .operation = own->operation, .kind = own->kind, .accumulate = own->accumulate, .result_kind = own->result_kind};
            fold->join = p->build->kernels->block(exec_fold_block(fold->operation), fold->accumulate);
            if (fold->accumulate != own->result_kind)
                fold->finish = p->build->kernels->convert(fold->accumulate, own->result_kind, true);
        }
        p->slots += program->cells[own->target];
    }
}

/* Rooms, registers' pointers, then `more` of a thread. */
static void lay_piece(preparing *p, uint32_t list_count, int64_t items, int64_t more)
{
    cells *c = p->cells;
    int64_t pointers = 0;
    for (uint32_t i = 0; i < list_count; i++) {
        exec_map_list *list = &c->lists[i];
        exec_map_list_place(list, &p->choice, items);
        if (list->room_count * list->room_bytes > c->at_at) c->at_at = list->room_count * list->room_bytes;
        if (list->register_count > pointers) pointers = list->register_count;
        c->unit_cost += list->unit_cost;
    }
    c->room_at = base_align_up(c->at_at + pointers * (int64_t)sizeof(char *));
    c->piece_bytes = base_align_up(c->room_at + more);
}

static bool prepare_panels(preparing *p, exec_stage *stage)
{
    cells *c = p->cells;
    uint32_t streams;
    p->choice = (exec_map_choice){.width = c->extent, .narrow = c->extent < NARROW};
    if (!exec_map_list_prepare(p->build, &p->program, &p->choice, c->lists)) return false;
    uint32_t width = exec_map_list_width(c->lists, &streams);
    int64_t items = PANEL_BLOCKS * exec_map_block_items(width, streams), wanted = exec_map_transpose_items(c->lists, width, streams);
    if (wanted > items) items = wanted;
    c->lines = c->extent ? items / c->extent : items;
    if (c->lines > c->outer) c->lines = c->outer;
    if (c->lines < 1) c->lines = 1;
    p->choice.slot_bytes = base_align_up(c->lines * 16);
    exec_map_list_asks(c->lists, c->lines * c->extent);
    lay_piece(p, 1, c->lines * c->extent, p->slots * p->choice.slot_bytes);
    c->pieces_at = exec_scratch_take(p->build, c->piece_bytes * exec_scratch_pieces(p->build, c->outer, c->lines));
    stage->run = run_panels;
    return true;
}

/* Marks what a list of a pass computes. */
static void choose(preparing *p, uint32_t pass, bool on_cells)
{
    const exec_map_program *program = &p->program;
    memset(p->needed, 0, program->register_count);
    for (uint32_t w = 0; w < program->write_count; w++) {
        uint32_t reg = program->writes[w].reg;
        p->writes[w] = program->cells[reg] == on_cells && p->pass[reg] == pass;
        if (p->writes[w]) p->needed[reg] = true;
    }
    for (uint32_t i = program->instruction_count; i-- > 0;) {
        const exec_map_instruction *own = &program->instructions[i];
        bool cell = program->cells[own->target];
        if (on_cells) p->instructions[i] = cell && !own->fold && p->pass[own->target] == pass;
        else if (own->fold) p->instructions[i] = p->from->instructions[i].pass == pass;
        else p->instructions[i] = !cell && p->needed[own->target];
        for (uint32_t o = 0; p->instructions[i] && o < own->operand_count; o++) p->needed[own->operands[o]] = true;
    }
}

static void choose_strips(cells *c, uint32_t threads)
{
    c->chunks = exec_pieces(c->extent, EXEC_FOLD_CHUNK);
    c->columns = 1;
    c->strips = 1;
    if (c->across) {
        c->strips = exec_pieces(c->inner, STRIP_COLUMNS);
        int64_t most = c->inner / STRIP_LEAST;
        while (c->outer * c->strips < threads && c->strips < most) c->strips++;
        c->columns = c->strips ? exec_pieces(c->inner, c->strips) : 1;
        if (c->strips > 1) c->columns = (c->columns + 63) / 64 * 64;
        c->strips = exec_pieces(c->inner, c->columns);
    }
    c->units = c->outer * c->strips;
    c->few = threads > 1 && c->units < threads && c->chunks > 1;
    if (c->strips == 0) c->strips = 1;
}

static void lay_units(preparing *p)
{
    cells *c = p->cells;
    uint32_t list_count = 2 * (c->last_pass + 1), streams = 1, most = 1;
    for (uint32_t i = 0; i < list_count; i++) {
        uint32_t width = exec_map_list_width(&c->lists[i], &streams);
        if (width > p->width) p->width = width;
        if (streams > most) most = streams;
    }
    c->rows = c->columns == c->inner && c->columns <= BLOCK_COLUMNS ? exec_map_block_items(p->width, most) / c->columns : 1;
    if (c->rows < 1) c->rows = 1;
    if (c->rows > c->extent) c->rows = c->extent > 0 ? c->extent : 1;
    int64_t columns = c->columns < BLOCK_COLUMNS ? c->columns : BLOCK_COLUMNS, line = c->extent < EXEC_FOLD_CHUNK ? c->extent : EXEC_FOLD_CHUNK;
    bool joins_in_room = c->columns < NARROW;
    for (uint32_t f = 0; f < c->fold_count; f++) joins_in_room = joins_in_room || !c->folds[f].join;
    lay_piece(p, list_count, c->across ? c->rows * columns : line, joins_in_room ? (c->rows + 2) * c->columns * 8 : 0);
    c->area_bytes = p->slots * p->choice.slot_bytes;
    for (uint32_t f = 0; f < c->fold_count; f++) {
        cells_fold *fold = &c->folds[f];
        fold->partials_at = c->area_bytes;
        c->area_bytes += base_align_up((c->chunks ? c->chunks : 1) * c->columns * bytes_of(fold->accumulate));
    }
    int64_t pieces = exec_scratch_pieces(p->build, c->few ? c->chunks : c->units, 1);
    c->pieces_at = exec_scratch_take(p->build, c->piece_bytes * pieces);
    c->areas_at = exec_scratch_take(p->build, c->area_bytes * (c->few ? 1 : pieces));
}

static bool prepare_units(preparing *p, exec_stage *stage)
{
    cells *c = p->cells;
    choose_strips(c, p->build->threads);
    c->slot_bytes = base_align_up(c->columns * 16);
    p->choice = (exec_map_choice){.instructions = p->instructions, .writes = p->writes, .across = c->across,
                                  .narrow = c->across && c->columns < NARROW, .slot_bytes = c->slot_bytes};
    if (c->across) p->choice.width = c->inner;
    for (uint32_t i = 0; i < 2 * (c->last_pass + 1); i++) {
        choose(p, i / 2, i % 2 == 0);
        p->choice.inside = i > 0;
        if (!exec_map_list_prepare(p->build, &p->program, &p->choice, &c->lists[i])) return false;
    }
    for (uint32_t f = 0; f < c->fold_count; f++) {
        cells_fold *fold = &c->folds[f];
        const exec_map_list *list = &c->lists[2 * fold->pass + 1];
        fold->operand = list->registers[fold->operand].root;
        fold->direct = c->across && list->registers[fold->operand].home == HOME_DENSE && !list->registers[fold->operand].cell;
    }
    lay_units(p);
    stage->run = run_units;
    return true;
}

/* Whether the stage stores anything: beside an extent of 0 others may be so large that no walk over them ends. */
static bool stores(const exec_map_program *program)
{
    bool some = false;
    for (uint32_t w = 0; w < program->write_count; w++) some = some || program->writes[w].value.volume > 0;
    return some;
}

bool exec_cells_prepare(exec_build *build, uint32_t index, exec_stage *stage)
{
    const plan_stage *from = &build->plan->stages[index];
    cells *c = base_arena_take_zeroed(build->arena, sizeof *c);
    preparing p = {.build = build, .from = from, .cells = c};
    if (!c || !exec_map_program_of(build, index, NULL, &p.program) || !take_room(&p)) return base_fail_memory(build->error);
    exec_value space = {.rank = graph_node(build->plan->graph, from->space)->rank};
    space.shape = build->layout->shapes[build->plan->index[from->space]];
    space.volume = build->layout->volumes[build->plan->index[from->space]];
    p.program.volume = space.volume;
    exec_axis axis = from->axis == PLAN_AXIS_ALL ? (exec_axis){1, space.volume, 1, true} : exec_axis_of(&space, from->axis);
    c->outer = axis.outer;
    c->extent = axis.extent;
    c->inner = axis.inner;
    c->across = !axis.last;
    c->last_pass = from->last_pass;
    stage->prepared = c;
    if (!stores(&p.program)) return stage->run = run_nothing, true;
    take_facts(&p);
    bool panels = axis.last && c->extent <= PANEL_LINE_BYTES / p.width;
    if (!(panels ? prepare_panels(&p, stage) : prepare_units(&p, stage))) return false;
    stage->cost = c->unit_cost * (double)space.volume;
    return true;
}
