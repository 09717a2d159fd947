// SPDX-License-Identifier: Apache-2.0
//
// Edges to and from target tasks that a library has claimed. Tasks are entered by the thread that runs their parent;
// any thread may complete a predecessor.
#include "graph/claims.hpp"

#include "graph/descriptor.hpp"
#include "graph/lineage.hpp"
#include "graph/successors.hpp"
#include "tool/target_observer.hpp"

namespace marline {

// The claimed task's `predecessors` has been kGuard, less the predecessors that have completed since. Replaces kGuard
// by the number of edges from claimed predecessors, plus one for the node that represents all other predecessors
// (Claiming::node) if there are any, plus one for the creator, which release_claim takes off.
void end_claimed_linking(Linking& linking) {
  const Claiming& claiming = *linking.claiming;
  if (options().priority.propagates) lineage_of(linking.task)->claimed = true;
  count_edges_not_made(linking);
  linking.worker->discovery.edges.add(static_cast<uint64_t>(linking.edges + claiming.others));
  int32_t before = linking.edges + (claiming.others != 0 ? 1 : 0) + 1;
  linking.task->inline_edges |= Task::kOfClaimed;
  linking.task->predecessors.fetch_add(before - kGuard, acq_rel);  // as in end_linking; not to zero
}

void report_left_ended(const Task* task) {
  const marline_target_observer_t* observer = tool::target_observer();
  if (observer->ended != nullptr) observer->ended(task->number);
}

void pass_claimed(Worker* worker, Task* node, TaskFifo& nodes) {
  if (!node->has(task_flag::kEmpty))
    return tool::report_ready(node->claimed_by);  // the task may end on another thread at once, and be freed
  auto* task = static_cast<Task*>(node->block);
  const marline_target_observer_t* observer = tool::target_observer();
  if (observer->others_ended != nullptr) observer->others_ended(task->claimed_by);
  if (options().priority.propagates) [[unlikely]]
    lineage_close(worker, node);
  release_task(worker, node);
  if (count_down(task)) nodes.push_back(task);
}

void release_claim(Worker* worker, Task* task, const Claiming& claiming) {
  TaskFifo nodes;
  if (Task* node = claiming.node) {
    // acq_rel: as in end_linking.
    if (claiming.others == 0) {
      release_task(worker, node);
    } else if (node->predecessors.fetch_add(claiming.others - kGuard, acq_rel) + claiming.others == kGuard) {
      nodes.push_back(node);
    }
  }
  if (count_down(task)) nodes.push_back(task);
  while (Task* reached = nodes.pop_front()) pass_claimed(worker, reached, nodes);
}

}  // namespace marline
