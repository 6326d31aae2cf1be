/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "tools/zip.h"

#include <stdio.h>
#include <string.h>

enum {
    SIGNATURE_LOCAL = 0x04034b50,
    SIGNATURE_CENTRAL = 0x02014b50,
    SIGNATURE_END = 0x06054b50,
    SIGNATURE_END64 = 0x06064b50,
    SIGNATURE_LOCATOR64 = 0x07064b50,
    LOCAL_BYTES = 30,
    CENTRAL_BYTES = 46,
    END_BYTES = 22,
    LOCATOR64_BYTES = 20,
    END64_BYTES = 56,
    EXTRA_ZIP64 = 1,
    FLAG_ENCRYPTED = 1,
    METHOD_STORED = 0,
    METHOD_DEFLATED = 8
};
/* Deflate packs at most 1032 bytes into one (zlib's technical note): a directory that claims more lies. */
#define MOST_RATIO 1032u

typedef struct archive {
    const char *name;
    const unsigned char *bytes;
    size_t length;
    uint64_t count, start, end; /* members; where the directory starts and ends */
    wg_error *error;
} archive;

typedef struct member {
    const char *name; /* not terminated */
    size_t name_length;
    uint32_t flags, method, checksum;
    uint64_t packed, size, offset;
} member;

static uint32_t u16(const unsigned char *b) { return (uint32_t)b[0] | (uint32_t)b[1] << 8; }
static uint32_t u32(const unsigned char *b) { return u16(b) | u16(b + 2) << 16; }
static uint64_t u64(const unsigned char *b) { return u32(b) | (uint64_t)u32(b + 4) << 32; }

bool zip_is(const void *bytes, size_t length)
{
    return length >= 4 && (u32(bytes) == SIGNATURE_LOCAL || u32(bytes) == SIGNATURE_END);
}

static bool broken(const archive *a, const char *what)
{
    return base_fail(a->error, WG_FORMAT, "%s is no whole zip file: %s; copy or download it anew", a->name, what);
}

/* ---- the directory ---- */

/* The end record stands last, before a comment of up to 65535 bytes whose length it states. */
static const unsigned char *find_end(const archive *a)
{
    if (a->length < END_BYTES) return NULL;
    for (size_t at = a->length - END_BYTES, tried = 0; tried <= 65535; at--, tried++) {
        if (u32(a->bytes + at) == SIGNATURE_END && u16(a->bytes + at + 20) == tried) return a->bytes + at;
        if (!at) break;
    }
    return NULL;
}

static bool open_end64(archive *a, size_t end)
{
    if (end < LOCATOR64_BYTES || u32(a->bytes + end - LOCATOR64_BYTES) != SIGNATURE_LOCATOR64)
        return broken(a, "its zip64 locator is missing");
    uint64_t at = u64(a->bytes + end - LOCATOR64_BYTES + 8);
    if (at > end - LOCATOR64_BYTES || end - LOCATOR64_BYTES - at < END64_BYTES || u32(a->bytes + at) != SIGNATURE_END64)
        return broken(a, "its zip64 end record is missing");
    a->count = u64(a->bytes + at + 32);
    a->start = u64(a->bytes + at + 48);
    uint64_t size = u64(a->bytes + at + 40);
    if (a->start > at || size > at - a->start) return broken(a, "its directory lies outside of it");
    a->end = a->start + size;
    return true;
}

static bool open_archive(archive *a)
{
    const unsigned char *record = find_end(a);
    if (!record) return broken(a, "its end record is missing");
    size_t end = (size_t)(record - a->bytes);
    if (u16(record + 4) || u16(record + 6))
        return base_fail(a->error, WG_UNSUPPORTED, "%s is one part of a split zip file; join the parts", a->name);
    if (u16(record + 10) == 0xFFFF || u32(record + 12) == UINT32_MAX || u32(record + 16) == UINT32_MAX) return open_end64(a, end);
    a->count = u16(record + 10);
    a->start = u32(record + 16);
    uint64_t size = u32(record + 12);
    if (a->start > end || size > end - a->start) return broken(a, "its directory lies outside of it");
    a->end = a->start + size;
    return true;
}

/* Sizes that do not fit in 32 bits stand in an extra field, those alone, in this order. */
static bool read_extra(const archive *a, const unsigned char *extra, size_t length, member *m)
{
    uint64_t *const wide[] = {&m->size, &m->packed, &m->offset};
    bool needs = m->size == UINT32_MAX || m->packed == UINT32_MAX || m->offset == UINT32_MAX;
    for (size_t at = 0; needs && at + 4 <= length;) {
        size_t part = u16(extra + at + 2), inside = at + 4, stop = inside + part;
        if (stop > length) return broken(a, "an extra field of its directory is cut");
        if (u16(extra + at) == EXTRA_ZIP64) {
            for (size_t i = 0; i < 3; i++) {
                if (*wide[i] != UINT32_MAX) continue;
                if (inside + 8 > stop) return broken(a, "a zip64 size of its directory is missing");
                *wide[i] = u64(extra + inside);
                inside += 8;
            }
            return true;
        }
        at = stop;
    }
    return !needs || broken(a, "a zip64 size of its directory is missing");
}

static bool read_member(const archive *a, uint64_t *at, member *m)
{
    if (a->end - *at < CENTRAL_BYTES || u32(a->bytes + *at) != SIGNATURE_CENTRAL) return broken(a, "its directory is cut or damaged");
    const unsigned char *b = a->bytes + *at;
    size_t name = u16(b + 28), extra = u16(b + 30), comment = u16(b + 32);
    if (a->end - *at - CENTRAL_BYTES < name + extra + comment) return broken(a, "its directory is cut or damaged");
    *m = (member){(const char *)b + CENTRAL_BYTES, name, u16(b + 8), u16(b + 10), u32(b + 16), u32(b + 20), u32(b + 24), u32(b + 42)};
    *at += CENTRAL_BYTES + name + extra + comment;
    return read_extra(a, b + CENTRAL_BYTES + name, extra, m);
}

/* ---- choosing ---- */

static bool is_called(const member *m, const char *wanted)
{
    size_t length = strlen(wanted);
    if (m->name_length == length) return !memcmp(m->name, wanted, length);
    return m->name_length == length + 4 && !memcmp(m->name, wanted, length) && !memcmp(m->name + length, ".npy", 4);
}

static void list_name(const member *m, char *names, size_t bytes)
{
    size_t used = strlen(names), shown = m->name_length;
    if (shown > 4 && !memcmp(m->name + shown - 4, ".npy", 4)) shown -= 4;
    if (used + shown + 3 >= bytes) return;
    if (used) names[used++] = ',', names[used++] = ' ';
    for (size_t i = 0; i < shown; i++) names[used++] = (unsigned char)m->name[i] < ' ' ? '?' : m->name[i];
    names[used] = 0;
}

static bool choose(const archive *a, const char *wanted, member *chosen)
{
    uint64_t at = a->start;
    member first = {0};
    char names[256] = "";
    for (uint64_t i = 0; i < a->count; i++) {
        member m;
        if (!read_member(a, &at, &m)) return false;
        if (is_called(&m, wanted)) {
            *chosen = m;
            return true;
        }
        if (!i) first = m;
        list_name(&m, names, sizeof names);
    }
    *chosen = first;
    if (a->count == 1) return true;
    if (!a->count) return broken(a, "it has no members");
    return base_fail(a->error, WG_NAME, "%s has no array %s; it holds %s", a->name, wanted, names);
}

/* ---- one member ---- */

/* CRC-32 of ISO 3309, four bits at a time. */
static uint32_t checksum_of(const unsigned char *bytes, size_t length)
{
    static const uint32_t table[16] = {0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
                                       0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C};
    uint32_t sum = UINT32_MAX;
    for (size_t i = 0; i < length; i++) {
        sum ^= bytes[i];
        sum = sum >> 4 ^ table[sum & 15];
        sum = sum >> 4 ^ table[sum & 15];
    }
    return ~sum;
}

/* Where the member's packed bytes start, behind its local header. */
static bool find_packed(const archive *a, const member *m, const unsigned char **packed)
{
    if (m->offset > a->start || a->start - m->offset < LOCAL_BYTES || u32(a->bytes + m->offset) != SIGNATURE_LOCAL)
        return broken(a, "a member lies outside of it");
    const unsigned char *local = a->bytes + m->offset;
    uint64_t left = a->start - m->offset - LOCAL_BYTES, skipped = u16(local + 26) + u16(local + 28);
    if (u16(local + 26) != m->name_length || skipped > left || memcmp(local + LOCAL_BYTES, m->name, m->name_length) ||
        u16(local + 8) != m->method)
        return broken(a, "a member's header and the directory differ");
    if (m->packed > left - skipped) return broken(a, "a member lies outside of it");
    *packed = local + LOCAL_BYTES + skipped;
    return true;
}

static bool copy_stored(const archive *a, const member *m, const unsigned char *packed, gzip_bytes *content)
{
    if (m->packed != m->size) return broken(a, "a stored member has two sizes");
    content->capacity = m->size ? (size_t)m->size : 1;
    content->bytes = base_allocate(base_allocator(NULL), content->capacity);
    if (!content->bytes) return base_fail_memory(a->error);
    content->length = (size_t)m->size;
    memcpy(content->bytes, packed, content->length);
    return true;
}

bool zip_read(const char *name, const void *bytes, size_t length, const char *wanted, size_t most, gzip_bytes *content, wg_error *error)
{
    archive a = {.name = name, .bytes = bytes, .length = length, .error = error};
    member m;
    const unsigned char *packed = NULL;
    *content = (gzip_bytes){0};
    if (!open_archive(&a) || !choose(&a, wanted, &m)) return false;
    if (m.flags & FLAG_ENCRYPTED) return base_fail(error, WG_UNSUPPORTED, "%s is encrypted; write it without a password", name);
    if (!find_packed(&a, &m, &packed)) return false;
    if (m.size > most)
        return base_fail(error, WG_SIZE, "%s: a member of %llu bytes; at most %zu are read", name, (unsigned long long)m.size, most);
    bool good;
    if (m.method == METHOD_STORED) good = copy_stored(&a, &m, packed, content);
    else if (m.method != METHOD_DEFLATED)
        return base_fail(error, WG_UNSUPPORTED, "%s: compression method %u; stored and deflated members are read", name, m.method);
    else if (m.size / MOST_RATIO > m.packed) return broken(&a, "a member claims more bytes than its packed ones can hold");
    else good = gzip_inflate(name, packed, (size_t)m.packed, (size_t)m.size, content, error);
    if (good && checksum_of(content->bytes, content->length) != m.checksum) good = broken(&a, "a member's checksum is wrong");
    if (!good) gzip_free(content);
    return good;
}
