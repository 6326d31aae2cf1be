/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The shape rules that rows name. Each reads call->operands and call->attributes (arity, roles and kinds are checked already) and sets
 * call->rank and call->shape, or answers false with call->error. */
#ifndef GRAPH_RULES_H
#define GRAPH_RULES_H

#include "graph/row.h"

#define OP(Name, text, arity, roles, accepts, result, shape, ...) bool graph_shape_##shape(graph_call *call);
#include "wengert/ops.def"

#endif
