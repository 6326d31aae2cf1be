/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Training data: a file or a folder as N rows of an input, in the kind that it is stored in. */
#ifndef TOOLS_DATASET_H
#define TOOLS_DATASET_H

#include "base/base.h"

typedef struct dataset {
    wg_tensor *items; /* [N, ...] */
    bool is_rounded;  /* floats that were decimals: any float kind holds them as well as another */
} dataset;

/* Reads `file` for an input called `name` of that rank. The content decides: IDX, .npy, .npz (the array `name`, or the only one), the
 * first two also under gzip; a table by its name: all columns of FILE.csv, or those of FILE.csv#COLUMN,COLUMN (a column whose own
 * name has the comma comes first), [N, columns], or [N] of a single one, i64 where every number is whole, else f64; a folder with a folder of PNG or JPEG pictures for each class: pictures [N, height, width] or [N, height,
 * width, channels] u8, classes and files in the order of their names; for an input of rank 1 their class numbers, i64 [N]. WG_FILE,
 * WG_FORMAT and the readers' other codes; WG_SHAPE for no rows, an array without axes, or pictures of different sizes. Freed by
 * dataset_free. */
bool dataset_read(const char *name, const char *file, uint32_t rank, dataset *data, wg_error *error);
void dataset_free(dataset *data);
/* Whether a name is FILE.csv or FILE.csv#COLUMNS. */
bool dataset_is_table(const char *file);
/* The items in another kind, where each of them has a value there that is the same (floats that were decimals: the nearest). WG_KIND
 * names the first item that has not. */
bool dataset_convert(const char *name, dataset *data, wg_kind kind, wg_error *error);

/* What the classes are called: a folder's class folders, or the lines of a file classes.txt beside the data. count 0 where nothing says.
 * Names live in the arena. */
bool dataset_class_names(const char *file, base_arena *arena, const char ***names, uint32_t *count, wg_error *error);

/* folder.c: a folder of pictures by class */
bool folder_is(const char *path);
wg_tensor *folder_pictures(const char *path, wg_error *error);
wg_tensor *folder_labels(const char *path, wg_error *error);
bool folder_classes(const char *path, base_arena *arena, const char ***names, uint32_t *count, wg_error *error);

#endif
