/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Elementwise rows that are more than arithmetic on one or two items: they move, choose or convert them. */
#include <string.h>

#include "base/block.h"
#include "interp/items.h"

static bool copy(const interp_row_call *call)
{
    size_t bytes = (size_t)interp_view_volume(&call->result) * base_kinds[call->result.kind].bytes;
    if (bytes) memcpy(call->result.data, call->operands[0].data, bytes);
    return true;
}

bool interp_StopGradient(const interp_row_call *call)
{
    return copy(call);
}

bool interp_Bitcast(const interp_row_call *call)
{
    return copy(call);
}

bool interp_Convert(const interp_row_call *call)
{
    const wg_view *a = &call->operands[0];
    bool wrap = call->attributes[GRAPH_ATTRIBUTE(Convert, wrap)] != 0;
    wg_kind kind = call->result.kind;
    int64_t count = interp_view_volume(a);
    wg_kind from = a->kind;
    if (base_kind_is_block(from)) return base_block_values(from, a->data, base_kind_units(from, count), call->result.data), true;
    if (base_kind_is_complex(from)) { /* to a complex kind: each part by itself */
        from = base_kind_part(from);
        kind = base_kind_part(kind);
        count *= 2;
    }
    for (int64_t i = 0; i < count; i++)
        base_number_store(kind, call->result.data, i, base_number_convert(base_number_load(from, a->data, i), from, kind, wrap));
    return true;
}

bool interp_Select(const interp_row_call *call)
{
    const uint8_t *condition = call->operands[0].data;
    const char *where_true = call->operands[1].data, *where_false = call->operands[2].data;
    char *result = call->result.data;
    size_t width = base_kinds[call->result.kind].bytes;
    int64_t count = interp_view_volume(&call->result);
    for (int64_t i = 0; i < count; i++) {
        size_t at = (size_t)i * width;
        memcpy(result + at, (condition[i] ? where_true : where_false) + at, width);
    }
    return true;
}

/* a moved by b bits in a kind of `width` bits; b outside of [0, width) moves every bit out, which leaves the sign of a signed number moved
 * right. */
static uint64_t shift(uint64_t a, uint64_t b, bool is_signed, unsigned width, bool right)
{
    bool outside = b >= width; /* a negative b is a huge one */
    if (!right) return outside ? 0 : a << b;
    if (!is_signed) return outside ? 0 : a >> b;
    return (uint64_t)((int64_t)a >> (outside ? 63 : b));
}

static bool shift_row(const interp_row_call *call, bool right)
{
    wg_kind kind = call->result.kind;
    interp_domain domain = interp_domain_of(kind);
    int64_t count = interp_view_volume(&call->result);
    interp_item *a = interp_load(call, 0, domain), *b = a ? interp_load(call, 1, domain) : NULL;
    if (!b) return false;
    for (int64_t i = 0; i < count; i++) a[i].u = shift(a[i].u, b[i].u, domain == INTERP_SIGNED, 8u * base_kinds[kind].bytes, right);
    return interp_store(call, domain, a);
}

bool interp_ShiftLeft(const interp_row_call *call)
{
    return shift_row(call, false);
}

bool interp_ShiftRight(const interp_row_call *call)
{
    return shift_row(call, true);
}
