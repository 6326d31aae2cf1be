/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Recurrent cells, one step each; recurrence is feeds, or a carry of the entry. */
#include "nn/nn.h"

/* C leaves open in which order the arguments of a call are evaluated, and recording is evaluation: no call below records in two of its arguments. */

static wg_value part(wg_value gates, int64_t index, int64_t width)
{
    return wg_narrow(gates, 1, index * width, width);
}

wg_gru_cell wg_gru_cell_new(wg_tape *tape, const char *prefix, int64_t inputs, int64_t width, uint64_t seed)
{
    int64_t gates = 3 * width;
    wg_gru_cell cell = {.width = width};
    cell.input_weight = nn_parameter(tape, prefix, "input_weight", NN_BEGIN("xavier", seed), 2, (int64_t[]){inputs, gates});
    cell.hidden_weight = nn_parameter(tape, prefix, "hidden_weight", NN_BEGIN("xavier", seed + 1), 2, (int64_t[]){width, gates});
    cell.input_bias = nn_parameter(tape, prefix, "input_bias", NN_BEGIN("zeros", 0), 1, &gates);
    cell.hidden_bias = nn_parameter(tape, prefix, "hidden_bias", NN_BEGIN("zeros", 0), 1, &gates);
    return cell;
}

/* Cho et al. 2014, with the reset gate on the product as in Chung et al. 2014:
 * r = s(x Wr + h Ur), z = s(x Wz + h Uz), n = tanh(x Wn + r (h Un)), h' = n + z (h - n). */
wg_value wg_gru_cell_step(const wg_gru_cell *cell, wg_value x, wg_value h)
{
    if (!cell) return nn_missing(x);
    wg_value from_x = wg_linear(x, cell->input_weight, cell->input_bias), from_h = wg_linear(h, cell->hidden_weight, cell->hidden_bias);
    wg_value gates_x[3], gates_h[3];
    for (int64_t gate = 0; gate < 3; gate++) {
        gates_x[gate] = part(from_x, gate, cell->width);
        gates_h[gate] = part(from_h, gate, cell->width);
    }
    wg_value r = wg_sigmoid(wg_add(gates_x[0], gates_h[0])), z = wg_sigmoid(wg_add(gates_x[1], gates_h[1]));
    wg_value n = wg_tanh(wg_add(gates_x[2], wg_mul(r, gates_h[2])));
    return wg_add(n, wg_mul(z, wg_sub(h, n)));
}

wg_lstm_cell wg_lstm_cell_new(wg_tape *tape, const char *prefix, int64_t inputs, int64_t width, uint64_t seed)
{
    int64_t gates = 4 * width;
    wg_lstm_cell cell = {.width = width};
    cell.input_weight = nn_parameter(tape, prefix, "input_weight", NN_BEGIN("xavier", seed), 2, (int64_t[]){inputs, gates});
    cell.hidden_weight = nn_parameter(tape, prefix, "hidden_weight", NN_BEGIN("xavier", seed + 1), 2, (int64_t[]){width, gates});
    cell.bias = nn_parameter(tape, prefix, "bias", NN_BEGIN("zeros", 0), 1, &gates);
    return cell;
}

/* Hochreiter and Schmidhuber 1997 with the forget gate of Gers et al. 2000:
 * c' = s(f) c + s(i) tanh(g), h' = s(o) tanh(c'). */
void wg_lstm_cell_step(const wg_lstm_cell *cell, wg_value x, wg_value *h, wg_value *c)
{
    if (!h || !c) return;
    if (!cell) {
        *h = *c = nn_missing(x);
        return;
    }
    wg_value from_x = wg_linear(x, cell->input_weight, cell->bias);
    wg_value gates = wg_add(from_x, wg_matmul(*h, cell->hidden_weight));
    int64_t w = cell->width;
    wg_value i = wg_sigmoid(part(gates, 0, w)), f = wg_sigmoid(part(gates, 1, w)), g = wg_tanh(part(gates, 2, w)), o = wg_sigmoid(part(gates, 3, w));
    wg_value kept = wg_mul(f, *c);
    *c = wg_add(kept, wg_mul(i, g));
    *h = wg_mul(o, wg_tanh(*c));
}
