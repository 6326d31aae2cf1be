/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "tools/training.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/tensor.h"
#include "graph/graph.h"
#include "tools/carried.h"

#define KEY_STEP "wengert.training.step"
#define KEY_EPOCH "wengert.training.epoch"
#define KEY_EPOCHS "wengert.training.epochs"
#define KEY_ROWS "wengert.training.rows"
#define KEY_ORDER "wengert.training.order"
#define ORDER "fisher-yates philox4x32 fold(seed, epoch)"

/* ---- the model ---- */

static bool same_program(const wg_network *a, const wg_network *b, const char *out, wg_error *error)
{
    char first[65], second[65];
    if (!wg_network_identity(a, first, error) || !wg_network_identity(b, second, error)) return false;
    return !strcmp(first, second) ||
           base_fail(error, WG_DIFFERS,
                     "the model at %s was trained from another program; name that program, or train anew without --resume", out);
}

/* The model at --out takes the place of the program's. */
static bool open_resumed(training *t, const char *out, wg_error *error)
{
    wg_checkpoint checkpoint;
    if (!wg_checkpoint_load(NULL, out, &checkpoint, error)) return false;
    bool good = same_program(t->model.network, checkpoint.network, out, error);
    if (good && !checkpoint.optimiser)
        good =
            base_fail(error, WG_FORMAT, "%s holds no optimiser's state, so it cannot be resumed; train anew with --weights %s", out, out);
    if (!good) {
        wg_checkpoint_free(&checkpoint);
        return false;
    }
    tool_model_close(&t->model);
    t->model =
        (tool_model){.network = checkpoint.network, .parameters = checkpoint.parameters, .checkpoint = checkpoint, .is_checkpoint = true};
    return true;
}

static bool open_model(training *t, wg_error *error)
{
    const char *out = tool_value(t->call, "out");
    if (!tool_model_open(t->call, t->call->words[0], &t->model, error)) return false;
    return !tool_value(t->call, "resume") || !out || open_resumed(t, out, error);
}

/* ---- loss and gradients ---- */

/* The root that is called d_NAME. */
static uint32_t root_called(const training *t, const char *parameter)
{
    const graph_entry *entry = &t->train.entry->facts;
    for (uint32_t i = 1; parameter && i < entry->root_count; i++) {
        wg_node_facts facts;
        wg_network_node(t->model.network, entry->roots[i], &facts);
        if (facts.name && !strncmp(facts.name, "d_", 2) && !strcmp(facts.name + 2, parameter)) return entry->roots[i];
    }
    return WG_NONE;
}

static bool is_trained(const training *t, uint32_t index)
{
    wg_node_facts facts;
    wg_network_node(t->model.network, wg_parameters_symbol(t->model.parameters, index).position, &facts);
    return base_kind_is_float(facts.kind);
}

/* Whether the roots behind the loss are, in order, a gradient for each float parameter. That is what gradients(loss) declares, also where
 * two parameters share a gradient's node. */
static bool roots_in_order(const training *t)
{
    const graph_entry *entry = &t->train.entry->facts;
    uint32_t root = 1;
    for (uint32_t i = 0; i < wg_parameters_count(t->model.parameters); i++) {
        if (!is_trained(t, i)) continue;
        wg_node_facts parameter, gradient;
        if (root == entry->root_count) return false;
        wg_network_node(t->model.network, wg_parameters_symbol(t->model.parameters, i).position, &parameter);
        wg_network_node(t->model.network, entry->roots[root++], &gradient);
        if (parameter.rank != gradient.rank || parameter.kind != gradient.kind ||
            memcmp(parameter.shape, gradient.shape, parameter.rank * sizeof *parameter.shape))
            return false;
    }
    return root == entry->root_count;
}

static bool find_pairs(training *t, wg_error *error)
{
    uint32_t count = wg_parameters_count(t->model.parameters), root = 1;
    t->wrt = calloc(count + 1, sizeof *t->wrt);
    t->gradients = calloc(count + 1, sizeof *t->gradients);
    t->views = calloc(count + 1, sizeof *t->views);
    if (!t->wrt || !t->gradients || !t->views) return base_fail_memory(error);
    bool in_order = roots_in_order(t);
    for (uint32_t i = 0; i < count; i++) {
        wg_symbol parameter = wg_parameters_symbol(t->model.parameters, i);
        wg_node_facts facts;
        wg_network_node(t->model.network, parameter.position, &facts);
        if (!is_trained(t, i)) continue;
        uint32_t gradient = in_order ? t->train.entry->facts.roots[root++] : root_called(t, facts.name);
        if (gradient == WG_NONE) continue;
        t->wrt[t->pair_count] = parameter;
        t->gradients[t->pair_count++] = wg_network_symbol_at(t->model.network, gradient);
    }
    return t->pair_count || base_fail(error, WG_ARGUMENT, "entry %s declares no gradients; write it as `entry %s: loss, gradients(loss)`",
                                      t->settings.entry, t->settings.entry);
}

static bool find_loss(training *t, wg_error *error)
{
    const graph_entry *entry = &t->train.entry->facts;
    wg_node_facts facts;
    if (!entry->root_count) return base_fail(error, WG_ARGUMENT, "entry %s has no roots; the first one is the loss", t->settings.entry);
    t->loss = wg_network_symbol_at(t->model.network, entry->roots[0]);
    wg_network_node(t->model.network, t->loss.position, &facts);
    if (facts.rank || !base_kind_is_float(facts.kind))
        return base_fail(error, WG_SHAPE, "the first root of entry %s is %s %s; training needs a loss there, a float without axes",
                         t->settings.entry, wg_kind_name(facts.kind), BASE_SHAPE_TEXT(facts.rank, facts.shape));
    return true;
}

/* ---- where a training stands ---- */

static bool read_count(const wg_bundle *bundle, const char *key, uint64_t *number)
{
    const char *text = wg_bundle_get_text(bundle, key);
    return text && *text && base_parse_unsigned(text, strlen(text), number) == strlen(text);
}

static bool restore_carried(training *t, wg_error *error)
{
    const graph_entry *entry = &t->train.entry->facts;
    for (uint32_t i = 0; i < entry->carry_count; i++) {
        wg_symbol input = wg_network_symbol_at(t->model.network, entry->carries[2 * i + 1]);
        char key[320], plain[16];
        snprintf(key, sizeof key, CARRIED_PREFIX "%s", tool_result_name(t->model.network, input, plain));
        const wg_tensor *tensor = wg_bundle_get(t->model.checkpoint.bundle, key);
        if (!tensor) return base_fail(error, WG_FORMAT, "%s holds no tensor %s, which training carries", t->settings.out, key);
        wg_view view = wg_tensor_view(tensor);
        if (!wg_session_carry(t->train.session, input, &view, error)) return false;
    }
    return true;
}

static bool resume(training *t, wg_error *error)
{
    const wg_bundle *bundle = t->model.checkpoint.bundle;
    uint64_t rows;
    const char *order = wg_bundle_get_text(bundle, KEY_ORDER);
    if (!read_count(bundle, KEY_STEP, &t->step) || !read_count(bundle, KEY_ROWS, &rows) || !order)
        return base_fail(error, WG_FORMAT, "%s does not say where its training stands; train anew with --weights %s", t->settings.out,
                         t->settings.out);
    if (strcmp(order, ORDER))
        return base_fail(error, WG_UNSUPPORTED, "%s was trained with the data in another order (%s); train anew with --weights",
                         t->settings.out, order);
    if (rows != (uint64_t)t->data.rows)
        return base_fail(error, WG_DIFFERS, "the training that is resumed had %llu rows and these data have %lld; give the same data",
                         (unsigned long long)rows, (long long)t->data.rows);
    uint64_t epochs;
    const char *saved = wg_bundle_get_text(bundle, KEY_EPOCHS);
    if (t->settings.optimiser.schedule != WG_SCHEDULE_CONSTANT &&
        (!read_count(bundle, KEY_EPOCHS, &epochs) || epochs != (uint64_t)t->settings.epochs))
        return base_fail(error, WG_ARGUMENT,
                         "the rate of the training that is resumed falls over %s epochs, not %lld; give --epochs as it began",
                         saved ? saved : "unknown", (long long)t->settings.epochs);
    t->optimiser = t->model.checkpoint.optimiser;
    t->model.checkpoint.optimiser = NULL;
    return restore_carried(t, error);
}

static bool begin(training *t, wg_error *error)
{
    if (t->settings.optimiser.schedule != WG_SCHEDULE_CONSTANT)
        t->settings.optimiser.total = (uint64_t)t->settings.epochs * t->steps_an_epoch;
    t->optimiser = wg_optimiser_new(t->model.parameters, &t->settings.optimiser, error);
    return t->optimiser != NULL;
}

/* ---- opening ---- */

static bool has_entry(const wg_network *network, const char *name)
{
    for (uint32_t i = 0; i < wg_network_entry_count(network); i++)
        if (!strcmp(wg_network_entry_name(network, i), name)) return true;
    return false;
}

static bool open_test(training *t, wg_error *error)
{
    if (!tool_value(t->call, "test")) return true;
    const char *name = t->settings.evaluate;
    if (!name && !has_entry(t->model.network, "evaluate"))
        return base_fail(error, WG_NAME,
                         "--test needs an entry to judge by; declare `entry evaluate: loss, correct`, or name one by --evaluate");
    if (!batches_open(&t->test, t->call, "test", t->model.network, t->settings.batch, error)) return false;
    t->has_evaluate = true;
    return runner_open(&t->evaluate, t->model.network, name ? name : "evaluate", &t->test, "--test", 0, error);
}

/* Rows are called pictures where they look like ones. */
static const char *unit_of(const batches *b)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (b->inputs[i].is_batched && b->inputs[i].data.items->rank >= 3 && b->inputs[i].data.items->kind == WG_KIND_U8) return "img";
    return "rows";
}

static bool open_parts(training *t, wg_error *error)
{
    if (!batches_open(&t->data, t->call, "data", t->model.network, t->settings.batch, error)) return false;
    t->settings.batch = t->data.size;
    t->steps_an_epoch = (uint64_t)batches_count(&t->data);
    if (!runner_open(&t->train, t->model.network, t->settings.entry, &t->data, "--data", t->settings.memory, error)) return false;
    if (t->train.entry->facts.carry_count > RUNNER_MOST_CARRIES)
        return base_fail(error, WG_SIZE, "entry %s carries more than %d values", t->settings.entry, RUNNER_MOST_CARRIES);
    if (!find_loss(t, error) || !find_pairs(t, error) || !open_test(t, error)) return false;
    if (!(t->settings.resume ? resume(t, error) : begin(t, error))) return false;
    t->history.first_step = t->step;
    return progress_open(&t->progress, t->call, unit_of(&t->data), (uint64_t)t->settings.epochs * t->steps_an_epoch, error);
}

/* What is written after an epoch is tried now: hours of training must not end in a folder that is not there. A pipe or a device is left
 * alone, whose reader would take this for the whole. */
static bool can_write(const char *path, wg_error *error)
{
    struct stat status;
    base_writer writer;
    if (!path || (!stat(path, &status) && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))) return true;
    if (!base_writer_open(&writer, tool_allocator(), path, error)) return false;
    base_writer_abandon(&writer);
    return true;
}

bool training_open(training *t, const tool_call *call, int *code, wg_error *error)
{
    *t = (training){.call = call};
    *code = TOOL_DONE;
    if (!tool_value(call, "data")) {
        *code = tool_usage(call, "--data NAME=FILE is needed: what to train on");
        return false;
    }
    settings early; /* wrong usage is told before files are opened */
    if (!settings_read(call, NULL, &early)) {
        *code = TOOL_USAGE;
        return false;
    }
    if (!open_model(t, error)) return false;
    const wg_bundle *bundle = early.resume ? t->model.checkpoint.bundle : NULL;
    if (bundle && !settings_agree(call, bundle, error)) return false;
    if (!settings_read(call, bundle, &t->settings)) {
        *code = TOOL_USAGE;
        return false;
    }
    return can_write(t->settings.out, error) && can_write(t->settings.report, error) && open_parts(t, error);
}

void training_close(training *t)
{
    progress_close(&t->progress, NULL);
    runner_close(&t->train);
    runner_close(&t->evaluate);
    batches_free(&t->data);
    batches_free(&t->test);
    wg_optimiser_free(&t->optimiser);
    tool_model_close(&t->model);
    free(t->wrt);
    free(t->gradients);
    free(t->views);
    for (uint32_t i = 0; i < RUNNER_MOST_CARRIES; i++) wg_tensor_release(t->carried[i]);
    const wg_allocator *allocator = tool_allocator();
    training_history *h = &t->history;
    base_free(allocator, h->losses, h->loss_capacity * sizeof *h->losses);
    base_free(allocator, h->evaluations, h->evaluation_capacity * sizeof *h->evaluations);
    base_free(allocator, h->evaluated_at, h->evaluated_capacity * sizeof *h->evaluated_at);
}

/* ---- saving ---- */

void training_extra_feeds(const training *t, runner *r)
{
    const graph_entry *entry = &t->train.entry->facts;
    r->extra_count = 0;
    for (uint32_t i = 0; i < entry->carry_count; i++) {
        wg_symbol input = wg_network_symbol_at(t->model.network, entry->carries[2 * i + 1]);
        wg_view view;
        if (wg_session_carried(t->train.session, input, &view, NULL)) r->extra[r->extra_count++] = (wg_feed){input, view};
    }
}

/* Adds what is carried to a model file that was written beside the one to be. */
static bool add_carried(const training *t, const char *from, const char *to, wg_error *error)
{
    runner carried;
    training_extra_feeds(t, &carried);
    wg_bundle *bundle = wg_bundle_read(NULL, from, error);
    bool good = bundle != NULL;
    for (uint32_t i = 0; good && i < carried.extra_count; i++) {
        char key[320], plain[16];
        wg_tensor *tensor = wg_tensor_copy(NULL, &carried.extra[i].items, error);
        snprintf(key, sizeof key, CARRIED_PREFIX "%s", tool_result_name(t->model.network, carried.extra[i].input, plain));
        good = tensor && wg_bundle_put(bundle, key, tensor, error);
    }
    good = good && wg_bundle_write(bundle, to, error);
    wg_bundle_free(&bundle);
    return good;
}

static bool save_with_carried(const training *t, const char **metadata, uint32_t pairs, wg_error *error)
{
    char beside[4096];
    if (snprintf(beside, sizeof beside, "%s.saving", t->settings.out) >= (int)sizeof beside)
        return base_fail(error, WG_FILE, "the path of --out is too long");
    bool good = wg_checkpoint_save(beside, t->model.network, t->model.parameters, t->optimiser, metadata, pairs, error) &&
                add_carried(t, beside, t->settings.out, error);
    remove(beside);
    return good;
}

bool training_save(training *t, wg_error *error)
{
    if (!t->settings.out) return true;
    base_arena arena = base_arena_new(tool_allocator());
    const char **options = settings_metadata(&t->settings, &arena), *metadata[2 * (SETTINGS_PAIRS + 5)];
    char step[24], epoch[24], epochs[24], rows[24];
    snprintf(step, sizeof step, "%llu", (unsigned long long)t->step);
    snprintf(epoch, sizeof epoch, "%llu", (unsigned long long)(t->step / t->steps_an_epoch));
    snprintf(epochs, sizeof epochs, "%lld", (long long)t->settings.epochs);
    snprintf(rows, sizeof rows, "%lld", (long long)t->data.rows);
    const char *own[] = {KEY_STEP, step, KEY_EPOCH, epoch, KEY_ROWS, rows, KEY_ORDER, ORDER, KEY_EPOCHS, epochs};
    bool good = options != NULL || base_fail_memory(error);
    if (good) {
        memcpy(metadata, options, 2 * SETTINGS_PAIRS * sizeof *metadata);
        memcpy(metadata + 2 * SETTINGS_PAIRS, own, sizeof own);
        uint32_t pairs =
            SETTINGS_PAIRS +
            (t->settings.optimiser.schedule == WG_SCHEDULE_CONSTANT ? 4 : 5); /* a rate that does not fall has no end in it */
        if (t->train.entry->facts.carry_count) good = save_with_carried(t, metadata, pairs, error);
        else good = wg_checkpoint_save(t->settings.out, t->model.network, t->model.parameters, t->optimiser, metadata, pairs, error);
    }
    base_arena_free(&arena);
    return good;
}
