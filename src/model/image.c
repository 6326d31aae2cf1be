/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Images read: every length and offset is checked, then the program is authored again and must be the one that was compiled. */
#include "model/image.h"

#include <string.h>

#include "base/checked.h"

#define LEAST 16u /* bytes before the header */
#define MOST_HEADER (256u << 20)

bool model_is_image(const char *path)
{
    return base_ends_with(path, ".wgm");
}

typedef struct image {
    const char *path;
    base_file *file;
    base_arena arena;      /* of the header */
    const base_json *root;
    uint64_t start;        /* of the parts: where the header ends */
    wg_error *error;
} image;

static bool malformed(const image *i, const char *what)
{
    return base_fail(i->error, WG_FORMAT, "%s: %s; compile the model again", i->path, what);
}

static bool read_header(image *i)
{
    const unsigned char *bytes = i->file->bytes;
    uint64_t length = 0;
    if (i->file->length < LEAST || memcmp(bytes, MODEL_IMAGE_MAGIC, 8)) return base_fail(i->error, WG_FORMAT, "%s is no image of a model", i->path);
    for (int b = 8; b-- > 0;) length = length << 8 | bytes[8 + b];
    if (length > i->file->length - LEAST || length > MOST_HEADER) return malformed(i, "the header is longer than the file");
    i->start = LEAST + length;
    if (i->start % MODEL_IMAGE_UNIT) return malformed(i, "the header does not end at a multiple of 64");
    i->root = base_json_read(&i->arena, i->path, (const char *)bytes + LEAST, (size_t)length, i->error);
    return i->root && (i->root->type == BASE_JSON_OBJECT || malformed(i, "the header is no object"));
}

/* Where an item lies: within the file, at a multiple of the unit. */
static bool read_place(const image *i, const base_json *item, uint64_t *offset, uint64_t *bytes)
{
    if (!base_json_unsigned(base_json_find(item, "offset"), offset) || !base_json_unsigned(base_json_find(item, "bytes"), bytes)) return malformed(i, "an item has no offset and bytes");
    uint64_t room = i->file->length - i->start;
    if (*offset % MODEL_IMAGE_UNIT || *offset > room || *bytes > room - *offset) return malformed(i, "an item lies beyond the file");
    *offset += i->start;
    return true;
}

static const char *text_of(const base_json *item, const char *key)
{
    const base_json *found = base_json_find(item, key);
    return found && found->type == BASE_JSON_STRING && strlen(found->text) == found->length ? found->text : NULL;
}

static bool begin(image *i, const wg_allocator *allocator, const char *path, base_file *file, wg_error *error)
{
    *i = (image){path, file, base_arena_new(allocator), NULL, 0, error};
    if (!base_file_map(path, file, error)) return false;
    if (read_header(i)) return true;
    base_file_close(file);
    base_arena_free(&i->arena);
    return false;
}

/* ---- the configuration ---- */

static bool fact(const image *i, const base_json *facts, const char *key, double *value)
{
    return base_json_float(base_json_find(facts, key), WG_KIND_F64, value) || base_fail(i->error, WG_FORMAT, "%s: the fact \"%s\" is missing", i->path, key);
}

static bool flag(const image *i, const base_json *facts, const char *key, bool *value)
{
    const base_json *found = base_json_find(facts, key);
    *value = found && found->type == BASE_JSON_TRUE;
    return found || base_fail(i->error, WG_FORMAT, "%s: the fact \"%s\" is missing", i->path, key);
}

static bool read_factors(const image *i, model_config *c, const base_json *factors)
{
    model_rope *rope = &c->ropes[0];
    int64_t at = 0;
    if (!factors) return true;
    if (factors->type != BASE_JSON_ARRAY || factors->count != rope->width / 2) return malformed(i, "the rope factors are not half as many as the rotated width");
    rope->long_factors = base_arena_take(&c->arena, (size_t)factors->count * sizeof(double));
    if (!rope->long_factors) return base_fail_memory(i->error);
    for (const base_json *item = factors->first; item; item = item->next)
        if (!base_json_float(item, WG_KIND_F64, &rope->long_factors[at++])) return malformed(i, "a rope factor is no number");
    rope->type = MODEL_ROPE_FACTORS;
    return true;
}

/* The same keys as export_config.c writes. */
static bool read_facts(const image *i, wg_model_spec *spec)
{
    const base_json *facts = base_json_find(i->root, "facts");
    model_config *c = &spec->config;
    return flag(i, facts, "gguf", &c->gguf) && flag(i, facts, "neighbours", &c->neighbours) && flag(i, facts, "norms_plus_one", &c->norms_plus_one) &&
           flag(i, facts, "attention_bias", &c->attention_bias) && flag(i, facts, "mlp_bias", &c->mlp_bias) && fact(i, facts, "attention_scale", &c->attention_scale) &&
           fact(i, facts, "embedding_scale", &c->embedding_scale) && fact(i, facts, "adapter_scale", &spec->adapter_scale) &&
           read_factors(i, c, base_json_find(facts, "rope_factors"));
}

static bool read_tensor(const image *i, wg_model_spec *spec, const base_json *item)
{
    const char *name = text_of(item, "name"), *kind = text_of(item, "kind");
    const base_json *shape = base_json_find(item, "shape");
    model_tensor tensor = {.name = name, .kind = kind ? wg_kind_from_name(kind) : WG_KIND_COUNT};
    int64_t volume, size;
    if (!name || tensor.kind >= WG_KIND_COUNT || !shape || shape->type != BASE_JSON_ARRAY || shape->count > WG_MAX_RANK) return malformed(i, "a tensor needs name, kind and shape");
    for (const base_json *extent = shape->first; extent; extent = extent->next)
        if (!base_json_integer(extent, &tensor.shape[tensor.rank++]) || tensor.shape[tensor.rank - 1] < 0) return malformed(i, "a tensor has an extent that is none");
    if (!base_volume(tensor.rank, tensor.shape, &volume) || !base_kind_size(tensor.kind, volume, &size)) return malformed(i, "a tensor does not fit in 64 bits");
    if (!read_place(i, item, &tensor.offset, &tensor.bytes)) return false;
    return (tensor.bytes == (uint64_t)size || malformed(i, "a tensor's bytes are not those of its shape")) && model_add_tensor(spec, &tensor, i->error);
}

static bool read_identity(const image *i, wg_model_identity *identity)
{
    const base_json *stored = base_json_find(i->root, "identity");
    const char *cut = text_of(stored, "cut"), *digest = text_of(stored, "sha256");
    int64_t semantics = 0, chips = 0;
    if (!cut || !digest || strlen(cut) >= sizeof identity->cut || strlen(digest) >= sizeof identity->sha256 ||
        !base_json_integer(base_json_find(stored, "semantics"), &semantics) || !base_json_integer(base_json_find(stored, "chips"), &chips))
        return malformed(i, "the identity is not whole");
    *identity = (wg_model_identity){.semantics = (int32_t)semantics, .chips = (uint32_t)chips};
    memcpy(identity->cut, cut, strlen(cut) + 1);
    memcpy(identity->sha256, digest, strlen(digest) + 1);
    return true;
}

bool model_image_open(wg_model_spec *spec, const char *path, wg_model_identity *identity, wg_error *error)
{
    base_file file;
    image i;
    const char *kept = base_arena_string(&spec->arena, path, strlen(path));
    if (!kept) return base_fail_memory(error);
    if (!begin(&i, spec->allocator, path, &file, error)) return false;
    const base_json *config = base_json_find(i.root, "config"), *tensors = base_json_find(i.root, "tensors");
    bool good = (config && tensors && tensors->type == BASE_JSON_ARRAY) || malformed(&i, "the header needs config and tensors");
    good = good && read_identity(&i, identity) && model_config_read(&spec->config, spec->allocator, kept, config, error) && read_facts(&i, spec);
    for (const base_json *item = good ? tensors->first : NULL; good && item; item = item->next) good = read_tensor(&i, spec, item);
    base_file_close(&file);
    base_arena_free(&i.arena);
    return good;
}

bool model_image_check(wg_model_spec *spec, const char *path, const wg_model_identity *there, wg_error *error)
{
    wg_model_identity here;
    wg_error local = {.code = WG_OK};
    if (!wg_model_identify(spec, &(wg_model_cut){.size = sizeof(wg_model_cut)}, &here, error)) return false;
    return wg_model_identity_check(&here, there, &local) || base_fail(error, WG_DIFFERS, "%s was compiled as another program: %s; compile the model again", path, local.message);
}

/* ---- files within ---- */

bool model_image_find(const wg_allocator *allocator, const char *path, const char *name, base_file *file, base_file *part, wg_error *error)
{
    image i;
    if (!begin(&i, allocator, path, file, error)) return false;
    const base_json *files = base_json_find(i.root, "files");
    bool found = false;
    for (const base_json *item = files && files->type == BASE_JSON_ARRAY ? files->first : NULL; item && !found; item = item->next) {
        const char *its = text_of(item, "name");
        uint64_t offset, bytes;
        if (!its || strcmp(its, name) || !read_place(&i, item, &offset, &bytes)) continue;
        *part = (base_file){.bytes = file->bytes + offset, .length = (size_t)bytes};
        found = true;
    }
    base_arena_free(&i.arena);
    if (!found) base_file_close(file);
    return found;
}
