/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * MAP stages. The iteration space is walked in blocks of items that stay in the first cache; each instruction is one whole-block kernel
 * over registers. A register is where it costs least: a dense read in place, one item for all, the destination itself, or a room of the
 * thread's scratch (strided reads are gathered there; rooms are shared by lifetime). */
#include <string.h>

#include "exec/exec_call.h"
#include "exec/exec_map.h"
#include "graph/row.h"

#define BLOCK_BYTES 24576 /* of everything that a block touches: most of the smallest first cache */
#define BLOCK_LEAST 256
#define BLOCK_MOST 4096
#define TRANSPOSE_LINES 32
#define TRANSPOSE_BYTES 393216 /* of everything that a block with a transpose touches: it stays in the second cache */

typedef enum map_home { HOME_NONE, HOME_ROOM, HOME_DENSE, HOME_ONE, HOME_WRITE } map_home;

typedef struct map_register {
    map_home home;
    wg_kind kind;
    uint32_t index;    /* of the room, read or write */
    uint32_t root;     /* the register whose items these are (StopGradient, Bitcast), else itself */
    uint32_t last_use; /* step */
} map_register;

typedef enum map_action { MAP_GATHER, MAP_BLOCK, MAP_STORE } map_action;

typedef struct map_step {
    map_action action;
    bool canonical; /* a Bitcast reads the result's bits */
    wg_kind kind;   /* of the result */
    exec_block_function function;
    uint32_t target, operand_count, operands[3], scalars;
    uint32_t index; /* GATHER: of the read; STORE: of the write */
} map_step;

/* Where a register's items begin, and how many bytes further an item of the iteration space is. */
typedef struct map_place {
    uint32_t buffer; /* IN_PIECE: a thread's piece of scratch */
    uint32_t step;
    int64_t offset;  /* bytes */
} map_place;

#define IN_PIECE (WG_NONE - 1)

typedef struct map_read {
    exec_value value;
    exec_walk walk;
} map_read;

typedef struct map_write {
    exec_value value;
    bool canonical;
} map_write;

typedef struct map {
    uint32_t register_count, step_count, read_count, write_count, room_count;
    map_register *registers;
    map_place *places; /* of registers */
    map_step *steps;
    map_read *reads;
    map_write *writes;
    bool canonical; /* some write is */
    int64_t volume, block, room_bytes, piece_bytes, scratch_at;
    double unit_cost;
} map;

/* ---- running ---- */

typedef struct map_work {
    exec_run *run;
    const map *map;
} map_work;

static void store(const map_step *step, const map_register *from, const char *items, char *to, int64_t count)
{
    size_t width = base_kinds[step->kind].bytes;
    if (from->home == HOME_ONE) exec_fill(to, items, width, count);
    else memcpy(to, items, (size_t)count * width);
}

/* One block of items [first, first + count); at[register] is where its items are. */
static void run_block(const map_work *work, char *const *at, int64_t first, int64_t count)
{
    const map *m = work->map;
    const exec_kernels *kernels = work->run->kernels;
    for (uint32_t s = 0; s < m->step_count; s++) {
        const map_step *step = &m->steps[s];
        if (step->action == MAP_GATHER) {
            const map_read *read = &m->reads[step->index];
            exec_walk_gather(kernels, &read->walk, exec_items(work->run, &read->value), first, count, at[step->target]);
        } else if (step->action == MAP_BLOCK) {
            const void *operands[3] = {at[step->operands[0]], at[step->operands[1]], at[step->operands[2]]}; /* 0 where there are fewer */
            step->function(at[step->target], operands, step->scalars, count);
            if (step->canonical) exec_canonical_items(kernels, step->kind, at[step->target], count);
        } else {
            const map_write *write = &m->writes[step->index];
            char *to = exec_items(work->run, &write->value) + first * base_kinds[step->kind].bytes;
            store(step, &m->registers[step->target], at[step->target], to, count);
        }
    }
    for (uint32_t w = 0; m->canonical && w < m->write_count; w++) {
        const map_write *write = &m->writes[w];
        if (write->canonical)
            exec_canonical_items(kernels, write->value.kind,
                                 exec_items(work->run, &write->value) + first * base_kinds[write->value.kind].bytes, count);
    }
}

static void run_part(void *context, exec_range range, uint32_t thread)
{
    const map_work *work = context;
    const map *m = work->map;
    char *piece = work->run->scratch + m->scratch_at + thread * m->piece_bytes;
    char **at = (char **)(piece + m->room_count * m->room_bytes);
    for (int64_t first = range.first; first < range.end; first += m->block) {
        for (uint32_t r = 0; r < m->register_count; r++) {
            const map_place *place = &m->places[r];
            char *base = place->buffer == IN_PIECE  ? piece
                         : place->buffer == WG_NONE ? work->run->scratch
                                                    : work->run->bases[place->buffer];
            at[r] = base + place->offset + first * place->step;
        }
        run_block(work, at, first, range.end - first < m->block ? range.end - first : m->block);
    }
}

static void run_map(exec_run *run, const exec_stage *stage)
{
    const map *m = stage->prepared;
    map_work work = {run, m};
    exec_run_split(run, m->volume, m->block, m->unit_cost, run_part, &work);
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

static void append_step(map *m, map_step step)
{
    for (uint32_t o = 0; o < step.operand_count; o++) m->registers[m->registers[step.operands[o]].root].last_use = m->step_count;
    if (step.action == MAP_STORE) m->registers[m->registers[step.target].root].last_use = m->step_count;
    m->steps[m->step_count++] = step;
}

/* A strided read is gathered where it is first used. */
static void append_gather(map *m, uint32_t reg)
{
    map_register *r = &m->registers[reg];
    if (reg >= m->read_count || r->home != HOME_NONE) return;
    r->home = HOME_ROOM; /* a place is found later */
    append_step(m, (map_step){.action = MAP_GATHER, .target = reg, .index = reg, .kind = r->kind});
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

static bool append_instruction(const exec_build *build, map *m, const exec_map_instruction *instruction, const bool *seen)
{
    map_register *target = &m->registers[instruction->target];
    *target = (map_register){.kind = instruction->result_kind, .root = instruction->target};
    if (same_items(instruction->op) && !(instruction->op == WG_OP_Bitcast && base_kind_has_nan(instruction->result_kind))) {
        append_gather(m, m->registers[instruction->operands[0]].root);
        target->root = m->registers[instruction->operands[0]].root;
        return true;
    }
    map_step step = {
        .action = MAP_BLOCK, .target = instruction->target, .kind = instruction->result_kind, .operand_count = instruction->operand_count};
    /* Bits become floats: a copy of their own, for the NaNs among them become the one NaN. */
    bool bits = same_items(instruction->op);
    exec_map_instruction copy = {.op = WG_OP_Convert, .kind = instruction->result_kind, .result_kind = instruction->result_kind};
    step.function = exec_map_function(build->kernels, bits ? &copy : instruction);
    if (!step.function)
        return base_fail(build->error, WG_INTERNAL, "no kernel of %s for %s", graph_rows[instruction->op].text,
                         base_kinds[instruction->kind].name);
    step.canonical = base_kind_has_nan(instruction->result_kind) && (bits || seen[instruction->target]);
    for (uint32_t o = 0; o < step.operand_count; o++) {
        append_gather(m, m->registers[instruction->operands[o]].root);
        step.operands[o] = instruction->operands[o];
        if (m->registers[m->registers[instruction->operands[o]].root].home == HOME_ONE) step.scalars |= 1u << o;
    }
    target->home = HOME_ROOM;
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
static bool may_write_through(const exec_build *build, const map *m, uint32_t step, const map_write *write)
{
    for (uint32_t r = 0; r < m->read_count; r++)
        if (m->registers[r].last_use > step && m->registers[r].home != HOME_ROOM && overlaps(build, &m->reads[r].value, &write->value))
            return false;
    return true;
}

/* The step that fills a register's room; WG_NONE: a read in place. */
static uint32_t defining_step(const map *m, uint32_t reg)
{
    for (uint32_t s = 0; s < m->step_count; s++)
        if (m->steps[s].action != MAP_STORE && m->steps[s].target == reg) return s;
    return WG_NONE;
}

/* Writes of what was read come first: a destination may lie over a read that another write copies. */
static void place_writes(const exec_build *build, map *m, const exec_map_program *program)
{
    for (uint32_t i = 0; i < 2 * m->write_count; i++) {
        uint32_t w = i % m->write_count, reg = program->writes[w].reg, root = m->registers[reg].root;
        if ((root < m->read_count) != (i < m->write_count)) continue;
        append_gather(m, root);
        uint32_t step = m->registers[root].home == HOME_ROOM ? defining_step(m, root) : WG_NONE;
        bool through = step != WG_NONE && may_write_through(build, m, step, &m->writes[w]);
        if (through && m->steps[step].action == MAP_GATHER)
            through = !overlaps(build, &m->reads[m->steps[step].index].value, &m->writes[w].value);
        if (through) {
            m->registers[root].home = HOME_WRITE;
            m->registers[root].index = w;
        } else {
            append_step(m, (map_step){.action = MAP_STORE, .target = reg, .index = w, .kind = m->writes[w].value.kind});
        }
    }
}

/* Rooms by lifetime, first free first. busy_until [register count + 1]. */
static void place_rooms(map *m, uint32_t *busy_until)
{
    for (uint32_t s = 0; s < m->step_count; s++) {
        map_register *r = &m->registers[m->steps[s].target];
        if (m->steps[s].action == MAP_STORE || r->home != HOME_ROOM) continue;
        uint32_t room = 0;
        while (room < m->room_count && busy_until[room] >= s) room++;
        if (room == m->room_count) m->room_count++;
        busy_until[room] = r->last_use > s ? r->last_use : s;
        r->index = room;
    }
    for (uint32_t r = 0; r < m->register_count; r++) {
        const map_register *root = &m->registers[m->registers[r].root];
        m->registers[r].home = root->home;
        m->registers[r].index = root->index;
    }
}

/* ---- preparing: the whole ---- */

static bool allocate(const exec_build *build, const exec_map_program *program, map *m)
{
    m->register_count = program->register_count;
    m->read_count = program->read_count;
    m->write_count = program->write_count;
    m->registers = base_arena_take_zeroed(build->arena, (m->register_count + 1) * sizeof *m->registers);
    m->places = base_arena_take(build->arena, (m->register_count + 1) * sizeof *m->places);
    m->steps = base_arena_take_zeroed(build->arena, (program->instruction_count + m->read_count + m->write_count + 1) * sizeof *m->steps);
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

static void choose_block(map *m)
{
    uint32_t width = 1, streams = 0;
    for (uint32_t r = 0; r < m->register_count; r++)
        if (base_kinds[m->registers[r].kind].bytes > width) width = base_kinds[m->registers[r].kind].bytes;
    for (uint32_t r = 0; r < m->read_count; r++) streams += m->registers[r].home == HOME_DENSE;
    streams += m->room_count + m->write_count;
    m->block = BLOCK_MOST;
    while (m->block > BLOCK_LEAST && m->block * width * streams > BLOCK_BYTES) m->block /= 2;
    for (uint32_t r = 0; r < m->read_count; r++) {
        int64_t wanted = m->registers[r].home == HOME_ROOM || m->registers[r].home == HOME_WRITE ? transpose_block(&m->reads[r].walk) : 0;
        if (wanted > m->block && wanted * width * streams <= TRANSPOSE_BYTES) m->block = wanted;
    }
    if (m->block > m->volume && m->volume > 0) m->block = m->volume;
    m->room_bytes = (m->block * width + BASE_ALIGNMENT - 1) / BASE_ALIGNMENT * BASE_ALIGNMENT;
    int64_t pointers = (int64_t)(m->register_count * sizeof(char *));
    m->piece_bytes = (m->room_count * m->room_bytes + pointers + BASE_ALIGNMENT - 1) / BASE_ALIGNMENT * BASE_ALIGNMENT;
}

static map_place place_of(const map *m, const map_register *r)
{
    map_place place = {.buffer = IN_PIECE};
    if (r->home == HOME_NONE) return place;
    if (r->home == HOME_ROOM) {
        place.offset = r->index * m->room_bytes;
        return place;
    }
    const exec_value *value = r->home == HOME_WRITE ? &m->writes[r->index].value : &m->reads[r->index].value;
    place.buffer = value->buffer;
    place.offset = value->offset * (int64_t)base_kinds[value->kind].bytes;
    if (r->home != HOME_ONE) place.step = base_kinds[r->kind].bytes;
    return place;
}

bool exec_map_program_prepare(exec_build *build, const exec_map_program *program, exec_stage *stage)
{
    map *m = base_arena_take_zeroed(build->arena, sizeof *m);
    uint32_t *busy_until = base_arena_take_zeroed(build->arena, (program->register_count + 1) * sizeof *busy_until);
    const bool *seen = bits_seen(build, program);
    if (!m || !busy_until || !seen || !allocate(build, program, m)) return base_fail_memory(build->error);
    m->volume = program->volume;
    for (uint32_t r = 0; r < m->read_count; r++) {
        const exec_value *value = &program->reads[r];
        m->reads[r] = (map_read){*value, exec_walk_of(value->kind, value->rank, value->shape, value->strides)};
        m->registers[r] = (map_register){.kind = value->kind, .root = r};
        m->registers[r].home = m->reads[r].walk.one ? HOME_ONE : m->reads[r].walk.dense ? HOME_DENSE : HOME_NONE;
        m->registers[r].index = r;
        m->unit_cost += 1;
    }
    for (uint32_t w = 0; w < m->write_count; w++) {
        const exec_value *value = &program->writes[w].value;
        m->writes[w] = (map_write){*value, exec_must_be_canonical(build, value->node) && base_kind_has_nan(value->kind)};
        m->canonical = m->canonical || m->writes[w].canonical;
        m->unit_cost += 1;
    }
    for (uint32_t i = 0; i < program->instruction_count; i++) {
        if (!append_instruction(build, m, &program->instructions[i], seen)) return false;
        m->unit_cost += graph_rows[program->instructions[i].op].cost;
    }
    place_writes(build, m, program);
    place_rooms(m, busy_until);
    choose_block(m);
    for (uint32_t r = 0; r < m->register_count; r++) m->places[r] = place_of(m, &m->registers[r]);
    m->scratch_at = exec_scratch_take(build, m->piece_bytes * exec_scratch_pieces(build, m->volume, m->block));
    stage->run = run_map;
    stage->prepared = m;
    stage->cost = m->unit_cost * (double)m->volume;
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

bool exec_map_prepare(exec_build *build, uint32_t index, exec_stage *stage)
{
    const plan_stage *from = &build->plan->stages[index];
    if (from->instruction_count == 0 && from->read_count == 1 && from->write_count == 1) return prepare_copy(build, index, stage);
    exec_map_program program = {.register_count = from->register_count, .read_count = from->read_count, .write_count = from->write_count,
                                .instruction_count = from->instruction_count};
    exec_value *reads = base_arena_take(build->arena, (from->read_count + 1) * sizeof *reads);
    exec_map_write *writes = base_arena_take(build->arena, (from->write_count + 1) * sizeof *writes);
    exec_map_instruction *instructions = base_arena_take(build->arena, (from->instruction_count + 1) * sizeof *instructions);
    if (!reads || !writes || !instructions) return base_fail_memory(build->error);
    for (uint32_t i = 0; i < from->read_count; i++) reads[i] = exec_value_of_read(build, index, i);
    for (uint32_t i = 0; i < from->write_count; i++) {
        writes[i] = (exec_map_write){exec_value_of_node(build, from->writes[i].node), from->writes[i].reg};
        program.volume = writes[i].value.volume;
    }
    for (uint32_t i = 0; i < from->instruction_count; i++) {
        const plan_instruction *given = &from->instructions[i];
        instructions[i] = (exec_map_instruction){.op = given->op,
                                                 .kind = (wg_kind)given->kind,
                                                 .result_kind = (wg_kind)given->result_kind,
                                                 .target = given->target,
                                                 .operand_count = (uint32_t)graph_rows[given->op].arity,
                                                 .wrap = given->wrap};
        for (uint32_t o = 0; o < instructions[i].operand_count; o++) instructions[i].operands[o] = given->operands[o];
    }
    program.reads = reads;
    program.writes = writes;
    program.instructions = instructions;
    return exec_map_program_prepare(build, &program, stage);
}
