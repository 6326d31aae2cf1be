/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The rules of ⍭, and of ¿ on one argument. Prime numbers are found on the host. */
#include "bpl/kinds.h"
#include "bpl/primes.h"

/* ---- whole numbers of any kind ----------------------------------------------------------------------------------------------------------------- */

/* Numbers as i64, read. DOMAIN where one is not whole. */
static bool whole_numbers(bpl_session *session, bpl_number a, const char *what, bpl_number *whole, wg_view *view)
{
    if (!bpl_real(session, &a)) return false;
    *whole = bpl_number_of(wg_array_convert(a.class == BPL_CLASS_FLOAT ? wg_array_round(a.array) : a.array, WG_KIND_I64), BPL_CLASS_ORDINARY);
    if (a.class == BPL_CLASS_FLOAT) {
        bpl_number back = bpl_convert(*whole, BPL_CLASS_FLOAT, bpl_number_kind(a));
        bool any;
        if (!bpl_any(session, wg_array_not(bpl_equal_numbers(session, a, back)), &any)) return false;
        if (any) return bpl_fail(session, BPL_DOMAIN, "%s takes whole numbers", what), false;
    }
    return (whole->array && wg_array_read(whole->array, view)) || (bpl_fail_lazy(session), false);
}

typedef struct map {
    bpl_session *session;
    wg_tensor *tensor;
    int64_t *to, volume;
} map;

static bool map_start(bpl_session *session, wg_array *like, map *m)
{
    m->session = session;
    m->volume = wg_array_volume(like);
    m->tensor = wg_tensor_new(session->context, WG_KIND_I64, wg_array_rank(like), wg_array_shape(like), NULL, NULL);
    m->to = m->tensor ? wg_tensor_data(m->tensor) : NULL;
    return m->tensor || (bpl_fail_memory(session), false);
}

static bpl_number map_end(map *m, bool good)
{
    if (good) return bpl_number_of(wg_array_of(m->session->lazy, m->tensor), BPL_CLASS_ORDINARY);
    wg_tensor_release(m->tensor);
    return bpl_nothing();
}

/* ---- ⍭ -------------------------------------------------------------------------------------------------------------------------------- */

static bool primes_at(bpl_session *session, const int64_t *index, map *m)
{
    int64_t most = -1;
    for (int64_t i = 0; i < m->volume; i++) {
        if (index[i] < 0) return bpl_fail(session, BPL_DOMAIN, "primes are counted from 0"), false;
        if (index[i] >= BPL_COUNTED_PRIMES)
            return bpl_fail(session, BPL_LIMIT, "⍭ goes up to the prime %lld", (long long)BPL_COUNTED_PRIMES - 1), false;
        most = index[i] > most ? index[i] : most;
    }
    uint32_t last = 0, *primes = NULL;
    size_t bytes = (size_t)(most + 1) * sizeof *primes;
    if (m->volume > 1 && !(primes = base_allocate(session->allocator, bytes + 1))) return bpl_fail_memory(session), false;
    bool good = bpl_first_primes(session, most + 1, primes, &last);
    for (int64_t i = 0; i < m->volume && good; i++) m->to[i] = primes ? primes[index[i]] : last;
    if (primes) base_free(session->allocator, primes, bytes + 1);
    return good;
}

bpl_number bpl_rule_nth_prime(bpl_session *session, bpl_number a)
{
    bpl_number whole;
    wg_view view;
    map m;
    if (!whole_numbers(session, a, "⍭", &whole, &view) || !map_start(session, whole.array, &m)) return bpl_nothing();
    return map_end(&m, primes_at(session, view.data, &m));
}

static bool prime_by_code(bpl_session *session, int64_t code, int64_t number, int64_t *result)
{
    switch (code) {
    case 1: *result = number > 1 && bpl_is_prime((uint64_t)number); return true;
    case 2: *result = (int64_t)bpl_prime_above(number < 0 ? 0 : (uint64_t)number);
        return *result > 0 || (bpl_fail(session, BPL_LIMIT, "the next prime does not fit in 64 bits"), false);
    case -2: *result = number > 2 ? (int64_t)bpl_prime_below((uint64_t)number) : 0;
        return *result || (bpl_fail(session, BPL_DOMAIN, "there is no prime below %lld", (long long)number), false);
    case 3: *result = number > 0 ? (int64_t)bpl_totient((uint64_t)number) : 0;
        return *result || (bpl_fail(session, BPL_DOMAIN, "the totient is of positive numbers"), false);
    default: return bpl_fail(session, BPL_DOMAIN, "%lld is no code of ⍭: they are ¯2 1 2 3", (long long)code), false;
    }
}

bpl_number bpl_rule_prime_code(bpl_session *session, bpl_number a, bpl_number b)
{
    bpl_number whole[2];
    wg_view views[2];
    if (!whole_numbers(session, a, "⍭", &whole[0], &views[0]) || !whole_numbers(session, b, "⍭", &whole[1], &views[1])) return bpl_nothing();
    wg_array *arrays[2] = {whole[0].array, whole[1].array}, *pair[2];
    if (!bpl_read_pair(session, arrays, pair, views)) return bpl_nothing();
    map m;
    bool good = true, tests = true;
    if (!map_start(session, pair[0], &m)) return bpl_nothing();
    for (int64_t i = 0; i < m.volume && good; i++) {
        int64_t code = ((const int64_t *)views[0].data)[i];
        tests = tests && code == 1;
        good = prime_by_code(session, code, ((const int64_t *)views[1].data)[i], &m.to[i]);
    }
    bpl_number result = map_end(&m, good);
    return tests && m.volume && result.array ? bpl_convert(result, BPL_CLASS_BOOLEAN, WG_KIND_BOOL) : result;
}

/* ---- ¿ -------------------------------------------------------------------------------------------------------------------------------- */

/* Numbers in [0, 1) of a float kind. */
static wg_array *uniform(bpl_session *session, wg_array *like, wg_kind kind)
{
    wg_array *key = bpl_draw_key(session);
    wg_kind drawn = kind == WG_KIND_F16 ? WG_KIND_F32 : kind;
    wg_array *draw = key ? wg_array_uniform(key, drawn, wg_array_rank(like), wg_array_shape(like), 0, 1) : NULL;
    return draw && drawn != kind ? wg_array_convert(draw, kind) : draw;
}

static wg_array *integers_below(bpl_session *session, wg_array *limits)
{
    wg_array *key = bpl_draw_key(session);
    return key ? wg_array_draw_integers(key, wg_array_zeros_like(limits), limits) : NULL;
}

static bpl_number rolled(bpl_session *session, bpl_number a)
{
    bpl_number whole;
    wg_view view;
    if (!bpl_act(session, "a draw") || !whole_numbers(session, a, "¿", &whole, &view) || !bpl_numeric(session, &a)) return bpl_nothing();
    const int64_t *limits = view.data;
    int64_t volume = wg_array_volume(whole.array), zeros = 0;
    for (int64_t i = 0; i < volume; i++) {
        if (limits[i] < 0) return bpl_fail(session, BPL_DOMAIN, "¿ draws below numbers that are not negative"), bpl_nothing();
        zeros += limits[i] == 0;
    }
    bpl_number floats = bpl_floats(session, a);
    bool integral = bpl_is_integral(a);
    a = bpl_counted(a);
    floats.weak = false;
    if (zeros == volume && volume) return bpl_like(floats, uniform(session, whole.array, bpl_number_kind(floats)));
    if (!zeros && integral) return bpl_like(a, wg_array_convert(integers_below(session, whole.array), bpl_number_kind(a)));
    if (!zeros) return bpl_like(floats, wg_array_convert(integers_below(session, whole.array), bpl_number_kind(floats)));
    wg_array *none = wg_array_equal_scalar(whole.array, 0), *one = wg_array_ones_like(whole.array), *some = wg_array_select(none, one, whole.array);
    wg_array *drawn = wg_array_convert(integers_below(session, some), bpl_number_kind(floats)),
             *parts = uniform(session, whole.array, bpl_number_kind(floats));
    return bpl_like(floats, wg_array_select(none, parts, drawn));
}

bpl_number bpl_rule_roll(bpl_session *session, bpl_number a)
{
    bpl_number drawn = rolled(session, a);
    drawn.nonnegative = true;
    return drawn;
}
