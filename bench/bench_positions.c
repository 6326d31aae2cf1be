/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Rows that answer or follow positions: Where, FirstIndex, Bins and Gather over many items, in nanoseconds an item.
 *
 *   bench_positions [ITEMS] [SECONDS]     how many items (default 1e7), how long each line is measured (default 0.3); the fastest run counts
 *
 * On one thread, in time of the processor. Where's result is checked before it is timed. */
#define _POSIX_C_SOURCE 200112L /* clock_gettime, setenv */

#include <string.h>

#include "figures.h"
#include "wengert/wengert.h"

static double now(void)
{
    return figure_clock(CLOCK_MONOTONIC);
}

/* A number below 2^53 that depends on i alone. */
static uint64_t mixed(uint64_t i)
{
    i = (i + 1) * 0x9e3779b97f4a7c15u;
    i = (i ^ i >> 32) * 0xd6e8feb86659fd93u;
    return (i ^ i >> 32) >> 11;
}

typedef enum filling { ASCENDING, RANDOM } filling;

/* Numbers below `limit`: spread evenly and ascending, or random. */
static wg_tensor *items_of(wg_kind kind, int64_t count, double limit, filling how)
{
    wg_error error = {0};
    wg_tensor *tensor = wg_tensor_new(NULL, kind, 1, &count, NULL, &error);
    figure_must(tensor != NULL, &error);
    void *data = wg_tensor_data(tensor);
    for (int64_t i = 0; i < count; i++) {
        double number = how == ASCENDING ? (double)i * limit / (double)count : (double)mixed((uint64_t)i) * 0x1p-53 * limit;
        if (kind == WG_KIND_F32) ((float *)data)[i] = (float)number;
        else if (kind == WG_KIND_F64) ((double *)data)[i] = number;
        else if (kind == WG_KIND_I32) ((int32_t *)data)[i] = (int32_t)number;
        else if (kind == WG_KIND_I64) ((int64_t *)data)[i] = (int64_t)number;
        else ((uint8_t *)data)[i] = number < 0.5;
    }
    return tensor;
}

/* Seconds of the fastest run; takes the tape. checksum: of an i64 result, 0 where it is not asked. */
static void measure(const char *what, wg_tape *tape, wg_value value, int64_t items, double seconds, int64_t *checksum)
{
    wg_error error = {0};
    wg_symbol root = wg_symbol_of(value);
    wg_network *network = wg_tape_seal(&tape, &error);
    wg_entry_options options = {.size = sizeof options, .roots = &root, .root_count = 1};
    wg_entry *entry = network ? wg_entry_new(network, &options, &error) : NULL;
    wg_plan *plan = entry ? wg_plan_new(entry, NULL, 0, &error) : NULL;
    wg_session *session = plan ? wg_session_new(plan, NULL, &error) : NULL;
    wg_view view;
    figure_must(session && wg_session_run(session, NULL, &error) && wg_session_read(session, root, &view, &error), &error);
    if (checksum) {
        int64_t sum = 0;
        for (int64_t i = 0; i < view.shape[0]; i++) sum += ((const int64_t *)view.data)[i];
        if (*checksum >= 0) figure_must(sum == *checksum, NULL);
        *checksum = sum;
    }
    double best = 1e30, end = now() + seconds;
    do {
        double start = figure_clock(CLOCK_PROCESS_CPUTIME_ID);
        figure_must(wg_session_run(session, NULL, &error), &error);
        double taken = figure_clock(CLOCK_PROCESS_CPUTIME_ID) - start;
        if (taken < best) best = taken;
    } while (now() < end);
    figure_row(what, "", FIGURE_FREE, "%.2f ns an item, %.2f ms", best / (double)items * 1e9, best * 1e3);
    wg_session_free(&session);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

static void where(int64_t items, double share, double seconds)
{
    wg_tensor *condition = items_of(WG_KIND_BOOL, items, 0.5 / share, RANDOM);
    const uint8_t *flags = wg_tensor_data(condition);
    int64_t found = 0, sum = 0;
    for (int64_t i = 0; i < items; i++) {
        found += flags[i];
        sum += flags[i] ? i : 0;
    }
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = wg_input(tape, condition);
    char what[80];
    snprintf(what, sizeof what, "where, %.0f%% of %lld true", share * 100, (long long)items);
    measure(what, tape, wg_where(x, wg_number(found)), items, seconds, &sum);
}

static void bins(wg_kind kind, int64_t items, int64_t bounds, filling how, double seconds)
{
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = wg_input(tape, items_of(kind, items, 1e6, how)), edges = wg_input(tape, items_of(kind, bounds, 1e6, ASCENDING));
    char what[80];
    snprintf(what, sizeof what, "bins, %s %s of %lld in %lld", how == RANDOM ? "random" : "ascending", wg_kind_name(kind), (long long)items,
             (long long)bounds);
    int64_t sum = -1;
    measure(what, tape, wg_bins(x, edges, "left"), items, seconds, &sum);
}

static void first_index(wg_kind kind, int64_t list, int64_t items, double limit, double seconds)
{
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = wg_input(tape, items_of(kind, list, limit, RANDOM)), y = wg_input(tape, items_of(kind, items, limit, RANDOM));
    char what[80];
    snprintf(what, sizeof what, "first_index, %s of %lld in %lld below %.0e", wg_kind_name(kind), (long long)items, (long long)list, limit);
    int64_t sum = -1;
    measure(what, tape, wg_first_index(x, y), items + list, seconds, &sum);
}

static void gather(wg_kind kind, int64_t items, double seconds)
{
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = wg_input(tape, items_of(kind, items, 1e6, RANDOM));
    wg_value positions = wg_input(tape, items_of(WG_KIND_I64, items, (double)items, RANDOM));
    char what[80];
    snprintf(what, sizeof what, "gather, %lld random positions of %s", (long long)items, wg_kind_name(kind));
    measure(what, tape, wg_gather(x, positions, 0), items, seconds, NULL);
}

int main(int count, char **arguments)
{
    setenv("WENGERT_THREADS", "1", 1);
    int64_t items = count > 1 ? (int64_t)strtod(arguments[1], NULL) : 10000000;
    double seconds = count > 2 ? strtod(arguments[2], NULL) : 0.3;
    figure_section("Positions (the fastest)");
    static const double shares[] = {0.01, 0.5, 0.99};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) where(items, shares[i], seconds);
    static const int64_t bounds[] = {16, 1000, 100000, 1000000};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        bins(WG_KIND_F64, items, bounds[i], RANDOM, seconds);
        bins(WG_KIND_F32, items, bounds[i], RANDOM, seconds);
    }
    bins(WG_KIND_F64, items, 100000, ASCENDING, seconds);
    bins(WG_KIND_I64, items, 100000, RANDOM, seconds);
    first_index(WG_KIND_I64, 8, items, 10, seconds);
    first_index(WG_KIND_I64, 1000, items, 1000, seconds);
    first_index(WG_KIND_I64, items / 10, items, 1e6, seconds);
    first_index(WG_KIND_F64, items / 10, items, 1e6, seconds);
    first_index(WG_KIND_I32, items, items, 1e9, seconds);
    gather(WG_KIND_F32, items, seconds);
    gather(WG_KIND_F64, items, seconds);
    return 0;
}
