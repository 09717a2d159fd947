/* SPDX-License-Identifier: Apache-2.0
 *
 * The program's malloc and free, in place of libc's: blocks are recorded, and freed ones are held back for a while, so
 * that their addresses do not soon name other objects. The recorder's own memory comes from heap_calloc.
 */
#ifndef MARLINE_CHECK_ACCESSES_HEAP_H
#define MARLINE_CHECK_ACCESSES_HEAP_H

#include <stddef.h>

/* Never null: ends the process if there is no memory. */
void* heap_calloc(size_t count, size_t size);
void heap_free(void* block);

#endif
