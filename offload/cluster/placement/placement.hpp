// SPDX-License-Identifier: Apache-2.0
//
// Chooses the node that runs a task: the one where the task is expected to end first (the rule of HEFT, Topcuoglu et
// al. 2002), among the holders of its inputs, the least loaded nodes and the node of the choice before. So a choice
// costs O(inputs + log nodes). A pure state machine of node 0; nodes are numbered from 1 on. Costs are in the driver's
// unit of time, learned from tasks that have run.
#pragma once

#include "base/id_table.hpp"
#include "cluster/placement/tournament.hpp"

namespace marline::offload::cluster {

enum class PlacementPolicy : uint8_t {
  kEarliestEnd,
  kRoundRobin,
  kOwnerComputes,  // the node with most bytes of the inputs; of equal ones, the lower number
};

struct Member {
  uint32_t kind = 0;  // nodes of one kind are equally fast; a number below Placement::kKinds
  double slots = 1;   // how many tasks it runs side by side
};

// A predecessor that has not ended, and the expected time until its end.
struct RunningPredecessor {
  NodeNumber node;
  double left;
};

// The properties of a task on which the choice depends.
struct PlacementRequest {
  uint32_t kernel = 0;
  uint64_t bytes = 0;             // how many bytes it uses
  uint32_t kinds = ~uint32_t{0};  // bit k: members of kind k have an image
  NodeNumber pin = kAnyNode;
  const List<NodeNumber>* holders = nullptr;  // nodes that hold any of its inputs; may name a node twice
  const List<RunningPredecessor>* predecessors = nullptr;
  double gap = 0;       // how long the chosen node's slot waits for the task's inputs
  double weight = 1;    // the ratio of its time to the time of other tasks of its kernel and size
  uint64_t beside = 1;  // how many tasks, this one included, could run at the same time
};

class Placement {
 public:
  static constexpr uint32_t kKinds = 32;
  static constexpr size_t kLeastLoaded = 2;

  explicit Placement(PlacementPolicy policy) : policy_(policy) {}

  // Adds members 1 to n, in this order, before the first choice.
  void add(const Member& member);
  void set_link(double latency, double time_per_byte) { latency_ = latency, time_per_byte_ = time_per_byte; }

  // The least time that is assumed for a task whose kernel has not run yet.
  void set_unknown_time(double time) { unknown_time_ = time; }

  // Returns 0 if no member may run the task. `held(node)`: how many of the task's bytes the node has.
  template <class Held>
  NodeNumber choose(const PlacementRequest& request, const Held& held);

  // Assigns the task to the node. Returns its share of the node's load, for `end`.
  double begin(const PlacementRequest& request, NodeNumber node);
  // `mark` is asked for right after a task's `begin` at the node. `time_left` then returns the time until that task
  // ends.
  [[nodiscard]] double mark(NodeNumber node) const { return done_[node - 1] + loads_[node]; }
  [[nodiscard]] double time_left(NodeNumber node, double mark) const {
    return mark > done_[node - 1] ? mark - done_[node - 1] : 0;
  }
  // Whether so few tasks could run at the same time that the chain of predecessors determines the end, not the queues.
  [[nodiscard]] bool is_latency_bound(const PlacementRequest& request) const {
    return static_cast<double>(request.beside) < 1.5 * slots_;
  }
  // How long a slot of the node would wait for the task's inputs, if this many bytes are missing.
  [[nodiscard]] double gap_at(const PlacementRequest& request, NodeNumber node, uint64_t missing) const {
    double gap = ready_time(request, node, transfer_time(missing)) - loads_[node];
    return gap > 0 ? gap : 0;
  }
  void end(NodeNumber node, double load);
  // Adds the load of tasks that are already placed.
  void add_load(NodeNumber node, double load) { loads_.set(node, loads_[node] + load); }
  // A task has run for `time`. False: it was the first one of its kernel on that node, which may take longer.
  bool learn(const PlacementRequest& request, NodeNumber node, double time);
  // The weight (PlacementRequest) of a task that has taken `time` at the node. Differences of less than a tenth count
  // as noise.
  [[nodiscard]] double weight_of(const PlacementRequest& request, NodeNumber node, double time) const;

  [[nodiscard]] bool may_run(const PlacementRequest& request, NodeNumber node) const;
  // How long the node has work, and how many tasks it runs side by side.
  [[nodiscard]] double load(NodeNumber node) const { return loads_[node]; }
  [[nodiscard]] double slots(NodeNumber node) const { return members_[node - 1].slots; }
  // 0: there are no members.
  [[nodiscard]] NodeNumber least_loaded() const { return loads_.least(); }
  // The time of the task on the node, with a transfer of this many bytes before it.
  [[nodiscard]] double time_with_transfer(const PlacementRequest& request, NodeNumber node, uint64_t bytes) const {
    return latency_ + static_cast<double>(bytes) * time_per_byte_ + expected_time(request, members_[node - 1].kind);
  }

  [[nodiscard]] double expected_time(const PlacementRequest& request, uint32_t kind) const;
  [[nodiscard]] double expected_time_at(const PlacementRequest& request, NodeNumber node) const {
    return expected_time(request, members_[node - 1].kind);
  }
  // The time on the kind of member that runs the task fastest, as far as known, among the kinds that may run it.
  [[nodiscard]] double expected_time(const PlacementRequest& request) const;
  [[nodiscard]] double wire_time(uint64_t bytes) const { return static_cast<double>(bytes) * time_per_byte_; }
  [[nodiscard]] double transfer_time(uint64_t bytes) const {
    return bytes == 0 ? 0 : latency_ + static_cast<double>(bytes) * time_per_byte_;
  }
  // A transfer of bytes that exist at `since`, over links that are in use until `sending` and `receiving`: when the
  // last byte has left, and when it has arrived.
  struct Passage {
    double left, there;
  };
  [[nodiscard]] Passage pass(uint64_t bytes, double since, double sending, double receiving) const {
    double wire = wire_time(bytes), leaves = since > sending ? since : sending;
    double arrives = leaves + transfer_time(bytes) - wire;
    return {leaves + wire, (arrives > receiving ? arrives : receiving) + wire};
  }
  // How many rounds the slots need for the tasks that are ready together: if each slot gets several tasks, neighbours
  // among them may wait for one another. It is 1 if the task has little data, so that loads decide.
  [[nodiscard]] double rounds_of(const PlacementRequest& request) const;
  // The time until a task that takes `time` starts at a node with this load, rounded down to a multiple of `rounds`
  // rounds of all slots. While a slot is free, a task starts at once; and a smaller gain is not worth moving data.
  [[nodiscard]] double wait_time(NodeNumber node, double load, double time, double rounds) const;
  // Whether moving the bytes takes less than a fiftieth of `time`.
  [[nodiscard]] bool is_little(uint64_t bytes, double time) const { return wire_time(bytes) < kLittle * time; }
  // Whether tasks of this kernel and size have run on a kind of member that may run it.
  [[nodiscard]] bool is_known(const PlacementRequest& request) const;
  [[nodiscard]] double all_slots() const { return slots_; }
  [[nodiscard]] size_t members() const { return members_.count(); }
  [[nodiscard]] const Tournament& loads() const { return loads_; }
  [[nodiscard]] PlacementPolicy policy() const { return policy_; }
  // Calls `with` for the kLeastLoaded members with the least value in `loads` that may run the task. Nodes that it
  // examines are set aside during the call. If most members have no image, this may be all of them.
  template <class With>
  void for_least(Tournament& loads, const PlacementRequest& request, const With& with) const;

 private:
  static constexpr double kLittle = 0.02;

  // The mean time of tasks of one kernel and about this size on one kind of member. A kernel's first task on a node
  // includes one-time costs such as loading code. So its time counts only while there is no other (`seen` is 0).
  struct Cost {
    uint64_t key;
    double mean;
    uint32_t seen;
  };
  // Records that a kernel has run on a node.
  struct HasRun {
    uint64_t number = 0;
  };

  // Decides between two equally good nodes. Tasks that are created one after another often share data, so they stay
  // together.
  bool is_before(NodeNumber node, NodeNumber other) const { return node == last_ || (other != last_ && node < other); }
  static double ready_time(const PlacementRequest& request, NodeNumber node, double transfer);
  static uint64_t key_of(const PlacementRequest& request, uint32_t kind);
  bool note_first(uint32_t kernel, NodeNumber node);
  [[nodiscard]] const Cost* known_cost(const PlacementRequest& request, uint32_t kind) const;
  [[nodiscard]] double unknown_time(const PlacementRequest& request) const;
  [[nodiscard]] double time_of(const Cost& cost, const PlacementRequest& request, uint32_t kind) const;
  const Cost* find_cost(uint64_t key) const;
  void add_candidate(const PlacementRequest& request, NodeNumber node);

  PlacementPolicy policy_;
  double latency_ = 0, time_per_byte_ = 0, unknown_time_ = 1;
  NodeNumber next_ = 1;       // for kRoundRobin
  NodeNumber last_ = 0;       // the node of the last choice
  double slots_ = 0;          // of all members
  List<Member> members_;      // entry 0 is node 1
  List<double> done_;         // per node: work that has ended, divided by slots
  Tournament loads_;          // per node: work that is assigned and has not ended, divided by slots
  List<Cost> costs_;          // by key; at most kernels times sizes (powers of two) times kinds
  IdTable<HasRun> have_run_;  // at most kernels times nodes
  uint32_t kinds_ = 0;        // bit k: there is a member of kind k
  List<NodeNumber> candidates_;
};

template <class With>
void Placement::for_least(Tournament& loads, const PlacementRequest& request, const With& with) const {
  constexpr double kSkipped = 1e300;
  struct Skipped {
    NodeNumber node;
    double load;
  };
  List<Skipped> skipped;
  for (size_t found = 0; found < kLeastLoaded && skipped.count() < loads.count();) {
    NodeNumber node = loads.least();
    skipped.push({node, loads[node]});
    loads.set(node, kSkipped);
    if (!may_run(request, node)) continue;
    ++found;
    with(node);
  }
  for (const Skipped& one : skipped) loads.set(one.node, one.load);
}

template <class Held>
NodeNumber Placement::choose(const PlacementRequest& request, const Held& held) {
  if (request.pin != kAnyNode) return may_run(request, request.pin) ? request.pin : 0;
  if (policy_ == PlacementPolicy::kRoundRobin) {
    for (size_t i = 0; i < members_.count(); ++i) {
      NodeNumber node = next_;
      next_ = next_ == members_.count() ? 1 : next_ + 1;
      if (may_run(request, node)) return node;
    }
    return 0;
  }
  candidates_.clear();
  if (request.holders != nullptr) {
    for (NodeNumber node : *request.holders) add_candidate(request, node);
  }
  add_candidate(request, last_);
  for_least(loads_, request, [&](NodeNumber node) { add_candidate(request, node); });
  NodeNumber best = 0;
  double best_end = 0, best_wait = 0;
  uint64_t best_missing = 0;
  double rounds = rounds_of(request);
  for (NodeNumber node : candidates_) {
    uint64_t missing = request.bytes - held(node);
    double end = static_cast<double>(missing), wait = 0;
    if (policy_ != PlacementPolicy::kOwnerComputes) {
      double time = expected_time(request, members_[node - 1].kind), transfer = transfer_time(missing);
      double ready = ready_time(request, node, transfer);
      wait = wait_time(node, loads_[node], time, rounds);
      // Transfers go on while other tasks run.
      end = (wait > ready ? wait : ready) + time;
    }
    bool is_better = end != best_end           ? end < best_end
                     : missing != best_missing ? missing < best_missing
                     : wait != best_wait       ? wait < best_wait
                                               : is_before(node, best);
    if (best != 0 && !is_better) continue;
    best = node;
    best_end = end;
    best_missing = missing;
    best_wait = wait;
  }
  last_ = best;
  return best;
}

}  // namespace marline::offload::cluster
