/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Inverses beyond their cases (respelled.tsv, modifiers.tsv): f⁻ f y is y, and f f⁻ y too; functions that have none; inverses of one's own. */
#include "bpl/language.h"

/* Functions of one argument and something they are undone on: both ways round. */
static const struct { const char *function, *of; } undone[] = {
    {"(3+)", "1 2.5 ¯7"}, {"(10-)", "1 2 3"}, {"(-↢10)", "1 2 3"}, {"(4×)", "1 2 3"}, {"(×↢4)", "1 2 3"}, {"(12÷)", "1 2 3"}, {"(÷↢4)", "1 2 3"},
        {"(3ₓ×)", "[2 5]ₓ"}, {"÷", "1 2 4"},
    {"*", "0.5 1 2"}, {"⍟", "0.5 1 2"}, {"(2*)", "0.5 1 2"}, {"(*↢3)", "0.5 1 2"}, {"(2⍟)", "0.5 1 2"}, {"(⍟↢5)", "2 3 4"}, {"√", "4 9 2"},
        {"(3√)", "8 2"}, {"(√↢5)", "2 3"}, {"π", "1 2"},
    {"(2π)", "1 2"}, {"(π↢2)", "1 2"}, {"⊼", "1 2 3"}, {"⊽", "1 2 3"}, {"≤", "1 2 3"}, {"≥", "1 2 3"}, {"~", "$t $f"}, {"(1○)", "0.1 0.5"},
        {"(2○)", "0.1 0.5"}, {"(3○)", "0.1 0.5"},
    {"(4○)", "1.5 2"}, {"(5○)", "0.1 2"}, {"(6○)", "0.1 2"}, {"(7○)", "0.1 0.5"}, {"○", "0.1 0.5"}, {"⌽", "1 2 3"}, {"⊖", "2 2⍴⍳4"}, {"⍉", "2 3⍴⍳6"},
        {"(1 2 0⍉)", "2 3 4⍴⍳24"},
    {"(2⌽)", "1 2 3 4"}, {"(1⊖)", "3 2⍴⍳6"}, {"⊂", "1 2 3"}, {"↓", "2 3⍴⍳6"}, {"⊤", "5 9 2"}, {"⊥", "1 0 1"}, {"(24 60⊤)", "100"},
        {"(10⊥)", "1 2 3"}, {"⍸", "[1 0 2]ₓ"},
    {"(\"abcd\"⍳)", "\"cab\""}, {"(1 2,)", "3 4"}, {"(,↢7)", "3 4"}, {"(⍪↢[9 9])", "2 2⍴⍳4"}, {"(1 3 2#)", "5 6 7"}, {"(2 3⍴)", "1 2 3 4 5 6"},
        {"(3↕)", "1 2 3 4 5"}, {"⍋", "2 0 1"},
    {"(\"a\" \"b\":)", "1 2"}, {"⌹", "[2 1⋄1 3]"}, {"(+\\)", "1 5 2"}, {"(-\\)", "1 5 2"}, {"(×\\)", "1 5 2"}, {"(+⍀)", "2 3⍴⍳6"}, {"(⊽¨)", "1 2 3"},
        {"(⌽⍤1)", "2 3⍴⍳6"},
    {"(⌽⍠0)", "2 3⍴⍳6"}, {"(10 20+⍠0)", "2 3⍴⍳6"}, {"(⊽∘≥)", "1 2 3"}, {"(⊽⍥≥)", "1 2 3"}, {"(⊽@⌽)", "1 2 3"}, {"(⊽⍣3)", "1 2 3"},
        {"(⊽⊘-)", "1 2 3"}, {"(1 2+⊗)", "10 20 30"},
    {"(+⍨)", "1 2 3"}, {"(×⍨)", "1 2 3"}, {"(32+1.8×)", "0 100"}, {"(×↢*)", "0.5 1 2"}, {"(⊽⁻)", "2 4"}, {"(⊽ₓ)", "[1 2]ₓ"}, {"(¯1⌽⌽)", "1 2 3"},
        {"(2↣×)", "1 2"},
};

static const shown none[] = {
    {"⌊⁻1", "!DOMAIN no known inverse"}, {"|⁻1", "!DOMAIN no known inverse"}, {"≡⁻1", "!DOMAIN no known inverse"},
        {"(3|)⁻1", "!DOMAIN no known inverse"}, {"{⍵+1}⁻1", "!DOMAIN no known inverse"},
    {"(+/)⁻1", "!DOMAIN no known inverse"}, {"(0×)⁻1", "!DOMAIN"}, {"(1 2,)⁻9 9 9", "!DOMAIN no argument"}, {"(2 3⍴)⁻1 2", "!DOMAIN no argument"},
        {"⍋⁻0 0", "!DOMAIN no argument"},
    {"(\"ab\"⍳)⁻2", "!DOMAIN no argument"}, {"(0 0⍉)⁻2 2⍴1", "!DOMAIN distinct"}, {"(1 0 1#)⁻1 2 3", "!LENGTH"}, {"4⍨⁻5", "!DOMAIN only its own"},
        {"(9○)⁻1", "!DOMAIN codes"},
    {"(1 0=)⁻2 3", "!DOMAIN 0 and 1"}, {"(⊢÷≢)⁻1 2", "!DOMAIN no known inverse"}, {"(1⊥)⁻5", "!DOMAIN base"},
        {"(1 2+⊗)⁻[1 2⋄9 9]", "!DOMAIN no argument"}, {"({⍵+1}⍣¯1)3", "!DOMAIN no known inverse"},
};

static const shown own[] = {
    {"f←{⍵+1} ⋄ f⁻←{⍵-1} ⋄ (f∘⊽)⁻9", "4"},
    {"f←{⍺+⍵} ⋄ f⁻←{⍵-⍺} ⋄ 3(f⁻)9", "6"},
    {"f←{⍵+1} ⋄ f⁻←{⍵-1} ⋄ ⊽@f 4", "9"},
    {"f←{⍵+1} ⋄ f⁻←{⍵-1} ⋄ (f¨)⁻1 2 3", "0 1 2"},
    {"f←{⍵+1} ⋄ f⁻←{⍵-1} ⋄ f⍣¯2⊢9", "7"},
};

static void test_undone(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof undone / sizeof *undone; i++) {
        char text[1024];
        bpl_world w;
        wg_bpl_outcome outcome;
        bpl_world_open(&w);
        snprintf(text, sizeof text, "y←%s ⋄ f←%s ⋄ v←f y ⋄ ((f⁻)v)≡y", undone[i].of, undone[i].function);
        if (!wg_bpl_run(w.bpl, NULL, text, strlen(text), &outcome)) fail_msg("%s: %s", text, outcome.report);
        if (strcmp(outcome.display, "$t")) {
            snprintf(text, sizeof text, "y←%s ⋄ f←%s ⋄ v←f y ⋄ 1E¯12>⌈/,|((f⁻)v)-y", undone[i].of, undone[i].function);
            if (!wg_bpl_run(w.bpl, NULL, text, strlen(text), &outcome)) fail_msg("%s: %s", text, outcome.report);
        }
        if (strcmp(outcome.display, "$t")) fail_msg("%s: %s", text, outcome.display);
        bpl_world_close(&w);
    }
}

static void test_none(void **state) { (void)state; CHECK_ALL(none); }
static void test_own(void **state) { (void)state; CHECK_ALL(own); }

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_undone), cmocka_unit_test(test_none), cmocka_unit_test(test_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
