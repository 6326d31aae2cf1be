/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Allocation number k fails, for every k, or every few where there are many: every call of this room answers an error then, and nothing is left. */
#include "model/world.h"

#include <unistd.h>

#include "support/budget.h"
#include "wengert/generate.h"

typedef bool (*step)(wg_context *context, wg_error *error);

static char scratch[] = "/tmp/wengert-memory-XXXXXX";

/* ---- what is tried ---- */

static bool try_text(wg_context *context, const char *name, wg_error *error)
{
    wg_model_spec *spec = wg_model_spec_open(context, data_path("%s", name), error);
    const wg_model_cut cut = {.size = sizeof cut, .ctx = 8}, train = {.size = sizeof train, .form = WG_MODEL_TRAIN, .rows = 1, .length = 4};
    wg_model_identity identity;
    char *text = spec ? wg_model_written_in(spec, &cut, "weights", error) : NULL;
    bool good = text && wg_model_identify(spec, &train, &identity, error);
    wg_text_free(text);
    wg_model_spec_free(&spec);
    return good;
}

static bool open_folder(wg_context *context, wg_error *error)
{
    return try_text(context, "gemma3/tied", error);
}

static bool open_shards(wg_context *context, wg_error *error)
{
    return try_text(context, "llama/sharded", error);
}

static bool open_gguf(wg_context *context, wg_error *error)
{
    return try_text(context, "gguf/mixtral-f16.gguf", error);
}

static bool open_llama2c(wg_context *context, wg_error *error)
{
    return try_text(context, "stories260K.bin", error);
}

static bool manifest(wg_context *context, wg_error *error)
{
    wg_model_spec *spec = wg_model_spec_open(context, data_path("gguf/llama-q4_0.gguf"), error);
    char *text = spec ? wg_model_manifest(spec, error) : NULL;
    bool good = text != NULL;
    wg_text_free(text);
    wg_model_spec_free(&spec);
    return good;
}

static bool tokenizer(wg_context *context, const char *name, wg_error *error)
{
    static const char text[] = "Hello, world's 12\xc3\xa9 \xff \xe2\x96\x81";
    wg_tokenizer *t = wg_tokenizer_open(context, data_path("%s", name), error);
    int32_t *ids = NULL;
    size_t count = 0, length;
    bool good = t && wg_tokenizer_encode(t, text, sizeof text - 1, WG_TOKENIZER_AUTOMATIC, &ids, &count, error);
    char *back = good ? wg_tokenizer_decode(t, ids, count, true, &length, error) : NULL;
    wg_tokenizer_stream *stream = back ? wg_tokenizer_stream_new(t, false, error) : NULL;
    good = stream != NULL;
    for (size_t i = 0; good && i < count; i++) good = wg_tokenizer_stream_put(stream, ids[i], &length, error) != NULL;
    wg_tokenizer_stream_free(&stream);
    wg_text_free(back);
    wg_deallocate(context, ids, count * sizeof *ids);
    wg_tokenizer_free(&t);
    return good;
}

static bool tokenizer_json(wg_context *context, wg_error *error)
{
    return tokenizer(context, "tokenizers/llama2-spm.json", error);
}

static bool tokenizer_model(wg_context *context, wg_error *error)
{
    return tokenizer(context, "tokenizers/sp-unigram.model", error);
}

static bool tokenizer_bin(wg_context *context, wg_error *error)
{
    return tokenizer(context, "tokenizers/llama2c-tokenizer.bin", error);
}

static bool tokenizer_gguf(wg_context *context, wg_error *error)
{
    return tokenizer(context, "tokenizers/vocab-llama3.gguf", error);
}

static bool tokenizer_pair(wg_context *context, wg_error *error)
{
    return tokenizer(context, "tokenizers/gpt2-vocab.json", error);
}

static bool chat(wg_context *context, wg_error *error)
{
    static const char source[] = "{% set ns = namespace(n=[1]) %}{% for m in messages if m.role != 'x' %}{% set ns.n = ns.n + [m.content] %}{{ m | tojson }}"
                                 "{{ 'a,b'.split(',') | join('+') | upper | replace('A', 'xyz') }}{{ {'k': ns.n[::-1]} }}{% endfor %}{{ (m is defined) ~ 1 }}";
    static const char messages[] = "[{\"role\": \"user\", \"content\": \"a\"}, {\"role\": \"user\", \"content\": \"b\"}]";
    wg_tokenizer *t = wg_tokenizer_open(context, "bytes", error);
    int32_t *ids = NULL;
    size_t count = 0;
    bool good = t && wg_chat_encode(t, source, messages, strlen(messages), true, &ids, &count, error);
    wg_deallocate(context, ids, count * sizeof *ids);
    wg_tokenizer_free(&t);
    return good;
}

/* Loading, feeding in chunks, growing, saving, going on. */
static bool generate(wg_context *context, wg_error *error)
{
    static const int32_t tokens[300] = {5, 9, 12, 3, 7};
    char path[64];
    wg_sampler sampler;
    int32_t *back = NULL;
    snprintf(path, sizeof path, "%s/session", scratch);
    wg_sampler_defaults(&sampler);
    wg_model_spec *spec = wg_model_spec_open(context, data_path("llama/tied"), error);
    const wg_runner_options options = {.size = sizeof options, .ctx = 600, .chunk = 200};
    wg_runner *runner = spec ? wg_runner_new(spec, &options, error) : NULL;
    const float *logits = runner ? wg_runner_feed(runner, tokens, 300, 1, error) : NULL;
    bool good = logits && wg_sampler_next(&sampler, logits, wg_runner_vocabulary(runner), tokens, 300, 0, error) >= 0;
    good = good && wg_runner_save(runner, tokens, path, error) && wg_runner_load(runner, path, &back, error);
    wg_deallocate(context, back, sizeof tokens);
    wg_runner_free(&runner);
    wg_model_spec_free(&spec);
    return good;
}

static bool rewrite(wg_context *context, const char *name, bool to_gguf, wg_error *error)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", scratch, to_gguf ? "a.gguf" : "folder");
    wg_model_spec *spec = wg_model_spec_open(context, data_path("%s", name), error);
    bool good = spec && (to_gguf ? wg_model_write_gguf(spec, path, WG_KIND_Q8_0, WG_KIND_F16, error) : wg_model_write_folder(spec, path, WG_KIND_F16, error));
    wg_model_spec_free(&spec);
    return good;
}

static bool quantise(wg_context *context, wg_error *error)
{
    return rewrite(context, "gguf/llama-q8_0.gguf", true, error);
}

static bool convert(wg_context *context, wg_error *error)
{
    return rewrite(context, "gguf/llama-q8_0.gguf", false, error);
}

/* ---- trying ---- */

/* Answers whether allocation k was asked for. */
static bool try_once(step step, long k, const char *name)
{
    test_budget count = {.left = -1};
    wg_context_options options = {.size = sizeof options, .allocator = test_budget_allocator(&count), .threads = 1, .simd = "v2"};
    wg_context *context = wg_context_new(&options, NULL);
    wg_error error = {.code = WG_OK};
    assert_non_null(context);
    count.left = k;
    bool good = step(context, &error);
    if (!good && (!count.failed || error.code != WG_MEMORY)) fail_msg("%s, allocation %ld: %d %s", name, k, (int)error.code, error.message);
    count.left = -1;
    wg_context_free(context);
    if (count.blocks) fail_msg("%s, allocation %ld: %lld blocks are left", name, k, (long long)count.blocks);
    return count.failed;
}

/* All of the first twenty, then ever fewer: the paths are loops. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const struct { const char *name; step step; } all[] = {
        {"a folder", open_folder}, {"shards", open_shards}, {"gguf", open_gguf}, {"llama2.c", open_llama2c}, {"a manifest", manifest}, {"tokenizer.json", tokenizer_json},
        {"tokenizer.model", tokenizer_model}, {"tokenizer.bin", tokenizer_bin}, {"a vocabulary of gguf", tokenizer_gguf}, {"vocab.json", tokenizer_pair},
        {"a template", chat}, {"generating", generate}, {"quantising", quantise}, {"converting", convert}};
    assert_non_null(mkdtemp(scratch));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        long k = 0;
        while (try_once(all[i].step, k, all[i].name)) k += 1 + k / 20;
        assert_true(k > 10);
    }
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", scratch);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
