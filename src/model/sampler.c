/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Samplers. Chances are computed in f64 by the library's own formulas and draws come from a counter, so that a seed gives one text
 * everywhere. Candidates wait in a heap: only as many as the cuts need are sorted. docs/models.md defines every parameter. */
#include <string.h>

#include "base/base.h"
#include "base/random.h"
#include "base/scalar.h"
#include "wengert/generate.h"

void wg_sampler_defaults(wg_sampler *sampler)
{
    if (!sampler) return;
    *sampler = (wg_sampler){.size = sizeof *sampler};
#define SAMPLER(field, type, flag, otherwise, help) sampler->field = otherwise;
#include "model/sampler.def"
}

bool wg_sampler_check(const wg_sampler *s, wg_error *error)
{
    if (!s || s->size != sizeof *s) return base_fail(error, WG_ARGUMENT, "a sampler of another size than this library's: begin with wg_sampler_defaults");
    if (!(s->temperature >= 0 && s->temperature < 1e6)) return base_fail(error, WG_ARGUMENT, "the temperature must be 0 or more");
    if (!(s->top_p > 0 && s->top_p <= 1)) return base_fail(error, WG_ARGUMENT, "top-p must be above 0 and at most 1");
    if (!(s->min_p >= 0 && s->min_p <= 1)) return base_fail(error, WG_ARGUMENT, "min-p must be between 0 and 1");
    if (s->top_k < 0) return base_fail(error, WG_ARGUMENT, "top-k must be 0 (all) or more");
    if (!(s->repeat_penalty > 0 && s->repeat_penalty < 1e6)) return base_fail(error, WG_ARGUMENT, "the repeat penalty must be positive");
    bool finite = s->frequency_penalty - s->frequency_penalty == 0 && s->presence_penalty - s->presence_penalty == 0;
    return finite || base_fail(error, WG_ARGUMENT, "penalties must be numbers");
}

/* ---- candidates ---- */

typedef struct candidate {
    double logit;
    int32_t id;
} candidate;

static bool likelier(candidate a, candidate b)
{
    return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

static void sift(candidate *heap, int64_t count, int64_t at)
{
    candidate moved = heap[at];
    for (int64_t down; (down = 2 * at + 1) < count; at = down) {
        if (down + 1 < count && likelier(heap[down + 1], heap[down])) down++;
        if (!likelier(heap[down], moved)) break;
        heap[at] = heap[down];
    }
    heap[at] = moved;
}

/* The likeliest that is left goes behind the heap: after k pops the last k items are the k likeliest, the first one last. */
static candidate pop(candidate *heap, int64_t *count)
{
    candidate top = heap[0];
    heap[0] = heap[--*count];
    if (*count) sift(heap, *count, 0);
    heap[*count] = top;
    return top;
}

/* Keskar et al. 2019 (CTRL) for the repeat penalty; each token of the history once. */
static void penalise(const wg_sampler *s, candidate *all, int64_t vocabulary, const int32_t *history, size_t count)
{
    bool none = s->repeat_penalty == 1 && s->frequency_penalty == 0 && s->presence_penalty == 0;
    size_t from = s->repeat_last < 0 || (uint64_t)s->repeat_last >= count ? 0 : count - (size_t)s->repeat_last;
    for (size_t i = from; !none && i < count; i++) {
        if (history[i] < 0 || history[i] >= vocabulary) continue;
        uint32_t times = 0;
        bool first = true;
        for (size_t j = from; j < count; j++) {
            times += history[j] == history[i];
            first = first && (j >= i || history[j] != history[i]);
        }
        double *logit = &all[history[i]].logit;
        if (!first) continue;
        *logit = *logit > 0 ? *logit / s->repeat_penalty : *logit * s->repeat_penalty;
        *logit -= times * s->frequency_penalty + s->presence_penalty;
    }
}

/* Numbers alone; NaN never is a candidate. */
static int64_t gather(const wg_sampler *s, candidate *all, const float *logits, int64_t vocabulary, const int32_t *history, size_t count)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < vocabulary; i++) all[i] = (candidate){logits[i], (int32_t)i};
    penalise(s, all, vocabulary, history, count);
    for (int64_t i = 0; i < vocabulary; i++) {
        if (all[i].logit != all[i].logit) continue;
        all[kept] = all[i];
        if (s->temperature_first && s->temperature > 0) all[kept].logit /= s->temperature;
        kept++;
    }
    return kept;
}

/* Sorts the likeliest to ids and weights exp(logit - greatest) until the cuts say enough; answers how many. */
static int64_t cut(const wg_sampler *s, candidate *heap, int64_t count, int32_t *ids, double *weights, double *logits)
{
    int64_t most = s->top_k && s->top_k < count ? s->top_k : count, left = count, kept = 0;
    for (int64_t i = count / 2; i-- > 0;) sift(heap, count, i);
    double greatest = heap[0].logit, total = 0, sum = 0;
    if (!s->top_k) /* in the order of ids, which the heap has not: of the whole the sum is over sorted items too */
        for (int64_t i = 0; i < count; i++) total += base_exp_f64(heap[i].logit - greatest);
    while (kept < most) {
        candidate c = pop(heap, &left);
        double weight = c.logit == greatest ? 1 : base_exp_f64(c.logit - greatest);
        if (!s->top_k && kept && s->top_p < 1 && sum >= s->top_p * total) break;
        if (!s->top_k && kept && s->top_p == 1 && weight < s->min_p) break;
        ids[kept] = c.id;
        logits[kept] = c.logit;
        weights[kept++] = weight;
        sum += weight;
    }
    if (s->top_k && s->top_p < 1) {
        total = sum;
        sum = 0;
        int64_t i = 0;
        while (i < kept && (!i || sum < s->top_p * total)) sum += weights[i++];
        kept = i;
    }
    while (kept > 1 && weights[kept - 1] < s->min_p) kept--;
    return kept;
}

static int64_t candidates(const wg_sampler *s, candidate *all, double *logits, const float *given, int64_t vocabulary, const int32_t *history,
                          size_t history_count, int32_t *ids, double *chances)
{
    int64_t count = gather(s, all, given, vocabulary, history, history_count);
    if (!count) return 0;
    if (s->temperature == 0) {
        candidate best = all[0];
        for (int64_t i = 1; i < count; i++)
            if (likelier(all[i], best)) best = all[i];
        ids[0] = best.id;
        chances[0] = 1;
        return 1;
    }
    int64_t kept = cut(s, all, count, ids, chances, logits);
    double total = 0;
    for (int64_t i = 0; i < kept; i++) {
        if (!s->temperature_first && i) chances[i] = base_exp_f64((logits[i] - logits[0]) / s->temperature);
        total += chances[i];
    }
    for (int64_t i = 0; i < kept; i++) chances[i] /= total;
    return kept;
}

int64_t wg_sampler_candidates(const wg_sampler *s, const float *logits, int64_t vocabulary, const int32_t *history, size_t history_count, int32_t *ids,
                              double *chances, wg_error *error)
{
    if (!wg_sampler_check(s, error)) return 0;
    if (!logits || vocabulary < 1 || vocabulary > INT32_MAX || (!history && history_count) || !ids || !chances)
        return base_fail(error, WG_ARGUMENT, "a sampler needs logits, and room for ids and chances"), 0;
    const wg_allocator *allocator = base_allocator(NULL);
    size_t bytes = (size_t)vocabulary * (sizeof(candidate) + sizeof(double));
    candidate *all = base_allocate(allocator, bytes);
    if (!all) return base_fail_memory(error), 0;
    int64_t kept = candidates(s, all, (double *)(all + vocabulary), logits, vocabulary, history, history_count, ids, chances);
    base_free(allocator, all, bytes);
    if (!kept) base_fail(error, WG_NUMERIC, "no logit is a number");
    return kept;
}

int32_t wg_sampler_next(const wg_sampler *s, const float *logits, int64_t vocabulary, const int32_t *history, size_t history_count, uint64_t step,
                        wg_error *error)
{
    if (vocabulary < 1 || vocabulary > INT32_MAX) return base_fail(error, WG_ARGUMENT, "a sampler needs logits"), -1;
    const wg_allocator *allocator = base_allocator(NULL);
    size_t bytes = (size_t)vocabulary * (sizeof(double) + sizeof(int32_t));
    double *chances = base_allocate(allocator, bytes);
    if (!chances) return base_fail_memory(error), -1;
    int32_t *ids = (int32_t *)(chances + vocabulary), token = -1;
    int64_t kept = wg_sampler_candidates(s, logits, vocabulary, history, history_count, ids, chances, error);
    if (kept) {
        base_key key = {{(uint32_t)s->seed, (uint32_t)(s->seed >> 32)}};
        double u = kept > 1 ? base_draw_uniform_f64(key, step) : 0, sum = 0;
        token = ids[kept - 1];
        for (int64_t i = 0; i < kept && token == ids[kept - 1]; i++)
            if ((sum += chances[i]) > u) token = ids[i];
    }
    base_free(allocator, chances, bytes);
    return token;
}
