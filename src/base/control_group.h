/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What the system allows a process: small files of the system, and the control groups that a process is in. */
#ifndef BASE_CONTROL_GROUP_H
#define BASE_CONTROL_GROUP_H

#include <stdbool.h>
#include <stddef.h>

/* The start of a small file, NUL-terminated; false where it cannot be read. */
bool base_read_start(const char *path, char *text, size_t bytes);

/* Calls visit for the directory of each control group that the process is in for a controller ("cpu", "memory"), from its own to the topmost.
 * second: its files are those of version 2. */
void base_control_groups(const char *controller, void (*visit)(void *user, const char *directory, bool second), void *user);

#endif
