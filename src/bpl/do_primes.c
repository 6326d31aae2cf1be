/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Prime factors of integers of 64 bits: trial division, then Pollard's rho (J. M. Pollard, A Monte Carlo method for factorization, 1975; cycles as
 * R. P. Brent finds them) with the test of Miller and Rabin, which with the first twelve primes as bases is exact here (J. Sorenson and J. Webster, 2015). */
#include "bpl/whole.h"

__extension__ typedef unsigned __int128 wide;

static uint64_t product_modulo(uint64_t a, uint64_t b, uint64_t n) { return (uint64_t)((wide)a * b % n); }

static uint64_t power_modulo(uint64_t base, uint64_t exponent, uint64_t n)
{
    uint64_t answer = 1;
    for (base %= n; exponent; exponent >>= 1, base = product_modulo(base, base, n))
        if (exponent & 1) answer = product_modulo(answer, base, n);
    return answer;
}

static const uint64_t first_primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};

static bool is_prime(uint64_t n)
{
    if (n < 2) return false;
    for (int i = 0; i < 12; i++)
        if (n % first_primes[i] == 0) return n == first_primes[i];
    uint64_t odd = n - 1;
    int twos = 0;
    for (; odd % 2 == 0; odd /= 2) twos++;
    for (int i = 0; i < 12; i++) {
        uint64_t x = power_modulo(first_primes[i], odd, n);
        bool passes = x == 1 || x == n - 1;
        for (int k = 1; !passes && k < twos; k++) passes = (x = product_modulo(x, x, n)) == n - 1;
        if (!passes) return false;
    }
    return true;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* A divisor of a composite number. */
static uint64_t divisor_of(uint64_t n)
{
    for (uint64_t shift = 1;; shift++) {
        uint64_t slow = 2, fast = 2, found = 1;
        for (uint64_t lap = 1; found == 1; lap *= 2) {
            slow = fast;
            for (uint64_t i = 0; i < lap && found == 1; i++) {
                fast = (uint64_t)(((wide)fast * fast + shift) % n);
                found = common_divisor(fast > slow ? fast - slow : slow - fast, n);
            }
        }
        if (found != n) return found;
    }
}

/* Factors of n in ascending order, at most 64. */
typedef struct factor_list {
    int64_t count;
    int64_t factors[64];
} factor_list;

static void add_factors(uint64_t n, factor_list *list)
{
    if (n == 1) return;
    if (!is_prime(n)) {
        uint64_t divisor = divisor_of(n);
        add_factors(divisor, list);
        add_factors(n / divisor, list);
        return;
    }
    int64_t at = list->count++;
    for (; at > 0 && list->factors[at - 1] > (int64_t)n; at--) list->factors[at] = list->factors[at - 1];
    list->factors[at] = (int64_t)n;
}

static bool factor(bpl_session *session, const bpl_value *value, factor_list *list)
{
    int64_t number;
    list->count = 0;
    if (!bpl_to_integer(session, value, "⨸: a number", &number)) return false;
    if (number < 1) return bpl_fail(session, BPL_DOMAIN, "⨸: %lld is not positive", (long long)number), false;
    uint64_t rest = (uint64_t)number;
    for (uint64_t small = 2; small < 300 && small * small <= rest; small += 1 + (small > 2))
        for (; rest % small == 0; rest /= small) list->factors[list->count++] = (int64_t)small;
    add_factors(rest, list);
    return true;
}

/* ---- functions ---- */

static bpl_value *factors_of(bpl_session *session, bpl_value *left, bpl_value *value)
{
    factor_list list;
    (void)left;
    return factor(session, value, &list) ? bpl_integers(session, list.factors, list.count) : NULL;
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
        if (distinct && primes[distinct - 1] == list->factors[i]) exponents[distinct - 1]++;
        else primes[distinct] = list->factors[i], exponents[distinct++] = 1;
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
        if (!is_prime(prime)) continue;
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
        if (!good || (made % 4096 == 0 && session->interrupted)) break;
        exponents[made] = 0;
        for (; at < list->count && list->factors[at] == (int64_t)prime; at++) exponents[made]++;
        made++;
    }
    while (good && !all && made < count) exponents[made++] = 0; /* no factor is left */
    if (good && session->interrupted) good = bpl_fail(session, BPL_INTERRUPT, "stopped") != NULL;
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
