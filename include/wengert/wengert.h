/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Wengert: one graph, many readings. Everything a program needs: */
#ifndef WENGERT_WENGERT_H
#define WENGERT_WENGERT_H

#include "wengert/batch.h"   /* maps over a new axis */
#include "wengert/compose.h" /* softmax, conv2d, cross_entropy .. as rows */
#include "wengert/draws.h"   /* random numbers of many distributions, as rows */
#include "wengert/files.h"   /* .npy, safetensors */
#include "wengert/grad.h"    /* derivatives */
#include "wengert/graph.h"   /* tapes, values, networks, entries, parameters */
#include "wengert/nn.h"      /* layers, optimisers, checkpoints */
#include "wengert/ops.h"     /* a function a row */
#include "wengert/run.h"     /* the oracle, plans, sessions */
#include "wengert/text.h"    /* program text */
#include "wengert/types.h"   /* kinds, errors, contexts, tensors */

#endif
