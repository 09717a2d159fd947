// SPDX-License-Identifier: Apache-2.0
//
// The dependence table of one generating task: for each address, which tasks the next one must wait for. Only the thread
// that runs the generating task touches it, hence no locks.
//
// An entry is in one of two states. `members` empty: the next task waits for `writer`. Else `members` are the tasks of one
// set that are not ordered among themselves (readers, an inoutset, a mutexinoutset), all ordered after `writer`: a task of
// the same kind joins them behind `writer`, any other waits for all of them.
//
// Tasks in entries are referenced (Task::table_references). Entries whose tasks have all completed are evicted when the
// table would grow, so its size follows the tasks in flight, not the addresses ever used.
#pragma once

#include "graph/dependences.hpp"
#include "graph/exclusion.hpp"

namespace marline {

struct alignas(kCacheLine) TableEntry {
  void* address;         // null: free slot
  Task* writer;
  Task** members;
  uint32_t member_count;
  uint32_t member_capacity;
  Exclusion* exclusion;  // of the mutexinoutset that `members` are
  const Task* last;      // the task that came last, and how: recognises repeated locators of one task
  Access kind;           // of `members`
  Access last_access;
};

static_assert(sizeof(TableEntry) == kCacheLine);

struct DependenceTable {
  TableEntry* entries;
  uint32_t capacity;  // a power of two
  uint32_t used;
  Task* all_memory;   // the last omp_all_memory task: stands before every address that has no entry; or null
};

DependenceTable* table_create(Worker* worker);
void table_destroy(Worker* worker, DependenceTable* table);

// The entry of `address`, made if there is none.
TableEntry* table_find(Worker* worker, DependenceTable* table, void* address);

// Forgets everything: all addresses are as never used, but come after `task`.
void table_restart_after(Worker* worker, DependenceTable* table, Task* task);

void entry_set_writer(Worker* worker, TableEntry* entry, Task* writer);
void entry_add_member(Worker* worker, TableEntry* entry, Task* task);
void entry_clear_members(Worker* worker, TableEntry* entry);

// References from tables.
void table_reference(Task* task);
void table_unreference(Worker* worker, Task* task);

}  // namespace marline
