/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Running a language model: a runner holds the caches of one sequence and answers logits, a sampler chooses a token by them. Link with
 * -lwengert-model -lwengert. */
#ifndef WENGERT_GENERATE_H
#define WENGERT_GENERATE_H

#include "wengert/model.h"
#include "wengert/tokenizer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- samplers ---- */

/* Take the defaults from wg_sampler_defaults. Order: penalties, [temperature], top_k, top_p, min_p, [temperature], then one draw among what is
 * left. */
typedef struct wg_sampler {
    size_t size; /* sizeof(wg_sampler) */
    double temperature;
    int64_t top_k;
    double top_p, min_p, repeat_penalty, frequency_penalty, presence_penalty;
    int64_t repeat_last;
    bool temperature_first;
    uint64_t seed;
} wg_sampler;

WG_API void wg_sampler_defaults(wg_sampler *sampler);
/* False and WG_ARGUMENT where a field is out of its range. */
WG_API bool wg_sampler_check(const wg_sampler *sampler, wg_error *error);
/* What the cuts leave of logits [vocabulary] after history [history_count] (prompt and text so far), the likeliest first, ties by the lower id:
 * ids [vocabulary] and chances [vocabulary] that sum to 1; answers how many, 0 and an error without memory or where no logit is a number. */
WG_API int64_t wg_sampler_candidates(const wg_sampler *sampler, const float *logits, int64_t vocabulary, const int32_t *history,
                                     size_t history_count, int32_t *ids, double *chances, wg_error *error);
/* The token of step `step` (from 0): a function of its arguments alone; -1 and an error as above. */
WG_API int32_t wg_sampler_next(const wg_sampler *sampler, const float *logits, int64_t vocabulary, const int32_t *history,
                               size_t history_count, uint64_t step, wg_error *error);

/* ---- chat ---- */

/* The chat template of a model: chat_template of tokenizer_config.json, chat_template.jinja in its folder, or the key of a .gguf file; owned
 * (wg_text_free). NULL: there is none, and error->code stays WG_OK; or an error. */
WG_API char *wg_chat_template(wg_context *context, const char *path, wg_error *error);
/* The prompt of messages, a JSON list of {"role": .., "content": ..} [length bytes], by a template; owned (wg_text_free). add_prompt: the
 * template begins the answer too. NULL and an error with the line of the template: what it refuses, and what is not supported. */
WG_API char *wg_chat_prompt(wg_context *context, const char *chat_template, const char *messages, size_t length, bool add_prompt,
                            const char *begin, const char *end, wg_error *error);
/* The ids of that prompt. A special token spelled out in a message is text there, so that no message can end its own turn. *ids is owned:
 * wg_deallocate(context, ids, count * 4). */
WG_API bool wg_chat_encode(wg_tokenizer *tokenizer, const char *chat_template, const char *messages, size_t length, bool add_prompt,
                           int32_t **ids, size_t *count, wg_error *error);

/* ---- runners ---- */

typedef struct wg_runner wg_runner;

typedef struct wg_runner_options {
    size_t size;        /* sizeof(wg_runner_options) */
    int64_t ctx;        /* positions at most; 0: the trained length, or what fits in half of the memory that is free */
    int64_t chunk;      /* rows of a prefill step; 0: 256 */
    wg_kind cache;      /* WG_KIND_F16: keys and values in halves; 0: f32 */
    bool q8_activation; /* as wg_model_cut */
} wg_runner_options;

/* A runner of a model whose weights are there; keeps the spec's files mapped, borrows spec. Options NULL: the defaults. */
WG_API wg_runner *wg_runner_new(wg_model_spec *spec, const wg_runner_options *options, wg_error *error);
WG_API void wg_runner_free(wg_runner **runner);
WG_API int64_t wg_runner_ctx(const wg_runner *runner);
WG_API int64_t wg_runner_vocabulary(const wg_runner *runner);
/* How many positions are taken. */
WG_API int64_t wg_runner_position(const wg_runner *runner);
/* Takes tokens [count > 0] in and answers logits of the last `asked` of them (0 to count), [asked][vocabulary], borrowed until the next call. On
 * failure nothing is taken in: a token out of the vocabulary, more than ctx positions (WG_BOUNDS), and what a run says. */
WG_API const float *wg_runner_feed(wg_runner *runner, const int32_t *tokens, int64_t count, int64_t asked, wg_error *error);
/* Goes back to a position that was passed. */
WG_API bool wg_runner_rewind(wg_runner *runner, int64_t position, wg_error *error);
/* Caches up to the position as a file, with the identity of the program, and back: going on from there gives the bits of an uninterrupted
 * run. tokens [position] come along. */
WG_API bool wg_runner_save(const wg_runner *runner, const int32_t *tokens, const char *path, wg_error *error);
/* *tokens is owned: wg_deallocate(context, tokens, position * 4). */
WG_API bool wg_runner_load(wg_runner *runner, const char *path, int32_t **tokens, wg_error *error);
WG_API bool wg_runner_identity(const wg_runner *runner, wg_model_identity *identity, wg_error *error);
/* Any thread: the feed under way stops with WG_CANCELLED. */
WG_API void wg_runner_stop(wg_runner *runner);

#ifdef __cplusplus
}
#endif
#endif
