/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "tools/samples.h"

#include <string.h>

#include "base/tensor.h"
#include "tools/chart.h"

enum { IN_A_ROW = 8, SHOWN_CLASSES = 3, MOST_SIDE = 96, BMP_HEADER = 54 };

/* ---- pictures ---- */

static void put_base64(base_string *out, const unsigned char *bytes, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < length; i += 3) {
        size_t left = length - i;
        uint32_t three = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) | (left > 2 ? bytes[i + 2] : 0);
        const char four[4] = {digits[three >> 18], digits[three >> 12 & 63], left > 1 ? digits[three >> 6 & 63] : '=',
                              left > 2 ? digits[three & 63] : '='};
        base_string_put(out, four, 4);
    }
}

static void put32(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++) at[i] = (unsigned char)(value >> 8 * i);
}

void samples_put_picture(base_string *html, const unsigned char *items, int64_t height, int64_t width, int64_t channels)
{
    static unsigned char bmp[BMP_HEADER + MOST_SIDE * (MOST_SIDE * 3 + 3)];
    int64_t longer = height > width ? height : width, thin = (longer + MOST_SIDE - 1) / MOST_SIDE;
    int64_t rows = (height + thin - 1) / thin, columns = (width + thin - 1) / thin, stride = (columns * 3 + 3) / 4 * 4;
    uint32_t bytes = (uint32_t)(BMP_HEADER + rows * stride);
    memset(bmp, 0, bytes);
    memcpy(bmp, "BM", 2);
    put32(bmp + 2, bytes);
    put32(bmp + 10, BMP_HEADER);
    put32(bmp + 14, 40); /* the header's second part: width, height, one plane, 24 bits */
    put32(bmp + 18, (uint32_t)columns);
    put32(bmp + 22, (uint32_t)rows);
    put32(bmp + 26, 1u | 24u << 16);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++) { /* the last row first; blue, green, red */
            const unsigned char *from = items + (r * thin * width + c * thin) * channels;
            unsigned char *to = bmp + BMP_HEADER + (rows - 1 - r) * stride + 3 * c;
            for (int i = 0; i < 3; i++) to[i] = channels >= 3 ? from[2 - i] : from[0];
        }
    base_string_puts(html, "data:image/bmp;base64,");
    put_base64(html, bmp, bytes);
}

/* ---- cards ---- */

/* The classes of a row by falling probability. */
static uint32_t top_classes(const float *row, uint32_t classes, uint32_t *top)
{
    uint32_t count = 0;
    for (; count < SHOWN_CLASSES && count < classes; count++) {
        uint32_t best = classes;
        for (uint32_t i = 0; i < classes; i++) {
            bool taken = false;
            for (uint32_t j = 0; j < count; j++) taken = taken || top[j] == i;
            if (!taken && (best == classes || row[i] > row[best])) best = i;
        }
        top[count] = best;
    }
    return count;
}

static const char *class_name(const char *const *names, uint32_t class, char text[24])
{
    if (names) return names[class];
    snprintf(text, 24, "class %u", class);
    return text;
}

static void put_bars(base_string *html, const verdicts *v, const char *const *names, int64_t row)
{
    uint32_t top[SHOWN_CLASSES], count = top_classes(v->probabilities + row * v->classes, v->classes, top), strong = count;
    double shares[SHOWN_CLASSES];
    char texts[SHOWN_CLASSES][24];
    const char *shown[SHOWN_CLASSES];
    for (uint32_t i = 0; i < count; i++) {
        shares[i] = v->probabilities[row * v->classes + top[i]];
        shown[i] = class_name(names, top[i], texts[i]);
        if (top[i] == v->predicted[row]) strong = i;
    }
    chart_put_bars(html, shares, shown, count, strong);
}

static void put_card(base_string *html, const verdicts *v, const char *const *names, int64_t row)
{
    const wg_tensor *items = v->pictures->data.items;
    int64_t channels = items->rank == 4 ? items->shape[3] : 1;
    char text[24];
    base_string_puts(html, "<div class=\"card\"><img alt=\"\" src=\"");
    samples_put_picture(html, (const unsigned char *)items->data + (size_t)row * v->pictures->row_bytes, items->shape[1], items->shape[2],
                        channels);
    base_string_puts(html, "\"><div class=\"said\">");
    if (v->truth) {
        uint32_t truth = verdicts_truth(v, row);
        bool right = truth == v->predicted[row];
        base_string_printf(html, "<span class=\"%s\">%s</span> ", right ? "right" : "wrong", right ? "\xE2\x9C\x93" : "\xE2\x9C\x97");
        chart_put_text(html, truth < v->classes ? class_name(names, truth, text) : "unknown class");
    } else base_string_printf(html, "row %lld", (long long)row + 1);
    base_string_puts(html, "</div>");
    put_bars(html, v, names, row);
    base_string_puts(html, "</div>\n");
}

/* The rows with the most probable wrong classes, surest first. */
static uint32_t surest_mistakes(const verdicts *v, int64_t *rows)
{
    uint32_t count = 0;
    for (int64_t row = 0; row < v->rows; row++) {
        if (verdicts_truth(v, row) == v->predicted[row]) continue;
        float sure = v->probabilities[row * v->classes + v->predicted[row]];
        uint32_t at = count;
        while (at > 0 && v->probabilities[rows[at - 1] * v->classes + v->predicted[rows[at - 1]]] < sure) at--;
        if (at == IN_A_ROW) continue;
        if (count < IN_A_ROW) count++;
        for (uint32_t i = count - 1; i > at; i--) rows[i] = rows[i - 1];
        rows[at] = row;
    }
    return count;
}

void samples_put(base_string *html, const verdicts *v, const char *const *names)
{
    if (!v->pictures) return;
    base_string_puts(html, "<section><h2>Sample pictures</h2><p>Held-out pictures, evenly spaced: the true class above, the three "
                           "most probable classes below.</p><div class=\"cards\">\n");
    int64_t shown = v->rows < IN_A_ROW ? v->rows : IN_A_ROW; /* spaced, as the rows of a folder come class by class */
    for (int64_t i = 0; i < shown; i++) put_card(html, v, names, i * v->rows / shown);
    base_string_puts(html, "</div>\n");
    int64_t mistakes[IN_A_ROW];
    uint32_t count = v->truth ? surest_mistakes(v, mistakes) : 0;
    if (count) base_string_puts(html, "<h3>The surest mistakes</h3><div class=\"cards\">\n");
    for (uint32_t i = 0; i < count; i++) put_card(html, v, names, mistakes[i]);
    base_string_puts(html, count ? "</div></section>\n" : "</section>\n");
}
