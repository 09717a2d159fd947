// SPDX-License-Identifier: Apache-2.0
//
// Reports the constructs and operations of early-submitted tasks to tools.
#include "submission/queue/tool_events.hpp"

#include "base/report.hpp"

#include <cstdlib>

namespace marline::offload::submission {

void begin_report(CapturedTask& task, const Device* device) {
  if (is_reported(MARLINE_ON_ANYTHING)) [[unlikely]] {
    task.items.reported = begin_claimed_report(task.kind, device->number, task.code, task.handle);
  }
}

void report_copies(ReportedConstruct* of, const Device* device, DeviceCopy* copies, uint32_t count,
                   IntrusiveList<ReportedCopies>& reported) {
  if (of == nullptr || count == 0 || !is_reported(MARLINE_ON_DATA | MARLINE_ON_TIMES)) return;
  auto* made = static_cast<ReportedCopies*>(std::malloc(sizeof(ReportedCopies) + count * sizeof(marline_operation_t)));
  if (made == nullptr) fatal("no memory to tell a tool of %u copies", count);
  made->count = count;
  reported.push_first(made);
  for (uint32_t i = 0; i < count; ++i) {
    made->operations[i] = report_copy_started(device, copies[i], of);
    copies[i].reported = &made->operations[i];
  }
}

// A copy that was not made, as its task was cancelled, has no times.
void report_copies_done(IntrusiveList<ReportedCopies>& reported) {
  while (ReportedCopies* made = reported.pop()) {
    for (uint32_t i = 0; i < made->count; ++i) {
      if (made->operations[i].begin != 0) marline_operation_done(&made->operations[i]);
    }
    std::free(made);
  }
}

void report_kernel(ReportedConstruct* of, const Device* device, unsigned teams) {
  report_kernel_begin(of, device, teams);
  report_kernel_started(of);  // reported before the kernel can end, as that may end the construct
}

// `by` is null if the kernel was cancelled before it ran, or if it ran when no node recorded times.
void report_kernel_done(ReportedConstruct* of, const Operation& kernel) {
  if (kernel.by != nullptr) report_kernel_end(of, kernel.begin, kernel.end, kernel.by);
}

void report_release(ReportedConstruct* of, Device* device, const List<uint64_t>& copies) {
  if (of == nullptr) return;
  for (uint64_t copy : copies) report_memory(Memory::kRelease, device, nullptr, copy, 0, of);
}

bool tool_forbids() {
  if (!is_reported(MARLINE_ON_BY_TASK)) [[likely]] {
    return false;
  }
  static std::atomic<bool> is_said{false};
  if (!is_said.exchange(true)) {
    warn(
        "a tool has ompt_callback_target, which does not say of which target task a construct is: target tasks are not "
        "sent ahead of time (with ompt_callback_target_emi they are)");
  }
  return true;
}

}  // namespace marline::offload::submission
