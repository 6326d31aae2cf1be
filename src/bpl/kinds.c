/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Kinds of numbers: how two of them join, what is promoted, and what is known of values without a read. */
#include "bpl/cells.h"
#include "bpl/kinds.h"

/* ---- classes ------------------------------------------------------------------------------------------------------------------------------ */

bool bpl_numeric(bpl_session *session, bpl_number *a)
{
    if (a->class != BPL_CLASS_CHARACTER) return a->array != NULL;
    if (wg_array_volume(a->array)) return bpl_fail(session, BPL_DOMAIN, "numbers are expected, not characters"), false;
    wg_kind kind = session->preferences.float_kind;
    *a = (bpl_number){wg_array_zeros(session->lazy, kind, wg_array_rank(a->array), wg_array_shape(a->array)), BPL_CLASS_FLOAT, a->weak, true};
    return a->array != NULL;
}

bool bpl_real(bpl_session *session, bpl_number *a)
{
    if (!bpl_numeric(session, a)) return false;
    if (a->class == BPL_CLASS_COMPLEX) *a = bpl_settled(session, *a); /* a part of a complex array may be real */
    if (!a->array) return false;
    return a->class != BPL_CLASS_COMPLEX || (bpl_fail(session, BPL_DOMAIN, "real numbers are expected, not complex ones"), false);
}

bpl_number bpl_convert(bpl_number a, bpl_class class, wg_kind kind)
{
    bool nonnegative = a.nonnegative || a.class == BPL_CLASS_BOOLEAN;
    wg_array *array = bpl_number_kind(a) == kind ? a.array : wg_array_convert(a.array, kind);
    return (bpl_number){array, (uint8_t)class, a.weak, nonnegative && class < BPL_CLASS_COMPLEX};
}

bpl_number bpl_counted(bpl_number a)
{
    return a.class == BPL_CLASS_BOOLEAN ? bpl_convert(a, BPL_CLASS_ORDINARY, WG_KIND_I64) : a;
}

static wg_kind float_of_fixed(wg_kind kind)
{
    return kind == WG_KIND_U8 || kind == WG_KIND_I16 ? WG_KIND_F32 : WG_KIND_F64;
}

bpl_number bpl_floats(bpl_session *session, bpl_number a)
{
    if (!a.array || a.class >= BPL_CLASS_FLOAT) return a;
    bool fixed = a.class == BPL_CLASS_FIXED;
    wg_kind kind = fixed ? float_of_fixed(bpl_number_kind(a)) : session->preferences.float_kind;
    return (bpl_number){wg_array_convert(a.array, kind), BPL_CLASS_FLOAT, !fixed, bpl_is_nonnegative(a)};
}

bpl_number bpl_complexes(bpl_number a)
{
    if (!a.array || a.class == BPL_CLASS_COMPLEX) return a;
    return bpl_convert(a, BPL_CLASS_COMPLEX, bpl_number_kind(a) == WG_KIND_F64 ? WG_KIND_C128 : WG_KIND_C64);
}

bpl_number bpl_settled(bpl_session *session, bpl_number a)
{
    if (!a.array || a.class != BPL_CLASS_COMPLEX || session->preferences.static_kinds) return a;
    bool any;
    if (!bpl_any(session, wg_array_not_equal_scalar(wg_array_imag(a.array), 0), &any)) return bpl_nothing();
    return any ? a : (bpl_number){wg_array_real(a.array), BPL_CLASS_FLOAT, a.weak, false};
}

/* ---- joins ---------------------------------------------------------------------------------------------------------------------------------- */

/* Of fixed kinds (u8 i16 i32 i64) or of floats: each holds the ones before it. */
static wg_kind wider(wg_kind a, wg_kind b)
{
    return wg_kind_bytes(a) >= wg_kind_bytes(b) ? a : b;
}

/* The kinds of the parts of floats and complex numbers. */
static wg_kind part_kind(wg_kind kind)
{
    return kind == WG_KIND_C64 ? WG_KIND_F32 : kind == WG_KIND_C128 ? WG_KIND_F64 : kind;
}

bpl_form bpl_join_floats(bpl_form a, bpl_form b)
{
    bool complex = a.class == BPL_CLASS_COMPLEX || b.class == BPL_CLASS_COMPLEX;
    wg_kind left = part_kind(a.kind), right = part_kind(b.kind), part;
    if (a.class < BPL_CLASS_FLOAT) part = right;
    else if (b.class < BPL_CLASS_FLOAT) part = left;
    else if (a.weak != b.weak) part = a.weak ? right : left;
    else part = wider(left, right);
    bool weak = (a.weak || a.class < BPL_CLASS_FIXED) && (b.weak || b.class < BPL_CLASS_FIXED);
    if (!complex) return (bpl_form){BPL_CLASS_FLOAT, weak, part};
    return (bpl_form){BPL_CLASS_COMPLEX, weak, part == WG_KIND_F64 ? WG_KIND_C128 : WG_KIND_C64};
}

bool bpl_fits(wg_kind kind, int64_t number)
{
    base_number same;
    return base_number_exact((base_number){.i = number}, WG_KIND_I64, kind, &same);
}

/* A weak ordinary scalar takes the fixed kind that it meets, where that holds it. */
static bool fix_scalar(bpl_session *session, bpl_number *ordinary, wg_kind kind)
{
    int64_t number = 0;
    bool none = wg_array_volume(ordinary->array) == 0;
    if (!none && !wg_array_int64(ordinary->array, &number)) return bpl_fail_lazy(session), false;
    if (!bpl_fits(kind, number))
        return bpl_fail(session, BPL_DOMAIN, "%lld does not fit the fixed integer of %zu byte%s that it meets: mark one of the two",
                        (long long)number,
                        wg_kind_bytes(kind), wg_kind_bytes(kind) == 1 ? "" : "s"), false;
    *ordinary = bpl_convert(*ordinary, BPL_CLASS_FIXED, kind);
    ordinary->weak = false;
    return ordinary->array != NULL;
}

static bool both(bpl_number *a, bpl_number *b, bpl_class class, wg_kind kind)
{
    *a = bpl_convert(*a, class, kind);
    *b = bpl_convert(*b, class, kind);
    a->weak = b->weak = false;
    return a->array && b->array;
}

static bool join_fixed(bpl_session *session, bpl_number *fixed, bpl_number *other)
{
    wg_kind kind = bpl_number_kind(*fixed);
    if (other->class == BPL_CLASS_FIXED) return both(fixed, other, BPL_CLASS_FIXED, wider(kind, bpl_number_kind(*other)));
    if (other->class == BPL_CLASS_BOOLEAN) return both(fixed, other, BPL_CLASS_FIXED, kind);
    if (other->weak) return fix_scalar(session, other, kind);
    return both(fixed, other, BPL_CLASS_ORDINARY, WG_KIND_I64);
}

bool bpl_join(bpl_session *session, bpl_number *a, bpl_number *b)
{
    if (!bpl_numeric(session, a) || !bpl_numeric(session, b)) return false;
    bool same = a->class == b->class && bpl_number_kind(*a) == bpl_number_kind(*b) && a->weak == b->weak;
    if (same && a->class != BPL_CLASS_BOOLEAN) return true;
    uint8_t class = a->class > b->class ? a->class : b->class;
    if (class <= BPL_CLASS_ORDINARY) return both(a, b, BPL_CLASS_ORDINARY, WG_KIND_I64);
    if (class == BPL_CLASS_FIXED) return a->class == BPL_CLASS_FIXED ? join_fixed(session, a, b) : join_fixed(session, b, a);
    bpl_form form = bpl_join_floats(bpl_form_of(*a), bpl_form_of(*b));
    bool good = both(a, b, form.class, form.kind);
    a->weak = b->weak = form.weak;
    return good;
}

bool bpl_join_compared(bpl_session *session, bpl_number *a, bpl_number *b)
{
    if (!bpl_numeric(session, a) || !bpl_numeric(session, b)) return false;
    if (a->class == b->class && bpl_number_kind(*a) == bpl_number_kind(*b)) return true;
    if (a->class <= BPL_CLASS_FIXED && b->class <= BPL_CLASS_FIXED) return both(a, b, BPL_CLASS_ORDINARY, WG_KIND_I64);
    return bpl_join(session, a, b);
}

/* ---- what is known, what is read -------------------------------------------------------------------------------------------------------------- */

bool bpl_known(bpl_number a, double *number)
{
    if (a.class >= BPL_CLASS_COMPLEX || wg_array_rank(a.array) || wg_array_is_pending(a.array) || wg_array_is_carried(a.array)) return false;
    return wg_array_double(a.array, number);
}

bool bpl_is_nonnegative(bpl_number a)
{
    double number;
    if (a.nonnegative || a.class == BPL_CLASS_BOOLEAN || (a.class == BPL_CLASS_FIXED && bpl_number_kind(a) == WG_KIND_U8)) return true;
    return bpl_known(a, &number) && number >= 0;
}

/* Whether any item is true, or all (every). */
static bool truth_of_all(bpl_session *session, wg_array *mask, bool every, bool *truth)
{
    int64_t number;
    wg_array *one = !mask || wg_array_rank(mask) == 0 ? mask : every ? wg_array_all(mask, WG_ALL_AXES, false) : wg_array_any(mask, WG_ALL_AXES, false);
    if (!one || !wg_array_int64(one, &number)) return bpl_failed(session) ? false : (bpl_fail_lazy(session), false);
    return *truth = number != 0, true;
}

bool bpl_any(bpl_session *session, wg_array *mask, bool *any)
{
    bool every = false;
    wg_array *whole = mask && wg_array_is_carried(mask) ? wg_array_whole(mask) : mask;
    if (!truth_of_all(session, whole, false, any)) return false;
    if (!*any || wg_array_rank(whole) == wg_array_rank(mask)) return true;
    /* Of which cells? */
    wg_array *cell = wg_array_rank(mask) ? wg_array_any(mask, WG_ALL_AXES, false) : mask, *cells = cell ? wg_array_whole(cell) : NULL;
    if (!session->masks && !truth_of_all(session, cells, true, &every)) return false;
    return every || (bpl_differ(session, cells), false);
}

bool bpl_found(bpl_session *session, wg_array *mask, bool *any)
{
    *any = false;
    return session->preferences.static_kinds ? mask != NULL : bpl_any(session, mask, any);
}

bool bpl_read_pair(bpl_session *session, wg_array *wide[2], wg_array *pair[2], wg_view views[2])
{
    if (wg_array_broadcast_arrays(wide, 2, pair) && wg_array_run(pair, 2) && wg_array_read(pair[0], &views[0]) && wg_array_read(pair[1], &views[1]))
        return true;
    return bpl_fail_lazy(session), false;
}

/* ---- tolerance -------------------------------------------------------------------------------------------------------------------------------- */

bool bpl_is_tolerant(const bpl_session *session, wg_kind kind)
{
    return session->preferences.mathish && (kind == WG_KIND_F64 || kind == WG_KIND_C128);
}

wg_array *bpl_tolerance_of(wg_array *a)
{
    return wg_array_mul_scalar(wg_array_abs(a), BPL_TOLERANCE);
}

wg_array *bpl_near(wg_array *a, wg_array *b)
{
    wg_array *equal = wg_array_equal(a, b), *apart = wg_array_abs(wg_array_sub(a, b)), *room = bpl_tolerance_of(a);
    return wg_array_or(equal, wg_array_less(apart, room)); /* strictly: an infinite distance is none */
}

bool bpl_near_numbers(double a, double b)
{
    double apart = a > b ? a - b : b - a, size = a < 0 ? -a : a;
    return a == b || apart < size * BPL_TOLERANCE;
}
