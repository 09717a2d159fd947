// SPDX-License-Identifier: Apache-2.0
//
// Simulates a plan: its tasks and transfers, one event after another, as nodes execute them. A node starts ready tasks
// in the plan's order while it has a free slot. The output of a task is sent when the task has ended, once to each
// node. Each node sends one item at a time and receives one item at a time. A run costs, per task, the number of its
// node's slots and, per input, the logarithm of the number of events in flight. A pure state machine of node 0.
#pragma once

#include "cluster/placement/batch_task.hpp"

#include <bit>

namespace marline::offload::cluster {

// Until when nodes and links have work. Slots lie one after another, by node from 1 on; links are by node from 0 on.
struct Occupied {
  List<double> slots, sending, receiving;
  List<size_t> first_slots;  // by node from 1 on: the index of its first slot in `slots`; one more entry at the end

  void copy(const Occupied& other);
  // The node's slot that is free first.
  [[nodiscard]] double& first_slot(NodeNumber node);
};

// The time that tasks and transfers take of each node, from 0 on: of all its slots, and of its link in each direction.
// The latency of a message counts, too, because each message takes processor time.
struct NodeWork {
  List<double> computing, sending, receiving;

  void clear(size_t nodes);
  void copy(const NodeWork& other);
  // The largest of a node's values, or of the values of all nodes except node 0, which sends most of its data only
  // once.
  [[nodiscard]] double most_of(NodeNumber node) const;
  [[nodiscard]] double most() const;
};

class PlanRun {
 public:
  struct Reader {
    uint32_t task;
    uint64_t bytes;
  };
  struct Readers {
    const Reader *first, *after;
    [[nodiscard]] const Reader* begin() const { return first; }
    [[nodiscard]] const Reader* end() const { return after; }
  };

  // Prepares runs of these tasks, which may name only earlier tasks as producers. `done` is the work of other, earlier
  // tasks that is counted with theirs. The arguments must not change until the next call.
  void begin(const Placement& placement, const List<BatchTask>& tasks, const Occupied& occupied, const NodeWork& done);
  // The later tasks that use the output of this task, in the order of creation, with the bytes that they get. 0 bytes:
  // only an order.
  [[nodiscard]] Readers readers_of(size_t task) const {
    return {readers_.begin() + first_readers_[task], readers_.begin() + first_readers_[task + 1]};
  }
  // Returns when the last of the first `count` tasks ends, if each runs at its node of `nodes`. Of several tasks that
  // could start, the one with the lowest of `positions` starts first. A result above `limit`: the end would be later
  // than that.
  double run(const List<NodeNumber>& nodes, const List<uint64_t>& positions, size_t count, double limit);
  // Valid after a run whose result is not above the limit:
  [[nodiscard]] double end_of(size_t task) const {
    assert(task < ends_.count());
    return ends_[task];
  }
  [[nodiscard]] const Occupied& occupied() const { return occupied_; }
  [[nodiscard]] const NodeWork& work() const { return work_; }

 private:
  // Events at the same time are handled in this order, so a node starts a task only when it knows all tasks that it
  // could start.
  enum class What : uint8_t { kOutside, kInput, kEnd, kWake };
  // The time of the event, which is not negative, then what it is, then the number of the task, or of the node for
  // kWake. All are in one number, because many events have the same time, and branches on the parts would be
  // mispredicted.
  struct Event {
    unsigned __int128 key;
    [[nodiscard]] double time() const { return std::bit_cast<double>(static_cast<uint64_t>(key >> 64)); }
    [[nodiscard]] What what() const { return static_cast<What>(static_cast<uint64_t>(key) >> 32); }
    [[nodiscard]] uint32_t number() const { return static_cast<uint32_t>(key); }
    bool operator<(const Event& other) const { return key > other.key; }  // the other event comes first
  };
  struct Ready {
    uint64_t position;
    uint32_t task;
    bool operator<(const Ready& other) const { return position > other.position; }
  };
  struct Sent {
    uint32_t task = 0;  // the number of the task plus one
    uint64_t bytes = 0;
    double there = 0;
  };

  void push(double time, What what, uint32_t number);
  double transfer(NodeNumber from, NodeNumber to, uint64_t bytes, double since);
  void begin_task(uint32_t number);
  void fetch_outside(uint32_t number, double now);
  void wake(NodeNumber node, double time);
  void end_task(uint32_t number, double now);
  void take_input(uint32_t number, double now);
  void start_ready(NodeNumber node, double now);

  const Placement* placement_ = nullptr;
  const List<BatchTask>* tasks_ = nullptr;
  const Occupied* at_first_ = nullptr;
  const NodeWork* done_ = nullptr;
  List<size_t> first_readers_;  // by task: its first entry in `readers_`; one more entry at the end
  List<Reader> readers_;
  // For a run:
  const List<NodeNumber>* nodes_ = nullptr;
  const List<uint64_t>* positions_ = nullptr;
  size_t count_ = 0;
  Occupied occupied_;
  NodeWork work_;
  List<double> ends_;
  List<uint32_t> open_;      // by task: how many inputs have not come
  List<Event> events_;       // a heap
  List<List<Ready>> ready_;  // by node from 0 on: heaps
  List<Sent> sent_;          // by node from 0 on: what it has got last
  List<double> wakes_;       // by node from 0 on: the time of the last pending kWake; -1: there may be none
};

}  // namespace marline::offload::cluster
