// SPDX-License-Identifier: Apache-2.0
//
// The dependence table: open addressing with linear probing over cache-line entries; nothing is ever deleted singly, the
// table is rebuilt without its dead entries when it is three quarters full.
#include "graph/table.hpp"

#include "base/check.hpp"
#include "base/hash.hpp"
#include "graph/successors.hpp"

#include <cstdlib>
#include <cstring>

namespace marline {

namespace {

constexpr uint32_t kFirstCapacity = 64;
constexpr uint32_t kFirstMembers = 8;

TableEntry* allocate_entries(uint32_t capacity) {
  size_t bytes = size_t{capacity} * sizeof(TableEntry);
  void* memory = std::aligned_alloc(kCacheLine, bytes);
  if (memory == nullptr) fatal("out of memory for the dependences of %u addresses in flight", capacity);
  std::memset(memory, 0, bytes);
  return static_cast<TableEntry*>(memory);
}

TableEntry* slot_for(TableEntry* entries, uint32_t capacity, const void* address) {
  uint32_t index = static_cast<uint32_t>(mix64(reinterpret_cast<uintptr_t>(address))) & (capacity - 1);
  while (entries[index].address != nullptr && entries[index].address != address) index = (index + 1) & (capacity - 1);
  return &entries[index];
}

void drop_completed_members(Worker* worker, TableEntry* entry) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < entry->member_count; ++i) {
    Task* task = entry->members[i];
    if (has_completed(task)) {
      if (entry->last == task) entry->last = nullptr;  // its address may come back as another task's
      table_unreference(worker, task);
    } else {
      entry->members[kept++] = task;
    }
  }
  entry->member_count = kept;
}

// Gives up what the entry holds.
void entry_close(Worker* worker, TableEntry* entry) {
  entry_clear_members(worker, entry);
  entry_set_writer(worker, entry, nullptr);
  if (entry->member_capacity != 0) SlabPool::release(entry->members, worker->pool);
  entry->member_capacity = 0;
}

// Whether nothing that the entry names is still to be waited for. Drops what has completed.
bool entry_is_dead(Worker* worker, TableEntry* entry) {
  drop_completed_members(worker, entry);
  if (entry->writer != nullptr && has_completed(entry->writer)) entry_set_writer(worker, entry, nullptr);
  return entry->writer == nullptr && entry->member_count == 0;
}

void rebuild(Worker* worker, DependenceTable* table) {
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
  uint32_t capacity = kFirstCapacity;
  while (capacity < live * 4) capacity *= 2;  // at most a quarter full: the next rebuild is as many insertions away
  TableEntry* entries = allocate_entries(capacity);
  for (uint32_t i = 0; i < table->capacity; ++i) {
    TableEntry* entry = &table->entries[i];
    if (entry->address != nullptr) *slot_for(entries, capacity, entry->address) = *entry;
  }
  std::free(table->entries);
  table->entries = entries;
  table->capacity = capacity;
  table->used = live;
}

void clear_entries(Worker* worker, DependenceTable* table) {
  for (uint32_t i = 0; i < table->capacity; ++i) {
    if (table->entries[i].address != nullptr) entry_close(worker, &table->entries[i]);
  }
}

void widen_members(Worker* worker, TableEntry* entry) {
  drop_completed_members(worker, entry);
  if (entry->member_count * 2 < entry->member_capacity) return;
  uint32_t capacity = entry->member_capacity == 0 ? kFirstMembers : entry->member_capacity * 2;
  auto** wider = static_cast<Task**>(worker->pool->allocate(capacity * sizeof(Task*)));
  if (entry->member_count != 0) std::memcpy(wider, entry->members, entry->member_count * sizeof(Task*));
  if (entry->member_capacity != 0) SlabPool::release(entry->members, worker->pool);
  entry->members = wider;
  entry->member_capacity = capacity;
}

}  // namespace

void table_reference(Task* task) { ++task->table_references; }

void table_unreference(Worker* worker, Task* task) {
  if (--task->table_references == 0) release_task_from_table(worker, task);
}

DependenceTable* table_create(Worker* worker) {
  auto* table = static_cast<DependenceTable*>(worker->pool->allocate(sizeof(DependenceTable)));
  *table = {allocate_entries(kFirstCapacity), kFirstCapacity, 0, nullptr};
  return table;
}

void table_destroy(Worker* worker, DependenceTable* table) {
  clear_entries(worker, table);
  if (table->all_memory != nullptr) table_unreference(worker, table->all_memory);
  std::free(table->entries);
  SlabPool::release(table, worker->pool);
}

TableEntry* table_find(Worker* worker, DependenceTable* table, void* address) {
  TableEntry* entry = slot_for(table->entries, table->capacity, address);
  if (entry->address == address) return entry;
  if (table->used * 4 >= table->capacity * 3) {
    rebuild(worker, table);
    entry = slot_for(table->entries, table->capacity, address);
  }
  ++table->used;
  entry->address = address;
  entry->kind = Access::kIn;
  if (table->all_memory != nullptr) entry_set_writer(worker, entry, table->all_memory);
  return entry;
}

void table_restart_after(Worker* worker, DependenceTable* table, Task* task) {
  table_reference(task);
  clear_entries(worker, table);
  std::memset(table->entries, 0, size_t{table->capacity} * sizeof(TableEntry));
  table->used = 0;
  if (table->all_memory != nullptr) table_unreference(worker, table->all_memory);
  table->all_memory = task;
}

void entry_set_writer(Worker* worker, TableEntry* entry, Task* writer) {
  Task* old = entry->writer;
  if (writer != nullptr) table_reference(writer);
  entry->writer = writer;
  if (old != nullptr) table_unreference(worker, old);
}

void entry_add_member(Worker* worker, TableEntry* entry, Task* task) {
  if (entry->member_count == entry->member_capacity) widen_members(worker, entry);
  table_reference(task);
  entry->members[entry->member_count++] = task;
}

void entry_clear_members(Worker* worker, TableEntry* entry) {
  for (uint32_t i = 0; i < entry->member_count; ++i) table_unreference(worker, entry->members[i]);
  entry->member_count = 0;
  if (entry->exclusion != nullptr) exclusion_release(worker, entry->exclusion);
  entry->exclusion = nullptr;
}

}  // namespace marline
