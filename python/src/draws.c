/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The distributions of draws.h as calls: random(name, key, parameters, shape). */
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "wengert/draws.h"

typedef struct draw {
    int number; /* in the table */
    uint32_t rank;
    wg_size shape[WG_MAX_RANK];
} draw;

/* name, parameters, the call over values v[0] (the key), v[1] .. */
#define DISTRIBUTIONS(X) \
    X(uniform, 2, wg_random_uniform(v[0], v[1], v[2], d->rank, d->shape)) \
    X(normal, 2, wg_random_normal(v[0], v[1], v[2], d->rank, d->shape)) \
    X(exponential, 1, wg_random_exponential(v[0], v[1], d->rank, d->shape)) \
    X(laplace, 2, wg_random_laplace(v[0], v[1], v[2], d->rank, d->shape)) \
    X(logistic, 2, wg_random_logistic(v[0], v[1], v[2], d->rank, d->shape)) \
    X(gumbel, 2, wg_random_gumbel(v[0], v[1], v[2], d->rank, d->shape)) \
    X(cauchy, 2, wg_random_cauchy(v[0], v[1], v[2], d->rank, d->shape)) \
    X(truncated_normal, 4, wg_random_truncated_normal(v[0], v[1], v[2], v[3], v[4], d->rank, d->shape)) \
    X(gamma, 1, wg_random_gamma(v[0], v[1], d->rank, d->shape)) \
    X(chi_square, 1, wg_random_chi_square(v[0], v[1], d->rank, d->shape)) \
    X(beta, 2, wg_random_beta(v[0], v[1], v[2], d->rank, d->shape)) \
    X(student, 1, wg_random_student(v[0], v[1], d->rank, d->shape)) \
    X(dirichlet, 1, wg_random_dirichlet(v[0], v[1], d->rank, d->shape)) \
    X(multivariate_normal, 2, wg_random_multivariate_normal(v[0], v[1], v[2], d->rank, d->shape)) \
    X(bernoulli, 1, wg_random_bernoulli(v[0], v[1], d->rank, d->shape)) \
    X(integers, 2, wg_random_integers(v[0], v[1], v[2], d->rank, d->shape)) \
    X(poisson, 1, wg_random_poisson(v[0], v[1], d->rank, d->shape)) \
    X(binomial, 2, wg_random_binomial(v[0], v[1], v[2], d->rank, d->shape)) \
    X(categorical, 1, wg_random_categorical(v[0], v[1], d->rank, d->shape)) \
    X(choice, 1, wg_random_choice(v[0], wg_value_size(v[1], 0), v[1], false, d->rank, d->shape))

typedef enum distribution {
#define X(name, parameters, call) DRAW_##name,
    DISTRIBUTIONS(X)
#undef X
    DRAW_COUNT
} distribution;

static const struct {
    const char *name;
    uint32_t parameters;
} distributions[DRAW_COUNT] = {
#define X(name, parameters, call) {#name, parameters},
    DISTRIBUTIONS(X)
#undef X
};

static bool record_draw(void *user, wg_tape *tape, const wg_value *v, wg_value *results)
{
    (void)tape;
    const draw *d = user;
    switch ((distribution)d->number) {
#define X(name, parameters, call) \
    case DRAW_##name: results[0] = call; break;
        DISTRIBUTIONS(X)
#undef X
    case DRAW_COUNT: return false;
    }
    return !wg_is_poison(results[0]);
}

static int number_of(const char *name)
{
    for (int i = 0; i < DRAW_COUNT; i++)
        if (!strcmp(distributions[i].name, name)) return i;
    return DRAW_COUNT;
}

#define MOST_OPERANDS 5

/* random(name, shape, key, parameter ..): parameters are arrays of the kinds that the distribution takes */
PyObject *core_random(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    int64_t shape[WG_MAX_RANK];
    draw d;
    const char *name = count >= 3 ? PyUnicode_AsUTF8AndSize(arguments[0], NULL) : NULL;
    core_context *context = name && core_shape_of(arguments[1], &d.rank, shape) ? core_current() : NULL;
    d.number = context ? number_of(name) : DRAW_COUNT;
    uint32_t operands = (uint32_t)(count - 2), made = 0;
    if (!PyErr_Occurred() && (d.number == DRAW_COUNT || operands != 1 + distributions[d.number].parameters))
        PyErr_SetString(PyExc_TypeError, "random takes the name of a distribution, a shape, a key and its parameters");
    if (PyErr_Occurred()) return NULL;
    for (uint32_t axis = 0; axis < d.rank; axis++) d.shape[axis] = wg_number(shape[axis]);
    wg_array *arrays[MOST_OPERANDS], *result = NULL;
    for (; made < operands; made++)
        if (!(arrays[made] = core_array_of(context, arguments[2 + made], WG_KIND_COUNT))) break;
    PyObject *answer = NULL;
    if (made == operands)
        answer = wg_array_compose(context->lazy, record_draw, &d, arrays, operands, &result, 1) ? core_wrap(context, result)
                                                                                                : core_raise(context);
    while (made-- > 0) wg_array_release(arrays[made]);
    return answer;
}
