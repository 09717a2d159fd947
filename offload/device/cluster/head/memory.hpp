// SPDX-License-Identifier: Apache-2.0
//
// The memory of a cluster as node 0 sees it: the buffers by address, and for each buffer the buffers to which it may
// hold pointers. A kernel may use the data that its construct names, and all data that pointers lead to from there.
// Pointers are noted when they are written: in data that the program sends, and in data that kernels have written.
// Under the lock of node 0.
#pragma once

#include "base/ranges.hpp"
#include "cluster/dataflow/head.hpp"
#include "device/contract/device.hpp"
#include "device/processor/arena.hpp"

namespace marline::offload::device {

using namespace cluster;

// A buffer to which a pointer was written.
struct Pointee {
  uint64_t begin;
  uint64_t number;  // of the buffer at `begin` when the pointer was written
};

// One allocation, or one `declare target` variable.
struct ClusterBuffer : Range {
  uint64_t number;
  // Of a variable: its address on each node. Null: the buffer is at `begin` on all nodes.
  const uint64_t* places;
  // The buffers to which this buffer may hold pointers, by address. A buffer may have been released since then, so
  // another buffer may be at its address, or none.
  List<Pointee> pointees;
  bool is_leaving;  // the buffer has been released, but may still have copies
  uint64_t visit;   // number of the last search that has found it
  // Number of the last search that has found that all of the buffer may be used.
  uint64_t used_whole;
  Operation* waiter;  // ended when no copy of the buffer is left; null: no thread waits
  // Nodes that may have copies of the reduced variable for which the buffer stands (ReducedArgument).
  List<NodeNumber> reducers;

  [[nodiscard]] uint64_t bytes() const { return end - begin; }
  [[nodiscard]] uint64_t address_at(NodeNumber node) const { return places != nullptr ? places[node] : begin; }
};

// What a region may write of the data that it may use (MARLINE_CLUSTER_WRITES).
enum class MayWrite : uint8_t {
  kAll,
  kMapped,  // all data except the data that the region maps only by map(to:)
  kNamed    // the data that the region's depend clauses name with other types than `in`
};

class ClusterMemory {
 public:
  // `limit`: the memory of the smallest node, in bytes.
  void open(uint64_t begin, uint64_t bytes, uint64_t limit);

  // Whether a quarter of the memory is still free after an allocation of this size.
  [[nodiscard]] bool has_room(uint64_t bytes) const {
    uint64_t most = limit_ / 4 * 3;
    return used_ <= most && bytes <= most - used_;
  }
  // Whether so much memory is free.
  [[nodiscard]] bool has(uint64_t bytes) const { return bytes <= limit_ - used_; }
  // Returns null if there is not enough memory left. The next task that is created introduces the buffer to the core
  // (take_new).
  ClusterBuffer* allocate(uint64_t bytes);
  // The same for a `declare target` variable. `places` is as in ClusterBuffer, and must stay valid.
  ClusterBuffer* add_variable(uint64_t bytes, const uint64_t* places);
  // Releases a buffer: `at` and `numbered` do not find it any more. Its addresses are given to another buffer only
  // after `forget_gone` has found that no copy of it is left.
  void release(ClusterBuffer* buffer);
  // Forgets the released buffers of which no copy is left, and adds their waiters to `waiters`. `has_copies(number)`:
  // whether the head knows of copies. Forgetting one buffer costs time in proportion to the number of all buffers,
  // which lie in one list, a word for each.
  template <class HasCopies>
  void forget_gone(const HasCopies& has_copies, List<Operation*>& waiters);

  // Moves the buffers that the core does not know yet to `to`, which must be empty.
  void take_new(List<NewBuffer>& to);

  // The buffer that contains the address, or that has the number, and has not been released. Null: there is none.
  [[nodiscard]] ClusterBuffer* at(uint64_t address);
  [[nodiscard]] ClusterBuffer* numbered(uint64_t number);
  // As `numbered`, but also finds a released buffer that tasks in flight may still use.
  [[nodiscard]] ClusterBuffer* known(uint64_t number);
  [[nodiscard]] bool is_inside(uint64_t address) const { return address - begin_ < bytes_; }

  // The number of buffers, including released ones that have not been forgotten.
  [[nodiscard]] size_t count() const { return all_.count(); }

  // The buffer into which the word would point. Null: there is none.
  [[nodiscard]] ClusterBuffer* pointee_of(uint64_t word);
  // Notes a word that has been written into the buffer `holder` and that may be a pointer into this memory. If it is a
  // number that only looks like a pointer, kernels use more than they need, but are still right. Returns the buffer to
  // which it points if that was not known before, else null.
  ClusterBuffer* note_pointer(ClusterBuffer& holder, uint64_t word);
  // Grows with each new pointer, and with each variable that is added or released: kernels with the same spans may then
  // use other data than before.
  [[nodiscard]] uint64_t changes() const { return changes_; }
  // Finds words that may be pointers into this memory in data that is copied to the address `to`. Needs no lock.
  void find_pointers(uint64_t to, const void* data, uint64_t bytes, List<uint64_t>& found) const;

  // Lists the data that a kernel with the launch's spans may use, without overlaps. `all`: it may use all memory.
  void list_accesses(const Launch& launch, bool all, List<TaskAccess>& to);
  // Adds to the accesses in `to` the data that known pointers in them lead to. `all`: adds all memory.
  void add_reachable(bool all, List<TaskAccess>& to);
  // Lists the ranges that the launch's depend clauses name, without overlaps.
  void list_named(const NamedSpans& named, List<ClusterRange>& to);

  // Adds an access, or widens one of the last accesses of the list if that one has the same may_write and the added one
  // begins in it or at most `apart` bytes after its end. (merge_overlapping joins all accesses.)
  static void add_access(List<TaskAccess>& accesses, const TaskAccess& added, uint64_t apart);

  // Sorts the accesses, and joins accesses that overlap or are at most `apart` bytes from each other.
  static void merge_overlapping(List<TaskAccess>& accesses, uint64_t apart = 0);

  MayWrite may_write = MayWrite::kAll;  // must be set before the first task

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
  // For buffers and for variables. The two address ranges are far from each other, so that a pointer to an address
  // before or after a buffer is not taken for a pointer to a variable.
  Arena arena_, variables_arena_;
  RecentRanges live_;             // the buffers that have not been released, by address
  List<ClusterBuffer*> all_;      // not forgotten yet, by number
  List<ClusterBuffer*> leaving_;  // released, perhaps with copies
  List<NewBuffer> new_;           // for take_new
  List<uint64_t> variables_;      // numbers of the variables, which every kernel may use
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
