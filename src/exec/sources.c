/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Where the items of inputs, parameters and constants are. What can be read in place is: feeds that are dense and aligned, the caller's
 * parameters, the graph's constants. Memory for anything else is taken when it is first needed and kept. */
#include "exec/session.h"

#include <string.h>

#include "base/tensor.h"
#include "graph/binding.h"
#include "graph/parameters.h"

/* Something to point at where there are no items. */
static uint64_t nothing[2];

static const wg_graph *graph_of(const wg_session *session) { return session->plan->graph; }

/* ---- recorded items ---- */

static bool size_item(const wg_session *session, const exec_laid *laid, uint32_t position, void *item, wg_error *error)
{
    const wg_graph *graph = graph_of(session);
    const wg_node *node = graph_node(graph, position);
    int64_t number;
    wg_error inner = {.code = WG_OK};
    if (!graph_size_evaluate(graph, graph_payload_of(graph, node)->size, laid->layout->extents, &number)) {
        base_fail(&inner, WG_SIZE, "its size does not fit in 64 bits under these extents");
        return graph_error_at(graph, position, &inner, error);
    }
    base_number_store((wg_kind)node->kind, item, 0,
                      base_number_convert((base_number){.i = number}, WG_KIND_I64, (wg_kind)node->kind, false));
    return true;
}

static bool has_other_nan(wg_kind kind, bool watched, const void *items, int64_t volume)
{
    return watched && base_canonical_nan(kind, (void *)items, volume, false);
}

/* The tensor, or a copy of it whose NaNs are the one NaN. Takes the tensor. */
static wg_tensor *canonical(const wg_session *session, wg_tensor *tensor, bool watched, wg_error *error)
{
    if (!tensor || !has_other_nan(tensor->kind, watched, tensor->data, tensor->volume)) return tensor;
    wg_tensor *copy = base_tensor_new(session->allocator, tensor->kind, tensor->rank, tensor->shape, error);
    if (copy) {
        memcpy(copy->data, tensor->data, tensor->bytes);
        base_canonical_nan(copy->kind, copy->data, copy->volume, true);
    }
    wg_tensor_release(tensor);
    return copy;
}

/* The recorded items of an input or parameter under the layout, owned. */
static wg_tensor *recorded(const wg_session *session, uint32_t position, const int64_t *shape, bool watched, wg_error *error)
{
    const wg_graph *graph = graph_of(session);
    const wg_node *node = graph_node(graph, position);
    if (graph_payload_of(graph, node)->form != GRAPH_PAYLOAD_SIZE)
        return canonical(session, graph_payload_tensor(graph, position, shape, error), watched, error);
    unsigned char item[16];
    if (!size_item(session, &session->laid, position, item, error)) return NULL;
    wg_tensor *tensor = base_tensor_new(session->allocator, (wg_kind)node->kind, node->rank, shape, error);
    if (!tensor) return NULL;
    exec_fill(tensor->data, item, base_kinds[node->kind].bytes, tensor->volume);
    return tensor;
}

wg_tensor *exec_input_recorded(wg_session *session, exec_input *input, wg_error *error)
{
    if (!input->recorded) input->recorded = recorded(session, input->node, input->shape, input->watched, error);
    return input->recorded;
}

/* ---- the list ---- */

static uint32_t find_input(const wg_session *session, uint32_t node)
{
    for (uint32_t i = 0; i < session->input_count; i++)
        if (session->inputs[i].node == node) return i;
    return WG_NONE;
}

bool exec_sources_list(wg_session *session, wg_error *error)
{
    const wg_plan *plan = session->plan;
    const graph_entry *entry = &plan->entry;
    uint32_t inputs = 0, parameters = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        uint16_t op = graph_node(plan->graph, plan->closure[i])->op;
        inputs += op == WG_OP_Input;
        parameters += op == WG_OP_Parameter;
    }
    session->inputs = base_arena_take_zeroed(&session->memory, (inputs + entry->carry_count + 1) * sizeof *session->inputs);
    session->parameters = base_arena_take_zeroed(&session->memory, (parameters + 1) * sizeof *session->parameters);
    if (!session->inputs || !session->parameters) return base_fail_memory(error);
    for (uint32_t i = 0; i < plan->count; i++) {
        uint32_t node = plan->closure[i];
        uint16_t op = graph_node(plan->graph, node)->op;
        if (op == WG_OP_Input) session->inputs[session->input_count++] = (exec_input){.node = node, .watched = session->kept[i]};
        if (op == WG_OP_Parameter)
            session->parameters[session->parameter_count++] = (exec_parameter){.node = node, .watched = session->kept[i]};
    }
    for (uint32_t c = 0; c < entry->carry_count; c++) {
        uint32_t node = entry->carries[2 * c + 1], at = find_input(session, node);
        if (at == WG_NONE) session->inputs[at = session->input_count++] = (exec_input){.node = node};
        session->inputs[at].carries = true;
    }
    return true;
}

/* ---- layouts ---- */

/* A constant: the graph's items, one of them where all are equal. */
static bool lay_leaf(wg_session *session, exec_laid *laid, uint32_t index, char **base, wg_error *error)
{
    const wg_graph *graph = graph_of(session);
    uint32_t position = session->plan->closure[index];
    const wg_node *node = graph_node(graph, position);
    const graph_payload *payload = graph_payload_of(graph, node);
    if (payload->form == GRAPH_PAYLOAD_SIZE) {
        *base = base_arena_take(&laid->memory, 16);
        return *base ? size_item(session, laid, position, *base, error) : base_fail_memory(error);
    }
    wg_tensor *tensor = payload->form == GRAPH_PAYLOAD_FILL ? wg_tensor_retain(payload->tensor)
                                                            : graph_payload_tensor(graph, position, laid->layout->shapes[index], error);
    tensor = canonical(session, tensor, session->kept[index], error);
    if (!tensor) return false;
    laid->leaves[laid->leaf_count++] = tensor;
    *base = tensor->data ? tensor->data : (char *)nothing;
    return true;
}

static bool lay_shapes(wg_session *session, exec_laid *laid, wg_error *error)
{
    const wg_plan *plan = session->plan;
    graph_bound extents = {.graph = plan->graph, .prefix = plan->prefix, .extents = laid->layout->extents};
    laid->input_shapes = base_arena_take(&laid->memory, (session->input_count + 1) * sizeof *laid->input_shapes);
    if (!laid->input_shapes) return base_fail_memory(error);
    for (uint32_t i = 0; i < session->input_count; i++) {
        int64_t *shape = base_arena_take(&laid->memory, WG_MAX_RANK * sizeof *shape);
        if (!shape) return base_fail_memory(error);
        if (!graph_bound_source_shape(&extents, session->inputs[i].node, shape, error)) return false;
        laid->input_shapes[i] = shape;
    }
    return true;
}

bool exec_sources_lay(wg_session *session, exec_laid *laid, wg_error *error)
{
    const wg_plan *plan = session->plan;
    laid->leaves = base_arena_take(&laid->memory, (plan->count + 1) * sizeof *laid->leaves);
    if (!laid->leaves) return base_fail_memory(error);
    for (uint32_t i = 0; i < plan->count; i++) {
        uint32_t buffer = laid->layout->buffer_of[i];
        if (buffer == WG_NONE || graph_node(plan->graph, plan->closure[i])->op != WG_OP_Leaf) continue;
        if (!lay_leaf(session, laid, i, &laid->bases[buffer], error)) return false;
    }
    return lay_shapes(session, laid, error);
}

static void free_values(wg_session *session, exec_input *input)
{
    for (int i = 0; i < 2; i++) {
        base_free_aligned(session->allocator, input->values[i], input->bytes);
        input->values[i] = NULL;
    }
    base_free_aligned(session->allocator, input->room, input->bytes);
    input->room = NULL;
    wg_tensor_release(input->recorded);
    input->recorded = NULL;
    input->carried = false;
}

void exec_sources_moved(wg_session *session)
{
    const wg_plan *plan = session->plan;
    const exec_laid *laid = &session->laid;
    for (uint32_t i = 0; i < session->input_count; i++) {
        exec_input *input = &session->inputs[i];
        const wg_node *node = graph_node(plan->graph, input->node);
        const int64_t *shape = laid->input_shapes[i];
        bool same = input->shape && !memcmp(input->shape, shape, node->rank * sizeof *shape);
        if (!same) free_values(session, input);
        wg_tensor_release(input->recorded); /* its items may follow an extent though its shape does not */
        input->recorded = NULL;
        input->shape = shape;
        base_volume(node->rank, shape, &input->volume); /* checked when it was bound */
        input->bytes = (size_t)base_kind_bytes((wg_kind)node->kind, input->volume);
        input->donated = false;
        input->buffer = plan->index[input->node] == WG_NONE ? WG_NONE : laid->layout->buffer_of[plan->index[input->node]];
    }
    for (uint32_t c = 0; c < plan->entry.carry_count; c++)
        if (laid->carries[c].donated) session->inputs[laid->carries[c].input].donated = true;
    for (uint32_t i = 0; i < session->parameter_count; i++) {
        exec_parameter *parameter = &session->parameters[i];
        uint32_t index = plan->index[parameter->node];
        parameter->shape = laid->layout->shapes[index];
        parameter->buffer = laid->layout->buffer_of[index];
        wg_tensor_release(parameter->initial);
        parameter->initial = NULL;
    }
}

void exec_sources_free(wg_session *session)
{
    for (uint32_t i = 0; i < session->input_count; i++) free_values(session, &session->inputs[i]);
    for (uint32_t i = 0; i < session->parameter_count; i++) {
        wg_tensor_release(session->parameters[i].initial);
        wg_tensor_release(session->parameters[i].held);
    }
}

/* ---- a run ---- */

bool exec_input_room(wg_session *session, exec_input *input, int which, wg_error *error)
{
    char **place = &input->values[which];
    return *place || (*place = base_allocate_aligned(session->allocator, input->bytes)) || base_fail_bytes(error, "a carried value", input->bytes);
}

static bool take_feeds(wg_session *session, const wg_run_options *options, wg_error *error)
{
    const wg_plan *plan = session->plan;
    graph_bound extents = {.graph = plan->graph, .prefix = plan->prefix, .extents = session->laid.layout->extents};
    for (uint32_t i = 0; i < session->input_count; i++) session->inputs[i].feed = NULL;
    for (uint32_t f = 0; options && f < options->feed_count; f++) {
        const wg_feed *feed = &options->feeds[f];
        uint32_t at = find_input(session, feed->input.position);
        bool before = at != WG_NONE && session->inputs[at].feed;
        for (uint32_t e = 0; at == WG_NONE && e < f; e++) before = before || options->feeds[e].input.position == feed->input.position;
        if (!graph_feed_check(plan->graph, plan->prefix, feed, before, error)) return false;
        int64_t shape[WG_MAX_RANK];
        if (!graph_bound_source_shape(&extents, feed->input.position, shape, error) ||
            !graph_feed_fits(plan->graph, feed->input.position, &feed->items, shape, error))
            return false;
        if (at != WG_NONE) session->inputs[at].feed = &feed->items;
    }
    return true;
}

/* Whether kernels may read a view where it is. */
static bool in_place(const exec_input *input, const wg_view *view)
{
    uint32_t width = base_kinds[view->kind].bytes;
    int64_t stride = width;
    if (!view->data || (!base_kind_is_block(view->kind) && (uintptr_t)view->data % width)) return false; /* blocks are read unaligned */
    for (uint32_t axis = view->rank; view->strides && axis-- > 0;) {
        if (input->shape[axis] != 1 && view->strides[axis] != stride) return false;
        stride *= axis + 1 == view->rank ? base_kind_units(view->kind, input->shape[axis]) : input->shape[axis];
    }
    return !has_other_nan(view->kind, input->watched, view->data, input->volume);
}

static void copy_items(const exec_input *input, const wg_view *view, char *to)
{
    wg_view copied = *view;
    copied.shape = input->shape; /* a view of rank 0 may have none */
    base_view_gather(&copied, to);
    base_canonical_nan(view->kind, to, input->volume, true);
}

static bool copy_feed(wg_session *session, exec_input *input, const wg_view *view, wg_error *error)
{
    if (!input->room && !(input->room = base_allocate_aligned(session->allocator, input->bytes)))
        return base_fail_bytes(error, "a copy of a feed", input->bytes);
    copy_items(input, view, input->room);
    return true;
}

/* Whether what is recorded of an input is zeros: its pages are in memory once they are written to. */
static bool recorded_zeros(const wg_session *session, const exec_input *input)
{
    const graph_payload *payload = graph_payload_of(graph_of(session), graph_node(graph_of(session), input->node));
    const unsigned char *item = payload->form == GRAPH_PAYLOAD_FILL ? payload->tensor->data : NULL;
    return item && !item[0] && !memcmp(item, item + 1, payload->tensor->bytes - 1);
}

/* What a run will write into, but is not carried, goes to the place beside the carried value, which stays. */
static bool start_donated(wg_session *session, exec_input *input, char **base, wg_error *error)
{
    wg_view view;
    char **place = &input->values[input->next];
    if (input->feed) {
        view = *input->feed;
    } else {
        if (!graph_input_unfed(session->plan->graph, input->node, session->plan->entry.strict_feeds, error)) return false;
        if (!*place && !input->recorded && recorded_zeros(session, input)) {
            *place = base_allocate_aligned_zeroed(session->allocator, input->bytes);
            return (*base = *place) || base_fail_bytes(error, "a carried value", input->bytes);
        }
        wg_tensor *tensor = exec_input_recorded(session, input, error);
        if (!tensor) return false;
        view = wg_tensor_view(tensor);
    }
    if (!exec_input_room(session, input, input->next, error)) return false;
    copy_items(input, &view, *base = input->values[input->next]);
    wg_tensor_release(input->recorded); /* from here on it is carried */
    input->recorded = NULL;
    return true;
}

static bool place_input(wg_session *session, exec_input *input, wg_error *error)
{
    const graph_entry *entry = &session->plan->entry;
    char **base = &session->laid.bases[input->buffer];
    *base = (char *)nothing;
    if (input->donated && (input->feed || !input->carried)) return start_donated(session, input, base, error);
    if (input->feed) {
        if (input->volume == 0) return true;
        if (in_place(input, input->feed)) return *base = input->feed->data, true;
        if (!copy_feed(session, input, input->feed, error)) return false;
        return *base = input->room, true;
    }
    if (input->carried) return *base = input->values[input->now], true;
    if (!graph_input_unfed(session->plan->graph, input->node, entry->strict_feeds, error)) return false;
    wg_tensor *tensor = exec_input_recorded(session, input, error);
    if (tensor && tensor->data) *base = tensor->data;
    return tensor != NULL;
}

static bool place_parameter(wg_session *session, exec_parameter *parameter, const wg_parameters *table, wg_error *error)
{
    wg_tensor *payload;
    wg_tensor_release(parameter->held);
    parameter->held = NULL;
    if (table) {
        payload = graph_parameter_payload(session->plan->graph, table, parameter->node, parameter->shape, error);
        if (payload && has_other_nan(payload->kind, parameter->watched, payload->data, payload->volume))
            payload = parameter->held = canonical(session, wg_tensor_retain(payload), true, error);
        else if (payload && parameter->watched) parameter->held = wg_tensor_retain(payload);
    } else {
        if (!parameter->initial) parameter->initial = recorded(session, parameter->node, parameter->shape, parameter->watched, error);
        payload = parameter->initial;
    }
    if (!payload) return false;
    session->laid.bases[parameter->buffer] = payload->data ? payload->data : (char *)nothing;
    return true;
}

bool exec_sources_parameters(wg_session *session, const wg_parameters *table, wg_error *error)
{
    for (uint32_t p = 0; p < session->parameter_count; p++)
        if (!place_parameter(session, &session->parameters[p], table, error)) return false;
    return true;
}

static bool place_carries(wg_session *session, wg_error *error)
{
    exec_laid *laid = &session->laid;
    for (uint32_t c = 0; c < session->plan->entry.carry_count; c++) {
        exec_carry *carry = &laid->carries[c];
        exec_input *input = &session->inputs[carry->input];
        input->next = input->donated && input->carried && !input->feed ? input->now : 1 - input->now;
        for (int which = 0; which < 2 && !input->donated; which++)
            if (!exec_input_room(session, input, which, error)) return false;
        if (carry->in_place) laid->bases[carry->result.buffer] = input->values[input->next];
    }
    return true;
}

/* Results in place of carried inputs stand where those do. */
static void place_donated(wg_session *session)
{
    const plan_layout *layout = session->laid.layout;
    for (uint32_t i = 0; i < session->input_count; i++) {
        const exec_input *input = &session->inputs[i];
        if (input->donated && input->buffer != WG_NONE) session->laid.largest[input->buffer] = input->next == input->now ? input->largest : -1;
    }
    for (uint32_t d = 0; d < layout->donation_count; d++) {
        uint32_t number = layout->buffer_of[session->plan->index[layout->donations[d].node]];
        session->laid.bases[number] = session->laid.bases[layout->buffers[number].alias];
    }
}

/* Sources are placed in recorded order, so that the first of several mistakes is the one that the oracle finds. */
bool exec_sources_begin(wg_session *session, const wg_run_options *options, wg_error *error)
{
    const wg_parameters *table = options ? options->parameters : NULL;
    if (!take_feeds(session, options, error) || !place_carries(session, error)) return false;
    uint32_t i = 0, p = 0;
    for (;;) {
        while (i < session->input_count && session->inputs[i].buffer == WG_NONE) i++;
        bool input_left = i < session->input_count, parameter_left = p < session->parameter_count;
        if (!input_left && !parameter_left) {
            place_donated(session);
            return true;
        }
        if (input_left && (!parameter_left || session->inputs[i].node < session->parameters[p].node)) {
            if (!place_input(session, &session->inputs[i++], error)) return false;
        } else if (!place_parameter(session, &session->parameters[p++], table, error)) {
            return false;
        }
    }
}

/* What a caller vouches for is read where it is; items whose bits a row reads must hold the one NaN, and are copied where they do not. */
bool exec_sources_begin_at(wg_session *session, void *const *inputs, wg_error *error)
{
    for (uint32_t i = 0; i < session->input_count; i++) {
        exec_input *input = &session->inputs[i];
        char **base = &session->laid.bases[input->buffer];
        wg_kind kind = (wg_kind)graph_node(session->plan->graph, input->node)->kind;
        input->feed = NULL;
        *base = input->volume ? inputs[i] : (char *)nothing;
        if (!has_other_nan(kind, input->watched, inputs[i], input->volume)) continue;
        wg_view view = {inputs[i], kind, graph_node(session->plan->graph, input->node)->rank, input->shape, NULL};
        if (!copy_feed(session, input, &view, error)) return false;
        *base = input->room;
    }
    return true;
}

/* What a caller may read of a feed after the run is the session's own copy. */
static bool keep_feed(wg_session *session, exec_input *input, wg_error *error)
{
    char **base = &session->laid.bases[input->buffer];
    if (input->volume == 0 || *base == input->room) return true;
    if (!copy_feed(session, input, input->feed, error)) return false;
    *base = input->room;
    return true;
}

bool exec_sources_end(wg_session *session, bool succeeded, bool readable, wg_error *error)
{
    exec_laid *laid = &session->laid;
    for (uint32_t i = 0; i < session->input_count; i++) {
        exec_input *input = &session->inputs[i];
        if (succeeded && readable && input->feed && input->watched && input->buffer != WG_NONE) succeeded = keep_feed(session, input, error);
        input->feed = NULL;
        if (input->donated) input->largest = succeeded && input->buffer != WG_NONE ? laid->largest[input->buffer] : -1;
    }
    if (!succeeded) return false;
    for (uint32_t c = 0; c < session->plan->entry.carry_count; c++) {
        const exec_carry *carry = &laid->carries[c];
        exec_input *input = &session->inputs[carry->input];
        const exec_value *value = &carry->result;
        if (carry->in_place || carry->donated) continue;
        exec_walk walk = exec_walk_of(value->kind, value->rank, value->shape, value->strides);
        char *from = laid->bases[value->buffer] + value->offset * walk.width;
        exec_walk_gather(session->kernels, &walk, from, 0, value->volume, input->values[input->next]);
    }
    for (uint32_t c = 0; c < session->plan->entry.carry_count; c++) {
        exec_input *input = &session->inputs[laid->carries[c].input];
        input->now = input->next;
        input->carried = true;
    }
    return true;
}
