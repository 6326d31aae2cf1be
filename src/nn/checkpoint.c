/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A trained model is one safetensors file: parameters under their names, the program's text and identity in the metadata, the optimiser's state beside them. */
#include <stdio.h>
#include <string.h>

#include "nn/nn.h"
#include "wengert/text.h"

#define KEY_PROGRAM "wengert.program"
#define KEY_IDENTITY "wengert.identity"

const char *nn_payload_name(const wg_network *network, wg_symbol parameter, char *text)
{
    wg_node_facts facts;
    if (wg_network_node(network, parameter.position, &facts) && facts.name) return facts.name;
    snprintf(text, 24, "p%u", parameter.position);
    return text;
}

static bool put_program(const wg_network *network, wg_bundle *bundle, wg_error *error)
{
    char identity[65];
    char *program = wg_text_print(network, error);
    bool good = program && wg_network_identity(network, identity, error) && wg_bundle_put_text(bundle, KEY_PROGRAM, program, error) &&
                wg_bundle_put_text(bundle, KEY_IDENTITY, identity, error);
    wg_text_free(program);
    return good;
}

bool wg_checkpoint_save(const char *path, const wg_network *network, const wg_parameters *parameters, const wg_optimiser *optimiser, const char *const *metadata,
                        uint32_t metadata_count, wg_error *error)
{
    if (!path || !network || !parameters) return nn_fail(error, WG_ARGUMENT, "a checkpoint needs a path, a network and its parameters");
    if (metadata_count && !metadata) return nn_fail(error, WG_ARGUMENT, "%u pairs of metadata at NULL", metadata_count);
    wg_bundle *bundle = wg_bundle_new(wg_parameters_context(parameters), error);
    bool good = bundle && put_program(network, bundle, error);
    for (uint32_t i = 0; good && i < wg_parameters_count(parameters); i++) {
        wg_symbol symbol = wg_parameters_symbol(parameters, i);
        wg_tensor *payload = wg_parameters_of(parameters, symbol, error);
        char text[24];
        good = payload && wg_bundle_put(bundle, nn_payload_name(network, symbol, text), wg_tensor_retain(payload), error);
    }
    if (good && optimiser) good = nn_optimiser_put(optimiser, network, bundle, error);
    for (uint32_t i = 0; good && i < metadata_count; i++) good = wg_bundle_put_text(bundle, metadata[2 * i], metadata[2 * i + 1], error);
    good = good && wg_bundle_write(bundle, path, error);
    wg_bundle_free(&bundle);
    return good;
}

bool wg_parameters_load(wg_parameters *parameters, const wg_network *network, const wg_bundle *bundle, wg_error *error)
{
    if (!parameters || !network || !bundle) return nn_fail(error, WG_ARGUMENT, "loading needs a parameter table, its network and a bundle");
    for (uint32_t i = 0; i < wg_parameters_count(parameters); i++) {
        wg_symbol symbol = wg_parameters_symbol(parameters, i);
        char text[24];
        const char *name = nn_payload_name(network, symbol, text);
        wg_tensor *payload = wg_bundle_get(bundle, name);
        if (!payload) return nn_fail(error, WG_PARAMETERS, "the weight file holds no tensor %s", name);
        wg_tensor *copy = wg_tensor_new(wg_parameters_context(parameters), wg_tensor_kind(payload), wg_tensor_rank(payload), wg_tensor_shape(payload),
                                        wg_tensor_data(payload), error);
        if (!copy || !wg_parameters_set(parameters, symbol, copy, error)) return false;
    }
    return true;
}

static wg_tensor *payload_of(void *user, const char *manifest)
{
    wg_tensor *tensor = wg_bundle_get(user, manifest);
    return tensor ? wg_tensor_retain(tensor) : NULL;
}

bool wg_checkpoint_load(wg_context *context, const char *path, wg_checkpoint *checkpoint, wg_error *error)
{
    if (checkpoint) memset(checkpoint, 0, sizeof *checkpoint);
    if (!checkpoint || !path) return nn_fail(error, WG_ARGUMENT, "loading needs a path and a checkpoint to fill");
    wg_error local = {.code = WG_OK};
    if (!error) error = &local;
    checkpoint->bundle = wg_bundle_read(context, path, error);
    if (!checkpoint->bundle) return false;
    const char *program = wg_bundle_get_text(checkpoint->bundle, KEY_PROGRAM);
    bool good = program != NULL;
    if (!program) nn_fail(error, WG_FORMAT, "%s holds no program: it is no trained model; give the program and the file as its weights", path);
    if (good) {
        wg_text_options options = {.size = sizeof options, .payload = payload_of, .user = checkpoint->bundle};
        checkpoint->network = wg_text_parse(context, program, strlen(program), path, &options, error);
        checkpoint->parameters = checkpoint->network ? wg_parameters_new(checkpoint->network, error) : NULL;
        good = checkpoint->parameters && wg_parameters_load(checkpoint->parameters, checkpoint->network, checkpoint->bundle, error);
    }
    if (good) {
        checkpoint->optimiser = nn_optimiser_get(checkpoint->parameters, checkpoint->network, checkpoint->bundle, error);
        good = checkpoint->optimiser || error->code == WG_OK;
    }
    if (!good) wg_checkpoint_free(checkpoint);
    return good;
}

void wg_checkpoint_free(wg_checkpoint *checkpoint)
{
    if (!checkpoint) return;
    wg_optimiser_free(&checkpoint->optimiser);
    wg_parameters_free(&checkpoint->parameters);
    wg_network_release(&checkpoint->network);
    wg_bundle_free(&checkpoint->bundle);
}
