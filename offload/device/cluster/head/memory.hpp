// SPDX-License-Identifier: Apache-2.0
//
// The memory of a cluster as node 0 sees it: buffers by address, and which of them may hold pointers to which. A kernel
// uses what its construct names and all that it can reach from there by pointers; these are noticed where they are
// written: in data that comes from the program, and in what kernels have written. Under the lock of node 0.
#pragma once

#include "base/ranges.hpp"
#include "cluster/dataflow/head.hpp"
#include "device/contract/device.hpp"
#include "device/processor/arena.hpp"

namespace marline::offload::device {

using namespace cluster;

// One allocation, or a `declare target` variable.
struct ClusterBuffer : Range {
  uint64_t number;
  const uint64_t* places;  // of a variable: where it lies, by node; null: at `begin` everywhere
  List<uint64_t>
      pointees;         // where buffers begin that it may have pointers to, in order; others may be there now, or none
  bool is_leaving;      // released
  uint64_t visit;       // the last search that has met it
  uint64_t used_whole;  // the last one that has found that all of it may be used
  Operation* waiter;    // ends when the buffer has gone
  List<NodeNumber> reducers;  // nodes that may have copies of what it stands for (ReducedArgument)

  [[nodiscard]] uint64_t bytes() const { return end - begin; }
  [[nodiscard]] uint64_t address_at(NodeNumber node) const { return places != nullptr ? places[node] : begin; }
};

// What a region may write of what it may use (MARLINE_CLUSTER_WRITES).
enum class MayWrite : uint8_t {
  kAll,
  kMapped,  // not what it maps by map(to:) alone
  kNamed    // what its depend clauses name, with other types than `in`
};

class ClusterMemory {
 public:
  // `limit`: bytes of the smallest node's memory.
  void open(uint64_t begin, uint64_t bytes, uint64_t limit);

  // Whether a quarter of the memory is left behind an allocation.
  [[nodiscard]] bool has_room(uint64_t bytes) const {
    uint64_t most = limit_ / 4 * 3;
    return used_ <= most && bytes <= most - used_;
  }
  [[nodiscard]] bool has(uint64_t bytes) const { return bytes <= limit_ - used_; }
  // Null: more than is left. The task that is created next brings it into being (take_new).
  ClusterBuffer* allocate(uint64_t bytes);
  // Likewise a `declare target` variable; `places` as in ClusterBuffer, which are the caller's.
  ClusterBuffer* add_variable(uint64_t bytes, const uint64_t* places);
  // It is not found any more. Its addresses are another's when `forget_gone` has seen that no copy is left.
  void release(ClusterBuffer* buffer);
  // `has_copies(number)`: the head's answer. Who waits for such a buffer is added to `waiters`. Its cost grows with the
  // number of buffers for each that has gone: they lie in one list, a word for each.
  template <class HasCopies>
  void forget_gone(const HasCopies& has_copies, List<Operation*>& waiters);

  void take_new(List<NewBuffer>& to);

  // The live buffer with that address, or number; null: none.
  [[nodiscard]] ClusterBuffer* at(uint64_t address);
  [[nodiscard]] ClusterBuffer* numbered(uint64_t number);
  // Also one that tasks under way may use though it has been released.
  [[nodiscard]] ClusterBuffer* known(uint64_t number);
  [[nodiscard]] bool is_inside(uint64_t address) const { return address - begin_ < bytes_; }

  // Buffers, also some that have been released.
  [[nodiscard]] size_t count() const { return all_.count(); }

  // The buffer to which the word is a pointer, if it is one; null: none.
  [[nodiscard]] ClusterBuffer* pointee_of(uint64_t word);
  // The word has been written into the buffer; it may be a pointer into this memory. Numbers that look like one do no
  // harm but that kernels use more than they need. Returns to what, if that was not known; else null.
  ClusterBuffer* note_pointer(ClusterBuffer& holder, uint64_t word);
  // Counts up when kernels may use more or less than before with the same spans: pointers and variables.
  [[nodiscard]] uint64_t changes() const { return changes_; }
  // The words among these bytes, which go to that address, that may be such pointers. Needs no lock.
  void find_pointers(uint64_t to, const void* data, uint64_t bytes, List<uint64_t>& found) const;

  // What a kernel with these spans may use, in ranges that do not overlap. `all`: everything.
  void list_accesses(const Launch& launch, bool all, List<TaskAccess>& to);
  // Adds what can be reached from these ranges by the pointers that are known now. `all`: everything.
  void add_reachable(bool all, List<TaskAccess>& to);
  // Where the launch's names lie, in ranges that do not overlap.
  void list_named(const NamedSpans& named, List<ClusterRange>& to);

  // Joined with one of the last ones if it begins there, or that near behind it, and is used alike. (merge_overlapping
  // joins all of them.)
  static void add_access(List<TaskAccess>& accesses, const TaskAccess& added, uint64_t apart);

  // In order, and none overlaps another, or is that near it.
  static void merge_overlapping(List<TaskAccess>& accesses, uint64_t apart = 0);

  MayWrite may_write = MayWrite::kAll;  // before the first task

 private:
  ClusterBuffer** place_of(uint64_t number);
  void forget(ClusterBuffer* buffer);
  ClusterBuffer* allocate_in(Arena& arena, uint64_t bytes);
  void use_all(List<TaskAccess>& to);
  void use_span(const Span& span, List<TaskAccess>& to);
  void use_whole(ClusterBuffer& buffer, List<TaskAccess>& to);
  void follow(ClusterBuffer& buffer, List<TaskAccess>& to);
  bool find_range(const Span& span, ClusterRange& range);
  void write_named(const NamedSpans& named, List<TaskAccess>& accesses);

  uint64_t begin_ = 0, bytes_ = 0;
  uint64_t limit_ = 0, used_ = 0;
  Arena arena_, variables_arena_;  // far from each other: no pointer that lies outside of its memory is a variable's
  RecentRanges live_;
  List<ClusterBuffer*> all_;      // live or not quite gone, by number
  List<ClusterBuffer*> leaving_;  // released, with copies perhaps
  List<NewBuffer> new_;
  List<uint64_t> variables_;  // which every kernel may use
  uint64_t changes_ = 0;
  uint64_t next_ = 1, visit_ = 0;
};

template <class HasCopies>
void ClusterMemory::forget_gone(const HasCopies& has_copies, List<Operation*>& waiters) {
  for (size_t i = leaving_.count(); i-- > 0;) {
    ClusterBuffer* buffer = leaving_[i];
    if (has_copies(buffer->number)) continue;
    leaving_.erase(i);
    if (buffer->waiter != nullptr) waiters.push(buffer->waiter);
    forget(buffer);
  }
}

}  // namespace marline::offload::device
