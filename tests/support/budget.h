/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * An allocator that counts, and of which an allocation may fail. A block that is resized always moves, so that what still looks at its old
 * place is found. */
#ifndef TESTS_SUPPORT_BUDGET_H
#define TESTS_SUPPORT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wengert/types.h"

typedef struct test_budget {
    long left;     /* allocations that succeed before every further one fails; below 0: none fails */
    bool failed;   /* one did */
    int64_t blocks, bytes; /* alive */
    int64_t asked; /* bytes of all allocations together */
} test_budget;

static inline void *test_budget_resize(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    test_budget *budget = user;
    if (new_bytes) {
        if (budget->left == 0) return budget->failed = true, NULL;
        if (budget->left > 0) budget->left--;
    }
    void *made = new_bytes ? malloc(new_bytes) : NULL;
    if (new_bytes && !made) return NULL;
    if (block && made) memcpy(made, block, old_bytes < new_bytes ? old_bytes : new_bytes);
    budget->blocks += (made != NULL) - (block != NULL);
    budget->bytes += (int64_t)new_bytes - (block ? (int64_t)old_bytes : 0);
    budget->asked += (int64_t)new_bytes;
    free(block);
    return made;
}

static inline wg_allocator test_budget_allocator(test_budget *budget)
{
    return (wg_allocator){test_budget_resize, budget};
}

/* Calls work(context) in contexts of which one more allocation succeeds each time, until it answers true, at the latest with `most`; nothing of
 * a context stays. */
static inline bool test_budget_rises(bool (*work)(wg_context *context), long most)
{
    for (long allowed = 0; allowed <= most; allowed++) {
        test_budget budget = {.left = -1};
        wg_context_options options = {.size = sizeof options, .allocator = test_budget_allocator(&budget)};
        wg_context *context = wg_context_new(&options, NULL);
        budget.left = allowed;
        bool done = work(context);
        wg_context_free(context);
        if (budget.bytes) return false;
        if (done) return true;
    }
    return false;
}

#endif
