// SPDX-License-Identifier: Apache-2.0
//
// Which nodes the cluster's core chooses: for single tasks, and for many tasks at once, which are then run as planned.
#include "cluster/dataflow/head.hpp"
#include "placed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace marline::offload::cluster {
namespace {

TEST(ClusterPlacement, TheHolderUnlessItIsBusy) {
  Placement placement(PlacementPolicy::kEarliestEnd);
  for (int i = 0; i < 100; ++i) placement.add({});
  placement.set_link(1, 0.01);
  List<NodeNumber> holders;
  holders.push(42);
  PlacementRequest request{.kernel = 1, .bytes = 1000, .holders = &holders};
  auto held = [](NodeNumber node) { return node == 42 ? uint64_t{1000} : 0; };
  placement.learn(request, 42, 5);
  EXPECT_EQ(placement.choose(request, held), 42u);
  for (int i = 0; i < 3; ++i) placement.begin(request, 42);
  EXPECT_NE(placement.choose(request, held), 42u) << "the transfer takes 11, the queue 15";
  request.kinds = 2;
  EXPECT_EQ(placement.choose(request, held), 0u) << "no member has an image";
}

// Member 2's code is loaded with its first task.
TEST(ClusterPlacement, AFirstTaskSaysLittleOfTheNext) {
  Placement placement(PlacementPolicy::kEarliestEnd);
  placement.add({.kind = 0});
  placement.add({.kind = 1});
  PlacementRequest request{.kernel = 1};
  auto held = [](NodeNumber) { return uint64_t{0}; };
  placement.learn(request, 1, 10);
  EXPECT_EQ(placement.expected_time_at(request, 1), 1)
      << "the other kind may be faster or slower: both are tried again";
  placement.learn(request, 1, 10);
  EXPECT_EQ(placement.expected_time_at(request, 1), 10);
  placement.learn(request, 2, 500);
  EXPECT_EQ(placement.choose(request, held), 2u);
  for (int i = 0; i < 2; ++i) placement.learn(request, 2, 0.2);
  EXPECT_EQ(placement.expected_time_at(request, 2), 0.2);
  request.kinds = 1;
  request.kernel = 2;
  placement.learn(request, 1, 10);
  EXPECT_EQ(placement.expected_time_at(request, 1), 10) << "all that is known, and there is no choice of kinds";
}

// Each slot gets two tasks of a row, so that neighbours need not leave their data for a task's time; but for little
// data, a node that has one task less is better.
TEST(ClusterPlacement, LoadsCountMoreThanLittleData) {
  for (double time : {10.0, 1000.0}) {
    Placement placement(PlacementPolicy::kEarliestEnd);
    for (int i = 0; i < 2; ++i) placement.add({});
    placement.set_link(1, 0.001);
    List<NodeNumber> holders;
    holders.push(2);
    PlacementRequest request{.kernel = 1, .bytes = 1000, .holders = &holders, .beside = 4};
    placement.learn(request, 2, time);
    placement.begin(request, 2);
    auto held = [](NodeNumber node) { return node == 2 ? uint64_t{1000} : 0; };
    EXPECT_EQ(placement.choose(request, held), time == 10 ? 2u : 1u);
  }
}

// Buffer 1, by a first task that has run at the node.
TaskNumber make_at(Head& head, NodeNumber node, uint64_t bytes) {
  NewTask task;
  task.pin = node;
  task.new_buffers.push({1, bytes});
  task.accesses.push({{1, 0, bytes}, true});
  TaskNumber number = head.create(std::move(task));
  head.barrier();
  Message report;
  report.kind = MessageKind::kReport;
  report.from = node;
  report.ended.push({0, true, 1});
  head.receive(report);
  return number;
}

// Node 2 holds what the successor needs, too. Without the window the task goes to the least loaded node, which is 1.
TEST(ClusterPlacement, ATaskGoesWhereItsSuccessorsOtherInputsLie) {
  for (uint64_t window : {0, 1}) {
    Head head({.nodes = 2, .window = window});
    for (int i = 0; i < 2; ++i) head.placement.add({});
    head.placement.set_link(0.01, 0.001);
    TaskNumber first = make_at(head, 2, 1000);
    NewTask small, both;
    small.new_buffers.push({2, 500});
    small.accesses.push({{2, 0, 500}, true});
    TaskNumber task = head.create(std::move(small));
    both.predecessors.push(first);
    both.predecessors.push(task);
    both.accesses.push({{1, 0, 1000}, false});
    both.accesses.push({{2, 0, 500}, false});
    head.create(std::move(both));
    head.barrier();
    EXPECT_EQ(head.place_of(task).node, window + 1);
  }
}

// All tasks read data of node 1, and their times are unknown: they may take longer than the transfer. Tried with a
// window and one by one.
TEST(ClusterPlacement, TasksOfWhichNothingIsKnownAreSpread) {
  for (uint64_t window : {0, 100}) {
    Head head({.nodes = 3, .window = window});
    for (int i = 0; i < 3; ++i) head.placement.add({});
    head.placement.set_link(0, 1);
    make_at(head, 1, 100);
    std::vector<int> tasks(4);
    std::vector<TaskNumber> all;
    for (uint64_t i = 0; i < 9; ++i) {
      NewTask task;
      task.new_buffers.push({2 + i, 10});
      task.kernel = 1;
      task.accesses.push({{1, 0, 100}, false});
      task.accesses.push({{2 + i, 0, 10}, true});
      all.push_back(head.create(std::move(task)));
    }
    head.barrier();
    for (TaskNumber task : all) ++tasks[head.place_of(task).node];
    EXPECT_EQ(tasks, (std::vector<int>{0, 3, 3, 3})) << "window " << window;
  }
}

// A tree with twice as many tasks in each row up to eight, then chains; to move an input takes twice as long as a task.
// Each task ends earliest at the node of its input until many tasks wait there; after that a whole subtree would have
// to move.
TEST(ClusterPlacement, ATreeIsSpreadNearItsRoot) {
  constexpr uint64_t kWidth = 8, kRows = 16, kBytes = 1000;
  Head head({.nodes = 4, .window = kWidth * kRows});
  for (int i = 0; i < 4; ++i) head.placement.add({});
  head.placement.set_link(0.01, 0.002);
  std::vector<TaskNumber> before, now, readers;  // the row before, this row, and the readers of each task
  uint64_t buffer = 0;
  int moved = 0;
  for (uint64_t row = 0; row < kRows; ++row) {
    uint64_t width = std::min(uint64_t{1} << row, kWidth);
    for (uint64_t column = 0; column < width; ++column) {
      NewTask task;
      if (row != 0) {
        uint64_t input = width == before.size() ? column : column / 2;
        task.predecessors.push(before[input]);
        task.accesses.push({{before[input] + 1, 0, kBytes}, false});
        readers.push_back(before[input]);
      }
      task.new_buffers.push({++buffer, kBytes});
      task.accesses.push({{buffer, 0, kBytes}, true});
      now.push_back(head.create(std::move(task)));
    }
    before.swap(now);
    now.clear();
  }
  head.barrier();
  for (TaskNumber task = 1; task <= readers.size(); ++task) {
    moved += head.place_of(task).node != head.place_of(readers[task - 1]).node;
  }
  EXPECT_EQ(moved, 3) << "once for each node but the first";
  int chains[5] = {};
  for (TaskNumber task : before) ++chains[head.place_of(task).node];
  for (int node = 1; node <= 4; ++node) EXPECT_EQ(chains[node], 2);
}

// How long plans take. All tasks take 1, a byte takes 0.1.
class ClusterPlanRun : public ::testing::Test {
 protected:
  explicit ClusterPlanRun(std::vector<double> slots = {1, 1}) {
    for (double count : slots) placement_.add({0, count});
    placement_.set_link(0, 0.1);
    for (size_t i = 0; i <= slots.size(); ++i) idle_.sending.push(0), idle_.receiving.push(0);
    for (double count : slots) {
      idle_.first_slots.push(idle_.slots.count());
      for (int i = 0; i < count; ++i) idle_.slots.push(0);
    }
    idle_.first_slots.push(idle_.slots.count());
  }
  // `order`: the positions.
  double run(std::vector<NodeNumber> nodes, std::vector<uint64_t> order, size_t count = 100, double limit = 100) {
    List<NodeNumber> places;
    List<uint64_t> positions;
    for (NodeNumber node : nodes) places.push(node);
    for (uint64_t position : order) positions.push(position);
    done_.clear(idle_.sending.count());
    run_.begin(placement_, tasks_, idle_, done_);
    return run_.run(places, positions, std::min(count, nodes.size()), limit);
  }
  BatchTask& add() { return tasks_.push({}); }

  Placement placement_{PlacementPolicy::kEarliestEnd};
  List<BatchTask> tasks_;
  Occupied idle_;
  NodeWork done_;
  PlanRun run_;
};

// 0 makes 10 bytes for 1 on the other node and 2 on its own.
TEST_F(ClusterPlanRun, EndsWhenTasksAndTransfersDo) {
  add();
  add().inputs.push({0, 10});
  add().inputs.push({0, 10});
  EXPECT_EQ(run({1, 2, 1}, {0, 1, 2}), 3) << "0 until 1, its bytes are with 1 at 2";
  EXPECT_EQ(run_.end_of(2), 2);
  EXPECT_EQ(run({1, 2, 1}, {0, 1, 2}, 1), 1) << "the first alone";
  EXPECT_GT(run({1, 2, 1}, {0, 1, 2}, 3, 2.5), 2.5) << "later than that";
  idle_.receiving[2] = 4;
  EXPECT_EQ(run({1, 2, 1}, {0, 1, 2}), 6) << "its link has other work until 4";
  EXPECT_EQ(run_.occupied().receiving[2], 5);
  EXPECT_EQ(run_.occupied().slots[1], 6);
}

TEST_F(ClusterPlanRun, OneThingAtATimeLeavesANodeOncePerNode) {
  add();
  for (uint64_t bytes : {10, 20, 20}) add().inputs.push({0, bytes});
  EXPECT_EQ(run({1, 2, 2, 2}, {0, 1, 2, 3}), 5) << "10 bytes until 2, the other 10 until 3, task 1 until 3";
}

// Both tasks get the same bytes at the same time; the task with the higher number comes first in the plan's order.
TEST_F(ClusterPlanRun, APlansOrderDecides) {
  for (uint64_t bytes : {10, 0}) {
    tasks_.clear();
    add();
    add().inputs.push({0, bytes});
    add().inputs.push({0, bytes});
    run({1, 2, 2}, {0, 2, 1});
    EXPECT_LT(run_.end_of(2), run_.end_of(1)) << bytes;
  }
}

// No task of the plan runs on node 2, so the other work of that node does not delay it.
TEST_F(ClusterPlanRun, ABusyNodeBesideThePlanDoesNotCount) {
  add();
  idle_.slots[1] = 50;
  EXPECT_EQ(run({1}, {0}, 1, 10), 1);
  EXPECT_EQ(run({2}, {0}), 51);
}

// Task 0 waits until 90, and then for bytes of node 1; task 2 gets the output of task 1 before that.
TEST_F(ClusterPlanRun, WhatComesLateIsNotInTheWay) {
  BatchTask& late = add();
  late.ready = 90;
  late.outside = 10;
  late.holders.push({1, 10});
  add();
  add().inputs.push({1, 10});
  EXPECT_EQ(run({2, 1, 2}, {0, 1, 2}), 92);
  EXPECT_EQ(run_.end_of(2), 3);
  EXPECT_EQ(run({1, 1, 2}, {0, 1, 2}), 91) << "they are there";
}

class ClusterPlanRunOnSlots : public ClusterPlanRun {
 protected:
  ClusterPlanRunOnSlots() : ClusterPlanRun({1, 2}) {}
};

TEST_F(ClusterPlanRunOnSlots, EachSlotRunsATask) {
  for (int i = 0; i < 5; ++i) add();
  EXPECT_EQ(run({2, 2, 2, 2, 1}, {0, 1, 2, 3, 4}), 2);
  EXPECT_EQ(run({1, 2, 1, 2, 1}, {0, 1, 2, 3, 4}), 3);
}

// The goals of the design: on small graphs 1.1 times the makespan of the best placement of all, 1.3 times its bytes.
TEST(ClusterPlacement, SmallGraphsEndAlmostAsSoonAsTheyCan) {
  double ratios = 0, moved = 0, moved_best = 0;
  constexpr unsigned kGraphs = 100;
  for (unsigned seed = 0; seed < kGraphs; ++seed) {
    ::cluster::TaskGraph graph = ::cluster::make_random(seed, 6, 2 + seed % 2, 3);
    ::cluster::Schedule best = ::cluster::find_best(graph);
    auto placed = ::cluster::place_by_core(graph, seed % 2 == 0 ? 0 : 6, PlacementPolicy::kEarliestEnd);
    ::cluster::Schedule ours = ::cluster::run_placement(graph, placed);
    ratios += ours.makespan / best.makespan;
    moved += static_cast<double>(ours.bytes);
    moved_best += static_cast<double>(best.bytes);
  }
  EXPECT_LT(ratios / kGraphs, 1.1);
  EXPECT_LT(moved / moved_best, 1.3);
}

// On larger graphs, of which the core knows 64 tasks and more: 1.2 times the best of five offline heuristics.
TEST(ClusterPlacement, LargerGraphsEndAlmostAsSoonAsByTheBestHeuristic) {
  double ratios = 0;
  constexpr unsigned kGraphs = 10;
  for (unsigned seed = 0; seed < kGraphs; ++seed) {
    ::cluster::TaskGraph graph = ::cluster::make_random(1000 + seed, 200, 4 + 4 * (seed % 3), 16);
    double best = 1e300;
    for (const ::cluster::Heuristic& heuristic : ::cluster::offline_heuristics()) {
      best = std::min(best, heuristic.plan(graph).makespan);
    }
    auto placed = ::cluster::place_by_core(graph, 64, PlacementPolicy::kEarliestEnd);
    ratios += ::cluster::run_placement(graph, placed).makespan / best;
  }
  EXPECT_LT(ratios / kGraphs, 1.2);
}

}  // namespace
}  // namespace marline::offload::cluster
