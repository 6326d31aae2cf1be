/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * ⨸: prime factors of integers of 64 bits, and their exponents. */
#include "bpl/primes.h"
#include "bpl/whole.h"

/* Factors of a number in ascending order. */
typedef struct factor_list {
    int64_t count;
    uint64_t factors[BPL_MOST_FACTORS];
} factor_list;

static bool factor(bpl_session *session, const bpl_value *value, factor_list *list)
{
    int64_t number;
    list->count = 0;
    if (!bpl_to_integer(session, value, "⨸: a number", &number)) return false;
    if (number < 1) return bpl_fail(session, BPL_DOMAIN, "⨸: %lld is not positive", (long long)number), false;
    list->count = bpl_factors((uint64_t)number, list->factors);
    return true;
}

/* ---- functions ---- */

static bpl_value *factors_of(bpl_session *session, bpl_value *left, bpl_value *value)
{
    factor_list list;
    (void)left;
    return factor(session, value, &list) ? bpl_integers(session, (const int64_t *)list.factors, list.count) : NULL;
}

bpl_value *bpl_do_factors(bpl_session *session, const bpl_call *call)
{
    return call->right->atom ? factors_of(session, NULL, call->right) : bpl_by_items(session, NULL, call->right, factors_of);
}

/* Distinct factors above their exponents: the last `rows`, or all of them. */
static bpl_value *factor_table(bpl_session *session, const factor_list *list, int64_t wanted)
{
    int64_t distinct = 0, primes[64], exponents[64], numbers[128];
    for (int64_t i = 0; i < list->count; i++) {
        if (distinct && primes[distinct - 1] == (int64_t)list->factors[i]) exponents[distinct - 1]++;
        else primes[distinct] = (int64_t)list->factors[i], exponents[distinct++] = 1;
    }
    int64_t columns = wanted < distinct ? wanted : distinct, skipped = distinct - columns;
    for (int64_t i = 0; i < columns; i++) numbers[i] = primes[skipped + i], numbers[columns + i] = exponents[skipped + i];
    return bpl_numbers(session, BPL_CLASS_ORDINARY, WG_KIND_I64, 2, (int64_t[]){2, columns}, numbers);
}

/* How often each of the first `count` primes (of all up to the greatest factor) divides. */
static bpl_value *exponent_vector(bpl_session *session, const factor_list *list, int64_t count, bool all)
{
    int64_t limit = session->preferences.limit, made = 0, capacity = all ? 64 : count, at = 0;
    if (!all && count > limit) return bpl_fail(session, BPL_LIMIT, "⨸: an array has at most %lld items", (long long)limit);
    size_t bytes = ((size_t)capacity + 1) * sizeof(int64_t);
    int64_t *exponents = base_allocate(session->allocator, bytes);
    bool good = exponents || bpl_fail_memory(session);
    for (uint64_t prime = 2; good && at < list->count && (all || made < count); prime += 1 + (prime > 2)) {
        if (!bpl_is_prime(prime)) continue;
        if (made == limit) good = bpl_fail(session, BPL_LIMIT, "⨸: an array has at most %lld items", (long long)limit) != NULL;
        if (good && made == capacity) {
            int64_t *more = base_allocate(session->allocator, (2 * (size_t)capacity + 1) * sizeof *more);
            if (!(good = more || bpl_fail_memory(session))) break;
            for (int64_t i = 0; i < made; i++) more[i] = exponents[i];
            base_free(session->allocator, exponents, bytes);
            exponents = more;
            capacity *= 2;
            bytes = ((size_t)capacity + 1) * sizeof *more;
        }
        if (!good || (made % 4096 == 0 && !(good = bpl_go_on(session)))) break;
        exponents[made] = 0;
        for (; at < list->count && list->factors[at] == prime; at++) exponents[made]++;
        made++;
    }
    while (good && !all && made < count) exponents[made++] = 0; /* no factor is left */
    bpl_value *result = good ? bpl_integers(session, exponents, made) : NULL;
    if (exponents) base_free(session->allocator, exponents, bytes);
    return result;
}

static bpl_value *exponents_of(bpl_session *session, bpl_value *wanted, bpl_value *value)
{
    int64_t *numbers, count;
    factor_list list;
    if (!bpl_to_integers(session, wanted, "⨸: how many primes", true, &numbers, &count)) return NULL;
    int64_t number = count ? numbers[0] : 0;
    bpl_free_integers(session, numbers, count);
    if (!factor(session, value, &list)) return NULL;
    if (number < 0) return factor_table(session, &list, number == INT64_MIN ? INT64_MAX : -number);
    return exponent_vector(session, &list, number, number == INT64_MAX);
}

bpl_value *bpl_do_exponents(bpl_session *session, const bpl_call *call)
{
    if (call->left->atom && call->right->atom) return exponents_of(session, call->left, call->right);
    return bpl_by_items(session, call->left, call->right, exponents_of);
}
