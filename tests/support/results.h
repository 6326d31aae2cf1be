/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What a recorded tape computes, by the oracle. */
#ifndef SUPPORT_RESULTS_H
#define SUPPORT_RESULTS_H

#include "wengert/run.h"

#define TEST_RESULTS 16

/* Ends the tape, verifies it, runs values [count, at most TEST_RESULTS] and answers them as owned tensors; options may be NULL. Fails the
 * test where something fails. */
void test_results_of(wg_tape *tape, const wg_value *values, uint32_t count, const wg_run_options *options, wg_tensor **results);

#endif
