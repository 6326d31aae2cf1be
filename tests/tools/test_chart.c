/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Charts: text that cannot leave its place, numbers for people, drawings of awkward data. */
#include "data_files.h"

#include "base/text.h"
#include "tools/chart.h"

static void assert_escaped(const char *text, const char *expected)
{
    base_string html = base_string_new(base_allocator(NULL));
    base_string_puts(&html, "");
    chart_put_text(&html, text);
    assert_string_equal(html.length ? html.text : "", expected);
    base_string_free(&html);
}

static void escapes_text(void **state)
{
    (void)state;
    assert_escaped("", "");
    assert_escaped("plain \xC3\xA9\xE2\x82\xAC", "plain \xC3\xA9\xE2\x82\xAC");
    assert_escaped("<a href=\"x\">&'</a>", "&lt;a href=&quot;x&quot;&gt;&amp;&#39;&lt;/a&gt;");
    assert_escaped("a\nb\tc\x01\x7F", "a\nb\tc\xEF\xBF\xBD\xEF\xBF\xBD");
    assert_escaped("\xFF<\xC3", "\xEF\xBF\xBD&lt;\xEF\xBF\xBD");
}

static void shortens_numbers(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},         {950, "950"},      {1000, "1 k"}, {12345, "12.3 k"}, {4.561e6, "4.56 M"},
                 {1.2e9, "1.2 G"}, {-2500, "-2.5 k"}, {0.25, "0.25"}};
    char text[32];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) assert_string_equal(chart_short(cases[i].value, text), cases[i].text);
}

/* Every coordinate of the paths, x and y, lies within the drawing, and there are `points` of them in the last path. */
static void assert_within(const char *svg, int points)
{
    double width, height;
    assert_int_equal(sscanf(svg, "<svg viewBox=\"0 0 %lf %lf\"", &width, &height), 2);
    assert_null(strstr(svg, "nan"));
    assert_null(strstr(svg, "inf"));
    int count = 0;
    for (const char *path = svg; (path = strstr(path, " d=\"")); path += 4) {
        count = 0;
        for (const char *at = path + 4; *at != '"'; at++) {
            double x, y;
            if ((*at != 'M' && *at != 'L') || sscanf(at + 1, "%lf,%lf", &x, &y) != 2) continue;
            assert_true(x >= 0 && x <= width && y >= 0 && y <= height);
            count++;
        }
    }
    if (points >= 0) assert_int_equal(count, points);
}

static void draw(chart_look look, const double *x, const double *y, size_t count, int points)
{
    const chart_series series = {"s", look, 0, x, y, count};
    base_string svg = base_string_new(base_allocator(NULL));
    chart_put(&svg, &(chart){.title = "<t>", .x_title = "x", .y_title = "y", .series = &series, .series_count = 1});
    assert_false(svg.failed);
    assert_non_null(strstr(svg.text, "<title>&lt;t&gt;</title>"));
    assert_within(svg.text, points);
    base_string_free(&svg);
}

static void draws_awkward_data(void **state)
{
    (void)state;
    const double inf = __builtin_inf(), nan = __builtin_nan("");
    draw(CHART_LINE, (double[]){1, 2, 3}, (double[]){5, -5, 1e6}, 3, 3);
    draw(CHART_LINE, NULL, NULL, 0, -1);
    draw(CHART_MARKS, (double[]){7}, (double[]){3}, 1, 1);
    draw(CHART_LINE, (double[]){1, 2}, (double[]){0, 0}, 2, 2);
    draw(CHART_LINE, (double[]){1, 2, 3, 4}, (double[]){1, nan, inf, 2}, 4, 2);
    draw(CHART_LINE, (double[]){1, 2}, (double[]){nan, -inf}, 2, 0);
    draw(CHART_THIN, (double[]){1, 2}, (double[]){1e-300, 2e-300}, 2, 2);
    draw(CHART_STAIRS, (double[]){0, 1, 2}, (double[]){1e15, 3e15, 0}, 3, -1);
}

/* A long series is thinned out; its ends stay. */
static void thins_long_series(void **state)
{
    (void)state;
    static double x[100000], y[100000];
    for (int i = 0; i < 100000; i++) x[i] = i, y[i] = i % 7;
    const chart_series series = {"s", CHART_LINE, 0, x, y, 100000};
    base_string svg = base_string_new(base_allocator(NULL));
    chart_put(&svg, &(chart){.title = "t", .x_title = "x", .y_title = "y", .series = &series, .series_count = 1});
    assert_true(svg.length < 40000);
    const char *path = strstr(svg.text, "class=\"line\"");
    double width, height, first, last, ignored;
    sscanf(svg.text, "<svg viewBox=\"0 0 %lf %lf\"", &width, &height);
    assert_int_equal(sscanf(strstr(path, " d=\"M") + 5, "%lf,%lf", &first, &ignored), 2);
    const char *end = strchr(strstr(path, " d=\"") + 4, '"');
    while (*end != 'L') end--;
    assert_int_equal(sscanf(end + 1, "%lf,%lf", &last, &ignored), 2);
    assert_true(first < 0.15 * width && last > 0.95 * width);
    base_string_free(&svg);
}

static void draws_matrices(void **state)
{
    (void)state;
    const int64_t counts[] = {9, 1, 0, 5};
    const char *const names[] = {"a rather long name of a class \xE2\x82\xAC", "<b>"};
    base_string svg = base_string_new(base_allocator(NULL));
    chart_put_matrix(&svg, counts, 2, names);
    assert_non_null(strstr(svg.text, ">9</text>"));
    assert_non_null(strstr(svg.text, ">5</text>"));
    assert_null(strstr(svg.text, ">0</text>"));
    assert_non_null(strstr(svg.text, "&lt;b&gt;"));
    assert_non_null(strstr(svg.text, "a rather long na\xE2\x80\xA6"));
    base_string_free(&svg);
    svg = base_string_new(base_allocator(NULL));
    chart_put_matrix(&svg, (int64_t[]){0}, 1, NULL);
    assert_non_null(strstr(svg.text, ">0</text>"));
    base_string_free(&svg);
}

static void draws_bars(void **state)
{
    (void)state;
    const double shares[] = {0.754, __builtin_nan(""), 7};
    const char *const names[] = {"shirt", "coat", "bag"};
    base_string svg = base_string_new(base_allocator(NULL));
    chart_put_bars(&svg, shares, names, 3, 0);
    assert_non_null(strstr(svg.text, ">75 %</text>"));
    assert_null(strstr(svg.text, "nan"));
    base_string_free(&svg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_text),       cmocka_unit_test(shortens_numbers), cmocka_unit_test(draws_awkward_data),
        cmocka_unit_test(thins_long_series), cmocka_unit_test(draws_matrices),   cmocka_unit_test(draws_bars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
