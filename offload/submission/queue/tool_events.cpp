// SPDX-License-Identifier: Apache-2.0
//
// Reports the constructs and operations of early-submitted tasks to tools.
#include "submission/queue/tool_events.hpp"

#include "base/report.hpp"

#include <cstdlib>

namespace marline::offload::submission {

void begin_told(CapturedTask& task, const Device* device) {
  if (is_told(MARLINE_ON_ANYTHING)) [[unlikely]] {
    task.items.told = begin_claimed_told(task.kind, device->number, task.code, task.handle);
  }
}

void tell_copies(Told* of, const Device* device, AheadCopy* copies, uint32_t count, ToldCopies*& told) {
  if (of == nullptr || count == 0 || !is_told(MARLINE_ON_DATA | MARLINE_ON_TIMES)) return;
  auto* made = static_cast<ToldCopies*>(std::malloc(sizeof(ToldCopies) + count * sizeof(marline_operation_t)));
  if (made == nullptr) fatal("no memory to tell a tool of %u copies", count);
  made->next = told;
  made->count = count;
  told = made;
  for (uint32_t i = 0; i < count; ++i) {
    made->operations[i] = tell_copy_started(device, copies[i], of);
    copies[i].told = &made->operations[i];
  }
}

// A copy that was not made, as its task was cancelled, has no times.
void tell_copies_done(ToldCopies*& told) {
  while (ToldCopies* made = told) {
    told = made->next;
    for (uint32_t i = 0; i < made->count; ++i) {
      if (made->operations[i].begin != 0) marline_operation_done(&made->operations[i]);
    }
    std::free(made);
  }
}

void tell_kernel(Told* of, const Device* device, unsigned teams) {
  tell_kernel_begin(of, device, teams);
  tell_kernel_started(of);  // reported before the kernel can end, as that may end the construct
}

// `by` is null if the kernel was cancelled before it ran, or if it ran when no node recorded times.
void tell_kernel_done(Told* of, const Operation& kernel) {
  if (kernel.by != nullptr) tell_kernel_end(of, kernel.begin, kernel.end, kernel.by);
}

void tell_release(Told* of, Device* device, const List<uint64_t>& copies) {
  if (of == nullptr) return;
  for (uint64_t copy : copies) tell_memory(Memory::kRelease, device, nullptr, copy, 0, of);
}

bool tool_forbids() {
  if (!is_told(MARLINE_ON_BY_TASK)) [[likely]] {
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
