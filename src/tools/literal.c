/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "tools/literal.h"

#include <string.h>

#include "base/json.h"
#include "base/tensor.h"

/* ---- reading ---- */

/* The levels of nested arrays by their first items. */
static bool first_shape(const base_json *json, uint32_t most, uint32_t *rank, int64_t *shape, wg_error *error)
{
    for (*rank = 0; json && json->type == BASE_JSON_ARRAY; json = json->first) {
        if (*rank == most) return base_fail(error, WG_SHAPE, "a literal nests deeper than %u levels", most);
        shape[(*rank)++] = json->count;
    }
    return true;
}

/* Every level must agree with the first items before there is room for the items: a short text can claim a huge shape. */
static bool check_shape(const base_json *json, uint32_t rank, const int64_t *shape, wg_error *error)
{
    if (!rank) return json->type != BASE_JSON_ARRAY || base_fail(error, WG_SHAPE, "the rows of a literal differ in depth");
    if (json->type != BASE_JSON_ARRAY || json->count != shape[0])
        return base_fail(error, WG_SHAPE, "the rows of a literal differ in length");
    for (const base_json *item = json->first; item; item = item->next)
        if (!check_shape(item, rank - 1, shape + 1, error)) return false;
    return true;
}

static bool read_number(const base_json *json, wg_kind kind, base_number *number)
{
    static const char *const words[] = {"nan", "inf", "-inf"};
    if (json->type == BASE_JSON_TRUE || json->type == BASE_JSON_FALSE) {
        *number = base_number_from_double(kind, json->type == BASE_JSON_TRUE);
        return true;
    }
    if (json->type == BASE_JSON_STRING && base_kind_is_float(kind))
        for (size_t i = 0; i < 3; i++)
            if (!strcmp(json->text, words[i])) return base_parse_float(words[i], strlen(words[i]), kind, &number->d) > 0;
    if (base_kind_is_float(kind)) return base_json_float(json, kind, &number->d);
    base_number whole;
    if (base_json_integer(json, &whole.i)) return base_number_exact(whole, WG_KIND_I64, kind, number);
    if (base_json_unsigned(json, &whole.u)) return base_number_exact(whole, WG_KIND_U64, kind, number);
    return base_json_float(json, WG_KIND_F64, &whole.d) && base_number_exact(whole, WG_KIND_F64, kind, number);
}

static bool read_items(const base_json *json, wg_kind kind, void *items, int64_t *at, wg_error *error)
{
    if (json->type == BASE_JSON_ARRAY) {
        for (const base_json *item = json->first; item; item = item->next)
            if (!read_items(item, kind, items, at, error)) return false;
        return true;
    }
    base_number number;
    if (!read_number(json, kind, &number)) return base_fail(error, WG_KIND, "an item of the literal is no %s", wg_kind_name(kind));
    base_number_store(kind, items, (*at)++, number);
    return true;
}

wg_tensor *literal_read(const char *text, size_t length, wg_kind kind, wg_error *error)
{
    base_arena arena = base_arena_new(base_allocator(NULL));
    const base_json *json = base_json_read(&arena, "literal", text, length, error);
    wg_kind part = base_kind_part(kind);
    uint32_t rank, pairs = part != kind;
    int64_t shape[WG_MAX_RANK + 1], at = 0;
    bool good = json && first_shape(json, WG_MAX_RANK + pairs, &rank, shape, error) && check_shape(json, rank, shape, error);
    bool is_empty = good && rank && !shape[rank - 1];
    if (good && pairs && !is_empty && (!rank || shape[rank - 1] != 2))
        good = base_fail(error, WG_KIND, "an item of the literal is no %s; write it as [real, imaginary]", wg_kind_name(kind));
    if (good && pairs && !is_empty) rank--;
    wg_tensor *tensor = good ? wg_tensor_new(NULL, kind, rank, shape, NULL, error) : NULL;
    if (tensor && !read_items(json, part, tensor->data, &at, error)) {
        wg_tensor_release(tensor);
        tensor = NULL;
    }
    base_arena_free(&arena);
    return tensor;
}

/* ---- writing ---- */

static void put_item(base_string *text, wg_kind kind, const void *items, int64_t index)
{
    double value = base_kind_is_float(kind) ? base_number_load(kind, items, index).d : 0;
    bool finite = value - value == 0;
    if (!finite) base_string_puts(text, "\"");
    base_string_item(text, kind, items, index);
    if (!finite) base_string_puts(text, "\"");
}

static void put_axis(base_string *text, const wg_view *view, uint32_t axis, int64_t *at)
{
    bool is_pair = base_kind_part(view->kind) != view->kind;
    if (axis == view->rank + is_pair) {
        put_item(text, base_kind_part(view->kind), view->data, (*at)++);
        return;
    }
    base_string_puts(text, "[");
    for (int64_t i = 0, extent = axis < view->rank ? view->shape[axis] : 2; i < extent; i++) {
        if (i) base_string_puts(text, ", ");
        put_axis(text, view, axis + 1, at);
    }
    base_string_puts(text, "]");
}

void literal_put(base_string *text, const wg_view *view)
{
    int64_t at = 0;
    put_axis(text, view, 0, &at);
}
