/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The frequencies of rotary embeddings (Su et al. 2021), in f64 by the library's own formulas in the order that docs/models.md writes, so
 * that a text holds the same numbers everywhere. Rules that look at how long a sequence became look at the cut's ctx instead. */
#include "base/scalar.h"
#include "model/model.h"

#define PI 3.141592653589793

/* theta^(-2i / r). */
static double plain(double theta, int64_t i, int64_t width)
{
    return base_pow_f64(theta, -((double)(2 * i) / (double)width));
}

/* NTK-aware: theta grows with the length beyond the trained one. */
static double dynamic_theta(const model_rope *rope, int64_t ctx)
{
    double r = (double)rope->width, length = (double)ctx, trained = (double)rope->positions;
    if (ctx <= rope->positions || rope->width == 2) return rope->theta;
    return rope->theta * base_pow_f64(rope->factor * length / trained - (rope->factor - 1), r / (r - 2));
}

static double llama3(const model_rope *rope, double inverse)
{
    double wavelength = 2 * PI / inverse, original = (double)rope->original;
    if (wavelength < original / rope->high) return inverse;
    if (wavelength > original / rope->low) return inverse / rope->factor;
    double t = (original / wavelength - rope->low) / (rope->high - rope->low);
    return (1 - t) * inverse / rope->factor + t * inverse;
}

static double factor_of(const model_rope *rope)
{
    return rope->factor ? rope->factor : (double)rope->positions / (double)rope->original;
}

/* Where a number of turns over the original length stands among the pairs (Peng et al. 2023, YaRN). */
static double correction(const model_rope *rope, double turns)
{
    double r = (double)rope->width;
    return r * base_ln_f64((double)rope->original / (2 * PI * turns)) / (2 * base_ln_f64(rope->theta));
}

static void yarn(const model_rope *rope, double *inverse)
{
    double low = correction(rope, rope->beta_fast), high = correction(rope, rope->beta_slow), factor = factor_of(rope);
    if (!rope->no_truncate) low = base_floor_f64(low), high = base_ceil_f64(high);
    if (low < 0) low = 0;
    if (high > (double)(rope->width - 1)) high = (double)(rope->width - 1);
    if (low == high) high += 0.001;
    for (int64_t i = 0; i < rope->width / 2; i++) {
        double ramp = ((double)i - low) / (high - low);
        ramp = ramp < 0 ? 0 : ramp > 1 ? 1 : ramp;
        inverse[i] = inverse[i] / factor * ramp + inverse[i] * (1 - ramp);
    }
}

static double magnitude(double scale, double k)
{
    return scale <= 1 ? 1 : 0.1 * k * base_ln_f64(scale) + 1;
}

static double yarn_scale(const model_rope *rope)
{
    double factor = factor_of(rope);
    if (rope->attention) return rope->attention;
    if (rope->mscale && rope->mscale_all) return magnitude(factor, rope->mscale) / magnitude(factor, rope->mscale_all);
    return magnitude(factor, 1);
}

static double long_scale(const model_rope *rope)
{
    double factor = rope->factor ? rope->factor : (double)rope->positions / (double)rope->original;
    if (rope->attention) return rope->attention;
    return factor <= 1 ? 1 : base_sqrt_f64(1 + base_ln_f64(factor) / base_ln_f64((double)rope->original));
}

void model_rope_frequencies(const model_rope *rope, int64_t ctx, double *inverse, double *scale)
{
    double theta = rope->type == MODEL_ROPE_DYNAMIC ? dynamic_theta(rope, ctx) : rope->theta;
    const double *factors = rope->type == MODEL_ROPE_LONG && ctx <= rope->original ? rope->short_factors : rope->long_factors;
    *scale = 1;
    for (int64_t i = 0; i < rope->width / 2; i++) {
        inverse[i] = plain(theta, i, rope->width);
        if (rope->type == MODEL_ROPE_LINEAR) inverse[i] /= rope->factor;
        else if (rope->type == MODEL_ROPE_LLAMA3) inverse[i] = llama3(rope, inverse[i]);
        else if (rope->type == MODEL_ROPE_LONG || rope->type == MODEL_ROPE_FACTORS) inverse[i] /= factors[i];
    }
    if (rope->type == MODEL_ROPE_YARN) {
        yarn(rope, inverse);
        *scale = yarn_scale(rope);
    } else if (rope->type == MODEL_ROPE_LONG) *scale = long_scale(rope);
}

bool model_angles_follow_ctx(const model_config *config)
{
    for (int i = 0; i < 2; i++)
        if (config->ropes[i].type == MODEL_ROPE_DYNAMIC || config->ropes[i].type == MODEL_ROPE_LONG) return true;
    return false;
}
