/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Charts as SVG inside an HTML page. Colours are the page's variables (--ink, --faint, --grid, --a, --b, --c), so that one drawing serves
 * light and dark. */
#ifndef TOOLS_CHART_H
#define TOOLS_CHART_H

#include "base/base.h"

typedef enum chart_look {
    CHART_LINE,  /* a strong line */
    CHART_THIN,  /* a faint line behind others */
    CHART_MARKS, /* a line with a mark at each point */
    CHART_STAIRS /* constant up to the next point, filled down to zero */
} chart_look;

typedef struct chart_series {
    const char *name;
    chart_look look;
    uint32_t color; /* 0, 1 or 2: --a, --b, --c */
    const double *x, *y; /* [count], x ascending; points that are not finite are left out */
    size_t count;
} chart_series;

typedef struct chart {
    const char *title; /* for readers that do not see */
    const char *x_title, *y_title; /* with units; x counts something */
    bool percent;      /* y in [0, 1] printed as 0 % to 100 % */
    bool from_zero;    /* the y axis begins at 0 */
    const chart_series *series;
    uint32_t series_count;
} chart;

void chart_put(base_string *svg, const chart *chart);
/* counts [classes, classes]: row the true class, column the predicted one; names NULL: numbers. */
void chart_put_matrix(base_string *svg, const int64_t *counts, uint32_t classes, const char *const *names);
/* Horizontal bars of shares in [0, 1] with their names; the bar `strong` stands out (count: none). */
void chart_put_bars(base_string *svg, const double *shares, const char *const *names, uint32_t count, uint32_t strong);
/* Text inside HTML and its attributes: & < > " and ' escaped, what is no UTF-8 or a control character replaced. */
void chart_put_text(base_string *html, const char *text);
/* 950, 12.3 k, 4.56 M, 1.2 G */
const char *chart_short(double value, char text[32]);

#endif
