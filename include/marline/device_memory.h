/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of devices in calls of other libraries. libmarline-target gives these functions to libmarline-mpi, so that
 * any thread can call a GPU-aware MPI with addresses of such memory. Programs do not need it. The conventions of
 * marline.h hold here, too.
 */
#ifndef MARLINE_DEVICE_MEMORY_H
#define MARLINE_DEVICE_MEMORY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a library that passes addresses on to a GPU-aware MPI must know of the memory of devices. Any thread may call
 * the functions. */
typedef struct marline_device_memory {
  size_t bytes; /* sizeof(marline_device_memory_t) in the library: later versions add fields at the end */
  /* Makes the calling thread ready for libraries that call the devices' driver in it: NVIDIA's driver needs a context
   * that is current in the thread. Changes nothing in a thread that is ready. Returns 0 if the thread is ready now. */
  int (*prepare_thread)(void);
  /* 1 if the address is in a device's memory, which the host cannot touch; otherwise 0. */
  int (*holds)(const void* address);
  /* Copy between the host and such memory, and return 0 when the bytes are there. They block the thread, and never
   * suspend the calling task. */
  int (*read)(void* to, const void* from, size_t bytes);
  int (*write)(void* to, const void* from, size_t bytes);
} marline_device_memory_t;

/* Called by the library that drives the devices, when the first device with such memory starts. `memory` stays valid
 * to the end of the process. A second call replaces it. */
void marline_device_memory_provide(const marline_device_memory_t* memory);

/* The word that marline_device_memory_provide sets (release); NULL before. Its address never changes, so a caller may
 * keep it, and read the word (acquire) before each call of another library. */
const marline_device_memory_t* const* marline_device_memory_word(void);

#ifdef __cplusplus
}
#endif

#endif
