/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * •index: positions along an axis with a name of its own; •edge: positions outside an axis as positions inside, or as none. */
#include <stdio.h>
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "bpl/cells.h"
#include "bpl/evaluate.h"
#include "bpl/system.h"

/* ---- •index -------------------------------------------------------------------------------------------------------------------------------- */

/* 64 bits as 13 digits and letters: enough that two names never meet. */
static void fresh_name(bpl_session *session, const char *stem, char *name, size_t bytes)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    uint64_t serial[2] = {++session->serial, (uint64_t)(uintptr_t)session}, number = base_hash(serial, sizeof serial, session->seed);
    char text[14];
    for (int i = 12; i >= 0; i--) text[i] = digits[number % 36], number /= 36;
    text[13] = 0;
    snprintf(name, bytes, "_%s·%s", stem, text);
}

static bpl_value *index_of(bpl_session *session, const char *stem, bpl_value *length)
{
    char name[300];
    fresh_name(session, stem, name, sizeof name);
    bpl_value *positions = bpl_monad(session, BPL_GLYPH_IOTA, length), *named = NULL;
    if (!positions || bpl_rank(positions) != 1) return bpl_release(positions), positions ? bpl_fail(session, BPL_DOMAIN, "•index takes lengths") : NULL;
    bpl_keys *keys = bpl_keys_new(session, 1, bpl_shape(positions));
    if (keys && bpl_axis_set_name(session, &keys->axes[0], name)) named = bpl_with_keys(session, positions, keys);
    bpl_keys_release(session, keys);
    bpl_release(positions);
    return named;
}

bpl_value *bpl_system_index(bpl_session *session, const bpl_call *call)
{
    char *stem = NULL;
    size_t length = 0;
    if (call->left && !bpl_to_text(session, call->left, "the stem of •index", &stem, &length)) return NULL;
    if (length > 200) {
        base_free(session->allocator, stem, length + 1);
        return bpl_fail(session, BPL_LIMIT, "the stem of •index is longer than 200 bytes");
    }
    bpl_value *result = NULL;
    if (bpl_is_unit(call->right)) {
        result = index_of(session, stem ? stem : "", call->right);
    } else {
        bpl_items *items = bpl_items_new(session, bpl_rank(call->right), bpl_shape(call->right));
        for (int64_t i = 0; items && i < items->volume; i++) {
            bpl_value *one = bpl_item(session, call->right, i);
            items->at[i] = one ? index_of(session, stem ? stem : "", one) : NULL;
            bpl_release(one);
            if (items->at[i]) continue;
            bpl_items_free(session, items);
            items = NULL;
        }
        if (items) result = bpl_collect(session, items);
    }
    if (stem) base_free(session->allocator, stem, length + 1);
    return result;
}

/* ---- •edge ---------------------------------------------------------------------------------------------------------------------------------- */

typedef enum edge { EDGE_FILL, EDGE_CLAMP, EDGE_WRAP, EDGE_REFLECT, EDGE_SYMMETRIC, EDGES } edge;
static const char *const edges[EDGES] = {"fill", "clamp", "wrap", "reflect", "symmetric"};

/* Floats p as positions on an axis of n items: rows, so that positions that a map carries do as well. */
static wg_array *edge_positions(bpl_session *session, edge mode, double n, wg_array *p)
{
    wg_lazy *lazy = session->lazy;
    wg_array *zero = wg_array_number(lazy, WG_KIND_F64, 0), *last = wg_array_number(lazy, WG_KIND_F64, n - 1);
    wg_array *none = wg_array_number(lazy, WG_KIND_F64, (double)NAN);
    if (n == 0) return wg_array_full_like(p, (double)NAN);
    double period = mode == EDGE_REFLECT ? n > 1 ? 2 * (n - 1) : 1 : mode == EDGE_SYMMETRIC ? 2 * n : n;
    wg_array *turn = wg_array_residue(p, wg_array_number(lazy, WG_KIND_F64, period));
    switch (mode) {
    case EDGE_CLAMP: return wg_array_maximum(zero, wg_array_minimum(last, p));
    case EDGE_WRAP: return turn;
    case EDGE_REFLECT: return wg_array_minimum(turn, wg_array_sub(wg_array_number(lazy, WG_KIND_F64, period), turn));
    case EDGE_SYMMETRIC: return wg_array_minimum(turn, wg_array_sub(wg_array_number(lazy, WG_KIND_F64, period - 1), turn));
    default: break;
    }
    wg_array *inside = wg_array_logical_and(wg_array_less_equal(zero, p), wg_array_less_equal(p, last));
    return wg_array_select(inside, p, none);
}

/* Whole numbers all of them? *none: a NaN is among them. Not asked of what a map carries. */
static bool check_positions(bpl_session *session, const bpl_value *p, bool *none)
{
    wg_view view;
    *none = false;
    if (p->class != BPL_CLASS_FLOAT || wg_array_is_carried(bpl_array(p))) return true;
    if (!bpl_read(session, p, &view)) return false;
    for (int64_t i = 0; i < bpl_volume(p); i++) {
        double number = base_number_to_double(view.kind, base_number_load(view.kind, view.data, i));
        if (isnan(number)) *none = true;
        else if (number != floor(number) || isinf(number)) return bpl_fail(session, BPL_DOMAIN, "a position must be a whole number"), false;
    }
    return true;
}

static bpl_value *edge_apply(bpl_session *session, edge mode, bpl_value *length, bpl_value *p)
{
    int64_t n;
    bool none;
    if (!bpl_to_integer(session, length, "the length of an axis", &n)) return NULL;
    if (n < 0) return bpl_fail(session, BPL_DOMAIN, "the length of an axis is not negative");
    if (p->type != BPL_NUMBERS || !bpl_class_is_real(p->class)) return bpl_fail(session, BPL_DOMAIN, "•edge takes positions");
    if (!check_positions(session, p, &none)) return NULL;
    bool real = mode == EDGE_FILL || none || n == 0;
    wg_scope_open(session->lazy);
    wg_array *at = edge_positions(session, mode, (double)n, wg_array_convert(bpl_array(p), WG_KIND_F64));
    if (!real) at = wg_array_convert(at, WG_KIND_I64);
    bpl_value *made = bpl_own_array(session, at, real ? BPL_CLASS_FLOAT : BPL_CLASS_ORDINARY, p->atom, false);
    wg_scope_close(session->lazy);
    return bpl_settle_keys(session, made, bpl_keys_keep(p->keys));
}

static bool edge_of(bpl_session *session, const bpl_value *name, edge *mode)
{
    char *text;
    size_t length;
    if (!bpl_to_text(session, name, "a mode of •edge", &text, &length)) return false;
    for (*mode = 0; *mode < EDGES && strcmp(text, edges[*mode]);) ++*mode;
    base_free(session->allocator, text, length + 1);
    if (*mode < EDGES) return true;
    return bpl_fail(session, BPL_DOMAIN, "the modes of •edge are \"fill\", \"clamp\", \"wrap\", \"reflect\" and \"symmetric\""), false;
}

static bpl_value *call_edge(bpl_session *session, const bpl_call *call)
{
    edge mode;
    if (!call->left) return bpl_fail(session, BPL_SYNTAX, "a mode of •edge takes the length of an axis and positions");
    return edge_of(session, call->function->left, &mode) ? edge_apply(session, mode, call->left, call->right) : NULL;
}

static bpl_value *edge_function(bpl_session *session, bpl_value *name)
{
    edge mode;
    if (!edge_of(session, name, &mode)) return NULL;
    return bpl_native(session, BPL_SYSTEM_EDGE, call_edge, name);
}

bpl_value *bpl_system_edge(bpl_session *session, const bpl_call *call)
{
    if (call->left) return edge_apply(session, EDGE_FILL, call->left, call->right);
    if (call->right->type != BPL_ITEMS) return edge_function(session, call->right);
    bpl_items *items = bpl_items_new(session, bpl_rank(call->right), bpl_shape(call->right));
    for (int64_t i = 0; items && i < items->volume; i++) {
        if ((items->at[i] = edge_function(session, call->right->items->at[i]))) continue;
        bpl_items_free(session, items);
        return NULL;
    }
    return items ? bpl_collect(session, items) : NULL;
}
