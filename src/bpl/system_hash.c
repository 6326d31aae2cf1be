/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * •hash: digests of texts (as UTF-8) and of bytes. */
#include <string.h>

#include "base/hash.h"
#include "bpl/kinds.h"
#include "bpl/system.h"

#define PART ((size_t)1 << 24) /* bytes between interrupts */

static bpl_value *digest_text(bpl_session *session, const void *bytes, size_t length)
{
    base_sha256 hash;
    uint8_t digest[32];
    char text[65];
    base_sha256_start(&hash);
    for (size_t at = 0, more; at < length; at += more) {
        more = length - at < PART ? length - at : PART;
        if (!bpl_go_on(session)) return NULL;
        base_sha256_add(&hash, (const char *)bytes + at, more);
    }
    base_sha256_finish(&hash, digest);
    base_sha256_hex(digest, text);
    return bpl_string(session, text, 64);
}

/* Numbers 0 .. 255 as bytes. */
static bpl_value *digest_numbers(bpl_session *session, const bpl_value *value)
{
    wg_view view;
    size_t count = (size_t)bpl_volume(value);
    if (!bpl_read(session, value, &view)) return NULL;
    if (view.kind == WG_KIND_U8) return digest_text(session, view.data, count);
    uint8_t *bytes = base_allocate(session->allocator, count + 1);
    if (!bytes) return bpl_fail_memory(session);
    bool good = true;
    for (size_t i = 0; good && i < count; i++) {
        double number, imaginary;
        bpl_parts_of(&view, (int64_t)i, &number, &imaginary);
        if (!bpl_goes_on(session, (int64_t)i)) break;
        good = imaginary == 0 && number >= 0 && number <= 255 && number == (double)(uint8_t)number;
        bytes[i] = good ? (uint8_t)number : 0;
    }
    bpl_value *result = bpl_failed(session) ? NULL : good ? digest_text(session, bytes, count) : bpl_fail(session, BPL_DOMAIN, "the bytes of •hash are whole numbers in 0 .. 255");
    base_free(session->allocator, bytes, count + 1);
    return result;
}

static bpl_value *digest(bpl_session *session, bpl_value *value, void *data)
{
    char *text;
    size_t length;
    if (value->type == BPL_ITEMS) return bpl_each_item(session, value, data, digest);
    if (value->type == BPL_NUMBERS) return digest_numbers(session, value);
    if (!bpl_to_text(session, value, "what •hash reads", &text, &length)) return NULL;
    bpl_value *result = digest_text(session, text, length);
    base_free(session->allocator, text, length + 1);
    return result;
}

bpl_value *bpl_system_hash(bpl_session *session, const bpl_call *call)
{
    static const char *const others[] = {"sha224", "sha384", "sha512"};
    char *name = NULL;
    size_t length = 0;
    bool known = !call->left, other = false;
    if (call->left && !bpl_to_text(session, call->left, "the algorithm of •hash", &name, &length)) return NULL;
    if (name) {
        for (size_t i = 0; i < length; i++) name[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] + 'a' - 'A') : name[i];
        known = !strcmp(name, "sha256");
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) other |= !strcmp(name, others[i]);
        base_free(session->allocator, name, length + 1);
    }
    if (known) return digest(session, call->right, NULL);
    if (other) return bpl_fail(session, BPL_UNSUPPORTED, "•hash computes \"sha256\" alone");
    return bpl_fail(session, BPL_DOMAIN, "•hash computes \"sha256\", and nothing of that name");
}
