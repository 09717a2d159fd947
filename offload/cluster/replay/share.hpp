// SPDX-License-Identifier: Apache-2.0
//
// A node's share of a kept plan: its tasks of one iteration of a persistent graph, and what each has to do. A message
// of node 0 per iteration, or part of one, makes them tasks of the node, as if each had been assigned. Node 0 writes
// the words of both messages, the node reads them; all of this room's formats are here.
//
// A plan names a task by its rank among its node's tasks of the iteration. In each iteration these have indices without
// gaps, so the first index of a node says where all of its tasks are.
#pragma once

#include "cluster/base/message.hpp"

namespace marline::offload::cluster {

// Of which iteration a task is that a plan names: of none, so it has its own index; of the one that runs; of the one
// before.
enum class Era : uint8_t { kFixed, kNow, kBefore };

struct PlanPlace {
  Era era = Era::kFixed;
  NodeNumber node = 0;
  uint64_t rank = 0;  // kFixed: the index
};

struct PlanAccess {
  PlannedAccess access;  // but for its source
  PlanPlace source;
};

// What a task's node does, in any iteration.
struct PlanStep {
  uint64_t task = 0;          // its number in the iteration
  uint32_t predecessors = 0;  // as Message has it
  List<PlanPlace> waits_for;
  List<PlanAccess> accesses;
  List<uint64_t> words;  // the driver's, in the last iteration: firstprivate data
};

// One batch: tasks [from, to) by rank.
// A word of a task that is another one than in the iteration before.
struct ChangedWord {
  uint32_t word;  // among the task's
  uint64_t value;
};

struct ReplayBatch {
  TaskNumber first_number = 0;  // of the iteration's task 0
  uint64_t from = 0, to = 0;
  uint64_t first_index = 0;  // of rank 0
};

class Share {
 public:
  uint64_t number = 0;  // the plan's

  // Node 0. A step names nodes; the message has each of them once, and `peers` gets them in this order.
  static void write_step(const PlanStep& step, List<NodeNumber>& peers, List<uint64_t>& words);
  static void write_batch(const ReplayBatch& batch, List<uint64_t>& words);
  static void write_peer(uint64_t first_now, uint64_t first_before, List<uint64_t>& words);
  static void write_change(uint64_t rank, size_t word, uint64_t value, List<uint64_t>& words);
  // The task of a batch that has not been sent need not run.
  static void write_left_out(uint64_t rank, List<uint64_t>& words);

  // The node. What does not fit ends the process: node 0 cannot have sent it.
  void read(const Message& plan);
  ReplayBatch read_batch(const Message& replay);
  // Once more, for a driver, of a message that has been read.
  static ReplayBatch batch_of(const Message& replay) {
    return {replay.task, replay.words[0], replay.words[1], replay.words[2]};
  }
  // By rank; a driver that sends kernels along with a plan reads it for this.
  [[nodiscard]] const List<PlanStep>& steps() const { return steps_; }
  // The message that would have assigned the task in the batch read last.
  Message assignment(const ReplayBatch& batch, uint64_t rank) const;

 private:
  struct Peer {
    NodeNumber node = 0;
    uint64_t now = 0, before = 0;
  };
  PlanPlace checked(const PlanPlace& place) const;
  TaskPlace place_of(const PlanPlace& place) const;

  List<PlanStep> steps_;     // by rank; `node` of their places is a number in peers_
  List<uint64_t> left_out_;  // ranks, of the batch read last
  List<Peer> peers_;
};

}  // namespace marline::offload::cluster
