/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What the examples share: small pictures of arrays, written as PPM files, and the end of a program that failed. Curves and points are
 * drawn in the coordinates that picture_new is given. An array that cannot be read draws nothing; its error waits in the context. */
#ifndef EXAMPLES_PICTURE_H
#define EXAMPLES_PICTURE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wengert/array.h"

enum { BLUE = 0x3b6fb6, ORANGE = 0xe08a3c, GREEN = 0x4f9d69, RED = 0xc44e52, PURPLE = 0x8a6bbf };
enum { BLACK = 0x222222, GREY = 0xb4b9c2, PALE = 0xdbe6f3 };

typedef struct picture {
    int width, height;
    double left, right, bottom, top; /* the coordinates of its edges */
    unsigned char *pixels;           /* [height, width, 3] */
} picture;

static inline picture picture_new(int width, int height, double left, double right, double bottom, double top)
{
    picture p = {width, height, left, right, bottom, top, malloc((size_t)width * (size_t)height * 3)};
    if (!p.pixels) exit(1);
    memset(p.pixels, 255, (size_t)width * (size_t)height * 3);
    return p;
}

/* Mixes a colour into a pixel; `share` 1 covers it. */
static inline void picture_mix(picture *p, int x, int y, int colour, double share)
{
    if (x < 0 || y < 0 || x >= p->width || y >= p->height || share <= 0) return;
    unsigned char *pixel = p->pixels + 3 * ((size_t)y * (size_t)p->width + (size_t)x);
    if (share > 1) share = 1;
    for (int i = 0; i < 3; i++) pixel[i] = (unsigned char)(pixel[i] + (((colour >> (16 - 8 * i)) & 255) - pixel[i]) * share + 0.5);
}

/* The pixel of a place, held inside of the picture; of no number the first. */
static inline int picture_pixel(double place, int extent) { return (int)fmin(fmax(place, 0), extent - 1); }

/* A line with round ends: each pixel is covered by how far it is from the line. */
static inline void picture_line(picture *p, double x0, double y0, double x1, double y1, double thickness, int colour)
{
    double across = p->width / (p->right - p->left), down = p->height / (p->bottom - p->top), radius = thickness / 2;
    x0 = (x0 - p->left) * across, x1 = (x1 - p->left) * across, y0 = (y0 - p->top) * down, y1 = (y1 - p->top) * down;
    double dx = x1 - x0, dy = y1 - y0, length = dx * dx + dy * dy;
    int right = picture_pixel(fmax(x0, x1) + radius, p->width), last = picture_pixel(fmax(y0, y1) + radius, p->height);
    for (int y = picture_pixel(fmin(y0, y1) - radius - 1, p->height); y <= last; y++)
        for (int x = picture_pixel(fmin(x0, x1) - radius - 1, p->width); x <= right; x++) {
            double share = length > 0 ? fmin(fmax(((x + 0.5 - x0) * dx + (y + 0.5 - y0) * dy) / length, 0), 1) : 0;
            double away_x = x + 0.5 - x0 - share * dx, away_y = y + 0.5 - y0 - share * dy;
            picture_mix(p, x, y, colour, radius + 0.5 - sqrt(away_x * away_x + away_y * away_y));
        }
}

static inline void picture_dot(picture *p, double x, double y, double diameter, int colour)
{
    picture_line(p, x, y, x, y, diameter, colour);
}

/* The items of an array as doubles, row-major; to be freed. NULL where it cannot be read. */
static inline double *picture_items(wg_array *array)
{
    wg_array *doubles = wg_array_convert(array, WG_KIND_F64);
    wg_tensor *items = doubles ? wg_array_tensor(doubles) : NULL;
    double *copy = items ? malloc((size_t)wg_tensor_volume(items) * sizeof *copy + 1) : NULL;
    if (copy) memcpy(copy, wg_tensor_data(items), (size_t)wg_tensor_volume(items) * sizeof *copy);
    wg_tensor_release(items);
    return copy;
}

/* points [n, 2], each in the colour of its label: labels [n] of integers, or NULL for the first of colours. */
static inline void picture_dots(picture *p, wg_array *points, wg_array *labels, const int *colours, double diameter)
{
    double *at = picture_items(points), *label = labels ? picture_items(labels) : NULL;
    for (int64_t i = 0; at && i < wg_array_shape(points)[0]; i++)
        picture_dot(p, at[2 * i], at[2 * i + 1], diameter, colours[label ? (int)label[i] : 0]);
    free(at), free(label);
}

/* A line through points [n, 2]. */
static inline void picture_path(picture *p, wg_array *points, double thickness, int colour)
{
    double *at = picture_items(points);
    for (int64_t i = 0; at && i + 1 < wg_array_shape(points)[0]; i++)
        picture_line(p, at[2 * i], at[2 * i + 1], at[2 * i + 2], at[2 * i + 3], thickness, colour);
    free(at);
}

/* items [h, w] as shades of a scale from dark blue over green to yellow, low at its dark end; or [h, w, 3] as red, green and blue. A
 * pixel an item, from a corner on. */
static inline void picture_shades(picture *p, int corner_x, int corner_y, wg_array *items, double low, double high)
{
    static const int scale[] = {0x1b1340, 0x2d3f86, 0x2a7a8c, 0x49ab72, 0xb6cf4f, 0xfdf3a0};
    double *item = picture_items(items);
    int64_t height = item ? wg_array_shape(items)[0] : 0, width = item ? wg_array_shape(items)[1] : 0;
    int64_t planes = item && wg_array_rank(items) == 3 ? 3 : 1;
    for (int64_t i = 0; i < height * width; i++) {
        int colour = 0, x = corner_x + (int)(i % width), y = corner_y + (int)(i / width);
        double share[3];
        for (int64_t k = 0; k < planes; k++) share[k] = fmin(fmax((item[planes * i + k] - low) / (high - low), 0), 1);
        for (int64_t k = 0; k < planes && planes == 3; k++) colour = colour << 8 | (int)(share[k] * 255 + 0.5);
        picture_mix(p, x, y, planes == 3 ? colour : scale[(int)(share[0] * 4.999)], 1);
        if (planes == 1) picture_mix(p, x, y, scale[(int)(share[0] * 4.999) + 1], share[0] * 4.999 - (int)(share[0] * 4.999));
    }
    free(item);
}

static inline bool picture_write(const picture *p, const char *path)
{
    FILE *file = fopen(path, "wb");
    size_t bytes = (size_t)p->width * (size_t)p->height * 3;
    bool good = file && fprintf(file, "P6\n%d %d\n255\n", p->width, p->height) > 0 && fwrite(p->pixels, 1, bytes, file) == bytes;
    if (file && fclose(file)) good = false;
    return good;
}

/* The end of an example: says what failed, or writes the picture where the program was called with --out FILE; frees it. Answers
 * main's result. */
static inline int picture_end(picture *p, int argc, char **argv, const wg_lazy *lazy)
{
    const wg_error *error = wg_lazy_error(lazy);
    bool asked = argc == 3 && !strcmp(argv[1], "--out");
    int result = 1;
    if (error->code != WG_OK) fprintf(stderr, "%s:%d: %s\n", error->file, (int)error->line, error->message);
    else if (argc > 1 && !asked) fprintf(stderr, "usage: %s [--out FILE.ppm]\n", argv[0]);
    else if (asked && !picture_write(p, argv[2])) fprintf(stderr, "%s cannot be written\n", argv[2]);
    else result = 0;
    free(p->pixels);
    return result;
}

#endif
