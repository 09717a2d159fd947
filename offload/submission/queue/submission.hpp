// SPDX-License-Identifier: Apache-2.0
//
// The state of early submission, and the functions by which the files of this folder use it together:
// submission.cpp submits, runtime_calls.cpp has the runtime's calls, ends.cpp ends tasks in the progress hook.
#pragma once

#include "base/id_table.hpp"
#include "submission/queue/submitted_task.hpp"
#include "submission/queue/waits.hpp"

#include <atomic>

namespace marline::offload::submission {

// One for the process. The lock guards all members but the atomic ones and `hook`.
struct SubmissionState {
  Lock lock;
  // By number; as many as target tasks that the program has created and not ended.
  PointerTable<SubmittedTask>& claimed = make_table<SubmittedTask>();
  IntrusiveList<SubmittedTask> to_submit, to_end;  // tasks of `claimed`
  // Constructs that have been submitted and have not ended, but for regions that graph_iterations.cpp has submitted.
  // Above Device::most_submitted, tasks queue here: a record here is the smallest, and the device already has enough
  // work.
  int submitted = 0;
  bool is_submitting = false;  // a thread launches a task
  TaskWaits waits;
  int counted = 0;  // number of tasks to end that the progress hook counts as pending
  // Number of constructs with copies that the progress hook makes; it counts these as pending, too.
  std::atomic<int> in_parts{0};
  // The program's one cluster; set when the first task is claimed.
  std::atomic<Device*> device{nullptr};
  marline_hook_t* hook = nullptr;  // constant from the start of submission on
};

extern SubmissionState g_submission;

// Queues the task to be ended. Called with the lock; the caller must call notify_hook(pushed) after it releases the
// lock.
void push_end(SubmittedTask* one, int& pushed);
void notify_hook(int pushed);

// Reports a task that is ready and has been submitted as detached to a tool. Called with the lock, which it releases in
// between.
void report_detached(const SubmittedTask* one);

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
// Adds a task to `claimed`, as the last one that has been created.
void add_claimed(SubmittedTask* one, uint64_t number);
// Called when one of the tasks or events that SubmittedTask::missing counts has come. When none is left, queues the
// task for the device.
void count_down(SubmittedTask* one);
// In kernel_lookup.cpp. Lets the task wait for its kernel. False: the device does not have the kernel. `fresh`: the
// caller must ask the device, without the lock.
[[nodiscard]] bool wait_for_kernel(SubmittedTask* one, SoughtKernel*& fresh);
// Whether successors of the task may be submitted.
[[nodiscard]] bool lets_others_go(const SubmittedTask* one);

// In awaited_ends.cpp, for tasks with ends that the host waits for. The first two are called with the lock, the last
// one without it.
void note_to_report(SubmittedTask* one, List<uint64_t>& to_report);
void note_awaited(const uint64_t* numbers, size_t count, List<uint64_t>& to_report);
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

// In ends.cpp: the progress hook, which ends tasks. Returns how many it has ended.
int end_tasks(void*);

}  // namespace marline::offload::submission
