/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The catalogue matches across spellings and refuses near misses, a pattern after the other; what stands in the way of an election is told. */
#define _DEFAULT_SOURCE /* strsep */
#include "pattern_cases.h"

#include "by_hand.h"
#include "recorded.h"

typedef struct pattern_row {
    const char *name, *home;
    const pattern_case *spellings, *misses;
    size_t spelling_count, miss_count;
} pattern_row;

#define CASES(Name, home)                                                                                               \
    {#Name, #home, spellings_##Name, misses_##Name, sizeof spellings_##Name / sizeof *spellings_##Name,             \
     sizeof misses_##Name / sizeof *misses_##Name},
#define ROW_HOME(Name) CASES(Name, HOME)
#define ROW_SCHEDULE(Name) CASES(Name, SCHEDULE)
#define ROW_ABROAD(Name) CASES(Name, ABROAD)
static const pattern_row rows[] = {
#define PATTERN(Name, Root, home, formula, foreign, what) ROW_##home(Name)
#include "plan/catalogue.def"
};

/* The plan of what a case records. Takes the tape. */
static wg_plan *plan_of(pattern_case record, wg_network **network, wg_entry **entry)
{
    wg_error error = {0};
    wg_tape *tape = wg_tape_new(NULL);
    uint32_t root = wg_symbol_of(record(tape)).position;
    *network = wg_tape_seal(&tape, &error);
    if (!*network) fail_msg("%s", error.message);
    *entry = recorded_entry(*network, &root, 1, NULL, 0, false);
    wg_plan *plan = plan_new(*entry, NULL, 0, NULL, &error);
    if (!plan || !plan_verify(plan, &plan->layout, &error)) fail_msg("%s", error.message);
    return plan;
}

/* The cases declare one value each, and some of their windows overlap. */
static bool is_reason(const char *reason)
{
    return strstr(reason, " is read by node ") || strstr(reason, " is in a larger match") || !strcmp(reason, "no kernel serves its axes and kinds");
}

static void check(const pattern_row *row, pattern_case record, bool wanted, size_t number)
{
    wg_network *network;
    wg_entry *entry;
    wg_plan *plan = plan_of(record, &network, &entry);
    wg_pattern pattern;
    bool found = false;
    for (uint32_t i = 0; wg_plan_pattern(plan, i, &pattern); i++) {
        if (strcmp(pattern.kind, row->name)) continue;
        found = true;
        assert_true(strlen(pattern.foreign) > 0);
        if (!strcmp(row->home, "ABROAD")) assert_string_equal(pattern.reason, "served abroad only");
        else if (!pattern.elected && !is_reason(pattern.reason)) fail_msg("%s: %s", row->name, pattern.reason);
    }
    if (found != wanted)
        fail_msg("%s: %s %zu %s\n%s", row->name, wanted ? "spelling" : "near miss", number, wanted ? "does not match" : "matches",
                 wg_network_describe(network));
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

static void spellings_match(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (size_t i = 0; i < rows[r].spelling_count; i++) check(&rows[r], rows[r].spellings[i], true, i);
}

static void near_misses_do_not(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (size_t i = 0; i < rows[r].miss_count; i++) check(&rows[r], rows[r].misses[i], false, i);
}

/* The licence counts the rows of a pattern that is elected for the schedule alone as if there were none. */
static void licence_stays(void **state)
{
    (void)state;
    wg_network *network;
    wg_entry *entry;
    wg_plan *plan = plan_of(attention, &network, &entry);
    wg_pattern pattern;
    assert_true(wg_plan_pattern(plan, 0, &pattern) && pattern.elected);
    assert_string_equal(pattern.formula, "attention");
    assert_int_equal(plan->stage_count, 1);
    assert_int_equal(plan->licence.groups, 0);
    assert_int_equal(plan->licence.step_count, plan->count);
    char *text = wg_plan_describe(plan);
    assert_null(strstr(text, "fused"));
    wg_text_free(text);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

/* ---- what blocks an election ---- */

enum { OWN_MASK, SHARED_MASK, DECLARED_MASK };

static const char *attention_of(int64_t keys, bool observe_weights, bool retain, bool gradient, int whose)
{
    static char text[128];
    wg_error error = {0};
    wg_tape *tape = wg_tape_new(NULL);
    wg_value q = source(tape, 2, (int64_t[]){keys, 4}), k = source(tape, 2, (int64_t[]){keys, 4}),
             v = source(tape, 2, (int64_t[]){keys, 3});
    wg_value y = wg_causal_attention(q, k, v, 0.5);
    uint32_t roots[4] = {y.position}, count = 1, weights = y.position - 1;
    if (gradient) {
        wg_value loss = wg_sum(y);
        wg_adjoints *adjoints = wg_differentiate(tape, loss, (wg_value[]){q}, 1);
        roots[count++] = wg_adjoints_gradient(adjoints, 0).position;
        wg_adjoints_free(&adjoints);
    }
    wg_value mask = y;
    while (graph_node(tape, mask.position)->op != WG_OP_Select) mask.position--; /* of wg_causal_attention */
    if (whose == SHARED_MASK) roots[count++] = wg_sum(wg_exp(mask)).position;
    if (whose == DECLARED_MASK) roots[count++] = mask.position;
    wg_network *network = wg_tape_seal(&tape, &error);
    if (!network) fail_msg("%s", error.message);
    wg_entry *entry = recorded_entry(network, roots, count, &weights, observe_weights, retain);
    wg_plan *plan = plan_new(entry, NULL, 0, NULL, &error);
    wg_pattern pattern;
    assert_true(plan && wg_plan_pattern(plan, 0, &pattern));
    snprintf(text, sizeof text, "%s", pattern.elected ? pattern.formula : pattern.reason);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&network);
    return text;
}

static const char *attention_with(bool observe_weights, bool retain, bool gradient, int whose)
{
    return attention_of(40, observe_weights, retain, gradient, whose);
}

static void reasons(void **state)
{
    (void)state;
    assert_string_equal(attention_of(8, false, false, false, OWN_MASK), "its rows by themselves are faster");
    assert_string_equal(attention_with(false, false, false, OWN_MASK), "attention");
    assert_string_equal(attention_with(false, true, false, OWN_MASK), "the retain posture elects nothing");
    assert_non_null(strstr(attention_with(true, false, false, OWN_MASK), "is declared"));
    assert_non_null(strstr(attention_with(false, false, true, OWN_MASK), "is read by node"));
    assert_string_equal(attention_with(false, false, false, SHARED_MASK), "attention"); /* such a mask stays outside */
    assert_string_equal(attention_with(false, false, false, DECLARED_MASK), "attention");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(spellings_match), cmocka_unit_test(near_misses_do_not),
                                       cmocka_unit_test(licence_stays), cmocka_unit_test(reasons)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
