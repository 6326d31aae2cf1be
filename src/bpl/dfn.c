/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Dfns: frames, bodies with predicates and error guards, tail calls, operators of one's own.
 *
 * A dfn knows the frame it was made in (its scope), which lives on the C stack. So no value that holds a dfn made in a frame may outlive the
 * frame: results are looked through where the frame made any, and so are writes to names outside. */
#include <math.h>
#include <strings.h>
#include <string.h>

#include "bpl/cells.h"
#include "bpl/evaluate.h"

#define DEEPEST 20000u

/* ---- frames ----------------------------------------------------------------------------------------------------------------------------- */

static void frame_open(bpl_session *session, bpl_frame *frame, const bpl_call *call)
{
    const bpl_function *function = call->function;
    frame->parent = function->scope, frame->caller = session->frame;
    frame->function = function;
    frame->alpha = call->left, frame->omega = call->right;
    bool derived = function->form == BPL_DERIVED_DFN;
    frame->left_operand = derived ? function->left : NULL;
    frame->right_operand = derived ? function->right : NULL;
    frame->self = NULL;
    frame->record = frame->module = frame->closures = false;
    frame->count = 0, frame->capacity = sizeof frame->inline_slots / sizeof *frame->inline_slots, frame->slots = frame->inline_slots;
    session->frame = frame;
}

void bpl_frame_close(bpl_session *session, bpl_frame *frame)
{
    session->frame = frame->caller;
    if (!frame->count && !frame->self) return;
    for (uint32_t i = 0; i < frame->count; i++) bpl_release(frame->slots[i].value);
    if (frame->slots != frame->inline_slots) base_free(session->allocator, frame->slots, frame->capacity * sizeof *frame->slots);
    bpl_release(frame->self);
}

/* ---- dfns as values --------------------------------------------------------------------------------------------------------------------- */

bpl_value *bpl_closure(bpl_session *session, const bpl_node *node)
{
    bool operator = node->role >= BPL_ROLE_OPERATOR1;
    bpl_function *function = bpl_function_new(session, operator ? BPL_OPERATOR_DFN : BPL_DFN, 0);
    if (!function) return NULL;
    function->role = node->role;
    function->node = node, function->source = bpl_source_keep(node->source);
    function->scope = session->frame;
    if (session->frame) session->frame->closures = true;
    return operator ? bpl_of_operator(session, function) : bpl_of_function(session, function);
}

bpl_value *bpl_self(bpl_session *session)
{
    bpl_frame *frame = session->frame;
    if (frame->self) return bpl_keep(frame->self);
    bpl_value *self = bpl_of_function(session, bpl_function_keep((bpl_function *)frame->function));
    return frame->self = bpl_keep(self), self;
}

bpl_value *bpl_self_operator(bpl_session *session)
{
    const bpl_function *function = session->frame->function;
    if (function->form != BPL_DERIVED_DFN) return bpl_fail(session, BPL_VALUE, "⍢ has a value inside an operator's { } only");
    return bpl_keep(function->third);
}

bool bpl_holds_closure(const bpl_value *value, const bpl_frame *frame)
{
    if (!value) return false;
    if (bpl_stack_is_low(value->session)) return true; /* deeper than anybody means it to be */
    if (value->type == BPL_ITEMS) {
        const bpl_items *items = value->items;
        for (int64_t i = 0; i < items->volume; i++) {
            if (items->at[i]->type >= BPL_ITEMS && bpl_holds_closure(items->at[i], frame)) return true;
        }
        return false;
    }
    return (value->type == BPL_FUNCTION || value->type == BPL_OPERATOR) && bpl_function_holds_closure(value->function, frame);
}

bool bpl_function_holds_closure(const bpl_function *function, const bpl_frame *frame)
{
    if (function->scope == frame) return true;
    return bpl_holds_closure(function->left, frame) || bpl_holds_closure(function->right, frame) || bpl_holds_closure(function->third, frame) ||
           bpl_holds_closure(function->inverse, frame) || bpl_holds_closure(function->slope, frame);
}

bpl_value *bpl_derive(bpl_session *session, bpl_value *operator, bpl_value *left, bpl_value *right)
{
    if (operator->type != BPL_OPERATOR) return bpl_fail(session, BPL_SYNTAX, "this is no operator");
    const bpl_function *of = operator->function;
    if (of->form == BPL_OPERATOR_PART) return bpl_derive(session, of->left, left, of->right);
    bool dfn = of->form == BPL_OPERATOR_DFN;
    if ((of->role == BPL_ROLE_OPERATOR2) != (right != NULL)) {
        return bpl_fail(session, BPL_SYNTAX, "this operator takes %s", right ? "one operand" : "two operands");
    }
    bpl_function *function = bpl_function_new(session, dfn ? BPL_DERIVED_DFN : BPL_DERIVED, of->row);
    if (!function) return NULL;
    function->role = BPL_ROLE_FUNCTION;
    function->left = bpl_keep(left), function->right = bpl_keep(right);
    if (dfn) function->third = bpl_keep(operator), function->scope = of->scope;
    function->node = dfn ? of->node : session->at;
    function->source = function->node ? bpl_source_keep(function->node->source) : NULL;
    return bpl_of_function(session, function);
}

/* ---- error guards ------------------------------------------------------------------------------------------------------------------------ */

/* "KIND", a list of kinds, or ∞. */
static bool check_kinds(bpl_session *session, const bpl_value *kinds)
{
    double number;
    if (kinds->type == BPL_CHARACTERS && bpl_volume(kinds)) return true;
    bool good = kinds->type == BPL_ITEMS && kinds->items->volume && bpl_rank(kinds) <= 1;
    for (int64_t i = 0; good && i < kinds->items->volume; i++) good = kinds->items->at[i]->type == BPL_CHARACTERS;
    if (good) return true;
    if (kinds->type == BPL_NUMBERS && bpl_is_unit(kinds) && bpl_class_is_real(kinds->class)) {
        if (!bpl_to_double(session, kinds, "the kinds of an error guard", &number)) return false;
        if (number == (double)INFINITY) return true;
    }
    bpl_fail(session, BPL_DOMAIN, "an error guard begins with kinds of errors, \"DOMAIN\":: or \"DOMAIN\" \"RANK\"::, or with ∞::");
    return false;
}

static bool is_kind(bpl_session *session, const bpl_value *kind, const char *name)
{
    char *text;
    size_t length;
    if (!bpl_to_text(session, kind, "a kind of errors", &text, &length)) return false;
    bool same = !strcasecmp(text, name);
    base_free(session->allocator, text, length + 1);
    return same;
}

/* Does a guard with these kinds catch the error under way? */
static bool catches(bpl_session *session, const bpl_value *kinds)
{
    bpl_error *error = &session->error;
    if (kinds->type == BPL_CHARACTERS) return is_kind(session, kinds, error->kind);
    if (kinds->type == BPL_NUMBERS) return strcmp(error->kind, "INTERRUPT") && strcmp(error->kind, "TIMEOUT") && strcmp(error->kind, "UNSUPPORTED");
    for (int64_t i = 0; i < kinds->items->volume; i++) {
        if (is_kind(session, kinds->items->at[i], error->kind)) return true;
    }
    return false;
}

#define FEW_WAITING 8u
/* The arrays of a value's innermost items that wait: how many, and those that there is room for. */
typedef struct waiting {
    wg_array **arrays, *few[FEW_WAITING];
    uint32_t count, room;
    bool carried; /* one of them is what a level carries */
} waiting;

static void note_waiting(waiting *all, const bpl_value *value)
{
    for (int64_t i = 0; value->type == BPL_ITEMS && i < value->items->volume; i++) note_waiting(all, value->items->at[i]);
    if (!bpl_is_simple(value) || !wg_array_is_pending(bpl_array(value))) return;
    if (all->count < all->room) all->arrays[all->count] = bpl_array(value);
    all->carried = all->carried || wg_array_is_carried(bpl_array(value));
    all->count++;
}

static bool waiting_open(bpl_session *session, waiting *all, const bpl_value *value)
{
    *all = (waiting){.arrays = all->few, .room = FEW_WAITING};
    note_waiting(all, value);
    if (all->count <= all->room) return true;
    all->room = all->count, all->count = 0;
    if (!(all->arrays = base_allocate(session->allocator, all->room * sizeof *all->arrays))) return bpl_fail_memory(session), false;
    note_waiting(all, value);
    return true;
}

static void waiting_close(bpl_session *session, waiting *all)
{
    if (all->arrays && all->arrays != all->few) base_free(session->allocator, all->arrays, all->room * sizeof *all->arrays);
}

bool bpl_ask(bpl_session *session, const bpl_value *value)
{
    waiting all;
    bool good = waiting_open(session, &all, value);
    if (good && all.count && !all.carried) good = wg_array_run(all.arrays, all.count) || (bpl_fail_lazy(session), false);
    waiting_close(session, &all);
    return good;
}

bool bpl_force(bpl_session *session, const bpl_value *value)
{
    waiting all;
    wg_view view;
    bool good = waiting_open(session, &all, value);
    if (good && all.count > 1 && !wg_array_run(all.arrays, all.count)) wg_lazy_error_clear(session->lazy); /* a read tells what failed */
    for (uint32_t i = 0; i < all.count && good; i++) good = wg_array_read_stored(all.arrays[i], &view) || (bpl_fail_lazy(session), false);
    waiting_close(session, &all);
    return good;
}

static bool body_run(bpl_session *session, const bpl_node *node, uint32_t body, uint32_t first, bpl_tail *tail, bpl_value **value);

/* The rest of a body under a guard. */
static __attribute__((noinline)) bool body_guarded(bpl_session *session, const bpl_node *node, uint32_t body, uint32_t next, const bpl_node *guard, bpl_value **value)
{
    bpl_value *kinds = bpl_act(session, "an error guard") ? bpl_evaluate_value(session, guard->children[0]) : NULL;
    if (!kinds) return true;
    session->at = guard;
    if (!check_kinds(session, kinds)) {
        bpl_release(kinds);
        return true;
    }
    bool done = body_run(session, node, body, next, NULL, value);
    if (*value && !bpl_force(session, *value)) bpl_release(*value), *value = NULL;
    if (!*value && bpl_failed(session) && catches(session, kinds)) {
        bpl_value *caught = bpl_error_record(session), *around = session->caught;
        bpl_error_clear(session);
        session->caught = caught;
        if (caught) *value = bpl_evaluate(session, guard->children[1]);
        session->caught = around;
        bpl_release(caught);
        done = true;
    }
    bpl_release(kinds);
    return done;
}

/* ---- bodies ----------------------------------------------------------------------------------------------------------------------------- */

/* *mask (owned): a truth for each cell of a map that is tried, by which its results are to be chosen; else *truth. */
static __attribute__((noinline)) bool predicate(bpl_session *session, const bpl_node *tree, bool *truth, bpl_value **mask)
{
    bpl_value *value = bpl_evaluate_value(session, tree->children[0]);
    session->at = tree->children[0];
    bool cells = value && session->trials && bpl_is_of_cells(value);
    bool good = cells ? bpl_choose(session, value, truth, mask) : value && bpl_to_truth(session, value, "a predicate", truth);
    bpl_release(value);
    return good;
}

static __attribute__((noinline)) bpl_value *body_masked(bpl_session *session, const bpl_node *node, uint32_t body, uint32_t next, const bpl_value *mask);

static inline bpl_value *last_value(bpl_session *session, const bpl_node *tree, bpl_tail *tail)
{
    bpl_value *value = tail ? bpl_evaluate_tail(session, tree, tail) : bpl_evaluate(session, tree);
    if (tree->kind != BPL_NODE_CALL) session->shy = tree->kind == BPL_NODE_SET || tree->kind == BPL_NODE_UPDATE;
    return value;
}

/* Runs the statements of a body from `first` on. False where a predicate fails: the next body's turn. Else *value, NULL as bpl_evaluate's. */
static bool body_run(bpl_session *session, const bpl_node *node, uint32_t body, uint32_t first, bpl_tail *tail, bpl_value **value)
{
    const bpl_body *statements = &node->bodies[body];
    *value = NULL, session->no_result = false;
    for (uint32_t i = first; i < statements->count; i++) {
        const bpl_node *tree = bpl_statement_tree(session, node->source, &statements->statements[i]);
        if (!tree || !bpl_go_on(session)) return true;
        if (tree->kind == BPL_NODE_IF) {
            bool truth;
            bpl_value *mask = NULL;
            if (!predicate(session, tree, &truth, &mask)) return true;
            if (mask) return *value = body_masked(session, node, body, i + 1, mask), bpl_release(mask), true;
            if (!truth) return false;
            continue;
        }
        if (tree->kind == BPL_NODE_GUARD) return body_guarded(session, node, body, i + 1, tree, value);
        bool last = i + 1 == statements->count;
        *value = last ? last_value(session, tree, tail) : bpl_evaluate(session, tree);
        if (last || (!*value && !session->no_result)) return true;
        bpl_release(*value), *value = NULL, session->no_result = false;
    }
    session->no_result = true;
    return true;
}

/* A dfn that outlives the frame it was made in would look for names that are gone. */
static bpl_value *leaving(bpl_session *session, bpl_value *value)
{
    if (!value) return NULL;
    if (bpl_is_absent(session, value)) {
        bpl_release(value);
        return bpl_fail(session, BPL_VALUE, "⍺ is absent in a call with one argument; ⍺←.. gives it a value");
    }
    if (!session->frame->closures || !bpl_holds_closure(value, session->frame)) return value;
    bpl_release(value);
    return bpl_fail(session, BPL_DOMAIN, "the result would be a dfn of a call that has ended");
}

/* The first body from `first` on whose predicates hold. */
static bpl_value *bodies_run(bpl_session *session, const bpl_node *node, uint32_t first, bpl_tail *tail)
{
    bpl_value *value = NULL;
    for (uint32_t body = first; body < node->count; body++) {
        if (body_run(session, node, body, 0, tail, &value)) return leaving(session, value);
    }
    if (!node->count) return session->no_result = true, NULL;
    session->at = node;
    return bpl_fail(session, BPL_DOMAIN, "no predicate of this function holds");
}

/* ---- bodies that some cells chose --------------------------------------------------------------------------------------------------------- */

/* The names of a frame as they were before a body: those that it gives a value are its own. values [frame->count], owned. */
static bool names_keep(bpl_session *session, const bpl_frame *frame, bpl_value ***values)
{
    *values = NULL;
    if (!frame->count) return true;
    if (!(*values = base_allocate(session->allocator, frame->count * sizeof **values))) return bpl_fail_memory(session), false;
    for (uint32_t i = 0; i < frame->count; i++) (*values)[i] = bpl_keep(frame->slots[i].value);
    return true;
}

static void names_back(bpl_session *session, bpl_frame *frame, bpl_value **values, uint32_t count)
{
    for (uint32_t i = 0; i < frame->count; i++) {
        bpl_release(frame->slots[i].value);
        if (i < count) frame->slots[i].value = values[i];
    }
    frame->count = count;
    if (values) base_free(session->allocator, values, count * sizeof *values);
}

/* What the rest of a body gives where the mask holds, and the bodies behind it where it does not. */
static __attribute__((noinline)) bpl_value *body_masked(bpl_session *session, const bpl_node *node, uint32_t body, uint32_t next, const bpl_value *mask)
{
    bpl_frame *frame = session->frame;
    bpl_value **values, *yes = NULL, *no = NULL, *chosen = NULL;
    uint32_t count = frame->count;
    if (!bpl_may_mask(session) || !names_keep(session, frame, &values)) return NULL;
    session->masks++;
    bool held = body_run(session, node, body, next, NULL, &yes);
    names_back(session, frame, values, count);
    if (held) yes = leaving(session, yes);
    if (yes || !held) no = bodies_run(session, node, body + 1, NULL);
    if (!held) yes = bpl_keep(no);
    session->masks--;
    if (no) chosen = bpl_chosen(session, mask, yes, no);
    else if (session->no_result) bpl_act(session, "a body without a result");
    session->no_result = false;
    bpl_release(yes), bpl_release(no);
    return chosen;
}

static void tail_clear(bpl_tail *tail)
{
    bpl_function_release(tail->function);
    bpl_release(tail->left), bpl_release(tail->right);
}

/* The one statement of a dfn that asks for no roles, as most small ones: NULL where there is more to see to. */
static inline const bpl_node *only_statement(const bpl_session *session, const bpl_node *node)
{
    const bpl_binding *binding = node->count == 1 && node->bodies->count == 1 ? node->bodies->statements->bindings : NULL;
    if (!binding || binding->count || binding->path_count || session->interrupted) return NULL;
    return binding->tree->kind == BPL_NODE_IF || binding->tree->kind == BPL_NODE_GUARD ? NULL : binding->tree;
}

static bpl_value *call_once(bpl_session *session, const bpl_call *call, bpl_tail *next)
{
    bpl_frame frame;
    const bpl_node *node = call->function->node, *only = only_statement(session, node);
    frame_open(session, &frame, call);
    session->no_result = false;
    bpl_value *value = only ? leaving(session, last_value(session, only, next)) : bodies_run(session, node, 0, next);
    bpl_frame_close(session, &frame);
    return value;
}

/* What is called in a call's stead, and in its. */
static bpl_value *call_tails(bpl_session *session, bpl_tail *next)
{
    bpl_value *value = NULL;
    while (next->function) {
        bpl_tail now = *next;
        next->function = NULL;
        value = call_once(session, &(bpl_call){now.function, now.left, now.right, NULL}, next);
        tail_clear(&now);
    }
    return value;
}

static bpl_value *call_again(bpl_session *session, void *data) { return bpl_call_dfn(session, data); }

bpl_value *bpl_call_dfn(bpl_session *session, const bpl_call *call)
{
    if (bpl_stack_is_low(session)) return bpl_stack_more(session, call_again, (void *)call);
    if (session->masks) return bpl_fail_masked(session);
    if (session->dfns >= DEEPEST) return bpl_fail(session, BPL_LIMIT, "calls are nested more than %u deep", DEEPEST);
    const bpl_node *at = session->at;
    bpl_tail next = {.function = NULL};
    session->dfns++;
    bpl_value *value = call_once(session, call, &next);
    if (next.function) value = call_tails(session, &next);
    session->dfns--;
    if (!value && !session->no_result) bpl_trace(session, at);
    session->at = at;
    return value;
}
