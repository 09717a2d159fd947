// SPDX-License-Identifier: Apache-2.0
//
// Places task graphs with the cluster's core, and draws random graphs.
#include "placed.hpp"

#include "cluster/dataflow/head.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace cluster {

using namespace marline::offload;
using namespace marline::offload::cluster;

namespace {

uint64_t bytes_used(const TaskGraph& graph, const GraphTask& task) {
  uint64_t bytes = task.bytes;
  for (size_t input : task.inputs) bytes += graph.tasks[input].bytes;
  return bytes;
}

}  // namespace

Placed place_by_core(const TaskGraph& graph, uint64_t window, PlacementPolicy policy) {
  Head head({.nodes = graph.nodes, .policy = policy, .credits = graph.tasks.size(), .window = window});
  for (size_t i = 0; i < graph.nodes; ++i) head.placement.add({});
  head.placement.set_link(graph.latency, graph.time_per_byte);
  std::vector<TaskNumber> numbers;
  for (size_t i = 0; i < graph.tasks.size(); ++i) {
    const GraphTask& task = graph.tasks[i];
    head.placement.learn({.kernel = static_cast<uint32_t>(i), .bytes = bytes_used(graph, task)}, 1, task.time);
    NewTask made;
    made.kernel = static_cast<uint32_t>(i);
    for (size_t input : task.inputs) {
      made.predecessors.push(numbers[input]);
      made.accesses.push({{input + 1, 0, graph.tasks[input].bytes}, false});
    }
    made.new_buffers.push({i + 1, task.bytes});
    made.accesses.push({{i + 1, 0, task.bytes}, true});
    numbers.push_back(head.create(std::move(made)));
  }
  head.barrier();
  Placed placed;
  for (TaskNumber number : numbers) placed.node.push_back(head.place_of(number).node - 1);
  placed.order.resize(numbers.size());
  for (const Message& message : head.messages) {
    if (message.kind == MessageKind::kAssign) placed.order[message.task] = message.order;
  }
  return placed;
}

Schedule run_placement(const TaskGraph& graph, const Placed& placed) {
  return run_placement(graph, placed.node, placed.order);
}

TaskGraph make_random(unsigned seed, size_t tasks, size_t nodes, size_t width) {
  std::mt19937 random(seed);
  auto draw = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); };
  TaskGraph graph;
  graph.name = "random";
  graph.nodes = nodes;
  double transfers = std::exp2(draw(-4, 1));  // the time to move an output, over the time to run a task
  for (size_t i = 0; i < tasks; ++i) {
    GraphTask& task = graph.tasks.emplace_back();
    task.time = draw(0.5, 1.5);
    task.bytes = static_cast<uint64_t>(1000 * transfers * draw(0.5, 1.5)) + 1;
    for (size_t back = 1; back <= std::min(i, width); ++back) {
      if (draw(0, 1) < 1.5 / static_cast<double>(width)) task.inputs.push_back(i - back);
    }
  }
  return graph;
}

}  // namespace cluster
