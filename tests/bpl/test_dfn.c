/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Dfns: arguments, scope, predicates, recursion, tail calls, operators of one's own, absent ⍺. */
#include "bpl/language.h"

static const shown calls[] = {
    {"{⍵+1}4", "5"},
    {"3{⍺-⍵}4", "¯1"},
    {"{a←⍵+1 ⋄ b←a×2 ⋄ a b}3", "4 8"},
    {"{x←⍵}3", ""}, {"1+{x←⍵}3", "4"}, {"y←{x←⍵}3 ⋄ y", "3"},
    {"{}3", ""},
    {"1+{}3", "!VALUE no value"},
    {"{⋄}3", ""},
    {"{⍵←4 ⋄ ⍵}3", "4"},
    {"{⍵+←4 ⋄ ⍵}3", "7"},
    {"x←5 ⋄ y←{⍵+←4 ⋄ ⍵}x ⋄ x y", "5 9"},
    {"{a←1 ⋄ b←2 ⋄ c←3 ⋄ d←4 ⋄ e←5 ⋄ f←6 ⋄ g←7 ⋄ h←8 ⋄ +/(a b c d e f g h)}0", "36"},
    {"⍵", "!VALUE"},
    {"⍵←3", "!SYNTAX"},
    {"∇3", "!VALUE"},
    {"{⍵ 3}[+ -]", "3 ¯3"},
    {"({+/}0)1 2 3", "6"},
    {"f←{+} ⋄ 2(f 0)3", "5"},
    {"f←{+/÷≢} ⋄ (f 0)2 4 9", "5"},
    {"fs←[+ -] ⋄ fs₁ 3", "¯3"},
    {"k←[\"f\":+] ⋄ 2 k.f 3", "5"},
};

static const shown scope[] = {
    {"x←1 ⋄ {x←2 ⋄ x}0 ⋄ x", "1"},
    {"x←1 ⋄ {x+←2 ⋄ x}0 ⋄ x", "3"},
    {"f←{y←⍵ ⋄ g←{y+←⍵} ⋄ g 5 ⋄ y} ⋄ f 1", "6"},
    {"f←{y←⍵ ⋄ {⍵+y}⍵} ⋄ f 3", "6"},
    {"y←100 ⋄ g←{y+⍵} ⋄ f←{y←1 ⋄ g ⍵} ⋄ f 3", "103"},
    {"f←{{⍵+1}} ⋄ (f 0)3", "!DOMAIN a call that has ended"},
    {"f←{[{⍵+1}]} ⋄ f 0", "!DOMAIN a call that has ended"},
    {"f←{+∘{⍵+1}} ⋄ f 0", "!DOMAIN a call that has ended"},
    {"T←[\"a\":1] ⋄ {T.f←{⍵} ⋄ 1}0", "!DOMAIN"},
    {"T←[\"a\":1] ⋄ {T.f←+ ⋄ 1}0 ⋄ 2 T.f 3", "5"},
    {"f←{⍵{⍺+⍵}⍵} ⋄ f 3", "6"},
    {"f←{g ⍵} ⋄ g←{⍵+1} ⋄ f 3", "4"},
    {"f←{g←{⍵>3?⍵;g ⍵+1} ⋄ g ⍵} ⋄ f 0", "4"},
};

static const shown roles[] = {
    {"f←- ⋄ {f{⍵}←3}0", "!DOMAIN cannot become an array"},
    {"x←3 ⋄ {x{-}←3}0", "!DOMAIN cannot become a function"},
    {"x←3 ⋄ {x{[⍵ -]}←3 ⋄ x 4}0", "3 ¯4"},
    {"f←- ⋄ {⍎\"f←3\" ⋄ f 4}0", "3 4"},
    {"f←- ⋄ (f 4),f←3", "!VALUE f was a function"},
};

static const shown predicates[] = {
    {"{⍵>0?\"pos\";⍵<0?\"neg\";\"zero\"}0", "zero"},
    {"{⍵>0?p←-⍵ ⋄ p×2;⍵}4", "¯8"},
    {"{[⍵]?1;0}1", "1"},
    {"{⍵?1;0}1 0", "!LENGTH"},
    {"{⍵?1;0}2", "!DOMAIN"},
    {"{⍵>5?1}3", "!DOMAIN no predicate"},
    {"{⍵>5?}7", ""},
    {"{x←⍵ ⋄ x>5?1 ⋄ x<10?2;3}7", "2"},
    {"{x←⍵ ⋄ x>5?1 ⋄ x<10?2;3}17", "3"},
};

static const shown absent[] = {
    {"{⍺}3", "!VALUE absent"},
    {"{⍺-⍵}3", "¯3"},
    {"{⍺,⍵}3", "[3]"},
    {"{⍺+1}3", "1"},
    {"{(⍺-)⍵}3", "¯3"},
    {"{⍺ ⍵}3", "3"},
    {"{⍺ ⍺}3", "!VALUE absent"},
    {"{[⍺ ⍵]}3", "[3]"},
    {"{[\"a\":⍺ \"b\":⍵]}3", "[\"b\":3]"},
    {"{⍺{⍺-⍵}⍵}3", "¯3"},
    {"{⍺.[0]-⍵}3", "¯3"},
    {"{⍵-⍺}3", "!VALUE absent"},
    {"{⍺²-⍵}3", "!VALUE absent"},
    {"{⍺∘-⍵}3", "!VALUE absent"},
    {"{x←⍺ ⋄ 3}3", "!VALUE absent"},
    {"{⍺.a-⍵}3", "!VALUE absent"},
    {"{⍺←5 ⋄ ⍺-⍵}3", "2"},
    {"1{⍺←÷\"a\" ⋄ ⍺-⍵}3", "¯2"},
    {"{⍺ 0⊘1 ⍵}3", "0"},
    {"4{⍺ 0⊘1 ⍵}3", "1"},
};

static const shown operators[] = {
    {"tw←{⍶ ⍶ ⍵} ⋄ {⍵+3}tw 5", "11"},
    {"op←{⍶+⍹×⍵} ⋄ (3 op 4)0.25", "4"},
    {"op←{⍺ ⍶ ⍵} ⋄ 3(-op)5", "¯2"},
    {"op←{⍵=0?0;≥⍶⍢≤⍵} ⋄ +op 3", "3"},
    {"op←{⍵=0?⍶ 0;∇⍵-1} ⋄ {⍵+7}op 3", "7"},
    {"k←⍣2 ⋄ {⍵×2}k 3", "12"},
    {"k←∘ ⋄ -k- 3", "3"},
    {"op←{⍶{⍶ ⍵}⍵} ⋄ -op 3", "¯3"},
    {"op←{⍶+⍵} ⋄ (2 op)3", "5"},
    {"+({⍶⌿⍵})[1 2⋄3 4]", "4 6"},
    {"{⍢}3", "!VALUE"},
};

static const shown deep[] = {
    {"{⍵=0?0;1+∇⍵-1}19990", "19990"},
    {"{⍵=0?0;1+∇⍵-1}20001", "!LIMIT 20000"},
    {"f←{f ⍵} ⋄ {⍵=0?7;∇⍵-1}100000", "7"},
    {"f←{⍵=0?0;g ⍵-1} ⋄ g←{f ⍵} ⋄ f 30000", "0"},
    {"{⍵=0?0;≥↑∇¨[⍵-1]}4000", "4000"},
    {"op←{⍵=0?0;1+⍶⍢⍵-1} ⋄ +op 10000", "10000"},
    {"{∞::¯1 ⋄ {1+∇⍵}⍵}0", "¯1"},
    {"{⍵=0?÷\"a\";1+∇⍵-1}5000", "!DOMAIN"},
};

static void test_calls(void **state) { (void)state, CHECK_ALL(calls); }
static void test_scope(void **state) { (void)state, CHECK_ALL(scope); }
static void test_roles(void **state) { (void)state, CHECK_ALL(roles); }
static void test_predicates(void **state) { (void)state, CHECK_ALL(predicates); }
static void test_absent(void **state) { (void)state, CHECK_ALL(absent); }
static void test_operators(void **state) { (void)state, CHECK_ALL(operators); }
static void test_deep(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* it holds 65,536 frames of a stack */
#endif
    CHECK_ALL(deep);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),  cmocka_unit_test(test_scope),     cmocka_unit_test(test_predicates),
        cmocka_unit_test(test_absent), cmocka_unit_test(test_operators), cmocka_unit_test(test_deep),
        cmocka_unit_test(test_roles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
