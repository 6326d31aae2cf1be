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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_worked_example)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
