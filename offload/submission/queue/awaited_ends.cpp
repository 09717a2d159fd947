// SPDX-License-Identifier: Apache-2.0
//
// Claimed tasks (submitted_tasks.cpp) whose ends are wanted on the host: the device hears of them, and of those before
// them.
#include "submission/queue/submitted_tasks.hpp"

namespace marline::offload::submission {

using namespace cluster;
using namespace device;
using namespace image;

// Under the lock, of one that is awaited.
void note_to_tell(Ahead* one, List<uint64_t>& tell) {
  if (one->state != Ahead::State::kHanded || one->is_told || one->has_ended) return;
  one->is_told = true;
  tell.push(one->number);
}

// Likewise: the ends of these claimed tasks are wanted on the host, and so are those of their predecessors: a task is
// ended behind them. Each task is looked at once. The device hears of those in `tell`, without the lock.
void note_awaited(const uint64_t* numbers, size_t count, List<uint64_t>& tell) {
  List<uint64_t> left;
  for (size_t i = 0; i < count; ++i) left.push(numbers[i]);
  while (!left.is_empty()) {
    Ahead* one = find_claimed(left.back());
    left.pop();
    if (one == nullptr || one->is_awaited || one->state == Ahead::State::kLeft) continue;
    one->is_awaited = true;
    if (one->task->kernel != nullptr)
      const_cast<Entry*>(one->task->kernel)->is_awaited.store(true, std::memory_order_relaxed);
    note_to_tell(one, tell);
    for (uint64_t before : one->predecessors) left.push(before);
  }
}

void tell_awaited(Device* device, const List<uint64_t>& numbers) {
  for (uint64_t number : numbers) device->kind->ahead->await(device, number);
}

}  // namespace marline::offload::submission
