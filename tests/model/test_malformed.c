/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Files that strangers made wrong: each is refused with one line that names the file and what malformed.json says it must name. */
#define _GNU_SOURCE /* mkstemps */
#include "model/world.h"

#include <sys/stat.h>
#include <unistd.h>

#include "wengert/files.h"
#include "wengert/tokenizer.h"

static const char config[] =
    "{\"model_type\": \"llama\", \"hidden_size\": 8, \"num_attention_heads\": 2, \"num_key_value_heads\": 1, \"intermediate_size\": 8,"
    " \"vocab_size\": 16, \"num_hidden_layers\": 1}";

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

static void copy_into(const char *folder, const char *name, const void *bytes, size_t length)
{
    char path[600];
    wg_error error = {.code = WG_OK};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    CHECKED(base_file_write(base_allocator(NULL), path, bytes, length, &error), error);
}

static void copy_file(const char *from, const char *folder, const char *name)
{
    base_file file;
    wg_error error = {.code = WG_OK};
    CHECKED(base_file_read(base_allocator(NULL), from, SIZE_MAX, &file, &error), error);
    copy_into(folder, name, file.bytes, file.length);
    base_file_close(&file);
}

/* A folder of these tests, and what may stand in it. */
static void remove_folder(const char *folder)
{
    static const char *const names[] = {"config.json", "model.safetensors", "model.safetensors.index.json", "model-00001-of-00002.safetensors", "one.safetensors"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

/* Opens a weight file or an index beside a configuration. */
static void open_beside_config(const char *path, wg_error *error)
{
    char folder[] = "/tmp/wengert-malformed-XXXXXX", inner[600];
    assert_non_null(mkdtemp(folder));
    copy_into(folder, "config.json", config, strlen(config));
    bool index = !ends_with(path, ".safetensors");
    snprintf(inner, sizeof inner, "%s/model.safetensors.index.json", path);
    copy_file(index ? inner : path, folder, index ? "model.safetensors.index.json" : "model.safetensors");
    snprintf(inner, sizeof inner, "%s/model-00001-of-00002.safetensors", path);
    if (index && !access(inner, F_OK)) copy_file(inner, folder, "model-00001-of-00002.safetensors");
    wg_model_spec *spec = wg_model_spec_open(NULL, folder, error);
    assert_null(spec);
    remove_folder(folder);
}

static void open_one(const char *path, const char *name, wg_error *error)
{
    if (ends_with(name, ".npy")) {
        assert_null(wg_npy_read(NULL, path, error));
    } else if (ends_with(name, ".json") || ends_with(name, ".model") || !strncmp(name, "tokbin", 6)) {
        assert_null(wg_tokenizer_open(NULL, path, error));
    } else if (ends_with(name, ".gguf") || ends_with(name, ".bin")) {
        assert_null(wg_model_spec_open(NULL, path, error));
    } else open_beside_config(path, error);
}

static void every_file_is_refused(void **state)
{
    (void)state;
    expected e = expected_of(data_path("malformed/malformed.json"));
    uint32_t count = 0;
    for (const base_json *c = base_json_find(e.json, "cases")->first; c; c = c->next, count++) {
        const base_json *file = base_json_find(c, "file");
        wg_error error = {.code = WG_OK};
        open_one(data_path("malformed/%s", file->text), file->text, &error);
        assert_int_not_equal(error.code, WG_OK);
        if (strchr(error.message, '\n')) fail_msg("%s: more than one line: %s", file->text, error.message);
        for (const base_json *word = base_json_find(c, "message_should_name")->first; word; word = word->next)
            if (!strstr(error.message, word->text)) fail_msg("%s: \"%s\" does not name %s", file->text, error.message, word->text);
    }
    assert_int_equal(count, 24);
    expected_free(&e);
}

/* Configurations that cannot be: each names the key. */
static void every_configuration_is_refused(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"\"model_type\": \"bert\"", "bert"}, {"\"num_attention_heads\": 3", "num_attention_heads"}, {"\"num_key_value_heads\": 3", "num_key_value_heads"},
        {"\"hidden_size\": -8", "hidden_size"}, {"\"hidden_act\": \"relu6\"", "hidden_act"}, {"\"rope_scaling\": {\"type\": \"spiral\"}", "spiral"},
        {"\"rope_scaling\": {\"type\": \"linear\"}", "factor"}, {"\"rms_norm_eps\": \"small\"", "rms_norm_eps"}, {"\"tie_word_embeddings\": 1", "tie_word_embeddings"},
        {"\"num_hidden_layers\": 1e9", "num_hidden_layers"}, {"\"partial_rotary_factor\": 0.3", "even"}, {"\"add_cross_attention\": true", "add_cross_attention"},
        {"\"head_dim\": 1000000", "65,536"}, {"\"vocab_size\": 3000000000", "vocab_size"}, {"\"max_position_embeddings\": 0", "trained length"},
        {"\"original_max_position_embeddings\": 0", "original length"}, {"\"model_type\": \"gemma2\", \"layer_types\": [\"wide\"]", "layer_types"},
        {"\"model_type\": \"gemma2\", \"layer_types\": 3", "layer_types"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char text[1024], key[64];
        wg_error error = {.code = WG_OK};
        /* The key that is replaced goes first, and out of the rest. */
        snprintf(key, sizeof key, "%.*s", (int)(strchr(pairs[i][0] + 1, '"') + 1 - pairs[i][0]), pairs[i][0]);
        const char *old = strstr(config, key);
        if (!old) snprintf(text, sizeof text, "{%s, %s", pairs[i][0], config + 1);
        else {
            const char *behind = strchr(old, ',');
            snprintf(text, sizeof text, "%.*s%s%s", (int)(old - config), config, pairs[i][0], behind ? behind : "}");
        }
        wg_model_spec *spec = wg_model_spec_parse(NULL, text, strlen(text), "config.json", &error);
        if (spec) fail_msg("%s is taken", text);
        if (!strstr(error.message, pairs[i][1])) fail_msg("%s: \"%s\" does not name %s", text, error.message, pairs[i][1]);
    }
}

/* An index is checked as a whole before the first shard is read: its values are looked up while one is. */
static void indices_of_anything(void **state)
{
    (void)state;
    static const char *const values[] = {"[1]", "{}", "7", "null", "\"\"", "\"../x\"", "\"a\\u0000b\""};
    char folder[] = "/tmp/wengert-malformed-XXXXXX";
    assert_non_null(mkdtemp(folder));
    copy_into(folder, "config.json", config, strlen(config));
    copy_file(data_path("llama/sharded/model-00001-of-00003.safetensors"), folder, "one.safetensors");
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[300];
        wg_error error = {.code = WG_OK};
        snprintf(text, sizeof text, "{\"weight_map\": {\"model.layers.0.input_layernorm.weight\": \"one.safetensors\", \"model.embed_tokens.weight\": %s}}", values[i]);
        copy_into(folder, "model.safetensors.index.json", text, strlen(text));
        assert_null(wg_model_spec_open(NULL, folder, &error));
        if (!strstr(error.message, "the file of model.embed_tokens.weight must be a plain name")) fail_msg("%s says %s", values[i], error.message);
    }
    remove_folder(folder);
}

/* An adapter that is refused leaves nothing: neither its file, which may go, nor its scale. */
static void refused_adapters_leave_nothing(void **state)
{
    (void)state;
#define HEADER(name, kind) SCALED("3", name, kind)
#define SCALED(scale, name, kind) "{\"__metadata__\":{\"lora_scale\":\"" scale "\"},\"" name "\":{\"dtype\":\"" kind "\",\"shape\":[1,48],\"data_offsets\":[0,192]}}"
    static const struct { const char *header, *what; } cases[] = {
        {HEADER("model.layers.0.mlp.down_proj.lora_A.weight", "F32"), "asks for [1, "}, {HEADER("model.layers.0.mlp.up_proj.lora_A.weight", "F32"), "without"},
        {HEADER("model.layers.0.mlp.up_proj.lora_A.weight", "I32"), "of a type"}, {HEADER("model.norm.lora_A.weight", "F32"), "of no weight"},
        {HEADER("model.layers.0.mlp.up_proj.weight", "F32"), "of no weight"}, {HEADER("model.embed_tokens.lora_B.weight", "F32"), "of no weight"},
        {SCALED("3x", "model.layers.0.mlp.up_proj.lora_A.weight", "F32"), "lora_scale must be a number"},
        {SCALED("nan", "model.layers.0.mlp.up_proj.lora_A.weight", "F32"), "lora_scale must be a number"},
        {SCALED("", "model.layers.0.mlp.up_proj.lora_A.weight", "F32"), "lora_scale must be a number"}};
    char path[] = "/tmp/wengert-adapter-XXXXXX", bytes[500] = {0};
    wg_error error = {.code = WG_OK};
    wg_model_identity before, behind;
    const wg_model_cut cut = {.size = sizeof cut, .ctx = 8};
    wg_model_spec *spec = spec_of("llama/tied");
    CHECKED(wg_model_identify(spec, &cut, &before, &error), error);
    close(mkstemp(path));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t length = strlen(cases[i].header);
        bytes[0] = (char)length;
        memcpy(bytes + 8, cases[i].header, length);
        wg_error_clear(&error);
        CHECKED(base_file_write(base_allocator(NULL), path, bytes, 8 + length + 192, &error), error);
        assert_false(wg_model_spec_adapt(spec, path, &error));
        if (!strstr(error.message, cases[i].what)) fail_msg("%s, not %s", error.message, cases[i].what);
    }
    unlink(path);
    wg_error_clear(&error);
    CHECKED(wg_model_identify(spec, &cut, &behind, &error), error);
    assert_string_equal(before.sha256, behind.sha256);
    wg_network *network = wg_model_network(spec, &cut, &error);
    wg_parameters *parameters = wg_model_parameters(spec, network, &error);
    CHECKED(parameters, error);
    wg_parameters_free(&parameters);
    wg_network_release(&network);
    wg_model_spec_free(&spec);
}

/* The bytes of a tensor's name in a header, from which on `text` is looked for. */
static char *behind_name(const base_file *file, const char *name, const char *text)
{
    char *at = memmem(file->bytes, file->length, name, strlen(name));
    assert_non_null(at);
    at += strlen(name);
    return text ? memmem(at, file->length - (size_t)(at - (char *)file->bytes), text, strlen(text)) : at;
}

/* Tensors where none may be, by the places that a GGUF file and an image tell: over one another, off the alignment. */
static void tensors_out_of_place(void **state)
{
    (void)state;
    char path[] = "/tmp/wengert-overlap-XXXXXX.gguf", image[] = "/tmp/wengert-overlap-XXXXXX.wgm";
    wg_error error = {.code = WG_OK};
    base_file file;
    close(mkstemps(path, 5));
    close(mkstemps(image, 4));
    CHECKED(base_file_read(base_allocator(NULL), data_path("gguf/llama-f32.gguf"), SIZE_MAX, &file, &error), error);
    char *at = behind_name(&file, "blk.0.attn_k.weight", NULL); /* rank, extents, type, then the offset */
    at += 4 + 8 * at[0] + 4;
    memset(at, 0, 8);
    CHECKED(base_file_write(base_allocator(NULL), path, file.bytes, file.length, &error), error);
    assert_null(wg_model_spec_open(NULL, path, &error));
    if (!strstr(error.message, "blk.0.attn_k.weight") || !strstr(error.message, "overlap")) fail_msg("%s", error.message);
    *at = 4;
    wg_error_clear(&error);
    CHECKED(base_file_write(base_allocator(NULL), path, file.bytes, file.length, &error), error);
    base_file_close(&file);
    assert_null(wg_model_spec_open(NULL, path, &error));
    if (!strstr(error.message, "the offset 4 of blk.0.attn_k.weight is no multiple of the alignment")) fail_msg("%s", error.message);

    wg_error_clear(&error);
    wg_model_spec *spec = spec_of("llama/tied");
    CHECKED(wg_model_compile(spec, image, &error), error);
    wg_model_spec_free(&spec);
    CHECKED(base_file_read(base_allocator(NULL), image, SIZE_MAX, &file, &error), error);
    at = behind_name(&file, "model.norm.weight", "\"offset\": ") + strlen("\"offset\": ");
    *at = '0';
    for (at++; *at != ','; at++) *at = ' ';
    CHECKED(base_file_write(base_allocator(NULL), image, file.bytes, file.length, &error), error);
    base_file_close(&file);
    assert_null(wg_model_spec_open(NULL, image, &error));
    if (!strstr(error.message, "model.norm.weight") || !strstr(error.message, "overlap")) fail_msg("%s", error.message);
    unlink(path);
    unlink(image);
}

static void put_piece(unsigned char **at, const char *text, size_t length, uint32_t score)
{
    size_t bytes = length + (length < 128 ? 2 : 3) + 5;
    *(*at)++ = 0x0a;
    for (; bytes >= 128; bytes >>= 7) *(*at)++ = (unsigned char)(bytes | 128);
    *(*at)++ = (unsigned char)bytes;
    *(*at)++ = 0x0a;
    size_t left = length;
    for (; left >= 128; left >>= 7) *(*at)++ = (unsigned char)(left | 128);
    *(*at)++ = (unsigned char)left;
    memcpy(*at, text, length);
    *at += length;
    *(*at)++ = 0x15;
    for (int i = 0; i < 4; i++) *(*at)++ = (unsigned char)(score >> 8 * i);
}

/* Pieces of SentencePiece: a score that is no number leaves a segmentation without a way, a very long one makes every text take forever. */
static void pieces_of_anything(void **state)
{
    (void)state;
    static const struct { uint32_t score; size_t length; const char *what; } cases[] = {
        {0x7fc00000, 1, "the score of token 1 is no number"}, {0xff800000, 1, "the score of token 1 is no number"}, {0, 1500, "piece 1 is 1500 bytes long"}};
    static char text[1500];
    memset(text, 'a', sizeof text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[] = "/tmp/wengert-pieces-XXXXXX.model";
        unsigned char bytes[2000], *at = bytes;
        wg_error error = {.code = WG_OK};
        close(mkstemps(path, 6));
        put_piece(&at, "b", 1, 0);
        put_piece(&at, text, cases[i].length, cases[i].score);
        CHECKED(base_file_write(base_allocator(NULL), path, bytes, (size_t)(at - bytes), &error), error);
        wg_tokenizer *t = wg_tokenizer_open(NULL, path, &error);
        unlink(path);
        if (t || !strstr(error.message, cases[i].what)) fail_msg("%s, not %s", error.message, cases[i].what);
    }
}

/* Parts of tokenizer.json that are not what they must be. */
static void vocabularies_of_anything(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"\"normalizer\": {\"type\": \"Sequence\"}", "list of its parts"}, {"\"normalizer\": {\"type\": \"Sequence\", \"normalizers\": {\"a\": 1}}", "list of its parts"},
        {"\"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": 3}", "list of its parts"}, {"\"normalizer\": {\"type\": \"Upside\"}", "Upside"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char path[] = "/tmp/wengert-vocabulary-XXXXXX.json", text[400];
        wg_error error = {.code = WG_OK};
        close(mkstemps(path, 5));
        int length = snprintf(text, sizeof text, "{%s, \"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0}, \"merges\": []}}", pairs[i][0]);
        CHECKED(base_file_write(base_allocator(NULL), path, text, (size_t)length, &error), error);
        wg_tokenizer *t = wg_tokenizer_open(NULL, path, &error);
        unlink(path);
        if (t || !strstr(error.message, pairs[i][1])) fail_msg("%s: %s", pairs[i][0], error.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_file_is_refused), cmocka_unit_test(every_configuration_is_refused), cmocka_unit_test(indices_of_anything),
                                       cmocka_unit_test(refused_adapters_leave_nothing), cmocka_unit_test(pieces_of_anything),
                                       cmocka_unit_test(tensors_out_of_place), cmocka_unit_test(vocabularies_of_anything)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
