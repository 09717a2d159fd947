// SPDX-License-Identifier: Apache-2.0
//
// The dependence table of one generating task: for each address, which tasks the next one must wait for. Only the
// thread that runs the generating task accesses it, so it needs no lock. An exception is a task that shares its table
// with its descendants (marline_depend_share): then all of them take the table's lock. A table is shared before the
// first descendant exists, and freed when the last one has ended.
//
// An entry is in one of two states. No members: the next task waits for `writer`. Otherwise the members are the tasks
// of one set that are not ordered among themselves (readers, an inoutset, a mutexinoutset), all ordered after `writer`:
// a task of the same kind joins them behind `writer`, any other waits for all of them. The last member, or without
// members the writer, is the task that came last, so a task that names an address twice finds itself there.
//
// Tasks in entries are referenced (Task::table_references). Entries whose tasks have all completed are removed when the
// table would grow, so its size follows the number of unfinished tasks, not the number of addresses ever used.
#pragma once

#include "base/spin_lock.hpp"
#include "config/options.hpp"
#include "graph/address_hash.hpp"
#include "graph/dependences.hpp"
#include "graph/exclusion.hpp"

namespace marline {

struct GraphRecord;
struct PersistentGraph;

struct alignas(kCacheLine) TableEntry {
  static constexpr uint32_t kFew = 4;
  void* address;  // null: free slot
  Task* writer;
  union {
    Task* few[kFew];  // the members, while `capacity` is kFew
    struct {
      Task** many;
      Exclusion* exclusion;  // of the mutexinoutset that the members are
      TableEntry* before;    // without gathering (MARLINE_EDGES): the set before this one, which stands for `writer`
    } spilled;
  };
  uint32_t member_count;
  uint32_t capacity;
  Access kind;  // of the members

  bool is_spilled() const { return capacity != kFew; }
  Task** members() { return is_spilled() ? spilled.many : few; }
  Task* last() { return member_count != 0 ? members()[member_count - 1] : writer; }
};

static_assert(sizeof(TableEntry) == kCacheLine);

struct DependenceTable {
  TableEntry* entries;
  uint32_t capacity;  // a power of two
  uint32_t used;
  uint32_t most;                 // of `used`, before the table is rebuilt: half of the capacity
  Task* all_memory;              // the last omp_all_memory task: stands before every address that has no entry; or null
  HashFunction hash;             // as the options say; here, as it is used with the table
  const Task* sharer = nullptr;  // the task that shares it with its descendants; null: only one task uses it
  SpinLock lock{};               // with a sharer: everything above, and the graph side of all tasks in it
  PersistentGraph* graph = nullptr;  // of whose iterations this is the table, or null
  GraphRecord* record = nullptr;     // while an iteration is recorded: every edge is, so nothing is evicted; or null
  DependenceTable* outer = nullptr;  // the producer's own, whose tasks stand before the graph's; or null
};

DependenceTable* table_create(Worker* worker);
void table_destroy(Worker* worker, DependenceTable* table);

// Makes room for `count` addresses more. Until then, entries stay where they are.
void table_rebuild(Worker* worker, DependenceTable* table, size_t count);
inline void table_reserve(Worker* worker, DependenceTable* table, size_t count) {
  if (table->used + count > table->most) [[unlikely]] {
    table_rebuild(worker, table, count);
  }
}

// The slot where the search for `address` begins.
inline TableEntry* first_slot(const DependenceTable* table, const void* address) {
  return &table->entries[static_cast<uint32_t>(hash_address(table->hash, address)) & (table->capacity - 1)];
}

// The rest of table_find, where the first slot is not that of `address`.
TableEntry* table_find_further(Worker* worker, DependenceTable* table, void* address, TableEntry* first);

// The entry of `address`, which is not null; made if there is none, for which there must be room.
inline TableEntry* table_find(Worker* worker, DependenceTable* table, void* address) {
  TableEntry* first = first_slot(table, address);
  if (first->address == address) [[likely]]
    return first;
  return table_find_further(worker, table, address, first);
}

// Forgets everything: all addresses are as never used, but come after `task`.
void table_restart_after(Worker* worker, DependenceTable* table, Task* task);

// Turns the entry to its spilled form, in which it has room for the rarer fields.
void entry_spill(Worker* worker, TableEntry* entry);

// The set that the entry's members are becomes one that stands before the entry.
void entry_push_back_set(Worker* worker, TableEntry* entry);

// Makes room for one more member.
void entry_widen(Worker* worker, TableEntry* entry);

// Gives up what a spilled entry has beside its members.
void entry_clear_extras(Worker* worker, TableEntry* entry);

// References from tables.
inline void table_reference(Task* task) { ++task->table_references; }
inline void table_unreference(Worker* worker, Task* task) {
  if (--task->table_references == 0) release_task_from_table(worker, task);
}

inline void entry_set_writer(Worker* worker, TableEntry* entry, Task* writer) {
  Task* old = entry->writer;
  if (writer != nullptr) table_reference(writer);
  entry->writer = writer;
  if (old != nullptr) table_unreference(worker, old);
}

inline void entry_add_member(Worker* worker, TableEntry* entry, Task* task) {
  if (entry->member_count == entry->capacity) [[unlikely]] {
    entry_widen(worker, entry);
  }
  table_reference(task);
  entry->members()[entry->member_count++] = task;
}

// The members go, after `each` has been called on every one.
template <class Each>
void entry_clear_members(Worker* worker, TableEntry* entry, Each each) {
  Task** members = entry->members();
  for (uint32_t i = 0; i < entry->member_count; ++i) {
    each(members[i]);
    table_unreference(worker, members[i]);
  }
  entry->member_count = 0;
  if (entry->is_spilled()) [[unlikely]] {
    entry_clear_extras(worker, entry);
  }
}

inline void entry_clear_members(Worker* worker, TableEntry* entry) {
  entry_clear_members(worker, entry, [](Task*) {});
}

}  // namespace marline
