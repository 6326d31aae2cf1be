/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * System names beyond their cases (system.tsv): laws, samples beside their distributions, every allocation failing once, patterns that would never end. */
#include "bpl/world.h"

static void test_laws(void **state)
{
    (void)state;
    static const char *const laws[] = {
        "m←5 3⍴13|7×⍳15 ⋄ ∧/,1E¯12>|m-(\"svd\" •decompose⁻ \"svd\" •decompose m)", "m←4 4⍴0.5+17|5×⍳16 ⋄ ∧/,1E¯9>|m-(\"lu\" •decompose⁻ \"lu\" •decompose m)",
        "m←5 5⍴11|3+7×⍳25 ⋄ ∧/,1E¯9>|m-(\"eigen\" •decompose⁻ \"eigen\" •decompose m)",
        "q←([\"kind\":\"qr\" \"complete\":$t]•decompose 5 2⍴⍳10).q ⋄ ∧/,1E¯12>|(q+.×⍉q)-5 5⍴1 0 0 0 0 0",
        "d←3 •distribution \"chisquared\" ⋄ s←(1+⍳9)÷10 ⋄ q←d.quantile s ⋄ ∧/1E¯12>|s-(d.cdf q)", "d←7 2 •distribution \"fisher\" ⋄ s←(1+⍳9)÷10 ⋄ q←d.quantile s ⋄ ∧/1E¯12>|s-(d.cdf q)",
        "d←0.7 •distribution \"student\" ⋄ s←(1+⍳99)÷100 ⋄ q←d.quantile s ⋄ ∧/1E¯12>|s-(d.cdf q)", "d←100 0.3 •distribution \"binomial\" ⋄ y←d.density ⍳101 ⋄ 1E¯12>|1-(+/y)",
        "d←100 0.3 •distribution \"binomial\" ⋄ y←d.density ⍳101 ⋄ z←d.cdf ⍳101 ⋄ ∧/1E¯12>|z-(+\\y)", "d←50 •distribution \"poisson\" ⋄ y←d.density ⍳101 ⋄ z←d.cdf ⍳101 ⋄ ∧/1E¯12>|z-(+\\y)",
        "d←100 0.3 •distribution \"binomial\" ⋄ k←⍳101 ⋄ q←d.cdf k ⋄ ∧/k≥(d.quantile q)", "t←•date \"1583-01-01\" ⋄ s←t+86399.5×⍳5000 ⋄ ∧/s=(•date •date⁻ s)",
        "s←86400×¯400000+⍳20000 ⋄ p←\"%Y-%m-%dT%H:%M:%SZ\" ⋄ s≡(p •date p •date⁻ s)"};
    bpl_world w;
    bpl_world_open(&w);
    for (size_t k = 0; k < sizeof laws / sizeof *laws; k++) assert_true_of(w.bpl, laws[k]);
    bpl_world_close(&w);
}

/* The share of 20,000 numbers below a median, and below the 0.9 quantile: five deviations of a count is 0.018 of them at most. */
static void test_samples(void **state)
{
    (void)state;
    static const char *const names[] = {"•distribution \"normal\"", "•distribution \"uniform\"", "2 3•distribution \"beta\"", "2 3•distribution \"gamma\"",
                                        "3 2•distribution \"inversegamma\"", "•distribution \"exponential\"", "3 •distribution \"chisquared\"", "4 •distribution \"student\"",
                                        "5 7•distribution \"fisher\"", "•distribution \"cauchy\"", "1 2•distribution \"laplace\"", "1 2•distribution \"logistic\"",
                                        "•distribution \"lognormal\"", "2 3•distribution \"weibull\"", "0.3 •distribution \"bernoulli\"", "40 0.3•distribution \"binomial\"",
                                        "30 •distribution \"poisson\""};
    bpl_world w;
    bpl_world_open(&w);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char text[400];
        snprintf(text, sizeof text, "g←•rand 12 ⋄ d←%s ⋄ x←g d.sample 20000 ⋄ q←d.quantile 0.5 0.9 ⋄ ∧/0.018>|(d.cdf q)-{(+/x≤⍵)÷20000}¨q", names[k]);
        assert_true_of(w.bpl, text);
    }
    bpl_world_close(&w);
}

static const char *const everything[] = {
    "\"svd\" •decompose⁻ \"svd\" •decompose [1 2⋄3 4⋄5 6]", "[\"kind\":\"qr\" \"complete\":$t]•decompose [1 2⋄3 4⋄5 6]", "\"eigen\" •decompose [0 1⋄¯1 0]", "\"cholesky\" •decompose [4 2⋄2 3]",
    "\"lu\" •decompose⁻ \"lu\" •decompose [1 2⋄3 4]", "d←•distribution \"normal\" ⋄ d.cdf [1 [2 3]]", "d←4 •distribution \"student\" ⋄ d.quantile 0.1 0.6", "d←10 0.5 •distribution \"binomial\" ⋄ d.quantile 0.5",
    "f←(2 3 •distribution \"gamma\").cdf ⋄ f∂ 0.5", "g←•rand 3 ⋄ d←2 3 •distribution \"beta\" ⋄ g d.sample 3", "g←•rand 3 ⋄ g.roll 6 6", "g←•rand 3 ⋄ 2 g.deal 5",
    "\"NFD\" •normalize \"é\" \"ab\"", "p←•r \"([a-z]+)([0-9]+)\" ⋄ p.matches \"ab12 cd3\"", "p←•r \"([a-z]+)([0-9]+)\" ⋄ \"$2:$1\" p.replace \"ab12 cd3\"", "•hash \"abc\" \"d\"", "•hash 1 2",
    "•date \"2024-05-06\" \"2024-05-07T10:20:30Z\"", "•date •date⁻ 0 1E9", "[\"pattern\":\"%A %F\" \"zone\":3600]•date⁻ 0 1E9",
    "[\"separator\":\";\" \"decimal\":\",\" \"missing\":\"-\" \"fill\":0]•csv \"a;b\",(•ucs 10),\"1,5;x\",(•ucs 10),\"-;y\"", "[\"separator\":\";\" \"decimal\":\",\"]•csv⁻ [\"a\":[1.5 2] \"b\":[\"x;y\" \"z\"]]",
    "[\"fill\":1]•json \"[null]\""};

static void test_memory(void **state)
{
    (void)state;
    CHECK_MEMORY(everything);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_laws), cmocka_unit_test(test_samples), cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
