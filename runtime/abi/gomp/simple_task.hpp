// SPDX-License-Identifier: Apache-2.0
//
// Deferred tasks of GCC's code without clauses. Such a task is queued, or runs at its creation: on a fiber of its own,
// so that its creator can go on if it blocks. In the latter case it mostly goes a short way: its descriptor is one that
// the fiber keeps (Fiber::stub), its arguments are copied onto that fiber's stack, the program's function is the
// fiber's base frame, and the task is counted in its creator only if it blocks, or at its end if a part of its subtree
// outlives it (exec/fiber/fiber.hpp). All of this is in line. The other functions end in calls of each other, so that
// no frame is needed. Run by the thread that runs the creator.
#pragma once

#include "abi/gomp/spare_task.hpp"
#include "abi/gomp/task_block.hpp"
#include "base/conditions.hpp"
#include "exec/fiber/fiber.hpp"
#include "exec/worker/completion.hpp"

namespace marline::gomp {

// The largest argument block for the short way.
inline constexpr size_t kMostOnFiber = 64;

// As copy_bytes, for up to kMostOnFiber bytes, without a call.
[[gnu::always_inline]] inline void copy_in_line(void* to, const void* from, size_t bytes) {
  auto* target = static_cast<char*>(to);
  auto* source = static_cast<const char*>(from);
  if (bytes > 32) {  // the first and the last half of 64, which may overlap
    std::memcpy(target, source, 32);
    std::memcpy(target + bytes - 32, source + bytes - 32, 32);
  } else if (bytes >= 8) {
    copy_bytes(to, from, bytes);
  } else if (bytes >= 4) {
    uint32_t first, last;
    std::memcpy(&first, source, 4);
    std::memcpy(&last, source + bytes - 4, 4);
    std::memcpy(target, &first, 4);
    std::memcpy(target + bytes - 4, &last, 4);
  } else if (bytes != 0) {
    target[0] = source[0];
    target[bytes / 2] = source[bytes / 2];
    target[bytes - 1] = source[bytes - 1];
  }
}

// Any task for which is_simple is true (construct/task/task.hpp). Makes the short way possible for the next one.
[[gnu::noinline]] void create_with_descriptor(Worker* worker, Function function, void* data, size_t bytes,
                                              unsigned flags, const void* codeptr);

// The same for a task that is to be queued.
[[gnu::noinline]] void queue(Worker* worker, Function function, void* data, size_t bytes, unsigned flags,
                             const void* codeptr);

// The task has run through, but its descriptor may outlive it, or ends_simply() is false.
[[gnu::noinline]] void complete_rarely(Worker* worker, Task* task);

// The same where no_conditions() is true. The arguments need no larger alignment than a TaskBlock.
[[gnu::always_inline]] inline void create_simple(Worker* worker, Function function, void* data, size_t bytes,
                                                 unsigned flags, const void* codeptr) {
  const SimpleWay way = simple_way(worker);
  if (way == SimpleWay::kQueue) return queue(worker, function, data, bytes, flags, codeptr);
  Fiber* spare = worker->spares.first;
  if (way == SimpleWay::kSpawn || bytes > kMostOnFiber || spare->stub == nullptr) [[unlikely]] {
    return create_with_descriptor(worker, function, data, bytes, flags, codeptr);
  }
  auto* own = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(spare) - bytes) & ~(sizeof(TaskBlock) - 1));
  copy_in_line(own, data, bytes);
  const uint32_t tied = ~flags & kUntied;
  static_assert(kUntied == task_flag::kTied && task_flag::kTied == 1);
  become_task(worker->task, spare->stub, function, tied);
  if (!call_uncounted(worker, spare, spare->stub, tied, own, function, reinterpret_cast<uintptr_t>(own), 0))
      [[unlikely]] {
    return;
  }
  worker = this_worker_or_null();  // found again, so that no register has to be kept across the call
  Task* task = return_from_call(worker);
  if (!ends_simply() || !leaves_nothing(task)) [[unlikely]] {
    complete_rarely(worker, task);
  }
}

}  // namespace marline::gomp
