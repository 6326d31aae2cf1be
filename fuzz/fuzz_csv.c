/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Any bytes as a table. What must hold: a failure has a place; what reads has the same names, rows, texts and numbers when written and
 * read again. */
#include <string.h>

#include "budget.h"
#include "base/csv.h"
#include "base/scalar.h"
#include "base/tensor.h"

static void put_quoted(base_string *text, const char *from, size_t length)
{
    base_string_puts(text, "\"");
    for (size_t i = 0; i < length; i++) base_string_put(text, from[i] == '"' ? "\"\"" : from + i, from[i] == '"' ? 2 : 1);
    base_string_puts(text, "\"");
}

static void put_table(base_string *text, const base_csv *table)
{
    for (int64_t row = -1; row < table->rows; row++)
        for (uint32_t c = 0; c < table->column_count; c++) {
            const base_csv_column *column = &table->columns[c];
            if (row < 0) put_quoted(text, column->name, strlen(column->name));
            else if (column->texts) put_quoted(text, column->texts[row].text, column->texts[row].length);
            else base_string_item(text, column->values->kind, column->values->data, row);
            base_string_puts(text, c + 1 < table->column_count ? "," : "\n");
        }
}

/* Whole numbers are fewer digits of the same f64. */
static void demand_same_number(const base_csv_column *left, const base_csv_column *right, int64_t row)
{
    demand(left->values && right->values);
    wg_kind a = left->values->kind, b = right->values->kind;
    base_number x = base_number_load(a, left->values->data, row), y = base_number_load(b, right->values->data, row);
    if (a == WG_KIND_I64) demand(b == WG_KIND_I64 && x.i == y.i);
    double u = base_number_to_double(a, x), v = base_number_to_double(b, y);
    demand(u == v || (u != u && v != v));
}

static void demand_same_text(const base_csv_text *left, const base_csv_text *right)
{
    demand(left->length == right->length && !memcmp(left->text, right->text, left->length));
}

static void demand_same(const base_csv *left, const base_csv *right)
{
    demand(left->rows == right->rows && left->column_count == right->column_count);
    for (uint32_t c = 0; c < left->column_count; c++) {
        const base_csv_column *a = &left->columns[c], *b = &right->columns[c];
        demand(!strcmp(a->name, b->name) && base_csv_find(left, a->name) == a && !a->texts == !b->texts);
        for (int64_t row = 0; row < left->rows; row++)
            if (a->texts) demand_same_text(&a->texts[row], &b->texts[row]);
            else demand_same_number(a, b, row);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    budget b = {0};
    wg_allocator allocator = budget_allocator(&b);
    wg_error error = {.code = WG_OK};
    base_csv table, again;
    if (base_csv_read(&table, &allocator, "fuzz.csv", bytes, length, &error)) {
        base_string text = base_string_new(&allocator);
        put_table(&text, &table);
        bool good = !text.failed && base_csv_read(&again, &allocator, "written", text.text, text.length, &error);
        demand(good || text.failed || error.code == WG_MEMORY);
        if (good) {
            demand_same(&table, &again);
            base_csv_free(&again);
        }
        base_string_free(&text);
        base_csv_free(&table);
    } else {
        demand_error(&error);
        demand(error.line > 0 || error.code == WG_MEMORY);
    }
    demand(b.used == 0);
    return 0;
}
