/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The weights of a model as the parameters of one of its programs: mapped where a tensor stands by itself in a file, copied where experts that
 * stand one by one become one tensor. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "model/model.h"

/* A mapped file, given back when the last tensor over it goes. */
typedef struct mapping {
    atomic_uint references;
    wg_allocator allocator;
    base_file file;
} mapping;

static void let_go(void *user)
{
    mapping *map = user;
    if (atomic_fetch_sub(&map->references, 1) != 1) return;
    wg_allocator allocator = map->allocator;
    base_file_close(&map->file);
    base_free(&allocator, map, sizeof *map);
}

static mapping *map_file(wg_model_spec *spec, uint32_t number, wg_error *error)
{
    mapping *map = base_allocate_zeroed(spec->allocator, sizeof *map);
    const char *path = map ? model_path(spec, spec->files[number]) : NULL;
    if (!path) base_fail_memory(error);
    else if (base_file_map(path, &map->file, error)) {
        map->allocator = *spec->allocator;
        atomic_init(&map->references, 1);
        return map;
    }
    base_free(spec->allocator, map, sizeof *map);
    return NULL;
}

/* A file may have changed since its header was read. */
static bool covers(const wg_model_spec *spec, const mapping *map, const model_tensor *tensor, wg_error *error)
{
    if (tensor->offset <= map->file.length && tensor->bytes <= map->file.length - tensor->offset) return true;
    return base_fail(error, WG_FORMAT, "%s: %s is beyond its %zu bytes; the file has changed", spec->files[tensor->file], tensor->name, map->file.length);
}

static wg_tensor *mapped(const wg_model_spec *spec, mapping *map, const model_tensor *from, wg_error *error)
{
    const unsigned char *items = map->file.bytes + from->offset;
    size_t unit = wg_kind_block(from->kind) > 1 ? 1 : wg_kind_bytes(from->kind);
    if ((uintptr_t)items % unit) return wg_tensor_new(spec->context, from->kind, from->rank, from->shape, items, error);
    atomic_fetch_add(&map->references, 1);
    return wg_tensor_borrow(spec->context, from->kind, from->rank, from->shape, items, let_go, map, error);
}

/* In the kind of the program: training widens what files hold. */
static wg_tensor *converted(const wg_model_spec *spec, wg_tensor *tensor, wg_kind kind, wg_error *error)
{
    if (!tensor || wg_tensor_kind(tensor) == kind) return tensor;
    const wg_tensor *operands[] = {tensor};
    wg_tensor *wide = wg_op_run(spec->context, WG_OP_Convert, operands, 1, (const int64_t[]){kind, 0}, 2, error);
    wg_tensor_release(tensor);
    return wide;
}

/* Experts that stand apart, [E, out, in]. */
static wg_tensor *stacked(const wg_model_spec *spec, mapping **maps, const wg_node_facts *node, wg_error *error)
{
    char name[256];
    const char *star = strchr(node->name, '*');
    wg_tensor *tensor = wg_tensor_new(spec->context, node->kind, node->rank, node->shape, NULL, error);
    for (int64_t e = 0; tensor && e < node->shape[0]; e++) {
        snprintf(name, sizeof name, "%.*s%lld%s", (int)(star - node->name), node->name, (long long)e, star + 1);
        const model_tensor *from = model_find_tensor(spec, name);
        wg_tensor *one = from && covers(spec, maps[from->file], from, error) ? converted(spec, mapped(spec, maps[from->file], from, error), node->kind, error) : NULL;
        if (one) {
            size_t bytes = (size_t)(wg_tensor_volume(tensor) / node->shape[0] / wg_kind_block(node->kind)) * wg_kind_bytes(node->kind);
            memcpy((char *)wg_tensor_data(tensor) + (size_t)e * bytes, wg_tensor_data(one), bytes);
            wg_tensor_release(one);
            continue;
        }
        if (!from) base_fail(error, WG_NAME, "%s: the weights have no tensor %s of that kind", spec->config.name, name);
        wg_tensor_release(tensor);
        tensor = NULL;
    }
    return tensor;
}

static wg_tensor *payload(const wg_model_spec *spec, mapping **maps, const wg_node_facts *node, wg_error *error)
{
    const model_tensor *from = model_find_tensor(spec, node->name);
    if (!from && strchr(node->name, '*')) return stacked(spec, maps, node, error);
    bool fits = from && (from->kind == node->kind || node->kind == WG_KIND_F32) && from->rank == node->rank && !memcmp(from->shape, node->shape, node->rank * sizeof *node->shape);
    if (!fits) return base_fail(error, WG_NAME, "%s: the weights have no tensor %s of that kind and shape", spec->config.name, node->name), NULL;
    return covers(spec, maps[from->file], from, error) ? converted(spec, mapped(spec, maps[from->file], from, error), node->kind, error) : NULL;
}

static bool fill(const wg_model_spec *spec, mapping **maps, const wg_network *network, wg_parameters *table, wg_error *error)
{
    for (uint32_t i = 0; i < wg_parameters_count(table); i++) {
        wg_symbol symbol = wg_parameters_symbol(table, i);
        wg_node_facts node;
        wg_tensor *tensor = wg_network_node(network, symbol.position, &node) && node.name ? payload(spec, maps, &node, error) : NULL;
        if (!tensor || !wg_parameters_set(table, symbol, tensor, error)) return false;
    }
    return true;
}

wg_parameters *wg_model_parameters(wg_model_spec *spec, const wg_network *network, wg_error *error)
{
    if (!spec || !network) return base_fail(error, WG_ARGUMENT, "loading needs a spec and a program"), NULL;
    size_t bytes = (spec->file_count + 1) * sizeof(mapping *);
    mapping **maps = base_allocate_zeroed(spec->allocator, bytes);
    if (!maps) return base_fail_memory(error), NULL;
    bool good = true;
    for (uint32_t i = 0; good && i < spec->file_count; i++) good = (maps[i] = map_file(spec, i, error)) != NULL;
    wg_parameters *table = good ? wg_parameters_new(network, error) : NULL;
    if (table && !fill(spec, maps, network, table, error)) wg_parameters_free(&table);
    for (uint32_t i = 0; i < spec->file_count; i++)
        if (maps[i]) let_go(maps[i]);
    base_free(spec->allocator, maps, bytes);
    return table;
}
