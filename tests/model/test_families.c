/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Every family against logits of an independent implementation (float64), and against itself: decode row by row, prefill in chunks, batch and
 * the cuts one behind another are the same bits. */
#include <math.h>

#include "model/world.h"
#include "wengert/generate.h"

static const char *const cases[] = {
    "gemma/tied", "gemma2/tied", "gemma3/layer-types", "gemma3/tied", "gpt2/inner", "gpt2/tied-bare-names", "granite/tied", "llama/bf16", "llama/f16",
    "llama/linear-scaling", "llama/llama3-scaling", "llama/mha-bias", "llama/sharded", "llama/tied", "llama/untied", "llama/yarn-scaling",
    "mistral/headdim-nowindow", "mistral/untied-window", "mixtral/top2", "olmo2/untied", "phi3/longrope-partial", "phi3/untied", "qwen2/bf16",
    "qwen2/f16", "qwen2/tied", "qwen2/untied", "qwen3/tied", "qwen3/untied", "qwen3_moe/top2-plain-mixed", "qwen3_moe/top3-norm", "smollm3/tied"};
#define CASES (sizeof cases / sizeof *cases)

/* The same of GGUF files; quantised ones against logits of their dequantised weights. */
static const char *const files[] = {"llama-f32", "llama-f16-tied", "llama-q4_0", "llama-q8_0", "llama3-ropefreqs-f32", "gemma2-f32", "gpt2-f32",
                                    "mixtral-f16", "qwen2-bf16", "qwen3-f32"};
#define FILES (sizeof files / sizeof *files)

#define MOST 64
#define CTX 32 /* of GPT-2, all of its positions */

typedef struct world {
    wg_model_spec *spec;
    wg_model_facts facts;
    expected expected;
    int32_t prompt[MOST], greedy[MOST];
    uint32_t prompt_count, greedy_count;
} world;

static world world_at(const char *model, const char *expected)
{
    world w = {.facts.size = sizeof w.facts};
    w.spec = spec_of(model);
    assert_true(wg_model_spec_facts(w.spec, &w.facts));
    w.expected = expected_of(data_path("%s", expected));
    w.prompt_count = whole_numbers(base_json_find(w.expected.json, "prompt"), w.prompt, MOST);
    w.greedy_count = whole_numbers(base_json_find(w.expected.json, "greedy"), w.greedy, MOST);
    return w;
}

static world world_of(const char *name)
{
    char expected[128];
    snprintf(expected, sizeof expected, "%s/expected.json", name);
    return world_at(name, expected);
}

static world world_of_file(const char *name)
{
    char model[128], expected[128];
    snprintf(model, sizeof model, "gguf/%s.gguf", name);
    snprintf(expected, sizeof expected, "gguf/%s.expected.json", name);
    return world_at(model, expected);
}

static void world_free(world *w)
{
    expected_free(&w->expected);
    wg_model_spec_free(&w->spec);
}

/* A row of C hexadecimal floats. */
static void close_to(const char *name, const float *logits, const base_json *row)
{
    int64_t i = 0;
    for (const base_json *item = row->first; item; item = item->next, i++) {
        double wanted = strtod(item->text, NULL), off = (double)logits[i] - wanted;
        if (!(off <= 1e-4 && off >= -1e-4)) fail_msg("%s: logit %d is %.9g, not %.9g", name, (int)i, (double)logits[i], wanted);
    }
}

/* ---- the numbers ---- */

static void against_the_reference(const char *name, const world *w)
{
    program p = program_of(w->spec, (wg_model_cut){.form = WG_MODEL_DECODE, .ctx = w->facts.positions < 64 ? w->facts.positions : 64});
    int32_t best[MOST], positions[4], argmax[MOST];
    uint32_t rows = whole_numbers(base_json_find(w->expected.json, "positions"), positions, 4);
    const base_json *row = base_json_find(w->expected.json, "logits_f64_hex")->first;
    for (uint32_t i = 0, next = 0; i < w->prompt_count; i++) {
        const float *logits = decode(&p, w->prompt[i], (int32_t)i);
        best[i] = greatest(logits, w->facts.vocabulary);
        if (next == rows || positions[next] != (int32_t)i) continue;
        close_to(name, logits, row);
        row = row->next;
        next++;
    }
    assert_int_equal(whole_numbers(base_json_find(w->expected.json, "argmax_all"), argmax, MOST), w->prompt_count);
    assert_memory_equal(best, argmax, w->prompt_count * sizeof *best);
    int32_t token = best[w->prompt_count - 1];
    for (uint32_t i = 0; i < w->greedy_count; i++) {
        if (token != w->greedy[i]) fail_msg("%s: greedy token %u is %d, not %d", name, i, token, w->greedy[i]);
        if (i + 1 < w->greedy_count) token = greatest(decode(&p, token, (int32_t)(w->prompt_count + i)), w->facts.vocabulary);
    }
    program_free(&p);
}

static void decode_against_the_reference(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        world w = world_of(cases[c]);
        against_the_reference(cases[c], &w);
        world_free(&w);
    }
}

static void files_against_the_reference(void **state)
{
    (void)state;
    for (size_t c = 0; c < FILES; c++) {
        world w = world_of_file(files[c]);
        against_the_reference(files[c], &w);
        world_free(&w);
    }
}

/* ---- the same bits ---- */

/* Logits of every prompt row by decode steps [prompt][vocabulary]; owned. */
static float *by_decode(const world *w, int64_t ctx)
{
    program p = program_of(w->spec, (wg_model_cut){.form = WG_MODEL_DECODE, .ctx = ctx});
    size_t row = (size_t)w->facts.vocabulary * sizeof(float);
    float *all = malloc(w->prompt_count * row);
    assert_non_null(all);
    for (uint32_t i = 0; i < w->prompt_count; i++) memcpy((char *)all + i * row, decode(&p, w->prompt[i], (int32_t)i), row);
    program_free(&p);
    return all;
}

static void same_rows(const char *name, const char *how, const float *mine, const float *wanted, int64_t count)
{
    if (memcmp(mine, wanted, (size_t)count * sizeof *mine)) fail_msg("%s: %s gives other bits than decode", name, how);
}

static void by_prefill(const char *name, const world *w, const float *wanted, int64_t rows)
{
    program p = program_of(w->spec, (wg_model_cut){.form = WG_MODEL_PREFILL, .rows = rows, .ctx = CTX, .asked = rows});
    int32_t ask[MOST];
    for (int32_t i = 0; i < rows; i++) ask[i] = i;
    for (int32_t at = 0; at + rows <= w->prompt_count; at += (int32_t)rows) {
        wg_feed feeds[] = {feed_of(&p, "tokens", WG_KIND_I32, 1, &rows, w->prompt + at), feed_of(&p, "position", WG_KIND_I32, 0, NULL, &at),
                           feed_of(&p, "ask", WG_KIND_I32, 1, &rows, ask)};
        run_with(&p, feeds, 3);
        same_rows(name, "prefill", result_of(&p, "logits").data, wanted + at * w->facts.vocabulary, rows * w->facts.vocabulary);
    }
    program_free(&p);
}

/* Two sequences side by side, the second one two steps behind. */
static void by_batch(const char *name, const world *w, const float *wanted)
{
    program p = program_of(w->spec, (wg_model_cut){.form = WG_MODEL_BATCH, .rows = 2, .ctx = CTX});
    int64_t two = 2;
    for (int32_t i = 0; i + 2 < (int32_t)w->prompt_count; i++) {
        int32_t behind = i < 2 ? 0 : i - 2, tokens[2] = {w->prompt[i], w->prompt[behind]}, positions[2] = {i, behind};
        wg_feed feeds[] = {feed_of(&p, "tokens", WG_KIND_I32, 1, &two, tokens), feed_of(&p, "positions", WG_KIND_I32, 1, &two, positions)};
        run_with(&p, feeds, 2);
        const float *logits = result_of(&p, "logits").data;
        same_rows(name, "batch", logits, wanted + i * w->facts.vocabulary, w->facts.vocabulary);
        same_rows(name, "batch, second row", logits + w->facts.vocabulary, wanted + behind * w->facts.vocabulary, w->facts.vocabulary);
    }
    program_free(&p);
}

static void by_parts(const char *name, const world *w, const float *wanted)
{
    program embedding = program_of(w->spec, (wg_model_cut){.part = WG_MODEL_EMBEDDING, .ctx = CTX});
    program head = program_of(w->spec, (wg_model_cut){.part = WG_MODEL_HEAD, .ctx = CTX}), layers[8];
    for (int64_t l = 0; l < w->facts.layers; l++) layers[l] = program_of(w->spec, (wg_model_cut){.part = WG_MODEL_LAYER, .layer = l, .ctx = CTX});
    bool places = wg_network_symbol(embedding.network, "position").position != WG_NONE;
    int64_t one = 1, shape[2] = {1, w->facts.width};
    for (int32_t i = 0; i < (int32_t)w->prompt_count; i++) {
        wg_feed feeds[2] = {feed_of(&embedding, "token", WG_KIND_I32, 1, &one, &w->prompt[i])};
        if (places) feeds[1] = feed_of(&embedding, "position", WG_KIND_I32, 0, NULL, &i);
        run_with(&embedding, feeds, places ? 2 : 1);
        const void *x = result_of(&embedding, "x.0").data;
        for (int64_t l = 0; l < w->facts.layers; l++) {
            char out[16];
            snprintf(out, sizeof out, "x.%d", (int)l + 1);
            wg_feed in[2] = {feed_of(&layers[l], "x", WG_KIND_F32, 2, shape, x), feed_of(&layers[l], "position", WG_KIND_I32, 0, NULL, &i)};
            run_with(&layers[l], in, 2);
            x = result_of(&layers[l], out).data;
        }
        wg_feed last = feed_of(&head, "x", WG_KIND_F32, 2, shape, x);
        run_with(&head, &last, 1);
        same_rows(name, "embedding, layers, head", result_of(&head, "logits").data, wanted + i * w->facts.vocabulary, w->facts.vocabulary);
    }
    for (int64_t l = 0; l < w->facts.layers; l++) program_free(&layers[l]);
    program_free(&embedding);
    program_free(&head);
}

static void every_way(const char *name, const world *w)
{
    float *wanted = by_decode(w, CTX);
    by_prefill(name, w, wanted, 12);
    by_prefill(name, w, wanted, 5);
    by_prefill(name, w, wanted, 1);
    by_batch(name, w, wanted);
    by_parts(name, w, wanted);
    static const int64_t lengths[] = {256, 4096, 12288, 16384};
    bool fixed = strstr(name, "gpt2") || !strcmp(name, "phi3/longrope-partial"); /* a table of positions; angles that follow ctx */
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths && !fixed; i++) {
        float *longer = by_decode(w, lengths[i]);
        same_rows(name, "a longer cache", longer, wanted, w->prompt_count * w->facts.vocabulary);
        free(longer);
    }
    free(wanted);
}

static void every_way_gives_the_same_bits(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES + FILES; c++) {
        const char *name = c < CASES ? cases[c] : files[c - CASES];
        world w = c < CASES ? world_of(name) : world_of_file(name);
        every_way(name, &w);
        world_free(&w);
    }
}

/* Angles that follow ctx (trained at 64 positions, stretched beyond): another ctx is another model, and runners have the one that they were asked
 * for from their first token on. */
static void angles_follow_ctx(void **state)
{
    (void)state;
    static const char name[] = "phi3/longrope-partial";
    world w = world_of(name);
    wg_error error = {.code = WG_OK};
    char *text = wg_model_written(w.spec, &(wg_model_cut){.size = sizeof(wg_model_cut), .ctx = 64}, &error);
    CHECKED(text, error);
    assert_null(strstr(text, "extent ctx")); /* one text holds for one ctx */
    wg_text_free(text);
    int64_t count = w.prompt_count * w.facts.vocabulary;
    float *all[2] = {by_decode(&w, 64), by_decode(&w, 128)};
    assert_memory_not_equal(all[0], all[1], (size_t)count * sizeof(float));
    for (int i = 0; i < 2; i++) {
        wg_runner *runner = wg_runner_new(w.spec, &(wg_runner_options){.size = sizeof(wg_runner_options), .ctx = i ? 128 : 64}, &error);
        CHECKED(runner, error);
        const float *logits = wg_runner_feed(runner, w.prompt, w.prompt_count, w.prompt_count, &error);
        CHECKED(logits, error);
        same_rows(name, "a runner", logits, all[i], count);
        wg_runner_free(&runner);
        free(all[i]);
    }
    world_free(&w);
}

/* ---- training ---- */

/* The train cut's loss is the mean of ln sum exp - target of the decode cut's logits. */
static void train_against_decode(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        world w = world_of(cases[c]);
        if (!strcmp(cases[c], "phi3/longrope-partial")) { /* its angles follow the length */
            world_free(&w);
            continue;
        }
        float *logits = by_decode(&w, CTX);
        int64_t length = w.prompt_count - 1, shape[2] = {1, length};
        program p = program_of(w.spec, (wg_model_cut){.form = WG_MODEL_TRAIN, .length = length});
        wg_feed feeds[] = {feed_of(&p, "tokens", WG_KIND_I32, 2, shape, w.prompt), feed_of(&p, "targets", WG_KIND_I32, 2, shape, w.prompt + 1)};
        run_with(&p, feeds, 2);
        double loss = 0, mine = *(const float *)result_of(&p, "loss").data;
        for (int64_t i = 0; i < length; i++) {
            const float *row = logits + i * w.facts.vocabulary;
            double sum = 0;
            for (int64_t v = 0; v < w.facts.vocabulary; v++) sum += exp((double)row[v] - (double)row[0]);
            loss += log(sum) + (double)row[0] - (double)row[w.prompt[i + 1]];
        }
        loss /= (double)length;
        if (!(fabs(mine - loss) < 1e-4)) fail_msg("%s: the loss is %.9g, not %.9g", cases[c], mine, loss);
        program_free(&p);
        free(logits);
        world_free(&w);
    }
}

/* Against differences: the loss along a gradient. */
static void gradients(void **state)
{
    (void)state;
    static const char *const some[] = {"llama/tied", "gemma2/tied", "gpt2/inner", "mixtral/top2", "olmo2/untied"};
    for (size_t c = 0; c < sizeof some / sizeof *some; c++) {
        world w = world_of(some[c]);
        int64_t length = w.prompt_count - 1, shape[2] = {1, length};
        program p = program_of(w.spec, (wg_model_cut){.form = WG_MODEL_TRAIN, .length = length});
        wg_feed feeds[] = {feed_of(&p, "tokens", WG_KIND_I32, 2, shape, w.prompt), feed_of(&p, "targets", WG_KIND_I32, 2, shape, w.prompt + 1)};
        run_with(&p, feeds, 2);
        double squares = 0, loss[2];
        uint32_t count = wg_parameters_count(p.parameters);
        wg_tensor **steps = calloc(count, sizeof *steps);
        wg_error error = {.code = WG_OK};
        for (uint32_t i = 0; i < count; i++) {
            char name[256];
            wg_node_facts node;
            assert_true(wg_network_node(p.network, wg_parameters_symbol(p.parameters, i).position, &node));
            snprintf(name, sizeof name, "d_%s", node.name);
            wg_view view = result_of(&p, name);
            steps[i] = wg_tensor_copy(NULL, &view, &error);
            const float *g = wg_tensor_data(steps[i]);
            for (int64_t k = 0; k < wg_tensor_volume(steps[i]); k++) squares += (double)g[k] * (double)g[k];
        }
        assert_true(squares > 1e-6);
        for (int side = 0; side < 2; side++) {
            wg_parameters *moved = wg_parameters_copy(p.parameters, &error);
            for (uint32_t i = 0; i < count; i++) {
                wg_symbol symbol = wg_parameters_symbol(moved, i);
                float *at = wg_tensor_data(wg_parameters_of(moved, symbol, &error));
                const float *g = wg_tensor_data(steps[i]);
                for (int64_t k = 0; k < wg_tensor_volume(steps[i]); k++) at[k] += (float)((side ? 1e-3 : -1e-3) * (double)g[k] / sqrt(squares));
            }
            wg_run_options options = {.size = sizeof options, .parameters = moved, .feeds = feeds, .feed_count = 2};
            CHECKED(wg_session_run(p.session, &options, &error), error);
            loss[side] = *(const float *)result_of(&p, "loss").data;
            wg_parameters_free(&moved);
        }
        double slope = (loss[1] - loss[0]) / 2e-3, wanted = sqrt(squares);
        if (!(fabs(slope - wanted) < 0.02 * wanted)) fail_msg("%s: the loss rises by %g along its gradient, not by %g", some[c], slope, wanted);
        for (uint32_t i = 0; i < count; i++) wg_tensor_release(steps[i]);
        free(steps);
        program_free(&p);
        world_free(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(decode_against_the_reference), cmocka_unit_test(files_against_the_reference),
                                       cmocka_unit_test(every_way_gives_the_same_bits), cmocka_unit_test(angles_follow_ctx),
                                       cmocka_unit_test(train_against_decode), cmocka_unit_test(gradients)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
