/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Kinds of numbers where the language is its own: integers that wrap and floor, marks, real forms, unbounded numbers, static kinds, and what a
 * function asks of its arguments before it looks at one. The other rules are cases of kinds.tsv. */
#include "bpl/evaluate.h"
#include "bpl/world.h"

typedef struct rule {
    const char *expression, *expected; /* source, or "KIND: message" of an error */
} rule;

/* The literal of a value, which tells its kinds. */
static void told(bpl_session *session, const char *expression, char text[600])
{
    bpl_value *value = run_text(session, expression);
    base_string out = base_string_new(session->allocator);
    if (value && bpl_literal(session, value, &out)) snprintf(text, 600, "%s", out.text);
    else snprintf(text, 600, "%.31s: %.479s", session->error.kind, session->error.message);
    bpl_error_clear(session);
    base_string_free(&out);
    bpl_release(value);
}

static void check(const rule *rules, size_t count, void (*prepare)(bpl_session *session))
{
    for (size_t i = 0; i < count; i++) {
        bpl_world w;
        char text[600], wanted[600];
        bpl_world_open(&w);
        if (prepare) prepare(w.bpl);
        told(w.bpl, rules[i].expression, text);
        const char *expected = rules[i].expected;
        if (strstr(expected, ": ")) snprintf(wanted, sizeof wanted, "%s", expected);
        else told(w.bpl, expected, wanted);
        if (strcmp(text, wanted)) fail_msg("%s is %s, not %s", rules[i].expression, text, wanted);
        bpl_world_close(&w);
    }
}
#define CHECK(rules, prepare) check(rules, sizeof rules / sizeof *rules, prepare)

static void test_integers(void **state)
{
    (void)state;
    static const rule rules[] = {
        {"7ₓ÷2ₓ", "3ₓ"}, {"¯7ₓ÷2ₓ", "¯4ₓ"}, {"÷3ₓ", "0ₓ"}, {"0ₓ÷0ₓ", "0ₓ"}, {"7ₓ₁÷2ₓ₁", "3ₓ₁"}, {"7ₓ÷2", "3.5ₚ"}, {"$t÷$t", "1ₓ"},
        {"5ₓ÷0ₓ", "DOMAIN: an integer is divided by 0: ÷ₐ divides floats"},
        {"[1 0]ₓ÷[0 0]ₓ", "DOMAIN: an integer is divided by 0: ÷ₐ divides floats"},
        {"7ₓ÷ₐ2ₓ", "3.5ₚ"}, {"7ₓ₁÷ₐ2ₓ₁", "3.5ₛ"}, {"7÷ₓ2", "3ₓ"}, {"7ₓ÷ᵣ2ₓ", "7ᵣ2"}, {"1÷ᵣ3", "1ᵣ3"},
        {"9223372036854775807ₓ+1ₓ", "(-9223372036854775807ₓ)-1ₓ"}, {"4611686018427387904ₓ×2ₓ", "(-9223372036854775807ₓ)-1ₓ"},
        {"3000000000ₓ×3000000000ₓ", "9000000000000000000ₓ"},
        {"2ₓ*¯1ₓ", "0.5ₚ"}, {"2ₓ*[¯1 2]ₓ", "[0.5 4]ₚ"}, {"2ₓ*62ₓ", "4611686018427387904ₓ"}, {"2ₓ*64ₓ", "0ₓ"}, {"3ₓ*[0 1 5]ₓ", "[1 3 243]ₓ"},
        {"2ₓ*3", "8ₚ"},
        {"2ₓ₁*¯1ₓ₂", "DOMAIN: *: an integer to a negative power is none of its kind"}, {"16ₓ₁*2ₓ₁", "0ₓ₁"}, {"!20ₓ", "2432902008176640000ₓ"},
        {"!66ₓ", "0ₓ"},
        {"200ₓ₁+300ₓ", "DOMAIN: +: 300 does not fit the fixed integer of 1 byte that it meets: mark one of the two"}, {"200ₓ₁+100ₓ₁", "44ₓ₁"},
        {"-3ₓ₁", "253ₓ₁"}, {"50ₓ!100ₓ", "50ₓ!100ₓ"},
        {"⌊∞", "9223372036854775807ₓ"}, {"⌊¯∞", "(-9223372036854775807ₓ)-1ₓ"}, {"⌊$n", "0ₓ"}, {"⌈1E30", "9223372036854775807ₓ"}, {"×2.5ₛ", "1ₓ"}};
    CHECK(rules, NULL);
}

static void test_marks(void **state)
{
    (void)state;
    static const rule rules[] = {
        {"x←3.7 ⋄ xₓ", "3ₓ"}, {"x←¯3.7 ⋄ xₓ", "¯4ₓ"}, {"x←3-1E¯15 ⋄ xₓ", "3ₓ"}, {"x←300 ⋄ xₓ₁", "255ₓ₁"}, {"x←300ₓ ⋄ xₓ₁", "44ₓ₁"},
        {"x←¯5 ⋄ xₓ₁", "0ₓ₁"}, {"-ₓ₁ 3", "0ₓ₁"},
        {"x←∞ ⋄ xₓ", "DOMAIN: ₓ: no integer is infinite or no number"}, {"x←3j4 ⋄ xₓ", "DOMAIN: ₓ: real numbers are expected, not complex ones"},
        {"x←'a' ⋄ xₓ", "DOMAIN: ₓ: numbers are expected, not characters"}, {"x←3j4 ⋄ xₕ", "3j4ₛ"}, {"x←[1.5 [2.5 3.5]] ⋄ xₓ", "[1ₓ [2 3]ₓ]"},
        {"x←$t ⋄ xₛ", "1ₛ"},
        {"x←[\"a\":1.5] ⋄ xₓ", "[\"a\":1]ₓ"}, {"x←3j4 ⋄ xₐ", "3ₚ"}, {"x←7ₓ₁ ⋄ xₐ", "7ₛ"}, {"x←7ᵣ3 ⋄ xₓ", "2ₓ"}, {"x←1ᵣ3 ⋄ xₛ", "0.33333334ₛ"},
        {"x←0.5 ⋄ xᵣ", "1ᵣ2"},
        {"√ₐ¯4", "0ₚ"}, {"⍟ₐ¯1", "0ₚ"}, {"¯8*ₐ÷3", "1ₚ×¯8*ₐ÷3"}, {"√ₐ4ₓ₁", "2ₛ"}, {"√ₐ¯4 9", "[0 3]ₚ"}, {"2*ₐ3ₓ", "8ₚ"},
        {"x←2 3 ⋄ y←3 0 ⋄ xⱼy", "[2j3 3]ₚ"}, {"x←2j1 ⋄ y←3 ⋄ xⱼy", "2j4ₚ"}, {"x←2 ⋄ y←3ₓ ⋄ xₑy", "2000ₚ"}, {"x←2 ⋄ xᵣ3", "2ᵣ3"},
        {"x←2 ⋄ xⱼ∞", "2j∞ₚ"}};
    CHECK(rules, NULL);
}

static void test_unbounded(void **state)
{
    (void)state;
    static const rule rules[] = {
        {"1ᵣ3+1ₓ", "4ᵣ3"}, {"1ᵣ3+$t", "4ᵣ3"}, {"1ᵣ3+0.5", "0.8333333333333333ₚ"}, {"1ᵣ3+0.5ₛ", "0.8333334ₛ"}, {"1ᵣ3+2j1", "2.3333333333333335j1ₚ"},
        {"3ᵣ", "6ᵣ2"},
        {"2ₓ*ᵣ100ₓ", "1267650600228229401496703205376ᵣ"}, {"!30ᵣ", "265252859812191058636308480000000ᵣ"},
        {"50ᵣ!100ᵣ", "100891344545564193334812497256ᵣ"},
        {"2ᵣ3*¯3ₓ", "27ᵣ8"}, {"⌊7ᵣ3", "2ᵣ"}, {"⌈7ᵣ3", "3ᵣ"}, {"1ᵣ2|7ᵣ3", "1ᵣ3"}, {"1ᵣ2∨1ᵣ3", "1ᵣ6"}, {"1ᵣ2∧1ᵣ3", "1ᵣ"}, {"1ᵣ3=1÷3", "$t"},
        {"1ᵣ3<1ᵣ2", "$t"},
        {"1ᵣ3 2ᵣ3+1ₓ", "4ᵣ3 5ᵣ3"}, {"÷0ᵣ", "DOMAIN: an exact number is divided by 0"}, {"1⍭170141183460469231731687303715884105727ᵣ", "$t"},
        {"2ᵣ*10000000000ₓ", "LIMIT: an unbounded number of more than 134217728 bits"}, {"√4ᵣ", "2ₚ"},
        {"1ᵣ2∨'a'", "DOMAIN: ∨: numbers are expected, not characters"}};
    CHECK(rules, NULL);
}

/* Nothing changes kind for a value, and nothing is read for one. */
static void make_static(bpl_session *session) { session->preferences.static_kinds = true; }

static void test_static(void **state)
{
    (void)state;
    static const rule rules[] = {{"√¯4", "$n"}, {"⍟¯1", "$n"}, {"¯8*÷3", "$n"}, {"0÷0", "$n"}, {"⌊2.5", "2ₚ"}, {"⌈2.5", "3ₚ"}, {"×2.5", "1ₚ"},
                                 {"⌊ₓ2.5", "2ₓ"}, {"7ₓ÷2ₓ", "3ₓ"},
                                 {"0○2", "$n"}, {"1=1+1E¯15", "$t"}, {"3√¯8", "¯2ₚ"}, {"2√¯4", "$n"},
                                 {"2ₓ*¯1ₓ", "DOMAIN: *: an integer to a negative power is none of its kind"}, {"3ₓ*[0 1 5]ₓ", "[1 3 243]ₓ"},
                                 {"5ₓ÷0ₓ", "0ₓ"}, {"¯2!¯1", "¯1ₚ"},
                                 {"'a'×2", "DOMAIN: ×: numbers are expected, not characters"}};
    CHECK(rules, make_static);
}

static void make_exact(bpl_session *session) { session->preferences.mathish = false; }

static void test_exact(void **state)
{
    (void)state;
    static const rule rules[] = {{"1=1+1E¯15", "$f"}, {"0÷0", "$n"}, {"1⍟1", "$n"}, {"⌊3-1E¯15", "2ₓ"}, {"1 2≡1 2+1E¯15", "$f"}, {"3<3+1E¯15", "$t"}};
    CHECK(rules, make_exact);
}

/* Maps over cells keep their kind where all cells do, and derivatives pass through every rule. */
static void test_levels(void **state)
{
    (void)state;
    static const rule rules[] = {{"{√⍵}¨1 4 9", "[1 2 3]ₚ"}, {"{√⍵}¨¯1 4", "[0j1 2]ₚ"}, {"{⍟⍵}⍤0⊢1 1", "[0 0]ₚ"}, {"{1ₓ÷⍵}¨1ₓ 2ₓ", "[1 0]ₓ"},
                                 {"{2ₓ*⍵}¨[1 3 10]ₓ", "[2 8 1024]ₓ"}, {"{2ₓ*⍵}¨[1 ¯1]ₓ", "[2ₓ 0.5ₚ]"}, {"{⍵*2ₓ}¨[1 3]ₓ", "[1 9]ₓ"},
                                 {"{⍵+1}¨1ₓ 2.5", "[2 3.5]ₚ"},
                                 {"{√⍵}∂4", "0.25ₚ"}, {"{⍵÷⍵+1}∂0", "1ₚ"}, {"{⌊⍵}∂2.5", "0ₚ"}, {"{√⍵}∂⍤0⊢4 16", "[0.25 0.125]ₚ"}, {"{⍵*3}∂2", "12ₚ"},
                                 {"{1○⍵}∂0", "1ₚ"}, {"{1|⍵}∂2 ", "1ₚ"}, {"{1.5|⍵}∂7.5", "1ₚ"}, {"{⍵|6}∂2", "¯3ₚ"},
                                 {"{⍵∧6}∂4", "0ₚ"}, {"{2!⍵}∂5", "4.5ₚ"}, {"{√⍵}∂¯4", "UNSUPPORTED: complex results are not differentiated"},
                                 {"{⍵=1?⍵×2;⍵}∂1", "2ₚ"}};
    CHECK(rules, NULL);
}

/* What a value is made of tells that no item is below 0: √ waits then, and looks at nothing. */
static void test_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *expression;
        bool waits;
    } cases[] = {{"√|1 ¯2 3", true}, {"√⊼¯1 2", true}, {"√+/⊼¯1 2 3", true}, {"x←¯1 2 3 ⋄ √x×x", true}, {"√*¯1 2", true}, {"⍟1+|¯1 2", true},
                 {"(|¯1 2)*0.5", true},
                 {"√0⌈¯1 2", true}, {"√(|1 2)÷|3 4", true}, {"√⌽|1 ¯2", true}, {"√1 2 3", false}, {"√¯1 2", false}, {"√(|1 2)-1", false},
                 {"x←|1 2 3 ⋄ x.[0]←¯4 ⋄ √x", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bpl_world w;
        bpl_world_open(&w);
        bpl_value *value = run_text(w.bpl, cases[i].expression);
        assert_non_null(value);
        wg_lazy_figures figures;
        wg_lazy_figures_of(w.bpl->lazy, &figures);
        bool waits = figures.plans == 0;
        if (waits != cases[i].waits) fail_msg("%s has %s", cases[i].expression, waits ? "computed nothing" : "computed something");
        bool complex = strstr(cases[i].expression, "√¯1 2") || strstr(cases[i].expression, "x.[0]");
        assert_int_equal(value->class, complex ? BPL_CLASS_COMPLEX : BPL_CLASS_FLOAT);
        bpl_release(value);
        bpl_world_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_integers), cmocka_unit_test(test_marks), cmocka_unit_test(test_unbounded),
                                       cmocka_unit_test(test_static),   cmocka_unit_test(test_exact), cmocka_unit_test(test_levels),
                                       cmocka_unit_test(test_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
