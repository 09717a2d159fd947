// SPDX-License-Identifier: Apache-2.0
//
// Routines with the same name and other arguments in GCC's ABI and LLVM's: lists of omp_depend_t, which is two words
// with GCC and a pointer with LLVM, and Fortran text of a length that the caller does not know. They are defined at
// libgomp's version nodes only (runtime/abi/exports.map): code of GCC finds these, code of Clang finds libomptarget's.
// They are not the default version of their names, so dlsym and references without a version find libomptarget's, too.
// Any thread.
#include "abi/gomp/task_block.hpp"

#include "base/check.hpp"
#include "construct/device/rectangle.hpp"

#include <cerrno>
#include <cstring>

// Gives the function that follows a name with a version. Clang has no attribute for that; GCC's link-time optimisation
// does not see the assembler's directive.
#if __has_attribute(symver)
#define MARLINE_SYMBOL_VERSION(own, name) __attribute__((symver(name)))
#else
#define MARLINE_SYMBOL_VERSION(own, name) asm(".symver " #own ", " name);
#endif

extern "C" {
int omp_get_initial_device();
const char* omp_get_uid_from_device(int device);
int omp_target_memcpy(void* to, const void* from, size_t length, size_t to_offset, size_t from_offset, int to_device,
                      int from_device);
int omp_target_memcpy_rect(void* to, const void* from, size_t element, int dimensions, const size_t* volume,
                           const size_t* to_offsets, const size_t* from_offsets, const size_t* to_extents,
                           const size_t* from_extents, int to_device, int from_device);
void* omp_target_memset(void* pointer, int value, size_t bytes, int device);
}

namespace marline::gomp {

namespace {

constexpr int kMostDimensions = MARLINE_RECTANGLE_DIMENSIONS;
constexpr int kArrays = 5;  // volume, offsets and extents at both ends

struct Copy {
  void* to;
  const void* from;
  size_t length, to_offset, from_offset;
  int to_device, from_device;
};

// With copies of the arrays: the caller may change them when the routine has returned.
struct RectangleCopy {
  void* to;
  const void* from;
  size_t element;
  int dimensions, to_device, from_device;
  size_t numbers[kArrays][kMostDimensions];
};

struct Fill {
  void* pointer;
  size_t bytes;
  int value, device;
};

// The call has long returned when the copy runs, so a failure cannot be returned to the program.
void must_succeed(const char* routine, int code, int to, int from) {
  if (code == 0) return;
  fatal("%s: cannot copy to device %d from device %d (%d is the host): %s", routine, to, from, omp_get_initial_device(),
        std::strerror(code));
}

void copy_later(void* arguments) {
  const auto& copy = *static_cast<const Copy*>(arguments);
  int code = omp_target_memcpy(copy.to, copy.from, copy.length, copy.to_offset, copy.from_offset, copy.to_device,
                               copy.from_device);
  must_succeed("omp_target_memcpy_async", code, copy.to_device, copy.from_device);
}

void copy_rectangle_later(void* arguments) {
  const auto& copy = *static_cast<const RectangleCopy*>(arguments);
  const auto& numbers = copy.numbers;
  int code = omp_target_memcpy_rect(copy.to, copy.from, copy.element, copy.dimensions, numbers[0], numbers[1],
                                    numbers[2], numbers[3], numbers[4], copy.to_device, copy.from_device);
  must_succeed("omp_target_memcpy_rect_async", code, copy.to_device, copy.from_device);
}

void fill_later(void* arguments) {
  const auto& fill = *static_cast<const Fill*>(arguments);
  omp_target_memset(fill.pointer, fill.value, fill.bytes, fill.device);
}

bool is_device(int number) { return number >= -1 && number <= omp_get_initial_device(); }  // -1: omp_initial_device

// A child of the current task with the dependences of `count` depend objects.
template <class Arguments>
void spawn_with_objects(Function run, const Arguments& arguments, int count, const DependObject* objects,
                        const void* codeptr) {
  DependenceBuffer dependences;
  for (int i = 0; i < count; ++i) decode_object(dependences, objects[i]);
  Worker* worker = this_worker();
  Task* task = allocate(worker, run, 0, sizeof arguments, alignof(Arguments), dependences.count());
  std::memcpy(arguments_of(task), &arguments, sizeof arguments);
  spawn_task(worker, task, dependences.list(), dependences.count(), codeptr);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

MARLINE_SYMBOL_VERSION(gomp_target_memcpy_async, "omp_target_memcpy_async@OMP_5.1.1")
int gomp_target_memcpy_async(void* to, const void* from, size_t length, size_t to_offset, size_t from_offset,
                             int to_device, int from_device, int count, const DependObject* objects) {
  if (!is_device(to_device) || !is_device(from_device)) return EINVAL;
  Copy copy = {to, from, length, to_offset, from_offset, to_device, from_device};
  spawn_with_objects(copy_later, copy, count, objects, __builtin_return_address(0));
  return 0;
}

MARLINE_SYMBOL_VERSION(gomp_target_memcpy_rect_async, "omp_target_memcpy_rect_async@OMP_5.1.1")
int gomp_target_memcpy_rect_async(void* to, const void* from, size_t element, int dimensions, const size_t* volume,
                                  const size_t* to_offsets, const size_t* from_offsets, const size_t* to_extents,
                                  const size_t* from_extents, int to_device, int from_device, int count,
                                  const DependObject* objects) {
  if (to == nullptr && from == nullptr) return kMostDimensions;
  bool valid = is_device(to_device) && is_device(from_device) && dimensions >= 1 && dimensions <= kMostDimensions;
  if (!valid) return EINVAL;
  RectangleCopy copy = {to, from, element, dimensions, to_device, from_device, {}};
  const size_t* given[kArrays] = {volume, to_offsets, from_offsets, to_extents, from_extents};
  for (int i = 0; i < kArrays; ++i) std::copy_n(given[i], dimensions, copy.numbers[i]);
  spawn_with_objects(copy_rectangle_later, copy, count, objects, __builtin_return_address(0));
  return 0;
}

MARLINE_SYMBOL_VERSION(gomp_target_memset_async, "omp_target_memset_async@GOMP_6.0.1")
void* gomp_target_memset_async(void* pointer, int value, size_t bytes, int device, int count,
                               const DependObject* objects) {
  Fill fill = {pointer, bytes, value, device};
  spawn_with_objects(fill_later, fill, count, objects, __builtin_return_address(0));
  return pointer;
}

// gfortran's function with a result character(:), pointer: the address and the length come first.
MARLINE_SYMBOL_VERSION(gomp_get_uid_from_device_, "omp_get_uid_from_device_@GOMP_6.0")
void gomp_get_uid_from_device_(const char** text, size_t* length, int32_t device) {
  *text = omp_get_uid_from_device(device);
  *length = *text != nullptr ? std::strlen(*text) : 0;
}
void omp_get_uid_from_device_8_(const char** text, size_t* length, int64_t device) {
  gomp_get_uid_from_device_(text, length, static_cast<int32_t>(device));
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::gomp
