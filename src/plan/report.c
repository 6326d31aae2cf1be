/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What a plan says of itself: the dump of its licence, its figures, its patterns, and the report of elections, stages and layout. */
#include <string.h>

#include "plan/passes.h"

/* ---- the dump ---- */

char *wg_plan_describe(const wg_plan *plan)
{
    if (!plan) return NULL;
    base_string text = base_string_new(plan->allocator);
    const plan_licence *licence = &plan->licence;
    bool retain = plan->entry.posture == WG_POSTURE_RETAIN;
    for (uint32_t i = 0; i < plan->count; i++) {
        graph_describe_line(plan->graph, plan->closure[i], plan->layout.shapes[i], plan->layout.attributes[i], licence->words[i], &text);
        base_string_puts(&text, "\n");
    }
    base_string_printf(&text, "plan: %s; %u of %u node%s evaluated, %u readable\n", retain ? "retain" : "forward", plan->count,
                       plan->prefix, plan->prefix == 1 ? "" : "s", plan->entry.keep_count);
    if (licence->groups) base_string_printf(&text, "fused %u groups, %u nodes replaced\n", licence->groups, licence->replaced);
    if (retain)
        base_string_printf(&text, "live volume: retain-all %lld, release floor %lld at node %u\n", (long long)licence->retain_all,
                           (long long)licence->peak, licence->peak_node);
    else
        base_string_printf(&text, "live volume: peak %lld elements at node %u, retain-all %lld\n", (long long)licence->peak,
                           licence->peak_node, (long long)licence->retain_all);
    return base_text_take(&text);
}

/* ---- figures ---- */

const int64_t *wg_plan_live_series(const wg_plan *plan, uint32_t *count)
{
    if (count) *count = plan ? plan->licence.step_count : 0;
    return plan ? plan->licence.series : NULL;
}

static uint32_t host_nodes(const wg_plan *plan)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->count; i++) count += graph_row_is_host((wg_op)plan_node(plan, i)->op);
    return count;
}

/* Stages that run again. */
static uint32_t recomputed(const wg_plan *plan)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < plan->stage_count; s++) count += plan->stages[s].again;
    return count;
}

void wg_plan_figures_of(const wg_plan *plan, wg_plan_figures *figures)
{
    if (figures) *figures = (wg_plan_figures){0};
    if (!figures || !plan) return;
    *figures = (wg_plan_figures){.evaluated = plan->count,
                                 .total = plan->prefix,
                                 .readable = plan->entry.keep_count,
                                 .steps = plan->licence.step_count,
                                 .stages = plan->stage_count,
                                 .buffers = plan->layout.buffer_count,
                                 .peak = plan->licence.peak,
                                 .retain_all = plan->licence.retain_all,
                                 .peak_node = plan->licence.peak_node,
                                 .arena_bytes = plan->layout.arena_bytes,
                                 .largest_bytes = plan->layout.largest_bytes,
                                 .bound_bytes = plan->layout.bound_bytes,
                                 .host = host_nodes(plan),
                                 .recomputed = recomputed(plan),
                                 .recomputed_bytes = plan->without ? plan->without - plan->layout.arena_bytes : 0,
                                 .recomputed_share = plan->without_cost > 0 ? plan_cost(plan) / plan->without_cost - 1 : 0};
}

/* ---- inputs ---- */

static bool is_input(const wg_plan *plan, uint32_t index)
{
    return graph_node(plan->graph, plan->closure[index])->op == WG_OP_Input;
}

uint32_t wg_plan_input_count(const wg_plan *plan)
{
    uint32_t count = 0;
    for (uint32_t i = 0; plan && i < plan->count; i++) count += is_input(plan, i);
    return count;
}

void wg_plan_inputs(const wg_plan *plan, wg_symbol *inputs)
{
    for (uint32_t i = 0; plan && i < plan->count; i++)
        if (is_input(plan, i)) *inputs++ = (wg_symbol){plan->graph->family, plan->closure[i]};
}

wg_symbol wg_plan_input(const wg_plan *plan, uint32_t index)
{
    for (uint32_t i = 0; plan && i < plan->count; i++)
        if (is_input(plan, i) && index-- == 0) return (wg_symbol){plan->graph->family, plan->closure[i]};
    return (wg_symbol){0, WG_NONE};
}

/* ---- patterns ---- */

uint32_t wg_plan_pattern_count(const wg_plan *plan)
{
    return plan ? plan->match_count : 0;
}

/* An elected match whose interior is covered has a stage of its own; the rows of another run as they were recorded. */
static const char *formula_of(const wg_plan *plan, const plan_match *match)
{
    if (!match->elected) return NULL;
    return plan->storage[plan->index[match->nodes[0]]] == PLAN_COVERED ? plan_pattern_formula(match->pattern) : "rows";
}

bool wg_plan_pattern(const wg_plan *plan, uint32_t index, wg_pattern *pattern)
{
    if (!plan || !pattern || index >= plan->match_count) return false;
    const plan_match *match = &plan->matches[index];
    *pattern = (wg_pattern){.kind = plan_pattern_name(match->pattern),
                            .root = match->root,
                            .nodes = match->nodes,
                            .node_count = match->node_count,
                            .elected = match->elected,
                            .formula = formula_of(plan, match),
                            .foreign = plan_pattern_foreign(match->pattern),
                            .reason = match->reason};
    return true;
}

/* ---- the report ---- */

static void put_elections(const wg_plan *plan, base_string *text)
{
    for (uint32_t m = 0; m < plan->match_count; m++) {
        const plan_match *match = &plan->matches[m];
        base_string_printf(text, "  %s rooted at node %u covering %u nodes (", plan_pattern_name(match->pattern), match->root,
                           match->node_count);
        for (uint32_t i = 0; i < match->node_count; i++) base_string_printf(text, i ? " %u" : "%u", match->nodes[i]);
        if (match->elected) base_string_printf(text, "): elected, served as %s\n", formula_of(plan, match));
        else base_string_printf(text, "): not elected: %s\n", match->reason);
    }
}

static const plan_buffer *buffer_of(const wg_plan *plan, uint32_t node)
{
    return &plan->layout.buffers[plan->layout.buffer_of[plan->index[node]]];
}

static void put_value(const wg_plan *plan, uint32_t node, base_string *text)
{
    uint32_t index = plan->index[node];
    const wg_node *facts = plan_node(plan, index);
    base_string_printf(text, "%u %s %s", node, base_kinds[facts->kind].name, BASE_SHAPE_TEXT(facts->rank, plan->layout.shapes[index]));
}

static void put_reads(const wg_plan *plan, const plan_stage *stage, base_string *text)
{
    static const char *const places[] = {
        [PLAN_PLACE_ARENA] = "arena", [PLAN_PLACE_LEAF] = "constant", [PLAN_PLACE_PARAMETER] = "parameter", [PLAN_PLACE_INPUT] = "input",
        [PLAN_PLACE_CARRIED] = "carried"};
    for (uint32_t r = 0; r < stage->read_count; r++) {
        const plan_buffer *buffer = buffer_of(plan, stage->reads[r].source);
        base_string_puts(text, "      reads ");
        put_value(plan, stage->reads[r].node, text);
        if (stage->reads[r].node != stage->reads[r].source) base_string_printf(text, " through node %u", stage->reads[r].source);
        base_string_printf(text, ", %s", places[buffer->place]);
        if (buffer->place == PLAN_PLACE_ARENA) base_string_printf(text, " %lld", (long long)buffer->offset);
        base_string_printf(text, ", %lld bytes\n", (long long)buffer->bytes);
    }
}

static void put_alias(const wg_plan *plan, const plan_buffer *buffer, base_string *text)
{
    if (buffer->alias == WG_NONE) return;
    if (buffer->place != PLAN_PLACE_CARRIED) {
        base_string_printf(text, ", in place of node %u", plan->layout.buffers[buffer->alias].node);
        return;
    }
    for (uint32_t d = 0; d < plan->layout.donation_count; d++) {
        const plan_donation *donation = &plan->layout.donations[d];
        if (donation->node != buffer->node) continue;
        const char *name = graph_node_name(plan->graph, graph_node(plan->graph, donation->input));
        base_string_printf(text, ", in place of carried %u%s%s; %lld bytes saved", donation->input, name ? " " : "", name ? name : "",
                           (long long)plan->layout.buffers[donation->saved].bytes);
    }
}

static void put_writes(const wg_plan *plan, const plan_stage *stage, base_string *text)
{
    for (uint32_t w = 0; w < stage->write_count; w++) {
        const plan_buffer *buffer = buffer_of(plan, stage->writes[w].node);
        base_string_puts(text, "      writes ");
        put_value(plan, stage->writes[w].node, text);
        if (buffer->place == PLAN_PLACE_ARENA) base_string_printf(text, ", arena %lld", (long long)buffer->offset);
        base_string_printf(text, ", %lld bytes", (long long)buffer->bytes);
        put_alias(plan, buffer, text);
        base_string_puts(text, "\n");
    }
}

static const char *stage_kind(const wg_plan *plan, const plan_stage *stage)
{
    switch (stage->kind) {
    case PLAN_STAGE_PATTERN: return plan_pattern_formula(plan->matches[stage->match].pattern);
    case PLAN_STAGE_CALL: return graph_rows[graph_node(plan->graph, stage->nodes[0])->op].text;
    case PLAN_STAGE_FOLD: return "map with folds";
    case PLAN_STAGE_PRODUCT: return stage->factor_count > 2 ? "sum of matmuls" : "matmul with map";
    case PLAN_STAGE_PIECES: return "sum of pads";
    case PLAN_STAGE_MAP: break;
    }
    return stage->instruction_count ? "map" : "copy";
}

wg_stage plan_stage_facts(const wg_plan *plan, const plan_layout *layout, uint32_t index)
{
    const plan_stage *stage = &plan->stages[index];
    wg_stage facts = {.kind = stage_kind(plan, stage),
                      .nodes = stage->nodes,
                      .node_count = stage->node_count,
                      .scratch_bytes = layout->scratch[index],
                      .operations = plan_stage_operations(plan, layout, stage),
                      .cost = plan_stage_cost(plan, layout, stage),
                      .again = stage->again};
    for (uint32_t r = 0; r < stage->read_count; r++)
        facts.read_bytes += layout->buffers[layout->buffer_of[plan->index[stage->reads[r].source]]].bytes;
    for (uint32_t w = 0; w < stage->write_count; w++)
        facts.written_bytes += layout->buffers[layout->buffer_of[plan->index[stage->writes[w].node]]].bytes;
    return facts;
}

bool wg_plan_stage(const wg_plan *plan, uint32_t index, wg_stage *facts)
{
    if (!plan || !facts || index >= plan->stage_count) return false;
    *facts = plan_stage_facts(plan, &plan->layout, index);
    return true;
}

/* ---- why ---- */

typedef struct readers {
    uint32_t count, kernels, first;
    bool moved; /* some stage reads it through a map that is not its own order */
} readers;

static readers readers_of(const wg_plan *plan, const plan_layout *layout, uint32_t node)
{
    readers found = {.first = WG_NONE};
    for (uint32_t s = 0; s < plan->stage_count; s++) {
        const plan_stage *stage = &plan->stages[s];
        bool reads = false;
        for (uint32_t r = 0; r < stage->read_count; r++) {
            if (stage->reads[r].source != node) continue;
            uint32_t index = plan->index[stage->reads[r].node];
            reads = true;
            found.moved = found.moved || !plan_view_is_contiguous(plan_node(plan, index)->rank, layout->shapes[index], &layout->maps[s][r]);
        }
        if (!reads) continue;
        if (found.count++ == 0) found.first = s;
        found.kernels += stage->kind >= PLAN_STAGE_CALL;
    }
    return found;
}

static void put_why_stored(const wg_plan *plan, const plan_layout *layout, uint32_t node, base_string *text)
{
    const plan_buffer *buffer = &layout->buffers[layout->buffer_of[plan->index[node]]];
    readers found = readers_of(plan, layout, node);
    base_string_printf(text, "stores %u, %lld bytes: ", node, (long long)buffer->bytes);
    if (plan->lasts[plan->index[node]]) base_string_puts(text, "it may be read after the run");
    else if (found.count > 1) base_string_printf(text, "%u stages read it, stage %u first", found.count, found.first);
    else if (found.kernels) base_string_printf(text, "stage %u is a kernel of its own", found.first);
    else if (found.moved) base_string_printf(text, "stage %u reads it in another order", found.first);
    else base_string_printf(text, "stage %u reads it in a pass of its own", found.first);
    put_alias(plan, buffer, text);
    base_string_puts(text, "\n");
}

/* The first other stage whose program computes a node too; WG_NONE: none. */
static uint32_t computed_elsewhere(const wg_plan *plan, uint32_t own, uint32_t node)
{
    for (uint32_t s = 0; s < plan->stage_count; s++) {
        const plan_stage *stage = &plan->stages[s];
        if (s == own || stage->again) continue;
        for (uint32_t i = 0; i < stage->instruction_count; i++)
            if (stage->instructions[i].node == node) return s;
    }
    return WG_NONE;
}

static void put_why_computed_again(const wg_plan *plan, uint32_t own, base_string *text)
{
    const plan_stage *stage = &plan->stages[own];
    for (uint32_t i = 0, last = WG_NONE; i < stage->instruction_count && !stage->again; i++) {
        uint32_t node = stage->instructions[i].node, other = node == last ? WG_NONE : computed_elsewhere(plan, own, node);
        last = node;
        if (other == WG_NONE) continue;
        const char *name = graph_rows[graph_node(plan->graph, node)->op].name;
        base_string_printf(text, "computes %u %s, as stage %u does: %s than storing it\n", node, name, other, plan->without ? "less memory" : "cheaper");
    }
}

void plan_stage_reasons(const wg_plan *plan, const plan_layout *layout, uint32_t index, base_string *text)
{
    const plan_stage *stage = &plan->stages[index];
    if (stage->again) base_string_puts(text, "runs again: its values were dropped to keep to the memory budget\n");
    if (stage->kind == PLAN_STAGE_PATTERN) base_string_printf(text, "a match of %s over %u nodes\n", plan_pattern_name(plan->matches[stage->match].pattern), stage->node_count);
    else if (stage->node_count > 1) base_string_printf(text, "fuses %u nodes: one pass over the items of %u\n", stage->node_count, stage->nodes[stage->node_count - 1]);
    put_why_computed_again(plan, index, text);
    for (uint32_t w = 0; w < stage->write_count; w++) put_why_stored(plan, layout, stage->writes[w].node, text);
}

static void put_stage(const wg_plan *plan, uint32_t s, base_string *text)
{
    const plan_stage *stage = &plan->stages[s];
    base_string_printf(text, "  %4u %s of", s, stage_kind(plan, stage));
    for (uint32_t i = 0; i < stage->node_count; i++)
        base_string_printf(text, "%s %u %s", i ? "," : "", stage->nodes[i], graph_rows[graph_node(plan->graph, stage->nodes[i])->op].name);
    if (stage->again) base_string_puts(text, "; again");
    if (plan->layout.scratch[s]) base_string_printf(text, "; scratch %lld bytes", (long long)plan->layout.scratch[s]);
    if (plan->layout.joined[s]) base_string_printf(text, "; image by image with stage %u", s - 1);
    base_string_puts(text, "\n");
    put_reads(plan, stage, text);
    put_writes(plan, stage, text);
}

/* Exact holds on one machine where a library of the system computes a row. */
static void put_host(const wg_plan *plan, base_string *text)
{
    uint32_t put = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        wg_op op = (wg_op)plan_node(plan, i)->op;
        if (graph_row_is_host(op)) base_string_printf(text, "%s%u %s", put++ ? ", " : "host rows: ", plan->closure[i], graph_rows[op].name);
    }
    if (put) base_string_puts(text, "; their bits hold within this build and on this machine\n");
}

static void put_layout(const wg_plan *plan, base_string *text)
{
    wg_plan_figures figures;
    wg_plan_figures_of(plan, &figures);
    if (plan->without)
        base_string_printf(text, "recomputed: %u stages run again, %lld bytes of the arena saved, %.1f%% cost added\n", figures.recomputed,
                           (long long)figures.recomputed_bytes, 100 * figures.recomputed_share);
    const plan_layout *layout = &plan->layout;
    base_string_printf(text, "layout: arena %lld bytes, largest set %lld, bound %lld, %u buffers\n", (long long)layout->arena_bytes,
                       (long long)layout->largest_bytes, (long long)layout->bound_bytes, layout->buffer_count);
    base_string_printf(text, "live volume: %s %lld elements at node %u, retain-all %lld\n",
                       plan->entry.posture == WG_POSTURE_RETAIN ? "release floor" : "peak", (long long)plan->licence.peak,
                       plan->licence.peak_node, (long long)plan->licence.retain_all);
}

char *wg_plan_report(const wg_plan *plan)
{
    if (!plan) return NULL;
    base_string text = base_string_new(plan->allocator);
    uint32_t elected = 0;
    for (uint32_t m = 0; m < plan->match_count; m++) elected += plan->matches[m].elected;
    base_string_printf(&text, "patterns: %u candidate%s, %u elected\n", plan->match_count, plan->match_count == 1 ? "" : "s", elected);
    put_elections(plan, &text);
    base_string_printf(&text, "stages: %u for %u nodes\n", plan->stage_count, plan->count);
    for (uint32_t s = 0; s < plan->stage_count; s++) put_stage(plan, s, &text);
    put_host(plan, &text);
    put_layout(plan, &text);
    return base_text_take(&text);
}
