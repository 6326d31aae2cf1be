/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The JSON reader: what RFC 8259 allows is read, everything else is refused with its place. */
#include "base/json.h"
#include "reading.h"

static bool read_json(const wg_allocator *allocator, const char *name, const void *bytes, size_t length, wg_error *error)
{
    base_arena arena = base_arena_new(allocator);
    const base_json *json = base_json_read(&arena, name, bytes, length, error);
    base_arena_free(&arena);
    return json != NULL;
}

static base_arena arena;

static int setup(void **state)
{
    (void)state;
    arena = base_arena_new(base_allocator(NULL));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    base_arena_free(&arena);
    return 0;
}

static const base_json *good(const char *text)
{
    wg_error error = {0};
    const base_json *json = base_json_read(&arena, "good.json", text, strlen(text), &error);
    if (!json) fail_msg("%s: %s", text, error.message);
    return json;
}

static void reads_values(void **state)
{
    (void)state;
    assert_int_equal(good(" null\r\n\t")->type, BASE_JSON_NULL);
    assert_int_equal(good("true")->type, BASE_JSON_TRUE);
    assert_int_equal(good("false")->type, BASE_JSON_FALSE);
    int64_t whole;
    uint64_t natural;
    double real;
    assert_null(base_json_find(NULL, "a"));
    assert_false(base_json_integer(NULL, &whole) || base_json_unsigned(NULL, &natural) || base_json_float(NULL, WG_KIND_F64, &real));
    assert_int_equal(good("[]")->count, 0);
    assert_int_equal(good("{ }")->count, 0);
    const base_json *list = good("[1, [2, {\"a\": []}], \"x\"]");
    assert_int_equal(list->type, BASE_JSON_ARRAY);
    assert_int_equal(list->count, 3);
    assert_int_equal(list->first->next->offset, 4);
    assert_string_equal(list->first->next->next->text, "x");
    assert_int_equal(list->first->next->next->position, 2);
    assert_null(list->first->next->next->next);
    assert_int_equal(base_json_find(list->first->next->first->next, "a")->type, BASE_JSON_ARRAY);
    assert_null(base_json_find(list, "a"));
}

static void keeps_numbers_whole(void **state)
{
    (void)state;
    int64_t integer;
    uint64_t natural;
    double number;
    assert_true(base_json_integer(good("-9223372036854775808"), &integer) && integer == INT64_MIN);
    assert_false(base_json_integer(good("9223372036854775808"), &integer));
    assert_true(base_json_unsigned(good("18446744073709551615"), &natural) && natural == UINT64_MAX);
    assert_false(base_json_unsigned(good("18446744073709551616"), &natural));
    assert_false(base_json_unsigned(good("-1"), &natural));
    assert_false(base_json_integer(good("1.0"), &integer));
    assert_false(base_json_integer(good("1e2"), &integer));
    assert_false(base_json_integer(good("\"1\""), &integer));
    assert_true(base_json_float(good("-0.5E+1"), WG_KIND_F64, &number) && number == -5.0);
    assert_true(base_json_float(good("1e400"), WG_KIND_F64, &number) && number > 1e308);
    assert_false(base_json_float(good("true"), WG_KIND_F64, &number));
    assert_string_equal(good("123456789012345678901234567890.5")->text, "123456789012345678901234567890.5");
}

static void decodes_strings(void **state)
{
    (void)state;
    assert_string_equal(good("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"")->text, "\"\\/\b\f\n\r\t");
    assert_string_equal(good("\"\\u0041\\u00e9\\u20AC\\ud83d\\uDE00\"")->text, "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
    assert_string_equal(good("\"\xC3\xA9\xF4\x8F\xBF\xBF\"")->text, "\xC3\xA9\xF4\x8F\xBF\xBF");
    const base_json *zero = good("\"a\\u0000b\"");
    assert_int_equal(zero->length, 3);
    assert_memory_equal(zero->text, "a\0b", 4);
    assert_int_equal(good("{\"a\\u0000b\": 1}")->first->key_length, 3);
}

static void finds_keys_of_large_objects(void **state)
{
    (void)state;
    base_string text = base_string_new(base_allocator(NULL));
    base_string_puts(&text, "{");
    for (int i = 0; i < 5000; i++) base_string_printf(&text, "%s\"key%d\": %d", i ? ", " : "", i, 3 * i);
    base_string_puts(&text, "}");
    const base_json *json = good(text.text);
    for (int i = 0; i < 5000; i++) {
        char key[16];
        int64_t value;
        snprintf(key, sizeof key, "key%d", i);
        assert_true(base_json_integer(base_json_find(json, key), &value) && value == 3 * i);
    }
    assert_null(base_json_find(json, "key5000"));
    assert_null(base_json_find(json, ""));
    /* A key twice among many. */
    text.length--;
    base_string_puts(&text, ", \"key77\": 0}");
    REFUSED(read_json, text.text, text.length, WG_SYNTAX, "key77");
    base_string_free(&text);
}

static void refuse(const char *text, const char *word)
{
    REFUSED(read_json, text, strlen(text), WG_SYNTAX, word);
}

static void refuses_what_is_no_json(void **state)
{
    (void)state;
    refuse("", "expected a value");
    refuse(" ", "expected a value");
    refuse("nul", "expected a value");
    refuse("True", "expected a value");
    refuse("NaN", "expected a value");
    refuse("'a'", "expected a value");
    refuse("\xEF\xBB\xBF{}", "expected a value");
    refuse("1 2", "after the value");
    refuse("{} x", "after the value");
    refuse("[1,]", "expected a value");
    refuse("[1 2]", ", or ]");
    refuse("[1", ", or ]");
    refuse("[", "expected a value");
    refuse("{", "key in quotes");
    refuse("{a: 1}", "key in quotes");
    refuse("{\"a\" 1}", "expected :");
    refuse("{\"a\": 1,}", "key in quotes");
    refuse("{\"a\": 1 \"b\": 2}", ", or }");
    refuse("{\"a\": 1, \"b\": 2, \"a\": 3}", "\"a\" is there twice");
    refuse("{\"a\": 1, \"\\u0061\": 3}", "\"a\" is there twice");
    refuse("01", "leading zero");
    refuse("-01", "leading zero");
    refuse("-", "minus");
    refuse("+1", "expected a value");
    refuse(".5", "expected a value");
    refuse("1.", "point");
    refuse("1.e5", "point");
    refuse("1e", "exponent");
    refuse("1e+", "exponent");
    refuse("0x10", "after the value");
    refuse("// no\n1", "expected a value");
}

static void refuses_broken_strings(void **state)
{
    (void)state;
    refuse("\"abc", "does not end");
    refuse("\"abc\\\"", "does not end");
    refuse("\"abc\\", "unknown escape");
    refuse("\"\\x41\"", "unknown escape");
    refuse("\"a\nb\"", "control character");
    refuse("\"a\tb\"", "control character");
    refuse("\"\\u12g4\"", "four hex digits");
    refuse("\"\\u123", "four hex digits");
    refuse("\"\\ud800\"", "high surrogate");
    refuse("\"\\ud800x\"", "high surrogate");
    refuse("\"\\ud800\\u0041\"", "high surrogate");
    refuse("\"\\udc00\"", "low surrogate");
    refuse("\"\xC0\x80\"", "UTF-8");
    refuse("\"\xED\xA0\x80\"", "UTF-8");
    refuse("\"\xF5\x80\x80\x80\"", "UTF-8");
    refuse("\"\xE2\x82\"", "UTF-8");
    refuse("\"\xFF\"", "UTF-8");
    REFUSED(read_json, "\"a\0b\"", 5, WG_SYNTAX, "control character");
}

static void limits_nesting(void **state)
{
    (void)state;
    char text[2 * BASE_JSON_DEPTH + 8] = {0};
    memset(text, '[', BASE_JSON_DEPTH);
    memset(text + BASE_JSON_DEPTH, ']', BASE_JSON_DEPTH);
    good(text);
    memset(text, '[', BASE_JSON_DEPTH + 1);
    memset(text + BASE_JSON_DEPTH + 1, ']', BASE_JSON_DEPTH + 1);
    REFUSED(read_json, text, strlen(text), WG_SIZE, "nested");
}

static void tells_the_place(void **state)
{
    (void)state;
    wg_error error = {0};
    const char *text = "{\n  \"a\": 1,\n  \"b\": tru\n}";
    assert_null(base_json_read(&arena, "x.json", text, strlen(text), &error));
    assert_string_equal(error.file, "x.json");
    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 8);
    size_t offset = 0;
    wg_error_clear(&error);
    assert_null(base_json_scan(&arena, text, strlen(text), &offset, &error));
    assert_int_equal(offset, strstr(text, "tru") - text);
}

static const char sample[] = "{\"a\": [1, -2.5e+3, true, null], \"\\u00e9\\n\": {\"b\": \"x\xE2\x82\xAC\\ud83d\\ude00\"},"
                             "\"c\":0,\"d\":1,\"e\":2,\"f\":3,\"g\":4,\"h\":5,\"i\":6,\"j\":{}}";

static void survives_every_cut_and_turned_bit(void **state)
{
    (void)state;
    truncate_everywhere(read_json, sample, strlen(sample), true);
    flip_everywhere(read_json, sample, strlen(sample));
    base_string text = base_string_new(base_allocator(NULL)); /* larger than the arena's first blocks */
    for (int i = 0; i < 40; i++) base_string_puts(&text, i ? ", " : "["), base_string_puts(&text, sample);
    base_string_puts(&text, "]");
    fail_each_allocation(read_json, text.text, text.length);
    base_string_free(&text);
}

static void writes_strings_that_read_back(void **state)
{
    (void)state;
    char every[256 + 8];
    size_t length = 0;
    for (int c = 0; c < 128; c++) every[length++] = (char)c;
    memcpy(every + length, "\xC3\xA9\xF0\x9F\x98\x80", 6);
    length += 6;
    base_string text = base_string_new(base_allocator(NULL));
    base_json_put_string(&text, every, length);
    const base_json *json = good(text.text);
    assert_int_equal(json->length, length);
    assert_memory_equal(json->text, every, length);
    base_string_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_values),
        cmocka_unit_test(keeps_numbers_whole),
        cmocka_unit_test(decodes_strings),
        cmocka_unit_test(finds_keys_of_large_objects),
        cmocka_unit_test(refuses_what_is_no_json),
        cmocka_unit_test(refuses_broken_strings),
        cmocka_unit_test(limits_nesting),
        cmocka_unit_test(tells_the_place),
        cmocka_unit_test(survives_every_cut_and_turned_bit),
        cmocka_unit_test(writes_strings_that_read_back),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
