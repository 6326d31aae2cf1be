/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Steps of a list that follow each other, elementwise on f32, as one relay (kernels.h): what one makes for the next stays in registers, is
 * put away, a group at a time, where a later one needs it, and goes to its room where somebody else does. What is left behind the last group
 * of items is done step by step, and so are lines that no groups fill. */
#include <string.h>

#include "exec/exec_call.h"
#include "exec/exec_map.h"

#define STEPS_MOST 10
#define PARTS_MOST (8 * STEPS_MOST) /* a step asks for three reads at most, and is a load, two operations and a result */
#define ITEMS_LEAST 4096 /* of a stage from which a relay repays its preparing */

typedef enum relay_place { IN_REGISTER, ONE_ITEM, IN_WRITE, PUT_AWAY, IN_LANES } relay_place;

/* An operation and what it reads besides, or writes; STREAM where its place allows. */
typedef struct relay_part {
    exec_relay operation;
    relay_place place;
    uint32_t at;   /* register (ONE_ITEM too), write, or slot of what is put away */
    int64_t ahead; /* bytes from line to line; AHEAD_LINE: a whole line */
} relay_part;
#define AHEAD_LINE (-1)

struct exec_map_relay {
    exec_map_relay *before;
    uint32_t first, step_count, part_count;
    bool lines; /* a line at a time */
    uint32_t sum, sum_part; /* the register of lines' sums, WG_NONE: none; and what part makes them */
    relay_part parts[PARTS_MOST];
};

/* ---- running ---- */

#define SUMS_MOST 16 /* lines whose lanes wait to be joined in one call */

/* What parts keep while they run. */
typedef struct relay_room {
    float away[STEPS_MOST][EXEC_RELAY_ITEMS] __attribute__((aligned(64)));
    float lanes[SUMS_MOST][EXEC_FOLD_LANES] __attribute__((aligned(64))); /* of the sums of lines */
    float ones[PARTS_MOST]; /* later steps may have their rooms */
} relay_room;

/* The sums of the `count` lines before line `end` are cells. */
static void join_sums(const exec_map_work *work, const exec_map_relay *relay, const relay_room *room, int64_t count, int64_t end)
{
    char *cells = work->at[relay->sum] + (end - count) * (int64_t)sizeof(float);
    exec_reduction lanes = {.fold = EXEC_FOLD_SUM, .kind = WG_KIND_F32, .accumulate = WG_KIND_F32, .result_kind = WG_KIND_F32, .extent = EXEC_FOLD_LANES,
                            .inner = 1, .outer_stride = EXEC_FOLD_LANES, .extent_stride = 1, .items = room->lanes, .result = cells};
    work->run->kernels->reduce(&lanes, (exec_range){0, count});
    exec_canonical_items(work->run->kernels, WG_KIND_F32, cells, count);
}

/* Items [done, count) of a block by the steps' own functions, and the one NaN where parts would have seen to it. */
static void run_rest(const exec_map_work *work, const exec_map_relay *relay, const exec_map_block *block, int64_t done)
{
    const exec_map_list *list = work->list;
    for (uint32_t s = relay->first; s < relay->first + relay->step_count; s++) {
        const exec_map_step *step = &list->steps[s];
        if (step->action == MAP_STORE) exec_map_store(work, step, block, done);
        else if (done == 0) exec_map_step_run(work, step, block);
        else {
            const void *operands[3] = {NULL, NULL, NULL};
            for (uint32_t o = 0; o < step->operand_count; o++)
                operands[o] = work->at[step->operands[o]] + (step->scalars >> o & 1 ? 0 : done * (int64_t)sizeof(float));
            step->function(work->at[step->target] + done * (int64_t)sizeof(float), operands, step->scalars, block->count - done);
        }
    }
    for (uint32_t p = 0; p < relay->part_count; p++)
        if (relay->parts[p].operation == EXEC_RELAY_STORE_ONE_NAN)
            exec_canonical_items(work->run->kernels, WG_KIND_F32, work->at[relay->parts[p].at] + done * (int64_t)sizeof(float), block->count - done);
}

static const void *place_of(const exec_map_work *work, const exec_map_relay *relay, uint32_t p, const exec_map_block *block, relay_room *room)
{
    const relay_part *part = &relay->parts[p];
    switch (part->place) {
    case PUT_AWAY: return room->away[part->at];
    case IN_LANES: return room->lanes;
    case ONE_ITEM: memcpy(&room->ones[p], work->at[part->at], sizeof *room->ones); return &room->ones[p];
    case IN_WRITE: return exec_items(work->run, &work->list->writes[part->at].value) + block->begin[EXEC_FROM_ITEM] * (int64_t)sizeof(float);
    default: return work->at[part->at];
    }
}

uint32_t exec_map_relay_run(const exec_map_work *work, const exec_map_step *first, const exec_map_block *block)
{
    const exec_map_relay *relay = work->list->relays;
    while (work->list->steps + relay->first != first) relay = relay->before;
    const exec_kernels *kernels = work->run->kernels;
    int64_t width = relay->lines ? block->width : block->count, groups = width / EXEC_RELAY_ITEMS;
    if (groups == 0 || (relay->lines && width % EXEC_RELAY_ITEMS != 0)) {
        run_rest(work, relay, block, 0);
        return relay->step_count;
    }
    exec_relay_step steps[PARTS_MOST + 1];
    relay_room room;
    for (uint32_t p = 0; p < relay->part_count; p++) {
        const relay_part *part = &relay->parts[p];
        const void *at = place_of(work, relay, p, block, &room);
        bool astray = part->operation == EXEC_RELAY_STREAM && (uintptr_t)at % 64 != 0;
        steps[p] = (exec_relay_step){kernels->relay(astray ? EXEC_RELAY_STORE_ONE_NAN : part->operation), at, part->place >= PUT_AWAY ? 0 : -1};
    }
    steps[relay->part_count] = (exec_relay_step){.function = kernels->relay(EXEC_RELAY_END)};
    int64_t ahead[PARTS_MOST], line = 0;
    for (uint32_t p = 0; p < relay->part_count; p++)
        ahead[p] = relay->parts[p].ahead == AHEAD_LINE ? width * (int64_t)sizeof(float) : relay->parts[p].ahead;
    for (int64_t done = 0; done < block->count; done += width) {
        if (work->list->spread) exec_map_ask(work, first, block, done / width, (block->count + width - 1) / width);
        kernels->relay_run(steps, groups);
        for (uint32_t p = 0; relay->lines && p < relay->part_count; p++) steps[p].items = (const char *)steps[p].items + ahead[p];
        if (relay->sum == WG_NONE || (++line % SUMS_MOST != 0 && done + width < block->count)) continue;
        join_sums(work, relay, &room, (line - 1) % SUMS_MOST + 1, line);
        steps[relay->sum_part].items = room.lanes;
    }
    if (!relay->lines && width % EXEC_RELAY_ITEMS) run_rest(work, relay, block, groups * EXEC_RELAY_ITEMS);
    return relay->step_count;
}

/* ---- preparing ---- */

typedef struct relaying {
    const exec_build *build;
    const exec_map_program *program;
    exec_map_list *list;
    exec_map_relay *relay;
    uint32_t held; /* the root of what is handed on; WG_NONE */
    uint32_t away[STEPS_MOST]; /* the roots of what the steps put away; WG_NONE */
    const exec_map_choice *choice;
} relaying;

static uint32_t root_of(const exec_map_list *list, uint32_t reg) { return list->registers[reg].root; }

/* The relay's operation of a block; the one of exchanged operands in *exchanged. EXEC_RELAY_COUNT: none. */
static exec_relay operation_of(exec_block block, exec_relay *exchanged)
{
    static const struct { exec_block block; exec_relay operation, exchanged; } known[] = {
        {EXEC_BLOCK_ADD, EXEC_RELAY_ADD, EXEC_RELAY_ADD},          {EXEC_BLOCK_SUB, EXEC_RELAY_SUB, EXEC_RELAY_FROM},
        {EXEC_BLOCK_MUL, EXEC_RELAY_MUL, EXEC_RELAY_MUL},          {EXEC_BLOCK_DIV, EXEC_RELAY_DIV, EXEC_RELAY_INTO},
        {EXEC_BLOCK_MAXIMUM, EXEC_RELAY_MAXIMUM, EXEC_RELAY_MAXIMUM},
        {EXEC_BLOCK_NEG, EXEC_RELAY_NEG, EXEC_RELAY_NEG},          {EXEC_BLOCK_ABS, EXEC_RELAY_ABS, EXEC_RELAY_ABS},
        {EXEC_BLOCK_SQRT, EXEC_RELAY_SQRT, EXEC_RELAY_SQRT},       {EXEC_BLOCK_EXP, EXEC_RELAY_EXP, EXEC_RELAY_EXP},
        {EXEC_BLOCK_TANH, EXEC_RELAY_TANH, EXEC_RELAY_TANH},
        {EXEC_BLOCK_ERF, EXEC_RELAY_ERF, EXEC_RELAY_ERF}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].block == block) return *exchanged = known[i].exchanged, known[i].operation;
    return *exchanged = EXEC_RELAY_COUNT;
}

/* The sum of a line that is one chunk of whole groups. */
static bool is_sum(const relaying *r, const exec_map_step *step)
{
    if (step->action != MAP_FOLD || r->choice->across || !r->build->kernels->relay(EXEC_RELAY_SUM)) return false;
    const exec_map_instruction *fold = &r->program->instructions[step->index];
    int64_t width = r->choice->width;
    return fold->operation == EXEC_FOLD_SUM && fold->kind == WG_KIND_F32 && fold->accumulate == WG_KIND_F32 && fold->result_kind == WG_KIND_F32 &&
           width > 0 && width <= EXEC_FOLD_CHUNK && width % EXEC_RELAY_ITEMS == 0;
}

/* Elementwise on f32, by operations that a relay has, or a sum of such. */
static bool can_be_part(const relaying *r, const exec_map_step *step)
{
    exec_relay exchanged;
    if (is_sum(r, step)) return true;
    if (step->action != MAP_BLOCK || step->cell || step->one || step->canonical || step->kind != WG_KIND_F32) return false;
    if (operation_of(step->blocks[0], &exchanged) == EXEC_RELAY_COUNT || (r->choice->across && (step->cells | step->repeats))) return false;
    if (step->blocks[1] != EXEC_BLOCK_COUNT && operation_of(step->blocks[1], &exchanged) == EXEC_RELAY_COUNT) return false;
    for (uint32_t o = 0; o < step->operand_count; o++)
        if (r->list->registers[step->operands[o]].kind != WG_KIND_F32) return false;
    const uint32_t scalars = step->scalars;
    return scalars >> step->operand_count << step->operand_count == (scalars & EXEC_BLOCK_PAST);
}

/* Whether a step reads the sum of the steps from `first` on, which is there behind their lines, or is a second one. */
static bool waits(const exec_map_list *list, uint32_t first, uint32_t step)
{
    const exec_map_step *own = &list->steps[step];
    for (uint32_t s = first; s < step; s++) {
        if (list->steps[s].action != MAP_FOLD) continue;
        if (own->action == MAP_FOLD) return true;
        for (uint32_t o = 0; o < own->operand_count; o++)
            if (root_of(list, own->operands[o]) == root_of(list, list->steps[s].target)) return true;
    }
    return false;
}

static void add_part(relaying *r, exec_relay operation, relay_place place, uint32_t at, int64_t ahead)
{
    r->relay->parts[r->relay->part_count++] = (relay_part){operation, place, at, ahead};
}

/* A read of more than caches keep that no step before the relay reads. */
static void ask(relaying *r, uint32_t reg)
{
    exec_map_list *list = r->list;
    if (reg >= list->read_count || list->reads[reg].asked || !exec_map_reads_far(list, reg)) return;
    for (uint32_t s = 0; s < r->relay->first; s++)
        for (uint32_t o = 0; o < list->steps[s].operand_count; o++)
            if (root_of(list, list->steps[s].operands[o]) == reg) return;
    list->reads[reg].asked = true;
    add_part(r, EXEC_RELAY_ASK, IN_REGISTER, reg, AHEAD_LINE);
}

/* An operation that reads operand o of a step. */
static void add_reading(relaying *r, const exec_map_step *step, exec_relay operation, uint32_t o)
{
    const exec_map_register *own = &r->list->registers[step->operands[o]];
    bool one = (step->scalars | step->cells) >> o & 1;
    int64_t ahead = AHEAD_LINE;
    for (uint32_t slot = 0; slot < STEPS_MOST; slot++)
        if (r->away[slot] == own->root) {
            add_part(r, operation, PUT_AWAY, slot, 0);
            return;
        }
    ask(r, own->root);
    if (step->scalars >> o & 1) ahead = 0;
    else if (own->home == HOME_LINES) ahead = r->list->reads[own->index].walk.strides[0] * (int64_t)sizeof(float);
    else if (step->repeats >> o & 1) ahead = 0;
    else if (one) ahead = sizeof(float);
    r->relay->lines = r->relay->lines || ((step->cells | step->repeats) >> o & 1);
    add_part(r, operation + one, step->scalars >> o & 1 ? ONE_ITEM : IN_REGISTER, step->operands[o], ahead);
}

/* Whether a step takes up what is handed on, and reads it nowhere else. */
static bool takes_up(const relaying *r, const exec_map_step *step, uint32_t held)
{
    bool is[3] = {false, false, false};
    for (uint32_t o = 0; o < step->operand_count; o++) is[o] = root_of(r->list, step->operands[o]) == held;
    if (is[2]) return false;
    return is[0] && is[1] ? step->blocks[0] == EXEC_BLOCK_MUL : is[0] || is[1];
}

/* What is added up is handed on. */
static void add_sum(relaying *r, const exec_map_step *step)
{
    if (root_of(r->list, step->operands[0]) != r->held) add_reading(r, step, EXEC_RELAY_LOAD, 0);
    r->relay->sum = step->target;
    r->relay->sum_part = r->relay->part_count;
    r->relay->lines = true;
    add_part(r, EXEC_RELAY_SUM, IN_LANES, 0, EXEC_FOLD_LANES * (int64_t)sizeof(float));
    r->held = root_of(r->list, step->operands[0]);
}

static void add_step(relaying *r, const exec_map_step *step)
{
    exec_relay exchanged, operation = operation_of(step->blocks[0], &exchanged);
    bool first = root_of(r->list, step->operands[0]) == r->held, both = step->operand_count > 1 && operation < EXEC_RELAY_SQUARE;
    bool second = both && root_of(r->list, step->operands[1]) == r->held;
    if (first && second && operation == EXEC_RELAY_MUL) add_part(r, EXEC_RELAY_SQUARE, IN_REGISTER, step->operands[0], 0);
    else if (second && !first) add_reading(r, step, exchanged, 0);
    else {
        if (!first) add_reading(r, step, EXEC_RELAY_LOAD, 0);
        if (both) add_reading(r, step, operation, 1);
        else add_part(r, operation, IN_REGISTER, step->operands[0], 0);
    }
    if (step->blocks[1] != EXEC_BLOCK_COUNT) {
        operation = operation_of(step->blocks[1], &exchanged);
        if (operation >= EXEC_RELAY_SQUARE) add_part(r, operation, IN_REGISTER, step->target, 0);
        else add_reading(r, step, step->right ? exchanged : operation, step->operand_count - 1);
    }
    r->held = root_of(r->list, step->target);
}

/* Where the step's result goes, if anywhere: the next step of the relay may be all that reads it. */
static void add_result(relaying *r, uint32_t s, uint32_t end)
{
    exec_map_list *list = r->list;
    const exec_map_step *step = &list->steps[s], *next = step + 1;
    const exec_map_register *target = &list->registers[r->held];
    bool handed = s + 1 < end && target->last_use == s + 1 && takes_up(r, next, r->held);
    if (step->scalars & EXEC_BLOCK_PAST) {
        add_part(r, EXEC_RELAY_STREAM, IN_REGISTER, step->target, AHEAD_LINE);
    } else if (target->home == HOME_WRITE) {
        bool one_nan = exec_must_be_canonical(r->build, list->writes[target->index].value.node); /* steps' functions may see to it themselves */
        add_part(r, one_nan ? EXEC_RELAY_STORE_ONE_NAN : EXEC_RELAY_STORE, IN_REGISTER, step->target, AHEAD_LINE);
    } else if (s + 1 == end && s + 1 < list->step_count && next->action == MAP_STORE && root_of(list, next->target) == r->held &&
               list->writes[next->index].streamed && target->last_use == s + 1) {
        add_part(r, EXEC_RELAY_STREAM, IN_WRITE, next->index, AHEAD_LINE);
        r->relay->step_count++;
    } else if (!handed && target->last_use > s && target->last_use < end) {
        r->away[s - r->relay->first] = r->held;
        add_part(r, EXEC_RELAY_STORE, PUT_AWAY, s - r->relay->first, 0);
    } else if (!handed) {
        add_part(r, EXEC_RELAY_STORE, IN_REGISTER, step->target, AHEAD_LINE);
    }
}

/* Steps [first, end) as one. */
static bool make_relay(relaying *r, uint32_t first, uint32_t end)
{
    exec_map_list *list = r->list;
    exec_map_relay *relay = r->relay = base_arena_take_zeroed(r->build->arena, sizeof *relay);
    if (!relay) return base_fail_memory(r->build->error);
    *relay = (exec_map_relay){.before = list->relays, .first = first, .step_count = end - first, .sum = WG_NONE};
    r->held = WG_NONE;
    for (uint32_t slot = 0; slot < STEPS_MOST; slot++) r->away[slot] = WG_NONE;
    for (uint32_t s = first; s < end; s++) {
        if (list->steps[s].action == MAP_FOLD) {
            add_sum(r, &list->steps[s]);
            continue;
        }
        add_step(r, &list->steps[s]);
        add_result(r, s, end);
    }
    const exec_map_register *made = &list->registers[r->held];
    bool wide = r->build->kernels->relay_alone, saves = relay->step_count > 1 || (wide && made->home == HOME_WRITE && list->writes[made->index].canonical);
    for (uint32_t p = 0; wide && p < relay->part_count; p++) saves = saves || relay->parts[p].operation == EXEC_RELAY_DIV_ONE;
    for (uint32_t p = 0; !saves && p < relay->part_count; p++)
        if (relay->parts[p].operation == EXEC_RELAY_ASK) list->reads[relay->parts[p].at].asked = false;
    if (!saves) return true;
    for (uint32_t s = first; s < first + relay->step_count; s++) {
        exec_map_step *step = &list->steps[s];
        step->inside = s > first;
        const exec_map_register *target = &list->registers[root_of(list, step->target)];
        if (step->action == MAP_BLOCK && target->home == HOME_WRITE) list->writes[target->index].canonical = false;
    }
    list->relays = relay;
    list->steps[first].begins = true;
    list->steps[first].plain = list->steps[first].piecewise = false;
    return true;
}

bool exec_map_relays_prepare(const exec_build *build, const exec_map_program *program, const exec_map_choice *choice, exec_map_list *list)
{
    relaying r = {.build = build, .program = program, .list = list, .choice = choice};
    if (program->volume < ITEMS_LEAST || !build->kernels->relay(EXEC_RELAY_END)) return true;
    for (uint32_t s = 0; s < list->step_count; s++) {
        uint32_t end = s;
        while (end < list->step_count && end - s < STEPS_MOST && can_be_part(&r, &list->steps[end]) && !waits(list, s, end)) end++;
        if (end == s || (end == s + 1 && list->steps[s].action == MAP_FOLD)) continue;
        if (!make_relay(&r, s, end)) return false;
        s = end - 1;
    }
    return true;
}
