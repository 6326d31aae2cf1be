/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * How the time of calls that take a size grows when the size does: at N, 8 N and 64 N, the least of several calls each. The goal is at most
 * 12 times for 8. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, mkdtemp */

#include <string.h>
#include <unistd.h>

#include "base/csv.h"
#include "base/idx.h"
#include "base/json.h"
#include "figures.h"
#include "wengert/wengert.h"

#define FIRST 1000
#define STEPS 3
#define LEAST_CALLS 5
#define MOST_CALLS 1000
#define LEAST_SECONDS 0.1

static wg_error error;

/* ---- the least of several calls, in time of the processor ---- */

typedef struct timing {
    double best, spent, begun;
    uint32_t calls;
} timing;

static bool again(timing *t)
{
    if (!t->calls) t->best = 1e30;
    return t->calls < LEAST_CALLS || (t->spent < LEAST_SECONDS && t->calls < MOST_CALLS);
}

static void start(timing *t)
{
    t->begun = figure_clock(CLOCK_PROCESS_CPUTIME_ID);
}

static void stop(timing *t)
{
    double taken = figure_clock(CLOCK_PROCESS_CPUTIME_ID) - t->begun;
    t->spent += taken;
    t->calls++;
    if (taken < t->best) t->best = taken;
}

/* ---- the graphs ---- */

static wg_value vector(wg_tape *tape, bool parameter)
{
    wg_size four = wg_number(4);
    return parameter ? wg_parameter_fill(tape, WG_KIND_F32, 1, &four, 0.25) : wg_input_fill(tape, WG_KIND_F32, 1, &four, 0.5);
}

/* About n nodes, a quarter of them parameters; a loss []. */
static wg_value record(wg_tape *tape, uint32_t n, wg_value *input)
{
    wg_value x = *input = vector(tape, false);
    while (wg_tape_count(tape) + 4 < n) x = wg_tanh(wg_add(wg_mul(x, vector(tape, true)), x));
    return wg_sum(x);
}

typedef struct model {
    wg_tape *tape;
    wg_value input, loss;
    wg_symbol root, input_symbol;
    wg_network *network;
    wg_entry *entry;
} model;

static model recorded(uint32_t n)
{
    model m = {.tape = wg_tape_new(NULL)};
    m.loss = record(m.tape, n, &m.input);
    m.root = wg_symbol_of(m.loss);
    m.input_symbol = wg_symbol_of(m.input);
    figure_must(!wg_is_poison(m.loss), wg_tape_error(m.tape));
    return m;
}

static wg_entry_options options_of(const model *m, wg_posture posture)
{
    return (wg_entry_options){.size = sizeof(wg_entry_options), .name = "loss", .roots = &m->root, .root_count = 1, .posture = posture};
}

static model sealed(uint32_t n, wg_posture posture)
{
    model m = recorded(n);
    wg_entry_options options = options_of(&m, posture);
    figure_must(wg_tape_declare(m.tape, &options), wg_tape_error(m.tape));
    m.network = wg_tape_seal(&m.tape, &error);
    m.entry = m.network ? wg_entry_new(m.network, &options, &error) : NULL;
    figure_must(m.entry != NULL, &error);
    return m;
}

static void drop(model *m)
{
    wg_entry_free(&m->entry);
    wg_network_release(&m->network);
    wg_tape_free(&m->tape);
}

/* ---- recording ---- */

static double grow_record(uint32_t n)
{
    timing t = {0};
    while (again(&t)) {
        start(&t);
        model m = recorded(n);
        stop(&t);
        drop(&m);
    }
    return t.best;
}

static double grow_concat(uint32_t n)
{
    timing t = {0};
    wg_tape *tape = wg_tape_new(NULL);
    wg_value *operands = malloc(n * sizeof *operands);
    for (uint32_t i = 0; i < n; i++) operands[i] = vector(tape, false);
    while (again(&t)) {
        start(&t);
        wg_value all = wg_concat(operands, n, 0);
        stop(&t);
        figure_must(wg_value_volume(all) == 4 * (int64_t)n, wg_tape_error(tape));
    }
    free(operands);
    wg_tape_free(&tape);
    return t.best;
}

static double grow_seal(uint32_t n)
{
    timing t = {0};
    model m = recorded(n);
    while (again(&t)) {
        start(&t);
        m.network = wg_tape_seal(&m.tape, &error);
        figure_must(m.network != NULL, &error);
        m.tape = wg_network_reopen(&m.network, &error);
        stop(&t);
        figure_must(m.tape != NULL, &error);
    }
    drop(&m);
    return t.best;
}

static double grow_names(uint32_t n)
{
    timing t = {0};
    while (again(&t)) {
        wg_tape *tape = wg_tape_new(NULL);
        wg_value x = vector(tape, false);
        char name[32];
        start(&t);
        for (uint32_t i = 0; i < n; i++) {
            snprintf(name, sizeof name, "value%u", i);
            x = wg_name(wg_neg(x), name);
        }
        bool found = !wg_is_poison(wg_tape_find(tape, name));
        stop(&t);
        figure_must(found, wg_tape_error(tape));
        wg_tape_free(&tape);
    }
    return t.best;
}

static double grow_reverse(uint32_t n)
{
    timing t = {0};
    while (again(&t)) {
        model m = recorded(n);
        start(&t);
        wg_adjoints *adjoints = wg_differentiate(m.tape, m.loss, &m.input, 1);
        stop(&t);
        figure_must(adjoints != NULL, wg_tape_error(m.tape));
        wg_adjoints_free(&adjoints);
        drop(&m);
    }
    return t.best;
}

static double grow_forward_mode(uint32_t n)
{
    timing t = {0};
    while (again(&t)) {
        model m = recorded(n);
        wg_value tangent = wg_fill_like(m.input, 1);
        start(&t);
        wg_value moved = wg_jvp(m.tape, m.loss, &m.input, &tangent, 1);
        stop(&t);
        figure_must(!wg_is_poison(moved), wg_tape_error(m.tape));
        drop(&m);
    }
    return t.best;
}

static double grow_hessian(uint32_t n)
{
    timing t = {0};
    while (again(&t)) {
        model m = recorded(n);
        wg_value direction = wg_fill_like(m.input, 1), product;
        start(&t);
        bool good = wg_hessian_vector(m.tape, m.loss, &m.input, &direction, 1, &product);
        stop(&t);
        figure_must(good, wg_tape_error(m.tape));
        drop(&m);
    }
    return t.best;
}

/* ---- texts ---- */

typedef char *(*text_of)(const model *m, const wg_plan *plan);

static double grow_text(uint32_t n, text_of make)
{
    timing t = {0};
    model m = sealed(n, WG_POSTURE_FORWARD);
    wg_plan *plan = wg_plan_new(m.entry, NULL, 0, &error);
    figure_must(plan != NULL, &error);
    while (again(&t)) {
        start(&t);
        char *text = make(&m, plan);
        stop(&t);
        figure_must(text && strlen(text) > n, &error);
        wg_text_free(text);
    }
    wg_plan_release(&plan);
    drop(&m);
    return t.best;
}

static char *describe_network(const model *m, const wg_plan *plan)
{
    (void)plan;
    return wg_network_describe(m->network);
}

static char *describe_plan(const model *m, const wg_plan *plan)
{
    (void)m;
    return wg_plan_describe(plan);
}

static char *report_plan(const model *m, const wg_plan *plan)
{
    (void)m;
    return wg_plan_report(plan);
}

static char *print_network(const model *m, const wg_plan *plan)
{
    (void)plan;
    return wg_text_print(m->network, &error);
}

static double grow_describe(uint32_t n) { return grow_text(n, describe_network); }
static double grow_plan_describe(uint32_t n) { return grow_text(n, describe_plan); }
static double grow_plan_report(uint32_t n) { return grow_text(n, report_plan); }
static double grow_print(uint32_t n) { return grow_text(n, print_network); }

static double grow_parse(uint32_t n)
{
    timing t = {0};
    model m = sealed(n, WG_POSTURE_FORWARD);
    char *text = wg_text_print(m.network, &error);
    figure_must(text != NULL, &error);
    size_t length = strlen(text);
    while (again(&t)) {
        start(&t);
        wg_network *read = wg_text_parse(NULL, text, length, "printed", NULL, &error);
        stop(&t);
        figure_must(read && wg_network_count(read) == wg_network_count(m.network), &error);
        wg_network_release(&read);
    }
    wg_text_free(text);
    drop(&m);
    return t.best;
}

static double grow_identity(uint32_t n)
{
    timing t = {0};
    model m = sealed(n, WG_POSTURE_FORWARD);
    char first[65], digest[65];
    figure_must(wg_network_identity(m.network, first, &error), &error);
    while (again(&t)) {
        start(&t);
        bool good = wg_network_identity(m.network, digest, &error);
        stop(&t);
        figure_must(good && !strcmp(first, digest), &error);
    }
    drop(&m);
    return t.best;
}

static double grow_verify(uint32_t n)
{
    timing t = {0};
    model m = sealed(n, WG_POSTURE_FORWARD);
    while (again(&t)) {
        start(&t);
        bool good = wg_network_verify(m.network, &error);
        stop(&t);
        figure_must(good, &error);
    }
    drop(&m);
    return t.best;
}

/* ---- entries, plans, runs ---- */

static double grow_entry(uint32_t n)
{
    timing t = {0};
    model m = sealed(n, WG_POSTURE_FORWARD);
    wg_symbol *observes = malloc(n * sizeof *observes);
    uint32_t count = wg_network_count(m.network);
    for (uint32_t i = 0; i < count; i++) observes[i] = wg_network_symbol_at(m.network, i);
    wg_entry_options options = options_of(&m, WG_POSTURE_FORWARD);
    options.observes = observes;
    options.observe_count = count;
    while (again(&t)) {
        start(&t);
        wg_entry *entry = wg_entry_new(m.network, &options, &error);
        stop(&t);
        figure_must(entry && wg_entry_result_count(entry) == count, &error);
        wg_entry_free(&entry);
    }
    free(observes);
    drop(&m);
    return t.best;
}

static double grow_plan(uint32_t n)
{
    timing t = {0};
    model m = sealed(n, WG_POSTURE_FORWARD);
    while (again(&t)) {
        start(&t);
        wg_plan *plan = wg_plan_new(m.entry, NULL, 0, &error);
        stop(&t);
        figure_must(plan != NULL, &error);
        wg_plan_release(&plan);
    }
    drop(&m);
    return t.best;
}

static double grow_interpret(uint32_t n)
{
    timing t = {0};
    model m = sealed(n, WG_POSTURE_FORWARD);
    while (again(&t)) {
        start(&t);
        wg_run *run = wg_interpret(m.entry, NULL, &error);
        stop(&t);
        figure_must(run != NULL, &error);
        wg_run_free(&run);
    }
    drop(&m);
    return t.best;
}

static wg_session *session_of(const model *m)
{
    wg_plan *plan = wg_plan_new(m->entry, NULL, 0, &error);
    wg_session *session = plan ? wg_session_new(plan, NULL, &error) : NULL;
    figure_must(session != NULL, &error);
    wg_plan_release(&plan);
    return session;
}

static double grow_session(uint32_t n)
{
    timing t = {0};
    model m = sealed(n, WG_POSTURE_FORWARD);
    wg_plan *plan = wg_plan_new(m.entry, NULL, 0, &error);
    figure_must(plan != NULL, &error);
    while (again(&t)) {
        start(&t);
        wg_session *session = wg_session_new(plan, NULL, &error);
        stop(&t);
        figure_must(session != NULL, &error);
        wg_session_free(&session);
    }
    wg_plan_release(&plan);
    drop(&m);
    return t.best;
}

/* The plan's loss is the oracle's before its runs are timed. */
static void compare_runs(const model *m, const wg_session *session)
{
    wg_view ours;
    wg_run *run = wg_interpret(m->entry, NULL, &error);
    const wg_tensor *oracle = run ? wg_run_of(run, m->root, &error) : NULL;
    figure_must(oracle && wg_session_read(session, m->root, &ours, &error), &error);
    figure_must(!memcmp(ours.data, wg_tensor_data(oracle), sizeof(float)), NULL);
    wg_run_free(&run);
}

static double grow_run(uint32_t n)
{
    timing t = {0};
    model m = sealed(n, WG_POSTURE_FORWARD);
    wg_session *session = session_of(&m);
    figure_must(wg_session_run(session, NULL, &error), &error);
    compare_runs(&m, session);
    while (again(&t)) {
        start(&t);
        bool good = wg_session_run(session, NULL, &error);
        stop(&t);
        figure_must(good, &error);
    }
    wg_session_free(&session);
    drop(&m);
    return t.best;
}

static double grow_scan(uint32_t n)
{
    timing t = {0};
    model m = sealed(n, WG_POSTURE_RETAIN);
    wg_session *session = session_of(&m);
    figure_must(wg_session_run(session, NULL, &error), &error);
    while (again(&t)) {
        wg_tensor *gradient;
        start(&t);
        bool good = wg_session_backward(session, m.root, &m.input_symbol, 1, &gradient, &error);
        stop(&t);
        figure_must(good, &error);
        wg_tensor_release(gradient);
    }
    wg_session_free(&session);
    drop(&m);
    return t.best;
}

/* An extent that every shape follows. */
static double grow_bind(uint32_t n)
{
    timing t = {0};
    wg_tape *tape = wg_tape_new(NULL);
    wg_size rows = wg_extent(tape, "rows", 4);
    wg_value x = wg_input_fill(tape, WG_KIND_F32, 1, &rows, 0.5);
    while (wg_tape_count(tape) + 1 < n) x = wg_tanh(x);
    model m = {.tape = tape, .root = wg_symbol_of(wg_sum(x))};
    m.network = wg_tape_seal(&m.tape, &error);
    wg_entry_options options = options_of(&m, WG_POSTURE_FORWARD);
    m.entry = m.network ? wg_entry_new(m.network, &options, &error) : NULL;
    figure_must(m.entry != NULL, &error);
    wg_session *session = session_of(&m);
    for (int64_t number = 5; again(&t); number = 11 - number) { /* 5, 6, 5 .. */
        start(&t);
        bool good = wg_session_bind(session, &(wg_binding){"rows", number}, 1, &error);
        stop(&t);
        figure_must(good, &error);
    }
    wg_session_free(&session);
    drop(&m);
    return t.best;
}

/* ---- parameters, optimisers, files ---- */

static double grow_parameters(uint32_t n)
{
    timing t = {0};
    model m = sealed(n, WG_POSTURE_FORWARD);
    while (again(&t)) {
        start(&t);
        wg_parameters *parameters = wg_parameters_new(m.network, &error), *copy = parameters ? wg_parameters_copy(parameters, &error) : NULL;
        stop(&t);
        figure_must(copy && wg_parameters_count(copy) == wg_parameters_count(parameters), &error);
        wg_parameters_free(&parameters);
        wg_parameters_free(&copy);
    }
    drop(&m);
    return t.best;
}

static double grow_optimiser(uint32_t n)
{
    timing t = {0};
    model m = sealed(n, WG_POSTURE_FORWARD);
    wg_parameters *parameters = wg_parameters_new(m.network, &error);
    wg_optimiser_options options = {.size = sizeof options, .method = WG_OPTIMISER_ADAM};
    wg_optimiser *optimiser = parameters ? wg_optimiser_new(parameters, &options, &error) : NULL;
    figure_must(optimiser != NULL, &error);
    uint32_t count = wg_parameters_count(parameters);
    wg_symbol *wrt = malloc(count * sizeof *wrt);
    wg_view *gradients = malloc(count * sizeof *gradients);
    for (uint32_t i = 0; i < count; i++) {
        wrt[i] = wg_parameters_symbol(parameters, i);
        gradients[i] = wg_tensor_view(wg_parameters_of(parameters, wrt[i], &error));
    }
    wg_parameters *moving = wg_parameters_copy(parameters, &error);
    while (again(&t)) {
        start(&t);
        bool good = wg_optimiser_step(optimiser, moving, wrt, gradients, count, &error);
        stop(&t);
        figure_must(good, &error);
    }
    free(wrt);
    free(gradients);
    wg_optimiser_free(&optimiser);
    wg_parameters_free(&moving);
    wg_parameters_free(&parameters);
    drop(&m);
    return t.best;
}

static char folder[] = "/tmp/wengert-bench-XXXXXX";

static const char *file_at(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static double grow_checkpoint(uint32_t n)
{
    timing t = {0};
    model m = sealed(n, WG_POSTURE_FORWARD);
    wg_parameters *parameters = wg_parameters_new(m.network, &error);
    figure_must(parameters != NULL, &error);
    const char *path = file_at("model.safetensors");
    while (again(&t)) {
        wg_checkpoint checkpoint = {0};
        start(&t);
        bool good = wg_checkpoint_save(path, m.network, parameters, NULL, NULL, 0, &error) &&
                    wg_checkpoint_load(NULL, path, &checkpoint, &error);
        stop(&t);
        figure_must(good && wg_network_count(checkpoint.network) == wg_network_count(m.network), &error);
        wg_checkpoint_free(&checkpoint);
    }
    unlink(path);
    wg_parameters_free(&parameters);
    drop(&m);
    return t.best;
}

/* n tensors of four items each. */
static double grow_bundle(uint32_t n)
{
    timing t = {0};
    wg_bundle *bundle = wg_bundle_new(NULL, &error);
    figure_must(bundle != NULL, &error);
    for (uint32_t i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "tensor%u", i);
        figure_must(wg_bundle_put(bundle, name, wg_tensor_fill(NULL, WG_KIND_F32, 1, (int64_t[]){4}, i, &error), &error), &error);
    }
    const char *path = file_at("bundle.safetensors");
    while (again(&t)) {
        start(&t);
        bool good = wg_bundle_write(bundle, path, &error);
        wg_bundle *read = good ? wg_bundle_read(NULL, path, &error) : NULL;
        stop(&t);
        figure_must(read && wg_bundle_count(read) == n, &error);
        wg_bundle_free(&read);
    }
    unlink(path);
    wg_bundle_free(&bundle);
    return t.best;
}

static double grow_npy(uint32_t n)
{
    timing t = {0};
    int64_t items = 16 * (int64_t)n;
    wg_tensor *tensor = wg_tensor_fill(NULL, WG_KIND_F32, 1, &items, 0.5, &error);
    figure_must(tensor != NULL, &error);
    wg_view view = wg_tensor_view(tensor);
    const char *path = file_at("items.npy");
    while (again(&t)) {
        start(&t);
        wg_tensor *read = wg_npy_write(path, &view, &error) ? wg_npy_read(NULL, path, &error) : NULL;
        stop(&t);
        figure_must(read && wg_tensor_volume(read) == items, &error);
        wg_tensor_release(read);
    }
    unlink(path);
    wg_tensor_release(tensor);
    return t.best;
}

/* ---- readers ---- */

static double grow_idx(uint32_t n)
{
    timing t = {0};
    uint32_t items = 64 * n;
    size_t length = 8 + (size_t)items;
    uint8_t *bytes = calloc(1, length);
    bytes[2] = 8, bytes[3] = 1;
    for (int i = 0; i < 4; i++) bytes[4 + i] = (uint8_t)(items >> (24 - 8 * i));
    while (again(&t)) {
        start(&t);
        wg_tensor *read = base_idx_read(base_allocator(NULL), "items", bytes, length, &error);
        stop(&t);
        figure_must(read && wg_tensor_volume(read) == items, &error);
        wg_tensor_release(read);
    }
    free(bytes);
    return t.best;
}

static double grow_csv(uint32_t n)
{
    timing t = {0};
    char *text = malloc(32 * (size_t)n + 16);
    size_t length = (size_t)sprintf(text, "a,b\n");
    for (uint32_t i = 0; i < n; i++) length += (size_t)sprintf(text + length, "%u,%u.25\n", i, i % 100);
    while (again(&t)) {
        base_csv table;
        start(&t);
        bool good = base_csv_read(&table, base_allocator(NULL), "table", text, length, &error);
        stop(&t);
        figure_must(good && table.rows == n, &error);
        base_csv_free(&table);
    }
    free(text);
    return t.best;
}

static double grow_json(uint32_t n)
{
    timing t = {0};
    char *text = malloc(32 * (size_t)n + 16);
    size_t length = (size_t)sprintf(text, "{\"first\": 1");
    for (uint32_t i = 0; i < n; i++) length += (size_t)sprintf(text + length, ", \"key%u\": [%u]", i, i);
    text[length++] = '}';
    while (again(&t)) {
        base_arena arena = base_arena_new(base_allocator(NULL));
        start(&t);
        const base_json *json = base_json_read(&arena, "object", text, length, &error);
        stop(&t);
        figure_must(json && json->count == n + 1, &error);
        base_arena_free(&arena);
    }
    free(text);
    return t.best;
}

/* ---- all ---- */

typedef struct call {
    const char *name;
    double (*seconds)(uint32_t n);
} call;

static const call calls[] = {
    {"record a chain of N rows", grow_record},
    {"concat of N operands", grow_concat},
    {"name N nodes", grow_names},
    {"seal and reopen N nodes", grow_seal},
    {"differentiate N nodes, recorded", grow_reverse},
    {"jvp of N nodes, recorded", grow_forward_mode},
    {"hessian_vector of N nodes, recorded", grow_hessian},
    {"describe a network of N nodes", grow_describe},
    {"describe a plan of N nodes", grow_plan_describe},
    {"report a plan of N nodes", grow_plan_report},
    {"verify N nodes", grow_verify},
    {"print N nodes", grow_print},
    {"parse N nodes", grow_parse},
    {"identity of N nodes", grow_identity},
    {"entry of N results", grow_entry},
    {"interpret N nodes", grow_interpret},
    {"plan N nodes", grow_plan},
    {"session of N nodes", grow_session},
    {"bind an extent of N nodes", grow_bind},
    {"session run of N nodes", grow_run},
    {"reverse scan of N nodes", grow_scan},
    {"parameters of N nodes, and a copy", grow_parameters},
    {"optimiser step of N / 4 parameters", grow_optimiser},
    {"checkpoint of N nodes, saved and loaded", grow_checkpoint},
    {"bundle of N tensors, written and read", grow_bundle},
    {".npy of 16 N items, written and read", grow_npy},
    {"IDX of 64 N items, read", grow_idx},
    {"CSV of N rows, read", grow_csv},
    {"JSON of N items, read", grow_json},
};

static const char *brief(double seconds, char *text, size_t bytes)
{
    if (seconds < 1e-3) snprintf(text, bytes, "%.0f us", seconds * 1e6);
    else snprintf(text, bytes, "%.1f ms", seconds * 1e3);
    return text;
}

int main(int count, char **arguments)
{
    figure_must(mkdtemp(folder) != NULL, NULL);
    figure_section("Growth of calls: N = 1,000, 8 N, 64 N");
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (count > 1 && !strstr(calls[i].name, arguments[1])) continue;
        double seconds[STEPS], growth[STEPS - 1];
        for (uint32_t step = 0, n = FIRST; step < STEPS; step++, n *= 8) seconds[step] = calls[i].seconds(n);
        for (uint32_t step = 0; step + 1 < STEPS; step++) growth[step] = seconds[step + 1] / seconds[step];
        char first[32], last[32];
        figure_row(calls[i].name, "<= 12x", growth[0] <= 12 && growth[1] <= 12, "%.1fx %.1fx (%s, %s)", growth[0], growth[1],
                   brief(seconds[0], first, sizeof first), brief(seconds[STEPS - 1], last, sizeof last));
    }
    rmdir(folder);
    return 0;
}
