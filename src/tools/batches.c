/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "tools/batches.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/tensor.h"
#include "graph/graph.h"

/* ---- which extents an input's axes are ---- */

/* The name of the extent that an axis is, by itself; NULL where the axis is a number or a longer expression. */
static const char *axis_extent(const wg_network *network, wg_symbol input, uint32_t axis)
{
    const wg_graph *graph = network->graph;
    graph_list shape = graph_list_at(graph, graph_node(graph, input.position)->shape);
    if (!shape.expressions || !shape.expressions[axis]) return NULL;
    base_string text = base_string_new(tool_allocator());
    graph_size_print(graph, (wg_size){shape.numbers[axis], shape.expressions[axis]}, &text);
    const char *found = NULL, *name;
    int64_t number;
    for (uint32_t i = 0; !text.failed && !found && wg_network_extent(network, i, &name, &number); i++)
        if (!strcmp(name, text.text)) found = name;
    base_string_free(&text);
    return found;
}

/* Binds an extent to what the data say; false where another input said something else. */
static bool bind(batches *b, const char *extent, int64_t number, const char *input, wg_error *error)
{
    for (uint32_t i = 0; i < b->binding_count; i++) {
        if (strcmp(b->bindings[i].extent, extent)) continue;
        if (b->bindings[i].number == number) return true;
        return base_fail(error, WG_SHAPE, "the data for %s make extent %s %lld, others make it %lld", input, extent, (long long)number,
                         (long long)b->bindings[i].number);
    }
    if (b->binding_count == BATCHES_MOST_EXTENTS)
        return base_fail(error, WG_SIZE, "more than %d extents follow the data", BATCHES_MOST_EXTENTS);
    b->bindings[b->binding_count++] = (wg_binding){extent, number};
    return true;
}

/* The batch's extent is that of the first axis that has one; its number is put first. */
static bool choose_extent(batches *b, const wg_network *network, int64_t size, wg_error *error)
{
    for (uint32_t i = 0; i < b->count && !b->extent; i++)
        if (b->inputs[i].rank) b->extent = axis_extent(network, b->inputs[i].input, 0);
    b->size = size;
    if (!b->extent) return true;
    const char *name;
    int64_t number;
    for (uint32_t i = 0; !size && wg_network_extent(network, i, &name, &number); i++)
        if (!strcmp(name, b->extent)) b->size = number;
    return bind(b, b->extent, b->size, b->inputs[0].name, error);
}

/* ---- fitting data to inputs ---- */

static bool count_rows(batches *b, batch_input *in, wg_error *error)
{
    int64_t rows = in->data.items->shape[0];
    if (!b->rows) b->rows = rows;
    if (b->rows == rows) return true;
    return base_fail(error, WG_SHAPE, "%s has %lld rows and %s has %lld; each row of one needs its row in the other", in->file,
                     (long long)rows, b->inputs[0].file, (long long)b->rows);
}

/* Equal but for axes of extent 1, or one of them flat: [28, 28] feeds [1, 28, 28] and [784]. */
static bool rows_fit(const int64_t *data, uint32_t data_rank, const int64_t *input, uint32_t input_rank)
{
    int64_t a = 1, b = 1;
    uint32_t i = 0, j = 0;
    if (!base_volume(data_rank, data, &a) || !base_volume(input_rank, input, &b) || a != b) return false;
    if (data_rank <= 1 || input_rank <= 1) return true;
    for (;;) {
        while (i < data_rank && data[i] == 1) i++;
        while (j < input_rank && input[j] == 1) j++;
        if (i == data_rank || j == input_rank) return i == data_rank && j == input_rank;
        if (data[i++] != input[j++]) return false;
    }
}

/* Binds the further extents of an input by the axes of its data. */
static bool bind_axes(batches *b, const wg_network *network, const batch_input *in, wg_error *error)
{
    const wg_tensor *items = in->data.items;
    if (items->rank != in->rank) return true;
    for (uint32_t axis = in->is_batched ? 1 : 0; axis < in->rank; axis++) {
        const char *extent = axis_extent(network, in->input, axis);
        if (extent && !bind(b, extent, items->shape[axis], in->name, error)) return false;
    }
    return true;
}

static bool fit_input(batches *b, const wg_network *network, batch_input *in, wg_error *error)
{
    wg_node_facts facts;
    wg_network_node(network, in->input.position, &facts);
    const wg_tensor *items = in->data.items;
    const char *first = facts.rank ? axis_extent(network, in->input, 0) : NULL;
    in->is_batched = b->extent ? first && !strcmp(first, b->extent) : facts.rank && facts.shape[0] == b->size;
    if (!bind_axes(b, network, in, error) || !dataset_convert(in->name, &in->data, facts.kind, error)) return false;
    items = in->data.items;
    if (!wg_network_bound_shape(network, in->input, b->bindings, b->binding_count, in->shape, error)) return false;
    uint32_t skip = in->is_batched;
    if (!rows_fit(items->shape + skip, items->rank - skip, in->shape + skip, in->rank - skip))
        return base_fail(error, WG_SHAPE, "%s is %s; rows of it do not fit input %s %s", in->file,
                         BASE_SHAPE_TEXT(items->rank, items->shape), in->name, BASE_SHAPE_TEXT(in->rank, in->shape));
    if (!in->is_batched) return true;
    if (!count_rows(b, in, error)) return false;
    in->row_bytes = items->bytes / (size_t)items->shape[0];
    return true;
}

static bool make_buffers(batches *b, wg_error *error)
{
    if (!b->rows)
        return base_fail(error, WG_SHAPE,
                         "no input that is given data has a first axis for its rows; declare one by an extent: input x [n, ...]");
    if (!b->extent && b->rows < b->size)
        return base_fail(error, WG_SHAPE, "the program takes batches of %lld and there are %lld rows; declare the batch as an extent",
                         (long long)b->size, (long long)b->rows);
    if (b->rows > INT32_MAX) return base_fail(error, WG_SIZE, "%lld rows; at most %d are trained on", (long long)b->rows, INT32_MAX);
    if (b->size > b->rows) b->size = b->rows;
    b->order = malloc((size_t)b->rows * sizeof *b->order);
    if (!b->order) return base_fail_memory(error);
    batches_arrange(b);
    for (uint32_t i = 0; i < b->count; i++) {
        batch_input *in = &b->inputs[i];
        if (!in->is_batched) continue;
        in->buffer_bytes = (size_t)b->size * in->row_bytes;
        in->buffer = base_allocate_aligned(tool_allocator(), in->buffer_bytes);
        if (!in->buffer) return base_fail_memory(error);
    }
    return true;
}

/* ---- opening ---- */

static bool read_input(batches *b, const char *option, const char *given, const wg_network *network, wg_error *error)
{
    const char *equals = strchr(given, '=');
    size_t length = equals ? (size_t)(equals - given) : 0;
    if (b->count == BATCHES_MOST_INPUTS) return base_fail(error, WG_SIZE, "--%s stands more than %d times", option, BATCHES_MOST_INPUTS);
    batch_input *in = &b->inputs[b->count];
    if (!length || length >= sizeof in->name || !equals[1])
        return base_fail(error, WG_USAGE, "--%s needs NAME=FILE, not '%s'", option, given);
    memcpy(in->name, given, length);
    in->name[length] = 0;
    if (batches_find(b, in->name)) return base_fail(error, WG_USAGE, "--%s gives %s twice", option, in->name);
    in->file = equals + 1;
    in->input = wg_network_symbol(network, in->name);
    wg_node_facts facts;
    if (in->input.position == WG_NONE || !wg_network_node(network, in->input.position, &facts) || facts.op != WG_OP_Input)
        return tool_no_input(network, option, in->name, error);
    in->rank = facts.rank;
    b->count++;
    return dataset_read(in->name, in->file, in->rank, &in->data, error);
}

bool batches_open(batches *b, const tool_call *call, const char *option, const wg_network *network, int64_t size, wg_error *error)
{
    *b = (batches){.size = size};
    const char *given;
    for (uint32_t i = 0; (given = tool_value_at(call, option, i)); i++)
        if (!read_input(b, option, given, network, error)) return false;
    if (!b->count || !choose_extent(b, network, size, error)) return !b->count;
    if (!b->extent) {
        wg_node_facts facts;
        wg_network_node(network, b->inputs[0].input.position, &facts);
        int64_t fixed = facts.rank ? facts.shape[0] : 0;
        if (size && size != fixed)
            return base_fail(error, WG_SHAPE,
                             "the program takes batches of %lld; for --batch declare them as an extent: input x [n, ...]",
                             (long long)fixed);
        b->size = fixed;
    }
    for (uint32_t i = 0; i < b->count; i++)
        if (!fit_input(b, network, &b->inputs[i], error)) return false;
    return make_buffers(b, error);
}

void batches_free(batches *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        dataset_free(&b->inputs[i].data);
        base_free_aligned(tool_allocator(), b->inputs[i].buffer, b->inputs[i].buffer_bytes);
    }
    free(b->order);
    *b = (batches){0};
}

const batch_input *batches_find(const batches *b, const char *name)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (!strcmp(b->inputs[i].name, name)) return &b->inputs[i];
    return NULL;
}

/* ---- order ---- */

void batches_arrange(batches *b)
{
    for (int64_t i = 0; i < b->rows; i++) b->order[i] = (uint32_t)i;
}

/* A number below `below` from 64 bits: the high word of the product, whose bias is under 2^-32 here. */
static uint32_t below(base_key key, uint64_t index, uint32_t below)
{
    uint64_t bits = (uint64_t)base_draw_bits(key, 2 * index) << 32 | base_draw_bits(key, 2 * index + 1);
    return (uint32_t)((unsigned __int128)bits * below >> 64);
}

/* Fisher and Yates as Durstenfeld has it (Algorithm 235, 1964). */
void batches_shuffle(batches *b, uint64_t seed, uint64_t epoch)
{
    base_key key = base_key_fold((base_key){{(uint32_t)seed, (uint32_t)(seed >> 32)}}, epoch);
    batches_arrange(b);
    for (int64_t i = b->rows - 1; i > 0; i--) {
        uint32_t j = below(key, (uint64_t)i, (uint32_t)i + 1), kept = b->order[i];
        b->order[i] = b->order[j];
        b->order[j] = kept;
    }
}

/* ---- batches ---- */

int64_t batches_count(const batches *b)
{
    return b->extent ? (b->rows + b->size - 1) / b->size : b->rows / b->size;
}

static void gather_rows(const batch_input *in, const uint32_t *order, int64_t rows)
{
    const unsigned char *items = in->data.items->data;
    for (int64_t i = 0; i < rows; i++)
        memcpy(in->buffer + (size_t)i * in->row_bytes, items + (size_t)order[i] * in->row_bytes, in->row_bytes);
}

int64_t batches_gather(batches *b, int64_t index)
{
    int64_t first = index * b->size, rows = b->rows - first < b->size ? b->rows - first : b->size;
    for (uint32_t i = 0; i < b->count; i++) {
        batch_input *in = &b->inputs[i];
        if (in->is_batched) {
            gather_rows(in, b->order + first, rows);
            in->shape[0] = rows;
        }
        void *items = in->is_batched ? in->buffer : in->data.items->data;
        b->feeds[i] = (wg_feed){in->input, {.data = items, .kind = in->data.items->kind, .rank = in->rank, .shape = in->shape}};
    }
    if (b->extent) b->bindings[0].number = rows;
    return rows;
}

uint32_t batches_feeds(const batches *b, const bool *reached, wg_feed *feeds)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < b->count; i++)
        if (reached[b->inputs[i].input.position]) feeds[count++] = b->feeds[i];
    return count;
}
