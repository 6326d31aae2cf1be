/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Unbounded integers and rationals: ᵣ. Every number is a quotient in lowest terms. Among each other and with integers they stay exact; with floats,
 * and in functions that are not rational, they are taken as floats. Without GMP every one of them is refused. */
#include <string.h>

#include "base/bits.h"
#include "bpl/kinds.h"

#if !HAVE_GMP

static void *refuse(bpl_session *session)
{
    return bpl_fail(session, BPL_UNSUPPORTED, "unbounded numbers (ᵣ) are not supported: this library was built without GMP");
}

void bpl_rational_free(bpl_session *session, bpl_rational *rational) { (void)session, (void)rational; }
bool bpl_rational_read(bpl_session *session, const bpl_rational *rational, double *number, int64_t *integer, bool *exact)
{
    (void)rational, (void)number, (void)integer, (void)exact;
    return refuse(session), false;
}
bpl_value *bpl_rational_call(bpl_session *session, uint16_t row, bpl_value *left, bpl_value *right)
{
    (void)row, (void)left, (void)right;
    return refuse(session);
}
bpl_value *bpl_rational_mark(bpl_session *session, uint16_t row, bpl_value *left, bpl_value *right)
{
    return bpl_rational_call(session, row, left, right);
}
bpl_value *bpl_rational_of(bpl_session *session, bpl_value *value) { return (void)value, refuse(session); }
bpl_value *bpl_rational_parse(bpl_session *session, const char *above, size_t above_length, const char *below, size_t below_length)
{
    (void)above, (void)above_length, (void)below, (void)below_length;
    return refuse(session);
}
bool bpl_rational_match(bpl_session *session, const bpl_value *a, const bpl_value *b, bool *same)
{
    (void)a, (void)b, (void)same;
    return refuse(session), false;
}
bool bpl_rational_compare(bpl_session *session, const bpl_value *a, const bpl_value *b, int *order)
{
    return bpl_rational_match(session, a, b, &(bool){false}) && order;
}
bool bpl_rational_print(bpl_session *session, const bpl_rational *rational, base_string *out)
{
    (void)rational, (void)out;
    return refuse(session), false;
}

#else

#include <gmp.h>

struct bpl_rational {
    mpq_t number;
};

/* Results with more bits are refused before they are computed: GMP ends the process where memory ends. */
#define MOST_BITS ((uint64_t)1 << 27)

/* ---- values ----------------------------------------------------------------------------------------------------------------------------------- */

void bpl_rational_free(bpl_session *session, bpl_rational *rational)
{
    mpq_clear(rational->number);
    base_free(session->allocator, rational, sizeof *rational);
}

/* A value of a quotient in lowest terms, which is taken over. */
static bpl_value *give(bpl_session *session, mpq_t number)
{
    bpl_rational *rational = base_allocate(session->allocator, sizeof *rational);
    if (!rational) return bpl_fail_memory(session);
    mpq_init(rational->number);
    mpq_swap(rational->number, number);
    return bpl_of_rational(session, rational);
}

static uint64_t bits_of(mpq_srcptr number)
{
    return mpz_sizeinbase(mpq_numref(number), 2) + mpz_sizeinbase(mpq_denref(number), 2);
}

static bool too_large(bpl_session *session, double bits)
{
    if (bits <= (double)MOST_BITS) return false;
    bpl_fail(session, BPL_LIMIT, "an unbounded number of more than %llu bits", (unsigned long long)MOST_BITS);
    return true;
}

static bool is_whole(mpq_srcptr number)
{
    return mpz_cmp_ui(mpq_denref(number), 1) == 0;
}

/* The nearest double: of the quotient that mpq_get_d cuts off and the one beyond it. */
static double nearest(mpq_srcptr number)
{
    double cut = mpq_get_d(number);
    if (cut - cut != 0) return cut;
    double beyond = base_f64_of_bits(base_bits_of_f64(cut) + 1);
    if (cut == 0) beyond = mpq_sgn(number) < 0 ? -0x1p-1074 : 0x1p-1074;
    if (beyond - beyond != 0) return cut;
    mpq_t low, high;
    mpq_inits(low, high, NULL);
    mpq_set_d(low, cut);
    mpq_set_d(high, beyond);
    mpq_sub(low, number, low);
    mpq_sub(high, high, number);
    mpq_abs(low, low);
    mpq_abs(high, high);
    int order = mpq_cmp(low, high);
    mpq_clears(low, high, NULL);
    return order > 0 || (order == 0 && base_bits_of_f64(cut) & 1) ? beyond : cut;
}

bool bpl_rational_read(bpl_session *session, const bpl_rational *rational, double *number, int64_t *integer, bool *exact)
{
    (void)session;
    *number = nearest(rational->number);
    *exact = is_whole(rational->number) && mpz_fits_slong_p(mpq_numref(rational->number));
    if (*exact) *integer = mpz_get_si(mpq_numref(rational->number));
    return true;
}

/* A float of the session's width, weak, as integers are in floats' company. */
static bpl_value *as_float(bpl_session *session, mpq_srcptr number)
{
    return bpl_float(session, nearest(number));
}

/* Loads a number atom exactly. False: it is no finite real number (no error). */
static bool load(bpl_session *session, const bpl_value *value, mpq_t number)
{
    if (value->type == BPL_RATIONAL) return mpq_set(number, value->rational->number), true;
    wg_view view;
    if (value->type != BPL_NUMBERS || value->class == BPL_CLASS_COMPLEX || !bpl_read(session, value, &view)) return false;
    base_number item = base_number_load(view.kind, view.data, 0);
    if (value->class != BPL_CLASS_FLOAT) return mpq_set_si(number, item.i, 1), true;
    double real = base_number_to_double(view.kind, item);
    if (real - real != 0) return false;
    return mpq_set_d(number, real), true;
}

/* ---- one argument --------------------------------------------------------------------------------------------------------------------- */

static bpl_value *whole_of(bpl_session *session, mpq_t number, bool up)
{
    mpz_t whole;
    mpz_init(whole);
    if (up) mpz_cdiv_q(whole, mpq_numref(number), mpq_denref(number));
    else mpz_fdiv_q(whole, mpq_numref(number), mpq_denref(number));
    mpq_set_z(number, whole);
    mpz_clear(whole);
    return give(session, number);
}

static bpl_value *factorial(bpl_session *session, mpq_t number)
{
    unsigned long n = mpz_get_ui(mpq_numref(number));
    if (!mpz_fits_ulong_p(mpq_numref(number)) || too_large(session, (double)n * 32 - 64)) return too_large(session, 1e300), NULL;
    mpz_fac_ui(mpq_numref(number), n);
    return give(session, number);
}

static bpl_value *stepped(bpl_session *session, mpq_t number, bool up)
{
    if (up) mpz_add(mpq_numref(number), mpq_numref(number), mpq_denref(number));
    else mpz_sub(mpq_numref(number), mpq_numref(number), mpq_denref(number));
    return give(session, number);
}

static bpl_value *of_two(bpl_session *session, uint16_t row, mpq_t a, mpq_t b, bool *served);

/* A function of one exact number. *served false: it has no exact result. */
static bpl_value *of_one(bpl_session *session, uint16_t row, mpq_t a, bool *served)
{
    switch (row) {
    case BPL_GLYPH_PLUS: return give(session, a);
    case BPL_GLYPH_MINUS: return mpq_neg(a, a), give(session, a);
    case BPL_GLYPH_TIMES: return mpq_set_si(a, mpq_sgn(a), 1), give(session, a);
    case BPL_GLYPH_RESIDUE: return mpq_abs(a, a), give(session, a);
    case BPL_GLYPH_FLOOR: return whole_of(session, a, false);
    case BPL_GLYPH_CEILING: return whole_of(session, a, true);
    case BPL_GLYPH_GREATER_EQUAL: return stepped(session, a, true);
    case BPL_GLYPH_LESS_EQUAL: return stepped(session, a, false);
    case BPL_GLYPH_NOR: return mpq_mul_2exp(a, a, 1), give(session, a);
    case BPL_GLYPH_NAND: return of_two(session, BPL_GLYPH_TIMES, a, a, served);
    case BPL_GLYPH_DIVIDE:
        if (!mpq_sgn(a)) return bpl_fail(session, BPL_DOMAIN, "an exact number is divided by 0");
        return mpq_inv(a, a), give(session, a);
    case BPL_GLYPH_FACTORIAL:
        if (is_whole(a) && mpq_sgn(a) >= 0) return factorial(session, a);
        break;
    }
    return *served = false, NULL;
}

/* ---- two arguments -------------------------------------------------------------------------------------------------------------------- */

static bpl_value *quotient(bpl_session *session, mpq_t a, mpq_t b)
{
    if (!mpq_sgn(b) && !mpq_sgn(a)) return give(session, a);
    if (!mpq_sgn(b)) return bpl_fail(session, BPL_DOMAIN, "an exact number is divided by 0");
    mpq_div(a, a, b);
    return give(session, a);
}

/* b - a × ⌊ b ÷ a. */
static bpl_value *residue(bpl_session *session, mpq_t a, mpq_t b)
{
    if (!mpq_sgn(a)) return give(session, b);
    mpq_t times;
    mpq_init(times);
    mpq_div(times, b, a);
    mpz_fdiv_q(mpq_numref(times), mpq_numref(times), mpq_denref(times));
    mpz_set_ui(mpq_denref(times), 1);
    mpq_mul(times, times, a);
    mpq_sub(b, b, times);
    mpq_clear(times);
    return give(session, b);
}

static bpl_value *power(bpl_session *session, mpq_t a, mpq_t b, bool *served)
{
    mpz_ptr exponent = mpq_numref(b);
    if (!is_whole(b)) return *served = false, NULL;
    bool turned = mpz_sgn(exponent) < 0, trivial = is_whole(a) && mpz_cmpabs_ui(mpq_numref(a), 1) <= 0;
    if (turned && !mpq_sgn(a)) return bpl_fail(session, BPL_DOMAIN, "0 to a negative power");
    mpz_abs(exponent, exponent);
    if (trivial) mpz_set_ui(exponent, mpz_sgn(exponent) ? 2 - mpz_odd_p(exponent) : 0);
    if (!mpz_fits_ulong_p(exponent) || too_large(session, (double)mpz_get_ui(exponent) * (double)bits_of(a) / 2))
        return too_large(session, 1e300), NULL;
    unsigned long times = mpz_get_ui(exponent);
    mpz_pow_ui(mpq_numref(a), mpq_numref(a), times);
    mpz_pow_ui(mpq_denref(a), mpq_denref(a), times);
    if (turned) mpq_inv(a, a);
    return give(session, a);
}

/* The divisor of quotients: that of the numerators over a common denominator. */
static void divide_commonly(mpq_t a, mpq_t b, mpq_t divisor)
{
    mpz_t left, right;
    mpz_inits(left, right, NULL);
    mpz_mul(left, mpq_numref(a), mpq_denref(b));
    mpz_mul(right, mpq_numref(b), mpq_denref(a));
    mpz_gcd(mpq_numref(divisor), left, right);
    mpz_mul(mpq_denref(divisor), mpq_denref(a), mpq_denref(b));
    mpq_canonicalize(divisor);
    mpz_clears(left, right, NULL);
}

static bpl_value *divisor(bpl_session *session, mpq_t a, mpq_t b, bool multiple)
{
    mpq_t common;
    mpq_init(common);
    divide_commonly(a, b, common);
    if (multiple && mpq_sgn(common)) {
        mpq_div(b, b, common);
        mpq_mul(common, a, b);
    }
    bpl_value *result = give(session, common);
    mpq_clear(common);
    return result;
}

static bpl_value *binomial(bpl_session *session, mpq_t a, mpq_t b, bool *served)
{
    mpz_ptr k = mpq_numref(a), n = mpq_numref(b);
    if (!is_whole(a) || !is_whole(b) || mpz_sgn(k) < 0 || !mpz_fits_ulong_p(k)) return *served = false, NULL;
    double least = mpz_get_d(k), rest = mpz_get_d(n) - least;
    if (rest >= 0 && rest < least) least = rest;
    if (too_large(session, least * (double)(mpz_sizeinbase(n, 2) + 1))) return NULL;
    mpz_bin_ui(n, n, mpz_get_ui(k));
    return give(session, b);
}

/* Is it a prime (beyond 64 bits: most probably), and the next one. Other codes go by 64 bits. */
static bpl_value *prime(bpl_session *session, mpq_t code, mpq_t b, bool *served)
{
    if (!is_whole(code) || !is_whole(b)) return *served = false, NULL;
    if (mpz_cmp_ui(mpq_numref(code), 1) == 0) return bpl_boolean(session, mpz_probab_prime_p(mpq_numref(b), 25) > 0 && mpq_sgn(b) > 0);
    if (mpz_cmp_ui(mpq_numref(code), 2)) return *served = false, NULL;
    if (mpz_sizeinbase(mpq_numref(b), 2) > 4096) return bpl_fail(session, BPL_LIMIT, "the next prime above a number of more than 4096 bits");
    mpz_nextprime(mpq_numref(b), mpq_numref(b));
    return give(session, b);
}

static bpl_value *of_two(bpl_session *session, uint16_t row, mpq_t a, mpq_t b, bool *served)
{
    if (too_large(session, (double)bits_of(a) + (double)bits_of(b))) return NULL;
    switch (row) {
    case BPL_GLYPH_PLUS: return mpq_add(a, a, b), give(session, a);
    case BPL_GLYPH_MINUS: return mpq_sub(a, a, b), give(session, a);
    case BPL_GLYPH_TIMES: return mpq_mul(a, a, b), give(session, a);
    case BPL_GLYPH_DIVIDE: return quotient(session, a, b);
    case BPL_GLYPH_FLOOR: return give(session, mpq_cmp(a, b) <= 0 ? a : b);
    case BPL_GLYPH_CEILING: return give(session, mpq_cmp(a, b) >= 0 ? a : b);
    case BPL_GLYPH_RESIDUE: return residue(session, a, b);
    case BPL_GLYPH_POWER: return power(session, a, b, served);
    case BPL_GLYPH_FACTORIAL: return binomial(session, a, b, served);
    case BPL_GLYPH_PRIME: return prime(session, a, b, served);
    case BPL_GLYPH_OR: return divisor(session, a, b, false);
    case BPL_GLYPH_AND: return divisor(session, a, b, true);
    case BPL_GLYPH_EQUAL: return bpl_boolean(session, mpq_equal(a, b));
    case BPL_GLYPH_UNEQUAL: return bpl_boolean(session, !mpq_equal(a, b));
    case BPL_GLYPH_LESS: return bpl_boolean(session, mpq_cmp(a, b) < 0);
    case BPL_GLYPH_LESS_EQUAL: return bpl_boolean(session, mpq_cmp(a, b) <= 0);
    case BPL_GLYPH_GREATER: return bpl_boolean(session, mpq_cmp(a, b) > 0);
    case BPL_GLYPH_GREATER_EQUAL: return bpl_boolean(session, mpq_cmp(a, b) >= 0);
    default: return *served = false, NULL;
    }
}

/* ---- the entry ------------------------------------------------------------------------------------------------------------------------ */

static bool is_exact(const bpl_value *value)
{
    return value->type == BPL_RATIONAL || (value->type == BPL_NUMBERS && value->class <= BPL_CLASS_FIXED);
}

static bpl_value *as_floats(bpl_session *session, uint16_t row, bpl_value *left, bpl_value *right)
{
    bpl_value *l = left && left->type == BPL_RATIONAL ? as_float(session, left->rational->number) : bpl_keep(left);
    bpl_value *r = right->type == BPL_RATIONAL ? as_float(session, right->rational->number) : bpl_keep(right);
    bpl_value *result = r && (l || !left) ? bpl_pervade(session, row, l, r) : NULL;
    bpl_release(l);
    bpl_release(r);
    return result;
}

bpl_value *bpl_rational_call(bpl_session *session, uint16_t row, bpl_value *left, bpl_value *right)
{
    if (!is_exact(right) || (left && !is_exact(left) && row != BPL_GLYPH_PRIME)) return as_floats(session, row, left, right);
    mpq_t a, b;
    mpq_inits(a, b, NULL);
    bool served = true, good = load(session, right, b) && (!left || load(session, left, a));
    bpl_value *result = NULL;
    if (good) result = left ? of_two(session, row, a, b, &served) : of_one(session, row, b, &served);
    mpq_clears(a, b, NULL);
    return (good && served) || bpl_failed(session) ? result : as_floats(session, row, left, right);
}

/* ---- marks ---------------------------------------------------------------------------------------------------------------------------- */

/* The whole number below, modulo 2^64: integers wrap. */
static int64_t wrapped(mpq_srcptr number)
{
    mpz_t whole;
    mpz_init(whole);
    mpz_fdiv_q(whole, mpq_numref(number), mpq_denref(number));
    mpz_fdiv_r_2exp(whole, whole, 64);
    uint64_t low = mpz_get_ui(whole);
    mpz_clear(whole);
    return (int64_t)low;
}

bpl_value *bpl_rational_mark(bpl_session *session, uint16_t row, bpl_value *left, bpl_value *right)
{
    if (left) {
        bpl_value *l = bpl_mark_value(session, BPL_MARK_F64, left), *r = l ? bpl_mark_value(session, BPL_MARK_F64, right) : NULL;
        bpl_value *result = r ? bpl_join_values(session, row, l, r) : NULL;
        bpl_release(l);
        bpl_release(r);
        return result;
    }
    bool floats = row == BPL_MARK_F16 || row == BPL_MARK_F32 || row == BPL_MARK_F64 || row == BPL_MARK_REAL;
    bpl_value *near = floats ? bpl_float_of(session, WG_KIND_F64, nearest(right->rational->number))
                             : bpl_integer(session, wrapped(right->rational->number));
    bpl_value *result = near ? bpl_mark_value(session, row, near) : NULL;
    bpl_release(near);
    return result;
}

static bpl_value *rational_atom(bpl_session *session, bpl_value *value)
{
    mpq_t number;
    mpq_init(number);
    bpl_value *result = load(session, value, number) ? give(session, number) : NULL;
    mpq_clear(number);
    return result || bpl_failed(session) ? result : bpl_fail(session, BPL_DOMAIN, "ᵣ takes finite real numbers");
}

static bpl_value *rational_further(bpl_session *session, void *value)
{
    return bpl_rational_of(session, value);
}

bpl_value *bpl_rational_of(bpl_session *session, bpl_value *value)
{
    if (value->type == BPL_RATIONAL) return bpl_keep(value);
    if (value->atom) return rational_atom(session, value);
    if (bpl_stack_is_low(session)) return bpl_stack_more(session, rational_further, value);
    bpl_items *items = bpl_items_new(session, bpl_rank(value), bpl_shape(value));
    bool good = items != NULL;
    for (int64_t i = 0; good && i < items->volume; i++) {
        bpl_value *item = bpl_item(session, value, i);
        items->at[i] = item ? bpl_rational_of(session, item) : NULL;
        good = items->at[i] != NULL;
        bpl_release(item);
    }
    if (!good) return bpl_items_free(session, items), NULL;
    if (!items->volume && !(items->prototype = bpl_integer(session, 0))) return bpl_items_free(session, items), NULL;
    bpl_value *result = bpl_collect(session, items);
    return value->keys ? bpl_settle_keys(session, result, bpl_keys_keep(value->keys)) : result;
}

/* ---- comparisons ---------------------------------------------------------------------------------------------------------------------- */

bool bpl_rational_match(bpl_session *session, const bpl_value *a, const bpl_value *b, bool *same)
{
    bpl_value *equal = bpl_rational_call(session, BPL_GLYPH_EQUAL, (bpl_value *)a, (bpl_value *)b);
    bool good = equal && bpl_to_truth(session, equal, "a comparison", same);
    bpl_release(equal);
    return good;
}

bool bpl_rational_compare(bpl_session *session, const bpl_value *a, const bpl_value *b, int *order)
{
    mpq_t left, right;
    mpq_inits(left, right, NULL);
    bool first = load(session, a, left), second = load(session, b, right), exact = first && second;
    *order = exact ? mpq_cmp(left, right) : 0;
    mpq_clears(left, right, NULL);
    if (bpl_failed(session) || exact) return !bpl_failed(session);
    /* infinite, no number, or complex: as the nearest float */
    bool is_left = a->type == BPL_RATIONAL;
    bpl_value *near = as_float(session, (is_left ? a : b)->rational->number);
    bool good = near && bpl_compare(session, is_left ? near : a, is_left ? b : near, order);
    bpl_release(near);
    return good;
}

/* ---- text ----------------------------------------------------------------------------------------------------------------------------- */

static bool put_integer(bpl_session *session, mpz_srcptr number, base_string *out)
{
    size_t bytes = mpz_sizeinbase(number, 10) + 2;
    char *digits = base_allocate(session->allocator, bytes);
    if (!digits) return bpl_fail_memory(session), false;
    mpz_get_str(digits, 10, number);
    if (*digits == '-') base_string_puts(out, "¯");
    base_string_puts(out, digits + (*digits == '-'));
    base_free(session->allocator, digits, bytes);
    return true;
}

bool bpl_rational_print(bpl_session *session, const bpl_rational *rational, base_string *out)
{
    if (!put_integer(session, mpq_numref(rational->number), out)) return false;
    base_string_puts(out, "ᵣ");
    return is_whole(rational->number) || put_integer(session, mpq_denref(rational->number), out);
}

/* Digits, behind a ¯ where they are negative. */
static bool parse(bpl_session *session, const char *text, size_t length, mpz_t number)
{
    bool negative = length > 2 && memcmp(text, "¯", sizeof "¯" - 1) == 0;
    if (negative) text += sizeof "¯" - 1, length -= sizeof "¯" - 1;
    char *digits = base_allocate(session->allocator, length + 1);
    if (!digits) return bpl_fail_memory(session), false;
    memcpy(digits, text, length);
    digits[length] = 0;
    bool good = !too_large(session, (double)length * 3.33) && mpz_set_str(number, digits, 10) == 0;
    base_free(session->allocator, digits, length + 1);
    if (negative) mpz_neg(number, number);
    return good || (bpl_fail(session, BPL_SYNTAX, "digits are expected"), false);
}

bpl_value *bpl_rational_parse(bpl_session *session, const char *above, size_t above_length, const char *below, size_t below_length)
{
    mpq_t number;
    mpq_init(number);
    bool good = parse(session, above, above_length, mpq_numref(number)) && (!below || parse(session, below, below_length, mpq_denref(number)));
    if (good && !mpz_sgn(mpq_denref(number))) good = bpl_fail(session, BPL_DOMAIN, "a quotient by 0");
    if (good) mpq_canonicalize(number);
    bpl_value *result = good ? give(session, number) : NULL;
    mpq_clear(number);
    return result;
}

#endif
