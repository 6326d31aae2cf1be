/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Both libraries report errors by a call that must not return, so setjmp stands here and nowhere else. What such a jump must free is kept
 * in a struct of the caller's, whose fields are written before the calls that may jump. */
#include "tools/picture.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/tensor.h"

#ifdef HAVE_PNG
#include <png.h>
#endif
#ifdef HAVE_JPEG
#include <jpeglib.h>
#endif

#define MOST_PIXELS ((int64_t)1 << 28)
#define MOST_FILE ((size_t)1 << 30)

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    if (n < m) return false;
    for (size_t i = 0; i < m; i++) {
        char c = name[n - m + i];
        if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
        if (c != end[i]) return false;
    }
    return true;
}

bool picture_is_name(const char *name)
{
    return ends_with(name, ".png") || ends_with(name, ".jpg") || ends_with(name, ".jpeg");
}

#if defined(HAVE_PNG) || defined(HAVE_JPEG)

typedef struct source {
    const char *name;
    const unsigned char *bytes;
    size_t length, at;
    wg_error *error;
} source;

static bool check_size(const source *from, int64_t height, int64_t width)
{
    if (height < 1 || width < 1) return base_fail(from->error, WG_FORMAT, "%s: a picture without pixels", from->name);
    if (height <= MOST_PIXELS / width) return true;
    return base_fail(from->error, WG_SIZE, "%s: %lld by %lld pixels; at most %lld are read", from->name, (long long)width,
                     (long long)height, (long long)MOST_PIXELS);
}

/* channels 1: [height, width]. The items are not touched: a header that lies costs no memory before its data end. */
static wg_tensor *new_pixels(const source *from, int64_t height, int64_t width, int64_t channels)
{
    return base_tensor_new(base_allocator(NULL), WG_KIND_U8, channels == 1 ? 2 : 3, (int64_t[]){height, width, channels}, from->error);
}

#endif

/* ---- PNG ---- */

#ifdef HAVE_PNG

typedef struct png_decoding {
    source from;
    png_structp png;
    png_infop info;
    wg_tensor *volatile pixels;
    jmp_buf escape;
} png_decoding;

static void png_escape(png_structp png, png_const_charp message)
{
    png_decoding *d = png_get_error_ptr(png);
    base_fail(d->from.error, WG_FORMAT, "%s: the PNG is damaged: %s; write it anew", d->from.name, message);
    longjmp(d->escape, 1);
}

static void png_quiet(png_structp png, png_const_charp message)
{
    (void)png, (void)message;
}

static void png_feed(png_structp png, png_bytep out, size_t length)
{
    png_decoding *d = png_get_io_ptr(png);
    if (length > d->from.length - d->from.at) png_error(png, "its data ends early");
    memcpy(out, d->from.bytes + d->from.at, length);
    d->from.at += length;
}

static void png_rows(png_decoding *d)
{
    png_set_read_fn(d->png, d, png_feed);
    png_set_user_limits(d->png, 1u << 20, 1u << 20);
    png_read_info(d->png, d->info);
    int type = png_get_color_type(d->png, d->info);
    bool grey = !(type & PNG_COLOR_MASK_COLOR), clear = (type & PNG_COLOR_MASK_ALPHA) || png_get_valid(d->png, d->info, PNG_INFO_tRNS);
    png_set_expand(d->png);
    png_set_scale_16(d->png);
    if (grey && clear) png_set_gray_to_rgb(d->png);
    int passes = png_set_interlace_handling(d->png);
    png_read_update_info(d->png, d->info);
    int64_t height = png_get_image_height(d->png, d->info), width = png_get_image_width(d->png, d->info),
            channels = png_get_channels(d->png, d->info);
    if (!check_size(&d->from, height, width)) return;
    d->pixels = new_pixels(&d->from, height, width, channels);
    if (!d->pixels) return;
    unsigned char *items = wg_tensor_data(d->pixels);
    for (int pass = 0; pass < passes; pass++)
        for (int64_t row = 0; row < height; row++) png_read_row(d->png, items + row * width * channels, NULL);
    png_read_end(d->png, NULL);
}

static wg_tensor *decode_png(const char *name, const void *bytes, size_t length, wg_error *error)
{
    png_decoding d = {.from = {name, bytes, length, 0, error}};
    d.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &d, png_escape, png_quiet);
    d.info = d.png ? png_create_info_struct(d.png) : NULL;
    if (!d.info) base_fail_memory(error);
    else if (!setjmp(d.escape)) png_rows(&d);
    else {
        wg_tensor_release(d.pixels);
        d.pixels = NULL;
    }
    png_destroy_read_struct(&d.png, &d.info, NULL);
    return d.pixels;
}

#else

static wg_tensor *decode_png(const char *name, const void *bytes, size_t length, wg_error *error)
{
    (void)bytes, (void)length;
    return base_fail(error, WG_UNSUPPORTED, "%s is a PNG and this build has no libpng; build with libpng-dev installed", name), NULL;
}

#endif

/* ---- JPEG ---- */

#ifdef HAVE_JPEG

typedef struct jpeg_decoding {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr manager;
    source from;
    wg_tensor *volatile pixels;
    jmp_buf escape;
} jpeg_decoding;

static void jpeg_escape(j_common_ptr jpeg)
{
    jpeg_decoding *d = jpeg->client_data;
    char message[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, message);
    base_fail(d->from.error, WG_FORMAT, "%s: the JPEG is damaged: %s; write it anew", d->from.name, message);
    longjmp(d->escape, 1);
}

/* Level -1 is damage that the library would paint over; others are traces. */
static void jpeg_message(j_common_ptr jpeg, int level)
{
    if (level < 0) jpeg_escape(jpeg);
}

static void jpeg_rows(jpeg_decoding *d)
{
    jpeg_mem_src(&d->jpeg, d->from.bytes, d->from.length);
    jpeg_read_header(&d->jpeg, TRUE);
    /* Before the decoder starts: a progressive picture takes room for all of its coefficients there. */
    if (!check_size(&d->from, d->jpeg.image_height, d->jpeg.image_width)) return;
    d->jpeg.out_color_space = d->jpeg.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(&d->jpeg);
    int64_t height = d->jpeg.output_height, width = d->jpeg.output_width, channels = d->jpeg.output_components;
    d->pixels = new_pixels(&d->from, height, width, channels);
    if (!d->pixels) return;
    while (d->jpeg.output_scanline < d->jpeg.output_height) {
        JSAMPROW row = (unsigned char *)wg_tensor_data(d->pixels) + (int64_t)d->jpeg.output_scanline * width * channels;
        jpeg_read_scanlines(&d->jpeg, &row, 1);
    }
    jpeg_finish_decompress(&d->jpeg);
}

static wg_tensor *decode_jpeg(const char *name, const void *bytes, size_t length, wg_error *error)
{
    jpeg_decoding d = {.from = {name, bytes, length, 0, error}};
    d.jpeg.err = jpeg_std_error(&d.manager);
    d.jpeg.client_data = &d;
    d.manager.error_exit = jpeg_escape;
    d.manager.emit_message = jpeg_message;
    if (!setjmp(d.escape)) {
        jpeg_create_decompress(&d.jpeg);
        jpeg_rows(&d);
    } else {
        wg_tensor_release(d.pixels);
        d.pixels = NULL;
    }
    jpeg_destroy_decompress(&d.jpeg);
    return d.pixels;
}

#else

static wg_tensor *decode_jpeg(const char *name, const void *bytes, size_t length, wg_error *error)
{
    (void)bytes, (void)length;
    return base_fail(error, WG_UNSUPPORTED, "%s is a JPEG and this build has no libjpeg; build with libjpeg-dev installed", name), NULL;
}

#endif

wg_tensor *picture_decode(const char *name, const void *bytes, size_t length, wg_error *error)
{
    if (length >= 8 && !memcmp(bytes, "\x89PNG\r\n\x1A\n", 8)) return decode_png(name, bytes, length, error);
    if (length >= 3 && !memcmp(bytes, "\xFF\xD8\xFF", 3)) return decode_jpeg(name, bytes, length, error);
    return base_fail(error, WG_UNSUPPORTED, "%s is neither PNG nor JPEG; convert it to PNG", name), NULL;
}

wg_tensor *picture_read(const char *path, wg_error *error)
{
    base_file file;
    if (!base_file_read(base_allocator(NULL), path, MOST_FILE, &file, error)) return NULL;
    wg_tensor *pixels = picture_decode(path, file.bytes, file.length, error);
    base_file_close(&file);
    return pixels;
}
