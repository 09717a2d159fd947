// SPDX-License-Identifier: Apache-2.0
//
// Task blocks and depend arrays of GCC. Runs on the thread that creates the task.
#include "abi/gomp/task_block.hpp"

#include "base/check.hpp"

#include <cstring>

namespace marline::gomp {

namespace {

// omp_depend_t as GCC lays it out, which is also how it passes single locators of later kinds.
struct DependObject {
  void* address;
  uintptr_t kind;
};

// GOMP_DEPEND_* of GCC's include/gomp-constants.h.
Access access_of(uintptr_t kind) {
  switch (kind) {
    case 1: return Access::kIn;
    case 2:
    case 3: return Access::kOut;
    case 4: return Access::kMutexinoutset;
    case 5: return Access::kInoutset;
    default: fatal("a depend object has kind %zu; use a depobj construct to initialise it", static_cast<size_t>(kind));
  }
}

}  // namespace

Task* allocate(Worker* worker, Function function, uint32_t flags, size_t bytes, size_t align, size_t dependences) {
  size_t offset = std::max(sizeof(TaskBlock), align);
  Task* task = allocate_task(worker, {.invoke = invoke,
                                      .code = code_of(function),
                                      .flags = flags,
                                      .block_bytes = offset + bytes,
                                      .block_align = std::max(alignof(TaskBlock), align),
                                      .dependences = dependences});
  fill_block(task, function, offset);
  return task;
}

void copy_arguments(Task* task, void* data, size_t bytes, CopyFunction copy) {
  if (copy != nullptr) {
    task->flags |= task_flag::kObjects;
    copy(arguments_of(task), data);
  } else if (bytes != 0) {
    std::memcpy(arguments_of(task), data, bytes);
  }
}

// The first form is {count, out count, locators...}: the out ones (with inout) first, then in. The second begins with
// 0: {0, count, out, mutexinoutset, in, locators...}, in that order, and behind them pointers to depend objects.
void decode(DependenceBuffer& buffer, void* const* depend) {
  bool first_form = depend[0] != nullptr;
  size_t count = reinterpret_cast<size_t>(depend[first_form ? 0 : 1]);
  size_t out = reinterpret_cast<size_t>(depend[first_form ? 1 : 2]);
  void* const* locator = depend + (first_form ? 2 : 5);
  void* const* end = locator + count;
  Dependence* to = buffer.room(count);
  auto copy = [&](void* const* until, Access access) {
    for (; locator != until; ++locator) *to++ = {*locator, access};
  };
  copy(locator + out, Access::kOut);  // a null locator is omp_all_memory
  if (!first_form) {
    copy(locator + reinterpret_cast<size_t>(depend[3]), Access::kMutexinoutset);
    size_t in = reinterpret_cast<size_t>(depend[4]);
    void* const* objects = locator + in;
    copy(objects, Access::kIn);
    for (; locator != end; ++locator) {
      auto* object = static_cast<const DependObject*>(*locator);
      *to++ = {object->address, access_of(object->kind)};
    }
  } else {
    copy(end, Access::kIn);
  }
  buffer.add_until(to);
}

}  // namespace marline::gomp
