// SPDX-License-Identifier: Apache-2.0
//
// Reports target tasks to the observer as they are created, and enters the claimed ones in the graph.
#include "construct/task/observed.hpp"

#include "base/small_array.hpp"
#include "construct/task/persistent.hpp"
#include "graph/claims.hpp"
#include "tool/target_observer.hpp"

#include <cstring>

namespace marline {

namespace {

Atomic<uint64_t> g_last_number{0};  // incremented by any creator

marline_depend_type_t type_of(Access access) {
  switch (access) {
    case Access::kIn: return MARLINE_IN;
    case Access::kOut: return MARLINE_INOUT;
    case Access::kMutexinoutset: return MARLINE_MUTEXINOUTSET;
    case Access::kInoutset: return MARLINE_INOUTSET;
  }
  return MARLINE_INOUT;
}

// Fills the fields that are the same for every reported task, whether it is created or not.
marline_target_task_t describe(const Worker* worker, Task* task, const void* codeptr) {
  marline_target_task_t told;
  // For a known size GCC emits `rep stos`, which takes 30 cycles to start; the C library's memset takes 10.
  size_t bytes = sizeof told;
  asm("" : "+r"(bytes));
  std::memset(&told, 0, bytes);
  task->describe(task, told);
  told.bytes = sizeof told;
  told.thread = worker->id;
  told.code = codeptr;
  told.node = told.maps.node != 0 ? told.maps.node : task->cluster_node();
  if (worker->task->has(task_flag::kInGraph)) {
    told.in_graph = 1;
    told.graph = persistent_place(worker->task, told.step);
  }
  return told;
}

// Reports the task to the observer; returns the observer's answer.
void* report_created(const marline_target_observer_t* observer, Worker* worker, Task* task, const Dependence* list,
                     size_t count, const void* codeptr) {
  SmallArray<marline_dependence_t> dependences("dependences of a target task");
  for (size_t i = 0; i < count; ++i) dependences.push({list[i].address, type_of(list[i].access)});
  marline_target_task_t told = describe(worker, task, codeptr);
  // With marline_task_depend the list has other dependences, too.
  if (task->lengths != nullptr && task->lengths->count == count) told.dependence_bytes = task->lengths->bytes;
  told.handle = reinterpret_cast<marline_claimed_t*>(task);
  told.number = g_last_number.fetch_add(1, relaxed) + 1;
  told.dependences = dependences.items();
  told.dependence_count = count;
  told.priority = task->priority.load(relaxed);
  told.name = task->name();
  worker->shows_task = true;
  void* claimed = observer->created(&told);
  worker->shows_task = false;  // `created` does not suspend
  if (claimed == nullptr) return nullptr;
  task->claimed_by = claimed;
  task->number = told.number;
  return claimed;
}

}  // namespace

bool report_to_observer(Worker* worker, Task* task, const Dependence* list, size_t count, const void* codeptr) {
  const marline_target_observer_t* observer = tool::target_observer();
  const bool in_graph = worker->task->has(task_flag::kInGraph);
  bool is_asked = observer != nullptr && (!in_graph || persistent_may_claim(worker, task, list, count));
  if (!is_asked || report_created(observer, worker, task, list, count, codeptr) == nullptr) {
    task->flags &= ~task_flag::kObserved;
    return false;
  }
  static_assert(task_flag::kClaimed == task_flag::kObserved);
  if (in_graph && enter_persistent_claimed(task, list, count)) return true;
  if (count == 0) {
    if (observer->ordered != nullptr) observer->ordered(task->claimed_by, nullptr, 0, 0);
    tool::report_ready(task->claimed_by);
    return true;
  }
  Claiming claiming;
  enter_graph_claimed(worker, task, list, count, claiming);
  if (observer->ordered != nullptr) {
    observer->ordered(task->claimed_by, claiming.numbers.items(), claiming.numbers.count(),
                      static_cast<size_t>(claiming.others));
  }
  release_claim(worker, task, claiming);
  return true;
}

namespace {

using Offer = int (*)(uint64_t graph, marline_claimed_t* all, uint64_t number);

bool let_do(Worker* worker, uint64_t graph, Offer offer) {
  if (offer == nullptr || tool::present()) return false;
  Task* all = create_claimed_task(worker);
  uint64_t number = g_last_number.fetch_add(1, relaxed) + 1;
  return offer(graph, reinterpret_cast<marline_claimed_t*>(all), number) != 0;
}

}  // namespace

bool let_repeat(Worker* worker, uint64_t graph) { return let_do(worker, graph, tool::target_observer()->repeats); }
bool let_renew(Worker* worker, uint64_t graph) {
  return let_do(worker, graph, tool::target_observer()->replays_with_arguments);
}

bool report_again(Worker* worker, Task* task, const void* codeptr) {
  marline_target_task_t told = describe(worker, task, codeptr);
  worker->shows_task = true;
  bool is_done = tool::target_observer()->replay_next(&told) != 0;
  worker->shows_task = false;
  return is_done;
}

}  // namespace marline
