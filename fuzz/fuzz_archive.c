/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Any bytes as compressed data: gzip or zip, as their first bytes say. What must hold: content within the limit; what a look at the
 * first bytes finds is how the whole begins. */
#include <string.h>

#include "budget.h"
#include "tools/zip.h"

#define MOST ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    wg_error error = {.code = WG_OK};
    gzip_bytes content = {0};
    if (zip_is(bytes, length)) {
        if (!zip_read("fuzz.npz", bytes, length, "images", MOST, &content, &error)) demand_error(&error);
    } else {
        unsigned char head[64];
        size_t known = gzip_peek(bytes, length, head, sizeof head);
        demand(known <= sizeof head);
        if (!gzip_read("fuzz.gz", bytes, length, MOST, &content, &error)) demand_error(&error);
        else demand(known <= content.length && !memcmp(head, content.bytes, known));
    }
    demand(content.length <= MOST && !content.bytes == (error.code != WG_OK));
    gzip_free(&content);
    return 0;
}
