// SPDX-License-Identifier: Apache-2.0
//
// Models of runtimes where the owner of a column runs its tasks: StarPU-MPI, and MPI with a rank per core. Inputs from
// other owners come in messages that producers send when they end.
#include "model.hpp"

#include <algorithm>
#include <deque>

namespace cluster {

namespace {

enum What : uint32_t { kArrive, kTaskEnd, kSubmitted, kBegin };

// The inputs of tasks that have not come yet.
class Inputs {
 public:
  explicit Inputs(const Workload& work) : missing_(work.index_of(work.steps(), 0)) {
    for (long step = 0; step < work.steps(); ++step) {
      for (long i = 0; i < work.width_at(step); ++i) {
        missing_[work.index_of(step, i)] = static_cast<uint32_t>(work.inputs(step, i).size());
      }
    }
  }
  bool come(size_t task) { return --missing_[task] == 0; }
  bool are_there(size_t task) const { return missing_[task] == 0; }
  void expect_one_more(size_t task) { ++missing_[task]; }

 private:
  std::vector<uint32_t> missing_;
};

class StarPu {
 public:
  StarPu(const Workload& work, const Costs& costs)
      : work_(work), costs_(costs), machine_(work.nodes, costs), inputs_(work), nodes_(work.nodes) {}

  Outcome run() {
    insert_all();
    Event event;
    while (machine_.pop(event)) {
      now_ = event.time;
      switch (event.what) {
        case kSubmitted:
          if (inputs_.come(event.a)) make_ready(event.node, event.a);
          break;
        case kArrive:
          machine_.push(machine_.processor(event.node).take(now_, costs_.message), kBegin, event.node, event.a,
                        event.b);
          break;
        case kBegin: take(event); break;
        case kTaskEnd: end(event); break;
      }
    }
    return {.time = now_, .messages = machine_.messages, .bytes = machine_.bytes_moved};
  }

 private:
  struct Node {
    size_t running = 0;
    std::deque<size_t> ready;
  };

  // Every node goes through the whole graph, in the same order.
  void insert_all() {
    std::vector<double> clock(work_.nodes, 0);
    double all = 0;  // cost of inserting all tasks as tasks of other nodes
    for (long step = 0; step < work_.steps(); ++step) {
      for (long i = 0; i < work_.width_at(step); ++i) {
        size_t node = work_.owner_of(i, work_.nodes), task = work_.index_of(step, i);
        all += costs_.insert_remote;
        clock[node] += costs_.insert_local - costs_.insert_remote;
        inputs_.expect_one_more(task);
        machine_.push(all + clock[node], kSubmitted, node, task);
      }
    }
  }

  void make_ready(size_t number, size_t task) {
    nodes_[number].ready.push_back(task);
    start(number);
  }

  void start(size_t number) {
    Node& node = nodes_[number];
    while (node.running < work_.cores && !node.ready.empty()) {
      size_t task = node.ready.front();
      node.ready.pop_front();
      ++node.running;
      auto width = static_cast<size_t>(work_.graph.width);
      double time = work_.time_of(static_cast<long>(task / width), static_cast<long>(task % width));
      machine_.push(now_ + time + costs_.starpu_task, kTaskEnd, number, task);
    }
  }

  // A block that several tasks of a node read is sent once.
  void end(const Event& event) {
    auto width = static_cast<size_t>(work_.graph.width);
    auto step = static_cast<long>(event.a / width), column = static_cast<long>(event.a % width);
    --nodes_[event.node].running;
    std::vector<size_t> told;
    for (long reader : work_.readers(step, column)) {
      size_t node = work_.owner_of(reader, work_.nodes);
      if (std::find(told.begin(), told.end(), node) != told.end()) continue;
      told.push_back(node);
      if (node == event.node) {
        take({.node = event.node, .a = event.a});
        continue;
      }
      double ready = machine_.processor(event.node).take(now_, costs_.message);
      double arrival = machine_.transmit(event.node, node, static_cast<double>(work_.bytes), ready);
      machine_.push(arrival, kArrive, node, event.a);
    }
    start(event.node);
  }

  // The output of task `a` is at the node.
  void take(const Event& event) {
    auto width = static_cast<size_t>(work_.graph.width);
    auto step = static_cast<long>(event.a / width), column = static_cast<long>(event.a % width);
    for (long reader : work_.readers(step, column)) {
      if (work_.owner_of(reader, work_.nodes) != event.node) continue;
      size_t task = work_.index_of(step + 1, reader);
      if (inputs_.come(task)) make_ready(event.node, task);
    }
  }

  const Workload& work_;
  const Costs& costs_;
  Machine machine_;
  Inputs inputs_;
  std::vector<Node> nodes_;
  double now_ = 0;
};

class Mpi {
 public:
  Mpi(const Workload& work, const Costs& costs, bool blocking)
      : work_(work),
        costs_(costs),
        blocking_(blocking),
        machine_(work.nodes, costs),
        inputs_(work),
        cores_(work.nodes * work.cores) {}

  Outcome run() {
    for (long i = 0; i < work_.graph.width; ++i) cores_[core_of(i)].columns.push_back(i);
    for (size_t core = 0; core < cores_.size(); ++core) go_on(core);
    Event event;
    while (machine_.pop(event)) {
      now_ = event.time;
      auto core = static_cast<size_t>(event.b);
      switch (event.what) {
        case kArrive:
          if (inputs_.come(event.a)) go_on(core);
          break;
        case kTaskEnd: end(core, event.a); break;
        default:  // the core's messages are sent
          cores_[core].is_busy = false;
          go_on(core);
      }
    }
    return {.time = last_, .messages = machine_.messages, .bytes = machine_.bytes_moved};
  }

 private:
  struct Core {
    std::vector<long> columns;
    long step = 0;
    size_t next = 0;  // of the columns
    bool is_busy = false;
  };

  size_t core_of(long column) const { return work_.owner_of(column, cores_.size()); }
  size_t node_of(size_t core) const { return core / work_.cores; }

  // Starts the core's next task if its inputs are there.
  void go_on(size_t number) {
    Core& core = cores_[number];
    if (core.is_busy) return;
    for (; core.step < work_.steps(); ++core.step, core.next = 0) {
      if (core.next < core.columns.size() && core.columns[core.next] < work_.width_at(core.step)) break;
    }
    if (core.step == work_.steps()) return;
    long column = core.columns[core.next];
    size_t task = work_.index_of(core.step, column);
    if (!inputs_.are_there(task)) return;
    core.is_busy = true;
    double received = 0;
    for (long input : work_.inputs(core.step, column)) {
      if (core_of(input) != number) received += cost_of(number, core_of(input));
    }
    machine_.push(now_ + received + work_.time_of(core.step, column), kTaskEnd, node_of(number), task, number);
  }

  double cost_of(size_t from, size_t to) const {
    return node_of(from) == node_of(to) ? costs_.local_message : costs_.message;
  }

  // The core sends before it goes on; if it blocks, until the last byte has left.
  void end(size_t number, size_t task) {
    auto width = static_cast<size_t>(work_.graph.width);
    auto step = static_cast<long>(task / width), column = static_cast<long>(task % width);
    last_ = std::max(last_, now_);
    double at = now_;
    for (long reader : work_.readers(step, column)) {
      size_t to = core_of(reader), read = work_.index_of(step + 1, reader);
      if (to == number) {
        inputs_.come(read);
        continue;
      }
      at += cost_of(number, to);
      double arrival = at, left = at;
      if (node_of(to) != node_of(number)) {
        arrival = machine_.transmit(node_of(number), node_of(to), static_cast<double>(work_.bytes), at, &left);
      }
      if (blocking_) at = std::max(at, left);
      machine_.push(arrival, kArrive, node_of(to), read, to);
    }
    Core& core = cores_[number];
    ++core.next;
    busy_until(number, at);
  }

  void busy_until(size_t number, double at) {
    if (at <= now_) {
      cores_[number].is_busy = false;
      go_on(number);
      return;
    }
    machine_.push(at, kBegin, node_of(number), 0, number);
  }

  const Workload& work_;
  const Costs& costs_;
  bool blocking_;
  Machine machine_;
  Inputs inputs_;
  std::vector<Core> cores_;
  double now_ = 0, last_ = 0;
};

}  // namespace

Outcome run_starpu(const Workload& work, const Costs& costs) { return StarPu(work, costs).run(); }
Outcome run_mpi(const Workload& work, const Costs& costs, bool blocking) { return Mpi(work, costs, blocking).run(); }

}  // namespace cluster
