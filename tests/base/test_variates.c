/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Draws with parameters, item by item: pinned numbers (they must never move), quantiles and slopes against numbers computed with 50 digits,
 * what is out of range, and the counts' distributions where their methods change. tests/exec/test_draws.c judges distributions. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/variates.h"

static const base_key key = {{1, 2}};

static void numbers_are_pinned(void **state)
{
    (void)state;
    static const struct {
        uint64_t index, below;
        float exponential32;
        double exponential64, gamma, small_gamma, truncated;
        int64_t few, many, part, half;
    } pins[] = {
        {0, 618549112, 0x1.9fe7ap-2f, 0x1.1f333e64f8fd2p-2, 0x1.d1e7426b4b648p-3, -0x1.8ccde44fd243cp+2, 0x1.832ef51f3df1ap-2, 3, 999850, 8,
         500904},
        {1, 826215808, 0x1.5d9e18p-1f, 0x1.5e3e8f845bfe1p-3, 0x1.ea9f2a0f81e95p-1, -0x1.ed4ae6b305d73p+0, 0x1.55f53034b81bdp+0, 6, 999748,
         6, 500322},
        {2, 765334533, 0x1.2bd31p+1f, 0x1.472f42f07127p-1, 0x1.a49a602c51077p+1, 0x1.8a7d4e509295bp-2, 0x1.3817dd88e39fdp-1, 1, 998662, 8,
         500831},
        {3, 263454546, 0x1.813658p-2f, 0x1.77c628024158bp-3, 0x1.213cf2e320c32p+1, -0x1.a922ad590d829p+1, 0x1.24d103cf8f041p-1, 3, 1000283,
         8, 500915},
        {0x123456789abc, 630042857, 0x1.f44ff6p+1f, 0x1.8792c962ac14cp-4, 0x1.4c763219f6703p+0, -0x1.d8e43651299cbp+2,
         -0x1.87c517a8e15cap-2, 5, 1001092, 6, 500301},
    };
    for (size_t i = 0; i < sizeof pins / sizeof *pins; i++) {
        uint64_t at = pins[i].index;
        assert_true(base_draw_below(key, at, 1000000007) == pins[i].below);
        assert_true(base_draw_exponential_f32(key, at) == pins[i].exponential32);
        assert_true(base_draw_exponential_f64(key, at) == pins[i].exponential64);
        assert_true(base_draw_gamma(key, at, 2.5, false) == pins[i].gamma);
        assert_true(base_draw_gamma(key, at, 0.25, true) == pins[i].small_gamma);
        assert_true(base_draw_truncated(key, at, -1, 2) == pins[i].truncated);
        assert_true(base_draw_poisson(key, at, 3) == pins[i].few);
        assert_true(base_draw_poisson(key, at, 1e6) == pins[i].many);
        assert_true(base_draw_binomial(key, at, 20, 0.25) == pins[i].part);
        assert_true(base_draw_binomial(key, at, 1000000, 0.5) == pins[i].half);
    }
}

static void quantiles_are_exact(void **state)
{
    (void)state;
    static const struct { double u, from, to, x; } exact[] = {
        {0.5, -1, 2, 0.171163918017824773},
        {0.25, -INFINITY, INFINITY, -0.674489750196081743},
        {1e-10, -INFINITY, INFINITY, -6.3613409024040562},
        {0.999999, -INFINITY, INFINITY, 4.75342430881708777},
        {0.3, 0, INFINITY, 0.385320466407567609},
        {0.3, 2, 2.75, 2.12438404949232828},
        {0.7, 2.25, 3, 2.6036183675631763},
        {0.3, 3, 2.25, 2.6036183675631763},
        {0.5, 8, INFINITY, 8.0849110073915441},
        {0.01, 8, 8.5, 8.00121847650418395},
        {0.9, 40, INFINITY, 40.0574874580360217},
        {0.5, 40, 40.0625, 40.0153505607745665},
        {0.75, -8, 3, 0.671307202847884066},
        {0.2, 1000, INFINITY, 1000.00022314330327},
        {0.5, -41, -40, -40.0173141267646511},
        {0.6, -INFINITY, -30, -30.0170038558375514},
        {0.5, 1e9, INFINITY, 1e9},
        {0.5, 3, 3, 3},
        {0.5, INFINITY, INFINITY, INFINITY},
    };
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) {
        double x = base_truncated_quantile(exact[i].u, exact[i].from, exact[i].to), wanted = exact[i].x;
        if (!(x == wanted || fabs(x - wanted) <= 4e-15 * fmax(1, fabs(wanted))))
            fail_msg("quantile %g between %g and %g: %.17g, not %.17g", exact[i].u, exact[i].from, exact[i].to, x, wanted);
    }
    assert_true(isnan(base_truncated_quantile(0.5, NAN, 1)) && isnan(base_truncated_quantile(0.5, 1, NAN)));
}

static void slopes_are_exact(void **state)
{
    (void)state;
    static const struct { double a, x, slope; } exact[] = {
        {0.001, 1e-300, 6.90199955966403408e-295},
        {0.001, 1e-05, 0.109374727780818249},
        {0.01, 0.5, 46.6792794051506821},
        {0.01, 3.0, 80.2807391809346578},
        {0.1, 1e-08, 1.79969259754141681e-6},
        {0.5, 0.25, 0.908014491764111317},
        {0.5, 8.0, 3.92862934814895752},
        {1, 0.001, 0.0073344562448837857},
        {1, 0.7, 0.973218740992387586},
        {1, 1.999, 1.63133006437856047},
        {1, 2.001, 1.63205272164944638},
        {1, 30.0, 4.01070278532266836},
        {2.5, 0.1, 0.140549792973669889},
        {2.5, 3.0, 1.16926200673766347},
        {2.5, 3.6, 1.27558851445718084},
        {2.5, 20.0, 2.52368600245117405},
        {30, 10.0, 0.552243533280273336},
        {30, 30.5, 1.01390743270324627},
        {30, 31.5, 1.03030425392718786},
        {30, 70.0, 1.49085270767477155},
        {900, 700.0, 0.879763061491587871},
        {900, 900.0, 1.00018520574824722},
        {900, 902.0, 1.00129570035168105},
        {900, 1100.0, 1.10389296276965257},
        {9999, 9500.0, 0.974637985900255757},
        {9999, 9999.0, 1.00001666850019049},
        {9999, 10001.0, 1.00011667350075721},
        {9999, 10400.0, 1.01980619648026613},
        {10001, 9600.0, 0.979694877705650389},
        {10001, 10001.0, 1.00001666516679047},
        {10001, 10400.0, 1.01970488411114987},
        {1000000.0, 995000.0, 0.997495989134493287},
        {1000000.0, 1000001.0, 1.0000006666666},
    };
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) {
        double ln_x = log(exact[i].x), wanted = exact[i].slope;
        double number = base_gamma_slope(exact[i].a, ln_x, false), logarithm = base_gamma_slope(exact[i].a, ln_x, true) * exact[i].x;
        if (!(fabs(number - wanted) <= 1e-11 * wanted) || !(fabs(logarithm - wanted) <= 1e-11 * wanted))
            fail_msg("slope at %g of shape %g: %.17g, not %.17g", exact[i].x, exact[i].a, number, wanted);
    }
    assert_true(isnan(base_gamma_slope(0, 0, false)) && isnan(base_gamma_slope(NAN, 0, false)) && isnan(base_gamma_slope(-1, 0, true)));
}

static void parameters_out_of_range_have_answers(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 200; i++) {
        assert_true(base_draw_below(key, i, 1) == 0);
        assert_true(base_draw_below(key, i, 3) < 3);
        assert_true(base_draw_gamma(key, i, 0, false) == 0 && base_draw_gamma(key, i, 0, true) == -INFINITY);
        assert_true(isnan(base_draw_gamma(key, i, -1, false)) && isnan(base_draw_gamma(key, i, NAN, true)));
        assert_true(base_draw_gamma(key, i, INFINITY, false) == INFINITY);
        double tiny = base_draw_gamma(key, i, 1e-300, true), huge = base_draw_gamma(key, i, 1e300, false);
        assert_true(tiny < -1e297 && isfinite(tiny) && fabs(huge / 1e300 - 1) < 1e-12);
        assert_true(base_draw_poisson(key, i, 0) == 0 && base_draw_poisson(key, i, 1e-300) == 0);
        assert_true(base_draw_poisson(key, i, -1) == -1 && base_draw_poisson(key, i, NAN) == -1);
        assert_true(base_draw_poisson(key, i, INFINITY) == -1 && base_draw_poisson(key, i, 0x1.0000000000001p62) == -1);
        assert_true(fabs((double)base_draw_poisson(key, i, 0x1p62) - 0x1p62) < 9 * 0x1p31);
        assert_true(base_draw_binomial(key, i, -1, 0.5) == -1 && base_draw_binomial(key, i, 5, NAN) == -1);
        assert_true(base_draw_binomial(key, i, 5, 1.5) == -1 && base_draw_binomial(key, i, 5, -0.1) == -1);
        assert_true(base_draw_binomial(key, i, 0, 0.5) == 0 && base_draw_binomial(key, i, 7, 0) == 0);
        assert_true(base_draw_binomial(key, i, 7, 1) == 7 && base_draw_binomial(key, i, INT64_MAX, 1) == INT64_MAX);
        int64_t most = base_draw_binomial(key, i, INT64_MAX, 0.5), rare = base_draw_binomial(key, i, INT64_MAX, 1e-19);
        assert_true(fabs((double)most - 0x1p62) < 9 * 0x1p31 && rare >= 0 && rare < 12);
    }
}

/* With a width just above 2^63 nearly every second word is drawn again: the low half must not come twice as often. */
static void integers_are_unbiased(void **state)
{
    (void)state;
    enum { DRAWS = 100000 };
    const uint64_t width = (1ull << 63) + 1;
    int64_t low = 0, quarter = 0, third = 0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        uint64_t number = base_draw_below(key, i, width);
        assert_true(number < width);
        low += number < width / 2;
        quarter += number < width / 4;
        third += base_draw_below(key, i, 3ull << 62) % 3 == 0; /* without rejection two words give each of them, one the others */
    }
    assert_true(fabs((double)low - DRAWS / 2.0) < 5 * sqrt(DRAWS / 4.0));
    assert_true(fabs((double)quarter - DRAWS / 4.0) < 5 * sqrt(DRAWS * 3 / 16.0));
    assert_true(fabs((double)third - DRAWS / 3.0) < 5 * sqrt(DRAWS * 2 / 9.0));
}

/* Chi-square of counts against ln of their probabilities, over cells that expect at least 20, as a normal deviate (Wilson and Hilferty). */
static double deviate_of_counts(const int64_t *counts, int64_t first, int64_t last, int64_t draws,
                                double (*ln_p)(double k, double n, double p), double n, double p)
{
    double chi = 0, expected = 0, seen = 0, all = 0;
    int cells = 0;
    for (int64_t k = first; k <= last; k++) {
        double e = (double)draws * exp(ln_p((double)k, n, p));
        all += e;
        expected += e, seen += (double)counts[k - first];
        if (expected < 20) continue;
        chi += (seen - expected) * (seen - expected) / expected;
        cells++;
        expected = seen = 0;
    }
    if (fabs(all / (double)draws - 1) > 1e-6) fail_msg("the cells hold only %g of the distribution", all / (double)draws);
    double freedom = cells - 1, third = 2 / (9 * freedom);
    return (cbrt(chi / freedom) - (1 - third)) / sqrt(third);
}

static double ln_poisson(double k, double mean, double unused)
{
    (void)unused;
    return k * log(mean) - mean - lgamma(k + 1);
}

static double ln_binomial(double k, double n, double p)
{
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p);
}

static void counts_follow_their_probabilities(void **state)
{
    (void)state;
    static const struct {
        double n, p;
    } cases[] = {{0.1, 0},   {3, 0},    {9.99, 0},  {10, 0},    {12.5, 0},  {60, 0},     {900, 0},      {8, 0.5},
                 {40, 0.02}, {30, 0.3}, {40, 0.25}, {41, 0.25}, {100, 0.9}, {1000, 0.5}, {5000, 0.999}, {100000, 0.001}};
    enum { DRAWS = 200000, ROOM = 8192 };
    static int64_t counts[ROOM];
    for (uint64_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double n = cases[c].n, p = cases[c].p, mean = p > 0 ? n * p : n, deviation = sqrt(p > 0 ? n * p * (1 - p) : n);
        int64_t first = (int64_t)fmax(0, mean - 9 * deviation - 9), last = (int64_t)(mean + 9 * deviation + 12);
        if (p > 0 && last > (int64_t)n) last = (int64_t)n;
        assert_true(last - first < ROOM);
        memset(counts, 0, sizeof counts);
        for (uint64_t i = 0; i < DRAWS; i++) {
            int64_t k = p > 0 ? base_draw_binomial((base_key){{7, (uint32_t)c}}, i, (int64_t)n, p)
                              : base_draw_poisson((base_key){{7, (uint32_t)c}}, i, n);
            if (k < first || k > last) fail_msg("%lld of mean %g", (long long)k, mean);
            counts[k - first]++;
        }
        double deviate = deviate_of_counts(counts, first, last, DRAWS, p > 0 ? ln_binomial : ln_poisson, n, p);
        if (!(fabs(deviate) < 3.5)) fail_msg("%s %g %g: chi-square %.1f deviations off", p > 0 ? "binomial" : "Poisson", n, p, deviate);
    }
}

/* Large counts: within a distribution so wide that it is normal, with the skewness that is left. */
static void large_counts_are_nearly_normal(void **state)
{
    (void)state;
    enum { DRAWS = 100000 };
    for (int which = 0; which < 3; which++) {
        double mean = which == 0 ? 1e12 : which == 1 ? 1e15 : 3e14, deviation = sqrt(which < 2 ? mean : mean * 0.7);
        double sums[5] = {0};
        for (uint64_t i = 0; i < DRAWS; i++) {
            int64_t k = which < 2 ? base_draw_poisson(key, i, mean) : base_draw_binomial(key, i, 1000000000000000, 0.3);
            double z = ((double)k - mean) / deviation;
            sums[1] += z, sums[2] += z * z, sums[3] += z * z * z, sums[4] += z * z * z * z;
        }
        double n = DRAWS;
        assert_true(fabs(sums[1] / n) < 5 * sqrt(1 / n) && fabs(sums[2] / n - 1) < 5 * sqrt(2 / n));
        assert_true(fabs(sums[3] / n) < 5 * sqrt(15 / n) && fabs(sums[4] / n - 3) < 5 * sqrt(96 / n));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_pinned),
        cmocka_unit_test(quantiles_are_exact),
        cmocka_unit_test(slopes_are_exact),
        cmocka_unit_test(parameters_out_of_range_have_answers),
        cmocka_unit_test(integers_are_unbiased),
        cmocka_unit_test(counts_follow_their_probabilities),
        cmocka_unit_test(large_counts_are_nearly_normal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
