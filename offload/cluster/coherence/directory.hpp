// SPDX-License-Identifier: Apache-2.0
//
// The directory knows where the bytes of each buffer are: which node fetches them from which node, and which node
// merges the writes of tasks without an order. A pure state machine of node 0, which asks it once per access, in the
// order of creation.
//
// Every range has a home node, which merges what tasks of other nodes write there. Invariant: what ended tasks have
// written is in the home's copy of the buffer, or on its way there and arrives before every message that can ask for
// it. A task moves the home to its own node if it is ordered after all other tasks that may write the range and have
// not ended. Any other writer leaves the home where it is, and sends it what it has written.
#pragma once

#include "cluster/base/message.hpp"
#include "base/id_table.hpp"
#include "cluster/base/ordered.hpp"

namespace marline::offload::cluster {

struct PlannedTask {
  TaskNumber number;
  TaskPlace place;
  const List<TaskNumber>* predecessors;  // the predecessors that have not ended, ascending
  // No task with this number or a higher one is ordered before this task in the order of creation, in which tasks are
  // planned. kNotKnown: such a number is not known.
  TaskNumber unordered_from = kNotKnown;
  static constexpr TaskNumber kNotKnown = ~TaskNumber{0};
};

class Directory {
 public:
  // The bytes begin to exist: undefined, and without a home, so a task need not wait for any other to use them.
  void add(uint64_t buffer, uint64_t bytes);
  // No task will use the buffer any more.
  void remove(uint64_t buffer);

  // Appends what the task has to do for one access: one entry per segment, which is a range of bytes with the same
  // home, writers and readers (Segment). `has_ended(task)`: node 0 knows that the task has ended. Appends
  // predecessors to `covered`: the arrival of the bytes also reports that they have ended. One may be appended twice.
  template <class HasEnded>
  void plan(const PlannedTask& task, const TaskAccess& access, const HasEnded& has_ended, List<PlannedAccess>& accesses,
            List<TaskNumber>& covered);

  // How many of the bytes the node has, or will have, without a transfer.
  [[nodiscard]] uint64_t bytes_at(const ClusterRange& range, NodeNumber node);
  // How many of the bytes exist on some node but not on this one.
  [[nodiscard]] uint64_t bytes_missing(const ClusterRange& range, NodeNumber node) {
    return find(range.buffer) == nullptr ? 0 : range.bytes - bytes_at(range, node);
  }
  // Appends nodes that have some of the bytes, at most three for each segment.
  void add_holders(const ClusterRange& range, List<NodeNumber>& holders);

  // The number of the buffer's segments.
  [[nodiscard]] size_t count_ranges(uint64_t buffer) { return find(buffer)->segments.count(); }

  // How many of the bytes have another home than the node, or none.
  [[nodiscard]] uint64_t bytes_elsewhere(const ClusterRange& range, NodeNumber node);

  // Used when a node's copy of the buffer is dropped to free memory. Called while no task in flight uses this copy.
  [[nodiscard]] bool is_home(uint64_t buffer, NodeNumber node);
  void forget_holder(uint64_t buffer, NodeNumber node);

  // For replay: a kept plan uses the buffer.
  void keep(uint64_t buffer) { ++find(buffer)->plans; }
  void end_keep(uint64_t buffer);
  [[nodiscard]] bool is_kept(uint64_t buffer) {
    Buffer* found = find(buffer);
    return found != nullptr && found->plans != 0;
  }
  // Calls rename(place, number) for each task that the buffer's segments refer to, so that it can replace the task by
  // another one; `number` is null where the task's number is not stored.
  template <class Rename>
  void rename(uint64_t buffer, const Rename& rename);
  // Forgets writers that have ended.
  template <class HasEnded>
  void forget_ended(uint64_t buffer, const HasEnded& has_ended);
  // Appends a description of the buffer's segments to `words`, as a list of numbers. name_writer(writer, place, words)
  // and name(place, words) append the numbers that describe a task. False: there is no such buffer.
  template <class Name, class NameWriter>
  [[nodiscard]] bool describe(uint64_t buffer, const Name& name, const NameWriter& name_writer, List<uint64_t>& words);

 private:
  struct Writer {
    TaskNumber number;
    TaskPlace place;
  };
  struct Segment {
    uint64_t begin = 0, end = 0;
    TaskPlace home;  // the home, and the task whose inputs made its node the home
    TaskNumber home_number = 0;
    bool has_home = false;  // false: no task has written the bytes
    // Writers that have not ended, and that no later writer is ordered after: at most the tasks in flight.
    List<Writer> writers;
    // Tasks that are ordered after all these writers: at most the tasks in flight. Empty if there are no writers.
    List<Writer> readers;
    // One task per node. Its inputs contain everything that the writers have written.
    List<TaskPlace> holders;
    // The companions, one per node, are tasks that are ordered after no task that was planned since the home was taken.
    // Their inputs are exactly what the home's task has got. All tasks that were planned since then have the number
    // `unordered_after` or a higher one. kNotKnown: there are no companions.
    TaskNumber unordered_after = PlannedTask::kNotKnown;
    List<TaskPlace> companions;
  };
  struct Buffer {
    uint64_t number = 0;
    uint64_t plans = 0;  // the number of kept plans that use the buffer
    // Segments without gaps between them. Neighbours that differ only in their bounds are joined when a task uses them.
    Ordered<Segment> segments;
  };

  Buffer* find(uint64_t number) { return buffers_.find(number); }
  static Segment* split(Buffer& buffer, uint64_t at);
  // True: the task is ordered after all writers that have not ended. Appends to `before` the writers that are
  // predecessors of the task.
  template <class HasEnded>
  static bool order(Segment& segment, const PlannedTask& task, const HasEnded& has_ended, List<TaskNumber>& before);
  static void plan_fetch(const Segment& segment, const PlannedTask& task, bool is_ordered, PlannedAccess& access);
  // Forgets tasks that have ended.
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

  IdTable<Buffer> buffers_;  // as many as mapped variables
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
    if (writer.number == task.number) continue;  // from another access of this task to the same bytes
    bool is_before = is_among(writer.number, *task.predecessors);
    if (is_before) before.push(writer.number);
    is_ordered = is_ordered && is_before;
  }
  // The task is also ordered after all writers if one of its predecessors is.
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
    // It does not matter which task made the node the home if both tasks have ended.
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
    // Bytes that the task overwrites need not be fetched if all their writers have ended and node 0 knows it. Then the
    // stamp of what the task writes (dataflow/worker.hpp) is higher than theirs, and its bytes count as newer in every
    // merge.
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
  size_t before = words.count();  // where the words of the segment on the left begin
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
    // Leaves out a segment that equals its left neighbour, so it does not matter whether the two have been joined.
    bool is_same = begin != before && words.count() - begin == begin - before;
    for (size_t i = 1; i < words.count() - begin && is_same; ++i) is_same = words[begin + i] == words[before + i];
    if (!is_same) before = begin;
    while (is_same && words.count() != begin) words.pop();
  }
  return true;
}

}  // namespace marline::offload::cluster
