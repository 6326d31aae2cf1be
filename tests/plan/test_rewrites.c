/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Rewrites row by row: each is made where it must be, not at its near miss, and moves no bit that it says it does not move. */
#include "rewrite_cases.h"

/* Rows that may move last bits are held to this of the greatest item. */
#define LAST_BITS 1e-5

static void hold(const char *name, const char *what, bool bits, rewriting *w, bool applied)
{
    char why[512];
    static const wg_binding shorter = {"n", 1}, longer = {"n", 9};
    const wg_binding *bindings[] = {NULL, &shorter, &longer};
    rewriting_make(w, bits);
    if (rewriting_applied(w, name) != applied) {
        char *dump = wg_network_describe(w->after);
        print_error("%s\n", dump);
        wg_text_free(dump);
        fail_msg("%s: its %s is %srewritten", name, what, applied ? "not " : "");
    }
    bool extents = w->before->extent_count > 0;
    for (int i = 0; i < (extents ? 3 : 1); i++) {
        if (i && !strcmp(what, "miss")) continue; /* a miss may tell a number from an extent of that number */
        if (!rewriting_agree(w, bindings[i], i > 0, bits ? LAST_BITS : 0, why, sizeof why))
            fail_msg("%s: its %s: binding %d: %s", name, what, i, why);
    }
    uint32_t again = rewriting_again(w, bits);
    if (again) fail_msg("%s: its %s is rewritten %u times more", name, what, again);
    rewriting_free(w);
}

static void test_cases(void **state)
{
    (void)state;
    static rewriting w;
    const plan_rewrite_row *row;
    for (uint32_t i = 0; (row = plan_rewrite_row_at(i)); i++) {
        for (int missed = 0; missed < 2; missed++) {
            memset(&w, 0, sizeof w);
            w.tape = wg_tape_new(NULL);
            assert_string_equal(rewrite_cases[i].name, row->name);
            (missed ? rewrite_cases[i].miss : rewrite_cases[i].match)(&w);
            hold(row->name, missed ? "miss" : "match", row->bits, &w, !missed);
        }
    }
}

/* What moves last bits is made only where that was allowed. */
static void test_bits_are_asked_for(void **state)
{
    (void)state;
    static rewriting w;
    char why[512];
    const plan_rewrite_row *row;
    for (uint32_t i = 0; (row = plan_rewrite_row_at(i)); i++) {
        if (!row->bits) continue;
        memset(&w, 0, sizeof w);
        w.tape = wg_tape_new(NULL);
        rewrite_cases[i].match(&w);
        rewriting_make(&w, false);
        assert_int_equal(w.bits_count, 0);
        if (!rewriting_agree(&w, NULL, 0, 0, why, sizeof why)) fail_msg("%s: %s", row->name, why);
        rewriting_free(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_bits_are_asked_for)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
