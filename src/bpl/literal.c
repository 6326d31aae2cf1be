/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Values as source on one line: what stands for items in the display of nested arrays, and •literal⁻, whose text reads back as the same value. */
#include <string.h>

#include "bpl/display.h"

typedef struct writer {
    bpl_session *session;
    base_string *out;
    const bpl_style *style;
} writer;

static bool put_value(writer *w, const bpl_value *value);
static bool put_item(writer *w, const bpl_value *value);

/* ---- edges ------------------------------------------------------------------------------------------------------------------------------------ */

bpl_edges bpl_edges_of(const bpl_value *value, uint32_t axis, const bpl_style *style)
{
    int64_t extent = bpl_shape(value)[axis], most = extent;
    const bpl_preferences *wanted = &value->session->preferences;
    if (style->shortens && bpl_volume(value) > wanted->shown) most = wanted->edges;
    if (style->edges && style->edges < most && axis + 1 == bpl_rank(value)) most = style->edges;
    if (most >= (extent + 1) / 2) return (bpl_edges){extent, extent, extent, false};
    return (bpl_edges){most, extent - most, extent, true};
}

int64_t bpl_edges_count(bpl_edges edges) { return edges.head + edges.gap + edges.extent - edges.tail; }

int64_t bpl_edges_at(bpl_edges edges, int64_t place)
{
    if (place < edges.head) return place;
    if (edges.gap && place == edges.head) return -1;
    return edges.tail + place - edges.head - edges.gap;
}

/* ---- items ------------------------------------------------------------------------------------------------------------------------------------ */

/* An array as its writer sees it: items of the host, or a view of simple ones. */
typedef struct contents {
    const bpl_value *value;
    wg_view view;
} contents;

static bool open_contents(writer *w, const bpl_value *value, contents *of)
{
    of->value = value;
    return value->type == BPL_ITEMS || bpl_read(w->session, value, &of->view);
}

static uint32_t character_at(const contents *of, int64_t index) { return ((const uint32_t *)of->view.data)[index]; }

static void put_character(writer *w, uint32_t code)
{
    base_string_puts(w->out, "'");
    bpl_put_code_point(w->out, code);
    base_string_puts(w->out, "'");
}

static bool is_character(const bpl_value *value) { return value->type == BPL_CHARACTERS && value->atom; }

/* Characters [first, last) as a quoted text; of items that are all characters too. */
static bool put_text(writer *w, const contents *of, int64_t first, bpl_edges edges)
{
    base_string_puts(w->out, "\"");
    for (int64_t place = 0; place < bpl_edges_count(edges); place++) {
        int64_t at = bpl_edges_at(edges, place);
        uint32_t code = 0x2026;
        wg_view view;
        if (!(place & 0xfff) && !bpl_go_on(w->session)) return false;
        if (at >= 0 && of->value->type == BPL_CHARACTERS) code = character_at(of, first + at);
        else if (at >= 0) {
            if (!bpl_read(w->session, of->value->items->at[first + at], &view)) return false;
            code = *(const uint32_t *)view.data;
        }
        if (code == '"') base_string_puts(w->out, "\"");
        bpl_put_code_point(w->out, code);
    }
    base_string_puts(w->out, "\"");
    return true;
}

static bool put_at(writer *w, const contents *of, int64_t index)
{
    if (of->value->type == BPL_ITEMS) return put_item(w, of->value->items->at[index]);
    if (of->value->type == BPL_CHARACTERS) put_character(w, character_at(of, index));
    else bpl_put_number(w->session, w->out, &of->view, index, w->style->full);
    return true;
}

static const char *mark_of(const writer *w, const bpl_value *value) { return bpl_mark_in(value, w->style); }

/* ---- keys ------------------------------------------------------------------------------------------------------------------------------------- */

static bool put_label(writer *w, bpl_value *label, int64_t position)
{
    if (!label) {
        base_string_integer(w->out, position);
        return true;
    }
    return bpl_put_key(w->session, w->out, label, true);
}

/* ["i":2 3]⍴ before an array with named axes. */
static void put_names(writer *w, const bpl_value *value)
{
    base_string_puts(w->out, "[");
    for (uint32_t axis = 0; axis < bpl_rank(value); axis++) {
        const bpl_axis *of = bpl_axis_of(value, axis);
        if (axis) base_string_puts(w->out, " ");
        if (bpl_shows_name(of)) bpl_put_quoted(w->out, of->name, strlen(of->name)), base_string_puts(w->out, ":");
        base_string_integer(w->out, bpl_shape(value)[axis]);
    }
    base_string_puts(w->out, "]⍴");
}

/* The keys of one axis, positions where it has none; a list of one and of none told as such. */
static bool put_axis_labels(writer *w, const bpl_axis *of, int64_t extent)
{
    if (!extent) base_string_puts(w->out, "⍬");
    if (extent == 1) base_string_puts(w->out, "[");
    for (int64_t i = 0; i < extent; i++) {
        if (i) base_string_puts(w->out, " ");
        if (!put_label(w, of && of->labels ? of->labels[i] : NULL, i)) return false;
    }
    if (extent == 1) base_string_puts(w->out, "]");
    return true;
}

/* ["x" "y";0 1]: before an array with keys on several axes. */
static bool put_labels(writer *w, const bpl_value *value)
{
    base_string_puts(w->out, "[");
    for (uint32_t axis = 0; axis < bpl_rank(value); axis++) {
        if (axis) base_string_puts(w->out, ";");
        if (!put_axis_labels(w, bpl_axis_of(value, axis), bpl_shape(value)[axis])) return false;
    }
    base_string_puts(w->out, "]:");
    return true;
}

/* ["a":1 "b":2]; `"a":1 "b":2` inside of rows, each item with its mark where they are marked. */
static bool put_record(writer *w, const contents *of, bool bare, bool marked)
{
    const bpl_axis *axis = bpl_axis_of(of->value, 0);
    bpl_edges edges = bpl_edges_of(of->value, 0, w->style);
    if (!bare) base_string_puts(w->out, "[");
    for (int64_t place = 0; place < bpl_edges_count(edges); place++) {
        int64_t at = bpl_edges_at(edges, place);
        if (place) base_string_puts(w->out, " ");
        if (at < 0) {
            base_string_puts(w->out, "…");
            continue;
        }
        if (axis->labels[at]) {
            if (!put_label(w, axis->labels[at], at)) return false;
            base_string_puts(w->out, ":");
        }
        if (!put_at(w, of, at)) return false;
        if (marked) base_string_puts(w->out, mark_of(w, of->value));
    }
    if (!bare) base_string_printf(w->out, "]%s", mark_of(w, of->value));
    return true;
}

/* ---- arrays ----------------------------------------------------------------------------------------------------------------------------------- */

static bool put_empty(writer *w, const bpl_value *value)
{
    uint32_t rank = bpl_rank(value);
    bpl_value *fill = bpl_fill(w->session, value);
    if (!fill) return false;
    bool number = value->type == BPL_NUMBERS && value->class != BPL_CLASS_BOOLEAN, done = true;
    if (rank == 1 && number) base_string_printf(w->out, "⍬%s", mark_of(w, value));
    else if (rank == 1 && value->type == BPL_CHARACTERS) base_string_puts(w->out, "\"\"");
    else {
        for (uint32_t axis = 0; axis < rank; axis++) {
            if (axis) base_string_puts(w->out, " ");
            base_string_integer(w->out, bpl_shape(value)[axis]);
        }
        base_string_puts(w->out, "⍴");
        if (!bpl_is_function(fill) && !fill->atom) base_string_puts(w->out, "⊂");
        if (number) base_string_printf(w->out, "0%s", mark_of(w, value));
        else done = put_item(w, fill);
    }
    bpl_release(fill);
    return done;
}

/* Items [first, first + extent) of the last axis, spaced; characters as one text. */
static bool put_row(writer *w, const contents *of, int64_t first)
{
    const bpl_value *value = of->value;
    bpl_edges edges = bpl_edges_of(value, bpl_rank(value) - 1, w->style);
    bool text = value->type == BPL_CHARACTERS || (value->type == BPL_ITEMS && bpl_rank(value) > 1);
    for (int64_t at = 0; text && value->type == BPL_ITEMS && at < edges.extent; at++) text = is_character(value->items->at[first + at]);
    if (text) return put_text(w, of, first, edges);
    bool bracketed = edges.extent == 1;
    if (bracketed) base_string_puts(w->out, "[");
    for (int64_t place = 0; place < bpl_edges_count(edges); place++) {
        int64_t at = bpl_edges_at(edges, place);
        if (!(place & 0xfff) && !bpl_go_on(w->session)) return false;
        if (place) base_string_puts(w->out, " ");
        if (at < 0) base_string_puts(w->out, "…");
        else if (!put_at(w, of, first + at)) return false;
    }
    if (bracketed) base_string_puts(w->out, "]");
    return true;
}

/* Cells of an axis: [r⋄s], one of them [r⋄]. */
static bool put_cells(writer *w, const contents *of, uint32_t axis, int64_t first)
{
    const bpl_value *value = of->value;
    if (axis + 1 == bpl_rank(value)) return put_row(w, of, first);
    bpl_edges edges = bpl_edges_of(value, axis, w->style);
    int64_t stride = 1;
    for (uint32_t inner = axis + 1; inner < bpl_rank(value); inner++) stride *= bpl_shape(value)[inner];
    base_string_puts(w->out, "[");
    for (int64_t place = 0; place < bpl_edges_count(edges); place++) {
        int64_t at = bpl_edges_at(edges, place);
        if (place) base_string_puts(w->out, "⋄");
        if (at < 0) base_string_puts(w->out, "…");
        else if (!put_cells(w, of, axis + 1, first + at * stride)) return false;
    }
    base_string_puts(w->out, edges.extent == 1 ? "⋄]" : "]");
    return true;
}

/* Whether an item can be a row of (r⋄s): a vector with items that is no text. */
static bool is_row(const bpl_value *item)
{
    return (item->type == BPL_NUMBERS || item->type == BPL_ITEMS) && bpl_rank(item) == 1 && bpl_volume(item) && !bpl_has_names(item);
}

static bool are_rows(const bpl_value *value)
{
    if (value->type != BPL_ITEMS || value->items->volume < 2) return false;
    for (int64_t i = 0; i < value->items->volume; i++)
        if (!is_row(value->items->at[i])) return false;
    return true;
}

/* The mark of all rows where they share one, else "". */
static const char *shared_mark(const writer *w, const bpl_items *items)
{
    const char *mark = NULL;
    for (int64_t i = 0; i < items->volume; i++) {
        const bpl_value *row = items->at[i];
        if (row->type != BPL_NUMBERS || (mark && strcmp(mark, mark_of(w, row)))) return "";
        mark = mark_of(w, row);
    }
    return mark;
}

static bool put_row_items(writer *w, const bpl_value *row, bool marked)
{
    contents of;
    if (!open_contents(w, row, &of)) return false;
    if (bpl_has_labels(row)) return put_record(w, &of, true, marked);
    bpl_edges edges = bpl_edges_of(row, 0, w->style);
    for (int64_t place = 0; place < bpl_edges_count(edges); place++) {
        int64_t at = bpl_edges_at(edges, place);
        if (place) base_string_puts(w->out, " ");
        if (at < 0) base_string_puts(w->out, "…");
        else if (!put_at(w, &of, at)) return false;
        if (at >= 0 && marked) base_string_puts(w->out, mark_of(w, row));
    }
    return true;
}

static bool put_rows(writer *w, const bpl_value *value)
{
    const char *mark = shared_mark(w, value->items);
    bpl_edges edges = bpl_edges_of(value, 0, w->style);
    base_string_puts(w->out, "(");
    for (int64_t place = 0; place < bpl_edges_count(edges); place++) {
        int64_t at = bpl_edges_at(edges, place);
        if (place) base_string_puts(w->out, "⋄");
        if (at < 0) base_string_puts(w->out, "…");
        else if (!put_row_items(w, value->items->at[at], !mark[0])) return false;
    }
    base_string_printf(w->out, ")%s", mark);
    return true;
}

static bool put_vector(writer *w, const contents *of)
{
    const bpl_value *value = of->value;
    bpl_edges edges = bpl_edges_of(value, 0, w->style);
    if (bpl_has_labels(value)) return put_record(w, of, false, false);
    if (value->type == BPL_CHARACTERS) return put_text(w, of, 0, edges);
    if (are_rows(value)) return put_rows(w, value);
    if (edges.extent > 1) base_string_puts(w->out, "[");
    if (!put_row(w, of, 0)) return false;
    if (edges.extent > 1) base_string_puts(w->out, "]");
    base_string_puts(w->out, mark_of(w, value));
    return true;
}

/* A scalar array: ⊂ and its item; of a function fᵘ. */
static bool put_enclosed(writer *w, const contents *of)
{
    const bpl_value *value = of->value;
    if (value->type == BPL_ITEMS && bpl_is_function(value->items->at[0])) {
        if (!put_item(w, value->items->at[0])) return false;
        base_string_puts(w->out, "ᵘ");
        return true;
    }
    base_string_puts(w->out, "⊂");
    if (!put_at(w, of, 0)) return false;
    base_string_puts(w->out, mark_of(w, value));
    return true;
}

static bool put_array(writer *w, const bpl_value *value)
{
    contents of;
    if (bpl_has_names(value)) put_names(w, value);
    if (bpl_rank(value) > 1 && bpl_has_labels(value) && !put_labels(w, value)) return false;
    if (!bpl_volume(value)) return put_empty(w, value);
    if (!open_contents(w, value, &of)) return false;
    if (value->atom) {
        if (!put_at(w, &of, 0)) return false;
        base_string_puts(w->out, mark_of(w, value));
        return true;
    }
    if (!bpl_rank(value)) return put_enclosed(w, &of);
    if (bpl_rank(value) == 1) return put_vector(w, &of);
    if (!put_cells(w, &of, 0, 0)) return false;
    base_string_puts(w->out, mark_of(w, value));
    return true;
}

static bool put_value(writer *w, const bpl_value *value)
{
    if (bpl_stack_is_low(w->session)) return bpl_fail(w->session, BPL_LIMIT, "this nests too deep to be written");
    switch ((bpl_type)value->type) {
    case BPL_FUNCTION:
    case BPL_OPERATOR:
        if (w->style->exact) return bpl_fail(w->session, BPL_DOMAIN, "•literal⁻ writes arrays; functions have no text that reads back alone");
        return bpl_put_function(w->session, w->out, value->function, w->style);
    case BPL_RATIONAL: return bpl_rational_print(w->session, value->rational, w->out);
    default: return put_array(w, value);
    }
}

/* Whether a list would split a text: a space outside of brackets and quotes. */
static bool splits(const char *text, size_t length)
{
    int depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\'' && i + 2 < length && !quoted) { /* 'a', of up to four bytes */
            size_t end = i + 2;
            while (end < length && text[end] != '\'') end++;
            i = end;
        } else if (text[i] == '"') quoted = !quoted;
        else if (!quoted && (text[i] == '(' || text[i] == '[' || text[i] == '{')) depth++;
        else if (!quoted && (text[i] == ')' || text[i] == ']' || text[i] == '}')) depth--;
        else if (!quoted && !depth && text[i] == ' ') return true;
    }
    return false;
}

static bool put_item(writer *w, const bpl_value *value)
{
    size_t start = w->out->length;
    if (!put_value(w, value) || w->out->failed) return !w->out->failed ? false : (bpl_fail_memory(w->session), false);
    bool array = value->type <= BPL_ITEMS && !value->atom, keyed = array && bpl_rank(value) > 1 && bpl_has_labels(value); /* a list would take : for a key's */
    bool may = bpl_is_function(value) || (array && !bpl_volume(value));
    if (!keyed && (!may || !splits(w->out->text + start, w->out->length - start))) return true;
    base_string_puts(w->out, "()");
    if (w->out->failed) return bpl_fail_memory(w->session);
    memmove(w->out->text + start + 1, w->out->text + start, w->out->length - start - 2);
    w->out->text[start] = '(';
    w->out->text[w->out->length - 1] = ')';
    return true;
}

bool bpl_put_inline(bpl_session *session, base_string *out, const bpl_value *value, const bpl_style *style)
{
    return put_value(&(writer){session, out, style}, value) && (!out->failed || bpl_fail_memory(session));
}

bool bpl_put_item(bpl_session *session, base_string *out, const bpl_value *value, const bpl_style *style)
{
    return put_item(&(writer){session, out, style}, value);
}

bool bpl_literal(bpl_session *session, const bpl_value *value, base_string *out)
{
    return bpl_put_inline(session, out, value, &(bpl_style){.full = true, .exact = true});
}
