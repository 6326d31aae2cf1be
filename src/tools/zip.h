/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Members of a zip file, as .npz files are: stored or deflated, zip64 sizes among them (PKWARE's APPNOTE.TXT 6.3). */
#ifndef TOOLS_ZIP_H
#define TOOLS_ZIP_H

#include "tools/gzip.h"

bool zip_is(const void *bytes, size_t length);
/* The content of the member called wanted or wanted.npy, or of the only member there is. The central directory is what is believed: local
 * headers must agree with it, members must lie within the file, and the content must have the size and the checksum that it states.
 * `name` is what messages call the file. WG_FORMAT, WG_NAME (no such member; the names there are), WG_UNSUPPORTED (encrypted, split,
 * other methods), WG_SIZE beyond `most`, WG_MEMORY. */
bool zip_read(const char *name, const void *bytes, size_t length, const char *wanted, size_t most, gzip_bytes *content, wg_error *error);

#endif
