/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "model/written.h"

#include <stdio.h>
#include <string.h>

#define MOST_TEXT (256u << 20)

bool model_is_written(const char *path)
{
    return base_ends_with(path, ".wg");
}

/* Bytes of the directory's part of a path, without its last slash. */
static size_t directory_of(const char *path, size_t length)
{
    while (length && path[length - 1] != '/') length--;
    return length > 1 ? length - 1 : length;
}

bool model_written_open(const wg_allocator *allocator, const char *path, base_file *file, char folder[MODEL_WRITTEN_FOLDER], wg_error *error)
{
    if (!base_file_read(allocator, path, MOST_TEXT, file, error)) return false;
    const char *text = (const char *)file->bytes, *mark = strstr(text, "= @\""), *name = mark ? mark + 4 : "", *end = strchr(name, '"');
    size_t here = directory_of(path, strlen(path)), under = end ? directory_of(name, (size_t)(end - name)) : 0;
    int length = -1;
    if (!end) base_fail(error, WG_FORMAT, "%s names no weights: a program to run is the prefill cut of a model, as `wengert model author MODEL --cut prefill --dir DIR` writes it", path);
    else if (name[0] == '/') length = snprintf(folder, MODEL_WRITTEN_FOLDER, "%.*s", (int)under, name);
    else length = snprintf(folder, MODEL_WRITTEN_FOLDER, "%.*s%s%.*s", (int)here, path, here ? (path[here - 1] == '/' ? "" : "/") : under ? "" : ".", (int)under, name);
    if (length >= 0 && length < MODEL_WRITTEN_FOLDER) return true;
    if (end) base_fail(error, WG_ARGUMENT, "%s: the name of its weights' folder is too long", path);
    base_file_close(file);
    return false;
}

bool model_written_folder(const wg_allocator *allocator, const char *path, char folder[MODEL_WRITTEN_FOLDER], wg_error *error)
{
    base_file file;
    if (!model_written_open(allocator, path, &file, folder, error)) return false;
    base_file_close(&file);
    return true;
}
