/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "tools/chart.h"

#include <stdio.h>
#include <string.h>

/* The drawing in its own units; the page scales it to its width. */
enum { WIDTH = 520, HEIGHT = 280, LEFT = 54, RIGHT = 14, TOP = 34, BOTTOM = 44, MOST_TICKS = 6, MOST_POINTS = 1200 };

/* ---- text ---- */

void chart_put_text(base_string *html, const char *text)
{
    size_t left = strlen(text);
    while (left) {
        size_t length = base_utf8_length(text, left);
        unsigned char c = (unsigned char)*text;
        if (!length || (c < ' ' && c != '\n' && c != '\t') || c == 127) base_string_puts(html, "\xEF\xBF\xBD");
        else if (c == '&') base_string_puts(html, "&amp;");
        else if (c == '<') base_string_puts(html, "&lt;");
        else if (c == '>') base_string_puts(html, "&gt;");
        else if (c == '"') base_string_puts(html, "&quot;");
        else if (c == '\'') base_string_puts(html, "&#39;");
        else base_string_put(html, text, length);
        text += length ? length : 1;
        left -= length ? length : 1;
    }
}

const char *chart_short(double value, char text[32])
{
    static const struct {
        double unit;
        const char *suffix;
    } units[] = {{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}};
    double size = value < 0 ? -value : value;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (size >= units[i].unit) {
            snprintf(text, 32, "%.3g%s", value / units[i].unit, units[i].suffix);
            return text;
        }
    snprintf(text, 32, "%.4g", value);
    return text;
}

/* ---- axes ---- */

typedef struct axis {
    double low, high, step; /* ticks at multiples of step */
    double start, length;   /* in the drawing */
} axis;

static bool is_finite(double x) { return x - x == 0; }

/* The largest whole number that is not above x, for |x| far below 2^63. */
static double floor_of(double x)
{
    double whole = (double)(int64_t)x;
    return whole > x ? whole - 1 : whole;
}

/* The smallest of 1, 2, 5 times a power of ten that cuts [low, high] into at most MOST_TICKS parts. */
static double tick_step(double low, double high)
{
    static const double factors[] = {1, 2, 5};
    double rough = (high - low) / MOST_TICKS, power = 1;
    while (power > rough && power > 1e-300) power /= 10;
    while (power * 10 <= rough && power < 1e300) power *= 10;
    for (int i = 0; i < 3; i++)
        if (power * factors[i] >= rough) return power * factors[i];
    return power * 10;
}

/* Widens a range to ticks at both ends. */
static axis make_axis(double low, double high, double start, double length, bool round_ends)
{
    if (!(low < high)) {
        double around = low > 1 || low < -1 ? (low < 0 ? -low : low) * 0.1 : 0.5;
        low -= around;
        high = low + 2 * around;
    }
    axis a = {.low = low, .high = high, .step = tick_step(low, high), .start = start, .length = length};
    if (round_ends) {
        a.low = floor_of(low / a.step) * a.step;
        a.high = -floor_of(-high / a.step) * a.step;
    }
    return a;
}

static double place(const axis *a, double value) { return a->start + (value - a->low) / (a->high - a->low) * a->length; }

static void range_of(const chart *c, bool of_x, double *low, double *high)
{
    *low = 1, *high = 0;
    for (uint32_t s = 0; s < c->series_count; s++)
        for (size_t i = 0; i < c->series[s].count; i++) {
            double x = c->series[s].x[i], y = c->series[s].y[i], value = of_x ? x : y;
            if (!is_finite(x) || !is_finite(y)) continue;
            bool first = *low > *high;
            if (first || value < *low) *low = value;
            if (first || value > *high) *high = value;
        }
    if (*low > *high) *low = 0, *high = 1;
}

static void put_tick_label(base_string *svg, const chart *c, double value, bool of_x)
{
    char text[32];
    if (c->percent && !of_x) base_string_printf(svg, "%.4g %%", 100 * value);
    else base_string_puts(svg, chart_short(value > -1e-12 && value < 1e-12 ? 0 : value, text));
}

static void put_axes(base_string *svg, const chart *c, const axis *x, const axis *y)
{
    for (double v = floor_of(y->low / y->step) * y->step; v <= y->high + y->step * 1e-6; v += y->step) {
        if (v < y->low - y->step * 1e-6) continue;
        double at = place(y, v);
        base_string_printf(
            svg, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT,
            WIDTH - RIGHT, at, at, LEFT - 8, at + 4);
        put_tick_label(svg, c, v, false);
        base_string_puts(svg, "</text>");
    }
    for (double v = floor_of(x->low / x->step) * x->step; v <= x->high + x->step * 1e-6; v += x->step) {
        if (v < x->low - x->step * 1e-6) continue;
        double at = place(x, v);
        base_string_printf(
            svg, "<line class=\"tick\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">",
            at, at, HEIGHT - BOTTOM, HEIGHT - BOTTOM + 5, at, HEIGHT - BOTTOM + 19);
        put_tick_label(svg, c, v, true);
        base_string_puts(svg, "</text>");
    }
    base_string_printf(svg, "<line class=\"axis\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>", LEFT, WIDTH - RIGHT, HEIGHT - BOTTOM,
                       HEIGHT - BOTTOM);
    base_string_printf(svg, "<text class=\"name\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">", (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6);
    chart_put_text(svg, c->x_title);
    base_string_puts(svg, "</text><text class=\"name\" x=\"4\" y=\"16\">");
    chart_put_text(svg, c->y_title);
    base_string_puts(svg, "</text>");
}

/* ---- series ---- */

/* Every k-th point of a long series is drawn, and the last one. */
static size_t stride_of(const chart_series *s)
{
    return s->count > MOST_POINTS && s->look != CHART_STAIRS ? (s->count + MOST_POINTS - 1) / MOST_POINTS : 1;
}

static void put_points(base_string *svg, const chart_series *s, const axis *x, const axis *y)
{
    size_t stride = stride_of(s);
    bool pen_down = false;
    double last = 0;
    for (size_t drawn = 0; drawn < s->count + stride - 1; drawn += stride) {
        size_t i = drawn < s->count ? drawn : s->count - 1;
        if (!is_finite(s->x[i]) || !is_finite(s->y[i])) {
            pen_down = false;
            continue;
        }
        double px = place(x, s->x[i]), py = place(y, s->y[i]);
        if (s->look == CHART_STAIRS && pen_down) base_string_printf(svg, "H%.1f", px);
        if (s->look != CHART_STAIRS || !pen_down || py != last) base_string_printf(svg, "%c%.1f,%.1f", pen_down ? 'L' : 'M', px, py);
        pen_down = true;
        last = py;
    }
}

static char color_of(uint32_t color) { return (char)('a' + color % 3); }

static void put_series(base_string *svg, const chart_series *s, const axis *x, const axis *y)
{
    if (!s->count) return;
    if (s->look == CHART_STAIRS) {
        base_string_printf(svg, "<path class=\"area\" style=\"fill:var(--%c)\" d=\"", color_of(s->color));
        put_points(svg, s, x, y);
        base_string_printf(svg, "V%.1fH%.1fZ\"/>", place(y, y->low), place(x, s->x[0]));
    }
    base_string_printf(svg, "<path class=\"%s\" style=\"stroke:var(--%c)\" d=\"", s->look == CHART_THIN ? "thin" : "line",
                       color_of(s->color));
    put_points(svg, s, x, y);
    base_string_puts(svg, "\"/>");
    for (size_t i = 0; s->look == CHART_MARKS && i < s->count; i += stride_of(s)) {
        if (!is_finite(s->x[i]) || !is_finite(s->y[i])) continue;
        base_string_printf(svg, "<circle class=\"mark\" style=\"fill:var(--%c)\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"/>", color_of(s->color),
                           place(x, s->x[i]), place(y, s->y[i]));
    }
}

/* From the right, above the drawing; a letter is about 7 units wide. */
static void put_legend(base_string *svg, const chart *c)
{
    int at = WIDTH - RIGHT;
    for (uint32_t i = c->series_count; c->series_count > 1 && i-- > 0;) {
        const chart_series *s = &c->series[i];
        at -= 7 * (int)strlen(s->name);
        base_string_printf(svg, "<text x=\"%d\" y=\"16\">", at);
        chart_put_text(svg, s->name);
        base_string_printf(svg, "</text><line class=\"%s\" style=\"stroke:var(--%c)\" x1=\"%d\" x2=\"%d\" y1=\"12\" y2=\"12\"/>",
                           s->look == CHART_THIN ? "thin" : "line", color_of(s->color), at - 26, at - 6);
        if (s->look == CHART_MARKS)
            base_string_printf(svg, "<circle class=\"mark\" style=\"fill:var(--%c)\" cx=\"%d\" cy=\"12\" r=\"4.5\"/>", color_of(s->color),
                               at - 16);
        at -= 44;
    }
}

/* A drawing fills its column, but is never more than a quarter larger than it was drawn. */
static void open_svg(base_string *svg, int width, int height, const char *title)
{
    base_string_printf(svg, "<svg viewBox=\"0 0 %d %d\" style=\"max-width:%dpx\" role=\"img\"><title>", width, height, width * 5 / 4);
    chart_put_text(svg, title);
    base_string_puts(svg, "</title>");
}

void chart_put(base_string *svg, const chart *c)
{
    double low, high;
    range_of(c, true, &low, &high);
    axis x = make_axis(low, high, LEFT, WIDTH - LEFT - RIGHT, false);
    if (x.step < 1) x.step = 1; /* steps, epochs, nodes: whole numbers */
    range_of(c, false, &low, &high);
    if (c->from_zero && low > 0) low = 0;
    axis y = make_axis(low, high, HEIGHT - BOTTOM, -(HEIGHT - BOTTOM - TOP), true);
    if (c->percent && y.high > 1) y.high = 1;
    open_svg(svg, WIDTH, HEIGHT, c->title);
    put_axes(svg, c, &x, &y);
    for (uint32_t i = 0; i < c->series_count; i++) put_series(svg, &c->series[i], &x, &y);
    put_legend(svg, c);
    base_string_puts(svg, "</svg>\n");
}

/* ---- matrix ---- */

/* A class by name, cut to `most` bytes at a character's boundary, or by number. */
static void put_class(base_string *svg, const char *const *names, uint32_t number, size_t most)
{
    if (!names) {
        base_string_printf(svg, "%u", number);
        return;
    }
    char cut[64];
    size_t length = strlen(names[number]);
    if (length > most) {
        length = most;
        while (length && ((unsigned char)names[number][length] & 0xC0) == 0x80) length--;
    }
    memcpy(cut, names[number], length);
    cut[length] = 0;
    chart_put_text(svg, cut);
    if (names[number][length]) base_string_puts(svg, "\xE2\x80\xA6");
}

enum { CELL = 46, ROW = 30, MARGIN_LEFT = 130, MARGIN_TOP = 88, LONGEST_NAME = 16 };

static void put_cell(base_string *svg, int64_t count, int64_t row_total, uint32_t row, uint32_t column)
{
    double share = row_total ? (double)count / (double)row_total : 0;
    double opacity = share > 0 ? 0.10 + 0.90 * share : 0;
    if (row != column && share > 0)
        opacity = share < 0.2 ? 0.12 + 3.4 * share : 0.8; /* mistakes are rare: what is a fifth of a class is as strong as it gets */
    int x = MARGIN_LEFT + (int)column * CELL, y = MARGIN_TOP + (int)row * ROW;
    base_string_printf(svg,
                       "<rect class=\"cell\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" style=\"fill:var(--%c);fill-opacity:%.2f\"/>",
                       x, y, CELL - 2, ROW - 2, row == column ? 'a' : 'b', opacity);
    if (count)
        base_string_printf(svg, "<text class=\"%s\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">%lld</text>",
                           opacity > 0.55 ? "on" : "name", x + CELL / 2 - 1, y + ROW / 2 + 3, (long long)count);
}

void chart_put_matrix(base_string *svg, const int64_t *counts, uint32_t classes, const char *const *names)
{
    int width = MARGIN_LEFT + (int)classes * CELL + 40, height = MARGIN_TOP + (int)classes * ROW + 8;
    open_svg(svg, width, height, "Confusion matrix");
    for (uint32_t i = 0; i < classes; i++) {
        int x = MARGIN_LEFT + (int)i * CELL + CELL / 2 - 4, y = MARGIN_TOP + (int)i * ROW + ROW / 2 + 3;
        base_string_printf(svg, "<text x=\"%d\" y=\"%d\" transform=\"rotate(-40 %d %d)\">", x, MARGIN_TOP - 8, x, MARGIN_TOP - 8);
        put_class(svg, names, i, LONGEST_NAME);
        base_string_printf(svg, "</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">", MARGIN_LEFT - 10, y);
        put_class(svg, names, i, LONGEST_NAME);
        base_string_puts(svg, "</text>");
    }
    base_string_printf(svg,
                       "<text class=\"name\" x=\"%d\" y=\"%d\" text-anchor=\"end\">predicted \xE2\x86\x92</text><text class=\"name\" "
                       "x=\"%d\" y=\"%d\" text-anchor=\"end\">true \xE2\x86\x93</text>",
                       MARGIN_LEFT - 10, MARGIN_TOP - 28, MARGIN_LEFT - 10, MARGIN_TOP - 8);
    for (uint32_t row = 0; row < classes; row++) {
        int64_t total = 0;
        for (uint32_t column = 0; column < classes; column++) total += counts[row * classes + column];
        for (uint32_t column = 0; column < classes; column++) put_cell(svg, counts[row * classes + column], total, row, column);
    }
    base_string_puts(svg, "</svg>\n");
}

/* ---- bars ---- */

enum { BAR_WIDTH = 210, BAR_ROW = 19, BAR_NAMES = 84, BAR_LENGTH = 84 };

void chart_put_bars(base_string *svg, const double *shares, const char *const *names, uint32_t count, uint32_t strong)
{
    open_svg(svg, BAR_WIDTH, BAR_ROW * (int)count, "Probabilities");
    for (uint32_t i = 0; i < count; i++) {
        int y = BAR_ROW * (int)i;
        double share = shares[i] >= 0 && shares[i] <= 1 ? shares[i] : 0;
        base_string_printf(svg, "<text%s x=\"%d\" y=\"%d\" text-anchor=\"end\">", i == strong ? " class=\"strong\"" : "", BAR_NAMES - 6,
                           y + 13);
        put_class(svg, names, i, 12);
        base_string_printf(svg, "</text><rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"11\" style=\"fill:var(--%c)\"/>", BAR_NAMES,
                           y + 4, share * BAR_LENGTH < 1 ? 1 : share * BAR_LENGTH, i == strong ? 'a' : 'c');
        base_string_printf(svg, "<text x=\"%.1f\" y=\"%d\">%.0f %%</text>", BAR_NAMES + share * BAR_LENGTH + 5, y + 13, 100 * share);
    }
    base_string_puts(svg, "</svg>");
}
