// SPDX-License-Identifier: Apache-2.0
//
// See the header. The thread that runs the task; a tool is there.
#include "exec/announce.hpp"

#include "exec/fiber.hpp"

namespace marline {

Task* task_in_view(const Worker* worker) {
  const Fiber* caller = worker->fiber->caller;
  if (caller != nullptr && caller->task != nullptr) return caller->task;
  return &worker->memberships->implicit_task;
}

void announce_work_slowly(Worker* worker, tool::Work kind, tool::Endpoint endpoint, uint64_t count,
                          const void* codeptr) {
  // A taskloop may be inside the open construct; a worksharing construct may not.
  if (endpoint == tool::Endpoint::kBegin && kind != tool::Work::kTaskloop) close_open_work(worker);
  tool::work(kind, endpoint, &worker->member->team->tool_data, &worker->task->tool_data, count, codeptr);
}

void announce_work_without_end(Worker* worker, tool::Work kind, const void* codeptr) {
  announce_work_slowly(worker, kind, tool::Endpoint::kBegin, 1, codeptr);
  worker->member->open_work = kind;
  worker->member->open_work_codeptr = codeptr;
}

void close_open_work(Worker* worker) {
  Member* member = worker->member;
  if (member->open_work == tool::Work::kNone || worker->task != &member->implicit_task) return;
  tool::work(member->open_work, tool::Endpoint::kEnd, &member->team->tool_data, &member->implicit_task.tool_data, 1,
             member->open_work_codeptr);
  member->open_work = tool::Work::kNone;
}

void begin_wait(Worker* worker, ompt::State state, const void* wait_id) {
  if (worker->fiber->tied_frames == 0) return;
  worker->wait = {worker->task, state, reinterpret_cast<uint64_t>(wait_id)};
}

}  // namespace marline
