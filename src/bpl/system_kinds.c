/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * •storage and •float: how numbers are held. */
#include <string.h>

#include "bpl/kinds.h"

static const char *kind_text(const bpl_value *value)
{
    switch ((bpl_type)value->type) {
    case BPL_CHARACTERS: return "character";
    case BPL_ITEMS: return "mixed";
    case BPL_RATIONAL: return "rational";
    case BPL_FUNCTION:
    case BPL_OPERATOR: return "function";
    case BPL_NUMBERS: break;
    }
    if (value->class == BPL_CLASS_ORDINARY) return "integer";
    switch (bpl_kind(value)) {
    case WG_KIND_BOOL: return "bool";
    case WG_KIND_U8: return "uint8";
    case WG_KIND_I16: return "int16";
    case WG_KIND_I32: return "int32";
    case WG_KIND_I64: return "int64";
    case WG_KIND_F16: return "float16";
    case WG_KIND_F32: return "float32";
    case WG_KIND_C64: return "complex64";
    case WG_KIND_C128: return "complex128";
    default: return "float64";
    }
}

bpl_value *bpl_system_storage(bpl_session *session, const bpl_call *call)
{
    if (call->left) return bpl_fail(session, BPL_SYNTAX, "•storage takes one argument, not two");
    static const char *const names[] = {"kind", "pending", "view", "active"};
    const bpl_value *value = call->right;
    const char *kind = kind_text(value);
    bool simple = bpl_is_simple(value);
    bpl_value *values[] = {bpl_string(session, kind, strlen(kind)), bpl_boolean(session, simple && wg_array_is_pending(bpl_array(value))),
                           bpl_boolean(session, false), bpl_integer(session, simple && wg_array_is_carried(bpl_array(value)))};
    return bpl_record(session, names, values, 4);
}

/* ---- •float -------------------------------------------------------------------------------------------------------------------------------- */

/* The widest float among the numbers of a value, in bits; 0: none. */
static int64_t float_bits(const bpl_value *value)
{
    int64_t bits = 0;
    if (value->type == BPL_NUMBERS && value->class == BPL_CLASS_FLOAT) return 8 * (int64_t)wg_kind_bytes(bpl_kind(value));
    if (value->type == BPL_NUMBERS && value->class == BPL_CLASS_COMPLEX) return 4 * (int64_t)wg_kind_bytes(bpl_kind(value));
    for (int64_t i = 0; value->type == BPL_ITEMS && i < value->items->volume; i++) {
        int64_t own = float_bits(value->items->at[i]);
        bits = own > bits ? own : bits;
    }
    return bits;
}

bpl_value *bpl_system_float(bpl_session *session, const bpl_call *call)
{
    int64_t bits;
    if (!call->left) {
        bits = float_bits(call->right);
        return bpl_strong(session, bpl_integer(session, bits ? bits : 8 * (int64_t)wg_kind_bytes(session->preferences.float_kind)));
    }
    if (!bpl_to_integer(session, call->left, "the width of •float", &bits)) return NULL;
    if (bits != 16 && bits != 32 && bits != 64) return bpl_fail(session, BPL_DOMAIN, "•float takes a width of 16, 32 or 64 bits");
    return bpl_mark_value(session, bits == 16 ? BPL_MARK_F16 : bits == 32 ? BPL_MARK_F32 : BPL_MARK_F64, call->right);
}
