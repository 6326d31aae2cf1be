/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Dense algebra, as calls: the matrices of a batch are shared out between threads, each factorised by one of them. A stop is served between
 * matrices, and between the products of an elimination, which then goes through what is left without them. LAPACK cannot be interrupted: what takes
 * it long runs on a thread of its own, over copies, and is left there when it is stopped. */
#include "exec/exec_call.h"
#include "graph/dense.h"

#define NO_FAULT INT64_MAX
#define FAULTS 16 /* a failure is kept as item * FAULTS + fault, so that the least of them is the first matrix's */

typedef struct dense_call {
    uint32_t node;
    graph_dense dense;
    exec_dense operands[2];
    uint32_t operand_count;
    exec_value result;
    bool canonical;
    int64_t scratch_at, scratch_bytes;
    double unit_cost;
} dense_call;

#define PART (INT64_C(1) << 28) /* multiplications between two looks for a stop, in lines of so many at least */
#define PART_ROWS 240
#define SERVED (1 << 20) /* a product of so many multiplications asks for a stop first: the clock is dearer than a small one */

/* Of one thread. Products of an elimination are many and small: what they have in common is set once. */
typedef struct dense_tools {
    const exec_kernels *kernels;
    exec_pause pause;
    bool stopped; /* what is left is gone through without its work */
    char *workspace;
    exec_product product;
} dense_tools;

static void set_product(exec_product *product, int64_t rows, int64_t depth, int64_t columns)
{
    product->rows = product->a_rows.extent[0] = product->result_rows.extent[0] = rows;
    product->depth = product->a_depth.extent[0] = product->b_depth.extent[0] = depth;
    product->columns = product->b_columns.extent[0] = columns;
}

static exec_product added_product(wg_kind kind)
{
    exec_product product = exec_product_plain(kind, 1, 1, 1, NULL, NULL, NULL);
    product.adds = true;
    return product;
}

static void add_product(void *user, wg_kind kind, int64_t rows, int64_t depth, int64_t columns, const void *a, int64_t a_row, const void *b, int64_t b_row,
                        void *c, int64_t c_row)
{
    dense_tools *with = user;
    exec_product *product = &with->product;
    (void)kind;
    set_product(product, rows, depth, columns);
    product->a = a, product->b = b, product->result = c;
    product->a_rows.stride[0] = a_row, product->b_depth.stride[0] = b_row, product->result_rows.stride[0] = c_row;
    int64_t line = depth * columns, each = line * rows <= PART ? rows : PART / line < PART_ROWS ? PART_ROWS : PART / line / PART_ROWS * PART_ROWS;
    for (int64_t first = 0; first < rows; first += each) {
        exec_range part = {first, rows - first < each ? rows : first + each};
        if (line * rows >= SERVED) with->stopped = !with->pause.go_on(with->pause.user);
        if (with->stopped) return;
        with->kernels->product(product, (exec_range){0, 1}, part, (exec_range){0, columns}, with->workspace);
    }
}

static void factor_panel(void *user, wg_kind kind, void *lines, int64_t count, int64_t width, int *pivots)
{
    dense_tools *with = user;
    if (count * width * width >= SERVED / 16) with->stopped = !with->pause.go_on(with->pause.user);
    if (!with->stopped) with->kernels->factor_panel(kind, lines, count, width, pivots);
    for (int64_t j = 0; with->stopped && j < width; j++) pivots[j] = (int)j; /* each is exchanged with itself */
}

static void solve_leaf(void *user, wg_kind kind, bool upper, const void *triangle, int64_t row, int64_t size, void *b, int64_t b_row, int64_t columns)
{
    const dense_tools *with = user;
    if (!with->stopped) with->kernels->solve_leaf(kind, upper, triangle, row, size, b, b_row, columns);
}

static bool is_stopped(void *user) { return ((const dense_tools *)user)->stopped; }

/* Bytes for any product inside of an elimination. */
static int64_t product_bytes(const base_lapack_call *call)
{
    if (!base_lapack_is_own(call->task) && call->task != BASE_LAPACK_LEAST_SQUARES) return 0;
    int64_t n = call->rows > call->columns ? call->rows : call->columns, columns = (call->sides > n ? call->sides : n) + 16;
    exec_product product = added_product(call->kind);
    set_product(&product, n, n, columns);
    product.result_rows.stride[0] = columns;
    return (int64_t)exec_product_bytes(&product, n, columns);
}

typedef struct dense_work {
    exec_run *run;
    const dense_call *facts;
    const char *a, *b;
    char *result;
    atomic_llong first_fault;
} dense_work;

static void dense_part(void *context, exec_range range, uint32_t thread)
{
    dense_work *work = context;
    const dense_call *d = work->facts;
    char *scratch = work->run->scratch + d->scratch_at + thread * d->scratch_bytes;
    dense_tools with = {work->run->kernels, exec_run_pause(work->run, thread), false, scratch + d->dense.scratch, added_product(d->dense.call.kind)};
    base_lapack_task task = d->dense.call.task;
    bool leaves = !base_lapack_is_own(task) && task != BASE_LAPACK_LEAST_SQUARES && d->unit_cost >= BASE_LAPACK_LONG;
    const base_elimination by = {add_product, factor_panel, solve_leaf, is_stopped, &with};
    for (int64_t item = range.first; item < range.end; item++) {
        if (item >= atomic_load(&work->first_fault) / FAULTS) return; /* an earlier one has failed */
        base_lapack_fault fault;
        if (!leaves || !graph_dense_run_leaving(&d->dense, item, with.pause.go_on, with.pause.user, work->a, work->b, work->result, &fault))
            fault = graph_dense_run(&d->dense, item, &by, work->a, work->b, work->result, scratch);
        if (fault) exec_least(&work->first_fault, item * FAULTS + (int64_t)fault);
    }
}

static void run_dense(exec_run *run, const exec_stage *stage)
{
    const dense_call *d = stage->prepared;
    dense_work work = {.run = run, .facts = d, .result = exec_items(run, &d->result)};
    work.a = exec_dense_items(run, &d->operands[0]);
    if (d->operand_count > 1) work.b = exec_dense_items(run, &d->operands[1]);
    atomic_init(&work.first_fault, NO_FAULT);
    bool own = base_lapack_is_own(d->dense.call.task);
    if (!own) base_lapack_enter();
    exec_run_split(run, d->dense.items, 1, d->unit_cost, dense_part, &work);
    if (!own) base_lapack_leave();
    int64_t fault = atomic_load(&work.first_fault);
    if (fault != NO_FAULT) exec_run_fail_item(run, d->node, fault / FAULTS, fault % FAULTS, EXEC_FAILED_MATRIX, 0);
    else exec_canonical_all(run, d->canonical, &d->result);
}

static bool prepare_dense(exec_call *call)
{
    dense_call *d = exec_call_take(call, sizeof *d);
    if (!d) return false;
    graph_type types[2];
    d->node = call->node;
    d->operand_count = call->operand_count;
    for (uint32_t i = 0; i < call->operand_count; i++) {
        const exec_value *operand = &call->operands[i];
        types[i] = (graph_type){operand->kind, operand->rank, operand->shape, NULL};
        d->operands[i] = exec_dense_of(call->build, operand);
    }
    d->result = call->result;
    d->canonical = call->canonical;
    d->dense = graph_dense_of(call->op, call->attributes, types, call->operand_count, call->result.volume);
    double m = (double)d->dense.call.rows, n = (double)d->dense.call.columns;
    d->unit_cost = m * n * ((m < n ? m : n) + (double)d->dense.call.sides) + 100;
    d->scratch_bytes = base_align_up(d->dense.scratch + product_bytes(&d->dense.call));
    d->scratch_at = exec_scratch_take(call->build, d->scratch_bytes * exec_scratch_pieces(call->build, d->dense.items, 1));
    call->stage->run = run_dense;
    call->stage->prepared = d;
    call->stage->cost = d->unit_cost * (double)d->dense.items;
    return true;
}

#define DENSE(row, task) bool exec_call_##row(exec_call *call) { return prepare_dense(call); }
#include "graph/dense.def"
