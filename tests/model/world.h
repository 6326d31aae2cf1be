/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What tests of models share: their files, a model's specification, its expected numbers, one program with its session. */
#ifndef TESTS_MODEL_WORLD_H
#define TESTS_MODEL_WORLD_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/json.h"
#include "wengert/model.h"

#define CHECKED(good, error) do { if (!(good)) fail_msg("%s:%d: %s", __FILE__, __LINE__, (error).message); } while (0)

/* The path of a file of tests/model/data; stands until the next call. */
__attribute__((format(printf, 1, 2))) static inline const char *data_path(const char *format, ...)
{
    static char path[512] = TEST_DATA_DIR "/model/data/";
    size_t head = sizeof TEST_DATA_DIR "/model/data/" - 1;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path + head, sizeof path - head, format, arguments);
    va_end(arguments);
    return path;
}

static inline wg_model_spec *spec_of(const char *name)
{
    wg_error error = {.code = WG_OK};
    wg_model_spec *spec = wg_model_spec_open(NULL, data_path("%s", name), &error);
    CHECKED(spec, error);
    return spec;
}

/* expected.json of a case, read. */
typedef struct expected {
    base_arena arena;
    base_file file;
    const base_json *json;
} expected;

static inline expected expected_of(const char *path)
{
    wg_error error = {.code = WG_OK};
    expected e = {.arena = base_arena_new(base_allocator(NULL))};
    CHECKED(base_file_read(base_allocator(NULL), path, SIZE_MAX, &e.file, &error), error);
    e.json = base_json_read(&e.arena, path, (const char *)e.file.bytes, e.file.length, &error);
    CHECKED(e.json, error);
    return e;
}

static inline void expected_free(expected *e)
{
    base_file_close(&e->file);
    base_arena_free(&e->arena);
}

/* A list of whole numbers; answers their count. */
static inline uint32_t whole_numbers(const base_json *list, int32_t *numbers, uint32_t room)
{
    uint32_t count = 0;
    assert_non_null(list);
    for (const base_json *item = list->first; item; item = item->next) {
        int64_t number = 0;
        assert_true(count < room && base_json_integer(item, &number));
        numbers[count++] = (int32_t)number;
    }
    return count;
}

/* One program of a model with its session. Caches are carried in it. */
typedef struct program {
    wg_network *network;
    wg_parameters *parameters;
    wg_entry *entry;
    wg_plan *plan;
    wg_session *session;
} program;

static inline program program_of(wg_model_spec *spec, wg_model_cut cut)
{
    wg_error error = {.code = WG_OK};
    program p = {NULL, NULL, NULL, NULL, NULL};
    cut.size = sizeof cut;
    CHECKED(p.network = wg_model_network(spec, &cut, &error), error);
    CHECKED(p.parameters = wg_model_parameters(spec, p.network, &error), error);
    CHECKED(p.entry = wg_network_entry(p.network, wg_network_entry_name(p.network, 0), &error), error);
    CHECKED(p.plan = wg_plan_new(p.entry, NULL, 0, &error), error);
    CHECKED(p.session = wg_session_new(p.plan, NULL, &error), error);
    return p;
}

static inline void program_free(program *p)
{
    wg_session_free(&p->session);
    wg_plan_release(&p->plan);
    wg_entry_free(&p->entry);
    wg_parameters_free(&p->parameters);
    wg_network_release(&p->network);
}

static inline wg_feed feed_of(const program *p, const char *name, wg_kind kind, uint32_t rank, const int64_t *shape, const void *items)
{
    wg_symbol symbol = wg_network_symbol(p->network, name);
    assert_int_not_equal(symbol.position, WG_NONE);
    return (wg_feed){symbol, {(void *)items, kind, rank, shape, NULL}};
}

static inline void run_with(program *p, const wg_feed *feeds, uint32_t count)
{
    wg_error error = {.code = WG_OK};
    wg_run_options options = {.size = sizeof options, .parameters = p->parameters, .feeds = feeds, .feed_count = count};
    CHECKED(wg_session_run(p->session, &options, &error), error);
}

static inline wg_view result_of(program *p, const char *name)
{
    wg_error error = {.code = WG_OK};
    wg_view view;
    CHECKED(wg_session_read(p->session, wg_network_symbol(p->network, name), &view, &error), error);
    return view;
}

/* One decode step: logits [vocabulary], borrowed. */
static inline const float *decode(program *p, int32_t token, int32_t position)
{
    int64_t one = 1;
    wg_feed feeds[] = {feed_of(p, "token", WG_KIND_I32, 1, &one, &token), feed_of(p, "position", WG_KIND_I32, 0, NULL, &position)};
    run_with(p, feeds, 2);
    return result_of(p, "logits").data;
}

static inline int32_t greatest(const float *items, int64_t count)
{
    int32_t best = 0;
    for (int64_t i = 1; i < count; i++)
        if (items[i] > items[best]) best = (int32_t)i;
    return best;
}

#endif
