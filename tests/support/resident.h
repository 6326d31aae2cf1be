/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What a process has in memory. */
#ifndef TESTS_SUPPORT_RESIDENT_H
#define TESTS_SUPPORT_RESIDENT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

/* Bytes that this process has in memory. */
static inline uint64_t test_resident_bytes(void)
{
    unsigned long long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%llu %llu", &size, &resident), 2);
    fclose(file);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

#endif
