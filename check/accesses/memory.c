/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>

extern void* __libc_calloc(size_t count, size_t size);
extern void __libc_free(void* block);

void* memory_get(size_t count, size_t size) {
  void* block = __libc_calloc(count, size);
  if (block == NULL) {
    fprintf(stderr, "marline: check: no memory\n");
    abort();
  }
  return block;
}

void memory_free(void* block) { __libc_free(block); }
