/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The library of factorisations: what opens, what is too large, what a fault says. The tests of interp/ judge its answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/lapack.h"
#include "base/memory.h"

static void test_what_opens(void **state)
{
    (void)state;
    assert_false(base_lapack_opens("libnothing-of-that-name.so.3"));
    assert_false(base_lapack_opens("libc.so.6")); /* there, and without the routines */
    assert_int_equal(base_lapack_opens(BASE_LAPACK_LIBRARY), base_lapack_is_here());
}

static void test_what_a_fault_says(void **state)
{
    (void)state;
    assert_int_equal(base_lapack_fault_code(BASE_LAPACK_MISSING), WG_UNSUPPORTED);
    assert_non_null(strstr(base_lapack_fault_text(BASE_LAPACK_MISSING), "install the package liblapacke"));
    assert_int_equal(base_lapack_fault_code(BASE_LAPACK_SINGULAR), WG_MATRIX);
    assert_int_equal(base_lapack_fault_code(BASE_LAPACK_DONE), WG_OK);
}

/* Every task over every small shape needs room on the boundary, and enormous ones none: they are refused before anything is touched. */
static void test_room(void **state)
{
    (void)state;
    for (int task = BASE_LAPACK_SOLVE; task <= BASE_LAPACK_EIGH_VECTORS; task++) {
        for (int64_t m = 0; m < 6; m++)
            for (int64_t n = 0; n < 6; n++) {
                base_lapack_call call = {.task = (base_lapack_task)task, .kind = WG_KIND_F64, .rows = m, .columns = n, .sides = 2};
                assert_int_equal(base_lapack_scratch(&call) % BASE_ALIGNMENT, 0);
            }
        int64_t side = (int64_t)1 << 40;
        base_lapack_call huge = {.task = (base_lapack_task)task, .kind = WG_KIND_F32, .rows = side, .columns = side};
        assert_int_equal(base_lapack_scratch(&huge), 0);
        /* Least squares ask for LAPACK once they need it. */
        bool may_do = base_lapack_is_here() || base_lapack_is_own((base_lapack_task)task) || task == BASE_LAPACK_LEAST_SQUARES;
        base_lapack_fault fault = base_lapack_run(&huge, NULL, NULL, NULL, NULL, NULL);
        assert_int_equal(fault, may_do ? BASE_LAPACK_TOO_LARGE : BASE_LAPACK_MISSING);
    }
}

/* Items behind each part of the scratch and the result stay what they were: a task takes no more room than it asked for. */
static void test_stays_in_its_room(void **state)
{
    (void)state;
    if (!base_lapack_is_here()) skip();
    static double a[64], b[64], result[65];
    static char room[1 << 20] __attribute__((aligned(64)));
    for (int task = BASE_LAPACK_SOLVE; task <= BASE_LAPACK_EIGH_VECTORS; task++)
        for (int64_t m = 1; m <= 8; m++)
            for (int64_t n = 1; n <= 8; n++) {
                bool any = task == BASE_LAPACK_LEAST_SQUARES || (task >= BASE_LAPACK_QR_Q && task <= BASE_LAPACK_QR_R) ||
                           (task >= BASE_LAPACK_SVD_U && task <= BASE_LAPACK_SVD_V);
                if (!any && m != n) continue;
                for (int64_t i = 0; i < m * n; i++) a[i] = i / n == i % n ? 3.0 + (double)i : 0.25;
                for (int64_t i = 0; i < 64; i++) b[i] = 1;
                base_lapack_call call = {.task = (base_lapack_task)task, .kind = WG_KIND_F64, .rows = m, .columns = n, .sides = 3};
                int64_t bytes = base_lapack_scratch(&call);
                memset(room, 0x5a, sizeof room);
                result[64] = -7;
                base_lapack_enter();
                assert_int_equal(base_lapack_run(&call, NULL, a, b, result, room), BASE_LAPACK_DONE);
                base_lapack_leave();
                for (int64_t i = bytes; i < bytes + 4096; i++) assert_int_equal(room[i], 0x5a);
                assert_true(result[64] == -7);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_opens), cmocka_unit_test(test_what_a_fault_says),
                                       cmocka_unit_test(test_room), cmocka_unit_test(test_stays_in_its_room)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
