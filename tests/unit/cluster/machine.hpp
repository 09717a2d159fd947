// SPDX-License-Identifier: Apache-2.0
//
// The made-up machine (simulation.hpp). One part creates the program's tasks as a driver would (creation.cpp),
// persistent graphs among them (iterations.cpp); the other part has nodes, channels and memory (machine.cpp).
#pragma once

#include "program.hpp"
#include "result.hpp"

#include "cluster/dataflow/worker.hpp"
#include "cluster/map_order.hpp"

#include <deque>
#include <map>
#include <memory>
#include <queue>
#include <set>

namespace marline::offload::cluster::simulation {
// A value identifies the task that wrote it, and the byte.
using Value = uint64_t;

inline Value value_of(size_t construct, uint64_t byte) { return (construct + 1) << 16 | (byte + 1) << 1; }
inline Value initial_value(size_t variable, uint64_t byte) { return value_of((1 << 20) + variable, byte); }
inline Value half_written(Value value) { return value | 1; }

struct Copy {
  std::vector<Value> values, twin;
  std::vector<uint64_t> stamps;
  // When each byte last got a stamp, and when it was last sent to another node.
  std::vector<uint64_t> changed, sent;
  uint64_t number = 0;                                 // unique to this copy
  std::map<uint64_t, std::vector<uint64_t>> answered;  // by number of another copy: when each byte was sent to it
};

struct Payload {
  std::vector<Value> values;
  std::vector<uint64_t> stamps;
};

// The comparison of a task that has run. Half of the bytes are compared, then other events may happen, then the rest.
struct Comparison {
  uint64_t index, stamp;
  bool is_sole;
  ClusterRange range;
};

enum class Role { kUpload, kBody, kDownload };

struct Piece {
  int variable;
  ClusterRange range;
  const Use* use;
};

struct SimulatedTask {
  size_t construct;
  Role role;
  std::vector<Piece> pieces;
  bool overwrites;  // all accesses of the task overwrite
  bool has_run = false;
  std::vector<Value> found;  // the values that it has read, in the order of its uses
};

struct Event {
  double time = 0;
  uint64_t order = 0;
  enum { kCreate, kArrive, kEnd, kCompareRest, kCancel } what = kCreate;
  NodeNumber node = 0;
  uint64_t index = 0;
  std::shared_ptr<Message> message{};
  std::shared_ptr<Payload> payload{};
  double duration = 0;
  TaskNumber task = 0;
  std::shared_ptr<std::vector<Comparison>> comparisons{};
  bool operator<(const Event& other) const { return std::pair(time, order) > std::pair(other.time, other.order); }
};

struct Node {
  Node(NodeNumber number, size_t started, uint64_t part) : worker(number, started, Worker::kReportAtMost, part) {}
  Worker worker;
  std::map<uint64_t, Copy> copies;
  int slots = 1, running = 0;
  uint64_t reports_each = 1;     // so many tasks per report, whatever the core would choose; 1: not forced
  uint64_t sent = 0;             // tasks that have not ended as far as node 0 knows, without speculative copies
  std::set<uint64_t> stand_ins;  // indices of speculative copies
  double speed = 1;
  std::deque<std::pair<uint64_t, TaskNumber>> ready;
  std::map<uint64_t, uint64_t> ready_at;  // by index: when the task had its inputs
};

inline size_t variable_of(const Construct& construct) { return static_cast<size_t>(construct.uses[0].variable); }

class Machine {
 public:
  Machine(unsigned seed, int most);
  Result run();

 private:
  int draw(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  double wait_time(double mean) { return std::exponential_distribution<double>(1 / mean)(random_); }
  static HeadOptions options(unsigned seed, const Program& program);

  void schedule(Event event, double in) { schedule_at(std::move(event), now_ + in); }
  void schedule_at(Event event, double time) {
    event.time = time;
    event.order = ++order_;
    events_.push(std::move(event));
  }
  void arrive(Event& event);
  void create_next();
  void create(size_t number);
  TaskNumber push(NewTask task, size_t construct, Role role, std::vector<Piece> pieces);
  void begin_iteration(size_t number);
  void end_iteration(const Construct& construct);
  bool relate(size_t number, const std::vector<size_t>& now, const std::vector<size_t>& before);
  bool is_repeated(size_t number, size_t position, const std::vector<size_t>& now, const std::vector<size_t>& before);
  bool is_repeated_as_a_whole(size_t number, const std::vector<size_t>& before);
  bool is_replayed_again(const Construct& construct, size_t position);
  TaskNumber push_in_loop(NewTask task, size_t number);
  void create_kernel(size_t number, NewTask body);
  void check_order(size_t number, const MapChange& change, bool out);
  void create_data(size_t number, NewTask body);
  void drain_head();
  void drain(NodeNumber node, const Payload* payload);
  void execute(NodeNumber node, WorkerCommand& command, const Payload* payload);
  void transmit(const Message& message);
  void attach(const Message& message, Payload& payload);
  void merge(NodeNumber node, const ClusterRange& range, const Payload& payload);
  void compare(NodeNumber node, const Comparison& comparison, bool overwrites, uint64_t odd);
  void begin_end(Event event);
  void finish_end(const Event& event);
  void check_words(const WorkerCommand& command);
  void start_tasks(NodeNumber node);
  void begin(NodeNumber node, TaskNumber number);
  void end(NodeNumber node, TaskNumber number);
  void check_memory(NodeNumber node);
  void judge();
  void judge_task(const SimulatedTask& task, std::vector<std::vector<Value>>& host,
                  std::map<uint64_t, std::vector<Value>>& device);
  Copy& copy_at(NodeNumber node, uint64_t buffer);
  void fail(const std::string& text) {
    if (result_.error.empty()) result_.error = text;
  }

  Program program_;
  std::mt19937 random_;
  HeadOptions options_;
  Head head_;
  DataMap map_;
  MapOrder map_order_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::vector<Value>> host_;
  uint64_t ticks_ = 0;  // the clock of `changed`, `sent`, `answered` and `ready_at`
  uint64_t copies_ = 0;
  std::map<uint64_t, uint64_t> buffer_bytes_;
  // The state of a persistent graph: the constructs of the present iteration and of the one before.
  struct Loop {
    std::vector<size_t> now, before;
    bool is_replay = false, is_whole = false;  // `is_whole`: replayed in one go
    bool has_words = false;                    // the plan's tasks have the words of the iteration before
    // The plan the plan that has replayed the last iteration to its end; 0: none.
    uint64_t plan = 0;
  };
  std::map<int, Loop> loops_;
  std::map<size_t, std::vector<std::ptrdiff_t>> relations_;  // by construct of a graph: its predecessors in both
  int open_loop_ = 0;
  std::map<TaskNumber, size_t> positions_;  // positions of replayed tasks in the iteration
  std::map<TaskNumber, SimulatedTask> tasks_;
  std::vector<TaskNumber> in_order_;  // of creation
  std::set<TaskNumber> assigned_;
  std::vector<TaskNumber> last_of_construct_, body_of_construct_;
  std::priority_queue<Event> events_;
  std::map<std::pair<NodeNumber, NodeNumber>, double> last_arrival_;
  ClusterRange received_;
  double now_ = 0, latency_ = 1, pace_ = 1;
  uint64_t order_ = 0;
  size_t created_ = 0;
  Result result_;
};

}  // namespace marline::offload::cluster::simulation
