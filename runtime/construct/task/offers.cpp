// SPDX-License-Identifier: Apache-2.0
//
// Offers target tasks to the observer as they are created, and enters the claimed ones in the graph. While an iteration
// of a persistent graph is recorded, its target tasks are like all claimed tasks. In a replay the record has their
// predecessors, so they are claimed if all predecessors have been claimed: the library gets the predecessors' numbers,
// and the node counts the predecessors that have not ended.
#include "construct/task/offers.hpp"

#include "base/small_array.hpp"
#include "construct/task/persistent_steps.hpp"
#include "graph/claims.hpp"
#include "graph/dependences.hpp"
#include "sched/progress.hpp"
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

// The number of the reported graph to which the producer's next task belongs, and the task's step there; 0: there is
// none.
[[nodiscard]] uint64_t persistent_place(const Task* producer, uint64_t& step) {
  const PersistentGraph* graph = graph_of(producer);
  step = graph->position;
  return graph->is_reported ? graph->reported_as : 0;
}

// Fills the fields that are the same for every reported task, whether it is created or not.
marline_target_task_t describe(const Worker* worker, Task* task, const void* codeptr) {
  marline_target_task_t reported;
  // For a known size GCC emits `rep stos`, which takes 30 cycles to start; the C library's memset takes 10.
  size_t bytes = sizeof reported;
  asm("" : "+r"(bytes));
  std::memset(&reported, 0, bytes);
  task->describe(task, reported);
  reported.bytes = sizeof reported;
  reported.thread = worker->id;
  reported.code = codeptr;
  reported.node = reported.maps.node != 0 ? reported.maps.node : task->cluster_node();
  if (worker->task->has(task_flag::kInGraph)) {
    reported.in_graph = 1;
    reported.graph = persistent_place(worker->task, reported.step);
  }
  return reported;
}

// Reports the task to the observer; returns the observer's answer.
void* report_created(const marline_target_observer_t* observer, Worker* worker, Task* task, const Dependence* list,
                     size_t count, const void* codeptr) {
  SmallArray<marline_dependence_t> dependences("dependences of a target task");
  for (size_t i = 0; i < count; ++i) dependences.push({list[i].address, type_of(list[i].access)});
  marline_target_task_t reported = describe(worker, task, codeptr);
  // With marline_task_depend the list has other dependences, too.
  if (task->lengths != nullptr && task->lengths->count == count) reported.dependence_bytes = task->lengths->bytes;
  reported.handle = reinterpret_cast<marline_claimed_t*>(task);
  reported.number = g_last_number.fetch_add(1, relaxed) + 1;
  reported.dependences = dependences.items();
  reported.dependence_count = count;
  reported.priority = task->priority.load(relaxed);
  reported.name = task->name();
  worker->context.shows_task = true;
  void* claimed = observer->created(&reported);
  worker->context.shows_task = false;  // `created` does not suspend
  if (claimed == nullptr) return nullptr;
  task->claimed_by = claimed;
  task->number = reported.number;
  return claimed;
}

// In a replay, a member of a mutexinoutset has exclusions, which a claimed task does not take.
bool has_exclusions(const Dependence* list, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (list[i].access == Access::kMutexinoutset) return true;
  }
  return false;
}

// Whether to offer the task to the observer. Not if exclusions or propagated priorities order the task, nor, in a
// replay, if it has a predecessor that the observer has not claimed.
bool persistent_may_claim(Worker* worker, Task* task, const Dependence* list, size_t count) {
  PersistentGraph* graph = graph_of(worker->task);
  if (graph->state == GraphState::kRecording) graph->observed = {task->describe, task->target_device, task->lengths};
  if (options().priority.propagates || has_exclusions(list, count)) return false;
  task->inline_edges &= ~Task::kOfClaimed;
  if (graph->state == GraphState::kReplaying) {
    const GraphStep* step = next_step(worker, graph);
    GraphNode* node = step != nullptr ? graph->node(graph->position) : nullptr;
    if (node != nullptr && node->task == task && step_matches(&graph->record, *step, NodeKind::kTask, list, count)) {
      return for_all_before(graph, node, [](const GraphNode& before) { return before.number != 0; });
    }
    go_on_unrecorded(worker, graph);
  }
  if (graph->state == GraphState::kUnrecorded && task->has(task_flag::kPersistent)) make_ordinary(worker, graph, task);
  return true;
}

// The task has been claimed. False: the caller must enter it like other claimed tasks.
bool enter_persistent_claimed(Task* task, const Dependence* list, size_t count) {
  PersistentGraph* graph = graph_of(task->parent);
  if (graph->state == GraphState::kRecording) record_task(graph, task, list, count);
  if (graph->state != GraphState::kReplaying) return false;
  GraphNode* node = graph->node(graph->position++);
  if (count != 0) task->flags |= task_flag::kGraph;
  task->inline_edges |= Task::kOfClaimed;
  task->predecessors.store(1, relaxed);  // this store is released with the guard
  SmallArray<uint64_t> numbers("predecessors of a target task");
  (void)for_all_before(graph, node, [&](const GraphNode& before) {
    if (before.number != GraphNode::kEnded) numbers.push(before.number);
    return true;
  });
  node->number = task->number;
  const marline_target_observer_t* observer = tool::target_observer();
  if (observer->ordered != nullptr) observer->ordered(task->claimed_by, numbers.items(), numbers.count(), 0);
  if (release_guard(node)) report_recorded_ready(task);
  return true;
}

// Creates a child of the current task, without code or dependences, that represents work of a library: it is claimed,
// and in no graph. No tool is notified of it.
Task* create_claimed_task(Worker* worker) {
  Task* task = allocate_ordinary_task(worker, empty_shape(0));
  task->flags |= task_flag::kClaimed;
  become_child(worker, task);
  return task;
}

using Offer = int (*)(uint64_t graph, marline_claimed_t* all, uint64_t number);

bool let_do(Worker* worker, uint64_t graph, Offer offer) {
  if (offer == nullptr || tool::present()) return false;
  Task* all = create_claimed_task(worker);
  uint64_t number = g_last_number.fetch_add(1, relaxed) + 1;
  return offer(graph, reinterpret_cast<marline_claimed_t*>(all), number) != 0;
}

// Offers the next iteration of a reported graph, which equals the one before, to the observer (`repeats`). True: the
// observer runs it, and a child of the current task ends with it. False: the caller must create its tasks.
bool let_repeat(Worker* worker, uint64_t graph) { return let_do(worker, graph, tool::target_observer()->repeats); }

// The same for an iteration that may have other firstprivate data. True: the observer runs its tasks, which
// report_again reports one by one.
bool let_renew(Worker* worker, uint64_t graph) {
  return let_do(worker, graph, tool::target_observer()->replays_with_arguments);
}

// Reports a target task of that iteration, which is not created. True: the observer runs it.
bool report_again(Worker* worker, Task* task, const void* codeptr) {
  marline_target_task_t reported = describe(worker, task, codeptr);
  worker->context.shows_task = true;
  bool is_done = tool::target_observer()->replay_next(&reported) != 0;
  worker->context.shows_task = false;
  return is_done;
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

// The nodes of the tasks keep the state in which the iteration before has left them: each waits for all its
// predecessors again. After that the producer waits for the iteration (go_on_unrecorded). An untied producer could
// continue on another thread there, so it does not get this far.
bool repeat_reported_iteration(PersistentGraph* graph) {
  bool is_given = graph->is_reported && graph->producer->tied() && let_repeat(this_worker(), graph->reported_as);
  if (!is_given) return false;
  graph->is_reported = false;
  graph->is_whole = true;
  graph->position = graph->steps().count;
  return true;
}

// Each iteration must wait for the one before. As above, the producer must not be untied.
void renew_reported_iteration(PersistentGraph* graph) {
  if (graph->renewal_pause != 0) return void(--graph->renewal_pause);
  bool may_be = graph->is_reported && graph->replays_with_arguments && graph->mode != GraphMode::kNowait &&
                graph->producer->tied();
  graph->is_renewed = may_be && let_renew(this_worker(), graph->reported_as);
}

// As in an iteration that the observer repeats, the tasks' nodes keep their state.
bool renew_persistent(Worker* worker, Task* task, const Dependence* list, size_t count, const void* codeptr) {
  PersistentGraph* graph = graph_of(worker->task);
  if (!graph->is_renewed) return false;
  progress_at_scheduling_point(worker);
  const GraphStep* step = next_step(worker, graph);
  bool is_next = !tool::present() && step != nullptr && graph->node(graph->position)->task == task &&
                 step_matches(&graph->record, *step, NodeKind::kTask, list, count);
  if (is_next && report_again(worker, task, codeptr)) {
    ++graph->position;
    return true;
  }
  go_on_unrecorded(worker, graph);
  return false;
}

}  // namespace marline
