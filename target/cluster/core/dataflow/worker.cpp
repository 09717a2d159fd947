// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "cluster/core/dataflow/worker.hpp"

namespace marline::target {

Message& Worker::send(MessageKind kind, NodeNumber to) {
  WorkerCommand command;
  command.action = WorkerAction::kSend;
  command.message.kind = kind;
  command.message.from = node_;
  command.message.to = to;
  command.message.clock = clock_;
  return commands.push(std::move(command)).message;
}

void Worker::receive(Message& message) {
  if (message.clock > clock_) clock_ = message.clock;
  switch (message.kind) {
    case MessageKind::kAssign: assign(message); break;
    case MessageKind::kSubscribe: subscribe(message); break;
    case MessageKind::kCancel:
      if (tasks_.has(message.index)) tasks_[message.index].is_cancelled = true;
      break;
    case MessageKind::kForget: forget(message.index); break;
    case MessageKind::kDrop: {
      WorkerCommand command;
      command.action = WorkerAction::kDrop;
      command.range = message.range;
      commands.push(std::move(command));
      break;
    }
    case MessageKind::kEnded:
      // It may come before the task itself, which takes another way.
      if (--tasks_.reach(message.index).open_predecessors == 0 && tasks_[message.index].state == State::kWaiting) {
        fetch_inputs(message.index);
      }
      break;
    case MessageKind::kFetch: answer_fetch(message); break;
    case MessageKind::kData: {
      WorkerCommand command;
      command.action = WorkerAction::kMerge;
      commands.push(std::move(command));
      take_input(message.index);
      break;
    }
    case MessageKind::kDelta: merge_delta(message); break;
    case MessageKind::kMerged:
      if (--tasks_[message.index].open_merges == 0) complete(message.index);
      break;
    case MessageKind::kReport: assert(!"for the head"); break;
  }
  report_if_due();
}

void Worker::assign(Message& message) {
  Task& task = tasks_.reach(message.index);
  assert(task.state == State::kUnknown);
  task.state = State::kWaiting;
  task.number = message.task;
  task.is_cancelled = message.is_cancelled;
  task.accesses.swap(message.accesses);
  task.open_predecessors += message.predecessors;
  if (task.open_predecessors == 0) fetch_inputs(message.index);
}

void Worker::fetch_inputs(uint64_t index) {
  Task& task = tasks_[index];
  task.state = State::kFetching;
  for (const PlannedAccess& access : task.accesses) {
    if (!access.is_fetched) continue;
    ++task.open_inputs;
    Message& message = send(MessageKind::kFetch, access.source.node);
    message.index = access.source.index;
    message.peer = {node_, index};
    message.range = access.range;
  }
  if (task.open_inputs == 0) start(index);
}

void Worker::take_input(uint64_t index) {
  assert(tasks_[index].state == State::kFetching);
  if (--tasks_[index].open_inputs == 0) start(index);
}

// The inputs are there: whoever waited for them can have them too.
void Worker::start(uint64_t index) {
  Task& task = tasks_[index];
  task.state = State::kRunning;
  WorkerCommand ready;
  ready.action = WorkerAction::kReady;
  ready.index = index;
  commands.push(std::move(ready));
  for (const Message& fetch : task.fetches) send_data(fetch);
  task.fetches.clear();
  if (task.is_cancelled) {
    send_deltas(index);
    return;
  }
  task.has_run = true;
  ++running_;
  WorkerCommand command;
  command.action = WorkerAction::kStart;
  command.index = index;
  command.task = task.number;
  commands.push(std::move(command));
}

void Worker::end(uint64_t index, double time) {
  tasks_[index].time = time;
  --running_;
  ++clock_;
  for (const PlannedAccess& access : tasks_[index].accesses) {
    if (!access.may_write) continue;
    WorkerCommand command;
    command.action = WorkerAction::kCompare;
    command.index = index;
    command.is_sole = access.is_sole;
    command.range = access.range;
    command.stamp = clock_;
    commands.push(std::move(command));
  }
  send_deltas(index);
  report_if_due();
}

// Also where nothing has been written: another task's comparison may have found this one's bytes first, and its delta
// is in front of this one on the way to the home.
void Worker::send_deltas(uint64_t index) {
  Task& task = tasks_[index];
  task.state = State::kMerging;
  for (const PlannedAccess& access : task.accesses) {
    if (!access.may_write || access.home == node_) continue;
    ++task.open_merges;
    Message& message = send(MessageKind::kDelta, access.home);
    message.peer = {node_, index};
    message.range = access.range;
  }
  if (task.open_merges == 0) complete(index);
}

void Worker::merge_delta(const Message& message) {
  WorkerCommand command;
  command.action = WorkerAction::kMerge;
  commands.push(std::move(command));
  send(MessageKind::kMerged, message.peer.node).index = message.peer.index;
}

void Worker::complete(uint64_t index) {
  Task& task = tasks_[index];
  task.state = State::kEnded;
  for (const TaskPlace& subscriber : task.subscribers) tell_end(subscriber);
  task.subscribers.clear();
  task.accesses.clear();
  ended_.push({index, task.has_run, task.time});
}

void Worker::tell_end(const TaskPlace& subscriber) {
  send(MessageKind::kEnded, subscriber.node).index = subscriber.index;
}

void Worker::subscribe(const Message& message) {
  Task& task = tasks_[message.index];
  assert(task.state != State::kUnknown && task.state != State::kForgotten);
  if (task.state == State::kEnded) {
    tell_end(message.peer);
  } else {
    task.subscribers.push(message.peer);
  }
}

void Worker::send_data(const Message& fetch) {
  Message& message = send(MessageKind::kData, fetch.peer.node);
  message.index = fetch.peer.index;
  message.range = fetch.range;
  message.known = fetch.known;
}

void Worker::answer_fetch(Message& message) {
  if (message.index >= tasks_.first()) {
    Task& task = tasks_.reach(message.index);
    if (task.state < State::kRunning) {
      task.fetches.push(std::move(message));
      return;
    }
  }
  send_data(message);
}

void Worker::forget(uint64_t index) {
  assert(tasks_[index].state == State::kEnded);
  tasks_[index].state = State::kForgotten;
  while (tasks_.first() < tasks_.end() && tasks_[tasks_.first()].state == State::kForgotten) tasks_.drop_first();
}

// The head hears of ends together, unless the node has nothing else to do than to wait for what these ends bring about.
void Worker::report_if_due() {
  if (ended_.is_empty() || (running_ != 0 && ended_.count() < report_at_most_)) return;
  send(MessageKind::kReport, 0).ended.swap(ended_);
}

}  // namespace marline::target
