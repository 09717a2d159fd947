// SPDX-License-Identifier: Apache-2.0
//
// Asks the placement for nodes on behalf of Head: for one task alone, and for many tasks at once.
#include "cluster/dataflow/head.hpp"

#include <algorithm>

namespace marline::offload::cluster {

// Only the fields on which costs depend.
PlacementRequest Head::request_of(const NewTask& made) {
  PlacementRequest request = {.kernel = made.kernel, .kinds = made.kinds};
  for (const TaskAccess& access : made.accesses) request.bytes += access.range.bytes;
  return request;
}

// The node that the program demands, or the node of the iteration before, if the task must stay there.
NodeNumber Head::pin_of(const Task& task) {
  const NewTask& made = task.made;
  if (made.pin != kAnyNode || task.graph_place == Graphs::kNoPlace) return made.pin;
  return graphs_.node_before(made, task.graph_place);
}

void Head::place(Task& task) {
  task.place.node = 0;
  if (task.made.is_on_host) return;
  List<NodeNumber> holders;
  uint64_t bytes = 0;
  for (const TaskAccess& access : task.made.accesses) {
    bytes += access.range.bytes;
    directory_.add_holders(access.range, holders);
  }
  NodeNumber pin = pin_of(task);
  if (task.advice != 0 && pin == kAnyNode) pin = task.advice;
  task.request = {.kernel = task.made.kernel,
                  .bytes = bytes,
                  .kinds = task.made.kinds,
                  .pin = pin,
                  .holders = &holders,
                  .weight = task.weight};
  // Tasks of one level that share no data need not be at the same node.
  if (!holders.is_empty() && levels_.has(task.level)) task.request.beside = levels_[task.level].open;
  List<RunningPredecessor> running;
  if (placement.is_latency_bound(task.request)) {
    add_running(task, running);
    task.request.predecessors = &running;
  }
  auto held = [&](NodeNumber node) {
    uint64_t bytes_held = 0;
    for (const TaskAccess& access : task.made.accesses) bytes_held += directory_.bytes_at(access.range, node);
    return bytes_held;
  };
  task.place.node = placement.choose(task.request, held);
  NodeNumber node = task.place.node;
  if (task.graph_place != Graphs::kNoPlace && task.advice == 0 && node != 0)
    batch_.add_alone(placement, task.request, node);
  if (node == 0) {
    ++counts.without_node;
  } else if (!running.is_empty()) {
    task.request.gap = placement.gap_at(task.request, node, bytes - held(node));
  }
  task.request.holders = nullptr;
  task.request.predecessors = nullptr;
}

void Head::add_running(const Task& task, List<RunningPredecessor>& running) {
  for (TaskNumber number : task.made.predecessors) {
    if (is_replayed(number) || (has_ended(number) && !(tasks_.has(number) && is_recorded(number)))) continue;
    const Task& before = tasks_[number];
    NodeNumber node = before.place.node;
    if (node != 0) running.push({node, placement.time_left(node, before.mark)});
  }
}

// Whether the task may wait to be planned. A task on the host needs no choice of a node, so it is planned with the
// tasks before it.
bool Head::may_wait(const Task& task) const {
  if (least_time_ == 0) return true;
  if (!task.made.may_wait) return false;
  if (task.made.is_on_host) return due_ + 1 < tasks_.end();
  PlacementRequest request = request_of(task.made);
  double time = placement.expected_time(request);
  if (placement.is_little(request.bytes, time)) return false;
  return !placement.is_known(request) || time >= least_time_ * placement.all_slots();
}

bool Head::has_idle_node() const {
  NodeNumber node = placement.least_loaded();
  return node != 0 && static_cast<double>(nodes_[node].open) < placement.slots(node);
}

// Plans all tasks up to `end`. The tasks after them, as far as they are known, are placed only as successors of these
// tasks; they are placed again later.
void Head::make_due(TaskNumber end) {
  if (end <= due_) return;
  // Speculative copies, which do not wait to be planned, may have ended.
  TaskNumber first = std::max(due_, tasks_.first());
  due_ = end;
  bool is_alone = first + 1 == tasks_.end();
  bool has_order = options_.hold || (options_.window != 0 && (least_time_ == 0 || order_ != 0));
  if (is_alone && has_order) tasks_[first].order = order_++;
  if (is_alone || placement.policy() != PlacementPolicy::kEarliestEnd) return;
  batch_.clear();
  for (TaskNumber number = first; number < tasks_.end(); ++number) {
    Task& task = tasks_[number];
    task.batch_number = static_cast<uint32_t>(batch_.count());
    add_to_batch(task, first, batch_.add());
  }
  ++counts.groups;
  counts.in_groups += end - first;
  batch_.plan(placement, recording_from_ != kNone);
  batch_.keep(end - first);
  for (TaskNumber number = first; number < end; ++number) {
    Task& task = tasks_[number];
    task.advice = batch_.node_of(task.batch_number);
    task.order = order_ + batch_.position_of(task.batch_number);
    task.planned_end = batch_.end_of(task.batch_number);
  }
  order_ += batch_.count();
}

// Perhaps not all tasks of the last level have been created yet: then assume that it becomes as wide as the level
// before it.
uint64_t Head::width_of(uint64_t level) {
  uint64_t width = levels_[level].created;
  bool is_last = level + 1 == levels_.end() && levels_.has(level - 1);
  return is_last ? std::max(width, levels_[level - 1].created) : width;
}

void Head::add_to_batch(const Task& task, TaskNumber first, BatchTask& entry) {
  entry.is_on_host = task.made.is_on_host || task.state != State::kCreated;
  entry.request = {.kernel = task.made.kernel, .kinds = task.made.kinds, .pin = pin_of(task), .weight = task.weight};
  entry.before = task.node_before;
  if (levels_.has(task.level)) {
    entry.request.beside = levels_[task.level].open;
    entry.rank = task.rank;
    entry.width = width_of(task.level);
  }
  for (TaskNumber number : task.made.predecessors) {
    if (has_ended(number) || is_replayed(number)) continue;
    const Task& before = tasks_[number];
    if (number >= first) {
      entry.inputs.push({before.batch_number, 0});
    } else if (before.place.node != 0) {
      double left = placement.time_left(before.place.node, before.mark);
      entry.ready = std::max({entry.ready, left, batch_.time_until(before.planned_end)});
    }
  }
  for (const TaskAccess& access : task.made.accesses) {
    entry.request.bytes += access.range.bytes;
    if (access.may_write && entry.written == 0) {
      entry.written = access.range.buffer * 0x9e3779b97f4a7c15u + access.range.offset + 1;
      List<NodeNumber> nodes;
      directory_.add_holders(access.range, nodes);
      if (!nodes.is_empty()) entry.owner = nodes[0];
    }
    uint64_t made = 0;
    size_t input = 0;
    for (TaskNumber number : task.made.predecessors) {
      if (number < first || has_ended(number) || is_replayed(number)) continue;
      uint64_t bytes = bytes_written(tasks_[number], access.range);
      entry.inputs[input++].bytes += bytes;
      made += bytes;
    }
    if (made < access.range.bytes) add_outside(access.range, made, entry);
  }
}

// Adds the bytes of the range that come from outside of the batch; `made` is the number of bytes that tasks of the
// batch write.
void Head::add_outside(const ClusterRange& range, uint64_t made, BatchTask& entry) {
  uint64_t bytes = directory_.bytes_missing(range, kAnyNode);
  entry.outside += bytes - std::min(made, bytes);
  List<NodeNumber> nodes;
  directory_.add_holders(range, nodes);
  for (size_t i = 0; i < nodes.count(); ++i) {
    bool is_known = false;
    for (size_t k = 0; k < i; ++k) is_known = is_known || nodes[k] == nodes[i];
    if (is_known) continue;
    uint64_t held = bytes - directory_.bytes_missing(range, nodes[i]);
    BatchHolder* found = nullptr;
    for (BatchHolder& holder : entry.holders) found = holder.node == nodes[i] ? &holder : found;
    if (found == nullptr) found = &entry.holders.push({nodes[i], 0});
    found->bytes += held;
  }
}

uint64_t Head::bytes_written(const Task& task, const ClusterRange& range) {
  uint64_t bytes = 0;
  for (const TaskAccess& access : task.made.accesses) {
    if (!access.may_write || access.range.buffer != range.buffer) continue;
    uint64_t begin = std::max(access.range.offset, range.offset), end = std::min(access.range.end(), range.end());
    if (begin < end) bytes += end - begin;
  }
  return bytes;
}

}  // namespace marline::offload::cluster
