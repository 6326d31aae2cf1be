/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A sequence that a model goes on from, written as it comes: what generate and chat share. */
#ifndef TOOLS_GENERATION_H
#define TOOLS_GENERATION_H

#include "tools/language.h"

typedef enum generation_end {
    GENERATION_NOT, GENERATION_END, GENERATION_STOP, GENERATION_LENGTH, GENERATION_FULL, GENERATION_INTERRUPTED, GENERATION_FAILED
} generation_end;
extern const char *const generation_ends[]; /* their names: "end", "stop", .. */

typedef struct generation {
    const tool_call *call;
    wg_model_spec *spec, *draft_spec;
    wg_tokenizer *tokenizer;
    wg_runner *runner, *draft; /* draft: guesses ahead; NULL: none */
    wg_tokenizer_stream *stream;
    wg_sampler sampler;
    char *chat_template;       /* NULL: none */
    int32_t *tokens;           /* [count]: the sequence so far, prompt first */
    size_t count, room, prompt, restored; /* restored: of a session file */
    base_string text;          /* what was generated behind the prompt */
    size_t written;            /* of it */
    int64_t most;              /* tokens to generate; -1: no limit */
    uint64_t guessed, taken;   /* by the draft, and how many of them stood */
    double prefill_seconds, decode_seconds;
    wg_error error;
} generation;

/* Opens model, vocabulary, runner, draft, sampler and --session of a call; false: *code says how to end (-1: g->error is to be printed). */
bool generation_open(generation *g, const tool_call *call, int *code);
void generation_close(generation *g);
/* Appends ids to the sequence: they are its prompt from here on. */
bool generation_prompt(generation *g, const int32_t *ids, size_t count);
/* Takes the sequence in and goes on; shown: text goes to stdout as it comes. */
generation_end generation_run(generation *g, bool shown);
/* Leaves --session behind. */
bool generation_save(generation *g);
/* One line on stderr: tokens a second, bytes of weights a second, positions. */
void generation_figures(const generation *g);
/* Text as UTF-8 alone: other bytes become '?'. */
void generation_clean(base_string *text);

#endif
