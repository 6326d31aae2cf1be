/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Computing again to keep to a memory budget. A value that waits over the fullest stage for a later reader is dropped after the reader
 * before it, and the stage that made it runs again in front of the later one: the same stage, so the same bits. What that stage reads
 * itself is computed again too where it is not there any more; a value much smaller than what is saved waits instead. What a product's program
 * makes of another of its values that is still there is made of that, without the product.
 *
 * Greedy, by the excess: the sum of the bytes above the target, over the stages that do not run again, whose number stays. Of the values over
 * the fullest stage those of the least cost a byte are tried, and that which takes most excess away for its cost, and makes no stage fuller
 * than the fullest was, is taken. Live sets are counted here, without the arena's
 * gaps; the arena is laid afterwards, and where gaps spoil it the target is lowered by as much. */
#include <string.h>

#include "plan/passes.h"

#define TRIALS 12       /* candidates tried for one choice; all of them where none of these helps */
#define MOST_CHAIN 24   /* stages that one choice makes run again */
#define MOST_DEPTH 8
#define SMALL 8         /* a value of so many times fewer bytes waits rather than being computed again */
#define MOST_ROUNDS 8
#define ROW_COST 0.2f /* of the op table's, where a row runs in registers: GELU's nine rows with tanh take 2.8 ns an item, a copy 0.8 */

/* One stage as it runs: all of its writes, or when it runs again those in the mask. */
typedef struct step {
    uint32_t stage;
    bool again;
    uint64_t writes;
    uint64_t from; /* writes of a product's stage, still there, that its program starts at instead of the products; 0: the stage reads what it read */
} step;

typedef struct value {
    uint32_t stage, write; /* that makes it first; WG_NONE: not of the arena */
    int64_t bytes;
    bool lasts;
} value;

typedef struct remat {
    const wg_plan *plan;
    const plan_layout *layout;
    base_arena memory;
    value *values; /* [buffer] */
    double *costs; /* [stage] */
    double *tried; /* [buffer] cost of what made the value again when that was last tried; 0: never */
    step *steps, *trial;
    uint32_t count, room;
    uint32_t *begun, *used; /* [buffer] of the walk under way; begun WG_NONE: not alive */
    uint32_t *before, *after; /* [buffer] last access before a step, first reader from it on while alive; WG_NONE: none */
    int64_t *live;          /* [step + 1] */
    int64_t peak;
    uint32_t fullest;
    double excess;
} remat;

static uint32_t number_of(const remat *m, uint32_t node)
{
    return m->layout->buffer_of[m->plan->index[node]];
}

static bool writes_it(const step *at, uint32_t write)
{
    return !at->again || at->writes >> write & 1;
}

/* The registers of a program's reads, as the stage lists them before the factors of its products. */
static uint32_t own_reads_of(const plan_stage *stage)
{
    return stage->read_count - stage->factor_count;
}

/* Places of what a step reads, some of which may be empty: of a program's own start, all of its reads, and behind them the writes it starts at. */
static uint32_t read_places(const plan_stage *stage, const step *at)
{
    return at->from ? own_reads_of(stage) + stage->write_count : stage->read_count;
}

/* The buffer at a place; WG_NONE: empty. */
static uint32_t read_at(const remat *m, const plan_stage *stage, const step *at, uint32_t place)
{
    uint32_t own = own_reads_of(stage);
    if (!at->from || place < own) return number_of(m, stage->reads[place].source);
    return at->from >> (place - own) & 1 ? number_of(m, stage->writes[place - own].node) : WG_NONE;
}

/* Notes a step in `marks` of each buffer that it reads. */
static void mark_reads(const remat *m, const step *at, uint32_t number, uint32_t *marks)
{
    const plan_stage *stage = &m->plan->stages[at->stage];
    for (uint32_t r = 0; r < read_places(stage, at); r++) {
        uint32_t read = read_at(m, stage, at, r);
        if (read != WG_NONE) marks[read] = number;
    }
}

/* ---- programs without some of their writes ---- */

/* Registers that the writes need where those of `from` are there already. */
static uint64_t needed_registers(const plan_stage *stage, uint64_t writes, uint64_t from)
{
    uint64_t needed = 0, there = 0;
    for (uint32_t w = 0; w < stage->write_count; w++) {
        if (writes >> w & 1) needed |= (uint64_t)1 << stage->writes[w].reg;
        else if (from >> w & 1) there |= (uint64_t)1 << stage->writes[w].reg;
    }
    for (uint32_t i = stage->instruction_count; i-- > 0;) {
        const plan_instruction *own = &stage->instructions[i];
        if (!(needed >> own->target & 1) || there >> own->target & 1) continue;
        for (int32_t k = 0; k < graph_rows[own->op].arity; k++) needed |= (uint64_t)1 << own->operands[k];
    }
    return needed;
}

/* Those of `there`, writes that can be read, from which a product's program makes `writes` without the product; 0: it needs that. */
static uint64_t starts(const plan_stage *stage, uint64_t writes, uint64_t there)
{
    there &= ~writes;
    if (stage->kind != PLAN_STAGE_PRODUCT || !there || stage->write_count > 64 || stage->register_count > 64) return 0;
    uint32_t own = own_reads_of(stage);
    uint64_t needed = needed_registers(stage, writes, there), from = 0;
    bool given = false; /* the product itself */
    for (uint32_t w = 0; w < stage->write_count; w++)
        if (there >> w & 1 && stage->writes[w].reg == own) given = true;
    if (needed >> own & 1 && !given) return 0;
    for (uint32_t w = 0; w < stage->write_count; w++)
        if (there >> w & 1 && needed >> stage->writes[w].reg & 1) from |= (uint64_t)1 << w;
    return from;
}

/* ---- live bytes of a list of steps ---- */

static void end_life(remat *m, uint32_t number, uint32_t last)
{
    m->live[m->begun[number]] += m->values[number].bytes;
    m->live[last + 1] -= m->values[number].bytes;
}

/* Fills live, peak, fullest and excess. */
static void walk(remat *m, const step *steps, uint32_t count, int64_t target)
{
    memset(m->live, 0, ((size_t)count + 2) * sizeof *m->live);
    memset(m->begun, 0xff, (size_t)m->layout->buffer_count * sizeof *m->begun);
    for (uint32_t s = 0; s < count; s++) {
        const plan_stage *stage = &m->plan->stages[steps[s].stage];
        mark_reads(m, &steps[s], s, m->used);
        for (uint32_t w = 0; w < stage->write_count; w++) {
            uint32_t number = number_of(m, stage->writes[w].node);
            if (m->values[number].stage == WG_NONE || !writes_it(&steps[s], w)) continue;
            if (m->begun[number] != WG_NONE) end_life(m, number, m->used[number]);
            m->begun[number] = m->used[number] = s;
        }
    }
    for (uint32_t b = 0; b < m->layout->buffer_count; b++)
        if (m->begun[b] != WG_NONE) end_life(m, b, m->values[b].lasts ? count : m->used[b]);
    int64_t live = 0;
    m->peak = 0, m->excess = 0, m->fullest = 0;
    for (uint32_t s = 0; s < count; s++) {
        live += m->live[s];
        int64_t here = live + m->layout->scratch[steps[s].stage];
        if (here > m->peak) m->peak = here, m->fullest = s;
        if (here > target && !steps[s].again) m->excess += (double)(here - target);
    }
}

/* Fills before and after, as they are at a step. */
static void look_around(remat *m, const step *steps, uint32_t count, uint32_t at)
{
    memset(m->before, 0xff, (size_t)m->layout->buffer_count * sizeof *m->before);
    memset(m->after, 0xff, (size_t)m->layout->buffer_count * sizeof *m->after);
    for (uint32_t s = 0; s < at; s++) {
        const plan_stage *stage = &m->plan->stages[steps[s].stage];
        mark_reads(m, &steps[s], s, m->before);
        for (uint32_t w = 0; w < stage->write_count; w++)
            if (writes_it(&steps[s], w)) m->before[number_of(m, stage->writes[w].node)] = s;
    }
    for (uint32_t s = count; s-- > at;) { /* backwards, so that the first access is what stays */
        const plan_stage *stage = &m->plan->stages[steps[s].stage];
        for (uint32_t w = 0; w < stage->write_count; w++)
            if (writes_it(&steps[s], w)) m->after[number_of(m, stage->writes[w].node)] = WG_NONE;
        mark_reads(m, &steps[s], s, m->after);
    }
}

/* ---- one choice ---- */

typedef struct chain {
    step steps[MOST_CHAIN]; /* in the order in which they run */
    uint32_t count;
    double cost;
} chain;

static bool may_run_again(const remat *m, uint32_t number)
{
    const value *of = &m->values[number];
    if (of->stage == WG_NONE || of->write >= 64) return false;
    const plan_stage *stage = &m->plan->stages[of->stage];
    if (stage->kind <= PLAN_STAGE_PRODUCT) return true;
    return stage->write_count == 1 && graph_node(m->plan->graph, stage->writes[0].node)->op != WG_OP_Update;
}

/* Whether it is there for a step at the place looked around at. */
static bool is_there(const remat *m, uint32_t number)
{
    return m->values[number].lasts || m->after[number] != WG_NONE;
}

/* The writes of a stage that are there. */
static uint64_t there_of(const remat *m, const plan_stage *stage)
{
    uint64_t there = 0;
    for (uint32_t w = 0; w < stage->write_count && w < 64; w++)
        if (is_there(m, number_of(m, stage->writes[w].node))) there |= (uint64_t)1 << w;
    return there;
}

static double cost_of(const remat *m, const step *at)
{
    const plan_stage *stage = &m->plan->stages[at->stage];
    if (!at->from) return m->costs[at->stage];
    uint64_t needed = needed_registers(stage, at->writes, at->from);
    double items = 2;
    for (uint32_t i = 0; i < stage->instruction_count; i++)
        if (needed >> stage->instructions[i].target & 1) items += (double)(ROW_COST * graph_rows[stage->instructions[i].op].cost);
    return items * (double)m->layout->volumes[m->plan->index[stage->product]];
}

static step maker_of(const remat *m, uint32_t stage, uint64_t writes)
{
    const plan_stage *own = &m->plan->stages[stage];
    return (step){stage, true, writes, starts(own, writes, there_of(m, own))};
}

/* What makes `number`, and before it what makes those of its reads that are not there at the step looked around at. */
static bool add_maker(remat *m, chain *c, uint32_t number, int64_t saved, uint32_t depth)
{
    if (!may_run_again(m, number) || depth > MOST_DEPTH) return false;
    const value *of = &m->values[number];
    const plan_stage *stage = &m->plan->stages[of->stage];
    uint64_t write = (uint64_t)1 << of->write;
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->steps[i].stage != of->stage) continue;
        if (c->steps[i].from && starts(stage, c->steps[i].writes | write, c->steps[i].from) != c->steps[i].from) return false;
        return c->steps[i].writes |= write, true;
    }
    step own = maker_of(m, of->stage, write);
    for (uint32_t r = 0; r < read_places(stage, &own); r++) {
        uint32_t read = read_at(m, stage, &own, r);
        if (read == WG_NONE) continue;
        const plan_buffer *buffer = &m->layout->buffers[read];
        if (buffer->place == PLAN_PLACE_CARRIED) return false;
        bool there = buffer->place != PLAN_PLACE_ARENA || is_there(m, read);
        if (there || m->values[read].bytes * SMALL <= saved) continue;
        if (!add_maker(m, c, read, saved, depth + 1)) return false;
    }
    if (c->count == MOST_CHAIN) return false;
    c->steps[c->count++] = own;
    c->cost += cost_of(m, &own);
    return true;
}

/* The steps with a chain before step `at`. Of a value that runs again later already, the later time is left out. */
static uint32_t insert(const remat *m, const chain *c, uint32_t at, step *to)
{
    memcpy(to, m->steps, at * sizeof *to);
    memcpy(to + at, c->steps, c->count * sizeof *to);
    uint32_t count = at + c->count;
    for (uint32_t s = at; s < m->count; s++) {
        step own = m->steps[s];
        for (uint32_t i = 0; own.again && i < c->count; i++)
            if (c->steps[i].stage == own.stage) own.writes &= ~c->steps[i].writes;
        if (!own.again || own.writes) to[count++] = own;
    }
    return count;
}

typedef struct candidate {
    uint32_t number, reader;
    double score;
} candidate;

/* Falling scores sink: the cheapest a byte first. */
static void sort_candidates(candidate *list, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        candidate own = list[i];
        uint32_t at = i;
        for (; at && list[at - 1].score > own.score; at--) list[at] = list[at - 1];
        list[at] = own;
    }
}

/* Values that wait over the fullest step. */
static uint32_t list_candidates(remat *m, candidate *list)
{
    uint32_t count = 0, peak = m->fullest;
    const plan_stage *fullest = &m->plan->stages[m->steps[peak].stage];
    look_around(m, m->steps, m->count, peak + 1);
    for (uint32_t k = 0; k < fullest->read_count + fullest->write_count; k++) {
        uint32_t node = k < fullest->read_count ? fullest->reads[k].source : fullest->writes[k - fullest->read_count].node;
        m->after[number_of(m, node)] = WG_NONE;
    }
    for (uint32_t b = 0; b < m->layout->buffer_count; b++) {
        const value *of = &m->values[b];
        if (of->lasts || !of->bytes || m->before[b] == WG_NONE || m->after[b] == WG_NONE || !may_run_again(m, b)) continue;
        step maker = maker_of(m, of->stage, (uint64_t)1 << of->write);
        double cost = m->tried[b] > 0 ? m->tried[b] : cost_of(m, &maker);
        list[count++] = (candidate){b, m->after[b], cost / (double)of->bytes};
    }
    sort_candidates(list, count);
    return count;
}

/* The best choice at the fullest step, taken; false: nothing helps. */
static bool choose(remat *m, candidate *list, int64_t target, step *best, uint32_t *best_count)
{
    uint32_t count = list_candidates(m, list);
    double before = m->excess, best_gain = 0;
    int64_t peak = m->peak;
    for (uint32_t i = 0; i < count && (i < TRIALS || best_gain == 0); i++) {
        chain c = {.count = 0};
        look_around(m, m->steps, m->count, list[i].reader);
        m->after[list[i].number] = WG_NONE; /* as if it had been dropped */
        if (!add_maker(m, &c, list[i].number, m->values[list[i].number].bytes, 0) || m->count + c.count > m->room) continue;
        m->tried[list[i].number] = c.cost;
        uint32_t made = insert(m, &c, list[i].reader, m->trial);
        walk(m, m->trial, made, target);
        double gain = (before - m->excess) / (c.cost + 1);
        if (gain <= best_gain || m->peak > peak) continue;
        best_gain = gain;
        *best_count = made;
        memcpy(best, m->trial, made * sizeof *best);
    }
    return best_gain > 0;
}

/* Until the live sets have at most `target` bytes, or nothing helps any more. */
static void lower(remat *m, candidate *list, step *best, int64_t target)
{
    for (uint32_t i = 0; i < m->plan->stage_count; i++) m->steps[i] = (step){.stage = i};
    m->count = m->plan->stage_count;
    for (;;) {
        uint32_t count = 0;
        walk(m, m->steps, m->count, target);
        if (m->peak <= target || !choose(m, list, target, best, &count)) return;
        memcpy(m->steps, best, count * sizeof *best);
        m->count = count;
    }
}

/* ---- the stages ---- */

/* A program with some of its writes: what they do not need is left out, but no product unless it starts at other writes. Rows of several
 * instructions stay whole. */
static bool cut_program(base_arena *memory, plan_stage *stage, uint64_t writes, uint64_t from)
{
    uint64_t needed = needed_registers(stage, writes, from), starting = 0;
    uint16_t renamed[64];
    plan_write *kept = base_arena_take(memory, stage->write_count * sizeof *kept);
    plan_read *reads = base_arena_take(memory, ((size_t)stage->read_count + stage->write_count + 1) * sizeof *reads);
    plan_instruction *instructions = base_arena_take(memory, ((size_t)stage->instruction_count + 1) * sizeof *instructions);
    if (!kept || !reads || !instructions) return false;
    uint32_t write_count = 0, read_count = 0, instruction_count = 0, registers = 0, own_reads = own_reads_of(stage);
    for (uint32_t w = 0; w < stage->write_count; w++)
        if (writes >> w & 1) kept[write_count++] = stage->writes[w];
    for (uint32_t r = 0; r < own_reads; r++)
        if (needed >> r & 1) renamed[r] = (uint16_t)registers++, reads[read_count++] = stage->reads[r];
    if (from) {
        for (uint32_t w = 0; w < stage->write_count; w++) {
            uint16_t reg = stage->writes[w].reg;
            if (!(from >> w & 1) || starting >> reg & 1) continue;
            starting |= (uint64_t)1 << reg;
            renamed[reg] = (uint16_t)registers++, reads[read_count++] = (plan_read){.node = stage->writes[w].node, .source = stage->writes[w].node};
        }
        stage->kind = PLAN_STAGE_MAP, stage->factor_count = 0;
    } else {
        if (stage->kind == PLAN_STAGE_PRODUCT) renamed[own_reads] = (uint16_t)registers++;
        for (uint32_t r = own_reads; r < stage->read_count; r++) reads[read_count++] = stage->reads[r];
    }
    stage->last_pass = 0;
    for (uint32_t i = 0; i < stage->instruction_count; i++) {
        plan_instruction own = stage->instructions[i];
        if (!(needed >> own.target & 1) || starting >> own.target & 1) continue;
        for (int32_t k = 0; k < graph_rows[own.op].arity; k++) own.operands[k] = renamed[own.operands[k]];
        own.target = renamed[own.target] = (uint16_t)registers++;
        if (own.pass + own.fold > (int)stage->last_pass) stage->last_pass = (uint32_t)(own.pass + own.fold);
        instructions[instruction_count++] = own;
    }
    for (uint32_t w = 0; w < write_count; w++) kept[w].reg = renamed[kept[w].reg];
    stage->writes = kept, stage->reads = reads, stage->instructions = instructions;
    stage->write_count = write_count, stage->read_count = read_count, stage->instruction_count = instruction_count;
    stage->register_count = registers;
    return true;
}

static bool has_instruction(const plan_stage *stage, uint32_t node)
{
    for (uint32_t i = 0; i < stage->instruction_count; i++)
        if (stage->instructions[i].node == node) return true;
    return false;
}

/* The nodes whose instructions are left, and those that never had any: of products. */
static bool cut_nodes(base_arena *memory, plan_stage *stage, const plan_stage *whole)
{
    uint32_t *nodes = base_arena_take(memory, ((size_t)stage->node_count + 1) * sizeof *nodes), count = 0;
    if (!nodes) return false;
    for (uint32_t n = 0; n < stage->node_count; n++)
        if (has_instruction(stage, stage->nodes[n]) || (stage->kind == whole->kind && !has_instruction(whole, stage->nodes[n]))) nodes[count++] = stage->nodes[n];
    stage->nodes = nodes;
    stage->node_count = count;
    return true;
}

static plan_stage *make_stages(const remat *m, base_arena *memory)
{
    plan_stage *stages = base_arena_take(memory, ((size_t)m->count + 1) * sizeof *stages);
    for (uint32_t s = 0; stages && s < m->count; s++) {
        stages[s] = m->plan->stages[m->steps[s].stage];
        if (!m->steps[s].again) continue;
        stages[s].again = true;
        bool program = stages[s].kind <= PLAN_STAGE_PRODUCT && stages[s].instruction_count;
        const plan_stage *whole = &m->plan->stages[m->steps[s].stage];
        if (program && (!cut_program(memory, &stages[s], m->steps[s].writes, m->steps[s].from) || !cut_nodes(memory, &stages[s], whole))) return NULL;
    }
    return stages;
}

/* ---- the whole ---- */

static bool take_room(remat *m)
{
    size_t buffers = (size_t)m->layout->buffer_count + 1, stages = m->plan->stage_count;
    m->room = 3 * m->plan->stage_count + MOST_CHAIN;
    return (m->values = base_arena_take(&m->memory, buffers * sizeof *m->values)) &&
           (m->tried = base_arena_take_zeroed(&m->memory, buffers * sizeof *m->tried)) &&
           (m->costs = base_arena_take(&m->memory, (stages + 1) * sizeof *m->costs)) &&
           (m->steps = base_arena_take(&m->memory, m->room * sizeof *m->steps)) &&
           (m->trial = base_arena_take(&m->memory, m->room * sizeof *m->trial)) &&
           (m->begun = base_arena_take(&m->memory, buffers * sizeof *m->begun)) &&
           (m->used = base_arena_take(&m->memory, buffers * sizeof *m->used)) &&
           (m->before = base_arena_take(&m->memory, buffers * sizeof *m->before)) &&
           (m->after = base_arena_take(&m->memory, buffers * sizeof *m->after)) &&
           (m->live = base_arena_take(&m->memory, ((size_t)m->room + 2) * sizeof *m->live));
}

static void list_values(remat *m)
{
    const wg_plan *plan = m->plan;
    for (uint32_t b = 0; b < m->layout->buffer_count; b++) m->values[b] = (value){.stage = WG_NONE};
    for (uint32_t s = 0; s < plan->stage_count; s++) {
        const plan_stage *stage = &plan->stages[s];
        m->costs[s] = plan_stage_cost(plan, m->layout, stage);
        for (uint32_t w = 0; w < stage->write_count; w++) {
            uint32_t number = number_of(m, stage->writes[w].node);
            const plan_buffer *buffer = &m->layout->buffers[number];
            if (buffer->place != PLAN_PLACE_ARENA) continue;
            m->values[number] = (value){s, w, base_align_up(buffer->bytes),
                                        plan->lasts[plan->index[buffer->node]]};
        }
    }
}

/* The plan's stages as they were, or with some that run again, laid out. */
static bool lay_again(wg_plan *plan, plan_stage *stages, uint32_t count, const wg_binding *bindings, uint32_t binding_count, wg_error *error)
{
    plan->stages = stages;
    plan->stage_count = count;
    plan_layout_free(&plan->layout);
    return plan_layout_make(plan, bindings, binding_count, &plan->layout, error);
}

bool plan_remat_make(wg_plan *plan, const wg_binding *bindings, uint32_t binding_count, int64_t budget, wg_error *error)
{
    int64_t target = budget, least = plan->layout.arena_bytes;
    plan_stage *stages = plan->stages;
    uint32_t count = plan->stage_count;
    bool all = false; /* the last round goes as low as anything helps: what the message promises can be had */
    for (int round = 0; !all && plan->layout.arena_bytes > budget; round++) {
        all = round == MOST_ROUNDS || target <= 0;
        if (all) target = 1;
        remat m = {.plan = plan, .memory = base_arena_new(plan->allocator)};
        bool good = round == 0 || lay_again(plan, stages, count, bindings, binding_count, error);
        m.layout = &plan->layout;
        candidate *list = good ? base_arena_take(&m.memory, ((size_t)m.layout->buffer_count + 1) * sizeof *list) : NULL;
        step *best = good ? base_arena_take(&m.memory, (3 * (size_t)count + MOST_CHAIN) * sizeof *best) : NULL;
        plan_stage *made = NULL;
        if (good && (!list || !best || !take_room(&m))) good = base_fail_memory(error);
        if (good) {
            list_values(&m);
            lower(&m, list, best, target);
            made = make_stages(&m, &plan->memory);
            good = made ? lay_again(plan, made, m.count, bindings, binding_count, error) : base_fail_memory(error);
        }
        base_arena_free(&m.memory);
        if (!good) return false;
        if (plan->layout.arena_bytes < least) least = plan->layout.arena_bytes;
        target -= plan->layout.arena_bytes - budget;
    }
    return plan->layout.arena_bytes <= budget ||
           base_fail(error, WG_MEMORY, "the memory budget is %lld bytes; the least arena that computing again brings here is %lld, without it %lld", (long long)budget,
                     (long long)least, (long long)plan->without);
}
