/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Any bytes as the session of a small model. What must hold: its tokens are of the vocabulary; a runner goes on from it, and starts anew
 * after any failure. */
#include "models.h"

#define MODEL TEST_DATA_DIR "/model/data/llama/tied"
#define CTX 16

/* The model and its runner serve all inputs: a plan takes longer than a session is read. */
static budget memory;
static wg_context *context;
static wg_model_spec *spec;
static wg_runner *runner;

static void end(void)
{
    wg_runner_free(&runner);
    wg_model_spec_free(&spec);
    wg_context_free(context);
    demand(memory.used == 0);
}

static void begin(void)
{
    context = budget_context(&memory);
    wg_error error = {.code = WG_OK};
    int32_t first = 1;
    spec = wg_model_spec_open(context, MODEL, &error);
    runner = spec ? wg_runner_new(spec, &(wg_runner_options){.size = sizeof(wg_runner_options), .ctx = CTX, .chunk = CTX}, &error) : NULL;
    demand(runner && wg_runner_feed(runner, &first, 1, 1, &error));
    atexit(end);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (!context) begin();
    wg_error error = {.code = WG_OK};
    int32_t *tokens, next = 3;
    bool good = wg_runner_load(runner, file_of("fuzz.session", bytes, length), &tokens, &error);
    int64_t positions = wg_runner_position(runner);
    if (good) {
        for (int64_t i = 0; i < positions; i++) demand(tokens[i] >= 0 && tokens[i] < wg_runner_vocabulary(runner));
        wg_deallocate(context, tokens, (size_t)positions * sizeof *tokens);
    } else {
        demand_error(&error);
        demand(!tokens);
    }
    wg_error_clear(&error);
    if (positions == CTX) demand(wg_runner_rewind(runner, 0, &error));
    demand(wg_runner_feed(runner, &next, 1, 1, &error) != NULL);
    return 0;
}
