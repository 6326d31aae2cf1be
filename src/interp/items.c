/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Loading and storing items. */
#include "interp/items.h"

interp_domain interp_domain_of(wg_kind kind)
{
    switch (base_kinds[kind].class) {
    case BASE_CLASS_FLOAT: return kind == WG_KIND_F64 ? INTERP_F64 : INTERP_F32;
    case BASE_CLASS_SIGNED: return INTERP_SIGNED;
    case BASE_CLASS_COMPLEX: return kind == WG_KIND_C64 ? INTERP_C64 : INTERP_C128;
    default: return INTERP_UNSIGNED;
    }
}

int64_t interp_view_volume(const wg_view *view)
{
    int64_t volume = 0;
    base_volume(view->rank, view->shape, &volume); /* a tensor of this shape exists: it fits */
    return volume;
}

interp_item *interp_take(const interp_row_call *call, int64_t count)
{
    interp_item *items = NULL;
    if ((uint64_t)count < SIZE_MAX / sizeof *items) items = base_arena_take(call->scratch, (size_t)(count ? count : 1) * sizeof *items);
    if (!items) base_fail_memory(call->error);
    return items;
}

static interp_item load_item(wg_kind kind, const void *items, int64_t index, interp_domain domain)
{
    if (domain == INTERP_C64) return (interp_item){.c = ((const wg_complex64 *)items)[index]};
    if (domain == INTERP_C128) return (interp_item){.z = ((const wg_complex128 *)items)[index]};
    base_number number = base_number_load(kind, items, index);
    switch (domain) {
    case INTERP_F32: return (interp_item){.f = (float)number.d};
    case INTERP_F64: return (interp_item){.d = number.d};
    default: return (interp_item){.u = number.u};
    }
}

interp_item *interp_load(const interp_row_call *call, uint32_t operand, interp_domain domain)
{
    const wg_view *view = &call->operands[operand];
    int64_t count = interp_view_volume(view);
    interp_item *items = interp_take(call, count);
    if (!items) return NULL;
    const float *floats = view->kind == WG_KIND_F32 && domain == INTERP_F32 ? view->data : NULL; /* the common kind, without ado */
    for (int64_t i = 0; floats && i < count; i++) items[i].f = floats[i];
    for (int64_t i = 0; !floats && i < count; i++) items[i] = load_item(view->kind, view->data, i, domain);
    return items;
}

interp_item interp_load_one(const interp_row_call *call, uint32_t operand, interp_domain domain)
{
    const wg_view *view = &call->operands[operand];
    if (view->kind == WG_KIND_F64 && domain == INTERP_F64) return (interp_item){.d = *(const double *)view->data}; /* without ado */
    return load_item(view->kind, view->data, 0, domain);
}

bool interp_store_one(const interp_row_call *call, interp_item item)
{
    interp_domain domain = interp_domain_of(call->result.kind);
    if (domain == INTERP_F64) *(double *)call->result.data = item.d;
    else if (call->result.kind == WG_KIND_BOOL) *(uint8_t *)call->result.data = (uint8_t)item.u;
    else return interp_store(call, domain, &item);
    return true;
}

interp_item interp_wrap(wg_kind kind, interp_item item)
{
    uint32_t unused = 64 - 8 * base_kinds[kind].bytes;
    if (base_kinds[kind].class == BASE_CLASS_SIGNED) item.i = (int64_t)(item.u << unused) >> unused;
    if (base_kinds[kind].class == BASE_CLASS_UNSIGNED) item.u = item.u << unused >> unused;
    return item;
}

bool interp_store(const interp_row_call *call, interp_domain domain, const interp_item *items)
{
    int64_t count = interp_view_volume(&call->result);
    float *floats = call->result.kind == WG_KIND_F32 && domain == INTERP_F32 ? call->result.data : NULL;
    if (domain == INTERP_C64) {
        for (int64_t i = 0; i < count; i++) ((wg_complex64 *)call->result.data)[i] = items[i].c;
        return true;
    }
    if (domain == INTERP_C128) {
        for (int64_t i = 0; i < count; i++) ((wg_complex128 *)call->result.data)[i] = items[i].z;
        return true;
    }
    for (int64_t i = 0; floats && i < count; i++) floats[i] = items[i].f;
    for (int64_t i = 0; !floats && i < count; i++) {
        base_number number = {.u = items[i].u};
        if (domain == INTERP_F32) number.d = (double)items[i].f;
        base_number_store(call->result.kind, call->result.data, i, number);
    }
    return true;
}

interp_axis interp_axis_of(const wg_view *view, int64_t axis)
{
    interp_axis parts = {1, view->shape[axis], 1, axis + 1 == (int64_t)view->rank};
    for (uint32_t i = 0; i < view->rank; i++) {
        if (i < axis) parts.outer *= view->shape[i];
        if (i > axis) parts.inner *= view->shape[i];
    }
    return parts;
}
