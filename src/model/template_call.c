/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Filters, tests, methods and functions of templates: those that published chat templates use. */
#include <stdio.h>
#include <string.h>

#include "model/template.h"

static bool is(const char *name, size_t length, const char *wanted)
{
    return strlen(wanted) == length && !memcmp(name, wanted, length);
}

static bool unknown(template_run *run, const char *at, const char *what, const char *name, size_t length)
{
    return template_fail(run, at, WG_UNSUPPORTED, "the %s \"%.*s\" is not supported", what, (int)(length < 60 ? length : 60), name);
}

/* The argument at a place, or by name; NULL: it is not given. */
static const template_value *argument(const template_arguments *given, uint32_t place, const char *name)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < given->count; i++) {
        if (given->names[i].at ? name && is(given->names[i].at, given->names[i].length, name) : at++ == place) return &given->values[i];
    }
    return NULL;
}

/* ---- texts ---- */

static bool among(char c, const template_value *set)
{
    if (!set || set->type != TEMPLATE_TEXT) return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
    return set->text.length && memchr(set->text.at, c, set->text.length);
}

static void strip(template_value *value, const template_value *set, bool left, bool right)
{
    while (left && value->text.length && among(value->text.at[0], set)) value->text.at++, value->text.length--;
    while (right && value->text.length && among(value->text.at[value->text.length - 1], set)) value->text.length--;
}

/* Letters of ASCII alone: templates write nothing else. */
static bool change_case(template_run *run, template_value *value, char how)
{
    char *text = base_arena_take(&run->arena, value->text.length + 1);
    bool first = true;
    if (!text) return template_full(run);
    for (size_t i = 0; i < value->text.length; i++) {
        char c = value->text.at[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool upper = how == 'u' || ((how == 't' || how == 'c') && first);
        text[i] = !letter ? c : upper ? (char)(c & ~32) : (char)(c | 32);
        first = how == 't' ? !letter : false;
    }
    value->text.at = text;
    return true;
}

static bool starts_with(const template_value *value, const template_value *part, bool end)
{
    if (part->text.length > value->text.length) return false;
    return !memcmp(value->text.at + (end ? value->text.length - part->text.length : 0), part->text.at, part->text.length);
}

static const char *find(template_run *run, const char *at, const char *end, const template_value *part)
{
    return template_search(run, at, end, part->text.at, part->text.length);
}

/* Parts between a separator; without one, words. */
static bool split(template_run *run, const char *at, const template_value *separator, template_value *value)
{
    const char *from = value->text.at, *end = from + value->text.length;
    bool words = !separator || separator->type != TEMPLATE_TEXT;
    template_value *items = base_arena_take(&run->arena, (value->text.length + 2) * sizeof *items);
    uint32_t count = 0;
    if (!items) return template_full(run);
    if (!words && !separator->text.length) return template_fail(run, at, WG_ARGUMENT, "split needs a separator that is not empty");
    while (words ? from < end : from != NULL) {
        const char *stop = words ? from : find(run, from, end, separator);
        while (words && stop < end && !among(*stop, NULL)) stop++;
        if (!stop) stop = end;
        if (!words || stop > from) items[count++] = template_text(from, (size_t)(stop - from));
        if (words) from = stop + 1;
        else from = stop == end ? NULL : stop + separator->text.length;
    }
    value->type = TEMPLATE_LIST;
    value->list.items = items;
    value->list.count = count;
    return true;
}

/* The text of what was put into a string, which is freed. */
static bool keep(template_run *run, base_string *out, template_value *value)
{
    const char *text = out->failed ? NULL : base_arena_string(&run->arena, out->text ? out->text : "", out->length);
    *value = template_text(text, out->length);
    base_string_free(out);
    return text || template_full(run);
}

static bool replace(template_run *run, const char *at, const template_value *from, const template_value *to, template_value *value)
{
    if (!from || !to || from->type != TEMPLATE_TEXT || to->type != TEMPLATE_TEXT || !from->text.length) return template_fail(run, at, WG_ARGUMENT, "replace takes two texts, the first not empty");
    base_string out = base_string_new(run->arena.allocator);
    const char *c = value->text.at, *end = c + value->text.length;
    for (const char *found; !out.failed && (found = find(run, c, end, from)); c = found + from->text.length) {
        base_string_put(&out, c, (size_t)(found - c));
        base_string_put(&out, to->text.at, to->text.length);
    }
    base_string_put(&out, c, (size_t)(end - c));
    return keep(run, &out, value);
}

/* ---- JSON, as Python's json.dumps with ensure_ascii off writes it ---- */

static void line(base_string *out, int64_t indent, uint32_t depth)
{
    if (indent < 0) return;
    base_string_puts(out, "\n");
    for (int64_t i = 0; i < indent * depth; i++) base_string_puts(out, " ");
}

static void put_json(template_run *run, base_string *out, const template_value *value, int64_t indent, uint32_t depth)
{
    const char *comma = indent < 0 ? ", " : ",";
    if (depth > TEMPLATE_MOST_NESTED) run->deep = out->failed = true;
    if (out->failed) return;
    switch (value->type) {
    case TEMPLATE_UNDEFINED:
    case TEMPLATE_NONE: base_string_puts(out, "null"); break;
    case TEMPLATE_BOOL: base_string_puts(out, value->truth ? "true" : "false"); break;
    case TEMPLATE_TEXT: base_json_put_string(out, value->text.at, value->text.length); break;
    case TEMPLATE_LIST:
        base_string_puts(out, "[");
        for (uint32_t i = 0; i < value->list.count && !out->failed; i++) {
            if (i) base_string_puts(out, comma);
            line(out, indent, depth + 1);
            put_json(run, out, &value->list.items[i], indent, depth + 1);
        }
        if (value->list.count) line(out, indent, depth);
        base_string_puts(out, "]");
        break;
    case TEMPLATE_MAP:
        base_string_puts(out, "{");
        for (uint32_t i = 0; i < value->map->count && !out->failed; i++) {
            if (i) base_string_puts(out, comma);
            line(out, indent, depth + 1);
            base_json_put_string(out, value->map->pairs[i].key, value->map->pairs[i].length);
            base_string_puts(out, ": ");
            put_json(run, out, &value->map->pairs[i].value, indent, depth + 1);
        }
        if (value->map->count) line(out, indent, depth);
        base_string_puts(out, "}");
        break;
    default: template_write(run, out, value);
    }
}

static bool to_json(template_run *run, const template_arguments *given, template_value *value)
{
    const template_value *indent = argument(given, 0, "indent");
    base_string out = base_string_new(run->arena.allocator);
    put_json(run, &out, value, indent && indent->type == TEMPLATE_INTEGER && indent->integer >= 0 && indent->integer < 17 ? indent->integer : -1, 0);
    return keep(run, &out, value);
}

/* ---- lists and maps ---- */

static bool length_of(template_run *run, const char *at, template_value *value)
{
    int64_t count = 0;
    if (value->type == TEMPLATE_TEXT) run->steps += value->text.length / 4;
    if (value->type == TEMPLATE_TEXT)
        for (size_t i = 0; i < value->text.length; i++) count += ((unsigned char)value->text.at[i] & 0xc0) != 0x80;
    else if (value->type == TEMPLATE_LIST) count = value->list.count;
    else if (value->type == TEMPLATE_MAP) count = value->map->count;
    else return template_fail(run, at, WG_ARGUMENT, "only texts, lists and maps have a length");
    value->type = TEMPLATE_INTEGER;
    value->integer = count;
    return true;
}

static bool join(template_run *run, const char *at, const template_value *separator, template_value *value)
{
    if (value->type != TEMPLATE_LIST) return template_fail(run, at, WG_ARGUMENT, "join takes a list");
    base_string out = base_string_new(run->arena.allocator);
    for (uint32_t i = 0; i < value->list.count && !out.failed; i++) {
        if (i && separator) template_write(run, &out, separator);
        template_write(run, &out, &value->list.items[i]);
    }
    return keep(run, &out, value);
}

/* 'k' keys, 'v' values, 'i' pairs of both. */
static bool map_parts(template_run *run, const char *at, char which, template_value *value)
{
    if (value->type != TEMPLATE_MAP) return template_fail(run, at, WG_ARGUMENT, "items, keys and values are of a map");
    template_map *map = value->map;
    template_value *items = base_arena_take(&run->arena, ((size_t)map->count + 1) * sizeof *items), *pairs = base_arena_take(&run->arena, (2 * (size_t)map->count + 1) * sizeof *pairs);
    if (!items || !pairs) return template_full(run);
    for (uint32_t i = 0; i < map->count; i++) {
        pairs[2 * i] = template_text(map->pairs[i].key, map->pairs[i].length);
        pairs[2 * i + 1] = map->pairs[i].value;
        items[i] = pairs[2 * i + (which == 'v')];
        if (which != 'i') continue;
        items[i].type = TEMPLATE_LIST;
        items[i].list.items = &pairs[2 * i];
        items[i].list.count = 2;
    }
    value->type = TEMPLATE_LIST;
    value->list.items = items;
    value->list.count = map->count;
    return true;
}

/* selectattr("key"), selectattr("key", "equalto", x) and rejectattr. */
static bool select_by(template_run *run, const char *at, const template_arguments *given, bool keep_true, template_value *value)
{
    const template_value *key = argument(given, 0, NULL), *how = argument(given, 1, NULL), *wanted = argument(given, 2, NULL);
    if (value->type != TEMPLATE_LIST || !key || key->type != TEMPLATE_TEXT || (how && (how->type != TEMPLATE_TEXT || !wanted)))
        return template_fail(run, at, WG_UNSUPPORTED, "selectattr and rejectattr take a key of a list's maps, and a test with a value");
    if (how && !is(how->text.at, how->text.length, "equalto") && !is(how->text.at, how->text.length, "==") && !is(how->text.at, how->text.length, "eq"))
        return unknown(run, at, "test", how->text.at, how->text.length);
    template_value *items = base_arena_take(&run->arena, ((size_t)value->list.count + 1) * sizeof *items);
    uint32_t count = 0;
    if (!items) return template_full(run);
    for (uint32_t i = 0; i < value->list.count; i++) {
        const template_value *item = &value->list.items[i], *found = item->type == TEMPLATE_MAP ? template_map_find(run, item->map, key->text.at, key->text.length) : NULL;
        bool passes = found && (how ? template_equal(run, found, wanted) : template_truth(found));
        if (passes == keep_true) items[count++] = *item;
    }
    value->list.items = items;
    value->list.count = count;
    return true;
}

/* map(attribute="key") */
static bool map_by(template_run *run, const char *at, const template_arguments *given, template_value *value)
{
    const template_value *key = argument(given, 9, "attribute");
    if (value->type != TEMPLATE_LIST || !key || key->type != TEMPLATE_TEXT) return template_fail(run, at, WG_UNSUPPORTED, "map takes attribute=\"key\" of a list of maps");
    template_value *items = base_arena_take(&run->arena, ((size_t)value->list.count + 1) * sizeof *items);
    if (!items) return template_full(run);
    for (uint32_t i = 0; i < value->list.count; i++) {
        const template_value *item = &value->list.items[i], *found = item->type == TEMPLATE_MAP ? template_map_find(run, item->map, key->text.at, key->text.length) : NULL;
        items[i] = found ? *found : (template_value){.type = TEMPLATE_UNDEFINED};
    }
    value->list.items = items;
    return true;
}

static bool to_integer(template_run *run, const char *at, template_value *value)
{
    int64_t number = 0;
    if (value->type == TEMPLATE_INTEGER) return true;
    if (value->type == TEMPLATE_BOOL) number = value->truth;
    else if (value->type == TEMPLATE_REAL && value->real > -9e18 && value->real < 9e18) number = (int64_t)value->real;
    else if (value->type == TEMPLATE_TEXT) base_parse_integer(value->text.at, value->text.length, &number);
    else return template_fail(run, at, WG_ARGUMENT, "int takes a number or a text");
    value->type = TEMPLATE_INTEGER;
    value->integer = number;
    return true;
}

static bool to_text(template_run *run, template_value *value)
{
    if (value->type == TEMPLATE_TEXT) return true;
    base_string out = base_string_new(run->arena.allocator);
    template_write(run, &out, value);
    return keep(run, &out, value);
}

/* ---- the four kinds of names ---- */

bool template_filter(template_run *run, const char *at, const char *name, size_t length, const template_arguments *given, template_value *value)
{
    const template_value *first = argument(given, 0, NULL);
    if (is(name, length, "default") || is(name, length, "d")) {
        const template_value *boolean = argument(given, 1, "boolean");
        bool replace_it = value->type == TEMPLATE_UNDEFINED || (boolean && template_truth(boolean) && !template_truth(value));
        if (replace_it) *value = first ? *first : template_text("", 0);
        return true;
    }
    if (is(name, length, "length") || is(name, length, "count")) return length_of(run, at, value);
    if (is(name, length, "tojson")) return to_json(run, given, value);
    if (is(name, length, "join")) return join(run, at, first, value);
    if (is(name, length, "items")) return map_parts(run, at, 'i', value);
    if (is(name, length, "selectattr") || is(name, length, "rejectattr")) return select_by(run, at, given, name[0] == 's', value);
    if (is(name, length, "map")) return map_by(run, at, given, value);
    if (is(name, length, "int")) return to_integer(run, at, value);
    if (is(name, length, "string")) return to_text(run, value);
    if (is(name, length, "safe") || (is(name, length, "list") && value->type == TEMPLATE_LIST)) return true;
    if (is(name, length, "list")) return map_parts(run, at, 'k', value);
    if ((is(name, length, "first") || is(name, length, "last")) && value->type == TEMPLATE_LIST) {
        uint32_t count = value->list.count;
        template_value item = count ? value->list.items[name[0] == 'f' ? 0 : count - 1] : (template_value){.type = TEMPLATE_UNDEFINED};
        return *value = item, true;
    }
    static const struct { const char *name; char how; } texts[] = {{"trim", 's'}, {"upper", 'u'}, {"lower", 'l'}, {"title", 't'}, {"capitalize", 'c'}, {"replace", 'r'}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!is(name, length, texts[i].name)) continue;
        if (!to_text(run, value)) return false;
        if (texts[i].how == 's') return strip(value, first, true, true), true;
        if (texts[i].how == 'r') return replace(run, at, first, argument(given, 1, NULL), value);
        return change_case(run, value, texts[i].how);
    }
    return unknown(run, at, "filter", name, length);
}

bool template_test(template_run *run, const char *at, const char *name, size_t length, const template_arguments *given, const template_value *value, bool *truth)
{
    template_type type = value->type;
    if (is(name, length, "defined")) *truth = type != TEMPLATE_UNDEFINED;
    else if (is(name, length, "undefined")) *truth = type == TEMPLATE_UNDEFINED;
    else if (is(name, length, "none")) *truth = type == TEMPLATE_NONE;
    else if (is(name, length, "string")) *truth = type == TEMPLATE_TEXT;
    else if (is(name, length, "number")) *truth = type == TEMPLATE_INTEGER || type == TEMPLATE_REAL || type == TEMPLATE_BOOL;
    else if (is(name, length, "integer")) *truth = type == TEMPLATE_INTEGER;
    else if (is(name, length, "boolean")) *truth = type == TEMPLATE_BOOL;
    else if (is(name, length, "true")) *truth = type == TEMPLATE_BOOL && value->truth;
    else if (is(name, length, "false")) *truth = type == TEMPLATE_BOOL && !value->truth;
    else if (is(name, length, "mapping")) *truth = type == TEMPLATE_MAP;
    else if (is(name, length, "sequence") || is(name, length, "iterable")) *truth = type == TEMPLATE_LIST || type == TEMPLATE_TEXT || type == TEMPLATE_MAP;
    else if (is(name, length, "equalto") && argument(given, 0, NULL)) *truth = template_equal(run, value, argument(given, 0, NULL));
    else return unknown(run, at, "test", name, length);
    return true;
}

static bool truth_value(template_value *value, bool truth)
{
    value->type = TEMPLATE_BOOL;
    value->truth = truth;
    return true;
}

static bool text_method(template_run *run, const char *at, const char *name, size_t length, const template_arguments *given, template_value *value)
{
    const template_value *first = argument(given, 0, NULL);
    if (is(name, length, "strip") || is(name, length, "lstrip") || is(name, length, "rstrip")) return strip(value, first, name[0] != 'r', name[0] != 'l'), true;
    if (is(name, length, "split")) return split(run, at, first, value);
    if (is(name, length, "replace")) return replace(run, at, first, argument(given, 1, NULL), value);
    if (is(name, length, "upper") || is(name, length, "lower") || is(name, length, "title") || is(name, length, "capitalize")) return change_case(run, value, name[0]);
    if (!is(name, length, "startswith") && !is(name, length, "endswith")) return unknown(run, at, "method", name, length);
    if (!first || first->type != TEMPLATE_TEXT) return template_fail(run, at, WG_ARGUMENT, "%.*s takes a text", (int)length, name);
    return truth_value(value, starts_with(value, first, name[0] == 'e'));
}

bool template_method(template_run *run, const char *at, const char *name, size_t length, const template_arguments *given, template_value *value)
{
    const template_value *first = argument(given, 0, NULL), *second = argument(given, 1, NULL);
    if (value->type == TEMPLATE_TEXT) return text_method(run, at, name, length, given, value);
    if (value->type != TEMPLATE_MAP) return template_fail(run, at, WG_ARGUMENT, "only texts and maps have methods: .%.*s()", (int)(length < 60 ? length : 60), name);
    if (is(name, length, "items") || is(name, length, "keys") || is(name, length, "values")) return map_parts(run, at, name[0], value);
    if (!is(name, length, "get") || !first || first->type != TEMPLATE_TEXT) return unknown(run, at, "method", name, length);
    template_value *found = template_map_find(run, value->map, first->text.at, first->text.length);
    *value = found ? *found : second ? *second : (template_value){.type = TEMPLATE_NONE};
    return true;
}

static bool range(template_run *run, const char *at, const template_arguments *given, template_value *value)
{
    int64_t bounds[3] = {0, 0, 1};
    for (uint32_t i = 0; i < given->count && i < 3; i++) {
        if (given->values[i].type != TEMPLATE_INTEGER) return template_fail(run, at, WG_ARGUMENT, "range takes whole numbers");
        bounds[i] = given->values[i].integer;
    }
    if (given->count == 1) bounds[1] = bounds[0], bounds[0] = 0;
    if (!given->count || bounds[2] != 1 || bounds[1] > 100000 || bounds[0] < -100000) return template_fail(run, at, WG_UNSUPPORTED, "range(n) and range(a, b) within 100,000 are supported");
    uint32_t count = bounds[1] > bounds[0] ? (uint32_t)(bounds[1] - bounds[0]) : 0;
    value->type = TEMPLATE_LIST;
    value->list.count = count;
    value->list.items = base_arena_take(&run->arena, ((size_t)count + 1) * sizeof *value->list.items);
    if (!value->list.items) return template_full(run);
    for (uint32_t i = 0; i < count; i++) {
        value->list.items[i].type = TEMPLATE_INTEGER;
        value->list.items[i].integer = bounds[0] + i;
    }
    return true;
}

bool template_function(template_run *run, const char *at, const char *name, size_t length, const template_arguments *given, template_value *value)
{
    if (is(name, length, "range")) return range(run, at, given, value);
    if (is(name, length, "raise_exception")) {
        const template_value *why = argument(given, 0, NULL);
        char text[300] = "the template refuses these messages";
        bool given_text = why && why->type == TEMPLATE_TEXT;
        if (given_text) snprintf(text, sizeof text, "%.*s", (int)(why->text.length < sizeof text ? why->text.length : sizeof text - 1), why->text.at);
        for (char *c = text; *c; c++)
            if ((unsigned char)*c < ' ') *c = ' '; /* a message is one line */
        return template_fail(run, at, WG_ARGUMENT, "%s", text);
    }
    if (!is(name, length, "namespace") && !is(name, length, "dict")) return unknown(run, at, "function", name, length);
    value->type = TEMPLATE_MAP;
    value->map = base_arena_take_zeroed(&run->arena, sizeof *value->map);
    if (!value->map) return template_full(run);
    for (uint32_t i = 0; i < given->count; i++) {
        if (!given->names[i].at) return template_fail(run, at, WG_ARGUMENT, "%.*s takes NAME=VALUE", (int)length, name);
        if (!template_map_put(run, value->map, given->names[i].at, given->names[i].length, given->values[i])) return false;
    }
    return true;
}
