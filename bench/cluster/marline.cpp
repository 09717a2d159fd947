// SPDX-License-Identifier: Apache-2.0
//
// The cluster's own core, offload/cluster, on the made-up machine: the same Head and Workers as in a real run. The
// graph is created once, or it is a persistent graph of which each iteration is the whole workload.
#include "model.hpp"

#include "cluster/dataflow/head.hpp"
#include "cluster/dataflow/worker.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>

namespace cluster {

namespace {

using namespace marline::offload;
using namespace marline::offload::cluster;

enum What : uint32_t { kCreate, kArrive, kHandle, kTaskEnd, kLook };

struct Place {
  long step, column;
  size_t iteration;
};

// An iteration, recorded when its last task has started.
struct Iteration {
  size_t started = 0;
  double end = 0;  // of its last task
  double head = 0;
  uint64_t messages = 0, bytes = 0;
};

class Run {
 public:
  Run(const Workload& work, const Costs& costs, bool repeats)
      : work_(work),
        costs_(costs),
        repeats_(repeats),
        machine_(work.nodes + 1, costs),
        head_(options(work, repeats)),
        iterations_(repeats ? most_iterations_ : 1) {
    nodes_.reserve(work.nodes + 1);
    for (size_t i = 0; i <= work.nodes; ++i) {
      nodes_.emplace_back(static_cast<NodeNumber>(i), work.cores, 1e-3 * Worker::report_delay(work.nodes));
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
    while (machine_.pop(event)) {
      now_ = event.time;
      switch (event.what) {
        case kCreate: create(); break;
        case kArrive: arrive(event); break;
        case kHandle: handle(event); break;
        case kTaskEnd: end_task(event); break;
        case kLook: look(event); break;
      }
    }
    return outcome();
  }

 private:
  struct Node {
    Node(NodeNumber number, size_t cores, double report_delay) : worker(number, cores) {
      worker.waits_at_most = report_delay;
    }
    Worker worker;
    bool has_unreported = false;  // there are there are ends that wait for a report
    uint64_t look = 0;            // the number of the last look at them
  };

  static HeadOptions options(const Workload& work, bool repeats) {
    HeadOptions options;
    options.nodes = work.nodes;
    options.credits = 8 * work.cores + 16;
    if (repeats) options.credits += kIterationsAhead * work.tasks() / work.nodes;  // a batch is sent as a whole
    options.withdraw = work.withdraw;
    options.report_delay = 1e-3 * Worker::report_delay(work.nodes);
    options.window = work.window;
    return options;
  }

  // The buffer that a step writes: each column has some buffers, written in turns.
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
    // Predecessors: the tasks that have read the data that the task overwrites, and the task that has written it.
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

  // -1: not all tasks have run, or the graph has not been replayed.
  Outcome outcome() const {
    Outcome outcome;
    outcome.withdrawn = head_.counts.withdrawn;
    outcome.time = -1;
    if (ended_ != work_.tasks() * iteration_) return outcome;
    if (repeats_ && replayed_ < replays_wanted_) return outcome;
    Iteration last = iterations_[iteration_ - 1], before;
    double count = 1;
    if (repeats_) {
      last = iterations_[iteration_ - 1 - kIterationsAhead];
      before = iterations_[iteration_ - 1 - kIterationsAhead - measured_];
      count = measured_;
    }
    outcome.time = (last.end - before.end) / count;
    outcome.head = (last.head - before.head) / count;
    outcome.messages = static_cast<uint64_t>(static_cast<double>(last.messages - before.messages) / count);
    outcome.bytes = static_cast<uint64_t>(static_cast<double>(last.bytes - before.bytes) / count);
    return outcome;
  }

  bool is_over() const {
    return repeats_ ? replayed_ == replays_wanted_ || iteration_ == most_iterations_ : iteration_ == 1;
  }

  bool may_go_on() const {
    if (is_over()) return false;
    if (!repeats_) return head_.under_way() <= kSubmission;
    return step_ != 0 || column_ != 0 || head_.under_way() < kIterationsAhead * work_.tasks();
  }

  void create() {
    is_creating_ = may_go_on();
    if (!is_creating_) {
      if (is_over()) head_.barrier();
      drain_head();
      return;
    }
    if (repeats_ && step_ == 0 && column_ == 0) is_replay_ = head_.begin_iteration(kGraph, false);
    double cost = 0;
    for (int i = is_replay_ ? kAtOnce : 1; i > 0 && !is_over(); --i) {
      cost += is_replay_ ? repeat_task() : create_task();
      if (go_to_next()) break;
    }
    head_processor_.take(now_, cost);
    drain_head();
    machine_.push(std::max(now_, head_processor_.free_at()), kCreate, 0);
  }

  double create_task() {
    std::vector<long> inputs = work_.inputs(step_, column_);
    NewTask task = make_task(step_, column_);
    if (repeats_) {
      task.graph = kGraph;
      task.words.push(iteration_);
    }
    TaskNumber number = head_.create(std::move(task));
    places_.resize(std::max<size_t>(places_.size(), number + 1));
    places_[number] = {step_, column_, iteration_};
    note_task(number, inputs);
    return costs_.head_task + costs_.head_input * static_cast<double>(inputs.size());
  }

  // Replays a task with one word of firstprivate data, which differs in each iteration.
  double repeat_task() {
    uint64_t word = iteration_;
    if (!head_.replay_next(kGraph, &word, 1)) std::abort();  // no other code creates tasks
    readers_[buffer_of(column_, step_) - 1].clear();
    note_task(head_.number_of(kGraph, task_), work_.inputs(step_, column_));
    return costs_.head_again;
  }

  // Notes the task's uses: a task that overwrites data that it uses waits for it.
  void note_task(TaskNumber number, const std::vector<long>& inputs) {
    for (long input : inputs) readers_[buffer_of(input, step_ - 1) - 1].push_back(number);
    readers_[buffer_of(column_, step_) - 1].push_back(number);
    now_row_.push_back(number);
  }

  // True: an iteration has ended.
  bool go_to_next() {
    if (iteration_ == 0) order_.push_back({step_, column_, 0});
    ++task_;
    if (++column_ != graph_width_at(&work_.graph, step_)) return false;
    std::copy(now_row_.begin(), now_row_.end(), before_.begin());
    now_row_.clear();
    column_ = 0;
    if (++step_ != work_.graph.steps) return false;
    step_ = 0;
    task_ = 0;
    if (is_replay_) replays_[head_.number_of(kGraph, 0)] = iteration_;
    ++iteration_;
    if (repeats_) head_.end_iteration(kGraph);
    replayed_ += is_replay_ ? 1 : 0;
    return true;
  }

  // Consecutive messages to one node are sent in one frame.
  void drain_head() {
    NodeNumber to = kAnyNode;
    for (Message& message : head_.messages) {
      message.from = 0;
      bool is_in_frame = message.to == to;
      to = message.to;
      double ready = head_processor_.take(now_, is_in_frame ? costs_.in_frame : costs_.message);
      double bytes = is_in_frame ? 0 : static_cast<double>(message.accesses.count()) * sizeof(PlannedAccess);
      bytes += static_cast<double>(message.words.count()) * sizeof(uint64_t);
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

  // Called when ends have waited long enough for a report: reports them, unless that has been done meanwhile.
  void look(const Event& event) {
    Node& node = nodes_[event.node];
    if (!node.has_unreported || event.a != node.look) return;
    node.worker.report();
    drain(static_cast<NodeNumber>(event.node));
  }

  void drain(NodeNumber node) {
    for (WorkerCommand& command : nodes_[node].worker.commands) {
      if (command.action == WorkerAction::kStart) start(node, command);
      if (command.action == WorkerAction::kSend) send(node, command.message);
    }
    nodes_[node].worker.commands.clear();
    bool had_untold = nodes_[node].has_unreported;
    nodes_[node].has_unreported = nodes_[node].worker.has_unreported_ends();
    if (had_untold || !nodes_[node].has_unreported) return;
    machine_.push(now_ + nodes_[node].worker.waits_at_most, kLook, node, ++nodes_[node].look);
  }

  // Replayed tasks have numbers above those of all others.
  Place place_of(TaskNumber task) const {
    auto replay = replays_.upper_bound(task);
    if (replay == replays_.begin()) return places_[task];
    --replay;
    Place place = order_[task - replay->first];
    place.iteration = replay->second;
    return place;
  }

  void note_start(size_t number, double end) {
    Iteration& iteration = iterations_[number];
    iteration.end = std::max(iteration.end, end);
    if (++iteration.started != work_.tasks()) return;
    iteration.head = head_processor_.busy();
    iteration.messages = machine_.messages;
    iteration.bytes = machine_.bytes_moved;
  }

  void start(NodeNumber node, const WorkerCommand& command) {
    Place place = place_of(command.task);
    double time = work_.time_of(place.step, place.column) + costs_.task;
    if (costs_.compare > 0) time += static_cast<double>(work_.bytes) / costs_.compare;
    note_start(place.iteration, now_ + time);
    machine_.push(now_ + time, kTaskEnd, node, command.index, static_cast<uint64_t>(time));
  }

  void send(NodeNumber node, Message& message) {
    bool has_bytes = message.kind == MessageKind::kData || message.kind == MessageKind::kDelta;
    NodeNumber to = message.to;
    double ready = machine_.processor(node).take(now_, costs_.message);
    double arrival = machine_.transmit(node, to, has_bytes ? static_cast<double>(message.range.bytes) : 0, ready);
    machine_.push(arrival, kArrive, to, keep(std::move(message)));
  }

  static constexpr size_t kSubmission = 200000;  // the most the most tasks that have been created and have not ended
  static constexpr GraphNumber kGraph = 1;
  static constexpr size_t kIterationsAhead = 2;  // iterations besides the one that is being created
  // Iterations that overlap may end in bunches, so many count; fewer where each has very many tasks.
  static constexpr size_t kFewTasks = 10'000;
  static constexpr int kAtOnce = 64;  // replayed tasks for each of the model's events

  Workload work_;
  Costs costs_;
  bool repeats_;
  // Of the iterations that are replayed, the first three may begin while nodes still do what recorded ones have left,
  // and the last ones have no later iterations that nodes work on at the same time.
  size_t measured_ = work_.tasks() <= kFewTasks ? 24 : 4, replays_wanted_ = 3 + measured_ + kIterationsAhead;
  size_t most_iterations_ = replays_wanted_ + 11;
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
  std::vector<Place> order_;  // the places of an iteration's tasks
  std::vector<Iteration> iterations_;
  std::map<TaskNumber, size_t> replays_;  // the first number of each: which iteration it is
  long step_ = 0, column_ = 0;
  uint64_t task_ = 0;  // number of the next task in the iteration
  size_t iteration_ = 0, replayed_ = 0;
  size_t ended_ = 0;
  bool is_creating_ = false, is_replay_ = false;
  double now_ = 0;
};

}  // namespace

Outcome run_marline(const Workload& work, const Costs& costs, bool repeats) {
  auto run = std::make_unique<Run>(work, costs, repeats);
  return run->run();
}

}  // namespace cluster
