/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Pictures as tensors: PNG through libpng and JPEG through libjpeg, where the build has them. */
#ifndef TOOLS_PICTURE_H
#define TOOLS_PICTURE_H

#include "base/base.h"

/* The pixels of a PNG or JPEG file as an owned u8 tensor: grey [height, width], colour [height, width, 3], PNG with transparency [height,
 * width, 4] (grey with it too). Samples of other depths are scaled to 8 bits; palettes become colours. The content decides what a file
 * is. WG_FILE, WG_FORMAT for what does not decode whole, WG_SIZE for more than 2^28 pixels, WG_UNSUPPORTED for other formats and for
 * builds without the reader, WG_MEMORY. */
wg_tensor *picture_read(const char *path, wg_error *error);
/* The same of bytes; `name` is what messages call them. */
wg_tensor *picture_decode(const char *name, const void *bytes, size_t length, wg_error *error);
/* Whether a file's name ends as a picture's does: .png .jpg .jpeg, in either case. */
bool picture_is_name(const char *name);

#endif
