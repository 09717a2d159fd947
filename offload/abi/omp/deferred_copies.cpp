// SPDX-License-Identifier: Apache-2.0
//
// The copy routines that create a task (OpenMP 5.2, 18.8.7 and 18.8.8; 6.0, 25.7). The task has the dependences of the
// call, copies when these are fulfilled, and is a child of the calling task. If the copy fails, the program ends with a
// message, as the call has returned long before.
#include "base/report.hpp"
#include "abi/omp/copies.hpp"
#include "abi/omp/dependences.hpp"
#include "registry/registry.hpp"

#include <algorithm>
#include <cerrno>

namespace marline::offload::abi {

using namespace registry;

namespace {

constexpr int kMostDimensions = MARLINE_RECTANGLE_DIMENSIONS;

// Copies of the caller's arrays, which may be gone when the task runs.
struct DeferredRectangle {
  RectangleCopy copy;
  size_t numbers[5][kMostDimensions];
};

void fail(const char* routine, size_t bytes, int to, int from) {
  fatal("%s: cannot copy %zu bytes to device %d from device %d (%d is the host)", routine, bytes, to, from,
        device_count());
}

void copy_later(void* data) {
  auto& copy = *static_cast<const LinearCopy*>(data);
  if (run(copy) != 0) fail("omp_target_memcpy_async", copy.bytes, copy.to_device, copy.from_device);
}

void copy_rectangle_later(void* data) {
  auto& deferred = *static_cast<DeferredRectangle*>(data);
  RectangleCopy& copy = deferred.copy;
  auto& numbers = deferred.numbers;
  copy.shape = {copy.shape.element, copy.shape.dimensions, numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]};
  size_t bytes = copy.shape.element;
  for (int i = 0; i < copy.shape.dimensions; ++i) bytes *= numbers[0][i];
  if (run(copy) != 0) fail("omp_target_memcpy_rect_async", bytes, copy.to_device, copy.from_device);
}

void fill_later(void* data) { run(*static_cast<const Fill*>(data)); }

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

int omp_target_memcpy_async(void* to, const void* from, size_t bytes, size_t to_offset, size_t from_offset,
                            int to_number, int from_number, int count, void** objects) {
  LinearCopy copy = {to, from, bytes, to_offset, from_offset, to_number, from_number, __builtin_return_address(0)};
  if (!is_valid(copy)) return EINVAL;
  create_task(copy_later, &copy, sizeof copy, count, objects);
  return 0;
}

int omp_target_memcpy_rect_async(void* to, const void* from, size_t element, int dimensions, const size_t* volume,
                                 const size_t* to_offsets, const size_t* from_offsets, const size_t* to_extents,
                                 const size_t* from_extents, int to_number, int from_number, int count,
                                 void** objects) {
  if (to == nullptr && from == nullptr) return kMostDimensions;
  DeferredRectangle deferred = {};
  deferred.copy = {
      to,        from,        {element, dimensions, volume, to_offsets, from_offsets, to_extents, from_extents},
      to_number, from_number, __builtin_return_address(0)};
  if (!is_valid(deferred.copy)) return EINVAL;
  const size_t* given[] = {volume, to_offsets, from_offsets, to_extents, from_extents};
  for (int i = 0; i < 5; ++i) std::copy_n(given[i], dimensions, deferred.numbers[i]);
  create_task(copy_rectangle_later, &deferred, sizeof deferred, count, objects);
  return 0;
}

void* omp_target_memset_async(void* pointer, int value, size_t bytes, int number, int count, void** objects) {
  Fill fill = {pointer, value, bytes, number, __builtin_return_address(0)};
  create_task(fill_later, &fill, sizeof fill, count, objects);
  return pointer;
}

#pragma GCC visibility pop
}  // extern "C"

}  // namespace marline::offload::abi
