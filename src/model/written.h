/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Models by their program text (.wg): the prefill cut as `model author` writes it, or as somebody changed it. Configuration, weights and vocabulary
 * are those of the folder that its weights are named under, seen from the text's own. */
#ifndef MODEL_WRITTEN_H
#define MODEL_WRITTEN_H

#include "base/file.h"
#include "model/model.h"

#define MODEL_WRITTEN_FOLDER 4096

bool model_is_written(const char *path);
/* The text, owned by *file, and the folder of its weights. */
bool model_written_open(const wg_allocator *allocator, const char *path, base_file *file, char folder[MODEL_WRITTEN_FOLDER], wg_error *error);
/* The folder alone. */
bool model_written_folder(const wg_allocator *allocator, const char *path, char folder[MODEL_WRITTEN_FOLDER], wg_error *error);

#endif
