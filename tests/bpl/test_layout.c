/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Whole-array functions beyond their cases (layout.tsv): laws between functions, numbers against the same as host items, every allocation
 * failing once, limits, and what must not be read. */
#include "bpl/world.h"

/* ---- laws ---- */

/* Each holds for every argument x of the list that it is given. */
static const char *const arguments[] = {
    "5", "⍬", "\"\"", "\"mississippi\"", "3 1 4 1 5 9 2 6", "[3 1 4 1 5 9 2 6]ₓ₂", "[$t $f $f $t]", "3 4⍴⍳12ₓ", "2 3 4⍴⍳24", "0 3⍴0", "3 0⍴\"\"",
    "[1 \"ab\" 'c' [2 3]]",
    "2 2⍴[1 \"ab\" 'c' [2 3]]", "[\"a\":1 \"b\":2 \"c\":1]", "[\"i\":2 \"j\":3]⍴⍳6", "1j2 3 1j2 0", "1.5 0.1 0.3 0.1", "⊂1 2 3", "3 2⍴3 1 2 7 3 1"};
static const char *const laws[] = {
    "x≡⌽⌽x", "x≡⊖⊖x", "x≡⍉⍉x", "(⍴x)≡⌽⍴⍉x", "(≢x)≡≢⊖x", "(1⌽x)≡¯1⌽2⌽x", "(2⊖x)≡1⊖1⊖x", "x≡⍬↑x", "x≡⍬↓x", "(,:x)≡:,(⍴x)⍴,x", "(,x)≡,⊃⊂x",
    "(×/⍴x)≡≢,x", "x≡⊢x"};
static const char *const vector_laws[] = {
    "x≡(2↑x),2↓x", "x≡(¯2↓x),¯2↑x", "(⊂x)≡⊂⌽⌽x", "(<x)≡[⍋x]⌷x", "(>x)≡[⍒x]⌷x", "(∪x)≡(≠x)#x", "(x∊∪x)≡x=x", "(x~x)≡0#x", "(x∩x)≡x", "(∪x)≡∪∪x",
    "(⍋⍋⍋x)≡⍋x",
    "(≢⍷x)≡≢∪x", "(<∊⍷x)≡⍳≢x", "(∪x)≡∪x∪x", "x≡#/#x", "(x⍳x)≡(x⍳∪x).[((∪x)⍳x)]", "(+/x⍷x)=0<≢x", "(⌽x)≡[⌽⍳≢x]⌷x", "(2↕x)≡↕x", "(0 1⍴x)≡0#⍪x"};

static void test_laws(void **state)
{
    (void)state;
    bpl_world w;
    char text[512];
    bpl_world_open(&w);
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++)
        for (size_t k = 0; k < sizeof laws / sizeof *laws; k++) {
            snprintf(text, sizeof text, "x←%s ⋄ %s", arguments[i], laws[k]);
            assert_true_of(w.bpl, text);
        }
    static const char *const vectors[] = {
        "3 1 4 1 5 9 2 6", "[3 1 4 1 5 9 2 6]ₓ", "[3 1 4 1 5 9 2 6]ₓ₁", "0.5 0.25 0.5 1", "[0.5 0.25 0.5 1]ₛ", "\"mississippi\"", "$t $f $t"};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        for (size_t k = 0; k < sizeof vector_laws / sizeof *vector_laws; k++) {
            snprintf(text, sizeof text, "x←%s ⋄ %s", vectors[i], vector_laws[k]);
            assert_true_of(w.bpl, text);
        }
    bpl_world_close(&w);
}

/* A layout of numbers is that of the same numbers as host items: x beside a text, which is dropped again. */
static void test_items_alike(void **state)
{
    (void)state;
    static const char *const layouts[] = {
        "⌽x", "⊖x", "⍉x", "2⌽x", "¯1⊖x", "2 ¯5↑x", "¯1 1↓x", "5⍴x", "2 7⍴x", "↓x", "⍪x", ",x", "1 0⍉x", "0 0⍉x", "2↕x", "2 2↕x",
                                          "¯3↕x", "1 0 1⊂x", "1 1 2⊆x", "1 ¯2 2#x", "x,x", "x⍪x", "∪x", "⊃⍠0 1⊢⊂x", "[[2 0]]⌷x", "1⊃x", "↑x"};
    bpl_world w;
    char text[512];
    bpl_world_open(&w);
    for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++) {
        snprintf(text, sizeof text, "n←3 4⍴⍳12ₓ ⋄ f←{x←⍵ ⋄ %s} ⋄ ({[⍵ ⍵]}¨f n)≡f{[⍵ ⍵]}¨n", layouts[k]);
        if (strstr(layouts[k], "↓x") == layouts[k] || strstr(layouts[k], "⊂x") || strstr(layouts[k], "⊆x"))
            snprintf(text, sizeof text, "n←3 4⍴⍳12ₓ ⋄ f←{x←⍵ ⋄ %s} ⋄ ({{[⍵ ⍵]}¨⍵}¨f n)≡f{[⍵ ⍵]}¨n", layouts[k]);
        assert_true_of(w.bpl, text);
    }
    bpl_world_close(&w);
}

/* Large arguments, against their definitions. */
static void test_large(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "x←1000|7919×⍳20000ₓ ⋄ (∪x)≡(≠x)#x", "x←(1000|7919×⍳20000ₓ)÷7.0 ⋄ (x∊∪x)≡20000⍴$t",
        "x←(1000|7919×⍳20000ₓ)÷7.0 ⋄ ((∪x)⍳x).[[19999]]≡((∪x)⍳¯1↑x)",
        "x←100|7919×⍳20000ₓ ⋄ (≢¨⍷x)≡100⍴200ₓ", "x←20000 2⍴10|7919×⍳40000ₓ ⋄ (∪x)≡[(∪x)⍳∪x]⌷∪x", "x←20000 2⍴10|7919×⍳40000ₓ ⋄ (<x)≡[⍋x]⌷x", "500=≢∪{[⍵÷7;1]}¨20000⍴⍳500",
        "(⍋⌽⍳20000ₓ)≡⌽⍳20000ₓ",
        "(≢∪⊃{[⍵ ⍵]}¨1000|⍳5000)=1000", "(20000⍴$t $f)#⍳20000 ⋄ 10000=≢(20000⍴$t $f)#⍳20000", "(⍸20000⍴$f $t)≡1ₓ+2ₓ×⍳10000ₓ",
        "s←{\"k\",⍕⍵}¨⍳300 ⋄ (s⍳⊂\"k299\")=299"};
    bpl_world w;
    bpl_world_open(&w);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        if (!strstr(cases[k], "⍕")) assert_true_of(w.bpl, cases[k]);
    bpl_world_close(&w);
}

/* ---- memory ---- */

static const char *const everything[] = {
    "2 3⍴\"abc\"", "⍴[\"i\":2 \"j\":3]⍴⍳6", "≡[1 [2 \"a\"]]", "1 2≡1 2", "[1 2 'a'],3 4", "(2 2⍴1 2ₓ)⍪5.5", "⌽[\"a\":1 \"b\":2]", "1 0⌽2 2⍴⍳4",
    "⍉2 3⍴[1 \"ab\"]", "[0 [1 2;2 ∞]]⍉2 4⍴⍳8", "[\"w\" \"p\":[\"b\" \"h\"]]⍉⁻[\"b\":2 \"h\":3 \"w\":4]⍴⍳24",
    "4↑[1 \"ab\"]", "1↓\"abc\"", "↑2 3⍴⍳6", "↓2 3⍴⍳6", "¯3↕1 2 3 4", "[\"size\":3 \"edge\":\"wrap\"]↕1 2 3 4", "⊂⍠0⊢2 3⍴⍳6", "1 0 1⊂\"abc\"",
    "1 0 1⊆\"abc\"", "⊃[1 2;3 4 5]", "⊃[[1 2] \"abc\"]",
    "\"a\" 0⊃[\"a\":5 6]", "⍳2 3", "⍳[\"i\":3]", "2↦5", "⍸1 0 2", "⍸2 2⍴1 0 1 1", "1 3⍸0 2 4", "[\"ab\" \"c\"]⍳[\"c\" \"d\"]", "0.1 0.2⍳0.3 0.2",
    "[1 2⋄3 4]∊1 2", "∊[1 [2 3] \"ab\"]", "\"an\"⍷\"banana\"",
    "⍷1 2 1", "∪[[1 2] [1 2] 3]", "1 2∪2 3", "1 2 3~[2 4]", "∩1 2 1", "=1 2 1", "≠1.5 2 1.5", "⍋[\"ab\" \"a\" 3]", "<3 2⍴3 1 2 7 3 1",
    "\"ba\"⍋\"abab\"", "1 ¯2 1#1 2 3", "#\"aab\"", "[\"a\" \"b\"]:1 2", ":[\"a\":1]",
    "2 2 2⊤5 6", "2⊥1 0 1", "⊤5 9", "⊥1 0 1", "∨1j2 3", "∧[1 ¯2]ₓ", "⌻1 2 3 4", "1 2 3⌻4 5", "⨸360 7", "3⨸360", "3¿10", "3¿1000",
    "1 2⌹[1 2⋄3 5]", "⌹[1 2⋄3 5]", "⌹[0ᵣ 2ᵣ⋄3ᵣ 5ᵣ]", "1ᵣ 2ᵣ 3ᵣ⌹[1ᵣ 1⋄1 2⋄1 3ᵣ]"};

static void test_memory(void **state)
{
    (void)state;
    CHECK_MEMORY(everything);
}

/* ---- limits ---- */

static void test_limits(void **state)
{
    (void)state;
    static const char *const limited[] = {
        "1E10⍴0", "1E5 1E5⍴0", "⍳1E10", "⍳1E5 1E5", "↦1E10", "1E9↑1E9↑2 2⍴0", "2000000000#1", "2↕1E9⍴0", "1E10⊂1 2 3", "⍸,1E10",
        "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1⍴0",
                                          "=100000⍴⍳100000", "(9E8⍴0),9E8⍴0", "1E10⨸2"};
    for (size_t k = 0; k < sizeof limited / sizeof *limited; k++) {
        bpl_world w;
        bpl_world_open(&w);
        bpl_value *value = run_text(w.bpl, limited[k]);
        if ((value || strcmp(w.bpl->error.kind, "LIMIT"))) fail_msg("%s: %s", limited[k], value ? "a value" : w.bpl->error.kind);
        bpl_error_clear(w.bpl);
        bpl_world_close(&w);
    }
}

/* ---- reads ---- */

/* What moves items alone reads none. */
static void test_waits(void **state)
{
    (void)state;
    static const char *const waiting[] = {
        "⌽x", "⍉x", "3↑x", "2↓x", "2 3⍴x", ",x", "x,x", "2↕x", "1⌽x", "↑x", "⍪x", "<x", "⍋x", "x∊x", "⊃[x;x]", "2#x", "⊂x", "⊥x", "3⊤x"};
    bpl_world w;
    char text[256];
    bpl_world_open(&w);
    bpl_release(run_text(w.bpl, "x←1ₓ+⍳9ₓ"));
    for (size_t k = 0; k < sizeof waiting / sizeof *waiting; k++) {
        wg_lazy_figures before, after;
        snprintf(text, sizeof text, "y←%s", waiting[k]);
        wg_lazy_figures_of(w.bpl->lazy, &before);
        bpl_release(run_text(w.bpl, text));
        wg_lazy_figures_of(w.bpl->lazy, &after);
        if (bpl_failed(w.bpl)) fail_msg("%s: %s", text, w.bpl->error.message);
        if (before.reads != after.reads) fail_msg("%s reads", waiting[k]);
    }
    bpl_world_close(&w);
}

static uint64_t runs_of(bpl_world *w, const char *text)
{
    wg_lazy_figures before, after;
    wg_lazy_figures_of(w->bpl->lazy, &before);
    bpl_release(run_text(w->bpl, text));
    wg_lazy_figures_of(w->bpl->lazy, &after);
    if (bpl_failed(w->bpl)) fail_msg("%s: %s", text, w->bpl->error.message);
    return after.reads - before.reads;
}

/* What items share is computed once: a guard's exit and every sixteenth state of a loop ask for all items together. */
static void test_asked_together(void **state)
{
    (void)state;
    bpl_world w;
    bpl_world_open(&w);
    assert_int_equal(runs_of(&w, "x←1.5×⍳9 ⋄ y←2.5×⍳4"), 0);
    assert_int_equal(runs_of(&w, "{\"RANK\"::0 ⋄ s←+/x ⋄ [s×x;[s×y;⊂s+y];s]}0"), 1);
    assert_int_equal(runs_of(&w, "{\"RANK\"::0 ⋄ s←1++/x ⋄ s×(1 2⋄3⋄4 5⋄6⋄7 8 9⋄1⋄2 3⋄4⋄5 6⋄7)}0"), 1); /* more than a few */
    assert_int_equal(runs_of(&w, "s←{[a b]←⍵ ⋄ [b+2 3;a×2]}⍣15⊢[1 2+x.[0];3 4+y.[0]]"), 0);
    assert_int_equal(runs_of(&w, "{[a b]←⍵ ⋄ [b+2 3;a×2]}s"), 0);
    assert_int_equal(runs_of(&w, "{[a b]←⍵ ⋄ [b+2 3;a×2]}⍣32⊢[1 2+x.[0];3 4+y.[0]]"), 2);
    bpl_world_close(&w);
}

/* The derivative by a nested argument puts nothing together: each of its innermost items is an input. */
static void test_nested_derivative(void **state)
{
    (void)state;
    bpl_world w;
    bpl_world_open(&w);
    wg_lazy_explain(w.bpl->lazy, true);
    runs_of(&w, "p←[(2 3⍴⍳6)+÷3;0.5 2.5]");
    assert_int_equal(runs_of(&w, "{\"RANK\"::0 ⋄ {[a b]←⍵ ⋄ +/⊼b+.×a}∂⍵}p"), 1);
    char *told = wg_lazy_explained(w.bpl->lazy, false);
    assert_non_null(strstr(told, "matmul"));
    assert_null(strstr(told, "concat"));
    assert_null(strstr(told, "pad"));
    wg_text_free(told);
    bpl_world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_laws),   cmocka_unit_test(test_items_alike), cmocka_unit_test(test_large),
                                       cmocka_unit_test(test_memory), cmocka_unit_test(test_limits),      cmocka_unit_test(test_waits),
                                       cmocka_unit_test(test_asked_together), cmocka_unit_test(test_nested_derivative)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
