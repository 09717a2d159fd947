// SPDX-License-Identifier: Apache-2.0
#include "graph.hpp"

#include <algorithm>

#include "../../common/accesses_format.h"
#include "../../common/ompt.h"

namespace marline::dependences {
namespace {

template <class T>
T& at(std::vector<T>& all, uint64_t number) {
  if (number >= all.size()) all.resize(number + 1);
  return all[number];
}

constexpr bool is_barrier(uint64_t kind) {
  return kind != ompt_sync_region_taskwait && kind != ompt_sync_region_taskgroup;
}

constexpr bool is_shared(uint64_t type) {
  return type == ompt_dependence_type_in || type == ompt_dependence_type_mutexinoutset ||
         type == ompt_dependence_type_inoutset;
}

}  // namespace

Task& Graph::task(uint64_t number) { return at(tasks_, number); }

void Graph::add_edge(Node from, Node to) {
  if (from == kNone || from >= to) return;
  edges_.push_back({from, first_[to]});
  first_[to] = static_cast<int32_t>(edges_.size() - 1);
}

Node Graph::advance(Task& task) {
  const Node node = add_node();
  add_edge(task.current, node);
  return task.current = node;
}

void Graph::join(const std::vector<uint32_t>& tasks, Node node) {
  for (const uint32_t number : tasks) {
    const Task& task = tasks_[number];
    add_edge(task.complete != kNone ? task.complete : task.current, node);
  }
}

Node Graph::segment(uint32_t number) {
  Task& task = this->task(number);
  if (task.current != kNone) return task.current;
  const Node node = task.current = add_node();
  add_edge(task.created, node);
  join(task.predecessors, node);
  return node;
}

void Graph::create(const uint64_t* words) {
  const auto number = static_cast<uint32_t>(words[0]), parent_number = static_cast<uint32_t>(words[1]);
  task(std::max(number, parent_number));  // references stay valid from here on
  segment(parent_number);
  Task &task = tasks_[number], &parent = tasks_[parent_number];
  task.parent = parent_number;
  task.flags = words[2];
  task.code = words[3];
  task.label = words[4];
  task.region = parent.region;
  task.created = parent.current;
  if (!parent.groups.empty()) {
    task.groups.push_back(parent.groups.back());
    groups_[parent.groups.back()].push_back(number);
  }
  parent.children.push_back(number);
  at(regions_, task.region).tasks.push_back(number);
  advance(parent);
}

void Graph::start_operation(const uint64_t* words) {
  const auto number = static_cast<uint32_t>(words[0]), starter = static_cast<uint32_t>(words[1]);
  task(std::max(number, starter));
  segment(starter);
  Task& task = tasks_[number];
  task.parent = starter;
  task.code = words[2];
  task.label = words[3];
  task.region = tasks_[starter].region;
  task.is_operation = true;
  task.created = tasks_[starter].current;
  segment(number);
  advance(tasks_[starter]);
}

void Graph::end_operation(uint32_t number, uint32_t waiting) {
  const Node operation = segment(number);
  if (waiting == 0) {
    const Node node = add_node();
    add_edge(operation, node);
    add_edge(outside_, node);
    outside_ = node;
    return;
  }
  segment(waiting);
  add_edge(operation, advance(tasks_[waiting]));
}

void Graph::depend_on(uint32_t number, Task& parent, const Dependence& dependence) {
  Task& task = tasks_[number];
  const bool is_all = dependence.type > ompt_dependence_type_inoutset;
  if (is_all) {
    task.predecessors.insert(task.predecessors.end(), parent.with_dependences.begin(), parent.with_dependences.end());
    parent.with_dependences = {number};
    parent.objects.clear();
    parent.all_memory = number;
    return;
  }
  if (parent.all_memory != 0) task.predecessors.push_back(parent.all_memory);
  Generations& object = parent.objects[dependence.address];
  const uint64_t type =
      dependence.type == ompt_dependence_type_inout ? uint64_t{ompt_dependence_type_out} : dependence.type;
  if (type != object.type || !is_shared(type)) {
    if (object.current == std::vector<uint32_t>{number}) return;  // two clauses of one task
    object.type = type;
    object.previous = std::move(object.current);
    object.current.clear();
  }
  task.predecessors.insert(task.predecessors.end(), object.previous.begin(), object.previous.end());
  object.current.push_back(number);
  if (type == ompt_dependence_type_mutexinoutset) task.mutexes.push_back(dependence.address);
}

void Graph::depend(const uint64_t* words, uint64_t count) {
  const auto number = static_cast<uint32_t>(words[0]);
  Task& parent = task(task(number).parent);
  for (uint64_t i = 1; i + 1 < count; i += 2) {
    if (words[i + 1] == ompt_dependence_type_source || words[i + 1] == ompt_dependence_type_sink) continue;
    const Dependence dependence = {words[i], words[i + 1]};
    tasks_[number].dependences.push_back(dependence);
    depend_on(number, parent, dependence);
  }
  parent.with_dependences.push_back(number);
  std::sort(tasks_[number].mutexes.begin(), tasks_[number].mutexes.end());
}

void Graph::complete(uint32_t number) {
  Task& task = tasks_[number];
  const Node node = add_node();
  add_edge(task.current, node);
  add_edge(task.fulfilled, node);
  task.complete = node;
  if ((task.flags & (ompt_task_undeferred | ompt_task_taskwait)) != 0) {
    Task& parent = tasks_[task.parent];
    add_edge(node, advance(parent));
  }
  task.objects.clear();
  task.groups.clear();
}

void Graph::end(uint32_t number) {
  segment(number);
  if (!tasks_[number].is_detached || tasks_[number].fulfilled != kNone) complete(number);
}

void Graph::fulfil(uint32_t number, uint32_t by) {
  const Node node = add_node();
  if (by != 0) {
    add_edge(segment(by), node);
    advance(tasks_[by]);
  } else {
    add_edge(outside_, node);
  }
  Task& task = this->task(number);
  task.fulfilled = node;
  if (task.is_detached) complete(number);
}

void Graph::begin_wait(uint32_t number, uint64_t kind) {
  segment(number);
  Task& task = tasks_[number];
  if (kind == ompt_sync_region_taskgroup) {
    task.groups.push_back(static_cast<uint32_t>(groups_.size()));
    groups_.emplace_back();
  }
  if (is_barrier(kind)) ++task.barriers;
  advance(task);
}

void Graph::end_wait(uint32_t number, uint64_t kind) {
  segment(number);
  Task& task = tasks_[number];
  if (is_barrier(kind)) {
    pass_barrier(number);
    return;
  }
  const Node node = advance(task);
  if (kind == ompt_sync_region_taskwait) {
    join(task.children, node);
    task.children.clear();
  } else if (!task.groups.empty()) {
    join(groups_[task.groups.back()], node);
    std::vector<uint32_t>().swap(groups_[task.groups.back()]);
    task.groups.pop_back();
  }
}

void Graph::pass_barrier(uint32_t number) {
  Region& region = at(regions_, tasks_[number].region);
  const uint32_t passed = tasks_[number].barriers;
  if (passed == 0) return;
  if (region.barriers.size() < passed) region.barriers.resize(passed, kNone);
  Node& node = region.barriers[passed - 1];
  if (node == kNone) {
    node = add_node();
    join(region.team, node);
    join(region.tasks, node);
    region.tasks.clear();
    for (const uint32_t member : region.team) tasks_[member].children.clear();
  }
  const Node barrier = node;
  add_edge(barrier, advance(tasks_[number]));
}

void Graph::end_region(uint32_t number, uint32_t encountering) {
  segment(encountering);
  Region& region = at(regions_, number);
  const Node node = advance(tasks_[encountering]);
  join(region.team, node);
  join(region.tasks, node);
  region.tasks.clear();
}

void Graph::apply(uint64_t kind, const uint64_t* words, uint64_t count) {
  const auto number = static_cast<uint32_t>(count > 0 ? words[0] : 0);
  switch (kind) {
    case kTask: return create(words);
    case kDependences: return depend(words, count);
    case kBegin: return static_cast<void>(segment(number));
    case kEnd: return end(number);
    case kDetached: task(number).is_detached = true; return;
    case kFulfilled: return fulfil(number, static_cast<uint32_t>(words[1]));
    case kParallel: {
      segment(static_cast<uint32_t>(words[1]));
      Region& region = at(regions_, number);
      region.opener = static_cast<uint32_t>(words[1]);
      region.begun = tasks_[region.opener].current;
      advance(tasks_[region.opener]);
      return;
    }
    case kParallelEnd: return end_region(number, static_cast<uint32_t>(words[1]));
    case kImplicit: {
      Task& task = this->task(number);
      task.is_implicit = true;
      task.region = static_cast<uint32_t>(words[1]);
      Region& region = at(regions_, task.region);
      if (task.region != 0) {
        task.created = region.begun;
        task.parent = region.opener;
        region.team.push_back(number);
      }
      segment(number);
      return;
    }
    case kOperation: return start_operation(words);
    case kOperationEnd: return end_operation(number, static_cast<uint32_t>(words[1]));
    case kWaitBegin: return begin_wait(number, words[1]);
    case kWaitEnd: return end_wait(number, words[1]);
    case kAcquired: {
      segment(number);
      auto& held = tasks_[number].mutexes;
      held.insert(std::lower_bound(held.begin(), held.end(), words[1]), words[1]);
      advance(tasks_[number]);
      return;
    }
    case kReleased: {
      segment(number);
      auto& held = tasks_[number].mutexes;
      const auto found = std::lower_bound(held.begin(), held.end(), words[1]);
      if (found != held.end() && *found == words[1]) held.erase(found);
      advance(tasks_[number]);
      return;
    }
    default: return;
  }
}

bool Graph::has_path(Node from, Node to) {
  if (from >= to) return from == to;
  const uint64_t key = static_cast<uint64_t>(from) << 32 | static_cast<uint32_t>(to);
  if (const auto known = known_paths_.find(key); known != known_paths_.end()) return known->second;
  visited_.resize(first_.size(), 0);
  ++search_;
  std::vector<Node> open = {to};
  bool is_found = false;
  while (!open.empty() && !is_found) {
    const Node node = open.back();
    open.pop_back();
    for (int32_t edge = first_[node]; edge >= 0 && !is_found; edge = edges_[edge].next) {
      const Node before = edges_[edge].from;
      is_found = before == from;
      if (before <= from || visited_[before] == search_) continue;
      visited_[before] = search_;
      open.push_back(before);
    }
  }
  if (known_paths_.size() > (1U << 22)) known_paths_.clear();
  return known_paths_[key] = is_found;
}

}  // namespace marline::dependences
