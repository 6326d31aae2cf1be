/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Names, patterns, paths, modified forms and selections. */
#include <time.h>

#include "bpl/language.h"

static const shown names[] = {
    {"x←3", ""},
    {"x←3 ⋄ x", "3"},
    {"a←b←2 ⋄ a+b", "4"},
    {"2×x←4", "8"},
    {"x←1 ⋄ x+←2 ⋄ x", "3"},
    {"x←10 ⋄ x-⍨←3 ⋄ x", "¯7"},
    {"x←10 ⋄ 2+x×←3", "5"},
    {"x←1 2 3 ⋄ x⌽← ⋄ x", "3 2 1"},
    {"x←1 2 3 ⋄ 1+x⌽←", "!VALUE"},
    {"f←{⍺+⍵} ⋄ x←1 ⋄ x(f)←5 ⋄ x", "6"},
    {"x+←1", "!VALUE x has no value to be modified"},
    {"_←5 ⋄ 1", "1"},
    {"y", "!VALUE y has no value"},
    {"x←{}3", "!VALUE"},
    {"f←+ ⋄ f⁻←- ⋄ f⁻5", "¯5"},
};

static const shown patterns[] = {
    {"[x y]←[5] ⋄ x y", "5 5"},
    {"[x y]←1 1⍴5 ⋄ x y", "5 5"},
    {"[a b]←1 2 ⋄ a-b", "¯1"},
    {"[a b]←1 ⋄ a b", "1 1"},
    {"[a [b c]]←1 (2 3) ⋄ c", "3"},
    {"[a b]←\"xy\" ⋄ b", "'y'"},
    {"[a b]←[1 2⋄3 4] ⋄ b", "3 4"},
    {"[a b]←1 2 3", "!LENGTH 2 names for 3 values"},
    {"[a: k:b]←[\"k\":2 \"a\":1] ⋄ a b", "1 2"},
    {"[a: z:b]←[\"k\":2 \"a\":1]", "!VALUE z"},
    {"[a b]←⊂1 2 ⋄ a", "1 2"},
    {"a←1 ⋄ b←2 ⋄ [a b]+←10 20 ⋄ a b", "11 22"},
};

static const shown paths[] = {
    {"x←10 20 30 ⋄ x.[1]←5 ⋄ x", "10 5 30"},
    {"x←10 20 30 ⋄ x₁←5 ⋄ x", "10 5 30"},
    {"x←10 20 30 ⋄ x.[¯1]←5 ⋄ x", "10 20 5"},
    {"x←10 20 30 ⋄ x.[[2 0]]←7 8 ⋄ x", "8 20 7"},
    {"x←10 20 30 ⋄ x.[[2 0]]←7 8 9", "!LENGTH"},
    {"x←10 20 30 ⋄ x.[3]←7", "!INDEX position 3 is outside an axis of length 3"},
    {"x←10 20 30 ⋄ x.[0.5]←7", "!DOMAIN whole"},
    {"x←10 20 30 ⋄ x.[$n]←7 ⋄ x", "10 20 30"},
    {"x←10 20 30 ⋄ x.[∞]←7 ⋄ x", "7 7 7"},
    {"x←5 ⋄ x.[]←⍳3 ⋄ x", "0 1 2"},
    {"x←1 2 3 ⋄ x.[1]←5ₓ ⋄ x", "1 5ₓ 3"},
    {"x←1 2 3 ⋄ x.[1]←\"ab\" ⋄ x", "1 \"ab\" 3"},
    {"x←1 2 3 ⋄ x.[0]←[1 2] ⋄ x", "[[1 2] 2 3]"},
    {"x←1 2 3 ⋄ x.[[0 1]]←⊂[1 2] ⋄ x", "[[1 2] [1 2] 3]"},
    {"x←[1 2]ₛ ⋄ x.[0]←2.5 ⋄ x", "[2.5 2]ₛ"},
    {"x←[1 2]ₛ ⋄ x.[0]←+/2.5 1 ⋄ x", "3.5 2"},
    {"x←[1 2]ₓ₁ ⋄ x.[0]←300ₓ", "!DOMAIN 300"},
    {"x←[1 2]ₓ₁ ⋄ x.[0]←3ₓ₂ ⋄ x", "[3 2]ₓ₂"},
    {"x←1 2 3 ⋄ x.[0]←2j1 ⋄ x", "2ⱼ1 2 3"},
    {"x←1 \"a\" ⋄ x.[1]←2 ⋄ +/x", "3"},
    {"m←3 3⍴⍳9 ⋄ m.[1]←7 8 9 ⋄ m", "0 1 2\n7 8 9\n6 7 8"},
    {"m←3 3⍴⍳9 ⋄ m.[: 1]←0 ⋄ m", "0 0 2\n3 0 5\n6 0 8"},
    {"m←3 3⍴⍳9 ⋄ m.[[0 1] [1 2]]←0 ⋄ m", "0 0 2\n3 4 0\n6 7 8"},
    {"m←3 3⍴⍳9 ⋄ m.[[0 1]]←7 8", "!LENGTH"},
    {"x←[[1 2] [3 4]] ⋄ x.[0].[1]←9 ⋄ x", "(1 9⋄3 4)"},
    {"x←[[1 2] [3 4]] ⋄ x.[[[0 1] [1 0]]]←9 8 ⋄ x", "(1 9⋄8 4)"},
    {"x←1 2 3 ⋄ x.[[0 1]].[0]←9 ⋄ x", "9 2 3"},
    {"x.[0]←5", "!VALUE x has no value yet"},
    {"x←[1 2 3] ⋄ y←x ⋄ y.[0]←9 ⋄ x", "1 2 3"},
    {"x←[1 2 3] ⋄ y←x+1 ⋄ x.[0]←9 ⋄ y", "2 3 4"},
    {"x←1 2 3 ⋄ {x.[0]←⍵}9 ⋄ x", "9 2 3"},
    {"x←1 2 3 ⋄ {x←7 7 ⋄ x.[0]←⍵ ⋄ x}9", "9 7"},
    {"x←1 2 3 ⋄ {⍵.[0]←9 ⋄ ⍵}x", "9 2 3"},
    {"x←1 2 3 ⋄ y←{⍵.[0]←9 ⋄ ⍵}x ⋄ x", "1 2 3"},
    {"x←1 2 3 ⋄ x.[0]←9 ⋄ x.[0]←x.[1] ⋄ x", "2 2 3"},
    {"x←[\"ab\" \"cd\"] ⋄ y←x ⋄ x.[0].[0]←'z' ⋄ y x", "(\"ab\" \"cd\"⋄\"zb\" \"cd\")"},
};

static const shown records[] = {
    {"T←[\"a\":1] ⋄ T.b←5 ⋄ T", "[\"a\":1 \"b\":5]"},
    {"T←[\"a\":1] ⋄ T.a←[1 2] ⋄ T", "[\"a\":[1 2]]"},
    {"T←[\"a\":1] ⋄ T.b.c←5 ⋄ T.b.c", "5"},
    {"T←[\"a\":1] ⋄ T.b+←2", "!INDEX"},
    {"T←[\"a\":1] ⋄ T.a+←2 ⋄ T", "[\"a\":3]"},
    {"T←[\"v\":[1 2 3]] ⋄ T.v.[1]←9 ⋄ T.v.[2]+←1 ⋄ T", "[\"v\":[1 9 4]]"},
    {"T←[\"a\":1] ⋄ T.[[\"z\" \"y\"]]←5 6 ⋄ T", "[\"a\":1 \"z\":5 \"y\":6]"},
    {"T←[\"a\":1] ⋄ T.[[\"z\" \"z\"]]←5 6", "!DOMAIN twice"},
    {"T←[\"a\":1] ⋄ T.[1]←5", "!INDEX"},
    {"T←[\"a\":1 \"b\":2 \"c\":3] ⋄ T.[[0 1]]←[\"b\":7 \"a\":8] ⋄ T", "[\"a\":8 \"b\":7 \"c\":3]"},
    {"T←[\"a\":1 \"b\":2] ⋄ T.[[\"a\" \"b\"]]←[\"a\":8]", "!INDEX"},
    {"x←1 2 ⋄ x.a←5 ⋄ x", "[1 2 \"a\":5]"},
    {"T←[] ⋄ T.a←5 ⋄ T", "[\"a\":5]"},
    {"x←5 ⋄ x.a←5", "!RANK"},
    {"m←[1 2⋄3 4] ⋄ m.[\"a\"]←9 ⋄ ⍴m", "[3 2]ₓ"},
    {"m←[1 2⋄3 4] ⋄ m.[: \"z\"]←7 8 ⋄ m.[: 2]", "7 8"},
    {"m←[1 2⋄3 4] ⋄ m.[0 [\"y\" \"z\"]]←7 8 ⋄ m.[1 [\"y\" \"z\"]]", "[\"y\":0 \"z\":0]"},
    {"m←[1 2⋄3 4] ⋄ m.[\"a\"]←1 2 3", "!LENGTH"},
    {"m←[1 2⋄3 4] ⋄ {∞::0 ⋄ m.[\"a\"]←1 2 3}0 ⋄ ⍴m", "[2 2]ₓ"},
    {"T←[\"a\":1 \"b\":2] ⋄ T.[[0 0]]←9", "!DOMAIN twice"},
    {"T←[\"a\":1 \"b\":2] ⋄ T.[[0 0]]", "!DOMAIN twice"},
};

static const shown modified[] = {
    {"x←1 2 3 ⋄ x.[0]+←5 ⋄ x", "6 2 3"},
    {"x←1 2 3 ⋄ x.[[0 2]]×←10 ⋄ x", "10 2 30"},
    {"z←5⍴0 ⋄ z.[[0 1 1 3]]+←¯7 ⋄ z", "¯7 ¯14 0 ¯7 0"},
    {"x←1 2 3 ⋄ x.[[0 0 1]]-←10 20 30 ⋄ x", "¯29 ¯28 3"},
    {"x←1 2 3 ⋄ x.[[0 0 1]]{⍺+⍵}←10 ⋄ x", "21 12 3"},
    {"x←1 2 3 ⋄ x.[[0 0 1]],←10 ⋄ x", "[[1 10 10] [2 10] 3]"},
    {"x←1 2 3 ⋄ x.[[0 1]]-← ⋄ x", "¯1 ¯2 3"},
    {"x←1 2 3 ⋄ x.[0],←5 6 ⋄ x", "[[1 5 6] 2 3]"},
    {"x←1 2 3 ⋄ x.[0]{}←5", "!VALUE"},
    {"x←1 2 3 ⋄ x.[0]{x←7 7 7 ⋄ ⍺+⍵}←5 ⋄ x", "6 2 3"},
};

static const shown selections[] = {
    {"x←5 ⋄ (3↑x)←¯2ₓ ⋄ x", "¯2ₓ"},
    {"x←0⍴⊂1 2 ⋄ (⌽x)←¯2 ⋄ x", "0⍴⊂[0 0]"},
    {"x←2 3⍴⍳6 ⋄ x.[0]←1 1⍴9 ⋄ x.[0]", "9 9 9"},
    {"x←1 2 3 ⋄ (2↑x)←8 9 ⋄ x", "8 9 3"},
    {"x←1 2 3 ⋄ 2↑x ←8 9 ⋄ x", "8 9 3"},
    {"x←1 2 3 ⋄ (x)←5 ⋄ x", "5"},
    {"x←5 6 7 ⋄ (2↑x)+←10 ⋄ x", "15 16 7"},
    {"x←1 2 3 ⋄ (5↑x)←4 ⋄ x", "4 4 4"},
    {"x←1 2 3 ⋄ (5↑x)←1 2 3 4 5 ⋄ x", "1 2 3"},
    {"x←1 2 3 ⋄ ⌽x ←4 5", "!LENGTH"},
    {"x←1 2 3 ⋄ ({⌽⍵}x)←4 5 6 ⋄ x", "6 5 4"},
    {"x←1 2 3 ⋄ (+/x)←4", "!DOMAIN computes"},
    {"x←1 2 3 ⋄ ({⍵+1}x)←4", "!DOMAIN computes"},
    {"x←1 2 3 ⋄ (x+1)←4", "!SYNTAX"},
    {"m←[1 2⋄3 4] ⋄ (,m)←5 6 7 8 ⋄ m", "5 6\n7 8"},
    {"m←3 3⍴⍳9 ⋄ (0 0⍉m)←0 ⋄ ,m", "0 1 2 3 0 5 6 7 0"},
    {"x←[\"ab\" \"cd\"] ⋄ (0⊃x)←\"q\" ⋄ x", "\"q\" \"cd\""},
    {"x←[[1 2] [3 4]] ⋄ (1 0⊃x)←9 ⋄ x", "(1 2⋄9 4)"},
    {"x←(1 2⋄3 4) ⋄ (⌽¨x)←(8 9⋄10 11) ⋄ x", "(9 8⋄11 10)"},
    {"x←(1 2⋄3 4) ⋄ (↑¨x)←8 9 ⋄ x", "(8 2⋄9 4)"},
    {"x←(1 2⋄3 4) ⋄ (⌽x)←7 8 ⋄ x", "8 7"},
    {"x←\"ab\" \"cd\" ⋄ (∊x)←\"wxyz\" ⋄ x", "\"wx\" \"yz\""},
    {"x←(1 2⋄3 4) ⋄ (↑¨x)+←10 ⋄ x", "(11 2⋄13 4)"},
    {"T←[\"a\":[1 2 3]] ⋄ (2↑T.a)←9 ⋄ T", "[\"a\":[9 9 3]]"},
    {"x←1 2 3 ⋄ (1↓x.[[0 1]])←9 ⋄ x", "1 9 3"},
    {"T←[\"a\":1 \"b\":2] ⋄ (2↑T)←[\"b\":7 \"a\":8] ⋄ T", "[\"a\":8 \"b\":7]"},
    {"f←{x←⍵ ⋄ (2↑x)←0 ⋄ x} ⋄ f 1 2 3", "0 0 3"},
    {"x←1 2 3 ⋄ (⊢x)←0 ⋄ x", "0"},
    {"x←(1 2⋄3 4 5) ⋄ (0⊃x)-←1 ⋄ x", "(0 1⋄3 4 5)"},
    {"x←5 ⋄ (↑x)←⍬ ⋄ x", "⍬"},
};

static void test_names(void **state) { (void)state, CHECK_ALL(names); }
static void test_patterns(void **state) { (void)state, CHECK_ALL(patterns); }
static void test_paths(void **state) { (void)state, CHECK_ALL(paths); }
static void test_records(void **state) { (void)state, CHECK_ALL(records); }
static void test_modified(void **state) { (void)state, CHECK_ALL(modified); }
static void test_selections(void **state) { (void)state, CHECK_ALL(selections); }

/* A write of one item costs the same in an array of a million as in one of ten. */
static void test_writes_are_in_place(void **state)
{
    (void)state;
    bpl_world w;
    bpl_world_open(&w);
    static const shown lines[] = {
        {"x←1000000⍴0.5 ⋄ x.[0]←1", ""},
        {"{x.[⍵]←⍵ ⋄ ⍬}¨⍳20000 ⋄ +/20001↑x", "199990000.5"},
        {"y←x ⋄ x.[0]←¯1 ⋄ y.[0] x.[0]", "0 ¯1"},
        {"T←[\"v\":1000000⍴0] ⋄ {T.v.[⍵]←1 ⋄ ⍬}¨⍳20000 ⋄ +/T.v", "20000"},
        {"s←1000000⍴⊂\"\" ⋄ {s.[⍵]←\"ab\" ⋄ ⍬}¨⍳20000 ⋄ ≢∊s", "40000ₓ"},
    };
    clock_t begun = clock();
    CHECK_SESSION(&w, lines);
    /* 60,000 copies of 8 MB would take minutes */
    assert_true((double)(clock() - begun) / CLOCKS_PER_SEC < 20);
    bpl_world_close(&w);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),     cmocka_unit_test(test_patterns),   cmocka_unit_test(test_paths),
        cmocka_unit_test(test_records),   cmocka_unit_test(test_modified),   cmocka_unit_test(test_selections),
        cmocka_unit_test(test_writes_are_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
