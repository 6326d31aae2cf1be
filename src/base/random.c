/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "base/random.h"

#include "base/scalar.h"

void base_philox(const uint32_t counter[4], base_key key, uint32_t block[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key.words[0], k1 = key.words[1];
    for (int round = 0; round < 10; round++) {
        uint64_t a = 0xD2511F53ull * c0, b = 0xCD9E8D57ull * c2;
        uint32_t n0 = (uint32_t)(b >> 32) ^ c1 ^ k0, n2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)b;
        c3 = (uint32_t)a;
        c0 = n0;
        c2 = n2;
        k0 += 0x9E3779B9u; /* the golden ratio, and sqrt(3) - 1 */
        k1 += 0xBB67AE85u;
    }
    block[0] = c0, block[1] = c1, block[2] = c2, block[3] = c3;
}

void base_random_block(base_key key, base_stream stream, uint64_t n, uint32_t block[4])
{
    const uint32_t counter[4] = {(uint32_t)n, (uint32_t)(n >> 32), (uint32_t)stream, 0};
    base_philox(counter, key, block);
}

base_key base_key_split(base_key key, uint64_t child)
{
    uint32_t block[4];
    base_random_block(key, BASE_STREAM_SPLIT, child, block);
    return (base_key){{block[0], block[1]}};
}

base_key base_key_fold(base_key key, uint64_t n)
{
    uint32_t block[4];
    base_random_block(key, BASE_STREAM_FOLD, n, block);
    return (base_key){{block[0], block[1]}};
}

/* ---- what a block holds --------------------------------------------------------------------------------------------------- */

static uint64_t pair_of_words(const uint32_t *words)
{
    return words[0] | (uint64_t)words[1] << 32;
}

double base_open_unit(uint64_t word)
{
    return ((double)(word >> 12) + 0.5) * 0x1p-52;
}

static void block_of_bits(const uint32_t block[4], uint32_t items[4])
{
    for (int i = 0; i < 4; i++) items[i] = block[i];
}

static void block_of_uniform_f32(const uint32_t block[4], float items[4])
{
    for (int i = 0; i < 4; i++) items[i] = (float)(block[i] >> 8) * 0x1p-24f;
}

static void block_of_uniform_f64(const uint32_t block[4], double items[2])
{
    for (int i = 0; i < 2; i++) items[i] = (double)(pair_of_words(block + 2 * i) >> 11) * 0x1p-53;
}

/* u in (0, 1), v in [0, 1). */
static void normal_pair(double u, double v, double items[2])
{
    double radius = base_sqrt_f64(-2 * base_ln_f64(u)), angle = v * 0x1.921fb54442d18p+2;
    items[0] = radius * base_cos_f64(angle);
    items[1] = radius * base_sin_f64(angle);
}

static void block_of_normal_f32(const uint32_t block[4], float items[4])
{
    for (int i = 0; i < 4; i += 2) {
        double pair[2];
        normal_pair((block[i] + 0.5) * 0x1p-32, block[i + 1] * 0x1p-32, pair);
        items[i] = (float)pair[0], items[i + 1] = (float)pair[1];
    }
}

static void block_of_normal_f64(const uint32_t block[4], double items[2])
{
    double u = (double)(pair_of_words(block) >> 11), v = (double)(pair_of_words(block + 2) >> 11);
    normal_pair((u + 0.5) * 0x1p-53, v * 0x1p-53, items);
}

static void block_of_exponential_f32(const uint32_t block[4], float items[4])
{
    for (int i = 0; i < 4; i++) items[i] = (float)-base_ln_f64((block[i] + 0.5) * 0x1p-32);
}

static void block_of_exponential_f64(const uint32_t block[4], double items[2])
{
    for (int i = 0; i < 2; i++) items[i] = -base_ln_f64(base_open_unit(pair_of_words(block + 2 * i)));
}

/* ---- drawing ---------------------------------------------------------------------------------------------------------------- */

/* One item, and runs of them: `items_a_block` items come from each block of the stream. */
#define DRAW(name, type, stream, items_a_block)                                                \
    type base_draw_##name(base_key key, uint64_t index)                                        \
    {                                                                                          \
        uint32_t block[4];                                                                     \
        type all[items_a_block];                                                               \
        base_random_block(key, stream, index / items_a_block, block);                          \
        block_of_##name(block, all);                                                           \
        return all[index % items_a_block];                                                     \
    }                                                                                          \
    void base_draw_##name##_run(base_key key, uint64_t first, uint64_t count, type *items)     \
    {                                                                                          \
        uint32_t block[4];                                                                     \
        type all[items_a_block];                                                               \
        for (uint64_t i = 0; i < count; i++) {                                                 \
            uint64_t index = first + i;                                                        \
            if (i == 0 || index % items_a_block == 0) {                                        \
                base_random_block(key, stream, index / items_a_block, block);                  \
                block_of_##name(block, all);                                                   \
            }                                                                                  \
            items[i] = all[index % items_a_block];                                             \
        }                                                                                      \
    }

DRAW(bits, uint32_t, BASE_STREAM_BITS, 4)
DRAW(uniform_f32, float, BASE_STREAM_BITS, 4)
DRAW(uniform_f64, double, BASE_STREAM_UNIFORM_F64, 2)
DRAW(normal_f32, float, BASE_STREAM_NORMAL_F32, 4)
DRAW(normal_f64, double, BASE_STREAM_NORMAL_F64, 2)
DRAW(exponential_f32, float, BASE_STREAM_EXPONENTIAL_F32, 4)
DRAW(exponential_f64, double, BASE_STREAM_EXPONENTIAL_F64, 2)
