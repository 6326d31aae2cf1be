/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Runners: any chunks give the same logits, caches grow without a change, a file goes on where it was left. */
#include "model/world.h"

#include <unistd.h>

#include "wengert/generate.h"

static wg_runner *runner_of(wg_model_spec *spec, int64_t ctx, int64_t chunk)
{
    wg_error error = {.code = WG_OK};
    wg_runner *r = wg_runner_new(spec, &(wg_runner_options){.size = sizeof(wg_runner_options), .ctx = ctx, .chunk = chunk}, &error);
    CHECKED(r, error);
    return r;
}

#define LONG 700

static void any_chunks(void **state)
{
    (void)state;
    static const char *const names[] = {"llama/tied", "gemma3/tied", "mixtral/top2", "gguf/llama-q8_0.gguf"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        wg_model_spec *spec = spec_of(names[n]);
        wg_error error = {.code = WG_OK};
        wg_runner *whole = runner_of(spec, LONG, 256), *parts = runner_of(spec, LONG, 7);
        int64_t vocabulary = wg_runner_vocabulary(whole);
        int32_t tokens[LONG];
        for (int32_t i = 0; i < LONG; i++) tokens[i] = (i * 37 + 11) % (int32_t)vocabulary;
        float *last = malloc((size_t)vocabulary * sizeof *last);
        const float *logits = wg_runner_feed(whole, tokens, LONG, 1, &error);
        CHECKED(logits, error);
        memcpy(last, logits, (size_t)vocabulary * sizeof *last);
        CHECKED(wg_runner_feed(parts, tokens, LONG - 3, 0, &error), error);
        for (int32_t i = LONG - 3; i < LONG; i++) CHECKED(logits = wg_runner_feed(parts, tokens + i, 1, 1, &error), error);
        assert_memory_equal(logits, last, (size_t)vocabulary * sizeof *last);
        assert_int_equal(wg_runner_position(parts), LONG);
        /* One more does not fit, and says so; going back makes room. */
        assert_null(wg_runner_feed(parts, tokens, 1, 1, &error));
        assert_int_equal(error.code, WG_BOUNDS);
        wg_error_clear(&error);
        assert_true(wg_runner_rewind(parts, LONG - 1, &error));
        CHECKED(logits = wg_runner_feed(parts, tokens + LONG - 1, 1, 1, &error), error);
        assert_memory_equal(logits, last, (size_t)vocabulary * sizeof *last);
        free(last);
        wg_runner_free(&whole);
        wg_runner_free(&parts);
        wg_model_spec_free(&spec);
    }
}

typedef struct counting {
    int64_t bytes, most;
} counting;

static void *counting_resize(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    counting *c = user;
    c->bytes += (int64_t)new_bytes - (int64_t)old_bytes;
    c->most = c->bytes > c->most ? c->bytes : c->most;
    if (new_bytes) return realloc(block, new_bytes);
    free(block);
    return NULL;
}

/* Of four caches that move one stands three times: as it was and twice as it becomes. */
static void caches_move_one_at_a_time(void **state)
{
    (void)state;
    enum { BEFORE = 4096 };
    counting c = {0};
    wg_error error = {.code = WG_OK};
    wg_context *context = wg_context_new(&(wg_context_options){.size = sizeof(wg_context_options), .allocator = {counting_resize, &c}, .threads = 1}, &error);
    wg_model_spec *spec = wg_model_spec_open(context, data_path("llama/tied"), &error);
    CHECKED(spec, error);
    wg_runner *r = runner_of(spec, 2 * BEFORE, 256);
    int32_t tokens[BEFORE] = {0};
    CHECKED(wg_runner_feed(r, tokens, BEFORE - 1, 0, &error), error);
    CHECKED(wg_runner_feed(r, tokens, 1, 1, &error), error);
    int64_t held = c.bytes, caches = 0;
    c.most = 0;
    CHECKED(wg_runner_feed(r, tokens, 1, 1, &error), error);
    caches = c.bytes - held; /* as much was added as there was */
    assert_true(caches > 1 << 20);
    assert_in_range(c.most - held, caches, caches + 3 * caches / 4 + 4096);
    wg_runner_free(&r);
    wg_model_spec_free(&spec);
    wg_context_free(context);
}

/* Tokens are checked before the first chunk of them runs. */
static void nothing_of_what_is_refused(void **state)
{
    (void)state;
    wg_model_spec *spec = spec_of("llama/tied");
    wg_error error = {.code = WG_OK};
    wg_runner *r = runner_of(spec, 12, 4);
    int32_t tokens[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    for (int i = 0; i < 3; i++) {
        tokens[8] = i == 0 ? (int32_t)wg_runner_vocabulary(r) : i == 1 ? -1 : 9;
        assert_null(wg_runner_feed(r, tokens, i < 2 ? 9 : 10, 1, &error));
        assert_int_equal(error.code, WG_BOUNDS);
        assert_non_null(strstr(error.message, i < 2 ? "the vocabulary is" : "10 tokens behind position 3 do not fit"));
        assert_int_equal(wg_runner_position(r), i < 1 ? 0 : 3);
        wg_error_clear(&error);
        if (i == 0) CHECKED(wg_runner_feed(r, tokens, 3, 1, &error), error);
    }
    wg_runner_free(&r);
    wg_model_spec_free(&spec);
}

static void a_file_goes_on(void **state)
{
    (void)state;
    wg_model_spec *spec = spec_of("qwen3/tied"), *other = spec_of("qwen3/untied");
    wg_error error = {.code = WG_OK};
    wg_runner *first = runner_of(spec, 64, 8), *second = runner_of(spec, 128, 16), *third = runner_of(other, 64, 8);
    int32_t tokens[20], *back;
    char path[] = "/tmp/wengert-session-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    for (int32_t i = 0; i < 20; i++) tokens[i] = (i * 13 + 5) % 256;
    CHECKED(wg_runner_feed(first, tokens, 15, 0, &error), error);
    CHECKED(wg_runner_save(first, tokens, path, &error), error);
    CHECKED(wg_runner_load(second, path, &back, &error), error);
    assert_memory_equal(back, tokens, 15 * sizeof *back);
    wg_deallocate(NULL, back, 15 * sizeof *back);
    const float *mine = wg_runner_feed(first, tokens + 15, 5, 5, &error), *theirs = wg_runner_feed(second, tokens + 15, 5, 5, &error);
    assert_memory_equal(mine, theirs, 5 * (size_t)wg_runner_vocabulary(first) * sizeof *mine);
    assert_false(wg_runner_load(third, path, &back, &error));
    assert_int_equal(error.code, WG_DIFFERS);
    assert_non_null(strstr(error.message, "program text"));
    /* A token that is none of the vocabulary's. */
    base_file file;
    wg_error_clear(&error);
    CHECKED(base_file_read(base_allocator(NULL), path, SIZE_MAX, &file, &error), error);
    unsigned char *bytes = malloc(file.length);
    size_t at = 0;
    memcpy(bytes, file.bytes, file.length);
    while (at + 60 < file.length && memcmp(bytes + at, tokens, 60)) at++;
    bytes[at + 2] = 1;
    CHECKED(base_file_write(base_allocator(NULL), path, bytes, file.length, &error), error);
    assert_false(wg_runner_load(second, path, &back, &error));
    assert_int_equal(error.code, WG_BOUNDS);
    assert_non_null(strstr(error.message, "token 65541"));
    base_file_close(&file);
    free(bytes);
    unlink(path);
    wg_runner_free(&first);
    wg_runner_free(&second);
    wg_runner_free(&third);
    wg_model_spec_free(&spec);
    wg_model_spec_free(&other);
}

/* A model of llama2.c, trained on small stories: logits of an independent computation in f64, and what it says. */
static void stories(void **state)
{
    (void)state;
    wg_model_spec *spec = spec_of("stories260K.bin");
    expected e = expected_of(data_path("stories260K.expected.json"));
    for (const base_json *c = base_json_find(e.json, "cases")->first; c; c = c->next) {
        int32_t prompt[64], greedy[256];
        wg_error error = {.code = WG_OK};
        uint32_t count = whole_numbers(base_json_find(c, "prompt"), prompt, 64), wanted = whole_numbers(base_json_find(c, "greedy"), greedy, 256), i = 0;
        wg_runner *r = runner_of(spec, 0, 0);
        const float *logits = wg_runner_feed(r, prompt, count, 1, &error);
        CHECKED(logits, error);
        for (const base_json *item = base_json_find(c, "logits_f64_hex_last")->first; item; item = item->next, i++) {
            double off = (double)logits[i] - strtod(item->text, NULL);
            if (!(off < 1e-4 && off > -1e-4)) fail_msg("logit %u is off by %g", i, off);
        }
        for (i = 0; i < wanted && wg_runner_position(r) < wg_runner_ctx(r); i++) {
            int32_t token = greatest(logits, wg_runner_vocabulary(r));
            if (token != greedy[i]) fail_msg("greedy token %u is %d, not %d", i, token, greedy[i]);
            CHECKED(logits = wg_runner_feed(r, &token, 1, 1, &error), error);
        }
        assert_true(i > 8);
        wg_runner_free(&r);
    }
    expected_free(&e);
    wg_model_spec_free(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_chunks), cmocka_unit_test(a_file_goes_on), cmocka_unit_test(stories),
                                       cmocka_unit_test(caches_move_one_at_a_time), cmocka_unit_test(nothing_of_what_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
