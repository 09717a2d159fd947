// SPDX-License-Identifier: Apache-2.0
//
// The record of a claimed task, which this library has taken from the runtime at its creation (devices.h) to submit it
// early, and the records that belong to it. All are guarded by the lock of submission.hpp.
#pragma once

#include "base/intrusive_list.hpp"
#include "base/list.hpp"
#include "base/lock.hpp"
#include "base/make.hpp"
#include "device/contract/capture.hpp"
#include "device/contract/pending_constructs.hpp"
#include "image/images.hpp"
#include "data/plan.hpp"

#include <cassert>
#include <cstdint>

namespace marline::offload::submission {

using namespace cluster;
using namespace data;
using namespace device;
using namespace image;

// The plan of a data construct, of a region with transient maps, or of a region with data to copy back at its end.
struct Ending {
  Plan plan;
  bool has_begun = false;    // of a region: its end has begun
  uint32_t copies_left = 0;  // of a region: number of copies of its end that are in progress
};

// A claimed task, from its creation to its end. As an Operation of the device it is the task's kernel, or the copies of
// a data construct; the device calls `ended` when the operation has ended.
//
//                 missing is 0             the device has taken it
//   kWaiting ----------------> kQueued ----------------------------> kSubmitted
//   (for tasks that must be        |
//   submitted first, for others    | the device cannot take it, or it is cancelled
//   to end, for its kernel)        +----------------------------> kLeftToRuntime
//
// Two events are independent of the state: the runtime finds that all predecessors have ended (`is_ready`), and the
// device ends the operation (`has_ended`), perhaps before the task is marked as submitted. The task is queued to be
// ended when it is ready and either its operation has ended or it is left to the runtime. The lock guards all members.
struct SubmittedTask : Operation {
  enum class State : uint8_t { kWaiting, kQueued, kSubmitted, kLeftToRuntime };

  void transition_to_queued() {
    assert(state == State::kWaiting);
    state = State::kQueued;
  }
  // A task that is submitted at once, ahead of the queue, has been neither counted down nor queued.
  void transition_to_submitted() {
    assert(state == State::kWaiting || state == State::kQueued);
    state = State::kSubmitted;
  }
  void transition_to_left_to_runtime() {
    assert(state == State::kWaiting || state == State::kQueued);
    state = State::kLeftToRuntime;
  }
  [[nodiscard]] bool is_waiting() const { return state == State::kWaiting; }
  [[nodiscard]] bool is_submitted() const { return state == State::kSubmitted; }
  [[nodiscard]] bool is_left_to_runtime() const { return state == State::kLeftToRuntime; }
  // The device has the task, and has not ended its operation.
  [[nodiscard]] bool is_on_device() const { return is_submitted() && !has_ended; }
  // Whether the task can be queued for end_tasks.
  [[nodiscard]] bool may_end() const { return is_ready && (is_left_to_runtime() || (is_submitted() && has_ended)); }

  CapturedTask* task = nullptr;
  Device* device = nullptr;
  State state = State::kWaiting;
  bool is_ready = false, has_ended = false;
  bool is_awaited = false;            // its end is awaited by a task that is not claimed, or by a thread
  bool is_reported = false;           // the device knows that the task is awaited, or is about to be notified
  bool seeks_kernel = false;          // the device has been asked where it has the kernel
  bool in_parts = false;              // the progress hook makes its copies part by part
  bool is_submitted_in_turn = false;  // submitted by graph_iterations.cpp
  bool is_of_iteration = false;       // submitted to the device as a part of its graph's iteration
  bool is_iteration = false;          // it represents all regions of an iteration; its items are the data that they use
  bool changes = false;               // for is_iteration: the arguments may differ from the previous iteration's
  bool has_other_predecessors = false;  // see Launch::has_other_predecessors
  bool looks_later = false;             // it copies to the device data that claimed predecessors may still change
  // Number of claimed tasks that must be submitted first, plus 1 while any other predecessor has not ended, plus 1
  // while the device looks for the kernel, plus 1 until the runtime has reported the predecessors.
  uint32_t missing = 1;
  List<uint64_t, 1> predecessors;      // claimed predecessors, by their numbers
  List<SubmittedTask*, 1> dependents;  // tasks that count this one in `missing`
  List<uint64_t> copies;               // device addresses of private copies
  SubmittedTask* next = nullptr;       // next task of to_submit or to_end (submission.hpp)
  uint64_t key = 0;                    // the task's number
  uint64_t met_in = 0;                 // number of the last search for a task's predecessors that has met this task
  uint64_t created = 0;                // its number in TaskWaits
  Ending* ending = nullptr;
  IntrusiveList<struct ReportedCopies> reported_copies;  // tool_events.hpp
  PendingConstruct* shown = nullptr;  // the task's entry in `marline ps`, from the submission to the task's end
};

// A question to a device where it has a kernel, and the tasks that wait for the answer. If the device does not have the
// kernel, the record stays, and the kernel's tasks are not claimed. The list has a record for each kernel that is
// sought now and for each that is missing.
struct SoughtKernel : Operation {
  const Entry* kernel = nullptr;
  Device* device = nullptr;
  bool is_missing = false;
  List<SubmittedTask*> waiting;
  SoughtKernel* next = nullptr;
};

}  // namespace marline::offload::submission
