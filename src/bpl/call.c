/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The one entry that calls functions. */
#include "bpl/cells.h"
#include "bpl/derivative.h"

/* ---- primitives ---------------------------------------------------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) bpl_value *call_primitive(bpl_session *session, const bpl_call *call)
{
    uint16_t at = call->function->row;
    const bpl_glyph_row *row = &bpl_glyphs[at];
    bpl_service service = call->left ? row->dyadic : row->monadic;
    if (service == BPL_SERVICE_PERVASIVE && !call->axes) return bpl_pervade(session, at, call->left, call->right);
    if (session->masks) return bpl_fail_masked(session);
    if (service == BPL_SERVICE_PERVASIVE) return bpl_call_axis(session, call);
    if (service == BPL_SERVICE_WHOLE && call->axes && !bpl_has_own_axes(at, call->left, call->axes)) return bpl_call_axis(session, call);
    if (service == BPL_SERVICE_WHOLE) return (call->left ? row->two.code : row->one.code)(session, call);
    return bpl_fail(session, BPL_SYNTAX, "%s takes %s", row->glyph, call->left ? "one argument, not two" : "two arguments, not one");
}

bpl_value *bpl_apply_row(bpl_session *session, uint16_t row, bpl_value *left, bpl_value *right)
{
    const bpl_value *function = session->primitives[row] ? session->primitives[row] : bpl_primitive(session, row);
    if (!function || !bpl_go_on(session)) return NULL;
    return call_primitive(session, &(bpl_call){.function = function->function, .left = left, .right = right});
}

/* ---- trains and bound functions ------------------------------------------------------------------------------------------------------------- */

static bpl_value *call_bound(bpl_session *session, const bpl_call *call)
{
    if (call->left) return bpl_fail(session, BPL_SYNTAX, "a bound function takes one argument");
    return bpl_apply(session, call->function->right, call->function->left, call->right);
}

static bpl_value *call_atop(bpl_session *session, const bpl_call *call)
{
    bpl_value *inner = bpl_apply(session, call->function->right, call->left, call->right);
    if (!inner) return NULL;
    bpl_value *result = bpl_apply(session, call->function->left, NULL, inner);
    bpl_release(inner);
    return result;
}

static bpl_value *call_fork(bpl_session *session, const bpl_call *call)
{
    bpl_value *right = bpl_apply(session, call->function->right, call->left, call->right);
    bpl_value *left = right ? bpl_apply(session, call->function->left, call->left, call->right) : NULL;
    bpl_value *result = left ? bpl_apply(session, call->function->third, left, right) : NULL;
    bpl_release(left);
    bpl_release(right);
    return result;
}

/* ---- marks after functions -------------------------------------------------------------------------------------------------------------------- */

/* ÷ₐ divides floats: of integers ÷ alone would have lost the rest. fᵣ works on unbounded numbers from the start. */
static uint16_t mark_of_arguments(const bpl_function *marked)
{
    if (marked->row == BPL_MARK_RATIONAL) return BPL_MARK_RATIONAL;
    const bpl_value *of = marked->left;
    bool division = of->type == BPL_FUNCTION && of->function->form == BPL_PRIMITIVE && of->function->row == BPL_GLYPH_DIVIDE;
    return marked->row == BPL_MARK_REAL && division ? BPL_MARK_REAL : BPL_MARK_COUNT;
}

static bpl_value *call_marked(bpl_session *session, const bpl_call *call)
{
    const bpl_function *marked = call->function;
    if (marked->row == BPL_MARK_BITWISE) return bpl_call_bitwise(session, call);
    const bpl_function *of = marked->left->type == BPL_FUNCTION ? marked->left->function : NULL;
    const bpl_pervasive *rule = of && of->form == BPL_PRIMITIVE ? bpl_marked_rule(marked->row, of->row, call->left != NULL) : NULL;
    if (rule) return bpl_pervade_by(session, rule, call->left, call->right);
    uint16_t before = mark_of_arguments(marked);
    bpl_value *left = NULL, *right = NULL, *result = NULL;
    if (before == BPL_MARK_COUNT) {
        result = bpl_apply(session, marked->left, call->left, call->right);
    } else {
        right = bpl_mark_value(session, before, call->right);
        if (right && call->left) left = bpl_mark_value(session, before, call->left);
        if (right && (left || !call->left)) result = bpl_apply(session, marked->left, left, right);
        bpl_release(left);
        bpl_release(right);
    }
    if (!result) return NULL;
    bpl_value *converted = bpl_mark_value(session, marked->row, result);
    bpl_release(result);
    return converted;
}

/* ---- arrays as functions -------------------------------------------------------------------------------------------------------------- */

/* Each function of an array on the same arguments; its other items are constant functions. Results become cells. */
static bpl_value *call_array(bpl_session *session, bpl_value *array, bpl_value *left, bpl_value *right)
{
    if (!bpl_holds_function(array)) return bpl_keep(array);
    bpl_items *results = bpl_items_new(session, array->items->rank, array->items->shape);
    if (!results) return NULL;
    for (int64_t i = 0; i < results->volume; i++) {
        results->at[i] = bpl_apply(session, array->items->at[i], left, right);
        if (!results->at[i]) return bpl_items_free(session, results), NULL;
    }
    bpl_value *collected = bpl_collect(session, results);
    if (!collected || collected->type != BPL_ITEMS) return collected;
    bpl_value *mixed = bpl_monad(session, BPL_GLYPH_PICK, collected);
    bpl_release(collected);
    return mixed;
}

/* ---- the entry ------------------------------------------------------------------------------------------------------------------------ */

bpl_value *bpl_call_plain(bpl_session *session, const bpl_call *call)
{
    const bpl_function *function = call->function;
    if (function->form == BPL_PRIMITIVE) return call_primitive(session, call);
    bool of_parts = function->form == BPL_BOUND || function->form == BPL_ATOP || function->form == BPL_FORK || function->form == BPL_MARKED;
    if (session->masks && !of_parts) return bpl_fail_masked(session);
    switch ((bpl_function_form)function->form) {
    case BPL_SYSTEM: return bpl_systems[function->row].code(session, call);
    case BPL_DFN:
    case BPL_DERIVED_DFN: return bpl_call_dfn(session, call);
    case BPL_DERIVED: return bpl_operators[function->row].code(session, call);
    case BPL_BOUND: return call_bound(session, call);
    case BPL_ATOP: return call_atop(session, call);
    case BPL_FORK: return call_fork(session, call);
    case BPL_MARKED: return call_marked(session, call);
    case BPL_RANKED: return bpl_call_ranked(session, call);
    case BPL_INVERSE: return bpl_call_inverse(session, call);
    case BPL_AXIS: return bpl_derived_axis(session, call);
    case BPL_PATH: return bpl_call_path(session, call);
    case BPL_NATIVE: return function->native(session, call);
    case BPL_PRIMITIVE: /* called above */
    case BPL_OPERATOR_ROW:
    case BPL_OPERATOR_DFN:
    case BPL_OPERATOR_PART: break;
    }
    return bpl_fail(session, BPL_SYNTAX, "an operator is no function: give it its operand");
}

typedef struct application {
    bpl_value *function, *left, *right, *axes;
} application;

static bpl_value *apply_further(bpl_session *session, void *data)
{
    const application *of = data;
    return bpl_apply_axes(session, of->function, of->left, of->right, of->axes);
}

bpl_value *bpl_apply_function(bpl_session *session, const bpl_function *function, bpl_value *left, bpl_value *right)
{
    if (!bpl_go_on(session)) return NULL;
    bpl_call call = {.function = function, .left = left, .right = right};
    if (function->slope) return bpl_call_with_slope(session, &call);
    return function->form == BPL_DFN ? bpl_call_dfn(session, &call) : bpl_call_plain(session, &call);
}

bpl_value *bpl_apply_axes(bpl_session *session, bpl_value *function, bpl_value *left, bpl_value *right, bpl_value *axes)
{
    if (!bpl_go_on(session)) return NULL;
    if (bpl_stack_is_low(session)) return bpl_stack_more(session, apply_further, &(application){function, left, right, axes});
    if (function->type == BPL_OPERATOR) return bpl_fail(session, BPL_SYNTAX, "an operator is no function: give it its operand");
    if (function->type != BPL_FUNCTION) return call_array(session, function, left, right);
    bpl_call call = {.function = function->function, .left = left, .right = right, .axes = axes};
    if (axes && call.function->form != BPL_PRIMITIVE) return bpl_call_axis(session, &call);
    return call.function->slope ? bpl_call_with_slope(session, &call) : bpl_call_plain(session, &call);
}

bpl_value *bpl_apply(bpl_session *session, bpl_value *function, bpl_value *left, bpl_value *right)
{
    return bpl_apply_axes(session, function, left, right, NULL);
}

bpl_value *bpl_apply_inverse(bpl_session *session, bpl_value *function, bpl_value *left, bpl_value *right)
{
    bpl_function *inverse = bpl_function_new(session, BPL_INVERSE, 0);
    if (!inverse) return NULL;
    inverse->left = bpl_keep(function);
    bpl_value *result = bpl_call_inverse(session, &(bpl_call){.function = inverse, .left = left, .right = right});
    bpl_function_release(inverse);
    return result;
}

bpl_value *bpl_monad(bpl_session *session, uint16_t row, bpl_value *right)
{
    bpl_value *function = bpl_primitive(session, row);
    return function ? bpl_apply(session, function, NULL, right) : NULL;
}

bpl_value *bpl_dyad(bpl_session *session, uint16_t row, bpl_value *left, bpl_value *right)
{
    bpl_value *function = bpl_primitive(session, row);
    return function ? bpl_apply(session, function, left, right) : NULL;
}

bpl_value *bpl_monad_on(bpl_session *session, uint16_t row, bpl_value *right)
{
    bpl_value *result = right ? bpl_monad(session, row, right) : NULL;
    bpl_release(right);
    return result;
}

bpl_value *bpl_dyad_on(bpl_session *session, uint16_t row, bpl_value *left, bpl_value *right)
{
    bpl_value *result = left && right ? bpl_dyad(session, row, left, right) : NULL;
    bpl_release(left);
    bpl_release(right);
    return result;
}
