/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "base/floats.h"

#if defined(__SSE2__)
#include <xmmintrin.h>

uint64_t base_floats_set(void)
{
    uint32_t before = _mm_getcsr();
    _mm_setcsr(0x1f80); /* all exceptions masked, to nearest, no flush to zero, subnormal operands kept */
    return before;
}

void base_floats_restore(uint64_t before)
{
    _mm_setcsr((uint32_t)before);
}

bool base_floats_are_set(void)
{
    return (_mm_getcsr() & ~0x3fu) == 0x1f80; /* the low bits tell what happened */
}

#elif defined(__aarch64__)

void base_floats_restore(uint64_t before)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(before));
}

uint64_t base_floats_set(void)
{
    uint64_t before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    base_floats_restore(0); /* to nearest, no flush to zero, no traps */
    return before;
}

bool base_floats_are_set(void)
{
    uint64_t now;
    __asm__ volatile("mrs %0, fpcr" : "=r"(now));
    return now == 0;
}

#else

uint64_t base_floats_set(void)
{
    return 0;
}

void base_floats_restore(uint64_t before)
{
    (void)before;
}

bool base_floats_are_set(void)
{
    return true;
}

#endif
