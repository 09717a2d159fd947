/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that call an MPI library which takes addresses of device memory. A task may call MPI in any thread, and the
 * poller, the owner and the helpers call it for tasks. NVIDIA's driver, which the MPI library calls, needs a context
 * that is current in the thread. So each call of MPI itself (inside.h) first prepares its thread, once a device is in
 * use. Until then the cost is two loads and a branch. Any thread.
 */
#ifndef MARLINE_MPI_DEVICE_THREADS_H
#define MARLINE_MPI_DEVICE_THREADS_H

#include <stddef.h>

#include "marline/device_memory.h"

/* Leads to NULL before device_threads_open. */
extern __attribute__((visibility("hidden"))) const marline_device_memory_t* const* device_memory_word;

/* Called by library_resolve(), before the program's first call. */
void device_threads_open(void);

/* NULL: no device is in use whose memory the host cannot touch. */
static inline const marline_device_memory_t* device_memory(void) {
  return __atomic_load_n(device_memory_word, __ATOMIC_ACQUIRE); /* pairs with marline_device_memory_provide */
}

void device_threads_prepare_this(void);

static inline void device_threads_prepare(void) {
  if (__builtin_expect(device_memory() != NULL, 0)) device_threads_prepare_this();
}

#endif
