/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Every form of vocabulary against the ids of the libraries that made the files; texts come back; any bytes survive; a stream answers whole
 * characters. */
#define _GNU_SOURCE /* mkstemps */
#include "model/world.h"

#include <unistd.h>

#include "wengert/tokenizer.h"

typedef struct vocabulary {
    const char *file, *vectors;
} vocabulary;

static const vocabulary vocabularies[] = {
    {"gpt2-pairs.json", "gpt2-pairs"}, {"gpt2-strings.json", "gpt2-strings"}, {"gpt2-vocab.json", "gpt2-pairs"}, {"llama3.json", "llama3"},
    {"qwen2.json", "qwen2"}, {"llama2-spm.json", "llama2-spm"}, {"mistral-metaspace.json", "mistral-metaspace"}, {"gemma-spm.json", "gemma-spm"},
    {"sp-bpe.model", "sp-bpe"}, {"sp-bpe-noprefix.model", "sp-bpe-noprefix"}, {"sp-bpe-plain.model", "sp-bpe-plain"},
    {"sp-unigram.model", "sp-unigram"}, {"llama2c-tokenizer.bin", "llama2c"}, {"vocab-llama3.gguf", "llama3"}, {"vocab-qwen2.gguf", "qwen2"},
    {"vocab-sp-bpe.gguf", "sp-bpe"}};
#define VOCABULARIES (sizeof vocabularies / sizeof *vocabularies)

static wg_tokenizer *opened(const char *file)
{
    wg_error error = {.code = WG_OK};
    wg_tokenizer *t = wg_tokenizer_open(NULL, data_path("tokenizers/%s", file), &error);
    CHECKED(t, error);
    return t;
}

static void print_ids(char *text, size_t room, const int32_t *ids, size_t count)
{
    size_t at = 0;
    text[0] = 0;
    for (size_t i = 0; i < count && at + 12 < room; i++) at += (size_t)snprintf(text + at, room - at, " %d", ids[i]);
}

static void expect_ids(wg_tokenizer *t, const char *file, const base_json *text, const base_json *list, int flags)
{
    wg_error error = {.code = WG_OK};
    int32_t *ids, wanted[4096];
    size_t count;
    uint32_t wanted_count = whole_numbers(list, wanted, 4096);
    CHECKED(wg_tokenizer_encode(t, text->text, text->length, flags, &ids, &count, &error), error);
    if (count != wanted_count || (count && memcmp(ids, wanted, count * sizeof *ids))) {
        char mine[512], theirs[512];
        print_ids(mine, sizeof mine, ids, count);
        print_ids(theirs, sizeof theirs, wanted, wanted_count);
        fail_msg("%s: \"%s\" gives%s, not%s", file, text->text, mine, theirs);
    }
    wg_deallocate(NULL, ids, count * sizeof *ids);
}

static void expect_text(wg_tokenizer *t, const char *file, const base_json *vector)
{
    const base_json *text = base_json_find(vector, "text"), *decoded = base_json_find(vector, "decoded");
    int32_t ids[4096];
    uint32_t count = whole_numbers(base_json_find(vector, "ids"), ids, 4096);
    wg_error error = {.code = WG_OK};
    size_t length;
    char *back = wg_tokenizer_decode(t, ids, count, false, &length, &error);
    CHECKED(back, error);
    if (!decoded) decoded = text;
    if (length != decoded->length || memcmp(back, decoded->text, length)) fail_msg("%s: \"%s\" comes back as \"%s\", not \"%s\"", file, text->text, back, decoded->text);
    wg_text_free(back);
}

static void every_vector(void **state)
{
    (void)state;
    for (size_t v = 0; v < VOCABULARIES; v++) {
        wg_tokenizer *t = opened(vocabularies[v].file);
        expected e = expected_of(data_path("tokenizers/%s.vectors.json", vocabularies[v].vectors));
        uint32_t count = 0;
        for (const base_json *vector = base_json_find(e.json, "vectors")->first; vector; vector = vector->next, count++) {
            const base_json *text = base_json_find(vector, "text"), *automatic = base_json_find(vector, "ids_with_special");
            int32_t ids[4096], most = -1;
            uint32_t ids_count = whole_numbers(base_json_find(vector, "ids"), ids, 4096);
            for (uint32_t i = 0; i < ids_count; i++) most = ids[i] > most ? ids[i] : most;
            if (most >= (int32_t)wg_tokenizer_count(t)) continue; /* the pair of files has no added tokens */
            expect_ids(t, vocabularies[v].file, text, base_json_find(vector, "ids"), 0);
            if (automatic) expect_ids(t, vocabularies[v].file, text, automatic, WG_TOKENIZER_AUTOMATIC);
            expect_text(t, vocabularies[v].file, vector);
        }
        assert_true(count > 4);
        expected_free(&e);
        wg_tokenizer_free(&t);
    }
}

static size_t from_hex(const char *hex, unsigned char *bytes)
{
    size_t count = strlen(hex) / 2;
    for (size_t i = 0; i < count; i++) {
        char two[3] = {hex[2 * i], hex[2 * i + 1], 0};
        bytes[i] = (unsigned char)strtoul(two, NULL, 16);
    }
    return count;
}

static void any_bytes_come_back(void **state)
{
    (void)state;
    static const char *const files[] = {"gpt2-pairs.json", "llama3.json", "llama2-spm.json", "vocab-llama3.gguf", "sp-bpe-noprefix.model"};
    expected e = expected_of(data_path("tokenizers/invalid-utf8.json"));
    for (size_t f = 0; f < sizeof files / sizeof *files + 1; f++) {
        wg_error error = {.code = WG_OK};
        wg_tokenizer *t = f < sizeof files / sizeof *files ? opened(files[f]) : wg_tokenizer_open(NULL, "bytes", &error);
        assert_non_null(t);
        for (const base_json *hex = base_json_find(e.json, "inputs_hex")->first; hex; hex = hex->next) {
            unsigned char bytes[64];
            size_t length = from_hex(hex->text, bytes), count, back_length;
            int32_t *ids;
            CHECKED(wg_tokenizer_encode(t, (const char *)bytes, length, 0, &ids, &count, &error), error);
            char *back = wg_tokenizer_decode(t, ids, count, false, &back_length, &error);
            CHECKED(back, error);
            assert_int_equal(back_length, length);
            assert_memory_equal(back, bytes, length);
            wg_text_free(back);
            wg_deallocate(NULL, ids, count * sizeof *ids);
        }
        wg_tokenizer_free(&t);
    }
    expected_free(&e);
}

/* No text is no token, whatever a vocabulary puts before a text. */
static void nothing_is_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < VOCABULARIES; i++) {
        wg_tokenizer *t = opened(vocabularies[i].file);
        wg_error error = {.code = WG_OK};
        int32_t *ids;
        size_t count;
        CHECKED(wg_tokenizer_encode(t, "", 0, 0, &ids, &count, &error), error);
        if (ids || count) fail_msg("%s: %d ids", vocabularies[i].file, (int)count);
        wg_tokenizer_free(&t);
    }
}

static void ids_to_bytes(void **state)
{
    (void)state;
    wg_tokenizer *t = opened("gpt2-pairs.json");
    expected e = expected_of(data_path("tokenizers/decode-bytes.vectors.json"));
    for (const base_json *vector = base_json_find(e.json, "vectors")->first; vector; vector = vector->next) {
        unsigned char bytes[1024];
        int32_t ids[256];
        wg_error error = {.code = WG_OK};
        uint32_t count = whole_numbers(base_json_find(vector, "ids"), ids, 256);
        size_t length = from_hex(base_json_find(vector, "bytes_hex")->text, bytes), have;
        char *text = wg_tokenizer_decode(t, ids, count, false, &have, &error);
        CHECKED(text, error);
        assert_int_equal(have, length);
        assert_memory_equal(text, bytes, length);
        wg_text_free(text);
        /* Id by id: every answer but the last is whole characters, and together they are the same bytes. */
        wg_tokenizer_stream *stream = wg_tokenizer_stream_new(t, false, &error);
        size_t at = 0, more;
        for (uint32_t i = 0; i < count; i++) {
            const char *part = wg_tokenizer_stream_put(stream, ids[i], &more, &error);
            CHECKED(part, error);
            assert_true(at + more <= length);
            assert_memory_equal(part, bytes + at, more);
            at += more;
        }
        const char *rest = wg_tokenizer_stream_end(stream, &more);
        assert_memory_equal(rest, bytes + at, more);
        assert_int_equal(at + more, length);
        wg_tokenizer_stream_free(&stream);
    }
    expected_free(&e);
    wg_tokenizer_free(&t);
}

static void a_stream_never_cuts_a_character(void **state)
{
    (void)state;
    wg_error error = {.code = WG_OK};
    wg_tokenizer *t = wg_tokenizer_open(NULL, "bytes", &error);
    wg_tokenizer_stream *stream = wg_tokenizer_stream_new(t, false, &error);
    const char *text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x99\x82z";
    size_t length, at = 0;
    for (const char *c = text; *c; c++) {
        const char *part = wg_tokenizer_stream_put(stream, (unsigned char)*c, &length, &error);
        CHECKED(part, error);
        bool end = ((unsigned char)c[1] & 0xc0) != 0x80;
        assert_int_equal(length, end ? (size_t)(c + 1 - text) - at : 0);
        assert_memory_equal(part, text + at, length);
        at += length;
    }
    assert_null(wg_tokenizer_stream_put(stream, 256, &length, &error));
    assert_int_equal(error.code, WG_BOUNDS);
    wg_tokenizer_stream_free(&stream);
    wg_tokenizer_free(&t);
}

/* A piece of a SentencePiece file: text, score 0, type. */
static void put_piece(unsigned char **at, const char *text, unsigned char type)
{
    size_t length = strlen(text);
    const unsigned char head[] = {0x0a, (unsigned char)(length + 9), 0x0a, (unsigned char)length}, tail[] = {0x15, 0, 0, 0, 0, 0x18, type};
    memcpy(*at, head, sizeof head);
    memcpy(*at + sizeof head, text, length);
    memcpy(*at + sizeof head + length, tail, sizeof tail);
    *at += sizeof head + length + sizeof tail;
}

/* What spells a control token in plain text becomes pieces of text, also where the pieces would join to it. */
static void control_tokens_are_not_made_of_text(void **state)
{
    (void)state;
    enum { UNKNOWN = 2, CONTROL = 3 };
    for (unsigned char form = 1; form <= 2; form++) {
        char path[] = "/tmp/wengert-control-XXXXXX.model";
        const unsigned char trainer[] = {0x12, 2, 0x18, form, 0x1a, 4, 0x18, 0, 0x20, 0}; /* the form; no space before, none removed */
        unsigned char bytes[300], *at = bytes;
        wg_error error = {.code = WG_OK};
        int32_t *ids;
        size_t count;
        close(mkstemps(path, 6));
        put_piece(&at, "<unk>", UNKNOWN), put_piece(&at, "<s>", CONTROL), put_piece(&at, "</s>", CONTROL);
        for (const char *const *piece = (const char *const[]){"<", "s", ">", "<s", "s>", NULL}; *piece; piece++) put_piece(&at, *piece, 1);
        memcpy(at, trainer, sizeof trainer);
        CHECKED(base_file_write(base_allocator(NULL), path, bytes, (size_t)(at - bytes) + sizeof trainer, &error), error);
        wg_tokenizer *t = wg_tokenizer_open(NULL, path, &error);
        unlink(path);
        CHECKED(t, error);
        CHECKED(wg_tokenizer_encode(t, "<s>", 3, WG_TOKENIZER_PLAIN, &ids, &count, &error), error);
        assert_int_equal(count, 2);
        for (size_t i = 0; i < count; i++) assert_true(ids[i] > 2);
        wg_deallocate(NULL, ids, count * sizeof *ids);
        wg_tokenizer_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_vector), cmocka_unit_test(any_bytes_come_back), cmocka_unit_test(ids_to_bytes),
                                       cmocka_unit_test(a_stream_never_cuts_a_character), cmocka_unit_test(control_tokens_are_not_made_of_text), cmocka_unit_test(nothing_is_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
