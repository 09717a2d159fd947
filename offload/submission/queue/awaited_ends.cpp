// SPDX-License-Identifier: Apache-2.0
//
// Notifies the device of claimed tasks (submission.cpp) with ends that the host waits for, and of their
// predecessors.
#include "submission/queue/submission.hpp"

namespace marline::offload::submission {

using namespace cluster;
using namespace device;
using namespace image;

// Called with the lock, for a task that is awaited.
void note_to_report(SubmittedTask* one, List<uint64_t>& to_report) {
  if (!one->is_on_device() || one->is_reported) return;
  one->is_reported = true;
  to_report.push(one->number);
}

// Called with the lock. The host waits for the ends of these claimed tasks, and so for the ends of their predecessors,
// as a task is ended after its predecessors. Each task is visited once. The caller must pass `to_report` to
// report_awaited, without the lock.
void note_awaited(const uint64_t* numbers, size_t count, List<uint64_t>& to_report) {
  List<uint64_t> left;
  for (size_t i = 0; i < count; ++i) left.push(numbers[i]);
  while (!left.is_empty()) {
    SubmittedTask* one = g_submission.claimed.find(left.back());
    left.pop();
    if (one == nullptr || one->is_awaited || one->is_left_to_runtime()) continue;
    one->is_awaited = true;
    if (one->task->kernel != nullptr)
      const_cast<Entry*>(one->task->kernel)->is_awaited.store(true, std::memory_order_relaxed);
    note_to_report(one, to_report);
    for (uint64_t before : one->predecessors) left.push(before);
  }
}

void report_awaited(Device* device, const List<uint64_t>& numbers) {
  for (uint64_t number : numbers) device->kind->early->await(device, number);
}

}  // namespace marline::offload::submission
