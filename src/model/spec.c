/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Specifications: a configuration and what the headers of its weights say. Files are mapped while their headers are read; weights.c of a later
 * run maps them again. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/safetensors.h"
#include "model/gguf.h"
#include "model/image.h"
#include "model/model.h"
#include "model/written.h"

/* The greatest config.json and index that are read. */
#define MOST_JSON (64u << 20)

/* ---- tensors ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const model_tensor *)a)->name, ((const model_tensor *)b)->name);
}

const model_tensor *model_find_tensor(const wg_model_spec *spec, const char *name)
{
    model_tensor key = {.name = name};
    return spec->tensor_count ? bsearch(&key, spec->tensors, spec->tensor_count, sizeof key, by_name) : NULL;
}

typedef struct opening {
    wg_model_spec *spec;
    wg_error *error;
} opening;

static bool fail_memory(const opening *o)
{
    return base_fail_memory(o->error);
}

static const char *keep(const opening *o, const char *text)
{
    return base_arena_string(&o->spec->arena, text, strlen(text));
}

/* One more file of weights; its number, or WG_NONE. */
static uint32_t add_file(opening *o, const char *name)
{
    wg_model_spec *spec = o->spec;
    if (!BASE_RESERVE(spec->allocator, spec->files, spec->file_capacity, spec->file_count + 1) || !(name = keep(o, name))) {
        fail_memory(o);
        return WG_NONE;
    }
    spec->files[spec->file_count] = name;
    return spec->file_count++;
}

bool model_add_tensor(wg_model_spec *spec, const model_tensor *tensor, wg_error *error)
{
    if (!BASE_RESERVE(spec->allocator, spec->tensors, spec->tensor_capacity, spec->tensor_count + 1)) return base_fail_memory(error);
    const char *name = base_arena_string(&spec->arena, tensor->name, strlen(tensor->name));
    if (!name) return base_fail_memory(error);
    spec->tensors[spec->tensor_count] = *tensor;
    spec->tensors[spec->tensor_count++].name = name;
    return true;
}

static int by_place(const void *left, const void *right)
{
    const model_tensor *a = left, *b = right;
    if (a->file != b->file) return a->file < b->file ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* No byte of a file belongs to two tensors. */
static bool stand_apart(const opening *o)
{
    wg_model_spec *spec = o->spec;
    const model_tensor *before = NULL;
    if (spec->tensor_count) qsort(spec->tensors, spec->tensor_count, sizeof *spec->tensors, by_place);
    for (const model_tensor *own = spec->tensors; own < spec->tensors + spec->tensor_count; own++) {
        if (!own->bytes) continue;
        if (before && before->file == own->file && own->offset < before->offset + before->bytes)
            return base_fail(o->error, WG_FORMAT, "%s: the tensors %s and %s overlap", spec->config.name, before->name, own->name);
        before = own;
    }
    return true;
}

static bool sort_tensors(const opening *o)
{
    wg_model_spec *spec = o->spec;
    bool apart = stand_apart(o);
    if (spec->tensor_count) qsort(spec->tensors, spec->tensor_count, sizeof *spec->tensors, by_name);
    if (!apart) return false;
    for (uint32_t i = 1; i < spec->tensor_count; i++)
        if (!strcmp(spec->tensors[i - 1].name, spec->tensors[i].name))
            return base_fail(o->error, WG_FORMAT, "%s: the tensor %s is there twice", spec->config.name, spec->tensors[i].name);
    return true;
}

/* ---- safetensors ---- */

/* The path of a file in the folder; owned by the arena. */
const char *model_path(wg_model_spec *spec, const char *file)
{
    if (file[0] == '/') return base_arena_string(&spec->arena, file, strlen(file)); /* an adapter from elsewhere */
    size_t length = strlen(spec->directory) + strlen(file) + 2;
    char *path = base_arena_take(&spec->arena, length);
    if (path) snprintf(path, length, "%s/%s", spec->directory, file);
    return path;
}

/* Tensors of one file; with a map of shards only those that it gives to this file count. */
static bool add_tensors(opening *o, uint32_t number, const base_safetensors *file, const unsigned char *start, const base_json *map)
{
    for (uint32_t i = 0; i < file->count; i++) {
        const base_safetensor *from = &file->tensors[i];
        const base_json *given = map ? base_json_find(map, from->name) : NULL;
        if (map && (!given || strcmp(given->text, o->spec->files[number]))) continue; /* check_files: it is a text */
        model_tensor tensor = {.name = from->name, .kind = from->kind, .rank = from->rank, .file = number,
                               .offset = (uint64_t)(from->items - start), .bytes = from->bytes};
        memcpy(tensor.shape, from->shape, from->rank * sizeof *tensor.shape);
        if (!model_add_tensor(o->spec, &tensor, o->error)) return false;
    }
    return true;
}

static bool read_safetensors(opening *o, const char *name, const base_json *map)
{
    uint32_t number = add_file(o, name);
    const char *path = number == WG_NONE ? NULL : model_path(o->spec, name);
    base_file bytes;
    base_safetensors file;
    if (!path) return fail_memory(o);
    if (!base_file_map(path, &bytes, o->error)) return false;
    bool good = base_safetensors_open(&file, o->spec->allocator, path, bytes.bytes, bytes.length, o->error);
    if (good) {
        good = add_tensors(o, number, &file, bytes.bytes, map);
        base_safetensors_close(&file);
    }
    base_file_close(&bytes);
    return good;
}

/* A plain name of a file in the folder. */
static bool is_plain(const char *name)
{
    return *name && !strchr(name, '/') && strcmp(name, ".") && strcmp(name, "..");
}

/* All of them before the first is read: what a shard's tensors are looked up in is then a map of names. */
static bool check_files(const opening *o, const base_json *map, const char *path)
{
    for (const base_json *item = map->first; item; item = item->next)
        if (item->type != BASE_JSON_STRING || strlen(item->text) != item->length || !is_plain(item->text))
            return base_fail(o->error, WG_FORMAT, "%s: the file of %s must be a plain name in the same folder", path, item->key);
    return true;
}

static bool read_shard(opening *o, const base_json *item, const base_json *map)
{
    for (uint32_t i = 0; i < o->spec->file_count; i++)
        if (!strcmp(o->spec->files[i], item->text)) return true;
    return read_safetensors(o, item->text, map);
}

static bool check_map(const opening *o, const base_json *map, const char *path)
{
    for (const base_json *item = map->first; item; item = item->next)
        if (!model_find_tensor(o->spec, item->key))
            return base_fail(o->error, WG_FORMAT, "%s: %s has no tensor %s", path, item->text, item->key);
    return true;
}

static bool read_index(opening *o, const char *path)
{
    base_file bytes;
    base_arena scratch = base_arena_new(o->spec->allocator);
    if (!base_file_read(o->spec->allocator, path, MOST_JSON, &bytes, o->error)) return false;
    const base_json *json = base_json_read(&scratch, path, (const char *)bytes.bytes, bytes.length, o->error);
    const base_json *map = json ? base_json_find(json, "weight_map") : NULL;
    bool good = json && ((map && map->type == BASE_JSON_OBJECT) ||
                         base_fail(o->error, WG_FORMAT, "%s: the key \"weight_map\" is missing: it gives each tensor its file", path));
    good = good && check_files(o, map, path);
    for (const base_json *item = good ? map->first : NULL; item && good; item = item->next) good = read_shard(o, item, map);
    good = good && sort_tensors(o) && check_map(o, map, path);
    base_arena_free(&scratch);
    base_file_close(&bytes);
    return good;
}

static bool exists(const char *path)
{
    struct stat facts;
    return !stat(path, &facts);
}

static bool is_folder(const char *path)
{
    struct stat facts;
    return !stat(path, &facts) && S_ISDIR(facts.st_mode);
}

static bool read_weights(opening *o)
{
    const char *index = model_path(o->spec, "model.safetensors.index.json"), *one = model_path(o->spec, "model.safetensors");
    if (!index || !one) return fail_memory(o);
    if (exists(index)) return read_index(o, index);
    return !exists(one) || (read_safetensors(o, "model.safetensors", NULL) && sort_tensors(o));
}

/* Some files name tensors with a prefix of their own, or (GPT-2's first ones) without "transformer.": a text always has the usual name. */
static bool rename_tensors(opening *o)
{
    static const char *const prefixes[] = {"model.language_model.", "language_model."};
    wg_model_spec *spec = o->spec;
    bool bare = spec->config.family == MODEL_GPT2 && !spec->config.gguf && spec->tensor_count && !model_find_tensor(spec, "transformer.wte.weight");
    for (uint32_t i = 0; i < spec->tensor_count; i++) {
        const char *name = spec->tensors[i].name;
        if (bare) {
            char longer[256];
            snprintf(longer, sizeof longer, "transformer.%s", name);
            if (strncmp(name, "lm_head.", 8) && !(spec->tensors[i].name = keep(o, longer))) return fail_memory(o);
            continue;
        }
        for (int p = 0; p < 2; p++) {
            if (strncmp(name, prefixes[p], strlen(prefixes[p]))) continue;
            const char *rest = name + strlen(prefixes[p]);
            char renamed[256];
            snprintf(renamed, sizeof renamed, "%s%s", p == 0 ? "model." : "", rest);
            if (!(spec->tensors[i].name = keep(o, renamed))) return fail_memory(o);
            break;
        }
    }
    return sort_tensors(o);
}

/* ---- the public calls ---- */

static wg_model_spec *new_spec(wg_context *context, wg_error *error)
{
    const wg_allocator *allocator = base_allocator(context);
    wg_model_spec *spec = base_allocate_zeroed(allocator, sizeof *spec);
    if (!spec) return base_fail_memory(error), NULL;
    spec->context = context;
    spec->allocator = allocator;
    spec->arena = base_arena_new(allocator);
    spec->config.arena = base_arena_new(allocator);
    spec->directory = ".";
    spec->adapter_scale = MODEL_ADAPTER_SCALE;
    return spec;
}

static bool read_config(opening *o, const char *text, size_t length, const char *name)
{
    base_arena scratch = base_arena_new(o->spec->allocator);
    const base_json *json = base_json_read(&scratch, name, text, length, o->error);
    const char *kept = keep(o, name);
    bool good = json && (kept || fail_memory(o)) && model_config_read(&o->spec->config, o->spec->allocator, kept, json, o->error);
    base_arena_free(&scratch);
    return good;
}

static bool read_config_file(opening *o, const char *path)
{
    base_file bytes;
    if (!base_file_read(o->spec->allocator, path, MOST_JSON, &bytes, o->error)) return false;
    bool good = read_config(o, (const char *)bytes.bytes, bytes.length, path);
    base_file_close(&bytes);
    return good;
}

/* What a folder of weights says beside its configuration about tokens that end a text. */
static bool read_generation_file(opening *o)
{
    const char *path = model_path(o->spec, "generation_config.json");
    base_file bytes;
    if (!path) return fail_memory(o);
    if (!exists(path)) return true;
    if (!base_file_read(o->spec->allocator, path, MOST_JSON, &bytes, o->error)) return false;
    base_arena scratch = base_arena_new(o->spec->allocator);
    const base_json *json = base_json_read(&scratch, path, (const char *)bytes.bytes, bytes.length, o->error);
    bool good = json && model_config_more_ends(&o->spec->config, path, json, o->error);
    base_arena_free(&scratch);
    base_file_close(&bytes);
    return good;
}

/* Records the least decode cut once: what is missing or has another shape is told now. */
static bool check_weights(opening *o)
{
    if (!o->spec->tensor_count) return true;
    wg_network *network = wg_model_network(o->spec, &(wg_model_cut){.size = sizeof(wg_model_cut), .ctx = 1}, o->error);
    bool good = network != NULL;
    wg_network_release(&network);
    return good;
}

static bool open_path(opening *o, const char *path);

static bool open_written(opening *o, const char *path)
{
    char folder[MODEL_WRITTEN_FOLDER];
    base_file file;
    wg_model_spec *spec = o->spec;
    if (!model_written_open(spec->allocator, path, &file, folder, o->error)) return false;
    spec->text = base_arena_string(&spec->arena, (const char *)file.bytes, file.length);
    spec->text_length = file.length;
    spec->text_path = keep(o, path);
    base_file_close(&file);
    if (!spec->text || !spec->text_path) return fail_memory(o);
    return is_folder(folder) ? open_path(o, folder) : base_fail(o->error, WG_FILE, "%s names its weights under %s, which is no folder", path, folder);
}

static bool open_path(opening *o, const char *path)
{
    wg_model_spec *spec = o->spec;
    if (is_folder(path)) {
        spec->directory = keep(o, path);
        const char *config = spec->directory ? model_path(spec, "config.json") : NULL;
        if (!config) return fail_memory(o);
        return read_config_file(o, config) && read_generation_file(o) && read_weights(o) && rename_tensors(o) && check_weights(o);
    }
    const char *slash = strrchr(path, '/');
    spec->directory = slash ? base_arena_string(&spec->arena, path, slash > path ? (size_t)(slash - path) : 1) : ".";
    if (!spec->directory) return fail_memory(o);
    if (base_ends_with(path, ".gguf"))
        return add_file(o, slash ? slash + 1 : path) != WG_NONE && model_gguf_open(spec, path, o->error) && sort_tensors(o) && check_weights(o);
    if (base_ends_with(path, ".bin"))
        return add_file(o, slash ? slash + 1 : path) != WG_NONE && model_llama2c_open(spec, path, o->error) && sort_tensors(o) && check_weights(o);
    if (model_is_written(path)) return open_written(o, path);
    if (model_is_image(path)) {
        wg_model_identity compiled;
        return add_file(o, slash ? slash + 1 : path) != WG_NONE && model_image_open(spec, path, &compiled, o->error) && sort_tensors(o) && model_image_check(spec, path, &compiled, o->error);
    }
    if (read_config_file(o, path)) return true;
    if (o->error->code == WG_FILE || o->error->code == WG_MEMORY || base_ends_with(path, ".json")) return false;
    wg_error_clear(o->error); /* where in a text of another kind JSON ends is no help */
    return base_fail(o->error, WG_FORMAT, "%s is no model: those are folders with config.json, or files .gguf, .bin (llama2.c), .wgm, .wg and config.json", path);
}

wg_model_spec *wg_model_spec_open(wg_context *context, const char *path, wg_error *error)
{
    wg_error local = {.code = WG_OK};
    if (!path) return base_fail(error, WG_ARGUMENT, "a model needs a path"), NULL;
    opening o = {new_spec(context, &local), &local};
    if (o.spec && !open_path(&o, path)) wg_model_spec_free(&o.spec);
    if (!o.spec && error && !error->code) *error = local;
    return o.spec;
}

wg_model_spec *wg_model_spec_parse(wg_context *context, const char *text, size_t length, const char *name, wg_error *error)
{
    wg_error local = {.code = WG_OK};
    if (!text) return base_fail(error, WG_ARGUMENT, "a configuration needs its text"), NULL;
    opening o = {new_spec(context, &local), &local};
    if (o.spec && !read_config(&o, text, length, name ? name : "config.json")) wg_model_spec_free(&o.spec);
    if (!o.spec && error && !error->code) *error = local;
    return o.spec;
}

void wg_model_spec_free(wg_model_spec **handle)
{
    if (!handle || !*handle) return;
    wg_model_spec *spec = *handle;
    *handle = NULL;
    model_config_free(&spec->config);
    base_free(spec->allocator, spec->tensors, spec->tensor_capacity * sizeof *spec->tensors);
    base_free(spec->allocator, spec->files, spec->file_capacity * sizeof *spec->files);
    base_arena_free(&spec->arena);
    base_free(spec->allocator, spec, sizeof *spec);
}

bool wg_model_spec_facts(const wg_model_spec *spec, wg_model_facts *facts)
{
    if (!spec || !facts || facts->size != sizeof *facts) return false;
    const model_config *c = &spec->config;
    *facts = (wg_model_facts){sizeof *facts, model_families[c->family].model_type, c->layers, c->width, c->vocabulary, c->heads, c->key_heads,
                              c->head_width, c->positions, c->begin, c->end, c->ends, c->end_count};
    return true;
}

/* ---- adapters ---- */

/* Where the name of an adapter of a weight ends as such; NULL: it is none. */
static const char *adapter_mark(const char *name)
{
    const char *mark = strstr(name, ".lora_");
    return mark && (!strcmp(mark, ".lora_A.weight") || !strcmp(mark, ".lora_B.weight")) ? mark : NULL;
}

static bool fail_adapter(const opening *o, const base_safetensors *file, const char *name)
{
    return base_fail(o->error, WG_NAME, "%s: %s is an adapter of no weight of %s", file->name, name, o->spec->config.name);
}

/* Adapters come in twos, of weights that products read. */
static bool check_adapter(const opening *o, const base_safetensors *file, const wg_network *network)
{
    for (uint32_t i = 0; i < file->count; i++) {
        const char *name = file->tensors[i].name, *mark = adapter_mark(name);
        char other[256];
        if (wg_network_symbol(network, name).position == WG_NONE) return fail_adapter(o, file, name);
        snprintf(other, sizeof other, "%.*s.lora_%c.weight", (int)(mark - name), name, mark[6] == 'A' ? 'B' : 'A');
        if (!model_find_tensor(o->spec, other)) return base_fail(o->error, WG_NAME, "%s: %s is there without %s", file->name, name, other);
    }
    return true;
}

static bool add_adapter(opening *o, const base_safetensors *file, const unsigned char *start, uint32_t number)
{
    const char *scale = base_safetensors_metadata(file, "lora_scale");
    double parsed;
    if (scale && (!*scale || base_parse_float(scale, strlen(scale), WG_KIND_F64, &parsed) != strlen(scale) || !(parsed - parsed == 0)))
        return base_fail(o->error, WG_FORMAT, "%s: lora_scale must be a number", file->name);
    for (uint32_t i = 0; i < file->count; i++)
        if (!adapter_mark(file->tensors[i].name)) return fail_adapter(o, file, file->tensors[i].name);
    if (!add_tensors(o, number, file, start, NULL) || !sort_tensors(o)) return false;
    if (scale) o->spec->adapter_scale = parsed;
    wg_network *network = wg_model_network(o->spec, &(wg_model_cut){.size = sizeof(wg_model_cut), .ctx = 1}, o->error);
    bool good = network && check_adapter(o, file, network);
    wg_network_release(&network);
    return good;
}

bool wg_model_spec_adapt(wg_model_spec *spec, const char *path, wg_error *error)
{
    if (!spec || !path) return base_fail(error, WG_ARGUMENT, "adapting needs a spec and a path");
    opening o = {spec, error};
    base_file bytes;
    base_safetensors file;
    char whole[4096];
    if (!realpath(path, whole)) return base_fail(error, WG_FILE, "cannot open %s; check the path", path);
    if (!base_file_map(whole, &bytes, error)) return false;
    uint32_t files = spec->file_count, number;
    double scale = spec->adapter_scale;
    bool good = base_safetensors_open(&file, spec->allocator, path, bytes.bytes, bytes.length, error);
    if (good) {
        number = add_file(&o, whole);
        good = number != WG_NONE && add_adapter(&o, &file, bytes.bytes, number);
        base_safetensors_close(&file);
    }
    base_file_close(&bytes);
    if (good) return true;
    uint32_t kept = 0; /* what was added goes again */
    for (uint32_t i = 0; i < spec->tensor_count; i++)
        if (spec->tensors[i].file < files) spec->tensors[kept++] = spec->tensors[i];
    spec->tensor_count = kept;
    spec->file_count = files;
    spec->adapter_scale = scale;
    return false;
}

uint64_t wg_model_spec_bytes(const wg_model_spec *spec)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; spec && i < spec->tensor_count; i++) bytes += spec->tensors[i].bytes;
    return bytes;
}
