/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Any bytes as model.safetensors.index.json beside shards that are as they should be. What must hold: what opens has programs that read back and
 * weights within the shards. */
#include "models.h"

static void link_shards(void)
{
    static const char *const names[] = {"config.json", "model-00001-of-00003.safetensors", "model-00002-of-00003.safetensors", "model-00003-of-00003.safetensors"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char from[512];
        snprintf(from, sizeof from, "%s/model/data/llama/sharded/%s", TEST_DATA_DIR, names[i]);
        demand(!symlink(from, file_path(names[i])));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    budget b = {0};
    wg_error error = {.code = WG_OK};
    if (!fuzz_file_count) link_shards();
    file_of("model.safetensors.index.json", bytes, length);
    wg_context *context = budget_context(&b);
    demand_spec(context, wg_model_spec_open(context, fuzz_folder, &error), &error);
    wg_context_free(context);
    demand(b.used == 0);
    return 0;
}
