/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Sessions side by side: each on a thread of its own, over one context, running the same lines to the same answers; and what one thread runs is
 * stopped by another, again and again. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "bpl/language.h"
#include "support/resident.h"

static const shown lines[] = {
    {"m←4 5⍴⍳20 ⋄ +/m", "10 35 60 85"},
    {"{⍵≤1?⍵;(∇⍵-1)+∇⍵-2}12", "144"},
    {"(+/÷≢)¨(1 2 3⋄4 5)", "2 4.5"},
    {"{⍵×⍵}∂3 4", "6 0\n0 8"},
    {"m.[0]←9 ⋄ m.[0]", "9 9 9 9 9"},
    {"{∞::$e.kind ⋄ 1 2+1 2 3}0", "LENGTH"},
    {"÷\"a\"", "!DOMAIN"},
    {"[2 1⋄1 3]⌹⍨3 5", "0.8 1.4"},
    {"10⍴\"abc\"", "abcabcabca"},
    {"100ᵣ!104ᵣ", "4598126ᵣ"},
    {"⍋3 1 2", "[1 2 0]ₓ"},
    {"+/⍳100000", "4999950000"},
};
enum { SESSIONS = 4, ROUNDS = 3 };

typedef struct job {
    wg_context *context;
    const char *wrong; /* the line that went wrong */
} job;

static void *run_lines(void *data)
{
    job *j = data;
    for (int round = 0; round < ROUNDS && !j->wrong; round++) {
        wg_bpl_options options = {.size = sizeof options, .context = j->context};
        wg_bpl *bpl = wg_bpl_new(&options, NULL);
        for (size_t i = 0; bpl && i < sizeof lines / sizeof *lines; i++) {
            wg_bpl_outcome outcome;
            bool good = wg_bpl_run(bpl, NULL, lines[i].text, strlen(lines[i].text), &outcome), fails = lines[i].shows[0] == '!';
            if (good == fails || strcmp(fails ? outcome.kind : outcome.display, lines[i].shows + fails)) j->wrong = lines[i].text;
        }
        if (!bpl) j->wrong = "no session";
        wg_bpl_free(&bpl);
    }
    return NULL;
}

static void test_side_by_side(void **state)
{
    (void)state;
    wg_context_options options = {.size = sizeof options, .threads = 2};
    wg_context *context = wg_context_new(&options, NULL);
    pthread_t threads[SESSIONS];
    job jobs[SESSIONS];
    assert_non_null(context);
    for (int i = 0; i < SESSIONS; i++) {
        jobs[i] = (job){context, NULL};
        assert_int_equal(pthread_create(&threads[i], NULL, run_lines, &jobs[i]), 0);
    }
    for (int i = 0; i < SESSIONS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < SESSIONS; i++)
        if (jobs[i].wrong) fail_msg("%s", jobs[i].wrong);
    wg_context_free(context);
}

typedef struct stopper {
    wg_bpl *bpl;
    atomic_bool ended;
} stopper;

static void *stop_often(void *data)
{
    stopper *s = data;
    while (!atomic_load(&s->ended)) {
        nanosleep(&(struct timespec){0, 2000000}, NULL);
        wg_bpl_interrupt(s->bpl);
    }
    return NULL;
}

/* Whatever an interrupt comes upon, the session goes on. */
static void test_stopped_again_and_again(void **state)
{
    (void)state;
    static const char *const endless[] = {"{∇⍵+1}0", "{⍵+1}⍣{0}0", "{1+∇⍵}0", "{+/⍳⍵}¨⍳1000000"};
    bpl_world w;
    wg_bpl_outcome outcome;
    pthread_t thread;
    bpl_world_open(&w);
    stopper s = {.bpl = w.bpl};
    atomic_init(&s.ended, false);
    assert_int_equal(pthread_create(&thread, NULL, stop_often, &s), 0);
    for (int i = 0; i < 40; i++) {
        const char *text = endless[i % 4];
        bool good = wg_bpl_run(w.bpl, NULL, text, strlen(text), &outcome);
        if (good || (strcmp(outcome.kind, "INTERRUPT") && strcmp(outcome.kind, "LIMIT"))) fail_msg("%s: %s", text, good ? outcome.display : outcome.report);
    }
    atomic_store(&s.ended, true);
    pthread_join(thread, NULL);
    while (!wg_bpl_run(w.bpl, NULL, "1+1", strlen("1+1"), &outcome)) assert_string_equal(outcome.kind, "INTERRUPT"); /* the last one may be left */
    assert_string_equal(outcome.display, "2");
    bpl_world_close(&w);
}

/* What asks for more than there is, in few blocks or in very many, is LIMIT, and the session goes on. */
static void test_no_memory(void **state)
{
    (void)state;
    static const char *const greedy[] = {"≢{⍵ (⍵+1)}¨⍳10000000", "≢(2e7⍴1)⊂⍳2e7", "≢{⍵,⊂⍵}⍣{0}⍬", "+/,(⍳1e5)×⊗⍳1e3", "x←⍬ ⋄ {x,←⊂,⍵}¨⍳1e7"};
    wg_context_options options = {.size = sizeof options, .threads = 1, .memory = test_resident_bytes() + ((uint64_t)256 << 20)};
    wg_context *context = wg_context_new(&options, NULL);
    wg_bpl_options own = {.size = sizeof own, .context = context};
    wg_bpl *bpl = wg_bpl_new(&own, NULL);
    wg_bpl_outcome outcome;
    assert_non_null(bpl);
    for (size_t i = 0; i < sizeof greedy / sizeof *greedy; i++) {
        bool good = wg_bpl_run(bpl, NULL, greedy[i], strlen(greedy[i]), &outcome);
        if (good || strcmp(outcome.kind, "LIMIT")) fail_msg("%s: %s", greedy[i], good ? outcome.display : outcome.report);
        assert_true(test_resident_bytes() < options.memory + ((uint64_t)256 << 20));
        assert_true(wg_bpl_run(bpl, NULL, "+/⍳1000000", strlen("+/⍳1000000"), &outcome));
        assert_string_equal(outcome.display, "499999500000");
    }
    wg_bpl_free(&bpl);
    wg_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_side_by_side), cmocka_unit_test(test_no_memory), cmocka_unit_test(test_stopped_again_and_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
