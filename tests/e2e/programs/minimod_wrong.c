/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded into minimod: the tenth copy between devices is not made. MINIMOD_WRONG is what the call returns: an error,
 * or 0, so that a halo is old without a sign of it.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

typedef int Copy(void* to, const void* from, size_t bytes, size_t to_offset, size_t from_offset, int to_device,
                 int from_device);

int omp_target_memcpy(void* to, const void* from, size_t bytes, size_t to_offset, size_t from_offset, int to_device,
                      int from_device) {
  static int copies;
  Copy* copy = (Copy*)dlsym(RTLD_NEXT, "omp_target_memcpy");
  if (__atomic_add_fetch(&copies, 1, __ATOMIC_RELAXED) == 10) return atoi(getenv("MINIMOD_WRONG"));
  return copy(to, from, bytes, to_offset, from_offset, to_device, from_device);
}
