/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A training step of a small convolutional network: two padded convolutions with pools, a linear layer, cross entropy, and the recorded
 * gradients of all parameters. */
#ifndef TESTS_PLAN_TRAINING_H
#define TESTS_PLAN_TRAINING_H

#include "support/tensors.h"
#include "wengert/compose.h"
#include "wengert/grad.h"
#include "wengert/ops.h"

/* Images [batch, 1, side, side], side a multiple of 4. Answers how many roots: the loss, then the gradients. */
static inline uint32_t training_step(wg_tape *tape, int64_t batch, int64_t side, uint32_t channels, uint32_t roots[8])
{
    int64_t flat = 2 * channels * (side / 4) * (side / 4);
    wg_value x = wg_input(tape, test_tensor_sin(WG_KIND_F32, 4, TEST_SHAPE(batch, 1, side, side), 0.37, 0.1, 0));
    wg_value labels = wg_input(tape, test_tensor_fill(WG_KIND_I64, 1, TEST_SHAPE(batch), 1));
    wg_value parameters[] = {wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 4, TEST_SHAPE(channels, 1, 3, 3), 0.3, 0.2, 0)),
                             wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 1, TEST_SHAPE(channels), 0.5, 0, 0)),
                             wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 4, TEST_SHAPE(2 * channels, channels, 3, 3), 0.7, 0.4, 0)),
                             wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 1, TEST_SHAPE(2 * channels), 0.9, 0, 0)),
                             wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(flat, 10), 0.2, 0.3, 0)),
                             wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 1, TEST_SHAPE(10), 0.4, 0, 0))};
    wg_value h = wg_max_pool(wg_relu(wg_conv2d(x, parameters[0], parameters[1], 1, 1)), 2, 2);
    h = wg_max_pool(wg_relu(wg_conv2d(h, parameters[2], parameters[3], 1, 1)), 2, 2);
    wg_size shape[] = {{batch, 0}, {flat, 0}};
    wg_value loss = wg_cross_entropy(wg_linear(wg_reshape(h, 2, shape), parameters[4], parameters[5]), labels);
    wg_adjoints *adjoints = wg_differentiate(tape, loss, parameters, 6);
    roots[0] = wg_symbol_of(loss).position;
    for (uint32_t i = 0; i < 6; i++) roots[1 + i] = wg_symbol_of(wg_adjoints_gradient(adjoints, i)).position;
    wg_adjoints_free(&adjoints);
    return 7;
}

#endif
