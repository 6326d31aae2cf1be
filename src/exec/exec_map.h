/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Programs over blocks of items as run_map.c takes them: from MAP stages, from matches that are nothing else inside (a window reduction),
 * and, list by list, from FOLD stages (run_cells.c). */
#ifndef EXEC_EXEC_MAP_H
#define EXEC_EXEC_MAP_H

#include "exec/exec.h"

/* ---- what is prepared ---- */

typedef struct exec_map_instruction {
    uint16_t op; /* wg_op of an elementwise row */
    wg_kind kind, result_kind; /* of the data operands, of the result */
    uint32_t operand_count, target, operands[3]; /* registers */
    bool wrap; /* Convert */
    bool fold;
    exec_fold operation; /* of a fold */
    wg_kind accumulate;
} exec_map_instruction;

typedef struct exec_map_write {
    exec_value value; /* dense */
    uint32_t reg;
} exec_map_write;

/* Registers 0 .. read_count - 1 are the reads; each of the others is the target of one instruction. Every read has the iteration space's
 * shape, or the cells'. */
typedef struct exec_map_program {
    int64_t volume;
    uint32_t register_count, read_count, write_count, instruction_count;
    const exec_value *reads;
    const exec_map_write *writes;
    const exec_map_instruction *instructions;
    const bool *cells; /* [register count] which registers hold cells; NULL: none */
} exec_map_program;

/* The block function of an instruction whose operands or result are complex; NULL: its row takes none (run_complex.c). */
exec_block_function exec_complex_function(const exec_map_instruction *instruction);

/* The block function of any elementwise row but those that keep their operand's items (StopGradient, Bitcast); NULL: no such kind. */
exec_block_function exec_map_function(const exec_kernels *kernels, const exec_map_instruction *instruction);

/* Takes the thread's scratch from build. */
bool exec_map_program_prepare(exec_build *build, const exec_map_program *program, exec_stage *stage);
/* The program of a MAP, FOLD or PRODUCT stage; of this the value of the product, dense, is the last read, and what the program writes. */
bool exec_map_program_of(exec_build *build, uint32_t index, const exec_value *product, exec_map_program *program);
/* FOLD stages (run_cells.c). */
bool exec_cells_prepare(exec_build *build, uint32_t index, exec_stage *stage);

/* The block operation that joins two results. */
exec_block exec_fold_block(exec_fold fold);

/* ---- lists: steps over one block ---- */

/* Where a register's items are. CELL: in a slot of the cells, which the stage fills; LINE: one line, which every line of the block reads; LINES:
 * whole lines, evenly apart. */
typedef enum exec_map_home { HOME_NONE, HOME_ROOM, HOME_DENSE, HOME_ONE, HOME_WRITE, HOME_CELL, HOME_LINE, HOME_LINES } exec_map_home;

typedef struct exec_map_register {
    exec_map_home home;
    wg_kind kind;
    bool cell;
    bool one;          /* a room of which the first item stands for all */
    uint32_t index;    /* of the room, read, write or slot */
    uint32_t root;     /* the register whose items these are (StopGradient, Bitcast), else itself */
    uint32_t last_use; /* step */
    uint32_t spread;   /* the register that repeats this cell for the items of its line, 0: none yet */
} exec_map_register;

typedef enum exec_map_action { MAP_GATHER, MAP_BLOCK, MAP_STORE, MAP_SPREAD, MAP_FOLD } exec_map_action;

typedef struct exec_map_step {
    exec_map_action action;
    bool canonical; /* a Bitcast reads the result's bits */
    bool cell;      /* works on cells */
    bool one;       /* makes one item for all of the block */
    bool plain;     /* one call of `function` over the items of the block, nothing besides: most steps */
    bool piecewise; /* the next step streams its results */
    bool inside;    /* follows in a relay */
    bool begins;    /* a relay */
    bool right;     /* of joined ones: the second has what the first makes on its right */
    uint8_t blocks[2]; /* exec_block: the operation, and the one that is joined to it */
    uint8_t operand_count, scalars;
    uint8_t cells, repeats; /* operands (bits) of which a line has one item; of which lines do not follow each other */
    wg_kind kind;   /* of the result */
    exec_block_function function;
    uint32_t target, operands[3];
    int32_t ahead;  /* which part of the next block is asked for before it, -1: none */
    uint32_t index; /* BLOCK: exec_block, of joined ones EXEC_BLOCK_FORMULAS, of other kinds than its operands EXEC_BLOCK_COUNT; GATHER: of
                     * the read; STORE: of the write; FOLD: of the instruction */
} exec_map_step;

/* Where a block begins: its items, its cells, these in their slots, and the column of a whole line. */
typedef enum exec_map_from { EXEC_FROM_ITEM, EXEC_FROM_CELL, EXEC_FROM_SLOT, EXEC_FROM_COLUMN, EXEC_FROM_COUNT } exec_map_from;

/* One block: count items in lines of `width`, and the cells of these lines. */
typedef struct exec_map_block {
    int64_t begin[EXEC_FROM_COUNT];
    int64_t count, cell_count, width;
} exec_map_block;

/* Where a register's items begin, and how many bytes further an item (or cell) is. */
typedef struct exec_map_place {
    uint32_t buffer; /* EXEC_IN_PIECE: a thread's piece of scratch; EXEC_IN_CELLS: the cells' slots */
    uint32_t step;
    uint16_t from;   /* exec_map_from */
    int64_t offset;  /* bytes */
} exec_map_place;

#define EXEC_IN_PIECE (WG_NONE - 1)
#define EXEC_IN_CELLS (WG_NONE - 2)

typedef struct exec_map_read {
    exec_value value;
    exec_walk walk;
    bool far; /* more than caches keep */
    bool asked; /* by a relay */
} exec_map_read;

typedef struct exec_map_stored {
    exec_value value;
    bool canonical, cell, stored, streamed, past; /* stored: by this list; streamed: past the caches, from a room; past: by their step */
} exec_map_stored;

typedef struct exec_map_list {
    uint32_t register_count, step_count, read_count, write_count, room_count;
    exec_map_register *registers;
    exec_map_place *places; /* of registers */
    exec_map_step *steps;
    exec_map_read *reads;
    exec_map_stored *writes;
    bool canonical; /* some write is made so where it stands */
    bool streams;   /* some write is streamed */
    bool across;    /* the cells of a block are one line, which all of its lines read */
    bool spread;    /* asks of steps, as far as these run in parts */
    struct exec_map_relay *relays; /* the last one first */
    uint32_t ahead; /* steps before which a part of the next block's large reads is asked for, while memory would be idle; they follow this one's */
    int64_t ahead_items; /* such a part; of reads, in items */
    int64_t room_bytes, scratch_at;
    double unit_cost;
} exec_map_list;

/* What a list takes of a program, and how its blocks lie. */
typedef struct exec_map_choice {
    const bool *instructions, *writes; /* NULL: all */
    bool across;
    bool inside;   /* cells: their reads are gathered already */
    bool narrow;   /* lines so short that cells are repeated for their items */
    bool apart;    /* lines of larger arrays are read where they stand; cells are numbered as lines are */
    int64_t width; /* items of a whole line, 0: blocks do not begin at lines */
    int64_t slot_bytes; /* of a cell register */
} exec_map_choice;

typedef struct exec_map_work {
    exec_run *run;
    const exec_map_list *list;
    char **at;     /* [register count] of the block under way */
    void (*fold)(void *user, const exec_map_step *step, char *const *at, const exec_map_block *block);
    void *user;
} exec_map_work;

/* Steps in which registers have homes, but no places: room sizes are not known. */
bool exec_map_list_prepare(exec_build *build, const exec_map_program *program, const exec_map_choice *choice, exec_map_list *list);
/* Places for blocks of at most so many items. */
void exec_map_list_place(exec_map_list *list, const exec_map_choice *choice, int64_t items);
/* Bytes of the widest kind among the registers; streams: the rooms and dense reads and writes that a block touches. */
uint32_t exec_map_list_width(const exec_map_list *list, uint32_t *streams);
/* A share of what a step asks for of the next block. */
void exec_map_ask(const exec_map_work *work, const exec_map_step *step, const exec_map_block *block, int64_t share, int64_t shares);
void exec_map_step_run(const exec_map_work *work, const exec_map_step *step, const exec_map_block *block);
/* What a STORE step does with items of the block from `done` on. */
void exec_map_store(const exec_map_work *work, const exec_map_step *step, const exec_map_block *block, int64_t done);
/* Relays of steps (run_relay.c); running one answers how many steps it was. */
typedef struct exec_map_relay exec_map_relay;
bool exec_map_relays_prepare(const exec_build *build, const exec_map_program *program, const exec_map_choice *choice, exec_map_list *list);
uint32_t exec_map_relay_run(const exec_map_work *work, const exec_map_step *first, const exec_map_block *block);
void exec_map_list_run(const exec_map_work *work, char *piece, char *cells, const exec_map_block *block);
/* A thread's last block of a list is done: what it streamed is seen. */
static inline void exec_map_list_done(const exec_map_work *work)
{
    if (work->list->streams) work->run->kernels->stream(WG_KIND_BOOL, NULL, NULL, 0);
}
/* The blocks of a thread follow each other, of so many items: reads of more than caches keep are asked for ahead. */
void exec_map_list_asks(exec_map_list *list, int64_t items);
/* Whether a read is of more than caches keep, where it stands. */
bool exec_map_reads_far(const exec_map_list *list, uint32_t reg);
/* Items of a block in which its reads are transposed well; 0: none is. */
int64_t exec_map_transpose_items(const exec_map_list *list, uint32_t width, uint32_t streams);
/* Items of a block in which so many streams of such a width stay in the first cache. */
int64_t exec_map_block_items(uint32_t width, uint32_t streams);

#endif
