/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Allocators, arenas, pools, contexts and error texts. */
#define _XOPEN_SOURCE 700

#include <sys/wait.h>
#include <unistd.h>

#include "base/checked.h"
#include "reading.h"
#include "support/resident.h"

static counting counts;
static wg_allocator allocator;

static int setup(void **state)
{
    (void)state;
    counts = (counting){.fail_at = -1};
    allocator = counting_allocator(&counts);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return (int)counts.live_blocks;
}

static void blocks(void **state)
{
    (void)state;
    void *empty = base_allocate(&allocator, 0);
    assert_non_null(empty);
    base_free(&allocator, empty, 0);
    base_free(&allocator, NULL, 17);
    unsigned char *zeroed = base_allocate_zeroed(&allocator, 100);
    for (int i = 0; i < 100; i++) assert_int_equal(zeroed[i], 0);
    zeroed = base_resize(&allocator, zeroed, 100, 1000);
    assert_int_equal(zeroed[99], 0);
    base_free(&allocator, zeroed, 1000);
    for (size_t bytes = 0; bytes < 300; bytes += 7) {
        unsigned char *aligned = base_allocate_aligned(&allocator, bytes);
        assert_int_equal((uintptr_t)aligned % BASE_ALIGNMENT, 0);
        memset(aligned, 1, bytes);
        base_free_aligned(&allocator, aligned, bytes);
    }
    const wg_allocator *own[] = {&allocator, base_allocator(NULL)};
    for (int which = 0; which < 2; which++)
        for (size_t bytes = 1; bytes < (size_t)8 << 20; bytes *= 5) { /* what was written before is not seen */
            unsigned char *dirty = base_allocate_aligned(own[which], bytes);
            memset(dirty, 1, bytes);
            base_free_aligned(own[which], dirty, bytes);
            unsigned char *clean = base_allocate_aligned_zeroed(own[which], bytes);
            assert_int_equal((uintptr_t)clean % BASE_ALIGNMENT, 0);
            assert_true(!clean[0] && !memcmp(clean, clean + 1, bytes - 1));
            base_free_aligned(own[which], clean, bytes);
        }
    assert_null(base_allocate_aligned(&allocator, SIZE_MAX - 5));
    base_free_aligned(&allocator, NULL, 5);
}

static void growing_arrays(void **state)
{
    (void)state;
    uint64_t *items = NULL;
    uint32_t capacity = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        assert_true(BASE_RESERVE(&allocator, items, capacity, i + 1));
        assert_true(capacity > i);
        items[i] = i;
    }
    assert_true(counts.calls < 12); /* doubles */
    for (uint32_t i = 0; i < 1000; i++) assert_int_equal(items[i], i);
    counts.fail_at = counts.calls;
    const uint64_t *before = items;
    assert_false(BASE_RESERVE(&allocator, items, capacity, 5000));
    assert_ptr_equal(items, before);
    assert_int_equal(items[999], 999);
    base_free(&allocator, items, capacity * sizeof *items);
}

static void arenas(void **state)
{
    (void)state;
    base_arena arena = base_arena_new(&allocator);
    base_mark start = base_arena_mark(&arena);
    assert_int_equal(arena.bytes, 0);
    assert_non_null(base_arena_take(&arena, 0));
    char *text = base_arena_string(&arena, "abcdef", 3);
    assert_string_equal(text, "abc");
    assert_string_equal(base_arena_string(&arena, NULL, 0), "");
    base_mark mark = base_arena_mark(&arena);
    size_t bytes = arena.bytes;
    void *next = base_arena_take(&arena, 32);
    base_arena_release(&arena, mark);
    assert_ptr_equal(base_arena_take(&arena, 32), next); /* what was given back is taken again */
    base_arena_release(&arena, mark);
    unsigned char *last = NULL;
    for (size_t i = 1; i < 3000; i += 13) {
        unsigned char *taken = base_arena_take_zeroed(&arena, i);
        assert_int_equal((uintptr_t)taken % 16, 0);
        for (size_t k = 0; k < i; k++) assert_int_equal(taken[k], 0);
        memset(taken, 0xEE, i);
        last = taken;
    }
    assert_non_null(last);
    assert_non_null(base_arena_take(&arena, 5000000)); /* larger than any block */
    assert_int_equal(counts.live_bytes, arena.bytes);
    base_arena_release(&arena, mark);
    assert_int_equal(arena.bytes, bytes);
    assert_string_equal(text, "abc");
    counts.fail_at = counts.calls;
    assert_null(base_arena_take(&arena, 100000));
    assert_null(base_arena_take(&arena, SIZE_MAX - 3));
    assert_string_equal(text, "abc");
    base_arena_release(&arena, start);
    assert_int_equal(arena.bytes, 0);
    assert_int_equal(counts.live_blocks, 0);
    assert_non_null(base_arena_take(&arena, 10));
    base_arena_free(&arena);
}

static void pools(void **state)
{
    (void)state;
    base_pool pool;
    memset(&pool, 0x41, sizeof pool);
    base_pool_start(&pool, &allocator, sizeof(uint32_t));
    uint32_t *first = NULL;
    for (uint32_t i = 0; i < 10000; i++) {
        assert_int_equal(base_pool_append(&pool, 1), i);
        uint32_t *item = base_pool_at(&pool, i);
        assert_int_equal(*item, 0);
        *item = i + 1;
        if (i == 0) first = item;
        assert_true(base_pool_bytes(&pool) <= (i + 1 + (i + 64) / 4) * sizeof *item); /* a quarter stands empty at most */
    }
    assert_ptr_equal(base_pool_at(&pool, 0), first); /* items never move */
    for (uint32_t i = 0; i < 10000; i++) assert_int_equal(*(uint32_t *)base_pool_at(&pool, i), i + 1);
    assert_int_equal(base_pool_bytes(&pool), counts.live_bytes);
    base_pool_free(&pool);
    assert_int_equal(pool.count, 0);

    /* Runs stand side by side, never across chunks. */
    uint32_t at = 0;
    for (uint32_t run = 1; run < 100; run++) {
        uint32_t begin = base_pool_append(&pool, run);
        assert_true(begin >= at);
        at = begin + run;
        assert_int_equal(pool.count, at);
        for (uint32_t i = 0; i < run; i++) {
            assert_ptr_equal(base_pool_at(&pool, begin + i), (uint32_t *)base_pool_at(&pool, begin) + i);
            assert_int_equal(*(uint32_t *)base_pool_at(&pool, begin + i), 0);
            *(uint32_t *)base_pool_at(&pool, begin + i) = run;
        }
    }
    base_pool_free(&pool);
    counts.fail_at = counts.calls;
    assert_int_equal(base_pool_append(&pool, 1), WG_NONE);
    assert_int_equal(pool.count, 0);
    assert_int_equal(base_pool_append(&pool, 1), 0);
    base_pool_free(&pool);
}

/* The default allocator, over the size from which blocks stand on huge pages. */
static void large_blocks(void **state)
{
    (void)state;
    static const size_t sizes[] = {1000, (size_t)3 << 20, (size_t)9 << 20, ((size_t)2 << 20) + 1, ((size_t)2 << 20) - 1, 77};
    const wg_allocator *standard = base_allocator(NULL);
    unsigned char *block = base_allocate(standard, 500);
    for (size_t i = 0; i < 500; i++) block[i] = (unsigned char)(i * 7);
    size_t held = 500, bytes = 500;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        block = base_resize(standard, block, bytes, sizes[k]);
        assert_non_null(block);
        bytes = sizes[k];
        if (bytes < held) held = bytes;
        for (size_t i = 0; i < held; i++) assert_int_equal(block[i], (unsigned char)(i * 7));
        memset(block + held, 1, bytes - held); /* it is there to its end */
    }
    base_free(standard, block, bytes);
}

static void checked_sizes(void **state)
{
    (void)state;
    int64_t result;
    assert_true(base_add(1, 2, &result) && result == 3);
    assert_false(base_add(INT64_MAX, 1, &result));
    assert_true(base_subtract(1, 2, &result) && result == -1);
    assert_false(base_subtract(INT64_MIN, 1, &result));
    assert_true(base_multiply(-3, 4, &result) && result == -12);
    assert_false(base_multiply(INT64_MAX / 2 + 1, 2, &result));
    assert_true(base_volume(0, NULL, &result) && result == 1);
    assert_true(base_volume(3, (int64_t[]){2, 3, 4}, &result) && result == 24);
    assert_true(base_volume(2, (int64_t[]){INT64_MAX, 0}, &result) && result == 0);
    assert_false(base_volume(3, (int64_t[]){INT64_MAX, 0, 2}, &result));
    assert_false(base_volume(2, (int64_t[]){0, -1}, &result));
}

/* ---- contexts ---- */

static wg_error heard;
static void hear(void *user, const wg_error *error)
{
    heard = *error;
    ++*(int *)user;
}

static void contexts(void **state)
{
    (void)state;
    const wg_context *standard = base_context(NULL);
    assert_ptr_equal(base_context(NULL), standard);
    assert_in_range(standard->threads, 1, 1024);
    assert_ptr_equal(base_allocator(NULL), &standard->allocator);

    int calls = 0;
    wg_context_options options = {.size = sizeof options, .allocator = allocator, .threads = 7, .simd = "v3"};
    options.hook = hear;
    options.hook_user = &calls;
    wg_context *context = wg_context_new(&options, NULL);
    assert_ptr_equal(base_context(context), context);
    assert_int_equal(context->threads, 7);
    assert_string_equal(context->simd, "v3");
    assert_int_equal(counts.live_blocks, 1);
    assert_false(BASE_ASSERT(context, 1 > 2));
    assert_int_equal(calls, 1);
    assert_int_equal(heard.code, WG_INTERNAL);
    assert_non_null(strstr(heard.message, "1 > 2"));
    assert_true(heard.line > 0);
    int other = 0;
    wg_set_error_hook(context, hear, &other);
    assert_true(BASE_ASSERT(context, 2 > 1));
    assert_false(BASE_ASSERT(context, calls == 0));
    assert_int_equal(calls, 1);
    assert_int_equal(other, 1);
    wg_set_error_hook(context, NULL, NULL);
    assert_false(BASE_ASSERT(context, calls == 0));
    wg_context_free(context);
    wg_context_free(NULL);
}

static void refuse_options(wg_context_options options, const char *word)
{
    wg_error error = {0};
    assert_null(wg_context_new(&options, &error));
    assert_int_equal(error.code, WG_ARGUMENT);
    assert_message_has(&error, word);
}

static void bad_options(void **state)
{
    (void)state;
    refuse_options((wg_context_options){.size = 0}, "size");
    refuse_options((wg_context_options){.size = sizeof(wg_context_options), .threads = 5000}, "5000");
    refuse_options((wg_context_options){.size = sizeof(wg_context_options), .simd = "avx"}, "\"avx\"");
    wg_error error = {0};
    counts.fail_at = 0;
    wg_context_options options = {.size = sizeof options, .allocator = allocator};
    assert_null(wg_context_new(&options, &error));
    assert_int_equal(error.code, WG_MEMORY);
    /* Options of an older caller, who knows fewer members. */
    options = (wg_context_options){.size = offsetof(wg_context_options, threads), .threads = 5000, .simd = "avx"};
    wg_context *context = wg_context_new(&options, NULL);
    assert_non_null(context);
    wg_context_free(context);
}

/* In a child, since the environment is read once a process. */
static int exit_of_child(const char *threads, const char *simd)
{
    pid_t child = fork();
    if (child == 0) {
        setenv("WENGERT_THREADS", threads, 1);
        setenv("WENGERT_SIMD", simd, 1);
        execl("/proc/self/exe", "test", "environment", (char *)NULL);
        _exit(99);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What the child tells by its exit: 100 + threads, or a code of an error whose message names the variable. */
static int environment_child(void)
{
    wg_error error = {0};
    wg_context *context = wg_context_new(NULL, &error);
    if (!context) return strstr(error.message, "WENGERT_") && base_context(NULL)->threads >= 1 ? (int)error.code : 98;
    int result = 100 + (int)context->threads + (strcmp(context->simd, "v2") == 0 ? 100 : 0);
    wg_context_free(context);
    return result;
}

static void environment(void **state)
{
    (void)state;
    if (exit_of_child("5", "") == 99) skip(); /* an emulator that the kernel does not know of cannot begin anew */
    assert_int_equal(exit_of_child("5", ""), 105);
    assert_int_equal(exit_of_child("5", "v2"), 205);
    assert_int_equal(exit_of_child("five", ""), WG_ARGUMENT);
    assert_int_equal(exit_of_child("0", ""), WG_ARGUMENT);
    assert_int_equal(exit_of_child("-3", ""), WG_ARGUMENT);
    assert_int_equal(exit_of_child("3 ", ""), WG_ARGUMENT);
    assert_int_equal(exit_of_child("99999999999999999999", ""), WG_ARGUMENT);
    assert_int_equal(exit_of_child("", "v9"), WG_ARGUMENT);
}

/* ---- errors ---- */

static void errors(void **state)
{
    (void)state;
    wg_error error = {0};
    char text[512];
    assert_false(base_fail(NULL, WG_SHAPE, "nobody listens"));
    assert_false(base_fail(&error, WG_SHAPE, "shapes %s and %s differ", BASE_SHAPE_TEXT(2, ((int64_t[]){2, 3})), BASE_SHAPE_TEXT(0, NULL)));
    assert_false(base_fail(&error, WG_KIND, "a later failure"));
    assert_int_equal(error.code, WG_SHAPE);
    assert_int_equal(error.node, WG_NONE);
    assert_int_equal(error.item, -1);
    assert_string_equal(error.message, "shapes [2, 3] and [] differ");
    size_t need = wg_error_format(&error, text, sizeof text);
    assert_string_equal(text, "shapes [2, 3] and [] differ");
    assert_int_equal(need, strlen(text));
    char cut[8] = "xxxxxxx";
    assert_int_equal(wg_error_format(&error, cut, sizeof cut), need);
    assert_string_equal(cut, "shapes ");
    assert_int_equal(wg_error_format(&error, NULL, 0), need);

    base_error_place(&error, "model.c", 12, 0);
    base_error_place(&error, "other.c", 13, 0);
    base_error_note(&error, "first %d", 1);
    base_error_note(&error, "second");
    wg_error_format(&error, text, sizeof text);
    assert_string_equal(text, "model.c:12: shapes [2, 3] and [] differ\n  note: first 1\n  note: second");

    wg_error_clear(&error);
    base_fail(&error, WG_SYNTAX, "no");
    base_error_place(&error, "a.wg", 1, 4);
    strcpy(error.excerpt, "\t\xC3\xA9" "bc");
    error.caret_length = 2;
    wg_error_format(&error, text, sizeof text);
    assert_string_equal(text, "a.wg:1:4: error: no\n    \t\xC3\xA9" "bc\n    \t ^~");
    for (int i = 0; i < 100; i++) base_error_note(&error, "a note that is long enough to fill the room there is for notes");
    assert_true(strlen(error.note) < sizeof error.note);
    assert_string_equal(wg_code_name(WG_DIFFERS), "differs");
    assert_string_equal(wg_code_name(WG_CODE_COUNT), "unknown");
}

/* Takes blocks and writes them until there are no more, then frees them. How many there were. */
static int granted(const wg_allocator *own, void **taken, int most, size_t block)
{
    int count = 0;
    while (count < most && (taken[count] = base_allocate(own, block))) memset(taken[count++], 1, block);
    for (int i = 0; i < count; i++) base_free(own, taken[i], block);
    return count;
}

/* Small blocks come to an end some 64 MiB behind a context's limit, large ones before they are taken; and what was freed can be had again. */
static void bounded_memory(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* its shadow of what is written is resident too */
#endif
    enum { BLOCK = 1 << 16, MOST = 1 << 14, MORE = 192 << 20 };
    static void *taken[MOST];
    wg_context_options options = {.size = sizeof options, .memory = test_resident_bytes() + MORE};
    wg_context *context = wg_context_new(&options, NULL);
    const wg_allocator *own = base_allocator(context);
    assert_non_null(context);
    assert_in_range(granted(own, taken, MOST, BLOCK), MORE / 2 / BLOCK, 2 * MORE / BLOCK);
    assert_null(base_allocate_aligned(own, (size_t)1 << 30));
    assert_null(base_allocate(own, SIZE_MAX - 100));
#if !defined(__SANITIZE_ADDRESS__) /* which keeps what is freed for a while */
    assert_in_range(granted(own, taken, MOST, BLOCK), MORE / 2 / BLOCK, 2 * MORE / BLOCK);
    void *first = base_allocate(own, MORE / 2), *second = base_allocate(own, MORE / 2), *third = base_allocate(own, MORE / 2); /* nobody writes them yet */
    assert_non_null(first);
    assert_null(second && third ? third : NULL);
    base_free(own, first, MORE / 2);
    base_free(own, second, MORE / 2);
    base_free(own, third, MORE / 2);
#endif
    wg_context_free(context);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "environment") == 0) return environment_child();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(blocks, setup, teardown),
        cmocka_unit_test_setup_teardown(growing_arrays, setup, teardown),
        cmocka_unit_test_setup_teardown(arenas, setup, teardown),
        cmocka_unit_test_setup_teardown(pools, setup, teardown),
        cmocka_unit_test(large_blocks),
        cmocka_unit_test(bounded_memory),
        cmocka_unit_test(checked_sizes),
        cmocka_unit_test_setup_teardown(contexts, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_options, setup, teardown),
        cmocka_unit_test(environment),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
