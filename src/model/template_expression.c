/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Expressions of templates, by recursive descent: a if c else b; or; and; not; comparisons, in, is; ~; + -; * / // %; unary -; then what binds
 * tightest: .name [i] [a:b:c] (..) |filter. What is not needed (the other side of and, or, if) is read without being evaluated, so that it
 * cannot fail. */
#include <string.h>

#include "model/template.h"

typedef struct reader {
    template_run *run;
    const char *at, *end;
    uint32_t skip;  /* above 0: nothing is evaluated */
    uint32_t depth;
} reader;

static const template_value undefined = {.type = TEMPLATE_UNDEFINED};

static bool expression(reader *r, template_value *value);
static bool negation(reader *r, template_value *value);

static void blanks(reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')) r->at++;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Whether a symbol stands here; it is passed over. */
static bool symbol(reader *r, const char *text)
{
    size_t length = strlen(text);
    blanks(r);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, text, length)) return false;
    r->at += length;
    return true;
}

static bool word(reader *r, const char *text)
{
    size_t length = strlen(text);
    blanks(r);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, text, length) || (r->at + length < r->end && is_word(r->at[length]))) return false;
    r->at += length;
    return true;
}

static bool unexpected(reader *r, const char *wanted)
{
    int left = (int)(r->end - r->at);
    return template_fail(r->run, r->at, WG_SYNTAX, "%s is missing before \"%.*s\"", wanted, left < 20 ? left : 20, r->at);
}

/* ---- literals ---- */

static bool quoted(reader *r, template_value *value)
{
    char quote = *r->at++, *text = base_arena_take(&r->run->arena, (size_t)(r->end - r->at) + 1);
    size_t length = 0;
    if (!text) return template_full(r->run);
    for (; r->at < r->end && *r->at != quote; r->at++) {
        char c = *r->at;
        if (c == '\\' && r->at + 1 < r->end) {
            c = *++r->at;
            c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
        }
        text[length++] = c;
    }
    if (r->at == r->end) return template_fail(r->run, r->at, WG_SYNTAX, "a quoted text has no end");
    r->at++;
    *value = template_text(text, length);
    return true;
}

static bool number(reader *r, template_value *value)
{
    size_t left = (size_t)(r->end - r->at), whole = base_parse_integer(r->at, left, &value->integer), real = 0;
    double parsed;
    value->type = TEMPLATE_INTEGER;
    if (whole < left && r->at[whole] == '.' && whole + 1 < left && r->at[whole + 1] >= '0' && r->at[whole + 1] <= '9') real = base_parse_float(r->at, left, WG_KIND_F64, &parsed);
    if (real) {
        value->type = TEMPLATE_REAL;
        value->real = parsed;
    }
    r->at += real ? real : whole;
    return whole || real || unexpected(r, "a number");
}

static bool list(reader *r, const char *close, template_value *value)
{
    template_value items[64];
    uint32_t count = 0;
    while (!symbol(r, close)) {
        if (count == 64) return template_fail(r->run, r->at, WG_UNSUPPORTED, "a list of more than 64 items");
        if (!expression(r, &items[count++])) return false;
        if (!symbol(r, ",")) {
            if (symbol(r, close)) break;
            return unexpected(r, close);
        }
    }
    value->type = TEMPLATE_LIST;
    value->list.count = count;
    value->list.items = base_arena_take(&r->run->arena, (count + 1) * sizeof *items);
    if (!value->list.items) return template_full(r->run);
    if (count) memcpy(value->list.items, items, count * sizeof *items);
    return true;
}

static bool object(reader *r, template_value *value)
{
    value->type = TEMPLATE_MAP;
    value->map = base_arena_take_zeroed(&r->run->arena, sizeof *value->map);
    if (!value->map) return template_full(r->run);
    while (!symbol(r, "}")) {
        template_value key, item;
        if (!expression(r, &key)) return false;
        if (!symbol(r, ":")) return unexpected(r, ":");
        if (!expression(r, &item)) return false;
        if (key.type == TEMPLATE_TEXT && !template_map_put(r->run, value->map, key.text.at, key.text.length, item)) return false;
        if (!symbol(r, ",")) {
            if (symbol(r, "}")) break;
            return unexpected(r, "}");
        }
    }
    return true;
}

/* ---- calls ---- */

/* Behind the opening bracket. */
static bool arguments(reader *r, template_arguments *given)
{
    given->count = 0;
    while (!symbol(r, ")")) {
        if (given->count == 8) return template_fail(r->run, r->at, WG_UNSUPPORTED, "a call with more than 8 arguments");
        uint32_t i = given->count++;
        blanks(r);
        const char *name = r->at, *end = name;
        while (end < r->end && is_word(*end)) end++;
        const char *equals = end;
        while (equals < r->end && *equals == ' ') equals++;
        given->names[i].at = NULL;
        if (end > name && equals + 1 < r->end && *equals == '=' && equals[1] != '=') {
            given->names[i].at = name;
            given->names[i].length = (size_t)(end - name);
            r->at = equals + 1;
        }
        if (!expression(r, &given->values[i])) return false;
        if (!symbol(r, ",")) {
            if (symbol(r, ")")) break;
            return unexpected(r, ")");
        }
    }
    return true;
}

static bool optional_arguments(reader *r, template_arguments *given)
{
    if (r->at == r->end || *r->at != '(') return true;
    r->at++;
    return arguments(r, given);
}

static bool name_here(reader *r, const char **name, size_t *length)
{
    blanks(r);
    *name = r->at;
    while (r->at < r->end && is_word(*r->at)) r->at++;
    *length = (size_t)(r->at - *name);
    return *length || unexpected(r, "a name");
}

/* ---- places of texts and lists ---- */

static bool index_of(reader *r, const char *at, template_value *value, const template_value *key)
{
    if (value->type == TEMPLATE_MAP && key->type == TEMPLATE_TEXT) {
        template_value *found = template_map_find(r->run, value->map, key->text.at, key->text.length);
        return *value = found ? *found : undefined, true;
    }
    if (value->type == TEMPLATE_LIST && key->type == TEMPLATE_INTEGER) {
        int64_t i = key->integer < 0 ? key->integer + value->list.count : key->integer;
        return *value = i >= 0 && i < value->list.count ? value->list.items[i] : undefined, true;
    }
    if (value->type == TEMPLATE_TEXT && key->type == TEMPLATE_INTEGER) {
        int64_t i = key->integer < 0 ? key->integer + (int64_t)value->text.length : key->integer;
        bool there = i >= 0 && i < (int64_t)value->text.length;
        return *value = there ? template_text(value->text.at + i, 1) : undefined, true;
    }
    if (value->type == TEMPLATE_UNDEFINED || value->type == TEMPLATE_NONE) return template_fail(r->run, at, WG_ARGUMENT, "what has no value has no items");
    return *value = undefined, true;
}

/* [a:b:c], Python's rules. */
static bool slice(reader *r, const char *at, template_value *value, const template_value *bounds, const bool *given)
{
    int64_t step = given[2] ? bounds[2].integer : 1, count = value->type == TEMPLATE_LIST ? value->list.count : value->type == TEMPLATE_TEXT ? (int64_t)value->text.length : -1;
    if (count < 0 || !step) return template_fail(r->run, at, WG_ARGUMENT, "only lists and texts have parts, and no step is 0");
    int64_t start = given[0] ? bounds[0].integer : step > 0 ? 0 : count - 1, stop = given[1] ? bounds[1].integer : step > 0 ? count : -1 - count;
    if (given[0] && start < 0) start += count;
    if (stop < 0) stop += count;
    if (!given[1] && step < 0) stop = -1;
    int64_t low = step > 0 ? 0 : -1, high = step > 0 ? count : count - 1;
    if (step > count) step = count + 1;
    if (step < -count) step = -1 - count;
    start = start < low ? low : start > high ? high : start;
    stop = stop < low ? low : stop > high ? high : stop;
    if (value->type == TEMPLATE_TEXT) {
        if (step != 1) return template_fail(r->run, at, WG_UNSUPPORTED, "a text has no parts with a step");
        *value = template_text(value->text.at + start, stop > start ? (size_t)(stop - start) : 0);
        return true;
    }
    template_value *items = base_arena_take(&r->run->arena, ((size_t)count + 1) * sizeof *items);
    uint32_t kept = 0;
    if (!items) return template_full(r->run);
    for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step) items[kept++] = value->list.items[i];
    value->list.items = items;
    value->list.count = kept;
    return true;
}

static bool brackets(reader *r, template_value *value)
{
    const char *at = r->at;
    template_value bounds[3] = {undefined, undefined, undefined};
    bool given[3] = {false, false, false};
    int place = 0;
    blanks(r);
    while (!symbol(r, "]")) {
        if (symbol(r, ":")) {
            if (++place > 2) return unexpected(r, "]");
            continue;
        }
        if (!expression(r, &bounds[place])) return false;
        given[place] = true;
        if (r->at == r->end) return unexpected(r, "]");
    }
    if (r->skip) return *value = undefined, true;
    for (int i = 0; place && i < 3; i++)
        if (given[i] && bounds[i].type != TEMPLATE_INTEGER) return template_fail(r->run, at, WG_ARGUMENT, "parts are told by whole numbers");
    return place ? slice(r, at, value, bounds, given) : index_of(r, at, value, &bounds[0]);
}

/* ---- what binds tightest ---- */

static bool field(reader *r, template_value *value)
{
    const char *at = r->at, *name;
    size_t length;
    template_arguments given;
    if (!name_here(r, &name, &length)) return false;
    blanks(r);
    if (r->at < r->end && *r->at == '(') {
        r->at++;
        if (!arguments(r, &given)) return false;
        return r->skip ? (*value = undefined, true) : template_method(r->run, at, name, length, &given, value);
    }
    if (r->skip) return *value = undefined, true;
    template_value key = template_text(name, length);
    return index_of(r, at, value, &key);
}

static bool filter(reader *r, template_value *value)
{
    const char *at = r->at, *name;
    size_t length;
    template_arguments given = {.count = 0};
    if (!name_here(r, &name, &length)) return false;
    if (!optional_arguments(r, &given)) return false;
    return r->skip ? (*value = undefined, true) : template_filter(r->run, at, name, length, &given, value);
}

static bool variable(reader *r, template_value *value)
{
    const char *at = r->at, *name;
    size_t length;
    template_arguments given;
    if (word(r, "true") || word(r, "True")) return value->type = TEMPLATE_BOOL, value->truth = true;
    if (word(r, "false") || word(r, "False")) return value->type = TEMPLATE_BOOL, value->truth = false, true;
    if (word(r, "none") || word(r, "None")) return value->type = TEMPLATE_NONE, true;
    if (!name_here(r, &name, &length)) return false;
    if (r->at < r->end && *r->at == '(') {
        r->at++;
        if (!arguments(r, &given)) return false;
        return r->skip ? (*value = undefined, true) : template_function(r->run, at, name, length, &given, value);
    }
    *value = template_get(r->run, name, length);
    return true;
}

static bool primary(reader *r, template_value *value)
{
    blanks(r);
    *value = undefined;
    if (r->at == r->end) return unexpected(r, "a value");
    if (*r->at == '\'' || *r->at == '"') return quoted(r, value);
    if (*r->at >= '0' && *r->at <= '9') return number(r, value);
    if (symbol(r, "[")) return list(r, "]", value);
    if (symbol(r, "{")) return object(r, value);
    if (symbol(r, "(")) {
        if (!expression(r, value)) return false;
        return symbol(r, ")") || unexpected(r, ")");
    }
    return variable(r, value);
}

static bool postfix(reader *r, template_value *value)
{
    if (!primary(r, value)) return false;
    for (;;) {
        blanks(r);
        if (r->at < r->end && *r->at == '.') {
            r->at++;
            if (!field(r, value)) return false;
        } else if (r->at < r->end && *r->at == '[') {
            r->at++;
            if (!brackets(r, value)) return false;
        } else if (r->at < r->end && *r->at == '|') {
            r->at++;
            if (!filter(r, value)) return false;
        } else return true;
    }
}

/* ---- arithmetic ---- */

static double real_of(const template_value *value)
{
    return value->type == TEMPLATE_REAL ? value->real : value->type == TEMPLATE_BOOL ? value->truth : (double)value->integer;
}

static bool is_number(const template_value *value)
{
    return value->type == TEMPLATE_INTEGER || value->type == TEMPLATE_REAL || value->type == TEMPLATE_BOOL;
}

static bool join(reader *r, const template_value *a, const template_value *b, template_value *value)
{
    base_string out = base_string_new(r->run->arena.allocator);
    template_write(r->run, &out, a);
    template_write(r->run, &out, b);
    const char *text = out.failed ? NULL : base_arena_string(&r->run->arena, out.text ? out.text : "", out.length);
    *value = template_text(text, out.length);
    base_string_free(&out);
    return text || template_full(r->run);
}

static bool add_lists(reader *r, const template_value *a, const template_value *b, template_value *value)
{
    template_value *items = base_arena_take(&r->run->arena, ((size_t)a->list.count + b->list.count + 1) * sizeof *items);
    if (!items) return template_full(r->run);
    if (a->list.count) memcpy(items, a->list.items, a->list.count * sizeof *items);
    if (b->list.count) memcpy(items + a->list.count, b->list.items, b->list.count * sizeof *items);
    value->type = TEMPLATE_LIST;
    value->list.count = a->list.count + b->list.count;
    value->list.items = items;
    return true;
}

static bool calculate(reader *r, const char *at, char how, template_value a, template_value b, template_value *value)
{
    if (r->skip) return *value = undefined, true;
    if (how == '~' || (how == '+' && a.type == TEMPLATE_TEXT && b.type == TEMPLATE_TEXT)) return join(r, &a, &b, value);
    if (how == '+' && a.type == TEMPLATE_LIST && b.type == TEMPLATE_LIST) return add_lists(r, &a, &b, value);
    if (!is_number(&a) || !is_number(&b)) return template_fail(r->run, at, WG_ARGUMENT, "%c takes numbers%s", how, how == '+' ? ", or two texts or lists" : "");
    bool whole = a.type != TEMPLATE_REAL && b.type != TEMPLATE_REAL && how != '/';
    double x = real_of(&a), y = real_of(&b);
    if ((how == '/' || how == '%' || how == 'd') && y == 0) return template_fail(r->run, at, WG_ARGUMENT, "a division by zero");
    if (!whole && (how == '%' || how == 'd')) return template_fail(r->run, at, WG_UNSUPPORTED, "// and %% take whole numbers");
    value->type = whole ? TEMPLATE_INTEGER : TEMPLATE_REAL;
    if (!whole) return value->real = how == '+' ? x + y : how == '-' ? x - y : how == '*' ? x * y : x / y, true;
    int64_t i = a.type == TEMPLATE_BOOL ? a.truth : a.integer, j = b.type == TEMPLATE_BOOL ? b.truth : b.integer, result = 0;
    bool fits = true;
    if (how == '+') fits = !__builtin_add_overflow(i, j, &result);
    else if (how == '-') fits = !__builtin_sub_overflow(i, j, &result);
    else if (how == '*') fits = !__builtin_mul_overflow(i, j, &result);
    else if (j == -1) fits = how == '%' || !__builtin_sub_overflow((int64_t)0, i, &result);
    else result = how == 'd' ? i / j - (i % j && (i < 0) != (j < 0)) : i % j + (i % j && (i < 0) != (j < 0) ? j : 0);
    value->integer = result;
    return fits || template_fail(r->run, at, WG_SIZE, "a number grows too large");
}

static bool unary(reader *r, template_value *value)
{
    const char *at = r->at;
    template_value zero = {.type = TEMPLATE_INTEGER};
    uint32_t count = 0;
    zero.integer = 0;
    while (symbol(r, "-")) count++;
    if (!postfix(r, value)) return false;
    while (count--)
        if (!calculate(r, at, '-', zero, *value, value)) return false;
    return true;
}

static bool product(reader *r, template_value *value)
{
    if (!unary(r, value)) return false;
    for (template_value right;;) {
        const char *at = r->at;
        char how = symbol(r, "//") ? 'd' : symbol(r, "*") ? '*' : symbol(r, "/") ? '/' : symbol(r, "%") ? '%' : 0;
        if (!how) return true;
        if (!unary(r, &right) || !calculate(r, at, how, *value, right, value)) return false;
    }
}

static bool sum(reader *r, template_value *value)
{
    if (!product(r, value)) return false;
    for (template_value right;;) {
        const char *at = r->at;
        char how = symbol(r, "+") ? '+' : symbol(r, "-") ? '-' : symbol(r, "~") ? '~' : 0;
        if (!how) return true;
        if (!product(r, &right) || !calculate(r, at, how, *value, right, value)) return false;
    }
}

/* ---- comparisons ---- */

static bool contains(template_run *run, const template_value *whole, const template_value *part)
{
    if (whole->type == TEMPLATE_TEXT && part->type == TEMPLATE_TEXT)
        return template_search(run, whole->text.at, whole->text.at + whole->text.length, part->text.at, part->text.length) != NULL;
    if (whole->type == TEMPLATE_MAP) return part->type == TEMPLATE_TEXT && template_map_find(run, whole->map, part->text.at, part->text.length);
    for (uint32_t i = 0; whole->type == TEMPLATE_LIST && i < whole->list.count; i++)
        if (template_equal(run, &whole->list.items[i], part)) return true;
    return false;
}

static int order(const template_value *a, const template_value *b)
{
    if (a->type == TEMPLATE_TEXT && b->type == TEMPLATE_TEXT) {
        size_t least = a->text.length < b->text.length ? a->text.length : b->text.length;
        int how = memcmp(a->text.at, b->text.at, least);
        return how ? how : a->text.length < b->text.length ? -1 : a->text.length > b->text.length;
    }
    double x = real_of(a), y = real_of(b);
    return x < y ? -1 : x > y;
}

static bool test(reader *r, template_value *value)
{
    bool negated = word(r, "not"), truth = false;
    const char *at = r->at, *name;
    size_t length;
    template_arguments given = {.count = 0};
    if (!name_here(r, &name, &length)) return false;
    if (!optional_arguments(r, &given)) return false;
    if (!r->skip && !template_test(r->run, at, name, length, &given, value, &truth)) return false;
    value->type = TEMPLATE_BOOL;
    value->truth = truth != negated;
    return true;
}

static const char *comparison_here(reader *r)
{
    static const char *const all[] = {"==", "!=", "<=", ">=", "<", ">"};
    for (int i = 0; i < 6; i++)
        if (symbol(r, all[i])) return all[i];
    if (word(r, "in")) return "in";
    const char *at = r->at;
    if (word(r, "not") && word(r, "in")) return "not in";
    r->at = at;
    return NULL;
}

static bool compare(reader *r, const char *at, const char *how, const template_value *a, const template_value *b, template_value *value)
{
    bool truth = false, ordered = how[0] == '<' || how[0] == '>';
    bool texts = a->type == TEMPLATE_TEXT && b->type == TEMPLATE_TEXT, numbers = is_number(a) && is_number(b);
    if (!r->skip && ordered && !texts && !numbers) return template_fail(r->run, at, WG_ARGUMENT, "%s takes two numbers or two texts", how);
    if (r->skip) truth = false;
    else if (how[0] == 'i') truth = contains(r->run, b, a);
    else if (how[0] == 'n') truth = !contains(r->run, b, a);
    else if (how[0] == '=' || how[0] == '!') truth = template_equal(r->run, a, b) == (how[0] == '=');
    else if (texts && !template_spend(r->run, at, a->text.length / 16)) return false;
    else if (how[0] == '<') truth = order(a, b) < (how[1] == '=');
    else truth = order(a, b) > -(how[1] == '=');
    value->type = TEMPLATE_BOOL;
    value->truth = truth;
    return true;
}

static bool comparison(reader *r, template_value *value)
{
    if (!sum(r, value)) return false;
    for (;;) {
        const char *at = r->at;
        if (word(r, "is")) {
            if (!test(r, value)) return false;
            continue;
        }
        const char *how = comparison_here(r);
        template_value right;
        if (!how) return true;
        if (!sum(r, &right)) return false;
        blanks(r);
        template_value left = *value;
        if (word(r, "is") && !test(r, &right)) return false;
        if (!compare(r, at, how, &left, &right, value)) return false;
    }
}

/* ---- logic ---- */

static bool negation(reader *r, template_value *value)
{
    uint32_t count = 0;
    while (word(r, "not")) count++;
    if (!comparison(r, value)) return false;
    if (!count) return true;
    bool truth = template_truth(value) != (count % 2 == 1);
    value->type = TEMPLATE_BOOL;
    value->truth = truth;
    return true;
}

/* and (all) or or (not all): the side that decides is the value. */
static bool logic(reader *r, bool all, template_value *value)
{
    if (!(all ? negation(r, value) : logic(r, true, value))) return false;
    while (word(r, all ? "and" : "or")) {
        bool decided = template_truth(value) != all;
        template_value right;
        r->skip += decided;
        bool good = all ? negation(r, &right) : logic(r, true, &right);
        r->skip -= decided;
        if (!good) return false;
        if (!decided) *value = right;
    }
    return true;
}

/* Whether an if stands behind this expression at its own level. */
static bool has_condition(const reader *r)
{
    char quote = 0;
    int depth = 0;
    for (const char *c = r->at; c < r->end; c++) {
        r->run->steps++;
        if (quote) {
            if (*c == '\\' && c + 1 < r->end) c++;
            else if (*c == quote) quote = 0;
            continue;
        }
        if (*c == '\'' || *c == '"') quote = *c;
        else if (*c == '(' || *c == '[' || *c == '{') depth++;
        else if (*c == ')' || *c == ']' || *c == '}') {
            if (!depth--) return false;
        } else if (!depth && *c == ',') return false;
        else if (!depth && *c == 'i' && c + 2 < r->end && c[1] == 'f' && !is_word(c[2]) && c > r->at && !is_word(c[-1])) return true;
    }
    return false;
}

/* VALUE if CONDITION else VALUE: the condition is evaluated first, then the one side that it takes. */
static bool conditional(reader *r, template_value *value)
{
    const char *start = r->at;
    template_value condition;
    r->skip++;
    bool good = logic(r, false, value);
    r->skip--;
    if (!good) return false;
    if (!word(r, "if")) return unexpected(r, "if");
    if (!logic(r, false, &condition)) return false;
    bool taken = template_truth(&condition);
    *value = undefined;
    if (word(r, "else")) {
        r->skip += taken;
        good = expression(r, value);
        r->skip -= taken;
        if (!good) return false;
    }
    const char *end = r->at;
    if (!taken || r->skip) return true;
    r->at = start;
    good = logic(r, false, value);
    r->at = end;
    return good;
}

static bool expression(reader *r, template_value *value)
{
    if (r->depth == 60) return template_fail(r->run, r->at, WG_UNSUPPORTED, "an expression is nested too deep");
    if (!template_spend(r->run, r->at, TEMPLATE_STEP)) return false;
    r->depth++;
    bool good = has_condition(r) ? conditional(r, value) : logic(r, false, value);
    r->depth--;
    return good;
}

bool template_evaluate(template_run *run, const char **at, const char *end, template_value *value)
{
    reader r = {.run = run, .at = *at, .end = end};
    bool good = logic(&r, false, value); /* an if behind the list of a loop is the loop's */
    *at = r.at;
    return good;
}

bool template_evaluate_all(template_run *run, const char *at, const char *end, template_value *value)
{
    reader r = {.run = run, .at = at, .end = end};
    if (!expression(&r, value)) return false;
    blanks(&r);
    if (r.at == end) return true;
    return template_fail(run, r.at, WG_SYNTAX, "\"%.*s\" stands behind the end of an expression", (int)(end - r.at < 30 ? end - r.at : 30), r.at);
}
