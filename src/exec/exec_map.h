/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Elementwise programs as run_map.c takes them: from MAP stages, and from matches that are nothing else inside (a window reduction). */
#ifndef EXEC_EXEC_MAP_H
#define EXEC_EXEC_MAP_H

#include "exec/exec.h"

typedef struct exec_map_instruction {
    uint16_t op; /* wg_op of an elementwise row */
    wg_kind kind, result_kind; /* of the data operands, of the result */
    uint32_t operand_count, target, operands[3]; /* registers */
    bool wrap; /* Convert */
} exec_map_instruction;

typedef struct exec_map_write {
    exec_value value; /* dense */
    uint32_t reg;
} exec_map_write;

/* Registers 0 .. read_count - 1 are the reads; each of the others is the target of one instruction. Every read has the iteration space's
 * shape. */
typedef struct exec_map_program {
    int64_t volume;
    uint32_t register_count, read_count, write_count, instruction_count;
    const exec_value *reads;
    const exec_map_write *writes;
    const exec_map_instruction *instructions;
} exec_map_program;

/* The block function of an instruction whose operands or result are complex; NULL: its row takes none (run_complex.c). */
exec_block_function exec_complex_function(const exec_map_instruction *instruction);

/* The block function of any elementwise row but those that keep their operand's items (StopGradient, Bitcast); NULL: no such kind. */
exec_block_function exec_map_function(const exec_kernels *kernels, const exec_map_instruction *instruction);

/* Takes the thread's scratch from build. */
bool exec_map_program_prepare(exec_build *build, const exec_map_program *program, exec_stage *stage);

#endif
