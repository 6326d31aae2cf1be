/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Any bytes as JSON. What must hold: a failure has a place; what reads is the same when written and read again, and every item of an
 * object is found under its key. */
#include <string.h>

#include "budget.h"
#include "base/json.h"

static const char *const words[] = {"null", "false", "true"};

static void put(base_string *text, const base_json *json)
{
    char open = json->type == BASE_JSON_ARRAY ? '[' : '{', close = json->type == BASE_JSON_ARRAY ? ']' : '}';
    switch (json->type) {
    case BASE_JSON_NULL:
    case BASE_JSON_FALSE:
    case BASE_JSON_TRUE: base_string_puts(text, words[json->type]); return;
    case BASE_JSON_NUMBER: base_string_put(text, json->text, json->length); return;
    case BASE_JSON_STRING: base_json_put_string(text, json->text, json->length); return;
    case BASE_JSON_ARRAY:
    case BASE_JSON_OBJECT: break;
    }
    base_string_put(text, &open, 1);
    for (const base_json *item = json->first; item; item = item->next) {
        if (item != json->first) base_string_puts(text, ",");
        if (item->key) {
            base_json_put_string(text, item->key, item->key_length);
            base_string_puts(text, ":");
        }
        put(text, item);
    }
    base_string_put(text, &close, 1);
}

static void demand_text(const char *left, size_t left_length, const char *right, size_t right_length)
{
    demand(left_length == right_length && (!left_length || !memcmp(left, right, left_length)));
}

static void demand_same(const base_json *left, const base_json *right)
{
    demand(left->type == right->type && left->count == right->count && left->position == right->position && !left->key == !right->key);
    if (left->type == BASE_JSON_NUMBER || left->type == BASE_JSON_STRING)
        demand_text(left->text, left->length, right->text, right->length);
    if (left->key) demand_text(left->key, left->key_length, right->key, right->key_length);
    const base_json *a = left->first, *b = right->first;
    uint32_t items = 0;
    for (; a && b; a = a->next, b = b->next, items++) {
        demand(a->position == items);
        if (a->key && strlen(a->key) == a->key_length) demand(base_json_find(left, a->key) == a);
        demand_same(a, b);
    }
    demand(!a && !b && items == left->count);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    budget b = {0};
    wg_allocator allocator = budget_allocator(&b);
    base_arena arena = base_arena_new(&allocator);
    base_string text = base_string_new(&allocator);
    wg_error error = {.code = WG_OK};
    const base_json *json = base_json_read(&arena, "fuzz.json", (const char *)bytes, length, &error);
    if (json) {
        put(&text, json);
        const base_json *again = text.failed ? NULL : base_json_read(&arena, "written", text.text, text.length, &error);
        demand(again || text.failed || error.code == WG_MEMORY);
        if (again) demand_same(json, again);
    } else {
        demand_error(&error);
        demand(error.line > 0);
    }
    base_string_free(&text);
    base_arena_free(&arena);
    demand(b.used == 0);
    return 0;
}
