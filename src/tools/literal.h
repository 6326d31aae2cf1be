/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Tensors as JSON: a number, or nested lists of them. A complex number is the list of its two parts. */
#ifndef TOOLS_LITERAL_H
#define TOOLS_LITERAL_H

#include "base/base.h"

/* The tensor of a text, of that kind, owned by the caller: true and false are 1 and 0, the strings "nan", "inf" and "-inf" floats. An
 * item that the kind does not have is WG_KIND (decimals are rounded to floats); rows that differ in length or depth are WG_SHAPE;
 * WG_SYNTAX with the place, WG_MEMORY. */
wg_tensor *literal_read(const char *text, size_t length, wg_kind kind, wg_error *error);
/* Appends a contiguous view: the shortest decimals that read back, floats that are not finite as strings. */
void literal_put(base_string *text, const wg_view *view);

#endif
