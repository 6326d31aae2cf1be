/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Texts that the library hands to its caller: the allocator and the size stand before the text, so that wg_text_free needs nothing else. */
#include <stddef.h>
#include <string.h>

#include "base/text.h"

typedef struct owned_text {
    wg_allocator allocator;
    size_t bytes;
    char text[];
} owned_text;

char *base_text_take(base_string *string)
{
    size_t bytes = sizeof(owned_text) + string->length + 1;
    owned_text *owned = string->failed ? NULL : base_allocate(string->allocator, bytes);
    if (owned) {
        owned->allocator = *string->allocator;
        owned->bytes = bytes;
        if (string->length) memcpy(owned->text, string->text, string->length);
        owned->text[string->length] = 0;
    }
    base_string_free(string);
    return owned ? owned->text : NULL;
}

void wg_text_free(char *text)
{
    if (!text) return;
    owned_text *owned = (owned_text *)(text - offsetof(owned_text, text));
    wg_allocator allocator = owned->allocator;
    base_free(&allocator, owned, owned->bytes);
}
