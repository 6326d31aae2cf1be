/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What sessions and plans take of memory: none in a run, no more by binding again, small arenas; and being refused it. */
#define _GNU_SOURCE /* syscall */
#include "session_program.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/seccomp.h>
#include <sys/prctl.h>
#endif

#include "plan/training.h"

typedef struct counting {
    int64_t calls, fail_at, live, bytes;
} counting;

static void *counting_resize(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    counting *c = user;
    if (new_bytes == 0) {
        c->live -= block != NULL;
        c->bytes -= (int64_t)old_bytes;
        free(block);
        return NULL;
    }
    if (c->calls++ == c->fail_at) return NULL;
    c->live += block == NULL;
    c->bytes += (int64_t)new_bytes - (int64_t)old_bytes;
    return realloc(block, new_bytes);
}

static wg_context *counting_context(counting *c)
{
    return wg_context_new(&(wg_context_options){.size = sizeof(wg_context_options), .allocator = {counting_resize, c}, .threads = 2}, NULL);
}

static void test_a_run_allocates_nothing(void **state)
{
    (void)state;
    counting c = {.fail_at = -1};
    wg_context *context = counting_context(&c);
    program p = program_new(context);
    wg_error error = {0};
    wg_entry *entry = entry_of(&p, (wg_symbol[]){p.loss}, 1, false);
    wg_plan *plan = wg_plan_new(entry, NULL, 0, &error);
    wg_session *session = wg_session_new(plan, NULL, &error);
    wg_parameters *parameters = wg_parameters_new(p.network, &error);
    wg_tensor *x = test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(5, 6), 1, 0, 0);
    wg_feed feed = {p.x, wg_tensor_view(x)};
    wg_run_options options = {.size = sizeof options, .parameters = parameters, .feeds = &feed, .feed_count = 1};
    int64_t before = c.calls;
    for (int i = 0; i < 3; i++) assert_true(wg_session_run(session, &options, &error));
    assert_true(c.calls == before);
    wg_tensor_release(x);
    wg_parameters_free(&parameters);
    wg_session_free(&session);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&p.network);
    wg_context_free(context);
}

/* The gradients of a convolutional network on one thread, in a process that the kernel ends at any call but read, write and exit. */
static void test_a_run_calls_no_system(void **state)
{
    (void)state;
#if !defined __linux__ || defined __SANITIZE_THREAD__ /* whose own thread calls it */
    skip();
#else
    wg_error error = {0};
    wg_context *context = wg_context_new(&(wg_context_options){.size = sizeof(wg_context_options), .threads = 1}, &error);
    wg_tape *tape = wg_tape_new(context);
    uint32_t roots[8];
    wg_symbol symbols[8];
    wg_entry_options options = {.size = sizeof options, .roots = symbols, .root_count = training_step(tape, 8, 28, 4, roots)};
    wg_network *network = wg_tape_seal(&tape, &error);
    for (uint32_t i = 0; i < options.root_count; i++) symbols[i] = wg_network_symbol_at(network, roots[i]);
    wg_entry *entry = wg_entry_new(network, &options, &error);
    wg_plan *plan = wg_plan_new(entry, NULL, 0, &error);
    wg_session *session = wg_session_new(plan, NULL, &error);
    assert_true(wg_session_run(session, NULL, &error));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)) _exit(77);
        bool good = wg_session_run(session, NULL, NULL);
        syscall(SYS_exit, good ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    wg_session_free(&session);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&network);
    wg_context_free(context);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) skip();
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
#endif
}

/* What cannot be had is said in bytes, and the session goes on with the extents that it had. */
static void test_too_much_memory(void **state)
{
    (void)state;
    ready r = ready_new(false);
    wg_error error = {0};
    assert_false(wg_session_bind(r.session, &(wg_binding){"n", 1000000000000}, 1, &error));
    assert_int_equal(error.code, WG_MEMORY);
    const char *bytes = strstr(error.message, "needs ");
    assert_non_null(bytes);
    assert_true(strtoll(bytes + strlen("needs "), NULL, 10) > 1000000000000);
    error = (wg_error){0};
    assert_false(wg_session_bind(r.session, &(wg_binding){"n", INT64_MAX / 2}, 1, &error));
    assert_int_equal(error.code, WG_SIZE);
    assert_as_oracle(r.entry, r.session, NULL, NULL);
    ready_free(&r);
}

/* Everything from the plan to a second binding, with the k-th allocation refused: an error, nothing lost, nothing half-built. */
static bool whole_life(const program *p, const wg_entry *entry, wg_error *error)
{
    wg_plan *plan = wg_plan_new(entry, NULL, 0, error);
    wg_session *session = plan ? wg_session_new(plan, NULL, error) : NULL;
    float x[42] = {0};
    wg_feed feed = {p->x, {.data = x, .kind = WG_KIND_F32, .rank = 2, .shape = TEST_SHAPE(7, 6), .strides = TEST_SHAPE(4, 28)}};
    wg_run_options options = with_feeds(&feed, 1);
    bool good = session && wg_session_run(session, NULL, error) && wg_session_bind(session, &(wg_binding){"n", 7}, 1, error) &&
                wg_session_run(session, &options, error);
    wg_tensor *taken = good ? wg_session_take(session, p->picked, error) : NULL;
    good = taken != NULL;
    wg_tensor_release(taken);
    wg_session_free(&session);
    wg_plan_release(&plan);
    return good;
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    counting c = {.fail_at = -1};
    wg_context *context = counting_context(&c);
    program p = program_new(context);
    wg_entry *entry = entry_of(&p, (wg_symbol[]){p.loss, p.picked}, 2, false);
    wg_error error = {0};
    c.fail_at = c.calls;
    assert_null(exec_pool_of(context, &error));
    assert_int_equal(error.code, WG_MEMORY);
    error = (wg_error){0};
    c.fail_at = -1;
    assert_non_null(exec_pool_of(context, &error)); /* stays with the context */
    int64_t live = c.live, start = c.calls;
    assert_true(whole_life(&p, entry, &error));
    int64_t needed = c.calls - start;
    assert_true(needed > 10 && c.live == live);
    for (int64_t k = 0; k < needed; k++) {
        error = (wg_error){0};
        c.fail_at = c.calls + k;
        if (whole_life(&p, entry, &error)) fail_msg("allocation %lld of %lld failed and nobody noticed", (long long)k, (long long)needed);
        if (error.code != WG_MEMORY) fail_msg("allocation %lld: %s", (long long)k, error.message);
        assert_true(c.live == live);
    }
    wg_entry_free(&entry);
    wg_network_release(&p.network);
    wg_context_free(context);
    assert_true(c.live == 0);
}

/* A session that is bound again and again: the bits of fresh plans, and no more memory the second time round. */
static void test_binding_many_times(void **state)
{
    (void)state;
    counting c = {.fail_at = -1};
    wg_context *context = counting_context(&c);
    program p = program_new(context);
    wg_entry *entry = entry_of(&p, (wg_symbol[]){p.loss, p.picked}, 2, false);
    wg_error error = {0};
    wg_plan *plan = wg_plan_new(entry, NULL, 0, &error);
    wg_session *session = wg_session_new(plan, NULL, &error);
    int64_t bytes[3];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i <= 30; i++) {
            wg_binding binding = {"n", i < 30 ? 2 + 13 * i % 97 : 5};
            wg_run_options bound = {.size = sizeof bound, .bindings = &binding, .binding_count = 1};
            if (!wg_session_bind(session, &binding, 1, &error)) fail_msg("%s", error.message);
            if (round == 2) assert_true(wg_session_run(session, NULL, &error));
            else assert_as_oracle(entry, session, NULL, &bound);
            if (round) continue;
            wg_plan *own = wg_plan_new(entry, &binding, 1, &error);
            wg_session *fresh = wg_session_new(own, NULL, &error);
            assert_as_oracle(entry, fresh, NULL, &bound);
            wg_session_free(&fresh);
            wg_plan_release(&own);
        }
        bytes[round] = c.bytes;
    }
    assert_true(bytes[1] == bytes[0] && bytes[2] == bytes[0]);
    wg_session_free(&session);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&p.network);
    wg_context_free(context);
    assert_true(c.live == 0 && c.bytes == 0);
}

/* A plan of a few small products needs little memory: what its kernels work in is as small as they are. */
static void test_a_small_plan_has_a_small_arena(void **state)
{
    (void)state;
    counting c = {.fail_at = -1};
    wg_context *context = counting_context(&c);
    program p = program_new(context);
    wg_entry *entry = entry_of(&p, (wg_symbol[]){p.loss, p.picked}, 2, false);
    wg_plan *plan = wg_plan_new(entry, NULL, 0, NULL);
    wg_plan_figures figures;
    wg_plan_figures_of(plan, &figures);
    assert_true(figures.arena_bytes <= 4096);
    assert_true(figures.bound_bytes <= figures.largest_bytes && figures.largest_bytes <= figures.arena_bytes);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&p.network);
    wg_context_free(context);
}

/* The arena of a training step is near the largest set alive at once, what the kernels work in included. */
static void test_the_arena_is_tight(void **state)
{
    (void)state;
    wg_context *context = wg_context_new(&(wg_context_options){.size = sizeof(wg_context_options), .threads = 2}, NULL);
    for (uint32_t channels = 4; channels <= 16; channels *= 2) {
        wg_error error = {0};
        uint32_t roots[8];
        wg_symbol symbols[8];
        wg_tape *tape = wg_tape_new(context);
        wg_entry_options options = {.size = sizeof options, .roots = symbols, .root_count = training_step(tape, 64, 28, channels, roots)};
        wg_network *network = wg_tape_seal(&tape, &error);
        for (uint32_t i = 0; i < options.root_count; i++) symbols[i] = wg_network_symbol_at(network, roots[i]);
        wg_entry *entry = wg_entry_new(network, &options, &error);
        wg_plan *plan = wg_plan_new(entry, NULL, 0, &error);
        if (!plan || !plan_verify(plan, &plan->layout, &error)) fail_msg("%s", error.message);
        wg_plan_figures f;
        wg_plan_figures_of(plan, &f);
        int64_t scratch = 0;
        for (uint32_t s = 0; s < plan->stage_count; s++) scratch += plan->layout.scratch[s];
        assert_true(scratch > 0);
        if ((double)f.arena_bytes > 1.15 * (double)f.largest_bytes)
            fail_msg("%u channels: arena %lld, largest set %lld", channels, (long long)f.arena_bytes, (long long)f.largest_bytes);
        wg_plan_release(&plan);
        wg_entry_free(&entry);
        wg_network_release(&network);
    }
    wg_context_free(context);
}

static void test_the_callers_arena(void **state)
{
    (void)state;
    ready r = ready_new(false);
    wg_error error = {0};
    wg_plan_figures figures;
    wg_plan_figures_of(r.plan, &figures);
    char *memory = aligned_alloc(64, (size_t)(figures.arena_bytes + 127) / 64 * 64);
    wg_session_options options = {.size = sizeof options, .arena = memory};
    wg_session *session = wg_session_new(r.plan, &options, &error);
    assert_as_oracle(r.entry, session, NULL, NULL);
    wg_view view;
    assert_true(wg_session_read(session, r.program.loss, &view, &error));
    assert_true((char *)view.data >= memory && (char *)view.data < memory + figures.arena_bytes);
    assert_false(wg_session_bind(session, &(wg_binding){"n", 1000000}, 1, &error));
    assert_as_oracle(r.entry, session, NULL, NULL);
    wg_session_free(&session);
    options.arena = memory + 8;
    assert_null(wg_session_new(r.plan, &options, &error));
    free(memory);
    ready_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_run_allocates_nothing),
        cmocka_unit_test(test_a_run_calls_no_system),
        cmocka_unit_test(test_too_much_memory),
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test(test_binding_many_times),
        cmocka_unit_test(test_a_small_plan_has_a_small_arena),
        cmocka_unit_test(test_the_arena_is_tight),
        cmocka_unit_test(test_the_callers_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
