// SPDX-License-Identifier: Apache-2.0
//
// Events of the current task for a tool (OpenMP 5.2, chapter 19): worksharing regions, the task to which a thread
// switches when another task leaves it, and what a thread waits for (ompt_get_state). The thread that runs the task
// calls these functions. Without a tool each costs one load and one branch.
//
// Invariant, for task_schedule: on one thread the prior task of an event is the next task of the event before. While no
// task runs on a worker's fiber, `shown_task` stands for the thread.
#pragma once

#include "sched/team.hpp"
#include "tool/tool.hpp"

namespace marline {

// The task of the fiber that waits in place for the worker's current fiber; if there is none, the implicit task of the
// worker's innermost region.
Task* shown_task(const Worker* worker);

// A worksharing region of the current task, or another construct of `work`.
void announce_work_slowly(Worker* worker, tool::Work kind, tool::Endpoint endpoint, uint64_t count,
                          const void* codeptr);
inline void announce_work(Worker* worker, tool::Work kind, tool::Endpoint endpoint, uint64_t count,
                          const void* codeptr) {
  if (tool::on(tool::event::kWork)) [[unlikely]] {
    announce_work_slowly(worker, kind, endpoint, count, codeptr);
  }
}

// The begin of a construct of which the compiler does not report the end: it ends at the thread's next worksharing
// construct or barrier, which is where it ends without nowait.
void announce_work_without_end(Worker* worker, tool::Work kind, const void* codeptr);
void close_open_work(Worker* worker);

// An error directive, before it acts. severity: ompt_severity_t.
void announce_error(int severity, const char* message, size_t length, const void* codeptr);

// From here to end_wait the current task waits for `wait_id`. A task that may continue on another thread leaves its
// thread idle. So only a thread with a tied task on its fiber is reported to wait, and no other thread writes its
// record.
void begin_wait(Worker* worker, ompt::State state, const void* wait_id);
inline void end_wait(Worker* worker) { worker->tool_view.wait = {}; }

}  // namespace marline
