/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Templates: texts and tags, run in order. A newline behind a tag goes, and so do spaces before one at the start of a line (trim_blocks and
 * lstrip_blocks, as the programs set that templates are written for); a dash inside of a tag takes all white space on its side. */
#include "model/template.h"

#include <stdio.h>
#include <string.h>

#define MOST_DEPTH 64u

bool template_fail(template_run *run, const char *at, wg_code code, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    int line = 1;
    for (const char *c = run->source; c < at; c++) line += *c == '\n';
    return base_fail(run->error, code, "%s, line %d: %s", run->name, line, text);
}

/* ---- limits ---- */

static void *limited(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    template_run *run = user;
    size_t others = run->bytes - (block ? old_bytes : 0);
    bool fits = new_bytes <= TEMPLATE_MOST_BYTES - others;
    void *answer = fits ? run->outer->resize(run->outer->user, block, old_bytes, new_bytes) : NULL;
    if (answer || !new_bytes) run->bytes = others + new_bytes;
    else run->failed = true;
    run->full = run->full || !fits;
    return answer;
}

bool template_full(template_run *run)
{
    if (run->deep) return base_fail(run->error, WG_SIZE, "%s: values are nested deeper than %u", run->name, TEMPLATE_MOST_NESTED);
    if (run->full) return base_fail(run->error, WG_SIZE, "%s: it needs more than %zu MB", run->name, TEMPLATE_MOST_BYTES >> 20);
    return base_fail_memory(run->error);
}

bool template_spend(template_run *run, const char *at, uint64_t steps)
{
    run->steps += steps;
    if (run->deep || run->failed) return template_full(run);
    return run->steps <= TEMPLATE_MOST_STEPS || template_fail(run, at, WG_SIZE, "the template takes more than %u steps", TEMPLATE_MOST_STEPS);
}

/* ---- values ---- */

template_value template_text(const char *at, size_t length)
{
    template_value value = {.type = TEMPLATE_TEXT};
    value.text.at = at;
    value.text.length = length;
    return value;
}

bool template_truth(const template_value *value)
{
    switch (value->type) {
    case TEMPLATE_BOOL: return value->truth;
    case TEMPLATE_INTEGER: return value->integer != 0;
    case TEMPLATE_REAL: return value->real != 0;
    case TEMPLATE_TEXT: return value->text.length != 0;
    case TEMPLATE_LIST: return value->list.count != 0;
    case TEMPLATE_MAP: return value->map->count != 0;
    default: return false;
    }
}

template_value *template_map_find(template_run *run, const template_map *map, const char *key, size_t length)
{
    run->steps += map->count;
    for (uint32_t i = 0; i < map->count; i++)
        if (map->pairs[i].length == length && !memcmp(map->pairs[i].key, key, length)) return &map->pairs[i].value;
    return NULL;
}

/* A key that is not there. */
static bool append(template_run *run, template_map *map, const char *key, size_t length, template_value value)
{
    if (map->count == map->room) {
        uint32_t room = map->room ? 2 * map->room : 8;
        template_pair *pairs = base_arena_take(&run->arena, room * sizeof *pairs);
        if (!pairs) return template_full(run);
        if (map->count) memcpy(pairs, map->pairs, map->count * sizeof *pairs);
        map->pairs = pairs;
        map->room = room;
    }
    map->pairs[map->count++] = (template_pair){key, length, value};
    return true;
}

bool template_map_put(template_run *run, template_map *map, const char *key, size_t length, template_value value)
{
    template_value *old = template_map_find(run, map, key, length);
    return old ? *old = value, true : append(run, map, key, length, value);
}

template_value template_of_json(template_run *run, const base_json *json)
{
    template_value value = {.type = TEMPLATE_UNDEFINED};
    int64_t whole;
    switch (json->type) {
    case BASE_JSON_NULL: value.type = TEMPLATE_NONE; break;
    case BASE_JSON_FALSE:
    case BASE_JSON_TRUE: value.type = TEMPLATE_BOOL; value.truth = json->type == BASE_JSON_TRUE; break;
    case BASE_JSON_NUMBER:
        value.type = base_json_integer(json, &whole) ? TEMPLATE_INTEGER : TEMPLATE_REAL;
        if (value.type == TEMPLATE_INTEGER) value.integer = whole;
        else base_json_float(json, WG_KIND_F64, &value.real);
        break;
    case BASE_JSON_STRING: value = template_text(json->text, json->length); break;
    case BASE_JSON_ARRAY: {
        uint32_t i = 0;
        value.type = TEMPLATE_LIST;
        value.list.items = base_arena_take(&run->arena, (json->count + 1) * sizeof *value.list.items);
        value.list.count = value.list.items ? json->count : 0;
        for (const base_json *item = json->first; item && value.list.items; item = item->next) value.list.items[i++] = template_of_json(run, item);
        break;
    }
    case BASE_JSON_OBJECT:
        value.map = base_arena_take_zeroed(&run->arena, sizeof *value.map);
        if (value.map) value.type = TEMPLATE_MAP;
        for (const base_json *item = json->first; item && value.map; item = item->next)
            append(run, value.map, item->key, item->key_length, template_of_json(run, item));
        break;
    }
    return value;
}

static bool equal(template_run *run, const template_value *a, const template_value *b, uint32_t depth)
{
    bool numbers = (a->type == TEMPLATE_INTEGER || a->type == TEMPLATE_REAL || a->type == TEMPLATE_BOOL) &&
                   (b->type == TEMPLATE_INTEGER || b->type == TEMPLATE_REAL || b->type == TEMPLATE_BOOL);
    run->deep = run->deep || depth > TEMPLATE_MOST_NESTED;
    if (run->deep || ++run->steps > TEMPLATE_MOST_STEPS) return false; /* told before the next expression */
    if (numbers) {
        double x = a->type == TEMPLATE_REAL ? a->real : a->type == TEMPLATE_BOOL ? a->truth : (double)a->integer;
        double y = b->type == TEMPLATE_REAL ? b->real : b->type == TEMPLATE_BOOL ? b->truth : (double)b->integer;
        return x == y;
    }
    if (a->type != b->type) return false;
    if (a->type == TEMPLATE_TEXT) {
        run->steps += a->text.length / 16;
        return a->text.length == b->text.length && !memcmp(a->text.at, b->text.at, a->text.length);
    }
    if (a->type == TEMPLATE_MAP) return a->map == b->map;
    if (a->type != TEMPLATE_LIST) return true;
    if (a->list.count != b->list.count) return false;
    for (uint32_t i = 0; i < a->list.count; i++)
        if (!equal(run, &a->list.items[i], &b->list.items[i], depth + 1)) return false;
    return true;
}

bool template_equal(template_run *run, const template_value *a, const template_value *b)
{
    return equal(run, a, b, 0);
}

const char *template_search(template_run *run, const char *at, const char *end, const char *part, size_t length)
{
    while ((size_t)(end - at) >= length && run->steps <= TEMPLATE_MOST_STEPS) {
        const char *first = length ? memchr(at, part[0], (size_t)(end - at) - length + 1) : at;
        run->steps += 1 + length / 16 + (size_t)((first ? first : end) - at) / 16;
        if (!first || !memcmp(first, part, length)) return first;
        at = first + 1;
    }
    return NULL;
}

static void write_value(template_run *run, base_string *out, const template_value *value, uint32_t depth);

static void write_nested(template_run *run, base_string *out, const template_value *value, uint32_t depth)
{
    const char *quote = value->type == TEMPLATE_TEXT ? "'" : "";
    base_string_puts(out, quote);
    write_value(run, out, value, depth);
    base_string_puts(out, quote);
}

static void write_value(template_run *run, base_string *out, const template_value *value, uint32_t depth)
{
    if (depth > TEMPLATE_MOST_NESTED) run->deep = out->failed = true;
    if (out->failed) return;
    switch (value->type) {
    case TEMPLATE_UNDEFINED: break;
    case TEMPLATE_NONE: base_string_puts(out, "None"); break;
    case TEMPLATE_BOOL: base_string_puts(out, value->truth ? "True" : "False"); break;
    case TEMPLATE_INTEGER: base_string_integer(out, value->integer); break;
    case TEMPLATE_REAL: base_string_float(out, WG_KIND_F64, value->real); break;
    case TEMPLATE_TEXT: base_string_put(out, value->text.at, value->text.length); break;
    case TEMPLATE_LIST:
        base_string_puts(out, "[");
        for (uint32_t i = 0; i < value->list.count && !out->failed; i++) {
            if (i) base_string_puts(out, ", ");
            write_nested(run, out, &value->list.items[i], depth + 1);
        }
        base_string_puts(out, "]");
        break;
    case TEMPLATE_MAP:
        base_string_puts(out, "{");
        for (uint32_t i = 0; i < value->map->count && !out->failed; i++) {
            base_string_puts(out, i ? ", '" : "'");
            base_string_put(out, value->map->pairs[i].key, value->map->pairs[i].length);
            base_string_puts(out, "': ");
            write_nested(run, out, &value->map->pairs[i].value, depth + 1);
        }
        base_string_puts(out, "}");
        break;
    }
}

void template_write(template_run *run, base_string *out, const template_value *value)
{
    write_value(run, out, value, 0);
}

/* ---- variables ---- */

template_value template_get(template_run *run, const char *name, size_t length)
{
    for (uint32_t i = run->scope_count; i-- > 0;) {
        template_value *found = template_map_find(run, run->scopes[i], name, length);
        if (found) return *found;
    }
    return (template_value){.type = TEMPLATE_UNDEFINED};
}

bool template_set(template_run *run, const char *name, size_t length, template_value value)
{
    return template_map_put(run, run->scopes[run->scope_count - 1], name, length, value);
}

static bool enter(template_run *run, const char *at)
{
    if (run->scope_count == sizeof run->scopes / sizeof *run->scopes) return template_fail(run, at, WG_UNSUPPORTED, "loops are nested too deep");
    template_map *map = base_arena_take_zeroed(&run->arena, sizeof *map);
    if (!map || !template_spend(run, at, TEMPLATE_STEP)) return map ? false : template_full(run);
    run->scopes[run->scope_count++] = map;
    return true;
}

/* ---- parts ---- */

typedef enum part_form { PART_TEXT, PART_OUTPUT, PART_TAG } part_form;

typedef struct part {
    part_form form;
    const char *at, *end; /* of a tag: what stands inside, white space and dashes taken off */
} part;

typedef struct parts {
    part *items;
    uint32_t count, capacity;
} parts;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool add_part(template_run *run, parts *all, part p)
{
    if (!BASE_RESERVE(run->arena.allocator, all->items, all->capacity, all->count + 1)) return template_full(run);
    all->items[all->count++] = p;
    return true;
}

/* The end of a tag, "%}" or "}}", quoted texts passed over. */
static const char *tag_end(const char *at, const char *end, const char *close)
{
    char quote = 0;
    for (; at + 1 < end; at++) {
        if (quote) {
            if (*at == '\\') at++;
            else if (*at == quote) quote = 0;
        } else if (*at == '\'' || *at == '"') quote = *at;
        else if (at[0] == close[0] && at[1] == close[1]) return at;
    }
    return NULL;
}

/* Spaces and tabs back to the start of a line, or as far back as they go with a dash. */
static const char *text_end(const char *from, const char *to, bool dash, bool block)
{
    const char *at = to;
    while (dash && at > from && is_blank(at[-1])) at--;
    if (dash || !block) return at;
    while (at > from && (at[-1] == ' ' || at[-1] == '\t')) at--;
    return at == from ? to : at[-1] == '\n' ? at : to;
}

static bool cut(template_run *run, const char *source, size_t length, parts *all)
{
    const char *at = source, *end = source + length;
    bool at_start = true; /* the text before begins a line: spaces before a first tag go too */
    while (at < end) {
        const char *open = at;
        while (open < end && !(open[0] == '{' && open + 1 < end && (open[1] == '{' || open[1] == '%' || open[1] == '#'))) open++;
        bool block = open < end && open[1] != '{', dash = open + 2 < end && open[2] == '-';
        const char *stop = open < end ? text_end(at, open, dash, block) : end;
        if (block && !dash && stop == open && at_start) {
            const char *back = open;
            while (back > at && (back[-1] == ' ' || back[-1] == '\t')) back--;
            if (back == at) stop = at;
        }
        if (stop > at && !add_part(run, all, (part){PART_TEXT, at, stop})) return false;
        if (open == end) return true;
        const char *close = open[1] == '{' ? "}}" : open[1] == '%' ? "%}" : "#}";
        const char *inside = open + 2 + dash, *finish = open[1] == '#' ? NULL : tag_end(inside, end, close);
        if (open[1] == '#')
            for (finish = inside; finish + 1 < end && !(finish[0] == '#' && finish[1] == '}');) finish++;
        if (!finish || finish + 1 >= end) return template_fail(run, open, WG_SYNTAX, "this tag has no end: %s", close);
        const char *inner_end = finish > inside && finish[-1] == '-' ? finish - 1 : finish;
        bool eats = inner_end != finish;
        at = finish + 2;
        at_start = false;
        if (open[1] != '#') {
            while (inside < inner_end && is_blank(*inside)) inside++;
            while (inner_end > inside && is_blank(inner_end[-1])) inner_end--;
            if (!add_part(run, all, (part){open[1] == '{' ? PART_OUTPUT : PART_TAG, inside, inner_end})) return false;
        }
        while (eats && at < end && is_blank(*at)) at++;
        if (!eats && block && at < end && *at == '\n') at++, at_start = true;
    }
    return true;
}

/* ---- tags ---- */

static bool is_word_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Whether a tag begins with a word; *rest is what follows it. */
static bool begins(const part *p, const char *word, const char **rest)
{
    size_t length = strlen(word);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) || (p->at + length < p->end && is_word_character(p->at[length]))) return false;
    *rest = p->at + length;
    while (*rest < p->end && is_blank(**rest)) (*rest)++;
    return true;
}

/* The next tag at this level that begins with one of the words, from a part on; all->count: there is none. */
static uint32_t find_tag(template_run *run, const parts *all, uint32_t from, const char *const *words)
{
    uint32_t depth = 0;
    const char *rest;
    for (uint32_t i = from; i < all->count; i++) {
        const part *p = &all->items[i];
        run->steps += 16;
        if (p->form != PART_TAG) continue;
        for (uint32_t w = 0; !depth && words[w]; w++)
            if (begins(p, words[w], &rest)) return i;
        if (begins(p, "if", &rest) || begins(p, "for", &rest)) depth++;
        if (begins(p, "endif", &rest) || begins(p, "endfor", &rest)) depth--;
    }
    return all->count;
}

static bool run_parts(template_run *run, const parts *all, uint32_t from, uint32_t to);

static bool run_if(template_run *run, const parts *all, uint32_t *at, uint32_t to)
{
    static const char *const words[] = {"elif", "else", "endif", NULL};
    const char *rest;
    bool taken = false;
    for (uint32_t here = *at;;) {
        const part *p = &all->items[here];
        uint32_t next = find_tag(run, all, here + 1, words);
        if (next >= to) return template_fail(run, all->items[*at].at, WG_SYNTAX, "this if has no endif");
        if (!taken) {
            template_value value = {.type = TEMPLATE_BOOL};
            value.truth = true;
            bool condition = begins(p, "if", &rest) || begins(p, "elif", &rest);
            if (condition && !template_evaluate_all(run, rest, p->end, &value)) return false;
            taken = template_truth(&value);
            if (taken && !run_parts(run, all, here + 1, next)) return false;
        }
        if (begins(&all->items[next], "endif", &rest)) return *at = next + 1, true;
        here = next;
    }
}

/* ---- loops ---- */

typedef struct loop {
    struct { const char *at; size_t length; } names[2];
    uint32_t name_count;
    template_value items;
    const char *condition, *condition_end; /* NULL: none */
} loop;

static bool read_name(template_run *run, const char **at, const char *end, const char **name, size_t *length)
{
    while (*at < end && is_blank(**at)) (*at)++;
    *name = *at;
    while (*at < end && is_word_character(**at)) (*at)++;
    *length = (size_t)(*at - *name);
    while (*at < end && is_blank(**at)) (*at)++;
    return *length || template_fail(run, *name, WG_SYNTAX, "a name is missing");
}

/* A map gives its keys. */
static bool as_list(template_run *run, const char *at, template_value *value)
{
    if (value->type == TEMPLATE_LIST) return true;
    if (value->type == TEMPLATE_UNDEFINED || value->type == TEMPLATE_NONE) {
        value->type = TEMPLATE_LIST;
        value->list.count = 0;
        return true;
    }
    if (value->type != TEMPLATE_MAP) return template_fail(run, at, WG_ARGUMENT, "what this loop goes over is no list");
    template_map *map = value->map;
    value->type = TEMPLATE_LIST;
    value->list.count = map->count;
    value->list.items = base_arena_take(&run->arena, (map->count + 1) * sizeof *value->list.items);
    if (!value->list.items) return template_full(run);
    for (uint32_t i = 0; i < map->count; i++) value->list.items[i] = template_text(map->pairs[i].key, map->pairs[i].length);
    return true;
}

static bool read_loop(template_run *run, const part *p, const char *at, loop *l)
{
    *l = (loop){.name_count = 0};
    do {
        if (l->name_count == 2) return template_fail(run, at, WG_UNSUPPORTED, "a loop has one name or two");
        if (l->name_count) at++;
        if (!read_name(run, &at, p->end, &l->names[l->name_count].at, &l->names[l->name_count].length)) return false;
        l->name_count++;
    } while (at < p->end && *at == ',');
    if (p->end - at < 3 || memcmp(at, "in", 2) || !is_blank(at[2])) return template_fail(run, at, WG_SYNTAX, "for NAME in LIST: the word in is missing");
    at += 3;
    if (!template_evaluate(run, &at, p->end, &l->items)) return false;
    while (at < p->end && is_blank(*at)) at++;
    if (p->end - at > 3 && !memcmp(at, "if", 2) && is_blank(at[2])) {
        l->condition = at + 3;
        l->condition_end = p->end;
    } else if (at < p->end) return template_fail(run, at, WG_UNSUPPORTED, "in this loop \"%.*s\" is not supported", (int)(p->end - at), at);
    return as_list(run, at, &l->items);
}

static bool bind_item(template_run *run, const char *at, const loop *l, const template_value *item)
{
    if (l->name_count == 1) return template_set(run, l->names[0].at, l->names[0].length, *item);
    if (item->type != TEMPLATE_LIST || item->list.count != 2) return template_fail(run, at, WG_ARGUMENT, "two names need pairs");
    return template_set(run, l->names[0].at, l->names[0].length, item->list.items[0]) && template_set(run, l->names[1].at, l->names[1].length, item->list.items[1]);
}

static bool set_loop(template_run *run, const template_value *items, uint32_t i)
{
    template_value loop = {.type = TEMPLATE_MAP}, number = {.type = TEMPLATE_INTEGER}, truth = {.type = TEMPLATE_BOOL};
    loop.map = base_arena_take_zeroed(&run->arena, sizeof *loop.map);
    if (!loop.map) return template_full(run);
    static const struct { const char *name; int which; } fields[] = {{"index", 0}, {"index0", 1}, {"first", 2}, {"last", 3}, {"length", 4}, {"revindex", 5}, {"revindex0", 6}};
    uint32_t count = items->list.count;
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        truth.truth = fields[f].which == 2 ? i == 0 : i + 1 == count;
        number.integer = fields[f].which == 0 ? i + 1 : fields[f].which == 1 ? i : fields[f].which == 4 ? count : fields[f].which == 5 ? count - i : count - i - 1;
        bool flag = fields[f].which == 2 || fields[f].which == 3;
        if (!template_map_put(run, loop.map, fields[f].name, strlen(fields[f].name), flag ? truth : number)) return false;
    }
    if (i && !template_map_put(run, loop.map, "previtem", 8, items->list.items[i - 1])) return false;
    if (i + 1 < count && !template_map_put(run, loop.map, "nextitem", 8, items->list.items[i + 1])) return false;
    return template_set(run, "loop", 4, loop);
}

/* Of a list with a condition the items that pass. */
static bool filtered(template_run *run, const char *at, const loop *l, template_value *kept)
{
    *kept = l->items;
    if (!l->condition) return true;
    kept->list.count = 0;
    kept->list.items = base_arena_take(&run->arena, (l->items.list.count + 1) * sizeof *kept->list.items);
    if (!kept->list.items) return template_full(run);
    for (uint32_t i = 0; i < l->items.list.count; i++) {
        template_value passes;
        if (!enter(run, at)) return false;
        bool good = bind_item(run, at, l, &l->items.list.items[i]) && template_evaluate_all(run, l->condition, l->condition_end, &passes);
        run->scope_count--;
        if (!good) return false;
        if (template_truth(&passes)) kept->list.items[kept->list.count++] = l->items.list.items[i];
    }
    return true;
}

static bool run_for(template_run *run, const parts *all, uint32_t *at, uint32_t to)
{
    static const char *const words[] = {"else", "endfor", NULL}, *const last[] = {"endfor", NULL};
    const part *p = &all->items[*at];
    const char *rest;
    loop l;
    template_value items;
    begins(p, "for", &rest);
    uint32_t end = find_tag(run, all, *at + 1, last), body_end = find_tag(run, all, *at + 1, words);
    if (end >= to) return template_fail(run, p->at, WG_SYNTAX, "this for has no endfor");
    if (!read_loop(run, p, rest, &l) || !filtered(run, p->at, &l, &items)) return false;
    for (uint32_t i = 0; i < items.list.count; i++) {
        if (!enter(run, p->at)) return false;
        bool good = set_loop(run, &items, i) && bind_item(run, p->at, &l, &items.list.items[i]) && run_parts(run, all, *at + 1, body_end);
        run->scope_count--;
        if (!good) return false;
    }
    if (!items.list.count && body_end != end && !run_parts(run, all, body_end + 1, end)) return false;
    *at = end + 1;
    return true;
}

static bool run_set(template_run *run, const part *p, const char *at)
{
    const char *name, *field = NULL;
    size_t length, field_length = 0;
    template_value value;
    if (!read_name(run, &at, p->end, &name, &length)) return false;
    if (at < p->end && *at == '.') {
        at++;
        if (!read_name(run, &at, p->end, &field, &field_length)) return false;
    }
    if (at >= p->end || *at != '=') return template_fail(run, p->at, WG_UNSUPPORTED, "set NAME = VALUE is the form that is supported");
    if (!template_evaluate_all(run, at + 1, p->end, &value)) return false;
    if (!field) return template_set(run, name, length, value);
    template_value space = template_get(run, name, length);
    if (space.type != TEMPLATE_MAP) return template_fail(run, name, WG_ARGUMENT, "%.*s is no namespace", (int)length, name);
    return template_map_put(run, space.map, field, field_length, value);
}

static bool run_parts(template_run *run, const parts *all, uint32_t from, uint32_t to)
{
    const char *rest;
    if (++run->depth > MOST_DEPTH) return template_fail(run, all->items[from < all->count ? from : 0].at, WG_UNSUPPORTED, "tags are nested too deep");
    for (uint32_t i = from; i < to;) {
        const part *p = &all->items[i];
        template_value value;
        if (!template_spend(run, p->at, TEMPLATE_STEP)) return false;
        if (p->form == PART_TEXT) base_string_put(&run->out, p->at, (size_t)(p->end - p->at));
        else if (p->form == PART_OUTPUT) {
            if (!template_evaluate_all(run, p->at, p->end, &value)) return false;
            template_write(run, &run->out, &value);
        } else if (begins(p, "if", &rest)) {
            if (!run_if(run, all, &i, to)) return false;
            continue;
        } else if (begins(p, "for", &rest)) {
            if (!run_for(run, all, &i, to)) return false;
            continue;
        } else if (begins(p, "set", &rest)) {
            if (!run_set(run, p, rest)) return false;
        } else if (!begins(p, "generation", &rest) && !begins(p, "endgeneration", &rest)) {
            size_t length = 0;
            while (p->at + length < p->end && is_word_character(p->at[length])) length++;
            return template_fail(run, p->at, WG_UNSUPPORTED, "the tag \"%.*s\" is not supported", (int)length, p->at);
        }
        if (run->out.failed) return template_full(run);
        i++;
    }
    run->depth--;
    return true;
}

/* ---- the whole ---- */

static bool give(template_run *run, const template_input *input)
{
    template_value prompt = {.type = TEMPLATE_BOOL}, none = {.type = TEMPLATE_NONE};
    prompt.truth = input->add_generation_prompt;
    const char *begin = input->begin ? input->begin : "", *end = input->end ? input->end : "";
    return enter(run, run->source) && template_set(run, "messages", 8, template_of_json(run, input->messages)) &&
           template_set(run, "add_generation_prompt", 21, prompt) && template_set(run, "bos_token", 9, template_text(begin, strlen(begin))) &&
           template_set(run, "eos_token", 9, template_text(end, strlen(end))) && template_set(run, "tools", 5, none) && template_set(run, "documents", 9, none);
}

char *model_template_render(const wg_allocator *allocator, const char *name, const char *source, const template_input *input, size_t *length, wg_error *error)
{
    template_run run = {.name = name, .source = source, .error = error, .outer = allocator};
    base_string answer = base_string_new(allocator);
    parts all = {NULL, 0, 0};
    run.allocator = (wg_allocator){limited, &run};
    run.arena = base_arena_new(&run.allocator);
    run.out = base_string_new(&run.allocator);
    bool good = cut(&run, source, strlen(source), &all) && give(&run, input) && run_parts(&run, &all, 0, all.count) && template_spend(&run, source, 0);
    base_free(&run.allocator, all.items, all.capacity * sizeof *all.items);
    base_arena_free(&run.arena);
    if (good) base_string_put(&answer, run.out.text ? run.out.text : "", run.out.length);
    base_string_free(&run.out);
    if (length) *length = answer.length;
    char *text = good ? base_text_take(&answer) : NULL;
    if (good && !text) base_fail_memory(error);
    return text;
}
