/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Kernels: the loops that run a plan's stages. They know pointers, extents and strides; nothing of graphs, plans or sessions.
 *
 *   what                                  declared here as       written in
 *   matrix products, convolutions         exec_product           kernel_products.inc, kernel_product.inc (one float type)
 *   products with quantised weights       exec_quant             kernel_quant.inc
 *   elementwise operations                exec_block             kernel_blocks.def (the list), kernel_blocks.inc, kernel_block_loops.inc
 *   two operations in one pass            exec_kernels.joined    kernel_joined.inc
 *   many in one pass                      exec_relay             kernel_relay.inc
 *   conversions of kind                   exec_kernels.convert   kernel_convert.c; f16 and bf16 in kernel_blocks.inc
 *   elementary functions                  exec_block (EXP ...)   kernel_maps.inc (formulas: base/formula_vector.h)
 *   reductions, scans, places of extremes exec_reduction ...     kernel_folds.inc, kernel_fold_type.inc (one float type)
 *   strided copies, transposes            exec_copying           kernel_layout.inc
 *   gather, scatter, slices, iota         exec_indexing ...      kernel_index.c
 *   random numbers                        exec_draw              kernel_draws.inc
 *   windows added back                    exec_folding           kernel_windows.c
 *   sort, grade, top-k, searching         exec_ordering ...      kernel_order.c, kernel_search.c
 *   their keys in order                   sort_keys              kernel_sort.inc, kernel_quicksort.inc, kernel_radix.inc
 *   complex items                         kernel_complex.h       kernel_complex.c, and the kernels of their parts
 *   softmax of a line, magnitudes         exec_weighing          kernel_weights.inc
 *   log-sum-exp, window reductions        exec_log, exec_window  kernel_compound.c (made of other kernels)
 *   vectors of a level; compiler flags                           kernel_vector.inc; kernel_flags.h
 *
 * Rules for every kernel
 * - Bits. The order in which numbers are combined is fixed (it is written where it bites, at the head of each template), so every vector
 *   level gives the same bits, and so does any split of the work: a kernel takes ranges of its outputs, and what an output is does
 *   not depend on the range it was computed in. NaNs may carry any payload until exec_canonical_nan makes them the one quiet NaN.
 * - Memory. Nothing is allocated: a kernel that needs room says how many bytes, and its caller gives them (64-byte aligned, one piece
 *   a thread).
 * - Sizes are int64_t and may be 0. Strides are in items unless a name says bytes, and may be 0 or negative.
 *
 * Levels. A template (.inc) is compiled once for each level by kernel_each_level.h into a table of function pointers, exec_kernels.
 * exec_kernels_for picks a table. A new level is one block in kernel_each_level.h (and what kernel_vector.inc cannot spell for it) and one
 * table in kernels.c. A new kernel is a row in kernels.def and a function LEVEL(exec_<name>) in a template; a new elementwise operation is
 * a row in kernel_blocks.def and its expression in kernel_blocks.inc. What is missing does not link. */
#ifndef EXEC_KERNELS_H
#define EXEC_KERNELS_H

#include "base/base.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define EXEC_HAVE_V3 1
#else
#define EXEC_HAVE_V3 0
#endif

static inline int64_t exec_smaller(int64_t a, int64_t b) { return a < b ? a : b; }
/* How many pieces of `each` hold a count, and the least multiple that does. */
static inline int64_t exec_pieces(int64_t count, int64_t each) { return (count + each - 1) / each; }
static inline int64_t exec_up_to(int64_t count, int64_t multiple) { return exec_pieces(count, multiple) * multiple; }

/* Outputs [first, end). */
typedef struct exec_range {
    int64_t first, end;
} exec_range;

/* A kernel whose one line may be long asks now and then whether to go on; false: it leaves the line, and its result, unfinished. */
typedef struct exec_pause {
    bool (*go_on)(void *user);
    void *user;
} exec_pause;
#define EXEC_PAUSE_ITEMS 32768 /* far less than 10 ms at any cost of an item */
/* At step i of a line, `every` steps apart. pause may be NULL. */
static inline bool exec_stops(const exec_pause *pause, int64_t i, int64_t every)
{
    return i % every == 0 && i > 0 && pause && !pause->go_on(pause->user);
}

/* ---- matrix products ------------------------------------------------------------------------------------------------------- */

/* One side of a matrix as index arithmetic: place p is the sum of digit[i] * stride[i], the digits of p in the mixed radix extent
 * (row-major, the last digit fastest). An ordinary side has rank 1; the rows of a convolution's unfolded image are (image, y, x), its
 * depth (channel, dy, dx), over the same padded image: nothing is unfolded in memory. */
#define EXEC_SIDE_RANK 8
typedef struct exec_side {
    uint32_t rank;
    int64_t extent[EXEC_SIDE_RANK], stride[EXEC_SIDE_RANK];
} exec_side;

/* result[batch, row, column] = sum over depth of a[batch, row, depth] * b[batch, depth, column], in the canonical order: depth in
 * ascending blocks of 256, each an fma chain from +0; block results added ascending; never -0. f16 and bf16 multiply in f32. Integers wrap
 * in their result's kind. Kinds of a and b: f16 bf16 (accumulate f32 or f64), f32 (f32 or f64), f64, or one integer kind; f16 and bf16 may
 * stand beside f32 and one another. result_kind: the kind of the product, or for integers the accumulation kind. The result may not overlap
 * the operands.
 *
 * finish (NULL: none) is called once for each rectangle of the result when its sums are final, while they are in the cache: items, of the
 * result's kind, is the first of the rectangle, rows row_step items apart, columns side by side. It may change them. The result's rows
 * are then of rank 1 and its columns side by side; result NULL: the sums go to finish alone.
 *
 * more_count further products of the same rows and columns, of results of f32 or f64, are added behind the first, block by block: those of
 * one block each make it the sum of products. They read factors[2 t] and factors[2 t + 1] by the a and b sides of more[t]. */
typedef void (*exec_product_finish)(void *user, int64_t batch, exec_range rows, exec_range columns, void *items, int64_t row_step);
typedef struct exec_product {
    wg_kind a_kind, b_kind, accumulate, result_kind;
    int64_t batches, rows, depth, columns;
    const void *a, *b;
    void *result;
    exec_side a_batch, a_rows, a_depth;
    exec_side b_batch, b_depth, b_columns;
    exec_side result_batch, result_rows;
    int64_t result_column;
    exec_product_finish finish;
    void *finish_user;
    /* NULL, or columns [packed_first, packed_first + packed_width) of one batch's b by exec_kernels.product_pack: a depth block after the
     * other, each panels of a level's tile columns. packed_width is a multiple of EXEC_TILE_COLUMNS; only of a product that does not turn.
     * packed_depth: so much depth was packed, of which this product has the first part; 0: its own. */
    const void *b_packed;
    int64_t packed_first, packed_width, packed_depth;
    const struct exec_product *more;
    const void *const *factors;
    int64_t more_count;
    const exec_pause *pause; /* NULL: not asked; told to stop, the rest of the result is left as it is */
    bool adds;   /* the product is added to what the result holds, block by block: of f32 or f64, result_column 1, no finish, nothing that turns */
    bool beside; /* batches are the depth blocks of one row, columns all of them, and may be made together */
    bool turned; /* rows and columns were exchanged: finish is told of them as they were */
} exec_product;

/* A row-major product of plain matrices: a [rows, depth], b [depth, columns], result [rows, columns], all strides set. */
exec_product exec_product_plain(wg_kind kind, int64_t rows, int64_t depth, int64_t columns, const void *a, const void *b, void *result);
exec_side exec_side_plain(int64_t extent, int64_t stride);
/* Places [first, first + count) of a side. */
void exec_side_offsets(const exec_side *side, int64_t first, int64_t count, int64_t *offsets);
/* Whether the transposed product is computed instead, the same numbers since a * b is b * a: one column, results side by side down the
 * rows, or few columns and rows of a side by side, which then are read as panels. */
bool exec_product_turns(const exec_product *product);
exec_product exec_product_turned(const exec_product *product);
/* Whether b is read where it lies by calls of so many rows. */
bool exec_product_reads_b(const exec_product *product, int64_t rows);
/* Bytes of an item that sums are kept in, and of packed operands. */
int64_t exec_product_sum_bytes(const exec_product *product);
/* Workspace of one call of exec_kernels.product over at most so many rows and columns. */
size_t exec_product_bytes(const exec_product *product, int64_t rows, int64_t columns);

/* Where the parts of that workspace begin, in items that sums are kept in: packed rows of a, a packed panel of b, then a sheet of sums,
 * used where the result cannot hold them. None shrinks when rows or columns grow. Rows and columns are those of the product as it is
 * computed: turned, if it turns. */
typedef struct exec_product_room {
    int64_t columns_at, sheet_at, sheet_row, end;
} exec_product_room;
exec_product_room exec_product_room_of(int64_t rows, int64_t columns, int64_t depth);

/* How many lines a lane has of those beside one another, of so many groups of a line for each lane: where lanes have long runs of bytes each a Zen 3
 * reads them all ahead by itself (weights of f16 mapped from a file, lines of 1.5 KiB: 16.1 GB/s in runs of 48 KiB, 13.5 of 10 KiB, 10.4 where lanes
 * are neighbours and the next are asked for). Not such that lanes share the sets of the first cache. */
#define EXEC_RUN 49152      /* bytes at most */
#define EXEC_RUN_ALONE 8192 /* of so many and more nothing need be asked for */
static inline int64_t exec_lines_apart(int64_t groups, int64_t line)
{
    if (line <= 0) return 1;
    int64_t most = line < EXEC_RUN ? EXEC_RUN / line : 1, pieces = (groups + most - 1) / most, apart = (groups + pieces - 1) / pieces;
    return apart > 1 && line % 4096 != 0 && apart * line % 4096 == 0 ? apart - 1 : apart;
}

#define EXEC_DEPTH_BLOCK 256    /* the canonical block */
#define EXEC_TILE_ROWS 14       /* no level's tile has more */
#define EXEC_TILE_COLUMNS 32    /* a multiple of every level's tile columns */
#define EXEC_PACK_ROWS 448      /* rows of a packed at once, 448 KB of f32: half of the second cache */
#define EXEC_PACK_COLUMNS 1024  /* columns that those are used for */
#define EXEC_ROW_COLUMNS 4096   /* that one row is made of at once, at levels that read runs */
#define EXEC_SUM_COLUMNS 256    /* of a sum of products: sums that stay in the second cache while every product adds to them */
#define EXEC_SUM_ITEMS 262144   /* of which so many nearly do. TRIED 65536 and 131072: an LSTM's sums take 1.10 and 1.03 of the time on a Zen 3 */

#define EXEC_SMALL_ROWS 256     /* so few rows do not repay packing b */
#define EXEC_KEPT_ROWS 24      /* do where the first tile packs b as it reads it */
#define EXEC_FEW_ROWS 48       /* nor so few, where its rows are 4 KiB apart and it is small */
#define EXEC_SMALL_COLUMNS 64   /* so few columns do not repay packing a */
#define EXEC_ALONG_ITEMS 262144 /* a b of more is read along its rows by a few rows of a */
#define EXEC_ALONG_ROWS 16      /* so few */

/* One depth block of a product whose left side is read through offsets: result[to[i] + j] = (first ? +0 : what is there) + the chain over k
 * < depth (at most EXEC_DEPTH_BLOCK) of a[row[i] + step[k]] * b[k * b_row + j] (along, f32: a[row[i] + step[k] + j]), and bias[j] added to that where there is one; i < rows, j <
 * columns (at most EXEC_TILE_COLUMNS), j from EXEC_TILE_COLUMNS / 2 on standing at to[i] + apart, no two at one place. f32 and f64. Rows of
 * b and bias, and along, what is read of a, are readable up to a whole number of halves. */
typedef struct exec_gathering {
    wg_kind kind;
    int64_t rows, depth, columns, b_row, apart;
    const void *a, *b, *bias;
    const int64_t *row, *step, *to;
    void *result;
    bool first, along;
} exec_gathering;
#define EXEC_GATHER_ROWS 42 /* a multiple of every level's tile rows */

/* Products over planes: windows over images whose columns are the neighbours. Place i < places of line l of row r, at result + l * result_line +
 * r * result_row + i, is the total of lines' sums, those being of products, those of blocks, each a chain from +0 over its steps k of
 * x[l * x_line + i + step[k]] * weights[k * weights_row + r]; all is added in this order, from +0. Products,
 * sums of a line, totals and what bias[r] makes of these are rounded to `rounded` where that is no `kind` (f32, f64). What is read of x is
 * readable EXEC_PLANE_SLACK items further. */
typedef struct exec_chain {
    int32_t first, steps; /* at most EXEC_DEPTH_BLOCK */
    enum { EXEC_CHAIN_BLOCK, EXEC_CHAIN_PRODUCT, EXEC_CHAIN_LINE } end; /* what ends with it; after the last chain the result does */
} exec_chain;
typedef struct exec_planes {
    wg_kind kind, rounded;
    int64_t lines, places, rows, chains, x_line, weights_row, result_line, result_row;
    const void *x, *weights, *bias; /* bias: NULL: none */
    const int64_t *step;
    const exec_chain *chain;
    void *result;
} exec_planes;
#define EXEC_PLANE_SLACK 16 /* no level has more lanes */

/* Maxima or sums over windows side by side, f32 or f64: the item of position j (at most EXEC_WINDOW_POSITIONS) of window w, i < run, stands
 * at items[j] + w * items_step + i; relu: not below zero. gradient NULL: result[0] gets them, [windows, run], sums by the canonical tree.
 * Else gradient [windows, run] goes back to result[j] + w * result_step + i: that of a sum to each position, that of a maximum by
 * comparisons from the last position down, as the derivative records them. A run has EXEC_WINDOW_RUN items at least, or it is of one window
 * and there is room for as many. */
#define EXEC_WINDOW_RUN 16 /* a multiple of every level's lanes */
#define EXEC_WINDOW_POSITIONS 32
typedef struct exec_window_row {
    wg_kind kind;
    bool relu, sum;
    int64_t positions, windows, run, items_step, result_step;
    const void *items[EXEC_WINDOW_POSITIONS], *gradient;
    void *result[EXEC_WINDOW_POSITIONS];
} exec_window_row;

/* ---- blocks: elementwise operations ---------------------------------------------------------------------------------------- */

typedef enum exec_block {
#define BLOCK(ENUM, name, operands, ROWS, answer) EXEC_BLOCK_##ENUM,
#include "exec/kernel_blocks.def"
/* the elementary functions: EXEC_BLOCK_EXP ..., in f32, f64, f16, bf16 */
#define FORMULA(ENUM, name, arity) EXEC_BLOCK_##ENUM,
#define FORMULA_WIDENED(ENUM, name, arity, body) EXEC_BLOCK_##ENUM,
#include "base/formulas.def"
/* functions by routines, in the same kinds: EXEC_BLOCK_POLYGAMMA ... */
#define ROUTINE(ENUM, name, arity) EXEC_BLOCK_##ENUM,
#include "base/routines.def"
    EXEC_BLOCK_COUNT
} exec_block;
#define EXEC_BLOCK_FORMULAS EXEC_BLOCK_EXP /* the first of them */
#define EXEC_BLOCK_ROUTINES EXEC_BLOCK_POLYGAMMA

/* result[i] = operation(operands[0][i], operands[1][i] ...) for i < count, everything contiguous. Bit o of scalars: operand o is one item
 * for all i. The result may be one of the operands if their items are equally wide. Meant for blocks of a few thousand items that stay in
 * the first cache. EXEC_BLOCK_PAST among the scalars, for f32 and f64: the result had better go past the caches, which elementary functions
 * and joined ones then see to; exec_kernels.stream without bytes ends it. */
#define EXEC_BLOCK_PAST 8u
typedef void (*exec_block_function)(void *result, const void *const *operands, uint32_t scalars, int64_t count);

/* ---- relays ---------------------------------------------------------------------------------------------------------------- */

/* Operations on f32 that hand what they make to the next in registers, EXEC_RELAY_ITEMS at a time: RELAY(ENUM, name). Of x, which was handed
 * on, and y, items at the step: FROM is y - x, INTO y / x. What follows a row as _ONE has one y for all. ASK: items
 * further on are asked for in the caches. SUM adds x to the 64 lanes of a canonical sum at the step, where the level has it. NaNs are the one NaN where STORE_ONE_NAN and STREAM, past the caches and to multiples of 64
 * bytes, put them. */
#define EXEC_RELAYS(RELAY)                                                                                                                \
    RELAY(LOAD, load) RELAY(LOAD_ONE, load_one) RELAY(ASK, ask) RELAY(ADD, add) RELAY(ADD_ONE, add_one) RELAY(SUB, sub)                   \
    RELAY(SUB_ONE, sub_one) RELAY(FROM, from) RELAY(FROM_ONE, from_one) RELAY(MUL, mul) RELAY(MUL_ONE, mul_one) RELAY(DIV, div)           \
    RELAY(DIV_ONE, div_one) RELAY(INTO, into) RELAY(INTO_ONE, into_one) RELAY(MAXIMUM, maximum) RELAY(MAXIMUM_ONE, maximum_one)           \
    RELAY(SQUARE, square) RELAY(NEG, neg) RELAY(ABS, abs) RELAY(SQRT, sqrt) RELAY(EXP, exp) RELAY(TANH, tanh) RELAY(ERF, erf)             \
    RELAY(SUM, sum) RELAY(STORE, store) RELAY(STORE_ONE_NAN, store_one_nan) RELAY(STREAM, stream) RELAY(END, end)
#define EXEC_RELAY_ROW(ENUM, name) EXEC_RELAY_##ENUM,
typedef enum exec_relay { EXEC_RELAYS(EXEC_RELAY_ROW) EXEC_RELAY_COUNT } exec_relay;
#undef EXEC_RELAY_ROW
#define EXEC_RELAY_ITEMS 128
typedef void (*exec_relay_function)(void); /* of the level's own type */
/* The last step's function is END. A group's items are at `items` and as much further as groups lie before it, or for every group there. */
typedef struct exec_relay_step {
    exec_relay_function function;
    const void *items;
    int64_t groups; /* -1: further, 0: there */
} exec_relay_step;

/* What every level answers for a routine; NULL where the kind is no float. */
exec_block_function exec_routine(exec_block routine, wg_kind kind);
/* What every level shares of exec_kernels.convert. */
exec_block_function exec_convert_shared(wg_kind from, wg_kind to, bool wrap);

/* ---- products with quantised weights ---------------------------------------------------------------------- */

/* result [.., columns] = x [.., depth] by the transpose of weights [columns, depth] of a block kind, whose rows are w_row bytes apart.
 * Row i of the product is row which[i] of x, of what was made of x, and of the result (which NULL: row i). Either x is met as it is:
 * `sums` of its parts (where the kind adds; base/block.h), and `packed` where there is more than one row; or `rounded` to integers, with
 * their scales, and the sums of parts (where the kind does not add: those times -bias). */
typedef struct exec_quant {
    wg_kind kind;
    int64_t rows, depth, columns, w_row;
    int64_t items_at;   /* kinds of 32 items: where the bytes of items, or their nibbles, begin in a block */
    bool looks_up;      /* nibbles stand for these numbers */
    int8_t numbers[16];
    int32_t bias;       /* what makes no item negative */
    bool narrow;        /* so raised none is above 15 */
    const int64_t *which;
    const float *x, *sums, *packed;
    const int8_t *rounded;
    const float *scales;
    const int32_t *integer_sums;
    const uint8_t *w;
    float *result;
} exec_quant;

#define EXEC_QUANT_TILE 6      /* rows that are packed side by side */
#define EXEC_QUANT_ROWS 192    /* the most of one call; a multiple of EXEC_QUANT_TILE */
#define EXEC_QUANT_COLUMNS 128 /* the same; calls begin at multiples of EXEC_QUANT_PANEL */
#define EXEC_QUANT_PANEL 32
#define EXEC_QUANT_ROOM 160000 /* bytes of workspace */
#define EXEC_QUANT_FEW 8       /* rows of integers that meet weights as they are unpacked */

static inline int64_t exec_quant_row(const exec_quant *product, int64_t i) { return product->which ? product->which[i] : i; }
static inline bool exec_quant_few(const exec_quant *product, int64_t rows)
{
    return rows > 1 && rows <= EXEC_QUANT_FEW && (product->kind == WG_KIND_Q8_0 || product->kind == WG_KIND_Q4_0);
}
/* A product of a kind, without pointers. */
exec_quant exec_quant_of(wg_kind kind, int64_t rows, int64_t depth, int64_t columns);
/* What is made of x before: rows packed (tiles of EXEC_QUANT_TILE), the sums of parts of rows; and exec_kernels.quant_round, rows rounded. Rows are those of x. */
int64_t exec_quant_pack_floats(int64_t rows, int64_t depth);
void exec_quant_pack(const exec_quant *product, exec_range tiles, float *packed);
void exec_quant_sums(const exec_quant *product, exec_range rows, float *sums);

/* ---- folds: sums, products, extremes, logic; and their scans ---------------------------------------------- */

/* The order of the words of Reduce and Scan. SUB and later are strictly ordered. */
typedef enum exec_fold {
    EXEC_FOLD_SUM,
    EXEC_FOLD_PRODUCT,
    EXEC_FOLD_MAX,
    EXEC_FOLD_MIN,
    EXEC_FOLD_AND,
    EXEC_FOLD_OR,
    EXEC_FOLD_XOR,
    EXEC_FOLD_SUB,
    EXEC_FOLD_DIV,
    EXEC_FOLD_POWF,
    EXEC_FOLD_RESIDUE
} exec_fold;

#define EXEC_FOLD_LANES 64     /* canonical: accumulators of a run */
#define EXEC_FOLD_CHUNK 4096   /* canonical: items of a chunk */
#define EXEC_FOLD_COLUMNS 1024 /* columns that a fold across rows keeps sums for at once */

/* result[output] = fold over extent, output = outer * inner + column: items stand at outer * outer_stride + i * extent_stride + column.
 * The axis' number alone decides the order: the last axis folds along the run (across false; inner 1, extent_stride 1), any other across
 * rows, even where inner is 1. accumulate: f32 or f64 for floats (f16 and bf16: f32 unless asked); integers wrap in their result_kind.
 * SUB, DIV, POWF and RESIDUE fold from the last item to the first: item[i] = operation(item[i], what came after). Empty folds: 0, 1, the
 * least, the greatest, all bits, 0, 0; 0, 1, 1, 0. */
typedef struct exec_reduction {
    exec_fold fold;
    wg_kind kind, accumulate, result_kind;
    bool across;
    int64_t extent, inner, outer_stride, extent_stride;
    const void *items;
    void *result;
} exec_reduction;

/* result has the items' places: contiguous [outer, extent, inner]; result may be items. Lines are (outer, column) pairs in row-major
 * order. */
typedef struct exec_scan {
    exec_fold fold;
    wg_kind kind, from; /* from: of the items, which sums of i32 along a line widen (i16, u8, bool); else the same */
    bool across, reverse;
    bool canonical; /* not across, f32 and f64: NaNs become the one NaN */
    int64_t extent, inner;
    const void *items;
    void *result;
    const exec_pause *pause; /* NULL: not asked */
} exec_scan;

/* Position of the greatest (or least) along the extent, i64: the first of equals, the first NaN; places as in exec_reduction. */
typedef struct exec_extreme {
    wg_kind kind;
    bool least;
    int64_t extent, inner, outer_stride, extent_stride;
    const void *items;
    int64_t *result;
} exec_extreme;

/* Chunk results joined in the canonical tree: neighbours in pairs, level by level, an odd last one moving up. Push the chunks' results in
 * order; equal-sized neighbours join at once, finish joins the rest from the right. */
#define EXEC_TREE_LEVELS 56
typedef struct exec_tree {
    exec_fold fold;
    wg_kind kind; /* f32 or f64 */
    int64_t count;
    uint32_t depth;
    double stack[EXEC_TREE_LEVELS];
} exec_tree;
exec_tree exec_tree_start(exec_fold fold, wg_kind kind);
void exec_tree_push(exec_tree *tree, const void *value);
/* At least one value was pushed. */
void exec_tree_finish(exec_tree *tree, void *value);

/* A softmax as it was recorded: exp of log_softmax (logs), or e / sum e with e = exp(x - m); m and the sum are raised to these where they
 * are less. */
typedef struct exec_weighing {
    bool logs;
    float lowest, least;
} exec_weighing;

/* ---- layout ----------------------------------------------------------------------------------------------- */

/* result[sum i * to_stride] = items[sum i * from_stride] for every index i of shape; strides in items, results may not overlap items.
 * Permute, Narrow, Reverse, Broadcast, Unfold, the parts of Concat and the inside of Pad are copies with the right strides. Fast for runs,
 * transposes and repeats. */
typedef struct exec_copying {
    size_t item_bytes; /* 1, 2, 4, 8 or 16 */
    uint32_t rank;
    int64_t shape[WG_MAX_RANK], to_stride[WG_MAX_RANK], from_stride[WG_MAX_RANK];
    const void *items;
    void *result;
} exec_copying;

/* What is larger is written past the caches, which would not keep it until it is read; reads of more than EXEC_FAR_BYTES are asked for ahead.
 * TRIED to stream from 4 MiB on: a softmax of 16 MiB a third slower where a third cache keeps it; 40 MiB are a tenth faster streamed. */
#define EXEC_STREAM_BYTES ((int64_t)32 << 20)
#define EXEC_FAR_BYTES ((int64_t)4 << 20)

/* count times the item, of 1, 2, 4, 8 or 16 bytes. */
void exec_fill(void *result, const void *item, size_t item_bytes, int64_t count);

/* ---- indexing (one form for every level) ------------------------------------------------------------------ */

/* The order of the words of `outside`. */
typedef enum exec_outside { EXEC_OUTSIDE_ERROR, EXEC_OUTSIDE_FILL, EXEC_OUTSIDE_CLAMP, EXEC_OUTSIDE_SKIP } exec_outside;

/* Data [batch, pre, extent, post], positions [batch, each] of i64 or i32, rows [batch, pre, each, post]. A slab is one of batch * pre. */
typedef struct exec_indexing {
    wg_kind kind, position_kind;
    exec_outside outside;
    bool replace; /* Scatter: put, not add */
    size_t item_bytes;
    int64_t batch, pre, extent, post, each;
    const void *items, *positions;
    const void *fill; /* Gather: one item */
    void *result;
} exec_indexing;

/* Rows [first, end) of batch * pre * each from the data `items`. Answers the least item of positions that is an error, or -1; such rows
 * are not written. */
int64_t exec_gather(const exec_indexing *indexing, exec_range rows);
/* Adds (or puts) rows `items` into zeroed data `result`, ascending row: all of the columns [first, end) of post in the slabs given.
 * Positions must have passed exec_positions_check. Workspace: exec_scatter_bytes. */
void exec_scatter(const exec_indexing *indexing, exec_range slabs, exec_range columns, void *workspace);
size_t exec_scatter_bytes(const exec_indexing *indexing);
/* The first of positions [first, end) of batch * each that is an error, or -1. */
int64_t exec_positions_check(const exec_indexing *indexing, exec_range items);
/* Slice: `each` positions from start positions[batch] of `items` to `result`. Update: rows `items` over those of `result`, which holds the
 * data. Starts are clamped, or with EXEC_OUTSIDE_ERROR the first bad one is answered (its slabs are not written); else -1. */
int64_t exec_slice(const exec_indexing *indexing, exec_range slabs, bool update);

/* The transpose of Unfold: items [outer, windows, size, inner] added into result [outer, extent, inner]; rows are (outer, position). */
typedef struct exec_folding {
    wg_kind kind;
    int64_t windows, size, inner, step, dilation, extent;
    const void *items;
    void *result;
} exec_folding;
void exec_fold_windows(const exec_folding *folding, exec_range rows);

/* Where: how many of the items are true, and their positions into as many places of result. */
/* Where the bits of four flags are set, and how many are. */
typedef struct exec_four_places {
    int64_t at[4], count;
} exec_four_places;
extern const exec_four_places exec_four_places_of[16];
int64_t exec_where_count(const uint8_t *condition, exec_range items);
void exec_where(const uint8_t *condition, exec_range items, int64_t count, int64_t *result);
/* Items [first, end) of [outer, extent, inner]: each its place along extent. */
void exec_iota(wg_kind kind, int64_t extent, int64_t inner, void *result, exec_range items);
/* Random items by their row-major index: the order of the words of `distribution`. */
typedef enum exec_draw { EXEC_DRAW_UNIFORM, EXEC_DRAW_NORMAL, EXEC_DRAW_BITS, EXEC_DRAW_EXPONENTIAL } exec_draw;
#define EXEC_DRAW_LANES 8 /* blocks side by side: a multiple of every level's */

/* ---- order (one form for every level)
 * --------------------------------------------------------------------------------------------------- */

/* Each line of items [outer, extent, inner] in order: its first `wanted` to result and positions [outer, wanted, inner], either of which
 * may be NULL. Stable both ways, -0 equals 0, NaN after every number (first when descending): Sort and Grade have wanted = extent, TopK is
 * descending. Every kind but the complex ones. */
typedef struct exec_ordering {
    const struct exec_kernels *kernels;
    wg_kind kind;
    bool descending;
    int64_t extent, inner, wanted;
    const void *items;
    void *result;
    int64_t *positions;
    const exec_pause *pause; /* NULL: not asked */
} exec_ordering;
void exec_order(const exec_ordering *ordering, exec_range lines, void *workspace);
/* One long line by threads, where exec_order_cuts: runs of `width` items are put in order, each in a range of its own; then, `turn` after
 * turn from 0 on, pairs of runs of width * 2^turn become one, any ranges of places at a time, until there is one run; then its places are
 * finished, any ranges at a time, and then the line. All have one workspace. Answers of finish_line: as of go_on. */
bool exec_order_cuts(const exec_ordering *ordering);
/* Such a line whose keys lie so close that one thread counts them faster than several sort them: in order then. False: they do not. */
bool exec_order_counted(const exec_ordering *ordering, void *workspace);
void exec_order_run(const exec_ordering *ordering, exec_range items, void *workspace);
void exec_order_merge(const exec_ordering *ordering, int64_t width, uint32_t turn, exec_range places, void *workspace);
void exec_order_finish(const exec_ordering *ordering, uint32_t turns, exec_range places, void *workspace);
void exec_order_zeros(const exec_ordering *ordering);
/* Keys in order by their digits; spare has room for as many. False when it was left unfinished: some keys may then be there twice. */
bool exec_sort_digits_32(uint32_t *keys, int64_t count, uint32_t *spare, const exec_pause *pause);
bool exec_sort_digits_64(uint64_t *keys, int64_t count, uint64_t *spare, const exec_pause *pause);
size_t exec_order_bytes(const exec_ordering *ordering);

/* FirstIndex: the first place in a list equal to each of `wanted` items, length where there is none (NaN equals nothing). The list is made
 * ready in a workspace of exec_places_bytes, which every search reads. pause may be NULL; a list left unfinished is not to be searched. */
typedef struct exec_places {
    wg_kind kind;
    int64_t length, wanted;
    const void *list;
} exec_places;
size_t exec_places_bytes(const exec_places *places);
void exec_places_list(const exec_places *places, void *workspace, const exec_pause *pause);
void exec_first_index(const exec_places *places, const void *workspace, const void *wanted, int64_t *result, exec_range items,
                      const exec_pause *pause);
/* Bins: how many of a list's items lie below each value (or are equal to it); the list made ready in the same way. */
size_t exec_bins_bytes(wg_kind kind, int64_t length);
void exec_bins_list(const struct exec_kernels *kernels, wg_kind kind, const void *list, int64_t length, void *workspace, const exec_pause *pause);
void exec_bins(wg_kind kind, int64_t length, const void *workspace, bool or_equal, const void *values, int64_t *result, exec_range items);

/* ---- the table of a level --------------------------------------------------------------------------------- */

typedef struct exec_kernels {
    const char *name;
    int64_t shared_rows; /* of a task that uses shared columns of b: its sums and as many rows of a stay in the second cache */
    int64_t row_columns; /* that one row is made of at once */
    int64_t short_lines; /* a row by lines of b of no more columns reads depth blocks side by side */
    bool asks_spread;    /* whether many requests to memory at once make the processor wait: they are spread among lines and pieces */
    bool relay_alone;    /* whether a relay of one step, which sees to NaNs or divides by one number, is faster than the step */
#define KERNEL(answer, name, parameters) answer(*name) parameters;
#include "exec/kernels.def"
} exec_kernels;

/* ---- made of the kernels of a level
 * ----------------------------------------------------------------------------------------------------- */

/* Contiguous floats [outer, extent, inner]; across as in exec_reduction. LogSumExp to [outer, inner]; whole: LogSoftmax to every item
 * (result may be items). Lines are (outer, column) pairs. */
typedef struct exec_log {
    wg_kind kind;
    bool across, whole;
    int64_t extent, inner;
    const void *items;
    void *result;
} exec_log;
void exec_log_domain(const exec_kernels *kernels, const exec_log *log, exec_range lines);

/* result[i] = join over the places of a window, from the first on: join(join(w0, w1), w2) ... where w_k is items[sum i * stride + window
 * place k]; result is contiguous in shape (rank >= 1), the window not empty. Rows are all axes but the last. Max-pooling is join
 * EXEC_BLOCK_MAXIMUM over (dy, dx). */
typedef struct exec_window {
    wg_kind kind;
    exec_block join;
    uint32_t rank;
    int64_t shape[WG_MAX_RANK], stride[WG_MAX_RANK];
    exec_side window;
    const void *items;
    void *result;
} exec_window;
void exec_window_reduce(const exec_kernels *kernels, const exec_window *window, exec_range rows);

/* ---- choosing a level
 * -------------------------------------------------------------------------------------------------------------------- */

/* The table called by `level` ("v2", "base" or, on AArch64, "neon": what every machine runs; "v3", "v4"), or the best that this processor
 * has when level is NULL, "", unknown or beyond the processor. */
const exec_kernels *exec_kernels_for(const char *level);
/* The tables that this processor runs, best last. */
uint32_t exec_kernels_count(void);
const exec_kernels *exec_kernels_at(uint32_t index);

#endif
