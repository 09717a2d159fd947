// SPDX-License-Identifier: Apache-2.0
//
// Tasks, events and the tool (OpenMP 5.1, sections 3.5, 3.11, 3.14). Any thread; omp_fulfill_event also one that the
// runtime has never seen.
#include "abi/omp/current.hpp"
#include "construct/task/task.hpp"
#include "exec/worker/frames.hpp"
#include "sched/library_call.hpp"
#include "sched/pool_tasks.hpp"
#include "sched/queue.hpp"
#include "tool/tool.hpp"

namespace marline::omp {

namespace {

// The handle is the event's address (construct/task/task.hpp, detach_event).
void fulfil_handle(uintptr_t handle) { fulfil_for_program(acting_worker(), reinterpret_cast<Event*>(handle)); }

int control_tool(int command, int modifier, void* argument, const void* codeptr) {
  Worker* worker = this_worker();
  if (tool::present()) note_entry(worker->task);
  int result = tool::control_tool(static_cast<uint64_t>(command), static_cast<uint64_t>(modifier), argument, codeptr);
  if (tool::present()) set_enter_frame(frame_of(worker->task), nullptr);
  return result;
}

// A free agent is a thread outside the task's team, and stays one as the primary thread of the regions that it opens
// (OpenMP 6.0, glossary).
bool is_free_agent(const Member* member) {
  while (member != nullptr && !is_guest(member)) {
    if (member->index != 0 || member->team->level == 0) return false;
    member = member->team->parent_member;
  }
  return member != nullptr;
}

int ancestor_is_free_agent(int level) { return is_free_agent(ancestor_member(level)) ? 1 : 0; }

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int omp_in_final() {
  const Task* task = current_task_or_null();
  return task != nullptr && task->has(task_flag::kFinal) ? 1 : 0;
}
[[gnu::alias("omp_in_final")]] int omp_in_final_();

int omp_in_explicit_task() {
  const Task* task = current_task_or_null();
  return task == nullptr || task->has(task_flag::kImplicit) ? 0 : 1;
}
[[gnu::alias("omp_in_explicit_task")]] int omp_in_explicit_task_();

int omp_is_free_agent() { return is_free_agent(current_member()) ? 1 : 0; }
[[gnu::alias("omp_is_free_agent")]] int omp_is_free_agent_();
int omp_ancestor_is_free_agent(int level) { return ancestor_is_free_agent(level); }
int omp_ancestor_is_free_agent_(const int32_t* level) { return ancestor_is_free_agent(*level); }

int omp_get_max_task_priority() { return options().max_task_priority; }
[[gnu::alias("omp_get_max_task_priority")]] int omp_get_max_task_priority_();

void omp_fulfill_event(uintptr_t handle) { fulfil_handle(handle); }
// The only argument of a Fortran routine here that is passed by value, as GCC's and LLVM's omp_lib declare it.
[[gnu::alias("omp_fulfill_event")]] void omp_fulfill_event_(uintptr_t handle);

int omp_control_tool(int command, int modifier, void* argument) {
  return control_tool(command, modifier, argument, __builtin_return_address(0));
}
int omp_control_tool_(const int32_t* command, const int32_t* modifier, void* argument) {
  return control_tool(*command, *modifier, argument, __builtin_return_address(0));
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::omp
