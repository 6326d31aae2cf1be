/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Display as an option: boxes around arrays, functions as trees. The border of a box tells what is in it: → a last axis with items, ⊖ one
 * without; ↓ and ⌽ the same of each axis before it; below ~ numbers, their mark where they have one, + atoms of several kinds, ∊ nested items, nothing characters. */
#include <string.h>

#include "bpl/display.h"

/* ---- blocks of lines -------------------------------------------------------------------------------------------------------------------------------- */

static void size_of(const base_string *text, int64_t *height, int64_t *width)
{
    *height = 1, *width = 0;
    for (size_t i = 0; i < text->length; i++) *height += text->text[i] == '\n';
    for (int64_t line = 0; line < *height; line++) {
        size_t bytes;
        const char *at = bpl_line_of(text->text ? text->text : "", text->length, line, &bytes);
        int64_t wide = bpl_columns(at, bytes);
        if (wide > *width) *width = wide;
    }
}

/* A line of a block, filled up with spaces. */
static void put_line(base_string *out, const base_string *block, int64_t line, int64_t width)
{
    size_t bytes;
    const char *text = bpl_line_of(block->text ? block->text : "", block->length, line, &bytes);
    base_string_put(out, text, bytes);
    bpl_put_times(out, " ", width - bpl_columns(text, bytes));
}

/* ---- boxes ------------------------------------------------------------------------------------------------------------------------------------------- */

static void put_box(base_string *out, const bpl_value *value, const base_string *inside, const char *kind)
{
    int64_t height, width;
    uint32_t rank = bpl_rank(value);
    const int64_t *shape = bpl_shape(value);
    size_of(inside, &height, &width);
    if (width < 1) width = 1;
    base_string_puts(out, shape[rank - 1] ? "┌→" : "┌⊖");
    bpl_put_times(out, "─", width - 1);
    base_string_puts(out, "┐\n");
    for (int64_t line = 0; line < height; line++) {
        bool axis = line + 1 < (int64_t)rank;
        base_string_puts(out, !axis ? "│" : shape[line] ? "↓" : "⌽");
        put_line(out, inside, line, width);
        base_string_puts(out, "│\n");
    }
    base_string_printf(out, "└%s", kind);
    bpl_put_times(out, "─", width - bpl_columns(kind, strlen(kind)));
    base_string_puts(out, "┘");
}

/* Cells of a nested array side by side: each a text of lines, of a gap … . */
typedef struct cells {
    const bpl_value *value;
    base_string *blocks;
    bpl_edges edges;             /* of the last axis */
    int64_t rows, across, plane; /* rows of a plane: planes stand apart; places of a row */
    int64_t *widths;
} cells;

/* The item in a place; -1: a gap. */
static int64_t item_at(const cells *all, int64_t place)
{
    int64_t at = bpl_edges_at(all->edges, place % all->across);
    return at < 0 ? -1 : place / all->across * all->edges.extent + at;
}

static bool is_number(const bpl_value *value, int64_t index)
{
    if (index < 0) return true;
    if (value->type != BPL_ITEMS) return value->type == BPL_NUMBERS;
    const bpl_value *item = value->items->at[index];
    return item->type == BPL_RATIONAL || (item->type == BPL_NUMBERS && item->atom);
}

/* An atom: a character without its quotes. */
static bool put_atom(bpl_session *session, base_string *out, const bpl_value *item, const bpl_style *style)
{
    wg_view view;
    if (item->type != BPL_CHARACTERS) return bpl_put_display(session, out, item, style);
    if (!bpl_read(session, item, &view)) return false;
    return bpl_put_code_point(out, *(const uint32_t *)view.data), true;
}

/* A block with a text before its first line. */
static void beside(base_string *out, const base_string *head, const base_string *block)
{
    int64_t height, width, indent = bpl_columns(head->text, head->length);
    size_of(block, &height, &width);
    for (int64_t line = 0; line < height; line++) {
        if (line) base_string_puts(out, "\n"), bpl_put_times(out, " ", indent);
        else base_string_put(out, head->text, head->length);
        put_line(out, block, line, 0);
    }
}

static bool put_boxed(bpl_session *session, base_string *out, const bpl_value *value, const bpl_style *style);

static bool put_cell(bpl_session *session, base_string *out, const bpl_value *value, int64_t index, const bpl_style *style)
{
    const bpl_axis *axis = bpl_rank(value) == 1 ? bpl_axis_of(value, 0) : NULL;
    base_string block = base_string_new(session->allocator), head = base_string_new(session->allocator);
    bpl_value *item = bpl_item(session, value, index);
    bool atom = item && (bpl_is_function(item) || item->type == BPL_RATIONAL || item->atom);
    bool done = item && (atom ? put_atom(session, &block, item, style) : put_boxed(session, &block, item, style));
    if (done && axis && axis->labels && axis->labels[index]) {
        done = bpl_put_key(session, &head, axis->labels[index], false);
        base_string_puts(&head, ":");
        if (done) beside(out, &head, &block);
    } else if (done) base_string_put(out, block.text ? block.text : "", block.length);
    bpl_release(item);
    base_string_free(&block);
    base_string_free(&head);
    return done;
}

static void put_cells(const cells *all, base_string *out)
{
    for (int64_t row = 0; row < all->rows; row++) {
        int64_t height = 1, tall, wide;
        for (int64_t c = 0; c < all->across; c++) {
            size_of(&all->blocks[row * all->across + c], &tall, &wide);
            if (tall > height) height = tall;
        }
        if (row && row % all->plane == 0) base_string_puts(out, "\n");
        for (int64_t line = 0; line < height; line++) {
            if (row || line) base_string_puts(out, "\n");
            base_string_puts(out, " ");
            for (int64_t c = 0; c < all->across; c++) {
                const base_string *block = &all->blocks[row * all->across + c];
                int64_t before = is_number(all->value, item_at(all, row * all->across + c)) ? all->widths[c] - bpl_columns(block->text ? block->text : "", block->length) : 0;
                bpl_put_times(out, " ", (c > 0) + before);
                put_line(out, block, line, all->widths[c] - before);
            }
            base_string_puts(out, " ");
        }
    }
}

static bool put_nested(bpl_session *session, base_string *out, const bpl_value *value, const bpl_style *style)
{
    const wg_allocator *allocator = session->allocator;
    bpl_edges edges = bpl_edges_of(value, bpl_rank(value) - 1, style);
    int64_t rows = bpl_volume(value) / edges.extent, across = bpl_edges_count(edges), volume = rows * across, tall, wide;
    cells all = {.value = value, .edges = edges, .rows = rows, .across = across, .plane = bpl_rank(value) > 1 ? bpl_shape(value)[bpl_rank(value) - 2] : 1};
    size_t block_bytes = (size_t)volume * sizeof *all.blocks, width_bytes = (size_t)across * sizeof *all.widths;
    all.blocks = base_allocate_zeroed(allocator, block_bytes);
    all.widths = base_allocate_zeroed(allocator, width_bytes);
    bool done = all.blocks && all.widths ? true : (bpl_fail_memory(session), false);
    for (int64_t i = 0; done && i < volume; i++) {
        all.blocks[i] = base_string_new(allocator);
        int64_t item = item_at(&all, i);
        if (item < 0) base_string_puts(&all.blocks[i], "…");
        else done = bpl_go_on(session) && put_cell(session, &all.blocks[i], value, item, style);
        if (done && all.blocks[i].failed) done = false, bpl_fail_memory(session);
        size_of(&all.blocks[i], &tall, &wide);
        if (wide > all.widths[i % across]) all.widths[i % across] = wide;
    }
    if (done) put_cells(&all, out);
    for (int64_t i = 0; all.blocks && i < volume; i++)
        if (all.blocks[i].allocator) base_string_free(&all.blocks[i]);
    base_free(allocator, all.blocks, block_bytes);
    base_free(allocator, all.widths, width_bytes);
    return done;
}

/* An empty array with one position on each axis that has none, so that its kind is seen. */
static bpl_value *filled(bpl_session *session, const bpl_value *value)
{
    int64_t shape[WG_MAX_RANK];
    for (uint32_t axis = 0; axis < bpl_rank(value); axis++) shape[axis] = bpl_shape(value)[axis] ? bpl_shape(value)[axis] : 1;
    bpl_value *fill = bpl_fill(session, value), *item = fill && value->type == BPL_ITEMS ? bpl_enclose(session, fill) : bpl_keep(fill);
    bpl_value *sizes = item ? bpl_integers(session, shape, bpl_rank(value)) : NULL;
    bpl_value *whole = sizes ? bpl_dyad(session, BPL_GLYPH_RESHAPE, sizes, item) : NULL;
    bpl_release(fill), bpl_release(item), bpl_release(sizes);
    return whole;
}

/* Whether items stand in it as blocks of their own: nested ones, and those of a record. */
static bool is_nested(const bpl_value *value)
{
    bool atoms = value->type == BPL_ITEMS && bpl_rank(value) > 1;
    for (int64_t i = 0; atoms && i < value->items->volume; i++) atoms = value->items->at[i]->type == BPL_RATIONAL || value->items->at[i]->atom;
    return (value->type == BPL_ITEMS && !(atoms && value->items->volume)) || (bpl_has_labels(value) && bpl_rank(value) == 1);
}

/* A vector of numbers, without brackets. */
static bool put_numbers(bpl_session *session, base_string *out, const bpl_value *value, const bpl_style *style)
{
    wg_view view;
    bpl_edges edges = bpl_edges_of(value, 0, style);
    if (!bpl_read(session, value, &view)) return false;
    for (int64_t place = 0; place < bpl_edges_count(edges); place++) {
        int64_t at = bpl_edges_at(edges, place);
        if (!(place & 0xfff) && !bpl_go_on(session)) return false;
        if (place) base_string_puts(out, " ");
        if (at < 0) base_string_puts(out, "…");
        else bpl_put_number(session, out, &view, at, style->full);
    }
    return true;
}

static bool put_inside(bpl_session *session, base_string *out, const bpl_value *value, const bpl_style *style)
{
    bpl_style plain = *style;
    plain.unmarked = true;
    if (bpl_volume(value)) {
        if (is_nested(value)) return put_nested(session, out, value, style);
        return value->type == BPL_NUMBERS && bpl_rank(value) == 1 ? put_numbers(session, out, value, style) : bpl_put_display(session, out, value, &plain);
    }
    bpl_value *whole = filled(session, value);
    bool done = whole && put_inside(session, out, whole, style);
    bpl_release(whole);
    return done;
}

static bool is_boxed(const bpl_value *value)
{
    if (value->type >= BPL_RATIONAL || value->atom || !bpl_rank(value)) return false;
    for (int64_t i = 0; value->type == BPL_ITEMS && i < value->items->volume; i++)
        if (bpl_is_function(value->items->at[i])) return false;
    return true;
}

static bool put_boxed(bpl_session *session, base_string *out, const bpl_value *value, const bpl_style *style)
{
    if (!is_boxed(value)) return bpl_put_display(session, out, value, style);
    if (bpl_stack_is_low(session)) return bpl_fail(session, BPL_LIMIT, "this nests too deep to be shown in boxes");
    if (style->shortens && is_nested(value) && bpl_volume(value) > session->preferences.shown) return bpl_put_display(session, out, value, style);
    base_string inside = base_string_new(session->allocator);
    const char *mark = bpl_mark_in(value, style);
    bool done = put_inside(session, &inside, value, style);
    if (done && inside.failed) done = false, bpl_fail_memory(session);
    if (done) put_box(out, value, &inside, is_nested(value) ? "∊" : value->type == BPL_CHARACTERS ? "─" : value->type == BPL_ITEMS ? "+" : *mark ? mark : "~");
    base_string_free(&inside);
    return done && (!out->failed || bpl_fail_memory(session));
}

bool bpl_put_boxes(bpl_session *session, base_string *out, const bpl_value *value, const bpl_style *style)
{
    bool numbers = value->type == BPL_NUMBERS && bpl_rank(value) < 2; /* need none by themselves */
    return numbers ? bpl_put_display(session, out, value, style) : put_boxed(session, out, value, style);
}

/* ---- trees -------------------------------------------------------------------------------------------------------------------------------------------- */

/* What a function is called in a tree, and its parts, left to right. */
static const char *parts_of(const bpl_function *function, const bpl_value *parts[3])
{
    parts[0] = function->left, parts[1] = function->right, parts[2] = NULL;
    switch ((bpl_function_form)function->form) {
    case BPL_DERIVED: return bpl_operators[function->row].glyph;
    case BPL_BOUND: return "↣";
    case BPL_ATOP: return "∘";
    case BPL_FORK: return parts[1] = function->third, parts[2] = function->right, "fork";
    case BPL_MARKED: return bpl_marks[function->row].text;
    case BPL_RANKED: return "⍤";
    case BPL_INVERSE: return "⁻";
    case BPL_AXIS: return "⍠";
    default: return NULL;
    }
}

static bool put_tree(bpl_session *session, base_string *out, const bpl_value *part, base_string *indent, const bpl_style *style)
{
    const bpl_value *parts[3] = {NULL, NULL, NULL};
    const char *name = part->type == BPL_FUNCTION || part->type == BPL_OPERATOR ? parts_of(part->function, parts) : NULL;
    if (!name) return bpl_put_inline(session, out, part, style);
    if (bpl_stack_is_low(session)) return bpl_fail(session, BPL_LIMIT, "this nests too deep to be shown as a tree");
    base_string_puts(out, name);
    for (int i = 0; i < 3 && parts[i]; i++) {
        bool last = i == 2 || !parts[i + 1];
        size_t before = indent->length;
        base_string_printf(out, "\n%s%s", indent->text ? indent->text : "", last ? "└─ " : "├─ ");
        base_string_puts(indent, last ? "   " : "│  ");
        bool done = put_tree(session, out, parts[i], indent, style);
        indent->length = before;
        if (indent->text) indent->text[before] = 0;
        if (!done) return false;
    }
    return true;
}

bool bpl_put_function_tree(bpl_session *session, base_string *out, const bpl_function *function, const bpl_style *style)
{
    base_string indent = base_string_new(session->allocator);
    bpl_value *value = function->role >= BPL_ROLE_OPERATOR1 ? bpl_of_operator(session, bpl_function_keep((bpl_function *)function))
                                                            : bpl_of_function(session, bpl_function_keep((bpl_function *)function));
    bool done = value && put_tree(session, out, value, &indent, style);
    if (done && (indent.failed || out->failed)) done = false, bpl_fail_memory(session);
    bpl_release(value);
    base_string_free(&indent);
    return done;
}
