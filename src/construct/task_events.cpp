// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "construct/task_events.hpp"

#include "base/check.hpp"
#include "tool/tool.hpp"

#include <cstdlib>

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

void announce_dependences(uint64_t* task_data, const Dependence* list, size_t count) {
  constexpr size_t kUsual = 32;
  tool::DependenceRecord usual[kUsual];
  auto* records = usual;
  if (count > kUsual) {
    records = static_cast<tool::DependenceRecord*>(std::malloc(count * sizeof(tool::DependenceRecord)));
    if (records == nullptr) fatal("no memory to tell a tool of %zu dependences", count);
  }
  for (size_t i = 0; i < count; ++i) {
    records[i] = {reinterpret_cast<uint64_t>(list[i].address), tool_dependence_type(list[i])};
  }
  tool::dependences(task_data, records, count);
  if (records != usual) std::free(records);
}

}  // namespace

int tool_flags(const Task* task) {
  using namespace tool::task_bits;
  if (task->has(task_flag::kImplicit)) return task->parent == nullptr ? kInitial : kImplicit;
  int flags = kExplicit;
  if (task->has(task_flag::kUndeferred)) flags |= kUndeferred;
  if (!task->has(task_flag::kTied)) flags |= kUntied;
  if (task->has(task_flag::kFinal)) flags |= kFinal;
  if (task->has(task_flag::kMergeable)) flags |= kMergeable;
  return flags;
}

void announce_creation(const CreatedTask& task, const Dependence* list, size_t count, const void* codeptr) {
  if (tool::on(tool::event::kTaskCreate)) {
    tool::task_create(task.parent_data, task.data, task.flags, count != 0, codeptr, task.label, task.color);
  }
  if (count != 0 && tool::on(tool::event::kDependences)) announce_dependences(task.data, list, count);
}

}  // namespace marline
