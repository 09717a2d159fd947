// SPDX-License-Identifier: Apache-2.0
//
// Creates and replays the iterations of persistent graphs on the simulated machine.
#include "machine.hpp"

#include <algorithm>

namespace marline::offload::cluster::simulation {

// Begins an iteration as a program does, with its constructs and the constructs of the previous iteration.
void Machine::begin_iteration(size_t number) {
  const Construct& construct = program_.constructs[number];
  Loop& loop = loops_[construct.loop];
  loop.before.swap(loop.now);
  loop.now.clear();
  loop.is_replay = head_.begin_iteration(static_cast<GraphNumber>(construct.loop), construct.waits_for_iterations);
  const Plan* plan = loop.is_replay ? head_.kept_plan(static_cast<GraphNumber>(construct.loop)) : nullptr;
  loop.has_words = plan != nullptr && plan->number == loop.plan;
  loop.plan = plan != nullptr ? plan->number : 0;
  loop.is_whole = loop.is_replay && draw(2) == 0 && is_repeated_as_a_whole(number, loop.before);
  if (loop.is_whole && !head_.replay_all(static_cast<GraphNumber>(construct.loop))) std::abort();
  open_loop_ = construct.loop;
}

void Machine::end_iteration(const Construct& construct) {
  auto graph = static_cast<GraphNumber>(construct.loop);
  if (!construct.ends_iteration) {
    if (!loops_[construct.loop].is_whole && draw(5) == 0) head_.confirm();
    return;
  }
  head_.end_iteration(graph);
  Loop& loop = loops_[construct.loop];
  if (!loop.is_replay || loop.now.size() != loop.before.size()) loop.plan = 0;
  open_loop_ = 0;
  if (construct.ends_loop && draw(2) == 0) head_.end_graph(graph);
}

// The positions of a task's predecessors in its iteration (from 0 on) and in the previous one (below 0). False: a
// predecessor is in neither and has not ended.
bool Machine::relate(size_t number, const std::vector<size_t>& now, const std::vector<size_t>& before) {
  std::vector<std::ptrdiff_t>& relation = relations_[number];
  relation.clear();
  bool is_alone = true;
  for (int predecessor : program_.constructs[number].predecessors) {
    auto in = [&](const std::vector<size_t>& list) {
      return std::find(list.begin(), list.end(), static_cast<size_t>(predecessor));
    };
    if (auto at = in(now); at != now.end()) {
      relation.push_back(at - now.begin());
    } else if (at = in(before); at != before.end()) {
      if (!program_.constructs[number].waits_for_iterations) relation.push_back(-1 - (at - before.begin()));
    } else {
      is_alone = is_alone && head_.has_ended(last_of_construct_[static_cast<size_t>(predecessor)]);
    }
  }
  return is_alone;
}

// Whether the iteration before has the same task at this position.
bool Machine::is_repeated(size_t number, size_t position, const std::vector<size_t>& now,
                          const std::vector<size_t>& before) {
  if (!relate(number, now, before) || position >= before.size()) return false;
  const Construct &one = program_.constructs[number], &other = program_.constructs[before[position]];
  if (one.kind != other.kind || one.pin != other.pin || one.kinds != other.kinds ||
      one.uses.size() != other.uses.size())
    return false;
  for (size_t i = 0; i < one.uses.size() && one.kind == Kind::kKernel; ++i) {
    const Use &a = one.uses[i], &b = other.uses[i];
    if (a.variable != b.variable || a.may_write != b.may_write) return false;
    if (a.offset != b.offset || a.bytes != b.bytes) return false;
  }
  return relations_[number] == relations_[before[position]];
}

bool Machine::is_repeated_as_a_whole(size_t number, const std::vector<size_t>& before) {
  std::vector<size_t> now;
  for (size_t i = number; i < program_.constructs.size(); ++i) {
    const Construct& construct = program_.constructs[i];
    if (construct.loop != program_.constructs[number].loop || now.size() == before.size()) return false;
    if (construct.words != program_.constructs[before[now.size()]].words) return false;
    if (!is_repeated(i, now.size(), now, before)) return false;
    now.push_back(i);
    if (construct.ends_iteration) return now.size() == before.size();
  }
  return false;
}

// Replays the task with a list of changed words if there is one, as a driver may know which words have changed.
bool Machine::is_replayed_again(const Construct& construct, size_t position) {
  const Loop& loop = loops_[construct.loop];
  auto graph = static_cast<GraphNumber>(construct.loop);
  bool is_known = loop.has_words && position < loop.before.size();
  if (!is_known || draw(2) == 0) return head_.replay_next(graph, construct.words.data(), construct.words.size());
  const std::vector<uint64_t>& before = program_.constructs[loop.before[position]].words;
  if (before.size() != construct.words.size())
    return head_.replay_next(graph, construct.words.data(), construct.words.size());
  std::vector<ChangedWord> changed;
  for (size_t i = 0; i < before.size(); ++i) {
    bool is_changed = before[i] != construct.words[i] || draw(4) == 0;
    if (is_changed) changed.push_back({static_cast<uint32_t>(i), construct.words[i]});
  }
  return head_.replay_next_with(graph, changed.data(), changed.size());
}

TaskNumber Machine::push_in_loop(NewTask task, size_t number) {
  const Construct& construct = program_.constructs[number];
  Loop& loop = loops_[construct.loop];
  auto graph = static_cast<GraphNumber>(construct.loop);
  size_t position = loop.now.size();
  bool is_again = is_repeated(number, position, loop.now, loop.before);
  loop.now.push_back(number);
  auto replayed = [&] {
    TaskNumber again = head_.number_of(graph, position);
    positions_[again] = position;
    return again;
  };
  if (loop.is_whole) return replayed();
  if (loop.is_replay && (!is_again || draw(60) == 0)) head_.cut_iteration();
  if (loop.is_replay && is_replayed_again(construct, position)) return replayed();
  loop.is_replay = false;
  task.graph = graph;
  for (uint64_t word : construct.words) task.words.push(word);
  return head_.create(std::move(task));
}

}  // namespace marline::offload::cluster::simulation
