/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for kernels that a program gives the driver as PTX, which the emulator does not run: a function of the same
 * name and parameters for each, which is called once and does the work of all threads.
 */
#include <stddef.h>
#include <stdint.h>

/* Of libmarline-target (offload/device/libomptarget/cuda/cuda_find.cpp). */
__attribute__((visibility("default"))) void marline_find(const uint64_t* first, const uint64_t* other, uint64_t words,
                                                         uint64_t begin, uint64_t bytes, unsigned char* found);

void marline_find(const uint64_t* first, const uint64_t* other, uint64_t words, uint64_t begin, uint64_t bytes,
                  unsigned char* found) {
  for (uint64_t i = 0; i < words; i++) {
    if (other != NULL ? first[i] != other[i] : first[i] - begin < bytes) found[0] = found[8 + i / 32] = 1;
  }
}
