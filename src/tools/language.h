/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Language models on the command line: what the verbs `wengert model ...` share. language.c. */
#ifndef TOOLS_LANGUAGE_H
#define TOOLS_LANGUAGE_H

#include "tools/tools.h"
#include "wengert/generate.h"
#include "wengert/tokenizer.h"

/* The spec of the call's first word, with --adapter. NULL and an error. */
wg_model_spec *language_spec(const tool_call *call, const char *path, wg_error *error);
/* The cut that --cut, --ctx, --rows, --length, --cache and --q8-activation name. False: printed as wrong usage. */
bool language_cut(const tool_call *call, wg_model_cut *cut);
/* A runner by --ctx, --rows, --cache, --q8-activation; ctx is the first where it is not given, 0: the trained length, or what fits in memory.
 * False: printed (*code says how). */
bool language_runner(const tool_call *call, wg_model_spec *spec, int64_t ctx, wg_runner **runner, int *code);
/* The sampler of the flags of sampler.def; false: printed as wrong usage. */
bool language_sampler(const tool_call *call, wg_sampler *sampler);
/* Token ids of a list separated by commas, owned (free). False: printed as wrong usage. */
bool language_tokens(const tool_call *call, const char *list, int32_t **tokens, size_t *count);
/* Appends ids to a growing array (NULL with room 0 at first; free). */
bool language_keep(int32_t **items, size_t *count, size_t *room, const int32_t *from, size_t more, wg_error *error);

#endif
