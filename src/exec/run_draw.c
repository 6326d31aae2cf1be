/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Generators as calls: Iota, and random numbers, which depend on key and index alone. Keys are [K.., 2]. */
#include <string.h>

#include "base/random.h"
#include "base/variates.h"
#include "exec/exec_call.h"

typedef struct generator {
    exec_dense keys, numbers[2]; /* numbers: KeyFold's, or the parameters that items are drawn from */
    exec_value result;
    exec_draw draw;
    uint32_t number_count;
    bool logarithm; /* DrawGamma, DrawGammaSlope */
    int64_t extent, inner; /* Iota */
} generator;

typedef struct generator_work {
    const exec_kernels *kernels;
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
        work->kernels->draw(key.words, work->facts->draw, kind, result, (exec_range){first - begin, end - begin});
        first = end;
    }
}

static int64_t key_count(const generator *facts)
{
    return facts->keys.value.volume / 2;
}

static void run_draw(exec_run *run, const exec_stage *stage)
{
    generator_work work = {.kernels = run->kernels, .facts = stage->prepared, .each = 1};
    work.result = exec_items(run, &work.facts->result);
    work.keys = exec_dense_items(run, &work.facts->keys);
    if (work.facts->result.volume) work.each = work.facts->result.volume / key_count(work.facts);
    exec_run_split(run, work.facts->result.volume, 1024, 4, draw_part, &work);
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
    const char *keys = exec_dense_items(run, &g->keys), *numbers = exec_dense_items(run, &g->numbers[0]);
    char *result = exec_items(run, &g->result);
    for (int64_t i = 0; i < key_count(g); i++) {
        base_key folded = base_key_fold(key_at(keys, i), (uint64_t)base_number_load(g->numbers[0].value.kind, numbers, i).i);
        memcpy(result + i * (int64_t)sizeof folded.words, folded.words, sizeof folded.words);
    }
}

static generator *generator_of(exec_call *call, exec_stage_function run)
{
    generator *g = exec_call_take(call, sizeof *g);
    if (!g) return NULL;
    g->result = call->result;
    if (call->operand_count > 0) g->keys = exec_dense_of(call->build, &call->operands[0]);
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
    const exec_kernels *kernels;
    const generator *facts;
    const char *keys, *numbers[2];
    char *result;
    int64_t each; /* items of one key */
} drawing;

static base_number number_at(const drawing *work, uint32_t which, int64_t place)
{
    return base_number_load(work->facts->numbers[which].value.kind, work->numbers[which], place);
}

/* The item at a place, which is the index-th of its key. */
typedef base_number (*draw_item)(const drawing *work, base_key key, uint64_t index, int64_t place);

static inline void draw_items(const drawing *work, exec_range range, draw_item item)
{
    for (int64_t place = range.first; place < range.end; place++) {
        base_key key = key_at(work->keys, place / work->each);
        base_number number = item(work, key, (uint64_t)(place % work->each), place);
        base_number_store(work->facts->result.kind, work->result, place, number);
    }
}

static base_number gamma_item(const drawing *work, base_key key, uint64_t index, int64_t place)
{
    return (base_number){.d = base_draw_gamma(key, index, number_at(work, 0, place).d, work->facts->logarithm)};
}

static base_number slope_item(const drawing *work, base_key key, uint64_t index, int64_t place)
{
    return (base_number){.d = base_draw_gamma_slope(key, index, number_at(work, 0, place).d, work->facts->logarithm)};
}

static base_number poisson_item(const drawing *work, base_key key, uint64_t index, int64_t place)
{
    return (base_number){.i = base_draw_poisson(key, index, number_at(work, 0, place).d)};
}

static base_number binomial_item(const drawing *work, base_key key, uint64_t index, int64_t place)
{
    return (base_number){.i = base_draw_binomial(key, index, number_at(work, 0, place).i, number_at(work, 1, place).d)};
}

static base_number truncated_item(const drawing *work, base_key key, uint64_t index, int64_t place)
{
    return (base_number){.d = base_draw_truncated(key, index, number_at(work, 0, place).d, number_at(work, 1, place).d)};
}

static void run_drawn(exec_run *run, const generator *g, exec_part_function part)
{
    drawing work = {.kernels = run->kernels, .facts = g, .keys = exec_dense_items(run, &g->keys), .each = 1};
    for (uint32_t i = 0; i < g->number_count; i++) work.numbers[i] = exec_dense_items(run, &g->numbers[i]);
    work.result = exec_items(run, &g->result);
    if (g->result.volume) work.each = g->result.volume / key_count(g);
    exec_run_split(run, g->result.volume, 256, 60, part, &work);
}

#define RUN_DRAWN(name)                                                                     \
    static void name##_part(void *context, exec_range range, uint32_t thread)               \
    {                                                                                       \
        (void)thread;                                                                       \
        draw_items(context, range, name##_item);                                            \
    }                                                                                       \
    static void run_##name(exec_run *run, const exec_stage *stage) { run_drawn(run, stage->prepared, name##_part); }
#define DRAWN(Name, name) \
    RUN_DRAWN(name)       \
    bool exec_call_##Name(exec_call *call) { return generator_of(call, run_##name) != NULL; }

/* Integers take one block each, but the few whose word is refused (variates.h): words 0, 1 and 2, 3 of the blocks of
 * [first, end), all of one key. */
#define INTEGERS_PIECE 256
typedef void (*integers_piece)(const drawing *work, base_key key, const uint64_t *words, int64_t first, int64_t end);
#define INTEGERS(T)                                                                                                                       \
    static void integers_##T(const drawing *work, base_key key, const uint64_t *words, int64_t first, int64_t end)                        \
    {                                                                                                                                     \
        const T *low = (const T *)(const void *)work->numbers[0], *high = (const T *)(const void *)work->numbers[1];                      \
        T *result = (T *)(void *)work->result;                                                                                            \
        for (int64_t i = first; i < end; i++) {                                                                                           \
            uint64_t width = (uint64_t)high[i] - (uint64_t)low[i];                                                                        \
            uint64_t above = low[i] < high[i] ? base_draw_below_from(words[2 * (i - first)], key, (uint64_t)(i % work->each), width) : 0;       \
            result[i] = (T)((uint64_t)low[i] + above);                                                                                    \
        }                                                                                                                                 \
    }
INTEGERS(int8_t)
INTEGERS(int16_t)
INTEGERS(int32_t)
INTEGERS(int64_t)
INTEGERS(uint8_t)
INTEGERS(uint16_t)
INTEGERS(uint32_t)
INTEGERS(uint64_t)
static const integers_piece integers_of[WG_KIND_COUNT] = {
    [WG_KIND_I8] = integers_int8_t, [WG_KIND_I16] = integers_int16_t, [WG_KIND_I32] = integers_int32_t, [WG_KIND_I64] = integers_int64_t,
    [WG_KIND_U8] = integers_uint8_t, [WG_KIND_U16] = integers_uint16_t, [WG_KIND_U32] = integers_uint32_t, [WG_KIND_U64] = integers_uint64_t};

static void integers_part(void *context, exec_range range, uint32_t thread)
{
    const drawing *work = context;
    uint64_t words[2 * INTEGERS_PIECE];
    (void)thread;
    for (int64_t first = range.first; first < range.end;) {
        int64_t of_key = first % work->each, many = work->each - of_key;
        if (many > range.end - first) many = range.end - first;
        if (many > INTEGERS_PIECE) many = INTEGERS_PIECE;
        base_key key = key_at(work->keys, first / work->each);
        work->kernels->draw_blocks(key.words, BASE_STREAM_INTEGERS, (uint64_t)of_key, exec_up_to(many, EXEC_DRAW_LANES), words);
        integers_of[work->facts->result.kind](work, key, words, first, first + many);
        first += many;
    }
}
static void run_integers(exec_run *run, const exec_stage *stage) { run_drawn(run, stage->prepared, integers_part); }
bool exec_call_DrawIntegers(exec_call *call) { return generator_of(call, run_integers) != NULL; }

DRAWN(DrawPoisson, poisson)
DRAWN(DrawBinomial, binomial)
DRAWN(DrawTruncated, truncated)
RUN_DRAWN(gamma)
RUN_DRAWN(slope)

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
