// SPDX-License-Identifier: Apache-2.0
//
// Copies between the program and the cluster that no thread waits for. Each is a task of node 0 (head.hpp). Small
// copies are made as a whole, under the node's lock, by the thread that finds that they can start. Large copies
// (OrderedCopies::in_parts) are made in parts, without the lock, by threads that have nothing else to do
// (EarlySubmission::copy_part), which poll the wires between the parts.
#include "base/report.hpp"
#include "device/contract/tool_reports.hpp"
#include "device/cluster/head/head.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace marline::offload::device {

using namespace cluster;
using namespace image;

// Adds a list for each copy: of a copy to the device, the words that may be pointers. Needs no lock.
void ClusterHead::find_pointers(const DeviceCopy* copies, uint32_t count, List<List<uint64_t>>& pointers) const {
  for (uint32_t i = 0; i < count; ++i) {
    List<uint64_t>& found = pointers.push({});
    if (copies[i].is_to_device) memory_.find_pointers(copies[i].device, copies[i].host, copies[i].bytes, found);
  }
}

// Notes the words that find_pointers has found in the copies. Returns whether one of the pointers was not known.
bool ClusterHead::note_copied(const Copies& copies, const List<List<uint64_t>>& pointers) {
  bool is_new = false;
  for (uint32_t i = 0; i < copies.count; ++i) {
    ClusterBuffer* buffer = pointers[i].is_empty() ? nullptr : memory_.at(copies.copies[i].device);
    if (buffer != nullptr && note_pointers(*buffer, pointers[i])) is_new = true;
  }
  return is_new;
}

// Makes all copies at once, under the lock. Returns whether they contained a pointer that was not known.
bool ClusterHead::copy(const Copies& copies) {
  Copying copying = {0, 0, &copies, 0, 0};
  while (!copy_more(copying)) {
  }
  if (!copies.looks_later) return false;
  List<List<uint64_t>> pointers;
  find_pointers(copies.copies, copies.count, pointers);
  return note_copied(copies, pointers);
}

// Makes the next part. Returns true if it was the last one. Needs no lock: the task has started.
bool ClusterHead::copy_more(Copying& copying) const {
  constexpr size_t kPart = 1 << 20;
  const Copies& copies = *copying.copies;
  for (size_t left = kPart; copying.copy < copies.count && left != 0;) {
    const DeviceCopy& copy = copies.copies[copying.copy];
    size_t bytes = std::min(left, copy.bytes - copying.bytes);
    char* on_device = node_.memory_at(copy.device) + copying.bytes;
    char* on_host = static_cast<char*>(copy.host) + copying.bytes;
    if (copy.reported != nullptr && copying.bytes == 0) copy.reported->begin = now();
    std::memcpy(copy.is_to_device ? on_device : on_host, copy.is_to_device ? on_host : on_device, bytes);
    copying.bytes += bytes;
    left -= bytes;
    if (copying.bytes < copy.bytes) continue;
    if (copy.reported != nullptr) copy.reported->end = now();
    ++copying.copy;
    copying.bytes = 0;
  }
  return copying.copy == copies.count;
}

// `copying_` contains no record of copies on which a thread works, so no other thread works on the same copies.
bool ClusterHead::copy_part() {
  Copying copying;
  {
    Guard guard(node_.lock);
    if (copying_.is_empty()) return false;
    copying = copying_[0];
    copying_.erase(0);
  }
  bool is_last = copy_more(copying);
  if (is_last) {
    end_copying(copying);
  } else {
    Guard guard(node_.lock);
    copying_.insert(0, copying);
  }
  return true;
}

// Ends the task, or lets it wait until its new pointers have been taken into account (waits_for_notes).
void ClusterHead::end_copying(const Copying& copying) {
  List<List<uint64_t>> pointers;
  bool looks = copying.copies->looks_later;
  if (looks) find_pointers(copying.copies->copies, copying.copies->count, pointers);
  node_.compare(copying.index);
  under_lock([&] {
    bool is_new = looks && note_copied(*copying.copies, pointers);
    bool waits = is_new && waits_for_notes({0, 0, copying.index, 0, false}, copying.task);
    if (!waits) node_.end(copying.index, 0);
  });
}

// Returns a task that makes these copies, and notes the pointers in them. The task may also use the gap between two
// copies that are at most `apart` bytes from each other.
NewTask ClusterHead::task_of(const OrderedCopies& given, const List<List<uint64_t>>& pointers, uint64_t apart) {
  NewTask task;
  task.is_on_host = true;
  for (uint32_t i = 0; i < given.predecessor_count; ++i) task.predecessors.push(present(given.after[i]));
  for (uint32_t i = 0; i < given.count; ++i) {
    const DeviceCopy& copy = given.copies[i];
    ClusterBuffer& buffer = buffer_at(copy.device, copy.bytes, copy.is_to_device ? "a copy to" : "a copy from");
    ClusterRange range = {buffer.number, copy.device - buffer.begin, copy.bytes};
    ClusterMemory::add_access(task.accesses, {range, copy.is_to_device}, apart);
    for (uint64_t word : pointers[i]) (void)memory_.note_pointer(buffer, word);
  }
  ClusterMemory::merge_overlapping(task.accesses, apart);
  return task;
}

TaskNumber ClusterHead::start_copies(const OrderedCopies& given, Operation* operation) {
  Known known;
  known.operation = operation;
  known.copies = static_cast<Copies*>(std::malloc(sizeof(Copies) + given.count * sizeof(DeviceCopy)));
  if (known.copies == nullptr) fatal("no memory for a copy from or to the cluster");
  known.copies->count = given.count;
  known.copies->in_parts = given.in_parts;
  known.copies->looks_later = given.predecessor_count != 0;
  if (given.count != 0) std::memcpy(known.copies->copies, given.copies, given.count * sizeof(DeviceCopy));
  if (operation != nullptr) operation->begin = now();
  List<List<uint64_t>> pointers;
  find_pointers(given.copies, given.count, pointers);
  TaskNumber number;
  if (operation != nullptr) add_operations(hooks_share(operation));
  under_lock([&] {
    known.is_submitted_early = is_submitted_early(given.after, given.predecessor_count);
    number = create(task_of(given, pointers, 0), known);
    if (operation != nullptr) operation->number = number;
  });
  return number;
}

}  // namespace marline::offload::device
