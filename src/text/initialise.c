/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * initialisers.def as functions: a tensor of counter-based draws. */
#include "text/initialise.h"

#include <string.h>

#include "base/base.h"
#include "base/random.h"
#include "base/tensor.h"

typedef enum form { FORM_FILL, FORM_UNIFORM, FORM_NORMAL } form;

typedef struct initialiser {
    const char *name, *keys;
    form form;
    double (*a)(const wg_initialiser *how, double in, double out);
    double (*b)(const wg_initialiser *how, double in, double out);
} initialiser;

/* A fan is at least 1, so that an empty shape has a finite spread. */
#define ROOT(number) __builtin_sqrt(number)
#define INITIALISER(name, form, a, b, keys)                                                                             \
    static double a_of_##name(const wg_initialiser *how, double in, double out) { return (void)how, (void)in, (void)out, (a); } \
    static double b_of_##name(const wg_initialiser *how, double in, double out) { return (void)how, (void)in, (void)out, (b); }
#include "text/initialisers.def"

static const initialiser initialisers[] = {
#define INITIALISER(name, form, a, b, keys) {#name, keys, FORM_##form, a_of_##name, b_of_##name},
#include "text/initialisers.def"
};
#define COUNT (sizeof initialisers / sizeof *initialisers)

static const initialiser *find(const char *name)
{
    for (size_t i = 0; name && i < COUNT; i++)
        if (!strcmp(initialisers[i].name, name)) return &initialisers[i];
    return NULL;
}

const char *text_initialiser_keys(const char *name)
{
    const initialiser *row = find(name);
    return row ? row->keys : NULL;
}

const char *text_initialiser_name(uint32_t index)
{
    return index < COUNT ? initialisers[index].name : NULL;
}

/* [in, out]; [f, c, ..]: filters over c * rest inputs; a vector is its own fan. */
static void fans(uint32_t rank, const int64_t *shape, double *in, double *out)
{
    double rest = 1;
    for (uint32_t axis = 2; axis < rank; axis++) rest *= (double)shape[axis];
    double first = rank > 0 ? (double)shape[0] : 1, second = rank > 1 ? (double)shape[1] : first;
    *in = rank > 2 ? second * rest : first;
    *out = rank > 2 ? first * rest : second;
    if (*in < 1) *in = 1;
    if (*out < 1) *out = 1;
}

/* Draws that are made at once. */
#define RUN 512

/* The draws from an index on: f64 from its own streams, every narrower float from those of f32. */
static void draw(form form, wg_kind kind, base_key key, int64_t first, int64_t count, double draws[RUN])
{
    float narrow[RUN];
    bool uniform = form == FORM_UNIFORM;
    if (kind == WG_KIND_F64) {
        if (uniform) base_draw_uniform_f64_run(key, (uint64_t)first, (uint64_t)count, draws);
        else base_draw_normal_f64_run(key, (uint64_t)first, (uint64_t)count, draws);
        return;
    }
    if (uniform) base_draw_uniform_f32_run(key, (uint64_t)first, (uint64_t)count, narrow);
    else base_draw_normal_f32_run(key, (uint64_t)first, (uint64_t)count, narrow);
    for (int64_t i = 0; i < count; i++) draws[i] = (double)narrow[i];
}

static wg_tensor *drawn(wg_context *context, const initialiser *row, const wg_initialiser *how, wg_kind kind, uint32_t rank,
                        const int64_t *shape, double a, double b, wg_error *error)
{
    if (!base_kind_is_float(kind)) return base_fail(error, WG_KIND, "%s makes floats, not %s", row->name, base_kinds[kind].name), NULL;
    if (a - a != 0 || b - b != 0) return base_fail(error, WG_ARGUMENT, "%s needs finite numbers", row->name), NULL;
    wg_tensor *tensor = base_tensor_new(base_allocator(context), kind, rank, shape, error);
    base_key key = {{(uint32_t)how->seed, (uint32_t)(how->seed >> 32)}};
    double width = row->form == FORM_UNIFORM ? b - a : b;
    for (int64_t first = 0; tensor && first < tensor->volume; first += RUN) {
        double draws[RUN];
        int64_t count = tensor->volume - first < RUN ? tensor->volume - first : RUN;
        draw(row->form, kind, key, first, count, draws);
        for (int64_t i = 0; i < count; i++) base_number_store(kind, tensor->data, first + i, (base_number){.d = a + width * draws[i]});
    }
    return tensor;
}

wg_tensor *wg_tensor_initialise(wg_context *context, const wg_initialiser *how, wg_kind kind, uint32_t rank, const int64_t *shape,
                                wg_error *error)
{
    if (!how || how->size != sizeof *how) return base_fail(error, WG_ARGUMENT, "wg_initialiser.size is not this version's"), NULL;
    const initialiser *row = find(how->name);
    if (!row) return base_fail(error, WG_NAME, "no initialiser is called %s", how->name ? how->name : "(null)"), NULL;
    int64_t volume;
    size_t bytes;
    if (!base_tensor_size(kind, rank, shape, &volume, &bytes, error)) return NULL;
    double in, out;
    fans(rank, shape, &in, &out);
    double a = row->a(how, in, out), b = row->b(how, in, out);
    if (row->form == FORM_FILL) return wg_tensor_fill(context, kind, rank, shape, a, error);
    return drawn(context, row, how, kind, rank, shape, a, b, error);
}
