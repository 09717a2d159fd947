// SPDX-License-Identifier: Apache-2.0
//
// A node's share of a kept plan: its tasks of one iteration of a persistent graph, and what each has to do. Node 0
// sends the share once (kPlan). Then one message per iteration, or per batch of an iteration (kReplay), creates the
// tasks of the share, or some of them, at the node, as if each had been assigned. Share writes the content of both
// messages (Message::words) at node 0, and reads it at the node.
//
// A plan names a task by its rank among its node's tasks of the iteration. In each iteration these tasks have
// consecutive indices, so a node's first index says where all of its tasks are.
#pragma once

#include "cluster/base/message.hpp"

namespace marline::offload::cluster {

// The iteration of a task that a plan names: none, so the task is named by its index; the iteration that runs; or the
// one before.
enum class Era : uint8_t { kFixed, kNow, kBefore };

// A task, as a plan names it.
struct PlanPlace {
  Era era = Era::kFixed;
  NodeNumber node = 0;
  uint64_t rank = 0;  // with kFixed: the task's index at the node
};

struct PlanAccess {
  PlannedAccess access;  // except its source
  PlanPlace source;
};

// What a task's node does for the task, in any iteration.
struct PlanStep {
  uint64_t task = 0;          // its number in the iteration
  uint32_t predecessors = 0;  // how many ends it waits for (Message::predecessors)
  List<PlanPlace> waits_for;
  List<PlanAccess> accesses;
  // The driver's words: values that may change from iteration to iteration (firstprivate data), as of the last
  // iteration.
  List<uint64_t> words;
};

// One of a task's words (PlanStep::words) that differs from the iteration before.
struct ChangedWord {
  uint32_t word;  // the index among the task's words
  uint64_t value;
};

// A part of a replayed iteration that a node gets with one message: its tasks with the ranks [from, to).
struct ReplayBatch {
  TaskNumber first_number = 0;  // the number of the iteration's task 0
  uint64_t from = 0, to = 0;
  uint64_t first_index = 0;  // the index of the node's task with rank 0, in this iteration
};

class Share {
 public:
  uint64_t number = 0;  // the plan's number

  // For node 0. A step names nodes; `peers` gets each of them once, and the message lists them in this order.
  static void write_step(const PlanStep& step, List<NodeNumber>& peers, List<uint64_t>& words);
  static void write_batch(const ReplayBatch& batch, List<uint64_t>& words);
  static void write_peer(uint64_t first_now, uint64_t first_before, List<uint64_t>& words);
  static void write_change(uint64_t rank, size_t word, uint64_t value, List<uint64_t>& words);
  // The task belongs to a batch that has not been sent, and need not run.
  static void write_left_out(uint64_t rank, List<uint64_t>& words);

  // For the node. Words that do not fit end the process, because node 0 cannot have sent them.
  void read(const Message& plan);
  ReplayBatch read_batch(const Message& replay);
  // Reads once more, for a driver, a message that read_batch has read.
  static ReplayBatch batch_of(const Message& replay) {
    return {replay.task, replay.words[0], replay.words[1], replay.words[2]};
  }
  // By rank. A driver that sends kernels along with a plan reads them here.
  [[nodiscard]] const List<PlanStep>& steps() const { return steps_; }
  // The message that would have assigned the task, in the batch that was read last.
  Message assignment(const ReplayBatch& batch, uint64_t rank) const;

 private:
  // A node that the steps name.
  struct Peer {
    NodeNumber node = 0;
    uint64_t now = 0, before = 0;  // the index of its task with rank 0, in this iteration and in the one before
  };
  void refuse_unknown(const PlanPlace& place) const;
  TaskPlace place_of(const PlanPlace& place) const;

  List<PlanStep> steps_;     // by rank; PlanPlace::node is here an index in peers_
  List<uint64_t> left_out_;  // ranks, of the batch that was read last
  List<Peer> peers_;
};

}  // namespace marline::offload::cluster
