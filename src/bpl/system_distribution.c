/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * •distribution: a record of the functions of a distribution, whose formulas are distribution.c's; •rand: a generator of its own. */
#include <math.h>
#include <string.h>

#include "bpl/distribution.h"
#include "bpl/kinds.h"
#include "bpl/whole.h"

typedef struct chosen {
    const bpl_distribution *of;
    double p[2];
} chosen;

/* What a function of a distribution carries: which one, and its parameters. */
static bool chosen_of(bpl_session *session, const bpl_value *data, chosen *c)
{
    wg_view view;
    if (!bpl_read(session, data, &view)) return false;
    const double *numbers = view.data;
    *c = (chosen){&bpl_distributions[(int)numbers[0]], {numbers[1], numbers[2]}};
    return true;
}

/* ---- density, cdf, quantile ------------------------------------------------------------------------------------------------------------------------- */

typedef enum member { SAMPLE, DENSITY, CDF, QUANTILE, MEMBERS } member;
static const char *const members[MEMBERS] = {"sample", "density", "cdf", "quantile"};

typedef struct asked {
    chosen c;
    member which;
} asked;

static bool shares_only(bpl_session *session, wg_array *x)
{
    bool any;
    wg_array *low = wg_array_greater_equal_scalar(x, 0), *high = wg_array_less_equal_scalar(x, 1);
    if (!bpl_found(session, wg_array_logical_not(wg_array_logical_and(low, high)), &any)) return false;
    return !any || bpl_fail(session, BPL_DOMAIN, "quantile takes shares in [0, 1]");
}

/* Whole numbers as ordinary integers; where one is infinite all stay floats. */
static bool whole_numbers(bpl_session *session, bpl_number *number)
{
    bool any;
    if (!bpl_any(session, wg_array_equal_scalar(number->array, (double)INFINITY), &any)) return false;
    if (!any) *number = bpl_number_of(wg_array_convert(number->array, WG_KIND_I64), BPL_CLASS_ORDINARY);
    return true;
}

static bpl_value *apply_numbers(bpl_session *session, bpl_value *value, const asked *a)
{
    if (value->class == BPL_CLASS_COMPLEX) return bpl_fail(session, BPL_DOMAIN, "%s takes real numbers", members[a->which]);
    wg_scope_open(session->lazy);
    bpl_number x = bpl_floats(session, (bpl_number){bpl_array(value), value->class, value->weak, false}), result = bpl_nothing();
    wg_kind kind = x.array ? wg_array_kind(x.array) : WG_KIND_F64;
    if (kind == WG_KIND_F16) x.array = wg_array_convert(x.array, WG_KIND_F32);
    const bpl_distribution *of = a->c.of;
    bool good = x.array && (a->which != QUANTILE || shares_only(session, x.array));
    if (good) {
        wg_array *made = a->which == DENSITY ? of->density(x.array, a->c.p) : a->which == CDF ? of->cdf(x.array, a->c.p)
            : of->quantile(x.array, a->c.p);
        result = bpl_like(x, kind == WG_KIND_F16 ? wg_array_convert(made, kind) : made);
        good = a->which != QUANTILE || !of->discrete || (made && whole_numbers(session, &result));
    }
    bool answered = good && (result.array || !bpl_failed(session));
    bpl_value *made = answered ? bpl_own_array(session, result.array, (bpl_class)result.class, value->atom, result.weak && value->atom) : NULL;
    wg_scope_close(session->lazy);
    return bpl_settle_keys(session, made, bpl_keys_keep(value->keys));
}

static bpl_value *apply(bpl_session *session, bpl_value *value, void *data)
{
    const asked *a = data;
    if (value->type == BPL_NUMBERS) return apply_numbers(session, value, a);
    if (value->type == BPL_ITEMS) return bpl_each_item(session, value, data, apply);
    if (value->type != BPL_RATIONAL) return bpl_fail(session, BPL_DOMAIN, "%s takes numbers", members[a->which]);
    bpl_value *real = bpl_mark_value(session, BPL_MARK_REAL, value), *result = real ? apply(session, real, data) : NULL;
    bpl_release(real);
    return result;
}

static bpl_value *call_member(bpl_session *session, const bpl_call *call, member which)
{
    asked a = {.which = which};
    if (call->left) return bpl_fail(session, BPL_SYNTAX, "%s takes one argument", members[which]);
    return chosen_of(session, call->function->left, &a.c) ? apply(session, call->right, &a) : NULL;
}

static bpl_value *call_density(bpl_session *session, const bpl_call *call) { return call_member(session, call, DENSITY); }
static bpl_value *call_cdf(bpl_session *session, const bpl_call *call) { return call_member(session, call, CDF); }
static bpl_value *call_quantile(bpl_session *session, const bpl_call *call) { return call_member(session, call, QUANTILE); }

/* ---- their slopes: how cdf and quantile move with their argument ------------------------------------------------------------------------------------ */

static bpl_value *member_at(bpl_session *session, const bpl_call *call, member which, bpl_value *x)
{
    asked a = {.which = which};
    return x && chosen_of(session, call->function->left, &a.c) ? apply(session, x, &a) : NULL;
}

static bpl_value *slope_cdf(bpl_session *session, const bpl_call *call)
{
    bpl_value *density = member_at(session, call, DENSITY, call->right), *moved = density ? bpl_dyad(session, BPL_GLYPH_TIMES, call->left, density)
        : NULL;
    bpl_release(density);
    return moved;
}

static bpl_value *slope_quantile(bpl_session *session, const bpl_call *call)
{
    bpl_value *x = member_at(session, call, QUANTILE, call->right), *density = member_at(session, call, DENSITY, x);
    bpl_value *moved = density ? bpl_dyad(session, BPL_GLYPH_DIVIDE, call->left, density) : NULL;
    bpl_release(x);
    bpl_release(density);
    return moved;
}

/* ---- •rand ------------------------------------------------------------------------------------------------------------------------------------------ */

/* What the functions of a generator share: the key of its seed, and how many draws there were. It changes at each draw, for all that hold it. */
static bpl_value *new_stream(bpl_session *session, int64_t seed)
{
    uint32_t words[2] = {(uint32_t)seed, (uint32_t)((uint64_t)seed >> 32)};
    bpl_items *items = bpl_items_new(session, 1, (const int64_t[]){2});
    if (!items) return NULL;
    items->at[0] = bpl_of_array(session, wg_array_from(session->lazy, WG_KIND_U32, 1, (const int64_t[]){2}, words), BPL_CLASS_FIXED, false, false);
    items->at[1] = items->at[0] ? bpl_count(session, 0) : NULL;
    if (items->at[1]) return bpl_of_items(session, items);
    bpl_items_free(session, items);
    return NULL;
}

wg_array *bpl_stream_key(bpl_session *session)
{
    bpl_value **state = session->stream->items->at;
    int64_t draws;
    if (!bpl_to_integer(session, state[1], "draws", &draws)) return NULL;
    bpl_value *more = bpl_count(session, draws + 1);
    wg_array *key = more ? wg_array_key_fold(bpl_array(state[0]), bpl_array(state[1])) : NULL;
    if (!key) return bpl_release(more), NULL;
    bpl_release(state[1]);
    state[1] = more;
    return key;
}

static bpl_value *call_roll(bpl_session *session, const bpl_call *call)
{
    if (call->left) return bpl_fail(session, BPL_SYNTAX, "roll takes one argument");
    bpl_value *before = session->stream;
    session->stream = call->function->left;
    bpl_value *result = bpl_monad(session, BPL_GLYPH_ROLL, call->right);
    session->stream = before;
    return result;
}

static bpl_value *call_deal(bpl_session *session, const bpl_call *call)
{
    if (!call->left) return bpl_fail(session, BPL_SYNTAX, "deal takes how many numbers on its left");
    bpl_value *before = session->stream;
    session->stream = call->function->left;
    bpl_value *result = bpl_dyad(session, BPL_GLYPH_ROLL, call->left, call->right);
    session->stream = before;
    return result;
}

/* The state of a generator, borrowed; NULL: it is none. */
static bpl_value *stream_of(const bpl_value *generator)
{
    bool record = generator->type == BPL_ITEMS && bpl_rank(generator) == 1 && bpl_volume(generator) == 2;
    const bpl_value *roll = record ? generator->items->at[0] : NULL;
    return roll && bpl_is_function(roll) && roll->function->native == call_roll ? roll->function->left : NULL;
}

bpl_value *bpl_system_rand(bpl_session *session, const bpl_call *call)
{
    int64_t seed;
    if (call->left) return bpl_fail(session, BPL_SYNTAX, "•rand takes one argument, the seed");
    if (bpl_rank(call->right) > 1) return bpl_fail(session, BPL_RANK, "•rand takes one seed");
    if (bpl_volume(call->right) != 1) return bpl_fail(session, BPL_LENGTH, "•rand takes one seed");
    if (!bpl_to_integer(session, call->right, "the seed of •rand", &seed)) return NULL;
    if (seed < 0) return bpl_fail(session, BPL_DOMAIN, "the seed of •rand is not negative");
    bpl_value *stream = new_stream(session, seed), *values[2];
    if (!stream) return NULL;
    values[0] = bpl_native(session, BPL_SYSTEM_RAND, call_roll, stream);
    values[1] = bpl_native(session, BPL_SYSTEM_RAND, call_deal, stream);
    bpl_release(stream);
    return bpl_record(session, (const char *const[]){"roll", "deal"}, values, 2);
}

/* ---- sample ----------------------------------------------------------------------------------------------------------------------------------------- */

static bpl_value *draw(bpl_session *session, const chosen *c, uint32_t rank, const int64_t *shape)
{
    wg_scope_open(session->lazy);
    wg_array *key = bpl_draw_key(session), *drawn = key ? c->of->sample(key, rank, shape, c->p) : NULL;
    wg_kind kind = c->of->discrete ? WG_KIND_I64 : session->preferences.float_kind;
    if (drawn && wg_array_kind(drawn) != kind) drawn = wg_array_convert(drawn, kind);
    bpl_value *result = bpl_failed(session) ? NULL : bpl_own_array(session, drawn, c->of->discrete ? BPL_CLASS_ORDINARY : BPL_CLASS_FLOAT, false,
                                                                   false);
    wg_scope_close(session->lazy);
    return result;
}

static bpl_value *call_sample(bpl_session *session, const bpl_call *call)
{
    chosen c;
    int64_t *shape, rank;
    bpl_value *stream = call->left ? stream_of(call->left) : NULL, *before = session->stream;
    if (call->left && !stream) return bpl_fail(session, BPL_DOMAIN, "sample takes a generator that •rand made on its left");
    if (bpl_rank(call->right) > 1) return bpl_fail(session, BPL_RANK, "the shape of a sample is a unit or a vector");
    if (!chosen_of(session, call->function->left, &c) || !bpl_to_integers(session, call->right, "the shape of a sample", false, &shape,
                                                                          &rank)) return NULL;
    bool good = rank <= WG_MAX_RANK || bpl_fail(session, BPL_LIMIT, "a sample has at most %d axes", WG_MAX_RANK);
    for (int64_t i = 0; good && i < rank; i++) good = shape[i] >= 0 || bpl_fail(session, BPL_DOMAIN, "the shape of a sample is not negative");
    good = good && bpl_shape_allowed(session, (uint32_t)rank, shape) && bpl_act(session, "a draw");
    if (stream) session->stream = stream;
    bpl_value *result = good ? draw(session, &c, (uint32_t)rank, shape) : NULL;
    session->stream = before;
    bpl_free_integers(session, shape, rank);
    return result;
}

/* ---- •distribution ---------------------------------------------------------------------------------------------------------------------------------- */

static bool is_allowed(const chosen *c, int at)
{
    double p = c->p[at];
    switch ((bpl_parameter)c->of->rules[at]) {
    case ABSENT:
    case ANY: return true;
    case POSITIVE: return p > 0;
    case NOT_NEGATIVE: return p >= 0;
    case SHARE: return p >= 0 && p <= 1;
    case COUNT: return p >= 0 && p < 0x1p53 && p == (double)(int64_t)p;
    case ABOVE: return p > c->p[0];
    }
    return false;
}

static bool check_parameters(bpl_session *session, const chosen *c)
{
    static const char *const rules[] = {"", "a number", "positive", "not negative", "in [0, 1]", "a whole number, not negative",
                                        "more than the first one"};
    for (int i = 0; i < 2; i++) {
        if (c->of->rules[i] == ABSENT) continue;
        if (c->p[i] - c->p[i] != 0) return bpl_fail(session, BPL_DOMAIN, "the parameters of a distribution are finite");
        if (!is_allowed(c, i)) return bpl_fail(session, BPL_DOMAIN, "parameter %d of \"%s\" must be %s", i + 1, c->of->name, rules[c->of->rules[i]]);
    }
    return true;
}

static bool read_parameters(bpl_session *session, bpl_value *left, chosen *c)
{
    int64_t count = c->of->rules[1] == ABSENT ? 1 : 2;
    memcpy(c->p, c->of->standard, sizeof c->p);
    if (!left) return c->p[0] == c->p[0] || bpl_fail(session, BPL_DOMAIN, "\"%s\" has no standard parameters: give %s on the left", c->of->name,
                                                     count == 1 ? "one" : "two");
    if (bpl_rank(left) > 1) return bpl_fail(session, BPL_RANK, "the parameters of a distribution are a unit or a vector");
    if (bpl_volume(left) != count) return bpl_fail(session, BPL_LENGTH, "\"%s\" has %lld parameters, not %lld", c->of->name, (long long)count,
                                                   (long long)bpl_volume(left));
    for (int64_t i = 0; i < count; i++) {
        bpl_value *item = bpl_rank(left) ? bpl_item(session, left, i) : bpl_keep(left);
        bool read = item && bpl_to_double(session, item, "a parameter of a distribution", &c->p[i]);
        bpl_release(item);
        if (!read) return false;
    }
    return true;
}

static bool find_distribution(bpl_session *session, const bpl_value *name, int *at)
{
    char *text;
    size_t length;
    if (name->type != BPL_CHARACTERS) return bpl_fail(session, BPL_DOMAIN, "the name of a distribution is a text");
    if (!bpl_to_text(session, name, "the name of a distribution", &text, &length)) return false;
    for (*at = 0; *at < BPL_DISTRIBUTIONS && strcmp(text, bpl_distributions[*at].name);) ++*at;
    if (*at == BPL_DISTRIBUTIONS) bpl_fail(session, BPL_DOMAIN, "there is no distribution \"%.60s\"", text);
    base_free(session->allocator, text, length + 1);
    return *at < BPL_DISTRIBUTIONS;
}

/* A function with its inverse (a copy, so that neither holds the other) and its slope. */
static bpl_value *with_inverse(bpl_session *session, bpl_code code, bpl_code inverse, bpl_code slope, bpl_value *data)
{
    bpl_value *function = bpl_native(session, BPL_SYSTEM_DISTRIBUTION, code, data);
    if (!function) return NULL;
    function->function->inverse = bpl_native(session, BPL_SYSTEM_DISTRIBUTION, inverse, data);
    function->function->slope = function->function->inverse ? bpl_native(session, BPL_SYSTEM_DISTRIBUTION, slope, data) : NULL;
    if (function->function->slope) return function;
    bpl_release(function);
    return NULL;
}

bpl_value *bpl_system_distribution(bpl_session *session, const bpl_call *call)
{
    int at = 0;
    if (!find_distribution(session, call->right, &at)) return NULL;
    chosen c = {.of = &bpl_distributions[at]};
    if (!read_parameters(session, call->left, &c) || !check_parameters(session, &c)) return NULL;
    double numbers[3] = {at, c.p[0], c.p[1]};
    bpl_value *data = bpl_numbers(session, BPL_CLASS_FLOAT, WG_KIND_F64, 1, (const int64_t[]){3}, numbers), *values[MEMBERS] = {NULL};
    if (!data) return NULL;
    values[SAMPLE] = bpl_native(session, BPL_SYSTEM_DISTRIBUTION, call_sample, data);
    values[DENSITY] = bpl_native(session, BPL_SYSTEM_DISTRIBUTION, call_density, data);
    values[CDF] = with_inverse(session, call_cdf, call_quantile, slope_cdf, data);
    values[QUANTILE] = with_inverse(session, call_quantile, call_cdf, slope_quantile, data);
    bpl_release(data);
    return bpl_record(session, members, values, MEMBERS);
}
