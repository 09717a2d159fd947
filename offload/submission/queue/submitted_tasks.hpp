// SPDX-License-Identifier: Apache-2.0
//
// The records of early-submitted target constructs, which are guarded by the lock of submitted_tasks.cpp, and the
// interface between that file, submit.cpp (submits constructs to their device) and graph_iterations.cpp (submits
// iterations of persistent graphs). A claimed task (devices.h) is one that this library has taken from the runtime at
// its creation, to submit it early.
#pragma once

#include "base/lock.hpp"
#include "base/report.hpp"
#include "cluster/base/list.hpp"
#include "device/contract/capture.hpp"
#include "device/contract/pending_constructs.hpp"
#include "image/images.hpp"
#include "data/plan.hpp"

#include <cassert>
#include <cstdlib>
#include <new>

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

// A claimed task, from its creation to its end. The operation is its kernel, or the copies of a data construct, and
// `ended` is called when that has ended.
//
//                 missing is 0             the device has taken it
//   kWaiting ----------------> kQueued ----------------------------> kSubmitted
//   (for tasks that must be        |
//   submitted first, for others    | it has not, or may not
//   to end, for its kernel)        +----------------------------> kLeftToRuntime
//
// Two events are independent of that: the runtime finds all predecessors ended (`is_ready`), and the device ends the
// operation (`has_ended`), which may be before the task is marked as submitted. The task is queued to be ended when it
// is ready, and has ended or is left to the runtime. All are guarded by the lock.
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
  // The device has it, and has not ended its operation.
  [[nodiscard]] bool is_on_device() const { return is_submitted() && !has_ended; }
  // Nothing keeps its end back: end_tasks may take it.
  [[nodiscard]] bool may_end() const { return is_ready && (is_left_to_runtime() || (is_submitted() && has_ended)); }

  CapturedTask* task = nullptr;
  Device* device = nullptr;
  State state = State::kWaiting;
  bool is_ready = false, has_ended = false;
  bool is_awaited = false;            // its end is awaited by a task that is not claimed, or by a thread
  bool is_reported = false;           // the device knows that, or is notified before anything else
  bool seeks_kernel = false;          // the device has been asked where it has the kernel
  bool in_parts = false;              // its copies are made in parts
  bool is_submitted_in_turn = false;  // submitted by graph_iterations.cpp
  bool is_of_iteration = false;       // and submitted to the device as a part of its graph's iteration
  bool is_iteration = false;          // it represents all regions of an iteration; its items are the data that they use
  bool changes = false;               // for is_iteration: the arguments may differ from the previous iteration's
  bool has_other_predecessors = false;  // as in Launch
  bool looks_later = false;             // it copies to the device data that claimed predecessors may still change
  // Number of claimed tasks that must be submitted first; plus 1 each for all other predecessors, for the kernel, and
  // for the creator.
  uint32_t missing = 1;
  Array<uint64_t, 1> predecessors;      // claimed predecessors, by their numbers
  Array<SubmittedTask*, 1> dependents;  // tasks that count this one in `missing`
  List<uint64_t> copies;                // device addresses of private copies
  SubmittedTask* next = nullptr;        // next task of a Queue
  uint64_t key = 0;                     // the task's number
  uint64_t met_in = 0;                  // number of the last search for a task's predecessors that has met this task
  uint64_t created = 0;                 // its number in TaskWaits
  SubmittedTask* chained = nullptr;
  Ending* ending = nullptr;
  struct ReportedCopies* reported_copies = nullptr;  // tool_events.hpp
  PendingConstruct* shown = nullptr;                 // while the device has the task; a task that waits here needs none
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

// A queue of tasks, first in, first out.
struct Queue {
  SubmittedTask* first = nullptr;
  SubmittedTask* last = nullptr;

  void push(SubmittedTask* one) {
    one->next = nullptr;
    (first == nullptr ? first : last->next) = one;
    last = one;
  }
  SubmittedTask* pop() {
    SubmittedTask* one = first;
    if (one != nullptr) first = one->next;
    return one;
  }
};

template <class T>
T* make() {
  void* memory = std::malloc(sizeof(T));
  if (memory == nullptr) fatal("no memory for a deferred target region");
  return new (memory) T{};
}

template <class T>
void destroy(T* one) {
  one->~T();
  std::free(one);
}

// Submits the task, which is next, to its device, ordered after the operations in `after`. False: nothing has been
// done, and the task is to be left to the runtime. Called by one thread at a time, without the lock.
[[nodiscard]] bool launch(SubmittedTask* one, List<uint64_t>& after);

// Whether the device may skip the task, which has been submitted. Called with the lock, or by the submitting thread.
[[nodiscard]] bool may_be_cancelled(const SubmittedTask& one);

// Whether `one`, which is being submitted, is ordered after `task`, directly or not, or `task` has ended.
[[nodiscard]] bool is_ordered_after(const SubmittedTask* one, uint64_t task);

// Finds the operation on the device of a task that has been submitted. False: the task has ended.
[[nodiscard]] bool find_operation(uint64_t task, uint64_t& operation);

// The functions from here on to lets_others_go are called with the lock (SubmissionState).
[[nodiscard]] SubmittedTask* find_claimed(uint64_t task);
// Adds a claimed task, so that find_claimed finds it.
void add_claimed(SubmittedTask* one, uint64_t number);
void remove_claimed(SubmittedTask* one);
// Called when one of the tasks or events has come that are counted in `missing`.
void count_down(SubmittedTask* one);
// In kernel_lookup.cpp. Lets the task wait for its kernel. False: the device does not have the kernel. `fresh`: the
// caller must ask the device, without the lock.
[[nodiscard]] bool wait_for_kernel(SubmittedTask* one, SoughtKernel*& fresh);
// Whether successors of the task may be submitted.
[[nodiscard]] bool lets_others_go(const SubmittedTask* one);

// In awaited_ends.cpp, for tasks with ends that the host waits for. The first two are called with the lock, the last
// one without it.
void note_to_report(SubmittedTask* one, List<uint64_t>& tell);
void note_awaited(const uint64_t* numbers, size_t count, List<uint64_t>& tell);
void report_awaited(Device* device, const List<uint64_t>& numbers);

// In order_check.cpp. Called before the task is launched, without the lock. Does nothing unless the device checks
// programs.
void check_order(const SubmittedTask* one, const struct SubmissionOrder& order);

// Submits all tasks that are next, as far as the device has room. Called without the lock.
void submit_ready();

// Submits at once a task that waits for nothing, ahead of all queued tasks. False: it is left to the runtime. Called
// without the lock.
[[nodiscard]] bool submit_now(SubmittedTask* one, List<uint64_t>& after);

// As marline_target_observer_t::ready.
void ready(void* taken);

// In graph_iterations.cpp: the functions of marline_target_observer_t for iterations of persistent graphs and for a
// thread's waits.
void iterates(uint64_t graph, int has_barrier);
void iterated(uint64_t graph);
void graph_ends(uint64_t graph);
[[nodiscard]] int repeats(uint64_t graph, marline_claimed_t* all, uint64_t number);
[[nodiscard]] int replays_with_arguments(uint64_t graph, marline_claimed_t* all, uint64_t number);
[[nodiscard]] int replay_next(const marline_target_task_t* task);
void waits(marline_wait_kind_t kind);
// Submits a region as a part of an iteration that is like the previous one; the region's only predecessors are these
// claimed tasks. True: it has been submitted, or left to the runtime. False: it is to be submitted as any other task.
// Called by the producer's thread.
[[nodiscard]] bool submit_in_turn(SubmittedTask* one, const uint64_t* numbers, size_t count);
// Called in a fork's child.
void forget_graphs();

// Adds to the number of constructs with copies in progress that are made in parts: the progress hook makes these
// copies.
void count_in_parts(int constructs);

// The device's address of the kernel; 0: it is not known.
[[nodiscard]] inline uint64_t where(const Entry* kernel, const Device* device) {
  return kernel->code.get(device->number);
}

}  // namespace marline::offload::submission
