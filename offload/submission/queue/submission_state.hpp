// SPDX-License-Identifier: Apache-2.0
//
// The state of early submission, and the functions by which the files of this folder use it together:
// submitted_tasks.cpp submits, runtime_calls.cpp has the runtime's calls, ends.cpp ends tasks in the progress hook.
#pragma once

#include "base/chained.hpp"
#include "submission/queue/submitted_tasks.hpp"
#include "submission/queue/waits.hpp"

#include <atomic>

namespace marline::offload::submission {

// One for the process. The lock guards all members but the atomic ones and `hook`.
struct SubmissionState {
  Lock lock;
  Chained<SubmittedTask> claimed;  // by number; as many as target tasks that the program has created and not ended
  Queue to_submit, to_end;
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

// In ends.cpp: the progress hook, which ends tasks. Returns how many it has ended.
int end_tasks(void*);

}  // namespace marline::offload::submission
