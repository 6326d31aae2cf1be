/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Arrays of complex kinds: computed as in programs, and refused where a derivative would go through them. */
#include "lazy/world.h"
#include "wengert/array.h"

static bool parts(wg_array *array, const float *items, int64_t count)
{
    wg_tensor *tensor = wg_array_tensor(array);
    bool same = tensor && wg_tensor_volume(tensor) == count && !memcmp(wg_tensor_data(tensor), items, (size_t)count * 2 * sizeof *items);
    wg_tensor_release(tensor);
    return same;
}

static void complex_arrays_are_computed(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *x = counted(&w, 2, 1), *z = wg_array_complex(x, x), *squared = mul(z, z), *total = sum(squared);
    assert_true(parts(squared, (const float[]){0, 2, 0, 8}, 2));
    assert_true(parts(total, (const float[]){0, 10}, 1));
    double number;
    assert_false(wg_array_double(total, &number)); /* no single number */
    world_failed(&w, WG_KIND);
    wg_array *real = wg_array_real(squared), *size = row(w.lazy, WG_OP_Abs, squared), *turned = wg_array_conj(squared);
    wg_array *imaginary = wg_array_imag(turned);
    READS(real, 0, 0);
    READS(imaginary, -2, -8);
    READS(size, 2, 8);
    assert_null(row2(w.lazy, WG_OP_Less, z, z));
    world_failed(&w, WG_KIND);
    wg_array *all[] = {x, z, squared, total, real, size, turned, imaginary};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) wg_array_release(all[i]);
    world_close(&w);
}

/* |x + x i| summed. */
static bool magnitude(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user;
    outputs[0] = sum(row(lazy, WG_OP_Abs, row2(lazy, WG_OP_Complex, inputs[0], inputs[0])));
    return true;
}

/* The sum of x times the real part of z, which is aside of the path of x. */
static bool scaled(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user;
    wg_array *part = row(lazy, WG_OP_Real, inputs[1]);
    outputs[0] = sum(mul(inputs[0], part));
    return true;
}

static void derivatives_are_refused(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *x = counted(&w, 2, 1), *z = stored(&w, WG_KIND_C64, 1, (const int64_t[]){2}, (const float[]){3, 1, 4, 1});
    wg_array *inputs[2] = {x, z}, *gradients[2], *value, *tangents[2] = {x, z};
    const wg_function through = {.call = magnitude, .inputs = 1, .outputs = 1}, aside = {.call = scaled, .inputs = 2, .outputs = 1};
    assert_false(wg_gradient(w.lazy, &through, inputs, NULL, NULL, gradients));
    assert_non_null(strstr(wg_lazy_error(w.lazy)->message, "not supported: complex derivatives"));
    world_failed(&w, WG_UNSUPPORTED);
    assert_false(wg_function_jvp(w.lazy, &through, inputs, tangents, NULL, &value));
    world_failed(&w, WG_UNSUPPORTED);
    assert_true(wg_gradient(w.lazy, &aside, inputs, NULL, NULL, gradients)); /* floats alone, unless more is asked for */
    READS(gradients[0], 3, 4);
    assert_null(gradients[1]);
    wg_array_release(gradients[0]);
    assert_false(wg_gradient(w.lazy, &aside, inputs, (const bool[]){true, true}, NULL, gradients));
    world_failed(&w, WG_UNSUPPORTED);
    assert_false(wg_function_jvp(w.lazy, &aside, inputs, tangents, NULL, &value));
    world_failed(&w, WG_UNSUPPORTED);
    wg_array_release(x);
    wg_array_release(z);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(complex_arrays_are_computed), cmocka_unit_test(derivatives_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
