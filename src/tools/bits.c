/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "tools/bits.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "tools/tools.h"

/* The bits of a float as an integer that orders as the floats do; neighbours differ by one. */
static int64_t ordered(wg_kind kind, const void *items, int64_t index)
{
    uint64_t bits = 0;
    size_t bytes = base_kinds[kind].bytes;
    memcpy(&bits, (const char *)items + (size_t)index * bytes, bytes);
    uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
    return bits & sign ? -(int64_t)(bits & (sign - 1)) : (int64_t)bits;
}

static bool same_item(wg_kind kind, const wg_view *a, const wg_view *b, int64_t i)
{
    size_t bytes = base_kinds[kind].bytes;
    if (!memcmp((const char *)a->data + (size_t)i * bytes, (const char *)b->data + (size_t)i * bytes, bytes)) return true;
    if (base_kind_is_complex(kind)) {
        wg_kind part = base_kind_part(kind);
        return same_item(part, a, b, 2 * i) && same_item(part, a, b, 2 * i + 1);
    }
    if (!base_kind_is_float(kind)) return false;
    double x = base_number_load(kind, a->data, i).d, y = base_number_load(kind, b->data, i).d;
    return x != x && y != y;
}

static void item_text(const wg_view *view, int64_t index, char *text, size_t bytes)
{
    base_string string = base_string_new(tool_allocator());
    base_string_item(&string, view->kind, view->data, index);
    snprintf(text, bytes, "%s", string.text ? string.text : "");
    base_string_free(&string);
}

bool bits_compare(const wg_view *left, const wg_view *right, bits_difference *d)
{
    *d = (bits_difference){.first = -1};
    d->types_differ = left->kind != right->kind || left->rank != right->rank || memcmp(left->shape, right->shape, left->rank * sizeof *left->shape);
    if (d->types_differ) return false;
    int64_t volume = 1;
    for (uint32_t axis = 0; axis < left->rank; axis++) volume *= left->shape[axis];
    for (int64_t i = 0; i < volume; i++) {
        if (same_item(left->kind, left, right, i)) continue;
        if (!d->count++) d->first = i;
    }
    if (!d->count) return true;
    item_text(left, d->first, d->left, sizeof d->left);
    item_text(right, d->first, d->right, sizeof d->right);
    if (base_kind_is_float(left->kind)) {
        int64_t a = ordered(left->kind, left->data, d->first), b = ordered(right->kind, right->data, d->first);
        d->ulps = a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
    }
    return false;
}

void bits_describe(const bits_difference *d, const char *left, const char *right, char *text, size_t bytes)
{
    if (d->types_differ) {
        snprintf(text, bytes, "kinds or shapes differ");
        return;
    }
    char apart[48] = "";
    if (d->ulps) snprintf(apart, sizeof apart, " (%llu ulp%s apart)", (unsigned long long)d->ulps, d->ulps == 1 ? "" : "s");
    snprintf(text, bytes, "item %lld is %s by %s, %s by %s%s; %lld item%s", (long long)d->first, d->left, left, d->right, right, apart, (long long)d->count,
             d->count == 1 ? " differs" : "s differ");
}
