/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A model as an image (image.h): the parameters of its decode cut as a run reads them, experts in one tensor, and what else a run needs. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "model/export.h"
#include "model/gguf.h"
#include "model/image.h"
#include "model/tokenizer.h"
#include "wengert/generate.h"

/* A file that goes into the image. */
typedef struct part {
    const char *name;
    base_string bytes;
} part;

#define MOST_PARTS 2

typedef struct compiling {
    wg_model_spec *spec;
    wg_network *network;
    wg_parameters *weights;
    part parts[MOST_PARTS];
    uint32_t part_count;
    base_string header;
    uint64_t at; /* of the next item, from the end of the header */
    wg_error *error;
} compiling;

/* ---- vocabulary and template ---- */

static bool add_part(compiling *x, const char *name, base_string bytes)
{
    x->parts[x->part_count++] = (part){name, bytes};
    return !bytes.failed || base_fail_memory(x->error);
}

static bool add_file(compiling *x, const char *name, const char *path)
{
    base_file file;
    base_string bytes = base_string_new(x->spec->allocator);
    if (!base_file_map(path, &file, x->error)) return false;
    base_string_put(&bytes, (const char *)file.bytes, file.length);
    base_file_close(&file);
    return add_part(x, name, bytes);
}

/* The first of the files that a folder's vocabulary may be; vocab.json with merges.txt become tokenizer.json. */
static bool add_vocabulary(compiling *x)
{
    static const char *const files[] = {"tokenizer.json", "tokenizer.model", "tokenizer.bin", "tokenizer.bytes"};
    wg_error none = {.code = WG_OK};
    for (size_t i = 0; i < sizeof files / sizeof *files && !x->spec->config.gguf; i++) {
        const char *path = model_path(x->spec, files[i]);
        if (!path) return base_fail_memory(x->error);
        if (!access(path, R_OK)) return add_file(x, files[i], path);
    }
    const char *from = x->spec->config.gguf ? model_path(x->spec, x->spec->files[0]) : x->spec->directory;
    wg_tokenizer *t = from ? wg_tokenizer_open(x->spec->context, from, &none) : NULL;
    if (!t) return true; /* a model without a vocabulary */
    base_string bytes = base_string_new(x->spec->allocator);
    bool gguf = x->spec->config.gguf, good = !gguf || export_gguf_keys(x->spec, &bytes, x->error);
    if (!gguf) export_tokenizer(t, &bytes);
    wg_tokenizer_free(&t);
    return add_part(x, gguf ? "vocabulary.gguf" : "tokenizer.json", bytes) && good;
}

static bool add_template(compiling *x)
{
    wg_error none = {.code = WG_OK};
    char *text = wg_chat_template(x->spec->context, x->spec->config.gguf ? model_path(x->spec, x->spec->files[0]) : x->spec->directory, &none);
    if (!text) return true;
    base_string bytes = base_string_new(x->spec->allocator);
    base_string_puts(&bytes, text);
    wg_text_free(text);
    return add_part(x, "chat_template.jinja", bytes);
}

/* ---- the header ---- */

static void put_place(compiling *x, uint64_t bytes)
{
    base_string_printf(&x->header, ", \"offset\": %llu, \"bytes\": %llu}", (unsigned long long)x->at, (unsigned long long)bytes);
    x->at += (bytes + MODEL_IMAGE_UNIT - 1) / MODEL_IMAGE_UNIT * MODEL_IMAGE_UNIT;
}

static uint64_t bytes_of(const wg_node_facts *node)
{
    int64_t volume = 1;
    for (uint32_t axis = 0; axis < node->rank; axis++) volume *= node->shape[axis];
    return (uint64_t)(volume / wg_kind_block(node->kind)) * wg_kind_bytes(node->kind);
}

static void put_tensors(compiling *x)
{
    base_string_puts(&x->header, ",\n\"tensors\": [");
    for (uint32_t i = 0; i < wg_parameters_count(x->weights); i++) {
        wg_node_facts node;
        wg_network_node(x->network, wg_parameters_symbol(x->weights, i).position, &node);
        base_string_puts(&x->header, i ? ",\n{\"name\": " : "{\"name\": ");
        base_json_put_string(&x->header, node.name, strlen(node.name));
        base_string_printf(&x->header, ", \"kind\": \"%s\", \"shape\": [", wg_kind_name(node.kind));
        for (uint32_t axis = 0; axis < node.rank; axis++) base_string_printf(&x->header, axis ? ", %lld" : "%lld", (long long)node.shape[axis]);
        base_string_puts(&x->header, "]");
        put_place(x, bytes_of(&node));
    }
    base_string_puts(&x->header, "]");
}

static bool make_header(compiling *x)
{
    wg_model_identity identity;
    if (!wg_model_identify(x->spec, &(wg_model_cut){.size = sizeof(wg_model_cut)}, &identity, x->error)) return false;
    base_string_printf(&x->header, "{\"wengert\": 1,\n\"identity\": {\"semantics\": %d, \"cut\": \"%s\", \"chips\": %u, \"sha256\": \"%s\"},\n\"config\": ", identity.semantics, identity.cut,
                       identity.chips, identity.sha256);
    if (!export_config(&x->spec->config, WG_KIND_F32, true, &x->header, x->error)) return false;
    base_string_puts(&x->header, ",\n\"facts\": ");
    export_facts(x->spec, &x->header);
    put_tensors(x);
    base_string_puts(&x->header, ",\n\"files\": [");
    for (uint32_t i = 0; i < x->part_count; i++) {
        base_string_printf(&x->header, "%s{\"name\": \"%s\"", i ? ",\n" : "", x->parts[i].name);
        put_place(x, x->parts[i].bytes.length);
    }
    base_string_puts(&x->header, "]}\n");
    while ((16 + x->header.length) % MODEL_IMAGE_UNIT && !x->header.failed) base_string_puts(&x->header, " ");
    return !x->header.failed || base_fail_memory(x->error);
}

/* ---- writing ---- */

static bool put_item(base_writer *writer, const void *bytes, uint64_t length, wg_error *error)
{
    static const char zeros[MODEL_IMAGE_UNIT];
    return (!length || base_writer_put(writer, bytes, length, error)) && base_writer_put(writer, zeros, (MODEL_IMAGE_UNIT - length % MODEL_IMAGE_UNIT) % MODEL_IMAGE_UNIT, error);
}

static bool put_all(compiling *x, base_writer *writer)
{
    unsigned char start[16] = MODEL_IMAGE_MAGIC;
    for (int b = 0; b < 8; b++) start[8 + b] = (unsigned char)((uint64_t)x->header.length >> (8 * b));
    bool good = base_writer_put(writer, start, sizeof start, x->error) && base_writer_put(writer, x->header.text, x->header.length, x->error);
    for (uint32_t i = 0; good && i < wg_parameters_count(x->weights); i++) {
        wg_node_facts node;
        wg_symbol symbol = wg_parameters_symbol(x->weights, i);
        const wg_tensor *tensor = wg_parameters_of(x->weights, symbol, x->error);
        wg_network_node(x->network, symbol.position, &node);
        good = tensor && put_item(writer, wg_tensor_data(tensor), bytes_of(&node), x->error);
    }
    for (uint32_t i = 0; good && i < x->part_count; i++) good = put_item(writer, x->parts[i].bytes.text, x->parts[i].bytes.length, x->error);
    return good;
}

static bool write_image(compiling *x, const char *path)
{
    base_writer writer;
    if (!base_writer_open(&writer, x->spec->allocator, path, x->error)) return false;
    if (put_all(x, &writer)) return base_writer_commit(&writer, x->error);
    base_writer_abandon(&writer);
    return false;
}

bool wg_model_compile(wg_model_spec *spec, const char *path, wg_error *error)
{
    if (!spec || !path) return base_fail(error, WG_ARGUMENT, "compiling needs a spec and a path");
    if (!spec->tensor_count) return base_fail(error, WG_NAME, "%s has no weights beside it", spec->config.name);
    if (!model_is_image(path)) return base_fail(error, WG_ARGUMENT, "%s: an image's name ends in .wgm", path);
    compiling x = {.spec = spec, .header = base_string_new(spec->allocator), .error = error};
    bool good = (x.network = wg_model_network(spec, &(wg_model_cut){.size = sizeof(wg_model_cut)}, error)) && (x.weights = wg_model_parameters(spec, x.network, error));
    good = good && add_vocabulary(&x) && add_template(&x) && make_header(&x) && write_image(&x, path);
    for (uint32_t i = 0; i < x.part_count; i++) base_string_free(&x.parts[i].bytes);
    base_string_free(&x.header);
    wg_parameters_free(&x.weights);
    wg_network_release(&x.network);
    return good;
}
