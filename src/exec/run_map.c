/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * MAP stages. The iteration space is walked in blocks of items that stay in the first cache; each instruction is one whole-block kernel
 * over registers. A register is where it costs least: a dense read in place, one item for all, the destination itself, or a room of the
 * thread's scratch (strided reads are gathered there; rooms are shared by lifetime). */
#include <string.h>

#include "exec/exec_call.h"
#include "exec/exec_map.h"
#include "graph/row.h"

/* A list of fewer steps reads memory all the time: the processor sees that it does, and what is asked for besides makes it wait (exp of 1e7
 * items 2.9 ms with, 1.9 without, on a Zen 5). */
#define ASKING_STEPS 3
#define BLOCK_BYTES 32768 /* of everything that a block touches: the smallest first cache, which results past the caches do not enter */
#define STREAM_PIECE 256 /* items: their lines leave while the next ones are computed */
#define BLOCK_LEAST 256
#define BLOCK_MOST 4096
#define BLOCK_ALONE 8192 /* items of a step that is the only one: nothing is read again */
#define TRANSPOSE_LINES 32
#define TRANSPOSE_BYTES 393216 /* of everything that a block with a transpose touches: it stays in the second cache */

#define LINE_LEAST 32   /* items of a line from which a step runs a line at a time */
#define LINE_MOST 1024  /* whole ones stand in a block */
#define LINES_LEAST 128 /* items of lines which are read where they stand; shorter ones are put beside each other */

typedef struct map {
    exec_map_list list;
    int64_t volume, block, width, at_bytes, piece_bytes, scratch_at;
} map;

/* ---- running ---- */

static bool is_one(const exec_map_register *r) { return r->home == HOME_ONE || r->one; }

void exec_map_store(const exec_map_work *work, const exec_map_step *step, const exec_map_block *block, int64_t done)
{
    int64_t first = block->begin[step->cell ? EXEC_FROM_CELL : EXEC_FROM_ITEM] + done, count = (step->cell ? block->cell_count : block->count) - done;
    const exec_map_stored *write = &work->list->writes[step->index];
    const exec_map_register *from = &work->list->registers[step->target];
    const exec_kernels *kernels = work->run->kernels;
    size_t width = base_kinds[step->kind].bytes;
    char *items = work->at[step->target] + (is_one(from) ? 0 : done * (int64_t)width), *to = exec_items(work->run, &write->value) + first * (int64_t)width;
    if (write->streamed) {
        wg_kind part = write->canonical ? base_kind_part(step->kind) : WG_KIND_BOOL;
        if (part == WG_KIND_F16 || part == WG_KIND_BF16) exec_canonical_items(kernels, part, items, count);
        kernels->stream(part, to, items, count * (int64_t)width);
    } else if (is_one(from)) {
        exec_fill(to, items, width, count);
    } else if (from->home == HOME_LINES) {
        const exec_map_read *read = &work->list->reads[from->index];
        exec_walk_gather(kernels, &read->walk, exec_items(work->run, &read->value), first, count, to);
    } else {
        memcpy(to, items, (size_t)count * width);
    }
}

/* The part of the next block that belongs to a step: asked for in the second cache, whose requests wait for nobody. */
void exec_map_ask(const exec_map_work *work, const exec_map_step *step, const exec_map_block *block, int64_t share, int64_t shares)
{
    const exec_map_list *list = work->list;
    int64_t first = list->ahead_items * share / shares / 16 * 16, end = list->ahead_items * (share + 1) / shares / 16 * 16;
    for (uint32_t r = 0; step->ahead >= 0 && r < list->read_count; r++) {
        if (!list->reads[r].far) continue;
        int64_t width = base_kinds[list->registers[r].kind].bytes;
        const char *next = work->at[r] + (block->count + list->ahead_items * step->ahead) * width;
        for (int64_t at = first * width; at < end * width; at += 64) __builtin_prefetch(next + at, 0, 2);
    }
}

/* A step of which some operand is not an item for each item: a line at a time. */
static void run_lines(const exec_map_work *work, const exec_map_step *step, char *const *at, const exec_map_block *block)
{
    const exec_map_list *list = work->list;
    char *operands[3], *target = at[step->target];
    int64_t ahead[3], width = block->width;
    for (uint32_t o = 0; o < step->operand_count; o++) {
        const exec_map_register *r = &list->registers[step->operands[o]];
        bool apart = r->home == HOME_LINES, still = !apart && (step->scalars | step->repeats) >> o & 1;
        int64_t items = apart ? list->reads[r->index].walk.strides[0] : step->cells >> o & 1 ? 1 : width;
        operands[o] = at[step->operands[o]];
        ahead[o] = still ? 0 : items * base_kinds[r->kind].bytes;
    }
    for (int64_t done = 0; done < block->count; done += width) {
        if (list->spread) exec_map_ask(work, step, block, done / width, block->count / width);
        step->function(target, (const void *const *)operands, step->scalars | step->cells, width);
        for (uint32_t o = 0; o < step->operand_count; o++) operands[o] += ahead[o];
        target += width * base_kinds[step->kind].bytes;
    }
}

static void run_spread(const exec_map_work *work, const exec_map_step *step, char *const *at, const exec_map_block *block)
{
    const exec_map_register *from = &work->list->registers[step->operands[0]];
    bool line = from->home == HOME_LINE || (from->cell && work->list->across), one = is_one(from);
    int64_t lines = block->width ? block->count / block->width : 0;
    exec_copying copy = {.item_bytes = base_kinds[step->kind].bytes, .rank = 2, .shape = {lines, block->width},
                         .to_stride = {block->width, 1}, .from_stride = {!line && !one, line && !one},
                         .items = at[step->operands[0]], .result = at[step->target]};
    work->run->kernels->copy(&copy, (exec_range){0, lines});
}

static inline void run_block(const exec_map_step *step, char *const *at, int64_t count)
{
    const void *operands[3] = {at[step->operands[0]], at[step->operands[1]], at[step->operands[2]]}; /* 0 where there are fewer */
    step->function(at[step->target], operands, step->scalars, count);
}

void exec_map_step_run(const exec_map_work *work, const exec_map_step *step, const exec_map_block *block)
{
    const exec_map_list *list = work->list;
    const exec_kernels *kernels = work->run->kernels;
    char *const *at = work->at;
    int64_t first = block->begin[step->cell ? EXEC_FROM_CELL : EXEC_FROM_ITEM], count = step->one ? 1 : step->cell ? block->cell_count : block->count;
    switch (step->action) {
    case MAP_GATHER: {
        const exec_map_read *read = &list->reads[step->index];
        exec_walk_gather(kernels, &read->walk, exec_items(work->run, &read->value), first, count, at[step->target]);
        break;
    }
    case MAP_BLOCK:
        if (step->cells | step->repeats) run_lines(work, step, at, block);
        else run_block(step, at, count);
        if (step->canonical) exec_canonical_items(kernels, step->kind, at[step->target], count);
        break;
    case MAP_STORE: exec_map_store(work, step, block, 0); break;
    case MAP_SPREAD: run_spread(work, step, at, block); break;
    case MAP_FOLD: work->fold(work->user, step, at, block); break;
    }
}

bool exec_map_reads_far(const exec_map_list *list, uint32_t r)
{
    const exec_map_register *own = &list->registers[r];
    const exec_value *value = &list->reads[r].value;
    return own->home == HOME_DENSE && !own->cell && value->volume * (int64_t)base_kinds[value->kind].bytes >= EXEC_FAR_BYTES;
}

void exec_map_list_asks(exec_map_list *list, int64_t items)
{
    bool some = false;
    uint32_t passes = list->step_count;
    for (uint32_t s = 0; list->relays && s < list->step_count; s++) passes -= list->steps[s].inside;
    if (passes < ASKING_STEPS) return;
    for (uint32_t r = 0; r < list->read_count; r++) {
        list->reads[r].far = exec_map_reads_far(list, r) && !list->reads[r].asked;
        some = some || list->reads[r].far;
    }
    for (uint32_t s = 0; some && s < list->step_count; s++) {
        exec_map_step *step = &list->steps[s];
        bool asks = step->action == MAP_BLOCK || (step->action == MAP_FOLD && !list->spread); /* a fold does not run in parts */
        if (asks && !step->cell && !step->one && !step->inside) step->ahead = (int32_t)list->ahead++;
    }
    if (list->ahead) list->ahead_items = (items / list->ahead + 15) / 16 * 16;
}

/* Where a block's results go straight to what is too large for the caches: asked for before its first step, else its last ones wait. */
static void ask_for_results(const exec_map_work *work, const exec_map_block *block)
{
    const exec_map_list *list = work->list;
    for (uint32_t w = 0; w < list->write_count; w++) {
        const exec_map_stored *write = &list->writes[w];
        int64_t width = base_kinds[write->value.kind].bytes, bytes = block->count * width;
        if (!write->stored || write->streamed || write->past || write->cell || write->value.volume * width < EXEC_FAR_BYTES) continue;
        const char *to = exec_items(work->run, &write->value) + block->begin[EXEC_FROM_ITEM] * width;
        for (int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(to + at, 1, 2);
    }
}

/* A step whose results go past the caches, and their way there, a piece at a time: the processor computes while it writes. */
static void run_streamed(const exec_map_work *work, const exec_map_step *step, const exec_map_block *block)
{
    const exec_map_stored *write = &work->list->writes[step[1].index];
    const void *operands[3] = {work->at[step->operands[0]], work->at[step->operands[1]], work->at[step->operands[2]]};
    int64_t width = base_kinds[write->value.kind].bytes, ahead[3] = {0};
    char *room = work->at[step->target], *to = exec_items(work->run, &write->value) + block->begin[EXEC_FROM_ITEM] * width;
    wg_kind part = write->canonical ? step->kind : WG_KIND_BOOL;
    for (uint32_t o = 0; o < step->operand_count; o++)
        if (!(step->scalars >> o & 1)) ahead[o] = STREAM_PIECE * base_kinds[work->list->registers[step->operands[o]].kind].bytes;
    for (int64_t done = 0; done < block->count; done += STREAM_PIECE, to += STREAM_PIECE * width) {
        int64_t count = block->count - done < STREAM_PIECE ? block->count - done : STREAM_PIECE;
        step->function(room, operands, step->scalars, count);
        work->run->kernels->stream(part, to, room, count * width);
        for (uint32_t o = 0; o < step->operand_count; o++) operands[o] = (const char *)operands[o] + ahead[o];
    }
}

void exec_map_list_run(const exec_map_work *work, char *piece, char *cells, const exec_map_block *block)
{
    const exec_map_list *list = work->list;
    char *const *bases = work->run->bases;
    for (uint32_t r = 0; r < list->register_count; r++) {
        const exec_map_place *place = &list->places[r];
        char *base = place->buffer < EXEC_IN_CELLS    ? bases[place->buffer]
                     : place->buffer == EXEC_IN_PIECE ? piece
                     : place->buffer == EXEC_IN_CELLS ? cells
                                                      : work->run->scratch;
        work->at[r] = base + place->offset + block->begin[place->from] * place->step;
    }
    for (uint32_t s = 0; s < list->step_count; s++) {
        const exec_map_step *step = &list->steps[s];
        if (step->ahead >= 0) {
            if (step->ahead == 0) ask_for_results(work, block);
            if (!list->spread || !(step->begins || step->cells | step->repeats)) exec_map_ask(work, step, block, 0, 1);
        }
        if (step->plain) run_block(step, work->at, block->count);
        else if (step->begins) s += exec_map_relay_run(work, step, block) - 1;
        else if (step->piecewise) run_streamed(work, step, block), s++;
        else exec_map_step_run(work, step, block);
    }
    for (uint32_t w = 0; list->canonical && w < list->write_count; w++) {
        const exec_map_stored *write = &list->writes[w];
        if (!write->canonical || !write->stored || write->streamed) continue;
        int64_t first = block->begin[write->cell ? EXEC_FROM_CELL : EXEC_FROM_ITEM];
        exec_canonical_items(work->run->kernels, write->value.kind,
                             exec_items(work->run, &write->value) + first * base_kinds[write->value.kind].bytes,
                             write->cell ? block->cell_count : block->count);
    }
}

typedef struct map_work {
    exec_run *run;
    const map *map;
} map_work;

static void run_part(void *context, exec_range range, uint32_t thread)
{
    const map_work *work = context;
    const map *m = work->map;
    char *piece = work->run->scratch + m->scratch_at + thread * m->piece_bytes;
    exec_map_work own = {.run = work->run, .list = &m->list, .at = (char **)(piece + m->at_bytes)};
    for (int64_t first = range.first; first < range.end; first += m->block) {
        exec_map_block block = {.begin = {[EXEC_FROM_ITEM] = first, [EXEC_FROM_CELL] = m->width ? first / m->width : 0},
                                .count = range.end - first < m->block ? range.end - first : m->block, .width = m->width};
        exec_map_list_run(&own, piece, NULL, &block);
    }
    exec_map_list_done(&own);
}

static void run_map(exec_run *run, const exec_stage *stage)
{
    const map *m = stage->prepared;
    map_work work = {run, m};
    exec_run_split(run, m->volume, m->block, m->list.unit_cost, run_part, &work);
}

/* ---- preparing: steps ---- */

/* The block operation of each elementwise row, by its name: a row that has none does not compile. */
#define MAPS(Row, ENUM) enum { MAP_OF_##Row = EXEC_BLOCK_##ENUM };
#include "exec/run_map.def"
enum { MAP_OF_StopGradient = EXEC_BLOCK_COUNT, MAP_OF_Bitcast = EXEC_BLOCK_COUNT, MAP_OF_Convert = EXEC_BLOCK_COUNT };
/* Rows of complex numbers alone: exec_complex_function. */
enum { MAP_OF_Complex = EXEC_BLOCK_COUNT, MAP_OF_Real = EXEC_BLOCK_COUNT, MAP_OF_Imag = EXEC_BLOCK_COUNT, MAP_OF_Conj = EXEC_BLOCK_COUNT };
#define MAP_ELEMENT(Name) [WG_OP_##Name] = (uint16_t)MAP_OF_##Name,
#define MAP_SOURCE(Name)
#define MAP_PRODUCT(Name)
#define MAP_TREE(Name)
#define MAP_SCAN(Name)
#define MAP_LAYOUT(Name)
#define MAP_SCATTER(Name)
#define MAP_SORT(Name)
#define MAP_HOST(Name)
#define MAP_RANDOM(Name)
static const uint16_t map_blocks[WG_OP_COUNT] = {
#define OP(Name, text, arity, roles, accepts, result, shape, order, ...) MAP_##order(Name)
#include "wengert/ops.def"
};

static bool same_items(uint16_t op) { return op == WG_OP_StopGradient || op == WG_OP_Bitcast; }

exec_block_function exec_map_function(const exec_kernels *kernels, const exec_map_instruction *instruction)
{
    bool is_complex = base_kind_is_complex(instruction->kind) || base_kind_is_complex(instruction->result_kind);
    if (is_complex) return exec_complex_function(instruction);
    if (instruction->op == WG_OP_Convert) return kernels->convert(instruction->kind, instruction->result_kind, instruction->wrap);
    exec_block block = (exec_block)map_blocks[instruction->op];
    return kernels->block(block, instruction->kind);
}

static void append_step(exec_map_list *m, exec_map_step step)
{
    for (uint32_t o = 0; o < step.operand_count; o++) m->registers[m->registers[step.operands[o]].root].last_use = m->step_count;
    if (step.action == MAP_STORE) m->registers[m->registers[step.target].root].last_use = m->step_count;
    step.ahead = -1;
    m->steps[m->step_count++] = step;
}

/* A strided read is gathered where it is first used. */
static void append_gather(exec_map_list *m, const exec_map_choice *choice, uint32_t reg)
{
    exec_map_register *r = &m->registers[reg];
    if (reg >= m->read_count || r->home != HOME_NONE) return;
    r->home = r->cell ? HOME_CELL : HOME_ROOM; /* a place is found later */
    if (r->cell && choice->inside) return;
    append_step(m, (exec_map_step){.action = MAP_GATHER, .target = reg, .index = reg, .kind = r->kind, .cell = r->cell});
}

/* A new register behind the program's. */
static uint32_t add_register(exec_map_list *m, wg_kind kind)
{
    m->registers[m->register_count] = (exec_map_register){.home = HOME_ROOM, .kind = kind, .root = m->register_count};
    return m->register_count++;
}

/* A cell as an item of each position of its line: once a list. */
static uint32_t spread(exec_map_list *m, uint32_t reg)
{
    exec_map_register *r = &m->registers[m->registers[reg].root];
    if (r->spread) return r->spread;
    uint32_t made = add_register(m, r->kind);
    append_step(m, (exec_map_step){.action = MAP_SPREAD, .target = made, .kind = r->kind, .operand_count = 1, .operands = {r->root}});
    return r->spread = made;
}

/* Makes a register the next operand of a step on items or cells. */
static inline void give_operand(exec_map_list *m, const exec_map_choice *choice, exec_map_step *step, uint32_t o, uint32_t reg)
{
    append_gather(m, choice, m->registers[reg].root);
    const exec_map_register *root = &m->registers[m->registers[reg].root];
    bool repeated = !step->cell && (root->cell || root->home == HOME_LINE);
    step->operands[o] = reg;
    if (is_one(root)) step->scalars |= 1u << o;
    else if (root->home == HOME_LINES) step->repeats |= 1u << o;
    else if (repeated && choice->narrow) step->operands[o] = spread(m, reg);
    else if (repeated && (choice->across || root->home == HOME_LINE)) step->repeats |= 1u << o;
    else if (repeated) step->cells |= 1u << o;
}

/* Finds which registers a Bitcast from floats reads: their bits are seen. */
static bool *bits_seen(const exec_build *build, const exec_map_program *program)
{
    bool *seen = base_arena_take_zeroed(build->arena, program->register_count + 1);
    for (uint32_t i = program->instruction_count; seen && i-- > 0;) {
        const exec_map_instruction *instruction = &program->instructions[i];
        bool looks = instruction->op == WG_OP_Bitcast && base_kind_has_nan(instruction->kind);
        if (looks || (instruction->op == WG_OP_StopGradient && seen[instruction->target])) seen[instruction->operands[0]] = true;
    }
    return seen;
}

/* A fold reads items side by side, of the kind that it adds in where it goes across lines. */
static void append_fold(const exec_build *build, exec_map_list *m, const exec_map_choice *choice, const exec_map_program *program,
                        uint32_t i)
{
    const exec_map_instruction *own = &program->instructions[i];
    exec_map_step step = {.action = MAP_FOLD, .target = own->target, .kind = own->result_kind, .operand_count = 1, .index = i};
    uint32_t reg = own->operands[0];
    append_gather(m, choice, m->registers[reg].root);
    const exec_map_register *root = &m->registers[m->registers[reg].root];
    if (choice->across && root->home == HOME_DENSE && !root->cell) return; /* the stage folds it where it is */
    if (is_one(root) || root->home == HOME_LINE || root->cell) reg = spread(m, reg);
    step.operands[0] = reg;
    if (choice->across && own->accumulate != own->kind) {
        step.operands[0] = add_register(m, own->accumulate);
        append_step(m, (exec_map_step){.action = MAP_BLOCK, .target = step.operands[0], .kind = own->accumulate, .operand_count = 1,
                                       .operands = {reg}, .function = build->kernels->convert(own->kind, own->accumulate, true)});
    }
    append_step(m, step);
}

/* Two instructions in one pass: second reads what first makes, as nobody else does. */
typedef struct joined {
    uint32_t first; /* WG_NONE: alone */
    bool gone;      /* is the first one of such */
} joined;

static bool joins(const exec_map_choice *choice, const exec_map_list *m, const exec_map_instruction *instruction, uint32_t i)
{
    if (instruction->fold || instruction->kind != instruction->result_kind || m->registers[instruction->target].cell) return false;
    return (instruction->kind == WG_KIND_F32 || instruction->kind == WG_KIND_F64) && map_blocks[instruction->op] <= EXEC_BLOCK_NEG &&
           (!choice->instructions || choice->instructions[i]);
}

static exec_block_function joined_function(const exec_build *build, const exec_map_instruction *first, const exec_map_instruction *second)
{
    bool right = second->operand_count == 2 && second->operands[1] == first->target;
    return build->kernels->joined((exec_block)map_blocks[first->op], (exec_block)map_blocks[second->op], right, first->kind);
}

/* For each instruction the one that is run with it, the nearest before it; none: NULL. False without memory. */
static bool join_instructions(const exec_build *build, const exec_map_list *m, const exec_map_choice *choice, const exec_map_program *program,
                              joined **answer)
{
    const bool none = program->instruction_count < 2 || !build->kernels->joined(EXEC_BLOCK_MUL, EXEC_BLOCK_ADD, false, WG_KIND_F32);
    *answer = NULL;
    if (none) return true;
    joined *found = base_arena_take(build->arena, program->instruction_count * sizeof *found);
    uint32_t *uses = base_arena_take_zeroed(build->arena, program->register_count * sizeof *uses);
    uint32_t *maker = base_arena_take(build->arena, program->register_count * sizeof *maker);
    if (!found || !uses || !maker) return base_fail_memory(build->error);
    for (uint32_t r = 0; r < program->register_count; r++) maker[r] = WG_NONE;
    for (uint32_t w = 0; w < program->write_count; w++) uses[program->writes[w].reg] = 2;
    for (uint32_t i = 0; i < program->instruction_count; i++)
        for (uint32_t o = 0; o < program->instructions[i].operand_count; o++) uses[program->instructions[i].operands[o]]++;
    for (uint32_t i = 0; i < program->instruction_count; i++) {
        const exec_map_instruction *own = &program->instructions[i];
        found[i] = (joined){WG_NONE, false};
        if (!joins(choice, m, own, i)) continue;
        for (uint32_t o = own->operand_count; o-- > 0 && found[i].first == WG_NONE;) {
            uint32_t first = maker[own->operands[o]];
            if (first == WG_NONE || uses[own->operands[o]] != 1 || !joined_function(build, &program->instructions[first], own)) continue;
            found[i].first = first;
            found[first].gone = true;
        }
        if (found[i].first == WG_NONE) maker[own->target] = i;
    }
    *answer = found;
    return true;
}

static inline void give_operands(exec_map_list *m, const exec_map_choice *choice, exec_map_step *step, const exec_map_instruction *first,
                          const exec_map_instruction *own)
{
    step->operand_count = 0;
    if (!first) {
        for (uint32_t o = 0; o < own->operand_count; o++) give_operand(m, choice, step, o, own->operands[o]);
        step->operand_count = own->operand_count;
        return;
    }
    for (uint32_t o = 0; o < first->operand_count; o++) give_operand(m, choice, step, step->operand_count++, first->operands[o]);
    for (uint32_t o = 0; o < own->operand_count; o++)
        if (own->operands[o] != first->target) give_operand(m, choice, step, step->operand_count++, own->operands[o]);
}

static bool append_instruction(const exec_build *build, exec_map_list *m, const exec_map_choice *choice, const exec_map_program *program,
                               uint32_t i, const exec_map_instruction *first, const bool *seen)
{
    const exec_map_instruction *instruction = &program->instructions[i];
    exec_map_register *target = &m->registers[instruction->target];
    if (instruction->fold) return append_fold(build, m, choice, program, i), true;
    if (same_items(instruction->op) && !(instruction->op == WG_OP_Bitcast && base_kind_has_nan(instruction->result_kind))) {
        append_gather(m, choice, m->registers[instruction->operands[0]].root);
        target->root = m->registers[instruction->operands[0]].root;
        return true;
    }
    exec_map_step step = {.action = MAP_BLOCK, .target = instruction->target, .kind = instruction->result_kind, .cell = target->cell};
    /* Bits become floats: a copy of their own, for the NaNs among them become the one NaN. */
    bool bits = same_items(instruction->op);
    exec_map_instruction copy = {.op = WG_OP_Convert, .kind = instruction->result_kind, .result_kind = instruction->result_kind};
    step.function = first ? joined_function(build, first, instruction) : exec_map_function(build->kernels, bits ? &copy : instruction);
    if (!step.function)
        return base_fail(build->error, WG_INTERNAL, "no kernel of %s for %s", graph_rows[instruction->op].text,
                         base_kinds[instruction->kind].name);
    step.canonical = base_kind_has_nan(instruction->result_kind) && (bits || seen[instruction->target]);
    give_operands(m, choice, &step, first, instruction);
    if (!target->cell) target->home = HOME_ROOM;
    if (step.scalars && program->volume != 1 && !target->cell && step.scalars == (1u << step.operand_count) - 1) step.one = target->one = true;
    step.plain = !target->cell && !step.one && !step.canonical && !(step.cells | step.repeats);
    step.index = first ? EXEC_BLOCK_FORMULAS : bits || instruction->kind != instruction->result_kind ? EXEC_BLOCK_COUNT : map_blocks[instruction->op];
    step.blocks[0] = bits ? EXEC_BLOCK_COUNT : map_blocks[first ? first->op : instruction->op];
    step.blocks[1] = first ? map_blocks[instruction->op] : EXEC_BLOCK_COUNT;
    step.right = first && instruction->operand_count == 2 && instruction->operands[1] == first->target;
    append_step(m, step);
    return true;
}

/* ---- preparing: places ---- */

/* Of two buffers of one stage the written one lies over the read one only where it took over its place. */
static bool overlaps(const exec_build *build, const exec_value *a, const exec_value *b)
{
    if (a->buffer == WG_NONE || b->buffer == WG_NONE) return false;
    return build->layout->buffers[b->buffer].alias == a->buffer;
}

/* May the step write its result straight into the destination? Not while a read that lies there (a buffer taken over in place) is used
 * later in the block. */
static bool may_write_through(const exec_build *build, const exec_map_list *m, uint32_t step, const exec_map_stored *write)
{
    for (uint32_t r = 0; r < m->read_count; r++)
        if (m->registers[r].last_use > step && m->registers[r].home != HOME_ROOM && overlaps(build, &m->reads[r].value, &write->value))
            return false;
    return true;
}

/* The step that fills a register's room; WG_NONE: a read in place. */
static uint32_t defining_step(const exec_map_list *m, uint32_t reg)
{
    for (uint32_t s = 0; s < m->step_count; s++)
        if (m->steps[s].action != MAP_STORE && m->steps[s].target == reg) return s;
    return WG_NONE;
}

/* A result that no cache would keep until it is read goes past them, unless it lies where a read of the block was. So does half as much which
 * the plan reads no more, where it and what it is made of are as much: softmax and layer norm of 16 MiB a tenth and a fifth faster. */
static bool is_streamed(const exec_build *build, const exec_map_list *m, const exec_map_stored *write, uint32_t root)
{
    const exec_value *value = &write->value;
    if (write->cell || m->registers[root].home != HOME_ROOM || m->registers[root].one || value->buffer == WG_NONE) return false;
    int64_t bytes = value->volume * base_kinds[value->kind].bytes;
    if (bytes < EXEC_STREAM_BYTES && 2 * bytes >= EXEC_STREAM_BYTES && build->layout->buffers[value->buffer].last == build->plan->stage_count)
        for (uint32_t r = 0; r < m->read_count; r++)
            if (m->registers[r].home == HOME_DENSE && !m->registers[r].cell) bytes += m->reads[r].value.volume * base_kinds[m->reads[r].value.kind].bytes;
    return bytes >= EXEC_STREAM_BYTES && build->layout->buffers[value->buffer].alias == WG_NONE;
}

/* The results of an elementary function, and of joined steps, go past the caches as they are made, where nothing else reads them. */
static bool streams_itself(exec_map_list *m, exec_map_stored *write, uint32_t root)
{
    uint32_t step = defining_step(m, root);
    if (step == WG_NONE || !m->steps[step].plain || m->registers[root].last_use > step) return false;
    bool told = m->steps[step].index >= EXEC_BLOCK_FORMULAS && m->steps[step].index < EXEC_BLOCK_ROUTINES;
    if (!told || (m->steps[step].kind != WG_KIND_F32 && m->steps[step].kind != WG_KIND_F64)) return false;
    m->steps[step].scalars |= EXEC_BLOCK_PAST;
    write->streamed = write->canonical = false;
    write->past = true;
    return true;
}

/* Whether a register's NaNs are the one NaN as its step makes them. */
static bool makes_one_nan(const exec_build *build, const exec_map_list *m, uint32_t root)
{
    uint32_t step = defining_step(m, root);
    return step != WG_NONE && m->steps[step].action == MAP_BLOCK && build->kernels->one_nan((exec_block)m->steps[step].index, m->steps[step].kind);
}

/* Writes of what was read come first: a destination may lie over a read that another write copies. */
static void place_writes(const exec_build *build, exec_map_list *m, const exec_map_program *program, const exec_map_choice *choice)
{
    for (uint32_t i = 0; i < 2 * m->write_count; i++) {
        uint32_t w = i % m->write_count, reg = program->writes[w].reg, root = m->registers[reg].root;
        if ((root < m->read_count) != (i < m->write_count) || (choice->writes && !choice->writes[w])) continue;
        m->writes[w].stored = true;
        append_gather(m, choice, root);
        m->writes[w].canonical = m->writes[w].canonical && !makes_one_nan(build, m, root);
        m->writes[w].streamed = is_streamed(build, m, &m->writes[w], root);
        m->streams = m->streams || m->writes[w].streamed;
        if (m->writes[w].streamed) streams_itself(m, &m->writes[w], root);
        bool whole = m->registers[root].home == HOME_ROOM && !m->registers[root].one && !m->writes[w].streamed;
        uint32_t step = whole ? defining_step(m, root) : WG_NONE;
        bool through = step != WG_NONE && may_write_through(build, m, step, &m->writes[w]);
        if (through && m->steps[step].action == MAP_GATHER)
            through = !overlaps(build, &m->reads[m->steps[step].index].value, &m->writes[w].value);
        if (through) {
            m->registers[root].home = HOME_WRITE;
            m->registers[root].index = w;
        } else {
            append_step(m, (exec_map_step){
                               .action = MAP_STORE, .target = reg, .index = w, .kind = m->writes[w].value.kind, .cell = m->writes[w].cell});
        }
    }
    for (uint32_t w = 0; w < m->write_count; w++) m->canonical = m->canonical || m->writes[w].canonical;
}

/* Rooms by lifetime, first free first. busy_until [register count + 1]. */
static void place_rooms(exec_map_list *m, uint32_t *busy_until)
{
    for (uint32_t s = 0; s < m->step_count; s++) {
        exec_map_register *r = &m->registers[m->steps[s].target];
        if (m->steps[s].action == MAP_STORE || r->home != HOME_ROOM) continue;
        uint32_t room = 0;
        while (room < m->room_count && busy_until[room] >= s) room++;
        if (room == m->room_count) m->room_count++;
        busy_until[room] = r->last_use > s ? r->last_use : s;
        r->index = room;
    }
    for (uint32_t r = 0; r < m->register_count; r++) {
        const exec_map_register *root = &m->registers[m->registers[r].root];
        m->registers[r].home = root->home;
        m->registers[r].one = root->one;
        m->registers[r].index = root->index;
    }
}

/* ---- preparing: the whole ---- */

static bool allocate(const exec_build *build, const exec_map_program *program, exec_map_list *m)
{
    /* Cells and folds may have a register more. */
    size_t registers = program->register_count * (program->cells ? 3 : 1) + 1;
    m->register_count = program->register_count;
    m->read_count = program->read_count;
    m->write_count = program->write_count;
    m->registers = base_arena_take_zeroed(build->arena, registers * sizeof *m->registers);
    m->places = base_arena_take(build->arena, registers * sizeof *m->places);
    m->steps = base_arena_take_zeroed(build->arena, (program->instruction_count + registers + m->read_count + m->write_count) * sizeof *m->steps);
    m->reads = base_arena_take_zeroed(build->arena, (m->read_count + 1) * sizeof *m->reads);
    m->writes = base_arena_take_zeroed(build->arena, (m->write_count + 1) * sizeof *m->writes);
    return m->registers && m->places && m->steps && m->reads && m->writes;
}

/* A strided read whose neighbours stand along another axis than the last is gathered as a transpose, which wants enough of that axis in
 * a block; 0: no such read. */
static int64_t transpose_block(const exec_walk *walk)
{
    int64_t unit = 1;
    if (walk->rank < 2 || walk->strides[walk->rank - 1] == 1 || walk->strides[walk->rank - 1] == 0) return 0;
    for (uint32_t axis = walk->rank; axis-- > 0; unit *= walk->shape[axis])
        if (walk->strides[axis] == 1) return unit * (walk->shape[axis] <= TRANSPOSE_LINES ? walk->shape[axis] : TRANSPOSE_LINES);
    return 0;
}

int64_t exec_map_block_items(uint32_t width, uint32_t streams)
{
    int64_t items = BLOCK_MOST;
    while (items > BLOCK_LEAST && items * width * streams > BLOCK_BYTES) items /= 2;
    return items;
}

uint32_t exec_map_list_width(const exec_map_list *list, uint32_t *streams)
{
    uint32_t width = 1;
    for (uint32_t r = 0; r < list->register_count; r++)
        if (base_kinds[list->registers[r].kind].bytes > width) width = base_kinds[list->registers[r].kind].bytes;
    *streams = list->room_count;
    for (uint32_t w = 0; w < list->write_count; w++) *streams += !list->writes[w].past;
    for (uint32_t r = 0; r < list->read_count; r++) *streams += list->registers[r].home == HOME_DENSE || list->registers[r].home == HOME_LINES;
    return width;
}

int64_t exec_map_transpose_items(const exec_map_list *list, uint32_t width, uint32_t streams)
{
    int64_t items = 0;
    for (uint32_t r = 0; r < list->read_count; r++) {
        exec_map_home home = list->registers[r].home;
        int64_t wanted = home == HOME_ROOM || home == HOME_WRITE ? transpose_block(&list->reads[r].walk) : 0;
        if (wanted > items && wanted * width * streams <= TRANSPOSE_BYTES) items = wanted;
    }
    return items;
}

static void choose_block(map *m)
{
    exec_map_list *list = &m->list;
    uint32_t streams, width = exec_map_list_width(list, &streams);
    m->block = exec_map_block_items(width, streams);
    int64_t wanted = exec_map_transpose_items(list, width, streams);
    if (wanted > m->block) m->block = wanted;
    if (list->step_count == 1 && list->steps[0].plain && !list->canonical) m->block = BLOCK_ALONE;
    if (m->width) m->block = m->block < m->width ? m->width : m->block / m->width * m->width;
    if (m->block > m->volume && m->volume > 0) m->block = m->volume;
}

static exec_map_place place_of(const exec_map_list *m, const exec_map_choice *choice, const exec_map_register *r)
{
    exec_map_place place = {.buffer = EXEC_IN_PIECE};
    uint32_t bytes = base_kinds[r->kind].bytes;
    if (r->home == HOME_NONE) return place;
    if (r->home == HOME_ROOM) {
        place.offset = r->index * m->room_bytes;
        return place;
    }
    place.from = r->home == HOME_CELL ? EXEC_FROM_SLOT : r->home == HOME_LINE ? EXEC_FROM_COLUMN : r->cell ? EXEC_FROM_CELL : EXEC_FROM_ITEM;
    place.step = r->home == HOME_ONE ? 0 : bytes;
    if (r->home == HOME_LINES) {
        place.from = EXEC_FROM_CELL;
        place.step = (uint32_t)(m->reads[r->index].walk.strides[0] * bytes);
    }
    if (r->home == HOME_CELL) {
        place.buffer = EXEC_IN_CELLS;
        place.offset = r->index * choice->slot_bytes;
        return place;
    }
    const exec_value *value = r->home == HOME_WRITE ? &m->writes[r->index].value : &m->reads[r->index].value;
    place.buffer = value->buffer;
    place.offset = value->offset * (int64_t)base_kinds[value->kind].bytes;
    return place;
}

void exec_map_list_place(exec_map_list *list, const exec_map_choice *choice, int64_t items)
{
    uint32_t streams;
    if (items < 1) items = 1; /* one item that stands for all those of a line, of which there are none */
    list->room_bytes = base_align_up(items * exec_map_list_width(list, &streams));
    for (uint32_t r = 0; r < list->register_count; r++) list->places[r] = place_of(list, choice, &list->registers[r]);
}

/* A read that is the same line of `width` items for every line. */
static bool is_line(const exec_walk *walk, int64_t width)
{
    return width >= LINE_LEAST && walk->rank == 2 && walk->strides[0] == 0 && walk->strides[1] == 1 && walk->shape[1] == width;
}

/* Lines of `width` items that are side by side, evenly apart. */
static bool are_lines(const exec_walk *walk, int64_t width)
{
    return width >= LINES_LEAST && walk->rank == 2 && walk->strides[1] == 1 && walk->shape[1] == width && walk->strides[0] > 0 &&
           walk->strides[0] <= INT32_MAX / walk->width;
}

static exec_map_home home_of_read(const exec_map_read *read, bool cell, const exec_map_choice *choice)
{
    if (read->walk.one) return HOME_ONE;
    if (read->walk.dense) return HOME_DENSE;
    if (cell || choice->width == 0) return HOME_NONE;
    if (choice->apart && are_lines(&read->walk, choice->width)) return HOME_LINES;
    return is_line(&read->walk, choice->width) ? HOME_LINE : HOME_NONE;
}

static void take_values(const exec_build *build, const exec_map_program *program, const exec_map_choice *choice, exec_map_list *m)
{
    uint32_t slots = 0;
    for (uint32_t r = 0; r < program->register_count; r++) {
        exec_map_register *own = &m->registers[r];
        *own = (exec_map_register){.root = r, .index = r, .cell = program->cells && program->cells[r]};
        if (r < m->read_count) {
            const exec_value *value = &program->reads[r];
            m->reads[r] = (exec_map_read){*value, exec_walk_of(value->kind, value->rank, value->shape, value->strides), false, false};
            own->kind = value->kind;
            own->home = home_of_read(&m->reads[r], own->cell, choice);
            m->unit_cost += 1;
        } else if (own->cell) {
            own->home = HOME_CELL;
        }
        if (!own->cell) continue;
        if (own->home == HOME_CELL || own->home == HOME_NONE) own->index = slots;
        slots++;
    }
    for (uint32_t i = 0; i < program->instruction_count; i++)
        m->registers[program->instructions[i].target].kind = program->instructions[i].result_kind;
    for (uint32_t w = 0; w < m->write_count; w++) {
        const exec_value *value = &program->writes[w].value;
        m->writes[w] = (exec_map_stored){*value, exec_must_be_canonical(build, value->node) && base_kind_has_nan(value->kind),
                                         program->cells && program->cells[program->writes[w].reg], false, false, false};
        m->unit_cost += 1;
    }
}

/* Whether the next step does nothing but stream what this one makes, which nobody else reads. */
static bool is_piecewise(const exec_map_list *m, uint32_t s)
{
    const exec_map_step *step = &m->steps[s], *next = step + 1;
    return step->plain && (step->kind == WG_KIND_F32 || step->kind == WG_KIND_F64) && next->action == MAP_STORE &&
           next->target == step->target && m->writes[next->index].streamed && m->registers[step->target].last_use == s + 1;
}

bool exec_map_list_prepare(exec_build *build, const exec_map_program *program, const exec_map_choice *choice, exec_map_list *m)
{
    *m = (exec_map_list){.across = choice->across, .spread = build->kernels->asks_spread};
    const bool *seen = bits_seen(build, program);
    if (!seen || !allocate(build, program, m)) return base_fail_memory(build->error);
    take_values(build, program, choice, m);
    for (uint32_t r = 0; choice->instructions && !choice->inside && r < m->read_count; r++)
        if (m->registers[r].cell) append_gather(m, choice, r);
    joined *together;
    if (!join_instructions(build, m, choice, program, &together)) return false;
    for (uint32_t i = 0; i < program->instruction_count; i++) {
        if (choice->instructions && !choice->instructions[i]) continue;
        const exec_map_instruction *first = together && together[i].first != WG_NONE ? &program->instructions[together[i].first] : NULL;
        if (!(together && together[i].gone) && !append_instruction(build, m, choice, program, i, first, seen)) return false;
        m->unit_cost += graph_rows[program->instructions[i].op].cost;
    }
    place_writes(build, m, program, choice);
    uint32_t *busy_until = base_arena_take_zeroed(build->arena, (m->register_count + 1) * sizeof *busy_until);
    if (!busy_until) return base_fail_memory(build->error);
    place_rooms(m, busy_until);
    for (uint32_t s = 0; m->streams && s + 1 < m->step_count; s++)
        if (is_piecewise(m, s)) {
            m->steps[s].piecewise = true;
            m->steps[s].plain = false;
        }
    return exec_map_relays_prepare(build, program, choice, m);
}

/* The length of lines of which some read has the same for all (a bias), else of those that some has apart; 0: none. */
static int64_t line_of(const exec_map_program *program)
{
    int64_t apart = 0;
    for (uint32_t r = 0; r < program->read_count; r++) {
        const exec_value *value = &program->reads[r];
        exec_walk walk = exec_walk_of(value->kind, value->rank, value->shape, value->strides);
        if (walk.rank != 2 || walk.shape[1] > LINE_MOST) continue;
        if (is_line(&walk, walk.shape[1])) return walk.shape[1];
        if (are_lines(&walk, walk.shape[1])) apart = walk.shape[1];
    }
    return apart;
}

bool exec_map_program_prepare(exec_build *build, const exec_map_program *program, exec_stage *stage)
{
    exec_map_choice all = {.width = line_of(program), .apart = true};
    map *m = base_arena_take_zeroed(build->arena, sizeof *m);
    if (!m) return base_fail_memory(build->error);
    m->volume = program->volume;
    m->width = all.width;
    if (!exec_map_list_prepare(build, program, &all, &m->list)) return false;
    choose_block(m);
    exec_map_list_asks(&m->list, m->block);
    exec_map_list_place(&m->list, &all, m->block);
    m->at_bytes = m->list.room_count * m->list.room_bytes;
    int64_t pointers = (int64_t)(m->list.register_count * sizeof(char *));
    m->piece_bytes = base_align_up(m->at_bytes + pointers);
    m->scratch_at = exec_scratch_take(build, m->piece_bytes * exec_scratch_pieces(build, m->volume, m->block));
    stage->run = run_map;
    stage->prepared = m;
    stage->cost = m->list.unit_cost * (double)m->volume;
    return true;
}

/* A stage without instructions. */
static bool prepare_copy(exec_build *build, uint32_t index, exec_stage *stage)
{
    uint32_t node = build->plan->stages[index].writes[0].node;
    exec_value from = exec_value_of_read(build, index, 0);
    exec_call call = {.build = build, .stage = stage, .node = node, .result = exec_value_of_node(build, node)};
    call.canonical = base_kind_has_nan(call.result.kind) && exec_must_be_canonical(build, node);
    return exec_copy_prepare(&call, &from);
}

bool exec_map_program_of(exec_build *build, uint32_t index, const exec_value *product, exec_map_program *program)
{
    const plan_stage *from = &build->plan->stages[index];
    uint32_t read_count = from->read_count - from->factor_count;
    *program = (exec_map_program){.register_count = from->register_count, .read_count = read_count + !!product,
                                  .instruction_count = from->instruction_count};
    exec_value *reads = base_arena_take(build->arena, (from->read_count + 1) * sizeof *reads);
    exec_map_write *writes = base_arena_take(build->arena, (from->write_count + 1) * sizeof *writes);
    exec_map_instruction *instructions = base_arena_take(build->arena, (from->instruction_count + 1) * sizeof *instructions);
    if (!reads || !writes || !instructions) return base_fail_memory(build->error);
    for (uint32_t i = 0; i < read_count; i++) reads[i] = exec_value_of_read(build, index, i);
    if (product) reads[read_count] = *product;
    for (uint32_t i = 0; i < from->write_count; i++)
        if (!product || from->writes[i].reg != read_count)
            writes[program->write_count++] = (exec_map_write){exec_value_of_node(build, from->writes[i].node), from->writes[i].reg};
    for (uint32_t i = 0; i < from->instruction_count; i++) {
        const plan_instruction *given = &from->instructions[i];
        instructions[i] = (exec_map_instruction){.op = given->op,
                                                 .kind = (wg_kind)given->kind,
                                                 .result_kind = (wg_kind)given->result_kind,
                                                 .target = given->target,
                                                 .operand_count = (uint32_t)graph_rows[given->op].arity,
                                                 .wrap = given->wrap,
                                                 .fold = given->fold,
                                                 .operation = (exec_fold)given->operation,
                                                 .accumulate = (wg_kind)given->accumulate};
        for (uint32_t o = 0; o < instructions[i].operand_count; o++) instructions[i].operands[o] = given->operands[o];
    }
    program->reads = reads;
    program->writes = writes;
    program->instructions = instructions;
    return true;
}

bool exec_map_prepare(exec_build *build, uint32_t index, exec_stage *stage)
{
    const plan_stage *from = &build->plan->stages[index];
    if (from->instruction_count == 0 && from->read_count == 1 && from->write_count == 1) return prepare_copy(build, index, stage);
    exec_map_program program;
    if (!exec_map_program_of(build, index, NULL, &program)) return false;
    program.volume = program.write_count ? program.writes[0].value.volume : 0; /* none: all that it makes is made again where it is read */
    return exec_map_program_prepare(build, &program, stage);
}
