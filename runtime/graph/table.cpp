// SPDX-License-Identifier: Apache-2.0
//
// The dependence table: open addressing with linear probing over entries of one cache line. Single entries are never
// deleted; when the table is half full, it is rebuilt without its dead entries.
#include "graph/table.hpp"

#include "base/memory/shared_pool.hpp"
#include "graph/successors.hpp"

#include <cstring>
#include <new>

namespace marline {

namespace {

constexpr uint32_t kFirstCapacity = 64;
constexpr uint32_t kShrink = 2;
// The least room for members in a spilled entry.
constexpr uint32_t kFirstSpilled = 8;
// 128 GiB of entries; also the most members of an entry: that many descriptors need 384 GiB.
constexpr uint32_t kMostEntries = 1u << 31;

TableEntry* allocate_entries(uint32_t capacity) {
  return static_cast<TableEntry*>(shared_allocate_zeroed(size_t{capacity} * sizeof(TableEntry)));
}

void set_entries(DependenceTable* table, uint32_t capacity) {
  table->entries = allocate_entries(capacity);
  table->capacity = capacity;
  table->most = capacity / 2;
}

// Searches from `entry` on: returns the slot of `address`, or the free slot where it belongs.
TableEntry* slot_from(Worker* worker, const DependenceTable* table, const void* address, TableEntry* entry) {
  if (entry->address == address || entry->address == nullptr) return entry;
  TableEntry* end = table->entries + table->capacity;
  uint32_t probes = 0;
  do {
    if (++entry == end) entry = table->entries;
    ++probes;
  } while (entry->address != address && entry->address != nullptr);
  worker->discovery.probes.add(probes);
  return entry;
}

TableEntry* slot_for(Worker* worker, const DependenceTable* table, const void* address) {
  return slot_from(worker, table, address, first_slot(table, address));
}

void drop_completed_members(Worker* worker, TableEntry* entry) {
  uint32_t kept = 0;
  Task** members = entry->members();
  for (uint32_t i = 0; i < entry->member_count; ++i) {
    if (has_completed(members[i])) {
      table_unreference(worker, members[i]);
    } else {
      members[kept++] = members[i];
    }
  }
  entry->member_count = kept;
}

// Drops all references that the entry holds.
void entry_close(Worker* worker, TableEntry* entry) {
  entry_clear_members(worker, entry);
  entry_set_writer(worker, entry, nullptr);
  if (entry->is_spilled()) SlabPool::release(entry->spilled.many, pool_of(worker));
  entry->capacity = TableEntry::kFew;
}

// Drops the completed tasks of the entry; returns whether no task is left to wait for.
bool entry_is_dead(Worker* worker, TableEntry* entry) {
  drop_completed_members(worker, entry);
  if (entry->writer != nullptr && has_completed(entry->writer)) entry_set_writer(worker, entry, nullptr);
  return entry->writer == nullptr && entry->member_count == 0;
}

uint32_t close_dead_entries(Worker* worker, DependenceTable* table) {
  uint32_t live = 0;
  for (uint32_t i = 0; i < table->capacity; ++i) {
    TableEntry* entry = &table->entries[i];
    if (entry->address == nullptr) continue;
    if (entry_is_dead(worker, entry)) {
      entry_close(worker, entry);
      entry->address = nullptr;
    } else {
      ++live;
    }
  }
  return live;
}

// At most half full, so that a search mostly ends in the first or the next slot. A table shrinks in steps: a table that
// repeatedly gets the same number of addresses keeps its size.
uint32_t capacity_for(const DependenceTable* table, size_t addresses) {
  size_t capacity = table->capacity / kShrink < kFirstCapacity ? kFirstCapacity : table->capacity / kShrink;
  while (capacity < addresses * 3) capacity *= 2;
  if (capacity > kMostEntries) {
    fatal("the unfinished children of one task depend on %zu addresses; create fewer at a time", addresses);
  }
  return static_cast<uint32_t>(capacity);
}

void clear_entries(Worker* worker, DependenceTable* table) {
  for (uint32_t i = 0; i < table->capacity; ++i) {
    if (table->entries[i].address != nullptr) entry_close(worker, &table->entries[i]);
  }
}

void move_members(Worker* worker, TableEntry* entry, uint32_t capacity) {
  auto** wider = static_cast<Task**>(worker->pool->allocate(size_t{capacity} * sizeof(Task*)));
  if (entry->member_count != 0) std::memcpy(wider, entry->members(), entry->member_count * sizeof(Task*));
  if (entry->is_spilled()) {
    SlabPool::release(entry->spilled.many, worker->pool);
    entry->spilled.many = wider;
  } else {
    entry->spilled = {wider, nullptr, nullptr};
  }
  entry->capacity = capacity;
}

void import_members(Worker* worker, TableEntry* from, TableEntry* to) {
  if (from->writer != nullptr) entry_set_writer(worker, to, from->writer);
  for (uint32_t i = 0; i < from->member_count; ++i) entry_add_member(worker, to, from->members()[i]);
  to->kind = from->kind;
}

void copy_entry(Worker* worker, TableEntry* from, TableEntry* entry) {
  import_members(worker, from, entry);
  if (!from->is_spilled()) return;
  entry_spill(worker, entry);
  if (Exclusion* exclusion = from->spilled.exclusion) {
    exclusion->references.fetch_add(1, relaxed);
    entry->spilled.exclusion = exclusion;
  }
  if (TableEntry* before = from->spilled.before) {
    auto* set = static_cast<TableEntry*>(worker->pool->allocate(sizeof(TableEntry)));
    *set = {};
    set->capacity = TableEntry::kFew;
    import_members(worker, before, set);
    entry->spilled.before = set;
  }
}

// An address is used for the first time in the table of a graph: later tasks are also ordered after the tasks in the
// entry of the producer's own table.
[[gnu::noinline]] void import_entry(Worker* worker, DependenceTable* outer, TableEntry* entry) {
  TableEntry* from = slot_for(worker, outer, entry->address);
  if (from->address != nullptr) {
    copy_entry(worker, from, entry);
  } else if (outer->all_memory != nullptr) {
    entry_set_writer(worker, entry, outer->all_memory);
  }
}

}  // namespace

DependenceTable* table_create(Worker* worker) {
  void* memory = worker->pool->allocate(sizeof(DependenceTable));
  auto* table = new (memory) DependenceTable{};
  table->hash = options().hash;
  set_entries(table, kFirstCapacity);
  return table;
}

void table_destroy(Worker* worker, DependenceTable* table) {
  clear_entries(worker, table);
  if (table->all_memory != nullptr) table_unreference(worker, table->all_memory);
  shared_release(table->entries);
  SlabPool::release(table, pool_of(worker));
}

void table_rebuild(Worker* worker, DependenceTable* table, size_t count) {
  uint32_t live = table->record != nullptr ? table->used : close_dead_entries(worker, table);
  TableEntry* old = table->entries;
  uint32_t old_capacity = table->capacity;
  table->used = live;
  worker->discovery.rebuilds.add(1);
  uint32_t capacity = capacity_for(table, live + count);
  if (live == 0 && capacity <= old_capacity) return;  // every slot is free
  set_entries(table, capacity);
  for (uint32_t i = 0; i < old_capacity; ++i) {
    TableEntry* entry = &old[i];
    if (entry->address != nullptr) *slot_for(worker, table, entry->address) = *entry;
  }
  shared_release(old);
}

TableEntry* table_find_further(Worker* worker, DependenceTable* table, void* address, TableEntry* first) {
  TableEntry* entry = slot_from(worker, table, address, first);
  if (entry->address == address) return entry;
  ++table->used;
  entry->address = address;
  entry->capacity = TableEntry::kFew;
  if (table->outer != nullptr) [[unlikely]]
    import_entry(worker, table->outer, entry);
  if (table->all_memory != nullptr) entry_set_writer(worker, entry, table->all_memory);
  return entry;
}

TableEntry* table_lookup(Worker* worker, const DependenceTable* table, const void* address) {
  TableEntry* entry = slot_for(worker, table, address);
  return entry->address != nullptr ? entry : nullptr;
}

void table_copy(Worker* worker, DependenceTable* from, DependenceTable* to, const void* except) {
  for (uint32_t i = 0; i < from->capacity; ++i) {
    TableEntry* entry = &from->entries[i];
    if (entry->address == nullptr || entry->address == except || entry_is_dead(worker, entry)) continue;
    table_reserve(worker, to, 1);
    copy_entry(worker, entry, table_find(worker, to, entry->address));
  }
  if (from->all_memory == nullptr || has_completed(from->all_memory)) return;
  table_reference(from->all_memory);
  to->all_memory = from->all_memory;
}

void table_restart_after(Worker* worker, DependenceTable* table, Task* task) {
  table_reference(task);
  clear_entries(worker, table);
  std::memset(table->entries, 0, size_t{table->capacity} * sizeof(TableEntry));
  table->used = 0;
  if (table->all_memory != nullptr) table_unreference(worker, table->all_memory);
  table->all_memory = task;
  table->outer = nullptr;  // all tasks of the outer table are ordered before `task`
}

void entry_widen(Worker* worker, TableEntry* entry) {
  if (worker->task->table->record == nullptr) drop_completed_members(worker, entry);
  if (entry->member_count <= entry->capacity / 2) return;
  if (entry->capacity == kMostEntries) {
    fatal("%u tasks of one set depend on address %p; create fewer at a time", entry->member_count, entry->address);
  }
  move_members(worker, entry, entry->capacity * 2);
}

void entry_clear_extras(Worker* worker, TableEntry* entry) {
  if (entry->spilled.exclusion != nullptr) exclusion_release(worker, entry->spilled.exclusion);
  entry->spilled.exclusion = nullptr;
  TableEntry* before = entry->spilled.before;
  if (before == nullptr) return;
  entry->spilled.before = nullptr;
  entry_close(worker, before);
  SlabPool::release(before, pool_of(worker));
}

void entry_spill(Worker* worker, TableEntry* entry) {
  if (!entry->is_spilled()) move_members(worker, entry, kFirstSpilled);
}

void entry_push_back_set(Worker* worker, TableEntry* entry) {
  entry_spill(worker, entry);
  auto* set = static_cast<TableEntry*>(worker->pool->allocate(sizeof(TableEntry)));
  *set = *entry;
  set->spilled.before = nullptr;
  TableEntry* earlier = entry->spilled.before;  // not needed any more: each member of the set has waited for it
  entry->writer = nullptr;
  entry->member_count = 0;
  entry->capacity = kFirstSpilled;
  entry->spilled = {static_cast<Task**>(worker->pool->allocate(kFirstSpilled * sizeof(Task*))), nullptr, set};
  if (earlier == nullptr) return;
  entry_close(worker, earlier);
  SlabPool::release(earlier, worker->pool);
}

}  // namespace marline
