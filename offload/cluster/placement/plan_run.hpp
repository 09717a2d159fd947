// SPDX-License-Identifier: Apache-2.0
//
// What a plan comes to: its tasks and transfers one event after another, as nodes do them. A node starts what is ready
// in the plan's order while it has a slot. What a task makes leaves when it has ended, once for each node. Each node
// sends one thing at a time and receives one thing at a time. Of each task a run costs the slots of its node, and of
// each input a logarithm of what is under way. A pure state machine of node 0.
#pragma once

#include "cluster/placement/batch_task.hpp"

#include <bit>

namespace marline::offload::cluster {

// Until when nodes and links have work. Slots by node, from 1 on, one behind another; links by node, from 0 on.
struct Occupied {
  List<double> slots, sending, receiving;
  List<size_t> first_slots;  // by node from 1 on: its first in `slots`; one more at the end

  void copy(const Occupied& other);
  // The node's slot that is free first.
  [[nodiscard]] double& first_slot(NodeNumber node);
};

// What tasks and transfers take of each node, from 0 on: of all its slots, and of its link in each direction, where
// messages count with their latency, as each takes time of a processor, too.
struct NodeWork {
  List<double> computing, sending, receiving;

  void clear(size_t nodes);
  void copy(const NodeWork& other);
  // What has most to do of a node's, or of all nodes but 0: what that has is mostly sent once.
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
    const Reader *first, *behind;
    [[nodiscard]] const Reader* begin() const { return first; }
    [[nodiscard]] const Reader* end() const { return behind; }
  };

  // Of these tasks, which name producers before them. They, what is occupied, and `done`, what others before them take
  // that are to be counted with them, stay as they are until the next call.
  void begin(const Placement& placement, const List<BatchTask>& tasks, const Occupied& occupied, const NodeWork& done);
  // Tasks behind this one, in the order of creation, with what they get of it; no bytes: an order alone.
  [[nodiscard]] Readers readers_of(size_t task) const {
    return {readers_.begin() + first_readers_[task], readers_.begin() + first_readers_[task + 1]};
  }
  // When the last of the first tasks ends, so many, if each runs at its node of `nodes`, and of several that could
  // start the one with the lowest of `positions` does. More than `limit`: it would be later than that.
  double run(const List<NodeNumber>& nodes, const List<uint64_t>& positions, size_t count, double limit);
  // After that, if it is not more than the limit:
  [[nodiscard]] double end_of(size_t task) const {
    assert(task < ends_.count());
    return ends_[task];
  }
  [[nodiscard]] const Occupied& occupied() const { return occupied_; }
  [[nodiscard]] const NodeWork& work() const { return work_; }

 private:
  // At one time, in this order: so a node starts something when it knows all that it could start.
  enum class What : uint8_t { kOutside, kInput, kEnd, kWake };
  // Its time, which is not negative, then what it is, then the number of the task, or of the node that wakes: in one
  // number, since many have the same time and branches on that are mispredicted.
  struct Event {
    unsigned __int128 key;
    [[nodiscard]] double time() const { return std::bit_cast<double>(static_cast<uint64_t>(key >> 64)); }
    [[nodiscard]] What what() const { return static_cast<What>(static_cast<uint64_t>(key) >> 32); }
    [[nodiscard]] uint32_t number() const { return static_cast<uint32_t>(key); }
    bool operator<(const Event& other) const { return key > other.key; }  // something else comes before
  };
  struct Ready {
    uint64_t position;
    uint32_t task;
    bool operator<(const Ready& other) const { return position > other.position; }
  };
  struct Sent {
    uint32_t task = 0;  // one more than its number
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
  List<size_t> first_readers_;  // by task: the first of those that read what it makes; one more at the end
  List<Reader> readers_;
  // Of a run:
  const List<NodeNumber>* nodes_ = nullptr;
  const List<uint64_t>* positions_ = nullptr;
  size_t count_ = 0;
  Occupied occupied_;
  NodeWork work_;
  List<double> ends_;
  List<uint32_t> open_;      // by task: inputs that have not come
  List<Event> events_;       // a heap
  List<List<Ready>> ready_;  // by node from 0 on: heaps
  List<Sent> sent_;          // by node from 0 on: what it has got last
  List<double> wakes_;       // by node from 0 on: the last kWake that is on its way; -1: there may be none
};

}  // namespace marline::offload::cluster
