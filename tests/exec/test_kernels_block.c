/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Elementwise blocks against one item at a time: floats in f64 or f32 of the C compiler, integers in 128 bits cut to the kind's width. */
#include "base/routines.h"
#include "base/scalar.h"
#include "test_kernels_common.h"

static const struct {
    const char *name;
    uint32_t arity;
    bool answers_bool;
} facts[] = {
#define BLOCK(ENUM, name, operands, ROWS, answer) {#name, operands, #answer[0] == 'B'},
#include "exec/kernel_blocks.def"
};

static double nearest(double x)
{
    if (!(x < 4503599627370496.0 && x > -4503599627370496.0) || x == 0) return x;
    double whole = (double)(int64_t)x, rest = x - whole, half = rest < 0 ? -rest : rest;
    int64_t n = (int64_t)whole;
    if (half > 0.5 || (half == 0.5 && n % 2 != 0)) whole += x < 0 ? -1 : 1;
    return whole == 0 && x < 0 ? -0.0 : whole;
}

static double lower(double x)
{
    if (!(x < 4503599627370496.0 && x > -4503599627370496.0) || x == 0) return x;
    double whole = (double)(int64_t)x;
    return whole > x ? whole - 1 : whole;
}

static bool minus(double x) { return __builtin_signbit(x) != 0; }

static double greater_of(double x, double y)
{
    if (x != x || y != y) return __builtin_nan("");
    if (x == y) return minus(x) ? y : x;
    return x > y ? x : y;
}

/* Of magnitudes, by subtraction of the greatest multiple 2^n b: exact at each step. */
static double greatest_divisor(double a, double b)
{
    if (a != a || b != b || a > 1e300 * 1e8 || b > 1e300 * 1e8) return __builtin_nan("");
    while (b > 0) {
        while (a >= b) {
            double step = b;
            while (step <= a / 2) step *= 2;
            a -= step;
        }
        double kept = a;
        a = b;
        b = kept;
    }
    return a;
}

/* x and y are items of kind; arithmetic is rounded to `narrow` where that is f32. */
static double float_answer(exec_block operation, double x, double y, bool narrow)
{
    double one = x < 0 ? -1 : 1;
    switch (operation) {
    case EXEC_BLOCK_ADD: return narrow ? (float)x + (float)y : x + y;
    case EXEC_BLOCK_SUB: return narrow ? (float)x - (float)y : x - y;
    case EXEC_BLOCK_MUL: return narrow ? (float)x * (float)y : x * y;
    case EXEC_BLOCK_DIV: return narrow ? (float)x / (float)y : x / y;
    case EXEC_BLOCK_NEG: return -x;
    case EXEC_BLOCK_ABS: return minus(x) ? -x : x;
    case EXEC_BLOCK_SIGN: return x == 0 || x != x ? x : one;
    case EXEC_BLOCK_MAXIMUM: return greater_of(x, y);
    case EXEC_BLOCK_MINIMUM: return -greater_of(-x, -y);
    case EXEC_BLOCK_FLOOR: return lower(x);
    case EXEC_BLOCK_CEIL: return -lower(-x);
    case EXEC_BLOCK_ROUND: return nearest(x);
    case EXEC_BLOCK_SQRT: return narrow ? __builtin_sqrtf((float)x) : __builtin_sqrt(x);
    case EXEC_BLOCK_STEP: return x >= y ? 1 : 0;
    case EXEC_BLOCK_RESIDUE: return narrow ? base_residue_f32((float)x, (float)y) : base_residue_f64(x, y);
    case EXEC_BLOCK_FLOOR_DIVIDE: return narrow ? base_floor_divide_f32((float)x, (float)y) : base_floor_divide_f64(x, y);
    case EXEC_BLOCK_GCD: return greatest_divisor(minus(x) ? -x : x, minus(y) ? -y : y);
    default: fail(); return 0;
    }
}

/* The sign of an item of an integer kind, bool or char. */
static bool is_signed(wg_kind kind) { return base_kinds[kind].class == BASE_CLASS_SIGNED; }

static __int128 floor_quotient(__int128 x, __int128 y) { return x / y - (x % y != 0 && (x < 0) != (y < 0)); }

static __int128 integer_answer(exec_block operation, __int128 x, __int128 y, int width, wg_kind kind)
{
    switch (operation) {
    case EXEC_BLOCK_ADD: return x + y;
    case EXEC_BLOCK_SUB: return x - y;
    case EXEC_BLOCK_MUL: return (__int128)((unsigned __int128)x * (unsigned __int128)y);
    case EXEC_BLOCK_DIV: return y == 0 ? 0 : x / y;
    case EXEC_BLOCK_NEG: return -x;
    case EXEC_BLOCK_ABS: return x < 0 ? -x : x;
    case EXEC_BLOCK_SIGN: return x < 0 ? -1 : x > 0;
    case EXEC_BLOCK_MAXIMUM: return x > y ? x : y;
    case EXEC_BLOCK_MINIMUM: return x < y ? x : y;
    case EXEC_BLOCK_RESIDUE: return y == 0 ? 0 : x - y * floor_quotient(x, y);
    case EXEC_BLOCK_FLOOR_DIVIDE: return y == 0 ? 0 : floor_quotient(x, y);
    case EXEC_BLOCK_GCD: {
        __int128 a = x < 0 ? -x : x, b = y < 0 ? -y : y;
        for (; b != 0;) {
            __int128 rest = a % b;
            a = b;
            b = rest;
        }
        return a;
    }
    case EXEC_BLOCK_FLOOR: case EXEC_BLOCK_CEIL: case EXEC_BLOCK_ROUND: return x;
    case EXEC_BLOCK_STEP: return x >= y;
    case EXEC_BLOCK_AND: return x & y;
    case EXEC_BLOCK_OR: return x | y;
    case EXEC_BLOCK_XOR: return x ^ y;
    case EXEC_BLOCK_NOT: return kind == WG_KIND_BOOL ? !x : ~x;
    case EXEC_BLOCK_SHIFT_LEFT: return y < 0 || y >= width ? 0 : (__int128)((unsigned __int128)x << y);
    case EXEC_BLOCK_SHIFT_RIGHT: return y < 0 || y >= width ? (x < 0 ? -1 : 0) : x >> y;
    default: fail(); return 0;
    }
}

static bool compare_floats(exec_block operation, double x, double y)
{
    switch (operation) {
    case EXEC_BLOCK_EQUAL: return x == y;
    case EXEC_BLOCK_NOT_EQUAL: return x != y;
    case EXEC_BLOCK_LESS: return x < y;
    case EXEC_BLOCK_LESS_EQUAL: return x <= y;
    case EXEC_BLOCK_GREATER: return x > y;
    default: return x >= y;
    }
}
static bool compare_integers(exec_block operation, __int128 x, __int128 y)
{
    switch (operation) {
    case EXEC_BLOCK_EQUAL: return x == y;
    case EXEC_BLOCK_NOT_EQUAL: return x != y;
    case EXEC_BLOCK_LESS: return x < y;
    case EXEC_BLOCK_LESS_EQUAL: return x <= y;
    case EXEC_BLOCK_GREATER: return x > y;
    default: return x >= y;
    }
}

static __int128 integer_of(wg_kind kind, const void *items, int64_t i)
{
    base_number number = base_number_load(kind, items, i);
    return is_signed(kind) ? (__int128)number.i : (__int128)number.u;
}

static void answer_one(exec_block operation, wg_kind kind, void *result, int64_t i, const void *const *operands, const int64_t *at)
{
    size_t bytes = wg_kind_bytes(kind);
    if (operation == EXEC_BLOCK_SELECT) {
        int which = ((const uint8_t *)operands[0])[at[0]] != 0 ? 1 : 2;
        memcpy((char *)result + (size_t)i * bytes, (const char *)operands[which] + (size_t)at[which] * bytes, bytes);
    } else if (base_kind_is_float(kind)) {
        double x = base_number_load(kind, operands[0], at[0]).d, y = facts[operation].arity > 1 ? base_number_load(kind, operands[1],
                at[1]).d : 0;
        if (facts[operation].answers_bool) ((uint8_t *)result)[i] = compare_floats(operation, x, y);
        else base_number_store(kind, result, i, (base_number){.d = float_answer(operation, x, y, kind != WG_KIND_F64)});
    } else {
        __int128 x = integer_of(kind, operands[0], at[0]), y = facts[operation].arity > 1 ? integer_of(kind, operands[1], at[1]) : 0;
        if (facts[operation].answers_bool) {
            ((uint8_t *)result)[i] = compare_integers(operation, x, y);
        } else {
            __int128 answer = integer_answer(operation, x, y, 8 * (int)bytes, kind);
            memcpy((char *)result + (size_t)i * bytes, &answer, bytes);
        }
    }
}

/* Here and there a NaN that is not the one NaN. */
static void fill_odd_nans(wg_kind kind, void *items, int64_t count)
{
    for (int64_t i = random_below(5); i < count && (kind == WG_KIND_F32 || kind == WG_KIND_F64); i += 1 + random_below(40)) {
        if (kind == WG_KIND_F32) ((uint32_t *)items)[i] = 0xffc00000 + (uint32_t)random_below(9);
        else ((uint64_t *)items)[i] = 0xfff8000000000000 + (uint64_t)random_below(9);
    }
}

/* What a level tells of its NaNs holds. */
static void expect_one_nan(const exec_kernels *kernels, exec_block operation, wg_kind kind, void *result, int64_t count)
{
    if (kernels->one_nan(operation, kind)) assert_false(base_canonical_nan(kind, result, count, false));
}

static void check(exec_block operation, wg_kind kind, int64_t count, uint32_t scalars)
{
    size_t bytes = wg_kind_bytes(kind);
    void *operands[3] = {0};
    for (uint32_t o = 0; o < facts[operation].arity; o++) {
        wg_kind its = operation == EXEC_BLOCK_SELECT && o == 0 ? WG_KIND_BOOL : kind;
        int64_t items = scalars >> o & 1 ? 1 : count;
        operands[o] = room(items * (int64_t)wg_kind_bytes(its));
        fill_random(its, operands[o], items, true);
        fill_odd_nans(its, operands[o], items);
    }
    wg_kind answer_kind = facts[operation].answers_bool ? WG_KIND_BOOL : kind;
    int64_t answer_bytes = count * (int64_t)wg_kind_bytes(answer_kind);
    void *expected = room(answer_bytes), *result = room(answer_bytes);
    for (int64_t i = 0; i < count; i++) {
        int64_t at[3];
        for (uint32_t o = 0; o < 3; o++) at[o] = scalars >> o & 1 ? 0 : i;
        answer_one(operation, kind, expected, i, (const void *const *)operands, at);
    }
    FOR_EACH_LEVEL(kernels) {
        exec_block_function function = kernels->block(operation, kind);
        if (function == NULL) continue;
        memset(result, 0x77, (size_t)answer_bytes);
        function(result, (const void *const *)operands, scalars, count);
        EXPECT_SAME(answer_kind, result, expected, count, facts[operation].name);
        if (answer_kind == kind) expect_one_nan(kernels, operation, kind, result, count);
        if (answer_kind == kind && facts[operation].arity == 2 && !(scalars & 1)) { /* over the first operand */
            memcpy(result, operands[0], (size_t)count * bytes);
            const void *over[2] = {result, operands[1]};
            function(result, over, scalars, count);
            EXPECT_SAME(answer_kind, result, expected, count, "in place");
        }
    }
    for (uint32_t o = 0; o < 3; o++) free(operands[o]);
    free(expected);
    free(result);
}

static void test_operations(void **state)
{
    (void)state;
    static const int64_t counts[] = {0, 1, 3, 7, 8, 15, 16, 17, 33, 64, 100, 1037};
    for (exec_block operation = 0; operation < EXEC_BLOCK_FORMULAS; operation++)
        for (wg_kind kind = 0; kind < WG_KIND_SINGLES; kind++) {
            if (exec_kernels_at(0)->block(operation, kind) == NULL) continue;
            for (int trial = 0; trial < 24; trial++) check(operation, kind, counts[trial % 12],
                    (uint32_t)random_below(1 << facts[operation].arity));
        }
}

/* One pass of two operations is the one pass after the other, over its operands too; NaNs are the one NaN. */
static void check_joined(exec_block first, exec_block second, bool right, wg_kind kind, int64_t count, uint32_t scalars)
{
    int64_t width = (int64_t)wg_kind_bytes(kind), bytes = count * width;
    void *operands[3], *between = room(bytes), *expected = room(bytes), *result = room(bytes);
    for (uint32_t o = 0; o < 3; o++) {
        operands[o] = room(scalars >> o & 1 ? width : bytes);
        fill_random(kind, operands[o], scalars >> o & 1 ? 1 : count, true);
        fill_odd_nans(kind, operands[o], scalars >> o & 1 ? 1 : count);
    }
    const exec_kernels *base = exec_kernels_at(0);
    uint32_t last = second == EXEC_BLOCK_NEG ? 0 : (scalars >> 2 & 1) << !right;
    base->block(first, kind)(between, (const void *const *)operands, scalars & 3, count);
    base->block(second, kind)(expected, right ? (const void *const[]){operands[2], between} : (const void *const[]){between, operands[2]}, last, count);
    FOR_EACH_LEVEL(kernels) {
        exec_block_function function = kernels->joined(first, second, right, kind);
        if (!function) continue;
        function(result, (const void *const *)operands, scalars, count);
        EXPECT_SAME(kind, result, expected, count, "joined");
        expect_one_nan(kernels, EXEC_BLOCK_FORMULAS, kind, result, count);
        function(result, (const void *const *)operands, scalars | EXEC_BLOCK_PAST, count);
        EXPECT_SAME(kind, result, expected, count, "joined, past the caches");
        if (scalars & 1) continue;
        memcpy(result, operands[0], (size_t)bytes);
        function(result, (const void *const[]){result, operands[1], operands[2]}, scalars, count);
        EXPECT_SAME(kind, result, expected, count, "joined, in place");
    }
    for (uint32_t o = 0; o < 3; o++) free(operands[o]);
    free(between);
    free(expected);
    free(result);
}

static void test_joined(void **state)
{
    (void)state;
    static const exec_block seconds[] = {EXEC_BLOCK_ADD, EXEC_BLOCK_SUB, EXEC_BLOCK_SUB, EXEC_BLOCK_MUL, EXEC_BLOCK_NEG};
    static const exec_block firsts[] = {EXEC_BLOCK_ADD, EXEC_BLOCK_SUB, EXEC_BLOCK_MUL};
    static const int64_t counts[] = {0, 1, 7, 15, 16, 33, 1037};
    for (int first = 0; first < 3; first++)
        for (int second = 0; second < 5; second++)
            for (int trial = 0; trial < 28; trial++) {
                wg_kind kind = trial % 2 ? WG_KIND_F32 : WG_KIND_F64;
                check_joined(firsts[first], seconds[second], second == 2, kind, counts[trial % 7], (uint32_t)random_below(second == 4 ? 4 : 8));
            }
    assert_null(exec_kernels_at(exec_kernels_count() - 1)->joined(EXEC_BLOCK_DIV, EXEC_BLOCK_ADD, false, WG_KIND_F32));
}

/* A relay's operation on items that were handed on, y of two ways, is the block operation. */
static void check_relay(exec_relay operation, exec_block block, bool exchanged, uint32_t arity)
{
    enum { COUNT = 3 * EXEC_RELAY_ITEMS };
    float x[COUNT], y[COUNT], expected[COUNT], result[COUNT] __attribute__((aligned(64)));
    const exec_relay stores[] = {EXEC_RELAY_STORE, EXEC_RELAY_STORE_ONE_NAN, EXEC_RELAY_STREAM};
    bool wild = random_below(2);
    fill_random(WG_KIND_F32, x, COUNT, wild);
    fill_random(WG_KIND_F32, y, COUNT, wild);
    for (uint32_t one = 0; one < (arity == 2 ? 2 : 1); one++) {
        const void *operands[2] = {exchanged ? y : x, exchanged ? x : y};
        exec_kernels_at(0)->block(block, WG_KIND_F32)(expected, operands, one ? 1u << !exchanged : 0, COUNT);
        FOR_EACH_LEVEL(kernels) {
            if (!kernels->relay(operation)) continue;
            for (int i = 0; i < 3; i++) {
                const exec_relay_step steps[] = {{kernels->relay(EXEC_RELAY_ASK), x, -1}, {kernels->relay(EXEC_RELAY_LOAD), x, -1},
                                                 {kernels->relay(operation + one), y, one - 1}, {kernels->relay(stores[i]), result, -1},
                                                 {kernels->relay(EXEC_RELAY_END), NULL, 0}};
                kernels->relay_run(steps, 3);
                kernels->stream(WG_KIND_BOOL, NULL, NULL, 0);
                EXPECT_SAME(WG_KIND_F32, result, expected, COUNT, "relay");
                for (int at = 0; i > 0 && at < COUNT; at++) {
                    uint32_t bits;
                    memcpy(&bits, result + at, sizeof bits);
                    assert_true(result[at] == result[at] || bits == 0x7fc00000);
                }
            }
        }
    }
}

/* Quotients by one number near the ends of what is near 1, whose remainders are not exact beyond them; and of zeros. */
static void test_relay_quotients(void **state)
{
    enum { COUNT = EXEC_RELAY_ITEMS };
    static const float numbers[] = {0x1.fffffep-61f, 0x1p-60f, 0x1.000002p-60f, 0x1.fffffep59f, 0x1p60f, 0x1.000002p60f, 0x1p-100f, 0x1p100f, 0x1p-140f, 0x1p124f, 0x1p127f};
    (void)state;
    for (int trial = 0; trial < 40000; trial++) {
        float x[COUNT], y[1], expected[COUNT], result[COUNT];
        for (int i = 0; i < COUNT; i++) x[i] = (float)random_number(false) * (trial % 3 == 0 ? numbers[trial / 3 % 11] : 1);
        if (trial % 5 == 0) x[random_below(COUNT)] = random_below(2) ? 0.0f : -0.0f;
        y[0] = (float)random_number(false) * (trial % 2 ? numbers[trial / 2 % 11] : 1);
        if (trial % 4 == 0) y[0] = numbers[trial / 4 % 11];
        exec_kernels_at(0)->block(EXEC_BLOCK_DIV, WG_KIND_F32)(expected, (const void *[]){x, y}, 2, COUNT);
        FOR_EACH_LEVEL(kernels) {
            if (!kernels->relay(EXEC_RELAY_END)) continue;
            const exec_relay_step steps[] = {{kernels->relay(EXEC_RELAY_LOAD), x, -1}, {kernels->relay(EXEC_RELAY_DIV_ONE), y, 0},
                                             {kernels->relay(EXEC_RELAY_STORE), result, -1}, {kernels->relay(EXEC_RELAY_END), NULL, 0}};
            kernels->relay_run(steps, 1);
            EXPECT_SAME(WG_KIND_F32, result, expected, COUNT, "relay");
        }
    }
}

/* A sum's lanes, joined, are the sum of the line, and what was added is handed on. */
static void test_relay_sum(void **state)
{
    enum { COUNT = 3 * EXEC_RELAY_ITEMS };
    (void)state;
    for (int trial = 0; trial < 50; trial++) {
        float x[COUNT], expected, lanes[EXEC_FOLD_LANES] __attribute__((aligned(64))), joined, result[COUNT];
        fill_random(WG_KIND_F32, x, COUNT, false);
        for (int i = 0; trial % 5 == 0 && i < COUNT; i++) x[i] = -0.0f;
        exec_reduction sum = {.fold = EXEC_FOLD_SUM, .kind = WG_KIND_F32, .accumulate = WG_KIND_F32, .result_kind = WG_KIND_F32, .extent = COUNT,
                              .inner = 1, .extent_stride = 1, .items = x, .result = &expected};
        exec_kernels_at(0)->reduce(&sum, (exec_range){0, 1});
        sum.extent = EXEC_FOLD_LANES;
        sum.items = lanes;
        sum.result = &joined;
        FOR_EACH_LEVEL(kernels) {
            if (!kernels->relay(EXEC_RELAY_SUM)) continue;
            const exec_relay_step steps[] = {{kernels->relay(EXEC_RELAY_LOAD), x, -1}, {kernels->relay(EXEC_RELAY_SUM), lanes, 0},
                                             {kernels->relay(EXEC_RELAY_STORE), result, -1}, {kernels->relay(EXEC_RELAY_END), NULL, 0}};
            kernels->relay_run(steps, 3);
            kernels->reduce(&sum, (exec_range){0, 1});
            EXPECT_SAME(WG_KIND_F32, &joined, &expected, 1, "sum of a relay");
            EXPECT_SAME(WG_KIND_F32, result, x, COUNT, "sum of a relay");
        }
    }
}

static void test_relays(void **state)
{
    (void)state;
    for (int trial = 0; trial < 20; trial++) {
#define CHECK_BOTH(RELAY, EXCHANGED, BLOCK)                         \
    check_relay(EXEC_RELAY_##RELAY, EXEC_BLOCK_##BLOCK, false, 2); \
    check_relay(EXEC_RELAY_##EXCHANGED, EXEC_BLOCK_##BLOCK, true, 2);
        CHECK_BOTH(ADD, ADD, ADD) CHECK_BOTH(SUB, FROM, SUB) CHECK_BOTH(MUL, MUL, MUL) CHECK_BOTH(DIV, INTO, DIV)
        CHECK_BOTH(MAXIMUM, MAXIMUM, MAXIMUM)
        check_relay(EXEC_RELAY_NEG, EXEC_BLOCK_NEG, false, 1);
        check_relay(EXEC_RELAY_ABS, EXEC_BLOCK_ABS, false, 1);
        check_relay(EXEC_RELAY_SQRT, EXEC_BLOCK_SQRT, false, 1);
        check_relay(EXEC_RELAY_EXP, EXEC_BLOCK_EXP, false, 1);
        check_relay(EXEC_RELAY_TANH, EXEC_BLOCK_TANH, false, 1);
        check_relay(EXEC_RELAY_ERF, EXEC_BLOCK_ERF, false, 1);
    }
}

/* An elementary function's lanes are the scalar one, whatever the block's length and the operands' modes. */
#define CHECK_ITEM_1(name, S, i) base_##name##_##S(x_##S[i % x_step])
#define CHECK_ITEM_2(name, S, i) base_##name##_##S(x_##S[i % x_step], y_##S[i % y_step])
#define CHECK_ITEM_3(name, S, i) base_##name##_##S(x_##S[i % x_step], y_##S[i % y_step], z_##S[i % z_step])
#define CHECK_FORMULA(ENUM, name, arity)                                                                                                  \
    {                                                                                                                                     \
        int64_t x_step = scalars & 1 ? 1 : count, y_step = scalars & 2 ? 1 : count, z_step = scalars & 4 ? 1 : count;                     \
        (void)y_step, (void)z_step;                                                                                                       \
        for (int64_t i = 0; i < count; i++) {                                                                                             \
            expected_f32[i] = CHECK_ITEM_##arity(name, f32, i);                                                                           \
            expected_f64[i] = CHECK_ITEM_##arity(name, f64, i);                                                                           \
            expected_f16[i] = base_f16_from_f32(base_##name##_f32 CHECK_HALF_##arity);                                                    \
        }                                                                                                                                 \
        FOR_EACH_LEVEL(kernels) {                                                                                                         \
            kernels->block(EXEC_BLOCK_##ENUM, WG_KIND_F32)(result, (const void *[]){x_f32, y_f32, z_f32}, scalars, count);                \
            EXPECT_SAME(WG_KIND_F32, result, expected_f32, count, #name);                                                                 \
            expect_one_nan(kernels, EXEC_BLOCK_##ENUM, WG_KIND_F32, result, count);                                                       \
            kernels->block(EXEC_BLOCK_##ENUM, WG_KIND_F64)(result, (const void *[]){x_f64, y_f64, z_f64}, scalars, count);                \
            EXPECT_SAME(WG_KIND_F64, result, expected_f64, count, #name);                                                                 \
            expect_one_nan(kernels, EXEC_BLOCK_##ENUM, WG_KIND_F64, result, count);                                                       \
            kernels->block(EXEC_BLOCK_##ENUM, WG_KIND_F16)(result, (const void *[]){x_f16, y_f16, z_f16}, scalars, count);                \
            EXPECT_SAME(WG_KIND_F16, result, expected_f16, count, #name);                                                                 \
        }                                                                                                                                 \
    }
#define CHECK_HALF_1 (base_f16_to_f32(x_f16[i % x_step]))
#define CHECK_HALF_3 (base_f16_to_f32(x_f16[i % x_step]), base_f16_to_f32(y_f16[i % y_step]), base_f16_to_f32(z_f16[i % z_step]))
#define CHECK_HALF_2 (base_f16_to_f32(x_f16[i % x_step]), base_f16_to_f32(y_f16[i % y_step]))

static void test_formulas(void **state)
{
    (void)state;
    static float x_f32[700], y_f32[700], z_f32[700], expected_f32[700];
    static double x_f64[700], y_f64[700], z_f64[700], expected_f64[700], result[700];
    static uint16_t x_f16[700], y_f16[700], z_f16[700], expected_f16[700];
    static const double exponents[] = {-1, 0.5, 1, 2, 3}; /* one for all, which a power has loops of their own for */
    for (int trial = 0; trial < 13; trial++) {
        int64_t count = trial < 4 ? 1 + random_below(40) : 600 + random_below(100);
        uint32_t scalars = trial < 6 ? 0 : trial < 8 ? (uint32_t)random_below(8) : 2;
        fill_random(WG_KIND_F32, x_f32, count, true);
        fill_random(WG_KIND_F32, y_f32, count, true);
        fill_random(WG_KIND_F64, x_f64, count, true);
        fill_random(WG_KIND_F64, y_f64, count, true);
        fill_random(WG_KIND_F16, x_f16, count, true);
        fill_random(WG_KIND_F16, y_f16, count, true);
        fill_random(WG_KIND_F32, z_f32, count, true);
        fill_random(WG_KIND_F64, z_f64, count, true);
        fill_random(WG_KIND_F16, z_f16, count, true);
        fill_odd_nans(WG_KIND_F32, x_f32, count);
        fill_odd_nans(WG_KIND_F64, x_f64, count);
        if (trial >= 8) {
            y_f64[0] = exponents[trial - 8];
            y_f32[0] = (float)y_f64[0];
            y_f16[0] = base_f16_from_f32(y_f32[0]);
            x_f64[1] = -0.0, x_f64[2] = -__builtin_inf(), x_f32[1] = -0.0f, x_f32[2] = -__builtin_inff();
        }
        for (int64_t i = 0; i < count; i += 2) { /* where the incomplete beta function has its third argument */
            z_f32[i] = (float)random_below(1000) / 1000;
            z_f64[i] = (double)random_below(1000) / 1000;
        }
#define FORMULA(ENUM, name, arity) CHECK_FORMULA(ENUM, name, arity)
#define FORMULA_WIDENED(ENUM, name, arity, body) CHECK_FORMULA(ENUM, name, arity)
#include "base/formulas.def"
#define ROUTINE(ENUM, name, arity) CHECK_FORMULA(ENUM, name, arity)
#include "base/routines.def"
    }
}

static void check_convert(wg_kind from, wg_kind to, bool wrap, uint32_t scalars)
{
    int64_t count = random_below(70);
    uint64_t items[70], expected[70], result[70];
    fill_random(from, items, 70, true);
    for (int64_t i = 0; base_kind_is_float(from) && i < 70; i += 3) { /* near the limits of the integer kinds */
        double limit = (double)((uint64_t)1 << random_below(64)) + (double)random_below(3) - 1;
        base_number_store(from, items, i, base_number_convert((base_number){.d = random_below(2) ? -limit : limit}, WG_KIND_F64, from,
                false));
    }
    for (int64_t i = 0; i < count; i++)
        base_number_store(to, expected, i, base_number_convert(base_number_load(from, items, scalars ? 0 : i), from, to, wrap));
    FOR_EACH_LEVEL(kernels) {
        memset(result, 0x33, sizeof result);
        kernels->convert(from, to, wrap)(result, (const void *[]){items}, scalars, count);
        char what[64];
        snprintf(what, sizeof what, "%s from %s%s", kernels->name, wg_kind_name(from), wrap ? " wrapping" : "");
        EXPECT_SAME(to, result, expected, count, what);
    }
}

static void test_convert(void **state)
{
    (void)state;
    for (wg_kind from = 0; from < WG_KIND_SINGLES; from++)
        for (wg_kind to = 0; to < WG_KIND_SINGLES; to++) {
            if (base_kinds[from].class == BASE_CLASS_COMPLEX || base_kinds[to].class == BASE_CLASS_COMPLEX) {
                assert_null(exec_kernels_at(0)->convert(from, to, false));
                continue;
            }
            for (int trial = 0; trial < 16; trial++) check_convert(from, to, trial & 1, trial % 8 == 7);
        }
}

static void test_canonical_nan(void **state)
{
    (void)state;
    FOR_EACH_LEVEL(kernels) {
        float f[5] = {1, -__builtin_nanf("3"), __builtin_inff(), __builtin_nanf("1"), -0.0f};
        kernels->canonical_nan(WG_KIND_F32, f, 5);
        static const uint32_t f_bits[5] = {0x3f800000, 0x7fc00000, 0x7f800000, 0x7fc00000, 0x80000000};
        assert_memory_equal(f, f_bits, sizeof f);
        uint64_t d[3] = {0xfff8000000000001, 0x7ff0000000000001, 0xfff0000000000000};
        static const uint64_t d_bits[3] = {0x7ff8000000000000, 0x7ff8000000000000, 0xfff0000000000000};
        kernels->canonical_nan(WG_KIND_F64, d, 3);
        assert_memory_equal(d, d_bits, sizeof d);
        uint16_t h[4] = {0xfe01, 0x7c00, 0xfc00, 0x7c01}, b[4] = {0xffc1, 0x7f80, 0xff80, 0x7f81};
        static const uint16_t h_bits[4] = {0x7e00, 0x7c00, 0xfc00, 0x7e00}, b_bits[4] = {0x7fc0, 0x7f80, 0xff80, 0x7fc0};
        kernels->canonical_nan(WG_KIND_F16, h, 4);
        kernels->canonical_nan(WG_KIND_BF16, b, 4);
        assert_memory_equal(h, h_bits, sizeof h);
        assert_memory_equal(b, b_bits, sizeof b);
    }
}

static void test_every_kind_is_there(void **state)
{
    (void)state;
    FOR_EACH_LEVEL(kernels) {
        for (wg_kind kind = WG_KIND_I8; kind <= WG_KIND_F64; kind++)
            for (exec_block operation = 0; operation < EXEC_BLOCK_AND; operation++)
                if (operation != EXEC_BLOCK_SQRT) assert_non_null(kernels->block(operation, kind));
        assert_null(kernels->block(EXEC_BLOCK_ADD, WG_KIND_BOOL));
        assert_non_null(kernels->block(EXEC_BLOCK_SELECT, WG_KIND_CHAR));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_joined),
        cmocka_unit_test(test_relays), cmocka_unit_test(test_relay_quotients), cmocka_unit_test(test_relay_sum),
        cmocka_unit_test(test_formulas),
        cmocka_unit_test(test_convert),
        cmocka_unit_test(test_canonical_nan),
        cmocka_unit_test(test_every_kind_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
