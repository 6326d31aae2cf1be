/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "tools/dataset.h"

#include <stdio.h>
#include <string.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/idx.h"
#include "base/npy.h"
#include "base/tensor.h"
#include "tools/gzip.h"
#include "tools/zip.h"

/* The most that one file may unpack to when it does not say itself how much it holds. */
#define MOST_BYTES ((size_t)1 << 33)

/* ---- arrays ---- */

static bool is_npy(const unsigned char *bytes, size_t length)
{
    return length >= 6 && !memcmp(bytes, "\x93NUMPY", 6);
}

static bool is_idx(const unsigned char *bytes, size_t length)
{
    return length >= 4 && !bytes[0] && !bytes[1] && bytes[2] >= 0x08 && bytes[2] <= 0x0E && bytes[3] >= 1 && bytes[3] <= WG_MAX_RANK;
}

/* How many bytes an IDX header asks for: what its file may unpack to. */
static size_t idx_bytes(const unsigned char *head, size_t length)
{
    static const uint8_t widths[] = {1, 1, 0, 2, 4, 4, 8};
    size_t rank = head[3], start = 4 + 4 * rank;
    int64_t volume = widths[head[2] - 0x08], total;
    if (length < start) return start;
    for (const unsigned char *at = head + 4; at < head + start; at += 4)
        if (!base_multiply(volume, (int64_t)at[0] << 24 | (int64_t)at[1] << 16 | (int64_t)at[2] << 8 | at[3], &volume)) return MOST_BYTES;
    return base_add(volume, (int64_t)start, &total) && (uint64_t)total < MOST_BYTES ? (size_t)total : MOST_BYTES;
}

static wg_tensor *read_array(const char *file, const unsigned char *bytes, size_t length, wg_error *error)
{
    if (is_npy(bytes, length)) return base_npy_read(base_allocator(NULL), file, bytes, length, error);
    if (is_idx(bytes, length)) return base_idx_read(base_allocator(NULL), file, bytes, length, error);
    base_fail(error, WG_FORMAT,
              "%s is no data that is read here: IDX, .npy, .npz, their gzip, a table FILE.csv or FILE.csv#COLUMNS, or a folder of "
              "pictures by class",
              file);
    return NULL;
}

static wg_tensor *read_gzip(const char *file, const base_file *packed, wg_error *error)
{
    unsigned char head[4 + 4 * WG_MAX_RANK];
    gzip_bytes content;
    size_t known = gzip_peek(packed->bytes, packed->length, head, sizeof head);
    size_t most = is_idx(head, known) ? idx_bytes(head, known) : MOST_BYTES;
    if (!gzip_read(file, packed->bytes, packed->length, most, &content, error)) return NULL;
    wg_tensor *items = read_array(file, content.bytes, content.length, error);
    gzip_free(&content);
    return items;
}

static wg_tensor *read_zip(const char *name, const char *file, const base_file *archive, wg_error *error)
{
    gzip_bytes content;
    if (!zip_read(file, archive->bytes, archive->length, name, MOST_BYTES, &content, error)) return NULL;
    wg_tensor *items = NULL;
    if (is_npy(content.bytes, content.length)) items = base_npy_read(base_allocator(NULL), file, content.bytes, content.length, error);
    else base_fail(error, WG_FORMAT, "%s: the member for %s is no .npy array", file, name);
    gzip_free(&content);
    return items;
}

static bool read_file(const char *name, const char *file, dataset *data, wg_error *error)
{
    base_file whole;
    if (!base_file_read(base_allocator(NULL), file, SIZE_MAX, &whole, error)) return false;
    if (gzip_is(whole.bytes, whole.length)) data->items = read_gzip(file, &whole, error);
    else if (zip_is(whole.bytes, whole.length)) data->items = read_zip(name, file, &whole, error);
    else data->items = read_array(file, whole.bytes, whole.length, error);
    base_file_close(&whole);
    return data->items != NULL;
}

/* ---- tables ---- */

/* Where the .csv of FILE.csv or FILE.csv#COLUMNS ends; NULL: no table's name. */
static const char *table_end(const char *file)
{
    const char *end = NULL;
    for (const char *at = file; (at = strstr(at, ".csv")); at += 4)
        if (!at[4] || at[4] == '#') end = at + 4;
    return end;
}

bool dataset_is_table(const char *file)
{
    return table_end(file) != NULL;
}

static bool no_column(const char *path, const base_csv *table, const char *wanted, wg_error *error)
{
    char names[300] = "";
    for (uint32_t i = 0; i < table->column_count; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", table->columns[i].name);
    }
    return base_fail(error, WG_NAME, "%s has no column %s; it has %s", path, wanted, names);
}

/* The columns that COLUMNS names: one where a column is called just that, else those between its commas. Their room is the table's. */
static bool choose_columns(const char *path, base_csv *table, const char *wanted, const base_csv_column **chosen, uint32_t *count, wg_error *error)
{
    *count = 0;
    if ((chosen[0] = base_csv_find(table, wanted))) return *count = 1, true;
    for (const char *at = wanted;; at++) {
        size_t length = strcspn(at, ",");
        const char *name = base_arena_string(&table->arena, at, length);
        if (!name) return base_fail_memory(error);
        if (!(chosen[(*count)++] = base_csv_find(table, name))) return no_column(path, table, name, error);
        at += length;
        if (!*at) return true;
    }
}

static bool take_column(const char *path, const base_csv_column *column, dataset *data, wg_error *error)
{
    if (column->type == BASE_CSV_TEXT) return base_fail(error, WG_KIND, "%s: column %s holds text; only numbers can be fed", path, column->name);
    data->items = wg_tensor_retain(column->values);
    data->is_rounded = column->type == BASE_CSV_NUMBER;
    return true;
}

static bool take_matrix(const char *path, const base_csv_column *const *columns, uint32_t count, int64_t rows, dataset *data, wg_error *error)
{
    bool whole = true;
    for (uint32_t c = 0; c < count; c++) {
        if (columns[c]->type == BASE_CSV_TEXT)
            return base_fail(error, WG_KIND, "%s: column %s holds text; choose columns of numbers by %s#COLUMN,COLUMN", path, columns[c]->name, path);
        whole = whole && columns[c]->type == BASE_CSV_INTEGER;
    }
    wg_kind kind = whole ? WG_KIND_I64 : WG_KIND_F64;
    data->items = wg_tensor_new(NULL, kind, 2, (int64_t[]){rows, count}, NULL, error);
    if (!data->items) return false;
    data->is_rounded = !whole;
    for (uint32_t c = 0; c < count; c++) {
        const wg_tensor *column = columns[c]->values;
        for (int64_t r = 0; r < rows; r++) {
            base_number item = base_number_load(column->kind, column->data, r);
            base_number_store(kind, data->items->data, r * count + c, base_number_convert(item, column->kind, kind, false));
        }
    }
    return true;
}

/* `wanted` NULL: the whole table. */
static bool take_table(const char *path, base_csv *table, const char *wanted, dataset *data, wg_error *error)
{
    uint32_t count = table->column_count, most = count;
    for (const char *at = wanted; at && *at; at++) most += *at == ',';
    const base_csv_column **chosen = base_arena_take(&table->arena, ((size_t)most + 1) * sizeof *chosen);
    if (!chosen) return base_fail_memory(error);
    for (uint32_t c = 0; c < count; c++) chosen[c] = &table->columns[c];
    if (wanted && !choose_columns(path, table, wanted, chosen, &count, error)) return false;
    if (count == 1) return take_column(path, chosen[0], data, error);
    return take_matrix(path, chosen, count, table->rows, data, error);
}

static bool read_table(const char *file, const char *end, dataset *data, wg_error *error)
{
    char path[4096];
    if ((size_t)(end - file) >= sizeof path) return base_fail(error, WG_FILE, "the path of a table is too long");
    memcpy(path, file, (size_t)(end - file));
    path[end - file] = 0;
    base_file whole;
    base_csv table;
    if (!base_file_read(base_allocator(NULL), path, SIZE_MAX, &whole, error)) return false;
    bool good = base_csv_read(&table, base_allocator(NULL), path, whole.bytes, whole.length, error);
    base_file_close(&whole);
    if (!good) return false;
    good = take_table(path, &table, *end ? end + 1 : NULL, data, error);
    base_csv_free(&table);
    return good;
}

/* ---- any ---- */

bool dataset_read(const char *name, const char *file, uint32_t rank, dataset *data, wg_error *error)
{
    const char *end = table_end(file);
    *data = (dataset){0};
    if (folder_is(file)) data->items = rank == 1 ? folder_labels(file, error) : folder_pictures(file, error);
    else if (end) read_table(file, end, data, error);
    else read_file(name, file, data, error);
    if (!data->items) return false;
    if (!data->items->rank || !data->items->shape[0]) {
        base_fail(error, WG_SHAPE, "%s: an array %s; data for %s needs rows along a first axis", file,
                  BASE_SHAPE_TEXT(data->items->rank, data->items->shape), name);
        dataset_free(data);
        return false;
    }
    return true;
}

void dataset_free(dataset *data)
{
    wg_tensor_release(data->items);
    *data = (dataset){0};
}

bool dataset_convert(const char *name, dataset *data, wg_kind kind, wg_error *error)
{
    wg_tensor *items = data->items;
    wg_kind from = items->kind;
    if (from == kind) return true;
    if (base_kinds[from].class == BASE_CLASS_COMPLEX || base_kinds[kind].class == BASE_CLASS_COMPLEX)
        return base_fail(error, WG_KIND, "data of kind %s cannot be fed to %s, whose kind is %s", wg_kind_name(from), name,
                         wg_kind_name(kind));
    bool rounds = data->is_rounded && base_kind_is_float(kind);
    wg_tensor *other = wg_tensor_new(NULL, kind, items->rank, items->shape, NULL, error);
    if (!other) return false;
    for (int64_t i = 0; i < items->volume; i++) {
        base_number item = base_number_load(from, items->data, i), to;
        if (rounds) to = base_number_convert(item, from, kind, false);
        else if (!base_number_exact(item, from, kind, &to)) {
            wg_tensor_release(other);
            return base_fail(error, WG_KIND,
                             "the data for %s are of kind %s, and item %lld has no exact value in the input's kind %s; convert the file, "
                             "or give the input kind %s",
                             name, wg_kind_name(from), (long long)i, wg_kind_name(kind), wg_kind_name(from));
        }
        base_number_store(kind, other->data, i, to);
    }
    wg_tensor_release(items);
    data->items = other;
    return true;
}

/* ---- class names ---- */

#define MOST_CLASSES 10000
#define MOST_NAMES ((size_t)1 << 20)

static bool split_lines(base_arena *arena, const char *text, size_t length, const char ***names, uint32_t *count, wg_error *error)
{
    *names = base_arena_take(arena, MOST_CLASSES * sizeof **names);
    if (!*names) return base_fail_memory(error);
    for (size_t at = 0; at < length && *count < MOST_CLASSES;) {
        const char *stop = memchr(text + at, '\n', length - at);
        size_t line = stop ? (size_t)(stop - text) - at : length - at, shown = line;
        while (shown && (text[at + shown - 1] == '\r' || text[at + shown - 1] == ' ')) shown--;
        if (shown && !((*names)[(*count)++] = base_arena_string(arena, text + at, shown))) return base_fail_memory(error);
        at += line + 1;
    }
    return true;
}

bool dataset_class_names(const char *file, base_arena *arena, const char ***names, uint32_t *count, wg_error *error)
{
    *names = NULL;
    *count = 0;
    if (folder_is(file)) return folder_classes(file, arena, names, count, error);
    char path[4096];
    const char *slash = strrchr(file, '/');
    int folder = slash ? (int)(slash - file) + 1 : 0;
    base_file lines;
    if (snprintf(path, sizeof path, "%.*sclasses.txt", folder, file) >= (int)sizeof path) return true;
    if (!base_file_read(base_allocator(NULL), path, MOST_NAMES, &lines, NULL)) return true;
    bool good = split_lines(arena, (const char *)lines.bytes, lines.length, names, count, error);
    base_file_close(&lines);
    return good;
}
