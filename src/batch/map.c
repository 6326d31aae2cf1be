/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * wg_vmap: the map of a function on the tape where it stands. */
#include <string.h>

#include "base/kind.h"
#include "batch/batch.h"

/* The call as it was given. */
typedef struct mapping {
    wg_tape *tape;
    const wg_value *results, *inputs, *frames;
    const uint32_t *in_axes, *out_axes;
    uint32_t result_count, count;
    wg_size frame;
} mapping;

static uint32_t axis_of(const uint32_t *axes, uint32_t index)
{
    return axes ? axes[index] : 0;
}

/* ---- checks ---- */

static bool check_kind(const mapping *m, uint32_t index)
{
    wg_kind kind = wg_value_kind(m->inputs[index]), given = wg_value_kind(m->frames[index]);
    if (kind == given) return true;
    graph_fail(m->tape, WG_KIND, "vmap: frame %u is %s and its input, node %u, is %s", index, base_kinds[given].name,
               m->inputs[index].position, base_kinds[kind].name);
    return false;
}

static bool check_cell(const mapping *m, uint32_t index)
{
    wg_value input = m->inputs[index], frame = m->frames[index];
    uint32_t axis = axis_of(m->in_axes, index), rank = wg_value_rank(input);
    const int64_t *cell = wg_value_shape(input), *whole = wg_value_shape(frame);
    bool fits = axis <= rank && wg_value_rank(frame) == rank + 1;
    for (uint32_t i = 0; fits && i < rank; i++) fits = cell[i] == whole[i < axis ? i : i + 1];
    if (fits) return true;
    graph_fail(m->tape, WG_SHAPE, "vmap: frame %u is %s where its input, node %u, is %s: it must be that with the frame put in as axis %u",
               index, BASE_SHAPE_TEXT(wg_value_rank(frame), whole), input.position, BASE_SHAPE_TEXT(rank, cell), axis);
    return false;
}

/* Frames agree in their numbers; a named extent speaks for the plain numbers beside it. */
static bool check_frame(mapping *m, uint32_t index)
{
    wg_size frame = wg_value_size(m->frames[index], axis_of(m->in_axes, index));
    if (index == 0) m->frame = frame;
    if (frame.number != m->frame.number) {
        graph_fail(m->tape, WG_SHAPE, "vmap: frame %u has %lld cells and frame 0 has %lld", index, (long long)frame.number,
                   (long long)m->frame.number);
        return false;
    }
    if (!m->frame.expression) m->frame = frame;
    return true;
}

static bool check_once(const mapping *m, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++)
        if (m->inputs[i].position == m->inputs[index].position) {
            graph_fail(m->tape, WG_ARGUMENT, "vmap: node %u is given as an input twice", m->inputs[index].position);
            return false;
        }
    return true;
}

static bool check_out_axis(const mapping *m, uint32_t index)
{
    uint32_t axis = axis_of(m->out_axes, index), rank = wg_value_rank(m->results[index]);
    if (axis <= rank && rank < WG_MAX_RANK) return true;
    graph_fail(m->tape, WG_SHAPE, "vmap: result %u, node %u, is %s: the frame cannot be its axis %u", index, m->results[index].position,
               BASE_SHAPE_TEXT(rank, wg_value_shape(m->results[index])), axis);
    return false;
}

static bool check(mapping *m)
{
    wg_tape *tape = m->tape;
    if (m->count == 0 || m->result_count == 0)
        return graph_fail(tape, WG_ARGUMENT, "vmap needs at least one input and at least one result"), false;
    if (!m->inputs || !m->frames || !m->results) return graph_fail(tape, WG_ARGUMENT, "vmap: inputs, frames or results at NULL"), false;
    if (!graph_check_values(tape, m->inputs, m->count) || !graph_check_values(tape, m->frames, m->count) ||
        !graph_check_values(tape, m->results, m->result_count))
        return false;
    for (uint32_t i = 0; i < m->count; i++)
        if (!check_kind(m, i) || !check_cell(m, i) || !check_frame(m, i) || !check_once(m, i)) return false;
    for (uint32_t i = 0; i < m->result_count; i++)
        if (!check_out_axis(m, i)) return false;
    return true;
}

/* ---- the map ---- */

static bool frame_inputs(const mapping *m, batch_pass *pass)
{
    for (uint32_t i = 0; i < m->count; i++) {
        wg_value framed = batch_move_axis(m->frames[i], axis_of(m->in_axes, i), 0);
        if (wg_is_poison(framed)) return false;
        batch_pass_frame(pass, m->inputs[i].position, framed);
    }
    return true;
}

static bool map_nodes(const mapping *m, batch_pass *pass)
{
    uint32_t *results = base_arena_take(&pass->scratch, m->result_count * sizeof *results);
    bool *framed = base_arena_take(&pass->scratch, pass->prefix + 1);
    if (!results || !framed) return graph_fail(m->tape, WG_MEMORY, "out of memory"), false;
    for (uint32_t i = 0; i < m->result_count; i++) results[i] = m->results[i].position;
    memcpy(framed, pass->moves, pass->prefix + 1);
    batch_pass_mark(pass, results, m->result_count);
    for (uint32_t position = 0; position < pass->prefix; position++)
        if (pass->needed[position] && pass->moves[position] && !framed[position] && !batch_pass_step(pass, position)) return false;
    return true;
}

static bool results_of(const mapping *m, const batch_pass *pass, wg_value *mapped)
{
    for (uint32_t i = 0; i < m->result_count; i++) {
        mapped[i] = batch_pass_result(pass, m->results[i].position, axis_of(m->out_axes, i));
        if (wg_is_poison(mapped[i])) return false;
    }
    return true;
}

bool wg_vmap(wg_tape *tape, const wg_value *results, uint32_t result_count, const wg_value *inputs, const wg_value *frames,
             const uint32_t *in_axes, uint32_t count, const uint32_t *out_axes, wg_value *mapped)
{
    mapping m = {tape, results, inputs, frames, in_axes, out_axes, result_count, count, {0, 0}};
    if (tape && !mapped) graph_fail(tape, WG_ARGUMENT, "vmap: there is no place for what it maps");
    if (!tape || !mapped || !check(&m)) return graph_poison(tape), false;
    batch_pass pass = {.graph = tape, .prefix = tape->nodes.count, .tape = tape, .frame = m.frame};
    bool good = batch_pass_begin(&pass) && frame_inputs(&m, &pass) && map_nodes(&m, &pass) && results_of(&m, &pass, mapped);
    batch_pass_end(&pass);
    if (!good) graph_poison(tape); /* tells the hook */
    return good;
}

/* ---- one call ---- */

wg_value wg_record_mapped(wg_tape *tape, wg_op op, const wg_value *operands, const bool *batched, uint32_t operand_count,
                          const wg_size *attributes, uint32_t attribute_count, wg_size frame)
{
    if (!graph_check_values(tape, operands, operand_count)) return graph_poison(tape);
    if ((operand_count && !batched) || (attribute_count && !attributes))
        return graph_fail(tape, WG_ARGUMENT, "a mapped call needs a list of which operands are batched, and its parameters");
    if ((unsigned)op >= WG_OP_COUNT || attribute_count > WG_MAX_ATTRIBUTES)
        return graph_fail(tape, WG_ARGUMENT, "no such row, or more parameters than any row has");
    bool any = false;
    for (uint32_t i = 0; i < operand_count; i++) {
        if (!batched[i]) continue;
        any = true;
        if (!wg_value_rank(operands[i]) || wg_value_shape(operands[i])[0] != frame.number)
            return graph_fail(tape, WG_SHAPE, "%s: batched operand %u of shape %s has no frame of %lld in front", graph_rows[op].text, i,
                              BASE_SHAPE_TEXT(wg_value_rank(operands[i]), wg_value_shape(operands[i])), (long long)frame.number);
    }
    if (!any) return graph_fail(tape, WG_ARGUMENT, "%s: no operand is batched", graph_rows[op].text);
    batch_call call = {tape, op, operands, batched, operand_count, attributes, attribute_count, frame};
    return batch_record(&call);
}

bool wg_op_is_mapped_by_cells(wg_op op)
{
    return (unsigned)op < WG_OP_COUNT && batch_is_cell_by_cell(op);
}
