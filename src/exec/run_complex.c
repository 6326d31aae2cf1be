/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Complex rows in stages: the block of an elementwise row, and matrix products, which are products of the parts: [rows, depth] complex
 * items lie as [rows, 2 depth] parts, and the other side is written out with every row twice (kernel_complex.h). */
#include "exec/exec_call.h"
#include "exec/exec_map.h"
#include "exec/kernel_complex.h"

/* ---- elementwise ---- */

exec_block_function exec_complex_function(const exec_map_instruction *instruction)
{
    wg_kind kind = base_kind_is_complex(instruction->kind) ? instruction->kind : instruction->result_kind;
    switch ((wg_op)instruction->op) {
    case WG_OP_Convert: return exec_complex_convert(instruction->kind, instruction->result_kind);
#define BLOCK_OF(Name) \
    case WG_OP_##Name: return exec_complex_block_of(EXEC_COMPLEX_##Name, kind);
#define COMPLEX_FUNCTION(Name, name) BLOCK_OF(Name)
#include "base/complex.def"
        BLOCK_OF(Add)
        BLOCK_OF(Sub)
        BLOCK_OF(Mul)
        BLOCK_OF(Div)
        BLOCK_OF(Powf)
        BLOCK_OF(Equal)
        BLOCK_OF(NotEqual)
        BLOCK_OF(Select)
        BLOCK_OF(Complex)
        BLOCK_OF(Abs)
        BLOCK_OF(Real)
        BLOCK_OF(Imag)
    default: return NULL;
    }
}

/* ---- matrix products ---- */

typedef struct complex_product {
    exec_dense right;      /* [batch.., depth, columns] */
    int64_t rows, columns; /* rows of all batches */
    int64_t doubled_at;    /* scratch: [batch.., 2 depth, 2 columns] of the part kind */
    exec_stage parts;      /* the product of the parts */
} complex_product;

typedef struct double_work {
    const complex_product *facts;
    const char *items;
    char *to;
} double_work;

static void double_part(void *context, exec_range range, uint32_t thread)
{
    const double_work *work = context;
    (void)thread;
    exec_complex_double_rows(work->facts->right.value.kind, work->facts->columns, work->items, work->to, range);
}

static void run_complex_product(exec_run *run, const exec_stage *stage)
{
    const complex_product *p = stage->prepared;
    double_work work = {p, exec_dense_items(run, &p->right), run->scratch + p->doubled_at};
    exec_run_split(run, p->rows, 1, 4 * (double)p->columns + 1, double_part, &work);
    p->parts.run(run, &p->parts);
}

bool exec_complex_matmul(exec_call *call)
{
    const exec_value *a = &call->operands[0], *b = &call->operands[1];
    complex_product *p = exec_call_take(call, sizeof *p);
    exec_dense *dense = exec_call_take(call, 2 * sizeof *dense);
    if (!p || !dense) return false;
    wg_kind part = base_kind_part(call->result.kind);
    int64_t rows = a->shape[a->rank - 2], depth = a->shape[a->rank - 1], columns = b->shape[b->rank - 1], batches = 1;
    for (uint32_t axis = 0; axis + 2 < a->rank; axis++) batches *= a->shape[axis];
    p->right = exec_dense_of(call->build, b);
    p->rows = batches * depth;
    p->columns = columns;
    p->doubled_at = exec_scratch_take(call->build, 2 * b->volume * base_kinds[call->result.kind].bytes);
    dense[0] = exec_dense_of(call->build, a);
    dense[1] = (exec_dense){.value = {.buffer = WG_NONE, .kind = part, .offset = p->doubled_at / base_kinds[part].bytes}, .scratch_at = -1};
    exec_matrix left = {.dense = &dense[0], .batch = exec_side_plain(batches, 2 * rows * depth), .rows = exec_side_plain(rows, 2 * depth),
                        .columns = exec_side_plain(2 * depth, 1)};
    exec_matrix right = {.dense = &dense[1], .batch = exec_side_plain(batches, 4 * depth * columns),
                         .rows = exec_side_plain(2 * depth, 2 * columns), .columns = exec_side_plain(2 * columns, 1)};
    exec_call of_parts = *call;
    of_parts.stage = &p->parts;
    of_parts.result.kind = part;
    of_parts.result.offset *= 2;
    const int64_t extents[] = {batches, rows, 2 * depth, 2 * columns};
    if (!exec_product_prepare(&of_parts, &left, &right, (wg_kind[]){part, part}, part, extents)) return false;
    call->stage->run = run_complex_product;
    call->stage->prepared = p;
    call->stage->cost = p->parts.cost + 4 * (double)b->volume;
    return true;
}
