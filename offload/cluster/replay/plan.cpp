// SPDX-License-Identifier: Apache-2.0
//
// Compares plans, adds tasks to them, and finds the tasks of an iteration.
#include "cluster/replay/plan.hpp"

#include <algorithm>

namespace marline::offload::cluster {

namespace {

bool is_same(const TaskAccess& a, const TaskAccess& b) {
  return a.range.buffer == b.range.buffer && a.range.offset == b.range.offset && a.range.bytes == b.range.bytes &&
         a.may_write == b.may_write;
}

bool is_same(const PlanPlace& a, const PlanPlace& b) { return a.era == b.era && a.node == b.node && a.rank == b.rank; }

template <class T>
bool are_same(const List<T>& a, const List<T>& b) {
  if (a.count() != b.count()) return false;
  for (size_t i = 0; i < a.count(); ++i) {
    if (!is_same(a[i], b[i])) return false;
  }
  return true;
}

bool is_same(const PlanTask& a, const PlanTask& b) {
  return a.node == b.node && a.kernel == b.kernel && a.kinds == b.kinds && are_same(a.accesses, b.accesses) &&
         are_same(a.predecessors, b.predecessors) && a.step.words.count() == b.step.words.count();
}

}  // namespace

bool Plan::has_tasks_of(const Plan& other) const {
  if (this == &other) return true;
  if (tasks.count() != other.tasks.count()) return false;
  for (size_t i = 0; i < tasks.count(); ++i) {
    if (!is_same(tasks[i], other.tasks[i])) return false;
  }
  return true;
}

bool Plan::has_shape_of(const Plan& other) const {
  if (this == &other) return true;
  if (tasks.count() != other.tasks.count()) return false;
  for (size_t i = 0; i < tasks.count(); ++i) {
    if (tasks[i].node != other.tasks[i].node) return false;
  }
  return true;
}

bool Plan::has_task(uint64_t at, const NewTask& made) const {
  if (at >= tasks.count()) return false;
  const PlanTask& task = tasks[at];
  bool may_be_there = made.pin == kAnyNode || made.pin == task.node;
  return task.kernel == made.kernel && may_be_there && are_same(task.accesses, made.accesses);
}

void Plan::add_buffer(uint64_t buffer) {
  if (uses_buffer(buffer)) return;
  is_used.add(buffer);
  buffers.push(buffer);
}

bool Plan::add_place(const TaskPlace& place, PlanTask& task) {
  while (parts.count() <= place.node) parts.push({});
  Part& part = parts[place.node];
  if (part.tasks.is_empty()) {
    part.first = place.index;
    part.member = members.count();
    members.push(place.node);
  }
  task.node = place.node;
  task.rank = part.tasks.count();
  task.member = part.member;
  part.tasks.push(tasks.count());
  return place.index == part.first + task.rank;
}

// Sorts by buffer and node, and removes duplicates. (Heapsort takes no memory and has no bad case.)
void Plan::close_uses() {
  auto is_less = [](const CopyUse& a, const CopyUse& b) {
    return a.buffer != b.buffer ? a.buffer < b.buffer : a.node < b.node;
  };
  auto sink = [&](size_t at, size_t end) {
    for (size_t child = 2 * at + 1; child < end; at = child, child = 2 * at + 1) {
      if (child + 1 < end && is_less(uses[child], uses[child + 1])) ++child;
      if (!is_less(uses[at], uses[child])) return;
      std::swap(uses[at], uses[child]);
    }
  };
  for (size_t i = uses.count() / 2; i-- > 0;) sink(i, uses.count());
  for (size_t end = uses.count(); end > 1; --end) {
    std::swap(uses[0], uses[end - 1]);
    sink(0, end - 1);
  }
  List<CopyUse> once;
  for (const CopyUse& use : uses) {
    if (once.is_empty() || is_less(once.back(), use)) once.push(use);
  }
  uses.swap(once);
}

void Plan::write_share(NodeNumber node, Message& message) {
  Part& part = parts[node];
  message.index = number;
  for (uint64_t task : part.tasks) Share::write_step(tasks[task].step, part.peers, message.words);
  for (NodeNumber peer : part.peers) message.waits_for.push({peer, 0});
}

bool Iteration::find(TaskNumber number, uint64_t& at) const {
  if (!plan) return false;
  if (is_replay()) {
    at = number - first_number;
    return is_replayed(number) && number >= first_number && at < count;
  }
  const TaskNumber* found = std::lower_bound(numbers.begin(), numbers.end(), number);
  at = static_cast<uint64_t>(found - numbers.begin());
  return found != numbers.end() && *found == number;
}

bool Iteration::find(const TaskPlace& place, uint64_t& at) const {
  if (!plan || place.node >= plan->parts.count()) return false;
  const Plan::Part& part = plan->parts[place.node];
  uint64_t first = first_of(place.node);
  if (place.index < first || place.index - first >= part.tasks.count()) return false;
  at = part.tasks[place.index - first];
  return at < count;
}

TaskPlace Iteration::place_of(uint64_t at) const {
  const PlanTask& task = plan->tasks[at];
  return {task.node, first_of(task.node) + task.rank};
}

PlanPlace name_place(const TaskPlace& place, const Iteration& now, const Iteration& before) {
  uint64_t at = 0;
  if (now.find(place, at)) return {Era::kNow, place.node, now.plan->tasks[at].rank};
  if (before.find(place, at)) return {Era::kBefore, place.node, before.plan->tasks[at].rank};
  return {Era::kFixed, place.node, place.index};
}

}  // namespace marline::offload::cluster
