/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Modifiers that only say who is called with what: ⍨ ↣ ↢ ∘ ⍥ ⊘. */
#include "bpl/cells.h"

bpl_value *bpl_wanted(bpl_session *session, bpl_value *value)
{
    if (value || !session->no_result) return value;
    session->no_result = false;
    return bpl_fail(session, BPL_VALUE, "a function that gives no result was called where a value is needed");
}

bool bpl_is_callable(const bpl_value *value)
{
    return bpl_is_function(value) || bpl_holds_function(value);
}

bpl_value *bpl_derived_self(bpl_session *session, const bpl_call *call)
{
    return bpl_apply(session, call->function->left, call->right, call->left ? call->left : call->right);
}

/* outer on [left] and what inner made of its arguments. */
static bpl_value *after_inner(bpl_session *session, bpl_value *outer, bpl_value *left, bpl_value *inner, bpl_value *inner_left,
                              bpl_value *inner_right)
{
    bpl_value *right = bpl_wanted(session, bpl_apply(session, inner, inner_left, inner_right));
    bpl_value *result = right ? bpl_apply(session, outer, left, right) : NULL;
    bpl_release(right);
    return result;
}

/* A function with one side fixed takes one argument. */
static bool takes_one(bpl_session *session, const bpl_call *call)
{
    if (!call->left) return true;
    bpl_fail(session, BPL_SYNTAX, "a function with a bound argument takes one argument, not two");
    return false;
}

bpl_value *bpl_derived_before(bpl_session *session, const bpl_call *call)
{
    bpl_value *f = call->function->left, *g = call->function->right;
    if (!bpl_is_callable(f)) return takes_one(session, call) ? bpl_apply(session, g, f, call->right) : NULL;
    bpl_value *left = bpl_wanted(session, bpl_apply(session, f, NULL, call->left ? call->left : call->right));
    bpl_value *result = left ? bpl_apply(session, g, left, call->right) : NULL;
    bpl_release(left);
    return result;
}

bpl_value *bpl_derived_after(bpl_session *session, const bpl_call *call)
{
    bpl_value *f = call->function->left, *g = call->function->right;
    if (!bpl_is_callable(g)) return takes_one(session, call) ? bpl_apply(session, f, call->right, g) : NULL;
    return after_inner(session, f, call->left ? call->left : call->right, g, NULL, call->right);
}

bpl_value *bpl_derived_atop(bpl_session *session, const bpl_call *call)
{
    return after_inner(session, call->function->left, NULL, call->function->right, call->left, call->right);
}

bpl_value *bpl_derived_over(bpl_session *session, const bpl_call *call)
{
    bpl_value *f = call->function->left, *g = call->function->right;
    if (!call->left) return after_inner(session, f, NULL, g, NULL, call->right);
    bpl_value *right = bpl_wanted(session, bpl_apply(session, g, NULL, call->right));
    bpl_value *left = right ? bpl_wanted(session, bpl_apply(session, g, NULL, call->left)) : NULL;
    bpl_value *result = left ? bpl_apply(session, f, left, right) : NULL;
    bpl_release(left);
    bpl_release(right);
    return result;
}

bpl_value *bpl_derived_valences(bpl_session *session, const bpl_call *call)
{
    return bpl_apply(session, call->left ? call->function->right : call->function->left, call->left, call->right);
}
