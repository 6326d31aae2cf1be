/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Entries of the programs in bench/models, timed and served.
 *
 *   bench_model --serve MODELS DATA       answers lines of stdin (served.h); a row is MODEL ENTRY [BYTES], of the file MODELS/MODEL.wg, planned
 *                                         to keep its values within so many bytes where they are named
 *   bench_model --time MODELS DATA ROW... seconds of the fastest run of rows, each measured a second
 *   bench_model --print MODELS ROW        the row's program as canonical text, for bench_step and `wengert plan`
 *
 * DATA/MODEL.NAME holds the items of the input NAME, raw. Two entries need not stand in a text that has a `loss`: `gradient`, the loss and
 * its derivatives by every input of floats but x; and `step`, the loss, those inputs moved against the derivative and carried. */
#define _GNU_SOURCE

#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "figures.h"
#include "served.h"
#include "wengert/nn.h"
#include "wengert/wengert.h"

#define RATE 0.01 /* of a step */
#define ALIGNMENT 64

enum { SAMPLED = 100, STEPS_CHECKED = 3 };

typedef struct row {
    char model[64], entry_name[64];
    bool carries; /* whether a run changes what the next one reads */
    wg_network *network;
    wg_plan *plan;
    wg_session *session;
    wg_symbol result;
    wg_feed *feeds;
    uint32_t feed_count;
    double costs[3];
    double numbers[SERVED_NUMBERS];
    size_t number_count;
} row;

typedef struct bench {
    const char *models, *data;
    double resident; /* bytes before the first row */
    row row;
} bench;

static double now(void)
{
    return figure_clock(CLOCK_MONOTONIC);
}

/* ---- files ---- */

/* The bytes of a file, owned and ended by NUL, aligned as the library's own arrays are; NULL when there is none. */
static char *bytes_of(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    char *bytes = aligned_alloc(ALIGNMENT, (*length / ALIGNMENT + 1) * ALIGNMENT);
    if (bytes && fread(bytes, 1, *length, file) != *length) {
        free(bytes);
        bytes = NULL;
    }
    if (bytes) bytes[*length] = 0;
    fclose(file);
    return bytes;
}

/* A number of kibibytes in /proc/self/status, as bytes. */
static double status_bytes(const char *name)
{
    char line[256];
    double kibibytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, name, strlen(name))) kibibytes = strtod(line + strlen(name), NULL);
    if (file) fclose(file);
    return kibibytes * 1024;
}

/* From here on the greatest resident memory is counted anew. */
static void forget_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file) return;
    fputs("5", file);
    fclose(file);
}

/* ---- recording ---- */

static wg_network *parsed(const char *models, const char *model)
{
    char path[4096];
    size_t length;
    wg_error error = {0};
    snprintf(path, sizeof path, "%s/%s.wg", models, model);
    char *text = bytes_of(path, &length);
    wg_network *network = text ? wg_text_parse(NULL, text, length, path, NULL, &error) : NULL;
    figure_must(!text || network, &error);
    free(text);
    return network;
}

/* What a step moves: inputs of floats but x. Owned. */
static wg_value *weights_of(wg_tape *tape, uint32_t *count)
{
    wg_value *weights = calloc(wg_tape_count(tape), sizeof *weights);
    wg_node_facts facts;
    *count = 0;
    for (uint32_t position = 0; position < wg_tape_count(tape) && wg_tape_node(tape, position, &facts); position++)
        if (facts.op == WG_OP_Input && facts.kind == WG_KIND_F32 && strcmp(facts.name, "x")) weights[(*count)++] = wg_tape_find(tape, facts.name);
    return weights;
}

static void declare_gradient(wg_tape *tape, wg_adjoints *adjoints)
{
    wg_entry_options options = {.size = sizeof options, .name = "gradient"};
    options.roots = wg_adjoints_roots(adjoints, &options.root_count);
    wg_tape_declare(tape, &options);
}

static void declare_step(wg_tape *tape, wg_value loss, const wg_value *weights, wg_adjoints *adjoints, uint32_t count)
{
    wg_carry *carries = calloc(count, sizeof *carries);
    for (uint32_t i = 0; i < count; i++) {
        wg_value moved = wg_sub(weights[i], wg_mul_scalar(wg_adjoints_gradient(adjoints, i), RATE));
        carries[i] = (wg_carry){wg_symbol_of(moved), wg_symbol_of(weights[i])};
    }
    wg_symbol root = wg_symbol_of(loss);
    wg_tape_declare(tape, &(wg_entry_options){.size = sizeof(wg_entry_options), .name = "step", .roots = &root, .root_count = 1,
                                              .carries = carries, .carry_count = count});
    free(carries);
}

/* The network with the derivatives of `loss` recorded and the entry declared. */
static wg_network *differentiated(wg_network *network, bool step)
{
    wg_error error = {0};
    uint32_t count;
    wg_tape *tape = wg_network_reopen(&network, &error);
    figure_must(tape != NULL, &error);
    wg_value loss = wg_tape_find(tape, "loss"), *weights = weights_of(tape, &count);
    wg_adjoints *adjoints = wg_differentiate(tape, loss, weights, count);
    figure_must(adjoints != NULL, wg_tape_error(tape));
    if (step) declare_step(tape, loss, weights, adjoints, count);
    else declare_gradient(tape, adjoints);
    wg_adjoints_free(&adjoints);
    free(weights);
    network = wg_tape_seal(&tape, &error);
    figure_must(network != NULL, &error);
    return network;
}

/* The network of a row, its entry declared; NULL where there is no such model. */
static wg_network *network_of(const char *models, const char *model, const char *entry)
{
    wg_network *network = parsed(models, model);
    bool step = !strcmp(entry, "step");
    return network && (step || !strcmp(entry, "gradient")) ? differentiated(network, step) : network;
}

/* ---- rows ---- */

static void close_row(row *r)
{
    for (uint32_t i = 0; i < r->feed_count; i++) free(r->feeds[i].items.data);
    free(r->feeds);
    wg_session_free(&r->session);
    wg_plan_release(&r->plan);
    wg_network_release(&r->network);
    *r = (row){0};
}

static void feed_all(row *r, const char *data)
{
    r->feed_count = wg_plan_input_count(r->plan);
    r->feeds = calloc(r->feed_count + 1, sizeof *r->feeds);
    for (uint32_t i = 0; i < r->feed_count; i++) {
        wg_symbol input = wg_plan_input(r->plan, i);
        wg_node_facts facts;
        char path[4096];
        size_t length;
        wg_network_node(r->network, input.position, &facts);
        snprintf(path, sizeof path, "%s/%s.%s", data, r->model, facts.name);
        char *items = bytes_of(path, &length);
        if (!items || length != (size_t)facts.volume * wg_kind_bytes(facts.kind)) {
            fprintf(stderr, "bench: %s does not hold the items of %s\n", path, facts.name);
            exit(1);
        }
        r->feeds[i] = (wg_feed){input, {.data = items, .kind = facts.kind, .rank = facts.rank, .shape = facts.shape}};
    }
}

/* What is carried is not fed again. */
static void drop_carried(row *r)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->feed_count; i++) {
        wg_view carried;
        if (wg_session_carried(r->session, r->feeds[i].input, &carried, NULL)) {
            free(r->feeds[i].items.data);
            r->carries = true;
        } else r->feeds[kept++] = r->feeds[i];
    }
    r->feed_count = kept;
}

static void run(row *r)
{
    wg_error error = {0};
    wg_run_options options = {.size = sizeof options, .feeds = r->feeds, .feed_count = r->feed_count};
    figure_must(wg_session_run(r->session, &options, &error), &error);
}

/* The result's mean, mean magnitude and SAMPLED of its items; of fewer, all. */
static void sample(row *r)
{
    wg_error error = {0};
    wg_tensor *taken = wg_session_take(r->session, r->result, &error), *wide = NULL;
    const int64_t attributes[] = {WG_KIND_F64, 0};
    if (taken) wide = wg_op_run(NULL, WG_OP_Convert, (const wg_tensor *const[]){taken}, 1, attributes, 2, &error);
    figure_must(wide != NULL, &error);
    const double *items = wg_tensor_data(wide);
    int64_t volume = wg_tensor_volume(wide), count = volume < SAMPLED ? volume : SAMPLED;
    double *numbers = r->numbers + r->number_count, mean = 0, magnitude = 0;
    for (int64_t i = 0; i < volume; i++) {
        mean += items[i] / (double)volume;
        magnitude += (items[i] < 0 ? -items[i] : items[i]) / (double)volume;
    }
    numbers[0] = mean;
    numbers[1] = magnitude;
    for (int64_t i = 0; i < count; i++) numbers[2 + i] = items[count > 1 ? i * (volume - 1) / (count - 1) : 0];
    r->number_count += (size_t)count + 2;
    wg_tensor_release(taken);
    wg_tensor_release(wide);
}

/* Whether the model has the entry; then the row is ready, its first runs made. */
static bool open_row(row *r, const char *models, const char *data, const char *name)
{
    wg_error error = {0};
    long long budget = 0;
    if (sscanf(name, "%63s %63s %lld", r->model, r->entry_name, &budget) < 2) return false;
    double start = now();
    r->network = network_of(models, r->model, r->entry_name);
    wg_entry *entry = r->network ? wg_network_entry(r->network, r->entry_name, NULL) : NULL;
    if (!entry) {
        close_row(r);
        return false;
    }
    r->result = wg_entry_result(entry, 0);
    r->plan = wg_plan_new_with(entry, &(wg_plan_options){.size = sizeof(wg_plan_options), .memory_budget = budget}, &error);
    r->session = r->plan ? wg_session_new(r->plan, NULL, &error) : NULL;
    figure_must(r->session != NULL, &error);
    wg_entry_free(&entry);
    r->costs[0] = now() - start;
    feed_all(r, data);
    start = now();
    run(r);
    r->costs[1] = now() - start;
    sample(r);
    drop_carried(r);
    for (int i = 1; i < STEPS_CHECKED && !strcmp(r->entry_name, "step"); i++) {
        run(r);
        sample(r);
    }
    return true;
}

/* Seconds of a run, the fastest of turns that take so long. */
static double fastest(row *r, double seconds)
{
    double start = now(), end = start + seconds, best = 1e30;
    run(r);
    double once = now() - start;
    int64_t times = once < 1e-3 ? (int64_t)(1e-3 / once) : 1;
    do {
        start = now();
        for (int64_t i = 0; i < times; i++) run(r);
        double taken = (now() - start) / (double)times;
        if (taken < best) best = taken;
    } while (now() < end);
    return best;
}

/* ---- serving ---- */

static bool serve_row(void *user, const char *name)
{
    bench *b = user;
    close_row(&b->row);
    return open_row(&b->row, b->models, b->data, name);
}

static size_t serve_check(void *user, double *numbers)
{
    const row *r = &((bench *)user)->row;
    memcpy(numbers, r->numbers, r->number_count * sizeof *numbers);
    return r->number_count;
}

static double serve_time(void *user, double seconds)
{
    return fastest(&((bench *)user)->row, seconds);
}

static void serve_costs(void *user, double *costs)
{
    bench *b = user;
    forget_peak();
    run(&b->row);
    b->row.costs[2] = status_bytes("VmHWM:") - b->resident;
    memcpy(costs, b->row.costs, sizeof b->row.costs);
}

static void print_text(const char *models, const char *name)
{
    char model[64], entry[64];
    wg_error error = {0};
    if (sscanf(name, "%63s %63s", model, entry) != 2) exit(2);
    wg_network *network = network_of(models, model, entry);
    char *text = network ? wg_text_print(network, &error) : NULL;
    figure_must(text != NULL, &error);
    fputs(text, stdout);
    wg_text_free(text);
    wg_network_release(&network);
}

int main(int count, char **arguments)
{
    const char *mode = count > 3 ? arguments[1] : "";
    bench b = {.models = count > 2 ? arguments[2] : NULL, .data = count > 3 ? arguments[3] : NULL, .resident = status_bytes("VmRSS:")};
    int status = 0;
    wg_context_default()->spin = true; /* as the threads of every peer do */
    if (!strcmp(mode, "--print")) print_text(b.models, b.data);
    else if (!strcmp(mode, "--serve")) status = served_loop(&(served){serve_row, serve_check, serve_time, serve_costs, &b});
    else if (!strcmp(mode, "--time"))
        for (int i = 4; i < count; i++) {
            close_row(&b.row);
            if (open_row(&b.row, b.models, b.data, arguments[i])) printf("%-40s %.6g\n", arguments[i], fastest(&b.row, 1));
            else printf("%-40s no such row\n", arguments[i]);
        }
    else {
        fprintf(stderr, "usage: bench_model --serve MODELS DATA | --time MODELS DATA ROW... | --print MODELS ROW\n");
        status = 2;
    }
    close_row(&b.row);
    return status;
}
