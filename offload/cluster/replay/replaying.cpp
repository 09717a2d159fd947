// SPDX-License-Identifier: Apache-2.0
//
// Replays iterations; graphs.hpp explains how.
#include "cluster/replay/graphs.hpp"

namespace marline::offload::cluster {

Graphs::Replay* Graphs::find(TaskNumber replayed) {
  for (Replay& replay : replays_) {
    const Iteration& iteration = *replay.iteration;
    if (replayed - iteration.first_number < iteration.plan->tasks.count()) return &replay;
  }
  return nullptr;
}

void Graphs::begin_replay(Graph& graph, const List<uint64_t>& assigned) {
  const Plan& plan = *graph.kept;
  if (unsettled_ == 0) {
    graph.named = graph.before;
    // Writers that stay in the lists count as in flight in all replays, also in `settle`: a node that fetched while a
    // writer ran does not have that writer's bytes, even if node 0 knows by then that the writer has ended.
    auto has_ended = [&](TaskNumber task) {
      uint64_t at = 0;
      return graph.before->find(task, at) ? plan.has_barrier : ends_.of_task(ends_.head, task);
    };
    for (uint64_t buffer : plan.buffers) directory_.forget_ended(buffer, has_ended);
  }
  unsettled_ = replaying_ = graph.number;
  graph.is_disturbed = false;
  graph.now = Shared<Iteration>::make();
  Iteration& now = *graph.now;
  now.plan = graph.kept;
  for (size_t node = 0; node < plan.parts.count(); ++node) now.firsts.push(assigned[node]);
  now.first_number = next_number_;
  next_number_ += plan.tasks.count();
  while (graph.progress.count() < plan.members.count()) graph.progress.push({});
  for (Progress& progress : graph.progress) progress.reached = progress.confirmed = 0;
  Replay& replay = replays_.push({graph.now, graph.before, 0, false, {}, {now.plan, now.first_number, {}}});
  replay.ran.swap(spare_);
  replay.ran.clear();
  replay.old.words.swap(spare_words_);
  replay.old.words.clear();
  for (size_t i = 0; i < plan.members.count(); ++i) replay.ran.push(0);
}

bool Graphs::is_next(const NewTask& task) {
  if (replaying_ != task.graph) return false;
  const Iteration& now = *graph_of(task.graph).now;
  return now.plan->has_task(now.count, task);
}

const Plan* Graphs::kept(GraphNumber number) {
  Graph& graph = graph_of(number);
  return graph.kept ? &*graph.kept : nullptr;
}

const PlanTask& Graphs::task_of(TaskNumber replayed) {
  const Iteration& iteration = *find(replayed)->iteration;
  return iteration.plan->tasks[replayed - iteration.first_number];
}

void Graphs::list_open_predecessors(TaskNumber replayed, List<TaskNumber>& after) {
  const Replay& replay = *find(replayed);
  for (const PlanPlace& place : task_of(replayed).predecessors) {
    const Iteration& of = place.era == Era::kNow ? *replay.iteration : *replay.before;
    after.push(of.number_of(of.plan->parts[place.node].tasks[place.rank]));
  }
}

// The plan's steps have the driver's words (PlanStep::words) of its last replay. So the changes of the replays after
// this one are undone, the last replay's first.
void Graphs::list_words(TaskNumber replayed, List<uint64_t>& words) {
  const Iteration& of = *find(replayed)->iteration;
  const uint64_t task = replayed - of.first_number;
  for (uint64_t word : of.plan->tasks[task].step.words) words.push(word);
  const OldWords* last = nullptr;
  auto look_at = [&](const OldWords& one, const OldWords* before) {
    bool is_next = before == nullptr || one.first_number < before->first_number;
    bool is_later = one.first_number > of.first_number;
    bool is_last = last == before || one.first_number > last->first_number;
    if (is_next && is_later && is_last && one.plan == of.plan) last = &one;
  };
  for (const OldWords* before = nullptr;; before = last) {
    for (const Replay& replay : replays_) look_at(replay.old, before);
    for (const OldWords& old : ended_words_) look_at(old, before);
    if (last == before) return;
    for (const OldWord& old : last->words) {
      if (old.task == task) words[old.word] = old.value;
    }
  }
}

// Takes the next task of the replay. The driver's words of all tasks do not fit into the nearest cache, so they are
// prefetched some tasks ahead.
PlanTask& Graphs::take_next(Graph& graph) {
  constexpr uint64_t kSubmission = 4;
  List<PlanTask>& tasks = graph.now->plan->tasks;
  if (graph.now->count + kSubmission < tasks.count())
    __builtin_prefetch(tasks[graph.now->count + kSubmission].step.words.begin());
  PlanTask& task = tasks[graph.now->count++];
  ++graph.progress[task.member].reached;
  return task;
}

void Graphs::set_word(Graph& graph, PlanTask& task, uint64_t at, uint64_t value) {
  assert(at < task.step.words.count());
  if (task.step.words[at] == value) return;
  if (replays_.count() > 1) replays_.back().old.words.push({task.step.task, at, task.step.words[at]});
  task.step.words[at] = value;
  Share::write_change(task.rank, at, value, graph.progress[task.member].changes);
}

bool Graphs::replay_next(GraphNumber number, const uint64_t* words, size_t count) {
  if (replaying_ != number) return false;
  Graph& graph = graph_of(number);
  const List<PlanTask>& tasks = graph.now->plan->tasks;
  if (graph.now->count == tasks.count() || tasks[graph.now->count].step.words.count() != count) {
    cut();
    return false;
  }
  PlanTask& task = take_next(graph);
  for (size_t i = 0; i < count; ++i) set_word(graph, task, i, words[i]);
  return true;
}

bool Graphs::replay_next_with(GraphNumber number, const ChangedWord* changed, size_t count, uint32_t first) {
  if (replaying_ != number) return false;
  Graph& graph = graph_of(number);
  if (graph.now->count == graph.now->plan->tasks.count()) {
    cut();
    return false;
  }
  PlanTask& task = take_next(graph);
  for (size_t i = 0; i < count; ++i) set_word(graph, task, first + changed[i].word, changed[i].value);
  return true;
}

bool Graphs::replay_all(GraphNumber number) {
  if (replaying_ != number) return false;
  Graph& graph = graph_of(number);
  const Plan& plan = *graph.now->plan;
  assert(graph.now->count == 0);
  if (!(graph.before->plan == graph.now->plan)) {  // the iteration before was recorded, and may have other words
    for (const PlanTask& task : graph.before->plan->tasks) {
      if (!replay_next(number, task.step.words.begin(), task.step.words.count())) return false;
    }
    return true;
  }
  graph.now->count = plan.tasks.count();
  for (size_t i = 0; i < plan.members.count(); ++i) {
    graph.progress[i].reached = plan.parts[plan.members[i]].tasks.count();
  }
  return true;
}

void Graphs::confirm() {
  if (replaying_ == 0) return;
  Graph& graph = graph_of(replaying_);
  const Iteration &now = *graph.now, &before = *graph.before;
  const Plan& plan = *now.plan;
  for (size_t i = 0; i < plan.members.count(); ++i) {
    NodeNumber node = plan.members[i];
    Progress& progress = graph.progress[i];
    if (progress.reached == progress.confirmed) continue;
    Message& message = messages.push({});
    message.kind = MessageKind::kReplay;
    message.to = node;
    message.index = plan.number;
    message.count = progress.reached - progress.confirmed;
    message.task = now.first_number;
    Share::write_batch({now.first_number, progress.confirmed, progress.reached, now.firsts[node]}, message.words);
    for (NodeNumber peer : plan.parts[node].peers) {
      Share::write_peer(now.first_of(peer), before.first_of(peer), message.words);
    }
    for (uint64_t word : progress.changes) message.words.push(word);
    progress.changes.clear();
    progress.confirmed = progress.reached;
    find(now.first_number)->open += message.count;
  }
}

// The replay gets no more tasks.
void Graphs::complete_replay(Graph& graph) {
  Replay* replay = find(graph.now->first_number);
  replay->is_complete = true;
  replaying_ = 0;
  if (replay->open == 0) end_batch(graph.now->first_number, 0, 0, 0);
}

void Graphs::end(GraphNumber number) {
  Graph& graph = graph_of(number);
  graph.is_open = false;
  if (replaying_ != number) return;
  if (graph.now->count != graph.now->plan->tasks.count()) return cut();
  confirm();
  complete_replay(graph);
  ++counts.replayed;
}

// Tasks that have been replayed stay. The directory gets the state that these tasks leave, so later tasks are planned
// after them.
void Graphs::cut() {
  if (replaying_ == 0) return;
  Graph& graph = graph_of(replaying_);
  confirm();
  settle();
  complete_replay(graph);
  graph.now = {};
  ++counts.cut;
}

// First gives the directory the state in which the last replay began: the present state refers to tasks of the
// iteration `named`, and is made to refer to the corresponding tasks of the iteration before the last replay. Then adds
// what the last replay's tasks have done. The state after an iteration would not be right: tasks that were in flight
// there may have ended when the replay began, and would count again.
void Graphs::settle() {
  if (unsettled_ == 0) return;
  Graph& graph = graph_of(unsettled_);
  unsettled_ = 0;
  graphs_.for_each([](Graph& other) { other.is_disturbed = true; });
  const Iteration &before = *graph.before, &named = *graph.named;
  auto rename = [&](TaskPlace& place, TaskNumber* writer) {
    uint64_t at = 0;
    if (!named.find(place, at)) return;
    place = before.place_of(at);
    if (writer != nullptr) *writer = before.number_of(at);
  };
  if (!(graph.named == graph.before)) {
    for (uint64_t buffer : graph.kept->buffers) directory_.rename(buffer, rename);
  }
  graph.named = {};
  plan_replayed(graph);
}

// Plans the last replay's tasks in the directory as usual, with what node 0 knew when the first replay began.
void Graphs::plan_replayed(Graph& graph) {
  const Iteration &now = *graph.now, &before = *graph.before;
  auto has_ended = [](TaskNumber) { return false; };
  List<PlannedAccess> accesses;
  List<TaskNumber> predecessors, covered;
  for (uint64_t at = 0; at < now.count; ++at) {
    const PlanTask& task = now.plan->tasks[at];
    predecessors.clear();
    for (const PlanPlace& place : task.predecessors) {
      const Iteration& of = place.era == Era::kNow ? now : before;
      predecessors.push(of.number_of(of.plan->parts[place.node].tasks[place.rank]));
    }
    PlannedTask planned = {now.number_of(at), now.place_of(at), &predecessors};
    for (const TaskAccess& access : task.accesses) {
      directory_.plan(planned, access, has_ended, accesses, covered);
    }
    accesses.clear();
    covered.clear();
  }
}

TaskPlace Graphs::place_of(TaskNumber replayed) {
  const Iteration& iteration = *find(replayed)->iteration;
  return iteration.place_of(replayed - iteration.first_number);
}

TaskNumber Graphs::number_of(GraphNumber number, uint64_t task) { return graph_of(number).now->number_of(task); }

double Graphs::load_of(TaskNumber replayed, NodeNumber node, uint64_t count) {
  const Plan::Part& part = find(replayed)->iteration->plan->parts[node];
  return part.load * static_cast<double>(count) / static_cast<double>(part.tasks.count());
}

void Graphs::end_batch(TaskNumber replayed, NodeNumber node, uint64_t count, double time) {
  Replay* replay = find(replayed);
  replay->open -= count;
  Plan& plan = *replay->iteration->plan;
  if (count != 0) replay->ran[plan.parts[node].member] += time;
  if (!replay->is_complete || replay->open != 0) return;
  if (replay->iteration->count == plan.tasks.count()) {  // it has not been cut
    ++plan.ran;
    for (size_t i = 0; i < plan.members.count(); ++i) plan.parts[plan.members[i]].ran += replay->ran[i];
  }
  completed.push(replay->iteration->first_number);
  spare_.swap(replay->ran);
  bool is_oldest = replay == replays_.begin();
  if (is_oldest || replay->old.words.is_empty()) {
    spare_words_.swap(replay->old.words);
  } else {
    ended_words_.push(std::move(replay->old));
  }
  replays_.erase(static_cast<size_t>(replay - replays_.begin()));
  if (replays_.is_empty()) ended_words_.clear();
  free_retired();
}

}  // namespace marline::offload::cluster
