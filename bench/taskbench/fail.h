/* SPDX-License-Identifier: Apache-2.0
 *
 * Ends a run that cannot go on, and allocates memory or ends the run. Any thread.
 */
#ifndef MARLINE_TASKBENCH_FAIL_H
#define MARLINE_TASKBENCH_FAIL_H

#include <stddef.h>

/* Prints the line and ends the process at once with status 1: other threads may be in the middle of tasks. */
__attribute__((format(printf, 1, 2), noreturn)) void fail(const char* format, ...);
/* Zeroed, aligned to a cache line, or fails. */
void* allocate(size_t bytes);

#endif
