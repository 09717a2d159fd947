// SPDX-License-Identifier: Apache-2.0
//
// Reports the flags and the dependences of a new task to tools.
#include "construct/task/task_events.hpp"

#include "base/small_array.hpp"
#include "exec/worker/frames.hpp"
#include "tool/tool.hpp"

namespace marline {

namespace {

int tool_dependence_type(const Dependence& dependence) {
  if (dependence.address == nullptr) return 34;  // ompt_dependence_type_out_all_memory
  switch (dependence.access) {
    case Access::kIn: return 1;
    case Access::kOut: return 3;
    case Access::kMutexinoutset: return 4;
    case Access::kInoutset: return 7;
  }
  return 0;
}

}  // namespace

void announce_dependences(uint64_t* task_data, const Dependence* list, size_t count) {
  if (count == 0 || !tool::on(tool::event::kDependences)) return;
  SmallArray<tool::DependenceRecord> records("dependences that a tool is told of");
  for (size_t i = 0; i < count; ++i) {
    records.push({reinterpret_cast<uint64_t>(list[i].address), tool_dependence_type(list[i])});
  }
  tool::dependences(task_data, records.items(), count);
}

int tool_flags(Task* task) {
  using namespace tool::task_bits;
  if (task->has(task_flag::kImplicit)) {
    if (task->parent == nullptr || task->has(task_flag::kInitial)) return kInitial;
    return kImplicit | (task->team->size == 1 ? kUndeferred : 0);  // as LLVM's runtime has it
  }
  // A target task has the events of a task construct (OpenMP 5.2, section 13.8), and the flags of a task construct
  // always include kExplicit (section 12.5).
  return kExplicit | (tool_tail(task)->is_target ? kTarget : 0) |
         (task->has(task_flag::kUndeferred) ? kUndeferred : 0) | (task->has(task_flag::kTied) ? 0 : kUntied) |
         (task->has(task_flag::kFinal) ? kFinal : 0) | (task->has(task_flag::kMergeable) ? kMergeable : 0);
}

}  // namespace marline
