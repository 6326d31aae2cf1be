/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What the code of system names shares: see system.h. */
#include <string.h>

#include "bpl/system.h"
#include "bpl/write.h"

/* ---- options ---------------------------------------------------------------------------------------------------------------------------------------- */

bool bpl_options_known(bpl_session *session, const bpl_value *options, const char *who, const char *const *names, int64_t count)
{
    if (!options) return true;
    const bpl_axis *axis = bpl_rank(options) == 1 ? bpl_axis_of(options, 0) : NULL;
    if (!axis || !axis->labels) return bpl_fail(session, BPL_DOMAIN, "the options of %s are a record, such as [\"%s\":value]", who, names[0]);
    for (int64_t i = 0; i < axis->extent; i++) {
        char *text;
        size_t length;
        bool known = false;
        if (!axis->labels[i]) return bpl_fail(session, BPL_DOMAIN, "an option of %s has no name", who);
        if (!bpl_to_text(session, axis->labels[i], "the name of an option", &text, &length)) return false;
        for (int64_t k = 0; k < count; k++) known |= !strcmp(text, names[k]);
        if (!known) bpl_fail(session, BPL_DOMAIN, "%s has no option \"%.60s\"", who, text);
        base_free(session->allocator, text, length + 1);
        if (!known) return false;
    }
    return true;
}

bpl_value *bpl_option(bpl_session *session, const bpl_value *options, const char *name)
{
    bpl_value *label = options ? bpl_string(session, name, strlen(name)) : NULL, *item = label ? bpl_at_key(session, options, label) : NULL;
    bpl_release(label);
    return item;
}

bool bpl_option_truth(bpl_session *session, const bpl_value *options, const char *name, bool *truth)
{
    bpl_value *value = bpl_option(session, options, name);
    if (!value) return !bpl_failed(session);
    bool read = bpl_to_truth(session, value, name, truth);
    bpl_release(value);
    return read;
}

bool bpl_option_text(bpl_session *session, const bpl_value *options, const char *name, char **text, size_t *length)
{
    bpl_value *value = bpl_option(session, options, name);
    if (!value) return !bpl_failed(session);
    bool read = bpl_to_text(session, value, name, text, length);
    bpl_release(value);
    return read;
}

/* ---- values ----------------------------------------------------------------------------------------------------------------------------------------- */

bpl_value *bpl_each_item(bpl_session *session, bpl_value *value, void *data, bpl_data_code code)
{
    if (bpl_stack_is_low(session)) return bpl_fail(session, BPL_LIMIT, "this nests too deep");
    const bpl_items *old = value->items;
    bpl_items *items = bpl_items_new(session, old->rank, old->shape);
    for (int64_t i = 0; items && i < old->volume; i++) {
        if ((items->at[i] = code(session, old->at[i], data))) continue;
        bpl_items_free(session, items);
        return NULL;
    }
    if (!items) return NULL;
    if (!old->volume) items->prototype = bpl_fill(session, value);
    return bpl_settle_keys(session, bpl_collect(session, items), bpl_keys_keep(value->keys));
}

bpl_value *bpl_numbers_alike(bpl_session *session, const bpl_value *value, bpl_class class, wg_kind kind, const void *items)
{
    bpl_value *array = bpl_numbers(session, class, kind, bpl_rank(value), bpl_shape(value), items);
    bpl_value *result = array && value->atom ? bpl_with_atom(session, array, true) : bpl_keep(array);
    bpl_release(array);
    return bpl_settle_keys(session, result, bpl_keys_keep(value->keys));
}

bpl_value *bpl_native(bpl_session *session, uint16_t row, bpl_code code, bpl_value *data)
{
    bpl_function *function = bpl_function_new(session, BPL_NATIVE, row);
    if (!function) return NULL;
    function->native = code, function->left = bpl_keep(data);
    return bpl_of_function(session, function);
}
