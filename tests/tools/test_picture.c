/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Pictures that other programs wrote, and broken ones. A build without a reader skips its tests. */
#include "data_files.h"

#include "tools/picture.h"

static wg_tensor *read_good(const char *path)
{
    wg_error error = {.code = WG_OK};
    wg_tensor *pixels = picture_read(path, &error);
    if (!pixels && error.code == WG_UNSUPPORTED) skip();
    if (!pixels) fail_msg("%s", error.message);
    return pixels;
}

/* Item i is step * i. */
static void assert_steps(const char *path, int step, uint32_t rank, const int64_t *shape)
{
    wg_tensor *pixels = read_good(path);
    assert_shape(pixels, WG_KIND_U8, rank, shape);
    for (int64_t i = 0; i < pixels->volume; i++) assert_int_equal(((unsigned char *)pixels->data)[i], step * i);
    wg_tensor_release(pixels);
}

static void reads_png(void **state)
{
    (void)state;
    assert_steps(DATA("grey.png"), 40, 2, (int64_t[]){2, 3});
    assert_steps(DATA("colour.png"), 20, 3, (int64_t[]){2, 2, 3});
    assert_steps(DATA("clear.png"), 15, 3, (int64_t[]){2, 2, 4});
    assert_steps(DATA("grey16.png"), 40, 2, (int64_t[]){2, 3});
    wg_tensor *bits = read_good(DATA("bits.png"));
    assert_shape(bits, WG_KIND_U8, 2, (int64_t[]){1, 3});
    assert_memory_equal(bits->data, "\xFF\0\xFF", 3);
    wg_tensor_release(bits);
    wg_tensor *palette = read_good(DATA("palette.png"));
    assert_shape(palette, WG_KIND_U8, 3, (int64_t[]){1, 2, 3});
    assert_memory_equal(palette->data, ((unsigned char[]){40, 50, 60, 10, 20, 30}), 6);
    wg_tensor_release(palette);
}

static void assert_near_colour(const wg_tensor *pixels, const int *colour)
{
    int64_t channels = pixels->rank == 3 ? pixels->shape[2] : 1;
    for (int64_t i = 0; i < pixels->volume; i++) assert_in_range(((unsigned char *)pixels->data)[i] + 3 - colour[i % channels], 0, 6);
}

static void reads_jpeg(void **state)
{
    (void)state;
    wg_tensor *grey = read_good(DATA("grey.jpg")), *colour = read_good(DATA("colour.jpg"));
    assert_shape(grey, WG_KIND_U8, 2, (int64_t[]){8, 16});
    assert_near_colour(grey, (int[]){77});
    assert_shape(colour, WG_KIND_U8, 3, (int64_t[]){8, 8, 3});
    assert_near_colour(colour, (int[]){200, 100, 50});
    wg_tensor_release(grey);
    wg_tensor_release(colour);
}

static void refuse(const void *bytes, size_t length, const char *what)
{
    unsigned char *copy = malloc(length + 1); /* ends where the file does */
    memcpy(copy, bytes, length);
    wg_error error = {.code = WG_OK};
    wg_tensor *pixels = picture_decode("broken", copy, length, &error);
    if (pixels || error.code == WG_OK || !strstr(error.message, "broken") || strchr(error.message, '\n'))
        fail_msg("%s: %s", what, pixels ? "was read" : error.message);
    wg_tensor_release(pixels);
    free(copy);
}

/* Cut at every length. */
static void refuses_cut_files(void **state)
{
    (void)state;
    static const char *const files[] = {DATA("colour.png"), DATA("clear.png"),  DATA("palette.png"),
                                        DATA("bits.png"),   DATA("colour.jpg"), DATA("grey.jpg")};
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        wg_tensor_release(read_good(files[f]));
        size_t length;
        unsigned char *bytes = load(files[f], &length);
        for (size_t cut = 0; cut < length; cut++) refuse(bytes, cut, files[f]);
        free(bytes);
    }
}

/* Every byte of a PNG is under a checksum but the reserved ones of none: a changed one is found. */
static void refuses_changed_png(void **state)
{
    (void)state;
    wg_tensor_release(read_good(DATA("colour.png")));
    size_t length;
    unsigned char *bytes = load(DATA("colour.png"), &length);
    for (size_t at = 0; at < length - 12; at++) { /* the last chunk is the end mark */
        bytes[at] ^= 0x10;
        refuse(bytes, length, "a changed byte");
        bytes[at] ^= 0x10;
    }
    free(bytes);
}

/* JPEG has no checksums: whatever a changed byte makes of it, the reader must come back, with pixels or an error. */
static void survives_changed_jpeg(void **state)
{
    (void)state;
    wg_tensor_release(read_good(DATA("colour.jpg")));
    size_t length;
    unsigned char *bytes = load(DATA("colour.jpg"), &length);
    for (size_t at = 2; at < length; at++)
        for (int flip = 1; flip < 256; flip *= 4) {
            bytes[at] ^= (unsigned char)flip;
            wg_error error = {.code = WG_OK};
            wg_tensor *pixels = picture_decode("changed", bytes, length, &error);
            assert_true((pixels != NULL) == (error.code == WG_OK));
            wg_tensor_release(pixels);
            bytes[at] ^= (unsigned char)flip;
        }
    free(bytes);
}

/* The frame header of a JPEG changed to say progressive, 65500 by 65500: refused before the decoder takes 24 GB for coefficients. */
static void refuses_huge_jpeg(void **state)
{
    (void)state;
    wg_tensor_release(read_good(DATA("colour.jpg")));
    size_t length, at = 0;
    unsigned char *bytes = load(DATA("colour.jpg"), &length);
    while (at + 9 < length && (bytes[at] != 0xFF || bytes[at + 1] != 0xC0)) at++;
    assert_true(at + 9 < length);
    bytes[at + 1] = 0xC2;
    memcpy(bytes + at + 5, "\xFF\xDC\xFF\xDC", 4);
    wg_error error = {.code = WG_OK};
    assert_null(picture_decode("huge.jpg", bytes, length, &error));
    assert_error(&error, WG_SIZE, "65500 by 65500");
    free(bytes);
}

static void refuses_other_files(void **state)
{
    (void)state;
    wg_error error = {.code = WG_OK};
    refuse("", 0, "nothing");
    refuse("GIF89a\1\0\1\0", 10, "GIF");
    refuse("\0\0\0\0\0\0\0\0\0\0\0\0", 12, "zeros");
    refuse("\x89PNG\r\n\x1A\n", 8, "a signature alone");
    refuse("\xFF\xD8\xFF", 3, "a start mark alone");
    assert_null(picture_read(DATA("no such.png"), &error));
    assert_error(&error, WG_FILE, "no such.png");
}

static void knows_names(void **state)
{
    (void)state;
    assert_true(picture_is_name("a.png") && picture_is_name("b/C.JPG") && picture_is_name("x.JpEg"));
    assert_false(picture_is_name("png") || picture_is_name("a.png.txt") || picture_is_name("") || picture_is_name("a.gif"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_png),
        cmocka_unit_test(reads_jpeg),
        cmocka_unit_test(refuses_cut_files),
        cmocka_unit_test(refuses_changed_png),
        cmocka_unit_test(survives_changed_jpeg),
        cmocka_unit_test(refuses_huge_jpeg),
        cmocka_unit_test(refuses_other_files),
        cmocka_unit_test(knows_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
