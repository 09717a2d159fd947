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

// Copies that have been reported to a tool. They get their times where they are made.
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

// report_kernel is called right before the kernel is started, report_kernel_done when it has ended; that reports
// nothing if the kernel has not run.
void report_kernel(ReportedConstruct* of, const Device* device, unsigned teams);
void report_kernel_done(ReportedConstruct* of, const Operation& kernel);

// Reports that private copies are released.
void report_release(ReportedConstruct* of, Device* device, const List<uint64_t>& copies);

// Whether there is a tool that would attribute a construct to the task that the thread runs, which is another task.
// Warns once.
[[nodiscard]] bool tool_forbids();

}  // namespace marline::offload::submission
