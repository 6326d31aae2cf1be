/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * IDX files: every type, and what is refused. */
#include "base/idx.h"
#include "reading.h"

static bool read_idx(const wg_allocator *allocator, const char *name, const void *bytes, size_t length, wg_error *error)
{
    wg_tensor *tensor = base_idx_read(allocator, name, bytes, length, error);
    wg_tensor_release(tensor);
    return tensor != NULL;
}

static void read_as(const void *bytes, size_t length, wg_kind kind, uint32_t rank, const int64_t *shape, const void *items)
{
    wg_error error = {0};
    wg_tensor *tensor = base_idx_read(base_allocator(NULL), "good.idx", bytes, length, &error);
    if (!tensor) fail_msg("%s", error.message);
    assert_int_equal(wg_tensor_kind(tensor), kind);
    assert_int_equal(wg_tensor_rank(tensor), rank);
    assert_memory_equal(wg_tensor_shape(tensor), shape, rank * sizeof *shape);
    if (tensor->bytes) assert_memory_equal(wg_tensor_data(tensor), items, tensor->bytes);
    wg_tensor_release(tensor);
}

static void reads_every_type(void **state)
{
    (void)state;
    read_as("\0\0\x08\1\0\0\0\3\1\2\xFF", 11, WG_KIND_U8, 1, (int64_t[]){3}, (uint8_t[]){1, 2, 255});
    read_as("\0\0\x08\3\0\0\0\2\0\0\0\1\0\0\0\2\1\2\3\4", 20, WG_KIND_U8, 3, (int64_t[]){2, 1, 2}, (uint8_t[]){1, 2, 3, 4});
    read_as("\0\0\x09\1\0\0\0\2\xFF\x7F", 10, WG_KIND_I8, 1, (int64_t[]){2}, (int8_t[]){-1, 127});
    read_as("\0\0\x0B\1\0\0\0\2\xFF\xFE\1\2", 12, WG_KIND_I16, 1, (int64_t[]){2}, (int16_t[]){-2, 258});
    read_as("\0\0\x0C\1\0\0\0\1\1\2\3\4", 12, WG_KIND_I32, 1, (int64_t[]){1}, (int32_t[]){0x01020304});
    read_as("\0\0\x0D\1\0\0\0\1\x3F\xC0\0\0", 12, WG_KIND_F32, 1, (int64_t[]){1}, (float[]){1.5f});
    read_as("\0\0\x0E\1\0\0\0\1\xC0\x04\0\0\0\0\0\0", 16, WG_KIND_F64, 1, (int64_t[]){1}, (double[]){-2.5});
    read_as("\0\0\x0E\2\0\0\0\0\0\0\0\5", 12, WG_KIND_F64, 2, (int64_t[]){0, 5}, NULL);
}

static void refuses_broken_files(void **state)
{
    (void)state;
    REFUSED(read_idx, "", 0, WG_FORMAT, "magic");
    REFUSED(read_idx, "\0\0\x08", 3, WG_FORMAT, "magic");
    REFUSED(read_idx, "\1\0\x08\1\0\0\0\1\1", 9, WG_FORMAT, "magic");
    REFUSED(read_idx, "\0\1\x08\1\0\0\0\1\1", 9, WG_FORMAT, "magic");
    REFUSED(read_idx, "\x1F\x8B\x08\0\0\0\0\0", 8, WG_FORMAT, "gzip");
    REFUSED(read_idx, "\0\0\x0A\1\0\0\0\1\1", 9, WG_UNSUPPORTED, "0x0a");
    REFUSED(read_idx, "\0\0\0\1\0\0\0\1\1", 9, WG_UNSUPPORTED, "0x00");
    REFUSED(read_idx, "\0\0\x08\0", 4, WG_UNSUPPORTED, "rank 0");
    REFUSED(read_idx, "\0\0\x08\x11\0\0\0\1", 8, WG_UNSUPPORTED, "rank 17");
    REFUSED(read_idx, "\0\0\x08\xFF\0\0\0\1", 8, WG_UNSUPPORTED, "rank 255");
    REFUSED(read_idx, "\0\0\x08\1", 4, WG_FORMAT, "truncated");
    REFUSED(read_idx, "\0\0\x08\2\0\0\0\1", 8, WG_FORMAT, "truncated");
    REFUSED(read_idx, "\0\0\x08\1\0\0\0\2\1", 9, WG_FORMAT, "truncated");
    REFUSED(read_idx, "\0\0\x08\1\0\0\0\2\1\2\3", 11, WG_FORMAT, "too long");
    REFUSED(read_idx, "\0\0\x0B\1\0\0\0\2\1\2\3", 11, WG_FORMAT, "truncated");
    REFUSED(read_idx, "\0\0\x08\1\xFF\xFF\xFF\xFF\1", 9, WG_FORMAT, "negative");
    REFUSED(read_idx, "\0\0\x08\1\x7F\xFF\xFF\xFF\1", 9, WG_FORMAT, "truncated");
    REFUSED(read_idx, "\0\0\x08\1\0\0\0\0\1", 9, WG_FORMAT, "too long");
    REFUSED(read_idx, "\0\0\x08\3\x7F\xFF\xFF\xFF\x7F\xFF\xFF\xFF\x7F\xFF\xFF\xFF", 16, WG_SIZE, "does not fit");
    /* 2^62 items of 8 bytes: the product fits, the bytes do not. */
    REFUSED(read_idx, "\0\0\x0E\2\x40\0\0\0\x40\0\0\0\x40\0\0\0", 16, WG_SIZE, "does not fit");
    REFUSED(read_idx, "\0\0\x08\2\x40\0\0\0\x40\0\0\0", 12, WG_FORMAT, "truncated");
}

static void survives_every_cut_and_turned_bit(void **state)
{
    (void)state;
    static const char file[] = "\0\0\x0B\2\0\0\0\2\0\0\0\3\1\2\3\4\5\6\7\x08\x09\x0A\x0B\x0C";
    truncate_everywhere(read_idx, file, sizeof file - 1, true);
    flip_everywhere(read_idx, file, sizeof file - 1);
    fail_each_allocation(read_idx, file, sizeof file - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_type),
        cmocka_unit_test(refuses_broken_files),
        cmocka_unit_test(survives_every_cut_and_turned_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
