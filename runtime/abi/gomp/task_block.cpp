// SPDX-License-Identifier: Apache-2.0
//
// Task blocks and depend arrays of GCC. Runs on the thread that creates the task.
#include "abi/gomp/task_block.hpp"

#include "base/check.hpp"

namespace marline::gomp {

namespace {

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
  } else {
    copy_bytes(arguments_of(task), data, bytes);
  }
}

namespace {

// Last first: GCC has the locators of a kind in the reverse order of the program. So the predecessor that was created
// last tends to be linked first, as with Clang, and this edge often makes others unnecessary (graph/linking.cpp,
// is_implied).
Dependence* copy(Dependence* to, void* const* locators, size_t count, Access access) {
  for (void* const* at = locators + count; at != locators;) *to++ = {*--at, access};
  return to;
}

// {0, count, out, mutexinoutset, in, locators...}, in that order, and then pointers to depend objects. If iterators
// have left no locator at all, the first form begins with 0, too: {0, 0}.
[[gnu::noinline]] void decode_second_form(DependenceBuffer& buffer, void* const* depend) {
  size_t count = reinterpret_cast<size_t>(depend[1]);
  if (count == 0) return;
  size_t out = reinterpret_cast<size_t>(depend[2]);
  size_t mutexinoutset = reinterpret_cast<size_t>(depend[3]);
  size_t in = reinterpret_cast<size_t>(depend[4]);
  void* const* locators = depend + 5;
  Dependence* to = copy(buffer.room(count), locators, out, Access::kOut);
  to = copy(to, locators + out, mutexinoutset, Access::kMutexinoutset);
  to = copy(to, locators + out + mutexinoutset, in, Access::kIn);
  for (size_t i = out + mutexinoutset + in; i < count; ++i) {
    auto* object = static_cast<const DependObject*>(locators[i]);
    *to++ = {object->address, access_of(object->kind)};
  }
  buffer.add_until(to);
}

}  // namespace

void decode_object(DependenceBuffer& buffer, const DependObject& object) {
  buffer.add(object.address, access_of(object.kind));
}

// The first form is {count, out count, locators...}: the out ones (with inout) first, then in. The second begins with
// 0. A null locator among the out ones is omp_all_memory.
void decode(DependenceBuffer& buffer, void* const* depend) {
  size_t count = reinterpret_cast<size_t>(depend[0]);
  if (count == 0) return decode_second_form(buffer, depend);
  size_t out = reinterpret_cast<size_t>(depend[1]);
  Dependence* to = copy(buffer.room(count), depend + 2, out, Access::kOut);
  buffer.add_until(copy(to, depend + 2 + out, count - out, Access::kIn));
}

}  // namespace marline::gomp
