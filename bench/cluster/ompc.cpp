// SPDX-License-Identifier: Apache-2.0
//
// A model of the OpenMP Cluster of Yviquel et al. (ICPP'22 workshops): the graph is placed at a barrier, by blocks
// here; a thread of the head waits for each task under way; each transfer and each kernel is an event between the head
// and the nodes, so the head's processor takes part in all of them.
#include "model.hpp"

#include <deque>

namespace cluster {

namespace {

enum What : uint32_t { kOrder, kAtNode, kDone, kTaskEnd };

class Ompc {
 public:
  Ompc(const Workload& work, const Costs& costs)
      : work_(work), costs_(costs), machine_(work.nodes + 1, costs), nodes_(work.nodes + 1), free_(costs.ompc_threads) {
    size_t tasks = work.index_of(work.graph.steps, 0);
    missing_.resize(tasks);
    fetches_.resize(tasks);
    next_.resize(tasks);
    for (long step = 0; step < work.graph.steps; ++step) {
      for (long i = 0; i < graph_width_at(&work.graph, step); ++i) {
        size_t task = work.index_of(step, i);
        std::vector<long> inputs = work.inputs(step, i);
        missing_[task] = inputs.size();
        if (inputs.empty()) ready_.push_back(task);
        for (long input : inputs) {
          if (node_of(input) != node_of(i)) fetches_[task].push_back(node_of(input));
        }
      }
    }
  }

  Outcome run() {
    dispatch();
    Event event;
    while (machine_.pop(event)) {
      now_ = event.time;
      switch (event.what) {
        case kAtNode: reach_node(event); break;
        case kTaskEnd: end(event); break;
        case kOrder: order(event.a); break;
        case kDone:  // the answer has come to the head's processor
          machine_.push(machine_.processor(0).take(now_, costs_.message), kOrder, 0, event.a);
          break;
      }
    }
    return {.time = now_,
            .start = costs_.ompc_start,
            .head = machine_.processor(0).busy(),
            .messages = machine_.messages,
            .bytes = machine_.bytes_moved};
  }

 private:
  struct Node {
    size_t running = 0;
    std::deque<size_t> ready;
  };

  size_t node_of(long column) const { return work_.owner_of(column, work_.nodes) + 1; }
  long column_of(size_t task) const { return static_cast<long>(task % static_cast<size_t>(work_.graph.width)); }
  long step_of(size_t task) const { return static_cast<long>(task / static_cast<size_t>(work_.graph.width)); }

  void dispatch() {
    while (free_ > 0 && !ready_.empty()) {
      size_t task = ready_.front();
      ready_.pop_front();
      --free_;
      order(task);
    }
  }

  double tell(size_t node) { return machine_.transmit(0, node, 0, machine_.processor(0).take(now_, costs_.message)); }

  // The thread's next event: a transfer from a node to the task's node, then the kernel; then the task has ended.
  void order(size_t task) {
    size_t node = node_of(column_of(task)), step = next_[task]++;
    if (step < fetches_[task].size()) {
      size_t source = fetches_[task][step];
      tell(node);
      machine_.push(tell(source), kAtNode, source, task, node);
    } else if (step == fetches_[task].size()) {
      machine_.push(tell(node), kAtNode, node, task, 0);
    } else {
      ++free_;
      for (long reader : work_.readers(step_of(task), column_of(task))) {
        size_t successor = work_.index_of(step_of(task) + 1, reader);
        if (--missing_[successor] == 0) ready_.push_back(successor);
      }
      dispatch();
    }
  }

  // A source sends, and the receiver reports to the head; or a kernel waits for a core.
  void reach_node(const Event& event) {
    double taken = machine_.processor(event.node).take(now_, costs_.message);
    if (event.b != 0) {
      auto to = static_cast<size_t>(event.b);
      double sent = machine_.processor(event.node).take(taken, costs_.message);
      double arrival = machine_.transmit(event.node, to, static_cast<double>(work_.bytes), sent);
      machine_.push(machine_.transmit(to, 0, 0, arrival + 2 * costs_.message), kDone, 0, event.a);
      return;
    }
    nodes_[event.node].ready.push_back(event.a);
    start(event.node, taken);
  }

  void start(size_t number, double at) {
    Node& node = nodes_[number];
    while (node.running < work_.cores && !node.ready.empty()) {
      size_t task = node.ready.front();
      node.ready.pop_front();
      ++node.running;
      machine_.push(at + costs_.task + work_.time_of(step_of(task), column_of(task)), kTaskEnd, number, task);
    }
  }

  void end(const Event& event) {
    --nodes_[event.node].running;
    double sent = machine_.processor(event.node).take(now_, costs_.message);
    machine_.push(machine_.transmit(event.node, 0, 0, sent), kDone, 0, event.a);
    start(event.node, now_);
  }

  const Workload& work_;
  const Costs& costs_;
  Machine machine_;
  std::vector<Node> nodes_;  // by number; 0 is the head
  size_t free_;              // threads of the head
  std::vector<size_t> missing_, next_;
  std::vector<std::vector<size_t>> fetches_;  // by task: the nodes of inputs that lie elsewhere
  std::deque<size_t> ready_;
  double now_ = 0;
};

}  // namespace

Outcome run_ompc(const Workload& work, const Costs& costs) { return Ompc(work, costs).run(); }

}  // namespace cluster
