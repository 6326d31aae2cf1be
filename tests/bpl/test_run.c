/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Runs of statements: the order of evaluation, brackets, index notation, text that is executed, files, names, and what a session keeps. */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <unistd.h>

#include "bpl/language.h"

static void check_written(const char *text, const char *expected)
{
    written out = {.length = 0};
    wg_bpl_options options = {.size = sizeof options, .write = write_down, .user = &out};
    wg_bpl *bpl = wg_bpl_new(&options, NULL);
    wg_bpl_outcome outcome;
    wg_bpl_run(bpl, NULL, text, strlen(text), &outcome);
    if (strcmp(out.text, expected)) fail_msg("%s writes\n%s", text, out.text);
    wg_bpl_free(&bpl);
}

static void test_order(void **state)
{
    (void)state;
    check_written("(⎕←1)+(⎕←2)", "2\n1\n");
    check_written("(⎕←1) (⎕←2)", "2\n1\n");
    check_written("[(⎕←1) (⎕←2)]", "1\n2\n");
    check_written("((⎕←1)⋄(⎕←2))", "1\n2\n");
    check_written("(⎕←[1 2]).[⎕←0]", "1 2\n0\n");
    check_written("{(⎕←\"DOMAIN\")::⎕←5 ⋄ ⎕←3 ⋄ ÷\"a\"}3", "DOMAIN\n3\n5\n");
    check_written("+⍥{⎕←⍵}⎕←4", "4\n4\n");
}

static const shown brackets[] = {
    {"[1 2+3]", "1 5"},
    {"[1]", "[1]"},
    {"[]", "⍬"},
    {"[1 2⋄3 4]", "1 2\n3 4"},
    {"[1⋄2]", "1 2"},
    {"⍴[1 2⋄]", "[1 2]ₓ"},
    {"(1 2⋄3)", "(1 2⋄3)"},
    {"[\"ab\"⋄\"c\"]", "ab\nc "},
    {"[\"a\":1 \"b\":2]", "[\"a\":1 \"b\":2]"},
    {"[\"a\":1 \"a\":2]", "!DOMAIN"},
    {"[\"a\":1 2]", "[\"a\":1 2]"},
    {"[1 2.5ₛ]", "[1 2.5]ₛ"},
    {"[1ₓ 2.5]", "1ₓ 2.5"},
    {"[{}3]", "!VALUE"},
};

static const shown index_notation[] = {
    {"v←10 20 30 ⋄ v.[1]", "20"},
    {"v←10 20 30 ⋄ v.[¯1]", "30"},
    {"v←10 20 30 ⋄ v.[[2 0]]", "30 10"},
    {"v←10 20 30 ⋄ v.[⊂1]", "⊂20"},
    {"v←10 20 30 ⋄ v.[[1 $n]]", "20 0"},
    {"v←10 20 30 ⋄ v.[3]", "!INDEX position 3 is outside an axis of length 3"},
    {"v←10 20 30 ⋄ v.[0 1]", "!INDEX too many axis selectors"},
    {"5.[0]", "!INDEX too many axis selectors"},
    {"v←10 20 30 ⋄ v.[0.5]", "!DOMAIN"},
    {"v←10 20 30 ⋄ v.[∞ ∞]", "!INDEX"},
    {"m←3 3⍴⍳9 ⋄ m.[[0 1⋄1 0⋄2 2] [0 1 2]]", "0 3\n4 1\n8 8"},
    {"m←3 3⍴⍳9 ⋄ m.[[0 1] [0 1 2]]", "!LENGTH"},
    {"m←3 3⍴⍳9 ⋄ m.[⍸m>5]", "6 7 8"},
    {"a←2 3 4⍴⍳24 ⋄ ⍴a.[0 : [1 2]]", "[3 2]ₓ"},
    {"a←2 3 4⍴⍳24 ⋄ ⍴a.[[0 1] : [1 2]]", "[2 3]ₓ"},
    {"a←2 3 4⍴⍳24 ⋄ a.[∞ 0]", " 0  4  8\n12 16 20"},
    {"⍴(⍳3).[¯∞ ∞ ¯∞]", "[1 3 1]ₓ"},
    {"m←(1 2⋄3 4 5) ⋄ m.[[[1 2] [0 0]]]", "5 1"},
    {"T←[\"a\":1 \"b\":2] ⋄ T.[[\"b\" \"a\"]]", "[\"b\":2 \"a\":1]"},
    {"T←[\"a\":1 \"b\":2] ⋄ T.[\"b\"]", "2"},
    {"T←[\"a\":1 \"b\":2] ⋄ T.c", "!INDEX there is no key c"},
    {"i←⍳[\"i\":3] ⋄ m←3 3⍴⍳9 ⋄ m.[i i]", "[\"i\":3]⍴[0 4 8]"},
    {"i←⍳[\"i\":3] ⋄ j←⍳[\"j\":3] ⋄ m←3 3⍴⍳9 ⋄ ⍴m.[j i]", "[\"j\":3 \"i\":3]ₓ"},
    {"m←[\"r\":2 \"c\":3]⍴⍳6 ⋄ i←⍳[\"c\":2] ⋄ ⍴m.[i]", "[\"r\":2 \"c\":2]ₓ"},
    {"m←[\"r\":2 \"c\":3]⍴⍳6 ⋄ i←⍳[\"x\":2] ⋄ m.[i]", "!INDEX x"},
    {"[i j k]←•index 3 3 3 ⋄ m←3 3⍴⍳9 ⋄ (+/⍠k m.[i k]×m.[k j])≡m+.×m", "$t"},
    {"4•edge ¯1 0 3 4", "$n 0 3 $n"},
    {"k←•edge \"clamp\" ⋄ 4 k ¯2+⍳8", "[0 0 0 1 2 3 3 3]ₓ"},
    {"k←•edge \"wrap\" ⋄ 4 k ¯2+⍳8", "[2 3 0 1 2 3 0 1]ₓ"},
    {"k←•edge \"reflect\" ⋄ 4 k ¯2+⍳8", "[2 1 0 1 2 3 2 1]ₓ"},
    {"k←•edge \"symmetric\" ⋄ 4 k ¯2+⍳8", "[1 0 0 1 2 3 3 2]ₓ"},
    {"k←•edge \"none\"", "!DOMAIN modes"},
    {"x←(1 2⋄3 4) ⋄ x.[[[0 [0 1 1 1]]]]", "!DOMAIN coordinate"},
    {"x←10 20 30 ⋄ {x.[⍵]}¨2 0 1", "30 10 20"},
    {"x←10 20 30 ⋄ {x.[⍵]}¨2 0 3", "!INDEX position 3"},
    {"x←10 20 30 ⋄ {x.[⍵]}¨2 0 0.5", "!DOMAIN whole"},
    {"x←10 20 30 ⋄ {x.[⍵]}¨2 $n ¯1", "30 0 30"},
    {"x←10 20 30 ⋄ {x.[⍵]}⍤0⊢[2 0⋄1 1]ₓ", "30 10\n20 20"},
    {"m←3 3⍴⍳9 ⋄ {m.[⍵ ⍵]}¨0 1 2", "0 4 8"},
    {"m←3 3⍴⍳9 ⋄ {m.[⍵]}⍤0⊢0 2", "0 1 2\n6 7 8"},
    {"{⍵.[↑⍵]}⍤1 ⊢3 3⍴0 1 2 1 2 0 2 0 1", "0 2 1"},
    {"x←10 20 30 ⋄ {∞::¯1 ⋄ x.[⍵]}¨2 7", "30 ¯1"},
    {"{⍵.[⍵.[0]]}∂ 1 2 3", "0 1 0"},
    {"1 2⌷3 3⍴⍳9", "5"},
    {"[1 2;0 2]⌷3 3⍴⍳9", "3 5\n6 8"},
    {"1 0⌷⍠1 0 ⊢3 3⍴⍳9", "1"},
    {"9⌷⍠[\"fill\":7] ⊢1 2 3", "7"},
    {"[[1 9]]⌷⍠[\"fill\":7] ⊢1 2 3", "2 7"},
};

static const shown executed[] = {
    {"⍎\"1 2+3\"", "4 5"},
    {"⍎\"x←3\" ⋄ x", "3"},
    {"{⍎\"⍵+1\"}4", "5"},
    {"⍎\"\"", ""},
    {"⍎\"1\" \"2\"", "1 2"},
    {"⍎5", "!DOMAIN"},
    {"⍎\")\"", "!SYNTAX"},
    {"[\"a\":1 \"b\":2]⍎\"a+b\"", "3"},
    {"T←[\"price\":[2 3] \"qty\":[10 20]] ⋄ T.(price×qty)", "20 60"},
    {"T←[\"f\":{⍵+1}] ⋄ T.(f 3)", "4"},
    {"T←[\"a\":1] ⋄ {T.(a+⍵)}4", "5"},
    {"3⍎\"2\"", "!DOMAIN"},
    {"T←[\"a\":1] ⋄ T.({a})", "!DOMAIN"},
    {"•nc \"x\" \"+\" \"f\" \"1a\" \"\" \"•nc\"", "[0 3 0 ¯1 ¯1 3]ₓ"},
    {"x←1 ⋄ f←+ ⋄ op←{⍶⍵} ⋄ •nc \"x\" \"f\" \"op\" \"y\"", "[2 3 4 0]ₓ"},
    {"x←1 ⋄ xy←1 ⋄ f←+ ⋄ •nl 2 3", "\"f\" \"x\" \"xy\""},
    {"x←1 ⋄ xy←1 ⋄ f←+ ⋄ \"xy\"•nl 2 3", "[\"xy\"]"},
    {"f←{⍵+1} ⋄ •src \"f\"", "{⍵+1}"},
    {"•src \"f\"", "!VALUE"},
    {"x←1 ⋄ •ex \"x\" \"1x\"", "[1 0]ₓ"},
    {"x←1 ⋄ •ex \"x\" ⋄ x", "!VALUE"},
    {"0<•time 0", "$t"},
    {"⍴[{⍵+1} -]•time 5", "[2]ₓ"},
    {"•delay 0", ""},
    {"•nothing 3", "!VALUE •nothing"},
};

static const shown preferences[] = {
    {"•prefs [\"prec\":3] ⋄ ÷3", "0.333"},
    {"(•prefs ⍬).prec", "10ₓ"},
    {"•prefs [\"float\":32] ⋄ (•storage 1.5).kind", "float32"},
    {"•prefs [\"kinds\":\"static\"] ⋄ (•storage 1.5).kind (•prefs ⍬).kinds", "\"float32\" \"static\""},
    {"x←5 ⋄ •prefs [\"prec\":x] ⋄ ÷3", "0.33333"},
    {"•prefs [\"edges\":2 \"limit\":10] ⋄ ⍳100", "0 1 … 98 99"},
    {"•prefs [\"mathish\":$f] ⋄ 1=1+1E¯15", "$f"},
    {"•prefs [\"seed\":7] ⋄ a←¿1000 ⋄ •prefs [\"seed\":7] ⋄ a=¿1000", "$t"},
    {"•prefs [\"prec\":3 \"bax\":1]", "!DOMAIN bax"},
    {"•prefs [\"prec\":0]", "!DOMAIN"},
    {"•prefs [\"int\":32]", "!UNSUPPORTED"},
    {"•prefs 5", "!RANK"},
};

static void test_preferences(void **state) { (void)state, CHECK_ALL(preferences); }

static void test_brackets(void **state) { (void)state, CHECK_ALL(brackets); }
static void test_index(void **state) { (void)state, CHECK_ALL(index_notation); }
static void test_executed(void **state) { (void)state, CHECK_ALL(executed); }

static void put_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_modules(void **state)
{
    (void)state;
    char folder[] = "/tmp/bpl-modules-XXXXXX", path[300], text[400];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/one.bpl", folder);
    put_file(path, "[two: _:]←[\"two\":2 \"_\":0]\ncount←0\nnext←{count+←two ⋄ count}\n_hidden←1\nother←(•load \"./two.bpl\").value\n");
    snprintf(path, sizeof path, "%s/two.bpl", folder);
    put_file(path, "value←42\n");
    snprintf(path, sizeof path, "%s/self.bpl", folder);
    put_file(path, "•load \"./self.bpl\"\n");
    snprintf(path, sizeof path, "%s/bad.bpl", folder);
    put_file(path, "x←1\nx+\"a\" 2 3\n1 2+1 2 3\n");
    bpl_world w;
    bpl_world_open(&w);
    snprintf(text, sizeof text, "M←•load \"%s/one.bpl\" ⋄ M.next 0 ⋄ M.next 0", folder);
    const shown first[] = {{"two←77", ""}, {text, "4"}, {"M.other", "42"}, {"M._hidden", "!INDEX"}, {"•nc \"count\"", "0ₓ"}};
    CHECK_SESSION(&w, first);
    snprintf(text, sizeof text, "•load \"%s/self.bpl\"", folder);
    const shown second[] = {{text, "!DOMAIN loads itself"}, {"•load \"/nowhere/at/all\"", "!IO"}, {"•load \"/tmp\"", "!IO"}, {"•load 5", "!DOMAIN"}};
    CHECK_SESSION(&w, second);
    snprintf(text, sizeof text, "•load \"%s/bad.bpl\"", folder);
    wg_bpl_outcome outcome;
    assert_false(wg_bpl_run(w.bpl, NULL, text, strlen(text), &outcome));
    assert_string_equal(outcome.kind, "LENGTH");
    assert_int_equal(outcome.line, 3);
    assert_non_null(strstr(outcome.source_name, "bad.bpl"));
    bpl_world_close(&w);
    snprintf(text, sizeof text, "rm -r %s", folder);
    assert_int_equal(system(text), 0);
}

/* A statement that is run again and again, under roles that change. */
static void test_roles_change(void **state)
{
    (void)state;
    static const shown lines[] = {
        {"f←5", ""},   {"f 3", "5 3"}, {"f←-", ""},          {"f 3", "¯3"},           {"f←[+ -]", ""}, {"f 3", "3 ¯3"},
        {"f←{⍶ ⍵}", ""}, {"-f 3", "¯3"}, {"g←{h ⍵}", ""},      {"h←5", ""},             {"g 3", "5 3"},  {"h←-", ""},
        {"g 3", "¯3"}, {"h←5", ""},    {"g 3", "5 3"},       {"1+h←7 ⋄ h", "7"},
    };
    bpl_world w;
    bpl_world_open(&w);
    CHECK_SESSION(&w, lines);
    bpl_world_close(&w);
}

static void *interrupt_soon(void *bpl)
{
    usleep(50000);
    wg_bpl_interrupt(bpl);
    return NULL;
}

static void test_interrupts(void **state)
{
    (void)state;
    static const char *const endless[] = {"{∇⍵}1", "{∇⍵+1}1", "{x←⍵ ⋄ ∇x}¨⍳10", "•delay ∞", "{1+{⍵=0?0;∇⍵-1}1000 ⋄ ∇⍵}1"};
    bpl_world w;
    bpl_world_open(&w);
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
        wg_bpl_outcome outcome;
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, w.bpl), 0);
        assert_false(wg_bpl_run(w.bpl, NULL, endless[i], strlen(endless[i]), &outcome));
        if (strcmp(outcome.kind, "INTERRUPT")) fail_msg("%s: %s", endless[i], outcome.report);
        pthread_join(thread, NULL);
        const shown alive[] = {{"1+1", "2"}};
        CHECK_SESSION(&w, alive);
    }
    bpl_world_close(&w);
}

static const shown nested[] = {
    {"x←{⊂⍵ 1}⍣4000⊢1 ⋄ y←x+1 ⋄ (≡y) (x≡x) (≢∊x)", "8000ₓ $t 4001ₓ"},
    {"x←{⊂⍵ 1}⍣6000⊢1", "!LIMIT nested more than"},
    {"x←[1 2] ⋄ {x.[0]←x ⋄ 0}¨⍳20000", "!LIMIT nested more than"},
    {"x←[[1] 2] ⋄ {y←[x 5] ⋄ x.[0]←y ⋄ 0}¨⍳20000", "!LIMIT nested more than"},
#ifndef __SANITIZE_THREAD__ /* which holds 65,536 frames of a stack */
    {"{⍵=0?0;1+∇⍵-1}19000", "19000"},
#endif
};

static void *check_nested(void *unused)
{
    CHECK_ALL(nested);
    return unused;
}

/* On the process's own stack, and on one that is too small for anything. */
static void test_nested(void **state)
{
    (void)state;
    pthread_attr_t small;
    pthread_t thread;
    check_nested(NULL);
    assert_int_equal(pthread_attr_init(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, 256 << 10), 0);
    assert_int_equal(pthread_create(&thread, &small, check_nested, NULL), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&small);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),   cmocka_unit_test(test_brackets),     cmocka_unit_test(test_index),      cmocka_unit_test(test_executed),
        cmocka_unit_test(test_modules), cmocka_unit_test(test_roles_change), cmocka_unit_test(test_interrupts), cmocka_unit_test(test_preferences),
        cmocka_unit_test(test_nested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
