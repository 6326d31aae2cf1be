/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * ⍕ of one argument: a value as an array of characters, with all digits. Numbers and characters look as they are displayed; a nested item has a
 * space on both sides, and columns are apart by one more where one of them is of numbers alone. */
#include <string.h>

#include "bpl/display.h"
#include "bpl/reader.h"

static bool put_block(bpl_session *session, base_string *out, const bpl_value *value, bool marked);

/* ---- blocks: lines as one text ---------------------------------------------------------------------------------------------------------------- */

static int64_t characters(const char *text, size_t length)
{
    int64_t count = 0;
    for (size_t i = 0; i < length; i++) count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

static void size_of(const char *text, size_t length, int64_t *height, int64_t *width)
{
    *height = 0, *width = 0;
    for (size_t start = 0; start <= length; ++*height) {
        const char *end = memchr(text + start, '\n', length - start);
        size_t stop = end ? (size_t)(end - text) : length;
        int64_t wide = characters(text + start, stop - start);
        if (wide > *width) *width = wide;
        start = stop + 1;
    }
}

/* ---- grids of items ----------------------------------------------------------------------------------------------------------------------------- */

typedef enum form { NUMBER, CHARACTER, NEST } form;

typedef struct cell {
    size_t start, length; /* in the grid's text */
    int64_t height, width, before; /* before: characters before the point of a number */
    uint8_t form;
} cell;

typedef struct column {
    int64_t width, before, behind;
    bool number, nest;
} column;

typedef struct grid {
    bpl_session *session;
    base_string text;
    cell *cells;
    column *columns;
    int64_t rows, across;
} grid;

static bool add_cell(grid *g, int64_t index, const bpl_value *item, bool marked)
{
    cell *one = &g->cells[index];
    bool function = bpl_is_function(item), atom = function || item->type == BPL_RATIONAL || item->atom;
    *one = (cell){.start = g->text.length, .form = (uint8_t)(!atom ? NEST : function || item->type == BPL_CHARACTERS ? CHARACTER : NUMBER)};
    if (function) base_string_puts(&g->text, "⟨");
    if (!put_block(g->session, &g->text, item, marked)) return false;
    if (function) base_string_puts(&g->text, "⟩");
    if (g->text.failed) return bpl_fail_memory(g->session);
    one->length = g->text.length - one->start;
    const char *text = one->length ? g->text.text + one->start : "";
    size_of(text, one->length, &one->height, &one->width);
    const char *point = one->form == NUMBER ? memchr(text, '.', one->length) : NULL;
    one->before = point ? characters(text, (size_t)(point - text)) : one->width;
    return true;
}

/* Widths of columns: a number in a column of nests has a space behind it, everything else there one on both sides. */
static void measure(grid *g)
{
    for (int64_t c = 0; c < g->across; c++) {
        column *of = &g->columns[c];
        for (int64_t r = 0; r < g->rows; r++) {
            const cell *one = &g->cells[r * g->across + c];
            of->number |= one->form == NUMBER;
            of->nest |= one->form == NEST;
        }
        for (int64_t r = 0; r < g->rows; r++) {
            const cell *one = &g->cells[r * g->across + c];
            int64_t width = one->width + (of->nest ? 1 + (one->form != NUMBER) : 0);
            if (width > of->width) of->width = width;
            if (one->before > of->before) of->before = one->before;
            if (one->width - one->before > of->behind) of->behind = one->width - one->before;
        }
        if (of->number && !of->nest && of->before + of->behind > of->width) of->width = of->before + of->behind;
    }
}

/* One line of a cell, as wide as its column. */
static void put_cell_line(const grid *g, base_string *out, const cell *one, const column *of, int64_t line)
{
    size_t bytes;
    const char *text = bpl_line_of(one->length ? g->text.text + one->start : "", one->length, line, &bytes);
    int64_t wide = characters(text, bytes), inner = one->width - wide, before = 0, behind = inner;
    if (of->nest) {
        int64_t room = of->width - one->width, right = 1, left = one->form == NUMBER ? 0 : 1, rest = room - left - right;
        before = left + (of->number ? rest : 0);
        behind += right + (of->number ? 0 : rest);
    } else if (of->number) {
        int64_t more = one->form == NUMBER ? of->behind - (one->width - one->before) : 0;
        before = of->width - one->width - more;
        behind += more;
    } else behind += of->width - one->width;
    bpl_put_times(out, " ", before);
    base_string_put(out, text, bytes);
    bpl_put_times(out, " ", behind);
}

/* Rows of items; `plane` rows are one plane, and planes stand apart by an empty line. */
static void put_rows(const grid *g, base_string *out, int64_t plane)
{
    for (int64_t r = 0; r < g->rows; r++) {
        int64_t height = 0;
        for (int64_t c = 0; c < g->across; c++)
            if (g->cells[r * g->across + c].height > height) height = g->cells[r * g->across + c].height;
        if (r && r % plane == 0) base_string_puts(out, "\n");
        for (int64_t line = 0; line < height; line++) {
            if (r || line) base_string_puts(out, "\n");
            for (int64_t c = 0; c < g->across; c++) {
                const column *of = &g->columns[c];
                bool apart = c && ((of->number && !of->nest) || (of[-1].number && !of[-1].nest));
                if (apart) base_string_puts(out, " ");
                put_cell_line(g, out, &g->cells[r * g->across + c], of, line);
            }
        }
    }
}

static bool put_items(bpl_session *session, base_string *out, const bpl_value *value, bool marked)
{
    const bpl_items *items = value->items;
    const wg_allocator *allocator = session->allocator;
    int64_t across = items->rank ? items->shape[items->rank - 1] : 1, rows = items->volume / across;
    size_t cell_bytes = (size_t)items->volume * sizeof(cell), column_bytes = (size_t)across * sizeof(column);
    grid g = {.session = session, .text = base_string_new(allocator), .rows = rows, .across = across};
    g.cells = base_allocate(allocator, cell_bytes);
    g.columns = base_allocate_zeroed(allocator, column_bytes);
    bool done = g.cells && g.columns ? true : (bpl_fail_memory(session), false);
    for (int64_t i = 0; done && i < items->volume; i++) done = add_cell(&g, i, items->at[i], marked);
    if (done) {
        measure(&g);
        put_rows(&g, out, items->rank > 1 ? items->shape[items->rank - 2] : 1);
    }
    base_free(allocator, g.cells, cell_bytes);
    base_free(allocator, g.columns, column_bytes);
    base_string_free(&g.text);
    return done;
}

/* ---- the text of a value --------------------------------------------------------------------------------------------------------------------------- */

/* A number, or a vector of one: without brackets, and without a float's mark. */
static bool put_one_number(bpl_session *session, base_string *out, const bpl_value *value, const bpl_style *style)
{
    wg_view view;
    if (!bpl_read(session, value, &view)) return false;
    bpl_put_number(session, out, &view, 0, true);
    if (value->class < BPL_CLASS_FLOAT) base_string_puts(out, bpl_mark_in(value, style));
    return true;
}

static bool put_numbers(bpl_session *session, base_string *out, const bpl_value *value, const bpl_style *style)
{
    bpl_value *plain = bpl_with_keys(session, (bpl_value *)value, NULL); /* named axes are not told */
    if (!plain) return false;
    bool one = bpl_rank(value) <= 1 && bpl_volume(value) == 1;
    bool done = one ? put_one_number(session, out, plain, style) : bpl_put_display(session, out, plain, style);
    bpl_release(plain);
    return done;
}

static bool put_block(bpl_session *session, base_string *out, const bpl_value *value, bool marked)
{
    bpl_style style = {.full = true, .unmarked = !marked};
    if (bpl_stack_is_low(session)) return bpl_fail(session, BPL_LIMIT, "this nests too deep to be formatted");
    if (value->type == BPL_CHARACTERS && bpl_is_unit(value)) {
        wg_view view;
        if (!bpl_read(session, value, &view)) return false;
        return bpl_put_code_point(out, *(const uint32_t *)view.data), true;
    }
    if (value->type >= BPL_RATIONAL) return bpl_put_inline(session, out, value, &style);
    if (!bpl_volume(value)) return true;
    if (bpl_has_labels(value)) return bpl_put_display(session, out, value, &style);
    if (value->type == BPL_ITEMS) return put_items(session, out, value, marked);
    if (value->type == BPL_NUMBERS) return put_numbers(session, out, value, &style);
    return bpl_put_display(session, out, value, &style);
}

/* ---- text to an array ------------------------------------------------------------------------------------------------------------------------------- */

static void put_line(uint32_t *items, int64_t width, const char *text, size_t bytes)
{
    int64_t at = 0;
    for (size_t i = 0; i < bytes;) {
        uint32_t length;
        items[at++] = bpl_code_point(text + i, &length);
        i += length;
    }
    while (at < width) items[at++] = ' ';
}

/* Lines as characters: a vector of one line of a vector; planes lose the empty lines between them where each of their rows is one line. */
static bpl_value *array_of(bpl_session *session, const char *text, size_t length, const bpl_value *value)
{
    uint32_t rank = value->type >= BPL_RATIONAL ? 0 : bpl_rank(value), shape_rank = 2;
    int64_t height, width, rows = 1, shape[WG_MAX_RANK];
    size_of(text, length, &height, &width);
    for (uint32_t axis = 0; axis + 1 < rank; axis++) rows *= bpl_shape(value)[axis];
    bool planes = rank > 2 && height == rows + rows / bpl_shape(value)[rank - 2] - 1;
    if (planes) {
        shape_rank = rank;
        memcpy(shape, bpl_shape(value), (rank - 1) * sizeof *shape);
        height = rows;
    } else shape[0] = height;
    shape[shape_rank - 1] = width;
    if (rank < 2 && height == 1) shape_rank = 1, shape[0] = width;
    size_t bytes = (size_t)(height * width) * sizeof(uint32_t);
    uint32_t *items = base_allocate(session->allocator, bytes);
    if (!items) return bpl_fail_memory(session);
    int64_t row = 0;
    for (size_t start = 0; start <= length && row < height;) {
        const char *end = memchr(text + start, '\n', length - start);
        size_t stop = end ? (size_t)(end - text) : length;
        if (!planes || stop > start) put_line(items + width * row++, width, text + start, stop - start);
        start = stop + 1;
    }
    bpl_value *result = bpl_numbers(session, BPL_CLASS_CHARACTER, WG_KIND_CHAR, shape_rank, shape, items);
    base_free(session->allocator, items, bytes);
    return result;
}

/* Nothing to be seen: no characters, of the rank that there was. */
static bpl_value *empty_text(bpl_session *session, const bpl_value *value)
{
    int64_t shape[WG_MAX_RANK];
    uint32_t rank = bpl_rank(value);
    if (value->type == BPL_ITEMS || rank < 2) return bpl_string(session, "", 0);
    memcpy(shape, bpl_shape(value), rank * sizeof *shape);
    if (shape[rank - 1]) shape[rank - 1] = 2 * shape[rank - 1] - 1;
    int64_t volume = 1;
    for (uint32_t axis = 0; axis < rank; axis++) volume *= shape[axis];
    return volume ? bpl_string(session, "", 0) : bpl_numbers(session, BPL_CLASS_CHARACTER, WG_KIND_CHAR, rank, shape, NULL);
}

bpl_value *bpl_format_value(bpl_session *session, bpl_value *value, bool marked)
{
    bool array = value->type <= BPL_ITEMS;
    if (value->type == BPL_CHARACTERS && (bpl_rank(value) || value->atom)) return bpl_keep(value);
    if (array && !bpl_volume(value)) return empty_text(session, value);
    base_string text = base_string_new(session->allocator);
    bpl_value *result = NULL;
    if (put_block(session, &text, value, marked)) result = text.failed ? bpl_fail_memory(session) : array_of(session, text.text ? text.text : "", text.length, value);
    base_string_free(&text);
    return result;
}

bpl_value *bpl_do_format(bpl_session *session, const bpl_call *call) { return bpl_format_value(session, call->right, true); }
