// SPDX-License-Identifier: Apache-2.0
//
// The dependence table of one generating task: for each address, the tasks that the next task must wait for. Only the
// thread that runs the generating task accesses it, so it needs no lock. The exception is a task that shares its table
// with its descendants (marline_depend_share): then all of them take the table's lock. A table is shared before the
// first descendant exists, and freed when the last one has ended.
//
// An entry is in one of two states. Without members: the next task waits for `writer`. With members: they are the tasks
// of one set that are not ordered among themselves (readers, an inoutset, a mutexinoutset), all ordered after `writer`.
// A task of the same kind joins the set, ordered after `writer`; any other task waits for all members. The newest task
// of an entry is its last member or, without members, the writer; so a task that names an address twice finds itself
// there.
//
// An entry holds references to its tasks (Task::table_references). Entries with only completed tasks are removed when
// the table would grow, so its size depends on the number of unfinished tasks, not on the number of addresses ever
// used.
#pragma once

#include "base/spin_lock.hpp"
#include "config/options.hpp"
#include "graph/address_hash.hpp"
#include "graph/dependence.hpp"
#include "graph/descriptor.hpp"
#include "graph/exclusion.hpp"

namespace marline {

struct GraphRecord;
struct PersistentGraph;
struct TransparentScope;

struct alignas(kCacheLine) TableEntry {
  static constexpr uint32_t kFew = 4;
  void* address;  // null: free slot
  Task* writer;
  union {
    Task* few[kFew];  // the members, while `capacity` is kFew
    struct {
      Task** many;
      Exclusion* exclusion;  // of the members, if they are a mutexinoutset
      // Without gathering (MARLINE_EDGES): the set before this one, used instead of `writer`.
      TableEntry* before;
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
  // The largest `used`, half of the capacity; beyond it the table is rebuilt.
  uint32_t most;
  // The last omp_all_memory task, a predecessor for every address without an entry; or null.
  Task* all_memory;
  // A copy of the option, kept in the same cache line as the table.
  HashFunction hash;
  // The task that shares the table with its descendants; null: only one task uses it.
  const Task* sharer = nullptr;
  // With a sharer: guards all fields above, and the graph fields of all tasks in the table.
  SpinLock lock{};
  // The persistent graph, if the table is that of its iterations; or null.
  PersistentGraph* graph = nullptr;
  // Set while an iteration is recorded; every edge is recorded then, so no entry is removed. Or null.
  GraphRecord* record = nullptr;
  // The producer's own table: its tasks are ordered before the tasks of the graph. Or null.
  DependenceTable* outer = nullptr;
  // Of a transparent task, or of a task that has created one (graph/transparent_scope.hpp); its lock replaces `lock`,
  // and the descendants of the sharer do not use the table. Or null.
  TransparentScope* scope = nullptr;
};

DependenceTable* table_create(Worker* worker);
void table_destroy(Worker* worker, DependenceTable* table);

// Makes room for `count` more addresses. Entries do not move until the next rebuild.
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

// Continues table_find if the first slot is not that of `address`.
TableEntry* table_find_further(Worker* worker, DependenceTable* table, void* address, TableEntry* first);

// The entry of `address`, which is not null. Creates it if there is none; the table must have room for it.
inline TableEntry* table_find(Worker* worker, DependenceTable* table, void* address) {
  TableEntry* first = first_slot(table, address);
  if (first->address == address) [[likely]]
    return first;
  return table_find_further(worker, table, address, first);
}

// The entry of `address`, which is not null; or null.
TableEntry* table_lookup(Worker* worker, const DependenceTable* table, const void* address);

// Copies what `from` knows of tasks that have not completed to the new table `to`, except at one address.
void table_copy(Worker* worker, DependenceTable* from, DependenceTable* to, const void* except);

// Removes all entries. All addresses are as if never used, except that their next tasks come after `task`.
void table_restart_after(Worker* worker, DependenceTable* table, Task* task);

// Changes the entry to its spilled form, which has room for the rarer fields.
void entry_spill(Worker* worker, TableEntry* entry);

// Moves the entry's members to a set that is ordered before the entry.
void entry_push_back_set(Worker* worker, TableEntry* entry);

// Makes room for one more member.
void entry_widen(Worker* worker, TableEntry* entry);

// Drops the exclusion and the earlier set of a spilled entry.
void entry_clear_extras(Worker* worker, TableEntry* entry);

// References from tables, counted without atomics.
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

// Removes all members, after calling `each` on every one.
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
