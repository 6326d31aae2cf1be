/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Generators as calls: Iota, and random numbers, which depend on key and index alone. */
#include <string.h>

#include "base/random.h"
#include "exec/exec_call.h"

typedef struct generator {
    exec_dense key, number; /* number: KeyFold's */
    exec_value result;
    exec_draw draw;
    int64_t extent, inner; /* Iota */
} generator;

typedef struct generator_work {
    const generator *facts;
    char *result;
    uint32_t key[2];
} generator_work;

static void iota_part(void *context, exec_range range, uint32_t thread)
{
    const generator_work *work = context;
    (void)thread;
    exec_iota(work->facts->result.kind, work->facts->extent, work->facts->inner, work->result, range);
}

static void run_iota(exec_run *run, const exec_stage *stage)
{
    generator_work work = {.facts = stage->prepared};
    work.result = exec_items(run, &work.facts->result);
    exec_run_split(run, work.facts->result.volume, 1024, 2, iota_part, &work);
}

static void draw_part(void *context, exec_range range, uint32_t thread)
{
    const generator_work *work = context;
    (void)thread;
    exec_draw_run(work->key, work->facts->draw, work->facts->result.kind, work->result, range);
}

static void run_draw(exec_run *run, const exec_stage *stage)
{
    generator_work work = {.facts = stage->prepared};
    work.result = exec_items(run, &work.facts->result);
    memcpy(work.key, exec_dense_items(run, &work.facts->key), sizeof work.key);
    exec_run_split(run, work.facts->result.volume, 1024, 20, draw_part, &work);
}

static base_key key_of(exec_run *run, const generator *facts)
{
    base_key key;
    memcpy(key.words, exec_dense_items(run, &facts->key), sizeof key.words);
    return key;
}

static void run_split_key(exec_run *run, const exec_stage *stage)
{
    const generator *g = stage->prepared;
    base_key key = key_of(run, g);
    char *result = exec_items(run, &g->result);
    for (int64_t child = 0; child < g->result.shape[0]; child++) {
        base_key split = base_key_split(key, (uint64_t)child);
        memcpy(result + child * (int64_t)sizeof split.words, split.words, sizeof split.words);
    }
}

static void run_fold_key(exec_run *run, const exec_stage *stage)
{
    const generator *g = stage->prepared;
    const char *number = exec_dense_items(run, &g->number);
    base_key folded = base_key_fold(key_of(run, g), (uint64_t)base_number_load(g->number.value.kind, number, 0).i);
    memcpy(exec_items(run, &g->result), folded.words, sizeof folded.words);
}

static generator *generator_of(exec_call *call, exec_stage_function run)
{
    generator *g = exec_call_take(call, sizeof *g);
    if (!g) return NULL;
    g->result = call->result;
    if (call->operand_count > 0) g->key = exec_dense_of(call->build, &call->operands[0]);
    if (call->operand_count > 1) g->number = exec_dense_of(call->build, &call->operands[1]);
    call->stage->run = run;
    call->stage->prepared = g;
    return g;
}

bool exec_call_Iota(exec_call *call)
{
    generator *g = generator_of(call, run_iota);
    if (!g) return false;
    exec_axis parts = exec_axis_of(&call->result, call->attributes[1 + call->attributes[0]]); /* behind the list that shape is */
    g->extent = parts.extent;
    g->inner = parts.inner;
    return true;
}

bool exec_call_Draw(exec_call *call)
{
    generator *g = generator_of(call, run_draw);
    if (!g) return false;
    g->draw = (exec_draw)call->attributes[GRAPH_ATTRIBUTE(Draw, distribution)];
    return true;
}

bool exec_call_KeySplit(exec_call *call) { return generator_of(call, run_split_key) != NULL; }
bool exec_call_KeyFold(exec_call *call) { return generator_of(call, run_fold_key) != NULL; }
