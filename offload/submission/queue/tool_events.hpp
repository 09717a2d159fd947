// SPDX-License-Identifier: Apache-2.0
//
// What tools hear of tasks that are sent ahead (docs/design/cluster.md, "What tools hear of it"). A construct begins
// when its task is handed over, by the thread that does that, and ends with the task. In between lie its operations,
// each told when it is asked for; their records come when all of them have ended. Any thread, one at a time for a task,
// without a lock. Without a tool each costs a load and a branch.
#pragma once

#include "cluster/base/list.hpp"
#include "device/contract/capture.hpp"
#include "device/contract/tell.hpp"

namespace marline::offload::submission {

using namespace cluster;
using namespace device;

// Copies that a tool has heard of, and that get their times where they are made.
struct ToldCopies {
  ToldCopies* next;
  uint32_t count;
  marline_operation_t operations[];
};

// The task is handed over next: from then on its items have the construct, if a tool listens.
void begin_told(CapturedTask& task, const Device* device);

// These are started next; `told` has them until tell_copies_done.
void tell_copies(Told* of, const Device* device, AheadCopy* copies, uint32_t count, ToldCopies*& told);
void tell_copies_done(ToldCopies*& told);

// The kernel that is started next; and it has ended, if it has run.
void tell_kernel(Told* of, const Device* device, unsigned teams);
void tell_kernel_done(Told* of, const Operation& kernel);

// Private copies are released.
void tell_release(Told* of, Device* device, const List<uint64_t>& copies);

// Whether there is a tool that would take a construct for that of the task on the thread, which is another one. Says so
// once.
[[nodiscard]] bool tool_forbids();

}  // namespace marline::offload::submission
