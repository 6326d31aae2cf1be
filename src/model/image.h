/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Images: a model in one file that is mapped as it is (.wgm). Eight bytes "WENGERT" and 1, the header's length (u64, little endian), the header,
 * then parts at multiples of 64 bytes, their offsets counted from its end. The header is JSON:
 *
 *   identity   of the decode cut at the trained length: what is read back must be this program
 *   config     a config.json;   facts   what such a file cannot say
 *   tensors    name, kind, shape, offset, bytes of each parameter of that cut
 *   files      name, offset, bytes: vocabulary and chat template */
#ifndef MODEL_IMAGE_H
#define MODEL_IMAGE_H

#include "base/file.h"
#include "model/model.h"

#define MODEL_IMAGE_MAGIC "WENGERT\1"
#define MODEL_IMAGE_UNIT 64u

bool model_is_image(const char *path);
/* Fills a spec: its configuration and tensors, of file number 0; and the identity that was compiled. model_image_check follows when the tensors
 * are sorted. */
bool model_image_open(wg_model_spec *spec, const char *path, wg_model_identity *identity, wg_error *error);
/* Authors the program (which looks at every tensor) and compares: WG_DIFFERS and which part differs from the one that was compiled. */
bool model_image_check(wg_model_spec *spec, const char *path, const wg_model_identity *compiled, wg_error *error);

/* A file within an image: *part borrows from *image, which the caller closes. False: an error, or (the error stays WG_OK) there is none. */
bool model_image_find(const wg_allocator *allocator, const char *path, const char *name, base_file *image, base_file *part, wg_error *error);

#endif
