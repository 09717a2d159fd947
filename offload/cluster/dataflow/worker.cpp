// SPDX-License-Identifier: Apache-2.0
//
// Handles the messages and events of one node, and leaves the commands for its driver.
#include "cluster/dataflow/worker.hpp"

#include <algorithm>

namespace marline::offload::cluster {

WorkerCommand& Worker::command(WorkerAction action, uint64_t index) {
  WorkerCommand& made = commands.push({});
  made.action = action;
  made.index = index;
  return made;
}

Message& Worker::send(MessageKind kind, NodeNumber to, uint64_t index) {
  Message message;
  message.kind = kind;
  message.from = node_;
  message.to = to;
  message.clock = clock_;
  message.index = index;
  bool is_own = to == node_ && kind != MessageKind::kReport;
  return (is_own ? own_.push({}) : command(WorkerAction::kSend).message) = std::move(message);
}

void Worker::receive(Message& message) {
  hear(message.clock);
  handle(message);
  handle_own_messages();
  start_ready();
  report_if_due();
}

void Worker::handle_own_messages() {
  for (size_t i = 0; i < own_.count(); ++i) {
    Message message = std::move(own_[i]);
    handle(message);
  }
  own_.clear();
}

void Worker::handle(Message& message) {
  switch (message.kind) {
    case MessageKind::kAssign: assign(message); break;
    case MessageKind::kSubscribe: subscribe(message); break;
    case MessageKind::kCancel:
      if (tasks_.has(message.index)) tasks_[message.index].is_cancelled = true;
      break;
    case MessageKind::kForget:
      for (uint64_t index : message.words) forget(index);
      break;
    case MessageKind::kDrop: command(WorkerAction::kDrop).range = message.range; break;
    case MessageKind::kEnded: end_predecessor(message.index); break;
    case MessageKind::kFetch: answer_fetch(message); break;
    case MessageKind::kData: take_data(message); break;
    case MessageKind::kDelta: merge_delta(message); break;
    case MessageKind::kMerged:
      if (--tasks_[message.index].open_merges == 0) complete(message.index);
      break;
    case MessageKind::kWithdraw: withdraw(message); break;
    case MessageKind::kSpeculativeCopy: speculative_copy(message); break;
    case MessageKind::kPlan: shares_.add(message.index).read(message); break;
    case MessageKind::kReplay: replay(message); break;
    case MessageKind::kUnplan: shares_.erase(share_of(message)); break;
    case MessageKind::kAwait: await(message.index); break;
    case MessageKind::kReport: assert(!"for the head"); break;
  }
}

void Worker::assign(Message& message) {
  Task& task = tasks_.reach(message.index);
  task.transition_to_waiting();
  task.number = message.task;
  task.priority = message.priority;
  task.order = message.order;
  task.is_cancelled = task.is_cancelled || message.is_cancelled;
  if (message.is_awaited) await(message.index + 1);
  if (!message.accesses.is_empty()) task.accesses.swap(message.accesses);
  task.open_predecessors += message.predecessors;
  for (const TaskPlace& predecessor : message.waits_for) {
    send(MessageKind::kSubscribe, predecessor.node, predecessor.index).peer = {node_, message.index};
  }
  for (const PlannedAccess& access : task.accesses) {
    if (access.is_early) fetch(message.index, access);
  }
  if (task.open_predecessors == 0) fetch_inputs(message.index);
}

void Worker::end_predecessor(uint64_t index) {
  Task& task = tasks_[index];
  if (task.state == State::kWithSpeculativeCopy) {
    complete(index);
  } else if (--task.open_predecessors == 0) {
    fetch_inputs(index);
  }
}

void Worker::fetch(uint64_t index, const PlannedAccess& access) {
  Task& task = tasks_[index];
  uint64_t bytes = bytes_of_part(access.range.bytes, part_);
  for (uint64_t at = access.range.offset; at < access.range.end(); at += bytes) {
    ClusterRange part = {access.range.buffer, at, std::min(bytes, access.range.end() - at)};
    Message& message = send(MessageKind::kFetch, access.source.node, access.source.index);
    message.peer = {node_, index};
    message.range = part;
    message.is_after_end = access.is_after_end;
    message.is_end = access.is_end && part.end() == access.range.end();
    message.task = task.inputs.count();
    task.inputs.push({part, false});
    ++task.open_inputs;
  }
}

void Worker::fetch_inputs(uint64_t index) {
  Task& task = tasks_[index];
  task.transition_to_fetching();
  for (const PlannedAccess& access : task.accesses) {
    if (access.is_fetched && !access.is_early) fetch(index, access);
  }
  if (task.open_inputs == 0) find_inputs_complete(index);
}

void Worker::take_data(const Message& message) {
  if (message.from != node_) command(WorkerAction::kMerge);
  Task& task = tasks_[message.index];
  task.inputs[message.task].has_come = true;
  --task.open_inputs;
  answer_fetches_of(task, message.range);
  if (message.is_end) {
    end_predecessor(message.index);
  } else if (task.state == State::kFetching && task.open_inputs == 0) {
    find_inputs_complete(message.index);
  }
}

void Worker::find_inputs_complete(uint64_t index) {
  Task& task = tasks_[index];
  task.transition_to_ready();
  task.inputs.clear();
  command(WorkerAction::kReady, index);
  answer_fetches(task, false);
  if (task.has_speculative_copy) {
    lend(index);
  } else if (task.is_cancelled) {
    start(index);  // a cancelled task needs no slot
  } else {
    add_ready(index);
  }
}

void Worker::add_ready(uint64_t index) {
  ready_.push({tasks_[index].priority, tasks_[index].order, arrivals_++, index});
  std::push_heap(ready_.begin(), ready_.end());
}

void Worker::start_ready() {
  while (!ready_.is_empty() && running_ < slots_) {
    std::pop_heap(ready_.begin(), ready_.end());
    uint64_t index = ready_.back().index;
    ready_.pop();
    if (tasks_.has(index) && tasks_[index].state == State::kReady) start(index);
    handle_own_messages();
  }
}

void Worker::start(uint64_t index) {
  Task& task = tasks_[index];
  task.transition_to_running();
  if (task.is_cancelled) {
    send_deltas(index);
    return;
  }
  task.has_run = true;
  ++running_;
  WorkerCommand& started = command(WorkerAction::kStart, index);
  started.task = task.number;
  started.message.index = task.plan;
  started.message.task = task.step;
  started.message.words.swap(task.words);
}

// Node 0 believes that the task has not ended, so its record still exists.
void Worker::withdraw(const Message& message) {
  Task& task = tasks_[message.index];
  task.other = message.peer;
  task.has_speculative_copy = task.state < State::kWithSpeculativeCopy;
  if (task.state >= State::kReady) lend(message.index);
}

// Notifies the speculative copy: it gets the task's accesses, with this node as their source, now that the predecessors
// have ended; or it hears that it need not run. The copy sends what it has written to the same homes as the original
// task would.
void Worker::lend(uint64_t index) {
  Task& task = tasks_[index];
  task.has_speculative_copy = task.has_speculative_copy && !task.is_cancelled;
  Message& message = send(MessageKind::kSpeculativeCopy, task.other.node, task.other.index);
  message.peer = {node_, index};
  message.is_cancelled = !task.has_speculative_copy;
  if (!task.has_speculative_copy) {
    if (task.state == State::kReady) add_ready(index);
    return;
  }
  task.transition_to_with_copy();
  for (PlannedAccess access : task.accesses) {
    access.is_fetched = true;
    access.is_early = access.is_after_end = access.is_end = false;
    access.is_sole = false;  // other tasks fetch from this node and may write nearby bytes
    access.source = message.peer;
    message.accesses.push(access);
  }
}

// The message may come before node 0's assignment. The copy must wait for both: only when the assignment has come has
// this node dropped the copies that node 0 believes to be dropped.
void Worker::speculative_copy(Message& message) {
  Task& task = tasks_.reach(message.index);
  task.is_cancelled = message.is_cancelled;
  task.is_speculative_copy = !message.is_cancelled;
  task.other = message.peer;
  task.accesses.swap(message.accesses);
  if (--task.open_predecessors == 0) fetch_inputs(message.index);
}

void Worker::compare(uint64_t index) {
  ++clock_;
  for (const PlannedAccess& access : tasks_[index].accesses) {
    if (!access.may_write) continue;
    WorkerCommand& compared = command(WorkerAction::kCompare, index);
    compared.is_sole = access.is_sole;
    compared.is_home = access.home == node_;
    compared.range = access.range;
    compared.stamp = clock_ << kNodeBits | node_;
  }
}

void Worker::end(uint64_t index, double time) {
  tasks_[index].time = time;
  tasks_[index].beside = static_cast<double>(running_--);
  send_deltas(index);
  handle_own_messages();
  start_ready();
  report_if_due();
}

// Sends deltas even if this task's comparison has found no changes: another task's comparison may have found its bytes
// first. The delta contains all that has changed since this task's inputs came.
void Worker::send_deltas(uint64_t index) {
  Task& task = tasks_[index];
  task.transition_to_merging();
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
  command(WorkerAction::kMerge);
  send(MessageKind::kMerged, message.peer.node, message.peer.index);
}

void Worker::complete(uint64_t index) {
  Task& task = tasks_[index];
  task.transition_to_ended();
  answer_fetches(task, true);
  for (const TaskPlace& subscriber : task.subscribers) notify_end(subscriber);
  if (task.is_speculative_copy) notify_end(task.other);
  task.subscribers.clear();
  task.accesses.clear();
  if (task.batch != 0) return leave_batch(index);
  ended_.push({index, task.has_run, task.time});
  must_report_ = must_report_ || index < awaited_ || task.time > waits_at_most * task.beside;
}

Share* Worker::share_of(const Message& message) {
  Share* share = shares_.find(message.index);
  if (share == nullptr) fatal("cluster: node 0 names plan %lu, which it has not sent to node %u", message.index, node_);
  return share;
}

// Creates the tasks of a batch as if node 0 had assigned each of them.
void Worker::replay(const Message& message) {
  Share* share = share_of(message);
  ReplayBatch read = share->read_batch(message);
  Batch& batch = batches_.add(++last_batch_);
  batch.first = read.first_index + read.from;
  batch.count = batch.open = read.to - read.from;
  uint64_t number = batch.number;
  for (uint64_t rank = read.from; rank < read.to; ++rank) {
    Message assignment = share->assignment(read, rank);
    Task& task = tasks_.reach(assignment.index);
    task.batch = number;
    task.plan = message.index;
    task.step = assignment.task - read.first_number;
    task.words.swap(assignment.words);
    assign(assignment);
  }
}

// A task of a replay has ended. It is forgotten without a kForget of node 0: if another node asks for it later, the
// request is answered as for an ended task. The last task of a batch reports the batch.
void Worker::leave_batch(uint64_t index) {
  Batch& batch = *batches_.find(tasks_[index].batch);
  batch.time += tasks_[index].time;
  forget(index);
  if (--batch.open != 0) return;
  ended_.push({batch.first, false, batch.time, batch.count});
  must_report_ = true;  // the batch reports many tasks already, and the program may need its end to begin an iteration
  batches_.erase(&batch);
}

void Worker::notify_end(const TaskPlace& subscriber) { send(MessageKind::kEnded, subscriber.node, subscriber.index); }

// The message may come before the assignment of the task, or after the task was forgotten: node 0 did not know of the
// end when it planned.
void Worker::subscribe(const Message& message) {
  if (message.index >= tasks_.first()) {
    Task& task = tasks_.reach(message.index);
    if (task.state < State::kEnded) {
      task.subscribers.push(message.peer);
      return;
    }
  }
  notify_end(message.peer);
}

// Answers the fetches that wait for the task's inputs. If the task has ended, answers also the fetches that wait for
// its end.
void Worker::answer_fetches(Task& task, bool has_ended) {
  List<Message> left;
  for (Message& fetch : task.fetches) {
    if (fetch.is_after_end && !has_ended) {
      left.push(std::move(fetch));
    } else {
      send_data(fetch);
    }
  }
  task.fetches.swap(left);
}

namespace {

bool overlap(const ClusterRange& one, const ClusterRange& other) {
  return one.buffer == other.buffer && one.offset < other.end() && other.offset < one.end();
}

}  // namespace

// Whether all bytes of the range that the task gets are there, before it has all of its inputs. Bytes that the task
// does not fetch are there when its predecessors have ended.
bool Worker::is_there(const Task& task, const ClusterRange& range) {
  if (task.state != State::kWaiting && task.state != State::kFetching) return false;
  if (task.accesses.count() > kMostLookedAt) return false;
  bool is_known = false;
  for (const PlannedAccess& access : task.accesses) {
    if (!overlap(access.range, range)) continue;
    is_known = true;
    if (task.state != State::kFetching && !(access.is_fetched && access.is_early)) return false;
  }
  for (const Input& input : task.inputs) {
    if (!input.has_come && overlap(input.range, range)) return false;
  }
  return is_known;
}

// Another node gets these bytes before the task's inputs count as complete, so it may have a task that writes the same
// or nearby bytes.
void Worker::send_early(Task& task, const Message& fetch) {
  for (PlannedAccess& access : task.accesses) {
    if (overlap(access.range, fetch.range)) access.is_sole = false;
  }
  send_data(fetch);
}

void Worker::answer_fetches_of(Task& task, const ClusterRange& come) {
  if (task.fetches.is_empty()) return;
  List<Message> left;
  for (Message& fetch : task.fetches) {
    if (!fetch.is_after_end && overlap(fetch.range, come) && is_there(task, fetch.range)) {
      send_early(task, fetch);
    } else {
      left.push(std::move(fetch));
    }
  }
  task.fetches.swap(left);
}

void Worker::send_data(const Message& fetch) {
  Message& message = send(MessageKind::kData, fetch.peer.node, fetch.peer.index);
  message.range = fetch.range;
  message.is_end = fetch.is_end;
  message.task = fetch.task;
  message.copy = fetch.copy;
}

void Worker::answer_fetch(Message& message) {
  if (message.index >= tasks_.first()) {
    Task& task = tasks_.reach(message.index);
    if (!message.is_after_end && is_there(task, message.range)) return send_early(task, message);
    if (task.state < (message.is_after_end ? State::kEnded : State::kReady)) {
      task.fetches.push(std::move(message));
      return;
    }
  }
  send_data(message);
}

void Worker::forget(uint64_t index) {
  tasks_[index].transition_to_forgotten();
  while (tasks_.first() < tasks_.end() && tasks_[tasks_.first()].state == State::kForgotten) tasks_.drop_first();
}

void Worker::await(uint64_t below) {
  if (below <= awaited_) return;
  awaited_ = below;
  for (const EndedTask& ended : ended_) must_report_ = must_report_ || ended.index < awaited_;
}

// Node 0 gets ends together. They are reported now if the program waits for one of them, if the next end may come late,
// or if the node has no running task and needs the successors. Other free slots are no reason: nodes that node 0 cannot
// keep busy would then overload node 0 with reports.
void Worker::report_if_due() {
  bool may_wait = running_ != 0 && ended_.count() < report_at_most_ && !must_report_;
  if (may_wait) return;
  must_report_ = false;
  if (!ended_.is_empty()) send(MessageKind::kReport, 0).ended.swap(ended_);
}

}  // namespace marline::offload::cluster
