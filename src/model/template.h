/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Chat templates: the part of Jinja that the templates of published models use. docs/models.md lists it; anything beyond is refused by
 * name. template.c cuts a template into texts and tags and runs the tags; template_expression.c evaluates what stands in them;
 * template_call.c has filters, tests, methods and functions. Values live in one arena until the rendering ends. */
#ifndef MODEL_TEMPLATE_H
#define MODEL_TEMPLATE_H

#include "base/base.h"
#include "base/json.h"

typedef enum template_type {
    TEMPLATE_UNDEFINED, TEMPLATE_NONE, TEMPLATE_BOOL, TEMPLATE_INTEGER, TEMPLATE_REAL, TEMPLATE_TEXT, TEMPLATE_LIST, TEMPLATE_MAP
} template_type;

typedef struct template_value template_value;
typedef struct template_pair template_pair;

/* A map that grows: a namespace, an object. Shared by who holds it. */
typedef struct template_map {
    template_pair *pairs;
    uint32_t count, room;
} template_map;

struct template_value {
    template_type type;
    union {
        bool truth;
        int64_t integer;
        double real;
        struct { const char *at; size_t length; } text;
        struct { template_value *items; uint32_t count; } list;
        template_map *map;
    };
};

struct template_pair {
    const char *key;
    size_t length;
    template_value value;
};

typedef struct template_run {
    base_arena arena;
    const char *name, *source; /* what messages call the template; its text */
    template_map *scopes[32];  /* innermost last */
    uint32_t scope_count;
    base_string out;
    uint32_t depth;
    uint64_t steps;
    wg_error *error;
    const wg_allocator *outer; /* what the answer is taken from */
    wg_allocator allocator;    /* of all else: it counts and has a limit */
    size_t bytes;              /* taken from it */
    bool failed, full, deep;   /* an allocation failed; for the limit; values were nested too deep to be written or compared */
} template_run;

/* Limits of a rendering. A step is about a byte that is looked at; an expression or a part of the template is 64. */
#define TEMPLATE_MOST_STEPS (1u << 26)
#define TEMPLATE_MOST_BYTES ((size_t)64 << 20)
#define TEMPLATE_MOST_NESTED 60u
#define TEMPLATE_STEP 64u

/* Takes steps; false and the error where there were too many, or something failed before that could not be told then. */
bool template_spend(template_run *run, const char *at, uint64_t steps);
/* Tells why a value could not be made; false. */
bool template_full(template_run *run);

/* Keeps the error at a place of the template's text; false. */
bool template_fail(template_run *run, const char *at, wg_code code, const char *format, ...) BASE_PRINTF(4, 5);

template_value template_text(const char *at, size_t length);
template_value template_of_json(template_run *run, const base_json *json);
bool template_truth(const template_value *value);
/* A variable: found in the innermost scope that has it; and set in the innermost. */
template_value template_get(template_run *run, const char *name, size_t length);
bool template_set(template_run *run, const char *name, size_t length, template_value value);
template_value *template_map_find(template_run *run, const template_map *map, const char *key, size_t length);
bool template_map_put(template_run *run, template_map *map, const char *key, size_t length, template_value value);
/* Appends what {{ value }} writes; out->failed where that is too much. */
void template_write(template_run *run, base_string *out, const template_value *value);
bool template_equal(template_run *run, const template_value *a, const template_value *b);
/* The first place of a part in the text from `at` to `end`; NULL: there is none. */
const char *template_search(template_run *run, const char *at, const char *end, const char *part, size_t length);

/* template_expression.c: the value of the text from *at on, up to `end`; *at is then behind it. */
bool template_evaluate(template_run *run, const char **at, const char *end, template_value *value);
/* The same, and nothing may follow it. */
bool template_evaluate_all(template_run *run, const char *at, const char *end, template_value *value);

/* template_call.c: arguments by place and by name. */
typedef struct template_arguments {
    template_value values[8];
    struct { const char *at; size_t length; } names[8]; /* at NULL: by place */
    uint32_t count;
} template_arguments;
bool template_filter(template_run *run, const char *at, const char *name, size_t length, const template_arguments *arguments, template_value *value);
bool template_test(template_run *run, const char *at, const char *name, size_t length, const template_arguments *arguments, const template_value *value, bool *truth);
bool template_method(template_run *run, const char *at, const char *name, size_t length, const template_arguments *arguments, template_value *value);
bool template_function(template_run *run, const char *at, const char *name, size_t length, const template_arguments *arguments, template_value *value);

/* What a template is given. */
typedef struct template_input {
    const base_json *messages; /* a list of objects: role, content, .. */
    bool add_generation_prompt;
    const char *begin, *end;   /* bos_token, eos_token; NULL: "" */
} template_input;

/* The prompt, owned (wg_text_free). NULL and an error with the place in the template. */
char *model_template_render(const wg_allocator *allocator, const char *name, const char *source, const template_input *input, size_t *length, wg_error *error);

#endif
