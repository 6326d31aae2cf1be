/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Files of tensors: .npy and safetensors. Writers replace a file as a whole or leave the old one. */
#ifndef WENGERT_FILES_H
#define WENGERT_FILES_H

#include "wengert/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A .npy file (versions 1 to 3, either byte order and axis order) as an owned tensor. WG_FILE, WG_FORMAT with the place in the file. */
WG_API wg_tensor *wg_npy_read(wg_context *context, const char *path, wg_error *error);
WG_API bool wg_npy_write(const char *path, const wg_view *items, wg_error *error);

/* Named tensors and metadata strings, in order; what a safetensors file holds. */
typedef struct wg_bundle wg_bundle;
WG_API wg_bundle *wg_bundle_new(wg_context *context, wg_error *error);
WG_API void wg_bundle_free(wg_bundle **bundle);
/* Adds or replaces; consumes one reference of the tensor (also on failure). */
WG_API bool wg_bundle_put(wg_bundle *bundle, const char *name, wg_tensor *tensor, wg_error *error);
/* Borrowed; NULL when there is none. */
WG_API wg_tensor *wg_bundle_get(const wg_bundle *bundle, const char *name);
WG_API bool wg_bundle_put_text(wg_bundle *bundle, const char *key, const char *text, wg_error *error);
WG_API const char *wg_bundle_get_text(const wg_bundle *bundle, const char *key);
WG_API uint32_t wg_bundle_count(const wg_bundle *bundle);
/* The i-th tensor's name; NULL beyond. */
WG_API const char *wg_bundle_name(const wg_bundle *bundle, uint32_t index);
WG_API wg_bundle *wg_bundle_read(wg_context *context, const char *path, wg_error *error);
/* Equal bundles write equal bytes. Disk full or any failure: the old file is kept. */
WG_API bool wg_bundle_write(const wg_bundle *bundle, const char *path, wg_error *error);

#ifdef __cplusplus
}
#endif
#endif
