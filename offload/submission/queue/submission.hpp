// SPDX-License-Identifier: Apache-2.0
//
// The state of early submission, and the functions by which the files of this folder use it together:
// submission.cpp submits tasks, runtime_calls.cpp has the functions that the runtime calls, ends.cpp ends tasks in the
// progress hook.
#pragma once

#include "base/id_table.hpp"
#include "submission/queue/submitted_task.hpp"
#include "submission/queue/waits.hpp"

#include <atomic>

namespace marline::offload::submission {

// One for the process. The lock guards all members but the atomic ones and `hook`.
struct SubmissionState {
  Lock lock;
  // Finds the record of a claimed task by the task's number. At most one record for each unfinished target task.
  PointerTable<SubmittedTask>& claimed = make_table<SubmittedTask>();
  IntrusiveList<SubmittedTask> to_submit, to_end;  // tasks of `claimed`
  // Number of submitted constructs that have not ended, without the regions that graph_iterations.cpp submits. When it
  // reaches Device::most_submitted, further tasks stay in `to_submit`: there a task takes the least memory, and the
  // device already has enough work.
  int submitted = 0;
  bool is_submitting = false;  // a thread launches a task
  TaskWaits waits;
  int counted = 0;  // number of tasks to end that the progress hook counts as pending
  // Number of constructs whose copies the progress hook makes part by part. The hook counts them as pending, too.
  std::atomic<int> in_parts{0};
  // The program's one cluster; set when the first task is claimed.
  std::atomic<Device*> device{nullptr};
  marline_hook_t* hook = nullptr;  // constant from the start of submission on
};

extern SubmissionState g_submission;

// Queues the task to be ended, and adds 1 to `pushed`. Called with the lock; the caller must call notify_hook(pushed)
// after it releases the lock.
void push_end(SubmittedTask* one, int& pushed);
void notify_hook(int pushed);

// Reports the task, which is ready and has been submitted, to a tool as a detached task: an event ends it, and no
// thread runs it. Called with the lock, which it releases while it reports.
void report_detached(const SubmittedTask* one);

// Submits the task to its device, ordered after the operations in `after`. False: the task has not been submitted, and
// the caller must leave it to the runtime. Called by one thread at a time, without the lock.
[[nodiscard]] bool launch(SubmittedTask* one, List<uint64_t>& after);

// Whether the device may skip the task, which has been submitted. Called with the lock, or by the submitting thread.
[[nodiscard]] bool may_be_cancelled(const SubmittedTask& one);

// Whether `task` is a direct or indirect predecessor of `one`, which is being submitted, or has ended.
[[nodiscard]] bool is_ordered_after(const SubmittedTask* one, uint64_t task);

// Finds the operation on the device of a task that has been submitted. False: the task has ended.
[[nodiscard]] bool find_operation(uint64_t task, uint64_t& operation);

// The functions from here on to lets_others_go are called with the lock (SubmissionState).
// Adds a task to `claimed`, as the last one that has been created.
void add_claimed(SubmittedTask* one, uint64_t number);
// Called when an event that SubmittedTask::missing counts has occurred. After the last one, queues the task.
void count_down(SubmittedTask* one);
// In kernel_lookup.cpp. Lets the task wait until the device has said where it has the kernel. False: the device does
// not have it. Sets `fresh` if the device has not been asked yet: the caller must ask it, without the lock.
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

// Submits queued tasks until the queue is empty or the device has Device::most_submitted. Called without the lock.
void submit_ready();

// Submits at once, ahead of all queued tasks, a task that waits for nothing. False: the task is left to the runtime.
// Called without the lock.
[[nodiscard]] bool submit_now(SubmittedTask* one, List<uint64_t>& after);

// Implements marline_target_observer_t::ready. `taken` is the SubmittedTask.
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
// Submits a region as a part of an iteration that is like the previous one. The region's only predecessors are the
// claimed tasks in `numbers`. True: the region has been submitted, or left to the runtime. False: the caller must queue
// it like any other task. Called by the thread that creates the iteration's tasks.
[[nodiscard]] bool submit_in_turn(SubmittedTask* one, const uint64_t* numbers, size_t count);
// Called in a fork's child.
void forget_graphs();

// Adds to SubmissionState::in_parts, and to the number of pending tasks of the progress hook.
void count_in_parts(int constructs);

// The device's address of the kernel; 0: it is not known.
[[nodiscard]] inline uint64_t where(const Entry* kernel, const Device* device) {
  return kernel->code.get(device->number);
}

// In ends.cpp: the progress hook. Returns the number of tasks that it has ended, plus 1 if it has copied a part.
int end_tasks(void*);

}  // namespace marline::offload::submission
