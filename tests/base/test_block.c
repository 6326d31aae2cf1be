/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Blocks of quantised weights, against files: tests/data/blocks holds three rows of 512 items of each kind, half of them of random bits, with
 * scales that are also zeros, subnormal and negative; the digests are those of the values that two other programs read there. items.bin is
 * rounded to blocks by another program in quantised-*.bin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/block.h"
#include "base/hash.h"
#include "wengert/types.h"

static size_t read_file(const char *name, void *bytes, size_t most)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/data/blocks/%s.bin", TEST_DATA_DIR, name);
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("%s is not there", path);
    size_t length = fread(bytes, 1, most, file);
    fclose(file);
    return length;
}

#define ITEMS 1536

static void values_are_those_of_files(void **state)
{
    (void)state;
    static const struct {
        wg_kind kind;
        const char *digest;
    } known[] = {{WG_KIND_Q8_0, "50702b3898289e2c88e82beb8463c55d22dcda552cd24c4e1e0fd02c53ba5d20"},
                 {WG_KIND_Q4_0, "814f8866160b5981406caa91afc35cf19313151de013d7430793852e9deaa7e4"},
                 {WG_KIND_Q4_1, "d25f1e13603e2589af66e2ec5a7f0e20c7b622d91e753ce2a8fab46ea268f41f"},
                 {WG_KIND_Q5_0, "e88d0b2fc500aff8ecc34c41b883af3a2a9d08573f36fe05d4ea3d97ddc28863"},
                 {WG_KIND_Q5_1, "0f575db8d4aa5ef6fad94b5f25675bd018507b7343ef860fac5460683bb4917c"},
                 {WG_KIND_Q2_K, "4ea4790aad9d8aa32c756517acc1d720b7f283a0820e35dcea3aeeb7b2545bae"},
                 {WG_KIND_Q3_K, "c653a986e142dec9d1a9716921a12ec17d89f5574b1eff76f93e820ad511ffff"},
                 {WG_KIND_Q4_K, "6a911643048bd9aca61ed2d76e489d523a0be84606d26f9f6fe262eb6ecde9f5"},
                 {WG_KIND_Q5_K, "b56ddb02648a5551aa85b05e010656337df6cdbe192a23f59092dfb7bf301b5a"},
                 {WG_KIND_Q6_K, "ca5594a0359da2e4f19031539e2fd05e2caa80c5e3026829ce249e5d14d42a7f"},
                 {WG_KIND_IQ4_NL, "26bf635b5cdfc07efb51abc31af40fc7342512392411b8186faa230f7b0f0864"},
                 {WG_KIND_MXFP4, "f1414d15e173581387c74a27dd1d7d24f1757320d44c32d77f5c97932c553a65"}};
    assert_int_equal(sizeof known / sizeof *known, WG_KIND_COUNT - WG_KIND_SINGLES);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        wg_kind kind = known[i].kind;
        unsigned char blocks[2048], digest[32];
        static float values[ITEMS];
        char hex[65];
        assert_int_equal(read_file(wg_kind_name(kind), blocks, sizeof blocks), base_kind_bytes(kind, ITEMS));
        base_block_values(kind, blocks, base_kind_units(kind, ITEMS), values);
        base_sha256 hash;
        base_sha256_start(&hash);
        base_sha256_add(&hash, values, sizeof values);
        base_sha256_finish(&hash, digest);
        base_sha256_hex(digest, hex);
        if (strcmp(hex, known[i].digest)) fail_msg("%s: values of another digest, %s", wg_kind_name(kind), hex);
    }
}

static void rounding_is_that_of_files(void **state)
{
    (void)state;
    static float items[768];
    assert_int_equal(read_file("items", items, sizeof items), sizeof items);
    for (wg_kind kind = WG_KIND_Q8_0; kind <= WG_KIND_Q4_0; kind++) {
        unsigned char want[1024], got[1024];
        char name[32];
        snprintf(name, sizeof name, "quantised-%s", wg_kind_name(kind));
        size_t bytes = (size_t)base_kind_bytes(kind, 768);
        assert_int_equal(read_file(name, want, sizeof want), bytes);
        assert_true(base_block_quantise(kind, items, 24, got));
        for (size_t i = 0; i < bytes; i++)
            if (want[i] != got[i]) fail_msg("%s: byte %zu is %u, not %u", name, i, got[i], want[i]);
    }
}

/* What is rounded to a kind and read back is within half a step of what it was: a step is the span over the levels; f16 scales cost more. */
static void rounding_stays_near(void **state)
{
    (void)state;
    static const struct {
        wg_kind kind;
        int levels;
    } known[] = {{WG_KIND_Q8_0, 254}, {WG_KIND_Q4_0, 15}, {WG_KIND_Q4_1, 15}, {WG_KIND_Q5_0, 31}, {WG_KIND_Q5_1, 31}};
    static float items[768], back[768];
    unsigned char blocks[1024];
    assert_int_equal(read_file("items", items, sizeof items), sizeof items);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_true(base_block_quantise(known[i].kind, items, 24, blocks));
        base_block_values(known[i].kind, blocks, 24, back);
        for (int b = 0; b < 24; b++) {
            float most = 0;
            for (int j = 0; j < 32; j++) most = items[32 * b + j] * items[32 * b + j] > most * most ? items[32 * b + j] : most;
            double reach = most < 0 ? -most : most, step = 2 * reach / known[i].levels, bound = step * 1.07 + reach * 0x1p-9 + 1e-7;
            for (int j = 32 * b; j < 32 * b + 32; j++) {
                double off = (double)items[j] - (double)back[j];
                if (off > bound || off < -bound) fail_msg("%s: item %d is %g, read back %g", wg_kind_name(known[i].kind), j, (double)items[j], (double)back[j]);
            }
        }
    }
    assert_false(base_block_quantise(WG_KIND_Q4_K, items, 1, blocks));
}

static void rounding_of_what_is_no_number(void **state)
{
    (void)state;
    float items[32] = {1, -2, 0.5f}, infinite = __builtin_inff();
    int8_t q[32];
    items[7] = __builtin_nanf("");
    float scale = base_block_round(items, q);
    assert_true(scale != scale);
    assert_int_equal(q[0], 0);
    items[7] = infinite;
    assert_true(base_block_round(items, q) == infinite);
    assert_int_equal(q[7], 0);
    memset(items, 0, sizeof items);
    assert_true(base_block_round(items, q) == 0);
    items[3] = 1e-42f; /* the inverse of its scale is infinite */
    assert_true(base_block_round(items, q) == 0);
    assert_int_equal(q[3], 127);
    for (int i = 0; i < 32; i++) items[i] = (float)i - 0.5f; /* ties go away from zero: scaled by 127 / 127 */
    items[31] = 127;
    assert_true(base_block_round(items, q) == 1);
    assert_int_equal(q[0], -1);
    assert_int_equal(q[1], 1);
    assert_int_equal(q[2], 2);
    assert_int_equal(q[31], 127);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_files),
        cmocka_unit_test(rounding_is_that_of_files),
        cmocka_unit_test(rounding_stays_near),
        cmocka_unit_test(rounding_of_what_is_no_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
