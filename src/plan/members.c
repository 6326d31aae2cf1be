/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What each unit computes, and which values are stored.
 *
 * A value stays in registers where all its readers stand in its own unit. Of one that rows of other units read as well, two things can be
 * done: it is stored, or they compute it again from what they read anyway. An elementwise row is computed again where that adds no read to
 * any of those units: so it takes a store and a read less, and nothing lives longer. What a derivative reads of a function's inside is
 * mostly of this kind. TRIED: a read of something else in place of the row's, and one out of order (deviations spread along rows, in sums
 * over a batch): no faster, or three times as slow. */
#include <string.h>

#include "plan/passes.h"

#define MOST_ROWS 8     /* that computing one value again may take */
#define MOST_COST 6     /* of them, in copies of an item: no elementary function (TRIED: tanh again costs more than its store and its read) .. */
#define SPARING_COST 40 /* .. but where memory is spared */
#define MOST_READERS 3  /* units that would compute it */
#define MOST_MEMBERS 64 /* of a unit that is asked */

typedef struct guest {
    uint32_t node, next; /* in the list of its unit */
} guest;

typedef struct settling {
    const wg_plan *plan;
    plan_units *units;
    uint32_t *begin, *own;  /* [unit + 1], the nodes that stand in each unit, ascending */
    bool *needed;           /* [count] something reads it that cannot compute it */
    bool asks;              /* some value is read by programs of other units alone */
    uint32_t *reader_begin, *reader_units; /* the other units whose programs read a value, once an operand */
    guest *guests;
    uint32_t *first_guest; /* [unit] */
    uint32_t guest_count, guest_room;
} settling;

/* One value computed again in one unit. */
typedef struct again {
    uint32_t unit;
    uint32_t rows[MOST_ROWS], row_count;
    uint32_t cells[MOST_ROWS], cell_count; /* cells that must be stored then */
    uint32_t reads[PLAN_MAP_REGISTERS], read_count; /* of the unit, but for the value */
    uint32_t instructions;
    double cost;
} again;

/* A value that a stage may hand on without storing it. */
static bool in_stage(const plan_units *units, uint32_t index)
{
    return plan_in_program(units, index) || units->role[index] == PLAN_ROLE_PRODUCT || units->role[index] == PLAN_ROLE_TERM;
}

/* ---- what stands in each unit ---- */

static bool list_own(settling *s, base_arena *memory)
{
    const plan_units *units = s->units;
    s->begin = base_arena_take_zeroed(memory, ((size_t)units->unit_count + 2) * sizeof *s->begin);
    s->own = base_arena_take(memory, ((size_t)s->plan->count + 1) * sizeof *s->own);
    if (!s->begin || !s->own) return false;
    for (uint32_t i = 0; i < s->plan->count; i++)
        if (units->unit[i] != WG_NONE) s->begin[units->unit[i] + 2]++;
    for (uint32_t u = 2; u < units->unit_count + 2; u++) s->begin[u] += s->begin[u - 1];
    for (uint32_t i = 0; i < s->plan->count; i++)
        if (units->unit[i] != WG_NONE) s->own[s->begin[units->unit[i] + 1]++] = i;
    return true;
}

/* A fold alone over items side by side runs by its kernel, which computes nothing else. */
static bool is_lone_fold(const settling *s, uint32_t unit)
{
    uint32_t first = s->own[s->begin[unit]];
    return s->begin[unit + 1] - s->begin[unit] == 1 && s->units->role[first] == PLAN_ROLE_FOLD;
}

/* ---- who reads a value from another unit ---- */

/* Calls for each operand whose value another unit hands on: a program's reader at `reader_begin` (counted, or listed when `lists`), what is
 * read otherwise is needed. */
static void look_at_operands(settling *s, bool lists)
{
    const plan_units *units = s->units;
    for (uint32_t i = 0; i < s->plan->count; i++) {
        if (units->role[i] == PLAN_ROLE_VIRTUAL) continue; /* its readers decide */
        const wg_node *node = plan_node(s->plan, i);
        const uint32_t *operands = graph_operands(s->plan->graph, node);
        uint32_t unit = units->unit[i];
        for (uint32_t k = 0; k < node->operand_count; k++) {
            uint32_t below = s->plan->index[operands[k]];
            if (in_stage(units, below) && units->unit[below] == unit) continue; /* most are */
            uint32_t value = plan_unit_operand(s->plan, units, unit, i, k).value, source = units->source[value];
            if (in_stage(units, value) && units->unit[value] == unit) continue;
            units->stored[source] = true;
            if (units->role[value] != PLAN_ROLE_MAP || !plan_in_program(units, i) || is_lone_fold(s, unit)) s->needed[source] = true;
            else if (lists) s->reader_units[s->reader_begin[value + 1]++] = unit;
            else s->reader_begin[value + 2]++;
        }
    }
}

static bool find_readers(settling *s, base_arena *memory)
{
    size_t room = (size_t)s->plan->count + 2;
    s->needed = base_arena_take_zeroed(memory, room);
    s->reader_begin = base_arena_take_zeroed(memory, (room + 1) * sizeof *s->reader_begin);
    if (!s->needed || !s->reader_begin) return false;
    for (uint32_t i = 0; i < s->plan->count; i++) s->units->stored[i] = !in_stage(s->units, i) || s->plan->lasts[i];
    look_at_operands(s, false);
    for (uint32_t i = 0; i < s->plan->count; i++) s->asks = s->asks || (s->reader_begin[i + 2] && !s->needed[i] && !s->plan->lasts[i]);
    if (!s->asks) return true;
    for (uint32_t i = 2; i < s->plan->count + 2; i++) s->reader_begin[i] += s->reader_begin[i - 1];
    s->reader_units = base_arena_take(memory, ((size_t)s->reader_begin[s->plan->count + 1] + 1) * sizeof *s->reader_units);
    if (!s->reader_units) return false;
    look_at_operands(s, true);
    return true;
}

/* ---- one value in one unit ---- */

static bool holds(const settling *s, const again *a, uint32_t index)
{
    if (s->units->unit[index] == a->unit) return true;
    for (uint32_t r = 0; r < a->row_count; r++)
        if (a->rows[r] == index) return true;
    for (uint32_t g = s->first_guest[a->unit]; g != WG_NONE; g = s->guests[g].next)
        if (s->guests[g].node == index) return true;
    return false;
}

static bool reads(const again *a, uint32_t index)
{
    for (uint32_t r = 0; r < a->read_count; r++)
        if (a->reads[r] == index) return true;
    return false;
}

static bool add_read(again *a, uint32_t index)
{
    if (reads(a, index)) return true;
    if (a->read_count == PLAN_MAP_REGISTERS) return false;
    a->reads[a->read_count++] = index;
    return true;
}

/* What a member reads from outside, but for `value`. */
static bool add_reads_of(const settling *s, again *a, uint32_t member, uint32_t value)
{
    const wg_node *node = plan_node(s->plan, member);
    const uint32_t *operands = graph_operands(s->plan->graph, node);
    a->instructions += plan_instruction_count(s->plan, member);
    for (uint32_t k = 0; plan_in_program(s->units, member) && k < node->operand_count; k++) {
        if (s->units->unit[s->plan->index[operands[k]]] == a->unit) continue;
        uint32_t read = plan_unit_operand(s->plan, s->units, a->unit, member, k).value;
        if (read != value && !holds(s, a, read) && !add_read(a, read)) return false;
    }
    return true;
}

static bool look_at_unit(const settling *s, again *a, uint32_t value)
{
    uint32_t first = s->begin[a->unit], end = s->begin[a->unit + 1];
    if (end - first > MOST_MEMBERS) return false;
    for (uint32_t m = first; m < end; m++)
        if (!add_reads_of(s, a, s->own[m], value)) return false;
    for (uint32_t g = s->first_guest[a->unit]; g != WG_NONE; g = s->guests[g].next)
        if (!add_reads_of(s, a, s->guests[g].node, value)) return false;
    return true;
}

/* A stored value: the unit reads it already, or it has far fewer items than others. */
static bool add_stored(const settling *s, again *a, plan_operand operand)
{
    const wg_node *from = plan_node(s->plan, s->units->source[operand.value]);
    bool small = operand.cell || from->rank == 0 || plan_is_fill(s->plan->graph, from);
    return small ? add_read(a, operand.value) : reads(a, operand.value);
}

static bool add_row(const settling *s, again *a, uint32_t index);

static bool add_operand(const settling *s, again *a, plan_operand operand)
{
    const plan_units *units = s->units;
    if (holds(s, a, operand.value)) return true;
    if (units->stored[units->source[operand.value]]) return add_stored(s, a, operand);
    if (units->role[operand.value] == PLAN_ROLE_VIRTUAL) return false;
    if (!operand.cell) return add_row(s, a, operand.value);
    if (!plan_in_program(units, operand.value) || a->cell_count == MOST_ROWS) return false;
    a->cells[a->cell_count++] = operand.value;
    return add_read(a, operand.value);
}

static bool add_row(const settling *s, again *a, uint32_t index)
{
    const wg_node *node = plan_node(s->plan, index);
    const plan_form *form = &s->units->forms[a->unit];
    a->cost += (double)graph_rows[node->op].cost;
    bool walked = node->shape == form->space || node->shape == s->units->reshaped[a->unit];
    bool fits = s->units->role[index] == PLAN_ROLE_MAP && walked && a->row_count < MOST_ROWS && a->cost <= (s->plan->without ? SPARING_COST : MOST_COST);
    if (!fits) return false;
    a->rows[a->row_count++] = index;
    a->instructions++;
    for (uint32_t k = 0; k < node->operand_count; k++)
        if (!add_operand(s, a, plan_unit_operand(s->plan, s->units, a->unit, index, k))) return false;
    return true;
}

static bool may_compute(const settling *s, again *a, uint32_t value)
{
    return look_at_unit(s, a, value) && add_row(s, a, value) && a->read_count + a->instructions <= PLAN_MAP_REGISTERS;
}

/* ---- all values ---- */

static void be_guests(settling *s, const again *a)
{
    for (uint32_t r = 0; r < a->row_count; r++) {
        s->guests[s->guest_count] = (guest){a->rows[r], s->first_guest[a->unit]};
        s->first_guest[a->unit] = s->guest_count++;
    }
    for (uint32_t c = 0; c < a->cell_count; c++) s->units->stored[a->cells[c]] = true;
}

/* Every unit that reads the value computes it, or none does. */
static void settle_value(settling *s, uint32_t value)
{
    again those[MOST_READERS];
    uint32_t count = 0, rows = 0;
    for (uint32_t r = s->reader_begin[value]; r < s->reader_begin[value + 1]; r++) {
        bool known = false;
        for (uint32_t i = 0; i < count; i++) known = known || those[i].unit == s->reader_units[r];
        if (known) continue;
        if (count == MOST_READERS) return;
        those[count] = (again){.unit = s->reader_units[r]};
        if (!may_compute(s, &those[count], value)) return;
        rows += those[count++].row_count;
    }
    if (rows > s->guest_room - s->guest_count) return;
    for (uint32_t i = 0; i < count; i++) be_guests(s, &those[i]);
    s->units->stored[value] = false;
}

static bool settle_values(settling *s, base_arena *memory)
{
    const plan_units *units = s->units;
    if (!s->asks) return true;
    s->guest_room = s->plan->count;
    s->guests = base_arena_take(memory, ((size_t)s->guest_room + 1) * sizeof *s->guests);
    s->first_guest = base_arena_take(memory, ((size_t)units->unit_count + 1) * sizeof *s->first_guest);
    if (!s->guests || !s->first_guest) return false;
    memset(s->first_guest, 0xff, units->unit_count * sizeof *s->first_guest);
    for (uint32_t i = 0; i < s->plan->count; i++) {
        bool free = units->stored[i] && units->role[i] == PLAN_ROLE_MAP && !s->needed[i] && !s->plan->lasts[i];
        if (free && s->reader_begin[i] < s->reader_begin[i + 1]) settle_value(s, i);
    }
    return true;
}

static void sort(uint32_t *nodes, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint32_t node = nodes[i], at = i;
        for (; at && nodes[at - 1] > node; at--) nodes[at] = nodes[at - 1];
        nodes[at] = node;
    }
}

/* What each unit computes, guests too. */
static bool list_members(settling *s, base_arena *memory)
{
    plan_units *units = s->units;
    uint32_t count = 0;
    units->begin = s->begin;
    units->members = s->own;
    if (!s->guest_count) return true;
    units->begin = base_arena_take(memory, ((size_t)units->unit_count + 1) * sizeof *units->begin);
    units->members = base_arena_take(memory, ((size_t)s->plan->count + s->guest_count + 1) * sizeof *units->members);
    if (!units->begin || !units->members) return false;
    for (uint32_t u = 0; u < units->unit_count; u++) {
        units->begin[u] = count;
        for (uint32_t m = s->begin[u]; m < s->begin[u + 1]; m++) units->members[count++] = s->own[m];
        for (uint32_t g = s->first_guest[u]; g != WG_NONE; g = s->guests[g].next) units->members[count++] = s->guests[g].node;
        if (s->first_guest[u] != WG_NONE) sort(units->members + units->begin[u], count - units->begin[u]);
    }
    units->begin[units->unit_count] = count;
    return true;
}

bool plan_members_settle(const wg_plan *plan, plan_work *work, plan_units *units)
{
    settling s = {.plan = plan, .units = units};
    base_arena *memory = &work->memory;
    units->stored = base_arena_take(memory, (size_t)plan->count + 1);
    return units->stored && list_own(&s, memory) && find_readers(&s, memory) && settle_values(&s, memory) && list_members(&s, memory);
}
