// SPDX-License-Identifier: Apache-2.0
//
// A made-up cluster for models of runtimes: events in the order of time, nodes with cores, a port in each direction and
// a processor for messages. All times are in microseconds. Deterministic; one thread.
#pragma once

extern "C" {
#include "../taskbench/graph.h"
}

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <string>
#include <utility>
#include <vector>

namespace cluster {

struct Costs {
  double message = 1.5;       // of a processor, for each message sent or received
  double latency = 2;         // of the link
  double bandwidth = 12500;   // of a port, bytes per us, in each direction
  double header = 64;         // bytes of a message without data
  double packet = 4096;       // bytes that are sent as one
  double head_task = 0.6;     // what a task costs node 0, without messages
  double head_input = 0.7;    // what each of its inputs costs in addition
  double head_again = 0.045;  // what a replayed task costs if one of its words has changed
  double in_frame = 0.1;      // a further message to the same node, sent at the same time
  double task = 0.5;          // what a task costs the core that runs it
  double compare = 0;       // bytes per us that a core compares after a task; 0: writes are known, nothing is compared
  double insert_local = 3;  // StarPU-MPI: to insert a task of the own node,
  double insert_remote = 0.3;  // StarPU-MPI: to insert a task of another node
  double starpu_task = 1;      // StarPU-MPI: to run a task
  double local_message = 0.3;  // MPI: a message to a rank of the same node
  double ompc_start = 29700;   // OMPC: 25 ms, and 4.7 ms at the first event (Yviquel et al. 2022, section 6)
  size_t ompc_threads = 48;    // of its head, each of which waits for one task
};

struct Workload {
  Graph graph{};
  size_t nodes = 16, cores = 16;
  double task = 1000;     // how long a task takes on average
  double imbalance = 0;   // 0.5: from 0.5 to 1.5 times that
  uint64_t bytes = 4096;  // that a task writes, and each of its readers gets
  long buffers = 2;       // Marline: of each column, written in turns
  uint64_t window = 0;    // Marline: tasks that are known before one is planned
  bool withdraw = true;   // Marline: whether idle nodes run speculative copies
  // Other runtimes: iterations of the graph one after another, of which none reads data that another one has written.
  long iterations = 1;

  // Of all iterations.
  long steps() const { return graph.steps * iterations; }
  long width_at(long step) const { return graph_width_at(&graph, step % graph.steps); }
  double time_of(long step, long column) const {
    step %= graph.steps;
    double factor = graph_uniform(graph.seed, 7, static_cast<uint64_t>(step), static_cast<uint64_t>(column));
    return task * (1 + imbalance * (2 * factor - 1));
  }
  size_t tasks() const;  // of an iteration
  double work() const;   // time of an iteration's tasks
  size_t index_of(long step, long column) const {
    return static_cast<size_t>(step) * static_cast<size_t>(graph.width) + static_cast<size_t>(column);
  }
  // The owner of a column's data, a node or a core: each owner computes on a block of columns.
  size_t owner_of(long column, size_t owners) const {
    return static_cast<size_t>(column) * owners / static_cast<size_t>(graph.width);
  }
  std::vector<long> inputs(long step, long column) const;
  std::vector<long> readers(long step, long column) const;
};

struct Outcome {
  double time = 0;   // from the first creation to the last end
  double start = 0;  // what each run costs in addition
  double head = 0;   // time for which node 0's processor was busy
  uint64_t messages = 0, bytes = 0;
  uint64_t withdrawn = 0;
};

struct Event {
  double time = 0;
  uint64_t order = 0;
  uint32_t what = 0, node = 0;
  uint64_t a = 0, b = 0;
  bool operator<(const Event& other) const { return std::pair(time, order) > std::pair(other.time, other.order); }
};

// A resource that serves one request after another.
class Server {
 public:
  // When the server has finished a request that comes now.
  double take(double now, double cost) {
    free_ = (free_ > now ? free_ : now) + cost;
    busy_ += cost;
    return free_;
  }
  // Other work takes a part of the server: the request in service ends so much later.
  void delay(double now, double cost) { free_ += free_ > now ? cost : 0; }
  double free_at() const { return free_; }
  double busy() const { return busy_; }

 private:
  double free_ = 0, busy_ = 0;
};

class Machine {
 public:
  Machine(size_t nodes, const Costs& costs)
      : costs_(costs), out_(nodes), in_(nodes), short_(nodes), processors_(nodes), arrivals_(nodes * nodes) {}

  void push(double time, uint32_t what, size_t node, uint64_t a = 0, uint64_t b = 0) {
    events_.push({time, ++order_, what, static_cast<uint32_t>(node), a, b});
  }
  bool pop(Event& event) {
    if (events_.empty()) return false;
    event = events_.top();
    events_.pop();
    return true;
  }
  Server& processor(size_t node) { return processors_[node]; }

  // When a message that is ready now arrives; `left`, when its last byte has left the sender. Bytes flow through: the
  // receiver's port takes them while the sender's still gives. A message of one packet passes between the packets of
  // longer messages, which it delays. It waits only for other short messages of its sender, and for messages that its
  // sender has sent to the same node before. Short messages of many senders do not wait for one another at a receiver:
  // the receiver's processor takes longer for each.
  double transmit(size_t from, size_t to, double bytes, double now, double* left = nullptr) {
    ++messages;
    bytes_moved += static_cast<uint64_t>(bytes);
    double duration = (bytes + costs_.header) / costs_.bandwidth;
    double& arrival = arrivals_[from * in_.size() + to];
    double gone = now;
    if (bytes + costs_.header <= costs_.packet) {
      gone = short_[from].take(now, duration);
      out_[from].delay(now, duration);
      in_[to].delay(now, duration);
      arrival = std::max(arrival, gone + costs_.latency);
    } else {
      gone = out_[from].take(now, duration);
      arrival = std::max(arrival, in_[to].take(gone - duration + costs_.latency, duration));
    }
    if (left != nullptr) *left = gone;
    return arrival;
  }

  uint64_t messages = 0, bytes_moved = 0;

 private:
  Costs costs_;
  std::vector<Server> out_, in_;  // ports, by node: for messages longer than a packet
  std::vector<Server> short_;     // ports for shorter messages, which leave in their order
  std::vector<Server> processors_;
  std::vector<double> arrivals_;  // by sender and receiver: of the last message
  std::priority_queue<Event> events_;
  uint64_t order_ = 0;
};

// The real core of the cluster; `repeats`: the workload is an iteration of a persistent graph. The outcome is that of
// one iteration, from the end of the one before, when the graph is replayed.
Outcome run_marline(const Workload& work, const Costs& costs, bool repeats);
// One head thread waits for each task under way, and orders all messages.
Outcome run_ompc(const Workload& work, const Costs& costs);
// Each node inserts all tasks; those that write its columns run there.
Outcome run_starpu(const Workload& work, const Costs& costs);
// A rank per core runs its columns in their order, at no cost but messages.
Outcome run_mpi(const Workload& work, const Costs& costs, bool blocking);

}  // namespace cluster
