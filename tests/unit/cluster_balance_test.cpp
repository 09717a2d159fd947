// SPDX-License-Identifier: Apache-2.0
//
// Iterations that follow one another: tasks leave the busiest node or link, by the times that they took in earlier
// iterations.
#include "cluster/dataflow/head.hpp"
#include "cluster/placement/sharing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace marline::offload::cluster {
namespace {

// All tasks take 1, a byte takes 0.1.
class ClusterBalance : public ::testing::Test {
 protected:
  ClusterBalance() {
    for (int i = 0; i < 2; ++i) placement_.add({});
    placement_.set_link(0, 0.1);
    done_.clear(3);
  }
  BatchTask& add() { return tasks_.push({}); }
  std::vector<NodeNumber> improve(const std::vector<NodeNumber>& nodes) {
    List<NodeNumber> places;
    for (NodeNumber node : nodes) places.push(node);
    run_.begin(placement_, tasks_, idle_, done_);
    Balance().improve(placement_, tasks_, run_, done_, places);
    return {places.begin(), places.end()};
  }

  Placement placement_{PlacementPolicy::kEarliestEnd};
  List<BatchTask> tasks_;
  Occupied idle_;
  NodeWork done_;
  PlanRun run_;
};

TEST_F(ClusterBalance, TasksAreSharedOut) {
  for (int i = 0; i < 6; ++i) add();
  std::vector<NodeNumber> nodes = improve({1, 1, 1, 1, 1, 2});
  EXPECT_EQ(std::count(nodes.begin(), nodes.end(), 1), 3);
  done_.computing[2] = 4;
  nodes = improve({1, 1, 1, 1, 1, 2});
  EXPECT_EQ(std::count(nodes.begin(), nodes.end(), 1), 5) << "the other node has got others before";
}

TEST_F(ClusterBalance, AHeavyTaskIsLeftAlone) {
  for (int i = 0; i < 5; ++i) add();
  tasks_[2].request.weight = 4;
  std::vector<NodeNumber> nodes = improve({1, 1, 1, 1, 2});
  EXPECT_EQ(std::count(nodes.begin(), nodes.end(), nodes[2]), 1);
}

// The input of the second task takes a link 1.5, or 5; on one node both tasks together take 2.
TEST_F(ClusterBalance, ATaskStaysWhereItsInputWouldTakeLonger) {
  for (uint64_t bytes : {15, 50}) {
    tasks_.clear();
    add();
    add().inputs.push({0, bytes});
    std::vector<NodeNumber> nodes = improve({1, 1});
    EXPECT_EQ(nodes[0] == nodes[1], bytes == 50);
  }
}

// All other tasks read the output of task 0, which is sent once to each node. To send it for one task alone takes
// longer than all tasks.
TEST_F(ClusterBalance, ALinkThatHasMostToDoIsRelieved) {
  add();
  for (int i = 0; i < 4; ++i) add().inputs.push({0, 80});
  std::vector<NodeNumber> nodes = improve({1, 1, 1, 1, 2});
  EXPECT_EQ(std::count(nodes.begin(), nodes.end(), 1), 5);
}

// Data of the host costs the same for every node.
TEST_F(ClusterBalance, DataOfTheHostDoesNotHoldTasks) {
  for (int i = 0; i < 6; ++i) add().outside = 20;
  std::vector<NodeNumber> nodes = improve({1, 1, 1, 1, 1, 1});
  EXPECT_EQ(std::count(nodes.begin(), nodes.end(), 1), 3);
}

// Each task is a five-thousandth of its node's work.
TEST_F(ClusterBalance, ManySmallTasksAreSharedOut) {
  for (int i = 0; i < 5000; ++i) add();
  std::vector<NodeNumber> nodes = improve(std::vector<NodeNumber>(5000, 1));
  EXPECT_EQ(std::count(nodes.begin(), nodes.end(), 1), 2500);
}

TEST_F(ClusterBalance, WhatANodeCannotRunDoesNotGoThere) {
  placement_.add({.kind = 1});
  done_.clear(4);
  for (int i = 0; i < 6; ++i) add().request.kinds = 2;
  EXPECT_EQ(improve({3, 3, 3, 3, 3, 3}), (std::vector<NodeNumber>(6, 3)));
}

TEST_F(ClusterBalance, WhatIsPinnedOrOnTheHostStays) {
  for (int i = 0; i < 3; ++i) add().request.pin = 1;
  add().is_on_host = true;
  EXPECT_EQ(improve({1, 1, 1, 0}), (std::vector<NodeNumber>{1, 1, 1, 0}));
}

// Nodes are chosen by the data that tasks read in common.
class ClusterSharing : public ClusterBalance {
 protected:
  ClusterSharing() {
    for (int i = 0; i < 2; ++i) placement_.add({});
    done_.clear(5);
  }
  std::vector<NodeNumber> assign() {
    List<NodeNumber> nodes;
    run_.begin(placement_, tasks_, idle_, done_);
    Sharing().assign(placement_, tasks_, run_, nodes);
    return {nodes.begin(), nodes.end()};
  }
  // Adds a row of eight columns: each task reads its own column, and the columns at that distance.
  void add_row(uint32_t distance) {
    auto first = static_cast<uint32_t>(tasks_.count());
    for (uint32_t i = 0; i < 8; ++i) {
      BatchTask& task = add();
      for (uint32_t from : {i - distance, i, i + distance}) {
        if (first != 0 && from < 8) task.inputs.push({first - 8 + from, 10});
      }
    }
  }
};

// Two columns for each of four nodes. In the last row each node has one of the two columns that its tasks read.
TEST_F(ClusterSharing, ColumnsThatAreReadTogetherAreTogether) {
  add_row(0);
  add_row(1);
  add_row(4);
  std::vector<NodeNumber> nodes = assign();
  for (size_t row = 0; row < 3; ++row) {
    for (NodeNumber node = 1; node <= 4; ++node)
      EXPECT_EQ(std::count(nodes.begin() + 8 * row, nodes.begin() + 8 * (row + 1), node), 2);
  }
  for (size_t i = 0; i < 8; i += 2) EXPECT_EQ(nodes[8 + i], nodes[8 + i + 1]) << "neighbours";
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(nodes[16 + i], nodes[16 + i + 4]);
    EXPECT_TRUE(nodes[16 + i] == nodes[8 + i] || nodes[16 + i] == nodes[8 + i + 4]) << i;
  }
}

TEST_F(ClusterSharing, TasksThatReadTheSameAreSpreadIfTheyAreMany) {
  add();
  for (int i = 0; i < 8; ++i) add().inputs.push({0, 10});
  std::vector<NodeNumber> nodes = assign();
  for (NodeNumber node = 1; node <= 4; ++node) EXPECT_EQ(std::count(nodes.begin() + 1, nodes.end(), node), 2);
}

TEST_F(ClusterSharing, WhatIsPinnedOrOnTheHostIsLeftAlone) {
  add().is_on_host = true;
  add().request.pin = 3;
  add().inputs.push({1, 10});
  EXPECT_EQ(assign(), (std::vector<NodeNumber>{0, 3, 3}));
}

// Nodes with more slots get more tasks; nodes that cannot run the tasks get none.
TEST_F(ClusterSharing, NodesHaveUnlikeSlotsAndKinds) {
  placement_.add({1, 2});
  done_.clear(6);
  for (int i = 0; i < 6; ++i) add();
  std::vector<NodeNumber> nodes = assign();
  EXPECT_EQ(std::count(nodes.begin(), nodes.end(), 5), 2);
  for (BatchTask& task : tasks_) task.request.kinds = 1;
  nodes = assign();
  EXPECT_EQ(std::count(nodes.begin(), nodes.end(), 0), 2) << "no advice";
}

// A graph of eight tasks, of which one takes longer than the others together. Each node's first task does not count.
class UnevenGraph {
 public:
  UnevenGraph() : head_({.nodes = 2, .credits = 100, .window = 100}) {
    for (int i = 0; i < 2; ++i) head_.placement.add({});
  }
  // Whether it is a replay.
  bool iterate(bool has_barrier, double heavy = 12) {
    bool is_replay = head_.begin_iteration(1, has_barrier);
    now_.clear();
    is_replay = is_replay && bytes_ == 8;
    for (uint64_t i = 0; i < kTasks; ++i) {
      const uint64_t word = 0;
      if (is_replay) {
        EXPECT_TRUE(head_.replay_next(1, &word, 1));
        continue;
      }
      NewTask task;
      if (is_first_) task.new_buffers.push({i + 1, 8});
      task.kernel = 1;
      task.accesses.push({{i + 1, 0, bytes_}, true});
      task.graph = 1;
      task.words.push(word);
      if (!is_first_) task.predecessors.push(before_[i]);
      now_.push_back(head_.create(std::move(task)));
      open_.push_back({now_.back(), i == kHeavy ? heavy : 1});
    }
    for (uint64_t i = 0; is_replay && i < kTasks; ++i) now_.push_back(head_.number_of(1, i));
    head_.end_iteration(1);
    head_.barrier();
    is_first_ = false;
    before_ = now_;
    return is_replay;
  }
  void end_all() {
    for (auto [task, time] : open_) {
      TaskPlace place = head_.place_of(task);
      Message report;
      report.kind = MessageKind::kReport;
      report.from = place.node;
      report.ended.push({place.index, true, time});
      head_.receive(report);
    }
    open_.clear();
  }
  // For the last iteration, which is recorded.
  long beside_heavy() {
    NodeNumber node = head_.place_of(now_[kHeavy]).node;
    return std::count_if(now_.begin(), now_.end(), [&](TaskNumber task) { return head_.place_of(task).node == node; }) -
           1;
  }

  // For the last iteration, which is a replay: each node reports its tasks' ends and times together.
  void end_replay(double heavy) {
    List<Message> sent;
    sent.swap(head_.messages);
    for (const Message& replay : sent) {
      if (replay.kind != MessageKind::kReplay) continue;
      ReplayBatch batch = Share::batch_of(replay);
      double time = 0;
      for (uint64_t i = 0; i < kTasks; ++i) {
        if (head_.place_of(now_[i]).node == replay.to) time += i == kHeavy ? heavy : 1;
      }
      Message report;
      report.kind = MessageKind::kReport;
      report.from = replay.to;
      report.ended.push({batch.first_index + batch.from, false, time, replay.count});
      reports_.push(std::move(report));
    }
    // now, because the tasks' places are not known afterwards.
    for (const Message& report : reports_) head_.receive(report);
    reports_.clear();
  }

  // Its tasks use less from now on.
  void change() { bytes_ = 4; }
  // Plans that nodes have been given and told to drop since the last call.
  int plans_for_nothing() {
    int found = 0;
    for (const Message& plan : head_.messages) {
      for (const Message& end : head_.messages) {
        bool is_same = plan.index == end.index && plan.to == end.to;
        found += plan.kind == MessageKind::kPlan && end.kind == MessageKind::kUnplan && is_same ? 1 : 0;
      }
    }
    head_.messages.clear();
    return found;
  }
  uint64_t uneven() { return head_.graph_counts().uneven; }

 private:
  static constexpr uint64_t kTasks = 8, kHeavy = 5;
  Head head_;
  bool is_first_ = true;
  uint64_t bytes_ = 8;
  std::vector<TaskNumber> now_, before_;
  struct Open {
    TaskNumber task;
    double time;
  };
  std::vector<Open> open_;
  List<Message> reports_;
};

TEST(ClusterUnevenGraph, IsPlacedByTheTimesOfTheIterationBefore) {
  UnevenGraph graph;
  EXPECT_FALSE(graph.iterate(true));
  EXPECT_EQ(graph.beside_heavy(), 3) << "all tasks count as equally long";
  graph.end_all();
  EXPECT_FALSE(graph.iterate(true));
  EXPECT_EQ(graph.beside_heavy(), 0);
  graph.end_all();
  EXPECT_FALSE(graph.iterate(true)) << "data are where they were not before";
  EXPECT_EQ(graph.beside_heavy(), 0);
  graph.end_all();
  EXPECT_TRUE(graph.iterate(true));
}

// The times arrive when there is already a plan.
TEST(ClusterUnevenGraph, IsRecordedOnceMore) {
  UnevenGraph graph;
  EXPECT_FALSE(graph.iterate(false));
  EXPECT_FALSE(graph.iterate(false));
  EXPECT_TRUE(graph.iterate(false));
  EXPECT_EQ(graph.uneven(), 0u);
  graph.end_all();
  EXPECT_FALSE(graph.iterate(false));
  EXPECT_EQ(graph.uneven(), 1u);
  EXPECT_EQ(graph.beside_heavy(), 0);
  EXPECT_FALSE(graph.iterate(false));
  EXPECT_EQ(graph.beside_heavy(), 0);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(graph.iterate(false));
}

// After an iteration that was cut, two iterations have other tasks. The plan of the second one could be kept, but by
// the times of its tasks it would be dropped at once.
TEST(ClusterUnevenGraph, IsNotKeptAndGivenUpAtOnce) {
  UnevenGraph graph;
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(graph.iterate(false, 1));
  EXPECT_TRUE(graph.iterate(false));
  graph.change();
  for (int i = 0; i < 8; ++i) {
    graph.plans_for_nothing();
    graph.iterate(false);
    EXPECT_EQ(graph.plans_for_nothing(), 0) << "iteration " << i;
    if (i != 1) graph.end_all();  // the times of the first recorded iteration come with those of the second
  }
  EXPECT_EQ(graph.uneven(), 1u);
}

// Each iteration ends before the next one begins.
void record(UnevenGraph& graph, double heavy, int iterations) {
  for (int i = 0; i < iterations; ++i) {
    EXPECT_FALSE(graph.iterate(true, heavy)) << i;
    graph.end_all();
  }
}

void replay(UnevenGraph& graph, double heavy, int iterations) {
  for (int i = 0; i < iterations; ++i) {
    ASSERT_TRUE(graph.iterate(true)) << i;
    graph.end_replay(heavy);
  }
}

// The nodes then measure the times, and the second iteration is placed by them.
TEST(ClusterUnevenGraph, BecomesUneven) {
  UnevenGraph graph;
  record(graph, 1, 2);
  replay(graph, 1, 20);
  replay(graph, 12, 12);
  EXPECT_EQ(graph.uneven(), 0u) << "the first 16 were even";
  EXPECT_FALSE(graph.iterate(true, 12));
  EXPECT_EQ(graph.uneven(), 1u);
  EXPECT_EQ(graph.beside_heavy(), 3) << "the tasks stay";
  graph.end_all();
  EXPECT_FALSE(graph.iterate(true, 12));
  EXPECT_EQ(graph.beside_heavy(), 0);
  graph.end_all();
  record(graph, 12, 1);
  replay(graph, 12, 200);
  EXPECT_EQ(graph.uneven(), 1u) << "nobody can do better";
}

TEST(ClusterUnevenGraph, IsLookedAtLessOftenIfItChangesOften) {
  UnevenGraph graph;
  int recorded = 0;
  for (int i = 0; i < 3000; ++i) {
    double heavy = i / 20 % 2 == 0 ? 1 : 12;
    if (graph.iterate(true, heavy)) {
      graph.end_replay(heavy);
    } else {
      ++recorded;
      graph.end_all();
    }
  }
  EXPECT_GE(graph.uneven(), 1u);
  EXPECT_LE(graph.uneven(), 30u) << "every fortieth iteration would be one";
  EXPECT_LE(recorded, 150);
}

TEST(ClusterUnevenGraph, IsKeptIfItIsEvenOrNobodyCanDoBetter) {
  for (double heavy : {1.02, 100.0}) {
    UnevenGraph graph;
    EXPECT_FALSE(graph.iterate(false, heavy));
    EXPECT_FALSE(graph.iterate(false, heavy));
    EXPECT_TRUE(graph.iterate(false));
    graph.end_all();
    EXPECT_TRUE(graph.iterate(false)) << heavy;
  }
}

}  // namespace
}  // namespace marline::offload::cluster
