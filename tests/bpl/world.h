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

#endif
