/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Generators as calls: Iota, and random numbers, which depend on key and index alone. */
#include <string.h>

#include "base/random.h"
#include "base/variates.h"
#include "exec/exec_call.h"

typedef struct generator {
    exec_dense key, numbers[2]; /* numbers: KeyFold's, or the parameters that items are drawn from */
    exec_value result;
    exec_draw draw;
    uint32_t number_count;
    bool logarithm; /* DrawGamma, DrawGammaSlope */
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
    const char *number = exec_dense_items(run, &g->numbers[0]);
    base_key folded = base_key_fold(key_of(run, g), (uint64_t)base_number_load(g->numbers[0].value.kind, number, 0).i);
    memcpy(exec_items(run, &g->result), folded.words, sizeof folded.words);
}

static generator *generator_of(exec_call *call, exec_stage_function run)
{
    generator *g = exec_call_take(call, sizeof *g);
    if (!g) return NULL;
    g->result = call->result;
    if (call->operand_count > 0) g->key = exec_dense_of(call->build, &call->operands[0]);
    for (uint32_t i = 1; i < call->operand_count; i++, g->number_count++)
        g->numbers[i - 1] = exec_dense_of(call->build, &call->operands[i]);
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

/* ---- draws with parameters ---- */

typedef struct drawing {
    const generator *facts;
    base_key key;
    const char *numbers[2];
    char *result;
} drawing;

static base_number number_at(const drawing *work, uint32_t which, int64_t index)
{
    return base_number_load(work->facts->numbers[which].value.kind, work->numbers[which], index);
}

static void store(const drawing *work, int64_t index, base_number number)
{
    base_number_store(work->facts->result.kind, work->result, index, number);
}

static void integers_part(void *context, exec_range range, uint32_t thread)
{
    const drawing *work = context;
    bool is_signed = base_kinds[work->facts->result.kind].class == BASE_CLASS_SIGNED;
    (void)thread;
    for (int64_t i = range.first; i < range.end; i++) {
        base_number low = number_at(work, 0, i), high = number_at(work, 1, i);
        if (is_signed ? low.i < high.i : low.u < high.u) low.u += base_draw_below(work->key, (uint64_t)i, high.u - low.u);
        store(work, i, low);
    }
}

static void gamma_part(void *context, exec_range range, uint32_t thread)
{
    const drawing *work = context;
    (void)thread;
    for (int64_t i = range.first; i < range.end; i++) {
        double shape = number_at(work, 0, i).d;
        store(work, i, (base_number){.d = base_draw_gamma(work->key, (uint64_t)i, shape, work->facts->logarithm)});
    }
}

static void slope_part(void *context, exec_range range, uint32_t thread)
{
    const drawing *work = context;
    (void)thread;
    for (int64_t i = range.first; i < range.end; i++) {
        double shape = number_at(work, 0, i).d;
        store(work, i, (base_number){.d = base_draw_gamma_slope(work->key, (uint64_t)i, shape, work->facts->logarithm)});
    }
}

static void poisson_part(void *context, exec_range range, uint32_t thread)
{
    const drawing *work = context;
    (void)thread;
    for (int64_t i = range.first; i < range.end; i++)
        store(work, i, (base_number){.i = base_draw_poisson(work->key, (uint64_t)i, number_at(work, 0, i).d)});
}

static void binomial_part(void *context, exec_range range, uint32_t thread)
{
    const drawing *work = context;
    (void)thread;
    for (int64_t i = range.first; i < range.end; i++) {
        int64_t count = number_at(work, 0, i).i;
        store(work, i, (base_number){.i = base_draw_binomial(work->key, (uint64_t)i, count, number_at(work, 1, i).d)});
    }
}

static void truncated_part(void *context, exec_range range, uint32_t thread)
{
    const drawing *work = context;
    (void)thread;
    for (int64_t i = range.first; i < range.end; i++) {
        double from = number_at(work, 0, i).d;
        store(work, i, (base_number){.d = base_draw_truncated(work->key, (uint64_t)i, from, number_at(work, 1, i).d)});
    }
}

static void run_drawn(exec_run *run, const generator *g, exec_part_function part)
{
    drawing work = {.facts = g, .key = key_of(run, g)};
    for (uint32_t i = 0; i < g->number_count; i++) work.numbers[i] = exec_dense_items(run, &g->numbers[i]);
    work.result = exec_items(run, &g->result);
    exec_run_split(run, g->result.volume, 256, 60, part, &work);
}

#define DRAWN(Name, name)                                                                                          \
    static void run_##name(exec_run *run, const exec_stage *stage) { run_drawn(run, stage->prepared, name##_part); } \
    bool exec_call_##Name(exec_call *call) { return generator_of(call, run_##name) != NULL; }

DRAWN(DrawIntegers, integers)
DRAWN(DrawPoisson, poisson)
DRAWN(DrawBinomial, binomial)
DRAWN(DrawTruncated, truncated)

static void run_gamma(exec_run *run, const exec_stage *stage) { run_drawn(run, stage->prepared, gamma_part); }
static void run_slope(exec_run *run, const exec_stage *stage) { run_drawn(run, stage->prepared, slope_part); }

static bool gamma_call(exec_call *call, exec_stage_function run, int64_t logarithm)
{
    generator *g = generator_of(call, run);
    if (!g) return false;
    g->logarithm = logarithm;
    return true;
}

bool exec_call_DrawGamma(exec_call *call)
{
    return gamma_call(call, run_gamma, call->attributes[GRAPH_ATTRIBUTE(DrawGamma, logarithm)]);
}

bool exec_call_DrawGammaSlope(exec_call *call)
{
    return gamma_call(call, run_slope, call->attributes[GRAPH_ATTRIBUTE(DrawGammaSlope, logarithm)]);
}
