/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The worked example: the text that a configuration gives is, but for the names of tensors, the text whose digest is settled. */
#include "model/world.h"
#include "wengert/text.h"

static const char example[] =
    "{\"model_type\": \"llama\", \"hidden_size\": 8, \"num_attention_heads\": 2, \"num_key_value_heads\": 1, \"intermediate_size\": 8,"
    " \"vocab_size\": 16, \"num_hidden_layers\": 1, \"tie_word_embeddings\": true, \"rope_theta\": 500000.0, \"rms_norm_eps\": 1e-5}";

static const char *const names[][2] = {
    {"model.embed_tokens.weight", "embed"}, {"model.layers.0.input_layernorm.weight", "n1"}, {"model.layers.0.self_attn.q_proj.weight", "wq"},
    {"model.layers.0.self_attn.k_proj.weight", "wk"}, {"model.layers.0.self_attn.v_proj.weight", "wv"},
    {"model.layers.0.self_attn.o_proj.weight", "wo"}, {"model.layers.0.post_attention_layernorm.weight", "n2"},
    {"model.layers.0.mlp.gate_proj.weight", "gate"}, {"model.layers.0.mlp.up_proj.weight", "up"},
    {"model.layers.0.mlp.down_proj.weight", "down"}, {"model.norm.weight", "norm"}};

/* The text with every name replaced by its short one; owned. */
static char *shortened(const char *text)
{
    char *result = calloc(1, strlen(text) + 1), *to = result;
    assert_non_null(result);
    while (*text) {
        size_t i = 0, count = sizeof names / sizeof *names;
        while (i < count && strncmp(text, names[i][0], strlen(names[i][0]))) i++;
        if (i == count) {
            *to++ = *text++;
            continue;
        }
        to = stpcpy(to, names[i][1]);
        text += strlen(names[i][0]);
    }
    return result;
}

static void the_worked_example(void **state)
{
    (void)state;
    wg_error error = {.code = WG_OK};
    wg_model_spec *spec = wg_model_spec_parse(NULL, example, strlen(example), "config.json", &error);
    CHECKED(spec, error);
    char *text = wg_model_written(spec, &(wg_model_cut){.size = sizeof(wg_model_cut), .ctx = 4}, &error);
    CHECKED(text, error);
    char *brief = shortened(text);
    if (getenv("SHOW")) puts(brief);
    wg_network *network = wg_text_parse(NULL, brief, strlen(brief), "example.wg", NULL, &error);
    CHECKED(network, error);
    char digest[65];
    assert_true(wg_network_identity(network, digest, &error));
    assert_string_equal(digest, "c0cb9e9f85ebb82f3c35ee16ec7916d5debf75d23638d0d6a4bbd31ce247cece");
    wg_network_release(&network);
    free(brief);
    wg_text_free(text);
    wg_model_spec_free(&spec);
}

/* Lines of b that are not those of a, one behind the other in `lines`; the texts have as many lines. */
static void differing_lines(const char *a, const char *b, char *lines, size_t room)
{
    *lines = 0;
    while (*a || *b) {
        size_t n = strcspn(a, "\n"), m = strcspn(b, "\n"), used = strlen(lines);
        if (n != m || memcmp(a, b, n)) snprintf(lines + used, room - used, "%.*s\n", (int)m, b);
        a += n + (a[n] != 0), b += m + (b[m] != 0);
    }
}

/* The text of one run has its tokens and its position where the text has placeholders, and nothing else. */
static void texts_of_one_run(void **state)
{
    (void)state;
    wg_error error = {.code = WG_OK};
    wg_model_spec *spec = spec_of("llama/tied");
    wg_model_cut decode = {.size = sizeof decode, .ctx = 8}, prefill = {.size = sizeof prefill, .form = WG_MODEL_PREFILL, .rows = 3, .ctx = 8};
    char lines[400], *written = wg_model_written(spec, &decode, &error), *text = wg_model_decode_at(spec, &decode, 1, 0, &error);
    CHECKED(written && text, error);
    assert_string_equal(text, written);
    wg_text_free(text);
    CHECKED(text = wg_model_decode_at(spec, &decode, 5, 7, &error), error);
    differing_lines(written, text, lines, sizeof lines);
    assert_string_equal(lines, "input token i32 [1] = 5\ninput position i32 [] = 7\n");
    wg_text_free(text);
    wg_text_free(written);

    static const int32_t ones[] = {1, 1, 1}, tokens[] = {3, 5, 2}, outside[] = {3, 5, 100000};
    CHECKED(text = wg_model_prefill_at(spec, &prefill, tokens, 5, &error), error);
    assert_non_null(strstr(text, "\ninput tokens i32 [3] = (3 5 2)\n"));
    assert_non_null(strstr(text, "\ninput position i32 [] = 5\n"));
    wg_network *network = wg_text_parse(NULL, text, strlen(text), "prefill.wg", NULL, &error);
    CHECKED(network, error);
    wg_network_release(&network);
    wg_text_free(text);
    CHECKED(text = wg_model_prefill_at(spec, &prefill, ones, 0, &error), error);
    wg_text_free(text);

    const struct { char *text; const char *what; } refused[] = {
        {wg_model_decode_at(spec, &decode, 100000, 0, &error), "token 100000: the vocabulary"}, {wg_model_decode_at(spec, &decode, -1, 0, NULL), NULL},
        {wg_model_decode_at(spec, &decode, 1, -1, NULL), NULL}, {wg_model_decode_at(spec, &decode, 1, 8, NULL), NULL},
        {wg_model_decode_at(spec, &prefill, 1, 0, NULL), NULL}, {wg_model_prefill_at(spec, &prefill, outside, 0, NULL), NULL},
        {wg_model_prefill_at(spec, &prefill, tokens, 6, NULL), NULL}, {wg_model_prefill_at(spec, &decode, tokens, 0, NULL), NULL}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (refused[i].text) fail_msg("%d is not refused", (int)i);
    assert_non_null(strstr(error.message, refused[0].what));
    wg_model_spec_free(&spec);
}

/* One token, a list of them, one of them twice; too many, or what is none. */
static void tokens_that_end(void **state)
{
    (void)state;
    static const struct { const char *value; int32_t ends[3]; uint32_t count; } cases[] = {
        {"2", {2}, 1}, {"[7, 3, 7]", {7, 3}, 2}, {"[]", {0}, 0}, {"null", {0}, 0}, {"-1", {0}, 0}, {"\"x\"", {0}, 9}, {"[1, 2, 3, 4, 5, 6, 7, 8, 9]", {0}, 9}, {"[1, 2.5]", {0}, 9}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        wg_error error = {.code = WG_OK};
        wg_model_facts facts = {.size = sizeof facts};
        snprintf(text, sizeof text, "{\"eos_token_id\": %s, %s", cases[i].value, example + 1);
        wg_model_spec *spec = wg_model_spec_parse(NULL, text, strlen(text), "config.json", &error);
        assert_int_equal(spec == NULL, cases[i].count == 9);
        if (!spec) {
            assert_non_null(strstr(error.message, "config.json: \"eos_token_id\" must be"));
            continue;
        }
        assert_true(wg_model_spec_facts(spec, &facts));
        assert_int_equal(facts.end_count, cases[i].count);
        assert_int_equal(facts.end, cases[i].count ? cases[i].ends[0] : -1);
        assert_memory_equal(facts.ends, cases[i].ends, cases[i].count * sizeof *facts.ends);
        wg_model_spec_free(&spec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_worked_example), cmocka_unit_test(texts_of_one_run), cmocka_unit_test(tokens_that_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
