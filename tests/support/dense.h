/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What tests of host rows share. They need the library that computes these rows; where it is missing they say what did not run. */
#ifndef SUPPORT_DENSE_H
#define SUPPORT_DENSE_H

#include "support/tensors.h"
#include "wengert/graph.h"

/* Is there what computes this row? Where there is not, a line says that the row is not tested. */
bool test_row_is_here(wg_op op);
/* Adds 2, 3.5, 5 .. to the diagonals of the matrices on the last two axes. Of items of magnitude at most 1/2 and up to five rows that makes
 * matrices of full rank, with simple eigenvalues and singular values, symmetric ones positive definite. */
void test_make_dominant(wg_tensor *matrices);

#endif
