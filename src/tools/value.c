/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Values on the command line: what --feed is given, and how results print. */
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "base/tensor.h"
#include "tools/picture.h"
#include "tools/tools.h"

/* ---- JSON literals ---- */

/* The shape of nested arrays by their first items; every level must agree (checked while the items are read). */
static bool literal_shape(const base_json *json, uint32_t *rank, int64_t *shape, wg_error *error)
{
    for (*rank = 0; json && json->type == BASE_JSON_ARRAY; json = json->first) {
        if (*rank == WG_MAX_RANK) return base_fail(error, WG_SHAPE, "a literal nests deeper than %d axes", WG_MAX_RANK);
        shape[(*rank)++] = json->count;
    }
    return true;
}

static bool read_number(const base_json *json, wg_kind kind, base_number *number)
{
    static const char *const words[] = {"nan", "inf", "-inf"};
    double real;
    if (json->type == BASE_JSON_TRUE || json->type == BASE_JSON_FALSE) {
        *number = base_number_from_double(kind, json->type == BASE_JSON_TRUE);
        return true;
    }
    if (json->type == BASE_JSON_STRING && base_kind_is_float(kind))
        for (size_t i = 0; i < 3; i++)
            if (!strcmp(json->text, words[i])) return base_parse_float(words[i], strlen(words[i]), kind, &number->d) > 0;
    if (base_kind_is_float(kind)) return base_json_float(json, kind, &number->d);
    if (kind == WG_KIND_U64) return base_json_unsigned(json, &number->u);
    int64_t integer;
    if (base_json_integer(json, &integer)) {
        *number = base_number_convert((base_number){.i = integer}, WG_KIND_I64, kind, false);
        base_number back = base_number_convert(*number, kind, WG_KIND_I64, false);
        return back.i == integer;
    }
    if (!base_json_float(json, WG_KIND_F64, &real)) return false;
    *number = base_number_from_double(kind, real);
    return base_number_to_double(kind, *number) == real;
}

static bool read_items(const base_json *json, uint32_t depth, uint32_t rank, const int64_t *shape, wg_kind kind, void *items, int64_t *at, wg_error *error)
{
    if (depth < rank) {
        if (json->type != BASE_JSON_ARRAY || json->count != shape[depth]) return base_fail(error, WG_SHAPE, "the rows of a literal differ in length");
        for (const base_json *item = json->first; item; item = item->next)
            if (!read_items(item, depth + 1, rank, shape, kind, items, at, error)) return false;
        return true;
    }
    base_number number;
    if (json->type == BASE_JSON_ARRAY) return base_fail(error, WG_SHAPE, "the rows of a literal differ in depth");
    if (!read_number(json, kind, &number)) return base_fail(error, WG_KIND, "an item of the literal is no %s", wg_kind_name(kind));
    base_number_store(kind, items, (*at)++, number);
    return true;
}

static wg_tensor *read_literal(const char *value, wg_kind kind, wg_error *error)
{
    base_arena arena = base_arena_new(tool_allocator());
    const base_json *json = base_json_read(&arena, "literal", value, strlen(value), error);
    uint32_t rank;
    int64_t shape[WG_MAX_RANK], at = 0;
    wg_tensor *tensor = NULL;
    if (json && literal_shape(json, &rank, shape, error) && (tensor = wg_tensor_new(NULL, kind, rank, shape, NULL, error)) &&
        !read_items(json, 0, rank, shape, kind, tensor->data, &at, error)) {
        wg_tensor_release(tensor);
        tensor = NULL;
    }
    base_arena_free(&arena);
    return tensor;
}

/* ---- files ---- */

static bool has_suffix(const char *value, const char *suffix)
{
    size_t n = strlen(value), m = strlen(suffix);
    return n > m && !strcmp(value + n - m, suffix);
}

/* A table of numbers: [rows, columns], or [rows] of its only column. */
static wg_tensor *read_csv(const char *path, wg_error *error)
{
    base_file file;
    base_csv table;
    if (!base_file_read(tool_allocator(), path, SIZE_MAX, &file, error)) return NULL;
    bool good = base_csv_read(&table, tool_allocator(), path, file.bytes, file.length, error);
    base_file_close(&file);
    if (!good) return NULL;
    wg_tensor *tensor = NULL;
    for (uint32_t c = 0; good && c < table.column_count; c++)
        if (table.columns[c].type == BASE_CSV_TEXT) good = base_fail(error, WG_KIND, "%s: column %s holds text, not numbers", path, table.columns[c].name);
    if (good && table.column_count == 1) tensor = wg_tensor_retain(table.columns[0].values);
    else if (good && (tensor = wg_tensor_new(NULL, WG_KIND_F64, 2, (int64_t[]){table.rows, table.column_count}, NULL, error)))
        for (int64_t r = 0; r < table.rows; r++)
            for (uint32_t c = 0; c < table.column_count; c++) {
                wg_tensor *column = table.columns[c].values;
                ((double *)tensor->data)[r * table.column_count + c] = base_number_to_double(column->kind, base_number_load(column->kind, column->data, r));
            }
    base_csv_free(&table);
    return tensor;
}

/* The items as another kind, where every one of them is that kind's too. */
static wg_tensor *converted(wg_tensor *tensor, wg_kind kind, const char *value, wg_error *error)
{
    if (tensor->kind == kind) return tensor;
    wg_tensor *other = wg_tensor_new(NULL, kind, tensor->rank, tensor->shape, NULL, error);
    bool narrows = base_kind_is_float(tensor->kind) && base_kind_is_float(kind); /* rounding is what a narrower float is for */
    for (int64_t i = 0; other && i < tensor->volume; i++) {
        base_number item = base_number_load(tensor->kind, tensor->data, i), to = base_number_convert(item, tensor->kind, kind, false);
        if (!narrows && base_number_to_double(kind, to) != base_number_to_double(tensor->kind, item)) {
            base_fail(error, WG_KIND, "%s: item %lld does not fit kind %s; convert the file", value, (long long)i, wg_kind_name(kind));
            wg_tensor_release(other);
            other = NULL;
            break;
        }
        base_number_store(kind, other->data, i, to);
    }
    wg_tensor_release(tensor);
    return other;
}

/* The same items under the wanted shape, where volumes agree and the axes differ by extents of 1 alone. */
static wg_tensor *reshaped(wg_tensor *tensor, uint32_t rank, const int64_t *shape, const char *value, wg_error *error)
{
    uint32_t i = 0, j = 0;
    while (i < tensor->rank || j < rank) {
        if (i < tensor->rank && j < rank && tensor->shape[i] == shape[j]) i++, j++;
        else if (i < tensor->rank && tensor->shape[i] == 1) i++;
        else if (j < rank && shape[j] == 1) j++;
        else break;
    }
    if (i == tensor->rank && j == rank) {
        wg_tensor *other = wg_tensor_new(NULL, tensor->kind, rank, shape, tensor->data, error);
        wg_tensor_release(tensor);
        return other;
    }
    base_fail(error, WG_SHAPE, "%s is %s; the input is %s (bind its extents by --extent)", value, BASE_SHAPE_TEXT(tensor->rank, tensor->shape), BASE_SHAPE_TEXT(rank, shape));
    wg_tensor_release(tensor);
    return NULL;
}

wg_tensor *tool_value_read(const char *value, wg_kind kind, uint32_t rank, const int64_t *shape, wg_error *error)
{
    wg_tensor *tensor;
    if (has_suffix(value, ".npy")) tensor = wg_npy_read(NULL, value, error);
    else if (has_suffix(value, ".png") || has_suffix(value, ".jpg") || has_suffix(value, ".jpeg")) tensor = picture_read(value, error);
    else if (has_suffix(value, ".csv")) tensor = read_csv(value, error);
    else tensor = read_literal(value, kind, error);
    if (tensor) tensor = converted(tensor, kind, value, error);
    if (tensor && shape) tensor = reshaped(tensor, rank, shape, value, error);
    return tensor;
}

/* ---- feeds ---- */

static bool read_feed(const wg_network *network, const char *given, const wg_binding *bindings, uint32_t count, wg_symbol *input, wg_tensor **tensor, wg_error *error)
{
    const char *equals = strchr(given, '=');
    char name[256];
    size_t length = equals ? (size_t)(equals - given) : 0;
    if (!length || length >= sizeof name || !equals[1]) return base_fail(error, WG_ARGUMENT, "--feed needs NAME=VALUE, not '%s'", given);
    memcpy(name, given, length);
    name[length] = 0;
    *input = tool_symbol_called(network, name);
    wg_node_facts facts;
    if (input->position == WG_NONE || !wg_network_node(network, input->position, &facts) || facts.op != WG_OP_Input)
        return base_fail(error, WG_NAME, "--feed: the program has no input %s", name);
    int64_t shape[WG_MAX_RANK];
    if (!wg_network_bound_shape(network, *input, bindings, count, shape, error)) return false;
    *tensor = tool_value_read(equals + 1, facts.kind, facts.rank, shape, error);
    if (!*tensor && error) base_error_note(error, "in --feed %s", name);
    return *tensor != NULL;
}

bool tool_feeds_read(const tool_call *call, const wg_network *network, const wg_binding *bindings, uint32_t binding_count, tool_feeds *feeds, wg_error *error)
{
    uint32_t count = 0;
    while (tool_value_at(call, "feed", count)) count++;
    *feeds = (tool_feeds){.feeds = calloc(count + 1, sizeof *feeds->feeds), .tensors = calloc(count + 1, sizeof *feeds->tensors)};
    bool good = (feeds->feeds && feeds->tensors) || base_fail_memory(error);
    for (uint32_t i = 0; good && i < count; i++) {
        wg_symbol input;
        good = read_feed(network, tool_value_at(call, "feed", i), bindings, binding_count, &input, &feeds->tensors[i], error);
        if (!good) break;
        feeds->feeds[i] = (wg_feed){input, wg_tensor_view(feeds->tensors[i])};
        feeds->count = i + 1;
    }
    if (!good) tool_feeds_free(feeds);
    return good;
}

void tool_feeds_free(tool_feeds *feeds)
{
    for (uint32_t i = 0; feeds->tensors && i < feeds->count; i++) wg_tensor_release(feeds->tensors[i]);
    free(feeds->feeds);
    free(feeds->tensors);
    *feeds = (tool_feeds){0};
}

/* ---- results ---- */

static void put_item(base_string *text, wg_kind kind, const void *items, int64_t index)
{
    double value = base_kind_is_float(kind) ? base_number_load(kind, items, index).d : 0;
    bool finite = value - value == 0;
    if (!finite) base_string_puts(text, "\"");
    base_string_item(text, kind, items, index);
    if (!finite) base_string_puts(text, "\"");
}

/* Views that are read here are contiguous. */
static void put_axis(base_string *text, const wg_view *view, uint32_t axis, int64_t *at)
{
    if (axis == view->rank) {
        put_item(text, view->kind, view->data, (*at)++);
        return;
    }
    base_string_puts(text, "[");
    for (int64_t i = 0; i < view->shape[axis]; i++) {
        if (i) base_string_puts(text, ", ");
        put_axis(text, view, axis + 1, at);
    }
    base_string_puts(text, "]");
}

void tool_put_json(base_string *text, const wg_view *view)
{
    int64_t at = 0;
    put_axis(text, view, 0, &at);
}

#define BRIEF_ITEMS 12

void tool_put_brief(base_string *text, const char *name, const wg_view *view)
{
    int64_t volume = 1;
    for (uint32_t axis = 0; axis < view->rank; axis++) volume *= view->shape[axis];
    base_string_printf(text, "%-16s %s %s ", name, wg_kind_name(view->kind), BASE_SHAPE_TEXT(view->rank, view->shape));
    for (int64_t i = 0; i < volume && i < BRIEF_ITEMS; i++) {
        base_string_puts(text, " ");
        base_string_item(text, view->kind, view->data, i);
    }
    if (volume > BRIEF_ITEMS) base_string_printf(text, " .. (%lld items)", (long long)volume);
    base_string_puts(text, "\n");
}

const char *tool_result_name(const wg_network *network, wg_symbol symbol, char *text)
{
    wg_node_facts facts;
    if (wg_network_node(network, symbol.position, &facts) && facts.name) return facts.name;
    snprintf(text, 16, "t%u", symbol.position);
    return text;
}

wg_symbol tool_symbol_called(const wg_network *network, const char *word)
{
    wg_symbol symbol = wg_network_symbol(network, word);
    int64_t number;
    size_t length = strlen(word);
    if (symbol.position != WG_NONE || word[0] != 't' || length < 2 || base_parse_integer(word + 1, length - 1, &number) != length - 1) return symbol;
    wg_node_facts facts;
    bool is_unnamed = number >= 0 && number < WG_NONE && wg_network_node(network, (uint32_t)number, &facts) && !facts.name;
    return is_unnamed ? wg_network_symbol_at(network, (uint32_t)number) : symbol;
}

bool tool_symbols_read(const char *option, const char *list, const wg_network *network, wg_symbol *symbols, uint32_t most, uint32_t *count, wg_error *error)
{
    for (*count = 0; list && *list;) {
        size_t length = strcspn(list, ",");
        char word[256];
        snprintf(word, sizeof word, "%.*s", (int)(length < 255 ? length : 255), list);
        wg_symbol symbol = tool_symbol_called(network, word);
        if (symbol.position == WG_NONE) return base_fail(error, WG_NAME, "--%s: the program has no node %s", option, word);
        if (*count == most) return base_fail(error, WG_ARGUMENT, "--%s names more than %u nodes", option, most);
        symbols[(*count)++] = symbol;
        list += length + (list[length] == ',');
    }
    return true;
}
