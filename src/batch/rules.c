/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The table of rules, expanded from ops.def: a row without a line in rules.def and without a function of its own does not link. */
#include "batch/batch.h"

#define RULE(Name, shared)                                  \
    wg_value batch_rule_##Name(const batch_call *call)      \
    {                                                       \
        return batch_shared_##shared(call);                 \
    }
#include "batch/rules.def"

typedef wg_value (*rule_function)(const batch_call *call);

static const rule_function rules[WG_OP_COUNT] = {
#define OP(Name, ...) batch_rule_##Name,
#include "wengert/ops.def"
};

enum shared_rule { SHARED_own, SHARED_same, SHARED_shifted, SHARED_cells, SHARED_none };
static const uint8_t shared_rules[WG_OP_COUNT] = {
#define RULE(Name, shared) [WG_OP_##Name] = SHARED_##shared,
#include "batch/rules.def"
};

wg_value batch_record(const batch_call *call)
{
    return rules[call->op](call);
}

bool batch_is_cell_by_cell(wg_op op)
{
    return (unsigned)op < WG_OP_COUNT && shared_rules[op] == SHARED_cells;
}
