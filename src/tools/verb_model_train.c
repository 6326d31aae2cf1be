/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * wengert model train: the train cut of a model over windows of text. What a step sees follows from the seed and its number alone, so a training
 * that goes on from its files gives the bits of one that was never interrupted. The folder holds config.json, model.safetensors (or
 * adapter.safetensors) and training.safetensors, the state to go on from. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/random.h"
#include "model/model.h"
#include "tools/language.h"
#include "tools/progress.h"
#include "tools/settings.h"

#define VALIDATION_BATCHES 8
#define SAMPLE_TOKENS 80

typedef struct ids {
    int32_t *items;
    size_t count, room;
} ids;

typedef struct lesson {
    const tool_call *call;
    const char *folder;
    bool made; /* the folder */
    wg_model_spec *spec;
    wg_tokenizer *tokenizer;
    wg_model_cut cut;
    wg_network *network;
    wg_parameters *parameters;
    wg_entry *entry;
    wg_plan *plan;
    wg_session *session;
    wg_optimiser *optimiser;
    wg_optimiser_options options;
    ids text, valid;
    wg_symbol tokens, targets, loss, *wrt, *gradients; /* [trained] */
    wg_view *views;
    uint32_t trained;
    int32_t *batch;     /* [2][rows][length] */
    int64_t steps, every;
    uint64_t seed, step;
    double validation;  /* the last one; -1: none yet */
    char sample[256];
    progress progress;
    wg_error error;
} lesson;

static volatile sig_atomic_t stopped;
static void on_interrupt(int signal)
{
    (void)signal;
    stopped = 1;
}

static bool path_in(lesson *l, const char *name, char *path, size_t room)
{
    return (size_t)snprintf(path, room, "%s/%s", l->folder, name) < room || base_fail(&l->error, WG_FILE, "%s: the name is too long", l->folder);
}

static bool exists(const char *path)
{
    struct stat facts;
    return !stat(path, &facts);
}

/* ---- text ---- */

static bool keep(lesson *l, ids *to, const int32_t *from, size_t count)
{
    return language_keep(&to->items, &to->count, &to->room, from, count, &l->error);
}

static bool add_text(lesson *l, ids *to, const char *text, size_t length)
{
    int32_t *found, end = wg_tokenizer_end(l->tokenizer);
    size_t count;
    if (!wg_tokenizer_encode(l->tokenizer, text, length, 0, &found, &count, &l->error)) return false;
    bool good = keep(l, to, found, count) && (end < 0 || keep(l, to, &end, 1));
    wg_deallocate(NULL, found, count * sizeof *found);
    return good;
}

/* A JSON object with a text, a line. */
static bool add_lines(lesson *l, ids *to, const char *path, const base_file *file)
{
    size_t line = 1;
    bool good = true;
    for (size_t at = 0; good && at < file->length; line++) {
        const char *start = (const char *)file->bytes + at, *end = memchr(start, '\n', file->length - at);
        size_t length = end ? (size_t)(end - start) : file->length - at;
        at += length + 1;
        if (!length) continue;
        char name[512];
        base_arena arena = base_arena_new(tool_allocator());
        snprintf(name, sizeof name, "%s line %zu", path, line);
        const base_json *json = base_json_read(&arena, name, start, length, &l->error), *text = json ? base_json_find(json, "text") : NULL;
        if (json && (!text || text->type != BASE_JSON_STRING)) good = base_fail(&l->error, WG_FORMAT, "%s has no \"text\"", name);
        else good = json && add_text(l, to, text->text, text->length);
        base_arena_free(&arena);
    }
    return good;
}

static bool add_file(lesson *l, ids *to, const char *path)
{
    base_file file;
    if (!base_file_read(tool_allocator(), path, (size_t)1 << 34, &file, &l->error)) return false;
    bool good = base_ends_with(path, ".jsonl") ? add_lines(l, to, path, &file) : add_text(l, to, (const char *)file.bytes, file.length);
    base_file_close(&file);
    return good;
}

static bool read_text(lesson *l)
{
    const char *path, *valid = tool_value(l->call, "valid");
    for (uint32_t i = 0; (path = tool_value_at(l->call, "text", i)); i++)
        if (!add_file(l, &l->text, path)) return false;
    if (valid && !add_file(l, &l->valid, valid)) return false;
    size_t least = (size_t)l->cut.length + 1;
    if (!valid) {
        size_t held = l->text.count / 20 > least ? l->text.count / 20 : l->text.count > 4 * least ? least : 0;
        if (!keep(l, &l->valid, l->text.items + (l->text.count - held), held)) return false;
        l->text.count -= held;
    }
    if (l->text.count < least) return base_fail(&l->error, WG_ARGUMENT, "%zu tokens of text are fewer than one row of %lld and its target", l->text.count, (long long)l->cut.length);
    return true;
}

/* ---- the model ---- */

/* Layers, width and heads, as 4x128x4. */
static bool read_shape(lesson *l, const char *shape, int64_t numbers[3])
{
    const char *at = shape;
    for (int i = 0; i < 3; i++) {
        size_t taken = base_parse_integer(at, strlen(at), &numbers[i]);
        if (!taken || numbers[i] < 1 || numbers[i] > 65536 || at[taken] != (i < 2 ? 'x' : 0)) return base_fail(&l->error, WG_USAGE, "--shape is layers, width and heads, as 4x128x4, not '%s'", shape);
        at += taken + 1;
    }
    return true;
}

/* A shape that is given for the model that is there must be its own: it would be ignored. */
static bool check_shape(lesson *l, const wg_model_facts *facts)
{
    const char *shape = tool_value(l->call, "shape");
    int64_t numbers[3];
    if (!shape) return true;
    if (!read_shape(l, shape, numbers)) return false;
    if (numbers[0] == facts->layers && numbers[1] == facts->width && numbers[2] == facts->heads) return true;
    return base_fail(&l->error, WG_ARGUMENT, "%s holds a model of the shape %lldx%lldx%lld, not %s; leave --shape out, or name another folder", l->folder,
                     (long long)facts->layers, (long long)facts->width, (long long)facts->heads, shape);
}

/* config.json of a new model: the form of Llama. */
static bool write_config(lesson *l, const char *path)
{
    const char *shape = tool_value(l->call, "shape");
    int64_t numbers[3];
    if (!shape) return base_fail(&l->error, WG_FILE, "%s holds no config.json; give the --shape of a new model, as 4x128x4", l->folder);
    if (!read_shape(l, shape, numbers)) return false;
    int64_t width = numbers[1], inner = (8 * width / 3 + 31) / 32 * 32;
    if (width % numbers[2] || width / numbers[2] % 2) return base_fail(&l->error, WG_USAGE, "--shape %s: the width of a head, width / heads, must be even", shape);
    base_string text = base_string_new(tool_allocator());
    base_string_printf(&text,
                       "{\n \"model_type\": \"llama\",\n \"hidden_size\": %lld,\n \"intermediate_size\": %lld,\n \"num_hidden_layers\": %lld,\n \"num_attention_heads\": %lld,\n"
                       " \"num_key_value_heads\": %lld,\n \"vocab_size\": %u,\n \"max_position_embeddings\": %lld,\n \"rms_norm_eps\": 1e-5,\n \"rope_theta\": 10000.0,\n"
                       " \"tie_word_embeddings\": true,\n \"dtype\": \"float32\"\n}\n",
                       (long long)width, (long long)inner, (long long)numbers[0], (long long)numbers[2], (long long)numbers[2], wg_tokenizer_count(l->tokenizer),
                       (long long)(l->cut.length < 1024 ? 1024 : l->cut.length));
    bool good = (!text.failed || base_fail_memory(&l->error)) && base_file_write(tool_allocator(), path, text.text, text.length, &l->error);
    base_string_free(&text);
    return good;
}

/* The vocabulary: --tokenizer, what the folder holds, or bytes; a folder keeps the mark of bytes for who opens it later. */
static bool open_tokenizer(lesson *l)
{
    char path[4096];
    const char *given = tool_value(l->call, "tokenizer");
    wg_error none = {.code = WG_OK};
    if (given && strcmp(given, "bytes")) return (l->tokenizer = wg_tokenizer_open(NULL, given, &l->error)) != NULL;
    if (!given && (l->tokenizer = wg_tokenizer_open(NULL, l->folder, &none))) return true;
    if (none.code && none.code != WG_FILE) return l->error = none, false;
    if (!path_in(l, "tokenizer.bytes", path, sizeof path) || !base_file_write(tool_allocator(), path, "", 0, &l->error)) return false;
    return (l->tokenizer = wg_tokenizer_open(NULL, "bytes", &l->error)) != NULL;
}

static bool open_spec(lesson *l)
{
    char path[4096];
    l->made = !mkdir(l->folder, 0777);
    if (!l->made && errno != EEXIST) return base_fail(&l->error, WG_FILE, "cannot make the folder %s: %s", l->folder, strerror(errno));
    if (!open_tokenizer(l) || !path_in(l, "config.json", path, sizeof path)) return false;
    if (!exists(path) && !write_config(l, path)) return false;
    if (!(l->spec = wg_model_spec_open(NULL, l->folder, &l->error))) return false;
    wg_model_facts facts = {.size = sizeof facts};
    wg_model_spec_facts(l->spec, &facts);
    if (!check_shape(l, &facts)) return false;
    if ((int64_t)wg_tokenizer_count(l->tokenizer) > facts.vocabulary)
        return base_fail(&l->error, WG_ARGUMENT, "the vocabulary has %u tokens and the model %lld", wg_tokenizer_count(l->tokenizer), (long long)facts.vocabulary);
    return true;
}

/* Nothing is left of a folder for a model that was never taught. */
static void unmake(lesson *l)
{
    static const char *const names[] = {"config.json", "tokenizer.bytes"};
    char path[4096];
    for (int i = 0; i < 2; i++)
        if (path_in(l, names[i], path, sizeof path)) unlink(path);
    rmdir(l->folder);
}

/* Norms begin as they change nothing, biases and the second factor of an adapter at 0, matrices as small normal draws. */
static wg_tensor *fresh(lesson *l, const wg_node_facts *node, uint64_t number)
{
    bool gemma = strstr(wg_network_name(l->network), "gemma") != NULL;
    bool zeros = base_ends_with(node->name, ".bias") || base_ends_with(node->name, "lora_B.weight") || (node->rank == 1 && gemma);
    wg_initialiser how = {.size = sizeof how, .name = zeros ? "zeros" : node->rank == 1 ? "ones" : "normal", .seed = l->seed + 1000003 * (number + 1), .std = 0.02};
    return wg_tensor_initialise(NULL, &how, node->kind, node->rank, node->shape, &l->error);
}

/* From the files where they have a tensor, else fresh. */
static bool begin_parameters(lesson *l)
{
    bool weights = wg_model_spec_bytes(l->spec) > 0;
    wg_network *plain = NULL;
    wg_parameters *there = NULL;
    if (weights) { /* of the cut without adapters, whose weights the files hold */
        wg_model_cut cut = l->cut;
        cut.adapter = 0;
        if (!(plain = wg_model_network(l->spec, &cut, &l->error)) || !(there = wg_model_parameters(l->spec, plain, &l->error))) return wg_network_release(&plain), false;
    }
    bool good = (l->parameters = wg_parameters_new(l->network, &l->error)) != NULL;
    for (uint32_t i = 0; good && i < wg_parameters_count(l->parameters); i++) {
        wg_symbol symbol = wg_parameters_symbol(l->parameters, i), old = {0, WG_NONE};
        wg_node_facts node;
        wg_network_node(l->network, symbol.position, &node);
        if (plain) old = wg_network_symbol(plain, node.name);
        wg_tensor *tensor = old.position != WG_NONE ? wg_tensor_retain(wg_parameters_of(there, old, &l->error)) : fresh(l, &node, i);
        good = tensor && wg_parameters_set(l->parameters, symbol, tensor, &l->error);
    }
    wg_parameters_free(&there);
    wg_network_release(&plain);
    return good;
}

static bool find_gradients(lesson *l)
{
    uint32_t count = wg_parameters_count(l->parameters);
    l->wrt = calloc(count, sizeof *l->wrt);
    l->gradients = calloc(count, sizeof *l->gradients);
    l->views = calloc(count, sizeof *l->views);
    if (!l->wrt || !l->gradients || !l->views) return base_fail_memory(&l->error);
    for (uint32_t i = 0; i < count; i++) {
        char name[300];
        wg_node_facts node;
        wg_symbol symbol = wg_parameters_symbol(l->parameters, i);
        wg_network_node(l->network, symbol.position, &node);
        snprintf(name, sizeof name, "d_%s", node.name);
        wg_symbol gradient = wg_network_symbol(l->network, name);
        if (gradient.position == WG_NONE) continue;
        l->wrt[l->trained] = symbol;
        l->gradients[l->trained++] = gradient;
    }
    return true;
}

/* Program, weights and optimiser of the last training take the place of fresh ones. */
static bool resume(lesson *l)
{
    char path[4096], mine[65], theirs[65];
    wg_checkpoint checkpoint;
    if (!path_in(l, "training.safetensors", path, sizeof path)) return false;
    if (!exists(path)) return base_fail(&l->error, WG_FILE, "%s is not there: there is nothing to go on from", path);
    if (!wg_checkpoint_load(NULL, path, &checkpoint, &l->error)) return false;
    const char *step = wg_bundle_get_text(checkpoint.bundle, "wengert.step"), *seed = wg_bundle_get_text(checkpoint.bundle, "wengert.seed");
    uint64_t number;
    bool good = wg_network_identity(l->network, mine, &l->error) && wg_network_identity(checkpoint.network, theirs, &l->error);
    if (good && strcmp(mine, theirs)) good = base_fail(&l->error, WG_DIFFERS, "%s is of another program: the model, --rows, --length or --lora differ", path);
    if (good && (!step || !base_parse_unsigned(step, strlen(step), &l->step) || !checkpoint.optimiser)) good = base_fail(&l->error, WG_FORMAT, "%s holds no state of a training", path);
    if (good && seed && base_parse_unsigned(seed, strlen(seed), &number) && number != l->seed) good = base_fail(&l->error, WG_DIFFERS, "the training began with --seed %s", seed);
    if (good) {
        wg_network_release(&l->network);
        l->network = checkpoint.network;
        l->parameters = checkpoint.parameters;
        l->optimiser = checkpoint.optimiser;
        checkpoint.network = NULL;
        checkpoint.parameters = NULL;
        checkpoint.optimiser = NULL;
    }
    wg_checkpoint_free(&checkpoint);
    return good;
}

static bool build(lesson *l)
{
    if (!(l->network = wg_model_network(l->spec, &l->cut, &l->error))) return false;
    if (!(tool_value(l->call, "resume") ? resume(l) : begin_parameters(l)) || !find_gradients(l)) return false;
    l->tokens = wg_network_symbol(l->network, "tokens");
    l->targets = wg_network_symbol(l->network, "targets");
    l->loss = wg_network_symbol(l->network, "loss");
    l->batch = calloc((size_t)(2 * l->cut.rows * l->cut.length), sizeof *l->batch);
    if (!l->batch) return base_fail_memory(&l->error);
    return (l->entry = wg_network_entry(l->network, "train", &l->error)) && (l->plan = wg_plan_new(l->entry, NULL, 0, &l->error)) &&
           (l->session = wg_session_new(l->plan, NULL, &l->error)) && (l->optimiser || (l->optimiser = wg_optimiser_new(l->parameters, &l->options, &l->error)));
}

/* ---- files ---- */

static bool save(lesson *l)
{
    char path[4096], step[24], seed[24], loss[40];
    snprintf(step, sizeof step, "%llu", (unsigned long long)l->step);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)l->seed);
    snprintf(loss, sizeof loss, "%.6g", l->validation);
    const char *notes[] = {"wengert.step", step, "wengert.seed", seed, "wengert.validation", loss};
    if (!path_in(l, "training.safetensors", path, sizeof path) || !wg_checkpoint_save(path, l->network, l->parameters, l->optimiser, notes, 3, &l->error)) return false;
    wg_bundle *bundle = wg_bundle_new(NULL, &l->error);
    char scale[32];
    snprintf(scale, sizeof scale, "%.17g", l->spec->adapter_scale);
    bool good = bundle && (!l->cut.adapter || wg_bundle_put_text(bundle, "lora_scale", scale, &l->error));
    for (uint32_t i = 0; good && i < wg_parameters_count(l->parameters); i++) {
        wg_node_facts node;
        wg_symbol symbol = wg_parameters_symbol(l->parameters, i);
        wg_network_node(l->network, symbol.position, &node);
        if (l->cut.adapter && !strstr(node.name, ".lora_")) continue;
        good = wg_bundle_put(bundle, node.name, wg_tensor_retain(wg_parameters_of(l->parameters, symbol, &l->error)), &l->error);
    }
    good = good && path_in(l, l->cut.adapter ? "adapter.safetensors" : "model.safetensors", path, sizeof path) && wg_bundle_write(bundle, path, &l->error);
    wg_bundle_free(&bundle);
    return good;
}

/* ---- steps ---- */

static void fill(lesson *l, const ids *text, uint64_t number)
{
    size_t length = (size_t)l->cut.length, rows = (size_t)l->cut.rows, places = text->count - length;
    base_key key = {{(uint32_t)l->seed, (uint32_t)(l->seed >> 32)}};
    for (size_t r = 0; r < rows; r++) {
        size_t at = (size_t)(base_draw_uniform_f64(key, number * rows + r) * (double)places);
        memcpy(l->batch + r * length, text->items + at, length * sizeof *l->batch);
        memcpy(l->batch + (rows + r) * length, text->items + at + 1, length * sizeof *l->batch);
    }
}

static bool run(lesson *l, double *loss)
{
    int64_t shape[2] = {l->cut.rows, l->cut.length};
    wg_feed feeds[] = {{l->tokens, {l->batch, WG_KIND_I32, 2, shape, NULL}}, {l->targets, {l->batch + l->cut.rows * l->cut.length, WG_KIND_I32, 2, shape, NULL}}};
    wg_run_options options = {.size = sizeof options, .parameters = l->parameters, .feeds = feeds, .feed_count = 2};
    wg_view view;
    if (!wg_session_run(l->session, &options, &l->error) || !wg_session_read(l->session, l->loss, &view, &l->error)) return false;
    *loss = *(const float *)view.data;
    return *loss - *loss == 0 || base_fail(&l->error, WG_NUMERIC, "the loss of step %llu is no number; a lower --rate may keep it finite", (unsigned long long)l->step + 1);
}

static bool train_step(lesson *l, double *loss)
{
    fill(l, &l->text, l->step);
    if (!run(l, loss)) return false;
    for (uint32_t i = 0; i < l->trained; i++)
        if (!wg_session_read(l->session, l->gradients[i], &l->views[i], &l->error)) return false;
    if (!wg_optimiser_step(l->optimiser, l->parameters, l->wrt, l->views, l->trained, &l->error)) return false;
    l->step++;
    return true;
}

/* The same windows each time. */
static bool validate(lesson *l)
{
    double sum = 0, loss;
    if (l->valid.count < (size_t)l->cut.length + 1) return true;
    for (uint64_t b = 0; b < VALIDATION_BATCHES; b++) {
        fill(l, &l->valid, b);
        if (!run(l, &loss)) return false;
        sum += loss;
    }
    l->validation = sum / VALIDATION_BATCHES;
    return true;
}

/* What the model that was just saved says. */
static bool show_sample(lesson *l)
{
    char adapter[4096];
    wg_model_spec *spec = wg_model_spec_open(NULL, l->folder, &l->error);
    bool good = spec && (!l->cut.adapter || (path_in(l, "adapter.safetensors", adapter, sizeof adapter) && wg_model_spec_adapt(spec, adapter, &l->error)));
    wg_runner *runner = good ? wg_runner_new(spec, &(wg_runner_options){.size = sizeof(wg_runner_options), .ctx = l->cut.length + SAMPLE_TOKENS}, &l->error) : NULL;
    int32_t *prompt = NULL, all[4096];
    size_t count = 0;
    good = runner && wg_tokenizer_encode(l->tokenizer, l->sample, strlen(l->sample), WG_TOKENIZER_AUTOMATIC, &prompt, &count, &l->error);
    if (good && (!count || count + SAMPLE_TOKENS > 4096 || (int64_t)count > l->cut.length)) count = 0;
    if (count) {
        wg_sampler sampler;
        wg_sampler_defaults(&sampler);
        memcpy(all, prompt, count * sizeof *all);
        size_t made = count;
        const float *logits = wg_runner_feed(runner, prompt, (int64_t)count, 1, &l->error);
        for (; logits && made < count + SAMPLE_TOKENS; made++) {
            all[made] = wg_sampler_next(&sampler, logits, wg_runner_vocabulary(runner), all, made, made, &l->error);
            if (all[made] < 0) break;
            if (made + 1 < count + SAMPLE_TOKENS) logits = wg_runner_feed(runner, &all[made], 1, 1, &l->error);
        }
        size_t length;
        char *text = logits ? wg_tokenizer_decode(l->tokenizer, all, made, true, &length, &l->error) : NULL;
        good = text != NULL;
        for (size_t i = 0; good && i < length; i++)
            if (text[i] == '\n') text[i] = ' ';
        if (good) progress_say(&l->progress, "  %s", text);
        wg_text_free(text);
    }
    wg_deallocate(NULL, prompt, count * sizeof *prompt);
    wg_runner_free(&runner);
    wg_model_spec_free(&spec);
    return good;
}

static bool look(lesson *l, double loss)
{
    char text[2][32];
    if (!validate(l) || !save(l)) return false;
    if (l->validation >= 0) progress_say(&l->progress, "step %llu of %lld: loss %s, held out %s", (unsigned long long)l->step, (long long)l->steps, progress_figure(loss, text[0]), progress_figure(l->validation, text[1]));
    return show_sample(l);
}

static bool teach(lesson *l, double *loss)
{
    uint64_t begun = l->step;
    while (l->step < (uint64_t)l->steps && !stopped) {
        double began = progress_now();
        if (!train_step(l, loss)) return false;
        progress_step(&l->progress, &(progress_step_facts){l->step, 1, *loss, wg_optimiser_rate(l->optimiser), l->cut.rows * l->cut.length, progress_now() - began});
        if (l->step % (uint64_t)l->every == 0 && l->step < (uint64_t)l->steps && !look(l, *loss)) return false;
    }
    return l->step == begun || look(l, *loss);
}

/* ---- the verb ---- */

static bool read_settings(lesson *l)
{
    const tool_call *call = l->call;
    int64_t warmup, seed;
    l->cut = (wg_model_cut){.size = sizeof l->cut, .form = WG_MODEL_TRAIN};
    l->options = (wg_optimiser_options){.size = sizeof l->options, .method = WG_OPTIMISER_ADAMW, .beta2 = 0.99};
    if (!tool_value(call, "text")) return tool_usage(call, "--text is missing: the text to train on"), false;
    if (!tool_integer(call, "rows", 1, 65536, 16, &l->cut.rows) || !tool_integer(call, "length", 2, 1 << 20, 128, &l->cut.length) ||
        !tool_integer(call, "steps", 1, (int64_t)1 << 40, 1000, &l->steps) || !tool_integer(call, "every", 1, (int64_t)1 << 40, 200, &l->every) ||
        !tool_integer(call, "lora", 1, 4096, 0, &l->cut.adapter) || !tool_integer(call, "warmup", 0, (int64_t)1 << 40, l->steps / 20, &warmup) ||
        !tool_integer(call, "seed", 0, INT64_MAX, 1, &seed) || !tool_real(call, "rate", 0, 1e6, 1e-3, &l->options.rate) ||
        !tool_real(call, "decay", 0, 1e6, 0.1, &l->options.weight_decay) || !tool_real(call, "clip", 0, 1e9, 1, &l->options.clip) || !settings_schedule(call, WG_SCHEDULE_COSINE, &l->options.schedule))
        return false;
    l->options.warmup = (uint64_t)warmup;
    l->options.total = (uint64_t)l->steps;
    l->options.final_rate = l->options.rate / 10;
    l->seed = (uint64_t)seed;
    return true;
}

/* The first words of what is held out. */
static bool choose_sample(lesson *l)
{
    const char *given = tool_value(l->call, "sample");
    size_t length, count = l->valid.count < 24 ? l->valid.count : 24;
    if (given || !count) return snprintf(l->sample, sizeof l->sample, "%s", given ? given : ""), true;
    char *text = wg_tokenizer_decode(l->tokenizer, l->valid.items, count, true, &length, &l->error);
    if (!text) return false;
    while (length && (unsigned char)text[length - 1] >= 128) length--; /* no part of a character */
    text[length] = 0;
    snprintf(l->sample, sizeof l->sample, "%s", text);
    wg_text_free(text);
    return true;
}

static void drop(lesson *l)
{
    wg_optimiser_free(&l->optimiser);
    wg_session_free(&l->session);
    wg_plan_release(&l->plan);
    wg_entry_free(&l->entry);
    wg_parameters_free(&l->parameters);
    wg_network_release(&l->network);
    wg_tokenizer_free(&l->tokenizer);
    wg_model_spec_free(&l->spec);
    free(l->text.items);
    free(l->valid.items);
    free(l->wrt);
    free(l->gradients);
    free(l->views);
    free(l->batch);
}

int verb_model_train(const tool_call *call)
{
    lesson l = {.call = call, .folder = call->words[0], .validation = -1};
    double loss = 0;
    if (!read_settings(&l)) return TOOL_USAGE;
    struct sigaction action = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    bool good = open_spec(&l) && read_text(&l) && build(&l) && choose_sample(&l);
    good = good && progress_open(&l.progress, call, "tokens", (uint64_t)l.steps, &l.error);
    if (!good && l.made) unmake(&l);
    if (good) {
        good = teach(&l, &loss);
        if (!progress_close(&l.progress, &l.error)) good = false;
    }
    int code = good ? stopped ? TOOL_INTERRUPTED : TOOL_DONE : l.error.code == WG_USAGE ? tool_usage(call, "%s", l.error.message) : tool_fail(call, &l.error);
    if (good && call->json) printf("{\"wengert\": 1, \"steps\": %llu, \"loss\": %.9g, \"validation\": %.9g}\n", (unsigned long long)l.step, loss, l.validation);
    else if (good) printf("trained %llu steps, loss %.4f, held out %.4f; wengert model generate %s 'TEXT'\n", (unsigned long long)l.step, loss, l.validation, l.folder);
    drop(&l);
    return code;
}
