/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What fuzzers share: an allocator with a budget that counts, one of whose allocations may fail, a context over it, and the demand that stops a
 * run. */
#ifndef FUZZ_BUDGET_H
#define FUZZ_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "wengert/types.h"

/* Bytes that one input may hold at a time: a few bytes may ask for a tensor of any size. */
#define BUDGET ((size_t)16 << 20)

typedef struct budget {
    size_t used;
    uint32_t allocations, fails_at; /* the one of them that fails; 0: none */
    bool failed;                    /* one did, by its number or for want of budget */
} budget;

/* The run ends here, as a crash, where something does not hold. */
static inline void demand(int holds)
{
    if (!holds) abort();
}

static inline void *budget_resize(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    budget *b = user;
    size_t others = b->used - (block ? old_bytes : 0);
    if (new_bytes > BUDGET - others || (new_bytes && b->fails_at && ++b->allocations == b->fails_at)) {
        b->failed = true;
        return NULL;
    }
    if (!new_bytes) {
        free(block);
        b->used = others;
        return NULL;
    }
    void *answer = realloc(block, new_bytes);
    if (answer) b->used = others + new_bytes;
    else b->failed = true;
    return answer;
}

static inline wg_allocator budget_allocator(budget *b)
{
    return (wg_allocator){budget_resize, b};
}

static inline wg_context *budget_context(budget *b)
{
    wg_context_options options = {.size = sizeof options, .allocator = budget_allocator(b), .threads = 1, .simd = "v2"};
    wg_context *context = wg_context_new(&options, NULL);
    demand(context != NULL);
    return context;
}

/* A failure has a code that is nobody's defect, and says something. */
static inline void demand_error(const wg_error *error)
{
    demand(error->code != WG_OK && error->code != WG_INTERNAL && error->message[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

#endif
