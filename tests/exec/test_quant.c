/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Rows over quantised weights: the session against the oracle, bit for bit, for each block kind, level and number of threads, over sizes
 * around the vectors, chunks and tiles of the kernels; and the oracle against sums in f64. */
#include "exec/equivalence.h"
#include "support/blocks.h"
#include "wengert/compose.h"

/* Takes the tape. */
static void check(const char *what, wg_tape *tape, wg_value value)
{
    char why[2048] = "";
    wg_error error = {0};
    wg_symbol root = wg_symbol_of(value);
    wg_network *network = wg_tape_seal(&tape, &error);
    wg_entry_options options = {.size = sizeof options, .roots = &root, .root_count = 1};
    wg_entry *entry = network ? wg_entry_new(network, &options, &error) : NULL;
    if (!entry) fail_msg("%s: %s", what, error.message);
    if (!equivalence_holds(entry, NULL, why, sizeof why)) fail_msg("%s: %s", what, why);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

static const char *const activations[] = {"f32", "q8"};

typedef struct sizes {
    int64_t rows, columns, blocks; /* of 256 items, or of 32 */
} sizes;

/* Rows: one, a part of a tile, a tile, as many as meet weights that are unpacked and one more, more than a call. Columns: less than a vector,
 * vectors and a rest, more than a call. */
static const sizes shapes[] = {{1, 1, 1}, {1, 37, 3}, {1, 150, 9}, {2, 16, 1}, {3, 33, 2}, {7, 17, 8}, {13, 64, 9}, {200, 5, 1}, {4, 131, 11}, {8, 203, 5}, {9, 40, 2}};

static wg_tensor *rows_of(test_draws *draws, int64_t rows, int64_t depth, bool wild)
{
    wg_tensor *x = test_tensor_draw(draws, WG_KIND_F32, 2, TEST_SHAPE(rows, depth), -2, 2);
    float *items = wg_tensor_data(x);
    for (int64_t i = 0; wild && i < rows * depth; i++)
        if (!test_draw_below(draws, 900)) items[i] = i % 3 ? __builtin_inff() : i % 2 ? __builtin_nanf("") : -0.0f;
    return x;
}

static void products(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(11);
    for (wg_kind kind = TEST_FIRST_BLOCK_KIND; kind < WG_KIND_COUNT; kind++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (int a = 0; a < 2; a++) {
                char what[128];
                int64_t block = wg_kind_block(kind), depth = (block == 256 && shapes[s].blocks > 2 ? 2 : shapes[s].blocks) * block;
                bool wild = s % 4 == 3;
                snprintf(what, sizeof what, "%s %s: %d x %d x %d", wg_kind_name(kind), activations[a], (int)shapes[s].rows, (int)depth, (int)shapes[s].columns);
                wg_tape *tape = wg_tape_new(NULL);
                wg_value x = wg_input(tape, rows_of(&draws, shapes[s].rows, depth, wild));
                wg_value w = wg_parameter(tape, test_blocks(&draws, kind, 2, TEST_SHAPE(shapes[s].columns, depth), wild));
                check(what, tape, wg_qmatmul_activation(x, w, activations[a]));
            }
}

/* The greatest sums that rounded rows make: all bytes of weights alike, all rounded items of x 127 from zero. */
static void greatest_sums(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0x80, 0x3b, 0xef};
    test_draws draws = test_draws_new(15);
    for (wg_kind kind = TEST_FIRST_BLOCK_KIND; kind < WG_KIND_COUNT; kind++)
        for (size_t b = 0; b < sizeof bytes; b++)
            for (int64_t rows = 1; rows <= 5; rows += 4) {
                int64_t depth = 2 * wg_kind_block(kind);
                wg_tensor *x = test_tensor_draw(&draws, WG_KIND_F32, 2, TEST_SHAPE(rows, depth), -1, 1);
                wg_tensor *w = test_blocks(&draws, kind, 2, TEST_SHAPE(17, depth), false);
                float *items = wg_tensor_data(x);
                for (int64_t i = 0; i < rows * depth; i++) items[i] = i / depth % 3 == 0 ? 1 : i / depth % 3 == 1 ? -1 : i % 2 ? -1.0f : 1.0f;
                memset(wg_tensor_data(w), bytes[b], (size_t)base_kind_bytes(kind, 17 * depth));
                wg_tape *tape = wg_tape_new(NULL);
                check(wg_kind_name(kind), tape, wg_qmatmul_activation(wg_input(tape, x), wg_parameter(tape, w), "q8"));
            }
}

/* Weights that are parts of larger ones, rows with axes in front, and rows that are turned. */
static void views(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(12);
    for (wg_kind kind = TEST_FIRST_BLOCK_KIND; kind < WG_KIND_COUNT; kind++) {
        int64_t block = wg_kind_block(kind);
        wg_tape *tape = wg_tape_new(NULL);
        wg_value x = wg_input(tape, test_tensor_draw(&draws, WG_KIND_F32, 3, TEST_SHAPE(2, block, 3), -1, 1));
        wg_value w = wg_parameter(tape, test_blocks(&draws, kind, 2, TEST_SHAPE(40, 3 * block), false));
        wg_value rows = wg_narrow(w, 0, wg_number(3), wg_number(35));
        wg_value part = wg_narrow(rows, 1, wg_number(block), wg_number(block));
        check(wg_kind_name(kind), tape, wg_qmatmul(wg_transpose(x), part));
        tape = wg_tape_new(NULL);
        w = wg_parameter(tape, test_blocks(&draws, kind, 2, TEST_SHAPE(9, 3 * block), true));
        part = wg_narrow_step(wg_narrow(w, 1, wg_number(block), wg_number(2 * block)), 0, wg_number(1), wg_number(4), 2);
        check(wg_kind_name(kind), tape, wg_convert(part, WG_KIND_F32));
        tape = wg_tape_new(NULL); /* blocks that are read after the run */
        w = wg_input(tape, test_blocks(&draws, kind, 3, TEST_SHAPE(4, 2, 3 * block), true));
        check(wg_kind_name(kind), tape, wg_narrow(wg_narrow(w, 2, wg_number(block), wg_number(2 * block)), 0, wg_number(1), wg_number(2)));
    }
}

static void experts(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(13);
    static const sizes few[] = {{1, 5, 1}, {2, 40, 2}, {30, 33, 3}, {400, 9, 1}};
    for (wg_kind kind = WG_KIND_F16; kind < WG_KIND_COUNT; kind++)
        for (size_t s = 0; s < sizeof few / sizeof *few; s++)
            for (int a = 0; a < 2; a++) {
                bool blocks = kind >= TEST_FIRST_BLOCK_KIND;
                int64_t block = blocks ? wg_kind_block(kind) : 150, depth = block == 256 ? block : few[s].blocks * block;
                if (kind > WG_KIND_F64 && !blocks) continue;
                char what[128];
                snprintf(what, sizeof what, "experts %s %s: %d x %d x %d", wg_kind_name(kind), activations[a], (int)few[s].rows, (int)depth, (int)few[s].columns);
                wg_tape *tape = wg_tape_new(NULL);
                wg_kind of_x = blocks ? WG_KIND_F32 : kind;
                int64_t shape[3] = {5, few[s].columns, depth};
                wg_value x = wg_input(tape, test_tensor_draw(&draws, of_x, 2, TEST_SHAPE(few[s].rows, depth), -1, 1));
                wg_tensor *weights = blocks ? test_blocks(&draws, kind, 3, shape, false) : test_tensor_draw(&draws, kind, 3, shape, -1, 1);
                wg_value w = wg_parameter(tape, weights);
                wg_tensor *of_row = test_tensor_draw(&draws, s % 2 ? WG_KIND_I32 : WG_KIND_I64, 1, TEST_SHAPE(few[s].rows), 0, 5);
                wg_value e = wg_input(tape, of_row);
                check(what, tape, wg_expert_matmul_activation(x, w, e, activations[a]));
            }
}

/* Turned weights of floats are followed by their strides; an expert that is not there fails alike. */
static void experts_of_views(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(14);
    for (int outside = 0; outside < 2; outside++) {
        wg_tape *tape = wg_tape_new(NULL);
        wg_value x = wg_input(tape, test_tensor_draw(&draws, WG_KIND_F32, 2, TEST_SHAPE(9, 70), -1, 1));
        wg_value w = wg_parameter(tape, test_tensor_draw(&draws, WG_KIND_F32, 3, TEST_SHAPE(4, 70, 21), -1, 1));
        wg_value e = wg_input(tape, test_tensor(WG_KIND_I64, 1, TEST_SHAPE(9), (double[]){0, 3, 2, 2, outside ? 4 : 1, 3, 0, outside ? -1 : 0, 2}));
        check("experts of a view", tape, wg_expert_matmul(x, wg_transpose(w), e));
    }
}

static void gathers(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(15);
    static const char *const outside[] = {"error", "fill", "clamp"};
    for (wg_kind kind = TEST_FIRST_BLOCK_KIND; kind < WG_KIND_COUNT; kind++)
        for (int o = 0; o < 3; o++) {
            int64_t block = wg_kind_block(kind);
            wg_tape *tape = wg_tape_new(NULL);
            wg_value w = wg_parameter(tape, test_blocks(&draws, kind, 2, TEST_SHAPE(30, 2 * block), true));
            wg_value at = wg_input(tape, test_tensor(WG_KIND_I64, 2, TEST_SHAPE(2, 3), (double[]){29, 0, o ? -3 : 7, 7, o ? 30 : 1, 4}));
            check(wg_kind_name(kind), tape, wg_gather_batch(w, at, 0, 0, outside[o], 0.5));
            tape = wg_tape_new(NULL);
            w = wg_input(tape, test_blocks(&draws, kind, 4, TEST_SHAPE(2, 3, 5, block), true));
            at = wg_input(tape, test_tensor(WG_KIND_I32, 2, TEST_SHAPE(2, 3), (double[]){4, 0, 1, 2, o == 2 ? 9 : 3, 0}));
            check(wg_kind_name(kind), tape, wg_gather_batch(w, at, 2, 1, outside[o], -1));
            tape = wg_tape_new(NULL); /* a position that is not there fails alike */
            w = wg_parameter(tape, test_blocks(&draws, kind, 2, TEST_SHAPE(3, block), false));
            at = wg_input(tape, test_tensor(WG_KIND_I64, 1, TEST_SHAPE(3), (double[]){2, 3, -1}));
            check(wg_kind_name(kind), tape, wg_gather(w, at, 0));
        }
}

static void nothing_at_all(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(16);
    static const int64_t some[][3] = {{0, 64, 3}, {2, 0, 3}, {2, 64, 0}};
    for (size_t s = 0; s < 3; s++) {
        int64_t rows = some[s][0], depth = some[s][1], columns = some[s][2];
        wg_tape *tape = wg_tape_new(NULL);
        wg_value x = wg_input(tape, test_tensor_draw(&draws, WG_KIND_F32, 2, TEST_SHAPE(rows, depth), -1, 1));
        wg_value w = wg_input(tape, test_blocks(&draws, WG_KIND_Q4_1, 2, TEST_SHAPE(columns, depth), false));
        check("an empty product", tape, wg_qmatmul(x, w));
        tape = wg_tape_new(NULL);
        x = wg_input(tape, test_tensor_draw(&draws, WG_KIND_F32, 2, TEST_SHAPE(rows, depth), -1, 1));
        w = wg_input(tape, test_blocks(&draws, WG_KIND_Q4_1, 3, TEST_SHAPE(2, columns, depth), false));
        check("an empty product of experts", tape, wg_expert_matmul(x, w, wg_input(tape, test_tensor_fill(WG_KIND_I64, 1, TEST_SHAPE(rows), 1))));
        tape = wg_tape_new(NULL);
        x = wg_input(tape, test_tensor_draw(&draws, WG_KIND_F32, 2, TEST_SHAPE(rows, depth), -1, 1));
        w = wg_input(tape, test_tensor_draw(&draws, WG_KIND_F32, 3, TEST_SHAPE(2, columns, depth), -1, 1));
        check("an empty product of experts", tape, wg_expert_matmul(x, w, wg_input(tape, test_tensor_fill(WG_KIND_I64, 1, TEST_SHAPE(rows), 1))));
        tape = wg_tape_new(NULL);
        w = wg_input(tape, test_blocks(&draws, WG_KIND_Q8_0, 2, TEST_SHAPE(columns, depth), false));
        check("empty values", tape, wg_convert(w, WG_KIND_F32));
    }
}

/* The definition is that of a product: the oracle is near the sum in f64 of the values. */
static void near_the_sum(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(17);
    for (wg_kind kind = TEST_FIRST_BLOCK_KIND; kind < WG_KIND_COUNT; kind++)
        for (int a = 0; a < 2; a++) {
            int64_t rows = 3, columns = 7, depth = 1024;
            wg_error error = {0};
            wg_tensor *x = test_tensor_draw(&draws, WG_KIND_F32, 2, TEST_SHAPE(rows, depth), -1, 1),
                      *w = test_blocks(&draws, kind, 2, TEST_SHAPE(columns, depth), false);
            wg_tensor *got = wg_op_run(NULL, WG_OP_QMatMul, (const wg_tensor *const[]){x, w}, 2, TEST_SHAPE(a), 1, &error);
            wg_tensor *values = wg_op_run(NULL, WG_OP_Convert, (const wg_tensor *const[]){w}, 1, TEST_SHAPE(WG_KIND_F32, 0), 2, &error);
            if (!got || !values) fail_msg("%s", error.message);
            for (int64_t i = 0; i < rows * columns; i++) {
                double sum = 0, size = 0;
                for (int64_t k = 0; k < depth; k++) {
                    double term = test_item(x, i / columns * depth + k) * test_item(values, i % columns * depth + k);
                    sum += term;
                    size += term < 0 ? -term : term;
                }
                double off = test_item(got, i) - sum, bound = size * (a ? 1.0 / 127 : 1e-6);
                if (!(off <= bound && off >= -bound)) fail_msg("%s %s: %g is not %g", wg_kind_name(kind), activations[a], test_item(got, i), sum);
            }
            wg_tensor_release(x);
            wg_tensor_release(w);
            wg_tensor_release(got);
            wg_tensor_release(values);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),
        cmocka_unit_test(greatest_sums), cmocka_unit_test(views),          cmocka_unit_test(experts),     cmocka_unit_test(experts_of_views),
        cmocka_unit_test(gathers),         cmocka_unit_test(nothing_at_all), cmocka_unit_test(near_the_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
