/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Initial weights. Item i of a tensor is draw i of the stream of its seed, scaled in f64 and rounded once to the kind. */
#include "wengert/initialise.h"

#include "base/base.h"
#include "base/random.h"
#include "base/tensor.h"

static bool fill(wg_tensor *tensor, double value)
{
    base_number item = base_number_from_double(tensor->kind, value);
    for (int64_t i = 0; i < tensor->volume; i++) base_number_store(tensor->kind, tensor->data, i, item);
    return true;
}

static bool draw_uniform(wg_tensor *tensor, base_key key, double low, double high)
{
    for (int64_t i = 0; i < tensor->volume; i++)
        base_number_store(tensor->kind, tensor->data, i, base_number_from_double(tensor->kind, low + (high - low) * base_draw_uniform_f64(key, (uint64_t)i)));
    return true;
}

static bool draw_normal(wg_tensor *tensor, base_key key, double scale)
{
    for (int64_t i = 0; i < tensor->volume; i++)
        base_number_store(tensor->kind, tensor->data, i, base_number_from_double(tensor->kind, scale * base_draw_normal_f64(key, (uint64_t)i)));
    return true;
}

static void fans(const wg_tensor *tensor, double *in, double *out)
{
    const int64_t *shape = tensor->shape;
    double rest = 1;
    if (tensor->rank == 2) {
        *in = (double)shape[0];
        *out = (double)shape[1];
        return;
    }
    for (uint32_t axis = tensor->rank == 4 ? 2 : 1; axis < tensor->rank; axis++) rest *= (double)shape[axis];
    *in = tensor->rank == 4 ? (double)shape[1] * rest : rest;
    *out = tensor->rank == 4 ? (double)shape[0] * rest : tensor->rank ? (double)shape[0] : 1;
}

static bool is_finite(double value)
{
    return value - value == 0;
}

wg_tensor *wg_initialise(wg_context *context, const wg_initialiser_options *options, wg_kind kind, uint32_t rank, const int64_t *shape, wg_error *error)
{
    if (!options || options->size != sizeof *options) return base_fail(error, WG_ARGUMENT, "wg_initialiser_options.size is not this version's"), NULL;
    if ((unsigned)kind >= WG_KIND_COUNT || !base_kind_is_float(kind)) return base_fail(error, WG_KIND, "initial weights are of a float kind"), NULL;
    if (!is_finite(options->low) || !is_finite(options->high) || !is_finite(options->scale) || options->low > options->high || options->scale < 0)
        return base_fail(error, WG_ARGUMENT, "an initialiser's bounds and scale are finite, low at most high, scale not negative"), NULL;
    wg_tensor *tensor = wg_tensor_new(context, kind, rank, shape, NULL, error);
    if (!tensor) return NULL;
    base_key key = {{(uint32_t)options->seed, (uint32_t)(options->seed >> 32)}};
    double in, out, bound;
    fans(tensor, &in, &out);
    bool good = false;
    switch (options->initialiser) {
    case WG_INITIALISER_ZEROS: good = fill(tensor, 0); break;
    case WG_INITIALISER_ONES: good = fill(tensor, 1); break;
    case WG_INITIALISER_UNIFORM: good = draw_uniform(tensor, key, options->low, options->high); break;
    case WG_INITIALISER_NORMAL: good = draw_normal(tensor, key, options->scale); break;
    case WG_INITIALISER_XAVIER:
        bound = in + out > 0 ? __builtin_sqrt(6 / (in + out)) : 0;
        good = draw_uniform(tensor, key, -bound, bound);
        break;
    case WG_INITIALISER_HE: good = draw_normal(tensor, key, in > 0 ? __builtin_sqrt(2 / in) : 0); break;
    }
    if (good) return tensor;
    wg_tensor_release(tensor);
    return base_fail(error, WG_ARGUMENT, "no such initialiser"), NULL;
}
