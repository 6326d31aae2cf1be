/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The reverse scan: the pass records onto a tape of its own, where the values that a run kept are constants, and the oracle runs what it
 * recorded. The rows, their order and so their bits are those of the derivative recorded beside the forward graph. */
#include "base/kind.h"
#include "base/tensor.h"
#include "grad/grad.h"
#include "interp/interp.h"

typedef struct scan {
    const wg_graph *graph;
    uint32_t prefix, target, count;
    uint32_t *wrt;       /* [count] positions */
    wg_value *gradients; /* [count] on the scan's tape */
    wg_symbol *symbols;  /* [count] */
    base_arena scratch;
    wg_error *error;
} scan;

static bool check_float(const scan *s, uint32_t position, const char *what)
{
    const wg_node *node = graph_node(s->graph, position);
    wg_kind kind = (wg_kind)node->kind;
    if (base_kind_is_float(kind)) return true;
    return base_fail(s->error, grad_still_code(kind), GRAD_STILL, what, position, graph_rows[node->op].name, base_kinds[kind].name,
                     grad_still_reason(kind));
}

static bool check(scan *s, const wg_symbol *wrt)
{
    const wg_node *node = graph_node(s->graph, s->target);
    if (!check_float(s, s->target, "the target")) return false;
    if (node->rank)
        return base_fail(s->error, WG_SHAPE, "the reverse scan needs a target without axes, not %s: sum it",
                         BASE_SHAPE_TEXT(node->rank, graph_shape(s->graph, node)));
    s->wrt = base_arena_take(&s->scratch, (s->count + 1) * sizeof *s->wrt);
    s->gradients = base_arena_take(&s->scratch, (s->count + 1) * sizeof *s->gradients);
    s->symbols = base_arena_take(&s->scratch, (s->count + 1) * sizeof *s->symbols);
    if (!s->wrt || !s->gradients || !s->symbols) return base_fail_memory(s->error);
    for (uint32_t i = 0; i < s->count; i++) {
        s->wrt[i] = wrt[i].position;
        if (!graph_check_symbol(s->graph, s->prefix, wrt[i], "differentiate", s->error) || !check_float(s, s->wrt[i], "a wrt"))
            return false;
    }
    return true;
}

/* Records the gradients on `tape`, and where they are. */
static bool record(scan *s, wg_tape *tape, const int64_t *extents, grad_value_function value, void *user)
{
    grad_pass pass = {.graph = s->graph, .tape = tape, .prefix = s->target + 1, .extents = extents, .value = value, .user = user};
    grad_mark mark = grad_mark_of(tape);
    /* A wrt behind the target is not looked at by the walk, but has zeros. */
    for (uint32_t i = 0; i < s->count; i++)
        if (s->wrt[i] >= pass.prefix) pass.prefix = s->wrt[i] + 1;
    wg_value seed = wg_leaf_fill(tape, (wg_kind)graph_node(s->graph, s->target)->kind, 0, NULL, 1);
    bool good = !wg_is_poison(seed) && grad_pass_begin(&pass, s->wrt, s->count) &&
                grad_pass_reverse(&pass, s->target, seed, s->wrt, s->count, s->gradients);
    if (pass.scratch.allocator) grad_pass_end(&pass);
    good = good && grad_share(tape, mark, NULL, 0, s->gradients, s->count);
    for (uint32_t i = 0; good && i < s->count; i++) s->symbols[i] = wg_symbol_of(s->gradients[i]);
    const wg_error *error = wg_tape_error(tape);
    return good || base_fail(s->error, error->code, "%s", error->message);
}

static bool run(scan *s, wg_tape **tape, wg_tensor **gradients)
{
    wg_network *network = wg_tape_seal(tape, s->error);
    wg_entry_options options = {.size = sizeof options, .roots = s->symbols, .root_count = s->count};
    wg_entry *entry = network ? wg_entry_new(network, &options, s->error) : NULL;
    wg_run *result = entry ? wg_interpret(entry, NULL, s->error) : NULL;
    for (uint32_t i = 0; result && i < s->count; i++) gradients[i] = wg_tensor_retain((wg_tensor *)wg_run_of(result, s->symbols[i], NULL));
    bool good = result != NULL;
    wg_run_free(&result);
    wg_entry_free(&entry);
    wg_network_release(&network);
    return good;
}

bool grad_backward(const wg_graph *graph, uint32_t prefix, const int64_t *extents, grad_value_function value, void *user, uint32_t target,
                   const wg_symbol *wrt, uint32_t count, wg_tensor **gradients, wg_error *error)
{
    scan s = {
        .graph = graph, .prefix = prefix, .target = target, .count = count, .scratch = base_arena_new(graph->allocator), .error = error};
    wg_tape *tape = check(&s, wrt) ? wg_tape_new_kind((wg_context *)graph->context, graph->kind) : NULL;
    bool good = tape && (!count || (record(&s, tape, extents, value, user) && run(&s, &tape, gradients)));
    if (!tape && !good) base_fail_memory(error); /* kept only where no check has failed */
    wg_tape_free(&tape);
    base_arena_free(&s.scratch);
    return good;
}

static const wg_tensor *run_value(void *user, uint32_t position)
{
    return interp_run_tensor(user, position);
}

bool wg_run_backward(const wg_run *run, wg_symbol target, const wg_symbol *wrt, uint32_t count, wg_tensor **gradients, wg_error *error)
{
    if (!run || (count && (!wrt || !gradients)))
        return base_fail(error, WG_ARGUMENT, "the reverse scan needs a run, what to differentiate by, and room for the gradients");
    if (!wg_run_of(run, target, error)) return false;
    if (!interp_run_retains(run))
        return base_fail(error, WG_UNDECLARED,
                         "the run did not keep its values: give its entry the retain posture, or run the whole network");
    uint32_t prefix;
    const wg_graph *graph = interp_run_graph(run, &prefix);
    return grad_backward(graph, prefix, interp_run_extents(run), run_value, (void *)run, target.position, wrt, count, gradients, error);
}
