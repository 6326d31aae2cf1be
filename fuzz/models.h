/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What fuzzers of models share: the input as a file, and what must hold of whatever opened: its programs read back,
 * its ids are of the vocabulary, its texts are the same at once and id by id. */
#ifndef FUZZ_MODELS_H
#define FUZZ_MODELS_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "budget.h"
#include "wengert/generate.h"
#include "wengert/model.h"
#include "wengert/text.h"
#include "wengert/tokenizer.h"

/* ---- files ---- */

static char fuzz_folder[] = "/tmp/wengert-fuzz-XXXXXX";
static char fuzz_files[8][64]; /* that stand in it */
static uint32_t fuzz_file_count;

static inline void remove_files(void)
{
    while (fuzz_file_count) unlink(fuzz_files[--fuzz_file_count]);
    rmdir(fuzz_folder);
}

/* The path of a file in a folder of this run's own, which goes at its end. */
static inline const char *file_path(const char *name)
{
    if (!fuzz_file_count) {
        demand(mkdtemp(fuzz_folder) != NULL);
        atexit(remove_files);
    }
    char path[64];
    snprintf(path, sizeof path, "%s/%s", fuzz_folder, name);
    for (uint32_t i = 0; i < fuzz_file_count; i++)
        if (!strcmp(fuzz_files[i], path)) return fuzz_files[i];
    demand(fuzz_file_count < sizeof fuzz_files / sizeof *fuzz_files);
    return strcpy(fuzz_files[fuzz_file_count++], path);
}

static inline const char *file_of(const char *name, const void *bytes, size_t length)
{
    const char *path = file_path(name);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    demand(file >= 0 && write(file, bytes, length) == (ssize_t)length);
    close(file);
    return path;
}

/* ---- specifications ---- */

static inline void demand_text(wg_context *context, const wg_model_spec *spec, wg_model_cut cut)
{
    wg_error error = {.code = WG_OK};
    cut.size = sizeof cut;
    char *text = wg_model_written(spec, &cut, &error);
    if (!text) {
        demand_error(&error);
        return;
    }
    wg_network *again = wg_text_parse(context, text, strlen(text), "written", NULL, &error);
    demand(again || error.code == WG_MEMORY);
    wg_network_release(&again);
    wg_text_free(text);
}

/* Programs, and weights where there are any. */
static inline void demand_programs(wg_context *context, wg_model_spec *spec)
{
    wg_model_facts facts = {.size = sizeof facts};
    demand(wg_model_spec_facts(spec, &facts) && facts.layers > 0 && facts.vocabulary > 0 && facts.width > 0);
    demand_text(context, spec, (wg_model_cut){.ctx = 8});
    demand_text(context, spec, (wg_model_cut){.form = WG_MODEL_PREFILL, .part = WG_MODEL_LAYER, .rows = 3, .ctx = 1 << 20, .layer = facts.layers - 1});
    if (!wg_model_spec_bytes(spec)) return;
    wg_error error = {.code = WG_OK};
    wg_network *network = wg_model_network(spec, &(wg_model_cut){.size = sizeof(wg_model_cut), .ctx = 8}, &error);
    wg_parameters *parameters = network ? wg_model_parameters(spec, network, &error) : NULL;
    if (!parameters) demand_error(&error);
    wg_parameters_free(&parameters);
    wg_network_release(&network);
}

/* What a reader answered, or its error; consumes the specification. */
static inline void demand_spec(wg_context *context, wg_model_spec *spec, wg_error *error)
{
    if (spec) demand_programs(context, spec);
    else demand_error(error);
    wg_model_spec_free(&spec);
    wg_error_clear(error);
}

/* ---- tokenizers ---- */

static const char fuzz_text[] = "Hello,  world's 123 \xe2\x96\x81x <s> <|endoftext|> e\xcc\x81 \xff\xc3\n\t ab <0x41>";

static inline void demand_stream(const wg_tokenizer *t, const int32_t *ids, size_t count, const char *text, size_t length)
{
    wg_error error = {.code = WG_OK};
    wg_tokenizer_stream *stream = wg_tokenizer_stream_new(t, false, &error);
    size_t at = 0, more;
    for (size_t i = 0; stream && i < count; i++) {
        const char *part = wg_tokenizer_stream_put(stream, ids[i], &more, &error);
        demand(part || error.code == WG_MEMORY);
        if (!part) return wg_tokenizer_stream_free(&stream);
        demand(more <= length - at && !memcmp(text + at, part, more));
        at += more;
    }
    const char *rest = wg_tokenizer_stream_end(stream, &more);
    if (stream) demand(at + more == length && !memcmp(text + at, rest, more));
    wg_tokenizer_stream_free(&stream);
}

/* Encodes a text with all that is special, and decodes what came out. */
static inline void demand_tokens(wg_context *context, wg_tokenizer *t)
{
    for (int flags = 0; flags < 4; flags++) {
        wg_error error = {.code = WG_OK};
        int32_t *ids;
        size_t count, length;
        if (!wg_tokenizer_encode(t, fuzz_text, sizeof fuzz_text, flags, &ids, &count, &error)) {
            demand_error(&error);
            continue;
        }
        for (size_t i = 0; i < count; i++) demand(ids[i] >= 0 && (uint32_t)ids[i] < wg_tokenizer_count(t));
        char *text = wg_tokenizer_decode(t, ids, count, false, &length, &error);
        demand(text || error.code == WG_MEMORY);
        if (text) demand_stream(t, ids, count, text, length);
        wg_text_free(text);
        wg_deallocate(context, ids, count * sizeof *ids);
    }
    demand(wg_tokenizer_begin(t) < (int64_t)wg_tokenizer_count(t) && wg_tokenizer_end(t) < (int64_t)wg_tokenizer_count(t));
}

/* What a reader answered, or its error; consumes the vocabulary. */
static inline void demand_tokenizer(wg_context *context, wg_tokenizer *t, wg_error *error)
{
    if (t) demand_tokens(context, t);
    else demand_error(error);
    wg_tokenizer_free(&t);
    wg_error_clear(error);
}

/* ---- all of a model in one file ---- */

static inline void demand_model_file(const char *name, const uint8_t *bytes, size_t length)
{
    budget b = {0};
    wg_context *context = budget_context(&b);
    const char *path = file_of(name, bytes, length);
    wg_error error = {.code = WG_OK};
    demand_spec(context, wg_model_spec_open(context, path, &error), &error);
    demand_tokenizer(context, wg_tokenizer_open(context, path, &error), &error);
    char *chat = wg_chat_template(context, path, &error);
    if (!chat && error.code) demand_error(&error);
    wg_text_free(chat);
    wg_context_free(context);
    demand(b.used == 0);
}

#endif
