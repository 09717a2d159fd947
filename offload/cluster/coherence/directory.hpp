// SPDX-License-Identifier: Apache-2.0
//
// Where the bytes of each buffer are: who fetches them from whom, and who merges what tasks without order have written.
// A pure state machine of node 0, asked once per access, in the order of creation.
//
// Every range has a home. Invariant: what tasks that have ended have written is in the home's copy, or on its way to it
// in front of whatever can ask for it. A task moves the home to its own node if it is ordered behind all others that
// may write the range and have not ended; any other writer leaves the home where it is, and sends it what it has
// written.
#pragma once

#include "cluster/base/message.hpp"
#include "cluster/base/numbered.hpp"
#include "cluster/base/ordered.hpp"

namespace marline::offload::cluster {

struct PlannedTask {
  TaskNumber number;
  TaskPlace place;
  const List<TaskNumber>* predecessors;  // those that have not ended, ascending
  // No task with this number or a higher one is ordered before this one, in the order of creation, which is that of
  // planning. kNotKnown: nothing is known of that.
  TaskNumber unordered_from = kNotKnown;
  static constexpr TaskNumber kNotKnown = ~TaskNumber{0};
};

class Directory {
 public:
  // The bytes have come into being: undefined, with their home at `home`, which need not wait for anybody.
  void add(uint64_t buffer, uint64_t bytes);
  // No task will use it any more.
  void remove(uint64_t buffer);

  // Appends what the task has to do for one access: one entry per range that has a history of its own.
  // `has_ended(task)`: node 0 knows that it has. Appends to `covered` predecessors for whose ends the coming of the
  // bytes stands; it may name one twice.
  template <class HasEnded>
  void plan(const PlannedTask& task, const TaskAccess& access, const HasEnded& has_ended, List<PlannedAccess>& accesses,
            List<TaskNumber>& covered);

  // How many of the bytes the node has, or will have, without a transfer.
  [[nodiscard]] uint64_t bytes_at(const ClusterRange& range, NodeNumber node);
  // How many somebody has and the node has not.
  [[nodiscard]] uint64_t bytes_missing(const ClusterRange& range, NodeNumber node) {
    return find(range.buffer) == nullptr ? 0 : range.bytes - bytes_at(range, node);
  }
  // Appends nodes that have some of them, at most three for each range that has a history of its own.
  void add_holders(const ClusterRange& range, List<NodeNumber>& holders);

  // Ranges that have a history of their own.
  [[nodiscard]] size_t count_ranges(uint64_t buffer) { return find(buffer)->segments.count(); }

  // How many have another home, or none.
  [[nodiscard]] uint64_t bytes_elsewhere(const ClusterRange& range, NodeNumber node);

  // For eviction, while no task under way uses the node's copy:
  [[nodiscard]] bool is_home(uint64_t buffer, NodeNumber node);
  void forget_holder(uint64_t buffer, NodeNumber node);

  // For replay: a plan that is kept uses the buffer.
  void keep(uint64_t buffer) { ++find(buffer)->plans; }
  void end_keep(uint64_t buffer);
  [[nodiscard]] bool is_kept(uint64_t buffer) {
    Buffer* found = find(buffer);
    return found != nullptr && found->plans != 0;
  }
  // Calls rename(place, number) for each place; `number` is null where the task's number is not kept.
  template <class Rename>
  void rename(uint64_t buffer, const Rename& rename);
  // Forgets writers that have ended.
  template <class HasEnded>
  void forget_ended(uint64_t buffer, const HasEnded& has_ended);
  // Appends the buffer's state. name_writer(writer, place, words) and name(place, words) append what a task is called
  // there. False: there is no such buffer.
  template <class Name, class NameWriter>
  [[nodiscard]] bool describe(uint64_t buffer, const Name& name, const NameWriter& name_writer, List<uint64_t>& words);

 private:
  struct Writer {
    TaskNumber number;
    TaskPlace place;
  };
  struct Segment {
    uint64_t begin = 0, end = 0;
    TaskPlace home;  // and the task whose inputs made it one
    TaskNumber home_number = 0;
    bool has_home = false;    // else nobody has written it
    List<Writer> writers;     // that have not ended and no later one is ordered behind: at most those under way
    List<Writer> readers;     // tasks that are ordered behind all these writers: at most those under way; none without
                              // writers
    List<TaskPlace> holders;  // tasks whose inputs are all that these writers have written; one per node
    // If a task is ordered behind none that has been planned since the home was taken, its inputs are all that the
    // home's task has got. Those are the companions, one per node; all planned since have `unordered_behind` or a
    // higher number. kNotKnown: there are none.
    TaskNumber unordered_behind = PlannedTask::kNotKnown;
    List<TaskPlace> companions;
  };
  struct Buffer {
    uint64_t number = 0;
    uint64_t plans = 0;         // that are kept and use it
    Ordered<Segment> segments;  // without gaps; neighbours with one history are joined when a task uses them
  };

  Buffer* find(uint64_t number) { return buffers_.find(number); }
  static Segment* split(Buffer& buffer, uint64_t at);
  // True: the task is ordered behind all writers that have not ended. Appends to `before` those of them that are its
  // predecessors.
  template <class HasEnded>
  static bool order(Segment& segment, const PlannedTask& task, const HasEnded& has_ended, List<TaskNumber>& before);
  static void plan_fetch(const Segment& segment, const PlannedTask& task, bool is_ordered, PlannedAccess& access);
  // Forgets what has ended.
  template <class HasEnded>
  static void tidy(Segment& segment, const HasEnded& has_ended);
  // Joins neighbours in the range and at its ends.
  template <class HasEnded>
  static void join(Buffer& buffer, const ClusterRange& range, const HasEnded& has_ended);
  static bool are_alike(const Segment& a, const Segment& b);
  static bool is_among(TaskNumber task, const List<TaskNumber>& tasks);
  static void plan_home(Segment& segment, const PlannedTask& task, bool is_ordered, PlannedAccess& access);
  static bool find_holder(const List<TaskPlace>& holders, NodeNumber node, TaskPlace& source);
  static bool is_companion(const Segment& segment, const PlannedTask& task);
  static void add_holder(List<TaskPlace>& holders, const TaskPlace& place);
  static void remove_holder(List<TaskPlace>& holders, NodeNumber node);
  static void forget_companions(Segment& segment);

  Numbered<Buffer> buffers_;  // as many as variables are mapped
};

template <class HasEnded>
void Directory::tidy(Segment& segment, const HasEnded& has_ended) {
  for (size_t w = segment.writers.count(); w-- > 0;) {
    if (has_ended(segment.writers[w].number)) segment.writers.erase(w);
  }
  if (segment.writers.is_empty()) segment.readers.clear();
}

template <class HasEnded>
bool Directory::order(Segment& segment, const PlannedTask& task, const HasEnded& has_ended, List<TaskNumber>& before) {
  tidy(segment, has_ended);
  bool is_ordered = true;
  for (const Writer& writer : segment.writers) {
    if (writer.number == task.number) continue;  // of another access to these bytes
    bool is_before = is_among(writer.number, *task.predecessors);
    if (is_before) before.push(writer.number);
    is_ordered = is_ordered && is_before;
  }
  // Behind one that is ordered behind all of them.
  for (size_t r = 0; r < segment.readers.count() && !is_ordered; ++r) {
    is_ordered = is_among(segment.readers[r].number, *task.predecessors);
  }
  return is_ordered;
}

template <class HasEnded>
void Directory::join(Buffer& buffer, const ClusterRange& range, const HasEnded& has_ended) {
  Segment* left = buffer.segments.find(range.offset == 0 ? 0 : range.offset - 1);
  tidy(*left, has_ended);
  for (;;) {
    Segment* right = buffer.segments.next(left);
    if (right == nullptr || right->begin > range.end()) return;
    tidy(*right, has_ended);
    // Which task made a node the home does not matter when both have ended.
    bool have_ended = left->has_home && right->has_home && left->home.node == right->home.node &&
                      has_ended(left->home_number) && has_ended(right->home_number);
    if (have_ended) {
      left->home = right->home;
      left->home_number = right->home_number;
      forget_companions(*left);
      forget_companions(*right);
    }
    if (are_alike(*left, *right)) {
      left->end = right->end;
      buffer.segments.erase(right);
    } else {
      left = right;
    }
  }
}

template <class HasEnded>
void Directory::plan(const PlannedTask& task, const TaskAccess& wanted, const HasEnded& has_ended,
                     List<PlannedAccess>& accesses, List<TaskNumber>& covered) {
  const ClusterRange& range = wanted.range;
  Buffer* buffer = find(range.buffer);
  assert(buffer != nullptr && range.bytes != 0);
  Segment* segment = split(*buffer, range.offset);
  split(*buffer, range.end());
  for (; segment != nullptr && segment->begin < range.end(); segment = buffer->segments.next(segment)) {
    PlannedAccess& access = accesses.push({});
    access.range = {range.buffer, segment->begin, segment->end - segment->begin};
    access.may_write = wanted.may_write;
    size_t covered_before = covered.count();
    bool is_ordered = order(*segment, task, has_ended, covered);
    // What is overwritten need not come if all its writers have ended and node 0 has heard of them: so the task's stamp
    // is above theirs, and its bytes are taken for newer wherever they meet.
    bool is_needed = !wanted.overwrites || !segment->writers.is_empty();
    if (is_needed) plan_fetch(*segment, task, is_ordered, access);
    access.is_end = access.is_early && covered.count() != covered_before;
    if (!access.is_end) {
      while (covered.count() != covered_before) covered.pop();
    }
    plan_home(*segment, task, is_ordered, access);
  }
  join(*buffer, range, has_ended);
}

template <class HasEnded>
void Directory::forget_ended(uint64_t buffer, const HasEnded& has_ended) {
  Buffer* found = find(buffer);
  assert(found != nullptr);
  for (Segment* segment = found->segments.first(); segment != nullptr; segment = found->segments.next(segment)) {
    tidy(*segment, has_ended);
  }
}

template <class Rename>
void Directory::rename(uint64_t buffer, const Rename& rename) {
  Buffer* found = find(buffer);
  assert(found != nullptr);
  for (Segment* segment = found->segments.first(); segment != nullptr; segment = found->segments.next(segment)) {
    if (segment->has_home) rename(segment->home, &segment->home_number);
    for (Writer& writer : segment->writers) rename(writer.place, &writer.number);
    for (Writer& reader : segment->readers) rename(reader.place, &reader.number);
    for (TaskPlace& holder : segment->holders) rename(holder, nullptr);
    forget_companions(*segment);
  }
}

template <class Name, class NameWriter>
bool Directory::describe(uint64_t buffer, const Name& name, const NameWriter& name_writer, List<uint64_t>& words) {
  Buffer* found = find(buffer);
  if (found == nullptr) return false;
  words.push(buffer);
  size_t before = words.count();  // of the neighbour on the left
  for (Segment* segment = found->segments.first(); segment != nullptr; segment = found->segments.next(segment)) {
    size_t begin = words.count();
    words.push(segment->begin);
    words.push(segment->has_home);
    if (segment->has_home) name(segment->home, words);
    for (const Writer& writer : segment->writers) name_writer(writer.number, writer.place, words);
    words.push(0);
    for (const Writer& reader : segment->readers) name_writer(reader.number, reader.place, words);
    words.push(segment->holders.count());
    for (const TaskPlace& holder : segment->holders) name(holder, words);
    // Whether equal neighbours have been joined does not matter.
    bool is_same = begin != before && words.count() - begin == begin - before;
    for (size_t i = 1; i < words.count() - begin && is_same; ++i) is_same = words[begin + i] == words[before + i];
    if (!is_same) before = begin;
    while (is_same && words.count() != begin) words.pop();
  }
  return true;
}

}  // namespace marline::offload::cluster
