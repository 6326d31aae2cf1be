/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The golden plan dumps: text, live series, results, candidates and elections, exactly. */
#define _DEFAULT_SOURCE /* strsep */
#include "recorded.h"

#include "plan/passes.h"

static const char *const names[] = {
    "plan-attention-causal.txt", "plan-batchnorm-training.txt", "plan-conv-pad-stride.txt", "plan-conv-pool.txt",
    "plan-duplicate-names.txt",  "plan-embedding-loss.txt",     "plan-observe-hidden.txt",  "plan-pool-overlap.txt",
    "plan-recurrence-feeds.txt", "plan-retain-mixed.txt",       "plan-retain.txt",          "plan-roots-only.txt"};

static void print_pattern(const wg_pattern *pattern, char *text, size_t bytes)
{
    size_t used = (size_t)snprintf(text, bytes, "%s rooted at node %u covering %u nodes (", pattern->kind, pattern->root,
                                   pattern->node_count);
    for (uint32_t i = 0; i < pattern->node_count; i++)
        used += (size_t)snprintf(text + used, bytes - used, i ? " %u" : "%u", pattern->nodes[i]);
    snprintf(text + used, bytes - used, ")");
}

/* Those that are elected for the schedule alone stand in no dump. */
static void check_patterns(const recorded *r, const wg_plan *plan)
{
    uint32_t elected = 0, offered = 0;
    wg_pattern pattern;
    if (!r->candidate_count) return;
    for (uint32_t i = 0; wg_plan_pattern(plan, i, &pattern); i++) {
        char text[256];
        uint16_t number = plan->matches[i].pattern;
        if (!plan_pattern_is_counted(number) && !plan_pattern_abroad(number)) continue;
        print_pattern(&pattern, text, sizeof text);
        assert_true(offered < r->candidate_count);
        assert_string_equal(text, r->candidates[offered++]);
        if (!pattern.elected) continue;
        assert_true(elected < r->elected_count);
        assert_string_equal(text, r->elected[elected++]);
    }
    assert_int_equal(offered, r->candidate_count);
    assert_int_equal(elected, r->elected_count);
}

static void check_dump(const char *name)
{
    recorded r = recorded_plan(name);
    wg_entry *entry = recorded_entry(r.network, r.kept, r.kept_count, NULL, 0, r.retain);
    wg_error error = {0};
    wg_plan *plan = plan_new(entry, NULL, 0, NULL, &error);
    if (!plan) fail_msg("%s: %s", name, error.message);
    char *text = wg_plan_describe(plan);
    if (strcmp(text, r.text)) fail_msg("%s\n%s\n must be\n%s", name, text, r.text);
    wg_text_free(text);
    uint32_t count;
    const int64_t *series = wg_plan_live_series(plan, &count);
    if (r.series_count) assert_int_equal(count, r.series_count);
    for (uint32_t i = 0; i < r.series_count; i++) assert_int_equal(series[i], r.series[i]);
    for (uint32_t i = 0; i < r.kept_count; i++) assert_int_equal(wg_entry_result(entry, i).position, r.kept[i]);
    check_patterns(&r, plan);
    if (!plan_verify(plan, &plan->layout, &error)) fail_msg("%s: %s", name, error.message);
    char *report = wg_plan_report(plan);
    assert_non_null(report);
    if (getenv("WENGERT_TEST_PRINT")) printf("== %s\n%s", name, report);
    wg_text_free(report);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    recorded_free(&r);
}

static void dumps(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) check_dump(names[i]);
}

/* Names said twice count once, in their first place; sources may be declared; observes follow the roots. */
static void duplicates(void **state)
{
    (void)state;
    recorded r = recorded_plan("plan-duplicate-names.txt");
    const uint32_t roots[] = {6, 8, 6}, observes[] = {0, 4, 6, 4};
    wg_entry *entry = recorded_entry(r.network, roots, 3, observes, 4, false);
    wg_plan *plan = plan_new(entry, NULL, 0, NULL, NULL);
    assert_non_null(plan);
    char *text = wg_plan_describe(plan);
    assert_string_equal(text, r.text);
    wg_text_free(text);
    const uint32_t expected[] = {6, 8, 0, 4};
    assert_int_equal(wg_entry_result_count(entry), 4);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(plan->entry.keep[i], expected[i]);
    wg_plan_figures figures;
    wg_plan_figures_of(plan, &figures);
    assert_int_equal(figures.evaluated, 7);
    assert_int_equal(figures.total, 9);
    assert_int_equal(figures.readable, 4);
    assert_int_equal(figures.peak, 18);
    assert_int_equal(figures.peak_node, 8);
    assert_int_equal(figures.retain_all, 30);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    recorded_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(dumps), cmocka_unit_test(duplicates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
