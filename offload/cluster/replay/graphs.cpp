// SPDX-License-Identifier: Apache-2.0
//
// Records iterations and keeps their plans. replaying.cpp replays them.
#include "cluster/replay/graphs.hpp"

#include <algorithm>

namespace marline::offload::cluster {

namespace {

bool is_equal(const List<uint64_t>& a, const List<uint64_t>& b) {
  if (a.count() != b.count()) return false;
  for (size_t i = 0; i < a.count(); ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

constexpr unsigned kMostDoublings = 8;  // limits how many replays are judged together

}  // namespace

Graphs::Graph& Graphs::graph_of(GraphNumber number) {
  Graph* found = graphs_.find(number);
  return found != nullptr ? *found : graphs_.add(number);
}

bool Graphs::is_recording(const Graph& graph) const { return graph.now && !graph.now->is_replay(); }

bool Graphs::has_all_ended(const Iteration& iteration) {
  if (iteration.is_replay()) return has_ended(iteration.first_number);
  for (TaskNumber number : iteration.numbers) {
    if (!ends_.of_task(ends_.head, number)) return false;
  }
  return true;
}

// Moves on from one iteration to the next. True: the completed iteration had the shape of the one before.
bool Graphs::leave_iteration(Graph& graph, bool all_planned) {
  if (is_recording(graph)) {
    Plan& plan = *graph.now->plan;
    bool is_known = all_planned && plan.is_fit && plan.tasks.count() == graph.now->numbers.count();
    if (!is_known) graph.now = {};
  }
  if (graph.now && graph.is_by_times_now) graph.is_placed_by_times = true;
  graph.is_by_times_now = false;
  bool is_alike = graph.now && graph.before && graph.now->plan->has_shape_of(*graph.before->plan);
  graph.before = std::move(graph.now);
  graph.now = {};
  return is_alike;
}

bool Graphs::begin(GraphNumber number, bool has_barrier, bool all_planned, bool is_uneven,
                   const List<uint64_t>& assigned) {
  cut();
  Graph& graph = graph_of(number);
  bool has_ended = has_barrier && graph.now && has_all_ended(*graph.now);
  bool is_steady = all_planned && !is_uneven && graph.kept && graph.now && graph.now->is_replay() &&
                   !graph.is_disturbed && (has_ended || !graph.kept->has_barrier);
  if (!is_steady) settle();
  bool is_alike = leave_iteration(graph, all_planned);
  has_ended = has_ended && graph.before;
  graph.is_open = true;
  assert(!is_steady || unsettled_ == number);  // settling would have marked the graph as disturbed
  List<uint64_t> state;
  if (!is_steady) {
    bool is_known = all_planned && graph.before && describe(*graph.before, has_ended, state);
    if (!is_known) state.clear();
    // The directory's state after the last iteration (`describe`) equals the state in which that iteration began. So
    // the next iteration can begin where this one began, and the plan is kept. Only the tasks to which the state
    // refers, by node and index or by number, are those of another iteration.
    Iteration* last = is_known && !is_uneven ? &*graph.before : nullptr;
    bool is_same = last != nullptr && !last->is_replay() && is_alike && is_equal(last->plan->start, state);
    if (is_same && !awaits_times(graph)) keep(graph);
  }
  if (is_uneven) {
    retire(graph);
    ++counts.uneven;
  }
  if (is_steady || (all_planned && can_replay(graph, has_ended, state))) {
    begin_replay(graph, assigned);
    return true;
  }
  ++graph.recorded;
  graph.now = Shared<Iteration>::make();
  graph.now->plan = Shared<Plan>::make();
  graph.now->plan->has_barrier = has_ended;
  graph.now->plan->knows_before = static_cast<bool>(graph.before);
  graph.now->plan->start.swap(state);
  decide_placing(graph);
  return false;
}

// The first two iterations are placed as usual: the first one may find all data at node 0, and knows no times. The
// first iteration that knows times, and has no plan to keep, is also placed as usual. In all other iterations the tasks
// stay at their nodes, because only then can a plan be kept. After an iteration that was cut, tasks go to the nodes of
// the plan, so that it can be replayed again.
void Graphs::decide_placing(Graph& graph) {
  graph.is_judged = false;  // other times will be learned
  bool may_be = !graph.kept && graph.before && !graph.is_placed_by_times;
  graph.is_by_times_now = may_be && knows_times(graph, *graph.before->plan);
  bool is_new = !graph.before || (graph.recorded <= 2 && !graph.is_placed_by_times && !graph.is_learned_anew);
  graph.is_placed_now = graph.is_by_times_now || (!graph.kept && is_new);
}

// The tasks stay at their nodes until their times are known: the iteration recorded now equals the plan that was given
// up. (Some times may never be known, such as those of first runs on their nodes.)
bool Graphs::awaits_times(const Graph& graph) {
  constexpr uint64_t kMostRecorded = 4;
  return graph.is_learned_anew && !graph.is_placed_by_times && graph.recorded < kMostRecorded;
}

// Whether the times of most of the plan's tasks are known. A node's first task of a kernel does not count.
bool Graphs::knows_times(const Graph& graph, const Plan& plan) {
  constexpr double kMost = 0.75;
  if (static_cast<double>(graph.timed) < kMost * static_cast<double>(plan.tasks.count())) return false;
  uint64_t tasks = 0, known = 0;
  for (size_t at = 0; at < plan.tasks.count(); ++at) {
    if (plan.tasks[at].node == 0) continue;
    ++tasks;
    known += at < graph.times.count() && graph.times[at].node != 0 ? 1 : 0;
  }
  return known != 0 && static_cast<double>(known) >= kMost * static_cast<double>(tasks);
}

// Called when the graph may get other tasks or other nodes: the times are stored by place in the iteration, and are not
// valid any more.
void Graphs::forget_times(Graph& graph) {
  graph.times.clear();
  graph.timed = 0;
  graph.is_judged = false;
  graph.is_placed_by_times = graph.is_by_times_now = graph.is_learned_anew = false;
}

void Graphs::judge_replays(GraphNumber number, bool is_uneven) {
  Graph& graph = graph_of(number);
  if (!is_uneven) {
    if (graph.times_over_limit != 0) --graph.times_over_limit;
    return;
  }
  forget_times(graph);
  graph.is_learned_anew = true;
  graph.times_over_limit += graph.times_over_limit < kMostDoublings ? 1 : 0;
}

bool Graphs::sum_times(GraphNumber number, Times& times) {
  Graph& graph = graph_of(number);
  bool may_be = graph.kept && !graph.is_placed_by_times && !graph.is_judged;
  if (!may_be || !knows_times(graph, *graph.kept)) return false;
  graph.is_judged = true;
  const Plan& plan = *graph.kept;
  double sum = 0, known = 0;
  for (size_t at = 0; at < std::min(plan.tasks.count(), graph.times.count()); ++at) {
    if (plan.tasks[at].node == 0 || graph.times[at].node == 0) continue;
    sum += graph.times[at].time;
    ++known;
  }
  for (size_t node = 0; node < plan.parts.count(); ++node) times.loads.push(0);
  for (size_t at = 0; at < plan.tasks.count(); ++at) {
    const PlanTask& task = plan.tasks[at];
    if (task.node == 0) continue;
    ++times.tasks;
    times.kinds |= task.kinds;
    bool is_known = at < graph.times.count() && graph.times[at].node != 0;
    double time = is_known ? graph.times[at].time : sum / known;
    times.loads[task.node] += time;
    if (time > times.longest) times.longest = time;
  }
  return true;
}

bool Graphs::sum_replays(GraphNumber number, uint64_t iterations, Times& times) {
  Graph& graph = graph_of(number);
  if (!graph.kept) return false;
  Plan& plan = *graph.kept;
  if (plan.ran < iterations << graph.times_over_limit) return false;
  for (Plan::Part& part : plan.parts) {
    times.loads.push(part.ran / static_cast<double>(plan.ran));
    times.planned.push(part.planned);
    part.ran = 0;
  }
  times.tasks = plan.tasks.count();
  plan.ran = 0;
  return true;
}

// Whether the plan can be replayed: the directory is in the state in which the plan's iteration began. The last
// iteration may have been recorded, after one that differs. A plan names tasks by their ranks, so it can be replayed
// only if it has the same tasks as that iteration.
bool Graphs::can_replay(Graph& graph, bool has_ended, List<uint64_t>& state) {
  if (!graph.kept || (graph.kept->has_barrier && !has_ended)) return false;
  bool is_known = graph.before && graph.before->plan->knows_before;
  return is_known && is_equal(graph.kept->start, state) && graph.before->plan->has_tasks_of(*graph.kept);
}

// Describes the directory's state after the iteration `last` as a list of numbers. Tasks of this iteration are
// described by node and rank, and ended tasks only by their node. So two states with equal lists differ only in the
// iteration to which their tasks belong, and in which of a node's ended tasks is meant.
bool Graphs::describe(const Iteration& last, bool has_ended, List<uint64_t>& state) {
  constexpr uint64_t kEnded = uint64_t{1} << 32, kLast = uint64_t{2} << 32, kOther = uint64_t{3} << 32;
  state.push(has_ended);
  auto name = [&](const TaskPlace& place, List<uint64_t>& words) {
    uint64_t at = 0;
    bool is_last = last.find(place, at), is_over = !is_last && ends_.of_place(ends_.head, place);
    words.push((is_last ? kLast : is_over ? kEnded : kOther) | place.node);
    words.push(is_last ? last.plan->tasks[at].rank : is_over ? 0 : place.index);
  };
  auto name_writer = [&](TaskNumber writer, const TaskPlace& place, List<uint64_t>& words) {
    uint64_t at = 0;
    bool is_over = last.find(writer, at) ? has_ended : ends_.of_task(ends_.head, writer);
    if (!is_over) name(place, words);
  };
  for (uint64_t buffer : last.plan->buffers) {
    if (!directory_.describe(buffer, name, name_writer, state)) return false;
  }
  return true;
}

// All copies of buffers that the plan needs exist on its nodes, because dropping one would have disturbed the plan.
// They stay as long as the plan is kept.
void Graphs::keep(Graph& graph) {
  Plan& plan = *graph.before->plan;
  if (plan.tasks.is_empty()) return;
  plan.close_uses();
  retire(graph);
  graph.kept = graph.before->plan;
  plan.number = next_plan_++;
  for (const CopyUse& use : plan.uses) {
    assert(copies_.has_copy(use.buffer, use.node));
    copies_.begin_use(use.buffer, use.node);
  }
  for (uint64_t buffer : plan.buffers) directory_.keep(buffer);
  for (NodeNumber node : plan.members) {
    Message& message = messages.push({});
    message.kind = MessageKind::kPlan;
    message.to = node;
    plan.write_share(node, message);
  }
  for (PlanTask& task : plan.tasks) {  // the nodes have got these lists
    task.step.accesses = {};
    task.step.waits_for = {};
  }
  graph.recorded = 0;
  ++counts.kept;
}

// Gives up the graph's plan. Called only while the directory's state needs no `settle` for this graph. The copies of
// buffers that the plan uses stay until no replay uses them any more.
void Graphs::retire(Graph& graph) {
  if (!graph.kept) return;
  for (uint64_t buffer : graph.kept->buffers) directory_.end_keep(buffer);
  for (NodeNumber node : graph.kept->members) {
    Message& message = messages.push({});
    message.kind = MessageKind::kUnplan;
    message.to = node;
    message.index = graph.kept->number;
  }
  retired_.push(graph.kept);
  graph.kept = {};
  free_retired();
}

bool Graphs::is_used(const Shared<Plan>& plan) const {
  for (const Replay& replay : replays_) {
    if (replay.iteration->plan == plan) return true;
  }
  return false;
}

void Graphs::free_retired() {
  for (size_t i = retired_.count(); i-- > 0;) {
    if (is_used(retired_[i])) continue;
    for (const CopyUse& use : retired_[i]->uses) {
      if (copies_.end_use(use.buffer, use.node)) gone_buffers.push(use.buffer);
    }
    retired_.erase(i);
  }
}

void Graphs::remove(GraphNumber number) {
  if (replaying_ == number) cut();
  if (unsettled_ == number) settle();
  Graph& graph = graph_of(number);
  retire(graph);
  graphs_.erase(&graph);
}

bool Graphs::forget_idle_plan() {
  bool is_found = false;
  graphs_.for_each([&](Graph& graph) {
    if (is_found || !graph.kept || is_used(graph.kept)) return;
    if (unsettled_ == graph.number) settle();
    retire(graph);
    forget_times(graph);
    is_found = true;
  });
  return is_found;
}

uint64_t Graphs::note_created(GraphNumber number, TaskNumber task) {
  Graph& graph = graph_of(number);
  if (!is_recording(graph)) return kNoPlace;
  graph.now->numbers.push(task);
  return graph.now->numbers.count() - 1;
}

// The ends of the tasks of a recorded iteration do not count. The same holds for the tasks of the iteration before,
// unless the graph has a barrier. So the plan is right in later iterations, whatever ends node 0 knows then.
bool Graphs::counts_as_ended(const Graph& graph, TaskNumber task) {
  uint64_t at = 0;
  if (graph.now->find(task, at)) return false;
  if (!graph.now->plan->has_barrier && graph.before && graph.before->find(task, at)) return false;
  return ends_.of_task(ends_.head, task);
}

bool Graphs::has_ended(GraphNumber number, TaskNumber task) {
  Graph& graph = graph_of(number);
  bool is_recorded = is_recording(graph) && graph.now->plan->is_fit;
  return is_recorded ? counts_as_ended(graph, task) : ends_.of_task(ends_.head, task);
}

bool Graphs::find_place(GraphNumber number, TaskNumber task, TaskPlace& place) {
  Graph& graph = graph_of(number);
  uint64_t at = 0;
  if (!is_recording(graph) || !graph.now->plan->is_fit) return false;
  for (const Shared<Iteration>& iteration : {graph.now, graph.before}) {
    if (!iteration || !iteration->find(task, at)) continue;
    place = iteration->place_of(at);
    return true;
  }
  return false;
}

NodeNumber Graphs::node_before(const NewTask& made, uint64_t at) {
  Graph& graph = graph_of(made.graph);
  if (!is_recording(graph)) return kAnyNode;
  if (graph.is_placed_now || (!graph.kept && !graph.before)) return kAnyNode;
  const List<PlanTask>& before = graph.kept ? graph.kept->tasks : graph.before->plan->tasks;
  if (at >= before.count() || before[at].kernel != made.kernel || before[at].kinds != made.kinds) return kAnyNode;
  return before[at].node != 0 ? before[at].node : kAnyNode;
}

Graphs::Before Graphs::find_before(const NewTask& made, uint64_t at, uint64_t bytes) {
  Before found;
  Graph& graph = graph_of(made.graph);
  if (!is_recording(graph) || !graph.before) return found;
  const List<PlanTask>& before = graph.before->plan->tasks;
  if (at >= before.count() || before[at].kernel != made.kernel || before[at].kinds != made.kinds) return found;
  found.node = before[at].node;
  if (at >= graph.times.count() || graph.times[at].bytes != bytes) return found;
  found.timed_at = graph.times[at].node;
  found.time = graph.times[at].time;
  return found;
}

// Times are stored by place in the iteration. If an iteration has other tasks, or another graph had the number before,
// the time belongs to another task, and only makes the plan worse.
void Graphs::note_time(GraphNumber number, uint64_t at, uint64_t bytes, NodeNumber node, double time) {
  Graph* graph = graphs_.find(number);
  if (graph == nullptr) return;  // the graph has been removed meanwhile
  while (graph->times.count() <= at) graph->times.push({});
  if (graph->times[at].node == 0) ++graph->timed;
  graph->times[at] = {time, bytes, node};
}

void Graphs::record(const NewTask& made, const Message& assignment, double load, double time) {
  Graph& graph = graph_of(made.graph);
  if (!is_recording(graph) || !graph.now->plan->is_fit) return;
  const Iteration unknown;
  const Iteration& before = graph.before ? *graph.before : unknown;
  Iteration& now = *graph.now;
  Plan& plan = *now.plan;
  // A task of the iteration before that had to wait for room may come between this iteration's tasks.
  size_t next = plan.tasks.count();
  if (next == now.numbers.count() || now.numbers[next] != assignment.task) {
    plan.is_fit = false;
    return;
  }
  PlanTask task;
  uint64_t at = 0;
  for (TaskNumber predecessor : made.predecessors) {
    bool is_now = now.find(predecessor, at);
    // A later iteration will not have this predecessor.
    if (!is_now && !before.find(predecessor, at)) plan.is_fit = false;
    if (!plan.is_fit) return;
    const PlanTask& other = (is_now ? now : before).plan->tasks[at];
    task.predecessors.push({is_now ? Era::kNow : Era::kBefore, other.node, other.rank});
  }
  const TaskPlace place = {assignment.to, assignment.index};
  plan.is_fit = plan.add_place(place, task);
  if (!plan.is_fit) return;
  while (now.firsts.count() < plan.parts.count()) now.firsts.push(0);
  now.firsts[place.node] = plan.parts[place.node].first;
  plan.parts[place.node].load += load;
  plan.parts[place.node].planned += time;
  task.kernel = made.kernel;
  task.kinds = made.kinds;
  for (const TaskAccess& access : made.accesses) {
    task.accesses.push(access);
    plan.add_buffer(access.range.buffer);
  }
  PlanStep& step = task.step;
  step.task = plan.tasks.count();
  step.predecessors = assignment.predecessors;
  for (const TaskPlace& other : assignment.waits_for) step.waits_for.push(name_place(other, now, before));
  for (const PlannedAccess& access : assignment.accesses) {
    PlanPlace source = {Era::kFixed, place.node, 0};
    step.accesses.push({access, access.is_fetched ? name_place(access.source, now, before) : source});
  }
  for (uint64_t word : made.words) step.words.push(word);
  plan.tasks.push(std::move(task));
  now.count = plan.tasks.count();
}

void Graphs::record_use(GraphNumber number, const CopyUse& use) {
  Graph& graph = graph_of(number);
  if (is_recording(graph) && graph.now->plan->is_fit) graph.now->plan->uses.push(use);
}

void Graphs::disturb(uint64_t buffer, GraphNumber by) {
  if (directory_.is_kept(buffer)) {
    settle();
    graphs_.for_each([](Graph& graph) { graph.is_disturbed = true; });
  }
  graphs_.for_each([&](Graph& graph) {
    if (graph.number == by || !is_recording(graph)) return;
    Plan& plan = *graph.now->plan;
    bool is_complete = !graph.is_open && plan.tasks.count() == graph.now->numbers.count();
    if (!is_complete || plan.uses_buffer(buffer)) plan.is_fit = false;
  });
}

void Graphs::disturb_end(uint64_t buffer) {
  disturb(buffer, 0);
  graphs_.for_each([&](Graph& graph) {
    if (!graph.kept || !graph.kept->uses_buffer(buffer)) return;
    retire(graph);
    forget_times(graph);
  });
}

}  // namespace marline::offload::cluster
