// SPDX-License-Identifier: Apache-2.0
//
// Routines about a device's memory that came after OpenMP 5.0 (6.0, chapter 25), where the host is the only device:
// libomptarget answers if it is in the process. Any thread.
#include "abi/omp/next_definition.hpp"

#include <cstddef>
#include <cstring>

namespace marline::omp {

namespace {

// The host's number is 0 if there are no other devices; -1 is omp_initial_device.
bool is_host(int device) { return device == 0 || device == -1; }

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int omp_target_is_accessible(const void* pointer, size_t size, int device) {
  if (auto other = next(omp_target_is_accessible, "omp_target_is_accessible")) return other(pointer, size, device);
  return is_host(device) ? 1 : 0;
}

void* omp_get_mapped_ptr(const void* pointer, int device) {
  if (auto other = next(omp_get_mapped_ptr, "omp_get_mapped_ptr")) return other(pointer, device);
  return is_host(device) ? const_cast<void*>(pointer) : nullptr;
}

void* omp_target_memset(void* pointer, int value, size_t bytes, int device) {
  if (auto other = next(omp_target_memset, "omp_target_memset")) return other(pointer, value, bytes, device);
  return is_host(device) && bytes != 0 ? std::memset(pointer, value, bytes) : pointer;
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::omp
