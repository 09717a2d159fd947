// SPDX-License-Identifier: Apache-2.0
//
// When a node reports the ends of its tasks, and what node 0 sends to it then.
#include "cluster/dataflow/head.hpp"
#include "cluster/dataflow/worker.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace marline::offload::cluster::simulation {
namespace {

// A node with one slot, and messages that arrive at once.
class ClusterReports : public testing::Test {
 protected:
  explicit ClusterReports(size_t slots = 1) : worker_(1, slots) {
    head_.placement.add({0, static_cast<double>(slots)});
  }

  TaskNumber create() {
    TaskNumber number = head_.create({});
    deliver();
    return number;
  }
  void await(TaskNumber number) {
    head_.await(number);
    deliver();
  }
  void end(uint64_t index, double time = 1) {
    worker_.compare(index);
    worker_.end(index, time);
    deliver();
  }
  void deliver() {
    while (!head_.messages.is_empty() || !worker_.commands.is_empty()) {
      List<Message> messages;
      messages.swap(head_.messages);
      for (Message& message : messages) {
        awaits_ += message.kind == MessageKind::kAwait ? 1 : 0;
        forgets_ += message.kind == MessageKind::kForget ? 1 : 0;
        worker_.receive(message);
      }
      List<WorkerCommand> commands;
      commands.swap(worker_.commands);
      for (WorkerCommand& command : commands) {
        if (command.action == WorkerAction::kSend) head_.receive(command.message);
      }
    }
  }

  Head head_{{.nodes = 1}};
  Worker worker_;
  int awaits_ = 0, forgets_ = 0;
};

class ClusterReportsOfFourSlots : public ClusterReports {
 protected:
  ClusterReportsOfFourSlots() : ClusterReports(4) {}
};

TEST_F(ClusterReportsOfFourSlots, FreeSlotsAreNoReason) {
  for (uint64_t i = 0; i < 3; ++i) create();
  end(0);
  end(2);
  EXPECT_FALSE(head_.has_ended(0) || head_.has_ended(2));
  end(1);
  EXPECT_TRUE(head_.has_ended(0) && head_.has_ended(1) && head_.has_ended(2)) << "it runs nothing";
  EXPECT_EQ(forgets_, 1);
  EXPECT_EQ(worker_.first_known(), 3u);
}

// Four tasks of length 40 on four slots: one ends each 10.
TEST_F(ClusterReportsOfFourSlots, EndsWaitWhereOthersFollowSoon) {
  worker_.waits_at_most = 10;
  for (uint64_t i = 0; i < 4; ++i) create();
  end(0, 40);
  EXPECT_FALSE(head_.has_ended(0));
  end(1, 31);
  EXPECT_TRUE(head_.has_ended(0) && head_.has_ended(1)) << "of the three that ran, one ends each 10.3";
}

TEST_F(ClusterReports, ABusyNodeTellsEndsTogether) {
  for (uint64_t i = 0; i < 20; ++i) create();
  for (uint64_t i = 0; i < 15; ++i) end(i);
  EXPECT_FALSE(head_.has_ended(0));
  end(15);
  EXPECT_TRUE(head_.has_ended(0) && head_.has_ended(15));
  for (uint64_t i = 16; i < 19; ++i) end(i);
  EXPECT_FALSE(head_.has_ended(16));
  end(19);
  EXPECT_TRUE(head_.has_ended(16) && head_.has_ended(19)) << "it runs nothing";
}

TEST_F(ClusterReports, EndsDoNotWaitBehindLongTasks) {
  worker_.waits_at_most = 10;
  for (uint64_t i = 0; i < 6; ++i) create();
  end(0, 10);
  EXPECT_FALSE(head_.has_ended(0));
  end(1, 11);
  EXPECT_TRUE(head_.has_ended(0) && head_.has_ended(1));
  end(2, 1);
  EXPECT_FALSE(head_.has_ended(2));
  worker_.report();
  deliver();
  EXPECT_TRUE(head_.has_ended(2));
  worker_.report();
  end(3, 1);
  EXPECT_FALSE(head_.has_ended(3)) << "there was nothing else to report";
}

TEST_F(ClusterReports, WhatIsAwaitedIsToldAtOnce) {
  for (uint64_t i = 0; i < 6; ++i) create();
  end(0);
  await(0);
  EXPECT_TRUE(head_.has_ended(0)) << "it had ended before";
  await(1);
  end(1);
  EXPECT_TRUE(head_.has_ended(1));
  end(2);
  EXPECT_FALSE(head_.has_ended(2));
  head_.await_all();
  deliver();
  EXPECT_TRUE(head_.has_ended(2));
  end(3);
  EXPECT_TRUE(head_.has_ended(3));
  NewTask task;
  task.is_awaited = true;
  TaskNumber last = head_.create(std::move(task));
  create();
  end(4);
  end(5);
  EXPECT_TRUE(head_.has_ended(5));
  end(last);
  EXPECT_TRUE(head_.has_ended(last));
}

// The end of a node's only task is reported at once anyway. When the node gets another task, it must know that the
// first one is awaited.
TEST_F(ClusterReports, ANodeHearsThatItsOnlyTaskIsAwaitedBeforeItGetsAnother) {
  await(create());
  EXPECT_EQ(awaits_, 0);
  create();
  EXPECT_EQ(awaits_, 1);
  end(0);
  EXPECT_TRUE(head_.has_ended(0));
  await(1);
  end(1);
  create();
  EXPECT_EQ(awaits_, 1) << "it had ended";
}

}  // namespace
}  // namespace marline::offload::cluster::simulation
