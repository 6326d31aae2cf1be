/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Matrix products of sessions against the machine's multiply-adds and, of few rows, against reading the weights.
 *
 *   bench_products [SECONDS [SHAPE ...]]    how long each line is measured (default 0.3); the fastest run counts
 *
 * A shape is [BATCH:]ROWSxDEPTHxCOLUMNS, then `a` or `b` for an operand that lies transposed, `p` for b packed once, then the kind: 128x784x512a, 1x768x2048b:f16.
 * On one thread, unless WENGERT_THREADS says otherwise. The result of each is the oracle's, bit for bit, where that is small enough to ask. */
#define _POSIX_C_SOURCE 200112L /* clock_gettime, setenv */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"
#include "wengert/wengert.h"

static const char *const shapes[] = {
    "32x32x32", "16x64x16", "64x64x64", "128x128x128", "256x256x256", "512x512x512", "1024x1024x1024", "2048x2048x2048", "4096x4096x4096",
    "2048x384x1536", "128x784x512", "128x512x256", "32x256x1024", "784x128x512a", "384x2048x1152a", "256x3200x1024a", "128x512x784b",
    "2048x1536x384b", "48:256x64x256b", "48:256x256x64", "1x4096x4096", "1x4096x4096b", "1x768x2048", "1x768x2048b", "1x384x1536",
    "1x384x1536b", "4x4096x4096", "4x4096x4096b", "16x4096x4096", "16x4096x4096b", "4x4096x4096bp", "16x4096x4096bp", "128x784x512p",
    "512x512x512:f64", "1024x1024x1024:f64",
    "512x512x512:f16", "512x512x512:bf16", "1x4096x4096:f16", "1x4096x4096b:f16", "1x4096x4096:bf16", "1x4096x4096b:bf16",
    "1024x1024x1024:i8", "1x4096x4096:i8", "1x4096x4096b:i8",
};

typedef struct shape {
    long long batch, rows, depth, columns;
    bool a_lies, b_lies; /* transposed */
    bool packed;         /* b, once for all runs */
    wg_kind kind;
} shape;

static bool shape_of(const char *text, shape *s)
{
    static const struct {
        const char *name;
        wg_kind kind;
    } kinds[] = {{"", WG_KIND_F32}, {":f64", WG_KIND_F64}, {":f16", WG_KIND_F16}, {":bf16", WG_KIND_BF16}, {":i8", WG_KIND_I8}};
    int read = 0;
    *s = (shape){.batch = 1};
    if (sscanf(text, "%lld:%lldx%lldx%lld%n", &s->batch, &s->rows, &s->depth, &s->columns, &read) != 4) {
        s->batch = 1;
        if (sscanf(text, "%lldx%lldx%lld%n", &s->rows, &s->depth, &s->columns, &read) != 3) return false;
    }
    for (text += read; *text && strchr("abp", *text); text++) *(*text == 'a' ? &s->a_lies : *text == 'b' ? &s->b_lies : &s->packed) = true;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(text, kinds[i].name) == 0) {
            s->kind = kinds[i].kind;
            return true;
        }
    return false;
}

static wg_value operand(wg_tape *tape, const shape *s, bool lies, int64_t rows, int64_t columns)
{
    wg_error error = {0};
    wg_initialiser how = {.size = sizeof how, .name = "uniform", .seed = 7, .low = -0.1, .high = 0.1};
    int64_t extents[3] = {s->batch, lies ? columns : rows, lies ? rows : columns};
    wg_tensor *items = NULL;
    if (s->kind == WG_KIND_I8) {
        int64_t count = s->batch * rows * columns;
        int8_t *bytes = malloc((size_t)count);
        figure_must(bytes != NULL, NULL);
        for (int64_t i = 0; i < count; i++) bytes[i] = (int8_t)(i * 37 % 251 - 125);
        items = wg_tensor_new(NULL, s->kind, 3, extents, bytes, &error);
        free(bytes);
    } else items = wg_tensor_initialise(NULL, &how, s->kind, 3, extents, &error);
    figure_must(items != NULL, &error);
    wg_value value = wg_parameter(tape, items);
    return lies ? wg_permute(value, ((uint32_t[]){0, 2, 1})) : value;
}

static void print_shape(const char *text, double seconds)
{
    shape s;
    wg_error error = {0};
    figure_must(shape_of(text, &s), NULL);
    wg_tape *tape = wg_tape_new(NULL);
    wg_value a = operand(tape, &s, s.a_lies, s.rows, s.depth), b = operand(tape, &s, s.b_lies, s.depth, s.columns);
    wg_symbol root = wg_symbol_of(wg_matmul(a, b));
    wg_network *network = wg_tape_seal(&tape, &error);
    wg_entry_options options = {.size = sizeof options, .roots = &root, .root_count = 1};
    wg_entry *entry = network ? wg_entry_new(network, &options, &error) : NULL;
    wg_plan *plan = entry ? wg_plan_new(entry, NULL, 0, &error) : NULL;
    wg_session *session = plan ? wg_session_new(plan, NULL, &error) : NULL;
    wg_prepared *prepared = session && s.packed ? wg_prepared_new(plan, NULL, &error) : NULL;
    figure_must(session && wg_session_prepare(session, prepared, &error) && wg_session_run(session, NULL, &error), &error);
    wg_prepared_release(&prepared);
    double products = (double)s.batch * (double)s.rows * (double)s.depth * (double)s.columns, best = 1e30;
    if (products < 1e7) {
        wg_view ours;
        wg_run *run = wg_interpret(entry, NULL, &error);
        const wg_tensor *oracle = run ? wg_run_of(run, root, &error) : NULL;
        figure_must(oracle && wg_session_read(session, root, &ours, &error), &error);
        figure_must(!memcmp(ours.data, wg_tensor_data(oracle), (size_t)wg_tensor_volume(oracle) * wg_kind_bytes(wg_tensor_kind(oracle))), NULL);
        wg_run_free(&run);
    }
    /* on one thread the processor's time, which other programs disturb less */
    clockid_t clock = strcmp(getenv("WENGERT_THREADS"), "1") == 0 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
    for (double start = figure_clock(clock), last = start; last - start < seconds;) {
        figure_must(wg_session_run(session, NULL, &error), &error);
        double now = figure_clock(clock);
        if (now - last < best) best = now - last;
        last = now;
    }
    double bytes = (double)s.batch * (double)s.depth * (double)s.columns * (double)wg_kind_bytes(s.kind);
    figure_row(text, "", FIGURE_FREE, "%.1f GFLOP/s, b at %.1f GB/s, %.1f us", 2 * products / best * 1e-9, bytes / best * 1e-9, best * 1e6);
    wg_session_free(&session);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

int main(int count, char **arguments)
{
    setenv("WENGERT_THREADS", "1", 0);
    double seconds = count > 1 ? strtod(arguments[1], NULL) : 0.3;
    figure_section("Matrix products (the fastest run)");
    if (count > 2)
        for (int i = 2; i < count; i++) print_shape(arguments[i], seconds);
    else
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) print_shape(shapes[i], seconds);
    return 0;
}
