// SPDX-License-Identifier: Apache-2.0
//
// Creates, plans, assigns and ends the tasks of the program. Placement is in placing.cpp, speculative copies are in
// withdrawal.cpp, and persistent graphs are in head_graphs.cpp.
#include "cluster/dataflow/head.hpp"

#include <algorithm>

namespace marline::offload::cluster {

namespace {

Head* as_head(const void* head) { return const_cast<Head*>(static_cast<const Head*>(head)); }

}  // namespace

Head::Head(const HeadOptions& options)
    : placement(options.policy),
      options_(options),
      graphs_(directory_, copies_,
              {this, [](const void* head, TaskNumber task) { return as_head(head)->has_ended(task); },
               [](const void* head, const TaskPlace& place) { return as_head(head)->has_ended(place); }}) {
  copies_.set_budgets(options.nodes, options.memory);
  for (size_t i = 0; i <= options.nodes; ++i) {
    Node node;
    node.credits = static_cast<int64_t>(options.credits);
    nodes_.push(std::move(node));
    assigned_.push({});
    if (i != 0) runnable_.add(0);
  }
}

TaskNumber Head::create(NewTask made) {
  cut_iteration();
  TaskNumber number = tasks_.end();
  uint64_t place = made.graph != 0 ? graphs_.note_created(made.graph, number) : Graphs::kNoPlace;
  Task& task = tasks_.reach(number);
  task.made = std::move(made);
  task.graph_place = place;
  if (place != Graphs::kNoPlace) recall(task);
  ++under_way_;
  note_predecessors(number);
  if (!options_.hold && !may_wait(tasks_[number])) make_due(tasks_.end());
  plan_what_can_be();
  return number;
}

void Head::note_predecessors(TaskNumber number) {
  Task& task = tasks_[number];
  task.level = levels_.first();
  for (TaskNumber predecessor : task.made.predecessors) {
    if (!tasks_.has(predecessor)) continue;
    const Task& before = tasks_[predecessor];
    if (before.level != kNoLevel && before.level >= task.level) task.level = before.level + 1;
  }
  Level& level = levels_.reach(task.level);
  if (level.open == 0) level.created = 0;
  ++level.open;
  task.rank = level.created++;
}

bool Head::has_ended(TaskNumber task) {
  if (is_replayed(task)) return graphs_.has_ended(task);
  return task < tasks_.first() || (task < tasks_.end() && tasks_[task].state == State::kEnded);
}

void Head::cancel(TaskNumber number) {
  if (has_ended(number)) return;
  if (is_replayed(number)) {
    confirm();
  } else {
    tasks_[number].is_cancelled = true;
    if (tasks_[number].state != State::kPlanned) return;
  }
  TaskPlace place = place_of(number);
  send(message_to(MessageKind::kCancel, place.node, place.index));
}

// If the assignment still waits for a credit, it is changed in place: a kCancel queued after it would wait for the
// credits of other tasks as well.
bool Head::leave_out(TaskNumber number) {
  if (is_replayed(number)) return leave_out_replayed(number);
  Task& task = tasks_[number];
  assert(!task.has_speculative_copy && !task.is_speculative_copy);
  task.is_cancelled = true;
  if (task.state != State::kPlanned) return false;
  Node& node = nodes_[task.place.node];
  if (task.place.index < node.first_unsent) {
    messages.push(message_to(MessageKind::kCancel, task.place.node, task.place.index));
    return true;
  }
  for (size_t i = node.next_waiting; i < node.waiting.count(); ++i) {
    Message& waiting = node.waiting[i];
    if (waiting.kind == MessageKind::kAssign && waiting.index == task.place.index) waiting.is_cancelled = true;
  }
  return false;
}

void Head::barrier() {
  confirm();
  plan_held();
}

void Head::plan_held() {
  make_due(tasks_.end());
  plan_what_can_be();
}

void Head::await(TaskNumber number) {
  if (has_ended(number)) return;
  TaskPlace place = place_of(number);
  if (is_replayed(number)) return await_at(place.node, place.index + 1);
  tasks_[number].made.is_awaited = true;
  if (tasks_[number].state == State::kPlanned) await_at(place.node, place.index + 1);
}

void Head::await_all() {
  for (TaskNumber number = std::max(next_, tasks_.first()); number < tasks_.end(); ++number) {
    tasks_[number].made.is_awaited = true;
  }
  for (NodeNumber node = 0; node <= options_.nodes; ++node) {
    if (nodes_[node].open != 0) await_at(node, nodes_[node].assigned);
  }
}

// A node reports the end of its only task at once. So it gets the kAwait only before it gets another task.
void Head::await_at(NodeNumber number, uint64_t below) {
  Node& node = nodes_[number];
  if (node.awaited >= below) return;
  node.awaited = below;
  node.is_reported = false;
  if (node.open > 1) report_awaited(number);
}

void Head::add_open(NodeNumber number, uint64_t tasks) {
  Node& node = nodes_[number];
  if (node.open != 0 && !node.is_reported) report_awaited(number);
  node.is_reported = true;
  node.open += tasks;
}

void Head::report_awaited(NodeNumber number) {
  Node& node = nodes_[number];
  node.is_reported = true;
  // Overtakes tasks that wait for credits, since these come only with the node's reports.
  messages.push(message_to(MessageKind::kAwait, number, node.awaited));
}

// With a window, tasks are placed in groups of that size, each when as many tasks after it are known.
void Head::plan_what_can_be() {
  if (!options_.hold && tasks_.end() - due_ >= 2 * options_.window) make_due(tasks_.end() - options_.window);
  if (next_ < tasks_.first()) next_ = tasks_.first();  // skips speculative copies, which are planned when they are made
  for (; next_ < due_; ++next_) {
    if (tasks_[next_].state == State::kCreated && !plan(next_)) return;
  }
}

// False: there is no room for the task yet.
bool Head::plan(TaskNumber number) {
  Task* task = &tasks_[number];
  for (const NewBuffer& buffer : task->made.new_buffers) {
    directory_.add(buffer.buffer, buffer.bytes);
    copies_.add_buffer(buffer.buffer, buffer.bytes);
  }
  task->made.new_buffers.clear();
  if (!make_room(*task)) return false;
  task = &tasks_[number];  // make_room may have created a task that moves a home, so the address may have changed
  assign_index(number);

  Message assignment = message_to(MessageKind::kAssign, task->place.node, task->place.index);
  assignment.task = number;
  assignment.is_cancelled = task->is_cancelled;
  assignment.priority = task->made.priority;
  assignment.order = task->order;
  assignment.is_awaited = task->made.is_awaited;
  if (!graphs_.is_empty()) disturb_graphs(*task);
  plan_accesses(number, assignment);
  if (task->made.graph != 0) record(number, assignment);
  send(std::move(assignment));
  if (options_.withdraw) note_open_predecessors(number);
  send_of_graphs();
  return true;
}

// Gives the task an index at the node where it is placed.
void Head::assign_index(TaskNumber number) {
  Task& task = tasks_[number];
  Node& node = nodes_[task.place.node];
  task.place.index = node.assigned++;
  if (task.made.is_awaited) {
    node.awaited = node.assigned;
    node.is_reported = node.waiting.is_empty() && node.credits > 0;  // the node learns it from the assignment
  }
  add_open(task.place.node, 1);
  assigned_[task.place.node].reach(task.place.index) = number;
  task.state = State::kPlanned;
  ++planned_;
  if (task.place.node == 0) return;
  task.load = placement.begin(task.request, task.place.node);
  task.mark = placement.mark(task.place.node);
}

void Head::plan_accesses(TaskNumber number, Message& assignment) {
  Task& task = tasks_[number];
  List<TaskNumber>& predecessors = task.made.predecessors;
  GraphNumber graph = task.made.graph;
  auto has_ended = [this, graph](TaskNumber other) {
    return graph != 0 ? graphs_.has_ended(graph, other) : this->has_ended(other);
  };
  for (size_t i = predecessors.count(); i-- > 0;) {
    if (has_ended(predecessors[i])) predecessors.erase(i);
  }
  covered_.clear();
  PlannedTask planned = {number, task.place, &predecessors};
  if (graph == 0 && !task.is_move) planned.unordered_from = unordered_from(predecessors);
  for (const TaskAccess& access : task.made.accesses) {
    directory_.plan(planned, access, has_ended, assignment.accesses, covered_);
    use(task, access.range.buffer, task.place.node);
  }
  for (TaskNumber predecessor : predecessors) {
    bool is_covered = false;
    for (TaskNumber other : covered_) is_covered = is_covered || other == predecessor;
    TaskPlace place;
    if (is_covered) continue;
    bool is_in_graph = graph != 0 && graphs_.find_place(graph, predecessor, place);
    assignment.waits_for.push(is_in_graph ? place : place_of(predecessor));
  }
  assignment.predecessors = static_cast<uint32_t>(assignment.waits_for.count());
  for (const PlannedAccess& access : assignment.accesses) {
    if (access.is_end) ++assignment.predecessors;
    if (access.is_fetched) use(task, access.range.buffer, access.source.node);
    bool is_from_home = access.source.node == access.home;
    if (access.may_write && access.is_early && !access.is_sole && !is_from_home) ++counts.from_companions;
    if (access.may_write) use(task, access.range.buffer, access.home);
  }
}

// Returns the number from which on no task is ordered before this one. Let X be ordered before the task without being
// in `predecessors`. The last task on the path from X to the task is in `predecessors`, or the program knew from node 0
// that it had ended. That task was created after X.
TaskNumber Head::unordered_from(const List<TaskNumber>& predecessors) const {
  TaskNumber from = ended_before_;
  for (TaskNumber predecessor : predecessors) from = std::max(from, predecessor + 1);
  return from;
}

void Head::use(Task& task, uint64_t buffer, NodeNumber node) {
  copies_.begin_use(buffer, node);
  task.uses.push({buffer, node});
}

List<uint64_t> Head::buffers_of(const Task& task) const {
  List<uint64_t> all, buffers;
  for (const TaskAccess& access : task.made.accesses) {
    if (all.is_empty() || all.back() != access.range.buffer) all.push(access.range.buffer);
  }
  std::sort(all.begin(), all.end());
  for (uint64_t buffer : all) {
    if (buffers.is_empty() || buffers.back() != buffer) buffers.push(buffer);
  }
  return buffers;
}

// Chooses a node for the task and drops copies of buffers there until the task's buffers fit. False: ask again when
// tasks have ended.
bool Head::make_room(Task& task) {
  place(task);
  NodeNumber node = task.place.node;
  List<uint64_t> buffers = buffers_of(task);
  while (copies_.missing_room(buffers, node) != 0) {
    uint64_t buffer = copies_.find_unused(node, buffers);
    if (buffer == 0) {
      if (planned_ != 0) return false;  // the copies that these tasks use can be dropped when they have ended
      if (graphs_.forget_idle_plan()) {
        send_of_graphs();
        continue;
      }
      ++counts.over_budget;
      counts.over_node = node;
      counts.over_bytes = copies_.missing_room(buffers, node);
      return true;
    }
    if (directory_.is_home(buffer, node)) {
      move_home(buffer);
      return false;
    }
    drop_copy(buffer, node);
  }
  return true;
}

void Head::drop_copy(uint64_t buffer, NodeNumber node) {
  if (!graphs_.is_empty()) graphs_.disturb(buffer, 0);
  directory_.forget_holder(buffer, node);
  copies_.drop(buffer, node);
  ++counts.drops;
  send_drop(buffer, node);
}

void Head::send_drop(uint64_t buffer, NodeNumber node) {
  Message message = message_to(MessageKind::kDrop, node);
  message.range.buffer = buffer;
  send(std::move(message));
}

// Moves the home of the whole buffer to node 0, by a task there that counts as a writer of all its bytes. When the task
// has ended, the old home's copy of the buffer can be dropped.
void Head::move_home(uint64_t buffer) {
  ++counts.moves;
  TaskNumber number = tasks_.end();
  Task& task = tasks_.reach(number);
  task.made.is_on_host = true;
  task.made.accesses.push({{buffer, 0, copies_.bytes_of(buffer)}, true});
  task.is_cancelled = true;  // the task has no kernel to run
  task.is_move = true;
  if (due_ == number) due_ = number + 1;  // it is placed already
  ++under_way_;
  plan(number);
}

Message Head::message_to(MessageKind kind, NodeNumber node, uint64_t index) const {
  Message message;
  message.kind = kind;
  message.to = node;
  message.clock = clock_;
  message.index = index;
  return message;
}

// Sends messages to a node in order, and no task without a credit. A batch of a replay needs one credit, and takes as
// many as it has tasks.
void Head::send(Message message) {
  Node& node = nodes_[message.to];
  if (node.waiting.is_empty() && take_credits(node, message)) {
    messages.push(std::move(message));
    return;
  }
  node.waiting_drops += message.kind == MessageKind::kDrop;
  node.waiting.push(std::move(message));
}

// False: the node has no credit.
bool Head::take_credits(Node& node, const Message& message) {
  uint64_t tasks = message.kind == MessageKind::kAssign ? 1 : message.count;
  if (tasks != 0 && node.credits <= 0) return false;
  node.credits -= static_cast<int64_t>(tasks);
  if (message.kind == MessageKind::kAssign) node.first_unsent = message.index + 1;
  return true;
}

void Head::send_waiting(Node& node) {
  for (; node.next_waiting < node.waiting.count(); ++node.next_waiting) {
    Message& message = node.waiting[node.next_waiting];
    if (!take_credits(node, message)) return;
    node.waiting_drops -= message.kind == MessageKind::kDrop;
    messages.push(std::move(message));
  }
  node.waiting.clear();
  node.next_waiting = 0;
}

void Head::receive(const Message& message) {
  if (message.clock > clock_) clock_ = message.clock;
  Message forget = message_to(MessageKind::kForget, message.from);
  for (const EndedTask& ended : message.ended) {
    Window<TaskNumber>& assigned = assigned_[message.from];
    TaskNumber number = assigned[ended.index];
    bool had_credits = is_replayed(number) || !tasks_[number].is_speculative_copy;
    if (had_credits) nodes_[message.from].credits += static_cast<int64_t>(ended.count);
    if (is_replayed(number)) {
      end_replayed(message.from, number, ended);
      continue;
    }
    if (ended.has_run && message.from != 0) learn(number, message.from, ended.time);
    if (tasks_[number].is_speculative_copy) ended.has_run ? void(++counts.stood_in) : take_back(tasks_[number].other);
    take_end(number, forget);
  }
  if (!forget.words.is_empty()) send(std::move(forget));
  Window<TaskNumber>& assigned = assigned_[message.from];
  while (assigned.first() < assigned.end() && has_ended(assigned[assigned.first()])) assigned.drop_first();
  send_waiting(nodes_[message.from]);
  bool is_idle = message.from != 0 && static_cast<double>(nodes_[message.from].open) < placement.slots(message.from);
  if (is_idle && !options_.hold) make_due(tasks_.end());
  plan_what_can_be();
  // A recorded iteration must get indices without gaps, so no speculative copies are made meanwhile.
  bool may_withdraw = options_.withdraw && !graphs_.is_replaying() && recording_from_ == kNone;
  if (may_withdraw) withdraw_for_idle(message.from);
}

// An original task ends only when the node of its speculative copy has reported, too: the driver's messages about what
// the copy has written precede that report. `forget` is a message to the node that has reported.
void Head::take_end(TaskNumber number, Message& forget) {
  Task& task = tasks_[number];
  if (task.has_speculative_copy && !has_ended(task.other)) {
    task.has_reported = true;
    return;
  }
  TaskNumber lent = task.is_speculative_copy ? task.other : number;
  TaskPlace place = task.place;
  end(number);
  if (place.node == forget.to) {
    forget.words.push(place.index);
  } else {
    Message other = message_to(MessageKind::kForget, place.node);
    other.words.push(place.index);
    send(std::move(other));
  }
  if (lent != number && !has_ended(lent) && tasks_[lent].has_reported) take_end(lent, forget);
}

void Head::end(TaskNumber number) {
  Task& task = tasks_[number];
  assert(task.state == State::kPlanned);
  task.state = State::kEnded;
  if (!task.is_cancelled) batch_.note_end(task.planned_end);
  ended_before_ = std::max(ended_before_, number + 1);
  completed.push(number);
  --under_way_;
  --planned_;
  for (const CopyUse& use : task.uses) {
    if (copies_.end_use(use.buffer, use.node)) forget_buffer(use.buffer);
  }
  --nodes_[task.place.node].open;
  for (uint64_t buffer : task.made.last_of) {
    if (copies_.retire(buffer)) forget_buffer(buffer);
  }
  if (options_.withdraw) {
    remove_runnable(number);
    end_predecessor_of(task.successors);
  }
  if (is_recorded(number)) {
    recorded_ends_.push(number);
  } else {
    leave_node(task);
    List<uint64_t>().swap(task.made.words);  // the record stays until all older tasks have ended
  }
  drop_ended();
}

void Head::leave_node(const Task& task) {
  if (task.place.node != 0) placement.end(task.place.node, task.load);
  leave_level(task);
}

void Head::drop_ended() {
  while (tasks_.first() < tasks_.end() && tasks_.first() < recording_from_ &&
         tasks_[tasks_.first()].state == State::kEnded) {
    tasks_.drop_first();
  }
}

void Head::leave_level(const Task& task) {
  if (task.level == kNoLevel) return;
  --levels_[task.level].open;
  while (levels_.first() + 1 < levels_.end() && levels_[levels_.first()].open == 0) levels_.drop_first();
}

// Removes the buffer. No open task and no plan uses it, so no task that uses it can be created again.
void Head::forget_buffer(uint64_t buffer) {
  directory_.remove(buffer);
  copies_.remove_buffer(buffer, [&](NodeNumber node) { send_drop(buffer, node); });
}

}  // namespace marline::offload::cluster
