/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Any bytes as an adapter of a small model. What must hold: a failure leaves the model as it was; with what is added the programs read back and
 * the weights are there. */
#include "models.h"

#define MODEL TEST_DATA_DIR "/model/data/llama/tied"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static char before[65];
    budget b = {0};
    wg_context *context = budget_context(&b);
    wg_error error = {.code = WG_OK};
    wg_model_identity identity;
    const wg_model_cut cut = {.size = sizeof cut, .ctx = 8};
    wg_model_spec *spec = wg_model_spec_open(context, MODEL, &error);
    demand(spec != NULL);
    if (!before[0]) {
        demand(wg_model_identify(spec, &cut, &identity, &error));
        memcpy(before, identity.sha256, sizeof before);
    }
    if (!wg_model_spec_adapt(spec, file_of("fuzz.safetensors", bytes, length), &error)) {
        demand_error(&error);
        wg_error_clear(&error);
        remove(file_path("fuzz.safetensors"));
        demand(wg_model_identify(spec, &cut, &identity, &error) && !memcmp(before, identity.sha256, sizeof before));
        wg_network *network = wg_model_network(spec, &cut, &error);
        wg_parameters *parameters = network ? wg_model_parameters(spec, network, &error) : NULL;
        demand(parameters != NULL); /* although the file is gone */
        wg_parameters_free(&parameters);
        wg_network_release(&network);
    } else demand_programs(context, spec);
    wg_model_spec_free(&spec);
    wg_context_free(context);
    demand(b.used == 0);
    return 0;
}
