// SPDX-License-Identifier: Apache-2.0
//
// Simulates nodes, channels and memory, and runs the tasks.
#include "machine.hpp"

#include "device/cluster/protocol/frames.hpp"

#include <algorithm>
#include <cstdlib>

namespace marline::offload::cluster::simulation {

using namespace device;

namespace {

// A copy of the message as another node gets it in a program: the core there gets no field that the driver does not
// send.
std::shared_ptr<Message> sent(const Message& message) {
  BlobWriter blob;
  write_message(message, blob);
  size_t bytes = blob.bytes();
  std::unique_ptr<char, decltype(&std::free)> data(blob.take(), std::free);
  BlobReader reader(data.get(), bytes);
  auto arrived = std::make_shared<Message>();
  if (!read_message(reader, *arrived) || reader.left() != 0) std::abort();
  arrived->from = message.from;
  arrived->to = message.to;
  return arrived;
}

}  // namespace

HeadOptions Machine::options(unsigned seed, const Program& program) {
  std::mt19937 random(seed * 7919 + 1);
  HeadOptions options;
  options.nodes = static_cast<size_t>(program.nodes);
  options.policy = static_cast<PlacementPolicy>(random() % 3);
  options.hold = random() % 5 == 0;
  options.credits = 1 + random() % 40;
  if (random() % 2 == 0) options.memory = 8 + random() % 60;
  options.withdraw = random() % 2 == 0;
  options.report_delay = seed / 8 % 3 == 2 ? 0 : std::exp2(static_cast<double>(seed % 8) - 4);
  if (random() % 3 == 0) options.window = 1 + random() % 20;
  if (seed % 4 == 3) {  // each plan is replaced by another one when times are known
    options.policy = PlacementPolicy::kEarliestEnd;
    options.window = 20;
    options.imbalance_limit = options.replan_gain = 0;
    options.replays = 1 + seed / 4 % 2;
  }
  return options;
}

Machine::Machine(unsigned seed, int most)
    : program_(make_program(seed, most)), random_(seed), options_(options(seed, program_)), head_(options_) {
  latency_ = std::exp2(draw(8) - 4);
  pace_ = std::exp2(draw(8) - 6);
  for (int i = 0; i <= program_.nodes; ++i) {
    int slots = 1 + draw(4);
    size_t started = draw(2) == 0 ? static_cast<size_t>(slots) : ~size_t{0};
    uint64_t part = (seed + static_cast<unsigned>(i)) % 2 == 0 ? 1 + seed / 2 % 4 : kPartBytes;
    Node& node = *nodes_.emplace_back(std::make_unique<Node>(static_cast<NodeNumber>(i), started, part));
    node.slots = slots;
    if (seed / 8 % 3 == 0) node.worker.waits_at_most = pace_;
    if (seed / 8 % 3 == 1) node.reports_each = 2 + seed % 5;
    node.speed = std::exp2(draw(4) - 2);
    if (i > 0) {
      head_.placement.add({program_.member_kinds[static_cast<size_t>(i - 1)], static_cast<double>(node.slots)});
    }
  }
  bool is_free = seed % 4 == 0;  // as the head believes, so that it withdraws more tasks
  head_.placement.set_link(is_free ? 0 : latency_, is_free ? 0 : 0.01);
  if (options_.window != 0 && seed % 2 == 0) head_.set_groups(options_.window, 0.01);
  for (size_t v = 0; v < program_.sizes.size(); ++v) {
    auto& variable = host_.emplace_back();
    for (uint64_t i = 0; i < program_.sizes[v]; ++i) variable.push_back(initial_value(v, i));
  }
}

void Machine::drain_head() {
  for (Message& message : head_.messages) {
    message.from = 0;
    uint64_t tasks = message.kind == MessageKind::kAssign ? 1 : message.count;
    bool is_speculative_copy = message.kind == MessageKind::kAssign && !assigned_.insert(message.task).second;
    Node& node = *nodes_[message.to];
    if (is_speculative_copy) {
      node.stand_ins.insert(message.index);
      if (node.stand_ins.size() > static_cast<uint64_t>(node.slots))
        fail("a node gets more stand-ins than it has slots");
    } else {
      if (tasks != 0 && node.sent >= options_.credits) fail("a node gets more tasks than it has credits");
      node.sent += tasks;
    }
    transmit(message);
  }
  head_.messages.clear();
  head_.completed.clear();
  head_.completed_replays.clear();
}

void Machine::transmit(const Message& message) {
  Event event{.what = Event::kArrive, .node = message.to};
  if (message.kind == MessageKind::kData || message.kind == MessageKind::kDelta) {
    event.payload = std::make_shared<Payload>();
    attach(message, *event.payload);
  }
  ++result_.messages;
  double& last = last_arrival_[{message.from, message.to}];
  double latency = draw(16) == 0 ? 20 * latency_ : latency_;
  double at = std::max(last, now_ + wait_time(latency));
  last = at;
  event.message = sent(message);
  if (message.kind == MessageKind::kFetch) event.message->copy = copy_at(message.from, message.range.buffer).number;
  schedule_at(std::move(event), at);
}

Copy& Machine::copy_at(NodeNumber node, uint64_t buffer) {
  Copy& copy = nodes_[node]->copies[buffer];
  if (copy.values.empty()) {
    size_t bytes = buffer_bytes_[buffer];
    std::vector<uint64_t> never(bytes);
    copy = {std::vector<Value>(bytes), std::vector<Value>(bytes), never, never, never, ++copies_, {}};
    check_memory(node);
  }
  return copy;
}

void Machine::check_memory(NodeNumber node) {
  if (node == 0 || head_.counts.over_budget != 0) return;
  uint64_t used = 0;
  for (auto& [buffer, copy] : nodes_[node]->copies) used += buffer_bytes_[buffer];
  if (used > options_.memory) fail("node " + std::to_string(node) + " has more copies than its budget allows");
}

// A delta holds exactly the bytes that have changed since the task had its inputs. An answer holds the bytes that have
// changed since they were last sent to the other copy.
void Machine::attach(const Message& message, Payload& payload) {
  const ClusterRange& range = message.range;
  bool is_delta = message.kind == MessageKind::kDelta;
  Copy& copy = copy_at(message.from, range.buffer);
  ++ticks_;
  uint64_t ready = is_delta ? nodes_[message.from]->ready_at[message.peer.index] : 0;
  std::vector<uint64_t>& answered = copy.answered[is_delta ? 0 : message.copy];
  answered.resize(copy.values.size());
  for (uint64_t i = range.offset; i < range.end(); ++i) {
    copy.sent[i] = ticks_;
    bool is_sent = copy.changed[i] > (is_delta ? ready : answered[i]);
    answered[i] = ticks_;
    payload.values.push_back(copy.values[i]);
    payload.stamps.push_back(is_sent ? copy.stamps[i] : 0);
    if (is_sent) ++result_.bytes;
    if (!is_sent && !is_delta && copy.changed[i] != 0) ++result_.spared;
  }
}

void Machine::merge(NodeNumber node, const ClusterRange& range, const Payload& payload) {
  Copy& copy = copy_at(node, range.buffer);
  for (uint64_t i = 0; i < range.bytes; ++i) {
    uint64_t at = range.offset + i;
    bool is_dirty = copy.values[at] != copy.twin[at];
    if (payload.stamps[i] <= copy.stamps[at] || is_dirty) continue;
    copy.values[at] = copy.twin[at] = payload.values[i];
    copy.stamps[at] = payload.stamps[i];
    copy.changed[at] = ++ticks_;
  }
}

// If no other node writes at the same time, a task may get all bytes stamped that have not been sent since it had its
// inputs. A task that overwrites all bytes gets them all stamped.
void Machine::compare(NodeNumber node, const Comparison& comparison, bool overwrites, uint64_t odd) {
  const ClusterRange& range = comparison.range;
  Copy& copy = copy_at(node, range.buffer);
  uint64_t ready = nodes_[node]->ready_at[comparison.index];
  for (uint64_t i = range.offset; i < range.end(); ++i) {
    if (i % 2 != odd) continue;
    bool is_claimed = overwrites || (comparison.is_sole && copy.sent[i] <= ready);
    if (!is_claimed && (copy.values[i] == copy.twin[i] || copy.stamps[i] > comparison.stamp)) continue;
    copy.twin[i] = copy.values[i];
    copy.stamps[i] = comparison.stamp;
    copy.changed[i] = ++ticks_;
  }
}

void Machine::begin_end(Event event) {
  Node& node = *nodes_[event.node];
  end(event.node, event.task);
  node.worker.compare(event.index);
  event.what = Event::kCompareRest;
  event.comparisons = std::make_shared<std::vector<Comparison>>();
  for (const WorkerCommand& command : node.worker.commands) {
    event.comparisons->push_back({command.index, command.stamp, command.is_sole, command.range});
  }
  node.worker.commands.clear();
  bool overwrites = tasks_.at(event.task).overwrites;
  for (const Comparison& comparison : *event.comparisons) compare(event.node, comparison, overwrites, 0);
  schedule(std::move(event), draw(2) == 0 ? 0 : wait_time(latency_));
}

void Machine::finish_end(const Event& event) {
  bool overwrites = tasks_.at(event.task).overwrites;
  for (const Comparison& comparison : *event.comparisons) compare(event.node, comparison, overwrites, 1);
  --nodes_[event.node]->running;
  nodes_[event.node]->worker.end(event.index, event.duration);
  if (event.index % nodes_[event.node]->reports_each == 1) nodes_[event.node]->worker.report();
  drain(event.node, nullptr);
}

void Machine::execute(NodeNumber number, WorkerCommand& command, const Payload* payload) {
  Node& node = *nodes_[number];
  switch (command.action) {
    case WorkerAction::kSend: transmit(command.message); break;
    case WorkerAction::kMerge: merge(number, received_, *payload); break;
    case WorkerAction::kReady: node.ready_at[command.index] = ticks_; break;
    case WorkerAction::kStart:
      check_words(command);
      node.ready.emplace_back(command.index, command.task);
      break;
    case WorkerAction::kCompare: fail("a comparison is wanted of a task that has not run"); break;
    case WorkerAction::kDrop: node.copies.erase(command.range.buffer); break;
  }
}

// The words of other tasks are sent with their assignment, which is the driver's work.
void Machine::check_words(const WorkerCommand& command) {
  if (!is_replayed(command.task)) return;
  const std::vector<uint64_t>& words = program_.constructs[tasks_.at(command.task).construct].words;
  const List<uint64_t>& found = command.message.words;
  if (words != std::vector<uint64_t>(found.begin(), found.end())) fail("a replayed task has other firstprivate data");
  bool is_same = command.message.index != 0 && command.message.task == positions_.at(command.task);
  if (!is_same) fail("a replayed task is another one");
}

void Machine::drain(NodeNumber number, const Payload* payload) {
  Node& node = *nodes_[number];
  for (WorkerCommand& command : node.worker.commands) execute(number, command, payload);
  node.worker.commands.clear();
  start_tasks(number);
}

void Machine::start_tasks(NodeNumber number) {
  Node& node = *nodes_[number];
  while (node.running < node.slots && !node.ready.empty()) {
    size_t at = static_cast<size_t>(draw(static_cast<int>(node.ready.size())));
    auto [index, task] = node.ready[at];
    node.ready.erase(node.ready.begin() + static_cast<std::ptrdiff_t>(at));
    ++node.running;
    begin(number, task);
    double duration = program_.constructs[tasks_.at(task).construct].work / node.speed;
    schedule({.what = Event::kEnd, .node = number, .index = index, .duration = duration, .task = task}, duration);
  }
}

// Writes half of a task's bytes before its end: another task's comparison may see these.
void Machine::begin(NodeNumber node, TaskNumber number) {
  SimulatedTask& task = tasks_.at(number);
  if (task.has_run) fail("a task runs twice");
  task.has_run = true;
  const Construct& construct = program_.constructs[task.construct];
  if (task.role != Role::kBody) return;
  if (construct.kind == Kind::kHost) {
    for (uint64_t i : construct.uses[0].reads) task.found.push_back(host_[variable_of(construct)][i]);
    return;
  }
  if (construct.kind != Kind::kKernel) return;
  if (construct.pin != 0 && node != static_cast<NodeNumber>(construct.pin)) fail("a task is not where it is pinned");
  if ((construct.kinds >> program_.member_kinds[node - 1] & 1) == 0)
    fail("a task runs on a node that has no image of it");
  for (const Piece& piece : task.pieces) {
    uint64_t base = piece.range.offset - piece.use->offset;
    Copy& copy = copy_at(node, piece.range.buffer);
    for (uint64_t i : piece.use->reads) task.found.push_back(copy.values[base + i]);
    for (uint64_t i : piece.use->writes) copy.values[base + i] = half_written(value_of(task.construct, i));
  }
}

void Machine::end(NodeNumber node, TaskNumber number) {
  SimulatedTask& task = tasks_.at(number);
  const Construct& construct = program_.constructs[task.construct];
  if (construct.kind == Kind::kHost) {
    for (uint64_t i : construct.uses[0].writes) host_[variable_of(construct)][i] = value_of(task.construct, i);
    return;
  }
  for (const Piece& piece : task.pieces) {
    auto& host = host_[static_cast<size_t>(piece.variable)];
    Copy& copy = copy_at(node, piece.range.buffer);
    if (task.role == Role::kBody) {
      uint64_t base = piece.range.offset - piece.use->offset;
      for (uint64_t i : piece.use->writes) copy.values[base + i] = value_of(task.construct, i);
      continue;
    }
    for (uint64_t i = 0; i < piece.range.bytes; ++i) {
      Value &on_device = copy.values[piece.range.offset + i], &on_host = host[piece.use->offset + i];
      (task.role == Role::kUpload ? on_device = on_host : on_host = on_device);
      task.found.push_back(on_host);
    }
  }
}

// Compares with a run of the same tasks one after another in the order of creation: a race-free program has no other
// result.
void Machine::judge() {
  std::vector<std::vector<Value>> host;
  for (size_t v = 0; v < program_.sizes.size(); ++v) {
    auto& variable = host.emplace_back();
    for (uint64_t i = 0; i < program_.sizes[v]; ++i) variable.push_back(initial_value(v, i));
  }
  std::map<uint64_t, std::vector<Value>> device;
  for (auto& [buffer, bytes] : buffer_bytes_) device[buffer].resize(bytes);
  for (TaskNumber number : in_order_) {
    const SimulatedTask& task = tasks_.at(number);
    if (!task.has_run && !program_.constructs[task.construct].is_cancelled) fail("a task has not run");
    if (task.has_run) judge_task(task, host, device);
  }
  if (host != host_) fail("the program's variables end with other values");
  for (auto& node : nodes_) {
    if (!node->copies.empty()) fail("a copy is left behind the end of all mappings");
  }
}

void Machine::judge_task(const SimulatedTask& task, std::vector<std::vector<Value>>& host,
                         std::map<uint64_t, std::vector<Value>>& device) {
  const Construct& construct = program_.constructs[task.construct];
  std::vector<Value> expected;
  if (construct.kind == Kind::kHost) {
    auto& variable = host[variable_of(construct)];
    for (uint64_t i : construct.uses[0].reads) expected.push_back(variable[i]);
    for (uint64_t i : construct.uses[0].writes) variable[i] = value_of(task.construct, i);
  }
  for (const Piece& piece : task.pieces) {
    auto& copy = device[piece.range.buffer];
    auto& variable = host[static_cast<size_t>(piece.variable)];
    if (task.role == Role::kBody) {
      uint64_t base = piece.range.offset - piece.use->offset;
      for (uint64_t i : piece.use->reads) expected.push_back(copy[base + i]);
      for (uint64_t i : piece.use->writes) copy[base + i] = value_of(task.construct, i);
      continue;
    }
    for (uint64_t i = 0; i < piece.range.bytes; ++i) {
      Value &on_device = copy[piece.range.offset + i], &on_host = variable[piece.use->offset + i];
      (task.role == Role::kUpload ? on_device = on_host : on_host = on_device);
      expected.push_back(on_host);
    }
  }
  if (expected == task.found) return;
  fail("construct " + std::to_string(task.construct) + " finds bytes that it must not find");
}

void Machine::arrive(Event& event) {
  Message& message = *event.message;
  if (message.kind == MessageKind::kReport) {
    Node& node = *nodes_[message.from];
    for (const EndedTask& ended : message.ended) {
      if (node.stand_ins.erase(ended.index) == 0) node.sent -= ended.count;
    }
    head_.receive(message);
    drain_head();
    return;
  }
  received_ = message.range;
  nodes_[event.node]->worker.receive(message);
  drain(event.node, event.payload.get());
}

Result Machine::run() {
  if (!program_.constructs.empty()) schedule({.what = Event::kCreate}, 0);
  while (!events_.empty() && result_.error.empty()) {
    Event event = events_.top();
    events_.pop();
    now_ = event.time;
    switch (event.what) {
      case Event::kCreate: create_next(); break;
      case Event::kArrive: arrive(event); break;
      case Event::kEnd: begin_end(std::move(event)); break;
      case Event::kCompareRest: finish_end(event); break;
      case Event::kCancel:
        head_.cancel(body_of_construct_[event.index]);
        drain_head();
        break;
    }
  }
  result_.tasks = tasks_.size();
  result_.counts = head_.counts;
  result_.graphs = head_.graph_counts();
  if (result_.error.empty() && (created_ != program_.constructs.size() || head_.under_way() != 0)) {
    fail("nothing happens any more, but " + std::to_string(head_.under_way()) + " tasks have not ended");
  }
  if (result_.error.empty()) judge();
  return result_;
}

}  // namespace marline::offload::cluster::simulation
