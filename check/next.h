/* SPDX-License-Identifier: Apache-2.0
 *
 * For functions that stand before those of other libraries.
 */
#ifndef MARLINE_CHECK_NEXT_H
#define MARLINE_CHECK_NEXT_H

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

/* The function of that name in the libraries after this one. The first caller looks it up; all callers find the same.
 * Any thread. */
static inline void* next(_Atomic(void*)* found, const char* name) {
  void* function = atomic_load_explicit(found, memory_order_relaxed);
  if (function == NULL) {
    function = dlsym(RTLD_NEXT, name);
    atomic_store_explicit(found, function, memory_order_relaxed);
  }
  return function;
}

#endif
