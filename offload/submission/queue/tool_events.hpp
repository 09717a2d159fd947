// SPDX-License-Identifier: Apache-2.0
//
// Reports early-submitted tasks to tools (docs/design/cluster-submission.md, "What tools hear"). A construct begins
// when its task is submitted, on the submitting thread, and ends with the task. Each of its operations is reported in
// between, when it is started. The records of the operations are reported when all of them have ended. Any thread, one
// at a time for a task, without a lock. Without a tool, each call costs a load and a branch.
#pragma once

#include "base/intrusive_list.hpp"
#include "base/list.hpp"
#include "device/contract/capture.hpp"
#include "device/contract/tool_reports.hpp"

namespace marline::offload::submission {

using namespace cluster;
using namespace device;

// Copies that have been reported to a tool. The device writes the times of each copy into its element of `operations`.
struct ReportedCopies {
  ReportedCopies* next;
  uint32_t count;
  marline_operation_t operations[];
};

// Called right before the task is submitted: if a tool listens, begins the construct and puts it into the task's items.
void begin_report(CapturedTask& task, const Device* device);

// Called right before the copies are started. `reported` keeps their records until report_copies_done.
void report_copies(ReportedConstruct* of, const Device* device, DeviceCopy* copies, uint32_t count,
                   IntrusiveList<ReportedCopies>& reported);
void report_copies_done(IntrusiveList<ReportedCopies>& reported);

// report_kernel is called right before the kernel is started, report_kernel_done after the kernel has ended. If the
// kernel was cancelled before it ran, report_kernel_done reports nothing.
void report_kernel(ReportedConstruct* of, const Device* device, unsigned teams);
void report_kernel_done(ReportedConstruct* of, const Operation& kernel);

// Reports that private copies are released.
void report_release(ReportedConstruct* of, Device* device, const List<uint64_t>& copies);

// Whether a tool forbids early submission: it has ompt_callback_target, which does not name the construct's task, so
// the tool would attribute the construct to the task that the submitting thread runs. Warns once.
[[nodiscard]] bool tool_forbids();

}  // namespace marline::offload::submission
