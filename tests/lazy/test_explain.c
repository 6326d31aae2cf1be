/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What a context tells of its reads: rows, text, JSON; who is told at the end. */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "lazy/world.h"

/* ---- a reader of JSON ---- */

/* One JSON value from `at` on; where it ends, or NULL. */
static const char *json_value(const char *at, int depth);

static const char *blank(const char *at)
{
    while (*at == ' ' || *at == '\n') at++;
    return at;
}

static const char *json_string(const char *at)
{
    if (*at++ != '"') return NULL;
    for (; *at != '"'; at++) {
        if ((unsigned char)*at < 0x20) return NULL;
        if (*at == '\\' && !strchr("\"\\/bfnrtu", *++at)) return NULL;
    }
    return at + 1;
}

static const char *json_list(const char *at, char end, int depth)
{
    at = blank(at + 1);
    if (*at == end) return at + 1;
    for (;;) {
        if (end == '}') {
            if (!(at = json_string(blank(at))) || *(at = blank(at)) != ':') return NULL;
            at++;
        }
        if (!(at = json_value(blank(at), depth - 1))) return NULL;
        at = blank(at);
        if (*at == end) return at + 1;
        if (*at++ != ',') return NULL;
    }
}

static const char *json_value(const char *at, int depth)
{
    if (!depth) return NULL;
    if (*at == '{') return json_list(at, '}', depth);
    if (*at == '[') return json_list(at, ']', depth);
    if (*at == '"') return json_string(at);
    char *end;
    strtod(at, &end);
    return end == at ? NULL : end;
}

static void explanations_are_rows_text_and_json(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *x = counted(&w, 3, 1), *y = neg(x);
    assert_true((wg_array_run)(&y, 1));
    assert_int_equal(wg_lazy_event_count(w.lazy), 0); /* nobody asked */
    char *none = wg_lazy_explained(w.lazy, true);
    assert_non_null(strstr(none, "[]"));
    wg_text_free(none);
    wg_lazy_explain(w.lazy, true);
    wg_array *heavy = wg_array_at(
        matmul(row_by(x, WG_OP_Reshape, (const int64_t[]){2, 3, 1}, 3), row_by(x, WG_OP_Reshape, (const int64_t[]){2, 1, 3}, 3)),
        "a \"quoted\"\\\n\tname", 12);
    wg_array *total = sum(heavy);
    assert_true((wg_array_run)(&total, 1));
    wg_event event;
    int plans = 0, runs = 0, kept = 0;
    uint64_t count = wg_lazy_event_count(w.lazy);
    for (uint64_t i = 0; i < count; i++) {
        assert_true(wg_lazy_event(w.lazy, i, &event));
        plans += !strcmp(event.what, "plan") && event.nodes && event.stages && event.reason;
        runs += !strcmp(event.what, "run") && event.read == 2 && event.stages;
        kept += !strcmp(event.what, "stored") && event.line == 12 && event.bytes == 36 && !strcmp(event.detail, "matmul");
    }
    assert_int_equal(plans, 1);
    assert_int_equal(runs, 1);
    assert_int_equal(kept, 1);
    assert_false(wg_lazy_event(w.lazy, count, &event));
    char *json = wg_lazy_explained(w.lazy, true), *text = wg_lazy_explained(w.lazy, false);
    const char *end = json_value(json, 5);
    assert_non_null(end);
    assert_string_equal(blank(end), "");
    uint64_t lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')); at++) lines++;
    assert_true(lines >= count);
    assert_non_null(strstr(text, "matmul"));
    wg_text_free(json);
    wg_text_free(text);
    wg_lazy_events_clear(w.lazy);
    assert_int_equal(wg_lazy_event_count(w.lazy), 0);
    wg_lazy_explain(w.lazy, false);
    wg_lazy_free(&w.lazy);
    wg_context_free(w.context);
    assert_int_equal(atomic_load(&w.bytes), 0);
}

/* Rows do not grow without end. */
static void the_oldest_rows_go(void **state)
{
    (void)state;
    world w;
    world_open(&w, &(wg_lazy_options){.size = sizeof(wg_lazy_options), .explain = true}, 1);
    wg_array *x = counted(&w, 2, 1);
    for (int i = 0; i < 70000; i++) {
        wg_array *y = neg(x);
        assert_true((wg_array_run)(&y, 1));
        wg_array_release(y);
    }
    assert_true(wg_lazy_event_count(w.lazy) > 0);
    assert_true(wg_lazy_event_count(w.lazy) <= 65536);
    wg_array_release(x);
    world_close(&w);
}

/* What happened is told for its reason: forced by the limit, a refill, a row of a map without a rule. */
static void reasons_are_told(void **state)
{
    (void)state;
    world w;
    world_open(&w, &(wg_lazy_options){.size = sizeof(wg_lazy_options), .explain = true}, 1);
    for (int64_t count = 3; count < 5; count++) {
        wg_array *x = counted(&w, count, 0), *y = neg(x);
        assert_true((wg_array_run)(&y, 1));
        wg_array_release(x);
        wg_array_release(y);
    }
    wg_array *value = counted(&w, 2, 1);
    for (int i = 0; i < 10000; i++) {
        wg_array *next = neg(value);
        wg_array_release(value);
        value = next;
    }
    wg_array_release(value);
    wg_event event;
    uint32_t refills = 0, forced = 0;
    for (uint64_t i = 0; wg_lazy_event(w.lazy, i, &event); i++) {
        refills += !strcmp(event.what, "refill") && event.reason && event.read == 2;
        forced += !strcmp(event.what, "forced") && event.reason && strstr(event.reason, "1 MiB") && event.bytes > 1 << 20;
    }
    assert_int_equal(refills, 1);
    assert_true(forced >= 1);
    world_close(&w);
}

/* Bytes that a context writes to the standard error stream until it is freed. */
static off_t written(bool asked_by_environment, bool asked_by_call)
{
    FILE *file = tmpfile();
    int kept = dup(2);
    assert_non_null(file);
    assert_true(kept >= 0 && dup2(fileno(file), 2) == 2);
    if (asked_by_environment) setenv("WENGERT_EXPLAIN", "1", 1);
    wg_lazy *lazy = wg_lazy_new(NULL, NULL);
    unsetenv("WENGERT_EXPLAIN");
    wg_lazy_explain(lazy, asked_by_call || asked_by_environment);
    wg_array *x = wg_array_number(lazy, WG_KIND_F32, 2), *y = add(x, x);
    bool good = (wg_array_run)(&y, 1);
    wg_array_release(x);
    wg_array_release(y);
    wg_lazy_free(&lazy);
    fflush(stderr);
    off_t bytes = lseek(2, 0, SEEK_END);
    dup2(kept, 2);
    close(kept);
    fclose(file);
    assert_true(good);
    return bytes;
}

static void only_the_environment_is_told_at_the_end(void **state)
{
    (void)state;
    assert_true(written(true, false) > 0);
    assert_int_equal(written(false, true), 0);
    assert_int_equal(written(false, false), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(explanations_are_rows_text_and_json),
        cmocka_unit_test(the_oldest_rows_go),
        cmocka_unit_test(reasons_are_told),
        cmocka_unit_test(only_the_environment_is_told_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
