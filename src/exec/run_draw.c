/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Generators as calls: Iota, and random numbers, which depend on key and index alone. Keys are [K.., 2]. */
#include <string.h>

#include "base/random.h"
#include "exec/exec_call.h"

typedef struct generator {
    exec_dense keys, numbers; /* numbers: KeyFold's */
    exec_value result;
    exec_draw draw;
    int64_t extent, inner; /* Iota */
} generator;

typedef struct generator_work {
    const generator *facts;
    const char *keys;
    char *result;
    int64_t each; /* items of one key */
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

static base_key key_at(const char *keys, int64_t place)
{
    base_key key;
    memcpy(key.words, keys + (size_t)place * sizeof key.words, sizeof key.words);
    return key;
}

static void draw_part(void *context, exec_range range, uint32_t thread)
{
    const generator_work *work = context;
    wg_kind kind = work->facts->result.kind;
    (void)thread;
    for (int64_t first = range.first, place = first / work->each; first < range.end; place++) {
        int64_t begin = place * work->each, end = begin + work->each < range.end ? begin + work->each : range.end;
        base_key key = key_at(work->keys, place);
        char *result = work->result + begin * (int64_t)base_kinds[kind].bytes;
        exec_draw_run(key.words, work->facts->draw, kind, result, (exec_range){first - begin, end - begin});
        first = end;
    }
}

static int64_t key_count(const generator *facts)
{
    return facts->keys.value.volume / 2;
}

static void run_draw(exec_run *run, const exec_stage *stage)
{
    generator_work work = {.facts = stage->prepared, .each = 1};
    work.result = exec_items(run, &work.facts->result);
    work.keys = exec_dense_items(run, &work.facts->keys);
    if (work.facts->result.volume) work.each = work.facts->result.volume / key_count(work.facts);
    exec_run_split(run, work.facts->result.volume, 1024, 20, draw_part, &work);
}

static void run_split_key(exec_run *run, const exec_stage *stage)
{
    const generator *g = stage->prepared;
    const char *keys = exec_dense_items(run, &g->keys);
    char *result = exec_items(run, &g->result);
    int64_t count = g->result.shape[g->result.rank - 2];
    for (int64_t i = 0; i < g->result.volume / 2; i++) {
        base_key split = base_key_split(key_at(keys, i / count), (uint64_t)(i % count));
        memcpy(result + i * (int64_t)sizeof split.words, split.words, sizeof split.words);
    }
}

static void run_fold_key(exec_run *run, const exec_stage *stage)
{
    const generator *g = stage->prepared;
    const char *keys = exec_dense_items(run, &g->keys), *numbers = exec_dense_items(run, &g->numbers);
    char *result = exec_items(run, &g->result);
    for (int64_t i = 0; i < key_count(g); i++) {
        base_key folded = base_key_fold(key_at(keys, i), (uint64_t)base_number_load(g->numbers.value.kind, numbers, i).i);
        memcpy(result + i * (int64_t)sizeof folded.words, folded.words, sizeof folded.words);
    }
}

static generator *generator_of(exec_call *call, exec_stage_function run)
{
    generator *g = exec_call_take(call, sizeof *g);
    if (!g) return NULL;
    g->result = call->result;
    if (call->operand_count > 0) g->keys = exec_dense_of(call->build, &call->operands[0]);
    if (call->operand_count > 1) g->numbers = exec_dense_of(call->build, &call->operands[1]);
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
