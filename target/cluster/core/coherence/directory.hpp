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

#include "cluster/core/base/message.hpp"
#include "cluster/core/base/numbered.hpp"

namespace marline::target {

struct PlannedTask {
  TaskNumber number;
  TaskPlace place;
  const List<TaskNumber>* predecessors;  // those that have not ended, ascending
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
  void plan(const PlannedTask& task, const ClusterRange& range, bool may_write, const HasEnded& has_ended,
            List<PlannedAccess>& accesses, List<TaskNumber>& covered);

  // How many of the bytes the node has, or will have, without a transfer.
  [[nodiscard]] uint64_t bytes_at(const ClusterRange& range, NodeNumber node);
  // How many somebody has and the node has not.
  [[nodiscard]] uint64_t bytes_missing(const ClusterRange& range, NodeNumber node) {
    return find(range.buffer) == nullptr ? 0 : range.bytes - bytes_at(range, node);
  }
  // Appends nodes that have some of them, at most three for each range that has a history of its own.
  void add_holders(const ClusterRange& range, List<NodeNumber>& holders);

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
  // Calls rename(place, writer) for each place; `writer` is null where the place is no writer's.
  template <class Rename>
  void rename(uint64_t buffer, const Rename& rename);
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
    uint64_t begin, end;
    TaskPlace home;            // and the task whose inputs made it one
    bool has_home = false;     // else nobody has written it
    List<Writer> writers;      // that have not ended and no later one is ordered behind: at most those under way
    List<TaskPlace> holders;   // tasks whose inputs are all that these writers have written; one per node
  };
  struct Buffer {
    uint64_t number = 0;
    uint64_t plans = 0;      // that are kept and use it
    List<Segment> segments;  // by address, without gaps
  };

  Buffer* find(uint64_t number) { return buffers_.find(number); }
  static size_t first_behind(const Buffer& buffer, uint64_t at);
  size_t split(Buffer& buffer, uint64_t at);
  // Forgets writers that have ended. True: the task is ordered behind all others. Appends to `before` those of them
  // that are its predecessors.
  template <class HasEnded>
  static bool order(Segment& segment, const PlannedTask& task, const HasEnded& has_ended, List<TaskNumber>& before);
  static void plan_fetch(const Segment& segment, const PlannedTask& task, bool is_ordered, PlannedAccess& access);
  static void plan_home(Segment& segment, const PlannedTask& task, bool is_ordered, PlannedAccess& access);
  static bool find_holder(const Segment& segment, NodeNumber node, TaskPlace& source);

  Numbered<Buffer> buffers_;  // as many as variables are mapped
};

template <class HasEnded>
bool Directory::order(Segment& segment, const PlannedTask& task, const HasEnded& has_ended, List<TaskNumber>& before) {
  bool is_ordered = true;
  for (size_t w = 0; w < segment.writers.count();) {
    TaskNumber writer = segment.writers[w].number;
    if (has_ended(writer)) {
      segment.writers.erase(w);
      continue;
    }
    bool is_before = writer == task.number;  // of another access to these bytes
    for (TaskNumber predecessor : *task.predecessors) is_before = is_before || predecessor == writer;
    if (is_before && writer != task.number) before.push(writer);
    is_ordered = is_ordered && is_before;
    ++w;
  }
  return is_ordered;
}

template <class HasEnded>
void Directory::plan(const PlannedTask& task, const ClusterRange& range, bool may_write, const HasEnded& has_ended,
                     List<PlannedAccess>& accesses, List<TaskNumber>& covered) {
  Buffer* buffer = find(range.buffer);
  assert(buffer != nullptr && range.bytes != 0);
  size_t first = split(*buffer, range.offset), last = split(*buffer, range.end());
  for (size_t i = first; i < last; ++i) {
    Segment& segment = buffer->segments[i];
    PlannedAccess& access = accesses.push({});
    access.range = {range.buffer, segment.begin, segment.end - segment.begin};
    access.may_write = may_write;
    size_t covered_before = covered.count();
    bool is_ordered = order(segment, task, has_ended, covered);
    plan_fetch(segment, task, is_ordered, access);
    access.is_end = access.is_early && covered.count() != covered_before;
    if (!access.is_end) {
      while (covered.count() != covered_before) covered.pop();
    }
    plan_home(segment, task, is_ordered, access);
  }
}

template <class Rename>
void Directory::rename(uint64_t buffer, const Rename& rename) {
  Buffer* found = find(buffer);
  assert(found != nullptr);
  for (Segment& segment : found->segments) {
    if (segment.has_home) rename(segment.home, nullptr);
    for (Writer& writer : segment.writers) rename(writer.place, &writer.number);
    for (TaskPlace& holder : segment.holders) rename(holder, nullptr);
  }
}

template <class Name, class NameWriter>
bool Directory::describe(uint64_t buffer, const Name& name, const NameWriter& name_writer, List<uint64_t>& words) {
  Buffer* found = find(buffer);
  if (found == nullptr) return false;
  words.push(buffer);
  for (const Segment& segment : found->segments) {
    words.push(segment.begin);
    words.push(segment.has_home);
    if (segment.has_home) name(segment.home, words);
    for (const Writer& writer : segment.writers) name_writer(writer.number, writer.place, words);
    words.push(segment.holders.count());
    for (const TaskPlace& holder : segment.holders) name(holder, words);
  }
  return true;
}

}  // namespace marline::target
