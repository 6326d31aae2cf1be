/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * An Attention match, or an AttentionGradient, as it is prepared (attention.c) and run (run_attention.c). */
#ifndef EXEC_EXEC_ATTENTION_H
#define EXEC_EXEC_ATTENTION_H

#include "exec/exec_call.h"

typedef enum attention_home {
    ATTENTION_IN_ROOM,
    ATTENTION_IN_KEYS, /* positions of keys, filled once */
    ATTENTION_IN_PLACE, /* a read whose keys stand side by side, or that is one item */
    ATTENTION_IN_SCORES,
    ATTENTION_IN_WEIGHTS
} attention_home;

/* The value of a node on the line of one row: an item a key, or one. */
typedef struct attention_register {
    wg_kind kind;
    attention_home home;
    bool one, by_row, by_product, by_batch;
    bool position; /* `one`: the place along an axis of rows or batches */
    uint32_t room, read;
    uint32_t axis;
    int64_t axis_inner, axis_extent; /* of a batch axis, in the batches' row-major order */
} attention_register;

/* An operand from outside, its strides by batch, row and key of the scores. */
typedef struct attention_read {
    exec_value value;
    exec_side batch;
    int64_t row, key;
} attention_read;

typedef enum attention_action { ATTENTION_GATHER, ATTENTION_BLOCK, ATTENTION_LOG_SOFTMAX, ATTENTION_FOLD } attention_action;

typedef struct attention_step {
    attention_action action;
    wg_op op;
    bool mask_alone; /* nothing but the mask needs it */
    uint32_t target, operand_count, operands[3], scalars;
    exec_block_function function;
    exec_fold fold;
    wg_kind accumulate;
} attention_step;

/* What stands between the first product and an added mask. */
typedef struct attention_factor {
    wg_op op; /* Mul or Div by the one item of a register, Tanh */
    uint32_t by;
} attention_factor;

#define ATTENTION_FACTORS 8
#define ATTENTION_KNOWN_BYTES 64

/* How hidden keys show: nowhere (OPEN: all are computed), in what is added, or where a condition fails or holds. */
typedef enum attention_form { ATTENTION_OPEN, ATTENTION_ADDED, ATTENTION_KEPT_WHERE, ATTENTION_HIDDEN_WHERE } attention_form;

typedef struct attention_mask {
    attention_form form;
    bool by_batch;
    uint32_t step, spine; /* its step, and what that leaves as it is where all keys are seen */
    uint32_t keeps, instead; /* registers: what is added, or the condition; what a hidden key has instead */
    uint32_t factor_count;
    attention_factor factors[ATTENTION_FACTORS]; /* from the product up */
} attention_mask;

/* The keys that a row sees: from the first to the last; `whole`: all between, and a mask leaves them as they are. */
typedef struct attention_row {
    int64_t first, end;
    bool whole;
} attention_row;

/* The softmax as one kernel; registers WG_NONE: no limit. */
typedef struct attention_softmax {
    bool one_kernel, logs;
    uint32_t first_step, of, lowest, least;
} attention_softmax;

/* What a gradient has besides: w the weights, g what comes to the result, and of each row of scores its slopes, which stand in a sheet beside
 * that of the weights. Then `values` of the attention are the slopes by q: those of the scores times what stands at their right. */
typedef struct attention_slopes {
    exec_dense sides[3]; /* g, v turned, q turned */
    int64_t offsets[3];
    exec_product weights, by_v, by_k; /* g (v turned), (w turned) g, (q turned) slopes: without pointers */
    exec_value of_v, of_k;
    bool canonical_v, canonical_k;
    bool scaled, chooses; /* slopes are multiplied by a number, and are +0 at keys that the mask hides */
    exec_value factor;
    int64_t slopes_at, packed_at; /* of a thread's piece: the sheet, v packed */
} attention_slopes;

typedef struct exec_attention {
    int64_t batches, rows, keys, columns; /* scores [batches, rows, keys], result [batches, rows, columns] */
    uint32_t row_axis;                    /* of the scores */
    int64_t block_rows, row_blocks, sheet_rows; /* rows of scores that stand in the sheet at once */
    exec_dense sides[3]; /* q, k transposed, v */
    int64_t offsets[3];
    exec_product scores, values; /* without pointers */
    exec_value result;
    bool canonical;
    uint32_t read_count, register_count, step_count;
    uint32_t block_steps, mask_steps; /* the first steps are the same for all rows of a block, the next need no scores */
    attention_read *reads;
    attention_register *registers; /* the first read_count are the reads */
    attention_step *steps;
    attention_mask mask;
    attention_softmax softmax;
    uint32_t weights; /* register */
    uint32_t kept[2]; /* what keys and values are carried in (exec_carried_root); WG_NONE: nothing that is known more of */
    int64_t kept_items[2];
    bool packed;      /* a batch's keys and values, once for all of its rows */
    int64_t keys_width, values_width; /* packed columns */
    /* a thread's piece of scratch, bytes: rooms of a line each, positions of keys, scores, weights (the scores' own place where they are of
     * one kind), packed keys and values, the products' workspace, addresses of registers and then of reads,
     * what the thread knows */
    int64_t scratch_at, piece_bytes, room_bytes, pitch, keys_at, scores_at, weights_at, packed_keys_at, packed_values_at, product_at, at_at, known_at, seen_at, rows_at, pieces;
    uint32_t room_count, read_base;
    double unit_cost, mask_cost;
    const attention_slopes *slopes; /* of a gradient; NULL */
} exec_attention;

void exec_attention_run(exec_run *run, const exec_stage *stage);
void exec_attention_gradient_run(exec_run *run, const exec_stage *stage);
bool exec_attention_gradient_prepare(exec_build *build, uint32_t index, exec_stage *stage);
bool exec_attention_prepare(exec_build *build, uint32_t index, exec_stage *stage);

#endif
