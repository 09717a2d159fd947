/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorder's own memory, from libc, so that the recorder does not take it for the program's. Any thread.
 */
#ifndef MARLINE_CHECK_ACCESSES_MEMORY_H
#define MARLINE_CHECK_ACCESSES_MEMORY_H

#include <stddef.h>

/* Zeroed. Never null: ends the process if there is no memory. */
void* memory_get(size_t count, size_t size);
void memory_free(void* block);

#endif
