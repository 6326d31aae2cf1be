/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Deal: distinct random numbers. The draw takes its key at the call. */
#include "bpl/whole.h"

/* All of 0 .. population - 1 in any order, the first `count` of them. */
static wg_array *dealt_of_all(wg_array *key, int64_t count, int64_t population)
{
    wg_array *order = wg_array_permutation(key, population);
    return wg_array_narrow(order, 0, 0, count, 1);
}

/* Few of many: Floyd's sampling (Bentley, Programming pearls: a sample of brilliance, 1987) by drawn numbers, in the order of another permutation. */
static wg_array *dealt_few(bpl_session *session, wg_array *key, int64_t count, int64_t population)
{
    wg_array *keys = wg_array_key_split(key, 2), *first = wg_array_narrow(keys, 0, 0, 1, 1), *second = wg_array_narrow(keys, 0, 1, 1, 1);
    first = wg_array_reshape(first, 1, (int64_t[]){2});
    second = wg_array_reshape(second, 1, (int64_t[]){2});
    wg_array *bounds = wg_array_iota(session->lazy, WG_KIND_I64, 1, &count, 0);
    bounds = wg_array_add_scalar(bounds, (double)(population - count + 1));
    wg_array *zeros = bounds ? wg_array_zeros_like(bounds) : NULL, *drawn = wg_array_draw_integers(first, zeros, bounds);
    wg_view view;
    if (!drawn || !wg_array_read(drawn, &view)) return NULL;
    const int64_t *numbers = view.data;
    uint64_t size = 4;
    while (size < (uint64_t)count * 2) size *= 2;
    size_t bytes = size * sizeof(int64_t);
    int64_t *table = base_allocate(session->allocator, bytes), *chosen = base_allocate(session->allocator, ((size_t)count + 1) * sizeof *chosen);
    bool good = table && chosen;
    for (uint64_t i = 0; good && i < size; i++) table[i] = -1;
    for (int64_t i = 0; good && i < count; i++) {
        int64_t candidate = numbers[i];
        for (int again = 0; again < 2; again++) { /* met before: the newest bound itself, which cannot have been */
            uint64_t at = ((uint64_t)candidate * 0x9E3779B97F4A7C15u >> 20) & (size - 1);
            while (table[at] >= 0 && table[at] != candidate) at = (at + 1) & (size - 1);
            if (table[at] == candidate) {
                candidate = population - count + i;
                continue;
            }
            table[at] = chosen[i] = candidate;
            break;
        }
    }
    wg_array *set = good ? wg_array_from(session->lazy, WG_KIND_I64, 1, &count, chosen) : NULL;
    if (!good) bpl_fail_memory(session);
    if (table) base_free(session->allocator, table, bytes);
    if (chosen) base_free(session->allocator, chosen, ((size_t)count + 1) * sizeof *chosen);
    return set ? wg_array_shuffle(second, set, 0) : NULL;
}

bpl_value *bpl_do_deal(bpl_session *session, const bpl_call *call)
{
    int64_t count, population;
    bpl_class class;
    wg_kind kind;
    if (!bpl_act(session, "a draw") || !bpl_to_integer(session, call->left, "¿: the number of draws", &count)) return NULL;
    if (!bpl_to_integer(session, call->right, "¿: the population", &population)) return NULL;
    if (count < 0 || population < 0)
        return bpl_fail(session, BPL_DOMAIN, "¿: %lld of %lld: neither may be negative", (long long)count, (long long)population);
    if (count > population) return bpl_fail(session, BPL_DOMAIN, "¿: %lld distinct numbers of %lld", (long long)count, (long long)population);
    if (!bpl_counting_kind(session, call->right, &class, &kind) || !bpl_shape_allowed(session, 1, &count)) return NULL;
    bool few = count < population / 16;
    wg_scope_open(session->lazy);
    wg_array *key = bpl_draw_key(session);
    wg_array *drawn = !key ? NULL : few ? dealt_few(session, key, count, population) : dealt_of_all(key, count, population);
    return bpl_scope_result(session, wg_array_convert(drawn, kind), class);
}
