/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Compositions against reference results, in f64 and f32. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/compositions.h"

static void test_compositions(void **state)
{
    (void)state;
    for (const char *const *op = composition_files; *op; op++) {
        cases_file *file = cases_read(*op);
        assert_true(file->case_count > 0);
        for (uint32_t i = 0; i < file->case_count; i++) {
            cases_check(file, &file->cases[i], WG_KIND_F64, composition_record);
            cases_check(file, &file->cases[i], WG_KIND_F32, composition_record);
        }
        cases_free(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_compositions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
