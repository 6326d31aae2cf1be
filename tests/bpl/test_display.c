/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What the REPL shows: every line of display.tsv (an expression, and its lines with ⏎ between), widths of characters, and showing without memory. */
#include "bpl/display.h"
#include "bpl/world.h"

static void test_lines(void **state)
{
    (void)state;
    bpl_world w;
    bpl_world_open(&w);
    FILE *file = open_cases("display.tsv");
    case_line line = {.number = 0};
    int wrong = 0;
    while (next_case(file, &line)) {
        wg_bpl_outcome outcome;
        base_string shown = base_string_new(w.bpl->allocator);
        bool done = wg_bpl_run(w.bpl, NULL, line.columns[0], strlen(line.columns[0]), &outcome);
        for (const char *at = done ? outcome.display : outcome.report; *at; at++) base_string_put(&shown, *at == '\n' ? "⏎" : at, *at == '\n' ? strlen("⏎") : 1);
        if (!done || strcmp(shown.text ? shown.text : "", line.columns[1])) {
            print_message("%s\n  is       %s\n  expected %s\n", line.columns[0], shown.text, line.columns[1]);
            wrong++;
        }
        base_string_free(&shown);
    }
    fclose(file);
    assert_int_equal(wrong, 0);
    assert_true(line.number > 300);
    bpl_world_close(&w);
}

static void test_widths(void **state)
{
    (void)state;
    assert_int_equal(bpl_columns("abc", 3), 3);
#ifdef HAVE_UTF8PROC
    assert_int_equal(bpl_columns("日本", strlen("日本")), 4);
    assert_int_equal(bpl_columns("é", strlen("é")), 1);
#endif
}

/* Every allocation of showing and formatting fails once: LIMIT, and nothing is left behind. */
static void test_memory(void **state)
{
    (void)state;
    static const char *const texts[] = {"[1 \"ab\"⋄[3 4] 'c']", "2 2 2⍴1.5 2ₓ", "[\"x\" \"y\";\"a\" \"b\"]:[1 2⋄3 4]", "⍕[[1 2⋄3 4] \"ab\" 5]", "6 2⍕2 2⍴÷3 7 9 11", "+/÷≢"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        bpl_world w;
        bpl_world_open(&w);
        wg_bpl_outcome outcome;
        assert_true(wg_bpl_run(w.bpl, NULL, texts[i], strlen(texts[i]), &outcome));
        long long before = atomic_load(&w.memory.asked);
        assert_true(wg_bpl_run(w.bpl, NULL, texts[i], strlen(texts[i]), &outcome));
        long long needed = atomic_load(&w.memory.asked) - before;
        for (long long at = 1; at <= needed; at++) {
            w.memory.failed = false;
            w.memory.fails_at = atomic_load(&w.memory.asked) + at;
            bool done = wg_bpl_run(w.bpl, NULL, texts[i], strlen(texts[i]), &outcome);
            w.memory.fails_at = 0;
            if (!done && strcmp(outcome.kind, "LIMIT")) fail_msg("%s without allocation %lld: %s", texts[i], at, outcome.report);
        }
        bpl_world_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_widths), cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
