/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What arrays that wait cost beside the work on their items.
 *
 *   bench_lazy [SECONDS]      rows of times, each measured that long (default 0.3)
 *   bench_lazy --counts       every path a few times and many times: what a counter of instructions is given (tests/lazy/run_costs.py),
 *                             which collects inside `act` and writes its counts after each `counted`
 *   bench_lazy --paths        the paths of --counts in order, a line each: name, repeats of the first and the second time
 *   bench_lazy --serve        answers lines of stdin, for bench/peers/compare.py (served.h)
 *   bench_lazy --memory       a training of 10,000 steps and the memory that it held
 *
 * On one thread, unless WENGERT_THREADS says otherwise. */
#define _POSIX_C_SOURCE 200112L /* clock_gettime, setenv */

#include <string.h>

#include "figures.h"
#include "lazy_calls.h"
#include "served.h"

#define MOST_CALLS 100

typedef struct bench {
    wg_lazy *lazy;
    wg_array *x, *y, *z;     /* stored, one shape */
    wg_array *a, *b;         /* literals spread over that shape; NULL: not wanted */
    wg_array *made[MOST_CALLS];
    uint32_t count;          /* of made */
    wg_function function;
    wg_jit *jit;
    wg_array *values[4];     /* of the act under way, owned */
    uint32_t turn;           /* counts acts */
    int64_t length;          /* of vectors; -1: [] */
    uint32_t calls;          /* of a chain */
} bench;

static void must(const bench *b, bool good)
{
    figure_must(good, wg_lazy_error(b->lazy));
}

static wg_array *vector(bench *b, int64_t length, int phase)
{
    wg_array *array = length < 0 ? calls_scalar(b->lazy, 0.25f + (float)phase) : calls_vector(b->lazy, length, phase);
    must(b, array != NULL);
    return array;
}

/* ---- what is measured ---- */

/* A chain of calls on x and y; every call is kept. */
static void build_chain(bench *b)
{
    wg_array *value = b->x;
    for (uint32_t i = 0; i < b->calls; i++) {
        wg_op op = (i + b->turn % 2) % 3 == 2 ? WG_OP_Sub : i % 2 ? WG_OP_Add : WG_OP_Mul;
        b->made[i] = value = calls_2(op, value, b->y);
    }
    must(b, value != NULL);
    for (uint32_t i = 0; i + 1 < b->calls; i++) wg_array_release(b->made[i]);
    b->made[0] = value;
    b->count = 1;
}

static void release_made(bench *b)
{
    for (uint32_t i = 0; i < b->count; i++) wg_array_release(b->made[i]);
    b->count = 0;
    for (size_t i = 0; i < sizeof b->values / sizeof *b->values; i++) {
        wg_array_release(b->values[i]);
        b->values[i] = NULL;
    }
}

/* One structure: the turn decides nothing. */
static void same_chain(bench *b)
{
    b->turn = 0;
    build_chain(b);
}

/* Two structures in turn where one plan is kept: every read plans. */
static void other_chain(bench *b)
{
    b->turn++;
    build_chain(b);
}

/* Six lengths in turn, more than a plan has sessions. */
static void longer_chain(bench *b)
{
    static const int64_t lengths[] = {8, 16, 24, 32, 40, 48};
    int64_t length = lengths[b->turn++ % 6];
    wg_array_release(b->x);
    wg_array_release(b->y);
    b->x = vector(b, length, 0);
    b->y = vector(b, length, 1);
    uint32_t turn = b->turn;
    same_chain(b);
    b->turn = turn;
}

static void call_one(bench *b)
{
    b->made[b->count++] = calls_1(WG_OP_Neg, b->x);
}

static void call_two(bench *b)
{
    b->made[b->count++] = calls_2(WG_OP_Add, b->x, b->y);
}

static void call_again(bench *b)
{
    wg_array_release(calls_2(WG_OP_Add, b->x, b->y));
}

static void read_made(bench *b)
{
    wg_view view;
    must(b, wg_array_read(b->made[0], &view));
}

static void call_and_read(bench *b)
{
    call_two(b);
    read_made(b);
}

static void nothing(bench *b)
{
    (void)b;
}

/* tanh(x y + z), summed */
static bool three_calls(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user, (void)lazy;
    wg_array *product = calls_2(WG_OP_Mul, inputs[0], inputs[1]), *sum = calls_2(WG_OP_Add, product, inputs[2]);
    outputs[0] = calls_sum(calls_1(WG_OP_Tanh, sum));
    return outputs[0] != NULL;
}

static const wg_function three = {three_calls, NULL, 3, 1};
static const bool first_of_three[3] = {true, false, false};

static void gradient(bench *b)
{
    wg_array *inputs[3] = {b->x, b->y, b->z}, *value, *gradients[3];
    must(b, wg_gradient(b->lazy, &three, inputs, first_of_three, &value, gradients));
    b->values[0] = value;
    b->values[1] = gradients[0];
}

/* Both together; the reads wait for what the run makes. */
static void read_values(bench *b)
{
    wg_view view;
    must(b, wg_array_run(b->values, 2) && wg_array_read(b->values[0], &view) && wg_array_read(b->values[1], &view));
}

static void gradient_and_read(bench *b)
{
    gradient(b);
    read_values(b);
}

static bool gradient_function(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user;
    wg_array *gradients[3];
    bool good = wg_gradient(lazy, &three, inputs, first_of_three, outputs, gradients);
    outputs[1] = gradients[0];
    return good;
}

static bool chain_function(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)lazy;
    const bench *b = user;
    wg_array *value = inputs[0];
    for (uint32_t i = 0; i < b->calls; i++) value = calls_2(i % 2 ? WG_OP_Add : WG_OP_Mul, value, inputs[1]);
    outputs[0] = value;
    return value != NULL;
}

static void call_jit(bench *b)
{
    wg_array *inputs[3] = {b->x, b->y, b->z};
    must(b, wg_jit_call(b->jit, inputs, b->values));
}

static void call_jit_and_read(bench *b)
{
    call_jit(b);
    read_values(b);
}

/* ---- the paths ---- */

typedef struct path {
    const char *name;
    void (*before)(bench *b), (*act)(bench *b), (*after)(bench *b);
    uint32_t calls;   /* of a chain; the unit of the goal */
    int64_t length;
    bool one_plan;    /* the cache keeps one */
    const wg_function *jit;
    uint32_t few, many;
} path;

static wg_function chain_of_jit = {chain_function, NULL, 2, 1};
static const wg_function gradient_of_jit = {gradient_function, NULL, 3, 2};

static const path paths[] = {
    {"call of one operand", nothing, call_one, release_made, 1, 4, false, NULL, 50, 250},
    {"call of two operands", nothing, call_two, release_made, 1, 4, false, NULL, 50, 250},
    {"call that an equal node answers, and its release", call_two, call_again, release_made, 1, 4, false, NULL, 50, 250},
    {"release of a pending call", call_two, release_made, nothing, 1, 4, false, NULL, 50, 250},
    {"read of 1 call", same_chain, read_made, release_made, 1, 4, false, NULL, 50, 250},
    {"read of 10 calls", same_chain, read_made, release_made, 10, 4, false, NULL, 20, 100},
    {"read of 100 calls", same_chain, read_made, release_made, 100, 4, false, NULL, 10, 50},
    {"lone scalar call and its read", nothing, call_and_read, release_made, 1, -1, false, NULL, 50, 250},
    {"release of a read scalar", call_and_read, release_made, nothing, 1, -1, false, NULL, 50, 250},
    {"read of 10 calls with a new plan", other_chain, read_made, release_made, 10, 4, true, NULL, 10, 40},
    {"read of 100 calls with a new plan", other_chain, read_made, release_made, 100, 4, true, NULL, 10, 40},
    {"read of 10 calls with other lengths", longer_chain, read_made, release_made, 10, 4, false, NULL, 12, 48},
    {"read of 100 calls with other lengths", longer_chain, read_made, release_made, 100, 4, false, NULL, 12, 48},
    {"replay of 1 call", nothing, call_jit, release_made, 1, 4, false, &chain_of_jit, 50, 250},
    {"replay of 10 calls", nothing, call_jit, release_made, 10, 4, false, &chain_of_jit, 50, 250},
    {"replay of 100 calls", nothing, call_jit, release_made, 100, 4, false, &chain_of_jit, 20, 100},
    {"gradient of three calls and a sum", nothing, gradient, release_made, 4, 100, false, NULL, 20, 100},
    {"gradient of three calls and a sum, and its read", nothing, gradient_and_read, release_made, 4, 100, false, NULL, 20, 100},
    {"the same compiled", nothing, call_jit_and_read, release_made, 4, 100, false, &gradient_of_jit, 20, 100},
};
#define PATHS (sizeof paths / sizeof *paths)

static void open_bench(bench *b, const path *p)
{
    wg_error error = {0};
    *b = (bench){.calls = p->calls, .length = p->length};
    wg_lazy_options options = {.size = sizeof options, .cached_plans = p->one_plan ? 1 : 0};
    b->lazy = wg_lazy_new(&options, &error);
    figure_must(b->lazy != NULL, &error);
    b->x = vector(b, p->length, 0);
    b->y = vector(b, p->length, 1);
    b->z = vector(b, p->length, 2);
    if (!p->jit) return;
    b->function = *p->jit;
    b->function.user = b;
    must(b, (b->jit = wg_jit_new(b->lazy, &b->function, NULL, 0)) != NULL);
}

static void close_bench(bench *b)
{
    wg_jit_free(&b->jit);
    wg_array_release(b->x);
    wg_array_release(b->y);
    wg_array_release(b->z);
    wg_lazy_free(&b->lazy);
}

/* A counter collects in here and nowhere else. */
__attribute__((noinline)) void act(const path *p, bench *b);
void act(const path *p, bench *b)
{
    p->act(b);
}

static void repeat(const path *p, bench *b, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        p->before(b);
        act(p, b);
        p->after(b);
    }
}

/* A counter writes what it collected when this is left, and begins anew. */
__attribute__((noinline)) void counted(const path *p, bench *b, uint32_t times);
void counted(const path *p, bench *b, uint32_t times)
{
    repeat(p, b, times);
}

static void run_counts(void)
{
    for (size_t i = 0; i < PATHS; i++) {
        bench b;
        open_bench(&b, &paths[i]);
        for (uint32_t warm = 0; warm < 12; warm++) {
            paths[i].before(&b);
            paths[i].act(&b);
            paths[i].after(&b);
        }
        counted(&paths[i], &b, paths[i].few);
        counted(&paths[i], &b, paths[i].many);
        close_bench(&b);
    }
}

/* ---- rows of times ---- */

typedef struct row {
    const char *name, *title, *goal;
    double most;      /* seconds that the goal allows; 0: it is a ratio to a peer, told by bench/peers/compare.py */
    void (*act)(bench *b);
    uint32_t calls;
    int64_t length;
    const wg_function *jit;
} row;

/* ((x a + b) a + b) .. of 20 calls, with literals spread over the shape. */
static void chain_of_twenty(bench *b)
{
    wg_array *value = wg_array_keep(b->x);
    for (int i = 0; i < 10; i++) {
        wg_array *product = calls_2(WG_OP_Mul, value, b->a);
        wg_array_release(value);
        value = calls_2(WG_OP_Add, product, b->b);
        wg_array_release(product);
    }
    b->made[b->count++] = value;
    read_made(b);
}

static void fused_chain(bench *b)
{
    wg_scope_open(b->lazy);
    wg_array *inner = calls_1(WG_OP_Tanh, calls_2(WG_OP_Add, calls_2(WG_OP_Mul, b->x, b->a), b->b));
    wg_array *square = calls_1(WG_OP_Exp, calls_1(WG_OP_Neg, calls_2(WG_OP_Mul, b->x, b->x)));
    b->made[b->count++] = wg_array_keep(calls_2(WG_OP_Add, calls_2(WG_OP_Mul, inner, b->a), square));
    wg_scope_close(b->lazy);
    read_made(b);
}

static void add_itself(bench *b)
{
    b->made[b->count++] = calls_2(WG_OP_Add, b->x, b->x);
    read_made(b);
}

static const row rows[] = {
    {"scalars", "two scalars added and read", "< 250 ns", 250e-9, call_and_read, 1, -1, NULL},
    {"vectors", "two vectors of 100 items added and read", "< 350 ns", 350e-9, call_and_read, 1, 100, NULL},
    {"gradient", "tanh(x y + z) of 100 items, its sum and gradient, traced anew", "", 0, gradient_and_read, 4, 100, NULL},
    {"compiled", "the same compiled", "< 2 us", 2e-6, call_jit_and_read, 4, 100, &gradient_of_jit},
    {"twenty", "a chain of 20 calls on 1,000 items", "", 0, chain_of_twenty, 20, 1000, NULL},
    {"add", "x + x of 10,000,000 items", "", 0, add_itself, 1, 10000000, NULL},
    {"fused", "tanh(a x + b) a + exp(-x x) of 10,000,000 items", "", 0, fused_chain, 8, 10000000, NULL},
};
#define ROWS (sizeof rows / sizeof *rows)

static void open_row(bench *b, const row *r)
{
    path like = {.calls = r->calls, .length = r->length, .jit = r->jit};
    open_bench(b, &like);
    b->a = calls_full_like(b->lazy, b->x, 0.5f);
    b->b = calls_full_like(b->lazy, b->x, 0.125f);
    must(b, b->a && b->b);
}

static void close_row(bench *b)
{
    wg_array_release(b->a);
    wg_array_release(b->b);
    close_bench(b);
}

/* Seconds of one act, of `times`. */
static double timed(const row *r, bench *b, uint32_t times)
{
    double start = figure_clock(CLOCK_MONOTONIC);
    for (uint32_t i = 0; i < times; i++) {
        r->act(b);
        release_made(b);
    }
    return (figure_clock(CLOCK_MONOTONIC) - start) / times;
}

/* The fastest of rounds that together take `seconds`. */
static double fastest(const row *r, bench *b, double seconds)
{
    double once = timed(r, b, 3), best = 1e30, end = figure_clock(CLOCK_MONOTONIC) + seconds;
    uint32_t times = once < 1e-3 ? (uint32_t)(2e-3 / once) : 1;
    do {
        double taken = timed(r, b, times);
        if (taken < best) best = taken;
    } while (figure_clock(CLOCK_MONOTONIC) < end);
    return best;
}

/* The sum of the last result's items, in double: what a peer must find too. */
static double sum_of(const row *r, bench *b)
{
    r->act(b);
    wg_array *result = b->values[1] ? b->values[1] : b->count ? b->made[0] : b->values[0];
    wg_view view;
    must(b, result && wg_array_read(result, &view));
    double sum = 0;
    for (int64_t i = 0; i < wg_array_volume(result); i++) sum += (double)((const float *)view.data)[i];
    release_made(b);
    return sum;
}

static const row *row_of(const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (!strcmp(rows[i].name, name)) return &rows[i];
    return NULL;
}

typedef struct serving {
    const row *row;
    bench bench;
} serving;

static bool serve_row(void *user, const char *name)
{
    serving *s = user;
    if (s->row) close_row(&s->bench);
    if ((s->row = row_of(name))) open_row(&s->bench, s->row);
    return s->row != NULL;
}

static size_t serve_check(void *user, double *numbers)
{
    serving *s = user;
    numbers[0] = sum_of(s->row, &s->bench);
    return 1;
}

static double serve_time(void *user, double seconds)
{
    serving *s = user;
    return fastest(s->row, &s->bench, seconds);
}

static int serve(void)
{
    serving s = {.row = NULL};
    int status = served_loop(&(served){serve_row, serve_check, serve_time, NULL, &s});
    if (s.row) close_row(&s.bench);
    return status;
}

static void print_rows(double seconds)
{
    figure_section("Lazy arrays on one thread (the fastest)");
    for (size_t i = 0; i < ROWS; i++) {
        bench b;
        open_row(&b, &rows[i]);
        double best = fastest(&rows[i], &b, seconds);
        figure_verdict verdict = rows[i].most == 0 ? FIGURE_FREE : best < rows[i].most ? FIGURE_MET : FIGURE_MISSED;
        if (best < 1e-6) figure_row(rows[i].title, rows[i].goal, verdict, "%.0f ns", best * 1e9);
        else if (best < 1e-3) figure_row(rows[i].title, rows[i].goal, verdict, "%.2f us", best * 1e6);
        else figure_row(rows[i].title, rows[i].goal, verdict, "%.2f ms", best * 1e3);
        close_row(&b);
    }
}

/* ---- memory of a training ---- */

enum { BATCH = 32, INPUTS = 16, HIDDEN = 32, STEPS = 10000 };

/* The loss of a dense layer, tanh and another one; inputs x, target, w1, w2. */
static bool loss_function(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user, (void)lazy;
    wg_array *hidden = calls_1(WG_OP_Tanh, calls_matmul(inputs[0], inputs[2]));
    wg_array *difference = calls_2(WG_OP_Sub, calls_matmul(hidden, inputs[3]), inputs[1]);
    outputs[0] = calls_sum(calls_2(WG_OP_Mul, difference, difference));
    return outputs[0] != NULL;
}

/* One step: loss, and the weights less a share of their gradients. */
static bool step_function(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user;
    static const wg_function loss = {loss_function, NULL, 4, 1};
    static const bool wanted[4] = {false, false, true, true};
    wg_array *gradients[4];
    if (!wg_gradient(lazy, &loss, inputs, wanted, outputs, gradients)) return false;
    for (int i = 0; i < 2; i++) {
        wg_array *rate = calls_full_like(lazy, inputs[2 + i], 1e-4f);
        outputs[1 + i] = calls_2(WG_OP_Sub, inputs[2 + i], calls_2(WG_OP_Mul, rate, gradients[2 + i]));
    }
    return outputs[1] && outputs[2];
}

static long resident_kib(void)
{
    long pages = 0, total = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%ld %ld", &total, &pages) != 2) pages = 0;
    if (file) fclose(file);
    return pages * 4;
}

static void print_memory(void)
{
    wg_error error = {0};
    wg_lazy *lazy = wg_lazy_new(NULL, &error);
    figure_must(lazy != NULL, &error);
    wg_function step = {step_function, NULL, 4, 3};
    wg_jit *jit = wg_jit_new(lazy, &step, NULL, 0);
    wg_array *inputs[4] = {calls_matrix(lazy, BATCH, INPUTS, 0), calls_matrix(lazy, BATCH, 1, 1), calls_matrix(lazy, INPUTS, HIDDEN, 2),
                           calls_matrix(lazy, HIDDEN, 1, 3)};
    double first = 0, last = 0;
    long settled = 0;
    uint64_t arrays = 0;
    wg_lazy_figures figures;
    for (int i = 0; i < STEPS; i++) {
        wg_array *outputs[3];
        bool good = wg_jit_call(jit, inputs, outputs) && wg_array_run(outputs, 3) && wg_array_double(outputs[0], &last);
        figure_must(good, wg_lazy_error(lazy));
        wg_array_release(outputs[0]);
        for (int w = 0; w < 2; w++) {
            wg_array_release(inputs[2 + w]);
            inputs[2 + w] = outputs[1 + w];
        }
        if (!i) first = last;
        if (i + 1 != STEPS / 10) continue;
        settled = resident_kib();
        wg_lazy_figures_of(lazy, &figures);
        arrays = figures.arrays;
    }
    long end = resident_kib();
    wg_lazy_figures_of(lazy, &figures);
    figure_must(last < first, NULL);
    figure_section("Memory of a training by a compiled gradient step");
    bool flat = end <= settled + 64 && figures.arrays == arrays;
    figure_row("from step 1,000 to step 10,000: resident memory, living arrays", "no more", flat ? FIGURE_MET : FIGURE_MISSED,
               "%+ld KiB of %ld, %+lld of %llu", end - settled, settled, (long long)(figures.arrays - arrays), (unsigned long long)arrays);
    for (int i = 0; i < 4; i++) wg_array_release(inputs[i]);
    wg_jit_free(&jit);
    wg_lazy_free(&lazy);
}

int main(int count, char **arguments)
{
    setenv("WENGERT_THREADS", "1", 0);
    const char *mode = count > 1 ? arguments[1] : "0.3";
    if (!strcmp(mode, "--counts")) {
        run_counts();
    } else if (!strcmp(mode, "--paths")) {
        for (size_t i = 0; i < PATHS; i++) printf("%s\t%u\t%u\n", paths[i].name, paths[i].few, paths[i].many);
    } else if (!strcmp(mode, "--serve")) {
        return serve();
    } else if (!strcmp(mode, "--memory")) {
        print_memory();
    } else {
        print_rows(strtod(mode, NULL));
        print_memory();
    }
    return 0;
}
