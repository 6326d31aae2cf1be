/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Sessions of the language over an allocator that counts, lines of the files of cases, and what must be so at the end: no byte is held. */
#ifndef TESTS_BPL_WORLD_H
#define TESTS_BPL_WORLD_H

#include "lazy/world.h"

#include "bpl/bpl.h"

/* One line of a file of cases, split at tabs; missing columns are "". */
typedef struct case_line {
    char text[1 << 14];
    char *columns[4];
    int number;
} case_line;

static inline FILE *open_cases(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/bpl/%s", TEST_DATA_DIR, name);
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("%s is not there", path);
    return file;
}

static inline bool next_case(FILE *file, case_line *line)
{
    if (!fgets(line->text, sizeof line->text, file)) return false;
    line->number++;
    line->text[strcspn(line->text, "\n")] = 0;
    char *at = line->text;
    for (int i = 0; i < 4; i++) {
        line->columns[i] = at;
        at += strcspn(at, "\t");
        if (*at) *at++ = 0;
    }
    return true;
}

/* A session of its own over a context that counts. */
typedef struct bpl_world {
    world memory; /* its lazy stays empty */
    wg_bpl *bpl;
} bpl_world;

static inline bool bpl_world_try(bpl_world *w)
{
    wg_bpl_options options = {.size = sizeof options, .context = w->memory.context};
    return (w->bpl = wg_bpl_new(&options, NULL));
}

static inline void bpl_world_open(bpl_world *w)
{
    memset(w, 0, sizeof *w);
    wg_context_options options = {.size = sizeof options, .allocator = {world_resize, &w->memory}, .threads = 1};
    w->memory.context = wg_context_new(&options, NULL);
    assert_non_null(w->memory.context);
    assert_true(bpl_world_try(w));
}

static inline void bpl_world_close(bpl_world *w)
{
    wg_bpl_free(&w->bpl);
    wg_context_free(w->memory.context);
    assert_int_equal(atomic_load(&w->memory.blocks), 0);
    assert_int_equal(atomic_load(&w->memory.bytes), 0);
}

/* The value of a text; NULL and the session's error. */
static inline bpl_value *run_text(bpl_session *session, const char *text)
{
    bool shy;
    bpl_source *source = bpl_source_new(session, "test", text, strlen(text));
    bpl_value *value = source ? bpl_run_source(session, source, &shy) : NULL;
    if (source) bpl_source_release(source);
    session->at = NULL; /* the node of a source that is gone */
    return value;
}

static inline void assert_true_of(bpl_session *session, const char *text)
{
    bool truth = false;
    bpl_value *value = run_text(session, text);
    if (!value) fail_msg("%s: %s: %s", text, session->error.kind, session->error.message);
    if (!bpl_to_truth(session, value, "a law", &truth) || !truth) fail_msg("%s does not hold", text);
    bpl_release(value);
}

/* Every allocation of each text fails once: LIMIT (or the value, where somebody could do without), and nothing is left behind. */
static inline void check_memory(const char *const *texts, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        bpl_world w;
        bpl_world_open(&w);
        long long needed = 0;
        for (long long at = 0; at <= needed; at++) {
            long long before = atomic_load(&w.memory.asked);
            w.memory.fails_at = at ? before + at : 0;
            w.memory.failed = false;
            bpl_value *value = run_text(w.bpl, texts[k]);
            wg_view view;
            if (value && bpl_is_simple(value)) bpl_read(w.bpl, value, &view);
            w.memory.fails_at = 0;
            if (!at && !value) fail_msg("%s: %s: %s", texts[k], w.bpl->error.kind, w.bpl->error.message);
            if (!at) needed = atomic_load(&w.memory.asked) - before;
            if (at && w.memory.failed && bpl_failed(w.bpl) && strcmp(w.bpl->error.kind, "LIMIT"))
                fail_msg("%s without allocation %lld of %lld: %s: %s", texts[k], at, needed, w.bpl->error.kind, w.bpl->error.message);
            bpl_release(value);
            bpl_error_clear(w.bpl);
        }
        bpl_world_close(&w);
    }
}
#define CHECK_MEMORY(texts) check_memory((texts), sizeof(texts) / sizeof *(texts))

#endif
