/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Values as the lines that the REPL shows: section 9 of the language. Vectors stand on one line; matrices have aligned columns, numbers by their
 * points; planes are separated by empty lines; what carries a mark stands in brackets with one mark; keyed matrices are tables. */
#include <string.h>
#ifdef HAVE_UTF8PROC
#include <utf8proc.h>
#endif

#include "bpl/display.h"
#include "bpl/reader.h"
#include "bpl/respell.h"

int64_t bpl_columns(const char *text, size_t length)
{
    int64_t columns = 0;
    for (size_t at = 0; at < length;) {
        uint32_t bytes;
        uint32_t code = bpl_code_point(text + at, &bytes);
#ifdef HAVE_UTF8PROC
        columns += code < 0x80 ? 1 : utf8proc_charwidth((utf8proc_int32_t)code);
#else
        columns++;
        (void)code;
#endif
        at += bytes;
    }
    return columns;
}

void bpl_put_times(base_string *out, const char *sign, int64_t count)
{
    for (int64_t i = 0; i < count; i++) base_string_puts(out, sign);
}

const char *bpl_line_of(const char *text, size_t length, int64_t index, size_t *bytes)
{
    for (size_t start = 0; start <= length; index--) {
        const char *end = memchr(text + start, '\n', length - start);
        size_t stop = end ? (size_t)(end - text) : length;
        if (!index) return *bytes = stop - start, text + start;
        start = stop + 1;
    }
    return *bytes = 0, "";
}

bool bpl_put_key(bpl_session *session, base_string *out, const bpl_value *label, bool quoted)
{
    char *text;
    size_t length;
    if (!bpl_to_text(session, label, "a key", &text, &length)) return false;
    if (quoted) bpl_put_quoted(out, text, length);
    else base_string_put(out, text, length);
    base_free(session->allocator, text, length + 1);
    return true;
}

/* ---- cells of a matrix as texts ------------------------------------------------------------------------------------------------------------------ */

typedef struct cell {
    uint32_t start, length; /* in the grid's text */
    int32_t width, before;  /* columns; those before the point of a plain number, -1: it is none */
} cell;

typedef struct column {
    int64_t width, before, behind;
    bool plain; /* numbers alone: aligned by their points */
} column;

typedef struct grid {
    bpl_session *session;
    const bpl_value *value;
    const bpl_style *style;
    wg_view view;
    base_string text;
    cell *cells;
    column *columns;
    uint32_t count, capacity, column_count, column_capacity;
    bool table; /* of keys: cells as they stand alone */
} grid;

static bool add_cell(grid *g, size_t start, bool plain)
{
    if (g->text.failed || !BASE_RESERVE(g->session->allocator, g->cells, g->capacity, g->count + 1)) return bpl_fail_memory(g->session);
    const char *text = g->text.text ? g->text.text + start : "";
    size_t length = g->text.length - start;
    cell added = {(uint32_t)start, (uint32_t)length, (int32_t)bpl_columns(text, length), -1};
    const char *point = plain ? memchr(text, '.', length) : NULL;
    if (plain) added.before = point ? (int32_t)bpl_columns(text, (size_t)(point - text)) : added.width;
    g->cells[g->count++] = added;
    return true;
}

/* The item in a table of keys: a text bare, a vector without its brackets, a character in quotes. */
static bool put_table_item(grid *g, const bpl_value *item)
{
    bool array = !bpl_is_function(item) && item->type != BPL_RATIONAL && bpl_rank(item) == 1 && !item->keys;
    bool bare = array && bpl_volume(item) >= (item->type == BPL_CHARACTERS ? 1 : 2);
    return bare ? bpl_put_display(g->session, &g->text, item, g->style) : bpl_put_inline(g->session, &g->text, item, g->style);
}

static bool put_grid_item(grid *g, const bpl_value *item)
{
    wg_view view;
    if (g->table) return put_table_item(g, item);
    if (item->type == BPL_CHARACTERS && item->atom) {
        if (!bpl_read(g->session, item, &view)) return false;
        return bpl_put_code_point(&g->text, *(const uint32_t *)view.data), true;
    }
    if (!bpl_is_function(item)) return bpl_put_inline(g->session, &g->text, item, g->style);
    base_string_puts(&g->text, "⟨");
    if (!bpl_put_inline(g->session, &g->text, item, g->style)) return false;
    base_string_puts(&g->text, "⟩");
    return true;
}

static bool is_plain(const bpl_value *item)
{
    return item->type == BPL_NUMBERS && item->atom && (item->class == BPL_CLASS_COMPLEX || item->class == BPL_CLASS_FLOAT || item->class == BPL_CLASS_BOOLEAN);
}

static bool add_item(grid *g, int64_t index)
{
    size_t start = g->text.length;
    const bpl_value *value = g->value;
    bool plain = value->type == BPL_NUMBERS;
    if (value->type == BPL_ITEMS) {
        const bpl_value *item = value->items->at[index];
        plain = is_plain(item) && !*bpl_mark_in(item, g->style);
        if (!put_grid_item(g, item)) return false;
    } else if (value->type == BPL_CHARACTERS) {
        if (g->table) base_string_puts(&g->text, "'");
        bpl_put_code_point(&g->text, ((const uint32_t *)g->view.data)[index]);
        if (g->table) base_string_puts(&g->text, "'");
    } else bpl_put_number(g->session, &g->text, &g->view, index, g->style->full);
    return add_cell(g, start, plain && !g->table);
}

static bool add_text(grid *g, const char *text)
{
    size_t start = g->text.length;
    base_string_puts(&g->text, text);
    return add_cell(g, start, false);
}

static bool add_label(grid *g, const bpl_axis *axis, int64_t position)
{
    size_t start = g->text.length;
    bpl_value *label = axis && axis->labels && position >= 0 ? axis->labels[position] : NULL;
    if (!label) return add_text(g, position < 0 ? "…" : "");
    return bpl_put_key(g->session, &g->text, label, false) && add_cell(g, start, false);
}

static bool measure(grid *g, uint32_t columns)
{
    if (!BASE_RESERVE(g->session->allocator, g->columns, g->column_capacity, columns)) return bpl_fail_memory(g->session);
    g->column_count = columns;
    for (uint32_t c = 0; c < columns; c++) {
        column *of = &g->columns[c];
        *of = (column){.plain = true};
        bool any = false;
        for (uint32_t i = c; i < g->count; i += columns) {
            const cell *one = &g->cells[i];
            if (one->width > of->width) of->width = one->width;
            if (one->length == 3 && (!memcmp(g->text.text + one->start, "⋮", 3) || !memcmp(g->text.text + one->start, "…", 3) || !memcmp(g->text.text + one->start, "⋱", 3))) continue;
            any = true;
            if (one->before < 0) {
                of->plain = false;
                continue;
            }
            if (one->before > of->before) of->before = one->before;
            if (one->width - one->before > of->behind) of->behind = one->width - one->before;
        }
        of->plain = of->plain && any;
        if (of->plain && of->before + of->behind > of->width) of->width = of->before + of->behind;
    }
    return true;
}

static void put_cell(const grid *g, base_string *out, uint32_t index)
{
    const cell *one = &g->cells[index];
    const column *of = &g->columns[index % g->column_count];
    int64_t behind = of->plain && one->before >= 0 ? of->behind - (one->width - one->before) : 0;
    bpl_put_times(out, " ", of->width - one->width - behind);
    base_string_put(out, g->text.text + one->start, one->length);
    bpl_put_times(out, " ", behind);
}

static void put_grid_row(const grid *g, base_string *out, uint32_t row)
{
    for (uint32_t c = 0; c < g->column_count; c++) {
        if (c) base_string_puts(out, " ");
        put_cell(g, out, row * g->column_count + c);
    }
}

static bool grid_open(grid *g, bpl_session *session, const bpl_value *value, const bpl_style *style)
{
    *g = (grid){.session = session, .value = value, .style = style, .text = base_string_new(session->allocator)};
    return value->type == BPL_ITEMS || bpl_read(session, value, &g->view);
}

static void grid_close(grid *g)
{
    base_free(g->session->allocator, g->cells, g->capacity * sizeof *g->cells);
    base_free(g->session->allocator, g->columns, g->column_capacity * sizeof *g->columns);
    base_string_free(&g->text);
}

/* ---- planes -------------------------------------------------------------------------------------------------------------------------------------- */

/* Which planes are shown: places of the leading axes, counted through. A plane in a gap is -1. */
typedef struct planes {
    uint32_t rank; /* leading axes */
    bpl_edges edges[WG_MAX_RANK];
    int64_t count;
} planes;

static planes planes_of(const bpl_value *value, const bpl_style *style)
{
    planes all = {.rank = bpl_rank(value) - 2, .count = 1};
    for (uint32_t axis = 0; axis < all.rank; axis++) {
        all.edges[axis] = bpl_edges_of(value, axis, style);
        all.count *= bpl_edges_count(all.edges[axis]);
    }
    return all;
}

/* The plane in a place; positions of its axes; opens: how many axes begin anew with it. */
static int64_t plane_at(const planes *all, const bpl_value *value, int64_t place, int64_t *positions, uint32_t *opens)
{
    int64_t plane = 0, stride = 1;
    bool gap = false, first = true;
    *opens = 0;
    for (uint32_t axis = all->rank; axis-- > 0;) {
        int64_t count = bpl_edges_count(all->edges[axis]), at = place % count;
        positions[axis] = bpl_edges_at(all->edges[axis], at);
        gap |= positions[axis] < 0;
        first = first && at == 0;
        if (first) ++*opens;
        plane += positions[axis] * stride;
        stride *= bpl_shape(value)[axis];
        place /= count;
    }
    return gap ? -1 : plane;
}

static const char *gap_sign(bool row, bool column) { return row && column ? "⋱" : row ? "⋮" : "…"; }

/* The cells of a plane, rows of columns; -1: a row of ⋮. */
static bool add_plane(grid *g, int64_t plane, int64_t *rows)
{
    uint32_t rank = bpl_rank(g->value);
    bpl_edges down = bpl_edges_of(g->value, rank - 2, g->style), across = bpl_edges_of(g->value, rank - 1, g->style);
    int64_t height = plane < 0 ? 1 : bpl_edges_count(down), width = bpl_edges_count(across);
    for (int64_t r = 0; r < height; r++) {
        int64_t row = plane < 0 ? -1 : bpl_edges_at(down, r);
        if (!bpl_go_on(g->session)) return false;
        for (int64_t c = 0; c < width; c++) {
            int64_t column = bpl_edges_at(across, c);
            bool done = row < 0 || column < 0 ? add_text(g, gap_sign(row < 0, column < 0)) : add_item(g, (plane * down.extent + row) * across.extent + column);
            if (!done) return false;
        }
    }
    *rows = height;
    return true;
}

/* Rank 2 and more: all planes share their columns. */
static bool put_planes(grid *g, base_string *out)
{
    const bpl_value *value = g->value;
    const char *mark = bpl_mark_in(value, g->style);
    uint32_t rank = bpl_rank(value), opens;
    planes all = planes_of(value, g->style);
    int64_t positions[WG_MAX_RANK], rows;
    for (int64_t place = 0; place < all.count; place++)
        if (!add_plane(g, plane_at(&all, value, place, positions, &opens), &rows)) return false;
    if (!measure(g, (uint32_t)bpl_edges_count(bpl_edges_of(value, rank - 1, g->style)))) return false;
    uint32_t row = 0;
    for (int64_t place = 0; place < all.count; place++) {
        int64_t plane = plane_at(&all, value, place, positions, &opens);
        rows = plane < 0 ? 1 : bpl_edges_count(bpl_edges_of(value, rank - 2, g->style));
        uint32_t open = place ? opens : rank - 2, more; /* brackets that open before it, beside the plane's own */
        for (int64_t r = 0; r < rows; r++, row++) {
            if (row) base_string_puts(out, "\n");
            if (row && !r && !*mark) base_string_puts(out, "\n");
            if (*mark && !r) bpl_put_times(out, " ", rank - 2 - open), bpl_put_times(out, "[", open + 1);
            else if (*mark) bpl_put_times(out, " ", rank - 1);
            put_grid_row(g, out, row);
        }
        if (!*mark) continue;
        if (place + 1 < all.count) plane_at(&all, value, place + 1, positions, &more);
        else more = rank - 2;
        bpl_put_times(out, "]", more + 1);
    }
    base_string_puts(out, mark);
    return true;
}

/* What stands in a place of a plane of characters, and how wide it is. */
static int64_t character_at(const grid *g, int64_t plane, int64_t row, int64_t column, base_string *text)
{
    uint32_t rank = bpl_rank(g->value);
    int64_t at = (plane * bpl_shape(g->value)[rank - 2] + row) * bpl_shape(g->value)[rank - 1] + column;
    text->length = 0;
    if (row < 0 || column < 0) base_string_puts(text, gap_sign(row < 0, column < 0));
    else bpl_put_code_point(text, ((const uint32_t *)g->view.data)[at]);
    return text->failed ? 0 : bpl_columns(text->text, text->length);
}

/* Rows of planes of characters; widths [columns]: measured where out is NULL, and then what characters are filled up to. */
static bool put_character_rows(grid *g, base_string *out, base_string *text, uint8_t *widths)
{
    const bpl_value *value = g->value;
    uint32_t rank = bpl_rank(value), opens;
    planes all = planes_of(value, g->style);
    bpl_edges down = bpl_edges_of(value, rank - 2, g->style), across = bpl_edges_of(value, rank - 1, g->style);
    int64_t positions[WG_MAX_RANK];
    for (int64_t place = 0; place < all.count; place++) {
        int64_t plane = plane_at(&all, value, place, positions, &opens), height = plane < 0 ? 1 : bpl_edges_count(down);
        if (out && place) base_string_puts(out, "\n");
        for (int64_t r = 0; r < height; r++) {
            int64_t row = plane < 0 ? -1 : bpl_edges_at(down, r);
            if (!bpl_go_on(g->session)) return false;
            if (out && (place || r)) base_string_puts(out, "\n");
            for (int64_t c = 0; c < bpl_edges_count(across); c++) {
                int64_t wide = character_at(g, plane, row, bpl_edges_at(across, c), text);
                if (!out && wide > widths[c]) widths[c] = (uint8_t)wide;
                if (out) bpl_put_times(out, " ", widths[c] - wide), base_string_put(out, text->text, text->length);
            }
        }
    }
    return !text->failed || bpl_fail_memory(g->session);
}

/* Characters: rows without spaces, and columns below each other where some are wide. */
static bool put_character_planes(grid *g, base_string *out)
{
    size_t columns = (size_t)bpl_edges_count(bpl_edges_of(g->value, bpl_rank(g->value) - 1, g->style));
    base_string text = base_string_new(g->session->allocator);
    uint8_t *widths = base_allocate_zeroed(g->session->allocator, columns);
    bool done = widths ? put_character_rows(g, NULL, &text, widths) && put_character_rows(g, out, &text, widths) : bpl_fail_memory(g->session) != NULL;
    base_free(g->session->allocator, widths, columns);
    base_string_free(&text);
    return done;
}

/* ---- tables of keys ------------------------------------------------------------------------------------------------------------------------------- */

/* "x"⌷ before a plane: the keys or positions that it stands at. */
static bool put_plane_head(grid *g, base_string *out, const planes *all, const int64_t *positions)
{
    for (uint32_t axis = 0; axis < all->rank; axis++) {
        const bpl_axis *of = bpl_axis_of(g->value, axis);
        bpl_value *label = of && of->labels && positions[axis] >= 0 ? of->labels[positions[axis]] : NULL;
        if (axis) base_string_puts(out, " ");
        if (positions[axis] < 0) base_string_puts(out, "…");
        else if (!label) base_string_integer(out, positions[axis]);
        else if (!bpl_put_key(g->session, out, label, true)) return false;
    }
    base_string_puts(out, "⌷\n");
    return true;
}

/* One plane: a line of keys, then rows, each behind its key. */
static bool put_table_plane(grid *g, base_string *out, int64_t plane)
{
    const bpl_value *value = g->value;
    uint32_t rank = bpl_rank(value);
    bpl_edges down = bpl_edges_of(value, rank - 2, g->style), across = bpl_edges_of(value, rank - 1, g->style);
    const bpl_axis *rows = bpl_axis_of(value, rank - 2), *columns = bpl_axis_of(value, rank - 1);
    const char *mark = bpl_mark_in(value, g->style);
    bool heads = columns && columns->labels, side = (rows && rows->labels) || (*mark && heads);
    if (heads) {
        if (side && !add_text(g, mark)) return false;
        for (int64_t c = 0; c < bpl_edges_count(across); c++)
            if (!add_label(g, columns, bpl_edges_at(across, c))) return false;
    }
    for (int64_t r = 0; r < bpl_edges_count(down); r++) {
        int64_t row = bpl_edges_at(down, r);
        if (side && !(row < 0 ? add_text(g, "⋮") : add_label(g, rows, row))) return false;
        for (int64_t c = 0; c < bpl_edges_count(across); c++) {
            int64_t at = bpl_edges_at(across, c);
            if (!(row < 0 || at < 0 ? add_text(g, gap_sign(row < 0, at < 0)) : add_item(g, (plane * down.extent + row) * across.extent + at))) return false;
        }
    }
    if (!measure(g, (uint32_t)bpl_edges_count(across) + side)) return false;
    for (uint32_t row = 0; row < g->count / g->column_count; row++) {
        if (row) base_string_puts(out, "\n");
        put_grid_row(g, out, row);
    }
    if (*mark && !heads) base_string_puts(out, mark);
    g->count = 0;
    g->text.length = 0;
    return true;
}

static bool put_tables(grid *g, base_string *out)
{
    planes all = planes_of(g->value, g->style);
    int64_t positions[WG_MAX_RANK];
    uint32_t opens;
    g->table = true;
    for (int64_t place = 0; place < all.count; place++) {
        int64_t plane = plane_at(&all, g->value, place, positions, &opens);
        if (place) base_string_puts(out, "\n\n");
        if (all.rank && !put_plane_head(g, out, &all, positions)) return false;
        if (plane < 0) base_string_puts(out, "⋮");
        else if (!put_table_plane(g, out, plane)) return false;
    }
    return true;
}

/* ---- the whole --------------------------------------------------------------------------------------------------------------------------------------- */

/* A vector whose items stand side by side without brackets: atoms and texts, two or more. */
static bool stands_bare(const bpl_value *value, const bpl_style *style)
{
    if (bpl_rank(value) != 1 || bpl_volume(value) < 2 || bpl_has_labels(value) || bpl_has_names(value)) return false;
    if (value->type == BPL_NUMBERS) return !*bpl_mark_in(value, style);
    for (int64_t i = 0; value->type == BPL_ITEMS && i < value->items->volume; i++) {
        const bpl_value *item = value->items->at[i];
        bool text = item->type == BPL_CHARACTERS && bpl_rank(item) == 1;
        if (bpl_is_function(item) || !(item->atom || item->type == BPL_RATIONAL || text)) return false;
    }
    return value->type == BPL_ITEMS;
}

static bool put_bare(bpl_session *session, base_string *out, const bpl_value *value, const bpl_style *style)
{
    wg_view view;
    bpl_edges edges = bpl_edges_of(value, 0, style);
    if (value->type != BPL_ITEMS && !bpl_read(session, value, &view)) return false;
    for (int64_t place = 0; place < bpl_edges_count(edges); place++) {
        int64_t at = bpl_edges_at(edges, place);
        if (!(place & 0xfff) && !bpl_go_on(session)) return false;
        if (place) base_string_puts(out, " ");
        if (at < 0) base_string_puts(out, "…");
        else if (value->type != BPL_ITEMS) bpl_put_number(session, out, &view, at, style->full);
        else if (!bpl_put_inline(session, out, value->items->at[at], style)) return false;
    }
    return true;
}

static bool put_characters(bpl_session *session, base_string *out, const bpl_value *value, const bpl_style *style)
{
    wg_view view;
    bpl_edges edges = bpl_edges_of(value, 0, style);
    if (!bpl_read(session, value, &view)) return false;
    for (int64_t place = 0; place < bpl_edges_count(edges); place++) {
        int64_t at = bpl_edges_at(edges, place);
        bpl_put_code_point(out, at < 0 ? 0x2026 : ((const uint32_t *)view.data)[at]);
    }
    return true;
}

static bool put_matrix(bpl_session *session, base_string *out, const bpl_value *value, const bpl_style *style)
{
    grid g;
    bool done = grid_open(&g, session, value, style);
    if (done && bpl_has_labels(value)) done = put_tables(&g, out);
    else if (done && value->type == BPL_CHARACTERS) done = put_character_planes(&g, out);
    else done = done && put_planes(&g, out);
    grid_close(&g);
    return done;
}

bool bpl_put_display(bpl_session *session, base_string *out, const bpl_value *value, const bpl_style *style)
{
    bool array = value->type <= BPL_ITEMS && !value->atom, done;
    if (array && bpl_volume(value) && bpl_rank(value) > 1) done = put_matrix(session, out, value, style);
    else if (array && value->type == BPL_CHARACTERS && bpl_volume(value) && bpl_rank(value) == 1 && !bpl_has_labels(value) && !bpl_has_names(value))
        done = put_characters(session, out, value, style);
    else if (array && stands_bare(value, style)) done = put_bare(session, out, value, style);
    else done = bpl_put_inline(session, out, value, style);
    return done && (!out->failed || bpl_fail_memory(session));
}

/* ---- as the session prefers it -------------------------------------------------------------------------------------------------------------------------- */

static bool render(bpl_session *session, base_string *out, const bpl_value *value, const bpl_style *style)
{
    const bpl_preferences *preferences = &session->preferences;
    if (bpl_is_function(value) && preferences->trees) return bpl_put_function_tree(session, out, value->function, style);
    if (preferences->boxes && (preferences->boxes_within || !session->frame)) return bpl_put_boxes(session, out, value, style);
    return bpl_put_display(session, out, value, style);
}

/* Its lines as they are shown: with names for glyphs where that is preferred. *widest: columns of the widest. */
static bool put_lines(bpl_session *session, base_string *out, const bpl_value *value, const bpl_style *style, int64_t *widest)
{
    base_string plain = base_string_new(session->allocator);
    size_t start = out->length, bytes;
    bool done = render(session, &plain, value, style);
    if (done && plain.length && session->preferences.ascii_names && value->type != BPL_CHARACTERS) bpl_respell(out, plain.text, plain.length, true);
    else if (done && plain.length) base_string_put(out, plain.text, plain.length);
    if (done && (plain.failed || out->failed)) done = false, bpl_fail_memory(session);
    base_string_free(&plain);
    *widest = 0;
    for (size_t at = start; done && at < out->length; at += bytes + 1) {
        bpl_line_of(out->text + at, out->length - at, 0, &bytes);
        int64_t columns = bpl_columns(out->text + at, bytes);
        if (columns > *widest) *widest = columns;
    }
    return done;
}

/* Lines that fit into the terminal: columns are left out in the middle, as few as must be. */
static bool put_fitting(bpl_session *session, base_string *out, const bpl_value *value, bpl_style *style)
{
    int64_t width = session->preferences.width, widest, low = 1, high = width / 2;
    size_t start = out->length;
    bool narrows = width && !bpl_is_function(value);
    if (!put_lines(session, out, value, style, &widest)) return false;
    if (!narrows || widest <= width) return true;
    while (low < high) { /* `low` fits, or nothing does */
        style->edges = (low + high + 1) / 2;
        out->length = start;
        if (!put_lines(session, out, value, style, &widest)) return false;
        if (widest <= width) low = style->edges;
        else high = style->edges - 1;
    }
    style->edges = low, out->length = start;
    return put_lines(session, out, value, style, &widest);
}

bool bpl_display(bpl_session *session, const bpl_value *value, base_string *out)
{
    return put_fitting(session, out, value, &(bpl_style){.full = session->preferences.digits >= 17, .shortens = true});
}

bool bpl_display_whole(bpl_session *session, const bpl_value *value, base_string *out)
{
    int64_t widest;
    return put_lines(session, out, value, &(bpl_style){.full = session->preferences.digits >= 17}, &widest);
}
