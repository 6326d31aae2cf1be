/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * JSON literals: kinds, shapes, what is refused, what is printed. */
#include "data_files.h"

#include "tools/literal.h"

static wg_tensor *read_good(const char *text, wg_kind kind)
{
    wg_error error = {.code = WG_OK};
    wg_tensor *tensor = literal_read(text, strlen(text), kind, &error);
    if (!tensor) fail_msg("%s: %s", text, error.message);
    return tensor;
}

static void assert_prints(const char *text, wg_kind kind, const char *expected)
{
    wg_tensor *tensor = read_good(text, kind);
    wg_view view = wg_tensor_view(tensor);
    base_string printed = base_string_new(base_allocator(NULL));
    literal_put(&printed, &view);
    assert_string_equal(printed.text, expected);
    base_string_free(&printed);
    wg_tensor_release(tensor);
}

static void reads_and_prints(void **state)
{
    (void)state;
    assert_prints("7", WG_KIND_I8, "7");
    assert_prints("[[1,2],[3,4.5]]", WG_KIND_F32, "[[1, 2], [3, 4.5]]");
    assert_prints("[\"nan\", \"-inf\", -0]", WG_KIND_F64, "[\"nan\", \"-inf\", -0]");
    assert_prints("[true, false, 1]", WG_KIND_BOOL, "[1, 0, 1]");
    assert_prints("[18446744073709551615]", WG_KIND_U64, "[18446744073709551615]");
    assert_prints("[[], []]", WG_KIND_F32, "[[], []]");
    assert_prints("0.1", WG_KIND_F16, "0.1");
    assert_prints("[2.0, 1e3, 18446744073709551615]", WG_KIND_U64, "[2, 1000, 18446744073709551615]");
}

static void reads_complex_pairs(void **state)
{
    (void)state;
    wg_tensor *tensor = read_good("[[1, 2], [3, -4.5]]", WG_KIND_C64);
    assert_shape(tensor, WG_KIND_C64, 1, (int64_t[]){2});
    assert_memory_equal(tensor->data, ((float[]){1, 2, 3, -4.5f}), 4 * sizeof(float));
    wg_tensor_release(tensor);
    tensor = read_good("[0, 1e300]", WG_KIND_C128);
    assert_shape(tensor, WG_KIND_C128, 0, (int64_t[]){0});
    assert_memory_equal(tensor->data, ((double[]){0, 1e300}), 2 * sizeof(double));
    wg_tensor_release(tensor);
    assert_prints("[[\"nan\", 1], [0, \"inf\"]]", WG_KIND_C64, "[[\"nan\", 1], [0, \"inf\"]]");
    static const char deep[] = "[[[[[[[[[[[[[[[[[1, 2]]]]]]]]]]]]]]]]]"; /* the greatest rank, 16 */
    assert_prints(deep, WG_KIND_C64, deep);
    assert_prints("[]", WG_KIND_C64, "[]");
}

static void refuse(const char *text, wg_kind kind, wg_code code, const char *part)
{
    wg_error error = {.code = WG_OK};
    assert_null(literal_read(text, strlen(text), kind, &error));
    assert_error(&error, code, part);
}

static void refuses(void **state)
{
    (void)state;
    refuse("[1, [2]]", WG_KIND_F32, WG_SHAPE, "depth");
    refuse("[[1], 2]", WG_KIND_F32, WG_SHAPE, "length");
    refuse("[[1, 2], [3]]", WG_KIND_F32, WG_SHAPE, "length");
    refuse("[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]", WG_KIND_F32, WG_SHAPE, "deeper");
    refuse("256", WG_KIND_U8, WG_KIND, "u8");
    refuse("1.5", WG_KIND_I64, WG_KIND, "i64");
    refuse("9223372036854775808", WG_KIND_I64, WG_KIND, "i64");
    refuse("18446744073709551616", WG_KIND_U64, WG_KIND, "u64");
    refuse("-1", WG_KIND_U64, WG_KIND, "u64");
    refuse("\"nan\"", WG_KIND_I64, WG_KIND, "i64");
    refuse("[1", WG_KIND_F32, WG_SYNTAX, "");
    refuse("0", WG_KIND_C64, WG_KIND, "[real, imaginary]");
    refuse("[0, 0, 0]", WG_KIND_C128, WG_KIND, "[real, imaginary]");
}

/* A row of 10^5 numbers claims 10^10 items (80 GB); that is found before room is taken for them. */
static void refuses_huge_claims(void **state)
{
    (void)state;
    size_t wide = 100000, length = 0;
    char *text = malloc(4 * wide + 16);
    assert_non_null(text);
    text[length++] = '[';
    text[length++] = '[';
    for (size_t i = 0; i < wide; i++) text[length++] = i ? ',' : '1', text[length++] = '1';
    text[length++] = ']';
    for (size_t i = 0; i < wide; i++) text[length++] = ',', text[length++] = '0';
    text[length++] = ']';
    wg_error error = {.code = WG_OK};
    assert_null(literal_read(text, length, WG_KIND_F64, &error));
    assert_error(&error, WG_SHAPE, "length");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_prints), cmocka_unit_test(reads_complex_pairs), cmocka_unit_test(refuses),
        cmocka_unit_test(refuses_huge_claims),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
