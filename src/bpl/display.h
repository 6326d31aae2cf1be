/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Values as text: digits.c numbers, literal.c source on one line, function_text.c functions, display.c the lines of the REPL, format.c ⍕. */
#ifndef BPL_DISPLAY_H
#define BPL_DISPLAY_H

#include "bpl/bpl.h"

typedef struct bpl_style {
    bool full;     /* all digits; else those of the preferences, where a number has 64 bits */
    bool exact;    /* every number's kind is marked, and functions are refused: reads back as it was */
    bool shortens; /* large arrays show their edges, as the preferences ask */
    bool unmarked; /* kinds of numbers are not told */
    int64_t edges; /* so many positions a side of every last axis at most, that lines fit; 0: all */
} bpl_style;

/* The positions of an axis that are shown: [0, head), then a gap where there is one, then [tail, extent). */
typedef struct bpl_edges {
    int64_t head, tail, extent;
    bool gap;
} bpl_edges;
bpl_edges bpl_edges_of(const bpl_value *value, uint32_t axis, const bpl_style *style);
/* How many places are shown, a gap among them; the position in place i, -1 for the gap. */
int64_t bpl_edges_count(bpl_edges edges);
int64_t bpl_edges_at(bpl_edges edges, int64_t place);

/* The mark of a kind of number: "ₓ", "ₛ"..; "" of Booleans, characters, and where it is not exact of floats and complex numbers of 64 bits a part. */
const char *bpl_kind_mark(bpl_class class, wg_kind kind, bool exact);
/* That of a value as a style writes it; "" of what is not NUMBERS. */
const char *bpl_mark_in(const bpl_value *value, const bpl_style *style);
/* A double in so many significant digits at most; 0: the fewest that read back in that kind of float. */
void bpl_put_float(base_string *out, wg_kind kind, double number, int digits);
/* Item `index` of numbers without its mark. */
void bpl_put_number(bpl_session *session, base_string *out, const wg_view *view, int64_t index, bool full);
void bpl_put_quoted(base_string *out, const char *text, size_t length); /* in double quotes, doubled inside */
void bpl_put_code_point(base_string *out, uint32_t code);

/* On one line, as source. */
bool bpl_put_inline(bpl_session *session, base_string *out, const bpl_value *value, const bpl_style *style);
/* The same, in parentheses where a list would take it for several items. */
bool bpl_put_item(bpl_session *session, base_string *out, const bpl_value *value, const bpl_style *style);
/* A function or an operator as source, to stand alone, or as the operand of something. */
bool bpl_put_function(bpl_session *session, base_string *out, const bpl_function *function, const bpl_style *style);

/* A sign so many times; the key of a position, a text. */
void bpl_put_times(base_string *out, const char *sign, int64_t count);
bool bpl_put_key(bpl_session *session, base_string *out, const bpl_value *label, bool quoted);
/* Line `index` of a text, without its end; "" behind the last one. */
const char *bpl_line_of(const char *text, size_t length, int64_t index, size_t *bytes);
/* Columns that a terminal takes for UTF-8 text. */
int64_t bpl_columns(const char *text, size_t length);

/* The lines of a value, each with its end but the last. */
bool bpl_put_display(bpl_session *session, base_string *out, const bpl_value *value, const bpl_style *style);

/* boxes.c: the same with boxes around arrays; a function as a tree. */
bool bpl_put_boxes(bpl_session *session, base_string *out, const bpl_value *value, const bpl_style *style);
bool bpl_put_function_tree(bpl_session *session, base_string *out, const bpl_function *function, const bpl_style *style);

/* ⍕: an array of characters. Not marked: kinds of numbers are not told. */
bpl_value *bpl_format_value(bpl_session *session, bpl_value *value, bool marked);

#endif
