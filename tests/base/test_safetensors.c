/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Safetensors: reading what others write, refusing broken files, and writing equal bytes for equal contents. */
#define _XOPEN_SOURCE 700

#include <unistd.h>

#include "base/safetensors.h"
#include "reading.h"

/* Opens, and loads every tensor that can be loaded. */
static bool read_safetensors(const wg_allocator *allocator, const char *name, const void *bytes, size_t length, wg_error *error)
{
    base_safetensors file;
    if (!base_safetensors_open(&file, allocator, name, bytes, length, error)) return false;
    bool ok = true;
    for (uint32_t i = 0; ok && i < file.count; i++) {
        wg_tensor *tensor = base_safetensors_load(&file, &file.tensors[i], error);
        ok = tensor != NULL;
        wg_tensor_release(tensor);
    }
    base_safetensors_close(&file);
    return ok;
}

/* Length, header text, data. */
static size_t make(unsigned char *file, const char *header, const void *data, size_t bytes)
{
    size_t length = strlen(header);
    for (int i = 0; i < 8; i++) file[i] = (unsigned char)((uint64_t)length >> 8 * i);
    memcpy(file + 8, header, length);
    if (bytes) memcpy(file + 8 + length, data, bytes);
    return 8 + length + bytes;
}

static const char sample[] = "{\"__metadata__\":{\"format\":\"pt\",\"text\":\"a\\n\\u00e9\"},"
                             "\"w\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[0,8]},"
                             "\"none\":{\"dtype\":\"I64\",\"shape\":[3,0],\"data_offsets\":[8,8]},"
                             "\"b\":{\"data_offsets\":[8,10],\"shape\":[],\"dtype\":\"BF16\"},"
                             "\"flag\":{\"dtype\":\"BOOL\",\"shape\":[3],\"data_offsets\":[10,13]}} ";
static const unsigned char sample_data[] = {0, 0, 0x80, 0x3F, 0, 0, 0, 0xC0, 0xC0, 0x3F, 1, 0, 1};

static void reads_tensors_and_metadata(void **state)
{
    (void)state;
    unsigned char bytes[1024];
    size_t length = make(bytes, sample, sample_data, sizeof sample_data);
    base_safetensors file;
    wg_error error = {0};
    assert_true(base_safetensors_open(&file, base_allocator(NULL), "good", bytes, length, &error));
    assert_int_equal(file.count, 4);
    assert_string_equal(file.tensors[0].name, "w");
    assert_string_equal(base_safetensors_metadata(&file, "format"), "pt");
    assert_string_equal(base_safetensors_metadata(&file, "text"), "a\n\xC3\xA9");
    assert_null(base_safetensors_metadata(&file, "w"));
    assert_null(base_safetensors_find(&file, "__metadata__"));
    assert_null(base_safetensors_find(&file, "x"));

    const base_safetensor *w = base_safetensors_find(&file, "w"), *b = base_safetensors_find(&file, "b");
    assert_int_equal(b->kind, WG_KIND_BF16);
    assert_int_equal(b->rank, 0);
    wg_tensor *tensor = base_safetensors_load(&file, w, &error);
    assert_int_equal(wg_tensor_kind(tensor), WG_KIND_F32);
    assert_int_equal(wg_tensor_shape(tensor)[0], 2);
    assert_memory_equal(wg_tensor_data(tensor), ((float[]){1, -2}), 8);
    wg_tensor_release(tensor);
    tensor = base_safetensors_load(&file, b, &error);
    assert_true(base_number_load(WG_KIND_BF16, wg_tensor_data(tensor), 0).d == 1.5);
    wg_tensor_release(tensor);
    tensor = base_safetensors_load(&file, base_safetensors_find(&file, "none"), &error);
    assert_int_equal(wg_tensor_volume(tensor), 0);
    wg_tensor_release(tensor);
    base_safetensors_close(&file);
    accepted(read_safetensors, "\2\0\0\0\0\0\0\0{}", 10);
}

/* Types without a kind here open, and are refused by name when one is loaded. */
static void opens_types_without_a_kind(void **state)
{
    (void)state;
    unsigned char bytes[512];
    static const unsigned char data[8];
    const char *header = "{\"f8\":{\"dtype\":\"F8_E4M3\",\"shape\":[4],\"data_offsets\":[0,4]},"
                         "\"f4\":{\"dtype\":\"F4\",\"shape\":[2,2],\"data_offsets\":[4,6]}}";
    size_t length = make(bytes, header, data, 6);
    base_safetensors file;
    wg_error error = {0};
    assert_true(base_safetensors_open(&file, base_allocator(NULL), "broken.file", bytes, length, &error));
    assert_int_equal(file.tensors[0].kind, WG_KIND_COUNT);
    assert_null(base_safetensors_load(&file, &file.tensors[0], &error));
    assert_int_equal(error.code, WG_UNSUPPORTED);
    assert_message_has(&error, "F8_E4M3");
    base_safetensors_close(&file);
    REFUSED(read_safetensors, bytes, make(bytes, "{\"f4\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,1]}}", data, 1), WG_FORMAT,
            "f4");
}

static void refuse(const char *header, size_t bytes, wg_code code, const char *word)
{
    static const unsigned char zeros[64];
    unsigned char file[1024];
    REFUSED(read_safetensors, file, make(file, header, zeros, bytes), code, word);
}

#define TENSOR(name, shape, begin, end) "\"" name "\":{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":[" #begin "," #end "]}"

static void refuses_wrong_spans(void **state)
{
    (void)state;
    refuse("{" TENSOR("a", "[4]", 0, 16) "," TENSOR("b", "[1]", 20, 24) "}", 24, WG_FORMAT, "a hole");
    refuse("{" TENSOR("a", "[4]", 4, 20) "}", 20, WG_FORMAT, "a hole");
    refuse("{" TENSOR("a", "[4]", 0, 16) "," TENSOR("b", "[4]", 8, 24) "}", 24, WG_FORMAT, "an overlap");
    refuse("{" TENSOR("a", "[4]", 0, 16) "," TENSOR("b", "[4]", 0, 16) "}", 16, WG_FORMAT, "an overlap");
    refuse("{" TENSOR("a", "[4]", 0, 16) "," TENSOR("b", "[0]", 8, 8) "}", 16, WG_FORMAT, "an overlap");
    refuse("{" TENSOR("a", "[4]", 0, 16) "}", 24, WG_FORMAT, "file size");
    refuse("{}", 1, WG_FORMAT, "file size");
    refuse("{" TENSOR("a", "[4]", 0, 16) "}", 15, WG_FORMAT, "outside");
    refuse("{" TENSOR("a", "[4]", 16, 0) "}", 16, WG_FORMAT, "outside");
    refuse("{" TENSOR("a", "[4]", 0, 18446744073709551615) "}", 16, WG_FORMAT, "outside");
    refuse("{" TENSOR("a", "[4]", 0, 18446744073709551616) "}", 16, WG_FORMAT, "data_offsets");
    refuse("{" TENSOR("a", "[4]", -16, 0) "}", 16, WG_FORMAT, "data_offsets");
    refuse("{" TENSOR("a", "[4]", 0, 16.0) "}", 16, WG_FORMAT, "data_offsets");
    refuse("{" TENSOR("a", "[2,2]", 0, 20) "}", 20, WG_FORMAT, "needs 16 bytes, its data_offsets span 20");
    refuse("{" TENSOR("a", "[4294967296,4294967296]", 0, 0) "}", 0, WG_SIZE, "shape");
    refuse("{" TENSOR("a", "[4611686018427387904]", 0, 0) "}", 0, WG_SIZE, "shape");
    refuse("{" TENSOR("a", "[1099511627776]", 0, 16) "}", 16, WG_FORMAT, "needs");
}

static void refuses_wrong_entries(void **state)
{
    (void)state;
    refuse("{" TENSOR("a", "[-4]", 0, 16) "}", 16, WG_FORMAT, "-4");
    refuse("{" TENSOR("a", "[4.0]", 0, 16) "}", 16, WG_FORMAT, "4.0");
    refuse("{" TENSOR("a", "[null]", 0, 16) "}", 16, WG_FORMAT, "no number");
    refuse("{" TENSOR("a", "[9223372036854775808]", 0, 16) "}", 16, WG_FORMAT, "9223372036854775808");
    refuse("{" TENSOR("a", "4", 0, 16) "}", 16, WG_FORMAT, "no shape");
    refuse("{" TENSOR("a", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,4]", 0, 16) "}", 16, WG_UNSUPPORTED, "rank 17");
    refuse("{" TENSOR("a", "[4]", 0, 16) "," TENSOR("a", "[0]", 16, 16) "}", 16, WG_FORMAT, "twice");
    refuse("{" TENSOR("a\\u0000b", "[4]", 0, 16) "}", 16, WG_FORMAT, "zero byte");
    refuse("{\"a\":{\"dtype\":\"F33\",\"shape\":[4],\"data_offsets\":[0,16]}}", 16, WG_UNSUPPORTED, "F33");
    refuse("{\"a\":{\"dtype\":\"f32\",\"shape\":[4],\"data_offsets\":[0,16]}}", 16, WG_UNSUPPORTED, "f32");
    refuse("{\"a\":{\"dtype\":\"F32\\u0000\",\"shape\":[4],\"data_offsets\":[0,16]}}", 16, WG_UNSUPPORTED, "F32");
    refuse("{\"a\":{\"dtype\":4,\"shape\":[4],\"data_offsets\":[0,16]}}", 16, WG_FORMAT, "no dtype");
    refuse("{\"a\":{\"type\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}", 16, WG_FORMAT, "no dtype");
    refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0]}}", 16, WG_FORMAT, "data_offsets");
    refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,8,16]}}", 16, WG_FORMAT, "data_offsets");
    refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[4]}}", 16, WG_FORMAT, "must have");
    refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16],\"x\":1}}", 16, WG_FORMAT, "nothing else");
    refuse("{\"a\":[]}", 0, WG_FORMAT, "must have");
    refuse("{\"__metadata__\":{\"a\":1}}", 0, WG_FORMAT, "no string");
    refuse("{\"__metadata__\":[]}", 0, WG_FORMAT, "no object");
}

static void refuses_broken_headers(void **state)
{
    (void)state;
    REFUSED(read_safetensors, "", 0, WG_FORMAT, "header length");
    REFUSED(read_safetensors, "\x10\0\0\0\0", 5, WG_FORMAT, "header length");
    REFUSED(read_safetensors, "\x10\0\0\0\0\0\0\x80{}", 10, WG_FORMAT, "header length");
    REFUSED(read_safetensors, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF{}", 10, WG_FORMAT, "header length");
    REFUSED(read_safetensors, "\3\0\0\0\0\0\0\0{}", 10, WG_FORMAT, "header length");
    REFUSED(read_safetensors, "\0\0\0\0\0\0\0\0", 8, WG_FORMAT, "no JSON");
    REFUSED(read_safetensors, "\2\0\0\0\0\0\0\0[]", 10, WG_FORMAT, "no JSON object");
    refuse("{\"a\": {\"dtype\":\"F32\", ", 16, WG_FORMAT, "byte offset");
    refuse("{} {}", 0, WG_FORMAT, "byte offset 11");
    refuse("{\"a\xFF\":1}", 0, WG_FORMAT, "UTF-8");
    unsigned char file[256];
    const char *flag = "{\"f\":{\"dtype\":\"BOOL\",\"shape\":[2],\"data_offsets\":[0,2]}}";
    REFUSED(read_safetensors, file, make(file, flag, "\1\2", 2), WG_FORMAT, "BOOL is 0 or 1");
}

static void survives_every_cut_and_turned_bit(void **state)
{
    (void)state;
    unsigned char file[1024];
    size_t length = make(file, sample, sample_data, sizeof sample_data);
    truncate_everywhere(read_safetensors, file, length, true);
    flip_everywhere(read_safetensors, file, length);
    fail_each_allocation(read_safetensors, file, length);
}

/* ---- writing ---- */

static wg_tensor *made[WG_KIND_SINGLES];
static base_safetensors_item items[WG_KIND_SINGLES];
static uint32_t item_count;
static const base_safetensors_note notes[] = {{"z", "last \"quoted\"\n"}, {"a", "\xC3\xA9"}};

static int setup(void **state)
{
    (void)state;
    for (wg_kind kind = 0; kind < WG_KIND_SINGLES; kind++) {
        if (kind == WG_KIND_C128 || kind == WG_KIND_CHAR) continue;
        made[kind] = wg_tensor_fill(NULL, kind, kind % 3, (int64_t[]){3, 1 + kind % 2}, kind, NULL);
        items[item_count++] = (base_safetensors_item){wg_kind_name(kind), made[kind]};
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (wg_kind kind = 0; kind < WG_KIND_SINGLES; kind++) wg_tensor_release(made[kind]);
    return 0;
}

static void check_written(const void *bytes, size_t length)
{
    base_safetensors file;
    wg_error error = {0};
    if (!base_safetensors_open(&file, base_allocator(NULL), "written", bytes, length, &error)) fail_msg("%s", error.message);
    assert_int_equal(file.count, item_count);
    assert_int_equal(((const unsigned char *)bytes)[0] % 8, 0);
    assert_string_equal(base_safetensors_metadata(&file, "z"), notes[0].value);
    assert_string_equal(base_safetensors_metadata(&file, "a"), notes[1].value);
    for (uint32_t i = 0; i < item_count; i++) {
        const base_safetensor *found = base_safetensors_find(&file, items[i].name);
        assert_int_equal(found->kind, items[i].tensor->kind);
        assert_int_equal((found->items - (const unsigned char *)bytes) % (ptrdiff_t)wg_kind_bytes(found->kind), 0);
        wg_tensor *tensor = base_safetensors_load(&file, found, &error);
        assert_int_equal(tensor->rank, items[i].tensor->rank);
        assert_memory_equal(tensor->shape, items[i].tensor->shape, tensor->rank * sizeof *tensor->shape);
        assert_memory_equal(tensor->data, items[i].tensor->data, tensor->bytes);
        wg_tensor_release(tensor);
    }
    base_safetensors_close(&file);
}

static void writes_what_it_reads(void **state)
{
    (void)state;
    base_safetensors_content content = {items, item_count, notes, 2};
    base_string file = base_string_new(base_allocator(NULL)), again = base_string_new(base_allocator(NULL));
    wg_error error = {0};
    assert_true(base_safetensors_put(&file, &content, &error));
    check_written(file.text, file.length);

    /* The order in which things are given does not matter. */
    base_safetensors_item turned[WG_KIND_SINGLES];
    for (uint32_t i = 0; i < item_count; i++) turned[i] = items[item_count - 1 - i];
    base_safetensors_note turned_notes[] = {notes[1], notes[0]};
    content = (base_safetensors_content){turned, item_count, turned_notes, 2};
    assert_true(base_safetensors_put(&again, &content, &error));
    assert_int_equal(file.length, again.length);
    assert_memory_equal(file.text, again.text, file.length);

    char path[] = "/tmp/wengert-test-XXXXXX";
    close(mkstemp(path));
    assert_true(base_safetensors_write(base_allocator(NULL), path, &content, &error));
    base_file read;
    assert_true(base_file_map(path, &read, &error));
    assert_int_equal(read.length, file.length);
    assert_memory_equal(read.bytes, file.text, file.length);
    base_file_close(&read);
    unlink(path);
    base_string_free(&file);
    base_string_free(&again);
}

static void writes_these_bytes(void **state)
{
    (void)state;
    wg_tensor *w = wg_tensor_new(NULL, WG_KIND_F32, 2, (int64_t[]){1, 2}, (float[]){1, -2}, NULL);
    wg_tensor *k = wg_tensor_new(NULL, WG_KIND_U8, 0, NULL, "\7", NULL);
    base_safetensors_item two[] = {{"a", k}, {"w", w}};
    base_safetensors_content content = {two, 2, NULL, 0};
    base_string file = base_string_new(base_allocator(NULL));
    assert_true(base_safetensors_put(&file, &content, NULL));
    const char *header = "{\"w\":{\"dtype\":\"F32\",\"shape\":[1,2],\"data_offsets\":[0,8]},"
                         "\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[8,9]}}     ";
    assert_int_equal(strlen(header) % 8, 0);
    unsigned char expected[256];
    size_t length = make(expected, header, "\0\0\x80\x3F\0\0\0\xC0\7", 9);
    assert_int_equal(file.length, length);
    assert_memory_equal(file.text, expected, length);
    base_string_free(&file);
    wg_tensor_release(w);
    wg_tensor_release(k);
}

static void refuse_content(base_safetensors_content content, wg_code code, const char *word)
{
    base_string file = base_string_new(base_allocator(NULL));
    wg_error error = {0};
    assert_false(base_safetensors_put(&file, &content, &error));
    assert_int_equal(error.code, code);
    assert_message_has(&error, word);
    base_string_free(&file);
}

static void refuses_what_the_format_cannot_hold(void **state)
{
    (void)state;
    const wg_tensor *any = items[0].tensor;
    wg_tensor *wide = wg_tensor_new(NULL, WG_KIND_C128, 0, NULL, NULL, NULL);
    base_safetensors_item pair[] = {{"a", any}, {"a", any}}, reserved = {"__metadata__", any}, bytes = {"\xFF", any}, complex = {"c", wide};
    base_safetensors_note twice[] = {{"k", "1"}, {"k", "2"}}, broken = {"k", "\xC3"};
    refuse_content((base_safetensors_content){pair, 2, NULL, 0}, WG_NAME, "'a'");
    refuse_content((base_safetensors_content){&reserved, 1, NULL, 0}, WG_NAME, "reserved");
    refuse_content((base_safetensors_content){&bytes, 1, NULL, 0}, WG_NAME, "UTF-8");
    refuse_content((base_safetensors_content){&complex, 1, NULL, 0}, WG_UNSUPPORTED, "c128");
    refuse_content((base_safetensors_content){NULL, 0, twice, 2}, WG_NAME, "'k'");
    refuse_content((base_safetensors_content){NULL, 0, &broken, 1}, WG_NAME, "'k'");
    wg_tensor_release(wide);
}

static void writing_may_run_out_of_memory(void **state)
{
    (void)state;
    char path[] = "/tmp/wengert-test-XXXXXX";
    close(mkstemp(path));
    bool ok = false;
    for (long k = 0; !ok; k++) {
        counting counts = {.fail_at = k};
        wg_allocator allocator = counting_allocator(&counts);
        base_safetensors_content content = {items, item_count, notes, 2};
        wg_error error = {0};
        ok = base_safetensors_write(&allocator, path, &content, &error);
        if (!ok) assert_int_equal(error.code, WG_MEMORY);
        else assert_true(k > 2);
        assert_int_equal(counts.live_blocks, 0);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_tensors_and_metadata),
        cmocka_unit_test(opens_types_without_a_kind),
        cmocka_unit_test(refuses_wrong_spans),
        cmocka_unit_test(refuses_wrong_entries),
        cmocka_unit_test(refuses_broken_headers),
        cmocka_unit_test(survives_every_cut_and_turned_bit),
        cmocka_unit_test(writes_what_it_reads),
        cmocka_unit_test(writes_these_bytes),
        cmocka_unit_test(refuses_what_the_format_cannot_hold),
        cmocka_unit_test(writing_may_run_out_of_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
