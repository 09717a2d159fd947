// SPDX-License-Identifier: Apache-2.0
//
// The data environment of one device (OpenMP 5.2, chapter 5.8). Its map entries (map_entry.hpp) say which ranges of
// host memory have storage there, how often they are mapped, and which of their pointers are attached. Any thread.
//
// A map entry that a construct has just created is in flight (MapEntry::in_flight) until its data is on the device, and
// so is an entry in which the construct attaches a pointer. An entry that a construct removes is in flight until its
// data is back on the host. Other constructs that need an entry in flight wait, suspended where a task can be.
// Everything else happens under one lock per device, which is never held while data moves: a construct goes through its
// items under the lock and lists the copies that it then makes (plan.hpp).
#pragma once

#include "data/map_table.hpp"
#include "data/plan.hpp"

namespace marline::offload::data {

class DataEnvironment {
 public:
  explicit DataEnvironment(Device* device);

  // Begins a construct. When it returns, the construct's data is on the device, and use_device_ptr items have their
  // addresses. May suspend.
  void begin(const Items& items);

  // Ends a construct. When it returns, the construct's data is back on the host, and entries without references are
  // removed. May suspend.
  void end(const Items& items);
  // As `end`, but without waiting, for items without mappers. False: nothing has been done, since some of the data is
  // in flight for another construct.
  [[nodiscard]] bool try_end(const Items& items);
  // Removes the entries without references after a construct's end has been planned and its copies have been made.
  void finish_end(const Items& items, Plan& plan);

  // Releases the entries of a begin that has failed, which are not in the table.
  void release_created(Plan& plan);

  // Carries out target update. May suspend.
  void update(const Items& items);

  // Reports to a tool what a construct maps; `begin` and `end` call it themselves.
  void report_maps(const Items& items, bool ends);

  // The device's address of a host address; 0: the address is not mapped.
  [[nodiscard]] uint64_t translate(const void* host, size_t bytes = 0);
  [[nodiscard]] bool is_present(const void* host) { return translate(host) != 0; }

  // Whether the address is in a permanent map entry: of a `declare target` variable, or of associated memory.
  [[nodiscard]] bool is_permanent(const void* host);

  // Adds a permanent map entry for a declare target variable. False: something is mapped there already.
  bool add_global(const void* host, size_t bytes, uint64_t address);
  // Removes the entry when the variable's library is closed, as other data may come to lie there.
  void remove_global(const void* host);

  // For omp_target_associate_ptr: adds a permanent map entry. False: the memory is already mapped in another way.
  [[nodiscard]] bool associate(const void* host, size_t bytes, uint64_t address);
  // For omp_target_disassociate_ptr: removes this entry. False: there is none, or a construct maps the memory.
  [[nodiscard]] bool disassociate(const void* host);

  // Called in a fork's child, by its only thread.
  void drop_in_flight() { table_.drop_in_flight(); }

  // From now on all addresses are the host's own (requires unified_shared_memory).
  void share() { is_shared_ = true; }
  [[nodiscard]] bool is_shared() const { return is_shared_; }

 private:
  friend class LockedTable;

  void begin_expanded(const Items& items);
  void lock_for(const Items& items);
  void end_locked(const Items& items);
  void add_permanent(const void* host, size_t bytes, uint64_t address, bool associated);

  Device* device_;
  Lock lock_;
  MapTable table_;          // under the lock
  bool is_shared_ = false;  // set before the first use
};

// The map entries, with the lock held as long as this object exists.
class LockedTable {
 public:
  explicit LockedTable(DataEnvironment& of) : guard_(of.lock_), table_(of.table_) {}

  MapTable* operator->() { return &table_; }
  MapTable& operator*() { return table_; }

 private:
  Guard guard_;
  MapTable& table_;
};

}  // namespace marline::offload::data
