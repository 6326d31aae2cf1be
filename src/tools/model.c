/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Models on the command line: a program text or a trained model, its entries, its extents. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tools/tools.h"

/* A text larger than this is no program that anybody wrote. */
#define MOST_TEXT ((size_t)1 << 30)

static wg_tensor *payload_of(void *user, const char *manifest)
{
    wg_tensor *tensor = user ? wg_bundle_get(user, manifest) : NULL;
    return tensor ? wg_tensor_retain(tensor) : NULL;
}

static bool parse_text(const char *path, wg_bundle *weights, tool_model *model, wg_error *error)
{
    base_file file;
    bool is_stdin = !strcmp(path, "-");
    if (!base_file_read(tool_allocator(), is_stdin ? "/dev/stdin" : path, MOST_TEXT, &file, error)) return false;
    wg_text_options options = {.size = sizeof options, .payload = payload_of, .user = weights};
    model->network = wg_text_parse(NULL, (const char *)file.bytes, file.length, is_stdin ? "stdin" : path, &options, error);
    base_file_close(&file);
    if (!model->network) return false;
    model->parameters = wg_parameters_new(model->network, error);
    return model->parameters && (!weights || wg_parameters_load(model->parameters, model->network, weights, error));
}

static bool open_checkpoint(const char *path, wg_bundle *weights, tool_model *model, wg_error *error)
{
    if (!wg_checkpoint_load(NULL, path, &model->checkpoint, error)) return false;
    model->is_checkpoint = true;
    model->network = model->checkpoint.network;
    model->parameters = model->checkpoint.parameters;
    return !weights || wg_parameters_load(model->parameters, model->network, weights, error);
}

bool tool_model_open(const tool_call *call, const char *path, tool_model *model, wg_error *error)
{
    memset(model, 0, sizeof *model);
    const char *weights_path = tool_value(call, "weights");
    wg_bundle *weights = weights_path ? wg_bundle_read(NULL, weights_path, error) : NULL;
    if (weights_path && !weights) return false;
    bool good = base_ends_with(path, ".safetensors") ? open_checkpoint(path, weights, model, error) : parse_text(path, weights, model, error);
    wg_bundle_free(&weights);
    if (!good) tool_model_close(model);
    return good;
}

void tool_model_close(tool_model *model)
{
    if (model->is_checkpoint) wg_checkpoint_free(&model->checkpoint);
    else {
        wg_parameters_free(&model->parameters);
        wg_network_release(&model->network);
    }
    memset(model, 0, sizeof *model);
}

/* An entry over the last node, for a program that declares none. */
static wg_entry *last_node(const wg_network *network, wg_error *error)
{
    uint32_t count = wg_network_count(network);
    if (!count) return base_fail(error, WG_NAME, "the program is empty"), NULL;
    wg_symbol root = wg_network_symbol_at(network, count - 1);
    wg_entry_options options = {.size = sizeof options, .roots = &root, .root_count = 1};
    return wg_entry_new(network, &options, error);
}

wg_entry *tool_model_entry(const tool_call *call, const tool_model *model, wg_error *error)
{
    const char *name = tool_value(call, "entry");
    uint32_t count = wg_network_entry_count(model->network);
    if (name) return wg_network_entry(model->network, name, error);
    if (!count) return last_node(model->network, error);
    if (count == 1) return wg_network_entry(model->network, wg_network_entry_name(model->network, 0), error);
    char names[400] = "";
    for (uint32_t i = 0; i < count; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", wg_network_entry_name(model->network, i));
    }
    return base_fail(error, WG_NAME, "the program has several entries; choose one by --entry: %s", names), NULL;
}

bool tool_bindings(const tool_call *call, const wg_binding **bindings, uint32_t *count, wg_error *error)
{
    static wg_binding bound[64];
    static char names[64][128];
    *bindings = bound;
    *count = 0;
    const char *value;
    for (uint32_t i = 0; (value = tool_value_at(call, "extent", i)); i++) {
        const char *equals = strchr(value, '=');
        size_t length = equals ? (size_t)(equals - value) : 0;
        int64_t number;
        bool good = i < 64 && length && length < sizeof names[0] && base_parse_integer(equals + 1, strlen(equals + 1), &number) == strlen(equals + 1) && equals[1] && number >= 0;
        if (!good) return base_fail(error, WG_USAGE, "--extent needs NAME=N with N at least 0, not '%s'", value);
        memcpy(names[i], value, length);
        names[i][length] = 0;
        bound[i] = (wg_binding){names[i], number};
        *count = i + 1;
    }
    return true;
}
