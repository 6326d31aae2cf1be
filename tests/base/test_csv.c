/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * CSV tables: RFC 4180's forms, the types of columns, and what is refused on which line. */
#include "base/csv.h"
#include "reading.h"

static bool read_csv(const wg_allocator *allocator, const char *name, const void *bytes, size_t length, wg_error *error)
{
    base_csv table;
    if (!base_csv_read(&table, allocator, name, bytes, length, error)) return false;
    base_csv_free(&table);
    return true;
}

static base_csv good(const char *text)
{
    base_csv table;
    wg_error error = {0};
    if (!base_csv_read(&table, base_allocator(NULL), "good.csv", text, strlen(text), &error)) fail_msg("%s", error.message);
    return table;
}

static const int64_t *integers(const base_csv *table, const char *name)
{
    const base_csv_column *column = base_csv_find(table, name);
    assert_non_null(column);
    assert_int_equal(column->type, BASE_CSV_INTEGER);
    assert_int_equal(wg_tensor_kind(column->values), WG_KIND_I64);
    assert_int_equal(wg_tensor_volume(column->values), table->rows);
    assert_null(column->texts);
    return wg_tensor_data(column->values);
}

static const double *numbers(const base_csv *table, const char *name)
{
    const base_csv_column *column = base_csv_find(table, name);
    assert_non_null(column);
    assert_int_equal(column->type, BASE_CSV_NUMBER);
    assert_int_equal(wg_tensor_kind(column->values), WG_KIND_F64);
    return wg_tensor_data(column->values);
}

static const base_csv_text *texts(const base_csv *table, const char *name)
{
    const base_csv_column *column = base_csv_find(table, name);
    assert_non_null(column);
    assert_int_equal(column->type, BASE_CSV_TEXT);
    assert_null(column->values);
    return column->texts;
}

static void types_columns_by_their_content(void **state)
{
    (void)state;
    base_csv t = good("i,x,s,e,big\n1,1,one,,9223372036854775807\n-2,2.5,two,4,9223372036854775808\n+3,-1e-3,3,5,1\n");
    assert_int_equal(t.rows, 3);
    assert_int_equal(t.column_count, 5);
    assert_memory_equal(integers(&t, "i"), ((int64_t[]){1, -2, 3}), 24);
    assert_memory_equal(numbers(&t, "x"), ((double[]){1, 2.5, -1e-3}), 24);
    assert_string_equal(texts(&t, "s")[0].text, "one");
    assert_string_equal(texts(&t, "s")[2].text, "3");
    assert_true(numbers(&t, "e")[0] != numbers(&t, "e")[0]);
    assert_true(numbers(&t, "e")[1] == 4);
    assert_true(numbers(&t, "big")[0] == 9223372036854775808.0);
    assert_null(base_csv_find(&t, "no"));
    base_csv_free(&t);

    t = good("a,b,c\nnan,1.5x, 2\ninf,2,3\n,,\n");
    assert_true(numbers(&t, "a")[1] > 1e308);
    assert_string_equal(texts(&t, "b")[0].text, "1.5x");
    assert_string_equal(texts(&t, "c")[0].text, " 2"); /* spaces are part of a field */
    base_csv_free(&t);
}

static void reads_quotes_and_line_ends(void **state)
{
    (void)state;
    base_csv t = good("\xEF\xBB\xBF\"na\"\"me\",b\r\n\"a,b\",\"1\"\r\n\"line\r\nbreak \"\"x\"\"\",2\r\n\"\",3");
    assert_int_equal(t.rows, 3);
    const base_csv_text *names = texts(&t, "na\"me");
    assert_string_equal(names[0].text, "a,b");
    assert_string_equal(names[1].text, "line\r\nbreak \"x\"");
    assert_int_equal(names[1].length, 15);
    assert_string_equal(names[2].text, "");
    assert_memory_equal(integers(&t, "b"), ((int64_t[]){1, 2, 3}), 24);
    base_csv_free(&t);

    t = good("a\n\n5\n"); /* in a table of one column an empty line is an empty field */
    assert_int_equal(t.rows, 2);
    assert_true(numbers(&t, "a")[1] == 5);
    base_csv_free(&t);

    t = good("\xC3\xA9,\n");
    assert_int_equal(t.rows, 0);
    assert_int_equal(t.column_count, 2);
    assert_string_equal(t.columns[0].name, "\xC3\xA9");
    assert_int_equal(t.columns[0].type, BASE_CSV_TEXT);
    base_csv_free(&t);
}

static void refuse(const char *text, wg_code code, const char *word)
{
    REFUSED(read_csv, text, strlen(text), code, word);
}

static void refuses_broken_tables(void **state)
{
    (void)state;
    refuse("", WG_SYNTAX, "no first line");
    refuse("\xEF\xBB\xBF", WG_SYNTAX, "no first line");
    refuse("a,b\n1,2\n3\n", WG_SYNTAX, "file:3: this row has 1 fields");
    refuse("a,b\n1,2,3\n", WG_SYNTAX, "file:2: this row has more than 2 fields");
    refuse("a,b\n1,2,\n", WG_SYNTAX, "file:2: this row has more than 2 fields");
    refuse("a,b\n1,2\n\n", WG_SYNTAX, "file:3: this row has 1 fields");
    refuse("a,b\n\"x\ny\",2\n3\n", WG_SYNTAX, "file:4: this row");
    refuse("a,b\n\"x\ny\"\n", WG_SYNTAX, "file:2: this row");
    refuse("a,b\n1,\"open\n2,3\n4,5\n", WG_SYNTAX, "file:2:3: error: a quoted field that does not end");
    refuse("\"", WG_SYNTAX, "file:1:1: error: a quoted field that does not end");
    refuse("a\nx\"y\n", WG_SYNTAX, "file:2:2: error: a quote inside");
    refuse("a\n\"x\"y\n", WG_SYNTAX, "file:2:4: error: text after a closing quote");
    refuse("a\n\"x\" \n", WG_SYNTAX, "text after a closing quote");
    refuse("a\rb\n", WG_SYNTAX, "file:1:2: error: a carriage return");
    refuse("a\n1\r", WG_SYNTAX, "file:2:2: error: a carriage return");
    refuse("a\n\"1\"\r2\n", WG_SYNTAX, "carriage return");
    refuse("a\n\xFF\n", WG_SYNTAX, "file:2:1: error: bytes that are not UTF-8");
    refuse("a\n\"\xC3\"\n", WG_SYNTAX, "UTF-8");
    refuse("\xFF\xFE" "a", WG_SYNTAX, "UTF-8");
    REFUSED(read_csv, "a\n1\0\n", 5, WG_SYNTAX, "file:2:2: error: a zero byte");
    REFUSED(read_csv, "a\n\"\0\"\n", 6, WG_SYNTAX, "zero byte");
    refuse("a,b,a\n1,2,3\n", WG_NAME, "\"a\"");
    refuse(",\n1,2\n", WG_NAME, "\"\"");
    refuse("a,\"a\"\n", WG_NAME, "two columns");
}

static void survives_every_cut_and_turned_bit(void **state)
{
    (void)state;
    static const char file[] = "id,\"the \"\"name\"\"\",x\r\n1,\"a,\nb\",2.5\r\n-2,\xE2\x82\xAC,1e3\r\n3,\"\",\r\n";
    truncate_everywhere(read_csv, file, sizeof file - 1, false);
    flip_everywhere(read_csv, file, sizeof file - 1);
    base_string text = base_string_new(base_allocator(NULL)); /* more columns and texts than the first blocks hold */
    for (int i = 0; i < 100; i++) base_string_printf(&text, "%sc%d", i ? "," : "", i);
    for (int row = 0; row < 20; row++)
        for (int i = 0; i < 100; i++) base_string_printf(&text, i % 3 ? "%s%d" : "%stext%d", i ? "," : "\n", i);
    fail_each_allocation(read_csv, text.text, text.length);
    base_string_free(&text);
}

/* A table of many rows and a long field: quadratic reading would not end here. */
static void reads_large_tables(void **state)
{
    (void)state;
    base_string text = base_string_new(base_allocator(NULL));
    base_string_puts(&text, "n,half,t\n");
    for (int i = 0; i < 100000; i++) base_string_printf(&text, "%d,%d.5,\"\"\"%d\"\n", i, i, i);
    base_csv t = good(text.text);
    assert_int_equal(t.rows, 100000);
    for (int i = 0; i < 100000; i++) {
        assert_int_equal(integers(&t, "n")[i], i);
        assert_true(numbers(&t, "half")[i] == i + 0.5);
    }
    assert_string_equal(texts(&t, "t")[99999].text, "\"99999");
    base_csv_free(&t);
    base_string_free(&text);
}

static void reads_texts(void **state)
{
    (void)state;
    static const char text[] = "a,b\n1.50,x\n,\"2\"\n";
    base_csv table;
    wg_error error = {.code = WG_OK};
    assert_true(base_csv_read_texts(&table, base_allocator(NULL), "texts.csv", text, strlen(text), &error));
    assert_int_equal(table.rows, 2);
    assert_int_equal(table.columns[0].type, BASE_CSV_TEXT);
    assert_string_equal(table.columns[0].texts[0].text, "1.50");
    assert_string_equal(table.columns[1].texts[1].text, "2");
    base_csv_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_columns_by_their_content),
        cmocka_unit_test(reads_texts),
        cmocka_unit_test(reads_quotes_and_line_ends),
        cmocka_unit_test(refuses_broken_tables),
        cmocka_unit_test(survives_every_cut_and_turned_bit),
        cmocka_unit_test(reads_large_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
