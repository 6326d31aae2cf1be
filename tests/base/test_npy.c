/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * .npy files: what numpy writes is read, what we write is numpy's form byte by byte, and broken files are refused. */
#include "base/npy.h"
#include "reading.h"

static bool read_npy(const wg_allocator *allocator, const char *name, const void *bytes, size_t length, wg_error *error)
{
    wg_tensor *tensor = base_npy_read(allocator, name, bytes, length, error);
    wg_tensor_release(tensor);
    return tensor != NULL;
}

/* A file of a version with this header text (padded to 64 as numpy does) and these items. */
static size_t make(unsigned char *file, int version, const char *header, const void *items, size_t bytes)
{
    size_t start = version == 1 ? 10 : 12, used = strlen(header) + 1, count = (start + used + 63) / 64 * 64 - start;
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (unsigned char)version, file[7] = 0;
    for (size_t i = 8; i < start; i++) file[i] = (unsigned char)(count >> 8 * (i - 8));
    memset(file + start, ' ', count);
    memcpy(file + start, header, used - 1);
    file[start + count - 1] = '\n';
    if (bytes) memcpy(file + start + count, items, bytes);
    return start + count + bytes;
}

static wg_tensor *read_good(int version, const char *header, const void *items, size_t bytes)
{
    unsigned char file[1024];
    wg_error error = {0};
    wg_tensor *tensor = base_npy_read(base_allocator(NULL), "good.npy", file, make(file, version, header, items, bytes), &error);
    if (!tensor) fail_msg("%s", error.message);
    return tensor;
}

static void assert_tensor(wg_tensor *tensor, wg_kind kind, uint32_t rank, const int64_t *shape, const void *items)
{
    assert_int_equal(wg_tensor_kind(tensor), kind);
    assert_int_equal(wg_tensor_rank(tensor), rank);
    for (uint32_t axis = 0; axis < rank; axis++) assert_int_equal(wg_tensor_shape(tensor)[axis], shape[axis]);
    if (tensor->bytes) assert_memory_equal(tensor->data, items, tensor->bytes);
    wg_tensor_release(tensor);
}

/* Headers as numpy writes them. */
static void reads_what_numpy_writes(void **state)
{
    (void)state;
    const float f[6] = {1, -2, 3.5f, 4, 5, 6};
    assert_tensor(read_good(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", f, sizeof f), WG_KIND_F32, 2,
                  (int64_t[]){2, 3}, f);
    const int64_t i[4] = {4, 6, -6, 1};
    assert_tensor(read_good(2, "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 2), }", i, sizeof i), WG_KIND_I64, 2,
                  (int64_t[]){2, 2}, i);
    const uint8_t u[5] = {205, 66, 87, 214, 148};
    assert_tensor(read_good(3, "{'descr': '|u1', 'fortran_order': False, 'shape': (5,), }", u, sizeof u), WG_KIND_U8, 1, (int64_t[]){5}, u);
    const uint8_t b[4] = {1, 0, 0, 1};
    assert_tensor(read_good(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2, 2), }", b, sizeof b), WG_KIND_BOOL, 2,
                  (int64_t[]){2, 2}, b);
    const double d = 2.5;
    assert_tensor(read_good(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }", &d, sizeof d), WG_KIND_F64, 0, NULL, &d);
    assert_tensor(read_good(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4), }", NULL, 0), WG_KIND_F32, 2, (int64_t[]){0, 4},
                  NULL);
    assert_tensor(read_good(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 0), }", NULL, 0), WG_KIND_F32, 2, (int64_t[]){3, 0},
                  NULL);
    /* Keys in any order, either quotes, spaces, no last comma; extents as Python 2 wrote them. */
    const int32_t n[6] = {0, 1, 2, 3, 4, 5};
    assert_tensor(read_good(1, "{\"shape\": (2,3),\"descr\":\"=i4\" , \"fortran_order\" :False}", n, sizeof n), WG_KIND_I32, 2,
                  (int64_t[]){2, 3}, n);
    assert_tensor(read_good(1, "{'descr': '<i4', 'fortran_order': False, 'shape': (2L, 3L,)}", n, sizeof n), WG_KIND_I32, 2,
                  (int64_t[]){2, 3}, n);
}

static void turns_byte_and_storage_order(void **state)
{
    (void)state;
    const unsigned char big[8] = {0xbe, 0xd8, 0x29, 0x57, 0x3e, 0x5a, 0xc5, 0x3b};
    const uint32_t little[2] = {0xbed82957, 0x3e5ac53b};
    assert_tensor(read_good(1, "{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", big, 8), WG_KIND_F32, 1, (int64_t[]){2},
                  little);
    /* A complex number's halves are turned each on its own. */
    assert_tensor(read_good(1, "{'descr': '>c8', 'fortran_order': False, 'shape': (1,), }", big, 8), WG_KIND_C64, 1, (int64_t[]){1},
                  little);
    const unsigned char big16[4] = {0x12, 0x34, 0x56, 0x78};
    const uint16_t little16[2] = {0x1234, 0x5678};
    assert_tensor(read_good(1, "{'descr': '>u2', 'fortran_order': False, 'shape': (2,), }", big16, 4), WG_KIND_U16, 1, (int64_t[]){2},
                  little16);

    /* Item [i, j, k] of shape (2, 3, 2) stands at i + 2 j + 6 k in Fortran order. */
    int16_t fortran[12], expected[12];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 2; k++) fortran[i + 2 * j + 6 * k] = expected[6 * i + 2 * j + k] = (int16_t)(100 * i + 10 * j + k);
    assert_tensor(read_good(1, "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3, 2), }", fortran, sizeof fortran), WG_KIND_I16, 3,
                  (int64_t[]){2, 3, 2}, expected);
}

static void writes_numpys_form(void **state)
{
    (void)state;
    const float items[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    unsigned char expected[512];
    size_t bytes = make(expected, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", items, sizeof items);
    wg_error error = {0};
    wg_tensor *tensor = wg_tensor_new(NULL, WG_KIND_F32, 2, (int64_t[]){3, 4}, items, &error);
    base_string file = base_string_new(base_allocator(NULL));
    assert_true(base_npy_write(&file, tensor, &error));
    assert_int_equal(file.length, bytes);
    assert_memory_equal(file.text, expected, bytes);
    base_string_free(&file);
    wg_tensor_release(tensor);
}

static void round_trips_every_kind(void **state)
{
    (void)state;
    for (wg_kind kind = 0; kind < WG_KIND_SINGLES; kind++) {
        for (uint32_t rank = 0; rank <= WG_MAX_RANK; rank += rank < 3 ? 1 : 13) {
            int64_t shape[WG_MAX_RANK] = {3, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
            wg_error error = {0};
            wg_tensor *tensor = wg_tensor_new(NULL, kind, rank, shape, NULL, &error);
            unsigned char *items = wg_tensor_data(tensor);
            for (size_t i = 0; i < tensor->bytes; i++) items[i] = (unsigned char)(kind == WG_KIND_BOOL ? i % 2 : 37 * i + 1);
            base_string file = base_string_new(base_allocator(NULL));
            bool known = kind != WG_KIND_BF16 && kind != WG_KIND_CHAR;
            assert_int_equal(base_npy_write(&file, tensor, &error), known);
            if (known) assert_int_equal((file.length - tensor->bytes) % 64, 0);
            if (known) assert_tensor(base_npy_read(base_allocator(NULL), "x", file.text, file.length, &error), kind, rank, shape, items);
            else assert_int_equal(error.code, WG_UNSUPPORTED);
            base_string_free(&file);
            wg_tensor_release(tensor);
        }
    }
}

static void refuse_header(const char *header, size_t bytes, wg_code code, const char *word)
{
    static const unsigned char zeros[256];
    unsigned char file[1024];
    REFUSED(read_npy, file, make(file, 1, header, zeros, bytes), code, word);
}

static void refuses_broken_headers(void **state)
{
    (void)state;
    refuse_header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", 8, WG_UNSUPPORTED, "|O");
    refuse_header("{'descr': '<U4', 'fortran_order': False, 'shape': (1,), }", 16, WG_UNSUPPORTED, "<U4");
    refuse_header("{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (1,), }", 8, WG_UNSUPPORTED, "<M8[ns]");
    refuse_header("{'descr': '<f3', 'fortran_order': False, 'shape': (1,), }", 3, WG_UNSUPPORTED, "<f3");
    refuse_header("{'descr': '<f16', 'fortran_order': False, 'shape': (1,), }", 16, WG_UNSUPPORTED, "<f16");
    refuse_header("{'descr': '|f4', 'fortran_order': False, 'shape': (1,), }", 4, WG_UNSUPPORTED, "|f4");
    refuse_header("{'descr': 'f4', 'fortran_order': False, 'shape': (1,), }", 4, WG_UNSUPPORTED, "f4");
    refuse_header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4, WG_UNSUPPORTED, "structures");
    refuse_header("{'descr': '<f4', 'fortran_order': False, 'shape': (__import__('os').getpid(),), }", 4, WG_FORMAT, "shape");
    refuse_header("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", 4, WG_FORMAT, "shape");
    refuse_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1.5,), }", 4, WG_FORMAT, "shape");
    refuse_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1), }", 4, WG_FORMAT, "(n,)");
    refuse_header("{'descr': '<f4', 'fortran_order': False, 'shape': [1], }", 4, WG_FORMAT, "tuple");
    refuse_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1 1), }", 4, WG_FORMAT, ", or )");
    refuse_header("{'descr': '<f4', 'fortran_order': 0, 'shape': (1,), }", 4, WG_FORMAT, "fortran_order");
    refuse_header("{'descr': '<f4', 'fortran_order': False}", 4, WG_FORMAT, "no shape");
    refuse_header("{'descr': '<f4', 'shape': (1,)}", 4, WG_FORMAT, "no fortran_order");
    refuse_header("{'fortran_order': False, 'shape': (1,)}", 4, WG_FORMAT, "no descr");
    refuse_header("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 4, WG_FORMAT, "twice");
    refuse_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}", 4, WG_FORMAT, "unknown key");
    refuse_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} + {}", 4, WG_FORMAT, "after the dictionary");
    refuse_header("{'descr: '<f4', 'fortran_order': False, 'shape': (1,)}", 4, WG_FORMAT, "header");
    refuse_header("", 4, WG_FORMAT, "expected {");
    refuse_header("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,), }", 4, WG_SIZE, "63 bits");
    refuse_header("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 4, WG_SIZE, "does not fit");
    refuse_header("{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807,), }", 8, WG_SIZE, "does not fit");
    refuse_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1), }", 4, WG_UNSUPPORTED, "axes");
}

static void refuses_broken_files(void **state)
{
    (void)state;
    const char *header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    unsigned char file[1024];
    static const unsigned char items[64];
    REFUSED(read_npy, "", 0, WG_FORMAT, "magic");
    REFUSED(read_npy, "\x93NUMPZ\1\0v\0", 10, WG_FORMAT, "magic");
    REFUSED(read_npy, file, make(file, 1, header, items, 23), WG_FORMAT, "truncated");
    REFUSED(read_npy, file, make(file, 1, header, items, 25), WG_FORMAT, "too long");
    REFUSED(read_npy, file, make(file, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776,), }", items, 24), WG_FORMAT,
            "truncated");
    REFUSED(read_npy, file, make(file, 4, header, items, 24), WG_UNSUPPORTED, "4.0");
    size_t length = make(file, 1, header, items, 24);
    file[7] = 1;
    REFUSED(read_npy, file, length, WG_UNSUPPORTED, "1.1");
    length = make(file, 2, header, items, 24);
    file[11] = 0x7F;
    REFUSED(read_npy, file, length, WG_FORMAT, "truncated");
    length = make(file, 1, header, items, 24);
    file[8] = 4;
    REFUSED(read_npy, file, length, WG_FORMAT, "header");
    REFUSED(read_npy, file, make(file, 1, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", "\0\1\2", 3), WG_FORMAT, "0 or 1");
}

static void survives_every_cut_and_turned_bit(void **state)
{
    (void)state;
    unsigned char file[1024];
    static const uint16_t items[6] = {1, 2, 3, 4, 5, 6};
    size_t length = make(file, 1, "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }", items, sizeof items);
    truncate_everywhere(read_npy, file, length, true);
    flip_everywhere(read_npy, file, length);
    fail_each_allocation(read_npy, file, length);
    length = make(file, 3, "{'descr': '|b1', 'fortran_order': False, 'shape': (1, 1, 1), }", "\1", 1);
    truncate_everywhere(read_npy, file, length, true);
    flip_everywhere(read_npy, file, length);
}

static void writing_may_run_out_of_memory(void **state)
{
    (void)state;
    wg_error error = {0};
    wg_tensor *tensor = wg_tensor_new(NULL, WG_KIND_F32, 1, (int64_t[]){100}, NULL, &error);
    bool ok = false;
    for (long k = 0; !ok; k++) {
        counting counts = {.fail_at = k};
        wg_allocator allocator = counting_allocator(&counts);
        base_string file = base_string_new(&allocator);
        wg_error_clear(&error);
        ok = base_npy_write(&file, tensor, &error);
        if (!ok) assert_int_equal(error.code, WG_MEMORY);
        else assert_true(k > 0);
        base_string_free(&file);
        assert_int_equal(counts.live_blocks, 0);
    }
    wg_tensor_release(tensor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_numpy_writes),
        cmocka_unit_test(turns_byte_and_storage_order),
        cmocka_unit_test(writes_numpys_form),
        cmocka_unit_test(round_trips_every_kind),
        cmocka_unit_test(refuses_broken_headers),
        cmocka_unit_test(refuses_broken_files),
        cmocka_unit_test(survives_every_cut_and_turned_bit),
        cmocka_unit_test(writing_may_run_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
