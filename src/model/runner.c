/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Runners: one session of the prefill cut, whose rows are bound to what is fed (one row is a decode step: the bits are the same). Caches grow
 * with the sequence, since logits do not depend on how many positions they have room for; where a model's angles do, they have their whole
 * room from the start. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"
#include "model/model.h"
#include "wengert/files.h"
#include "wengert/generate.h"

#define FIRST_ROOM 256 /* positions */

struct wg_runner {
    wg_model_spec *spec;
    const wg_allocator *allocator;
    wg_model_cut cut;
    int64_t ctx, chunk, room, rows, asked, position; /* room: positions of the caches now; rows, asked: bound now */
    bool fixed;                                      /* ctx is a number of the text */
    wg_network *network;
    wg_parameters *parameters;
    wg_entry *entry;
    wg_plan *plan;
    wg_session *session;
    wg_symbol tokens, first, ask, logits, *caches;   /* caches [2 * layers]: cache.k.0, cache.v.0, .. */
    int32_t *ask_rows;                               /* [chunk] */
    float *answers;                                  /* [answer_room] */
    int64_t answer_room;
};

/* ---- making ---- */

static int64_t cache_bytes(const wg_runner *r, int64_t positions)
{
    const model_config *c = &r->spec->config;
    return 2 * c->layers * c->key_heads * c->head_width * positions * (r->cut.cache == WG_KIND_F16 ? 2 : 4);
}

/* The trained length, or what fits in half of the memory that is free. */
static int64_t default_ctx(const wg_runner *r)
{
    int64_t pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE), most = r->spec->config.positions;
    int64_t fits = pages > 0 && page > 0 ? pages / 2 * page / cache_bytes(r, 1) : most;
    return fits < 1 ? 1 : fits < most ? fits : most;
}

/* The i-th of all caches: keys and values of layer 0, then of layer 1, .. */
static void cache_name(int64_t i, char name[MODEL_CACHE_NAME])
{
    model_cache_name(i % 2 ? 'v' : 'k', i / 2, name);
}

static bool find_symbols(wg_runner *r, wg_error *error)
{
    int64_t layers = r->spec->config.layers;
    r->tokens = wg_network_symbol(r->network, "tokens");
    r->first = wg_network_symbol(r->network, "position");
    r->ask = wg_network_symbol(r->network, "ask");
    r->logits = wg_network_symbol(r->network, "logits");
    r->caches = base_allocate(r->allocator, (size_t)(2 * layers) * sizeof *r->caches);
    r->ask_rows = base_allocate(r->allocator, (size_t)r->chunk * sizeof *r->ask_rows);
    if (!r->caches || !r->ask_rows) return base_fail_memory(error);
    bool all = true;
    for (int64_t i = 0; i < 2 * layers; i++) {
        char name[MODEL_CACHE_NAME];
        cache_name(i, name);
        r->caches[i] = wg_network_symbol(r->network, name);
        all = all && r->caches[i].position != WG_NONE;
    }
    if (all && r->tokens.position != WG_NONE && r->first.position != WG_NONE && r->ask.position != WG_NONE && r->logits.position != WG_NONE) return true;
    return base_fail(error, WG_NAME, "%s: a program to run is the prefill cut of its model: tokens, position, ask and the caches of %lld layers in, logits out",
                     r->spec->text_path ? r->spec->text_path : r->spec->config.name, (long long)layers);
}

/* The authored program, or one's own text of it. */
static wg_network *program(wg_runner *r, wg_error *error)
{
    const wg_model_spec *spec = r->spec;
    if (!spec->text) return wg_model_network(spec, &r->cut, error);
    wg_network *network = wg_text_parse(spec->context, spec->text, spec->text_length, spec->text_path, NULL, error);
    wg_node_facts cache;
    wg_symbol first = network ? wg_network_symbol(network, "cache.k.0") : (wg_symbol){.position = WG_NONE};
    if (first.position != WG_NONE && wg_network_node(network, first.position, &cache)) r->cut.cache = cache.kind;
    return network;
}

static bool bind(wg_runner *r, int64_t rows, int64_t asked, int64_t room, wg_error *error);

static bool make(wg_runner *r, wg_error *error)
{
    r->cut.rows = r->rows = r->cut.asked = r->asked = 1;
    r->fixed = model_angles_follow_ctx(&r->spec->config);
    r->cut.ctx = r->room = r->fixed || r->ctx < FIRST_ROOM ? r->ctx : FIRST_ROOM;
    if (!(r->network = program(r, error)) || !find_symbols(r, error)) return false;
    if (!(r->parameters = wg_model_parameters(r->spec, r->network, error))) return false;
    if (!(r->entry = wg_network_entry(r->network, "prefill", error))) return false;
    if (!(r->plan = wg_plan_new(r->entry, NULL, 0, error))) return false;
    if (!(r->session = wg_session_new(r->plan, NULL, error))) return false;
    if (r->spec->text) r->rows = r->asked = r->room = 0; /* what the text has is bound anew */
    return !r->spec->text || bind(r, 1, 1, r->cut.ctx, error);
}

wg_runner *wg_runner_new(wg_model_spec *spec, const wg_runner_options *options, wg_error *error)
{
    static const wg_runner_options defaults = {.size = sizeof defaults};
    if (!options) options = &defaults;
    if (!spec || options->size != sizeof *options) return base_fail(error, WG_ARGUMENT, "a runner needs a spec, and options of this library's size"), NULL;
    if (!spec->tensor_count) return base_fail(error, WG_NAME, "%s has no weights beside it", spec->config.name), NULL;
    if (options->ctx < 0 || options->chunk < 0 || options->ctx > INT32_MAX || options->chunk > 65536)
        return base_fail(error, WG_ARGUMENT, "positions and rows of a runner must be positive, rows at most 65,536"), NULL;
    wg_runner *r = base_allocate_zeroed(spec->allocator, sizeof *r);
    if (!r) return base_fail_memory(error), NULL;
    r->spec = spec;
    r->allocator = spec->allocator;
    r->cut = (wg_model_cut){.size = sizeof r->cut, .form = WG_MODEL_PREFILL, .cache = options->cache, .q8_activation = options->q8_activation};
    r->chunk = options->chunk ? options->chunk : 256;
    r->ctx = options->ctx ? options->ctx : default_ctx(r);
    if (!make(r, error)) wg_runner_free(&r);
    return r;
}

void wg_runner_free(wg_runner **handle)
{
    if (!handle || !*handle) return;
    wg_runner *r = *handle;
    *handle = NULL;
    wg_session_free(&r->session);
    wg_plan_release(&r->plan);
    wg_entry_free(&r->entry);
    wg_parameters_free(&r->parameters);
    wg_network_release(&r->network);
    base_free(r->allocator, r->caches, (size_t)(2 * r->spec->config.layers) * sizeof *r->caches);
    base_free(r->allocator, r->ask_rows, (size_t)r->chunk * sizeof *r->ask_rows);
    base_free(r->allocator, r->answers, (size_t)r->answer_room * sizeof *r->answers);
    base_free(r->allocator, r, sizeof *r);
}

int64_t wg_runner_ctx(const wg_runner *r)
{
    return r ? r->ctx : 0;
}

int64_t wg_runner_vocabulary(const wg_runner *r)
{
    return r ? r->spec->config.vocabulary : 0;
}

int64_t wg_runner_position(const wg_runner *r)
{
    return r ? r->position : 0;
}

/* ---- caches ---- */

/* A cache with room for `room` positions, the first `positions` of [K, have, d] copied; the rest zeros. */
static wg_tensor *resized(const wg_runner *r, const wg_view *cache, int64_t positions, int64_t room, wg_error *error)
{
    int64_t shape[3] = {cache->shape[0], room, cache->shape[2]};
    wg_tensor *tensor = wg_tensor_new(r->spec->context, cache->kind, 3, shape, NULL, error);
    size_t row = (size_t)shape[2] * wg_kind_bytes(cache->kind);
    for (int64_t k = 0; tensor && k < shape[0]; k++)
        memcpy((char *)wg_tensor_data(tensor) + (size_t)(k * room) * row, (const char *)cache->data + (size_t)(k * cache->shape[1]) * row, (size_t)positions * row);
    return tensor;
}

/* Copies of all caches [2 * layers], each with `room` positions; NULL and nothing left over without memory. */
static wg_tensor **copies(const wg_runner *r, int64_t room, wg_error *error)
{
    int64_t count = 2 * r->spec->config.layers;
    size_t bytes = (size_t)count * sizeof(wg_tensor *);
    wg_tensor **all = base_allocate_zeroed(r->allocator, bytes);
    if (!all) return base_fail_memory(error), NULL;
    bool good = true;
    for (int64_t i = 0; good && i < count; i++) {
        wg_view view;
        good = wg_session_carried(r->session, r->caches[i], &view, error) && (all[i] = resized(r, &view, r->position, room, error));
    }
    if (good) return all;
    for (int64_t i = 0; i < count; i++) wg_tensor_release(all[i]);
    base_free(r->allocator, all, bytes);
    return NULL;
}

static void release_copies(const wg_runner *r, wg_tensor **all)
{
    int64_t count = 2 * r->spec->config.layers;
    for (int64_t i = 0; all && i < count; i++) wg_tensor_release(all[i]);
    base_free(r->allocator, all, (size_t)count * sizeof *all);
}

/* What copies kept of a cache as the carried one; they are given up. */
static bool carry_copy(wg_runner *r, wg_symbol cache, wg_tensor **copy, wg_error *error)
{
    wg_view kept = wg_tensor_view(*copy), view = kept;
    wg_tensor *whole = resized(r, &kept, r->position, r->room, error);
    if (whole) view = wg_tensor_view(whole);
    bool good = whole && wg_session_carry(r->session, cache, &view, error);
    wg_tensor_release(whole);
    wg_tensor_release(*copy);
    *copy = NULL;
    return good;
}

/* Binds what is to run; caches that need more room move, one at a time: beside them stands what they held, without the room. */
static bool bind(wg_runner *r, int64_t rows, int64_t asked, int64_t room, wg_error *error)
{
    if (rows == r->rows && asked == r->asked && room == r->room) return true;
    wg_binding bindings[] = {{"rows", rows}, {"asked", asked}, {"ctx", room}};
    bool moves = room != r->room && r->position;
    wg_tensor **all = moves ? copies(r, r->position, error) : NULL;
    if (moves && !all) return false;
    bool good = wg_session_bind(r->session, bindings, r->fixed ? 2 : 3, error);
    if (good) {
        r->rows = rows;
        r->asked = asked;
        r->room = room;
    }
    for (int64_t i = 0; good && moves && i < 2 * r->spec->config.layers; i++) good = carry_copy(r, r->caches[i], &all[i], error);
    release_copies(r, all);
    return good;
}

static int64_t room_for(const wg_runner *r, int64_t positions)
{
    int64_t room = r->room;
    while (room < positions) room *= 2;
    return room < r->ctx ? room : r->ctx;
}

/* ---- feeding ---- */

static bool check(const wg_runner *r, const int32_t *tokens, int64_t count, int64_t asked, wg_error *error)
{
    if (!r || !tokens || count < 1 || asked < 0 || asked > count) return base_fail(error, WG_ARGUMENT, "a runner is fed at least one token, and answers at most as many rows");
    if (count > r->ctx - r->position)
        return base_fail(error, WG_BOUNDS, "%lld tokens behind position %lld do not fit in the %lld positions of this runner", (long long)count,
                         (long long)r->position, (long long)r->ctx);
    for (int64_t i = 0; i < count; i++)
        if (tokens[i] < 0 || tokens[i] >= r->spec->config.vocabulary)
            return base_fail(error, WG_BOUNDS, "token %d: the vocabulary is %lld", tokens[i], (long long)r->spec->config.vocabulary);
    return true;
}

/* Rows [rows], the last `asked` of them answered to `answers`. */
static bool step(wg_runner *r, const int32_t *tokens, int64_t rows, int64_t asked, float *answers, wg_error *error)
{
    if (!bind(r, rows, asked, room_for(r, r->position + rows), error)) return false;
    int32_t position = (int32_t)r->position;
    for (int64_t i = 0; i < asked; i++) r->ask_rows[i] = (int32_t)(rows - asked + i);
    wg_feed feeds[] = {{r->tokens, {(void *)tokens, WG_KIND_I32, 1, &rows, NULL}}, {r->first, {&position, WG_KIND_I32, 0, NULL, NULL}},
                       {r->ask, {r->ask_rows, WG_KIND_I32, 1, &asked, NULL}}};
    wg_run_options options = {.size = sizeof options, .parameters = r->parameters, .feeds = feeds, .feed_count = 3};
    if (!wg_session_run(r->session, &options, error)) return false;
    r->position += rows;
    if (!asked) return true;
    wg_view view;
    if (!wg_session_read(r->session, r->logits, &view, error)) return false;
    memcpy(answers, view.data, (size_t)(asked * r->spec->config.vocabulary) * sizeof *answers);
    return true;
}

static bool room_for_answers(wg_runner *r, int64_t asked, wg_error *error)
{
    int64_t need = asked * r->spec->config.vocabulary;
    if (need <= r->answer_room) return true;
    float *more = base_resize(r->allocator, r->answers, (size_t)r->answer_room * sizeof *more, (size_t)need * sizeof *more);
    if (!more) return base_fail_memory(error);
    r->answers = more;
    r->answer_room = need;
    return true;
}

const float *wg_runner_feed(wg_runner *r, const int32_t *tokens, int64_t count, int64_t asked, wg_error *error)
{
    if (!check(r, tokens, count, asked, error) || !room_for_answers(r, asked ? asked : 1, error)) return NULL;
    int64_t before = r->position, answered = 0;
    for (int64_t at = 0; at < count;) {
        int64_t rows = count - at < r->chunk ? count - at : r->chunk, end = at + rows, from = count - asked;
        int64_t wanted = end > from ? end - (at > from ? at : from) : 0;
        if (!step(r, tokens + at, rows, wanted, r->answers + answered * r->spec->config.vocabulary, error)) {
            r->position = before; /* what was written behind it is written again before it is read */
            return NULL;
        }
        answered += wanted;
        at = end;
    }
    return r->answers;
}

bool wg_runner_rewind(wg_runner *r, int64_t position, wg_error *error)
{
    if (!r || position < 0 || position > r->position) return base_fail(error, WG_BOUNDS, "a runner goes back to a position that it passed");
    r->position = position;
    return true;
}

void wg_runner_stop(wg_runner *r)
{
    if (r) wg_session_stop(r->session);
}

/* ---- files ---- */

bool wg_runner_identity(const wg_runner *r, wg_model_identity *identity, wg_error *error)
{
    if (!r) return base_fail(error, WG_ARGUMENT, "an identity needs a runner");
    wg_model_cut cut = r->cut;
    if (r->spec->text) {
        *identity = (wg_model_identity){.semantics = WG_SEMANTICS, .chips = 1, .cut = "prefill"};
        return wg_network_identity(r->network, identity->sha256, error);
    }
    cut.ctx = r->fixed ? r->ctx : 0; /* else any number of positions gives the same bits */
    return wg_model_identify(r->spec, &cut, identity, error);
}

static bool put_identity(const wg_runner *r, wg_bundle *bundle, wg_error *error)
{
    wg_model_identity identity;
    char semantics[16];
    if (!wg_runner_identity(r, &identity, error)) return false;
    snprintf(semantics, sizeof semantics, "%d", identity.semantics);
    return wg_bundle_put_text(bundle, "wengert.semantics", semantics, error) && wg_bundle_put_text(bundle, "wengert.cut", identity.cut, error) &&
           wg_bundle_put_text(bundle, "wengert.sha256", identity.sha256, error);
}

bool wg_runner_save(const wg_runner *r, const int32_t *tokens, const char *path, wg_error *error)
{
    if (!r || !path || !r->position || !tokens) return base_fail(error, WG_ARGUMENT, "saving needs a runner that was fed, its tokens, and a path");
    wg_bundle *bundle = wg_bundle_new(r->spec->context, error);
    wg_tensor **all = bundle ? copies(r, r->position, error) : NULL;
    bool good = all && put_identity(r, bundle, error);
    for (int64_t i = 0; good && i < 2 * r->spec->config.layers; i++) {
        char name[MODEL_CACHE_NAME];
        cache_name(i, name);
        good = wg_bundle_put(bundle, name, wg_tensor_retain(all[i]), error);
    }
    wg_tensor *ids = good ? wg_tensor_new(r->spec->context, WG_KIND_I32, 1, &r->position, tokens, error) : NULL;
    good = good && ids && wg_bundle_put(bundle, "tokens", ids, error) && wg_bundle_write(bundle, path, error);
    release_copies(r, all);
    wg_bundle_free(&bundle);
    return good;
}

static bool check_identity(const wg_runner *r, const wg_bundle *bundle, const char *path, wg_error *error)
{
    wg_model_identity mine, theirs = {.chips = 1};
    const char *semantics = wg_bundle_get_text(bundle, "wengert.semantics"), *cut = wg_bundle_get_text(bundle, "wengert.cut"), *text = wg_bundle_get_text(bundle, "wengert.sha256");
    if (!semantics || !cut || !text) return base_fail(error, WG_FORMAT, "%s holds no session: the identity of its program is missing", path);
    int64_t number = 0;
    base_parse_integer(semantics, strlen(semantics), &number);
    theirs.semantics = (int32_t)number;
    snprintf(theirs.cut, sizeof theirs.cut, "%s", cut);
    snprintf(theirs.sha256, sizeof theirs.sha256, "%s", text);
    return wg_runner_identity(r, &mine, error) && wg_model_identity_check(&mine, &theirs, error);
}

/* Every cache of the file [K, positions, d]. */
static bool check_caches(const wg_runner *r, const wg_bundle *bundle, int64_t positions, const char *path, wg_error *error)
{
    const model_config *c = &r->spec->config;
    for (int64_t i = 0; i < 2 * c->layers; i++) {
        char name[MODEL_CACHE_NAME];
        cache_name(i, name);
        const wg_tensor *tensor = wg_bundle_get(bundle, name);
        const int64_t *shape = tensor ? wg_tensor_shape(tensor) : NULL;
        wg_kind kind = r->cut.cache == WG_KIND_F16 ? WG_KIND_F16 : WG_KIND_F32;
        if (!tensor || wg_tensor_kind(tensor) != kind || wg_tensor_rank(tensor) != 3 || shape[0] != c->key_heads || shape[1] != positions || shape[2] != c->head_width)
            return base_fail(error, WG_FORMAT, "%s: %s is missing or does not fit this model", path, name);
    }
    return true;
}

static bool restore(wg_runner *r, const wg_bundle *bundle, int64_t positions, wg_error *error)
{
    r->position = 0;
    if (!bind(r, 1, 1, room_for(r, positions), error)) return false;
    for (int64_t i = 0; i < 2 * r->spec->config.layers; i++) {
        char name[MODEL_CACHE_NAME];
        cache_name(i, name);
        wg_view view = wg_tensor_view(wg_bundle_get(bundle, name));
        wg_tensor *cache = resized(r, &view, positions, r->room, error);
        wg_view whole = cache ? wg_tensor_view(cache) : view;
        bool good = cache && wg_session_carry(r->session, r->caches[i], &whole, error);
        wg_tensor_release(cache);
        if (!good) return false;
    }
    r->position = positions;
    return true;
}

bool wg_runner_load(wg_runner *r, const char *path, int32_t **tokens, wg_error *error)
{
    if (!r || !path || !tokens) return base_fail(error, WG_ARGUMENT, "loading needs a runner, a path, and where the tokens go");
    *tokens = NULL;
    wg_bundle *bundle = wg_bundle_read(r->spec->context, path, error);
    const wg_tensor *ids = bundle ? wg_bundle_get(bundle, "tokens") : NULL;
    bool good = bundle && check_identity(r, bundle, path, error);
    if (good && (!ids || wg_tensor_kind(ids) != WG_KIND_I32 || wg_tensor_rank(ids) != 1 || !wg_tensor_volume(ids)))
        good = base_fail(error, WG_FORMAT, "%s holds no tokens", path);
    int64_t positions = good ? wg_tensor_volume(ids) : 0;
    if (good && positions > r->ctx) good = base_fail(error, WG_BOUNDS, "%s has %lld positions, and this runner has room for %lld", path, (long long)positions, (long long)r->ctx);
    const int32_t *items = good ? wg_tensor_data(ids) : NULL;
    for (int64_t i = 0; good && i < positions; i++)
        if (items[i] < 0 || items[i] >= r->spec->config.vocabulary)
            good = base_fail(error, WG_BOUNDS, "%s: token %d: the vocabulary is %lld", path, items[i], (long long)r->spec->config.vocabulary);
    good = good && check_caches(r, bundle, positions, path, error) && restore(r, bundle, positions, error);
    if (good) {
        *tokens = base_allocate(r->allocator, (size_t)positions * sizeof **tokens);
        good = *tokens || base_fail_memory(error);
    }
    if (good) memcpy(*tokens, items, (size_t)positions * sizeof **tokens);
    wg_bundle_free(&bundle);
    return good;
}
