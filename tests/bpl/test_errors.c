/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Errors: guards, $e, signals, reports; no memory anywhere. */
#include "bpl/language.h"

static const shown guards[] = {
    {"{∞::1 ⋄ ÷\"a\"}0", "1"},
    {"{\"DOMAIN\"::1 ⋄ ÷\"a\"}0", "1"},
    {"{\"domain\"::1 ⋄ ÷\"a\"}0", "1"},
    {"{\"RANK\"::1 ⋄ ÷\"a\"}0", "!DOMAIN"},
    {"{\"RANK\" \"DOMAIN\"::1 ⋄ ÷\"a\"}0", "1"},
    {"{∞::1 ⋄ 2}0", "2"},
    {"{∞::$e.message ⋄ ¯9⊃1 2}0", "position ¯9 is outside an axis of length 2"},
    {"{∞::$e.message ⋄ 2 3ₓ₁.[¯3]}0", "position ¯3 is outside an axis of length 2"},
    {"{∞::$e.message ⋄ ⍳¯1.5}0", "⍳: a length must be whole, not ¯1.5"},
    {"{∞::$e.message ⋄ 0.5 2⍚[- +]1 2}0", "a position in the cases is a whole number, not 0.5"},
    {"{∞::$e.message ⋄ \"at -1, 100%d -2\"•signal \"A\"}0", "at -1, 100%d -2"},
    {"{\"DOMAIN\"::1 ⋄ \"LENGTH\"::2 ⋄ 1 2+1 2 3}0", "2"},
    {"{\"DOMAIN\"::1 ⋄ \"LENGTH\"::÷\"a\" ⋄ 1 2+1 2 3}0", "1"},
    {"{\"DOMAIN\"::5 ⋄ \"DOMAIN\"::6 ⋄ ÷\"a\"}0", "6"},
    {"{x←1 ⋄ ∞::x ⋄ x←2 ⋄ ÷\"a\"}0", "2"},
    {"{⍵>0?\"DOMAIN\"::1 ⋄ ÷\"a\";2}3", "1"},
    {"{⍵>0?\"DOMAIN\"::1 ⋄ ⍵>9?÷\"a\";2}3", "2"},
    {"{∞::$e.kind ⋄ ÷\"a\"}0", "DOMAIN"},
    {"{∞::$e.line $e.column ⋄ ÷\"a\"}0", "[1 25]ₓ"},
    {"{∞::{∞::$e.kind ⋄ 1 2+1 2 3}0 ⋄ ÷\"a\"}0", "LENGTH"},
    {"{∞::({∞::0 ⋄ 1 2+1 2 3}0) $e.kind ⋄ ÷\"a\"}0", "0 \"DOMAIN\""},
    {"$e", "!VALUE"},
    {"{∞::{}0 ⋄ ÷\"a\"}0", ""},
    {"{3::1 ⋄ 2}0", "!DOMAIN"},
    {"{∞::1 ⋄ ÷0ₓ}0", "1"},
    {"{\"INTERRUPT\"::1 ⋄ •signal \"INTERRUPT\"}0", "1"},
    {"{∞::1 ⋄ •signal \"INTERRUPT\"}0", "!INTERRUPT"},
#ifndef __SANITIZE_THREAD__ /* which holds 65,536 frames of a stack */
    {"{\"LIMIT\"::1 ⋄ {1+∇⍵}0}0", "1"},
#endif
    {"{∞::1 ⋄ undefined}0", "1"},
};

static const shown signals[] = {
    {"•signal \"DOMAIN\"", "!DOMAIN explicitly signalled"},
    {"\"oops\"•signal \"mine\"", "!MINE oops"},
    {"•signal \"two words\"", "!DOMAIN"},
    {"•signal 5", "!DOMAIN"},
    {"{∞::•signal $e ⋄ \"why\"•signal \"FOO\"}0", "!FOO why"},
    {"ᵇ3", "!SYNTAX"}, /* the first thing of all that is read */
    {"⁻", "!SYNTAX"},
    {"(0⍴⊂1 2)⌹⍬", "!DOMAIN"},
    {"\"abc\"⍒2", "!RANK"},
    {"$n⍉5", "!DOMAIN"},
};

static void test_guards(void **state) { (void)state, CHECK_ALL(guards); }
static void test_signals(void **state) { (void)state, CHECK_ALL(signals); }

static void check_report(const char *name, const char *text, const char *report)
{
    bpl_world w;
    wg_bpl_outcome outcome;
    bpl_world_open(&w);
    assert_false(wg_bpl_run(w.bpl, name, text, strlen(text), &outcome));
    if (strcmp(outcome.report, report)) fail_msg("%s reports\n%s", text, outcome.report);
    bpl_world_close(&w);
}

static void test_reports(void **state)
{
    (void)state;
    check_report(NULL, "x+1",
                 "VALUE ERROR: x has no value\n"
                 " --> statement:1:1\n"
                 "x+1\n"
                 "^");
    check_report(NULL, "{y←x+⍵ ⋄ y}¨1 2 3",
                 "VALUE ERROR: x has no value\n"
                 " --> statement:1:4\n"
                 "{y←x+⍵ ⋄ y}¨1 2 3\n"
                 "   ^\n"
                 " called from statement:1:1\n"
                 "{y←x+⍵ ⋄ y}¨1 2 3\n"
                 "^^^^^^^^^^^^^^^^^");
    check_report("file.bpl", "f←{⍵+1 2\n}\n\nf 1 2 3",
                 "LENGTH ERROR: lengths 3 and 2 don't agree\n"
                 " --> file.bpl:1:4\n"
                 "f←{⍵+1 2\n"
                 "   ^^^^^\n"
                 " called from file.bpl:4:1\n"
                 "f 1 2 3\n"
                 "^^^^^^^");
    check_report(NULL, "{⍵=0?\"why\"•signal \"MINE\";1+∇⍵-1}9",
                 "MINE ERROR: why\n"
                 " --> statement:1:6\n"
                 "{⍵=0?\"why\"•signal \"MINE\";1+∇⍵-1}9\n"
                 "     ^^^^^^^^^^^^^^^^^^^\n"
                 " called from statement:1:28\n"
                 "{⍵=0?\"why\"•signal \"MINE\";1+∇⍵-1}9\n"
                 "                           ^^^^\n"
                 " called from statement:1:28\n"
                 "{⍵=0?\"why\"•signal \"MINE\";1+∇⍵-1}9\n"
                 "                           ^^^^\n"
                 " called from statement:1:28\n"
                 "{⍵=0?\"why\"•signal \"MINE\";1+∇⍵-1}9\n"
                 "                           ^^^^\n"
                 " ... 4 more calls\n"
                 " called from statement:1:28\n"
                 "{⍵=0?\"why\"•signal \"MINE\";1+∇⍵-1}9\n"
                 "                           ^^^^\n"
                 " called from statement:1:28\n"
                 "{⍵=0?\"why\"•signal \"MINE\";1+∇⍵-1}9\n"
                 "                           ^^^^\n"
                 " called from statement:1:1\n"
                 "{⍵=0?\"why\"•signal \"MINE\";1+∇⍵-1}9\n"
                 "^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^");
}

/* Without memory for its k-th block a run ends with LIMIT (or does without it), the session lives on, and nothing is lost at its end. */
static void test_no_memory(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "f←{x←⍵ ⋄ ∞::0 ⋄ x.[0]←9 ⋄ +/x} ⋄ f 1 2 3",
        "T←[\"a\":1 \"b\":[2 3]] ⋄ T.b.[0]+←5 ⋄ T.c.d←7 ⋄ [p q]←T.b ⋄ p q",
        "x←(1 2⋄3 4) ⋄ (↑¨x)←8 9 ⋄ m←3 3⍴⍳9 ⋄ m.[[0 1] [1 2]]←5 ⋄ x m.[: 1]",
        "op←{⍵=0?0;⍶⍢⍵-1} ⋄ (⍎\"1+2\") (+op 3) ({1+{÷\"a\"}⍵}¨1 2)",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (long long k = 1, done = 0; !done; k++) {
            bpl_world w;
            wg_bpl_outcome outcome;
            bpl_world_open(&w);
            w.memory.fails_at = atomic_load(&w.memory.asked) + k;
            bool good = wg_bpl_run(w.bpl, NULL, texts[i], strlen(texts[i]), &outcome);
            done = !w.memory.failed;
            w.memory.fails_at = 0;
            if (!good && !done && strcmp(outcome.kind, "LIMIT") && strcmp(outcome.kind, "DOMAIN")) fail_msg("%s at %lld: %s", texts[i], k, outcome.report);
            const shown alive[] = {{"1+1", "2"}};
            CHECK_SESSION(&w, alive);
            bpl_world_close(&w);
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_guards),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_reports),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
