/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Where a number that is not finite came from. The batch under way is interpreted once more with every node readable; the culprit is the
 * first node with such an item that none of its operands explains: a constant may hold an infinity on purpose (a mask), so an infinity
 * that came in is followed until it makes a NaN, or to the first node that made it. */
#include <stdlib.h>
#include <string.h>

#include "base/tensor.h"
#include "graph/graph.h"
#include "tools/training.h"

/* The first item that is a NaN or, where infinities count, not finite; -1: none. */
static int64_t first_bad(const wg_tensor *tensor, bool infinities)
{
    if (!tensor || !base_kind_is_float(tensor->kind)) return -1;
    for (int64_t i = 0; i < tensor->volume; i++) {
        double item = base_number_load(tensor->kind, tensor->data, i).d;
        if (item != item || (infinities && item - item != 0)) return i;
    }
    return -1;
}

/* An entry that keeps every node that the training entry evaluates. */
static wg_entry *whole_entry(const training *t, wg_error *error)
{
    uint32_t count = wg_network_count(t->model.network), kept = 0;
    wg_symbol *symbols = calloc(count + 1, sizeof *symbols);
    if (!symbols) return base_fail_memory(error), NULL;
    for (uint32_t i = 0; i < count; i++)
        if (t->train.reached[i]) symbols[kept++] = wg_network_symbol_at(t->model.network, i);
    wg_entry_options options = {.size = sizeof options, .name = t->settings.entry, .roots = symbols, .root_count = kept};
    wg_entry *entry = wg_entry_new(t->model.network, &options, error);
    free(symbols);
    return entry;
}

/* The feeds of the step, and what was carried into it. */
static wg_run *interpret(training *t, const wg_entry *entry, wg_error *error)
{
    const graph_entry *facts = &t->train.entry->facts;
    wg_feed feeds[BATCHES_MOST_INPUTS + 2 * RUNNER_MOST_CARRIES + 1];
    uint32_t count = t->train.feed_count;
    memcpy(feeds, t->train.feeds, count * sizeof *feeds);
    for (uint32_t i = 0; i < facts->carry_count; i++)
        if (t->carried[i])
            feeds[count++] = (wg_feed){wg_network_symbol_at(t->model.network, facts->carries[2 * i + 1]), wg_tensor_view(t->carried[i])};
    wg_run_options options = {.size = sizeof options,
                              .parameters = t->model.parameters,
                              .feeds = feeds,
                              .feed_count = count,
                              .bindings = t->data.bindings,
                              .binding_count = t->data.binding_count};
    return wg_interpret(entry, &options, error);
}

static const wg_tensor *value_of(const training *t, const wg_run *run, uint32_t position)
{
    return t->train.reached[position] ? wg_run_of(run, wg_network_symbol_at(t->model.network, position), NULL) : NULL;
}

/* Is an item of an operand already not finite? */
static bool came_in(const training *t, const wg_run *run, const wg_node_facts *facts)
{
    for (uint32_t i = 0; i < facts->operand_count; i++)
        if (first_bad(value_of(t, run, facts->operands[i]), true) >= 0) return true;
    return false;
}

/* The culprit's position and item; false where no node has one. */
static bool find_culprit(const training *t, const wg_run *run, uint32_t *position, int64_t *item)
{
    for (uint32_t i = 0; i < wg_network_count(t->model.network); i++) {
        wg_node_facts facts;
        wg_network_node(t->model.network, i, &facts);
        if (facts.op == WG_OP_Leaf || !t->train.reached[i]) continue;
        const wg_tensor *value = value_of(t, run, i);
        *item = first_bad(value, !came_in(t, run, &facts));
        *position = i;
        if (*item >= 0) return true;
    }
    return false;
}

static void name_culprit(const training *t, const wg_run *run, const char *what, uint32_t position, int64_t item, wg_error *error)
{
    wg_node_facts facts;
    char plain[16];
    wg_network_node(t->model.network, position, &facts);
    const wg_tensor *value = value_of(t, run, position);
    base_string number = base_string_new(tool_allocator());
    base_string_item(&number, value->kind, value->data, item);
    const char *name = tool_result_name(t->model.network, wg_network_symbol_at(t->model.network, position), plain);
    base_fail(error, WG_NUMERIC, "step %llu: %s is not finite; the first value that is not is item %lld (%s) of %s, node %u, a %s %s",
              (unsigned long long)t->step + 1, what, (long long)item, number.failed ? "?" : number.text, name, position,
              wg_op_name(facts.op), BASE_SHAPE_TEXT(value->rank, value->shape));
    base_string_free(&number);
    error->node = position;
    error->item = item;
    if (facts.file) base_error_place(error, facts.file, facts.line, 0);
}

bool training_fault(training *t, const char *what, wg_error *error)
{
    progress_say(&t->progress, "step %llu: %s is not finite; looking for where that begins", (unsigned long long)t->step + 1, what);
    uint32_t position;
    int64_t item;
    wg_entry *entry = whole_entry(t, error);
    wg_run *run = entry ? interpret(t, entry, error) : NULL;
    if (run && find_culprit(t, run, &position, &item)) name_culprit(t, run, what, position, item, error);
    else if (run)
        base_fail(error, WG_DIFFERS, "step %llu: %s is not finite, but the oracle finds every value finite; please report it",
                  (unsigned long long)t->step + 1, what);
    if (t->settings.out && error->code == WG_NUMERIC)
        base_error_note(error, "%s is as it was last saved; a lower --rate or --clip 1 may help", t->settings.out);
    wg_run_free(&run);
    wg_entry_free(&entry);
    return false;
}
