// SPDX-License-Identifier: Apache-2.0
//
// The cluster's own core, target/cluster/core, on the made-up machine: the same Head and Workers as in a real run.
#include "model.hpp"

#include "cluster/core/dataflow/head.hpp"
#include "cluster/core/dataflow/worker.hpp"

#include <algorithm>
#include <memory>

namespace cluster {

namespace {

using namespace marline::target;

enum What : uint32_t { kCreate, kArrive, kHandle, kTaskEnd };

struct Place {
  long step, column;
};

class Run {
 public:
  Run(const Workload& work, const Costs& costs, bool kept)
      : work_(work), costs_(costs), kept_(kept), machine_(work.nodes + 1, costs), head_(options(work)) {
    nodes_.reserve(work.nodes + 1);
    for (size_t i = 0; i <= work.nodes; ++i) {
      nodes_.emplace_back(static_cast<NodeNumber>(i), work.cores);
      if (i > 0) head_.placement.add({0, static_cast<double>(work.cores)});
    }
    head_.placement.set_link(costs.latency + 2 * costs.message, 1 / costs.bandwidth);
    // The kernel has run before, so its time is known.
    for (uint64_t accesses = 1; accesses <= 128; ++accesses) {
      head_.placement.learn({.kernel = 1, .bytes = accesses * work.bytes}, 1, work.task);
    }
    readers_.resize(static_cast<size_t>(work.buffers * work.graph.width));
    has_buffer_.resize(readers_.size());
    before_.resize(static_cast<size_t>(work.graph.width));
  }

  Outcome run() {
    machine_.push(0, kCreate, 0);
    Event event;
    double end = 0;
    while (machine_.pop(event)) {
      now_ = event.time;
      switch (event.what) {
        case kCreate:
          create();
          break;
        case kArrive:
          arrive(event);
          break;
        case kHandle:
          handle(event);
          break;
        case kTaskEnd:
          end = now_;
          end_task(event);
          break;
      }
    }
    Outcome outcome;
    outcome.time = end;
    outcome.head = head_processor_.busy();
    outcome.messages = machine_.messages;
    outcome.bytes = machine_.bytes_moved;
    outcome.withdrawn = head_.counts.withdrawn;
    return outcome;
  }

  size_t ended() const { return ended_; }

 private:
  struct Node {
    Node(NodeNumber number, size_t cores) : worker(number, cores) {}
    Worker worker;
  };

  static HeadOptions options(const Workload& work) {
    HeadOptions options;
    options.nodes = work.nodes;
    options.credits = 8 * work.cores + 16;
    options.withdraw = work.withdraw;
    options.window = work.window;
    return options;
  }

  // Each column has some buffers, written in turns.
  uint64_t buffer_of(long column, long step) const {
    return static_cast<uint64_t>(column * work_.buffers + step % work_.buffers) + 1;
  }

  NewTask make_task(long step, long column) {
    NewTask task;
    task.kernel = 1;
    for (long input : work_.inputs(step, column)) {
      task.predecessors.push(before_[static_cast<size_t>(input)]);
      task.accesses.push({{buffer_of(input, step - 1), 0, work_.bytes}, false});
    }
    uint64_t written = buffer_of(column, step);
    task.accesses.push({{written, 0, work_.bytes}, true});
    if (!has_buffer_[written - 1]) task.new_buffers.push({written, work_.bytes});
    has_buffer_[written - 1] = true;
    // Those who have read what it overwrites, and who has written that.
    for (TaskNumber reader : readers_[written - 1]) add_predecessor(task, reader);
    readers_[written - 1].clear();
    return task;
  }

  static void add_predecessor(NewTask& task, TaskNumber number) {
    for (TaskNumber other : task.predecessors) {
      if (other == number) return;
    }
    task.predecessors.push(number);
  }

  void create() {
    if (step_ == work_.graph.steps || head_.under_way() > kAhead) {
      is_creating_ = false;
      if (step_ == work_.graph.steps) {
        head_.barrier();
        drain_head();
      }
      return;
    }
    is_creating_ = true;
    long column = column_;
    double cost = costs_.head_task + costs_.head_input * static_cast<double>(work_.inputs(step_, column).size());
    NewTask task = make_task(step_, column);
    TaskNumber number = head_.create(std::move(task));
    places_.resize(std::max<size_t>(places_.size(), number + 1));
    places_[number] = {step_, column};
    for (long input : work_.inputs(step_, column)) readers_[buffer_of(input, step_ - 1) - 1].push_back(number);
    readers_[buffer_of(column, step_) - 1].push_back(number);
    now_row_.push_back(number);
    if (++column_ == graph_width_at(&work_.graph, step_)) {
      std::copy(now_row_.begin(), now_row_.end(), before_.begin());
      now_row_.clear();
      column_ = 0;
      ++step_;
    }
    head_processor_.take(now_, kept_ ? 0 : cost);
    drain_head();
    machine_.push(std::max(now_, head_processor_.free_at()), kCreate, 0);
  }

  // Messages to one node that follow one another go in one frame.
  void drain_head() {
    NodeNumber to = kAnyNode;
    for (Message& message : head_.messages) {
      message.from = 0;
      bool is_in_frame = message.to == to;
      to = message.to;
      if (kept_) {
        machine_.push(now_, kHandle, message.to, keep(std::move(message)));
        continue;
      }
      double ready = head_processor_.take(now_, is_in_frame ? costs_.in_frame : costs_.message);
      double bytes = is_in_frame ? 0 : static_cast<double>(message.accesses.count()) * sizeof(PlannedAccess);
      machine_.push(machine_.transmit(0, message.to, bytes, ready), kArrive, message.to, keep(std::move(message)));
    }
    head_.messages.clear();
  }

  uint64_t keep(Message message) {
    if (free_.empty()) {
      kept_messages_.push_back(std::move(message));
      return kept_messages_.size() - 1;
    }
    uint64_t at = free_.back();
    free_.pop_back();
    kept_messages_[at] = std::move(message);
    return at;
  }

  void arrive(const Event& event) {
    bool is_report = kept_messages_[event.a].kind == MessageKind::kReport;
    Server& processor = is_report ? head_processor_ : machine_.processor(event.node);
    machine_.push(processor.take(now_, costs_.message), kHandle, event.node, event.a);
  }

  void handle(const Event& event) {
    Message message = std::move(kept_messages_[event.a]);
    free_.push_back(event.a);
    if (message.kind == MessageKind::kReport) {
      head_.receive(message);
      drain_head();
      if (!is_creating_) create();
      return;
    }
    nodes_[event.node].worker.receive(message);
    drain(event.node);
  }

  void end_task(const Event& event) {
    ++ended_;
    nodes_[event.node].worker.compare(event.a);
    nodes_[event.node].worker.end(event.a, static_cast<double>(event.b));
    drain(event.node);
  }

  void drain(NodeNumber node) {
    for (WorkerCommand& command : nodes_[node].worker.commands) {
      if (command.action == WorkerAction::kStart) start(node, command);
      if (command.action == WorkerAction::kSend) send(node, command.message);
    }
    nodes_[node].worker.commands.clear();
  }

  void start(NodeNumber node, const WorkerCommand& command) {
    const Place& place = places_[command.task];
    double time = work_.time_of(place.step, place.column) + costs_.task;
    if (costs_.compare > 0) time += static_cast<double>(work_.bytes) / costs_.compare;
    machine_.push(now_ + time, kTaskEnd, node, command.index, static_cast<uint64_t>(time));
  }

  void send(NodeNumber node, Message& message) {
    bool has_bytes = message.kind == MessageKind::kData || message.kind == MessageKind::kDelta;
    NodeNumber to = message.to;
    if (kept_ && message.kind == MessageKind::kReport) {
      machine_.push(now_, kHandle, to, keep(std::move(message)));
      return;
    }
    double ready = machine_.processor(node).take(now_, costs_.message);
    double arrival = machine_.transmit(node, to, has_bytes ? static_cast<double>(message.range.bytes) : 0, ready);
    machine_.push(arrival, kArrive, to, keep(std::move(message)));
  }

  static constexpr size_t kAhead = 200000;  // tasks that have been created and have not ended

  Workload work_;
  Costs costs_;
  bool kept_;
  Machine machine_;
  Head head_;
  std::vector<Node> nodes_;
  Server head_processor_;
  std::vector<Message> kept_messages_;
  std::vector<uint64_t> free_;
  std::vector<Place> places_;
  std::vector<TaskNumber> before_, now_row_;      // tasks of the last step and of this one
  std::vector<std::vector<TaskNumber>> readers_;  // by buffer: its last writer, and who has read that
  std::vector<bool> has_buffer_;
  long step_ = 0, column_ = 0;
  size_t ended_ = 0;
  bool is_creating_ = false;
  double now_ = 0;
};

}  // namespace

Outcome run_marline(const Workload& work, const Costs& costs, bool kept) {
  auto run = std::make_unique<Run>(work, costs, kept);
  Outcome outcome = run->run();
  if (run->ended() != work.tasks()) outcome.time = -1;
  return outcome;
}

}  // namespace cluster
