/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Functions as data: made, kept, released. */
#include "bpl/bpl.h"

bpl_function *bpl_function_new(bpl_session *session, bpl_function_form form, uint16_t row)
{
    bpl_function *function = base_allocate_zeroed(session->allocator, sizeof *function);
    if (!function) return bpl_fail_memory(session);
    function->session = session;
    function->references = 1;
    function->form = (uint8_t)form;
    function->role = BPL_ROLE_FUNCTION;
    function->row = row;
    return function;
}

bpl_function *bpl_function_keep(bpl_function *function)
{
    if (function) function->references++;
    return function;
}

void bpl_function_release(bpl_function *function)
{
    if (!function || --function->references) return;
    bpl_session *session = function->session;
    bpl_value *parts[] = {function->left, function->right, function->third, function->inverse, function->slope};
    for (uint32_t i = 0; i < sizeof parts / sizeof *parts; i++) bpl_release(parts[i]);
    if (function->source) bpl_source_release(function->source);
    base_free(session->allocator, function, sizeof *function);
}

bpl_value *bpl_primitive(bpl_session *session, uint16_t row)
{
    if (!session->primitives[row]) session->primitives[row] = bpl_of_function(session, bpl_function_new(session, BPL_PRIMITIVE, row));
    return session->primitives[row];
}
