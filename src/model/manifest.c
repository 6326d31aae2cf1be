/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The manifest of a model's weights: name, kind, shape, file, offset and SHA-256 of each tensor, and one digest of them all. */
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "model/model.h"

typedef struct files {
    base_file *maps; /* [file_count] */
    uint32_t open;
} files;

static void close_files(const wg_model_spec *spec, files *f)
{
    for (uint32_t i = 0; i < f->open; i++) base_file_close(&f->maps[i]);
    base_free(spec->allocator, f->maps, (spec->file_count + 1) * sizeof *f->maps);
}

static bool open_files(wg_model_spec *spec, files *f, wg_error *error)
{
    *f = (files){base_allocate_zeroed(spec->allocator, (spec->file_count + 1) * sizeof *f->maps), 0};
    if (!f->maps) return base_fail_memory(error);
    for (; f->open < spec->file_count; f->open++) {
        const char *path = model_path(spec, spec->files[f->open]);
        if (!path) return base_fail_memory(error);
        if (!base_file_map(path, &f->maps[f->open], error)) return false;
    }
    return true;
}

static bool tensor_digest(const wg_model_spec *spec, const files *f, const model_tensor *tensor, uint8_t digest[32], wg_error *error)
{
    const base_file *file = &f->maps[tensor->file];
    if (tensor->offset > file->length || tensor->bytes > file->length - tensor->offset)
        return base_fail(error, WG_FORMAT, "%s: %s is beyond its %zu bytes; the file has changed", spec->files[tensor->file], tensor->name, file->length);
    base_sha256 hash;
    base_sha256_start(&hash);
    base_sha256_add(&hash, file->bytes + tensor->offset, tensor->bytes);
    base_sha256_finish(&hash, digest);
    return true;
}

/* What the digest of all weights is made of: each tensor's name, kind, shape and digest, in the order of names. */
static void add_tensor(base_sha256 *all, const model_tensor *tensor, const uint8_t digest[32])
{
    uint32_t rank = tensor->rank;
    const char *kind = tensor->kind == WG_KIND_COUNT ? "?" : wg_kind_name(tensor->kind);
    base_sha256_add(all, tensor->name, strlen(tensor->name) + 1);
    base_sha256_add(all, kind, strlen(kind) + 1);
    for (uint32_t axis = 0; axis < rank; axis++) {
        uint8_t extent[8];
        for (int b = 0; b < 8; b++) extent[b] = (uint8_t)((uint64_t)tensor->shape[axis] >> (8 * b));
        base_sha256_add(all, extent, sizeof extent);
    }
    base_sha256_add(all, digest, 32);
}

static void put_tensor(const wg_model_spec *spec, const model_tensor *tensor, const uint8_t digest[32], bool first, base_string *out)
{
    char hex[65];
    base_sha256_hex(digest, hex);
    base_string_puts(out, first ? "{\"name\": " : ",\n  {\"name\": ");
    base_json_put_string(out, tensor->name, strlen(tensor->name));
    base_string_printf(out, ", \"kind\": \"%s\", \"shape\": [", tensor->kind == WG_KIND_COUNT ? "?" : wg_kind_name(tensor->kind));
    for (uint32_t axis = 0; axis < tensor->rank; axis++) base_string_printf(out, axis ? ", %lld" : "%lld", (long long)tensor->shape[axis]);
    base_string_puts(out, "], \"file\": ");
    base_json_put_string(out, spec->files[tensor->file], strlen(spec->files[tensor->file]));
    base_string_printf(out, ", \"offset\": %llu, \"bytes\": %llu, \"sha256\": \"%s\"}", (unsigned long long)tensor->offset, (unsigned long long)tensor->bytes, hex);
}

/* The digest of all weights, and where out is not NULL the list of them. */
static bool read_all(wg_model_spec *spec, base_string *out, char digest[65], wg_error *error)
{
    files f;
    bool good = open_files(spec, &f, error);
    base_sha256 all;
    uint8_t bytes[32];
    base_sha256_start(&all);
    for (uint32_t i = 0; good && i < spec->tensor_count; i++) {
        good = tensor_digest(spec, &f, &spec->tensors[i], bytes, error);
        if (!good) break;
        add_tensor(&all, &spec->tensors[i], bytes);
        if (out) put_tensor(spec, &spec->tensors[i], bytes, i == 0, out);
    }
    base_sha256_finish(&all, bytes);
    base_sha256_hex(bytes, digest);
    close_files(spec, &f);
    return good;
}

bool wg_model_weights_digest(wg_model_spec *spec, char digest[65], wg_error *error)
{
    if (!spec || !digest) return base_fail(error, WG_ARGUMENT, "a digest needs a spec and room for its digits");
    return read_all(spec, NULL, digest, error);
}

char *wg_model_manifest(wg_model_spec *spec, wg_error *error)
{
    if (!spec) return base_fail(error, WG_ARGUMENT, "a manifest needs a spec"), NULL;
    base_string list = base_string_new(spec->allocator), out = base_string_new(spec->allocator);
    char digest[65];
    bool good = read_all(spec, &list, digest, error);
    if (good) base_string_printf(&out, "{\"wengert\": 1, \"sha256\": \"%s\", \"tensors\": [\n  ", digest);
    if (good && list.length) base_string_put(&out, list.text, list.length);
    base_string_puts(&out, "\n]}\n");
    good = good && (!list.failed || base_fail_memory(error));
    base_string_free(&list);
    if (!good) return base_string_free(&out), NULL;
    char *text = base_text_take(&out);
    if (!text) base_fail_memory(error);
    return text;
}
